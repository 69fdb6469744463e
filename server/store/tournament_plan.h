/* SPDX-License-Identifier: MIT */
/*
 * tournament_plan.h - a tournament as a command wants it; private to
 * server/store.
 */
#ifndef HILL_STORE_TOURNAMENT_PLAN_H
#define HILL_STORE_TOURNAMENT_PLAN_H

#include "server/store/admin_internal.h"

/* What it will take, by what was played on its ladder lately. */
struct tournament_forecast {
	uint64_t matches_min, matches_max;
	bool is_known;        /* something was played */
	int64_t bytes;        /* of the database, at most */
	int64_t ends_us;      /* wall time, nobody being late */
	int64_t mean_us;      /* of a match */
	uint64_t most_in_row; /* matches one after another */
};

/*
 * The row that the command's fields describe, checked as a whole. *RET is the
 * caller's, also after a refusal: row_tournament_release().
 */
int tournament_plan(struct admin *admin,
		    struct row_tournament *ret) WARN_UNUSED;
/* At least this for any time: "2026-01-31T12:30:00". */
enum { TOURNAMENT_TIME_BYTES = 40 };
void tournament_plan_time_text(int64_t wall_us,
			       char ret[TOURNAMENT_TIME_BYTES]);
/*
 * Which of ROW's entrants had no active version at AT_US: the reply's
 * "without_version" names them. A refusal, with their names, when those who
 * had one are too few for the tournament.
 */
int tournament_plan_check_versions(struct admin *admin,
				   const struct row_tournament *row,
				   int64_t at_us) WARN_UNUSED;
int tournament_forecast(struct admin *admin, const struct row_tournament *row,
			struct tournament_forecast *ret) WARN_UNUSED;

#endif
