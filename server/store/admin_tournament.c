/* SPDX-License-Identifier: MIT */
/* admin_tournament.c - tournaments: made, started, ended, revealed. */
#include <errno.h>
#include <string.h>

#include "server/base/clock.h"
#include "server/store/admin_tournament.h"
#include "server/store/read.h"
#include "server/store/tournament_maps.h"
#include "server/store/tournament_plan.h"
#include "server/store/tournament_rows.h"

enum { GRACE_S_MAX = 24 * 60 * 60, SHOWN_MATCHES = 1000 };

static const char sql_find[] = "SELECT id FROM tournament WHERE name = ?1";

int admin_tournament_find(struct admin *admin, struct row_tournament *ret)
{
	int64_t id;
	int err;

	memset(ret, 0, sizeof(*ret));
	err = admin_find(admin, sql_find, "name", "tournament", &id);
	if (err == 0)
		err = tournament_read(admin->db, id, ret, &admin->error);
	return err;
}

static json_t *time_json(int64_t wall_us)
{
	return wall_us == 0 ? json_null() : json_integer(wall_us);
}

json_t *admin_tournament_json(const struct row_tournament *row)
{
	const struct tournament_rules *rules = &row->rules;
	json_t *json = json_pack(
		"{s:I, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:b, "
		"s:b, s:I, s:i, s:b}",
		"id", (json_int_t)row->id, "name", row->name, "ladder",
		row->ladder, "format", tournament_format_word(rules->format),
		"state", tournament_state_word(row->state), "entrants",
		(int)row->nentrants, "seats", (int)rules->seats, "group",
		(int)rules->group, "sets", (int)rules->sets, "rounds",
		(int)rules->rounds, "rotate", rules->is_rotated, "third",
		rules->has_third, "draw_seed", (json_int_t)rules->seed,
		"grace_s", (int)row->grace_s, "embargo", row->is_embargo);

	(void)json_object_update_new(
		json, json_pack("{s:b, s:o, s:o, s:o, s:o, s:o, s:o}",
				"under_embargo",
				row->is_embargo && row->revealed_us == 0,
				"starts_us", time_json(row->starts_us),
				"deadline_us", time_json(row->deadline_us),
				"created_us", time_json(row->created_us),
				"started_us", time_json(row->started_us),
				"ended_us", time_json(row->ended_us),
				"revealed_us", time_json(row->revealed_us)));
	return json;
}

/* The matches that may be played now, with bots' names. */
json_t *admin_tournament_matches(const struct row_tournament *row,
				 const struct tournament *tournament)
{
	struct tournament_match *matches =
		xcalloc(SHOWN_MATCHES, sizeof(*matches));
	size_t count = tournament_next(tournament, matches, SHOWN_MATCHES);
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		json_t *bots = json_array();

		for (unsigned s = 0; s < matches[i].nseats; s++)
			(void)json_array_append_new(
				bots,
				json_string(
					row->entrants[matches[i].entrants[s]]
						.bot));
		(void)json_array_append_new(
			list,
			json_pack("{s:i, s:i, s:i, s:i, s:i, s:o}", "round",
				  (int)matches[i].round, "pairing",
				  (int)matches[i].pairing + 1, "set",
				  (int)matches[i].set + 1, "turn",
				  (int)matches[i].turn + 1, "instance",
				  (int)matches[i].instance + 1, "bots", bots));
	}
	free(matches);
	return list;
}

json_t *admin_tournament_entrants(const struct row_tournament *row)
{
	json_t *list = json_array();

	for (size_t i = 0; i < row->nentrants; i++)
		(void)json_array_append_new(
			list,
			json_pack("{s:i, s:s, s:o, s:i}", "number", (int)i + 1,
				  "bot", row->entrants[i].bot, "version",
				  row->entrants[i].version == 0
					  ? json_null()
					  : json_string(row->entrants[i].label),
				  "out_round",
				  (int)row->entrants[i].out_round));
	return list;
}

/* What a plan comes to: for `create` and for a look before it. */
static int tell_plan(struct admin *admin, const struct row_tournament *row)
{
	struct tournament_forecast forecast;
	struct tournament *tournament;
	int err;

	if (row->deadline_us != 0 && row->deadline_us <= row->created_us) {
		err = tournament_plan_check_versions(admin, row,
						     row->deadline_us);
		if (err != 0)
			return err;
	}
	err = tournament_forecast(admin, row, &forecast);
	if (err != 0)
		return err;
	tournament = tournament_build(row, NULL);
	admin_set(admin, "tournament", admin_tournament_json(row));
	admin_set(admin, "entrants", admin_tournament_entrants(row));
	admin_set(admin, "matches", admin_tournament_matches(row, tournament));
	admin_set(admin, "forecast",
		  json_pack("{s:I, s:I, s:I, s:o, s:o, s:o}", "matches_min",
			    (json_int_t)forecast.matches_min, "matches_max",
			    (json_int_t)forecast.matches_max, "in_a_row",
			    (json_int_t)forecast.most_in_row, "bytes",
			    forecast.is_known ? json_integer(forecast.bytes)
					      : json_null(),
			    "match_ms",
			    forecast.is_known
				    ? json_integer(forecast.mean_us / 1000)
				    : json_null(),
			    "ends_us",
			    forecast.is_known ? json_integer(forecast.ends_us)
					      : json_null()));
	tournament_free(tournament);
	return 0;
}

