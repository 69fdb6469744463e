/* SPDX-License-Identifier: MIT */
/*
 * random.c - MT19937 (Matsumoto and Nishimura 1998) with seeding by array, and
 * Python 2.7's way from 32-bit outputs to doubles, indices and orders.
 */
#include "server/games/python27/random.h"

#include <assert.h>
#include <errno.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

/*
 * The originals round products of doubles to 53 bits at each step; with more
 * bits in between an index could differ once in 2^53 draws.
 */
_Static_assert(FLT_EVAL_METHOD == 0, "doubles are evaluated as doubles");

enum {
	NWORDS = PY27_RANDOM_WORDS,
	SHIFT = 397, /* how far ahead the recurrence looks */
	SEED_START = 19650218,
	DIGITS_A_STEP = 9,
};

static void init_by_word(uint32_t *words, uint32_t seed)
{
	words[0] = seed;
	for (uint32_t i = 1; i < NWORDS; i++)
		words[i] =
			1812433253u * (words[i - 1] ^ (words[i - 1] >> 30)) + i;
}

static void init_by_array(struct py27_random *random, const uint32_t *key,
			  size_t count)
{
	uint32_t *words = random->words;
	uint32_t i = 1;
	size_t j = 0;

	init_by_word(words, SEED_START);
	for (size_t k = count > NWORDS ? count : NWORDS; k > 0; k--) {
		uint32_t before = words[i - 1];

		words[i] = (words[i] ^ ((before ^ (before >> 30)) * 1664525u)) +
			   key[j] + (uint32_t)j;
		if (++i == NWORDS) {
			words[0] = words[NWORDS - 1];
			i = 1;
		}
		if (++j == count)
			j = 0;
	}
	for (size_t k = NWORDS - 1; k > 0; k--) {
		uint32_t before = words[i - 1];

		words[i] =
			(words[i] ^ ((before ^ (before >> 30)) * 1566083941u)) -
			i;
		if (++i == NWORDS) {
			words[0] = words[NWORDS - 1];
			i = 1;
		}
	}
	words[0] = 0x80000000u;
	random->next = NWORDS;
}

int py27_random_init(struct py27_random *random, const char *seed)
{
	size_t digits;
	size_t count = 0;
	uint32_t *key;

	if (*seed == '-' || *seed == '+')
		seed++;
	digits = strspn(seed, "0123456789");
	if (digits == 0 || seed[digits] != '\0')
		return -EINVAL;
	/* nine digits take less than a word */
	key = calloc(digits / DIGITS_A_STEP + 1, sizeof(*key));
	if (key == NULL)
		return -ENOMEM;
	while (digits > 0) {
		uint32_t factor = 1;
		uint64_t carry = 0;

		do {
			carry = carry * 10 + (uint64_t)(*seed++ - '0');
			factor *= 10;
			digits--;
		} while (digits % DIGITS_A_STEP != 0);
		for (size_t i = 0; i < count; i++) {
			carry += (uint64_t)key[i] * factor;
			key[i] = (uint32_t)carry;
			carry >>= 32;
		}
		if (carry != 0)
			key[count++] = (uint32_t)carry;
	}
	/* zero is one zero word */
	init_by_array(random, key, count == 0 ? 1 : count);
	free(key);
	return 0;
}

/* What the recurrence makes of a word's top bit and the next one's rest. */
static inline uint32_t twist(uint32_t word, uint32_t after)
{
	uint32_t mixed = (word & 0x80000000u) | (after & 0x7fffffffu);

	return (mixed >> 1) ^ (-(mixed & 1) & 0x9908b0dfu);
}

/* All words anew; in pieces in which no word depends on one just made. */
static void generate(struct py27_random *random)
{
	uint32_t *words = random->words;

	for (size_t i = 0; i < NWORDS - SHIFT; i++)
		words[i] = words[i + SHIFT] ^ twist(words[i], words[i + 1]);
	for (size_t i = NWORDS - SHIFT; i < NWORDS - 1; i++)
		words[i] = words[i + SHIFT - NWORDS] ^
			   twist(words[i], words[i + 1]);
	words[NWORDS - 1] =
		words[SHIFT - 1] ^ twist(words[NWORDS - 1], words[0]);
	random->next = 0;
}

static inline uint32_t temper(uint32_t word)
{
	word ^= word >> 11;
	word ^= (word << 7) & 0x9d2c5680u;
	word ^= (word << 15) & 0xefc60000u;
	return word ^ (word >> 18);
}

static inline uint32_t next_word(struct py27_random *random)
{
	if (random->next >= NWORDS)
		generate(random);
	return temper(random->words[random->next++]);
}

static inline double next_double(struct py27_random *random)
{
	uint32_t high = next_word(random) >> 5;
	uint32_t low = next_word(random) >> 6;

	return (high * 67108864.0 + low) * (1.0 / 9007199254740992.0);
}

double py27_random_double(struct py27_random *random)
{
	return next_double(random);
}

uint32_t py27_random_index(struct py27_random *random, uint32_t count)
{
	assert(count > 0);
	return (uint32_t)(next_double(random) * count);
}

int64_t py27_random_int(struct py27_random *random, int64_t low, int64_t high)
{
	assert(low <= high && high - low < INT32_MAX);
	return low + py27_random_index(random, (uint32_t)(high - low + 1));
}

void py27_random_shuffle(struct py27_random *random, uint32_t *values,
			 uint32_t count)
{
	for (uint32_t i = count; i > 1; i--) {
		uint32_t j = py27_random_index(random, i);
		uint32_t value = values[i - 1];

		values[i - 1] = values[j];
		values[j] = value;
	}
}

uint32_t py27_random_bits(struct py27_random *random, unsigned bits)
{
	assert(bits >= 1 && bits <= 32);
	return next_word(random) >> (32 - bits);
}
