/* SPDX-License-Identifier: MIT */
/*
 * refit_choices.c - the Plackett-Luce likelihood of all rankings.
 *
 * A ranking is a row of choices: who of all comes first, who of the others
 * comes second, and so on. A choice of LEFT bots with strengths x (over c)
 * out of which SIZE tie gives
 *
 *	mean of x over those that tie - log(sum of exp x over all left),
 *
 * whose first derivative for bot i is [i ties] / SIZE - p, and the second
 * p p' - diag p, p = exp x over their sum: concave whatever the results.
 */
#include "server/ladder/refit_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_places(const void *a_, const void *b_)
{
	const struct refit_place *a = a_;
	const struct refit_place *b = b_;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->bot > b->bot) - (a->bot < b->bot);
}

static int compare_bots(const void *a_, const void *b_)
{
	const uint32_t *a = a_;
	const uint32_t *b = b_;

	return (*a > *b) - (*a < *b);
}

static bool is_good(const struct refit_ranking *ranking, size_t nbots)
{
	uint32_t bots[RATING_PLACES];

	if (ranking->count < 1 || ranking->count > RATING_PLACES)
		return false;
	for (size_t i = 0; i < ranking->count; i++)
		bots[i] = ranking->places[i].bot;
	qsort(bots, ranking->count, sizeof(bots[0]), compare_bots);
	for (size_t i = 1; i < ranking->count; i++)
		if (bots[i] == bots[i - 1])
			return false;
	return bots[ranking->count - 1] < nbots;
}

/* Add RANKING's choices; NPLACES bots are there already. */
static void add_ranking(struct refit_choices *choices,
			const struct refit_ranking *ranking, double beta,
			size_t nplaces)
{
	struct refit_place places[RATING_PLACES];
	size_t n = ranking->count;

	memcpy(places, ranking->places, n * sizeof(places[0]));
	qsort(places, n, sizeof(places[0]), compare_places);
	for (size_t i = 0; i < n; i++)
		choices->bots[nplaces + i] = places[i].bot;
	for (size_t first = 0, end; first + 1 < n; first = end) {
		struct refit_choice *choice = &choices->choices[choices->count];

		end = first + 1;
		while (end < n && places[end].rank == places[first].rank)
			end++;
		choice->first = nplaces + first;
		choice->size = (unsigned)(end - first);
		choice->left = (unsigned)(n - first);
		choice->scale = 1 / (beta * sqrt((double)n));
		choices->count++;
	}
}

int refit_choices_init(struct refit_choices *ret,
		       const struct rating_model *model, size_t nbots,
		       const struct refit_ranking *rankings, size_t count)
{
	struct refit_choices choices = { .nbots = nbots,
					 .mean = model->mu,
					 .precision = 1 / (model->sigma *
							   model->sigma) };
	size_t nplaces = 0;
	size_t nchances = 0;

	for (size_t i = 0; i < count; i++) {
		if (!is_good(&rankings[i], nbots))
			return -EINVAL;
		nplaces += rankings[i].count;
	}
	/* One more each: nobody asks for 0 bytes. */
	choices.bots = reallocarray(NULL, nplaces + 1, sizeof(*choices.bots));
	choices.choices =
		reallocarray(NULL, nplaces + 1, sizeof(*choices.choices));
	if (choices.bots == NULL || choices.choices == NULL)
		goto err_memory;
	nplaces = 0;
	for (size_t i = 0; i < count; i++) {
		add_ranking(&choices, &rankings[i], model->beta, nplaces);
		nplaces += rankings[i].count;
	}
	for (size_t i = 0; i < choices.count; i++)
		nchances += choices.choices[i].left;
	choices.chances =
		reallocarray(NULL, nchances + 1, sizeof(*choices.chances));
	if (choices.chances == NULL)
		goto err_memory;
	*ret = choices;
	return 0;

err_memory:
	refit_choices_release(&choices);
	return -ENOMEM;
}

void refit_choices_release(struct refit_choices *choices)
{
	free(choices->bots);
	free(choices->choices);
	free(choices->chances);
}

