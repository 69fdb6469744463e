/* SPDX-License-Identifier: MIT */
#include "server/store/tournament_maps.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/sha.h>

#include "server/games/generate.h"
#include "server/store/tournament_plan.h"

struct source {
	const struct game *game;
	unsigned seats;
	char presets[ROW_GENERATORS_BYTES];
};

/* What the command says as a whole, before anything is made of it. */
static int look(struct admin *admin, struct row_tournament *ret,
		struct source *ret_source)
{
	struct db *db = admin->store->read, *old = admin->db;
	struct query query;
	int err;

	memset(ret_source, 0, sizeof(*ret_source));
	(void)pthread_mutex_lock(&db->lock);
	admin->db = db;
	err = tournament_plan(admin, ret);
	if (err == 0) {
		query_open(&query, db,
			   "SELECT g.name, l.seats, l.generators FROM ladder l "
			   "JOIN game g ON g.id = l.game_id WHERE l.id = ?1",
			   &admin->error);
		query_bind_i64(&query, 1, ret->ladder_id);
		err = query_step(&query);
		if (err > 0) {
			ret_source->game = game_find(query_text(&query, 0));
			ret_source->seats = (unsigned)query_i64(&query, 1);
			query_copy(&query, 2, ret_source->presets,
				   sizeof(ret_source->presets));
		}
		query_close(&query);
	}
	admin->db = old;
	(void)pthread_mutex_unlock(&db->lock);
	return err < 0 ? err : 0;
}

/* Bots are told a map's seed with its name: it says nothing of others. */
static uint64_t map_seed(uint64_t seed, unsigned number)
{
	const uint64_t block[3] = { seed, number, UINT64_C(0x70616d) };
	uint8_t hash[SHA256_DIGEST_LENGTH];
	uint64_t ret;

	SHA256((const uint8_t *)block, sizeof(block), hash);
	memcpy(&ret, hash, sizeof(ret));
	return ret;
}

int tournament_maps_make(struct admin *admin)
{
	struct tournament_maps *maps;
	struct row_tournament row;
	struct source source;
	unsigned count = 0;
	struct game_error why;
	int err = look(admin, &row, &source);

	if (err != 0 || source.presets[0] == '\0')
		goto out;
	if (source.game == NULL ||
	    generate_check_list(source.game, source.presets, source.seats,
				&count, &why) != 0) {
		err = admin_refuse(admin, "ladder", row.ladder,
				   "its maps cannot be made");
		goto out;
	}
	maps = xcalloc(1, sizeof(*maps));
	admin->data = maps;
	admin->release = free;
	maps->seed = row.rules.seed;
	for (; maps->count < row.nmaps && err == 0; maps->count++) {
		const struct game_preset *preset = generate_of_list(
			source.game, source.presets, maps->count % count);
		struct row_map map;

		err = store_generate_map(
			admin->store, source.game, preset, source.seats,
			map_seed(maps->seed, maps->count), &map, &admin->error);
		if (err == 0)
			maps->ids[maps->count] = map.id;
	}
out:
	row_tournament_release(&row);
	return err;
}

int tournament_maps_show(struct db *db, int64_t id, int64_t now_us,
			 struct store_error *error)
{
	struct query query;

	query_open(&query, db,
		   "UPDATE map SET visibility = 'public', public_us = ?2 "
		   "WHERE generator <> '' AND visibility = 'hidden' "
		   "AND id IN (SELECT m.value FROM tournament t, "
		   "json_each(t.options, '$.maps') m WHERE t.id = ?1)",
		   error);
	query_bind_i64(&query, 1, id);
	query_bind_i64(&query, 2, now_us);
	return query_run(&query);
}
