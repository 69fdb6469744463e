/* SPDX-License-Identifier: MIT */
/* watch.c - the program's side of a match: its answers and its end. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "clients/bridge/bridge.h"
#include "clients/program/explain.h"
#include "server/base/clock.h"

enum {
	KILL_AGAIN_US = 2 * 1000 * 1000,
	/* Without a byte printed: it died before it played. */
	AT_ONCE_US = 2 * 1000 * 1000,
};

static void reply_was_sent(struct slot *slot)
{
	slot->current->replies++;
	slot->bridge->deaths = 0;
}

/* All commands of a program that answers once. */
static void take_whole_output(struct slot *slot, const char *text, size_t len)
{
	struct buf hint = BUF_INIT(1024);

	if (program_has_whole_reply(&slot->program, len)) {
		frame_add_game(&slot->out, text, len);
		slot->is_reply_sent = true;
		reply_was_sent(slot);
	}
	explain_dropped(&slot->program.whole, &hint);
	if (hint.len > 0 && !slot->bridge->is_quiet)
		report(slot, "match %lld: %s", (long long)slot->current->id,
		       buf_text(&hint));
	buf_release(&hint);
}

void slot_take_output(void *context, const char *line, size_t len)
{
	struct slot *slot = context;
	int64_t now_us;

	if (slot->state != SLOT_PLAYING || slot->is_gone_told)
		return;
	now_us = clock_now_us();
	if (slot->asked_us > 0) {
		slot->reply_us = now_us - slot->asked_us;
		slot->asked_us = 0;
		if (slot->reply_us > slot->current->worst_us)
			slot->current->worst_us = slot->reply_us;
	}
	if (slot->is_whole_input) {
		take_whole_output(slot, line, len);
	} else {
		frame_add_game(&slot->out, line, len);
		reply_was_sent(slot);
	}
}

/* The program ended by itself: after some that never played, no more. */
static void count_death(struct slot *slot)
{
	const struct program *program = &slot->program;
	const struct keeper_status *status = &program->status;
	struct bridge *bridge = slot->bridge;
	bool has_failed = status->end == KEEPER_NOT_STARTED ||
			  (status->end == KEEPER_EXITED &&
			   (status->value == 126 || status->value == 127));

	if (program->has_written ||
	    (!has_failed && clock_now_us() - slot->started_us > AT_ONCE_US)) {
		bridge->deaths = 0;
		return;
	}
	if (++bridge->deaths != BRIDGE_DEATHS_MAX || bridge->is_finishing)
		return;
	report(NULL,
	       "the program ended at once in %d matches in a row: taking no "
	       "more; try it with hill-run",
	       BRIDGE_DEATHS_MAX);
	bridge->exit_status = EXIT_REFUSED;
	bridge_finish(bridge);
}

/* The program plays no more: say how it ended. */
static void report_gone(struct slot *slot)
{
	const struct keeper_status *status = &slot->program.status;
	bool is_answered = slot->is_whole_input && slot->is_reply_sent;
	const char *key = "exit";
	char number[16];
	char what[256];

	(void)snprintf(number, sizeof(number), "%d", status->value);
	if (!slot->program.has_status) {
		key = "stdout";
		(void)snprintf(number, sizeof(number), "closed");
		(void)snprintf(what, sizeof(what),
			       "the program closed its output");
	} else if (status->end == KEEPER_SIGNALLED) {
		key = "signal";
		(void)snprintf(what, sizeof(what),
			       "the program was ended by signal %d (%s)",
			       status->value, strsignal(status->value));
	} else if (status->end == KEEPER_NOT_STARTED) {
		(void)snprintf(number, sizeof(number), "127");
		(void)snprintf(what, sizeof(what), "cannot run %.150s: %s",
			       slot->bridge->program[0],
			       strerror(status->value));
	} else {
		(void)snprintf(what, sizeof(what),
			       "the program ended with exit status %d",
			       status->value);
	}
	if (slot->program.has_status &&
	    (status->end != KEEPER_EXITED || status->value != 0))
		report_end(slot, what);
	else if (!is_answered)
		report(slot, "%s", what);
	if (is_answered) {
		slot->is_gone_told = true;
		return;
	}
	slot_tell_gone(slot, key, number);
	if (slot->program.has_status)
		count_death(slot);
}

/* Watch the program while it should be playing. */
static void watch_program(struct slot *slot, int64_t now_us)
{
	struct program *program = &slot->program;

	if (slot->is_gone_told)
		return;
	/* Dead without an end: somebody killed its keeper, and so it. */
	if (program->phase == PROGRAM_DRAINED || !program_is_alive(program)) {
		report_gone(slot);
		return;
	}
	if (program_has_given_up(program, now_us))
		report_gone(slot);
}

void slot_advance(struct slot *slot, int64_t now_us)
{
	struct program *program = &slot->program;

	if (slot->set_left > 0 && now_us >= slot->set_by_us) {
		/* Somebody else has left it. */
		slot->set_left = 0;
		bridge_settle_queues(slot->bridge);
	}
	if (now_us >= slot->play_again_us)
		slot_play_again(slot);
	if (slot->state == SLOT_PLAYING)
		watch_program(slot, now_us);
	/* What the program left behind goes with it. */
	if (program->phase == PROGRAM_DRAINED &&
	    (slot->state != SLOT_PLAYING || slot->is_gone_told))
		program_signal(program, KEEPER_KILL);
	if (now_us >= slot->kill_at_us) {
		program_signal(program, KEEPER_KILL);
		slot->kill_at_us = now_us + KILL_AGAIN_US;
	}
	if (!program_is_alive(program)) {
		slot->kill_at_us = INT64_MAX;
		if (slot->state == SLOT_ENDING) {
			slot->state = SLOT_WAITING;
			/* The match may have come to nothing meanwhile. */
			bridge_settle_queues(slot->bridge);
		}
		if (slot->state == SLOT_OFFERED)
			slot_say_ready(slot);
	}
	/* Read no more output than the link takes. */
	program->is_paused = slot->out.len > PROGRAM_INPUT_BYTES / 4;
}

int64_t slot_deadline(const struct slot *slot)
{
	int64_t deadline = slot->deadline_us;

	if (slot->state == SLOT_DOWN)
		deadline = slot->retry_at_us;
	if (slot->kill_at_us < deadline)
		deadline = slot->kill_at_us;
	if (slot->play_again_us < deadline)
		deadline = slot->play_again_us;
	if (slot->set_left > 0 && slot->set_by_us < deadline)
		deadline = slot->set_by_us;
	if (slot->state == SLOT_PLAYING && !slot->is_gone_told &&
	    program_closed_deadline(&slot->program) < deadline)
		deadline = program_closed_deadline(&slot->program);
	return deadline;
}
