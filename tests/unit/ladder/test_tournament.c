/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/ladder/tournament_internal.h"
#include "tests/unit/ladder/tournament_play.h"

enum { SIZE_MAX_TESTED = 40, OPEN_MAX = 4096 };

static const struct play_options by_chance = { .seed = 7,
					       .absent_of_1000 = 20,
					       .draws_of_1000 = 200 };

/* Meetings of all pairs, byes not; the caller frees it. */
static unsigned *meetings(const struct played *played)
{
	unsigned n = played->entrants;
	unsigned *met = xcalloc((size_t)n * n, sizeof(*met));
	const struct tournament_pairing *pairings;
	size_t count;

	pairings = tournament_pairings(played->tournament, &count);
	for (size_t i = 0; i < count; i++)
		for (unsigned a = 0; a < pairings[i].nentrants; a++)
			for (unsigned b = 0; b < pairings[i].nentrants; b++)
				if (a != b)
					met[pairings[i].entrants[a] * n +
					    pairings[i].entrants[b]]++;
	return met;
}

/* Each table: every entrant once, ranks as the keys say, sums that fit. */
static void check_table(const struct played *played)
{
	unsigned n = played->entrants;
	bool *is_seen = xcalloc(n, sizeof(*is_seen));
	uint64_t wins = 0, losses = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct tournament_standing *row = &played->table[i];

		assert_false(is_seen[row->entrant]);
		is_seen[row->entrant] = true;
		assert_true(row->rank >= 1 && row->rank <= i + 1);
		if (row->rank != i + 1)
			assert_int_equal(row->rank, played->table[i - 1].rank);
		wins += row->wins;
		losses += row->losses;
	}
	/* A defeat without a victor is one of two who both stayed away. */
	assert_true(wins <= losses);
	free(is_seen);
}

static void check_resumes(const struct tournament_rules *rules,
			  const struct played *played,
			  const struct play_options *options)
{
	size_t step = played->nresults / 12 + 1;

	if (played->entrants <= 9)
		step = 1;
	for (size_t prefix = 0; prefix <= played->nresults; prefix += step)
		if (prefix <= 400)
			check_resume(rules, played, prefix, options);
}

static void contest_lets_each_entrant_play_each_instance_once(void **state)
{
	(void)state;
	for (unsigned n = 2; n <= SIZE_MAX_TESTED; n++) {
		struct tournament_rules rules = {
			.format = TOURNAMENT_CONTEST,
			.seats = 1,
			.group = 1,
			.sets = 1,
			.rounds = 5,
			.seed = n,
		};
		struct played played = play_tournament(&rules, n, &by_chance);
		int64_t *totals = xcalloc(n, sizeof(*totals));

		assert_int_equal(played.nresults, 5 * n);
		for (size_t i = 0; i < played.nresults; i++)
			totals[played.results[i].pairing % n] +=
				played.results[i].points[0];
		for (unsigned i = 0; i < n; i++) {
			assert_int_equal(played.table[i].total,
					 totals[played.table[i].entrant]);
			if (i > 0)
				assert_true(played.table[i - 1].total >=
					    played.table[i].total);
			if (i > 0 &&
			    played.table[i - 1].total == played.table[i].total)
				assert_int_equal(played.table[i].rank,
						 played.table[i - 1].rank);
		}
		check_table(&played);
		check_resumes(&rules, &played, &by_chance);
		free(totals);
		played_release(&played);
	}
}

static void contest_charges_the_absent_what_the_worst_lost(void **state)
{
	struct tournament_rules rules = { .format = TOURNAMENT_CONTEST,
					  .seats = 1,
					  .group = 1,
					  .sets = 1,
					  .rounds = 1 };
	struct tournament *tournament = tournament_new(&rules, 3, NULL);
	struct tournament_result result = { .points = { -5 } };
	struct tournament_standing table[3];

	(void)state;
	assert_int_equal(tournament_add(tournament, &result), 0);
	result = (struct tournament_result){ .pairing = 1, .points = { 9 } };
	assert_int_equal(tournament_add(tournament, &result), 0);
	result = (struct tournament_result){ .pairing = 2, .absent = 1 };
	assert_int_equal(tournament_add(tournament, &result), 0);
	tournament_standings(tournament, table);
	assert_int_equal(table[0].entrant, 1);
	assert_int_equal(table[1].total, -5);
	assert_int_equal(table[2].total, -5);
	assert_int_equal(table[2].rank, 2);
	tournament_free(tournament);
}

