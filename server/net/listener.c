/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "server/base/clock.h"
#include "server/net/link.h"
#include "server/net/net_internal.h"

enum { ACCEPTS_PER_TURN = 64, FULL_LOG_US = 1000000, RLIMIT_MAX = 1 << 20 };

static void rest(struct listener *listener, int rc)
{
	struct net *net = listener->net;
	unsigned suppressed;

	listener->is_resting = true;
	(void)event_del(&listener->ev);
	if (log_rate_pass(&net->full_log, clock_now_us(), FULL_LOG_US,
			  &suppressed))
		log_warn("event=accept_rests reason=%s connections=%u "
			 "suppressed=%u",
			 rc == 0                          ? "connections"
			 : rc == -EMFILE || rc == -ENFILE ? "descriptors"
							  : "memory",
			 net->nconns, suppressed);
}

/* 0 go on, 1 enough for now. */
static int accept_one(struct listener *listener)
{
	struct net *net = listener->net;
	struct sockaddr_storage address = { 0 };
	socklen_t len = sizeof(address);
	int fd;

	if (net->nconns >= net->peers_max) {
		rest(listener, 0);
		return 1;
	}
	fd = accept4(listener->fd, (struct sockaddr *)&address, &len,
		     SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0) {
		switch (errno) {
		case EMFILE:
		case ENFILE:
		case ENOBUFS:
		case ENOMEM:
			rest(listener, -errno);
			return 1;
		case EAGAIN:
			return 1;
		default: /* this one was gone before it came in */
			return 0;
		}
	}
	conn_open(net, fd, (struct sockaddr *)&address);
	return 0;
}

static void on_connection(evutil_socket_t fd, short what, void *arg)
{
	struct listener *listener = arg;

	(void)fd;
	(void)what;
	net_turn_began(listener->net);
	for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
		if (accept_one(listener) != 0)
			return;
	}
}

void listeners_wake(struct net *net)
{
	for (unsigned i = 0; i < net->nlisteners; i++) {
		struct listener *listener = net->listeners[i];

		if (!listener->is_resting || net->is_draining ||
		    net->nconns >= net->peers_max)
			continue;
		if (event_add(&listener->ev, NULL) == 0)
			listener->is_resting = false;
	}
}

void listener_free(struct listener *listener)
{
	if (listener == NULL)
		return;
	if (event_initialized(&listener->ev))
		(void)event_del(&listener->ev);
	(void)close(listener->fd);
	free(listener);
}

static int open_socket(const struct addrinfo *info, uint32_t dead_ms)
{
	const int one = 1;
	int fd = socket(info->ai_family,
			info->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
			info->ai_protocol);
	int rc;

	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (info->ai_family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one,
				 sizeof(one));
	link_set_options(fd, dead_ms);
	if (bind(fd, info->ai_addr, info->ai_addrlen) < 0 ||
	    listen(fd, SOMAXCONN) < 0) {
		rc = -errno;
		(void)close(fd);
		return rc;
	}
	return fd;
}

/* Listen on the one address INFO. */
static int add_listener(struct net *net, const struct addrinfo *info)
{
	struct listener *listener;
	int fd;

	if (net->nlisteners == NET_LISTENERS_MAX)
		return -E2BIG;
	fd = open_socket(info, net->settings.dead_peer_ms);
	if (fd < 0)
		return fd;
	listener = xcalloc(1, sizeof(*listener));
	listener->net = net;
	listener->fd = fd;
	if (event_assign(&listener->ev, net->base, fd, EV_READ | EV_PERSIST,
			 on_connection, listener) < 0 ||
	    event_add(&listener->ev, NULL) < 0) {
		listener_free(listener);
		return -ENOMEM;
	}
	net->listeners[net->nlisteners++] = listener;
	return 0;
}

int net_listen(struct net *net, const char *host, const char *port,
	       struct net_error *error)
{
	const struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICSERV,
					.ai_socktype = SOCK_STREAM };
	struct addrinfo *list = NULL;
	int rc = getaddrinfo(*host == '\0' ? NULL : host, port, &hints, &list);

	if (rc != 0)
		return net_fail(error, -EADDRNOTAVAIL, "listen %s:%s: %s", host,
				port, gai_strerror(rc));
	rc = 0;
	for (const struct addrinfo *info = list; info != NULL && rc == 0;
	     info = info->ai_next) {
		rc = add_listener(net, info);
		/* A kernel without IPv6 still has its IPv4. */
		if (rc == -EAFNOSUPPORT && list->ai_next != NULL)
			rc = 0;
		/* One kernel-chosen port is enough. */
		if (strcmp(port, "0") == 0)
			break;
	}
	freeaddrinfo(list);
	if (rc < 0)
		return net_fail(error, rc, "listen %s:%s: %s", host, port,
				strerror(-rc));
	return 0;
}

unsigned net_address(const struct net *net, unsigned i,
		     char ret[NET_ADDRESS_TEXT])
{
	struct sockaddr_storage address = { 0 };
	socklen_t len = sizeof(address);
	uint8_t bytes[ADDRESS_BYTES];
	uint16_t port;

	if (i >= net->nlisteners ||
	    getsockname(net->listeners[i]->fd, (struct sockaddr *)&address,
			&len) < 0)
		return 0;
	conn_address_set((struct sockaddr *)&address, bytes, &port);
	(void)conn_address_text(bytes, port, ret);
	return port;
}

unsigned net_raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return NET_SPARE_FDS * 2;
	if (limit.rlim_cur < limit.rlim_max) {
		struct rlimit raised = { limit.rlim_max, limit.rlim_max };

		if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
			limit = raised;
	}
	return limit.rlim_cur > RLIMIT_MAX ? RLIMIT_MAX
					   : (unsigned)limit.rlim_cur;
}
