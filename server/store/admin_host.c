/* SPDX-License-Identifier: MIT */
/*
 * admin_host.c - what a host does about bots and owners that are a nuisance
 * or want to be forgotten, and the record of all that hosts did.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/name.h"
#include "server/base/alloc.h"
#include "server/base/clock.h"
#include "server/store/admin_internal.h"

enum { REASON_BYTES = 500, AUDIT_LISTED = 100, AUDIT_MOST = 10000 };

static const char sql_bot[] = "SELECT id FROM bot WHERE name = ?1";
static const char sql_bot_by_key[] = "SELECT name FROM bot WHERE name_key = ?1";
static const char sql_owner[] = "SELECT id FROM owner WHERE name = ?1";

/* SQL, of ?1 an id and ?2 a number. */
static int set_number(struct admin *admin, const char *sql, int64_t id,
		      int64_t value)
{
	struct query query;

	query_open(&query, admin->db, sql, &admin->error);
	query_bind_i64(&query, 1, id);
	query_bind_i64(&query, 2, value);
	return query_run(&query);
}

/* SQL, of ?1 an id and ?2 a text. */
static int set_text(struct admin *admin, const char *sql, int64_t id,
		    const char *value)
{
	struct query query;

	query_open(&query, admin->db, sql, &admin->error);
	query_bind_i64(&query, 1, id);
	query_bind_text(&query, 2, value);
	return query_run(&query);
}

/* ---- bots ---- */

static int bot_rename(struct admin *admin)
{
	const char *name = admin_text(admin, "name", "");
	const char *new_name = admin_text(admin, "new_name", "");
	char old_key[STORE_NAME_KEY_BYTES], key[STORE_NAME_KEY_BYTES];
	struct query query;
	int64_t id;
	int err;

	err = admin_find(admin, sql_bot, "name", "bot", &id);
	if (err != 0)
		return err;
	if (!name_is_bot(new_name, strlen(new_name)))
		return admin_refuse(admin, "new_name", new_name, "%s",
				    name_bot_rule());
	store_name_key(name, old_key);
	store_name_key(new_name, key);
	/* Its own look-alike is not in the way. */
	if (strcmp(old_key, key) != 0)
		err = admin_check_free(admin, sql_bot_by_key, "new_name", key);
	if (err != 0)
		return err;
	query_open(&query, admin->db,
		   "UPDATE bot SET name = ?2, name_key = ?3 WHERE id = ?1",
		   &admin->error);
	query_bind_i64(&query, 1, id);
	query_bind_text(&query, 2, new_name);
	query_bind_text(&query, 3, key);
	return query_run(&query);
}

static int bot_hide(struct admin *admin)
{
	int64_t id;
	int err = admin_find(admin, sql_bot, "name", "bot", &id);

	return err != 0 ? err
			: set_number(admin,
				     "UPDATE bot SET is_hidden = ?2 "
				     "WHERE id = ?1",
				     id, admin_bool(admin, "hidden", true));
}

static int set_ban(struct admin *admin, const char *find, const char *what,
		   const char *sql, const char *reason)
{
	int64_t id;
	int err = admin_find(admin, find, "name", what, &id);

	return err != 0 ? err : set_text(admin, sql, id, reason);
}

/* Refused when WAS, which binds the id, gives no line: there is no ban. */
static int take_ban(struct admin *admin, const char *find, const char *what,
		    const char *was, const char *sql)
{
	struct query query;
	bool is_banned;
	int64_t id;
	int err = admin_find(admin, find, "name", what, &id);

	if (err != 0)
		return err;
	query_open(&query, admin->db, was, &admin->error);
	query_bind_i64(&query, 1, id);
	err = query_step(&query);
	is_banned = err > 0;
	query_close(&query);
	if (err < 0)
		return err;
	if (!is_banned)
		return admin_refuse(admin, "name",
				    admin_text(admin, "name", ""),
				    "is not banned");
	return set_text(admin, sql, id, "");
}

static const char sql_ban_bot[] =
	"UPDATE bot SET ban_reason = ?2, is_ban_told = ?2 <> '' WHERE id = ?1";
static const char sql_ban_owner[] =
	"UPDATE owner SET ban_reason = ?2, is_ban_told = ?2 <> '' "
	"WHERE id = ?1";

static int bot_ban(struct admin *admin)
{
	return set_ban(admin, sql_bot, "bot", sql_ban_bot,
		       admin_text(admin, "reason", ""));
}

static int bot_unban(struct admin *admin)
{
	return take_ban(admin, sql_bot, "bot",
			"SELECT 1 FROM bot WHERE id = ?1 AND ban_reason <> ''",
			sql_ban_bot);
}

/* ---- owners ---- */

static int owner_ban(struct admin *admin)
{
	return set_ban(admin, sql_owner, "owner", sql_ban_owner,
		       admin_text(admin, "reason", ""));
}

static int owner_unban(struct admin *admin)
{
	return take_ban(
		admin, sql_owner, "owner",
		"SELECT 1 FROM owner WHERE id = ?1 AND ban_reason <> ''",
		sql_ban_owner);
}

