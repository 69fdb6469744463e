/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/ladder/tournament_internal.h"
#include "tests/unit/ladder/tournament_play.h"

enum { SIZE_MAX_TESTED = 40 };

static struct tournament_rules swiss(unsigned rounds)
{
	return (struct tournament_rules){ .format = TOURNAMENT_SWISS,
					  .seats = 2,
					  .group = 2,
					  .sets = 1,
					  .rounds = rounds,
					  .seed = rounds };
}

/* How often the pair that met most has met, and the most byes of one. */
static void count_meetings(const struct played *played, unsigned *ret_met,
			   unsigned *ret_byes)
{
	static unsigned met[SIZE_MAX_TESTED][SIZE_MAX_TESTED];
	unsigned byes[SIZE_MAX_TESTED] = { 0 };
	const struct tournament_pairing *pairings;
	size_t count;

	memset(met, 0, sizeof(met));
	*ret_met = *ret_byes = 0;
	pairings = tournament_pairings(played->tournament, &count);
	for (size_t i = 0; i < count; i++)
		for (unsigned a = 0; a < pairings[i].nentrants; a++) {
			uint32_t who = pairings[i].entrants[a];

			if (pairings[i].is_bye && ++byes[who] > *ret_byes)
				*ret_byes = byes[who];
			for (unsigned b = 0; b < a; b++) {
				uint32_t whom = pairings[i].entrants[b];

				met[who][whom]++;
				if (++met[whom][who] > *ret_met)
					*ret_met = met[whom][who];
			}
		}
}

/*
 * With at most half as many rounds as entrants a round without a rematch
 * exists (Dirac 1952: what is left to meet has a cycle through all).
 */
static void nobody_meets_twice_where_that_can_be(void **state)
{
	(void)state;
	for (unsigned n = 2; n <= SIZE_MAX_TESTED; n++)
		for (unsigned rounds = 1; rounds <= (n + 1) / 2; rounds += 2) {
			struct tournament_rules rules = swiss(rounds);
			struct play_options options = {
				.seed = n * 100 + rounds, .draws_of_1000 = 250
			};
			struct played played =
				play_tournament(&rules, n, &options);
			unsigned met, byes;

			count_meetings(&played, &met, &byes);
			assert_int_equal(met, 1);
			assert_int_equal(byes, n % 2);
			assert_int_equal(played.nresults, rounds * (n / 2));
			played_release(&played);
		}
}

/* Also where luck is needed: as many rounds as there can be. */
static void long_swiss_repeats_as_little_as_it_must(void **state)
{
	unsigned with_rematch = 0, all = 0;

	(void)state;
	for (unsigned n = 2; n <= 24; n++) {
		struct tournament_rules rules = swiss(n - (n % 2 == 0));
		struct play_options options = { .seed = n };
		struct played played = play_tournament(&rules, n, &options);
		unsigned met, byes;

		count_meetings(&played, &met, &byes);
		assert_true(met <= 2);
		assert_true(byes <= 2);
		with_rematch += met == 2;
		all++;
		played_release(&played);
	}
	print_message("%u of %u full-length ones had a rematch\n", with_rematch,
		      all);
}

