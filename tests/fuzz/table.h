/* SPDX-License-Identifier: MIT */
/*
 * table.h - a small map and a set-up out of a fuzzer's bytes.
 *
 *	r 322 1 turns=40      game's name or its beginning, seed, seats, parameters
 *	#####                 rows of the map; of image-battle one character a
 *	#s e#                 pixel: '#' black, 'a'.. a seat's colour, else
 *	#####                 white, grown to the least size. No row: a map
 *	=                     that lies here
 *	...                   the rest
 */
#ifndef HILL_TESTS_FUZZ_TABLE_H
#define HILL_TESTS_FUZZ_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/games/game.h"

struct table {
	const struct game *game;
	struct game_map *map; /* owned */
	struct game_setup setup;
	char seed[32];
	const char *rest; /* borrowed from the input */
	size_t len;
};

/* Whether the bytes make one; then RET is to be released. */
bool table_read(struct table *ret, const uint8_t *data, size_t size);
void table_release(struct table *table);
/* Take the next line off the LEN bytes at TEXT. False: none is left. */
bool table_line(const char **text, size_t *len, const char **ret_line,
		size_t *ret_len);
/* Abort unless it is so. */
void table_check(bool is_so);

#endif
