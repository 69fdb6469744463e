/* SPDX-License-Identifier: MIT */
#include "server/ladder/refit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/ladder/refit_internal.h"

#include "tests/unit/unit.h"

enum { PLACES = 4, MOST_RANKINGS = 12000, MOST_BOTS = 600 };

static const struct rating_model *const model = &rating_model_default;

/* Rankings of PLACES bots each, and who is how strong in truth. */
struct field {
	size_t bots;
	size_t count;
	double truth[MOST_BOTS];
	struct refit_place places[MOST_RANKINGS][PLACES];
	struct refit_ranking rankings[MOST_RANKINGS];
};

static struct field field;

static double next_real(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return ((double)(*seed >> 12) + 0.5) / 4503599627370496.0;
}

static size_t next_below(uint64_t *seed, size_t bound)
{
	return (size_t)(next_real(seed) * (double)bound);
}

static double next_normal(uint64_t *seed)
{
	double radius = sqrt(-2 * log(next_real(seed)));

	return radius * cos(6.283185307179586 * next_real(seed));
}

/*
 * The order of one ranking as the model has it: who has the most of strength
 * over c plus Gumbel noise is first.
 */
static void draw_ranking(struct refit_place *places, uint64_t *seed)
{
	double points[PLACES];

	for (size_t i = 0; i < PLACES; i++) {
		bool is_new;

		do {
			is_new = true;
			places[i].bot = (uint32_t)next_below(seed, field.bots);
			for (size_t j = 0; j < i; j++)
				is_new &= places[j].bot != places[i].bot;
		} while (!is_new);
		points[i] = field.truth[places[i].bot] /
				    (model->beta * sqrt(PLACES)) -
			    log(-log(next_real(seed)));
	}
	for (size_t i = 0; i < PLACES; i++) {
		places[i].rank = 0;
		for (size_t j = 0; j < PLACES; j++)
			places[i].rank += points[j] > points[i];
	}
}

static void draw_field(size_t bots, size_t count, uint64_t seed)
{
	field.bots = bots;
	field.count = count;
	for (size_t i = 0; i < bots; i++)
		field.truth[i] = model->mu + model->sigma * next_normal(&seed);
	for (size_t i = 0; i < count; i++) {
		draw_ranking(field.places[i], &seed);
		field.rankings[i].places = field.places[i];
		field.rankings[i].count = PLACES;
	}
}

static struct refit fit_field(const double *start)
{
	struct refit refit;

	assert_int_equal(refit_init(&refit, model, field.bots, field.rankings,
				    field.count, start),
			 0);
	return refit;
}

/* All bots of BOTS in one ranking, again and again. */
static struct refit fit_same(const struct refit_place *places, size_t bots,
			     size_t times)
{
	struct refit_ranking *rankings = xcalloc(times, sizeof(*rankings));
	struct refit refit;

	for (size_t i = 0; i < times; i++) {
		rankings[i].places = places;
		rankings[i].count = bots;
	}
	assert_int_equal(refit_init(&refit, model, bots, rankings, times, NULL),
			 0);
	free(rankings);
	for (size_t i = 0; i < bots; i++) {
		assert_true(isfinite(refit.ratings[i].mu));
		assert_true(refit.ratings[i].sigma > 0);
		assert_true(refit.ratings[i].sigma <= model->sigma);
	}
	return refit;
}

static double farthest(const struct refit *a, const struct refit *b)
{
	double most = 0;

	for (size_t i = 0; i < a->bots; i++) {
		most = fmax(most, fabs(a->ratings[i].mu - b->ratings[i].mu));
		most = fmax(most,
			    fabs(a->ratings[i].sigma - b->ratings[i].sigma));
	}
	return most;
}

static void keeps_the_prior_without_results(void **state)
{
	struct refit refit;

	(void)state;
	assert_int_equal(refit_init(&refit, model, 3, NULL, 0, NULL), 0);
	for (size_t i = 0; i < 3; i++) {
		assert_true(fabs(refit.ratings[i].mu - model->mu) < 1e-12);
		assert_true(fabs(refit.ratings[i].sigma - model->sigma) <
			    1e-12);
	}
	assert_true(fabs(refit_superiority(&refit, 0, 2) - 0.5) < 1e-12);
	refit_release(&refit);
	assert_int_equal(refit_init(&refit, model, 0, NULL, 0, NULL), 0);
	refit_release(&refit);
}

