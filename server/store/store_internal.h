/* SPDX-License-Identifier: MIT */
/*
 * store_internal.h - the parts of the store for each other; private to
 * server/store and its tests.
 */
#ifndef HILL_STORE_STORE_INTERNAL_H
#define HILL_STORE_STORE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "server/store/db.h"
#include "server/store/register.h"
#include "server/store/store.h"

enum {
	STORE_APPLICATION_ID = 0x68696c6c, /* "hill" */
	STORE_NAME_KEY_BYTES = LIMIT_NAME_BYTES + 1
};

/* SQL: bot b of owner o may log in, play, and ask for anything. */
#define MAY_PLAY                                                          \
	"(b.is_disabled = 0 AND b.ban_reason = '' AND o.is_disabled = 0 " \
	"AND o.is_erased = 0 AND o.ban_reason = '')"

struct writer; /* writer.c's own */

struct store {
	enum store_mode mode;
	bool is_memory;
	char *path;      /* owned; real */
	int lock_fd;     /* owned; -1: no lock taken */
	struct db write; /* all zero when opened for reading */
	struct db own_read;
	struct db *read;   /* own_read, or write where there is but one */
	uint64_t readings; /* of the catalogue; under the lock of `read` */
	struct writer *writer;
	pthread_mutex_t
		admin_lock; /* one writing command of the host at a time */
	struct store_rules rules; /* under the next */
	pthread_mutex_t rules_lock;
};

void store_error_set(struct store_error *error, const char *format, ...)
	PRINTF_LIKE(2, 3);

/* migrate.c */
/*
 * Whether DB holds a hill database of this schema: *RET_VERSION is its
 * user_version, 0 for a file that holds nothing yet. -EPROTO newer, -EILSEQ
 * something else's.
 */
int migrate_check(struct db *db, unsigned *ret_version,
		  struct store_error *error) WARN_UNUSED;
/* Bring DB from FROM to the newest schema, whole or not at all. */
int migrate_run(struct db *db, unsigned from,
		struct store_error *error) WARN_UNUSED;

/* save.c; both inside a transaction of DB */
/*
 * Insert RECORD, or do nothing when the very same match is there already (a
 * commit whose answer was lost). -EINVAL it never fits.
 */
int save_record(struct db *db, const struct match_record *record,
		struct store_error *error) WARN_UNUSED;
int save_id_block(struct db *db, struct row_ids *ret,
		  struct store_error *error) WARN_UNUSED;
/*
 * What was played on generated map MAP_ID is over: anybody may see it. Any
 * other map is left as it is. In generate.c.
 */
int save_show_map(struct db *db, int64_t map_id, int64_t now_us,
		  struct store_error *error) WARN_UNUSED;
/* Note the newest version of every engine that is linked in. */
int save_games(struct db *db, struct store_error *error) WARN_UNUSED;

/* writer.c */
/* The write connection's lock and a transaction; -EROFS. */
int write_begin(struct store *store, struct store_error *error) WARN_UNUSED;
/* Commit, or with ERR roll back; the lock is free. ERR, or the commit's. */
int write_end(struct store *store, int err,
	      struct store_error *error) WARN_UNUSED;
/* End the thread as store_writer_stop(store, 0) does and free all. */
void writer_free(struct store *store);

/*
 * The spelling under which names that look alike are one: lower case, and
 * '_', '.' and blanks as '-'.
 */
void store_name_key(const char *name, char ret[STORE_NAME_KEY_BYTES]);

#endif
