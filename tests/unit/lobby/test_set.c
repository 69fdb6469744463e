/* SPDX-License-Identifier: MIT */
/* test_set.c - rated sets of shared games: begun, left, cut off. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "server/lobby/lobby_internal.h"
#include "server/match/match_internal.h"
#include "tests/unit/lobby/script.h"
#include "tests/unit/unit.h"

/* crazy and lazy sit down on `battle`: peers a and b are offered match 1. */
static void sit_down(struct world *world)
{
	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "a > @play battle\n"
			  "b > @play battle\n"
			  "a <~ @match 1 *rated=1 round=1 set=1/2\n"
			  "b <~ @match 1 *rated=1 round=1 set=1/2\n");
}

/* Peers a and b play match ID to its end; a gives up. */
static void play(struct world *world, int id)
{
	char text[200];

	(void)snprintf(text, sizeof(text),
		       "a > @ready %d\n"
		       "b > @ready %d\n"
		       "a > @resign %d\n"
		       "b > @resign %d\n"
		       "a <~ @end %d *\n"
		       "b <~ @end %d *\n",
		       id, id, id, id, id, id);
	world_play(world, text);
}

static bool has_logged(struct world *world, const char *text)
{
	return strstr(buf_text(&world->log), text) != NULL;
}

/* The seat that the newest @match line of NAME says. */
static int seat_of(struct world *world, char name)
{
	const char *text = buf_text(&world_peer(world, name)->inbox);
	const char *at = strstr(text, " seat=");

	assert_non_null(at);
	return at[6] - '0';
}

static void the_seats_of_a_set_rotate(void **state)
{
	struct world *world = *state;
	int first;

	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "a > @play battle\n"
			  "b > @play battle\n"
			  "a < @queued *\n");
	first = seat_of(world, 'a');
	assert_int_equal(seat_of(world, 'b'), 3 - first);
	play(world, 1);
	assert_int_equal(seat_of(world, 'a'), 3 - first);
	assert_int_equal(seat_of(world, 'b'), first);
	world_play(world, "a <~ @match 2 *rated=1 round=1 set=2/2\n");
	play(world, 2);
	/* The store has closed it: the next is another. */
	assert_false(has_logged(world, "close round="));
	world_play(world, "* t 10000\n"
			  "a <~ @match 3 *round=3 set=1/2\n");
}

static void nobody_comes_in_between(void **state)
{
	struct world *world = *state;

	sit_down(world);
	world_login(world, 'c', "slow");
	world_play(world, "c > @play battle\n"
			  "a > @play mine\n"
			  "b > @play spar\n"
			  "c > @play spar\n");
	play(world, 1);
	world_play(world, "a <~ @match 2 *set=2/2\n"
			  "b <~ @match 2 *set=2/2\n"
			  "c <~ @queued spar *\n"
			  "c <.\n");
}

static void who_leaves_loses_the_rest(void **state)
{
	struct world *world = *state;

	sit_down(world);
	world_play(world, "b > @ready 1\n"
			  "a > @ready 1\n"
			  "a > @leave battle\n"
			  "a <~ @left battle\n");
	assert_false(has_logged(world, "close round="));
	world_play(world, "a > @resign 1\n"
			  "b > @resign 1\n");
	assert_true(has_logged(world, "bot=crazy event=forfeited pause=10\n"));
	world_play(world, "* log close round=1 left=1 void=0\n"
			  "a > @play battle\n"
			  "a <~ @error paused retry-after=10 *\n");
}

static void who_leaves_in_the_last_match_loses_nothing(void **state)
{
	struct world *world = *state;

	sit_down(world);
	play(world, 1);
	world_play(world, "a <~ @match 2 *set=2/2\n"
			  "b <~ @match 2 *set=2/2\n"
			  "a > @leave\n"
			  "a <~ @left\n");
	play(world, 2);
	assert_false(has_logged(world, "forfeited"));
	assert_false(has_logged(world, "close round="));
}

