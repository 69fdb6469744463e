/* SPDX-License-Identifier: MIT */
/*
 * paired.h - how far two bots are apart on equal instances. Pure.
 *
 * The differences of one instance each are taken for a sample, and Student's
 * t gives the interval: what is left after pairing is near enough to normal,
 * an author's league is small (where a bootstrap's intervals come out too
 * short), and the same numbers give the same interval without any draw.
 */
#ifndef HILL_LADDER_PAIRED_H
#define HILL_LADDER_PAIRED_H

#include <stddef.h>

struct paired {
	size_t count;
	double mean; /* NAN when there is no difference at all */
	/* The interval is mean +- half; NAN for fewer than two differences. */
	double half;
};

/* The mean of COUNT differences, and its 95 % interval. */
struct paired paired_from(const double *differences, size_t count);
/*
 * Likewise of COUNT differences whose mean is MEAN and whose squared distances
 * from it sum up to SQUARES.
 */
struct paired paired_of_squares(size_t count, double mean, double squares);
/*
 * How many standard errors the 95 % interval reaches to each side with DEGREES
 * (from 1) of freedom: Student's t at 0.975, to 1e-9 up to 100000 degrees.
 */
double paired_t95(size_t degrees);

#endif
