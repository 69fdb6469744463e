/* SPDX-License-Identifier: MIT */
/*
 * apng.h - an animated PNG file, written frame by frame.
 *
 *	apng_open(&apng, "film.png", 2);
 *	apng_add(apng, first, first_len, &place);     a whole picture
 *	apng_add(apng, second, second_len, &place);   what has changed
 *	apng_close(apng);
 *
 * The frames are PNG files of libpng's; only their chunks are put in another
 * order here. A viewer that knows no animation shows the first one. Nothing
 * but the chunk at hand is in memory. Single-threaded.
 */
#ifndef HILL_CLIENTS_PICTURE_APNG_H
#define HILL_CLIENTS_PICTURE_APNG_H

#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"

struct apng;

/* Where a frame lies on the first one, and how long it is shown. */
struct apng_place {
	uint32_t x, y;
	uint16_t delay_ms;
};

/*
 * Begin the file PATH, which is made or emptied; COUNT (from 1) frames will
 * follow. The caller's: apng_close. 0, or -errno of the file.
 */
int apng_open(struct apng **ret, const char *path, uint32_t count) WARN_UNUSED;
/*
 * Add the picture in the LEN bytes of the PNG file at DATA (borrowed). The
 * first one is at 0,0 and gives the size; the later ones are of the same
 * colour type and lie within it. 0, -EINVAL when DATA is no PNG file, -errno
 * of the file.
 */
int apng_add(struct apng *apng, const uint8_t *data, size_t len,
	     const struct apng_place *place) WARN_UNUSED;
/*
 * End the file and free APNG (NULL is fine). 0, -errno of the file, -EINVAL
 * when there were not as many frames as promised.
 */
int apng_close(struct apng *apng) WARN_UNUSED;

#endif
