/* SPDX-License-Identifier: MIT */
/* Matches in, matches out. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/base/clock.h"
#include "server/store/store_internal.h"
#include "tests/unit/store/fixture.h"
#include "tests/unit/unit.h"

static void save(struct store *store, struct match_record *record)
{
	struct store_error error = { "" };

	if (store_save(store, record, &error) != 0)
		fail_msg("%s", error.text);
	match_record_free(record);
}

/* The same on a file and without one. */
static void gives_back_what_was_saved(struct store *store)
{
	struct match_record *record;
	struct store_error error = { "" };
	struct row_match match;

	for (int64_t id = 1; id <= 20; id++)
		save(store, fixture_record(id, 1 + (unsigned)id % LIMIT_SEATS));
	for (int64_t id = 1; id <= 20; id++)
		fixture_check(store, id, 1 + (unsigned)id % LIMIT_SEATS);
	record = fixture_record(21, 2);
	record->is_void = true;
	strcpy(record->void_reason, "stall: the host slept");
	save(store, record);
	assert_int_equal(store_match(store, 21, &match, &error), 0);
	assert_int_equal(match.status, ROW_MATCH_VOID);
	assert_string_equal(match.void_reason, "stall: the host slept");
	assert_int_equal(match.seats[0].rank, 0);
	assert_int_equal(store_match(store, 22, &match, &error), -ENOENT);
	assert_non_null(strstr(error.text, "no match 22"));
}

static void saves_on_a_file(void **state)
{
	struct fixture *fixture = *state;
	struct store *store = fixture_store(fixture);

	gives_back_what_was_saved(store);
	store_close(store);
	store = fixture_reopen(fixture);
	fixture_check(store, 20, 1 + 20 % LIMIT_SEATS);
	store_close(store);
}

static void saves_in_memory(void **state)
{
	struct store_error error = { "" };
	struct store *store;

	(void)state;
	if (store_open(&store, ":memory:", STORE_CREATE, &error) != 0)
		fail_msg("%s", error.text);
	fixture_fill(store);
	gives_back_what_was_saved(store);
	store_close(store);
}

static void keeps_every_field_of_a_seat(void **state)
{
	struct store *store = fixture_store(*state);
	struct match_record *record = fixture_record(7, 2);
	struct match_record_seat *seat = &record->seats[1];
	struct store_error error = { "" };
	struct row_match match;
	struct row_seat *row = &match.seats[1];

	seat->score = (struct game_score){ .points = INT64_MIN,
					   .rank = 2,
					   .score = 1.8e-308,
					   .reason = GAME_SUSPENDED };
	seat->requests = 11;
	seat->faults[MATCH_FAULT_LATE] = 1;
	seat->faults[MATCH_FAULT_INVALID] = 2;
	seat->faults[MATCH_FAULT_LONG] = 3;
	seat->faults[MATCH_FAULT_FULL] = 4;
	seat->early = 5;
	seat->banked = 6;
	seat->max_us = 7;
	seat->total_us = 8;
	seat->lag_us = 9;
	strcpy(seat->how, "stdout=closed");
	assert_int_equal(store_save(store, record, &error), 0);
	assert_int_equal(store_match(store, 7, &match, &error), 0);
	assert_true(row->points == INT64_MIN);
	assert_int_equal(row->rank, 2);
	assert_true(row->score == seat->score.score);
	assert_string_equal(row->reason, "suspended");
	assert_int_equal(row->requests, 11);
	assert_int_equal(row->faults, 10);
	assert_int_equal(row->late, 1);
	assert_int_equal(row->invalid, 2);
	assert_int_equal(row->overlong, 3);
	assert_int_equal(row->overfull, 4);
	assert_int_equal(row->early, 5);
	assert_int_equal(row->banked, 6);
	assert_int_equal(row->max_us, 7);
	assert_int_equal(row->total_us, 8);
	assert_int_equal(row->lag_us, 9);
	assert_string_equal(row->how, "stdout=closed");
	assert_int_equal(row->ncolumns, record->game->ncolumns);
	/* Monotonic times became wall-clock ones. */
	assert_true(llabs(match.ended_us - clock_wall_us()) < 10 * 1000000);
	assert_true(llabs(match.ended_us - match.started_us -
			  (record->ended_us - record->started_us)) < 2);
	match_record_free(record);
	store_close(store);
}

