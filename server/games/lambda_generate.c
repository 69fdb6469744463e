/* SPDX-License-Identifier: MIT */
/*
 * lambda_generate.c - mines like the contest's: earth with rocks, pockets,
 * walls and lambdas, and one of the four extensions or all of them.
 *
 * Each draw is put before the miner of lambda_witness.c; a mine that it does
 * not win is thrown away, and the next one, from the same stream, has fewer
 * rocks, in the end none and no extension either.
 */
#include "server/games/lambda_generate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/games/lambda_internal.h"
#include "server/games/layout.h"

enum {
	PRESET_SMALL,
	PRESET_MEDIUM,
	PRESET_LARGE,
	PRESET_FLOOD,
	PRESET_TRAMPOLINE,
	PRESET_BEARD,
	PRESET_HOROCK,
	PRESET_ALL,
	DRAWS_ROCKY = 48, /* draws until no rock is left */
	DRAWS_RICH = 64,  /* draws until no extension is left */
	MINE_BYTES_MAX = 64 * 1024,
	VAULTS_MAX = 2,
};

/* What a preset's mines have beside earth. */
enum {
	HAS_FLOOD = 1 << 0,
	HAS_TRAMPOLINE = 1 << 1,
	HAS_BEARD = 1 << 2,
	HAS_HOROCK = 1 << 3,
};

struct recipe {
	unsigned width_min, width_max, height_min, height_max;
	unsigned lambdas; /* in a thousand cells */
	unsigned rocks;   /* likewise, in the first draw */
	unsigned extensions;
};

const struct game_preset lambda_presets[LAMBDA_NPRESETS] = {
	[PRESET_SMALL] = { "small", 1, 1, 1,
			   "7 to 12 a side, rocks and a few lambdas" },
	[PRESET_MEDIUM] = { "medium", 1, 1, 1,
			    "18 to 30 x 14 to 22, rocks, walls, pockets" },
	[PRESET_LARGE] = { "large", 1, 1, 1,
			   "40 to 60 x 25 to 40, the same on a large scale" },
	[PRESET_FLOOD] = { "flood", 1, 1, 1,
			   "12 to 24 x 10 to 18, with water that rises" },
	[PRESET_TRAMPOLINE] = { "trampoline", 1, 1, 1,
				"20 to 34 x 14 to 22, with vaults behind "
				"trampolines" },
	[PRESET_BEARD] = { "beard", 1, 1, 1,
			   "14 to 26 x 12 to 20, with beards and razors" },
	[PRESET_HOROCK] = { "horock", 1, 1, 1,
			    "14 to 26 x 12 to 20, with higher order rocks" },
	[PRESET_ALL] = { "all", 1, 1, 1,
			 "26 to 40 x 18 to 28, with all four extensions" },
};

static const struct recipe recipes[LAMBDA_NPRESETS] = {
	[PRESET_SMALL] = { 7, 12, 7, 12, 70, 90, 0 },
	[PRESET_MEDIUM] = { 18, 30, 14, 22, 55, 90, 0 },
	[PRESET_LARGE] = { 40, 60, 25, 40, 45, 60, 0 },
	[PRESET_FLOOD] = { 12, 24, 10, 18, 60, 80, HAS_FLOOD },
	[PRESET_TRAMPOLINE] = { 20, 34, 14, 22, 50, 70, HAS_TRAMPOLINE },
	[PRESET_BEARD] = { 14, 26, 12, 20, 55, 60, HAS_BEARD },
	[PRESET_HOROCK] = { 14, 26, 12, 20, 40, 60, HAS_HOROCK },
	[PRESET_ALL] = { 26, 40, 18, 28, 40, 50,
			 HAS_FLOOD | HAS_TRAMPOLINE | HAS_BEARD | HAS_HOROCK },
};

struct draft {
	struct chance chance;
	struct layout layout; /* the solid walls */
	char *cells;          /* owned: width x height, the top row first */
	unsigned extensions;
	unsigned rocks; /* in a thousand cells */
	unsigned nvaults;
	unsigned growth, razors, waterproof, flooding;
};

