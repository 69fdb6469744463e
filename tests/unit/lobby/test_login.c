/* SPDX-License-Identifier: MIT */
/* test_login.c - who is let in, who must go, and what a peer may cost. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/lobby/script.h"
#include "tests/unit/unit.h"

static void unknown_bots_and_wrong_tokens_hear_the_same(void **state)
{
	world_play(*state, "a +\n"
			   "a < @hill 1 test\n"
			   "a > @login nobody right\n"
			   "a < @error login-failed : *\n"
			   "a <.\n"
			   "a ! login-failed\n"
			   "* log *event=login-failed\n"
			   "b + 10.0.0.2\n"
			   "b < @hill 1 test\n"
			   "b > @login crazy wrong\n"
			   "b < @error login-failed : *\n"
			   "b <.\n"
			   "b ! login-failed\n");
}

static void a_token_is_never_logged(void **state)
{
	struct world *world = *state;

	world_play(world, "a +\n"
			  "a > @login crazy secret-of-mine client=x/1\n"
			  "b +\n"
			  "b > @login crazy right client=\"right-here\n");
	assert_null(strstr(buf_text(&world->log), "secret-of-mine"));
	assert_null(strstr(buf_text(&world->log), "crazy right"));
}

static void a_disabled_bot_is_told_so_only_with_its_token(void **state)
{
	world_play(*state, "a +\n"
			   "a > @login gone right\n"
			   "a <~ @error bot-disabled *\n"
			   "a ! bot-disabled\n"
			   "a +\n"
			   "a > @login gone wrong\n"
			   "a <~ @error login-failed *\n"
			   "a ! login-failed\n");
}

static void a_ban_tells_its_reason_to_the_token_alone(void **state)
{
	static char reason[] = "two bots\n@welcome gone\x7f : for one";
	struct world *world = *state;

	world->bots[BOT_GONE].ban_reason = reason;
	world_catalogue(world);
	world_play(world,
		   "a +\n"
		   "a < @hill 1 test\n"
		   "a > @login gone right\n"
		   "a < @error bot-disabled : the host has disabled this "
		   "bot: two bots\\?@welcome gone\\? : for one\n"
		   "a <.\n"
		   "a ! bot-disabled\n"
		   "a +\n"
		   "a < @hill 1 test\n"
		   "a > @login gone wrong\n"
		   "a < @error login-failed : no such bot, or not its "
		   "token\n"
		   "a ! login-failed\n");
}

static void who_is_banned_while_there_is_told_why(void **state)
{
	static char reason[1200];
	struct world *world = *state;

	memset(reason, 'x', sizeof(reason) - 1);
	world_login(world, 'a', "crazy");
	world->bots[BOT_CRAZY].is_disabled = true;
	world->bots[BOT_CRAZY].ban_reason = reason;
	world_catalogue(world);
	world_play(world,
		   "a < @error bot-disabled : the host has disabled this "
		   "bot: xxxx*x\n"
		   "a <.\n"
		   "a ! bot-disabled\n");
}

static void several_tokens_open_one_door(void **state)
{
	struct world *world = *state;

	world->tokens[BOT_LAZY].bot_id = world->bots[BOT_CRAZY].id;
	world->tokens[BOT_LAZY].hash[0] ^= 1;
	world_catalogue(world);
	world_login(world, 'a', "crazy");
	world_play(world, "b +\n"
			  "b > @login lazy right\n"
			  "b <~ @error login-failed *\n");
}

static void at_its_cap_a_bot_loses_its_oldest_idle_link(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_login(world, 'b', "crazy");
	world_login(world, 'c', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *\n");
	world_login(world, 'd', "crazy");
	world_play(world, "a <.\n"
			  "c <.\n"
			  "b < @error evicted : *\n"
			  "b ! evicted\n"
			  "* log * bot=crazy event=evicted *\n");
}

static void a_wrong_token_evicts_nobody(void **state)
{
	struct world *world = *state;

	for (char name = 'a'; name < 'd'; name++)
		world_login(world, name, "crazy");
	world_play(world, "d +\n"
			  "d > @login crazy wrong\n"
			  "d <~ @error login-failed *\n"
			  "a <.\n");
	assert_null(world_peer(world, 'a')->closed);
}

static void a_bot_whose_links_all_play_is_busy(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "slow");
	world_login(world, 'b', "slow");
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 1 *\n"
			  "b > @play rabbit-runner\n"
			  "b <~ @match 2 *\n"
			  "c +\n"
			  "c > @login slow right\n"
			  "c <~ @error bot-busy retry-after=30 : *\n"
			  "c ! bot-busy\n");
}

static void wrong_logins_are_bounded_and_forgotten(void **state)
{
	world_play(*state, "a + 10.0.0.1\n"
			   "a > @login crazy wrong\n"
			   "a ! login-failed\n"
			   "a + 10.0.0.1\n"
			   "a > @login crazy wrong\n"
			   "a ! login-failed\n"
			   "a + 10.0.0.1\n"
			   "a > @login crazy wrong\n"
			   "a ! login-failed\n"
			   "a + 10.0.0.1\n"
			   "a > @login crazy right\n"
			   "a <~ @error address-limit retry-after=10 : *\n"
			   "a ! address-limit\n"
			   /* Others are not concerned. */
			   "b + 10.0.0.2\n"
			   "b > @login crazy right\n"
			   "b <~ @welcome crazy\n"
			   "* t 10000\n"
			   "a + 10.0.0.1\n"
			   "a > @login crazy right\n"
			   "a <~ @welcome crazy\n");
}

