/* SPDX-License-Identifier: MIT */
/* The host's commands. */
#include "server/store/admin.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/sha.h>

#include "server/store/store_internal.h"
#include "tests/unit/store/commands.h"
#include "tests/unit/store/fixture.h"
#include "tests/unit/unit.h"

/* "#R\\L#\n#" and a second mine, as the pool takes them. */
#define MINE "IyMjIyMKI1IuTCMKIyMjIyMK"
#define MINE_2 "IyMjIyMKI1JcTCMKIyMjIyMK"

static struct store *store_at(struct fixture *fixture)
{
	struct store_error error = { "" };
	struct store *store;

	if (store_open(&store, fixture->path, STORE_CREATE, &error) != 0)
		fail_msg("%s", error.text);
	return store;
}

/* Refused, FIELD named (NULL: none), and SAYS in the reason. */
static void refuses(struct store *store, const char *text, const char *field,
		    const char *says)
{
	bool changed = true;
	json_t *reply = command_ask(store, text, &changed);
	const char *error = json_string_value(json_object_get(reply, "error"));
	const char *named = json_string_value(json_object_get(reply, "field"));

	if (!json_is_false(json_object_get(reply, "ok")))
		fail_msg("accepted: %s", text);
	assert_false(changed);
	assert_non_null(error);
	if (strstr(error, says) == NULL)
		fail_msg("%s: %s", text, error);
	if (field == NULL) {
		assert_null(named);
	} else {
		assert_non_null(named);
		assert_string_equal(named, field);
		assert_non_null(strstr(error, field));
	}
	json_decref(reply);
}

static void catalogue_of(struct store *store, struct row_catalogue *ret)
{
	struct store_error error = { "" };

	if (store_catalogue(store, ret, &error) != 0)
		fail_msg("%s", error.text);
}

static void a_new_bot_gets_owner_and_token(void **state)
{
	struct store *store = store_at(*state);
	struct row_catalogue catalogue;
	uint8_t hash[ROW_HASH_BYTES];
	const char *token;
	json_t *reply;
	bool changed = false;

	reply = command_ask(store,
			    "{\"command\":\"bot add\",\"name\":\"crazy\","
			    "\"owner\":\"alice\",\"max_connections\":3}",
			    &changed);
	assert_true(changed);
	token = json_string_value(json_object_get(reply, "token"));
	assert_non_null(token);
	assert_int_equal(strlen(token), 48);
	assert_int_equal(strncmp(token, "hill_", 5), 0);
	assert_int_equal(strspn(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijkl"
				       "mnopqrstuvwxyz0123456789-_"),
			 48);
	(void)SHA256((const unsigned char *)token, strlen(token), hash);
	catalogue_of(store, &catalogue);
	assert_int_equal(catalogue.nbots, 1);
	assert_string_equal(catalogue.bots[0].name, "crazy");
	assert_int_equal(catalogue.bots[0].max_connections, 3);
	assert_int_equal(catalogue.bots[0].version, 1);
	assert_int_equal(catalogue.ntokens, 1);
	assert_memory_equal(catalogue.tokens[0].hash, hash, sizeof(hash));
	row_catalogue_release(&catalogue);
	json_decref(reply);
	/* The same owner again, by then there. */
	command_accepts(store, "{\"command\":\"bot add\",\"name\":\"lazy\","
			       "\"owner\":\"alice\"}");
	reply = command_accepted(store, "{\"command\":\"owner list\"}");
	assert_int_equal(json_array_size(json_object_get(reply, "owners")), 1);
	json_decref(reply);
	reply = command_accepted(store, "{\"command\":\"bot list\"}");
	assert_int_equal(json_array_size(json_object_get(reply, "bots")), 2);
	json_decref(reply);
	store_close(store);
}

