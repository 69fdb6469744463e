/* SPDX-License-Identifier: MIT */
/* test_notice.c - what the host announces reaches everybody once. */
#include <stdio.h>

#include "tests/unit/lobby/script.h"
#include "tests/unit/unit.h"

enum { NOTICES = 4 };

static struct row_announcement notices[NOTICES];

static void announce(struct world *world, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		notices[i].id = (int64_t)i + 1;
		(void)snprintf(notices[i].text, sizeof(notices[i].text),
			       "news %zu", i + 1);
		if (notices[i].ends_us == 0)
			notices[i].ends_us = INT64_MAX;
	}
	world->rows.announcements = notices;
	world->rows.nannouncements = count;
	world_catalogue(world);
}

static int forget(void **state)
{
	struct world *world = *state;

	memset(notices, 0, sizeof(notices));
	world->rows.announcements = NULL;
	world->rows.nannouncements = 0;
	return world_teardown(state);
}

static void who_is_logged_in_is_told_once(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_play(world, "b +\n"
			  "b < @hill 1 test\n");
	announce(world, 1);
	world_play(world, "a < @notice : news 1\n"
			  "a <.\n"
			  "b <.\n");
	announce(world, 2);
	world_play(world, "a < @notice : news 2\n");
	announce(world, 2);
	world_play(world, "a <.\n"
			  "b > @login lazy right\n"
			  "b < @welcome lazy\n"
			  "b < @notice : news 1\n"
			  "b < @notice : news 2\n"
			  "b <.\n");
}

static void what_is_over_or_dropped_is_told_nobody(void **state)
{
	struct world *world = *state;

	notices[0].ends_us = world->now_us + 1000000;
	announce(world, 2);
	world_play(world, "* t 1000\n"
			  "a +\n"
			  "a < @hill 1 test\n"
			  "a > @login crazy right\n"
			  "a < @welcome crazy\n"
			  "a < @notice : news 2\n"
			  "a <.\n");
	world->rows.nannouncements = 0;
	world_catalogue(world);
	world_play(world, "b +\n"
			  "b > @login lazy right\n"
			  "b <~ @welcome lazy\n"
			  "b <.\n");
}

static void a_quiet_match_is_over_before(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match *\n"
			  "a > @ready 1 quiet\n"
			  "a <~ turnsleft 2\n"
			  "a <~ rabbit*\n");
	announce(world, 1);
	world_play(world, "a <.\n"
			  "a > move\n"
			  "a > @resign 1\n"
			  "a <~ @end 1 *\n"
			  "a < @notice : news 1\n");
}

static void a_loud_match_is_told_at_once(void **state)
{
	struct world *world = *state;

	world_login(world, 'a', "crazy");
	world_play(world, "a > @play rabbit-runner\n"
			  "a <~ @match *\n"
			  "a > @ready 1\n"
			  "a <~ @start 1\n"
			  "a <~ turnsleft 2\n"
			  "a <~ rabbit*\n");
	announce(world, 1);
	world_play(world, "a <~ @notice : news 1\n"
			  "a <.\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(who_is_logged_in_is_told_once,
						world_setup, forget),
		cmocka_unit_test_setup_teardown(
			what_is_over_or_dropped_is_told_nobody, world_setup,
			forget),
		cmocka_unit_test_setup_teardown(a_quiet_match_is_over_before,
						world_setup, forget),
		cmocka_unit_test_setup_teardown(a_loud_match_is_told_at_once,
						world_setup, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