static void counts_of(struct store *store, struct row_counts *ret)
{
	struct store_error error = { "" };

	if (store_counts(store, ret, &error) != 0)
		fail_msg("%s", error.text);
}

static void saves_a_match_whole_or_not_at_all(void **state)
{
	struct store *store = fixture_store(*state);
	struct match_record *record = fixture_record(5, 3);
	struct store_error error = { "" };
	struct row_counts counts;
	int64_t seats;

	record->seats[2].version_id = 99; /* nobody's */
	assert_int_equal(store_save(store, record, &error), -EINVAL);
	record->seats[2].version_id = 1;
	record->seats[1].score.score = nan("");
	assert_int_equal(store_save(store, record, &error), -EINVAL);
	record->seats[1].score.score = 1;
	record->map_id = 77;
	assert_int_equal(store_save(store, record, &error), -EINVAL);
	record->map_id = FIXTURE_MAP;
	free((void *)(uintptr_t)record->setup.seed);
	record->setup.seed = xstrdup("9223372036854775808");
	assert_int_equal(store_save(store, record, &error), -EINVAL);
	assert_non_null(strstr(error.text, "9223372036854775808"));
	counts_of(store, &counts);
	assert_int_equal(counts.matches, 0);
	assert_int_equal(db_number(&store->write,
				   "SELECT (SELECT count(*) FROM seat) + "
				   "(SELECT count(*) FROM instance) + "
				   "(SELECT count(*) FROM transcript)",
				   &seats, &error),
			 0);
	assert_int_equal(seats, 0);
	match_record_free(record);
	store_close(store);
}

/* A commit whose answer was lost is tried again; another's id is not taken. */
static void saves_the_same_match_once(void **state)
{
	struct store *store = fixture_store(*state);
	struct match_record *record = fixture_record(5, 2);
	struct store_error error = { "" };
	struct row_counts counts;

	assert_int_equal(store_save(store, record, &error), 0);
	assert_int_equal(store_save(store, record, &error), 0);
	counts_of(store, &counts);
	assert_int_equal(counts.matches, 1);
	record->digest++;
	assert_int_equal(store_save(store, record, &error), -EINVAL);
	assert_non_null(strstr(error.text, "another match has this id"));
	match_record_free(record);
	fixture_check(store, 5, 2);
	store_close(store);
}

static void gives_no_id_twice(void **state)
{
	struct fixture *fixture = *state;
	struct store *store = fixture_store(fixture);
	struct store_error error = { "" };
	struct row_ids ids;

	assert_int_equal(store_reserve_ids(store, &ids, &error), 0);
	assert_int_equal(ids.first, 1);
	assert_int_equal(ids.count, 1000);
	assert_int_equal(store_reserve_ids(store, &ids, &error), 0);
	assert_int_equal(ids.first, 1001);
	/* Nobody used the block; it stays told. */
	store_close(store);
	store = fixture_reopen(fixture);
	assert_int_equal(store_reserve_ids(store, &ids, &error), 0);
	assert_int_equal(ids.first, 2001);
	/* However a match came by its id. */
	save(store, fixture_record(70000, 1));
	assert_int_equal(store_reserve_ids(store, &ids, &error), 0);
	assert_int_equal(ids.first, 70001);
	store_close(store);
}

static int64_t next_seed(struct store *store)
{
	struct store_error error = { "" };
	struct row_catalogue catalogue;
	int64_t next;

	assert_int_equal(store_catalogue(store, &catalogue, &error), 0);
	assert_int_equal(catalogue.ladders[1].id, FIXTURE_RANGE);
	next = catalogue.ladders[1].seed_next;
	row_catalogue_release(&catalogue);
	return next;
}

static void tells_which_reading_of_the_catalogue_is_newer(void **state)
{
	struct store_error error = { "" };
	struct row_catalogue first, second;
	struct store *store = fixture_store(*state);

	assert_int_equal(store_catalogue(store, &first, &error), 0);
	assert_int_equal(store_catalogue(store, &second, &error), 0);
	assert_true(first.serial > 0);
	assert_true(second.serial > first.serial);
	row_catalogue_release(&first);
	row_catalogue_release(&second);
	store_close(store);
}