/* ---- cells ---- */

static void fill(struct draft *draft, struct layout_area area, char cell)
{
	for (unsigned y = area.y; y < area.y + area.height; y++)
		memset(draft->cells + layout_index(&draft->layout, area.x, y),
		       cell, area.width);
}

static size_t count_of(const struct draft *draft, char cell)
{
	size_t cells = (size_t)draft->layout.width * draft->layout.height;
	size_t count = 0;

	for (size_t i = 0; i < cells; i++)
		count += draft->cells[i] == cell;
	return count;
}

/* Put CELL in place of one piece of earth, drawn evenly; false without any. */
static bool put(struct draft *draft, char cell)
{
	size_t left = count_of(draft, '.');
	char *at = draft->cells;

	if (left == 0)
		return false;
	left = chance_below(&draft->chance, (uint32_t)left);
	while (*at != '.' || left-- > 0)
		at++;
	*at = cell;
	return true;
}

static void put_many(struct draft *draft, char cell, unsigned count)
{
	while (count-- > 0)
		(void)put(draft, cell);
}

static struct layout_area draw_area(struct draft *draft, unsigned width_max,
				    unsigned height_max)
{
	const struct layout *layout = &draft->layout;
	struct layout_area area;

	area.width = chance_between(&draft->chance, 2, width_max);
	area.height = chance_between(&draft->chance, 2, height_max);
	area.x = chance_between(&draft->chance, 1,
				layout->width - area.width - 1);
	area.y = chance_between(&draft->chance, 1,
				layout->height - area.height - 1);
	return area;
}

/* ---- parts of a mine ---- */

/* Walls inside a large enough mine, and pockets of air. */
static void draw_walls(struct draft *draft)
{
	struct layout *layout = &draft->layout;
	struct layout_area inside = { 1, 1, layout->width - 2,
				      layout->height - 2 };
	unsigned cells = inside.width * inside.height;

	if (layout->width >= 16)
		layout_rooms(layout, inside, &draft->chance, 7, 1, 3);
	layout_blocks(layout, inside, &draft->chance, cells / 60, 3);
	layout_frame(layout);
	(void)layout_seal(layout);
	for (unsigned i = 0; i < layout->width * layout->height; i++)
		draft->cells[i] = layout->walls[i] != 0 ? '#' : '.';
}

static void draw_pockets(struct draft *draft)
{
	const struct layout *layout = &draft->layout;
	unsigned cells = layout->width * layout->height;

	for (unsigned i = cells / 90; i > 0; i--) {
		struct layout_area area = draw_area(draft, 5, 3);

		for (unsigned y = area.y; y < area.y + area.height; y++)
			for (unsigned x = area.x; x < area.x + area.width; x++)
				if (draft->cells[layout_index(layout, x, y)] ==
				    '.')
					draft->cells[layout_index(layout, x,
								  y)] = ' ';
	}
}

/*
 * A walled chamber with lambdas, a target and a trampoline back out. Comes
 * before the seal, so that what it cuts off is wall; it is dug out after it.
 */
static void dig_vault(struct draft *draft, struct layout_area vault)
{
	struct layout_area inside = { vault.x + 1, vault.y + 1, vault.width - 2,
				      vault.height - 2 };
	uint32_t at[2];
	unsigned cells = inside.width * inside.height;

	fill(draft, vault, '#');
	fill(draft, inside, '\\');
	for (unsigned i = 0; i < cells / 2; i++) {
		unsigned x =
			inside.x + chance_below(&draft->chance, inside.width);
		unsigned y =
			inside.y + chance_below(&draft->chance, inside.height);

		draft->cells[layout_index(&draft->layout, x, y)] = '.';
	}
	/* the target in one corner, the way out in the other */
	at[0] = (uint32_t)layout_index(&draft->layout, inside.x, inside.y);
	at[1] = (uint32_t)layout_index(&draft->layout,
				       inside.x + inside.width - 1,
				       inside.y + inside.height - 1);
	draft->cells[at[0]] = (char)('1' + 2 * draft->nvaults);
	draft->cells[at[1]] = (char)('B' + 2 * draft->nvaults);
	draft->nvaults++;
}

