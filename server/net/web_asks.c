/* SPDX-License-Identifier: MIT */
/*
 * web_asks.c - what the web side asks to be written: registration, new tokens.
 * A question comes by mail, is carried out on a worker, and its answer goes
 * back by the function that net_on_web_answer was given.
 *
 *	{"do": "register", "name": "crazy", "invite": "...", "token": "..."}
 *	{"do": "rotate", "bot": "crazy", "token": "..."}
 *
 *	{"status": 201, "body": {"bot": "crazy", "token": "hill_..."}}
 *	{"status": 409, "code": "name-taken", "detail": "..."}
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "server/base/address.h"
#include "server/base/clock.h"
#include "server/net/net_internal.h"
#include "server/store/register.h"
#include "server/store/store.h"
#include "server/store/web.h"

struct question {
	struct mail mail;
	uint64_t id;
	char *text; /* owned */
	size_t len;
};

struct web_ask {
	struct net_job base; /* first */
	uint64_t id;
	json_t *question; /* owned */
	json_t *answer;   /* owned */
	bool has_changed;
	struct row_catalogue rows;
	bool has_rows;
};

void net_on_web_answer(struct net *net,
		       void (*answer)(void *arg, uint64_t id, char *reply_take),
		       void *arg)
{
	net->answer = answer;
	net->answer_arg = arg;
}

void net_web_ask(struct net *net, uint64_t id, char *text_take, size_t len)
{
	struct question *question = xcalloc(1, sizeof(*question));

	question->id = id;
	question->text = text_take;
	question->len = len;
	mailbox_post(&net->asks, &question->mail);
}

/* Questions and answers hold tokens: none stays in memory. */
static void wipe_text(char *text)
{
	if (text != NULL)
		explicit_bzero(text, strlen(text));
	free(text);
}

static void question_free(struct question *question)
{
	explicit_bzero(question->text, question->len);
	free(question->text);
	free(question);
}

static const char *text_of(const struct web_ask *job, const char *field)
{
	return json_string_value(json_object_get(job->question, field));
}

static json_t *refusal(int err, const char *text)
{
	static const struct {
		int err;
		unsigned status;
		const char *code;
	} kinds[] = {
		{ -EINVAL, 422, "bad-name" },
		{ -EEXIST, 409, "name-taken" },
		{ -EPERM, 403, "registration-closed" },
		{ -EACCES, 401, "not-valid" },
		{ -EDQUOT, 403, "too-many" },
		{ -ENOENT, 401, "not-valid" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].err == err)
			return json_pack("{s:I, s:s, s:s}", "status",
					 (json_int_t)kinds[i].status, "code",
					 kinds[i].code, "detail", text);
	return json_pack("{s:I, s:s, s:s}", "status", (json_int_t)503, "code",
			 "store", "detail", "it cannot be written just now");
}

static json_t *success(unsigned status, const char *bot, const char *token)
{
	return json_pack("{s:I, s:{s:s, s:s}}", "status", (json_int_t)status,
			 "body", "bot", bot, "token", token);
}

static void do_register(struct web_ask *job)
{
	const struct store_joiner joiner = { .name = text_of(job, "name"),
					     .invite = text_of(job, "invite"),
					     .token = text_of(job, "token") };
	struct store_error error = { "" };
	struct store_joined joined;
	int err =
		store_register(job->base.net->store, &joiner, &joined, &error);

	if (err == 0) {
		job->answer = success(201, joined.name, joined.token);
		job->has_changed = true;
	} else {
		job->answer = refusal(err, error.text);
	}
	explicit_bzero(&joined, sizeof(joined));
}

static void do_rotate(struct web_ask *job)
{
	const char *bot = text_of(job, "bot");
	char token[STORE_TOKEN_BYTES] = "";
	struct store_error error = { "" };
	int64_t bot_id;
	int err = store_web_token(job->base.net->store, bot,
				  text_of(job, "token"), &bot_id, &error);

	if (err == 0)
		err = store_rotate(job->base.net->store, bot_id, token, &error);
	if (err == 0) {
		job->answer = success(201, bot, token);
		job->has_changed = true;
	} else {
		job->answer = refusal(err, error.text);
	}
	explicit_bzero(token, sizeof(token));
}

static void work(struct pool_job *pool_job)
{
	struct web_ask *job = (struct web_ask *)(void *)pool_job;
	const char *what = text_of(job, "do");
	struct store_error error;

	if (what != NULL && strcmp(what, "register") == 0)
		do_register(job);
	else if (what != NULL && strcmp(what, "rotate") == 0)
		do_rotate(job);
	if (job->has_changed)
		job->has_rows = net_read_rows(job->base.net->store, false,
					      &job->rows, &error) == 0;
}

static void finish(struct net_job *net_job)
{
	struct web_ask *job = (struct web_ask *)(void *)net_job;
	struct net *net = net_job->net;
	char *reply = job->answer == NULL
			      ? xstrdup("{}")
			      : json_dumps(job->answer, JSON_COMPACT);

	if (job->has_rows)
		net_set_catalogue(net, &job->rows);
	else if (job->has_changed)
		log_error("event=catalogue_unread");
	if (net->answer != NULL && reply != NULL)
		net->answer(net->answer_arg, job->id, reply);
	else
		wipe_text(reply);
	json_decref(job->question);
	json_decref(job->answer);
	free(job);
	net_act(net);
}

/*
 * Registrations and new tokens count by address, with those of the bots' port.
 * False: JOB has been answered.
 */
static bool may_write(struct net *net, struct web_ask *job)
{
	const char *what = text_of(job, "do");
	const char *from = text_of(job, "address");
	uint8_t address[ADDRESS_BYTES];
	uint32_t wait_s;

	if (what == NULL)
		return true;
	/* All that is no address counts as one. */
	if (from == NULL || !address_parse(from, strlen(from), address))
		memset(address, 0, sizeof(address));
	wait_s = lobby_register_wait_s(net->lobby, address, clock_now_us());
	if (wait_s == 0)
		return true;
	job->answer = json_pack(
		"{s:i, s:I, s:s, s:o}", "status", 429, "retry_after",
		(json_int_t)wait_s, "code", "address-limit", "detail",
		json_sprintf("too many registrations or new tokens from this "
			     "address; there is room again in %u s",
			     wait_s));
	return false;
}

void net_take_web_asks(struct net *net)
{
	struct mail *mail = mailbox_take(&net->asks);

	while (mail != NULL) {
		struct mail *next = mail->next;
		struct question *question =
			MAIL_OF(mail, struct question, mail);
		struct web_ask *job = xcalloc(1, sizeof(*job));

		job->id = question->id;
		job->question =
			json_loadb(question->text, question->len, 0, NULL);
		question_free(question);
		job->base.net = net;
		/* At the end {} is the answer: nothing was done. */
		if (net->is_drained)
			finish(&job->base);
		else if (may_write(net, job))
			net_submit(net, NET_WRITING, &job->base, work, finish);
		else
			finish(&job->base);
		mail = next;
	}
}

void net_drop_web_asks(struct net *net)
{
	struct mail *mail = mailbox_take(&net->asks);

	while (mail != NULL) {
		struct mail *next = mail->next;
		struct question *question =
			MAIL_OF(mail, struct question, mail);

		question_free(question);
		mail = next;
	}
}
