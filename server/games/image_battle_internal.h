/* SPDX-License-Identifier: MIT */
/*
 * image_battle_internal.h - what the parts of image-battle share: the arena,
 * and the reading of an answer. For image_battle*.c and their tests.
 *
 * The picture of a match is one byte a pixel, a *cell*: white, black, some
 * other colour (its true one is the map's to know), or one of the map's seat
 * colours; equal colours are one cell. A frame of border cells, which are
 * nobody's, saves every question about the edge.
 */
#ifndef HILL_GAMES_IMAGE_BATTLE_INTERNAL_H
#define HILL_GAMES_IMAGE_BATTLE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "server/games/game.h"
#include "server/games/picture.h"

enum {
	ARENA_SIDE_MIN = 20, /* the contest's bounds */
	ARENA_SIDE_MAX = 1000,
	ARENA_BATCH_MAX = 10000,
};

enum arena_cell {
	ARENA_WHITE,
	ARENA_BLACK,
	ARENA_OTHER,
	ARENA_BORDER,
	ARENA_COLOUR, /* the first of the seats' colours */
	ARENA_NCELLS = ARENA_COLOUR + GAME_SEATS_MAX
};

struct game_map {
	unsigned width, height;
	size_t stride; /* cells from one row to the next: width + 2 */
	size_t ncells; /* with the frame */
	unsigned ncolours;
	uint8_t colours[GAME_SEATS_MAX][3]; /* by seat */
	uint8_t cell_of[GAME_SEATS_MAX];    /* the cell that a seat paints */
	int64_t counts[ARENA_NCELLS];       /* pixels by cell */
	struct picture picture;             /* owned: the true colours */
	uint8_t *cells;                     /* owned: ncells, row by row */
};

int arena_import(const struct game_source *source, struct buf *ret,
		 struct game_error *error);
int arena_new(struct game_map **ret, const struct game_source *source,
	      struct game_error *error);
void arena_free(struct game_map *map);
unsigned arena_seats(const struct game_map *map);
size_t arena_line_max(const struct game_map *map);
/*
 * Colours of one seat each, none of them white, black or without a pixel:
 * what a fair battle of SEATS seats needs. 0, or -EINVAL with ERROR set.
 */
int arena_admit(const struct game_map *map, unsigned seats,
		struct game_error *error) WARN_UNUSED;
/* Index of the pixel X,Y in cells. */
static inline size_t arena_index(const struct game_map *map, unsigned x,
				 unsigned y)
{
	return (y + (size_t)1) * map->stride + x + 1;
}

/* What became of an entry of an answer. */
enum answer_verdict {
	ANSWER_TAKEN,
	ANSWER_NOT_A_PAIR,
	ANSWER_OFF_PICTURE,
	ANSWER_NOT_WHITE,
	ANSWER_NOT_BESIDE,
	ANSWER_NVERDICTS
};

/* Who paints where. */
struct answer_board {
	const struct game_map *map; /* borrowed */
	uint8_t *cells;             /* borrowed: an arena like MAP */
	uint8_t own;                /* the cell that is painted */
	unsigned batch;             /* entries that are looked at */
};

/* What came of one answer. */
struct answer {
	unsigned looked_at; /* entries, at most the batch */
	unsigned taken;
	size_t beyond;     /* entries behind the batch */
	const char *first; /* the first that was not taken; borrowed */
	size_t first_len;
	enum answer_verdict why;
	size_t list_len; /* bytes of the list of those taken */
};

enum { ANSWER_ENTRY_BYTES = 8 }; /* "999,999 " */

/*
 * Place the pixels that TEXT lists on BOARD, in order, at most batch entries
 * of whatever kind. Those taken are printed to LIST, " X,Y" each; LIST has
 * room for batch x ANSWER_ENTRY_BYTES. Whatever the text, nothing fails.
 *
 * As the judge read it under Python 2.7: entries are split at white space;
 * a number may have a sign and leading zeros.
 */
void answer_apply(struct answer *ret, const struct answer_board *board,
		  const char *text, size_t len, char *list);
/*
 * What of ANSWER was not taken, for a person; "" when all was. At most SIZE
 * bytes with the NUL; no control character, no byte above 126.
 */
void answer_describe(const struct answer *answer, char *ret, size_t size);

#endif