/* Vaults along the top or bottom wall, each in its half of the mine. */
static void draw_vaults(struct draft *draft, struct layout_area ret[VAULTS_MAX],
			unsigned *ret_count)
{
	struct layout *layout = &draft->layout;
	unsigned half = layout->width / 2;
	unsigned count = chance_between(&draft->chance, 1, VAULTS_MAX);

	for (unsigned i = 0; i < count; i++) {
		struct layout_area vault;

		vault.width = chance_between(&draft->chance, 5, half - 3);
		vault.height = chance_between(&draft->chance, 4, 6);
		vault.x = i * half + chance_between(&draft->chance, 0,
						    half - vault.width - 1);
		vault.y = chance_percent(&draft->chance, 50)
				  ? 0
				  : layout->height - vault.height;
		ret[i] = vault;
	}
	*ret_count = count;
}

/* A lift in the outer wall beside earth, as the contest's mines have it. */
static bool put_lift(struct draft *draft)
{
	const struct layout *layout = &draft->layout;
	unsigned width = layout->width;
	unsigned height = layout->height;

	for (unsigned draw = 0; draw < 200; draw++) {
		bool is_floor = chance_percent(&draft->chance, 60);
		bool is_far = chance_percent(&draft->chance, 50);
		unsigned x = chance_between(&draft->chance, 1, width - 2);
		unsigned y = chance_between(&draft->chance, 1, height - 2);
		size_t beside;

		if (is_floor)
			y = height - 1;
		else
			x = is_far ? width - 1 : 0;
		beside = layout_index(layout, x, y) + (is_floor ? -(size_t)width
						       : is_far ? (size_t)-1
								: (size_t)1);
		if (draft->cells[beside] != '.' ||
		    draft->cells[layout_index(layout, x, y)] != '#')
			continue;
		draft->cells[layout_index(layout, x, y)] = 'L';
		return true;
	}
	return false;
}

static void put_extensions(struct draft *draft, unsigned cells)
{
	struct chance *chance = &draft->chance;

	for (unsigned i = 0; i < draft->nvaults; i++) {
		(void)put(draft, (char)('A' + 2 * i));
		(void)put(draft, (char)('2' + 2 * i));
	}
	if ((draft->extensions & HAS_HOROCK) != 0)
		put_many(draft, '@',
			 chance_between(chance, 2, 3 + cells / 100));
	if ((draft->extensions & HAS_BEARD) != 0) {
		draft->growth = chance_between(chance, 12, 30);
		draft->razors = chance_between(chance, 1, 4);
		put_many(draft, 'W',
			 chance_between(chance, 1, 1 + cells / 150));
		put_many(draft, '!', chance_between(chance, 2, 5));
	}
	if ((draft->extensions & HAS_FLOOD) != 0)
		draft->waterproof = chance_between(chance, 4, 12);
}

/* False when the lift found no place. */
static bool draw_cells(struct draft *draft, const struct recipe *recipe)
{
	struct layout_area vaults[VAULTS_MAX];
	unsigned cells = draft->layout.width * draft->layout.height;
	unsigned count = 0;

	if ((draft->extensions & HAS_TRAMPOLINE) != 0)
		draw_vaults(draft, vaults, &count);
	draw_walls(draft);
	if (count > 0) {
		for (unsigned i = 0; i < count; i++)
			layout_fill(&draft->layout, vaults[i], true);
		(void)layout_seal(&draft->layout);
		for (unsigned i = 0; i < cells; i++)
			draft->cells[i] =
				draft->layout.walls[i] != 0 ? '#' : '.';
		for (unsigned i = 0; i < count; i++)
			dig_vault(draft, vaults[i]);
	}
	draw_pockets(draft);
	if (!put_lift(draft) || !put(draft, 'R'))
		return false;
	put_extensions(draft, cells);
	put_many(draft, '*', cells * draft->rocks / 1000);
	put_many(draft, '\\', 2 + cells * recipe->lambdas / 1000);
	return true;
}

