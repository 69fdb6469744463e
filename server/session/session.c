/* SPDX-License-Identifier: MIT */
#include "server/session/session.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "proto/block.h"
#include "proto/name.h"
#include "server/base/buffer.h"
#include "server/base/limits.h"

enum {
	HELP_LINE_MAX = 900, /* bytes of one entry of @help */
};

#define TO(state) (1u << SESSION_##state)

/* The states that each state may be left for. */
static const unsigned moves[SESSION_NSTATES] = {
	[SESSION_NEW] = TO(LOGIN) | TO(CLOSED),
	[SESSION_LOGIN] = TO(IDLE) | TO(CLOSED),
	[SESSION_IDLE] = TO(QUEUED) | TO(OFFERED) | TO(CLOSED),
	[SESSION_QUEUED] = TO(IDLE) | TO(OFFERED) | TO(CLOSED),
	[SESSION_OFFERED] = TO(READY) | TO(IDLE) | TO(QUEUED) | TO(CLOSED),
	[SESSION_READY] = TO(PLAYING) | TO(IDLE) | TO(QUEUED) | TO(CLOSED),
	[SESSION_PLAYING] = TO(IDLE) | TO(QUEUED) | TO(CLOSED),
	[SESSION_CLOSED] = 0,
};

_Static_assert((int)SESSION_LOGIN == (int)PHASE_N,
	       "a state for every phase, in the same order");

bool session_may_move(enum session_state from, enum session_state to)
{
	return (moves[from] & (1u << to)) != 0;
}

const char *session_state_name(enum session_state state)
{
	if (state == SESSION_LOGIN)
		return "login";
	if (state == SESSION_CLOSED)
		return "closed";
	return phase_name((enum phase)state);
}

bool session_is_closed(const struct session *session)
{
	return session->state == SESSION_CLOSED;
}

bool session_is_logged_in(const struct session *session)
{
	return session->state != SESSION_NEW &&
	       session->state != SESSION_LOGIN &&
	       session->state != SESSION_CLOSED;
}

static bool is_in_match(const struct session *session)
{
	return session->state == SESSION_OFFERED ||
	       session->state == SESSION_READY ||
	       session->state == SESSION_PLAYING;
}

void session_check(const struct session *session)
{
	assert(session->state < SESSION_NSTATES);
	assert((session->state == SESSION_CLOSED) ==
	       (session->close_reason != NULL));
	assert(session->match_id <= session->newest_match_id);
	assert(session->bad_lines < LIMIT_BAD_LINES);
	if (session->state == SESSION_CLOSED)
		return;
	assert(is_in_match(session) == (session->match_id != 0));
	if (session->state == SESSION_IDLE)
		assert(session->ladders == 0);
	if (session->state == SESSION_QUEUED)
		assert(session->ladders > 0);
	if (!session_is_logged_in(session))
		assert(session->ladders == 0);
}

static void session_set_state(struct session *session, enum session_state state)
{
	if (session->state == state)
		return;
	assert(session_may_move((enum session_state)session->state, state));
	session->state = (uint8_t)state;
}

static void set_waiting_state(struct session *session)
{
	session_set_state(session,
			  session->ladders > 0 ? SESSION_QUEUED : SESSION_IDLE);
}

void session_init(struct session *session, int64_t login_by_us)
{
	memset(session, 0, sizeof(*session));
	session->state = SESSION_NEW;
	session->login_by_us = login_by_us;
	framer_init(&session->framer, FRAMER_PEER, LIMIT_LOGIN_LINE_BYTES,
		    LIMIT_LOGIN_LINE_BYTES, LIMIT_LOGIN_LINE_BYTES);
}

void session_release(struct session *session)
{
	if (session == NULL)
		return;
	framer_release(&session->framer);
}

void session_greet(struct session *session, const char *host, struct buf *out)
{
	assert(session->state == SESSION_NEW);
	control_add_word(out, WORD_HILL);
	control_add_arg_i64(out, WORDS_PROTOCOL);
	control_add_arg(out, host);
	control_add_end(out);
}

static void close_for(struct session *session, const char *reason)
{
	session_set_state(session, SESSION_CLOSED);
	session->close_reason = reason;
}

void session_close(struct session *session, enum error_code code,
		   const char *text, struct buf *out)
{
	if (session->state == SESSION_CLOSED)
		return;
	if (out != NULL)
		control_add_error(out, code, 0,
				  text != NULL ? text : error_kinds[code].doc);
	close_for(session, error_kinds[code].name);
}

