/* SPDX-License-Identifier: MIT */
/*
 * lambda_dense.c - one update of the whole mine, when very much moves.
 *
 * Turned round: instead of asking where each stone goes, each cell is computed
 * from its old surroundings, so nothing depends on an order and 16 cells go at
 * once (the compilers' vector extension; plain byte masks, 0 or 255). The
 * border makes the grid one long run of cells: a block may span rows.
 *
 * The rule that a later write wins comes down to two fixed answers:
 *
 *	Two stones meet only in the cell below and between them; the right one
 *	comes later.
 *	A beard is later than a stone that arrives in the same cell only from
 *	the cell's upper right: the stone comes from the row above it, and
 *	there nothing but the upper right is later than each of its places.
 */
#include "server/games/lambda_internal.h"

#include <string.h>

enum { LANES = 16, FLUSH_BLOCKS = 255 };

typedef unsigned char lanes __attribute__((vector_size(LANES)));

static inline lanes load(const unsigned char *at)
{
	lanes ret;

	memcpy(&ret, at, sizeof(ret));
	return ret;
}

static inline lanes equal(lanes cells, unsigned char cell)
{
	return (lanes)(cells == cell);
}

static inline lanes empty(lanes cells)
{
	return equal(cells, ' ');
}

static inline lanes stone(lanes cells)
{
	return equal(cells, '*') | equal(cells, '@');
}

static inline lanes lambda(lanes cells)
{
	return equal(cells, '\\');
}

static inline lanes beard(const unsigned char *at)
{
	return equal(load(at), 'W');
}

static inline lanes choose(lanes mask, lanes yes, lanes no)
{
	return (mask & yes) | (~mask & no);
}

/*
 * The new cells at AT; S is the stride. The stones that leave are counted off
 * in *LEFT (each lane goes down by 255, that is up by one).
 */
static inline lanes block(const unsigned char *at, size_t s, bool grows,
			  lanes *left)
{
	const unsigned char *down = at - s, *up = at + s;
	lanes here = load(at), below = load(down);
	lanes here_empty = empty(here);
	lanes free_right = empty(load(at + 1)) & empty(load(down + 1));
	lanes free_left = empty(load(at - 1)) & empty(load(down - 1));
	lanes on_stone = stone(below);
	lanes leaves = stone(here) &
		       (empty(below) | (on_stone & (free_right | free_left)) |
			(lambda(below) & free_right));
	/* What can come: from above, from the upper left, the upper right. */
	lanes above = load(up);
	lanes west = load(up - 1), on_west = load(at - 1);
	lanes east = load(up + 1), on_east = load(at + 1);
	lanes room = here_empty & empty(above);
	lanes falls = here_empty & stone(above);
	lanes from_west =
		room & stone(west) & (stone(on_west) | lambda(on_west));
	lanes from_east = room & stone(east) & stone(on_east) &
			  ~(empty(load(up + 2)) & empty(load(at + 2)));
	lanes comes = choose(from_east, east, choose(from_west, west, above));
	lanes arrives = falls | from_west | from_east;
	lanes none = { 0 };
	lanes ret;

	/* A higher order rock breaks above what was not empty. */
	comes = choose(equal(comes, '@') & ~empty(below), none + '\\', comes);
	ret = choose(leaves, none + ' ', choose(arrives, comes, here));
	if (grows) {
		lanes late = beard(up + 1);
		lanes soon = beard(up) | beard(up - 1) | beard(at - 1) |
			     beard(at + 1) | beard(down - 1) | beard(down) |
			     beard(down + 1);

		ret = choose(here_empty & (late | (soon & ~arrives)),
			     none + 'W', ret);
	}
	*left -= leaves;
	return ret;
}

static inline size_t run(struct lambda_sim *sim, bool grows)
{
	size_t stride = sim->map->stride;
	size_t end = sim->map->size - stride;
	size_t at = stride + 1, moved = 0;

	while (at < end) {
		lanes left = { 0 };

		for (unsigned i = 0; i < FLUSH_BLOCKS && at < end; i++) {
			lanes cells =
				block(sim->cells + at, stride, grows, &left);

			memcpy(sim->next + at, &cells, sizeof(cells));
			at += LANES;
		}
		for (unsigned i = 0; i < LANES; i++)
			moved += left[i];
	}
	return moved;
}

size_t lambda_dense_pass(struct lambda_sim *sim, bool grows)
{
	return grows ? run(sim, true) : run(sim, false);
}
