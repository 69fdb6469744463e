/* SPDX-License-Identifier: MIT */
#include "server/match/packer.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum {
	/*
	 * Pieces are small: a window as small keeps the stream's memory in
	 * the cache and its reset cheap.
	 */
	WINDOW_BITS = 12,
	MEMORY_LEVEL = 5,
	FLUSH_BYTES = 64, /* more than a flush or an end adds */
	/*
	 * More than this is stored as it is: a megabyte of route takes 17 ms
	 * to deflate, and the loop that all matches share would wait for it.
	 * match_record_repack makes it small where there is time.
	 */
	DEFLATE_BYTES_MAX = 16384,
	STORED_BYTES_MAX = 65535, /* of one block */
	INFLATE_BYTES = 4096,
	/* A raw buffer that one long line blew up is given back. */
	KEEP_BYTES = 8192,
	SCRATCH_BYTES = 128 * 1024
};

/* zlib header: deflate, 32 KiB window, fastest. */
static const char stream_head[] = { 0x78, 0x01 };
/* A last block without content. */
static const char stream_end[] = { 0x03, 0x00 };

void scratch_release(struct match_scratch *scratch)
{
	if (scratch->is_ready)
		(void)deflateEnd(&scratch->stream);
	scratch->is_ready = false;
	buf_release(&scratch->piece);
}

static bool scratch_begin(struct match_scratch *scratch)
{
	if (scratch->is_ready)
		return deflateReset(&scratch->stream) == Z_OK;
	memset(&scratch->stream, 0, sizeof(scratch->stream));
	buf_init(&scratch->piece, SIZE_MAX / 8);
	scratch->is_ready = deflateInit2(&scratch->stream, Z_BEST_SPEED,
					 Z_DEFLATED, -WINDOW_BITS, MEMORY_LEVEL,
					 Z_DEFAULT_STRATEGY) == Z_OK;
	return scratch->is_ready;
}

void packer_init(struct packer *packer, size_t limit, uint32_t piece)
{
	memset(packer, 0, sizeof(*packer));
	buf_init(&packer->raw, limit);
	buf_init(&packer->packed, limit + limit / 8 + KEEP_BYTES);
	packer->adler = 1;
	packer->piece = piece;
}

void packer_release(struct packer *packer)
{
	buf_release(&packer->raw);
	buf_release(&packer->packed);
}

/* Deflate RAW behind PACKED. False: it is lost. */
static bool add_deflated(struct buf *packed, const struct buf *raw,
			 struct match_scratch *scratch)
{
	z_stream *stream = &scratch->stream;
	size_t room;
	char *to;

	if (!scratch_begin(scratch))
		return false;
	room = deflateBound(stream, raw->len) + FLUSH_BYTES;
	buf_clear(&scratch->piece);
	to = buf_reserve(&scratch->piece, room);
	if (to == NULL)
		return false;
	stream->next_in = (const Bytef *)raw->data;
	stream->avail_in = (uInt)raw->len;
	stream->next_out = (Bytef *)to;
	stream->avail_out = (uInt)room;
	if (deflate(stream, Z_FULL_FLUSH) != Z_OK || stream->avail_in > 0 ||
	    stream->avail_out == 0)
		return false;
	buf_add(packed, to, room - stream->avail_out);
	if (scratch->piece.cap > SCRATCH_BYTES)
		buf_release(&scratch->piece);
	return true;
}

/*
 * RAW behind PACKED as it is, in blocks that deflate calls stored. The piece
 * before ended on a whole byte, as each of these does.
 */
static void add_stored(struct buf *packed, const struct buf *raw)
{
	size_t at = 0;

	while (at < raw->len) {
		size_t len = raw->len - at;
		char head[5] = { 0 };

		if (len > STORED_BYTES_MAX)
			len = STORED_BYTES_MAX;
		head[1] = (char)len;
		head[2] = (char)(len >> 8);
		head[3] = (char)~len;
		head[4] = (char)(~len >> 8);
		buf_add(packed, head, sizeof(head));
		buf_add(packed, raw->data + at, len);
		at += len;
	}
}

/* All of RAW behind PACKED. */
static void packer_flush(struct packer *packer, struct match_scratch *scratch)
{
	struct buf *raw = &packer->raw;

	if (raw->len == 0)
		return;
	if (packer->packed.len == 0)
		buf_add(&packer->packed, stream_head, sizeof(stream_head));
	if (raw->len > DEFLATE_BYTES_MAX)
		add_stored(&packer->packed, raw);
	else if (!add_deflated(&packer->packed, raw, scratch))
		packer->packed.is_failed = true;
	packer->adler = (uint32_t)adler32(
		packer->adler, (const Bytef *)raw->data, (uInt)raw->len);
	if (raw->cap > KEEP_BYTES)
		buf_release(raw);
	buf_clear(raw);
}

void packer_make_room(struct packer *packer, size_t more,
		      struct match_scratch *scratch)
{
	if (packer->raw.len > 0 && packer->raw.len + more > packer->piece)
		packer_flush(packer, scratch);
}

void packer_add(struct packer *packer, const void *bytes, size_t len)
{
	buf_add(&packer->raw, bytes, len);
	packer->total += len;
}

