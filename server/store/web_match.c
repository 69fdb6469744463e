/* SPDX-License-Identifier: MIT */
/*
 * web_match.c - matches for the public.
 *
 * A search goes down the ids one by one along the index that leaves the least
 * (a bot's matches, a ladder's, all) and asks of each whether the rest of the
 * filter fits, up to MATCHES_LOOKED_AT: so no question, however odd, takes
 * long, and each page says where the next one begins.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "server/store/descent.h"
#include "server/store/web_internal.h"

enum { MATCHES_LOOKED_AT = 2000, INSTANCES_FEW = 64 };

/* ---- one match ---- */

static json_t *faults_at(struct query *query, int column)
{
	return json_pack("{s:I, s:I, s:I, s:I}", "late",
			 (json_int_t)query_i64(query, column), "invalid",
			 (json_int_t)query_i64(query, column + 1), "long",
			 (json_int_t)query_i64(query, column + 2), "full",
			 (json_int_t)query_i64(query, column + 3));
}

static json_t *columns_at(struct query *query, int column)
{
	json_t *columns = json_loads(query_text(query, column), 0, NULL);
	json_t *value;
	size_t i;

	if (columns == NULL)
		return json_array();
	json_array_foreach(columns, i, value)
		if (json_is_real(value))
			(void)json_array_set_new(
				columns, i,
				store_web_real(json_real_value(value)));
	return columns;
}

/* A seat is a bot's, a guest's, or somebody's whom the host hides. */
static json_t *seat_at(struct query *query)
{
	const char *guest = query_text(query, 21);
	bool is_hidden = query_i64(query, 20) != 0;
	json_t *bot = json_null();

	if (*guest != '\0')
		bot = json_sprintf("guest:%s", guest);
	else if (!is_hidden)
		bot = web_bytes(query_text(query, 1));
	return json_pack(
		"{s:I, s:o, s:o, s:I, s:b, s:I, s:o, s:I, s:o, s:s, s:I, s:o, "
		"s:I, s:I, s:f, s:f, s:f, s:o}",
		"seat", (json_int_t)query_i64(query, 0), "bot", bot, "version",
		is_hidden ? json_null() : web_text_at(query, 2),
		"version_number", (json_int_t)query_i64(query, 3), "house",
		query_i64(query, 19) != 0, "rank",
		(json_int_t)query_i64(query, 4), "score",
		store_web_real(query_double(query, 5)), "points",
		(json_int_t)query_i64(query, 22), "columns",
		columns_at(query, 6), "reason", query_text(query, 7),
		"requests", (json_int_t)query_i64(query, 8), "faults",
		faults_at(query, 9), "early", (json_int_t)query_i64(query, 13),
		"banked", (json_int_t)query_i64(query, 14), "max_ms",
		(double)query_i64(query, 15) / 1000, "total_ms",
		(double)query_i64(query, 16) / 1000, "lag_ms",
		(double)query_i64(query, 17) / 1000, "how",
		web_text_at(query, 18));
}

static int read_seats(struct db *db, int64_t id, json_t *ret,
		      struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT s.number, b.name, v.label, v.number, s.rank, "
		   "s.score, s.columns, s.reason, s.requests, s.late, "
		   "s.invalid, s.overlong, s.overfull, s.early, s.banked, "
		   "s.max_us, s.total_us, s.lag_us, s.how, o.is_house, "
		   "NOT " VISIBLE_BOT ", s.guest, s.points "
		   "FROM seat s JOIN bot_version v ON v.id = s.bot_version_id "
		   "JOIN bot b ON b.id = v.bot_id "
		   "JOIN owner o ON o.id = b.owner_id "
		   "WHERE s.match_id = ?1 ORDER BY s.number",
		   error);
	query_bind_i64(&query, 1, id);
	while ((err = query_step(&query)) > 0)
		(void)json_array_append_new(ret, seat_at(&query));
	query_close(&query);
	return err;
}

