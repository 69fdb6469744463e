/* SPDX-License-Identifier: MIT */
#include "clients/run/league.h"

#include <math.h>
#include <string.h>

#include "tests/unit/unit.h"

enum { ROWS_MAX = 64 };

/* ---- the interval ---- */

static void reaches_as_far_as_the_printed_tables(void **state)
{
	/* Two-sided 95 %, from the usual tables, all their digits. */
	static const struct {
		size_t degrees;
		double t;
	} cases[] = {
		{ 1, 12.7062047 },  { 2, 4.3026527 },    { 3, 3.1824463 },
		{ 4, 2.7764451 },   { 5, 2.5705818 },    { 10, 2.2281389 },
		{ 11, 2.2009852 },  { 29, 2.0452296 },   { 30, 2.0422725 },
		{ 100, 1.9839715 }, { 1000, 1.9623391 }, { 100000, 1.9599877 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		assert_true(fabs(paired_t95(cases[i].degrees) - cases[i].t) <
			    2e-7);
	/* Beyond, it hardly changes. */
	assert_true(fabs(paired_t95(10000000) - 1.9599640) < 5e-5);
}

static void gives_students_own_interval(void **state)
{
	/*
	 * Student 1908: hours of sleep gained by ten patients, one drug less
	 * the other. Mean 1.58, t 4.0621, interval 0.7001142 to 2.4598858.
	 */
	static const double sleep[] = { 1.2, 2.4, 1.3, 1.3, 0.0,
					1.0, 1.8, 0.8, 4.6, 1.4 };
	struct paired paired = paired_from(sleep, COUNT_OF(sleep));

	(void)state;
	assert_int_equal(paired.count, 10);
	assert_true(fabs(paired.mean - 1.58) < 1e-12);
	assert_true(fabs(paired.mean - paired.half - 0.7001142) < 1e-7);
	assert_true(fabs(paired.mean + paired.half - 2.4598858) < 1e-7);
}

static void knows_no_interval_of_less_than_two(void **state)
{
	static const double one[] = { 3.5 };
	static const double equal[] = { 2.0, 2.0, 2.0 };

	(void)state;
	assert_true(isnan(paired_from(NULL, 0).mean));
	assert_true(paired_from(one, 1).mean == 3.5);
	assert_true(isnan(paired_from(one, 1).half));
	assert_true(paired_from(equal, 3).half == 0);
}

/* ---- the plan ---- */

static void plays_a_solo_instance_once_a_bot(void **state)
{
	struct league_plan plan = { .nbots = 3,
				    .nmaps = 2,
				    .seats = 1,
				    .first_seed = 5,
				    .last_seed = 6 };

	(void)state;
	assert_int_equal(league_instances(&plan), 4);
	assert_int_equal(league_matches(&plan), 12);
	for (unsigned i = 0; i < 12; i++) {
		struct league_match match = league_match(&plan, i);

		assert_int_equal(match.bots[0], i % 3);
		assert_int_equal(match.instance, i / 3);
		assert_int_equal(match.map, i / 6);
		assert_int_equal(match.seed, 5 + i / 3 % 2);
	}
}

static void seats_every_bot_equally_often_everywhere(void **state)
{
	(void)state;
	for (unsigned seats = 2; seats <= 5; seats++) {
		struct league_plan plan = { .nbots = 5,
					    .nmaps = 1,
					    .seats = seats,
					    .first_seed = -1,
					    .last_seed = 1 };
		unsigned times[5][GAME_SEATS_MAX] = { 0 };
		unsigned total = league_matches(&plan);

		for (unsigned i = 0; i < total; i++) {
			struct league_match match = league_match(&plan, i);
			unsigned seen = 0;

			for (unsigned s = 0; s < seats; s++) {
				assert_int_equal(seen >> match.bots[s] & 1, 0);
				seen |= 1u << match.bots[s];
				times[match.bots[s]][s]++;
			}
		}
		for (unsigned b = 0; b < 5; b++) {
			for (unsigned s = 0; s < seats; s++)
				assert_int_equal(times[b][s], times[0][0]);
		}
		assert_int_equal(times[0][0] * 5, total);
	}
}

static void refuses_more_matches_than_there_may_be(void **state)
{
	struct league_plan plan = { .nbots = 32,
				    .nmaps = 1000,
				    .seats = 8,
				    .first_seed = INT64_MIN,
				    .last_seed = INT64_MAX };

	(void)state;
	assert_int_equal(league_matches(&plan), 0);
	plan = (struct league_plan){ .nbots = 1, .nmaps = 1, .seats = 1 };
	plan.last_seed = LEAGUE_MATCHES_MAX - 1;
	assert_int_equal(league_matches(&plan), LEAGUE_MATCHES_MAX);
	plan.last_seed++;
	assert_int_equal(league_matches(&plan), 0);
}

/* ---- the sums ---- */

static void set(struct league_row *row, unsigned seat, int64_t points,
		unsigned rank)
{
	row->is_played = true;
	row->seats[seat].score = (double)points;
	row->seats[seat].points = points;
	row->seats[seat].rank = rank;
}

static void sums_up_solo_runs(void **state)
{
	/* Three instances; the second bot is 1, 2 and 6 better. */
	static const int64_t points[3][2] = { { 10, 11 }, { 4, 6 }, { 7, 13 } };
	struct league_plan plan = { .nbots = 2,
				    .nmaps = 1,
				    .seats = 1,
				    .first_seed = 1,
				    .last_seed = 3 };
	struct league_row rows[ROWS_MAX] = { 0 };
	static struct league_sums sums;

	(void)state;
	for (unsigned i = 0; i < 6; i++)
		set(&rows[i], 0, points[i / 2][i % 2], 1);
	rows[1].seats[0].reason = GAME_LEFT;
	rows[3].seats[0].faults[MATCH_FAULT_LATE] = 2;
	rows[5].seats[0].max_us = 700;
	league_sum(&plan, rows, 0, &sums);
	assert_int_equal(sums.played, 6);
	assert_true(sums.bots[0].mean == 7);
	assert_true(sums.bots[1].mean == 10);
	assert_int_equal(sums.bots[1].difference.count, 3);
	assert_true(sums.bots[1].difference.mean == 3);
	/* Deviations -2, -1, 3: s^2 = 7; 4.3026527 * sqrt(7 / 3). */
	assert_true(fabs(sums.bots[1].difference.half - 6.5724106) < 1e-6);
	assert_int_equal(sums.versus[1][0].wins, 3);
	assert_int_equal(sums.versus[0][1].losses, 3);
	assert_int_equal(sums.bots[1].gone, 1);
	assert_int_equal(sums.bots[1].faults[MATCH_FAULT_LATE], 2);
	assert_int_equal(sums.bots[1].max_us, 700);
	assert_int_equal(sums.bots[1].worst.instance, 0);
	assert_int_equal(sums.bots[1].best.instance, 2);
	assert_true(sums.bots[1].best.others == 7);
	league_sum(&plan, rows, -1, &sums);
	assert_int_equal(sums.reference, 1);
	assert_true(sums.bots[0].difference.mean == -3);
}

static void counts_matches_of_shared_games_by_rank(void **state)
{
	struct league_plan plan = { .nbots = 3, .nmaps = 1, .seats = 3 };
	struct league_row rows[ROWS_MAX] = { 0 };
	static struct league_sums sums;

	(void)state;
	assert_int_equal(league_matches(&plan), 3);
	/* Bot 0 first, bots 1 and 2 together, in whatever seat they are. */
	for (unsigned i = 0; i < 3; i++) {
		struct league_match match = league_match(&plan, i);

		for (unsigned s = 0; s < 3; s++)
			set(&rows[i], s, match.bots[s] == 0 ? 9 : 5,
			    match.bots[s] == 0 ? 1 : 2);
	}
	league_sum(&plan, rows, 0, &sums);
	assert_int_equal(sums.versus[0][1].wins, 3);
	assert_int_equal(sums.versus[1][2].draws, 3);
	assert_int_equal(sums.versus[2][0].losses, 3);
	assert_true(sums.bots[2].difference.mean == -4);
	/* Three matches on one instance are one difference. */
	assert_int_equal(sums.bots[2].difference.count, 1);
}

static void pairs_only_what_both_have_finished(void **state)
{
	struct league_plan plan = { .nbots = 2,
				    .nmaps = 1,
				    .seats = 2,
				    .first_seed = 1,
				    .last_seed = 2 };
	struct league_row rows[ROWS_MAX] = { 0 };
	static struct league_sums sums;

	(void)state;
	league_sum(&plan, rows, 0, &sums);
	assert_int_equal(sums.played, 0);
	assert_true(isnan(sums.bots[0].mean));
	assert_false(sums.bots[0].worst.is_known);
	/* Instance 0 whole, of instance 1 one seating of two. */
	for (unsigned i = 0; i < 3; i++) {
		set(&rows[i], 0, 10 + i, 1);
		set(&rows[i], 1, 5, 2);
	}
	league_sum(&plan, rows, 0, &sums);
	assert_int_equal(sums.played, 3);
	assert_int_equal(sums.bots[0].matches, 3);
	assert_int_equal(sums.bots[1].difference.count, 1);
	/* Bot 0 has 10 and 5 there, bot 1 5 and 11. */
	assert_true(sums.bots[1].difference.mean == 0.5);
	assert_int_equal(sums.bots[0].best.instance, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reaches_as_far_as_the_printed_tables),
		cmocka_unit_test(gives_students_own_interval),
		cmocka_unit_test(knows_no_interval_of_less_than_two),
		cmocka_unit_test(plays_a_solo_instance_once_a_bot),
		cmocka_unit_test(seats_every_bot_equally_often_everywhere),
		cmocka_unit_test(refuses_more_matches_than_there_may_be),
		cmocka_unit_test(sums_up_solo_runs),
		cmocka_unit_test(counts_matches_of_shared_games_by_rank),
		cmocka_unit_test(pairs_only_what_both_have_finished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
