/* SPDX-License-Identifier: MIT */
/* test_joining.c - versions, registration, new tokens: what asks the store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/match/record.h"
#include "tests/unit/lobby/script.h"
#include "tests/unit/unit.h"

static void a_known_label_is_played_at_once(void **state)
{
	struct world *world = *state;

	world->holds_asks = true;
	world_play(world, "a +\n"
			  "a > @login crazy right version=1\n"
			  "a <~ @welcome crazy version=1\n");
	assert_int_equal(world->nasks, 0);
}

static void a_new_label_waits_for_the_store(void **state)
{
	struct world *world = *state;

	world->holds_asks = true;
	world_play(world, "a +\n"
			  "a < @hill 1 test\n"
			  "a > @login crazy right version=v2\n"
			  "a > @play rabbit-runner\n"
			  "a <.\n"
			  "a = paused\n");
	assert_int_equal(world->nasks, 1);
	assert_string_equal(world->asks[0]->label, "v2");
	assert_int_equal(world->asks[0]->bot_id, 1);
	world_answer(world);
	/* What it said meanwhile comes in its place. */
	world_play(world, "* t 0\n"
			  "a < @welcome crazy version=v2\n"
			  "a < @queued rabbit-runner *\n"
			  "a <~ @match 1 *\n"
			  "* log *bot=crazy event=login version=v2*\n");
}

static void a_wrong_token_makes_no_version(void **state)
{
	struct world *world = *state;

	world->holds_asks = true;
	world_play(world, "a +\n"
			  "a > @login crazy wrong version=v2\n"
			  "a <~ @error login-failed *\n"
			  "b +\n"
			  "b > @login gone right version=v2\n"
			  "b <~ @error bot-disabled *\n");
	assert_int_equal(world->nasks, 0);
}

static void a_retired_label_ends_the_login(void **state)
{
	world_play(*state, "a +\n"
			   "a > @login crazy right version=old\n"
			   "a <~ @error version-retired : *\n"
			   "a ! version-retired\n");
}

static void a_label_that_is_none_is_refused(void **state)
{
	world_play(*state, "a +\n"
			   "a > @login crazy right version=a/b\n"
			   "a <~ @error bad-arguments : a version has *\n"
			   "a > @login crazy right candidate=1\n"
			   "a <~ @error bad-arguments : candidate=1 wants *\n"
			   "a > @login crazy right version=\n"
			   "a <~ @error bad-arguments : a version has *\n");
}

/* BC56: a new version that comes in mid-game plays only what begins later. */
static void a_match_stays_with_the_version_it_began_with(void **state)
{
	struct world *world = *state;

	world->holds_store = true;
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *\n"
			  "a > @ready 1\n"
			  "a <~ @start 1\n"
			  "b +\n"
			  "b > @login crazy right version=v2\n"
			  "b <~ @welcome crazy version=v2\n"
			  "a > @leave\n"
			  "a > @resign 1\n"
			  "a <~ @end 1 *\n"
			  "b > @play rabbit-runner\n"
			  "b <~ @match 2 *\n"
			  "b > @ready 2\n"
			  "b <~ @start 2\n"
			  "b > @resign 2\n"
			  "b <~ @end 2 *\n");
	assert_int_equal(world->nrecords, 2);
	assert_int_equal(world->records[0]->seats[0].version_id, 1);
	assert_int_equal(world->records[1]->seats[0].version_id,
			 world->bots[BOT_CRAZY].version_id);
	assert_int_not_equal(world->bots[BOT_CRAZY].version_id, 1);
}

static void a_candidate_is_not_rated_until_it_is_active(void **state)
{
	struct world *world = *state;

	world_play(world, "a +\n"
			  "a > @login crazy right version=next candidate=1\n"
			  "a <~ @welcome crazy version=next\n"
			  "a > @play mine\n"
			  "a <~ @match 1 * rated=0*\n"
			  "a > @leave\n"
			  "a > @resign 1\n");
	world->versions[SCRIPT_BOTS].is_candidate = false;
	world->versions[SCRIPT_BOTS].rated_from_us = INT64_MIN;
	world_catalogue(world);
	world_play(world, "a > @play mine\n"
			  "a <~ @match 2 * rated=1*\n");
}

static void a_version_too_many_a_day_is_rated_when_there_is_room(void **state)
{
	struct world *world = *state;

	world->versions[BOT_CRAZY].rated_from_us = world->now_us + 5000000;
	world_catalogue(world);
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play mine\n"
			  "a <~ @match 1 * rated=0*\n"
			  "a > @leave\n"
			  "a > @resign 1\n"
			  "* t 5000\n"
			  "a > @play mine\n"
			  "a <~ @match 2 * rated=1*\n");
}

static void registering_is_answered_and_login_may_follow(void **state)
{
	struct world *world = *state;

	world_play(world, "a +\n"
			  "a < @hill 1 test\n"
			  "a > @register newcomer invite=abc\n"
			  "a < @registered newcomer token=hill_new\n"
			  "a > @login crazy right\n"
			  "a < @welcome crazy\n");
	assert_null(strstr(buf_text(&world->log), "hill_new"));
	assert_null(strstr(buf_text(&world->log), "abc"));
}

