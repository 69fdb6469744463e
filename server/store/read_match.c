/* SPDX-License-Identifier: MIT */
/* read_match.c - stored matches, one, many, and what they come to. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/store/read.h"
#include "server/store/visible.h"

enum { MATCHES_DEFAULT = 50 };

/* Of match m: nobody but the host is to know how it ended. */
#define IS_EMBARGO "(NOT " VISIBLE_MATCH ") "

#define MATCH_COLUMNS                                                             \
	"SELECT m.id, m.ladder_id, i.map_id, l.name, g.name, p.name, "            \
	"i.params, i.seed, m.bot_seed, m.engine_version, m.turn_ms, "             \
	"m.init_ms, m.grace_ms, m.bank_ms, m.bank_step_ms, m.bank_spend_ms, "     \
	"m.lag_cap_ms, m.is_rated, m.status, m.void_reason, m.started_us, "       \
	"m.ended_us, m.stall_us, m.inputs, m.digest, m.is_host_void, " IS_EMBARGO \
	"FROM match m JOIN instance i ON i.id = m.instance_id "                   \
	"JOIN ladder l ON l.id = m.ladder_id "                                    \
	"JOIN map p ON p.id = i.map_id JOIN game g ON g.id = p.game_id "

static void take_match(struct query *query, struct row_match *match)
{
	memset(match, 0, sizeof(*match));
	match->id = query_i64(query, 0);
	match->ladder_id = query_i64(query, 1);
	match->map_id = query_i64(query, 2);
	query_copy(query, 3, match->ladder, sizeof(match->ladder));
	query_copy(query, 4, match->game, sizeof(match->game));
	query_copy(query, 5, match->map, sizeof(match->map));
	query_copy(query, 6, match->params, sizeof(match->params));
	query_copy(query, 7, match->seed, sizeof(match->seed));
	query_copy(query, 8, match->bot_seed, sizeof(match->bot_seed));
	match->engine_version = (unsigned)query_i64(query, 9);
	match->turn_ms = (uint32_t)query_i64(query, 10);
	match->init_ms = (uint32_t)query_i64(query, 11);
	match->grace_ms = (uint32_t)query_i64(query, 12);
	match->bank_ms = (uint32_t)query_i64(query, 13);
	match->bank_step_ms = (uint32_t)query_i64(query, 14);
	match->bank_spend_ms = (uint32_t)query_i64(query, 15);
	match->lag_cap_ms = (uint32_t)query_i64(query, 16);
	match->is_rated = query_i64(query, 17) != 0;
	match->status = strcmp(query_text(query, 18), "void") == 0
				? ROW_MATCH_VOID
				: ROW_MATCH_STORED;
	query_copy(query, 19, match->void_reason, sizeof(match->void_reason));
	match->started_us = query_i64(query, 20);
	match->ended_us = query_i64(query, 21);
	match->stall_us = query_i64(query, 22);
	match->inputs = (uint64_t)query_i64(query, 23);
	match->digest = (uint64_t)query_i64(query, 24);
	match->is_embargo = query_i64(query, 26) != 0;
	match->is_host_void = query_i64(query, 25) != 0;
}

/* "[1,2.5]", as save.c writes it; what does not fit the form is left out. */
static unsigned parse_columns(const char *text, double *ret, unsigned max)
{
	unsigned count = 0;
	char *end;

	if (*text++ != '[')
		return 0;
	while (count < max && *text != ']') {
		double value = strtod(text, &end);

		if (end == text)
			break;
		ret[count++] = value;
		text = *end == ',' ? end + 1 : end;
	}
	return count;
}

