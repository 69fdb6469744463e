/* SPDX-License-Identifier: MIT */
/* test_rate.c - rounds close, and ratings are what their ranking makes them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/clock.h"
#include "server/ladder/rating.h"
#include "server/store/admin.h"
#include "server/store/rate.h"
#include "server/store/store_internal.h"
#include "tests/unit/store/fixture.h"
#include "tests/unit/unit.h"

enum { NRATINGS = 3 /* after save_rounds */ };

static void set_void(struct match_record *record, bool is_void)
{
	record->is_void = is_void;
	if (is_void)
		(void)snprintf(record->void_reason, sizeof(record->void_reason),
			       "stall: test");
}

/* A run of VERSION in round ROUND that wants WANTED of them. */
static void save_run(struct store *store, int64_t id, int64_t round,
		     unsigned wanted, int64_t version, int64_t points,
		     bool is_void)
{
	struct match_record *record = fixture_record(id, 1);
	struct store_error error = { "" };

	record->round = (struct match_round){ .kind = MATCH_ROUND_OPEN,
					      .id = round,
					      .wanted = wanted,
					      .opened_us = clock_now_us() };
	record->seats[0].version_id = version;
	record->seats[0].score.points = points;
	set_void(record, is_void);
	if (store_save(store, record, &error) != 0)
		fail_msg("%s", error.text);
	match_record_free(record);
}

/* Match NUMBER of a set of two: its seats' versions and ranks. */
static void save_of_set(struct store *store, int64_t id, int64_t round,
			const int64_t *versions, const unsigned *ranks,
			bool is_void)
{
	struct match_record *record = fixture_record(id, 2);
	struct store_error error = { "" };

	record->round =
		(struct match_round){ .kind = MATCH_ROUND_SET,
				      .id = round,
				      .number = (unsigned)(id - round) + 1,
				      .wanted = 2,
				      .opened_us = clock_now_us() };
	for (unsigned i = 0; i < 2; i++) {
		record->seats[i].version_id = versions[i];
		record->seats[i].score.rank = ranks[i];
	}
	set_void(record, is_void);
	if (store_save(store, record, &error) != 0)
		fail_msg("%s", error.text);
	match_record_free(record);
}

/* What the closing of ROUND did; fails when it is open. free. */
static struct row_closing *closing_of(struct store *store, int64_t round)
{
	struct row_closing *closing;
	struct store_error error = { "" };

	if (rate_read(&store->write, round, &closing, &error) != 0)
		fail_msg("%s", error.text);
	assert_non_null(closing);
	assert_int_equal(closing->round_id, round);
	return closing;
}

static bool is_open(struct store *store, int64_t round)
{
	struct row_closing *closing;
	struct store_error error;
	bool is_closed;

	assert_int_equal(rate_read(&store->write, round, &closing, &error), 0);
	is_closed = closing != NULL;
	free(closing);
	return !is_closed;
}

static void expect_state(struct store *store, int64_t round,
			 enum row_round_state state, int64_t sequence)
{
	struct row_closing *closing = closing_of(store, round);

	assert_int_equal(closing->state, state);
	assert_int_equal(closing->sequence, sequence);
	free(closing);
}

static void expect_rank(const struct row_closing *closing, int64_t version,
			unsigned rank)
{
	for (size_t i = 0; i < closing->nchanges; i++) {
		if (closing->changes[i].version_id != version)
			continue;
		assert_int_equal(closing->changes[i].rank, rank);
		return;
	}
	fail_msg("version %d is not ranked", (int)version);
}

static int64_t number(struct store *store, const char *sql)
{
	struct store_error error = { "" };
	int64_t ret = -1;

	if (db_number(&store->write, sql, &ret, &error) != 0)
		fail_msg("%s", error.text);
	return ret;
}

static void recompute(struct store *store, uint64_t differs)
{
	struct store_error error = { "" };
	uint64_t count;

	if (store_recompute(store, FIXTURE_RANDOM, &count, &error) != 0)
		fail_msg("%s", error.text);
	assert_int_equal(count, differs);
}