static void who_is_not_ready_again_loses_the_rest(void **state)
{
	struct world *world = *state;

	sit_down(world);
	play(world, 1);
	world_play(world, "a <~ @match 2 *set=2/2\n"
			  "b <~ @match 2 *set=2/2\n"
			  "a > @ready 2\n"
			  "* t 10001\n"
			  "a <~ @cancel 2 *queued=1\n"
			  "b <~ @cancel 2 *queued=0\n");
	assert_true(has_logged(world, "bot=lazy event=forfeited pause=10\n"));
	world_play(world, "* log close round=1 left=2 void=0\n");
}

static void a_lost_link_may_come_back(void **state)
{
	struct world *world = *state;

	sit_down(world);
	world_play(world, "a > @ready 1\n"
			  "b > @ready 1\n"
			  "a -\n"
			  "b > @resign 1\n"
			  "b <~ @result 1 *\n"
			  "b <.\n"
			  "* t 14000\n");
	assert_false(has_logged(world, "close round="));
	world_login(world, 'c', "crazy");
	world_play(world, "c > @play battle\n"
			  "c <~ @match 2 *round=1 set=2/2\n"
			  "b <~ @match 2 *round=1 set=2/2\n");
}

static void an_offer_that_is_lost_with_its_link_is_made_again(void **state)
{
	struct world *world = *state;

	sit_down(world);
	play(world, 1);
	world_play(world, "a <~ @match 2 *set=2/2\n"
			  "b <~ @match 2 *set=2/2\n"
			  "a > @ready 2\n"
			  "b -\n"
			  "a <~ @cancel 2 reason=lost queued=1*\n"
			  "* t 2000\n");
	assert_false(has_logged(world, "forfeited"));
	world_login(world, 'c', "lazy");
	world_play(world, "c > @play battle\n"
			  "a <~ @match 3 *round=1 set=2/2\n"
			  "c <~ @match 3 *round=1 set=2/2\n"
			  "c -\n"
			  "a <~ @cancel 3 reason=lost queued=1*\n"
			  "* t 2000\n");
	assert_false(has_logged(world, "forfeited"));
	/* Not for ever: somebody else waits for it each time. */
	world_login(world, 'd', "lazy");
	world_play(world, "d > @play battle\n"
			  "d <~ @match 4 *round=1 set=2/2\n"
			  "d -\n"
			  "a <~ @cancel 4 reason=lost queued=1*\n");
	assert_true(has_logged(world, "bot=lazy event=forfeited pause=10\n"));
	world_play(world, "* log close round=1 left=2 void=0\n");
}

static void an_offer_that_is_lost_is_waited_for_so_long(void **state)
{
	struct world *world = *state;

	sit_down(world);
	play(world, 1);
	world_play(world, "b <~ @match 2 *set=2/2\n"
			  "b -\n"
			  "* t 14900\n");
	assert_false(has_logged(world, "forfeited"));
	world_play(world, "* t 200\n");
	assert_true(has_logged(world, "bot=lazy event=forfeited pause=10\n"));
	world_play(world, "* log close round=1 left=2 void=0\n");
}

/* The set's first match ends by this; then the second one's link goes too. */
static void lose_one_after_the_other(struct world *world)
{
	sit_down(world);
	world_play(world, "a > @ready 1\n"
			  "b > @ready 1\n"
			  "a -\n"
			  "b > @resign 1\n"
			  "* t 13500\n"
			  "b -\n");
}

static void each_lost_link_has_its_own_time_to_come_back(void **state)
{
	struct world *world = *state;

	lose_one_after_the_other(world);
	world_play(world, "* t 500\n");
	world_login(world, 'c', "crazy");
	world_play(world, "c > @play battle\n"
			  "* t 2500\n");
	assert_false(has_logged(world, "close round="));
	world_login(world, 'd', "lazy");
	world_play(world, "d > @play battle\n"
			  "c <~ @match 2 *round=1 set=2/2\n"
			  "d <~ @match 2 *round=1 set=2/2\n");
}

