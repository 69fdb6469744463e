/* SPDX-License-Identifier: MIT */
#include "server/base/pool.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "server/base/thread.h"

struct pool {
	struct mailbox jobs;  /* embedded */
	struct mailbox *done; /* borrowed */
	unsigned count;       /* threads that run */
	pthread_t threads[];
};

static void *worker(void *arg)
{
	struct pool *pool = arg;
	struct mail *mail;

	while ((mail = mailbox_wait_one(&pool->jobs)) != NULL) {
		struct pool_job *job = MAIL_OF(mail, struct pool_job, mail);

		job->run(job);
		mailbox_post(pool->done, &job->mail);
	}
	return NULL;
}

int pool_new(struct pool **ret, unsigned threads, struct mailbox *done)
{
	struct pool *pool;
	int rc;

	assert(threads > 0);
	pool = xcalloc(1, sizeof(*pool) + threads * sizeof(pool->threads[0]));
	pool->done = done;
	rc = mailbox_init(&pool->jobs, false);
	if (rc < 0) {
		free(pool);
		return rc;
	}
	while (pool->count < threads && rc == 0) {
		rc = thread_start(&pool->threads[pool->count], worker, pool);
		if (rc == 0)
			pool->count++;
	}
	if (rc < 0) {
		pool_free(pool);
		return rc;
	}
	*ret = pool;
	return 0;
}

void pool_submit(struct pool *pool, struct pool_job *job)
{
	mailbox_post(&pool->jobs, &job->mail);
}

void pool_cancel(struct pool *pool)
{
	struct mail *mail = pool == NULL ? NULL : mailbox_take(&pool->jobs);

	while (mail != NULL) {
		struct mail *next = mail->next;
		struct pool_job *job = MAIL_OF(mail, struct pool_job, mail);

		job->is_cancelled = true;
		mailbox_post(pool->done, &job->mail);
		mail = next;
	}
}

void pool_free(struct pool *pool)
{
	if (pool == NULL)
		return;
	mailbox_close(&pool->jobs);
	for (unsigned i = 0; i < pool->count; i++)
		(void)pthread_join(pool->threads[i], NULL);
	mailbox_release(&pool->jobs);
	free(pool);
}
