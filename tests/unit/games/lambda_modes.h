/* SPDX-License-Identifier: MIT */
/* lambda_modes.h - the ways of updating a mine, each forced on a test. */
#ifndef HILL_TESTS_UNIT_GAMES_LAMBDA_MODES_H
#define HILL_TESTS_UNIT_GAMES_LAMBDA_MODES_H

#include <limits.h>

#include "server/games/lambda_internal.h"

enum lambda_mode {
	MODE_AUTO,   /* as it comes */
	MODE_SPARSE, /* from the first update on */
	MODE_DENSE,
	MODE_TIGHT, /* lists so short that they overflow all the time */
	NMODES
};

/* Name every stone and beard in the lists, if they all fit. */
static inline void lambda_begin_sparse(struct lambda_sim *sim)
{
	struct lambda_list *stones = &sim->stones, *beards = &sim->beards;

	for (uint32_t at = 0; at < sim->map->size; at++) {
		if (stones->count == stones->cap ||
		    beards->count == beards->cap) {
			stones->count = 0;
			beards->count = 0;
			return;
		}
		if (lambda_is_stone(sim->cells[at]))
			stones->at[stones->count++] = at;
		else if (sim->cells[at] == 'W')
			beards->at[beards->count++] = at;
	}
	sim->is_dense = false;
}

static inline void lambda_force(struct lambda_sim *sim, enum lambda_mode mode)
{
	switch (mode) {
	case MODE_AUTO:
	case NMODES:
		break;
	case MODE_SPARSE:
		sim->dense_at = SIZE_MAX;
		lambda_begin_sparse(sim);
		break;
	case MODE_DENSE:
		sim->dense_at = 0;
		sim->nstay = UINT_MAX;
		break;
	case MODE_TIGHT:
		sim->dense_at = 16;
		sim->stones.cap = 5;
		sim->beards.cap = 27;
		break;
	}
}

#endif
