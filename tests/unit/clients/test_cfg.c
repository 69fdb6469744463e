/* SPDX-License-Identifier: MIT */
#include "clients/run/cfg.h"

#include <errno.h>
#include <string.h>

#include "clients/run/literals.h"
#include "tests/unit/unit.h"

/* All that a configuration needs, but for what a test is about. */
#define IMAGE "imagename = 'a.png'\n"
#define COLOURS "colourspec = (0,255,0), (255,0,0)\n"
#define BOTS "botspec = [('b.py', 'python'), ('c', None)]\n"

static struct cfg cfg;
static struct game_error error;

static int read_text(const char *text)
{
	error.text[0] = '\0';
	return cfg_read(&cfg, text, strlen(text), &error);
}

static void reads_the_judges_example(void **state)
{
	(void)state;
	assert_int_equal(read_text("BATTLE = 'Green Blob vs Red Blob'\n"
				   "MAXTURNS = 2000\n"
				   "PIXELBATCH = 30\n"
				   "INITTIME = 2.5\n"
				   "TIMELIMIT = 0.25\n"
				   "FAULTLIMIT = 7\n"
				   "\n"
				   "imagename = 'arena1.png'\n"
				   "\n"
				   "colourspec = (0,255,0), (255,0,1)\n"
				   "\n"
				   "botspec = [\n"
				   "    ('bots/blob.py', 'python'),\n"
				   "    ('Swallower.class', 'java'),\n"
				   "    ]\n"),
			 0);
	assert_string_equal(cfg.battle, "Green Blob vs Red Blob");
	assert_string_equal(cfg.image, "arena1.png");
	assert_int_equal(cfg.turns_max, 2000);
	assert_int_equal(cfg.batch, 30);
	assert_int_equal(cfg.init_ms, 2500);
	assert_int_equal(cfg.turn_ms, 250);
	assert_int_equal(cfg.fault_limit, 7);
	assert_int_equal(cfg.nbots, 2);
	assert_int_equal(cfg.colours[1][0], 255);
	assert_int_equal(cfg.colours[1][2], 1);
	assert_string_equal(cfg.bots[0].name, "bots/blob.py");
	assert_string_equal(cfg.bots[0].files.words[0], "bots/blob.py");
	assert_int_equal(cfg.bots[0].command.count, 2);
	assert_string_equal(cfg.bots[0].command.words[0], "python");
	assert_string_equal(cfg.bots[0].command.words[1], "blob.py");
	assert_string_equal(cfg.bots[1].command.words[1], "Swallower");
	cfg_release(&cfg);
}

static void reads_files_and_command_of_the_later_judge(void **state)
{
	(void)state;
	assert_int_equal(read_text(IMAGE
				   "colourspec = ((1,2,3),)\n"
				   "botspec = [(['A.class', 'A$1.class'],\n"
				   "            ['java', '-Xmx99m', 'A'])]\n"),
			 0);
	assert_string_equal(cfg.bots[0].name, "A.class");
	assert_int_equal(cfg.bots[0].files.count, 2);
	assert_string_equal(cfg.bots[0].files.words[1], "A$1.class");
	assert_int_equal(cfg.bots[0].command.count, 3);
	assert_string_equal(cfg.bots[0].command.words[1], "-Xmx99m");
	cfg_release(&cfg);
}

static void takes_the_judges_figures_for_what_is_missing(void **state)
{
	(void)state;
	assert_int_equal(read_text(IMAGE COLOURS BOTS), 0);
	assert_int_equal(cfg.turns_max, 20000);
	assert_int_equal(cfg.batch, 10);
	assert_int_equal(cfg.init_ms, 2000);
	assert_int_equal(cfg.turn_ms, 100);
	assert_string_equal(cfg.bots[1].command.words[0], "c");
	assert_int_equal(cfg.bots[1].command.count, 1);
	cfg_release(&cfg);
}

struct refusal {
	const char *text, *says;
};

