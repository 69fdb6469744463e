/* SPDX-License-Identifier: MIT */
/*
 * standings.h - who stands above whom on a ladder, and how it is printed.
 *
 * The rule, in this order:
 * 1. Established versions stand above provisional ones. Provisional is who
 *    has fewer than STANDINGS_ROUNDS rated rounds or a sigma above
 *    STANDINGS_SIGMA.
 * 2. The higher printed figure stands above. The figure is mu - 3 sigma,
 *    rounded to one decimal (halves away from zero).
 * 3. Equal printed figures of one group share a rank; the next rank counts
 *    them all (1, 2, 2, 4). They are listed by id.
 * Who has played no rated match for STANDINGS_IDLE_US is marked inactive, and
 * that is all that happens to him.
 *
 * Pure: no I/O, no clock. Any thread.
 */
#ifndef HILL_LADDER_STANDINGS_H
#define HILL_LADDER_STANDINGS_H

#include <stddef.h>
#include <stdint.h>

#include "server/ladder/rating.h"

enum { STANDINGS_ROUNDS = 10 }; /* fewer are provisional */
#define STANDINGS_SIGMA 7.0     /* more is provisional */
#define STANDINGS_IDLE_US ((int64_t)14 * 24 * 3600 * 1000000)

enum {
	STANDINGS_PROVISIONAL = 1u << 0,
	STANDINGS_INACTIVE = 1u << 1,
};

/* One bot version on one ladder. */
struct standings_entry {
	struct rating rating;
	uint32_t rounds; /* rated ones */
	int64_t last_us; /* end of its last rated match, or when the version
			    was made; wall clock, like NOW_US */
	int64_t id;      /* the version's: different in every entry */
};

/* One line of the table. */
struct standings_row {
	size_t entry;   /* its place in the array of entries */
	size_t rank;    /* from 1 */
	int64_t figure; /* mu - 3 sigma in tenths, as printed */
	unsigned flags; /* STANDINGS_* */
	double low;     /* 95 % interval of mu */
	double high;
};

/* The printed figure, in tenths: 123 is printed 12.3. */
int64_t standings_figure(const struct rating *rating);

/* STANDINGS_* of ENTRY at NOW_US. */
unsigned standings_flags(const struct standings_entry *entry, int64_t now_us);

/*
 * Put COUNT ENTRIES in order at NOW_US (wall clock): writes COUNT rows to
 * RET_ROWS, the caller's, the first of the table first. Ratings must be valid.
 * The order of ENTRIES has no influence but on row.entry.
 */
void standings_order(const struct standings_entry *entries, size_t count,
		     int64_t now_us, struct standings_row *ret_rows);

#endif
