/* SPDX-License-Identifier: MIT */
/*
 * db.h - one connection to the file, with what every use of it needs: safe
 * settings, statements kept prepared, errors as errno and a text for people.
 * Private to server/store.
 *
 *	struct query query;
 *	query_open(&query, db, "SELECT name FROM bot WHERE id = ?1", error);
 *	query_bind_i64(&query, 1, id);
 *	while ((err = query_step(&query)) > 0)
 *		... query_text(&query, 0) ...
 *	query_close(&query);
 *	if (err < 0) ...
 *
 * A failure to prepare or bind sticks and comes out of query_step. Whoever
 * calls holds db->lock; nothing here takes it.
 */
#ifndef HILL_STORE_DB_H
#define HILL_STORE_DB_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include "server/base/alloc.h"
#include "server/store/store.h"

enum { DB_STATEMENTS_MAX = 256 };

struct db_statement {
	const char *sql; /* a literal: the address is the key */
	sqlite3_stmt *stmt;
	bool is_used;
};

struct db {
	sqlite3 *handle;
	pthread_mutex_t lock;
	const char *path; /* borrowed; for messages */
	size_t nstatements;
	struct db_statement statements[DB_STATEMENTS_MAX];
};

enum {
	DB_READONLY = 1u << 0,  /* the connection cannot write */
	DB_IMMUTABLE = 1u << 1, /* nobody writes the file while it is open */
	DB_MEMORY = 1u << 2     /* PATH names a memdb */
};

/*
 * Open PATH with FLAGS. Reads nothing yet. 0 with an initialised lock, or
 * -errno with ERROR set and nothing to close.
 */
int db_open(struct db *db, const char *path, unsigned flags,
	    struct store_error *error) WARN_UNUSED;
/* Close; an all-zero DB is fine. */
void db_close(struct db *db);
/*
 * -errno for what SQLite last said on DB, RC being its code; ERROR gets
 * "PATH: DOING: cause".
 */
int db_fail(struct db *db, int rc, const char *doing,
	    struct store_error *error);
/* Run SQL that gives no rows (several statements if need be). */
int db_exec(struct db *db, const char *sql, const char *doing,
	    struct store_error *error) WARN_UNUSED;
/* A number that a PRAGMA or SELECT gives. */
int db_number(struct db *db, const char *sql, int64_t *ret,
	      struct store_error *error) WARN_UNUSED;
int db_begin(struct db *db, struct store_error *error) WARN_UNUSED;
/* Commit; on failure all is rolled back. */
int db_commit(struct db *db, struct store_error *error) WARN_UNUSED;
void db_rollback(struct db *db);
/* Whether ERR is the disk's or another program's fault: try again later. */
bool db_is_trouble(int err);

struct query {
	struct db *db;
	struct store_error *error; /* borrowed, may be NULL */
	struct db_statement *slot;
	sqlite3_stmt *stmt;
	int rc;
};

/* SQL must be a literal. */
void query_open(struct query *query, struct db *db, const char *sql,
		struct store_error *error);
void query_bind_i64(struct query *query, int index, int64_t value);
void query_bind_double(struct query *query, int index, double value);
/* NULL TEXT binds NULL. TEXT and DATA must stay until the close. */
void query_bind_text(struct query *query, int index, const char *text);
void query_bind_blob(struct query *query, int index, const void *data,
		     size_t len);
/* 1 a row, 0 the end, -errno. */
int query_step(struct query *query) WARN_UNUSED;
void query_close(struct query *query);
/* Step once and close: for statements that give no rows. */
int query_run(struct query *query) WARN_UNUSED;
/* Columns of the row; text and blobs are borrowed until the next step. */
bool query_is_null(struct query *query, int column);
int64_t query_i64(struct query *query, int column);
double query_double(struct query *query, int column);
const char *query_text(struct query *query, int column); /* never NULL */
/* NULL and 0 when it is empty. */
const void *query_blob(struct query *query, int column, size_t *ret_len);
/* Copy text, cut to SIZE - 1 bytes, which no row of ours has. */
void query_copy(struct query *query, int column, char *ret, size_t size);
/* A copy of a blob with a NUL behind it; NULL when memory is out. */
void *query_blob_copy(struct query *query, int column,
		      size_t *ret_len) WARN_UNUSED;

#endif
