/* SPDX-License-Identifier: MIT */
/*
 * api_grids.c - pictures of a match: it is played again by the worker up to
 * the turns that are wanted. The last answers are kept: a viewer asks for the
 * same ones as the viewer before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/store/base64.h"
#include "server/store/rerun.h"
#include "server/web/web_internal.h"

enum {
	CACHE_MAX = 32, /* answers */
	CACHE_BYTES = 32 * 1024 * 1024,
	ANSWER_BYTES = 8 * 1024 * 1024,
	PALETTE_MAX = 256,
	DEFAULT_COUNT = 1,
};

struct grid_entry {
	int64_t match, turn, count;
	struct reply_ready reply; /* owned; no bytes: free */
	uint64_t used;            /* when, by the count of answers */
};

struct grid_cache {
	struct grid_entry entries[CACHE_MAX];
	uint64_t clock;
	size_t bytes;
};

struct grid_job {
	struct web_job base; /* first */
	struct web_call *call;
	int64_t match, turn, count;
	/* the worker's */
	struct buf text;
	int64_t seen; /* states so far */
	unsigned told;
	bool is_failed; /* a picture could not be had */
	struct reply_ready reply;
};

/* ---- the worker's part ---- */

/* The place of CELL in the palette, which grows. 255 stands for what is over. */
static unsigned colour_of(uint32_t *palette, unsigned *count, uint32_t cell)
{
	for (unsigned i = 0; i < *count; i++)
		if (palette[i] == cell)
			return i;
	if (*count == PALETTE_MAX)
		return PALETTE_MAX - 1;
	palette[*count] = cell;
	return (*count)++;
}

static void add_grid(struct grid_job *job, const struct game_grid *grid)
{
	size_t count = (size_t)grid->width * grid->height;
	uint32_t palette[PALETTE_MAX];
	unsigned ncolours = 0;
	uint8_t *cells = xmalloc(count + 1);

	for (size_t i = 0; i < count; i++)
		cells[i] =
			(uint8_t)colour_of(palette, &ncolours, grid->cells[i]);
	buf_add_format(&job->text,
		       "%s{\"turn\":%lld,\"width\":%u,\"height\":%u,"
		       "\"palette\":[",
		       job->told++ > 0 ? "," : "", (long long)job->seen,
		       grid->width, grid->height);
	for (unsigned i = 0; i < ncolours; i++)
		buf_add_format(&job->text, "%s[%u,\"#%06x\"]", i > 0 ? "," : "",
			       palette[i] >> 24, palette[i] & 0xffffff);
	buf_add_text(&job->text, "],\"cells\":\"");
	base64_encode(cells, count, &job->text);
	buf_add_text(&job->text, "\"}");
	free(cells);
}

static void on_seen(void *context, const struct game *game,
		    const struct game_state *state)
{
	struct grid_job *job = context;
	struct game_grid grid = { 0 };

	if (job->seen >= job->turn && job->seen - job->turn < job->count &&
	    !job->text.is_failed) {
		if (game_grid(game, state, &grid) == 0)
			add_grid(job, &grid);
		else
			job->is_failed = true;
		game_grid_release(&grid);
	}
	job->seen++;
}

static bool is_cut(void *context)
{
	const struct grid_job *job = context;

	return web_job_is_cut(&job->base);
}

static int replay(struct grid_job *job, const struct row_record *record)
{
	const struct replay_callbacks calls = { .seen = on_seen,
						.is_cut = is_cut,
						.context = job };
	struct replay_result *result = xcalloc(1, sizeof(*result));
	struct game_error error = { "" };
	struct rerun rerun;
	int rc = rerun_init(&rerun, record, &error);

	if (rc == 0) {
		rc = rerun_play(&rerun, &calls, result, &error);
		rerun_release(&rerun);
	}
	if (rc < 0)
		(void)snprintf(job->base.error.text,
			       sizeof(job->base.error.text), "%s", error.text);
	free(result);
	/* Not the database's fault. */
	return rc < 0 && rc != -ECANCELED ? -ENOTSUP : rc;
}

static void draw(struct web_job *web_job)
{
	struct grid_job *job = (struct grid_job *)(void *)web_job;
	struct row_record *record = xcalloc(1, sizeof(*record));

	job->base.rc = store_web_record(job->base.web->worker, job->match,
					record, &web_job->error);
	if (job->base.rc == 0) {
		buf_add_format(&job->text, "{\"match\":%lld,\"grids\":[",
			       (long long)job->match);
		job->base.rc = replay(job, record);
		buf_add_format(&job->text, "],\"turns\":%lld}",
			       (long long)job->seen);
		row_record_release(record);
		job->is_failed |= job->text.is_failed;
		if (job->base.rc == 0 && !job->is_failed && job->told > 0) {
			size_t len = job->text.len;

			reply_ready_make(&job->reply, buf_detach(&job->text),
					 len, true);
		}
	}
	free(record);
}

