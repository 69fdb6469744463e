/* SPDX-License-Identifier: MIT */
/*
 * fault_proxy.c - the sockets of a TCP proxy whose line has faults.
 *
 * One poll loop. Each client that is accepted is a link: two sockets (to the
 * client, to the target) and two flows, which say when which bytes go on.
 * ppoll() is rebuilt in each round; that is good for a thousand links.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/base/alloc.h"
#include "server/base/clock.h"
#include "tests/proxy/flow.h"
#include "tests/proxy/options.h"

enum {
	READ_BYTES = 65536,
	COMMAND_BYTES = 256,
	BACKLOG = 1024,
	FIXED = 2, /* fds before the links': standard input, the listener */
	MILLION = 1000000
};

/* flows[d] goes from fds[d] to fds[!d]. */
struct proxy_link {
	unsigned long id;
	int fds[FLOW_NDIRECTIONS];
	struct flow flows[FLOW_NDIRECTIONS];
	bool is_over;
};

struct proxy {
	struct options options;
	int listener;
	struct proxy_link **links; /* owned, as what they point to */
	size_t nlinks, room;
	struct pollfd *polled; /* owned; FIXED + 2 a link */
	unsigned long last_id;
	uint64_t chunks, lost, bytes; /* of links that are over */
	char command[COMMAND_BYTES];
	size_t command_len;
};

static void __attribute__((noreturn)) fail(const char *what)
{
	(void)fprintf(stderr, "fault-proxy: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct sockaddr_in address_of(uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(port) };

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

/* A socket that reads no further ahead than it is told. */
static int make_socket(const struct options *options,
		       enum flow_direction direction)
{
	int size = options->receive_bytes[direction];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		fail("socket");
	if (size > 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size,
				 sizeof(size));
	return fd;
}

static void start_listening(struct proxy *proxy)
{
	struct sockaddr_in address = address_of(proxy->options.listen_port);
	socklen_t len = sizeof(address);
	int fd = make_socket(&proxy->options, FLOW_UP), on = 1;

	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&address, len) < 0 ||
	    listen(fd, BACKLOG) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &len) < 0)
		fail("listen");
	(void)printf("listening %u\n", ntohs(address.sin_port));
	(void)fflush(stdout);
	proxy->listener = fd;
}

/* ---- links ---- */

static void open_link(struct proxy *proxy, int client)
{
	struct sockaddr_in address = address_of(proxy->options.target_port);
	struct proxy_link *link = xcalloc(1, sizeof(*link));
	int target = make_socket(&proxy->options, FLOW_DOWN), on = 1;

	link->id = ++proxy->last_id;
	link->fds[FLOW_UP] = client;
	link->fds[FLOW_DOWN] = target;
	for (int i = 0; i < FLOW_NDIRECTIONS; i++) {
		(void)setsockopt(link->fds[i], IPPROTO_TCP, TCP_NODELAY, &on,
				 sizeof(on));
		flow_init(&link->flows[i], &proxy->options.faults[i],
			  proxy->options.seed, link->id,
			  (enum flow_direction)i);
	}
	if (connect(target, (struct sockaddr *)&address, sizeof(address)) < 0 &&
	    errno != EINPROGRESS)
		link->is_over = true;
	if (proxy->nlinks == proxy->room) {
		proxy->room = 2 * proxy->room + 16;
		proxy->links = realloc(proxy->links,
				       proxy->room * sizeof(*proxy->links));
		proxy->polled =
			realloc(proxy->polled, (FIXED + 2 * proxy->room) *
						       sizeof(*proxy->polled));
		if (proxy->links == NULL || proxy->polled == NULL)
			fail("links");
	}
	proxy->links[proxy->nlinks++] = link;
}

static void end_link(struct proxy_link *link, enum flow_end how)
{
	struct linger at_once = { .l_onoff = 1, .l_linger = 0 };

	if (how == FLOW_SILENCE) {
		for (int i = 0; i < FLOW_NDIRECTIONS; i++)
			link->flows[i].is_silent = true;
		return;
	}
	for (int i = 0; i < FLOW_NDIRECTIONS; i++) {
		if (how == FLOW_RESET)
			(void)setsockopt(link->fds[i], SOL_SOCKET, SO_LINGER,
					 &at_once, sizeof(at_once));
	}
	link->is_over = true;
}

