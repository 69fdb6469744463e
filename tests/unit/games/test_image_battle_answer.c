/* SPDX-License-Identifier: MIT */
/* what of an answer is taken, and what is told */
#include "tests/unit/games/battle.h"

#include <stdio.h>
#include <string.h>

static const struct dot lone[] = { { 10, 10, 0x00ff00 }, { 10, 9, 0 } };

struct answer_case {
	const char *text;
	const char *taken; /* what is told to all, or NULL for a pass */
	const char *detail;
};

/* clang-format off */
static const struct answer_case answers[] = {
	{ "11,10", " 11,10", "" },
	{ "", NULL, "" },
	{ " \t\v\f\r ", NULL, "" },
	{ "11,10 12,10 12,11", " 11,10 12,10 12,11", "" },
	/* in the order given */
	{ "12,10 11,10", " 11,10", "1 of 2 pixels not taken, first 12,10: no own neighbour" },
	{ "11,11", NULL, "1 of 1 pixels not taken, first 11,11: no own neighbour" },
	{ "11,10 11,10", " 11,10", "1 of 2 pixels not taken, first 11,10: not white" },
	{ "10,9 10,10", NULL, "2 of 2 pixels not taken, first 10,9: not white" },
	/* oddities of int() and split() */
	{ "+11,010 -0,0", " 11,10", "1 of 2 pixels not taken, first -0,0: no own neighbour" },
	{ "11,00000000000000000000000000010", " 11,10", "" },
	{ "\t11,10\v12,10\f\r13,10", " 11,10 12,10 13,10", "" },
	/* what the judge died of */
	{ "abc", NULL, "1 of 1 pixels not taken, first abc: not a pair" },
	{ "1", NULL, "1 of 1 pixels not taken, first 1: not a pair" },
	{ "1,2,3", NULL, "1 of 1 pixels not taken, first 1,2,3: not a pair" },
	{ "11,10,", NULL, "1 of 1 pixels not taken, first 11,10,: not a pair" },
	{ "11,,10", NULL, "1 of 1 pixels not taken, first 11,,10: not a pair" },
	{ ",", NULL, "1 of 1 pixels not taken, first ,: not a pair" },
	{ "11, 10", NULL, "2 of 2 pixels not taken, first 11,: not a pair" },
	{ "1;2", NULL, "1 of 1 pixels not taken, first 1;2: not a pair" },
	{ "++11,10", NULL, "1 of 1 pixels not taken, first ++11,10: not a pair" },
	{ "+,-", NULL, "1 of 1 pixels not taken, first +,-: not a pair" },
	{ "11.0,10", NULL, "1 of 1 pixels not taken, first 11.0,10: not a pair" },
	{ "11L,10", NULL, "1 of 1 pixels not taken, first 11L,10: not a pair" },
	{ "0xb,10", NULL, "1 of 1 pixels not taken, first 0xb,10: not a pair" },
	{ "(11,10)", NULL, "1 of 1 pixels not taken, first (11,10): not a pair" },
	{ "-1,0", NULL, "1 of 1 pixels not taken, first -1,0: off the picture" },
	{ "-9,10", NULL, "1 of 1 pixels not taken, first -9,10: off the picture" },
	{ "11,-10", NULL, "1 of 1 pixels not taken, first 11,-10: off the picture" },
	{ "5000,5000", NULL, "1 of 1 pixels not taken, first 5000,5000: off the picture" },
	{ "20,10 10,20", NULL, "2 of 2 pixels not taken, first 20,10: off the picture" },
	{ "4294967307,10", NULL, "1 of 1 pixels not taken, first 4294967307,1...: off the picture" },
	{ "18446744073709551627,10", NULL, "1 of 1 pixels not taken, first 184467440737...: off the picture" },
	{ "11,10 x 12,10", " 11,10 12,10", "1 of 3 pixels not taken, first x: not a pair" },
	{ "1,2 x 9,10", " 9,10", "2 of 3 pixels not taken, first 1,2: no own neighbour" },
	{ "\x01\x7f\xc3\xa9\\ 11,10", " 11,10", "1 of 2 pixels not taken, first \\x01\\x7f\\xc3\\xa9\\x5c: not a pair" },
	{ "\xa0" "11,10", NULL, "1 of 1 pixels not taken, first \\xa011,10: not a pair" },
	/* only the first ten are looked at, valid or not */
	{ "11,10 12,10 13,10 14,10 15,10 16,10 17,10 18,10 19,10 9,10 8,10", " 11,10 12,10 13,10 14,10 15,10 16,10 17,10 18,10 19,10 9,10", "1 beyond the batch of 10" },
	{ "x x x x x x x x x x 11,10 12,10", NULL, "10 of 10 pixels not taken, first x: not a pair; 2 beyond the batch of 10" },
	{ "x x x x x x x x x 11,10 12,10", " 11,10", "9 of 10 pixels not taken, first x: not a pair; 1 beyond the batch of 10" },
};
/* clang-format on */

