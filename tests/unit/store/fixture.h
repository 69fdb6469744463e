/* SPDX-License-Identifier: MIT */
/* fixture.h - a folder, a small catalogue and records for the store's tests. */
#ifndef HILL_TESTS_UNIT_STORE_FIXTURE_H
#define HILL_TESTS_UNIT_STORE_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "server/match/record.h"
#include "server/store/store.h"

enum {
	FIXTURE_BOTS = 3,   /* crazy, digger, painter: versions 1..3 */
	FIXTURE_RANDOM = 1, /* the ladder of random seeds */
	FIXTURE_RANGE = 2,  /* the one of seeds 10..14 */
	FIXTURE_MAP = 1     /* small.map */
};

struct fixture {
	char folder[64]; /* fresh; removed with all that is in it */
	char path[96];   /* hill.db in there; not yet made */
};

/* cmocka's setup and teardown: *STATE is a struct fixture. */
int fixture_setup(void **state);
int fixture_teardown(void **state);
/* Make the file and put the catalogue in. store_close. */
struct store *fixture_store(const struct fixture *fixture);
/* Open what is there. */
struct store *fixture_reopen(const struct fixture *fixture);
void fixture_fill(struct store *store);
/*
 * A match of NSEATS seats on the random ladder, all its figures made from ID.
 * match_record_free.
 */
struct match_record *fixture_record(int64_t id, unsigned nseats);
/* Likewise with a transcript of LEN bytes that do not compress. */
struct match_record *fixture_large_record(int64_t id, size_t len);
/* Fail unless match ID is there as fixture_record made it. */
void fixture_check(struct store *store, int64_t id, unsigned nseats);
/* The events that come until COUNT of KIND were seen; fails after 20 s. */
void fixture_await(struct store *store, enum store_event_kind kind,
		   unsigned count, struct store_event *ret_last);

#endif
