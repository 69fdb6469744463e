/* SPDX-License-Identifier: MIT */
/* read.c - the catalogue, maps' bytes, counts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/name.h"
#include "server/store/read.h"
#include "server/store/tournament_rows.h"
#include "server/store/version.h"

void *read_grow(void *array, size_t count, size_t size)
{
	/* Full at every power of two: then twice the room. */
	if (count == 0)
		return xreallocarray(array, 4, size);
	if (count >= 4 && (count & (count - 1)) == 0)
		return xreallocarray(array, count * 2, size);
	return array;
}

int read_ids(struct db *db, const char *sql, int64_t key, int64_t from,
	     int64_t **ret, size_t *ret_count, struct store_error *error)
{
	struct query query;
	int64_t *ids = NULL;
	size_t count = 0;
	int nkeys, err;

	query_open(&query, db, sql, error);
	nkeys = sqlite3_bind_parameter_count(query.stmt);
	if (nkeys > 0)
		query_bind_i64(&query, 1, key);
	if (nkeys > 1)
		query_bind_i64(&query, 2, from);
	while ((err = query_step(&query)) > 0) {
		ids = read_grow(ids, count, sizeof(*ids));
		ids[count++] = query_i64(&query, 0);
	}
	query_close(&query);
	*ret = ids;
	*ret_count = count;
	return err;
}

static int read_bots(struct db *db, struct row_catalogue *ret,
		     struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT b.id, b.owner_id, v.id, v.number, "
		   "b.max_connections, NOT " MAY_PLAY
		   ", b.name, o.is_house, coalesce((SELECT max(p.id) "
		   "FROM bot_version p WHERE p.bot_id = b.id AND "
		   "p.number < v.number AND p.state = 'retired'), 0), "
		   "b.is_hidden, CASE WHEN b.is_ban_told THEN b.ban_reason "
		   "WHEN o.is_ban_told THEN o.ban_reason ELSE '' END "
		   "FROM bot b JOIN owner o ON o.id = b.owner_id "
		   "JOIN bot_version v ON v.bot_id = b.id AND "
		   "v.state = 'active' "
		   "ORDER BY b.id",
		   error);
	while ((err = query_step(&query)) > 0) {
		struct row_bot *bot;

		ret->bots = read_grow(ret->bots, ret->nbots, sizeof(*bot));
		bot = &ret->bots[ret->nbots++];
		memset(bot, 0, sizeof(*bot));
		bot->id = query_i64(&query, 0);
		bot->owner_id = query_i64(&query, 1);
		bot->version_id = query_i64(&query, 2);
		bot->version = (uint32_t)query_i64(&query, 3);
		bot->max_connections = (uint32_t)query_i64(&query, 4);
		bot->is_disabled = query_i64(&query, 5) != 0;
		query_copy(&query, 6, bot->name, sizeof(bot->name));
		bot->is_house = query_i64(&query, 7) != 0;
		bot->predecessor_id = query_i64(&query, 8);
		bot->is_hidden = query_i64(&query, 9) != 0;
		if (query_text(&query, 10)[0] != '\0')
			bot->ban_reason = xstrdup(query_text(&query, 10));
	}
	query_close(&query);
	return err;
}

static void copy_hash(struct query *query, int column,
		      uint8_t ret[ROW_HASH_BYTES])
{
	size_t len;
	const void *hash = query_blob(query, column, &len);

	memset(ret, 0, ROW_HASH_BYTES);
	if (len == ROW_HASH_BYTES)
		memcpy(ret, hash, ROW_HASH_BYTES);
}

static int read_tokens(struct db *db, struct row_catalogue *ret,
		       struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT id, bot_id, hash FROM token "
		   "WHERE revoked_us IS NULL ORDER BY id",
		   error);
	while ((err = query_step(&query)) > 0) {
		struct row_token *token;

		ret->tokens =
			read_grow(ret->tokens, ret->ntokens, sizeof(*token));
		token = &ret->tokens[ret->ntokens++];
		token->id = query_i64(&query, 0);
		token->bot_id = query_i64(&query, 1);
		copy_hash(&query, 2, token->hash);
	}
	query_close(&query);
	return err;
}

