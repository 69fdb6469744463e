/* SPDX-License-Identifier: MIT */
/* web.c - the thread, its mail, its jobs; birth and death. */
#include "server/web/web.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/clock.h"
#include "server/base/json_depth.h"
#include "server/base/limits.h"
#include "server/web/web_internal.h"

enum letter_kind { LETTER_FEED, LETTER_ANSWER, LETTER_STOP };

/* What another thread has to say. */
struct letter {
	struct mail mail;
	enum letter_kind kind;
	struct web_feed feed;
	uint64_t id;
	char *reply; /* owned */
};

static int PRINTF_LIKE(3, 4)
	fail(struct web_error *error, int rc, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return rc;
}

/* ---- letters ---- */

static void feed_release(struct web_feed *feed)
{
	free(feed->live);
	free(feed->metrics);
	free(feed->store_trouble);
	free(feed->saved);
	memset(feed, 0, sizeof(*feed));
}

void web_feed(struct web *web, struct web_feed *feed_take)
{
	struct letter *letter = xcalloc(1, sizeof(*letter));

	letter->kind = LETTER_FEED;
	letter->feed = *feed_take;
	memset(feed_take, 0, sizeof(*feed_take));
	mailbox_post(&web->inbox, &letter->mail);
}

void web_answer(struct web *web, uint64_t id, char *reply_take)
{
	struct letter *letter = xcalloc(1, sizeof(*letter));

	letter->kind = LETTER_ANSWER;
	letter->id = id;
	letter->reply = reply_take;
	mailbox_post(&web->inbox, &letter->mail);
}

static void take_feed(struct web *web, struct web_feed *feed)
{
	events_saved(web, feed->saved, feed->nsaved);
	feed_release(&web->feed);
	web->feed = *feed;
	memset(feed, 0, sizeof(*feed));
	web->fed_us = clock_now_us();
}

static void take_answer(struct web *web, uint64_t id, const char *reply)
{
	struct web_command *command;
	json_t *value;

	LIST_FOREACH(command, &web->commands, link)
	if (command->id == id)
		break;
	if (command == NULL)
		return;
	LIST_REMOVE(command, link);
	web->ncommands--;
	value = json_loads(reply, 0, NULL);
	command->finish(command->call, value);
	json_decref(value);
	free(command);
}

static void read_letters(struct web *web, bool is_over)
{
	struct mail *mail = mailbox_take(&web->inbox);

	while (mail != NULL) {
		struct mail *next = mail->next;
		struct letter *letter = MAIL_OF(mail, struct letter, mail);

		if (letter->kind == LETTER_STOP)
			web->is_stopping = true;
		else if (letter->kind == LETTER_FEED && !is_over)
			take_feed(web, &letter->feed);
		else if (letter->kind == LETTER_ANSWER && !is_over)
			take_answer(web, letter->id, letter->reply);
		feed_release(&letter->feed);
		/* It may hold a token. */
		if (letter->reply != NULL)
			explicit_bzero(letter->reply, strlen(letter->reply));
		free(letter->reply);
		free(letter);
		mail = next;
	}
	if (web->is_stopping)
		(void)event_base_loopbreak(web->base);
}

/* ---- commands ---- */

void web_ask(struct web_call *call, json_t *command_take,
	     void (*finish)(struct web_call *call, json_t *reply))
{
	struct web *web = call->web;
	struct web_command *command;
	char *text = json_dumps(command_take, JSON_COMPACT);

	json_decref(command_take);
	if (web->settings.command == NULL || text == NULL ||
	    web->ncommands == WEB_COMMANDS_MAX) {
		if (text != NULL)
			explicit_bzero(text, strlen(text));
		free(text);
		reply_problem(call, 503, "busy",
			      "nothing can be written just now");
		return;
	}
	command = xcalloc(1, sizeof(*command));
	command->id = ++web->last_command;
	command->call = call;
	command->finish = finish;
	LIST_INSERT_HEAD(&web->commands, command, link);
	web->ncommands++;
	web->settings.command(web->settings.arg, command->id, text,
			      strlen(text));
}

json_t *web_body(struct web_call *call)
{
	const struct http_request *request = call->request;
	const char *type = http_head_get(&request->head, "content-type");
	json_error_t where;
	json_t *body;

	if (type == NULL || strncmp(type, REPLY_JSON, 16) != 0) {
		/* A form of a foreign page cannot say so without asking. */
		reply_problem(call, 415, "media-type",
			      "the body must be " REPLY_JSON);
		return NULL;
	}
	if (json_is_too_deep(request->body, request->body_len)) {
		reply_problem(call, 400, "bad-json",
			      "JSON is nested more than %d deep",
			      (int)LIMIT_JSON_DEPTH);
		return NULL;
	}
	body = json_loadb(request->body, request->body_len,
			  JSON_REJECT_DUPLICATES, &where);
	if (body == NULL || !json_is_object(body)) {
		reply_problem(call, 400, "bad-json", "byte %d: %s",
			      body == NULL ? where.position : 0,
			      body == NULL ? where.text
					   : "an object was expected");
		json_decref(body);
		return NULL;
	}
	return body;
}

