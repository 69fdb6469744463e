/* SPDX-License-Identifier: MIT */
/* admin_bot.c - bots and the tokens that open their door. */
#include <errno.h>
#include <string.h>

#include "proto/name.h"
#include "server/base/clock.h"
#include "server/store/admin_internal.h"
#include "server/store/new_bot.h"

enum { CONNECTIONS_MAX = 1000 };

static const char sql_find[] = "SELECT id FROM bot WHERE name = ?1";
static const char sql_by_key[] = "SELECT name FROM bot WHERE name_key = ?1";

/* A new token for BOT_ID; the reply is the only place where it is shown. */
static int make_token(struct admin *admin, int64_t bot_id)
{
	char token[STORE_TOKEN_BYTES];
	int64_t id;
	int err = new_token(admin->db, bot_id, token, &id, &admin->error);

	if (err != 0)
		return err;
	admin_set(admin, "token", json_string(token));
	admin_set(admin, "token_id", json_integer(id));
	explicit_bzero(token, sizeof(token));
	return 0;
}

static int bot_add(struct admin *admin)
{
	const char *name = admin_text(admin, "name", "");
	char key[STORE_NAME_KEY_BYTES];
	int64_t owner_id, id;
	int err;

	if (!name_is_bot(name, strlen(name)))
		return admin_refuse(admin, "name", name, "%s", name_bot_rule());
	err = admin_check_free(admin, sql_by_key, "name", key);
	if (err == 0)
		err = admin_owner_get(admin, "owner", &owner_id);
	if (err == 0)
		err = new_bot(admin->db, owner_id, name, key,
			      admin_int(admin, "max_connections",
					NEW_BOT_CONNECTIONS),
			      &id, &admin->error);
	if (err == 0)
		err = make_token(admin, id);
	if (err == 0)
		admin_set(admin, "bot",
			  json_pack("{s:I, s:s, s:s, s:I}", "id",
				    (json_int_t)id, "name", name, "owner",
				    admin_text(admin, "owner", ""),
				    "max_connections",
				    (json_int_t)admin_int(
					    admin, "max_connections",
					    NEW_BOT_CONNECTIONS)));
	return err;
}

static int bot_list(struct admin *admin)
{
	struct query query;
	int err;

	err = admin_find_given(admin, "SELECT id FROM owner WHERE name = ?1",
			       "owner", "owner");
	if (err != 0)
		return err;
	admin_list_begin(admin, "bots");
	query_open(&query, admin->db,
		   "SELECT b.id, b.name, o.name, b.max_connections, "
		   "b.is_disabled, o.is_disabled, b.created_us, "
		   "(SELECT label FROM bot_version WHERE bot_id = b.id AND "
		   "state = 'active'), "
		   "(SELECT count(*) FROM token WHERE bot_id = b.id AND "
		   "revoked_us IS NULL), b.is_hidden, b.ban_reason "
		   "FROM bot b JOIN owner o ON o.id = b.owner_id "
		   "WHERE (?1 IS NULL OR o.name = ?1) "
		   "AND b.name <> '" NAME_GUESTS "' ORDER BY b.name",
		   &admin->error);
	query_bind_text(&query, 1, admin_text(admin, "owner", NULL));
	while ((err = query_step(&query)) > 0)
		admin_list_add(
			admin, "bots",
			json_pack("{s:I, s:s, s:s, s:s, s:I, s:I, s:b, s:b, "
				  "s:b, s:s, s:I}",
				  "id", (json_int_t)query_i64(&query, 0),
				  "name", query_text(&query, 1), "owner",
				  query_text(&query, 2), "version",
				  query_text(&query, 7), "max_connections",
				  (json_int_t)query_i64(&query, 3), "tokens",
				  (json_int_t)query_i64(&query, 8), "disabled",
				  query_i64(&query, 4) != 0, "owner_disabled",
				  query_i64(&query, 5) != 0, "hidden",
				  query_i64(&query, 9) != 0, "ban_reason",
				  query_text(&query, 10), "created_us",
				  (json_int_t)query_i64(&query, 6)));
	query_close(&query);
	return err;
}

static int bot_change(struct admin *admin)
{
	struct query query;
	int64_t id, owner_id;
	int err;

	err = admin_find(admin, sql_find, "name", "bot", &id);
	if (err == 0 && admin_has(admin, "owner")) {
		err = admin_owner_get(admin, "owner", &owner_id);
		if (err != 0)
			return err;
		query_open(&query, admin->db,
			   "UPDATE bot SET owner_id = ?2 WHERE id = ?1",
			   &admin->error);
		query_bind_i64(&query, 1, id);
		query_bind_i64(&query, 2, owner_id);
		err = query_run(&query);
	}
	if (err == 0 && admin_has(admin, "max_connections")) {
		query_open(&query, admin->db,
			   "UPDATE bot SET max_connections = ?2 WHERE id = ?1",
			   &admin->error);
		query_bind_i64(&query, 1, id);
		query_bind_i64(&query, 2,
			       admin_int(admin, "max_connections", 0));
		err = query_run(&query);
	}
	return err;
}

