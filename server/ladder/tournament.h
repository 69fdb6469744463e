/* SPDX-License-Identifier: MIT */
/*
 * tournament.h - which matches a tournament still has to play, and who is
 * ahead: a pure function of its rules, its entrants and the results so far.
 *
 *	tournament = tournament_new(&rules, nentrants, NULL);
 *	for each stored result, by pairing, set and turn:
 *		tournament_add(tournament, &result);
 *	n = tournament_next(tournament, matches, max);
 *	... play them, store each result, tournament_add() it ...
 *	if (tournament_is_finished(tournament))
 *		tournament_standings(tournament, table);
 *
 * Nothing else is kept anywhere: after a crash the same calls on the stored
 * results give the same matches that are still to be played. Results of
 * matches that are open at the same time may come in any order; a result
 * whose match is not known (yet) is refused. Results sorted by (pairing, set,
 * turn) are always accepted.
 *
 * Words. An *entrant* is a number from 0, in seeded order: 0 is the best. A
 * *pairing* is entrants who meet in a round; it is played in one or more
 * *sets*, each on one instance; a set is one or more matches (*turns*):
 *   - a solo game: each entrant alone on the instance, compared by points;
 *   - a shared game: one match, or with `is_rotated` as many as there are
 *     seats, the seats rotated by one each time.
 * A set is won by the smaller sum of ranks. Points are counted in halves: a
 * win is 2, a draw 1; among more than two entrants each one beaten is a win.
 *
 * Pure: no I/O, no clock, no chance but `seed`. One thread at a time.
 */
#ifndef HILL_LADDER_TOURNAMENT_H
#define HILL_LADDER_TOURNAMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"
#include "server/base/limits.h"

enum {
	TOURNAMENT_ENTRANTS_MAX = 1024,
	TOURNAMENT_MATCHES_MAX = 100000,
	TOURNAMENT_SETS_MAX = 99,
	TOURNAMENT_ROUNDS_MAX = 10000,
	TOURNAMENT_SWISS_MAX = 40960, /* entrants times rounds */
	TOURNAMENT_TIE_BREAKS = 4,
	TOURNAMENT_EXTRA_SETS = 2 /* when an elimination pairing is level */
};

enum tournament_format {
	TOURNAMENT_CONTEST,     /* each entrant alone, on every instance */
	TOURNAMENT_ROUND_ROBIN, /* every pair meets `sets` times */
	TOURNAMENT_SWISS,       /* `rounds` rounds against equals */
	TOURNAMENT_SINGLE,      /* who loses a pairing is out */
	TOURNAMENT_DOUBLE,      /* who loses two is out */
	TOURNAMENT_NFORMATS
};

struct tournament_rules {
	enum tournament_format format;
	unsigned seats; /* of one match, 1..LIMIT_SEATS */
	/*
	 * Entrants of a pairing. A contest: 1. A solo game: 2..LIMIT_SEATS. A
	 * shared game: as many as seats. Eliminations: 2.
	 */
	unsigned group;
	unsigned sets;   /* of a pairing; best of them but in a round robin */
	unsigned rounds; /* Swiss: rounds; contest: instances; others: 0 */
	bool is_rotated; /* shared games: a set has a match for each rotation */
	bool has_third;  /* single elimination: a pairing for third place */
	uint64_t seed;   /* of all that is left to chance */
};

enum tournament_bracket {
	TOURNAMENT_MAIN,
	TOURNAMENT_WINNERS, /* of a double elimination */
	TOURNAMENT_LOSERS,
	TOURNAMENT_THIRD,
	TOURNAMENT_FINAL,
	TOURNAMENT_RESET, /* the second final, when the loser's side won */
	TOURNAMENT_NBRACKETS
};

/* A match to be played. */
struct tournament_match {
	uint32_t pairing; /* from 0 */
	uint32_t set;     /* of the pairing, from 0 */
	uint32_t turn;    /* of the set, from 0 */
	uint32_t round;   /* from 1 */
	enum tournament_bracket bracket;
	uint32_t instance; /* from 0: equal numbers are equal worlds */
	unsigned nseats;
	uint32_t entrants[LIMIT_SEATS]; /* by seat */
	/*
	 * Bit S: the entrant of seat S has withdrawn. The match is not to be
	 * played: add its result with the same bits at once.
	 */
	unsigned absent;
};

/* What became of it. */
struct tournament_result {
	uint32_t pairing;
	uint32_t set;
	uint32_t turn;
	unsigned absent; /* bit S: seat S was not there; then ranks are moot */
	uint8_t ranks[LIMIT_SEATS];  /* by seat, from 1; ties share */
	int64_t points[LIMIT_SEATS]; /* by seat, the game's; 0 when absent */
	double scores[LIMIT_SEATS];
	uint32_t faults[LIMIT_SEATS];
};

/* Entrants who meet; what is known of it so far. */
struct tournament_pairing {
	uint32_t number;
	uint32_t round;
	enum tournament_bracket bracket;
	bool is_ready; /* its entrants are known */
	bool is_done;
	bool is_bye; /* nobody to meet: done without a match */
	/* It was done, and too little of it counts: tournament_take_back(). */
	bool is_undecided;
	unsigned nentrants;
	uint32_t entrants[LIMIT_SEATS];
	uint32_t half_points[LIMIT_SEATS]; /* by entrant, once it was done */
	unsigned sets_done;
};

struct tournament_standing {
	uint32_t entrant;
	uint32_t rank;       /* from 1; ties share */
	int64_t half_points; /* contest: 0 */
	uint32_t sets;       /* that were decided, byes not */
	uint32_t wins;       /* opponents beaten in them */
	uint32_t draws;
	uint32_t losses;
	uint32_t byes;
	uint32_t forfeits; /* matches it was absent from */
	int64_t total;     /* of the game's points */
	double score;      /* of the game's scores */
	uint64_t faults;
	int64_t tie_breaks[TOURNAMENT_TIE_BREAKS]; /* see their names */
};

