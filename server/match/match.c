/* SPDX-License-Identifier: MIT */
/* match.c - a match's birth, its states, and the calls of its owner. */
#include "server/match/match.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/match/match_internal.h"

static const char *const state_names[] = {
	[MATCH_OFFERED] = "offered",     [MATCH_RUNNING] = "running",
	[MATCH_BUSY] = "busy",           [MATCH_OVER] = "over",
	[MATCH_CANCELLED] = "cancelled", [MATCH_VOID] = "void",
	[MATCH_ABANDONED] = "abandoned",
};

static const char *const fault_words[] = {
	[MATCH_FAULT_LATE] = "late",
	[MATCH_FAULT_INVALID] = "invalid",
	[MATCH_FAULT_LONG] = "long",
	[MATCH_FAULT_FULL] = "full",
};

_Static_assert(sizeof(state_names) / sizeof(state_names[0]) == MATCH_NSTATES,
	       "a name for every state");
_Static_assert(sizeof(fault_words) / sizeof(fault_words[0]) == MATCH_NFAULTS,
	       "a word for every fault");

/* Where each state may lead: a bit for each that follows. */
static const uint32_t allowed_moves[MATCH_NSTATES] = {
	[MATCH_OFFERED] = 1u << MATCH_RUNNING | 1u << MATCH_CANCELLED,
	[MATCH_RUNNING] = 1u << MATCH_BUSY | 1u << MATCH_OVER |
			  1u << MATCH_VOID | 1u << MATCH_ABANDONED,
	[MATCH_BUSY] = 1u << MATCH_RUNNING,
};

bool match_may_move(enum match_state from, enum match_state to)
{
	return (allowed_moves[from] >> to & 1) != 0;
}

void match_set_state(struct match *match, enum match_state state)
{
	assert(match_may_move(match->state, state));
	match->state = state;
}

static struct match_out *new_out(size_t limit)
{
	struct match_out *out = xcalloc(1, sizeof(*out));

	for (unsigned seat = 0; seat < GAME_SEATS_MAX; seat++) {
		/* Control lines and a few replies ahead come on top. */
		buf_init(&out->lines[seat], 4 * limit);
		out->block_at[seat] = MATCH_NO_BLOCK;
	}
	buf_init(&out->told, 4 * limit);
	game_out_init(&out->game, limit);
	out->scratch = xcalloc(1, sizeof(*out->scratch));
	return out;
}

struct match_out *match_out_new(void)
{
	return new_out(LIMIT_OUTPUT_BYTES);
}

struct match_out *match_out_new_local(void)
{
	return new_out(LIMIT_LOCAL_OUTPUT_BYTES);
}

void match_out_free(struct match_out *out)
{
	if (out == NULL)
		return;
	for (unsigned seat = 0; seat < GAME_SEATS_MAX; seat++)
		buf_release(&out->lines[seat]);
	buf_release(&out->told);
	game_out_release(&out->game);
	scratch_release(out->scratch);
	free(out->scratch);
	free(out);
}

void match_out_clear(struct match_out *out)
{
	for (uint32_t left = out->touched; left != 0; left &= left - 1) {
		int seat = __builtin_ctz(left);

		buf_clear(&out->lines[seat]);
		out->block_at[seat] = MATCH_NO_BLOCK;
	}
	if (out->told.len > 0)
		buf_clear(&out->told);
	out->touched = 0;
	out->clock = 0;
	out->ended = 0;
	out->stays = 0;
	out->has_started = false;
	out->is_busy = false;
	out->is_over = false;
	out->is_void = false;
	out->is_cancelled = false;
	out->is_failed = false;
	out->is_lost = false;
	out->is_abandoned = false;
}

static void init_seat(struct match_seat *seat,
		      const struct match_seat_config *config,
		      const struct match_limits *limits)
{
	seat->bot = xstrdup(config->bot);
	seat->bot_id = config->bot_id;
	seat->version_id = config->version_id;
	seat->is_linked = true;
	seat->lag_us = -1;
	seat->acked_us = TIME_NEVER;
	seat->settled_us = INT64_MIN;
	seat->bank_us = limits->bank_ms * US_PER_MS;
	turn_clock_off(seat);
}

