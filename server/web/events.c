/* SPDX-License-Identifier: MIT */
/*
 * events.c - server-sent events: one stream of matches, one of standings.
 *
 * A client that takes its events slower than they come is told so in an event
 * and cut off; it may come again with Last-Event-ID, which for matches is the
 * last match's id: what it missed is sent first, from the newest back as far as
 * bounds of number and bytes go, and an event `gap` before it where they cut
 * something off.
 * Matches come in the order in which they are stored, which is not that of
 * their ids; so the last ones told are remembered. Those of a second come at
 * once, and are told a few in a turn of the loop: in between it writes, so who
 * reads is not taken for slow.
 */
#include <stdlib.h>
#include <string.h>

#include "server/base/clock.h"
#include "server/web/web_internal.h"

enum {
	QUEUE_BYTES = 256 * 1024, /* that may wait for one client */
	HEARTBEAT_US = 15 * 1000000,
	EVENT_BYTES = 128 * 1024,
	MISSED_MAX = 100, /* events that are sent again ... */
	/* ... in so much; the rest of the queue is for new ones */
	MISSED_BYTES = QUEUE_BYTES / 2,
	LOOKED_MAX = 1000, /* places of web->saved, to find them */
	TURN_BYTES = 8192, /* told in a turn; each writes up to 16 KiB */
	TURN_LEAST = 256,  /* what a match counts for that nobody hears of */
	OVERLAP_US = 60 * 1000000,
};

enum topic { TOPIC_MATCHES, TOPIC_STANDINGS };

struct subscriber {
	LIST_ENTRY(subscriber) link;
	struct web_call *call; /* owned */
	enum topic topic;
	const char *ladder; /* the call's; NULL for all */
};

static void unsubscribe(struct subscriber *subscriber)
{
	struct web *web = subscriber->call->web;

	LIST_REMOVE(subscriber, link);
	web->nsubscribers--;
	http_end(subscriber->call->request);
	call_free(subscriber->call);
	free(subscriber);
}

static void on_gone(struct http_request *request, void *arg)
{
	(void)request;
	unsubscribe(arg);
}

/* Send TEXT (whole lines); too much waits: the end, and the reason. */
static void send_text(struct subscriber *subscriber, const char *text,
		      size_t len)
{
	static const char dropped[] =
		"event: dropped\ndata: {\"reason\":\"slow\",\"detail\":"
		"\"events wait for you faster than you take them\"}\n\n";
	struct http_request *request = subscriber->call->request;

	if (http_send(request, text, len) <= QUEUE_BYTES)
		return;
	subscriber->call->web->dropped_subscribers++;
	(void)http_send(request, dropped, sizeof(dropped) - 1);
	unsubscribe(subscriber);
}

static void add_event(struct buf *out, const char *name, int64_t id,
		      const char *data)
{
	if (id > 0)
		buf_add_format(out, "id: %lld\n", (long long)id);
	buf_add_format(out, "event: %s\ndata: ", name);
	buf_add_text(out, data);
	buf_add_text(out, "\n\n");
}

static bool wants(const struct subscriber *subscriber, enum topic topic,
		  const char *ladder)
{
	return subscriber->topic == topic &&
	       (subscriber->ladder == NULL || ladder == NULL ||
		strcmp(subscriber->ladder, ladder) == 0);
}

static void tell(struct web *web, enum topic topic, const char *ladder,
		 const struct buf *text)
{
	struct subscriber *subscriber, *next;

	if (text->is_failed)
		return;
	for (subscriber = LIST_FIRST(&web->subscribers); subscriber != NULL;
	     subscriber = next) {
		next = LIST_NEXT(subscriber, link);
		if (wants(subscriber, topic, ladder))
			send_text(subscriber, text->data, text->len);
	}
}

/* Tell of match ID; returns the bytes that each listener has got. */
static size_t tell_match(struct web *web, int64_t id)
{
	struct buf text = BUF_INIT(EVENT_BYTES);
	struct store_error error;
	size_t len = TURN_LEAST;
	json_t *match;
	char *data;

	/* What is not for the public is not found. */
	if (store_web_match(web->store, id, &match, &error) < 0)
		return len;
	data = json_dumps(match, JSON_COMPACT | JSON_REAL_PRECISION(15));
	if (data != NULL) {
		add_event(&text, "match", id, data);
		tell(web, TOPIC_MATCHES,
		     json_string_value(json_object_get(match, "ladder")),
		     &text);
		len += text.len;
	}
	free(data);
	json_decref(match);
	buf_release(&text);
	return len;
}

