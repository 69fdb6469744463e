/* SPDX-License-Identifier: MIT */
/* Owed replies, and lines that come before they are asked for. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "server/match/match_internal.h"
#include "tests/unit/match/toy.h"

enum { MS = 1000 };

static struct match_seat *seat_of(struct stage *stage, unsigned seat)
{
	return &stage->match->seats[seat];
}

static uint32_t late_of(struct stage *stage, unsigned seat)
{
	return match_seat_faults(stage->match, seat, MATCH_FAULT_LATE);
}

/* BC21 */
static void a_late_reply_does_not_answer_the_next_request(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage.setup.params[TOY_ALL_AT_ONCE] = 1;
	stage_begin(&stage);
	for (unsigned turn = 1; turn <= 5; turn++) {
		char text[16];

		(void)snprintf(text, sizeof(text), "pixel %u", turn);
		stage_say(&stage, 1, "x");
		if (turn == 3) {
			stage_pass(&stage, 150 * MS);
			assert_int_equal(late_of(&stage, 0), 1);
			/* turn 4 is asked by now; this is turn 3's */
			stage_say(&stage, 0, text);
			assert_int_equal(seat_of(&stage, 0)->owed, 0);
			assert_null(strstr(buf_text(&stage.sent[1]), text));
			continue;
		}
		stage_say(&stage, 0, text);
		assert_true(stage_got(&stage, 1, text));
	}
	assert_int_equal(late_of(&stage, 0), 1);
	stage_release(&stage);
}

/* BC22: 20 ms late each time. */
static void who_is_always_late_never_counts(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage.setup.params[TOY_ALL_AT_ONCE] = 1;
	stage_begin(&stage);
	for (unsigned turn = 1; turn <= 5; turn++) {
		stage_say(&stage, 1, "x");
		/*
		 * It begins to think when it has sent the last reply: its
		 * clock begins there as well.
		 */
		stage_pass(&stage, turn == 1 ? 120 * MS : 100 * MS);
		assert_int_equal(late_of(&stage, 0), turn);
		if (turn < 5) {
			stage_pass(&stage, turn == 1 ? 0 : 20 * MS);
			stage_say(&stage, 0, "late");
		}
	}
	assert_null(strstr(buf_text(&stage.sent[1]), "0 said"));
	assert_true(stage_got(&stage, 0,
			      "@end 4711 stop=term "
			      "reason=suspended\n"));
	stage_release(&stage);
}

static void the_clock_waits_one_turn_for_an_owed_reply(void **unused)
{
	struct stage stage;
	int64_t asked_us;

	(void)unused;
	stage_init(&stage, 1);
	stage_begin(&stage);
	stage_pass(&stage, 100 * MS);
	asked_us = stage.now_us;
	assert_true(match_deadline(stage.match) == asked_us + 200 * MS);
	stage.now_us += 30 * MS;
	stage_say(&stage, 0, "old");
	assert_true(match_deadline(stage.match) == asked_us + 130 * MS);
	stage.now_us += 40 * MS;
	stage_say(&stage, 0, "new");
	assert_true(seat_of(&stage, 0)->max_us == 40 * MS);
	/* two are owed: the clock begins with the second */
	stage_pass(&stage, 100 * MS);
	stage_pass(&stage, 200 * MS);
	assert_int_equal(seat_of(&stage, 0)->owed, 2);
	asked_us = stage.now_us;
	stage.now_us += 10 * MS;
	stage_say(&stage, 0, "old");
	assert_true(match_deadline(stage.match) == asked_us + 200 * MS);
	stage.now_us += 10 * MS;
	stage_say(&stage, 0, "old");
	assert_true(match_deadline(stage.match) == asked_us + 120 * MS);
	stage_release(&stage);
}

static void an_owed_reply_that_came_before_the_send_delays_nothing(
	void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage_begin(&stage);
	stage_pass(&stage, 100 * MS);
	/* seat 1 thinks meanwhile */
	stage.now_us += 10 * MS;
	stage_say(&stage, 0, "old");
	stage.now_us += 10 * MS;
	stage_say(&stage, 1, "x");
	assert_true(match_deadline(stage.match) == stage.now_us + 100 * MS);
	stage_release(&stage);
}