static json_t *limits_at(struct query *query, int column)
{
	static const char *const names[] = { "turn_ms",      "init_ms",
					     "grace_ms",     "bank_ms",
					     "bank_step_ms", "bank_spend_ms",
					     "lag_cap_ms" };
	json_t *limits = json_object();

	for (int i = 0; i < (int)(sizeof(names) / sizeof(names[0])); i++)
		(void)json_object_set_new(
			limits, names[i],
			json_integer(query_i64(query, column + i)));
	return limits;
}

static json_t *match_at(struct query *query)
{
	bool is_whole = query_i64(query, 4) != 0;

	return json_pack(
		"{s:I, s:s, s:s, s:o, s:s, s:s, s:s, s:b, s:s, s:o, s:b, s:o, "
		"s:o, s:o, s:o, s:I, s:o, s:f, s:I}",
		"id", (json_int_t)query_i64(query, 0), "ladder",
		query_text(query, 1), "game", query_text(query, 2), "map",
		is_whole ? web_bytes(query_text(query, 3)) : json_null(),
		"params", query_text(query, 5), "status", query_text(query, 6),
		"void_reason", query_text(query, 7), "rated",
		query_i64(query, 8) != 0, "purpose", query_text(query, 9),
		"round",
		query_is_null(query, 10) ? json_null()
					 : json_integer(query_i64(query, 10)),
		"whole", is_whole, "seed",
		is_whole ? json_string(query_text(query, 11)) : json_null(),
		"bot_seed",
		is_whole ? json_string(query_text(query, 12)) : json_null(),
		"started", web_time_at(query, 13), "ended",
		web_time_at(query, 14), "engine_version",
		(json_int_t)query_i64(query, 15), "limits",
		limits_at(query, 16), "stall_ms",
		(double)query_i64(query, 23) / 1000, "inputs",
		(json_int_t)query_i64(query, 24));
}

static int read_match(struct db *db, int64_t id, json_t **ret,
		      struct store_error *error)
{
	struct query query;
	json_t *seats;
	int err;

	query_open(&query, db,
		   "SELECT m.id, l.name, g.name, p.name, " VISIBLE_WHOLE
		   ", i.params, m.status, m.void_reason, m.is_rated, "
		   "m.purpose, m.round_id, CAST(i.seed AS TEXT), "
		   "CAST(m.bot_seed AS TEXT), m.started_us, m.ended_us, "
		   "m.engine_version, m.turn_ms, m.init_ms, m.grace_ms, "
		   "m.bank_ms, m.bank_step_ms, m.bank_spend_ms, m.lag_cap_ms, "
		   "m.stall_us, m.inputs "
		   "FROM match m JOIN instance i ON i.id = m.instance_id "
		   "JOIN ladder l ON l.id = m.ladder_id "
		   "JOIN map p ON p.id = i.map_id "
		   "JOIN game g ON g.id = p.game_id "
		   "WHERE m.id = ?1 AND " VISIBLE_MATCH,
		   error);
	query_bind_i64(&query, 1, id);
	visible_bind(&query);
	err = query_step(&query);
	if (err > 0)
		*ret = match_at(&query);
	query_close(&query);
	if (err == 0) {
		store_error_set(error, "there is no match %lld", (long long)id);
		return -ENOENT;
	}
	if (err < 0)
		return err;
	seats = json_array();
	err = read_seats(db, id, seats, error);
	(void)json_object_set_new(*ret, "seats", seats);
	if (err < 0)
		json_decref(*ret);
	return err;
}

/* 1 when match ID is one of LADDER, 0 when not: two look-ups, no more. */
static int is_of(struct db *db, int64_t id, const char *ladder,
		 struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT 1 FROM match m JOIN ladder l ON l.id = m.ladder_id "
		   "WHERE m.id = ?1 AND l.name = ?2",
		   error);
	query_bind_i64(&query, 1, id);
	query_bind_text(&query, 2, ladder);
	err = query_step(&query);
	query_close(&query);
	if (err == 0)
		store_error_set(error, "match %lld is not of %s", (long long)id,
				ladder);
	return err;
}

