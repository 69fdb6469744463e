/* SPDX-License-Identifier: MIT */
/* tournament_table.c - who is ahead, and how everybody fared. */
#include "server/store/tournament_table.h"

#include <stdlib.h>

#include "server/store/web.h"

json_t *tournament_points_json(int64_t half_points)
{
	return half_points % 2 == 0 ? json_integer(half_points / 2)
				    : json_real((double)half_points / 2);
}

static json_t *standing_json(const struct row_tournament *row,
			     const struct tournament_standing *standing)
{
	const struct row_entrant *entrant = &row->entrants[standing->entrant];
	json_t *json = json_pack(
		"{s:i, s:i, s:s, s:o, s:o, s:i, s:i, s:i, s:i, s:i, s:I, s:o, "
		"s:I}",
		"rank", (int)standing->rank, "number",
		(int)standing->entrant + 1, "bot", entrant->bot, "version",
		entrant->version == 0 ? json_null()
				      : json_string(entrant->label),
		"points", tournament_points_json(standing->half_points), "wins",
		(int)standing->wins, "draws", (int)standing->draws, "losses",
		(int)standing->losses, "byes", (int)standing->byes, "forfeits",
		(int)standing->forfeits, "total", (json_int_t)standing->total,
		"score", store_web_real(standing->score), "faults",
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
				? tournament_points_json(value)
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
				cells,
				meetings[at] == 0
					? json_null()
					: tournament_points_json(half[at]));
		}
		(void)json_array_append_new(rows, cells);
	}
	free(half);
	free(meetings);
	return rows;
}

json_t *tournament_table_json(const struct row_tournament *row, bool has_cross)
{
	struct tournament *tournament = tournament_build(row, NULL);
	struct tournament_standing *table;
	json_t *standings, *json;

	if (tournament == NULL)
		return NULL;
	table = xcalloc(row->nentrants, sizeof(*table));
	tournament_standings(tournament, table);
	standings = json_array();
	for (size_t i = 0; i < row->nentrants; i++)
		(void)json_array_append_new(standings,
					    standing_json(row, &table[i]));
	/* Without memory a part is missing, and the table says so by that. */
	json = json_object();
	(void)json_object_set_new(
		json, "finished",
		json_boolean(tournament_is_finished(tournament)));
	(void)json_object_set_new(
		json, "undecided",
		json_integer((json_int_t)tournament_undecided(tournament)));
	(void)json_object_set_new(json, "standings", standings);
	if (has_cross && row->rules.group > 1)
		(void)json_object_set_new(
			json, "cross",
			cross_json(tournament, table, row->nentrants));
	free(table);
	tournament_free(tournament);
	return json;
}
