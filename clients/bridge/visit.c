/* SPDX-License-Identifier: MIT */
#include "clients/bridge/visit.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clients/bridge/bridge.h"
#include "clients/program/system.h"
#include "server/base/clock.h"

/* For each of a host's addresses: one that is dead must not cost the others. */
enum { CONNECT_US = 5 * 1000 * 1000 };

/* Wait for EVENTS until BY_US; whether they came. */
bool visit_wait(int fd, short events, int64_t by_us)
{
	struct pollfd pollfd = { .fd = fd, .events = events };
	int64_t left_us = by_us - clock_now_us();

	return poll(&pollfd, 1, left_us > 0 ? (int)(left_us / 1000) + 1 : 0) ==
	       1;
}

int visit_fail(struct visit *visit, const char *why)
{
	(void)snprintf(visit->why, sizeof(visit->why), "%s", why);
	return -1;
}

/* The next control line, until BY_US; it lives until the next call. */
static int next_word(struct visit *visit, int64_t by_us, struct control *ret)
{
	struct frame frame;

	for (;;) {
		enum frame_kind kind =
			framer_next(&visit->framer, &visit->input, &frame);
		ssize_t count;

		if (kind == FRAME_CONTROL) {
			(void)control_parse(ret, frame.text, frame.len);
			return 0;
		}
		if (kind == FRAME_FLOOD || kind == FRAME_NO_MEMORY)
			return visit_fail(visit, "the server sends no lines");
		if (kind != FRAME_MORE)
			continue;
		if (!visit_wait(visit->fd, POLLIN, by_us))
			return visit_fail(visit, "no answer from the server");
		count = recv(visit->fd, visit->bytes, sizeof(visit->bytes), 0);
		if (count <= 0)
			return visit_fail(visit, "link lost");
		visit->input =
			(struct frame_input){ visit->bytes, (size_t)count };
	}
}

static bool is_word(const struct control *control, enum word_id id)
{
	return control->word != NULL && word_id(control->word) == id;
}

int visit_await(struct visit *visit, enum word_id id, bool ends, int64_t by_us,
		struct control *ret)
{
	while (next_word(visit, by_us, ret) == 0) {
		if (is_word(ret, id))
			return 0;
		if (!is_word(ret, WORD_ERROR) || ret->nargs == 0)
			continue;
		report_words(NULL, "the server says",
			     ret->rest.len > 0 ? &ret->rest : &ret->args[0]);
		if (ends)
			return visit_fail(visit, VISIT_REFUSED);
	}
	return -1;
}

int visit_say(struct visit *visit, const char *line)
{
	size_t len = strlen(line);

	if (send(visit->fd, line, len, MSG_NOSIGNAL) != (ssize_t)len)
		return visit_fail(visit, "link lost");
	return 0;
}

int visit_open(struct visit *visit, const char *host, const char *port)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	struct control control;
	socklen_t size = sizeof(int);
	int error = getaddrinfo(host, port, &hints, &found);

	if (error != 0)
		return visit_fail(visit, gai_strerror(error));
	error = ECONNREFUSED;
	for (const struct addrinfo *i = found; i != NULL && error != 0;
	     i = i->ai_next) {
		if (visit->fd >= 0)
			(void)close(visit->fd);
		visit->fd = system_stream_socket(i->ai_family);
		if (visit->fd < 0)
			continue;
		error = 0;
		if (connect(visit->fd, i->ai_addr, i->ai_addrlen) == 0)
			break;
		if (errno != EINPROGRESS)
			error = errno;
		else if (!visit_wait(visit->fd, POLLOUT,
				     clock_now_us() + CONNECT_US))
			error = ETIMEDOUT;
		else
			(void)getsockopt(visit->fd, SOL_SOCKET, SO_ERROR,
					 &error, &size);
	}
	freeaddrinfo(found);
	if (error != 0)
		return visit_fail(visit, strerror(error));
	slot_set_options(visit->fd);
	framer_init(&visit->framer, FRAMER_PEER, VISIT_LINE_BYTES,
		    VISIT_LINE_BYTES, (size_t)VISIT_LINE_BYTES * 16);
	visit->input.len = 0;
	return visit_await(visit, WORD_HILL, false,
			   clock_now_us() + VISIT_ANSWER_US, &control);
}

void visit_close(struct visit *visit)
{
	if (visit->fd < 0)
		return;
	(void)send(visit->fd, "@quit\n", 6, MSG_NOSIGNAL);
	(void)close(visit->fd);
	visit->fd = -1;
	framer_release(&visit->framer);
}
