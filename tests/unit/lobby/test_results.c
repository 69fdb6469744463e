/* SPDX-License-Identifier: MIT */
/* test_results.c - nothing is told before it is on disk; trouble; the drain. */
#include <stdlib.h>

#include "tests/unit/lobby/script.h"
#include "tests/unit/unit.h"

/* a (crazy) has played match 1 of rabbit-runner to its end. */
static void play_one(struct world *world)
{
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *\n"
			  "a > @ready 1\n"
			  "a > move\n"
			  "a > move\n"
			  "a <~ @end 1 stop=term reason=finished\n");
}

static void a_result_is_told_only_when_stored(void **state)
{
	struct world *world = *state;

	world->holds_store = true;
	play_one(world);
	world_play(world, "a < @match 2 *\n"
			  "* t 5000\n"
			  "a <.\n");
	world_store(world);
	world_play(world, "a < @place 1 *\n"
			  "a < @result 1 *\n"
			  "a <.\n");
	lobby_stored(world->lobby, 1, world->now_us);
	lobby_stored(world->lobby, 99, world->now_us);
	world_apply(world);
	world_play(world, "a <.\n");
}

static void a_result_may_come_during_the_next_match(void **state)
{
	struct world *world = *state;

	world->holds_store = true;
	play_one(world);
	world_play(world, "a > @ready 2\n"
			  "a <~ turnsleft 2\n"
			  "a <~ rabbits\n");
	world_store(world);
	world_play(world, "a < @place 1 *\n"
			  "a < @result 1 *\n"
			  "a > move\n"
			  "a < turnsleft 1\n");
}

static void results_wait_in_bounds_and_then_nothing_starts(void **state)
{
	struct world *world = *state;

	world->holds_store = true;
	play_one(world);
	world_play(world, "a > @ready 2\n"
			  "a > @resign 2\n"
			  "a > @ready 3\n"
			  "a > @resign 3\n"
			  "a > @ready 4\n"
			  "a > @resign 4\n"
			  "a <~ @end 4 *\n"
			  "a < @error no-new-matches retry-after=30 : *\n"
			  "a <.\n");
	assert_int_equal(world->nrecords, 4);
	world_store(world);
	world_play(world, "a < @place 1 *\n"
			  "a <~ @match 5 *\n"
			  "a <~ @result 4 *\n");
}

static void a_result_that_cannot_be_stored_is_void(void **state)
{
	struct world *world = *state;

	world->holds_store = true;
	play_one(world);
	lobby_store_refused(world->lobby, 1, world->now_us);
	world_apply(world);
	world_play(world, "a < @match 2 *\n"
			  "a < @void 1 reason=store : *\n"
			  "a <.\n");
	lobby_stored(world->lobby, 1, world->now_us);
	world_apply(world);
	world_play(world, "a <.\n");
}

static void store_trouble_is_told_and_passes(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "b > @play battle\n"
			  "b < @queued *\n");
	lobby_store_trouble(world->lobby, "the disk is full", world->now_us);
	world_apply(world);
	world_play(world, "* log event=store_trouble waiting=0 "
			  "reason=\"the disk is full\"\n"
			  "a > @play rabbit-runner\n"
			  "a < @queued *\n"
			  "a < @error no-new-matches retry-after=30 : *\n"
			  "a <.\n"
			  "* t 60000\n"
			  "a <.\n");
	lobby_store_trouble(world->lobby, NULL, world->now_us);
	world_apply(world);
	world_play(world, "* log event=store_recovered *\n"
			  "a < @match 1 *\n");
}

static void a_match_goes_on_through_store_trouble(void **state)
{
	struct world *world = *state;

	world->holds_store = true;
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a > @ready 1\n"
			  "a <~ rabbits\n");
	lobby_store_trouble(world->lobby, "the disk is full", world->now_us);
	world_apply(world);
	world_play(world, "a > move\n"
			  "a < turnsleft 1\n"
			  "a > move\n"
			  "a <~ @end 1 stop=term reason=finished\n"
			  "a < @error no-new-matches *\n"
			  "a <.\n");
	world_store(world);
	lobby_store_trouble(world->lobby, NULL, world->now_us);
	world_apply(world);
	world_play(world, "a <~ @result 1 *\n"
			  "a < @match 2 *\n");
}

static void a_drain_lets_matches_finish_and_tells_all(void **state)
{
	struct world *world = *state;

	world_login(world, 'b', "lazy");
	world_login(world, 'c', "slow");
	world_login(world, 'd', "fast");
	world_play(world, "c > @play rabbit-runner\n"
			  "c <~ @match 1 *\n"
			  "d > @play battle\n"
			  "d < @queued *\n"
			  "b > @play rabbit-runner\n"
			  "b <~ @match 2 *\n"
			  "b > @ready 2\n"
			  "b <~ rabbits\n");
	lobby_drain(world->lobby, world->now_us + 5000000, world->now_us);
	world_apply(world);
	world_play(world, "c < @cancel 1 *\n"
			  "c < @error shutdown retry-after=30 : *\n"
			  "c ! shutdown\n"
			  "d < @error shutdown *\n"
			  "d ! shutdown\n"
			  "e +\n"
			  "e <~ @error shutdown *\n"
			  "e ! shutdown\n"
			  "b <.\n"
			  "b > move\n"
			  "b < turnsleft 1\n"
			  "b > move\n"
			  "b <~ @end 2 stop=term reason=finished\n"
			  "b < @place 2 *\n"
			  "b < @result 2 *\n"
			  "b < @error shutdown *\n"
			  "b ! shutdown\n");
	assert_true(world->is_drained);
}

