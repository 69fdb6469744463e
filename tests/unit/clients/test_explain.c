/* SPDX-License-Identifier: MIT */
/* Hints about a program: what they say, and when they say nothing. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/program/explain.h"
#include "tests/unit/unit.h"

static void names_what_is_no_command(void **state)
{
	static const struct {
		const char *text, *hint;
	} cases[] = {
		{ "", "nothing was printed" },
		{ "DLR\n", "" },
		{ " D L\r\n", "" },
		{ "\n", "no command in 1 byte" },
		{ "hello i am", "no command in 10 bytes (first: \"hello\")" },
		{ "Dx", "dropped 1 byte that is no command (first: \"x\")" },
		{ "DLxyR z\n",
		  "dropped 3 bytes that are no command (first: \"xy\")" },
		{ "OOM\n", "no command in 4 bytes (first: \"OOM\")" },
		{ "D\x1b[2J", "dropped 4 bytes that are no command (first: "
			      "\"\\x1b[2J\")" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t len = strlen(cases[i].text);
		struct program_whole whole = { 0 };
		struct buf hint = BUF_INIT(1000);

		/* However the pipe cuts it. */
		program_count_whole(&whole, cases[i].text, len / 2);
		program_count_whole(&whole, cases[i].text + len / 2,
				    len - len / 2);
		explain_dropped(&whole, &hint);
		assert_string_equal(buf_text(&hint), cases[i].hint);
		buf_release(&hint);
	}
}

static void says_why_a_reply_may_be_late(void **state)
{
	static const struct {
		bool has_written, is_whole;
		const char *line, *hint;
	} cases[] = {
		{ false, false, "",
		  "nothing was printed yet: is it still starting, or does it not flush its output?" },
		{ true, false, "", "" },
		{ true, false, "move", "4 bytes came without a line end" },
		{ true, true, "D",
		  "1 byte came, but not the end of its output: does it "
		  "exit?" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct program program;
		struct buf hint = BUF_INIT(1000);

		program_init(&program);
		program.has_written = cases[i].has_written;
		program.is_whole = cases[i].is_whole;
		buf_init(&program.line, 100);
		buf_add_text(&program.line, cases[i].line);
		program.whole.bytes = strlen(cases[i].line);
		explain_silence(&program, &hint);
		assert_string_equal(buf_text(&hint), cases[i].hint);
		buf_release(&program.line);
		buf_release(&hint);
	}
}

static void shows_the_last_lines_escaped(void **state)
{
	static const char text[] = "1\n2\n3\n4\x1b\n5\n6\n\n";
	struct program program;
	struct buf shown = BUF_INIT(1000);

	(void)state;
	program_init(&program);
	explain_errors(&program, &shown);
	assert_int_equal(shown.len, 0);
	memcpy(program.tail, text, sizeof(text) - 1);
	program.tail_len = sizeof(text) - 1;
	explain_errors(&program, &shown);
	assert_string_equal(buf_text(&shown), "2\n3\n4\\x1b\n5\n6\n");
	buf_release(&shown);
}

static void finds_what_execvp_finds(void **state)
{
	(void)state;
	assert_int_equal(setenv("PATH", "/none:/bin:/usr/bin", 1), 0);
	assert_int_equal(explain_find("sh"), 0);
	assert_int_equal(explain_find("/bin/sh"), 0);
	assert_int_equal(explain_find("hill-none-such"), -ENOENT);
	assert_int_equal(explain_find(""), -ENOENT);
	assert_int_equal(explain_find("./none"), -ENOENT);
	assert_int_equal(explain_find("/etc/passwd"), -EACCES);
	assert_int_equal(explain_find("/tmp"), -EACCES);
	assert_int_equal(unsetenv("PATH"), 0);
	assert_int_equal(explain_find("sh"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_what_is_no_command),
		cmocka_unit_test(says_why_a_reply_may_be_late),
		cmocka_unit_test(shows_the_last_lines_escaped),
		cmocka_unit_test(finds_what_execvp_finds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
