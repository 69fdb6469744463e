/* SPDX-License-Identifier: MIT */
/*
 * rabbit_generate.c - maps like the contest's two: narrow ways, pillared
 * halls, rooms, and few exits far from the starts.
 *
 * A draw is a size, a layout, and places on its floor; one that fails the
 * check is thrown away and the next comes from the same stream. Should many
 * fail, wall is taken away, until none is left to be in the way.
 */
#include "server/games/rabbit_generate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/games/layout.h"
#include "server/games/rabbit_map.h"

enum {
	PRESET_SMALL,
	PRESET_OPEN,
	PRESET_PILLARS,
	PRESET_ROOMS,
	PRESET_MAZE,
	PRESET_STATION,
	PRESET_LARGE,
	DRAWS_MAX = 60, /* with walls as the preset has them */
	PLACES_MAX = 24,
	CRUSHER_APART = 4, /* steps at least from any start */
};

/* What a preset's draws are made of; sizes have a wall on either side. */
struct recipe {
	unsigned width_min, width_max, height_min, height_max;
	unsigned starts_min, starts_max;
	unsigned exits_min, exits_max;
	unsigned crushers_min, crushers_max;
	/* of the way from the exits to the farthest cell, for every start */
	unsigned far_percent;
};

const struct game_preset rabbit_presets[RABBIT_NPRESETS] = {
	[PRESET_SMALL] = { "small", 1, 1, 1,
			   "19 to 25 x 9 to 11, narrow ways with loops, 1 "
			   "start, 1 exit, 1 crusher" },
	[PRESET_OPEN] = { "open", 1, 1, 1,
			  "41 to 55 x 21 to 27, a hall with scattered blocks, "
			  "3 or 4 starts, 1 or 2 exits, 4 to 6 crushers" },
	[PRESET_PILLARS] = { "pillars", 1, 1, 1,
			     "41 to 61 x 21 to 31, a hall of pillars, 3 or 4 "
			     "starts, 1 exit, 4 to 6 crushers" },
	[PRESET_ROOMS] = { "rooms", 1, 1, 1,
			   "51 to 65 x 25 to 31, rooms with doors of one "
			   "cell, 3 or 4 starts, 1 or 2 exits, 5 to 7 "
			   "crushers" },
	[PRESET_MAZE] = { "maze", 1, 1, 1,
			  "41 to 61 x 21 to 31, one-cell ways, few loops, 3 "
			  "or 4 starts, 1 exit, 4 to 6 crushers" },
	[PRESET_STATION] = { "station", 1, 1, 1,
			     "59 to 65 x 27 to 31, as the contest's own: ways, "
			     "halls and solid rock, 4 starts, 1 exit far "
			     "away, 5 to 7 crushers" },
	[PRESET_LARGE] = { "large", 1, 1, 1,
			   "101 to 121 x 45 to 61, a station with 6 to 8 "
			   "starts, 2 or 3 exits, 14 to 20 crushers" },
};

_Static_assert(PLACES_MAX >= 20, "room for all crushers");

static const struct recipe recipes[RABBIT_NPRESETS] = {
	[PRESET_SMALL] = { 19, 25, 9, 11, 1, 1, 1, 1, 1, 1, 80 },
	[PRESET_OPEN] = { 41, 55, 21, 27, 3, 4, 1, 2, 4, 6, 60 },
	[PRESET_PILLARS] = { 41, 61, 21, 31, 3, 4, 1, 1, 4, 6, 60 },
	[PRESET_ROOMS] = { 51, 65, 25, 31, 3, 4, 1, 2, 5, 7, 70 },
	[PRESET_MAZE] = { 41, 61, 21, 31, 3, 4, 1, 1, 4, 6, 60 },
	[PRESET_STATION] = { 59, 65, 27, 31, 4, 4, 1, 1, 5, 7, 80 },
	[PRESET_LARGE] = { 101, 121, 45, 61, 6, 8, 2, 3, 14, 20, 60 },
};

/* Cells of one kind. */
struct places {
	uint32_t at[PLACES_MAX];
	unsigned count;
};

struct draft {
	struct chance chance;
	struct layout layout;
	struct places starts, exits, crushers;
	uint32_t *steps; /* owned: width x height, scratch */
};

/* ---- walls ---- */

