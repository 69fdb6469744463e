/* SPDX-License-Identifier: MIT */
/* layout_style.c - mazes, rooms, blocks, pillars, stripes and caves. */
#include "server/games/layout.h"

#include <stdlib.h>
#include <string.h>

/* ---- mazes ---- */

enum { RIGHT, DOWN, LEFT, UP, NSIDES };

/* A maze in the making: its rooms are COLUMNS x ROWS nodes. */
struct maze {
	struct layout *layout;
	struct layout_area area;
	struct chance *chance;
	unsigned passage, wall;
	unsigned columns, rows;
	uint8_t *opened; /* bit a side, by node */
};

/* The node beside NODE on SIDE; false when there is none. */
static bool beside(const struct maze *maze, uint32_t node, unsigned side,
		   uint32_t *ret)
{
	uint32_t x = node % maze->columns;
	uint32_t y = node / maze->columns;

	if ((side == RIGHT && x + 1 == maze->columns) ||
	    (side == DOWN && y + 1 == maze->rows) || (side == LEFT && x == 0) ||
	    (side == UP && y == 0))
		return false;
	*ret = side == RIGHT  ? node + 1
	       : side == DOWN ? node + maze->columns
	       : side == LEFT ? node - 1
			      : node - maze->columns;
	return true;
}

static void open_side(struct maze *maze, uint32_t node, unsigned side)
{
	uint32_t other;

	if (!beside(maze, node, side, &other))
		return;
	maze->opened[node] |= (uint8_t)(1u << side);
	maze->opened[other] |= (uint8_t)(1u << (side + 2) % NSIDES);
}

/* A side of NODE drawn among those that are closed, towards WANTED nodes. */
static bool draw_side(struct maze *maze, uint32_t node, bool is_fresh,
		      unsigned *ret)
{
	unsigned sides[NSIDES];
	unsigned count = 0;
	uint32_t other;

	for (unsigned side = 0; side < NSIDES; side++) {
		if ((maze->opened[node] >> side & 1) != 0 ||
		    !beside(maze, node, side, &other))
			continue;
		if (!is_fresh || maze->opened[other] == 0)
			sides[count++] = side;
	}
	if (count == 0)
		return false;
	*ret = sides[chance_below(maze->chance, count)];
	return true;
}

/* A way that goes on while it can, then from its latest open place. */
static void dig_tree(struct maze *maze)
{
	uint32_t nodes = maze->columns * maze->rows;
	uint32_t *trail = xcalloc(nodes, sizeof(*trail));
	uint32_t depth = 1;
	unsigned side;

	trail[0] = chance_below(maze->chance, nodes);
	while (depth > 0) {
		uint32_t node = trail[depth - 1];

		if (!draw_side(maze, node, true, &side)) {
			depth--;
			continue;
		}
		open_side(maze, node, side);
		(void)beside(maze, node, side, &trail[depth++]);
	}
	free(trail);
}

static void open_dead_ends(struct maze *maze, unsigned percent)
{
	uint32_t nodes = maze->columns * maze->rows;
	unsigned side;

	for (uint32_t node = 0; node < nodes; node++) {
		uint8_t opened = maze->opened[node];

		if ((opened & (opened - 1)) == 0 &&
		    chance_percent(maze->chance, percent) &&
		    draw_side(maze, node, false, &side))
			open_side(maze, node, side);
	}
}

static void carve(struct maze *maze)
{
	unsigned pitch = maze->passage + maze->wall;

	layout_fill(maze->layout, maze->area, true);
	for (uint32_t node = 0; node < maze->columns * maze->rows; node++) {
		struct layout_area cell = {
			maze->area.x + node % maze->columns * pitch,
			maze->area.y + node / maze->columns * pitch,
			maze->passage,
			maze->passage,
		};

		layout_fill(maze->layout, cell, false);
		if ((maze->opened[node] >> RIGHT & 1) != 0) {
			struct layout_area right = cell;

			right.width += maze->wall;
			layout_fill(maze->layout, right, false);
		}
		if ((maze->opened[node] >> DOWN & 1) != 0) {
			cell.height += maze->wall;
			layout_fill(maze->layout, cell, false);
		}
	}
}

void layout_maze(struct layout *layout, struct layout_area area,
		 struct chance *chance, unsigned passage, unsigned wall,
		 unsigned braid)
{
	struct maze maze = {
		.layout = layout,
		.area = area,
		.chance = chance,
		.passage = passage,
		.wall = wall,
		.columns = (area.width + wall) / (passage + wall),
		.rows = (area.height + wall) / (passage + wall),
	};

	if (maze.columns == 0 || maze.rows == 0)
		return;
	maze.opened = xcalloc(maze.columns, maze.rows);
	dig_tree(&maze);
	open_dead_ends(&maze, braid);
	carve(&maze);
	free(maze.opened);
}

/* ---- rooms ---- */

