/* SPDX-License-Identifier: MIT */
/*
 * rabbit_map.h - a rabbit-runner map, read once and shared by its matches.
 *
 * The rows of the file, stripped of blanks at both ends, without the empty
 * ones and those that begin with ';', are the grid: `#` wall, `s` start of
 * rabbits, `c` start of a crusher, `e` exit, everything else floor. What lies
 * off the grid is floor as well.
 */
#ifndef HILL_GAMES_RABBIT_MAP_H
#define HILL_GAMES_RABBIT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"
#include "server/games/game.h"
#include "server/games/python27/table.h"

enum {
	/* width x height; ragged rows could ask for far more than the file */
	RABBIT_MAP_CELLS = 1 << 28,
	RABBIT_LABELS = 1000,
	RABBIT_LABEL_BYTES = 8,
};

struct rabbit_row {
	uint32_t start, len; /* in `text` */
};

/* "17," and its length in the last byte, ready to be copied as one word. */
struct rabbit_label {
	char text[RABBIT_LABEL_BYTES];
};

struct game_map {
	uint32_t width, height; /* of the rectangle around all rows */
	/* One bit a cell, lines padded to whole words; see rabbit_sight.h. */
	uint32_t row_words, column_words;
	uint64_t *wall_rows;    /* line y, bit x */
	uint64_t *wall_columns; /* line x, bit y */
	uint64_t *exit_rows;
	struct py27_cell *starts; /* in the order of the original's set */
	struct py27_cell *crushers;
	uint32_t nstarts, ncrushers, nexits;
	uint32_t nopen; /* cells of the rows that are no wall */
	/*
	 * A step leads from GAP, where anybody may stand, off the rows: the
	 * first one in reading order. DOOR is such an exit, which only crushers
	 * pass.
	 */
	bool has_gap, has_door;
	struct py27_cell gap, door;
	char *text; /* the file */
	struct rabbit_row *rows;
	struct rabbit_label *labels; /* of 0..nlabels-1 */
	uint32_t nlabels;
};

/*
 * Read SOURCE. 0 and *RET is the caller's (rabbit_map_free), -EINVAL with
 * ERROR set, -ENOMEM.
 */
int rabbit_map_new(struct game_map **ret, const struct game_source *source,
		   struct game_error *error) WARN_UNUSED;
/* NULL is fine. */
void rabbit_map_free(struct game_map *map);

static inline bool rabbit_map_holds(const struct game_map *map,
				    struct py27_cell cell)
{
	return (uint32_t)cell.x < map->width && (uint32_t)cell.y < map->height;
}

static inline bool rabbit_map_bit(const struct game_map *map,
				  const uint64_t *rows, struct py27_cell cell)
{
	return rabbit_map_holds(map, cell) &&
	       (rows[(size_t)cell.y * map->row_words + (uint32_t)cell.x / 64] >>
			((uint32_t)cell.x % 64) &
		1) != 0;
}

static inline bool rabbit_map_is_wall(const struct game_map *map,
				      struct py27_cell cell)
{
	return rabbit_map_bit(map, map->wall_rows, cell);
}

static inline bool rabbit_map_is_exit(const struct game_map *map,
				      struct py27_cell cell)
{
	return rabbit_map_bit(map, map->exit_rows, cell);
}

#endif
