/* SPDX-License-Identifier: MIT */
/* test_generate.c - generated maps in the pool, and ladders that draw them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "server/games/generate.h"
#include "server/store/admin.h"
#include "server/store/read.h"
#include "server/store/store_internal.h"
#include "tests/unit/store/commands.h"
#include "tests/unit/store/fixture.h"
#include "tests/unit/unit.h"

static struct store *store_at(struct fixture *fixture)
{
	struct store_error error = { "" };
	struct store *store;

	if (store_open(&store, fixture->path, STORE_CREATE, &error) != 0)
		fail_msg("%s", error.text);
	return store;
}

static const struct game_preset *preset_of(const char *game, const char *name)
{
	struct game_error error = { "" };
	const struct game_preset *preset =
		generate_find(game_find(game), name, strlen(name), &error);

	assert_non_null(preset);
	return preset;
}

static void make(struct store *store, const char *game, const char *preset,
		 unsigned seats, uint64_t seed, struct row_map *ret)
{
	struct store_error error = { "" };

	if (store_generate_map(store, game_find(game), preset_of(game, preset),
			       seats, seed, ret, &error) != 0)
		fail_msg("%s", error.text);
}

/* What one SELECT of one text gives. */
static void assert_text(struct store *store, const char *sql,
			const char *expected)
{
	struct store_error error = { "" };
	struct query query;

	query_open(&query, &store->write, sql, &error);
	if (query_step(&query) <= 0)
		fail_msg("%s: %s", sql, error.text);
	assert_string_equal(query_text(&query, 0), expected);
	query_close(&query);
}

static void a_generated_map_is_there_hidden_and_whole(void **state)
{
	struct store *store = store_at(*state);
	struct store_error error = { "" };
	struct game_error game_error;
	struct generated made;
	struct row_map row, again;
	size_t len;
	char *data;

	make(store, "image-battle", "tiny", 3, 0xabc, &row);
	assert_string_equal(row.name, "tiny-3-0000000000000abc.png");
	assert_string_equal(row.game, "image-battle");
	assert_string_equal(row.options, "colours=0,255,0;255,0,0;0,0,255");
	assert_int_equal(row.visibility, ROW_MAP_HIDDEN);
	assert_false(row.is_disabled);
	assert_int_equal(store_map_bytes(store, row.id, &data, &len, &error),
			 0);
	assert_int_equal(generate_map(game_find("image-battle"),
				      preset_of("image-battle", "tiny"), 3,
				      0xabc, &made, &game_error),
			 0);
	assert_int_equal(len, made.data.len);
	assert_memory_equal(data, made.data.data, len);
	generate_release(&made);
	free(data);
	assert_text(store, "SELECT generator FROM map",
		    "tiny/1/0000000000000abc/3");
	assert_int_equal(store_map_row(store, row.id, &again, &error), 0);
	assert_memory_equal(&row, &again, sizeof(row));
	assert_int_equal(store_map_row(store, row.id + 1, &again, &error),
			 -ENOENT);
	store_close(store);
}

static void the_same_map_is_there_once(void **state)
{
	struct store *store = store_at(*state);
	struct row_map first, again, other;

	make(store, "lambda-mining", "small", 1, 1, &first);
	make(store, "lambda-mining", "small", 1, 2, &other);
	make(store, "lambda-mining", "small", 1, 1, &again);
	assert_int_equal(first.id, again.id);
	assert_true(other.id != first.id);
	assert_text(store, "SELECT count(*) FROM map", "2");
	store_close(store);
}

static void the_catalogue_leaves_generated_maps_out(void **state)
{
	struct store *store = store_at(*state);
	struct store_error error = { "" };
	struct row_catalogue catalogue;
	struct row_map row;

	make(store, "lambda-mining", "small", 1, 1, &row);
	assert_int_equal(store_catalogue(store, &catalogue, &error), 0);
	assert_int_equal(catalogue.nmaps, 0);
	row_catalogue_release(&catalogue);
	store_close(store);
}

static void what_cannot_be_made_is_told(void **state)
{
	struct fixture *fixture = *state;
	struct store *store = store_at(fixture);
	struct store_error error = { "" };
	struct row_map row;

	assert_int_equal(store_generate_map(store, game_find("lambda-mining"),
					    preset_of("lambda-mining", "small"),
					    2, 1, &row, &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "not 2"));
	/* its name was given to another map */
	assert_int_equal(
		db_exec(&store->write,
			"INSERT INTO map (game_id, name, created_us, hash, "
			"size_bytes, data) SELECT id, "
			"'small-0000000000000001.map', 0, zeroblob(32), 1, "
			"CAST('x' AS BLOB) FROM game "
			"WHERE name = 'lambda-mining'",
			"fill", &error),
		0);
	assert_true(store_generate_map(store, game_find("lambda-mining"),
				       preset_of("lambda-mining", "small"), 1,
				       1, &row, &error) < 0);
	make(store, "lambda-mining", "small", 1, 2, &row);
	store_close(store);
	assert_int_equal(store_open(&store, fixture->path, STORE_READ, &error),
			 0);
	assert_int_equal(store_generate_map(store, game_find("lambda-mining"),
					    preset_of("lambda-mining", "small"),
					    1, 3, &row, &error),
			 -EROFS);
	store_close(store);
}

