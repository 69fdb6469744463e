/* SPDX-License-Identifier: MIT */
/* told.c - what a match says to its seats, line by line. */
#include <stdio.h>

#include "proto/control.h"
#include "proto/framer.h"
#include "server/match/match_internal.h"

enum { LINE_BYTES_MAX = 2048 };

/* Whether a line may wait for the end of a quiet seat's game. */
enum told_when { TOLD_NOW, TOLD_BETWEEN_GAME_LINES };

static struct buf *held_buf(struct match_seat *seat)
{
	if (seat->held == NULL) {
		seat->held = xmalloc(sizeof(*seat->held));
		buf_init(seat->held, LIMIT_HELD_FAULT_BYTES + LINE_BYTES_MAX);
	}
	if (seat->held->len < LIMIT_HELD_FAULT_BYTES)
		return seat->held;
	/* What comes is lost, whole lines at a time; @end tells how many. */
	seat->untold++;
	return NULL;
}

/* Where a control line to SEAT goes, begun with WORD; NULL: nowhere. */
static struct buf *begin(struct match *match, unsigned seat, enum word_id word,
			 enum told_when when, struct match_out *out)
{
	struct match_seat *self = &match->seats[seat];
	struct buf *to = &out->lines[seat];

	if (match->is_local) {
		to = &out->told;
		buf_add_u64(to, seat + 1);
		buf_add_text(to, ": ");
	} else if (!self->is_linked) {
		return NULL;
	} else if (when == TOLD_BETWEEN_GAME_LINES && self->is_quiet &&
		   !self->has_ended) {
		to = held_buf(self);
		if (to == NULL)
			return NULL;
	} else {
		out->touched |= seat_bit(seat);
	}
	control_add_word(to, word);
	return to;
}

/* "set=2/4": the second of its four matches. */
static void add_round(struct buf *to, const struct match_round *round)
{
	char text[24];

	if (round->kind == MATCH_NO_ROUND)
		return;
	control_add_key_i64(to, "round", round->id);
	if (round->kind != MATCH_ROUND_SET)
		return;
	(void)snprintf(text, sizeof(text), "%u/%u", round->number,
		       round->wanted);
	control_add_key(to, "set", text);
}

void told_match(struct match *match, unsigned seat, struct match_out *out)
{
	const struct match_limits *limits = &match->limits;
	struct buf *to = begin(match, seat, WORD_MATCH, TOLD_NOW, out);

	if (to == NULL)
		return;
	control_add_arg_i64(to, match->id);
	control_add_key(to, "ladder", match->ladder);
	control_add_key(to, "game", match->game->name);
	control_add_key_i64(to, "seat", seat + 1);
	control_add_key_i64(to, "seats", match->nseats);
	for (unsigned i = 0; i < match->game->nparams; i++)
		control_add_key_i64(to, match->game->params[i].name,
				    match->setup.params[i]);
	control_add_key_i64(to, "turn-ms", limits->turn_ms);
	control_add_key_i64(to, "init-ms", limits->init_ms);
	control_add_key_i64(to, "bank-ms", limits->bank_ms);
	control_add_key_i64(to, "lag-cap-ms", limits->lag_cap_ms);
	if (limits->grace_ms > 0)
		control_add_key_i64(to, "grace-ms", limits->grace_ms);
	control_add_key_i64(to, "ready-ms", limits->ready_ms);
	control_add_key_i64(to, "line-max", (int64_t)match->line_max);
	control_add_key_i64(to, "rated", match->is_rated ? 1 : 0);
	add_round(to, &match->round);
	if (match->game->is_whole_input)
		control_add_key_i64(to, "whole-input", 1);
	control_add_end(to);
}

static void told_args(struct match *match, unsigned seat, struct match_out *out)
{
	struct buf *to = &out->lines[seat];
	size_t from = to->len;
	size_t bare;

	if (match->game->args == NULL)
		return;
	control_add_word(to, WORD_ARGS);
	buf_add_char(to, ' ');
	bare = to->len;
	match->game->args(match->map, &match->setup, seat, match->map_name, to);
	if (to->len == bare) {
		to->len = from;
		return;
	}
	control_add_end(to);
}

void told_start(struct match *match, unsigned seat, struct match_out *out)
{
	struct match_seat *self = &match->seats[seat];
	struct buf *to = &out->lines[seat];

	/* A local program has its map and arguments already. */
	if (match->is_local || !self->is_linked)
		return;
	out->touched |= seat_bit(seat);
	self->needs_files = true;
	if (!match->game->is_whole_input)
		out->block_at[seat] = to->len;
	told_args(match, seat, out);
	control_add_word(to, WORD_START);
	control_add_arg_i64(to, match->id);
	control_add_end(to);
	if (match->game->is_whole_input)
		out->block_at[seat] = to->len;
}

void told_cancel(struct match *match, unsigned seat, const char *word,
		 bool stays, struct match_out *out)
{
	struct buf *to = begin(match, seat, WORD_CANCEL, TOLD_NOW, out);

	if (to == NULL)
		return;
	control_add_arg_i64(to, match->id);
	control_add_key(to, "reason", word);
	control_add_key_i64(to, "queued", stays ? 1 : 0);
	control_add_end(to);
}

