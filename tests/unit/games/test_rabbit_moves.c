/* SPDX-License-Identifier: MIT */
#include "server/games/rabbit_moves.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

/* What is found in a line, as "x,y>x,y" words; "!" is a number too large. */
static void found_in(const char *text, size_t len, char *ret, size_t ret_size)
{
	const char *at = text;
	size_t used = 0;

	ret[0] = '\0';
	for (;;) {
		struct rabbit_move move;
		enum rabbit_scan scan =
			rabbit_moves_next(&at, text + len, &move);

		if (scan == RABBIT_END)
			break;
		used += (size_t)snprintf(
			ret + used, ret_size - used, "%s%s%d,%d>%d,%d",
			used == 0 ? "" : " ",
			scan == RABBIT_OVERFLOW ? "!" : "", move.from.x,
			move.from.y, move.to.x, move.to.y);
		if (scan == RABBIT_OVERFLOW)
			break;
	}
}

static void finds_what_the_expression_finds(void **state)
{
	/* each compared with re.findall of CPython 2.7.18 */
	static const struct {
		const char *line, *found;
	} cases[] = {
		{ "", "" },
		{ "move", "" },
		{ "move 1,2 to 3,4", "1,2>3,4" },
		{ "1,2 to 3,4;5,6 to 7,8", "1,2>3,4 5,6>7,8" },
		{ "-5,1 to 6,1", "5,1>6,1" },
		{ "5,-1 to 6,1", "" },
		{ "5,1 to -6,1", "" },
		{ "7,1,2 to 1,3", "1,2>1,3" },
		{ "1,2 to 3,4 to 5,6", "1,2>3,4" },
		{ "1,2 to 3,4,5 to 6,7", "1,2>3,4" },
		{ "1,2 to 3 4,5 to 6,7", "4,5>6,7" },
		{ "1,2 to 3,x 4,5 to 6,7", "4,5>6,7" },
		{ "1,2 too 3,4", "" },
		{ "1,2 to3,4", "" },
		{ "1,2to 3,4", "" },
		{ "1,2 TO 3,4", "" },
		{ "1, 2 to 3,4", "" },
		{ "1,2 t o 3,4", "" },
		{ "1,2 to 3,", "" },
		{ "1,2 to 3,4x", "1,2>3,4" },
		{ "x1,2 to 3,4", "1,2>3,4" },
		{ "01,002 to 0003,4", "1,2>3,4" },
		{ "1,2\t\v to\f\r 3,4", "1,2>3,4" },
		{ "1,2\x1cto 3,4", "" },
		{ "1,2\xc2\xa0to 3,4", "" },
		{ "1.5,2 to 3,4", "5,2>3,4" },
		{ "1,2 to 3,4.5", "1,2>3,4" },
		{ ",1,2 to 3,4,", "1,2>3,4" },
		{ "1,,2 to 3,4", "" },
		{ "1,2 to to 3,4 5,6 to 5,7", "5,6>5,7" },
		{ "999999999,1 to 1000000000,1", "999999999,1>1073741824,1" },
		{ "18446744073709551617,1 to 2,1", "1073741824,1>2,1" },
		{ "0000000000000000000000001,1 to 2,1", "1,1>2,1" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char found[256];

		found_in(cases[i].line, strlen(cases[i].line), found,
			 sizeof(found));
		assert_string_equal(found, cases[i].found);
	}
}

static void passes_over_nul_bytes(void **state)
{
	static const char line[] = "1,2 to\0 3,4 \0 5,6 to 7,8\0";
	char found[64];

	(void)state;
	found_in(line, sizeof(line) - 1, found, sizeof(found));
	assert_string_equal(found, "5,6>7,8");
}

/* The first whole number that no double holds: 2^1024 - 2^970. */
static void stops_at_numbers_past_a_double(void **state)
{
	static const char limit[] =
		"1797693134862315807937289714053034150799341327100378269361737"
		"7898044496829276475094664901797758720709633028641669288791094"
		"6555547851940402630657488671505820681908902000708383676273854"
		"8458177115317644757302700698555713669596228429148198608349364"
		"75292719074168444365510704342711559699508093042880177904174497792";
	char line[2000];
	char found[64];

	(void)state;
	(void)snprintf(line, sizeof(line), "1,1 to 2,1 1,%s to 2,1 3,3 to 4,3",
		       limit);
	found_in(line, strlen(line), found, sizeof(found));
	assert_string_equal(found, "1,1>2,1 !1,0>0,0");
	/* one less still rounds down */
	line[strlen("1,1 to 2,1 1,") + strlen(limit) - 1] = '1';
	found_in(line, strlen(line), found, sizeof(found));
	assert_string_equal(found, "1,1>2,1 1,1073741824>2,1 3,3>4,3");
	/* one digit more is too many, unless it is a leading zero */
	(void)snprintf(line, sizeof(line), "1,1 to 10%.308s,1", limit + 1);
	found_in(line, strlen(line), found, sizeof(found));
	assert_string_equal(found, "!1,1>0,0");
	(void)snprintf(line, sizeof(line), "1,1 to 001%.307s,1", limit + 1);
	found_in(line, strlen(line), found, sizeof(found));
	assert_string_equal(found, "1,1>1073741824,1");
}

/* Time must grow with the line, not with its square. */
static void reads_long_hostile_lines_at_once(void **state)
{
	static const char *const pieces[] = { "1",       "1,",       "1,2 ",
					      "1,2 to ", "1,2 to 3", " ",
					      "," };
	enum { BYTES = 1 << 20 };
	char *line = malloc(BYTES);

	(void)state;
	assert_non_null(line);
	for (size_t i = 0; i < COUNT_OF(pieces); i++) {
		const char *at = line;
		struct rabbit_move move;
		size_t len = strlen(pieces[i]);

		for (size_t k = 0; k < BYTES; k++)
			line[k] = pieces[i][k % len];
		while (rabbit_moves_next(&at, line + BYTES, &move) ==
		       RABBIT_MOVE)
			assert_true(at > line && at <= line + BYTES);
	}
	free(line);
}

static void knows_python_2_utf8(void **state)
{
	static const struct {
		const char *text;
		size_t good;
	} cases[] = {
		{ "", 0 },
		{ "abc", 3 },
		{ "\xc2\x80\xdf\xbf", 4 },
		{ "\xc1\xbf", 0 },
		{ "\xc0\x80", 0 },
		{ "a\x80", 1 },
		{ "\xe0\xa0\x80", 3 },
		{ "\xe0\x9f\xbf", 0 },
		{ "\xed\xa0\x80\xed\xbf\xbf", 6 },
		{ "\xef\xbf\xbf", 3 },
		{ "\xf0\x90\x80\x80", 4 },
		{ "\xf0\x8f\xbf\xbf", 0 },
		{ "\xf4\x8f\xbf\xbf", 4 },
		{ "\xf4\x90\x80\x80", 0 },
		{ "\xf5\x80\x80\x80", 0 },
		{ "ab\xc3", 2 },
		{ "ab\xe2\x82", 2 },
		{ "ab\xe2\x82x", 2 },
		{ "ab\xf0\x9f\x98", 2 },
		{ "0123456789\xff", 10 },
		{ "01234567\xc3\xa9"
		  "89abcdef\xc3(",
		  18 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		assert_int_equal(
			rabbit_moves_utf8(cases[i].text, strlen(cases[i].text)),
			cases[i].good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_the_expression_finds),
		cmocka_unit_test(passes_over_nul_bytes),
		cmocka_unit_test(stops_at_numbers_past_a_double),
		cmocka_unit_test(reads_long_hostile_lines_at_once),
		cmocka_unit_test(knows_python_2_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
