/* SPDX-License-Identifier: MIT */
/* session_words.c - what each control word of a client does. */
#include "server/session/session_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "proto/block.h"
#include "proto/name.h"
#include "server/base/buffer.h"
#include "server/base/limits.h"

enum {
	HELP_LINE_MAX = 900, /* bytes of one entry of @help */
};

/* What a word does; CONTROL has as many arguments as its table row says. */
typedef void (*word_fn)(struct session *session, const struct control *control,
			struct buf *out, struct session_request *ret);

/* version= and candidate=; false when they were refused. */
static bool take_version(struct session *session, const struct control *control,
			 struct buf *out, struct session_request *ret)
{
	const struct slice *version = control_key(control, "version");
	const struct slice *candidate = control_key(control, "candidate");
	const char *wrong = NULL;

	if (version != NULL && !name_is_version(version->text, version->len))
		wrong = "a version has 1 to 32 of A-Z a-z 0-9 . _ + -";
	else if (candidate != NULL && !slice_is(*candidate, "1"))
		wrong = "candidate= may be 1 and nothing else";
	else if (candidate != NULL && version == NULL)
		wrong = "candidate=1 wants version= as well";
	if (wrong != NULL) {
		session_refuse_line(session, ERROR_BAD_ARGUMENTS, wrong, out);
		return false;
	}
	if (version != NULL)
		ret->version = *version;
	session->names_version = version != NULL;
	ret->is_candidate = candidate != NULL;
	return true;
}

static void take_login(struct session *session, const struct control *control,
		       struct buf *out, struct session_request *ret)
{
	const struct slice *client = control_key(control, "client");
	const struct slice *ping = control_key(control, "ping");
	int64_t proto = WORDS_PROTOCOL;
	int error;

	error = control_key_i64(control, "proto", 0, INT64_MAX, &proto);
	if (error != 0 && error != -ENOENT) {
		session_refuse_line(session, ERROR_BAD_ARGUMENTS,
				    "proto= is no number", out);
		return;
	}
	if (proto != WORDS_PROTOCOL) {
		session_close(session, ERROR_PROTOCOL_VERSION, NULL, out);
		return;
	}
	if (!name_is_bot(control->args[0].text, control->args[0].len)) {
		session_refuse_line(session, ERROR_BAD_ARGUMENTS,
				    name_bot_rule(), out);
		return;
	}
	if (!name_is_token(control->args[1].text, control->args[1].len)) {
		session_refuse_line(session, ERROR_BAD_ARGUMENTS,
				    "that cannot be a token", out);
		return;
	}
	if (!take_version(session, control, out, ret))
		return;
	ret->kind = SESSION_ASK_LOGIN;
	ret->name = control->args[0];
	ret->token = control->args[1];
	if (client != NULL)
		ret->client = *client;
	session->wants_ping = ping != NULL && slice_is(*ping, "1");
	session_set_state(session, SESSION_LOGIN);
}

static void take_guest(struct session *session, const struct control *control,
		       struct buf *out, struct session_request *ret)
{
	const struct slice *client = control_key(control, "client");
	const struct slice *ping = control_key(control, "ping");

	if (!name_is_bot(control->args[0].text, control->args[0].len)) {
		session_refuse_line(session, ERROR_BAD_ARGUMENTS,
				    name_bot_rule(), out);
		return;
	}
	ret->kind = SESSION_ASK_GUEST;
	ret->name = control->args[0];
	if (client != NULL)
		ret->client = *client;
	session->wants_ping = ping != NULL && slice_is(*ping, "1");
	session_set_state(session, SESSION_LOGIN);
}

static void take_register(struct session *session,
			  const struct control *control, struct buf *out,
			  struct session_request *ret)
{
	const struct slice *invite = control_key(control, "invite");
	const struct slice *token = control_key(control, "token");
	const char *wrong = NULL;

	/* Which names are free, and which are names, is for the store. */
	if (control->args[0].len > NAME_BOT_MAX)
		wrong = name_bot_rule();
	else if (invite != NULL && token != NULL)
		wrong = "invite= or token=, not both";
	else if ((invite != NULL &&
		  !name_is_token(invite->text, invite->len)) ||
		 (token != NULL && !name_is_token(token->text, token->len)))
		wrong = "that can be no invite and no token";
	if (wrong != NULL) {
		session_refuse_line(session, ERROR_BAD_ARGUMENTS, wrong, out);
		return;
	}
	ret->kind = SESSION_ASK_REGISTER;
	ret->name = control->args[0];
	if (invite != NULL)
		ret->invite = *invite;
	if (token != NULL)
		ret->token = *token;
	session->is_registering = true;
	session_set_state(session, SESSION_LOGIN);
}

