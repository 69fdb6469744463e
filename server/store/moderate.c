/* SPDX-License-Identifier: MIT */
/*
 * moderate.c - matches that the host makes void, and those that count again.
 *
 * What is touched is gathered first, in a temporary table; then matches change
 * their state, rounds that could not be rated before are rated now, and the
 * ratings of each ladder concerned are computed again from the first round that
 * is touched: all in the command's one transaction. A dry run does the very
 * same and takes it back, so what it tells is what would happen.
 *
 * Statements begin at the few that are touched, by CROSS JOIN: there are no
 * figures from which SQLite could tell that they are few.
 *
 * A round keeps its number in the sequence of ratings whatever becomes of its
 * matches. Tables of tournaments come from the matches that count, whenever
 * somebody looks; nothing is to be done for them here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/store/admin_internal.h"
#include "server/store/rate.h"
#include "server/store/read.h"
#include "server/store/tally.h"

enum {
	IDS_MAX = 1000,
	LISTED_MAX = 1000, /* of the touched ones, in the reply */
};

static int run_sql(struct admin *admin, const char *sql)
{
	return db_exec(admin->db, sql, "moderate", &admin->error);
}

static int begin(struct admin *admin)
{
	return run_sql(admin, "SAVEPOINT moderate; "
			      "CREATE TEMP TABLE IF NOT EXISTS touched "
			      "(id INTEGER PRIMARY KEY); DELETE FROM touched");
}

/* ---- which matches ---- */

/* Why match ID cannot be made void, or not count again: the refusal. */
static int check_state(struct admin *admin, int64_t id, bool is_void)
{
	struct query query;
	bool is_host = false, has_status_void = false;
	int err;

	query_open(&query, admin->db,
		   "SELECT status = 'void', is_host_void FROM match "
		   "WHERE id = ?1",
		   &admin->error);
	query_bind_i64(&query, 1, id);
	err = query_step(&query);
	if (err > 0) {
		has_status_void = query_i64(&query, 0) != 0;
		is_host = query_i64(&query, 1) != 0;
	}
	query_close(&query);
	if (err < 0)
		return err;
	if (err == 0)
		return admin_refuse(admin, "ids", NULL,
				    "there is no match %lld", (long long)id);
	if (is_void && has_status_void)
		return admin_refuse(admin, "ids", NULL,
				    "match %lld is void already",
				    (long long)id);
	if (!is_void && !is_host)
		return admin_refuse(admin, "ids", NULL,
				    "match %lld was not made void by the host",
				    (long long)id);
	return 0;
}

static int touch_ids(struct admin *admin, bool is_void)
{
	const json_t *ids = json_object_get(admin->request, "ids");
	struct query query;
	int err = 0;

	for (size_t i = 0; i < json_array_size(ids) && err == 0; i++) {
		int64_t id = json_integer_value(json_array_get(ids, i));

		err = check_state(admin, id, is_void);
		if (err != 0)
			break;
		query_open(&query, admin->db,
			   "INSERT OR IGNORE INTO touched VALUES (?1)",
			   &admin->error);
		query_bind_i64(&query, 1, id);
		err = query_run(&query);
	}
	return err;
}

/* A name that nothing has is a typing error, not a filter for nothing. */
static int check_names(struct admin *admin)
{
	static const struct {
		const char *field, *what, *sql;
	} names[] = {
		{ "bot", "bot", "SELECT id FROM bot WHERE name = ?1" },
		{ "opponent", "bot", "SELECT id FROM bot WHERE name = ?1" },
		{ "ladder", "ladder", "SELECT id FROM ladder WHERE name = ?1" },
		{ "map", "map",
		  "SELECT m.id FROM game g CROSS JOIN map m ON m.game_id = g.id "
		  "WHERE m.name = ?1" },
		{ "version", "version",
		  "SELECT id FROM bot_version WHERE label = ?1" },
	};
	static const char *const of_bot[] = { "opponent", "version" };
	int err = 0;

	for (size_t i = 0; i < sizeof(of_bot) / sizeof(of_bot[0]); i++)
		if (admin_has(admin, of_bot[i]) && !admin_has(admin, "bot"))
			return admin_refuse(admin, of_bot[i], NULL,
					    "needs a bot beside it");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && err == 0;
	     i++)
		err = admin_find_given(admin, names[i].sql, names[i].field,
				       names[i].what);
	return err;
}