/* ---- jobs ---- */

bool web_job_is_cut(const struct web_job *job)
{
	return atomic_load(&job->is_unwanted) ||
	       atomic_load(&job->web->is_ending);
}

static void run_job(struct pool_job *pool_job)
{
	struct web_job *job = (struct web_job *)(void *)pool_job;

	if (web_job_is_cut(job)) {
		job->rc = -ECANCELED;
		return;
	}
	job->work(job);
}

void web_submit_own(struct web *web, struct web_job *job)
{
	job->web = web;
	job->job.run = run_job;
	LIST_INSERT_HEAD(&web->jobs, job, link);
	pool_submit(web->pool, &job->job);
}

static void on_client_gone(struct http_request *request, void *arg)
{
	struct web_job *job = arg;

	(void)request;
	atomic_store(&job->is_unwanted, true);
}

/*
 * A job goes on counting when its client has gone: who asks and hangs up
 * again and again has no more of the worker than who waits.
 */
static unsigned count_jobs(const struct web *web,
			   const uint8_t host[ADDRESS_BYTES])
{
	const struct web_job *job;
	unsigned count = 0;

	LIST_FOREACH(job, &web->jobs, link)
	count += job->is_counted &&
		 memcmp(job->host, host, sizeof(job->host)) == 0;
	return count;
}

bool web_submit(struct web_call *call, struct web_job *job)
{
	struct web *web = call->web;
	struct http_request *request = call->request;

	if (web->njobs == WEB_JOBS_MAX) {
		reply_problem(call, 503, "busy",
			      "too many requests wait already");
		return false;
	}
	if (count_jobs(web, request->host) >= WEB_JOBS_SHARE) {
		reply_problem(call, 503, "busy",
			      "%d requests of your address wait already",
			      (int)WEB_JOBS_SHARE);
		return false;
	}
	web->njobs++;
	memcpy(job->host, request->host, sizeof(job->host));
	job->is_counted = true;
	job->request = request;
	request->arg = job;
	request->on_gone = on_client_gone;
	web_submit_own(web, job);
	return true;
}

void web_job_share(struct web_job *job)
{
	if (job->request != NULL)
		job->request->on_gone = NULL;
	job->request = NULL;
}

static void finish_jobs(struct web *web)
{
	struct mail *mail = mailbox_take(&web->done);

	while (mail != NULL) {
		struct mail *next = mail->next;
		struct web_job *job = (struct web_job *)(void *)MAIL_OF(
			mail, struct pool_job, mail);

		LIST_REMOVE(job, link);
		web->njobs -= job->is_counted;
		web_job_share(job);
		job->finish(job);
		mail = next;
	}
}

/* ---- callbacks ---- */

static void on_inbox(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	read_letters(arg, false);
}

static void on_done(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	finish_jobs(arg);
}

static void on_second(evutil_socket_t fd, short what, void *arg)
{
	struct web *web = arg;

	(void)fd;
	(void)what;
	boards_refresh(web);
	events_tick(web);
}

static void on_events(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	events_go_on(arg);
}

static void on_request(struct http_request *request, void *arg)
{
	route_dispatch(arg, request);
}

/* ---- birth and death ---- */

static struct event *add_event(struct web *web, int fd, short what,
			       event_callback_fn fn, const struct timeval *each)
{
	struct event *event =
		event_new(web->base, fd, what | EV_PERSIST, fn, web);

	if (event != NULL && event_add(event, each) < 0) {
		event_free(event);
		return NULL;
	}
	return event;
}

static int open_stores(struct web *web, struct web_error *error)
{
	struct store_error store_error;
	int rc = store_open(&web->store, web->database, STORE_READ,
			    &store_error);

	if (rc == 0)
		rc = store_open(&web->worker, web->database, STORE_READ,
				&store_error);
	return rc < 0 ? fail(error, rc, "%s", store_error.text) : 0;
}