static void solves_one_win_as_by_hand(void **state)
{
	static const struct refit_place win[] = { { 0, 0 }, { 1, 1 } };
	struct refit refit = fit_same(win, 2, 1);
	double c = model->beta * sqrt(2);
	double prior = 1 / (model->sigma * model->sigma);
	double off = refit.ratings[0].mu - model->mu;
	double chance = 1 / (1 + exp(-2 * off / c));
	double curve = chance * (1 - chance) / (c * c);
	/* The information is [[q + k, -k], [-k, q + k]]. */
	double whole = prior * (prior + 2 * curve);

	(void)state;
	assert_true(off > 1);
	assert_true(fabs(refit.ratings[1].mu - (model->mu - off)) < 1e-9);
	assert_true(fabs((1 - chance) / c - off * prior) < 1e-9);
	assert_true(fabs(refit.covariance[0] - (prior + curve) / whole) < 1e-9);
	assert_true(fabs(refit.covariance[1] - curve / whole) < 1e-9);
	assert_true(fabs(refit.covariance[2] - curve / whole) < 1e-9);
	assert_true(fabs(refit.ratings[0].sigma -
			 sqrt((prior + curve) / whole)) < 1e-9);
	assert_true(fabs(refit_superiority(&refit, 0, 1) -
			 0.5 * erfc(-off * sqrt(prior + 2 * curve))) < 1e-9);
	refit_release(&refit);
}

static void takes_two_ties_as_a_win_each(void **state)
{
	static const struct refit_place tie[] = { { 0, 3 }, { 1, 3 } };
	static const struct refit_place won[] = { { 0, 0 }, { 1, 1 } };
	static const struct refit_place lost[] = { { 0, 1 }, { 1, 0 } };
	static const struct refit_place third[] = { { 0, 0 }, { 2, 1 } };
	const struct refit_ranking ties[] = { { tie, 2 },
					      { tie, 2 },
					      { third, 2 } };
	const struct refit_ranking wins[] = { { won, 2 },
					      { lost, 2 },
					      { third, 2 } };
	struct refit a, b;

	(void)state;
	assert_int_equal(refit_init(&a, model, 3, ties, 3, NULL), 0);
	assert_int_equal(refit_init(&b, model, 3, wins, 3, NULL), 0);
	assert_true(farthest(&a, &b) < 1e-9);
	refit_release(&a);
	refit_release(&b);
}

static void leaves_equals_that_tie_where_they_are(void **state)
{
	static const struct refit_place tie[] = {
		{ 0, 0 }, { 1, 0 }, { 2, 0 }, { 3, 0 }
	};
	struct refit refit = fit_same(tie, 4, 50);

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		assert_true(fabs(refit.ratings[i].mu - model->mu) < 1e-9);
		assert_true(refit.ratings[i].sigma < model->sigma - 1);
	}
	refit_release(&refit);
}

/* Slope and curvature against differences of what they are derived from. */
static void knows_its_derivatives(void **state)
{
	enum { BOTS = 7 };
	struct refit_choices choices;
	double at[BOTS], slope[BOTS], other[BOTS], unit[BOTS], product[BOTS];
	double matrix[BOTS * BOTS], diagonal[BOTS];
	const double h = 1e-4;
	uint64_t seed = 5;

	(void)state;
	draw_field(BOTS, 40, 4);
	for (size_t i = 0; i < 40; i++) /* ties, of two and of three */
		for (size_t j = 0; j < PLACES; j++)
			field.places[i][j].rank /= 1 + (uint32_t)(i % 3);
	assert_int_equal(
		refit_choices_init(&choices, model, BOTS, field.rankings, 40),
		0);
	for (size_t i = 0; i < BOTS; i++)
		at[i] = 25 + 10 * next_normal(&seed);
	refit_choices_set(&choices, at);
	refit_choices_gradient(&choices, at, slope);
	refit_choices_information(&choices, matrix, diagonal);
	for (size_t i = 0; i < BOTS; i++) {
		double here = at[i], up, down;

		memset(unit, 0, sizeof(unit));
		unit[i] = 1;
		refit_choices_set(&choices, at);
		refit_choices_product(&choices, unit, product);
		at[i] = here + h;
		up = refit_choices_set(&choices, at);
		refit_choices_gradient(&choices, at, other);
		at[i] = here - h;
		down = refit_choices_set(&choices, at);
		at[i] = here;
		assert_true(fabs((up - down) / (2 * h) - slope[i]) < 1e-7);
		assert_true(fabs(product[i] - diagonal[i]) < 1e-12);
		for (size_t j = 0; j < BOTS; j++) {
			double entry = i > j ? matrix[i * BOTS + j]
					     : matrix[j * BOTS + i];

			assert_true(fabs((slope[j] - other[j]) / h - entry) <
				    1e-5);
			assert_true(fabs(product[j] - entry) < 1e-12);
		}
	}
	refit_choices_release(&choices);
}

