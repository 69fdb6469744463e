/* SPDX-License-Identifier: MIT */
/*
 * http_internal.h - what the HTTP server (http.c: who comes, and for how long),
 * its connections (http_conn.c: what they ask and are told) and the addresses
 * that they count for (http_client.c) share.
 */
#ifndef HILL_WEB_HTTP_INTERNAL_H
#define HILL_WEB_HTTP_INTERNAL_H

#include <sys/queue.h>

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>

#include "server/base/address.h"
#include "server/base/log.h"
#include "server/web/http.h"

enum {
	HTTP_LISTENERS_MAX = 8,
	HTTP_ADDRESS_BYTES = 64,
	HTTP_BUCKETS = 256,
};

enum http_state {
	HTTP_READING,
	HTTP_BUSY,
	HTTP_SENDING,
	HTTP_LINGERING,
	HTTP_DEAD,
	HTTP_NSTATES
};

/* A host with connections; freed with the last of them. */
struct http_client {
	LIST_ENTRY(http_client) link;
	unsigned nconns;
	size_t queued; /* bytes that wait for it, or are held for it */
	uint8_t host[ADDRESS_BYTES]; /* address_host() */
};

struct http_conn {
	struct http_server *server;   /* borrowed */
	struct http_client *client;   /* borrowed; whom it counts for */
	struct bufferevent *bev;      /* owned */
	struct http_request *request; /* borrowed while BUSY; ours in READING */
	TAILQ_ENTRY(http_conn) link;
	enum http_state state;
	int64_t until_us; /* when patience with this state ends */
	size_t seen;      /* of the head, looked at */
	size_t queued;    /* in the output: of server->queued, client->queued */
	size_t held;      /* of them too: http_hold() */
	bool has_eof;     /* the client has sent its FIN */
	bool is_last;     /* close after this reply */
	bool is_proxy;    /* of settings.proxies */
	char address[HTTP_ADDRESS_BYTES]; /* the peer's */
};

struct http_server {
	struct event_base *base; /* borrowed */
	struct http_settings settings;
	http_handler_fn handler;
	http_refuse_fn refuse;
	void *arg;
	struct evconnlistener *listeners[HTTP_LISTENERS_MAX]; /* owned */
	unsigned nlisteners;
	struct event *sweep; /* owned */
	TAILQ_HEAD(, http_conn) conns;
	TAILQ_HEAD(, http_conn) dead;
	LIST_HEAD(, http_client) clients[HTTP_BUCKETS]; /* by host */
	struct http_counts counts;
	size_t queued; /* bytes that wait for clients, or are held for them */
	bool is_resting;
	struct log_rate full_log;
	char head[HTTP_HEAD_BYTES]; /* for one call; wiped again */
};

/*
 * CONN, whose bev is set, begins to read: in server->conns. Web thread, as all
 * here.
 */
void http_conn_start(struct http_conn *conn);
/* The end, now; freed by http_reap, not in a callback. */
void http_conn_kill(struct http_conn *conn);
/* Send of what waits for CONN what its socket takes now. */
void http_conn_push(struct http_conn *conn);
/* Answer REFUSAL in place of a handler, then close. */
void http_conn_refuse(struct http_conn *conn,
		      const struct http_refusal *refusal);
/* What is told to who has too many connections. */
extern const struct http_refusal http_crowd;
/* Free the dead; there may be room for others then. */
void http_reap(struct http_server *server);

/* ---- http_client.c ---- */

/* Whom ADDRESS counts for; NULL: nobody there has a connection. */
struct http_client *http_client_find(struct http_server *server,
				     const char *address);
/*
 * CONN counts for the host at ADDRESS from now on; NULL: for nobody, it is
 * dead.
 */
void http_conn_set_client(struct http_conn *conn, const char *address);
/* QUEUED bytes wait for CONN now. */
void http_conn_count(struct http_conn *conn, size_t queued);
/* BYTES are held to make what CONN is told. */
void http_conn_hold(struct http_conn *conn, size_t bytes);
/* Whether LEN bytes more may wait, of all and of its address's share. */
bool http_conn_has_room(const struct http_conn *conn, size_t len);

#endif
