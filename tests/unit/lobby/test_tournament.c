/* SPDX-License-Identifier: MIT */
/* test_tournament.c - the lobby plays the host's tournaments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/match/record.h"
#include "tests/unit/lobby/script.h"
#include "tests/unit/unit.h"

enum { GRACE_S = 5 };

/* Of the bots' rows in that order, on the ladder AT: seeds 100, 101, ... */
static struct row_tournament *plan_on(struct world *world, unsigned at,
				      const int *bots, size_t count,
				      enum tournament_format format)
{
	const struct row_ladder *ladder = &world->ladders[at];
	struct row_tournament *t = xcalloc(1, sizeof(*t));

	t->id = 7;
	t->ladder_id = ladder->id;
	(void)snprintf(t->name, sizeof(t->name), "cup");
	(void)snprintf(t->ladder, sizeof(t->ladder), "%s", ladder->name);
	t->state = ROW_TOURNAMENT_RUNNING;
	t->rules.format = format;
	t->rules.seats = ladder->seats;
	t->rules.group = format == TOURNAMENT_CONTEST ? 1 : 2;
	t->rules.sets = 1;
	t->rules.rounds = format == TOURNAMENT_CONTEST ? 2 : 0;
	t->seed_first = 100;
	t->seed_last = 199;
	t->grace_s = GRACE_S;
	t->nmaps = 1;
	t->map_ids = xcalloc(1, sizeof(*t->map_ids));
	t->map_ids[0] = ladder->map_ids[0];
	t->entrants = xcalloc(count, sizeof(*t->entrants));
	t->nentrants = count;
	for (size_t i = 0; i < count; i++) {
		const struct row_bot *bot = &world->bots[bots[i]];

		t->entrants[i].bot_id = bot->id;
		t->entrants[i].version_id = bot->version_id;
		memcpy(t->entrants[i].bot, bot->name, sizeof(bot->name));
		memcpy(t->entrants[i].label, "1", 2);
	}
	world->rows.tournaments = t;
	world->rows.ntournaments = 1;
	return t;
}

/* On the rabbit ladder. */
static struct row_tournament *plan(struct world *world, const int *bots,
				   size_t count, enum tournament_format format)
{
	return plan_on(world, LADDER_RABBIT, bots, count, format);
}

static void discard(struct world *world)
{
	free(world->rows.tournaments->map_ids);
	free(world->rows.tournaments->entrants);
	free(world->rows.tournaments->matches);
	free(world->rows.tournaments);
	world->rows.tournaments = NULL;
	world->rows.ntournaments = 0;
}

/* The meetings of the records that wait, taken as if they were stored. */
static unsigned take(struct world *world, struct match_meeting *ret)
{
	unsigned count = 0;

	for (size_t i = 0; i < world->nrecords; i++)
		ret[count++] = world->records[i]->meeting;
	world_store(world);
	return count;
}

static void contest_plays_each_instance_once_and_ends(void **state)
{
	static const int bots[] = { BOT_CRAZY, BOT_LAZY };
	struct world *world = *state;
	struct match_meeting meetings[8];

	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	plan(world, bots, 2, TOURNAMENT_CONTEST);
	world_catalogue(world);
	world->holds_store = true;
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *rated=0\n"
			  "b > @play rabbit-runner\n"
			  "b <~ @match 2 *rated=0\n"
			  "a > @ready 1\n"
			  "a <~ @args corridor.txt *\n"
			  "a > @resign 1\n");
	assert_int_equal(take(world, meetings), 1);
	assert_int_equal(meetings[0].tournament, 7);
	assert_int_equal(meetings[0].pairing, 0);
	assert_int_equal(meetings[0].entrants[0], 0);
	world_play(world, "a <~ @match 3 *rated=0\n"
			  "a > @ready 3\n"
			  "a > @resign 3\n"
			  "b > @ready 2\n"
			  "b > @resign 2\n");
	assert_int_equal(take(world, meetings), 2);
	assert_int_equal(meetings[0].pairing, 2);
	assert_int_equal(meetings[1].pairing, 1);
	/* Who has nothing left to play there plays on the ladder. */
	world_play(world, "a <~ @match 4 *rated=0\n"
			  "b <~ @match 5 *rated=0\n"
			  "b > @ready 5\n"
			  "b > @resign 5\n");
	assert_int_equal(take(world, meetings), 1);
	/* What stands in the store now is its end; then the ladder goes on. */
	world_play(world, "* log tournament=cup event=finished matches=4\n");
	assert_int_equal(take(world, meetings), 1);
	assert_true(meetings[0].is_end);
	discard(world);
	world_catalogue(world);
}

