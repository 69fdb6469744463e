/* SPDX-License-Identifier: MIT */
/* Every state of a match against everything that can happen to it. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <string.h>

#include "server/match/match_internal.h"
#include "tests/unit/match/toy.h"

/* Bring a match of two seats to STATE; seat 0 is asked where it runs. */
static void reach(struct stage *stage, enum match_state state)
{
	stage_init(stage, 2);
	if (state == MATCH_OFFERED || state == MATCH_CANCELLED)
		stage_offer(stage);
	else
		stage_begin(stage);
	switch (state) {
	case MATCH_OFFERED:
	case MATCH_RUNNING:
		break;
	case MATCH_BUSY:
		stage_say(stage, 0, "busy");
		break;
	case MATCH_OVER:
		stage_say(stage, 0, "end");
		break;
	case MATCH_CANCELLED:
		match_abandon(stage->match, "draining", stage->now_us,
			      stage->out);
		stage_take(stage);
		break;
	case MATCH_VOID:
		match_void(stage->match, "test", "a test", stage->now_us,
			   stage->out);
		stage_take(stage);
		break;
	case MATCH_ABANDONED:
		match_abandon(stage->match, "draining", stage->now_us,
			      stage->out);
		stage_take(stage);
		break;
	case MATCH_NSTATES:
		break;
	}
	assert_int_equal(match_state(stage->match), state);
	for (unsigned seat = 0; seat < 2; seat++)
		buf_clear(&stage->sent[seat]);
	stage->ended = 0;
	stage->is_over = false;
	stage->is_void = false;
	stage->is_cancelled = false;
	stage->is_abandoned = false;
}

static void leave_busy(struct stage *stage)
{
	if (match_state(stage->match) != MATCH_BUSY)
		return;
	match_work(stage->match);
	match_resume(stage->match, stage->now_us, stage->out);
	stage_take(stage);
}

enum event {
	EVENT_READY,
	EVENT_READY_QUIET,
	EVENT_LINE,
	EVENT_LONG,
	EVENT_SKIP,
	EVENT_GONE,
	EVENT_RESIGN,
	EVENT_LINK,
	EVENT_EXPIRE,
	EVENT_LATER, /* expire, after all deadlines */
	EVENT_STALL,
	EVENT_ABANDON,
	EVENT_VOID,
	EVENT_ACKED,
	EVENT_NEVENTS
};

static void happen(struct stage *stage, enum event event, unsigned seat)
{
	struct match *match = stage->match;
	struct match_out *out = stage->out;
	int64_t now_us = stage->now_us;

	switch (event) {
	case EVENT_READY:
		match_ready(match, seat, false, now_us, out);
		break;
	case EVENT_READY_QUIET:
		match_ready(match, seat, true, now_us, out);
		break;
	case EVENT_LINE:
		match_line(match, seat, "hello", 5, now_us, out);
		break;
	case EVENT_LONG:
		match_line_long(match, seat, now_us, out);
		break;
	case EVENT_SKIP:
		match_skip(match, seat, now_us, out);
		break;
	case EVENT_GONE:
		match_gone(match, seat, "exit=3", now_us, out);
		break;
	case EVENT_RESIGN:
		match_resign(match, seat, now_us, out);
		break;
	case EVENT_LINK:
		match_link_lost(match, seat, now_us, out);
		break;
	case EVENT_LATER:
		stage->now_us += 20000000;
		match_expire(match, stage->now_us, out);
		break;
	case EVENT_EXPIRE:
		match_expire(match, now_us, out);
		break;
	case EVENT_STALL:
		match_credit_stall(match, 1000, now_us, out);
		break;
	case EVENT_ABANDON:
		match_abandon(match, "draining", now_us, out);
		break;
	case EVENT_VOID:
		match_void(match, "test", "a test", now_us, out);
		break;
	case EVENT_ACKED:
		match_files_acked(match, seat, now_us);
		match_rtt(match, seat, 3000);
		match_clock_started(match, seat, now_us);
		return;
	case EVENT_NEVENTS:
		return;
	}
	stage_take(stage);
}