static void inverts_a_matrix(void **state)
{
	double matrix[9] = { 4, 0, 0, 2, 5, 0, 1, 3, 6 };
	const double whole[9] = { 4, 2, 1, 2, 5, 3, 1, 3, 6 };
	double bad[4] = { 1, 0, 2, 1 };
	double vector[3] = { 1, 2, 3 };
	double inverse[9];

	(void)state;
	assert_int_equal(refit_factor(matrix, 3), 0);
	refit_solve(matrix, 3, vector);
	refit_invert(matrix, 3, inverse);
	for (size_t i = 0; i < 3; i++) {
		double image = 0;

		for (size_t j = 0; j < 3; j++) {
			double entry = 0;

			image += whole[3 * i + j] * vector[j];
			for (size_t k = 0; k < 3; k++)
				entry += whole[3 * i + k] * inverse[3 * k + j];
			assert_true(fabs(entry - (i == j)) < 1e-12);
		}
		assert_true(fabs(image - (double)(i + 1)) < 1e-12);
	}
	assert_int_equal(refit_factor(bad, 2), -ERANGE);
}

static void arrives_from_any_start(void **state)
{
	static const double far[] = { 1, 100, 1e4, 1e6, 1e9 };
	double start[50];
	struct refit refit;
	uint64_t seed = 6;

	(void)state;
	draw_field(50, 500, 7);
	refit = fit_field(NULL);
	for (size_t i = 0; i < COUNT_OF(far); i++) {
		struct refit other;

		for (size_t j = 0; j < field.bots; j++)
			start[j] = far[i] * (2 * next_real(&seed) - 1);
		other = fit_field(start);
		assert_true(farthest(&refit, &other) < 1e-8);
		refit_release(&other);
	}
	refit_release(&refit);
}

static void bc66_refit_ignores_the_order_of_results(void **state)
{
	struct refit straight, reversed;

	(void)state;
	draw_field(20, 500, 8);
	straight = fit_field(NULL);
	for (size_t i = 0; i < field.count / 2; i++) {
		struct refit_ranking other = field.rankings[i];

		field.rankings[i] = field.rankings[field.count - 1 - i];
		field.rankings[field.count - 1 - i] = other;
	}
	for (size_t i = 0; i < field.count; i++) {
		struct refit_place first = field.places[i][0];

		field.places[i][0] = field.places[i][3];
		field.places[i][3] = first;
	}
	reversed = fit_field(NULL);
	assert_true(farthest(&straight, &reversed) < 1e-8);
	refit_release(&straight);
	refit_release(&reversed);
}

static void bc62_refit_of_1000_like_results_stays_in_range(void **state)
{
	static const struct refit_place order[] = {
		{ 0, 0 }, { 1, 1 }, { 2, 2 }, { 3, 3 }
	};
	static const struct refit_place winner[] = {
		{ 0, 0 }, { 1, 1 }, { 2, 1 }, { 3, 1 }
	};
	struct refit refit = fit_same(order, 4, 1000);

	(void)state;
	for (size_t i = 1; i < 4; i++)
		assert_true(refit.ratings[i].mu < refit.ratings[i - 1].mu - 1);
	assert_true(refit.ratings[0].mu < 200 && refit.ratings[3].mu > -150);
	refit_release(&refit);
	refit = fit_same(winner, 4, 1000);
	assert_true(refit.ratings[0].mu < 200);
	assert_true(fabs(refit.ratings[1].mu - refit.ratings[3].mu) < 1e-8);
	refit_release(&refit);
	refit = fit_same(order, 2, 100000);
	assert_true(refit.ratings[0].mu < 200);
	refit_release(&refit);
}

static void keeps_groups_that_never_met_together(void **state)
{
	struct refit refit;
	double sums[2] = { 0, 0 };

	(void)state;
	draw_field(10, 200, 9);
	for (size_t i = 100; i < 200; i++) /* the second ten among themselves */
		for (size_t j = 0; j < PLACES; j++)
			field.places[i][j].bot += 10;
	field.bots = 20;
	refit = fit_field(NULL);
	for (size_t i = 0; i < 20; i++) {
		assert_true(fabs(refit.ratings[i].mu) < 200);
		assert_true(refit.ratings[i].sigma < model->sigma);
		sums[i / 10] += refit.ratings[i].mu;
	}
	/* Each group's mean is the prior's: nothing else is known of it. */
	assert_true(fabs(sums[0] / 10 - model->mu) < 1e-7);
	assert_true(fabs(sums[1] / 10 - model->mu) < 1e-7);
	assert_true(fabs(refit.covariance[0 * 20 + 15]) < 1e-9);
	refit_release(&refit);
}

