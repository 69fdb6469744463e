/* SPDX-License-Identifier: MIT */
/* test_unrated.c - matches that count for nothing, and guests. */
#include <stdio.h>
#include <string.h>

#include "server/match/record.h"
#include "tests/unit/lobby/script.h"
#include "tests/unit/unit.h"

static void the_wish_is_what_is_played(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world->holds_store = true;
	world_play(world, "a > @play rabbit-runner unrated map=corridor.txt "
			  "seed=12 turn-ms=60000 matches=1\n"
			  "a < @queued rabbit-runner waiting=1 unrated=asked\n"
			  "a < @match 1 ladder=rabbit-runner *turn-ms=60000 "
			  "*rated=0*\n"
			  "a > @ready 1\n"
			  "a <~ @args corridor.txt 12\n"
			  "* t 61000\n"
			  "a > @resign 1\n");
	assert_int_equal(world->nrecords, 1);
	assert_int_equal(world->records[0]->purpose, MATCH_FOR_UNRATED);
	assert_false(world->records[0]->is_rated);
	assert_string_equal(world->records[0]->setup.seed, "12");
	assert_int_equal(world->records[0]->seats[0].faults[0], 0);
	world->holds_store = false;
	world_store(world);
	/* The last of them, and no step on the ladder's road. */
	world_play(world, "a <~ @result 1 *\n"
			  "a < @left rabbit-runner\n"
			  "a <.\n"
			  "a > @play rabbit-runner\n"
			  "a <~ @match 2 *\n"
			  "a > @ready 2\n"
			  "a <~ @args corridor.txt 3\n");
}

static void matches_go_on_until_all_are_played(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_play(world, "a > @play mine unrated matches=2\n"
			  "a <~ @match 1 *\n"
			  "a > @ready 1\n"
			  "a > @resign 1\n"
			  "a <~ @result 1 *\n"
			  "a < @match 2 *\n"
			  "a > @ready 2\n"
			  "a > @resign 2\n"
			  "a <~ @result 2 *\n"
			  "a < @left mine\n"
			  "* t 100000\n"
			  "a <.\n");
}

static void an_offer_not_taken_ends_it(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_play(world, "a > @play mine unrated matches=2\n"
			  "a <~ @match 1 *\n"
			  "* t 10000\n"
			  "a <~ @cancel 1 *queued=0*\n"
			  "* t 100000\n"
			  "a <.\n");
}

static void what_cannot_be_is_refused_by_name(void **state)
{
	struct world *world = *state;

	world->maps[MAP_MINE].visibility = ROW_MAP_HIDDEN;
	world_catalogue(world);
	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world,
		   "b > @play battle\n"
		   "a > @play nowhere unrated\n"
		   "a < @error unknown-ladder : *\n"
		   "a > @play mine unrated\n"
		   "a < @error unknown-map : *\n"
		   "a > @play mine unrated map=mine.map\n"
		   "a < @error unknown-map : *\n"
		   "a > @play rabbit-runner unrated map=mine.map\n"
		   "a < @error unknown-map : *\n"
		   "a > @play rabbit-runner unrated seed=3\n"
		   "a < @error contest-seed : *\n"
		   "a > @play rabbit-runner unrated seed=7\n"
		   "a < @error contest-seed : *\n"
		   "a > @play battle unrated against=nobody\n"
		   "a < @error unknown-opponent : *\n"
		   "a > @play battle unrated against=lazy\n"
		   "a < @error unknown-opponent : *\n"
		   "a > @play rabbit-runner unrated against=lazy\n"
		   "a < @error unknown-opponent : *\n"
		   "b > @leave\n"
		   "b > @play battle any\n"
		   "a > @play battle unrated against=lazy turn-ms=60000\n"
		   "a < @error turn-refused : *\n"
		   "a > @play battle unrated turn-ms=600001\n"
		   "a < @error bad-arguments : turn-ms= wants 1 to 600000, *\n"
		   "a > @play battle unrated seed=-1\n"
		   "a < @error bad-arguments : seed= wants *\n"
		   "a > @play battle unrated seed=007\n"
		   "a < @error bad-arguments : seed= wants *\n"
		   "a > @play battle sometimes\n"
		   "a < @error bad-arguments : only `unrated` or `any` *\n"
		   "a <.\n");
}

