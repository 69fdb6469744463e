/* SPDX-License-Identifier: MIT */
/* Tournaments in the database: planned, pinned, read back, told. */
#include "server/store/admin.h"

#include <stdlib.h>
#include <string.h>

#include "server/match/record.h"
#include "server/store/register.h"
#include "server/store/store_internal.h"
#include "server/store/tournament_rows.h"
#include "server/store/version.h"
#include "tests/unit/store/commands.h"
#include "tests/unit/store/fixture.h"
#include "tests/unit/unit.h"

static void sql(struct store *store, const char *text)
{
	struct store_error error = { "" };

	if (db_exec(&store->write, text, "test", &error) != 0)
		fail_msg("%s", error.text);
}

static int64_t number_of(json_t *reply, const char *list, size_t at,
			 const char *key)
{
	return json_integer_value(json_object_get(
		json_array_get(json_object_get(reply, list), at), key));
}

static const char *text_at(json_t *reply, const char *list, size_t at,
			   const char *key)
{
	return json_string_value(json_object_get(
		json_array_get(json_object_get(reply, list), at), key));
}

#define ROBIN                                                          \
	"{\"command\": \"tournament create\", \"name\": \"robin\", "   \
	"\"ladder\": \"lambda-mining\", \"format\": \"round-robin\", " \
	"\"entrants\": [\"crazy\", \"digger\", \"painter\"], "         \
	"\"starts\": \"2030-01-02T12:30\"}"
#define ALL                                                      \
	"{\"command\": \"tournament plan\", \"name\": \"all\", " \
	"\"ladder\": \"lambda-mining\", \"format\": \"contest\"}"
#define NAMED(command) \
	"{\"command\": \"tournament " command "\", \"name\": \"robin\"}"

static void plan_makes_nothing_and_create_does(void **state)
{
	struct store *store = fixture_store(*state);
	json_t *reply;

	reply = command_accepted(
		store,
		"{\"command\": \"tournament plan\", \"name\": \"robin\", "
		"\"ladder\": \"lambda-mining\", \"format\": \"contest\","
		"\"entrants\": [\"crazy\", \"digger\"], "
		"\"seeds\": \"1..5\"}");
	assert_int_equal(
		json_integer_value(json_object_get(
			json_object_get(reply, "forecast"), "matches_max")),
		10);
	assert_true(json_is_null(json_object_get(
		json_object_get(reply, "forecast"), "ends_us")));
	json_decref(reply);
	reply = command_accepted(store, "{\"command\": \"tournament list\"}");
	assert_int_equal(json_array_size(json_object_get(reply, "tournaments")),
			 0);
	json_decref(reply);
	command_accepts(store, ROBIN);
	command_refuses(store, ROBIN, "the name is taken");
	reply = command_accepted(store, "{\"command\": \"tournament list\"}");
	assert_string_equal(text_at(reply, "tournaments", 0, "state"),
			    "planned");
	/* 2030-01-02 12:30 UTC */
	assert_int_equal(number_of(reply, "tournaments", 0, "starts_us"),
			 1893587400000000);
	json_decref(reply);
	store_close(store);
}

