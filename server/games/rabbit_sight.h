/* SPDX-License-Identifier: MIT */
/*
 * rabbit_sight.h - a set of cells made for the question: which is the next one
 * in that direction, within 999 cells?
 *
 * On the map's rectangle it is two bitmaps, by rows and by columns, so that
 * each direction is a scan for a set bit. Cells beyond the rectangle (only on
 * maps without a closed wall) are two sorted lists, in the order of rows and
 * of columns. Nothing of its order is ever shown; the sets whose order is are
 * python27/table.h.
 */
#ifndef HILL_GAMES_RABBIT_SIGHT_H
#define HILL_GAMES_RABBIT_SIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/games/python27/table.h"
#include "server/games/rabbit_map.h"

enum {
	RABBIT_SIGHT = 999, /* cells */
};

/* The order in which the original tries directions; XOR 1 turns round. */
enum rabbit_direction {
	RABBIT_RIGHT,
	RABBIT_LEFT,
	RABBIT_DOWN,
	RABBIT_UP,
	RABBIT_NDIRECTIONS
};

struct rabbit_sight {
	uint32_t width, height;
	uint32_t inner_width, inner_height; /* without the outermost cells */
	uint32_t row_words, column_words;
	uint64_t *rows; /* both borrowed: the match's block */
	uint64_t *columns;
	/* Of the cells beyond: y then x, and x then y; owned. */
	uint64_t *far_rows;
	uint64_t *far_columns;
	uint32_t nfar, far_cap;
	bool is_failed; /* no memory for a cell beyond */
};

/* Words that the two bitmaps of a set on MAP take together. */
size_t rabbit_sight_words(const struct game_map *map);
/*
 * An empty set in WORDS, which are zero, the caller's and stay there.
 */
void rabbit_sight_init(struct rabbit_sight *sight, const struct game_map *map,
		       uint64_t *words);
/* Every wall of MAP comes into the set. */
void rabbit_sight_add_walls(struct rabbit_sight *sight,
			    const struct game_map *map);
/* Free the lists. */
void rabbit_sight_release(struct rabbit_sight *sight);

/* The same three for cells beyond the rectangle. */
void rabbit_sight_add_far(struct rabbit_sight *sight, struct py27_cell cell);
void rabbit_sight_remove_far(struct rabbit_sight *sight, struct py27_cell cell);
bool rabbit_sight_has_far(const struct rabbit_sight *sight,
			  struct py27_cell cell);
/* The nearest far cell, as rabbit_sight_next. */
uint32_t rabbit_sight_next_far(const struct rabbit_sight *sight,
			       struct py27_cell from, unsigned direction,
			       uint32_t beyond);
/* As rabbit_sight_next, on the rectangle, from anywhere. */
uint32_t rabbit_sight_next_near(const struct rabbit_sight *sight,
				struct py27_cell from, unsigned direction,
				uint32_t beyond);

static inline bool rabbit_sight_holds(const struct rabbit_sight *sight,
				      struct py27_cell cell)
{
	return (uint32_t)cell.x < sight->width &&
	       (uint32_t)cell.y < sight->height;
}

static inline uint64_t *rabbit_sight_row(const struct rabbit_sight *sight,
					 int32_t y)
{
	return sight->rows + (size_t)y * sight->row_words;
}

static inline uint64_t *rabbit_sight_column(const struct rabbit_sight *sight,
					    int32_t x)
{
	return sight->columns + (size_t)x * sight->column_words;
}

static inline uint64_t rabbit_sight_mask(int32_t at)
{
	return (uint64_t)1 << ((uint32_t)at % 64);
}

static inline bool rabbit_sight_has(const struct rabbit_sight *sight,
				    struct py27_cell cell)
{
	if (rabbit_sight_holds(sight, cell))
		return (rabbit_sight_row(sight, cell.y)[(uint32_t)cell.x / 64] &
			rabbit_sight_mask(cell.x)) != 0;
	return sight->nfar > 0 && rabbit_sight_has_far(sight, cell);
}

/* Nothing happens when it is there already. */
static inline void rabbit_sight_add(struct rabbit_sight *sight,
				    struct py27_cell cell)
{
	if (rabbit_sight_holds(sight, cell)) {
		rabbit_sight_row(sight, cell.y)[(uint32_t)cell.x / 64] |=
			rabbit_sight_mask(cell.x);
		rabbit_sight_column(sight, cell.x)[(uint32_t)cell.y / 64] |=
			rabbit_sight_mask(cell.y);
	} else {
		rabbit_sight_add_far(sight, cell);
	}
}

/* Nothing happens when it is not there. */
static inline void rabbit_sight_remove(struct rabbit_sight *sight,
				       struct py27_cell cell)
{
	if (rabbit_sight_holds(sight, cell)) {
		rabbit_sight_row(sight, cell.y)[(uint32_t)cell.x / 64] &=
			~rabbit_sight_mask(cell.x);
		rabbit_sight_column(sight, cell.x)[(uint32_t)cell.y / 64] &=
			~rabbit_sight_mask(cell.y);
	} else {
		rabbit_sight_remove_far(sight, cell);
	}
}

