/* SPDX-License-Identifier: MIT */
/*
 * refit.c - how long a refit takes, beside plain gradient ascent.
 *
 *	bench-refit [MATCHES [BOTS]]	10000 matches of four, 100 bots
 *
 * Draws matches from bots of known strength, fits them both ways and rates
 * them one by one as well. Prints
 * `refit_us=N steps=N ascent_us=N rounds=N apart=X online_us=N`, CPU time;
 * exit 1 when the two fits do not agree within 1e-6.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server/ladder/rating.h"
#include "server/ladder/refit.h"

enum { SEATS = 4, ROUNDS_MOST = 100000 };

#define AGREED 1e-6

static const struct rating_model *const model = &rating_model_default;

struct field {
	size_t bots;
	size_t count;
	double *truth;
	struct refit_place *places; /* SEATS a match, in order of rank */
	struct refit_ranking *rankings;
};

static int64_t cpu_us(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) != 0)
		exit(1);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static double next_real(void)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return ((double)(seed >> 12) + 0.5) / 4503599627370496.0;
}

/* Strength over c plus Gumbel noise: the model's own order. */
static void draw_match(const struct field *field, struct refit_place *places)
{
	double points[SEATS];

	for (size_t i = 0; i < SEATS; i++) {
		uint32_t bot;
		size_t j;

		do {
			bot = (uint32_t)(next_real() * (double)field->bots);
			for (j = 0; j < i && places[j].bot != bot; j++)
				;
		} while (j < i);
		double point = field->truth[bot] / (model->beta * sqrt(SEATS)) -
			       log(-log(next_real()));
		for (; j > 0 && points[j - 1] < point; j--) {
			points[j] = points[j - 1];
			places[j] = places[j - 1];
		}
		points[j] = point;
		places[j].bot = bot;
	}
	for (size_t i = 0; i < SEATS; i++)
		places[i].rank = (uint32_t)i;
}

static void draw_field(struct field *field)
{
	field->truth = xcalloc(field->bots, sizeof(double));
	field->places =
		xcalloc(field->count * SEATS, sizeof(struct refit_place));
	field->rankings = xcalloc(field->count, sizeof(struct refit_ranking));
	for (size_t i = 0; i < field->bots; i++)
		field->truth[i] = 50 * next_real();
	for (size_t i = 0; i < field->count; i++) {
		draw_match(field, &field->places[i * SEATS]);
		field->rankings[i].places = &field->places[i * SEATS];
		field->rankings[i].count = SEATS;
	}
}

/* The slope of likelihood and prior at MU, written down from the formula. */
static void find_slope(const struct field *field, const double *mu,
		       double *slope)
{
	double scale = 1 / (model->beta * sqrt(SEATS));

	for (size_t i = 0; i < field->bots; i++)
		slope[i] = (model->mu - mu[i]) / (model->sigma * model->sigma);
	for (size_t i = 0; i < field->count; i++) {
		const struct refit_place *places = &field->places[i * SEATS];

		for (size_t first = 0; first + 1 < SEATS; first++) {
			double sum = 0;

			for (size_t j = first; j < SEATS; j++)
				sum += exp(mu[places[j].bot] * scale);
			slope[places[first].bot] += scale;
			for (size_t j = first; j < SEATS; j++)
				slope[places[j].bot] -=
					scale * exp(mu[places[j].bot] * scale) /
					sum;
		}
	}
}

/* Climb until MU is as near to the refit's as AGREED; returns the rounds. */
static int ascend(const struct field *field, const struct refit *refit,
		  double *mu, double *slope, double *ret_apart)
{
	double scale = 1 / (model->beta * sqrt(SEATS));
	double most = 0;
	int rounds = 0;

	/* No curvature is above a quarter a choice; its matrix twice that. */
	for (size_t i = 0; i < field->bots; i++)
		slope[i] = 0;
	for (size_t i = 0; i < field->count * SEATS; i++)
		slope[field->places[i].bot] += 1;
	for (size_t i = 0; i < field->bots; i++) {
		most = fmax(most, slope[i]);
		mu[i] = model->mu;
	}
	most = most * (SEATS - 1) * scale * scale / 2 +
	       1 / (model->sigma * model->sigma);
	do {
		find_slope(field, mu, slope);
		*ret_apart = 0;
		for (size_t i = 0; i < field->bots; i++) {
			mu[i] += slope[i] / most;
			*ret_apart = fmax(*ret_apart,
					  fabs(mu[i] - refit->ratings[i].mu));
		}
		rounds++;
	} while (*ret_apart > AGREED && rounds < ROUNDS_MOST);
	return rounds;
}

static int64_t rate_online(const struct field *field)
{
	static const unsigned ranks[SEATS] = { 0, 1, 2, 3 };
	struct rating *ratings = xcalloc(field->bots, sizeof(*ratings));
	int64_t begun = cpu_us();

	for (size_t i = 0; i < field->bots; i++)
		ratings[i] = rating_new(model);
	for (size_t i = 0; i < field->count; i++) {
		const struct refit_place *places = &field->places[i * SEATS];
		struct rating seats[SEATS];

		for (size_t j = 0; j < SEATS; j++)
			seats[j] = ratings[places[j].bot];
		if (rating_update(model, seats, ranks, SEATS) < 0)
			exit(1);
		for (size_t j = 0; j < SEATS; j++)
			ratings[places[j].bot] = seats[j];
	}
	free(ratings);
	return cpu_us() - begun;
}

int main(int argc, char **argv)
{
	struct field field = { .bots = 100, .count = 10000 };
	struct refit refit;
	double *mu, *slope, apart;
	int64_t begun, refit_us, ascent_us;
	int rounds;

	if (argc > 1)
		field.count = strtoul(argv[1], NULL, 10);
	if (argc > 2)
		field.bots = strtoul(argv[2], NULL, 10);
	if (field.count == 0 || field.bots < SEATS)
		return 2;
	draw_field(&field);
	begun = cpu_us();
	if (refit_init(&refit, model, field.bots, field.rankings, field.count,
		       NULL) < 0)
		return 1;
	refit_us = cpu_us() - begun;
	mu = xcalloc(field.bots, sizeof(*mu));
	slope = xcalloc(field.bots, sizeof(*slope));
	begun = cpu_us();
	rounds = ascend(&field, &refit, mu, slope, &apart);
	ascent_us = cpu_us() - begun;
	printf("refit_us=%lld steps=%u ascent_us=%lld rounds=%d apart=%.1e "
	       "online_us=%lld\n",
	       (long long)refit_us, refit.steps, (long long)ascent_us, rounds,
	       apart, (long long)rate_online(&field));
	free(mu);
	free(slope);
	refit_release(&refit);
	free(field.truth);
	free(field.places);
	free(field.rankings);
	return apart > AGREED;
}