static void a_round_is_rated_with_its_last_run(void **state)
{
	struct store *store = fixture_store(*state);
	struct rating ratings[3];
	const unsigned ranks[] = { 2, 2, 1 };
	struct row_closing *closing;

	for (unsigned i = 0; i < 3; i++)
		ratings[i] = rating_new(&rating_model_default);
	assert_int_equal(
		rating_update(&rating_model_default, ratings, ranks, 3), 0);
	save_run(store, 5, 5, 3, 1, 10, false);
	save_run(store, 6, 5, 3, 2, 10, false);
	assert_true(is_open(store, 5));
	save_run(store, 9, 5, 3, 3, 11, false);
	closing = closing_of(store, 5);
	assert_int_equal(closing->state, ROW_ROUND_RATED);
	assert_int_equal(closing->sequence, 1);
	assert_int_equal(closing->ladder_id, FIXTURE_RANDOM);
	assert_int_equal(closing->nchanges, 3);
	for (unsigned i = 0; i < 3; i++) {
		const struct row_change *change = &closing->changes[i];

		assert_int_equal(change->version_id, i + 1);
		assert_int_equal(change->rank, ranks[i] == 2 ? 2 : 1);
		assert_int_equal(change->rounds, 1);
		assert_true(change->mu == ratings[i].mu);
		assert_true(change->sigma == ratings[i].sigma);
	}
	free(closing);
	recompute(store, 0);
	store_close(store);
}

static void bc50_what_is_void_or_never_stored_counts_for_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct store *store = fixture_store(fixture);
	const int64_t versions[] = { 1, 2 };
	struct row_closing *closing;
	struct store_error error;

	/* A void run: another may take its place. */
	save_run(store, 1, 1, 2, 1, 10, false);
	save_run(store, 2, 1, 2, 2, 99, true);
	assert_true(is_open(store, 1));
	save_run(store, 3, 1, 2, 3, 5, false);
	closing = closing_of(store, 1);
	assert_int_equal(closing->nchanges, 2);
	expect_rank(closing, 1, 1);
	expect_rank(closing, 3, 2);
	free(closing);
	/* A set with a void match is void. */
	save_of_set(store, 10, 10, versions, (unsigned[]){ 1, 2 }, false);
	save_of_set(store, 11, 10, versions, (unsigned[]){ 1, 2 }, true);
	expect_state(store, 10, ROW_ROUND_VOID, 0);
	/* The server is killed: one run is alone, one set has half. */
	save_run(store, 20, 20, 8, 1, 10, false);
	save_run(store, 21, 21, 8, 1, 10, false);
	save_run(store, 22, 21, 8, 2, 10, false);
	save_of_set(store, 30, 30, versions, (unsigned[]){ 1, 2 }, false);
	store_close(store);
	store = fixture_reopen(fixture);
	assert_int_equal(store_close_rounds(store, &error), 0);
	expect_state(store, 20, ROW_ROUND_UNRATED, 0);
	expect_state(store, 21, ROW_ROUND_RATED, 2);
	expect_state(store, 30, ROW_ROUND_VOID, 0);
	assert_int_equal(number(store, "SELECT count(*) FROM rating_event"), 2);
	assert_int_equal(store_close_rounds(store, &error), 0);
	recompute(store, 0);
	store_close(store);
}

static void a_set_is_ranked_by_the_sum_of_ranks(void **state)
{
	struct store *store = fixture_store(*state);
	const int64_t one[] = { 1, 2 }, other[] = { 2, 1 };
	struct row_closing *closing;

	save_of_set(store, 1, 1, one, (unsigned[]){ 1, 2 }, false);
	assert_true(is_open(store, 1));
	save_of_set(store, 2, 1, other, (unsigned[]){ 2, 1 }, false);
	closing = closing_of(store, 1);
	expect_rank(closing, 1, 1);
	expect_rank(closing, 2, 2);
	free(closing);
	/* Each won with the first seat: level. */
	save_of_set(store, 3, 3, one, (unsigned[]){ 1, 2 }, false);
	save_of_set(store, 4, 3, other, (unsigned[]){ 1, 2 }, false);
	closing = closing_of(store, 3);
	expect_rank(closing, 1, 1);
	expect_rank(closing, 2, 1);
	assert_int_equal(closing->sequence, 2);
	free(closing);
	recompute(store, 0);
	store_close(store);
}

static void who_leaves_a_set_loses_what_is_not_played(void **state)
{
	struct store *store = fixture_store(*state);
	const int64_t versions[] = { 1, 2 };
	struct row_closing *closing;
	struct store_event event;

	assert_int_equal(store_writer_start(store), 0);
	/* Version 1 wins and goes: one first and one last place are level. */
	save_of_set(store, 1, 1, versions, (unsigned[]){ 1, 2 }, false);
	store_close_round(store, 1, "1", false);
	fixture_await(store, STORE_CLOSED, 1, &event);
	assert_int_equal(event.id, 1);
	assert_int_equal(event.closing->state, ROW_ROUND_RATED);
	expect_rank(event.closing, 1, 1);
	expect_rank(event.closing, 2, 1);
	free(event.closing);
	/* The loser goes. */
	save_of_set(store, 2, 2, versions, (unsigned[]){ 1, 2 }, false);
	store_close_round(store, 2, "2", false);
	store_close_round(store, 2, "1", true);   /* too late */
	store_close_round(store, 77, "1", false); /* no match of it */
	fixture_await(store, STORE_CLOSED, 3, &event);
	assert_null(event.closing);
	closing = closing_of(store, 2);
	assert_int_equal(closing->state, ROW_ROUND_RATED);
	expect_rank(closing, 1, 1);
	expect_rank(closing, 2, 2);
	free(closing);
	recompute(store, 0);
	store_close(store);
}

