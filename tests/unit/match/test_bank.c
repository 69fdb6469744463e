/* SPDX-License-Identifier: MIT */
/* What a seat is not charged for: its bank, its lag, the server's stalls. */
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

static void the_bank_pays_the_difference_and_says_so(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage.config.limits.bank_ms = 2000;
	stage.config.limits.lag_cap_ms = 250;
	stage_begin(&stage);
	match_rtt(stage.match, 0, 3 * MS);
	assert_true(seat_of(&stage, 0)->bank_us == 2002 * MS);
	/* up to turn + lag it costs nothing */
	stage.now_us += 103 * MS;
	stage_say(&stage, 0, "x");
	assert_true(seat_of(&stage, 0)->bank_us == 2004 * MS);
	assert_null(strstr(buf_text(&stage.sent[0]), "@banked"));
	stage.now_us += 134 * MS + 1;
	stage_say(&stage, 0, "x");
	assert_true(seat_of(&stage, 0)->bank_us == 2006 * MS - 31 * MS - 1);
	assert_true(stage_got(&stage, 0, "@banked turn=2 ms=134 left=1972\n"));
	assert_int_equal(seat_of(&stage, 0)->banked, 1);
	stage_release(&stage);
}

static void a_silent_seat_delays_by_turns_lag_and_its_bank(void **unused)
{
	struct stage stage;
	int64_t start_us;

	(void)unused;
	stage_init(&stage, 1);
	stage.config.limits.bank_ms = 1200;
	stage.config.limits.lag_cap_ms = 250;
	stage_begin(&stage);
	match_rtt(stage.match, 0, 3 * MS);
	start_us = stage.now_us;
	/* 1202: 500; 704: 500; 206: 206; 2; 2. Owed: a turn later each. */
	for (unsigned i = 0; i < 5; i++) {
		static const int64_t spends[] = { 500, 500, 206, 2, 2 };
		int64_t wait_ms = 103 + spends[i] + (i > 0 ? 100 : 0);

		assert_true(match_deadline(stage.match) ==
			    stage.now_us + wait_ms * MS);
		stage_pass(&stage, wait_ms * MS);
	}
	assert_true(stage.is_over);
	assert_true(stage.now_us - start_us == (5 * 103 + 1210 + 400) * MS);
	assert_true(stage_got(&stage, 0,
			      "@fault late 1/5 turn=1 : 603.0 ms of 100 (+3 "
			      "lag, +500 of the bank, 702 left)\n"));
	stage_release(&stage);
}

static void a_late_fault_tells_what_its_author_needs(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage.config.limits.bank_ms = 1;
	stage.config.limits.bank_step_ms = 0;
	stage.config.limits.init_ms = 10;
	stage_begin(&stage);
	stage.now_us += 140 * MS + 460;
	match_expire(stage.match, stage.now_us, stage.out);
	stage_take(&stage);
	/* it was files_acked never, but file-ms is 0 */
	assert_true(stage_got(&stage, 0,
			      "@fault late 1/5 turn=1 : 140.4 ms of 100 and 10 "
			      "to start (+0 lag, +1 of the bank, 0 left)\n"));
	stage_say(&stage, 0, "old");
	stage.now_us += 131 * MS + 400;
	match_expire(stage.match, stage.now_us, stage.out);
	stage_take(&stage);
	assert_true(stage_got(&stage, 0,
			      "@fault late 2/5 turn=2 : 131.4 ms of 100 (+0 "
			      "lag, bank empty)\n"));
	stage_release(&stage);
}

static void the_least_lag_counts_and_never_rises(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage.config.limits.lag_cap_ms = 250;
	stage_begin(&stage);
	match_rtt(stage.match, 0, 30 * MS);
	assert_true(match_deadline(stage.match) == stage.now_us + 130 * MS);
	/* a clock that runs is not shortened */
	match_rtt(stage.match, 0, 10 * MS);
	assert_true(match_deadline(stage.match) == stage.now_us + 130 * MS);
	match_rtt(stage.match, 0, 90 * MS);
	stage_say(&stage, 0, "x");
	assert_true(match_deadline(stage.match) == stage.now_us + 110 * MS);
	stage_release(&stage);
}

static void a_stall_is_credited_to_the_microsecond(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage_begin(&stage);
	stage.now_us += 150 * MS;
	match_credit_stall(stage.match, 60 * MS, stage.now_us, stage.out);
	stage_take(&stage);
	assert_true(match_deadline(stage.match) == stage.now_us + 10 * MS);
	stage_pass(&stage, 10 * MS - 1);
	assert_int_equal(late_of(&stage, 0), 0);
	stage_say(&stage, 0, "x");
	assert_true(seat_of(&stage, 0)->max_us == 100 * MS - 1);
	/* no more than what has passed since the request */
	stage.now_us += 20 * MS;
	match_credit_stall(stage.match, 60 * MS, stage.now_us, stage.out);
	stage_take(&stage);
	assert_true(match_deadline(stage.match) == stage.now_us + 100 * MS);
	stage_release(&stage);
}

static void a_stall_over_the_bound_voids_the_match(void **unused)
{
	struct match_record *record;
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage.config.limits.stall_void_ms = 1000;
	stage_begin(&stage);
	for (unsigned i = 0; i < 10; i++) {
		stage.now_us += 100 * MS;
		match_credit_stall(stage.match, 100 * MS, stage.now_us,
				   stage.out);
		stage_take(&stage);
	}
	assert_int_equal(match_state(stage.match), MATCH_RUNNING);
	/* Up to a tenth of the turn it does not count. */
	stage.now_us += 10 * MS;
	match_credit_stall(stage.match, 10 * MS, stage.now_us, stage.out);
	stage_take(&stage);
	assert_int_equal(match_state(stage.match), MATCH_RUNNING);
	stage.now_us += 10 * MS + 1;
	match_credit_stall(stage.match, 10 * MS + 1, stage.now_us, stage.out);
	stage_take(&stage);
	assert_int_equal(match_state(stage.match), MATCH_VOID);
	assert_true(stage_got(&stage, 0, "@end 4711 stop=term reason=void\n"));
	assert_true(stage_got(&stage, 0,
			      "@void 4711 reason=stall : the server lost 1010 "
			      "ms\n"));
	record = match_take_record(stage.match, stage.out);
	assert_true(record->is_void);
	assert_string_equal(record->void_reason,
			    "stall: the server lost 1010 ms");
	match_record_free(record);
	stage_release(&stage);
}

static void a_stall_while_nobody_is_timed_is_nothing(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage.config.limits.stall_void_ms = 1;
	stage.keeps_clocks = true;
	stage_begin(&stage);
	stage.now_us += 100 * MS;
	match_credit_stall(stage.match, 50 * MS, stage.now_us, stage.out);
	stage_take(&stage);
	assert_int_equal(match_state(stage.match), MATCH_RUNNING);
	stage_release(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bank_pays_the_difference_and_says_so),
		cmocka_unit_test(
			a_silent_seat_delays_by_turns_lag_and_its_bank),
		cmocka_unit_test(a_late_fault_tells_what_its_author_needs),
		cmocka_unit_test(the_least_lag_counts_and_never_rises),
		cmocka_unit_test(a_stall_is_credited_to_the_microsecond),
		cmocka_unit_test(a_stall_over_the_bound_voids_the_match),
		cmocka_unit_test(a_stall_while_nobody_is_timed_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
