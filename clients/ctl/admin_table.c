/* SPDX-License-Identifier: MIT */
/* admin_table.c - the commands for owners, bots, tokens, ladders and maps. */
#include "clients/ctl/admin_commands.h"

#define FIELD(name, value, kind, field, help)         \
	{                                             \
		name, value, kind, false, field, help \
	}

/* clang-format off */
static const struct ctl_option undo_options[] = {
	FIELD("undo", NULL, CTL_FALSE, "disabled", "take it back"),
	{ .name = NULL },
};

static const struct ctl_option owner_add_options[] = {
	FIELD("external-id", "ID", CTL_TEXT, "external_id", "who it is elsewhere; never public"),
	FIELD("note", "TEXT", CTL_TEXT, "note", "for the host; never public"),
	{ .name = NULL },
};

static const struct ctl_option owner_change_options[] = {
	FIELD("new-name", "NAME", CTL_TEXT, "new_name", "its name from now on"),
	FIELD("external-id", "ID", CTL_TEXT, "external_id", "who it is elsewhere; never public"),
	FIELD("note", "TEXT", CTL_TEXT, "note", "for the host; never public"),
	{ .name = NULL },
};

static const struct ctl_option ban_options[] = {
	{ "reason", "TEXT", CTL_TEXT, true, "reason", "why; not private: the author is told it at each login" },
	{ .name = NULL },
};

static const struct ctl_option house_options[] = {
	FIELD("off", NULL, CTL_FALSE, "house", "take it back"),
	{ .name = NULL },
};

static const struct ctl_option import_options[] = {
	{ "output", "FILE", CTL_TEXT, true, NULL, "the new file for owners and invites, of mode 0600" },
	FIELD("days", "N", CTL_INT, NULL, "how long they are good (default: for ever)"),
	{ .name = NULL },
};

static const struct ctl_option invite_options[] = {
	FIELD("owner", "OWNER", CTL_TEXT, "owner", "whose bot it will be; made when new (default: one called as the bot)"),
	FIELD("days", "N", CTL_INT, "days", "how long it is good (default: for ever)"),
	{ .name = NULL },
};

static const struct ctl_option audit_options[] = {
	FIELD("limit", "N", CTL_INT, "limit", "so many, the newest (default 100)"),
	{ .name = NULL },
};

static const struct ctl_option bot_add_options[] = {
	FIELD("owner", "OWNER", CTL_TEXT, "owner", "who answers for it; made when new (default: the bot's name)"),
	FIELD("max-connections", "N", CTL_INT, "max_connections", "at once (default 8)"),
	FIELD("token-file", "FILE", CTL_TEXT, NULL, "write the token to this new file instead of printing it"),
	{ .name = NULL },
};

static const struct ctl_option bot_list_options[] = {
	FIELD("owner", "OWNER", CTL_TEXT, "owner", "only this one's"),
	{ .name = NULL },
};

static const struct ctl_option bot_change_options[] = {
	FIELD("owner", "OWNER", CTL_TEXT, "owner", "who answers for it from now on; made when new"),
	FIELD("max-connections", "N", CTL_INT, "max_connections", "at once"),
	{ .name = NULL },
};

static const struct ctl_option token_options[] = {
	FIELD("token-file", "FILE", CTL_TEXT, NULL, "write the token to this new file instead of printing it"),
	{ .name = NULL },
};

static const struct ctl_option rotate_options[] = {
	FIELD("token-file", "FILE", CTL_TEXT, NULL, "write the token to this file instead of printing it"),
	{ .name = NULL },
};

static const struct ctl_option token_list_options[] = {
	FIELD("bot", "BOT", CTL_TEXT, "bot", "only this one's"),
	{ .name = NULL },
};

