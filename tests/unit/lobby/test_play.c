/* SPDX-License-Identifier: MIT */
/* test_play.c - whole matches, and links lost in every phase of them. */
#include "tests/unit/lobby/script.h"
#include "tests/unit/unit.h"

/* a (crazy) is offered match 1 of rabbit-runner. */
static void offer_rabbit(struct world *world)
{
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a < @queued rabbit-runner waiting=1\n"
			  "a < @match 1 *\n");
}

/* a (crazy) and b (lazy) are offered match 1 of a battle; a is seat 1. */
static void offer_battle(struct world *world)
{
	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "a > @play battle\n"
			  "a < @queued battle waiting=1\n"
			  "a <.\n"
			  "b > @play battle\n"
			  "b < @queued battle waiting=2\n"
			  "a < @match 1 ladder=battle * seat=1 seats=2 *\n"
			  "b < @match 1 ladder=battle * seat=2 seats=2 *\n");
}

static void start_battle(struct world *world)
{
	offer_battle(world);
	world_play(world, "a > @ready 1\n"
			  "a <.\n"
			  "b <.\n"
			  "b > @ready 1\n"
			  "a < @file arena.png *base64*\n"
			  "a <~ @start 1\n"
			  "b < @file arena.png *base64*\n"
			  "b <~ @start 1\n");
}

static void plays_a_rabbit_runner_match_typed_by_hand(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_play(world,
		   "a > @play rabbit-runner\n"
		   "a < @queued rabbit-runner waiting=1\n"
		   "a < @match 1 ladder=rabbit-runner game=rabbit-runner "
		   "seat=1 seats=1 turns=2 turn-ms=500 init-ms=2000 bank-ms=0 "
		   "lag-cap-ms=0 ready-ms=10000 line-max=65536 rated=0*\n"
		   "a <.\n"
		   "a > @ready 1\n"
		   "a < @file corridor.txt lines=3 text bytes=93\n"
		   "a < #####*\n"
		   "a < #s*\n"
		   "a < #####*\n"
		   "a < @args corridor.txt 3\n"
		   "a < @start 1\n"
		   "a < turnsleft 2\n"
		   "a < crusher 5,1 movesto 6,1\n"
		   "a < rabbits\n"
		   "a <.\n"
		   "* t 100\n"
		   "a > move\n"
		   "a < turnsleft 1\n"
		   "a < crusher 6,1 movesto 7,1\n"
		   "a < rabbits\n"
		   "a > move\n"
		   "a < @end 1 stop=term reason=finished\n"
		   "a < @match 2 *\n"
		   "a < @place 1 seat=1 bot=crazy score=0 rank=1\n"
		   "a < @result 1 score=0 *\n"
		   "a <.\n");
	assert_int_equal(world->watched, 1);
}

static void answers_from_bytes_however_they_are_cut(void **state)
{
	static const char text[] = "@ready 1\r\nmove\nmove\n";
	struct world *world = *state;

	offer_rabbit(world);
	for (size_t i = 0; i + 1 < sizeof(text); i++)
		lobby_peer_bytes(world->lobby, world_peer(world, 'a')->peer,
				 text + i, 1, world->now_us);
	world_apply(world);
	world_play(world, "a <~ @end 1 stop=term reason=finished\n");
}

static void sends_a_turn_in_one_piece(void **state)
{
	struct world *world = *state;
	unsigned before;

	offer_rabbit(world);
	world_play(world, "a > @ready 1\n");
	before = world_peer(world, 'a')->sent;
	world_play(world, "a > move\n");
	assert_int_equal(world_peer(world, 'a')->sent, before + 1);
}

static void plays_a_battle_of_two_seats(void **state)
{
	struct world *world = *state;

	start_battle(world);
	/* Both pass: a turn without a pixel ends the battle. */
	world_play(world, "a > \n"
			  "b > \n"
			  "a <~ @end 1 stop=exit reason=finished\n"
			  "b <~ @end 1 stop=exit reason=finished\n"
			  "a <~ @place 1 seat=1 bot=crazy *\n"
			  "a < @place 1 seat=2 bot=lazy *\n"
			  "a < @result 1 *\n"
			  "b <~ @result 1 *\n");
	assert_int_equal(world->stored, 1);
}

static void a_cancelled_seat_sees_nothing_of_the_map(void **state)
{
	struct world *world = *state;

	offer_battle(world);
	world_play(world, "a > @ready 1\n"
			  "* t 10001\n"
			  "a < @cancel 1 reason=* queued=1\n"
			  "a <.\n"
			  "b < @cancel 1 reason=* queued=0\n"
			  "b <.\n"
			  /* a waits on, in its place. */
			  "b > @play battle\n"
			  "b < @queued battle waiting=2\n"
			  "a < @match 2 *\n"
			  "b < @match 2 *\n");
	assert_int_equal(world->stored, 0);
	assert_int_equal(world->watched, 0);
}

