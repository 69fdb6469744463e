/* SPDX-License-Identifier: MIT */
/* admin_join.c - invites, and which version of a bot plays. */
#include <errno.h>
#include <string.h>

#include "proto/name.h"
#include "server/base/clock.h"
#include "server/store/admin_internal.h"
#include "server/store/new_bot.h"
#include "server/store/version.h"

enum { DAYS_MAX = 3650 };

static const char sql_bot[] = "SELECT id FROM bot WHERE name = ?1";

/* ---- invites ---- */

static int insert_invite(struct admin *admin, int64_t owner_id,
			 const uint8_t hash[ROW_HASH_BYTES], int64_t *ret_id)
{
	int64_t now_us = clock_wall_us();
	int64_t days = admin_int(admin, "days", 0);
	struct query query;
	int err;

	query_open(&query, admin->db,
		   "INSERT INTO invite (owner_id, hash, created_us, "
		   "expires_us) VALUES (nullif(?1, 0), ?2, ?3, nullif(?4, 0))",
		   &admin->error);
	query_bind_i64(&query, 1, owner_id);
	query_bind_blob(&query, 2, hash, ROW_HASH_BYTES);
	query_bind_i64(&query, 3, now_us);
	query_bind_i64(&query, 4,
		       days == 0 ? 0 : now_us + days * INT64_C(86400000000));
	err = query_run(&query);
	if (err == 0)
		*ret_id = sqlite3_last_insert_rowid(admin->db->handle);
	return err;
}

static int invite_new(struct admin *admin)
{
	char code[STORE_TOKEN_BYTES];
	uint8_t hash[ROW_HASH_BYTES];
	int64_t owner_id = 0, id;
	int err = 0;

	if (admin_has(admin, "owner"))
		err = admin_owner_get(admin, "owner", &owner_id);
	if (err == 0 && owner_id != 0)
		err = admin_owner_private(admin, owner_id);
	if (err == 0)
		err = new_secret("join_", code, hash, &admin->error);
	if (err == 0)
		err = insert_invite(admin, owner_id, hash, &id);
	if (err == 0) {
		admin_set(admin, "invite", json_string(code));
		admin_set(admin, "invite_id", json_integer(id));
	}
	explicit_bzero(code, sizeof(code));
	return err;
}

static int invite_list(struct admin *admin)
{
	struct query query;
	int err;

	admin_list_begin(admin, "invites");
	query_open(&query, admin->db,
		   "SELECT i.id, o.name, i.created_us, i.expires_us, "
		   "i.used_us, b.name FROM invite i "
		   "LEFT JOIN owner o ON o.id = i.owner_id "
		   "LEFT JOIN bot b ON b.id = i.bot_id "
		   "WHERE ?1 IS NULL OR o.name = ?1 ORDER BY i.id",
		   &admin->error);
	query_bind_text(&query, 1, admin_text(admin, "owner", NULL));
	while ((err = query_step(&query)) > 0)
		admin_list_add(
			admin, "invites",
			json_pack("{s:I, s:s, s:I, s:I, s:I, s:s}", "id",
				  (json_int_t)query_i64(&query, 0), "owner",
				  query_text(&query, 1), "created_us",
				  (json_int_t)query_i64(&query, 2),
				  "expires_us",
				  (json_int_t)query_i64(&query, 3), "used_us",
				  (json_int_t)query_i64(&query, 4), "bot",
				  query_text(&query, 5)));
	query_close(&query);
	return err;
}

static int invite_revoke(struct admin *admin)
{
	struct query query;
	int err;

	query_open(&query, admin->db,
		   "DELETE FROM invite WHERE id = ?1 AND used_us IS NULL",
		   &admin->error);
	query_bind_i64(&query, 1, admin_int(admin, "id", 0));
	err = query_run(&query);
	if (err == 0 && sqlite3_changes(admin->db->handle) == 0)
		return admin_refuse(admin, "id", NULL,
				    "there is no unused invite %lld",
				    (long long)admin_int(admin, "id", 0));
	return err;
}

/* ---- versions ---- */

