/* SPDX-License-Identifier: MIT */
#include "clients/run/rematch.h"

#include <errno.h>
#include <string.h>

enum { OUT_BYTES_MAX = 64 * 1024 * 1024, LIVE_BYTES_MAX = 1024 * 1024 * 1024 };

static uint32_t bit(unsigned seat)
{
	return 1u << seat;
}

/* The stored input that is SEAT's next; NULL when none is left. */
static const struct stored_input *head_of(const struct rematch *rematch,
					  unsigned seat)
{
	size_t next = rematch->next[seat];

	return next < rematch->stored->ninputs ? &rematch->stored->inputs[next]
					       : NULL;
}

static void move_on(struct rematch *rematch, unsigned seat)
{
	const struct stored *stored = rematch->stored;
	size_t *next = &rematch->next[seat];

	while (*next < stored->ninputs && stored->inputs[*next].seat != seat)
		++*next;
}

/* Take in what the engine put out. */
static void absorb(struct rematch *rematch, enum game_status status)
{
	const struct game *game = rematch->stored->game;
	struct game_out *out = &rematch->out;
	const struct buf *lines = &out->lines[rematch->seat];

	game_settle(game, rematch->state, status, out);
	buf_add(&rematch->lines, lines->data, lines->len);
	for (unsigned i = 0; i < rematch->stored->setup.seats; i++) {
		uint32_t asked = out->asked & ~out->ended & ~rematch->ended;

		if ((asked & bit(i)) != 0)
			rematch->turns[i]++;
		rematch->asked |= asked & bit(i);
		if (rematch->own_from > 0 && (out->invalid & bit(i)) != 0)
			rematch->invalid[i]++;
	}
	rematch->ended |= out->ended;
	rematch->asked &= ~rematch->ended;
	rematch->has_ended = (rematch->ended & bit(rematch->seat)) != 0;
	rematch->is_over = out->is_over;
}

static void feed(struct rematch *rematch, unsigned seat, enum game_input kind,
		 const char *text, size_t len)
{
	rematch->asked &= ~bit(seat);
	game_out_clear(&rematch->out);
	absorb(rematch, rematch->stored->game->feed(
				rematch->state, seat, kind,
				kind == GAME_REPLY ? text : "",
				kind == GAME_REPLY ? len : 0, &rematch->out));
	if (kind != GAME_GONE)
		return;
	/* Nothing more may follow, whatever the engine makes of it. */
	rematch->ended |= bit(seat);
	rematch->asked &= ~bit(seat);
	rematch->has_ended |= seat == rematch->seat;
}

static void feed_stored(struct rematch *rematch, unsigned seat)
{
	const struct stored_input *input = head_of(rematch, seat);

	rematch->next[seat]++;
	move_on(rematch, seat);
	feed(rematch, seat, input->kind, input->text, input->len);
}

/*
 * The place of what SEAT could be fed now: lower goes first. SIZE_MAX: it
 * cannot be fed.
 */
static size_t place_of(const struct rematch *rematch, unsigned seat)
{
	const struct stored_input *head = head_of(rematch, seat);
	bool is_asked = (rematch->asked & bit(seat)) != 0;
	size_t all = rematch->stored->ninputs;

	if ((rematch->ended & bit(seat)) != 0)
		return SIZE_MAX;
	if (seat == rematch->seat) {
		if (!is_asked)
			return SIZE_MAX;
		return head != NULL ? rematch->next[seat] : all + 1;
	}
	if (head == NULL)
		return is_asked ? all : SIZE_MAX;
	return is_asked || head->kind == GAME_GONE ? rematch->next[seat]
						   : SIZE_MAX;
}

/* Feed the other seats until the live one has to answer, or the end. */
static void go_on(struct rematch *rematch)
{
	rematch->is_waiting = false;
	while (!rematch->is_over) {
		unsigned first = 0;
		size_t place = SIZE_MAX;

		for (unsigned i = 0; i < rematch->stored->setup.seats; i++) {
			if (place_of(rematch, i) < place) {
				first = i;
				place = place_of(rematch, i);
			}
		}
		if (place == SIZE_MAX) {
			/* Nobody owes anything: no engine does that. */
			rematch->is_over = true;
			return;
		}
		if (first == rematch->seat) {
			rematch->is_waiting = true;
			return;
		}
		if (place < rematch->stored->ninputs) {
			feed_stored(rematch, first);
		} else {
			rematch->ran_out[first] = rematch->turns[first];
			feed(rematch, first, GAME_GONE, "", 0);
		}
	}
}

int rematch_new(struct rematch *ret, const struct stored *stored, unsigned seat,
		int64_t from_turn, struct game_error *error)
{
	struct game_state *state;

	*ret = (struct rematch){ .stored = stored,
				 .seat = seat,
				 .from_turn = from_turn };
	buf_init(&ret->lines, LIVE_BYTES_MAX);
	buf_init(&ret->was_text, OUT_BYTES_MAX);
	buf_init(&ret->is_text, OUT_BYTES_MAX);
	game_out_init(&ret->out, OUT_BYTES_MAX);
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

static void keep_reply(struct rematch_reply *ret, struct buf *text,
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
static bool compare(struct rematch *rematch, const struct stored_input *head,
		    enum game_input kind, const char *text, size_t len)
{
	rematch->compared++;
	if (head != NULL && head->kind == kind &&
	    (kind != GAME_REPLY ||
	     (head->len == len && memcmp(head->text, text, len) == 0)))
		return true;
	if (rematch->differing++ > 0)
		return false;
	rematch->first_turn = rematch->turns[rematch->seat];
	if (head != NULL)
		keep_reply(&rematch->was, &rematch->was_text, head->kind,
			   head->text, head->len);
	keep_reply(&rematch->is, &rematch->is_text, kind, text, len);
	return false;
}

void rematch_take(struct rematch *rematch, enum game_input kind,
		  const char *text, size_t len)
{
	unsigned seat = rematch->seat;
	const struct stored_input *head = head_of(rematch, seat);
	int64_t turn = rematch->turns[seat];
	bool is_same;

	if (rematch->is_over || rematch->has_ended)
		return;
	is_same = compare(rematch, head, kind, text, len);
	/* A program that is gone can give no later reply. */
	if (turn < rematch->from_turn && head != NULL &&
	    (rematch->is_waiting || head->kind == GAME_GONE)) {
		feed_stored(rematch, seat);
		go_on(rematch);
		return;
	}
	if (!is_same && rematch->own_from == 0)
		rematch->own_from = turn;
	if (head != NULL) {
		rematch->next[seat]++;
		move_on(rematch, seat);
	}
	feed(rematch, seat, kind, text, len);
	go_on(rematch);
}

void rematch_scores(const struct rematch *rematch, struct game_score *ret)
{
	rematch->stored->game->result(rematch->state, ret);
}

void rematch_release(struct rematch *rematch)
{
	if (rematch->state != NULL)
		rematch->stored->game->free(rematch->state);
	game_out_release(&rematch->out);
	buf_release(&rematch->lines);
	buf_release(&rematch->was_text);
	buf_release(&rematch->is_text);
}
