/* SPDX-License-Identifier: MIT */
/*
 * ladder_plan.h - a ladder's row between its command and the database;
 * private to server/store.
 */
#ifndef HILL_STORE_LADDER_PLAN_H
#define HILL_STORE_LADDER_PLAN_H

#include "server/store/admin_internal.h"

struct game;

/* From prepare to run: the row that is being made. */
struct ladder_plan {
	const struct game *game;
	struct row_catalogue all; /* what is there */
	struct row_ladder ladder; /* map_ids owned */
};

/*
 * The `prepare` of `ladder add` and `ladder change`: admin->data is a struct
 * ladder_plan afterwards. 0, or -errno when a field is refused, or a map that
 * the game does not admit with these seats and parameters.
 */
int ladder_plan_add(struct admin *admin) WARN_UNUSED;
int ladder_plan_change(struct admin *admin) WARN_UNUSED;

#endif
