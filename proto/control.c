/* SPDX-License-Identifier: MIT */
#include "proto/control.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

enum {
	TEXT_MAX = 1000, /* bytes of free text in a line */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* C0, DEL and C1, which a terminal obeys too; COUNT bytes of UTF-8. */
static bool is_control_character(const unsigned char *text, size_t count)
{
	return text[0] < 0x20 || text[0] == 0x7f ||
	       (count == 2 && text[0] == 0xc2 && text[1] < 0xa0);
}

/*
 * Bytes of the UTF-8 character at TEXT, of which LEN bytes are there; 0 when
 * it is none.
 */
static size_t utf8_len(const unsigned char *text, size_t len)
{
	uint32_t code;
	size_t count;

	if (text[0] < 0x80)
		return 1;
	if (text[0] >= 0xc2 && text[0] <= 0xdf)
		count = 2;
	else if (text[0] >= 0xe0 && text[0] <= 0xef)
		count = 3;
	else if (text[0] >= 0xf0 && text[0] <= 0xf4)
		count = 4;
	else
		return 0;
	if (count > len)
		return 0;
	code = text[0] & (0x7fu >> count);
	for (size_t i = 1; i < count; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3fu);
	}
	if ((count == 3 && code < 0x800) || (count == 4 && code < 0x10000))
		return 0;
	if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return count;
}

bool text_is_utf8(const char *text, size_t len)
{
	const unsigned char *at = (const unsigned char *)text;
	const unsigned char *end = at + len;

	while (at < end) {
		size_t count = utf8_len(at, (size_t)(end - at));

		if (count == 0 || *at == '\0')
			return false;
		at += count;
	}
	return true;
}

/* The length of a key's name when TOKEN is `name=...`, else 0. */
static size_t key_len(struct slice token)
{
	size_t len = 0;

	while (len < token.len &&
	       ((token.text[len] >= 'a' && token.text[len] <= 'z') ||
		(len > 0 &&
		 (token.text[len] == '-' ||
		  (token.text[len] >= '0' && token.text[len] <= '9')))))
		len++;
	return len < token.len && token.text[len] == '=' ? len : 0;
}

static bool is_same(struct slice a, struct slice b)
{
	return a.len == b.len && memcmp(a.text, b.text, a.len) == 0;
}

static enum control_verdict take_token(struct control *ret, struct slice token)
{
	size_t len = key_len(token);
	struct slice name = { token.text, len };

	if (len == 0) {
		if (ret->nargs == CONTROL_ARGS_MAX)
			return CONTROL_TOO_MANY;
		ret->args[ret->nargs++] = token;
		return CONTROL_OK;
	}
	for (unsigned i = 0; i < ret->nkeys; i++) {
		if (is_same(ret->keys[i].name, name))
			return CONTROL_TWICE;
	}
	if (ret->nkeys == CONTROL_KEYS_MAX)
		return CONTROL_TOO_MANY;
	ret->keys[ret->nkeys].name = name;
	ret->keys[ret->nkeys].value.text = token.text + len + 1;
	ret->keys[ret->nkeys].value.len = token.len - len - 1;
	ret->nkeys++;
	return CONTROL_OK;
}

enum control_verdict control_parse(struct control *ret, const char *line,
				   size_t len)
{
	const char *at = line + 1;
	const char *end = line + len;
	const char *start = at;

	assert(len > 0 && line[0] == '@');
	ret->nargs = 0;
	ret->nkeys = 0;
	ret->has_text = false;
	ret->text = (struct slice){ end, 0 };
	while (at < end && !is_blank(*at))
		at++;
	ret->name = (struct slice){ start, (size_t)(at - start) };
	ret->word = word_find(ret->name.text, ret->name.len);
	start = at < end ? at + 1 : at;
	ret->rest = (struct slice){ start, (size_t)(end - start) };
	if (ret->name.len == 0)
		return CONTROL_NO_WORD;
	if (ret->word != NULL && ret->word->is_verbatim)
		return CONTROL_OK;
	for (;;) {
		enum control_verdict verdict;
		struct slice token;

		while (at < end && is_blank(*at))
			at++;
		if (at == end)
			return CONTROL_OK;
		start = at;
		while (at < end && !is_blank(*at))
			at++;
		token = (struct slice){ start, (size_t)(at - start) };
		if (slice_is(token, ":")) {
			at += at < end;
			ret->has_text = true;
			ret->text = (struct slice){ at, (size_t)(end - at) };
			return CONTROL_OK;
		}
		verdict = take_token(ret, token);
		if (verdict != CONTROL_OK)
			return verdict;
	}
}

const char *control_verdict_text(enum control_verdict verdict)
{
	static const char *const texts[CONTROL_NVERDICTS] = {
		[CONTROL_OK] = "fine",
		[CONTROL_NO_WORD] = "no word behind the @",
		[CONTROL_TOO_MANY] = "too many arguments",
		[CONTROL_TWICE] = "a key is given twice",
	};

	return texts[verdict];
}

const char *control_check(const struct control *control)
{
	unsigned needed = 0;
	unsigned allowed = 0;

	for (const struct word_part *arg = control->word->args;
	     arg->name != NULL; arg++) {
		allowed++;
		needed += !arg->is_optional;
	}
	if (control->word->is_verbatim)
		return NULL;
	if (control->nargs < needed)
		return "an argument is missing";
	if (control->nargs > allowed)
		return "too many arguments";
	return NULL;
}

const struct slice *control_key(const struct control *control, const char *name)
{
	for (unsigned i = 0; i < control->nkeys; i++) {
		if (slice_is(control->keys[i].name, name))
			return &control->keys[i].value;
	}
	return NULL;
}