static void remembers_where_a_ladder_is_in_its_seeds(void **state)
{
	static const struct {
		int seed, next;
	} steps[] = {
		{ 10, 11 }, { 12, 13 }, { 11, 13 }, { 13, 14 },
		{ 14, 10 }, { 99, 10 }, { 13, 10 }, { 10, 11 },
	};
	struct store *store = fixture_store(*state);
	int64_t id = 0;

	assert_int_equal(next_seed(store), 10);
	for (size_t i = 0; i < COUNT_OF(steps); i++) {
		struct match_record *record = fixture_record(++id, 1);
		char text[8];

		record->ladder_id = FIXTURE_RANGE;
		free((void *)(uintptr_t)record->setup.seed);
		(void)snprintf(text, sizeof(text), "%d", steps[i].seed);
		record->setup.seed = xstrdup(text);
		save(store, record);
		assert_int_equal(next_seed(store), steps[i].next);
	}
	store_close(store);
}

static void save_seed(struct store *store, int64_t id, int64_t seed)
{
	struct match_record *record = fixture_record(id, 1);
	char text[24];

	record->ladder_id = FIXTURE_RANGE;
	record->seats[0].bot_id = record->seats[0].version_id = 2;
	free((void *)(uintptr_t)record->setup.seed);
	(void)snprintf(text, sizeof(text), "%lld", (long long)seed);
	record->setup.seed = xstrdup(text);
	save(store, record);
}

static void finds_how_far_a_bot_walked_a_ladders_seeds(void **state)
{
	/* Seeds 10 to 14, round and round; 99 is none of them. */
	static const struct {
		int seed;
		uint64_t next;
		unsigned nagain;
		uint64_t again; /* the highest */
	} steps[] = {
		{ 10, 1, 0, 0 }, { 12, 3, 1, 1 }, { 99, 3, 1, 1 },
		{ 11, 3, 0, 0 }, { 13, 4, 0, 0 }, { 14, 5, 0, 0 },
		{ 10, 6, 0, 0 }, { 13, 9, 2, 7 }, { 11, 9, 1, 7 },
	};
	struct store *store = fixture_store(*state);
	struct store_error error = { "" };
	struct row_catalogue rows;

	assert_int_equal(store_catalogue(store, &rows, &error), 0);
	assert_int_equal(store_roads(store, &rows, &error), 0);
	assert_int_equal(rows.nroads, 0);
	row_catalogue_release(&rows);
	for (size_t i = 0; i < COUNT_OF(steps); i++) {
		save_seed(store, (int64_t)i + 1, steps[i].seed);
		assert_int_equal(store_catalogue(store, &rows, &error), 0);
		assert_int_equal(store_roads(store, &rows, &error), 0);
		assert_int_equal(rows.nroads, 1);
		assert_int_equal(rows.roads[0].bot_id, 2);
		assert_int_equal(rows.roads[0].ladder_id, FIXTURE_RANGE);
		assert_int_equal(rows.roads[0].next, steps[i].next);
		assert_int_equal(rows.roads[0].nagain, steps[i].nagain);
		assert_int_equal(rows.roads[0].again[0], steps[i].again);
		row_catalogue_release(&rows);
	}
	store_close(store);
}

static void reads_the_catalogue(void **state)
{
	struct store *store = fixture_store(*state);
	struct store_error error = { "" };
	struct row_catalogue catalogue;
	size_t len;
	char *data;

	assert_int_equal(store_catalogue(store, &catalogue, &error), 0);
	assert_int_equal(catalogue.nbots, 3);
	assert_string_equal(catalogue.bots[0].name, "crazy");
	assert_int_equal(catalogue.bots[1].owner_id, 2);
	assert_int_equal(catalogue.bots[2].version_id, 3);
	assert_int_equal(catalogue.bots[2].version, 1);
	assert_int_equal(catalogue.bots[2].max_connections, 4);
	assert_int_equal(catalogue.ntokens, 1);
	assert_int_equal(catalogue.tokens[0].bot_id, 1);
	assert_int_equal(catalogue.nmaps, 1);
	assert_string_equal(catalogue.maps[0].name, "small.map");
	assert_string_equal(catalogue.maps[0].game, "lambda-mining");
	assert_int_equal(catalogue.nladders, 2);
	assert_true(catalogue.ladders[0].is_seed_random);
	assert_int_equal(catalogue.ladders[0].lag_cap_ms, 250);
	assert_int_equal(catalogue.ladders[0].bot_seed, ROW_BOT_SEED_OWN);
	assert_false(catalogue.ladders[1].is_seed_random);
	assert_int_equal(catalogue.ladders[1].seed_last, 14);
	assert_int_equal(catalogue.ladders[1].bot_seed, ROW_BOT_SEED_MATCH);
	assert_int_equal(catalogue.ladders[1].nmaps, 1);
	assert_int_equal(catalogue.ladders[1].map_ids[0], FIXTURE_MAP);
	row_catalogue_release(&catalogue);
	assert_int_equal(
		store_map_bytes(store, FIXTURE_MAP, &data, &len, &error), 0);
	assert_int_equal(len, 7);
	assert_string_equal(data, "#R\\L#\n#");
	free(data);
	assert_int_equal(store_map_bytes(store, 9, &data, &len, &error),
			 -ENOENT);
	store_close(store);
}

