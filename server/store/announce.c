/* SPDX-License-Identifier: MIT */
/* announce.c - what the host has to say to everybody. */
#include <errno.h>
#include <stdlib.h>

#include "server/base/clock.h"
#include "server/store/admin_internal.h"
#include "server/store/read.h"

enum {
	SECOND_US = 1000000,
	FOR_S_MAX = 366 * 24 * 3600,
};

/* Those that hold at ?1. */
#define HOLDS "(until_us IS NULL OR until_us > ?1)"

int read_announcements(struct db *db, struct row_catalogue *ret,
		       struct store_error *error)
{
	int64_t wall_us = clock_wall_us(), now_us = clock_now_us();
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT id, at_us, until_us, text FROM announcement "
		   "WHERE " HOLDS " ORDER BY id",
		   error);
	query_bind_i64(&query, 1, wall_us);
	while ((err = query_step(&query)) > 0) {
		struct row_announcement *row;

		ret->announcements = read_grow(
			ret->announcements, ret->nannouncements, sizeof(*row));
		row = &ret->announcements[ret->nannouncements++];
		row->id = query_i64(&query, 0);
		row->at_us = query_i64(&query, 1);
		row->until_us = query_i64(&query, 2);
		row->ends_us = query_is_null(&query, 2)
				       ? INT64_MAX
				       : now_us + (row->until_us - wall_us);
		query_copy(&query, 3, row->text, sizeof(row->text));
	}
	query_close(&query);
	return err;
}

int store_announcements(struct store *store, struct row_announcement **ret,
			size_t *ret_count, struct store_error *error)
{
	struct row_catalogue rows = { 0 };
	struct db *db = store->read;
	int err;

	(void)pthread_mutex_lock(&db->lock);
	err = read_announcements(db, &rows, error);
	(void)pthread_mutex_unlock(&db->lock);
	if (err != 0) {
		free(rows.announcements);
		return err;
	}
	*ret = rows.announcements;
	*ret_count = rows.nannouncements;
	return 0;
}

static json_t *announcement_json(int64_t id, int64_t at_us, int64_t until_us,
				 const char *text)
{
	json_t *json = json_pack("{s:I, s:I, s:s}", "id", (json_int_t)id,
				 "at_us", (json_int_t)at_us, "text", text);

	if (json != NULL && until_us != 0)
		(void)json_object_set_new(json, "until_us",
					  json_integer(until_us));
	return json;
}

/* One line that a terminal shows as it is. */
static bool is_line(const char *text)
{
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < ' ' || c == 0x7f)
			return false;
	}
	return true;
}

static int count_announcements(struct admin *admin, int64_t wall_us,
			       int64_t *ret)
{
	struct query query;
	int err;

	query_open(&query, admin->db,
		   "SELECT count(*) FROM announcement WHERE " HOLDS,
		   &admin->error);
	query_bind_i64(&query, 1, wall_us);
	err = query_step(&query);
	if (err > 0)
		*ret = query_i64(&query, 0);
	query_close(&query);
	return err < 0 ? err : 0;
}

static int announce_add(struct admin *admin)
{
	const char *text = admin_text(admin, "text", "");
	int64_t wall_us = clock_wall_us(), count = 0, id;
	int64_t until_us = 0;
	struct query query;
	int err;

	if (!is_line(text))
		return admin_refuse(admin, "text", text,
				    "must be one line without control "
				    "characters");
	err = count_announcements(admin, wall_us, &count);
	if (err != 0)
		return err;
	if (count >= LIMIT_NOTICES)
		return admin_refuse(admin, NULL, NULL,
				    "%d announcements hold already: drop one",
				    (int)LIMIT_NOTICES);
	if (admin_has(admin, "for_s"))
		until_us = wall_us + admin_int(admin, "for_s", 0) * SECOND_US;
	query_open(&query, admin->db,
		   "INSERT INTO announcement (id, at_us, until_us, text) "
		   "SELECT coalesce(max(id), 0) + 1, ?1, ?2, ?3 "
		   "FROM announcement",
		   &admin->error);
	query_bind_i64(&query, 1, wall_us);
	if (until_us != 0)
		query_bind_i64(&query, 2, until_us);
	query_bind_text(&query, 3, text);
	err = query_run(&query);
	id = sqlite3_last_insert_rowid(admin->db->handle);
	if (err == 0)
		admin_set(admin, "announcement",
			  announcement_json(id, wall_us, until_us, text));
	return err;
}

static int announce_list(struct admin *admin)
{
	struct query query;
	int err;

	admin_list_begin(admin, "announcements");
	query_open(&query, admin->db,
		   "SELECT id, at_us, until_us, text FROM announcement "
		   "WHERE " HOLDS " ORDER BY id",
		   &admin->error);
	query_bind_i64(&query, 1, clock_wall_us());
	while ((err = query_step(&query)) > 0)
		admin_list_add(admin, "announcements",
			       announcement_json(query_i64(&query, 0),
						 query_i64(&query, 1),
						 query_i64(&query, 2),
						 query_text(&query, 3)));
	query_close(&query);
	return err;
}

/* Its row stays, over: a later one must not get its id. */
static int announce_drop(struct admin *admin)
{
	struct query query;
	int err;

	query_open(&query, admin->db,
		   "UPDATE announcement SET until_us = ?1 "
		   "WHERE id = ?2 AND " HOLDS,
		   &admin->error);
	query_bind_i64(&query, 1, clock_wall_us());
	query_bind_i64(&query, 2, admin_int(admin, "id", 0));
	err = query_run(&query);
	if (err == 0 && sqlite3_changes(admin->db->handle) == 0)
		return admin_refuse(admin, "id", NULL,
				    "no announcement %lld holds",
				    (long long)admin_int(admin, "id", 0));
	return err;
}

static const struct admin_field no_fields[] = { { NULL } };

static const struct admin_field add_fields[] = {
	{ "text", ADMIN_TEXT, true, 1, LIMIT_NOTICE_BYTES },
	{ "for_s", ADMIN_INT, false, 1, FOR_S_MAX },
	{ NULL },
};

static const struct admin_field drop_fields[] = {
	{ "id", ADMIN_INT, true, 1, INT64_MAX },
	{ NULL },
};

const struct admin_command admin_announce_commands[] = {
	{ "announce add", add_fields, true, NULL, announce_add },
	{ "announce list", no_fields, false, NULL, announce_list },
	{ "announce drop", drop_fields, true, NULL, announce_drop },
	{ .name = NULL },
};
