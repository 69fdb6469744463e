/* SPDX-License-Identifier: MIT */
/* What readers for the public do to the file, and what they may see. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/match/record.h"
#include "server/store/admin.h"
#include "server/store/new_bot.h"
#include "server/store/store_internal.h"
#include "server/store/web.h"
#include "tests/unit/store/commands.h"
#include "tests/unit/store/fixture.h"
#include "tests/unit/unit.h"

enum {
	RESULTS = 4000, /* HILL_LONG: 20,000 */
	RESULT_BYTES = 8000,
	WAL_BYTES_MAX = 64 * 1024 * 1024,
};

static struct store *open_reader(const struct fixture *fixture)
{
	struct store_error error = { "" };
	struct store *store;

	if (store_open(&store, fixture->path, STORE_READ, &error) != 0)
		fail_msg("%s", error.text);
	return store;
}

static void read_page(struct store *store)
{
	struct web_filter filter = { .limit = 200 };
	struct store_error error = { "" };
	json_t *list;
	int64_t next;

	if (store_web_matches(store, &filter, &list, &next, &error) != 0)
		fail_msg("%s", error.text);
	json_decref(list);
}

static off_t wal_bytes(const struct fixture *fixture)
{
	char name[sizeof(fixture->path) + 8];
	struct stat st = { 0 };

	(void)snprintf(name, sizeof(name), "%s-wal", fixture->path);
	return stat(name, &st) == 0 ? st.st_size : 0;
}

static unsigned results(void)
{
	return getenv("HILL_LONG") != NULL ? 5 * RESULTS : RESULTS;
}

/*
 * BC67: a reader with a page half sent (it is in memory by then) while results
 * are written; BC68: at rest, a checkpoint from outside is not in anybody's
 * way.
 */
static void bc67_bc68_readers_never_hold_the_log(void **state)
{
	const struct fixture *fixture = *state;
	struct store *writer = fixture_store(fixture);
	struct store *reader = open_reader(fixture);
	struct store_error error = { "" };
	struct db outside;
	struct query query;
	off_t most = 0;

	for (unsigned i = 1; i <= results(); i++) {
		struct match_record *record =
			fixture_large_record(i, RESULT_BYTES);

		if (store_save(writer, record, &error) != 0)
			fail_msg("%s", error.text);
		match_record_free(record);
		if (i % 50 == 0)
			read_page(reader);
		if (wal_bytes(fixture) > most)
			most = wal_bytes(fixture);
		assert_true(store_is_idle(reader));
	}
	print_message("log of at most %lld bytes for %u results\n",
		      (long long)most, results());
	assert_true(most < WAL_BYTES_MAX);
	assert_int_equal(db_open(&outside, fixture->path, 0, &error), 0);
	query_open(&query, &outside, "PRAGMA wal_checkpoint(TRUNCATE)", &error);
	assert_int_equal(query_step(&query), 1);
	assert_int_equal(query_i64(&query, 0), 0); /* nobody is busy */
	query_close(&query);
	db_close(&outside);
	assert_int_equal(wal_bytes(fixture), 0);
	read_page(reader);
	store_close(reader);
	store_close(writer);
}

static void a_search_without_an_end_gives_pages_that_go_on(void **state)
{
	const struct fixture *fixture = *state;
	struct store *writer = fixture_store(fixture);
	struct web_filter filter = { .limit = 10, .reason = "suspended" };
	struct store_error error = { "" };
	unsigned pages = 0;

	for (unsigned i = 1; i <= 4500; i++) {
		struct match_record *record = fixture_record(i, 1);

		assert_int_equal(store_save(writer, record, &error), 0);
		match_record_free(record);
	}
	do {
		json_t *list;
		int64_t next;

		assert_int_equal(store_web_matches(writer, &filter, &list,
						   &next, &error),
				 0);
		assert_int_equal(json_array_size(list), 0);
		json_decref(list);
		assert_true(next == 0 || filter.before == 0 ||
			    next < filter.before);
		filter.before = next;
		pages++;
	} while (filter.before != 0);
	assert_int_equal(pages, 3);
	store_close(writer);
}

