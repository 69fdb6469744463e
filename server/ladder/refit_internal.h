/* SPDX-License-Identifier: MIT */
/*
 * refit_internal.h - the parts of the refit: the likelihood, and the algebra
 * of a symmetric positive matrix. For refit*.c and their tests.
 */
#ifndef HILL_LADDER_REFIT_INTERNAL_H
#define HILL_LADDER_REFIT_INTERNAL_H

#include "server/ladder/refit.h"

/* From LEFT bots, who tie or come after, the first SIZE were chosen. */
struct refit_choice {
	size_t first; /* in refit_choices.bots */
	unsigned size;
	unsigned left;
	double scale; /* 1 / c of its ranking */
};

/*
 * All rankings as choices, and how probable each bot was in each of them for
 * the strengths that were set last.
 */
struct refit_choices {
	size_t nbots;
	double mean; /* of the prior */
	double precision;
	uint32_t *bots; /* owned */
	struct refit_choice *choices;
	size_t count;
	double *chances; /* left of each choice, one choice after the other */
};

/* Takes the arguments of refit_init() and fails as it does. */
int refit_choices_init(struct refit_choices *ret,
		       const struct rating_model *model, size_t nbots,
		       const struct refit_ranking *rankings,
		       size_t count) WARN_UNUSED;
void refit_choices_release(struct refit_choices *choices);
/* Set the bots' STRENGTHS. Returns the log of likelihood times prior. */
double refit_choices_set(struct refit_choices *choices,
			 const double *strengths);
/* The slope at STRENGTHS, those that were set last. */
void refit_choices_gradient(const struct refit_choices *choices,
			    const double *strengths, double *ret_gradient);
/*
 * The information: RET_MATRIX, nbots x nbots, the lower triangle alone, and its
 * diagonal once more in RET_DIAGONAL.
 */
void refit_choices_information(const struct refit_choices *choices,
			       double *ret_matrix, double *ret_diagonal);
/* The diagonal alone. */
void refit_choices_diagonal(const struct refit_choices *choices,
			    double *ret_diagonal);
/* Its product with VECTOR. */
void refit_choices_product(const struct refit_choices *choices,
			   const double *vector, double *ret_product);

/*
 * MATRIX (n x n, lower triangle) becomes its Cholesky factor. Returns 0, or
 * -ERANGE when it is not positive.
 */
int refit_factor(double *matrix, size_t n) WARN_UNUSED;
/* VECTOR becomes the solution for it; FACTOR from refit_factor(). */
void refit_solve(const double *factor, size_t n, double *vector);
/* RET becomes the whole inverse. FACTOR is used up. */
void refit_invert(double *factor, size_t n, double *ret);

#endif
