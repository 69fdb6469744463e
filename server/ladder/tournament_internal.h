/* SPDX-License-Identifier: MIT */
/*
 * tournament_internal.h - what the formats share; private to server/ladder and
 * its tests.
 *
 * tournament.c keeps pairings and results and knows what a set is; a format
 * says which pairings there are, and makes more of them when one is done.
 */
#ifndef HILL_LADDER_TOURNAMENT_INTERNAL_H
#define HILL_LADDER_TOURNAMENT_INTERNAL_H

#include "server/ladder/tournament.h"

/* A seat that stays empty: the loser of a bye. */
#define TOURNAMENT_NOBODY UINT32_MAX

struct tournament_turn {
	bool is_done;
	uint8_t absent;
	uint8_t ranks[LIMIT_SEATS];
	int64_t points[LIMIT_SEATS];
	double scores[LIMIT_SEATS];
	uint32_t faults[LIMIT_SEATS];
};

/* Beside each pairing: its sets, as far as they were begun. */
struct tournament_sets {
	struct tournament_turn
		*turns; /* owned; set * turns of a set + turn; or NULL */
	uint32_t first_instance;
	uint32_t taken_back; /* sets that were done, and are no more */
};

struct tournament {
	struct tournament_rules rules;
	const struct tournament_format_ops *ops;
	unsigned nentrants;
	uint32_t *out_rounds;                /* owned; by entrant */
	struct tournament_pairing *pairings; /* owned */
	struct tournament_sets *sets;        /* owned, beside them */
	size_t npairings;
	size_t room;
	size_t pairings_done;
	uint32_t matches_done;
	unsigned rounds_made; /* Swiss */
	/* Eliminations: where the winner and the loser of a pairing go. */
	struct tournament_way *ways; /* owned */
	bool is_over;                /* no more pairings will be made */
};

struct tournament_format_ops {
	/* All pairings that are known before the first result. */
	void (*start)(struct tournament *tournament);
	/* PAIRING was just decided. */
	void (*advance)(struct tournament *tournament, uint32_t pairing);
	/*
	 * Fill in tie-breaks and ranks of TABLE, which is by entrant and has
	 * all else. HALF and MEETINGS are tournament_cross()'s.
	 */
	void (*rank)(const struct tournament *tournament,
		     struct tournament_standing *table, const uint32_t *half,
		     const uint32_t *meetings);
};

extern const struct tournament_format_ops tournament_contest_ops;
extern const struct tournament_format_ops tournament_round_robin_ops;
extern const struct tournament_format_ops tournament_swiss_ops;
extern const struct tournament_format_ops tournament_elimination_ops;

/* ---- tournament.c ---- */

/* Add a pairing that is ready; ENTRANTS is copied. Returns its number. */
uint32_t tournament_pair(struct tournament *tournament, uint32_t round,
			 const uint32_t *entrants, unsigned count);
/* Add one that waits for its entrants. */
uint32_t tournament_pair_later(struct tournament *tournament, uint32_t round,
			       enum tournament_bracket bracket);
/* ENTRANT meets nobody in ROUND: full points, no match. */
uint32_t tournament_bye(struct tournament *tournament, uint32_t round,
			uint32_t entrant);
/* Whether pairings are won by the best of their sets. */
bool tournament_is_best_of(enum tournament_format format);
/* A well mixed 64-bit number of two others. */
uint64_t tournament_mix(uint64_t seed, uint64_t number);

/*
 * Decide PAIRING without any match, or after its last one: the half points of
 * its entrants are set; then advance.
 */
void tournament_decide(struct tournament *tournament, uint32_t pairing);
/* The seat of entrant A (of the pairing) in a match of a shared game. */
unsigned tournament_seat_of(const struct tournament *tournament, unsigned a,
			    uint32_t set, uint32_t turn);

/* ---- tournament_points.c ---- */

/* Half points that entrant A of a pairing gets from its entrant B in a set. */
uint32_t tournament_set_versus(const struct tournament *tournament,
			       uint32_t pairing, uint32_t set, unsigned a,
			       unsigned b);
/*
 * Likewise of the whole pairing, as far as it is decided: the sum of its sets,
 * or 2, 1 or 0 where the best of several wins.
 */
uint32_t tournament_versus(const struct tournament *tournament,
			   uint32_t pairing, unsigned a, unsigned b);
/* Whether the sets that were played decide PAIRING. */
bool tournament_is_decided(const struct tournament *tournament,
			   uint32_t pairing);
/*
 * Sort TABLE by half points and the tie-breaks, all descending,
 * and number the ranks; equal ones share theirs.
 */
void tournament_rank(struct tournament_standing *table, size_t count);

/* ---- tournament_groups.c ---- */

/*
 * Tables of GROUP entrants in which every entrant sits equally often, equally
 * often in each seat, and every pair meets at least MEETINGS times and seldom
 * more. *RET (the caller frees it) holds GROUP numbers a table. Returns the
 * number of tables.
 */
size_t tournament_groups(unsigned entrants, unsigned group, unsigned meetings,
			 uint64_t seed, uint32_t **ret) WARN_UNUSED;

/* ---- tournament_matching.c ---- */

/*
 * A graph of COUNT nodes: pairs[a * count + b] is whether a and b may meet.
 * Whether those with is_in[] can be paired up perfectly; then mates[] says how
 * (COUNT for those who are not in). Edmonds' blossoms, begun from what mates[]
 * already holds.
 */
bool tournament_match_perfect(const bool *pairs, unsigned count,
			      const bool *is_in, uint32_t *mates) WARN_UNUSED;

#endif