/* Refuse a line; too many in a row end the connection. */
static void refuse_line(struct session *session, enum error_code code,
			const char *text, struct buf *out)
{
	unsigned bound = session->state == SESSION_NEW ? LIMIT_BAD_LINES_LOGIN
						       : LIMIT_BAD_LINES;

	session->bad_lines++;
	control_add_error(out, code, 0,
			  text != NULL ? text : error_kinds[code].doc);
	if (session->bad_lines < bound)
		return;
	session->bad_lines = 0;
	session_close(session, ERROR_TOO_MANY_ERRORS, NULL, out);
}

static void set_limits(struct session *session, size_t line_max)
{
	size_t most = line_max > LIMIT_CONTROL_LINE_BYTES
			      ? line_max
			      : LIMIT_CONTROL_LINE_BYTES;

	framer_set_limits(&session->framer, line_max, LIMIT_CONTROL_LINE_BYTES,
			  most * LIMIT_OVERLONG_FACTOR);
}

/* What a word does; CONTROL has as many arguments as its table row says. */
typedef void (*word_fn)(struct session *session, const struct control *control,
			struct buf *out, struct session_request *ret);

static void take_login(struct session *session, const struct control *control,
		       struct buf *out, struct session_request *ret)
{
	const struct slice *client = control_key(control, "client");
	const struct slice *version = control_key(control, "version");
	const struct slice *ping = control_key(control, "ping");
	int64_t proto = WORDS_PROTOCOL;
	int error;

	error = control_key_i64(control, "proto", 0, INT64_MAX, &proto);
	if (error != 0 && error != -ENOENT) {
		refuse_line(session, ERROR_BAD_ARGUMENTS, "proto= is no number",
			    out);
		return;
	}
	if (proto != WORDS_PROTOCOL) {
		session_close(session, ERROR_PROTOCOL_VERSION, NULL, out);
		return;
	}
	if (!name_is_bot(control->args[0].text, control->args[0].len)) {
		refuse_line(session, ERROR_BAD_ARGUMENTS, name_bot_rule(), out);
		return;
	}
	if (!name_is_token(control->args[1].text, control->args[1].len)) {
		refuse_line(session, ERROR_BAD_ARGUMENTS,
			    "that cannot be a token", out);
		return;
	}
	ret->kind = SESSION_ASK_LOGIN;
	ret->name = control->args[0];
	ret->token = control->args[1];
	if (client != NULL)
		ret->client = *client;
	if (version != NULL)
		ret->version = *version;
	session->wants_ping = ping != NULL && slice_is(*ping, "1");
	ret->wants_ping = session->wants_ping;
	session_set_state(session, SESSION_LOGIN);
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

static void take_ping(struct session *session, const struct control *control,
		      struct buf *out, struct session_request *ret)
{
	(void)session;
	(void)ret;
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
	close_for(session, "quit");
}

static void take_ladder(struct session *session, const struct control *control,
			struct buf *out, struct session_request *ret)
{
	bool is_play = word_id(control->word) == WORD_PLAY;

	if (control->nargs > 0 &&
	    !name_is_ladder(control->args[0].text, control->args[0].len)) {
		refuse_line(session, ERROR_UNKNOWN_LADDER, NULL, out);
		return;
	}
	ret->kind = is_play ? SESSION_ASK_PLAY : SESSION_ASK_LEAVE;
	if (control->nargs > 0)
		ret->name = control->args[0];
}

static void take_ready(struct session *session, const struct control *control,
		       struct buf *out, struct session_request *ret)
{
	if (control->nargs > 1 && !slice_is(control->args[1], "quiet")) {
		refuse_line(session, ERROR_BAD_ARGUMENTS,
			    "only `quiet` may follow the match", out);
		return;
	}
	ret->kind = SESSION_ASK_READY;
	ret->is_quiet = control->nargs > 1;
	session_set_state(session, SESSION_READY);
	set_limits(session, session->line_max);
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
		refuse_line(session, ERROR_BAD_ARGUMENTS,
			    "say exit=N, signal=N or stdout=closed", out);
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
	[WORD_HELP] = { take_help, false },
	[WORD_PING] = { take_ping, false },
	[WORD_PONG] = { take_pong, false },
	[WORD_QUIT] = { take_quit, false },
	[WORD_PLAY] = { take_ladder, false },
	[WORD_LEAVE] = { take_ladder, false },
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
		refuse_line(session, ERROR_BAD_ARGUMENTS,
			    "that is no match number", out);
		return false;
	}
	if (match_id > session->newest_match_id) {
		refuse_line(session, ERROR_UNKNOWN_MATCH, NULL, out);
		return false;
	}
	if (match_id == 0 || match_id != session->match_id)
		return false;
	if (is_ready_word && session->state != SESSION_OFFERED)
		return false; /* said twice */
	return true;
}

