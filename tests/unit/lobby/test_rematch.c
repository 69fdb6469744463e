/* SPDX-License-Identifier: MIT */
/* test_rematch.c - matches that the host has played once more. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "server/games/game.h"
#include "tests/unit/lobby/script.h"
#include "tests/unit/unit.h"

/* A stored match of two bots (the second -1: of one) on LADDER. */
static struct row_match stored(const struct world *world, unsigned ladder,
			       int first, int second)
{
	const struct row_ladder *row = &world->ladders[ladder];
	const int bots[] = { first, second };
	struct row_match match = { .id = 900,
				   .ladder_id = row->id,
				   .map_id = row->map_ids[0],
				   .seed = "77",
				   .bot_seed = "78",
				   .nseats = second < 0 ? 1 : 2 };

	(void)snprintf(match.ladder, sizeof(match.ladder), "%s", row->name);
	(void)snprintf(match.game, sizeof(match.game), "%s", row->game);
	(void)snprintf(match.params, sizeof(match.params), "%s", row->params);
	for (unsigned i = 0; i < match.nseats; i++) {
		const struct row_bot *bot = &world->bots[bots[i]];

		match.seats[i].bot_id = bot->id;
		(void)snprintf(match.seats[i].bot, sizeof(match.seats[i].bot),
			       "%s", bot->name);
	}
	return match;
}

static void ask(struct world *world, const struct row_match *match)
{
	struct game_error error;

	assert_int_equal(
		lobby_rematch(world->lobby, match, world->now_us, &error), 0);
	world_apply(world);
}

static void refuses(struct world *world, const struct row_match *match, int rc,
		    const char *text)
{
	struct game_error error;

	assert_int_equal(
		lobby_rematch(world->lobby, match, world->now_us, &error), rc);
	assert_string_equal(error.text, text);
	world_apply(world);
}

static void seats_and_seeds_are_those_of_the_match(void **state)
{
	struct world *world = *state;
	struct row_match match;

	world_login(world, 'a', "crazy");
	match = stored(world, LADDER_RABBIT, BOT_CRAZY, -1);
	world_play(world, "a > @play rabbit-runner\n"
			  "a > @ready 1\n"
			  "a <~ @args corridor.txt 3\n");
	ask(world, &match);
	world_play(world, "* log ladder=rabbit-runner event=rematch of=900\n"
			  "a > @resign 1\n"
			  "a <~ @match 2 *rated=0\n"
			  "a > @ready 2\n"
			  "a <~ @args corridor.txt 78\n"
			  "a > @resign 2\n"
			  /* Its own road goes on. */
			  "a <~ @match 3 *rated=0\n"
			  "a > @ready 3\n"
			  "a <~ @args corridor.txt 4\n");
}

static void each_bot_gets_its_old_seat(void **state)
{
	struct world *world = *state;
	struct row_match match;

	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	match = stored(world, LADDER_SPAR, BOT_LAZY, BOT_CRAZY);
	for (unsigned i = 0; i < 2; i++) {
		char text[400];

		(void)snprintf(text, sizeof(text),
			       "%s"
			       "a <~ @match %u *\n"
			       "b <~ @match %u *\n"
			       "a > @ready %u\n"
			       "b > @ready %u\n",
			       i == 0 ? "a > @play spar\nb > @play spar\n" : "",
			       2 * i + 1, 2 * i + 1, 2 * i + 1, 2 * i + 1);
		world_play(world, text);
		ask(world, &match);
		(void)snprintf(text, sizeof(text),
			       "a > @resign %u\n"
			       "b > @resign %u\n"
			       "a <~ @match %u ladder=spar "
			       "game=image-battle seat=2 *rated=0\n"
			       "b <~ @match %u ladder=spar "
			       "game=image-battle seat=1 *rated=0\n"
			       "a > @ready %u\n"
			       "b > @ready %u\n"
			       "a > @resign %u\n"
			       "b > @resign %u\n",
			       2 * i + 1, 2 * i + 1, 2 * i + 2, 2 * i + 2,
			       2 * i + 2, 2 * i + 2, 2 * i + 2, 2 * i + 2);
		world_play(world, text);
	}
}

