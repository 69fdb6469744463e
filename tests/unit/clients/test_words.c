/* SPDX-License-Identifier: MIT */
#include "clients/run/words.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/unit.h"

/* The words of TEXT, each between bars. */
static void check_split(const char *text, const char *expected)
{
	struct words words = { 0 };
	char joined[200] = "";

	assert_int_equal(words_split(&words, text), 0);
	for (size_t i = 0; i < words.count; i++) {
		(void)strcat(joined, "|");
		(void)strcat(joined, words.words[i]);
	}
	assert_string_equal(joined, expected);
	if (words.count > 0)
		assert_null(words.words[words.count]);
	words_release(&words);
}

static void splits_at_blanks(void **state)
{
	(void)state;
	check_split("", "");
	check_split("  \t ", "");
	check_split("a", "|a");
	check_split("  python3  blob.py\t-v ", "|python3|blob.py|-v");
}

static void keeps_quoted_blanks(void **state)
{
	(void)state;
	check_split("'a b' \"c d\"", "|a b|c d");
	check_split("a' 'b\" \"c", "|a b c");
	check_split("'' \"\"", "||");
	check_split("\"it's\" '\"'", "|it's|\"");
}

static void takes_what_follows_a_backslash(void **state)
{
	(void)state;
	check_split("a\\ b \\'c", "|a b|'c");
	check_split("'a\\b'", "|a\\b");
	check_split("\"a\\\"b\\\\c\\d\"", "|a\"b\\c\\d");
	check_split("a\\", "|a\\");
}

static void is_no_shell(void **state)
{
	(void)state;
	check_split("$HOME *.c; a|b && ~ `c`", "|$HOME|*.c;|a|b|&&|~|`c`");
}

static void refuses_an_open_quote(void **state)
{
	struct words words = { 0 };

	(void)state;
	assert_int_equal(words_split(&words, "a 'b c"), -EINVAL);
	assert_int_equal(words_split(&words, "\"a\\\""), -EINVAL);
	words_release(&words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splits_at_blanks),
		cmocka_unit_test(keeps_quoted_blanks),
		cmocka_unit_test(takes_what_follows_a_backslash),
		cmocka_unit_test(is_no_shell),
		cmocka_unit_test(refuses_an_open_quote),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