static int touch_filtered(struct admin *admin, bool is_void)
{
	struct query query;
	int err = check_names(admin);

	if (err != 0)
		return err;
	query_open(&query, admin->db,
		   "INSERT INTO touched SELECT m.id FROM match m "
		   "JOIN instance i ON i.id = m.instance_id "
		   "WHERE (CASE WHEN ?1 THEN m.status = 'stored' "
		   "ELSE m.is_host_void END) "
		   "AND (?2 IS NULL OR m.id IN (SELECT s.match_id FROM seat s "
		   "JOIN bot_version v ON v.id = s.bot_version_id "
		   "JOIN bot b ON b.id = v.bot_id WHERE b.name = ?2 "
		   "AND (?3 IS NULL OR v.label = ?3))) "
		   "AND (?4 IS NULL OR (SELECT count(*) FROM seat s "
		   "JOIN bot_version v ON v.id = s.bot_version_id "
		   "JOIN bot b ON b.id = v.bot_id WHERE s.match_id = m.id "
		   "AND b.name = ?4) > (?4 IS ?2)) "
		   "AND (?5 IS NULL OR m.ladder_id = (SELECT id FROM ladder "
		   "WHERE name = ?5)) "
		   "AND (?6 IS NULL OR i.map_id IN (SELECT p.id FROM game g "
		   "JOIN map p ON p.game_id = g.id WHERE p.name = ?6)) "
		   "AND (?7 IS NULL OR EXISTS (SELECT 1 FROM seat s "
		   "WHERE s.match_id = m.id AND s.reason = ?7)) "
		   "AND m.ended_us >= ?8 AND m.ended_us < ?9",
		   &admin->error);
	query_bind_i64(&query, 1, is_void);
	query_bind_text(&query, 2, admin_text(admin, "bot", NULL));
	query_bind_text(&query, 3, admin_text(admin, "version", NULL));
	query_bind_text(&query, 4, admin_text(admin, "opponent", NULL));
	query_bind_text(&query, 5, admin_text(admin, "ladder", NULL));
	query_bind_text(&query, 6, admin_text(admin, "map", NULL));
	query_bind_text(&query, 7, admin_text(admin, "ended", NULL));
	query_bind_i64(&query, 8, admin_int(admin, "since_us", 0));
	query_bind_i64(&query, 9, admin_int(admin, "until_us", INT64_MAX));
	return query_run(&query);
}

static int touch(struct admin *admin, bool is_void)
{
	static const char *const filters[] = { "bot",      "opponent", "ladder",
					       "map",      "version",  "ended",
					       "since_us", "until_us" };
	bool has_filter = false;

	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		has_filter |= admin_has(admin, filters[i]);
	if (has_filter == admin_has(admin, "ids"))
		return admin_refuse(admin, NULL, NULL,
				    "give matches' ids, or a filter%s",
				    has_filter ? ", not both" : "");
	return has_filter ? touch_filtered(admin, is_void)
			  : touch_ids(admin, is_void);
}

/* ---- what is said of them ---- */

static int list_touched(struct admin *admin)
{
	struct query query;
	int err;

	admin_list_begin(admin, "matches");
	query_open(&query, admin->db,
		   "SELECT m.id, l.name, p.name, m.ended_us, "
		   "(SELECT group_concat(name, ', ') FROM (SELECT b.name "
		   "FROM seat s JOIN bot_version v ON v.id = s.bot_version_id "
		   "JOIN bot b ON b.id = v.bot_id WHERE s.match_id = m.id "
		   "ORDER BY s.number)), m.void_reason "
		   "FROM touched t CROSS JOIN match m ON m.id = t.id "
		   "JOIN ladder l ON l.id = m.ladder_id "
		   "JOIN instance i ON i.id = m.instance_id "
		   "JOIN map p ON p.id = i.map_id ORDER BY t.id LIMIT ?1",
		   &admin->error);
	query_bind_i64(&query, 1, LISTED_MAX);
	while ((err = query_step(&query)) > 0)
		admin_list_add(admin, "matches",
			       json_pack("{s:I, s:s, s:s, s:I, s:s, s:s}", "id",
					 (json_int_t)query_i64(&query, 0),
					 "ladder", query_text(&query, 1), "map",
					 query_text(&query, 2), "ended_us",
					 (json_int_t)query_i64(&query, 3),
					 "bots", query_text(&query, 4),
					 "void_reason", query_text(&query, 5)));
	query_close(&query);
	return err;
}

