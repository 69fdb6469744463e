/* SPDX-License-Identifier: MIT */
#include "clients/run/rehearsal.h"

#include <errno.h>
#include <string.h>

enum { LIVE_BYTES_MAX = 1024 * 1024 * 1024 };

static uint32_t bit(unsigned seat)
{
	return 1u << seat;
}

/* The stored input that is SEAT's next; NULL when none is left. */
static const struct stored_input *head_of(const struct rehearsal *rehearsal,
					  unsigned seat)
{
	size_t next = rehearsal->next[seat];

	return next < rehearsal->stored->ninputs
		       ? &rehearsal->stored->inputs[next]
		       : NULL;
}

static void move_on(struct rehearsal *rehearsal, unsigned seat)
{
	const struct stored *stored = rehearsal->stored;
	size_t *next = &rehearsal->next[seat];

	while (*next < stored->ninputs && stored->inputs[*next].seat != seat)
		++*next;
}

/* Take in what the engine put out. */
static void absorb(struct rehearsal *rehearsal, enum game_status status)
{
	const struct game *game = rehearsal->stored->game;
	struct game_out *out = &rehearsal->out;
	const struct buf *lines = &out->lines[rehearsal->seat];

	game_settle(game, rehearsal->state, status, out);
	buf_add(&rehearsal->lines, lines->data, lines->len);
	for (unsigned i = 0; i < rehearsal->stored->setup.seats; i++) {
		uint32_t asked = out->asked & ~out->ended & ~rehearsal->ended;

		if ((asked & bit(i)) != 0)
			rehearsal->turns[i]++;
		rehearsal->asked |= asked & bit(i);
		if (rehearsal->own_from > 0 && (out->invalid & bit(i)) != 0)
			rehearsal->invalid[i]++;
	}
	rehearsal->ended |= out->ended;
	rehearsal->asked &= ~rehearsal->ended;
	rehearsal->has_ended = (rehearsal->ended & bit(rehearsal->seat)) != 0;
	rehearsal->is_over = out->is_over;
}

static void feed(struct rehearsal *rehearsal, unsigned seat,
		 enum game_input kind, const char *text, size_t len)
{
	rehearsal->asked &= ~bit(seat);
	game_out_clear(&rehearsal->out);
	absorb(rehearsal,
	       rehearsal->stored->game->feed(rehearsal->state, seat, kind,
					     kind == GAME_REPLY ? text : "",
					     kind == GAME_REPLY ? len : 0,
					     &rehearsal->out));
	if (kind != GAME_GONE)
		return;
	/* Nothing more may follow, whatever the engine makes of it. */
	rehearsal->ended |= bit(seat);
	rehearsal->asked &= ~bit(seat);
	rehearsal->has_ended |= seat == rehearsal->seat;
}

static void feed_stored(struct rehearsal *rehearsal, unsigned seat)
{
	const struct stored_input *input = head_of(rehearsal, seat);

	rehearsal->next[seat]++;
	move_on(rehearsal, seat);
	feed(rehearsal, seat, input->kind, input->text, input->len);
}

/*
 * The place of what SEAT could be fed now: lower goes first. SIZE_MAX: it
 * cannot be fed.
 */
static size_t place_of(const struct rehearsal *rehearsal, unsigned seat)
{
	const struct stored_input *head = head_of(rehearsal, seat);
	bool is_asked = (rehearsal->asked & bit(seat)) != 0;
	size_t all = rehearsal->stored->ninputs;

	if ((rehearsal->ended & bit(seat)) != 0)
		return SIZE_MAX;
	if (seat == rehearsal->seat) {
		if (!is_asked)
			return SIZE_MAX;
		return head != NULL ? rehearsal->next[seat] : all + 1;
	}
	if (head == NULL)
		return is_asked ? all : SIZE_MAX;
	return is_asked || head->kind == GAME_GONE ? rehearsal->next[seat]
						   : SIZE_MAX;
}

