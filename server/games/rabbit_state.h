/* SPDX-License-Identifier: MIT */
/*
 * rabbit_state.h - one run of rabbit-runner; for its engine's files only.
 *
 * Crushers and rabbits are kept twice. `crushers` and `rabbits` are the
 * original's dict and set, walked wherever it walks them, because their order
 * shows. `blockers` and `prey` hold the same cells for sight, and answer every
 * question whose answer has no order.
 */
#ifndef HILL_GAMES_RABBIT_STATE_H
#define HILL_GAMES_RABBIT_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "server/games/game.h"
#include "server/games/python27/random.h"
#include "server/games/python27/table.h"
#include "server/games/rabbit_map.h"
#include "server/games/rabbit_sight.h"

/* A crusher as it stood before anybody moved, and where it wants to go. */
struct rabbit_mover {
	struct py27_cell cell;
	uint32_t direction;
};

struct game_state {
	const struct game_map *map; /* borrowed */
	struct game_setup setup;    /* its seeds: `seed_text` */
	char *seed_text; /* owned: both seeds as Python prints them */
	struct py27_table crushers; /* value: enum rabbit_direction */
	struct py27_table rabbits;
	struct rabbit_sight blockers; /* walls and crushers */
	struct rabbit_sight prey;     /* rabbits */
	uint32_t *row_rabbits; /* rabbits on each line of the rectangle */
	uint32_t *column_rabbits;
	struct rabbit_mover *movers; /* one a crusher */
	uint64_t *block;             /* owned: what the above point into */
	int64_t turns_left;
	int64_t score;
	uint64_t draws; /* calls of choice() */
	bool is_over;
	enum game_reason reason;
	struct py27_random random;
};

/*
 * The direction that the crusher in SLOT takes this turn; draws when it sees
 * no rabbit and may choose. Rules: bestdir of the original.
 */
unsigned rabbit_decide(struct game_state *state, struct py27_cell cell,
		       unsigned direction);

/*
 * Everything up to the request for a reply: rabbits appear, crushers move, the
 * three lines go to OUT. Without memory a table or a sight has failed.
 */
void rabbit_start_turn(struct game_state *state, struct game_out *out);
/*
 * Move the rabbits as the reply says. False when it would stop the original;
 * OUT's detail says why. What the rules ignore is noted there as well.
 */
bool rabbit_take_reply(struct game_state *state, const char *text, size_t len,
		       struct game_out *out);
/* ` x,y` for every rabbit, in the order of the set. Appended to OUT. */
void rabbit_put_rabbits(const struct game_state *state, struct buf *out);
/*
 * Set OUT's invalid bit and its detail, WHY and up to 60 bytes of TEXT, unless
 * this call of the engine set them before.
 */
void rabbit_note_invalid(struct game_out *out, const char *why,
			 const char *text, size_t len);

#endif
