/* SPDX-License-Identifier: MIT */
/*
 * rate.h - rounds become ratings; private to server/store and its tests.
 *
 * A round closes in the transaction of its last match, or by rate_close; only
 * then its ranking is rated, so a match and what it changed are on disk
 * together or not at all. Ranking: an open round's runs by points, a set's
 * bots by the sum of their ranks. In a set that somebody left, each match not
 * played counts as lost by who left, all others level. A void match is as if
 * it had not been; a set with one is void itself. One that the host made void
 * while its round was open is no part of the ranking, but still one of the
 * matches that close it: the lobby, which counts them too, plays no other.
 *
 * Ratings are a function of the rounds and their sequence: rate_recompute
 * finds the same bits again.
 *
 * All inside a transaction of DB, under its lock. 0 or -errno with ERROR set.
 */
#ifndef HILL_STORE_RATE_H
#define HILL_STORE_RATE_H

#include "server/store/db.h"
#include "server/store/store.h"

struct match_record;

/* Note the round of RECORD, played on INSTANCE_ID, if it is the first. */
int rate_open(struct db *db, const struct match_record *record,
	      int64_t instance_id, struct store_error *error) WARN_UNUSED;
/* RECORD is saved: close its round when that was the last match of it. */
int rate_saved(struct db *db, const struct match_record *record,
	       struct store_error *error) WARN_UNUSED;
/*
 * Close ROUND_ID now, whatever it lacks. LEFT: the versions that left a set,
 * commas between. Nothing when it is closed already, or has no match.
 */
int rate_close(struct db *db, int64_t round_id, const char *left, bool is_void,
	       struct store_error *error) WARN_UNUSED;
/* Close all that are open: rate the runs of open rounds, void the sets. */
int rate_close_all(struct db *db, struct store_error *error) WARN_UNUSED;
/* What the closing of ROUND_ID changed; *RET is NULL while it is open. free. */
int rate_read(struct db *db, int64_t round_id, struct row_closing **ret,
	      struct store_error *error) WARN_UNUSED;
/*
 * What event SEQUENCE ranks by the matches as they are stored now, whatever it
 * changed when it was rated: *RET_COUNT places, none when it is void. Only
 * reads.
 */
int rate_ranking(struct db *db, int64_t sequence,
		 struct row_place ret[ROW_ROUND_PLACES], size_t *ret_count,
		 struct store_error *error) WARN_UNUSED;
/*
 * Rate all rounds of LADDER_ID again whose event is FROM (1: all) or later, in
 * their sequence, and replace what is there; what lies before is right. Rounds
 * that void matches left without a ranking become void, others rated.
 * *RET_DIFFERS: ratings that are not, bit by bit, what was there.
 */
int rate_recompute(struct db *db, int64_t ladder_id, int64_t from,
		   uint64_t *ret_differs,
		   struct store_error *error) WARN_UNUSED;

#endif
