/* SPDX-License-Identifier: MIT */
#include "server/store/db.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/limits.h"

enum {
	BUSY_MS = 2000, /* how long another program may hold the file */
	/* one value: a map, or what a match left behind */
	VALUE_BYTES_MAX = LIMIT_TRANSCRIPT_BYTES + LIMIT_MAP_BYTES,
};

static int to_errno(struct db *db, int rc)
{
	int system = db->handle == NULL ? 0 : sqlite3_system_errno(db->handle);

	switch (rc & 0xff) {
	case SQLITE_OK:
		return 0;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL:
		return -EBUSY;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_NOTADB:
		return -EILSEQ;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_CONSTRAINT:
	case SQLITE_MISMATCH:
	case SQLITE_TOOBIG:
	case SQLITE_RANGE:
		return -EINVAL;
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EACCES;
	case SQLITE_CANTOPEN:
		return system > 0 ? -system : -ENOENT;
	default: /* SQLite's own enum, not ours */
		return -EIO;
	}
}

bool db_is_trouble(int err)
{
	switch (err) {
	case -EBUSY:
	case -ENOSPC:
	case -EROFS:
	case -EILSEQ:
	case -ENOMEM:
	case -EACCES:
	case -ENOENT:
	case -EIO:
		return true;
	default:
		return err < 0 && err != -EINVAL;
	}
}

static const char *cause(struct db *db, int rc)
{
	int system = db->handle == NULL ? 0 : sqlite3_system_errno(db->handle);

	switch (rc & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return "locked by another program";
	case SQLITE_FULL:
		return "the disk is full";
	case SQLITE_NOTADB:
		return "this is no SQLite database";
	case SQLITE_CORRUPT:
		return "the database is damaged";
	case SQLITE_CANTOPEN:
	case SQLITE_IOERR:
		if (system != 0)
			return strerror(system);
		return sqlite3_errstr(rc);
	default: /* SQLite's own enum, not ours */
		if (db->handle != NULL)
			return sqlite3_errmsg(db->handle);
		return sqlite3_errstr(rc);
	}
}

int db_fail(struct db *db, int rc, const char *doing, struct store_error *error)
{
	int err = to_errno(db, rc);

	if (error != NULL)
		(void)snprintf(error->text, sizeof(error->text), "%s: %s: %s",
			       db->path, doing, cause(db, rc));
	return err;
}

/* What any file may do to us, even one that somebody prepared. */
static void restrain(sqlite3 *handle)
{
	static const struct {
		int limit, value;
	} limits[] = {
		{ SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX },
		{ SQLITE_LIMIT_SQL_LENGTH, 100000 },
		{ SQLITE_LIMIT_COLUMN, 100 },
		{ SQLITE_LIMIT_EXPR_DEPTH, 100 },
		{ SQLITE_LIMIT_COMPOUND_SELECT, 4 },
		{ SQLITE_LIMIT_VDBE_OP, 25000 },
		{ SQLITE_LIMIT_FUNCTION_ARG, 8 },
		{ SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100 },
		{ SQLITE_LIMIT_VARIABLE_NUMBER, 50 },
		{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		(void)sqlite3_limit(handle, limits[i].limit, limits[i].value);
	(void)sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	(void)sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0,
				NULL);
	(void)sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0,
				NULL);
	(void)sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	(void)sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
	(void)sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	(void)sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL);
	(void)sqlite3_enable_load_extension(handle, 0);
}

/* A `file:` name of PATH, with what has a meaning there escaped. */
static char *uri_of(const char *path, unsigned flags)
{
	static const char hex[] = "0123456789abcdef";
	size_t size = strlen(path) * 3 + 64;
	char *uri = xmalloc(size);
	char *end = uri + sprintf(uri, "file:");
	const char *query = "";

	for (const char *c = path; *c != '\0'; c++) {
		if (*c == '?' || *c == '#' || *c == '%') {
			*end++ = '%';
			*end++ = hex[(unsigned char)*c >> 4];
			*end++ = hex[(unsigned char)*c & 15];
		} else {
			*end++ = *c;
		}
	}
	if (flags & DB_MEMORY)
		query = "?vfs=memdb";
	else if (flags & DB_IMMUTABLE)
		query = "?immutable=1";
	(void)snprintf(end, size - (size_t)(end - uri), "%s", query);
	return uri;
}

int db_open(struct db *db, const char *path, unsigned flags,
	    struct store_error *error)
{
	int mode =
		SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
	char *uri = uri_of(path, flags);
	int rc, err;

	memset(db, 0, sizeof(*db));
	db->path = path;
	if (flags & DB_READONLY)
		mode |= SQLITE_OPEN_READONLY;
	else
		mode |= SQLITE_OPEN_READWRITE;
	if (flags & DB_MEMORY)
		mode |= SQLITE_OPEN_CREATE;
	rc = sqlite3_open_v2(uri, &db->handle, mode, NULL);
	free(uri);
	if (rc != SQLITE_OK) {
		err = db_fail(db, rc, "open", error);
		(void)sqlite3_close(db->handle);
		memset(db, 0, sizeof(*db));
		return err;
	}
	restrain(db->handle);
	(void)sqlite3_busy_timeout(db->handle, BUSY_MS);
	(void)pthread_mutex_init(&db->lock, NULL);
	return 0;
}

