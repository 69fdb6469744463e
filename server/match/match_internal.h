/* SPDX-License-Identifier: MIT */
/*
 * match_internal.h - the inside of a match, for match/ and its tests.
 *
 * Who does what:
 *	match.c		birth, states, ends
 *	inputs.c	what seats say, and how they leave
 *	verdicts.c	what time does: late, interrupted, stalled
 *	turns.c		feeding the engine and what comes out of it
 *	turn_clock.c	when a request's time runs and runs out
 *	ahead.c		inputs that wait for their request
 *	block.c		replies of several lines, until they are whole
 *	told.c		control lines
 *	look.c		what others may know of a match, and its invariants
 *	record.c	what is left behind
 *	transcript.c, notes.c, packer.c, digest.c
 */
#ifndef HILL_MATCH_MATCH_INTERNAL_H
#define HILL_MATCH_MATCH_INTERNAL_H

#include "server/match/digest.h"
#include "server/match/match.h"
#include "server/match/notes.h"
#include "server/match/packer.h"
#include "server/match/record.h"

#define TIME_NEVER INT64_MAX
#define US_PER_MS INT64_C(1000)

enum {
	/* The original's kill followed 2 s after its interrupt's grace. */
	GRACE_MARGIN_MS = 2000,
	/* A LATE or GONE after the share is used up must still fit. */
	TRANSCRIPT_SLACK_BYTES = 64 * 1024,
	TRANSCRIPT_RAW_BYTES = LIMIT_TRANSCRIPT_BYTES + TRANSCRIPT_SLACK_BYTES,
	TRANSCRIPT_PIECE_BYTES = 2047, /* and a NUL: buf's doubling fits */
	NOTES_BYTES_MAX = 8 * 1024 * 1024,
	NOTES_PIECE_BYTES = 1023,
};

/* What may wait in a seat's queue. */
enum ahead_kind {
	AHEAD_LINE, /* a reply */
	AHEAD_LONG, /* likewise, over line-max */
	AHEAD_SKIP, /* only while BUSY */
	AHEAD_GONE, /* the last one */
	AHEAD_NKINDS
};

struct ahead_item {
	enum ahead_kind kind;
	int64_t at_us;    /* when it came */
	const char *text; /* borrowed until the next change of the queue */
	size_t len;
};

/* Inputs in the order in which they came. All zero is empty. */
struct ahead {
	char *data; /* owned; NULL when empty */
	uint32_t at, len, cap;
	uint32_t bytes; /* of the lines in it */
	uint16_t lines;
	uint16_t items;
};

/* A reply of several lines of which some have come. */
struct block {
	struct buf text; /* the lines so far; empty when IS_LONG */
	uint64_t left;   /* lines that may still come */
	bool is_long;
	bool has_begun;
};

enum turn_clock_state {
	TURN_CLOCK_OFF,    /* the seat owes the engine nothing */
	TURN_CLOCK_UNSENT, /* asked; no send() was tried yet */
	TURN_CLOCK_RUNS,
};

struct match_seat {
	/* The request that is put to it. */
	int64_t sent_us;      /* the first send() */
	int64_t clock_us;     /* the turn counts from here */
	int64_t verdict_us;   /* late after this; TIME_NEVER without limit */
	int64_t interrupt_us; /* @interrupt then; TIME_NEVER: not again */
	int64_t stall_us;     /* credited to it */
	uint32_t limit_ms, grace_ms;
	uint8_t clock; /* enum turn_clock_state */
	bool is_asked;
	bool is_interrupted;
	/* Standing. */
	bool is_ready;
	bool is_quiet;
	bool is_linked; /* lines can reach it */
	bool is_gone;   /* GONE waits or was fed: nothing more counts */
	bool has_ended; /* @end was put out */
	bool needs_files;
	bool is_full;       /* its share of the transcript is used up */
	int64_t acked_us;   /* files; TIME_NEVER: not yet */
	int64_t settled_us; /* when the last owed reply came */
	int64_t late_us;    /* what the clock of the last late one began at */
	int64_t bank_us;
	int64_t lag_us;      /* least sample; -1: none */
	int64_t paid_lag_us; /* of the open request: a sample cannot shorten it */
	uint32_t owed;       /* late replies that have not come */
	uint32_t requests;
	size_t transcript_bytes;
	struct ahead ahead;
	struct block *block; /* owned; NULL: no reply has half come */
	struct buf *held;    /* owned; NULL until needed: a quiet seat's */
	uint32_t untold;     /* lines that HELD has no room for */
	/* For the record. */
	uint32_t faults[MATCH_NFAULTS];
	uint32_t early, banked;
	int64_t max_us, total_us;
	uint32_t times[METRICS_BOUNDS + 1]; /* of the same replies */
	int64_t bot_id, version_id;
	char *bot; /* owned */
	char how[MATCH_HOW_BYTES];
};