static void absent_are_waited_for_once_and_lose(void **state)
{
	static const int bots[] = { BOT_CRAZY, BOT_LAZY };
	struct world *world = *state;
	struct match_meeting meetings[8];

	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *rated=0\n");
	plan(world, bots, 2, TOURNAMENT_CONTEST);
	world_catalogue(world);
	world_play(world, "a > @ready 1\n"
			  "a > @resign 1\n"
			  "a <~ @match 2 *rated=0\n"
			  "* t 6000\n"
			  "a > @ready 2\n"
			  "a > @resign 2\n"
			  "a <~ @match 3 *rated=0\n"
			  "a > @ready 3\n");
	/* Nobody was waited for while crazy had matches to play. */
	assert_null(strstr(buf_text(&world->log), "absent"));
	world->holds_store = true;
	world_play(world, "a > @resign 3\n");
	assert_int_equal(take(world, meetings), 1);
	assert_int_equal(meetings[0].absent, 0);
	world_play(world, "* log tournament=cup bot=lazy event=absent *\n"
			  "* t 4900\n");
	assert_int_equal(take(world, meetings), 0);
	world_play(world, "* t 200\n"
			  "* log tournament=cup event=finished matches=4\n");
	assert_int_equal(take(world, meetings), 3);
	assert_int_equal(meetings[0].absent, 1);
	assert_int_equal(meetings[0].entrants[0], 1);
	assert_int_equal(meetings[1].absent, 1);
	assert_true(meetings[2].is_end);
	discard(world);
	world_catalogue(world);
}

static void who_comes_within_the_grace_plays(void **state)
{
	static const int bots[] = { BOT_CRAZY, BOT_LAZY };
	struct world *world = *state;

	plan(world, bots, 2, TOURNAMENT_ROUND_ROBIN);
	world_catalogue(world);
	world_play(world, "* t 3000\n");
	world_login(world, 'b', "lazy");
	world_play(world, "b > @play rabbit-runner\n"
			  "b <~ @match 1 *rated=0\n"
			  "b > @ready 1\n"
			  "* t 60000\n");
	discard(world);
	world_catalogue(world);
}

static void who_is_missed_later_is_waited_for_as_long(void **state)
{
	static const int bots[] = { BOT_CRAZY, BOT_LAZY };
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *rated=0\n");
	plan(world, bots, 2, TOURNAMENT_ROUND_ROBIN);
	world_catalogue(world);
	/* It is there, but busy, for longer than the grace. */
	world->holds_store = true;
	world_play(world, "* t 6000\n"
			  "a -\n"
			  "* log tournament=cup bot=crazy event=absent *\n"
			  "* t 4900\n");
	assert_int_equal(world->nrecords, 0);
	world_login(world, 'c', "crazy");
	world_play(world, "c > @play rabbit-runner\n"
			  "c <~ @match 2 *rated=0\n");
	world->holds_store = false;
	discard(world);
	world_catalogue(world);
}

static void who_waits_for_the_absent_holds_no_other_ladder(void **state)
{
	static const int bots[] = { BOT_LAZY, BOT_SLOW };
	struct world *world = *state;

	world->ladders[LADDER_BATTLE].turn_ms = 100;
	plan_on(world, LADDER_BATTLE, bots, 2, TOURNAMENT_ROUND_ROBIN);
	world_catalogue(world);
	world_play(world, "* log tournament=cup bot=lazy event=absent *\n");
	/* Too late for turns of 100 ms, not for those of 500 ms. */
	lobby_loop_lag(world->lobby, 12000, world->now_us);
	world_apply(world);
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a < @queued *\n"
			  "a < @match 1 *rated=0\n");
	discard(world);
	world_catalogue(world);
}

