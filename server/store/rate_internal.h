/* SPDX-License-Identifier: MIT */
/*
 * rate_internal.h - a round on its way to its ratings; what rate.c, which
 * closes rounds, and rate_again.c, which rates them once more, have in common.
 *
 * As rate.h: inside a transaction of DB, under its lock; 0 or -errno with ERROR
 * set.
 */
#ifndef HILL_STORE_RATE_INTERNAL_H
#define HILL_STORE_RATE_INTERNAL_H

#include "server/ladder/rating.h"
#include "server/store/rate.h"

/* One that took part in a round, on the way to its rank. */
struct rate_place {
	int64_t version_id;
	int64_t key; /* the lower is the better */
	bool has_left;
	unsigned rank;
	struct row_rating rating; /* before, then after */
};

struct rate_round {
	int64_t id;
	int64_t ladder_id;
	int64_t map_id;
	bool is_set;
	int64_t wanted;
	char *left; /* owned: "12,15" */
	int64_t nmatches;
	bool has_void;
	size_t count;
	struct rate_place places[RATING_PLACES];
};

/* 1 with *RET, whose `left` is the caller's to free; 0: there is none. */
int rate_find_round(struct db *db, int64_t id, struct rate_round *ret,
		    enum row_round_state *ret_state,
		    struct store_error *error) WARN_UNUSED;
/* The ranking of ROUND from its matches, and the state that it closes in. */
int rate_read_ranking(struct db *db, struct rate_round *round,
		      enum row_round_state *ret,
		      struct store_error *error) WARN_UNUSED;
/*
 * Rate the ranking of ROUND as event SEQUENCE, whose row is there: ratings,
 * and what changed. RATED_US is of the wall clock.
 */
int rate_apply_ranking(struct db *db, struct rate_round *round,
		       int64_t sequence, int64_t rated_us,
		       struct store_error *error) WARN_UNUSED;
/* ROUND_ID is in STATE since CLOSED_US of the wall clock; LEFT as in rate_round. */
int rate_write_state(struct db *db, int64_t round_id,
		     enum row_round_state state, const char *left,
		     int64_t closed_us, struct store_error *error) WARN_UNUSED;

#endif
