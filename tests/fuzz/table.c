/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/games/picture.h"

enum {
	SIDE_MIN = 20,
	SIDE_MAX = 64,
	HEAD_BYTES_MAX = 200,
	SOURCE_BYTES_MAX = 1 << 20,
	COST_MAX = 4 * 1024 * 1024,
	TURNS_MAX = 200,
};

static const char rabbit_rows[] = "###############\n"
				  "#s    c      e#\n"
				  "# #### #### # #\n"
				  "#s          c #\n"
				  "###############\n";
static const char mine_rows[] = "#########\n"
				"#. *R 1A#\n"
				"#  \\.@W #\n"
				"#\\ * ! .#\n"
				"L  .\\ * #\n"
				"#########\n"
				"\n"
				"Water 1\nFlooding 9\nWaterproof 5\n"
				"Trampoline A targets 1\nGrowth 3\nRazors 1\n";
static const char arena_rows[] = "a   #  b\n"
				 "    #   \n"
				 "c      d\n";

void table_check(bool is_so)
{
	if (!is_so)
		abort();
}

bool table_line(const char **text, size_t *len, const char **ret_line,
		size_t *ret_len)
{
	const char *end;

	if (*len == 0)
		return false;
	end = memchr(*text, '\n', *len);
	*ret_line = *text;
	*ret_len = end == NULL ? *len : (size_t)(end - *text);
	*text += *ret_len + (end != NULL);
	*len -= *ret_len + (end != NULL);
	return true;
}

static void paint(const char *rows, size_t len, struct buf *out)
{
	static uint8_t rgb[SIDE_MAX * SIDE_MAX * 3];
	struct picture picture = { SIDE_MIN, SIDE_MIN, rgb };
	const char *text = rows, *line;
	size_t left = len, count;
	unsigned y = 0;

	for (; table_line(&text, &left, &line, &count); y++)
		if (count > picture.width)
			picture.width = (unsigned)count;
	if (y > SIDE_MIN)
		picture.height = y;
	if (picture.width > SIDE_MAX || picture.height > SIDE_MAX)
		return;
	memset(rgb, 255, sizeof(rgb));
	text = rows;
	left = len;
	for (y = 0; table_line(&text, &left, &line, &count); y++) {
		for (size_t x = 0; x < count; x++) {
			uint8_t *at = rgb + 3 * (y * picture.width + x);

			if (line[x] == '#')
				memset(at, 0, 3);
			else if (line[x] >= 'a' && line[x] <= 'z')
				memcpy(at, (uint8_t[]){ 200, line[x], 9 }, 3);
		}
	}
	table_check(picture_encode_png(&picture, out) == 0);
}

/* The colours that paint() gives to 'a', 'b', ... */
static void name_colours(unsigned seats, struct buf *out)
{
	for (unsigned i = 0; i < seats && i < GAME_SEATS_MAX; i++)
		buf_add_format(out, "%s200,%u,9", i == 0 ? "colours=" : ";",
			       'a' + i);
}

static bool read_map(struct table *table, const char *rows, size_t len)
{
	struct buf bytes = BUF_INIT(SOURCE_BYTES_MAX);
	struct buf imported = BUF_INIT(SOURCE_BYTES_MAX);
	struct buf options = BUF_INIT(GAME_SEATS_MAX * 16);
	struct game_source source = { .name = "a.map" };
	struct game_error error = { "" };
	bool is_good;

	if (table->game->name[0] == 'i') {
		paint(rows, len, &bytes);
		name_colours(table->setup.seats, &options);
	} else {
		buf_add(&bytes, rows, len);
	}
	source.options = buf_text(&options);
	source.data = buf_text(&bytes);
	source.len = bytes.len;
	is_good = game_import(table->game, &source, &imported, &error) == 0;
	source.data = buf_text(&imported);
	source.len = imported.len;
	is_good = is_good &&
		  table->game->map_new(&table->map, &source, &error) == 0;
	buf_release(&bytes);
	buf_release(&imported);
	buf_release(&options);
	return is_good;
}

/* The first line. */
static bool read_head(struct table *table, const char *line, size_t len)
{
	struct game_error error;
	char head[HEAD_BYTES_MAX + 1];
	char name[32];
	int at = 0;

	if (len > HEAD_BYTES_MAX)
		return false;
	memcpy(head, line, len);
	head[len] = '\0';
	if (sscanf(head, "%31s %31s %u%n", name, table->seed,
		   &table->setup.seats, &at) != 3)
		return false;
	for (size_t i = 0; games_all[i] != NULL && table->game == NULL; i++)
		if (strncmp(games_all[i]->name, name, strlen(name)) == 0)
			table->game = games_all[i];
	if (table->game == NULL || game_seed_check(table->seed) != 0 ||
	    game_params_parse(table->game, head + at, table->setup.params,
			      &error) != 0)
		return false;
	/* A run's length is in the input's hands, not its cost. */
	if (name[0] == 'r' && table->setup.params[0] > TURNS_MAX)
		table->setup.params[0] = TURNS_MAX;
	table->setup.seed = table->seed;
	table->setup.bot_seed = table->seed;
	table->setup.limit_ms = 100;
	return true;
}

bool table_read(struct table *ret, const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *line, *rows;
	size_t left = size, len, rows_len;

	memset(ret, 0, sizeof(*ret));
	if (!table_line(&text, &left, &line, &len) ||
	    !read_head(ret, line, len))
		return false;
	rows = text;
	do {
		rows_len = (size_t)(text - rows);
		if (!table_line(&text, &left, &line, &len))
			return false;
	} while (len != 1 || line[0] != '=');
	if (rows_len == 0) {
		rows = ret->game->name[0] == 'r'   ? rabbit_rows
		       : ret->game->name[0] == 'l' ? mine_rows
						   : arena_rows;
		rows_len = strlen(rows);
	}
	ret->rest = text;
	ret->len = left;
	if (!read_map(ret, rows, rows_len))
		return false;
	if (ret->game->cost(ret->map, &ret->setup) > COST_MAX) {
		table_release(ret);
		return false;
	}
	return true;
}

void table_release(struct table *table)
{
	table->game->map_free(table->map);
	table->map = NULL;
}
