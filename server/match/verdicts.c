/* SPDX-License-Identifier: MIT */
/* verdicts.c - what time does to a match: late, interrupted, stalled. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/match/match_internal.h"

/* A stall is grave when it is more than one part in so many of a turn. */
enum { GRAVE_PART = 10 };

void match_clock_started(struct match *match, unsigned seat, int64_t now_us)
{
	if (match->seats[seat].clock == TURN_CLOCK_UNSENT)
		turn_clock_start(&match->seats[seat], match,
				 match_time(match, now_us));
}

void match_files_acked(struct match *match, unsigned seat, int64_t now_us)
{
	struct match_seat *self = &match->seats[seat];

	if (self->acked_us != TIME_NEVER)
		return;
	self->acked_us = match_time(match, now_us);
	if (self->requests == 1)
		turn_clock_set(self, match);
}

void match_rtt(struct match *match, unsigned seat, int64_t rtt_us)
{
	struct match_seat *self = &match->seats[seat];
	bool is_first = self->lag_us < 0;

	if (rtt_us < 0 || (!is_first && rtt_us >= self->lag_us))
		return;
	self->lag_us = rtt_us;
	/* Less never shortens a clock that runs; the first sample counts. */
	if (is_first && self->clock == TURN_CLOCK_RUNS) {
		self->paid_lag_us = turn_clock_lag_us(self, match);
		turn_clock_set(self, match);
	}
}

int64_t match_deadline(const struct match *match)
{
	int64_t first = TIME_NEVER;

	if (match->state == MATCH_OFFERED)
		return match->ready_by_us;
	if (match->state != MATCH_RUNNING)
		return TIME_NEVER;
	for (unsigned i = 0; i < match->nseats; i++) {
		if (match->seats[i].verdict_us < first)
			first = match->seats[i].verdict_us;
		if (match->seats[i].interrupt_us < first)
			first = match->seats[i].interrupt_us;
	}
	return first;
}

uint32_t match_due(const struct match *match, int64_t now_us)
{
	uint32_t due = 0;

	if (match->state != MATCH_RUNNING)
		return 0;
	for (unsigned i = 0; i < match->nseats; i++) {
		if (match->seats[i].verdict_us <= now_us)
			due |= seat_bit(i);
	}
	return due;
}

/*
 * The one thing that is due first at NOW_US; it happens at the latest time
 * seen. False when nothing is.
 */
static bool expire_one(struct match *match, int64_t now_us,
		       struct match_out *out)
{
	int64_t first = now_us;
	int number = -1;

	for (unsigned i = 0; i < match->nseats; i++) {
		const struct match_seat *seat = &match->seats[i];
		int64_t at_us = seat->interrupt_us < seat->verdict_us
					? seat->interrupt_us
					: seat->verdict_us;

		if (at_us < first || (at_us == first && number < 0)) {
			first = at_us;
			number = (int)i;
		}
	}
	if (number < 0)
		return false;
	if (match->seats[number].interrupt_us <= first) {
		match->seats[number].interrupt_us = TIME_NEVER;
		match->seats[number].is_interrupted = true;
		told_interrupt(match, (unsigned)number, out);
	} else {
		turns_late(match, (unsigned)number, match_time(match, now_us),
			   out);
		turns_pump(match, out);
	}
	return true;
}

void match_expire(struct match *match, int64_t now_us, struct match_out *out)
{
	uint32_t ready = 0;

	match_out_clear(out);
	if (match->state == MATCH_OFFERED && match->ready_by_us <= now_us) {
		for (unsigned i = 0; i < match->nseats; i++) {
			if (match->seats[i].is_ready)
				ready |= seat_bit(i);
		}
		match_cancel(match, "silent", ready, out);
	}
	while (match->state == MATCH_RUNNING && expire_one(match, now_us, out))
		;
}

void match_credit_stall(struct match *match, int64_t lost_us, int64_t now_us,
			struct match_out *out)
{
	bool has_credited = false;
	char text[64];

	now_us = match_time(match, now_us);
	match_out_clear(out);
	if (!match_is_in_play(match) || lost_us <= 0)
		return;
	for (unsigned i = 0; i < match->nseats; i++) {
		if (turn_clock_credit(&match->seats[i], lost_us, now_us))
			has_credited = true;
	}
	if (!has_credited)
		return;
	match->stall_us += lost_us;
	if (match->limits.turn_ms > 0 &&
	    lost_us * GRAVE_PART > match->limits.turn_ms * US_PER_MS)
		match->grave_us += lost_us;
	if (match->limits.stall_void_ms == 0 || match->state == MATCH_BUSY ||
	    match->grave_us <= match->limits.stall_void_ms * US_PER_MS)
		return;
	(void)snprintf(text, sizeof(text), "the server lost %lld ms",
		       (long long)(match->grave_us / US_PER_MS));
	match_stop_void(match, "stall", text, now_us, out);
}