static void take_rotate(struct session *session, const struct control *control,
			struct buf *out, struct session_request *ret)
{
	(void)session;
	(void)control;
	(void)out;
	ret->kind = SESSION_ASK_ROTATE;
}

/* Append TEXT without the backquotes that PROTOCOL.md wants. */
static void add_unquoted(struct buf *out, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text != '`')
			buf_add_char(out, *text);
	}
}

static void add_help_entry(const struct word *word, struct buf *out)
{
	struct buf line = BUF_INIT(HELP_LINE_MAX);

	buf_add_format(&line, "@%s", word->name);
	for (const struct word_part *arg = word->args; arg->name != NULL; arg++)
		buf_add_format(&line, arg->is_optional ? " [%s]" : " %s",
			       arg->name);
	for (const struct word_part *key = word->keys; key->name != NULL; key++)
		buf_add_format(&line, " [%s=]", key->name);
	buf_add_text(&line, " -- ");
	add_unquoted(&line, word->doc);
	control_add_word(out, WORD_HELP);
	control_add_text(out, buf_text(&line));
	control_add_end(out);
	buf_release(&line);
}

static void take_help(struct session *session, const struct control *control,
		      struct buf *out, struct session_request *ret)
{
	(void)control;
	(void)ret;
	for (unsigned i = 0; i < WORD_NWORDS; i++) {
		if ((words[i].from & WORD_FROM_CLIENT) != 0 &&
		    (words[i].phases & (1u << session->state)) != 0)
			add_help_entry(&words[i], out);
	}
	if (session->state == SESSION_READY ||
	    session->state == SESSION_PLAYING) {
		control_add_word(out, WORD_HELP);
		control_add_text(out, "a line that does not begin with @ is a "
				      "move");
		control_add_end(out);
	}
}

static void take_ladders(struct session *session, const struct control *control,
			 struct buf *out, struct session_request *ret)
{
	(void)session;
	(void)control;
	(void)out;
	ret->kind = SESSION_ASK_LADDERS;
}

static void take_ping(struct session *session, const struct control *control,
		      struct buf *out, struct session_request *ret)
{
	(void)session;
	ret->is_pong = true;
	control_add_word(out, WORD_PONG);
	if (control->nargs > 0)
		control_add_arg_slice(out, control->args[0]);
	control_add_end(out);
}

static void take_pong(struct session *session, const struct control *control,
		      struct buf *out, struct session_request *ret)
{
	(void)session;
	(void)control;
	(void)out;
	(void)ret;
}

static void take_quit(struct session *session, const struct control *control,
		      struct buf *out, struct session_request *ret)
{
	(void)control;
	(void)out;
	(void)ret;
	session_close_for(session, "quit");
}

/* The key NAME as a number from 1 to MOST; 0 when it is not there. */
static bool take_count(const struct control *control, const char *name,
		       int64_t most, uint32_t *ret)
{
	int64_t value = 0;
	int error = control_key_i64(control, name, 1, most, &value);

	if (error != 0 && error != -ENOENT)
		return false;
	*ret = (uint32_t)value;
	return true;
}

/* The keys of an unrated @play; NULL, or what is wrong with them. */
static const char *take_wish(const struct control *control,
			     struct session_wish *ret)
{
	const struct slice *map = control_key(control, "map");
	const struct slice *against = control_key(control, "against");
	const struct slice *seed = control_key(control, "seed");
	int64_t number = 0;

	if (map != NULL && !name_is_file(map->text, map->len))
		return "that cannot be a map's name";
	if (against != NULL && !name_is_bot(against->text, against->len))
		return name_bot_rule();
	/* The store and the engines read it as it is written. */
	if (seed != NULL && slice_i64(*seed, 0, INT64_MAX, &number) != 0)
		return "seed= wants 0 to 9223372036854775807, and no zero in "
		       "front";
	if (!take_count(control, "turn-ms", LIMIT_UNRATED_TURN_MS,
			&ret->turn_ms))
		return "turn-ms= wants 1 to 600000, and no zero in front";
	if (!take_count(control, "matches", INT32_MAX, &ret->matches))
		return "matches= wants a number from 1 on, and no zero in "
		       "front";
	if (map != NULL)
		ret->map = *map;
	if (against != NULL)
		ret->against = *against;
	if (seed != NULL)
		ret->seed = *seed;
	return NULL;
}