static void names_the_line_that_it_cannot_read(void **state)
{
	static const struct refusal refusals[] = {
		{ "import os\n", "line 1: cannot read 'import os'" },
		{ "A = 1\n\nB = os.getcwd()\n", "line 3: cannot read 'os.get" },
		{ "A = 1 + 1\n", "line 1: cannot read '+ 1'" },
		{ "A = 'x' * 2\n", "line 1: cannot read '* 2'" },
		{ "A = f(1)\n", "line 1: cannot read 'f(1)'" },
		{ "A = {1: 2}\n", "line 1: cannot read '{1: 2}'" },
		{ "A = [1,\n\n 2\n", "line 1: the bracket is never closed" },
		{ "A = [1,\n\n 2 3]\n", "line 3: cannot read '3]'" },
		{ "A = 'abc\nB = 1\n", "line 1: the string has no end" },
		{ "A = '''abc\nB = 1\n", "line 1: the string has no end" },
		{ "A =\nB = 1\n", "line 1: a value is missing" },
		{ "A =  # none\n", "line 1: a value is missing" },
		{ "A = 1\n  B = 2\n", "line 2: cannot read 'B = 2'" },
		{ "A == 1\n", "line 1: cannot read 'A == 1'" },
		{ "A = B = 1\n", "line 1: cannot read 'B = 1'" },
		{ "A = 010\n", "line 1: cannot read '010'" },
		{ "A = 1e999\n", "line 1: cannot read '1e999'" },
		{ "A = 99999999999999999999\n", "line 1: cannot read '9999" },
		{ "A = 1,,2\n", "line 1: cannot read ',2'" },
		{ "A = (1]\n", "line 1: cannot read ']'" },
		{ "A = '\\0'\n", "line 1: the string is too long, or has NUL" },
		{ "A = '\xff'\n", "line 1: the string is no UTF-8" },
		{ "A = Truer\n", "line 1: cannot read 'Truer'" },
		{ "A = 1\n%\n", "line 2: cannot read '%'" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(refusals); i++) {
		assert_int_equal(read_text(refusals[i].text), -EINVAL);
		if (strncmp(error.text, refusals[i].says,
			    strlen(refusals[i].says)) != 0)
			fail_msg("%s: says '%s'", refusals[i].text, error.text);
	}
}

static void says_what_is_wrong_with_a_value(void **state)
{
	static const struct refusal refusals[] = {
		{ COLOURS BOTS, "imagename is missing" },
		{ IMAGE BOTS, "colourspec is missing" },
		{ IMAGE COLOURS, "botspec is missing" },
		{ IMAGE COLOURS "botspec = []\n",
		  "line 3: botspec is no list" },
		{ IMAGE COLOURS BOTS "MAXTURNS = 'x'\n",
		  "line 4: MAXTURNS is no whole number from 1 to" },
		{ IMAGE COLOURS BOTS "MAXTURNS = 1.5\n",
		  "line 4: MAXTURNS is no whole number" },
		{ IMAGE COLOURS BOTS "PIXELBATCH = 0\n",
		  "line 4: PIXELBATCH is no whole number from 1 to" },
		{ IMAGE COLOURS BOTS "TIMELIMIT = -1\n",
		  "line 4: TIMELIMIT is no time in seconds" },
		{ IMAGE COLOURS BOTS "INITTIME = None\n",
		  "line 4: INITTIME is no time in seconds" },
		{ "imagename = 3\n" COLOURS BOTS, "line 1: imagename is no" },
		{ IMAGE "colourspec = (0,255,0),\n" BOTS,
		  "line 2: colourspec has fewer colours than bots" },
		{ IMAGE "colourspec = (0,255,0), (256,0,0)\n" BOTS,
		  "line 2: colourspec number 2 is no (R, G, B)" },
		{ IMAGE "colourspec = (0,255), (255,0,0)\n" BOTS,
		  "line 2: colourspec number 1 is no (R, G, B)" },
		{ IMAGE COLOURS "botspec = [('a', 'b'), ('a', 'b', 'c')]\n",
		  "line 3: botspec number 2 is neither" },
		{ IMAGE COLOURS "botspec = [('a', []), 'b']\n",
		  "line 3: botspec number 1 is neither" },
		{ IMAGE COLOURS "botspec = [([], ['x'])]\n",
		  "line 3: botspec number 1 is neither" },
		{ IMAGE COLOURS "botspec = [('a', 7)]\n",
		  "line 3: botspec number 1 is neither" },
		{ IMAGE COLOURS "botspec = ('a', None),('a', None),"
				"('a', None),('a', None),('a', None),"
				"('a', None),('a', None),('a', None),"
				"('a', None)\n",
		  "line 3: botspec has more than 8 bots" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(refusals); i++) {
		assert_int_equal(read_text(refusals[i].text), -EINVAL);
		if (strncmp(error.text, refusals[i].says,
			    strlen(refusals[i].says)) != 0)
			fail_msg("%s: says '%s'", refusals[i].text, error.text);
	}
}

/* TEXT as a value, printed by jansson. */
static void check_value(const char *text, const char *expected)
{
	struct literals literals;
	char line[300];
	char *printed;

	(void)snprintf(line, sizeof(line), "A = %s", text);
	if (literals_read(&literals, line, strlen(line), &error) < 0)
		fail_msg("%s: %s", text, error.text);
	printed = json_dumps(json_object_get(literals.values, "A"),
			     JSON_COMPACT | JSON_ENCODE_ANY);
	assert_string_equal(printed, expected);
	free(printed);
	literals_release(&literals);
}

static void reads_literals_as_python_does(void **state)
{
	static const struct refusal values[] = {
		{ "1", "1" },
		{ "-12 # twelve", "-12" },
		{ "+3", "3" },
		{ "0", "0" },
		{ "2.", "2.0" },
		{ ".5", "0.5" },
		{ "-1.5e3", "-1500.0" },
		{ "True", "true" },
		{ "False", "false" },
		{ "None", "null" },
		{ "'it''s'", "\"its\"" },
		{ "'a' \"b\" 'c'", "\"abc\"" },
		{ "\"it's\"", "\"it's\"" },
		{ "'a\\'b\\\\c\\n'", "\"a'b\\\\c\\n\"" },
		{ "r'a\\nb'", "\"a\\\\nb\"" },
		{ "u'\\x41\\101\\xe9'", "\"AA\xc3\xa9\"" },
		{ "'\\d'", "\"\\\\d\"" },
		{ "'''a'b\nc'''", "\"a'b\\nc\"" },
		{ "''", "\"\"" },
		{ "()", "[]" },
		{ "(1)", "1" },
		{ "(1,)", "[1]" },
		{ "1,", "[1]" },
		{ "1, 2", "[1,2]" },
		{ "[]", "[]" },
		{ "[1]", "[1]" },
		{ "[1,(2,[3,]),]", "[1,[2,[3]]]" },
		{ "[ # first\n 1,\r\n\n 2 # last\n]", "[1,2]" },
		{ "1, \\\n 2", "[1,2]" },
		{ "('a'\n 'b')", "\"ab\"" },
		{ "1; B = 2", "1" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(values); i++)
		check_value(values[i].text, values[i].says);
}

static void counts_lines_and_takes_the_last_of_a_name(void **state)
{
	static const char text[] = "\xef\xbb\xbf# -*- coding: utf-8 -*-\r\n"
				   "A = [1,\r\n"
				   "  2]\r\n"
				   "B = '''x\n"
				   "y'''\n"
				   "C = 1\n"
				   "C = 2";
	struct literals literals;

	(void)state;
	assert_int_equal(
		literals_read(&literals, text, sizeof(text) - 1, &error), 0);
	assert_int_equal(
		json_integer_value(json_object_get(literals.lines, "A")), 2);
	assert_int_equal(
		json_integer_value(json_object_get(literals.lines, "B")), 4);
	assert_int_equal(
		json_integer_value(json_object_get(literals.lines, "C")), 7);
	assert_int_equal(
		json_integer_value(json_object_get(literals.values, "C")), 2);
	literals_release(&literals);
}

/* No prefix of a file may crash the reader or hang it. */
static void survives_every_cut(void **state)
{
	static const char text[] = IMAGE COLOURS
		"botspec = [(['a', \"b\"], ['''c''', r'd\\x41']), # e\n"
		" ('f', None)]\nMAXTURNS = -1.5e3, \\\n True\n";

	(void)state;
	for (size_t len = 0; len < sizeof(text); len++) {
		struct literals literals;

		if (literals_read(&literals, text, len, &error) == 0)
			literals_release(&literals);
	}
}

static void refuses_bottomless_brackets(void **state)
{
	char text[500] = "A = ";

	(void)state;
	memset(text + 4, '[', sizeof(text) - 5);
	assert_int_equal(read_text(text), -EINVAL);
	assert_string_equal(error.text, "line 1: too many brackets");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_judges_example),
		cmocka_unit_test(reads_files_and_command_of_the_later_judge),
		cmocka_unit_test(takes_the_judges_figures_for_what_is_missing),
		cmocka_unit_test(names_the_line_that_it_cannot_read),
		cmocka_unit_test(says_what_is_wrong_with_a_value),
		cmocka_unit_test(reads_literals_as_python_does),
		cmocka_unit_test(counts_lines_and_takes_the_last_of_a_name),
		cmocka_unit_test(survives_every_cut),
		cmocka_unit_test(refuses_bottomless_brackets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