struct tournament;

/*
 * Why these rules make no tournament of ENTRANTS entrants: a text for people,
 * static; NULL when they do. It costs next to nothing.
 */
const char *tournament_refusal(const struct tournament_rules *rules,
			       unsigned entrants) WARN_UNUSED;
/*
 * Likewise why no new one should be made: a round robin of tables is laid out
 * to count them, and a Swiss tournament has only so many rounds as can be made
 * anew in some milliseconds, when a match of an early one becomes void.
 */
const char *tournament_plan_refusal(const struct tournament_rules *rules,
				    unsigned entrants) WARN_UNUSED;
/*
 * Rules that tournament_refusal() has not refused. OUT_ROUNDS (borrowed for
 * the call, may be NULL): by entrant the first round it is not paired in any
 * more because it withdrew; 0: never. In formats whose pairings are fixed it
 * forfeits what is left. The caller owns what it gets: tournament_free().
 */
struct tournament *tournament_new(const struct tournament_rules *rules,
				  unsigned entrants,
				  const uint32_t *out_rounds) WARN_UNUSED;
void tournament_free(struct tournament *tournament);
/*
 * 0; -ENOENT no such match is to be played (now); -EEXIST it has a result;
 * -EINVAL ranks or absent seats that cannot be.
 */
int tournament_add(struct tournament *tournament,
		   const struct tournament_result *result) WARN_UNUSED;
/*
 * Likewise a result from the disk, which stands there with the ENTRANTS by
 * seat it was for: -ESTALE when the match is for others now, because a result
 * before it was taken back.
 */
int tournament_add_stored(struct tournament *tournament,
			  const struct tournament_result *result,
			  const uint32_t *entrants) WARN_UNUSED;
/*
 * The result of a match counts no more, and the match is to be played again.
 * 0; -ENOENT it has no result; -ESTALE a later set, pairing or round has come
 * of it: then nothing has changed, and the tournament is to be built anew.
 */
int tournament_forget(struct tournament *tournament, uint32_t pairing,
		      uint32_t set, uint32_t turn) WARN_UNUSED;
/*
 * ENTRANT withdraws: as if tournament_new() had been told that ROUND. 0;
 * -ESTALE it is in that round already, or was out: likewise.
 */
int tournament_set_out(struct tournament *tournament, uint32_t entrant,
		       uint32_t round) WARN_UNUSED;
/*
 * The result of a match counts no more, and the match is not played again: who
 * meets whom later stays as it was, the table is made of the rest. For a
 * tournament that is over, once all its results were added; only tables and
 * pairings may be asked for then. 0; -ENOENT it has no result.
 */
int tournament_take_back(struct tournament *tournament, uint32_t pairing,
			 uint32_t set, uint32_t turn);
/*
 * Up to MAX of the matches that may be played now, all of which may run at
 * once, earlier rounds first. Returns how many were written.
 */
size_t tournament_next(const struct tournament *tournament,
		       struct tournament_match *ret, size_t max);
/* The match of that number: 0, or -ENOENT when it is not known (yet). */
int tournament_match_at(const struct tournament *tournament, uint32_t pairing,
			uint32_t set, uint32_t turn,
			struct tournament_match *ret) WARN_UNUSED;
/* Whether nothing is left to be played. */
bool tournament_is_finished(const struct tournament *tournament);
/* Pairings that stay undecided: tournament_take_back(). */
size_t tournament_undecided(const struct tournament *tournament);
/* The round of the first pairing that is not done; the last one's at the end. */
uint32_t tournament_round(const struct tournament *tournament);
/* All pairings known so far, by number; borrowed until the next add. */
const struct tournament_pairing *tournament_pairings(
	const struct tournament *tournament, size_t *ret_count);
/* Of these, how many have their entrants: it grows when a pairing is made. */
size_t tournament_known(const struct tournament *tournament);
/* Matches that have a result. */
uint32_t tournament_matches_done(const struct tournament *tournament);
/*
 * The table, RET[entrants], by rank and then by entrant; of an unfinished
 * tournament the one so far.
 */
void tournament_standings(const struct tournament *tournament,
			  struct tournament_standing *ret);
/* "Buchholz"; NULL where the format has no such tie-break. */
const char *tournament_tie_break_name(enum tournament_format format,
				      unsigned which);
/* What 1 of that tie-break is counted in: 1 whole, 2 halves, 4 quarters. */
unsigned tournament_tie_break_unit(enum tournament_format format,
				   unsigned which);
/*
 * How everybody fared against everybody: at [A * entrants + B] the half points
 * that A got from B, in the sets they met in (in the pairings, where those are
 * won by the best of several sets), and how many those were. Both arrays are
 * the caller's, entrants * entrants long.
 */
void tournament_cross(const struct tournament *tournament,
		      uint32_t *ret_half_points, uint32_t *ret_meetings);
/* The least and the greatest number of matches, nobody withdrawing. */
void tournament_count(const struct tournament_rules *rules, unsigned entrants,
		      uint64_t *ret_min, uint64_t *ret_max);
/* 63 bits: the seed of an instance, where none are given in order. */
int64_t tournament_instance_seed(uint64_t seed, uint32_t instance);
/* Matches of one set. */
unsigned tournament_turns(const struct tournament_rules *rules);
/* "swiss", as files and commands say it. */
const char *tournament_format_word(enum tournament_format format);
/* The opposite: -EINVAL when there is no such word. */
int tournament_format_find(const char *word,
			   enum tournament_format *ret) WARN_UNUSED;

#endif
