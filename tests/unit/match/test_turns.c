/* SPDX-License-Identifier: MIT */
/* The turn clock to the microsecond, and what it does not run for. */
#include "tests/unit/unit.h"

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

/* One formula of the verdict: what the clock of the first request gives. */
static void a_verdict_falls_where_the_formula_says(void **unused)
{
	static const struct {
		struct match_limits limits;
		int64_t rtt_us; /* -1: none */
		int64_t after_us;
	} rows[] = {
		/* turn */
		{ { .turn_ms = 100 }, -1, 100 * MS },
		/* the first reply has more */
		{ { .turn_ms = 100, .init_ms = 2000 }, -1, 2100 * MS },
		/* lag, up to its cap */
		{ { .turn_ms = 100, .lag_cap_ms = 250 }, 3217, 103217 },
		{ { .turn_ms = 100, .lag_cap_ms = 250 }, 250001, 350 * MS },
		{ { .turn_ms = 100, .lag_cap_ms = 0 }, 3217, 100 * MS },
		/* the bank has grown by a step, the spending is bounded */
		{ { .turn_ms = 100,
		    .bank_ms = 50,
		    .bank_step_ms = 2,
		    .bank_spend_ms = 500 },
		  -1,
		  152 * MS },
		{ { .turn_ms = 100,
		    .bank_ms = 2000,
		    .bank_step_ms = 2,
		    .bank_spend_ms = 500 },
		  -1,
		  600 * MS },
		/* no bank: it does not grow either */
		{ { .turn_ms = 100, .bank_step_ms = 2, .bank_spend_ms = 500 },
		  -1,
		  100 * MS },
		/* all of it */
		{ { .turn_ms = 500,
		    .init_ms = 2000,
		    .bank_ms = 2000,
		    .bank_step_ms = 2,
		    .bank_spend_ms = 500,
		    .lag_cap_ms = 250 },
		  40001,
		  3040001 },
		/* grace: two seconds more, no bank */
		{ { .turn_ms = 150000,
		    .grace_ms = 10000,
		    .bank_ms = 2000,
		    .bank_spend_ms = 500,
		    .lag_cap_ms = 250 },
		  1000,
		  162001 * MS },
		/* none at all */
		{ { .turn_ms = 0, .bank_ms = 5, .bank_spend_ms = 5 }, 7, -1 },
	};

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct stage stage;
		int64_t start_us;

		stage_init(&stage, 1);
		stage.config.limits = rows[i].limits;
		stage.keeps_clocks = true;
		stage_begin(&stage);
		if (rows[i].rtt_us >= 0)
			match_rtt(stage.match, 0, rows[i].rtt_us);
		/* nothing runs before the first send() */
		assert_true(match_deadline(stage.match) == INT64_MAX);
		stage.now_us += 77;
		start_us = stage.now_us;
		match_files_acked(stage.match, 0, start_us);
		match_clock_started(stage.match, 0, start_us);
		if (rows[i].after_us < 0) {
			assert_true(match_deadline(stage.match) == INT64_MAX);
		} else if (rows[i].limits.grace_ms > 0) {
			assert_true(match_deadline(stage.match) ==
				    start_us + rows[i].limits.turn_ms * MS);
			assert_true(seat_of(&stage, 0)->verdict_us ==
				    start_us + rows[i].after_us);
		} else if (match_deadline(stage.match) !=
			   start_us + rows[i].after_us) {
			fail_msg("row %zu: %lld", i,
				 (long long)(match_deadline(stage.match) -
					     start_us));
		}
		stage_release(&stage);
	}
}

static void a_verdict_does_not_fall_a_microsecond_early(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage_begin(&stage);
	stage.now_us += 99999;
	assert_int_equal(match_due(stage.match, stage.now_us), 0);
	match_expire(stage.match, stage.now_us, stage.out);
	stage_take(&stage);
	assert_int_equal(late_of(&stage, 0), 0);
	stage.now_us += 1;
	assert_int_equal(match_due(stage.match, stage.now_us), 1);
	match_expire(stage.match, stage.now_us, stage.out);
	stage_take(&stage);
	assert_int_equal(late_of(&stage, 0), 1);
	stage_release(&stage);
}

/* BC28 */
static void a_reply_at_the_limit_ends_its_turn_exactly_once(void **unused)
{
	(void)unused;
	for (int64_t at_us = 98 * MS; at_us <= 102 * MS; at_us += 500) {
		struct stage stage;

		stage_init(&stage, 1);
		stage_begin(&stage);
		/* the loop: what was read first, then the verdict */
		stage.now_us += at_us;
		if (at_us <= 100 * MS) {
			stage_say(&stage, 0, "x");
			match_expire(stage.match, stage.now_us, stage.out);
			stage_take(&stage);
			assert_int_equal(late_of(&stage, 0), 0);
		} else {
			match_expire(stage.match, stage.now_us, stage.out);
			stage_take(&stage);
			stage_say(&stage, 0, "x");
			assert_int_equal(late_of(&stage, 0), 1);
		}
		assert_int_equal(seat_of(&stage, 0)->requests, 2);
		assert_int_equal(seat_of(&stage, 0)->owed, 0);
		stage_release(&stage);
	}
}

