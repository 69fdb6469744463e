/* SPDX-License-Identifier: MIT */
/*
 * tournament_maps.h - the maps of a tournament whose ladder draws its own:
 * made once, when the tournament is, hidden until it is over.
 */
#ifndef HILL_STORE_TOURNAMENT_MAPS_H
#define HILL_STORE_TOURNAMENT_MAPS_H

#include "server/store/admin_internal.h"

enum { TOURNAMENT_MAPS_MAX = 64, TOURNAMENT_MAPS_DEFAULT = 5 };

/* What was made before the command runs: its `data`. */
struct tournament_maps {
	uint64_t seed; /* the tournament's */
	unsigned count;
	int64_t ids[TOURNAMENT_MAPS_MAX];
};

/*
 * The `prepare` of `tournament create`: when what it says makes a tournament,
 * and its ladder draws its maps, they are made, each of the ladder's presets
 * in turn. 0, or -errno with the command refused.
 */
int tournament_maps_make(struct admin *admin) WARN_UNUSED;
/* The maps of tournament ID, which is over, are no secret any more. */
int tournament_maps_show(struct db *db, int64_t id, int64_t now_us,
			 struct store_error *error) WARN_UNUSED;

#endif
