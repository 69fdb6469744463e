/* SPDX-License-Identifier: MIT */
/*
 * admin_internal.h - how a command is declared and what it works with;
 * private to server/store.
 *
 * A command is a row of a table. Its fields are checked against their own
 * table before any of its functions runs, so those may assume that what is
 * there has the right type and range. `prepare` may take its time (a map's
 * import): it holds no lock of the database. `run` then does all the SQL, in
 * one transaction when the command writes.
 */
#ifndef HILL_STORE_ADMIN_INTERNAL_H
#define HILL_STORE_ADMIN_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <jansson.h>

#include "server/store/store_internal.h"

struct admin;

enum admin_type {
	ADMIN_TEXT, /* min..max bytes */
	ADMIN_INT,  /* min..max */
	ADMIN_BOOL,
	ADMIN_LIST, /* min..max texts of at most LIMIT_NAME_BYTES */
	ADMIN_IDS,  /* min..max whole numbers from 1 */
	ADMIN_NTYPES
};

struct admin_field {
	const char *name; /* NULL ends a table */
	enum admin_type type;
	bool is_required;
	int64_t min, max;
};

struct admin_command {
	const char *name; /* NULL ends a table */
	const struct admin_field *fields;
	bool writes;
	int (*prepare)(struct admin *admin); /* may be NULL */
	int (*run)(struct admin *admin);
};

/* One command under way. */
struct admin {
	struct store *store;
	uid_t uid;         /* who asks, for the audit */
	struct db *db;     /* locked while `run` runs */
	json_t *request;   /* borrowed */
	json_t *reply;     /* owned; `run` adds to it */
	const char *field; /* whose value was refused, or NULL */
	struct store_error error;
	json_t *told; /* owned; what the audit says in place of the request */
	void *data;   /* from prepare to run; given back by `release` */
	void (*release)(void *data);
};

extern const struct admin_command admin_owner_commands[];
extern const struct admin_command admin_bot_commands[];
extern const struct admin_command admin_map_commands[];
extern const struct admin_command admin_ladder_commands[];
extern const struct admin_command admin_join_commands[];
extern const struct admin_command admin_candidate_commands[];
extern const struct admin_command admin_moderate_commands[];
extern const struct admin_command admin_rating_commands[];

enum { ADMIN_NOTE_BYTES = 2000, ADMIN_EXTERNAL_ID_BYTES = 200 };
extern const struct admin_command admin_tournament_commands[];
extern const struct admin_command admin_announce_commands[];
extern const struct admin_command admin_host_commands[];

/* The value of a field, or what stands for it where it was left out. */
const char *admin_text(const struct admin *admin, const char *field,
		       const char *fallback);
int64_t admin_int(const struct admin *admin, const char *field,
		  int64_t fallback);
bool admin_bool(const struct admin *admin, const char *field, bool fallback);
bool admin_has(const struct admin *admin, const char *field);
/*
 * The seeds in the field "seeds": "random", as when it is left out, or "A..B"
 * with 0 <= A <= B; *RET_FIRST and *RET_LAST are left alone when random.
 */
int admin_seeds(struct admin *admin, bool *ret_is_random, int64_t *ret_first,
		int64_t *ret_last) WARN_UNUSED;
/*
 * The time in FIELD: "2026-01-31", "2026-01-31T12:30", with seconds, a Z
 * behind it or not; UTC. "none" and a field left out give 0.
 */
int admin_time(struct admin *admin, const char *field,
	       int64_t *ret) WARN_UNUSED;

/*
 * Refuse: the reply says "FIELD: 'VALUE': text", without what is NULL. FIELD
 * is a literal; VALUE is shortened and its odd characters hidden. Returns
 * -EINVAL.
 */
int admin_refuse(struct admin *admin, const char *field, const char *value,
		 const char *format, ...) PRINTF_LIKE(4, 5);
/*
 * The id that SQL (a literal that binds ?1) gives for the name in FIELD.
 * Refuses where there is none: "there is no WHAT of that name".
 */
int admin_find(struct admin *admin, const char *sql, const char *field,
	       const char *what, int64_t *ret) WARN_UNUSED;
/* Likewise where FIELD may be left out: then all is well, too. */
int admin_find_given(struct admin *admin, const char *sql, const char *field,
		     const char *what) WARN_UNUSED;
/*
 * Refuse the name in FIELD when SQL (a literal that gives the name for the key
 * ?1) knows it or one that looks like it.
 */
int admin_check_free(struct admin *admin, const char *sql, const char *field,
		     char ret_key[STORE_NAME_KEY_BYTES]) WARN_UNUSED;
/* Append VALUE, which it takes, to the array NAME of the reply. */
void admin_list_add(struct admin *admin, const char *name, json_t *value);
/* The array NAME is in the reply, be it empty. */
void admin_list_begin(struct admin *admin, const char *name);
/* The reply says NAME: VALUE, which it takes. */
void admin_set(struct admin *admin, const char *name, json_t *value);
/* SHA-256 of the LEN bytes at DATA. */
void admin_hash(const void *data, size_t len, uint8_t ret[ROW_HASH_BYTES]);
/* A hash as people read it. */
json_t *admin_hash_json(const uint8_t hash[ROW_HASH_BYTES]) WARN_UNUSED;

/* Set the owner's external_id and note, where the request has them. */
int admin_owner_private(struct admin *admin, int64_t id) WARN_UNUSED;
/* Note, in its transaction, that COMMAND has done what the request says. */
int admin_audit(struct admin *admin, const char *command) WARN_UNUSED;
/* The owner of that name, made when there is none. For `bot add`. */
int admin_owner_get(struct admin *admin, const char *field,
		    int64_t *ret) WARN_UNUSED;

#endif