/* ---- web's thread ---- */

static struct grid_entry *find_entry(struct web *web, int64_t match,
				     int64_t turn, int64_t count)
{
	for (size_t i = 0; web->grids != NULL && i < CACHE_MAX; i++) {
		struct grid_entry *entry = &web->grids->entries[i];

		if (entry->reply.bytes != NULL && entry->match == match &&
		    entry->turn == turn && entry->count == count)
			return entry;
	}
	return NULL;
}

static size_t entry_bytes(const struct reply_ready *reply)
{
	return reply->len + reply->packed_len;
}

static void drop_entry(struct grid_cache *cache, struct grid_entry *entry)
{
	cache->bytes -= entry_bytes(&entry->reply);
	reply_ready_release(&entry->reply);
	memset(entry, 0, sizeof(*entry));
}

/* The one that nobody has asked for longest, or (!is_taken) a free one. */
static struct grid_entry *oldest(struct grid_cache *cache, bool is_taken)
{
	struct grid_entry *found = NULL;

	for (size_t i = 0; i < CACHE_MAX; i++) {
		struct grid_entry *entry = &cache->entries[i];

		if (is_taken && entry->reply.bytes == NULL)
			continue;
		if (found == NULL || entry->used < found->used)
			found = entry;
	}
	return found;
}

/* Takes over JOB's reply. */
static void keep(struct web *web, struct grid_job *job)
{
	size_t bytes = entry_bytes(&job->reply);
	struct grid_cache *cache;
	struct grid_entry *entry;

	if (web->grids == NULL)
		web->grids = xcalloc(1, sizeof(*web->grids));
	cache = web->grids;
	if (find_entry(web, job->match, job->turn, job->count) != NULL)
		return;
	entry = oldest(cache, false);
	if (entry->reply.bytes != NULL)
		drop_entry(cache, entry);
	while (cache->bytes > 0 && cache->bytes + bytes > CACHE_BYTES)
		drop_entry(cache, oldest(cache, true));
	entry->match = job->match;
	entry->turn = job->turn;
	entry->count = job->count;
	entry->used = ++cache->clock;
	entry->reply = job->reply;
	cache->bytes += bytes;
	memset(&job->reply, 0, sizeof(job->reply));
}

void grids_free(struct web *web)
{
	for (size_t i = 0; web->grids != NULL && i < CACHE_MAX; i++)
		reply_ready_release(&web->grids->entries[i].reply);
	free(web->grids);
	web->grids = NULL;
}

static void finish_draw(struct web_job *web_job)
{
	struct grid_job *job = (struct grid_job *)(void *)web_job;
	struct web *web = job->base.web;

	if (job->base.rc == -ENOTSUP) {
		reply_problem(job->call, 422, "not-replayable", "%s",
			      job->base.error.text);
	} else if (job->base.rc < 0) {
		reply_store_problem(job->call, job->base.rc,
				    job->base.error.text);
	} else if (job->is_failed) {
		reply_problem(job->call, 422, "too-large",
			      "these pictures are too many, or there are none");
	} else if (job->told == 0) {
		reply_problem(job->call, 404, "not-found",
			      "match %lld has the turns 0 to %lld",
			      (long long)job->match, (long long)job->seen - 1);
	} else {
		reply_prepared(job->call, REPLY_JSON, &job->reply);
		keep(web, job);
	}
	reply_ready_release(&job->reply);
	buf_release(&job->text);
	free(job);
}

void api_grids(struct web_call *call)
{
	struct web *web = call->web;
	int64_t match = call->numbers[0];
	int64_t turn = call_number(call, "turn", 0);
	int64_t count = call_number(call, "count", DEFAULT_COUNT);
	struct grid_entry *entry = find_entry(web, match, turn, count);
	struct store_error error;
	struct grid_job *job;
	json_t *now;

	if (entry != NULL) {
		/* It may have been taken from the public since. */
		int err = store_web_match(web->store, match, &now, &error);
		bool is_whole;

		if (err < 0) {
			reply_store_problem(call, err, error.text);
			return;
		}
		is_whole = json_is_true(json_object_get(now, "whole"));
		json_decref(now);
		if (!is_whole) {
			reply_store_problem(call, -EACCES,
					    "this match is not to be seen now");
			return;
		}
		entry->used = ++web->grids->clock;
		reply_prepared(call, REPLY_JSON, &entry->reply);
		return;
	}
	job = xcalloc(1, sizeof(*job));
	job->call = call;
	job->match = match;
	job->turn = turn;
	job->count = count;
	buf_init(&job->text, ANSWER_BYTES);
	job->base.work = draw;
	job->base.finish = finish_draw;
	if (!web_submit(call, &job->base))
		free(job);
}