/* An area inside the outer wall, sides in the bounds, on the maze's lattice. */
static struct layout_area draw_area(struct draft *draft, unsigned width_min,
				    unsigned width_max, unsigned height_min,
				    unsigned height_max)
{
	const struct layout *layout = &draft->layout;
	struct layout_area area;

	/* odd places, odd sides: the ways of the maze go on around it */
	area.width = chance_between(&draft->chance, width_min, width_max) | 1;
	area.height =
		chance_between(&draft->chance, height_min, height_max) | 1;
	area.x = chance_below(&draft->chance, layout->width - area.width - 1) |
		 1;
	area.y =
		chance_below(&draft->chance, layout->height - area.height - 1) |
		1;
	return area;
}

static void draw_station(struct draft *draft, struct layout_area inside)
{
	struct layout *layout = &draft->layout;
	struct chance *chance = &draft->chance;
	unsigned parts = inside.width * inside.height / 250;

	layout_maze(layout, inside, chance, 1, 1, 40);
	for (unsigned i = 0; i < parts; i++) {
		struct layout_area area = draw_area(draft, 5, 13, 3, 7);

		switch (chance_below(chance, 5)) {
		case 0:
			layout_fill(layout, area, true);
			break;
		case 1:
		case 2: /* pillars, with a lane all around */
			layout_fill(layout, area, false);
			layout_pillars(layout, area, 1, 1);
			break;
		default: /* a room around a block */
			layout_fill(layout, area, false);
			if (area.width > 4 && area.height > 4) {
				area.x += 2;
				area.y += 2;
				area.width -= 4;
				area.height -= 4;
				layout_fill(layout, area, true);
			}
			break;
		}
	}
}

static void draw_walls(struct draft *draft, unsigned preset)
{
	struct layout *layout = &draft->layout;
	struct chance *chance = &draft->chance;
	struct layout_area inside = { 1, 1, layout->width - 2,
				      layout->height - 2 };

	switch (preset) {
	case PRESET_SMALL:
		layout_maze(layout, inside, chance, 1, 1, 80);
		layout_fill(layout, draw_area(draft, 3, 5, 3, 3), false);
		break;
	case PRESET_OPEN:
		layout_blocks(layout, inside, chance,
			      inside.width * inside.height / 25, 4);
		break;
	case PRESET_PILLARS:
		layout_pillars(layout, inside, 1, 1);
		layout_blocks(layout, inside, chance,
			      inside.width * inside.height / 60, 3);
		break;
	case PRESET_ROOMS:
		layout_rooms(layout, inside, chance, 5, 1, 1);
		break;
	case PRESET_MAZE:
		layout_maze(layout, inside, chance, 1, 1, 30);
		break;
	default:
		draw_station(draft, inside);
		break;
	}
}

/* ---- places ---- */

static char cell_of(const struct draft *draft, uint32_t at)
{
	const struct places *kinds[] = { &draft->starts, &draft->exits,
					 &draft->crushers };

	for (unsigned kind = 0; kind < 3; kind++)
		for (unsigned i = 0; i < kinds[kind]->count; i++)
			if (kinds[kind]->at[i] == at)
				return "sec"[kind];
	return draft->layout.walls[at] != 0 ? '#' : ' ';
}

/* Whether a straight line of floor joins two cells. */
static bool is_seen(const struct layout *layout, uint32_t a, uint32_t b)
{
	uint32_t low = a < b ? a : b;
	uint32_t high = a < b ? b : a;
	uint32_t step = high - low < layout->width ? 1 : layout->width;

	if (low / layout->width != high / layout->width &&
	    low % layout->width != high % layout->width)
		return false;
	for (low += step; low < high; low += step)
		if (layout->walls[low] != 0)
			return false;
	return true;
}

static bool is_hidden(const struct draft *draft, uint32_t at)
{
	for (unsigned i = 0; i < draft->starts.count; i++)
		if (is_seen(&draft->layout, at, draft->starts.at[i]))
			return false;
	return true;
}

/*
 * COUNT free cells, at least APART steps from all of FROM; from the starts'
 * sight as well for crushers. False when the draws run out.
 */
static bool draw_places(struct draft *draft, struct places *ret, unsigned count,
			const struct places *from, unsigned apart)
{
	unsigned draws = 200 * count;

	if (from->count > 0)
		layout_distances(&draft->layout, from->at, from->count,
				 draft->steps, NULL);
	while (ret->count < count && draws-- > 0) {
		uint32_t at = layout_pick(&draft->layout, &draft->chance);

		if (cell_of(draft, at) != ' ' ||
		    (from->count > 0 && draft->steps[at] < apart) ||
		    (ret == &draft->crushers && !is_hidden(draft, at)))
			continue;
		ret->at[ret->count++] = at;
	}
	return ret->count == count;
}

