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
#include "server/ladder/tournament_bits.h"

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
	size_t npairings_known; /* whose entrants are */
	uint32_t matches_done;
	size_t first_open;              /* pairings before it are done */
	unsigned rounds_made;           /* Swiss */
	struct tournament_swiss *swiss; /* owned; or NULL */
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

/* Room for that many pairings more: an add costs the same as any other then. */
void tournament_reserve(struct tournament *tournament, size_t pairings);

/* ---- tournament_rules.c, tournament_count.c ---- */

/* Whether pairings are won by the best of their sets. */
bool tournament_is_best_of(enum tournament_format format);
bool tournament_is_elimination(enum tournament_format format);
/*
 * The most matches, as far as a formula says it: of a round robin of tables
 * there are at least as many.
 */
uint64_t tournament_count_roughly(const struct tournament_rules *rules,
				  unsigned entrants);

/* ---- tournament_swiss*.c ---- */

void tournament_swiss_free(struct tournament_swiss *swiss);

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

/* Nodes below COUNT, which of them may be paired, and which are. */
struct tournament_graph {
	unsigned count;
	unsigned words;  /* of a set of nodes */
	unsigned nin;    /* nodes that are in */
	uint64_t *rows;  /* owned; a set a node: whom it may be paired with */
	uint64_t *in;    /* owned, as all that follows */
	uint64_t *alone; /* of those in: without a mate */
	uint32_t *mates; /* by node; count: none */
	/*
	 * After a tournament_match_one() that found no mate for its node: who
	 * could be without one instead, nobody else losing theirs.
	 */
	uint64_t *even;
	uint64_t *odd; /* scratch, as the rest */
	uint32_t *parents;
	uint32_t *bases;
	uint32_t *queue;
	uint32_t *marks; /* against mark */
	uint32_t mark;
	uint32_t *trail;
};

/* None is in. tournament_graph_release(). */
void tournament_graph_init(struct tournament_graph *graph, unsigned count);
void tournament_graph_release(struct tournament_graph *graph);
void tournament_graph_add(struct tournament_graph *graph, uint32_t node);
/* A and B may be paired with each other. */
void tournament_graph_allow(struct tournament_graph *graph, uint32_t a,
			    uint32_t b);
bool tournament_graph_may(const struct tournament_graph *graph, uint32_t a,
			  uint32_t b);
/* NODE is not in any more. Returns its mate, who is alone now; count: none. */
uint32_t tournament_graph_drop(struct tournament_graph *graph, uint32_t node);
/*
 * Pair up as many as can be, those who have mates keeping some. Whether no
 * more than MOST_ALONE are left; when not, more could be paired yet.
 */
bool tournament_match_all(struct tournament_graph *graph,
			  unsigned most_alone) WARN_UNUSED;
/* A mate for NODE, who is alone; whoever else had one has one then. */
bool tournament_match_one(struct tournament_graph *graph,
			  uint32_t node) WARN_UNUSED;
/*
 * Likewise without WHO, who has a mate: that one and NODE, who is alone, get
 * mates by one exchange at most, and WHO is not in any more. When it finds no
 * such exchange there may be a longer one.
 */
bool tournament_match_near(struct tournament_graph *graph, uint32_t node,
			   uint32_t who) WARN_UNUSED;

#endif
