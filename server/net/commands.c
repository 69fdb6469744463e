/* SPDX-License-Identifier: MIT */
/* commands.c - what the host says on the control socket: done or handed on. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "server/base/clock.h"
#include "server/games/game.h"
#include "server/net/net_internal.h"
#include "server/store/admin.h"
#include "server/store/store.h"

enum { PEEK_BYTES = 4096 }; /* a longer command is for the store alone */

struct admin_job {
	struct net_job base; /* first */
	uint64_t client;
	uid_t uid;     /* whose it is */
	char *command; /* owned */
	size_t len;
	json_t *server; /* owned; our own part of the status, or NULL */
	char *reply;    /* owned; malloc'ed */
	struct row_catalogue rows; /* read again when it changed */
	bool has_rows;
	bool wants_roads;        /* it may change maps or seeds of a ladder */
	bool is_unread;          /* it changed, and reading it failed: ERROR */
	int64_t rematch;         /* play this match again; 0: none */
	struct row_match *match; /* owned; what it was */
	bool is_map_open;        /* its map may be played on */
	struct store_error error;
};

static void add_to_reply(struct admin_job *job)
{
	json_t *reply = json_loads(job->reply, 0, NULL);

	if (reply == NULL)
		return;
	free(job->reply);
	(void)json_object_set(reply, "server", job->server);
	job->reply = json_dumps(reply, JSON_COMPACT);
	json_decref(reply);
}

static void run_admin(struct pool_job *pool_job)
{
	struct admin_job *job = (struct admin_job *)(void *)pool_job;
	struct store *store = job->base.net->store;
	bool has_changed = false;

	job->reply = store_admin_by(store, job->uid, job->command, job->len,
				    &has_changed);
	if (has_changed) {
		job->has_rows = net_read_rows(store, job->wants_roads,
					      &job->rows, &job->error) == 0;
		job->is_unread = !job->has_rows;
	}
	if (job->server != NULL)
		add_to_reply(job);
}

static void read_rematch(struct pool_job *pool_job)
{
	struct admin_job *job = (struct admin_job *)(void *)pool_job;
	struct row_match *match = xcalloc(1, sizeof(*match));
	struct store *store = job->base.net->store;
	struct row_map row;

	if (store_match(store, job->rematch, match, &job->error) == 0 &&
	    store_map_row(store, match->map_id, &row, &job->error) == 0) {
		job->match = match;
		job->is_map_open = !row.is_disabled;
	} else {
		free(match);
	}
}

static void free_admin(struct admin_job *job)
{
	/* It may have held a token. */
	if (job->command != NULL)
		explicit_bzero(job->command, job->len);
	if (job->reply != NULL)
		explicit_bzero(job->reply, strlen(job->reply));
	free(job->command);
	free(job->reply);
	json_decref(job->server);
	free(job->match);
	free(job);
}

/* JOB has not been carried out, and will not be. */
static void refuse_admin(struct admin_job *job)
{
	static const char reply[] = "{\"ok\": false, \"error\": \"hilld is "
				    "about to end: nothing was done\"}";

	job->reply = xstrdup(reply);
}

static void finish_admin(struct net_job *net_job)
{
	struct admin_job *job = (struct admin_job *)(void *)net_job;
	struct net *net = net_job->net;

	if (net_job->job.is_cancelled)
		refuse_admin(job);
	if (job->has_rows)
		net_set_catalogue(net, &job->rows);
	if (job->is_unread)
		log_error("event=catalogue_unread reason=\"%s\"",
			  job->error.text);
	if (net->control != NULL && job->reply != NULL)
		control_reply(net->control, job->client, job->reply,
			      strlen(job->reply));
	free_admin(job);
	net_act(net);
}

