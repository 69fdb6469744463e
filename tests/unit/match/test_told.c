/* SPDX-License-Identifier: MIT */
/* What a match tells its seats, from the offer to the end. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "server/match/match_internal.h"
#include "tests/unit/match/toy.h"

static void check_told(struct stage *stage, unsigned seat, const char *text)
{
	assert_string_equal(buf_text(&stage->sent[seat]),
			    text == NULL ? "" : text);
}

static void an_offer_tells_all_that_a_client_must_know(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage.config.limits.bank_ms = 2000;
	stage.config.limits.lag_cap_ms = 250;
	stage.config.limits.init_ms = 1500;
	stage.config.limits.grace_ms = 70;
	stage_offer(&stage);
	check_told(&stage, 1,
		   "@match 4711 ladder=toys game=toy seat=2 seats=2 turns=10 "
		   "all=0 late=5 turn-ms=100 init-ms=1500 bank-ms=2000 "
		   "lag-cap-ms=250 grace-ms=70 ready-ms=10000 line-max=64 "
		   "rated=1\n");
	stage_release(&stage);
}

static void nothing_of_the_map_goes_out_before_all_are_ready(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage_offer(&stage);
	buf_clear(&stage.sent[0]);
	buf_clear(&stage.sent[1]);
	match_ready(stage.match, 0, false, stage.now_us, stage.out);
	stage_take(&stage);
	check_told(&stage, 0, NULL);
	assert_int_equal(stage.out->block_at[0], MATCH_NO_BLOCK);
	/* a second one is no other seat's */
	match_ready(stage.match, 0, false, stage.now_us, stage.out);
	assert_int_equal(match_state(stage.match), MATCH_OFFERED);
	match_ready(stage.match, 1, false, stage.now_us, stage.out);
	assert_true(stage.out->has_started);
	stage_take(&stage);
	check_told(
		&stage, 0,
		"[block]\n@args toy.map 322 0\n@start 4711\nseed 7\nask 1\n");
	check_told(&stage, 1,
		   "[block]\n@args toy.map 322 1\n@start 4711\nseed 7\n");
	stage_release(&stage);
}

static void a_whole_input_goes_behind_the_start(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage.config.game = &toy_whole_game;
	stage_begin(&stage);
	assert_true(stage_got(&stage, 0, "rated=1 whole-input=1\n"));
	check_told(&stage, 0, "@start 4711\n[block]\nseed 7\nask 1\n");
	/* its last line was not said: only a signal ends the program */
	match_void(stage.match, "x", "y", stage.now_us, stage.out);
	stage_take(&stage);
	assert_true(stage_got(&stage, 0, "@end 4711 stop=term reason=void\n"));
	stage_release(&stage);
}

static void who_was_ready_waits_on_when_another_was_silent(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 3);
	stage_offer(&stage);
	match_ready(stage.match, 1, false, stage.now_us, stage.out);
	stage_take(&stage);
	stage_pass(&stage, 9999999);
	assert_int_equal(match_state(stage.match), MATCH_OFFERED);
	stage_pass(&stage, 1);
	assert_true(stage.is_cancelled);
	assert_int_equal(stage.stays, 1u << 1);
	assert_true(stage_got(&stage, 1, "reason=silent queued=1\n"));
	assert_true(stage_got(&stage, 2, "reason=silent queued=0\n"));
	stage_release(&stage);
}

static void all_others_wait_on_when_one_is_lost(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 3);
	stage_offer(&stage);
	match_link_lost(stage.match, 1, stage.now_us, stage.out);
	stage_take(&stage);
	assert_int_equal(stage.stays, 1u << 0 | 1u << 2);
	stage_release(&stage);
}

static void an_engine_that_refuses_the_setup_cancels(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage.setup.seed = "13";
	stage_begin(&stage);
	assert_true(stage.is_cancelled);
	assert_int_equal(stage.stays, 0);
	assert_true(
		stage_got(&stage, 0, "@cancel 4711 reason=failed queued=0\n"));
	stage_release(&stage);
}

