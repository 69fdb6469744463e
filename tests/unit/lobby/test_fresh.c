/* SPDX-License-Identifier: MIT */
/* test_fresh.c - ladders that draw their maps. */
#include <stdio.h>
#include <string.h>

#include "server/match/record.h"
#include "tests/unit/lobby/script.h"
#include "tests/unit/unit.h"

enum { RETRY_MS = 61 * 1000 };

/* The ladder `mine` draws maps of PRESETS from now on. */
static void draw_of(struct world *world, const char *presets)
{
	struct row_ladder *row = &world->ladders[LADDER_MINE];

	row->nmaps = 0;
	(void)snprintf(row->generators, sizeof(row->generators), "%s", presets);
	world_catalogue(world);
}

/* Peer a, who has been offered match ID, plays it to its end. */
static void play(struct world *world, unsigned id)
{
	char text[256];

	(void)snprintf(text, sizeof(text),
		       "a > @ready %u\na <~ @start %u\na > A\n"
		       "a <~ @end %u *\n",
		       id, id, id);
	world_play(world, text);
}

static void each_match_has_a_map_of_its_own(void **state)
{
	struct world *world = *state;

	draw_of(world, "small,flood");
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play mine\n");
	for (unsigned id = 1; id <= 8; id++)
		play(world, id);
	/* eight were played on, the next one is offered, and one in stock */
	assert_int_equal(world->nmade, 10);
	assert_int_equal(world->loaded, 0);
	assert_non_null(strstr(buf_text(&world->made), "small\n"));
	assert_non_null(strstr(buf_text(&world->made), "flood\n"));
}

static void the_first_match_waits_for_its_map_and_the_next_is_ahead(
	void **state)
{
	struct world *world = *state;

	world->holds_maps = true;
	draw_of(world, "small");
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play mine\n"
			  "a < @queued mine *\n"
			  "a <.\n");
	assert_int_equal(world->nmakes, 1);
	assert_int_equal(world->makes[0].count, 1);
	world_load(world);
	world_play(world, "a < @match 1 *\n");
	/* the next one is asked for as soon as this one is taken */
	assert_int_equal(world->nmakes, 1);
	world_load(world);
	assert_int_equal(world->nmade, 2);
	assert_int_equal(world->nmakes, 0);
	play(world, 1);
	world_play(world, "a <~ @match 2 *\n");
}

static void a_map_that_nobody_saw_is_offered_again(void **state)
{
	struct world *world = *state;

	draw_of(world, "small");
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play mine\na <~ @match 1 *\n");
	assert_int_equal(world->nmade, 2);
	/* no @ready: cancelled, and again */
	world_play(world, "* t 10000\na <~ @cancel 1 *\n");
	world_play(world, "a > @play mine\na <~ @match 2 *\n");
	assert_int_equal(world->nmade, 2);
}

static void without_a_map_it_waits_and_tries_again(void **state)
{
	struct world *world = *state;

	world->fails_makes = true;
	draw_of(world, "small");
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play mine\n"
			  "* log *ladder=mine event=no_fresh_map*no luck*\n"
			  "a <~ @error no-new-matches *\n");
	world->fails_makes = false;
	world_play(world, "a <.\n");
	assert_int_equal(world->nmade, 0);
	for (unsigned ms = 0; ms < RETRY_MS; ms += 5000)
		world_play(world, "* t 5000\n");
	world_play(world, "a <~ @match 1 *\n");
}

static void new_presets_throw_the_old_stock_away(void **state)
{
	struct world *world = *state;

	draw_of(world, "small");
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play mine\na <~ @match 1 *\n");
	assert_string_equal(buf_text(&world->made), "small\nsmall\n");
	draw_of(world, "beard");
	play(world, 1);
	world_play(world, "a <~ @match 2 *\n");
	assert_string_equal(buf_text(&world->made),
			    "small\nsmall\nbeard\nbeard\n");
}

