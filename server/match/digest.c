/* SPDX-License-Identifier: MIT */
#include "server/match/digest.h"

#include <stdbool.h>
#include <string.h>

/* Odd, with about half of their bits set; part of the format for ever. */
#define MULTIPLY_A UINT64_C(0x9e3779b97f4a7c15)
#define MULTIPLY_B UINT64_C(0xd6e8feb86659fd93)
#define START_VALUE UINT64_C(0x68696c6c2d303031)

static uint64_t mix(uint64_t value, uint64_t word)
{
	value ^= word * MULTIPLY_A;
	value = (value << 29 | value >> 35) * MULTIPLY_B;
	return value ^ value >> 32;
}

static uint64_t load_le64(const char *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

void digest_init(struct digest *digest)
{
	memset(digest, 0, sizeof(*digest));
	digest->value = START_VALUE;
	digest->step = 1;
	digest->next = 1;
}

void digest_lines(struct digest *digest, unsigned seat, const char *bytes,
		  size_t len)
{
	uint64_t value = mix(digest->value, (uint64_t)len << 3 | seat);

	while (len >= 8) {
		value = mix(value, load_le64(bytes));
		bytes += 8;
		len -= 8;
	}
	if (len > 0) {
		char last[8] = { 0 };

		memcpy(last, bytes, len);
		value = mix(value, load_le64(last));
	}
	digest->value = value;
}

static void take_sample(struct digest *digest)
{
	if (digest->count == DIGEST_SAMPLES_MAX) {
		for (uint32_t i = 0; i < DIGEST_SAMPLES_MAX / 2; i++)
			digest->samples[i] = digest->samples[2 * i + 1];
		digest->count = DIGEST_SAMPLES_MAX / 2;
		digest->step *= 2;
		/* This input may lie between two samples now. */
		digest->next = (digest->count + 1) * digest->step;
		if (digest->inputs < digest->next)
			return;
	}
	digest->samples[digest->count++] = digest->value;
	digest->next += digest->step;
}

void digest_input(struct digest *digest)
{
	if (digest->inputs == UINT32_MAX)
		return;
	digest->inputs++;
	if (digest->inputs == digest->next)
		take_sample(digest);
}

size_t digest_export(const struct digest *digest, uint64_t *ret)
{
	ret[0] = digest->step;
	memcpy(ret + 1, digest->samples,
	       digest->count * sizeof(digest->samples[0]));
	return digest->count + 1;
}

/* What comes out of a database may be anything. */
static bool has_step(const uint64_t *samples, size_t count)
{
	return count > 0 && samples[0] > 0 && samples[0] <= UINT32_MAX &&
	       (samples[0] & (samples[0] - 1)) == 0;
}

void digest_part(const uint64_t *a, size_t na, const uint64_t *b, size_t nb,
		 uint64_t *from, uint64_t *to)
{
	uint64_t step;

	*from = 0;
	*to = UINT64_MAX;
	if (!has_step(a, na) || !has_step(b, nb))
		return;
	/* Both are powers of two, so the coarser grid is part of the finer. */
	step = a[0] > b[0] ? a[0] : b[0];
	for (uint64_t n = 1;; n++) {
		uint64_t at_a = n * (step / a[0]);
		uint64_t at_b = n * (step / b[0]);

		if (at_a >= na || at_b >= nb)
			return;
		if (a[at_a] != b[at_b]) {
			*to = n * step;
			return;
		}
		*from = n * step;
	}
}