static void a_refused_name_may_be_followed_by_another(void **state)
{
	world_play(*state, "a +\n"
			   "a < @hill 1 test\n"
			   "a > @register taken\n"
			   "a < @error name-taken : taken is taken\n"
			   "a > @register free\n"
			   "a < @registered free token=hill_new\n"
			   "a > @register x invite=a token=b\n"
			   "a < @error bad-arguments *\n"
			   "a > @register a-name-of-25-letters-long\n"
			   "a < @error bad-arguments *\n");
}

static void registrations_of_an_address_are_bounded(void **state)
{
	world_play(*state, "a + 10.0.0.1\n"
			   "a < @hill 1 test\n"
			   "a > @register one\n"
			   "a < @registered *\n"
			   "a > @register two\n"
			   "a < @registered *\n"
			   "a > @register three\n"
			   "a < @registered *\n"
			   "a > @register four\n"
			   "a < @registered *\n"
			   "a > @register five\n"
			   "a < @error address-limit retry-after=900 : *\n"
			   "a ! address-limit\n"
			   "b + 10.0.0.2\n"
			   "b > @register five\n"
			   "b <~ @registered *\n"
			   "* t 900000\n"
			   "a + 10.0.0.1\n"
			   "a > @register five\n"
			   "a <~ @registered *\n");
}

/* The bots of an address share one count, with those who register there. */
static void new_tokens_of_an_address_are_bounded(void **state)
{
	struct world *world = *state;

	world_play(world, "a + 10.0.0.1\n"
			  "a > @login crazy right\n"
			  "a <~ @welcome crazy\n"
			  "b + 10.0.0.1\n"
			  "b > @login lazy right\n"
			  "b <~ @welcome lazy\n"
			  "c + 10.0.0.1\n"
			  "c > @register one\n"
			  "c <~ @registered *\n"
			  "a > @rotate\n"
			  "a < @token hill_next\n"
			  "a > @rotate\n"
			  "a < @token hill_next\n"
			  "b > @rotate\n"
			  "b < @token hill_next\n");
	world->holds_asks = true;
	world_play(world,
		   "a > @rotate\n"
		   "a < @error try-later retry-after=900 : *new tokens*\n"
		   "b > @rotate\n"
		   "b < @error try-later retry-after=900 : *\n"
		   "c > @register two\n"
		   "c < @error address-limit retry-after=900 : *\n");
	assert_int_equal(world->nasks, 0);
	world->holds_asks = false;
	/* The link stays, and there is room again. */
	world_play(world, "d + 10.0.0.2\n"
			  "d > @login slow right\n"
			  "d <~ @welcome slow\n"
			  "d > @rotate\n"
			  "d < @token hill_next\n"
			  "* t 900000\n"
			  "a > @rotate\n"
			  "a < @token hill_next\n"
			  "b > @rotate\n"
			  "b < @error try-later retry-after=900 : *\n");
}

static void closed_registration_asks_nobody(void **state)
{
	struct world *world = *state;

	world->config.is_registration_closed = true;
	world->holds_asks = true;
	lobby_configure(world->lobby, &world->config, world->now_us);
	world_play(world, "a +\n"
			  "a > @register one\n"
			  "a <~ @error registration-closed : *\n");
	assert_int_equal(world->nasks, 0);
}

static void who_waits_for_the_store_holds_up_no_other_login(void **state)
{
	struct world *world = *state;

	world->holds_asks = true;
	world_play(world, "a +\n"
			  "a > @register one\n"
			  "* t 1000\n"
			  "b +\n"
			  "* t 10001\n"
			  "b <~ @error login-timeout *\n"
			  "b ! login-timeout\n");
	assert_null(world_peer(world, 'a')->closed);
	world_answer(world);
	world_play(world, "a <~ @registered one *\n"
			  "* t 1\n"
			  "a <~ @error login-timeout *\n");
}

static void an_answer_for_one_that_is_gone_is_dropped(void **state)
{
	struct world *world = *state;

	world->holds_asks = true;
	world_play(world, "a +\n"
			  "a > @login crazy right version=v2\n"
			  "a -\n");
	world_answer(world);
	world_login(world, 'b', "crazy");
}

static void a_half_closed_link_still_hears_the_answer(void **state)
{
	struct world *world = *state;

	world->holds_asks = true;
	world_play(world, "a +\n"
			  "a > @register one\n"
			  "a |\n");
	world_answer(world);
	world_play(world, "* t 0\n"
			  "a <~ @registered one *\n"
			  "a ! link-end\n");
}

static void a_bot_that_went_meanwhile_is_not_let_in(void **state)
{
	struct world *world = *state;

	world->holds_asks = true;
	world_play(world, "a +\n"
			  "a > @login crazy right version=v2\n");
	world->bots[BOT_CRAZY].is_disabled = true;
	world_catalogue(world);
	world_answer(world);
	world_play(world, "a <~ @error try-later *\n"
			  "a ! try-later\n");
}