static void an_instance_that_is_played_for_a_rating_is_closed(void **state)
{
	struct world *world = *state;
	char line[120], seed[24];

	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world->holds_store = true;
	world_play(world, "a > @play mine\n"
			  "a <~ @match 1 *rated=1*\n"
			  "a > @ready 1\n"
			  "a > @resign 1\n");
	assert_int_equal(world->nrecords, 1);
	(void)snprintf(seed, sizeof(seed), "%s", world->records[0]->setup.seed);
	world->holds_store = false;
	world_store(world);
	(void)snprintf(line, sizeof(line), "b > @play mine unrated seed=%s\n",
		       seed);
	world_play(world, line);
	world_play(world, "b < @error open-instance : *\n");
}

static void a_house_bot_plays_with_who_asks(void **state)
{
	struct world *world = *state;

	world->bots[BOT_LAZY].is_house = true;
	world_catalogue(world);
	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "b > @play battle\n"
			  "a > @play battle unrated against=lazy "
			  "turn-ms=600000 matches=1\n"
			  "a <~ @match 1 * seat=1 * turn-ms=600000 * rated=0*\n"
			  "b <~ @match 1 * seat=2 * turn-ms=600000 * rated=0*\n"
			  "a > @ready 1\n"
			  "b > @ready 1\n"
			  "a > @resign 1\n"
			  "b > @resign 1\n"
			  "a <~ @result 1 *\n"
			  "a < @left battle\n");
}

static bool was_called(const struct world *world)
{
	return world->log.len > 0 &&
	       strstr(world->log.data, "event=called_back") != NULL;
}

/* Crazy plays by hand against lazy, of the house. */
static void begin_by_hand(struct world *world)
{
	world->bots[BOT_LAZY].is_house = true;
	world_catalogue(world);
	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "b > @play battle\n"
			  "a > @play battle unrated turn-ms=600000\n"
			  "a <~ @match 1 * turn-ms=600000 * rated=0*\n"
			  "a > @ready 1\n"
			  "b > @ready 1\n"
			  "b <~ @start 1\n");
}

static void a_house_bot_leaves_a_slow_match_for_an_author(void **state)
{
	struct world *world = *state;

	begin_by_hand(world);
	world_login(world, 'c', "slow");
	/* As long as he would wait for any house bot, and no longer. */
	world_play(world, "* t 60000\n"
			  "c > @play battle\n"
			  "* t 9000\n"
			  "c < @queued battle *\n"
			  "c <.\n"
			  "* t 1100\n"
			  "b <~ @end 1 *\n"
			  "* log match=1 bot=lazy event=called_back "
			  "ladder=battle\n"
			  "c <~ @match 2 * rated=1*\n"
			  "b <~ @match 2 * rated=1*\n"
			  /* Who played by hand goes on alone. */
			  "a > @resign 1\n"
			  "a <~ @result 1 *\n"
			  "* t 1000\n"
			  "a <.\n");
}

static void it_stays_while_another_one_can_come(void **state)
{
	struct world *world = *state;

	world->bots[BOT_FAST].is_house = true;
	world->bots[BOT_GONE].is_disabled = false;
	begin_by_hand(world);
	world_login(world, 'c', "slow");
	world_login(world, 'd', "fast");
	world_play(world, "d > @play battle\n"
			  "c > @play battle\n"
			  "* t 10100\n"
			  "c <~ @match 2 * rated=1*\n"
			  "d <~ @match 2 * rated=1*\n"
			  "c > @ready 2\n"
			  "d > @ready 2\n"
			  "c <~ @start 2\n");
	/* Nor for another, as long as that one will come back. */
	world_login(world, 'e', "gone");
	world_play(world, "e > @play battle\n"
			  "* t 12000\n"
			  "e < @queued battle *\n"
			  "e <.\n");
	assert_false(was_called(world));
	/* It will not: now it is needed. */
	world_play(world, "d -\n"
			  "* t 1100\n"
			  "b <~ @end 1 *\n"
			  "e <~ @match * rated=1*\n");
}

