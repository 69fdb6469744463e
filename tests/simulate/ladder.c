/* SPDX-License-Identifier: MIT */
/*
 * ladder.c - the matchmaker beside random pairing and first-come, in figures.
 *
 * simulate-ladder [SEEDS] plays ladders of bots of known strength in virtual
 * time (simulate.h) and prints, for each way to pair: sets until the rank
 * correlation with the true order (Spearman, mean over the seeds) is 0.95 for
 * good, the longest wait of any bot, how many more sets the busiest bot had
 * than the idlest, and sets an hour. Then how many sets of its own a newcomer
 * needs, the same for solo rounds, and what a call costs with 5,000 waiting.
 * It fails when the matchmaker does not beat both others by FACTORS.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/simulate/simulate.h"
#include "tests/simulate/solo.h"

enum { BOTS = 16, SETS = 700, SETTLED_SETS = 1200, OWN_SETS = 40 };

static const char *const policy_names[SIM_NPOLICIES] = { "pairing", "random",
							 "first-come" };

enum scene {
	SCENE_ONE,    /* one set at a time, so all others wait */
	SCENE_ALL,    /* as many sets as can be */
	SCENE_LIVELY, /* likewise; unlike speeds, a third comes and goes */
	NSCENES,
};

static const char *const scene_names[NSCENES] = {
	"one set at a time", "all play at once", "unlike speeds, come and go"
};

/* The least that random needs, in sets of the matchmaker's; first-come too. */
static const double factors[NSCENES][LIMIT_SEATS + 1] = {
	[SCENE_ONE] = { [2] = 1.3, [3] = 1.5, [4] = 1.5 },
	[SCENE_ALL] = { [2] = 3.0, [3] = 1.15, [4] = 3.0 },
	[SCENE_LIVELY] = { [2] = 1.3, [3] = 1.3, [4] = 1.2 },
};

struct outcome {
	int sets; /* to 0.95; SETS + 1: not within SETS */
	uint64_t longest_sets;
	double longest_s, spread, sets_an_hour, end;
};

static unsigned passed, failed;

static void expect(bool is_met, const char *what)
{
	passed += is_met;
	failed += !is_met;
	if (!is_met)
		printf("MISSED: %s\n", what);
}

static void take_waits(const struct sim *sim, struct outcome *outcome,
		       int nseeds)
{
	uint32_t least = UINT32_MAX, most = 0;

	for (size_t i = 0; i < sim->nbots; i++) {
		const struct sim_bot *bot = &sim->bots[i];
		double longest_s = (double)bot->longest_us / SIM_SECOND;

		if (bot->longest_sets > outcome->longest_sets)
			outcome->longest_sets = bot->longest_sets;
		if (longest_s > outcome->longest_s)
			outcome->longest_s = longest_s;
		if (bot->sets < least)
			least = bot->sets;
		if (bot->sets > most)
			most = bot->sets;
	}
	outcome->spread += (double)(most - least) / nseeds;
	outcome->sets_an_hour += (double)sim->nsets * 3600 * SIM_SECOND /
				 (double)sim->now_us / nseeds;
}

/* From which figure on all of the COUNT of CURVE are LEAST or more; from 1. */
static int reached(const double *curve, int count, double least)
{
	int at = count;

	while (at > 0 && curve[at - 1] >= least)
		at--;
	return at + 1;
}

static struct outcome play(enum sim_policy policy, enum scene scene,
			   unsigned seats, int nseeds)
{
	static struct sim sim;
	static double curve[SETS];
	struct outcome outcome = { 0 };

	memset(curve, 0, sizeof(curve));
	for (int seed = 1; seed <= nseeds; seed++) {
		sim_init(&sim, policy, seats, BOTS, (uint64_t)seed);
		sim.max_running = scene == SCENE_ONE ? 1 : 0;
		if (scene == SCENE_LIVELY)
			sim_make_lively(&sim);
		for (int i = 0; i < SETS; i++) {
			(void)sim_run(&sim);
			curve[i] += sim_correlation(&sim) / nseeds;
		}
		take_waits(&sim, &outcome, nseeds);
		sim_release(&sim);
	}
	outcome.sets = reached(curve, SETS, 0.95);
	outcome.end = curve[SETS - 1];
	return outcome;
}