static int open_loop(struct web *web)
{
	static const struct timeval each = { .tv_usec = 250000 };
	const struct http_settings settings = {
		.connections_max = web->settings.connections_max,
		.per_address = web->settings.connections_per_address,
		.request_ms = web->settings.request_ms,
		.stall_ms = web->settings.stall_ms,
		.body_bytes = WEB_BODY_BYTES,
		.output_bytes = WEB_OUTPUT_BYTES,
		.output_per_address = WEB_OUTPUT_BYTES / WEB_OUTPUT_SHARE,
		.proxies = web->settings.proxies,
	};
	struct event_config *config = event_config_new();
	int rc;

	if (config == NULL)
		return -ENOMEM;
	/* One thread uses it: no locks. */
	if (event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK) == 0)
		web->base = event_base_new_with_config(config);
	event_config_free(config);
	if (web->base == NULL)
		return -ENOMEM;
	web->inbox_ev = add_event(web, mailbox_fd(&web->inbox), EV_READ,
				  on_inbox, NULL);
	web->done_ev =
		add_event(web, mailbox_fd(&web->done), EV_READ, on_done, NULL);
	web->second_ev = add_event(web, -1, 0, on_second, &each);
	web->events_ev = event_new(web->base, -1, 0, on_events, web);
	if (web->inbox_ev == NULL || web->done_ev == NULL ||
	    web->second_ev == NULL || web->events_ev == NULL)
		return -ENOMEM;
	rc = http_server_new(&web->http, web->base, &settings, on_request, web);
	if (rc == 0)
		http_server_on_refusal(web->http, reply_refusal);
	return rc;
}

int web_new(struct web **ret, const struct web_settings *settings,
	    struct web_error *error)
{
	struct web *web = xcalloc(1, sizeof(*web));
	int rc;

	web->settings = *settings;
	web->database = xstrdup(settings->database);
	web->settings.database = web->database;
	web->started_us = clock_wall_us();
	web->stamp = -1;
	LIST_INIT(&web->boards);
	LIST_INIT(&web->subscribers);
	LIST_INIT(&web->commands);
	LIST_INIT(&web->jobs);
	rc = mailbox_init(&web->inbox, true);
	if (rc < 0) {
		free(web->database);
		free(web);
		return fail(error, rc, "web: %s", strerror(-rc));
	}
	rc = mailbox_init(&web->done, true);
	if (rc < 0) {
		mailbox_release(&web->inbox);
		free(web->database);
		free(web);
		return fail(error, rc, "web: %s", strerror(-rc));
	}
	rc = open_stores(web, error);
	if (rc == 0) {
		rc = open_loop(web);
		if (rc == 0)
			rc = pool_new(&web->pool, 1, &web->done);
		if (rc < 0)
			(void)fail(error, rc, "web: %s", strerror(-rc));
	}
	if (rc < 0) {
		web_free(web);
		return rc;
	}
	*ret = web;
	return 0;
}

int web_listen(struct web *web, const char *host, const char *port,
	       struct web_error *error)
{
	struct http_error http_error;
	int rc = http_server_listen(web->http, host, port, &http_error);

	return rc < 0 ? fail(error, rc, "%s", http_error.text) : 0;
}

unsigned web_address(const struct web *web, unsigned i, char ret[64])
{
	return http_server_address(web->http, i, ret);
}

static void *run(void *arg)
{
	struct web *web = arg;

	boards_first(web);
	while (!web->is_stopping)
		if (event_base_loop(web->base, EVLOOP_NO_EXIT_ON_EMPTY) < 0)
			break;
	return NULL;
}

int web_start(struct web *web, struct web_error *error)
{
	sigset_t all, old;
	int rc;

	/* Signals are the bots' loop's: a new thread inherits the mask. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = -pthread_create(&web->thread, NULL, run, web);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc < 0)
		return fail(error, rc, "web thread: %s", strerror(-rc));
	web->is_running = true;
	return 0;
}

static void stop(struct web *web)
{
	struct letter *letter = xcalloc(1, sizeof(*letter));

	letter->kind = LETTER_STOP;
	mailbox_post(&web->inbox, &letter->mail);
	(void)pthread_join(web->thread, NULL);
	web->is_running = false;
}

static void free_commands(struct web *web)
{
	struct web_command *command;

	while ((command = LIST_FIRST(&web->commands)) != NULL) {
		LIST_REMOVE(command, link);
		command->finish(command->call, NULL);
		free(command);
	}
}

void web_free(struct web *web)
{
	struct event *events[4];

	if (web == NULL)
		return;
	/* Nobody waits for an answer any more: the pool's queue is soon empty. */
	atomic_store(&web->is_ending, true);
	if (web->is_running)
		stop(web);
	pool_free(web->pool);
	read_letters(web, true);
	/* Each answer finds its client, or nobody; then all are cut off. */
	if (web->http != NULL)
		finish_jobs(web);
	free_commands(web);
	events_free(web);
	http_server_free(web->http);
	boards_free(web);
	grids_free(web);
	tables_free(web);
	feed_release(&web->feed);
	events[0] = web->inbox_ev;
	events[1] = web->done_ev;
	events[2] = web->second_ev;
	events[3] = web->events_ev;
	for (size_t i = 0; i < 4; i++)
		if (events[i] != NULL)
			event_free(events[i]);
	if (web->base != NULL)
		event_base_free(web->base);
	store_close(web->store);
	store_close(web->worker);
	mailbox_release(&web->inbox);
	mailbox_release(&web->done);
	free(web->database);
	free(web);
}
