/* SPDX-License-Identifier: MIT */
#include "server/base/buffer.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/unit.h"

static void appends_and_terminates(void **state)
{
	struct buf buf = BUF_INIT(1000);

	(void)state;
	assert_string_equal(buf_text(&buf), "");
	buf_add_text(&buf, "turn");
	buf_add_char(&buf, ' ');
	buf_add_format(&buf, "%d/%s", 7, "x");
	assert_string_equal(buf_text(&buf), "turn 7/x");
	assert_int_equal(buf.len, 8);
	buf_drop_front(&buf, 5);
	assert_string_equal(buf_text(&buf), "7/x");
	buf_drop_front(&buf, 99);
	assert_int_equal(buf.len, 0);
	buf_release(&buf);
}

static void keeps_its_limit_and_the_failure(void **state)
{
	struct buf buf = BUF_INIT(100);
	char block[101];

	(void)state;
	memset(block, 'a', sizeof(block));
	buf_add(&buf, block, 100);
	assert_false(buf.is_failed);
	buf_add_char(&buf, 'b');
	assert_true(buf.is_failed);
	assert_int_equal(buf.len, 100);
	buf_clear(&buf);
	buf_add(&buf, block, 101);
	assert_true(buf.is_failed);
	buf_add_char(&buf, 'b');
	assert_int_equal(buf.len, 0);
	buf_clear(&buf);
	buf_add_char(&buf, 'b');
	assert_false(buf.is_failed);
	buf_release(&buf);
}

static void formats_integers_as_printf_does(void **state)
{
	static const int64_t values[] = { 0,         1,         -1,
					  9,         10,        -10,
					  INT64_MAX, INT64_MIN, 1234567890123 };
	char expected[32];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(values); i++) {
		struct buf buf = BUF_INIT(100);

		(void)snprintf(expected, sizeof(expected), "%" PRId64,
			       values[i]);
		buf_add_i64(&buf, values[i]);
		assert_string_equal(buf_text(&buf), expected);
		buf_release(&buf);
	}
}

static void detaches_the_bytes(void **state)
{
	struct buf buf = BUF_INIT(100);
	char *text;

	(void)state;
	text = buf_detach(&buf);
	assert_string_equal(text, "");
	free(text);
	buf_add_text(&buf, "kept");
	text = buf_detach(&buf);
	assert_string_equal(text, "kept");
	assert_int_equal(buf.len, 0);
	free(text);
	buf_release(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(appends_and_terminates),
		cmocka_unit_test(keeps_its_limit_and_the_failure),
		cmocka_unit_test(formats_integers_as_printf_does),
		cmocka_unit_test(detaches_the_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
