/* SPDX-License-Identifier: MIT */
#include "server/web/http_internal.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/base/clock.h"
#include "server/web/forwarded.h"

enum { SWEEP_US = 200000 /* how often time is looked at */ };

void http_reap(struct http_server *server)
{
	struct http_conn *conn;

	while ((conn = TAILQ_FIRST(&server->dead)) != NULL) {
		TAILQ_REMOVE(&server->dead, conn, link);
		bufferevent_free(conn->bev);
		server->counts.open--;
		free(conn);
	}
	if (server->is_resting &&
	    server->counts.open < server->settings.connections_max) {
		server->is_resting = false;
		for (unsigned i = 0; i < server->nlisteners; i++)
			(void)evconnlistener_enable(server->listeners[i]);
	}
}

/* A proxy has as many as it has clients: they are bounded, each of them. */
static unsigned count_connections(struct http_server *server,
				  const struct http_conn *conn)
{
	const struct http_client *client =
		http_client_find(server, conn->address);

	return client == NULL || conn->is_proxy ? 0 : client->nconns;
}

const struct http_refusal http_crowd = {
	503, "too many connections from this address"
};

static void set_address(struct http_conn *conn, struct sockaddr *sockaddr,
			int len)
{
	if (getnameinfo(sockaddr, (socklen_t)len, conn->address,
			sizeof(conn->address), NULL, 0, NI_NUMERICHOST) != 0)
		(void)snprintf(conn->address, sizeof(conn->address), "?");
	/* A scope says by which link it came, not who it is. */
	conn->address[strcspn(conn->address, "%")] = '\0';
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd,
		      struct sockaddr *address, int len, void *arg)
{
	struct http_server *server = arg;
	struct http_conn *conn = xcalloc(1, sizeof(*conn));
	unsigned count;
	int one = 1;

