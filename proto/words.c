/* SPDX-License-Identifier: MIT */
#include "proto/words.h"

#include <string.h>

/* A client that prints none of the texts need not carry them, nor the keys. */
#ifdef WORDS_WITHOUT_TEXTS
#define TEXT(text) NULL
#define KEYS(...) NO_KEYS
#else
#define TEXT(text) text
#define KEYS(...)                    \
	(const struct word_part[])   \
	{                            \
		__VA_ARGS__,         \
		{                    \
			.name = NULL \
		}                    \
	}
#endif
#define NO_KEYS no_keys

#define IN(phase) (1u << PHASE_##phase)
#define NEED(name, doc)                \
	{                              \
		name, TEXT(doc), false \
	}
#define MAY(name, doc)                \
	{                             \
		name, TEXT(doc), true \
	}
#define MATCH_ARG NEED("MATCH", "the match's number, as in @match")

enum {
	CLIENT = WORD_FROM_CLIENT,
	SERVER = WORD_FROM_SERVER,
	BOTH = WORD_FROM_CLIENT | WORD_FROM_SERVER,
	IN_MATCH = IN(OFFERED) | IN(READY) | IN(PLAYING),
};

static const struct word_part no_keys[] = { { .name = NULL } };

/* clang-format off */
const struct word words[WORD_NWORDS] = {
	[WORD_LOGIN] = {
		"login", CLIENT, IN(NEW),
		{ NEED("NAME", "the bot's name: 3 to 24 of a-z 0-9 - _"),
		  NEED("TOKEN", "its token: at most 128 printable ASCII "
				"characters, no blank") },
		KEYS(MAY("proto", "version of this protocol, 1 when missing"),
		  MAY("client", "name and version of the program, for the log"),
		  MAY("version", "what you call this version of the bot: 1 to "
				 "32 of A-Z a-z 0-9 . _ + -; a new name makes "
				 "a new version; the active one when missing"),
		  MAY("candidate", "1: a new version does not become the active "
				   "one, and plays unrated"),
		  MAY("ping", "1: this client answers `@ping` with `@pong`")),
		.doc = TEXT("log in; answered by `@welcome` or `@error`"),
	},
	[WORD_GUEST] = {
		"guest", CLIENT, IN(NEW),
		{ NEED("NAME", "what to be called, as `guest:NAME`: 3 to 24 of "
			       "a-z 0-9 - _") },
		KEYS(MAY("client", "the client's name and version, for the log"),
		  MAY("ping", "as in `@login`")),
		.doc = TEXT("come in without a bot, where the host has guests; a guest "
		       "may `@play LADDER unrated` and nothing else; answered "
		       "by `@welcome` or `@error`"),
	},
	[WORD_REGISTER] = {
		"register", CLIENT, IN(NEW),
		{ NEED("NAME", "the new bot's name: 3 to 24 of a-z 0-9 - _, "
			       "beginning with a letter or a digit; capital "
			       "letters become small") },
		KEYS(MAY("invite", "the host's invite, good for one bot"),
		  MAY("token", "the token of another bot of yours, in place of "
			       "an invite")),
		.doc = TEXT("make a bot; answered by `@registered` or `@error`; then "
		       "log in"),
	},
	[WORD_ROTATE] = {
		"rotate", CLIENT, IN(IDLE) | IN(QUEUED), { { 0 } }, NO_KEYS,
		.doc = TEXT("have the bot's tokens replaced by a new one; links that "
		       "are logged in stay; answered by `@token` or `@error`"),
	},
	[WORD_HELP] = {
		"help", BOTH, PHASES_ALL, { { 0 } }, NO_KEYS,
		.has_text = true,
		.doc = TEXT("list what can be said now; the answer is `@help` lines"),
	},
	[WORD_LADDERS] = {
		"ladders", BOTH, PHASES_ALL,
		{ MAY("COUNT", "from the server: how many `@ladder` lines "
			       "follow") },
		NO_KEYS,
		.doc = TEXT("list the ladders and their times, also before login; "
		       "answered by `@ladders COUNT` and a `@ladder` for each"),
	},
	[WORD_PING] = {
		"ping", BOTH, PHASES_ALL,
		{ MAY("ID", "any word; comes back in the answer") }, NO_KEYS,
		.doc = TEXT("ask for a sign of life; answered by `@pong ID`. The "
		       "server asks only clients that said ping=1"),
	},
	[WORD_PONG] = {
		"pong", BOTH, PHASES_ALL,
		{ MAY("ID", "the word of the `@ping`") }, NO_KEYS,
		.doc = TEXT("the answer to `@ping`"),
	},
	[WORD_QUIT] = {
		"quit", CLIENT, PHASES_ALL, { { 0 } }, NO_KEYS,
		.doc = TEXT("end the connection; in a match the seat is gone"),
	},
	[WORD_PLAY] = {
		"play", CLIENT, PHASES_LOGGED_IN,
		{ NEED("LADDER", "where to play; a game's default ladder bears "
				 "the game's name"),
		  MAY("HOW", "`unrated`: matches that count for nothing; "
			     "`any`: rated ones, and unrated ones that others "
			     "ask for too") },
		KEYS(MAY("map", "unrated: on this map, one that the host added and "
		  "everybody may see"),
		  MAY("seed", "unrated: with this seed, 0 to 2^63 - 1"),
		  MAY("against", "unrated: the other seats are this bot's, one "
				 "of the house or one that said `any`"),
		  MAY("turn-ms", "unrated: time for one reply, 1 to 600000; "
				 "against nobody or house bots only"),
		  MAY("matches", "unrated: `@left` follows after so many")),
		.doc = TEXT("wait for matches on a ladder, one after the other, till "
		       "`@leave` or the end of the link; answered by `@queued` "
		       "or `@error`"),
	},
	[WORD_LEAVE] = {
		"leave", CLIENT, PHASES_LOGGED_IN,
		{ MAY("LADDER", "which; all when missing") }, NO_KEYS,
		.doc = TEXT("wait no more; a match that is offered or runs is not "
		       "touched; answered by `@left`"),
	},
	[WORD_READY] = {
		"ready", CLIENT, IN(OFFERED),
		{ MATCH_ARG,
		  MAY("quiet", "no `@banked`, `@fault` and answers before `@end`") },
		NO_KEYS,
		.doc = TEXT("promise to play; from here on game lines count"),
	},
	[WORD_SKIP] = {
		"skip", CLIENT, IN(READY) | IN(PLAYING),
		{ MAY("MATCH", "the match's number; the current one when "
			       "missing") },
		NO_KEYS,
		.doc = TEXT("the oldest reply that is still owed for a request that "
		       "ran out will never come; not a pass"),
	},
	[WORD_GONE] = {
		"gone", CLIENT, IN(READY) | IN(PLAYING),
		{ MATCH_ARG },
		KEYS(MAY("exit", "the program's exit status, 0 to 255"),
		  MAY("signal", "the number of the signal that ended it, 1 to 127"),
		  MAY("stdout", "closed: it closed its standard output")),
		.doc = TEXT("the bot's program has ended: nothing more comes from "
		       "this seat"),
	},
	[WORD_RESIGN] = {
		"resign", CLIENT, IN_MATCH, { MATCH_ARG }, NO_KEYS,
		.doc = TEXT("give the match up"),
	},
	[WORD_HILL] = {
		"hill", SERVER, 0,
		{ NEED("PROTO", "version of this protocol: 1"),
		  NEED("HOST", "the server's name for itself") },
		NO_KEYS,
		.doc = TEXT("the server's first line"),
	},
	[WORD_WELCOME] = {
		"welcome", SERVER, 0, { NEED("NAME", "the bot") },
		KEYS(MAY("version", "the version that this connection plays; told "
				 "when the login named one")),
		.doc = TEXT("logged in"),
	},
	[WORD_REGISTERED] = {
		"registered", SERVER, 0, { NEED("NAME", "the new bot") },
		KEYS(NEED("token", "its token, told only now: keep it")),
		.doc = TEXT("the bot is there; `@login` may follow"),
	},
	[WORD_TOKEN] = {
		"token", SERVER, 0,
		{ NEED("TOKEN", "the bot's new token, told only now: keep it") },
		NO_KEYS,
		.doc = TEXT("the answer to `@rotate`; the old tokens open nothing any "
		       "more"),
	},
	[WORD_ERROR] = {
		"error", SERVER, 0,
		{ NEED("CODE", "one of the codes below") },
		KEYS(MAY("retry-after", "seconds after which to try again")),
		.has_text = true,
		.doc = TEXT("something was refused, for the reason that CODE names"),
	},
	[WORD_QUEUED] = {
		"queued", SERVER, 0, { NEED("LADDER", "the ladder") },
		KEYS(NEED("waiting", "connections that wait there, this one "
				  "included"),
		  MAY("unrated", "why this version's matches do not count on "
				 "this rated ladder: `deadline` (it became "
				 "active after the ladder's), `candidate`, "
				 "`retired` (a tournament alone wants it), "
				 "`versions` (too many new ones today), `asked` "
				 "(`@play LADDER unrated`)")),
		.doc = TEXT("waiting for a match"),
	},
	[WORD_LEFT] = {
		"left", SERVER, 0,
		{ MAY("LADDER", "the ladder; missing: all of them") }, NO_KEYS,
		.doc = TEXT("waiting no more"),
	},
	[WORD_MATCH] = {
		"match", SERVER, 0, { NEED("MATCH", "its number") },
		KEYS(NEED("ladder", "the ladder"),
		  NEED("game", "the game"),
		  NEED("seat", "this connection's seat, from 1"),
		  NEED("seats", "how many there are"),
		  NEED("turn-ms", "time for one reply"),
		  NEED("init-ms", "more for the first reply"),
		  NEED("bank-ms", "the bank at the start"),
		  NEED("lag-cap-ms", "most of the link's delay that is "
				     "forgiven"),
		  MAY("grace-ms", "time between `@interrupt` and the end, in "
				  "games that have it"),
		  NEED("ready-ms", "time to say `@ready`"),
		  NEED("line-max", "bytes that a reply may have"),
		  NEED("rated", "1: counts for the ladder"),
		  MAY("round", "of a rated match: the round that it is of"),
		  MAY("set", "2/4: the second of its round's four matches"),
		  MAY("whole-input", "1: the program reads `@input` to its end "
				     "and all that it prints is one reply"),
		  MAY("...", "the game's own parameters by name, as turns=500")),
		.doc = TEXT("a match is offered: say `@ready MATCH` within ready-ms"),
	},
	[WORD_CANCEL] = {
		"cancel", SERVER, 0, { MATCH_ARG },
		KEYS(MAY("reason", "why, in one word"),
		  MAY("queued", "1: the connection waits on; 0: it must say "
				"`@play` again")),
		.has_text = true,
		.doc = TEXT("the match does not take place; closes `@match`"),
	},
	[WORD_VOID] = {
		"void", SERVER, 0, { MATCH_ARG },
		KEYS(MAY("reason", "why, in one word")),
		.has_text = true,
		.doc = TEXT("the server could not do the match justice: it counts "
		       "for nothing; closes `@match`"),
	},
	[WORD_FILE] = {
		"file", SERVER, 0,
		{ NEED("NAME", "the file's name"),
		  NEED("FORM", "`text` or `base64`") },
		KEYS(NEED("lines", "raw lines that follow"),
		  NEED("bytes", "size of the file")),
		.has_block = true,
		.doc = TEXT("a file for the program, before `@start`"),
	},
	[WORD_ARGS] = {
		"args", SERVER, 0, { { 0 } }, NO_KEYS,
		.is_verbatim = true,
		.doc = TEXT("the program's command line arguments: the rest of the "
		       "line, split at single blanks"),
	},
	[WORD_START] = {
		"start", SERVER, 0, { MATCH_ARG }, NO_KEYS,
		.doc = TEXT("start the program; game lines follow"),
	},
	[WORD_INPUT] = {
		"input", SERVER, 0, { NEED("FORM", "`text` or `base64`") },
		KEYS(NEED("lines", "raw lines that follow"),
		  NEED("bytes", "size of the input")),
		.has_block = true,
		.doc = TEXT("all of the program's standard input, which then ends; "
		       "the seat owes one reply"),
	},
	[WORD_BANKED] = {
		"banked", SERVER, 0, { { 0 } },
		KEYS(NEED("turn", "number of the request, from 1"),
		  NEED("ms", "what the reply took"),
		  NEED("left", "what is left of the bank, ms")),
		.doc = TEXT("a reply was late and the bank has paid for it"),
	},
	[WORD_FAULT] = {
		"fault", SERVER, 0,
		{ NEED("KIND", "late, invalid, long, full, or another word"),
		  NEED("COUNT", "n/limit: the n-th of its kind, and how many end "
				"the game for this seat; n/- when none do") },
		KEYS(NEED("turn", "number of the request, from 1")),
		.has_text = true,
		.doc = TEXT("this seat did something wrong"),
	},
	[WORD_INTERRUPT] = {
		"interrupt", SERVER, 0, { MATCH_ARG }, NO_KEYS,
		.doc = TEXT("time is up: the program gets SIGINT, and grace to "
		       "answer"),
	},
	[WORD_END] = {
		"end", SERVER, 0, { MATCH_ARG },
		KEYS(NEED("stop", "how the original ended its programs: term, "
			       "eof, exit"),
		  NEED("reason", "finished, late, gone, suspended, invalid, "
				 "abandoned, ..."),
		  MAY("untold", "of a quiet match: so many more `@banked` and "
				"`@fault` were not held")),
		.doc = TEXT("this seat's game is over; the connection may play again"),
	},
	[WORD_PLACE] = {
		"place", SERVER, 0, { MATCH_ARG },
		KEYS(NEED("seat", "the seat, from 1"),
		  NEED("bot", "who sat there"),
		  NEED("score", "as the original printed it"),
		  NEED("rank", "from 1; equals share one")),
		.doc = TEXT("one seat's result, one line a seat, before `@result`"),
	},
	[WORD_RESULT] = {
		"result", SERVER, 0, { MATCH_ARG },
		KEYS(MAY("score", "this seat's score"),
		  MAY("late", "late replies"),
		  MAY("early", "replies that came before their request"),
		  MAY("banked", "replies that the bank has paid for"),
		  MAY("max-ms", "the longest reply"),
		  MAY("embargo", "1: the result is kept back; then `reason=` "
				 "alone is told, and no `@place`"),
		  MAY("reason", "under embargo: as in `@end`")),
		.doc = TEXT("the match is stored for good; closes `@match`"),
	},
	[WORD_LADDER] = {
		"ladder", SERVER, 0, { NEED("LADDER", "its name") },
		KEYS(NEED("game", "the game"),
		  NEED("seats", "seats of a match"),
		  NEED("turn-ms", "time for one reply"),
		  NEED("init-ms", "more for the first reply"),
		  NEED("bank-ms", "the bank at the start"),
		  NEED("bank-step-ms", "what each request adds to it"),
		  NEED("lag-cap-ms", "most of the link's delay that is "
				     "forgiven"),
		  MAY("grace-ms", "as in `@match`"),
		  NEED("rated", "1: counts for the ladder"),
		  MAY("whole-input", "as in `@match`"),
		  NEED("waiting", "connections that wait for a match now"),
		  NEED("playing", "matches offered or under way now"),
		  MAY("...", "the game's own parameters by name, as "
			     "turns=500")),
		.doc = TEXT("one ladder, in answer to `@ladders`"),
	},
	[WORD_NOTICE] = {
		"notice", SERVER, 0, { { 0 } }, NO_KEYS,
		.has_text = true,
		.doc = TEXT("the host announces something, for people to read; each "
		       "connection is told once, at login or when it is said, "
		       "and a quiet match is over before"),
	},
};

