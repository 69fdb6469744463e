/* SPDX-License-Identifier: MIT */
/* admin_ladder.c - ladders: what is played, on what, by which limits. */
#include <stdio.h>

#include "server/base/clock.h"
#include "server/games/game.h"
#include "server/store/ladder_plan.h"
#include "server/store/read.h"

enum { DAY_MS = 24 * 60 * 60 * 1000 };

static const char sql_find[] = "SELECT id FROM ladder WHERE name = ?1";
static const char sql_by_key[] = "SELECT name FROM ladder WHERE name_key = ?1";

/* ?3 to ?16, and ?19 to ?22: all that a change may touch. */
static void bind_row(struct query *query, const struct row_ladder *ladder)
{
	query_bind_i64(query, 3, ladder->seats);
	query_bind_text(query, 4, ladder->params);
	query_bind_i64(query, 5, ladder->turn_ms);
	query_bind_i64(query, 6, ladder->init_ms);
	query_bind_i64(query, 7, ladder->grace_ms);
	query_bind_i64(query, 8, ladder->bank_ms);
	query_bind_i64(query, 9, ladder->bank_step_ms);
	query_bind_i64(query, 10, ladder->lag_cap_ms);
	query_bind_i64(query, 11, ladder->ready_ms);
	query_bind_i64(query, 12, ladder->file_ms);
	if (!ladder->is_seed_random) {
		query_bind_i64(query, 13, ladder->seed_first);
		query_bind_i64(query, 14, ladder->seed_last);
	}
	query_bind_text(query, 15,
			ladder->bot_seed == ROW_BOT_SEED_MATCH ? "match"
							       : "own");
	query_bind_i64(query, 16, ladder->is_rated);
	query_bind_text(query, 19, ladder->generators);
	query_bind_i64(query, 20, ladder->round_runs);
	query_bind_i64(query, 21, ladder->round_us / 1000000);
	query_bind_i64(query, 22, ladder->house_wait_ms);
}

static int write_maps(struct admin *admin, int64_t id)
{
	const struct ladder_plan *plan = admin->data;
	struct query query;
	int err;

	query_open(&query, admin->db,
		   "DELETE FROM ladder_map WHERE ladder_id = ?1",
		   &admin->error);
	query_bind_i64(&query, 1, id);
	err = query_run(&query);
	for (size_t i = 0; i < plan->ladder.nmaps && err == 0; i++) {
		query_open(&query, admin->db,
			   "INSERT INTO ladder_map (ladder_id, position, "
			   "map_id) VALUES (?1, ?2, ?3)",
			   &admin->error);
		query_bind_i64(&query, 1, id);
		query_bind_i64(&query, 2, (int64_t)i);
		query_bind_i64(&query, 3, plan->ladder.map_ids[i]);
		err = query_run(&query);
	}
	return err;
}

static int ladder_add(struct admin *admin)
{
	const struct ladder_plan *plan = admin->data;
	const char *name = admin_text(admin, "name", "");
	char key[STORE_NAME_KEY_BYTES];
	struct query query;
	int64_t id;
	int err;

	err = admin_check_free(admin, sql_by_key, "name", key);
	if (err != 0)
		return err;
	query_open(&query, admin->db,
		   "INSERT INTO ladder (name, name_key, game_id, seats, "
		   "params, turn_ms, init_ms, grace_ms, bank_ms, "
		   "bank_step_ms, lag_cap_ms, ready_ms, file_ms, seed_first, "
		   "seed_last, seed_next, bot_seed, is_rated, created_us, "
		   "generators, round_runs, round_s, house_wait_ms) "
		   "SELECT ?1, ?2, id, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, "
		   "?12, ?13, ?14, ?13, ?15, ?16, ?17, ?19, ?20, ?21, ?22 "
		   "FROM game WHERE name = ?18",
		   &admin->error);
	query_bind_text(&query, 1, name);
	query_bind_text(&query, 2, key);
	bind_row(&query, &plan->ladder);
	query_bind_i64(&query, 17, clock_wall_us());
	query_bind_text(&query, 18, plan->game->name);
	err = query_run(&query);
	if (err != 0)
		return err;
	id = sqlite3_last_insert_rowid(admin->db->handle);
	admin_set(admin, "ladder",
		  json_pack("{s:I, s:s, s:s}", "id", (json_int_t)id, "name",
			    name, "game", plan->game->name));
	return write_maps(admin, id);
}

