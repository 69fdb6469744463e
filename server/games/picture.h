/* SPDX-License-Identifier: MIT */
/*
 * picture.h - pictures as plain 8-bit RGB, and PNG files in memory.
 *
 * Any thread; nothing here keeps state.
 */
#ifndef HILL_GAMES_PICTURE_H
#define HILL_GAMES_PICTURE_H

#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"
#include "server/base/buffer.h"

struct game_error;
struct game_grid;

/* Rows from the top, pixels from the left, three bytes (R, G, B) each. */
struct picture {
	unsigned width, height;
	uint8_t *rgb; /* owned: 3 * width * height bytes */
};

/*
 * Decode the LEN bytes of a PNG file at DATA, whatever its form: alpha and
 * tRNS are dropped, not blended; of 16-bit samples the high byte counts; gamma
 * is not applied. Sides above SIDE_MAX pixels are refused before memory is
 * taken for them. 0 and a picture to picture_release(), or -EINVAL (not a PNG,
 * damaged, cut short, too large), -ENOMEM; ERROR says what.
 */
int picture_decode_png(struct picture *ret, const void *data, size_t len,
		       unsigned side_max, struct game_error *error) WARN_UNUSED;
/*
 * Append PICTURE to OUT as a PNG of 8-bit RGB, not interlaced, without
 * ancillary chunks: the same pixels always give the same bytes (as long as
 * zlib is the same). 0, or -ENOMEM, also when OUT's limit is reached; then
 * OUT holds what it held before and has failed.
 */
int picture_encode_png(const struct picture *picture,
		       struct buf *out) WARN_UNUSED;
/*
 * The same, but the same bytes for ever, whatever zlib: for what has to be
 * made again elsewhere. Somewhat larger. 0, -ENOMEM likewise, -EINVAL for
 * rows of more than 32 KiB.
 */
int picture_encode_plain(const struct picture *picture,
			 struct buf *out) WARN_UNUSED;
/* The picture that GRID's colours make. 0, -ENOMEM. */
int picture_from_grid(struct picture *ret,
		      const struct game_grid *grid) WARN_UNUSED;
/* Free the pixels; the struct is empty afterwards. NULL is fine. */
void picture_release(struct picture *picture);

#endif