int match_new(struct match **ret, const struct match_config *config,
	      int64_t now_us, struct match_out *out)
{
	const struct game_setup *setup = config->setup;
	struct match *match;

	if (setup->seats < config->game->seats_min ||
	    setup->seats > config->game->seats_max ||
	    setup->seats > GAME_SEATS_MAX)
		return -EINVAL;
	assert(config->game->form == GAME_FORM_LINE ||
	       (config->game->reply_lines >= 1 &&
		config->game->reply_lines <= LIMIT_REPLY_LINES));
	match_out_clear(out);
	match = xcalloc(1, sizeof(*match) +
				   setup->seats * sizeof(match->seats[0]));
	match->state = MATCH_OFFERED;
	match->nseats = (uint8_t)setup->seats;
	match->is_local = config->is_local;
	match->is_rated = config->is_rated;
	match->purpose = config->purpose;
	match->round = config->round;
	match->meeting = config->meeting;
	match->id = config->id;
	match->game = config->game;
	match->map = config->map;
	match->limits = config->limits;
	match->setup = *setup;
	match->seed = xstrdup(setup->seed);
	match->bot_seed = xstrdup(setup->bot_seed);
	match->setup.seed = match->seed;
	match->setup.bot_seed = match->bot_seed;
	match->setup.limit_ms = config->limits.turn_ms;
	match->setup.grace_ms = config->limits.grace_ms;
	match->line_max = match->game->line_max(match->map);
	match->share = LIMIT_TRANSCRIPT_BYTES / match->nseats;
	match->ladder = xstrdup(config->ladder);
	match->map_name = xstrdup(config->map_name);
	match->ladder_id = config->ladder_id;
	match->map_id = config->map_id;
	match->ready_by_us = TIME_NEVER;
	if (config->limits.ready_ms > 0)
		match->ready_by_us =
			now_us + config->limits.ready_ms * US_PER_MS;
	packer_init(&match->transcript, TRANSCRIPT_RAW_BYTES,
		    TRANSCRIPT_PIECE_BYTES);
	packer_init(&match->notes, 2 * (size_t)NOTES_BYTES_MAX,
		    NOTES_PIECE_BYTES);
	digest_init(&match->digest);
	for (unsigned seat = 0; seat < match->nseats; seat++)
		init_seat(&match->seats[seat], &config->seats[seat],
			  &match->limits);
	for (unsigned seat = 0; seat < match->nseats; seat++)
		told_match(match, seat, out);
	*ret = match;
	return 0;
}

static void free_held(struct match_seat *seat)
{
	buf_release(seat->held);
	free(seat->held);
	seat->held = NULL;
}

void match_free(struct match *match)
{
	if (match == NULL)
		return;
	assert(match->state != MATCH_BUSY);
	match->game->free(match->engine);
	for (unsigned i = 0; i < match->nseats; i++) {
		ahead_release(&match->seats[i].ahead);
		block_drop(&match->seats[i]);
		free_held(&match->seats[i]);
		free(match->seats[i].bot);
	}
	packer_release(&match->transcript);
	packer_release(&match->notes);
	free(match->seed);
	free(match->bot_seed);
	free(match->ladder);
	free(match->map_name);
	free(match->void_word);
	free(match->void_text);
	free(match);
}

/* The offer comes to nothing; the seats of STAYS wait on. */
void match_cancel(struct match *match, const char *word, uint32_t stays,
		  struct match_out *out)
{
	for (unsigned seat = 0; seat < match->nseats; seat++) {
		if (!match->seats[seat].is_linked)
			stays &= ~seat_bit(seat);
		told_cancel(match, seat, word, (stays & seat_bit(seat)) != 0,
			    out);
	}
	match_set_state(match, MATCH_CANCELLED);
	out->stays = stays;
	out->is_cancelled = true;
}

uint32_t match_all_seats(const struct match *match)
{
	return seat_bit(match->nseats) - 1;
}

void match_end_seat(struct match *match, unsigned seat, const char *stop,
		    const char *reason, struct match_out *out)
{
	struct match_seat *self = &match->seats[seat];

	if (self->has_ended)
		return;
	told_end(match, seat, stop, reason, out);
	self->has_ended = true;
	turn_clock_off(self);
	ahead_release(&self->ahead);
	block_drop(self);
	free_held(self);
	out->clock &= ~seat_bit(seat);
	out->ended |= seat_bit(seat);
}

/* Without a result, whatever the game's own end would be. */
static void end_all(struct match *match, const char *end_reason,
		    const char *void_word, const char *text,
		    struct match_out *out)
{
	/* The game's last line, which ends programs by itself, never came. */
	enum game_stop stop = match->game->stop == GAME_STOP_EXIT
				      ? GAME_STOP_TERM
				      : match->game->stop;

