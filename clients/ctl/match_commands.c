/* SPDX-License-Identifier: MIT */
/* match_commands.c - which matches there are, and how bots fared. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clients/ctl/match_view.h"
#include "clients/ctl/table.h"
#include "server/games/game.h"

enum { LIST_MAX = 100000 };

static void add_score(struct table *table, double score)
{
	struct buf text = BUF_INIT(64);

	game_score_format(score, &text);
	table_add(table, buf_text(&text));
	buf_release(&text);
}

/* ---- match list ---- */

/* "crazy 23, digger 4": in the order of the seats. */
static void add_seats(struct table *table, const struct row_match *match)
{
	struct buf text = BUF_INIT(4096);

	for (unsigned i = 0; i < match->nseats; i++) {
		const struct row_seat *seat = &match->seats[i];

		buf_add_format(&text, "%s%s ", i == 0 ? "" : ", ", seat->bot);
		game_score_format(seat->score, &text);
		if (strcmp(seat->reason, "finished") != 0)
			buf_add_format(&text, " (%s)", seat->reason);
	}
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
		if (match->status == ROW_MATCH_VOID)
			table_add(&table, "void");
		else
			add_seats(&table, match);
	}
	table_print(&table, stdout);
	table_release(&table);
}

static void print_matches_json(const struct row_match_list *list)
{
	json_t *matches = json_array(), *document;

	for (size_t i = 0; i < list->nmatches; i++)
		(void)json_array_append_new(matches,
					    match_json(&list->matches[i]));
	document = json_pack("{s:b, s:o}", "ok", 1, "matches", matches);
	ctl_print_json(document);
	json_decref(document);
}

/* The time of option NAME in UTC; *RET stays when it is not given. */
static int take_time(const struct ctl_call *call, const char *name,
		     int64_t *ret)
{
	static const char *const formats[] = { "%Y-%m-%d", "%Y-%m-%dT%H:%M",
					       "%Y-%m-%dT%H:%M:%S" };
	const char *text = ctl_value(call, name);

	if (text == NULL)
		return CTL_OK;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct tm tm = { 0 };
		const char *end = strptime(text, formats[i], &tm);

		if (end == NULL || *end != '\0')
			continue;
		*ret = (int64_t)timegm(&tm) * 1000000;
		return CTL_OK;
	}
	return ctl_usage(call,
			 "--%s: '%s' is no time like 2026-01-31 or "
			 "2026-01-31T12:30:00",
			 name, text);
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

static int run_match_list(const struct ctl *ctl, const struct ctl_call *call)
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
		.before_id = ctl_number(call, "before", 0),
	};
	struct row_match_list list = { 0 };
	struct store_error error = { "" };
	struct channel channel;
	int status = CTL_OK;

	if (filter.opponent != NULL && filter.bot == NULL)
		return ctl_usage(call, "--opponent needs --bot BOT");
	if (take_time(call, "since", &filter.since_us) != CTL_OK ||
	    take_time(call, "until", &filter.until_us) != CTL_OK)
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

/* ---- match show ---- */

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
		add_score(&table, seat->score);
		for (unsigned k = 0; game != NULL && k < game->ncolumns; k++)
			add_score(&table,
				  k < seat->ncolumns ? seat->columns[k] : 0);
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
	if (match->stall_us > 0)
		(void)printf("the server itself lost %.1f ms, credited\n",
			     (double)match->stall_us / 1000);
	buf_release(&text);
	buf_release(&shown);
	print_seats(match);
}

static int run_match_show(const struct ctl *ctl, const struct ctl_call *call)
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
					     match_json(&match));

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

	table_init(&table);
	table_column(&table, "game", false);
	table_column(&table, "bot", false);
	table_column(&table, "matches", true);
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
		table_add(&table, mean);
		add_score(&table, row->best_score);
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
			"{s:s, s:s, s:I, s:o, s:o}", "game", row->game, "bot",
			row->bot, "matches", (json_int_t)row->matches,
			"mean_score", match_real(row->mean_score), "best_score",
			match_real(row->best_score));

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

static int run_summary(const struct ctl *ctl, const struct ctl_call *call)
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

/* ---- status, drain ---- */

static void print_members(const char *prefix, json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value) {
		struct buf text = BUF_INIT(65536), shown = BUF_INIT(262144);
		char *dump = NULL;

		if (json_is_string(value)) {
			buf_add_text(&text, json_string_value(value));
		} else {
			dump = json_dumps(value,
					  JSON_COMPACT | JSON_ENCODE_ANY);
			buf_add_text(&text, dump == NULL ? "?" : dump);
		}
		text_escape(buf_text(&text), text.len, &shown);
		(void)printf("%s%-18s %s\n", prefix, key, buf_text(&shown));
		free(dump);
		buf_release(&text);
		buf_release(&shown);
	}
}