	(void)listener;
	conn->server = server;
	set_address(conn, address, len);
	conn->is_proxy =
		forwarded_is_proxy(&server->settings.proxies, conn->address);
	count = count_connections(server, conn);
	/* Even who is refused takes a place, until it has read why. */
	if (count / 2 >= server->settings.per_address) {
		server->counts.refused++;
		(void)close(fd);
		free(conn);
		return;
	}
	conn->bev =
		bufferevent_socket_new(server->base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (conn->bev == NULL) {
		(void)close(fd);
		free(conn);
		return;
	}
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	server->counts.accepted++;
	if (++server->counts.open >= server->settings.connections_max) {
		server->is_resting = true;
		for (unsigned i = 0; i < server->nlisteners; i++)
			(void)evconnlistener_disable(server->listeners[i]);
	}
	http_conn_start(conn);
	if (count >= server->settings.per_address) {
		server->counts.refused++;
		http_conn_refuse(conn, &http_crowd);
	}
}

/* No descriptor is left, or the like: rest until a connection ends. */
static void on_accept_error(struct evconnlistener *listener, void *arg)
{
	struct http_server *server = arg;
	int err = errno;
	unsigned suppressed;

	(void)listener;
	if (log_rate_pass(&server->full_log, clock_now_us(), 1000000,
			  &suppressed))
		log_warn("event=http_accept_failed reason=\"%s\"",
			 strerror(err));
	for (unsigned i = 0; i < server->nlisteners; i++)
		(void)evconnlistener_disable(server->listeners[i]);
	server->is_resting = true;
}

static void on_sweep(evutil_socket_t fd, short what, void *arg)
{
	static const struct http_refusal slow = { 408,
						  "the request took too long" };
	struct http_server *server = arg;
	int64_t now_us = clock_now_us();
	struct http_conn *conn, *next;

	(void)fd;
	(void)what;
	for (conn = TAILQ_FIRST(&server->conns); conn != NULL; conn = next) {
		next = TAILQ_NEXT(conn, link);
		if (conn->until_us > now_us)
			continue;
		if (conn->state != HTTP_LINGERING)
			server->counts.timeouts++;
		/* Who said nothing at all is not answered. */
		if (conn->state == HTTP_READING &&
		    (conn->seen > 0 || conn->request != NULL))
			http_conn_refuse(conn, &slow);
		else
			http_conn_kill(conn);
	}
	http_reap(server);
}

/* ---- birth and death ---- */

int http_server_new(struct http_server **ret, struct event_base *base,
		    const struct http_settings *settings,
		    http_handler_fn handler, void *arg)
{
	static const struct timeval each = { .tv_usec = SWEEP_US };
	struct http_server *server = xcalloc(1, sizeof(*server));

	server->base = base;
	server->settings = *settings;
	server->handler = handler;
	server->arg = arg;
	TAILQ_INIT(&server->conns);
	TAILQ_INIT(&server->dead);
	server->sweep = event_new(base, -1, EV_PERSIST, on_sweep, server);
	if (server->sweep == NULL || event_add(server->sweep, &each) < 0) {
		http_server_free(server);
		return -ENOMEM;
	}
	*ret = server;
	return 0;
}

void http_server_on_refusal(struct http_server *server, http_refuse_fn fn)
{
	server->refuse = fn;
}

void http_server_free(struct http_server *server)
{
	struct http_conn *conn;

	if (server == NULL)
		return;
	for (unsigned i = 0; i < server->nlisteners; i++)
		evconnlistener_free(server->listeners[i]);
	server->nlisteners = 0;
	/* What was answered last has not had its turn of the loop. */
	TAILQ_FOREACH(conn, &server->conns, link)
		http_conn_push(conn);
	while ((conn = TAILQ_FIRST(&server->conns)) != NULL)
		http_conn_kill(conn);
	http_reap(server);
	if (server->sweep != NULL)
		event_free(server->sweep);
	free(server);
}

static int PRINTF_LIKE(3, 4)
	fail(struct http_error *error, int rc, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return rc;
}

int http_server_listen(struct http_server *server, const char *host,
		       const char *port, struct http_error *error)
{
	static const struct addrinfo hints = { .ai_flags = AI_PASSIVE |
							   AI_NUMERICSERV,
					       .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL, *at;
	int rc = getaddrinfo(*host == '\0' ? NULL : host, port, &hints, &found);
	unsigned made = 0;

	if (rc != 0)
		return fail(error, -EINVAL, "http-listen %s:%s: %s", host, port,
			    gai_strerror(rc));
	rc = 0;
	for (at = found; at != NULL; at = at->ai_next) {
		struct evconnlistener *listener;

		if (server->nlisteners == HTTP_LISTENERS_MAX)
			break;
		listener = evconnlistener_new_bind(
			server->base, on_accept, server,
			LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC |
				LEV_OPT_REUSEABLE |
				(at->ai_family == AF_INET6
					 ? LEV_OPT_BIND_IPV6ONLY
					 : 0),
			-1, at->ai_addr, (int)at->ai_addrlen);
		if (listener == NULL) {
			rc = -errno;
			continue;
		}
		evconnlistener_set_error_cb(listener, on_accept_error);
		server->listeners[server->nlisteners++] = listener;
		made++;
	}
	freeaddrinfo(found);
	if (made == 0)
		return fail(error, rc == 0 ? -EINVAL : rc,
			    "http-listen %s:%s: %s", host, port,
			    strerror(rc == 0 ? EINVAL : -rc));
	return 0;
}

unsigned http_server_address(const struct http_server *server, unsigned i,
			     char ret[64])
{
	struct sockaddr_storage address;
	socklen_t len = sizeof(address);
	char host[HTTP_ADDRESS_BYTES - 10], port[8];
	bool is_six;

	if (i >= server->nlisteners ||
	    getsockname(evconnlistener_get_fd(server->listeners[i]),
			(struct sockaddr *)&address, &len) < 0 ||
	    getnameinfo((struct sockaddr *)&address, len, host, sizeof(host),
			port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return 0;
	is_six = address.ss_family == AF_INET6;
	(void)snprintf(ret, 64, "%s%s%s:%s", is_six ? "[" : "", host,
		       is_six ? "]" : "", port);
	return (unsigned)atoi(port);
}

void http_server_counts(const struct http_server *server,
			struct http_counts *ret)
{
	*ret = server->counts;
}