static void absent_bots_are_named(void **state)
{
	struct world *world = *state;
	struct row_match match;

	match = stored(world, LADDER_BATTLE, BOT_LAZY, BOT_CRAZY);
	refuses(world, &match, -ENOENT, "not waiting on battle: lazy, crazy");
	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "a > @play battle\n"
			  "b > @play mine\n");
	refuses(world, &match, -ENOENT, "not waiting on battle: lazy");
	/* Twice the same bot: with two connections. */
	match = stored(world, LADDER_SPAR, BOT_CRAZY, BOT_CRAZY);
	world_play(world, "a > @play spar\n");
	refuses(world, &match, -ENOENT, "not waiting on spar: crazy");
	world_play(world, "a <~ @queued spar waiting=1\n"
			  "a <.\n");
}

static void who_sits_at_a_set_plays_it_first(void **state)
{
	struct world *world = *state;
	struct row_match match;

	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "a > @play battle\n"
			  "b > @play battle\n"
			  "a <~ @match 1 *set=1/2\n"
			  "a > @ready 1\n"
			  "b > @ready 1\n");
	match = stored(world, LADDER_BATTLE, BOT_LAZY, BOT_CRAZY);
	ask(world, &match);
	world_play(world, "a > @resign 1\n"
			  "b > @resign 1\n"
			  "a <~ @match 2 *set=2/2\n"
			  "a > @ready 2\n"
			  "b > @ready 2\n"
			  "a > @resign 2\n"
			  "b > @resign 2\n"
			  "a <~ @match 3 *rated=0\n"
			  "b <~ @match 3 *rated=0\n");
}

static void its_bots_wait_for_each_other(void **state)
{
	struct world *world = *state;
	struct row_match match =
		stored(world, LADDER_BATTLE, BOT_LAZY, BOT_CRAZY);

	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_login(world, 'c', "slow");
	world_play(world, "b > @play mine\n"
			  "b <~ @match 1 *\n"
			  "b > @play battle\n"
			  "b > @ready 1\n"
			  "a > @play battle\n");
	ask(world, &match);
	world_play(world, "c > @play battle\n"
			  "c < @queued battle waiting=2\n"
			  "c <.\n"
			  "b > @leave mine\n"
			  "b > @resign 1\n"
			  "b <~ @match 2 *seat=1 *\n"
			  "a <~ @match 2 *seat=2 *\n"
			  "c <.\n");
}

static void it_is_dropped_when_a_bot_leaves(void **state)
{
	struct world *world = *state;
	struct row_match match =
		stored(world, LADDER_BATTLE, BOT_LAZY, BOT_CRAZY);

	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_login(world, 'c', "slow");
	world_play(world, "b > @play mine\n"
			  "b > @play battle\n"
			  "b > @ready 1\n"
			  "a > @play battle\n");
	ask(world, &match);
	world_play(world, "c > @play battle\n"
			  "c < @queued battle waiting=2\n"
			  "c <.\n"
			  "b -\n"
			  "* log ladder=battle event=rematch-dropped of=900 *\n"
			  /* Who waited for it is free for others. */
			  "c < @match 2 *rated=1 round=2 set=1/2\n"
			  "a <~ @match 2 *\n");
}

static void an_offer_that_fails_is_not_repeated(void **state)
{
	struct world *world = *state;
	struct row_match match = stored(world, LADDER_RABBIT, BOT_CRAZY, -1);

	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a > @ready 1\n");
	ask(world, &match);
	world_play(world, "a > @resign 1\n"
			  "a <~ @match 2 *rated=0\n"
			  "* t 11000\n"
			  "a <~ @cancel 2 *\n"
			  "a > @play rabbit-runner\n"
			  "a <~ @match 3 *rated=0\n"
			  "a > @ready 3\n"
			  "a <~ @args corridor.txt 4\n");
}

static void what_cannot_be_is_refused(void **state)
{
	struct world *world = *state;
	struct row_match match =
		stored(world, LADDER_BATTLE, BOT_LAZY, BOT_CRAZY);
	struct row_match other;

	match.nseats = 1;
	other = stored(world, LADDER_MINE, BOT_LAZY, BOT_CRAZY);
	refuses(world, &other, -EINVAL, "lambda-mining is not for 2 seats");
	other = stored(world, LADDER_OFF, BOT_LAZY, -1);
	refuses(world, &other, -EINVAL, "nothing is played on off any more");
	other = stored(world, LADDER_MINE, BOT_LAZY, -1);
	other.seats[0].bot_id = 99;
	refuses(world, &other, -EINVAL, "there is no bot lazy any more");
	world->ladders[LADDER_RABBIT].is_rated = false;
	world_catalogue(world);
	other = stored(world, LADDER_RABBIT, BOT_LAZY, -1);
	refuses(world, &other, -EINVAL,
		"rabbit-runner is unrated and its bots walk its seeds in "
		"order: a match more would be a step");
	lobby_drain(world->lobby, world->now_us, world->now_us);
	refuses(world, &match, -EINVAL, "the server shuts down");
}

