/* SPDX-License-Identifier: MIT */
/* base64.h - bytes in JSON and tokens; RFC 4648. Any thread. */
#ifndef HILL_STORE_BASE64_H
#define HILL_STORE_BASE64_H

#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"
#include "server/base/buffer.h"

/*
 * Append the bytes that TEXT (LEN characters, '+' and '/', padded, no white
 * space) stands for. 0, -EILSEQ it is no base64, -ENOMEM OUT failed.
 */
int base64_decode(const char *text, size_t len, struct buf *out) WARN_UNUSED;
/* Append what base64_decode takes for LEN bytes. */
void base64_encode(const uint8_t *bytes, size_t len, struct buf *out);
/* Append LEN bytes in the alphabet for names ('-' and '_'), without padding. */
void base64_encode_url(const uint8_t *bytes, size_t len, struct buf *out);

#endif