static void round_robin_lets_each_pair_meet_exactly_once(void **state)
{
	(void)state;
	for (unsigned n = 2; n <= SIZE_MAX_TESTED; n++) {
		struct tournament_rules rules = {
			.format = TOURNAMENT_ROUND_ROBIN,
			.seats = 1 + n % 2,
			.group = 2,
			.sets = 1 + n % 3,
			.seed = n,
		};
		struct played played = play_tournament(&rules, n, &by_chance);
		unsigned *met = meetings(&played);
		uint64_t per_set = rules.seats == 1 ? 2 : 1;
		int64_t sum = 0;

		assert_int_equal(played.nresults,
				 n * (n - 1) / 2 * rules.sets * per_set);
		for (unsigned a = 0; a < n; a++)
			for (unsigned b = 0; b < n; b++)
				assert_int_equal(met[a * n + b], a != b);
		for (unsigned i = 0; i < n; i++)
			sum += played.table[i].half_points;
		assert_true(sum <= n * (n - 1) * rules.sets);
		check_table(&played);
		check_resumes(&rules, &played, &by_chance);
		free(met);
		played_release(&played);
	}
}

static void round_robin_gives_each_seat_equally_often(void **state)
{
	(void)state;
	for (unsigned n = 2; n <= SIZE_MAX_TESTED; n++) {
		struct tournament_rules rules = {
			.format = TOURNAMENT_ROUND_ROBIN,
			.seats = 2,
			.group = 2,
			.sets = 1,
		};
		struct tournament *tournament = tournament_new(&rules, n, NULL);
		static struct tournament_match open[OPEN_MAX];
		int balance[SIZE_MAX_TESTED] = { 0 };
		size_t count = tournament_next(tournament, open, OPEN_MAX);

		for (size_t i = 0; i < count; i++) {
			balance[open[i].entrants[0]]++;
			balance[open[i].entrants[1]]--;
		}
		for (unsigned e = 0; e < n; e++)
			assert_true(abs(balance[e]) <= 1);
		tournament_free(tournament);
	}
}

/* BC58: what a seed is must not change how much is played. */
static void seed_changes_no_number_of_matches(void **state)
{
	(void)state;
	for (int format = 0; format < TOURNAMENT_NFORMATS; format++) {
		uint64_t counts[3][2];

		for (uint64_t seed = 0; seed < 3; seed++) {
			bool is_solo = format == TOURNAMENT_CONTEST;
			struct tournament_rules rules = {
				.format = (enum tournament_format)format,
				.seats = is_solo ? 1 : 2,
				.group = is_solo ? 1 : 2,
				.sets = 1,
				.rounds = is_solo || format == TOURNAMENT_SWISS
						  ? 3
						  : 0,
				.seed = seed,
			};

			tournament_count(&rules, 9, &counts[seed][0],
					 &counts[seed][1]);
			if (format == TOURNAMENT_ROUND_ROBIN) {
				assert_int_equal(counts[seed][0], 36);
				rules.is_rotated = true;
				tournament_count(&rules, 9, &counts[seed][0],
						 &counts[seed][1]);
				assert_int_equal(counts[seed][0], 72);
			}
		}
		assert_memory_equal(counts[0], counts[1], sizeof(counts[0]));
		assert_memory_equal(counts[0], counts[2], sizeof(counts[0]));
	}
}

static void groups_are_balanced_in_games_seats_and_meetings(void **state)
{
	(void)state;
	for (unsigned group = 3; group <= LIMIT_SEATS; group++)
		for (unsigned n = group + 1; n <= SIZE_MAX_TESTED; n++) {
			uint32_t *tables;
			unsigned seats[SIZE_MAX_TESTED][LIMIT_SEATS];
			unsigned met[SIZE_MAX_TESTED][SIZE_MAX_TESTED];
			unsigned most = 0;
			size_t count =
				tournament_groups(n, group, 1, 3, &tables);

			memset(seats, 0, sizeof(seats));
			memset(met, 0, sizeof(met));
			for (size_t i = 0; i < count; i++)
				for (unsigned a = 0; a < group; a++) {
					uint32_t *t = &tables[i * group];

					seats[t[a]][a]++;
					for (unsigned b = 0; b < group; b++)
						met[t[a]][t[b]]++;
				}
			assert_int_equal(count % n, 0);
			for (unsigned a = 0; a < n; a++) {
				for (unsigned k = 0; k < group; k++)
					assert_int_equal(seats[a][k],
							 count / n);
				for (unsigned b = 0; b < n; b++)
					if (a != b) {
						assert_true(met[a][b] >= 1);
						if (met[a][b] > most)
							most = met[a][b];
					}
			}
			/* Seldom much more than the mean. */
			assert_true(most <= 2 * count * group * (group - 1) /
							    (n * (n - 1)) +
						    2);
			free(tables);
		}
}