static void what_makes_no_tournament_is_refused(void **state)
{
	static const char *const cases[][2] = {
		{ "\"format\": \"knockout\"", "must be contest" },
		{ "\"format\": \"swiss\", \"rounds\": 9", "twice" },
		{ "\"format\": \"contest\", \"entrants\": [\"crazy\", "
		  "\"nobody\"]",
		  "there is no such bot" },
		{ "\"format\": \"contest\", \"entrants\": [\"crazy\", "
		  "\"crazy\"]",
		  "twice" },
		{ "\"format\": \"contest\", \"starts\": \"tomorrow\"",
		  "is no time" },
		{ "\"format\": \"contest\", \"starts\": \"2030-01-01\", "
		  "\"deadline\": \"2030-01-02\"",
		  "must not be after" },
		{ "\"format\": \"contest\", \"starts\": \"2020-01-01\"",
		  "is over" },
		{ "\"format\": \"contest\", \"deadline\": \"1969-01-02\"",
		  "it takes 2; without one: crazy, digger, painter" },
		{ "\"format\": \"contest\", \"seeds\": \"5..1\"",
		  "must be random, or A..B" },
		{ "\"format\": \"contest\", \"seeds\": \"..5\"",
		  "must be random, or A..B" },
		{ "\"format\": \"contest\", \"seeds\": \" 1..5\"",
		  "must be random, or A..B" },
		{ "\"format\": \"contest\", \"draw\": \"fate\"",
		  "must be listed" },
	};
	struct store *store = fixture_store(*state);

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char text[512];

		(void)snprintf(
			text, sizeof(text),
			"{\"command\": \"tournament create\", \"name\": \"x\", "
			"\"ladder\": \"lambda-mining\"%s, %s}",
			strstr(cases[i][0], "entrants") != NULL
				? ""
				: ", \"entrants\": [\"crazy\", \"digger\", "
				  "\"painter\"]",
			cases[i][0]);
		command_refuses(store, text, cases[i][1]);
	}
	command_refuses(
		store,
		"{\"command\": \"tournament create\", \"name\": \"x\", "
		"\"ladder\": \"lambda-mining\", \"format\": \"contest\"}",
		"too few entrants: 0, and it takes 2");
	sql(store, "DELETE FROM ladder_map WHERE ladder_id = 1");
	command_refuses(store, ROBIN, "has no maps");
	store_close(store);
}

static void start_pins_what_was_active_at_the_deadline(void **state)
{
	struct store *store = fixture_store(*state);
	struct row_tournament row;
	struct store_error error;

	sql(store, "UPDATE bot_version SET state = 'retired' WHERE id = 1;"
		   "INSERT INTO bot_version (id, bot_id, number, label, state, "
		   "created_us, active_us) VALUES "
		   "(11, 1, 2, 'b', 'retired', 500, 500),"
		   "(12, 1, 3, 'c', 'active', 2000000000000, 2000000000000);"
		   "DELETE FROM bot_activation WHERE bot_id IN (1, 3);"
		   /* Back and forth before the deadline, and after it. */
		   "INSERT INTO bot_activation (bot_id, version_id, at_us) "
		   "VALUES (1, 1, 100), (1, 11, 500), (1, 1, 600), "
		   "(1, 11, 700), (1, 12, 2000000000000), "
		   "(1, 1, 2000000000001), (3, 3, 2000000000000)");
	/* The deadline was 1970-01-02: 86400000000. */
	command_accepts(
		store,
		"{\"command\": \"tournament create\", \"name\": \"robin\", "
		"\"ladder\": \"lambda-mining\", \"format\": \"round-robin\", "
		"\"entrants\": [\"crazy\", \"digger\", \"painter\"], "
		"\"deadline\": \"1970-01-02\"}");
	assert_int_equal(tournament_read(store->read, 1, &row, &error), 0);
	assert_int_equal(row.entrants[0].version_id, 11);
	assert_int_equal(row.entrants[1].version_id, 2);
	assert_int_equal(row.entrants[2].version_id, 0);
	assert_int_equal(row.entrants[2].out_round, 1);
	row_tournament_release(&row);
	command_accepts(store, NAMED("start"));
	command_refuses(store, NAMED("start"), "is running");
	assert_int_equal(tournament_read(store->read, 1, &row, &error), 0);
	assert_int_equal(row.state, ROW_TOURNAMENT_RUNNING);
	assert_true(row.started_us > 0);
	assert_int_equal(row.entrants[0].version_id, 11);
	row_tournament_release(&row);
	store_close(store);
}

static void expect_in_state(struct store *store, const char *state)
{
	json_t *reply =
		command_accepted(store, "{\"command\": \"tournament list\"}");

	assert_string_equal(text_at(reply, "tournaments", 0, "state"), state);
	json_decref(reply);
}

