/* SPDX-License-Identifier: MIT */
/* Every state of a match against everything that can happen to it. */
#include "tests/unit/unit.h"

#include <string.h>

#include "server/match/match_internal.h"
#include "server/match/record.h"
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

/* Last reads have later times than the verdicts that they come before. */
static void time_does_not_go_back(void **unused)
{
	enum { MS = 1000 };
	struct match_record *record;
	struct stage stage;
	int64_t began_us;

	(void)unused;
	stage_init(&stage, 2);
	stage_begin(&stage);
	began_us = stage.now_us;
	/* What is due is by the time that is said ... */
	match_expire(stage.match, began_us - 1000 * MS, stage.out);
	assert_int_equal(match_due(stage.match, began_us - 1000 * MS), 0);
	stage_take(&stage);
	assert_int_equal(match_state(stage.match), MATCH_RUNNING);
	stage.now_us += 60 * MS;
	match_skip(stage.match, 1, stage.now_us, stage.out);
	stage_take(&stage);
	/* ... and what happens is never before what has happened. */
	match_void(stage.match, "test", "a test", began_us - 1000 * MS,
		   stage.out);
	record = match_take_record(stage.match, stage.out);
	assert_non_null(record);
	assert_int_equal(record->ended_us - record->started_us, 60 * MS);
	match_record_free(record);
	stage_release(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			each_event_in_each_open_state_does_what_the_table_says),
		cmocka_unit_test(nothing_moves_a_match_that_has_ended),
		cmocka_unit_test(any_two_events_keep_the_invariants),
		cmocka_unit_test(only_the_drawn_moves_are_allowed),
		cmocka_unit_test(time_does_not_go_back),
		cmocka_unit_test(one_scratch_serves_many_matches_that_are_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