static void a_login_must_come_in_time(void **state)
{
	world_play(*state, "a +\n"
			   "* t 5000\n"
			   "b +\n"
			   "* t 5001\n"
			   "a <~ @error login-timeout *\n"
			   "a ! login-timeout\n"
			   "b < @hill 1 test\n"
			   "b <.\n"
			   "* t 5000\n"
			   "b ! login-timeout\n");
}

static void a_lowered_time_to_log_in_is_for_all(void **state)
{
	struct world *world = *state;

	world_play(world, "a +\n"
			  "a < @hill 1 test\n");
	world->config.login_ms = 1000;
	lobby_configure(world->lobby, &world->config, world->now_us);
	world_play(world, "* t 500\n"
			  "b +\n"
			  "b < @hill 1 test\n"
			  "a <.\n"
			  "* t 501\n"
			  "a < @error login-timeout *\n"
			  "a ! login-timeout\n"
			  "b <.\n"
			  "* t 500\n"
			  "b < @error login-timeout *\n"
			  "b ! login-timeout\n");
}

static void a_lowered_cap_is_reached_at_the_next_login(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_login(world, 'b', "crazy");
	world_login(world, 'c', "crazy");
	world->bots[BOT_CRAZY].max_connections = 1;
	world_catalogue(world);
	world_login(world, 'd', "crazy");
	world_play(world, "a ! evicted\n"
			  "b ! evicted\n"
			  "c ! evicted\n"
			  "d <.\n");
}

static void an_address_has_so_many_strangers(void **state)
{
	world_play(*state, "a + 10.0.0.1\n"
			   "b + 10.0.0.1\n"
			   "c + 10.0.0.1\n"
			   "d + 10.0.0.1\n"
			   "e + 10.0.0.1\n"
			   "f + 10.0.0.1\n"
			   "g + 10.0.0.1\n"
			   "g < @hill 1 test\n"
			   "g < @error address-limit retry-after=30 : *\n"
			   "g ! address-limit\n"
			   "h + 10.0.0.2\n"
			   "h < @hill 1 test\n"
			   "h <.\n"
			   "f -\n"
			   "g + 10.0.0.1\n"
			   "g > @login crazy right\n"
			   "g <~ @welcome crazy\n");
}

static void the_server_has_so_many_links(void **state)
{
	struct world *world = *state;

	world->config.peers_max = 2;
	lobby_configure(world->lobby, &world->config, world->now_us);
	world_play(world, "a +\n"
			  "b +\n"
			  "c +\n"
			  "c <~ @error server-full retry-after=30 : *\n"
			  "c ! server-full\n");
}

static void a_long_line_before_login_ends_the_link(void **state)
{
	struct world *world = *state;
	char line[520];

	memset(line, 'x', sizeof(line));
	world_play(world, "a +\n");
	lobby_peer_bytes(world->lobby, world_peer(world, 'a')->peer, line,
			 sizeof(line), world->now_us);
	world_apply(world);
	world_play(world, "a <~ @error line-too-long : *\n"
			  "a ! line-too-long\n");
}

/* BYTES to peer a in pieces of a socket's read, as long as it is open. */
static void flood(struct world *world, const char *bytes, size_t len,
		  unsigned pieces)
{
	struct world_peer *peer = world_peer(world, 'a');

	while (pieces-- > 0 && peer->closed == NULL) {
		lobby_peer_bytes(world->lobby, peer->peer, bytes, len,
				 world->now_us);
		world_apply(world);
	}
}

static void a_flood_without_a_line_end_ends_the_link(void **state)
{
	struct world *world = *state;
	char *bytes = malloc(65536);

	memset(bytes, 'x', 65536);
	world_login(world, 'a', "crazy");
	flood(world, bytes, 65536, 3000);
	world_play(world, "a < @error flood : *\n"
			  "a ! flood\n");
	free(bytes);
}

