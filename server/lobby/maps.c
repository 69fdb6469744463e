/* SPDX-License-Identifier: MIT */
/*
 * maps.c - maps parsed once, kept as long as there is room, shared by the
 * matches on them and by the links that they are being sent on.
 */
#include "server/lobby/lobby_internal.h"
#include "server/lobby/start.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "proto/block.h"

enum {
	/* Base64 and its LFs need less than half as much again. */
	BLOCK_BYTES_MAX = LIMIT_MAP_BYTES / 2 * 3 + 4096,
	/* A map that could not be had is asked for again after this. */
	RETRY_US = 60 * 1000 * 1000,
};

int lobby_map_new(struct lobby_map **ret, const struct game *game,
		  const char *name, const char *options, const char *data,
		  size_t len, struct game_error *error)
{
	struct game_source source = { name, data, len, options };
	struct lobby_map *map = xcalloc(1, sizeof(*map));
	int err;

	map->refs = 1;
	map->game = game;
	buf_init(&map->block, BLOCK_BYTES_MAX);
	err = game->map_new(&map->map, &source, error);
	if (err != 0)
		goto err_map;
	if (game->is_whole_input)
		err = block_add_input(&map->block, data, len);
	else
		err = block_add_file(&map->block, name, data, len);
	if (err != 0) {
		game_error_set(error, "%s cannot be sent: %s", name,
			       strerror(-err));
		goto err_map;
	}
	map->line_max = game->line_max(map->map);
	map->seats_max = game->map_seats(map->map);
	map->name = xstrdup(name);
	*ret = map;
	return 0;
err_map:
	lobby_map_unref(map);
	return err == -ENOMEM ? -ENOMEM : -EINVAL;
}

struct lobby_map *lobby_map_ref(struct lobby_map *map)
{
	map->refs++;
	return map;
}

void lobby_map_unref(struct lobby_map *map)
{
	if (map == NULL)
		return;
	assert(map->refs > 0);
	if (--map->refs > 0)
		return;
	if (map->map != NULL)
		map->game->map_free(map->map);
	buf_release(&map->block);
	free(map->name);
	free(map);
}

void map_cache_init(struct map_cache *cache)
{
	for (size_t i = 0; i < MAP_BUCKETS; i++)
		LIST_INIT(&cache->buckets[i]);
	TAILQ_INIT(&cache->ages);
	cache->count = 0;
	cache->bytes = 0;
}

static struct map_bucket *bucket_of(struct map_cache *cache, int64_t id)
{
	return &cache->buckets[(uint64_t)id % MAP_BUCKETS];
}

static struct cached_map *find_map(struct map_cache *cache, int64_t id)
{
	struct cached_map *cached;

	LIST_FOREACH(cached, bucket_of(cache, id), chain)
	{
		if (cached->id == id)
			return cached;
	}
	return NULL;
}

/* What MAP takes: its bytes as they are sent, and about as much parsed. */
static size_t bytes_of(const struct lobby_map *map)
{
	return map->block.cap * 2 + sizeof(*map);
}

static void drop_map(struct map_cache *cache, struct cached_map *cached)
{
	if (cached->state == MAP_READY) {
		TAILQ_REMOVE(&cache->ages, cached, age);
		cache->count--;
		cache->bytes -= bytes_of(cached->map);
		lobby_map_unref(cached->map);
	}
	LIST_REMOVE(cached, chain);
	free(cached);
}

void map_cache_release(struct map_cache *cache)
{
	for (size_t i = 0; i < MAP_BUCKETS; i++) {
		while (!LIST_EMPTY(&cache->buckets[i]))
			drop_map(cache, LIST_FIRST(&cache->buckets[i]));
	}
}

static void load_map(struct lobby *lobby, struct cached_map *cached)
{
	cached->state = MAP_LOADING;
	action_add(lobby, LOBBY_LOAD_MAP, NULL)->map_id = cached->id;
}

struct lobby_map *map_want(struct lobby *lobby, int64_t map_id,
			   enum map_state *ret_state, int64_t now_us)
{
	struct map_cache *cache = &lobby->maps;
	struct cached_map *cached = find_map(cache, map_id);

	if (cached == NULL) {
		cached = xcalloc(1, sizeof(*cached));
		cached->id = map_id;
		LIST_INSERT_HEAD(bucket_of(cache, map_id), cached, chain);
		load_map(lobby, cached);
	} else if (cached->state == MAP_FAILED && now_us >= cached->retry_us) {
		load_map(lobby, cached);
	}
	*ret_state = cached->state;
	if (cached->state != MAP_READY)
		return NULL;
	TAILQ_REMOVE(&cache->ages, cached, age);
	TAILQ_INSERT_TAIL(&cache->ages, cached, age);
	return cached->map;
}

