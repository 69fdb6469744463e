/* SPDX-License-Identifier: MIT */
/* web_ladder.c - ladders, what their tables are made of, and maps. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/store/read.h"
#include "server/store/web_internal.h"

static json_t *ladder_at(struct query *query)
{
	json_t *ladder = json_pack(
		"{s:s, s:s, s:I, s:s, s:b, s:b, s:s, s:I, s:I, s:o, s:o, s:I}",
		"name", query_text(query, 0), "game", query_text(query, 1),
		"seats", (json_int_t)query_i64(query, 2), "params",
		query_text(query, 3), "rated", query_i64(query, 4) != 0,
		"disabled", query_i64(query, 5) != 0, "seeds",
		query_is_null(query, 6) ? "random" : "in order", "round_runs",
		(json_int_t)query_i64(query, 7), "round_seconds",
		(json_int_t)query_i64(query, 8), "deadline",
		web_time_at(query, 9), "created", web_time_at(query, 10),
		"open_rounds", (json_int_t)query_i64(query, 11));
	static const char *const names[] = { "turn_ms",      "init_ms",
					     "grace_ms",     "bank_ms",
					     "bank_step_ms", "lag_cap_ms" };
	json_t *limits = json_object();

	for (int i = 0; i < (int)(sizeof(names) / sizeof(names[0])); i++)
		(void)json_object_set_new(
			limits, names[i],
			json_integer(query_i64(query, 12 + i)));
	(void)json_object_set_new(ladder, "limits", limits);
	return ladder;
}

int store_web_ladders(struct store *store, json_t **ret,
		      struct store_error *error)
{
	struct query query;
	int err = web_begin(store, error);

	if (err != 0)
		return err;
	*ret = json_array();
	query_open(&query, store->read,
		   "SELECT l.name, g.name, l.seats, l.params, l.is_rated, "
		   "l.is_disabled, l.seed_first, l.round_runs, l.round_s, "
		   "l.deadline_us, l.created_us, (SELECT count(*) FROM round r "
		   "WHERE r.state = 'open' AND +r.ladder_id = l.id), "
		   "l.turn_ms, l.init_ms, l.grace_ms, l.bank_ms, "
		   "l.bank_step_ms, l.lag_cap_ms "
		   "FROM ladder l JOIN game g ON g.id = l.game_id "
		   "ORDER BY l.name",
		   error);
	while ((err = query_step(&query)) > 0)
		(void)json_array_append_new(*ret, ladder_at(&query));
	query_close(&query);
	return web_end(store, err, ret);
}

/* ---- tables ---- */

static void take_row(struct query *query, struct web_table *table)
{
	struct web_standing *row;

	table->rows = read_grow(table->rows, table->nrows, sizeof(*row));
	row = &table->rows[table->nrows++];
	memset(row, 0, sizeof(*row));
	row->bot_id = query_i64(query, 0);
	row->version_id = query_i64(query, 1);
	query_copy(query, 2, row->bot, sizeof(row->bot));
	query_copy(query, 3, row->version, sizeof(row->version));
	query_copy(query, 4, row->owner, sizeof(row->owner));
	row->is_house = query_i64(query, 5) != 0;
	row->is_active = query_i64(query, 6) != 0;
	row->mu = query_double(query, 7);
	row->sigma = query_double(query, 8);
	row->mean = query_double(query, 9);
	row->rounds = query_i64(query, 10);
	row->last_us = query_i64(query, 11);
	row->matches = query_i64(query, 12);
}

static int read_rated(struct db *db, struct web_table *table,
		      struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT b.id, v.id, b.name, v.label, o.name, o.is_house, "
		   "v.state = 'active', r.mu, r.sigma, 0, r.rounds, "
		   "r.changed_us, coalesce(y.matches, 0) FROM rating r "
		   "JOIN bot_version v ON v.id = r.bot_version_id "
		   "JOIN bot b ON b.id = v.bot_id "
		   "JOIN owner o ON o.id = b.owner_id "
		   "LEFT JOIN tally y ON y.ladder_id = r.ladder_id AND "
		   "y.bot_version_id = r.bot_version_id "
		   "WHERE r.ladder_id = ?1 AND " VISIBLE_BOT,
		   error);
	query_bind_i64(&query, 1, table->ladder_id);
	while ((err = query_step(&query)) > 0)
		take_row(&query, table);
	query_close(&query);
	return err;
}

/* A contest's: the mean score over all that a version has played. */
static int read_contest(struct db *db, struct web_table *table,
			struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT b.id, v.id, b.name, v.label, o.name, o.is_house, "
		   "v.state = 'active', 0, 0, y.score / y.matches, 0, "
		   "y.last_us, y.matches FROM tally y "
		   "JOIN bot_version v ON v.id = y.bot_version_id "
		   "JOIN bot b ON b.id = v.bot_id "
		   "JOIN owner o ON o.id = b.owner_id "
		   "WHERE y.ladder_id = ?1 AND y.matches > 0 "
		   "AND " VISIBLE_BOT,
		   error);
	query_bind_i64(&query, 1, table->ladder_id);
	while ((err = query_step(&query)) > 0)
		take_row(&query, table);
	query_close(&query);
	return err;
}

