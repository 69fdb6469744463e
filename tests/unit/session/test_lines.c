/* SPDX-License-Identifier: MIT */
/* Lines that are long, odd, bad or many: what they cost, and whom. */
#include <string.h>

#include "server/base/limits.h"
#include "tests/unit/session/stage.h"
#include "tests/unit/unit.h"

/* A line of LEN bytes 'a' and an LF, after START. */
static void say_long(const char *start, size_t len)
{
	struct buf line = BUF_INIT(1 << 22);

	buf_add_text(&line, start);
	while (line.len < len)
		buf_add_char(&line, 'a');
	buf_add_char(&line, '\n');
	say(line.data);
	buf_release(&line);
}

static void a_login_line_has_512_bytes(void **state)
{
	static const char start[] = "@login crazy t0ken client=";

	(void)state;
	be_in(SESSION_NEW);
	say_long(start, 511);
	assert_int_equal(request.kind, SESSION_ASK_LOGIN);
	be_in(SESSION_NEW);
	say_long(start, 512);
	assert_int_equal(request.kind, SESSION_ASK_LOGIN);
	be_in(SESSION_NEW);
	say_long(start, 513);
	assert_int_equal(request.kind, SESSION_ASK_CLOSE);
	assert_int_equal(strncmp(buf_text(&out), "@error line-too-long ", 21),
			 0);
}

static void a_control_line_has_4096_bytes(void **state)
{
	(void)state;
	be_in(SESSION_PLAYING);
	say_long("@ping ", 4095);
	assert_int_equal(out.data[1], 'p');
	say_long("@ping ", 4096);
	assert_int_equal(out.data[1], 'p');
	say_long("@ping ", 4097);
	assert_int_equal(strncmp(buf_text(&out), "@error line-too-long ", 21),
			 0);
	assert_int_equal(request.kind, SESSION_ASK_NOTHING);
	assert_int_equal(session.state, SESSION_PLAYING);
}

static void a_reply_has_line_max_bytes(void **state)
{
	(void)state;
	be_in(SESSION_PLAYING);
	say_long("", TURN_LINE_MAX - 1);
	assert_int_equal(request.line.len, TURN_LINE_MAX - 1);
	say_long("", TURN_LINE_MAX);
	assert_int_equal(request.line.len, TURN_LINE_MAX);
	assert_false(request.is_long);
	say_long("", TURN_LINE_MAX + 1);
	assert_int_equal(request.kind, SESSION_ASK_GAME);
	assert_true(request.is_long);
	assert_int_equal(request.line.len, 0);
	assert_int_equal(request.long_bytes, TURN_LINE_MAX + 1);
	assert_int_equal(out.len, 0);
	/* 16 x the larger of line-max and a control line. */
	say_long("", 65536);
	assert_int_equal(request.kind, SESSION_ASK_GAME);
	say_long("", 65537);
	assert_int_equal(request.kind, SESSION_ASK_CLOSE);
	assert_string_equal(session.close_reason, "flood");
}

/* A line that was on its way when its match ended does not end the link. */
static void limits_of_a_match_hold_until_the_next_ready(void **state)
{
	(void)state;
	be_in(SESSION_QUEUED);
	session_offer(&session, MATCH, 1 << 20);
	say("@ready 4711\n");
	session_start(&session);
	session_leave_match(&session);
	session_offer(&session, MATCH + 1, 100);
	say_long("", (size_t)2 << 20);
	assert_int_equal(request.kind, SESSION_ASK_NOTHING);
	assert_int_equal(session.state, SESSION_OFFERED);
	say("@ready 4712\n");
	say_long("", 101);
	assert_true(request.is_long);
}

static void bad_lines_are_bounded(void **state)
{
	(void)state;
	be_in(SESSION_NEW);
	for (unsigned i = 1; i < LIMIT_BAD_LINES_LOGIN; i++) {
		say("@play x\n");
		assert_int_equal(request.kind, SESSION_ASK_NOTHING);
	}
	say("hello\n");
	assert_int_equal(request.kind, SESSION_ASK_CLOSE);
	assert_string_equal(session.close_reason, "too-many-errors");

	be_in(SESSION_IDLE);
	for (unsigned k = 0; k < 3; k++) {
		for (unsigned i = 1; i < LIMIT_BAD_LINES; i++)
			say("@nonsense\n");
		assert_int_equal(session.state, SESSION_IDLE);
		say("@ping\n"); /* a good word forgives */
	}
	/* A known word that is refused for what it says does not. */
	for (unsigned i = 0; i < LIMIT_BAD_LINES; i++)
		say(i % 2 == 0 ? "@nonsense\n" : "@play ../x\n");
	assert_string_equal(session.close_reason, "too-many-errors");
}

static void stray_lines_are_told_once_and_cost_nothing(void **state)
{
	(void)state;
	be_in(SESSION_IDLE);
	for (unsigned i = 0; i < 1000; i++) {
		say("move\n");
		assert_int_equal(out.len != 0, i == 0);
		assert_int_equal(session.state, SESSION_IDLE);
	}
	assert_int_equal(session.stray_lines, 1000);
}

