/* SPDX-License-Identifier: MIT */
/*
 * register.h - how authors join by themselves: a bot and its first token, a
 * new token, a new version. For `@register` and its like, and for HTTP.
 *
 * Each call is one transaction and waits for the disk: any thread but the
 * loop's. What it changed is in the catalogue from then on: have hilld read
 * it again (store_catalogue, then net_set_catalogue).
 */
#ifndef HILL_STORE_REGISTER_H
#define HILL_STORE_REGISTER_H

#include <stdbool.h>
#include <stdint.h>

#include "server/base/alloc.h"
#include "server/base/limits.h"

struct store;
struct store_error;

enum {
	STORE_TOKEN_BYTES = 64, /* "hill_" and 43 characters, the NUL, room */
};

/* Who may join by himself. */
enum store_registration {
	STORE_REGISTRATION_CLOSED, /* nobody: the host adds bots */
	STORE_REGISTRATION_INVITE, /* by an invite, or as an owner who has a
				      bot: by its token */
	STORE_REGISTRATION_OPEN,   /* everybody */
	STORE_REGISTRATION_N
};

/* What the host has settled about joining; hilld's configuration. */
struct store_rules {
	enum store_registration registration;
	uint32_t bots_max; /* from so many on only invites make more; 0: none */
	uint32_t bots_per_owner;   /* that an owner may register */
	uint32_t versions_per_day; /* new rated ones of a bot; more are not
				      rated until the day is over */
	uint32_t versions_per_bot; /* in all */
};

/* A request to join; the texts are borrowed, NULL or "" is none. */
struct store_joiner {
	const char *name;   /* of the bot; letters may be capital */
	const char *invite; /* an invite's code, good for one registration */
	const char *token;  /* of another bot of the same owner */
};

/* The token is shown once: nobody can tell it later. Wipe it. */
struct store_joined {
	int64_t bot_id;
	char name[LIMIT_NAME_BYTES + 1]; /* as it is from now on */
	char token[STORE_TOKEN_BYTES];
};

/*
 * Why a call was refused: what it returns is -errno, and ERROR a sentence for
 * whoever asked (it names nobody else's secrets):
 *
 *	-EINVAL  the name is none, or is reserved
 *	-EEXIST  the name is taken, or looks like one that is
 *	-EPERM   registration is closed, or wants an invite
 *	-EACCES  the invite or the token is not valid (any more), or its owner
 *	         may not play
 *	-EDQUOT  the owner, the bot or the host has as many as it may
 *	-ESTALE  the version is retired
 *	others   the store's own trouble: later
 */

/* What holds from now on; at first by invite, 10000, 5, 3 and 1000. */
void store_set_rules(struct store *store, const struct store_rules *rules);
void store_get_rules(struct store *store, struct store_rules *ret);

/* Register a bot: *RET. 0 or as above. */
int store_register(struct store *store, const struct store_joiner *joiner,
		   struct store_joined *ret,
		   struct store_error *error) WARN_UNUSED;
/* Make what guests play as (NAME_GUESTS), where it is not there. */
int store_guests(struct store *store, struct store_error *error) WARN_UNUSED;
/*
 * BOT_ID gets a new token in TOKEN, all its others are revoked. 0 or as above.
 */
int store_rotate(struct store *store, int64_t bot_id,
		 char ret_token[STORE_TOKEN_BYTES],
		 struct store_error *error) WARN_UNUSED;
/*
 * The version of BOT_ID that its author calls LABEL (name_is_version),
 * *RET_VERSION_ID; made where there is none: active, and the one that was so
 * is retired; or, with IS_CANDIDATE, a candidate, while the active one stays.
 * *RET_IS_NEW says which. 0 or as above.
 */
int store_version(struct store *store, int64_t bot_id, const char *label,
		  bool is_candidate, int64_t *ret_version_id, bool *ret_is_new,
		  struct store_error *error) WARN_UNUSED;

#endif
