/* SPDX-License-Identifier: MIT */
/* admin_owner.c - who answers for bots. */
#include <string.h>

#include "proto/name.h"
#include "server/store/admin_internal.h"
#include "server/store/new_bot.h"

/* A literal has one address wherever it is used: one statement. */
static const char sql_find[] = "SELECT id FROM owner WHERE name = ?1";
static const char sql_by_key[] = "SELECT name FROM owner WHERE name_key = ?1";

static int check_name(struct admin *admin, const char *field)
{
	const char *name = admin_text(admin, field, "");

	if (!name_is_ladder(name, strlen(name)))
		return admin_refuse(admin, field, name,
				    "an owner's name has 1 to 64 of a-z 0-9 - "
				    "_ and '.', and begins with a-z 0-9");
	return 0;
}

static int insert(struct admin *admin, const char *field, const char *name,
		  int64_t *ret)
{
	char key[STORE_NAME_KEY_BYTES];
	int err;

	err = check_name(admin, field);
	if (err == 0)
		err = admin_check_free(admin, sql_by_key, field, key);
	if (err == 0)
		err = new_owner(admin->db, name, key, ret, &admin->error);
	return err;
}

int admin_owner_get(struct admin *admin, const char *field, int64_t *ret)
{
	const char *name = admin_text(admin, field, "");
	struct query query;
	int err;

	query_open(&query, admin->db, sql_find, &admin->error);
	query_bind_text(&query, 1, name);
	err = query_step(&query);
	if (err > 0)
		*ret = query_i64(&query, 0);
	query_close(&query);
	if (err != 0)
		return err < 0 ? err : 0;
	return insert(admin, field, name, ret);
}

/* Who it is elsewhere, and what the host wants to remember. */
int admin_owner_private(struct admin *admin, int64_t id)
{
	const char *external_id = admin_text(admin, "external_id", NULL);
	struct query query;
	int err = 0;

	if (external_id != NULL && *external_id != '\0') {
		query_open(&query, admin->db,
			   "SELECT name FROM owner "
			   "WHERE external_id = ?1 AND id <> ?2",
			   &admin->error);
		query_bind_text(&query, 1, external_id);
		query_bind_i64(&query, 2, id);
		err = query_step(&query);
		if (err > 0)
			err = admin_refuse(admin, "external_id", external_id,
					   "is that of %s",
					   query_text(&query, 0));
		query_close(&query);
	}
	if (err == 0 && external_id != NULL) {
		query_open(&query, admin->db,
			   "UPDATE owner SET external_id = nullif(?2, '') "
			   "WHERE id = ?1",
			   &admin->error);
		query_bind_i64(&query, 1, id);
		query_bind_text(&query, 2, external_id);
		err = query_run(&query);
	}
	if (err == 0 && admin_has(admin, "note")) {
		query_open(&query, admin->db,
			   "UPDATE owner SET note = ?2 WHERE id = ?1",
			   &admin->error);
		query_bind_i64(&query, 1, id);
		query_bind_text(&query, 2, admin_text(admin, "note", ""));
		err = query_run(&query);
	}
	return err;
}

static int owner_add(struct admin *admin)
{
	const char *name = admin_text(admin, "name", "");
	int64_t id;
	int err;

	err = insert(admin, "name", name, &id);
	if (err == 0)
		err = admin_owner_private(admin, id);
	if (err == 0)
		admin_set(admin, "owner",
			  json_pack("{s:I, s:s}", "id", (json_int_t)id, "name",
				    name));
	return err;
}

