/* SPDX-License-Identifier: MIT */
/* admin_tournament_show.c - how a tournament stands. */
#include "server/store/admin_tournament.h"
#include "server/store/tournament_rows.h"
#include "server/store/tournament_table.h"

static const char *const bracket_words[TOURNAMENT_NBRACKETS] = {
	[TOURNAMENT_MAIN] = "main",     [TOURNAMENT_WINNERS] = "winners",
	[TOURNAMENT_LOSERS] = "losers", [TOURNAMENT_THIRD] = "third",
	[TOURNAMENT_FINAL] = "final",   [TOURNAMENT_RESET] = "reset",
};

static json_t *pairing_json(const struct row_tournament *row,
			    const struct tournament_pairing *pairing)
{
	json_t *bots = json_array(), *points = json_array();

	for (unsigned i = 0; i < pairing->nentrants; i++) {
		(void)json_array_append_new(
			bots,
			json_string(row->entrants[pairing->entrants[i]].bot));
		if (pairing->is_done)
			(void)json_array_append_new(
				points, tournament_points_json(
						pairing->half_points[i]));
	}
	return json_pack("{s:i, s:i, s:s, s:s, s:o, s:o, s:i}", "pairing",
			 (int)pairing->number + 1, "round", (int)pairing->round,
			 "bracket", bracket_words[pairing->bracket], "state",
			 pairing->is_bye         ? "bye"
			 : pairing->is_undecided ? "void"
			 : pairing->is_done      ? "done"
			 : pairing->is_ready     ? "open"
						 : "waiting",
			 "bots", bots, "points", points, "sets_done",
			 (int)pairing->sets_done);
}

static json_t *played_json(const struct row_tournament *row)
{
	json_t *list = json_array();

	for (size_t i = 0; i < row->nmatches; i++) {
		const struct row_tournament_match *match = &row->matches[i];
		json_t *bots = json_array(), *absent = json_array();

		for (unsigned s = 0; s < match->nseats; s++) {
			const char *bot =
				match->entrants[s] < row->nentrants
					? row->entrants[match->entrants[s]].bot
					: "?";

			(void)json_array_append_new(bots, json_string(bot));
			if ((match->result.absent >> s & 1) != 0)
				(void)json_array_append_new(absent,
							    json_string(bot));
		}
		(void)json_array_append_new(
			list,
			json_pack("{s:i, s:i, s:i, s:o, s:o, s:o, s:b}",
				  "pairing", (int)match->result.pairing + 1,
				  "set", (int)match->result.set + 1, "turn",
				  (int)match->result.turn + 1, "match",
				  match->match_id == 0
					  ? json_null()
					  : json_integer(match->match_id),
				  "bots", bots, "absent", absent, "void",
				  match->is_void));
	}
	return list;
}

/* *RET for tournament_free(), or the refusal. */
static int build(struct admin *admin, const struct row_tournament *row,
		 size_t *ret_left_out, struct tournament **ret)
{
	*ret = tournament_build(row, ret_left_out);
	return *ret != NULL ? 0
			    : admin_refuse(admin, "name", row->name, "%s",
					   tournament_row_refusal(row));
}

int admin_tournament_show(struct admin *admin)
{
	const struct tournament_pairing *pairings;
	struct row_tournament row;
	struct tournament *tournament;
	size_t count, left_out;
	json_t *list;
	int err;

	err = admin_tournament_find(admin, &row);
	if (err == 0)
		err = build(admin, &row, &left_out, &tournament);
	if (err != 0) {
		row_tournament_release(&row);
		return err;
	}
	pairings = tournament_pairings(tournament, &count);
	list = json_array();
	for (size_t i = 0; i < count; i++)
		(void)json_array_append_new(list,
					    pairing_json(&row, &pairings[i]));
	admin_set(admin, "tournament", admin_tournament_json(&row));
	admin_set(admin, "entrants", admin_tournament_entrants(&row));
	admin_set(admin, "round", json_integer(tournament_round(tournament)));
	admin_set(admin, "finished",
		  json_boolean(tournament_is_finished(tournament)));
	admin_set(admin, "left_out", json_integer((json_int_t)left_out));
	admin_set(admin, "pairings", list);
	admin_set(admin, "played", played_json(&row));
	admin_set(admin, "next", admin_tournament_matches(&row, tournament));
	tournament_free(tournament);
	row_tournament_release(&row);
	return 0;
}

/* The table, and with it the cross-table where pairs meet. */
static int table(struct admin *admin, struct row_tournament *row,
		 bool has_cross)
{
	int err = admin_tournament_find(admin, row);
	json_t *json;

	if (err != 0)
		return err;
	json = tournament_table_json(row, has_cross);
	if (json == NULL)
		return admin_refuse(admin, "name", row->name, "%s",
				    tournament_row_refusal(row));
	admin_set(admin, "tournament", admin_tournament_json(row));
	(void)json_object_update_new(admin->reply, json);
	return 0;
}

int admin_tournament_table(struct admin *admin)
{
	struct row_tournament row;
	int err = table(admin, &row, true);

	row_tournament_release(&row);
	return err;
}

/* Who answers for BOT: what a course's list of grades goes by. */
static int add_owner(struct admin *admin, json_t *standing)
{
	struct query query;
	int err;

	query_open(&query, admin->db,
		   "SELECT o.name, o.external_id FROM bot b "
		   "JOIN owner o ON o.id = b.owner_id WHERE b.name = ?1",
		   &admin->error);
	query_bind_text(&query, 1,
			json_string_value(json_object_get(standing, "bot")));
	err = query_step(&query);
	if (err > 0) {
		(void)json_object_set_new(standing, "owner",
					  json_string(query_text(&query, 0)));
		(void)json_object_set_new(standing, "external_id",
					  json_string(query_text(&query, 1)));
		/* What it was called while version was a number. */
		(void)json_object_set(standing, "label",
				      json_object_get(standing, "version"));
	}
	query_close(&query);
	return err < 0 ? err : 0;
}

int admin_tournament_export(struct admin *admin)
{
	struct row_tournament row;
	json_t *standings;
	int err = table(admin, &row, false);

	row_tournament_release(&row);
	standings = json_object_get(admin->reply, "standings");
	for (size_t i = 0; i < json_array_size(standings) && err == 0; i++)
		err = add_owner(admin, json_array_get(standings, i));
	return err;
}
