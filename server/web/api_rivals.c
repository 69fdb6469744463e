/* SPDX-License-Identifier: MIT */
/*
 * api_rivals.c - whom a bot has met. Thousands of rounds with all that played
 * in them are gone through: the worker does that.
 */
#include <stdlib.h>
#include <string.h>

#include "server/web/web_internal.h"

struct rivals_job {
	struct web_job base; /* first */
	struct web_call *call;
	struct reply_ready reply; /* the worker's */
};

static void read_rivals(struct web_job *web_job)
{
	struct rivals_job *job = (struct rivals_job *)(void *)web_job;
	/* A call that waits for its job does not change. */
	struct web_call *call = job->call;
	json_t *list, *document;
	int64_t rounds;
	char *text;

	job->base.rc = store_web_rivals(job->base.web->worker, call->args[0],
					call_text(call, "ladder"), &list,
					&rounds, &job->base.error);
	if (job->base.rc < 0)
		return;
	document = json_pack("{s:I, s:o}", "rounds", (json_int_t)rounds,
			     "opponents", list);
	text = document == NULL ? NULL : json_dumps(document, JSON_COMPACT);
	json_decref(document);
	if (text != NULL)
		reply_ready_make(&job->reply, text, strlen(text),
				 reply_may_pack(call));
}

static void finish_rivals(struct web_job *web_job)
{
	struct rivals_job *job = (struct rivals_job *)(void *)web_job;

	if (job->base.rc < 0)
		reply_store_problem(job->call, job->base.rc,
				    job->base.error.text);
	else
		reply_prepared(job->call, REPLY_JSON, &job->reply);
	reply_ready_release(&job->reply);
	free(job);
}

void api_rivals(struct web_call *call)
{
	struct rivals_job *job = xcalloc(1, sizeof(*job));

	job->call = call;
	job->base.work = read_rivals;
	job->base.finish = finish_rivals;
	if (!web_submit(call, &job->base))
		free(job);
}
