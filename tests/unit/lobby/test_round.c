/* SPDX-License-Identifier: MIT */
/* test_round.c - rated runs of solo games: who is given which round, when. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/lobby/script.h"
#include "tests/unit/unit.h"

/* NAME plays match ID, which it was offered, to its end. */
static void run(struct world *world, char name, int id)
{
	char text[100];

	(void)snprintf(text, sizeof(text),
		       "%c > @ready %d\n"
		       "%c > RA\n"
		       "%c <~ @end %d *\n",
		       name, id, name, name, id);
	world_play(world, text);
}

static void log_in(struct world *world, const char *names)
{
	static const char *const bots[] = { "crazy", "lazy", "slow", "fast" };

	for (; *names != '\0'; names++)
		world_login(world, *names, bots[*names - 'a']);
}

static void a_round_goes_to_each_owner_once(void **state)
{
	struct world *world = *state;

	/* fast has the owner of crazy. */
	world->bots[BOT_FAST].owner_id = world->bots[BOT_CRAZY].owner_id;
	world_catalogue(world);
	log_in(world, "abd");
	world_play(world, "a > @play mine\n"
			  "a <~ @match 1 *rated=1 round=1 *\n");
	run(world, 'a', 1);
	world_play(world, "a <~ @match 2 *rated=1 round=2 *\n"
			  "d > @play mine\n"
			  "d <~ @match 3 *round=3 *\n"
			  "b > @play mine\n"
			  "b <~ @match 4 *round=1 *\n");
	run(world, 'b', 4);
	world_play(world, "b <~ @match 5 *round=2 *\n");
}

static void a_full_round_is_closed_by_the_store_alone(void **state)
{
	struct world *world = *state;

	log_in(world, "abc");
	world_play(world, "a > @play mine\n"
			  "a <~ @match 1 *round=1 *\n"
			  "b > @play mine\n"
			  "b <~ @match 2 *round=1 *\n"
			  "c > @play mine\n"
			  "c <~ @match 3 *round=1 *\n");
	run(world, 'b', 2);
	world_play(world, "b <~ @match 4 *round=4 *\n");
	run(world, 'a', 1);
	run(world, 'c', 3);
	/* Nobody is left, and nothing closes a second time. */
	world_play(world, "a -\nb -\nc -\n* t 3600000\n");
	assert_null(strstr(buf_text(&world->log), "close round=1 "));
}

static void who_has_played_all_is_told_and_waits(void **state)
{
	struct world *world = *state;
	char text[100];

	log_in(world, "a");
	world_play(world, "a > @play mine\n");
	for (int id = 1; id <= 16; id++) {
		(void)snprintf(text, sizeof(text), "a <~ @match %d *\n", id);
		world_play(world, text);
		run(world, 'a', id);
	}
	world_play(world, "a <~ @error no-new-matches : *alone here*second "
			  "owner or a house bot*play unrated\n"
			  "a <~ @result 16 *\n"
			  "* t 60000\n"
			  "a <.\n");
	/* Another comes: they play what the first has played. */
	log_in(world, "b");
	world_play(world, "b > @play mine\n"
			  "b <~ @match 17 *round=1 *\n");
	run(world, 'b', 17);
	/* It has two runs: it makes room for a new one. */
	world_play(world, "* log close round=1 left= void=0\n"
			  "a <~ @match 19 *round=19 *\n");
}

static void a_round_closes_when_nobody_else_is_there(void **state)
{
	struct world *world = *state;

	log_in(world, "ab");
	world_play(world, "a > @play mine\n"
			  "b > @play mine\n"
			  "a <~ @match 1 *round=1 *\n"
			  "b <~ @match 2 *round=1 *\n");
	run(world, 'a', 1);
	run(world, 'b', 2);
	world_play(world, "* t 4000\n");
	assert_null(strstr(buf_text(&world->log), "close round=1 "));
	world_play(world, "* t 1100\n"
			  "* log close round=1 left= void=0\n");
}

static void a_round_waits_for_who_is_there_and_busy(void **state)
{
	struct world *world = *state;

	log_in(world, "abc");
	world_play(world, "c > @play rabbit-runner\n"
			  "c <~ @match 1 *\n"
			  "c > @play mine\n"
			  "a > @play mine\n"
			  "b > @play mine\n"
			  "a <~ @match 2 *round=2 *\n"
			  "b <~ @match 3 *round=2 *\n");
	run(world, 'a', 2);
	run(world, 'b', 3);
	world_play(world, "* t 7000\n");
	assert_null(strstr(buf_text(&world->log), "close round=2 "));
	world_play(world, "c -\n"
			  "* t 1100\n"
			  "* log close round=2 left= void=0\n");
}

/* c is on the ladder, unrated; a and b play a round. */
static void close_without_c(struct world *world)
{
	log_in(world, "abc");
	world_play(world, "c > @play mine\n"
			  "c <~ @match 1 *rated=0*\n"
			  "a > @play mine\n"
			  "a <~ @match 2 *round=2 *\n"
			  "b > @play mine\n"
			  "b <~ @match 3 *round=2 *\n");
	run(world, 'a', 2);
	run(world, 'b', 3);
	world_play(world, "* t 5100\n"
			  "* log close round=2 left= void=0\n");
}

