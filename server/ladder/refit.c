/* SPDX-License-Identifier: MIT */
/*
 * refit.c - Newton's method on the likelihood of refit_choices.c.
 *
 * It is strictly concave, so a step that is halved until it climbs arrives
 * from anywhere; near the top each step doubles the digits.
 */
#include "server/ladder/refit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/ladder/refit_internal.h"

#define START_MOST 1e9
#define STEP_LEAST 1e-9    /* the last one; what is left is far below it */
#define CG_RESIDUAL 1e-8   /* of the slope, a step */
#define CLIMB_LEAST 1e-4   /* of what the slope promised */
#define VALUE_DIGITS 1e-12 /* a sum of many logs is known to */

enum { STEPS_MOST = 200, HALVINGS_MOST = 80, CG_MOST = 2000 };

struct search {
	struct refit_choices choices;
	size_t n;
	double *matrix; /* n x n, NULL above REFIT_DENSE */
	double *room;   /* all of the below, one block */
	double *strengths;
	double *tried;
	double *gradient;
	double *step;
	double *diagonal;
	double *residual; /* of the conjugate gradients, as the next two */
	double *direction;
	double *product;
	double value; /* at STRENGTHS */
};

static void search_release(struct search *search)
{
	refit_choices_release(&search->choices);
	free(search->matrix);
	free(search->room);
}

static int search_init(struct search *search, const double *start)
{
	size_t n = search->choices.nbots;
	double **parts[] = { &search->strengths, &search->tried,
			     &search->gradient,  &search->step,
			     &search->diagonal,  &search->residual,
			     &search->direction, &search->product };
	size_t nparts = sizeof(parts) / sizeof(parts[0]);

	search->n = n;
	search->room = reallocarray(NULL, n + 1, nparts * sizeof(double));
	if (n <= REFIT_DENSE)
		search->matrix = calloc(n * n + 1, sizeof(double));
	if (search->room == NULL ||
	    (n <= REFIT_DENSE && search->matrix == NULL))
		return -ENOMEM;
	for (size_t i = 0; i < nparts; i++)
		*parts[i] = search->room + i * n;
	for (size_t i = 0; i < n; i++) {
		search->strengths[i] =
			start != NULL ? start[i] : search->choices.mean;
		if (!(fabs(search->strengths[i]) <= START_MOST))
			return -EINVAL;
	}
	search->value = refit_choices_set(&search->choices, search->strengths);
	return 0;
}

static double dot(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/*
 * Solve for the step by conjugate gradients, the diagonal as preconditioner.
 * What it has when it stops early still climbs.
 */
static void solve_by_gradients(struct search *search)
{
	size_t n = search->n;
	double *residual = search->residual;
	double goal = CG_RESIDUAL * CG_RESIDUAL *
		      dot(search->gradient, search->gradient, n);
	double weight = 0;

	refit_choices_diagonal(&search->choices, search->diagonal);
	memcpy(residual, search->gradient, n * sizeof(double));
	memset(search->step, 0, n * sizeof(double));
	for (size_t i = 0; i < n; i++) {
		search->direction[i] = residual[i] / search->diagonal[i];
		weight += residual[i] * search->direction[i];
	}
	for (int round = 0; round < CG_MOST; round++) {
		double length, before = weight;

		if (dot(residual, residual, n) <= goal)
			break;
		refit_choices_product(&search->choices, search->direction,
				      search->product);
		length = weight / dot(search->direction, search->product, n);
		weight = 0;
		for (size_t i = 0; i < n; i++) {
			search->step[i] += length * search->direction[i];
			residual[i] -= length * search->product[i];
			weight +=
				residual[i] * residual[i] / search->diagonal[i];
		}
		for (size_t i = 0; i < n; i++)
			search->direction[i] =
				residual[i] / search->diagonal[i] +
				weight / before * search->direction[i];
	}
}

static int find_step(struct search *search)
{
	int ret;

	refit_choices_gradient(&search->choices, search->strengths,
			       search->gradient);
	if (search->matrix == NULL) {
		solve_by_gradients(search);
		return 0;
	}
	refit_choices_information(&search->choices, search->matrix,
				  search->diagonal);
	ret = refit_factor(search->matrix, search->n);
	if (ret < 0)
		return ret;
	memcpy(search->step, search->gradient, search->n * sizeof(double));
	refit_solve(search->matrix, search->n, search->step);
	return 0;
}

/* Go along the step as far as it climbs. Returns -ERANGE when it never does. */
static int take_step(struct search *search)
{
	double promise = dot(search->gradient, search->step, search->n);
	double part = 1;

	for (int i = 0; i < HALVINGS_MOST; i++, part /= 2) {
		double slack = VALUE_DIGITS * (1 + fabs(search->value));
		double value;

		for (size_t k = 0; k < search->n; k++)
			search->tried[k] =
				search->strengths[k] + part * search->step[k];
		value = refit_choices_set(&search->choices, search->tried);
		if (value >=
		    search->value + CLIMB_LEAST * part * promise - slack) {
			memcpy(search->strengths, search->tried,
			       search->n * sizeof(double));
			search->value = value;
			return 0;
		}
	}
	return -ERANGE;
}

static double longest(const double *step, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, fabs(step[i]));
	return most;
}