static void only_a_generated_map_becomes_public_by_itself(void **state)
{
	struct store *store = store_at(*state);
	struct store_error error = { "" };
	struct row_map row;

	make(store, "lambda-mining", "small", 1, 1, &row);
	assert_int_equal(save_show_map(&store->write, row.id, 77, &error), 0);
	assert_int_equal(save_show_map(&store->write, row.id, 99, &error), 0);
	assert_text(store, "SELECT visibility || public_us FROM map",
		    "public77");
	assert_int_equal(db_exec(&store->write,
				 "UPDATE map SET visibility = 'hidden', "
				 "generator = '', public_us = NULL",
				 "change", &error),
			 0);
	assert_int_equal(save_show_map(&store->write, row.id, 77, &error), 0);
	assert_text(store, "SELECT visibility FROM map", "hidden");
	store_close(store);
}

/* What the rounds on it had shown, the host may take back. */
static void a_drawn_map_that_was_shown_can_be_hidden(void **state)
{
	struct store *store = store_at(*state);
	struct store_error error = { "" };
	struct row_map row;

	make(store, "lambda-mining", "small", 1, 1, &row);
	assert_int_equal(save_show_map(&store->write, row.id, 77, &error), 0);
	command_accepts(store,
			"{\"command\":\"map change\",\"visibility\":\"public\","
			"\"name\":\"small-0000000000000001.map\"}");
	assert_text(store, "SELECT visibility || public_us FROM map",
		    "public77");
	command_accepts(store,
			"{\"command\":\"map change\",\"visibility\":\"hidden\","
			"\"name\":\"small-0000000000000001.map\"}");
	assert_text(store,
		    "SELECT visibility || ifnull(public_us, '') FROM map",
		    "hidden");
	store_close(store);
}

static void sql(struct store *store, const char *text)
{
	struct store_error error = { "" };

	if (db_exec(&store->write, text, "test", &error) != 0)
		fail_msg("%s", error.text);
}

static void the_next_start_removes_what_nothing_was_played_on(void **state)
{
	struct store *store = store_at(*state);
	struct store_error error = { "" };
	struct row_map row;
	unsigned count = 0;

	for (uint64_t seed = 1; seed <= 5; seed++) {
		make(store, "lambda-mining", "small", 1, seed, &row);
		assert_int_equal(row.id, seed);
	}
	sql(store,
	    /* 2: a match on it was stored; 3: a tournament's; 4: shown */
	    "INSERT INTO instance (map_id, params, seats, seed) "
	    "VALUES (2, '', 1, 77);"
	    "INSERT INTO ladder (id, name, name_key, game_id, seats, params, "
	    "turn_ms, init_ms, grace_ms, bank_ms, bank_step_ms, lag_cap_ms, "
	    "ready_ms, file_ms, bot_seed, is_rated, created_us) SELECT 1, "
	    "'mine', 'mine', game_id, 1, '', 1000, 0, 0, 0, 0, 0, 1000, 1000, "
	    "'own', 1, 0 FROM map WHERE id = 1;"
	    "INSERT INTO tournament (name, name_key, ladder_id, format, "
	    "options, seed, state, grace_s, is_embargo, created_us) VALUES "
	    "('cup', 'cup', 1, 'contest', '{\"maps\":[3]}', 1, 'planned', 0, "
	    "0, 0), ('old', 'old', 1, 'contest', '{}', 1, 'planned', 0, 0, 0);"
	    "UPDATE map SET visibility = 'public', public_us = 5 WHERE id = 4;"
	    /* 6: the host's own */
	    "INSERT INTO map (id, game_id, name, visibility, created_us, hash, "
	    "size_bytes, data) SELECT 6, game_id, 'own.map', 'hidden', 0, "
	    "zeroblob(32), 1, x'23' FROM map WHERE id = 1");
	assert_int_equal(store_drop_stock(store, &count, &error), 0);
	assert_int_equal(count, 2);
	assert_text(
		store,
		"SELECT group_concat(id) FROM (SELECT id FROM map ORDER BY id)",
		"2,3,4,6");
	assert_int_equal(store_drop_stock(store, &count, &error), 0);
	assert_int_equal(count, 0);
	store_close(store);
}

