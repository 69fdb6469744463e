/* SPDX-License-Identifier: MIT */
/* tournament_play.h - play tournaments by chance, for tests. */
#ifndef HILL_TESTS_UNIT_LADDER_TOURNAMENT_PLAY_H
#define HILL_TESTS_UNIT_LADDER_TOURNAMENT_PLAY_H

#include "server/ladder/tournament.h"

struct played {
	struct tournament *tournament; /* owned */
	unsigned entrants;
	struct tournament_result *results; /* owned; in the order they came */
	size_t nresults;
	struct tournament_standing *table; /* owned */
};

/* Chance that entrants are absent from a match, of 1000. */
struct play_options {
	uint64_t seed;
	unsigned absent_of_1000;
	unsigned draws_of_1000;
	const uint32_t *out_rounds;
};

/*
 * Play to the end: each time one of the open matches, drawn by chance. Fails
 * the test when a match is offered again or the end never comes.
 */
struct played play_tournament(const struct tournament_rules *rules,
			      unsigned entrants,
			      const struct play_options *options);
void played_release(struct played *played);
/*
 * The same open matches after the first PREFIX results, whether they come as
 * they came or as the database has them.
 */
void check_resume(const struct tournament_rules *rules,
		  const struct played *played, size_t prefix,
		  const struct play_options *options);
/* The result that chance gives a match. */
struct tournament_result draw_result(const struct tournament_match *match,
				     const struct play_options *options);

#endif