static void a_ladder_that_vanishes_takes_its_rematches_along(void **state)
{
	struct world *world = *state;
	struct row_match match =
		stored(world, LADDER_BATTLE, BOT_LAZY, BOT_CRAZY);

	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "b > @play mine\n"
			  "b > @play battle\n"
			  "b > @ready 1\n"
			  "a > @play battle\n");
	ask(world, &match);
	world->ladders[LADDER_BATTLE] = world->ladders[LADDER_OFF];
	world->rows.nladders--;
	world_catalogue(world);
	world_play(world, "* log ladder=battle event=rematch-dropped of=900 *\n"
			  "b > @resign 1\n"
			  "a > @play battle\n"
			  "a <~ @error unknown-ladder *\n");
}

static void a_lobby_may_end_with_rematches_left(void **state)
{
	struct world *world = *state;
	struct row_match match = stored(world, LADDER_RABBIT, BOT_CRAZY, -1);

	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a > @ready 1\n");
	for (unsigned i = 0; i < LIMIT_APPOINTMENTS; i++)
		ask(world, &match);
	refuses(world, &match, -EINVAL, "1024 matches wait already");
}

/* Some entrant may have to play the instance yet. */
static void no_seed_of_a_running_tournament_is_shown(void **state)
{
	static int64_t map_ids[1];
	static struct row_entrant entrants[2];
	struct world *world = *state;
	const struct row_ladder *ladder = &world->ladders[LADDER_RABBIT];
	struct row_tournament tournament = { .id = 7,
					     .ladder_id = ladder->id,
					     .name = "cup",
					     .state = ROW_TOURNAMENT_RUNNING,
					     .seed_first = 70,
					     .seed_last = 77,
					     .nmaps = 1,
					     .map_ids = map_ids };
	struct row_match match = stored(world, LADDER_RABBIT, BOT_CRAZY, -1);

	tournament.rules.format = TOURNAMENT_CONTEST;
	tournament.rules.seats = tournament.rules.group = 1;
	tournament.rules.sets = tournament.rules.rounds = 1;
	map_ids[0] = ladder->map_ids[0];
	for (unsigned i = 0; i < 2; i++) {
		entrants[i].bot_id = world->bots[i].id;
		entrants[i].version_id = world->bots[i].version_id;
		memcpy(entrants[i].bot, world->bots[i].name,
		       sizeof(entrants[i].bot));
	}
	tournament.entrants = entrants;
	tournament.nentrants = 2;
	world->rows.tournaments = &tournament;
	world->rows.ntournaments = 1;
	world_catalogue(world);
	refuses(world, &match, -EINVAL,
		"a tournament that runs plays its seed");
	(void)snprintf(match.seed, sizeof(match.seed), "78");
	refuses(world, &match, -ENOENT, "not waiting on rabbit-runner: crazy");
	world->rows.tournaments = NULL;
	world->rows.ntournaments = 0;
	world_catalogue(world);
	(void)snprintf(match.seed, sizeof(match.seed), "77");
	refuses(world, &match, -ENOENT, "not waiting on rabbit-runner: crazy");
}

/* Its seeds may be random: then the store alone knows its instances. */
static void no_instance_of_a_tournament_is_shown(void **state)
{
	struct world *world = *state;
	struct row_match match = stored(world, LADDER_RABBIT, BOT_CRAZY, -1);

	match.is_contested = true;
	refuses(world, &match, -EINVAL, "a tournament plays its instance");
	match.is_embargo = true;
	refuses(world, &match, -EINVAL, "it is under embargo");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(seats_and_seeds_are_those_of_the_match),
		WORLD_TEST(each_bot_gets_its_old_seat),
		WORLD_TEST(absent_bots_are_named),
		WORLD_TEST(who_sits_at_a_set_plays_it_first),
		WORLD_TEST(its_bots_wait_for_each_other),
		WORLD_TEST(it_is_dropped_when_a_bot_leaves),
		WORLD_TEST(an_offer_that_fails_is_not_repeated),
		WORLD_TEST(what_cannot_be_is_refused),
		WORLD_TEST(no_seed_of_a_running_tournament_is_shown),
		WORLD_TEST(no_instance_of_a_tournament_is_shown),
		WORLD_TEST(a_ladder_that_vanishes_takes_its_rematches_along),
		WORLD_TEST(a_lobby_may_end_with_rematches_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
