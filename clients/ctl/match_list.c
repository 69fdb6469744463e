/* SPDX-License-Identifier: MIT */
/* match_list.c - which stored matches there are. */
#include <string.h>

#include "clients/ctl/match_view.h"
#include "clients/ctl/table.h"
#include "server/games/game.h"
#include "server/store/record_json.h"

enum { LIST_MAX = 100000 };

/* "crazy 23, digger 4": in the order of the seats. Or "void", and why. */
static void add_outcome(struct table *table, const struct row_match *match)
{
	struct buf text = BUF_INIT(4096);

	if (match->status == ROW_MATCH_VOID) {
		buf_add_text(&text, "void");
		if (match->void_reason[0] != '\0')
			buf_add_format(&text, ": %s", match->void_reason);
		table_add(table, buf_text(&text));
		buf_release(&text);
		return;
	}
	for (unsigned i = 0; i < match->nseats; i++) {
		const struct row_seat *seat = &match->seats[i];

		buf_add_format(&text, "%s%s ", i == 0 ? "" : ", ", seat->bot);
		game_score_format(seat->score, &text);
		if (strcmp(seat->reason, "finished") != 0)
			buf_add_format(&text, " (%s)", seat->reason);
	}
	if (match->is_embargo)
		buf_add_text(&text, " [under embargo]");
	table_add(table, buf_text(&text));
	buf_release(&text);
}

static void print_matches(const struct row_match_list *list)
{
	struct table table;

	table_init(&table);
	table_column(&table, "match", true);
	table_column(&table, "ended (UTC)", false);
	table_column(&table, "ladder", false);
	table_column(&table, "map", false);
	table_column(&table, "seed", true);
	table_column(&table, "bots and scores", false);
	for (size_t i = 0; i < list->nmatches; i++) {
		const struct row_match *match = &list->matches[i];

		table_add_i64(&table, match->id);
		table_add_time(&table, match->ended_us);
		table_add(&table, match->ladder);
		table_add(&table, match->map);
		table_add(&table, match->seed);
		add_outcome(&table, match);
	}
	table_print(&table, stdout);
	table_release(&table);
}

static void print_matches_json(const struct row_match_list *list)
{
	json_t *matches = json_array(), *document;

	for (size_t i = 0; i < list->nmatches; i++)
		(void)json_array_append_new(
			matches, record_match_json(&list->matches[i]));
	document = json_pack("{s:b, s:o}", "ok", 1, "matches", matches);
	ctl_print_json(document);
	json_decref(document);
}

static bool is_bot(const struct row_catalogue *catalogue, const char *name)
{
	for (size_t i = 0; i < catalogue->nbots; i++)
		if (strcmp(catalogue->bots[i].name, name) == 0)
			return true;
	return false;
}

static bool is_ladder(const struct row_catalogue *catalogue, const char *name)
{
	for (size_t i = 0; i < catalogue->nladders; i++)
		if (strcmp(catalogue->ladders[i].name, name) == 0)
			return true;
	return false;
}

static bool is_map(const struct row_catalogue *catalogue, const char *name)
{
	for (size_t i = 0; i < catalogue->nmaps; i++)
		if (strcmp(catalogue->maps[i].name, name) == 0)
			return true;
	return false;
}

static bool is_game(const struct row_catalogue *catalogue, const char *name)
{
	(void)catalogue;
	return game_find(name) != NULL;
}

/*
 * Nothing was found: it is an error when what CALL asks for is not even
 * there, which a mistyped name is. CTL_OK when it is there.
 */
static int check_names(const struct ctl *ctl, const struct ctl_call *call,
		       struct store *store)
{
	static const struct {
		const char *option, *what;
		bool (*is_there)(const struct row_catalogue *catalogue,
				 const char *name);
	} names[] = { { "bot", "bot", is_bot },
		      { "opponent", "bot", is_bot },
		      { "ladder", "ladder", is_ladder },
		      { "map", "map", is_map },
		      { "game", "game", is_game } };
	struct row_catalogue catalogue = { 0 };
	struct store_error error = { "" };
	int status = CTL_OK;

	if (store_catalogue(store, &catalogue, &error) != 0)
		return ctl_fail(ctl, "%s", error.text);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *name = ctl_value(call, names[i].option);

		if (status == CTL_OK && name != NULL &&
		    !names[i].is_there(&catalogue, name))
			status = ctl_fail(ctl,
					  "--%s: '%s': there is no %s of "
					  "that name",
					  names[i].option, name, names[i].what);
	}
	row_catalogue_release(&catalogue);
	return status;
}

int run_match_list(const struct ctl *ctl, const struct ctl_call *call)
{
	int64_t limit = ctl_number(call, "limit", 0);
	struct row_filter filter = {
		.bot = ctl_value(call, "bot"),
		.opponent = ctl_value(call, "opponent"),
		.ladder = ctl_value(call, "ladder"),
		.game = ctl_value(call, "game"),
		.map = ctl_value(call, "map"),
		.seed = ctl_value(call, "seed"),
		.reason = ctl_value(call, "reason"),
		.is_void = ctl_value(call, "void") != NULL,
		.before_id = ctl_number(call, "before", 0),
	};
	struct row_match_list list = { 0 };
	struct store_error error = { "" };
	struct channel channel;
	int status = CTL_OK;

	if (filter.opponent != NULL && filter.bot == NULL)
		return ctl_usage(call, "--opponent needs --bot BOT");
	if (match_time(call, "since", &filter.since_us) != CTL_OK ||
	    match_time(call, "until", &filter.until_us) != CTL_OK)
		return CTL_USAGE;
	if (ctl_value(call, "limit") != NULL && (limit < 1 || limit > LIST_MAX))
		return ctl_usage(call, "--limit: %lld is not 1 to %d",
				 (long long)limit, (int)LIST_MAX);
	if (ctl_value(call, "before") != NULL && filter.before_id < 1)
		return ctl_usage(call, "--before: %lld is no match's ID",
				 (long long)filter.before_id);
	filter.limit = (uint32_t)limit;
	if (channel_open_read(&channel, ctl) != 0)
		return CTL_FAILED;
	if (store_matches(channel.store, &filter, &list, &error) != 0)
		status = ctl_fail(ctl, "%s", error.text);
	else if (list.nmatches == 0)
		status = check_names(ctl, call, channel.store);
	if (status == CTL_OK && ctl->is_json)
		print_matches_json(&list);
	else if (status == CTL_OK && list.nmatches == 0)
		(void)puts("no matches");
	else if (status == CTL_OK)
		print_matches(&list);
	row_match_list_release(&list);
	channel_close(&channel);
	return status;
}