/* BC72: look-alikes are refused, and only the named one is disabled. */
static void names_that_look_alike_are_one(void **state)
{
	static const char *const bad[] = {
		"a b",      "A_B",    "ab",   "a  b",
		"",         "a\\nbc", "-ab!", "abcdefghijklmnopqrstuvwxy",
		"\\u00e4bc"
	};
	struct store *store = store_at(*state);
	struct row_catalogue catalogue;
	char text[200];

	command_accepts(store, "{\"command\":\"bot add\",\"name\":\"a_b\","
			       "\"owner\":\"alice\"}");
	refuses(store,
		"{\"command\":\"bot add\",\"name\":\"a_b\","
		"\"owner\":\"alice\"}",
		"name", "taken");
	refuses(store,
		"{\"command\":\"bot add\",\"name\":\"a-b\","
		"\"owner\":\"alice\"}",
		"name", "too much like a_b");
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		(void)snprintf(text, sizeof(text),
			       "{\"command\":\"bot add\",\"name\":\"%s\","
			       "\"owner\":\"alice\"}",
			       bad[i]);
		refuses(store, text, "name", "");
	}
	refuses(store,
		"{\"command\":\"bot add\",\"name\":\"fine\","
		"\"owner\":\"Al Ice\"}",
		"owner", "Al Ice");
	refuses(store, "{\"command\":\"owner add\",\"name\":\"al.ice\"}x", NULL,
		"JSON");
	command_accepts(store,
			"{\"command\":\"owner add\",\"name\":\"al-ice\"}");
	refuses(store, "{\"command\":\"owner add\",\"name\":\"al_ice\"}",
		"name", "al-ice");
	command_accepts(store, "{\"command\":\"bot add\",\"name\":\"ab1\","
			       "\"owner\":\"alice\"}");
	refuses(store, "{\"command\":\"bot disable\",\"name\":\"a-b\"}", "name",
		"no bot");
	command_accepts(store,
			"{\"command\":\"bot disable\",\"name\":\"a_b\"}");
	catalogue_of(store, &catalogue);
	assert_int_equal(catalogue.nbots, 2);
	assert_true(catalogue.bots[0].is_disabled);
	assert_false(catalogue.bots[1].is_disabled);
	row_catalogue_release(&catalogue);
	store_close(store);
}

/* BC76, BC77, BC78, BC80, BC81 and what else no command may hold. */
static void strange_json_is_refused(void **state)
{
	static const struct {
		const char *text, *field, *says;
	} cases[] = {
		{ "", NULL, "JSON" },
		{ "[]", NULL, "object" },
		{ "{}", "command", "given" },
		{ "{\"command\":7}", "command", "given" },
		{ "{\"command\":\"bot eat\"}", "command", "bot eat" },
		{ "{\"command\":\"status\",\"command\":\"status\"}", NULL,
		  "duplicate" },
		{ "{\"command\":\"status\"}xyz", NULL, "JSON" },
		{ "{\"command\":\"status\"}{\"command\":\"status\"}", NULL,
		  "JSON" },
		{ "{\"command\":\"status\",\"a\\u0000\":1}", NULL, "JSON" },
		{ "{\"command\":\"bot add\",\"name\":\"ab\\u0000cd\","
		  "\"owner\":\"al\"}",
		  NULL, "JSON" },
		{ "{\"command\":\"status\",\"more\":1}", NULL, "more" },
		{ "{\"command\":\"bot add\",\"name\":\"abc\"}", "owner",
		  "given" },
		{ "{\"command\":\"bot add\",\"name\":5,\"owner\":\"al\"}",
		  "name", "text" },
		{ "{\"command\":\"token revoke\",\"id\":1.0}", "id",
		  "whole number" },
		{ "{\"command\":\"token revoke\",\"id\":\"1\"}", "id",
		  "whole number" },
		{ "{\"command\":\"token revoke\",\"id\":-1}", "id", "-1" },
		{ "{\"command\":\"token revoke\",\"id\":1e400}", NULL, "JSON" },
		{ "{\"command\":\"token revoke\",\"id\":NaN}", NULL, "JSON" },
		{ "{\"command\":\"token revoke\","
		  "\"id\":9223372036854775808}",
		  NULL, "JSON" },
		{ "{\"command\":\"token revoke\","
		  "\"id\":9007199254740993}",
		  "id", "9007199254740993" },
		{ "{\"command\":\"bot add\",\"name\":\"abc\","
		  "\"owner\":\"al\",\"max_connections\":0}",
		  "max_connections", "'0'" },
		{ "{\"command\":\"bot disable\",\"name\":\"abc\","
		  "\"disabled\":1}",
		  "disabled", "true or false" },
		{ "{\"command\":\"owner add\",\"name\":\"\xff\"}", NULL,
		  "JSON" },
	};
	struct store *store = store_at(*state);
	struct row_counts counts;
	struct store_error error;

	for (size_t i = 0; i < COUNT_OF(cases); i++)
		refuses(store, cases[i].text, cases[i].field, cases[i].says);
	assert_int_equal(store_counts(store, &counts, &error), 0);
	assert_int_equal(counts.owners, 0);
	store_close(store);
}

