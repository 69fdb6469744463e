/* SPDX-License-Identifier: MIT */
#include "server/ladder/paired.h"

#include <math.h>

enum { HALVINGS = 60, DEGREES_MAX = 100000 };

/*
 * The chance that |t| stays below T: the finite sums for a whole number of
 * degrees (Abramowitz and Stegun, 26.7.3 and 26.7.4).
 */
static double chance_within(double t, size_t degrees)
{
	double angle = atan(t / sqrt((double)degrees));
	double square = cos(angle) * cos(angle);
	double term = degrees % 2 == 1 ? cos(angle) : 1.0;
	double sum = 0;

	if (degrees == 1)
		return 2 * angle / M_PI;
	for (size_t k = degrees % 2 == 1 ? 3 : 2; k <= degrees; k += 2) {
		sum += term;
		term *= square * (double)(k - 1) / (double)k;
	}
	if (degrees % 2 == 1)
		return 2 / M_PI * (angle + sin(angle) * sum);
	return sin(angle) * sum;
}

double paired_t95(size_t degrees)
{
	double low = 1.9;
	double high = 13.0;

	if (degrees > DEGREES_MAX)
		degrees = DEGREES_MAX;
	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;

		if (chance_within(middle, degrees) < 0.95)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

struct paired paired_of_squares(size_t count, double mean, double squares)
{
	struct paired ret = { .count = count,
			      .mean = count > 0 ? mean : (double)NAN,
			      .half = (double)NAN };

	if (count > 1)
		ret.half = paired_t95(count - 1) *
			   sqrt(squares / (double)(count - 1) / (double)count);
	return ret;
}

struct paired paired_from(const double *differences, size_t count)
{
	double squares = 0;
	double sum = 0;
	double mean;

	for (size_t i = 0; i < count; i++)
		sum += differences[i];
	if (count == 0)
		return paired_of_squares(0, 0, 0);
	mean = sum / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += (differences[i] - mean) * (differences[i] - mean);
	return paired_of_squares(count, mean, squares);
}