static void it_does_not_start_before_its_deadline(void **state)
{
	struct store *store = fixture_store(*state);
	json_t *reply;

	command_accepts(store, ROBIN);
	sql(store, "UPDATE tournament SET deadline_us = 1893456000000000");
	command_refuses(store, NAMED("start"),
			"its deadline, 2030-01-01T00:00:00 UTC, is not over");
	expect_in_state(store, "planned");
	/* Before anybody had a version; and before painter alone had one. */
	sql(store, "UPDATE tournament SET deadline_us = 1");
	sql(store, "UPDATE bot_activation SET at_us = 10");
	command_refuses(store, NAMED("start"),
			"0 with a version at 1970-01-01");
	expect_in_state(store, "planned");
	sql(store, "UPDATE bot_activation SET at_us = 1 WHERE bot_id < 3");
	reply = command_accepted(store, NAMED("start"));
	assert_int_equal(
		json_array_size(json_object_get(reply, "without_version")), 1);
	json_decref(reply);
	expect_in_state(store, "running");
	store_close(store);
}

static void say_end(struct store *store)
{
	struct match_meeting end = { .tournament = 1, .is_end = true };
	struct match_record *record = match_record_decision(&end);
	struct store_error error = { "" };

	if (store_save(store, record, &error) != 0)
		fail_msg("%s", error.text);
	match_record_free(record);
}

/* All of a contest of one instance is decided; the lobby says so late. */
static void an_end_that_is_none_any_more_ends_nothing(void **state)
{
	struct store *store = fixture_store(*state);

	command_accepts(store, "{\"command\": \"tournament create\", "
			       "\"name\": \"robin\", "
			       "\"ladder\": \"lambda-mining\", "
			       "\"format\": \"contest\", \"seeds\": \"1..1\", "
			       "\"entrants\": [\"crazy\", \"digger\"]}");
	command_accepts(store, NAMED("start"));
	sql(store, "INSERT INTO tournament_match (tournament_id, pairing, "
		   "number, entrants, absent, decided_us) VALUES "
		   "(1, 1, 1, '1', 1, 1)");
	/* A match of it was made void, and is to be played again. */
	say_end(store);
	expect_in_state(store, "running");
	sql(store, "INSERT INTO tournament_match (tournament_id, pairing, "
		   "number, entrants, absent, decided_us) VALUES "
		   "(1, 2, 1, '2', 1, 1)");
	say_end(store);
	expect_in_state(store, "finished");
	/* The host cancelled it. */
	sql(store, "UPDATE tournament SET state = 'cancelled'");
	say_end(store);
	expect_in_state(store, "cancelled");
	store_close(store);
}

static int64_t active_version(struct store *store, const char *label)
{
	struct store_error error = { "" };
	int64_t id = 0;
	bool is_new;

	if (store_version(store, 1, label, false, &id, &is_new, &error) != 0)
		fail_msg("%s", error.text);
	return id;
}

/* Whether the catalogue has VERSION, which may log in then. */
static bool is_listed(struct store *store, int64_t version, bool *ret_retired)
{
	struct row_catalogue rows;
	struct store_error error;
	bool found = false;

	assert_int_equal(store_catalogue(store, &rows, &error), 0);
	for (size_t i = 0; i < rows.nversions; i++)
		if (rows.versions[i].id == version) {
			found = true;
			*ret_retired = rows.versions[i].is_retired;
		}
	row_catalogue_release(&rows);
	return found;
}

static void versions_are_pinned_whatever_became_active_since(void **state)
{
	struct store *store = fixture_store(*state);
	struct row_tournament row;
	struct store_error error;
	int64_t second, third;
	bool is_retired = false;

	second = active_version(store, "second");
	command_accepts(store, ROBIN);
	sql(store, "UPDATE tournament SET deadline_us = (SELECT max(at_us) "
		   "FROM bot_activation)");
	third = active_version(store, "third");
	/* It may log in before the start, but counts for nothing. */
	assert_true(is_listed(store, second, &is_retired));
	assert_true(is_retired);
	assert_false(is_listed(store, 1, &is_retired));
	pthread_mutex_lock(&store->write.lock);
	assert_int_equal(version_activate(&store->write, 1, 1, &error), 0);
	assert_int_equal(version_activate(&store->write, 1, third, &error), 0);
	pthread_mutex_unlock(&store->write.lock);
	command_accepts(store, NAMED("start"));
	assert_int_equal(tournament_read(store->read, 1, &row, &error), 0);
	assert_int_equal(row.entrants[0].version_id, second);
	row_tournament_release(&row);
	assert_true(is_listed(store, second, &is_retired));
	command_accepts(store, NAMED("cancel"));
	assert_false(is_listed(store, second, &is_retired));
	store_close(store);
}