static void *nest(void *ctx)
{
	enum { DEEP = 100000 };
	struct store *store = ctx;
	char *text = xmalloc(DEEP * 5 + 1);

	memset(text, '[', DEEP);
	text[DEEP] = '\0';
	refuses(store, text, NULL, "nested");
	text[0] = '\0';
	for (int i = 0; i < DEEP; i++)
		memcpy(text + (size_t)i * 5, "{\"a\":", 6);
	refuses(store, text, NULL, "nested");
	free(text);
	return NULL;
}

static void deep_json_needs_no_stack(void **state)
{
	struct store *store = store_at(*state);
	pthread_attr_t attr;
	pthread_t thread;

	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, 256 * 1024);
	assert_int_equal(pthread_create(&thread, &attr, nest, store), 0);
	(void)pthread_join(thread, NULL);
	(void)pthread_attr_destroy(&attr);
	store_close(store);
}

static void owners_keep_private_what_is(void **state)
{
	struct store *store = store_at(*state);
	json_t *reply, *owner;

	command_accepts(store, "{\"command\":\"owner add\",\"name\":\"alice\","
			       "\"external_id\":\"se:17\",\"note\":\"a@b.c\"}");
	refuses(store,
		"{\"command\":\"owner add\",\"name\":\"bob\","
		"\"external_id\":\"se:17\"}",
		"external_id", "alice");
	/* Refused as a whole: bob is not there. */
	command_accepts(store, "{\"command\":\"owner add\",\"name\":\"bob\"}");
	command_accepts(store,
			"{\"command\":\"owner change\",\"name\":\"alice\","
			"\"new_name\":\"carol\",\"external_id\":\"\"}");
	refuses(store,
		"{\"command\":\"owner change\",\"name\":\"bob\","
		"\"new_name\":\"carol\"}",
		"new_name", "taken");
	command_accepts(store, "{\"command\":\"owner change\",\"name\":\"bob\","
			       "\"external_id\":\"se:17\"}");
	command_accepts(store, "{\"command\":\"bot add\",\"name\":\"crazy\","
			       "\"owner\":\"carol\"}");
	command_accepts(store,
			"{\"command\":\"owner disable\",\"name\":\"carol\"}");
	reply = command_accepted(store, "{\"command\":\"owner list\"}");
	owner = json_array_get(json_object_get(reply, "owners"), 1);
	assert_string_equal(json_string_value(json_object_get(owner, "name")),
			    "carol");
	assert_string_equal(json_string_value(json_object_get(owner, "note")),
			    "a@b.c");
	assert_true(json_is_true(json_object_get(owner, "disabled")));
	json_decref(reply);
	reply = command_accepted(store, "{\"command\":\"bot list\","
					"\"owner\":\"carol\"}");
	owner = json_array_get(json_object_get(reply, "bots"), 0);
	assert_true(json_is_true(json_object_get(owner, "owner_disabled")));
	json_decref(reply);
	store_close(store);
}

static size_t valid_tokens(struct store *store)
{
	struct row_catalogue catalogue;
	size_t count;

	catalogue_of(store, &catalogue);
	count = catalogue.ntokens;
	row_catalogue_release(&catalogue);
	return count;
}

static void tokens_come_and_go(void **state)
{
	struct store *store = store_at(*state);
	json_t *first, *reply;

	first = command_accepted(store,
				 "{\"command\":\"bot add\",\"name\":\"crazy\","
				 "\"owner\":\"alice\"}");
	reply = command_accepted(store, "{\"command\":\"token add\","
					"\"bot\":\"crazy\"}");
	assert_string_not_equal(
		json_string_value(json_object_get(first, "token")),
		json_string_value(json_object_get(reply, "token")));
	assert_int_equal(valid_tokens(store), 2);
	json_decref(first);
	json_decref(reply);
	command_accepts(store, "{\"command\":\"token revoke\",\"id\":1}");
	refuses(store, "{\"command\":\"token revoke\",\"id\":1}", "id",
		"no valid token 1");
	assert_int_equal(valid_tokens(store), 1);
	reply = command_accepted(store, "{\"command\":\"token rotate\","
					"\"bot\":\"crazy\"}");
	assert_true(json_is_string(json_object_get(reply, "token")));
	json_decref(reply);
	assert_int_equal(valid_tokens(store), 1);
	reply = command_accepted(store, "{\"command\":\"token list\"}");
	assert_int_equal(json_array_size(json_object_get(reply, "tokens")), 3);
	json_decref(reply);
	refuses(store, "{\"command\":\"token add\",\"bot\":\"nobody\"}", "bot",
		"nobody");
	store_close(store);
}

