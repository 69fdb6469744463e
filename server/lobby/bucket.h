/* SPDX-License-Identifier: MIT */
/*
 * bucket.h - how often somebody may do what costs all others something: some
 * times at once, and then once in so much time. All zero is an empty one.
 * Loop thread only.
 */
#ifndef HILL_LOBBY_BUCKET_H
#define HILL_LOBBY_BUCKET_H

#include <stdint.h>

#include "server/base/alloc.h"

#define BUCKET_HOUR_US INT64_C(3600000000)

struct bucket {
	uint32_t count;   /* not forgotten yet */
	int64_t since_us; /* from then on the next one is being forgotten */
};

/* One more. */
void bucket_add(struct bucket *bucket, int64_t now_us);
/*
 * Seconds (rounded up) until there is room for another: 0 while BUCKET has
 * fewer than LIMIT, of which one is forgotten every FORGET_US.
 */
uint32_t bucket_wait_s(struct bucket *bucket, uint32_t limit, int64_t forget_us,
		       int64_t now_us) WARN_UNUSED;

#endif
