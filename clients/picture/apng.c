/* SPDX-License-Identifier: MIT */
/*
 * apng.c - the chunks of several PNG files as one animation.
 *
 *	signature IHDR acTL  fcTL IDAT...  fcTL fdAT...  ...  IEND
 *
 * A chunk is its length, its name, its bytes and a CRC of name and bytes, all
 * numbers big-endian. fcTL and fdAT carry one sequence number each, counted
 * through the file; an fdAT is an IDAT behind it.
 */
#include "clients/picture/apng.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
	SIGNATURE_BYTES = 8,
	NAME_BYTES = 4,
	FRAME_BYTES = 8,  /* length and name; the CRC has 4 more */
	HEADER_BYTES = 13 /* of an IHDR */
};

struct apng {
	FILE *file;        /* owned */
	uint32_t count;    /* frames promised */
	uint32_t added;    /* frames written */
	uint32_t sequence; /* of the next fcTL or fdAT */
};

/* A chunk of a PNG file in memory; all borrowed. */
struct chunk {
	const uint8_t *name;
	const uint8_t *data;
	uint32_t len;
};

static uint32_t read_number(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
	       (uint32_t)bytes[2] << 8 | bytes[3];
}

static void put_number(uint8_t *to, uint32_t value)
{
	to[0] = (uint8_t)(value >> 24);
	to[1] = (uint8_t)(value >> 16);
	to[2] = (uint8_t)(value >> 8);
	to[3] = (uint8_t)value;
}

/* 0, or -errno. */
static int put_bytes(struct apng *apng, const void *bytes, size_t len)
{
	if (len > 0 && fwrite(bytes, 1, len, apng->file) != len)
		return errno == 0 ? -EIO : -errno;
	return 0;
}

/* A chunk of HEAD and then DATA. 0, or -errno. */
static int put_chunk(struct apng *apng, const char *name, const uint8_t *head,
		     uint32_t head_len, const uint8_t *data, uint32_t len)
{
	uint8_t frame[FRAME_BYTES], end[4];
	uLong crc;
	int rc;

	put_number(frame, head_len + len);
	memcpy(frame + 4, name, NAME_BYTES);
	crc = crc32(crc32(0, Z_NULL, 0), frame + 4, NAME_BYTES);
	if (head_len > 0)
		crc = crc32(crc, head, head_len);
	if (len > 0)
		crc = crc32(crc, data, len);
	put_number(end, (uint32_t)crc);
	rc = put_bytes(apng, frame, sizeof(frame));
	if (rc == 0)
		rc = put_bytes(apng, head, head_len);
	if (rc == 0)
		rc = put_bytes(apng, data, len);
	if (rc == 0)
		rc = put_bytes(apng, end, sizeof(end));
	return rc;
}

/* The chunk at *AT, which moves behind it. False when it is cut short. */
static bool next_chunk(const uint8_t *data, size_t len, size_t *at,
		       struct chunk *ret)
{
	if (len - *at < FRAME_BYTES + 4)
		return false;
	ret->len = read_number(data + *at);
	ret->name = data + *at + 4;
	ret->data = data + *at + FRAME_BYTES;
	if (ret->len > len - *at - FRAME_BYTES - 4)
		return false;
	*at += FRAME_BYTES + (size_t)ret->len + 4;
	return true;
}

static bool is_named(const struct chunk *chunk, const char *name)
{
	return memcmp(chunk->name, name, NAME_BYTES) == 0;
}

/* What stands before the first frame: its own header, and the promise. */
static int put_start(struct apng *apng, const uint8_t *signature,
		     const struct chunk *header)
{
	uint8_t control[8];
	int rc = put_bytes(apng, signature, SIGNATURE_BYTES);

	if (rc == 0)
		rc = put_chunk(apng, "IHDR", NULL, 0, header->data,
			       header->len);
	put_number(control, apng->count);
	put_number(control + 4, 0); /* again and again */
	if (rc == 0)
		rc = put_chunk(apng, "acTL", NULL, 0, control, sizeof(control));
	return rc;
}

static int put_control(struct apng *apng, const struct chunk *header,
		       const struct apng_place *place)
{
	uint8_t control[26] = { 0 }; /* disposal 0: leave, blend 0: replace */

	put_number(control, apng->sequence++);
	memcpy(control + 4, header->data, 8); /* width, height */
	put_number(control + 12, place->x);
	put_number(control + 16, place->y);
	control[20] = (uint8_t)(place->delay_ms >> 8);
	control[21] = (uint8_t)place->delay_ms;
	control[22] = 1000 >> 8;
	control[23] = 1000 & 0xff;
	return put_chunk(apng, "fcTL", NULL, 0, control, sizeof(control));
}

int apng_open(struct apng **ret, const char *path, uint32_t count)
{
	FILE *file = fopen(path, "we");
	struct apng *apng;

	if (file == NULL)
		return -errno;
	apng = xcalloc(1, sizeof(*apng));
	apng->file = file;
	apng->count = count;
	*ret = apng;
	return 0;
}

int apng_add(struct apng *apng, const uint8_t *data, size_t len,
	     const struct apng_place *place)
{
	size_t at = SIGNATURE_BYTES;
	struct chunk chunk;
	uint8_t number[4];
	int rc = 0;

	if (len < SIGNATURE_BYTES || !next_chunk(data, len, &at, &chunk) ||
	    !is_named(&chunk, "IHDR") || chunk.len != HEADER_BYTES)
		return -EINVAL;
	if (apng->added == 0)
		rc = put_start(apng, data, &chunk);
	if (rc == 0)
		rc = put_control(apng, &chunk, place);
	while (rc == 0 && !is_named(&chunk, "IEND")) {
		if (!next_chunk(data, len, &at, &chunk))
			return -EINVAL;
		if (!is_named(&chunk, "IDAT"))
			continue;
		if (apng->added == 0) {
			rc = put_chunk(apng, "IDAT", NULL, 0, chunk.data,
				       chunk.len);
			continue;
		}
		put_number(number, apng->sequence++);
		rc = put_chunk(apng, "fdAT", number, sizeof(number), chunk.data,
			       chunk.len);
	}
	apng->added++;
	return rc;
}

int apng_close(struct apng *apng)
{
	int rc;

	if (apng == NULL)
		return 0;
	rc = put_chunk(apng, "IEND", NULL, 0, NULL, 0);
	if (rc == 0 && apng->added != apng->count)
		rc = -EINVAL;
	if (fclose(apng->file) != 0 && rc == 0)
		rc = -errno;
	free(apng);
	return rc;
}