static void a_flood_of_lines_is_taken_a_few_at_a_time(void **state)
{
	struct world *world = *state;
	char *bytes = malloc(65536);

	for (unsigned i = 0; i < 65536; i += 2)
		memcpy(bytes + i, "x\n", 2);
	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	flood(world, bytes, 65536, 1);
	world_play(world, "a = paused\n"
			  /* Nobody waits for it. */
			  "b > @play rabbit-runner\n"
			  "b <~ @match 1 *\n");
	assert_true(lobby_deadline(world->lobby) <= world->now_us);
	world_play(world, "* t 0\n"
			  "a = reading\n"
			  "a < @error stray-line *\n"
			  "a <.\n");
	free(bytes);
}

/* A short word with a long answer is one of these few. */
static void long_answers_are_given_a_few_at_a_time(void **state)
{
	enum { WORDS = 60 };
	struct world *world = *state;
	struct world_peer *peer = world_peer(world, 'a');
	size_t one, first;
	char bytes[WORDS * 9];

	for (unsigned i = 0; i < WORDS; i++)
		memcpy(bytes + i * 9, "@ladders\n", 9);
	world_login(world, 'a', "crazy");
	buf_clear(&peer->inbox);
	lobby_peer_bytes(world->lobby, peer->peer, bytes, 9, world->now_us);
	world_apply(world);
	one = peer->inbox.len;
	assert_true(one > 200);
	buf_clear(&peer->inbox);
	lobby_peer_bytes(world->lobby, peer->peer, bytes, sizeof(bytes),
			 world->now_us);
	world_apply(world);
	first = peer->inbox.len;
	assert_in_range(first, LIMIT_ANSWERS_PER_STEP,
			LIMIT_ANSWERS_PER_STEP + 2 * one);
	/* The others follow by themselves. */
	world_play(world, "* t 1000\n");
	assert_int_equal(peer->inbox.len, WORDS * one);
}

static void a_hundred_words_in_one_piece_are_all_answered(void **state)
{
	struct world *world = *state;
	struct buf bytes = BUF_INIT(10000);

	world_login(world, 'a', "crazy");
	for (unsigned i = 0; i < 100; i++)
		buf_add_format(&bytes, "@ping %u\n", i);
	flood(world, bytes.data, bytes.len, 1);
	world_play(world, "* t 0\n"
			  "a < @pong 0\n"
			  "a <~ @pong 63\n"
			  "a < @pong 64\n"
			  "a <~ @pong 99\n"
			  "a <.\n");
	buf_release(&bytes);
}

static void who_does_not_read_is_closed(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	lobby_peer_overflow(world->lobby, world_peer(world, 'a')->peer,
			    world->now_us);
	world_apply(world);
	world_play(world, "a ! slow-reader\n");
}

static void a_quit_closes(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_play(world, "a > @quit\n"
			  "a ! quit\n");
}

static void a_half_closed_idle_peer_has_its_lines_served(void **state)
{
	struct world *world = *state;

	world_play(world, "a +\n"
			  "a > @login crazy right\n"
			  "a > @ping x\n"
			  "a |\n"
			  "a <~ @welcome crazy\n"
			  "a < @pong x\n"
			  "a <.\n"
			  "a ! link-end\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(unknown_bots_and_wrong_tokens_hear_the_same),
		WORLD_TEST(a_token_is_never_logged),
		WORLD_TEST(a_disabled_bot_is_told_so_only_with_its_token),
		WORLD_TEST(a_ban_tells_its_reason_to_the_token_alone),
		WORLD_TEST(who_is_banned_while_there_is_told_why),
		WORLD_TEST(several_tokens_open_one_door),
		WORLD_TEST(at_its_cap_a_bot_loses_its_oldest_idle_link),
		WORLD_TEST(a_wrong_token_evicts_nobody),
		WORLD_TEST(a_bot_whose_links_all_play_is_busy),
		WORLD_TEST(wrong_logins_are_bounded_and_forgotten),
		WORLD_TEST(a_login_must_come_in_time),
		WORLD_TEST(a_lowered_time_to_log_in_is_for_all),
		WORLD_TEST(a_lowered_cap_is_reached_at_the_next_login),
		WORLD_TEST(an_address_has_so_many_strangers),
		WORLD_TEST(the_server_has_so_many_links),
		WORLD_TEST(a_long_line_before_login_ends_the_link),
		WORLD_TEST(a_flood_without_a_line_end_ends_the_link),
		WORLD_TEST(a_flood_of_lines_is_taken_a_few_at_a_time),
		WORLD_TEST(long_answers_are_given_a_few_at_a_time),
		WORLD_TEST(a_hundred_words_in_one_piece_are_all_answered),
		WORLD_TEST(who_does_not_read_is_closed),
		WORLD_TEST(a_quit_closes),
		WORLD_TEST(a_half_closed_idle_peer_has_its_lines_served),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
