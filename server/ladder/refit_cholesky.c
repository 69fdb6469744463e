/* SPDX-License-Identifier: MIT */
/* refit_cholesky.c - symmetric positive matrices, row after row in memory. */
#include "server/ladder/refit_internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static double dot(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* A += FACTOR * B. */
static void add(double *a, double factor, const double *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		a[i] += factor * b[i];
}

int refit_factor(double *matrix, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double *row = matrix + i * n;
		double rest;

		for (size_t j = 0; j < i; j++) {
			const double *upper = matrix + j * n;

			row[j] = (row[j] - dot(row, upper, j)) / upper[j];
		}
		rest = row[i] - dot(row, row, i);
		if (!(rest > 0) || !isfinite(rest))
			return -ERANGE;
		row[i] = sqrt(rest);
	}
	return 0;
}

void refit_solve(const double *factor, size_t n, double *vector)
{
	for (size_t i = 0; i < n; i++) {
		const double *row = factor + i * n;

		vector[i] = (vector[i] - dot(row, vector, i)) / row[i];
	}
	for (size_t i = n; i-- > 0;) {
		const double *row = factor + i * n;

		vector[i] /= row[i];
		add(vector, -vector[i], row, i);
	}
}

/* The inverse of L, a row at a time from those above; then its square. */
void refit_invert(double *factor, size_t n, double *ret)
{
	memset(ret, 0, n * n * sizeof(*ret));
	for (size_t i = 0; i < n; i++) {
		const double *row = factor + i * n;
		double *inverse = ret + i * n;

		for (size_t j = 0; j < i; j++)
			add(inverse, -row[j], ret + j * n, j + 1);
		for (size_t j = 0; j < i; j++)
			inverse[j] /= row[i];
		inverse[i] = 1 / row[i];
	}
	memcpy(factor, ret, n * n * sizeof(*ret));
	memset(ret, 0, n * n * sizeof(*ret));
	for (size_t k = 0; k < n; k++) {
		const double *row = factor + k * n;

		for (size_t i = 0; i <= k; i++)
			add(ret + i * n, row[i], row, i + 1);
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			ret[j * n + i] = ret[i * n + j];
}
