/* SPDX-License-Identifier: MIT */
/*
 * api_record.c - a match with all that it takes to play it again: what
 * `hillctl export` writes, to the byte, but for bots that the host hides.
 */
#include <stdlib.h>
#include <string.h>

#include "server/store/record_json.h"
#include "server/web/web_internal.h"

struct document_job {
	struct web_job base; /* first */
	struct web_call *call;
	int64_t id;
	/* the worker's */
	unsigned damage;
	struct reply_ready reply;
};

/* The text of DOCUMENT with a newline; NULL: no memory. */
static char *document_text(const json_t *document, size_t *ret_len)
{
	char *text = document == NULL ? NULL
				      : json_dumps(document, RECORD_JSON_FLAGS);
	char *longer;

	if (text == NULL)
		return NULL;
	*ret_len = strlen(text) + 1;
	longer = realloc(text, *ret_len + 1);
	if (longer == NULL) {
		free(text);
		return NULL;
	}
	memcpy(longer + *ret_len - 1, "\n", 2);
	return longer;
}

static void write_document(struct web_job *web_job)
{
	struct document_job *job = (struct document_job *)(void *)web_job;
	struct row_record record;
	json_t *document;
	size_t len = 0;
	char *text;

	job->base.rc = store_web_record(job->base.web->worker, job->id, &record,
					&job->base.error);
	if (job->base.rc < 0)
		return;
	document = record_json(&record, &job->damage);
	text = document_text(document, &len);
	json_decref(document);
	row_record_release(&record);
	if (text != NULL)
		reply_ready_make(&job->reply, text, len,
				 reply_may_pack(job->call));
}

static void finish_document(struct web_job *web_job)
{
	struct document_job *job = (struct document_job *)(void *)web_job;

	if (job->base.rc < 0)
		reply_store_problem(job->call, job->base.rc,
				    job->base.error.text);
	else if (job->damage != 0)
		reply_problem(job->call, 500, "damaged",
			      "what is stored of match %lld is damaged",
			      (long long)job->id);
	else
		reply_prepared(job->call, REPLY_JSON, &job->reply);
	reply_ready_release(&job->reply);
	free(job);
}

void api_record(struct web_call *call)
{
	struct document_job *job = xcalloc(1, sizeof(*job));

	job->call = call;
	job->id = call->numbers[0];
	job->base.work = write_document;
	job->base.finish = finish_document;
	if (!web_submit(call, &job->base))
		free(job);
}