static void sql(struct store *store, const char *text)
{
	struct store_error error = { "" };

	if (db_exec(&store->write, text, "test", &error) != 0)
		fail_msg("%s", error.text);
}

/* Store match ID, for PURPOSE, on the instance of match OF; void: WHY. */
static void save_for(struct store *store, int64_t id, int64_t of,
		     enum match_purpose purpose, const char *why)
{
	struct match_record *record = fixture_record(id, 1);
	struct match_record *other = fixture_record(of, 1);
	struct store_error error = { "" };
	const char *seed = record->setup.seed;

	record->setup.seed = other->setup.seed;
	other->setup.seed = seed;
	record->is_rated = false;
	record->purpose = purpose;
	record->is_void = why != NULL;
	(void)snprintf(record->void_reason, sizeof(record->void_reason), "%s",
		       why == NULL ? "" : why);
	if (purpose == MATCH_FOR_TOURNAMENT) {
		record->meeting.tournament = 1;
		record->meeting.nseats = 1;
	}
	if (store_save(store, record, &error) != 0)
		fail_msg("%s", error.text);
	match_record_free(record);
	match_record_free(other);
}

/* Store the first match of the tournament 1, match ID. */
static void save_meeting(struct store *store, int64_t id)
{
	save_for(store, id, id, MATCH_FOR_TOURNAMENT, NULL);
}

static bool has_match(const json_t *list, int64_t id)
{
	const json_t *match;
	size_t i;

	json_array_foreach(list, i, match)
		if (json_integer_value(json_object_get(match, "id")) == id)
			return true;
	return false;
}

/* Whether match ID is there for the public. */
static bool is_told(struct store *store, int64_t id)
{
	struct web_filter filter = { .limit = 10 };
	struct store_error error = { "" };
	struct row_record *record = xcalloc(1, sizeof(*record));
	json_t *match, *list;
	int64_t next;
	int err = store_web_match(store, id, &match, &error);

	if (err == 0)
		json_decref(match);
	else
		assert_int_equal(store_web_record(store, id, record, &error),
				 -ENOENT);
	free(record);
	assert_int_equal(
		store_web_matches(store, &filter, &list, &next, &error), 0);
	assert_int_equal(has_match(list, id), err == 0);
	json_decref(list);
	return err == 0;
}

/* What the host's readers say of match ID. */
static struct row_match host_row(struct store *store, int64_t id)
{
	struct store_error error = { "" };
	struct row_match match;

	if (store_match(store, id, &match, &error) != 0)
		fail_msg("%s", error.text);
	return match;
}

/* Whether the public may have all of match ID; asked in each way there is. */
static bool is_whole(struct store *store, int64_t id)
{
	struct web_filter filter = { .limit = 10, .map = "small.map" };
	struct store_error error = { "" };
	struct row_record *record = xcalloc(1, sizeof(*record));
	json_t *match, *list;
	int64_t next;
	bool whole;
	int err;

	assert_int_equal(store_web_match(store, id, &match, &error), 0);
	whole = json_is_true(json_object_get(match, "whole"));
	assert_int_equal(json_is_string(json_object_get(match, "seed")), whole);
	assert_int_equal(json_is_string(json_object_get(match, "bot_seed")),
			 whole);
	json_decref(match);
	err = store_web_record(store, id, record, &error);
	assert_int_equal(err, whole ? 0 : -EACCES);
	if (err == 0)
		row_record_release(record);
	free(record);
	assert_int_equal(
		store_web_matches(store, &filter, &list, &next, &error), 0);
	assert_int_equal(has_match(list, id), whole);
	json_decref(list);
	return whole;
}

