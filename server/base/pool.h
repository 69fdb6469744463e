/* SPDX-License-Identifier: MIT */
/*
 * pool.h - a few threads for what computes too long for the loop.
 *
 * A job is handed over whole: from pool_submit until it comes out of the
 * completion mailbox nobody but its run function touches it, or what it
 * borrows. Jobs start in the order of submission.
 */
#ifndef HILL_BASE_POOL_H
#define HILL_BASE_POOL_H

#include <stdbool.h>

#include "server/base/alloc.h"
#include "server/base/mailbox.h"

struct pool_job {
	struct mail mail; /* the pool's, then the completion box's */
	void (*run)(struct pool_job *job); /* called on a worker thread */
	bool is_cancelled;                 /* it was not: see pool_cancel() */
};

struct pool;

/*
 * Start THREADS (at least 1) workers that post each finished job to DONE,
 * which must outlive the pool. 0 or -errno of pthread_create; then no thread
 * is left behind. Freed with pool_free.
 */
int pool_new(struct pool **ret, unsigned threads,
	     struct mailbox *done) WARN_UNUSED;
/* Run JOB some time soon; see above for who owns it meanwhile. Any thread. */
void pool_submit(struct pool *pool, struct pool_job *job);
/*
 * Jobs of POOL that no worker has begun come out of the completion mailbox
 * unrun, with is_cancelled. NULL is fine. One thread.
 */
void pool_cancel(struct pool *pool);
/* Run what was submitted, then stop the threads. NULL is fine. */
void pool_free(struct pool *pool);

#endif