static void a_round_does_not_wait_for_who_plays_unrated(void **state)
{
	struct world *world = *state;

	/* Too many new versions today. */
	world->versions[BOT_SLOW].rated_from_us =
		world->now_us + INT64_C(3600) * 1000000;
	world_catalogue(world);
	close_without_c(world);
}

static void a_round_does_not_wait_for_who_came_after_the_deadline(void **state)
{
	struct world *world = *state;

	world->ladders[LADDER_MINE].deadline_us = 1000;
	world->versions[BOT_SLOW].active_us = 2000;
	world_catalogue(world);
	close_without_c(world);
}

static void a_round_does_not_wait_for_who_has_to_pause(void **state)
{
	struct world *world = *state;

	world_login(world, 'd', "crazy");
	world_login(world, 'e', "crazy");
	world_login(world, 'f', "crazy");
	log_in(world, "bc");
	world_play(world, "d > @play mine\n"
			  "d <~ @match 1 *\n"
			  "e > @play mine\n"
			  "e <~ @match 2 *\n"
			  "* t 9000\n"
			  "f > @play rabbit-runner\n"
			  "f <~ @match 3 *\n"
			  "f > @play mine\n"
			  /* d and e do not take their offers. */
			  "* t 1100\n"
			  "d > @play mine\n"
			  "d <~ @error paused retry-after=10 *\n"
			  "b > @play mine\n"
			  "b <~ @match 4 *round=4 *\n"
			  "c > @play mine\n"
			  "c <~ @match 5 *round=4 *\n");
	run(world, 'b', 4);
	run(world, 'c', 5);
	world_play(world, "* t 5100\n"
			  "* log close round=4 left= void=0\n");
}

static void an_author_alone_is_rated_against_the_house(void **state)
{
	struct world *world = *state;

	world->bots[BOT_SLOW].is_house = true;
	world->bots[BOT_FAST].is_house = true;
	world->bots[BOT_FAST].owner_id = world->bots[BOT_SLOW].owner_id;
	/* They are known well: alone they do not play. */
	world->ratings[0] = (struct row_rating){ 4, 3, 25, 2, 50 };
	world->ratings[1] = (struct row_rating){ 4, 4, 25, 2, 50 };
	world->rows.ratings = world->ratings;
	world->rows.nratings = 2;
	world_catalogue(world);
	log_in(world, "cd");
	world_play(world, "c > @play mine\n"
			  "d > @play mine\n"
			  "* t 60000\n"
			  "c < @queued *\n"
			  "c <.\n");
	log_in(world, "a");
	world_play(world, "a > @play mine\n"
			  "a <~ @match 1 *round=1 *\n");
	run(world, 'a', 1);
	world_play(world, "a <~ @match 2 *round=2 *\n"
			  "* t 9900\n"
			  "c <.\n"
			  "* t 200\n"
			  "c <~ @match 3 *rated=1 round=1 *\n"
			  "d <~ @match 4 *rated=1 round=1 *\n");
	run(world, 'c', 3);
	run(world, 'd', 4);
}

static void few_house_bots_will_do(void **state)
{
	struct world *world = *state;

	world->bots[BOT_SLOW].is_house = true;
	world_catalogue(world);
	log_in(world, "ac");
	world_play(world, "a > @play mine\n"
			  "a <~ @match 1 *round=1 *\n");
	run(world, 'a', 1);
	world_play(world, "a <~ @match 2 *round=2 *\n"
			  "a > @leave\n"
			  "a > @resign 2\n"
			  "* t 11000\n"
			  "c > @play mine\n"
			  "c <~ @match 3 *round=1 *\n");
	run(world, 'c', 3);
	world_play(world, "* t 5100\n"
			  "* log close round=1 left= void=0\n");
}

static void an_offer_that_is_not_taken_was_never_made(void **state)
{
	struct world *world = *state;

	log_in(world, "a");
	world_play(world, "a > @play mine\n"
			  "a <~ @match 1 *round=1 *\n"
			  "* t 10001\n"
			  "a <~ @cancel 1 *queued=0\n"
			  "a > @play mine\n"
			  "a <~ @match 2 *round=2 *\n");
	run(world, 'a', 2);
}

