/* SPDX-License-Identifier: MIT */
/* test_waiting.c - queues, and all that may keep a match from starting. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/lobby/script.h"
#include "tests/unit/unit.h"

static void who_came_first_plays_first(void **state)
{
	struct world *world = *state;

	world->config.matches_max = 1;
	lobby_configure(world->lobby, &world->config, world->now_us);
	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_login(world, 'c', "slow");
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *\n"
			  "b > @play rabbit-runner\n"
			  "b < @queued rabbit-runner waiting=1\n"
			  "c > @play rabbit-runner\n"
			  "c < @queued rabbit-runner waiting=2\n"
			  "a > @resign 1\n"
			  "b < @match 2 *\n"
			  "c <.\n"
			  "b > @ready 2\n"
			  "b > @resign 2\n"
			  "c < @match 3 *\n"
			  /* b waits again, behind. */
			  "c > @ready 3\n"
			  "c > @resign 3\n"
			  "b <~ @match 4 *\n");
}

static void ladders_are_told_to_anybody(void **state)
{
	struct world *world = *state;

	world->ladders[LADDER_SPAR].bank_ms = 2000;
	world->ladders[LADDER_SPAR].lag_cap_ms = 250;
	world_catalogue(world);
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *\n"
			  "a > @ready 1\n"
			  "a <~ @start 1\n");
	world_login(world, 'b', "lazy");
	/* Before login, and not those that are disabled. */
	world_play(world,
		   "b > @play battle\n"
		   "b < @queued battle waiting=1\n"
		   "c +\n"
		   "c < @hill 1 test\n"
		   "c > @ladders\n"
		   "c < @ladders 4\n"
		   "c < @ladder battle game=image-battle seats=2 * turn-ms=500 "
		   "init-ms=2000 bank-ms=0 bank-step-ms=2 lag-cap-ms=0 rated=1 "
		   "waiting=1 playing=0\n"
		   "c < @ladder mine game=lambda-mining * whole-input=1 "
		   "waiting=0 playing=0\n"
		   "c < @ladder rabbit-runner game=rabbit-runner seats=1 "
		   "turns=* waiting=0 playing=1\n"
		   "c < @ladder spar game=image-battle * bank-ms=2000 "
		   "bank-step-ms=2 lag-cap-ms=250 rated=0 *\n"
		   "c <.\n");
}

static void a_peer_may_wait_on_several_ladders(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "a > @play battle\n"
			  "a < @queued battle waiting=1\n"
			  "a > @play rabbit-runner\n"
			  "a < @queued rabbit-runner waiting=1\n"
			  "a < @match 1 ladder=rabbit-runner *\n"
			  /* It plays: nobody for b to meet. */
			  "b > @play battle\n"
			  "b < @queued battle waiting=1\n"
			  "b <.\n"
			  "a > @leave rabbit-runner\n"
			  "a < @left rabbit-runner\n"
			  "a > @ready 1\n"
			  "a > @resign 1\n"
			  "a <~ @match 2 ladder=battle *\n"
			  "b < @match 2 *\n");
}

static void alone_on_several_ladders_they_take_turns(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	/* Both maps are there once each was played. */
	world_play(world, "a > @play mine\n"
			  "a <~ @match 1 ladder=mine *\n"
			  "a > @resign 1\n"
			  "a > @leave\n"
			  "a > @play rabbit-runner\n"
			  "a <~ @match 2 ladder=rabbit-runner *\n"
			  "a > @play mine\n"
			  "a > @ready 2\n"
			  "a > @resign 2\n"
			  "a <~ @match 3 ladder=mine *\n"
			  "a > @ready 3\n"
			  "a > @resign 3\n"
			  "a <~ @match 4 ladder=rabbit-runner *\n"
			  "a > @ready 4\n"
			  "a > @resign 4\n"
			  "a <~ @match 5 ladder=mine *\n");
}

