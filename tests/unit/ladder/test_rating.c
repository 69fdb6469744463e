/* SPDX-License-Identifier: MIT */
#include "server/ladder/rating.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "tests/unit/unit.h"

enum { RESULTS = 500, BOTS = 20, FIELD = 4 };

static const struct rating_model *const model = &rating_model_default;

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static double next_real(uint32_t *seed)
{
	return next_random(seed) / 16777216.0;
}

static void update(struct rating *ratings, const unsigned *ranks, size_t count)
{
	assert_int_equal(rating_update(model, ratings, ranks, count), 0);
}

static bool same_bits(const struct rating *a, const struct rating *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static void draw_ratings(struct rating *ratings, size_t count, uint32_t *seed)
{
	for (size_t i = 0; i < count; i++) {
		ratings[i].mu = 50 * next_real(seed);
		ratings[i].sigma = 1 + 8 * next_real(seed);
	}
}

/* ORDER becomes a permutation of 0 .. COUNT - 1. */
static void draw_order(size_t *order, size_t count, uint32_t *seed)
{
	for (size_t i = 0; i < count; i++) {
		size_t j = next_random(seed) % (i + 1);

		order[i] = order[j];
		order[j] = i;
	}
}

static void takes_seats_in_any_order_to_the_last_bit(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		size_t count = 2 + next_random(&seed) % 15;
		struct rating before[16], straight[16], turned[16];
		unsigned ranks[16], turned_ranks[16];
		size_t order[16];

		draw_ratings(before, count, &seed);
		for (size_t i = 0; i < count; i++)
			ranks[i] = next_random(&seed) % (unsigned)count;
		draw_order(order, count, &seed);
		for (size_t i = 0; i < count; i++) {
			turned[i] = before[order[i]];
			turned_ranks[i] = ranks[order[i]];
		}
		memcpy(straight, before, sizeof(before[0]) * count);
		update(straight, ranks, count);
		update(turned, turned_ranks, count);
		for (size_t i = 0; i < count; i++)
			assert_true(same_bits(&turned[i], &straight[order[i]]));
	}
}

static void moves_tied_equals_alike_to_the_last_bit(void **state)
{
	uint32_t seed = 2;

	(void)state;
	for (int round = 0; round < 500; round++) {
		struct rating ratings[6];
		/* 1, 3 and 4 are equals that tie. */
		const unsigned ranks[6] = { 0, 2, 1, 2, 2, 5 };

		draw_ratings(ratings, 6, &seed);
		ratings[3] = ratings[4] = ratings[1];
		update(ratings, ranks, 6);
		assert_true(same_bits(&ratings[1], &ratings[3]));
		assert_true(same_bits(&ratings[1], &ratings[4]));
	}
}

static void compares_ranks_only(void **state)
{
	struct rating near[3] = { { 20, 3 }, { 25, 4 }, { 30, 5 } };
	struct rating far[3] = { { 20, 3 }, { 25, 4 }, { 30, 5 } };
	const unsigned near_ranks[3] = { 1, 0, 1 };
	const unsigned far_ranks[3] = { 4000000000u, 17, 4000000000u };

	(void)state;
	update(near, near_ranks, 3);
	update(far, far_ranks, 3);
	assert_memory_equal(near, far, sizeof(near));
}

static void leaves_equals_that_tie_where_they_are(void **state)
{
	static const unsigned ranks[RATING_PLACES];
	const double aged = hypot(model->sigma, model->tau);

	(void)state;
	for (size_t count = 2; count <= RATING_PLACES; count++) {
		struct rating ratings[RATING_PLACES];

		for (size_t i = 0; i < count; i++)
			ratings[i] = rating_new(model);
		update(ratings, ranks, count);
		for (size_t i = 0; i < count; i++) {
			assert_true(fabs(ratings[i].mu - model->mu) < 1e-12);
			/* In a big field one tie tells less than tau forgets. */
			assert_true(ratings[i].sigma <
				    (count <= 8 ? model->sigma : aged));
		}
	}
}