/* The reply to REQUEST, which it takes; NULL after it was told why. */
static json_t *ask(struct channel *channel, const struct ctl *ctl,
		   json_t *request)
{
	json_t *reply = channel_send(channel, ctl, request);
	const json_t *ok = json_object_get(reply, "ok");

	json_decref(request);
	channel_close(channel);
	if (reply != NULL && !json_is_true(ok)) {
		const char *error =
			json_string_value(json_object_get(reply, "error"));

		(void)ctl_fail(ctl, "%s", error == NULL ? "refused" : error);
		json_decref(reply);
		return NULL;
	}
	return reply;
}

static int run_status(const struct ctl *ctl, const struct ctl_call *call)
{
	struct channel channel;
	json_t *reply;
	bool is_running = channel_open_socket(&channel, ctl) == 0;

	(void)call;
	if (!is_running && channel_open_read(&channel, ctl) != 0)
		return CTL_FAILED;
	reply = ask(&channel, ctl, json_pack("{s:s}", "command", "status"));
	if (reply == NULL)
		return CTL_FAILED;
	(void)json_object_set_new(reply, "running", json_boolean(is_running));
	if (ctl->is_json) {
		ctl_print_json(reply);
	} else {
		(void)printf("hilld %s\n",
			     is_running ? "runs" : "does not run");
		print_members("  ", json_object_get(reply, "server"));
		(void)printf("database\n");
		print_members("  ", json_object_get(reply, "status"));
	}
	json_decref(reply);
	return CTL_OK;
}

/* What only a running hilld does. CTL_OK, or CTL_FAILED after ctl_fail(). */
static int open_hilld(struct channel *channel, const struct ctl *ctl)
{
	int rc = channel_open_socket(channel, ctl);
	char *path;

	if (rc == 0)
		return CTL_OK;
	path = ctl_socket_path(ctl);
	(void)ctl_fail(ctl, "hilld cannot be reached at %s: %s", path,
		       strerror(-rc));
	free(path);
	return CTL_FAILED;
}

static int run_rematch(const struct ctl *ctl, const struct ctl_call *call)
{
	struct channel channel;
	json_t *reply;
	int64_t id = 0;

	if (match_parse(call, &id) != CTL_OK)
		return CTL_USAGE;
	if (open_hilld(&channel, ctl) != CTL_OK)
		return CTL_FAILED;
	reply = ask(&channel, ctl,
		    json_pack("{s:s, s:I}", "command", "rematch", "id",
			      (json_int_t)id));
	if (reply == NULL)
		return CTL_FAILED;
	if (ctl->is_json)
		ctl_print_json(reply);
	else
		(void)printf(
			"match %lld is played again as soon as its bots "
			"are free on %s\n",
			(long long)id,
			json_string_value(json_object_get(reply, "ladder")));
	json_decref(reply);
	return CTL_OK;
}

static int run_drain(const struct ctl *ctl, const struct ctl_call *call)
{
	struct channel channel;
	json_t *reply;

	(void)call;
	if (open_hilld(&channel, ctl) != CTL_OK)
		return CTL_FAILED;
	reply = ask(&channel, ctl, json_pack("{s:s}", "command", "drain"));
	if (reply == NULL)
		return CTL_FAILED;
	if (ctl->is_json)
		ctl_print_json(reply);
	else
		(void)puts("no new matches; hilld ends when those that run are "
			   "over");
	json_decref(reply);
	return CTL_OK;
}

/* ---- the table ---- */

#define OPTION(name, value, kind, help)              \
	{                                            \
		name, value, kind, false, NULL, help \
	}

/* clang-format off */
static const struct ctl_option list_options[] = {
	OPTION("bot", "BOT", CTL_TEXT, "that it took part in"),
	OPTION("opponent", "BOT", CTL_TEXT, "with --bot: that this one took part in as well"),
	OPTION("since", "TIME", CTL_TEXT, "that ended then or later: 2026-01-31, 2026-01-31T12:30:00 (UTC)"),
	OPTION("until", "TIME", CTL_TEXT, "that ended before"),
	OPTION("ladder", "LADDER", CTL_TEXT, "that were played on it"),
	OPTION("game", "GAME", CTL_TEXT, "of that game"),
	OPTION("map", "MAP", CTL_TEXT, "on that map"),
	OPTION("seed", "SEED", CTL_TEXT, "of that seed"),
	OPTION("reason", "REASON", CTL_TEXT, "where a seat ended so: finished, late, gone, suspended, invalid"),
	OPTION("limit", "N", CTL_INT, "at most so many (default 50)"),
	OPTION("before", "ID", CTL_INT, "only older ones: the next page"),
	{ .name = NULL },
};

