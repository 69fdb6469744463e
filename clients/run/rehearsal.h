/* SPDX-License-Identifier: MIT */
/*
 * rehearsal.h - a stored match played again with one seat live and the others
 * from its transcript. Pure; who runs the program calls in.
 * (hill-run --match; hillctl rematch is a new match of all its bots.)
 *
 *	rehearsal_new(&rehearsal, &stored, seat, from_turn, &error)
 *	until rehearsal->is_over:
 *		give rehearsal->lines to the program, and clear them
 *		while rehearsal->is_waiting: wait for its reply, then
 *			rehearsal_take(rehearsal, GAME_REPLY, text, len)
 *
 * What is fed next is the earliest stored input of all seats that fits now: a
 * reply or a late one fits when its seat owes a reply, a gone one always until
 * the seat has ended. The live seat's place in that order is its own stored
 * input's. As long as the live replies are the stored ones this is the
 * transcript's order; once they differ it is each seat's own order, and the
 * engine judges what it makes of replies to a game that is another now. A
 * stored seat that owes a reply and has none left is gone.
 */
#ifndef HILL_CLIENTS_RUN_REHEARSAL_H
#define HILL_CLIENTS_RUN_REHEARSAL_H

#include "clients/run/stored.h"

/* One input, or that there is none. Text owned by the rehearsal. */
struct rehearsal_reply {
	bool is_there;
	enum game_input kind;
	const char *text;
	size_t len;
};

struct rehearsal {
	const struct stored *stored; /* borrowed */
	struct game_state *state;
	unsigned seat; /* the live one */
	int64_t from_turn;
	struct buf lines; /* what the live program is to be given */
	bool is_waiting;  /* its reply is wanted */
	bool is_over;     /* the match; or the live seat and nothing is left */
	bool has_ended;   /* the live seat's game is over */
	int64_t turns[GAME_SEATS_MAX]; /* requests put to each seat */
	/* What came of it. */
	int64_t compared, differing;    /* turns of the live seat */
	int64_t first_turn;             /* that differs; 0: none */
	struct rehearsal_reply was, is; /* then */
	int64_t own_from; /* the first turn whose live reply was fed and
			     differed: from here on it is another game; 0 */
	/* Of the other seats, in that other game. */
	uint64_t invalid[GAME_SEATS_MAX]; /* replies with something ignored */
	int64_t ran_out[GAME_SEATS_MAX]; /* the turn without a reply; 0: none */
	/* Private. */
	struct game_out out;
	uint32_t asked, ended;
	size_t next
		[GAME_SEATS_MAX]; /* in the inputs; their number at the end */
	struct buf was_text, is_text;
};

/*
 * Begin. 0, or -EINVAL with ERROR: the engine refuses it. RET is to be
 * released in both cases; STORED must outlive it.
 */
int rehearsal_new(struct rehearsal *ret, const struct stored *stored,
		  unsigned seat, int64_t from_turn,
		  struct game_error *error) WARN_UNUSED;
/*
 * The live seat's answer to the request that IS_WAITING is about; GAME_GONE
 * may also come at any other time before its end.
 */
void rehearsal_take(struct rehearsal *rehearsal, enum game_input kind,
		    const char *text, size_t len);
/* The scores as they are now, of all seats. */
void rehearsal_scores(const struct rehearsal *rehearsal,
		      struct game_score *ret);
void rehearsal_release(struct rehearsal *rehearsal);

#endif
