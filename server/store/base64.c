/* SPDX-License-Identifier: MIT */
#include "server/store/base64.h"

#include <errno.h>

static int value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+')
		return 62;
	return c == '/' ? 63 : -1;
}

int base64_decode(const char *text, size_t len, struct buf *out)
{
	size_t padding = 0;

	if (len % 4 != 0)
		return -EILSEQ;
	if (len > 0 && text[len - 1] == '=')
		padding = text[len - 2] == '=' ? 2 : 1;
	for (size_t i = 0; i < len; i += 4) {
		size_t digits = i + 4 == len ? 4 - padding : 4;
		uint32_t bits = 0;

		for (size_t k = 0; k < 4; k++) {
			int value = k < digits ? value_of(text[i + k]) : 0;

			if (value < 0)
				return -EILSEQ;
			bits = bits << 6 | (uint32_t)value;
		}
		/* Bits that no byte takes must be 0: one text for all bytes. */
		if ((digits == 2 && (bits & 0xffff) != 0) ||
		    (digits == 3 && (bits & 0xff) != 0))
			return -EILSEQ;
		buf_add_char(out, (char)(bits >> 16 & 0xff));
		if (digits > 2)
			buf_add_char(out, (char)(bits >> 8 & 0xff));
		if (digits > 3)
			buf_add_char(out, (char)(bits & 0xff));
	}
	return out->is_failed ? -ENOMEM : 0;
}

/* Four characters of ALPHABET for each three bytes. */
static void encode(const uint8_t *bytes, size_t len, const char *alphabet,
		   struct buf *out)
{
	for (size_t i = 0; i < len; i += 3) {
		uint32_t bits = (uint32_t)bytes[i] << 16;
		size_t digits = len - i >= 3 ? 4 : len - i + 1;

		if (i + 1 < len)
			bits |= (uint32_t)bytes[i + 1] << 8;
		if (i + 2 < len)
			bits |= bytes[i + 2];
		for (size_t k = 0; k < digits; k++)
			buf_add_char(out, alphabet[bits >> (18 - 6 * k) & 63]);
	}
}

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

void base64_encode_url(const uint8_t *bytes, size_t len, struct buf *out)
{
	encode(bytes, len, LETTERS "0123456789-_", out);
}

void base64_encode(const uint8_t *bytes, size_t len, struct buf *out)
{
	encode(bytes, len, LETTERS "0123456789+/", out);
	for (size_t i = len % 3; i != 0 && i < 3; i++)
		buf_add_char(out, '=');
}