/* Feed the other seats until the live one has to answer, or the end. */
static void go_on(struct rehearsal *rehearsal)
{
	rehearsal->is_waiting = false;
	while (!rehearsal->is_over) {
		unsigned first = 0;
		size_t place = SIZE_MAX;

		for (unsigned i = 0; i < rehearsal->stored->setup.seats; i++) {
			if (place_of(rehearsal, i) < place) {
				first = i;
				place = place_of(rehearsal, i);
			}
		}
		if (place == SIZE_MAX) {
			/* Nobody owes anything: no engine does that. */
			rehearsal->is_over = true;
			return;
		}
		if (first == rehearsal->seat) {
			rehearsal->is_waiting = true;
			return;
		}
		if (place < rehearsal->stored->ninputs) {
			feed_stored(rehearsal, first);
		} else {
			rehearsal->ran_out[first] = rehearsal->turns[first];
			feed(rehearsal, first, GAME_GONE, "", 0);
		}
	}
}

int rehearsal_new(struct rehearsal *ret, const struct stored *stored,
		  unsigned seat, int64_t from_turn, struct game_error *error)
{
	struct game_state *state;

	*ret = (struct rehearsal){ .stored = stored,
				   .seat = seat,
				   .from_turn = from_turn };
	buf_init(&ret->lines, LIVE_BYTES_MAX);
	buf_init(&ret->was_text, LIMIT_LOCAL_OUTPUT_BYTES);
	buf_init(&ret->is_text, LIMIT_LOCAL_OUTPUT_BYTES);
	game_out_init(&ret->out, LIMIT_LOCAL_OUTPUT_BYTES);
	if (seat >= stored->setup.seats) {
		game_error_set(error, "it has only %u seats",
			       stored->setup.seats);
		return -EINVAL;
	}
	if (stored->game->create(&state, stored->map, &stored->setup, error) <
	    0)
		return -EINVAL;
	ret->state = state;
	for (unsigned i = 0; i < stored->setup.seats; i++)
		move_on(ret, i);
	absorb(ret, stored->game->begin(state, &ret->out));
	go_on(ret);
	return 0;
}

static void keep_reply(struct rehearsal_reply *ret, struct buf *text,
		       enum game_input kind, const char *bytes, size_t len)
{
	ret->is_there = true;
	ret->kind = kind;
	if (kind == GAME_REPLY)
		buf_add(text, bytes, len);
	ret->text = buf_text(text);
	ret->len = text->len;
}

/* Compare with HEAD, which may be NULL; whether it is the same. */
static bool compare(struct rehearsal *rehearsal,
		    const struct stored_input *head, enum game_input kind,
		    const char *text, size_t len)
{
	rehearsal->compared++;
	if (head != NULL && head->kind == kind &&
	    (kind != GAME_REPLY ||
	     (head->len == len && memcmp(head->text, text, len) == 0)))
		return true;
	if (rehearsal->differing++ > 0)
		return false;
	rehearsal->first_turn = rehearsal->turns[rehearsal->seat];
	if (head != NULL)
		keep_reply(&rehearsal->was, &rehearsal->was_text, head->kind,
			   head->text, head->len);
	keep_reply(&rehearsal->is, &rehearsal->is_text, kind, text, len);
	return false;
}

void rehearsal_take(struct rehearsal *rehearsal, enum game_input kind,
		    const char *text, size_t len)
{
	unsigned seat = rehearsal->seat;
	const struct stored_input *head = head_of(rehearsal, seat);
	int64_t turn = rehearsal->turns[seat];
	bool is_same;

	if (rehearsal->is_over || rehearsal->has_ended)
		return;
	is_same = compare(rehearsal, head, kind, text, len);
	/* A program that is gone can give no later reply. */
	if (turn < rehearsal->from_turn && head != NULL &&
	    (rehearsal->is_waiting || head->kind == GAME_GONE)) {
		feed_stored(rehearsal, seat);
		go_on(rehearsal);
		return;
	}
	if (!is_same && rehearsal->own_from == 0)
		rehearsal->own_from = turn;
	if (head != NULL) {
		rehearsal->next[seat]++;
		move_on(rehearsal, seat);
	}
	feed(rehearsal, seat, kind, text, len);
	go_on(rehearsal);
}

void rehearsal_scores(const struct rehearsal *rehearsal, struct game_score *ret)
{
	rehearsal->stored->game->result(rehearsal->state, ret);
}

void rehearsal_release(struct rehearsal *rehearsal)
{
	if (rehearsal->state != NULL)
		rehearsal->stored->game->free(rehearsal->state);
	game_out_release(&rehearsal->out);
	buf_release(&rehearsal->lines);
	buf_release(&rehearsal->was_text);
	buf_release(&rehearsal->is_text);
}