static void results_on_disk_are_not_played_again(void **state)
{
	static const int bots[] = { BOT_CRAZY, BOT_LAZY };
	struct world *world = *state;
	struct row_tournament *t;
	struct match_meeting meetings[8];

	world_login(world, 'a', "crazy");
	t = plan(world, bots, 2, TOURNAMENT_ROUND_ROBIN);
	t->matches = xcalloc(1, sizeof(*t->matches));
	t->nmatches = 1;
	t->matches[0].match_id = 900;
	t->matches[0].nseats = 1;
	t->matches[0].entrants[0] = 0;
	t->matches[0].result.ranks[0] = 1;
	world_catalogue(world);
	world->holds_store = true;
	/* Only lazy's run is left: crazy plays on its ladder. */
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *rated=0\n"
			  "* t 5100\n"
			  "* log tournament=cup event=finished matches=2\n");
	assert_int_equal(take(world, meetings), 2);
	assert_int_equal(meetings[0].number, 1);
	assert_int_equal(meetings[0].absent, 1);
	discard(world);
	world_catalogue(world);
}

static void a_match_made_void_is_played_again(void **state)
{
	static const int bots[] = { BOT_CRAZY, BOT_LAZY };
	struct world *world = *state;
	struct match_meeting meetings[8];
	struct row_tournament *t;
	int64_t id = 1;

	world_login(world, 'a', "crazy");
	t = plan(world, bots, 2, TOURNAMENT_CONTEST);
	world_catalogue(world);
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *rated=0\n"
			  "a > @ready 1\n"
			  "a > @resign 1\n"
			  "a <~ @match 2 *rated=0\n"
			  "a > @ready 2\n"
			  "a > @resign 2\n"
			  "a <~ @match 3 *rated=0\n");
	t->voids = &id;
	t->nvoids = 1;
	world_catalogue(world);
	world->holds_store = true;
	world_play(world, "a > @ready 3\n"
			  "a > @resign 3\n"
			  "a <~ @match 4 *rated=0\n"
			  "a > @ready 4\n"
			  "a > @resign 4\n");
	assert_int_equal(take(world, meetings), 2);
	assert_int_equal(meetings[1].tournament, 7);
	assert_int_equal(meetings[1].pairing, 0);
	discard(world);
	world_catalogue(world);
}

static void withdrawn_and_vanished_entrants_forfeit_at_once(void **state)
{
	static const int bots[] = { BOT_CRAZY, BOT_LAZY, BOT_GONE };
	struct world *world = *state;
	struct match_meeting meetings[8];
	struct row_tournament *t;
	unsigned count;

	t = plan(world, bots, 3, TOURNAMENT_CONTEST);
	t->entrants[1].out_round = 1;
	world->holds_store = true;
	world_catalogue(world);
	count = take(world, meetings);
	assert_int_equal(count, 4);
	for (unsigned i = 0; i < count; i++)
		assert_true(meetings[i].absent == 1 &&
			    meetings[i].entrants[0] > 0);
	discard(world);
	world_catalogue(world);
}

static void cancelled_tournament_makes_no_more_matches(void **state)
{
	static const int bots[] = { BOT_CRAZY, BOT_LAZY };
	struct world *world = *state;
	struct match_meeting meetings[8];

	world_login(world, 'a', "crazy");
	plan(world, bots, 2, TOURNAMENT_CONTEST);
	world_catalogue(world);
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *rated=0\n"
			  "a > @ready 1\n");
	discard(world);
	world_catalogue(world);
	world->holds_store = true;
	world_play(world, "a > @resign 1\n");
	assert_int_equal(take(world, meetings), 1);
	assert_int_equal(meetings[0].tournament, 7);
	world_play(world, "a <~ @match 2 *rated=0\n");
}

/* The store does not end it then; see tournament_save(). */
static void an_end_is_taken_back_when_a_match_becomes_void(void **state)
{
	static const int bots[] = { BOT_CRAZY, BOT_LAZY };
	struct world *world = *state;
	struct row_tournament *t;
	int64_t id = 1;

	world_login(world, 'a', "crazy");
	t = plan(world, bots, 2, TOURNAMENT_CONTEST);
	t->rules.rounds = 1;
	t->entrants[1].out_round = 1;
	world_catalogue(world);
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *rated=0\n"
			  "a > @ready 1\n"
			  "a > @resign 1\n"
			  "* log tournament=cup event=finished matches=2\n"
			  "a <~ @match 2 *\n"
			  "a > @leave\n"
			  "a > @ready 2\n"
			  "a > @resign 2\n");
	t->voids = &id;
	t->nvoids = 1;
	world_catalogue(world);
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 3 *rated=0\n"
			  "a > @ready 3\n"
			  "a > @resign 3\n"
			  "* log tournament=cup event=finished matches=2\n");
	discard(world);
	world_catalogue(world);
}

