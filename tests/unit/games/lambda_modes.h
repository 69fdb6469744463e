/* SPDX-License-Identifier: MIT */
/* lambda_modes.h - the ways of updating a mine, each forced on a test. */
#ifndef HILL_TESTS_UNIT_GAMES_LAMBDA_MODES_H
#define HILL_TESTS_UNIT_GAMES_LAMBDA_MODES_H

#include <limits.h>

#include "server/games/lambda_internal.h"

enum lambda_mode {
	MODE_AUTO,   /* as it comes */
	MODE_SPARSE, /* after the first update */
	MODE_DENSE,
	MODE_TIGHT, /* lists so short that they overflow all the time */
	NMODES
};

static inline void lambda_force(struct lambda_sim *sim, enum lambda_mode mode)
{
	switch (mode) {
	case MODE_AUTO:
	case NMODES:
		break;
	case MODE_SPARSE:
		sim->dense_at = SIZE_MAX;
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