static void maps_are_imported_once(void **state)
{
	struct store *store = store_at(*state);
	struct store_error error = { "" };
	char *data;
	size_t len;
	json_t *reply;

	command_accepts(store,
			"{\"command\":\"map add\",\"name\":\"one.map\","
			"\"game\":\"lambda-mining\",\"data\":\"" MINE "\"}");
	assert_int_equal(store_map_bytes(store, 1, &data, &len, &error), 0);
	assert_string_equal(data, "#####\n#R.L#\n#####\n");
	free(data);
	refuses(store,
		"{\"command\":\"map add\",\"name\":\"one.map\","
		"\"game\":\"lambda-mining\",\"data\":\"" MINE_2 "\"}",
		"name", "taken");
	refuses(store,
		"{\"command\":\"map add\",\"name\":\"two.map\","
		"\"game\":\"lambda-mining\",\"data\":\"" MINE "\"}",
		"data", "one.map");
	refuses(store,
		"{\"command\":\"map add\",\"name\":\"../x\","
		"\"game\":\"lambda-mining\",\"data\":\"" MINE "\"}",
		"name", "../x");
	refuses(store,
		"{\"command\":\"map add\",\"name\":\"x\","
		"\"game\":\"chess\",\"data\":\"" MINE "\"}",
		"game", "chess");
	refuses(store,
		"{\"command\":\"map add\",\"name\":\"x\","
		"\"game\":\"lambda-mining\",\"data\":\"****\"}",
		"data", "base64");
	refuses(store,
		"{\"command\":\"map add\",\"name\":\"x\","
		"\"game\":\"image-battle\",\"data\":\"" MINE "\"}",
		"data", "");
	refuses(store,
		"{\"command\":\"map add\",\"name\":\"x\","
		"\"game\":\"lambda-mining\",\"data\":\"" MINE_2 "\","
		"\"visibility\":\"secret\"}",
		"visibility", "secret");
	command_accepts(store,
			"{\"command\":\"map change\",\"name\":\"one.map\","
			"\"visibility\":\"hidden\"}");
	refuses(store,
		"{\"command\":\"map change\",\"name\":\"one.map\","
		"\"hidden_until\":\"tomorrow\"}",
		"hidden_until", "tomorrow");
	refuses(store,
		"{\"command\":\"map change\",\"name\":\"one.map\","
		"\"hidden_until\":\"2001-01-31\"}",
		"hidden_until", "is over");
	refuses(store,
		"{\"command\":\"map change\",\"name\":\"one.map\","
		"\"visibility\":\"public\",\"hidden_until\":\"2999-01-31\"}",
		"hidden_until", "public");
	command_accepts(store,
			"{\"command\":\"map disable\",\"name\":\"one.map\"}");
	reply = command_accepted(store, "{\"command\":\"map list\"}");
	assert_string_equal(
		json_string_value(json_object_get(
			json_array_get(json_object_get(reply, "maps"), 0),
			"visibility")),
		"hidden");
	json_decref(reply);
	store_close(store);
}

/* The "map" of the reply to an addition of one.map with FIELDS. */
static json_t *added(struct store *store, const char *fields)
{
	char text[256];
	json_t *reply, *map;

	(void)snprintf(text, sizeof(text),
		       "{\"command\":\"map add\",\"name\":\"one.map\","
		       "\"game\":\"lambda-mining\",\"data\":\"" MINE "\"%s}",
		       fields);
	reply = command_accepted(store, text);
	map = json_incref(json_object_get(reply, "map"));
	json_decref(reply);
	return map;
}

