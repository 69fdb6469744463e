/* SPDX-License-Identifier: MIT */
/*
 * packer.h - bytes that grow into one zlib stream, a piece at a time.
 *
 * A z_stream takes tens of kilobytes, so a match has none: its bytes wait in
 * a small buffer, and each full one is deflated with the thread's stream into
 * a piece of its own (Z_FULL_FLUSH); what one long reply blew up is only
 * stored, as that takes no time. The pieces in a row are one zlib stream that
 * any inflate() reads.
 *
 * unpacker reads such a stream from bytes that may come from anywhere, never
 * holding more than the longest piece that it is asked for.
 */
#ifndef HILL_MATCH_PACKER_H
#define HILL_MATCH_PACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZLIB_CONST /* next_in is const */
#include <zlib.h>

#include "server/base/alloc.h"
#include "server/base/buffer.h"

enum { VARINT_BYTES_MAX = 10 };

/* One a thread; used by all packers of that thread in turn. */
struct match_scratch {
	z_stream stream;
	struct buf piece; /* what a deflation gave; packers hold exact bytes */
	bool is_ready;
};

struct packer {
	struct buf raw;    /* waits for deflation */
	struct buf packed; /* the stream so far */
	size_t total;      /* raw bytes in all */
	uint32_t adler;    /* of what is in it */
	uint32_t piece;    /* packed when so many bytes wait */
};

void scratch_release(struct match_scratch *scratch);

/* At most LIMIT raw bytes, packed PIECE bytes at a time. */
void packer_init(struct packer *packer, size_t limit, uint32_t piece);
void packer_release(struct packer *packer);
/* Pack what waits when MORE bytes do not fit beside it. */
void packer_make_room(struct packer *packer, size_t more,
		      struct match_scratch *scratch);
void packer_add(struct packer *packer, const void *bytes, size_t len);
void packer_add_varint(struct packer *packer, uint64_t value);
/*
 * Close the stream and hand it out: *RET is the caller's. Empty afterwards.
 * -ENOMEM when anything was lost on the way.
 */
int packer_finish(struct packer *packer, struct match_scratch *scratch,
		  uint8_t **ret, size_t *ret_len) WARN_UNUSED;
/* Bytes on the heap. */
size_t packer_bytes(const struct packer *packer);

struct unpacker {
	z_stream stream;
	size_t left;      /* raw bytes that it may still yield */
	struct buf bytes; /* inflated and not yet taken, from `at` on */
	size_t at;
	bool has_ended; /* the stream is whole and its checksum right */
	bool is_bad;    /* sticky */
};

/*
 * Read LEN bytes at BLOB (borrowed until unpacker_release), refusing more
 * than LIMIT raw bytes.
 */
void unpacker_init(struct unpacker *unpacker, const uint8_t *blob, size_t len,
		   size_t limit);
void unpacker_release(struct unpacker *unpacker);
/*
 * COUNT bytes, borrowed until the next call: 1 with *RET, 0 when the stream
 * ends right here, -EILSEQ when it is damaged or ends too early, -ENOMEM.
 */
int unpacker_take(struct unpacker *unpacker, size_t count,
		  const char **ret) WARN_UNUSED;
/* A varint of at most MAX: 1, 0 at the end, -EILSEQ, -ENOMEM. */
int unpacker_take_varint(struct unpacker *unpacker, uint64_t max,
			 uint64_t *ret) WARN_UNUSED;
/*
 * A text: its length, at most MAX, as a varint, then its bytes, borrowed until
 * the next call (NULL for none). 1, -EILSEQ also at the end, -ENOMEM.
 */
int unpacker_take_text(struct unpacker *unpacker, uint64_t max,
		       const char **ret, size_t *ret_len) WARN_UNUSED;

#endif