void packer_add_varint(struct packer *packer, uint64_t value)
{
	char bytes[VARINT_BYTES_MAX];
	size_t len = 0;

	while (value >= 0x80) {
		bytes[len++] = (char)(value | 0x80);
		value >>= 7;
	}
	bytes[len++] = (char)value;
	packer_add(packer, bytes, len);
}

int packer_finish(struct packer *packer, struct match_scratch *scratch,
		  uint8_t **ret, size_t *ret_len)
{
	bool has_lost = packer->raw.is_failed;
	char sum[4];

	packer_flush(packer, scratch);
	if (packer->packed.len == 0)
		buf_add(&packer->packed, stream_head, sizeof(stream_head));
	buf_add(&packer->packed, stream_end, sizeof(stream_end));
	for (unsigned i = 0; i < sizeof(sum); i++)
		sum[i] = (char)(packer->adler >> (24 - 8 * i));
	buf_add(&packer->packed, sum, sizeof(sum));
	if (has_lost || packer->packed.is_failed) {
		packer_release(packer);
		return -ENOMEM;
	}
	*ret_len = packer->packed.len;
	*ret = (uint8_t *)buf_detach(&packer->packed);
	packer_release(packer);
	return 0;
}

size_t packer_bytes(const struct packer *packer)
{
	return packer->raw.cap + packer->packed.cap;
}

void unpacker_init(struct unpacker *unpacker, const uint8_t *blob, size_t len,
		   size_t limit)
{
	memset(unpacker, 0, sizeof(*unpacker));
	unpacker->left = limit;
	buf_init(&unpacker->bytes, limit + INFLATE_BYTES);
	if (len > UINT32_MAX / 2 || inflateInit(&unpacker->stream) != Z_OK) {
		unpacker->is_bad = true;
		return;
	}
	unpacker->stream.next_in = blob;
	unpacker->stream.avail_in = (uInt)len;
}

void unpacker_release(struct unpacker *unpacker)
{
	(void)inflateEnd(&unpacker->stream);
	buf_release(&unpacker->bytes);
}

/* Inflate a little more behind `bytes`. Returns 0, -EILSEQ, -ENOMEM. */
static int unpacker_more(struct unpacker *unpacker)
{
	z_stream *stream = &unpacker->stream;
	size_t room = INFLATE_BYTES;
	char *to;
	int rc;

	if (unpacker->at > 0) {
		buf_drop_front(&unpacker->bytes, unpacker->at);
		unpacker->at = 0;
	}
	to = buf_reserve(&unpacker->bytes, room);
	if (to == NULL)
		return -ENOMEM;
	stream->next_out = (Bytef *)to;
	stream->avail_out = (uInt)room;
	rc = inflate(stream, Z_NO_FLUSH);
	room -= stream->avail_out;
	if (room > unpacker->left)
		return -EILSEQ;
	unpacker->left -= room;
	unpacker->bytes.len += room;
	unpacker->bytes.data[unpacker->bytes.len] = '\0';
	if (rc == Z_STREAM_END) {
		/* Something behind the end is no part of what was written. */
		unpacker->has_ended = true;
		return stream->avail_in == 0 ? 0 : -EILSEQ;
	}
	if (rc == Z_MEM_ERROR)
		return -ENOMEM;
	return rc == Z_OK && (room > 0 || stream->avail_in > 0) ? 0 : -EILSEQ;
}

int unpacker_take(struct unpacker *unpacker, size_t count, const char **ret)
{
	if (unpacker->is_bad)
		return -EILSEQ;
	while (unpacker->bytes.len - unpacker->at < count) {
		int rc = -EILSEQ;

		if (unpacker->has_ended) {
			if (unpacker->bytes.len == unpacker->at)
				return 0;
		} else if (count - (unpacker->bytes.len - unpacker->at) <=
			   unpacker->left) {
			rc = unpacker_more(unpacker);
		}
		if (rc < 0) {
			unpacker->is_bad = true;
			return rc;
		}
	}
	*ret = unpacker->bytes.data + unpacker->at;
	unpacker->at += count;
	return 1;
}

int unpacker_take_varint(struct unpacker *unpacker, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		const char *byte;
		int rc = unpacker_take(unpacker, 1, &byte);

		if (rc <= 0)
			return rc == 0 && shift > 0 ? -EILSEQ : rc;
		value |= (uint64_t)((unsigned char)*byte & 0x7f) << shift;
		if (((unsigned char)*byte & 0x80) == 0) {
			if (value > max)
				break;
			*ret = value;
			return 1;
		}
	}
	unpacker->is_bad = true;
	return -EILSEQ;
}

int unpacker_take_text(struct unpacker *unpacker, uint64_t max,
		       const char **ret, size_t *ret_len)
{
	const char *bytes = NULL;
	uint64_t len;
	int rc = unpacker_take_varint(unpacker, max, &len);

	if (rc > 0 && len > 0)
		rc = unpacker_take(unpacker, (size_t)len, &bytes);
	if (rc <= 0)
		return rc == 0 ? -EILSEQ : rc;
	*ret = bytes;
	*ret_len = (size_t)len;
	return 1;
}
