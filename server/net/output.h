/* SPDX-License-Identifier: MIT */
/*
 * output.h - what a socket did not take at once, in order: small bytes of the
 * connection's own, and blocks that many connections share.
 */
#ifndef HILL_NET_OUTPUT_H
#define HILL_NET_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "server/base/alloc.h"

struct lobby_map;
struct output_piece;

/* All zero when empty. */
struct output {
	struct output_piece *first; /* owned list */
	struct output_piece *last;
	size_t own_bytes; /* waiting, without the shared blocks */
};

/* Free all that waits and give the blocks back. */
void output_clear(struct output *output);
static inline bool output_is_empty(const struct output *output)
{
	return output->first == NULL;
}
/* Queue a copy of LEN bytes. */
void output_add(struct output *output, const char *bytes, size_t len);
/*
 * Queue LEN bytes at BYTES, which live as long as BLOCK; the reference is
 * taken over.
 */
void output_add_block(struct output *output, struct lobby_map *block_take,
		      const char *bytes, size_t len);
/*
 * Send what FD takes now, at most about SEND_BYTES_MAX. 0 when something was
 * sent, -EAGAIN when nothing was, or another -errno.
 */
int output_send(struct output *output, int fd) WARN_UNUSED;

#endif
