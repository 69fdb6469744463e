/* SPDX-License-Identifier: MIT */
#include "proto/block.h"

#include <errno.h>
#include <string.h>

#include "proto/name.h"
#include "server/base/limits.h"

enum {
	BASE64_LINE = 76,  /* characters of a line, without its LF */
	BASE64_BYTES = 57, /* and the bytes that they hold */
};

static const char base64_digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool block_is_text(const char *data, size_t len)
{
	if (len == 0)
		return true;
	return data[len - 1] == '\n' && memchr(data, '\r', len) == NULL &&
	       memchr(data, '\0', len) == NULL;
}

size_t block_lines(const char *data, size_t len)
{
	size_t lines = 0;

	if (!block_is_text(data, len))
		return (len + BASE64_BYTES - 1) / BASE64_BYTES;
	for (const char *at = data; at < data + len; lines++)
		at = (const char *)memchr(at, '\n', len - (at - data)) + 1;
	return lines;
}

static void add_base64_line(struct buf *out, const unsigned char *from,
			    size_t len)
{
	char line[BASE64_LINE + 1];
	size_t size = 0;

	for (size_t i = 0; i < len; i += 3) {
		size_t left = len - i;
		uint32_t bits = (uint32_t)from[i] << 16;

		if (left > 1)
			bits |= (uint32_t)from[i + 1] << 8;
		if (left > 2)
			bits |= from[i + 2];
		line[size++] = base64_digits[bits >> 18];
		line[size++] = base64_digits[bits >> 12 & 63];
		line[size++] = left > 1 ? base64_digits[bits >> 6 & 63] : '=';
		line[size++] = left > 2 ? base64_digits[bits & 63] : '=';
	}
	line[size++] = '\n';
	buf_add(out, line, size);
}

static int add_block(struct buf *out, const char *data, size_t len)
{
	bool is_text = block_is_text(data, len);

	control_add_key_i64(out, "lines", (int64_t)block_lines(data, len));
	control_add_arg(out, is_text ? "text" : "base64");
	control_add_key_i64(out, "bytes", (int64_t)len);
	control_add_end(out);
	if (is_text) {
		buf_add(out, data, len);
	} else {
		for (size_t i = 0; i < len; i += BASE64_BYTES)
			add_base64_line(out, (const unsigned char *)data + i,
					len - i < BASE64_BYTES ? len - i
							       : BASE64_BYTES);
	}
	return out->is_failed ? -ENOMEM : 0;
}

int block_add_file(struct buf *out, const char *name, const char *data,
		   size_t len)
{
	if (!name_is_file(name, strlen(name)))
		return -EINVAL;
	if (len > LIMIT_MAP_BYTES)
		return -EFBIG;
	control_add_word(out, WORD_FILE);
	control_add_arg(out, name);
	return add_block(out, data, len);
}

int block_add_input(struct buf *out, const char *data, size_t len)
{
	if (len > LIMIT_MAP_BYTES)
		return -EFBIG;
	control_add_word(out, WORD_INPUT);
	return add_block(out, data, len);
}

int block_begin(struct block *ret, const struct control *head, size_t limit)
{
	unsigned names = head->word != NULL && word_id(head->word) == WORD_FILE;
	int64_t lines;
	int64_t bytes;
	bool is_base64;

	if (head->nargs <= names)
		return -EINVAL;
	is_base64 = slice_is(head->args[names], "base64");
	if (!is_base64 && !slice_is(head->args[names], "text"))
		return -EINVAL;
	if (control_key_i64(head, "lines", 0, UINT32_MAX, &lines) != 0 ||
	    control_key_i64(head, "bytes", 0, INT64_MAX, &bytes) != 0)
		return -EINVAL;
	if (names == 1 && !name_is_file(head->args[0].text, head->args[0].len))
		return -EINVAL;
	if (lines > bytes || (lines == 0) != (bytes == 0))
		return -EINVAL;
	if ((uint64_t)bytes > limit)
		return -EFBIG;
	memset(ret, 0, sizeof(*ret));
	buf_init(&ret->data, (size_t)bytes);
	ret->lines_left = (uint32_t)lines;
	ret->bytes = (size_t)bytes;
	ret->line_limit = is_base64 ? BASE64_LINE : (size_t)bytes;
	ret->is_base64 = is_base64;
	if (names == 1)
		return slice_copy(head->args[0], ret->name, sizeof(ret->name));
	return 0;
}

uint32_t block_head_lines(const struct control *head)
{
	int64_t lines;
	int rc = control_key_i64(head, "lines", INT64_MIN, UINT32_MAX, &lines);

	if (rc == -ERANGE && control_key(head, "lines")->text[0] != '-')
		return UINT32_MAX;
	return rc == 0 && lines > 0 ? (uint32_t)lines : 0;
}

static int base64_value(char c)
{
	const char *at = c == '\0' ? NULL : strchr(base64_digits, c);

	return at == NULL ? -1 : (int)(at - base64_digits);
}

/* Four characters; returns the bytes they hold, 0 when they hold none. */
static size_t decode_group(const char *group, char bytes[3])
{
	size_t count = 3;
	uint32_t bits = 0;

	if (group[3] == '=')
		count = group[2] == '=' ? 1 : 2;
	for (size_t i = 0; i < 4; i++) {
		int value = i <= count ? base64_value(group[i]) : 0;

		if (value < 0)
			return 0;
		bits = bits << 6 | (uint32_t)value;
	}
	bytes[0] = (char)(bits >> 16);
	bytes[1] = (char)(bits >> 8 & 255);
	bytes[2] = (char)(bits & 255);
	return count;
}

static bool decode_line(struct block *block, const char *line, size_t len)
{
	if (len == 0 || len % 4 != 0 || len > BASE64_LINE)
		return false;
	for (size_t i = 0; i < len; i += 4) {
		char bytes[3];
		size_t count = decode_group(line + i, bytes);

		if (count == 0 || block->is_padded ||
		    block->data.len + count > block->bytes)
			return false;
		block->is_padded = count < 3;
		buf_add(&block->data, bytes, count);
	}
	return true;
}

bool block_line(struct block *block, const char *line, size_t len)
{
	if (block->lines_left == 0)
		return true;
	block->lines_left--;
	if (block->is_bad)
		return block->lines_left == 0;
	if (block->is_base64) {
		block->is_bad = !decode_line(block, line, len);
	} else if (block->data.len + len + 1 > block->bytes) {
		block->is_bad = true;
	} else {
		buf_add(&block->data, line, len);
		buf_add_char(&block->data, '\n');
	}
	return block->lines_left == 0;
}

int block_end(const struct block *block)
{
	if (block->is_bad || block->lines_left > 0)
		return -EBADMSG;
	if (block->data.is_failed)
		return -ENOMEM;
	return block->data.len == block->bytes ? 0 : -EBADMSG;
}

void block_release(struct block *block)
{
	if (block == NULL)
		return;
	buf_release(&block->data);
}
