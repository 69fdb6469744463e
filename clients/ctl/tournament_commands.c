/* SPDX-License-Identifier: MIT */
/* tournament_commands.c - the commands for tournaments and deadlines. */
#include <string.h>

#include "clients/ctl/admin_commands.h"
#include "clients/ctl/table.h"
#include "clients/ctl/tournament_view.h"

static int view(const struct ctl *ctl, const struct ctl_call *call,
		void (*print)(const json_t *reply))
{
	json_t *request = make_request(call), *reply;

	if (request == NULL)
		return CTL_USAGE;
	reply = ask_file(ctl, request);
	if (reply == NULL)
		return CTL_FAILED;
	if (ctl->is_json)
		ctl_print_json(reply);
	else
		print(reply);
	json_decref(reply);
	return CTL_OK;
}

static int run_show(const struct ctl *ctl, const struct ctl_call *call)
{
	return view(ctl, call, tournament_print_show);
}

static int run_table(const struct ctl *ctl, const struct ctl_call *call)
{
	return view(ctl, call, tournament_print_table);
}

static int run_export(const struct ctl *ctl, const struct ctl_call *call)
{
	return view(ctl, call, tournament_print_csv);
}

/*
 * What the file says, and over it the options. NULL after it was told why,
 * with *RET_STATUS.
 */
static json_t *read_plan(const struct ctl *ctl, const struct ctl_call *call,
			 int *ret_status)
{
	const char *path = call->nargs == 0 ? NULL : call->args[0];
	json_t *request = make_request(call), *file;
	json_error_t where;

	*ret_status = CTL_USAGE;
	if (request == NULL || path == NULL)
		return request;
	*ret_status = CTL_FAILED;
	file = strcmp(path, "-") == 0
		       ? json_loadf(stdin, JSON_REJECT_DUPLICATES, &where)
		       : json_load_file(path, JSON_REJECT_DUPLICATES, &where);
	if (!json_is_object(file) || json_object_get(file, "command") != NULL) {
		(void)ctl_fail(ctl, "%s: %s", path,
			       file == NULL ? where.text
					    : "is no tournament: it must be a "
					      "JSON object without a command");
		json_decref(file);
		json_decref(request);
		return NULL;
	}
	(void)json_object_update(file, request);
	json_decref(request);
	return file;
}

/* How one that was made begins: without a time only by command. */
static void print_next(const struct ctl *ctl, const char *name,
		       const json_t *tournament)
{
	bool is_default = strcmp(ctl->database, CTL_DATABASE) == 0;

	if (json_is_integer(json_object_get(tournament, "starts_us"))) {
		(void)printf("it starts by itself then, where hilld runs\n");
		return;
	}
	(void)printf("start it with: hillctl %s%s%stournament start %s\n",
		     is_default ? "" : "--database ",
		     is_default ? "" : ctl->database, is_default ? "" : " ",
		     name);
}

static int run_create(const struct ctl *ctl, const struct ctl_call *call)
{
	bool is_dry = ctl_value(call, "dry-run") != NULL;
	json_t *request, *reply;
	const json_t *tournament;
	const char *name;
	int status;

	request = read_plan(ctl, call, &status);
	if (request == NULL)
		return status;
	if (is_dry) {
		(void)json_object_set_new(request, "command",
					  json_string("tournament plan"));
		reply = ask_file(ctl, request);
	} else {
		reply = carry_out(ctl, call, NULL, request);
	}
	if (reply == NULL)
		return CTL_FAILED;
	if (ctl->is_json) {
		ctl_print_json(reply);
	} else {
		tournament = json_object_get(reply, "tournament");
		name = json_string_value(json_object_get(tournament, "name"));
		(void)printf("tournament %s: %s\n", name,
			     is_dry ? "would be made" : "made");
		tournament_print_plan(reply);
		if (is_dry) {
			(void)printf("\n");
			tournament_print_matches(
				json_object_get(reply, "matches"));
		} else {
			print_next(ctl, name, tournament);
		}
	}
	json_decref(reply);
	return CTL_OK;
}

static int run_start(const struct ctl *ctl, const struct ctl_call *call)
{
	json_t *request = make_request(call), *reply;

	if (request == NULL)
		return CTL_USAGE;
	reply = carry_out(ctl, call, NULL, request);
	if (reply == NULL)
		return CTL_FAILED;
	if (ctl->is_json) {
		ctl_print_json(reply);
	} else {
		(void)printf("tournament %s: started\n", call->args[0]);
		tournament_print_without_version(reply);
	}
	json_decref(reply);
	return CTL_OK;
}

static int run_withdraw(const struct ctl *ctl, const struct ctl_call *call)
{
	json_t *request = make_request(call), *reply;

	if (request == NULL)
		return CTL_USAGE;
	if (json_object_set_new(request, "bot", json_string(call->args[1])) !=
	    0) {
		json_decref(request);
		return ctl_usage(call, "the bot's name must be UTF-8");
	}
	reply = carry_out(ctl, call, NULL, request);
	if (reply == NULL)
		return CTL_FAILED;
	if (ctl->is_json)
		ctl_print_json(reply);
	else
		(void)printf("tournament %s: %s is out\n", call->args[0],
			     call->args[1]);
	json_decref(reply);
	return CTL_OK;
}

