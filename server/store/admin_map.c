/* SPDX-License-Identifier: MIT */
/* admin_map.c - maps enter the pool. Their bytes never change afterwards. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/name.h"
#include "server/base/clock.h"
#include "server/games/game.h"
#include "server/store/admin_internal.h"
#include "server/store/base64.h"

/* From prepare to run: what map_import made of the bytes. */
struct import {
	struct buf data;
	uint8_t hash[ROW_HASH_BYTES];
	int64_t there_id; /* the map that it is already; 0: it is new */
	bool is_disabled; /* ... and that is no longer played on */
};

static void import_free(void *data)
{
	struct import *import = data;

	buf_release(&import->data);
	free(import);
}

static int check_options(struct admin *admin)
{
	const char *options = admin_text(admin, "options", "");

	for (const char *c = options; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			return admin_refuse(admin, "options", options,
					    "must be printable ASCII");
	return 0;
}

/* A ladder could use it: it parses, and there is room for the fewest seats. */
static int try_map(struct admin *admin, const struct game *game,
		   const struct game_source *source)
{
	struct game_setup setup = { .seed = "0",
				    .bot_seed = "0",
				    .seats = game->seats_min };
	struct game_error error = { "" };
	struct game_map *map;
	int err;

	err = game->map_new(&map, source, &error);
	if (err != 0)
		return admin_refuse(admin, "data", NULL, "%s", error.text);
	err = game_params_parse(game, "", setup.params, &error);
	if (err == 0)
		err = game_admit(game, map, &setup, &error);
	game->map_free(map);
	if (err != 0)
		return admin_refuse(admin, "data", NULL, "%s", error.text);
	return 0;
}

static int import_bytes(struct admin *admin, const struct game *game,
			struct import *import)
{
	struct game_error error = { "" };
	struct game_source source = {
		.name = admin_text(admin, "name", ""),
		.options = admin_text(admin, "options", ""),
	};
	const char *text = admin_text(admin, "data", "");
	struct buf raw = BUF_INIT(LIMIT_MAP_BYTES);
	int err;

	err = base64_decode(text, strlen(text), &raw);
	if (err == -EILSEQ)
		err = admin_refuse(admin, "data", NULL, "is no base64");
	else if (err != 0)
		err = admin_refuse(admin, "data", NULL,
				   "a map has at most %d bytes",
				   (int)LIMIT_MAP_BYTES);
	if (err != 0)
		goto out;
	source.data = buf_text(&raw);
	source.len = raw.len;
	err = game_import(game, &source, &import->data, &error);
	if (err == 0 && import->data.is_failed) {
		game_error_set(&error, "a map has at most %d bytes",
			       (int)LIMIT_MAP_BYTES);
		err = -EFBIG;
	}
	if (err != 0) {
		err = admin_refuse(admin, "data", NULL, "%s", error.text);
		goto out;
	}
	source.data = buf_text(&import->data);
	source.len = import->data.len;
	err = try_map(admin, game, &source);
	admin_hash(source.data, source.len, import->hash);
out:
	buf_release(&raw);
	return err;
}

static int prepare_add(struct admin *admin)
{
	const char *name = admin_text(admin, "name", "");
	const char *game_name = admin_text(admin, "game", "");
	const struct game *game = game_find(game_name);
	struct import *import;
	int err;

	if (!name_is_file(name, strlen(name)))
		return admin_refuse(admin, "name", name,
				    "a map's name has 1 to 64 of A-Z a-z 0-9 . "
				    "_ - and does not begin with . or -");
	if (game == NULL)
		return admin_refuse(admin, "game", game_name,
				    "there is no such game");
	err = check_options(admin);
	if (err != 0)
		return err;
	import = xcalloc(1, sizeof(*import));
	buf_init(&import->data, LIMIT_MAP_BYTES);
	admin->data = import;
	admin->release = import_free;
	return import_bytes(admin, game, import);
}

/*
 * The row in QUERY has the name that is to be added: the same map once more
 * is no harm, so that a script may run again. Who may see it is the host's
 * word, which nothing here takes back in silence.
 */
static int check_again(struct admin *admin, struct query *query,
		       struct import *import)
{
	const char *visibility = query_text(query, 4);

	if (query_i64(query, 2) == 0)
		return admin_refuse(admin, "name",
				    admin_text(admin, "name", ""),
				    "the name is taken");
	if (strcmp(admin_text(admin, "visibility", visibility), visibility) !=
	    0)
		return admin_refuse(admin, "visibility", NULL,
				    "the same map is there already, but %s",
				    visibility);
	import->there_id = query_i64(query, 3);
	import->is_disabled = query_i64(query, 5) != 0;
	return 0;
}

/* The very same bytes may not be there under another name. */
static int check_new(struct admin *admin, struct import *import)
{
	struct query query;
	int err;

	query_open(&query, admin->db,
		   "SELECT m.name, m.name = ?1, "
		   "m.hash = ?3 AND m.options = ?4, m.id, m.visibility, "
		   "m.is_disabled FROM map m "
		   "JOIN game g ON g.id = m.game_id WHERE g.name = ?2 AND "
		   "(m.name = ?1 OR (m.hash = ?3 AND m.options = ?4)) "
		   "ORDER BY m.name = ?1 DESC LIMIT 1",
		   &admin->error);
	query_bind_text(&query, 1, admin_text(admin, "name", ""));
	query_bind_text(&query, 2, admin_text(admin, "game", ""));
	query_bind_blob(&query, 3, import->hash, sizeof(import->hash));
	query_bind_text(&query, 4, admin_text(admin, "options", ""));
	err = query_step(&query);
	if (err > 0) {
		if (query_i64(&query, 1) != 0)
			err = check_again(admin, &query, import);
		else
			err = admin_refuse(admin, "data", NULL,
					   "the same map is there as %s",
					   query_text(&query, 0));
	}
	query_close(&query);
	return err;
}

static void set_map(struct admin *admin, const struct import *import,
		    int64_t id)
{
	admin_set(admin, "map",
		  json_pack("{s:I, s:s, s:s, s:I, s:o, s:b, s:b}", "id",
			    (json_int_t)id, "name",
			    admin_text(admin, "name", ""), "game",
			    admin_text(admin, "game", ""), "bytes",
			    (json_int_t)import->data.len, "sha256",
			    admin_hash_json(import->hash), "added",
			    import->there_id == 0, "disabled",
			    import->is_disabled));
}

static int map_add(struct admin *admin)
{
	struct import *import = admin->data;
	struct query query;
	int err;

	err = check_new(admin, import);
	if (err != 0)
		return err;
	if (import->there_id != 0) {
		set_map(admin, import, import->there_id);
		return 0;
	}
	query_open(&query, admin->db,
		   "INSERT INTO map (game_id, name, options, visibility, "
		   "created_us, hash, size_bytes, data) SELECT id, ?2, ?3, ?4, "
		   "?5, ?6, ?7, ?8 FROM game WHERE name = ?1",
		   &admin->error);
	query_bind_text(&query, 1, admin_text(admin, "game", ""));
	query_bind_text(&query, 2, admin_text(admin, "name", ""));
	query_bind_text(&query, 3, admin_text(admin, "options", ""));
	query_bind_text(&query, 4, admin_text(admin, "visibility", "public"));
	query_bind_i64(&query, 5, clock_wall_us());
	query_bind_blob(&query, 6, import->hash, sizeof(import->hash));
	query_bind_i64(&query, 7, (int64_t)import->data.len);
	query_bind_blob(&query, 8, import->data.data, import->data.len);
	err = query_run(&query);
	if (err == 0)
		set_map(admin, import,
			sqlite3_last_insert_rowid(admin->db->handle));
	return err;
}

static int map_list(struct admin *admin)
{
	struct query query;
	int err;

	err = admin_find_given(admin, "SELECT id FROM game WHERE name = ?1",
			       "game", "game");
	if (err != 0)
		return err;
	admin_list_begin(admin, "maps");
	query_open(&query, admin->db,
		   "SELECT m.id, m.name, g.name, m.options, m.visibility, "
		   "m.is_disabled, m.size_bytes, m.hash, m.created_us, "
		   "m.generator, m.public_us "
		   "FROM map m JOIN game g ON g.id = m.game_id "
		   "WHERE (?1 IS NULL OR g.name = ?1) AND "
		   "(m.generator <> '') = ?2 ORDER BY g.name, m.name",
		   &admin->error);
	query_bind_i64(&query, 2, admin_bool(admin, "generated", false));
	query_bind_text(&query, 1, admin_text(admin, "game", NULL));
	while ((err = query_step(&query)) > 0) {
		uint8_t hash[ROW_HASH_BYTES] = { 0 };
		size_t len;
		const void *bytes = query_blob(&query, 7, &len);

		if (len == sizeof(hash))
			memcpy(hash, bytes, len);
		admin_list_add(
			admin, "maps",
			json_pack("{s:I, s:s, s:s, s:s, s:s, s:b, s:I, s:o, "
				  "s:I, s:s, s:I}",
				  "id", (json_int_t)query_i64(&query, 0),
				  "name", query_text(&query, 1), "game",
				  query_text(&query, 2), "options",
				  query_text(&query, 3), "visibility",
				  query_text(&query, 4), "disabled",
				  query_i64(&query, 5) != 0, "bytes",
				  (json_int_t)query_i64(&query, 6), "sha256",
				  admin_hash_json(hash), "created_us",
				  (json_int_t)query_i64(&query, 8), "generator",
				  query_text(&query, 9), "public_us",
				  (json_int_t)query_i64(&query, 10)));
	}
	query_close(&query);
	return err;
}

/* The map of that name; two games may each have one. */
static int find_map(struct admin *admin, int64_t *ret)
{
	const char *name = admin_text(admin, "name", "");
	const char *game = admin_text(admin, "game", NULL);
	struct query query;
	int64_t count = 0;
	int err;

	query_open(&query, admin->db,
		   "SELECT max(m.id), count(*) FROM game g "
		   "CROSS JOIN map m ON m.game_id = g.id "
		   "WHERE m.name = ?1 AND (?2 IS NULL OR g.name = ?2)",
		   &admin->error);
	query_bind_text(&query, 1, name);
	query_bind_text(&query, 2, game);
	err = query_step(&query);
	if (err > 0) {
		*ret = query_i64(&query, 0);
		count = query_i64(&query, 1);
	}
	query_close(&query);
	if (err < 0)
		return err;
	if (count == 0)
		return admin_refuse(admin, "name", name,
				    "there is no map of that name");
	if (count > 1)
		return admin_refuse(admin, "game", NULL,
				    "must be given: %lld games have a map of "
				    "that name",
				    (long long)count);
	return 0;
}

static int map_change(struct admin *admin)
{
	bool has_time = admin_has(admin, "hidden_until");
	struct query query;
	int64_t id = 0, at = 0;
	int err;

	err = find_map(admin, &id);
	if (err == 0)
		err = admin_time(admin, "hidden_until", &at);
	if (err != 0 || (!has_time && !admin_has(admin, "visibility")))
		return err;
	if (at != 0 && at <= clock_wall_us())
		return admin_refuse(admin, "hidden_until",
				    admin_text(admin, "hidden_until", ""),
				    "is over");
	query_open(&query, admin->db,
		   "UPDATE map SET visibility = ?2, public_us = "
		   "CASE ?2 WHEN 'public' THEN public_us ELSE ?3 END "
		   "WHERE id = ?1",
		   &admin->error);
	query_bind_i64(&query, 1, id);
	query_bind_text(&query, 2, admin_text(admin, "visibility", "hidden"));
	if (at != 0)
		query_bind_i64(&query, 3, at);
	return query_run(&query);
}

static int check_visibility(struct admin *admin)
{
	const char *visibility = admin_text(admin, "visibility", "public");

	if (strcmp(visibility, "public") != 0 &&
	    strcmp(visibility, "hidden") != 0)
		return admin_refuse(admin, "visibility", visibility,
				    "must be public or hidden");
	if (admin_has(admin, "hidden_until") &&
	    strcmp(admin_text(admin, "visibility", "hidden"), "hidden") != 0)
		return admin_refuse(admin, "hidden_until", NULL,
				    "a public map is hidden at no time");
	return 0;
}

static int prepare_map(struct admin *admin)
{
	int err = check_visibility(admin);

	return err != 0 ? err : prepare_add(admin);
}

static int map_disable(struct admin *admin)
{
	struct query query;
	int64_t id = 0;
	int err;

	err = find_map(admin, &id);
	if (err != 0)
		return err;
	query_open(&query, admin->db,
		   "UPDATE map SET is_disabled = ?2 WHERE id = ?1",
		   &admin->error);
	query_bind_i64(&query, 1, id);
	query_bind_i64(&query, 2, admin_bool(admin, "disabled", true));
	return query_run(&query);
}

static const struct admin_field add_fields[] = {
	{ "name", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ "game", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ "data", ADMIN_TEXT, true, 0, LIMIT_ADMIN_BYTES },
	{ "options", ADMIN_TEXT, false, 0, ROW_OPTIONS_BYTES - 1 },
	{ "visibility", ADMIN_TEXT, false, 1, LIMIT_NAME_BYTES },
	{ NULL },
};

static const struct admin_field list_fields[] = {
	{ "game", ADMIN_TEXT, false, 1, LIMIT_NAME_BYTES },
	{ "generated", ADMIN_BOOL, false, 0, 0 },
	{ NULL },
};

static const struct admin_field change_fields[] = {
	{ "name", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ "game", ADMIN_TEXT, false, 1, LIMIT_NAME_BYTES },
	{ "visibility", ADMIN_TEXT, false, 1, LIMIT_NAME_BYTES },
	{ "hidden_until", ADMIN_TEXT, false, 1, 32 },
	{ NULL },
};

static const struct admin_field disable_fields[] = {
	{ "name", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ "game", ADMIN_TEXT, false, 1, LIMIT_NAME_BYTES },
	{ "disabled", ADMIN_BOOL, false, 0, 0 },
	{ NULL },
};

const struct admin_command admin_map_commands[] = {
	{ "map add", add_fields, true, prepare_map, map_add },
	{ "map list", list_fields, false, NULL, map_list },
	{ "map change", change_fields, true, check_visibility, map_change },
	{ "map disable", disable_fields, true, NULL, map_disable },
	{ .name = NULL },
};