/* What was asked for while the engine was away. */
enum match_pending { PENDING_NONE, PENDING_ABANDON, PENDING_VOID };

struct match {
	enum match_state state; /* match_set_state() writes it */
	uint8_t nseats;
	bool is_local;
	bool is_rated;
	enum match_purpose purpose;
	struct match_round round;
	struct match_meeting meeting;
	bool has_taken_record;
	int64_t latest_us; /* of all times that it was told; match_time() */
	uint8_t pending;   /* enum match_pending */
	int64_t id;
	const struct game *game;
	const struct game_map *map; /* borrowed */
	struct game_state *engine;  /* owned; NULL until it runs */
	struct game_out *busy_out;  /* owned; only while BUSY */
	struct game_setup setup;    /* its texts are the two below */
	struct match_limits limits;
	size_t line_max;
	size_t share; /* of a seat's replies in the transcript: bytes */
	char *ladder, *map_name; /* owned */
	char *seed, *bot_seed;   /* owned; SETUP's */
	int64_t ladder_id, map_id;
	int64_t ready_by_us; /* while OFFERED */
	int64_t started_us, ended_us;
	int64_t stall_us; /* credited in all */
	int64_t grave_us; /* of it, what counts against stall_void_ms */
	uint64_t inputs;
	struct packer transcript;
	struct packer notes;
	struct digest digest;
	char *void_word, *void_text; /* owned; NULL: it is not void */
	struct match_seat seats[];   /* nseats */
};

static inline uint32_t seat_bit(unsigned seat)
{
	return UINT32_C(1) << seat;
}

/* match.c */
/* The only writer of match->state; asserts that the move is allowed. */
void match_set_state(struct match *match, enum match_state state);
bool match_may_move(enum match_state from, enum match_state to);
/* NOW_US, or the latest time that MATCH has seen: every entry point asks. */
static inline int64_t match_time(struct match *match, int64_t now_us)
{
	if (now_us > match->latest_us)
		match->latest_us = now_us;
	return match->latest_us;
}

/* It has begun and has not ended. */
static inline bool match_is_in_play(const struct match *match)
{
	return match->state == MATCH_RUNNING || match->state == MATCH_BUSY;
}
/* A bit for each seat. */
uint32_t match_all_seats(const struct match *match);
void match_out_clear(struct match_out *out);
/* The offer comes to nothing; the linked seats of STAYS wait on. */
void match_cancel(struct match *match, const char *word, uint32_t stays,
		  struct match_out *out);
/* A running match ends without a result, for good. */
void match_stop_void(struct match *match, const char *word, const char *text,
		     int64_t now_us, struct match_out *out);
/* SEAT's game is over: tell it REASON, drop what waits. */
void match_end_seat(struct match *match, unsigned seat, const char *stop,
		    const char *reason, struct match_out *out);

/* turns.c */
/* Let the engine begin. It is there, and the state is RUNNING. */
void turns_begin(struct match *match, int64_t now_us, struct match_out *out);
/* A reply of SEAT, which is asked; LEN is 0 when IS_LONG. */
void turns_answer(struct match *match, unsigned seat, bool is_long,
		  const char *text, size_t len, int64_t at_us,
		  struct match_out *out);
/* The verdict on SEAT, which is asked. */
void turns_late(struct match *match, unsigned seat, int64_t now_us,
		struct match_out *out);
/* SEAT's program is no more; seat->how says why. Drops what waits. */
void turns_gone(struct match *match, unsigned seat, int64_t now_us,
		struct match_out *out);
/* A late reply of SEAT has come, or will not. */
void turns_settle(struct match *match, unsigned seat, bool is_skip,
		  int64_t now_us, struct match_out *out);
