/* SPDX-License-Identifier: MIT */
/*
 * instance.c - what a match is played on: map, seed and the bot's seed.
 *
 * A ladder's maps take turns. Random seeds come from a keyed generator whose
 * outputs say nothing of each other: a bot is shown its own seed, and must
 * not learn the match's from it. Where seeds come in order, all maps are
 * played with the first seed, then all with the next, from the last back to
 * the first; in a solo game each bot walks that road by itself, so that bots
 * are compared on the same instances.
 */
#include "server/lobby/lobby_internal.h"
#include "server/lobby/start.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <openssl/sha.h>

uint64_t instance_draw(struct lobby *lobby)
{
	uint8_t block[LOBBY_KEY_BYTES + sizeof(uint64_t)];
	uint8_t hash[SHA256_DIGEST_LENGTH];
	uint64_t count = lobby->random_count++, ret;

	memcpy(block, lobby->config.random_key, LOBBY_KEY_BYTES);
	memcpy(block + LOBBY_KEY_BYTES, &count, sizeof(count));
	SHA256(block, sizeof(block), hash);
	memcpy(&ret, hash, sizeof(ret));
	return ret;
}

/* The numbers that a ladder, or a bot on it, has reached. */
static struct road *road_of(struct ladder *ladder, struct bot *bot)
{
	if (bot == NULL || ladder->row.is_seed_random)
		return &ladder->road;
	return &bot_standing(bot, ladder->row.id)->road;
}

/* The lowest number given back, or -1. */
static int lowest_again(const struct road *road)
{
	int lowest = -1;

	for (unsigned i = 0; i < road->nagain; i++) {
		if (lowest < 0 || road->again[i] < road->again[lowest])
			lowest = (int)i;
	}
	return lowest;
}

static uint64_t peek(const struct road *road)
{
	int again = lowest_again(road);

	return again < 0 ? road->next : road->again[again];
}

static void fill_seed(const struct row_ladder *row, struct instance *instance)
{
	uint64_t count = (uint64_t)row->seed_last - (uint64_t)row->seed_first;
	uint64_t step = instance->number / row->nmaps;
	int64_t seed;

	/* All 2^64 of them never happens: seeds are of 63 bits. */
	seed = row->seed_first + (int64_t)(step % (count + 1));
	(void)snprintf(instance->seed, sizeof(instance->seed), "%" PRId64,
		       seed);
}

int instance_next(struct lobby *lobby, struct ladder *ladder, struct bot *bot,
		  struct instance *ret, int64_t now_us)
{
	const struct row_ladder *row = &ladder->row;
	struct road *road = road_of(ladder, bot);
	const struct road before = *road;

	memset(ret, 0, sizeof(*ret));
	if (fresh_is_drawn(ladder)) {
		ret->number = peek(road);
		return fresh_next(lobby, ladder, &ret->map_id, now_us);
	}
	for (size_t i = 0; i < row->nmaps; i++) {
		int again = lowest_again(road);

		ret->number = peek(road);
		ret->map_id = row->map_ids[ret->number % row->nmaps];
		if (!map_has_failed(lobby, ret->map_id, now_us))
			return 0;
		/* Go on without this map. */
		if (again >= 0)
			road->again[again] = road->again[--road->nagain];
		else
			road->next++;
	}
	/* Nothing can be played now, so nothing was passed over either. */
	*road = before;
	return -ENOENT;
}

void instance_draw_bot_seed(struct lobby *lobby, const struct ladder *ladder,
			    struct instance *instance)
{
	if (ladder->row.bot_seed == ROW_BOT_SEED_MATCH)
		memcpy(instance->bot_seed, instance->seed,
		       sizeof(instance->bot_seed));
	else
		(void)snprintf(instance->bot_seed, sizeof(instance->bot_seed),
			       "%" PRIu64, instance_draw(lobby) >> 33);
}

void instance_take(struct lobby *lobby, struct ladder *ladder, struct bot *bot,
		   struct instance *instance)
{
	const struct row_ladder *row = &ladder->row;
	struct road *road = road_of(ladder, bot);
	int again = lowest_again(road);

	assert(instance->number == peek(road));
	if (again >= 0)
		road->again[again] = road->again[--road->nagain];
	else
		road->next++;
	instance->road = ladder->nroads;
	if (fresh_is_drawn(ladder))
		fresh_take(lobby, ladder);
	if (row->is_seed_random)
		(void)snprintf(instance->seed, sizeof(instance->seed),
			       "%" PRIu64, instance_draw(lobby) >> 1);
	else
		fill_seed(row, instance);
	instance_draw_bot_seed(lobby, ladder, instance);
}

void instance_give_back(struct ladder *ladder, struct bot *bot,
			const struct instance *instance)
{
	struct road *road = road_of(ladder, bot);

	if (instance->road != ladder->nroads)
		return; /* of seeds or maps that it has no more */
	if (fresh_is_drawn(ladder))
		fresh_give_back(ladder, instance->map_id);
	if (instance->number + 1 == road->next)
		road->next--;
	else if (road->nagain < ROW_ROAD_AGAIN_MAX)
		road->again[road->nagain++] = instance->number;
}
