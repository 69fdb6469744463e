/* SPDX-License-Identifier: MIT */
/* moderate_commands.c - a word to everybody; matches that must not count. */
#include <string.h>

#include "clients/ctl/admin_commands.h"
#include "clients/ctl/match_view.h"
#include "clients/ctl/table.h"

/* "90", "90s", "15m", "2h", "7d" in seconds. */
static bool parse_duration(const char *text, int64_t *ret)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	char number[24];
	size_t len = strlen(text);
	int64_t factor = 1;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && len > 0; i++)
		if (text[len - 1] == units[i].unit) {
			factor = units[i].seconds;
			len--;
			break;
		}
	if (len == 0 || len >= sizeof(number))
		return false;
	memcpy(number, text, len);
	number[len] = '\0';
	return ctl_parse_number(number, ret) && *ret >= 1 &&
	       !__builtin_mul_overflow(*ret, factor, ret);
}

/* ---- announce ---- */

static int run_announce(const struct ctl *ctl, const struct ctl_call *call)
{
	const char *duration = ctl_value(call, "for");
	json_t *request, *reply;
	int64_t for_s = 0;

	if (duration != NULL && !parse_duration(duration, &for_s))
		return ctl_usage(call,
				 "--for: '%s' is no time like 90s, 15m, 2h or "
				 "7d",
				 duration);
	request = make_request(call);
	if (request == NULL)
		return CTL_USAGE;
	(void)json_object_set_new(request, "command",
				  json_string("announce add"));
	if (duration != NULL)
		(void)json_object_set_new(request, "for_s",
					  json_integer(for_s));
	reply = carry_out(ctl, call, NULL, request);
	if (reply == NULL)
		return CTL_FAILED;
	if (ctl->is_json)
		ctl_print_json(reply);
	else
		(void)printf(
			"announcement %lld: made\n",
			(long long)json_integer_value(json_object_get(
				json_object_get(reply, "announcement"), "id")));
	json_decref(reply);
	return CTL_OK;
}

/* ---- match void, match unvoid ---- */

/* The request of CALL, ids and times in it; NULL after it was told why. */
static json_t *void_request(const struct ctl_call *call)
{
	static const char *const times[][2] = { { "since", "since_us" },
						{ "until", "until_us" } };
	json_t *request = make_request(call), *ids;

	if (request == NULL)
		return NULL;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		int64_t at = INT64_MIN;

		if (match_time(call, times[i][0], &at) != CTL_OK)
			goto err;
		if (at != INT64_MIN)
			(void)json_object_set_new(request, times[i][1],
						  json_integer(at));
	}
	if (call->nargs == 0)
		return request;
	ids = json_array();
	(void)json_object_set_new(request, "ids", ids);
	for (unsigned i = 0; i < call->nargs; i++) {
		int64_t id;

		if (!ctl_parse_number(call->args[i], &id) || id < 1) {
			(void)ctl_usage(call, "'%s' is no match's ID",
					call->args[i]);
			goto err;
		}
		(void)json_array_append_new(ids, json_integer(id));
	}
	return request;
err:
	json_decref(request);
	return NULL;
}

static void print_touched(const json_t *matches)
{
	struct table table;

	table_init(&table);
	table_column(&table, "match", true);
	table_column(&table, "ended (UTC)", false);
	table_column(&table, "ladder", false);
	table_column(&table, "map", false);
	table_column(&table, "bots", false);
	for (size_t i = 0; i < json_array_size(matches); i++) {
		const json_t *row = json_array_get(matches, i);

		table_add_i64(&table,
			      json_integer_value(json_object_get(row, "id")));
		table_add_time(&table, json_integer_value(json_object_get(
					       row, "ended_us")));
		table_add(&table,
			  json_string_value(json_object_get(row, "ladder")));
		table_add(&table,
			  json_string_value(json_object_get(row, "map")));
		table_add(&table,
			  json_string_value(json_object_get(row, "bots")));
	}
	table_print(&table, stdout);
	table_release(&table);
}

static void print_tournaments(const json_t *tournaments, bool is_void)
{
	for (size_t i = 0; i < json_array_size(tournaments); i++) {
		const json_t *row = json_array_get(tournaments, i);
		const char *state =
			json_string_value(json_object_get(row, "state"));
		const char *what = "its table counts them again";

		if (is_void)
			what = strcmp(state, "running") == 0
				       ? "it plays them again"
				       : "it is over: they stay undecided";
		(void)printf("tournament %s: %s\n",
			     json_string_value(json_object_get(row, "name")),
			     what);
	}
}

static void print_open_rounds(const json_t *rounds, bool is_void)
{
	for (size_t i = 0; i < json_array_size(rounds); i++) {
		const json_t *row = json_array_get(rounds, i);
		const char *kind =
			json_string_value(json_object_get(row, "kind"));
		const char *what = "when it closes they count";

		if (is_void)
			what = strcmp(kind, "set") == 0
				       ? "a set that is not whole is not rated"
				       : "when it closes it is rated without "
					 "them";
		(void)printf("round %lld of %s is still open, and nothing of "
			     "it rated: %s\n",
			     (long long)json_integer_value(
				     json_object_get(row, "id")),
			     json_string_value(json_object_get(row, "ladder")),
			     what);
	}
}

