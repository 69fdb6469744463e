/* SPDX-License-Identifier: MIT */
/* test_http.c - a server of HTTP with clients on the loopback: silent ones, and
 * such as go away before they are answered. */
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
	struct http_request *kept; /* owned until it is answered */
	unsigned ngone;            /* calls of on_gone */
	uint16_t port;
};

/* A handler that takes its time. */
static void keep(struct http_request *request, void *arg)
{
	struct stage *stage = arg;

	assert_null(stage->kept);
	stage->kept = request;
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
					 keep, stage),
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

	assert_null(stage->kept);
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

/* Ask from a new link, which is returned, till the handler has the request. */
static int ask(const struct stage *stage, const char *text)
{
	int64_t until_us = clock_now_us() + WAIT_US;
	int fd = link_from(stage, INADDR_LOOPBACK);

	assert_int_equal(send(fd, text, strlen(text), 0), strlen(text));
	while (stage->kept == NULL) {
		assert_true(clock_now_us() < until_us);
		(void)event_base_loop(stage->base, EVLOOP_NONBLOCK);
	}
	return fd;
}

/* FD ends by a RST, and the server has seen it. */
static void reset(const struct stage *stage, int fd)
{
	static const struct linger at_once = { .l_onoff = 1 };
	int64_t until_us = clock_now_us() + WAIT_US;

	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once,
				    sizeof(at_once)),
			 0);
	(void)close(fd);
	while (counts_of(stage).open > 0) {
		assert_true(clock_now_us() < until_us);
		(void)event_base_loop(stage->base, EVLOOP_NONBLOCK);
	}
}

static const char one_get[] = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n";
static const char one_post[] = "POST /x HTTP/1.1\r\nHost: x\r\n"
			       "Content-Length: 5\r\n\r\nhello";
static const struct http_response hello = { .status = 200,
					    .type = "text/plain",
					    .headers = "X-Y: z\r\n",
					    .body = "hello",
					    .len = 5 };

/* What the handler still has is whole, and its answer goes nowhere. */
static void a_reply_to_who_has_gone_goes_nowhere(void **state)
{
	struct stage *stage = *state;

	reset(stage, ask(stage, one_post));
	assert_null(stage->kept->conn);
	assert_string_equal(stage->kept->head.segments[0], "x");
	assert_string_equal(stage->kept->body, "hello");
	http_reply(stage->kept, &hello);
	stage->kept = NULL;
	assert_int_equal(counts_of(stage).requests, 1);
	assert_int_equal(counts_of(stage).statuses[2], 0);
}

static void a_stream_to_who_has_gone_goes_nowhere(void **state)
{
	struct stage *stage = *state;

	for (unsigned is_cut = 0; is_cut < 2; is_cut++) {
		reset(stage, ask(stage, one_get));
		http_begin(stage->kept, &hello);
		assert_int_equal(http_send(stage->kept, "more", 4), 0);
		if (is_cut == 1)
			http_abort(stage->kept);
		else
			http_end(stage->kept);
		stage->kept = NULL;
	}
	assert_int_equal(counts_of(stage).statuses[2], 0);
}

static void end(struct http_request *request, void *arg)
{
	struct stage *stage = arg;

	assert_ptr_equal(request, stage->kept);
	assert_null(request->conn);
	stage->ngone++;
	stage->kept = NULL;
	http_end(request);
}

/* Who streams is told, and may end it at once or later. */
static void who_streams_is_told_that_the_client_has_gone(void **state)
{
	struct stage *stage = *state;
	int fd = ask(stage, one_get);

	stage->kept->on_gone = end;
	stage->kept->arg = stage;
	http_begin(stage->kept, &hello);
	reset(stage, fd);
	assert_int_equal(stage->ngone, 1);
	fd = ask(stage, one_get);
	http_begin(stage->kept, &hello);
	reset(stage, fd);
	assert_int_equal(http_send(stage->kept, "more", 4), 0);
	http_end(stage->kept);
	stage->kept = NULL;
}

/* A worker may come back when all is over. */
static void a_request_outlives_its_server(void **state)
{
	struct stage *stage = *state;
	int fd = ask(stage, one_get);

	http_server_free(stage->server);
	stage->server = NULL;
	http_reply(stage->kept, &hello);
	stage->kept = NULL;
	(void)close(fd);
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
		cmocka_unit_test_setup_teardown(
			a_reply_to_who_has_gone_goes_nowhere, start, stop),
		cmocka_unit_test_setup_teardown(
			a_stream_to_who_has_gone_goes_nowhere, start, stop),
		cmocka_unit_test_setup_teardown(
			who_streams_is_told_that_the_client_has_gone, start,
			stop),
		cmocka_unit_test_setup_teardown(a_request_outlives_its_server,
						start, stop),
	};

	return cmocka_run_group_tests_name("http", tests, NULL, NULL);
}