/* The state that follows (BUSY is resolved), and what seat 1 - SEAT and SEAT
 * are told; NULL: nothing at all. */
struct row {
	enum match_state from;
	enum event event;
	unsigned seat;
	enum match_state to;
	const char *self, *other;
};

#define OFFERED_ROW(event, to, self, other)              \
	{                                                \
		MATCH_OFFERED, event, 0, to, self, other \
	}

static const struct row rows[] = {
	OFFERED_ROW(EVENT_READY, MATCH_OFFERED, NULL, NULL),
	OFFERED_ROW(EVENT_READY_QUIET, MATCH_OFFERED, NULL, NULL),
	OFFERED_ROW(EVENT_LINE, MATCH_OFFERED, NULL, NULL),
	OFFERED_ROW(EVENT_LONG, MATCH_OFFERED, NULL, NULL),
	OFFERED_ROW(EVENT_SKIP, MATCH_OFFERED, NULL, NULL),
	OFFERED_ROW(EVENT_GONE, MATCH_CANCELLED,
		    "@cancel 4711 reason=left queued=0\n",
		    "@cancel 4711 reason=left queued=1\n"),
	OFFERED_ROW(EVENT_RESIGN, MATCH_CANCELLED,
		    "@cancel 4711 reason=left queued=0\n",
		    "@cancel 4711 reason=left queued=1\n"),
	OFFERED_ROW(EVENT_LINK, MATCH_CANCELLED, NULL,
		    "@cancel 4711 reason=lost queued=1\n"),
	OFFERED_ROW(EVENT_EXPIRE, MATCH_OFFERED, NULL, NULL),
	OFFERED_ROW(EVENT_LATER, MATCH_CANCELLED,
		    "@cancel 4711 reason=silent queued=0\n",
		    "@cancel 4711 reason=silent queued=0\n"),
	OFFERED_ROW(EVENT_STALL, MATCH_OFFERED, NULL, NULL),
	OFFERED_ROW(EVENT_ABANDON, MATCH_CANCELLED,
		    "@cancel 4711 reason=draining queued=1\n",
		    "@cancel 4711 reason=draining queued=1\n"),
	OFFERED_ROW(EVENT_VOID, MATCH_CANCELLED,
		    "@cancel 4711 reason=test queued=1\n",
		    "@cancel 4711 reason=test queued=1\n"),
	OFFERED_ROW(EVENT_ACKED, MATCH_OFFERED, NULL, NULL),

	{ MATCH_RUNNING, EVENT_READY, 0, MATCH_RUNNING, NULL, NULL },
	{ MATCH_RUNNING, EVENT_READY_QUIET, 0, MATCH_RUNNING, NULL, NULL },
	/* seat 0 is asked, seat 1 is not */
	{ MATCH_RUNNING, EVENT_LINE, 0, MATCH_RUNNING, NULL,
	  "0 said hello\nask 2\n" },
	{ MATCH_RUNNING, EVENT_LINE, 1, MATCH_RUNNING, NULL, NULL },
	{ MATCH_RUNNING, EVENT_LONG, 0, MATCH_RUNNING,
	  "@fault long 1/- turn=1 : the line has more than 64 bytes: "
	  "taken as empty\n",
	  "0 said \nask 2\n" },
	{ MATCH_RUNNING, EVENT_LONG, 1, MATCH_RUNNING, NULL, NULL },
	{ MATCH_RUNNING, EVENT_SKIP, 0, MATCH_RUNNING, NULL, NULL },
	{ MATCH_RUNNING, EVENT_SKIP, 1, MATCH_RUNNING, NULL, NULL },
	{ MATCH_RUNNING, EVENT_GONE, 0, MATCH_RUNNING,
	  "@end 4711 stop=term reason=gone\n", "ask 2\n" },
	{ MATCH_RUNNING, EVENT_GONE, 1, MATCH_RUNNING,
	  "@end 4711 stop=term reason=gone\n", NULL },
	{ MATCH_RUNNING, EVENT_RESIGN, 0, MATCH_RUNNING,
	  "@end 4711 stop=term reason=gone\n", "ask 2\n" },
	{ MATCH_RUNNING, EVENT_RESIGN, 1, MATCH_RUNNING,
	  "@end 4711 stop=term reason=gone\n", NULL },
	{ MATCH_RUNNING, EVENT_LINK, 0, MATCH_RUNNING, NULL, "ask 2\n" },
	{ MATCH_RUNNING, EVENT_LINK, 1, MATCH_RUNNING, NULL, NULL },
	{ MATCH_RUNNING, EVENT_EXPIRE, 0, MATCH_RUNNING, NULL, NULL },
	{ MATCH_RUNNING, EVENT_LATER, 0, MATCH_RUNNING,
	  "@fault late 1/5 turn=1 : 20000.0 ms of 100 (+0 lag, no bank)\n",
	  "ask 2\n" },
	{ MATCH_RUNNING, EVENT_STALL, 0, MATCH_RUNNING, NULL, NULL },
	{ MATCH_RUNNING, EVENT_ABANDON, 0, MATCH_ABANDONED,
	  "@end 4711 stop=term reason=abandoned\n"
	  "@void 4711 reason=abandoned : the server goes down\n",
	  "@end 4711 stop=term reason=abandoned\n"
	  "@void 4711 reason=abandoned : the server goes down\n" },
	{ MATCH_RUNNING, EVENT_VOID, 0, MATCH_VOID,
	  "@end 4711 stop=term reason=void\n"
	  "@void 4711 reason=test : a test\n",
	  "@end 4711 stop=term reason=void\n"
	  "@void 4711 reason=test : a test\n" },
	{ MATCH_RUNNING, EVENT_ACKED, 0, MATCH_RUNNING, NULL, NULL },

	{ MATCH_BUSY, EVENT_READY, 0, MATCH_RUNNING, "work 0\nwork 1\nwork 2\n",
	  "0 said busy\nask 2\n" },
	{ MATCH_BUSY, EVENT_LINE, 0, MATCH_RUNNING, "work 0\nwork 1\nwork 2\n",
	  "0 said busy\nask 2\n" },
	/* it waited for its request */
	{ MATCH_BUSY, EVENT_LINE, 1, MATCH_RUNNING, "0 said busy\nask 2\n",
	  "work 0\nwork 1\nwork 2\n1 said hello\nask 3\n" },
	{ MATCH_BUSY, EVENT_LONG, 1, MATCH_RUNNING,
	  "0 said busy\nask 2\n"
	  "@fault long 1/- turn=1 : the line has more than 64 bytes: "
	  "taken as empty\n",
	  "work 0\nwork 1\nwork 2\n1 said \nask 3\n" },
	{ MATCH_BUSY, EVENT_SKIP, 0, MATCH_RUNNING, "work 0\nwork 1\nwork 2\n",
	  "0 said busy\nask 2\n" },
	{ MATCH_BUSY, EVENT_GONE, 0, MATCH_RUNNING,
	  "work 0\nwork 1\nwork 2\n@end 4711 stop=term reason=gone\n",
	  "0 said busy\nask 2\n" },
	{ MATCH_BUSY, EVENT_GONE, 1, MATCH_RUNNING,
	  "0 said busy\nask 2\n@end 4711 stop=term reason=gone\n",
	  "work 0\nwork 1\nwork 2\nask 3\n" },
	{ MATCH_BUSY, EVENT_RESIGN, 1, MATCH_RUNNING,
	  "0 said busy\nask 2\n@end 4711 stop=term reason=gone\n",
	  "work 0\nwork 1\nwork 2\nask 3\n" },
	{ MATCH_BUSY, EVENT_LINK, 1, MATCH_RUNNING, NULL,
	  "work 0\nwork 1\nwork 2\nask 3\n" },
	{ MATCH_BUSY, EVENT_EXPIRE, 0, MATCH_RUNNING,
	  "work 0\nwork 1\nwork 2\n", "0 said busy\nask 2\n" },
	{ MATCH_BUSY, EVENT_LATER, 0, MATCH_RUNNING, "work 0\nwork 1\nwork 2\n",
	  "0 said busy\nask 2\n" },
	{ MATCH_BUSY, EVENT_STALL, 0, MATCH_RUNNING, "work 0\nwork 1\nwork 2\n",
	  "0 said busy\nask 2\n" },
	{ MATCH_BUSY, EVENT_ABANDON, 0, MATCH_ABANDONED,
	  "@end 4711 stop=term reason=abandoned\n"
	  "@void 4711 reason=abandoned : the server goes down\n",
	  "@end 4711 stop=term reason=abandoned\n"
	  "@void 4711 reason=abandoned : the server goes down\n" },
	{ MATCH_BUSY, EVENT_VOID, 0, MATCH_VOID,
	  "@end 4711 stop=term reason=void\n"
	  "@void 4711 reason=test : a test\n",
	  "@end 4711 stop=term reason=void\n"
	  "@void 4711 reason=test : a test\n" },
	{ MATCH_BUSY, EVENT_ACKED, 0, MATCH_RUNNING, "work 0\nwork 1\nwork 2\n",
	  "0 said busy\nask 2\n" },
};