/* An opening of DOOR cells somewhere in a wall that is LEN cells long. */
static void open_door(struct layout *layout, struct layout_area wall,
		      bool is_upright, struct chance *chance, unsigned door)
{
	unsigned len = is_upright ? wall.height : wall.width;
	unsigned size = door < len ? door : len;
	unsigned at = chance_below(chance, len - size + 1);

	if (is_upright) {
		wall.y += at;
		wall.height = size;
	} else {
		wall.x += at;
		wall.width = size;
	}
	layout_fill(layout, wall, false);
}

/*
 * Cut AREA across its longer side and go on with both halves. The barrier
 * comes after them, so its doors are whole; a door that looks at the end of a
 * half's own wall may lead nowhere, and layout_seal() takes what that cuts off.
 */
void layout_rooms(struct layout *layout, struct layout_area area,
		  struct chance *chance, unsigned room, unsigned wall,
		  unsigned door)
{
	bool is_upright =
		area.width > area.height ||
		(area.width == area.height && chance_percent(chance, 50));
	unsigned len = is_upright ? area.width : area.height;
	struct layout_area barrier = area;
	struct layout_area near = area;
	struct layout_area far = area;
	unsigned at;

	if (len < 2 * room + wall)
		return;
	at = chance_between(chance, room, len - room - wall);
	if (is_upright) {
		near.width = at;
		barrier.x += at;
		barrier.width = wall;
		far.x += at + wall;
		far.width -= at + wall;
	} else {
		near.height = at;
		barrier.y += at;
		barrier.height = wall;
		far.y += at + wall;
		far.height -= at + wall;
	}
	layout_rooms(layout, near, chance, room, wall, door);
	layout_rooms(layout, far, chance, room, wall, door);
	layout_fill(layout, barrier, true);
	for (unsigned i = chance_between(chance, 1, 2 + len / (4 * room));
	     i > 0; i--)
		open_door(layout, barrier, is_upright, chance, door);
}

/* ---- the others ---- */

void layout_blocks(struct layout *layout, struct layout_area area,
		   struct chance *chance, unsigned count, unsigned side)
{
	while (count-- > 0) {
		struct layout_area block;

		/* statements: the order of the draws is the map's */
		block.width = chance_between(chance, 1, side);
		block.height = chance_between(chance, 1, side);
		if (block.width > area.width || block.height > area.height)
			continue;
		block.x = area.x +
			  chance_below(chance, area.width - block.width + 1);
		block.y = area.y +
			  chance_below(chance, area.height - block.height + 1);
		layout_fill(layout, block, true);
	}
}

void layout_pillars(struct layout *layout, struct layout_area area,
		    unsigned side, unsigned gap)
{
	for (unsigned y = gap; y + side + gap <= area.height; y += side + gap)
		for (unsigned x = gap; x + side + gap <= area.width;
		     x += side + gap)
			layout_fill(layout,
				    (struct layout_area){ area.x + x,
							  area.y + y, side,
							  side },
				    true);
}

void layout_stripes(struct layout *layout, struct layout_area area,
		    struct chance *chance, unsigned gap, unsigned wall,
		    unsigned door)
{
	bool is_upright = chance_percent(chance, 50);
	unsigned len = is_upright ? area.width : area.height;

	for (unsigned at = gap; at + wall + gap <= len; at += wall + gap) {
		struct layout_area stripe = area;

		if (is_upright) {
			stripe.x += at;
			stripe.width = wall;
		} else {
			stripe.y += at;
			stripe.height = wall;
		}
		layout_fill(layout, stripe, true);
		for (unsigned i = chance_between(chance, 2, 3); i > 0; i--)
			open_door(layout, stripe, is_upright, chance, door);
	}
}

/* Walls among the nine cells around X,Y; what is off the grid is wall. */
static unsigned walls_around(const struct layout *layout, const uint8_t *walls,
			     unsigned x, unsigned y)
{
	unsigned count = 0;

	for (unsigned dy = 0; dy < 3; dy++) {
		for (unsigned dx = 0; dx < 3; dx++) {
			/* unsigned: one left of 0 is off the grid as well */
			unsigned cx = x + dx - 1;
			unsigned cy = y + dy - 1;

			if (cx >= layout->width || cy >= layout->height)
				count++;
			else
				count += walls[layout_index(layout, cx, cy)];
		}
	}
	return count;
}

void layout_caves(struct layout *layout, struct chance *chance,
		  unsigned percent, unsigned rounds)
{
	size_t cells = (size_t)layout->width * layout->height;
	uint8_t *before = xcalloc(cells, 1);

	for (size_t i = 0; i < cells; i++)
		layout->walls[i] = chance_percent(chance, percent);
	while (rounds-- > 0) {
		memcpy(before, layout->walls, cells);
		for (unsigned y = 0; y < layout->height; y++)
			for (unsigned x = 0; x < layout->width; x++)
				layout->walls[layout_index(layout, x, y)] =
					walls_around(layout, before, x, y) >= 5;
	}
	free(before);
}
