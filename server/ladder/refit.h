/* SPDX-License-Identifier: MIT */
/*
 * refit.h - all results of a ladder at once, in whatever order they came.
 *
 * The on-line rating forgets and depends on the order; the refit asks which
 * strengths explain all rankings best. It maximises the Plackett-Luce
 * likelihood (R. D. Luce 1959, R. L. Plackett 1975) times a normal prior.
 *
 * Scale: that of rating.h. In a ranking of n bots the chance that bot i comes
 * before all others that are left is exp(mu_i / c) over their sum, where
 * c = beta sqrt(n): what the on-line update uses when every sigma is 0. The
 * prior is the rating of a bot without a game, so nobody runs away to infinity,
 * neither who won everything nor a group that never met the others.
 *
 * Ties: as Weng and Lin (2011) have them on line. k bots that tie among those
 * who are left count as one choice, a k-th part of it for each of them; two
 * who tie are half a win and half a loss. No second parameter for how often
 * ties happen (Davidson-Luce; H. Turner, J. van Etten, D. Firth, I. Kosmidis,
 * "Modelling rankings in R", Computational Statistics 35, 2020) is fitted. A
 * big tie so counts for less than it might: intervals err to the wide side.
 *
 * Intervals: sigma is the root of the diagonal of the inverse of the observed
 * information (the negative second derivative at the maximum, prior
 * included). Up to REFIT_DENSE bots that is exact, by Cholesky. Above, steps
 * are solved by conjugate gradients and sigma is 1 / sqrt of the information's
 * own diagonal; covariances are then taken as 0. That leaves out what the
 * opponents' uncertainty adds: measured 4 % for 600 bots of 80 rankings each.
 *
 * Pure: no I/O, no clock, no chance. Any thread.
 */
#ifndef HILL_LADDER_REFIT_H
#define HILL_LADDER_REFIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/ladder/rating.h"

enum { REFIT_DENSE = 512 }; /* bots with exact covariances, at most */

/* One bot in one ranking. */
struct refit_place {
	uint32_t bot;  /* 0 .. bots - 1 */
	uint32_t rank; /* the lower is the better, equal ones tie */
};

/* One round. */
struct refit_ranking {
	const struct refit_place *places; /* borrowed, in any order */
	size_t count; /* 1..RATING_PLACES; 1 tells nothing */
};

struct refit {
	size_t bots;
	struct rating *ratings; /* owned; mu and its standard error */
	double *covariance;     /* owned; bots x bots, NULL above REFIT_DENSE */
	unsigned steps;         /* Newton steps taken */
};

/*
 * Fit BOTS strengths to COUNT RANKINGS. START: where to begin, one mu a bot,
 * or NULL; it has no influence beyond the last digits (1e-8). tau and kappa of
 * MODEL are not used. A bot without a ranking keeps the prior.
 * Returns 0, and *RET is the caller's (refit_release); -EINVAL: a count, a
 * bot, a start out of range, or a bot twice in one ranking; -ENOMEM; -ERANGE:
 * no maximum found in 200 steps (never seen).
 */
int refit_init(struct refit *ret, const struct rating_model *model, size_t bots,
	       const struct refit_ranking *rankings, size_t count,
	       const double *start) WARN_UNUSED;

/* Free what REFIT holds; all zero is fine. */
void refit_release(struct refit *refit);

/*
 * The likelihood of superiority: how probable it is that A is stronger than B,
 * 0..1, from the difference over its own deviation, the covariance taken into
 * account. 0.5 for A = B.
 */
double refit_superiority(const struct refit *refit, size_t a, size_t b);

#endif
