/* SPDX-License-Identifier: MIT */
/*
 * planned.c - what the host has planned for a time is done then: maps are
 * shown, tournaments begin. These are commands like the host's own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "server/base/clock.h"
#include "server/net/net_internal.h"
#include "server/store/admin.h"
#include "server/store/store.h"

enum {
	/* Between tries of what fails, twice as long each time. */
	RETRY_FIRST_US = 5 * 1000 * 1000,
	RETRY_LAST_US = 60 * 1000 * 1000,
	NAME_BYTES = 128,
};

struct planned_job {
	struct net_job base; /* first */
	const char *kind;    /* static, for the log */
	char name[NAME_BYTES];
	char *command;             /* owned */
	bool wants_roads;          /* as net_read_rows */
	char *reply;               /* owned; malloc'ed */
	struct row_catalogue rows; /* what is so now, done or not */
	bool has_rows;
	struct store_error error;
};

static void run(struct pool_job *pool_job)
{
	struct planned_job *job = (struct planned_job *)(void *)pool_job;
	struct store *store = job->base.net->store;
	bool has_changed;

	job->reply = store_admin_by(store, geteuid(), job->command,
				    strlen(job->command), &has_changed);
	job->has_rows = net_read_rows(store, job->wants_roads, &job->rows,
				      &job->error) == 0;
}

/* Why JOB was not done, in RET; false: it was. */
static bool has_failed(const struct planned_job *job, char ret[LOG_QUOTE_BYTES])
{
	json_t *reply =
		job->reply == NULL ? NULL : json_loads(job->reply, 0, NULL);
	const char *text = json_string_value(json_object_get(reply, "error"));
	bool is_done = json_is_true(json_object_get(reply, "ok"));

	if (text == NULL)
		text = "no answer";
	(void)log_quote(ret, LOG_QUOTE_BYTES, text, strlen(text));
	json_decref(reply);
	return !is_done;
}

/* All that was begun is over. */
static void set_retry(struct net *net)
{
	int64_t wait_us = net->has_plan_failed ? 2 * net->plan_wait_us : 0;

	if (net->has_plan_failed && wait_us < RETRY_FIRST_US)
		wait_us = RETRY_FIRST_US;
	if (wait_us > RETRY_LAST_US)
		wait_us = RETRY_LAST_US;
	net->has_plan_failed = false;
	net->plan_wait_us = wait_us;
	net->plan_us = clock_now_us() + wait_us;
}

static void finish(struct net_job *net_job)
{
	struct planned_job *job = (struct planned_job *)(void *)net_job;
	struct net *net = net_job->net;
	char why[LOG_QUOTE_BYTES];

	if (job->has_rows)
		net_set_catalogue(net, &job->rows);
	else if (!net_job->job.is_cancelled)
		log_error("event=catalogue_unread reason=\"%s\"",
			  job->error.text);
	if (!net_job->job.is_cancelled && has_failed(job, why)) {
		net->has_plan_failed = true;
		log_error("%s=%s event=plan_failed reason=%s", job->kind,
			  job->name, why);
	}
	if (--net->nplanned == 0)
		set_retry(net);
	free(job->command);
	free(job->reply);
	free(job);
	net_act(net);
}

/* Have COMMAND (taken over) carried out; KIND and NAME are for the log. */
static void submit(struct net *net, const char *kind, const char *name,
		   json_t *command_take, bool wants_roads)
{
	struct planned_job *job = xcalloc(1, sizeof(*job));

	job->kind = kind;
	(void)snprintf(job->name, sizeof(job->name), "%s", name);
	job->command = json_dumps(command_take, JSON_COMPACT);
	json_decref(command_take);
	if (job->command == NULL) {
		free(job);
		return;
	}
	job->wants_roads = wants_roads;
	net->nplanned++;
	net_submit(net, NET_WRITING, &job->base, run, finish);
}

void net_do_planned(struct net *net)
{
	int64_t wall_us = clock_wall_us();

	/* The rows say what is done, once they have been read anew. */
	if (net->is_draining || net->nplanned > 0 ||
	    clock_now_us() < net->plan_us)
		return;
	for (size_t i = 0; i < net->rows.nmaps; i++) {
		const struct row_map *row = &net->rows.maps[i];

		if (row->visibility == ROW_MAP_HIDDEN && row->public_us != 0 &&
		    row->public_us <= wall_us)
			submit(net, "map", row->name,
			       json_pack("{s:s, s:s, s:s, s:s}", "command",
					 "map change", "name", row->name,
					 "game", row->game, "visibility",
					 "public"),
			       true);
	}
	for (size_t i = 0; i < net->rows.ntournaments; i++) {
		const struct row_tournament *row = &net->rows.tournaments[i];

		if (row->state == ROW_TOURNAMENT_PLANNED &&
		    row->starts_us != 0 && row->starts_us <= wall_us)
			submit(net, "tournament", row->name,
			       json_pack("{s:s, s:s}", "command",
					 "tournament start", "name", row->name),
			       false);
	}
}
