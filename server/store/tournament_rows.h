/* SPDX-License-Identifier: MIT */
/*
 * tournament_rows.h - tournaments out of a connection whose lock is held, and
 * back into it; private to server/store.
 */
#ifndef HILL_STORE_TOURNAMENT_ROWS_H
#define HILL_STORE_TOURNAMENT_ROWS_H

#include "server/store/store_internal.h"

/* The word of a state, as the table has it. */
const char *tournament_state_word(enum row_tournament_state state);
/*
 * The tournament ID with entrants and matches. *RET is the caller's:
 * row_tournament_release(), also after a failure. 0, -ENOENT, -EIO.
 */
int tournament_read(struct db *db, int64_t id, struct row_tournament *ret,
		    struct store_error *error) WARN_UNUSED;
/* Why ROW cannot be played, as no `create` would have made it; else NULL. */
const char *tournament_row_refusal(const struct row_tournament *row);
/*
 * What ROW and its matches say: tournament_free(). Matches that no longer fit
 * are left out, *RET_LEFT_OUT (may be NULL) of them; of one that is over the
 * void ones are taken back (tournament_take_back()). NULL: it is refused.
 */
struct tournament *tournament_build(const struct row_tournament *row,
				    size_t *ret_left_out) WARN_UNUSED;
/* A new one with its entrants, in a transaction; *RET_ID is its id. */
int tournament_insert(struct db *db, const struct row_tournament *row,
		      int64_t *ret_id, struct store_error *error) WARN_UNUSED;
/*
 * Pin the versions that were active at AT_US; an entrant without one is out
 * from the first round.
 */
int tournament_pin(struct db *db, int64_t id, int64_t at_us,
		   struct store_error *error) WARN_UNUSED;
/*
 * What RECORD's meeting says, in the transaction of its match. Twice is the
 * same as once.
 */
int tournament_save(struct db *db, const struct match_record *record,
		    struct store_error *error) WARN_UNUSED;
/* Append to RET all that are planned or running, with their matches. */
int tournament_read_open(struct db *db, struct row_catalogue *ret,
			 struct store_error *error) WARN_UNUSED;
int tournament_set_state(struct db *db, int64_t id,
			 enum row_tournament_state state, int64_t now_us,
			 struct store_error *error) WARN_UNUSED;

#endif
