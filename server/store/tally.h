/* SPDX-License-Identifier: MIT */
/*
 * tally.h - how many matches of a ladder each version has played, the sum of
 * their scores, and when the last of them ended (0: none counts): kept as
 * results come, so that a table need not look at all matches. Part of the
 * transaction of who calls it. Private to server/store.
 */
#ifndef HILL_STORE_TALLY_H
#define HILL_STORE_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "server/store/store_internal.h"

/* Match ID and its seats have been written. */
int tally_saved(struct db *db, int64_t id,
		struct store_error *error) WARN_UNUSED;
/*
 * The matches of the table `touched` (moderate.c) count no more, or again, and
 * their status says so already. All of them did, or did not, before.
 */
int tally_touched(struct db *db, bool is_void,
		  struct store_error *error) WARN_UNUSED;

#endif
