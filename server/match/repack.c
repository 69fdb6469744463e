/* SPDX-License-Identifier: MIT */
/*
 * repack.c - a finished match's blobs, smaller.
 *
 * While a match runs, its bytes are deflated in pieces that know nothing of
 * each other, long ones not at all. Once it is over they are one stream: half
 * the size or less.
 */
#include <stdlib.h>
#include <string.h>

#include "server/match/match_internal.h"

enum {
	STEP_BYTES = 16384,
	/* Replies repeat from turn to turn; more effort gains little. */
	REPACK_LEVEL = 4,
};

/* Inflate FROM and deflate it to TO until its end. Whether all went well. */
static bool pump(z_stream *from, z_stream *to, unsigned char raw[STEP_BYTES],
		 struct buf *packed)
{
	int rc = Z_OK;

	while (rc == Z_OK) {
		from->next_out = raw;
		from->avail_out = STEP_BYTES;
		rc = inflate(from, Z_NO_FLUSH);
		if (rc != Z_OK && rc != Z_STREAM_END)
			return false;
		to->next_in = raw;
		to->avail_in = STEP_BYTES - from->avail_out;
		do {
			char *room = buf_reserve(packed, STEP_BYTES);

			/* No gain: PACKED is bounded by what there is now. */
			if (room == NULL)
				return false;
			to->next_out = (Bytef *)room;
			to->avail_out = STEP_BYTES;
			if (deflate(to, rc == Z_STREAM_END
						? Z_FINISH
						: Z_NO_FLUSH) == Z_STREAM_ERROR)
				return false;
			packed->len += STEP_BYTES - to->avail_out;
		} while (to->avail_out == 0);
	}
	return true;
}

static void repack_blob(uint8_t **blob, size_t *len)
{
	struct buf packed = BUF_INIT(*len + 2 * (size_t)STEP_BYTES);
	z_stream from = { 0 }, to = { 0 };
	unsigned char raw[STEP_BYTES];
	uint8_t *fitting;

	if (*len == 0 || *len > UINT32_MAX / 2)
		return;
	if (inflateInit(&from) != Z_OK)
		return;
	if (deflateInit(&to, REPACK_LEVEL) != Z_OK)
		goto out_from;
	from.next_in = *blob;
	from.avail_in = (uInt)*len;
	if (pump(&from, &to, raw, &packed) && packed.len < *len) {
		fitting = malloc(packed.len);
		if (fitting != NULL) {
			memcpy(fitting, packed.data, packed.len);
			free(*blob);
			*blob = fitting;
			*len = packed.len;
		}
	}
	buf_release(&packed);
	(void)deflateEnd(&to);
out_from:
	(void)inflateEnd(&from);
}

void match_record_repack(struct match_record *record)
{
	if (record->is_repacked)
		return;
	record->is_repacked = true;
	repack_blob(&record->transcript, &record->transcript_len);
	repack_blob(&record->notes, &record->notes_len);
}
