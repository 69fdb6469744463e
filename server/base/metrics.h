/* SPDX-License-Identifier: MIT */
/*
 * metrics.h - figures of how things go, in Prometheus' form: a histogram of
 * times, and the lines that tell figures. Each histogram has one owner, who
 * counts without a lock; what another thread shows is a copy.
 */
#ifndef HILL_BASE_METRICS_H
#define HILL_BASE_METRICS_H

#include <stdint.h>

#include "server/base/buffer.h"

enum { METRICS_BOUNDS = 15 };

/* Upper bounds in microseconds, from 100 us to 10 s. */
extern const int64_t metrics_bounds_us[METRICS_BOUNDS];

/* All zero: nothing counted. */
struct metrics_times {
	uint64_t counts[METRICS_BOUNDS + 1]; /* the last: above all bounds */
	int64_t sum_us;
};

/* The place of a time among the counts. */
static inline unsigned metrics_place(int64_t time_us)
{
	unsigned i = 0;

	while (i < METRICS_BOUNDS && time_us > metrics_bounds_us[i])
		i++;
	return i;
}

static inline void metrics_count(struct metrics_times *times, int64_t time_us)
{
	times->counts[metrics_place(time_us)]++;
	times->sum_us += time_us;
}

/* "# HELP NAME HELP" and "# TYPE NAME TYPE", appended to OUT. */
void metrics_head(struct buf *out, const char *name, const char *type,
		  const char *help);
/* One line; LABELS is "" or like `code="busy"`. */
void metrics_line(struct buf *out, const char *name, const char *labels,
		  uint64_t value);
/* Both, for a figure without labels. */
void metrics_figure(struct buf *out, const char *name, const char *type,
		    const char *help, uint64_t value);
/* A whole histogram; in seconds, as is the custom. */
void metrics_histogram(struct buf *out, const char *name, const char *help,
		       const struct metrics_times *times);

#endif