static int owner_list(struct admin *admin)
{
	struct query query;
	int err;

	admin_list_begin(admin, "owners");
	query_open(&query, admin->db,
		   "SELECT o.id, o.name, o.external_id, o.note, "
		   "o.is_disabled, o.created_us, (SELECT count(*) FROM bot "
		   "WHERE owner_id = o.id), o.is_house, o.ban_reason "
		   "FROM owner o WHERE o.name <> '" NAME_GUESTS "' "
		   "ORDER BY o.name",
		   &admin->error);
	while ((err = query_step(&query)) > 0)
		admin_list_add(
			admin, "owners",
			json_pack("{s:I, s:s, s:s, s:s, s:b, s:I, s:b, "
				  "s:s, s:I}",
				  "id", (json_int_t)query_i64(&query, 0),
				  "name", query_text(&query, 1), "external_id",
				  query_text(&query, 2), "note",
				  query_text(&query, 3), "disabled",
				  query_i64(&query, 4) != 0, "bots",
				  (json_int_t)query_i64(&query, 6), "house",
				  query_i64(&query, 7) != 0, "ban_reason",
				  query_text(&query, 8), "created_us",
				  (json_int_t)query_i64(&query, 5)));
	query_close(&query);
	return err;
}

static int rename_owner(struct admin *admin, int64_t id)
{
	const char *name = admin_text(admin, "name", "");
	const char *new_name = admin_text(admin, "new_name", "");
	char old_key[STORE_NAME_KEY_BYTES], key[STORE_NAME_KEY_BYTES];
	struct query query;
	int err;

	err = check_name(admin, "new_name");
	if (err != 0)
		return err;
	store_name_key(name, old_key);
	store_name_key(new_name, key);
	/* Its own look-alike is not in the way. */
	if (strcmp(old_key, key) != 0)
		err = admin_check_free(admin, sql_by_key, "new_name", key);
	if (err != 0)
		return err;
	query_open(&query, admin->db,
		   "UPDATE owner SET name = ?2, name_key = ?3 WHERE id = ?1",
		   &admin->error);
	query_bind_i64(&query, 1, id);
	query_bind_text(&query, 2, new_name);
	query_bind_text(&query, 3, key);
	return query_run(&query);
}

static int owner_change(struct admin *admin)
{
	int64_t id;
	int err;

	err = admin_find(admin, sql_find, "name", "owner", &id);
	if (err == 0 && admin_has(admin, "new_name"))
		err = rename_owner(admin, id);
	if (err == 0)
		err = admin_owner_private(admin, id);
	return err;
}

static int owner_disable(struct admin *admin)
{
	struct query query;
	int64_t id;
	int err;

	err = admin_find(admin, sql_find, "name", "owner", &id);
	if (err != 0)
		return err;
	query_open(&query, admin->db,
		   "UPDATE owner SET is_disabled = ?2 WHERE id = ?1",
		   &admin->error);
	query_bind_i64(&query, 1, id);
	query_bind_i64(&query, 2, admin_bool(admin, "disabled", true));
	return query_run(&query);
}

static const struct admin_field add_fields[] = {
	{ "name", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ "external_id", ADMIN_TEXT, false, 0, ADMIN_EXTERNAL_ID_BYTES },
	{ "note", ADMIN_TEXT, false, 0, ADMIN_NOTE_BYTES },
	{ NULL },
};

static const struct admin_field no_fields[] = { { NULL } };

static const struct admin_field change_fields[] = {
	{ "name", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ "new_name", ADMIN_TEXT, false, 1, LIMIT_NAME_BYTES },
	{ "external_id", ADMIN_TEXT, false, 0, ADMIN_EXTERNAL_ID_BYTES },
	{ "note", ADMIN_TEXT, false, 0, ADMIN_NOTE_BYTES },
	{ NULL },
};

static const struct admin_field disable_fields[] = {
	{ "name", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ "disabled", ADMIN_BOOL, false, 0, 0 },
	{ NULL },
};

const struct admin_command admin_owner_commands[] = {
	{ "owner add", add_fields, true, NULL, owner_add },
	{ "owner list", no_fields, false, NULL, owner_list },
	{ "owner change", change_fields, true, NULL, owner_change },
	{ "owner disable", disable_fields, true, NULL, owner_disable },
	{ .name = NULL },
};