/* lazy is waited for when the host cancels; then it comes. */
static void what_waits_of_a_cancelled_tournament_is_not_played(void **state)
{
	static const int bots[] = { BOT_CRAZY, BOT_LAZY };
	struct world *world = *state;
	struct match_meeting meetings[8];

	plan(world, bots, 2, TOURNAMENT_CONTEST);
	world_catalogue(world);
	discard(world);
	world_catalogue(world);
	world_play(world, "* log *event=*-dropped *runs no more*\n");
	world_login(world, 'b', "lazy");
	world->holds_store = true;
	world_play(world, "b > @play rabbit-runner\n"
			  "b <~ @match 1 *rated=0\n"
			  "b > @ready 1\n"
			  "b > @resign 1\n");
	assert_int_equal(take(world, meetings), 1);
	assert_int_equal(meetings[0].tournament, 0);
}

static void under_embargo_only_the_reason_is_told(void **state)
{
	static const int bots[] = { BOT_CRAZY, BOT_LAZY };
	struct world *world = *state;
	struct row_tournament *t;

	world_login(world, 'a', "crazy");
	t = plan(world, bots, 2, TOURNAMENT_CONTEST);
	t->is_embargo = true;
	world_catalogue(world);
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *rated=0\n"
			  "a > @ready 1\n"
			  "a > @resign 1\n"
			  "a <~ @end 1 *\n"
			  "a < @result 1 embargo=1 reason=gone\n"
			  "* log match=1 *event=over *\n");
	assert_null(strstr(buf_text(&world->log), "score"));
	discard(world);
	world_catalogue(world);
}

/* The match of pairing 0 of a contest of two has been played as match 1. */
static struct row_tournament *with_result(struct world *world)
{
	static const int bots[] = { BOT_CRAZY, BOT_LAZY };
	struct row_tournament *t;

	world_login(world, 'a', "crazy");
	t = plan(world, bots, 2, TOURNAMENT_CONTEST);
	t->rules.rounds = 1;
	world_catalogue(world);
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *rated=0\n"
			  "a > @ready 1\n"
			  "a > @resign 1\n"
			  "a <~ @result 1 *\n"
			  "a <~ @match 2 *rated=0\n");
	return t;
}

static void a_match_made_void_is_played_again_at_once(void **state)
{
	struct world *world = *state;
	struct row_tournament *t = with_result(world);
	int64_t id = 1;

	/* A reading older than the result takes nothing back. */
	world_catalogue(world);
	world_play(world, "a > @ready 2\n"
			  "a > @resign 2\n"
			  "a <~ @match 3 *rated=0\n");
	t->voids = &id;
	t->nvoids = 1;
	world_catalogue(world);
	world_play(world, "a > @ready 3\n"
			  "a > @resign 3\n"
			  "a <~ @match 4 *rated=0\n"
			  "a > @ready 4\n"
			  "a > @resign 4\n"
			  "a <~ @match 5 *rated=0\n");
	discard(world);
	world_catalogue(world);
}

static void a_match_made_void_before_its_news_counts_for_nothing(void **state)
{
	static const int bots[] = { BOT_CRAZY, BOT_LAZY };
	struct world *world = *state;
	struct row_tournament *t;
	int64_t id = 1;

	world_login(world, 'a', "crazy");
	t = plan(world, bots, 2, TOURNAMENT_CONTEST);
	t->rules.rounds = 1;
	world_catalogue(world);
	world->holds_store = true;
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *rated=0\n"
			  "a > @ready 1\n"
			  "a > @resign 1\n");
	t->voids = &id;
	t->nvoids = 1;
	world_catalogue(world);
	world_store(world);
	world_play(world, "a <~ @result 1 *\n"
			  "a <~ @match 2 *rated=0\n");
	discard(world);
	world_catalogue(world);
}

