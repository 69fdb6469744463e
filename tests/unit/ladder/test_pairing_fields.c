/* SPDX-License-Identifier: MIT */
/* What went wrong on other ladders, played on ours; the names begin with the
 * cases' ids. Each prints the figures it asserts. */
#include <stdio.h>

#include "server/ladder/standings.h"
#include "tests/simulate/simulate.h"
#include "tests/unit/unit.h"

static struct sim sim;

static void run_sets(int count)
{
	for (int i = 0; i < count; i++)
		assert_non_null(sim_run(&sim));
}

/* How many more sets the busiest bot has than the idlest. */
static uint32_t spread_of(const struct sim *of)
{
	uint32_t least = UINT32_MAX, most = 0;

	for (size_t i = 0; i < of->nbots; i++) {
		if (of->bots[i].sets < least)
			least = of->bots[i].sets;
		if (of->bots[i].sets > most)
			most = of->bots[i].sets;
	}
	return most - least;
}

/* The waits that still last are waits as well. */
static uint64_t longest_wait(const struct sim *of)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < of->nbots; i++) {
		const struct sim_bot *bot = &of->bots[i];

		if (bot->longest_sets > longest)
			longest = bot->longest_sets;
		if (bot->state == SIM_WAITING &&
		    of->nsets - bot->since_set > longest)
			longest = of->nsets - bot->since_set;
	}
	return longest;
}

/* 12 bots of unlike age, rating and speed play 600 games under POLICY, all
 * that can at a time or one; whether nobody was starved. */
static bool is_fair(enum sim_policy policy, unsigned running)
{
	uint32_t spread;
	uint64_t wait;

	sim_init(&sim, policy, 2, 12, 44);
	sim.max_running = running;
	for (size_t i = 0; i < 12; i++) {
		sim.bots[i].think_us = SIM_SECOND * (1 + (int)i % 4);
		if (running == 1 && i >= 6)
			sim.bots[i].arrives_us = (int64_t)i * 10 * SIM_SECOND;
	}
	run_sets(600);
	spread = spread_of(&sim);
	wait = longest_wait(&sim);
	printf("bc44: 12 bots, 600 games, %s, %s: max - min %u, "
	       "longest wait %llu games\n",
	       policy == SIM_PAIRING ? "matchmaker" : "random",
	       running == 1 ? "one at a time" : "all play", spread,
	       (unsigned long long)wait);
	sim_release(&sim);
	/* One at a time, the spread is the matchmaker's alone; otherwise four
	 * times as fast a bot may play more. The wait is rule 2's. */
	return spread <= (running == 1 ? 24 : 60) && wait < 2 * 12;
}

static void bc44_starves_nobody(void **state)
{
	(void)state;
	for (unsigned running = 0; running <= 1; running++) {
		assert_true(is_fair(SIM_PAIRING, running));
		/* The bounds say something: a blind draw breaks them. */
		assert_false(is_fair(SIM_RANDOM, running));
	}
}

/* 16 bots of fixed strength, 3,000 games. */
static void bc45_lets_the_top_players_meet(void **state)
{
	unsigned least = UINT32_MAX, most = 0;

	(void)state;
	for (unsigned running = 0; running <= 1; running++) {
		sim_init(&sim, SIM_PAIRING, 2, 16, 45);
		sim.max_running = running;
		run_sets(3000);
		for (size_t a = 0; a < 16; a++) {
			for (size_t b = 0; b < 16; b++) {
				if (a == b || sim_true_rank(&sim, a) > 5 ||
				    sim_true_rank(&sim, b) > 5)
					continue;
				if (sim.met[a][b] < least)
					least = sim.met[a][b];
				if (sim.met[a][b] > most)
					most = sim.met[a][b];
			}
		}
		sim_release(&sim);
	}
	printf("bc45: 16 bots, 3,000 games: each pair of the top 6 met %u to "
	       "%u times\n",
	       least, most);
	assert_true(least >= 5);
}

/* 20 settled bots and one new. */
static void bc46_seats_a_newcomer_at_once(void **state)
{
	uint64_t worst_first = 0, worst_established = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		uint64_t begun;
		size_t new_one;

		sim_init(&sim, SIM_PAIRING, 2, 20, seed);
		sim.max_running = seed % 2 == 0 ? 1 : 0;
		run_sets(1000);
		begun = sim.nsets;
		new_one = sim_add(&sim);
		while (sim.bots[new_one].sets < STANDINGS_ROUNDS)
			run_sets(1);
		if (sim.bots[new_one].first_set - begun > worst_first)
			worst_first = sim.bots[new_one].first_set - begun;
		if (sim.nsets - begun > worst_established)
			worst_established = sim.nsets - begun;
		sim_release(&sim);
	}
	printf("bc46: first game in step %llu at the latest, %d games within "
	       "%llu steps\n",
	       (unsigned long long)worst_first, STANDINGS_ROUNDS,
	       (unsigned long long)worst_established);
	assert_true(worst_first <= 2);
	/* No later than if all 21 had as many: 10 games each are 105 steps. */
	assert_true(worst_established <= 105);
}

/* Sets an hour without bot 9, of 10 bots, whose last takes SLOW times as
 * long, or is not there at all (0). */