static int plan(struct admin *admin)
{
	struct row_tournament row;
	int err;

	err = tournament_plan(admin, &row);
	if (err == 0)
		err = tell_plan(admin, &row);
	row_tournament_release(&row);
	return err;
}

static int create(struct admin *admin)
{
	struct row_tournament row;
	int err;

	err = tournament_plan(admin, &row);
	if (err == 0)
		err = tournament_insert(admin->db, &row, &row.id,
					&admin->error);
	if (err == 0 && row.deadline_us != 0 &&
	    row.deadline_us <= row.created_us)
		err = tournament_pin(admin->db, row.id, row.deadline_us,
				     &admin->error);
	if (err == 0)
		err = tell_plan(admin, &row);
	row_tournament_release(&row);
	return err;
}

static int list(struct admin *admin)
{
	int64_t *ids;
	size_t count;
	int err = read_ids(admin->db, "SELECT id FROM tournament ORDER BY id",
			   0, 0, &ids, &count, &admin->error);

	admin_list_begin(admin, "tournaments");
	for (size_t i = 0; i < count && err == 0; i++) {
		struct row_tournament row;

		err = tournament_read(admin->db, ids[i], &row, &admin->error);
		if (err == 0)
			admin_list_add(admin, "tournaments",
				       admin_tournament_json(&row));
		row_tournament_release(&row);
	}
	free(ids);
	return err;
}

/* Refuse unless ROW is in one of the states of the mask. */
static int check_state(struct admin *admin, const struct row_tournament *row,
		       unsigned states)
{
	if ((states >> row->state & 1) != 0)
		return 0;
	return admin_refuse(admin, "name", row->name, "is %s",
			    tournament_state_word(row->state));
}

/* What was active at a deadline to come is not known yet. */
static int check_deadline(struct admin *admin, const struct row_tournament *row,
			  int64_t now)
{
	char text[TOURNAMENT_TIME_BYTES];

	if (row->deadline_us <= now)
		return 0;
	tournament_plan_time_text(row->deadline_us, text);
	return admin_refuse(admin, "name", row->name,
			    "its deadline, %s UTC, is not over: wait for it, "
			    "or cancel this one and make one without",
			    text);
}

static int start(struct admin *admin)
{
	int64_t now = clock_wall_us();
	struct row_tournament row;
	int err;

	err = admin_tournament_find(admin, &row);
	if (err == 0)
		err = check_state(admin, &row, 1u << ROW_TOURNAMENT_PLANNED);
	if (err == 0)
		err = check_deadline(admin, &row, now);
	if (err == 0)
		err = tournament_plan_check_versions(
			admin, &row,
			row.deadline_us != 0 ? row.deadline_us : now);
	if (err == 0)
		err = tournament_pin(admin->db, row.id,
				     row.deadline_us != 0 ? row.deadline_us
							  : now,
				     &admin->error);
	if (err == 0)
		err = tournament_set_state(admin->db, row.id,
					   ROW_TOURNAMENT_RUNNING, now,
					   &admin->error);
	row_tournament_release(&row);
	return err;
}

static int cancel(struct admin *admin)
{
	struct row_tournament row;
	int err;

	err = admin_tournament_find(admin, &row);
	if (err == 0)
		err = check_state(admin, &row,
				  1u << ROW_TOURNAMENT_PLANNED |
					  1u << ROW_TOURNAMENT_RUNNING);
	if (err == 0)
		err = tournament_set_state(admin->db, row.id,
					   ROW_TOURNAMENT_CANCELLED,
					   clock_wall_us(), &admin->error);
	row_tournament_release(&row);
	return err;
}

static int reveal(struct admin *admin)
{
	struct row_tournament row;
	struct query query;
	int err;

	err = admin_tournament_find(admin, &row);
	if (err == 0)
		err = check_state(admin, &row,
				  1u << ROW_TOURNAMENT_FINISHED |
					  1u << ROW_TOURNAMENT_CANCELLED);
	if (err == 0 && !row.is_embargo)
		err = admin_refuse(admin, "name", row.name,
				   "was never under embargo");
	if (err == 0) {
		query_open(&query, admin->db,
			   "UPDATE tournament SET revealed_us = "
			   "coalesce(revealed_us, ?2) WHERE id = ?1",
			   &admin->error);
		query_bind_i64(&query, 1, row.id);
		query_bind_i64(&query, 2, clock_wall_us());
		err = query_run(&query);
	}
	row_tournament_release(&row);
	return err;
}