/* Climb to the top. */
static int climb(struct search *search, unsigned *ret_steps)
{
	for (unsigned steps = 1; steps <= STEPS_MOST; steps++) {
		int ret = find_step(search);

		if (ret == 0)
			ret = take_step(search);
		if (ret < 0)
			return ret;
		if (longest(search->step, search->n) <= STEP_LEAST) {
			*ret_steps = steps;
			return 0;
		}
	}
	return -ERANGE;
}

/* Ratings and covariances at the top. */
static int take_result(struct search *search, struct refit *ret)
{
	size_t n = search->n;
	struct refit refit = { .bots = n };
	int err = 0;

	refit.ratings = calloc(n + 1, sizeof(*refit.ratings));
	if (refit.ratings == NULL)
		return -ENOMEM;
	if (search->matrix != NULL) {
		refit.covariance = calloc(n * n + 1, sizeof(double));
		if (refit.covariance == NULL) {
			refit_release(&refit);
			return -ENOMEM;
		}
		refit_choices_information(&search->choices, search->matrix,
					  search->diagonal);
		err = refit_factor(search->matrix, n);
		if (err < 0) {
			refit_release(&refit);
			return err;
		}
		refit_invert(search->matrix, n, refit.covariance);
	} else {
		refit_choices_diagonal(&search->choices, search->diagonal);
	}
	for (size_t i = 0; i < n; i++) {
		refit.ratings[i].mu = search->strengths[i];
		refit.ratings[i].sigma =
			refit.covariance != NULL
				? sqrt(refit.covariance[i * n + i])
				: 1 / sqrt(search->diagonal[i]);
	}
	*ret = refit;
	return 0;
}

int refit_init(struct refit *ret, const struct rating_model *model, size_t bots,
	       const struct refit_ranking *rankings, size_t count,
	       const double *start)
{
	struct search search = { .matrix = NULL };
	unsigned steps = 0;
	int err = refit_choices_init(&search.choices, model, bots, rankings,
				     count);

	if (err < 0)
		return err;
	err = search_init(&search, start);
	if (err == 0)
		err = climb(&search, &steps);
	if (err == 0)
		err = take_result(&search, ret);
	if (err == 0)
		ret->steps = steps;
	search_release(&search);
	return err;
}

void refit_release(struct refit *refit)
{
	free(refit->ratings);
	free(refit->covariance);
}

double refit_superiority(const struct refit *refit, size_t a, size_t b)
{
	const struct rating *first = &refit->ratings[a];
	const struct rating *second = &refit->ratings[b];
	double variance =
		first->sigma * first->sigma + second->sigma * second->sigma;

	if (a == b)
		return 0.5;
	if (refit->covariance != NULL)
		variance -= 2 * refit->covariance[a * refit->bots + b];
	return 0.5 * erfc((second->mu - first->mu) / sqrt(2 * variance));
}