static void check_told(struct stage *stage, unsigned seat, const char *text)
{
	assert_string_equal(buf_text(&stage->sent[seat]),
			    text == NULL ? "" : text);
}

static void each_event_in_each_open_state_does_what_the_table_says(
	void **unused)
{
	(void)unused;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct row *row = &rows[i];
		struct stage stage;

		reach(&stage, row->from);
		happen(&stage, row->event, row->seat);
		leave_busy(&stage);
		if (match_state(stage.match) != row->to)
			fail_msg("row %zu: state %s", i,
				 match_state_name(match_state(stage.match)));
		check_told(&stage, row->seat, row->self);
		check_told(&stage, 1 - row->seat, row->other);
		assert_int_equal(stage.is_cancelled,
				 row->to == MATCH_CANCELLED);
		assert_int_equal(stage.is_void, row->to == MATCH_VOID);
		assert_int_equal(stage.is_abandoned,
				 row->to == MATCH_ABANDONED);
		stage_release(&stage);
	}
}

static void nothing_moves_a_match_that_has_ended(void **unused)
{
	static const enum match_state ends[] = {
		MATCH_OVER,
		MATCH_CANCELLED,
		MATCH_VOID,
		MATCH_ABANDONED,
	};

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(ends); i++) {
		for (int event = 0; event < EVENT_NEVENTS; event++) {
			struct stage stage;

			reach(&stage, ends[i]);
			assert_true(match_deadline(stage.match) == INT64_MAX);
			happen(&stage, (enum event)event, 0);
			happen(&stage, (enum event)event, 1);
			assert_int_equal(match_state(stage.match), ends[i]);
			check_told(&stage, 0, NULL);
			check_told(&stage, 1, NULL);
			assert_int_equal(stage.ended, 0);
			assert_false(stage.is_over || stage.is_cancelled ||
				     stage.is_abandoned);
			assert_true(match_wants(stage.match, 0));
			stage_release(&stage);
		}
	}
}

