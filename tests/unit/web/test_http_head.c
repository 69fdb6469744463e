/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/buffer.h"
#include "server/web/http_head.h"
#include "tests/unit/unit.h"

static struct http_head head;
static struct http_refusal refusal;

#define HOST "Host: h\r\n"

static int parse(const char *text)
{
	return http_head_parse(text, strlen(text), &head, &refusal);
}

static void takes_a_plain_request(void **state)
{
	(void)state;
	assert_int_equal(parse("GET /a/b%20c?x=1&y=a+b%26&z HTTP/1.1\r\n" HOST
			       "If-None-Match:  \"1\" \r\n\r\n"),
			 0);
	assert_int_equal(head.method, HTTP_GET);
	assert_int_equal(head.nsegments, 2);
	assert_string_equal(head.segments[1], "b c");
	assert_string_equal(http_head_param(&head, "x"), "1");
	assert_string_equal(http_head_param(&head, "y"), "a b&");
	assert_string_equal(http_head_param(&head, "z"), "");
	assert_null(http_head_param(&head, "w"));
	assert_string_equal(http_head_get(&head, "if-none-match"), "\"1\"");
	assert_false(head.is_last);
}

static void finds_the_end_wherever_it_is_cut(void **state)
{
	static const char text[] = "GET / HTTP/1.1\r\n" HOST "\r\nrest";
	size_t end = strlen(text) - 4;

	(void)state;
	for (size_t cut = 0; cut <= strlen(text); cut++) {
		size_t seen = 0;
		size_t first = http_head_find(text, cut, &seen);

		if (cut < end) {
			assert_int_equal(first, 0);
			first = http_head_find(text, strlen(text), &seen);
		}
		assert_int_equal(first, end);
	}
}

static void takes_any_host_and_none(void **state)
{
	(void)state;
	assert_int_equal(parse("GET / HTTP/1.1\r\nHost:\r\n\r\n"), 0);
	assert_int_equal(parse("GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n"),
			 0);
	assert_int_equal(
		parse("GET / HTTP/1.1\r\nHost: a-b.example:80\r\n\r\n"), 0);
}

static void refuses_what_two_readers_may_see_differently(void **state)
{
	static const struct {
		const char *text;
		unsigned status;
	} cases[] = {
		{ "GET / HTTP/1.1\r\n\r\n", 400 }, /* no Host */
		{ "GET / HTTP/1.1\r\n" HOST HOST "\r\n", 400 },
		{ "GET / HTTP/1.0\r\n" HOST "Host: other\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nHost: a/../\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nHost: me@h\r\n\r\n", 400 },
		{ "GET  / HTTP/1.1\r\n" HOST "\r\n", 400 },
		{ "GET /\r\n" HOST "\r\n", 400 },
		{ "GET / HTTP/1.1 x\r\n" HOST "\r\n", 505 },
		{ "GET / HTTP/2.0\r\n" HOST "\r\n", 505 },
		{ "GET http://h/ HTTP/1.1\r\n" HOST "\r\n", 400 },
		{ "G(T / HTTP/1.1\r\n" HOST "\r\n", 400 },
		{ "GET / HTTP/1.1\r\n" HOST " folded\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nHost : h\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\n" HOST "no colon\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\n" HOST "A: \x01\r\n\r\n", 400 },
		{ "POST / HTTP/1.1\r\n" HOST
		  "Content-Length: 1\r\nContent-Length: 1\r\n\r\n",
		  400 },
		{ "POST / HTTP/1.1\r\n" HOST "Content-Length: +1\r\n\r\n",
		  400 },
		{ "POST / HTTP/1.1\r\n" HOST "Content-Length: \r\n\r\n", 400 },
		{ "POST / HTTP/1.1\r\n" HOST
		  "Content-Length: 99999999999999999999\r\n\r\n",
		  400 },
		{ "POST / HTTP/1.1\r\n" HOST
		  "Transfer-Encoding: chunked\r\n\r\n",
		  411 },
		{ "GET / HTTP/1.1\r\n" HOST "Expect: tea\r\n\r\n", 417 },
		{ "GET /?a=1&a=2 HTTP/1.1\r\n" HOST "\r\n", 400 },
		{ "GET /\x7f HTTP/1.1\r\n" HOST "\r\n", 400 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (parse(cases[i].text) != -EINVAL ||
		    refusal.status != cases[i].status)
			fail_msg("%s: %u", cases[i].text, refusal.status);
		assert_true(head.is_last);
	}
}

/* BC82: never the file of the shorter path, or one above. */
static void bc82_refuses_paths_that_hide_something(void **state)
{
	static const char *const paths[] = {
		"/replay/12%00.txt",
		"/bot/Blob%00x",
		"/static/%2e%2e/%2e%2e/etc/passwd",
		"/..",
		"/a/./b",
		"/a/%2E%2e",
		"/%0a",
		"/%",
		"/%4",
		"/%zz",
		"/%1f",
	};
	char text[200];

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		(void)snprintf(text, sizeof(text),
			       "GET %s HTTP/1.1\r\n" HOST "\r\n", paths[i]);
		if (parse(text) != -EINVAL || refusal.status != 400)
			fail_msg("%s is taken", paths[i]);
	}
	/* A slash that is escaped parts nothing. */
	assert_int_equal(parse("GET /%2e%2e%2f HTTP/1.1\r\n" HOST "\r\n"), 0);
	assert_int_equal(head.nsegments, 1);
	assert_string_equal(head.segments[0], "../");
	assert_int_equal(http_head_parse("GET /a\0b HTTP/1.1\r\n" HOST "\r\n",
					 29, &head, &refusal),
			 -EINVAL);
}

