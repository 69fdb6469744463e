/* SPDX-License-Identifier: MIT */
/* jobs.c - what would hold the loop up: maps to read and make, BUSY matches. */
#include <errno.h>
#include <stdlib.h>

#include "server/base/clock.h"
#include "server/games/game.h"
#include "server/net/net_internal.h"
#include "server/store/store.h"

struct map_job {
	struct net_job base;        /* first */
	int64_t id;                 /* to load */
	struct lobby_action wanted; /* to make; its numbers and statics */
	struct row_map row;
	struct lobby_map *map;
	struct game_error error;
	int rc;
};

struct play_job {
	struct net_job base;     /* first */
	struct lobby_play *play; /* the lobby's, ours meanwhile */
};

void net_submit(struct net *net, enum net_pool pool, struct net_job *job,
		void (*run)(struct pool_job *job),
		void (*finish)(struct net_job *job))
{
	job->net = net;
	job->job.run = run;
	job->finish = finish;
	job->pool = pool;
	net->nwriting += pool == NET_WRITING;
	pool_submit(net->pools[pool], &job->job);
}

void net_finish_jobs(struct net *net)
{
	struct mail *mail = mailbox_take(&net->done);

	while (mail != NULL) {
		struct mail *next = mail->next;
		struct net_job *job = (struct net_job *)(void *)MAIL_OF(
			mail, struct pool_job, mail);

		net->nwriting -= job->pool == NET_WRITING;
		job->finish(job);
		mail = next;
	}
}

void net_end_jobs(struct net *net)
{
	pool_cancel(net->pools[NET_WRITING]);
	for (unsigned i = 0; i < NET_NPOOLS; i++) {
		pool_free(net->pools[i]);
		net->pools[i] = NULL;
	}
	/* A start that failed has none, and had no jobs. */
	if (net->lobby == NULL)
		return;
	net->is_acting = true;
	net_finish_jobs(net);
}

/* ---- maps ---- */

/* The map of job->row, ready for play. */
static void read_map(struct map_job *job)
{
	const struct game *game = game_find(job->row.game);
	struct store_error error;
	char *data;
	size_t len;

	if (game == NULL) {
		game_error_set(&job->error, "there is no game %s",
			       job->row.game);
		job->rc = -ENOENT;
		return;
	}
	job->rc = store_map_bytes(job->base.net->store, job->row.id, &data,
				  &len, &error);
	if (job->rc < 0) {
		game_error_set(&job->error, "%s", error.text);
		return;
	}
	job->rc = lobby_map_new(&job->map, game, job->row.name,
				job->row.options, data, len, &job->error);
	free(data);
}

static void load_map(struct pool_job *pool_job)
{
	struct map_job *job = (struct map_job *)(void *)pool_job;
	struct store_error error;

	/* the catalogue, and so the loop, knows no generated ones */
	job->rc =
		store_map_row(job->base.net->store, job->id, &job->row, &error);
	if (job->rc == 0)
		read_map(job);
	else
		game_error_set(&job->error, "%s", error.text);
}

static void finish_map(struct net_job *net_job)
{
	struct map_job *job = (struct map_job *)(void *)net_job;
	struct net *net = net_job->net;

	if (job->rc == 0)
		lobby_map_loaded(net->lobby, job->id, job->map, clock_now_us());
	else
		lobby_map_failed(net->lobby, job->id, job->error.text,
				 clock_now_us());
	free(job);
	net_act(net);
}

void net_load_map(struct net *net, int64_t map_id)
{
	struct map_job *job = xcalloc(1, sizeof(*job));

	job->id = map_id;
	net_submit(net, NET_READING, &job->base, load_map, finish_map);
}

static void make_map(struct pool_job *pool_job)
{
	struct map_job *job = (struct map_job *)(void *)pool_job;
	const struct lobby_action *wanted = &job->wanted;
	struct store_error error;

	job->rc = store_generate_map(job->base.net->store, wanted->game,
				     wanted->preset, wanted->count,
				     wanted->seed, &job->row, &error);
	if (job->rc == 0)
		read_map(job);
	else
		game_error_set(&job->error, "%s", error.text);
}

static void finish_making(struct net_job *net_job)
{
	struct map_job *job = (struct map_job *)(void *)net_job;
	struct net *net = net_job->net;

	if (job->rc == 0)
		lobby_map_made(net->lobby, job->wanted.ladder_id, job->row.id,
			       job->map, clock_now_us());
	else
		lobby_map_unmade(net->lobby, job->wanted.ladder_id,
				 job->error.text, clock_now_us());
	free(job);
	net_act(net);
}

void net_make_map(struct net *net, const struct lobby_action *action)
{
	struct map_job *job = xcalloc(1, sizeof(*job));

	job->wanted = *action;
	net_submit(net, NET_COMPUTING, &job->base, make_map, finish_making);
}

/* ---- matches ---- */

static void run_match(struct pool_job *pool_job)
{
	struct play_job *job = (struct play_job *)(void *)pool_job;

	lobby_play_work(job->play);
}

static void finish_match(struct net_job *net_job)
{
	struct play_job *job = (struct play_job *)(void *)net_job;
	struct net *net = net_job->net;

	lobby_play_worked(net->lobby, job->play, clock_now_us());
	free(job);
	net_act(net);
}

void net_run_match(struct net *net, struct lobby_play *play)
{
	struct play_job *job = xcalloc(1, sizeof(*job));

	job->play = play;
	net_submit(net, NET_COMPUTING, &job->base, run_match, finish_match);
}