int store_web_match_of(struct store *store, int64_t id, const char *ladder,
		       json_t **ret, struct store_error *error)
{
	int err = web_begin(store, error);

	if (err != 0)
		return err;
	err = ladder == NULL ? 1 : is_of(store->read, id, ladder, error);
	if (err > 0)
		err = read_match(store->read, id, ret, error);
	else if (err == 0)
		err = -ENOENT;
	return web_end(store, err, NULL);
}

int store_web_match(struct store *store, int64_t id, json_t **ret,
		    struct store_error *error)
{
	return store_web_match_of(store, id, NULL, ret, error);
}

int store_web_match_ended(struct store *store, int64_t id, int64_t *ret_us,
			  struct store_error *error)
{
	struct query query;
	int err = web_begin(store, error);

	if (err != 0)
		return err;
	query_open(&query, store->read,
		   "SELECT m.ended_us FROM match m WHERE m.id = ?1 "
		   "AND " VISIBLE_MATCH,
		   error);
	query_bind_i64(&query, 1, id);
	visible_bind(&query);
	err = query_step(&query);
	if (err > 0)
		*ret_us = query_i64(&query, 0);
	query_close(&query);
	if (err == 0) {
		store_error_set(error, "there is no match %lld", (long long)id);
		err = -ENOENT;
	}
	return web_end(store, err < 0 ? err : 0, NULL);
}

/* Hidden bots have no name, here as elsewhere; guests, whose bot is, have. */
static int mask_seats(struct db *db, struct row_match *match,
		      struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT s.number FROM seat s JOIN bot_version v ON v.id = "
		   "s.bot_version_id JOIN bot b ON b.id = v.bot_id "
		   "WHERE s.match_id = ?1 AND s.guest = '' "
		   "AND NOT " VISIBLE_BOT,
		   error);
	query_bind_i64(&query, 1, match->id);
	while ((err = query_step(&query)) > 0) {
		int64_t number = query_i64(&query, 0);
		struct row_seat *seat;

		if (number < 1 || number > match->nseats)
			continue;
		seat = &match->seats[number - 1];
		(void)snprintf(seat->bot, sizeof(seat->bot), "(hidden)");
		seat->bot_id = 0;
		seat->version = 0;
	}
	query_close(&query);
	return err;
}

int store_web_record(struct store *store, int64_t id, struct row_record *ret,
		     struct store_error *error)
{
	struct db *db = store->read;
	bool is_whole;
	int err;

	(void)pthread_mutex_lock(&db->lock);
	err = visible_match(db, id, &is_whole, error);
	(void)pthread_mutex_unlock(&db->lock);
	if (err == 0 && !is_whole) {
		store_error_set(
			error,
			"match %lld is not to be seen yet: others play its "
			"instance still, or its map is hidden",
			(long long)id);
		return -EACCES;
	}
	/* What was whole a moment ago has been seen: no harm if it closes. */
	if (err == 0)
		err = store_record(store, id, ret, error);
	if (err != 0)
		return err;
	(void)pthread_mutex_lock(&db->lock);
	err = mask_seats(db, &ret->match, error);
	(void)pthread_mutex_unlock(&db->lock);
	if (err < 0)
		row_record_release(ret);
	return err;
}

/* ---- a search ---- */

struct search {
	struct db *db;
	const struct web_filter *filter;
	int64_t bot_id, version_id, opponent_id, ladder_id, map_id; /* or 0 */
	bool is_by_map;
	struct store_error *error;
};

static const char next_of_version[] =
	"SELECT max(match_id) FROM seat WHERE bot_version_id = ?1 AND "
	"match_id < ?2";
static const char next_of_ladder[] =
	"SELECT max(id) FROM match WHERE ladder_id = ?1 AND id < ?2";
static const char next_of_instance[] =
	"SELECT max(id) FROM match WHERE instance_id = ?1 AND id < ?2";
static const char next_of_all[] =
	"SELECT max(id) FROM match WHERE ?1 = 0 AND id < ?2";