/* A word that the table does not have; its raw lines are skipped with it. */
static void take_unknown(struct session *session, const struct control *control,
			 struct buf *out)
{
	uint32_t lines = block_head_lines(control);

	if (lines > 0 &&
	    (session->state == SESSION_NEW || lines > LIMIT_SKIPPED_LINES)) {
		session_close(session, ERROR_UNKNOWN_WORD,
			      "no such control word, and it announces raw "
			      "lines",
			      out);
		return;
	}
	framer_expect_raw(&session->framer, lines, LIMIT_CONTROL_LINE_BYTES);
	refuse_line(session, ERROR_UNKNOWN_WORD, NULL, out);
}

static void take_control(struct session *session, const struct frame *frame,
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
		take_unknown(session, &control, out);
		return;
	}
	id = word_id(control.word);
	trouble = verdict == CONTROL_OK ? control_check(&control)
					: control_verdict_text(verdict);
	if (session->state == SESSION_NEW &&
	    (control.word->phases & (1u << PHASE_NEW)) == 0) {
		refuse_line(session, ERROR_NOT_LOGGED_IN, NULL, out);
		return;
	}
	if (trouble != NULL) {
		refuse_line(session, ERROR_BAD_ARGUMENTS, trouble, out);
		return;
	}
	if (handlers[id].is_of_match &&
	    !is_about_current(session, &control, out))
		return;
	if ((control.word->phases & (1u << session->state)) == 0) {
		refuse_line(session, ERROR_NOT_NOW, NULL, out);
		return;
	}
	ret->match_id = session->match_id;
	handlers[id].run(session, &control, out, ret);
	if (session->bad_lines == bad_lines)
		session->bad_lines = 0;
}

/* A browser or a scanner: nothing of it is worth an answer. */
static bool looks_like_http(const struct frame *frame)
{
	static const char *const methods[] = { "GET ",     "POST ",  "HEAD ",
					       "PUT ",     "PATCH ", "DELETE ",
					       "OPTIONS ", "TRACE ", "CONNECT ",
					       "PRI " };

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		size_t len = strlen(methods[i]);

		if (frame->len >= len &&
		    memcmp(frame->text, methods[i], len) == 0)
			return true;
	}
	return false;
}

/* A game line when there is no match that it could count in. */
static void take_stray(struct session *session, const struct frame *frame,
		       struct buf *out)
{
	bool is_blank = frame->kind == FRAME_GAME && frame->len == 0;

	if (is_blank)
		return;
	if (session->state == SESSION_NEW) {
		if (looks_like_http(frame))
			close_for(session, "http");
		else
			refuse_line(session, ERROR_NOT_LOGGED_IN, NULL, out);
		return;
	}
	if (session->stray_lines < UINT32_MAX)
		session->stray_lines++;
	/* After a match it may be a late reply; before the first it cannot. */
	if (session->newest_match_id != 0 || session->was_told_stray)
		return;
	session->was_told_stray = true;
	control_add_error(out, ERROR_STRAY_LINE, 0,
			  error_kinds[ERROR_STRAY_LINE].doc);
}

static void take_game(struct session *session, const struct frame *frame,
		      struct buf *out, struct session_request *ret)
{
	if (session->state != SESSION_READY &&
	    session->state != SESSION_PLAYING) {
		take_stray(session, frame, out);
		return;
	}
	ret->kind = SESSION_ASK_GAME;
	ret->match_id = session->match_id;
	ret->is_long = frame->kind == FRAME_LONG;
	if (ret->is_long)
		ret->long_bytes = frame->len;
	else
		ret->line = (struct slice){ frame->text, frame->len };
}

static void take_frame(struct session *session, const struct frame *frame,
		       struct buf *out, struct session_request *ret)
{
	switch (frame->kind) {
	case FRAME_CONTROL:
		take_control(session, frame, out, ret);
		break;
	case FRAME_GARBLED:
		refuse_line(session, ERROR_BAD_TEXT, NULL, out);
		break;
	case FRAME_GAME:
		take_game(session, frame, out, ret);
		break;
	case FRAME_LONG:
		if (frame->is_control)
			refuse_line(session, ERROR_LINE_TOO_LONG, NULL, out);
		else if (!frame->is_raw)
			take_game(session, frame, out, ret);
		break;
	case FRAME_FLOOD:
		session_close(session,
			      session->state == SESSION_NEW
				      ? ERROR_LINE_TOO_LONG
				      : ERROR_FLOOD,
			      NULL, out);
		break;
	case FRAME_NO_MEMORY:
		session_close(session, ERROR_INTERNAL, NULL, out);
		break;
	case FRAME_RAW: /* of a word that was refused */
	case FRAME_MORE:
	case FRAME_NKINDS:
		break;
	}
}