/* The cell farthest from all of FROM, of equals the first. */
static uint32_t farthest(struct draft *draft, const struct places *from)
{
	size_t cells = (size_t)draft->layout.width * draft->layout.height;
	uint32_t best = from->at[0];

	layout_distances(&draft->layout, from->at, from->count, draft->steps,
			 NULL);
	for (uint32_t at = 0; at < cells; at++)
		if (draft->steps[at] != LAYOUT_FAR &&
		    draft->steps[at] > draft->steps[best])
			best = at;
	return best;
}

/* COUNT exits; the first at one end of the map, as far as ways go. */
static bool draw_exits(struct draft *draft, unsigned count)
{
	static const struct places none;
	struct places *exits = &draft->exits;

	exits->at[0] = layout_pick(&draft->layout, &draft->chance);
	exits->count = 1;
	exits->at[0] = farthest(draft, exits);
	return draw_places(draft, exits, count, &none, 0);
}

static unsigned apart_min(unsigned width, unsigned height)
{
	return (width + height) / 4;
}

static bool draw_all_places(struct draft *draft, const struct recipe *recipe)
{
	struct chance *chance = &draft->chance;
	unsigned apart = apart_min(draft->layout.width, draft->layout.height);
	unsigned count, far;

	draft->starts.count = 0;
	draft->exits.count = 0;
	draft->crushers.count = 0;
	count = chance_between(chance, recipe->exits_min, recipe->exits_max);
	if (!draw_exits(draft, count))
		return false;
	far = draft->steps[farthest(draft, &draft->exits)] *
	      recipe->far_percent / 100;
	if (apart < far)
		apart = far;
	count = chance_between(chance, recipe->starts_min, recipe->starts_max);
	if (!draw_places(draft, &draft->starts, count, &draft->exits, apart))
		return false;
	count = chance_between(chance, recipe->crushers_min,
			       recipe->crushers_max);
	return draw_places(draft, &draft->crushers, count, &draft->starts,
			   CRUSHER_APART);
}

/* ---- whole maps ---- */

static void put_rows(const struct draft *draft, struct buf *out)
{
	const struct layout *layout = &draft->layout;
	uint32_t at = 0;

	for (unsigned y = 0; y < layout->height; y++) {
		for (unsigned x = 0; x < layout->width; x++)
			buf_add_char(out, cell_of(draft, at++));
		buf_add_char(out, '\n');
	}
}

/* What the rows since BEFORE in OUT are worth. */
static bool passes(const struct buf *out, size_t before)
{
	const struct game_source source = { "map", out->data + before,
					    out->len - before, "" };
	struct game_error error;
	struct game_map *map;
	int rc;

	if (out->is_failed || rabbit_map_new(&map, &source, &error) < 0)
		return false;
	rc = rabbit_check(map, &error);
	rabbit_map_free(map);
	return rc == 0;
}

/* One draw, appended to OUT; false when it is none to play on. */
static bool draw_map(struct draft *draft, unsigned preset, bool is_bare,
		     struct buf *out)
{
	const struct recipe *recipe = &recipes[preset];
	struct chance *chance = &draft->chance;
	size_t before = out->len;
	bool is_good = false;
	unsigned width, height;

	width = chance_between(chance, recipe->width_min, recipe->width_max);
	height = chance_between(chance, recipe->height_min, recipe->height_max);
	layout_init(&draft->layout, width | 1, height | 1);
	draft->steps = xcalloc((size_t)(width | 1) * (height | 1),
			       sizeof(*draft->steps));
	if (!is_bare)
		draw_walls(draft, preset);
	else /* sight ends somewhere, and nothing is ever cut off */
		layout_pillars(&draft->layout, layout_whole(&draft->layout), 1,
			       3);
	layout_frame(&draft->layout);
	if (layout_seal(&draft->layout) >= (size_t)width * height / 4 &&
	    draw_all_places(draft, recipe)) {
		put_rows(draft, out);
		is_good = passes(out, before);
	}
	if (!is_good)
		out->len = before;
	layout_release(&draft->layout);
	free(draft->steps);
	return is_good;
}

