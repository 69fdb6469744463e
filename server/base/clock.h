/* SPDX-License-Identifier: MIT */
/*
 * clock.h - the only place that asks what time it is. Any thread.
 * Every deadline is monotonic; wall time is for stamps that people read.
 */
#ifndef HILL_BASE_CLOCK_H
#define HILL_BASE_CLOCK_H

#include <stdint.h>

/*
 * Microseconds since an arbitrary moment; never steps back, whoever sets the
 * wall clock.
 */
int64_t clock_now_us(void);
/* Wall time, microseconds since 1970-01-01 UTC. */
int64_t clock_wall_us(void);

#endif