/* Tournaments whose tables change by this. */
static int list_tournaments(struct admin *admin)
{
	struct query query;
	int err;

	admin_list_begin(admin, "tournaments");
	query_open(&query, admin->db,
		   "SELECT DISTINCT t.name, t.state FROM touched u "
		   "CROSS JOIN tournament_match m ON m.match_id = u.id "
		   "JOIN tournament t ON t.id = m.tournament_id "
		   "ORDER BY t.name",
		   &admin->error);
	while ((err = query_step(&query)) > 0)
		admin_list_add(admin, "tournaments",
			       json_pack("{s:s, s:s}", "name",
					 query_text(&query, 0), "state",
					 query_text(&query, 1)));
	query_close(&query);
	return err;
}

/* Rounds that are still open: nothing of them is rated, nothing changes yet. */
static int list_open_rounds(struct admin *admin)
{
	struct query query;
	int err;

	admin_list_begin(admin, "open_rounds");
	query_open(&query, admin->db,
		   "SELECT r.id, l.name, r.kind, count(*) FROM touched u "
		   "CROSS JOIN match m ON m.id = u.id "
		   "CROSS JOIN round r ON r.id = m.round_id "
		   "JOIN ladder l ON l.id = r.ladder_id "
		   "WHERE r.state = 'open' GROUP BY r.id ORDER BY r.id "
		   "LIMIT ?1",
		   &admin->error);
	query_bind_i64(&query, 1, LISTED_MAX);
	while ((err = query_step(&query)) > 0)
		admin_list_add(admin, "open_rounds",
			       json_pack("{s:I, s:s, s:s, s:I}", "id",
					 (json_int_t)query_i64(&query, 0),
					 "ladder", query_text(&query, 1),
					 "kind", query_text(&query, 2),
					 "matches",
					 (json_int_t)query_i64(&query, 3)));
	query_close(&query);
	return err;
}

static int count_touched(struct admin *admin, int64_t *ret)
{
	struct query query;
	int err;

	query_open(&query, admin->db, "SELECT count(*) FROM touched",
		   &admin->error);
	err = query_step(&query);
	if (err > 0)
		*ret = query_i64(&query, 0);
	query_close(&query);
	return err < 0 ? err : 0;
}

/* ---- what changes ---- */

static int set_state(struct admin *admin, bool is_void)
{
	struct query query;

	query_open(&query, admin->db,
		   "UPDATE match SET status = CASE WHEN ?1 THEN 'void' "
		   "ELSE 'stored' END, is_host_void = ?1, void_reason = ?2 "
		   "WHERE id IN (SELECT id FROM touched)",
		   &admin->error);
	query_bind_i64(&query, 1, is_void);
	query_bind_text(&query, 2,
			is_void ? admin_text(admin, "reason", "") : "");
	return query_run(&query);
}

/*
 * Rounds that closed without a rating for want of these matches: they close
 * once more, at the end of the sequence. A set must be whole, or somebody have
 * left it. The lobby's open rounds stay with the lobby.
 */
static int close_again(struct admin *admin)
{
	static const char which[] =
		"SELECT DISTINCT r.id FROM touched t "
		"CROSS JOIN match m ON m.id = t.id "
		"CROSS JOIN round r ON r.id = m.round_id "
		"WHERE r.state IN ('unrated', 'void') AND NOT EXISTS "
		"(SELECT 1 FROM rating_event e WHERE e.round_id = r.id) "
		"AND (r.kind = 'open' OR r.left <> '' OR r.matches_wanted <= "
		"(SELECT count(*) FROM match c WHERE c.round_id = r.id "
		"AND c.status = 'stored')) ORDER BY r.id";
	struct query query;
	int64_t *ids;
	size_t count;
	int err = read_ids(admin->db, which, 0, 0, &ids, &count, &admin->error);

	for (size_t i = 0; i < count && err == 0; i++) {
		char *left = NULL;

		query_open(&query, admin->db,
			   "UPDATE round SET state = 'open', closed_us = NULL "
			   "WHERE id = ?1 RETURNING left",
			   &admin->error);
		query_bind_i64(&query, 1, ids[i]);
		err = query_step(&query);
		if (err > 0)
			left = xstrdup(query_text(&query, 0));
		query_close(&query);
		if (err > 0)
			err = rate_close(admin->db, ids[i], left, false,
					 &admin->error);
		free(left);
	}
	free(ids);
	return err;
}