#define LADDER_OPTIONS \
	FIELD("seats", "N", CTL_INT, "seats", "of a match (default: the least that the game takes)"), \
	FIELD("generate", "PRESET[,...]", CTL_TEXT, "generate", "in place of --map: fresh maps of these presets (hill-run GAME --generate lists them)"), \
	FIELD("params", "TEXT", CTL_TEXT, "params", "the game's parameters: \"turns=500\""), \
	FIELD("turn-ms", "MS", CTL_INT, "turn_ms", "for a reply (default: the original's)"), \
	FIELD("init-ms", "MS", CTL_INT, "init_ms", "more for the first one"), \
	FIELD("grace-ms", "MS", CTL_INT, "grace_ms", "between the interrupt and the verdict"), \
	FIELD("bank-ms", "MS", CTL_INT, "bank_ms", "for jitter, at the start"), \
	FIELD("bank-step-ms", "MS", CTL_INT, "bank_step_ms", "more with each request"), \
	FIELD("lag-cap-ms", "MS", CTL_INT, "lag_cap_ms", "most that distance is paid for"), \
	FIELD("ready-ms", "MS", CTL_INT, "ready_ms", "to accept a match"), \
	FIELD("file-ms", "MS", CTL_INT, "file_ms", "most that the map's way is waited for"), \
	FIELD("round-runs", "N", CTL_INT, "round_runs", "of one seat: a rated round closes after so many runs, 2 to 64 (default 8)"), \
	FIELD("round-seconds", "S", CTL_INT, "round_seconds", "... or after so long (default 3600)"), \
	FIELD("house-wait", "MS", CTL_INT, "house_wait_ms", "before house bots take a seat (default 10000)"), \
	FIELD("seeds", "SEEDS", CTL_TEXT, "seeds", "random, or A..B in order"), \
	FIELD("bot-seed", "WHICH", CTL_TEXT, "bot_seed", "own, or match: the bot is handed the match's seed"), \
	FIELD("rated", "yes|no", CTL_YES_NO, "rated", "whether it counts (default yes)"), \
	FIELD("original", NULL, CTL_TRUE, "original", "the original's rules: no lag, no bank, one seed for both"), \
	{ .name = NULL }

static const struct ctl_option ladder_add_options[] = {
	{ "game", "GAME", CTL_TEXT, true, "game", "its name, as rabbit-runner" },
	FIELD("map", "MAP[,MAP...]", CTL_LIST, "maps", "what it is played on, in turn"),
	LADDER_OPTIONS,
};

static const struct ctl_option ladder_change_options[] = {
	FIELD("map", "MAP[,MAP...]", CTL_LIST, "maps", "what it is played on, in turn"),
	LADDER_OPTIONS,
};

static const struct ctl_option map_add_options[] = {
	{ "game", "GAME", CTL_TEXT, true, NULL, "its name, as rabbit-runner" },
	FIELD("name", "NAME", CTL_TEXT, NULL, "the file name that bots are told (default: the file's)"),
	FIELD("colours", "R,G,B;...", CTL_TEXT, NULL, "the seats of an image-battle (default: found in the picture)"),
	FIELD("hidden", NULL, CTL_TRUE, NULL, "only the bots that play on it see it"),
	{ .name = NULL },
};

static const struct ctl_option map_list_options[] = {
	FIELD("game", "GAME", CTL_TEXT, "game", "only this one's"),
	FIELD("generated", NULL, CTL_TRUE, "generated", "those that ladders have generated, and no others"),
	{ .name = NULL },
};

static const struct ctl_option map_change_options[] = {
	FIELD("game", "GAME", CTL_TEXT, "game", "where two games have a map of that name"),
	FIELD("visibility", "WHICH", CTL_TEXT, "visibility", "public or hidden"),
	FIELD("hidden", NULL, CTL_TRUE, NULL, "the same as --visibility hidden"),
	FIELD("hidden-until", "TIME", CTL_TEXT, "hidden_until", "hidden till then, as 2026-01-31T12:30 (UTC)"),
	FIELD("public", NULL, CTL_TRUE, NULL, "the same as --visibility public"),
	{ .name = NULL },
};