static void resumes_after_every_prefix_of_results(void **state)
{
	static const struct {
		unsigned entrants, rounds, sets, seats;
		bool is_rotated;
	} cases[] = {
		{ 2, 1, 1, 2, false },  { 5, 3, 1, 2, false },
		{ 8, 7, 1, 2, true },   { 9, 4, 3, 2, false },
		{ 16, 4, 1, 2, false }, { 12, 3, 1, 4, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		for (unsigned absent = 0; absent <= 200; absent += 200) {
			struct tournament_rules rules = swiss(cases[i].rounds);
			struct play_options options = {
				.seed = i + absent,
				.draws_of_1000 = 250,
				.absent_of_1000 = absent,
			};
			struct played played;

			rules.sets = cases[i].sets;
			rules.seats = rules.group = cases[i].seats;
			rules.is_rotated = cases[i].is_rotated;
			played = play_tournament(&rules, cases[i].entrants,
						 &options);
			for (size_t n = 0; n <= played.nresults; n++)
				check_resume(&rules, &played, n, &options);
			played_release(&played);
		}
}

static void equals_meet_equals(void **state)
{
	uint64_t apart = 0, pairs = 0;
	struct tournament_rules rules = swiss(6);
	struct tournament *tournament = tournament_new(&rules, 32, NULL);
	struct tournament_match match;
	uint32_t points[32] = { 0 };
	struct tournament_standing table[32];

	(void)state;
	/* The better seed always wins. */
	while (tournament_next(tournament, &match, 1) == 1) {
		bool has_first = match.entrants[0] < match.entrants[1];
		struct tournament_result result = {
			.pairing = match.pairing,
			.ranks = { has_first ? 1 : 2, has_first ? 2 : 1 },
		};

		assert_int_equal(tournament_add(tournament, &result), 0);
		pairs++;
		if (match.round <= 5)
			apart += points[match.entrants[0]] !=
				 points[match.entrants[1]];
		points[match.entrants[!has_first]]++;
	}
	assert_int_equal(pairs, 96);
	tournament_standings(tournament, table);
	assert_int_equal(table[0].entrant, 0);
	assert_int_equal(table[0].wins, 6);
	/* Of 2^5 entrants five rounds leave none over. */
	assert_int_equal(apart, 0);
	tournament_free(tournament);
}

static void each_seat_comes_equally_often(void **state)
{
	(void)state;
	for (unsigned n = 4; n <= SIZE_MAX_TESTED; n += 3) {
		struct tournament_rules rules = swiss(n / 2);
		struct play_options options = { .seed = n };
		struct played played = play_tournament(&rules, n, &options);
		const struct tournament_pairing *pairings;
		int balance[SIZE_MAX_TESTED] = { 0 };
		size_t count;

		pairings = tournament_pairings(played.tournament, &count);
		for (size_t i = 0; i < count; i++)
			if (!pairings[i].is_bye) {
				balance[pairings[i].entrants[0]]++;
				balance[pairings[i].entrants[1]]--;
			}
		for (unsigned e = 0; e < n; e++)
			assert_true(abs(balance[e]) <= 3);
		played_release(&played);
	}
}

static void buchholz_is_the_opponents_points(void **state)
{
	(void)state;
	for (unsigned n = 4; n <= 20; n++) {
		struct tournament_rules rules = swiss(n / 2);
		struct play_options options = { .seed = n,
						.draws_of_1000 = 300 };
		struct played played = play_tournament(&rules, n, &options);
		int64_t points[20], buchholz[20] = { 0 };
		const struct tournament_pairing *p;
		size_t count;

		for (unsigned i = 0; i < n; i++)
			points[played.table[i].entrant] =
				played.table[i].half_points;
		p = tournament_pairings(played.tournament, &count);
		for (size_t i = 0; i < count; i++) {
			uint32_t a = p[i].entrants[0];
			uint32_t b = p[i].is_bye ? a : p[i].entrants[1];

			buchholz[a] += points[b];
			if (a != b)
				buchholz[b] += points[a];
		}
		for (unsigned i = 0; i < n; i++)
			assert_int_equal(played.table[i].tie_breaks[0],
					 buchholz[played.table[i].entrant]);
		played_release(&played);
	}
}

static void who_withdraws_is_not_paired_any_more(void **state)
{
	(void)state;
	for (unsigned n = 4; n <= 21; n++) {
		struct tournament_rules rules = swiss(3);
		uint32_t out[21] = { 0, 2 };
		struct play_options options = { .seed = n, .out_rounds = out };
		struct played played;
		const struct tournament_pairing *p;
		unsigned met, byes;
		size_t count;

		out[n - 1] = 3;
		played = play_tournament(&rules, n, &options);
		p = tournament_pairings(played.tournament, &count);
		for (size_t i = 0; i < count; i++)
			for (unsigned a = 0; a < p[i].nentrants; a++)
				assert_true(out[p[i].entrants[a]] == 0 ||
					    p[i].round < out[p[i].entrants[a]]);
		count_meetings(&played, &met, &byes);
		if (n >= 8)
			assert_int_equal(met, 1);
		played_release(&played);
	}
}

/* One by one: the others' results and all later pairings are as they were. */
static void one_taken_back_leaves_all_the_rest(void **state)
{
	struct tournament_rules rules = swiss(4);
	struct play_options options = { .seed = 3 };

	(void)state;
	for (size_t gone = 0; gone < 16; gone++) {
		struct played played = play_tournament(&rules, 9, &options);
		const struct tournament_pairing *p;
		struct tournament_standing table[9];
		size_t count, after;
		uint32_t pairing = played.results[gone].pairing;

		(void)tournament_pairings(played.tournament, &count);
		assert_int_equal(
			tournament_take_back(played.tournament, pairing, 0, 0),
			0);
		assert_int_equal(
			tournament_take_back(played.tournament, pairing, 0, 0),
			-ENOENT);
		p = tournament_pairings(played.tournament, &after);
		assert_int_equal(after, count);
		assert_true(p[pairing].is_undecided);
		assert_int_equal(tournament_undecided(played.tournament), 1);
		assert_int_equal(tournament_round(played.tournament), 4);
		assert_true(tournament_is_finished(played.tournament));
		tournament_standings(played.tournament, table);
		for (unsigned i = 0; i < 9; i++)
			for (unsigned k = 0; k < 9; k++) {
				const struct tournament_standing
					*a = &table[i],
					*b = &played.table[k];
				bool is_in =
					a->entrant == p[pairing].entrants[0] ||
					a->entrant == p[pairing].entrants[1];

				if (a->entrant == b->entrant)
					assert_int_equal(
						a->wins + a->draws + a->losses +
							is_in,
						b->wins + b->draws + b->losses);
				if (a->entrant == b->entrant && !is_in)
					assert_int_equal(a->half_points,
							 b->half_points);
			}
		played_release(&played);
	}
}

static void tournament_ends_when_all_have_left(void **state)
{
	struct tournament_rules rules = swiss(3);
	uint32_t out[4] = { 2, 2, 2, 0 };
	struct play_options options = { .seed = 1, .out_rounds = out };
	struct played played = play_tournament(&rules, 4, &options);

	(void)state;
	assert_int_equal(played.nresults, 2);
	played_release(&played);
}

static void tables_of_more_than_two_meet_new_ones(void **state)
{
	(void)state;
	for (unsigned group = 3; group <= 5; group++)
		for (unsigned n = group; n <= SIZE_MAX_TESTED; n++) {
			struct tournament_rules rules = {
				.format = TOURNAMENT_SWISS,
				.seats = group,
				.group = group,
				.sets = 1,
				.rounds = 3,
				.is_rotated = n % 2 == 0,
			};
			struct play_options options = { .seed = n };
			struct played played =
				play_tournament(&rules, n, &options);
			unsigned met, byes;

			count_meetings(&played, &met, &byes);
			if (n >= 2 * group * group)
				assert_int_equal(met, 1);
			/* As many as there must be. */
			assert_true(byes <= (3 * (n % group) + n - 1) / n);
			played_release(&played);
		}
}

/* The first COUNT bits of BITS say which two of N nodes may be paired. */
static void graph_of_six(struct tournament_graph *graph, unsigned bits,
			 unsigned without)
{
	unsigned k = 0;

	tournament_graph_init(graph, 6);
	for (unsigned a = 0; a < 6; a++) {
		if ((without >> a & 1) == 0)
			tournament_graph_add(graph, a);
		for (unsigned b = a + 1; b < 6; b++, k++)
			if ((bits >> k & 1) != 0)
				tournament_graph_allow(graph, a, b);
	}
}

/* Whether all that are in have each other for mates, and may. */
static void check_mates(const struct tournament_graph *graph)
{
	for (uint32_t a = 0; a < graph->count; a++) {
		uint32_t mate = graph->mates[a];

		if (!bits_has(graph->in, a))
			continue;
		assert_true(mate < graph->count);
		assert_true(tournament_graph_may(graph, a, mate));
		assert_int_equal(graph->mates[mate], a);
		assert_true(bits_has(graph->in, mate));
		assert_false(bits_has(graph->alone, a));
	}
}

/* Against all ways to pair six, may or may not by chance. */
static bool is_possible(unsigned bits)
{
	static const unsigned char all[15][6] = {
		{ 0, 1, 2, 3, 4, 5 }, { 0, 1, 2, 4, 3, 5 },
		{ 0, 1, 2, 5, 3, 4 }, { 0, 2, 1, 3, 4, 5 },
		{ 0, 2, 1, 4, 3, 5 }, { 0, 2, 1, 5, 3, 4 },
		{ 0, 3, 1, 2, 4, 5 }, { 0, 3, 1, 4, 2, 5 },
		{ 0, 3, 1, 5, 2, 4 }, { 0, 4, 1, 2, 3, 5 },
		{ 0, 4, 1, 3, 2, 5 }, { 0, 4, 1, 5, 2, 3 },
		{ 0, 5, 1, 2, 3, 4 }, { 0, 5, 1, 3, 2, 4 },
		{ 0, 5, 1, 4, 2, 3 },
	};
	bool pairs[6][6] = { { false } };
	unsigned k = 0;

	for (unsigned a = 0; a < 6; a++)
		for (unsigned b = a + 1; b < 6; b++, k++)
			pairs[a][b] = pairs[b][a] = (bits >> k & 1) != 0;
	for (unsigned i = 0; i < 15; i++)
		if (pairs[all[i][0]][all[i][1]] &&
		    pairs[all[i][2]][all[i][3]] && pairs[all[i][4]][all[i][5]])
			return true;
	return false;
}

static void matching_finds_a_perfect_one_when_there_is_one(void **state)
{
	unsigned found = 0;

	(void)state;
	for (unsigned bits = 0; bits < 1u << 15; bits++) {
		struct tournament_graph graph;
		bool has_all;

		graph_of_six(&graph, bits, 0);
		has_all = tournament_match_all(&graph, 0);
		assert_int_equal(has_all, is_possible(bits));
		if (has_all)
			check_mates(&graph);
		found += has_all;
		tournament_graph_release(&graph);
	}
	assert_true(found > 1000);
}

/* Whether the four are left that are neither A nor B can be paired. */
static bool is_possible_without(unsigned bits, unsigned a, unsigned b)
{
	struct tournament_graph graph;
	bool ret;

	graph_of_six(&graph, bits, 1u << a | 1u << b);
	ret = tournament_match_all(&graph, 0);
	tournament_graph_release(&graph);
	return ret;
}

/* Who could go instead, by one search or one exchange, is who could go. */
static void matching_knows_who_can_be_spared(void **state)
{
	unsigned spared = 0, near = 0;

	(void)state;
	for (unsigned bits = 0; bits < 1u << 15; bits++)
		for (uint32_t who = 1; who < 6; who++) {
			struct tournament_graph graph;
			uint32_t widow;
			bool can;

			graph_of_six(&graph, bits, 0);
			if (!tournament_match_all(&graph, 0)) {
				tournament_graph_release(&graph);
				break;
			}
			can = is_possible_without(bits, 0, who);
			widow = tournament_graph_drop(&graph, 0);
			assert_false(tournament_match_one(&graph, widow));
			assert_int_equal(bits_has(graph.even, who), can);
			spared += can;
			if (who != widow &&
			    tournament_match_near(&graph, widow, who)) {
				assert_true(can);
				near++;
			} else if (can) {
				(void)tournament_graph_drop(&graph, who);
				if (who != widow)
					assert_true(tournament_match_one(
						&graph, widow));
			}
			if (can)
				check_mates(&graph);
			tournament_graph_release(&graph);
		}
	print_message("%u can be spared, %u of them by an exchange\n", spared,
		      near);
	assert_true(near > 1000 && near < spared);
}

/* Odd cycles in odd cycles, planted matchings hidden in noise. */
static void matching_finds_planted_ones_in_large_graphs(void **state)
{
	enum { N = 60 };

	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct tournament_graph graph;
		uint32_t places[N];

		tournament_graph_init(&graph, N);
		for (uint32_t i = 0; i < N; i++) {
			uint32_t k =
				(uint32_t)(tournament_mix(seed, i) % (i + 1));

			places[i] = places[k];
			places[k] = i;
			tournament_graph_add(&graph, i);
		}
		for (unsigned i = 0; i < N; i += 2)
			tournament_graph_allow(&graph, places[i],
					       places[i + 1]);
		for (unsigned i = 0; i < seed; i++) {
			uint64_t chance = tournament_mix(~seed, i);
			unsigned a = (unsigned)(chance % N);
			unsigned b = (unsigned)(chance / N % N);

			if (a != b)
				tournament_graph_allow(&graph, a, b);
		}
		assert_true(tournament_match_all(&graph, 0));
		check_mates(&graph);
		tournament_graph_release(&graph);
	}
}

/* Of all pairings: who meets whom, in which round, in which seat. */
static uint64_t digest(const struct tournament *tournament)
{
	const struct tournament_pairing *pairings;
	uint64_t hash = 0;
	size_t count;

	pairings = tournament_pairings(tournament, &count);
	for (size_t i = 0; i < count; i++) {
		hash = tournament_mix(hash, pairings[i].round);
		hash = tournament_mix(hash, pairings[i].nentrants);
		for (unsigned a = 0; a < pairings[i].nentrants; a++)
			hash = tournament_mix(hash, pairings[i].entrants[a]);
	}
	return hash;
}

/*
 * A stored tournament is what its results are when they are paired again: who
 * meets whom must never change, whatever becomes of the way it is found.
 */
static void pairings_are_the_same_for_ever(void **state)
{
	static const struct {
		unsigned entrants, rounds, group; /* 0 rounds: round robin */
		uint64_t digest;
	} cases[] = {
		{ 16, 8, 2, UINT64_C(0x9bcd195eeb15bd41) },
		{ 33, 12, 2, UINT64_C(0x3031b93c978d3608) },
		{ 40, 39, 2, UINT64_C(0x12492449cebeaa10) },
		{ 61, 61, 2, UINT64_C(0x24a5a00e181f2bcd) },
		{ 100, 20, 2, UINT64_C(0x4491f3b03b0ffc15) },
		{ 300, 3, 2, UINT64_C(0x2fef105e8664cecf) },
		{ 40, 10, 3, UINT64_C(0xa9b3abfb212ffb35) },
		{ 41, 30, 4, UINT64_C(0x52974942d3cb07ee) },
		{ 64, 9, 5, UINT64_C(0x2c89f1f431a5ea7e) },
		{ 9, 40, 8, UINT64_C(0xebcbfdc3ea46401f) },
		{ 30, 0, 3, UINT64_C(0xfbf9a88f9ea037ae) },
		{ 50, 0, 4, UINT64_C(0x471c50b3849f6e63) },
		{ 41, 0, 5, UINT64_C(0x58833e93876733c6) },
		{ 63, 0, 8, UINT64_C(0x7f2334826ce24d47) },
	};
	uint32_t out[TOURNAMENT_ENTRANTS_MAX];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		unsigned n = cases[i].entrants;
		struct tournament_rules rules = swiss(cases[i].rounds);
		struct play_options options = { .seed = n,
						.draws_of_1000 = 200,
						.out_rounds = out };
		struct played played;

		memset(out, 0, sizeof(out));
		for (unsigned e = 0; e < n && cases[i].rounds > 0; e += 7)
			out[e] = 2 + e % cases[i].rounds;
		rules.group = rules.seats = cases[i].group;
		if (cases[i].rounds == 0)
			rules.format = TOURNAMENT_ROUND_ROBIN;
		played = play_tournament(&rules, n, &options);
		assert_int_equal(digest(played.tournament), cases[i].digest);
		played_release(&played);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_meets_twice_where_that_can_be),
		cmocka_unit_test(long_swiss_repeats_as_little_as_it_must),
		cmocka_unit_test(resumes_after_every_prefix_of_results),
		cmocka_unit_test(equals_meet_equals),
		cmocka_unit_test(each_seat_comes_equally_often),
		cmocka_unit_test(buchholz_is_the_opponents_points),
		cmocka_unit_test(who_withdraws_is_not_paired_any_more),
		cmocka_unit_test(tournament_ends_when_all_have_left),
		cmocka_unit_test(one_taken_back_leaves_all_the_rest),
		cmocka_unit_test(tables_of_more_than_two_meet_new_ones),
		cmocka_unit_test(
			matching_finds_a_perfect_one_when_there_is_one),
		cmocka_unit_test(matching_knows_who_can_be_spared),
		cmocka_unit_test(pairings_are_the_same_for_ever),
		cmocka_unit_test(matching_finds_planted_ones_in_large_graphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
