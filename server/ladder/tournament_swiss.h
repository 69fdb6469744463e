/* SPDX-License-Identifier: MIT */
/*
 * tournament_swiss.h - a round of a Swiss tournament in the making: what its
 * two ways to pair share. Private to server/ladder.
 */
#ifndef HILL_LADDER_TOURNAMENT_SWISS_H
#define HILL_LADDER_TOURNAMENT_SWISS_H

#include "server/ladder/tournament_internal.h"

/* What all rounds before have come to, by entrant. */
struct tournament_swiss {
	size_t npairings; /* that are in here */
	int64_t *points;  /* owned, as all here: half points */
	uint32_t *byes;
	uint64_t *places; /* the sum of seats it has had */
	uint16_t *met;    /* [a * entrants + b]: how often */
};

/* From here on entrants are by standing: 0 is ahead. */
struct swiss_round {
	struct tournament *tournament;
	uint32_t number;
	unsigned n;      /* entrants that are still in */
	uint32_t *order; /* owned: the entrant */
	unsigned *ends;  /* owned: where those with equal points end */
	uint64_t *left;  /* owned: the set of those not paired yet */
	unsigned nleft;
};

/* How often two have met. */
static inline unsigned swiss_met(const struct swiss_round *round, uint32_t a,
				 uint32_t b)
{
	const struct tournament *tournament = round->tournament;

	return tournament->swiss
		->met[(size_t)round->order[a] * tournament->nentrants +
		      round->order[b]];
}

/* How many rounds one has met nobody in. */
static inline unsigned swiss_byes(const struct swiss_round *round, uint32_t who)
{
	return round->tournament->swiss->byes[round->order[who]];
}

/* ---- tournament_swiss.c ---- */

/* WHO, who is left, is not any more. */
void swiss_leave(struct swiss_round *round, uint32_t who);
/* Likewise, and meets nobody. */
void swiss_bye(struct swiss_round *round, uint32_t who);
/* Who of the set MAY should have a bye: the lowest of those with the fewest. */
uint32_t swiss_choose_bye(const struct swiss_round *round,
			  const uint64_t *may) WARN_UNUSED;
/* Those meet, who have left; who has sat first the least sits first now. */
void swiss_seat(struct swiss_round *round, const uint32_t *who, unsigned count);

/* ---- tournament_swiss_pairs.c, tournament_swiss_tables.c ---- */

/* Pair all who are left: two by two, or at tables of more. */
void swiss_pair_off(struct swiss_round *round);
void swiss_fill_tables(struct swiss_round *round);

#endif
