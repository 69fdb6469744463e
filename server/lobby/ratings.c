/* SPDX-License-Identifier: MIT */
/*
 * ratings.c - how good each version is on each ladder, as the store has told:
 * those that play at the server's start, then what each round changed; again
 * when the host has changed something, a match made void perhaps. News of
 * rounds and such readings cross: the sequence says which is the newer.
 */
#include "server/lobby/lobby_internal.h"
#include "server/lobby/rated.h"

#include <inttypes.h>
#include <stdlib.h>

#include "server/ladder/rating.h"

enum { FIRST_SLOTS = 256 }; /* a power of two */

struct rated {
	struct row_rating row;
	int64_t sequence; /* of the event that made it so, or a later one */
	struct rated *chain;
};

static size_t slot_of(const struct ratings *ratings, int64_t ladder_id,
		      int64_t version_id)
{
	uint64_t mix = (uint64_t)version_id * 0x9e3779b97f4a7c15u +
		       (uint64_t)ladder_id * 0xc2b2ae3d27d4eb4fu;

	return (size_t)(mix >> 20) & (ratings->nslots - 1);
}

static void grow(struct ratings *ratings)
{
	struct ratings old = *ratings;

	ratings->nslots = old.nslots == 0 ? FIRST_SLOTS : old.nslots * 2;
	ratings->slots = xcalloc(ratings->nslots, sizeof(*ratings->slots));
	for (size_t i = 0; i < old.nslots; i++) {
		struct rated *rated;

		while ((rated = old.slots[i]) != NULL) {
			size_t slot = slot_of(ratings, rated->row.ladder_id,
					      rated->row.version_id);

			old.slots[i] = rated->chain;
			rated->chain = ratings->slots[slot];
			ratings->slots[slot] = rated;
		}
	}
	free(old.slots);
}

static struct rated *find(const struct ratings *ratings, int64_t ladder_id,
			  int64_t version_id)
{
	struct rated *rated;

	if (ratings->nslots == 0)
		return NULL;
	rated = ratings->slots[slot_of(ratings, ladder_id, version_id)];
	while (rated != NULL && (rated->row.ladder_id != ladder_id ||
				 rated->row.version_id != version_id))
		rated = rated->chain;
	return rated;
}

static void set(struct ratings *ratings, const struct row_rating *row,
		int64_t sequence)
{
	struct rated *rated = find(ratings, row->ladder_id, row->version_id);

	if (rated == NULL) {
		size_t slot;

		if (ratings->count == ratings->nslots)
			grow(ratings);
		slot = slot_of(ratings, row->ladder_id, row->version_id);
		rated = xcalloc(1, sizeof(*rated));
		rated->chain = ratings->slots[slot];
		ratings->slots[slot] = rated;
		ratings->count++;
	}
	rated->row = *row;
	rated->sequence = sequence;
}

/* What SEQUENCE and all before it made. */
static void drop_until(struct ratings *ratings, int64_t sequence)
{
	for (size_t i = 0; i < ratings->nslots; i++) {
		struct rated **at = &ratings->slots[i];

		while (*at != NULL) {
			struct rated *rated = *at;

			if (rated->sequence > sequence) {
				at = &rated->chain;
				continue;
			}
			*at = rated->chain;
			free(rated);
			ratings->count--;
		}
	}
}

struct row_rating ratings_get(const struct ratings *ratings, int64_t ladder_id,
			      int64_t version_id)
{
	const struct rated *rated = find(ratings, ladder_id, version_id);
	struct rating fresh = rating_new(&rating_model_default);

	if (rated != NULL)
		return rated->row;
	return (struct row_rating){ .ladder_id = ladder_id,
				    .version_id = version_id,
				    .mu = fresh.mu,
				    .sigma = fresh.sigma };
}

void ratings_take(struct ratings *ratings, const struct row_catalogue *rows)
{
	if (rows->nratings == 0 && rows->rated == 0)
		return;
	drop_until(ratings, rows->rated);
	ratings->sequence = rows->rated;
	for (size_t i = 0; i < rows->nratings; i++) {
		const struct row_rating *row = &rows->ratings[i];

		if (find(ratings, row->ladder_id, row->version_id) == NULL)
			set(ratings, row, rows->rated);
	}
}

void ratings_release(struct ratings *ratings)
{
	for (size_t i = 0; i < ratings->nslots; i++) {
		struct rated *rated;

		while ((rated = ratings->slots[i]) != NULL) {
			ratings->slots[i] = rated->chain;
			free(rated);
		}
	}
	free(ratings->slots);
}

void lobby_round_closed(struct lobby *lobby, int64_t round_id,
			const struct row_closing *closing, int64_t now_us)
{
	static const char *const states[ROW_ROUND_NSTATES] = { "open", "rated",
							       "unrated",
							       "void" };

	if (closing == NULL)
		return;
	/* What was read whole after it knows it, and what came of it. */
	for (size_t i = 0; i < closing->nchanges &&
			   closing->sequence > lobby->ratings.sequence;
	     i++) {
		const struct row_change *change = &closing->changes[i];
		struct row_rating row = { .ladder_id = closing->ladder_id,
					  .version_id = change->version_id,
					  .mu = change->mu,
					  .sigma = change->sigma,
					  .rounds = change->rounds };

		set(&lobby->ratings, &row, closing->sequence);
	}
	action_log(lobby, LOG_LEVEL_INFO,
		   "round=%" PRId64 " event=closed as=%s bots=%zu", round_id,
		   states[closing->state], closing->nchanges);
	lobby_settle(lobby, now_us);
}
