/* SPDX-License-Identifier: MIT */
/*
 * api_map.c - the bytes of a map. They may be many: the worker reads and packs
 * them, and web's thread only hands them out.
 */
#include <stdlib.h>

#include "server/web/web_internal.h"

struct map_job {
	struct web_job base; /* first */
	struct web_call *call;
	struct reply_ready reply; /* the worker's */
};

static void read_map(struct web_job *web_job)
{
	struct map_job *job = (struct map_job *)(void *)web_job;
	/* A call that waits for its job does not change. */
	const char *const *args = job->call->args;
	char *bytes;
	size_t len;

	job->base.rc = store_web_map(job->base.web->worker, args[0], args[1],
				     &bytes, &len, &job->base.error);
	if (job->base.rc == 0)
		reply_ready_make(&job->reply, bytes, len,
				 reply_may_pack(job->call));
}

static void finish_map(struct web_job *web_job)
{
	struct map_job *job = (struct map_job *)(void *)web_job;

	if (job->base.rc < 0)
		reply_store_problem(job->call, job->base.rc,
				    job->base.error.text);
	else
		reply_prepared(job->call, "application/octet-stream",
			       &job->reply);
	reply_ready_release(&job->reply);
	free(job);
}

void api_map(struct web_call *call)
{
	struct map_job *job = xcalloc(1, sizeof(*job));

	job->call = call;
	job->base.work = read_map;
	job->base.finish = finish_map;
	if (!web_submit(call, &job->base))
		free(job);
}
