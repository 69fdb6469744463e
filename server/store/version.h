/* SPDX-License-Identifier: MIT */
/*
 * version.h - a bot's versions, inside a transaction of DB whose lock the
 * caller holds; private to server/store. store_version() is in register.h.
 */
#ifndef HILL_STORE_VERSION_H
#define HILL_STORE_VERSION_H

#include <stdint.h>

#include "server/store/store_internal.h"

/* SQL: version v may play, or will, in a tournament perhaps. */
#define VERSION_PLAYS                                                    \
	"(v.state <> 'retired' "                                         \
	"OR v.id IN (SELECT e.bot_version_id FROM tournament_entrant e " \
	"JOIN tournament t ON t.id = e.tournament_id "                   \
	"WHERE t.state = 'running') "                                    \
	"OR v.id IN (SELECT (SELECT a.version_id FROM bot_activation a " \
	"WHERE a.bot_id = e.bot_id AND a.at_us <= t.deadline_us "        \
	"ORDER BY a.at_us DESC, a.id DESC LIMIT 1) "                     \
	"FROM tournament_entrant e JOIN tournament t "                   \
	"ON t.id = e.tournament_id WHERE t.state = 'planned'))"

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