static void any_two_events_keep_the_invariants(void **unused)
{
	(void)unused;
	for (int state = 0; state < MATCH_NSTATES; state++) {
		for (int code = 0; code < 4 * EVENT_NEVENTS * EVENT_NEVENTS;
		     code++) {
			struct stage stage;
			int pair = code / 4;

			reach(&stage, (enum match_state)state);
			happen(&stage, (enum event)(pair % EVENT_NEVENTS),
			       code & 1);
			happen(&stage, (enum event)(pair / EVENT_NEVENTS),
			       code >> 1 & 1);
			leave_busy(&stage);
			/* stage_take() has checked after each call */
			stage_release(&stage);
		}
	}
}

static void only_the_drawn_moves_are_allowed(void **unused)
{
	static const char *const may[MATCH_NSTATES] = {
		[MATCH_OFFERED] = ".R..C..",   [MATCH_RUNNING] = "..BO.VA",
		[MATCH_BUSY] = ".R.....",      [MATCH_OVER] = ".......",
		[MATCH_CANCELLED] = ".......", [MATCH_VOID] = ".......",
		[MATCH_ABANDONED] = ".......",
	};

	(void)unused;
	for (int from = 0; from < MATCH_NSTATES; from++) {
		for (int to = 0; to < MATCH_NSTATES; to++)
			assert_int_equal(match_may_move((enum match_state)from,
							(enum match_state)to),
					 may[from][to] != '.');
	}
}