static void the_same_map_may_be_added_again(void **state)
{
	struct store *store = store_at(*state);
	json_t *first = added(store, ""), *again = added(store, "");
	static const char *const same[] = { "id", "bytes", "sha256" };
	json_t *reply;

	assert_true(json_is_true(json_object_get(first, "added")));
	assert_true(json_is_false(json_object_get(again, "added")));
	assert_true(json_is_false(json_object_get(again, "disabled")));
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		assert_true(json_equal(json_object_get(first, same[i]),
				       json_object_get(again, same[i])));
	json_decref(again);
	json_decref(first);

	/* What it may not do in silence is to show or to hide it. */
	refuses(store,
		"{\"command\":\"map add\",\"name\":\"one.map\","
		"\"game\":\"lambda-mining\",\"data\":\"" MINE "\","
		"\"visibility\":\"hidden\"}",
		"visibility", "already, but public");
	command_accepts(store,
			"{\"command\":\"map change\",\"name\":\"one.map\","
			"\"visibility\":\"hidden\"}");
	json_decref(added(store, ",\"visibility\":\"hidden\""));
	refuses(store,
		"{\"command\":\"map add\",\"name\":\"one.map\","
		"\"game\":\"lambda-mining\",\"data\":\"" MINE "\","
		"\"options\":\"x=1\"}",
		"name", "taken");
	command_accepts(store,
			"{\"command\":\"map disable\",\"name\":\"one.map\"}");
	again = added(store, "");
	assert_true(json_is_true(json_object_get(again, "disabled")));
	json_decref(again);
	reply = command_accepted(store, "{\"command\":\"map list\"}");
	assert_int_equal(json_array_size(json_object_get(reply, "maps")), 1);
	json_decref(reply);
	store_close(store);
}

#define LADDER "{\"command\":\"ladder add\",\"game\":\"lambda-mining\","

static void ladders_are_checked_as_a_whole(void **state)
{
	struct store *store = store_at(*state);
	struct row_catalogue catalogue;
	const struct row_ladder *ladder;
	const struct game *game = game_find("lambda-mining");

	command_accepts(store,
			"{\"command\":\"map add\",\"name\":\"one.map\","
			"\"game\":\"lambda-mining\",\"data\":\"" MINE "\"}");
	command_accepts(store,
			"{\"command\":\"map add\",\"name\":\"two.map\","
			"\"game\":\"lambda-mining\",\"data\":\"" MINE_2 "\"}");
	refuses(store, LADDER "\"name\":\"m\",\"maps\":[]}", "maps",
		"1 to 1000");
	refuses(store, LADDER "\"name\":\"m\",\"maps\":[\"x\"]}", "maps",
		"'x'");
	refuses(store,
		LADDER "\"name\":\"m\",\"maps\":[\"one.map\",\"one.map\"]}",
		"maps", "twice");
	refuses(store,
		LADDER "\"name\":\"m\",\"maps\":[\"one.map\"],\"seats\":2}",
		"seats", "not 2");
	refuses(store,
		LADDER "\"name\":\"m\",\"maps\":[\"one.map\"],"
		       "\"params\":\"speed=3\"}",
		"params", "speed");
	refuses(store,
		LADDER "\"name\":\"m\",\"maps\":[\"one.map\"],"
		       "\"seeds\":\"5..4\"}",
		"seeds", "5..4");
	refuses(store,
		LADDER "\"name\":\"m\",\"maps\":[\"one.map\"],"
		       "\"seeds\":\"0..9223372036854775808\"}",
		"seeds", "9223372036854775807");
	refuses(store,
		LADDER "\"name\":\"m\",\"maps\":[\"one.map\"],"
		       "\"original\":true,\"bank_ms\":5}",
		"bank_ms", "original");
	refuses(store,
		LADDER "\"name\":\"m\",\"maps\":[\"one.map\"],"
		       "\"bot_seed\":\"none\"}",
		"bot_seed", "none");
	command_accepts(store, LADDER "\"name\":\"m\",\"maps\":[\"two.map\","
				      "\"one.map\"],"
				      "\"seeds\":\"0..9223372036854775807\"}");
	command_accepts(store, LADDER "\"name\":\"old\",\"maps\":[\"one.map\"],"
				      "\"original\":true,\"seeds\":\"1..5\"}");
	refuses(store, LADDER "\"name\":\"m\",\"maps\":[\"one.map\"]}", "name",
		"taken");
	catalogue_of(store, &catalogue);
	assert_int_equal(catalogue.nladders, 2);
	ladder = &catalogue.ladders[0];
	assert_int_equal(ladder->nmaps, 2);
	assert_int_equal(ladder->map_ids[0], 2);
	assert_int_equal(ladder->map_ids[1], 1);
	assert_int_equal(ladder->turn_ms, game->turn_ms);
	assert_int_equal(ladder->bank_ms, 2000);
	assert_int_equal(ladder->bank_step_ms, game->is_shared ? 4 : 2);
	assert_int_equal(ladder->lag_cap_ms, 250);
	assert_int_equal(ladder->bot_seed, ROW_BOT_SEED_OWN);
	assert_true(ladder->seed_last == INT64_MAX);
	ladder = &catalogue.ladders[1];
	assert_int_equal(ladder->turn_ms, game->turn_ms);
	assert_int_equal(ladder->init_ms, game->init_ms);
	assert_int_equal(ladder->bank_ms, 0);
	assert_int_equal(ladder->bank_step_ms, 0);
	assert_int_equal(ladder->lag_cap_ms, 0);
	assert_int_equal(ladder->bot_seed, ROW_BOT_SEED_MATCH);
	assert_int_equal(ladder->seed_next, 1);
	row_catalogue_release(&catalogue);
	store_close(store);
}

