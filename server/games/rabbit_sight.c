/* SPDX-License-Identifier: MIT */
/* rabbit_sight.c - sight from beyond the map's rectangle and to it. */
#include "server/games/rabbit_sight.h"

#include <stdlib.h>
#include <string.h>

size_t rabbit_sight_words(const struct game_map *map)
{
	return (size_t)map->row_words * map->height +
	       (size_t)map->column_words * map->width;
}

void rabbit_sight_init(struct rabbit_sight *sight, const struct game_map *map,
		       uint64_t *words)
{
	memset(sight, 0, sizeof(*sight));
	sight->width = map->width;
	sight->height = map->height;
	sight->inner_width = map->width < 2 ? 0 : map->width - 2;
	sight->inner_height = map->height < 2 ? 0 : map->height - 2;
	sight->row_words = map->row_words;
	sight->column_words = map->column_words;
	sight->rows = words;
	sight->columns = words + (size_t)map->row_words * map->height;
}

void rabbit_sight_add_walls(struct rabbit_sight *sight,
			    const struct game_map *map)
{
	size_t row_size = (size_t)map->row_words * map->height;
	size_t column_size = (size_t)map->column_words * map->width;

	for (size_t i = 0; i < row_size; i++)
		sight->rows[i] |= map->wall_rows[i];
	for (size_t i = 0; i < column_size; i++)
		sight->columns[i] |= map->wall_columns[i];
}

void rabbit_sight_release(struct rabbit_sight *sight)
{
	free(sight->far_rows);
	free(sight->far_columns);
	sight->far_rows = NULL;
	sight->far_columns = NULL;
	sight->nfar = 0;
	sight->far_cap = 0;
}

/* A key that sorts by LINE, then by AT; both may be negative. */
static uint64_t far_key(int32_t line, int32_t at)
{
	return (uint64_t)((uint32_t)line ^ 0x80000000u) << 32 |
	       ((uint32_t)at ^ 0x80000000u);
}

/* The first of COUNT sorted KEYS that is not below KEY. */
static uint32_t lower_bound(const uint64_t *keys, uint32_t count, uint64_t key)
{
	uint32_t low = 0;

	while (count > 0) {
		uint32_t half = count / 2;

		if (keys[low + half] < key) {
			low += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return low;
}

bool rabbit_sight_has_far(const struct rabbit_sight *sight,
			  struct py27_cell cell)
{
	uint64_t key = far_key(cell.y, cell.x);
	uint32_t i = lower_bound(sight->far_rows, sight->nfar, key);

	return i < sight->nfar && sight->far_rows[i] == key;
}

static bool grow(struct rabbit_sight *sight)
{
	uint32_t cap = sight->far_cap == 0 ? 16 : sight->far_cap * 2;
	uint64_t *keys;

	keys = reallocarray(sight->far_rows, cap, sizeof(*keys));
	if (keys == NULL)
		return false;
	sight->far_rows = keys;
	keys = reallocarray(sight->far_columns, cap, sizeof(*keys));
	if (keys == NULL)
		return false;
	sight->far_columns = keys;
	sight->far_cap = cap;
	return true;
}

static void insert(uint64_t *keys, uint32_t count, uint64_t key)
{
	uint32_t i = lower_bound(keys, count, key);

	memmove(keys + i + 1, keys + i, (count - i) * sizeof(*keys));
	keys[i] = key;
}

static void take_out(uint64_t *keys, uint32_t count, uint64_t key)
{
	uint32_t i = lower_bound(keys, count, key);

	memmove(keys + i, keys + i + 1, (count - i - 1) * sizeof(*keys));
}

void rabbit_sight_add_far(struct rabbit_sight *sight, struct py27_cell cell)
{
	if (rabbit_sight_has_far(sight, cell))
		return;
	if (sight->nfar == sight->far_cap && !grow(sight)) {
		sight->is_failed = true;
		return;
	}
	insert(sight->far_rows, sight->nfar, far_key(cell.y, cell.x));
	insert(sight->far_columns, sight->nfar, far_key(cell.x, cell.y));
	sight->nfar++;
}

void rabbit_sight_remove_far(struct rabbit_sight *sight, struct py27_cell cell)
{
	if (!rabbit_sight_has_far(sight, cell))
		return;
	take_out(sight->far_rows, sight->nfar, far_key(cell.y, cell.x));
	take_out(sight->far_columns, sight->nfar, far_key(cell.x, cell.y));
	sight->nfar--;
}

uint32_t rabbit_sight_next_far(const struct rabbit_sight *sight,
			       struct py27_cell from, unsigned direction,
			       uint32_t beyond)
{
	bool is_row = direction < RABBIT_DOWN;
	const uint64_t *keys = is_row ? sight->far_rows : sight->far_columns;
	struct py27_cell first = rabbit_step(from, direction, beyond + 1);
	uint64_t key =
		is_row ? far_key(first.y, first.x) : far_key(first.x, first.y);
	uint32_t i = lower_bound(keys, sight->nfar, key);
	int64_t distance;

	if (direction & 1) {
		/* the last one at or before FIRST */
		if (i == sight->nfar || keys[i] != key) {
			if (i == 0)
				return 0;
			i--;
		}
	} else if (i == sight->nfar) {
		return 0;
	}
	if (keys[i] >> 32 != key >> 32)
		return 0;
	distance = (int64_t)(uint32_t)keys[i] - (int64_t)(uint32_t)key;
	if (direction & 1)
		distance = -distance;
	distance += beyond + 1;
	return distance <= RABBIT_SIGHT ? (uint32_t)distance : 0;
}

uint32_t rabbit_sight_next_near(const struct rabbit_sight *sight,
				struct py27_cell from, unsigned direction,
				uint32_t beyond)
{
	bool is_row = direction < RABBIT_DOWN;
	bool is_back = (direction & 1) != 0;
	int64_t line = is_row ? from.y : from.x;
	int64_t origin = is_row ? from.x : from.y;
	int64_t nlines = is_row ? sight->height : sight->width;
	int64_t len = is_row ? sight->width : sight->height;
	int64_t at = is_back ? origin - beyond - 1 : origin + beyond + 1;
	int64_t distance;
	const uint64_t *words;
	uint32_t found = 0;

	if (line < 0 || line >= nlines)
		return 0;
	/* enter the rectangle where the ray does */
	if (is_back && at >= len)
		at = len - 1;
	if (!is_back && at < 0)
		at = 0;
	if (at < 0 || at >= len)
		return 0;
	words = is_row ? rabbit_sight_row(sight, (int32_t)line)
		       : rabbit_sight_column(sight, (int32_t)line);
	if ((words[at / 64] & rabbit_sight_mask((int32_t)at)) == 0) {
		found = is_back ? rabbit_line_before(words, (uint32_t)at)
				: rabbit_line_after(
					  words,
					  is_row ? sight->row_words
						 : sight->column_words,
					  (uint32_t)at);
		if (found == 0)
			return 0;
	}
	distance = (is_back ? origin - at : at - origin) + found;
	return distance <= RABBIT_SIGHT ? (uint32_t)distance : 0;
}
