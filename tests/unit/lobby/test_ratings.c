/* SPDX-License-Identifier: MIT */
/* test_ratings.c - what the lobby takes for a version's rating. */
#include <stdlib.h>

#include "server/ladder/rating.h"
#include "server/lobby/lobby_internal.h"
#include "server/lobby/rated.h"
#include "tests/unit/lobby/script.h"
#include "tests/unit/unit.h"

enum { LADDER = 1, VERSION = 7, OTHER = 8 };

/* Everything as it was after event SEQUENCE: VERSION alone, MU. */
static void read_whole(struct world *world, int64_t sequence, double mu)
{
	struct row_rating row = { LADDER, VERSION, mu, 1, 3 };

	world->rows.ratings = &row;
	world->rows.nratings = mu > 0;
	world->rows.rated = sequence;
	world_catalogue(world);
	world->rows.ratings = NULL;
	world->rows.nratings = 0;
	world->rows.rated = 0;
}

/* Event SEQUENCE has made it MU. */
static void close_round(struct world *world, int64_t version, int64_t sequence,
			double mu)
{
	struct row_closing *closing =
		xcalloc(1, sizeof(*closing) + sizeof(closing->changes[0]));

	closing->round_id = sequence;
	closing->ladder_id = LADDER;
	closing->sequence = sequence;
	closing->state = ROW_ROUND_RATED;
	closing->nchanges = 1;
	closing->changes[0] = (struct row_change){
		.version_id = version, .mu = mu, .sigma = 1, .rounds = 4
	};
	lobby_round_closed(world->lobby, sequence, closing, world->now_us);
	free(closing);
	world_apply(world);
}

static double mu_of(struct world *world, int64_t version)
{
	return ratings_get(&world->lobby->ratings, LADDER, version).mu;
}

static void a_whole_reading_replaces_what_was_before(void **state)
{
	struct world *world = *state;
	double fresh = rating_new(&rating_model_default).mu;

	read_whole(world, 5, 30);
	close_round(world, VERSION, 6, 31);
	close_round(world, OTHER, 7, 20);
	assert_true(mu_of(world, VERSION) == 31);
	/* The host has made its matches void. */
	read_whole(world, 7, 0);
	assert_true(mu_of(world, VERSION) == fresh);
	assert_true(mu_of(world, OTHER) == fresh);
	/* Without a word of ratings they stay. */
	close_round(world, VERSION, 8, 32);
	read_whole(world, 0, 0);
	assert_true(mu_of(world, VERSION) == 32);
}

static void the_newer_of_two_that_cross_holds(void **state)
{
	struct world *world = *state;

	close_round(world, VERSION, 6, 31);
	/* Read before that round was closed. */
	read_whole(world, 5, 30);
	assert_true(mu_of(world, VERSION) == 31);
	/* Read after it: its news come late. */
	read_whole(world, 9, 33);
	close_round(world, VERSION, 9, 32);
	assert_true(mu_of(world, VERSION) == 33);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(a_whole_reading_replaces_what_was_before),
		WORLD_TEST(the_newer_of_two_that_cross_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
