/* SPDX-License-Identifier: MIT */
/*
 * new_bot.h - the rows of a new bot and of a new token, for the host's
 * commands and for authors who join by themselves; private to server/store.
 * All of it inside a transaction of DB, whose lock the caller holds.
 */
#ifndef HILL_STORE_NEW_BOT_H
#define HILL_STORE_NEW_BOT_H

#include <stdint.h>

#include "server/store/register.h"
#include "server/store/store_internal.h"

enum { NEW_BOT_CONNECTIONS = 8 /* at once, unless the host says more */ };

/*
 * PREFIX and 256 random bits in RET; their SHA-256, which is all that the
 * database may keep, in RET_HASH. Wipe RET once it was told. -EIO.
 */
int new_secret(const char *prefix, char ret[STORE_TOKEN_BYTES],
	       uint8_t ret_hash[ROW_HASH_BYTES],
	       struct store_error *error) WARN_UNUSED;
/* The hash of a secret's TEXT. */
void secret_hash(const char *text, uint8_t ret[ROW_HASH_BYTES]);
/*
 * One more token for BOT_ID: RET is its text, *RET_ID (may be NULL) its row.
 */
int new_token(struct db *db, int64_t bot_id, char ret[STORE_TOKEN_BYTES],
	      int64_t *ret_id, struct store_error *error) WARN_UNUSED;
/* All tokens of BOT_ID open nothing any more. */
int revoke_tokens(struct db *db, int64_t bot_id,
		  struct store_error *error) WARN_UNUSED;
/*
 * The bot NAME, whose look-alike key is KEY, with its first version, "1",
 * active. Names must have been checked.
 */
int new_bot(struct db *db, int64_t owner_id, const char *name, const char *key,
	    int64_t max_connections, int64_t *ret_id,
	    struct store_error *error) WARN_UNUSED;
/* Likewise the owner NAME. */
int new_owner(struct db *db, const char *name, const char *key, int64_t *ret_id,
	      struct store_error *error) WARN_UNUSED;

#endif