int rabbit_generate(unsigned preset, unsigned seats, uint64_t seed,
		    struct buf *ret, struct buf *ret_options)
{
	struct draft draft = { 0 };

	(void)seats;
	(void)ret_options;
	/* no two presets share a stream */
	chance_init(&draft.chance, seed ^ (uint64_t)(preset + 1) << 56);
	for (unsigned draw = 0; !ret->is_failed; draw++)
		if (draw_map(&draft, preset, draw >= DRAWS_MAX, ret))
			return 0;
	return -ENOMEM;
}

/* ---- the check ---- */

static void read_layout(struct layout *layout, const struct game_map *map)
{
	layout_init(layout, map->width, map->height);
	for (uint32_t y = 0; y < map->height; y++)
		for (uint32_t x = 0; x < map->width; x++)
			layout->walls[layout_index(layout, x, y)] =
				rabbit_map_is_wall(
					map, (struct py27_cell){ (int32_t)x,
								 (int32_t)y });
}

static bool is_closed(const struct layout *layout)
{
	struct layout framed;
	size_t cells = (size_t)layout->width * layout->height;
	bool is_same;

	layout_init(&framed, layout->width, layout->height);
	memcpy(framed.walls, layout->walls, cells);
	layout_frame(&framed);
	is_same = memcmp(framed.walls, layout->walls, cells) == 0;
	layout_release(&framed);
	return is_same;
}

static void list_exits(const struct game_map *map, uint32_t *ret)
{
	uint32_t count = 0;

	for (uint32_t y = 0; y < map->height; y++)
		for (uint32_t x = 0; x < map->width; x++)
			if (rabbit_map_is_exit(
				    map, (struct py27_cell){ (int32_t)x,
							     (int32_t)y }))
				ret[count++] = y * map->width + x;
}

static uint32_t index_of(const struct game_map *map, struct py27_cell cell)
{
	return (uint32_t)cell.y * map->width + (uint32_t)cell.x;
}

static int check_ways(const struct game_map *map, const struct layout *layout,
		      const uint32_t *steps, struct game_error *error)
{
	unsigned apart = apart_min(map->width, map->height);

	for (uint32_t at = 0; at < map->width * map->height; at++) {
		if (layout->walls[at] == 0 && steps[at] == LAYOUT_FAR) {
			game_error_set(error, "%u,%u is cut off from the exits",
				       at % map->width, at / map->width);
			return -EINVAL;
		}
	}
	for (uint32_t i = 0; i < map->nstarts; i++) {
		struct py27_cell start = map->starts[i];

		if (steps[index_of(map, start)] < apart) {
			game_error_set(error,
				       "the start at %d,%d is less than %u "
				       "steps from an exit",
				       start.x, start.y, apart);
			return -EINVAL;
		}
	}
	return 0;
}

static int check_sight(const struct game_map *map, const struct layout *layout,
		       struct game_error *error)
{
	for (uint32_t i = 0; i < map->ncrushers; i++) {
		for (uint32_t k = 0; k < map->nstarts; k++) {
			if (!is_seen(layout, index_of(map, map->crushers[i]),
				     index_of(map, map->starts[k])))
				continue;
			game_error_set(error,
				       "the crusher at %d,%d sees the start "
				       "at %d,%d",
				       map->crushers[i].x, map->crushers[i].y,
				       map->starts[k].x, map->starts[k].y);
			return -EINVAL;
		}
	}
	return 0;
}

int rabbit_check(const struct game_map *map, struct game_error *error)
{
	uint32_t *exits;
	uint32_t *steps;
	struct layout layout;
	int rc = -EINVAL;

	if (map->nstarts == 0 || map->nexits == 0 || map->ncrushers == 0) {
		game_error_set(error, "a start, an exit or a crusher is "
				      "missing");
		return -EINVAL;
	}
	read_layout(&layout, map);
	exits = xcalloc(map->nexits, sizeof(*exits));
	steps = xcalloc((size_t)map->width * map->height, sizeof(*steps));
	if (!is_closed(&layout)) {
		game_error_set(error, "the outer wall has a gap");
		goto out;
	}
	list_exits(map, exits);
	layout_distances(&layout, exits, map->nexits, steps, NULL);
	rc = check_ways(map, &layout, steps, error);
	if (rc == 0)
		rc = check_sight(map, &layout, error);
out:
	free(exits);
	free(steps);
	layout_release(&layout);
	return rc;
}
