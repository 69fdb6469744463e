/* SPDX-License-Identifier: MIT */
/*
 * thread.h - threads, and which of them hears signals: the one that runs the
 * loop, and no other.
 */
#ifndef HILL_BASE_THREAD_H
#define HILL_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

#include "server/base/alloc.h"

/*
 * Start *RET with all signals blocked; the caller joins it. 0 or -errno of
 * pthread_create. Any thread.
 */
int thread_start(pthread_t *ret, void *(*run)(void *arg),
		 void *arg) WARN_UNUSED;
/*
 * Whether SIGTERM, SIGINT and SIGHUP wait (blocked) or reach the calling
 * thread. They wait where nothing may cut things short and the loop's handlers
 * are not there.
 */
void thread_hold_signals(bool do_wait);

#endif
