/* SPDX-License-Identifier: MIT */
/*
 * config.h - what the host settles: a JSON file, and flags that override it.
 *
 *	{ "listen": ["0.0.0.0:4455"], "database": "/var/lib/hill/hill.db" }
 *
 * Every key is one row of a table, which checks it, gives its default and
 * documents it (config_help, deploy/hilld.json). A key that begins with '#' is
 * a comment: its value is ignored. Anything else that the table does not know,
 * and any value that is no good, is an error; nothing is guessed.
 */
#ifndef HILL_CONFIG_H
#define HILL_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"
#include "server/base/buffer.h"
#include "server/base/log.h"

enum { CONFIG_LISTENS_MAX = 16 };

/* An address to listen on. */
struct config_listen {
	char *host; /* owned; "" for every address */
	char *port; /* owned; decimal, "0": the kernel chooses */
};

struct config_listens {
	struct config_listen list[CONFIG_LISTENS_MAX];
	size_t count;
};

struct config {
	struct config_listens listens;
	struct config_listens http_listens; /* none: no HTTP */
	char *host;                         /* all text is owned, never NULL */
	char *database;
	char *control; /* "": the database's path with ".sock" behind it */
	char *log;     /* "": stderr */
	enum log_level log_level;
	int64_t workers;
	int64_t drain_seconds;
	int64_t login_seconds;
	int64_t connections_max;
	int64_t connections_per_address;
	int64_t logins_pending_per_address;
	int64_t login_failures_max;
	int64_t login_failure_seconds;
	int64_t registration; /* enum store_registration */
	int64_t registrations_per_hour;
	int64_t bots_max;
	int64_t bots_per_owner;
	int64_t versions_per_day;
	int64_t versions_per_bot;
	int64_t guests; /* 1: on */
	int64_t guests_max;
	int64_t guests_per_address;
	int64_t retry_after_seconds;
	int64_t matches_max;
	int64_t results_max;
	int64_t match_memory_mb;
	int64_t map_memory_mb;
	int64_t stall_void_seconds;
	int64_t output_stall_seconds;
	int64_t dead_peer_seconds;
	int64_t http_connections_max;
	int64_t http_connections_per_address;
	int64_t http_request_seconds;
	int64_t http_stall_seconds;
	char *http_trusted_proxy; /* as address_list_parse reads it */
};

struct config_error {
	char text[512]; /* file, key and value; no newline */
};

/* Every key at its default. Give back with config_release. */
void config_init(struct config *config);
void config_release(struct config *config);
/*
 * Read the JSON file PATH over what CONFIG holds. 0, -errno when it cannot be
 * read, -EINVAL when it is no good: ERROR then names file, key and value, and
 * CONFIG may hold a part of it.
 */
int config_load(struct config *config, const char *path,
		struct config_error *error) WARN_UNUSED;
/*
 * Set one key from the text of a flag; a list is written with commas. WHERE
 * names the flag in ERROR. 0 or -EINVAL.
 */
int config_set(struct config *config, const char *where, const char *key,
	       const char *text, struct config_error *error) WARN_UNUSED;
/*
 * Names of the keys, separated by blanks, in which A and B differ though a
 * running hilld cannot change them; appended to RET.
 */
void config_fixed_changes(const struct config *a, const struct config *b,
			  struct buf *ret);
/* Every key, its kind, range, default and meaning, for people. */
void config_help(struct buf *ret);
/* The path of the control socket; malloc'ed, the caller's. */
char *config_control_path(const struct config *config) WARN_UNUSED;

#endif