static void an_offer_tells_all_that_a_client_must_know(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage.config.limits.bank_ms = 2000;
	stage.config.limits.lag_cap_ms = 250;
	stage.config.limits.init_ms = 1500;
	stage.config.limits.grace_ms = 70;
	stage_offer(&stage);
	check_told(&stage, 1,
		   "@match 4711 ladder=toys game=toy seat=2 seats=2 turns=10 "
		   "all=0 late=5 turn-ms=100 init-ms=1500 bank-ms=2000 "
		   "lag-cap-ms=250 grace-ms=70 ready-ms=10000 line-max=64 "
		   "rated=1\n");
	stage_release(&stage);
}

static void nothing_of_the_map_goes_out_before_all_are_ready(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage_offer(&stage);
	buf_clear(&stage.sent[0]);
	buf_clear(&stage.sent[1]);
	match_ready(stage.match, 0, false, stage.now_us, stage.out);
	stage_take(&stage);
	check_told(&stage, 0, NULL);
	assert_int_equal(stage.out->block_at[0], MATCH_NO_BLOCK);
	/* a second one is no other seat's */
	match_ready(stage.match, 0, false, stage.now_us, stage.out);
	assert_int_equal(match_state(stage.match), MATCH_OFFERED);
	match_ready(stage.match, 1, false, stage.now_us, stage.out);
	assert_true(stage.out->has_started);
	stage_take(&stage);
	check_told(
		&stage, 0,
		"[block]\n@args toy.map 322 0\n@start 4711\nseed 7\nask 1\n");
	check_told(&stage, 1,
		   "[block]\n@args toy.map 322 1\n@start 4711\nseed 7\n");
	stage_release(&stage);
}

static void a_whole_input_goes_behind_the_start(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage.config.game = &toy_whole_game;
	stage_begin(&stage);
	assert_true(stage_got(&stage, 0, "rated=1 whole-input=1\n"));
	check_told(&stage, 0, "@start 4711\n[block]\nseed 7\nask 1\n");
	/* its last line was not said: only a signal ends the program */
	match_void(stage.match, "x", "y", stage.now_us, stage.out);
	stage_take(&stage);
	assert_true(stage_got(&stage, 0, "@end 4711 stop=term reason=void\n"));
	stage_release(&stage);
}

static void who_was_ready_waits_on_when_another_was_silent(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 3);
	stage_offer(&stage);
	match_ready(stage.match, 1, false, stage.now_us, stage.out);
	stage_take(&stage);
	stage_pass(&stage, 9999999);
	assert_int_equal(match_state(stage.match), MATCH_OFFERED);
	stage_pass(&stage, 1);
	assert_true(stage.is_cancelled);
	assert_int_equal(stage.stays, 1u << 1);
	assert_true(stage_got(&stage, 1, "reason=silent queued=1\n"));
	assert_true(stage_got(&stage, 2, "reason=silent queued=0\n"));
	stage_release(&stage);
}

static void all_others_wait_on_when_one_is_lost(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 3);
	stage_offer(&stage);
	match_link_lost(stage.match, 1, stage.now_us, stage.out);
	stage_take(&stage);
	assert_int_equal(stage.stays, 1u << 0 | 1u << 2);
	stage_release(&stage);
}

static void an_engine_that_refuses_the_setup_cancels(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage.setup.seed = "13";
	stage_begin(&stage);
	assert_true(stage.is_cancelled);
	assert_int_equal(stage.stays, 0);
	assert_true(
		stage_got(&stage, 0, "@cancel 4711 reason=failed queued=0\n"));
	stage_release(&stage);
}

static void a_number_of_seats_that_the_game_has_not_is_refused(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage.config.game = &toy_whole_game;
	assert_int_equal(match_new(&stage.match, &stage.config, 0, stage.out),
			 -EINVAL);
	stage_release(&stage);
}

