/* SPDX-License-Identifier: MIT */
/*
 * tournament_groups.c - tables of more than two, as evenly as can be.
 *
 * A block {b0, b1, ...} of numbers below n, moved round by 1 n times, gives n
 * tables in which everybody sits once in each seat, and two entrants whose
 * numbers differ by d meet as often as d or n - d occurs between the block's
 * numbers (Bose's method of differences, 1939). So blocks are added until
 * every difference occurs often enough, each chosen among some random ones to
 * cover the most that is missing and the least that is not: {0, 1, 3} for 7
 * entrants in threes is found so, where every pair meets exactly once.
 */
#include <stdlib.h>
#include <string.h>

#include "server/ladder/tournament_internal.h"

enum { TRIES = 64 };

struct search {
	unsigned n;
	unsigned group;
	int *need;  /* by difference 1 .. n / 2: meetings that are missing */
	int *ring;  /* at [d] and [n + d]: what the difference d is worth now */
	int *gains; /* by number: of it beside the block */
	uint64_t seed;
	uint64_t drawn;
};

static unsigned draw(struct search *search, unsigned below)
{
	return (unsigned)(tournament_mix(search->seed, search->drawn++) %
			  below);
}

static unsigned difference(const struct search *search, unsigned a, unsigned b)
{
	unsigned d = a > b ? a - b : b - a;

	return d > search->n - d ? search->n - d : d;
}

/* Meetings that a difference is good for. */
static int worth(const struct search *search, unsigned d)
{
	return 2 * d == search->n ? 2 : 1;
}

/* What one more of difference D gains. */
static int gain_of(const struct search *search, unsigned d)
{
	return search->need[d] > 0 ? 2 : search->need[d] - 1;
}

/* Take the differences of NUMBER to the block; the gain of it. */
static int take(struct search *search, const uint32_t *block, unsigned count,
		uint32_t number)
{
	int gain = 0;

	for (unsigned i = 0; i < count; i++) {
		unsigned d = difference(search, block[i], number);

		gain += gain_of(search, d);
		search->need[d] -= worth(search, d);
	}
	return gain;
}

static void put_back(struct search *search, const uint32_t *block,
		     unsigned count, uint32_t number)
{
	for (unsigned i = 0; i < count; i++) {
		unsigned d = difference(search, block[i], number);

		search->need[d] += worth(search, d);
	}
}

static void fill_ring(struct search *search)
{
	unsigned n = search->n;

	for (unsigned d = 1; d <= n / 2; d++) {
		int gain = gain_of(search, d);

		search->ring[d] = search->ring[n - d] = gain;
		search->ring[n + d] = search->ring[2 * n - d] = gain;
	}
}

/* NUMBER, as far as two of the block are equally far from it: then less. */
static void correct(struct search *search, const uint32_t *block,
		    unsigned count, uint32_t number)
{
	search->gains[number] = take(search, block, count, number);
	put_back(search, block, count, number);
}

/*
 * The gain of each number beside the block. Each difference is looked up as it
 * stands now, without a branch; only who is as far from one of the block as
 * from another takes a difference twice.
 */
static void fill_gains(struct search *search, const uint32_t *block,
		       unsigned count)
{
	unsigned n = search->n;
	int *gains = search->gains;

	fill_ring(search);
	memset(gains, 0, n * sizeof(*gains));
	for (unsigned k = 0; k < count; k++) {
		const int *ring = &search->ring[n - block[k]];

		for (unsigned i = 0; i < n; i++)
			gains[i] += ring[i];
	}
	for (unsigned a = 0; a < count; a++)
		for (unsigned b = 0; b < a; b++) {
			unsigned sum = block[a] + block[b];

			if (sum % 2 == 0)
				correct(search, block, count, sum / 2);
			if ((sum + n) % 2 == 0)
				correct(search, block, count,
					(sum + n) / 2 % n);
			if (sum % 2 == 0 && n % 2 == 0)
				correct(search, block, count,
					(sum / 2 + n / 2) % n);
		}
	for (unsigned k = 0; k < count; k++)
		gains[block[k]] = INT32_MIN;
}

/* The number that goes best with the block so far. */
static uint32_t best_number(struct search *search, const uint32_t *block,
			    unsigned count)
{
	unsigned n = search->n, offset = draw(search, n);
	int best = INT32_MIN;

	fill_gains(search, block, count);
	for (unsigned i = 0; i < n; i++)
		best = search->gains[i] > best ? search->gains[i] : best;
	for (unsigned i = offset; i < n; i++)
		if (search->gains[i] == best)
			return i;
	for (unsigned i = 0; i < offset; i++)
		if (search->gains[i] == best)
			return i;
	abort(); /* it is one of them */
}

/* A block that has difference FIRST; what it gains. Needs are as before. */
static int try_block(struct search *search, unsigned first, uint32_t *block)
{
	int gain;

	block[0] = 0;
	block[1] = first;
	gain = take(search, block, 1, first);
	for (unsigned k = 2; k < search->group; k++) {
		block[k] = best_number(search, block, k);
		gain += take(search, block, k, block[k]);
	}
	for (unsigned k = search->group; k-- > 1;)
		put_back(search, block, k, block[k]);
	return gain;
}

static unsigned missing(const struct search *search)
{
	for (unsigned d = search->n / 2; d > 0; d--)
		if (search->need[d] > 0)
			return d;
	return 0;
}

/* The tables of all blocks; one block while there is something missing. */
static size_t develop(struct search *search, uint32_t **ret)
{
	uint32_t block[LIMIT_SEATS], best[LIMIT_SEATS] = { 0 };
	unsigned n = search->n, group = search->group, first;
	uint32_t *tables = NULL;
	size_t count = 0;

	while ((first = missing(search)) > 0) {
		int best_gain = INT32_MIN;

		for (unsigned i = 0; i < TRIES; i++) {
			int gain = try_block(search, first, block);

			if (gain > best_gain) {
				best_gain = gain;
				memcpy(best, block, sizeof(best));
			}
		}
		for (unsigned k = 1; k < group; k++)
			(void)take(search, best, k, best[k]);
		tables = xreallocarray(tables, (count + n) * group,
				       sizeof(*tables));
		for (unsigned i = 0; i < n; i++)
			for (unsigned k = 0; k < group; k++)
				tables[(count + i) * group + k] =
					(best[k] + i) % n;
		count += n;
	}
	*ret = tables;
	return count;
}

size_t tournament_groups(unsigned entrants, unsigned group, unsigned meetings,
			 uint64_t seed, uint32_t **ret)
{
	struct search search = { .n = entrants, .group = group, .seed = seed };
	size_t count;

	if (entrants == group) {
		uint32_t *tables =
			xcalloc((size_t)meetings * group, sizeof(*tables));

		for (unsigned i = 0; i < meetings; i++)
			for (unsigned k = 0; k < group; k++)
				tables[i * group + k] = (k + i) % group;
		*ret = tables;
		return meetings;
	}
	search.need = xcalloc(entrants / 2 + 1, sizeof(*search.need));
	search.ring = xcalloc(2 * (size_t)entrants, sizeof(*search.ring));
	search.gains = xcalloc(entrants, sizeof(*search.gains));
	for (unsigned d = 1; d <= entrants / 2; d++)
		search.need[d] = (int)meetings;
	count = develop(&search, ret);
	free(search.need);
	free(search.ring);
	free(search.gains);
	return count;
}
