/* SPDX-License-Identifier: MIT */
/*
 * visible.h - what of the database anybody may know: the one place that says
 * it, for every reader that serves the public. Private to server/store.
 *
 * A match of a tournament under embargo does not exist for the public, until
 * the host reveals it. What tells more of a match than how it ended (seeds,
 * map, transcript, notes, pictures) stays closed while a round on the same
 * instance is open, while a tournament that has played the instance runs,
 * where others play the same later, or is under embargo, and for as long as
 * the map is hidden. Hidden bots have no name. Owners' external ids and notes,
 * tokens, bans' reasons and seeds of tournaments are in no statement of these
 * readers.
 *
 * The conditions are SQL; they use the names m (match), p (map), b (bot), t
 * (tournament), and VISIBLE_NOW stands for the wall clock.
 */
#ifndef HILL_STORE_VISIBLE_H
#define HILL_STORE_VISIBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "server/store/store_internal.h"

enum { VISIBLE_NOW = 20 }; /* the parameter that visible_bind() sets */

#define VISIBLE_TOURNAMENT "(t.is_embargo = 0 OR t.revealed_us IS NOT NULL)"

/*
 * A match of a tournament is told when one that is shown lists it. None lists
 * those that were void and those that were played again.
 */
#define VISIBLE_MATCH                                                     \
	"(m.purpose <> 'tournament' OR EXISTS (SELECT 1 FROM "            \
	"tournament_match x JOIN tournament t ON t.id = x.tournament_id " \
	"WHERE x.match_id = m.id AND " VISIBLE_TOURNAMENT "))"

/*
 * A tournament has m's instance, be it for another match: somebody has to
 * play it yet, or nobody is to know how it went. By an index of tournaments'
 * matches alone: a map and a seed may have been played any number of times.
 */
#define VISIBLE_NOT_CONTESTED                                   \
	"(NOT EXISTS (SELECT 1 FROM match tm INDEXED BY "       \
	"match_of_tournament CROSS JOIN tournament_match x ON " \
	"x.match_id = tm.id CROSS JOIN tournament t ON t.id = " \
	"x.tournament_id WHERE tm.purpose = 'tournament' AND "  \
	"tm.instance_id = m.instance_id AND "                   \
	"(t.state = 'running' OR NOT " VISIBLE_TOURNAMENT ")))"

#define VISIBLE_MAP "(p.visibility = 'public' OR p.public_us <= ?20)"

/*
 * A map that was drawn for a round is as good as its seed: it is named by no
 * list before a match on it is stored (which makes the round), nor while the
 * round is open.
 */
#define VISIBLE_MAP_IDLE                                                  \
	"(p.generator = '' OR (EXISTS (SELECT 1 FROM instance ri JOIN "   \
	"match rm ON rm.instance_id = ri.id WHERE ri.map_id = p.id) AND " \
	"NOT EXISTS (SELECT 1 FROM instance ri JOIN round r ON "          \
	"r.instance_id = ri.id WHERE ri.map_id = p.id AND r.state = "     \
	"'open')))"

#define VISIBLE_WHOLE                                                    \
	"(NOT EXISTS (SELECT 1 FROM round r WHERE r.state = 'open' AND " \
	"r.instance_id = m.instance_id) AND " VISIBLE_NOT_CONTESTED      \
	" AND " VISIBLE_MAP ")"

#define VISIBLE_BOT "(b.is_hidden = 0)"

/* Set VISIBLE_NOW, where the statement has it. */
void visible_bind(struct query *query);
/*
 * Whether match ID is there for the public, and whether all of it. 0,
 * -ENOENT (also when it is not for the public), -EIO. The connection's lock
 * is held.
 */
int visible_match(struct db *db, int64_t id, bool *ret_whole,
		  struct store_error *error) WARN_UNUSED;

#endif
