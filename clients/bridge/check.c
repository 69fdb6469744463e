/* SPDX-License-Identifier: MIT */
/*
 * check.c - hill-bridge --check: measures the link, and says ladder by ladder
 * what it does to matches.
 *
 * It does not log in: it asks for the ladders, then pings, one ping at a
 * time, and comes back on a new connection before the server's time for a
 * login is up.
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clients/bridge/bridge.h"
#include "clients/bridge/outlook.h"
#include "clients/program/system.h"
#include "proto/control.h"
#include "proto/name.h"
#include "server/base/clock.h"

enum {
	SAMPLES_MAX = 20000,
	LADDERS_MAX = 64,
	PING_EVERY_US = 50 * 1000,
	LINK_US = 7 * 1000 * 1000, /* of one connection: login is due at 10 s */
	ANSWER_US = 9 * 1000 * 1000,
	REQUESTS_GUESS = 500, /* of a match whose ladder does not say */
	LINE_BYTES = 4096,
};

struct ladder_seen {
	char name[NAME_TEXT_MAX + 1];
	struct outlook_terms terms;
	int64_t waiting, playing;
};

struct check {
	const struct bridge *bridge; /* borrowed */
	int fd;
	struct framer framer;
	struct frame_input input;
	char bytes[LINE_BYTES];
	char why[96]; /* what went wrong */
	struct ladder_seen ladders[LADDERS_MAX];
	size_t nladders;
	uint32_t rtt_us[SAMPLES_MAX];
	size_t nsamples;
};

/* Wait for EVENTS until BY_US; whether they came. */
static bool wait_for(int fd, short events, int64_t by_us)
{
	struct pollfd pollfd = { .fd = fd, .events = events };
	int64_t left_us = by_us - clock_now_us();

	return poll(&pollfd, 1, left_us > 0 ? (int)(left_us / 1000) + 1 : 0) ==
	       1;
}

static int fail(struct check *check, const char *why)
{
	(void)snprintf(check->why, sizeof(check->why), "%s", why);
	return -1;
}

/* The next control line, until BY_US; it lives until the next call. */
static int next_word(struct check *check, int64_t by_us, struct control *ret)
{
	struct frame frame;

	for (;;) {
		enum frame_kind kind =
			framer_next(&check->framer, &check->input, &frame);
		ssize_t count;

		if (kind == FRAME_CONTROL) {
			(void)control_parse(ret, frame.text, frame.len);
			return 0;
		}
		if (kind == FRAME_FLOOD || kind == FRAME_NO_MEMORY)
			return fail(check, "the server sends no lines");
		if (kind != FRAME_MORE)
			continue;
		if (!wait_for(check->fd, POLLIN, by_us))
			return fail(check, "no answer from the server");
		count = recv(check->fd, check->bytes, sizeof(check->bytes), 0);
		if (count <= 0)
			return fail(check, "link lost");
		check->input =
			(struct frame_input){ check->bytes, (size_t)count };
	}
}

static bool is_word(const struct control *control, enum word_id id)
{
	return control->word != NULL && word_id(control->word) == id;
}

/* Until word ID comes. An @error that comes first is told. */
static int await_word(struct check *check, enum word_id id, int64_t by_us,
		      struct control *ret)
{
	while (next_word(check, by_us, ret) == 0) {
		if (is_word(ret, id))
			return 0;
		if (is_word(ret, WORD_ERROR) && ret->nargs > 0)
			report_words(NULL, "the server says", &ret->args[0]);
	}
	return -1;
}

static int say(struct check *check, const char *line)
{
	size_t len = strlen(line);

	if (send(check->fd, line, len, MSG_NOSIGNAL) != (ssize_t)len)
		return fail(check, "link lost");
	return 0;
}

/* Connect to one of the host's addresses, and hear its greeting. */
static int open_link(struct check *check)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	int64_t by_us = clock_now_us() + ANSWER_US;
	struct addrinfo *found = NULL;
	struct control control;
	socklen_t size = sizeof(int);
	int error = getaddrinfo(check->bridge->host, check->bridge->port,
				&hints, &found);

	if (error != 0)
		return fail(check, gai_strerror(error));
	error = ECONNREFUSED;
	for (const struct addrinfo *i = found; i != NULL && error != 0;
	     i = i->ai_next) {
		if (check->fd >= 0)
			(void)close(check->fd);
		check->fd = system_stream_socket(i->ai_family);
		if (check->fd < 0)
			continue;
		error = 0;
		if (connect(check->fd, i->ai_addr, i->ai_addrlen) == 0)
			break;
		if (errno != EINPROGRESS)
			error = errno;
		else if (!wait_for(check->fd, POLLOUT, by_us))
			error = ETIMEDOUT;
		else
			(void)getsockopt(check->fd, SOL_SOCKET, SO_ERROR,
					 &error, &size);
	}
	freeaddrinfo(found);
	if (error != 0)
		return fail(check, strerror(error));
	slot_set_options(check->fd);
	framer_init(&check->framer, FRAMER_PEER, LINE_BYTES, LINE_BYTES,
		    (size_t)LINE_BYTES * 16);
	check->input.len = 0;
	return await_word(check, WORD_HILL, by_us, &control);
}

static void close_link(struct check *check)
{
	(void)send(check->fd, "@quit\n", 6, MSG_NOSIGNAL);
	(void)close(check->fd);
	check->fd = -1;
	framer_release(&check->framer);
}

static int64_t number(const struct control *control, const char *name,
		      int64_t missing)
{
	int64_t value;

	/* Bounded so that no sum of them overflows. */
	if (control_key_i64(control, name, 0, INT32_MAX, &value) == 0)
		return value;
	return missing;
}