	for (unsigned seat = 0; seat < match->nseats; seat++) {
		match_end_seat(match, seat, game_stop_word(stop), end_reason,
			       out);
		told_void(match, seat, void_word, text, out);
	}
}

void match_stop_void(struct match *match, const char *word, const char *text,
		     int64_t now_us, struct match_out *out)
{
	if (match->void_word == NULL) {
		match->void_word = xstrdup(word);
		match->void_text = xstrdup(text);
	}
	match->ended_us = now_us;
	end_all(match, "void", word, text, out);
	match_set_state(match, MATCH_VOID);
	out->is_over = true;
	out->is_void = true;
}

static void stop_abandoned(struct match *match, int64_t now_us,
			   struct match_out *out)
{
	match->ended_us = now_us;
	end_all(match, "abandoned", "abandoned", "the server goes down", out);
	match_set_state(match, MATCH_ABANDONED);
	out->is_abandoned = true;
}

/* Everybody is ready. */
static void start(struct match *match, int64_t now_us, struct match_out *out)
{
	struct game_error error = { .text = "" };
	int rc = match->game->create(&match->engine, match->map, &match->setup,
				     &error);

	if (rc < 0) {
		/* The same offer would fail again: nobody waits for it. */
		match->engine = NULL;
		match_cancel(match, "failed", 0, out);
		out->is_failed = true;
		return;
	}
	match_set_state(match, MATCH_RUNNING);
	match->started_us = now_us;
	out->has_started = true;
	for (unsigned seat = 0; seat < match->nseats; seat++)
		told_start(match, seat, out);
	turns_begin(match, now_us, out);
	turns_pump(match, out);
}

void match_ready(struct match *match, unsigned seat, bool is_quiet,
		 int64_t now_us, struct match_out *out)
{
	match_out_clear(out);
	if (match->state != MATCH_OFFERED || match->seats[seat].is_ready)
		return;
	match->seats[seat].is_ready = true;
	match->seats[seat].is_quiet = is_quiet;
	for (unsigned i = 0; i < match->nseats; i++) {
		if (!match->seats[i].is_ready)
			return;
	}
	start(match, match_time(match, now_us), out);
}

void match_work(struct match *match)
{
	assert(match->state == MATCH_BUSY);
	game_settle(match->game, match->engine, GAME_BUSY, match->busy_out);
}

void match_resume(struct match *match, int64_t now_us, struct match_out *out)
{
	now_us = match_time(match, now_us);
	match_out_clear(out);
	game_out_release(&out->game);
	out->game = *match->busy_out;
	free(match->busy_out);
	match->busy_out = NULL;
	match_set_state(match, MATCH_RUNNING);
	switch ((enum match_pending)match->pending) {
	case PENDING_ABANDON:
		stop_abandoned(match, now_us, out);
		return;
	case PENDING_VOID:
		/* It is not said any more, but a replay will say it. */
		turns_digest(match, out);
		match_stop_void(match, match->void_word, match->void_text,
				now_us, out);
		return;
	case PENDING_NONE:
		break;
	}
	turns_absorb(match, now_us, out);
	turns_pump(match, out);
}

void match_abandon(struct match *match, const char *word, int64_t now_us,
		   struct match_out *out)
{
	now_us = match_time(match, now_us);
	match_out_clear(out);
	if (match->state == MATCH_OFFERED)
		match_cancel(match, word, match_all_seats(match), out);
	else if (match->state == MATCH_RUNNING)
		stop_abandoned(match, now_us, out);
	else if (match->state == MATCH_BUSY)
		match->pending = PENDING_ABANDON;
}

void match_void(struct match *match, const char *word, const char *text,
		int64_t now_us, struct match_out *out)
{
	now_us = match_time(match, now_us);
	match_out_clear(out);
	if (match->state == MATCH_OFFERED) {
		match_cancel(match, word, match_all_seats(match), out);
	} else if (match->state == MATCH_RUNNING) {
		match_stop_void(match, word, text, now_us, out);
	} else if (match->state == MATCH_BUSY &&
		   match->pending == PENDING_NONE) {
		match->pending = PENDING_VOID;
		match->void_word = xstrdup(word);
		match->void_text = xstrdup(text);
	}
}

const char *match_state_name(enum match_state state)
{
	return state_names[state];
}

uint32_t match_turn(const struct match *match, unsigned seat)
{
	return match->seats[seat].requests;
}

const char *match_fault_word(enum match_fault fault)
{
	return fault_words[fault];
}