static void refusals_of_play_say_why(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_play(world, "a > @play nowhere\n"
			  "a < @error unknown-ladder : no ladder of this name: "
			  "there is battle, mine, rabbit-runner, spar\n"
			  "a > @play off\n"
			  "a < @error ladder-disabled *\n"
			  "a > @play battle\n"
			  "a < @queued *\n"
			  "a > @play battle\n"
			  "a < @error already-queued *\n"
			  "a > @leave mine\n"
			  "a < @left mine\n"
			  "a > @leave\n"
			  "a < @left\n"
			  "a > @play battle\n"
			  "a < @queued battle waiting=1\n");
}

static void a_bot_meets_itself_only_unrated_and_alone(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_login(world, 'b', "crazy");
	world_login(world, 'c', "lazy");
	world_play(world, "a > @play battle\n"
			  "b > @play battle\n"
			  "a <~ @queued *\n"
			  "a <.\n"
			  "c > @play battle\n"
			  "a < @match 1 *\n"
			  "c <~ @match 1 *\n"
			  "b < @queued *\n"
			  "b <.\n"
			  "c > @resign 1\n"
			  "c <~ @cancel 1 * queued=0\n"
			  "a < @cancel *\n"
			  "a <.\n"
			  "a > @play spar\n"
			  "b > @play spar\n"
			  "a <~ @match 2 ladder=spar *\n"
			  "b <~ @match 2 *\n");
}

static void each_bot_walks_the_seeds_in_order_by_itself(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a > @ready 1\n"
			  "a <~ @args corridor.txt 3\n"
			  "a > @resign 1\n"
			  "a > @ready 2\n"
			  "a <~ @args corridor.txt 4\n"
			  "b > @play rabbit-runner\n"
			  "b > @ready 3\n"
			  "b <~ @args corridor.txt 3\n"
			  "a > @resign 2\n"
			  "a > @ready 4\n"
			  "a > @resign 4\n"
			  "a > @ready 5\n"
			  "a > @resign 5\n"
			  "a > @ready 6\n"
			  "a <~ @args corridor.txt 7\n"
			  "a > @resign 6\n"
			  "a > @ready 7\n"
			  "a <~ @args corridor.txt 3\n");
}

static void a_bot_goes_on_where_the_last_server_left_it(void **state)
{
	struct world *world = *state;
	struct row_road road = { .bot_id = world->bots[0].id,
				 .ladder_id = LADDER_RABBIT + 1,
				 .next = 4,
				 .again = { 2 },
				 .nagain = 1 };

	/* Only of a ladder that was not there, as at the server's start. */
	world->rows.nladders = 0;
	world_catalogue(world);
	world->rows.nladders = SCRIPT_LADDERS;
	world->rows.roads = &road;
	world->rows.nroads = 1;
	world_catalogue(world);
	road.next = 1;
	world_catalogue(world);
	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a > @ready 1\n"
			  "a <~ @args corridor.txt 5\n"
			  "a > @resign 1\n"
			  "a > @ready 2\n"
			  "a <~ @args corridor.txt 7\n"
			  "a > @resign 2\n"
			  "a > @ready 3\n"
			  "a <~ @args corridor.txt 3\n"
			  "b > @play rabbit-runner\n"
			  "b > @ready 4\n"
			  "b <~ @args corridor.txt 3\n");
}

static void other_seeds_are_another_road(void **state)
{
	struct world *world = *state;
	struct row_ladder *row = &world->ladders[LADDER_RABBIT];
	struct row_road road = { .bot_id = world->bots[1].id,
				 .ladder_id = LADDER_RABBIT + 1,
				 .next = 2 };

	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a > @ready 1\n"
			  "a > @resign 1\n"
			  "a > @ready 2\n"
			  "a > @resign 2\n"
			  "a <~ @match 3 *\n");
	row->seed_first = row->seed_next = 100;
	row->seed_last = 104;
	world->rows.roads = &road;
	world->rows.nroads = 1;
	world_catalogue(world);
	/* What was offered before is given back to nobody. */
	world_play(world, "* t 10000\n"
			  "a <~ @cancel 3 *\n"
			  "a > @play rabbit-runner\n"
			  "a <~ @match 4 *\n"
			  "a > @ready 4\n"
			  "a <~ @args corridor.txt 100\n"
			  "a > @resign 4\n"
			  "a > @ready 5\n"
			  "a <~ @args corridor.txt 101\n"
			  "b > @play rabbit-runner\n"
			  "b > @ready 6\n"
			  "b <~ @args corridor.txt 102\n");
}

