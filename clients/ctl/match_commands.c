/* SPDX-License-Identifier: MIT */
/* match_commands.c - the commands for matches, and for hilld itself. */
#include "clients/ctl/match_view.h"

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
	OPTION("void", NULL, CTL_TRUE, "only those that count for nothing"),
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
	"is stored like any other match; its seed finds it: match list --seed. None is\n"
	"played of a match that is under embargo, or on an instance of a tournament that\n"
	"runs.\n";

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