static int run_void(const struct ctl *ctl, const struct ctl_call *call)
{
	bool is_void = strcmp(call->command->name, "match void") == 0;
	bool is_dry = ctl_value(call, "dry-run") != NULL;
	json_t *request = void_request(call), *reply;

	if (request == NULL)
		return CTL_USAGE;
	reply = carry_out(ctl, call, NULL, request);
	if (reply == NULL)
		return CTL_FAILED;
	if (ctl->is_json) {
		ctl_print_json(reply);
		json_decref(reply);
		return CTL_OK;
	}
	if (is_dry)
		print_touched(json_object_get(reply, "matches"));
	print_tournaments(json_object_get(reply, "tournaments"), is_void);
	print_open_rounds(json_object_get(reply, "open_rounds"), is_void);
	(void)printf(
		"matches that %s%s: %lld; ratings that change%s: %lld\n",
		is_dry ? "would " : "",
		is_void ? (is_dry ? "become void" : "are void now")
			: (is_dry ? "count again" : "count again now"),
		(long long)json_integer_value(json_object_get(reply, "count")),
		is_dry ? "" : "d",
		(long long)json_integer_value(
			json_object_get(reply, "ratings")));
	json_decref(reply);
	return CTL_OK;
}

/* ---- the table ---- */

#define FIELD(name, value, kind, field, help)         \
	{                                             \
		name, value, kind, false, field, help \
	}

/* clang-format off */
static const struct ctl_option announce_options[] = {
	FIELD("for", "DURATION", CTL_TEXT, NULL, "90s, 15m, 2h, 7d (default: until it is dropped)"),
	{ .name = NULL },
};

static const struct ctl_column announce_columns[] = {
	{ "id", "id", CTL_AS_NUMBER }, { "since (UTC)", "at_us", CTL_AS_TIME },
	{ "until (UTC)", "until_us", CTL_AS_TIME }, { "text", "text", CTL_AS_TEXT },
	{ .title = NULL },
};

static const struct ctl_option void_options[] = {
	{ "reason", "TEXT", CTL_TEXT, true, "reason", "why; people see it at the match" },
	FIELD("dry-run", NULL, CTL_TRUE, "dry_run", "change nothing; list them, and how many ratings change"),
	FIELD("bot", "BOT", CTL_TEXT, "bot", "in place of IDs: that it took part in"),
	FIELD("version", "VERSION", CTL_TEXT, "version", "with --bot: as this version"),
	FIELD("opponent", "BOT", CTL_TEXT, "opponent", "with --bot: that this one took part in as well"),
	FIELD("ladder", "LADDER", CTL_TEXT, "ladder", "that were played on it"),
	FIELD("map", "MAP", CTL_TEXT, "map", "on that map"),
	FIELD("ended", "HOW", CTL_TEXT, "ended", "where a seat ended so: finished, late, gone, suspended, invalid"),
	FIELD("since", "TIME", CTL_TEXT, NULL, "that ended then or later: 2026-01-31, 2026-01-31T12:30:00 (UTC)"),
	FIELD("until", "TIME", CTL_TEXT, NULL, "that ended before"),
	{ .name = NULL },
};

static const char void_details[] =
	"The matches keep all that was played, and count for nothing: ratings of their\n"
	"ladders are computed again from the first such round on, each without them;\n"
	"of a shared game, the whole set of such a match drops out. Rounds keep their\n"
	"numbers. A tournament that runs plays such a match again; in one that is over\n"
	"it stays undecided, and the table is made of the rest. A round that is still open\n"
	"has rated nothing, so no rating changes yet; it is named. On a ladder with seeds in\n"
	"order the bot plays that instance again after hilld's next start.\n"
	"Rating all rounds since an old match again takes about half a minute for a million\n"
	"matches, a filter some seconds more; so does --dry-run. Results wait so long.\n";

static const char unvoid_details[] =
	"Only matches that match void has made so, not those that the server did. Where a\n"
	"tournament has played a match again meanwhile, the new one stays in its table.\n";

static const char announce_details[] =
	"Each connection is told it once, as @notice: now, or after a match for which it\n"
	"wants to hear nothing, or when it logs in. The API shows it as well. A text that\n"
	"is the name of a command stands behind --: hillctl announce -- list\n";

const struct ctl_command ctl_moderate_commands[] = {
	{ "announce", "TEXT", 1, 1, "text", announce_options, "say one line to everybody", announce_details, NULL, NULL, run_announce },
	{ "announce list", "", 0, 0, NULL, ctl_no_options, "what is announced now", NULL, "announcements", announce_columns, run_list },
	{ "match void", "[ID...]", 0, 1000, NULL, void_options, "matches that must not count", void_details, NULL, NULL, run_void },
	{ "match unvoid", "[ID...]", 0, 1000, NULL, void_options, "matches that count again", unvoid_details, NULL, NULL, run_void },
	{ "announce drop", "ID", 1, 1, "id", ctl_no_options, "announce it no more", NULL, NULL, NULL, run_change },
	{ .name = NULL },
};
/* clang-format on */