static void a_new_token_is_told_while_the_links_stay(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_login(world, 'b', "crazy");
	world_play(world, "a > @play battle\n"
			  "a <~ @queued *\n"
			  "a > @rotate\n"
			  "a < @token hill_next\n"
			  "a > @ping x\n"
			  "a < @pong x\n"
			  "b > @ping x\n"
			  "b < @pong x\n"
			  "* log * bot=crazy event=token-rotated*\n");
	assert_null(strstr(buf_text(&world->log), "hill_next"));
}

/* Else its place among the asks would be taken for ever. */
static void who_dies_before_the_ask_is_sent_is_answered_too(void **state)
{
	static const char line[] = "@rotate\n";
	struct world *world = *state;
	struct world_peer *crazy;

	world->holds_asks = true;
	world_login(world, 'a', "crazy");
	crazy = &world->peers[0];
	lobby_peer_bytes(world->lobby, crazy->peer, line, sizeof(line) - 1,
			 world->now_us);
	lobby_peer_closed(world->lobby, crazy->peer, world->now_us);
	crazy->peer = NULL;
	world_apply(world);
	assert_int_equal(world->nasks, 1);
	world_answer(world);
}

static void while_the_disk_fails_nobody_asks(void **state)
{
	struct world *world = *state;

	lobby_store_trouble(world->lobby, "full", world->now_us);
	world_play(world, "a +\n"
			  "a > @register one\n"
			  "a <~ @error try-later retry-after=30 : *\n"
			  "a > @login crazy right version=v2\n"
			  "a <~ @error try-later retry-after=30 : *\n"
			  "a ! try-later\n");
}

/* A retired one's answer is a refusal, but costs the store as much. */
static void new_versions_of_a_bot_are_bounded(void **state)
{
	struct world *world = *state;
	char script[200];

	for (unsigned i = 1; i <= world->config.registrations_per_hour; i++) {
		(void)snprintf(script, sizeof(script),
			       "a + 10.0.0.%u\n"
			       "a > @login crazy right version=v%u\n"
			       "a <~ @welcome crazy version=v%u\n"
			       "a -\n",
			       i, i, i);
		world_play(world, script);
	}
	world->holds_asks = true;
	/* From another address as well; one that is there asks nobody. */
	world_play(world, "b + 10.0.0.200\n"
			  "b > @login crazy right version=next\n"
			  "b <~ @error try-later retry-after=900 : *versions*\n"
			  "b ! try-later\n"
			  "c + 10.0.0.1\n"
			  "c > @login crazy right version=v4\n"
			  "c <~ @welcome crazy version=v4\n");
	assert_int_equal(world->nasks, 0);
	world->holds_asks = false;
	world_play(world, "d + 10.0.0.1\n"
			  "d > @login lazy right version=next\n"
			  "d <~ @welcome lazy version=next\n"
			  "* t 900000\n"
			  "e + 10.0.0.1\n"
			  "e > @login crazy right version=next\n"
			  "e <~ @welcome crazy version=next\n"
			  "f + 10.0.0.1\n"
			  "f > @login crazy right version=more\n"
			  "f <~ @error try-later *\n");
}

static void who_waits_for_a_token_is_offered_no_match(void **state)
{
	struct world *world = *state;

	world->holds_asks = true;
	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "a > @play spar\n"
			  "a < @queued spar *\n"
			  "a > @rotate\n"
			  "b > @play spar\n"
			  "b < @queued spar *\n"
			  "b <.\n"
			  "a <.\n");
	world_answer(world);
	world_play(world, "a < @token hill_next\n"
			  "a < @match 1 *\n"
			  "b < @match 1 *\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(a_known_label_is_played_at_once),
		WORLD_TEST(a_new_label_waits_for_the_store),
		WORLD_TEST(a_wrong_token_makes_no_version),
		WORLD_TEST(a_retired_label_ends_the_login),
		WORLD_TEST(a_label_that_is_none_is_refused),
		WORLD_TEST(a_match_stays_with_the_version_it_began_with),
		WORLD_TEST(a_candidate_is_not_rated_until_it_is_active),
		WORLD_TEST(
			a_version_too_many_a_day_is_rated_when_there_is_room),
		WORLD_TEST(registering_is_answered_and_login_may_follow),
		WORLD_TEST(a_refused_name_may_be_followed_by_another),
		WORLD_TEST(registrations_of_an_address_are_bounded),
		WORLD_TEST(new_tokens_of_an_address_are_bounded),
		WORLD_TEST(closed_registration_asks_nobody),
		WORLD_TEST(who_waits_for_the_store_holds_up_no_other_login),
		WORLD_TEST(an_answer_for_one_that_is_gone_is_dropped),
		WORLD_TEST(a_half_closed_link_still_hears_the_answer),
		WORLD_TEST(a_bot_that_went_meanwhile_is_not_let_in),
		WORLD_TEST(a_new_token_is_told_while_the_links_stay),
		WORLD_TEST(who_dies_before_the_ask_is_sent_is_answered_too),
		WORLD_TEST(while_the_disk_fails_nobody_asks),
		WORLD_TEST(new_versions_of_a_bot_are_bounded),
		WORLD_TEST(who_waits_for_a_token_is_offered_no_match),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
