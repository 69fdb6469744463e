/* SPDX-License-Identifier: MIT */
/*
 * fuzz_wire.c - what any peer may send: bytes -> framer -> session.
 *
 * The input's first byte seeds how the rest is cut into packets. The bytes are
 * run twice, whole and cut, with a small lobby that says yes; both runs must
 * say and ask the same.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/buffer.h"
#include "server/session/session.h"
#include "tests/fuzz/fuzz.h"

enum {
	LOG_BYTES_MAX = 64 * 1024 * 1024,
	REPLIES_MAX = 3, /* of a match, then it is over */
	LINE_MAX_SMALL = 40,
};

struct run {
	struct session session;
	struct buf log; /* what is said and asked, in order */
	int64_t next_match;
	unsigned replies;
	unsigned ladders;
};

static void log_slice(struct buf *log, struct slice slice)
{
	buf_add_char(log, '[');
	buf_add(log, slice.text, slice.len);
	buf_add_char(log, ']');
}

static void log_request(struct buf *log, const struct session_request *request)
{
	if (request->kind == SESSION_ASK_NOTHING)
		return;
	buf_add_format(log, "%d %lld %d %d %zu %d %lld", (int)request->kind,
		       (long long)request->match_id, request->is_quiet,
		       request->is_long, request->long_bytes,
		       (int)request->gone, (long long)request->gone_value);
	log_slice(log, request->name);
	log_slice(log, request->token);
	log_slice(log, request->client);
	log_slice(log, request->version);
	log_slice(log, request->line);
	buf_add_format(log, "%d %u %u", (int)request->how,
		       request->wish.turn_ms, request->wish.matches);
	log_slice(log, request->wish.map);
	log_slice(log, request->wish.seed);
	log_slice(log, request->wish.against);
	buf_add_char(log, '\n');
}

static void offer_next(struct run *run)
{
	run->replies = 0;
	run->next_match++;
	session_offer(&run->session, run->next_match,
		      (run->next_match & 1) != 0 ? LINE_MAX_SMALL
						 : LINE_MAX_SMALL * 300);
}

static void leave(struct run *run)
{
	session_leave_match(&run->session);
	if (run->ladders > 0)
		offer_next(run);
}

static void answer(struct run *run, const struct session_request *request)
{
	struct session *session = &run->session;

	switch (request->kind) {
	case SESSION_ASK_LOGIN:
		if (slice_is(request->token, "wrong"))
			session_refuse(session, ERROR_LOGIN_FAILED, 1, NULL,
				       &run->log);
		else
			session_login_ok(session, "bot", NULL, &run->log);
		break;
	case SESSION_ASK_GUEST:
		session_login_ok(session, "guest:x", NULL, &run->log);
		break;
	case SESSION_ASK_REGISTER:
		if (request->invite.len > 0)
			session_refuse(session, ERROR_INVITE_REFUSED, 0, NULL,
				       &run->log);
		else
			session_registered(session, "bot", "t0ken", &run->log);
		break;
	case SESSION_ASK_PLAY:
		if (run->ladders > 0) {
			session_refuse(session, ERROR_ALREADY_QUEUED, 0, NULL,
				       &run->log);
			break;
		}
		run->ladders = 1;
		session_queued(session, "x", 1, run->ladders, NULL, &run->log);
		if (session->state == SESSION_QUEUED)
			offer_next(run);
		break;
	case SESSION_ASK_LEAVE:
		run->ladders = 0;
		session_left(session, NULL, 0, &run->log);
		break;
	case SESSION_ASK_READY:
		if ((run->next_match & 2) != 0)
			session_start(session);
		break;
	case SESSION_ASK_GAME:
		if (++run->replies == REPLIES_MAX)
			leave(run);
		break;
	case SESSION_ASK_GONE:
	case SESSION_ASK_RESIGN:
		leave(run);
		break;
	case SESSION_ASK_LADDERS:
	case SESSION_ASK_ROTATE:
	case SESSION_ASK_SKIP:
	case SESSION_ASK_NOTHING:
	case SESSION_ASK_CLOSE:
	case SESSION_NKINDS:
		break;
	}
	session_check(session);
}

/* Take up to MOST lines out of INPUT and what was kept. */
static void take_lines(struct run *run, struct frame_input *input,
		       unsigned most)
{
	struct frame frame;

	while (most-- > 0 && !session_is_closed(&run->session) &&
	       framer_next(&run->session.framer, input, &frame) != FRAME_MORE) {
		struct session_request request;

		session_line(&run->session, &frame, &run->log, &request);
		log_request(&run->log, &request);
		answer(run, &request);
	}
}

static void begin(struct run *run)
{
	memset(run, 0, sizeof(*run));
	buf_init(&run->log, LOG_BYTES_MAX);
	session_init(&run->session, 1);
	session_greet(&run->session, "host", &run->log);
}

static void end(struct run *run)
{
	struct session_request request;

	session_end_of_input(&run->session, &request);
	buf_add_text(&run->log, run->session.close_reason);
	buf_add_format(&run->log, " %u", run->session.stray_lines);
	session_release(&run->session);
}

static void run_whole(struct run *run, const char *data, size_t len)
{
	struct frame_input input = { data, len };

	begin(run);
	take_lines(run, &input, UINT32_MAX);
	end(run);
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 16;
}

/* Cut at random; now and then lines must wait, as for a busy match. */
static void run_cut(struct run *run, const char *data, size_t len,
		    uint32_t seed)
{
	begin(run);
	while (len > 0 && !session_is_closed(&run->session)) {
		size_t size = 1 + next_random(&seed) % (len < 80 ? len : 80);
		/* Of its own size, so that a read past it is found. */
		char *packet = malloc(size);
		struct frame_input input = { packet, size };

		assert(packet != NULL);
		memcpy(packet, data, size);
		if (next_random(&seed) % 4 == 0) {
			take_lines(run, &input, next_random(&seed) % 3);
			if (framer_keep(&run->session.framer, &input) != 0)
				abort();
		} else {
			take_lines(run, &input, UINT32_MAX);
		}
		free(packet);
		data += size;
		len -= size;
	}
	take_lines(run, &(struct frame_input){ "", 0 }, UINT32_MAX);
	end(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run whole, cut;

	if (size == 0)
		return 0;
	run_whole(&whole, (const char *)data + 1, size - 1);
	run_cut(&cut, (const char *)data + 1, size - 1, data[0]);
	if (whole.log.len != cut.log.len ||
	    memcmp(whole.log.data, cut.log.data, cut.log.len) != 0)
		abort();
	buf_release(&whole.log);
	buf_release(&cut.log);
	return 0;
}