static void bc61_draw_pulls_unequal_bots_together(void **state)
{
	static const unsigned tie[2];
	struct rating ratings[2] = { { 35, 4 }, { 15, 4 } };
	struct rating swapped[2] = { { 15, 4 }, { 35, 4 } };
	struct rating equal[2] = { { 25, 2 }, { 25, 7 } };

	(void)state;
	update(ratings, tie, 2);
	assert_true(ratings[0].mu < 35 - 0.1);
	assert_true(ratings[1].mu > 15 + 0.1);
	assert_true(ratings[0].mu > ratings[1].mu);
	/* Equal sigmas: what one loses the other gains. */
	assert_true(fabs(ratings[0].mu + ratings[1].mu - 50) < 1e-12);
	assert_true(ratings[0].sigma < 4 && ratings[1].sigma < 4);
	update(swapped, tie, 2);
	assert_true(same_bits(&swapped[0], &ratings[1]));
	assert_true(same_bits(&swapped[1], &ratings[0]));
	update(equal, tie, 2);
	assert_true(fabs(equal[0].mu - 25) < 1e-12);
	assert_true(fabs(equal[1].mu - 25) < 1e-12);
}

static void assert_sane(const struct rating *ratings, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		assert_true(isfinite(ratings[i].mu));
		/* Five characters before the point are room enough. */
		assert_true(fabs(ratings[i].mu) < 1000);
		assert_true(ratings[i].sigma > 0.1);
		assert_true(ratings[i].sigma <= model->sigma + 1e-12);
	}
}