/* ---- the text ---- */

static void put_text(const struct draft *draft, struct buf *out)
{
	const struct layout *layout = &draft->layout;

	for (unsigned y = 0; y < layout->height; y++) {
		buf_add(out, draft->cells + layout_index(layout, 0, y),
			layout->width);
		buf_add_char(out, '\n');
	}
	if (draft->extensions == 0)
		return;
	buf_add_char(out, '\n');
	if (draft->flooding > 0)
		buf_add_format(out, "Water 0\nFlooding %u\nWaterproof %u\n",
			       draft->flooding, draft->waterproof);
	for (unsigned i = 0; i < 2 * draft->nvaults; i++)
		buf_add_format(out, "Trampoline %c targets %u\n", 'A' + (int)i,
			       i + 1);
	if ((draft->extensions & HAS_BEARD) != 0)
		buf_add_format(out, "Growth %u\nRazors %u\n", draft->growth,
			       draft->razors);
}

/* Whether the miner wins the mine; *RET_STEPS in so many steps. */
static bool is_won(const struct draft *draft, size_t *ret_steps)
{
	struct buf text = BUF_INIT(MINE_BYTES_MAX);
	struct buf route = BUF_INIT(LIMIT_MAP_BYTES);
	struct game_error error;
	struct lambda_map map;
	bool is_good = false;

	put_text(draft, &text);
	if (!text.is_failed &&
	    lambda_map_init(&map, text.data, text.len, &error) == 0) {
		is_good = lambda_check(&map, &route, &error) == 0;
		*ret_steps = route.len;
		lambda_map_release(&map);
	}
	buf_release(&text);
	buf_release(&route);
	return is_good;
}

/*
 * Water that presses: the miner's own time from the bottom to the top, then
 * slower until it wins. False when only dry feet would do.
 */
static bool draw_water(struct draft *draft, size_t steps)
{
	unsigned slowest = (unsigned)steps + 2;

	draft->flooding = (unsigned)steps / (2 * draft->layout.height) + 2;
	while (draft->flooding < slowest) {
		if (is_won(draft, &steps))
			return true;
		draft->flooding += draft->flooding / 4 + 1;
	}
	return false;
}

static bool draw_mine(struct draft *draft, const struct recipe *recipe,
		      struct buf *out)
{
	struct chance *chance = &draft->chance;
	bool is_good = false;
	unsigned width, height;
	size_t steps = 0;

	width = chance_between(chance, recipe->width_min, recipe->width_max);
	height = chance_between(chance, recipe->height_min, recipe->height_max);
	layout_init(&draft->layout, width, height);
	draft->cells = xcalloc(width, height);
	draft->nvaults = 0;
	draft->flooding = 0;
	if (draw_cells(draft, recipe))
		is_good = is_won(draft, &steps);
	if (is_good && (draft->extensions & HAS_FLOOD) != 0)
		is_good = draw_water(draft, steps);
	if (is_good)
		put_text(draft, out);
	layout_release(&draft->layout);
	free(draft->cells);
	return is_good;
}

int lambda_generate(unsigned preset, unsigned seats, uint64_t seed,
		    struct buf *ret, struct buf *ret_options)
{
	const struct recipe *recipe = &recipes[preset];
	struct draft draft = { 0 };

	(void)seats;
	(void)ret_options;
	/* no two presets share a stream */
	chance_init(&draft.chance, seed ^ (uint64_t)(preset + 1) << 56);
	for (unsigned draw = 0; !ret->is_failed; draw++) {
		draft.rocks = draw < DRAWS_ROCKY
				      ? recipe->rocks * (DRAWS_ROCKY - draw) /
						DRAWS_ROCKY
				      : 0;
		draft.extensions = draw < DRAWS_RICH ? recipe->extensions : 0;
		if (draw_mine(&draft, recipe, ret))
			return 0;
	}
	return -ENOMEM;
}