static void bc56_a_result_is_the_version_s_that_played(void **state)
{
	struct store *store = fixture_store(*state);
	struct row_rated *rated;
	struct store_error error = { "" };
	size_t count;

	save_run(store, 1, 1, 2, 1, 10, false);
	/* Bot crazy has a new version before its run's round closes. */
	assert_int_equal(db_exec(&store->write,
				 "UPDATE bot_version SET state = 'retired' "
				 "WHERE id = 1; INSERT INTO bot_version (id, "
				 "bot_id, number, created_us, label, state, "
				 "active_us) VALUES (50, 1, 2, 1, 'two', "
				 "'active', 1)",
				 "test", &error),
			 0);
	save_run(store, 2, 1, 2, 2, 5, false);
	assert_int_equal(
		store_rated(store, FIXTURE_RANDOM, &rated, &count, &error), 0);
	assert_int_equal(count, 2);
	assert_int_equal(rated[0].version_id, 1);
	assert_int_equal(rated[0].version, 1);
	assert_false(rated[0].is_active);
	assert_int_equal(rated[0].rounds, 1);
	assert_true(rated[0].mu > 25);
	free(rated);
	assert_int_equal(number(store, "SELECT count(*) FROM rating "
				       "WHERE bot_version_id = 50"),
			 0);
	store_close(store);
}

static void bc59_who_does_not_play_keeps_a_rating_to_the_bit(void **state)
{
	struct store *store = fixture_store(*state);
	struct row_catalogue rows = { 0 };
	struct store_error error;
	double mu = 0, sigma = 0;
	struct row_rated *rated;
	size_t count;

	save_run(store, 1, 1, 2, 1, 10, false);
	save_run(store, 2, 1, 2, 2, 5, false);
	for (int64_t id = 3; id < 1003; id += 2) {
		save_run(store, id, id, 2, 2, id % 7, false);
		save_run(store, id + 1, id, 2, 3, id % 5, false);
	}
	assert_int_equal(number(store, "SELECT max(sequence) = count(*) AND "
				       "count(*) = 501 FROM rating_event"),
			 1);
	/* What the lobby, the table and the history say is one figure. */
	assert_int_equal(store_ratings(store, &rows, &error), 0);
	for (size_t i = 0; i < rows.nratings; i++) {
		if (rows.ratings[i].version_id != 1)
			continue;
		mu = rows.ratings[i].mu;
		sigma = rows.ratings[i].sigma;
		assert_int_equal(rows.ratings[i].rounds, 1);
	}
	row_catalogue_release(&rows);
	assert_int_equal(
		store_rated(store, FIXTURE_RANDOM, &rated, &count, &error), 0);
	assert_int_equal(count, 3);
	assert_true(rated[0].mu == mu && rated[0].sigma == sigma);
	free(rated);
	assert_int_equal(number(store,
				"SELECT count(*) FROM rating r JOIN "
				"rating_change c ON c.bot_version_id = 1 "
				"WHERE r.bot_version_id = 1 AND r.mu = "
				"c.mu_after AND r.sigma = c.sigma_after"),
			 1);
	recompute(store, 0);
	store_close(store);
}

static void rating_again_leaves_out_what_is_void_by_now(void **state)
{
	struct store *store = fixture_store(*state);
	const int64_t versions[] = { 1, 2 };
	struct store_error error = { "" };

	save_run(store, 1, 1, 3, 1, 10, false);
	save_run(store, 2, 1, 3, 2, 5, false);
	save_run(store, 3, 1, 3, 3, 1, false);
	save_of_set(store, 5, 5, versions, (unsigned[]){ 1, 2 }, false);
	save_of_set(store, 6, 5, versions, (unsigned[]){ 1, 2 }, false);
	recompute(store, 0);
	assert_int_equal(db_exec(&store->write,
				 "UPDATE match SET is_host_void = 1, "
				 "status = 'void', void_reason = 'host' "
				 "WHERE id IN (2, 6)",
				 "test", &error),
			 0);
	recompute(store, 3);
	expect_state(store, 1, ROW_ROUND_RATED, 1);
	expect_state(store, 5, ROW_ROUND_VOID, 0);
	assert_int_equal(number(store, "SELECT count(*) FROM rating"), 2);
	assert_int_equal(number(store, "SELECT count(*) FROM rating_event"), 2);
	recompute(store, 0);
	store_close(store);
}