static void skip_settles_the_oldest_owed_reply(void **unused)
{
	struct stage stage;
	int64_t asked_us;

	(void)unused;
	stage_init(&stage, 1);
	stage_begin(&stage);
	/* no pass: the request stays open */
	match_skip(stage.match, 0, stage.now_us, stage.out);
	stage_take(&stage);
	assert_int_equal(seat_of(&stage, 0)->requests, 1);
	stage_pass(&stage, 100 * MS);
	asked_us = stage.now_us;
	stage.now_us += 5 * MS;
	match_skip(stage.match, 0, stage.now_us, stage.out);
	stage_take(&stage);
	assert_int_equal(seat_of(&stage, 0)->owed, 0);
	assert_true(match_deadline(stage.match) == asked_us + 105 * MS);
	stage_say(&stage, 0, "counts");
	assert_int_equal(seat_of(&stage, 0)->requests, 3);
	stage_release(&stage);
}

static void replies_ahead_answer_later_requests_in_order(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage.setup.params[TOY_TURNS] = 40;
	stage_begin(&stage);
	for (unsigned i = 0; i < LIMIT_LINES_AHEAD; i++) {
		char text[16];

		assert_true(match_wants(stage.match, 1));
		(void)snprintf(text, sizeof(text), "%u", i);
		stage_say(&stage, 1, text);
	}
	assert_false(match_wants(stage.match, 1));
	assert_true(match_wants(stage.match, 0));
	for (unsigned i = 0; i < LIMIT_LINES_AHEAD; i++) {
		char text[32];

		stage_say(&stage, 0, "x");
		assert_true(match_wants(stage.match, 1));
		(void)snprintf(text, sizeof(text), "1 said %u\n", i);
		assert_true(stage_got(&stage, 0, text));
		/* it is never asked in a way that starts a clock */
		assert_int_equal(stage.out->clock, 1u << 0);
	}
	assert_int_equal(seat_of(&stage, 1)->early, LIMIT_LINES_AHEAD);
	assert_true(seat_of(&stage, 1)->max_us == 0);
	assert_null(seat_of(&stage, 1)->ahead.data);
	stage_release(&stage);
}

static void one_line_max_of_bytes_ahead_is_enough(void **unused)
{
	char text[65];
	struct stage stage;

	(void)unused;
	memset(text, 'x', 64);
	text[64] = '\0';
	stage_init(&stage, 2);
	stage_begin(&stage);
	text[63] = '\0';
	stage_say(&stage, 1, text);
	assert_true(match_wants(stage.match, 1));
	stage_say(&stage, 1, "y");
	assert_false(match_wants(stage.match, 1));
	stage_release(&stage);
}

static void lines_count_from_ready_on(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage_offer(&stage);
	stage_say(&stage, 0, "stray");
	match_ready(stage.match, 0, false, stage.now_us, stage.out);
	stage_take(&stage);
	stage_say(&stage, 0, "first");
	match_ready(stage.match, 1, false, stage.now_us, stage.out);
	stage_take(&stage);
	assert_true(stage_got(&stage, 1, "0 said first\n"));
	assert_null(strstr(buf_text(&stage.sent[1]), "stray"));
	stage_release(&stage);
}

static void an_overlong_line_is_fed_as_the_empty_one(void **unused)
{
	char text[66];
	struct stage stage;

	(void)unused;
	memset(text, 'x', 65);
	text[65] = '\0';
	stage_init(&stage, 2);
	stage_begin(&stage);
	stage_say(&stage, 0, text);
	assert_true(stage_got(&stage, 0, "@fault long 1/- turn=1 : "));
	assert_true(stage_got(&stage, 1, "0 said \n"));
	stage_release(&stage);
}

static void an_owed_overlong_line_is_thrown_away(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage_begin(&stage);
	stage_pass(&stage, 100 * MS);
	match_line_long(stage.match, 0, stage.now_us, stage.out);
	stage_take(&stage);
	assert_int_equal(seat_of(&stage, 0)->owed, 0);
	assert_int_equal(seat_of(&stage, 0)->requests, 2);
	assert_int_equal(match_seat_faults(stage.match, 0, MATCH_FAULT_LONG),
			 0);
	stage_release(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_late_reply_does_not_answer_the_next_request),
		cmocka_unit_test(who_is_always_late_never_counts),
		cmocka_unit_test(the_clock_waits_one_turn_for_an_owed_reply),
		cmocka_unit_test(
			an_owed_reply_that_came_before_the_send_delays_nothing),
		cmocka_unit_test(skip_settles_the_oldest_owed_reply),
		cmocka_unit_test(replies_ahead_answer_later_requests_in_order),
		cmocka_unit_test(one_line_max_of_bytes_ahead_is_enough),
		cmocka_unit_test(lines_count_from_ready_on),
		cmocka_unit_test(an_overlong_line_is_fed_as_the_empty_one),
		cmocka_unit_test(an_owed_overlong_line_is_thrown_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
