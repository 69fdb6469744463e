/* SPDX-License-Identifier: MIT */
/*
 * image_battle_generate.c - arenas: white floor, black walls, one pixel a
 * seat.
 *
 * The seats' pixels are moved about until none has too little white that is
 * nearest to it; an arena on which that does not come off is thrown away and
 * the next one comes from the same stream, after many with no walls at all.
 */
#include "server/games/image_battle_generate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/games/image_battle_internal.h"
#include "server/games/layout.h"

enum {
	PRESET_TINY,
	PRESET_OPEN,
	PRESET_BLOCKS,
	PRESET_PILLARS,
	PRESET_STRIPES,
	PRESET_ROOMS,
	PRESET_MAZE,
	PRESET_CAVES,
	DRAWS_MAX = 20, /* with walls as the preset has them */
	MOVES_MAX = 80, /* of a draw: trials to find a fairer place */
};

const struct game_preset arena_presets[ARENA_NPRESETS] = {
	[PRESET_TINY] = { "tiny", 1, 1, GAME_SEATS_MAX,
			  "20 to 32 pixels a side, a few blocks" },
	[PRESET_OPEN] = { "open", 1, 1, GAME_SEATS_MAX,
			  "60 to 140 a side, no wall at all" },
	[PRESET_BLOCKS] = { "blocks", 1, 1, GAME_SEATS_MAX,
			    "80 to 160 a side, scattered blocks" },
	[PRESET_PILLARS] = { "pillars", 1, 1, GAME_SEATS_MAX,
			     "80 to 160 a side, a lattice of pillars" },
	[PRESET_STRIPES] = { "stripes", 1, 1, GAME_SEATS_MAX,
			     "80 to 200 a side, long walls with two or three "
			     "openings each" },
	[PRESET_ROOMS] = { "rooms", 1, 1, GAME_SEATS_MAX,
			   "150 to 300 a side, rooms with narrow doors" },
	[PRESET_MAZE] = { "maze", 1, 1, GAME_SEATS_MAX,
			  "90 to 200 a side, ways of 3 to 7 pixels with "
			  "loops" },
	[PRESET_CAVES] = { "caves", 1, 1, GAME_SEATS_MAX,
			   "100 to 220 a side, caves with ragged walls" },
};

static const unsigned sides[ARENA_NPRESETS][2] = {
	[PRESET_TINY] = { 20, 32 },     [PRESET_OPEN] = { 60, 140 },
	[PRESET_BLOCKS] = { 80, 160 },  [PRESET_PILLARS] = { 80, 160 },
	[PRESET_STRIPES] = { 80, 200 }, [PRESET_ROOMS] = { 150, 300 },
	[PRESET_MAZE] = { 90, 200 },    [PRESET_CAVES] = { 100, 220 },
};

/* Far from each other, from white and from black; the contest's come first. */
static const uint8_t colours[GAME_SEATS_MAX][3] = {
	{ 0, 255, 0 },   { 255, 0, 0 },   { 0, 0, 255 },  { 255, 192, 0 },
	{ 255, 0, 255 }, { 0, 192, 255 }, { 128, 64, 0 }, { 128, 128, 128 },
};

struct draft {
	struct chance chance;
	struct layout layout;
	unsigned seats;
	uint32_t starts[GAME_SEATS_MAX]; /* cells */
	uint32_t *steps;                 /* owned scratch, a cell each */
	uint8_t *owners;                 /* owned scratch, likewise */
};

/* ---- walls ---- */

static void draw_maze(struct layout *layout, struct chance *chance)
{
	unsigned passage = chance_between(chance, 3, 7);
	unsigned wall = chance_between(chance, 1, 2);

	layout_maze(layout, layout_whole(layout), chance, passage, wall, 60);
}

static void draw_stripes(struct layout *layout, struct chance *chance)
{
	unsigned gap = chance_between(chance, 6, 20);
	unsigned wall = chance_between(chance, 1, 3);
	unsigned door = chance_between(chance, 3, 9);

	layout_stripes(layout, layout_whole(layout), chance, gap, wall, door);
}

static void draw_rooms(struct layout *layout, struct chance *chance)
{
	unsigned room = chance_between(chance, 16, 45);
	unsigned wall = chance_between(chance, 1, 3);
	unsigned door = chance_between(chance, 2, 6);

	layout_rooms(layout, layout_whole(layout), chance, room, wall, door);
}

static void draw_pillars(struct layout *layout, struct chance *chance)
{
	unsigned side = chance_between(chance, 1, 5);
	unsigned gap = chance_between(chance, 2, 6);

	layout_pillars(layout, layout_whole(layout), side, gap);
}

static void draw_blocks(struct layout *layout, struct chance *chance,
			unsigned side)
{
	unsigned cells = layout->width * layout->height;
	unsigned count =
		chance_between(chance, 4, 10) * cells / (10 * side * side);

	layout_blocks(layout, layout_whole(layout), chance, count, side);
}

