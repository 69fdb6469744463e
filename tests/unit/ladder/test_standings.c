/* SPDX-License-Identifier: MIT */
#include "server/ladder/standings.h"

#include <math.h>
#include <string.h>

#include "tests/unit/unit.h"

#define DAY_US ((int64_t)24 * 3600 * 1000000)
#define NOW_US (1000 * DAY_US)

enum { MANY = 300 };

static struct standings_entry entry(double mu, double sigma, uint32_t rounds,
				    int64_t id)
{
	struct standings_entry made = { { mu, sigma }, rounds, NOW_US, id };

	return made;
}

/* The ids of the table must be IDS, with RANKS. */
static void assert_table(const struct standings_entry *entries, size_t count,
			 const int64_t *ids, const size_t *ranks)
{
	struct standings_row rows[16];

	assert_true(count <= COUNT_OF(rows));
	standings_order(entries, count, NOW_US, rows);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(entries[rows[i].entry].id, ids[i]);
		assert_int_equal(rows[i].rank, ranks[i]);
	}
}

static void orders_by_the_careful_figure_not_by_mu(void **state)
{
	const struct standings_entry entries[] = {
		entry(30, 5, 50, 1), /* 15 */
		entry(27, 2, 50, 2), /* 21 */
		entry(26, 3, 50, 3), /* 17 */
	};

	(void)state;
	assert_table(entries, 3, (const int64_t[]){ 2, 3, 1 },
		     (const size_t[]){ 1, 2, 3 });
}

static void puts_no_provisional_version_above_an_established(void **state)
{
	const struct standings_entry entries[] = {
		entry(60, 1, STANDINGS_ROUNDS - 1, 1),
		entry(60, STANDINGS_SIGMA + 0.01, 500, 2),
		entry(-9, 2, STANDINGS_ROUNDS, 3),
		entry(-20, STANDINGS_SIGMA, 500, 4),
		entry(25, 25.0 / 3, 0, 5),
	};

	(void)state;
	assert_table(entries, 5, (const int64_t[]){ 3, 4, 1, 2, 5 },
		     (const size_t[]){ 1, 2, 3, 4, 5 });
}

static void shares_ranks_of_equal_printed_figures(void **state)
{
	/* Printed 10.0 each: they differ below one decimal. */
	const struct standings_entry entries[] = {
		entry(16.04, 2, 50, 9), entry(15.96, 2, 50, 4),
		entry(17, 2, 50, 7),    entry(15.9, 2, 50, 1),
		entry(16, 2, 3, 2), /* provisional: shares with nobody */
		entry(19, 3, 3, 3), /* but with its like */
	};

	(void)state;
	assert_table(entries, 6, (const int64_t[]){ 7, 4, 9, 1, 2, 3 },
		     (const size_t[]){ 1, 2, 2, 4, 5, 5 });
}

static void shares_no_rank_across_the_groups(void **state)
{
	const struct standings_entry entries[] = {
		entry(16, 2, 3, 1),
		entry(16, 2, 50, 2),
	};

	(void)state;
	assert_table(entries, 2, (const int64_t[]){ 2, 1 },
		     (const size_t[]){ 1, 2 });
}

static void prints_tenths_rounded_away_from_zero(void **state)
{
	static const struct {
		struct rating rating;
		int64_t figure;
	} cases[] = {
		{ { 25, 25.0 / 3 }, 0 }, { { 16.25, 2 }, 103 },
		{ { 16.24, 2 }, 102 },   { { -4.25, 2 }, -103 },
		{ { -4.24, 2 }, -102 },  { { 40, 1.5 }, 355 },
		{ { 5.96, 2 }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		assert_int_equal(standings_figure(&cases[i].rating),
				 cases[i].figure);
}

static void marks_the_inactive_and_leaves_their_place(void **state)
{
	struct standings_entry entries[] = {
		entry(30, 2, 50, 1),
		entry(25, 2, 50, 2),
		entry(20, 2, 50, 3),
	};
	struct standings_row rows[3];

	(void)state;
	entries[0].last_us = NOW_US - STANDINGS_IDLE_US - 1;
	entries[1].last_us = NOW_US - STANDINGS_IDLE_US;
	entries[2].last_us = NOW_US + DAY_US; /* the clock was put back */
	standings_order(entries, 3, NOW_US, rows);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(rows[i].entry, i);
		assert_int_equal(rows[i].rank, i + 1);
		assert_int_equal(rows[i].flags,
				 i == 0 ? STANDINGS_INACTIVE : 0);
	}
	assert_int_equal(STANDINGS_IDLE_US, 14 * DAY_US);
}

static void tells_the_interval(void **state)
{
	const struct standings_entry one = entry(30, 2, 50, 1);
	struct standings_row row;

	(void)state;
	standings_order(&one, 1, NOW_US, &row);
	assert_true(fabs(row.low - 26.08) < 0.001);
	assert_true(fabs(row.high - 33.92) < 0.001);
	assert_int_equal(row.figure, 240);
	standings_order(NULL, 0, NOW_US, NULL);
}

static void ignores_the_order_it_is_given(void **state)
{
	static struct standings_entry straight[MANY], turned[MANY];
	static struct standings_row a[MANY], b[MANY];

	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		straight[i] = entry((double)(i * 37 % 60), 1 + (double)(i % 8),
				    (uint32_t)(i % 20), (int64_t)i);
		turned[MANY - 1 - i] = straight[i];
	}
	standings_order(straight, MANY, NOW_US, a);
	standings_order(turned, MANY, NOW_US, b);
	for (size_t i = 0; i < MANY; i++) {
		assert_int_equal(straight[a[i].entry].id,
				 turned[b[i].entry].id);
		assert_int_equal(a[i].rank, b[i].rank);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders_by_the_careful_figure_not_by_mu),
		cmocka_unit_test(
			puts_no_provisional_version_above_an_established),
		cmocka_unit_test(shares_ranks_of_equal_printed_figures),
		cmocka_unit_test(shares_no_rank_across_the_groups),
		cmocka_unit_test(prints_tenths_rounded_away_from_zero),
		cmocka_unit_test(marks_the_inactive_and_leaves_their_place),
		cmocka_unit_test(tells_the_interval),
		cmocka_unit_test(ignores_the_order_it_is_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