/*
 * All ladders that have rated one of the touched matches, each from the first
 * of their events on.
 */
static int recompute(struct admin *admin, uint64_t *ret_differs)
{
	static const char first[] =
		"SELECT min(e.sequence) FROM touched t "
		"CROSS JOIN match m ON m.id = t.id "
		"CROSS JOIN rating_event e ON e.round_id = m.round_id "
		"GROUP BY e.ladder_id ORDER BY e.ladder_id";
	int64_t *sequences;
	size_t count;
	int err = read_ids(admin->db, first, 0, 0, &sequences, &count,
			   &admin->error);

	*ret_differs = 0;
	for (size_t i = 0; i < count && err == 0; i++) {
		int64_t ladder_id = 0;
		uint64_t differs = 0;
		struct query query;

		query_open(&query, admin->db,
			   "SELECT ladder_id FROM rating_event "
			   "WHERE sequence = ?1",
			   &admin->error);
		query_bind_i64(&query, 1, sequences[i]);
		err = query_step(&query);
		if (err > 0)
			ladder_id = query_i64(&query, 0);
		query_close(&query);
		if (err > 0)
			err = rate_recompute(admin->db, ladder_id, sequences[i],
					     &differs, &admin->error);
		*ret_differs += differs;
	}
	free(sequences);
	return err;
}

static int moderate(struct admin *admin, bool is_void)
{
	bool is_dry = admin_bool(admin, "dry_run", false);
	uint64_t differs = 0;
	int64_t count = 0;
	int err = begin(admin);

	if (err == 0)
		err = touch(admin, is_void);
	if (err == 0)
		err = count_touched(admin, &count);
	if (err == 0)
		err = list_touched(admin);
	if (err == 0)
		err = list_tournaments(admin);
	if (err == 0)
		err = list_open_rounds(admin);
	if (err == 0)
		err = set_state(admin, is_void);
	if (err == 0)
		err = tally_touched(admin->db, is_void, &admin->error);
	if (err == 0 && !is_void)
		err = close_again(admin);
	if (err == 0)
		err = recompute(admin, &differs);
	if (err == 0)
		err = run_sql(admin, is_dry ? "ROLLBACK TO moderate; "
					      "RELEASE moderate"
					    : "RELEASE moderate");
	if (err != 0)
		return err;
	admin_set(admin, "count", json_integer(count));
	admin_set(admin, "ratings", json_integer((json_int_t)differs));
	admin_set(admin, "dry_run", json_boolean(is_dry));
	return 0;
}

static int match_void(struct admin *admin)
{
	return moderate(admin, true);
}

static int match_unvoid(struct admin *admin)
{
	return moderate(admin, false);
}

#define WHICH                                                           \
	{ "ids", ADMIN_IDS, false, 1, IDS_MAX },                        \
		{ "bot", ADMIN_TEXT, false, 1, LIMIT_NAME_BYTES },      \
		{ "opponent", ADMIN_TEXT, false, 1, LIMIT_NAME_BYTES }, \
		{ "ladder", ADMIN_TEXT, false, 1, LIMIT_NAME_BYTES },   \
		{ "map", ADMIN_TEXT, false, 1, LIMIT_NAME_BYTES },      \
		{ "version", ADMIN_TEXT, false, 1, LIMIT_NAME_BYTES },  \
		{ "ended", ADMIN_TEXT, false, 1, LIMIT_NAME_BYTES },    \
		{ "since_us", ADMIN_INT, false, 0, INT64_MAX },         \
		{ "until_us", ADMIN_INT, false, 0, INT64_MAX },         \
	{                                                               \
		"dry_run", ADMIN_BOOL, false, 0, 0                      \
	}

static const struct admin_field void_fields[] = {
	WHICH,
	{ "reason", ADMIN_TEXT, true, 1, ROW_REASON_BYTES - 1 },
	{ NULL },
};

/* The reason is for whoever reads what hosts did. */
static const struct admin_field unvoid_fields[] = {
	WHICH,
	{ "reason", ADMIN_TEXT, true, 1, ROW_REASON_BYTES - 1 },
	{ NULL },
};

const struct admin_command admin_moderate_commands[] = {
	{ "match void", void_fields, true, NULL, match_void },
	{ "match unvoid", unvoid_fields, true, NULL, match_unvoid },
	{ .name = NULL },
};
