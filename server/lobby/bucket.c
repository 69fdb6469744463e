/* SPDX-License-Identifier: MIT */
#include "server/lobby/bucket.h"

void bucket_add(struct bucket *bucket, int64_t now_us)
{
	if (bucket->count == 0)
		bucket->since_us = now_us;
	bucket->count++;
}

uint32_t bucket_wait_s(struct bucket *bucket, uint32_t limit, int64_t forget_us,
		       int64_t now_us)
{
	int64_t wait_us;

	while (bucket->count > 0 && now_us - bucket->since_us >= forget_us) {
		bucket->count--;
		bucket->since_us += forget_us;
	}
	if (bucket->count < limit)
		return 0;
	wait_us = (int64_t)(bucket->count - limit) * forget_us +
		  bucket->since_us + forget_us - now_us;
	return (uint32_t)((wait_us + 999999) / 1000000);
}