static void younger_versions_than_the_deadline_are_unrated(void **state)
{
	struct world *world = *state;

	world->ladders[LADDER_RABBIT].deadline_us = 1000;
	world->versions[BOT_CRAZY].active_us = 1000;
	world->versions[BOT_LAZY].active_us = 1001;
	world_catalogue(world);
	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world,
		   "a > @play rabbit-runner\n"
		   "a < @queued rabbit-runner waiting=1\n"
		   "a <~ @match 1 *rated=0\n"
		   "b > @play rabbit-runner\n"
		   "b < @queued rabbit-runner waiting=* unrated=deadline\n"
		   "b <~ @match 2 *rated=0\n"
		   /* Elsewhere it counts. */
		   "b > @play mine\n"
		   "b <~ @queued mine waiting=?\n");
}

static void absent_ones_with_a_link_are_told(void **state)
{
	static const int bots[] = { BOT_CRAZY, BOT_LAZY };
	struct world *world = *state;
	struct row_tournament *t;

	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *rated=0\n");
	world_login(world, 'b', "lazy");
	t = plan(world, bots, 2, TOURNAMENT_CONTEST);
	t->rules.rounds = 1;
	world_catalogue(world);
	world_play(world,
		   "b < @notice : tournament cup has begun: say @play "
		   "rabbit-runner as version 1\n"
		   "a > @ready 1\n"
		   "a > @resign 1\n"
		   "a <~ @match 2 *rated=0\n"
		   "a > @ready 2\n"
		   "a > @resign 2\n"
		   "b < @notice : tournament cup waits for you, 5 s: say "
		   "@play rabbit-runner as version 1\n"
		   "* t 5100\n"
		   "b < @notice : tournament cup: lazy was not there and "
		   "has lost a match\n"
		   "b <.\n");
	assert_null(strstr(buf_text(&world_peer(world, 'a')->inbox), "notice"));
	discard(world);
	world_catalogue(world);
}

static void under_embargo_no_forfeit_is_told(void **state)
{
	static const int bots[] = { BOT_CRAZY, BOT_LAZY };
	struct world *world = *state;

	world_login(world, 'b', "lazy");
	plan(world, bots, 2, TOURNAMENT_CONTEST)->is_embargo = true;
	world_catalogue(world);
	world_play(world, "* t 10000\n"
			  "b < @notice : tournament cup has begun: *\n"
			  "b < @notice : tournament cup waits for you, *\n"
			  "b <.\n");
	discard(world);
	world_catalogue(world);
}

/*
 * All four sit at rated sets when it begins: two play theirs, two are offered
 * it. However long those take, nobody is away.
 */
static void who_sits_at_a_set_is_there(void **state)
{
	static const int bots[] = { BOT_CRAZY, BOT_LAZY, BOT_SLOW, BOT_FAST };
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_login(world, 'c', "slow");
	world_login(world, 'd', "fast");
	world_play(world, "a > @play battle\n"
			  "b > @play battle\n"
			  "a <~ @match 1 *set=1/2\n"
			  "b <~ @match 1 *set=1/2\n"
			  "a > @ready 1\n"
			  "b > @ready 1\n"
			  "c > @play battle\n"
			  "d > @play battle\n"
			  "c <~ @match 2 *set=1/2\n"
			  "d <~ @match 2 *set=1/2\n");
	plan_on(world, LADDER_BATTLE, bots, 4, TOURNAMENT_ROUND_ROBIN);
	world_catalogue(world);
	world_play(world, "* t 9000\n"
			  "c > @ready 2\n"
			  "d > @ready 2\n"
			  "c > @resign 2\n"
			  "d > @resign 2\n"
			  "c <~ @match 3 *set=2/2\n"
			  "* t 9000\n");
	assert_null(strstr(buf_text(&world->log), "event=absent"));
	assert_null(strstr(buf_text(&world->log), "event=forfeit"));
	/* Once the sets are over they play for the cup alone. */
	world_play(world, "a > @resign 1\n"
			  "b > @resign 1\n"
			  "a <~ @match 4 *set=2/2\n"
			  "a > @ready 4\n"
			  "b > @ready 4\n"
			  "a > @resign 4\n"
			  "b > @resign 4\n"
			  "c > @ready 3\n"
			  "d > @ready 3\n"
			  "c > @resign 3\n"
			  "d > @resign 3\n"
			  "a <~ @match [56] *rated=0\n"
			  "b <~ @match [56] *rated=0\n"
			  "c <~ @match [56] *rated=0\n"
			  "d <~ @match [56] *rated=0\n");
	discard(world);
	world_catalogue(world);
}