static void an_ordinary_match_is_left_to_its_end(void **state)
{
	struct world *world = *state;

	world->bots[BOT_LAZY].is_house = true;
	world_catalogue(world);
	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_login(world, 'c', "slow");
	/* No more time than the ladder gives. */
	world_play(world, "b > @play battle\n"
			  "a > @play battle unrated turn-ms=500\n"
			  "a <~ @match 1 * turn-ms=500 * rated=0*\n"
			  "c > @play battle\n"
			  "* t 9900\n"
			  "a > @ready 1\n"
			  "b > @ready 1\n"
			  "b <~ @start 1\n"
			  "* t 1500\n"
			  "c < @queued battle *\n"
			  "c <.\n");
	assert_false(was_called(world));
}

static void nothing_slow_begins_while_an_author_waits(void **state)
{
	struct world *world = *state;

	world->bots[BOT_LAZY].is_house = true;
	world_catalogue(world);
	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_login(world, 'c', "slow");
	world_play(world, "c > @play battle\n"
			  "a > @play battle unrated turn-ms=600000\n"
			  "b > @play battle\n"
			  "a < @queued battle *\n"
			  "* t 9000\n"
			  "a <.\n"
			  "* t 2000\n"
			  "c <~ @match 1 * rated=1*\n"
			  "b <~ @match 1 * rated=1*\n"
			  "a <.\n"
			  /* He goes: then it may. */
			  "c > @leave\n"
			  "c <~ @left*\n"
			  "c -\n"
			  "* t 12000\n"
			  "a <~ @match * turn-ms=600000 * rated=0*\n");
}

static void one_that_plays_two_ladders_is_called_to_either(void **state)
{
	struct world *world = *state;

	world->bots[BOT_LAZY].is_house = true;
	world_catalogue(world);
	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_login(world, 'c', "slow");
	world_play(world, "a > @play battle unrated turn-ms=600000\n"
			  "b > @play battle\n"
			  "b <~ @match 1 *\n"
			  "b > @play mine\n"
			  "a > @ready 1\n"
			  "b > @ready 1\n"
			  "b <~ @start 1\n"
			  "c > @play mine\n"
			  "c <~ @match 2 *rated=1*\n"
			  "c > @ready 2\n"
			  "* t 9000\n");
	assert_false(was_called(world));
	world_play(world, "* t 2000\n"
			  "b <~ @end 1 *\n"
			  "b < @match * ladder=mine *rated=1 round=2 *\n");
}

static void who_said_any_plays_rated_and_unrated(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_login(world, 'c', "slow");
	world_play(world, "b > @play battle any\n"
			  "a > @play battle unrated\n"
			  "a <~ @match 1 * rated=0*\n"
			  "b <~ @match 1 * rated=0*\n"
			  "c > @play battle\n"
			  "a > @ready 1\n"
			  "b > @ready 1\n"
			  "a > @resign 1\n"
			  "b > @resign 1\n"
			  /* Who waits for a rating comes first then. */
			  "b <~ @match 2 * rated=1*\n"
			  "c <~ @match 2 * rated=1*\n");
}

static void two_who_wish_nothing_special_meet(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "a > @play battle unrated\n"
			  "a < @queued battle waiting=1 unrated=asked\n"
			  "a <.\n"
			  "b > @play battle unrated\n"
			  "a <~ @match 1 * rated=0*\n"
			  "b <~ @match 1 * rated=0*\n");
}