/* The host gives the bot to another while its offer is open. */
static void an_offer_is_taken_back_from_whom_it_was_made_to(void **state)
{
	struct world *world = *state;

	log_in(world, "ab");
	world_play(world, "b > @play mine\n"
			  "b <~ @match 1 *round=1 *\n");
	run(world, 'b', 1);
	world_play(world, "b <~ @match 2 *round=2 *\n"
			  "b > @leave\n"
			  "b > @ready 2\n"
			  "b <~ @start 2\n"
			  "a > @play mine\n"
			  "a <~ @match 3 *round=1 *\n");
	world->bots[BOT_CRAZY].owner_id = 99;
	world_catalogue(world);
	world_play(world, "* t 10001\n"
			  "a <~ @cancel 3 *queued=0\n"
			  /* So it may be made again. */
			  "a > @play mine\n"
			  "a <~ @match 4 *round=1 *\n");
	/* It comes to an owner who was given the round himself. */
	world->bots[BOT_CRAZY].owner_id = world->bots[BOT_LAZY].owner_id;
	world_catalogue(world);
	world_play(world, "* t 10001\n"
			  "a <~ @cancel 4 *queued=0\n"
			  "* t 60000\n"
			  "a > @play mine\n"
			  "a <~ @match 5 *round=5 *\n");
	/* And to the house. */
	world->bots[BOT_CRAZY].is_house = true;
	world_catalogue(world);
	world_play(world, "* t 10001\n"
			  "a <~ @cancel 5 *queued=0\n"
			  "b > @resign 2\n"
			  "b <~ @end 2 *\n");
}

static void who_takes_no_offers_has_to_pause(void **state)
{
	struct world *world = *state;

	log_in(world, "a");
	world_play(world, "a > @play mine\n"
			  "a <~ @match 1 *\n"
			  "* t 10001\n"
			  "a <~ @cancel 1 *queued=0\n"
			  "a > @play mine\n"
			  "a <~ @match 2 *\n"
			  "* t 10001\n"
			  "a <~ @cancel 2 *queued=0\n"
			  "a > @play mine\n"
			  "a < @error paused retry-after=10 *\n"
			  "* t 10000\n"
			  "a > @play mine\n"
			  "a <~ @match 3 *\n"
			  "* t 10001\n"
			  "a <~ @cancel 3 *queued=0\n"
			  "a > @play mine\n"
			  "a < @error paused retry-after=20 *\n"
			  /* Elsewhere it may play. */
			  "a > @play rabbit-runner\n"
			  "a <~ @match 4 *\n");
}

static void a_round_closes_when_its_time_is_over(void **state)
{
	struct world *world = *state;

	log_in(world, "a");
	world_play(world, "a > @play mine\n"
			  "a <~ @match 1 *round=1 *\n");
	run(world, 'a', 1);
	world_play(world, "a -\n"
			  "* t 3599000\n");
	assert_null(strstr(buf_text(&world->log), "close round="));
	world_play(world, "* t 1100\n"
			  "* log close round=1 left= void=0\n");
}

static void a_closed_ladder_closes_its_rounds(void **state)
{
	struct world *world = *state;

	log_in(world, "ab");
	world_play(world, "a > @play mine\n"
			  "a <~ @match 1 *round=1 *\n"
			  "b > @play mine\n"
			  "b <~ @match 2 *round=1 *\n");
	run(world, 'a', 1);
	world_play(world, "a <~ @match 3 *\n"
			  "a > @leave\n");
	world->ladders[LADDER_MINE].is_disabled = true;
	world_catalogue(world);
	assert_null(strstr(buf_text(&world->log), "close round="));
	run(world, 'b', 2);
	world_play(world, "* log close round=1 left= void=0\n");
	run(world, 'a', 3);
	world_play(world, "* log close round=3 left= void=0\n");
}

static void what_is_lost_is_not_given_again(void **state)
{
	struct world *world = *state;

	log_in(world, "a");
	world->holds_store = true;
	world_play(world, "a > @play mine\n"
			  "a <~ @match 1 *round=1 *\n"
			  "a > @ready 1\n"
			  "a > RA\n");
	lobby_store_refused(world->lobby, 1, world->now_us);
	world_apply(world);
	world_play(world, "a <~ @match 2 *round=2 *\n"
			  "a <~ @void 1 *\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(a_round_goes_to_each_owner_once),
		WORLD_TEST(a_full_round_is_closed_by_the_store_alone),
		WORLD_TEST(who_has_played_all_is_told_and_waits),
		WORLD_TEST(a_round_closes_when_nobody_else_is_there),
		WORLD_TEST(a_round_waits_for_who_is_there_and_busy),
		WORLD_TEST(a_round_does_not_wait_for_who_plays_unrated),
		WORLD_TEST(
			a_round_does_not_wait_for_who_came_after_the_deadline),
		WORLD_TEST(a_round_does_not_wait_for_who_has_to_pause),
		WORLD_TEST(an_author_alone_is_rated_against_the_house),
		WORLD_TEST(few_house_bots_will_do),
		WORLD_TEST(an_offer_that_is_not_taken_was_never_made),
		WORLD_TEST(an_offer_is_taken_back_from_whom_it_was_made_to),
		WORLD_TEST(who_takes_no_offers_has_to_pause),
		WORLD_TEST(a_round_closes_when_its_time_is_over),
		WORLD_TEST(a_closed_ladder_closes_its_rounds),
		WORLD_TEST(what_is_lost_is_not_given_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
