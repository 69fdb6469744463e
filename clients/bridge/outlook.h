/* SPDX-License-Identifier: MIT */
/*
 * outlook.h - what a link does to a ladder's matches: how many replies would
 * be late, and what the bank would pay.
 *
 * Pure: measured round trips in, figures out. Many matches are gone through
 * by the turn clock's rule (PROTOCOL.md, "Time"); each takes the round trips
 * in the order in which they were measured, from another one on, so that
 * what comes in bursts stays together. Any thread.
 */
#ifndef HILL_BRIDGE_OUTLOOK_H
#define HILL_BRIDGE_OUTLOOK_H

#include <stddef.h>
#include <stdint.h>

enum {
	OUTLOOK_MATCHES = 200,        /* gone through for one figure */
	OUTLOOK_REQUESTS_MAX = 10000, /* of a match */
	OUTLOOK_SPEND_MS = 500, /* most that the bank pays for one reply */
};

/* A ladder's times, as @ladder tells them; milliseconds. */
struct outlook_terms {
	int64_t turn_ms, init_ms;
	int64_t bank_ms, bank_step_ms;
	int64_t lag_cap_ms;
	int64_t grace_ms;  /* 0: none; then 2 s more, and no bank */
	unsigned requests; /* of a seat in a match */
};

/* Totals over OUTLOOK_MATCHES matches. */
struct outlook {
	uint64_t late;     /* replies */
	uint64_t banked;   /* replies that the bank has paid for in whole */
	uint64_t spent_us; /* out of the banks */
	int64_t least_us;  /* the lowest that any bank has been */
};

/*
 * *RET for a bot that thinks THINK_US for each reply over the N (at least 1)
 * round trips RTT_US, microseconds each.
 */
void outlook_of(const struct outlook_terms *terms, const uint32_t *rtt_us,
		size_t n, int64_t think_us, struct outlook *ret);

#endif