static const struct ctl_option replay_options[] = {
	OPTION("seed", "SEED", CTL_TEXT, "instead of the ID: the newest match of that seed"),
	OPTION("ladder", "LADDER", CTL_TEXT, "with --seed: on that ladder"),
	OPTION("seat", "N", CTL_INT, "only what the program in seat N saw and said"),
	OPTION("saw", NULL, CTL_TRUE, "with --seat: its standard input, byte for byte"),
	OPTION("said", NULL, CTL_TRUE, "with --seat: its replies, byte for byte"),
	{ .name = NULL },
};

static const struct ctl_option export_options[] = {
	OPTION("frames", "DIR", CTL_TEXT, "pictures of the match into this folder"),
	OPTION("animation", "FILE", CTL_TEXT, "one animated PNG of it"),
	OPTION("grids", "FILE", CTL_TEXT, "its grids as text, as the original's run.log"),
	OPTION("every", "N", CTL_INT, "only each N-th turn or move, and the last"),
	OPTION("max-frames", "N", CTL_INT, "so many pictures at most (default 500)"),
	OPTION("scale", "N", CTL_INT, "so many pixels a cell, across and down"),
	OPTION("fps", "N", CTL_INT, "pictures a second of the animation (default 20)"),
	{ .name = NULL },
};

static const struct ctl_option verify_options[] = {
	OPTION("all", NULL, CTL_TRUE, "every match of the database"),
	OPTION("jobs", "N", CTL_INT, "so many at once, also -j N (default 1)"),
	{ .name = NULL },
};

static const char replay_details[] =
	"Plays the match again from nothing but its seed, map and transcript. A line\n"
	"of the output is: the milliseconds that the reply took, where the server\n"
	"noted them; the seat; `<` for what was sent to the program, `>` for what it\n"
	"said, `!` for what the server made of it; the line. With --json: an object\n"
	"with the match and an array `lines` of {seat, dir (saw, said, note), text,\n"
	"request, ms, kind}.\n";

static const char verify_details[] =
	"Plays stored matches again and compares scores, ranks, reasons, the digest of\n"
	"every line that was sent, and the engine's version. A match that comes out\n"
	"otherwise is told with the requests between which it parts. Exit status 0\n"
	"only when all are as they are stored.\n";

static const char rematch_details[] =
	"Same map, parameters, seeds, bots and seats; the limits are those that the\n"
	"ladder has now. All its bots must wait on that ladder, be it that they play\n"
	"just now: it starts as soon as they are free, before other matches of theirs\n"
	"there. When one of them leaves before, it is dropped, and the log says so. It\n"
	"is stored like any other match; its seed finds it: match list --seed.\n";

static const char completion_details[] =
	"SHELL is bash or zsh: source <(hillctl completion bash)\n"
	"It knows hillctl's commands and options; those of hilld, hill-run and\n"
	"hill-bridge it takes from their --help.\n";

const struct ctl_command ctl_match_commands[] = {
	{ "match list", "", 0, 0, NULL, list_options, "stored matches, the newest first", NULL, NULL, NULL, run_match_list },
	{ "match show", "ID", 1, 1, NULL, ctl_no_options, "one match and its seats", NULL, NULL, NULL, run_match_show },
	{ "replay", "[ID]", 0, 1, NULL, replay_options, "the original lines of a match, played again", replay_details, NULL, NULL, run_replay },
	{ "verify", "[ID]", 0, 1, NULL, verify_options, "prove that stored matches come out as stored", verify_details, NULL, NULL, run_verify },
	{ "export", "ID", 1, 1, NULL, export_options, "everything about a match, as JSON, or as pictures", export_details, NULL, NULL, run_export },
	{ "rematch", "ID", 1, 1, NULL, ctl_no_options, "let hilld play a match once more, unrated", rematch_details, NULL, NULL, run_rematch },
	{ "summary", "", 0, 0, NULL, ctl_no_options, "by bot and game: matches, scores, wins", NULL, NULL, NULL, run_summary },
	{ "status", "", 0, 0, NULL, ctl_no_options, "how hilld and its database do", NULL, NULL, NULL, run_status },
	{ "completion", "SHELL", 1, 1, NULL, ctl_no_options, "a shell's completion of hill's programs", completion_details, NULL, NULL, run_completion },
	{ "drain", "", 0, 0, NULL, ctl_no_options, "let hilld finish what runs, and end", NULL, NULL, NULL, run_drain },
	{ .name = NULL },
};
/* clang-format on */