static void groups_of_three_among_seven_are_a_fano_plane(void **state)
{
	uint32_t *tables;

	(void)state;
	assert_int_equal(tournament_groups(7, 3, 1, 0, &tables), 7);
	free(tables);
	assert_int_equal(tournament_groups(13, 4, 1, 0, &tables), 13);
	free(tables);
}

static void round_robin_of_groups_is_played_to_its_end(void **state)
{
	(void)state;
	for (unsigned group = 3; group <= 5; group++)
		for (unsigned n = group; n <= 16; n++) {
			struct tournament_rules rules = {
				.format = TOURNAMENT_ROUND_ROBIN,
				.seats = n % 2 == 0 ? group : 1,
				.group = group,
				.sets = 1 + n % 2,
				.is_rotated = n % 4 == 0,
				.seed = n,
			};
			struct played played =
				play_tournament(&rules, n, &by_chance);
			unsigned *met = meetings(&played);

			for (unsigned a = 0; a < n; a++)
				for (unsigned b = 0; b < n; b++)
					assert_true(a == b || met[a * n + b]);
			check_table(&played);
			check_resumes(&rules, &played, &by_chance);
			free(met);
			played_release(&played);
		}
}

static void check_elimination(enum tournament_format format, unsigned n,
			      unsigned sets)
{
	struct tournament_rules rules = {
		.format = format,
		.seats = 1 + n % 2,
		.group = 2,
		.sets = sets,
		.has_third = format == TOURNAMENT_SINGLE && n % 3 == 0,
		.seed = n,
	};
	struct play_options options = by_chance;
	struct played played;
	const struct tournament_pairing *pairings;
	unsigned losses[SIZE_MAX_TESTED] = { 0 }, real = 0;
	unsigned most = format == TOURNAMENT_DOUBLE ? 2 : 1;
	size_t count;

	options.seed = n * 31 + sets;
	played = play_tournament(&rules, n, &options);
	pairings = tournament_pairings(played.tournament, &count);
	for (size_t i = 0; i < count; i++) {
		const struct tournament_pairing *p = &pairings[i];

		assert_true(p->is_done);
		if (p->is_bye)
			continue;
		real++;
		assert_int_equal(p->half_points[0] + p->half_points[1], 2);
		assert_int_not_equal(p->half_points[0], 1);
		if (p->bracket != TOURNAMENT_THIRD)
			losses[p->entrants[p->half_points[0] == 2]]++;
	}
	if (format == TOURNAMENT_SINGLE)
		assert_int_equal(real, n - 1 + (rules.has_third && n > 3));
	else
		assert_in_range(real, 2 * n - 2, 2 * n - 1);
	assert_int_equal(played.table[0].rank, 1);
	assert_int_equal(played.table[1].rank, 2);
	assert_true(losses[played.table[0].entrant] < most);
	for (unsigned i = 1; i < n; i++)
		assert_int_equal(losses[played.table[i].entrant], most);
	if (rules.has_third && n > 3) {
		assert_int_equal(played.table[2].rank, 3);
		assert_int_equal(played.table[3].rank, 4);
	}
	check_table(&played);
	check_resumes(&rules, &played, &options);
	played_release(&played);
}

static void single_elimination_leaves_one_without_a_defeat(void **state)
{
	(void)state;
	for (unsigned n = 2; n <= SIZE_MAX_TESTED; n++)
		for (unsigned sets = 1; sets <= 3; sets++)
			check_elimination(TOURNAMENT_SINGLE, n, sets);
}

static void double_elimination_puts_out_with_the_second_defeat(void **state)
{
	(void)state;
	for (unsigned n = 2; n <= SIZE_MAX_TESTED; n++)
		for (unsigned sets = 1; sets <= 3; sets++)
			check_elimination(TOURNAMENT_DOUBLE, n, sets);
}

