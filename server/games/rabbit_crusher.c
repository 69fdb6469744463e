/* SPDX-License-Identifier: MIT */
/*
 * rabbit_crusher.c - what a crusher does next.
 *
 * It goes for the nearest rabbit in sight. When two directions tie, the
 * original takes the first of a set, built by intersecting what it sees with
 * all rabbits; only then is that set built here too, slot by slot. Every robot
 * is seen by at most four crushers (they block sight), so a turn costs in
 * proportion to its robots whatever happens.
 */
#include "server/games/rabbit_state.h"

#include <string.h>

/* What the original's cansee() returns, in the same slots. */
static void look_around(const struct game_state *state, struct py27_cell from,
			struct py27_table *seen)
{
	py27_table_add(seen, from, 0);
	for (unsigned d = 0; d < RABBIT_NDIRECTIONS; d++) {
		uint32_t end = rabbit_sight_next(&state->blockers, from, d, 0);
		uint32_t distance = rabbit_sight_next(&state->prey, from, d, 0);

		while (distance != 0 && (end == 0 || distance < end)) {
			py27_table_add(seen, rabbit_step(from, d, distance), 0);
			distance = rabbit_sight_next(&state->prey, from, d,
						     distance);
		}
		if (end != 0) {
			struct py27_cell cell = rabbit_step(from, d, end);

			if (!rabbit_map_is_wall(state->map, cell))
				py27_table_add(seen, cell, 0);
		}
	}
}

/*
 * Which of the directions in the mask NEAREST, all with a rabbit at DISTANCE
 * from FROM, comes first in the order of the original's prey.
 */
static unsigned break_tie(struct game_state *state, struct py27_cell from,
			  unsigned nearest, uint32_t distance)
{
	struct py27_table seen;
	struct py27_table seen_set;
	struct py27_table prey;
	unsigned found = RABBIT_NDIRECTIONS;

	py27_table_init(&seen);
	py27_table_init(&seen_set);
	py27_table_init(&prey);
	look_around(state, from, &seen);
	py27_table_from_dict(&seen_set, &seen);
	py27_table_and(&prey, &seen_set, &state->rabbits);
	for (int32_t i = py27_table_next(&prey, 0);
	     i >= 0 && found == RABBIT_NDIRECTIONS;
	     i = py27_table_next(&prey, i + 1)) {
		struct py27_cell cell = py27_table_cell(&prey, i);

		for (unsigned d = 0; d < RABBIT_NDIRECTIONS; d++) {
			struct py27_cell at = rabbit_step(from, d, distance);

			if ((nearest >> d & 1) != 0 && at.x == cell.x &&
			    at.y == cell.y)
				found = d;
		}
	}
	if (found == RABBIT_NDIRECTIONS) {
		/* only without memory; the run ends for that */
		state->rabbits.is_failed = true;
		found = (unsigned)__builtin_ctz(nearest);
	}
	py27_table_release(&seen);
	py27_table_release(&seen_set);
	py27_table_release(&prey);
	return found;
}

/* Whether a rabbit can be on a line with CELL at all. */
static inline bool may_see(const struct game_state *state,
			   struct py27_cell cell)
{
	if (state->prey.nfar != 0 || !rabbit_sight_holds(&state->prey, cell))
		return true;
	return (state->row_rabbits[cell.y] | state->column_rabbits[cell.x]) !=
	       0;
}

/* The direction of the nearest rabbit, or RABBIT_NDIRECTIONS. */
static unsigned find_prey(struct game_state *state, struct py27_cell from)
{
	uint32_t best = RABBIT_SIGHT + 1;
	unsigned nearest = 0;

	for (unsigned d = 0; d < RABBIT_NDIRECTIONS; d++) {
		uint32_t distance = rabbit_sight_next(&state->prey, from, d, 0);
		uint32_t end;

		if (distance == 0 || distance > best)
			continue;
		end = rabbit_sight_next(&state->blockers, from, d, 0);
		if (end != 0 && end < distance)
			continue;
		if (distance < best)
			nearest = 0;
		best = distance;
		nearest |= 1u << d;
	}
	if (nearest == 0)
		return RABBIT_NDIRECTIONS;
	if ((nearest & (nearest - 1)) == 0)
		return (unsigned)__builtin_ctz(nearest);
	return break_tie(state, from, nearest, best);
}

/* What a mask of directions holds; a look-up is cheaper than counting bits. */
static const struct {
	uint8_t count;
	uint8_t directions[RABBIT_NDIRECTIONS];
} choices[1 << RABBIT_NDIRECTIONS] = {
	{ 0, { 0 } },          { 1, { 0 } },       { 1, { 1 } },
	{ 2, { 0, 1 } },       { 1, { 2 } },       { 2, { 0, 2 } },
	{ 2, { 1, 2 } },       { 3, { 0, 1, 2 } }, { 1, { 3 } },
	{ 2, { 0, 3 } },       { 2, { 1, 3 } },    { 3, { 0, 1, 3 } },
	{ 2, { 2, 3 } },       { 3, { 0, 2, 3 } }, { 3, { 1, 2, 3 } },
	{ 4, { 0, 1, 2, 3 } },
};

unsigned rabbit_decide(struct game_state *state, struct py27_cell cell,
		       unsigned direction)
{
	unsigned back = direction ^ 1u;
	unsigned options;

	if (may_see(state, cell)) {
		unsigned prey = find_prey(state, cell);

		if (prey != RABBIT_NDIRECTIONS)
			return prey;
	}
	options = 15u &
		  ~(rabbit_sight_around(&state->blockers, cell) | 1u << back);
	if (options == 0)
		return back;
	state->draws++;
	return choices[options].directions[py27_random_index(
		&state->random, choices[options].count)];
}