static void random_seeds_differ_and_the_bots_own_is_another(void **state)
{
	struct world *world = *state;

	world->ladders[LADDER_RABBIT].is_seed_random = true;
	world->ladders[LADDER_RABBIT].bot_seed = ROW_BOT_SEED_OWN;
	world_catalogue(world);
	world->holds_store = true;
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a > @ready 1\n"
			  "a > @resign 1\n"
			  "a > @ready 2\n"
			  "a > @resign 2\n");
	assert_int_equal(world->nrecords, 2);
}

static void nobody_starts_before_the_map_is_there(void **state)
{
	struct world *world = *state;

	world->holds_maps = true;
	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "b > @play rabbit-runner\n"
			  "a < @queued *\n"
			  "a <.\n");
	assert_int_equal(world->nloads, 1);
	world_load(world);
	world_play(world, "a < @match 1 *\n"
			  "b <~ @match 2 *\n");
	assert_int_equal(world->loaded, 1);
}

static void a_broken_map_is_told_and_tried_again_after_a_change(void **state)
{
	struct world *world = *state;

	buf_clear(&world->map_data[MAP_ARENA]);
	buf_add_text(&world->map_data[MAP_ARENA], "no picture");
	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "a > @play battle\n"
			  "b > @play battle\n"
			  "a <~ @error no-new-matches *\n"
			  "b <~ @error no-new-matches *\n"
			  "* log map=2 event=unusable *\n"
			  "* t 20000\n"
			  "a <.\n");
	assert_int_equal(world->loaded, 1);
	world_catalogue(world);
	assert_int_equal(world->loaded, 2);
}

static void no_seed_is_lost_while_no_map_can_be_had(void **state)
{
	struct world *world = *state;
	struct buf *data = &world->map_data[MAP_CORRIDOR];
	struct buf whole = *data;

	buf_init(data, whole.limit);
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @error no-new-matches *\n"
			  "* t 12000\n");
	*data = whole;
	world_catalogue(world);
	world_play(world, "a <~ @match 1 *\n"
			  "a > @ready 1\n"
			  "a <~ @args corridor.txt 3\n");
}

static void a_changed_map_is_read_again(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *\n");
	world_catalogue(world);
	assert_int_equal(world->loaded, 1);
	world->maps[MAP_CORRIDOR].hash[0] = 1;
	world_catalogue(world);
	world_play(world, "a > @ready 1\n"
			  "a > @resign 1\n"
			  "a <~ @match 2 *\n");
	assert_int_equal(world->loaded, 2);
}

static void memory_is_admitted_before_it_is_taken(void **state)
{
	struct world *world = *state;
	struct lobby_status status;

	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *\n");
	lobby_status(world->lobby, &status);
	assert_true(status.match_bytes > 0);
	world->config.match_budget_bytes = status.match_bytes * 3 / 2;
	lobby_configure(world->lobby, &world->config, world->now_us);
	world_play(world, "b > @play rabbit-runner\n"
			  "b < @queued *\n"
			  "b <.\n"
			  "a -\n"
			  "b < @match 2 *\n");
}

static void say_long(struct world *world, char name)
{
	static char text[60000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\n';
	lobby_peer_bytes(world->lobby, world_peer(world, name)->peer, text,
			 sizeof(text), world->now_us);
	world_apply(world);
}

static void replies_take_memory_until_they_are_on_disk(void **state)
{
	struct world *world = *state;
	struct lobby_status status;

	world->holds_store = true;
	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *\n"
			  "a > @ready 1\n"
			  "a > @leave\n"
			  "a <~ @start 1\n");
	lobby_status(world->lobby, &status);
	assert_true(status.record_bytes < 10000);
	say_long(world, 'a');
	say_long(world, 'a');
	world_play(world, "a <~ @end 1 *\n");
	world->config.match_budget_bytes = status.match_bytes + 100000;
	lobby_status(world->lobby, &status);
	assert_true(status.record_bytes > 100000);
	assert_int_equal(status.match_bytes, 0);
	lobby_configure(world->lobby, &world->config, world->now_us);
	world_play(world, "b > @play rabbit-runner\n"
			  "b < @queued *\n"
			  "b <.\n");
	world_store(world);
	lobby_status(world->lobby, &status);
	assert_true(status.record_bytes < 10000);
	world_play(world, "a <~ @result 1 *\n"
			  "b < @match 2 *\n");
}

