/* SPDX-License-Identifier: MIT */
/*
 * lambda_generate.h - fresh mines, and the miner who shows that each of them
 * can be won. For lambda_mining.c and tests; others use generate.h.
 */
#ifndef HILL_GAMES_LAMBDA_GENERATE_H
#define HILL_GAMES_LAMBDA_GENERATE_H

#include "server/games/game.h"

struct lambda_map;

enum { LAMBDA_NPRESETS = 8 };

extern const struct game_preset lambda_presets[LAMBDA_NPRESETS];

/* game->generate */
int lambda_generate(unsigned preset, unsigned seats, uint64_t seed,
		    struct buf *ret, struct buf *ret_options);
/*
 * Whether MAP is won, with every lambda, by a simple miner: it goes for the
 * nearest lambda, digs under higher order rocks, shaves beards that are in
 * its way, and takes back a step that killed it. Its route is appended to
 * RET_ROUTE, which may be NULL. 0; -EINVAL with ERROR set when it does not
 * win, which does not prove that nobody can; -ENOMEM. The work is bounded by
 * the mine's size.
 */
int lambda_check(const struct lambda_map *map, struct buf *ret_route,
		 struct game_error *error) WARN_UNUSED;

#endif