static void who_was_cancelled_on_stays_in_front(void **state)
{
	struct world *world = *state;

	offer_battle(world);
	world_login(world, 'c', "slow");
	world_login(world, 'd', "fast");
	world_play(world, "c > @play battle\n"
			  "a > @ready 1\n"
			  "b -\n"
			  "a < @cancel 1 * queued=1\n"
			  "a < @match 2 * seat=? seats=2 *\n"
			  "c <~ @match 2 *\n");
}

static void a_resignation_before_the_start_cancels(void **state)
{
	struct world *world = *state;

	offer_battle(world);
	world_play(world, "b > @resign 1\n"
			  "a < @cancel 1 * queued=1\n"
			  "b < @cancel 1 * queued=0\n"
			  "b <.\n");
}

static void a_link_lost_while_offered_cancels(void **state)
{
	struct lobby_status status;
	struct world *world = *state;

	offer_rabbit(world);
	world_play(world, "a -\n");
	lobby_status(world->lobby, &status);
	assert_int_equal(status.matches, 0);
	assert_int_equal(status.cancelled, 1);
	assert_int_equal(status.match_bytes, 0);
	assert_int_equal(world->stored, 0);
}

static void a_cancelled_instance_comes_again(void **state)
{
	struct world *world = *state;

	offer_rabbit(world);
	world_play(world, "a -\n");
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match 2 *\n"
			  "a > @ready 2\n"
			  "a <~ @args corridor.txt 3\n");
}

static void a_link_lost_while_ready_cancels(void **state)
{
	struct world *world = *state;

	offer_battle(world);
	world_play(world, "a > @ready 1\n"
			  "a -\n"
			  "b < @cancel 1 * queued=1\n"
			  "b <.\n");
}

static void a_link_lost_in_play_is_gone_and_the_others_play_on(void **state)
{
	struct world *world = *state;

	start_battle(world);
	world_play(world, "a -\n"
			  "b > \n"
			  "b <~ @end 1 *\n"
			  "b <~ @place 1 seat=1 bot=crazy *\n"
			  "b < @place 1 seat=2 bot=lazy *\n"
			  "b < @result 1 *\n");
}

static void a_solo_match_survives_its_link_as_a_result(void **state)
{
	struct world *world = *state;

	offer_rabbit(world);
	world_play(world, "a > @ready 1\n"
			  "a -\n");
	assert_int_equal(world->stored, 1);
}

static void a_link_lost_before_the_result_is_no_matter(void **state)
{
	struct world *world = *state;

	world->holds_store = true;
	offer_rabbit(world);
	world_play(world, "a > @leave\n"
			  "a > @ready 1\n"
			  "a > move\n"
			  "a > move\n"
			  "a <~ @end 1 *\n"
			  "a <.\n"
			  "a -\n");
	world_store(world);
	assert_int_equal(world->stored, 1);
}

static void a_half_closed_peer_is_served_to_its_result(void **state)
{
	struct world *world = *state;

	world->holds_store = true;
	offer_rabbit(world);
	world_play(world, "a > @ready 1\n"
			  "a > move\n"
			  "a > move\n"
			  "a <~ @end 1 stop=term reason=finished\n"
			  "a <~ @match 2 *\n"
			  "a |\n"
			  "a < @cancel 2 *\n");
	world_store(world);
	world_play(world, "* t 0\n"
			  "a <~ @result 1 *\n"
			  "a ! link-end\n");
}

static void lines_before_a_half_close_count(void **state)
{
	struct world *world = *state;

	offer_rabbit(world);
	world_play(world, "a > @ready 1\n"
			  "a > move\n"
			  "a |\n"
			  "a <~ turnsleft 1\n"
			  "a <~ @end 1 stop=term reason=gone\n"
			  "* t 0\n"
			  "a <~ @result 1 *\n"
			  "a ! link-end\n");
}

/* Its match was its last: it cannot take another, and owes none. */
static void a_half_closed_player_is_offered_nothing_more(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_play(world, "a > @play mine\n"
			  "a <~ @match 1 *rated=1*\n"
			  "a > @ready 1\n"
			  "a <~ @input *\n"
			  "a |\n"
			  "a <~ @end 1 *reason=gone\n"
			  "a < @place 1 *\n"
			  "a < @result 1 *\n"
			  "a <.\n"
			  "* t 0\n"
			  "a ! link-end\n");
	assert_null(strstr(buf_text(&world->log), "withdrawn"));
}

