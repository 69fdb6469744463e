/* SPDX-License-Identifier: MIT */
/*
 * buffer.h - a growing run of bytes with a limit from birth.
 *
 *	struct buf out = BUF_INIT(LIMIT_OUTPUT_BYTES);
 *	buf_add_text(&out, "turnsleft ");
 *	buf_add_i64(&out, turns);
 *	buf_add_char(&out, '\n');
 *	if (out.is_failed) ...
 *
 * Failure sticks: an append that would pass the limit, or for which there is
 * no memory, appends nothing and sets `is_failed`; later appends do nothing.
 * So a writer checks once, at the end. buf_clear() forgets the failure.
 * `data` always ends in a NUL that does not count in `len`, once anything was
 * appended; buf_text() gives "" before that. One thread at a time.
 */
#ifndef HILL_BASE_BUFFER_H
#define HILL_BASE_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "server/base/alloc.h"

struct buf {
	char *data;   /* owned; NULL until the first append */
	size_t len;   /* bytes in use */
	size_t cap;   /* bytes allocated, the NUL's included */
	size_t limit; /* `len` never passes it */
	bool is_failed;
};

#define BUF_INIT(limit_bytes)                    \
	{                                        \
		NULL, 0, 0, (limit_bytes), false \
	}

/* An empty buffer of at most LIMIT bytes; allocates nothing. */
void buf_init(struct buf *buf, size_t limit);
/*
 * Free the content; BUF may be NULL or all zero. Empty with the same limit
 * afterwards.
 */
void buf_release(struct buf *buf);
/*
 * Hand the bytes out: the caller frees them. Never NULL; BUF is empty
 * afterwards.
 */
char *buf_detach(struct buf *buf) WARN_UNUSED;
/*
 * Make room for MORE bytes and return where they go, or NULL (then is_failed).
 * Add to `len` what was written.
 */
char *buf_reserve(struct buf *buf, size_t more);
void buf_add_format(struct buf *buf, const char *format, ...) PRINTF_LIKE(2, 3);
void buf_add_vformat(struct buf *buf, const char *format, va_list args)
	PRINTF_LIKE(2, 0);
/* Decimal, as %lld and %llu print, several times faster. */
void buf_add_i64(struct buf *buf, int64_t value);
void buf_add_u64(struct buf *buf, uint64_t value);
/* Drop the first COUNT bytes, at most `len`; moves the rest to the front. */
void buf_drop_front(struct buf *buf, size_t count);

/* Empty, memory kept, failure forgotten. */
static inline void buf_clear(struct buf *buf)
{
	buf->len = 0;
	buf->is_failed = false;
	if (buf->data != NULL)
		buf->data[0] = '\0';
}

/*
 * The bytes as a C string; "" when nothing was ever appended. Borrowed until
 * the next change.
 */
static inline const char *buf_text(const struct buf *buf)
{
	return buf->data == NULL ? "" : buf->data;
}

static inline void buf_add(struct buf *buf, const void *bytes, size_t count)
{
	if (count == 0)
		return;
	if (buf->is_failed || buf->cap - buf->len <= count ||
	    buf->len + count > buf->limit) {
		if (buf_reserve(buf, count) == NULL)
			return;
	}
	memcpy(buf->data + buf->len, bytes, count);
	buf->len += count;
	buf->data[buf->len] = '\0';
}

static inline void buf_add_char(struct buf *buf, char c)
{
	buf_add(buf, &c, 1);
}

static inline void buf_add_text(struct buf *buf, const char *text)
{
	buf_add(buf, text, strlen(text));
}

#endif
