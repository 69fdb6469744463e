/* SPDX-License-Identifier: MIT */
/*
 * random.h - the random numbers of Python 2.7: MT19937 and what the module
 * `random` makes of it, for the same seed the same numbers to the last bit.
 * Two original controllers draw from it; their engines must draw the same.
 *
 *	struct py27_random random;
 *	if (py27_random_init(&random, "18446744073709551619") < 0) ...
 *	direction = py27_random_index(&random, 4);
 *
 * No allocation is kept; a struct may be copied, the copy draws on its own.
 * Single-threaded.
 */
#ifndef HILL_GAMES_PYTHON27_RANDOM_H
#define HILL_GAMES_PYTHON27_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"

enum { PY27_RANDOM_WORDS = 624 };

struct py27_random {
	uint32_t words[PY27_RANDOM_WORDS];
	uint32_t next; /* the word that comes next; PY27_RANDOM_WORDS: none */
};

/*
 * random.seed(int(SEED)): SEED is decimal digits, as many as you like, with
 * an optional sign (which does not matter). The time grows with the square of
 * the digits. 0, -EINVAL when it is no integer, -ENOMEM.
 */
int py27_random_init(struct py27_random *random, const char *seed) WARN_UNUSED;
/*
 * random.random(): 0 <= value < 1, 53 bits, two outputs of the generator. No
 * engine wants it; by it the tests compare more than an index shows.
 */
double py27_random_double(struct py27_random *random);
/*
 * The index that random.choice() takes of a sequence of COUNT: 0..COUNT-1. One
 * double whatever COUNT is, also for 1. COUNT must not be 0.
 */
uint32_t py27_random_index(struct py27_random *random, uint32_t count);
/* random.randint(LOW, HIGH): both ends included, HIGH - LOW < 2^31. */
int64_t py27_random_int(struct py27_random *random, int64_t low, int64_t high);
/* random.shuffle() of COUNT numbers, in place. */
void py27_random_shuffle(struct py27_random *random, uint32_t *values,
			 uint32_t count);
/* random.getrandbits(BITS), 1..32: one output. For the tests, likewise. */
uint32_t py27_random_bits(struct py27_random *random, unsigned bits);

#endif