/* As long as lines of it are left it is not at its end, but soon will be. */
static void who_half_closes_while_a_result_waits_is_left_alone(void **state)
{
	struct world *world = *state;
	char text[1000] = "";

	world_login(world, 'a', "crazy");
	world_login(world, 'b', "lazy");
	world_play(world, "a > @play spar\n"
			  "b > @play spar\n"
			  "a <~ @match 1 *\n"
			  "a > @ready 1\n"
			  "b > @ready 1\n"
			  "b > @leave\n");
	world->holds_store = true;
	world_play(world, "a > @resign 1\n"
			  "b > @resign 1\n"
			  "a <~ @end 1 *\n");
	for (unsigned i = 0; i < LIMIT_LINES_PER_STEP + 1; i++)
		strcat(text, "@ping\n");
	lobby_peer_bytes(world->lobby, world_peer(world, 'a')->peer, text,
			 strlen(text), world->now_us);
	world_apply(world);
	world_login(world, 'c', "slow");
	world_play(world, "a |\n"
			  "c > @play spar\n"
			  "c < @queued spar *\n"
			  "c <.\n"
			  "* t 0\n"
			  "c <.\n"
			  "c > @ladders\n"
			  "c <~ @ladder spar *waiting=1 *\n");
	world_login(world, 'd', "fast");
	world_play(world, "d > @play spar\n"
			  "c <~ @match 2 *\n"
			  "d <~ @match 2 *\n");
	world_store(world);
	world_play(world, "* t 0\n"
			  "a <~ @result 1 *\n"
			  "a <.\n"
			  "a ! link-end\n");
}

static void gone_is_told_with_its_status(void **state)
{
	struct world *world = *state;

	offer_rabbit(world);
	world_play(world, "a > @ready 1\n"
			  "a > @gone 1 exit=3\n"
			  "a <~ @end 1 stop=term reason=gone\n"
			  "a <~ @result 1 *\n");
}

static void a_late_reply_ends_a_rabbit_run(void **state)
{
	struct world *world = *state;

	offer_rabbit(world);
	world_play(world, "a > @ready 1\n"
			  "* t 2499\n"
			  "a <~ rabbits\n"
			  "a <.\n"
			  "* t 2\n"
			  "a < @fault late *\n"
			  "a < @end 1 stop=term reason=late\n");
	assert_true(world->reads > 0);
}

static void a_last_read_saves_a_reply(void **state)
{
	struct world *world = *state;

	offer_rabbit(world);
	world_play(world, "a > @ready 1\n"
			  "a <~ rabbits\n");
	buf_add_text(&world_peer(world, 'a')->last_read, "move\n");
	world_play(world, "* t 2500\n"
			  "a < turnsleft 1\n");
	assert_int_equal(world->reads, 1);
}

static void time_that_the_loop_lost_is_credited(void **state)
{
	struct world *world = *state;

	offer_rabbit(world);
	world_play(world, "a > @ready 1\n"
			  "a <~ rabbits\n"
			  "* t 1000\n");
	lobby_stalled(world->lobby, 500000, world->now_us);
	world_play(world, "* t 1900\n"
			  "a <.\n"
			  "a > move\n"
			  "a < turnsleft 1\n");
}

static void a_match_that_lost_too_much_is_void_and_played_again(void **state)
{
	struct world *world = *state;

	offer_rabbit(world);
	world_play(world, "a > @ready 1\n"
			  "a <~ rabbits\n"
			  "* t 2400\n");
	lobby_stalled(world->lobby, 2300000, world->now_us);
	world_apply(world);
	world_play(world, "a < @end 1 stop=term reason=void\n"
			  "a < @void 1 reason=*\n"
			  "a < @match 2 *\n"
			  "a <.\n"
			  "a > @ready 2\n"
			  /* A fresh instance. */
			  "a <~ @args corridor.txt 4\n");
	assert_int_equal(world->stored, 1);
}

static void sixteen_ahead_pause_reading_until_they_are_used(void **state)
{
	struct world *world = *state;

	start_battle(world);
	for (unsigned i = 0; i < 18; i++)
		world_play(world, "a > 5,5\n");
	world_play(world, "a = paused\n");
	for (unsigned i = 0; i < 6; i++)
		world_play(world, "b > 7,7\n"
				  "* t 0\n");
	world_play(world, "a = reading\n");
}

