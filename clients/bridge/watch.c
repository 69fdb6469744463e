/* SPDX-License-Identifier: MIT */
/* watch.c - the program's side of a match: its answers and its end. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "clients/bridge/bridge.h"
#include "server/base/clock.h"

enum {
	KILL_AGAIN_US = 2 * 1000 * 1000,
	/* A program that closes its output usually ends at once: its exit
	 * status says more than that the output closed. */
	CLOSED_GRACE_US = 100 * 1000,
};

/* All output of a program that answers once: what is no command goes. */
static void take_whole_output(struct slot *slot, const char *text, size_t len)
{
	struct buf reply = BUF_INIT(len + 1);

	if (program_whole_reply(&slot->program, text, len, &reply)) {
		frame_add_game(&slot->out, buf_text(&reply), reply.len);
		slot->is_reply_sent = true;
	}
	buf_release(&reply);
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
	if (slot->is_whole_input)
		take_whole_output(slot, line, len);
	else
		frame_add_game(&slot->out, line, len);
}

/* The program plays no more: say how it ended. */
static void report_gone(struct slot *slot)
{
	const struct keeper_status *status = &slot->program.status;
	char number[16];

	if (slot->is_whole_input && slot->is_reply_sent) {
		slot->is_gone_told = true;
		return;
	}
	(void)snprintf(number, sizeof(number), "%d", status->value);
	if (!slot->program.has_status) {
		report(slot, "the program closed its output");
		slot_tell_gone(slot, "stdout", "closed");
	} else if (status->end == KEEPER_SIGNALLED) {
		report(slot, "the program was ended by signal %d (%s)",
		       status->value, strsignal(status->value));
		slot_tell_gone(slot, "signal", number);
	} else if (status->end == KEEPER_NOT_STARTED) {
		report(slot, "cannot run %s: %s", slot->bridge->program[0],
		       strerror(status->value));
		slot_tell_gone(slot, "exit", "127");
	} else {
		report(slot, "the program ended with exit status %d",
		       status->value);
		slot_tell_gone(slot, "exit", number);
	}
}

/* Watch the program while it should be playing. */
static void watch_program(struct slot *slot, int64_t now_us)
{
	struct program *program = &slot->program;

	if (slot->is_gone_told)
		return;
	if (program->phase == PROGRAM_DRAINED) {
		report_gone(slot);
		return;
	}
	if (program->phase != PROGRAM_RUNNING ||
	    !program_has_closed_output(program))
		return;
	/* An empty whole reply is worth something only with exit status 0. */
	if (slot->is_whole_input && program->line.len == 0)
		return;
	if (slot->closed_at_us == 0) {
		slot->closed_at_us = now_us;
	} else if (now_us - slot->closed_at_us >= CLOSED_GRACE_US) {
		program_end_output(program);
		report_gone(slot);
	}
}

void slot_advance(struct slot *slot, int64_t now_us)
{
	struct program *program = &slot->program;

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
	if (slot->closed_at_us > 0 && !slot->is_gone_told &&
	    slot->closed_at_us + CLOSED_GRACE_US < deadline)
		deadline = slot->closed_at_us + CLOSED_GRACE_US;
	return deadline;
}