#define CASE(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

static void change(struct store *store, const char *text)
{
	struct store_error error = { "" };

	if (db_exec(&store->write, text, "test", &error) != 0)
		fail_msg("%s", error.text);
}

/* Only what changed since is taken back: as if all were computed again. */
static void rating_again_from_the_middle_is_as_from_the_start(void **state)
{
	struct store *store = fixture_store(*state);
	struct store_error error = { "" };
	uint64_t differs;

	for (int64_t round = 1; round <= 60; round += 2) {
		/* Version 3 comes late, and 2 leaves early. */
		int64_t other = round < 31 ? 2 : 3;

		save_run(store, round, round, 2, 1, round % 7, false);
		save_run(store, round + 1, round, 2, other, round % 5, false);
	}
	for (int64_t from = 30; from > 0; from -= 3) {
		change(store, "DROP TABLE IF EXISTS temp.was; CREATE TEMP "
			      "TABLE was AS SELECT * FROM rating");
		assert_int_equal(rate_recompute(&store->write, FIXTURE_RANDOM,
						from, &differs, &error),
				 0);
		assert_int_equal(differs, 0);
		assert_int_equal(number(store,
					"SELECT count(*) FROM (SELECT * FROM "
					"rating EXCEPT SELECT * FROM was)"),
				 0);
		assert_int_equal(number(store, "SELECT count(*) FROM rating"),
				 3);
	}
	store_close(store);
}

/* What the host's command says after save_rounds. */
static void expect_differing(struct store *store, unsigned differ)
{
	json_t *request = json_pack("{s:s}", "command", "rating check"), *reply;
	char start[24];
	const char *text;

	(void)snprintf(start, sizeof(start), "%u of ", differ);
	reply = store_admin(store, request, NULL);
	text = json_string_value(json_object_get(reply, "error"));
	if (differ == 0) {
		if (text != NULL)
			fail_msg("%s", text);
		assert_int_equal(
			json_integer_value(json_object_get(reply, "ratings")),
			NRATINGS);
	} else if (text == NULL || strncmp(text, start, strlen(start)) != 0) {
		fail_msg("%u ratings differ, but: %s", differ,
			 text == NULL ? "ok" : text);
	}
	json_decref(reply);
	json_decref(request);
}

static void save_rounds(struct store *store)
{
	const int64_t versions[] = { 1, 2 };

	save_run(store, 1, 1, 2, 1, 10, false);
	save_run(store, 2, 1, 2, 2, 5, false);
	save_run(store, 3, 3, 3, 3, 7, false);
	save_run(store, 4, 3, 3, 1, 7, false);
	save_run(store, 5, 3, 3, 2, 8, false);
	save_of_set(store, 10, 10, versions, (unsigned[]){ 1, 2 }, false);
	save_of_set(store, 11, 10, versions, (unsigned[]){ 1, 2 }, false);
}

/* The host looks while a server writes, which goes on. */
static void a_check_of_ratings_waits_for_nobody(void **state)
{
	const struct fixture *fixture = *state;
	struct store *store = fixture_store(fixture), *other;
	struct store_error error = { "" };

	save_rounds(store);
	assert_int_equal(store_open(&other, fixture->path, STORE_READ, &error),
			 0);
	assert_int_equal(db_begin(&store->write, &error), 0);
	change(store, "UPDATE rating SET mu = mu + 1");
	expect_differing(other, 0);
	assert_int_equal(db_commit(&store->write, &error), 0);
	expect_differing(other, 3);
	store_close(other);
	assert_int_equal(number(store, "SELECT count(*) FROM audit"), 0);
	store_close(store);
}