/* The log likelihood of one choice; its chances go to CHANCES. */
static double set_choice(const struct refit_choice *choice,
			 const uint32_t *bots, const double *strengths,
			 double *chances)
{
	double chosen = 0;
	double most = strengths[bots[0]];
	double sum = 0;

	for (unsigned i = 1; i < choice->left; i++)
		most = fmax(most, strengths[bots[i]]);
	for (unsigned i = 0; i < choice->size; i++)
		chosen += (strengths[bots[i]] - most) * choice->scale;
	for (unsigned i = 0; i < choice->left; i++) {
		chances[i] = exp((strengths[bots[i]] - most) * choice->scale);
		sum += chances[i];
	}
	for (unsigned i = 0; i < choice->left; i++)
		chances[i] /= sum;
	return chosen / choice->size - log(sum);
}

double refit_choices_set(struct refit_choices *choices, const double *strengths)
{
	double *chances = choices->chances;
	double value = 0;

	for (size_t i = 0; i < choices->count; i++) {
		const struct refit_choice *choice = &choices->choices[i];

		value += set_choice(choice, choices->bots + choice->first,
				    strengths, chances);
		chances += choice->left;
	}
	for (size_t i = 0; i < choices->nbots; i++) {
		double off = strengths[i] - choices->mean;

		value -= off * off * choices->precision / 2;
	}
	return value;
}

void refit_choices_gradient(const struct refit_choices *choices,
			    const double *strengths, double *ret_gradient)
{
	const double *chances = choices->chances;

	for (size_t i = 0; i < choices->nbots; i++)
		ret_gradient[i] =
			(choices->mean - strengths[i]) * choices->precision;
	for (size_t i = 0; i < choices->count; i++) {
		const struct refit_choice *choice = &choices->choices[i];
		const uint32_t *bots = choices->bots + choice->first;

		for (unsigned j = 0; j < choice->size; j++)
			ret_gradient[bots[j]] += choice->scale / choice->size;
		for (unsigned j = 0; j < choice->left; j++)
			ret_gradient[bots[j]] -= choice->scale * chances[j];
		chances += choice->left;
	}
}

void refit_choices_diagonal(const struct refit_choices *choices,
			    double *ret_diagonal)
{
	const double *chances = choices->chances;

	for (size_t i = 0; i < choices->nbots; i++)
		ret_diagonal[i] = choices->precision;
	for (size_t i = 0; i < choices->count; i++) {
		const struct refit_choice *choice = &choices->choices[i];
		const uint32_t *bots = choices->bots + choice->first;

		for (unsigned j = 0; j < choice->left; j++)
			ret_diagonal[bots[j]] += choice->scale * choice->scale *
						 chances[j] * (1 - chances[j]);
		chances += choice->left;
	}
}

void refit_choices_information(const struct refit_choices *choices,
			       double *ret_matrix, double *ret_diagonal)
{
	const double *chances = choices->chances;
	size_t n = choices->nbots;

	memset(ret_matrix, 0, n * n * sizeof(*ret_matrix));
	for (size_t i = 0; i < choices->count; i++) {
		const struct refit_choice *choice = &choices->choices[i];
		const uint32_t *bots = choices->bots + choice->first;
		double square = choice->scale * choice->scale;

		for (unsigned j = 0; j < choice->left; j++)
			for (unsigned k = 0; k < j; k++) {
				uint32_t a = bots[j];
				uint32_t b = bots[k];
				size_t at = a > b ? a * n + b : b * n + a;

				ret_matrix[at] -=
					square * chances[j] * chances[k];
			}
		chances += choice->left;
	}
	refit_choices_diagonal(choices, ret_diagonal);
	for (size_t i = 0; i < n; i++)
		ret_matrix[i * n + i] = ret_diagonal[i];
}

void refit_choices_product(const struct refit_choices *choices,
			   const double *vector, double *ret_product)
{
	const double *chances = choices->chances;

	for (size_t i = 0; i < choices->nbots; i++)
		ret_product[i] = choices->precision * vector[i];
	for (size_t i = 0; i < choices->count; i++) {
		const struct refit_choice *choice = &choices->choices[i];
		const uint32_t *bots = choices->bots + choice->first;
		double square = choice->scale * choice->scale;
		double mean = 0;

		for (unsigned j = 0; j < choice->left; j++)
			mean += chances[j] * vector[bots[j]];
		for (unsigned j = 0; j < choice->left; j++)
			ret_product[bots[j]] +=
				square * chances[j] * (vector[bots[j]] - mean);
		chances += choice->left;
	}
}
