/* SPDX-License-Identifier: MIT */
/*
 * image_battle_generate.h - fresh arenas, and the check that each of them has
 * passed. For image_battle.c and tests; others use generate.h.
 */
#ifndef HILL_GAMES_IMAGE_BATTLE_GENERATE_H
#define HILL_GAMES_IMAGE_BATTLE_GENERATE_H

#include "server/games/game.h"

enum {
	ARENA_NPRESETS = 8,
	/* of an even share: the white that lies nearest to the worst seat */
	ARENA_SHARE_PERCENT = 75,
};

extern const struct game_preset arena_presets[ARENA_NPRESETS];

/* game->generate */
int arena_generate(unsigned preset, unsigned seats, uint64_t seed,
		   struct buf *ret, struct buf *ret_options);
/*
 * Whether MAP is fair for SEATS: exactly so many colours, each on exactly one
 * pixel; all white is one connected area and every seat alone could paint it
 * all; and the white nearer to a seat than to any other is at least
 * ARENA_SHARE_PERCENT of an even share. 0, or -EINVAL with ERROR set.
 */
int arena_check(const struct game_map *map, unsigned seats,
		struct game_error *error) WARN_UNUSED;

#endif
