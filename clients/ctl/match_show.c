/* SPDX-License-Identifier: MIT */
/* match_show.c - one stored match, and how bots fared in all. */
#include <string.h>

#include "clients/ctl/match_view.h"
#include "clients/ctl/table.h"
#include "server/games/game.h"
#include "server/store/record_json.h"

static void print_seats(const struct row_match *match)
{
	const struct game *game = game_find(match->game);
	struct table table;

	table_init(&table);
	table_column(&table, "seat", true);
	table_column(&table, "bot", false);
	table_column(&table, "rank", true);
	table_column(&table, "score", true);
	for (unsigned i = 0; game != NULL && i < game->ncolumns; i++)
		table_column(&table, game->columns[i], true);
	table_column(&table, "reason", false);
	table_column(&table, "requests", true);
	table_column(&table, "late", true);
	table_column(&table, "invalid", true);
	table_column(&table, "banked", true);
	table_column(&table, "slowest ms", true);
	table_column(&table, "lag ms", true);
	table_column(&table, "program", false);
	for (unsigned i = 0; i < match->nseats; i++) {
		const struct row_seat *seat = &match->seats[i];
		char text[32];

		table_add_i64(&table, i + 1);
		table_add(&table, seat->bot);
		table_add_i64(&table, seat->rank);
		match_add_score(&table, seat->score);
		for (unsigned k = 0; game != NULL && k < game->ncolumns; k++)
			match_add_score(&table, k < seat->ncolumns
							? seat->columns[k]
							: 0);
		table_add(&table, seat->reason);
		table_add_i64(&table, seat->requests);
		table_add_i64(&table, seat->late);
		table_add_i64(&table, seat->invalid);
		table_add_i64(&table, seat->banked);
		(void)snprintf(text, sizeof(text), "%.1f",
			       (double)seat->max_us / 1000);
		table_add(&table, text);
		(void)snprintf(text, sizeof(text), "%.1f",
			       (double)seat->lag_us / 1000);
		table_add(&table, text);
		table_add(&table, seat->how);
	}
	table_print(&table, stdout);
	table_release(&table);
}

static void print_match(const struct row_match *match)
{
	struct buf text = BUF_INIT(8192), shown = BUF_INIT(32768);

	buf_add_format(&text, "match %lld on %s: %s, map %s",
		       (long long)match->id, match->ladder, match->game,
		       match->map);
	if (match->params[0] != '\0')
		buf_add_format(&text, ", %s", match->params);
	text_escape(buf_text(&text), text.len, &shown);
	(void)puts(buf_text(&shown));
	buf_clear(&text);
	text_time(match->started_us, &text);
	buf_add_text(&text, " to ");
	text_time(match->ended_us, &text);
	(void)printf("%s UTC, seed %s, bot seed %s, engine version %u\n",
		     buf_text(&text), match->seed, match->bot_seed,
		     match->engine_version);
	(void)printf("turn %u ms, first one %u more, bank %u, lag to %u; %s\n",
		     match->turn_ms, match->init_ms, match->bank_ms,
		     match->lag_cap_ms, match->is_rated ? "rated" : "unrated");
	buf_clear(&shown);
	text_escape(match->void_reason, strlen(match->void_reason), &shown);
	if (match->status == ROW_MATCH_VOID)
		(void)printf("void, counts for nothing: %s\n",
			     buf_text(&shown));
	if (match->is_embargo)
		(void)puts("under embargo: nobody else is shown this match");
	if (match->stall_us > 0)
		(void)printf("the server itself lost %.1f ms, credited\n",
			     (double)match->stall_us / 1000);
	buf_release(&text);
	buf_release(&shown);
	print_seats(match);
}

int run_match_show(const struct ctl *ctl, const struct ctl_call *call)
{
	struct store_error error = { "" };
	struct channel channel;
	struct row_match match;
	int64_t id;
	int status;

	if (match_parse(call, &id) != CTL_OK)
		return CTL_USAGE;
	if (channel_open_read(&channel, ctl) != 0)
		return CTL_FAILED;
	status = store_match(channel.store, id, &match, &error) == 0
			 ? CTL_OK
			 : ctl_fail(ctl, "%s", error.text);
	channel_close(&channel);
	if (status == CTL_OK && ctl->is_json) {
		json_t *document = json_pack("{s:b, s:o}", "ok", 1, "match",
					     record_match_json(&match));

		ctl_print_json(document);
		json_decref(document);
	} else if (status == CTL_OK) {
		print_match(&match);
	}
	return status;
}

/* ---- summary ---- */

static void print_summary(const struct row_summary *summary)
{
	struct table table;
	bool has_embargo = false;

	for (size_t i = 0; i < summary->nstandings; i++)
		has_embargo |= summary->standings[i].embargoed > 0;
	table_init(&table);
	table_column(&table, "game", false);
	table_column(&table, "bot", false);
	table_column(&table, "matches", true);
	if (has_embargo)
		table_column(&table, "under embargo", true);
	table_column(&table, "mean score", true);
	table_column(&table, "best score", true);
	table_column(&table, "wins", true);
	for (size_t i = 0; i < summary->nstandings; i++) {
		const struct row_standing *row = &summary->standings[i];
		char mean[40];

		(void)snprintf(mean, sizeof(mean), "%.2f", row->mean_score);
		table_add(&table, row->game);
		table_add(&table, row->bot);
		table_add_i64(&table, row->matches);
		if (has_embargo)
			table_add_i64(&table, row->embargoed);
		table_add(&table, mean);
		match_add_score(&table, row->best_score);
		if (row->is_shared)
			table_add_i64(&table, row->wins);
		else
			table_add(&table, "-");
	}
	table_print(&table, stdout);
	table_release(&table);
}

static void print_summary_json(const struct row_summary *summary)
{
	json_t *standings = json_array(), *document;

	for (size_t i = 0; i < summary->nstandings; i++) {
		const struct row_standing *row = &summary->standings[i];
		json_t *json = json_pack(
			"{s:s, s:s, s:I, s:I, s:o, s:o}", "game", row->game,
			"bot", row->bot, "matches", (json_int_t)row->matches,
			"embargoed", (json_int_t)row->embargoed, "mean_score",
			record_real(row->mean_score), "best_score",
			record_real(row->best_score));

		/* Alone in its matches a bot wins nothing. */
		(void)json_object_set_new(
			json, "wins",
			row->is_shared ? json_integer(row->wins) : json_null());
		(void)json_array_append_new(standings, json);
	}
	document = json_pack("{s:b, s:o}", "ok", 1, "summary", standings);
	ctl_print_json(document);
	json_decref(document);
}

int run_summary(const struct ctl *ctl, const struct ctl_call *call)
{
	struct row_summary summary = { 0 };
	struct store_error error = { "" };
	struct channel channel;
	int status = CTL_OK;

	(void)call;
	if (channel_open_read(&channel, ctl) != 0)
		return CTL_FAILED;
	if (store_summary(channel.store, &summary, &error) != 0)
		status = ctl_fail(ctl, "%s", error.text);
	else if (ctl->is_json)
		print_summary_json(&summary);
	else
		print_summary(&summary);
	row_summary_release(&summary);
	channel_close(&channel);
	return status;
}