static void draw_walls(struct draft *draft, unsigned preset)
{
	struct layout *layout = &draft->layout;
	struct chance *chance = &draft->chance;

	switch (preset) {
	case PRESET_TINY:
		draw_blocks(layout, chance, 5);
		break;
	case PRESET_BLOCKS:
		draw_blocks(layout, chance, 16);
		break;
	case PRESET_PILLARS:
		draw_pillars(layout, chance);
		break;
	case PRESET_STRIPES:
		draw_stripes(layout, chance);
		break;
	case PRESET_ROOMS:
		draw_rooms(layout, chance);
		break;
	case PRESET_MAZE:
		draw_maze(layout, chance);
		break;
	case PRESET_CAVES:
		layout_caves(layout, chance, 43, 5);
		break;
	default:
		break;
	}
}

/* ---- seats ---- */

/*
 * The white that is nearest to the seat that has least of it, in percent of
 * an even share. What a lower seat reaches in as many steps is the lower's.
 */
static unsigned worst_share(struct layout *layout, const uint32_t *starts,
			    unsigned seats, uint32_t *steps, uint8_t *owners)
{
	size_t cells = (size_t)layout->width * layout->height;
	size_t counts[GAME_SEATS_MAX] = { 0 };
	size_t total = 0;
	size_t worst = cells;

	layout_distances(layout, starts, seats, steps, owners);
	for (size_t i = 0; i < cells; i++) {
		if (steps[i] == LAYOUT_FAR || steps[i] == 0)
			continue;
		counts[owners[i]]++;
		total++;
	}
	for (unsigned i = 0; i < seats; i++)
		if (counts[i] < worst)
			worst = counts[i];
	return total == 0 ? 0 : (unsigned)(worst * seats * 100 / total);
}

static bool is_taken(const struct draft *draft, uint32_t at)
{
	for (unsigned i = 0; i < draft->seats; i++)
		if (draft->starts[i] == at)
			return true;
	return false;
}

/* Places for the seats; false when no fair ones were found. */
static bool draw_starts(struct draft *draft)
{
	unsigned share = 0;

	memset(draft->starts, 0xff, sizeof(draft->starts));
	for (unsigned i = 0; i < draft->seats; i++) {
		do {
			draft->starts[i] =
				layout_pick(&draft->layout, &draft->chance);
		} while (draft->steps[draft->starts[i]]++ > 0);
	}
	for (unsigned move = 0; move < MOVES_MAX; move++) {
		unsigned seat = chance_below(&draft->chance, draft->seats);
		uint32_t before = draft->starts[seat];
		uint32_t to = layout_pick(&draft->layout, &draft->chance);
		unsigned now;

		if (is_taken(draft, to))
			continue;
		draft->starts[seat] = to;
		now = worst_share(&draft->layout, draft->starts, draft->seats,
				  draft->steps, draft->owners);
		if (now < share)
			draft->starts[seat] = before;
		else
			share = now;
		/* more than is asked: what is even costs nothing to pass */
		if (share >= ARENA_SHARE_PERCENT + 10)
			break;
	}
	return share >= ARENA_SHARE_PERCENT;
}

/* Seats side by side in columns of one width: fair wherever no wall is. */
static bool place_evenly(struct draft *draft)
{
	const struct layout *layout = &draft->layout;

	for (unsigned i = 0; i < draft->seats; i++)
		draft->starts[i] = (uint32_t)layout_index(
			layout,
			(2 * i + 1) * layout->width / (2 * draft->seats),
			layout->height / 2);
	return true;
}

/* ---- whole arenas ---- */

static int compare_cells(const void *a, const void *b)
{
	uint32_t first = *(const uint32_t *)a;
	uint32_t second = *(const uint32_t *)b;

	return (first > second) - (first < second);
}

/* Seats in reading order: without its options the file says the same. */
static void put_options(const struct draft *draft, struct buf *out)
{
	buf_add_text(out, "colours=");
	for (unsigned i = 0; i < draft->seats; i++)
		buf_add_format(out, "%s%u,%u,%u", i > 0 ? ";" : "",
			       colours[i][0], colours[i][1], colours[i][2]);
}

static int put_picture(struct draft *draft, struct buf *out)
{
	const struct layout *layout = &draft->layout;
	size_t cells = (size_t)layout->width * layout->height;
	struct picture picture = { .width = layout->width,
				   .height = layout->height };
	int rc;

	qsort(draft->starts, draft->seats, sizeof(draft->starts[0]),
	      compare_cells);
	picture.rgb = xcalloc(cells, 3);
	for (size_t i = 0; i < cells; i++)
		memset(picture.rgb + 3 * i, layout->walls[i] != 0 ? 0 : 255, 3);
	for (unsigned i = 0; i < draft->seats; i++)
		memcpy(picture.rgb + (size_t)3 * draft->starts[i], colours[i],
		       3);
	rc = picture_encode_plain(&picture, out);
	picture_release(&picture);
	return rc;
}