static size_t find(struct store *store, struct row_filter filter,
		   int64_t *ret_first)
{
	struct store_error error = { "" };
	struct row_match_list list;
	size_t count;

	if (store_matches(store, &filter, &list, &error) != 0)
		fail_msg("%s", error.text);
	count = list.nmatches;
	*ret_first = count > 0 ? list.matches[0].id : 0;
	for (size_t i = 1; i < count; i++)
		assert_true(list.matches[i].id < list.matches[i - 1].id);
	row_match_list_release(&list);
	return count;
}

static void lists_by_bot_ladder_map_seed_and_reason(void **state)
{
	struct store *store = fixture_store(*state);
	struct store_error error = { "" };
	struct row_filter bad = { .seed = "12x" };
	struct row_match_list list;
	char seed[ROW_SEED_BYTES];
	int64_t first;

	for (int64_t id = 1; id <= 60; id++) {
		struct match_record *record = fixture_record(id, 1);

		if (id % 4 == 0)
			record->ladder_id = FIXTURE_RANGE;
		save(store, record);
	}
	assert_int_equal(find(store, (struct row_filter){ 0 }, &first), 50);
	assert_int_equal(first, 60);
	assert_int_equal(
		find(store, (struct row_filter){ .limit = 7, .before_id = 31 },
		     &first),
		7);
	assert_int_equal(first, 30);
	assert_int_equal(
		find(store, (struct row_filter){ .bot = "digger" }, &first),
		20);
	assert_int_equal(first, 58);
	assert_int_equal(find(store,
			      (struct row_filter){ .ladder = "in-order" },
			      &first),
			 15);
	assert_int_equal(
		find(store,
		     (struct row_filter){ .map = "small.map", .limit = 100 },
		     &first),
		60);
	assert_int_equal(
		find(store, (struct row_filter){ .map = "other" }, &first), 0);
	assert_int_equal(
		find(store, (struct row_filter){ .is_void = true }, &first), 0);
	(void)snprintf(seed, sizeof(seed), "%lld", (long long)INT64_MAX - 33);
	assert_int_equal(
		find(store, (struct row_filter){ .seed = seed }, &first), 1);
	assert_int_equal(first, 33);
	assert_int_equal(
		find(store, (struct row_filter){ .reason = "gone" }, &first),
		30);
	assert_int_equal(find(store,
			      (struct row_filter){ .bot = "crazy",
						   .ladder = "in-order",
						   .game = "lambda-mining",
						   .reason = "finished" },
			      &first),
			 5);
	assert_int_equal(store_matches(store, &bad, &list, &error), -EINVAL);
	store_close(store);
}

static void sums_up_by_bot_and_game(void **state)
{
	struct store *store = fixture_store(*state);
	struct store_error error = { "" };
	struct row_summary summary;
	struct match_record *record;

	/* crazy plays 3 and 6 alone, 9 with digger; 12 is void. */
	save(store, fixture_record(3, 1));
	save(store, fixture_record(6, 1));
	save(store, fixture_record(9, 2));
	record = fixture_record(12, 1);
	record->is_void = true;
	strcpy(record->void_reason, "stall");
	save(store, record);
	assert_int_equal(store_summary(store, &summary, &error), 0);
	assert_int_equal(summary.nstandings, 2);
	assert_string_equal(summary.standings[0].bot, "crazy");
	assert_string_equal(summary.standings[0].game, "lambda-mining");
	assert_int_equal(summary.standings[0].matches, 3);
	assert_true(fabs(summary.standings[0].mean_score - 0.75) < 1e-9);
	assert_true(fabs(summary.standings[0].best_score - 1.125) < 1e-9);
	assert_true(summary.standings[0].is_shared);
	assert_int_equal(summary.standings[0].wins, 1);
	assert_string_equal(summary.standings[1].bot, "digger");
	assert_int_equal(summary.standings[1].wins, 0);
	row_summary_release(&summary);
	store_close(store);
}