/* The first key of CONTROL, a @play, that only an unrated one has; or NULL. */
static const char *find_wish(const struct control *control)
{
	static const char *const names[] = { "map", "seed", "against",
					     "turn-ms", "matches" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (control_key(control, names[i]) != NULL)
			return names[i];
	}
	return NULL;
}

static void take_play(struct session *session, const struct control *control,
		      struct buf *out, struct session_request *ret)
{
	const char *wrong = NULL, *wish = find_wish(control);
	char text[80];

	if (!name_is_ladder(control->args[0].text, control->args[0].len)) {
		session_refuse_line(session, ERROR_UNKNOWN_LADDER, NULL, out);
		return;
	}
	if (control->nargs > 1) {
		if (slice_is(control->args[1], "unrated"))
			ret->how = SESSION_PLAY_UNRATED;
		else if (slice_is(control->args[1], "any"))
			ret->how = SESSION_PLAY_ANY;
		else
			wrong = "only `unrated` or `any` may follow the ladder";
	}
	if (wrong == NULL && ret->how == SESSION_PLAY_UNRATED) {
		wrong = take_wish(control, &ret->wish);
	} else if (wrong == NULL && wish != NULL) {
		(void)snprintf(text, sizeof(text),
			       "%s= goes with @play LADDER unrated alone",
			       wish);
		wrong = text;
	}
	if (wrong != NULL) {
		session_refuse_line(session, ERROR_BAD_ARGUMENTS, wrong, out);
		return;
	}
	ret->kind = SESSION_ASK_PLAY;
	ret->name = control->args[0];
}

static void take_leave(struct session *session, const struct control *control,
		       struct buf *out, struct session_request *ret)
{
	if (control->nargs > 0 &&
	    !name_is_ladder(control->args[0].text, control->args[0].len)) {
		session_refuse_line(session, ERROR_UNKNOWN_LADDER, NULL, out);
		return;
	}
	ret->kind = SESSION_ASK_LEAVE;
	if (control->nargs > 0)
		ret->name = control->args[0];
}

static void take_ready(struct session *session, const struct control *control,
		       struct buf *out, struct session_request *ret)
{
	if (control->nargs > 1 && !slice_is(control->args[1], "quiet")) {
		session_refuse_line(session, ERROR_BAD_ARGUMENTS,
				    "only `quiet` may follow the match", out);
		return;
	}
	ret->kind = SESSION_ASK_READY;
	ret->is_quiet = control->nargs > 1;
	session_set_state(session, SESSION_READY);
	session_set_limits(session, session->line_max);
}

static void take_skip(struct session *session, const struct control *control,
		      struct buf *out, struct session_request *ret)
{
	(void)session;
	(void)control;
	(void)out;
	ret->kind = SESSION_ASK_SKIP;
}

static void take_gone(struct session *session, const struct control *control,
		      struct buf *out, struct session_request *ret)
{
	const struct slice *closed = control_key(control, "stdout");
	int64_t value = 0;
	enum session_gone gone = SESSION_GONE_UNKNOWN;
	int error;

	error = control_key_i64(control, "exit", 0, 255, &value);
	if (error == 0) {
		gone = SESSION_GONE_EXIT;
	} else if (error == -ENOENT) {
		error = control_key_i64(control, "signal", 1, 127, &value);
		if (error == 0)
			gone = SESSION_GONE_SIGNAL;
	}
	if ((error != 0 && error != -ENOENT) ||
	    (closed != NULL && !slice_is(*closed, "closed"))) {
		session_refuse_line(session, ERROR_BAD_ARGUMENTS,
				    "say exit=N, signal=N or stdout=closed",
				    out);
		return;
	}
	if (gone == SESSION_GONE_UNKNOWN && closed != NULL)
		gone = SESSION_GONE_STDOUT;
	ret->kind = SESSION_ASK_GONE;
	ret->gone = gone;
	ret->gone_value = value;
}

static void take_resign(struct session *session, const struct control *control,
			struct buf *out, struct session_request *ret)
{
	(void)session;
	(void)control;
	(void)out;
	ret->kind = SESSION_ASK_RESIGN;
}

