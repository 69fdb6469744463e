/* SPDX-License-Identifier: MIT */
/* chance.c - xoshiro256** and what the generators ask of it. */
#include "server/games/chance.h"

static uint64_t rotated(uint64_t word, unsigned by)
{
	return word << by | word >> (64 - by);
}

void chance_init(struct chance *chance, uint64_t seed)
{
	for (unsigned i = 0; i < 4; i++) {
		uint64_t word;

		seed += 0x9e3779b97f4a7c15;
		word = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9;
		word = (word ^ word >> 27) * 0x94d049bb133111eb;
		chance->state[i] = word ^ word >> 31;
	}
}

uint64_t chance_next(struct chance *chance)
{
	uint64_t *state = chance->state;
	uint64_t word = rotated(state[1] * 5, 7) * 9;
	uint64_t shifted = state[1] << 17;

	state[2] ^= state[0];
	state[3] ^= state[1];
	state[1] ^= state[2];
	state[0] ^= state[3];
	state[2] ^= shifted;
	state[3] = rotated(state[3], 45);
	return word;
}

uint32_t chance_below(struct chance *chance, uint32_t bound)
{
	/* drop the first values, of which a remainder has one too many */
	uint32_t skipped = (uint32_t)(-bound) % bound;
	uint32_t word;

	do {
		word = (uint32_t)(chance_next(chance) >> 32);
	} while (word < skipped);
	return word % bound;
}

unsigned chance_between(struct chance *chance, unsigned first, unsigned last)
{
	return first + chance_below(chance, last - first + 1);
}

bool chance_percent(struct chance *chance, unsigned percent)
{
	return chance_below(chance, 100) < percent;
}