static void few_who_say_a_lot_are_out_before_memory_is(void **state)
{
	struct world *world = *state;
	struct lobby_status status;
	unsigned said;

	(void)snprintf(world->ladders[LADDER_RABBIT].params,
		       sizeof(world->ladders[LADDER_RABBIT].params),
		       "turns=100");
	world_catalogue(world);
	world->config.match_budget_bytes = 4 * 1024 * 1024;
	lobby_configure(world->lobby, &world->config, world->now_us);
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *\n"
			  "a > @leave\n"
			  "a > @ready 1\n"
			  "a <~ @start 1\n");
	for (said = 0; said < 40; said++) {
		lobby_status(world->lobby, &status);
		if (status.matches == 0)
			break;
		assert_true(status.record_bytes < 3 * 1024 * 1024);
		say_long(world, 'a');
	}
	assert_in_range(said, 17, 19);
	world_play(world,
		   "a <~ @fault full 1/* while all matches have so many\n"
		   "a < @end 1 *reason=gone*\n");
	lobby_status(world->lobby, &status);
	assert_int_equal(status.record_bytes, 0);
}

static void raised_bounds_act_at_once(void **state)
{
	struct world *world = *state;

	world->config.matches_max = 1;
	lobby_configure(world->lobby, &world->config, world->now_us);
	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *\n"
			  "b > @play rabbit-runner\n"
			  "b < @queued rabbit-runner waiting=1\n"
			  "b <.\n");
	world->config.matches_max = 2;
	lobby_configure(world->lobby, &world->config, world->now_us);
	world_apply(world);
	world_play(world, "b < @match 2 *\n");
}

static void without_ids_nothing_starts(void **state)
{
	struct world *world = *state;

	/* A lobby of its own, that has no block yet. */
	world_release(world);
	world_init(world);
	lobby_free(world->lobby);
	world->lobby = lobby_new(&world->config);
	world->holds_ids = true;
	world_catalogue(world);
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "* t 3500\n"
			  "a < @queued *\n"
			  "a <.\n");
	assert_int_equal(world->reserved, 4);
	world->holds_ids = false;
	world_play(world, "* t 1000\n"
			  "a < @match *\n");
}

static void ids_go_on_over_the_end_of_a_block(void **state)
{
	struct world *world = *state;
	char text[100];

	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n");
	for (unsigned i = 1; i <= 2100; i++) {
		(void)snprintf(text, sizeof(text),
			       "a <~ @match %u *\n"
			       "a > @ready %u\n"
			       "a > @resign %u\n",
			       i, i, i);
		world_play(world, text);
	}
	assert_true(world->reserved >= 3);
	assert_int_equal(world->next_id, world->reserved * 1000 + 1);
}

static void a_late_loop_starts_nothing_new(void **state)
{
	struct world *world = *state;

	lobby_loop_lag(world->lobby, 60000, world->now_us);
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a < @queued *\n"
			  "a < @error no-new-matches retry-after=30 : *\n"
			  "a <.\n");
	lobby_loop_lag(world->lobby, 40000, world->now_us);
	world_apply(world);
	world_play(world, "a < @match 1 *\n");
}

static void a_ladder_that_vanishes_sends_its_queue_away(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_play(world, "a > @play battle\n"
			  "a < @queued *\n");
	world->ladders[LADDER_BATTLE].is_disabled = true;
	world_catalogue(world);
	world_play(world, "a < @error ladder-disabled *\n"
			  "a < @left battle\n"
			  "a > @play battle\n"
			  "a < @error ladder-disabled *\n");
}

