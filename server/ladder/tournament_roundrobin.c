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

	tournament_reserve(tournament, (size_t)n * (n - 1) / 2);
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

/* The first round in which nobody of TABLE sits yet; they do now. */
static uint32_t free_round(uint64_t *busy, unsigned words,
			   const uint32_t *table, unsigned group)
{
	for (unsigned w = 0; w < words; w++) {
		uint64_t free_ones = ~UINT64_C(0);
		uint32_t round;

		for (unsigned k = 0; k < group; k++)
			free_ones &= ~busy[(size_t)table[k] * words + w];
		if (free_ones == 0)
			continue;
		round = w * 64 + (uint32_t)__builtin_ctzll(free_ones);
		for (unsigned k = 0; k < group; k++)
			bits_add(&busy[(size_t)table[k] * words], round);
		return round;
	}
	abort(); /* there are more rounds than a table can meet others */
}

/* ROUNDS of all tables, and where those of each begin: [rounds + 1]. */
static void plan_rounds(const uint32_t *tables, size_t count, unsigned n,
			unsigned group, uint32_t *rounds, size_t **ret)
{
	/* A table meets at most all others that its entrants sit at. */
	size_t at_most = group * (count * group / n) + 1;
	unsigned words = bits_words((unsigned)at_most), nrounds = 0;
	uint64_t *busy = xcalloc((size_t)n * words, sizeof(*busy));
	size_t *begins = xcalloc(at_most + 2, sizeof(*begins));

	for (size_t i = 0; i < count; i++) {
		rounds[i] = free_round(busy, words, &tables[i * group], group);
		begins[rounds[i] + 1]++;
		if (rounds[i] >= nrounds)
			nrounds = rounds[i] + 1;
	}
	for (unsigned r = 0; r < nrounds; r++)
		begins[r + 1] += begins[r];
	free(busy);
	*ret = begins;
}

static void start_groups(struct tournament *tournament)
{
	const struct tournament_rules *rules = &tournament->rules;
	unsigned n = tournament->nentrants, group = rules->group;
	uint32_t *tables, *rounds;
	size_t *begins, *order;
	size_t count = tournament_groups(n, group, 1, rules->seed, &tables);

	rounds = xcalloc(count, sizeof(*rounds));
	order = xcalloc(count, sizeof(*order));
	plan_rounds(tables, count, n, group, rounds, &begins);
	for (size_t i = 0; i < count; i++)
		order[begins[rounds[i]]++] = i;
	tournament_reserve(tournament, count);
	for (size_t i = 0; i < count; i++)
		(void)tournament_pair(tournament, rounds[order[i]] + 1,
				      &tables[order[i] * group], group);
	free(tables);
	free(rounds);
	free(begins);
	free(order);
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