static const struct ctl_option map_enable_options[] = {
	FIELD("game", "GAME", CTL_TEXT, "game", "where two games have a map of that name"),
	{ .name = NULL },
};

static const struct ctl_option map_disable_options[] = {
	FIELD("game", "GAME", CTL_TEXT, "game", "where two games have a map of that name"),
	FIELD("undo", NULL, CTL_FALSE, "disabled", "take it back"),
	{ .name = NULL },
};

static const struct ctl_column invite_columns[] = {
	{ "id", "id", CTL_AS_NUMBER }, { "owner", "owner", CTL_AS_TEXT },
	{ "since (UTC)", "created_us", CTL_AS_TIME }, { "until (UTC)", "expires_us", CTL_AS_TIME },
	{ "used (UTC)", "used_us", CTL_AS_TIME }, { "bot", "bot", CTL_AS_TEXT },
	{ .title = NULL },
};

static const struct ctl_column version_columns[] = {
	{ "number", "number", CTL_AS_NUMBER }, { "version", "version", CTL_AS_TEXT },
	{ "state", "state", CTL_AS_TEXT }, { "matches", "matches", CTL_AS_NUMBER },
	{ "since (UTC)", "created_us", CTL_AS_TIME }, { "active since (UTC)", "active_us", CTL_AS_TIME },
	{ .title = NULL },
};

static const struct ctl_column candidate_columns[] = {
	{ "ladder", "ladder", CTL_AS_TEXT }, { "candidate", "candidate", CTL_AS_TEXT },
	{ "against", "predecessor", CTL_AS_TEXT }, { "instances", "instances", CTL_AS_NUMBER },
	{ "points a match", "difference", CTL_AS_NUMBER },
	{ "95 % from", "low", CTL_AS_NUMBER }, { "to", "high", CTL_AS_NUMBER },
	{ .title = NULL },
};

static const struct ctl_column audit_columns[] = {
	{ "id", "id", CTL_AS_NUMBER }, { "when (UTC)", "at_us", CTL_AS_TIME },
	{ "who", "actor", CTL_AS_TEXT }, { "command", "command", CTL_AS_TEXT },
	{ "of", "arguments", CTL_AS_TEXT }, { "outcome", "outcome", CTL_AS_TEXT },
	{ .title = NULL },
};

static const struct ctl_column owner_columns[] = {
	{ "id", "id", CTL_AS_NUMBER }, { "owner", "name", CTL_AS_TEXT },
	{ "bots", "bots", CTL_AS_NUMBER }, { "disabled", "disabled", CTL_AS_FLAG },
	{ "house", "house", CTL_AS_FLAG }, { "banned for", "ban_reason", CTL_AS_TEXT },
	{ "external id", "external_id", CTL_AS_TEXT }, { "since (UTC)", "created_us", CTL_AS_TIME },
	{ "note", "note", CTL_AS_TEXT }, { .title = NULL },
};

static const struct ctl_column bot_columns[] = {
	{ "id", "id", CTL_AS_NUMBER }, { "bot", "name", CTL_AS_TEXT },
	{ "owner", "owner", CTL_AS_TEXT }, { "version", "version", CTL_AS_TEXT },
	{ "tokens", "tokens", CTL_AS_NUMBER }, { "connections", "max_connections", CTL_AS_NUMBER },
	{ "disabled", "disabled", CTL_AS_FLAG }, { "owner disabled", "owner_disabled", CTL_AS_FLAG },
	{ "hidden", "hidden", CTL_AS_FLAG }, { "banned for", "ban_reason", CTL_AS_TEXT },
	{ "since (UTC)", "created_us", CTL_AS_TIME }, { .title = NULL },
};

static const struct ctl_column token_columns[] = {
	{ "id", "id", CTL_AS_NUMBER }, { "bot", "bot", CTL_AS_TEXT },
	{ "since (UTC)", "created_us", CTL_AS_TIME }, { "revoked (UTC)", "revoked_us", CTL_AS_TIME },
	{ .title = NULL },
};