void events_go_on(struct web *web)
{
	static const struct timeval at_once = { 0 };
	struct subscriber *subscriber;
	bool is_wanted = false;
	size_t told = 0;

	LIST_FOREACH(subscriber, &web->subscribers, link)
	is_wanted |= subscriber->topic == TOPIC_MATCHES;
	if (!is_wanted)
		web->ntold = web->nsaved;
	while (web->ntold < web->nsaved && told < TURN_BYTES)
		told += tell_match(web,
				   web->saved[web->ntold++ % WEB_SAVED_MAX]);
	if (web->ntold < web->nsaved)
		(void)event_add(web->events_ev, &at_once);
}

void events_saved(struct web *web, const int64_t *ids, size_t count)
{
	/* 0 is what was decided without a match. */
	for (size_t i = 0; i < count; i++)
		if (ids[i] != 0)
			web->saved[web->nsaved++ % WEB_SAVED_MAX] = ids[i];
	/* Too many for one who comes again are too many for all. */
	if (web->nsaved - web->ntold > WEB_SAVED_MAX)
		web->ntold = web->nsaved - WEB_SAVED_MAX;
	if (!event_pending(web->events_ev, EV_TIMEOUT, NULL))
		events_go_on(web);
}

void events_tell_board(struct web *web, const char *ladder, const char *text)
{
	struct buf event = BUF_INIT(EVENT_BYTES);

	add_event(&event, "standings", 0, text);
	tell(web, TOPIC_STANDINGS, ladder, &event);
	buf_release(&event);
}

void events_tick(struct web *web)
{
	int64_t now_us = clock_now_us();
	struct subscriber *subscriber, *next;

	if (now_us - web->heartbeat_us < HEARTBEAT_US)
		return;
	web->heartbeat_us = now_us;
	for (subscriber = LIST_FIRST(&web->subscribers); subscriber != NULL;
	     subscriber = next) {
		next = LIST_NEXT(subscriber, link);
		send_text(subscriber, ": still here\n\n", 14);
	}
}

void events_free(struct web *web)
{
	while (!LIST_EMPTY(&web->subscribers))
		unsubscribe(LIST_FIRST(&web->subscribers));
}

static struct subscriber *subscribe(struct web_call *call, enum topic topic)
{
	struct web *web = call->web;
	struct subscriber *subscriber;

	if (call->request->head.method == HTTP_HEAD_ONLY) {
		reply_only_head(call, "text/event-stream");
		return NULL;
	}
	if (web->nsubscribers == WEB_SUBSCRIBERS_MAX) {
		reply_problem(call, 503, "busy",
			      "too many clients listen already");
		return NULL;
	}
	subscriber = xcalloc(1, sizeof(*subscriber));
	subscriber->call = call;
	subscriber->topic = topic;
	subscriber->ladder = call_text(call, "ladder");
	LIST_INSERT_HEAD(&web->subscribers, subscriber, link);
	web->nsubscribers++;
	call->request->arg = subscriber;
	call->request->on_gone = on_gone;
	reply_begin(call, "text/event-stream");
	return subscriber;
}

/* What a client has missed, gathered from the newest to the oldest. */
struct missed {
	struct buf events[MISSED_MAX]; /* owned */
	size_t count;
	size_t len;   /* of all of them */
	bool has_gap; /* there are older ones */
};

/* MATCH came before those in MISSED. False: there is no room for it. */
static bool add_match(struct missed *missed, const json_t *match)
{
	char *data = json_dumps(match, JSON_COMPACT | JSON_REAL_PRECISION(15));
	struct buf event = BUF_INIT(EVENT_BYTES);

	if (data != NULL)
		add_event(&event, "match",
			  json_integer_value(json_object_get(match, "id")),
			  data);
	free(data);
	if (event.is_failed || event.len == 0) {
		buf_release(&event);
		return true; /* nobody is told of it, then or now */
	}
	if (missed->count == MISSED_MAX ||
	    event.len > MISSED_BYTES - missed->len) {
		buf_release(&event);
		missed->has_gap = true;
		return false;
	}
	missed->events[missed->count++] = event;
	missed->len += event.len;
	return true;
}

