/* SPDX-License-Identifier: MIT */
/*
 * tournament.c - what a running tournament costs the loop.
 *
 *	bench-tournament [ENTRANTS [LIMIT]]
 *
 * For a contest of 400 bots over 100 instances and a Swiss tournament of
 * ENTRANTS (1,024) over 10 rounds: the result that costs most (in a Swiss
 * tournament that which makes a round), a reading of the catalogue that says
 * nothing new, one that is behind by ten results, and the first one after a
 * start. Each is the least of two. A round of the Swiss tournament, on the
 * average, may cost LIMIT milliseconds at most.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/clock.h"
#include "server/lobby/tournament_internal.h"

enum { TIMES = 2, NEXT_MAX = 2 * TOURNAMENT_ENTRANTS_MAX, BEHIND = 10 };

struct cost {
	double worst, again, behind, first; /* milliseconds */
};

/* A result of MATCH that depends on the match alone. */
static struct row_tournament_match result_of(
	const struct tournament_match *match)
{
	struct row_tournament_match ret = { .nseats = match->nseats };
	struct tournament_result *result = &ret.result;

	ret.match_id = 1 + match->pairing;
	memcpy(ret.entrants, match->entrants, sizeof(ret.entrants));
	result->pairing = match->pairing;
	result->set = match->set;
	result->turn = match->turn;
	for (unsigned s = 0; s < match->nseats; s++) {
		uint64_t mixed = (match->pairing * UINT64_C(31) + s) *
				 UINT64_C(0x9e3779b97f4a7c15);

		result->points[s] = (int64_t)(mixed >> 54);
		result->scores[s] = (double)result->points[s];
	}
	for (unsigned s = 0; s < match->nseats; s++) {
		unsigned rank = 1;

		for (unsigned k = 0; k < match->nseats; k++)
			rank += result->points[k] > result->points[s];
		result->ranks[s] = (uint8_t)rank;
	}
	return ret;
}

static double ms_since(int64_t start_us)
{
	return (double)(clock_now_us() - start_us) / 1000;
}

static void least(double *ret, double ms, unsigned time)
{
	if (time == 0 || ms < *ret)
		*ret = ms;
}

/* Play T to its end; the worst single result, in milliseconds. */
static double play(struct lobby_tournament *t)
{
	struct tournament_match *matches = xcalloc(NEXT_MAX, sizeof(*matches));
	double worst = 0;
	size_t count;

	while ((count = tournament_next(t->state, matches, NEXT_MAX)) > 0)
		for (size_t i = 0; i < count; i++) {
			struct row_tournament_match match =
				result_of(&matches[i]);
			int64_t start_us = clock_now_us();
			double ms;

			if (tournament_state_add(t, &match) != 0)
				abort();
			ms = ms_since(start_us);
			if (ms > worst)
				worst = ms;
		}
	free(matches);
	return worst;
}

static double reading(struct lobby_tournament *t,
		      const struct row_tournament *row)
{
	int64_t start_us = clock_now_us();

	tournament_state_take(t, row);
	return ms_since(start_us);
}

static struct cost measure(const struct row_tournament *plan)
{
	struct cost ret = { 0 };

	for (unsigned i = 0; i < TIMES; i++) {
		struct lobby_tournament *t = xcalloc(1, sizeof(*t));
		struct lobby_tournament *other = xcalloc(1, sizeof(*other));
		struct row_tournament row;

		tournament_state_take(t, plan);
		least(&ret.worst, play(t), i);
		/* What another reads of it. */
		row = t->row;
		least(&ret.first, reading(other, &row), i);
		least(&ret.again, reading(other, &row), i);
		row.nmatches -= BEHIND;
		least(&ret.behind, reading(other, &row), i);
		tournament_state_free(t);
		tournament_state_free(other);
	}
	return ret;
}

static double show(const char *name, const struct row_tournament *plan)
{
	struct cost cost = measure(plan);

	(void)printf("%-16s worst result %9.2f ms, nothing new %9.2f ms, "
		     "behind %9.2f ms, first %9.2f ms\n",
		     name, cost.worst, cost.again, cost.behind, cost.first);
	(void)fflush(stdout);
	return cost.first;
}

int main(int argc, char **argv)
{
	size_t entrants = argc > 1 ? strtoul(argv[1], NULL, 10) : 1024;
	double limit = argc > 2 ? strtod(argv[2], NULL) : 1e9;
	struct row_tournament plan = { .state = ROW_TOURNAMENT_RUNNING };
	double round_ms;

	if (entrants < 16 || entrants > TOURNAMENT_ENTRANTS_MAX)
		return 2;
	plan.entrants =
		xcalloc(TOURNAMENT_ENTRANTS_MAX, sizeof(*plan.entrants));
	plan.map_ids = xcalloc(1, sizeof(*plan.map_ids));
	plan.voids = xcalloc(1, sizeof(*plan.voids));
	plan.nentrants = 400;
	plan.rules = (struct tournament_rules){ .format = TOURNAMENT_CONTEST,
						.seats = 1,
						.group = 1,
						.sets = 1,
						.rounds = 100 };
	(void)show("contest", &plan);
	plan.nentrants = entrants;
	plan.rules = (struct tournament_rules){ .format = TOURNAMENT_SWISS,
						.seats = 2,
						.group = 2,
						.sets = 1,
						.rounds = 10 };
	round_ms = show("Swiss", &plan) / plan.rules.rounds;
	free(plan.entrants);
	free(plan.map_ids);
	free(plan.voids);
	return round_ms <= limit ? 0 : 1;
}