static void free_link(struct proxy *proxy, struct proxy_link *link)
{
	for (int i = 0; i < FLOW_NDIRECTIONS; i++) {
		struct flow *flow = &link->flows[i];

		proxy->chunks += flow->chunks;
		proxy->lost += flow->lost;
		proxy->bytes += (uint64_t)flow->passed;
		(void)close(link->fds[i]);
		flow_release(flow);
	}
	free(link);
}

static void read_side(struct proxy_link *link, int side, int64_t now_us)
{
	static char bytes[READ_BYTES];
	struct flow *flow = &link->flows[side];
	size_t most = flow->faults->buffer - flow->held;
	ssize_t len;

	len = recv(link->fds[side], bytes,
		   most < sizeof(bytes) ? most : sizeof(bytes), 0);
	if (len > 0)
		flow_take(flow, bytes, (size_t)len, now_us);
	else if (len == 0)
		flow->has_eof = true;
	else if (errno != EAGAIN && errno != EINTR)
		end_link(link, FLOW_RESET);
}

static void write_side(struct proxy_link *link, int side, int64_t now_us)
{
	struct flow *flow = &link->flows[side];
	int fd = link->fds[!side];
	const char *data;
	size_t len;

	while (!link->is_over &&
	       (data = flow_next(flow, now_us, &len)) != NULL) {
		ssize_t sent = send(fd, data, len, MSG_NOSIGNAL);

		if (sent < 0) {
			if (errno != EAGAIN && errno != EINTR)
				end_link(link, FLOW_RESET);
			return;
		}
		flow_sent(flow, (size_t)sent);
		if (flow_ends(flow) != FLOW_NENDS)
			end_link(link, flow_ends(flow));
	}
	if (flow->has_eof && flow->first == NULL && !flow->is_done &&
	    !flow->is_silent) {
		flow->is_done = true;
		(void)shutdown(fd, SHUT_WR);
		if (link->flows[!side].is_done)
			end_link(link, FLOW_CUT);
	}
}

static void reap_links(struct proxy *proxy)
{
	size_t kept = 0;

	for (size_t i = 0; i < proxy->nlinks; i++) {
		if (proxy->links[i]->is_over)
			free_link(proxy, proxy->links[i]);
		else
			proxy->links[kept++] = proxy->links[i];
	}
	proxy->nlinks = kept;
}

/* ---- commands ---- */

static void tell_stats(const struct proxy *proxy)
{
	uint64_t chunks = proxy->chunks, lost = proxy->lost;
	uint64_t bytes = proxy->bytes;

	for (size_t i = 0; i < proxy->nlinks; i++) {
		for (int side = 0; side < FLOW_NDIRECTIONS; side++) {
			const struct flow *flow = &proxy->links[i]->flows[side];

			chunks += flow->chunks;
			lost += flow->lost;
			bytes += (uint64_t)flow->passed;
		}
	}
	(void)printf("links=%zu chunks=%llu lost=%llu bytes=%llu\n",
		     proxy->nlinks, (unsigned long long)chunks,
		     (unsigned long long)lost, (unsigned long long)bytes);
}

static void obey(struct proxy *proxy, const char *command)
{
	static const char *const ends[] = { "cut", "reset", "silence",
					    "speak" };
	char word[16] = "";
	unsigned long id = 0;
	int end = 0, count = 0;

	(void)sscanf(command, "%15s %lu", word, &id);
	while (end <= FLOW_NENDS && strcmp(word, ends[end]) != 0)
		end++;
	if (strcmp(word, "stats") == 0) {
		tell_stats(proxy);
	} else if (end > FLOW_NENDS) {
		(void)printf("no such command\n");
	} else {
		for (size_t i = 0; i < proxy->nlinks; i++) {
			struct proxy_link *link = proxy->links[i];

			if (link->is_over || (id != 0 && link->id != id))
				continue;
			count++;
			if (end < FLOW_NENDS)
				end_link(link, (enum flow_end)end);
			else
				link->flows[FLOW_UP].is_silent =
					link->flows[FLOW_DOWN].is_silent =
						false;
		}
		(void)printf("ok %d\n", count);
	}
	(void)fflush(stdout);
}