static const char just_that[] = "SELECT ?1";
static const char versions_of_bot[] =
	"SELECT id FROM bot_version WHERE bot_id = ?1 ORDER BY id";
static const char instances_of_map[] =
	"SELECT id FROM instance WHERE map_id = ?1";

/* Along the lists that leave the least. */
static int begin(const struct search *search, struct descent *ret)
{
	const char *lists = just_that, *sql = next_of_all;
	int64_t before =
		search->filter->before > 0 ? search->filter->before : INT64_MAX;
	int64_t key = 0;

	if (search->version_id != 0) {
		sql = next_of_version;
		key = search->version_id;
	} else if (search->bot_id != 0 || search->opponent_id != 0) {
		lists = versions_of_bot;
		sql = next_of_version;
		key = search->bot_id != 0 ? search->bot_id
					  : search->opponent_id;
	} else if (search->is_by_map) {
		lists = instances_of_map;
		sql = next_of_instance;
		key = search->map_id;
	} else if (search->ladder_id != 0) {
		sql = next_of_ladder;
		key = search->ladder_id;
	}
	return descent_begin(ret, search->db, lists, key, sql, before,
			     search->error);
}

/* 1 when match ID is what the filter wants, 0 when not. */
static int fits(const struct search *search, int64_t id)
{
	const struct web_filter *filter = search->filter;
	struct query query;
	int err;

	query_open(
		&query, search->db,
		"SELECT 1 FROM match m JOIN instance i ON i.id = "
		"m.instance_id JOIN map p ON p.id = i.map_id "
		"WHERE m.id = ?1 AND (?2 = 0 OR m.ladder_id = ?2) "
		"AND (?3 IS NULL OR p.game_id = (SELECT id FROM game WHERE "
		"name = ?3)) "
		"AND (?4 = 0 OR (p.id = ?4 AND " VISIBLE_WHOLE ")) "
		"AND m.ended_us >= ?5 AND m.ended_us < ?6 "
		"AND (?7 IS NULL OR m.status = ?7) "
		"AND (?8 IS NULL OR EXISTS (SELECT 1 FROM seat s JOIN "
		"bot_version v ON v.id = s.bot_version_id WHERE s.match_id = "
		"m.id AND s.reason = ?8 AND (?9 = 0 OR v.bot_id = ?9) AND "
		"(?10 = 0 OR v.id = ?10))) "
		"AND (?11 = 0 OR (SELECT count(*) FROM seat s JOIN "
		"bot_version v ON v.id = s.bot_version_id WHERE s.match_id = "
		"m.id AND v.bot_id = ?11) > (?11 = ?9)) "
		"AND " VISIBLE_MATCH,
		search->error);
	query_bind_i64(&query, 1, id);
	query_bind_i64(&query, 2, search->ladder_id);
	query_bind_text(&query, 3, filter->game);
	query_bind_i64(&query, 4, search->map_id);
	query_bind_i64(&query, 5, filter->since_us);
	query_bind_i64(&query, 6,
		       filter->until_us > 0 ? filter->until_us : INT64_MAX);
	query_bind_text(&query, 7, filter->status);
	query_bind_text(&query, 8, filter->reason);
	query_bind_i64(&query, 9, search->bot_id);
	query_bind_i64(&query, 10, search->version_id);
	query_bind_i64(&query, 11, search->opponent_id);
	visible_bind(&query);
	err = query_step(&query);
	query_close(&query);
	return err;
}

/* A number that SQL gives for two texts, 0 when there is none. */
static int find_id(struct search *search, const char *sql, int64_t id,
		   const char *text, int64_t *ret)
{
	struct query query;
	int err;

	query_open(&query, search->db, sql, search->error);
	query_bind_i64(&query, 1, id);
	query_bind_text(&query, 2, text);
	visible_bind(&query);
	err = query_step(&query);
	if (err > 0)
		*ret = query_i64(&query, 0);
	query_close(&query);
	if (err == 0) {
		store_error_set(search->error, "there is no %s", text);
		return -ENOENT;
	}
	return err < 0 ? err : 0;
}

