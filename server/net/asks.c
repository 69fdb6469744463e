/* SPDX-License-Identifier: MIT */
/* asks.c - what peers want of the store: bots, tokens, versions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/clock.h"
#include "server/net/net_internal.h"
#include "server/store/register.h"
#include "server/store/store.h"

struct ask_job {
	struct net_job base;         /* first */
	const struct lobby_ask *ask; /* the lobby's; stays until the answer */
	int rc;
	bool has_changed;
	int64_t version_id;
	struct store_joined joined;
	struct row_catalogue rows; /* read again when it changed */
	bool has_rows;
	struct store_error error;
};

static void carry_out(struct ask_job *job)
{
	const struct lobby_ask *ask = job->ask;
	struct store *store = job->base.net->store;
	struct store_joiner joiner = { ask->name, ask->invite, ask->token };

	switch (ask->kind) {
	case LOBBY_ASK_VERSION:
		job->rc = store_version(store, ask->bot_id, ask->label,
					ask->is_candidate, &job->version_id,
					&job->has_changed, &job->error);
		/* Known to the store alone: our catalogue is behind. */
		job->has_changed = job->rc == 0;
		break;
	case LOBBY_ASK_REGISTER:
		job->rc = store_register(store, &joiner, &job->joined,
					 &job->error);
		job->has_changed = job->rc == 0;
		break;
	case LOBBY_ASK_ROTATE:
		job->rc = store_rotate(store, ask->bot_id, job->joined.token,
				       &job->error);
		job->has_changed = job->rc == 0;
		break;
	case LOBBY_NASKS:
		break;
	}
}

static void run_ask(struct pool_job *pool_job)
{
	struct ask_job *job = (struct ask_job *)(void *)pool_job;

	carry_out(job);
	if (job->has_changed)
		job->has_rows = net_read_rows(job->base.net->store, false,
					      &job->rows, &job->error) == 0;
}

static enum error_code code_of(const struct ask_job *job)
{
	switch (-job->rc) {
	case 0:
		return ERROR_NONE;
	case EINVAL:
		return ERROR_NAME_REFUSED;
	case EEXIST:
		return ERROR_NAME_TAKEN;
	case EPERM:
		return ERROR_REGISTRATION_CLOSED;
	case EACCES:
		return ERROR_INVITE_REFUSED;
	case EDQUOT:
		return job->ask->kind == LOBBY_ASK_VERSION
			       ? ERROR_TOO_MANY_VERSIONS
			       : ERROR_TOO_MANY_BOTS;
	case ESTALE:
		return ERROR_VERSION_RETIRED;
	default:
		return ERROR_TRY_LATER;
	}
}

static void finish_ask(struct net_job *net_job)
{
	struct ask_job *job = (struct ask_job *)(void *)net_job;
	struct net *net = net_job->net;
	bool is_cancelled = net_job->job.is_cancelled;
	struct lobby_answer answer = { .code = is_cancelled ? ERROR_TRY_LATER
							    : code_of(job),
				       .version_id = job->version_id,
				       .name = job->joined.name,
				       .token = job->joined.token };

	if (job->has_rows)
		net_set_catalogue(net, &job->rows);
	else if (job->has_changed)
		log_error("event=catalogue_unread reason=\"%s\"",
			  job->error.text);
	if (answer.code == ERROR_TRY_LATER && !is_cancelled)
		log_error("event=ask_failed reason=\"%s\"", job->error.text);
	else if (answer.code != ERROR_NONE && !is_cancelled)
		answer.text = job->error.text;
	lobby_answered(net->lobby, job->ask->id, &answer, clock_now_us());
	explicit_bzero(&job->joined, sizeof(job->joined));
	free(job);
	net_act(net);
}

void net_ask(struct net *net, const struct lobby_ask *ask)
{
	struct ask_job *job = xcalloc(1, sizeof(*job));

	job->ask = ask;
	net_submit(net, NET_WRITING, &job->base, run_ask, finish_ask);
}
