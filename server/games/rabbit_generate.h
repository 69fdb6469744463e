/* SPDX-License-Identifier: MIT */
/*
 * rabbit_generate.h - fresh maps of rabbit-runner, and the check that each of
 * them has passed. For rabbit_runner.c and tests; others use generate.h.
 */
#ifndef HILL_GAMES_RABBIT_GENERATE_H
#define HILL_GAMES_RABBIT_GENERATE_H

#include "server/games/game.h"

enum { RABBIT_NPRESETS = 7 };

extern const struct game_preset rabbit_presets[RABBIT_NPRESETS];

/* game->generate */
int rabbit_generate(unsigned preset, unsigned seats, uint64_t seed,
		    struct buf *ret, struct buf *ret_options);
/*
 * Whether MAP can be played as a map should: walls all around (off the grid
 * is floor); one connected floor with every start, crusher and exit on it and
 * nothing cut off; no start nearer to an exit than a quarter of width plus
 * height; no crusher that sees a start before the first turn, which would
 * keep rabbits from it. 0, or -EINVAL with ERROR set.
 */
int rabbit_check(const struct game_map *map,
		 struct game_error *error) WARN_UNUSED;

#endif
