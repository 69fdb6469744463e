/* SPDX-License-Identifier: MIT */
/* inputs.c - what seats say, and how they leave. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/match/match_internal.h"

bool match_wants(const struct match *match, unsigned seat)
{
	const struct match_seat *self = &match->seats[seat];

	return self->ahead.lines < LIMIT_LINES_AHEAD &&
	       self->ahead.bytes < (match->line_max > 0 ? match->line_max : 1);
}

/* Keep ITEM for later; SEAT pays when there is no memory for it. */
static void wait_for(struct match *match, unsigned seat,
		     const struct ahead_item *item)
{
	struct match_seat *self = &match->seats[seat];
	struct ahead_item gone = { .kind = AHEAD_GONE, .at_us = item->at_us };

	if (ahead_push(&self->ahead, item) == 0)
		return;
	ahead_release(&self->ahead);
	(void)snprintf(self->how, sizeof(self->how), "memory");
	self->is_gone = true;
	if (ahead_push(&self->ahead, &gone) < 0)
		abort();
}

/* A whole reply, or one that was too long. */
static void take_reply(struct match *match, unsigned seat,
		       const struct ahead_item *item, struct match_out *out)
{
	struct match_seat *self = &match->seats[seat];

	if (match->state != MATCH_RUNNING || self->ahead.items > 0 ||
	    (self->owed == 0 && !self->is_asked)) {
		wait_for(match, seat, item);
		/* Memory was out: the seat is gone, at once. */
		if (self->is_gone && match->state == MATCH_RUNNING)
			turns_pump(match, out);
		return;
	}
	if (self->owed > 0)
		turns_settle(match, seat, false, item->at_us, out);
	else
		turns_answer(match, seat, item->kind == AHEAD_LONG, item->text,
			     item->len, item->at_us, out);
	turns_pump(match, out);
}

/* A line of any length, or one that was too long. */
static void take_line(struct match *match, unsigned seat,
		      struct ahead_item *item, struct match_out *out)
{
	struct match_seat *self = &match->seats[seat];
	struct block *block = NULL;

	match_out_clear(out);
	if (self->has_ended || self->is_gone)
		return;
	if (match->state == MATCH_OFFERED ? !self->is_ready
					  : !match_is_in_play(match))
		return;
	assert(match_wants(match, seat));
	if (match->game->form != GAME_FORM_LINE) {
		block = block_take(match, self, item);
		if (block == NULL)
			return;
	}
	take_reply(match, seat, item, out);
	block_free(block);
}

void match_line(struct match *match, unsigned seat, const char *text,
		size_t len, int64_t now_us, struct match_out *out)
{
	struct ahead_item item = { .kind = AHEAD_LINE,
				   .at_us = match_time(match, now_us),
				   .text = text,
				   .len = len };

	if (len > match->line_max) {
		item.kind = AHEAD_LONG;
		item.text = "";
		item.len = 0;
	}
	take_line(match, seat, &item, out);
}

void match_line_long(struct match *match, unsigned seat, int64_t now_us,
		     struct match_out *out)
{
	struct ahead_item item = { .kind = AHEAD_LONG,
				   .at_us = match_time(match, now_us),
				   .text = "",
				   .len = 0 };

	take_line(match, seat, &item, out);
}

void match_skip(struct match *match, unsigned seat, int64_t now_us,
		struct match_out *out)
{
	struct match_seat *self = &match->seats[seat];
	struct ahead_item item = { .kind = AHEAD_SKIP,
				   .at_us = match_time(match, now_us),
				   .text = "",
				   .len = 0 };

	match_out_clear(out);
	if (!match_is_in_play(match) || self->has_ended || self->is_gone)
		return;
	/* Of the reply that will not come nothing is kept. */
	if (self->owed > self->ahead.items)
		block_drop(self);
	/* Each is worth one owed reply: a flood of them must not pile up. */
	if (match->state == MATCH_BUSY) {
		if (self->ahead.items < self->owed + LIMIT_LINES_AHEAD)
			wait_for(match, seat, &item);
	} else if (self->owed > 0) {
		turns_settle(match, seat, true, item.at_us, out);
	}
}

/* SEAT is gone behind what waits, or at once. */
static void leave(struct match *match, unsigned seat, const char *how,
		  bool is_at_once, int64_t now_us, struct match_out *out)
{
	struct match_seat *self = &match->seats[seat];
	struct ahead_item item = { .kind = AHEAD_GONE,
				   .at_us = match_time(match, now_us),
				   .text = "",
				   .len = 0 };

	if (!match_is_in_play(match) || self->has_ended)
		return;
	if (self->is_gone && (!is_at_once || self->ahead.items == 0))
		return;
	block_drop(self);
	if (is_at_once)
		ahead_release(&self->ahead);
	self->is_gone = true;
	(void)snprintf(self->how, sizeof(self->how), "%s", how);
	wait_for(match, seat, &item);
	turns_pump(match, out);
}

void match_gone(struct match *match, unsigned seat, const char *how,
		int64_t now_us, struct match_out *out)
{
	match_out_clear(out);
	if (match->state == MATCH_OFFERED)
		match_cancel(match, "left",
			     match_all_seats(match) & ~seat_bit(seat), out);
	else
		leave(match, seat, how, false, now_us, out);
}

void match_resign(struct match *match, unsigned seat, int64_t now_us,
		  struct match_out *out)
{
	match_out_clear(out);
	if (match->state == MATCH_OFFERED)
		match_cancel(match, "left",
			     match_all_seats(match) & ~seat_bit(seat), out);
	else
		leave(match, seat, "resigned", true, now_us, out);
}

void match_link_lost(struct match *match, unsigned seat, int64_t now_us,
		     struct match_out *out)
{
	match_out_clear(out);
	match->seats[seat].is_linked = false;
	if (match->state != MATCH_OFFERED) {
		leave(match, seat, "link", false, now_us, out);
		return;
	}
	match_cancel(match, "lost", match_all_seats(match), out);
	out->is_lost = true;
}