static int ladder_change(struct admin *admin)
{
	const struct ladder_plan *plan = admin->data;
	struct query query;
	int64_t id;
	int err;

	err = admin_find(admin, sql_find, "name", "ladder", &id);
	if (err != 0)
		return err;
	/* New seeds begin at their first; the same ones go on. */
	query_open(&query, admin->db,
		   "UPDATE ladder SET seed_next = CASE WHEN seed_first IS ?13 "
		   "AND seed_last IS ?14 THEN seed_next ELSE ?13 END, "
		   "seats = ?3, params = ?4, turn_ms = ?5, init_ms = ?6, "
		   "grace_ms = ?7, bank_ms = ?8, bank_step_ms = ?9, "
		   "lag_cap_ms = ?10, ready_ms = ?11, file_ms = ?12, "
		   "seed_first = ?13, seed_last = ?14, bot_seed = ?15, "
		   "is_rated = ?16, generators = ?19, round_runs = ?20, "
		   "round_s = ?21, house_wait_ms = ?22 WHERE id = ?1",
		   &admin->error);
	query_bind_i64(&query, 1, id);
	bind_row(&query, &plan->ladder);
	err = query_run(&query);
	if (err == 0 &&
	    (admin_has(admin, "maps") || admin_has(admin, "generate")))
		err = write_maps(admin, id);
	return err;
}

static int ladder_disable(struct admin *admin)
{
	struct query query;
	int64_t id;
	int err;

	err = admin_find(admin, sql_find, "name", "ladder", &id);
	if (err != 0)
		return err;
	query_open(&query, admin->db,
		   "UPDATE ladder SET is_disabled = ?2 WHERE id = ?1",
		   &admin->error);
	query_bind_i64(&query, 1, id);
	query_bind_i64(&query, 2, admin_bool(admin, "disabled", true));
	return query_run(&query);
}

static json_t *maps_json(const struct row_catalogue *all,
			 const struct row_ladder *ladder)
{
	json_t *names = json_array();

	for (size_t i = 0; i < ladder->nmaps; i++)
		for (size_t k = 0; k < all->nmaps; k++)
			if (all->maps[k].id == ladder->map_ids[i])
				(void)json_array_append_new(
					names, json_string(all->maps[k].name));
	return names;
}

static json_t *ladder_json(const struct row_catalogue *all,
			   const struct row_ladder *ladder)
{
	char seeds[64] = "random";
	json_t *json;

	if (!ladder->is_seed_random)
		(void)snprintf(seeds, sizeof(seeds), "%lld..%lld",
			       (long long)ladder->seed_first,
			       (long long)ladder->seed_last);
	json = json_pack(
		"{s:I, s:s, s:s, s:i, s:s, s:o, s:s, s:s, s:b, s:b, s:s}", "id",
		(json_int_t)ladder->id, "name", ladder->name, "game",
		ladder->game, "seats", (int)ladder->seats, "params",
		ladder->params, "maps", maps_json(all, ladder), "seeds", seeds,
		"bot_seed",
		ladder->bot_seed == ROW_BOT_SEED_MATCH ? "match" : "own",
		"rated", ladder->is_rated, "disabled", ladder->is_disabled,
		"generate", ladder->generators);
	if (json == NULL)
		return NULL;
	if (!ladder->is_seed_random)
		(void)json_object_set_new(json, "seed_next",
					  json_integer(ladder->seed_next));
	(void)json_object_update_new(
		json,
		json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
			  "s:I, s:I, s:I}",
			  "turn_ms", (json_int_t)ladder->turn_ms, "init_ms",
			  (json_int_t)ladder->init_ms, "grace_ms",
			  (json_int_t)ladder->grace_ms, "bank_ms",
			  (json_int_t)ladder->bank_ms, "bank_step_ms",
			  (json_int_t)ladder->bank_step_ms, "lag_cap_ms",
			  (json_int_t)ladder->lag_cap_ms, "ready_ms",
			  (json_int_t)ladder->ready_ms, "file_ms",
			  (json_int_t)ladder->file_ms, "round_runs",
			  (json_int_t)ladder->round_runs, "round_seconds",
			  (json_int_t)(ladder->round_us / 1000000),
			  "house_wait_ms", (json_int_t)ladder->house_wait_ms));
	return json;
}

