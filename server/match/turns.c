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
	game_out_init(&out->game, match->busy_out->lines[0].limit);
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

void turns_gone(struct match *match, unsigned seat, int64_t now_us,
		struct match_out *out)
{
	struct match_seat *self = &match->seats[seat];
	struct note note = {
		.kind = NOTE_GONE,
		.seat = seat,
		.flags = self->is_full ? NOTE_FULL : 0,
		.text = self->how,
		.len = strlen(self->how),
	};

	self->is_gone = true;
	block_drop(self);
	ahead_release(&self->ahead);
	stop_clock(match, seat, out);
	notes_write(&match->notes, out->scratch, &note);
	feed(match, seat, GAME_GONE, "", 0, now_us, out);
}

void match_set_share(struct match *match, size_t bytes)
{
	size_t most = LIMIT_TRANSCRIPT_BYTES / match->nseats;
	size_t least = match->line_max + REPLY_HEAD_BYTES;

	if (bytes < least)
		bytes = least;
	match->share = bytes < most ? bytes : most;
}

/*
 * Whether an input of LEN more bytes is still within SEAT's share of the
 * transcript; else the seat is out.
 */
static bool has_share(struct match *match, unsigned seat, size_t len,
		      int64_t now_us, struct match_out *out)
{
	struct match_seat *self = &match->seats[seat];
	bool is_pressed = match->share < LIMIT_TRANSCRIPT_BYTES / match->nseats;
	char text[DETAIL_BYTES];

	if (self->transcript_bytes + len + REPLY_HEAD_BYTES <= match->share)
		return true;
	self->is_full = true;
	self->faults[MATCH_FAULT_FULL]++;
	(void)snprintf(self->how, sizeof(self->how), "full");
	(void)snprintf(
		text, sizeof(text),
		"%zu bytes of replies; a seat of this match may have %zu%s",
		self->transcript_bytes + len, match->share,
		is_pressed ? " while all matches have so many" : "");
	told_fault(match, seat, MATCH_FAULT_FULL, text, out);
	turns_gone(match, seat, now_us, out);
	return false;
}

static void tell_long(struct match *match, unsigned seat, struct match_out *out)
{
	const struct game *game = match->game;
	char text[DETAIL_BYTES];
	char lines[32] = "";

	match->seats[seat].faults[MATCH_FAULT_LONG]++;
	if (game->form == GAME_FORM_COUNTED || game->form == GAME_FORM_ENDED)
		(void)snprintf(lines, sizeof(lines), " or %u lines",
			       game->reply_lines);
	(void)snprintf(text, sizeof(text),
		       "the %s has more than %zu bytes%s: taken as empty",
		       game->form == GAME_FORM_LINE ? "line" : "reply",
		       match->line_max, lines);
	told_fault(match, seat, MATCH_FAULT_LONG, text, out);
}

void turns_answer(struct match *match, unsigned seat, bool is_long,
		  const char *text, size_t len, int64_t at_us,
		  struct match_out *out)
{
	struct match_seat *self = &match->seats[seat];
	struct note note = { .kind = NOTE_REPLY, .seat = seat, .text = "" };

	if (!has_share(match, seat, len, at_us, out))
		return;
	if (self->clock == TURN_CLOCK_RUNS) {
		note.time_us = turn_clock_elapsed_us(self, at_us);
		note.bank_us = turn_clock_pay(self, match, note.time_us);
		note.stall_us = self->stall_us;
		self->total_us += note.time_us;
		self->times[metrics_place(note.time_us)]++;
		if (note.time_us > self->max_us)
			self->max_us = note.time_us;
	} else {
		note.flags |= NOTE_EARLY;
		self->early++;
	}
	if (self->is_interrupted)
		note.flags |= NOTE_INTERRUPTED;
	if (note.stall_us > 0)
		note.flags |= NOTE_STALL;
	if (note.bank_us > 0) {
		note.flags |= NOTE_BANKED;
		self->banked++;
		told_banked(match, seat, note.time_us, out);
	}
	if (is_long) {
		note.flags |= NOTE_LONG;
		tell_long(match, seat, out);
	}
	stop_clock(match, seat, out);
	notes_write(&match->notes, out->scratch, &note);
	feed(match, seat, GAME_REPLY, text, len, at_us, out);
}

void turns_late(struct match *match, unsigned seat, int64_t now_us,
		struct match_out *out)
{
	struct match_seat *self = &match->seats[seat];
	struct note note = { .kind = NOTE_LATE, .seat = seat, .text = "" };
	char text[DETAIL_BYTES];