static void bc62_same_order_1000_times_stays_in_range(void **state)
{
	static const unsigned orders[][FIELD] = {
		{ 0, 1, 2, 3 }, /* always the same order */
		{ 0, 0, 0, 0 }, /* all four tied */
		{ 0, 3, 3, 3 }, /* one winner, three suspended */
		{ 0, 0, 0, 3 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(orders); i++) {
		struct rating ratings[FIELD];

		for (size_t seat = 0; seat < FIELD; seat++)
			ratings[seat] = rating_new(model);
		for (int match = 0; match < 1000; match++) {
			update(ratings, orders[i], FIELD);
			assert_sane(ratings, FIELD);
		}
		for (size_t seat = 1; seat < FIELD; seat++) {
			if (orders[i][seat] == orders[i][seat - 1])
				assert_true(fabs(ratings[seat].mu -
						 ratings[seat - 1].mu) < 1e-6);
			else
				assert_true(ratings[seat].mu <
					    ratings[seat - 1].mu - 1);
		}
	}
}

static void bc62_1000_wins_over_one_opponent_stay_in_range(void **state)
{
	static const unsigned ranks[2] = { 0, 1 };
	struct rating ratings[2] = { { 25, 25.0 / 3 }, { 25, 25.0 / 3 } };

	(void)state;
	for (int match = 0; match < 1000; match++) {
		struct rating before = ratings[0];

		update(ratings, ranks, 2);
		assert_true(ratings[0].mu > before.mu);
		assert_sane(ratings, 2);
	}
	/* The thousandth win says next to nothing. */
	assert_true(ratings[0].mu - ratings[1].mu < 100);
}

struct result {
	size_t bots[FIELD];
	unsigned ranks[FIELD];
};

/* Bots whose strength is their number, with luck of half the field. */
static void draw_results(struct result *results, size_t count)
{
	uint32_t seed = 3;

	for (size_t i = 0; i < count; i++) {
		struct result *result = &results[i];
		size_t order[BOTS];
		unsigned points[FIELD];

		draw_order(order, BOTS, &seed);
		for (size_t seat = 0; seat < FIELD; seat++) {
			result->bots[seat] = order[seat];
			points[seat] =
				(unsigned)order[seat] + next_random(&seed) % 10;
		}
		for (size_t seat = 0; seat < FIELD; seat++) {
			result->ranks[seat] = 0;
			for (size_t other = 0; other < FIELD; other++)
				result->ranks[seat] +=
					points[other] > points[seat];
		}
	}
}

static void take_result(struct rating *ratings, const struct result *result)
{
	struct rating field[FIELD];

	for (size_t seat = 0; seat < FIELD; seat++)
		field[seat] = ratings[result->bots[seat]];
	update(field, result->ranks, FIELD);
	for (size_t seat = 0; seat < FIELD; seat++)
		ratings[result->bots[seat]] = field[seat];
}

static void bc66_recomputing_gives_the_same_bits_reversed_is_near(void **state)
{
	static struct result results[RESULTS];
	struct rating once[BOTS], twice[BOTS], reversed[BOTS];
	double widest = 0;

	(void)state;
	draw_results(results, RESULTS);
	for (size_t i = 0; i < BOTS; i++)
		once[i] = twice[i] = reversed[i] = rating_new(model);
	for (size_t i = 0; i < RESULTS; i++) {
		take_result(once, &results[i]);
		take_result(reversed, &results[RESULTS - 1 - i]);
	}
	for (size_t i = 0; i < RESULTS; i++)
		take_result(twice, &results[i]);
	assert_memory_equal(once, twice, sizeof(once));
	/* doc/ratings.md states this bound. */
	for (size_t i = 0; i < BOTS; i++) {
		double off = fabs(once[i].mu - reversed[i].mu);

		widest = fmax(widest, off / once[i].sigma);
		assert_true(off < 3 * once[i].sigma);
	}
	print_message("reversed: mu at most %.2f sigma away\n", widest);
}

static void finds_the_order_of_strengths(void **state)
{
	static struct result results[RESULTS];
	struct rating ratings[BOTS];

	(void)state;
	draw_results(results, RESULTS);
	for (size_t i = 0; i < BOTS; i++)
		ratings[i] = rating_new(model);
	for (size_t i = 0; i < RESULTS; i++)
		take_result(ratings, &results[i]);
	for (size_t i = 4; i < BOTS; i++)
		assert_true(ratings[i].mu > ratings[i - 4].mu);
}

static void stays_finite_at_the_ends_of_what_it_takes(void **state)
{
	static const unsigned ranks[3] = { 2, 1, 0 };
	static const struct rating cases[][3] = {
		{ { 1e9, 0 }, { -1e9, 0 }, { 0, 0 } },
		{ { 1e9, 1e9 }, { -1e9, 1e9 }, { 0, 0 } },
		{ { 1e9, 1e9 }, { 1e9, 0 }, { 1e9, 1e-300 } },
		{ { 5000, 1 }, { 0, 1 }, { -5000, 1 } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct rating ratings[3];

		memcpy(ratings, cases[i], sizeof(ratings));
		update(ratings, ranks, 3);
		for (size_t seat = 0; seat < 3; seat++) {
			assert_true(isfinite(ratings[seat].mu));
			assert_true(isfinite(ratings[seat].sigma));
			assert_true(ratings[seat].sigma > 0);
		}
	}
}

static void refuses_what_is_no_rating_and_touches_nothing(void **state)
{
	static const unsigned ranks[RATING_PLACES + 1];
	static const struct rating wrong[] = {
		{ (double)NAN, 1 },
		{ 25, (double)NAN },
		{ (double)INFINITY, 1 },
		{ 25, (double)INFINITY },
		{ -(double)INFINITY, 1 },
		{ 25, -1 },
		{ 2e9, 1 },
		{ 25, 2e9 },
	};
	struct rating many[RATING_PLACES + 1];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		struct rating ratings[2] = { { 25, 8 }, wrong[i] };

		assert_int_equal(rating_update(model, ratings, ranks, 2),
				 -EINVAL);
		assert_true(ratings[0].mu == 25 && ratings[0].sigma == 8);
		assert_false(rating_is_valid(&wrong[i]));
	}
	for (size_t i = 0; i < COUNT_OF(many); i++)
		many[i] = rating_new(model);
	assert_int_equal(rating_update(model, many, ranks, 0), -EINVAL);
	assert_int_equal(rating_update(model, many, ranks, 1), -EINVAL);
	assert_int_equal(rating_update(model, many, ranks, COUNT_OF(many)),
			 -EINVAL);
	for (size_t i = 0; i < COUNT_OF(many); i++)
		assert_true(many[i].mu == 25);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_seats_in_any_order_to_the_last_bit),
		cmocka_unit_test(moves_tied_equals_alike_to_the_last_bit),
		cmocka_unit_test(compares_ranks_only),
		cmocka_unit_test(leaves_equals_that_tie_where_they_are),
		cmocka_unit_test(bc61_draw_pulls_unequal_bots_together),
		cmocka_unit_test(bc62_same_order_1000_times_stays_in_range),
		cmocka_unit_test(
			bc62_1000_wins_over_one_opponent_stay_in_range),
		cmocka_unit_test(
			bc66_recomputing_gives_the_same_bits_reversed_is_near),
		cmocka_unit_test(finds_the_order_of_strengths),
		cmocka_unit_test(stays_finite_at_the_ends_of_what_it_takes),
		cmocka_unit_test(refuses_what_is_no_rating_and_touches_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
