/* SPDX-License-Identifier: MIT */
/*
 * admin.h - the host's commands, as JSON: one object in, one object out. The
 * same commands come through hilld's control socket and from hillctl on a
 * file that no hilld holds.
 *
 *	{"command": "bot add", "name": "crazy", "owner": "alice"}
 *	{"ok": true, "bot": {...}, "token": "hill_..."}
 *	{"ok": false, "field": "name", "error": "name: ..."}
 *
 * Commands and their fields ('*' must be there; the rest may be left out):
 *	owner add        name* external_id note
 *	owner list
 *	owner change     name* new_name external_id note
 *	owner disable    name* disabled (true)
 *	owner ban        name* reason* (its bots may not log in, and are told why)
 *	owner unban      name*
 *	owner house      name* house (true): its bots are the host's own
 *	owner erase      name* (all that tells who it was goes, results stay)
 *	invite new       owner external_id note days (a new owner is made)
 *	invite list      owner
 *	invite revoke    id*
 *	bot add          name* owner* max_connections (a new owner is made)
 *	bot list         owner
 *	bot change       name* owner max_connections
 *	bot disable      name* disabled (true)
 *	bot rename       name* new_name*
 *	bot hide         name* hidden (true)
 *	bot ban          name* reason* (its author is told it)
 *	bot unban        name*
 *	bot activate     name* version* (the label)
 *	bot versions     name*
 *	token add        bot*
 *	token list       bot
 *	token revoke     id*
 *	token rotate     bot* (all old ones revoked, one new)
 *	ladder add       name* game* maps* seats params turn_ms init_ms
 *	                 grace_ms bank_ms bank_step_ms lag_cap_ms ready_ms
 *	                 file_ms round_runs round_seconds house_wait_ms seeds
 *	                 ("random", "1..5") bot_seed ("own", "match") rated
 *	                 original
 *	ladder list
 *	ladder change    name* and all of those but game
 *	ladder disable   name* disabled (true)
 *	map add          name* game* data* (base64) options visibility
 *	                 ("public", "hidden")
 *	map list         game
 *	map change       name* game visibility
 *	map disable      name* game disabled (true)
 *	tournament create    name* ladder* format* entrants draw ("listed",
 *	                     "random", "rating") draw_seed rounds sets group
 *	                     rotate third seeds maps starts deadline grace_s
 *	                     embargo
 *	tournament plan      the same, and nothing is made
 *	tournament list
 *	tournament show      name* (pairings, what was played, what is next)
 *	tournament table     name* (and the cross-table)
 *	tournament export    name* (the table with owners and external ids)
 *	tournament start     name*
 *	tournament cancel    name*
 *	tournament reveal    name*
 *	tournament withdraw  name* bot*
 *	deadline             ladder* time* ("none" for none)
 *	match void           reason* and ids, or a filter: bot version opponent
 *	                     ladder map ended since_us until_us; dry_run
 *	match unvoid         the same
 *	announce add         text* for_s (else until it is dropped)
 *	announce list        (those that hold)
 *	announce drop        id*
 *	audit            limit (100, newest first): what was done and by
 *	                 which user; a refusal changed nothing, and is not there
 *	status
 * Unknown commands and fields are refused, and so is a value of the wrong
 * type. A command changes all that it says or nothing; what it did is noted in
 * the audit table in the same transaction, without secrets and private data.
 */
#ifndef HILL_STORE_ADMIN_H
#define HILL_STORE_ADMIN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <jansson.h>

#include "server/base/alloc.h"

struct store;

/* Behind the database's path: where hilld listens unless told otherwise. */
#define ADMIN_SOCKET_SUFFIX ".sock"

/*
 * Carry out REQUEST (borrowed, unchanged) for the process's own user. The reply
 * is the caller's (json_decref) and never NULL. *RET_CHANGED (may be NULL) says
 * whether the catalogue changed, so that hilld reads it again. Any thread but
 * the loop's: it waits for the disk, and a map's import takes its time.
 */
json_t *store_admin(struct store *store, json_t *request,
		    bool *ret_changed) WARN_UNUSED;
/*
 * Likewise from LEN bytes of TEXT to a text of one line, without its LF, that
 * the caller frees. Duplicate keys, NULs, depth and what follows the object
 * are refused as strictly as unknown fields.
 */
char *store_admin_text(struct store *store, const char *text, size_t len,
		       bool *ret_changed) WARN_UNUSED;
/* Likewise for user UID, at the other end of a socket: the audit names him. */
char *store_admin_by(struct store *store, uid_t uid, const char *text,
		     size_t len, bool *ret_changed) WARN_UNUSED;

#endif
