/* SPDX-License-Identifier: MIT */
/* test_candidate.c - candidates against their predecessors. */
#include <stdio.h>
#include <string.h>

#include "server/match/record.h"
#include "tests/unit/lobby/script.h"
#include "tests/unit/unit.h"

/* a plays the active version, b the candidate; both have been let in. */
static void let_in(struct world *world)
{
	world_login(world, 'a', "crazy");
	world_play(world, "b +\n"
			  "b > @login crazy right version=next candidate=1\n"
			  "b <~ @welcome crazy version=next\n");
}

static void in_a_solo_game_both_play_one_instance(void **state)
{
	struct world *world = *state;
	char seed[ROW_SEED_BYTES];

	let_in(world);
	world_play(world, "a > @play mine\n"
			  "a <~ @match 1 * rated=1*\n"
			  "b > @play mine\n"
			  "b < @queued mine waiting=1 unrated=candidate\n"
			  "b <.\n"
			  "a > @ready 1\n"
			  "a > @resign 1\n"
			  "b < @match 2 * rated=0*\n"
			  "a <~ @match 3 * rated=1*\n"
			  "a > @ready 3\n"
			  "b > @ready 2\n");
	world->holds_store = true;
	world_play(world, "b > @resign 2\n");
	assert_int_equal(world->nrecords, 1);
	assert_int_equal(world->records[0]->purpose, MATCH_FOR_CANDIDATE);
	assert_int_equal(world->records[0]->seats[0].version_id,
			 world->versions[SCRIPT_BOTS].id);
	(void)snprintf(seed, sizeof(seed), "%s", world->records[0]->setup.seed);
	world_store(world);
	/* It comes when its own match is over. */
	world_play(world, "b <~ @result 2 *\n"
			  "b <.\n"
			  "a > @resign 3\n"
			  "a <~ @match 4 * rated=0*\n"
			  "a > @ready 4\n");
	world_store(world);
	world_play(world, "a > @resign 4\n");
	assert_int_equal(world->nrecords, 1);
	assert_int_equal(world->records[0]->seats[0].version_id, 1);
	assert_string_equal(world->records[0]->setup.seed, seed);
	world->holds_store = false;
	world_store(world);
	world_play(world, "b <~ @notice : mine: version next against 1: +0 "
			  "points a match, no interval yet, 1 instance\n");
}

static void a_duel_is_told_to_the_candidate(void **state)
{
	struct world *world = *state;

	let_in(world);
	world_play(world, "a > @play battle\n"
			  "b > @play battle\n"
			  "a <~ @match 1 * seat=2 * rated=0*\n"
			  "b <~ @match 1 * seat=1 * rated=0*\n"
			  "a > @ready 1\n"
			  "b > @ready 1\n"
			  "a > @resign 1\n"
			  "b > @resign 1\n"
			  "a <~ @match 2 * seat=1 * rated=0*\n"
			  "b <~ @match 2 * seat=2 * rated=0*\n"
			  "a > @ready 2\n"
			  "b > @ready 2\n"
			  "a > @resign 2\n"
			  "b > @resign 2\n"
			  "b <~ @notice : battle: version next against 1: +0 "
			  "points a match, no interval yet, 1 instance\n"
			  "* log *bot=crazy event=candidate instances=1 *\n"
			  "a <~ @result 2 *\n"
			  "a <.\n"
			  "* t 1100\n"
			  "a < @match 3 * seat=2 *\n"
			  "b <~ @match 3 * seat=1 *\n"
			  "a > @ready 3\n"
			  "b > @ready 3\n"
			  "a > @resign 3\n"
			  "b > @resign 3\n"
			  "a <~ @match 4 *\n"
			  "a > @ready 4\n"
			  "b > @ready 4\n"
			  "a > @resign 4\n"
			  "b > @resign 4\n"
			  "b <~ @notice : battle: * 95 % interval +0 to +0, 2 "
			  "instances\n");
}

/* Matches ID and ID + 1 are a duel of a and the candidate NAME. */
static void play_duel(struct world *world, char name, int id)
{
	char text[200];

	(void)snprintf(text, sizeof(text), "%c > @play battle\n", name);
	world_play(world, text);
	for (int i = id; i < id + 2; i++) {
		(void)snprintf(text, sizeof(text),
			       "a <~ @match %d *\n"
			       "a > @ready %d\n"
			       "%c > @ready %d\n"
			       "a > @resign %d\n"
			       "%c > @resign %d\n",
			       i, i, name, i, i, name, i);
		world_play(world, text);
	}
	(void)snprintf(text, sizeof(text), "%c > @leave\n", name);
	world_play(world, text);
}

static void two_candidates_are_compared_each_by_itself(void **state)
{
	struct world *world = *state;

	let_in(world);
	world_play(world, "c +\n"
			  "c > @login crazy right version=other candidate=1\n"
			  "c <~ @welcome crazy version=other\n"
			  "a > @play battle\n");
	play_duel(world, 'b', 1);
	world_play(world, "b <~ @notice : *version next *, 1 instance\n"
			  "* t 1100\n");
	play_duel(world, 'c', 3);
	world_play(world, "c <~ @notice : *version other *, 1 instance\n"
			  "* t 1100\n");
	play_duel(world, 'b', 5);
	world_play(world, "b <~ @notice : *version next *, 2 instances\n"
			  "* t 1100\n");
	play_duel(world, 'c', 7);
	world_play(world, "c <~ @notice : *version other *, 2 instances\n");
}

static void half_a_duel_says_nothing(void **state)
{
	struct world *world = *state;

	let_in(world);
	world_play(world, "a > @play battle\n"
			  "b > @play battle\n"
			  "a <~ @match 1 *\n"
			  "a > @ready 1\n"
			  "b > @ready 1\n"
			  "a -\n"
			  "b > @resign 1\n"
			  "b <~ @result 1 *\n"
			  "* t 59000\n"
			  "b <.\n"
			  "* t 5000\n"
			  "b <.\n");
	/* Another time it begins anew. */
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play battle\n"
			  "a <~ @match 2 *seat=2 *\n"
			  "b <~ @match 2 *seat=1 *\n");
}

static unsigned count_logged(const struct world *world, const char *text)
{
	unsigned count = 0;

	for (const char *at = buf_text(&world->log);
	     (at = strstr(at, text)) != NULL; at++)
		count++;
	return count;
}

static void a_map_that_cannot_be_had_is_asked_for_again_in_a_minute(
	void **state)
{
	static const char dropped[] = "event=candidate-dropped";
	struct world *world = *state;
	struct buf *data = &world->map_data[MAP_MINE];
	struct buf whole = BUF_INIT(1000);

	buf_add(&whole, data->data, data->len);
	buf_clear(data);
	let_in(world);
	world_play(world, "a > @play mine\n"
			  "b > @play mine\n"
			  "* t 30000\n");
	assert_int_equal(count_logged(world, dropped), 1);
	buf_add(data, whole.data, whole.len);
	buf_release(&whole);
	world_play(world, "* t 35000\n"
			  "b <~ @match *rated=0*\n");
	assert_int_equal(count_logged(world, dropped), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(in_a_solo_game_both_play_one_instance),
		WORLD_TEST(a_duel_is_told_to_the_candidate),
		WORLD_TEST(two_candidates_are_compared_each_by_itself),
		WORLD_TEST(half_a_duel_says_nothing),
		WORLD_TEST(
			a_map_that_cannot_be_had_is_asked_for_again_in_a_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
