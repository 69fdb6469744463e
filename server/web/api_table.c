/* SPDX-License-Identifier: MIT */
/*
 * api_table.c - who is ahead in a tournament. The worker makes the table, and
 * once for all who ask meanwhile; then it is kept. It is good for as long as
 * nothing was written, and in any case for a second, or longer where it took
 * long: however many ask, tables take a TABLES_SHARE-th of the worker's time
 * for each tournament. A problem is not kept.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/clock.h"
#include "server/web/web_internal.h"

enum {
	TABLES_MAX = 16,
	TABLES_BYTES = 32 * 1024 * 1024,
	TABLE_US = 1000000,
	TABLES_SHARE = 20,
};

struct table_entry {
	char name[LIMIT_NAME_BYTES + 1]; /* "": free */
	struct reply_ready reply;        /* owned */
	int64_t stamp;    /* of the database, before it was read */
	int64_t until_us; /* monotonic; till then it is good at any stamp */
	uint64_t used;    /* when, by the count of answers */
};

struct table_job {
	struct web_job base; /* first */
	LIST_ENTRY(table_job) link;
	char name[LIMIT_NAME_BYTES + 1];
	struct web_call *calls; /* owned; each one's `state` is the next */
	int64_t stamp;
	/* the worker's */
	int64_t took_us;
	struct reply_ready reply;
};

struct table_cache {
	struct table_entry entries[TABLES_MAX];
	LIST_HEAD(, table_job) jobs; /* borrowed; that are under way */
	uint64_t clock;
	size_t bytes;
};

/* ---- the worker's part ---- */

static void make_table(struct web_job *web_job)
{
	struct table_job *job = (struct table_job *)(void *)web_job;
	int64_t begun_us = clock_now_us();
	json_t *table = NULL;
	char *text;

	job->base.rc = store_web_tournament_table(
		job->base.web->worker, job->name, &table, &job->base.error);
	if (job->base.rc < 0)
		return;
	text = json_dumps(table, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(table);
	if (text != NULL)
		reply_ready_make(&job->reply, text, strlen(text), true);
	job->took_us = clock_now_us() - begun_us;
}

/* ---- web's thread ---- */

static struct table_entry *find_entry(struct table_cache *cache,
				      const char *name)
{
	for (size_t i = 0; i < TABLES_MAX; i++)
		if (strcmp(cache->entries[i].name, name) == 0)
			return &cache->entries[i];
	return NULL;
}

static size_t entry_bytes(const struct reply_ready *reply)
{
	return reply->len + reply->packed_len;
}

static void drop_entry(struct table_cache *cache, struct table_entry *entry)
{
	cache->bytes -= entry_bytes(&entry->reply);
	reply_ready_release(&entry->reply);
	memset(entry, 0, sizeof(*entry));
}

/* The one that nobody has asked for longest, or a free one. */
static struct table_entry *oldest(struct table_cache *cache, bool is_taken)
{
	struct table_entry *found = NULL;

	for (size_t i = 0; i < TABLES_MAX; i++) {
		struct table_entry *entry = &cache->entries[i];

		if (is_taken && entry->name[0] == '\0')
			continue;
		if (found == NULL || entry->used < found->used)
			found = entry;
	}
	return found;
}

/* Takes over JOB's reply. */
static void keep(struct table_cache *cache, struct table_job *job)
{
	size_t bytes = entry_bytes(&job->reply);
	struct table_entry *entry = find_entry(cache, job->name);
	int64_t rest_us = TABLES_SHARE * job->took_us;

	if (entry == NULL)
		entry = oldest(cache, false);
	if (entry->name[0] != '\0')
		drop_entry(cache, entry);
	while (cache->bytes > 0 && cache->bytes + bytes > TABLES_BYTES)
		drop_entry(cache, oldest(cache, true));
	memcpy(entry->name, job->name, sizeof(entry->name));
	entry->reply = job->reply;
	entry->stamp = job->stamp;
	entry->until_us =
		clock_now_us() + (rest_us < TABLE_US ? TABLE_US : rest_us);
	entry->used = ++cache->clock;
	cache->bytes += bytes;
	memset(&job->reply, 0, sizeof(job->reply));
}

static void answer(struct web_call *call, const struct table_job *job)
{
	if (job->base.rc < 0)
		reply_tournament_problem(call, job->base.rc,
					 job->base.error.text);
	else
		reply_prepared(call, REPLY_JSON, &job->reply);
}

static void finish_table(struct web_job *web_job)
{
	struct table_job *job = (struct table_job *)(void *)web_job;
	struct table_cache *cache = job->base.web->tables;

	LIST_REMOVE(job, link);
	while (job->calls != NULL) {
		struct web_call *call = job->calls;

		job->calls = call->state;
		call->state = NULL;
		answer(call, job);
	}
	if (job->reply.bytes != NULL)
		keep(cache, job);
	free(job);
}

void tables_free(struct web *web)
{
	for (size_t i = 0; web->tables != NULL && i < TABLES_MAX; i++)
		reply_ready_release(&web->tables->entries[i].reply);
	free(web->tables);
	web->tables = NULL;
}

/* Whether CALL waits for a table that is being made already. */
static bool join_job(struct table_cache *cache, struct web_call *call)
{
	struct table_job *job;

	LIST_FOREACH(job, &cache->jobs, link)
	{
		if (strcmp(job->name, call->args[0]) != 0)
			continue;
		call->state = job->calls;
		job->calls = call;
		return true;
	}
	return false;
}

static void submit(struct web_call *call, int64_t stamp)
{
	struct web *web = call->web;
	struct table_job *job = xcalloc(1, sizeof(*job));

	(void)snprintf(job->name, sizeof(job->name), "%s", call->args[0]);
	job->stamp = stamp;
	job->calls = call;
	job->base.work = make_table;
	job->base.finish = finish_table;
	if (!web_submit(call, &job->base)) {
		free(job);
		return;
	}
	/* Others may join, and it is kept. */
	web_job_share(&job->base);
	LIST_INSERT_HEAD(&web->tables->jobs, job, link);
}

void api_tournament_table(struct web_call *call)
{
	struct web *web = call->web;
	struct table_entry *entry;
	struct store_error error;
	int64_t stamp;
	int err = store_web_stamp(web->store, &stamp, &error);

	if (err < 0) {
		reply_store_problem(call, err, error.text);
		return;
	}
	if (web->tables == NULL)
		web->tables = xcalloc(1, sizeof(*web->tables));
	entry = find_entry(web->tables, call->args[0]);
	if (entry != NULL &&
	    (entry->stamp == stamp || clock_now_us() < entry->until_us)) {
		entry->used = ++web->tables->clock;
		reply_prepared(call, REPLY_JSON, &entry->reply);
	} else if (!join_job(web->tables, call)) {
		submit(call, stamp);
	}
}