const struct error_kind error_kinds[ERROR_NCODES] = {
	[ERROR_NONE] = { "none", false, TEXT("no error; never sent") },
	[ERROR_UNKNOWN_WORD] = { "unknown-word", false,
		TEXT("no such control word; try @help") },
	[ERROR_BAD_ARGUMENTS] = { "bad-arguments", false,
		TEXT("the word's arguments or keys do not fit") },
	[ERROR_BAD_TEXT] = { "bad-text", false,
		TEXT("a control line holds a NUL or is no UTF-8") },
	[ERROR_LINE_TOO_LONG] = { "line-too-long", false,
		TEXT("the line is over its limit and was dropped; before login the "
		"connection ends too") },
	[ERROR_FLOOD] = { "flood", true,
		TEXT("no LF for far too long") },
	[ERROR_TOO_MANY_ERRORS] = { "too-many-errors", true,
		TEXT("too many lines in a row that could not be taken") },
	[ERROR_NOT_NOW] = { "not-now", false,
		TEXT("the word is known but cannot be said now; try @help") },
	[ERROR_NOT_LOGGED_IN] = { "not-logged-in", false,
		TEXT("log in first: @login NAME TOKEN (@help lists the words)") },
	[ERROR_STRAY_LINE] = { "stray-line", false,
		TEXT("a game line counts only in a match; control words begin with "
		"@, try @help; said once") },
	[ERROR_LOGIN_TIMEOUT] = { "login-timeout", true,
		TEXT("no login in time") },
	[ERROR_LOGIN_FAILED] = { "login-failed", true,
		TEXT("no such bot, or not its token") },
	[ERROR_PROTOCOL_VERSION] = { "protocol-version", true,
		TEXT("this server speaks protocol 1") },
	[ERROR_GUESTS_OFF] = { "guests-off", true,
		TEXT("this host has no guests: log in with a bot") },
	[ERROR_VERSION_RETIRED] = { "version-retired", true,
		TEXT("that version is retired: give a new one another name, or have "
		"the host activate it again") },
	[ERROR_TOO_MANY_VERSIONS] = { "too-many-versions", true,
		TEXT("the bot has as many versions as it may") },
	[ERROR_BOT_DISABLED] = { "bot-disabled", true,
		TEXT("the host has disabled this bot") },
	[ERROR_BOT_BUSY] = { "bot-busy", true,
		TEXT("the bot has all its connections, and all are in a match") },
	[ERROR_EVICTED] = { "evicted", true,
		TEXT("a newer login of the same bot took the place of this "
		"connection: do not reconnect by yourself") },
	[ERROR_SERVER_FULL] = { "server-full", true,
		TEXT("the server has no room for another connection") },
	[ERROR_ADDRESS_LIMIT] = { "address-limit", true,
		TEXT("too many connections or failed logins from this address") },
	[ERROR_TRY_LATER] = { "try-later", false,
		TEXT("the server cannot do that just now; before login the connection "
		"may end") },
	[ERROR_SLOW_READER] = { "slow-reader", true,
		TEXT("too much output waits to be read") },
	[ERROR_SHUTDOWN] = { "shutdown", true,
		TEXT("the server is going down") },
	[ERROR_INTERNAL] = { "internal", true,
		TEXT("the server has failed here; the fault is its own") },
	[ERROR_REGISTRATION_CLOSED] = { "registration-closed", false,
		TEXT("nobody can register here without the host") },
	[ERROR_INVITE_REFUSED] = { "invite-refused", false,
		TEXT("the invite or the token is not valid") },
	[ERROR_NAME_REFUSED] = { "name-refused", false,
		TEXT("no bot can have this name") },
	[ERROR_NAME_TAKEN] = { "name-taken", false,
		TEXT("another bot or owner has this name, or one like it") },
	[ERROR_TOO_MANY_BOTS] = { "too-many-bots", false,
		TEXT("the owner, or this host, has as many bots as may be") },
	[ERROR_UNKNOWN_LADDER] = { "unknown-ladder", false,
		TEXT("no ladder of this name: @ladders lists them") },
	[ERROR_LADDER_DISABLED] = { "ladder-disabled", false,
		TEXT("the host has closed this ladder") },
	[ERROR_ALREADY_QUEUED] = { "already-queued", false,
		TEXT("this connection waits on that ladder already") },
	[ERROR_TOO_MANY_LADDERS] = { "too-many-ladders", false,
		TEXT("this connection waits on as many ladders as it may") },
	[ERROR_PAUSED] = { "paused", false,
		TEXT("this bot broke off too many rated matches there") },
	[ERROR_GUEST_UNRATED] = { "guest-unrated", false,
		TEXT("a guest plays unrated and does nothing else: @play LADDER "
		"unrated") },
	[ERROR_UNKNOWN_MAP] = { "unknown-map", false,
		TEXT("the host has added no map of this game and name that "
		"everybody may see") },
	[ERROR_CONTEST_SEED] = { "contest-seed", false,
		TEXT("a contest is played with that seed: take another") },
	[ERROR_OPEN_INSTANCE] = { "open-instance", false,
		TEXT("that map and seed are being played for a rating") },
	[ERROR_UNKNOWN_OPPONENT] = { "unknown-opponent", false,
		TEXT("no bot of this name waits there and plays unrated: bots of the "
		"house do, and those that said @play LADDER any") },
	[ERROR_TURN_REFUSED] = { "turn-refused", false,
		TEXT("another turn-ms than the ladder's only against nobody or the "
		"house") },
	[ERROR_UNKNOWN_MATCH] = { "unknown-match", false,
		TEXT("this connection was never told of that match") },
	[ERROR_NO_NEW_MATCHES] = { "no-new-matches", false,
		TEXT("no match can start now; what waits goes on waiting") },
};
/* clang-format on */

static const char *const phase_names[PHASE_N] = {
	[PHASE_NEW] = "new",       [PHASE_IDLE] = "idle",
	[PHASE_QUEUED] = "queued", [PHASE_OFFERED] = "offered",
	[PHASE_READY] = "ready",   [PHASE_PLAYING] = "playing",
};

const struct word *word_find(const char *name, size_t len)
{
	for (size_t i = 0; i < WORD_NWORDS; i++) {
		if (strlen(words[i].name) == len &&
		    memcmp(words[i].name, name, len) == 0)
			return &words[i];
	}
	return NULL;
}

enum word_id word_id(const struct word *word)
{
	return (enum word_id)(word - words);
}

const char *phase_name(enum phase phase)
{
	return phase_names[phase];
}
