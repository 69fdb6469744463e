/* SPDX-License-Identifier: MIT */
/*
 * fuzz_block.c - what a server may send a client: `@file` and `@input` with
 * their raw lines, and other control lines. Then the bytes themselves travel
 * as a block, and must come out as they went in.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/block.h"
#include "proto/control.h"
#include "proto/framer.h"
#include "tests/fuzz/fuzz.h"

enum {
	BLOCK_BYTES_MAX = 1 << 20,
	WIRE_BYTES_MAX = 1 << 22,
	LINE_MAX_BYTES = 65536,
	CONTROL_MAX_BYTES = 4096,
};

static void check(bool is_so)
{
	if (!is_so)
		abort();
}

/* A client: takes blocks in, counts the whole ones; keeps the last. */
static unsigned receive(const char *data, size_t len, size_t packet,
			struct buf *last)
{
	struct framer framer;
	struct block block = { .lines_left = 0 };
	bool is_open = false;
	unsigned count = 0;

	framer_init(&framer, FRAMER_PEER, LINE_MAX_BYTES, CONTROL_MAX_BYTES,
		    WIRE_BYTES_MAX);
	while (len > 0) {
		size_t size = len < packet ? len : packet;
		struct frame_input input = { data, size };
		struct frame frame;
		enum frame_kind kind;

		while ((kind = framer_next(&framer, &input, &frame)) !=
		       FRAME_MORE) {
			struct control control;
			bool is_whole = false;

			if (kind == FRAME_FLOOD || kind == FRAME_NO_MEMORY)
				break;
			if (kind == FRAME_RAW && is_open)
				is_whole = block_line(&block, frame.text,
						      frame.len);
			else if (kind == FRAME_LONG && frame.is_raw && is_open)
				is_whole = block_line(&block, "", 0);
			if (kind == FRAME_CONTROL &&
			    control_parse(&control, frame.text, frame.len) ==
				    CONTROL_OK) {
				if (control.word != NULL)
					(void)control_check(&control);
				if (block_begin(&block, &control,
						BLOCK_BYTES_MAX) == 0) {
					is_open = true;
					is_whole = block.lines_left == 0;
					framer_expect_raw(&framer,
							  block.lines_left,
							  block.line_limit);
				} else {
					framer_expect_raw(
						&framer,
						block_head_lines(&control),
						LINE_MAX_BYTES);
				}
			}
			if (!is_whole)
				continue;
			check(block.data.len <= BLOCK_BYTES_MAX);
			if (block_end(&block) == 0) {
				check(block.data.len == block.bytes);
				count++;
				buf_clear(last);
				buf_add(last, buf_text(&block.data),
					block.data.len);
			}
			block_release(&block);
			is_open = false;
		}
		data += size;
		len -= size;
	}
	if (is_open)
		block_release(&block);
	framer_release(&framer);
	return count;
}

static void travel(const char *data, size_t len)
{
	struct buf wire = BUF_INIT(WIRE_BYTES_MAX);
	struct buf came = BUF_INIT(BLOCK_BYTES_MAX);

	check(block_add_file(&wire, "a.map", data, len) == 0);
	check(receive(wire.data, wire.len, 1000, &came) == 1);
	check(came.len == len && memcmp(buf_text(&came), data, len) == 0);
	buf_clear(&wire);
	buf_clear(&came);
	check(block_add_input(&wire, data, len) == 0);
	check(receive(wire.data, wire.len, SIZE_MAX, &came) == 1);
	check(came.len == len && memcmp(buf_text(&came), data, len) == 0);
	buf_release(&wire);
	buf_release(&came);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct buf whole = BUF_INIT(BLOCK_BYTES_MAX);
	struct buf cut = BUF_INIT(BLOCK_BYTES_MAX);

	if (size == 0 || size > BLOCK_BYTES_MAX)
		return 0;
	check(receive(text, size, SIZE_MAX, &whole) ==
	      receive(text, size, 1 + data[0] % 16, &cut));
	check(whole.len == cut.len &&
	      memcmp(buf_text(&whole), buf_text(&cut), cut.len) == 0);
	travel(text, size);
	buf_release(&whole);
	buf_release(&cut);
	return 0;
}