static void bounds_lines_and_lengths(void **state)
{
	struct buf text = BUF_INIT(100000);

	(void)state;
	buf_add_text(&text, "GET / HTTP/1.1\r\n" HOST);
	for (unsigned i = 1; i < HTTP_HEADERS_MAX; i++)
		buf_add_text(&text, "A: b\r\n");
	assert_int_equal(http_head_parse(text.data, text.len, &head, &refusal),
			 -EINVAL); /* no end */
	buf_add_text(&text, "\r\n");
	assert_int_equal(http_head_parse(text.data, text.len, &head, &refusal),
			 0);
	text.len -= 2;
	buf_add_text(&text, "A: b\r\n\r\n");
	assert_int_equal(http_head_parse(text.data, text.len, &head, &refusal),
			 -EINVAL);
	assert_int_equal(refusal.status, 431);
	buf_clear(&text);
	buf_add_text(&text, "GET /");
	for (unsigned i = 0; i < HTTP_TARGET_BYTES; i++)
		buf_add_char(&text, 'a');
	buf_add_text(&text, " HTTP/1.1\r\n" HOST "\r\n");
	assert_int_equal(http_head_parse(text.data, text.len, &head, &refusal),
			 -EINVAL);
	assert_int_equal(refusal.status, 414);
	buf_release(&text);
}

static void keeps_or_ends_the_connection_as_asked(void **state)
{
	(void)state;
	assert_int_equal(
		parse("GET / HTTP/1.1\r\n" HOST "Connection: x, Close\r\n\r\n"),
		0);
	assert_true(head.is_last);
	assert_int_equal(parse("GET / HTTP/1.0\r\n\r\n"), 0);
	assert_true(head.is_last);
	assert_int_equal(parse("GET / HTTP/1.0\r\n"
			       "Connection: keep-alive\r\n\r\n"),
			 0);
	assert_false(head.is_last);
}

/* Whatever the bytes: a verdict, and nothing out of bounds (ASan looks on). */
static void random_bytes_do_no_harm(void **state)
{
	static const char good[] =
		"POST /a/%41?b=c%20&d HTTP/1.1\r\n" HOST
		"Content-Length: 12\r\nConnection: close\r\n\r\n";
	uint64_t chance = 1;
	unsigned taken = 0;

	(void)state;
	for (unsigned n = 0; n < 20000; n++) {
		char *text = malloc(sizeof(good) - 1);

		memcpy(text, good, sizeof(good) - 1);
		for (unsigned k = 0; k < n % 4; k++) {
			chance = chance * UINT64_C(6364136223846793005) + 1;
			text[(chance >> 33) % (sizeof(good) - 1)] =
				(char)(chance >> 50);
		}
		taken += http_head_parse(text, sizeof(good) - 1, &head,
					 &refusal) == 0;
		free(text);
	}
	assert_true(taken >= 5000 && taken < 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_a_plain_request),
		cmocka_unit_test(finds_the_end_wherever_it_is_cut),
		cmocka_unit_test(takes_any_host_and_none),
		cmocka_unit_test(refuses_what_two_readers_may_see_differently),
		cmocka_unit_test(bc82_refuses_paths_that_hide_something),
		cmocka_unit_test(bounds_lines_and_lengths),
		cmocka_unit_test(keeps_or_ends_the_connection_as_asked),
		cmocka_unit_test(random_bytes_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
