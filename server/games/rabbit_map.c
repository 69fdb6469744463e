/* SPDX-License-Identifier: MIT */
/* rabbit_map.c - from the bytes of a map file to what a match needs of it. */
#include "server/games/rabbit_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What str.strip() takes away. */
static bool is_blank(char c)
{
	return c == ' ' || (c >= 9 && c <= 13);
}

/* The stripped row at *AT, which moves behind its LF. */
static struct rabbit_row next_row(const char *data, size_t len, size_t *at)
{
	const char *lf = memchr(data + *at, '\n', len - *at);
	size_t end = lf == NULL ? len : (size_t)(lf - data);
	size_t start = *at;

	*at = lf == NULL ? len : end + 1;
	while (start < end && is_blank(data[start]))
		start++;
	while (end > start && is_blank(data[end - 1]))
		end--;
	return (struct rabbit_row){ (uint32_t)start, (uint32_t)(end - start) };
}

static bool is_kept(const char *data, struct rabbit_row row)
{
	return row.len > 0 && data[row.start] != ';';
}

/* The rows that count, and the size of the grid. */
static int find_rows(struct game_map *map, size_t len)
{
	size_t at = 0;
	uint32_t y = 0;

	while (at < len) {
		struct rabbit_row row = next_row(map->text, len, &at);

		if (!is_kept(map->text, row))
			continue;
		map->height++;
		if (row.len > map->width)
			map->width = row.len;
	}
	map->rows = calloc((size_t)map->height + 1, sizeof(*map->rows));
	if (map->rows == NULL)
		return -ENOMEM;
	for (at = 0; at < len;) {
		struct rabbit_row row = next_row(map->text, len, &at);

		if (is_kept(map->text, row))
			map->rows[y++] = row;
	}
	return 0;
}

static int make_bitmaps(struct game_map *map)
{
	size_t row_size;
	size_t column_size;

	map->row_words = (map->width + 63) / 64;
	map->column_words = (map->height + 63) / 64;
	row_size = (size_t)map->row_words * map->height + 1;
	column_size = (size_t)map->column_words * map->width + 1;
	map->wall_rows = calloc(row_size, sizeof(*map->wall_rows));
	map->exit_rows = calloc(row_size, sizeof(*map->exit_rows));
	map->wall_columns = calloc(column_size, sizeof(*map->wall_columns));
	if (map->wall_rows == NULL || map->exit_rows == NULL ||
	    map->wall_columns == NULL)
		return -ENOMEM;
	return 0;
}

/* Enter the cell X,Y whose character is C. */
static void read_cell(struct game_map *map, struct py27_cell cell, char c,
		      struct py27_table *starts, struct py27_table *crushers)
{
	uint32_t x = (uint32_t)cell.x;
	uint32_t y = (uint32_t)cell.y;
	size_t word = (size_t)y * map->row_words + x / 64;
	uint64_t bit = (uint64_t)1 << (x % 64);

	map->nopen += c != '#';
	switch (c) {
	case '#':
		map->wall_rows[word] |= bit;
		map->wall_columns[(size_t)x * map->column_words + y / 64] |=
			(uint64_t)1 << (y % 64);
		break;
	case 'e':
		map->exit_rows[word] |= bit;
		map->nexits++;
		break;
	case 's':
		py27_table_add(starts, cell, 0);
		break;
	case 'c':
		py27_table_add(crushers, cell, 0);
		break;
	default:
		break;
	}
}

/* Note that a step leads from X,Y off the rows, unless there is a wall. */
static void note_edge(struct game_map *map, uint32_t x, uint32_t y)
{
	struct py27_cell cell = { (int32_t)x, (int32_t)y };

	if (rabbit_map_is_wall(map, cell))
		return;
	if (rabbit_map_is_exit(map, cell)) {
		if (!map->has_door)
			map->door = cell;
		map->has_door = true;
	} else {
		if (!map->has_gap)
			map->gap = cell;
		map->has_gap = true;
	}
}

