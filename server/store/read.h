/* SPDX-License-Identifier: MIT */
/*
 * read.h - rows out of a connection whose lock is held; private to
 * server/store.
 */
#ifndef HILL_STORE_READ_H
#define HILL_STORE_READ_H

#include <stddef.h>

#include "server/store/store_internal.h"

/* ARRAY of COUNT elements with room for one more; rooms are powers of two. */
void *read_grow(void *array, size_t count, size_t size) WARN_UNUSED;
/*
 * Append to RET what DB has; 0 or -errno. What was read before a failure
 * stays in RET. Ladders' maps need the ladders first.
 */
int read_ladders(struct db *db, struct row_catalogue *ret,
		 struct store_error *error) WARN_UNUSED;
int read_ladder_maps(struct db *db, struct row_catalogue *ret,
		     struct store_error *error) WARN_UNUSED;
int read_maps(struct db *db, struct row_catalogue *ret,
	      struct store_error *error) WARN_UNUSED;

#endif