/* Another entrant of a contest has the same instance before it. */
static void a_running_tournament_keeps_its_instances(void **state)
{
	const struct fixture *fixture = *state;
	struct store *store = fixture_store(fixture);
	struct match_meeting forfeit = { .tournament = 1,
					 .pairing = 1,
					 .nseats = 1,
					 .entrants = { 1 },
					 .absent = 1 };
	struct match_meeting end = { .tournament = 1, .is_end = true };
	struct match_record *decision = match_record_decision(&end);
	struct match_record *other = match_record_decision(&forfeit);
	struct store_error error = { "" };

	command_accepts(store,
			"{\"command\": \"tournament create\", "
			"\"name\": \"cup\", \"ladder\": \"lambda-mining\", "
			"\"format\": \"contest\", \"seeds\": \"1..1\", "
			"\"entrants\": [\"crazy\", \"digger\"]}");
	command_accepts(
		store,
		"{\"command\": \"tournament start\", \"name\": \"cup\"}");
	save_meeting(store, 7);
	save_for(store, 8, 7, MATCH_FOR_REMATCH, NULL);
	save_for(store, 9, 9, MATCH_FOR_REMATCH, NULL);
	assert_int_equal(store_save(store, other, &error), 0);
	assert_false(is_whole(store, 7));
	assert_false(is_whole(store, 8));
	assert_true(is_whole(store, 9));
	assert_true(host_row(store, 7).is_contested);
	assert_true(host_row(store, 8).is_contested);
	assert_false(host_row(store, 9).is_contested);
	assert_int_equal(store_save(store, decision, &error), 0);
	assert_true(is_whole(store, 7));
	assert_true(is_whole(store, 8));
	assert_false(host_row(store, 7).is_contested);
	match_record_free(decision);
	match_record_free(other);
	store_close(store);
}

/* Void ones and those that were played again are in no tournament's list. */
static void an_embargo_has_all_matches_of_its_tournament(void **state)
{
	struct store *store = fixture_store(*state);

	command_accepts(store,
			"{\"command\": \"tournament create\", "
			"\"name\": \"cup\", \"ladder\": \"lambda-mining\", "
			"\"format\": \"contest\", \"seeds\": \"1..1\", "
			"\"entrants\": [\"crazy\", \"digger\"], "
			"\"embargo\": true}");
	command_accepts(
		store,
		"{\"command\": \"tournament start\", \"name\": \"cup\"}");
	save_for(store, 6, 7, MATCH_FOR_TOURNAMENT, "stall: the host slept");
	assert_true(host_row(store, 6).is_embargo);
	save_meeting(store, 7);
	command_accepts(store, "{\"command\": \"match void\", \"ids\": [7], "
			       "\"reason\": \"a test\"}");
	save_for(store, 8, 7, MATCH_FOR_TOURNAMENT, NULL);
	save_for(store, 9, 7, MATCH_FOR_REMATCH, NULL);
	sql(store, "UPDATE tournament SET state = 'finished', ended_us = 1");
	for (int64_t id = 6; id <= 8; id++) {
		assert_false(is_told(store, id));
		assert_true(host_row(store, id).is_embargo);
	}
	assert_false(is_whole(store, 9));
	assert_false(host_row(store, 9).is_embargo);
	assert_true(host_row(store, 9).is_contested);
	command_accepts(
		store,
		"{\"command\": \"tournament reveal\", \"name\": \"cup\"}");
	assert_true(is_told(store, 8));
	assert_false(host_row(store, 8).is_embargo);
	assert_true(is_whole(store, 9));
	assert_false(is_told(store, 6));
	store_close(store);
}

/* What store_web_token says of crazy's token. */
static int try_token(struct store *store, const char *name)
{
	struct store_error error = { "" };
	int64_t id = 0;
	int err = store_web_token(store, name, "hill_mine", &id, &error);

	assert_true(err == 0 ? id == 1 : error.text[0] != '\0');
	return err;
}

