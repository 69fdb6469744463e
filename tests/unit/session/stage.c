/* SPDX-License-Identifier: MIT */
#include "tests/unit/session/stage.h"

#include <string.h>

#include "tests/unit/unit.h"

struct session session;
struct buf out = BUF_INIT(1 << 20);
struct session_request request;

void say_bytes(const char *text, size_t len)
{
	struct frame_input input = { text, len };
	struct frame frame;

	while (framer_next(&session.framer, &input, &frame) != FRAME_MORE) {
		session_line(&session, &frame, &out, &request);
		if (session.state == SESSION_LOGIN ||
		    session.state == SESSION_CLOSED)
			break;
	}
}

void say(const char *text)
{
	buf_clear(&out);
	memset(&request, 0, sizeof(request));
	say_bytes(text, strlen(text));
}

void log_in(void)
{
	session_init(&session, LOGIN_BY);
	say("@login crazy t0ken proto=1\n");
	assert_int_equal(request.kind, SESSION_ASK_LOGIN);
	session_login_ok(&session, "crazy", NULL, &out);
}

void be_in(enum session_state state)
{
	session_release(&session);
	switch (state) {
	case SESSION_NEW:
		session_init(&session, LOGIN_BY);
		break;
	case SESSION_LOGIN:
		session_init(&session, LOGIN_BY);
		say("@login crazy t0ken\n");
		break;
	case SESSION_IDLE:
		log_in();
		break;
	case SESSION_QUEUED:
		log_in();
		session_queued(&session, "rabbit-runner", 1, 1, NULL, &out);
		break;
	case SESSION_OFFERED:
		be_in(SESSION_QUEUED);
		/* An older match has come and gone before. */
		session_offer(&session, OLD_MATCH, TURN_LINE_MAX);
		session_leave_match(&session);
		session_offer(&session, MATCH, TURN_LINE_MAX);
		break;
	case SESSION_READY:
		be_in(SESSION_OFFERED);
		say("@ready 4711\n");
		break;
	case SESSION_PLAYING:
		be_in(SESSION_READY);
		session_start(&session);
		break;
	case SESSION_CLOSED:
		log_in();
		session_close(&session, ERROR_EVICTED, NULL, NULL);
		break;
	case SESSION_NSTATES:
		fail();
	}
	assert_int_equal(session.state, state);
	buf_clear(&out);
}

int release(void **state)
{
	(void)state;
	session_release(&session);
	buf_release(&out);
	return 0;
}