static void take_ladder(struct query *query, struct row_ladder *ladder)
{
	memset(ladder, 0, sizeof(*ladder));
	ladder->id = query_i64(query, 0);
	query_copy(query, 1, ladder->name, sizeof(ladder->name));
	query_copy(query, 2, ladder->game, sizeof(ladder->game));
	ladder->seats = (unsigned)query_i64(query, 3);
	query_copy(query, 4, ladder->params, sizeof(ladder->params));
	ladder->turn_ms = (uint32_t)query_i64(query, 5);
	ladder->init_ms = (uint32_t)query_i64(query, 6);
	ladder->grace_ms = (uint32_t)query_i64(query, 7);
	ladder->bank_ms = (uint32_t)query_i64(query, 8);
	ladder->bank_step_ms = (uint32_t)query_i64(query, 9);
	ladder->lag_cap_ms = (uint32_t)query_i64(query, 10);
	ladder->ready_ms = (uint32_t)query_i64(query, 11);
	ladder->file_ms = (uint32_t)query_i64(query, 12);
	ladder->is_seed_random = query_is_null(query, 13);
	ladder->seed_first = query_i64(query, 13);
	ladder->seed_last = query_i64(query, 14);
	ladder->seed_next = query_i64(query, 15);
	ladder->bot_seed = strcmp(query_text(query, 16), "match") == 0
				   ? ROW_BOT_SEED_MATCH
				   : ROW_BOT_SEED_OWN;
	ladder->is_rated = query_i64(query, 17) != 0;
	ladder->is_disabled = query_i64(query, 18) != 0;
	query_copy(query, 19, ladder->generators, sizeof(ladder->generators));
	ladder->round_runs = (uint32_t)query_i64(query, 20);
	ladder->round_us = query_i64(query, 21) * 1000000;
	ladder->house_wait_ms = (uint32_t)query_i64(query, 22);
	ladder->deadline_us = query_i64(query, 23);
}

int read_ladders(struct db *db, struct row_catalogue *ret,
		 struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT l.id, l.name, g.name, l.seats, l.params, "
		   "l.turn_ms, l.init_ms, l.grace_ms, l.bank_ms, "
		   "l.bank_step_ms, l.lag_cap_ms, l.ready_ms, l.file_ms, "
		   "l.seed_first, l.seed_last, l.seed_next, l.bot_seed, "
		   "l.is_rated, l.is_disabled, l.generators, l.round_runs, "
		   "l.round_s, l.house_wait_ms, l.deadline_us "
		   "FROM ladder l JOIN game g ON g.id = l.game_id "
		   "ORDER BY l.id",
		   error);
	while ((err = query_step(&query)) > 0) {
		struct row_ladder *ladder;

		ret->ladders =
			read_grow(ret->ladders, ret->nladders, sizeof(*ladder));
		ladder = &ret->ladders[ret->nladders++];
		take_ladder(&query, ladder);
	}
	query_close(&query);
	return err;
}

/* Both come by the ladder's id: one walk along the two. */
int read_ladder_maps(struct db *db, struct row_catalogue *ret,
		     struct store_error *error)
{
	struct query query;
	size_t i = 0;
	int err;

	query_open(&query, db,
		   "SELECT lm.ladder_id, lm.map_id FROM ladder_map lm "
		   "JOIN map m ON m.id = lm.map_id WHERE m.is_disabled = 0 "
		   "ORDER BY lm.ladder_id, lm.position",
		   error);
	while ((err = query_step(&query)) > 0) {
		int64_t id = query_i64(&query, 0);
		struct row_ladder *ladder;

		while (i < ret->nladders && ret->ladders[i].id < id)
			i++;
		if (i == ret->nladders)
			continue;
		ladder = &ret->ladders[i];
		ladder->map_ids = read_grow(ladder->map_ids, ladder->nmaps,
					    sizeof(*ladder->map_ids));
		ladder->map_ids[ladder->nmaps++] = query_i64(&query, 1);
	}
	query_close(&query);
	return err;
}

void read_take_map(struct query *query, struct row_map *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->id = query_i64(query, 0);
	query_copy(query, 1, ret->name, sizeof(ret->name));
	query_copy(query, 2, ret->game, sizeof(ret->game));
	query_copy(query, 3, ret->options, sizeof(ret->options));
	copy_hash(query, 4, ret->hash);
	ret->size_bytes = (size_t)query_i64(query, 5);
	ret->visibility = strcmp(query_text(query, 6), "hidden") == 0
				  ? ROW_MAP_HIDDEN
				  : ROW_MAP_PUBLIC;
	ret->is_disabled = query_i64(query, 7) != 0;
	ret->public_us = query_i64(query, 8);
}

int read_maps(struct db *db, struct row_catalogue *ret,
	      struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   READ_MAP_COLUMNS "WHERE m.generator = '' ORDER BY m.id",
		   error);
	while ((err = query_step(&query)) > 0) {
		ret->maps =
			read_grow(ret->maps, ret->nmaps, sizeof(*ret->maps));
		read_take_map(&query, &ret->maps[ret->nmaps++]);
	}
	query_close(&query);
	return err;
}