/* Who comes back does not wait for ever for who has not. */
static void who_is_missed_later_lengthens_no_other_wait(void **state)
{
	struct world *world = *state;

	lose_one_after_the_other(world);
	world_play(world, "* t 2500\n");
	assert_false(has_logged(world, "close round="));
	world_login(world, 'd', "lazy");
	world_play(world, "d > @play battle\n");
	assert_true(has_logged(world, "bot=crazy event=forfeited pause=10\n"));
	assert_false(has_logged(world, "bot=lazy event=forfeited"));
	world_play(world, "* log close round=1 left=1 void=0\n");
}

static void who_waits_for_a_token_at_a_set_is_there(void **state)
{
	struct world *world = *state;

	sit_down(world);
	world->holds_asks = true;
	world_play(world, "a > @ready 1\n"
			  "b > @ready 1\n"
			  "a > @resign 1\n"
			  "a <~ @end 1 *\n"
			  "a > @rotate\n"
			  "b > @resign 1\n"
			  "b <~ @result 1 *\n"
			  "* t 20000\n"
			  "b <.\n");
	assert_false(has_logged(world, "close round="));
	world_answer(world);
	world_play(world, "a <~ @token hill_next\n"
			  "a <~ @match 2 *round=1 set=2/2\n"
			  "b <~ @match 2 *round=1 set=2/2\n");
}

static void a_link_that_stays_away_forfeits(void **state)
{
	struct world *world = *state;

	sit_down(world);
	world_play(world, "a > @ready 1\n"
			  "b > @ready 1\n"
			  "a -\n"
			  "b > @resign 1\n"
			  "* t 15100\n");
	assert_true(has_logged(world, "bot=crazy event=forfeited pause=10\n"));
	world_play(world, "* log close round=1 left=1 void=0\n");
	/* Who stayed is free again. */
	world_login(world, 'c', "slow");
	world_play(world, "c > @play battle\n"
			  "* t 10000\n"
			  "c <~ @match 2 *round=2 set=1/2\n");
}

static void bc51_when_nobody_starts_nobody_wins(void **state)
{
	struct world *world = *state;

	sit_down(world);
	world_play(world, "* t 10001\n"
			  "a <~ @cancel 1 *queued=0\n"
			  "b <~ @cancel 1 *queued=0\n"
			  "* log *bot=crazy event=withdrawn pause=0\n");
	assert_int_equal(world->stored, 0);
	assert_false(has_logged(world, "close round="));
	/* Both again: both have to pause, alike. */
	world_play(world, "b > @play battle\n"
			  "a > @play battle\n"
			  "a <~ @match 2 *round=2 set=1/2\n"
			  "* t 10001\n"
			  "a > @play battle\n"
			  "a <~ @error paused retry-after=10 *\n"
			  "b > @play battle\n"
			  "b <~ @error paused retry-after=10 *\n");
	assert_int_equal(world->stored, 0);
}

static int no_memory(struct game_state **ret, const struct game_map *map,
		     const struct game_setup *setup, struct game_error *error)
{
	(void)ret;
	(void)map;
	(void)setup;
	game_error_set(error, "no memory");
	return -ENOMEM;
}

static void an_engine_that_cannot_be_made_is_nobodys_fault(void **state)
{
	struct world *world = *state;
	struct match *match;
	struct game broken;

	sit_down(world);
	match = TAILQ_FIRST(&world->lobby->plays)->match;
	broken = *match->game;
	broken.create = no_memory;
	match->game = &broken;
	world_play(world, "a > @ready 1\n"
			  "b > @ready 1\n"
			  "a <~ @cancel 1 reason=failed queued=0\n"
			  "b <~ @cancel 1 reason=failed queued=0\n");
	assert_false(has_logged(world, "withdrawn"));
	assert_false(has_logged(world, "forfeited"));
}

