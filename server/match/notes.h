/* SPDX-License-Identifier: MIT */
/*
 * notes.h - what people want to know about a match beside its transcript.
 *
 * One zlib stream; inside, a version byte and then records in the order in
 * which things happened. Bytes may come from anywhere: reading checks them.
 */
#ifndef HILL_MATCH_NOTES_H
#define HILL_MATCH_NOTES_H

#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"

struct notes_reader;

enum note_kind {
	NOTE_REPLY,   /* a request was answered: the transcript's GAME_REPLY */
	NOTE_LATE,    /* its time ran out: GAME_LATE */
	NOTE_GONE,    /* GAME_GONE; text says how */
	NOTE_THROWN,  /* a late reply came, time_us after its request */
	NOTE_SKIPPED, /* @skip settled one */
	NOTE_INVALID, /* of the reply before: text says what */
	NOTE_CUT,     /* the bound is reached: no more notes follow */
	NOTE_NKINDS
};

enum {
	NOTE_EARLY = 1u << 0,       /* the reply was there before its request */
	NOTE_BANKED = 1u << 1,      /* bank_us was spent */
	NOTE_LONG = 1u << 2,        /* over line-max */
	NOTE_STALL = 1u << 3,       /* stall_us was credited */
	NOTE_INTERRUPTED = 1u << 4, /* after @interrupt */
	NOTE_FULL = 1u << 5,        /* out: its share was used up */
	NOTE_FLAGS_ALL = (1u << 6) - 1
};

struct note {
	enum note_kind kind;
	unsigned seat;
	/*
	 * The number of the seat's request that it is of, from 1, as @fault has
	 * it: of one who is gone the first that he left unanswered. 0: of none.
	 * Readers count it; what is written does not have it.
	 */
	uint32_t turn;
	uint32_t flags;
	int64_t time_us; /* on the turn clock, stalls taken off; in 0.1 ms */
	int64_t bank_us;
	int64_t stall_us;
	const char *text; /* borrowed until the next call; "" for none */
	size_t len;
};

/* As transcript_open, transcript_next, transcript_close. */
struct notes_reader *notes_open(const uint8_t *blob, size_t len,
				unsigned seats) WARN_UNUSED;
int notes_next(struct notes_reader *reader, struct note *ret) WARN_UNUSED;
void notes_close(struct notes_reader *reader); /* NULL is fine */

#endif