static void what_the_last_read_gives_is_in_time(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage_begin(&stage);
	stage.now_us += 100 * MS + 300;
	assert_int_equal(match_due(stage.match, stage.now_us), 1);
	stage_say(&stage, 0, "x");
	match_expire(stage.match, stage.now_us, stage.out);
	stage_take(&stage);
	assert_int_equal(late_of(&stage, 0), 0);
	stage_release(&stage);
}

static void the_first_clock_waits_for_the_files(void **unused)
{
	struct stage stage;
	int64_t sent_us;

	(void)unused;
	stage_init(&stage, 1);
	stage.config.limits.init_ms = 2000;
	stage.config.limits.file_ms = 5000;
	stage_begin(&stage);
	sent_us = stage.now_us;
	assert_true(match_deadline(stage.match) == sent_us + 7100 * MS);
	stage.now_us += 1234567;
	match_files_acked(stage.match, 0, stage.now_us);
	assert_true(match_deadline(stage.match) == stage.now_us + 2100 * MS);
	/* once is enough */
	stage.now_us += 5;
	match_files_acked(stage.match, 0, stage.now_us);
	assert_true(match_deadline(stage.match) ==
		    stage.now_us - 5 + 2100 * MS);
	stage.now_us += 1000 * MS - 5;
	stage_say(&stage, 0, "x");
	assert_true(seat_of(&stage, 0)->max_us == 1000 * MS);
	stage_release(&stage);
}

static void files_that_are_never_acked_wait_file_ms_only(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage.config.limits.file_ms = 5000;
	stage_begin(&stage);
	stage.now_us += 9000 * MS;
	match_files_acked(stage.match, 0, stage.now_us);
	assert_true(match_deadline(stage.match) ==
		    stage.now_us - 9000 * MS + 5100 * MS);
	stage_release(&stage);
}

/* BC24, BC26 */
static void time_runs_only_while_a_reply_is_due(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage.config.limits.turn_ms = 5000;
	stage_begin(&stage);
	stage.now_us += 5 * MS;
	stage_say(&stage, 0, "x");
	/* seat 1 needs three seconds */
	stage_pass(&stage, 3000 * MS);
	stage_say(&stage, 1, "x");
	stage.now_us += 5 * MS;
	stage_say(&stage, 0, "x");
	assert_int_equal(late_of(&stage, 0), 0);
	assert_true(seat_of(&stage, 0)->total_us == 10 * MS);
	assert_true(seat_of(&stage, 1)->max_us == 3000 * MS);
	stage_release(&stage);
}

/* BC29 */
static void a_dead_bot_costs_its_turns_and_no_more(void **unused)
{
	struct stage stage;
	int64_t start_us;

	(void)unused;
	stage_init(&stage, 2);
	stage.setup.params[TOY_TURNS] = 100;
	stage_begin(&stage);
	start_us = stage.now_us;
	for (unsigned i = 0; i < 200 && !stage.is_over; i++) {
		if (seat_of(&stage, 1)->is_asked)
			stage_say(&stage, 1, "x");
		else
			stage_pass(&stage, 200 * MS);
	}
	assert_true(stage.is_over);
	assert_int_equal(late_of(&stage, 0), 5);
	assert_true(stage.now_us - start_us <= 1000 * MS);
	stage_release(&stage);
}

/* BC30 */
static void a_turn_in_which_all_are_late_is_told_to_the_engine_as_that(
	void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage.setup.params[TOY_ALL_AT_ONCE] = 1;
	stage_begin(&stage);
	stage_pass(&stage, 100 * MS);
	assert_int_equal(late_of(&stage, 0), 1);
	assert_int_equal(late_of(&stage, 1), 1);
	assert_false(stage.is_over);
	assert_int_equal(seat_of(&stage, 0)->requests, 2);
	stage_release(&stage);
}