/* Pairings of three: 1 v 3... as show tells; all matches but one by absence. */
static void table_follows_from_stored_matches_and_forfeits(void **state)
{
	struct store *store = fixture_store(*state);
	struct store_event event;
	struct match_record *record = fixture_record(1, 1);
	struct row_tournament row;
	struct store_error error;
	json_t *reply;

	command_accepts(store, ROBIN);
	command_accepts(store, NAMED("start"));
	reply = command_accepted(store, NAMED("show"));
	assert_int_equal(json_array_size(json_object_get(reply, "next")), 6);
	assert_int_equal(json_array_size(json_object_get(reply, "pairings")),
			 3);
	json_decref(reply);
	assert_int_equal(store_writer_start(store), 0);
	assert_int_equal(store_put(store, record), 0);
	fixture_await(store, STORE_SAVED, 1, &event);
	store_writer_stop(store, 1000);
	/* Pairing 1 is digger v painter: digger's run, painter away. */
	sql(store, "INSERT INTO tournament_match VALUES "
		   "(1, 1, 1, 1, '2', 0, 1), (1, 1, 2, NULL, '3', 1, 2)");
	reply = command_accepted(store, NAMED("show"));
	if (strcmp(text_at(reply, "pairings", 0, "state"), "done") != 0)
		fail_msg("%s", json_dumps(reply, 0));
	assert_int_equal(json_array_size(json_object_get(reply, "played")), 2);
	assert_int_equal(json_array_size(json_object_get(reply, "next")), 4);
	assert_int_equal(json_integer_value(json_object_get(reply, "left_out")),
			 0);
	json_decref(reply);
	reply = command_accepted(store, NAMED("table"));
	assert_string_equal(text_at(reply, "standings", 0, "bot"), "digger");
	assert_int_equal(number_of(reply, "standings", 0, "points"), 1);
	assert_int_equal(number_of(reply, "standings", 1, "rank"), 2);
	assert_int_equal(json_array_size(json_object_get(reply, "cross")), 3);
	json_decref(reply);
	/* A void match is to be played again. */
	sql(store, "UPDATE match SET status = 'void', void_reason = 'test'");
	reply = command_accepted(store, NAMED("show"));
	assert_int_equal(json_array_size(json_object_get(reply, "next")), 5);
	json_decref(reply);
	assert_int_equal(tournament_read(store->read, 1, &row, &error), 0);
	assert_int_equal(row.nvoids, 1);
	assert_int_equal(row.voids[0], 1);
	assert_int_equal(row.nmatches, 1);
	row_tournament_release(&row);
	store_close(store);
}

/* All that may be played is decided: match 1 was played, the others missed. */
static void decide_open_ones(struct store *store, bool is_first)
{
	json_t *reply = command_accepted(store, NAMED("show"));
	size_t count = json_array_size(json_object_get(reply, "next"));

	for (size_t i = 0; i < count; i++) {
		json_t *bots = json_object_get(
			json_array_get(json_object_get(reply, "next"), i),
			"bots");
		const char *bot = json_string_value(json_array_get(bots, 0));
		bool is_played = is_first && i == 0;
		char text[256];

		(void)snprintf(text, sizeof(text),
			       "INSERT INTO tournament_match VALUES (1, %d, "
			       "%d, %s, '%d', %d, 1)",
			       (int)number_of(reply, "next", i, "pairing"),
			       (int)number_of(reply, "next", i, "turn"),
			       is_played ? "1" : "NULL",
			       bot[0] == 'c'   ? 1
			       : bot[0] == 'd' ? 2
					       : 3,
			       !is_played);
		sql(store, text);
	}
	json_decref(reply);
}