static void a_ladder_that_goes_takes_its_tournament_along(void **state)
{
	static const int bots[] = { BOT_CRAZY, BOT_LAZY };
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	plan(world, bots, 2, TOURNAMENT_CONTEST);
	world_catalogue(world);
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *rated=0\n"
			  "a > @ready 1\n");
	world->rows.ladders = &world->ladders[LADDER_BATTLE];
	world->rows.nladders = SCRIPT_LADDERS - 1;
	world_catalogue(world);
	world_play(world, "* t 6000\n"
			  "a > @resign 1\n"
			  "* t 6000\n");
	discard(world);
	world_catalogue(world);
}

/* crazy has played the first instance and may tell others; lazy has not. */
static void a_drawn_seed_that_was_given_is_kept(void **state)
{
	static const int bots[] = { BOT_CRAZY, BOT_LAZY };
	struct world *world = *state;
	struct row_tournament *t;
	char text[200];
	char seed[ROW_SEED_BYTES];

	world_login(world, 'a', "crazy");
	world_login(world, 'c', "slow");
	t = plan(world, bots, 2, TOURNAMENT_CONTEST);
	t->is_seed_random = true;
	world_catalogue(world);
	world->holds_store = true;
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *rated=0\n"
			  "a > @ready 1\n"
			  "a > @resign 1\n");
	assert_int_equal(world->nrecords, 1);
	(void)snprintf(seed, sizeof(seed), "%s", world->records[0]->setup.seed);
	world_store(world);
	(void)snprintf(text, sizeof(text),
		       "c > @play rabbit-runner unrated seed=%s\n"
		       "c < @error contest-seed *\n",
		       seed);
	world_play(world, text);
	/* The same to a server that finds the result on disk. */
	world->rows.ntournaments = 0;
	world_catalogue(world);
	t->matches = xcalloc(1, sizeof(*t->matches));
	t->nmatches = 1;
	t->matches[0].match_id = 1;
	t->matches[0].nseats = 1;
	t->matches[0].result.ranks[0] = 1;
	t->entrants[0].out_round = t->entrants[1].out_round = 1;
	world->rows.ntournaments = 1;
	world_catalogue(world);
	world_play(world, text);
	discard(world);
	world_catalogue(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(contest_plays_each_instance_once_and_ends),
		WORLD_TEST(absent_are_waited_for_once_and_lose),
		WORLD_TEST(who_comes_within_the_grace_plays),
		WORLD_TEST(who_is_missed_later_is_waited_for_as_long),
		WORLD_TEST(who_waits_for_the_absent_holds_no_other_ladder),
		WORLD_TEST(who_sits_at_a_set_is_there),
		WORLD_TEST(results_on_disk_are_not_played_again),
		WORLD_TEST(a_match_made_void_is_played_again),
		WORLD_TEST(withdrawn_and_vanished_entrants_forfeit_at_once),
		WORLD_TEST(cancelled_tournament_makes_no_more_matches),
		WORLD_TEST(an_end_is_taken_back_when_a_match_becomes_void),
		WORLD_TEST(what_waits_of_a_cancelled_tournament_is_not_played),
		WORLD_TEST(under_embargo_only_the_reason_is_told),
		WORLD_TEST(a_match_made_void_is_played_again_at_once),
		WORLD_TEST(
			a_match_made_void_before_its_news_counts_for_nothing),
		WORLD_TEST(absent_ones_with_a_link_are_told),
		WORLD_TEST(a_drawn_seed_that_was_given_is_kept),
		WORLD_TEST(a_ladder_that_goes_takes_its_tournament_along),
		WORLD_TEST(under_embargo_no_forfeit_is_told),
		WORLD_TEST(younger_versions_than_the_deadline_are_unrated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
