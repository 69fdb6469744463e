/* SPDX-License-Identifier: MIT */
/*
 * admin_tournament.h - what the tournament's commands share; private to
 * server/store.
 */
#ifndef HILL_STORE_ADMIN_TOURNAMENT_H
#define HILL_STORE_ADMIN_TOURNAMENT_H

#include <stdlib.h>

#include "server/store/admin_internal.h"

/* The tournament that `name` names: row_tournament_release() in any case. */
int admin_tournament_find(struct admin *admin,
			  struct row_tournament *ret) WARN_UNUSED;
json_t *admin_tournament_json(const struct row_tournament *row) WARN_UNUSED;
json_t *admin_tournament_matches(const struct row_tournament *row,
				 const struct tournament *tournament)
	WARN_UNUSED;
json_t *admin_tournament_entrants(const struct row_tournament *row) WARN_UNUSED;

/* Commands of admin_tournament_show.c. */
int admin_tournament_show(struct admin *admin);
int admin_tournament_table(struct admin *admin);
int admin_tournament_export(struct admin *admin);

#endif
