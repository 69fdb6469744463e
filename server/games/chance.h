/* SPDX-License-Identifier: MIT */
/*
 * chance.h - the generators' own random numbers, the same on every machine.
 *
 * xoshiro256** of Blackman and Vigna ("Scrambled Linear Pseudorandom Number
 * Generators", ACM TOMS 47, 2021), its state filled from one 64-bit seed by
 * SplitMix64, as they advise. Integers only. What it yields for a seed never
 * changes: published maps hang on it. Matches have numbers of their own.
 */
#ifndef HILL_GAMES_CHANCE_H
#define HILL_GAMES_CHANCE_H

#include <stdbool.h>
#include <stdint.h>

struct chance {
	uint64_t state[4];
};

void chance_init(struct chance *chance, uint64_t seed);
/* The next 64 bits. */
uint64_t chance_next(struct chance *chance);
/* Evenly one of 0..BOUND - 1; BOUND is at least 1. */
uint32_t chance_below(struct chance *chance, uint32_t bound);
/* Evenly one of FIRST..LAST. */
unsigned chance_between(struct chance *chance, unsigned first, unsigned last);
/* True PERCENT times in a hundred. */
bool chance_percent(struct chance *chance, unsigned percent);

#endif
