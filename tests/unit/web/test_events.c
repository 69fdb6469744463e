/* SPDX-License-Identifier: MIT */
/* test_events.c - the API's thread on a real file, and one who listens. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/base/clock.h"
#include "server/web/web.h"
#include "tests/unit/store/fixture.h"
#include "tests/unit/unit.h"

enum { MATCHES = 1500, WAIT_US = 20 * 1000000, TEXT_BYTES = 4 * 1024 * 1024 };

static void save_all(const struct fixture *fixture)
{
	struct store *store = fixture_store(fixture);
	struct store_error error = { "" };

	for (int64_t id = 1; id <= MATCHES; id++) {
		struct match_record *record = fixture_record(id, 1);

		assert_int_equal(store_save(store, record, &error), 0);
		match_record_free(record);
	}
	store_close(store);
}

static struct web *start(const struct fixture *fixture, uint16_t *ret_port)
{
	const struct web_settings settings = { .database = fixture->path,
					       .version = "test",
					       .connections_max = 10,
					       .connections_per_address = 10,
					       .request_ms = 60000,
					       .stall_ms = 60000 };
	struct web_error error = { "" };
	struct web *web = NULL;
	char address[64];

	if (web_new(&web, &settings, &error) != 0 ||
	    web_listen(web, "127.0.0.1", "0", &error) != 0 ||
	    web_start(web, &error) != 0)
		fail_msg("%s", error.text);
	*ret_port = (uint16_t)web_address(web, 0, address);
	return web;
}

static int listen_to(uint16_t port)
{
	static const char get[] =
		"GET /api/v1/events/matches HTTP/1.1\r\nHost: x\r\n\r\n";
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(
		connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(send(fd, get, sizeof(get) - 1, 0), sizeof(get) - 1);
	return fd;
}

/* Append what comes on FD to TEXT until it has COUNT times WORD. */
static void read_until(int fd, char *text, const char *word, unsigned count)
{
	int64_t until_us = clock_now_us() + WAIT_US;
	size_t len = strlen(text), from = 0;

	while (count > 0) {
		const char *found = strstr(text + from, word);
		ssize_t more;

		if (found != NULL) {
			from = (size_t)(found - text) + 1;
			count--;
			continue;
		}
		assert_true(clock_now_us() < until_us);
		assert_true(len < TEXT_BYTES - 1);
		more = recv(fd, text + len, TEXT_BYTES - 1 - len, 0);
		assert_true(more > 0);
		len += (size_t)more;
		text[len] = '\0';
	}
}

/*
 * What is saved in a second comes in one letter. It is more than may wait for
 * a listener, but this one reads.
 */
static void who_reads_is_told_of_all_that_a_second_brings(void **state)
{
	char *text = xcalloc(1, TEXT_BYTES), id[32];
	const char *at = text;
	struct web_feed feed = { .nsaved = MATCHES };
	uint16_t port;
	struct web *web;
	int fd;

	save_all(*state);
	web = start(*state, &port);
	fd = listen_to(port);
	read_until(fd, text, "retry: ", 1);
	feed.saved = xcalloc(MATCHES, sizeof(*feed.saved));
	for (int64_t i = 0; i < MATCHES; i++)
		feed.saved[i] = i + 1;
	web_feed(web, &feed);
	read_until(fd, text, "event: ", MATCHES);
	assert_null(strstr(text, "event: dropped"));
	for (int i = 1; i <= MATCHES; i++) {
		(void)snprintf(id, sizeof(id), "\nid: %d\nevent: match\n", i);
		at = strstr(at, id);
		assert_non_null(at);
	}
	(void)close(fd);
	web_free(web);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			who_reads_is_told_of_all_that_a_second_brings,
			fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