/* Else each reading of the catalogue passes the maps of all rounds so far. */
static void the_hosts_maps_have_an_index_of_their_own(void **state)
{
	struct store *store = store_at(*state);
	struct query query;

	query_open(&query, &store->write,
		   "EXPLAIN QUERY PLAN " READ_MAP_COLUMNS
		   "WHERE m.generator = '' ORDER BY m.id",
		   NULL);
	assert_int_equal(query_step(&query), 1);
	assert_non_null(strstr(query_text(&query, 3), "map_pool"));
	query_close(&query);
	store_close(store);
}

/* ---- ladders ---- */

#define ADD "{\"command\":\"ladder add\",\"game\":\"lambda-mining\",\"name\":"
#define CHANGE "{\"command\":\"ladder change\",\"name\":\"mine\","

static void a_ladder_plays_its_maps_or_draws_them(void **state)
{
	struct store *store = store_at(*state);

	command_accepts(store,
			"{\"command\":\"map add\",\"name\":\"one.map\","
			"\"game\":\"lambda-mining\",\"data\":\"I1JcTCMK\"}");
	command_refuses(store, ADD "\"mine\"}", "must be given");
	command_refuses(
		store,
		ADD "\"mine\",\"generate\":\"small\",\"maps\":[\"one.map\"]}",
		"goes with no maps");
	command_refuses(store, ADD "\"mine\",\"generate\":\"smol\"}",
			"no preset 'smol', only small");
	command_refuses(store, ADD "\"mine\",\"generate\":\"small,\"}",
			"no preset ''");
	command_refuses(store,
			ADD
			"\"mine\",\"generate\":\"small\",\"seeds\":\"1..5\"}",
			"must be random where maps are generated");
	command_accepts(store, ADD "\"mine\",\"generate\":\"small,flood\"}");
	assert_text(store, "SELECT generators FROM ladder", "small,flood");
	assert_text(store, "SELECT count(*) FROM ladder_map", "0");
	command_refuses(store, CHANGE "\"seeds\":\"1..5\"}", "must be random");
	command_accepts(store, CHANGE "\"turn_ms\":5000}");
	assert_text(store, "SELECT generators FROM ladder", "small,flood");
	command_accepts(store, CHANGE "\"maps\":[\"one.map\"]}");
	assert_text(store, "SELECT generators FROM ladder", "");
	assert_text(store, "SELECT count(*) FROM ladder_map", "1");
	command_accepts(store, CHANGE "\"generate\":\"beard\"}");
	assert_text(store, "SELECT generators FROM ladder", "beard");
	assert_text(store, "SELECT count(*) FROM ladder_map", "0");
	store_close(store);
}

static void presets_have_room_for_the_ladders_seats(void **state)
{
	struct store *store = store_at(*state);

	command_accepts(store, "{\"command\":\"ladder add\",\"name\":\"four\","
			       "\"game\":\"image-battle\",\"seats\":4,"
			       "\"generate\":\"tiny,open\"}");
	command_refuses(store,
			"{\"command\":\"ladder add\",\"name\":\"nine\","
			"\"game\":\"image-battle\",\"seats\":9,"
			"\"generate\":\"tiny\"}",
			"seats");
	store_close(store);
}

static void lists_say_what_is_drawn(void **state)
{
	struct store *store = store_at(*state);
	struct row_map row;
	json_t *reply, *first;

	command_accepts(store, ADD "\"mine\",\"generate\":\"small,flood\"}");
	reply = command_accepted(store, "{\"command\":\"ladder list\"}");
	first = json_array_get(json_object_get(reply, "ladders"), 0);
	assert_string_equal(
		json_string_value(json_object_get(first, "generate")),
		"small,flood");
	json_decref(reply);
	make(store, "lambda-mining", "small", 1, 7, &row);
	reply = command_accepted(store, "{\"command\":\"map list\"}");
	assert_int_equal(json_array_size(json_object_get(reply, "maps")), 0);
	json_decref(reply);
	reply = command_accepted(
		store, "{\"command\":\"map list\",\"generated\":true}");
	first = json_array_get(json_object_get(reply, "maps"), 0);
	assert_string_equal(
		json_string_value(json_object_get(first, "generator")),
		"small/1/0000000000000007");
	json_decref(reply);
	store_close(store);
}

#define STORE_TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(a_generated_map_is_there_hidden_and_whole),
		STORE_TEST(the_same_map_is_there_once),
		STORE_TEST(the_catalogue_leaves_generated_maps_out),
		STORE_TEST(what_cannot_be_made_is_told),
		STORE_TEST(only_a_generated_map_becomes_public_by_itself),
		STORE_TEST(a_drawn_map_that_was_shown_can_be_hidden),
		STORE_TEST(the_next_start_removes_what_nothing_was_played_on),
		STORE_TEST(the_hosts_maps_have_an_index_of_their_own),
		STORE_TEST(a_ladder_plays_its_maps_or_draws_them),
		STORE_TEST(presets_have_room_for_the_ladders_seats),
		STORE_TEST(lists_say_what_is_drawn),
	};

	return cmocka_run_group_tests_name("generate", tests, NULL, NULL);
}
