/* SPDX-License-Identifier: MIT */
/*
 * block.h - files and whole inputs on the wire: `@file` and `@input` with
 * their raw lines. Pure, libc only; server and clients.
 *
 * Bytes travel as text when every line ends in LF and none holds CR or NUL,
 * else as base64 in lines of 76 characters.
 */
#ifndef HILL_PROTO_BLOCK_H
#define HILL_PROTO_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/control.h"
#include "server/base/alloc.h"
#include "server/base/buffer.h"

/* Whether the bytes travel as text. */
bool block_is_text(const char *data, size_t len);
/* The raw lines that LEN bytes need. */
size_t block_lines(const char *data, size_t len);
/*
 * Append `@file NAME lines=N text|base64 bytes=M` and its raw lines to OUT.
 * NAME must be a file name (name_is_file), else -EINVAL. -ENOMEM when OUT
 * failed; LEN is at most LIMIT_MAP_BYTES, else -EFBIG.
 */
int block_add_file(struct buf *out, const char *name, const char *data,
		   size_t len) WARN_UNUSED;
/* Append `@input lines=N text|base64 bytes=M` and its raw lines likewise. */
int block_add_input(struct buf *out, const char *data, size_t len) WARN_UNUSED;

/* A block being received. */
struct block {
	struct buf data;     /* what has come, decoded; owned */
	uint32_t lines_left; /* raw lines still to come */
	size_t bytes;        /* announced */
	size_t line_limit;   /* bytes that one raw line can have */
	bool is_base64;
	bool is_bad;    /* the lines do not say what the head announced */
	bool is_padded; /* base64 has ended */
	char name[65];  /* of @file, else "" */
};

/*
 * Start with HEAD, a parsed @file or @input line. LIMIT bounds `bytes`. On
 * success the caller owns RET (block_release) and expects raw lines:
 * framer_expect_raw(framer, ret->lines_left, ret->line_limit).
 * -EINVAL: the name is no file name, or the counts make no sense; -EFBIG: over
 * LIMIT. Then the caller skips what block_head_lines() says.
 */
int block_begin(struct block *ret, const struct control *head,
		size_t limit) WARN_UNUSED;
/*
 * The raw lines that follow any control line: lines=, 0 for none; UINT32_MAX
 * for all that are more.
 */
uint32_t block_head_lines(const struct control *head);
/* One raw line, without its LF. Returns true when it was the last. */
bool block_line(struct block *block, const char *line, size_t len);
/*
 * After the last line (or none): 0 when `data` is whole, -EBADMSG when it is
 * not what was announced, -ENOMEM.
 */
int block_end(const struct block *block) WARN_UNUSED;
void block_release(struct block *block);

#endif
