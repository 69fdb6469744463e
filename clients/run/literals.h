/* SPDX-License-Identifier: MIT */
/*
 * literals.h - reads a Python file that holds nothing but `NAME = literal`:
 * strings, numbers, True, False, None, tuples, lists; comments, lines that go
 * on inside brackets or behind a backslash. Pure.
 */
#ifndef HILL_CLIENTS_RUN_LITERALS_H
#define HILL_CLIENTS_RUN_LITERALS_H

#include <jansson.h>
#include <stddef.h>

#include "server/base/alloc.h"
#include "server/games/game.h"

struct literals {
	json_t *values; /* object: NAME -> value; tuples and lists are arrays */
	json_t *lines;  /* object: NAME -> the line where it stands, from 1 */
};

/*
 * Read the LEN bytes at TEXT. 0 with *RET (literals_release), or -EINVAL:
 * ERROR names the line that cannot be read. Of a name that is given twice the
 * last one counts.
 */
int literals_read(struct literals *ret, const char *text, size_t len,
		  struct game_error *error) WARN_UNUSED;
void literals_release(struct literals *literals);

#endif