bool map_has_failed(struct lobby *lobby, int64_t map_id, int64_t now_us)
{
	const struct cached_map *cached = find_map(&lobby->maps, map_id);

	return cached != NULL && cached->state == MAP_FAILED &&
	       now_us < cached->retry_us;
}

static void fail_map(struct lobby *lobby, struct cached_map *cached,
		     const char *text, int64_t now_us)
{
	cached->state = MAP_FAILED;
	cached->retry_us = now_us + RETRY_US;
	action_log(lobby, LOG_LEVEL_ERROR,
		   "map=%lld event=unusable reason=\"%s\"",
		   (long long)cached->id, text);
}

void map_refuse(struct lobby *lobby, int64_t map_id, const char *text,
		int64_t now_us)
{
	struct cached_map *cached = find_map(&lobby->maps, map_id);
	struct map_cache *cache = &lobby->maps;

	if (cached == NULL || cached->state != MAP_READY)
		return;
	TAILQ_REMOVE(&cache->ages, cached, age);
	cache->count--;
	cache->bytes -= bytes_of(cached->map);
	lobby_map_unref(cached->map);
	cached->map = NULL;
	fail_map(lobby, cached, text, now_us);
}

void map_forget(struct lobby *lobby, int64_t map_id)
{
	struct cached_map *cached = find_map(&lobby->maps, map_id);

	if (cached == NULL)
		return;
	if (cached->state == MAP_LOADING)
		cached->is_stale = true;
	else
		drop_map(&lobby->maps, cached);
}

void map_retry_failed(struct lobby *lobby)
{
	for (size_t i = 0; i < MAP_BUCKETS; i++) {
		struct cached_map *cached;

		LIST_FOREACH(cached, &lobby->maps.buckets[i], chain)
		{
			if (cached->state == MAP_FAILED)
				cached->retry_us = INT64_MIN;
		}
	}
}

/* CACHED is MAP, and ready; older ones go where there is no room for all. */
static void keep_map(struct lobby *lobby, struct cached_map *cached,
		     struct lobby_map *map)
{
	struct map_cache *cache = &lobby->maps;
	struct cached_map *oldest;

	cached->state = MAP_READY;
	cached->map = map;
	TAILQ_INSERT_TAIL(&cache->ages, cached, age);
	cache->count++;
	cache->bytes += bytes_of(map);
	while (cache->bytes > lobby->config.map_budget_bytes &&
	       (oldest = TAILQ_FIRST(&cache->ages)) != NULL &&
	       TAILQ_NEXT(oldest, age) != NULL)
		drop_map(cache, oldest);
}

void map_add(struct lobby *lobby, int64_t map_id, struct lobby_map *map)
{
	struct cached_map *cached = find_map(&lobby->maps, map_id);

	if (cached == NULL) {
		cached = xcalloc(1, sizeof(*cached));
		cached->id = map_id;
		LIST_INSERT_HEAD(bucket_of(&lobby->maps, map_id), cached,
				 chain);
	} else if (cached->state == MAP_READY) {
		lobby_map_unref(map);
		return;
	}
	keep_map(lobby, cached, map);
}

void lobby_map_loaded(struct lobby *lobby, int64_t map_id,
		      struct lobby_map *map, int64_t now_us)
{
	struct map_cache *cache = &lobby->maps;
	struct cached_map *cached = find_map(cache, map_id);

	if (cached == NULL || cached->state != MAP_LOADING) {
		lobby_map_unref(map);
		return;
	}
	if (cached->is_stale) {
		/* What came is what the row was before: ask again. */
		lobby_map_unref(map);
		drop_map(cache, cached);
	} else {
		keep_map(lobby, cached, map);
	}
	start_touch_held(lobby);
	lobby_settle(lobby, now_us);
}

void lobby_map_failed(struct lobby *lobby, int64_t map_id, const char *text,
		      int64_t now_us)
{
	struct cached_map *cached = find_map(&lobby->maps, map_id);

	if (cached == NULL || cached->state != MAP_LOADING)
		return;
	if (cached->is_stale)
		drop_map(&lobby->maps, cached);
	else
		fail_map(lobby, cached, text, now_us);
	start_touch_held(lobby);
	lobby_settle(lobby, now_us);
}