	note.time_us = turn_clock_elapsed_us(self, now_us);
	note.bank_us = turn_clock_pay(self, match, note.time_us);
	note.stall_us = self->stall_us;
	note.flags = (note.bank_us > 0 ? NOTE_BANKED : 0) |
		     (note.stall_us > 0 ? NOTE_STALL : 0) |
		     (self->is_interrupted ? NOTE_INTERRUPTED : 0);
	self->faults[MATCH_FAULT_LATE]++;
	told_late_text(match, seat, note.time_us, note.bank_us, text,
		       sizeof(text));
	told_fault(match, seat, MATCH_FAULT_LATE, text, out);
	self->owed++;
	self->late_us = self->clock_us;
	stop_clock(match, seat, out);
	if (!has_share(match, seat, 0, now_us, out))
		return;
	notes_write(&match->notes, out->scratch, &note);
	feed(match, seat, GAME_LATE, "", 0, now_us, out);
}

void turns_settle(struct match *match, unsigned seat, bool is_skip,
		  int64_t now_us, struct match_out *out)
{
	struct match_seat *self = &match->seats[seat];
	struct note note = {
		.kind = is_skip ? NOTE_SKIPPED : NOTE_THROWN,
		.seat = seat,
		/* Of several only the last one's request is remembered. */
		.time_us = self->owed == 1 ? now_us - self->late_us : 0,
		.text = "",
	};

	assert(self->owed > 0);
	self->owed--;
	notes_write(&match->notes, out->scratch, &note);
	if (self->owed == 0) {
		self->settled_us = now_us;
		turn_clock_set(self, match);
	}
}

static void tell_invalid(struct match *match, unsigned seat,
			 struct match_out *out)
{
	const char *detail = out->game.detail[seat];
	struct note note = {
		.kind = NOTE_INVALID,
		.seat = seat,
		.text = detail,
		.len = strnlen(detail, sizeof(out->game.detail[seat])),
	};

	match->seats[seat].faults[MATCH_FAULT_INVALID]++;
	told_fault(match, seat, MATCH_FAULT_INVALID, detail, out);
	notes_write(&match->notes, out->scratch, &note);
}

void turns_digest(struct match *match, const struct match_out *out)
{
	for (unsigned seat = 0; seat < match->nseats; seat++) {
		const struct buf *lines = &out->game.lines[seat];

		if (lines->len > 0)
			digest_lines(&match->digest, seat, lines->data,
				     lines->len);
	}
	if (match->inputs > 0)
		digest_input(&match->digest);
}

/* What the last input brought about for one seat. */
static void absorb_seat(struct match *match, unsigned seat,
			struct match_out *out)
{
	struct match_seat *self = &match->seats[seat];
	const struct game_out *game = &out->game;
	const struct buf *lines = &game->lines[seat];
	uint32_t bit = seat_bit(seat);

	if ((game->invalid & bit) != 0)
		tell_invalid(match, seat, out);
	if (lines->len > 0 && !self->has_ended)
		told_lines(match, seat, lines, out);
	if ((game->ended & bit) != 0) {
		match_end_seat(match, seat, game_stop_word(match->game->stop),
			       game_reason_word(game->reason[seat]), out);
	} else if ((game->asked & bit) != 0 && !self->has_ended) {
		/* An engine lets a seat go that is gone. */
		assert(!self->is_gone || self->ahead.items > 0);
		self->limit_ms = game->limit_ms[seat];
		self->grace_ms = game->grace_ms[seat];
		turn_clock_asked(self, match);
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
	turns_digest(match, out);
	for (unsigned seat = 0; seat < match->nseats; seat++)
		absorb_seat(match, seat, out);
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

static void take(struct match *match, unsigned seat,
		 const struct ahead_item *item, struct match_out *out)
{
	struct match_seat *self = &match->seats[seat];

	switch (item->kind) {
	case AHEAD_SKIP:
		if (self->owed > 0)
			turns_settle(match, seat, true, item->at_us, out);
		break;
	case AHEAD_GONE:
		turns_gone(match, seat, item->at_us, out);
		break;
	case AHEAD_LINE:
	case AHEAD_LONG:
		if (self->owed > 0)
			turns_settle(match, seat, false, item->at_us, out);
		else
			turns_answer(match, seat, item->kind == AHEAD_LONG,
				     item->text, item->len, item->at_us, out);
		break;
	case AHEAD_NKINDS:
		break;
	}
	/* Nothing is left when the seat's game ended with it. */
	ahead_pop(&self->ahead);
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
