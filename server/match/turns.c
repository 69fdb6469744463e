/* SPDX-License-Identifier: MIT */
/* turns.c - feeding the engine, and what comes out of it. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/match/match_internal.h"

enum { REPLY_HEAD_BYTES = 6, DETAIL_BYTES = 160 };

/* The engine's status after begin, feed: absorb, or hand it to a worker. */
static void deal_with(struct match *match, enum game_status status,
		      int64_t now_us, struct match_out *out)
{
	if (status == GAME_DONE) {
		turns_absorb(match, now_us, out);
		return;
	}
	/* OUT serves other matches meanwhile: the worker gets its own. */
	match->busy_out = xmalloc(sizeof(*match->busy_out));
	*match->busy_out = out->game;
	game_out_init(&out->game, LIMIT_OUTPUT_BYTES);
	match_set_state(match, MATCH_BUSY);
	out->is_busy = true;
}

void turns_begin(struct match *match, int64_t now_us, struct match_out *out)
{
	game_out_clear(&out->game);
	deal_with(match, match->game->begin(match->engine, &out->game), now_us,
		  out);
}

static void feed(struct match *match, unsigned seat, enum game_input kind,
		 const char *text, size_t len, int64_t now_us,
		 struct match_out *out)
{
	transcript_write(&match->transcript, out->scratch, seat, kind, text,
			 len);
	match->seats[seat].transcript_bytes += len + REPLY_HEAD_BYTES;
	match->inputs++;
	game_out_clear(&out->game);
	deal_with(match,
		  match->game->feed(match->engine, seat, kind, text, len,
				    &out->game),
		  now_us, out);
}

static void stop_clock(struct match *match, unsigned seat,
		       struct match_out *out)
{
	turn_clock_off(&match->seats[seat]);
	out->clock &= ~seat_bit(seat);
}

void turns_gone(struct match *match, unsigned number, int64_t now_us,
		struct match_out *out)
{
	struct match_seat *seat = &match->seats[number];
	struct note note = {
		.kind = NOTE_GONE,
		.seat = number,
		.flags = seat->is_full ? NOTE_FULL : 0,
		.text = seat->how,
		.len = strlen(seat->how),
	};

	seat->is_gone = true;
	ahead_release(&seat->ahead);
	stop_clock(match, number, out);
	notes_write(&match->notes, out->scratch, &note);
	feed(match, number, GAME_GONE, "", 0, now_us, out);
}

/*
 * Whether an input of LEN more bytes is still within SEAT's share of the
 * transcript; else the seat is out.
 */
static bool has_share(struct match *match, unsigned number, size_t len,
		      int64_t now_us, struct match_out *out)
{
	struct match_seat *seat = &match->seats[number];
	size_t share = LIMIT_TRANSCRIPT_BYTES / match->nseats;
	char text[DETAIL_BYTES];

	if (seat->transcript_bytes + len + REPLY_HEAD_BYTES <= share)
		return true;
	seat->is_full = true;
	seat->faults[MATCH_FAULT_FULL]++;
	(void)snprintf(seat->how, sizeof(seat->how), "full");
	(void)snprintf(
		text, sizeof(text),
		"%zu bytes of replies; a seat of this match may have %zu",
		seat->transcript_bytes + len, share);
	told_fault(match, number, MATCH_FAULT_FULL, text, out);
	turns_gone(match, number, now_us, out);
	return false;
}

static void tell_long(struct match *match, unsigned number,
		      struct match_out *out)
{
	char text[DETAIL_BYTES];

	match->seats[number].faults[MATCH_FAULT_LONG]++;
	(void)snprintf(text, sizeof(text),
		       "the line has more than %zu bytes: taken as empty",
		       match->line_max);
	told_fault(match, number, MATCH_FAULT_LONG, text, out);
}

void turns_answer(struct match *match, unsigned number, bool is_long,
		  const char *text, size_t len, int64_t at_us,
		  struct match_out *out)
{
	struct match_seat *seat = &match->seats[number];
	struct note note = { .kind = NOTE_REPLY, .seat = number, .text = "" };

