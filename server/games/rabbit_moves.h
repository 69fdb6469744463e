/* SPDX-License-Identifier: MIT */
/*
 * rabbit_moves.h - reading a rabbit-runner reply as the original does.
 *
 * The original decodes the line as UTF-8 and searches it for
 * `digits,digits blanks to blanks digits,digits`, leftmost first. Blanks are
 * bytes 9-13 and 32, digits 0-9; whatever else stands there does not matter.
 *
 *	struct rabbit_move move;
 *	while (rabbit_moves_next(&at, end, &move) == RABBIT_MOVE) ...
 */
#ifndef HILL_GAMES_RABBIT_MOVES_H
#define HILL_GAMES_RABBIT_MOVES_H

#include <stddef.h>
#include <stdint.h>

#include "server/games/python27/table.h"

enum {
	/* stands for every coordinate from here on: nothing is that far */
	RABBIT_FAR = 1 << 30,
};

enum rabbit_scan {
	RABBIT_MOVE,     /* a move was found */
	RABBIT_END,      /* no more */
	RABBIT_OVERFLOW, /* one was, with a number that is past any double */
};

struct rabbit_move {
	struct py27_cell from, to; /* coordinates 0..RABBIT_FAR */
	const char *text;          /* as it stands in the line */
	size_t len;
};

/* The bytes at the front of TEXT that are UTF-8 to Python 2.7; LEN for all. */
size_t rabbit_moves_utf8(const char *text, size_t len);
/* The next move at or after *AT, which moves behind it. */
enum rabbit_scan rabbit_moves_next(const char **at, const char *end,
				   struct rabbit_move *ret);

#endif