static void who_is_banned_opens_no_door(void **state)
{
	struct store *store = fixture_store(*state);
	struct query query;
	uint8_t hash[ROW_HASH_BYTES];

	secret_hash("hill_mine", hash);
	query_open(&query, &store->write,
		   "UPDATE token SET hash = ?1 WHERE bot_id = 1", NULL);
	query_bind_blob(&query, 1, hash, sizeof(hash));
	assert_int_equal(query_run(&query), 0);
	assert_int_equal(try_token(store, "crazy"), 0);
	assert_int_equal(try_token(store, "digger"), -EACCES);
	sql(store, "UPDATE bot SET ban_reason = 'x' WHERE id = 1");
	assert_int_equal(try_token(store, "crazy"), -EACCES);
	sql(store, "UPDATE bot SET ban_reason = '' WHERE id = 1;"
		   "UPDATE owner SET ban_reason = 'x' WHERE id = 1");
	assert_int_equal(try_token(store, "crazy"), -EACCES);
	sql(store, "UPDATE owner SET ban_reason = '', is_disabled = 1 "
		   "WHERE id = 1");
	assert_int_equal(try_token(store, "crazy"), -EACCES);
	sql(store, "UPDATE owner SET is_disabled = 0 WHERE id = 1;"
		   "UPDATE bot SET is_disabled = 1 WHERE id = 1");
	assert_int_equal(try_token(store, "crazy"), -EACCES);
	sql(store, "UPDATE bot SET is_disabled = 0 WHERE id = 1");
	assert_int_equal(try_token(store, "crazy"), 0);
	store_close(store);
}

/* What the lobby and the page are told of bot crazy, 1. */
static void check_ban(struct store *store, bool is_banned, const char *reason)
{
	struct store_error error = { "" };
	struct row_catalogue catalogue;
	json_t *page;

	assert_int_equal(store_catalogue(store, &catalogue, &error), 0);
	assert_int_equal(catalogue.bots[0].id, 1);
	assert_int_equal(catalogue.bots[0].is_disabled, is_banned);
	if (reason == NULL)
		assert_null(catalogue.bots[0].ban_reason);
	else
		assert_string_equal(catalogue.bots[0].ban_reason, reason);
	row_catalogue_release(&catalogue);
	assert_int_equal(store_web_bot(store, "crazy", &page, &error), 0);
	assert_int_equal(json_is_true(json_object_get(page, "disabled")),
			 is_banned);
	assert_null(json_object_get(page, "ban_reason"));
	json_decref(page);
	assert_int_equal(store_web_bots(store, NULL, 10, &page, &error), 0);
	assert_int_equal(json_is_true(json_object_get(json_array_get(page, 0),
						      "disabled")),
			 is_banned);
	json_decref(page);
}

/* One of before the lobby told any was for hosts alone. */
static void a_ban_is_seen_by_all_and_its_reason_told_to_the_lobby(void **state)
{
	struct store *store = fixture_store(*state);

	check_ban(store, false, NULL);
	sql(store, "UPDATE bot SET ban_reason = 'secret' WHERE id = 1");
	check_ban(store, true, NULL);
	sql(store, "UPDATE owner SET ban_reason = 'both', is_ban_told = 1 "
		   "WHERE id = (SELECT owner_id FROM bot WHERE id = 1)");
	check_ban(store, true, "both");
	sql(store, "UPDATE bot SET ban_reason = 'mine', is_ban_told = 1 "
		   "WHERE id = 1");
	check_ban(store, true, "mine");
	sql(store, "UPDATE bot SET ban_reason = '', is_ban_told = 0");
	check_ban(store, true, "both");
	sql(store, "UPDATE owner SET ban_reason = '', is_ban_told = 0");
	check_ban(store, false, NULL);
	sql(store, "UPDATE owner SET is_disabled = 1");
	check_ban(store, true, NULL);
	store_close(store);
}

/*
 * Versions 1, 11 and 12 are crazy's. Events 1..COUNT, on both ladders in turn;
 * in event N version 1, 11 or 12 in turn meets digger (and 11 also meets 12 in
 * each tenth).
 */
static void fill_changes(struct store *store, const char *count)
{
	char text[1800];

	(void)snprintf(
		text, sizeof(text),
		"INSERT INTO bot_version (id, bot_id, number, label, state, "
		"created_us) VALUES (11, 1, 2, 'two', 'retired', 0), "
		"(12, 1, 3, 'three', 'retired', 0);"
		"INSERT INTO instance VALUES (1, 1, '', 1, 1);"
		"CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (SELECT 1 "
		"UNION ALL SELECT i + 1 FROM n WHERE i < %s) SELECT i FROM n;"
		"INSERT INTO round SELECT i, 1 + i %% 2, 1, 'open', 'rated', "
		"2, 0, 1, '' FROM n;"
		"INSERT INTO rating_event SELECT i, 1 + i %% 2, i, 0 FROM n;"
		"INSERT INTO rating_change SELECT i, CASE i %% 3 WHEN 0 THEN 1 "
		"WHEN 1 THEN 11 ELSE 12 END, 1, 25, 8, 26, 7 FROM n;"
		"INSERT INTO rating_change SELECT i, 2, 2, 25, 8, 24, 7 "
		"FROM n; INSERT OR IGNORE INTO rating_change "
		"SELECT i, CASE i %% 3 WHEN 1 THEN 12 ELSE 11 END, 2, 25, 8, "
		"24, 7 FROM n WHERE i %% 10 = 0",
		count);
	sql(store, text);
}

