/* SPDX-License-Identifier: MIT */
/* server_commands.c - what a running hilld is asked: status, rematch, drain. */
#include <stdlib.h>
#include <string.h>

#include "clients/ctl/match_view.h"
#include "clients/ctl/table.h"

static void print_members(const char *prefix, json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value) {
		struct buf text = BUF_INIT(65536), shown = BUF_INIT(262144);
		char *dump = NULL;

		if (json_is_string(value)) {
			buf_add_text(&text, json_string_value(value));
		} else {
			dump = json_dumps(value,
					  JSON_COMPACT | JSON_ENCODE_ANY);
			buf_add_text(&text, dump == NULL ? "?" : dump);
		}
		text_escape(buf_text(&text), text.len, &shown);
		(void)printf("%s%-18s %s\n", prefix, key, buf_text(&shown));
		free(dump);
		buf_release(&text);
		buf_release(&shown);
	}
}

/* The reply to REQUEST, which it takes; NULL after it was told why. */
static json_t *ask(struct channel *channel, const struct ctl *ctl,
		   json_t *request)
{
	json_t *reply = channel_send(channel, ctl, request);
	const json_t *ok = json_object_get(reply, "ok");

	json_decref(request);
	channel_close(channel);
	if (reply != NULL && !json_is_true(ok)) {
		const char *error =
			json_string_value(json_object_get(reply, "error"));

		(void)ctl_fail(ctl, "%s", error == NULL ? "refused" : error);
		json_decref(reply);
		return NULL;
	}
	return reply;
}

int run_status(const struct ctl *ctl, const struct ctl_call *call)
{
	struct channel channel;
	json_t *reply;
	bool is_running = channel_open_socket(&channel, ctl) == 0;

	(void)call;
	if (!is_running && channel_open_read(&channel, ctl) != 0)
		return CTL_FAILED;
	reply = ask(&channel, ctl, json_pack("{s:s}", "command", "status"));
	if (reply == NULL)
		return CTL_FAILED;
	(void)json_object_set_new(reply, "running", json_boolean(is_running));
	if (ctl->is_json) {
		ctl_print_json(reply);
	} else {
		(void)printf("hilld %s\n",
			     is_running ? "runs" : "does not run");
		print_members("  ", json_object_get(reply, "server"));
		(void)printf("database\n");
		print_members("  ", json_object_get(reply, "status"));
	}
	json_decref(reply);
	return CTL_OK;
}

/* What only a running hilld does. CTL_OK, or CTL_FAILED after ctl_fail(). */
static int open_hilld(struct channel *channel, const struct ctl *ctl)
{
	int rc = channel_open_socket(channel, ctl);
	char *path;

	if (rc == 0)
		return CTL_OK;
	path = ctl_socket_path(ctl);
	(void)ctl_fail(ctl, "hilld cannot be reached at %s: %s", path,
		       strerror(-rc));
	free(path);
	return CTL_FAILED;
}

int run_rematch(const struct ctl *ctl, const struct ctl_call *call)
{
	struct channel channel;
	json_t *reply;
	int64_t id = 0;

	if (match_parse(call, &id) != CTL_OK)
		return CTL_USAGE;
	if (open_hilld(&channel, ctl) != CTL_OK)
		return CTL_FAILED;
	reply = ask(&channel, ctl,
		    json_pack("{s:s, s:I}", "command", "rematch", "id",
			      (json_int_t)id));
	if (reply == NULL)
		return CTL_FAILED;
	if (ctl->is_json)
		ctl_print_json(reply);
	else
		(void)printf(
			"match %lld is played again as soon as its bots "
			"are free on %s\n",
			(long long)id,
			json_string_value(json_object_get(reply, "ladder")));
	json_decref(reply);
	return CTL_OK;
}

int run_drain(const struct ctl *ctl, const struct ctl_call *call)
{
	struct channel channel;
	json_t *reply;

	(void)call;
	if (open_hilld(&channel, ctl) != CTL_OK)
		return CTL_FAILED;
	reply = ask(&channel, ctl, json_pack("{s:s}", "command", "drain"));
	if (reply == NULL)
		return CTL_FAILED;
	if (ctl->is_json)
		ctl_print_json(reply);
	else
		(void)puts("no new matches; hilld ends when those that run are "
			   "over");
	json_decref(reply);
	return CTL_OK;
}