/* Peer a is offered match 2 by SAID: on which map? */
static int64_t map_of_next(struct world *world, const char *said)
{
	int64_t map_id;

	world->holds_store = true;
	world_play(world, "* t 10000\na <~ @cancel 1 *\n");
	world_play(world, said);
	play(world, 2);
	assert_int_equal(world->nrecords, 1);
	map_id = world->records[0]->map_id;
	world->holds_store = false;
	world_store(world);
	return map_id;
}

static void a_map_of_old_presets_is_not_offered_again(void **state)
{
	struct world *world = *state;

	draw_of(world, "small");
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play mine\na <~ @match 1 *\n");
	assert_int_equal(world->nmade, 2);
	draw_of(world, "beard");
	assert_true(map_of_next(world, "a > @play mine\n") >= SCRIPT_MADE + 2);
}

static void a_map_that_the_ladder_had_before_is_not_drawn(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_play(world, "a > @play mine\na <~ @match 1 *\n");
	draw_of(world, "small");
	assert_true(map_of_next(world, "a > @play mine\n") >= SCRIPT_MADE);
}

/* A map that was being made of the old presets comes too late. */
static void a_map_of_old_presets_that_comes_late_is_dropped(void **state)
{
	struct world *world = *state;

	world->holds_maps = true;
	draw_of(world, "small");
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play mine\n");
	draw_of(world, "beard");
	assert_int_equal(world->nmakes, 1);
	world_load(world); /* small: dropped, and beard asked for */
	assert_int_equal(world->nmakes, 1);
	world_load(world);
	world_play(world, "a <~ @match 1 *\n");
	world->holds_maps = false;
	assert_string_equal(buf_text(&world->made), "small\nbeard\n");
}

static void a_preset_that_is_gone_is_told(void **state)
{
	struct world *world = *state;

	draw_of(world, "smoll");
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play mine\n"
			  "* log *no_fresh_map reason=\"no such preset\"*\n"
			  "a <~ @error no-new-matches *\n");
}

/* The host has added no map that everybody may see. */
static void draw_alone(struct world *world)
{
	world->maps[MAP_MINE].visibility = ROW_MAP_HIDDEN;
	draw_of(world, "small");
	world_login(world, 'a', "crazy");
}

static void unrated_matches_have_a_fresh_map_each(void **state)
{
	struct world *world = *state;

	draw_alone(world);
	world->holds_store = true;
	world_play(world, "a > @play mine unrated seed=12 matches=2\n"
			  "a < @queued mine waiting=1 unrated=asked\n"
			  "a < @match 1 *rated=0*\n");
	play(world, 1);
	assert_int_equal(world->nrecords, 1);
	assert_int_equal(world->records[0]->purpose, MATCH_FOR_UNRATED);
	assert_int_equal(world->records[0]->map_id, SCRIPT_MADE);
	assert_string_equal(world->records[0]->setup.seed, "12");
	world_store(world);
	world_play(world, "a <~ @match 2 *rated=0*\n");
	play(world, 2);
	assert_int_equal(world->records[0]->map_id, SCRIPT_MADE + 1);
	world->holds_store = false;
	world_store(world);
	world_play(world, "a <~ @left mine\n");
	/* what counts is played on another */
	assert_int_equal(world->nmade, 3);
	world->holds_store = true;
	world_play(world, "a > @play mine\na <~ @match 3 *rated=1*\n");
	play(world, 3);
	assert_int_equal(world->records[0]->map_id, SCRIPT_MADE + 2);
	world->holds_store = false;
	world_store(world);
}

static void an_unrated_match_waits_for_its_map(void **state)
{
	struct world *world = *state;

	world->holds_maps = true;
	draw_alone(world);
	world_play(world, "a > @play mine unrated\n"
			  "a < @queued mine *\n"
			  "a <.\n");
	assert_int_equal(world->nmakes, 1);
	world_load(world);
	world_play(world, "a < @match 1 *\n");
	world->holds_maps = false;
	world_load(world);
}

