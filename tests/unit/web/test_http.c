/* SPDX-License-Identifier: MIT */
/* test_http.c - a server of HTTP with silent clients on the loopback. */
#include "server/web/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>

#include "server/base/clock.h"
#include "tests/unit/unit.h"

enum { SHARE = 3, LINKS = 20, WAIT_US = 20 * 1000000 };

struct stage {
	struct event_base *base;
	struct http_server *server;
	uint16_t port;
};

static void nobody_asks(struct http_request *request, void *arg)
{
	(void)request;
	(void)arg;
	fail();
}

static int start(void **state)
{
	static const struct http_settings settings = {
		.connections_max = LINKS,
		.per_address = SHARE,
		.request_ms = 60000,
		.stall_ms = 60000,
		.body_bytes = 1000,
		.output_bytes = 1000000,
	};
	struct stage *stage = xcalloc(1, sizeof(*stage));
	struct http_error error;
	char address[64];

	stage->base = event_base_new();
	assert_non_null(stage->base);
	assert_int_equal(http_server_new(&stage->server, stage->base, &settings,
					 nobody_asks, NULL),
			 0);
	assert_int_equal(
		http_server_listen(stage->server, "127.0.0.1", "0", &error), 0);
	stage->port = (uint16_t)http_server_address(stage->server, 0, address);
	*state = stage;
	return 0;
}

static int stop(void **state)
{
	struct stage *stage = *state;

	http_server_free(stage->server);
	event_base_free(stage->base);
	free(stage);
	return 0;
}

static int link_from(const struct stage *stage, uint32_t host)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	address.sin_addr.s_addr = htonl(host);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)),
			 0);
	address.sin_port = htons(stage->port);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(
		connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static struct http_counts counts_of(const struct stage *stage)
{
	struct http_counts counts;

	http_server_counts(stage->server, &counts);
	return counts;
}

/* Turn the loop till so many were taken, and so many refused. */
static void await(const struct stage *stage, uint64_t accepted,
		  uint64_t refused)
{
	int64_t until_us = clock_now_us() + WAIT_US;
	struct http_counts counts = counts_of(stage);

	while (counts.accepted < accepted || counts.refused < refused) {
		assert_true(clock_now_us() < until_us);
		(void)event_base_loop(stage->base, EVLOOP_NONBLOCK);
		counts = counts_of(stage);
	}
}

/* What has come on FD: its length, 0 at the end, -1 for nothing yet. */
static ssize_t take(int fd, char *text, size_t size)
{
	ssize_t len = recv(fd, text, size - 1, MSG_DONTWAIT);

	if (len < 0 && errno == ECONNRESET)
		len = 0;
	if (len >= 0)
		text[len] = '\0';
	return len;
}

/* Who is refused keeps its place while it is told so: not without bound. */
static void an_address_has_twice_its_share_of_places(void **state)
{
	const struct stage *stage = *state;
	int fds[LINKS], other;
	char text[1000];

	for (unsigned i = 0; i < LINKS; i++) {
		fds[i] = link_from(stage, INADDR_LOOPBACK);
		await(stage, i < 2 * SHARE ? i + 1 : 2 * SHARE,
		      i < SHARE ? 0 : i + 1 - SHARE);
	}
	assert_int_equal(counts_of(stage).open, 2 * SHARE);
	/* Another gets in. */
	other = link_from(stage, INADDR_LOOPBACK + 1);
	await(stage, 2 * SHARE + 1, LINKS - SHARE);
	assert_int_equal(counts_of(stage).open, 2 * SHARE + 1);
	assert_int_equal(take(other, text, sizeof(text)), -1);
	for (unsigned i = 0; i < LINKS; i++) {
		ssize_t len = take(fds[i], text, sizeof(text));

		if (i < SHARE)
			assert_int_equal(len, -1);
		else if (i >= 2 * SHARE)
			assert_int_equal(len, 0);
		else if (len <= 0 || strstr(text, "HTTP/1.1 503 ") != text)
			fail_msg("link %u is not told why", i);
		(void)close(fds[i]);
	}
	(void)close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			an_address_has_twice_its_share_of_places, start, stop),
	};

	return cmocka_run_group_tests_name("http", tests, NULL, NULL);
}
