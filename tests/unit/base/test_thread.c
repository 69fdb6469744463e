/* SPDX-License-Identifier: MIT */
/* test_thread.c - signals are for the loop's thread alone. */
#include "server/base/thread.h"

#include <signal.h>

#include "tests/unit/unit.h"

/* *ARG becomes what the thread does not hear. */
static void *look(void *arg)
{
	(void)pthread_sigmask(SIG_SETMASK, NULL, arg);
	return NULL;
}

static void a_thread_hears_no_signal_and_its_maker_does(void **state)
{
	sigset_t before, after, within;
	pthread_t thread;

	(void)state;
	(void)sigemptyset(&within);
	(void)pthread_sigmask(SIG_SETMASK, NULL, &before);
	assert_int_equal(thread_start(&thread, look, &within), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	(void)pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_int_equal(sigismember(&within, SIGTERM), 1);
	assert_int_equal(sigismember(&within, SIGXFSZ), 1);
	assert_int_equal(sigismember(&within, SIGUSR1), 1);
	for (int i = 1; i <= 31; i++)
		assert_int_equal(sigismember(&after, i),
				 sigismember(&before, i));
}

static void what_stops_hilld_can_wait(void **state)
{
	static const int stops[] = { SIGTERM, SIGINT, SIGHUP };
	sigset_t mask;

	(void)state;
	thread_hold_signals(true);
	(void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(sigismember(&mask, stops[i]), 1);
	assert_int_equal(sigismember(&mask, SIGUSR1), 0);
	thread_hold_signals(false);
	(void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(sigismember(&mask, stops[i]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_hears_no_signal_and_its_maker_does),
		cmocka_unit_test(what_stops_hilld_can_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
