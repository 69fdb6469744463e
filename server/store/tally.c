/* SPDX-License-Identifier: MIT */
#include "server/store/tally.h"

/* SIGN is what a match counts; which of them are counted follows it. */
#define TALLY_OF(sign)                                                    \
	"INSERT INTO tally (ladder_id, bot_version_id, matches, score, "  \
	"last_us) SELECT m.ladder_id, s.bot_version_id, count(*) * " sign \
	", sum(s.score) * " sign ", max(m.ended_us) "
/* CROSS: from the match to its seats, not from all seats there ever were. */
#define TALLY_SEATS                                                 \
	"CROSS JOIN seat s ON s.match_id = m.id WHERE m.purpose = " \
	"'ladder' AND s.guest = '' "
#define TALLY_ADD                                                \
	"GROUP BY m.ladder_id, s.bot_version_id "                \
	"ON CONFLICT (ladder_id, bot_version_id) DO UPDATE SET " \
	"matches = matches + excluded.matches, "                 \
	"score = score + excluded.score, "                       \
	"last_us = max(last_us, excluded.last_us)"

int tally_saved(struct db *db, int64_t id, struct store_error *error)
{
	struct query query;

	query_open(
		&query, db,
		TALLY_OF(
			"1") "FROM match m " TALLY_SEATS
			     "AND m.id = ?1 AND m.status = 'stored' " TALLY_ADD,
		error);
	query_bind_i64(&query, 1, id);
	return query_run(&query);
}

/* Whose last match is among those that do not count any more. */
static int take_last_back(struct db *db, struct store_error *error)
{
	struct query query;

	query_open(&query, db,
		   "UPDATE tally SET last_us = coalesce((SELECT "
		   "max(m.ended_us) FROM seat s CROSS JOIN match m ON "
		   "m.id = s.match_id WHERE "
		   "s.bot_version_id = tally.bot_version_id AND s.guest = '' "
		   "AND m.ladder_id = tally.ladder_id AND "
		   "m.purpose = 'ladder' AND m.status = 'stored'), 0) "
		   "WHERE (ladder_id, bot_version_id, last_us) IN (SELECT "
		   "m.ladder_id, s.bot_version_id, max(m.ended_us) "
		   "FROM touched t CROSS JOIN match m ON m.id = "
		   "t.id " TALLY_SEATS
		   "GROUP BY m.ladder_id, s.bot_version_id)",
		   error);
	return query_run(&query);
}

int tally_touched(struct db *db, bool is_void, struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   TALLY_OF("?1") "FROM touched t CROSS JOIN match m ON "
				  "m.id = t.id " TALLY_SEATS TALLY_ADD,
		   error);
	query_bind_i64(&query, 1, is_void ? -1 : 1);
	err = query_run(&query);
	return err == 0 && is_void ? take_last_back(db, error) : err;
}