/* All pages of a history, of LIMIT each: as "sequence/version ...". */
static unsigned read_history(struct store *store, const char *ladder,
			     const char *version, unsigned limit,
			     struct buf *ret)
{
	struct store_error error = { "" };
	int64_t before = 0;
	unsigned pages = 0;

	do {
		json_t *list, *change;
		size_t i;

		assert_int_equal(store_web_history(store, "crazy", ladder,
						   version, before, limit,
						   &list, &before, &error),
				 0);
		json_array_foreach(list, i, change)
			buf_add_format(ret, "%d/%s ",
				       (int)json_integer_value(json_object_get(
					       change, "sequence")),
				       json_string_value(json_object_get(
					       change, "version")));
		json_decref(list);
		pages++;
	} while (before != 0);
	return pages;
}

static void a_history_has_all_versions_newest_first(void **state)
{
	struct store *store = fixture_store(*state);
	struct buf text;

	fill_changes(store, "12");
	buf_init(&text, 1000000);
	/* No page parts the two of event 10. */
	assert_int_equal(read_history(store, NULL, NULL, 3, &text), 4);
	assert_string_equal(buf_text(&text),
			    "12/1 11/three 10/two 10/three 9/1 8/three 7/two "
			    "6/1 5/three 4/two 3/1 2/three 1/two ");
	buf_clear(&text);
	assert_int_equal(read_history(store, NULL, "two", 3, &text), 2);
	assert_string_equal(buf_text(&text), "10/two 7/two 4/two 1/two ");
	buf_clear(&text);
	assert_int_equal(read_history(store, "lambda-mining", "1", 3, &text),
			 1);
	assert_string_equal(buf_text(&text), "12/1 6/1 ");
	buf_clear(&text);
	assert_int_equal(read_history(store, NULL, "none", 3, &text), 1);
	assert_string_equal(buf_text(&text), "");
	buf_release(&text);
	store_close(store);
}

/* What all statements of the readers' connection have done so far. */
static int64_t work(struct store *store)
{
	int64_t sum = 0;

	for (size_t i = 0; i < store->read->nstatements; i++)
		sum += sqlite3_stmt_status(store->read->statements[i].stmt,
					   SQLITE_STMTSTATUS_VM_STEP, 1);
	return sum;
}

static int64_t rounds_met(struct store *store, int64_t *ret_work)
{
	struct store_error error = { "" };
	int64_t rounds = 0;
	json_t *list;

	(void)work(store);
	assert_int_equal(
		store_web_rivals(store, "crazy", NULL, &list, &rounds, &error),
		0);
	assert_int_equal(json_array_size(list), 1);
	assert_int_equal(json_integer_value(json_object_get(
				 json_array_get(list, 0), "rounds")),
			 rounds);
	json_decref(list);
	*ret_work = work(store);
	return rounds;
}

static void a_long_history_costs_no_more_than_a_short_one(void **state)
{
	struct store *store = fixture_store(*state);
	struct store_error error = { "" };
	int64_t next, few, many;
	json_t *list;

	fill_changes(store, "30000");
	(void)work(store);
	assert_int_equal(store_web_history(store, "crazy", NULL, NULL, 0, 20,
					   &list, &next, &error),
			 0);
	assert_int_equal(json_array_size(list), 20);
	json_decref(list);
	few = work(store);
	print_message("20 of 33,000 changes: %lld steps\n", (long long)few);
	assert_true(few < 5000);
	/* A version of the ladder that it never played on: an end for now. */
	sql(store, "UPDATE rating_event SET ladder_id = 1");
	assert_int_equal(store_web_history(store, "crazy", "in-order", NULL, 0,
					   20, &list, &next, &error),
			 0);
	assert_int_equal(json_array_size(list), 0);
	assert_true(next > 25000);
	json_decref(list);
	/* 5,000 of the 33,000, in fewer rounds: some have two of them. */
	assert_true(rounds_met(store, &many) <= 5001);
	print_message("rivals: %lld steps\n", (long long)many);
	assert_true(many < 1000000);
	store_close(store);
}

