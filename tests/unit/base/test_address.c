/* SPDX-License-Identifier: MIT */
#include "server/base/address.h"

#include <string.h>

#include "tests/unit/unit.h"

static bool parse(const char *text, uint8_t ret[ADDRESS_BYTES])
{
	return address_parse(text, strlen(text), ret);
}

static void reads_both_kinds_and_writes_them_as_people_do(void **state)
{
	static const char *const cases[][2] = {
		{ "10.0.0.7", "10.0.0.7" },
		{ "::ffff:10.0.0.7", "10.0.0.7" },
		{ "::1", "::1" },
		{ "2001:DB8:0:0:0:0:0:7", "2001:db8::7" },
	};
	uint8_t address[ADDRESS_BYTES];
	char text[ADDRESS_TEXT_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(parse(cases[i][0], address));
		address_text(address, text);
		assert_string_equal(text, cases[i][1]);
	}
	assert_true(address_parse("10.0.0.78", 8, address));
	address_text(address, text);
	assert_string_equal(text, "10.0.0.7");
}

static void refuses_what_is_no_address(void **state)
{
	static const char *const bad[] = {
		"",
		"10.0.0",
		"10.0.0.256",
		"10.0.0.7:80",
		"10.0.0.7 ",
		"localhost",
		"[::1]",
		"fe80::1%eth0",
		"1::2::3",
		"10.0.0.7/24",
		"0x7f.1",
		"*",
		"1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:17:18:19:20:21",
	};
	uint8_t address[ADDRESS_BYTES] = { 42 };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse(bad[i], address))
			fail_msg("%s is an address", bad[i]);
	assert_false(address_parse("10.0\0.7", 7, address));
	assert_int_equal(address[0], 42);
}

static void reads_lists_whole_or_not_at_all(void **state)
{
	static const char *const bad[] = { ",",        "::1,",    ",::1",
					   "::1,,::2", "::1 ::2", "::1,x",
					   " " };
	struct address_list list = { .count = 99 };
	uint8_t address[ADDRESS_BYTES];
	char many[400] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (address_list_parse(bad[i], &list))
			fail_msg("\"%s\" is a list", bad[i]);
	assert_int_equal(list.count, 99);
	assert_true(address_list_parse("", &list));
	assert_int_equal(list.count, 0);
	assert_true(address_list_parse(" 10.0.0.7 ,::1", &list));
	assert_int_equal(list.count, 2);
	assert_true(parse("::ffff:10.0.0.7", address));
	assert_true(address_list_has(&list, address));
	assert_true(parse("10.0.0.8", address));
	assert_false(address_list_has(&list, address));
	for (unsigned i = 0; i < ADDRESS_LIST_MAX; i++)
		(void)strcat(many, i == 0 ? "::1" : ",::1");
	assert_true(address_list_parse(many, &list));
	(void)strcat(many, ",::1");
	assert_false(address_list_parse(many, &list));
}

static void says_who_counts_as_one(void **state)
{
	static const struct {
		const char *address, *host;
	} cases[] = {
		{ "10.0.0.7", "10.0.0.7" },
		{ "::ffff:10.0.0.7", "10.0.0.7" },
		{ "2001:db8:0:1:aaaa:bbbb:cccc:dddd", "2001:db8:0:1::" },
		{ "2001:db8:0:1::", "2001:db8:0:1::" },
		{ "2001:db8:0:2::7", "2001:db8:0:2::" },
		{ "::1", "::" },
		/* No IPv4 address, however it looks. */
		{ "::fffe:10.0.0.7", "::" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t address[ADDRESS_BYTES], host[ADDRESS_BYTES];
		char text[ADDRESS_TEXT_BYTES];

		assert_true(parse(cases[i].address, address));
		address_host(address, host);
		address_text(host, text);
		assert_string_equal(text, cases[i].host);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_both_kinds_and_writes_them_as_people_do),
		cmocka_unit_test(refuses_what_is_no_address),
		cmocka_unit_test(reads_lists_whole_or_not_at_all),
		cmocka_unit_test(says_who_counts_as_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