static double rate_without_last(int slow)
{
	double sets = 0, rate;

	sim_init(&sim, SIM_PAIRING, 2, 10, 48);
	if (slow == 0)
		sim.bots[9].arrives_us = INT64_MAX;
	else
		sim.bots[9].think_us = slow * SIM_SECOND;
	while (sim.now_us < 3600 * SIM_SECOND) {
		const struct sim_set *set = sim_run(&sim);

		assert_non_null(set);
		sets += set->bots[0] != 9 && set->bots[1] != 9;
	}
	rate = sets * 3600 * SIM_SECOND / (double)sim.now_us;
	sim_release(&sim);
	return rate;
}

static void bc48_waits_for_no_slow_bot(void **state)
{
	double none = rate_without_last(0), quick = rate_without_last(1);
	double slow = rate_without_last(40);

	(void)state;
	printf("bc48: games an hour of the other nine: %.0f beside one 40 x as "
	       "slow, %.0f beside one like them, %.0f alone\n",
	       slow, quick, none);
	assert_true(slow > 0.8 * quick);
	assert_true(slow > 0.8 * none);
}

/* How far the booster stands above the ten others after 500 games of its
 * own: what a thrower gives away goes to all of them alike. */
static double boost(bool is_one_owner, bool throws, uint64_t seed)
{
	unsigned with_friend[16] = { 0 }, worst = 0, count = 0;
	double mu;

	sim_init(&sim, SIM_PAIRING, 2, 12, seed);
	sim.bots[0].strength = 25;
	sim.bots[1].strength = 25;
	sim.bots[1].throws = throws;
	if (is_one_owner)
		sim.bots[1].owner_id = sim.bots[0].owner_id;
	sim.max_running = 1; /* so others always wait */
	while (sim.bots[0].sets < 500) {
		const struct sim_set *set = sim_run(&sim);
		bool is_booster = set->bots[0] == 0 || set->bots[1] == 0;
		bool is_friend = set->bots[0] == 1 || set->bots[1] == 1;
		unsigned sum = 0;

		if (!is_booster)
			continue;
		with_friend[count++ % 16] = is_friend;
		for (size_t i = 0; i < 16; i++)
			sum += with_friend[i];
		if (sum > worst)
			worst = sum;
	}
	assert_true(worst <= 6);
	if (is_one_owner)
		assert_int_equal(sim.met[0][1], 0);
	mu = sim.bots[0].rating.mu;
	for (size_t i = 2; i < 12; i++)
		mu -= sim.bots[i].rating.mu / 10;
	sim_release(&sim);
	return mu;
}

static void bc63_farming_gains_little(void **state)
{
	double one_owner = 0, two_owners = 0, honest = 0;
	enum { SEEDS = 8 };

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		one_owner += boost(true, true, seed) / SEEDS;
		two_owners += boost(false, true, seed) / SEEDS;
		honest += boost(false, false, seed) / SEEDS;
	}
	printf("bc63: mu above the others' after 500 games: %.2f beside an "
	       "honest friend, %.2f beside one that throws, %.2f when one "
	       "owner has both\n",
	       honest, two_owners, one_owner);
	assert_true(two_owners - honest < 1);
	assert_true(one_owner - honest < 1);
}

/* The cap itself: two that would only ever wait for each other. */
static void bc63_a_pair_has_six_of_sixteen_sets(void **state)
{
	unsigned worst = 0;

	(void)state;
	sim_init(&sim, SIM_PAIRING, 2, 12, 63);
	sim.max_running = 1;
	/* Two far above all others: whoever else they play tells little. */
	for (size_t i = 0; i < 12; i++)
		sim.bots[i].strength = i < 2 ? 100 : 5 + (double)i;
	for (int i = 0; i < 1500; i++) {
		unsigned met;

		run_sets(1);
		met = pairing_meetings(&sim.pairing, 1, 2, 16);
		if (met > worst)
			worst = met;
	}
	printf("bc63: two lonely at the top met in %u of 16 sets at most\n",
	       worst);
	assert_int_equal(worst, 6);
	sim_release(&sim);
}

/* One decent and three that never answer, of one owner, in sets of four. */
static void bc64_seats_no_owner_twice(void **state)
{
	(void)state;
	for (unsigned running = 0; running <= 1; running++) {
		sim_init(&sim, SIM_PAIRING, 4, 12, 64);
		sim.max_running = running;
		for (size_t i = 1; i < 4; i++) {
			sim.bots[i].owner_id = sim.bots[0].owner_id;
			sim.bots[i].throws = true;
		}
		run_sets(600);
		for (size_t a = 0; a < 4; a++) {
			assert_true(sim.bots[a].sets > 0);
			for (size_t b = 0; b < 4; b++)
				assert_int_equal(sim.met[a][b], 0);
		}
		sim_release(&sim);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bc44_starves_nobody),
		cmocka_unit_test(bc45_lets_the_top_players_meet),
		cmocka_unit_test(bc46_seats_a_newcomer_at_once),
		cmocka_unit_test(bc48_waits_for_no_slow_bot),
		cmocka_unit_test(bc63_farming_gains_little),
		cmocka_unit_test(bc63_a_pair_has_six_of_sixteen_sets),
		cmocka_unit_test(bc64_seats_no_owner_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
