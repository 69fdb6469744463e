/* SPDX-License-Identifier: MIT */
#include "proto/framer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/buffer.h"
#include "tests/unit/unit.h"

/* Limits of every framer here: game line, control line, flood. */
enum {
	GAME = 8,
	CONTROL = 6,
	FLOOD = 20,
};

static const char *const kinds[FRAME_NKINDS] = {
	[FRAME_MORE] = "more",       [FRAME_CONTROL] = "control",
	[FRAME_GARBLED] = "garbled", [FRAME_GAME] = "game",
	[FRAME_RAW] = "raw",         [FRAME_LONG] = "long",
	[FRAME_FLOOD] = "flood",     [FRAME_NO_MEMORY] = "memory",
};

/* One frame as text: "game<x> ", "long5 ", "flood "; NUL as %. */
static void describe(struct buf *log, const struct frame *frame)
{
	buf_add_text(log, kinds[frame->kind]);
	if (frame->kind == FRAME_LONG) {
		buf_add_u64(log, frame->len);
		buf_add_text(log, frame->is_control ? "@" : "");
		buf_add_text(log, frame->is_raw ? "r" : "");
	} else if (frame->kind != FRAME_FLOOD) {
		buf_add_char(log, '<');
		for (size_t i = 0; i < frame->len; i++)
			buf_add_char(log, frame->text[i] == '\0'
						  ? '%'
						  : frame->text[i]);
		buf_add_char(log, '>');
	}
	buf_add_char(log, ' ');
}

/* All frames of one packet; a control line "@rN" announces N raw lines. */
static void feed(struct framer *framer, const char *data, size_t len,
		 struct buf *log)
{
	/* On the heap, at its exact size: a read past it is found. */
	char *copy = malloc(len + 1);
	struct frame_input input = { copy, len };
	struct frame frame;

	memcpy(copy, data, len);
	while (framer->failed == 0 &&
	       framer_next(framer, &input, &frame) != FRAME_MORE) {
		describe(log, &frame);
		if (frame.kind == FRAME_FLOOD)
			break;
		if (frame.kind == FRAME_CONTROL && frame.len == 3 &&
		    frame.text[1] == 'r')
			framer_expect_raw(framer,
					  (uint32_t)(frame.text[2] - '0'), 5);
	}
	if (framer->failed == 0)
		assert_int_equal(input.len, 0);
	free(copy);
}

/* An LF behind a line that has none yet; "+" tells it. */
static void end_line(struct framer *framer, struct buf *log)
{
	if (framer->failed != 0 ||
	    (!framer->is_dropping && framer->kept_at == framer->kept_len))
		return;
	buf_add_char(log, '+');
	feed(framer, "\n", 1, log);
}

static void run_split(const char *data, size_t len, size_t first, size_t second,
		      const char *expected)
{
	struct framer framer;
	struct buf log = BUF_INIT(10000);

	framer_init(&framer, FRAMER_PEER, GAME, CONTROL, FLOOD);
	feed(&framer, data, first, &log);
	feed(&framer, data + first, second - first, &log);
	feed(&framer, data + second, len - second, &log);
	end_line(&framer, &log);
	assert_string_equal(buf_text(&log), expected);
	framer_release(&framer);
	buf_release(&log);
}

#define CASE(input, expected)                      \
	{                                          \
		input, sizeof(input) - 1, expected \
	}

