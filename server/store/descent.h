/* SPDX-License-Identifier: MIT */
/*
 * descent.h - going down the ids of many indexed lists as of one: a bot's
 * matches are those of all its versions, and so are its ratings.
 *
 * Each list is asked for its newest id once, and after that again only when
 * that id was taken, so a step costs one look at an index however many lists
 * there are and however long they are. Private to server/store; under the
 * connection's lock, in one transaction.
 */
#ifndef HILL_STORE_DESCENT_H
#define HILL_STORE_DESCENT_H

#include <stddef.h>
#include <stdint.h>

#include "server/store/db.h"

struct descent {
	struct db *db;   /* borrowed */
	const char *sql; /* a literal: the newest of list ?1 below ?2 */
	struct descent_head *top; /* owned */
	size_t count;
	struct store_error *error; /* borrowed */
};

/*
 * Begin below BEFORE in the lists whose keys LISTS (a literal) gives for
 * ?1 = KEY. 0 or -errno; descent_release in any case.
 */
int descent_begin(struct descent *descent, struct db *db, const char *lists,
		  int64_t key, const char *sql, int64_t before,
		  struct store_error *error) WARN_UNUSED;
/*
 * 1 with the newest id that is left and the key of a list that has it, 0 when
 * there is none, -errno. An id of several lists comes once for each.
 */
int descent_step(struct descent *descent, int64_t *ret_key,
		 int64_t *ret_id) WARN_UNUSED;
void descent_release(struct descent *descent);

#endif