static const struct {
	word_fn run;
	bool is_of_match; /* the first argument is a match */
} handlers[WORD_NWORDS] = {
	[WORD_LOGIN] = { take_login, false },
	[WORD_GUEST] = { take_guest, false },
	[WORD_REGISTER] = { take_register, false },
	[WORD_ROTATE] = { take_rotate, false },
	[WORD_HELP] = { take_help, false },
	[WORD_LADDERS] = { take_ladders, false },
	[WORD_PING] = { take_ping, false },
	[WORD_PONG] = { take_pong, false },
	[WORD_QUIT] = { take_quit, false },
	[WORD_PLAY] = { take_play, false },
	[WORD_LEAVE] = { take_leave, false },
	[WORD_READY] = { take_ready, true },
	[WORD_SKIP] = { take_skip, true },
	[WORD_GONE] = { take_gone, true },
	[WORD_RESIGN] = { take_resign, true },
};

/*
 * Whether a word about a match is to be obeyed: about the current one, at its
 * time. What crossed the end of its match is ignored, not refused.
 */
static bool is_about_current(struct session *session,
			     const struct control *control, struct buf *out)
{
	bool is_ready_word = word_id(control->word) == WORD_READY;
	int64_t match_id = session->match_id;
	int error = control_arg_i64(control, 0, 1, INT64_MAX, &match_id);

	if (error != 0 && error != -ENOENT) {
		session_refuse_line(session, ERROR_BAD_ARGUMENTS,
				    "that is no match number", out);
		return false;
	}
	if (match_id > session->newest_match_id) {
		session_refuse_line(session, ERROR_UNKNOWN_MATCH, NULL, out);
		return false;
	}
	if (match_id == 0 || match_id != session->match_id)
		return false;
	if (is_ready_word && session->state != SESSION_OFFERED)
		return false; /* said twice */
	return true;
}

/*
 * No word has raw LINES so far that we would take; a newer client's are skipped
 * with it. False: the link ends, by CODE.
 */
static bool skip_raw(struct session *session, uint32_t lines,
		     enum error_code code, const char *text, struct buf *out)
{
	if (lines == 0)
		return true;
	if (session->state == SESSION_NEW || lines > LIMIT_SKIPPED_LINES) {
		session_close(session, code, text, out);
		return false;
	}
	framer_expect_raw(&session->framer, lines, LIMIT_CONTROL_LINE_BYTES);
	return true;
}

/*
 * A word that the table does not have. Where it was not parsed to its end
 * nobody knows how many raw lines it has.
 */
static void take_unknown(struct session *session, const struct control *control,
			 enum control_verdict verdict, struct buf *out)
{
	bool is_cut = verdict == CONTROL_TOO_MANY || verdict == CONTROL_TWICE;
	uint32_t lines = is_cut ? UINT32_MAX : block_head_lines(control);

	if (skip_raw(session, lines, ERROR_UNKNOWN_WORD,
		     "no such control word, and it announces raw lines", out))
		session_refuse_line(session, ERROR_UNKNOWN_WORD, NULL, out);
}

void session_take_control(struct session *session, const struct frame *frame,
			  struct buf *out, struct session_request *ret)
{
	struct control control;
	enum control_verdict verdict =
		control_parse(&control, frame->text, frame->len);
	unsigned bad_lines = session->bad_lines;
	const char *trouble;
	enum word_id id;

	if (control.word == NULL ||
	    (control.word->from & WORD_FROM_CLIENT) == 0) {
		take_unknown(session, &control, verdict, out);
		return;
	}
	if (verdict == CONTROL_OK &&
	    !skip_raw(session, block_head_lines(&control), ERROR_BAD_ARGUMENTS,
		      "no raw lines may follow here", out))
		return;
	id = word_id(control.word);
	trouble = verdict == CONTROL_OK ? control_check(&control)
					: control_verdict_text(verdict);
	if (session->state == SESSION_NEW &&
	    (control.word->phases & (1u << PHASE_NEW)) == 0) {
		session_refuse_line(session, ERROR_NOT_LOGGED_IN, NULL, out);
		return;
	}
	if (trouble != NULL) {
		session_refuse_line(session, ERROR_BAD_ARGUMENTS, trouble, out);
		return;
	}
	if (handlers[id].is_of_match &&
	    !is_about_current(session, &control, out))
		return;
	if ((control.word->phases & (1u << session->state)) == 0) {
		session_refuse_line(session, ERROR_NOT_NOW, NULL, out);
		return;
	}
	ret->match_id = session->match_id;
	handlers[id].run(session, &control, out, ret);
	if (session->bad_lines == bad_lines)
		session->bad_lines = 0;
}