static void a_void_match_of_a_finished_one_leaves_the_others(void **state)
{
	struct store *store = fixture_store(*state);
	struct store_event event;
	int64_t forfeits = 0;
	json_t *reply;

	command_accepts(store,
			"{\"command\": \"tournament create\", "
			"\"name\": \"robin\", \"format\": \"swiss\", "
			"\"ladder\": \"lambda-mining\", \"rounds\": 2, "
			"\"entrants\": [\"crazy\", \"digger\", \"painter\"]}");
	command_accepts(store, NAMED("start"));
	assert_int_equal(store_writer_start(store), 0);
	assert_int_equal(store_put(store, fixture_record(1, 1)), 0);
	fixture_await(store, STORE_SAVED, 1, &event);
	store_writer_stop(store, 1000);
	decide_open_ones(store, true);
	decide_open_ones(store, false);
	say_end(store);
	expect_in_state(store, "finished");
	/* A bye and a pairing in each round. */
	reply = command_accepted(store, NAMED("show"));
	assert_int_equal(json_array_size(json_object_get(reply, "pairings")),
			 4);
	json_decref(reply);
	sql(store, "UPDATE match SET status = 'void', void_reason = 'test'");
	reply = command_accepted(store, NAMED("show"));
	assert_int_equal(json_array_size(json_object_get(reply, "pairings")),
			 4);
	assert_string_equal(text_at(reply, "pairings", 1, "state"), "void");
	assert_string_equal(text_at(reply, "pairings", 3, "state"), "done");
	assert_int_equal(json_integer_value(json_object_get(reply, "left_out")),
			 0);
	assert_int_equal(json_integer_value(json_object_get(reply, "round")),
			 2);
	assert_int_equal(json_array_size(json_object_get(reply, "next")), 0);
	json_decref(reply);
	reply = command_accepted(store, NAMED("table"));
	for (size_t i = 0; i < 3; i++)
		forfeits += number_of(reply, "standings", i, "forfeits");
	assert_int_equal(forfeits, 3);
	assert_int_equal(
		json_integer_value(json_object_get(reply, "undecided")), 1);
	json_decref(reply);
	store_close(store);
}

static void result_for_other_entrants_is_left_out(void **state)
{
	struct store *store = fixture_store(*state);
	json_t *reply;

	command_accepts(store, ROBIN);
	command_accepts(store, NAMED("start"));
	sql(store, "INSERT INTO tournament_match VALUES "
		   "(1, 1, 1, NULL, '1', 1, 1)");
	reply = command_accepted(store, NAMED("show"));
	assert_int_equal(json_integer_value(json_object_get(reply, "left_out")),
			 1);
	assert_int_equal(json_array_size(json_object_get(reply, "next")), 6);
	json_decref(reply);
	store_close(store);
}

/* *RET_COUNT maps of the tournament, of which *RET_HIDDEN are hidden. */
static void count_maps(struct store *store, int64_t *ret_count,
		       int64_t *ret_hidden)
{
	struct store_error error = { "" };

	assert_int_equal(
		db_number(store->read,
			  "SELECT count(*) FROM map WHERE generator <> ''",
			  ret_count, &error),
		0);
	assert_int_equal(db_number(store->read,
				   "SELECT count(*) FROM map WHERE "
				   "generator <> '' AND visibility = 'hidden'",
				   ret_hidden, &error),
			 0);
}

#define DRAWN_OF(seed, command, name)                                        \
	"{\"command\": \"tournament " command "\", \"name\": \"" name "\", " \
	"\"ladder\": \"lambda-mining\", \"format\": \"contest\", "           \
	"\"draw_seed\": " seed ", \"maps\": 3, "                             \
	"\"entrants\": [\"crazy\", \"digger\"]}"
#define DRAWN(command, name) DRAWN_OF("7", command, name)