static void a_writer_saves_all_and_tells_each(void **state)
{
	struct fixture *fixture = *state;
	struct store *store = fixture_store(fixture);
	struct store_event event;
	size_t bytes;

	assert_int_equal(store_writer_start(store), 0);
	assert_true(store_fd(store) >= 0);
	for (int64_t id = 1; id <= 300; id++)
		assert_int_equal(store_put(store, fixture_record(id, 1)), 0);
	store_ask_ids(store);
	store_ask_ids(store);
	fixture_await(store, STORE_SAVED, 300, &event);
	assert_int_equal(event.id, 300);
	fixture_await(store, STORE_IDS, 1, &event);
	assert_int_equal(event.ids.count, 1000);
	assert_true(event.ids.first > 300);
	assert_int_equal(store_queue_depth(store, &bytes), 0);
	assert_int_equal(bytes, 0);
	assert_int_equal(store_writer_stop(store, 1000), 0);
	store_close(store);
	store = fixture_reopen(fixture);
	for (int64_t id = 1; id <= 300; id++)
		fixture_check(store, id, 1);
	store_close(store);
}

static void one_bad_record_spoils_no_other(void **state)
{
	struct store *store = fixture_store(*state);
	struct store_event event;
	unsigned saved = 0, refused = 0;

	assert_int_equal(store_writer_start(store), 0);
	for (int64_t id = 1; id <= 40; id++) {
		struct match_record *record = fixture_record(id, 1);

		if (id % 10 == 0)
			record->map_id = 99;
		assert_int_equal(store_put(store, record), 0);
	}
	assert_int_equal(store_writer_stop(store, 1000), 0);
	while (store_next_event(store, &event)) {
		if (event.kind == STORE_REFUSED) {
			assert_int_equal(event.id % 10, 0);
			assert_int_not_equal(strlen(event.text), 0);
			refused++;
		} else {
			assert_int_equal(event.kind, STORE_SAVED);
			saved++;
		}
	}
	assert_int_equal(saved, 36);
	assert_int_equal(refused, 4);
	store_close(store);
}

static void stopping_writes_what_waits(void **state)
{
	struct fixture *fixture = *state;
	struct store *store = fixture_store(fixture);
	struct match_record *record;

	assert_int_equal(store_writer_start(store), 0);
	for (int64_t id = 1; id <= 500; id++)
		assert_int_equal(store_put(store, fixture_record(id, 1)), 0);
	assert_int_equal(store_writer_stop(store, 0), 0);
	record = fixture_record(501, 1);
	assert_int_equal(store_put(store, record), -ENOBUFS);
	match_record_free(record);
	store_close(store);
	store = fixture_reopen(fixture);
	fixture_check(store, 500, 1);
	store_close(store);
}

/* Goal: 2,000 a second; printed, as it depends on the disk. */
static void prints_its_speed(void **state)
{
	struct store *store = fixture_store(*state);
	enum { COUNT = 3000 };
	struct match_record **records = xcalloc(COUNT, sizeof(*records));
	int64_t start_us, took_us;

	for (int i = 0; i < COUNT; i++)
		records[i] = fixture_record(i + 1, 1);
	assert_int_equal(store_writer_start(store), 0);
	start_us = clock_now_us();
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(store_put(store, records[i]), 0);
	assert_int_equal(store_writer_stop(store, 0), 0);
	took_us = clock_now_us() - start_us;
	print_message("%lld matches of 4 KB a second\n",
		      (long long)COUNT * 1000000 / took_us);
	free(records);
	store_close(store);
}

#define CASE(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(saves_on_a_file),
		CASE(saves_in_memory),
		CASE(keeps_every_field_of_a_seat),
		CASE(saves_a_match_whole_or_not_at_all),
		CASE(saves_the_same_match_once),
		CASE(gives_no_id_twice),
		CASE(tells_which_reading_of_the_catalogue_is_newer),
		CASE(remembers_where_a_ladder_is_in_its_seeds),
		CASE(finds_how_far_a_bot_walked_a_ladders_seeds),
		CASE(reads_the_catalogue),
		CASE(lists_by_bot_ladder_map_seed_and_reason),
		CASE(sums_up_by_bot_and_game),
		CASE(a_writer_saves_all_and_tells_each),
		CASE(one_bad_record_spoils_no_other),
		CASE(stopping_writes_what_waits),
		CASE(prints_its_speed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
