/* SPDX-License-Identifier: MIT */
/*
 * rabbit_runner.h - the engine of rabbit-runner, and what the contract of
 * game.h has no word for.
 */
#ifndef HILL_GAMES_RABBIT_RUNNER_H
#define HILL_GAMES_RABBIT_RUNNER_H

#include "server/games/game.h"

extern const struct game game_rabbit_runner;

/*
 * What the original's randint(1, 1000) would return now. With seed argument 0
 * it is the seed of the next run; of a run that is over, for a chain of them.
 */
unsigned rabbit_runner_next_seed(const struct game_state *state);
/*
 * The first seed of such a chain when the generator itself was seeded with
 * INITIAL. 0, -EINVAL when it is no integer, -ENOMEM.
 */
int rabbit_runner_first_seed(const char *initial, unsigned *ret) WARN_UNUSED;

/*
 * Whether MAP has neither a start nor an exit. The original plays it; but it
 * can only be another kind of file.
 */
bool rabbit_runner_map_is_bare(const struct game_map *map);

#endif