static void a_quiet_seat_hears_control_lines_at_its_end_only(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage_offer(&stage);
	match_ready(stage.match, 0, true, stage.now_us, stage.out);
	stage_take(&stage);
	assert_true(stage_got(&stage, 0, "@start 4711\nseed 7\n"));
	stage_say(&stage, 0, "bad");
	stage_pass(&stage, 150000);
	check_told(&stage, 0, "ask 1\nask 2\nask 3\n");
	buf_clear(&stage.sent[0]);
	stage_say(&stage, 0, "late one");
	stage_say(&stage, 0, "end");
	check_told(&stage, 0,
		   "@fault invalid 1/- turn=1 : bad is bad\n"
		   "@fault late 1/5 turn=2 : 100.0 ms of 100 (+0 lag, no "
		   "bank)\n"
		   "@end 4711 stop=term reason=finished\n");
	stage_release(&stage);
}

static void what_is_held_back_is_bounded(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage.setup.params[TOY_TURNS] = 1000;
	stage_offer(&stage);
	match_ready(stage.match, 0, true, stage.now_us, stage.out);
	stage_take(&stage);
	for (unsigned i = 0; i < 999; i++)
		stage_say(&stage, 0, "bad");
	buf_clear(&stage.sent[0]);
	stage_say(&stage, 0, "bad");
	assert_true(stage.sent[0].len > HELD_BYTES_MAX);
	assert_true(stage.sent[0].len < HELD_BYTES_MAX + 256);
	/* whole lines, and the end is there */
	assert_true(stage_got(&stage, 0, "bad is bad\n@end 4711 stop=term"));
	stage_release(&stage);
}

static void game_lines_that_begin_with_at_are_escaped(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage_begin(&stage);
	assert_true(stage_got(&stage, 0, "ask 1\n"));
	stage_say(&stage, 0, "at");
	check_told(&stage, 0, "@@at\nask 2\n");
	stage_release(&stage);
}

static void a_local_match_carries_bare_game_lines(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage.config.is_local = true;
	stage.config.limits.ready_ms = 0;
	stage_begin(&stage);
	check_told(&stage, 0, "seed 7\nask 1\n");
	buf_clear(&stage.sent[0]);
	buf_clear(&stage.told);
	stage_say(&stage, 0, "at");
	stage_say(&stage, 0, "bad");
	stage_say(&stage, 0, "end");
	check_told(&stage, 0, "@at\nask 2\nask 3\n");
	assert_string_equal(buf_text(&stage.told),
			    "1: @fault invalid 1/- turn=2 : bad is bad\n"
			    "1: @end 4711 stop=term reason=finished\n");
	stage_release(&stage);
}

static void a_seat_that_ended_is_told_once_and_heard_no_more(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage_begin(&stage);
	stage_say(&stage, 0, "out");
	assert_true(
		stage_got(&stage, 0, "@end 4711 stop=term reason=invalid\n"));
	assert_int_equal(stage.ended, 1u);
	assert_false(match_seat_plays(stage.match, 0));
	for (unsigned i = 0; i < 100; i++)
		stage_say(&stage, 0, "still here");
	match_gone(stage.match, 0, "exit=0", stage.now_us, stage.out);
	stage_take(&stage);
	match_resign(stage.match, 0, stage.now_us, stage.out);
	stage_take(&stage);
	stage_say(&stage, 1, "end");
	check_told(&stage, 0, NULL);
	assert_int_equal(stage.ended, 3u);
	assert_true(stage.is_over);
	stage_release(&stage);
}

static void lines_before_gone_are_still_played(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage_begin(&stage);
	stage_say(&stage, 1, "one");
	stage_say(&stage, 1, "two");
	match_gone(stage.match, 1, "exit=3", stage.now_us, stage.out);
	stage_take(&stage);
	stage_say(&stage, 1, "after the end");
	stage_say(&stage, 0, "a");
	assert_true(stage_got(&stage, 0, "1 said one\n"));
	assert_true(match_seat_plays(stage.match, 1));
	stage_say(&stage, 0, "b");
	assert_true(stage_got(&stage, 0, "1 said two\n"));
	assert_false(match_seat_plays(stage.match, 1));
	assert_null(strstr(buf_text(&stage.sent[0]), "after"));
	stage_release(&stage);
}