static const struct {
	const char *input;
	size_t len;
	const char *expected;
} cases[] = {
	CASE("", ""),
	CASE("\n", "game<> "),
	CASE("\r\n", "game<> "),
	CASE("\r\r\n", "game<\r> "),
	CASE("a\rb\r\n", "game<a\rb> "),
	CASE("3,4\r\n5,6\n\n", "game<3,4> game<5,6> game<> "),
	CASE("@ping\n@\n", "control<@ping> control<@> "),
	CASE("@@\n@@x\n@@@y\n", "game<@> game<@x> game<@@y> "),
	CASE("@@quit\r\n", "game<@quit> "),
	CASE(" @x\n", "game< @x> "),
	CASE("tail", "+game<tail> "),
	CASE("tail\r", "+game<tail> "),
	CASE("@tail", "+control<@tail> "),
	CASE("@", "+control<@> "),
	CASE("@@", "+game<@> "),
	/* limits: one below, at, above */
	CASE("1234567\n12345678\n123456789\nx\n",
	     "game<1234567> game<12345678> long9 game<x> "),
	CASE("12345678\r\n123456789\r\n", "game<12345678> long9 "),
	CASE("1234567\r\r\n12345678\r\r\n", "game<1234567\r> long9 "),
	CASE("12345678901\r\r\n", "long12 "),
	CASE("123456789\rab\n", "long12 "),
	CASE("@@234567\n@@2345678\n@@23456789\n",
	     "game<@234567> game<@2345678> long10 "),
	CASE("@2345\n@23456\n@234567\n@x\n",
	     "control<@2345> control<@23456> long7@ control<@x> "),
	CASE("@23456\r\n@234567\r\n", "control<@23456> long7@ "),
	/* a flood: 20 bytes pass, 21 do not, with or without LF */
	CASE("12345678901234567890\nx\n", "long20 game<x> "),
	CASE("12345678901234567890\r\nx\n", "long20 game<x> "),
	CASE("123456789012345678901\nx\n", "flood "),
	CASE("123456789012345678901", "flood "),
	CASE("ok\n12345678901234567890\r\r\n", "game<ok> flood "),
	CASE("@2345678901234567890\nx\n", "long20@ game<x> "),
	CASE("@23456789012345678901\nx\n", "flood "),
	CASE("1234567890", "+long10 "),
	CASE("1234567890\r", "+long10 "),
	/* what must not be in a control line, and may be in a game line */
	CASE("@a\0b\na\0b\n", "garbled<@a%b> game<a%b> "),
	CASE("@\xff\n\xff\n", "garbled<@\xff> game<\xff> "),
	CASE("@\xc3\xa9\n@\xc3\n", "control<@\xc3\xa9> garbled<@\xc3> "),
	CASE("@\xed\xa0\x80\n@\xc0\x80\n",
	     "garbled<@\xed\xa0\x80> garbled<@\xc0\x80> "),
	CASE("@\xf4\x8f\xbf\xbf\n@\xf4\x90\x80\x80\n",
	     "control<@\xf4\x8f\xbf\xbf> garbled<@\xf4\x90\x80\x80> "),
	/* raw lines: nothing is special but the LF */
	CASE("@r2\n@x\n@@\r\n@y\n", "control<@r2> raw<@x> raw<@@\r> "
				    "control<@y> "),
	CASE("@r1\n12345\n1\n", "control<@r1> raw<12345> game<1> "),
	CASE("@r1\n123456\n@z\n", "control<@r1> long6r control<@z> "),
	CASE("@r1\n12345\r\n@z\n", "control<@r1> long6r control<@z> "),
	CASE("@r1\n\n\n", "control<@r1> raw<> game<> "),
};

static void gives_the_same_lines_at_every_split(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		size_t len = cases[i].len;

		for (size_t a = 0; a <= len; a++) {
			for (size_t b = a; b <= len; b++)
				run_split(cases[i].input, len, a, b,
					  cases[i].expected);
		}
	}
}

static void gives_the_same_lines_byte_by_byte(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct framer framer;
		struct buf log = BUF_INIT(10000);

		framer_init(&framer, FRAMER_PEER, GAME, CONTROL, FLOOD);
		for (size_t k = 0; k < cases[i].len; k++) {
			feed(&framer, cases[i].input + k, 1, &log);
			if (framer.failed != 0)
				break;
		}
		end_line(&framer, &log);
		assert_string_equal(buf_text(&log), cases[i].expected);
		framer_release(&framer);
		buf_release(&log);
	}
}

