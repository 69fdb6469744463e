/* SPDX-License-Identifier: MIT */
/*
 * read.h - rows out of a connection whose lock is held; private to
 * server/store.
 */
#ifndef HILL_STORE_READ_H
#define HILL_STORE_READ_H

#include <stddef.h>

#include "server/store/store_internal.h"

/* What read_take_map() takes; a WHERE follows. */
#define READ_MAP_COLUMNS                                                     \
	"SELECT m.id, m.name, g.name, m.options, m.hash, "                   \
	"m.size_bytes, m.visibility, m.is_disabled, m.public_us FROM map m " \
	"JOIN game g ON g.id = m.game_id "

void read_take_map(struct query *query, struct row_map *ret);
/* ARRAY of COUNT elements with room for one more; rooms are powers of two. */
void *read_grow(void *array, size_t count, size_t size) WARN_UNUSED;
/*
 * The ids that SQL (a literal) gives for ?1 = KEY and ?2 = FROM, where it has
 * them. The caller frees *RET, also after a failure.
 */
int read_ids(struct db *db, const char *sql, int64_t key, int64_t from,
	     int64_t **ret, size_t *ret_count,
	     struct store_error *error) WARN_UNUSED;
/*
 * Append to RET what DB has; 0 or -errno. What was read before a failure
 * stays in RET. Ladders' maps need the ladders first.
 */
int read_ladders(struct db *db, struct row_catalogue *ret,
		 struct store_error *error) WARN_UNUSED;
int read_ladder_maps(struct db *db, struct row_catalogue *ret,
		     struct store_error *error) WARN_UNUSED;
/* But for generated ones, which may be very many. */
int read_maps(struct db *db, struct row_catalogue *ret,
	      struct store_error *error) WARN_UNUSED;

/* Announcements that hold. In announce.c. */
int read_announcements(struct db *db, struct row_catalogue *ret,
		       struct store_error *error) WARN_UNUSED;

#endif