/* False at the end of standard input. */
static bool read_commands(struct proxy *proxy)
{
	ssize_t len = read(STDIN_FILENO, proxy->command + proxy->command_len,
			   COMMAND_BYTES - 1 - proxy->command_len);
	char *end;

	if (len <= 0)
		return false;
	proxy->command_len += (size_t)len;
	proxy->command[proxy->command_len] = '\0';
	while ((end = strchr(proxy->command, '\n')) != NULL) {
		*end = '\0';
		obey(proxy, proxy->command);
		proxy->command_len -= (size_t)(end + 1 - proxy->command);
		memmove(proxy->command, end + 1, proxy->command_len + 1);
	}
	return proxy->command_len < COMMAND_BYTES - 1;
}

/* ---- the loop ---- */

/* What to wait for; the time until which. */
static int64_t set_polled(struct proxy *proxy, int64_t now_us)
{
	int64_t first = FLOW_NEVER;

	proxy->polled[0] = (struct pollfd){ STDIN_FILENO, POLLIN, 0 };
	proxy->polled[1] = (struct pollfd){ proxy->listener, POLLIN, 0 };
	for (size_t i = 0; i < proxy->nlinks; i++) {
		struct proxy_link *link = proxy->links[i];

		for (int side = 0; side < FLOW_NDIRECTIONS; side++) {
			int64_t in = flow_due_us(&link->flows[side]);
			int64_t out = flow_due_us(&link->flows[!side]);
			short events = 0;

			if (flow_wants(&link->flows[side]))
				events |= POLLIN;
			if (out <= now_us)
				events |= POLLOUT;
			if (in > now_us && in < first)
				first = in;
			/* One that waits for nothing tells of no hang-up. */
			proxy->polled[FIXED + 2 * i + side] = (struct pollfd){
				events == 0 ? -1 : link->fds[side], events, 0
			};
		}
	}
	return first;
}

static void serve_links(struct proxy *proxy, size_t count)
{
	int64_t now_us = clock_now_us();

	for (size_t i = 0; i < count; i++) {
		struct proxy_link *link = proxy->links[i];

		for (int side = 0; side < FLOW_NDIRECTIONS; side++) {
			if (proxy->polled[FIXED + 2 * i + side].revents != 0 &&
			    flow_wants(&link->flows[side]) && !link->is_over)
				read_side(link, side, now_us);
		}
		for (int side = 0; side < FLOW_NDIRECTIONS; side++)
			write_side(link, side, now_us);
	}
}

static bool turn(struct proxy *proxy)
{
	int64_t now_us = clock_now_us();
	int64_t until_us = set_polled(proxy, now_us);
	int64_t wait_us = until_us - now_us;
	struct timespec wait = { .tv_sec = wait_us / MILLION,
				 .tv_nsec = wait_us % MILLION * 1000 };
	size_t count = proxy->nlinks;
	int client;

	if (ppoll(proxy->polled, FIXED + 2 * count,
		  until_us == FLOW_NEVER ? NULL : &wait, NULL) < 0 &&
	    errno != EINTR)
		fail("ppoll");
	serve_links(proxy, count);
	if (proxy->polled[1].revents != 0) {
		client = accept4(proxy->listener, NULL, NULL,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (client >= 0)
			open_link(proxy, client);
	}
	if (proxy->polled[0].revents != 0 && !read_commands(proxy))
		return false;
	reap_links(proxy);
	return true;
}

int main(int argc, char **argv)
{
	struct proxy proxy = { .listener = -1 };

	options_read(&proxy.options, argc, argv);
	/* Delays to the microsecond, not to 50 of them. */
	(void)prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	start_listening(&proxy);
	proxy.polled = xcalloc(FIXED, sizeof(*proxy.polled));
	while (turn(&proxy))
		;
	for (size_t i = 0; i < proxy.nlinks; i++)
		free_link(&proxy, proxy.links[i]);
	free(proxy.links);
	free(proxy.polled);
	(void)close(proxy.listener);
	return 0;
}