void db_close(struct db *db)
{
	if (db->handle == NULL)
		return;
	for (size_t i = 0; i < db->nstatements; i++)
		(void)sqlite3_finalize(db->statements[i].stmt);
	(void)sqlite3_close(db->handle);
	(void)pthread_mutex_destroy(&db->lock);
	memset(db, 0, sizeof(*db));
}

int db_exec(struct db *db, const char *sql, const char *doing,
	    struct store_error *error)
{
	int rc = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : db_fail(db, rc, doing, error);
}

int db_number(struct db *db, const char *sql, int64_t *ret,
	      struct store_error *error)
{
	sqlite3_stmt *stmt = NULL;
	int rc, err = 0;

	rc = sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(stmt, 0);
	else if (rc == SQLITE_DONE)
		*ret = 0;
	else
		err = db_fail(db, rc, "read", error);
	(void)sqlite3_finalize(stmt);
	return err;
}

int db_begin(struct db *db, struct store_error *error)
{
	return db_exec(db, "BEGIN IMMEDIATE", "write", error);
}

int db_commit(struct db *db, struct store_error *error)
{
	int err = db_exec(db, "COMMIT", "write", error);

	if (err != 0)
		db_rollback(db);
	return err;
}

void db_rollback(struct db *db)
{
	/* Some failures have rolled back already; then there is nothing. */
	if (!sqlite3_get_autocommit(db->handle))
		(void)sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
}

void query_open(struct query *query, struct db *db, const char *sql,
		struct store_error *error)
{
	struct db_statement *slot = NULL;

	memset(query, 0, sizeof(*query));
	query->db = db;
	query->error = error;
	for (size_t i = 0; i < db->nstatements && slot == NULL; i++)
		if (db->statements[i].sql == sql)
			slot = &db->statements[i];
	if (slot == NULL) {
		assert(db->nstatements < DB_STATEMENTS_MAX);
		slot = &db->statements[db->nstatements];
		query->rc = sqlite3_prepare_v3(db->handle, sql, -1,
					       SQLITE_PREPARE_PERSISTENT,
					       &slot->stmt, NULL);
		if (query->rc != SQLITE_OK)
			return;
		slot->sql = sql;
		db->nstatements++;
	}
	assert(!slot->is_used);
	slot->is_used = true;
	query->slot = slot;
	query->stmt = slot->stmt;
}

static void note(struct query *query, int rc)
{
	if (query->rc == SQLITE_OK)
		query->rc = rc;
}

void query_bind_i64(struct query *query, int index, int64_t value)
{
	if (query->rc == SQLITE_OK)
		note(query, sqlite3_bind_int64(query->stmt, index, value));
}

void query_bind_double(struct query *query, int index, double value)
{
	if (query->rc == SQLITE_OK)
		note(query, sqlite3_bind_double(query->stmt, index, value));
}

void query_bind_text(struct query *query, int index, const char *text)
{
	if (query->rc == SQLITE_OK)
		note(query, sqlite3_bind_text(query->stmt, index, text, -1,
					      SQLITE_STATIC));
}

void query_bind_blob(struct query *query, int index, const void *data,
		     size_t len)
{
	if (query->rc != SQLITE_OK)
		return;
	/* A NULL pointer would be a NULL, and that is no empty blob. */
	note(query,
	     sqlite3_bind_blob64(query->stmt, index, len == 0 ? "" : data, len,
				 SQLITE_STATIC));
}

int query_step(struct query *query)
{
	if (query->rc == SQLITE_OK || query->rc == SQLITE_ROW)
		query->rc = sqlite3_step(query->stmt);
	if (query->rc == SQLITE_ROW)
		return 1;
	if (query->rc == SQLITE_DONE)
		return 0;
	return db_fail(query->db, query->rc, "query", query->error);
}

void query_close(struct query *query)
{
	if (query->stmt == NULL)
		return;
	(void)sqlite3_reset(query->stmt);
	(void)sqlite3_clear_bindings(query->stmt);
	query->slot->is_used = false;
	query->stmt = NULL;
}

int query_run(struct query *query)
{
	int err = query_step(query);

	assert(err <= 0);
	query_close(query);
	return err;
}

bool query_is_null(struct query *query, int column)
{
	return sqlite3_column_type(query->stmt, column) == SQLITE_NULL;
}

int64_t query_i64(struct query *query, int column)
{
	return sqlite3_column_int64(query->stmt, column);
}

double query_double(struct query *query, int column)
{
	return sqlite3_column_double(query->stmt, column);
}

const char *query_text(struct query *query, int column)
{
	const unsigned char *text = sqlite3_column_text(query->stmt, column);

	return text == NULL ? "" : (const char *)text;
}

const void *query_blob(struct query *query, int column, size_t *ret_len)
{
	const void *data = sqlite3_column_blob(query->stmt, column);

	*ret_len = data == NULL
			   ? 0
			   : (size_t)sqlite3_column_bytes(query->stmt, column);
	return data;
}

void query_copy(struct query *query, int column, char *ret, size_t size)
{
	(void)snprintf(ret, size, "%s", query_text(query, column));
}

void *query_blob_copy(struct query *query, int column, size_t *ret_len)
{
	size_t len;
	const void *data = query_blob(query, column, &len);
	char *copy = malloc(len + 1);

	if (copy == NULL)
		return NULL;
	if (len > 0)
		memcpy(copy, data, len);
	copy[len] = '\0';
	*ret_len = len;
	return copy;
}
