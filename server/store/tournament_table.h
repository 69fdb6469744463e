/* SPDX-License-Identifier: MIT */
/*
 * tournament_table.h - who is ahead in a tournament, as JSON: for the host's
 * commands and for the public. Private to server/store. Needs no connection.
 */
#ifndef HILL_STORE_TOURNAMENT_TABLE_H
#define HILL_STORE_TOURNAMENT_TABLE_H

#include <jansson.h>

#include "server/store/tournament_rows.h"

/* Half points as people count them: 3 is 1.5. */
json_t *tournament_points_json(int64_t half_points) WARN_UNUSED;
/*
 * {"finished", "standings", "cross"} of ROW, names and numbers of versions as
 * they are; "cross" only where pairs meet, and with HAS_CROSS. An entrant's
 * "number" is its place in ROW, from 1. The caller's (json_decref). NULL:
 * tournament_row_refusal() says why.
 */
json_t *tournament_table_json(const struct row_tournament *row,
			      bool has_cross) WARN_UNUSED;

#endif