static void a_ladder_that_draws_its_maps_has_them_made(void **state)
{
	struct store *store = fixture_store(*state);
	struct row_tournament row, other;
	struct store_error error;
	int64_t count, hidden;

	command_refuses(store, DRAWN("create", "robin"), "maps of its own");
	sql(store, "DELETE FROM ladder_map WHERE ladder_id = 1; "
		   "UPDATE ladder SET generators = 'small,flood' WHERE id = 1");
	command_accepts(store, DRAWN("plan", "robin"));
	count_maps(store, &count, &hidden);
	assert_int_equal(count, 0);
	command_accepts(store, DRAWN("create", "robin"));
	count_maps(store, &count, &hidden);
	assert_int_equal(count, 3);
	assert_int_equal(hidden, 3);
	assert_int_equal(tournament_read(store->read, 1, &row, &error), 0);
	assert_int_equal(row.nmaps, 3);
	assert_int_equal(row.rules.rounds, 3);
	assert_int_equal(row.rules.seed, 7);
	/* The same seed has the same maps. */
	command_accepts(store, DRAWN("create", "again"));
	assert_int_equal(tournament_read(store->read, 2, &other, &error), 0);
	assert_memory_equal(row.map_ids, other.map_ids,
			    3 * sizeof(*row.map_ids));
	row_tournament_release(&row);
	row_tournament_release(&other);
	/* Other maps, but they are not made for a name that is taken. */
	command_refuses(store, DRAWN_OF("9", "create", "again"),
			"the name is taken");
	count_maps(store, &count, &hidden);
	assert_int_equal(count, 3);
	command_accepts(store, NAMED("start"));
	count_maps(store, &count, &hidden);
	assert_int_equal(hidden, 3);
	command_accepts(store, NAMED("cancel"));
	count_maps(store, &count, &hidden);
	assert_int_equal(count, 3);
	assert_int_equal(hidden, 0);
	store_close(store);
}

static void withdrawal_cancel_and_reveal_follow_the_state(void **state)
{
	struct store *store = fixture_store(*state);
	struct row_tournament row;
	struct store_error error;

	command_accepts(store, ROBIN);
	command_refuses(store, NAMED("reveal"), "is planned");
	command_accepts(
		store,
		"{\"command\": \"tournament withdraw\", \"name\": \"robin\", "
		"\"bot\": \"digger\"}");
	command_refuses(
		store,
		"{\"command\": \"tournament withdraw\", \"name\": \"robin\", "
		"\"bot\": \"digger\"}",
		"has withdrawn");
	command_refuses(
		store,
		"{\"command\": \"tournament withdraw\", \"name\": \"robin\", "
		"\"bot\": \"nobody\"}",
		"does not take part");
	assert_int_equal(tournament_read(store->read, 1, &row, &error), 0);
	assert_int_equal(row.entrants[1].out_round, 1);
	row_tournament_release(&row);
	command_accepts(store, NAMED("cancel"));
	command_refuses(store, NAMED("cancel"), "is cancelled");
	command_refuses(store, NAMED("reveal"), "never under embargo");
	store_close(store);
}

static void export_has_what_grades_go_by(void **state)
{
	struct store *store = fixture_store(*state);
	json_t *reply;

	sql(store, "UPDATE owner SET external_id = 's-17' WHERE id = 1");
	command_accepts(store, ROBIN);
	command_accepts(store, NAMED("start"));
	reply = command_accepted(store, NAMED("export"));
	assert_string_equal(text_at(reply, "standings", 0, "owner"), "alice");
	assert_string_equal(text_at(reply, "standings", 0, "external_id"),
			    "s-17");
	assert_string_equal(text_at(reply, "standings", 0, "label"), "1");
	json_decref(reply);
	/* Nowhere else. */
	reply = command_accepted(store, NAMED("table"));
	assert_null(text_at(reply, "standings", 0, "external_id"));
	json_decref(reply);
	store_close(store);
}

