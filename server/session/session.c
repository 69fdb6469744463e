/* SPDX-License-Identifier: MIT */
#include "server/session/session.h"

#include <assert.h>
#include <string.h>

#include "server/base/buffer.h"
#include "server/base/limits.h"
#include "server/session/session_internal.h"

#define TO(state) (1u << SESSION_##state)

/* The states that each state may be left for. */
static const unsigned moves[SESSION_NSTATES] = {
	[SESSION_NEW] = TO(LOGIN) | TO(CLOSED),
	[SESSION_LOGIN] = TO(NEW) | TO(IDLE) | TO(CLOSED),
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

void session_set_state(struct session *session, enum session_state state)
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

void session_close_for(struct session *session, const char *reason)
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
	session_close_for(session, error_kinds[code].name);
}

void session_refuse_line(struct session *session, enum error_code code,
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

void session_set_limits(struct session *session, size_t line_max)
{
	size_t most = line_max > LIMIT_CONTROL_LINE_BYTES
			      ? line_max
			      : LIMIT_CONTROL_LINE_BYTES;

	framer_set_limits(&session->framer, line_max, LIMIT_CONTROL_LINE_BYTES,
			  most * LIMIT_OVERLONG_FACTOR);
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
			session_close_for(session, "http");
		else
			session_refuse_line(session, ERROR_NOT_LOGGED_IN, NULL,
					    out);
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
		session_take_control(session, frame, out, ret);
		break;
	case FRAME_GARBLED:
		session_refuse_line(session, ERROR_BAD_TEXT, NULL, out);
		break;
	case FRAME_GAME:
		take_game(session, frame, out, ret);
		break;
	case FRAME_LONG:
		if (frame->is_control)
			session_refuse_line(session, ERROR_LINE_TOO_LONG, NULL,
					    out);
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
	request->invite.text = "";
	request->line.text = "";
	request->wish.map.text = "";
	request->wish.seed.text = "";
	request->wish.against.text = "";
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
	/* Without memory for what must wait there is no waiting. */
	assert(session->state != SESSION_LOGIN ||
	       frame->kind == FRAME_NO_MEMORY);
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
		session_close_for(session, "link-end");
	request_close(session, ret);
	session_check(session);
}

void session_hurry(struct session *session, int64_t login_by_us)
{
	if (login_by_us < session->login_by_us)
		session->login_by_us = login_by_us;
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

void session_login_ok(struct session *session, const char *bot,
		      const char *version, struct buf *out)
{
	assert(session->state == SESSION_LOGIN);
	session_set_state(session, SESSION_IDLE);
	session_set_limits(session, LIMIT_GAME_LINE_BYTES);
	control_add_word(out, WORD_WELCOME);
	control_add_arg(out, bot);
	if (version != NULL && session->names_version)
		control_add_key(out, "version", version);
	control_add_end(out);
	session_check(session);
}

static void end_registering(struct session *session)
{
	session->is_registering = false;
	session_set_state(session, SESSION_NEW);
}

void session_registered(struct session *session, const char *name,
			const char *token, struct buf *out)
{
	assert(session->state == SESSION_LOGIN && session->is_registering);
	end_registering(session);
	control_add_word(out, WORD_REGISTERED);
	control_add_arg(out, name);
	control_add_key(out, "token", token);
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
	if (session->state == SESSION_LOGIN && session->is_registering)
		end_registering(session);
	if (session->state == SESSION_LOGIN || error_kinds[code].closes)
		session_close_for(session, error_kinds[code].name);
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
		    unsigned waiting, unsigned ladders, const char *unrated,
		    struct buf *out)
{
	assert(session_is_logged_in(session) && ladders > 0);
	control_add_word(out, WORD_QUEUED);
	control_add_arg(out, ladder);
	control_add_key_i64(out, "waiting", waiting);
	if (unrated != NULL)
		control_add_key(out, "unrated", unrated);
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