static void nobody_is_lent_who_did_not_say_so(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "b > @play battle\n"
			  "a > @play battle unrated\n"
			  "* t 100000\n"
			  "a < @queued battle *\n"
			  "a <.\n"
			  "b < @queued battle *\n"
			  "b <.\n");
}

static void an_opponent_that_goes_for_good_ends_it(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "b > @play battle any\n"
			  "a > @play battle unrated against=lazy\n"
			  "a <~ @match 1 *\n"
			  "a > @ready 1\n"
			  "b > @ready 1\n"
			  "b -\n"
			  "a > @resign 1\n"
			  "a <~ @result 1 *\n"
			  "* t 59000\n"
			  "a <.\n"
			  "* t 2000\n"
			  "a < @error unknown-opponent : *\n"
			  "a < @left battle\n");
}

/* As store_guests makes it: a bot without a token. */
static void with_guests(struct world *world)
{
	world->config.has_guests = true;
	world->config.guests_max = 4;
	world->config.guests_per_address = 2;
	(void)snprintf(world->bots[BOT_GONE].name,
		       sizeof(world->bots[BOT_GONE].name), "guest:");
	world->bots[BOT_GONE].is_disabled = false;
	world->rows.ntokens = SCRIPT_BOTS - 1;
	lobby_configure(world->lobby, &world->config, world->now_us);
	world_catalogue(world);
}

static void guests_come_where_the_host_has_them(void **state)
{
	struct world *world = *state;

	world_play(world, "a +\n"
			  "a < @hill *\n"
			  "a > @guest ada\n"
			  "a < @error guests-off : *\n"
			  "a ! guests-off\n");
	with_guests(world);
	world_play(world, "a +\n"
			  "a < @hill *\n"
			  "a > @guest Ada Lovelace\n"
			  "a < @error bad-arguments : *\n"
			  "a > @guest ada client=nc\n"
			  "a < @welcome guest:ada\n"
			  "* log *bot=guest:ada event=login client=nc\n"
			  "a > @play mine\n"
			  "a < @error guest-unrated : *\n"
			  "a > @play mine any\n"
			  "a < @error guest-unrated : *\n"
			  "a > @rotate\n"
			  "a < @error guest-unrated : *\n"
			  /* Its name is no door. */
			  "b +\n"
			  "b < @hill *\n"
			  "b > @login guest: right\n"
			  "b < @error bad-arguments : *\n");
}

static void a_guest_is_called_so_in_the_match(void **state)
{
	struct world *world = *state;

	with_guests(world);
	world->holds_store = true;
	world_play(world, "a +\n"
			  "a > @guest ada\n"
			  "a > @play mine unrated matches=1\n"
			  "a <~ @match 1 *rated=0*\n"
			  "a > @ready 1\n"
			  "a > @resign 1\n");
	assert_int_equal(world->nrecords, 1);
	assert_string_equal(world->records[0]->seats[0].bot, "guest:ada");
	assert_int_equal(world->records[0]->seats[0].version_id, BOT_GONE + 1);
	world->holds_store = false;
	world_store(world);
	world_play(world, "a <~ @place 1 seat=1 bot=guest:ada *\n"
			  "a < @result 1 *\n");
}

static void guests_are_bounded_by_address_and_in_all(void **state)
{
	struct world *world = *state;

	with_guests(world);
	world_play(world, "a + 10.0.0.1\n"
			  "a > @guest ada\n"
			  "a <~ @welcome *\n"
			  "b + 10.0.0.1\n"
			  "b > @guest ada\n"
			  "b <~ @welcome *\n"
			  "c + 10.0.0.1\n"
			  "c > @guest eve\n"
			  "c <~ @error address-limit * : too many guests *\n"
			  "c ! address-limit\n"
			  "d + 10.0.0.2\n"
			  "d > @guest bob\n"
			  "d <~ @welcome *\n"
			  "e + 10.0.0.3\n"
			  "e > @guest bob\n"
			  "e <~ @welcome *\n"
			  "f + 10.0.0.4\n"
			  "f > @guest bob\n"
			  "f <~ @error server-full *\n"
			  "f ! server-full\n"
			  /* Who leaves makes room. */
			  "a -\n"
			  "c + 10.0.0.1\n"
			  "c > @guest eve\n"
			  "c <~ @welcome guest:eve\n");
}

