/* SPDX-License-Identifier: MIT */
/*
 * lambda_internal.h - the mine of lambda-mining, one command at a time.
 * Seen by the engine, its tests and golden-check; others use game.h.
 *
 * A mine is a grid of characters, those of the map file, with a border of
 * wall all around, so that no rule ever looks outside. Row 0 is the border
 * below the bottom row and `stride` leads one row up; a cell's index grows in
 * the very order in which the rules visit the cells.
 *
 * One update is done in one of two ways that give the same mine:
 *
 *	sparse  visit only the stones around which something changed since
 *		they were last found at rest, and the beards with room to grow
 *	dense   compute every cell from its old neighbours, 16 at a time
 *
 * A mine starts dense; lambda_update() goes to and fro by the count of what
 * moves. Pure; one thread per mine; a map may be shared.
 */
#ifndef HILL_GAMES_LAMBDA_INTERNAL_H
#define HILL_GAMES_LAMBDA_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"
#include "server/games/game.h"

enum {
	LAMBDA_NTRAMPOLINES = 9,
	LAMBDA_NTARGETS = 9,
	LAMBDA_NUMBER_MAX = 1000000000, /* of a metadata line */
	LAMBDA_SLACK = 64,              /* readable bytes behind the border */
};

/* How a run stands; the numbers are those of the `outcome` column. */
enum lambda_status {
	LAMBDA_ONGOING,
	LAMBDA_ABORT,
	LAMBDA_LOSE,
	LAMBDA_WIN,
	LAMBDA_NSTATUSES
};

struct lambda_trampoline {
	uint32_t at;         /* cell; 0: the map has none of this letter */
	uint32_t target;     /* cell */
	unsigned target_row; /* from 1, the bottom */
};

/* A parsed map; immutable. */
struct lambda_map {
	unsigned width, height; /* without the border */
	uint32_t stride;        /* width + 2 */
	uint32_t size;          /* cells, the border's included */
	unsigned char *cells;   /* owned; size + LAMBDA_SLACK bytes */
	uint32_t robot, lift;
	unsigned robot_row; /* from 1, the bottom */
	uint32_t total;     /* lambdas and higher order rocks */
	bool has_beards;
	int64_t water, flooding, waterproof, growth, razors;
	struct lambda_trampoline trampolines[LAMBDA_NTRAMPOLINES];
};

/* Cells to look at. May name one several times, and cells long changed. */
struct lambda_list {
	uint32_t *at; /* inside the mine's block */
	size_t count, cap;
};

struct lambda_move {
	uint32_t from, to;
	unsigned char cell; /* what arrives: * @ or a lambda */
};

/* A map being played. */
struct lambda_sim {
	const struct lambda_map *map; /* borrowed */
	void *block;                  /* owned: all the arrays below */
	unsigned char *cells;         /* size + LAMBDA_SLACK bytes */
	unsigned char *next;          /* likewise: what a dense update writes */
	struct lambda_list stones;    /* sparse: that may be able to move */
	struct lambda_list beards;    /* sparse: that may have room to grow */
	struct lambda_move *moves;    /* scratch: stones.cap of them */
	size_t dense_at; /* this many stones to visit call for a dense update */
	bool is_dense;   /* the lists are not kept */
	bool is_crowded; /* a list overflowed: it has to become so */
	unsigned nstay;  /* dense updates to make before asking again */
	bool has_growth; /* beards grow at all */
	bool is_lift_open;
	enum lambda_status status;
	uint32_t robot;
	unsigned robot_row;
	uint32_t collected;
	int64_t steps;
	int64_t razors, water, under_water;
	int64_t flood_in, grow_in; /* steps until the next time */
	uint64_t spent; /* work done so far, in units of about 10 ns */
};

/* ---- lambda_map.c ---- */

/*
 * Parse the LEN bytes at DATA into MAP. 0; -EINVAL: ERROR names line and
 * column; -ENOMEM. MAP is the caller's to release, only after success.
 */
int lambda_map_init(struct lambda_map *map, const char *data, size_t len,
		    struct game_error *error) WARN_UNUSED;
/* MAP may be NULL or all zero. */
void lambda_map_release(struct lambda_map *map);

/* ---- lambda_step.c ---- */

/* Bytes that a mine of MAP takes beside the struct itself. */
size_t lambda_sim_bytes(const struct lambda_map *map);
/* MAP as it lies, before the first step; it must outlive SIM. 0 or -ENOMEM. */
int lambda_sim_init(struct lambda_sim *sim,
		    const struct lambda_map *map) WARN_UNUSED;
/* SIM may be NULL or all zero. */
void lambda_sim_release(struct lambda_sim *sim);
/*
 * Carry out one command. After the end, and for a byte that is no command,
 * nothing happens.
 */
void lambda_step(struct lambda_sim *sim, char command);
/* Whether BYTE is one of L R U D W S A. */
bool lambda_is_command(char byte);
/* 75, 50 or 25 a lambda collected, less the steps. */
int64_t lambda_score(const struct lambda_sim *sim);
/* "ongoing", "abort", "lose", "win" */
const char *lambda_status_word(enum lambda_status status);
/* The rows, top first, each with its LF, appended to OUT. */
void lambda_rows(const struct lambda_sim *sim, struct buf *out);

/* ---- lambda_update.c: of one step; for lambda_step.c and tests ---- */

/*
 * The map update alone: stones, beards, lift. GROWS: a step in which beards
 * grow.
 */
void lambda_update(struct lambda_sim *sim, bool grows);
/* Cell AT has become empty: whoever that may set free is noted. */
void lambda_emptied(struct lambda_sim *sim, uint32_t at);
/* Something was put on cell AT, which was empty. */
void lambda_filled(struct lambda_sim *sim, uint32_t at);

/* ---- lambda_dense.c ---- */

/*
 * Stones and beards of one update, into sim->next. Returns how many stones
 * moved.
 */
size_t lambda_dense_pass(struct lambda_sim *sim, bool grows);

static inline bool lambda_is_stone(unsigned char cell)
{
	return cell == '*' || cell == '@';
}

#endif