/* The first bit of LINE after AT, as a distance; 0 when none is in sight. */
static inline uint32_t rabbit_line_after(const uint64_t *line, uint32_t nwords,
					 uint32_t at)
{
	uint32_t i = at / 64;
	uint32_t end = (at + RABBIT_SIGHT) / 64 + 1;
	/* two steps: a shift by 64 is not defined */
	uint64_t word = line[i] & (~(uint64_t)1 << (at % 64));
	uint32_t distance;

	if (end > nwords)
		end = nwords;
	while (word == 0) {
		if (++i >= end)
			return 0;
		word = line[i];
	}
	distance = i * 64 + (uint32_t)__builtin_ctzll(word) - at;
	return distance <= RABBIT_SIGHT ? distance : 0;
}

/* The last bit of LINE before AT, likewise. */
static inline uint32_t rabbit_line_before(const uint64_t *line, uint32_t at)
{
	uint32_t i = at / 64;
	uint32_t first = at < RABBIT_SIGHT ? 0 : (at - RABBIT_SIGHT) / 64;
	uint64_t word = line[i] & (((uint64_t)1 << (at % 64)) - 1);
	uint32_t distance;

	while (word == 0) {
		if (i-- == first)
			return 0;
		word = line[i];
	}
	distance = at - (i * 64 + 63 - (uint32_t)__builtin_clzll(word));
	return distance <= RABBIT_SIGHT ? distance : 0;
}

/*
 * The distance from FROM to the next cell of the set in DIRECTION that is
 * further away than BEYOND cells; 0 when there is none within RABBIT_SIGHT.
 */
static inline uint32_t rabbit_sight_next(const struct rabbit_sight *sight,
					 struct py27_cell from,
					 unsigned direction, uint32_t beyond)
{
	uint32_t near;
	uint32_t far;

	if (beyond == 0 && sight->nfar == 0 &&
	    rabbit_sight_holds(sight, from)) {
		switch (direction) {
		case RABBIT_RIGHT:
			return rabbit_line_after(
				rabbit_sight_row(sight, from.y),
				sight->row_words, (uint32_t)from.x);
		case RABBIT_LEFT:
			return rabbit_line_before(
				rabbit_sight_row(sight, from.y),
				(uint32_t)from.x);
		case RABBIT_DOWN:
			return rabbit_line_after(
				rabbit_sight_column(sight, from.x),
				sight->column_words, (uint32_t)from.y);
		default:
			return rabbit_line_before(
				rabbit_sight_column(sight, from.x),
				(uint32_t)from.y);
		}
	}
	near = rabbit_sight_next_near(sight, from, direction, beyond);
	far = sight->nfar == 0
		      ? 0
		      : rabbit_sight_next_far(sight, from, direction, beyond);
	return near == 0 || (far != 0 && far < near) ? far : near;
}

/* The cell COUNT steps from FROM in DIRECTION; without a branch. */
static inline struct py27_cell rabbit_step(struct py27_cell from,
					   unsigned direction, uint32_t count)
{
	static const int8_t vectors[RABBIT_NDIRECTIONS][2] = {
		[RABBIT_RIGHT] = { 1, 0 },
		[RABBIT_LEFT] = { -1, 0 },
		[RABBIT_DOWN] = { 0, 1 },
		[RABBIT_UP] = { 0, -1 },
	};

	from.x += vectors[direction][0] * (int32_t)count;
	from.y += vectors[direction][1] * (int32_t)count;
	return from;
}

/*
 * Which of the four cells around CELL are in the set: bit a direction. A
 * random walk defeats branch prediction, so the common case has no branches.
 */
static inline unsigned rabbit_sight_around(const struct rabbit_sight *sight,
					   struct py27_cell cell)
{
	uint32_t x = (uint32_t)cell.x;
	uint32_t y = (uint32_t)cell.y;
	unsigned around = 0;

	if (x - 1 < sight->inner_width && y - 1 < sight->inner_height) {
		const uint64_t *row = rabbit_sight_row(sight, cell.y);
		uint64_t right = row[(x + 1) / 64] >> ((x + 1) % 64);
		uint64_t left = row[(x - 1) / 64] >> ((x - 1) % 64);
		uint64_t down = (row + sight->row_words)[x / 64] >> (x % 64);
		uint64_t up = (row - sight->row_words)[x / 64] >> (x % 64);

		return (unsigned)((right & 1) | (left & 1) << RABBIT_LEFT |
				  (down & 1) << RABBIT_DOWN |
				  (up & 1) << RABBIT_UP);
	}
	for (unsigned d = 0; d < RABBIT_NDIRECTIONS; d++)
		around |= (unsigned)rabbit_sight_has(sight,
						     rabbit_step(cell, d, 1))
			  << d;
	return around;
}

#endif
