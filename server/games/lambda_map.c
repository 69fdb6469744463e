/* SPDX-License-Identifier: MIT */
/* lambda_map.c - from the bytes of a map file to a grid and its numbers. */
#include "server/games/lambda_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct lines {
	const char *at, *end;
	size_t number; /* of the line last returned, from 1 */
};

struct line {
	const char *text;
	size_t len; /* without LF, and without a CR before it */
};

/* A letter or digit seen: what it takes to tell where. */
struct place {
	uint32_t at;
	unsigned row; /* from 1, the bottom */
	size_t line, column;
};

struct parser {
	struct lambda_map *map;
	struct game_error *error;
	struct place robot, lift;
	struct place trampolines[LAMBDA_NTRAMPOLINES];
	struct place targets[LAMBDA_NTARGETS];
	/* from 1, 0: no such line was seen */
	unsigned target_of[LAMBDA_NTRAMPOLINES];
};

static bool next_line(struct lines *lines, struct line *ret)
{
	const char *lf;

	if (lines->at == lines->end)
		return false;
	lf = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
	ret->text = lines->at;
	ret->len = (size_t)((lf != NULL ? lf : lines->end) - lines->at);
	lines->at = lf != NULL ? lf + 1 : lines->end;
	if (ret->len > 0 && ret->text[ret->len - 1] == '\r')
		ret->len--;
	lines->number++;
	return true;
}

/* ---- the grid ---- */

static int measure(struct parser *parser, struct lines lines)
{
	struct lambda_map *map = parser->map;
	size_t width = 0, height = 0;
	struct line line;

	while (next_line(&lines, &line) && line.len > 0) {
		height++;
		if (line.len > width)
			width = line.len;
	}
	if (height == 0) {
		game_error_set(parser->error, "line 1: there is no map");
		return -EINVAL;
	}
	if (width > LIMIT_MINE_CELLS || height > LIMIT_MINE_CELLS / width) {
		game_error_set(parser->error,
			       "line %zu: too large: %zu columns and %zu rows "
			       "are more than %d cells",
			       height, width, height, LIMIT_MINE_CELLS);
		return -EINVAL;
	}
	map->width = (unsigned)width;
	map->height = (unsigned)height;
	map->stride = (uint32_t)width + 2;
	map->size = map->stride * (uint32_t)(height + 2);
	return 0;
}

/* What must be there once at most. */
static int put_once(struct parser *parser, struct place *seen,
		    const struct place *place, char cell)
{
	if (seen->at != 0) {
		game_error_set(parser->error,
			       "line %zu column %zu: a second '%c', the first "
			       "is at line %zu column %zu",
			       place->line, place->column, cell, seen->line,
			       seen->column);
		return -EINVAL;
	}
	*seen = *place;
	return 0;
}

static int put_cell(struct parser *parser, const struct place *place, char cell)
{
	struct lambda_map *map = parser->map;

	map->cells[place->at] = (unsigned char)cell;
	switch (cell) {
	case ' ':
	case '.':
	case '#':
	case '*':
	case '!':
		return 0;
	case '\\':
	case '@':
		map->total++;
		return 0;
	case 'W':
		map->has_beards = true;
		return 0;
	case 'R':
		return put_once(parser, &parser->robot, place, cell);
	case 'L':
		return put_once(parser, &parser->lift, place, cell);
	default:
		break;
	}
	if (cell >= 'A' && cell < 'A' + LAMBDA_NTRAMPOLINES)
		return put_once(parser, &parser->trampolines[cell - 'A'], place,
				cell);
	if (cell >= '1' && cell < '1' + LAMBDA_NTARGETS)
		return put_once(parser, &parser->targets[cell - '1'], place,
				cell);
	if (isgraph((unsigned char)cell))
		game_error_set(parser->error,
			       "line %zu column %zu: '%c' is no cell of a mine",
			       place->line, place->column, cell);
	else
		game_error_set(parser->error,
			       "line %zu column %zu: byte %u is no cell of a "
			       "mine",
			       place->line, place->column, (unsigned char)cell);
	return -EINVAL;
}

static int read_grid(struct parser *parser, struct lines *lines)
{
	struct lambda_map *map = parser->map;
	struct line line;

	while (next_line(lines, &line) && line.len > 0) {
		struct place place = {
			.row = map->height + 1 - (unsigned)lines->number,
			.line = lines->number,
		};
		uint32_t start = place.row * map->stride + 1;

		memset(map->cells + start, ' ', map->width);
		for (size_t i = 0; i < line.len; i++) {
			int rc;

			place.at = start + (uint32_t)i;
			place.column = i + 1;
			rc = put_cell(parser, &place, line.text[i]);
			if (rc < 0)
				return rc;
		}
	}
	if (parser->robot.at == 0 || parser->lift.at == 0) {
		game_error_set(parser->error,
			       "lines 1 to %u: the map has no %s", map->height,
			       parser->robot.at == 0 ? "robot ('R')"
						     : "lift ('L')");
		return -EINVAL;
	}
	map->robot = parser->robot.at;
	map->robot_row = parser->robot.row;
	map->lift = parser->lift.at;
	return 0;
}

