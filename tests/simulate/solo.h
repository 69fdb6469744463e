/* SPDX-License-Identifier: MIT */
/*
 * solo.h - a solo ladder with bots of known strength, in virtual time.
 *
 * 16 bots of unlike speed play one run after the other, each in a round that
 * server/ladder/rounds.h chooses, or chance, or the one open for longest. The
 * points of a run are the bot's strength and normal noise of deviation beta;
 * a round's own difficulty is the same for all. A round is rated when full, or
 * when it has to make room: 16 are open at most.
 */
#ifndef HILL_TESTS_SIMULATE_SOLO_H
#define HILL_TESTS_SIMULATE_SOLO_H

#include "tests/simulate/simulate.h"

enum { SOLO_BOTS = 16, SOLO_RUNS = 2000 };

struct solo_figures {
	size_t most_open;  /* rounds */
	int64_t oldest_us; /* of a round when it closed */
};

/* Play SOLO_RUNS runs, RUNS a round, and add to CURVE[i] the correlation
 * after run i, SHARE times; raise RET_FIGURES. */
void solo_play(enum sim_policy policy, uint32_t runs, uint64_t seed,
	       double share, double *curve, struct solo_figures *figures);

#endif