static void a_drain_abandons_what_takes_too_long(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a > @ready 1\n"
			  "a <~ rabbits\n");
	lobby_drain(world->lobby, world->now_us + 2000000, world->now_us);
	world_apply(world);
	world_play(world, "* t 1999\n"
			  "a <.\n");
	assert_false(world->is_drained);
	world_play(world, "* t 2\n"
			  "a < @end 1 stop=term reason=abandoned\n"
			  "a < @void 1 *\n"
			  "a < @error shutdown *\n"
			  "a ! shutdown\n");
	assert_true(world->is_drained);
	assert_int_equal(world->stored, 0);
}

static void a_drain_waits_for_the_disk(void **state)
{
	struct world *world = *state;

	world->holds_store = true;
	play_one(world);
	lobby_drain(world->lobby, world->now_us + 1000, world->now_us);
	world_apply(world);
	world_play(world, "a <~ @cancel 2 *\n"
			  "* t 1000\n"
			  "a <.\n");
	assert_false(world->is_drained);
	world_store(world);
	world_play(world, "a < @place 1 *\n"
			  "a < @result 1 *\n"
			  "a < @error shutdown *\n"
			  "a ! shutdown\n");
	assert_true(world->is_drained);
}

/* The store carries it out: a token that nobody is told opens nothing. */
static void a_drain_waits_for_the_answer_to_an_ask(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world->holds_asks = true;
	world_play(world, "a > @rotate\n"
			  "b +\n"
			  "b > @register one\n"
			  "c +\n"
			  "c > @login slow right version=v2\n"
			  "d +\n"
			  "d > @register two\n"
			  "d -\n");
	lobby_drain(world->lobby, world->now_us, world->now_us);
	world_apply(world);
	world_play(world, "* t 1000\n"
			  "a <.\n");
	assert_false(world->is_drained);
	world_answer(world);
	world_play(world, "a < @token hill_next\n"
			  "a < @error shutdown retry-after=30 : *\n"
			  "a <.\n"
			  "a ! shutdown\n"
			  "b <~ @registered one *\n"
			  "b < @error shutdown *\n"
			  "b ! shutdown\n"
			  "c <~ @welcome slow version=v2\n"
			  "c < @error shutdown *\n"
			  "c ! shutdown\n");
	assert_true(world->is_drained);
}

/* Nobody hears it, but it is carried out. */
static void a_drain_waits_for_the_ask_of_one_that_is_gone(void **state)
{
	struct world *world = *state;

	world->holds_asks = true;
	world_play(world, "a +\n"
			  "a > @register one\n"
			  "a -\n");
	lobby_drain(world->lobby, world->now_us, world->now_us);
	world_apply(world);
	assert_false(world->is_drained);
	world_answer(world);
	assert_true(world->is_drained);
}

static void an_idle_server_drains_at_once(void **state)
{
	struct world *world = *state;

	lobby_drain(world->lobby, world->now_us, world->now_us);
	world_apply(world);
	assert_true(world->is_drained);
}

static void the_status_counts(void **state)
{
	struct world *world = *state;
	struct lobby_status status;

	world->holds_store = true;
	play_one(world);
	lobby_status(world->lobby, &status);
	assert_int_equal(status.peers, 1);
	assert_int_equal(status.logged_in, 1);
	assert_int_equal(status.bots, 4);
	assert_int_equal(status.ladders, 4);
	assert_int_equal(status.matches, 1);
	assert_int_equal(status.results_waiting, 1);
	assert_int_equal(status.started, 1);
	assert_int_equal(status.finished, 1);
	assert_int_equal(status.maps, 1);
	assert_false(status.is_draining);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(a_result_is_told_only_when_stored),
		WORLD_TEST(a_result_may_come_during_the_next_match),
		WORLD_TEST(results_wait_in_bounds_and_then_nothing_starts),
		WORLD_TEST(a_result_that_cannot_be_stored_is_void),
		WORLD_TEST(store_trouble_is_told_and_passes),
		WORLD_TEST(a_match_goes_on_through_store_trouble),
		WORLD_TEST(a_drain_lets_matches_finish_and_tells_all),
		WORLD_TEST(a_drain_abandons_what_takes_too_long),
		WORLD_TEST(a_drain_waits_for_the_disk),
		WORLD_TEST(a_drain_waits_for_the_answer_to_an_ask),
		WORLD_TEST(a_drain_waits_for_the_ask_of_one_that_is_gone),
		WORLD_TEST(an_idle_server_drains_at_once),
		WORLD_TEST(the_status_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