void told_end(struct match *match, unsigned seat, const char *stop,
	      const char *reason, struct match_out *out)
{
	struct match_seat *self = &match->seats[seat];
	struct buf *to;

	if (self->held != NULL && self->is_linked) {
		buf_add(&out->lines[seat], self->held->data, self->held->len);
		out->touched |= seat_bit(seat);
	}
	to = begin(match, seat, WORD_END, TOLD_NOW, out);
	if (to == NULL)
		return;
	control_add_arg_i64(to, match->id);
	control_add_key(to, "stop", stop);
	control_add_key(to, "reason", reason);
	if (self->untold > 0)
		control_add_key_i64(to, "untold", self->untold);
	control_add_end(to);
}

void told_void(struct match *match, unsigned seat, const char *word,
	       const char *text, struct match_out *out)
{
	struct buf *to = begin(match, seat, WORD_VOID, TOLD_NOW, out);

	if (to == NULL)
		return;
	control_add_arg_i64(to, match->id);
	control_add_key(to, "reason", word);
	control_add_text(to, text);
	control_add_end(to);
}

void told_interrupt(struct match *match, unsigned seat, struct match_out *out)
{
	struct buf *to;

	/* It has nobody who could act on it; held back it would be no use. */
	if (match->seats[seat].is_quiet)
		return;
	to = begin(match, seat, WORD_INTERRUPT, TOLD_NOW, out);
	if (to == NULL)
		return;
	control_add_arg_i64(to, match->id);
	control_add_end(to);
}

void told_banked(struct match *match, unsigned seat, int64_t elapsed_us,
		 struct match_out *out)
{
	struct match_seat *self = &match->seats[seat];
	struct buf *to =
		begin(match, seat, WORD_BANKED, TOLD_BETWEEN_GAME_LINES, out);

	if (to == NULL)
		return;
	control_add_key_i64(to, "turn", self->requests);
	control_add_key_i64(to, "ms", elapsed_us / US_PER_MS);
	control_add_key_i64(to, "left", self->bank_us / US_PER_MS);
	control_add_end(to);
}

/* How many faults of this kind end the seat's game; 0: any number. */
static unsigned fault_limit(const struct match *match, enum match_fault fault)
{
	switch (fault) {
	case MATCH_FAULT_LATE:
		return match->game->late_max;
	case MATCH_FAULT_FULL:
		return 1;
	case MATCH_FAULT_INVALID:
	case MATCH_FAULT_LONG:
	case MATCH_NFAULTS:
		break;
	}
	return 0;
}

void told_fault(struct match *match, unsigned seat, enum match_fault fault,
		const char *text, struct match_out *out)
{
	struct match_seat *self = &match->seats[seat];
	unsigned limit = fault_limit(match, fault);
	char count[32];
	struct buf *to =
		begin(match, seat, WORD_FAULT, TOLD_BETWEEN_GAME_LINES, out);

	if (to == NULL)
		return;
	if (limit > 0)
		(void)snprintf(count, sizeof(count), "%u/%u",
			       self->faults[fault], limit);
	else
		(void)snprintf(count, sizeof(count), "%u/-",
			       self->faults[fault]);
	control_add_arg(to, match_fault_word(fault));
	control_add_arg(to, count);
	control_add_key_i64(to, "turn", self->requests);
	control_add_text(to, text);
	control_add_end(to);
}

void told_late_text(const struct match *match, unsigned seat,
		    int64_t elapsed_us, int64_t spent_us, char *text,
		    size_t size)
{
	const struct match_seat *self = &match->seats[seat];
	char more[48] = "";
	char bank[64] = "bank empty";

	if (self->requests == 1 && match->limits.init_ms > 0)
		(void)snprintf(more, sizeof(more), " and %u to start",
			       match->limits.init_ms);
	if (self->grace_ms > 0)
		(void)snprintf(bank, sizeof(bank), "+%u grace",
			       self->grace_ms + GRACE_MARGIN_MS);
	else if (match->limits.bank_ms == 0)
		(void)snprintf(bank, sizeof(bank), "no bank");
	else if (spent_us > 0)
		(void)snprintf(bank, sizeof(bank),
			       "+%lld of the bank, %lld left",
			       (long long)(spent_us / US_PER_MS),
			       (long long)(self->bank_us / US_PER_MS));
	(void)snprintf(text, size, "%lld.%lld ms of %u%s (+%lld lag, %s)",
		       (long long)(elapsed_us / US_PER_MS),
		       (long long)(elapsed_us % US_PER_MS / 100),
		       self->limit_ms, more,
		       (long long)(self->paid_lag_us / US_PER_MS), bank);
}

void told_lines(struct match *match, unsigned seat, const struct buf *lines,
		struct match_out *out)
{
	if (!match->seats[seat].is_linked)
		return;
	out->touched |= seat_bit(seat);
	if (match->is_local || memchr(lines->data, '@', lines->len) == NULL)
		buf_add(&out->lines[seat], lines->data, lines->len);
	else
		frame_add_game_lines(&out->lines[seat], lines->data,
				     lines->len);
}
