/* SPDX-License-Identifier: MIT */
#include "server/base/buffer.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIRST_BYTES = 64, DIGITS_MAX = 20 };

void buf_init(struct buf *buf, size_t limit)
{
	*buf = (struct buf)BUF_INIT(limit);
}

void buf_release(struct buf *buf)
{
	if (buf == NULL)
		return;
	free(buf->data);
	buf_init(buf, buf->limit);
}

char *buf_detach(struct buf *buf)
{
	char *data = buf->data != NULL ? buf->data : xcalloc(1, 1);

	buf->data = NULL;
	buf_release(buf);
	return data;
}

char *buf_reserve(struct buf *buf, size_t more)
{
	size_t need;
	size_t cap = buf->cap == 0 ? FIRST_BYTES : buf->cap;
	char *grown;

	if (buf->is_failed)
		return NULL;
	if (__builtin_add_overflow(buf->len, more, &need) ||
	    need > buf->limit || need > SIZE_MAX / 4) {
		buf->is_failed = true;
		return NULL;
	}
	if (need >= buf->cap) {
		while (cap <= need)
			cap *= 2;
		grown = realloc(buf->data, cap);
		if (grown == NULL) {
			buf->is_failed = true;
			return NULL;
		}
		buf->data = grown;
		buf->cap = cap;
		buf->data[buf->len] = '\0';
	}
	return buf->data + buf->len;
}

void buf_add_vformat(struct buf *buf, const char *format, va_list args)
{
	va_list again;
	int count;

	va_copy(again, args);
	count = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (count < 0 || buf_reserve(buf, (size_t)count) == NULL) {
		buf->is_failed = true;
		return;
	}
	/* buf_reserve keeps one byte more than asked, for the NUL. */
	(void)vsnprintf(buf->data + buf->len, (size_t)count + 1, format, args);
	buf->len += (size_t)count;
}

void buf_add_format(struct buf *buf, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	buf_add_vformat(buf, format, args);
	va_end(args);
}

void buf_add_u64(struct buf *buf, uint64_t value)
{
	char digits[DIGITS_MAX];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	buf_add(buf, digits + at, sizeof(digits) - at);
}

void buf_add_i64(struct buf *buf, int64_t value)
{
	uint64_t size = (uint64_t)value;

	if (value < 0) {
		buf_add_char(buf, '-');
		size = 0 - size;
	}
	buf_add_u64(buf, size);
}

void buf_drop_front(struct buf *buf, size_t count)
{
	if (count > buf->len)
		count = buf->len;
	if (count == 0)
		return;
	memmove(buf->data, buf->data + count, buf->len - count + 1);
	buf->len -= count;
}