/* Lines taken one at a time, the rest kept for later, as a busy match does. */
static void keeps_what_cannot_be_taken_yet(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		for (size_t at = 0; at <= cases[i].len; at++) {
			struct framer framer;
			struct frame frame;
			struct buf log = BUF_INIT(10000);
			struct frame_input parts[3] = {
				{ cases[i].input, at },
				{ cases[i].input + at, cases[i].len - at },
				{ "", 0 },
			};

			framer_init(&framer, FRAMER_PEER, GAME, CONTROL, FLOOD);
			for (size_t k = 0; k < 3; k++) {
				struct frame_input *part = &parts[k];

				assert_int_equal(framer_keep(&framer, part), 0);
				assert_int_equal(part->len, 0);
				while (framer_has_line(&framer) &&
				       framer.failed == 0) {
					framer_next(&framer, part, &frame);
					if (frame.kind == FRAME_MORE)
						continue;
					describe(&log, &frame);
					if (frame.kind == FRAME_CONTROL &&
					    frame.len == 3 &&
					    frame.text[1] == 'r')
						framer_expect_raw(
							&framer,
							(uint32_t)(frame.text
									   [2] -
								   '0'),
							5);
				}
				if (framer.failed == 0 &&
				    framer_next(&framer, part, &frame) !=
					    FRAME_MORE)
					describe(&log, &frame);
			}
			end_line(&framer, &log);
			assert_string_equal(buf_text(&log), cases[i].expected);
			framer_release(&framer);
			buf_release(&log);
		}
	}
}

static void hands_out_whole_lines_where_they_lie(void **state)
{
	static const char data[] = "move 1,1\n@@x\n@ping\n";
	struct frame_input input = { data, sizeof(data) - 1 };
	struct framer framer;
	struct frame frame;

	(void)state;
	framer_init(&framer, FRAMER_PEER, 100, 100, 1000);
	assert_int_equal(framer_next(&framer, &input, &frame), FRAME_GAME);
	assert_ptr_equal(frame.text, data);
	assert_int_equal(framer_next(&framer, &input, &frame), FRAME_GAME);
	assert_ptr_equal(frame.text, data + 10);
	assert_int_equal(framer_next(&framer, &input, &frame), FRAME_CONTROL);
	assert_ptr_equal(frame.text, data + 13);
	assert_int_equal(framer_next(&framer, &input, &frame), FRAME_MORE);
	assert_int_equal(framer.kept_cap, 0);
	framer_release(&framer);
}

static void costs_nothing_between_lines(void **state)
{
	struct framer framer;
	struct buf log = BUF_INIT(1000);

	(void)state;
	framer_init(&framer, FRAMER_PEER, 1000, 1000, 16000);
	feed(&framer, "half a li", 9, &log);
	assert_in_range(framer.kept_cap, 9, 64);
	feed(&framer, "ne\n", 3, &log);
	assert_int_equal(framer.kept_cap, 0);
	assert_true(sizeof(struct framer) <= 80);
	framer_release(&framer);
	buf_release(&log);
}

static void an_endless_line_takes_no_memory(void **state)
{
	static char block[65536];
	struct framer framer;
	struct frame frame;

	(void)state;
	memset(block, 'a', sizeof(block));
	framer_init(&framer, FRAMER_PEER, 65536, 4096, 16 * 65536);
	for (unsigned i = 0; i < 16; i++) {
		struct frame_input input = { block, sizeof(block) };

		assert_int_equal(framer_next(&framer, &input, &frame),
				 FRAME_MORE);
		assert_true(framer.kept_cap <= 65536 + 2);
	}
	for (unsigned i = 0; i < 3; i++) {
		struct frame_input input = { block, 1 };

		assert_int_equal(framer_next(&framer, &input, &frame),
				 FRAME_FLOOD);
	}
	assert_int_equal(framer.kept_cap, 0);
	framer_release(&framer);
}

