/* SPDX-License-Identifier: MIT */
/*
 * league.h - every bot on equal instances: which matches that takes, and what
 * their results come to. Pure.
 *
 * An instance is a map and a seed. On each one every group of SEATS bots plays
 * as many matches as it has bots, each of them once in every seat; a solo game
 * has groups of one, so every bot plays each instance once. Matches have
 * numbers from 0, those of an instance follow each other.
 */
#ifndef HILL_CLIENTS_RUN_LEAGUE_H
#define HILL_CLIENTS_RUN_LEAGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/games/game.h"
#include "server/ladder/paired.h"
#include "server/match/match.h"

enum {
	LEAGUE_BOTS_MAX = 32,
	LEAGUE_MAPS_MAX = 1000,
	LEAGUE_MATCHES_MAX = 100000,
};

struct league_plan {
	unsigned nbots, nmaps; /* from 1 */
	unsigned seats;        /* of a match; at most nbots */
	int64_t first_seed, last_seed;
};

struct league_match {
	unsigned number;
	unsigned instance, map;
	int64_t seed;
	unsigned bots[GAME_SEATS_MAX]; /* by seat */
};

/* Matches in all; 0 when there are more than LEAGUE_MATCHES_MAX. */
unsigned league_matches(const struct league_plan *plan);
unsigned league_instances(const struct league_plan *plan);
/* The match NUMBER of PLAN. */
struct league_match league_match(const struct league_plan *plan,
				 unsigned number);

/* What a seat of a match came to. */
struct league_seat {
	double score; /* the original's figure */
	int64_t points;
	unsigned rank;
	enum game_reason reason;
	uint32_t faults[MATCH_NFAULTS];
	int64_t max_us; /* slowest reply in time */
};

/* The result of a match. */
struct league_row {
	bool is_played;
	struct league_seat seats[GAME_SEATS_MAX];
};

/* How the bot fared on one instance. */
struct league_extreme {
	bool is_known;
	unsigned instance;
	double score;  /* its mean there */
	double others; /* that of all other bots; NAN when there are none */
};

struct league_bot {
	unsigned matches;
	double mean; /* score of all its matches; NAN without any */
	/*
	 * Its score less the reference bot's, of the instances on which both
	 * have played all their matches.
	 */
	struct paired difference;
	/* By how far it is from the others, or alone by its score. */
	struct league_extreme worst, best;
	uint64_t faults[MATCH_NFAULTS];
	unsigned gone; /* matches in which its program ended too early */
	int64_t max_us;
};

struct league_versus {
	unsigned wins, draws, losses;
};

struct league_sums {
	unsigned played; /* matches */
	unsigned reference;
	struct league_bot bots[LEAGUE_BOTS_MAX];
	/*
	 * [a][b]: of a against b, by ranks in the matches of both; of a solo
	 * game by points on the instances that both have played.
	 */
	struct league_versus versus[LEAGUE_BOTS_MAX][LEAGUE_BOTS_MAX];
};

/*
 * Sum up ROWS, league_matches() of them by number; those not played are left
 * out. REFERENCE is the bot to compare with; -1: the one with the best mean.
 */
void league_sum(const struct league_plan *plan, const struct league_row *rows,
		int reference, struct league_sums *ret);

#endif
