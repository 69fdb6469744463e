/* SPDX-License-Identifier: MIT */
/*
 * rating.h - how good a bot is, and how sure of it we are, game by game.
 *
 * A bot's strength is believed to be normal with mean MU and deviation SIGMA.
 * One ranking moves the beliefs about all who took part at once: the
 * Plackett-Luce update of R. C. Weng and C.-J. Lin, "A Bayesian Approximation
 * Method for Online Ranking", JMLR 12 (2011), Algorithm 4, with one bot a team.
 * Before it, tau^2 is added to each variance: what was learnt grows old.
 * The npm package openskill gives the same figures (tests/oracle/openskill).
 *
 * Pure: no I/O, no clock, no chance. Any thread.
 */
#ifndef HILL_LADDER_RATING_H
#define HILL_LADDER_RATING_H

#include <stdbool.h>
#include <stddef.h>

#include "server/base/alloc.h"

enum { RATING_PLACES = 64 }; /* bots in one ranking, at most */

struct rating {
	double mu;
	double sigma;
};

/* The scale and the speed. All positive; tau may be 0. */
struct rating_model {
	double mu;    /* of a bot without a game */
	double sigma; /* likewise */
	double beta;  /* how far one game strays from the bots' strengths */
	double kappa; /* the least part of its variance that one game leaves */
	double tau;   /* deviation that each bot gains before a ranking */
};

/* Weng and Lin's: 25, 25/3, 25/6, 1e-4; tau is openskill's 25/300. */
extern const struct rating_model rating_model_default;

/* Half the width of a 95 % interval, in deviations. */
#define RATING_Z95 1.959963984540054

/* A bot without a game. */
struct rating rating_new(const struct rating_model *model);

/* Neither figure beyond 1e9, sigma not negative: what an update takes. */
bool rating_is_valid(const struct rating *rating);

/*
 * Take in one ranking of COUNT bots. RATINGS, one a bot, are replaced by those
 * after it; RANKS beside them are compared only: the lower is the better,
 * equal ones tie, gaps mean nothing. Bots of one rank in one ranking must be
 * different bots.
 *
 * The order of the bots has no influence, to the last bit: all sums are taken
 * in an order of their own (rank, mu, sigma). So the same results taken in
 * the same order give the same bits again.
 *
 * Returns 0, or -EINVAL and RATINGS untouched: COUNT not 2..RATING_PLACES,
 * or a rating that is not valid.
 */
int rating_update(const struct rating_model *model, struct rating *ratings,
		  const unsigned *ranks, size_t count) WARN_UNUSED;

#endif