static int bot_disable(struct admin *admin)
{
	struct query query;
	int64_t id;
	int err;

	err = admin_find(admin, sql_find, "name", "bot", &id);
	if (err != 0)
		return err;
	query_open(&query, admin->db,
		   "UPDATE bot SET is_disabled = ?2 WHERE id = ?1",
		   &admin->error);
	query_bind_i64(&query, 1, id);
	query_bind_i64(&query, 2, admin_bool(admin, "disabled", true));
	return query_run(&query);
}

static int token_add(struct admin *admin)
{
	int64_t id;
	int err = admin_find(admin, sql_find, "bot", "bot", &id);

	return err != 0 ? err : make_token(admin, id);
}

static int token_rotate(struct admin *admin)
{
	int64_t id;
	int err;

	err = admin_find(admin, sql_find, "bot", "bot", &id);
	if (err != 0)
		return err;
	err = revoke_tokens(admin->db, id, &admin->error);
	return err != 0 ? err : make_token(admin, id);
}

static int token_list(struct admin *admin)
{
	struct query query;
	int err;

	err = admin_find_given(admin, sql_find, "bot", "bot");
	if (err != 0)
		return err;
	admin_list_begin(admin, "tokens");
	query_open(&query, admin->db,
		   "SELECT t.id, b.name, t.created_us, t.revoked_us "
		   "FROM token t JOIN bot b ON b.id = t.bot_id "
		   "WHERE ?1 IS NULL OR b.name = ?1 ORDER BY t.id",
		   &admin->error);
	query_bind_text(&query, 1, admin_text(admin, "bot", NULL));
	while ((err = query_step(&query)) > 0)
		admin_list_add(
			admin, "tokens",
			json_pack("{s:I, s:s, s:I, s:b, s:I}", "id",
				  (json_int_t)query_i64(&query, 0), "bot",
				  query_text(&query, 1), "created_us",
				  (json_int_t)query_i64(&query, 2), "revoked",
				  !query_is_null(&query, 3), "revoked_us",
				  (json_int_t)query_i64(&query, 3)));
	query_close(&query);
	return err;
}

static int token_revoke(struct admin *admin)
{
	struct query query;
	int err;

	query_open(&query, admin->db,
		   "UPDATE token SET revoked_us = ?2 "
		   "WHERE id = ?1 AND revoked_us IS NULL",
		   &admin->error);
	query_bind_i64(&query, 1, admin_int(admin, "id", 0));
	query_bind_i64(&query, 2, clock_wall_us());
	err = query_run(&query);
	if (err == 0 && sqlite3_changes(admin->db->handle) == 0)
		return admin_refuse(admin, "id", NULL,
				    "there is no valid token %lld",
				    (long long)admin_int(admin, "id", 0));
	return err;
}

static const struct admin_field bot_add_fields[] = {
	{ "name", ADMIN_TEXT, true, 0, LIMIT_NAME_BYTES },
	{ "owner", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ "max_connections", ADMIN_INT, false, 1, CONNECTIONS_MAX },
	{ NULL },
};

static const struct admin_field bot_list_fields[] = {
	{ "owner", ADMIN_TEXT, false, 1, LIMIT_NAME_BYTES },
	{ NULL },
};

static const struct admin_field bot_change_fields[] = {
	{ "name", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ "owner", ADMIN_TEXT, false, 1, LIMIT_NAME_BYTES },
	{ "max_connections", ADMIN_INT, false, 1, CONNECTIONS_MAX },
	{ NULL },
};

static const struct admin_field bot_disable_fields[] = {
	{ "name", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ "disabled", ADMIN_BOOL, false, 0, 0 },
	{ NULL },
};

static const struct admin_field token_fields[] = {
	{ "bot", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ NULL },
};

static const struct admin_field token_list_fields[] = {
	{ "bot", ADMIN_TEXT, false, 1, LIMIT_NAME_BYTES },
	{ NULL },
};

static const struct admin_field token_revoke_fields[] = {
	{ "id", ADMIN_INT, true, 1, INT64_MAX },
	{ NULL },
};

const struct admin_command admin_bot_commands[] = {
	{ "bot add", bot_add_fields, true, NULL, bot_add },
	{ "bot list", bot_list_fields, false, NULL, bot_list },
	{ "bot change", bot_change_fields, true, NULL, bot_change },
	{ "bot disable", bot_disable_fields, true, NULL, bot_disable },
	{ "token add", token_fields, true, NULL, token_add },
	{ "token list", token_list_fields, false, NULL, token_list },
	{ "token revoke", token_revoke_fields, true, NULL, token_revoke },
	{ "token rotate", token_fields, true, NULL, token_rotate },
	{ .name = NULL },
};