static void intervals_hold_the_truth(void **state)
{
	size_t held = 0, superior = 0, pairs = 0;
	double promised = 0;

	(void)state;
	for (uint64_t seed = 10; seed < 14; seed++) {
		struct refit refit;

		draw_field(100, 1500, seed);
		refit = fit_field(NULL);
		for (size_t i = 0; i < 100; i++) {
			double off = refit.ratings[i].mu - field.truth[i];

			held += fabs(off) < RATING_Z95 * refit.ratings[i].sigma;
			for (size_t j = 0; j < i; j++) {
				double chance = refit_superiority(&refit, i, j);
				double back = refit_superiority(&refit, j, i);

				assert_true(fabs(chance + back - 1) < 1e-12);
				promised += fmax(chance, back);
				superior += (field.truth[i] > field.truth[j]) ==
					    (chance > 0.5);
				pairs++;
			}
		}
		refit_release(&refit);
	}
	print_message("95 %% intervals held %.1f %%; superiority promised "
		      "%.2f %%, true %.2f %%\n",
		      (double)held / 4, 100 * promised / (double)pairs,
		      100 * (double)superior / (double)pairs);
	assert_in_range(held, 372, 388); /* of 400: 93 to 97 % */
	assert_true(fabs(promised - (double)superior) < 0.01 * (double)pairs);
}

/* Above REFIT_DENSE: the same strengths, and how far sigma is off. */
static void large_fields_are_fitted_likewise(void **state)
{
	const size_t n = MOST_BOTS;
	double *matrix = xcalloc(n * n, sizeof(*matrix));
	double *inverse = xcalloc(n * n, sizeof(*inverse));
	double strengths[MOST_BOTS], slope[MOST_BOTS];
	struct refit_choices choices;
	struct refit refit;
	double least = 1;

	(void)state;
	draw_field(n, MOST_RANKINGS, 20);
	refit = fit_field(NULL);
	assert_null(refit.covariance);
	for (size_t i = 0; i < n; i++)
		strengths[i] = refit.ratings[i].mu;
	assert_int_equal(refit_choices_init(&choices, model, n, field.rankings,
					    field.count),
			 0);
	refit_choices_set(&choices, strengths);
	refit_choices_information(&choices, matrix, slope);
	refit_choices_gradient(&choices, strengths, slope);
	assert_int_equal(refit_factor(matrix, n), 0);
	refit_solve(matrix, n, slope);
	refit_invert(matrix, n, inverse);
	for (size_t i = 0; i < n; i++) {
		double ratio =
			refit.ratings[i].sigma / sqrt(inverse[i * n + i]);

		assert_true(fabs(slope[i]) < 1e-8); /* the step that is left */
		assert_true(ratio <= 1);
		least = fmin(least, ratio);
	}
	print_message("sigma from the diagonal alone: at least %.3f of it\n",
		      least);
	assert_true(least > 0.95);
	assert_true(fabs(refit_superiority(&refit, 3, 4) +
			 refit_superiority(&refit, 4, 3) - 1) < 1e-12);
	refit_choices_release(&choices);
	refit_release(&refit);
	free(matrix);
	free(inverse);
}

static void assert_refused(const struct refit_place *places, size_t count)
{
	const struct refit_ranking ranking = { places, count };
	struct refit refit;

	assert_int_equal(refit_init(&refit, model, 4, &ranking, 1, NULL),
			 -EINVAL);
}

static void refuses_what_is_no_ranking(void **state)
{
	static const struct refit_place twice[] = { { 1, 0 },
						    { 2, 1 },
						    { 1, 2 } };
	static const struct refit_place beyond[] = { { 1, 0 }, { 4, 1 } };
	static const struct refit_place many[RATING_PLACES + 1];
	static const double nowhere[4] = { 0, (double)NAN, 0, 0 };
	struct refit refit;

	(void)state;
	assert_refused(twice, 3);
	assert_refused(beyond, 2);
	assert_refused(many, 0);
	assert_refused(many, COUNT_OF(many));
	assert_int_equal(refit_init(&refit, model, 4, NULL, 0, nowhere),
			 -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_the_prior_without_results),
		cmocka_unit_test(solves_one_win_as_by_hand),
		cmocka_unit_test(takes_two_ties_as_a_win_each),
		cmocka_unit_test(leaves_equals_that_tie_where_they_are),
		cmocka_unit_test(knows_its_derivatives),
		cmocka_unit_test(inverts_a_matrix),
		cmocka_unit_test(arrives_from_any_start),
		cmocka_unit_test(bc66_refit_ignores_the_order_of_results),
		cmocka_unit_test(
			bc62_refit_of_1000_like_results_stays_in_range),
		cmocka_unit_test(keeps_groups_that_never_met_together),
		cmocka_unit_test(intervals_hold_the_truth),
		cmocka_unit_test(large_fields_are_fitted_likewise),
		cmocka_unit_test(refuses_what_is_no_ranking),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
