/* SPDX-License-Identifier: MIT */
/*
 * transcript.h - what was fed to the engine, in order: a replay's input.
 *
 * One zlib stream; inside, a version byte and then a record an input: a byte
 * `kind | seat << 2` (enum game_input) and, for GAME_REPLY, a varint length
 * and that many bytes. Bytes may come from anywhere: reading checks them all
 * and never takes more memory than one line.
 */
#ifndef HILL_MATCH_TRANSCRIPT_H
#define HILL_MATCH_TRANSCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"
#include "server/games/game.h"

struct transcript_reader;

struct transcript_entry {
	uint64_t number; /* from 1 */
	unsigned seat;
	enum game_input kind;
	const char *text; /* borrowed until the next call; NUL-terminated */
	size_t len;
};

/*
 * Read the LEN bytes at BLOB (borrowed until free) that a match of SEATS seats
 * left behind. Allocates, aborting when there is no memory. Any one thread.
 */
struct transcript_reader *transcript_open(const uint8_t *blob, size_t len,
					  unsigned seats) WARN_UNUSED;
/*
 * The next entry: 1 with *RET, 0 at the end, -EILSEQ where the bytes are
 * damaged (now and ever after), -ENOTSUP for a newer version, -ENOMEM.
 */
int transcript_next(struct transcript_reader *reader,
		    struct transcript_entry *ret) WARN_UNUSED;
void transcript_close(struct transcript_reader *reader); /* NULL is fine */

#endif
