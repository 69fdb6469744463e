/* SPDX-License-Identifier: MIT */
#include "proto/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

/* "word|arg|arg|key=value|:text" */
static void describe(const struct control *control, struct buf *out)
{
	buf_add(out, control->name.text, control->name.len);
	for (unsigned i = 0; i < control->nargs; i++) {
		buf_add_char(out, '|');
		buf_add(out, control->args[i].text, control->args[i].len);
	}
	for (unsigned i = 0; i < control->nkeys; i++) {
		buf_add_char(out, '|');
		buf_add(out, control->keys[i].name.text,
			control->keys[i].name.len);
		buf_add_char(out, '=');
		buf_add(out, control->keys[i].value.text,
			control->keys[i].value.len);
	}
	if (control->has_text) {
		buf_add_text(out, "|:");
		buf_add(out, control->text.text, control->text.len);
	}
}

static void takes_lines_apart(void **state)
{
	static const struct {
		const char *line;
		const char *expected;
	} cases[] = {
		{ "@help", "help" },
		{ "@help ", "help" },
		{ "@login crazy t0 proto=1 client=x/1",
		  "login|crazy|t0|proto=1|client=x/1" },
		{ "@login\tcrazy  \t t0 ", "login|crazy|t0" },
		{ "@fault late 2/5 turn=17 : took 740 ms",
		  "fault|late|2/5|turn=17|:took 740 ms" },
		{ "@fault turn=17 late", "fault|late|turn=17" },
		{ "@x a=", "x|a=" },
		{ "@x =a a=b=c A=1 1a=2 a-b=3 a1=4",
		  "x|=a|A=1|1a=2|a=b=c|a-b=3|a1=4" },
		{ "@x :", "x|:" },
		{ "@x : ", "x|:" },
		{ "@x :  two  blanks ", "x|: two  blanks " },
		{ "@x a : b : c", "x|a|:b : c" },
		{ "@x a: :b :", "x|a:|:b|:" },
		{ "@args test.map 322 a=b : c", "args" },
		{ "@Help", "Help" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct control control;
		struct buf log = BUF_INIT(1000);

		assert_int_equal(control_parse(&control, cases[i].line,
					       strlen(cases[i].line)),
				 CONTROL_OK);
		describe(&control, &log);
		assert_string_equal(buf_text(&log), cases[i].expected);
		buf_release(&log);
	}
}

static void keeps_a_verbatim_rest(void **state)
{
	static const char line[] = "@args test.map  322 a=b : c";
	struct control control;

	(void)state;
	assert_int_equal(control_parse(&control, line, strlen(line)),
			 CONTROL_OK);
	assert_int_equal(word_id(control.word), WORD_ARGS);
	assert_true(slice_is(control.rest, "test.map  322 a=b : c"));
	assert_int_equal(control_parse(&control, "@args", 5), CONTROL_OK);
	assert_int_equal(control.rest.len, 0);
}

static void refuses_what_is_no_control_line(void **state)
{
	struct buf line = BUF_INIT(10000);
	struct control control;

	(void)state;
	assert_int_equal(control_parse(&control, "@", 1), CONTROL_NO_WORD);
	assert_int_equal(control_parse(&control, "@ help", 6), CONTROL_NO_WORD);
	assert_int_equal(control_parse(&control, "@x a=1 b=2 a=1", 14),
			 CONTROL_TWICE);
	for (unsigned count = CONTROL_ARGS_MAX - 1;
	     count <= CONTROL_ARGS_MAX + 1; count++) {
		buf_clear(&line);
		buf_add_text(&line, "@x");
		for (unsigned i = 0; i < count; i++)
			buf_add_text(&line, " a");
		assert_int_equal(control_parse(&control, line.data, line.len),
				 count <= CONTROL_ARGS_MAX ? CONTROL_OK
							   : CONTROL_TOO_MANY);
	}
	for (unsigned count = CONTROL_KEYS_MAX - 1;
	     count <= CONTROL_KEYS_MAX + 1; count++) {
		buf_clear(&line);
		buf_add_text(&line, "@x");
		for (unsigned i = 0; i < count; i++)
			buf_add_format(&line, " k%u=", i);
		assert_int_equal(control_parse(&control, line.data, line.len),
				 count <= CONTROL_KEYS_MAX ? CONTROL_OK
							   : CONTROL_TOO_MANY);
	}
	buf_release(&line);
}

static void counts_arguments_by_the_table(void **state)
{
	static const struct {
		const char *line;
		const char *expected;
	} cases[] = {
		{ "@login a", "an argument is missing" },
		{ "@login a b", NULL },
		{ "@login a b c", "too many arguments" },
		{ "@leave", NULL },
		{ "@leave a", NULL },
		{ "@leave a b", "too many arguments" },
		{ "@ready", "an argument is missing" },
		{ "@help", NULL },
		{ "@help me", "too many arguments" },
		{ "@help unknown=key : and text", NULL },
		{ "@args a b c d e f", NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct control control;
		const char *verdict;

		assert_int_equal(control_parse(&control, cases[i].line,
					       strlen(cases[i].line)),
				 CONTROL_OK);
		verdict = control_check(&control);
		if (cases[i].expected == NULL)
			assert_null(verdict);
		else
			assert_string_equal(verdict, cases[i].expected);
	}
}

static void checks_the_range_of_integers(void **state)
{
	static const struct {
		const char *text;
		int64_t min, max;
		int error;
		int64_t value;
	} cases[] = {
		{ "0", 0, 9, 0, 0 },
		{ "9", 0, 9, 0, 9 },
		{ "10", 0, 9, -ERANGE, 0 },
		{ "-1", 0, 9, -ERANGE, 0 },
		{ "-1", -1, 9, 0, -1 },
		{ "007", 0, 9, -EINVAL, 0 },
		{ "00", 0, 9, -EINVAL, 0 },
		{ "-0", -9, 9, -EINVAL, 0 },
		{ "-01", -9, 9, -EINVAL, 0 },
		{ "", 0, 9, -EINVAL, 0 },
		{ "-", 0, 9, -EINVAL, 0 },
		{ "+1", 0, 9, -EINVAL, 0 },
		{ "1.0", 0, 9, -EINVAL, 0 },
		{ "0x1", 0, 9, -EINVAL, 0 },
		{ "1 ", 0, 9, -EINVAL, 0 },
		{ "9223372036854775807", INT64_MIN, INT64_MAX, 0, INT64_MAX },
		{ "9223372036854775808", INT64_MIN, INT64_MAX, -ERANGE, 0 },
		{ "-9223372036854775808", INT64_MIN, INT64_MAX, 0, INT64_MIN },
		{ "-9223372036854775809", INT64_MIN, INT64_MAX, -ERANGE, 0 },
		{ "99999999999999999999999999", INT64_MIN, INT64_MAX, -ERANGE,
		  0 },
		{ "99999999999999999999999999x", INT64_MIN, INT64_MAX, -EINVAL,
		  0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct slice slice = { cases[i].text, strlen(cases[i].text) };
		int64_t value = 4711;

		assert_int_equal(
			slice_i64(slice, cases[i].min, cases[i].max, &value),
			cases[i].error);
		assert_int_equal(value,
				 cases[i].error != 0 ? 4711 : cases[i].value);
	}
}

static void finds_keys_and_arguments(void **state)
{
	static const char line[] = "@ready 4711 quiet turn=17 x=y";
	struct control control;
	int64_t value = 0;
	char copy[6];

	(void)state;
	assert_int_equal(control_parse(&control, line, strlen(line)),
			 CONTROL_OK);
	assert_int_equal(control_arg_i64(&control, 0, 1, 9999, &value), 0);
	assert_int_equal(value, 4711);
	assert_int_equal(control_arg_i64(&control, 1, 1, 9, &value), -EINVAL);
	assert_int_equal(control_arg_i64(&control, 2, 1, 9, &value), -ENOENT);
	assert_int_equal(control_key_i64(&control, "turn", 1, 99, &value), 0);
	assert_int_equal(value, 17);
	assert_int_equal(control_key_i64(&control, "x", 1, 99, &value),
			 -EINVAL);
	assert_int_equal(control_key_i64(&control, "tur", 1, 99, &value),
			 -ENOENT);
	assert_int_equal(slice_copy(control.args[1], copy, 6), 0);
	assert_string_equal(copy, "quiet");
	assert_int_equal(slice_copy(control.args[1], copy, 5), -ENAMETOOLONG);
	assert_string_equal(copy, "");
	assert_int_equal(slice_copy((struct slice){ "a\0b", 3 }, copy, 6),
			 -EINVAL);
}

/* Whatever is written, one line comes out that parses to the same words. */
static void writes_what_parses_back(void **state)
{
	static const struct {
		const char *arg, *value, *text;
		const char *line;
	} cases[] = {
		{ "a", "1", "fine", "@fault a k=1 : fine\n" },
		{ "", "", "", "@fault - k=\n" },
		{ ":", ":", ":", "@fault _ k=: : :\n" },
		{ "a=b", "c=d", "e=f", "@fault a_b k=c=d : e=f\n" },
		{ "a b", "c d", "e  f", "@fault a_b k=c_d : e  f\n" },
		{ "a\nb", "c\r\nd", "e\n@end", "@fault a_b k=c__d : e?@end\n" },
		{ "a\tb", "\x7f", "\x1b[1m", "@fault a_b k=_ : ?[1m\n" },
		{ "\xff", "\xc3", "\xc3\xa9\xc3",
		  "@fault _ k=_ : \xc3\xa9?\n" },
		{ "\xc2\x9b", "\xc2\x9b", "\xc2\x9b\xc2\xa0",
		  "@fault _ k=_ : ?\xc2\xa0\n" },
		{ "x=\n", "v", " ", "@fault x__ k=v :  \n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct buf out = BUF_INIT(1000);
		struct buf again = BUF_INIT(1000);
		struct control control;

		control_add_word(&out, WORD_FAULT);
		control_add_arg(&out, cases[i].arg);
		control_add_key(&out, "k", cases[i].value);
		control_add_text(&out, cases[i].text);
		control_add_end(&out);
		assert_string_equal(buf_text(&out), cases[i].line);
		assert_int_equal(control_parse(&control, out.data, out.len - 1),
				 CONTROL_OK);
		assert_int_equal(control.nargs, 1);
		assert_int_equal(control.nkeys, 1);
		assert_int_equal(control.has_text, cases[i].text[0] != '\0');
		control_add_word(&again, word_id(control.word));
		control_add_arg_slice(&again, control.args[0]);
		buf_add_text(&again, " k=");
		buf_add(&again, control.keys[0].value.text,
			control.keys[0].value.len);
		if (control.has_text) {
			buf_add_text(&again, " : ");
			buf_add(&again, control.text.text, control.text.len);
		}
		control_add_end(&again);
		assert_string_equal(buf_text(&again), buf_text(&out));
		buf_release(&out);
		buf_release(&again);
	}
}

static void cuts_free_text_between_characters(void **state)
{
	struct buf text = BUF_INIT(10000);
	struct buf out = BUF_INIT(10000);

	(void)state;
	for (unsigned i = 0; i < 333; i++)
		buf_add_text(&text, "\xe2\x82\xac");
	buf_add_text(&text, "\xe2\x82\xac");
	control_add_text(&out, text.data);
	assert_int_equal(out.len, 3 + 999);
	buf_clear(&out);
	buf_clear(&text);
	for (unsigned i = 0; i < 1001; i++)
		buf_add_char(&text, 'a');
	control_add_text(&out, text.data);
	assert_int_equal(out.len, 3 + 1000);
	buf_release(&text);
	buf_release(&out);
}

static void writes_errors(void **state)
{
	struct buf out = BUF_INIT(1000);

	(void)state;
	control_add_error(&out, ERROR_BOT_BUSY, 7, "all in a match");
	control_add_error(&out, ERROR_NOT_NOW, 0, "");
	assert_string_equal(buf_text(&out),
			    "@error bot-busy retry-after=7 : all in a match\n"
			    "@error not-now\n");
	buf_release(&out);
}

static void escapes_what_a_peer_said(void **state)
{
	static const struct {
		const char *text;
		size_t len, limit;
		const char *expected;
	} cases[] = {
		{ "plain", 5, 100, "plain" },
		{ "a\n\0b", 4, 100, "a\\x0a\\x00b" },
		{ "\\x", 2, 100, "\\\\x" },
		{ "\xff\xc3\xa9\xc2\x9b", 5, 100, "\\xff\xc3\xa9\\xc2\\x9b" },
		{ "12345", 5, 5, "12345" },
		{ "123456", 6, 5, "12345..." },
		{ "1234\xc3\xa9", 6, 5, "1234..." },
		{ "1234\n", 5, 7, "1234..." },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct buf out = BUF_INIT(1000);

		text_add_escaped(&out, cases[i].text, cases[i].len,
				 cases[i].limit);
		assert_string_equal(buf_text(&out), cases[i].expected);
		buf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_lines_apart),
		cmocka_unit_test(keeps_a_verbatim_rest),
		cmocka_unit_test(refuses_what_is_no_control_line),
		cmocka_unit_test(counts_arguments_by_the_table),
		cmocka_unit_test(checks_the_range_of_integers),
		cmocka_unit_test(finds_keys_and_arguments),
		cmocka_unit_test(writes_what_parses_back),
		cmocka_unit_test(cuts_free_text_between_characters),
		cmocka_unit_test(writes_errors),
		cmocka_unit_test(escapes_what_a_peer_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