static void request_init(struct session_request *request)
{
	memset(request, 0, sizeof(*request));
	request->kind = SESSION_ASK_NOTHING;
	request->name.text = "";
	request->token.text = "";
	request->client.text = "";
	request->version.text = "";
	request->line.text = "";
}

static void request_close(const struct session *session,
			  struct session_request *ret)
{
	if (session->state == SESSION_CLOSED)
		ret->kind = SESSION_ASK_CLOSE;
}

void session_line(struct session *session, const struct frame *frame,
		  struct buf *out, struct session_request *ret)
{
	assert(session->state != SESSION_LOGIN);
	request_init(ret);
	if (session->state != SESSION_CLOSED)
		take_frame(session, frame, out, ret);
	request_close(session, ret);
	session_check(session);
}

void session_end_of_input(struct session *session, struct session_request *ret)
{
	request_init(ret);
	if (session->state != SESSION_CLOSED)
		close_for(session, "link-end");
	request_close(session, ret);
	session_check(session);
}

int64_t session_deadline(const struct session *session)
{
	return session->state == SESSION_NEW ? session->login_by_us : INT64_MAX;
}

void session_expire(struct session *session, int64_t now_us, struct buf *out,
		    struct session_request *ret)
{
	request_init(ret);
	if (session->state != SESSION_NEW || now_us < session->login_by_us)
		return;
	session_close(session, ERROR_LOGIN_TIMEOUT, NULL, out);
	request_close(session, ret);
	session_check(session);
}

void session_login_ok(struct session *session, const char *bot, struct buf *out)
{
	assert(session->state == SESSION_LOGIN);
	session_set_state(session, SESSION_IDLE);
	set_limits(session, LIMIT_GAME_LINE_BYTES);
	control_add_word(out, WORD_WELCOME);
	control_add_arg(out, bot);
	control_add_end(out);
	session_check(session);
}

void session_refuse(struct session *session, enum error_code code,
		    int64_t retry_after_s, const char *text, struct buf *out)
{
	if (session->state == SESSION_CLOSED)
		return;
	control_add_error(out, code, retry_after_s,
			  text != NULL ? text : error_kinds[code].doc);
	if (session->state == SESSION_LOGIN || error_kinds[code].closes)
		close_for(session, error_kinds[code].name);
	session_check(session);
}

void session_set_ladders(struct session *session, unsigned ladders)
{
	assert(ladders <= UINT16_MAX);
	if (!session_is_logged_in(session))
		return;
	session->ladders = (uint16_t)ladders;
	if (!is_in_match(session))
		set_waiting_state(session);
	session_check(session);
}

void session_queued(struct session *session, const char *ladder,
		    unsigned waiting, unsigned ladders, struct buf *out)
{
	assert(session_is_logged_in(session) && ladders > 0);
	control_add_word(out, WORD_QUEUED);
	control_add_arg(out, ladder);
	control_add_key_i64(out, "waiting", waiting);
	control_add_end(out);
	session_set_ladders(session, ladders);
}

void session_left(struct session *session, const char *ladder, unsigned ladders,
		  struct buf *out)
{
	assert(session_is_logged_in(session));
	control_add_word(out, WORD_LEFT);
	if (ladder != NULL)
		control_add_arg(out, ladder);
	control_add_end(out);
	session_set_ladders(session, ladders);
}

void session_offer(struct session *session, int64_t match_id, size_t line_max)
{
	assert(match_id > 0 && line_max > 0);
	assert(line_max <= (1u << 30) / LIMIT_OVERLONG_FACTOR);
	session_set_state(session, SESSION_OFFERED);
	session->match_id = match_id;
	session->line_max = (uint32_t)line_max;
	if (match_id > session->newest_match_id)
		session->newest_match_id = match_id;
	session_check(session);
}

void session_start(struct session *session)
{
	if (session->state == SESSION_CLOSED)
		return;
	session_set_state(session, SESSION_PLAYING);
	session_check(session);
}

void session_leave_match(struct session *session)
{
	session->match_id = 0;
	if (session->state == SESSION_CLOSED)
		return;
	set_waiting_state(session);
	session_check(session);
}