static void take_seat(struct query *query, struct row_seat *seat)
{
	seat->bot_id = query_i64(query, 1);
	query_copy(query, 2, seat->bot, sizeof(seat->bot));
	seat->version = (uint32_t)query_i64(query, 3);
	seat->points = query_i64(query, 4);
	seat->rank = (unsigned)query_i64(query, 5);
	seat->score = query_double(query, 6);
	seat->ncolumns = parse_columns(query_text(query, 7), seat->columns,
				       sizeof(seat->columns) / sizeof(double));
	query_copy(query, 8, seat->reason, sizeof(seat->reason));
	seat->requests = (uint32_t)query_i64(query, 9);
	seat->late = (uint32_t)query_i64(query, 10);
	seat->invalid = (uint32_t)query_i64(query, 11);
	seat->overlong = (uint32_t)query_i64(query, 12);
	seat->overfull = (uint32_t)query_i64(query, 13);
	seat->faults =
		seat->late + seat->invalid + seat->overlong + seat->overfull;
	seat->early = (uint32_t)query_i64(query, 14);
	seat->banked = (uint32_t)query_i64(query, 15);
	seat->max_us = query_i64(query, 16);
	seat->total_us = query_i64(query, 17);
	seat->lag_us = query_i64(query, 18);
	query_copy(query, 19, seat->how, sizeof(seat->how));
}

static int read_seats(struct db *db, struct row_match *match,
		      struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT s.number, b.id, CASE s.guest WHEN '' THEN b.name "
		   "ELSE b.name || s.guest END, v.number, s.points, "
		   "s.rank, s.score, s.columns, s.reason, s.requests, s.late, "
		   "s.invalid, s.overlong, s.overfull, s.early, s.banked, "
		   "s.max_us, s.total_us, s.lag_us, s.how "
		   "FROM seat s JOIN bot_version v ON v.id = s.bot_version_id "
		   "JOIN bot b ON b.id = v.bot_id "
		   "WHERE s.match_id = ?1 ORDER BY s.number",
		   error);
	query_bind_i64(&query, 1, match->id);
	while ((err = query_step(&query)) > 0)
		if (match->nseats < LIMIT_SEATS)
			take_seat(&query, &match->seats[match->nseats++]);
	query_close(&query);
	return err;
}

static int read_match(struct db *db, int64_t id, struct row_match *ret,
		      struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db, MATCH_COLUMNS "WHERE m.id = ?1", error);
	query_bind_i64(&query, 1, id);
	err = query_step(&query);
	if (err > 0)
		take_match(&query, ret);
	query_close(&query);
	if (err == 0) {
		store_error_set(error, "%s: there is no match %lld", db->path,
				(long long)id);
		return -ENOENT;
	}
	return err < 0 ? err : read_seats(db, ret, error);
}

static int read_contest(struct db *db, struct row_match *match,
			struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT NOT " VISIBLE_NOT_CONTESTED
		   " FROM match m WHERE m.id = ?1",
		   error);
	query_bind_i64(&query, 1, match->id);
	err = query_step(&query);
	if (err > 0)
		match->is_contested = query_i64(&query, 0) != 0;
	query_close(&query);
	return err < 0 ? err : 0;
}

int store_match(struct store *store, int64_t id, struct row_match *ret,
		struct store_error *error)
{
	struct row_match *match = xcalloc(1, sizeof(*match));
	struct db *db = store->read;
	int err;

	(void)pthread_mutex_lock(&db->lock);
	err = read_match(db, id, match, error);
	if (err == 0)
		err = read_contest(db, match, error);
	(void)pthread_mutex_unlock(&db->lock);
	if (err == 0)
		*ret = *match;
	free(match);
	return err;
}

static int64_t parse_seed(const char *text, int *ret_err)
{
	char *end;
	int64_t seed;

	errno = 0;
	seed = strtoll(text, &end, 10);
	*ret_err = errno != 0 || end == text || *end != '\0' ? -EINVAL : 0;
	return seed;
}

/* All that a filter can say, and the order and number of what is left. */
#define LIST_REST                                                             \
	"AND (?1 IS NULL OR m.id IN (SELECT s.match_id FROM seat s JOIN "     \
	"bot_version v ON v.id = s.bot_version_id JOIN bot b ON b.id = "      \
	"v.bot_id WHERE b.name = ?1)) "                                       \
	"AND (?2 IS NULL OR l.name = ?2) AND (?3 IS NULL OR g.name = ?3) "    \
	"AND (?4 IS NULL OR p.name = ?4) AND (?5 IS NULL OR i.seed = ?5) "    \
	"AND (?6 IS NULL OR EXISTS (SELECT 1 FROM seat s WHERE s.match_id = " \
	"m.id AND s.reason = ?6)) "                                           \
	"AND (?9 IS NULL OR (SELECT count(*) FROM seat s JOIN bot_version v " \
	"ON v.id = s.bot_version_id JOIN bot b ON b.id = v.bot_id WHERE "     \
	"s.match_id = m.id AND b.name = ?9) > (?9 IS ?1)) "                   \
	"AND m.ended_us >= ?10 AND m.ended_us < ?11 "                         \
	"AND (?12 = 0 OR m.status = 'void') "                                 \
	"AND m.id < ?7 ORDER BY m.id DESC LIMIT ?8"