static void simultaneous_requests_have_a_clock_each(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 3);
	stage.setup.params[TOY_ALL_AT_ONCE] = 1;
	stage.keeps_clocks = true;
	stage_begin(&stage);
	assert_int_equal(stage.out->clock, 7);
	for (unsigned seat = 0; seat < 3; seat++) {
		match_clock_started(stage.match, seat, stage.now_us);
		stage.now_us += 10 * MS;
	}
	assert_true(match_deadline(stage.match) == stage.now_us + 70 * MS);
	stage_say(&stage, 0, "x");
	assert_true(match_deadline(stage.match) == stage.now_us + 80 * MS);
	stage_pass(&stage, 80 * MS);
	assert_int_equal(late_of(&stage, 0), 0);
	assert_int_equal(late_of(&stage, 1), 1);
	assert_int_equal(late_of(&stage, 2), 0);
	stage_say(&stage, 2, "x");
	assert_int_equal(seat_of(&stage, 2)->requests, 2);
	stage_release(&stage);
}

static void grace_interrupts_once_and_then_waits(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage.config.limits.grace_ms = 1000;
	stage_begin(&stage);
	buf_clear(&stage.sent[0]);
	stage_pass(&stage, 99999);
	assert_string_equal(buf_text(&stage.sent[0]), "");
	stage_pass(&stage, 1);
	assert_string_equal(buf_text(&stage.sent[0]), "@interrupt 4711\n");
	stage_pass(&stage, 2999 * MS);
	assert_string_equal(buf_text(&stage.sent[0]), "@interrupt 4711\n");
	stage_say(&stage, 0, "x");
	assert_int_equal(late_of(&stage, 0), 0);
	assert_int_equal(seat_of(&stage, 0)->banked, 0);
	/* the next one is not answered at all */
	stage_pass(&stage, 3100 * MS - 1);
	assert_int_equal(late_of(&stage, 0), 0);
	stage_pass(&stage, 1);
	assert_int_equal(late_of(&stage, 0), 1);
	assert_true(stage_got(&stage, 0, "(+0 lag, +3000 grace)\n"));
	stage_release(&stage);
}

static void a_busy_engine_stops_no_clock(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage.setup.params[TOY_ALL_AT_ONCE] = 1;
	stage_begin(&stage);
	stage_say(&stage, 0, "busy");
	assert_true(match_deadline(stage.match) == INT64_MAX);
	/* seat 1 is too late while the engine is away; nothing else happens */
	stage.now_us += 101 * MS;
	stage_say(&stage, 1, "too late");
	stage.now_us += 50 * MS;
	match_work(stage.match);
	match_resume(stage.match, stage.now_us, stage.out);
	stage_take(&stage);
	assert_int_equal(late_of(&stage, 1), 1);
	assert_int_equal(seat_of(&stage, 1)->owed, 0);
	assert_null(strstr(buf_text(&stage.sent[0]), "too late"));
	assert_true(stage_got(&stage, 1, ": 100.0 ms of 100"));
	stage_release(&stage);
}

static void what_came_in_time_while_the_engine_was_away_counts(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage.setup.params[TOY_ALL_AT_ONCE] = 1;
	stage_begin(&stage);
	stage_say(&stage, 0, "busy");
	stage.now_us += 99 * MS;
	stage_say(&stage, 1, "in time");
	stage.now_us += 500 * MS;
	match_work(stage.match);
	match_resume(stage.match, stage.now_us, stage.out);
	stage_take(&stage);
	assert_int_equal(late_of(&stage, 1), 0);
	assert_true(seat_of(&stage, 1)->max_us == 99 * MS);
	assert_int_equal(seat_of(&stage, 1)->early, 0);
	assert_true(stage_got(&stage, 0, "1 said in time\n"));
	stage_release(&stage);
}

static void a_lost_link_costs_no_time(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage_begin(&stage);
	match_link_lost(stage.match, 0, stage.now_us, stage.out);
	stage_take(&stage);
	/* the other one is asked at once */
	assert_true(match_deadline(stage.match) == stage.now_us + 100 * MS);
	assert_true(seat_of(&stage, 1)->is_asked);
	stage_release(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_verdict_falls_where_the_formula_says),
		cmocka_unit_test(a_verdict_does_not_fall_a_microsecond_early),
		cmocka_unit_test(
			a_reply_at_the_limit_ends_its_turn_exactly_once),
		cmocka_unit_test(what_the_last_read_gives_is_in_time),
		cmocka_unit_test(the_first_clock_waits_for_the_files),
		cmocka_unit_test(files_that_are_never_acked_wait_file_ms_only),
		cmocka_unit_test(time_runs_only_while_a_reply_is_due),
		cmocka_unit_test(a_dead_bot_costs_its_turns_and_no_more),
		cmocka_unit_test(
			a_turn_in_which_all_are_late_is_told_to_the_engine_as_that),
		cmocka_unit_test(simultaneous_requests_have_a_clock_each),
		cmocka_unit_test(grace_interrupts_once_and_then_waits),
		cmocka_unit_test(a_busy_engine_stops_no_clock),
		cmocka_unit_test(
			what_came_in_time_while_the_engine_was_away_counts),
		cmocka_unit_test(a_lost_link_costs_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