static void a_match_outlives_its_ladder_and_its_bot(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *\n"
			  "a > @ready 1\n"
			  "a <~ rabbits\n");
	world->rows.ladders++;
	world->rows.nladders--;
	world->rows.bots++;
	world->rows.nbots--;
	world_catalogue(world);
	world_play(world, "a < @error ladder-disabled *\n"
			  "a < @left rabbit-runner\n"
			  "a > move\n"
			  "a < turnsleft 1\n"
			  "a > move\n"
			  "a <~ @end 1 stop=term reason=finished\n"
			  "a < @place 1 *\n"
			  "a < @result 1 *\n"
			  "a < @error bot-disabled *\n"
			  "a ! bot-disabled\n");
	assert_int_equal(world->stored, 1);
}

static void a_ban_lets_the_match_end_and_begins_no_other(void **state)
{
	struct world *world = *state;

	/* The next match would begin before the result is told. */
	world->holds_store = true;
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *\n"
			  "a > @ready 1\n"
			  "a <~ rabbits\n");
	world->bots[BOT_CRAZY].is_disabled = true;
	world_catalogue(world);
	world_play(world, "a < @left\n"
			  "a > @play rabbit-runner\n"
			  "a < @error ladder-disabled *\n"
			  "a > move\n"
			  "a < turnsleft 1\n"
			  "a > move\n"
			  "a <~ @end 1 stop=term reason=finished\n"
			  "a <.\n");
	world_store(world);
	world_play(world, "a < @place 1 *\n"
			  "a < @result 1 *\n"
			  "a < @error bot-disabled *\n"
			  "a ! bot-disabled\n");
	assert_int_equal(world->stored, 1);
}

static void an_unusable_ladder_is_logged_and_refused(void **state)
{
	struct world *world = *state;

	(void)snprintf(world->ladders[LADDER_BATTLE].game, 10, "chess");
	world->ladders[LADDER_RABBIT].seats = 5;
	world_catalogue(world);
	world_login(world, 'a', "crazy");
	world_play(world, "* log ladder=battle event=unusable *\n"
			  "a > @play battle\n"
			  "a < @error ladder-disabled *\n"
			  "a > @play rabbit-runner\n"
			  "a < @error ladder-disabled *\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(who_came_first_plays_first),
		WORLD_TEST(ladders_are_told_to_anybody),
		WORLD_TEST(a_peer_may_wait_on_several_ladders),
		WORLD_TEST(alone_on_several_ladders_they_take_turns),
		WORLD_TEST(refusals_of_play_say_why),
		WORLD_TEST(a_bot_meets_itself_only_unrated_and_alone),
		WORLD_TEST(each_bot_walks_the_seeds_in_order_by_itself),
		WORLD_TEST(a_bot_goes_on_where_the_last_server_left_it),
		WORLD_TEST(other_seeds_are_another_road),
		WORLD_TEST(random_seeds_differ_and_the_bots_own_is_another),
		WORLD_TEST(nobody_starts_before_the_map_is_there),
		WORLD_TEST(a_broken_map_is_told_and_tried_again_after_a_change),
		WORLD_TEST(no_seed_is_lost_while_no_map_can_be_had),
		WORLD_TEST(a_changed_map_is_read_again),
		WORLD_TEST(memory_is_admitted_before_it_is_taken),
		WORLD_TEST(replies_take_memory_until_they_are_on_disk),
		WORLD_TEST(few_who_say_a_lot_are_out_before_memory_is),
		WORLD_TEST(raised_bounds_act_at_once),
		WORLD_TEST(without_ids_nothing_starts),
		WORLD_TEST(ids_go_on_over_the_end_of_a_block),
		WORLD_TEST(a_late_loop_starts_nothing_new),
		WORLD_TEST(a_ladder_that_vanishes_sends_its_queue_away),
		WORLD_TEST(a_match_outlives_its_ladder_and_its_bot),
		WORLD_TEST(a_ban_lets_the_match_end_and_begins_no_other),
		WORLD_TEST(an_unusable_ladder_is_logged_and_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
