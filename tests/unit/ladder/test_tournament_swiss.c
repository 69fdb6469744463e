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

/* Against all ways to pair six, met or not by chance. */
static void matching_finds_a_perfect_one_when_there_is_one(void **state)
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
	bool is_in[6] = { true, true, true, true, true, true };
	unsigned found = 0;

	(void)state;
	for (unsigned bits = 0; bits < 1u << 15; bits++) {
		bool pairs[36] = { false }, is_possible = false;
		uint32_t mates[6] = { 6, 6, 6, 6, 6, 6 };
		unsigned k = 0;

		for (unsigned a = 0; a < 6; a++)
			for (unsigned b = a + 1; b < 6; b++, k++)
				pairs[a * 6 + b] = pairs[b * 6 + a] =
					(bits >> k & 1) != 0;
		for (unsigned i = 0; i < 15; i++)
			is_possible |= pairs[all[i][0] * 6 + all[i][1]] &&
				       pairs[all[i][2] * 6 + all[i][3]] &&
				       pairs[all[i][4] * 6 + all[i][5]];
		assert_int_equal(
			tournament_match_perfect(pairs, 6, is_in, mates),
			is_possible);
		for (unsigned a = 0; is_possible && a < 6; a++) {
			assert_true(pairs[a * 6 + mates[a]]);
			assert_int_equal(mates[mates[a]], a);
		}
		found += is_possible;
	}
	assert_true(found > 1000);
}

/* Odd cycles in odd cycles, planted matchings hidden in noise. */
static void matching_finds_planted_ones_in_large_graphs(void **state)
{
	enum { N = 60 };
	bool is_in[N];

	(void)state;
	memset(is_in, true, sizeof(is_in));
	for (uint64_t seed = 0; seed < 200; seed++) {
		static bool pairs[N * N];
		uint32_t mates[N], places[N];

		memset(pairs, 0, sizeof(pairs));
		for (uint32_t i = 0; i < N; i++) {
			uint32_t k =
				(uint32_t)(tournament_mix(seed, i) % (i + 1));

			places[i] = places[k];
			places[k] = i;
			mates[i] = N;
		}
		for (unsigned i = 0; i < N; i += 2)
			pairs[places[i] * N + places[i + 1]] =
				pairs[places[i + 1] * N + places[i]] = true;
		for (unsigned i = 0; i < seed; i++) {
			uint64_t chance = tournament_mix(~seed, i);
			unsigned a = (unsigned)(chance % N);
			unsigned b = (unsigned)(chance / N % N);

			if (a != b)
				pairs[a * N + b] = pairs[b * N + a] = true;
		}
		assert_true(tournament_match_perfect(pairs, N, is_in, mates));
		for (uint32_t a = 0; a < N; a++) {
			assert_true(pairs[a * N + mates[a]]);
			assert_int_equal(mates[mates[a]], a);
		}
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
		cmocka_unit_test(matching_finds_planted_ones_in_large_graphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
