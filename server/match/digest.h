/* SPDX-License-Identifier: MIT */
/*
 * digest.h - a running 64-bit digest of a match's output, with samples.
 *
 * It finds bugs, not forgers. Defined on bytes in little-endian order, so it
 * is the same on every machine. A sample is kept every `step` inputs; when
 * there is no room left every second one goes and the step doubles.
 */
#ifndef HILL_MATCH_DIGEST_H
#define HILL_MATCH_DIGEST_H

#include <stddef.h>
#include <stdint.h>

enum { DIGEST_SAMPLES_MAX = 32 };

struct digest {
	uint64_t value;
	uint32_t inputs; /* digest_input() so far */
	uint32_t step;   /* a power of two */
	uint32_t next;   /* the input at which the next sample is taken */
	uint32_t count;
	uint64_t samples[DIGEST_SAMPLES_MAX]; /* after (i + 1) * step inputs */
};

void digest_init(struct digest *digest);
/* All LEN bytes that one input made the engine say to SEAT. */
void digest_lines(struct digest *digest, unsigned seat, const char *bytes,
		  size_t len);
/* The lines of one input are in: count it, perhaps take a sample. */
void digest_input(struct digest *digest);
/*
 * The samples as they are stored: the step, then the samples. RET has room
 * for DIGEST_SAMPLES_MAX + 1. Returns how many were put there.
 */
size_t digest_export(const struct digest *digest, uint64_t *ret);
/*
 * Where two runs part, from their exported samples: *FROM inputs give the
 * same digest, *TO do not (UINT64_MAX: no sample differs). Steps may differ;
 * with one that is no power of two up to 2^31, nothing is known: 0, UINT64_MAX.
 */
void digest_part(const uint64_t *a, size_t na, const uint64_t *b, size_t nb,
		 uint64_t *from, uint64_t *to);

#endif