static void raw_lines_of_an_unknown_word_are_skipped(void **state)
{
	(void)state;
	be_in(SESSION_PLAYING);
	say("@future lines=3\n@quit\nmove\n\n@ping\n");
	assert_int_equal(request.kind, SESSION_ASK_NOTHING);
	assert_int_equal(session.state, SESSION_PLAYING);
	assert_string_equal(buf_text(&out),
			    "@error unknown-word : no such control word; try "
			    "@help\n@pong\n");
	be_in(SESSION_PLAYING);
	say("@future lines=1048577\n");
	assert_int_equal(request.kind, SESSION_ASK_CLOSE);
	be_in(SESSION_PLAYING);
	say("@future lines=4294967296\n");
	assert_int_equal(request.kind, SESSION_ASK_CLOSE);
	/* What stands behind so many parts is not known. */
	be_in(SESSION_PLAYING);
	say("@future 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 lines=3\n");
	assert_int_equal(request.kind, SESSION_ASK_CLOSE);
	be_in(SESSION_PLAYING);
	say("@future a=1 a=2 lines=3\n");
	assert_int_equal(request.kind, SESSION_ASK_CLOSE);
	be_in(SESSION_NEW);
	say("@future lines=1\n");
	assert_int_equal(request.kind, SESSION_ASK_CLOSE);
}

static void raw_lines_of_a_known_word_are_skipped_too(void **state)
{
	(void)state;
	be_in(SESSION_PLAYING);
	say("@ping a lines=2\n@quit\nmove\n@ping b\n");
	assert_int_equal(request.kind, SESSION_ASK_NOTHING);
	assert_int_equal(session.state, SESSION_PLAYING);
	assert_string_equal(buf_text(&out), "@pong a\n@pong b\n");
	/* Also where the word itself is refused. */
	be_in(SESSION_IDLE);
	say("@play a b c d lines=1\n@quit\n");
	assert_int_equal(request.kind, SESSION_ASK_NOTHING);
	assert_non_null(strstr(buf_text(&out), "@error bad-arguments "));
	be_in(SESSION_PLAYING);
	say("@ping lines=1048577\n");
	assert_int_equal(request.kind, SESSION_ASK_CLOSE);
	be_in(SESSION_NEW);
	say("@login crazy t0ken lines=1\n");
	assert_int_equal(request.kind, SESSION_ASK_CLOSE);
	assert_string_equal(
		buf_text(&out),
		"@error bad-arguments : no raw lines may follow here\n");
}

static void another_version_is_refused(void **state)
{
	(void)state;
	be_in(SESSION_NEW);
	say("@login crazy t0ken proto=2\n");
	assert_int_equal(request.kind, SESSION_ASK_CLOSE);
	assert_string_equal(session.close_reason, "protocol-version");
}

static void http_is_closed_without_a_word(void **state)
{
	static const char *const lines[] = { "GET / HTTP/1.1\r\n",
					     "POST /x HTTP/1.0\r\n",
					     "HEAD / HTTP/1.1\r\n",
					     "OPTIONS * HTTP/1.1\r\n",
					     "PRI * HTTP/2.0\r\n" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(lines); i++) {
		be_in(SESSION_NEW);
		say(lines[i]);
		assert_int_equal(request.kind, SESSION_ASK_CLOSE);
		assert_string_equal(session.close_reason, "http");
		assert_int_equal(out.len, 0);
	}
}

/* Whatever a client does with its token, nothing of it comes back. */
static void a_token_is_never_repeated(void **state)
{
	static const char *const lines[] = {
		"@login crazy SECRET proto=9\n",
		"@login crazy SECRET proto=x\n",
		"@login Crazy! SECRET\n",
		"@login crazy SECRET more\n",
		"@login crazy SECRET\xff\n",
		"@login crazy\tSECRET\x01\n",
		"@loginSECRET\n",
		"@token SECRET\n",
		"SECRET\n",
		"@login crazy a=SECRET\n",
		"@play SECRET\n",
		"@ready SECRET\n",
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(lines); i++) {
		for (unsigned phase = 0; phase < PHASE_N; phase++) {
			be_in((enum session_state)phase);
			say(lines[i]);
			if (phase == PHASE_NEW)
				assert_true(out.len > 0);
			assert_null(strstr(buf_text(&out), "SECRET"));
		}
	}
}

/* BC15: one packet, many words, all answered without more input. */
static void a_hundred_words_in_one_packet(void **state)
{
	struct buf line = BUF_INIT(10000);
	struct frame_input input;
	struct frame frame;
	unsigned answers = 0;

	(void)state;
	be_in(SESSION_NEW);
	buf_add_text(&line, "@login crazy t0ken\n");
	for (unsigned i = 0; i < 100; i++)
		buf_add_format(&line, "@ping %u\n", i);
	input = (struct frame_input){ line.data, line.len };
	while (framer_next(&session.framer, &input, &frame) != FRAME_MORE) {
		session_line(&session, &frame, &out, &request);
		if (request.kind == SESSION_ASK_LOGIN)
			session_login_ok(&session, "crazy", NULL, &out);
	}
	for (const char *at = buf_text(&out);
	     (at = strstr(at, "@pong ")) != NULL; at++)
		answers++;
	assert_int_equal(answers, 100);
	buf_release(&line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_login_line_has_512_bytes),
		cmocka_unit_test(a_control_line_has_4096_bytes),
		cmocka_unit_test(a_reply_has_line_max_bytes),
		cmocka_unit_test(limits_of_a_match_hold_until_the_next_ready),
		cmocka_unit_test(bad_lines_are_bounded),
		cmocka_unit_test(stray_lines_are_told_once_and_cost_nothing),
		cmocka_unit_test(raw_lines_of_an_unknown_word_are_skipped),
		cmocka_unit_test(raw_lines_of_a_known_word_are_skipped_too),
		cmocka_unit_test(another_version_is_refused),
		cmocka_unit_test(http_is_closed_without_a_word),
		cmocka_unit_test(a_token_is_never_repeated),
		cmocka_unit_test(a_hundred_words_in_one_packet),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
