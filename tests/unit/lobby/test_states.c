/* SPDX-License-Identifier: MIT */
/*
 * test_states.c - what crosses, in each state. Peer a has played match 1 and
 * stands in one of the states; what it says then belongs to another time.
 */
#include "tests/unit/lobby/script.h"
#include "tests/unit/unit.h"

enum { IDLE, QUEUED, OFFERED, READY, PLAYING, NSTATES };

/* Each leads from the state before to its own. */
static const char *const ways[NSTATES] = {
	[IDLE] = "a > @play rabbit-runner\n"
		 "a > @ready 1\n"
		 "a > @leave\n"
		 "a > @resign 1\n"
		 "a <~ @result 1 *\n",
	[QUEUED] = "a > @play spar\n"
		   "a < @queued *\n",
	[OFFERED] = "b > @play spar\n"
		    "b <~ @match 2 *\n"
		    "a < @match 2 *\n",
	[READY] = "a > @ready 2\n"
		  "a <.\n",
	[PLAYING] = "b > @ready 2\n"
		    "a <~ @start 2\n"
		    "a <~ pick*\n"
		    "b <~ @start 2\n",
};

struct crossing {
	const char *says;           /* what happens to a */
	const char *heard[NSTATES]; /* and what comes of it */
};

static const struct crossing crossings[] = {
	{ "a > @ready 1\n", { "", "", "", "", "" } },
	{ "a > @gone 1 exit=0\n", { "", "", "", "", "" } },
	{ "a > @skip 1\n", { "", "", "", "", "" } },
	{ "a > @resign 1\n", { "", "", "", "", "" } },
	{ "a > @ready 3\n",
	  { "a < @error unknown-match *\n", "a < @error unknown-match *\n",
	    "a < @error unknown-match *\n", "a < @error unknown-match *\n",
	    "a < @error unknown-match *\n" } },
	{ "a > @leave\n",
	  { "a < @left\n", "a < @left\n", "a < @left\n", "a < @left\n",
	    "a < @left\n" } },
	{ "a > @leave spar\n",
	  { "a < @left spar\n", "a < @left spar\n", "a < @left spar\n",
	    "a < @left spar\n", "a < @left spar\n" } },
	{ "a > @resign 2\n",
	  { "a < @error unknown-match *\n", "a < @error unknown-match *\n",
	    "a < @cancel 2 * queued=0\nb < @cancel 2 * queued=1\n",
	    "a < @cancel 2 * queued=0\nb < @cancel 2 * queued=1\n",
	    "a <~ @end 2 *\nb > \nb <~ @result 2 *\na <~ @result 2 *\n" } },
	{ "a > @gone 2 exit=1\n",
	  { "a < @error unknown-match *\n", "a < @error unknown-match *\n",
	    "a < @error not-now *\n",
	    "a < @cancel 2 * queued=0\nb < @cancel 2 * queued=1\n",
	    "a <~ @end 2 *\nb > \nb <~ @result 2 *\na <~ @result 2 *\n" } },
	{ "a > 1,1\n", { "", "", "", "", "" } },
	{ "a -\n",
	  { "", "", "b < @cancel 2 * queued=1\n", "b < @cancel 2 * queued=1\n",
	    "b > \nb <~ @end 2 *\nb <~ @result 2 *\n" } },
	{ "a |\n* t 0\n",
	  { "a ! link-end\n", "a ! link-end\n",
	    "a < @cancel 2 * queued=0\na ! link-end\n"
	    "b < @cancel 2 * queued=1\n",
	    "a < @cancel 2 * queued=0\na ! link-end\n"
	    "b < @cancel 2 * queued=1\n",
	    "a <~ @end 2 *\nb > \nb <~ @result 2 *\n* t 0\n"
	    "a <~ @result 2 *\na ! link-end\n" } },
	{ "a > @quit\n",
	  { "a ! quit\n", "a ! quit\n", "a ! quit\nb < @cancel 2 * queued=1\n",
	    "a ! quit\nb < @cancel 2 * queued=1\n",
	    "a ! quit\nb > \nb <~ @end 2 *\n" } },
	/* Nothing is due to a in idle and queued, however long it takes. */
	{ "* t 10001\n",
	  { "", "", "a < @cancel 2 * queued=0\nb < @cancel 2 * queued=0\n",
	    "a < @cancel 2 * queued=1\nb < @cancel 2 * queued=0\n",
	    "a <~ @fault late *\n" } },
};

static void what_crosses_is_dealt_with_in_each_state(void **state)
{
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(crossings); i++) {
		for (unsigned at = IDLE; at < NSTATES; at++) {
			struct world world;

			world_init(&world);
			world_login(&world, 'a', "crazy");
			world_login(&world, 'b', "lazy");
			for (unsigned step = IDLE; step <= at; step++)
				world_play(&world, ways[step]);
			world_play(&world, crossings[i].says);
			world_play(&world, crossings[i].heard[at]);
			if (world_peer(&world, 'a')->peer != NULL &&
			    at < PLAYING)
				world_play(&world, "a <.\n");
			world_release(&world);
		}
	}
}

static void before_a_login_nothing_of_a_match_can_be_said(void **state)
{
	world_play(*state, "a +\n"
			   "a < @hill 1 test\n"
			   "a > @ready 1\n"
			   "a < @error not-logged-in *\n"
			   "a > @leave\n"
			   "a < @error not-logged-in *\n"
			   "a > @gone 1\n"
			   "a < @error not-logged-in *\n"
			   "a > \n"
			   "a <.\n"
			   "a |\n"
			   "a ! link-end\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_crosses_is_dealt_with_in_each_state),
		WORLD_TEST(before_a_login_nothing_of_a_match_can_be_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
