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
#include "server/store/store_internal.h"
#include "server/web/web.h"
#include "tests/unit/store/fixture.h"
#include "tests/unit/unit.h"

enum {
	MATCHES = 1500,
	WAIT_US = 20 * 1000000,
	TEXT_BYTES = 4 * 1024 * 1024,
	ROOM_BYTES = 132 * 1024, /* half a queue, head and chunks' lengths */
};

#define CASE(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

/* Matches FIRST to LAST on LADDER_ID. */
static void save(struct store *store, int64_t ladder_id, int64_t first,
		 int64_t last)
{
	struct store_error error = { "" };

	for (int64_t id = first; id <= last; id++) {
		struct match_record *record = fixture_record(id, 1);

		record->ladder_id = ladder_id;
		assert_int_equal(store_save(store, record, &error), 0);
		match_record_free(record);
	}
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

/* Ask for PATH, with a HEADER line or "". */
static int ask(uint16_t port, const char *path, const char *header)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char get[200];
	int len = snprintf(get, sizeof(get),
			   "GET /api/v1%s HTTP/1.1\r\nHost: x\r\n%s\r\n", path,
			   header);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(
		connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(send(fd, get, (size_t)len, 0), len);
	return fd;
}

/* Matches FIRST to LAST are on disk, with as many decided without one. */
static void feed(struct web *web, int64_t first, int64_t last)
{
	size_t count = (size_t)(last - first + 1);
	struct web_feed feed = { .nsaved = 2 * count };

	feed.saved = xcalloc(feed.nsaved, sizeof(*feed.saved));
	for (size_t i = 0; i < count; i++)
		feed.saved[2 * i] = first + (int64_t)i;
	web_feed(web, &feed);
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

static void put_head(int64_t id, char ret[48])
{
	(void)snprintf(ret, 48, "\nid: %lld\nevent: match\n", (long long)id);
}

/* Where in TEXT match ID's event is, or NULL. */
static const char *find_event(const char *text, int64_t id)
{
	char head[48];

	put_head(id, head);
	return strstr(text, head);
}

/* TEXT tells FIRST to LAST in this order, and of no other match. */
static void expect_told(const char *text, int64_t first, int64_t last)
{
	const char *at = text;
	unsigned count = 0;

	for (int64_t id = first; id <= last; id++) {
		at = find_event(at, id);
		if (at == NULL)
			fail_msg("no match %lld, or not in its place",
				 (long long)id);
	}
	for (at = text; (at = strstr(at, "\nevent: match\n")) != NULL; at++)
		count++;
	assert_int_equal(count, last - first + 1);
}

/*
 * What is saved in a second comes in one letter. It is more than may wait for
 * a listener, but this one reads.
 */
static void who_reads_is_told_of_all_that_a_second_brings(void **state)
{
	struct store *store = fixture_store(*state);
	char *text = xcalloc(1, TEXT_BYTES);
	uint16_t port;
	struct web *web;
	int fd;

	save(store, FIXTURE_RANDOM, 1, MATCHES);
	store_close(store);
	web = start(*state, &port);
	fd = ask(port, "/events/matches", "");
	read_until(fd, text, "retry: ", 1);
	feed(web, 1, MATCHES);
	read_until(fd, text, "event: ", MATCHES);
	assert_null(strstr(text, "event: dropped"));
	expect_told(text, 1, MATCHES);
	(void)close(fd);
	web_free(web);
	free(text);
}

/* Have WEB tell of matches 1 to LAST, so that it knows them. */
static void tell_all(struct web *web, uint16_t port, int64_t last)
{
	char *text = xcalloc(1, TEXT_BYTES);
	int fd = ask(port, "/events/matches", "");

	read_until(fd, text, "retry: ", 1);
	feed(web, 1, last);
	read_until(fd, text, "event: match\n", (unsigned)last);
	(void)close(fd);
	free(text);
}

/* What comes of PATH after match 1, up to the event of match LAST. free. */
static char *come_again(uint16_t port, const char *path, int64_t last)
{
	char *text = xcalloc(1, TEXT_BYTES), head[48];
	int fd = ask(port, path, "Last-Event-ID: 1\r\n");

	put_head(last, head);
	read_until(fd, text, head, 1);
	(void)close(fd);
	return text;
}

/* A hundred are sent again: of the ladder that it listens to. */
static void who_comes_again_gets_the_last_that_it_wants(void **state)
{
	struct store *store = fixture_store(*state);
	struct web *web;
	uint16_t port;
	char *text;

	save(store, FIXTURE_RANDOM, 1, 11);
	save(store, FIXTURE_RANGE, 12, 250);
	store_close(store);
	web = start(*state, &port);
	tell_all(web, port, 250);
	text = come_again(port, "/events/matches?ladder=lambda-mining", 11);
	expect_told(text, 2, 11);
	assert_null(strstr(text, "event: gap"));
	free(text);
	web_free(web);
}

/* Of what it has missed some is left out, be it told now or before. */
static void who_missed_too_much_is_told_of_a_gap(void **state)
{
	struct store *store = fixture_store(*state);
	struct web *web;
	uint16_t port;
	char *text;

	save(store, FIXTURE_RANDOM, 1, 130);
	store_close(store);
	web = start(*state, &port);
	tell_all(web, port, 130);
	for (unsigned i = 0; i < 2; i++) {
		text = come_again(port, "/events/matches", 130);
		expect_told(text, 31, 130);
		assert_non_null(strstr(text, "event: gap\ndata: {"));
		assert_true(strstr(text, "event: gap") < find_event(text, 31));
		free(text);
		web_free(web);
		web = i == 0 ? start(*state, &port) : NULL;
	}
}

/* Else the next event would find too much waiting, and cut it off. */
static void what_was_missed_leaves_room_for_what_comes(void **state)
{
	struct store *store = fixture_store(*state);
	struct store_error error;
	struct web *web;
	uint16_t port;
	char *text;

	save(store, FIXTURE_RANDOM, 1, 90);
	assert_int_equal(db_exec(&store->write,
				 "UPDATE seat SET columns = '[\"' || "
				 "hex(zeroblob(1000)) || '\"]'",
				 "enlarge", &error),
			 0);
	store_close(store);
	web = start(*state, &port);
	tell_all(web, port, 90);
	for (unsigned i = 0; i < 2; i++) {
		text = come_again(port, "/events/matches", 90);
		assert_in_range(strlen(text), ROOM_BYTES * 3 / 4, ROOM_BYTES);
		assert_non_null(strstr(text, "event: gap\ndata: {"));
		assert_null(find_event(text, 2));
		free(text);
		web_free(web);
		web = i == 0 ? start(*state, &port) : NULL;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(who_reads_is_told_of_all_that_a_second_brings),
		CASE(who_comes_again_gets_the_last_that_it_wants),
		CASE(who_missed_too_much_is_told_of_a_gap),
		CASE(what_was_missed_leaves_room_for_what_comes),
	};

	return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