static const char list_by_seed[] =
	MATCH_COLUMNS "WHERE m.instance_id IN (SELECT id FROM instance WHERE "
		      "seed = ?5) " LIST_REST;
static const char list_by_bot[] = MATCH_COLUMNS
	"WHERE m.id IN (SELECT match_id FROM seat WHERE "
	"bot_version_id IN (SELECT v.id FROM bot_version v "
	"JOIN bot b ON b.id = v.bot_id WHERE b.name = ?1)) " LIST_REST;
static const char list_by_ladder[] =
	MATCH_COLUMNS "WHERE m.ladder_id = (SELECT id FROM ladder WHERE "
		      "name = ?2) " LIST_REST;
static const char list_by_map[] = MATCH_COLUMNS
	"WHERE m.instance_id IN (SELECT id FROM instance WHERE "
	"map_id IN (SELECT n.id FROM game h CROSS JOIN map n ON n.game_id = h.id "
	"WHERE n.name = ?4)) " LIST_REST;
static const char list_newest[] = MATCH_COLUMNS "WHERE 1 " LIST_REST;

/*
 * The same question five times, each asked along the index of the field that
 * leaves the least; a condition that may be absent would use none.
 */
static const char *list_sql(const struct row_filter *filter)
{
	if (filter->seed != NULL)
		return list_by_seed;
	if (filter->bot != NULL)
		return list_by_bot;
	if (filter->ladder != NULL)
		return list_by_ladder;
	return filter->map != NULL ? list_by_map : list_newest;
}

static int read_list(struct db *db, const struct row_filter *filter,
		     int64_t seed, struct row_match_list *list,
		     struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db, list_sql(filter), error);
	query_bind_text(&query, 1, filter->bot);
	query_bind_text(&query, 2, filter->ladder);
	query_bind_text(&query, 3, filter->game);
	query_bind_text(&query, 4, filter->map);
	if (filter->seed != NULL)
		query_bind_i64(&query, 5, seed);
	query_bind_text(&query, 6, filter->reason);
	query_bind_i64(&query, 7,
		       filter->before_id > 0 ? filter->before_id : INT64_MAX);
	query_bind_i64(&query, 8,
		       filter->limit > 0 ? filter->limit : MATCHES_DEFAULT);
	query_bind_text(&query, 9, filter->opponent);
	query_bind_i64(&query, 10, filter->since_us);
	query_bind_i64(&query, 11,
		       filter->until_us > 0 ? filter->until_us : INT64_MAX);
	query_bind_i64(&query, 12, filter->is_void);
	while ((err = query_step(&query)) > 0) {
		list->matches = read_grow(list->matches, list->nmatches,
					  sizeof(*list->matches));
		take_match(&query, &list->matches[list->nmatches++]);
	}
	query_close(&query);
	for (size_t i = 0; i < list->nmatches && err == 0; i++)
		err = read_seats(db, &list->matches[i], error);
	return err;
}

int store_matches(struct store *store, const struct row_filter *filter,
		  struct row_match_list *ret, struct store_error *error)
{
	struct row_match_list list = { 0 };
	struct db *db = store->read;
	int64_t seed = 0;
	int err = 0;

	if (filter->seed != NULL)
		seed = parse_seed(filter->seed, &err);
	if (err != 0) {
		store_error_set(error, "seed: %.40s is no 64-bit integer",
				filter->seed);
		return err;
	}
	(void)pthread_mutex_lock(&db->lock);
	err = db_exec(db, "BEGIN", "read", error);
	if (err == 0) {
		err = read_list(db, filter, seed, &list, error);
		db_rollback(db);
	}
	(void)pthread_mutex_unlock(&db->lock);
	if (err != 0)
		row_match_list_release(&list);
	else
		*ret = list;
	return err;
}

static int take_samples(struct query *query, int column,
			struct row_record *record)
{
	size_t len;
	const uint8_t *bytes = query_blob(query, column, &len);

