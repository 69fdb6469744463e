/* SPDX-License-Identifier: MIT */
/*
 * version.h - a bot's versions, inside a transaction of DB whose lock the
 * caller holds; private to server/store. store_version() is in register.h.
 */
#ifndef HILL_STORE_VERSION_H
#define HILL_STORE_VERSION_H

#include <stdint.h>

#include "server/store/store_internal.h"

/* VERSION_ID has become BOT_ID's active one: for the record. */
int version_note_active(struct db *db, int64_t bot_id, int64_t version_id,
			int64_t at_us, struct store_error *error) WARN_UNUSED;
/* VERSION_ID is BOT_ID's active one from now on; the old one is retired. */
int version_activate(struct db *db, int64_t bot_id, int64_t version_id,
		     struct store_error *error) WARN_UNUSED;
/*
 * Append to RET the versions that may play, by bot: those that are not retired,
 * and retired ones that a tournament wants, which are not rated. Those of which
 * a day has seen VERSIONS_PER_DAY newer are not rated yet.
 */
int read_versions(struct db *db, uint32_t versions_per_day,
		  struct row_catalogue *ret,
		  struct store_error *error) WARN_UNUSED;

#endif