static const struct ctl_column ladder_columns[] = {
	{ "id", "id", CTL_AS_NUMBER }, { "ladder", "name", CTL_AS_TEXT },
	{ "game", "game", CTL_AS_TEXT }, { "seats", "seats", CTL_AS_NUMBER },
	{ "params", "params", CTL_AS_TEXT }, { "maps", "maps", CTL_AS_TEXT },
	{ "generate", "generate", CTL_AS_TEXT },
	{ "seeds", "seeds", CTL_AS_TEXT }, { "bot seed", "bot_seed", CTL_AS_TEXT },
	{ "turn ms", "turn_ms", CTL_AS_NUMBER }, { "init ms", "init_ms", CTL_AS_NUMBER },
	{ "runs", "round_runs", CTL_AS_NUMBER }, { "round s", "round_seconds", CTL_AS_NUMBER },
	{ "house ms", "house_wait_ms", CTL_AS_NUMBER },
	{ "bank ms", "bank_ms", CTL_AS_NUMBER }, { "lag cap ms", "lag_cap_ms", CTL_AS_NUMBER },
	{ "rated", "rated", CTL_AS_FLAG }, { "disabled", "disabled", CTL_AS_FLAG },
	{ .title = NULL },
};

static const struct ctl_column map_columns[] = {
	{ "id", "id", CTL_AS_NUMBER }, { "map", "name", CTL_AS_TEXT },
	{ "game", "game", CTL_AS_TEXT }, { "bytes", "bytes", CTL_AS_NUMBER },
	{ "visibility", "visibility", CTL_AS_TEXT }, { "public from (UTC)", "public_us", CTL_AS_TIME },
	{ "disabled", "disabled", CTL_AS_FLAG }, { "options", "options", CTL_AS_TEXT }, { "since (UTC)", "created_us", CTL_AS_TIME },
	{ .title = NULL },
};

static const struct ctl_option owner_option[] = {
	FIELD("owner", "OWNER", CTL_TEXT, "owner", "only this one's"),
	{ .name = NULL },
};

static const char invite_details[] =
	"An invite is told once and is good for one bot: its author says\n"
	"`hill-bridge join HOST INVITE`.\n";

static const char import_details[] =
	"The roster is CSV. Its first line names its columns: owner, and perhaps\n"
	"external_id and note, which are never public:\n"
	"    owner,external_id,note\n"
	"    ann,s-17,Tuesday's group\n"
	"A column of another name and an owner listed twice are refused before\n"
	"anything is done. Each owner gets one invite, good for one bot; further bots he\n"
	"registers by the token of the first. Run again, it makes\n"
	"new invites for the same owners.\n";

static const char token_details[] =
	"A token is told once: keep it in a file that only you may read. With\n"
	"--token-file it is written to a new file of mode 0600 and not printed.\n";

static const char rotate_details[] =
	"A token is told once: keep it in a file that only you may read. With\n"
	"--token-file it is written to that file, of mode 0600, and not printed. A\n"
	"file that is there is replaced once the new token is valid, not before.\n";

#define NAMED(name, options, help, run) \
	{ name, "NAME", 1, 1, "name", options, help, NULL, NULL, NULL, run }
#define PAIR(name, second, field, help) \
	{ name, "NAME " second, 2, 2, "name", ctl_no_options, help, NULL, NULL, NULL, run_change, field }
#define LIST(name, options, help, list, columns) \
	{ name, "", 0, 0, NULL, options, help, NULL, list, columns, run_list }
#define TOKEN(name, arg, field, options, help) \
	{ name, arg, 1, 1, field, options, help, token_details, NULL, NULL, run_token }
#define ROTATE(name, options, help) \
	{ name, "BOT", 1, 1, "bot", options, help, rotate_details, NULL, NULL, run_token }

