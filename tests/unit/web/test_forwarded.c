/* SPDX-License-Identifier: MIT */
/* Whose request it is, by what a trusted proxy says and others made up. */
#include "server/web/forwarded.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"

static const char proxies_text[] = "10.0.0.1,10.0.0.2,2001:db8::1";

/* The client of a request with the header lines LINES; "" for none. */
static const char *client_of(const char *lines)
{
	static char found[ADDRESS_TEXT_BYTES];
	static struct http_head head;
	struct address_list proxies;
	struct http_refusal refusal;
	char text[2000];
	int len = snprintf(text, sizeof(text),
			   "GET / HTTP/1.1\r\nHost: x\r\n%s\r\n", lines);

	assert_true(address_list_parse(proxies_text, &proxies));
	assert_int_equal(http_head_parse(text, (size_t)len, &head, &refusal),
			 0);
	found[0] = '\0';
	if (!forwarded_client(&proxies, &head, found))
		assert_string_equal(found, "");
	return found;
}

#define XFF "X-Forwarded-For: "

static void takes_the_last_that_no_proxy_is(void **state)
{
	static const char *const cases[][2] = {
		{ XFF "192.0.2.7\r\n", "192.0.2.7" },
		{ XFF "192.0.2.7, 10.0.0.2\r\n", "192.0.2.7" },
		{ XFF "192.0.2.7,10.0.0.2,2001:db8::1\r\n", "192.0.2.7" },
		{ XFF "::ffff:192.0.2.7, ::ffff:10.0.0.1\r\n", "192.0.2.7" },
		/* What stands before it is the client's own invention. */
		{ XFF "10.9.9.9, 192.0.2.7\r\n", "192.0.2.7" },
		{ XFF "10.0.0.1, 192.0.2.7\r\n", "192.0.2.7" },
		{ XFF "\"><b>, 192.0.2.7, 10.0.0.2\r\n", "192.0.2.7" },
		{ XFF ",,, 192.0.2.7\r\n", "192.0.2.7" },
		/* A proxy may add a line of its own: one list all the same. */
		{ XFF "192.0.2.9\r\n" XFF "192.0.2.7\r\n", "192.0.2.7" },
		{ XFF "192.0.2.7\r\nA: b\r\n" XFF "10.0.0.2\r\n", "192.0.2.7" },
		/* Some write the port, too. */
		{ XFF "192.0.2.7:8080\r\n", "192.0.2.7" },
		{ XFF "[2001:db8::7]:8080\r\n", "2001:db8::7" },
		{ XFF "[2001:db8::7]\r\n", "2001:db8::7" },
		{ XFF "\t2001:DB8::7\t,\t10.0.0.1\t\r\n", "2001:db8::7" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(client_of(cases[i][0]), cases[i][1]);
}

static void knows_nobody_where_the_header_is_no_good(void **state)
{
	static const char *const cases[] = {
		"",
		XFF "\r\n",
		XFF "10.0.0.1\r\n",
		XFF "10.0.0.1, 2001:db8::1\r\n",
		XFF "192.0.2.7,\r\n",
		XFF "192.0.2.7, unknown\r\n",
		XFF "192.0.2.7, _hidden\r\n",
		XFF "192.0.2.7 192.0.2.8\r\n",
		XFF "192.0.2.256\r\n",
		XFF "192.0.2.7:\r\n",
		XFF "192.0.2.7:80x\r\n",
		XFF "192.0.2.7:123456\r\n",
		XFF "[2001:db8::7\r\n",
		XFF "[2001:db8::7]80\r\n",
		XFF "192.0.2.7, garbage, 10.0.0.1\r\n",
		XFF "192.0.2.7\r\n" XFF "garbage\r\n",
		"Forwarded: for=192.0.2.7\r\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (*client_of(cases[i]) != '\0')
			fail_msg("%s: %s", cases[i], client_of(cases[i]));
}

static void believes_none_but_the_proxies_that_were_named(void **state)
{
	struct address_list proxies, nobody;

	(void)state;
	assert_true(address_list_parse(proxies_text, &proxies));
	assert_true(address_list_parse("", &nobody));
	assert_true(forwarded_is_proxy(&proxies, "10.0.0.2"));
	assert_true(forwarded_is_proxy(&proxies, "::ffff:10.0.0.2"));
	assert_false(forwarded_is_proxy(&proxies, "10.0.0.3"));
	assert_false(forwarded_is_proxy(&proxies, "?"));
	assert_false(forwarded_is_proxy(&nobody, "10.0.0.2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_the_last_that_no_proxy_is),
		cmocka_unit_test(knows_nobody_where_the_header_is_no_good),
		cmocka_unit_test(believes_none_but_the_proxies_that_were_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
