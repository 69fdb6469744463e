/* SPDX-License-Identifier: MIT */
#include "server/base/thread.h"

#include <signal.h>

int thread_start(pthread_t *ret, void *(*run)(void *arg), void *arg)
{
	sigset_t all, old;
	int err;

	/* A new thread inherits the mask. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(ret, NULL, run, arg);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -err;
}

void thread_hold_signals(bool do_wait)
{
	sigset_t ours;

	(void)sigemptyset(&ours);
	(void)sigaddset(&ours, SIGTERM);
	(void)sigaddset(&ours, SIGINT);
	(void)sigaddset(&ours, SIGHUP);
	(void)pthread_sigmask(do_wait ? SIG_BLOCK : SIG_UNBLOCK, &ours, NULL);
}
