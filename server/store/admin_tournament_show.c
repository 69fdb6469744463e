/* SPDX-License-Identifier: MIT */
/* admin_tournament_show.c - how a tournament stands. */
#include "server/store/admin_tournament.h"
#include "server/store/tournament_rows.h"

static const char *const bracket_words[TOURNAMENT_NBRACKETS] = {
	[TOURNAMENT_MAIN] = "main",     [TOURNAMENT_WINNERS] = "winners",
	[TOURNAMENT_LOSERS] = "losers", [TOURNAMENT_THIRD] = "third",
	[TOURNAMENT_FINAL] = "final",   [TOURNAMENT_RESET] = "reset",
};

/* Half points as people count them. */
static json_t *points_json(int64_t half_points)
{
	return half_points % 2 == 0 ? json_integer(half_points / 2)
				    : json_real((double)half_points / 2);
}

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
				points, points_json(pairing->half_points[i]));
	}
	return json_pack("{s:i, s:i, s:s, s:s, s:o, s:o, s:i}", "pairing",
			 (int)pairing->number + 1, "round", (int)pairing->round,
			 "bracket", bracket_words[pairing->bracket], "state",
			 pairing->is_bye     ? "bye"
			 : pairing->is_done  ? "done"
			 : pairing->is_ready ? "open"
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
			json_pack("{s:i, s:i, s:i, s:o, s:o, s:o}", "pairing",
				  (int)match->result.pairing + 1, "set",
				  (int)match->result.set + 1, "turn",
				  (int)match->result.turn + 1, "match",
				  match->match_id == 0
					  ? json_null()
					  : json_integer(match->match_id),
				  "bots", bots, "absent", absent));
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

static json_t *standing_json(const struct row_tournament *row,
			     const struct tournament_standing *standing)
{
	const struct row_entrant *entrant = &row->entrants[standing->entrant];
	json_t *json = json_pack(
		"{s:i, s:i, s:s, s:o, s:o, s:i, s:i, s:i, s:i, s:i, s:I, s:f, "
		"s:I}",
		"rank", (int)standing->rank, "number",
		(int)standing->entrant + 1, "bot", entrant->bot, "version",
		entrant->version == 0 ? json_null()
				      : json_integer(entrant->version),
		"points", points_json(standing->half_points), "wins",
		(int)standing->wins, "draws", (int)standing->draws, "losses",
		(int)standing->losses, "byes", (int)standing->byes, "forfeits",
		(int)standing->forfeits, "total", (json_int_t)standing->total,
		"score", standing->score, "faults",
		(json_int_t)standing->faults);
	json_t *ties = json_object();

	for (unsigned i = 0; i < TOURNAMENT_TIE_BREAKS; i++) {
		const char *name =
			tournament_tie_break_name(row->rules.format, i);
		int64_t value = standing->tie_breaks[i];

		if (name == NULL)
			continue;
		(void)json_object_set_new(
			ties, name,
			tournament_tie_break_unit(row->rules.format, i) == 4
				? json_real((double)value / 4)
			: tournament_tie_break_unit(row->rules.format, i) == 2
				? points_json(value)
				: json_integer(value));
	}
	(void)json_object_set_new(json, "tie_breaks", ties);
	return json;
}

/* Row by row in the table's order: points from each, null: not met. */
static json_t *cross_json(const struct tournament *tournament,
			  const struct tournament_standing *table, size_t n)
{
	uint32_t *half = xcalloc(n * n, sizeof(*half));
	uint32_t *meetings = xcalloc(n * n, sizeof(*meetings));
	json_t *rows = json_array();

	tournament_cross(tournament, half, meetings);
	for (size_t i = 0; i < n; i++) {
		json_t *cells = json_array();

		for (size_t k = 0; k < n; k++) {
			size_t at = table[i].entrant * n + table[k].entrant;

			(void)json_array_append_new(
				cells, meetings[at] == 0
					       ? json_null()
					       : points_json(half[at]));
		}
		(void)json_array_append_new(rows, cells);
	}
	free(half);
	free(meetings);
	return rows;
}

/* The table, and with it the cross-table where pairs meet. */
static int table(struct admin *admin, struct row_tournament *row,
		 bool has_cross)
{
	struct tournament_standing *standings;
	struct tournament *tournament;
	int err;

	err = admin_tournament_find(admin, row);
	if (err == 0)
		err = build(admin, row, NULL, &tournament);
	if (err != 0)
		return err;
	standings = xcalloc(row->nentrants, sizeof(*standings));
	tournament_standings(tournament, standings);
	admin_set(admin, "tournament", admin_tournament_json(row));
	admin_set(admin, "finished",
		  json_boolean(tournament_is_finished(tournament)));
	admin_list_begin(admin, "standings");
	for (size_t i = 0; i < row->nentrants; i++)
		admin_list_add(admin, "standings",
			       standing_json(row, &standings[i]));
	if (has_cross && row->rules.group > 1)
		admin_set(admin, "cross",
			  cross_json(tournament, standings, row->nentrants));
	free(standings);
	tournament_free(tournament);
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
		   "SELECT o.name, o.external_id, v.label FROM bot b "
		   "JOIN owner o ON o.id = b.owner_id "
		   "LEFT JOIN bot_version v ON v.bot_id = b.id "
		   "AND v.number = ?2 WHERE b.name = ?1",
		   &admin->error);
	query_bind_text(&query, 1,
			json_string_value(json_object_get(standing, "bot")));
	query_bind_i64(
		&query, 2,
		json_integer_value(json_object_get(standing, "version")));
	err = query_step(&query);
	if (err > 0) {
		(void)json_object_set_new(standing, "owner",
					  json_string(query_text(&query, 0)));
		(void)json_object_set_new(standing, "external_id",
					  json_string(query_text(&query, 1)));
		(void)json_object_set_new(standing, "label",
					  json_string(query_text(&query, 2)));
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