static int read_head(struct db *db, const char *ladder, struct web_table *table,
		     struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT l.id, l.name, g.name, l.is_rated AND l.seed_first "
		   "IS NULL, coalesce((SELECT max(sequence) FROM rating_event "
		   "e WHERE e.ladder_id = l.id), 0) FROM ladder l "
		   "JOIN game g ON g.id = l.game_id WHERE l.name = ?1",
		   error);
	query_bind_text(&query, 1, ladder);
	err = query_step(&query);
	if (err > 0) {
		table->ladder_id = query_i64(&query, 0);
		query_copy(&query, 1, table->ladder, sizeof(table->ladder));
		query_copy(&query, 2, table->game, sizeof(table->game));
		table->is_rated = query_i64(&query, 3) != 0;
		table->sequence = query_i64(&query, 4);
	}
	query_close(&query);
	if (err == 0) {
		store_error_set(error, "there is no ladder %s", ladder);
		return -ENOENT;
	}
	return err < 0 ? err : 0;
}

int store_web_table(struct store *store, const char *ladder,
		    struct web_table *ret, struct store_error *error)
{
	struct web_table table = { 0 };
	int err = web_begin(store, error);

	if (err != 0)
		return err;
	err = read_head(store->read, ladder, &table, error);
	if (err == 0)
		err = table.is_rated ? read_rated(store->read, &table, error)
				     : read_contest(store->read, &table, error);
	err = web_end(store, err, NULL);
	if (err == 0)
		*ret = table;
	else
		store_web_table_release(&table);
	return err;
}

void store_web_table_release(struct web_table *table)
{
	free(table->rows);
	table->rows = NULL;
	table->nrows = 0;
}

/* ---- maps ---- */

static json_t *map_at(struct query *query)
{
	static const char digits[] = "0123456789abcdef";
	size_t len;
	const uint8_t *hash = query_blob(query, 4, &len);
	char text[2 * ROW_HASH_BYTES + 1] = "";

	for (size_t i = 0; i < len && i < ROW_HASH_BYTES; i++) {
		text[2 * i] = digits[hash[i] >> 4];
		text[2 * i + 1] = digits[hash[i] & 15];
		text[2 * i + 2] = '\0';
	}
	return json_pack(
		"{s:I, s:o, s:s, s:s, s:s, s:I, s:o, s:o}", "id",
		(json_int_t)query_i64(query, 0), "name",
		web_bytes(query_text(query, 1)), "game", query_text(query, 2),
		"options", query_text(query, 3), "sha256", text, "bytes",
		(json_int_t)query_i64(query, 5), "generator",
		web_text_at(query, 6), "created", web_time_at(query, 7));
}

#define SELECT_MAPS                                           \
	"SELECT p.id, p.name, g.name, p.options, p.hash, "    \
	"p.size_bytes, p.generator, p.created_us FROM map p " \
	"JOIN game g ON g.id = p.game_id WHERE p.id > ?1 AND "

static const char sql_maps[] = SELECT_MAPS VISIBLE_MAP
	" AND " VISIBLE_MAP_IDLE " ORDER BY p.id LIMIT ?2";
static const char sql_maps_of_game[] = SELECT_MAPS
	"p.game_id = (SELECT id FROM game WHERE name = ?3) AND " VISIBLE_MAP
	" AND " VISIBLE_MAP_IDLE " ORDER BY p.id LIMIT ?2";

int store_web_maps(struct store *store, const char *game, int64_t after,
		   unsigned limit, json_t **ret, int64_t *ret_next,
		   struct store_error *error)
{
	struct query query;
	int64_t last = 0;
	int err = web_begin(store, error);

	if (err != 0)
		return err;
	*ret = json_array();
	query_open(&query, store->read,
		   game == NULL ? sql_maps : sql_maps_of_game, error);
	query_bind_i64(&query, 1, after);
	query_bind_i64(&query, 2, limit);
	if (game != NULL)
		query_bind_text(&query, 3, game);
	visible_bind(&query);
	while ((err = query_step(&query)) > 0) {
		last = query_i64(&query, 0);
		(void)json_array_append_new(*ret, map_at(&query));
	}
	query_close(&query);
	*ret_next = json_array_size(*ret) < limit ? 0 : last;
	return web_end(store, err, ret);
}

int store_web_map(struct store *store, const char *game, const char *name,
		  char **ret, size_t *ret_len, struct store_error *error)
{
	struct query query;
	int err = web_begin(store, error);

	if (err != 0)
		return err;
	query_open(&query, store->read,
		   "SELECT p.data FROM map p JOIN game g ON g.id = p.game_id "
		   "WHERE g.name = ?1 AND p.name = ?2 AND " VISIBLE_MAP
		   " AND " VISIBLE_MAP_IDLE,
		   error);
	query_bind_text(&query, 1, game);
	query_bind_text(&query, 2, name);
	visible_bind(&query);
	err = query_step(&query);
	if (err > 0) {
		*ret = query_blob_copy(&query, 0, ret_len);
		err = *ret == NULL ? -ENOMEM : 0;
	} else if (err == 0) {
		store_error_set(error, "there is no map %s", name);
		err = -ENOENT;
	}
	query_close(&query);
	return web_end(store, err, NULL);
}