static int ladder_list(struct admin *admin)
{
	struct row_catalogue all = { 0 };
	int err;

	admin_list_begin(admin, "ladders");
	err = read_maps(admin->db, &all, &admin->error);
	if (err == 0)
		err = read_ladders(admin->db, &all, &admin->error);
	if (err == 0)
		err = read_ladder_maps(admin->db, &all, &admin->error);
	for (size_t i = 0; i < all.nladders && err == 0; i++)
		admin_list_add(admin, "ladders",
			       ladder_json(&all, &all.ladders[i]));
	row_catalogue_release(&all);
	return err;
}

#define ROW_FIELDS                                                       \
	{ "seats", ADMIN_INT, false, 1, LIMIT_SEATS },                   \
		{ "params", ADMIN_TEXT, false, 0, ROW_PARAMS_BYTES },    \
		{ "turn_ms", ADMIN_INT, false, 1, DAY_MS },              \
		{ "init_ms", ADMIN_INT, false, 0, DAY_MS },              \
		{ "grace_ms", ADMIN_INT, false, 0, DAY_MS },             \
		{ "bank_ms", ADMIN_INT, false, 0, DAY_MS },              \
		{ "bank_step_ms", ADMIN_INT, false, 0, 1000 },           \
		{ "lag_cap_ms", ADMIN_INT, false, 0, 10000 },            \
		{ "ready_ms", ADMIN_INT, false, 1, DAY_MS },             \
		{ "file_ms", ADMIN_INT, false, 0, DAY_MS },              \
		{ "round_runs", ADMIN_INT, false, 2, LIMIT_ROUND_RUNS }, \
		{ "round_seconds", ADMIN_INT, false, 1, LIMIT_ROUND_S }, \
		{ "house_wait_ms", ADMIN_INT, false, 0, DAY_MS },        \
		{ "generate", ADMIN_TEXT, false, 1,                      \
		  ROW_GENERATORS_BYTES - 1 },                            \
		{ "seeds", ADMIN_TEXT, false, 1, 64 },                   \
		{ "bot_seed", ADMIN_TEXT, false, 1, 16 },                \
		{ "rated", ADMIN_BOOL, false, 0, 0 },                    \
		{ "original", ADMIN_BOOL, false, 0, 0 },                 \
	{                                                                \
		NULL                                                     \
	}

static const struct admin_field add_fields[] = {
	{ "name", ADMIN_TEXT, true, 0, LIMIT_NAME_BYTES },
	{ "game", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ "maps", ADMIN_LIST, false, 1, LIMIT_LADDER_MAPS },
	ROW_FIELDS,
};

static const struct admin_field change_fields[] = {
	{ "name", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ "maps", ADMIN_LIST, false, 1, LIMIT_LADDER_MAPS },
	ROW_FIELDS,
};

static const struct admin_field disable_fields[] = {
	{ "name", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ "disabled", ADMIN_BOOL, false, 0, 0 },
	{ NULL },
};

static const struct admin_field no_fields[] = { { NULL } };

const struct admin_command admin_ladder_commands[] = {
	{ "ladder add", add_fields, true, ladder_plan_add, ladder_add },
	{ "ladder list", no_fields, false, NULL, ladder_list },
	{ "ladder change", change_fields, true, ladder_plan_change,
	  ladder_change },
	{ "ladder disable", disable_fields, true, NULL, ladder_disable },
	{ .name = NULL },
};