/* The better seed always wins. */
static void favourites_meet_as_late_as_they_can(void **state)
{
	struct tournament_rules rules = {
		.format = TOURNAMENT_SINGLE, .seats = 2, .group = 2, .sets = 1
	};
	struct tournament *tournament = tournament_new(&rules, 13, NULL);
	struct tournament_match match;
	struct tournament_standing table[13];

	(void)state;
	while (tournament_next(tournament, &match, 1) == 1) {
		bool has_first = match.entrants[0] < match.entrants[1];
		struct tournament_result result = {
			.pairing = match.pairing,
			.ranks = { has_first ? 1 : 2, has_first ? 2 : 1 },
		};

		assert_int_equal(tournament_add(tournament, &result), 0);
		/* In round R of 4 the better ones are among 2^(4-R). */
		assert_true(
			(has_first ? match.entrants[0] : match.entrants[1]) <
			1u << (4 - match.round));
	}
	tournament_standings(tournament, table);
	for (unsigned i = 0; i < 13; i++)
		assert_int_equal(table[i].rank, i < 2   ? i + 1
						: i < 4 ? 3
						: i < 8 ? 5
							: 9);
	tournament_free(tournament);
}

/* Four: a void semi-final lets its winner go on, a void final parts nobody. */
static void who_went_on_came_further_though_it_is_void(void **state)
{
	struct tournament_rules rules = { .format = TOURNAMENT_SINGLE,
					  .seats = 1,
					  .group = 2,
					  .sets = 1,
					  .seed = 1 };
	struct play_options options = { .seed = 5 };
	struct tournament_standing table[4];
	struct played played;

	(void)state;
	for (uint32_t pairing = 0; pairing < 3; pairing++) {
		played = play_tournament(&rules, 4, &options);
		for (uint32_t turn = 0; turn < 2; turn++)
			assert_int_equal(tournament_take_back(played.tournament,
							      pairing, 0, turn),
					 0);
		tournament_standings(played.tournament, table);
		assert_int_equal(tournament_undecided(played.tournament), 1);
		assert_int_equal(table[0].rank, 1);
		assert_int_equal(table[1].rank, pairing == 2 ? 1 : 2);
		assert_int_equal(table[2].rank, 3);
		assert_int_equal(table[3].rank, 3);
		if (pairing < 2)
			assert_int_equal(table[0].entrant,
					 played.table[0].entrant);
		played_release(&played);
	}
}

static void level_pairing_goes_to_extra_sets_then_to_the_better_seed(
	void **state)
{
	struct tournament_rules rules = {
		.format = TOURNAMENT_SINGLE, .seats = 2, .group = 2, .sets = 1
	};
	struct tournament *tournament = tournament_new(&rules, 2, NULL);
	struct tournament_match match;
	struct tournament_standing table[2];
	unsigned played = 0;

	(void)state;
	while (tournament_next(tournament, &match, 1) == 1) {
		struct tournament_result result = { .pairing = match.pairing,
						    .set = match.set,
						    .ranks = { 1, 1 } };

		assert_int_equal(match.set, played++);
		assert_int_equal(tournament_add(tournament, &result), 0);
	}
	assert_int_equal(played, 1 + TOURNAMENT_EXTRA_SETS);
	tournament_standings(tournament, table);
	assert_int_equal(table[0].entrant, 0);
	tournament_free(tournament);
}

static void withdrawn_entrants_forfeit_what_is_left(void **state)
{
	static const enum tournament_format formats[] = {
		TOURNAMENT_ROUND_ROBIN, TOURNAMENT_SINGLE, TOURNAMENT_DOUBLE
	};

	(void)state;
	for (unsigned f = 0; f < COUNT_OF(formats); f++)
		for (unsigned n = 3; n <= 12; n++) {
			struct tournament_rules rules = {
				.format = formats[f],
				.seats = 2,
				.group = 2,
				.sets = 1,
				.is_rotated = true,
			};
			uint32_t out[12] = { 0, 1 };
			struct play_options options = { .seed = n,
							.out_rounds = out };
			struct played played =
				play_tournament(&rules, n, &options);

			for (unsigned i = 0; i < n; i++) {
				if (played.table[i].entrant != 1)
					continue;
				assert_int_equal(played.table[i].wins, 0);
				assert_true(played.table[i].forfeits > 0);
			}
			check_resumes(&rules, &played, &options);
			played_release(&played);
		}
}

static void results_that_cannot_be_are_refused(void **state)
{
	struct tournament_rules rules = {
		.format = TOURNAMENT_SINGLE, .seats = 2, .group = 2, .sets = 1
	};
	struct tournament *tournament = tournament_new(&rules, 4, NULL);
	struct tournament_result result = { .ranks = { 1, 3 } };

	(void)state;
	assert_int_equal(tournament_add(tournament, &result), -EINVAL);
	result.ranks[1] = 0;
	assert_int_equal(tournament_add(tournament, &result), -EINVAL);
	result.absent = 4;
	assert_int_equal(tournament_add(tournament, &result), -EINVAL);
	result = (struct tournament_result){ .pairing = 2, .ranks = { 1, 2 } };
	assert_int_equal(tournament_add(tournament, &result), -ENOENT);
	result.pairing = 0;
	result.set = 1;
	assert_int_equal(tournament_add(tournament, &result), -ENOENT);
	result.set = 0;
	result.turn = 1;
	assert_int_equal(tournament_add(tournament, &result), -ENOENT);
	result.turn = 0;
	assert_int_equal(tournament_add(tournament, &result), 0);
	assert_int_equal(tournament_add(tournament, &result), -EEXIST);
	tournament_free(tournament);
}

