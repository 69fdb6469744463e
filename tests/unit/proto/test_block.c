/* SPDX-License-Identifier: MIT */
#include "proto/block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/framer.h"
#include "server/base/limits.h"
#include "tests/unit/unit.h"

/*
 * Read one block and a line behind it out of the bytes of WIRE, as a client
 * does. Returns what block_begin or block_end said.
 */
static int receive(const char *wire, size_t len, size_t limit, struct buf *data)
{
	struct framer framer;
	struct frame frame;
	struct frame_input input = { wire, len };
	struct control head;
	struct block block;
	int error;

	framer_init(&framer, FRAMER_PEER, 4096, 4096, 65536);
	assert_int_equal(framer_next(&framer, &input, &frame), FRAME_CONTROL);
	assert_int_equal(control_parse(&head, frame.text, frame.len),
			 CONTROL_OK);
	error = block_begin(&block, &head, limit);
	if (error != 0) {
		framer_release(&framer);
		return error;
	}
	framer_expect_raw(&framer, block.lines_left, block.line_limit);
	while (block.lines_left > 0) {
		enum frame_kind kind = framer_next(&framer, &input, &frame);

		if (kind == FRAME_MORE)
			break;
		block_line(&block, frame.text,
			   kind == FRAME_RAW ? frame.len : 0);
	}
	error = block_end(&block);
	buf_add(data, block.data.data, block.data.len);
	block_release(&block);
	framer_release(&framer);
	return error;
}