static void compare(enum scene scene, unsigned seats, int nseeds)
{
	int ours = 0;

	printf("\n%u seats, %s\n", seats, scene_names[scene]);
	for (int policy = 0; policy < SIM_NPOLICIES; policy++) {
		struct outcome outcome =
			play((enum sim_policy)policy, scene, seats, nseeds);
		bool is_over = outcome.sets > SETS;
		double factor;

		if (policy == SIM_PAIRING)
			ours = outcome.sets;
		factor = (double)outcome.sets / ours;
		printf("  %-10s  to 0.95: %s%3d sets (x %.2f), %5.1f min  at %d: "
		       "%.3f  "
		       "longest wait %2llu sets, %3.0f s  spread %5.1f  "
		       "%5.0f sets/h\n",
		       policy_names[policy], is_over ? ">" : " ",
		       is_over ? SETS : outcome.sets, factor,
		       outcome.sets * 60 / outcome.sets_an_hour, SETS,
		       outcome.end, (unsigned long long)outcome.longest_sets,
		       outcome.longest_s, outcome.spread, outcome.sets_an_hour);
		if (policy == SIM_PAIRING)
			expect(!is_over && outcome.longest_sets < 2 * BOTS,
			       "0.95 is reached, nobody waits for 2 x bots");
		else
			expect(factor >= factors[scene][seats],
			       "the stated factor");
	}
}

/* Own sets until the newcomer's rank is right within 10 % for good. */
static int place_newcomer(enum sim_policy policy, unsigned seats, uint64_t seed,
			  double *sets_to_first)
{
	static struct sim sim;
	double curve[OWN_SETS];
	uint64_t begun;
	size_t place;

	sim_init(&sim, policy, seats, 19, seed);
	sim_make_lively(&sim);
	for (int i = 0; i < SETTLED_SETS; i++)
		(void)sim_run(&sim);
	place = sim_add(&sim);
	begun = sim.nsets;
	for (uint32_t own = 0; own < OWN_SETS;) {
		double apart;

		(void)sim_run(&sim);
		if (sim.bots[place].sets == own)
			continue;
		apart = (double)sim_rank(&sim, place) -
			(double)sim_true_rank(&sim, place);
		curve[own++] = fabs(apart) <= 0.1 * 20 ? 1 : 0;
	}
	*sets_to_first += (double)(sim.bots[place].first_set - begun);
	sim_release(&sim);
	return reached(curve, OWN_SETS, 1);
}

static void compare_newcomers(unsigned seats, int nseeds)
{
	double ours = 0;

	printf("\n%u seats, a newcomer among 19 settled bots\n", seats);
	for (int policy = 0; policy < SIM_NPOLICIES; policy++) {
		double own = 0, first = 0;

		for (int seed = 1; seed <= nseeds; seed++)
			own += place_newcomer((enum sim_policy)policy, seats,
					      (uint64_t)seed, &first);
		if (policy == SIM_PAIRING)
			ours = own;
		printf("  %-10s  within 10 %% of its rank after %4.1f sets of "
		       "its own (x %.2f); sits down in set %.1f\n",
		       policy_names[policy], own / nseeds, own / ours,
		       first / nseeds);
		if (policy == SIM_PAIRING)
			expect(first / nseeds <= 2, "sits in the second set");
	}
}

