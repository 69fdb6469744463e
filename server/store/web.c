/* SPDX-License-Identifier: MIT */
/* web.c - what all readers for the public need. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "server/store/web_internal.h"

/* DBL_MAX to 15 digits is more than DBL_MAX. */
#define REAL_MOST 1.79769313486231e308

json_t *store_web_time(int64_t us)
{
	time_t seconds = (time_t)(us / 1000000);
	char text[40], day[24];
	struct tm tm;

	if (us <= 0 || gmtime_r(&seconds, &tm) == NULL)
		return json_null();
	(void)strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	(void)snprintf(text, sizeof(text), "%s.%03dZ", day,
		       (int)(us / 1000 % 1000));
	return json_string(text);
}

json_t *store_web_real(double value)
{
	if (!isfinite(value))
		return json_null();
	return json_real(value > REAL_MOST    ? REAL_MOST
			 : value < -REAL_MOST ? -REAL_MOST
					      : value);
}

json_t *web_time_at(struct query *query, int column)
{
	return store_web_time(query_i64(query, column));
}

json_t *web_bytes(const char *text)
{
	json_t *value = json_string(text);
	char copy[512];

	if (value != NULL)
		return value;
	(void)snprintf(copy, sizeof(copy), "%s", text);
	for (char *c = copy; *c != '\0'; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	return json_string(copy);
}

json_t *web_text_at(struct query *query, int column)
{
	const char *text = query_text(query, column);

	return *text == '\0' ? json_null() : web_bytes(text);
}

int web_bot_id(struct db *db, const char *name, int64_t *ret,
	       struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT b.id FROM bot b WHERE b.name = ?1 AND " VISIBLE_BOT,
		   error);
	query_bind_text(&query, 1, name);
	err = query_step(&query);
	if (err > 0)
		*ret = query_i64(&query, 0);
	query_close(&query);
	if (err == 0) {
		store_error_set(error, "there is no bot %s", name);
		return -ENOENT;
	}
	return err < 0 ? err : 0;
}

int web_ladder_id(struct db *db, const char *name, int64_t *ret,
		  struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db, "SELECT id FROM ladder WHERE name = ?1", error);
	query_bind_text(&query, 1, name);
	err = query_step(&query);
	if (err > 0)
		*ret = query_i64(&query, 0);
	query_close(&query);
	if (err == 0) {
		store_error_set(error, "there is no ladder %s", name);
		return -ENOENT;
	}
	return err < 0 ? err : 0;
}

int web_begin(struct store *store, struct store_error *error)
{
	int err;

	(void)pthread_mutex_lock(&store->read->lock);
	err = db_exec(store->read, "BEGIN", "read", error);
	if (err != 0)
		(void)pthread_mutex_unlock(&store->read->lock);
	return err;
}

int web_end(struct store *store, int err, json_t **list)
{
	db_rollback(store->read);
	(void)pthread_mutex_unlock(&store->read->lock);
	if (err < 0 && list != NULL) {
		json_decref(*list);
		*list = NULL;
	}
	return err < 0 ? err : 0;
}

int store_web_stamp(struct store *store, int64_t *ret,
		    struct store_error *error)
{
	struct db *db = store->read;
	int err;

	(void)pthread_mutex_lock(&db->lock);
	err = db_number(db, "PRAGMA data_version", ret, error);
	(void)pthread_mutex_unlock(&db->lock);
	return err;
}

bool store_is_idle(struct store *store)
{
	struct db *db = store->read;
	sqlite3_stmt *stmt = NULL;
	bool is_idle = true;

	(void)pthread_mutex_lock(&db->lock);
	while ((stmt = sqlite3_next_stmt(db->handle, stmt)) != NULL)
		if (sqlite3_stmt_busy(stmt))
			is_idle = false;
	is_idle = is_idle && sqlite3_get_autocommit(db->handle);
	(void)pthread_mutex_unlock(&db->lock);
	return is_idle;
}

int store_web_announcements(struct store *store, json_t **ret,
			    struct store_error *error)
{
	struct query query;
	int err = web_begin(store, error);

	if (err != 0)
		return err;
	*ret = json_array();
	query_open(&query, store->read,
		   "SELECT id, at_us, until_us, text FROM announcement "
		   "WHERE until_us IS NULL OR until_us > ?20 "
		   "ORDER BY id DESC LIMIT 100",
		   error);
	visible_bind(&query);
	while ((err = query_step(&query)) > 0)
		(void)json_array_append_new(
			*ret, json_pack("{s:I, s:o, s:o, s:o}", "id",
					(json_int_t)query_i64(&query, 0), "at",
					web_time_at(&query, 1), "until",
					web_time_at(&query, 2), "text",
					web_bytes(query_text(&query, 3))));
	query_close(&query);
	return web_end(store, err, ret);
}