static int owner_house(struct admin *admin)
{
	int64_t id;
	int err = admin_find(admin, sql_owner, "name", "owner", &id);

	return err != 0 ? err
			: set_number(admin,
				     "UPDATE owner SET is_house = ?2 "
				     "WHERE id = ?1",
				     id, admin_bool(admin, "house", true));
}

/*
 * What hosts did keeps no name that shall be forgotten: where an owner stands,
 * that is. A bot may be called the same, and is known by that on. NAME was his
 * from action FROM to action TO; others may have had it before and after.
 */
static int forget_name(struct admin *admin, const char *name, int64_t from,
		       int64_t to, const char *erased)
{
	static const char *const fields[] = {
		"UPDATE audit SET arguments = json_remove(arguments, "
		"'$.reason') WHERE id BETWEEN ?3 AND ?4 AND "
		"command LIKE 'owner %' AND "
		"json_extract(arguments, '$.name') = ?1",
		"UPDATE audit SET arguments = json_set(arguments, '$.owner', "
		"?2) WHERE id BETWEEN ?3 AND ?4 AND "
		"json_extract(arguments, '$.owner') = ?1",
		"UPDATE audit SET arguments = json_set(arguments, '$.name', "
		"?2) WHERE id BETWEEN ?3 AND ?4 AND command LIKE 'owner %' "
		"AND json_extract(arguments, '$.name') = ?1",
		"UPDATE audit SET arguments = json_set(arguments, "
		"'$.new_name', ?2) WHERE id BETWEEN ?3 AND ?4 AND "
		"command LIKE 'owner %' AND "
		"json_extract(arguments, '$.new_name') = ?1",
	};
	struct query query;
	int err = 0;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]) && err == 0;
	     i++) {
		query_open(&query, admin->db, fields[i], &admin->error);
		query_bind_text(&query, 1, name);
		query_bind_text(&query, 2, erased);
		query_bind_i64(&query, 3, from);
		query_bind_i64(&query, 4, to);
		err = query_run(&query);
	}
	return err;
}

/* This name, and those that he had before hosts changed it. */
static int forget_in_audit(struct admin *admin, const char *name,
			   const char *erased)
{
	char *own = xstrdup(name), *former;
	int64_t from, to = INT64_MAX;
	struct query query;
	int err;

	do {
		former = NULL;
		from = 0;
		query_open(&query, admin->db,
			   "SELECT json_extract(arguments, '$.name'), id "
			   "FROM audit WHERE command = 'owner change' AND "
			   "outcome = 'ok' AND id < ?2 AND "
			   "json_extract(arguments, '$.new_name') = ?1 "
			   "ORDER BY id DESC LIMIT 1",
			   &admin->error);
		query_bind_text(&query, 1, own);
		query_bind_i64(&query, 2, to);
		err = query_step(&query);
		if (err > 0) {
			former = xstrdup(query_text(&query, 0));
			from = query_i64(&query, 1);
		}
		query_close(&query);
		if (err >= 0)
			err = forget_name(admin, own, from, to, erased);
		free(own);
		own = former;
		to = from;
	} while (own != NULL && err == 0);
	free(own);
	return err;
}

/*
 * "erased-ID", which names nobody else: before it was reserved, somebody may
 * have chosen it.
 */
static int erased_name(struct admin *admin, int64_t id,
		       char ret[LIMIT_NAME_BYTES + 1])
{
	struct query query;
	int err = 1;

	for (unsigned i = 1; err > 0; i++) {
		char more[12] = "";

		if (i > 1)
			(void)snprintf(more, sizeof(more), "-%u", i);
		(void)snprintf(ret, LIMIT_NAME_BYTES + 1, "erased-%lld%s",
			       (long long)id, more);
		query_open(&query, admin->db,
			   "SELECT 1 FROM owner WHERE name_key = ?1 OR "
			   "name = ?1",
			   &admin->error);
		query_bind_text(&query, 1, ret);
		err = query_step(&query);
		query_close(&query);
	}
	return err;
}