static void a_bot_of_many_versions_is_searched_as_fast(void **state)
{
	struct store *store = fixture_store(*state);
	struct web_filter filter = { .limit = 10,
				     .bot = "crazy",
				     .reason = "suspended" };
	struct store_error error = { "" };
	int64_t next, steps;
	json_t *list;

	sql(store,
	    "CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (SELECT 2 "
	    "UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n;"
	    "INSERT INTO bot_version (id, bot_id, number, label, state, "
	    "created_us) SELECT 100 + i, 1, i, 'v' || i, 'retired', 0 FROM n");
	for (unsigned i = 1; i <= 2500; i++) {
		struct match_record *record = fixture_record(i, 1);

		record->seats[0].bot_id = 1;
		record->seats[0].version_id = 102 + i % 900;
		assert_int_equal(store_save(store, record, &error), 0);
		match_record_free(record);
	}
	(void)work(store);
	assert_int_equal(
		store_web_matches(store, &filter, &list, &next, &error), 0);
	assert_int_equal(json_array_size(list), 0);
	assert_int_equal(next, 501);
	json_decref(list);
	steps = work(store);
	print_message("2,000 matches of 1,000 versions: %lld steps\n",
		      (long long)steps);
	assert_true(steps < 500000);
	filter.reason = NULL;
	filter.before = 15;
	assert_int_equal(
		store_web_matches(store, &filter, &list, &next, &error), 0);
	assert_int_equal(json_array_size(list), 10);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(json_integer_value(json_object_get(
					 json_array_get(list, i), "id")),
				 14 - (int)i);
	assert_int_equal(next, 5);
	json_decref(list);
	store_close(store);
}

/* The bot that guests play as is hidden; their names are their own. */
static void a_record_names_guests_and_no_hidden_bots(void **state)
{
	struct store *store = fixture_store(*state);
	struct match_record *match = fixture_record(7, 2);
	struct row_record *record = xcalloc(1, sizeof(*record));
	struct store_error error = { "" };
	struct query query;

	assert_int_equal(store_guests(store, &error), 0);
	query_open(&query, &store->write,
		   "SELECT v.id FROM bot_version v JOIN bot b ON b.id = "
		   "v.bot_id WHERE b.name = 'guest:'",
		   &error);
	assert_int_equal(query_step(&query), 1);
	match->seats[0].version_id = query_i64(&query, 0);
	query_close(&query);
	free(match->seats[0].bot);
	match->seats[0].bot = xstrdup("guest:zoe");
	match->seats[1].version_id = 1;
	assert_int_equal(store_save(store, match, &error), 0);
	match_record_free(match);
	sql(store, "UPDATE bot SET is_hidden = 1 WHERE id = 1");
	assert_int_equal(store_web_record(store, 7, record, &error), 0);
	assert_string_equal(record->match.seats[0].bot, "guest:zoe");
	assert_string_equal(record->match.seats[1].bot, "(hidden)");
	row_record_release(record);
	free(record);
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			bc67_bc68_readers_never_hold_the_log, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_search_without_an_end_gives_pages_that_go_on,
			fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_running_tournament_keeps_its_instances, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_record_names_guests_and_no_hidden_bots, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_history_has_all_versions_newest_first, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_long_history_costs_no_more_than_a_short_one,
			fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_bot_of_many_versions_is_searched_as_fast,
			fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			an_embargo_has_all_matches_of_its_tournament,
			fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_ban_is_seen_by_all_and_its_reason_told_to_the_lobby,
			fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(who_is_banned_opens_no_door,
						fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
