/* SPDX-License-Identifier: MIT */
/*
 * pairing_penalty.h - who breaks off again and again has to pause, longer
 * each time.
 *
 * A withdrawal (an offer not taken, a @leave or a lost link before @start) is
 * one point, a forfeit (a set left in its middle) two. One point costs
 * nothing; two cost PENALTY_FIRST_US, and each more doubles that, up to
 * PENALTY_MAX_US. A completed set takes one point off, and so does each
 * PENALTY_FORGET_US that go by without a new one (those of a pause count).
 *
 * Pure; a struct that is all 0 has no points. The lobby keeps one a bot and
 * ladder and gives paused_until_us to the candidate.
 */
#ifndef HILL_LADDER_PAIRING_PENALTY_H
#define HILL_LADDER_PAIRING_PENALTY_H

#include <stdint.h>

#define PENALTY_FIRST_US INT64_C(10000000)    /* 10 s */
#define PENALTY_MAX_US INT64_C(3600000000)    /* an hour */
#define PENALTY_FORGET_US INT64_C(1800000000) /* half an hour a point */

enum { PENALTY_MAX_POINTS = 12 };

struct pairing_penalty {
	uint32_t points;
	int64_t since_us; /* from when on the next point is forgotten */
	int64_t paused_until_us;
};

/* The three return the seconds from now to the end of the pause, rounded up:
 * what `retry-after=` tells; 0 for none. */
uint32_t penalty_note_withdrawal(struct pairing_penalty *penalty,
				 int64_t now_us);
uint32_t penalty_note_forfeit(struct pairing_penalty *penalty, int64_t now_us);
uint32_t penalty_retry_after(const struct pairing_penalty *penalty,
			     int64_t now_us);
/* A set was played to its end. A running pause goes on. */
void penalty_note_completed(struct pairing_penalty *penalty, int64_t now_us);

#endif
