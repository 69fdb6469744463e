/* SPDX-License-Identifier: MIT */
/*
 * image_battle.h - the image-battle engine, and what only a printer of its
 * original's lines asks it beside game.h.
 */
#ifndef HILL_GAMES_IMAGE_BATTLE_H
#define HILL_GAMES_IMAGE_BATTLE_H

#include <stdint.h>

#include "server/games/game.h"

extern const struct game game_image_battle;

enum image_battle_end {
	IMAGE_BATTLE_RUNNING,
	IMAGE_BATTLE_NULL, /* a turn in which nobody placed a pixel */
	IMAGE_BATTLE_MAXTURNS,
	IMAGE_BATTLE_LEFT, /* every seat is suspended or gone */
	IMAGE_BATTLE_NENDS
};

struct image_battle_view {
	enum image_battle_end end;
	int64_t turn;      /* the current one, from 1; 0 before begin */
	int64_t completed; /* turns done, but for one that was all passes */
	int64_t accepted;  /* pixels placed so far, all seats together */
	unsigned seats;
	uint8_t order[GAME_SEATS_MAX];      /* seats as this turn asks them */
	uint8_t faults[GAME_SEATS_MAX];     /* late answers by seat */
	uint8_t colours[GAME_SEATS_MAX][3]; /* R, G, B by seat */
};

/* Where the battle STATE (of game_image_battle) stands. */
void image_battle_look(const struct game_state *state,
		       struct image_battle_view *ret);

#endif