static void resigning_drops_what_waits(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage_begin(&stage);
	stage_say(&stage, 1, "one");
	match_gone(stage.match, 1, "exit=3", stage.now_us, stage.out);
	stage_take(&stage);
	match_resign(stage.match, 1, stage.now_us, stage.out);
	stage_take(&stage);
	assert_false(match_seat_plays(stage.match, 1));
	assert_string_equal(stage.match->seats[1].how, "resigned");
	stage_release(&stage);
}

static void a_lost_link_is_sent_nothing(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 2);
	stage_begin(&stage);
	buf_clear(&stage.sent[1]);
	stage_say(&stage, 1, "one");
	match_link_lost(stage.match, 1, stage.now_us, stage.out);
	stage_take(&stage);
	stage_say(&stage, 0, "a");
	/* what it had said counts, and then it is gone */
	assert_true(stage_got(&stage, 0, "1 said one\n"));
	stage_say(&stage, 0, "end");
	check_told(&stage, 1, NULL);
	assert_true(stage.is_over);
	stage_release(&stage);
}

static void an_engine_that_says_too_much_voids_the_match(void **unused)
{
	struct stage stage;

	(void)unused;
	stage_init(&stage, 1);
	stage_begin(&stage);
	stage_say(&stage, 0, "flood");
	assert_true(stage.is_void);
	assert_true(stage_got(&stage, 0, "@void 4711 reason=output : "));
	stage_release(&stage);
}

static void one_scratch_serves_many_matches_that_are_busy(void **unused)
{
	struct stage first, second;

	(void)unused;
	reach(&first, MATCH_BUSY);
	reach(&second, MATCH_BUSY);
	match_out_free(second.out);
	second.out = first.out;
	match_work(second.match);
	match_work(first.match);
	match_resume(second.match, second.now_us, second.out);
	stage_take(&second);
	check_told(&second, 0, "work 0\nwork 1\nwork 2\n");
	match_resume(first.match, first.now_us, first.out);
	stage_take(&first);
	check_told(&first, 1, "0 said busy\nask 2\n");
	second.out = match_out_new();
	stage_release(&first);
	stage_release(&second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			each_event_in_each_open_state_does_what_the_table_says),
		cmocka_unit_test(nothing_moves_a_match_that_has_ended),
		cmocka_unit_test(any_two_events_keep_the_invariants),
		cmocka_unit_test(only_the_drawn_moves_are_allowed),
		cmocka_unit_test(an_offer_tells_all_that_a_client_must_know),
		cmocka_unit_test(
			nothing_of_the_map_goes_out_before_all_are_ready),
		cmocka_unit_test(a_whole_input_goes_behind_the_start),
		cmocka_unit_test(
			who_was_ready_waits_on_when_another_was_silent),
		cmocka_unit_test(all_others_wait_on_when_one_is_lost),
		cmocka_unit_test(an_engine_that_refuses_the_setup_cancels),
		cmocka_unit_test(
			a_number_of_seats_that_the_game_has_not_is_refused),
		cmocka_unit_test(
			a_quiet_seat_hears_control_lines_at_its_end_only),
		cmocka_unit_test(what_is_held_back_is_bounded),
		cmocka_unit_test(game_lines_that_begin_with_at_are_escaped),
		cmocka_unit_test(a_local_match_carries_bare_game_lines),
		cmocka_unit_test(
			a_seat_that_ended_is_told_once_and_heard_no_more),
		cmocka_unit_test(lines_before_gone_are_still_played),
		cmocka_unit_test(resigning_drops_what_waits),
		cmocka_unit_test(a_lost_link_is_sent_nothing),
		cmocka_unit_test(an_engine_that_says_too_much_voids_the_match),
		cmocka_unit_test(one_scratch_serves_many_matches_that_are_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