int store_map_row(struct store *store, int64_t map_id, struct row_map *ret,
		  struct store_error *error)
{
	struct db *db = store->read;
	struct query query;
	int err;

	(void)pthread_mutex_lock(&db->lock);
	query_open(&query, db, READ_MAP_COLUMNS "WHERE m.id = ?1", error);
	query_bind_i64(&query, 1, map_id);
	err = query_step(&query);
	if (err == 0) {
		store_error_set(error, "%s: no map %lld", store->path,
				(long long)map_id);
		err = -ENOENT;
	} else if (err > 0) {
		read_take_map(&query, ret);
		err = 0;
	}
	query_close(&query);
	(void)pthread_mutex_unlock(&db->lock);
	return err;
}

int store_catalogue(struct store *store, struct row_catalogue *ret,
		    struct store_error *error)
{
	struct row_catalogue catalogue = { 0 };
	struct db *db = store->read;
	struct store_rules rules;
	int err;

	store_get_rules(store, &rules);
	(void)pthread_mutex_lock(&db->lock);
	/* One transaction: all of one moment. */
	err = db_exec(db, "BEGIN", "read", error);
	if (err == 0) {
		err = read_bots(db, &catalogue, error);
		if (err == 0)
			err = read_versions(db, rules.versions_per_day,
					    &catalogue, error);
		if (err == 0)
			err = read_tokens(db, &catalogue, error);
		if (err == 0)
			err = read_maps(db, &catalogue, error);
		if (err == 0)
			err = read_ladders(db, &catalogue, error);
		if (err == 0)
			err = read_ladder_maps(db, &catalogue, error);
		if (err == 0)
			err = tournament_read_open(db, &catalogue, error);
		if (err == 0)
			err = read_announcements(db, &catalogue, error);
		db_rollback(db);
	}
	catalogue.serial = ++store->readings;
	(void)pthread_mutex_unlock(&db->lock);
	if (err != 0) {
		row_catalogue_release(&catalogue);
		return err;
	}
	*ret = catalogue;
	return 0;
}

int store_map_bytes(struct store *store, int64_t map_id, char **ret,
		    size_t *ret_len, struct store_error *error)
{
	struct db *db = store->read;
	struct query query;
	char *data;
	size_t len;
	int err;

	(void)pthread_mutex_lock(&db->lock);
	query_open(&query, db, "SELECT data FROM map WHERE id = ?1", error);
	query_bind_i64(&query, 1, map_id);
	err = query_step(&query);
	if (err == 0) {
		store_error_set(error, "%s: no map %lld", store->path,
				(long long)map_id);
		err = -ENOENT;
	} else if (err > 0) {
		data = query_blob_copy(&query, 0, &len);
		err = data == NULL ? -ENOMEM : 0;
		if (err == 0) {
			*ret = data;
			*ret_len = len;
		} else {
			store_error_set(error, "%s: map %lld: out of memory",
					store->path, (long long)map_id);
		}
	}
	query_close(&query);
	(void)pthread_mutex_unlock(&db->lock);
	return err;
}

int store_counts(struct store *store, struct row_counts *ret,
		 struct store_error *error)
{
	struct db *db = store->read;
	struct query query;
	int err;

	(void)pthread_mutex_lock(&db->lock);
	query_open(&query, db,
		   "SELECT (SELECT count(*) FROM owner WHERE name <> "
		   "'" NAME_GUESTS "'), "
		   "(SELECT count(*) FROM bot WHERE name <> "
		   "'" NAME_GUESTS "'), "
		   "(SELECT count(*) FROM token WHERE revoked_us IS NULL), "
		   "(SELECT count(*) FROM ladder), "
		   "(SELECT count(*) FROM map), "
		   "(SELECT count(*) FROM match), "
		   "(SELECT count(*) FROM match WHERE status = 'void'), "
		   "(SELECT coalesce(max(id), 0) FROM match)",
		   error);
	err = query_step(&query);
	if (err > 0) {
		ret->owners = query_i64(&query, 0);
		ret->bots = query_i64(&query, 1);
		ret->tokens = query_i64(&query, 2);
		ret->ladders = query_i64(&query, 3);
		ret->maps = query_i64(&query, 4);
		ret->matches = query_i64(&query, 5);
		ret->voids = query_i64(&query, 6);
		ret->last_match_id = query_i64(&query, 7);
		err = 0;
	}
	query_close(&query);
	(void)pthread_mutex_unlock(&db->lock);
	return err;
}