static void a_ladder_changes_only_what_is_said(void **state)
{
	struct store *store = store_at(*state);
	struct row_catalogue catalogue;
	json_t *reply, *row;

	command_accepts(store,
			"{\"command\":\"map add\",\"name\":\"one.map\","
			"\"game\":\"lambda-mining\",\"data\":\"" MINE "\"}");
	command_accepts(store, LADDER "\"name\":\"m\",\"maps\":[\"one.map\"],"
				      "\"seeds\":\"1..5\",\"ready_ms\":777}");
	command_accepts(store, "{\"command\":\"ladder change\",\"name\":\"m\","
			       "\"turn_ms\":1234,\"rated\":false}");
	refuses(store,
		"{\"command\":\"ladder change\",\"name\":\"m\","
		"\"turn_ms\":99,\"seats\":8}",
		"seats", "not 8");
	refuses(store,
		"{\"command\":\"ladder change\",\"name\":\"m\","
		"\"game\":\"image-battle\"}",
		NULL, "game");
	catalogue_of(store, &catalogue);
	assert_int_equal(catalogue.ladders[0].turn_ms, 1234);
	assert_int_equal(catalogue.ladders[0].ready_ms, 777);
	assert_int_equal(catalogue.ladders[0].seed_last, 5);
	assert_int_equal(catalogue.ladders[0].nmaps, 1);
	assert_false(catalogue.ladders[0].is_rated);
	assert_false(catalogue.ladders[0].is_disabled);
	row_catalogue_release(&catalogue);
	command_accepts(store, "{\"command\":\"ladder change\",\"name\":\"m\","
			       "\"seeds\":\"random\"}");
	command_accepts(store,
			"{\"command\":\"ladder disable\",\"name\":\"m\"}");
	reply = command_accepted(store, "{\"command\":\"ladder list\"}");
	row = json_array_get(json_object_get(reply, "ladders"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "seeds")),
			    "random");
	assert_true(json_is_true(json_object_get(row, "disabled")));
	assert_string_equal(json_string_value(json_array_get(
				    json_object_get(row, "maps"), 0)),
			    "one.map");
	json_decref(reply);
	command_accepts(store, "{\"command\":\"ladder disable\",\"name\":\"m\","
			       "\"disabled\":false}");
	/* A map that is gone leaves the ladder without any. */
	command_accepts(store,
			"{\"command\":\"map disable\",\"name\":\"one.map\"}");
	catalogue_of(store, &catalogue);
	assert_false(catalogue.ladders[0].is_disabled);
	assert_int_equal(catalogue.ladders[0].nmaps, 0);
	row_catalogue_release(&catalogue);
	store_close(store);
}

static void a_reader_changes_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct store_error error = { "" };
	struct store *store = store_at(fixture);
	json_t *reply;

	command_accepts(store, "{\"command\":\"bot add\",\"name\":\"crazy\","
			       "\"owner\":\"alice\"}");
	store_close(store);
	assert_int_equal(store_open(&store, fixture->path, STORE_READ, &error),
			 0);
	refuses(store, "{\"command\":\"bot disable\",\"name\":\"crazy\"}", NULL,
		"reading only");
	reply = command_accepted(store, "{\"command\":\"status\"}");
	reply = json_object_get(reply, "status") != NULL ? reply : NULL;
	assert_non_null(reply);
	assert_int_equal(json_integer_value(json_object_get(
				 json_object_get(reply, "status"), "bots")),
			 1);
	json_decref(reply);
	store_close(store);
}

