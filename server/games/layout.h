/* SPDX-License-Identifier: MIT */
/*
 * layout.h - floor and wall on a grid: what the map generators draw with.
 *
 * A layout begins as floor or as wall everywhere; each call of a style draws
 * over it, and layout_seal() leaves one connected floor at the end. All
 * numbers come from the caller's chance, integers only, so a layout is the
 * same on every machine. Steps go to the four sides.
 */
#ifndef HILL_GAMES_LAYOUT_H
#define HILL_GAMES_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"
#include "server/games/chance.h"

/* Of a cell that no source reaches. */
#define LAYOUT_FAR UINT32_MAX

/* A part of a layout; lies inside it. */
struct layout_area {
	unsigned x, y, width, height;
};

struct layout {
	unsigned width, height; /* from 1 */
	uint8_t *walls;         /* owned: width x height, 1 a wall */
	uint32_t *queue;        /* owned scratch, likewise */
};

/* All floor. Nothing fails: without memory the program ends. */
void layout_init(struct layout *layout, unsigned width, unsigned height);
void layout_release(struct layout *layout);
struct layout_area layout_whole(const struct layout *layout);
static inline size_t layout_index(const struct layout *layout, unsigned x,
				  unsigned y)
{
	return (size_t)y * layout->width + x;
}
size_t layout_floor(const struct layout *layout); /* cells of it */
void layout_fill(struct layout *layout, struct layout_area area, bool is_wall);
/* A wall of one cell along the four edges. */
void layout_frame(struct layout *layout);

/*
 * Passages of PASSAGE cells between walls of WALL cells, a spanning tree of
 * them; BRAID percent of the dead ends are opened again. AREA is filled.
 */
void layout_maze(struct layout *layout, struct layout_area area,
		 struct chance *chance, unsigned passage, unsigned wall,
		 unsigned braid);
/*
 * Walls that cut AREA again and again until no part has a side beyond twice
 * ROOM; each wall has one or two doors, DOOR cells wide.
 */
void layout_rooms(struct layout *layout, struct layout_area area,
		  struct chance *chance, unsigned room, unsigned wall,
		  unsigned door);
/* COUNT rectangles of wall, sides from 1 to SIDE. */
void layout_blocks(struct layout *layout, struct layout_area area,
		   struct chance *chance, unsigned count, unsigned side);
/* Squares of wall of SIDE cells, GAP cells apart. */
void layout_pillars(struct layout *layout, struct layout_area area,
		    unsigned side, unsigned gap);
/*
 * Long walls of WALL cells, GAP cells apart, upright or level as chance has
 * it; each has two or three openings of DOOR cells.
 */
void layout_stripes(struct layout *layout, struct layout_area area,
		    struct chance *chance, unsigned gap, unsigned wall,
		    unsigned door);
/* Hollows with ragged walls: noise of PERCENT wall, smoothed ROUNDS times. */
void layout_caves(struct layout *layout, struct chance *chance,
		  unsigned percent, unsigned rounds);

/* All floor but the largest connected part becomes wall. Returns its cells. */
size_t layout_seal(struct layout *layout);
/*
 * Steps from the nearest of the COUNT cells SOURCES (indices) to each cell
 * over floor, into RET (width x height); LAYOUT_FAR where there is no way.
 * OWNERS, when not NULL, is told which source was first; of equals the lower.
 */
void layout_distances(struct layout *layout, const uint32_t *sources,
		      unsigned count, uint32_t *ret, uint8_t *owners);
/* A floor cell drawn evenly; there must be floor. */
uint32_t layout_pick(const struct layout *layout, struct chance *chance);

#endif