int slice_i64(struct slice slice, int64_t min, int64_t max, int64_t *ret)
{
	size_t at = slice.len > 0 && slice.text[0] == '-';
	bool is_negative = at == 1;
	bool is_out = false;
	int64_t value = 0;

	/* Each number has one spelling. */
	if (at == slice.len || (slice.text[at] == '0' && slice.len > 1))
		return -EINVAL;
	for (; at < slice.len; at++) {
		int digit = slice.text[at] - '0';

		if (digit < 0 || digit > 9)
			return -EINVAL;
		/* Towards the negative side, which is one longer. */
		is_out = is_out || __builtin_mul_overflow(value, 10, &value) ||
			 __builtin_sub_overflow(value, digit, &value);
	}
	if (!is_negative && !is_out)
		is_out = __builtin_sub_overflow((int64_t)0, value, &value);
	if (is_out || value < min || value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

int control_arg_i64(const struct control *control, unsigned index, int64_t min,
		    int64_t max, int64_t *ret)
{
	if (index >= control->nargs)
		return -ENOENT;
	return slice_i64(control->args[index], min, max, ret);
}

int control_key_i64(const struct control *control, const char *name,
		    int64_t min, int64_t max, int64_t *ret)
{
	const struct slice *value = control_key(control, name);

	if (value == NULL)
		return -ENOENT;
	return slice_i64(*value, min, max, ret);
}

bool slice_is(struct slice slice, const char *text)
{
	return strlen(text) == slice.len &&
	       memcmp(slice.text, text, slice.len) == 0;
}

int slice_copy(struct slice slice, char *to, size_t size)
{
	to[0] = '\0';
	if (slice.len >= size)
		return -ENAMETOOLONG;
	if (memchr(slice.text, '\0', slice.len) != NULL)
		return -EINVAL;
	memcpy(to, slice.text, slice.len);
	to[slice.len] = '\0';
	return 0;
}

/*
 * Append TEXT with control characters and invalid UTF-8, and blanks unless
 * KEEPS_BLANKS, replaced by WITH; whole characters only, at most LIMIT bytes.
 */
static void add_clean(struct buf *out, struct slice text, bool keeps_blanks,
		      char with, size_t limit)
{
	const unsigned char *at = (const unsigned char *)text.text;
	size_t left = text.len;
	size_t written = 0;

	while (left > 0) {
		size_t count = utf8_len(at, left);
		bool is_bad = count == 0 || is_control_character(at, count) ||
			      (!keeps_blanks && *at == ' ');

		if (count == 0)
			count = 1;
		written += is_bad ? 1 : count;
		if (written > limit)
			return;
		if (is_bad)
			buf_add_char(out, with);
		else
			buf_add(out, at, count);
		at += count;
		left -= count;
	}
}

void control_add_word(struct buf *out, enum word_id id)
{
	buf_add_char(out, '@');
	buf_add_text(out, words[id].name);
}

void control_add_arg_slice(struct buf *out, struct slice text)
{
	size_t key = key_len(text);

	buf_add_char(out, ' ');
	if (text.len == 0) {
		buf_add_char(out, '-');
	} else if (slice_is(text, ":")) {
		buf_add_char(out, '_');
	} else if (key > 0) {
		buf_add(out, text.text, key);
		buf_add_char(out, '_');
		text.text += key + 1;
		text.len -= key + 1;
		add_clean(out, text, false, '_', SIZE_MAX);
	} else {
		add_clean(out, text, false, '_', SIZE_MAX);
	}
}

void control_add_arg(struct buf *out, const char *text)
{
	control_add_arg_slice(out, (struct slice){ text, strlen(text) });
}

void control_add_arg_i64(struct buf *out, int64_t value)
{
	buf_add_char(out, ' ');
	buf_add_i64(out, value);
}

void control_add_key(struct buf *out, const char *name, const char *value)
{
	buf_add_char(out, ' ');
	buf_add_text(out, name);
	buf_add_char(out, '=');
	add_clean(out, (struct slice){ value, strlen(value) }, false, '_',
		  SIZE_MAX);
}

void control_add_key_i64(struct buf *out, const char *name, int64_t value)
{
	buf_add_char(out, ' ');
	buf_add_text(out, name);
	buf_add_char(out, '=');
	buf_add_i64(out, value);
}

void control_add_text(struct buf *out, const char *text)
{
	if (text[0] == '\0')
		return;
	buf_add_text(out, " : ");
	add_clean(out, (struct slice){ text, strlen(text) }, true, '?',
		  TEXT_MAX);
}

void control_add_end(struct buf *out)
{
	buf_add_char(out, '\n');
}

void control_add_error(struct buf *out, enum error_code code,
		       int64_t retry_after_s, const char *text)
{
	control_add_word(out, WORD_ERROR);
	control_add_arg(out, error_kinds[code].name);
	if (retry_after_s > 0)
		control_add_key_i64(out, "retry-after", retry_after_s);
	control_add_text(out, text);
	control_add_end(out);
}

void text_add_escaped(struct buf *out, const char *text, size_t len,
		      size_t limit)
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *at = (const unsigned char *)text;
	size_t written = 0;

	while (len > 0) {
		size_t count = utf8_len(at, len);
		char piece[4] = { '\\', 'x', hex[*at >> 4], hex[*at & 15] };
		const void *from = at;
		size_t size = count;

		if (count == 0 || is_control_character(at, count)) {
			/* Of a C1, the second byte comes next time. */
			count = 1;
			from = piece;
			size = 4;
		} else if (*at == '\\') {
			from = "\\\\";
			size = 2;
		}
		if (written + size > limit) {
			buf_add_text(out, "...");
			return;
		}
		buf_add(out, from, size);
		written += size;
		at += count;
		len -= count;
	}
}