static void grades_have_those_who_never_came(void **state)
{
	struct store *store = fixture_store(*state);
	struct match_record *record = fixture_record(1, 1);
	struct store_event event;
	json_t *reply;

	/* painter has no version at the deadline, crazy does not come. */
	sql(store, "DELETE FROM bot_activation WHERE bot_id = 3");
	command_accepts(
		store,
		"{\"command\": \"tournament create\", \"name\": \"robin\", "
		"\"ladder\": \"lambda-mining\", \"format\": \"contest\", "
		"\"entrants\": [\"painter\", \"crazy\", \"digger\"]}");
	command_accepts(store, NAMED("start"));
	assert_int_equal(store_writer_start(store), 0);
	assert_int_equal(store_put(store, record), 0);
	fixture_await(store, STORE_SAVED, 1, &event);
	store_writer_stop(store, 1000);
	sql(store, "INSERT INTO tournament_match VALUES "
		   "(1, 1, 1, NULL, '1', 1, 1), (1, 2, 1, NULL, '2', 1, 1), "
		   "(1, 3, 1, 1, '3', 0, 1)");
	reply = command_accepted(store, NAMED("export"));
	assert_true(json_is_true(json_object_get(reply, "finished")));
	assert_int_equal(json_array_size(json_object_get(reply, "standings")),
			 3);
	assert_string_equal(text_at(reply, "standings", 0, "bot"), "digger");
	assert_int_equal(number_of(reply, "standings", 0, "forfeits"), 0);
	for (size_t i = 1; i < 3; i++) {
		bool has_version = strcmp(text_at(reply, "standings", i, "bot"),
					  "painter") != 0;

		assert_int_equal(number_of(reply, "standings", i, "rank"), 2);
		assert_int_equal(number_of(reply, "standings", i, "forfeits"),
				 1);
		assert_int_equal(number_of(reply, "standings", i, "faults"), 0);
		assert_int_equal(text_at(reply, "standings", i, "version") !=
					 NULL,
				 has_version);
		assert_non_null(text_at(reply, "standings", i, "owner"));
	}
	json_decref(reply);
	store_close(store);
}

static void deadline_of_a_ladder_is_set_and_taken_back(void **state)
{
	struct store *store = fixture_store(*state);
	struct store_error error;
	int64_t at = -1;

	command_accepts(
		store,
		"{\"command\": \"deadline\", \"ladder\": "
		"\"lambda-mining\", \"time\": \"1970-01-02T00:00:01Z\"}");
	assert_int_equal(
		db_number(store->read,
			  "SELECT deadline_us FROM ladder WHERE id = 1", &at,
			  &error),
		0);
	assert_int_equal(at, 86401000000);
	command_accepts(store, "{\"command\": \"deadline\", \"ladder\": "
			       "\"lambda-mining\", \"time\": \"none\"}");
	assert_int_equal(db_number(store->read,
				   "SELECT deadline_us IS NULL FROM ladder "
				   "WHERE id = 1",
				   &at, &error),
			 0);
	assert_int_equal(at, 1);
	command_refuses(
		store,
		"{\"command\": \"deadline\", \"ladder\": \"lambda-mining\", "
		"\"time\": \"soon\"}",
		"is no time");
	store_close(store);
}

static void draw_by_rating_puts_the_best_first(void **state)
{
	struct store *store = fixture_store(*state);
	struct row_tournament row;
	struct store_error error;

	sql(store, "INSERT INTO rating VALUES (1, 3, 30, 1, 9, 1, 0), "
		   "(1, 2, 28, 1, 9, 2, 0)");
	command_accepts(store,
			"{\"command\": \"tournament create\", \"name\": \"x\", "
			"\"ladder\": \"lambda-mining\", \"format\": \"swiss\", "
			"\"entrants\": [\"crazy\", \"digger\", \"painter\"], "
			"\"draw\": \"rating\"}");
	assert_int_equal(tournament_read(store->read, 1, &row, &error), 0);
	assert_string_equal(row.entrants[0].bot, "painter");
	assert_string_equal(row.entrants[1].bot, "digger");
	assert_string_equal(row.entrants[2].bot, "crazy");
	assert_int_equal(row.rules.rounds, 2);
	row_tournament_release(&row);
	store_close(store);
}