static void take_ladder(struct check *check, const struct control *control)
{
	struct ladder_seen *ladder = &check->ladders[check->nladders];
	int64_t requests = number(control, "turns", REQUESTS_GUESS);

	if (check->nladders == LADDERS_MAX || control->nargs == 0 ||
	    !name_is_ladder(control->args[0].text, control->args[0].len) ||
	    slice_copy(control->args[0], ladder->name, sizeof(ladder->name)) <
		    0)
		return;
	requests = number(control, "maxturns", requests);
	if (number(control, "whole-input", 0) == 1)
		requests = 1;
	if (requests > OUTLOOK_REQUESTS_MAX)
		requests = OUTLOOK_REQUESTS_MAX;
	ladder->terms = (struct outlook_terms){
		.turn_ms = number(control, "turn-ms", 0),
		.init_ms = number(control, "init-ms", 0),
		.bank_ms = number(control, "bank-ms", 0),
		.bank_step_ms = number(control, "bank-step-ms", 0),
		.lag_cap_ms = number(control, "lag-cap-ms", 0),
		.grace_ms = number(control, "grace-ms", 0),
		.requests = (unsigned)requests,
	};
	ladder->waiting = number(control, "waiting", 0);
	ladder->playing = number(control, "playing", 0);
	check->nladders++;
}

static int ask_ladders(struct check *check)
{
	int64_t by_us = clock_now_us() + ANSWER_US, count = 0;
	struct control control;

	if (say(check, "@ladders\n") < 0 ||
	    await_word(check, WORD_LADDERS, by_us, &control) < 0)
		return -1;
	if (control_arg_i64(&control, 0, 0, INT64_MAX, &count) < 0)
		return fail(check, "the server tells no ladders");
	while (count-- > 0) {
		if (await_word(check, WORD_LADDER, by_us, &control) < 0)
			return -1;
		take_ladder(check, &control);
	}
	return 0;
}

/* One round trip after the other, until UNTIL_US. */
static int ping(struct check *check, int64_t until_us)
{
	struct control control;

	while (clock_now_us() < until_us && check->nsamples < SAMPLES_MAX) {
		int64_t begun_us = clock_now_us(), took_us;
		int error = say(check, "@ping\n");

		if (error == 0)
			error = await_word(check, WORD_PONG,
					   begun_us + ANSWER_US, &control);
		/* An answer that never came took at least so long. */
		took_us = clock_now_us() - begun_us;
		check->rtt_us[check->nsamples++] = (uint32_t)took_us;
		if (error != 0)
			return error;
		(void)wait_for(-1, 0, begun_us + PING_EVERY_US);
	}
	return 0;
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

static double ms(double us)
{
	return us / 1000.0;
}

static void tell_ladder(const struct check *check,
			const struct ladder_seen *ladder, int64_t think_us)
{
	const struct outlook_terms *terms = &ladder->terms;
	const double matches = OUTLOOK_MATCHES;
	struct outlook outlook;

	outlook_of(terms, check->rtt_us, check->nsamples, think_us, &outlook);
	(void)printf("%s: %.2f of %u replies late a match; ", ladder->name,
		     (double)outlook.late / matches, terms->requests);
	if (terms->bank_ms == 0 || terms->grace_ms > 0)
		(void)printf("no bank");
	else
		(void)printf("the bank of %.0f ms pays for %.2f, %.1f ms in "
			     "all, and is never below %.0f ms",
			     (double)terms->bank_ms,
			     (double)outlook.banked / matches,
			     ms((double)outlook.spent_us / matches),
			     ms((double)outlook.least_us));
	(void)printf("; %u waiting, %u playing\n", (unsigned)ladder->waiting,
		     (unsigned)ladder->playing);
}

static void tell(struct check *check, int64_t think_us)
{
	static uint32_t sorted[SAMPLES_MAX];
	size_t n = check->nsamples;

	memcpy(sorted, check->rtt_us, n * sizeof(sorted[0]));
	qsort(sorted, n, sizeof(sorted[0]), compare_u32);
	(void)printf("%zu round trips: least %.1f ms, median %.1f, 99 of 100 "
		     "within %.1f, longest %.1f\n",
		     n, ms(sorted[0]), ms(sorted[n / 2]),
		     ms(sorted[n * 99 / 100]), ms(sorted[n - 1]));
	(void)printf("for a bot that thinks %.0f ms for each reply:\n",
		     ms((double)think_us));
	for (size_t i = 0; i < check->nladders; i++)
		tell_ladder(check, &check->ladders[i], think_us);
}

int bridge_check(const struct bridge *bridge)
{
	static struct check check; /* too large for the stack */
	int64_t until_us = clock_now_us() + (int64_t)bridge->check_s * 1000000;
	int error = 0;

	check.bridge = bridge;
	check.fd = -1;
	while (error == 0 && clock_now_us() < until_us) {
		int64_t link_us = clock_now_us() + LINK_US;

		error = open_link(&check);
		if (error == 0 && check.nladders == 0)
			error = ask_ladders(&check);
		if (error == 0)
			error = ping(&check,
				     link_us < until_us ? link_us : until_us);
		if (check.fd >= 0)
			close_link(&check);
	}
	if (error != 0)
		report(NULL, "cannot check %s:%s: %s", bridge->host,
		       bridge->port, check.why);
	if (check.nsamples > 0)
		tell(&check, (int64_t)bridge->think_ms * 1000);
	return error == 0 ? EXIT_PLAYED : EXIT_REFUSED;
}