/* Else a contest's range of seeds would be found by asking. */
static void seeds_of_contests_are_asked_for_in_bounds(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	for (unsigned i = 0; i < LIMIT_KEPT_SEEDS; i++)
		world_play(world, "a > @play rabbit-runner unrated seed=3\n"
				  "a < @error contest-seed : *\n");
	/* Which it is must not be told, whatever it is. */
	world_play(world,
		   "a > @play rabbit-runner unrated seed=3\n"
		   "a < @error try-later retry-after=180 : too many seeds *\n"
		   "a > @play rabbit-runner unrated seed=99\n"
		   "a < @error try-later retry-after=180 : *\n"
		   "a > @play rabbit-runner unrated matches=1\n"
		   "a <~ @match 1 *\n"
		   "a > @resign 1\n"
		   "a <~ @cancel 1 *\n"
		   "* t 180000\n"
		   "a > @play rabbit-runner unrated seed=99\n"
		   "a <~ @match 2 *\n");
}

static void guests_who_try_seeds_spoil_them_for_their_address_alone(
	void **state)
{
	struct world *world = *state;

	with_guests(world);
	world_play(world, "a + 10.0.0.1\n"
			  "a > @guest ada\n"
			  "a <~ @welcome *\n");
	for (unsigned i = 0; i < LIMIT_KEPT_SEEDS; i++)
		world_play(world, "a > @play rabbit-runner unrated seed=3\n"
				  "a < @error contest-seed : *\n");
	/* A new link from there changes nothing. */
	world_play(world, "a -\n"
			  "b + 10.0.0.1\n"
			  "b > @guest ada\n"
			  "b <~ @welcome *\n"
			  "b > @play rabbit-runner unrated seed=99\n"
			  "b < @error try-later retry-after=180 : *\n"
			  "c + 10.0.0.2\n"
			  "c > @guest bob\n"
			  "c <~ @welcome *\n"
			  "c > @play rabbit-runner unrated seed=99\n"
			  "c <~ @match 1 *\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(seeds_of_contests_are_asked_for_in_bounds),
		WORLD_TEST(the_wish_is_what_is_played),
		WORLD_TEST(matches_go_on_until_all_are_played),
		WORLD_TEST(an_offer_not_taken_ends_it),
		WORLD_TEST(what_cannot_be_is_refused_by_name),
		WORLD_TEST(an_instance_that_is_played_for_a_rating_is_closed),
		WORLD_TEST(a_house_bot_plays_with_who_asks),
		WORLD_TEST(a_house_bot_leaves_a_slow_match_for_an_author),
		WORLD_TEST(it_stays_while_another_one_can_come),
		WORLD_TEST(an_ordinary_match_is_left_to_its_end),
		WORLD_TEST(nothing_slow_begins_while_an_author_waits),
		WORLD_TEST(one_that_plays_two_ladders_is_called_to_either),
		WORLD_TEST(who_said_any_plays_rated_and_unrated),
		WORLD_TEST(two_who_wish_nothing_special_meet),
		WORLD_TEST(nobody_is_lent_who_did_not_say_so),
		WORLD_TEST(an_opponent_that_goes_for_good_ends_it),
		WORLD_TEST(guests_come_where_the_host_has_them),
		WORLD_TEST(a_guest_is_called_so_in_the_match),
		WORLD_TEST(guests_are_bounded_by_address_and_in_all),
		WORLD_TEST(
			guests_who_try_seeds_spoil_them_for_their_address_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