static void a_number_of_seats_that_the_game_has_not_is_refused(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage.config.game = &toy_whole_game;
	assert_int_equal(match_new(&stage.match, &stage.config, 0, stage.out),
			 -EINVAL);
	stage_release(&stage);
}

static void a_quiet_seat_hears_control_lines_at_its_end_only(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage_offer(&stage);
	match_ready(stage.match, 0, true, stage.now_us, stage.out);
	stage_take(&stage);
	assert_true(stage_got(&stage, 0, "@start 4711\nseed 7\n"));
	stage_say(&stage, 0, "bad");
	stage_pass(&stage, 150000);
	check_told(&stage, 0, "ask 1\nask 2\nask 3\n");
	buf_clear(&stage.sent[0]);
	stage_say(&stage, 0, "late one");
	stage_say(&stage, 0, "end");
	check_told(&stage, 0,
		   "@fault invalid 1/- turn=1 : bad is bad\n"
		   "@fault late 1/5 turn=2 : 100.0 ms of 100 (+0 lag, no "
		   "bank)\n"
		   "@end 4711 stop=term reason=finished\n");
	stage_release(&stage);
}

static void what_is_held_back_is_bounded(void **unused)
{
	struct stage stage;
	char end[80];
	unsigned kept = 0;

	(void)unused;
	stage_init(&stage, 1);
	stage.setup.params[TOY_TURNS] = 1000;
	stage_offer(&stage);
	match_ready(stage.match, 0, true, stage.now_us, stage.out);
	stage_take(&stage);
	for (unsigned i = 0; i < 999; i++)
		stage_say(&stage, 0, "bad");
	buf_clear(&stage.sent[0]);
	stage_say(&stage, 0, "bad");
	assert_true(stage.sent[0].len > LIMIT_HELD_FAULT_BYTES);
	assert_true(stage.sent[0].len < LIMIT_HELD_FAULT_BYTES + 256);
	for (const char *at = strstr(stage.sent[0].data, "@fault "); at != NULL;
	     at = strstr(at + 1, "@fault "))
		kept++;
	assert_in_range(kept, 50, 150);
	/* whole lines, and the end is there */
	(void)snprintf(end, sizeof(end),
		       "bad is bad\n@end 4711 stop=term reason=finished "
		       "untold=%u\n",
		       1000 - kept);
	assert_true(stage_got(&stage, 0, end));
	stage_release(&stage);
}

static void game_lines_that_begin_with_at_are_escaped(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage_begin(&stage);
	assert_true(stage_got(&stage, 0, "ask 1\n"));
	stage_say(&stage, 0, "at");
	check_told(&stage, 0, "@@at\nask 2\n");
	stage_release(&stage);
}

static void a_local_match_carries_bare_game_lines(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage.config.is_local = true;
	stage.config.limits.ready_ms = 0;
	stage_begin(&stage);
	check_told(&stage, 0, "seed 7\nask 1\n");
	buf_clear(&stage.sent[0]);
	buf_clear(&stage.told);
	stage_say(&stage, 0, "at");
	stage_say(&stage, 0, "bad");
	stage_say(&stage, 0, "end");
	check_told(&stage, 0, "@at\nask 2\nask 3\n");
	assert_string_equal(buf_text(&stage.told),
			    "1: @fault invalid 1/- turn=2 : bad is bad\n"
			    "1: @end 4711 stop=term reason=finished\n");
	stage_release(&stage);
}