	record->samples = calloc(len / 8 + 1, sizeof(*record->samples));
	if (record->samples == NULL)
		return -ENOMEM;
	record->nsamples = len / 8;
	for (size_t i = 0; i < record->nsamples; i++)
		for (unsigned k = 0; k < 8; k++)
			record->samples[i] |= (uint64_t)bytes[i * 8 + k]
					      << (8 * k);
	return 0;
}

static int read_blobs(struct db *db, int64_t id, struct row_record *record,
		      struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT p.options, p.data, t.transcript, t.notes, t.samples "
		   "FROM match m JOIN instance i ON i.id = m.instance_id "
		   "JOIN map p ON p.id = i.map_id "
		   "JOIN transcript t ON t.match_id = m.id WHERE m.id = ?1",
		   error);
	query_bind_i64(&query, 1, id);
	err = query_step(&query);
	if (err > 0) {
		query_copy(&query, 0, record->map_options,
			   sizeof(record->map_options));
		record->map_data = query_blob_copy(&query, 1, &record->map_len);
		record->transcript =
			query_blob_copy(&query, 2, &record->transcript_len);
		record->notes = query_blob_copy(&query, 3, &record->notes_len);
		err = take_samples(&query, 4, record);
		if (record->map_data == NULL || record->transcript == NULL ||
		    record->notes == NULL)
			err = -ENOMEM;
		if (err != 0)
			store_error_set(error, "match %lld: out of memory",
					(long long)id);
	} else if (err == 0) {
		store_error_set(error, "%s: match %lld has no transcript",
				db->path, (long long)id);
		err = -EIO;
	}
	query_close(&query);
	return err;
}

int store_record(struct store *store, int64_t id, struct row_record *ret,
		 struct store_error *error)
{
	struct row_record *record = xcalloc(1, sizeof(*record));
	struct db *db = store->read;
	int err;

	(void)pthread_mutex_lock(&db->lock);
	err = read_match(db, id, &record->match, error);
	if (err == 0)
		err = read_blobs(db, id, record, error);
	(void)pthread_mutex_unlock(&db->lock);
	if (err == 0)
		*ret = *record;
	else
		row_record_release(record);
	free(record);
	return err;
}

int store_summary(struct store *store, struct row_summary *ret,
		  struct store_error *error)
{
	struct row_summary summary = { 0 };
	struct db *db = store->read;
	struct query query;
	int err;

	(void)pthread_mutex_lock(&db->lock);
	query_open(&query, db,
		   "SELECT b.name, g.name, count(*), avg(s.score), "
		   "max(s.score), max(i.seats > 1), "
		   "sum(i.seats > 1 AND s.rank = 1), sum(" IS_EMBARGO ") "
		   "FROM match m JOIN instance i ON i.id = m.instance_id "
		   "JOIN map p ON p.id = i.map_id "
		   "JOIN game g ON g.id = p.game_id "
		   "JOIN seat s ON s.match_id = m.id "
		   "JOIN bot_version v ON v.id = s.bot_version_id "
		   "JOIN bot b ON b.id = v.bot_id "
		   "WHERE m.status = 'stored' AND m.purpose NOT IN "
		   "('unrated', 'candidate') GROUP BY g.id, b.id "
		   "ORDER BY g.name, avg(s.score) DESC, b.name",
		   error);
	while ((err = query_step(&query)) > 0) {
		struct row_standing *standing;

		summary.standings =
			read_grow(summary.standings, summary.nstandings,
				  sizeof(*standing));
		standing = &summary.standings[summary.nstandings++];
		query_copy(&query, 0, standing->bot, sizeof(standing->bot));
		query_copy(&query, 1, standing->game, sizeof(standing->game));
		standing->matches = query_i64(&query, 2);
		standing->mean_score = query_double(&query, 3);
		standing->best_score = query_double(&query, 4);
		standing->is_shared = query_i64(&query, 5) != 0;
		standing->wins = query_i64(&query, 6);
		standing->embargoed = query_i64(&query, 7);
	}
	query_close(&query);
	(void)pthread_mutex_unlock(&db->lock);
	if (err != 0)
		row_summary_release(&summary);
	else
		*ret = summary;
	return err;
}
