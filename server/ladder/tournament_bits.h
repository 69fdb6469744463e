/* SPDX-License-Identifier: MIT */
/*
 * tournament_bits.h - sets of small numbers, 64 a word; private to
 * server/ladder and its tests. Nothing is checked: members are below 64 times
 * the words, and so is END.
 */
#ifndef HILL_LADDER_TOURNAMENT_BITS_H
#define HILL_LADDER_TOURNAMENT_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* Words of a set of numbers below COUNT. */
static inline unsigned bits_words(unsigned count)
{
	return (count + 63) / 64;
}

static inline bool bits_has(const uint64_t *set, unsigned number)
{
	return (set[number / 64] >> number % 64 & 1) != 0;
}

static inline void bits_add(uint64_t *set, unsigned number)
{
	set[number / 64] |= UINT64_C(1) << number % 64;
}

static inline void bits_remove(uint64_t *set, unsigned number)
{
	set[number / 64] &= ~(UINT64_C(1) << number % 64);
}

/* The members of word WORD that are FROM or more, and below END. */
static inline uint64_t bits_part(const uint64_t *set, unsigned word,
				 unsigned from, unsigned end)
{
	uint64_t part = set[word];

	if (word == from / 64)
		part &= ~UINT64_C(0) << from % 64;
	if (word == end / 64)
		part &= ~(~UINT64_C(0) << end % 64);
	return part;
}

/* The first member from FROM on; END: there is none below END. */
static inline unsigned bits_next(const uint64_t *set, unsigned from,
				 unsigned end)
{
	for (unsigned w = from / 64; from < end && w * 64 < end; w++) {
		uint64_t part = bits_part(set, w, from, end);

		if (part != 0)
			return w * 64 + (unsigned)__builtin_ctzll(part);
	}
	return end;
}

/* The last member below END; END: there is none from FROM on. */
static inline unsigned bits_last(const uint64_t *set, unsigned from,
				 unsigned end)
{
	for (unsigned w = bits_words(end); from < end && w-- > from / 64;) {
		uint64_t part = bits_part(set, w, from, end);

		if (part != 0)
			return w * 64 + 63 - (unsigned)__builtin_clzll(part);
	}
	return end;
}

/* How many members there are from FROM on, below END. */
static inline unsigned bits_count(const uint64_t *set, unsigned from,
				  unsigned end)
{
	unsigned count = 0;

	for (unsigned w = from / 64; from < end && w * 64 < end; w++)
		count += (unsigned)__builtin_popcountll(
			bits_part(set, w, from, end));
	return count;
}

/* The member with NTH others before it from FROM on; END: there is none. */
static inline unsigned bits_nth(const uint64_t *set, unsigned nth,
				unsigned from, unsigned end)
{
	for (unsigned w = from / 64; from < end && w * 64 < end; w++) {
		uint64_t part = bits_part(set, w, from, end);
		unsigned here = (unsigned)__builtin_popcountll(part);

		if (nth >= here) {
			nth -= here;
			continue;
		}
		while (nth-- > 0)
			part &= part - 1;
		return w * 64 + (unsigned)__builtin_ctzll(part);
	}
	return end;
}

#endif