static void gives_back_what_was_sent(void **state)
{
	char all[300];
	const struct {
		const char *data;
		size_t len;
		bool is_text;
		size_t lines;
	} cases[] = {
		{ "", 0, true, 0 },
		{ "\n", 1, true, 1 },
		{ "@quit\n@@\n\n", 10, true, 3 },
		{ "a", 1, false, 1 },
		{ "a\nb", 3, false, 1 },
		{ "a\r\n", 3, false, 1 },
		{ "a\0\n", 3, false, 1 },
		{ "\xff\xfe\n", 3, true, 1 },
		{ all, 56, false, 1 },
		{ all, 57, false, 1 },
		{ all, 58, false, 2 },
		{ all, 114, false, 2 },
		{ all, 300, false, 6 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (char)(i * 7);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct buf wire = BUF_INIT(10000);
		struct buf data = BUF_INIT(10000);

		assert_int_equal(block_is_text(cases[i].data, cases[i].len),
				 cases[i].is_text);
		assert_int_equal(block_lines(cases[i].data, cases[i].len),
				 cases[i].lines);
		assert_int_equal(block_add_file(&wire, "a.map", cases[i].data,
						cases[i].len),
				 0);
		assert_int_equal(receive(wire.data, wire.len, 300, &data), 0);
		assert_int_equal(data.len, cases[i].len);
		if (data.len > 0)
			assert_memory_equal(data.data, cases[i].data, data.len);
		buf_clear(&wire);
		buf_clear(&data);
		assert_int_equal(
			block_add_input(&wire, cases[i].data, cases[i].len), 0);
		assert_int_equal(receive(wire.data, wire.len, 300, &data), 0);
		assert_int_equal(data.len, cases[i].len);
		buf_release(&wire);
		buf_release(&data);
	}
}

static void has_the_form_that_is_documented(void **state)
{
	struct buf wire = BUF_INIT(10000);

	(void)state;
	assert_int_equal(block_add_file(&wire, "t.map", "ab\nc\n", 5), 0);
	assert_int_equal(block_add_input(&wire, "a\r\n", 3), 0);
	assert_string_equal(buf_text(&wire),
			    "@file t.map lines=2 text bytes=5\nab\nc\n"
			    "@input lines=1 base64 bytes=3\nYQ0K\n");
	assert_int_equal(block_add_file(&wire, ".x", "", 0), -EINVAL);
	assert_int_equal(
		block_add_file(&wire, "x", "", LIMIT_MAP_BYTES + (size_t)1),
		-EFBIG);
	buf_release(&wire);
}

static void the_decoder_trusts_nothing(void **state)
{
	static const struct {
		const char *wire;
		int error;
	} cases[] = {
		{ "@file a lines=1 text bytes=2\nx\n", 0 },
		{ "@file a lines=1 text bytes=100\nx\n", -EBADMSG },
		{ "@file a lines=1 text bytes=101\nx\n", -EFBIG },
		{ "@file a lines=1 text bytes=99999999999999999999\n",
		  -EINVAL },
		{ "@file a lines=1 text bytes=1\nx\n", -EBADMSG },
		{ "@file a lines=1 text bytes=3\nx\n", -EBADMSG },
		{ "@file a lines=2 text bytes=2\nx\n", -EBADMSG },
		{ "@file a lines=3 text bytes=2\n", -EINVAL },
		{ "@file a lines=0 text bytes=2\n", -EINVAL },
		{ "@file a lines=1 text bytes=0\n", -EINVAL },
		{ "@file a lines=-1 text bytes=2\n", -EINVAL },
		{ "@file a text bytes=2\n", -EINVAL },
		{ "@file a lines=1 text\n", -EINVAL },
		{ "@file a lines=1 bytes=2\n", -EINVAL },
		{ "@file a lines=1 hex bytes=2\n", -EINVAL },
		{ "@file lines=1 text bytes=2\n", -EINVAL },
		{ "@file ../a lines=1 text bytes=2\n", -EINVAL },
		{ "@file .a lines=1 text bytes=2\n", -EINVAL },
		{ "@file -a lines=1 text bytes=2\n", -EINVAL },
		{ "@file a/b lines=1 text bytes=2\n", -EINVAL },
		{ "@input lines=1 text bytes=2\nx\n", 0 },
		{ "@input lines=1 base64 bytes=1\nYQ==\n", 0 },
		{ "@input lines=1 base64 bytes=2\nYQ==\n", -EBADMSG },
		{ "@input lines=1 base64 bytes=1\nYWE=\n", -EBADMSG },
		{ "@input lines=1 base64 bytes=1\nYQ=\n", -EBADMSG },
		{ "@input lines=1 base64 bytes=1\nY===\n", -EBADMSG },
		{ "@input lines=1 base64 bytes=1\n====\n", -EBADMSG },
		{ "@input lines=1 base64 bytes=1\n\n", -EBADMSG },
		{ "@input lines=1 base64 bytes=1\nY*==\n", -EBADMSG },
		{ "@input lines=1 base64 bytes=4\nYQ==YWFh\n", -EBADMSG },
		{ "@input lines=2 base64 bytes=4\nYQ==\nYWFh\n", -EBADMSG },
		{ "@input lines=2 base64 bytes=6\nYWFh\nYWFh\n", 0 },
		{ "@input lines=1 base64 bytes=3\nYWFh\r\n", -EBADMSG },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct buf data = BUF_INIT(1000);

		assert_int_equal(receive(cases[i].wire, strlen(cases[i].wire),
					 100, &data),
				 cases[i].error);
		buf_release(&data);
	}
}

static void a_head_tells_how_much_to_skip(void **state)
{
	static const struct {
		const char *line;
		uint32_t lines;
	} cases[] = {
		{ "@future lines=17 x", 17 },
		{ "@future", 0 },
		{ "@future lines=-1", 0 },
		{ "@future lines=x", 0 },
		{ "@future lines=4294967295", 4294967295u },
		/* Not to be taken for none at all. */
		{ "@future lines=4294967296", UINT32_MAX },
		{ "@future lines=99999999999999999999", UINT32_MAX },
		{ "@future lines=-99999999999999999999", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct control head;

		assert_int_equal(control_parse(&head, cases[i].line,
					       strlen(cases[i].line)),
				 CONTROL_OK);
		assert_int_equal(block_head_lines(&head), cases[i].lines);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_back_what_was_sent),
		cmocka_unit_test(has_the_form_that_is_documented),
		cmocka_unit_test(the_decoder_trusts_nothing),
		cmocka_unit_test(a_head_tells_how_much_to_skip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