/* The version that VERSION_ID is to take the place of, or null. */
static int tell_retired(struct admin *admin, int64_t bot_id, int64_t version_id)
{
	struct query query;
	int err;

	query_open(&query, admin->db,
		   "SELECT label FROM bot_version WHERE bot_id = ?1 "
		   "AND state = 'active' AND id <> ?2",
		   &admin->error);
	query_bind_i64(&query, 1, bot_id);
	query_bind_i64(&query, 2, version_id);
	err = query_step(&query);
	admin_set(admin, "retired",
		  err > 0 ? json_string(query_text(&query, 0)) : json_null());
	query_close(&query);
	return err < 0 ? err : 0;
}

static int bot_activate(struct admin *admin)
{
	const char *label = admin_text(admin, "version", "");
	int64_t bot_id, version_id = 0;
	struct query query;
	int err;

	err = admin_find(admin, sql_bot, "name", "bot", &bot_id);
	if (err != 0)
		return err;
	query_open(&query, admin->db,
		   "SELECT id FROM bot_version "
		   "WHERE bot_id = ?1 AND label = ?2",
		   &admin->error);
	query_bind_i64(&query, 1, bot_id);
	query_bind_text(&query, 2, label);
	err = query_step(&query);
	if (err > 0)
		version_id = query_i64(&query, 0);
	query_close(&query);
	if (err == 0)
		return admin_refuse(admin, "version", label,
				    "the bot has no such version");
	if (err > 0)
		err = tell_retired(admin, bot_id, version_id);
	if (err != 0)
		return err;
	admin_set(admin, "active", json_string(label));
	return version_activate(admin->db, bot_id, version_id, &admin->error);
}

static int bot_versions(struct admin *admin)
{
	struct query query;
	int64_t bot_id;
	int err;

	err = admin_find(admin, sql_bot, "name", "bot", &bot_id);
	if (err != 0)
		return err;
	admin_list_begin(admin, "versions");
	query_open(&query, admin->db,
		   "SELECT id, number, label, state, created_us, active_us, "
		   "(SELECT count(*) FROM seat WHERE bot_version_id = v.id) "
		   "FROM bot_version v WHERE bot_id = ?1 ORDER BY number",
		   &admin->error);
	query_bind_i64(&query, 1, bot_id);
	while ((err = query_step(&query)) > 0)
		admin_list_add(
			admin, "versions",
			json_pack("{s:I, s:I, s:s, s:s, s:I, s:I, s:I}", "id",
				  (json_int_t)query_i64(&query, 0), "number",
				  (json_int_t)query_i64(&query, 1), "version",
				  query_text(&query, 2), "state",
				  query_text(&query, 3), "created_us",
				  (json_int_t)query_i64(&query, 4), "active_us",
				  (json_int_t)query_i64(&query, 5), "matches",
				  (json_int_t)query_i64(&query, 6)));
	query_close(&query);
	return err;
}

static const struct admin_field new_fields[] = {
	{ "owner", ADMIN_TEXT, false, 1, LIMIT_NAME_BYTES },
	{ "external_id", ADMIN_TEXT, false, 0, ADMIN_EXTERNAL_ID_BYTES },
	{ "note", ADMIN_TEXT, false, 0, ADMIN_NOTE_BYTES },
	{ "days", ADMIN_INT, false, 1, DAYS_MAX },
	{ NULL },
};

static const struct admin_field list_fields[] = {
	{ "owner", ADMIN_TEXT, false, 1, LIMIT_NAME_BYTES },
	{ NULL },
};

static const struct admin_field revoke_fields[] = {
	{ "id", ADMIN_INT, true, 1, INT64_MAX },
	{ NULL },
};

static const struct admin_field activate_fields[] = {
	{ "name", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ "version", ADMIN_TEXT, true, 1, NAME_VERSION_MAX },
	{ NULL },
};

static const struct admin_field versions_fields[] = {
	{ "name", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ NULL },
};

const struct admin_command admin_join_commands[] = {
	{ "invite new", new_fields, true, NULL, invite_new },
	{ "invite list", list_fields, false, NULL, invite_list },
	{ "invite revoke", revoke_fields, true, NULL, invite_revoke },
	{ "bot activate", activate_fields, true, NULL, bot_activate },
	{ "bot versions", versions_fields, false, NULL, bot_versions },
	{ .name = NULL },
};
