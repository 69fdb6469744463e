/* SPDX-License-Identifier: MIT */
#include "server/ladder/rounds.h"

#include "tests/unit/unit.h"

#define SECOND INT64_C(1000000)
#define NOW (100000 * SECOND)
#define HOUR (3600 * SECOND)

static const struct rounds_bot author = { .mu = 25, .sigma = 3 };
static const struct rounds_bot house = { .mu = 25,
					 .sigma = 3,
					 .is_house = true };
static const struct rounds_bot new_house = { .mu = 25,
					     .sigma = 8,
					     .is_house = true };

/* An open round of 8 with STORED runs whose mean is MU. */
static struct rounds_open round_with(uint32_t stored, double mu)
{
	return (struct rounds_open){
		.id = 1,
		.opened_us = NOW,
		.runs_wanted = 8,
		.runs_stored = stored,
		.mu_mean = mu,
		.has_author = true,
	};
}

static enum rounds_verdict choose(const struct rounds_open *rounds,
				  size_t count, const struct rounds_bot *bot,
				  int64_t now_us, struct rounds_choice *choice)
{
	struct rounds_rules rules = rounds_default_rules(8, 24 * HOUR);

	rules.max_open = 4;
	return rounds_choose(&rules, rounds, count, bot, now_us, choice);
}

static void opens_the_first_round(void **state)
{
	struct rounds_choice choice;

	(void)state;
	assert_int_equal(choose(NULL, 0, &author, NOW, &choice), ROUNDS_OPEN);
}

static void joins_the_round_that_ends_soonest(void **state)
{
	struct rounds_open rounds[3] = { round_with(2, 25), round_with(5, 25),
					 round_with(3, 25) };
	struct rounds_choice choice;

	(void)state;
	assert_int_equal(choose(rounds, 3, &author, NOW, &choice), ROUNDS_JOIN);
	assert_int_equal(choice.index, 1);
	/* Runs in play count as there. */
	rounds[2].runs_in_play = 4;
	assert_int_equal(choose(rounds, 3, &author, NOW, &choice), ROUNDS_JOIN);
	assert_int_equal(choice.index, 2);
}

static void prefers_near_equals(void **state)
{
	struct rounds_open rounds[2] = { round_with(5, 35), round_with(4, 26) };
	struct rounds_choice choice;

	(void)state;
	assert_int_equal(choose(rounds, 2, &author, NOW, &choice), ROUNDS_JOIN);
	assert_int_equal(choice.index, 1);
}

static void opens_another_when_all_are_far_away(void **state)
{
	struct rounds_open rounds[4] = { round_with(5, 45), round_with(5, 45),
					 round_with(5, 45), round_with(6, 45) };
	struct rounds_choice choice;

	(void)state;
	assert_int_equal(choose(rounds, 3, &author, NOW, &choice), ROUNDS_OPEN);
	/* Not beyond the bound. */
	assert_int_equal(choose(rounds, 4, &author, NOW, &choice), ROUNDS_JOIN);
	assert_int_equal(choice.index, 3);
}

static void gives_no_owner_a_round_twice(void **state)
{
	struct rounds_open rounds[2] = { round_with(7, 25), round_with(1, 25) };
	struct rounds_choice choice;

	(void)state;
	rounds[0].has_owner = true;
	assert_int_equal(choose(rounds, 2, &author, NOW, &choice), ROUNDS_JOIN);
	assert_int_equal(choice.index, 1);
	rounds[1].has_owner = true;
	assert_int_equal(choose(rounds, 2, &author, NOW, &choice), ROUNDS_OPEN);
}

static void gives_no_more_runs_than_wanted(void **state)
{
	struct rounds_open rounds[1] = { round_with(6, 25) };
	struct rounds_choice choice;

	(void)state;
	rounds[0].runs_in_play = 2;
	assert_int_equal(choose(rounds, 1, &author, NOW, &choice), ROUNDS_OPEN);
}

static void makes_room_by_closing_the_oldest_that_can_be_rated(void **state)
{
	struct rounds_open rounds[4] = { round_with(5, 25), round_with(1, 25),
					 round_with(3, 25), round_with(2, 25) };
	struct rounds_choice choice;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		rounds[i].has_owner = true;
	rounds[1].opened_us -= 9 * HOUR; /* the oldest: one run only */
	rounds[0].opened_us -= 8 * HOUR; /* a run is in play */
	rounds[0].runs_in_play = 1;
	rounds[3].opened_us -= 7 * HOUR;
	assert_int_equal(choose(rounds, 4, &author, NOW, &choice),
			 ROUNDS_REPLACE);
	assert_int_equal(choice.index, 3);
}

static void waits_till_a_round_is_old_where_none_can_be_closed(void **state)
{
	struct rounds_open rounds[4];
	struct rounds_choice choice;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		rounds[i] = round_with(1, 25);
		rounds[i].has_owner = true;
	}
	rounds[2].opened_us -= HOUR;
	assert_int_equal(choose(rounds, 4, &author, NOW, &choice), ROUNDS_WAIT);
	assert_true(choice.until_us == NOW + 23 * HOUR);
}

static void takes_nobody_into_a_round_that_is_over(void **state)
{
	struct rounds_rules rules = rounds_default_rules(8, 24 * HOUR);
	struct rounds_open rounds[1] = { round_with(3, 25) };
	struct rounds_choice choice;

	(void)state;
	assert_false(rounds_is_over(&rules, &rounds[0], NOW + 23 * HOUR));
	assert_true(rounds_is_over(&rules, &rounds[0], NOW + 24 * HOUR));
	assert_int_equal(choose(rounds, 1, &author, NOW + 24 * HOUR, &choice),
			 ROUNDS_OPEN);
	rounds[0].runs_stored = 8;
	assert_true(rounds_is_over(&rules, &rounds[0], NOW));
}

static void house_bots_help_authors_after_a_while(void **state)
{
	struct rounds_open rounds[1] = { round_with(3, 25) };
	struct rounds_choice choice;

	(void)state;
	assert_int_equal(choose(rounds, 1, &house, NOW, &choice), ROUNDS_WAIT);
	assert_true(choice.until_us == NOW + 20 * SECOND);
	assert_int_equal(choose(rounds, 1, &house, choice.until_us, &choice),
			 ROUNDS_JOIN);
	/* Among themselves they play only while they are not settled. */
	rounds[0].has_author = false;
	assert_int_equal(choose(rounds, 1, &house, NOW + HOUR, &choice),
			 ROUNDS_WAIT);
	assert_true(choice.until_us == INT64_MAX);
	assert_int_equal(choose(rounds, 1, &new_house, NOW, &choice),
			 ROUNDS_JOIN);
	assert_int_equal(choose(NULL, 0, &new_house, NOW, &choice),
			 ROUNDS_OPEN);
	assert_int_equal(choose(NULL, 0, &house, NOW, &choice), ROUNDS_WAIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens_the_first_round),
		cmocka_unit_test(joins_the_round_that_ends_soonest),
		cmocka_unit_test(prefers_near_equals),
		cmocka_unit_test(opens_another_when_all_are_far_away),
		cmocka_unit_test(gives_no_owner_a_round_twice),
		cmocka_unit_test(gives_no_more_runs_than_wanted),
		cmocka_unit_test(
			makes_room_by_closing_the_oldest_that_can_be_rated),
		cmocka_unit_test(
			waits_till_a_round_is_old_where_none_can_be_closed),
		cmocka_unit_test(takes_nobody_into_a_round_that_is_over),
		cmocka_unit_test(house_bots_help_authors_after_a_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