/* Where in web->saved the match after LAST is; false: LAST is not known. */
static bool find_told(const struct web *web, int64_t last, uint64_t *ret)
{
	for (uint64_t i = web->ntold; i > 0 && web->nsaved - i < WEB_SAVED_MAX;
	     i--) {
		if (web->saved[(i - 1) % WEB_SAVED_MAX] != last)
			continue;
		*ret = i;
		return true;
	}
	return false;
}

/* Those that were told since the one before place FROM of web->saved. */
static void add_told(const struct subscriber *subscriber, uint64_t from,
		     struct missed *missed)
{
	struct web *web = subscriber->call->web;
	uint64_t first = from;
	bool has_room = true;

	/* On a busy server most of them may be of other ladders. */
	if (web->ntold - from > LOOKED_MAX)
		first = web->ntold - LOOKED_MAX;
	for (uint64_t at = web->ntold; at > first && has_room; at--) {
		struct store_error error;
		json_t *match;

		if (store_web_match_of(web->store,
				       web->saved[(at - 1) % WEB_SAVED_MAX],
				       subscriber->ladder, &match, &error) < 0)
			continue;
		has_room = add_match(missed, match);
		json_decref(match);
	}
	missed->has_gap |= first > from;
}

/*
 * LAST was told by an earlier run of the server, or long ago. What was stored
 * after it has ended after it, but for the moment that a result waits for the
 * disk: from some time before it on all are sent, some of them again.
 */
static void add_since(const struct subscriber *subscriber, int64_t last,
		      struct missed *missed)
{
	struct web *web = subscriber->call->web;
	struct web_filter filter = { .ladder = subscriber->ladder,
				     .limit = MISSED_MAX };
	struct store_error error;
	bool has_room = true;
	int64_t next;
	json_t *list;

	if (store_web_match_ended(web->store, last, &filter.since_us, &error) <
	    0)
		return;
	filter.since_us -= OVERLAP_US;
	if (store_web_matches(web->store, &filter, &list, &next, &error) < 0)
		return;
	for (size_t i = 0; i < json_array_size(list) && has_room; i++) {
		const json_t *match = json_array_get(list, i);

		if (json_integer_value(json_object_get(match, "id")) != last)
			has_room = add_match(missed, match);
	}
	/* It may have looked at its fill before it came down to LAST. */
	missed->has_gap |= next > last ||
			   (next > 0 && json_array_size(list) == MISSED_MAX);
	json_decref(list);
}

/* What came after match LAST, in the order of its coming. */
static void send_missed(struct subscriber *subscriber, int64_t last)
{
	static const char gap[] =
		"event: gap\ndata: {\"reason\":\"missed\",\"detail\":"
		"\"more than is sent again: the rest is in /matches\"}\n\n";
	struct http_request *request = subscriber->call->request;
	struct missed missed = { .count = 0 };
	uint64_t from;

	if (find_told(subscriber->call->web, last, &from))
		add_told(subscriber, from, &missed);
	else
		add_since(subscriber, last, &missed);
	if (missed.has_gap)
		(void)http_send(request, gap, sizeof(gap) - 1);
	while (missed.count > 0) {
		struct buf *event = &missed.events[--missed.count];

		(void)http_send(request, event->data, event->len);
		buf_release(event);
	}
}

void events_matches(struct web_call *call)
{
	const char *last = http_head_get(&call->request->head, "last-event-id");
	struct subscriber *subscriber = subscribe(call, TOPIC_MATCHES);

	if (subscriber == NULL)
		return;
	(void)http_send(call->request, "retry: 2000\n\n", 13);
	if (last != NULL && strlen(last) <= 18 &&
	    strspn(last, "0123456789") == strlen(last))
		send_missed(subscriber, strtoll(last, NULL, 10));
}

void events_standings(struct web_call *call)
{
	if (subscribe(call, TOPIC_STANDINGS) != NULL)
		(void)http_send(call->request, "retry: 2000\n\n", 13);
}