static void a_seat_that_ended_is_told_once_and_heard_no_more(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage_begin(&stage);
	stage_say(&stage, 0, "out");
	assert_true(
		stage_got(&stage, 0, "@end 4711 stop=term reason=invalid\n"));
	assert_int_equal(stage.ended, 1u);
	assert_false(match_seat_plays(stage.match, 0));
	for (unsigned i = 0; i < 100; i++)
		stage_say(&stage, 0, "still here");
	match_gone(stage.match, 0, "exit=0", stage.now_us, stage.out);
	stage_take(&stage);
	match_resign(stage.match, 0, stage.now_us, stage.out);
	stage_take(&stage);
	stage_say(&stage, 1, "end");
	check_told(&stage, 0, NULL);
	assert_int_equal(stage.ended, 3u);
	assert_true(stage.is_over);
	stage_release(&stage);
}

static void lines_before_gone_are_still_played(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage_begin(&stage);
	stage_say(&stage, 1, "one");
	stage_say(&stage, 1, "two");
	match_gone(stage.match, 1, "exit=3", stage.now_us, stage.out);
	stage_take(&stage);
	stage_say(&stage, 1, "after the end");
	stage_say(&stage, 0, "a");
	assert_true(stage_got(&stage, 0, "1 said one\n"));
	assert_true(match_seat_plays(stage.match, 1));
	stage_say(&stage, 0, "b");
	assert_true(stage_got(&stage, 0, "1 said two\n"));
	assert_false(match_seat_plays(stage.match, 1));
	assert_null(strstr(buf_text(&stage.sent[0]), "after"));
	stage_release(&stage);
}

static void resigning_drops_what_waits(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage_begin(&stage);
	stage_say(&stage, 1, "one");
	match_gone(stage.match, 1, "exit=3", stage.now_us, stage.out);
	stage_take(&stage);
	match_resign(stage.match, 1, stage.now_us, stage.out);
	stage_take(&stage);
	assert_false(match_seat_plays(stage.match, 1));
	assert_string_equal(stage.match->seats[1].how, "resigned");
	stage_release(&stage);
}

static void a_lost_link_is_sent_nothing(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage_begin(&stage);
	buf_clear(&stage.sent[1]);
	stage_say(&stage, 1, "one");
	match_link_lost(stage.match, 1, stage.now_us, stage.out);
	stage_take(&stage);
	stage_say(&stage, 0, "a");
	/* what it had said counts, and then it is gone */
	assert_true(stage_got(&stage, 0, "1 said one\n"));
	stage_say(&stage, 0, "end");
	check_told(&stage, 1, NULL);
	assert_true(stage.is_over);
	stage_release(&stage);
}

static void an_engine_that_says_too_much_voids_the_match(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage_begin(&stage);
	stage_say(&stage, 0, "flood");
	assert_true(stage.is_void);
	assert_true(stage_got(&stage, 0, "@void 4711 reason=output : "));
	stage_release(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_offer_tells_all_that_a_client_must_know),
		cmocka_unit_test(
			nothing_of_the_map_goes_out_before_all_are_ready),
		cmocka_unit_test(a_whole_input_goes_behind_the_start),
		cmocka_unit_test(
			who_was_ready_waits_on_when_another_was_silent),
		cmocka_unit_test(all_others_wait_on_when_one_is_lost),
		cmocka_unit_test(an_engine_that_refuses_the_setup_cancels),
		cmocka_unit_test(
			a_number_of_seats_that_the_game_has_not_is_refused),
		cmocka_unit_test(
			a_quiet_seat_hears_control_lines_at_its_end_only),
		cmocka_unit_test(what_is_held_back_is_bounded),
		cmocka_unit_test(game_lines_that_begin_with_at_are_escaped),
		cmocka_unit_test(a_local_match_carries_bare_game_lines),
		cmocka_unit_test(
			a_seat_that_ended_is_told_once_and_heard_no_more),
		cmocka_unit_test(lines_before_gone_are_still_played),
		cmocka_unit_test(resigning_drops_what_waits),
		cmocka_unit_test(a_lost_link_is_sent_nothing),
		cmocka_unit_test(an_engine_that_says_too_much_voids_the_match),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
