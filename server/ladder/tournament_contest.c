/* SPDX-License-Identifier: MIT */
/*
 * tournament_contest.c - each entrant alone on every instance; the sum of the
 * game's points ranks, as the original contests did it, and equal sums share.
 */
#include <stdlib.h>

#include "server/ladder/tournament_internal.h"

static void start(struct tournament *tournament)
{
	for (uint32_t round = 1; round <= tournament->rules.rounds; round++)
		for (uint32_t e = 0; e < tournament->nentrants; e++)
			(void)tournament_pair(tournament, round, &e, 1);
	tournament->is_over = true;
}

static void advance(struct tournament *tournament, uint32_t pairing)
{
	(void)tournament;
	(void)pairing;
}

/*
 * Where a game has points below 0 nobody gains by staying away: an absent run
 * counts as the worst of its instance, at most 0.
 */
static void charge_absent(const struct tournament *tournament, uint32_t first,
			  struct tournament_standing *table)
{
	uint32_t n = tournament->nentrants;
	const struct tournament_sets *sets = &tournament->sets[first];
	int64_t worst = 0;

	for (uint32_t e = 0; e < n; e++)
		if (sets[e].turns != NULL && sets[e].turns[0].is_done &&
		    sets[e].turns[0].absent == 0 &&
		    sets[e].turns[0].points[0] < worst)
			worst = sets[e].turns[0].points[0];
	for (uint32_t e = 0; e < n; e++)
		if (sets[e].turns != NULL && sets[e].turns[0].absent != 0)
			table[e].total += worst;
}

static void rank(const struct tournament *tournament,
		 struct tournament_standing *table, const uint32_t *half,
		 const uint32_t *meetings)
{
	uint32_t n = tournament->nentrants;

	(void)half;
	(void)meetings;
	for (uint32_t i = 0; i < tournament->npairings; i += n)
		charge_absent(tournament, i, table);
	/* The total stands in for the points that a contest has not. */
	for (uint32_t e = 0; e < n; e++)
		table[e].half_points = table[e].total;
	tournament_rank(table, n);
	for (uint32_t e = 0; e < n; e++)
		table[e].half_points = 0;
}

const struct tournament_format_ops tournament_contest_ops = { start, advance,
							      rank };
