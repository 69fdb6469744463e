/* SPDX-License-Identifier: MIT */
/* web_internal.h - what the web_*.c share; private to server/store. */
#ifndef HILL_STORE_WEB_INTERNAL_H
#define HILL_STORE_WEB_INTERNAL_H

#include "server/store/visible.h"
#include "server/store/web.h"

/* A time, or null for SQL's NULL. */
json_t *web_time_at(struct query *query, int column);
/* Text, or null when it is empty. */
json_t *web_text_at(struct query *query, int column);
/* A text that may hold any bytes: what is no UTF-8 becomes '?'. */
json_t *web_bytes(const char *text);
/*
 * The id of the bot NAME that is not hidden, under the readers' lock. 0,
 * -ENOENT.
 */
int web_bot_id(struct db *db, const char *name, int64_t *ret,
	       struct store_error *error) WARN_UNUSED;
int web_ladder_id(struct db *db, const char *name, int64_t *ret,
		  struct store_error *error) WARN_UNUSED;
/* Begin a reading of one moment; 0 with the lock held. */
int web_begin(struct store *store, struct store_error *error) WARN_UNUSED;
/* End it. On ERR, *LIST is freed and set to NULL; returns ERR. */
int web_end(struct store *store, int err, json_t **list);

#endif