static void rules_that_cannot_be_are_refused(void **state)
{
	static const struct {
		struct tournament_rules rules;
		unsigned entrants;
		const char *why;
	} cases[] = {
		{ { TOURNAMENT_CONTEST, 2, 2, 1, 5, false, false, 0 },
		  4,
		  "one seat" },
		{ { TOURNAMENT_CONTEST, 1, 1, 1, 0, false, false, 0 },
		  4,
		  "instances" },
		{ { TOURNAMENT_SWISS, 2, 2, 1, 4, false, false, 0 },
		  4,
		  "twice" },
		{ { TOURNAMENT_SWISS, 2, 2, 1, 0, false, false, 0 },
		  4,
		  "at least 1" },
		{ { TOURNAMENT_SINGLE, 3, 3, 1, 0, false, false, 0 },
		  4,
		  "pairings of 2" },
		{ { TOURNAMENT_DOUBLE, 2, 2, 1, 0, false, true, 0 },
		  4,
		  "third" },
		{ { TOURNAMENT_SINGLE, 1, 2, 1, 0, true, false, 0 },
		  4,
		  "rotate" },
		{ { TOURNAMENT_ROUND_ROBIN, 4, 4, 1, 0, false, false, 0 },
		  3,
		  "too few" },
		{ { TOURNAMENT_ROUND_ROBIN, 2, 2, 99, 0, false, false, 0 },
		  100,
		  "100000" },
		{ { TOURNAMENT_ROUND_ROBIN, 2, 2, 0, 0, false, false, 0 },
		  4,
		  "sets" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const char *why =
			tournament_refusal(&cases[i].rules, cases[i].entrants);

		assert_non_null(why);
		assert_non_null(strstr(why, cases[i].why));
	}
}

/* What runs already is not laid out to be counted; a new one is. */
static void a_new_one_has_bounds_that_an_old_one_has_not(void **state)
{
	struct tournament_rules rules = { .format = TOURNAMENT_SWISS,
					  .seats = 2,
					  .group = 2,
					  .sets = 1,
					  .rounds = 40 };

	(void)state;
	assert_null(tournament_plan_refusal(&rules, 1024));
	rules.rounds = 41;
	assert_null(tournament_refusal(&rules, 1024));
	assert_non_null(tournament_plan_refusal(&rules, 1024));
	rules = (struct tournament_rules){ .format = TOURNAMENT_ROUND_ROBIN,
					   .seats = 4,
					   .group = 4,
					   .sets = 1,
					   .is_rotated = true };
	assert_null(tournament_refusal(&rules, 540));
	assert_non_null(tournament_plan_refusal(&rules, 540));
	assert_null(tournament_plan_refusal(&rules, 400));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			contest_lets_each_entrant_play_each_instance_once),
		cmocka_unit_test(
			contest_charges_the_absent_what_the_worst_lost),
		cmocka_unit_test(round_robin_lets_each_pair_meet_exactly_once),
		cmocka_unit_test(round_robin_gives_each_seat_equally_often),
		cmocka_unit_test(seed_changes_no_number_of_matches),
		cmocka_unit_test(
			groups_are_balanced_in_games_seats_and_meetings),
		cmocka_unit_test(groups_of_three_among_seven_are_a_fano_plane),
		cmocka_unit_test(round_robin_of_groups_is_played_to_its_end),
		cmocka_unit_test(
			single_elimination_leaves_one_without_a_defeat),
		cmocka_unit_test(
			double_elimination_puts_out_with_the_second_defeat),
		cmocka_unit_test(favourites_meet_as_late_as_they_can),
		cmocka_unit_test(who_went_on_came_further_though_it_is_void),
		cmocka_unit_test(
			level_pairing_goes_to_extra_sets_then_to_the_better_seed),
		cmocka_unit_test(withdrawn_entrants_forfeit_what_is_left),
		cmocka_unit_test(results_that_cannot_be_are_refused),
		cmocka_unit_test(rules_that_cannot_be_are_refused),
		cmocka_unit_test(a_new_one_has_bounds_that_an_old_one_has_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