/* Take the lines of the engine's last input into the digest. */
void turns_digest(struct match *match, const struct match_out *out);
/* Deal with what the engine brought about by its last input. */
void turns_absorb(struct match *match, int64_t now_us, struct match_out *out);
/* Feed what waits and can be fed, oldest first, as long as it RUNS. */
void turns_pump(struct match *match, struct match_out *out);

/* turn_clock.c */
void turn_clock_asked(struct match_seat *seat, const struct match *match);
void turn_clock_off(struct match_seat *seat);
/* What the clock counts from may have changed: work it out again. */
void turn_clock_set(struct match_seat *seat, const struct match *match);
/* Limit of the open request: turn-ms, and init-ms for the first one. */
int64_t turn_clock_limit_us(const struct match_seat *seat,
			    const struct match *match);
/* What the least sample is worth. */
int64_t turn_clock_lag_us(const struct match_seat *seat,
			  const struct match *match);
/* The first send() of the open request is tried. */
void turn_clock_start(struct match_seat *seat, const struct match *match,
		      int64_t now_us);
/* The most that the bank gives now. */
int64_t turn_clock_spend_us(const struct match_seat *seat,
			    const struct match *match);
/* Time that the open request has taken at NOW_US, stalls taken off. */
int64_t turn_clock_elapsed_us(const struct match_seat *seat, int64_t now_us);
/* Take off what a reply at ELAPSED_US has to pay; what it paid. */
int64_t turn_clock_pay(struct match_seat *seat, const struct match *match,
		       int64_t elapsed_us);
/* Set a running clock back. Whether one ran. */
bool turn_clock_credit(struct match_seat *seat, int64_t lost_us,
		       int64_t now_us);

/* ahead.c */
/* -ENOMEM: ITEM is not in the queue. */
int ahead_push(struct ahead *ahead, const struct ahead_item *item) WARN_UNUSED;
/* The first item; false when there is none. */
bool ahead_peek(const struct ahead *ahead, struct ahead_item *ret);
void ahead_pop(struct ahead *ahead);
void ahead_release(struct ahead *ahead);

/* block.c */
/*
 * SEAT said LINE, which may be AHEAD_LONG, in a game whose replies have
 * several lines. NULL: its reply is not whole yet. Else the whole of it, which
 * LINE has become: its text is borrowed from the block returned. The caller's:
 * block_free.
 */
struct block *block_take(const struct match *match, struct match_seat *seat,
			 struct ahead_item *line) WARN_UNUSED;
void block_free(struct block *block); /* NULL is fine */
/* What has come of SEAT's next reply will not become one. */
void block_drop(struct match_seat *seat);

/* told.c: each appends to what goes to the seat, or holds it back. */
void told_match(struct match *match, unsigned seat, struct match_out *out);
/* Also where the map's block goes, and @args. */
void told_start(struct match *match, unsigned seat, struct match_out *out);
void told_cancel(struct match *match, unsigned seat, const char *word,
		 bool stays, struct match_out *out);
/* REASON is the wire's word. Lets out what was held back. */
void told_end(struct match *match, unsigned seat, const char *stop,
	      const char *reason, struct match_out *out);
void told_void(struct match *match, unsigned seat, const char *word,
	       const char *text, struct match_out *out);
void told_interrupt(struct match *match, unsigned seat, struct match_out *out);
void told_banked(struct match *match, unsigned seat, int64_t elapsed_us,
		 struct match_out *out);
/* The fault is counted already. */
void told_fault(struct match *match, unsigned seat, enum match_fault fault,
		const char *text, struct match_out *out);
/* The text of a late fault at ELAPSED_US that took SPENT_US of the bank. */
void told_late_text(const struct match *match, unsigned seat,
		    int64_t elapsed_us, int64_t spent_us, char *text,
		    size_t size);
/* Whole game lines from the engine. */
void told_lines(struct match *match, unsigned seat, const struct buf *lines,
		struct match_out *out);

/* transcript.c, notes.c */
void transcript_write(struct packer *packer, struct match_scratch *scratch,
		      unsigned seat, enum game_input kind, const char *text,
		      size_t len);
void notes_write(struct packer *packer, struct match_scratch *scratch,
		 const struct note *note);

#endif
