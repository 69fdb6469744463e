/* SPDX-License-Identifier: MIT */
/*
 * tournament_roundrobin.c - every pair meets equally often. Pairs by the
 * circle method; more than two at a table by tournament_groups.c.
 */
#include <stdlib.h>
#include <string.h>

#include "server/ladder/tournament_internal.h"

/*
 * One entrant (the last, or nobody where their number is odd) stays, the
 * others go round. In round R those meet whose places add up to 2 R modulo
 * the places that turn; who sits first alternates, so that everybody has each
 * seat equally often, give or take one.
 */
static void start_pairs(struct tournament *tournament)
{
	uint32_t n = tournament->nentrants, turning = n - (n % 2 == 0);

	for (uint32_t r = 0; r < turning; r++) {
		uint32_t pair[2] = { r, n - 1 };

		if (n % 2 == 0) {
			if (r % 2 == 1) {
				pair[0] = n - 1;
				pair[1] = r;
			}
			(void)tournament_pair(tournament, r + 1, pair, 2);
		}
		for (uint32_t k = 1; k <= turning / 2; k++) {
			uint32_t left = (r + k) % turning;
			uint32_t right = (r + turning - k) % turning;

			pair[0] = k % 2 == 1 ? left : right;
			pair[1] = k % 2 == 1 ? right : left;
			(void)tournament_pair(tournament, r + 1, pair, 2);
		}
	}
}

/* The first round in which nobody of TABLE sits yet; it is marked. */
static uint32_t free_round(bool **busy, size_t *nrounds, unsigned n,
			   const uint32_t *table, unsigned group)
{
	size_t round;

	for (round = 0; round < *nrounds; round++) {
		bool is_free = true;

		for (unsigned k = 0; k < group; k++)
			is_free &= !(*busy)[round * n + table[k]];
		if (is_free)
			break;
	}
	if (round == *nrounds) {
		*busy = xreallocarray(*busy, (round + 1) * n, sizeof(**busy));
		memset(&(*busy)[round * n], 0, n * sizeof(**busy));
		(*nrounds)++;
	}
	for (unsigned k = 0; k < group; k++)
		(*busy)[round * n + table[k]] = true;
	return (uint32_t)round;
}

static void start_groups(struct tournament *tournament)
{
	const struct tournament_rules *rules = &tournament->rules;
	unsigned n = tournament->nentrants, group = rules->group;
	uint32_t *tables, *rounds;
	bool *busy = NULL;
	size_t count, nrounds = 0;

	count = tournament_groups(n, group, 1, rules->seed, &tables);
	rounds = xcalloc(count, sizeof(*rounds));
	for (size_t i = 0; i < count; i++)
		rounds[i] = free_round(&busy, &nrounds, n, &tables[i * group],
				       group);
	for (uint32_t r = 0; r < nrounds; r++)
		for (size_t i = 0; i < count; i++)
			if (rounds[i] == r)
				(void)tournament_pair(tournament, r + 1,
						      &tables[i * group],
						      group);
	free(tables);
	free(rounds);
	free(busy);
}

static void start(struct tournament *tournament)
{
	if (tournament->rules.group == 2)
		start_pairs(tournament);
	else
		start_groups(tournament);
	tournament->is_over = true;
}

static void advance(struct tournament *tournament, uint32_t pairing)
{
	(void)tournament;
	(void)pairing;
}

/*
 * Head-to-head counts among those who are level on points, be they few or
 * all; then whom one has beaten (Sonneborn-Berger, in quarter points), then
 * wins.
 */
static void rank(const struct tournament *tournament,
		 struct tournament_standing *table, const uint32_t *half,
		 const uint32_t *meetings)
{
	size_t n = tournament->nentrants;

	(void)meetings;
	for (size_t a = 0; a < n; a++) {
		for (size_t b = 0; b < n; b++) {
			if (table[a].half_points == table[b].half_points)
				table[a].tie_breaks[0] += half[a * n + b];
			table[a].tie_breaks[1] +=
				half[a * n + b] * table[b].half_points;
		}
		table[a].tie_breaks[2] = table[a].wins;
	}
	tournament_rank(table, n);
}

const struct tournament_format_ops tournament_round_robin_ops = { start,
								  advance,
								  rank };