static void a_check_finds_whatever_is_not_as_its_rounds_make_it(void **state)
{
	static const struct {
		const char *change;
		unsigned differ;
	} cases[] = {
		{ "UPDATE rating SET sigma = sigma * 1.0000000000000002 "
		  "WHERE bot_version_id = 1",
		  1 },
		{ "UPDATE rating SET rounds = 2 WHERE bot_version_id = 3", 1 },
		{ "DELETE FROM rating WHERE bot_version_id = 2", 1 },
		{ "INSERT INTO rating VALUES (2, 3, 25, 8, 1, 1, 1)", 1 },
		{ "UPDATE rating_change SET mu_before = 25.5 "
		  "WHERE sequence = 2 AND bot_version_id = 3",
		  1 },
		{ "UPDATE rating_change SET rank = 2 "
		  "WHERE sequence = 1 AND bot_version_id = 1",
		  1 },
		{ "DELETE FROM rating_change WHERE sequence = 3", 2 },
		{ "INSERT INTO rating_change VALUES (3, 3, 1, 25, 8, 25, 8)",
		  1 },
		/* The second round goes, and all that follows from it. */
		{ "UPDATE match SET is_host_void = 1, status = 'void', "
		  "void_reason = 'host' WHERE round_id = 3",
		  3 },
		{ "UPDATE seat SET points = 4 WHERE match_id = 1", 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct store *store;
		void *fixture;

		assert_int_equal(fixture_setup(&fixture), 0);
		store = fixture_store(fixture);
		save_rounds(store);
		expect_differing(store, 0);
		change(store, cases[i].change);
		expect_differing(store, cases[i].differ);
		store_close(store);
		assert_int_equal(fixture_teardown(&fixture), 0);
	}
}

static bool is_read(struct store *store, int64_t version_id)
{
	struct row_catalogue rows = { 0 };
	struct store_error error = { "" };
	bool is_there = false;

	assert_int_equal(store_ratings(store, &rows, &error), 0);
	for (size_t i = 0; i < rows.nratings; i++)
		is_there |= rows.ratings[i].version_id == version_id;
	row_catalogue_release(&rows);
	return is_there;
}

/* Each reading takes them again: what a bot once was is left where it is. */
static void the_lobby_is_told_ratings_of_those_that_may_play(void **state)
{
	struct store *store = fixture_store(*state);

	change(store,
	       "UPDATE bot_version SET number = 5 WHERE id = 1;"
	       "INSERT INTO bot_version (id, bot_id, number, label, state, "
	       "created_us) VALUES (11, 1, 2, 'b', 'retired', 0), "
	       "(12, 1, 3, 'c', 'retired', 0), (13, 1, 4, 'd', 'retired', 0), "
	       "(14, 1, 6, 'f', 'candidate', 0), (15, 2, 2, 'b', 'retired', 0);"
	       "CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (SELECT 1 "
	       "UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i FROM n;"
	       "INSERT INTO instance VALUES (1, 1, '', 1, 1);"
	       "INSERT INTO round SELECT i, 1, 1, 'open', 'rated', 2, 0, 1, '' "
	       "FROM n;"
	       "INSERT INTO rating_event SELECT i, 1, i, 0 FROM n;"
	       "INSERT INTO rating_change VALUES (900, 11, 1, 25, 8, 26, 7), "
	       "(1100, 12, 1, 25, 8, 26, 7);"
	       "INSERT INTO rating SELECT 1, id, 26, 7, 1, 1, 0 "
	       "FROM bot_version");
	assert_true(is_read(store, 1));
	assert_true(is_read(store, 14));
	assert_true(is_read(store, 13)); /* the one before */
	assert_true(is_read(store, 12)); /* by whoever is still on line */
	assert_false(is_read(store, 11));
	assert_false(is_read(store, 15)); /* behind the active one */
	change(store, "INSERT INTO tournament (id, name, name_key, ladder_id, "
		      "format, options, seed, state, grace_s, is_embargo, "
		      "created_us) VALUES (1, 't', 't', 1, 'swiss', '{}', 1, "
		      "'running', 0, 0, 0);"
		      "INSERT INTO tournament_entrant (tournament_id, number, "
		      "bot_id, bot_version_id) VALUES (1, 1, 1, 11)");
	assert_true(is_read(store, 11));
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_round_is_rated_with_its_last_run),
		CASE(bc50_what_is_void_or_never_stored_counts_for_nothing),
		CASE(a_set_is_ranked_by_the_sum_of_ranks),
		CASE(who_leaves_a_set_loses_what_is_not_played),
		CASE(bc56_a_result_is_the_version_s_that_played),
		CASE(bc59_who_does_not_play_keeps_a_rating_to_the_bit),
		CASE(rating_again_leaves_out_what_is_void_by_now),
		CASE(rating_again_from_the_middle_is_as_from_the_start),
		CASE(a_check_of_ratings_waits_for_nobody),
		cmocka_unit_test(
			a_check_finds_whatever_is_not_as_its_rounds_make_it),
		CASE(the_lobby_is_told_ratings_of_those_that_may_play),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