/* The first round that somebody who leaves now is not in. */
static uint32_t out_round(const struct row_tournament *row)
{
	struct tournament *tournament;
	uint32_t round;

	if (row->rules.format != TOURNAMENT_SWISS ||
	    row->state == ROW_TOURNAMENT_PLANNED)
		return 1;
	tournament = tournament_build(row, NULL);
	if (tournament == NULL)
		return 1;
	round = tournament_round(tournament) + 1;
	tournament_free(tournament);
	return round;
}

static int withdraw(struct admin *admin)
{
	const char *bot = admin_text(admin, "bot", "");
	struct row_tournament row;
	struct query query;
	size_t number = 0;
	int err;

	err = admin_tournament_find(admin, &row);
	if (err == 0)
		err = check_state(admin, &row,
				  1u << ROW_TOURNAMENT_PLANNED |
					  1u << ROW_TOURNAMENT_RUNNING);
	while (number < row.nentrants &&
	       strcmp(row.entrants[number].bot, bot) != 0)
		number++;
	if (err == 0 && number == row.nentrants)
		err = admin_refuse(admin, "bot", bot, "does not take part");
	if (err == 0 && row.entrants[number].out_round != 0)
		err = admin_refuse(admin, "bot", bot, "has withdrawn");
	if (err == 0) {
		query_open(&query, admin->db,
			   "UPDATE tournament_entrant SET withdrawn_us = ?3, "
			   "withdrawn_round = ?4 WHERE tournament_id = ?1 "
			   "AND number = ?2",
			   &admin->error);
		query_bind_i64(&query, 1, row.id);
		query_bind_i64(&query, 2, (int64_t)number + 1);
		query_bind_i64(&query, 3, clock_wall_us());
		query_bind_i64(&query, 4, out_round(&row));
		err = query_run(&query);
	}
	row_tournament_release(&row);
	return err;
}

static int deadline(struct admin *admin)
{
	struct query query;
	int64_t id, at;
	int err;

	err = admin_find(admin, "SELECT id FROM ladder WHERE name = ?1",
			 "ladder", "ladder", &id);
	if (err == 0)
		err = admin_time(admin, "time", &at);
	if (err != 0)
		return err;
	query_open(&query, admin->db,
		   "UPDATE ladder SET deadline_us = ?2 WHERE id = ?1",
		   &admin->error);
	query_bind_i64(&query, 1, id);
	if (at != 0)
		query_bind_i64(&query, 2, at);
	admin_set(admin, "deadline_us", time_json(at));
	return query_run(&query);
}

static const struct admin_field create_fields[] = {
	{ "name", ADMIN_TEXT, true, 0, LIMIT_NAME_BYTES },
	{ "ladder", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ "format", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ "entrants", ADMIN_LIST, false, 2, TOURNAMENT_ENTRANTS_MAX },
	{ "draw", ADMIN_TEXT, false, 1, 16 },
	{ "draw_seed", ADMIN_INT, false, 0, INT64_MAX },
	{ "rounds", ADMIN_INT, false, 1, TOURNAMENT_ROUNDS_MAX },
	{ "sets", ADMIN_INT, false, 1, TOURNAMENT_SETS_MAX },
	{ "group", ADMIN_INT, false, 1, LIMIT_SEATS },
	{ "rotate", ADMIN_BOOL, false, 0, 0 },
	{ "third", ADMIN_BOOL, false, 0, 0 },
	{ "seeds", ADMIN_TEXT, false, 1, 64 },
	{ "maps", ADMIN_INT, false, 1, TOURNAMENT_MAPS_MAX },
	{ "starts", ADMIN_TEXT, false, 1, 32 },
	{ "deadline", ADMIN_TEXT, false, 1, 32 },
	{ "grace_s", ADMIN_INT, false, 0, GRACE_S_MAX },
	{ "embargo", ADMIN_BOOL, false, 0, 0 },
	{ NULL },
};

static const struct admin_field name_fields[] = {
	{ "name", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ NULL },
};

static const struct admin_field withdraw_fields[] = {
	{ "name", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ "bot", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ NULL },
};

static const struct admin_field deadline_fields[] = {
	{ "ladder", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ "time", ADMIN_TEXT, true, 1, 32 },
	{ NULL },
};

static const struct admin_field no_fields[] = { { NULL } };

const struct admin_command admin_tournament_commands[] = {
	{ "tournament create", create_fields, true, tournament_maps_make,
	  create },
	{ "tournament plan", create_fields, false, NULL, plan },
	{ "tournament list", no_fields, false, NULL, list },
	{ "tournament show", name_fields, false, NULL, admin_tournament_show },
	{ "tournament table", name_fields, false, NULL,
	  admin_tournament_table },
	{ "tournament export", name_fields, false, NULL,
	  admin_tournament_export },
	{ "tournament start", name_fields, true, NULL, start },
	{ "tournament cancel", name_fields, true, NULL, cancel },
	{ "tournament reveal", name_fields, true, NULL, reveal },
	{ "tournament withdraw", withdraw_fields, true, NULL, withdraw },
	{ "deadline", deadline_fields, true, NULL, deadline },
	{ .name = NULL },
};
