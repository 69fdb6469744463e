/* SPDX-License-Identifier: MIT */
/*
 * image_battle_arena.c - the arena: a picture, the seats' colours, and the
 * cells that each match starts from.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/games/image_battle_internal.h"

enum { COLOURS_24BIT = 1 << 24 };

static const uint8_t white[3] = { 255, 255, 255 };
static const uint8_t black[3] = { 0, 0, 0 };

static bool is_same(const uint8_t a[3], const uint8_t b[3])
{
	return memcmp(a, b, 3) == 0;
}

static uint32_t packed(const uint8_t rgb[3])
{
	return (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2];
}

/* A picture that may be an arena, or a negative errno with ERROR set. */
static int read_arena(struct picture *ret, const struct game_source *source,
		      struct game_error *error)
{
	struct picture picture;
	int rc = picture_decode_png(&picture, source->data, source->len,
				    ARENA_SIDE_MAX, error);

	if (rc < 0)
		return rc;
	if (picture.width < ARENA_SIDE_MIN || picture.height < ARENA_SIDE_MIN) {
		game_error_set(error, "%u x %u pixels: a side has at least %d",
			       picture.width, picture.height, ARENA_SIDE_MIN);
		picture_release(&picture);
		return -EINVAL;
	}
	*ret = picture;
	return 0;
}

int arena_import(const struct game_source *source, struct buf *ret,
		 struct game_error *error)
{
	struct picture picture;
	int rc = read_arena(&picture, source, error);

	if (rc < 0)
		return rc;
	rc = picture_encode_png(&picture, ret);
	if (rc < 0)
		game_error_set(error, "no room for the converted picture");
	picture_release(&picture);
	return rc;
}

/* Read "R,G,B" at *TEXT and step over it; false when it is none. */
static bool read_colour(const char **text, uint8_t ret[3])
{
	const char *p = *text;

	for (int i = 0; i < 3; i++) {
		unsigned value = 0;
		size_t digits = strspn(p, "0123456789");

		if (digits == 0 || digits > 3)
			return false;
		for (size_t k = 0; k < digits; k++)
			value = value * 10 + (unsigned)(*p++ - '0');
		if (value > 255)
			return false;
		ret[i] = (uint8_t)value;
		if (i < 2 && *p++ != ',')
			return false;
	}
	*text = p;
	return true;
}

/*
 * The option colours=R,G,B;R,G,B;... Without it the map has no colours yet.
 */
static int read_options(struct game_map *map, const char *options,
			struct game_error *error)
{
	static const char name[] = "colours=";
	const char *p = options + strspn(options, " ");

	if (*p == '\0')
		return 0;
	if (strncmp(p, name, strlen(name)) != 0) {
		game_error_set(error, "an arena's only option is "
				      "colours=R,G,B;R,G,B;...");
		return -EINVAL;
	}
	p += strlen(name);
	do {
		if (map->ncolours == GAME_SEATS_MAX) {
			game_error_set(error, "colours: at most %d",
				       GAME_SEATS_MAX);
			return -EINVAL;
		}
		if (!read_colour(&p, map->colours[map->ncolours++])) {
			game_error_set(error,
				       "colours: number %u is not R,G,B with "
				       "values from 0 to 255",
				       map->ncolours);
			return -EINVAL;
		}
	} while (*p++ == ';');
	p--;
	p += strspn(p, " ");
	if (*p != '\0') {
		game_error_set(error, "colours: '%.20s' after number %u", p,
			       map->ncolours);
		return -EINVAL;
	}
	return 0;
}

static bool test_bit(const uint8_t *bits, uint32_t index)
{
	return bits[index / 8] >> index % 8 & 1;
}

static void set_bit(uint8_t *bits, uint32_t index)
{
	bits[index / 8] |= (uint8_t)(1u << index % 8);
}

/*
 * The colours that own exactly one pixel, in reading order, as far as there
 * are seats; white and black are none.
 */