	if (!has_share(match, number, len, at_us, out))
		return;
	if (seat->clock == TURN_CLOCK_RUNS) {
		note.time_us = turn_clock_elapsed_us(seat, at_us);
		note.bank_us = turn_clock_pay(seat, match, note.time_us);
		note.stall_us = seat->stall_us;
		seat->total_us += note.time_us;
		if (note.time_us > seat->max_us)
			seat->max_us = note.time_us;
	} else {
		note.flags |= NOTE_EARLY;
		seat->early++;
	}
	if (seat->is_interrupted)
		note.flags |= NOTE_INTERRUPTED;
	if (note.stall_us > 0)
		note.flags |= NOTE_STALL;
	if (note.bank_us > 0) {
		note.flags |= NOTE_BANKED;
		seat->banked++;
		told_banked(match, number, note.time_us, out);
	}
	if (is_long) {
		note.flags |= NOTE_LONG;
		tell_long(match, number, out);
	}
	stop_clock(match, number, out);
	notes_write(&match->notes, out->scratch, &note);
	feed(match, number, GAME_REPLY, text, len, at_us, out);
}

void turns_late(struct match *match, unsigned number, int64_t now_us,
		struct match_out *out)
{
	struct match_seat *seat = &match->seats[number];
	struct note note = { .kind = NOTE_LATE, .seat = number, .text = "" };
	char text[DETAIL_BYTES];

	note.time_us = turn_clock_elapsed_us(seat, now_us);
	note.bank_us = turn_clock_pay(seat, match, note.time_us);
	note.stall_us = seat->stall_us;
	note.flags = (note.bank_us > 0 ? NOTE_BANKED : 0) |
		     (note.stall_us > 0 ? NOTE_STALL : 0) |
		     (seat->is_interrupted ? NOTE_INTERRUPTED : 0);
	seat->faults[MATCH_FAULT_LATE]++;
	told_late_text(match, number, note.time_us, note.bank_us, text,
		       sizeof(text));
	told_fault(match, number, MATCH_FAULT_LATE, text, out);
	seat->owed++;
	seat->late_us = seat->clock_us;
	stop_clock(match, number, out);
	if (!has_share(match, number, 0, now_us, out))
		return;
	notes_write(&match->notes, out->scratch, &note);
	feed(match, number, GAME_LATE, "", 0, now_us, out);
}

void turns_settle(struct match *match, unsigned number, bool is_skip,
		  int64_t now_us, struct match_out *out)
{
	struct match_seat *seat = &match->seats[number];
	struct note note = {
		.kind = is_skip ? NOTE_SKIPPED : NOTE_THROWN,
		.seat = number,
		/* Of several only the last one's request is remembered. */
		.time_us = seat->owed == 1 ? now_us - seat->late_us : 0,
		.text = "",
	};

	assert(seat->owed > 0);
	seat->owed--;
	notes_write(&match->notes, out->scratch, &note);
	if (seat->owed == 0) {
		seat->settled_us = now_us;
		turn_clock_set(seat, match);
	}
}

static void tell_invalid(struct match *match, unsigned number,
			 struct match_out *out)
{
	const char *detail = out->game.detail[number];
	struct note note = {
		.kind = NOTE_INVALID,
		.seat = number,
		.text = detail,
		.len = strnlen(detail, sizeof(out->game.detail[number])),
	};

	match->seats[number].faults[MATCH_FAULT_INVALID]++;
	told_fault(match, number, MATCH_FAULT_INVALID, detail, out);
	notes_write(&match->notes, out->scratch, &note);
}

/* What the last input brought about for one seat. */
static void absorb_seat(struct match *match, unsigned number,
			struct match_out *out)
{
	struct match_seat *seat = &match->seats[number];
	const struct game_out *game = &out->game;
	const struct buf *lines = &game->lines[number];
	uint32_t bit = seat_bit(number);