static void banned_and_erased_bots_are_no_entrants(void **state)
{
	static const char *const bans[] = {
		"UPDATE bot SET ban_reason = 'no' WHERE id = 1",
		"UPDATE owner SET ban_reason = 'no' WHERE id = 1",
		"UPDATE owner SET is_erased = 1 WHERE id = 1",
		"UPDATE bot SET is_disabled = 1 WHERE id = 1",
		"UPDATE owner SET is_disabled = 1 WHERE id = 1",
	};
	struct store *store = fixture_store(*state);
	json_t *reply;

	sql(store, "INSERT INTO tally VALUES (1, 1, 4, 0, 0), (1, 2, 1, 0, 0), "
		   "(1, 3, 1, 0, 0)");
	for (size_t i = 0; i < sizeof(bans) / sizeof(bans[0]); i++) {
		sql(store, bans[i]);
		command_refuses(store, ROBIN, "no such bot that may play");
		reply = command_accepted(store, ALL);
		assert_int_equal(
			json_array_size(json_object_get(reply, "entrants")), 2);
		assert_string_equal(text_at(reply, "entrants", 0, "bot"),
				    "digger");
		json_decref(reply);
		sql(store, "UPDATE bot SET ban_reason = '', is_disabled = 0; "
			   "UPDATE owner SET ban_reason = '', is_disabled = 0, "
			   "is_erased = 0");
	}
	reply = command_accepted(store, ALL);
	assert_int_equal(json_array_size(json_object_get(reply, "entrants")),
			 3);
	json_decref(reply);
	store_close(store);
}

/* What is no match for the ladder has no place in its tally. */
static void all_are_those_that_played_for_the_ladder(void **state)
{
	struct store *store = fixture_store(*state);
	struct store_error error = { "" };
	json_t *reply;

	command_refuses(store, ALL, "entrants");
	for (int64_t id = 1; id <= 4; id++) {
		struct match_record *record = fixture_record(id, 1);

		record->purpose =
			id == 4 ? MATCH_FOR_UNRATED : MATCH_FOR_LADDER;
		record->seats[0].version_id = id == 4 ? 3 : id % 2 + 1;
		if (store_save(store, record, &error) != 0)
			fail_msg("%s", error.text);
		match_record_free(record);
	}
	reply = command_accepted(store, ALL);
	assert_int_equal(json_array_size(json_object_get(reply, "entrants")),
			 2);
	assert_string_equal(text_at(reply, "entrants", 0, "bot"), "crazy");
	assert_string_equal(text_at(reply, "entrants", 1, "bot"), "digger");
	json_decref(reply);
	/* One whose matches are all void has not played. */
	command_accepts(store, "{\"command\": \"match void\", \"ids\": [2], "
			       "\"reason\": \"no\"}");
	command_refuses(store, ALL, "entrants");
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
		TEST(plan_makes_nothing_and_create_does),
		TEST(what_makes_no_tournament_is_refused),
		TEST(start_pins_what_was_active_at_the_deadline),
		TEST(it_does_not_start_before_its_deadline),
		TEST(versions_are_pinned_whatever_became_active_since),
		TEST(table_follows_from_stored_matches_and_forfeits),
		TEST(a_void_match_of_a_finished_one_leaves_the_others),
		TEST(result_for_other_entrants_is_left_out),
		TEST(banned_and_erased_bots_are_no_entrants),
		TEST(all_are_those_that_played_for_the_ladder),
		TEST(a_ladder_that_draws_its_maps_has_them_made),
		TEST(an_end_that_is_none_any_more_ends_nothing),
		TEST(withdrawal_cancel_and_reveal_follow_the_state),
		TEST(export_has_what_grades_go_by),
		TEST(grades_have_those_who_never_came),
		TEST(deadline_of_a_ladder_is_set_and_taken_back),
		TEST(draw_by_rating_puts_the_best_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