static int owner_erase(struct admin *admin)
{
	const char *name = admin_text(admin, "name", "");
	char erased[LIMIT_NAME_BYTES + 1];
	int64_t id;
	int err = admin_find(admin, sql_owner, "name", "owner", &id);

	if (err != 0)
		return err;
	err = erased_name(admin, id, erased);
	if (err == 0)
		err = set_text(admin,
			       "UPDATE owner SET name = ?2, name_key = ?2, "
			       "external_id = NULL, note = '', "
			       "ban_reason = '', is_ban_told = 0, "
			       "is_erased = 1, is_disabled = 1 WHERE id = ?1",
			       id, erased);
	if (err == 0)
		err = set_number(admin,
				 "UPDATE token SET revoked_us = ?2 "
				 "WHERE revoked_us IS NULL AND bot_id IN "
				 "(SELECT id FROM bot WHERE owner_id = ?1)",
				 id, clock_wall_us());
	if (err == 0)
		err = set_number(admin,
				 "DELETE FROM invite WHERE owner_id = ?1 AND "
				 "used_us IS NULL AND ?2 = 0",
				 id, 0);
	/* Bots stay banned, should they be given to somebody else. */
	if (err == 0)
		err = set_text(admin,
			       "UPDATE bot SET ban_reason = ?2, is_ban_told = "
			       "0 WHERE owner_id = ?1 AND ban_reason <> ''",
			       id, "erased");
	/* The bots' names of all times. */
	if (err == 0)
		err = set_text(
			admin,
			"WITH RECURSIVE known(name) AS (SELECT name FROM bot "
			"WHERE owner_id = ?1 UNION SELECT json_extract("
			"a.arguments, '$.name') FROM audit a JOIN known k ON "
			"json_extract(a.arguments, '$.new_name') = k.name "
			"WHERE a.command = 'bot rename' AND a.outcome = 'ok') "
			"UPDATE audit SET arguments = json_remove(arguments, "
			"'$.reason') WHERE command = ?2 AND json_extract("
			"arguments, '$.name') IN (SELECT name FROM known)",
			id, "bot ban");
	if (err == 0)
		err = forget_in_audit(admin, name, erased);
	if (err == 0) {
		admin->told = json_pack("{s:s}", "name", erased);
		admin_set(admin, "owner", json_string(erased));
	}
	return err;
}

/* ---- the record of it ---- */

/* What is told of a request: no secret, nothing private, nothing large. */
static json_t *told_of(const json_t *request)
{
	static const char *const left_out[] = { "data", "external_id", "note" };
	json_t *told = json_deep_copy(request);

	(void)json_object_del(told, "command");
	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
		if (json_object_get(told, left_out[i]) != NULL)
			(void)json_object_set_new(told, left_out[i],
						  json_string("..."));
	}
	return told;
}

int admin_audit(struct admin *admin, const char *command)
{
	json_t *told =
		told_of(admin->told != NULL ? admin->told : admin->request);
	char *arguments = json_dumps(told, JSON_COMPACT);
	char actor[40];
	struct query query;
	int err;

	(void)snprintf(actor, sizeof(actor), "uid=%ld", (long)admin->uid);
	query_open(&query, admin->db,
		   "INSERT INTO audit (at_us, actor, command, arguments, "
		   "outcome) VALUES (?1, ?2, ?3, ?4, 'ok')",
		   &admin->error);
	query_bind_i64(&query, 1, clock_wall_us());
	query_bind_text(&query, 2, actor);
	query_bind_text(&query, 3, command);
	query_bind_text(&query, 4, arguments == NULL ? "{}" : arguments);
	err = query_run(&query);
	free(arguments);
	json_decref(told);
	return err;
}

static int audit(struct admin *admin)
{
	struct query query;
	int err;

	admin_list_begin(admin, "actions");
	query_open(&query, admin->db,
		   "SELECT id, at_us, actor, command, arguments, outcome "
		   "FROM audit ORDER BY id DESC LIMIT ?1",
		   &admin->error);
	query_bind_i64(&query, 1, admin_int(admin, "limit", AUDIT_LISTED));
	while ((err = query_step(&query)) > 0)
		admin_list_add(admin, "actions",
			       json_pack("{s:I, s:I, s:s, s:s, s:s, s:s}", "id",
					 (json_int_t)query_i64(&query, 0),
					 "at_us",
					 (json_int_t)query_i64(&query, 1),
					 "actor", query_text(&query, 2),
					 "command", query_text(&query, 3),
					 "arguments", query_text(&query, 4),
					 "outcome", query_text(&query, 5)));
	query_close(&query);
	return err;
}

static const struct admin_field name_fields[] = {
	{ "name", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ NULL },
};

static const struct admin_field rename_fields[] = {
	{ "name", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ "new_name", ADMIN_TEXT, true, 0, LIMIT_NAME_BYTES },
	{ NULL },
};

static const struct admin_field hide_fields[] = {
	{ "name", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ "hidden", ADMIN_BOOL, false, 0, 0 },
	{ NULL },
};

static const struct admin_field ban_fields[] = {
	{ "name", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ "reason", ADMIN_TEXT, true, 1, REASON_BYTES },
	{ NULL },
};

static const struct admin_field house_fields[] = {
	{ "name", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ "house", ADMIN_BOOL, false, 0, 0 },
	{ NULL },
};

static const struct admin_field audit_fields[] = {
	{ "limit", ADMIN_INT, false, 1, AUDIT_MOST },
	{ NULL },
};

const struct admin_command admin_host_commands[] = {
	{ "bot rename", rename_fields, true, NULL, bot_rename },
	{ "bot hide", hide_fields, true, NULL, bot_hide },
	{ "bot ban", ban_fields, true, NULL, bot_ban },
	{ "bot unban", name_fields, true, NULL, bot_unban },
	{ "owner ban", ban_fields, true, NULL, owner_ban },
	{ "owner unban", name_fields, true, NULL, owner_unban },
	{ "owner house", house_fields, true, NULL, owner_house },
	{ "owner erase", name_fields, true, NULL, owner_erase },
	{ "audit", audit_fields, false, NULL, audit },
	{ .name = NULL },
};
