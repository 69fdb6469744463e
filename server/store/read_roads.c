/* SPDX-License-Identifier: MIT */
/*
 * read_roads.c - how far each bot has come where it walks a ladder's seeds by
 * itself. No row says so: the stored matches do.
 *
 * Instances are numbered as the lobby walks them: all maps with the first
 * seed, then all with the next; behind the last one the numbers go on with a
 * second round. What lies unplayed before the last one played ran when the
 * server went down, or was void: it comes first again. A rematch is no
 * step.
 */
#include <stdlib.h>

#include "server/games/game.h"
#include "server/store/read.h"

struct step {
	uint64_t number; /* of the first round */
	int64_t times;   /* it was played */
};

struct steps {
	struct step *list; /* owned */
	size_t count;
};

static int by_number(const void *a, const void *b)
{
	const struct step *left = a, *right = b;

	return (left->number > right->number) - (left->number < right->number);
}

/* Where number 0 of ROUND (from 1) lies; 0 for more than there can be. */
static uint64_t round_base(const struct row_ladder *ladder, int64_t round)
{
	uint64_t size =
		(uint64_t)ladder->seed_last - (uint64_t)ladder->seed_first + 1;
	uint64_t base;

	if (__builtin_mul_overflow(size, ladder->nmaps, &size) ||
	    __builtin_mul_overflow(size, (uint64_t)round - 1, &base))
		return 0;
	return base;
}

/* Note the numbers from FROM up to, not with, TO, the highest first. */
static void give_back(struct row_road *road, uint64_t base, uint64_t from,
		      uint64_t to)
{
	while (to > from && road->nagain < ROW_ROAD_AGAIN_MAX)
		road->again[road->nagain++] = base + --to;
}

/* STEPS, at least one, of one bot: the road in RET. */
static void measure(const struct row_ladder *ladder, struct steps *steps,
		    struct row_road *ret)
{
	uint64_t base, above = 0;
	bool has_above = false;
	int64_t round = 0;

	qsort(steps->list, steps->count, sizeof(*steps->list), by_number);
	for (size_t i = 0; i < steps->count; i++)
		if (steps->list[i].times > round)
			round = steps->list[i].times;
	base = round_base(ladder, round);
	for (size_t i = steps->count; i-- > 0;) {
		const struct step *step = &steps->list[i];

		if (step->times < round)
			continue;
		if (has_above)
			give_back(ret, base, step->number + 1, above);
		else
			ret->next = base + step->number + 1;
		above = step->number;
		has_above = true;
	}
	give_back(ret, base, 0, above);
}

static void end_bot(const struct row_ladder *ladder, int64_t bot_id,
		    struct steps *steps, struct row_catalogue *ret)
{
	struct row_road *road;

	if (steps->count == 0)
		return;
	ret->roads = read_grow(ret->roads, ret->nroads, sizeof(*road));
	road = &ret->roads[ret->nroads++];
	*road = (struct row_road){ .bot_id = bot_id, .ladder_id = ladder->id };
	measure(ladder, steps, road);
	steps->count = 0;
}

static void add_step(const struct row_ladder *ladder, int64_t seed,
		     int64_t map_id, int64_t times, struct steps *steps)
{
	struct step *step;

	for (size_t i = 0; i < ladder->nmaps; i++) {
		if (ladder->map_ids[i] != map_id)
			continue;
		steps->list =
			read_grow(steps->list, steps->count, sizeof(*step));
		step = &steps->list[steps->count++];
		step->number = ((uint64_t)seed - (uint64_t)ladder->seed_first) *
				       ladder->nmaps +
			       i;
		step->times = times;
		return;
	}
}

static int read_ladder_roads(struct db *db, const struct row_ladder *ladder,
			     struct row_catalogue *ret,
			     struct store_error *error)
{
	struct steps steps = { 0 };
	struct query query;
	int64_t bot_id = 0;
	int err;

	query_open(&query, db,
		   "SELECT v.bot_id, i.seed, i.map_id, count(*) FROM match m "
		   "JOIN instance i ON i.id = m.instance_id "
		   "JOIN seat s ON s.match_id = m.id "
		   "JOIN bot_version v ON v.id = s.bot_version_id "
		   "WHERE m.ladder_id = ?1 AND m.status = 'stored' AND "
		   "m.purpose = 'ladder' AND "
		   "i.seed BETWEEN ?2 AND ?3 GROUP BY v.bot_id, i.seed, "
		   "i.map_id ORDER BY v.bot_id",
		   error);
	query_bind_i64(&query, 1, ladder->id);
	query_bind_i64(&query, 2, ladder->seed_first);
	query_bind_i64(&query, 3, ladder->seed_last);
	while ((err = query_step(&query)) > 0) {
		if (query_i64(&query, 0) != bot_id)
			end_bot(ladder, bot_id, &steps, ret);
		bot_id = query_i64(&query, 0);
		add_step(ladder, query_i64(&query, 1), query_i64(&query, 2),
			 query_i64(&query, 3), &steps);
	}
	query_close(&query);
	end_bot(ladder, bot_id, &steps, ret);
	free(steps.list);
	return err;
}

int store_roads(struct store *store, struct row_catalogue *catalogue,
		struct store_error *error)
{
	struct db *db = store->read;
	int err = 0;

	(void)pthread_mutex_lock(&db->lock);
	for (size_t i = 0; i < catalogue->nladders && err == 0; i++) {
		const struct row_ladder *ladder = &catalogue->ladders[i];
		const struct game *game = game_find(ladder->game);

		if (game != NULL && !game->is_shared &&
		    !ladder->is_seed_random && ladder->nmaps > 0)
			err = read_ladder_roads(db, ladder, catalogue, error);
	}
	(void)pthread_mutex_unlock(&db->lock);
	return err;
}
