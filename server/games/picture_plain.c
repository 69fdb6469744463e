/* SPDX-License-Identifier: MIT */
/*
 * picture_plain.c - PNG whose bytes depend on no library's version.
 *
 * What libpng and zlib make of a picture may change with them. Here the
 * deflate stream (RFC 1951) is one block of fixed codes, and a match is the
 * longer one of two: with the pixel before, or with the row above. Arenas are
 * plain areas, so that is all it takes; only checksums come from zlib.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "server/games/picture.h"

enum {
	MATCH_MIN = 3,
	MATCH_MAX = 258,
	PIXEL_BYTES = 3,
	END_OF_BLOCK = 256,
	ROW_BYTES_MAX = 32768, /* as far back as a match may reach */
};

struct bits {
	struct buf *out;
	uint32_t word; /* those not yet written, the first one lowest */
	unsigned count;
};

static void put_bits(struct bits *bits, uint32_t value, unsigned count)
{
	bits->word |= value << bits->count;
	bits->count += count;
	while (bits->count >= 8) {
		buf_add_char(bits->out, (char)(bits->word & 0xff));
		bits->word >>= 8;
		bits->count -= 8;
	}
}

/* A code word goes out from its highest bit on. */
static void put_code(struct bits *bits, uint32_t code, unsigned count)
{
	while (count-- > 0)
		put_bits(bits, code >> count & 1, 1);
}

/* Symbol of the fixed literal and length code, RFC 1951 section 3.2.6. */
static void put_symbol(struct bits *bits, unsigned symbol)
{
	if (symbol < 144)
		put_code(bits, 0x30 + symbol, 8);
	else if (symbol < 256)
		put_code(bits, 0x190 + symbol - 144, 9);
	else if (symbol < 280)
		put_code(bits, symbol - 256, 7);
	else
		put_code(bits, 0xc0 + symbol - 280, 8);
}

/*
 * Lengths and distances share one scheme: a few plain numbers, then groups of
 * codes whose extra bits grow by one. PER is codes a group, VALUE from 0.
 */
static unsigned split(unsigned value, unsigned per, unsigned *ret_extra)
{
	unsigned code = 0;
	unsigned extra = 0;
	unsigned base = 0;

	for (;;) {
		if (code >= 2 * per && code % per == 0)
			extra++;
		if (value < base + (1u << extra))
			break;
		base += 1u << extra;
		code++;
	}
	*ret_extra = extra | (value - base) << 8;
	return code;
}

static void put_match(struct bits *bits, unsigned len, unsigned distance)
{
	unsigned extra;
	unsigned code;

	if (len == MATCH_MAX) {
		put_symbol(bits, 285);
	} else {
		code = split(len - MATCH_MIN, 4, &extra);
		put_symbol(bits, 257 + code);
		put_bits(bits, extra >> 8, extra & 0xff);
	}
	code = split(distance - 1, 2, &extra);
	put_code(bits, code, 5);
	put_bits(bits, extra >> 8, extra & 0xff);
}

static unsigned match_len(const uint8_t *data, size_t at, size_t len,
			  size_t distance)
{
	unsigned count = 0;

	if (distance > at)
		return 0;
	while (count < MATCH_MAX && at + count < len &&
	       data[at + count] == data[at + count - distance])
		count++;
	return count;
}

/* The zlib stream of the LEN bytes at DATA, rows of ROW bytes. */
static void deflate_plain(const uint8_t *data, size_t len, size_t row,
			  struct buf *out)
{
	struct bits bits = { .out = out };
	uint32_t sum = (uint32_t)adler32(1, data, (uInt)len);
	size_t at = 0;

	buf_add(out, "\x78\x01", 2);
	put_bits(&bits, 3, 3); /* the last block, of fixed codes */
	while (at < len) {
		unsigned beside = match_len(data, at, len, PIXEL_BYTES);
		unsigned above = match_len(data, at, len, row);
		unsigned best = beside >= above ? beside : above;

		if (best < MATCH_MIN) {
			put_symbol(&bits, data[at++]);
			continue;
		}
		put_match(&bits, best,
			  beside >= above ? PIXEL_BYTES : (unsigned)row);
		at += best;
	}
	put_symbol(&bits, END_OF_BLOCK);
	put_bits(&bits, 0, (8 - bits.count) % 8);
	for (int shift = 24; shift >= 0; shift -= 8)
		buf_add_char(out, (char)(sum >> shift & 0xff));
}

static void put_word(struct buf *out, uint32_t word)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		buf_add_char(out, (char)(word >> shift & 0xff));
}

static void put_chunk(struct buf *out, const char type[4],
		      const struct buf *data)
{
	uLong sum = crc32(0, (const Bytef *)type, 4);

	put_word(out, (uint32_t)data->len);
	buf_add(out, type, 4);
	buf_add(out, data->data, data->len);
	if (data->len > 0)
		sum = crc32(sum, (const Bytef *)data->data, (uInt)data->len);
	put_word(out, (uint32_t)sum);
}

int picture_encode_plain(const struct picture *picture, struct buf *out)
{
	size_t row = (size_t)picture->width * PIXEL_BYTES + 1;
	size_t len = row * picture->height;
	struct buf chunk = BUF_INIT(out->limit);
	size_t before = out->len;
	uint8_t *rows;

	if (row > ROW_BYTES_MAX)
		return -EINVAL;
	rows = xcalloc(len, 1); /* the byte before each row: no filter */
	for (size_t y = 0; y < picture->height; y++)
		memcpy(rows + y * row + 1, picture->rgb + y * (row - 1),
		       row - 1);
	buf_add(out, "\x89PNG\r\n\x1a\n", 8);
	put_word(&chunk, picture->width);
	put_word(&chunk, picture->height);
	buf_add(&chunk, "\x08\x02\0\0\0", 5); /* 8 bits, RGB, not interlaced */
	put_chunk(out, "IHDR", &chunk);
	buf_clear(&chunk);
	deflate_plain(rows, len, row, &chunk);
	if (chunk.is_failed)
		out->is_failed = true;
	put_chunk(out, "IDAT", &chunk);
	buf_clear(&chunk);
	put_chunk(out, "IEND", &chunk);
	buf_release(&chunk);
	free(rows);
	if (out->is_failed) {
		out->len = before;
		return -ENOMEM;
	}
	return 0;
}
