/* SPDX-License-Identifier: MIT */
/*
 * generate.c - generated maps enter the pool: hidden, until what is played on
 * them is over. A ladder draws them ahead, and forgets those that it has not
 * played on when its presets change or the server ends: the next start removes
 * them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/sha.h>

#include "server/base/clock.h"
#include "server/games/generate.h"
#include "server/store/read.h"

/* What is to become a row. */
struct fresh_map {
	const struct game *game;
	char name[GENERATE_NAME_BYTES];
	char origin[GENERATE_ORIGIN_BYTES];
	uint8_t hash[ROW_HASH_BYTES];
	struct generated made;
};

static int make(struct fresh_map *map, const struct game_preset *preset,
		unsigned seats, uint64_t seed, struct store_error *error)
{
	struct game_error game_error;
	int err = generate_map(map->game, preset, seats, seed, &map->made,
			       &game_error);

	if (err != 0) {
		store_error_set(error, "preset %s: %s", preset->name,
				game_error.text);
		return err;
	}
	generate_map_name(map->game, preset, seats, seed, map->name);
	generate_origin(map->game, preset, seats, seed, map->origin);
	SHA256((const unsigned char *)map->made.data.data, map->made.data.len,
	       map->hash);
	return 0;
}

/* Nothing happens when the same map is there already, made or brought. */
static int insert(struct db *db, const struct fresh_map *map,
		  struct store_error *error)
{
	struct query query;

	query_open(&query, db,
		   "INSERT INTO map (game_id, name, options, visibility, "
		   "created_us, hash, size_bytes, data, generator) "
		   "SELECT id, ?2, ?3, 'hidden', ?4, ?5, ?6, ?7, ?8 FROM game "
		   "WHERE name = ?1 "
		   "ON CONFLICT (game_id, hash, options) DO NOTHING",
		   error);
	query_bind_text(&query, 1, map->game->name);
	query_bind_text(&query, 2, map->name);
	query_bind_text(&query, 3, buf_text(&map->made.options));
	query_bind_i64(&query, 4, clock_wall_us());
	query_bind_blob(&query, 5, map->hash, sizeof(map->hash));
	query_bind_i64(&query, 6, (int64_t)map->made.data.len);
	query_bind_blob(&query, 7, map->made.data.data, map->made.data.len);
	query_bind_text(&query, 8, map->origin);
	return query_run(&query);
}

static int find_same(struct db *db, const struct fresh_map *map,
		     struct row_map *ret, struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   READ_MAP_COLUMNS
		   "WHERE g.name = ?1 AND m.hash = ?2 AND m.options = ?3",
		   error);
	query_bind_text(&query, 1, map->game->name);
	query_bind_blob(&query, 2, map->hash, sizeof(map->hash));
	query_bind_text(&query, 3, buf_text(&map->made.options));
	err = query_step(&query);
	if (err > 0)
		read_take_map(&query, ret);
	query_close(&query);
	if (err == 0) {
		store_error_set(error, "the database has no game %s",
				map->game->name);
		err = -ENOENT;
	}
	return err < 0 ? err : 0;
}

static int put(struct store *store, const struct fresh_map *map,
	       struct row_map *ret, struct store_error *error)
{
	struct row_map row;
	int err = write_begin(store, error);

	if (err != 0)
		return err;
	err = insert(&store->write, map, error);
	if (err == 0)
		err = find_same(&store->write, map, &row, error);
	err = write_end(store, err, error);
	if (err == 0)
		*ret = row;
	return err;
}

int store_generate_map(struct store *store, const struct game *game,
		       const struct game_preset *preset, unsigned seats,
		       uint64_t seed, struct row_map *ret,
		       struct store_error *error)
{
	struct fresh_map map = { .game = game };
	int err;

	if (store->mode == STORE_READ) {
		store_error_set(error, "%s: opened for reading", store->path);
		return -EROFS;
	}
	err = make(&map, preset, seats, seed, error);
	if (err != 0)
		return err;
	err = put(store, &map, ret, error);
	generate_release(&map.made);
	return err;
}

int store_drop_stock(struct store *store, unsigned *ret_count,
		     struct store_error *error)
{
	struct query query;
	int err = write_begin(store, error);

	if (err != 0)
		return err;
	query_open(&query, &store->write,
		   "DELETE FROM map WHERE generator <> '' "
		   "AND visibility = 'hidden' AND NOT EXISTS "
		   "(SELECT 1 FROM instance i WHERE i.map_id = map.id) "
		   "AND id NOT IN (SELECT m.value FROM tournament t, "
		   "json_each(t.options, '$.maps') m)",
		   error);
	err = query_run(&query);
	if (err == 0)
		*ret_count = (unsigned)sqlite3_changes(store->write.handle);
	return write_end(store, err, error);
}

int save_show_map(struct db *db, int64_t map_id, int64_t now_us,
		  struct store_error *error)
{
	struct query query;

	query_open(&query, db,
		   "UPDATE map SET visibility = 'public', public_us = ?2 "
		   "WHERE id = ?1 AND generator <> '' AND "
		   "visibility = 'hidden'",
		   error);
	query_bind_i64(&query, 1, map_id);
	query_bind_i64(&query, 2, now_us);
	return query_run(&query);
}