/* ---- the lines behind it ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Cut the next word off LINE; empty when there is none. */
static struct line cut_word(struct line *line)
{
	struct line word;

	while (line->len > 0 && is_blank(*line->text)) {
		line->text++;
		line->len--;
	}
	word = (struct line){ line->text, 0 };
	while (line->len > 0 && !is_blank(*line->text)) {
		line->text++;
		line->len--;
		word.len++;
	}
	return word;
}

static bool word_is(const struct line *word, const char *text)
{
	return word->len == strlen(text) &&
	       memcmp(word->text, text, word->len) == 0;
}

static int read_number(struct parser *parser, const struct line *key,
		       struct line rest, size_t number, int64_t *ret)
{
	struct line word = cut_word(&rest);
	size_t column = (size_t)(word.text - key->text) + 1;
	int64_t value = 0;
	size_t i = 0;

	while (i < word.len && isdigit((unsigned char)word.text[i]) &&
	       value <= LAMBDA_NUMBER_MAX)
		value = value * 10 + (word.text[i++] - '0');
	if (word.len == 0 || i < word.len || value > LAMBDA_NUMBER_MAX ||
	    cut_word(&rest).len > 0) {
		game_error_set(parser->error,
			       "line %zu column %zu: %.*s wants one number "
			       "from 0 to %d",
			       number, column, (int)key->len, key->text,
			       LAMBDA_NUMBER_MAX);
		return -EINVAL;
	}
	*ret = value;
	return 0;
}

static int read_trampoline(struct parser *parser, struct line rest,
			   size_t number)
{
	struct line letter = cut_word(&rest);
	struct line verb = cut_word(&rest);
	struct line digit = cut_word(&rest);

	if (letter.len != 1 || letter.text[0] < 'A' ||
	    letter.text[0] >= 'A' + LAMBDA_NTRAMPOLINES ||
	    !word_is(&verb, "targets") || digit.len != 1 ||
	    digit.text[0] < '1' || digit.text[0] >= '1' + LAMBDA_NTARGETS ||
	    cut_word(&rest).len > 0) {
		game_error_set(parser->error,
			       "line %zu column 1: not of the form "
			       "'Trampoline A targets 1'",
			       number);
		return -EINVAL;
	}
	parser->target_of[letter.text[0] - 'A'] =
		(unsigned)(digit.text[0] - '0');
	return 0;
}

static int read_metadata(struct parser *parser, struct lines *lines)
{
	struct lambda_map *map = parser->map;
	const struct {
		const char *key;
		int64_t *value;
	} numbers[] = {
		{ "Water", &map->water },
		{ "Flooding", &map->flooding },
		{ "Waterproof", &map->waterproof },
		{ "Growth", &map->growth },
		{ "Razors", &map->razors },
	};
	struct line line;
	int rc = 0;

	while (rc == 0 && next_line(lines, &line)) {
		struct line key = cut_word(&line);

		if (word_is(&key, "Trampoline"))
			rc = read_trampoline(parser, line, lines->number);
		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]);
		     i++) {
			if (word_is(&key, numbers[i].key))
				rc = read_number(parser, &key, line,
						 lines->number,
						 numbers[i].value);
		}
	}
	return rc;
}

static int link_trampolines(struct parser *parser)
{
	for (unsigned i = 0; i < LAMBDA_NTRAMPOLINES; i++) {
		const struct place *from = &parser->trampolines[i];
		const struct place *to;
		unsigned target = parser->target_of[i];

		if (from->at == 0)
			continue;
		to = target > 0 ? &parser->targets[target - 1] : NULL;
		if (to == NULL || to->at == 0) {
			game_error_set(parser->error,
				       "line %zu column %zu: trampoline '%c' "
				       "has no target",
				       from->line, from->column, 'A' + (int)i);
			return -EINVAL;
		}
		parser->map->trampolines[i] = (struct lambda_trampoline){
			.at = from->at,
			.target = to->at,
			.target_row = to->row,
		};
	}
	return 0;
}

int lambda_map_init(struct lambda_map *map, const char *data, size_t len,
		    struct game_error *error)
{
	struct lambda_map parsed = { .waterproof = 10, .growth = 25 };
	struct parser parser = { .map = &parsed, .error = error };
	struct lines lines = { .at = data, .end = data + len };
	int rc;

	rc = measure(&parser, lines);
	if (rc < 0)
		return rc;
	parsed.cells = malloc((size_t)parsed.size + LAMBDA_SLACK);
	if (parsed.cells == NULL) {
		game_error_set(error, "no memory for %u cells", parsed.size);
		return -ENOMEM;
	}
	memset(parsed.cells, '#', (size_t)parsed.size + LAMBDA_SLACK);
	rc = read_grid(&parser, &lines);
	if (rc == 0)
		rc = read_metadata(&parser, &lines);
	if (rc == 0)
		rc = link_trampolines(&parser);
	if (rc < 0) {
		lambda_map_release(&parsed);
		return rc;
	}
	*map = parsed;
	return 0;
}

void lambda_map_release(struct lambda_map *map)
{
	if (map == NULL)
		return;
	free(map->cells);
	map->cells = NULL;
}
