/* SPDX-License-Identifier: MIT */
/*
 * battle.h - an image battle under test: arenas of dots on white, and the
 * feeding of answers. Everything asserts; nothing can fail.
 */
#ifndef HILL_TESTS_UNIT_GAMES_BATTLE_H
#define HILL_TESTS_UNIT_GAMES_BATTLE_H

#include "server/games/image_battle.h"
#include "tests/unit/unit.h"

#define GAME (&game_image_battle)

enum { SIDE = 20, OUT_BYTES = 1 << 20 };

struct dot {
	unsigned x, y;
	uint32_t rgb;
};

/* Red and green in opposite corners. */
extern const struct dot pair[2];

struct battle {
	struct game_map *map;
	struct game_setup setup; /* zero: seed 1 and the fallbacks */
	struct game_state *state;
	struct game_out out; /* of the last call */
	struct image_battle_view view;
};

/* A white arena of WIDTH x HEIGHT with some DOTS, as a PNG in a new PNG. */
void draw(struct buf *png, unsigned width, unsigned height,
	  const struct dot *dots, size_t ndots);
/* map_new of such an arena of SIDE x SIDE. */
int load(struct game_map **ret, const struct dot *dots, size_t ndots,
	 const char *options, struct game_error *error);
/* Load, create and begin; finish() gives all back. */
void start(struct battle *battle, const struct dot *dots, size_t ndots,
	   const char *options, unsigned seats);
void finish(struct battle *battle);
void feed(struct battle *battle, unsigned seat, enum game_input kind,
	  const char *text, size_t len);
/* The one seat that owes an answer. */
unsigned asked(const struct battle *battle);
/* Answer TEXT for the seat that owes one, or be late; which it was. */
unsigned answer(struct battle *battle, const char *text);
unsigned be_late(struct battle *battle);
/* What the last call sent to SEAT. */
const char *lines(const struct battle *battle, unsigned seat);
void assert_dump_holds(const struct battle *battle, const char *text);

#endif