	if ((game->invalid & bit) != 0)
		tell_invalid(match, number, out);
	if (lines->len > 0) {
		digest_lines(&match->digest, number, lines->data, lines->len);
		if (!seat->has_ended)
			told_lines(match, number, lines, out);
	}
	if ((game->ended & bit) != 0) {
		match_end_seat(match, number, game_stop_word(match->game->stop),
			       game_reason_word(game->reason[number]), out);
	} else if ((game->asked & bit) != 0 && !seat->has_ended) {
		/* An engine lets a seat go that is gone. */
		assert(!seat->is_gone || seat->ahead.items > 0);
		seat->limit_ms = game->limit_ms[number];
		seat->grace_ms = game->grace_ms[number];
		turn_clock_asked(seat, match);
		out->clock |= bit;
	}
}

/* Whether anything that was put out did not fit. */
static bool has_lost_output(const struct match *match,
			    const struct match_out *out)
{
	for (unsigned seat = 0; seat < match->nseats; seat++) {
		if (out->game.lines[seat].is_failed ||
		    out->lines[seat].is_failed)
			return true;
	}
	return false;
}

void turns_absorb(struct match *match, int64_t now_us, struct match_out *out)
{
	for (unsigned seat = 0; seat < match->nseats; seat++)
		absorb_seat(match, seat, out);
	if (match->inputs > 0)
		digest_input(&match->digest);
	if (has_lost_output(match, out)) {
		match_stop_void(match, "output",
				"the game said more than a match may hold",
				now_us, out);
		return;
	}
	if (match->transcript.raw.is_failed ||
	    match->transcript.packed.is_failed) {
		match_stop_void(match, "memory", "no memory for the transcript",
				now_us, out);
		return;
	}
	if (!out->game.is_over)
		return;
	for (unsigned seat = 0; seat < match->nseats; seat++) {
		if (!match->seats[seat].has_ended)
			match_end_seat(match, seat,
				       game_stop_word(match->game->stop),
				       game_reason_word(GAME_FINISHED), out);
	}
	match->ended_us = now_us;
	match_set_state(match, MATCH_OVER);
	out->is_over = true;
}

/* Whether the first thing that waits for SEAT can be dealt with now. */
static bool can_take(const struct match_seat *seat, struct ahead_item *ret)
{
	if (!ahead_peek(&seat->ahead, ret))
		return false;
	if (ret->kind == AHEAD_LINE || ret->kind == AHEAD_LONG)
		return seat->owed > 0 || seat->is_asked;
	return true;
}

static void take(struct match *match, unsigned number,
		 const struct ahead_item *item, struct match_out *out)
{
	struct match_seat *seat = &match->seats[number];

	switch (item->kind) {
	case AHEAD_SKIP:
		if (seat->owed > 0)
			turns_settle(match, number, true, item->at_us, out);
		break;
	case AHEAD_GONE:
		turns_gone(match, number, item->at_us, out);
		break;
	case AHEAD_LINE:
	case AHEAD_LONG:
		if (seat->owed > 0)
			turns_settle(match, number, false, item->at_us, out);
		else
			turns_answer(match, number, item->kind == AHEAD_LONG,
				     item->text, item->len, item->at_us, out);
		break;
	case AHEAD_NKINDS:
		break;
	}
	/* Nothing is left when the seat's game ended with it. */
	ahead_pop(&seat->ahead);
}

void turns_pump(struct match *match, struct match_out *out)
{
	while (match->state == MATCH_RUNNING) {
		struct ahead_item first = { .at_us = TIME_NEVER };
		int number = -1;

		for (unsigned i = 0; i < match->nseats; i++) {
			struct ahead_item item;

			if (match->seats[i].ahead.items > 0 &&
			    can_take(&match->seats[i], &item) &&
			    item.at_us < first.at_us) {
				first = item;
				number = (int)i;
			}
		}
		if (number < 0)
			return;
		/* It came while the engine was away, and came too late. */
		if (first.at_us > match->seats[number].verdict_us)
			turns_late(match, (unsigned)number,
				   match->seats[number].verdict_us, out);
		else
			take(match, (unsigned)number, &first, out);
	}
}