static void limits_change_between_lines(void **state)
{
	struct framer framer;
	struct buf log = BUF_INIT(1000);

	(void)state;
	framer_init(&framer, FRAMER_PEER, 4, 4, 8);
	feed(&framer, "12345\n123", 9, &log);
	framer_set_limits(&framer, 8, 8, 16);
	feed(&framer, "45678\n1234567", 13, &log);
	framer_set_limits(&framer, 4, 4, 8);
	feed(&framer, "\n1234\n", 6, &log);
	assert_string_equal(buf_text(&log),
			    "long5 game<12345678> long7 game<1234> ");
	framer_release(&framer);
	buf_release(&log);
}

/* A client's map may have lines longer than anything that is said. */
static void raw_lines_may_be_longer_than_a_flood(void **state)
{
	struct framer framer;
	struct buf log = BUF_INIT(1000);

	(void)state;
	framer_init(&framer, FRAMER_PEER, 8, 8, 8);
	framer_expect_raw(&framer, 2, 12);
	feed(&framer, "1234567890", 10, &log);
	feed(&framer, "12\n1234567890123", 16, &log);
	assert_string_equal(buf_text(&log), "raw<123456789012> flood ");
	framer_release(&framer);
	buf_release(&log);
}

static void a_plain_framer_knows_no_control_lines(void **state)
{
	struct framer framer;
	struct buf log = BUF_INIT(1000);

	(void)state;
	framer_init(&framer, FRAMER_PLAIN, 8, 1, 80);
	feed(&framer, "@quit\n@@\r\n\n123456789\n@end\n", 27, &log);
	assert_string_equal(buf_text(&log),
			    "game<@quit> game<@@> game<> long9 game<@end> ");
	framer_release(&framer);
	buf_release(&log);
}

/* What the writer escapes, the framer gives back, and it is no control line. */
static void escaping_is_undone_by_the_framer(void **state)
{
	static const char *const lines[] = { "",    "@",     "@@",    "@@@",
					     "x@",  "@quit", "a\n@",  "@\n@@\n",
					     "a@b", "\n\n",  "@@@\n@" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(lines); i++) {
		struct buf in = BUF_INIT(100);
		struct buf out = BUF_INIT(100);
		struct buf back = BUF_INIT(100);
		struct frame_input input;
		struct framer framer;
		struct frame frame;

		buf_add_text(&in, lines[i]);
		buf_add_char(&in, '\n');
		frame_add_game_lines(&out, in.data, in.len);
		input = (struct frame_input){ out.data, out.len };
		framer_init(&framer, FRAMER_PEER, 50, 50, 50);
		while (framer_next(&framer, &input, &frame) != FRAME_MORE) {
			assert_int_equal(frame.kind, FRAME_GAME);
			buf_add(&back, frame.text, frame.len);
			buf_add_char(&back, '\n');
		}
		assert_string_equal(buf_text(&back), buf_text(&in));
		if (strchr(lines[i], '\n') == NULL) {
			buf_clear(&back);
			frame_add_game(&back, lines[i], strlen(lines[i]));
			assert_string_equal(buf_text(&back), buf_text(&out));
		}
		framer_release(&framer);
		buf_release(&in);
		buf_release(&out);
		buf_release(&back);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_the_same_lines_at_every_split),
		cmocka_unit_test(gives_the_same_lines_byte_by_byte),
		cmocka_unit_test(keeps_what_cannot_be_taken_yet),
		cmocka_unit_test(hands_out_whole_lines_where_they_lie),
		cmocka_unit_test(costs_nothing_between_lines),
		cmocka_unit_test(an_endless_line_takes_no_memory),
		cmocka_unit_test(limits_change_between_lines),
		cmocka_unit_test(raw_lines_may_be_longer_than_a_flood),
		cmocka_unit_test(a_plain_framer_knows_no_control_lines),
		cmocka_unit_test(escaping_is_undone_by_the_framer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