/* Few instances have a map of their own: walk along them. */
static int look_at_map(struct search *search)
{
	struct query query;
	int err;

	query_open(&query, search->db,
		   "SELECT count(*) FROM (SELECT 1 FROM instance WHERE "
		   "map_id = ?1 LIMIT ?2)",
		   search->error);
	query_bind_i64(&query, 1, search->map_id);
	query_bind_i64(&query, 2, INSTANCES_FEW);
	err = query_step(&query);
	if (err > 0)
		search->is_by_map = query_i64(&query, 0) < INSTANCES_FEW;
	query_close(&query);
	return err < 0 ? err : 0;
}

/* Two games may have a map of the same name: then the filter says which. */
static int find_map(struct search *search)
{
	const struct web_filter *filter = search->filter;
	int64_t game = 0;
	int err = 0;

	if (filter->game != NULL)
		err = find_id(search,
			      "SELECT id FROM game WHERE ?1 = 0 AND name = ?2",
			      0, filter->game, &game);
	if (err == 0)
		err = find_id(search,
			      "SELECT p.id FROM game g CROSS JOIN map p ON "
			      "p.game_id = g.id WHERE (?1 = 0 OR g.id = ?1) "
			      "AND p.name = ?2 AND " VISIBLE_MAP
			      " AND " VISIBLE_MAP_IDLE " ORDER BY p.id LIMIT 1",
			      game, filter->map, &search->map_id);
	return err == 0 ? look_at_map(search) : err;
}

static int find_names(struct search *search)
{
	const struct web_filter *filter = search->filter;
	int err = 0;

	if (filter->bot != NULL)
		err = web_bot_id(search->db, filter->bot, &search->bot_id,
				 search->error);
	if (err == 0 && filter->version != NULL)
		err = find_id(search,
			      "SELECT id FROM bot_version WHERE bot_id = ?1 "
			      "AND label = ?2",
			      search->bot_id, filter->version,
			      &search->version_id);
	if (err == 0 && filter->opponent != NULL)
		err = web_bot_id(search->db, filter->opponent,
				 &search->opponent_id, search->error);
	if (err == 0 && filter->ladder != NULL)
		err = web_ladder_id(search->db, filter->ladder,
				    &search->ladder_id, search->error);
	if (err == 0 && filter->map != NULL)
		err = find_map(search);
	return err;
}

/* Append match ID to LIST if it fits. */
static int try_match(const struct search *search, int64_t id, json_t *list)
{
	json_t *match;
	int err = fits(search, id);

	if (err > 0)
		err = read_match(search->db, id, &match, search->error);
	else
		return err;
	if (err == 0)
		(void)json_array_append_new(list, match);
	return err;
}

static int search_on(struct search *search, json_t *list, int64_t *ret_next)
{
	struct descent descent;
	int64_t last = 0, id = 0, key;
	unsigned looked = 0;
	int err = begin(search, &descent);

	while (err == 0) {
		err = descent_step(&descent, &key, &id);
		if (err <= 0) {
			last = 0; /* that was all */
			break;
		}
		err = 0;
		if (id == last)
			continue; /* the bot against itself */
		if (looked == MATCHES_LOOKED_AT ||
		    json_array_size(list) == search->filter->limit)
			break;
		looked++;
		last = id;
		err = try_match(search, id, list);
	}
	*ret_next = last;
	descent_release(&descent);
	return err;
}

int store_web_matches(struct store *store, const struct web_filter *filter,
		      json_t **ret, int64_t *ret_next,
		      struct store_error *error)
{
	struct search search = { .db = store->read,
				 .filter = filter,
				 .error = error };
	int err = web_begin(store, error);

	if (err != 0)
		return err;
	*ret = json_array();
	err = find_names(&search);
	if (err == 0)
		err = search_on(&search, *ret, ret_next);
	return web_end(store, err, ret);
}