static void takes_of_an_answer_what_is_valid(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(answers); i++) {
		struct battle battle = { 0 };
		char expected[200];

		start(&battle, lone, COUNT_OF(lone), "", 1);
		assert_string_equal(lines(&battle, 0), "pick pixels\n");
		assert_int_equal(battle.out.limit_ms[0], 77);
		(void)answer(&battle, answers[i].text);
		if (answers[i].taken == NULL)
			(void)snprintf(expected, sizeof(expected), "exit\n");
		else
			(void)snprintf(
				expected, sizeof(expected),
				"colour (0,255,0) chose%s\npick pixels\n",
				answers[i].taken);
		assert_string_equal(lines(&battle, 0), expected);
		assert_int_equal(battle.out.is_over, answers[i].taken == NULL);
		assert_int_equal(battle.out.invalid,
				 answers[i].detail[0] != '\0');
		if (battle.out.invalid)
			assert_string_equal(battle.out.detail[0],
					    answers[i].detail);
		finish(&battle);
	}
}

static void a_nul_byte_is_no_white_space(void **state)
{
	struct battle battle = { 0 };

	(void)state;
	start(&battle, lone, COUNT_OF(lone), "", 1);
	feed(&battle, 0, GAME_REPLY, "11,10\0 9,10", 11);
	assert_string_equal(lines(&battle, 0),
			    "colour (0,255,0) chose 9,10\npick pixels\n");
	assert_string_equal(battle.out.detail[0],
			    "1 of 2 pixels not taken, first 11,10\\x00: not a "
			    "pair");
	finish(&battle);
}

static void a_megabyte_of_one_pixel_counts_once(void **state)
{
	struct battle battle = { 0 };
	struct buf flood = BUF_INIT(2 << 20);

	(void)state;
	while (flood.len < 1 << 20)
		buf_add_text(&flood, "11,10 ");
	start(&battle, lone, COUNT_OF(lone), "", 1);
	(void)answer(&battle, flood.data);
	assert_string_equal(lines(&battle, 0),
			    "colour (0,255,0) chose 11,10\npick pixels\n");
	assert_string_equal(battle.out.detail[0],
			    "9 of 10 pixels not taken, first 11,10: not white; "
			    "174753 beyond the batch of 10");
	assert_dump_holds(&battle, "accepted 1\n");
	buf_release(&flood);
	finish(&battle);
}

static void the_edge_is_nobodys_neighbour(void **state)
{
	static const struct dot corners[] = { { 0, 0, 0x0000ff } };
	struct battle battle = { 0 };

	(void)state;
	battle.setup.params[0] = 400;
	battle.setup.params[1] = 9;
	start(&battle, corners, 1, "", 1);
	(void)answer(&battle, "19,0 0,19 19,19 0,1 1,0 19,1");
	assert_string_equal(lines(&battle, 0),
			    "colour (0,0,255) chose 0,1 1,0\npick pixels\n");
	finish(&battle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_of_an_answer_what_is_valid),
		cmocka_unit_test(a_nul_byte_is_no_white_space),
		cmocka_unit_test(a_megabyte_of_one_pixel_counts_once),
		cmocka_unit_test(the_edge_is_nobodys_neighbour),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
