/* SPDX-License-Identifier: MIT */
#include "server/ladder/pairing_penalty.h"

#include "tests/unit/unit.h"

#define SECOND INT64_C(1000000)
#define NOW (1000 * SECOND)

static void forgives_a_first_withdrawal(void **state)
{
	struct pairing_penalty penalty = { 0 };

	(void)state;
	assert_int_equal(penalty_note_withdrawal(&penalty, NOW), 0);
	assert_true(penalty.paused_until_us == 0);
}

static void pauses_longer_each_time_up_to_an_hour(void **state)
{
	static const uint32_t expected[] = { 0,    10,   20,  40,   80,
					     160,  320,  640, 1280, 2560,
					     3600, 3600, 3600 };
	struct pairing_penalty penalty = { 0 };
	int64_t now_us = NOW;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(expected); i++) {
		assert_int_equal(penalty_note_withdrawal(&penalty, now_us),
				 expected[i]);
		now_us += SECOND;
	}
}

static void counts_a_forfeit_twice(void **state)
{
	struct pairing_penalty penalty = { 0 };

	(void)state;
	assert_int_equal(penalty_note_forfeit(&penalty, NOW), 10);
	assert_int_equal(penalty_note_forfeit(&penalty, NOW), 40);
}

static void tells_whole_seconds_rounded_up(void **state)
{
	struct pairing_penalty penalty = { 0 };

	(void)state;
	(void)penalty_note_forfeit(&penalty, NOW);
	assert_int_equal(penalty_retry_after(&penalty, NOW + 1), 10);
	assert_int_equal(penalty_retry_after(&penalty, NOW + 9 * SECOND), 1);
	assert_int_equal(penalty_retry_after(&penalty, NOW + 10 * SECOND - 1),
			 1);
	assert_int_equal(penalty_retry_after(&penalty, NOW + 10 * SECOND), 0);
}

static void forgets_a_point_for_each_completed_set(void **state)
{
	struct pairing_penalty penalty = { 0 };

	(void)state;
	(void)penalty_note_forfeit(&penalty, NOW);
	penalty_note_completed(&penalty, NOW);
	penalty_note_completed(&penalty, NOW);
	penalty_note_completed(&penalty, NOW);
	/* The pause that runs goes on. */
	assert_int_equal(penalty_retry_after(&penalty, NOW), 10);
	assert_int_equal(penalty.points, 0);
	assert_int_equal(penalty_note_withdrawal(&penalty, NOW + 20 * SECOND),
			 0);
}

static void forgets_a_point_each_half_hour(void **state)
{
	struct pairing_penalty penalty = { 0 };

	(void)state;
	for (int i = 0; i < 4; i++)
		(void)penalty_note_withdrawal(&penalty, NOW);
	assert_int_equal(
		penalty_note_withdrawal(&penalty, NOW + PENALTY_FORGET_US - 1),
		80);
	/* Five points, counted from the last one on; two are forgotten. */
	assert_int_equal(
		penalty_note_withdrawal(&penalty, NOW + 3 * PENALTY_FORGET_US),
		40);
	/* Long after, it is as if nothing had been. */
	assert_int_equal(penalty_note_withdrawal(&penalty,
						 NOW + 100 * PENALTY_FORGET_US),
			 0);
	assert_int_equal(penalty.points, 1);
}

static void shortens_no_pause_that_runs(void **state)
{
	struct pairing_penalty penalty = { 0 };

	(void)state;
	for (int i = 0; i < 6; i++)
		(void)penalty_note_withdrawal(&penalty, NOW);
	for (int i = 0; i < 6; i++)
		penalty_note_completed(&penalty, NOW);
	assert_int_equal(penalty_note_forfeit(&penalty, NOW + SECOND), 159);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forgives_a_first_withdrawal),
		cmocka_unit_test(pauses_longer_each_time_up_to_an_hour),
		cmocka_unit_test(counts_a_forfeit_twice),
		cmocka_unit_test(tells_whole_seconds_rounded_up),
		cmocka_unit_test(forgets_a_point_for_each_completed_set),
		cmocka_unit_test(forgets_a_point_each_half_hour),
		cmocka_unit_test(shortens_no_pause_that_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