static void words_of_a_finished_match_are_ignored(void **state)
{
	struct world *world = *state;

	offer_rabbit(world);
	world_play(world, "a > @leave\n"
			  "a < @left\n"
			  "a > @ready 1\n"
			  "a > move\n"
			  "a > move\n"
			  "a <~ @result 1 *\n"
			  "a > @skip 1\n"
			  "a > @gone 1 exit=0\n"
			  "a > @resign 1\n"
			  "a > @ready 1\n"
			  "a > move\n"
			  "a <.\n");
}

/* It asks for it, and measures its link by it. */
static void a_quiet_seat_is_answered_its_ping_at_once(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a > @ready 1 quiet\n"
			  "a <~ rabbits\n"
			  "a > @leave\n"
			  "a <.\n"
			  "a > @ping now\n"
			  "a < @pong now\n"
			  "a <.\n");
}

static void who_plays_counts_itself_among_those_who_wait(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a > @ready 1\n"
			  "a <~ rabbits\n"
			  "a > @play battle\n"
			  "a < @queued battle waiting=1\n");
}

static void a_quiet_seat_hears_other_things_at_its_end(void **state)
{
	struct world *world = *state;

	world->holds_store = true;
	offer_rabbit(world);
	world_play(world, "a > @ready 1\n"
			  "a > move\n"
			  "a > move\n"
			  "a <~ @match 2 *\n"
			  "a > @ready 2 quiet\n"
			  "a <~ rabbits\n");
	world_store(world);
	world_play(world, "a <.\n"
			  "a > move\n"
			  "a < turnsleft 1\n"
			  "a < crusher *\n"
			  "a < rabbits\n"
			  "a > move\n"
			  "a < @end 2 *\n"
			  "a < @place 1 *\n"
			  "a < @result 1 *\n"
			  "a < @match 3 *\n");
}

static void what_cannot_be_held_for_a_quiet_seat_is_sent(void **state)
{
	enum { ASKED = 400 };
	static const char answer[] = "@ladder rabbit-runner ";
	struct world *world = *state;
	unsigned count = 0;

	offer_rabbit(world);
	world_play(world, "a > @ready 1 quiet\n"
			  "a <~ rabbits\n");
	for (unsigned i = 0; i < ASKED; i++)
		world_play(world, "a > @ladders\n");
	/* All of it comes once there is too much, so that its order stays. */
	for (const char *at = buf_text(&world_peer(world, 'a')->inbox);
	     (at = strstr(at, answer)) != NULL; at++)
		count++;
	assert_int_equal(count, ASKED);
	world_play(world, "a > @play nowhere\n"
			  "a <~ @error unknown-ladder *\n"
			  "a > move\n"
			  "a > move\n"
			  "a <~ @result 1 *\n");
}

static void a_mine_is_sent_as_input_and_asks_once(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_play(world, "a > @play mine\n"
			  "a <~ @match 1 *\n"
			  "a > @leave mine\n"
			  "a < @left mine\n"
			  "a > @ready 1\n"
			  "a < @start 1\n"
			  "a < @input lines=3 text bytes=*\n"
			  "a < #####\n"
			  "a < #R\\\\L#\n"
			  "a < #####\n"
			  "a > RRA\n"
			  "a <~ @end 1 stop=* reason=finished\n"
			  "a <~ @result 1 *\n");
}

static void a_mine_that_is_never_answered_ends_at_its_limit(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_play(world, "a > @play mine\n"
			  "a <~ @match 1 *\n"
			  "a > @leave mine\n"
			  "a < @left mine\n"
			  "a > @ready 1\n"
			  "a <~ #####\n"
			  "a <~ #####\n"
			  "a <.\n"
			  "* t 2499\n"
			  "a <.\n"
			  "* t 2\n"
			  "a < @fault late 1/1 turn=1 *\n"
			  "a < @end 1 stop=* reason=late\n"
			  "a <~ @result 1 *\n");
}

/* a (crazy) has answered match 1 of mine with a route that takes long. */
static void start_long_mine(struct world *world)
{
	struct buf route = BUF_INIT(65536);

	world->holds_work = true;
	world_login(world, 'a', "crazy");
	world_play(world, "a > @play mine\n"
			  "a <~ @match 1 *\n"
			  "a > @leave mine\n"
			  "a > @ready 1\n"
			  "a <~ @input *\n"
			  "a <~ ####*\n"
			  "a <~ ####*\n");
	for (unsigned i = 0; i < 30000; i++)
		buf_add_char(&route, 'W');
	buf_add_text(&route, "RRA\n");
	lobby_peer_bytes(world->lobby, world_peer(world, 'a')->peer, route.data,
			 route.len, world->now_us);
	world_apply(world);
	buf_release(&route);
	assert_int_equal(world->nwork, 1);
}

