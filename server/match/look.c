/* SPDX-License-Identifier: MIT */
/* look.c - what others may know of a match, and what must hold of it. */
#include "server/match/match.h"

#include <assert.h>
#include <string.h>

#include "server/match/match_internal.h"

enum match_state match_state(const struct match *match)
{
	return match->state;
}

int64_t match_id(const struct match *match)
{
	return match->id;
}

bool match_seat_plays(const struct match *match, unsigned seat)
{
	return match_is_in_play(match) && !match->seats[seat].has_ended;
}

uint32_t match_seat_faults(const struct match *match, unsigned seat,
			   enum match_fault fault)
{
	return match->seats[seat].faults[fault];
}

size_t match_line_max(const struct match *match)
{
	return match->line_max;
}

const struct game_state *match_game_state(const struct match *match)
{
	return match->state == MATCH_BUSY ? NULL : match->engine;
}

unsigned match_reply_lines(const struct match *match)
{
	switch (match->game->form) {
	case GAME_FORM_FIXED:
		return match->game->reply_lines;
	case GAME_FORM_COUNTED:
	case GAME_FORM_ENDED:
		return match->game->reply_lines + 1;
	case GAME_FORM_LINE:
	case GAME_NFORMS:
		break;
	}
	return 1;
}

size_t match_record_bytes(const struct match *match)
{
	return packer_bytes(&match->transcript) + packer_bytes(&match->notes);
}

size_t match_bytes(const struct match *match)
{
	size_t bytes = sizeof(*match) +
		       match->nseats * sizeof(match->seats[0]) +
		       match_record_bytes(match) + strlen(match->ladder) +
		       strlen(match->map_name) + strlen(match->setup.seed) +
		       strlen(match->setup.bot_seed) + 4;

	for (unsigned i = 0; i < match->nseats; i++) {
		const struct match_seat *seat = &match->seats[i];

		bytes += seat->ahead.cap + strlen(seat->bot) + 1;
		if (seat->block != NULL)
			bytes += sizeof(*seat->block) + seat->block->text.cap;
		if (seat->held != NULL)
			bytes += sizeof(*seat->held) + seat->held->cap;
	}
	if (match->busy_out != NULL)
		bytes += sizeof(*match->busy_out);
	return bytes;
}

static void check_seat(const struct match *match, unsigned seat)
{
	const struct match_seat *self = &match->seats[seat];
	struct ahead_item item;

	assert(self->is_asked == (self->clock != TURN_CLOCK_OFF));
	assert(self->bank_us >= 0);
	assert(self->clock == TURN_CLOCK_RUNS ||
	       (self->verdict_us == TIME_NEVER &&
		self->interrupt_us == TIME_NEVER));
	assert(self->ahead.lines <= LIMIT_LINES_AHEAD);
	assert((self->ahead.data != NULL) == (self->ahead.items > 0));
	if (self->has_ended ||
	    (!match_is_in_play(match) && match->state != MATCH_OFFERED &&
	     match->state != MATCH_CANCELLED))
		assert(!self->is_asked && self->ahead.items == 0 &&
		       self->held == NULL && self->block == NULL);
	if (self->block != NULL)
		assert(match->game->form != GAME_FORM_LINE && !self->is_gone &&
		       self->block->left > 0);
	if (match->state == MATCH_RUNNING) {
		/* What can be dealt with does not wait. */
		if (ahead_peek(&self->ahead, &item))
			assert(item.kind <= AHEAD_LONG && !self->is_asked &&
			       self->owed == 0);
	}
	if (match->state == MATCH_OFFERED)
		assert(self->requests == 0 && !self->has_ended);
}

void match_check(const struct match *match)
{
	bool is_asked = false;

	assert(match->nseats >= 1 && match->nseats <= GAME_SEATS_MAX);
	assert((match->state == MATCH_BUSY) == (match->busy_out != NULL));
	assert(match->state != MATCH_OFFERED || match->engine == NULL);
	assert((match->void_word == NULL) == (match->void_text == NULL));
	for (unsigned seat = 0; seat < match->nseats; seat++) {
		check_seat(match, seat);
		is_asked |= match->seats[seat].is_asked;
	}
	/* Somebody owes a reply, or nothing would ever happen again. */
	if (match->state == MATCH_RUNNING)
		assert(is_asked);
}
