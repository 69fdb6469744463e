/* SPDX-License-Identifier: MIT */
/* rating.c - the Plackett-Luce update of Weng and Lin, Algorithm 4. */
#include "server/ladder/rating.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define RATING_MOST 1e9

const struct rating_model rating_model_default = {
	.mu = 25.0,
	.sigma = 25.0 / 3,
	.beta = 25.0 / 6,
	.kappa = 1e-4,
	.tau = 25.0 / 300,
};

/* A bot of the ranking. In order of rank, mu, sigma: the order of all sums. */
struct player {
	unsigned rank;
	double mu;
	double variance; /* tau^2 included */
	size_t place;    /* in the caller's arrays */
};

/* Those who tie: players[first .. end - 1]. */
struct group {
	size_t first;
	size_t end;
	double rest; /* log of the sum of exp(mu / c) from FIRST to the last */
};

struct rating rating_new(const struct rating_model *model)
{
	struct rating rating = { model->mu, model->sigma };

	return rating;
}

bool rating_is_valid(const struct rating *rating)
{
	/* Each comparison is false for a NaN. */
	return rating->mu >= -RATING_MOST && rating->mu <= RATING_MOST &&
	       rating->sigma >= 0 && rating->sigma <= RATING_MOST;
}

static int compare_doubles(double a, double b)
{
	return (a > b) - (a < b);
}

static int compare_players(const void *a_, const void *b_)
{
	const struct player *a = a_;
	const struct player *b = b_;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->mu < b->mu || a->mu > b->mu)
		return compare_doubles(a->mu, b->mu);
	return compare_doubles(a->variance, b->variance);
}

/* log of the sum of exp(mu / c) of COUNT players; no exp() can overflow. */
static double log_sum(const struct player *players, size_t count, double c)
{
	double most = players[0].mu;
	double sum = 0;

	for (size_t i = 1; i < count; i++)
		most = fmax(most, players[i].mu);
	for (size_t i = 0; i < count; i++)
		sum += exp((players[i].mu - most) / c);
	return most / c + log(sum);
}

static size_t find_groups(const struct player *players, size_t count, double c,
			  struct group *groups)
{
	size_t ngroups = 0;

	for (size_t first = 0; first < count;) {
		size_t end = first + 1;

		while (end < count && players[end].rank == players[first].rank)
			end++;
		groups[ngroups].first = first;
		groups[ngroups].end = end;
		groups[ngroups].rest =
			log_sum(players + first, count - first, c);
		ngroups++;
		first = end;
	}
	return ngroups;
}

/*
 * The paper sums over every bot q that ranks no worse, each divided by how
 * many tie with q. All q of one group give the same term, so one term a group
 * is the same sum; and the own group's 1 / size stands alone, which makes the
 * sum for equals that tie exactly 0.
 */
static struct rating moved(const struct rating_model *model, double c,
			   const struct player *player,
			   const struct group *groups, size_t own)
{
	double size = (double)(groups[own].end - groups[own].first);
	double omega = 1 / size;
	double delta = 0;
	double sigma = sqrt(player->variance);
	double gamma = sigma / c;
	struct rating after;

	for (size_t i = 0; i <= own; i++) {
		double chance = exp(player->mu / c - groups[i].rest);

		omega -= chance;
		delta += chance * (1 - chance);
	}
	omega *= player->variance / c;
	delta *= player->variance / (c * c) * gamma;
	after.mu = player->mu + omega;
	after.sigma = sigma * sqrt(fmax(1 - delta, model->kappa));
	return after;
}

int rating_update(const struct rating_model *model, struct rating *ratings,
		  const unsigned *ranks, size_t count)
{
	struct player players[RATING_PLACES];
	struct group groups[RATING_PLACES];
	double c = 0;
	size_t ngroups;

	if (count < 2 || count > RATING_PLACES)
		return -EINVAL;
	for (size_t i = 0; i < count; i++) {
		if (!rating_is_valid(&ratings[i]))
			return -EINVAL;
		players[i].rank = ranks[i];
		players[i].mu = ratings[i].mu;
		players[i].variance = ratings[i].sigma * ratings[i].sigma +
				      model->tau * model->tau;
		players[i].place = i;
	}
	qsort(players, count, sizeof(players[0]), compare_players);
	for (size_t i = 0; i < count; i++)
		c += players[i].variance + model->beta * model->beta;
	c = sqrt(c);
	ngroups = find_groups(players, count, c, groups);
	for (size_t own = 0; own < ngroups; own++)
		for (size_t i = groups[own].first; i < groups[own].end; i++)
			ratings[players[i].place] =
				moved(model, c, &players[i], groups, own);
	return 0;
}
