/* SPDX-License-Identifier: MIT */
/* test_loop.c - the time that the loop takes itself, and whose it is. */
#include "server/net/net_internal.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/store/store.h"
#include "tests/unit/unit.h"

enum { LONG_US = 300000 };

static int start(void **state)
{
	const struct net_settings settings = {
		.lobby = { .host = "test.host",
			   .stall_void_ms = 10000,
			   .login_ms = 60000,
			   .peers_max = 10,
			   .registrations_per_hour = 3,
			   .matches_max = 10,
			   .results_max = 10,
			   .match_budget_bytes = 1 << 20,
			   .map_budget_bytes = 1 << 20 },
		.output_stall_ms = 1000,
		.dead_peer_ms = 60000,
		.workers = 1,
	};
	struct store_error store_error;
	struct net_error error;
	struct store *store;
	struct net *net;

	log_set_level(LOG_LEVEL_ERROR);
	assert_int_equal(
		store_open(&store, ":memory:", STORE_CREATE, &store_error), 0);
	assert_int_equal(store_writer_start(store), 0);
	assert_int_equal(net_new(&net, &settings, store, &error), 0);
	*state = net;
	return 0;
}

static int stop(void **state)
{
	struct net *net = *state;
	struct store *store = net->store;

	assert_int_equal(net_free(net), 0);
	store_close(store);
	return 0;
}

static void what_a_callback_takes_is_not_the_next_ones(void **state)
{
	struct net *net = *state;
	int64_t begun_us;

	net_turn_began(net);
	begun_us = net->turn_us;
	assert_true(begun_us > 0);
	net->turn_us -= LONG_US;
	net_turn_began(net);
	/* Credited up to now: only the rest is still to be. */
	assert_true(net->turn_us >= begun_us);
	net->turn_us = 0;
}

/* The first time it takes long, while an alarm fires; then it is the end. */
static void on_second(void *arg, struct net_second *second_take)
{
	const struct timespec time = { .tv_nsec = LONG_US * INT64_C(1000) };
	struct net *net = arg;

	free(second_take->live);
	free(second_take->metrics);
	free(second_take->saved);
	if (net->is_draining) {
		net_stop(net);
		return;
	}
	net->armed_us = clock_now_us() + 5000;
	(void)nanosleep(&time, NULL);
	/* More is due, so that no new alarm is set; and something comes. */
	net->tick_us = clock_now_us();
	assert_int_equal(raise(SIGTERM), 0);
}

static void time_lost_while_deadlines_are_met_is_lost_once(void **state)
{
	struct net *net = *state;
	int64_t begun_us = clock_now_us();

	net->settings.drain_ms = 60000;
	net_on_second(net, on_second, net);
	assert_int_equal(net_run(net), 0);
	assert_true(net->figures.lag.sum_us >= LONG_US);
	assert_true(net->figures.lag.sum_us <= clock_now_us() - begun_us);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			what_a_callback_takes_is_not_the_next_ones, start,
			stop),
		cmocka_unit_test_setup_teardown(
			time_lost_while_deadlines_are_met_is_lost_once, start,
			stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