static int find_colours(struct game_map *map, struct game_error *error)
{
	const uint8_t *rgb = map->picture.rgb;
	size_t pixels = (size_t)map->width * map->height;
	uint8_t *once = calloc(2, COLOURS_24BIT / 8);
	uint8_t *again;

	if (once == NULL) {
		game_error_set(error, "out of memory");
		return -ENOMEM;
	}
	again = once + COLOURS_24BIT / 8;
	set_bit(again, packed(white));
	set_bit(again, packed(black));
	for (size_t i = 0; i < pixels; i++) {
		uint32_t colour = packed(rgb + 3 * i);

		set_bit(test_bit(once, colour) ? again : once, colour);
	}
	for (size_t i = 0; i < pixels && map->ncolours < GAME_SEATS_MAX; i++) {
		if (!test_bit(again, packed(rgb + 3 * i)))
			memcpy(map->colours[map->ncolours++], rgb + 3 * i, 3);
	}
	free(once);
	if (map->ncolours == 0) {
		game_error_set(error, "no colour owns exactly one pixel: give "
				      "the seats theirs with "
				      "colours=R,G,B;R,G,B;...");
		return -EINVAL;
	}
	return 0;
}

static uint8_t cell_of_colour(const struct game_map *map, const uint8_t *rgb)
{
	if (is_same(rgb, white))
		return ARENA_WHITE;
	if (is_same(rgb, black))
		return ARENA_BLACK;
	for (unsigned i = 0; i < map->ncolours; i++) {
		if (is_same(rgb, map->colours[i]))
			return (uint8_t)(ARENA_COLOUR + i);
	}
	return ARENA_OTHER;
}

static int make_cells(struct game_map *map, struct game_error *error)
{
	const uint8_t *rgb = map->picture.rgb;

	map->stride = map->width + (size_t)2;
	map->ncells = map->stride * (map->height + (size_t)2);
	map->cells = malloc(map->ncells);
	if (map->cells == NULL) {
		game_error_set(error, "out of memory");
		return -ENOMEM;
	}
	memset(map->cells, ARENA_BORDER, map->ncells);
	for (unsigned i = 0; i < map->ncolours; i++)
		map->cell_of[i] = cell_of_colour(map, map->colours[i]);
	for (unsigned y = 0; y < map->height; y++) {
		uint8_t *row = map->cells + arena_index(map, 0, y);

		for (unsigned x = 0; x < map->width; x++, rgb += 3) {
			row[x] = cell_of_colour(map, rgb);
			map->counts[row[x]]++;
		}
	}
	return 0;
}

int arena_new(struct game_map **ret, const struct game_source *source,
	      struct game_error *error)
{
	struct game_map *map = xcalloc(1, sizeof(*map));
	int rc = read_arena(&map->picture, source, error);

	if (rc < 0)
		goto err;
	map->width = map->picture.width;
	map->height = map->picture.height;
	rc = read_options(map, source->options, error);
	if (rc < 0)
		goto err;
	if (map->ncolours == 0)
		rc = find_colours(map, error);
	if (rc < 0)
		goto err;
	rc = make_cells(map, error);
	if (rc < 0)
		goto err;
	*ret = map;
	return 0;
err:
	arena_free(map);
	return rc;
}

void arena_free(struct game_map *map)
{
	if (map == NULL)
		return;
	picture_release(&map->picture);
	free(map->cells);
	free(map);
}

unsigned arena_seats(const struct game_map *map)
{
	return map->ncolours;
}

size_t arena_line_max(const struct game_map *map)
{
	/* every entry that the largest batch may hold, printed plainly */
	size_t entries = (size_t)map->width * map->height;
	size_t bytes;

	if (entries > ARENA_BATCH_MAX)
		entries = ARENA_BATCH_MAX;
	bytes = entries * ANSWER_ENTRY_BYTES;
	return bytes > LIMIT_GAME_LINE_BYTES ? bytes : LIMIT_GAME_LINE_BYTES;
}

int arena_admit(const struct game_map *map, unsigned seats,
		struct game_error *error)
{
	if (seats > map->ncolours) {
		game_error_set(error, "%u seats, but the arena has %u colours",
			       seats, map->ncolours);
		return -EINVAL;
	}
	for (unsigned i = 0; i < seats; i++) {
		const uint8_t *rgb = map->colours[i];
		const char *problem = NULL;

		if (is_same(rgb, white) || is_same(rgb, black))
			problem = "is no player's";
		else if (map->counts[map->cell_of[i]] == 0)
			problem = "owns no pixel";
		else if (map->cell_of[i] != ARENA_COLOUR + i)
			problem = "is another seat's too";
		if (problem != NULL) {
			game_error_set(error, "colour %u,%u,%u of seat %u %s",
				       rgb[0], rgb[1], rgb[2], i + 1, problem);
			return -EINVAL;
		}
	}
	return 0;
}