static int run_deadline(const struct ctl *ctl, const struct ctl_call *call)
{
	struct buf text = BUF_INIT(64);
	json_t *request = make_request(call), *reply;
	int64_t at;

	if (request == NULL)
		return CTL_USAGE;
	if (json_object_set_new(request, "time", json_string(call->args[1])) !=
	    0) {
		json_decref(request);
		return ctl_usage(call, "the time must be UTF-8");
	}
	reply = carry_out(ctl, call, NULL, request);
	if (reply == NULL)
		return CTL_FAILED;
	at = json_integer_value(json_object_get(reply, "deadline_us"));
	text_time(at, &text);
	if (ctl->is_json)
		ctl_print_json(reply);
	else if (at == 0)
		(void)printf("ladder %s: no deadline\n", call->args[0]);
	else
		(void)printf("ladder %s: deadline %s UTC\n", call->args[0],
			     buf_text(&text));
	buf_release(&text);
	json_decref(reply);
	return CTL_OK;
}

#define FIELD(name, value, kind, field, help)         \
	{                                             \
		name, value, kind, false, field, help \
	}

/* clang-format off */
static const struct ctl_option create_options[] = {
	FIELD("name", "NAME", CTL_TEXT, "name", "what it is called"),
	FIELD("ladder", "LADDER", CTL_TEXT, "ladder", "game, maps and limits are this ladder's"),
	FIELD("format", "FORMAT", CTL_TEXT, "format", "contest, round-robin, swiss, single-elimination, double-elimination"),
	FIELD("entrants", "BOT[,BOT...]", CTL_LIST, "entrants", "the best first (default: all with matches for the ladder, unrated ones and tournaments aside, but the house)"),
	FIELD("draw", "HOW", CTL_TEXT, "draw", "who is seeded where: listed (default), rating or random"),
	FIELD("draw-seed", "N", CTL_INT, "draw_seed", "of the draw and the instances (default: drawn)"),
	FIELD("rounds", "N", CTL_INT, "rounds", "of a Swiss; instances of a contest (default: each map with each seed)"),
	FIELD("sets", "N", CTL_INT, "sets", "how often a pair meets; in Swiss and eliminations: best of so many"),
	FIELD("group", "N", CTL_INT, "group", "entrants of a pairing in a game of one seat (default 2)"),
	FIELD("rotate", NULL, CTL_TRUE, "rotate", "each set once for each rotation of the seats"),
	FIELD("third", NULL, CTL_TRUE, "third", "a pairing for third place"),
	FIELD("seeds", "A..B", CTL_TEXT, "seeds", "of the instances, in order; or random (default)"),
	FIELD("maps", "N", CTL_INT, "maps", "made where the ladder draws its maps (default 5)"),
	FIELD("starts", "TIME", CTL_TEXT, "starts", "UTC, as 2026-01-31T12:30 (default: by tournament start)"),
	FIELD("deadline", "TIME", CTL_TEXT, "deadline", "when entrants' versions are pinned (default: at the start)"),
	FIELD("grace-s", "N", CTL_INT, "grace_s", "seconds that others wait for an absent bot (default 60)"),
	FIELD("embargo", NULL, CTL_TRUE, "embargo", "nothing of a result is shown until tournament reveal"),
	FIELD("dry-run", NULL, CTL_TRUE, NULL, "make nothing; print what it comes to, and the first matches"),
	{ .name = NULL },
};

static const struct ctl_column list_columns[] = {
	{ "id", "id", CTL_AS_NUMBER }, { "tournament", "name", CTL_AS_TEXT },
	{ "ladder", "ladder", CTL_AS_TEXT }, { "format", "format", CTL_AS_TEXT },
	{ "entrants", "entrants", CTL_AS_NUMBER }, { "state", "state", CTL_AS_TEXT },
	{ "embargo", "under_embargo", CTL_AS_FLAG }, { "starts (UTC)", "starts_us", CTL_AS_TIME },
	{ "started (UTC)", "started_us", CTL_AS_TIME }, { "ended (UTC)", "ended_us", CTL_AS_TIME },
	{ .title = NULL },
};

static const char create_details[] =
	"FILE is a JSON object with the options' names as keys, '_' for '-', lists as\n"
	"arrays and true for those without a value; - is standard input. Options on the\n"
	"command line go before it. doc/tournaments.md describes formats and tie-breaks.\n";

static const char export_details[] =
	"CSV for lists of grades: external_id, owner, bot, version, rank, points, total,\n"
	"score, faults, forfeits. External ids are not public: mind who gets the file.\n";

#define NAMED(name, help, details, run) \
	{ name, "NAME", 1, 1, "name", ctl_no_options, help, details, NULL, NULL, run }

const struct ctl_command ctl_tournament_commands[] = {
	{ "tournament create", "[FILE]", 0, 1, NULL, create_options, "plan one, from a file or from options", create_details, NULL, NULL, run_create },
	{ "tournament list", "", 0, 0, NULL, ctl_no_options, "which tournaments there are", NULL, "tournaments", list_columns, run_list },
	NAMED("tournament show", "its pairings and how they went", NULL, run_show),
	NAMED("tournament table", "who is ahead, and the cross-table", NULL, run_table),
	NAMED("tournament export", "the table with owners, for grades", export_details, run_export),
	NAMED("tournament start", "pin the versions and play", NULL, run_start),
	NAMED("tournament cancel", "no more of its matches; what was played stays", NULL, run_change),
	NAMED("tournament reveal", "end the embargo on its results", NULL, run_change),
	{ "tournament withdraw", "NAME BOT", 2, 2, "name", ctl_no_options, "it forfeits what is left", NULL, NULL, NULL, run_withdraw },
	{ "deadline", "LADDER TIME", 2, 2, "ladder", ctl_no_options, "versions that become active later play unrated; none for none", NULL, NULL, NULL, run_deadline },
	{ .name = NULL },
};
/* clang-format on */