static void compare_solo(uint32_t runs, int nseeds)
{
	static double curve[SOLO_RUNS];
	int ours = 0;

	printf("\nsolo, rounds of %u runs, unlike speeds\n", runs);
	for (int policy = 0; policy < SIM_NPOLICIES; policy++) {
		static const char *const names[] = { "rounds", "random",
						     "first open" };
		struct solo_figures figures = { 0 };
		int to;

		memset(curve, 0, sizeof(curve));
		for (int seed = 1; seed <= nseeds; seed++)
			solo_play((enum sim_policy)policy, runs, (uint64_t)seed,
				  1.0 / nseeds, curve, &figures);
		to = reached(curve, SOLO_RUNS, 0.95);
		if (policy == SIM_PAIRING)
			ours = to;
		printf("  %-10s  to 0.95: %s%4d runs (x %.2f)  at %d: %.3f  "
		       "most rounds open %zu, oldest %.0f s\n",
		       names[policy], to > SOLO_RUNS ? ">" : " ",
		       to > SOLO_RUNS ? SOLO_RUNS : to, (double)to / ours,
		       SOLO_RUNS, curve[SOLO_RUNS - 1], figures.most_open,
		       (double)figures.oldest_us / SIM_SECOND);
	}
}

/* This process's, so that what else runs here costs nothing. */
static double cpu_us(void)
{
	struct timespec spent;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
	return (double)spent.tv_sec * 1e6 + (double)spent.tv_nsec / 1e3;
}

/* What one call costs with 5,000 waiting, in microseconds. */
static void measure(unsigned seats)
{
	enum { WAITING = 5000, CALLS = 50 };
	struct pairing_rules rules = pairing_default_rules(seats);
	struct pairing_candidate *waiting =
		xcalloc(WAITING, sizeof(struct pairing_candidate));
	struct pairing_table table;
	struct pairing pairing;
	uint64_t random = 1;
	double begun_us;
	int seated = 0;

	pairing_init(&pairing, &rules, 1);
	for (size_t i = 0; i < WAITING; i++) {
		waiting[i] = (struct pairing_candidate){
			.bot_id = i + 1,
			.owner_id = (int64_t)i + 1,
			.mu = 25 + 8 * sim_normal(&random),
			.sigma = 1 + 7 * sim_random(&random),
			.rounds = 5,
		};
	}
	for (size_t i = 0; i < 20 * WAITING; i++) {
		uint64_t ids[LIMIT_SEATS];

		for (unsigned k = 0; k < seats; k++)
			ids[k] = 1 + (uint64_t)(sim_random(&random) * 4999);
		pairing_note_begun(&pairing, ids, seats);
	}
	for (size_t i = 0; i < WAITING; i++)
		waiting[i].waiting_since_set = pairing_sets(&pairing);
	begun_us = cpu_us();
	for (int i = 0; i < CALLS; i++)
		seated += pairing_next(&pairing, waiting, WAITING, 0, 0,
				       &table) == PAIRING_SEATED;
	expect(seated == CALLS, "a table each time");
	printf("%u seats, %d waiting: %.0f us of CPU a set\n", seats, WAITING,
	       (cpu_us() - begun_us) / CALLS);
	pairing_release(&pairing);
	free(waiting);
}

int main(int argc, char **argv)
{
	int nseeds = argc > 1 ? atoi(argv[1]) : 100;

	if (nseeds < 1) {
		fprintf(stderr, "usage: simulate-ladder [SEEDS]\n");
		return 2;
	}
	printf("%d bots, means over %d seeds\n", BOTS, nseeds);
	for (unsigned seats = 2; seats <= 4; seats++) {
		for (int scene = 0; scene < NSCENES; scene++)
			compare((enum scene)scene, seats, nseeds);
	}
	for (unsigned seats = 2; seats <= 4; seats += 2)
		compare_newcomers(seats, nseeds);
	for (uint32_t runs = 4; runs <= 8; runs += 4)
		compare_solo(runs, nseeds);
	printf("\n");
	for (unsigned seats = 2; seats <= 8; seats *= 2)
		measure(seats);
	printf("%u passed, %u failed\n", passed, failed);
	return failed > 0;
}