static size_t found_in_audit(struct store *store, const char *text)
{
	json_t *reply = command_accepted(store, "{\"command\":\"audit\"}"),
	       *action;
	size_t i, count = 0;

	json_array_foreach(json_object_get(reply, "actions"), i, action)
		count += strstr(json_string_value(
					json_object_get(action, "arguments")),
				text) != NULL;
	json_decref(reply);
	return count;
}

static void the_audit_says_who_asked_and_what_was_done(void **state)
{
	static const char add[] =
		"{\"command\":\"owner add\",\"name\":\"ann\"}";
	struct store *store = store_at(*state);
	json_t *reply, *actions;
	char own[40];

	(void)snprintf(own, sizeof(own), "uid=%ld", (long)geteuid());
	free(store_admin_by(store, 4711, add, strlen(add), NULL));
	free(store_admin_by(store, 4712, add, strlen(add), NULL));
	command_accepts(store,
			"{\"command\":\"owner house\",\"name\":\"ann\"}");
	reply = command_accepted(store, "{\"command\":\"audit\"}");
	actions = json_object_get(reply, "actions");
	/* The second was refused. */
	assert_int_equal(json_array_size(actions), 2);
	assert_string_equal(json_string_value(json_object_get(
				    json_array_get(actions, 1), "actor")),
			    "uid=4711");
	assert_string_equal(json_string_value(json_object_get(
				    json_array_get(actions, 0), "actor")),
			    own);
	json_decref(reply);
	store_close(store);
}

/* Who registers alone is called as the bot; the bot's name stays. */
static void an_erased_owner_is_forgotten_and_the_bot_is_not(void **state)
{
	struct store *store = store_at(*state);

	command_accepts(store, "{\"command\":\"owner add\",\"name\":\"ann\"}");
	command_accepts(store, "{\"command\":\"owner change\",\"name\":\"ann\","
			       "\"new_name\":\"crazy\"}");
	command_accepts(store, "{\"command\":\"bot add\",\"name\":\"crazy\","
			       "\"owner\":\"crazy\"}");
	command_accepts(store, "{\"command\":\"bot ban\",\"name\":\"crazy\","
			       "\"reason\":\"crazy\"}");
	command_accepts(store, "{\"command\":\"owner ban\",\"name\":\"crazy\","
			       "\"reason\":\"ann cheats\"}");
	/* Who has his old name, and one that was not reserved at all times. */
	command_accepts(store, "{\"command\":\"owner add\",\"name\":\"ann\"}");
	command_accepts(store,
			"{\"command\":\"owner add\",\"name\":\"erased-1\"}");
	command_accepts(store,
			"{\"command\":\"owner erase\",\"name\":\"crazy\"}");
	assert_int_equal(found_in_audit(store, "\"name\":\"crazy\""), 2);
	assert_int_equal(found_in_audit(store, "\"name\":\"ann\""), 1);
	assert_int_equal(found_in_audit(store, "ann cheats"), 0);
	assert_int_equal(found_in_audit(store, "\"reason\":"), 0);
	assert_int_equal(found_in_audit(store, "\"owner\":\"crazy\""), 0);
	assert_int_equal(found_in_audit(store, "\"new_name\":\"crazy\""), 0);
	assert_int_equal(found_in_audit(store, "\"owner\":\"erased-1-2\""), 1);
	assert_int_equal(found_in_audit(store, "\"new_name\":\"erased-1-2\""),
			 1);
	store_close(store);
}

#define CASE(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_new_bot_gets_owner_and_token),
		CASE(names_that_look_alike_are_one),
		CASE(strange_json_is_refused),
		CASE(deep_json_needs_no_stack),
		CASE(owners_keep_private_what_is),
		CASE(an_erased_owner_is_forgotten_and_the_bot_is_not),
		CASE(the_audit_says_who_asked_and_what_was_done),
		CASE(tokens_come_and_go),
		CASE(maps_are_imported_once),
		CASE(the_same_map_may_be_added_again),
		CASE(ladders_are_checked_as_a_whole),
		CASE(a_ladder_changes_only_what_is_said),
		CASE(a_reader_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