static void a_map_of_an_unrated_offer_not_taken_stays_in_stock(void **state)
{
	struct world *world = *state;

	draw_alone(world);
	world_play(world, "a > @play mine unrated\n"
			  "a <~ @match 1 *\n"
			  "* t 10000\n"
			  "a <~ @cancel 1 *\n");
	assert_int_equal(world->nmade, 2);
	world_play(world, "a > @play mine unrated\na <~ @match 2 *\n");
	assert_int_equal(world->nmade, 2);
}

static void an_unrated_map_of_old_presets_is_not_offered_again(void **state)
{
	struct world *world = *state;

	draw_alone(world);
	world_play(world, "a > @play mine unrated\na <~ @match 1 *\n");
	assert_int_equal(world->nmade, 2);
	draw_of(world, "beard");
	assert_true(map_of_next(world, "a > @play mine unrated\n") >=
		    SCRIPT_MADE + 2);
}

static void who_waits_unrated_is_told_that_no_map_can_be_drawn(void **state)
{
	struct world *world = *state;

	world->fails_makes = true;
	draw_alone(world);
	world_play(world, "a > @play mine unrated\n"
			  "* log *ladder=mine event=no_fresh_map*no luck*\n"
			  "a <~ @error no-new-matches *\n");
	world->fails_makes = false;
	world_play(world, "a <.\n");
	for (unsigned ms = 0; ms < RETRY_MS; ms += 5000)
		world_play(world, "* t 5000\n");
	world_play(world, "a <~ @match 1 *\n");
}

static void a_candidate_meets_its_predecessor_on_a_fresh_map(void **state)
{
	struct world *world = *state;
	int64_t map_id;

	draw_alone(world);
	world->holds_store = true;
	world_play(world, "b +\n"
			  "b > @login crazy right version=next candidate=1\n"
			  "b <~ @welcome crazy version=next\n"
			  "a > @play mine\n"
			  "a <~ @match 1 *rated=1*\n"
			  "b > @play mine\n"
			  "a > @ready 1\n"
			  "a > @resign 1\n"
			  "b <~ @match 2 *rated=0*\n"
			  "b > @ready 2\n"
			  "b > @resign 2\n");
	assert_int_equal(world->nrecords, 2);
	assert_int_equal(world->records[1]->purpose, MATCH_FOR_CANDIDATE);
	map_id = world->records[1]->map_id;
	assert_true(map_id > SCRIPT_MADE);
	assert_int_not_equal(map_id, world->records[0]->map_id);
	world->holds_store = false;
	world_store(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(each_match_has_a_map_of_its_own),
		WORLD_TEST(
			the_first_match_waits_for_its_map_and_the_next_is_ahead),
		WORLD_TEST(a_map_that_nobody_saw_is_offered_again),
		WORLD_TEST(without_a_map_it_waits_and_tries_again),
		WORLD_TEST(new_presets_throw_the_old_stock_away),
		WORLD_TEST(a_map_of_old_presets_is_not_offered_again),
		WORLD_TEST(a_map_that_the_ladder_had_before_is_not_drawn),
		WORLD_TEST(a_map_of_old_presets_that_comes_late_is_dropped),
		WORLD_TEST(a_preset_that_is_gone_is_told),
		WORLD_TEST(unrated_matches_have_a_fresh_map_each),
		WORLD_TEST(an_unrated_match_waits_for_its_map),
		WORLD_TEST(a_map_of_an_unrated_offer_not_taken_stays_in_stock),
		WORLD_TEST(an_unrated_map_of_old_presets_is_not_offered_again),
		WORLD_TEST(who_waits_unrated_is_told_that_no_map_can_be_drawn),
		WORLD_TEST(a_candidate_meets_its_predecessor_on_a_fresh_map),
	};

	return cmocka_run_group_tests_name("fresh", tests, NULL, NULL);
}