/* The edge of all rows: their ends, and what reaches beyond a neighbour. */
static void walk_edge(struct game_map *map)
{
	for (uint32_t y = 0; y < map->height; y++) {
		uint32_t len = map->rows[y].len;
		uint32_t above = y == 0 ? 0 : map->rows[y - 1].len;
		uint32_t below =
			y + 1 == map->height ? 0 : map->rows[y + 1].len;

		note_edge(map, 0, y);
		for (uint32_t x = above < below ? above : below; x < len; x++)
			note_edge(map, x, y);
		note_edge(map, len - 1, y);
	}
}

/* The keys of SET in its order; *RET is the caller's. */
static int list_cells(const struct py27_table *set, struct py27_cell **ret,
		      uint32_t *ret_count)
{
	struct py27_cell *cells;
	uint32_t count = 0;

	if (set->is_failed)
		return -ENOMEM;
	cells = calloc((size_t)set->used + 1, sizeof(*cells));
	if (cells == NULL)
		return -ENOMEM;
	for (int32_t i = py27_table_next(set, 0); i >= 0;
	     i = py27_table_next(set, i + 1))
		cells[count++] = py27_table_cell(set, i);
	*ret = cells;
	*ret_count = count;
	return 0;
}

/* All cells, row by row as the original reads them into its sets. */
static int read_cells(struct game_map *map)
{
	struct py27_table starts;
	struct py27_table crushers;
	int rc;

	py27_table_init(&starts);
	py27_table_init(&crushers);
	for (uint32_t y = 0; y < map->height; y++) {
		for (uint32_t x = 0; x < map->rows[y].len; x++)
			read_cell(map,
				  (struct py27_cell){ (int32_t)x, (int32_t)y },
				  map->text[map->rows[y].start + x], &starts,
				  &crushers);
	}
	walk_edge(map);
	rc = list_cells(&starts, &map->starts, &map->nstarts);
	if (rc == 0)
		rc = list_cells(&crushers, &map->crushers, &map->ncrushers);
	py27_table_release(&starts);
	py27_table_release(&crushers);
	return rc;
}

static int make_labels(struct game_map *map)
{
	uint32_t count = map->width > map->height ? map->width : map->height;

	map->nlabels = count < RABBIT_LABELS ? count : RABBIT_LABELS;
	map->labels = calloc((size_t)map->nlabels + 1, sizeof(*map->labels));
	if (map->labels == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < map->nlabels; i++) {
		char *text = map->labels[i].text;
		int len = snprintf(text, RABBIT_LABEL_BYTES, "%u,", i % 1000);

		text[RABBIT_LABEL_BYTES - 1] = (char)len;
	}
	return 0;
}

static int read_map(struct game_map *map, const struct game_source *source,
		    struct game_error *error)
{
	int rc;

	if (source->len > LIMIT_MAP_BYTES) {
		game_error_set(error, "the map has %zu bytes, more than %d",
			       source->len, (int)LIMIT_MAP_BYTES);
		return -EINVAL;
	}
	map->text = malloc(source->len + 1);
	if (map->text == NULL)
		return -ENOMEM;
	memcpy(map->text, source->data, source->len);
	map->text[source->len] = '\0';
	rc = find_rows(map, source->len);
	if (rc < 0)
		return rc;
	if ((uint64_t)map->width * map->height > RABBIT_MAP_CELLS) {
		game_error_set(error,
			       "the map is %u x %u, more than %d cells with "
			       "what its shorter rows lack",
			       map->width, map->height, (int)RABBIT_MAP_CELLS);
		return -EINVAL;
	}
	rc = make_bitmaps(map);
	if (rc == 0)
		rc = read_cells(map);
	if (rc == 0)
		rc = make_labels(map);
	return rc;
}

int rabbit_map_new(struct game_map **ret, const struct game_source *source,
		   struct game_error *error)
{
	struct game_map *map = calloc(1, sizeof(*map));
	int rc = -ENOMEM;

	if (map != NULL)
		rc = read_map(map, source, error);
	if (rc < 0) {
		if (rc == -ENOMEM)
			game_error_set(error, "no memory for the map");
		rabbit_map_free(map);
		return rc;
	}
	*ret = map;
	return 0;
}

void rabbit_map_free(struct game_map *map)
{
	if (map == NULL)
		return;
	free(map->wall_rows);
	free(map->wall_columns);
	free(map->exit_rows);
	free(map->starts);
	free(map->crushers);
	free(map->text);
	free(map->rows);
	free(map->labels);
	free(map);
}
