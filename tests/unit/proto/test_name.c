/* SPDX-License-Identifier: MIT */
#include "proto/name.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"

struct name_case {
	const char *name;
	bool is_bot, is_ladder, is_file;
};

#define LONG24 "abcdefghijklmnopqrstuvwx"
#define LONG64 LONG24 LONG24 "0123456789abcdef"

static void follows_the_rules(void **state)
{
	static const struct name_case cases[] = {
		{ "", false, false, false },
		{ "a", false, true, true },
		{ "ab", false, true, true },
		{ "abc", true, true, true },
		{ LONG24, true, true, true },
		{ LONG24 "y", false, true, true },
		{ LONG64, false, true, true },
		{ LONG64 "z", false, false, false },
		{ "Abc", false, false, true },
		{ "-ab", true, false, false },
		{ "_ab", true, false, true },
		{ ".ab", false, false, false },
		{ "a.b", false, true, true },
		{ "a/b", false, false, false },
		{ "a b", false, false, false },
		{ "ab\n", false, false, false },
		{ "ab\xc3\xa9", false, false, false },
		{ "..", false, false, false },
		{ "test.map", false, true, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		size_t len = strlen(cases[i].name);

		assert_int_equal(name_is_bot(cases[i].name, len),
				 cases[i].is_bot);
		assert_int_equal(name_is_ladder(cases[i].name, len),
				 cases[i].is_ladder);
		assert_int_equal(name_is_file(cases[i].name, len),
				 cases[i].is_file);
	}
	assert_false(name_is_bot("ab\0c", 4));
	assert_false(name_is_ladder("ab\0c", 4));
	assert_false(name_is_file("ab\0c", 4));
	assert_non_null(strstr(name_bot_rule(), "3 to 24"));
}

static void tokens_are_printable(void **state)
{
	char token[130];

	(void)state;
	memset(token, 'x', sizeof(token));
	assert_true(name_is_token(token, 128));
	assert_false(name_is_token(token, 129));
	assert_false(name_is_token(token, 0));
	assert_true(name_is_token("a!~=:", 5));
	assert_false(name_is_token("a b", 3));
	assert_false(name_is_token("a\x7f", 2));
	assert_false(name_is_token("a\xc3\xa9", 3));
	assert_false(name_is_token("a\0b", 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_the_rules),
		cmocka_unit_test(tokens_are_printable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