const struct ctl_command ctl_admin_commands[] = {
	NAMED("owner add", owner_add_options, "somebody who answers for bots", run_change),
	LIST("owner list", ctl_no_options, "who there is", "owners", owner_columns),
	NAMED("owner change", owner_change_options, "what is known of an owner", run_change),
	NAMED("owner disable", undo_options, "none of its bots may log in", run_change),
	NAMED("owner enable", ctl_no_options, "its bots may log in again", run_enable),
	NAMED("owner ban", ban_options, "none of its bots may log in, for a reason", run_change),
	NAMED("owner unban", ctl_no_options, "take a ban back", run_change),
	NAMED("owner house", house_options, "its bots are the host's own, and fill seats", run_change),
	NAMED("owner erase", ctl_no_options, "forget who it is; its bots keep their names and results", run_change),
	{ "owner import", "FILE", 1, 1, NULL, import_options, "owners from a CSV roster, an invite for each", import_details, NULL, NULL, run_import, NULL },
	{ "invite new", "", 0, 0, NULL, invite_options, "a code that registers one bot", invite_details, NULL, NULL, run_invite, NULL },
	LIST("invite list", owner_option, "which invites there are", "invites", invite_columns),
	{ "invite revoke", "ID", 1, 1, "id", ctl_no_options, "it registers nothing any more", NULL, NULL, NULL, run_change, NULL },
	TOKEN("bot add", "NAME", "name", bot_add_options, "a bot and its first token"),
	LIST("bot list", bot_list_options, "which bots there are", "bots", bot_columns),
	PAIR("bot rename", "NEW", "new_name", "call a bot otherwise; its results stay its own"),
	NAMED("bot hide", ctl_no_options, "it plays, but no table and no page shows it", run_change),
	NAMED("bot show", ctl_no_options, "take a hide back", run_bot_show),
	NAMED("bot ban", ban_options, "it may not log in, for a reason", run_change),
	NAMED("bot unban", ctl_no_options, "take a ban back", run_change),
	PAIR("bot activate", "VERSION", "version", "the version that plays when a login names none"),
	{ "bot versions", "NAME", 1, 1, "name", ctl_no_options, "a bot's versions", NULL, "versions", version_columns, run_list, NULL },
	{ "bot candidate", "NAME", 1, 1, "name", ctl_no_options, "how its candidates fare against their predecessors", NULL, "comparisons", candidate_columns, run_list, NULL },
	NAMED("bot change", bot_change_options, "a bot's owner or connections", run_change),
	NAMED("bot disable", undo_options, "it may not log in", run_change),
	NAMED("bot enable", ctl_no_options, "it may log in again", run_enable),
	TOKEN("token add", "BOT", "bot", token_options, "one more token for a bot"),
	LIST("token list", token_list_options, "which tokens there are", "tokens", token_columns),
	{ "token revoke", "ID", 1, 1, "id", ctl_no_options, "it opens nothing any more", NULL, NULL, NULL, run_change },
	ROTATE("token rotate", rotate_options, "revoke a bot's tokens and make a new one"),
	NAMED("ladder add", ladder_add_options, "what may be played, on what, by which limits", run_change),
	LIST("ladder list", ctl_no_options, "which ladders there are", "ladders", ladder_columns),
	NAMED("ladder change", ladder_change_options, "what it is played on and by", run_change),
	NAMED("ladder disable", undo_options, "no new matches on it", run_change),
	NAMED("ladder enable", ctl_no_options, "new matches on it again", run_enable),
	{ "map add", "FILE...", 1, 1000, NULL, map_add_options, "maps for ladders; their bytes never change", NULL, NULL, NULL, run_map_add },
	LIST("map list", map_list_options, "which maps there are", "maps", map_columns),
	NAMED("map change", map_change_options, "who may see it", run_map_change),
	NAMED("map disable", map_disable_options, "no new matches on it", run_change),
	NAMED("map enable", map_enable_options, "new matches on it again", run_enable),
	LIST("audit", audit_options, "what hosts did and as which user, the newest first", "actions", audit_columns),
	{ .name = NULL },
};
/* clang-format on */