static void bc64_bots_of_one_owner_never_meet_in_a_set(void **state)
{
	struct world *world = *state;

	world->bots[BOT_LAZY].owner_id = world->bots[BOT_CRAZY].owner_id;
	world->bots[BOT_SLOW].owner_id = world->bots[BOT_CRAZY].owner_id;
	world_catalogue(world);
	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_login(world, 'c', "slow");
	world_play(world, "a > @play battle\n"
			  "b > @play battle\n"
			  "c > @play battle\n"
			  "* t 600000\n"
			  "a < @queued *\na <.\n"
			  "b < @queued *\nb <.\n"
			  "c < @queued *\nc <.\n");
	/* Unrated they may. */
	world_play(world, "a > @play spar\n"
			  "b > @play spar\n"
			  "a <~ @match 1 *rated=0\n");
}

static void a_void_match_makes_the_set_void(void **state)
{
	struct world *world = *state;

	sit_down(world);
	world->holds_store = true;
	world_play(world, "a > @ready 1\n"
			  "b > @ready 1\n"
			  "a > @resign 1\n"
			  "b > @resign 1\n"
			  "a <~ @match 2 *\n"
			  "b <~ @match 2 *\n");
	/* The first is lost while the second is offered. */
	lobby_store_refused(world->lobby, 1, world->now_us);
	world_apply(world);
	world->holds_store = false;
	world_play(world, "a > @ready 2\n"
			  "b > @ready 2\n"
			  "a > @resign 2\n"
			  "b > @resign 2\n"
			  "a <~ @result 2 *\n"
			  "* log close round=1 left= void=1\n");
	assert_false(has_logged(world, "forfeited"));
}

static void a_shutdown_charges_nobody(void **state)
{
	struct world *world = *state;

	sit_down(world);
	world_play(world, "a > @ready 1\n"
			  "b > @ready 1\n");
	lobby_drain(world->lobby, world->now_us + 60000000, world->now_us);
	world_apply(world);
	world_play(world, "a > @resign 1\n"
			  "b > @resign 1\n"
			  "* t 20000\n");
	assert_true(world->is_drained);
	assert_false(has_logged(world, "close round="));
	assert_false(has_logged(world, "forfeited"));
}

static void a_house_bot_sits_down_when_nobody_else_comes(void **state)
{
	struct world *world = *state;

	world->bots[BOT_LAZY].is_house = true;
	world->ratings[0] = (struct row_rating){ 2, 2, 25, 2, 50 };
	world->rows.ratings = world->ratings;
	world->rows.nratings = 1;
	world_catalogue(world);
	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "b > @play battle\n"
			  "* t 60000\n"
			  "a > @play battle\n"
			  "a < @queued *\n"
			  "* t 9900\n"
			  "a <.\n"
			  "* t 200\n"
			  "a <~ @match 1 *rated=1 round=1 set=1/2\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(the_seats_of_a_set_rotate),
		WORLD_TEST(nobody_comes_in_between),
		WORLD_TEST(who_leaves_loses_the_rest),
		WORLD_TEST(who_leaves_in_the_last_match_loses_nothing),
		WORLD_TEST(who_is_not_ready_again_loses_the_rest),
		WORLD_TEST(a_lost_link_may_come_back),
		WORLD_TEST(an_offer_that_is_lost_with_its_link_is_made_again),
		WORLD_TEST(an_offer_that_is_lost_is_waited_for_so_long),
		WORLD_TEST(each_lost_link_has_its_own_time_to_come_back),
		WORLD_TEST(who_is_missed_later_lengthens_no_other_wait),
		WORLD_TEST(who_waits_for_a_token_at_a_set_is_there),
		WORLD_TEST(a_link_that_stays_away_forfeits),
		WORLD_TEST(bc51_when_nobody_starts_nobody_wins),
		WORLD_TEST(an_engine_that_cannot_be_made_is_nobodys_fault),
		WORLD_TEST(bc64_bots_of_one_owner_never_meet_in_a_set),
		WORLD_TEST(a_void_match_makes_the_set_void),
		WORLD_TEST(a_shutdown_charges_nobody),
		WORLD_TEST(a_house_bot_sits_down_when_nobody_else_comes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
