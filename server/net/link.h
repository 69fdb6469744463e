/* SPDX-License-Identifier: MIT */
/*
 * link.h - bytes in and out of a peer's socket, and what the kernel knows
 * about it. The two calls that move bytes are the only ones that TLS would
 * change. The socket does not block. Loop thread.
 */
#ifndef HILL_NET_LINK_H
#define HILL_NET_LINK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "server/base/alloc.h"

/*
 * Up to SIZE bytes into BYTES. Their number, 0 at the end of the stream,
 * -EAGAIN when nothing is there, or another -errno.
 */
ssize_t link_read(int fd, void *bytes, size_t size) WARN_UNUSED;
/* Send what fits at once: the number of bytes, -EAGAIN, another -errno. */
ssize_t link_send(int fd, const void *bytes, size_t len) WARN_UNUSED;
ssize_t link_sendv(int fd, const struct iovec *parts, int count) WARN_UNUSED;
/* Bytes that the peer's host has not acknowledged; 0 if it cannot be told. */
size_t link_unacked(int fd);
/*
 * The least round trip that TCP saw on this connection, in microseconds; 0
 * when it has seen none.
 */
uint32_t link_min_rtt_us(int fd);
/*
 * What every bot's socket wants: no delay, and an end within DEAD_MS when the
 * other host is silent. Set on a listening socket, its connections inherit it.
 */
void link_set_options(int fd, uint32_t dead_ms);

#endif
