/* SPDX-License-Identifier: MIT */
/* tournament_seeds.c - which map and seed a tournament's match is played on. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/sha.h>

#include "server/lobby/appointment.h"
#include "server/lobby/tournament_internal.h"

/* Where SEED is among the drawn ones that T has given, or would be. */
static size_t seed_place(const struct lobby_tournament *t, int64_t seed)
{
	size_t low = 0, high = t->nseeds;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->seeds[middle] < seed)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Drawn seeds nobody can know before somebody has played them. */
static bool has_seed(const struct lobby_tournament *t, int64_t seed)
{
	size_t at;

	if (!t->row.is_seed_random)
		return seed >= t->row.seed_first && seed <= t->row.seed_last;
	at = seed_place(t, seed);
	return at < t->nseeds && t->seeds[at] == seed;
}

bool tournaments_have_seed(struct lobby *lobby, const struct game *game,
			   int64_t seed)
{
	for (size_t i = 0; i < lobby->ntournaments; i++) {
		const struct row_tournament *row = &lobby->tournaments[i]->row;
		const struct ladder *ladder =
			ladder_by_id(lobby, row->ladder_id);

		if (ladder != NULL && ladder->game == game &&
		    has_seed(lobby->tournaments[i], seed))
			return true;
	}
	return false;
}

/* A number that says nothing of the seed: players see those that are over. */
static uint64_t drawn(const struct row_tournament *row, uint32_t instance,
		      uint32_t what)
{
	uint64_t block[4] = { row->rules.seed, (uint64_t)row->id, instance,
			      what };
	uint8_t hash[SHA256_DIGEST_LENGTH];
	uint64_t ret;

	SHA256((const uint8_t *)block, sizeof(block), hash);
	memcpy(&ret, hash, sizeof(ret));
	return ret;
}

static int64_t drawn_seed(const struct row_tournament *row, uint32_t instance)
{
	return (int64_t)(drawn(row, instance, 0) >> 1);
}

void tournament_seeds_note(struct lobby_tournament *t, uint32_t instance)
{
	int64_t seed = drawn_seed(&t->row, instance);
	size_t at = seed_place(t, seed);

	if (!t->row.is_seed_random || (at < t->nseeds && t->seeds[at] == seed))
		return;
	t->seeds = xreallocarray(t->seeds, t->nseeds + 1, sizeof(*t->seeds));
	memmove(t->seeds + at + 1, t->seeds + at,
		(t->nseeds - at) * sizeof(*t->seeds));
	t->seeds[at] = seed;
	t->nseeds++;
}

static int by_seed(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

void tournament_seeds_note_all(struct lobby_tournament *t)
{
	const struct row_tournament *row = &t->row;

	if (!row->is_seed_random)
		return;
	t->seeds = xcalloc(row->nmatches + 1, sizeof(*t->seeds));
	for (size_t i = 0; i < row->nmatches; i++) {
		const struct tournament_result *result =
			&row->matches[i].result;
		struct tournament_match match;

		if (tournament_match_at(t->state, result->pairing, result->set,
					result->turn, &match) == 0)
			t->seeds[t->nseeds++] = drawn_seed(row, match.instance);
	}
	qsort(t->seeds, t->nseeds, sizeof(*t->seeds), by_seed);
}

void tournament_fill_instance(const struct row_tournament *row,
			      const struct ladder *ladder, uint32_t number,
			      struct instance *ret)
{
	uint64_t step = number / row->nmaps;

	memset(ret, 0, sizeof(*ret));
	ret->map_id = row->map_ids[number % row->nmaps];
	if (row->is_seed_random) {
		(void)snprintf(ret->seed, sizeof(ret->seed), "%" PRId64,
			       drawn_seed(row, number));
	} else {
		uint64_t span = (uint64_t)row->seed_last -
				(uint64_t)row->seed_first + 1;

		(void)snprintf(ret->seed, sizeof(ret->seed), "%" PRId64,
			       row->seed_first + (int64_t)(step % span));
	}
	if (ladder->row.bot_seed == ROW_BOT_SEED_MATCH)
		memcpy(ret->bot_seed, ret->seed, sizeof(ret->bot_seed));
	else
		(void)snprintf(ret->bot_seed, sizeof(ret->bot_seed), "%" PRIu64,
			       drawn(row, number, 1) >> 33);
}