static void a_long_computation_is_a_workers(void **state)
{
	struct world *world = *state;

	start_long_mine(world);
	world_play(world, "a > @ping 1\n"
			  "a < @pong 1\n"
			  "* t 5000\n"
			  "a <.\n");
	world_work(world);
	world_play(world, "a < @end 1 * reason=finished\n"
			  "a <~ @result 1 *\n");
}

static void a_link_may_be_lost_while_a_worker_computes(void **state)
{
	struct world *world = *state;

	start_long_mine(world);
	world_play(world, "a -\n");
	assert_int_equal(world->stored, 0);
	world_work(world);
	assert_int_equal(world->stored, 1);
}

static void an_abandoned_computation_ends_with_its_worker(void **state)
{
	struct world *world = *state;

	start_long_mine(world);
	lobby_drain(world->lobby, world->now_us, world->now_us);
	world_play(world, "* t 1\n"
			  "a <.\n");
	assert_false(world->is_drained);
	world_work(world);
	world_play(world, "a < @end 1 * reason=abandoned\n"
			  "a < @void 1 *\n"
			  "a ! shutdown\n");
	assert_true(world->is_drained);
	assert_int_equal(world->stored, 0);
}

static void a_busy_match_can_be_freed_with_the_lobby(void **state)
{
	struct world *world = *state;

	start_long_mine(world);
	world->nwork = 0;
}

static void who_ended_early_hears_that_the_match_was_abandoned(void **state)
{
	struct world *world = *state;

	start_battle(world);
	world_play(world, "a > @resign 1\n"
			  "a <~ @end 1 *\n"
			  "a <.\n");
	lobby_drain(world->lobby, world->now_us, world->now_us);
	world_play(world, "* t 1\n"
			  "a < @void 1 reason=abandoned*\n"
			  "a < @error shutdown *\n"
			  "a ! shutdown\n"
			  "b <~ @void 1 reason=abandoned*\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(plays_a_rabbit_runner_match_typed_by_hand),
		WORLD_TEST(answers_from_bytes_however_they_are_cut),
		WORLD_TEST(sends_a_turn_in_one_piece),
		WORLD_TEST(plays_a_battle_of_two_seats),
		WORLD_TEST(a_cancelled_seat_sees_nothing_of_the_map),
		WORLD_TEST(who_was_cancelled_on_stays_in_front),
		WORLD_TEST(a_resignation_before_the_start_cancels),
		WORLD_TEST(a_link_lost_while_offered_cancels),
		WORLD_TEST(a_cancelled_instance_comes_again),
		WORLD_TEST(a_link_lost_while_ready_cancels),
		WORLD_TEST(a_link_lost_in_play_is_gone_and_the_others_play_on),
		WORLD_TEST(a_solo_match_survives_its_link_as_a_result),
		WORLD_TEST(a_link_lost_before_the_result_is_no_matter),
		WORLD_TEST(a_half_closed_peer_is_served_to_its_result),
		WORLD_TEST(lines_before_a_half_close_count),
		WORLD_TEST(a_half_closed_player_is_offered_nothing_more),
		WORLD_TEST(who_half_closes_while_a_result_waits_is_left_alone),
		WORLD_TEST(gone_is_told_with_its_status),
		WORLD_TEST(a_late_reply_ends_a_rabbit_run),
		WORLD_TEST(a_last_read_saves_a_reply),
		WORLD_TEST(time_that_the_loop_lost_is_credited),
		WORLD_TEST(a_match_that_lost_too_much_is_void_and_played_again),
		WORLD_TEST(sixteen_ahead_pause_reading_until_they_are_used),
		WORLD_TEST(words_of_a_finished_match_are_ignored),
		WORLD_TEST(a_quiet_seat_is_answered_its_ping_at_once),
		WORLD_TEST(who_plays_counts_itself_among_those_who_wait),
		WORLD_TEST(a_quiet_seat_hears_other_things_at_its_end),
		WORLD_TEST(what_cannot_be_held_for_a_quiet_seat_is_sent),
		WORLD_TEST(a_mine_is_sent_as_input_and_asks_once),
		WORLD_TEST(a_mine_that_is_never_answered_ends_at_its_limit),
		WORLD_TEST(a_long_computation_is_a_workers),
		WORLD_TEST(a_link_may_be_lost_while_a_worker_computes),
		WORLD_TEST(an_abandoned_computation_ends_with_its_worker),
		WORLD_TEST(a_busy_match_can_be_freed_with_the_lobby),
		WORLD_TEST(who_ended_early_hears_that_the_match_was_abandoned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