/* What is in OUT since BEFORE is worth playing on. */
static bool passes(const struct draft *draft, const struct buf *out,
		   size_t before, const struct buf *options)
{
	const struct game_source source = { "arena.png", out->data + before,
					    out->len - before,
					    buf_text(options) };
	struct game_error error;
	struct game_map *map;
	int rc;

	if (arena_new(&map, &source, &error) < 0)
		return false;
	rc = arena_check(map, draft->seats, &error);
	arena_free(map);
	return rc == 0;
}

static bool draw_arena(struct draft *draft, unsigned preset, bool is_bare,
		       struct buf *out, const struct buf *options)
{
	size_t before = out->len;
	bool is_good = false;
	unsigned width, height;
	size_t cells;

	width = chance_between(&draft->chance, sides[preset][0],
			       sides[preset][1]);
	height = chance_between(&draft->chance, sides[preset][0],
				sides[preset][1]);
	cells = (size_t)width * height;
	layout_init(&draft->layout, width, height);
	draft->steps = xcalloc(cells, sizeof(*draft->steps));
	draft->owners = xcalloc(cells, 1);
	if (!is_bare)
		draw_walls(draft, preset);
	if (layout_seal(&draft->layout) >= cells * 2 / 5 &&
	    (is_bare ? place_evenly(draft) : draw_starts(draft)) &&
	    put_picture(draft, out) == 0)
		is_good = passes(draft, out, before, options);
	if (!is_good)
		out->len = before;
	layout_release(&draft->layout);
	free(draft->steps);
	free(draft->owners);
	return is_good;
}

int arena_generate(unsigned preset, unsigned seats, uint64_t seed,
		   struct buf *ret, struct buf *ret_options)
{
	struct draft draft = { .seats = seats };

	/* neither two presets nor two numbers of seats share a stream */
	chance_init(&draft.chance, seed ^ (uint64_t)(preset + 1) << 56 ^
					   (uint64_t)seats << 48);
	put_options(&draft, ret_options);
	for (unsigned draw = 0; !ret->is_failed; draw++)
		if (draw_arena(&draft, preset, draw >= DRAWS_MAX, ret,
			       ret_options))
			return 0;
	return -ENOMEM;
}

/* ---- the check ---- */

/* The arena as a layout, what is neither white nor a seat's pixel as wall. */
static void read_layout(struct layout *layout, const struct game_map *map,
			uint32_t starts[GAME_SEATS_MAX])
{
	layout_init(layout, map->width, map->height);
	for (unsigned y = 0; y < map->height; y++) {
		for (unsigned x = 0; x < map->width; x++) {
			uint8_t cell = map->cells[arena_index(map, x, y)];
			size_t at = layout_index(layout, x, y);

			layout->walls[at] = cell != ARENA_WHITE;
			if (cell >= ARENA_COLOUR)
				starts[cell - ARENA_COLOUR] = (uint32_t)at;
		}
	}
}

static int check_colours(const struct game_map *map, unsigned seats,
			 struct game_error *error)
{
	if (map->ncolours != seats) {
		game_error_set(error, "%u colours for %u seats", map->ncolours,
			       seats);
		return -EINVAL;
	}
	for (unsigned i = 0; i < seats; i++) {
		if (map->cell_of[i] == ARENA_COLOUR + i &&
		    map->counts[map->cell_of[i]] == 1)
			continue;
		game_error_set(error, "seat %u has not exactly one pixel",
			       i + 1);
		return -EINVAL;
	}
	return 0;
}

/* Whether from START all white can be painted, others' pixels in the way. */
static bool reaches_all(struct layout *layout, uint32_t start, int64_t white,
			uint32_t *steps)
{
	size_t cells = (size_t)layout->width * layout->height;
	int64_t reached = -1; /* the start itself is not white */

	layout_distances(layout, &start, 1, steps, NULL);
	for (size_t i = 0; i < cells; i++)
		reached += steps[i] != LAYOUT_FAR;
	return reached == white;
}

int arena_check(const struct game_map *map, unsigned seats,
		struct game_error *error)
{
	uint32_t starts[GAME_SEATS_MAX] = { 0 };
	size_t cells = (size_t)map->width * map->height;
	struct layout layout;
	uint32_t *steps;
	uint8_t *owners;
	unsigned share;
	int rc = check_colours(map, seats, error);

	if (rc < 0)
		return rc;
	read_layout(&layout, map, starts);
	steps = xcalloc(cells, sizeof(*steps));
	owners = xcalloc(cells, 1);
	for (unsigned i = 0; rc == 0 && i < seats; i++) {
		if (reaches_all(&layout, starts[i], map->counts[ARENA_WHITE],
				steps))
			continue;
		game_error_set(error, "seat %u cannot reach all white", i + 1);
		rc = -EINVAL;
	}
	share = worst_share(&layout, starts, seats, steps, owners);
	if (rc == 0 && share < ARENA_SHARE_PERCENT) {
		game_error_set(error,
			       "a seat's nearest white is %u %% of an even "
			       "share",
			       share);
		rc = -EINVAL;
	}
	free(steps);
	free(owners);
	layout_release(&layout);
	return rc;
}
