/* SPDX-License-Identifier: MIT */
/*
 * film.h - a match as pictures: one file each, an animation, or text.
 *
 *	struct film_options options = { .animation = "match.png" };
 *	struct replay_source source = { game, map, &setup, transcript, len };
 *	rc = film_make(&source, &options, &report, &error);
 *
 * The match is played again twice: once to count what there is to see, once
 * to draw it. A picture is drawn, written and forgotten before the next, so
 * memory does not grow with the match. The same match gives the same bytes
 * (as long as zlib is the same). Any thread; writes files.
 */
#ifndef HILL_CLIENTS_PICTURE_FILM_H
#define HILL_CLIENTS_PICTURE_FILM_H

#include <stdbool.h>
#include <stdint.h>

#include "server/base/alloc.h"
#include "server/base/buffer.h"
#include "server/match/replay.h"

enum {
	FILM_FRAMES = 500, /* unless told otherwise: at most so many */
	FILM_FRAMES_MAX = 100000,
	FILM_EVERY_MAX = 1000000000,
	FILM_SIDE =
		300, /* small maps are enlarged to at least so many pixels */
	FILM_SCALE_MAX = 64,
	FILM_PIXELS_MAX = 16 * 1024 * 1024, /* of an enlarged picture */
	FILM_FPS = 20,
	FILM_FPS_MAX = 100,
};

/* All borrowed; zeros are the defaults. */
struct film_options {
	/*
	 * A folder, made when it is not there: 000000.png, ... , named by what
	 * was made before, moves or turns. NULL: none.
	 */
	const char *frames;
	const char *animation; /* an APNG file; NULL: none */
	const char *grids;     /* a text file; NULL: none */
	const char *heading;   /* the line above the grids; NULL: none */
	/*
	 * Each N-th state, and the last one. 0: for the grids each one, for
	 * pictures as few as max_frames wants.
	 */
	unsigned every;
	unsigned max_frames; /* pictures at most; 0: FILM_FRAMES; 1 is 2 */
	unsigned scale;      /* pixels a cell; 0: by FILM_SIDE */
	unsigned fps;        /* of the animation; 0: FILM_FPS */
};

struct film_report {
	uint64_t states; /* there were to see */
	uint64_t frames; /* pictures of them; 0 when none were wanted */
	unsigned every;  /* each of so many states got a picture */
	unsigned width, height, scale; /* of the pictures, in pixels */
};

/* Whether OPTIONS want anything at all. */
bool film_is_wanted(const struct film_options *options);
/*
 * Whether an animation may be called PATH: it is a PNG file, and one whose name
 * promises something else (x.gif) opens nowhere.
 */
bool film_is_animation_name(const char *path);
/*
 * Play SOURCE again and write what OPTIONS want. 0 with *RET; what replay_run
 * returns; -EINVAL when a picture would be too large or empty; -errno of a
 * file. ERROR says what and where.
 */
int film_make(const struct replay_source *source,
	      const struct film_options *options, struct film_report *ret,
	      struct game_error *error) WARN_UNUSED;
/* "300 x 300 pixels, 2 of 3 states (...)", appended to OUT. */
void film_describe(const struct film_report *report, struct buf *out);
/*
 * The characters of GRID, row by row, and the log's blank lines, to OUT. A cell
 * without one is a blank; a row ends with its last cell that has one, as the
 * originals' logs end a short row of the map.
 */
void film_add_grid(const struct game_grid *grid, struct buf *out);

#endif