static void finish_rematch(struct net_job *net_job)
{
	struct admin_job *job = (struct admin_job *)(void *)net_job;
	struct net *net = net_job->net;
	struct game_error error = { .text = "" };
	json_t *reply = NULL;

	if (job->match == NULL)
		game_error_set(&error, "%s", job->error.text);
	else if (!job->is_map_open)
		game_error_set(&error, "the map %s is disabled",
			       job->match->map);
	else if (lobby_rematch(net->lobby, job->match, clock_now_us(),
			       &error) == 0)
		reply = json_pack("{s:b, s:s}", "ok", 1, "ladder",
				  job->match->ladder);
	if (reply == NULL)
		reply = json_pack("{s:b, s:s}", "ok", 0, "error", error.text);
	job->reply = json_dumps(reply, JSON_COMPACT);
	json_decref(reply);
	if (net->control != NULL && job->reply != NULL)
		control_reply(net->control, job->client, job->reply,
			      strlen(job->reply));
	free_admin(job);
	net_act(net);
}

static json_t *server_status(struct net *net)
{
	struct lobby_status status;
	char address[NET_ADDRESS_TEXT];
	json_t *listens = json_array();
	size_t store_bytes;
	size_t store_records = store_queue_depth(net->store, &store_bytes);

	lobby_status(net->lobby, &status);
	for (unsigned i = 0; net_address(net, i, address) > 0; i++)
		(void)json_array_append_new(listens, json_string(address));
	return json_pack(
		"{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I,"
		" s:I, s:I, s:I, s:b, s:b, s:b}",
		"listen", listens, "connections", (json_int_t)net->nconns,
		"peers", (json_int_t)status.peers, "logged_in",
		(json_int_t)status.logged_in, "waiting",
		(json_int_t)status.waiting, "matches",
		(json_int_t)status.matches, "started",
		(json_int_t)status.started, "finished",
		(json_int_t)status.finished, "cancelled",
		(json_int_t)status.cancelled, "voided",
		(json_int_t)status.voided, "match_bytes",
		(json_int_t)status.match_bytes, "record_bytes",
		(json_int_t)status.record_bytes, "map_bytes",
		(json_int_t)status.map_bytes, "results_waiting",
		(json_int_t)(store_records + net->nheld), "lag_us",
		(json_int_t)net->lag_us, "draining", status.is_draining,
		"store_trouble", status.has_store_trouble, "lagging",
		status.is_lagging);
}

/* Whether the command is one of ours alone, and then done. */
static bool is_ours(struct net *net, struct admin_job *job)
{
	json_t *request;
	const char *command;
	bool is_done = false;

	job->wants_roads = true;
	if (job->len > PEEK_BYTES)
		return false;
	request = json_loadb(job->command, job->len, 0, NULL);
	command = json_string_value(json_object_get(request, "command"));
	job->wants_roads =
		command != NULL && (strncmp(command, "ladder ", 7) == 0 ||
				    strncmp(command, "map ", 4) == 0);
	if (command != NULL && strcmp(command, "status") == 0)
		job->server = server_status(net);
	if (command != NULL && strcmp(command, "drain") == 0) {
		static const char reply[] = "{\"ok\": true}";

		control_reply(net->control, job->client, reply,
			      sizeof(reply) - 1);
		if (!net->is_draining)
			net_drain(net, "hillctl");
		is_done = true;
	}
	if (command != NULL && strcmp(command, "rematch") == 0)
		job->rematch =
			json_integer_value(json_object_get(request, "id"));
	json_decref(request);
	return is_done;
}

void net_admin(struct net *net, uint64_t id, uid_t uid, char *command_take,
	       size_t len)
{
	struct admin_job *job = xcalloc(1, sizeof(*job));

	job->client = id;
	job->uid = uid;
	job->command = command_take;
	job->len = len;
	if (is_ours(net, job)) {
		free_admin(job);
		return;
	}
	if (job->rematch != 0) {
		net_submit(net, NET_READING, &job->base, read_rematch,
			   finish_rematch);
	} else if (net->is_drained && job->server == NULL) {
		refuse_admin(job);
		job->base.net = net;
		finish_admin(&job->base);
	} else {
		net_submit(net, job->server != NULL ? NET_READING : NET_WRITING,
			   &job->base, run_admin, finish_admin);
	}
}
