/* SPDX-License-Identifier: MIT */
/* test_moderate.c - matches that the host makes void, and takes that back. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "server/base/clock.h"
#include "server/ladder/rating.h"
#include "server/store/admin.h"
#include "server/store/rate.h"
#include "server/store/store_internal.h"
#include "tests/unit/store/commands.h"
#include "tests/unit/store/fixture.h"
#include "tests/unit/unit.h"

/* Done, with so many matches and changed ratings. */
static void does(struct store *store, const char *text, int count, int ratings)
{
	json_t *reply = command_accepted(store, text);

	assert_int_equal(json_integer_value(json_object_get(reply, "count")),
			 count);
	assert_int_equal(json_integer_value(json_object_get(reply, "ratings")),
			 ratings);
	json_decref(reply);
}

static void save_run(struct store *store, int64_t id, int64_t round,
		     unsigned wanted, int64_t version, int64_t points)
{
	struct match_record *record = fixture_record(id, 1);
	struct store_error error = { "" };

	record->round = (struct match_round){ .kind = MATCH_ROUND_OPEN,
					      .id = round,
					      .wanted = wanted,
					      .opened_us = clock_now_us() };
	record->seats[0].version_id = version;
	record->seats[0].score.points = points;
	if (store_save(store, record, &error) != 0)
		fail_msg("%s", error.text);
	match_record_free(record);
}

static void save_of_set(struct store *store, int64_t id, int64_t round)
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
		record->seats[i].version_id = i + 1;
		record->seats[i].score.rank = i + 1;
	}
	if (store_save(store, record, &error) != 0)
		fail_msg("%s", error.text);
	match_record_free(record);
}

/* Two rounds of three runs each, then a set of bots 1 and 2. */
static struct store *played(void **state)
{
	struct store *store = fixture_store(*state);

	for (unsigned i = 0; i < 3; i++)
		save_run(store, 1 + i, 1, 3, 1 + i, 10 + i);
	for (unsigned i = 0; i < 3; i++)
		save_run(store, 4 + i, 4, 3, 1 + i, 10 - i);
	save_of_set(store, 7, 7);
	save_of_set(store, 8, 7);
	return store;
}

static int64_t number(struct store *store, const char *sql)
{
	struct store_error error = { "" };
	int64_t ret = -1;

	if (db_number(&store->write, sql, &ret, &error) != 0)
		fail_msg("%s", error.text);
	return ret;
}

/* All that ratings hang on, as one text; free. */
static char *dump(struct store *store)
{
	static const char sql[] =
		"SELECT (SELECT json_group_array(json_array(bot_version_id, "
		"printf('%!.17g', mu), printf('%!.17g', sigma), rounds, "
		"sequence)) FROM rating) || "
		"(SELECT json_group_array(json_array(sequence, "
		"bot_version_id, rank, printf('%!.17g', mu_after))) "
		"FROM rating_change) || "
		"(SELECT json_group_array(json_array(id, state)) "
		"FROM round) || "
		"(SELECT json_group_array(json_array(sequence, round_id)) "
		"FROM rating_event) || "
		"(SELECT json_group_array(json_array(id, status, "
		"void_reason, is_host_void)) FROM match)";
	struct store_error error = { "" };
	struct query query;
	char *text = NULL;

	query_open(&query, &store->write, sql, &error);
	if (query_step(&query) > 0)
		text = xstrdup(query_text(&query, 0));
	query_close(&query);
	if (text == NULL)
		fail_msg("%s", error.text);
	return text;
}

/* Version's rating is what updates by these ranks of versions 1..3 give. */
static void expect_ratings(struct store *store, const unsigned (*ranks)[3],
			   size_t count)
{
	struct rating all[3];

	for (unsigned i = 0; i < 3; i++)
		all[i] = rating_new(&rating_model_default);
	for (size_t r = 0; r < count; r++) {
		struct rating some[3];
		unsigned of[3], rank[3], n = 0;

		for (unsigned i = 0; i < 3; i++) {
			if (ranks[r][i] == 0)
				continue;
			some[n] = all[i];
			rank[n] = ranks[r][i];
			of[n++] = i;
		}
		assert_int_equal(
			rating_update(&rating_model_default, some, rank, n), 0);
		for (unsigned k = 0; k < n; k++)
			all[of[k]] = some[k];
	}
	for (unsigned i = 0; i < 3; i++) {
		struct store_error error = { "" };
		struct query query;

		query_open(&query, &store->write,
			   "SELECT mu, sigma FROM rating "
			   "WHERE bot_version_id = ?1",
			   &error);
		query_bind_i64(&query, 1, i + 1);
		assert_int_equal(query_step(&query), 1);
		assert_true(query_double(&query, 0) == all[i].mu);
		assert_true(query_double(&query, 1) == all[i].sigma);
		query_close(&query);
	}
}

/* The tally is what looking at all matches again would find. */
static void expect_tally(struct store *store)
{
	assert_int_equal(
		number(store,
		       "SELECT count(*) FROM (SELECT m.ladder_id, "
		       "s.bot_version_id, count(*), sum(s.score), "
		       "max(m.ended_us) "
		       "FROM match m JOIN seat s ON s.match_id = m.id "
		       "WHERE m.status = 'stored' AND m.purpose = 'ladder' AND "
		       "s.guest = '' GROUP BY 1, 2 EXCEPT "
		       "SELECT ladder_id, bot_version_id, matches, score, "
		       "last_us FROM tally)"),
		0);
	assert_int_equal(
		number(store,
		       "SELECT coalesce(sum(matches), 0) - (SELECT count(*) "
		       "FROM seat s JOIN match m ON m.id = s.match_id WHERE "
		       "m.status = 'stored' AND m.purpose = 'ladder' AND "
		       "s.guest = '') FROM tally"),
		0);
}

static void a_run_drops_out_of_its_round(void **state)
{
	static const unsigned before[][3] = { { 3, 2, 1 },
					      { 1, 2, 3 },
					      { 1, 2, 0 } };
	static const unsigned after[][3] = { { 2, 0, 1 },
					     { 1, 2, 3 },
					     { 1, 2, 0 } };
	struct store *store = played(state);

	expect_ratings(store, before, 3);
	does(store,
	     "{\"command\":\"match void\",\"ids\":[2],"
	     "\"reason\":\"it cheated\"}",
	     1, 3);
	expect_ratings(store, after, 3);
	assert_int_equal(number(store, "SELECT count(*) FROM match WHERE "
				       "id = 2 AND status = 'void' AND "
				       "is_host_void = 1 AND "
				       "void_reason = 'it cheated'"),
			 1);
	expect_tally(store);
	store_close(store);
}

static void a_set_drops_out_whole_and_leaves_its_number(void **state)
{
	static const unsigned after[][3] = { { 3, 2, 1 }, { 1, 2, 3 } };
	struct store *store = played(state);

	expect_tally(store);
	does(store,
	     "{\"command\":\"match void\",\"ids\":[8],"
	     "\"reason\":\"x\"}",
	     1, 2);
	expect_tally(store);
	expect_ratings(store, after, 2);
	assert_int_equal(number(store, "SELECT count(*) FROM rating_event"), 3);
	assert_int_equal(number(store, "SELECT count(*) FROM rating_change "
				       "WHERE sequence = 3"),
			 0);
	/* The next one goes on behind it. */
	save_of_set(store, 9, 9);
	save_of_set(store, 10, 9);
	assert_int_equal(number(store, "SELECT sequence FROM rating_event "
				       "WHERE round_id = 9"),
			 4);
	store_close(store);
}

static void unvoid_gives_the_same_bits_back(void **state)
{
	struct store *store = played(state);
	char *before = dump(store), *after;

	does(store,
	     "{\"command\":\"match void\",\"ids\":[1,2,7],"
	     "\"reason\":\"x\"}",
	     3, 3);
	does(store,
	     "{\"command\":\"match unvoid\",\"ids\":[7,2,1],"
	     "\"reason\":\"y\"}",
	     3, 3);
	after = dump(store);
	assert_string_equal(before, after);
	expect_tally(store);
	free(before);
	free(after);
	store_close(store);
}

#define VOID(ids) \
	"{\"command\":\"match void\",\"ids\":[" ids "],\"reason\":\"x\"}"

/* The number of the last match that is counted for VERSION_ID; 0: none is. */
static int64_t last_of(struct store *store, int64_t version_id)
{
	char sql[200];

	(void)snprintf(sql, sizeof(sql),
		       "SELECT coalesce((SELECT m.id FROM match m WHERE "
		       "m.ended_us = y.last_us), y.last_us) FROM tally y "
		       "WHERE bot_version_id = %lld",
		       (long long)version_id);
	return number(store, sql);
}

static void the_last_play_is_the_last_that_counts(void **state)
{
	struct store *store = played(state);

	assert_int_equal(last_of(store, 1), 8);
	/* One that is not the last changes nothing of it. */
	does(store, VOID("1"), 1, 3);
	assert_int_equal(last_of(store, 1), 8);
	expect_tally(store);
	does(store, VOID("7,8"), 2, 2);
	assert_true(last_of(store, 1) < 7 && last_of(store, 1) > 1);
	assert_true(last_of(store, 2) < 7 && last_of(store, 2) > 1);
	expect_tally(store);
	does(store, VOID("2,3,4,5,6"), 5, 3);
	assert_int_equal(last_of(store, 1), 0);
	/* Again, but not the last; alone it makes no rating. */
	does(store,
	     "{\"command\":\"match unvoid\",\"ids\":[1],"
	     "\"reason\":\"y\"}",
	     1, 0);
	assert_int_equal(last_of(store, 1), 1);
	expect_tally(store);
	store_close(store);
}

static void what_lies_before_need_not_be_computed_again(void **state)
{
	struct store *store = played(state);
	struct store_error error;
	char *before, *after;
	uint64_t differs;

	for (int64_t id = 9; id < 29; id += 2) {
		save_of_set(store, id, id);
		save_of_set(store, id + 1, id);
	}
	does(store,
	     "{\"command\":\"match void\",\"ids\":[5,12],"
	     "\"reason\":\"x\"}",
	     2, 3);
	before = dump(store);
	assert_int_equal(
		store_recompute(store, FIXTURE_RANDOM, &differs, &error), 0);
	assert_int_equal(differs, 0);
	after = dump(store);
	assert_string_equal(before, after);
	free(before);
	free(after);
	store_close(store);
}

static void a_dry_run_tells_the_same_and_changes_nothing(void **state)
{
	struct store *store = played(state);
	char *before = dump(store), *after;
	json_t *reply;

	reply = command_accepted(store,
				 "{\"command\":\"match void\",\"ids\":[2,8],"
				 "\"reason\":\"x\",\"dry_run\":true}");
	assert_int_equal(json_integer_value(json_object_get(reply, "ratings")),
			 3);
	assert_int_equal(json_array_size(json_object_get(reply, "matches")), 2);
	assert_string_equal(
		json_string_value(json_object_get(
			json_array_get(json_object_get(reply, "matches"), 1),
			"bots")),
		"crazy, digger");
	json_decref(reply);
	after = dump(store);
	assert_string_equal(before, after);
	free(before);
	free(after);
	does(store,
	     "{\"command\":\"match void\",\"ids\":[2,8],"
	     "\"reason\":\"x\"}",
	     2, 3);
	store_close(store);
}

static void a_round_voided_while_open_is_rated_when_it_counts(void **state)
{
	static const unsigned after[][3] = {
		{ 3, 2, 1 }, { 1, 2, 3 }, { 1, 2, 0 }, { 1, 2, 3 }
	};
	struct store *store = played(state);

	save_run(store, 20, 20, 3, 1, 9);
	save_run(store, 21, 20, 3, 2, 8);
	does(store,
	     "{\"command\":\"match void\",\"ids\":[20,21],"
	     "\"reason\":\"x\"}",
	     2, 0);
	save_run(store, 22, 20, 3, 3, 7);
	assert_int_equal(number(store, "SELECT state = 'unrated' FROM round "
				       "WHERE id = 20"),
			 1);
	does(store,
	     "{\"command\":\"match unvoid\",\"ids\":[20,21],"
	     "\"reason\":\"x\"}",
	     2, 0);
	assert_int_equal(number(store, "SELECT sequence FROM rating_event "
				       "WHERE round_id = 20"),
			 4);
	expect_ratings(store, after, 4);
	store_close(store);
}

/* Nothing else closes it: the lobby counts that match, too. */
static void a_match_voided_while_open_closes_its_round(void **state)
{
	static const unsigned runs[][3] = {
		{ 3, 2, 1 }, { 1, 2, 3 }, { 1, 2, 0 }, { 0, 1, 2 }
	};
	struct store *store = played(state);

	save_run(store, 20, 20, 3, 1, 9);
	does(store,
	     "{\"command\":\"match void\",\"ids\":[20],"
	     "\"reason\":\"x\"}",
	     1, 0);
	save_run(store, 21, 20, 3, 2, 8);
	assert_int_equal(number(store, "SELECT state = 'open' FROM round "
				       "WHERE id = 20"),
			 1);
	save_run(store, 22, 20, 3, 3, 7);
	assert_int_equal(number(store, "SELECT state = 'rated' FROM round "
				       "WHERE id = 20"),
			 1);
	expect_ratings(store, runs, 4);
	/* A set is void as soon as it is over. */
	save_of_set(store, 30, 30);
	does(store,
	     "{\"command\":\"match void\",\"ids\":[30],"
	     "\"reason\":\"x\"}",
	     1, 0);
	save_of_set(store, 31, 30);
	assert_int_equal(number(store, "SELECT state = 'void' FROM round "
				       "WHERE id = 30"),
			 1);
	expect_ratings(store, runs, 4);
	store_close(store);
}

/* Who left it, left a set that was void. */
static void a_void_set_stays_void(void **state)
{
	struct store *store = played(state);
	struct store_error error = { "" };

	save_of_set(store, 30, 30);
	assert_int_equal(rate_close(&store->write, 30, "1", true, &error), 0);
	does(store,
	     "{\"command\":\"match void\",\"ids\":[30],"
	     "\"reason\":\"x\"}",
	     1, 0);
	does(store,
	     "{\"command\":\"match unvoid\",\"ids\":[30],"
	     "\"reason\":\"x\"}",
	     1, 0);
	assert_int_equal(number(store, "SELECT state = 'void' FROM round "
				       "WHERE id = 30"),
			 1);
	assert_int_equal(number(store, "SELECT count(*) FROM rating_event "
				       "WHERE round_id = 30"),
			 0);
	store_close(store);
}

static void a_round_that_is_open_is_named(void **state)
{
	struct store *store = played(state);
	json_t *reply, *rounds, *round;

	save_run(store, 20, 20, 3, 1, 9);
	save_run(store, 21, 20, 3, 2, 8);
	reply = command_accepted(
		store, "{\"command\":\"match void\",\"ids\":[2,20,21],"
		       "\"reason\":\"x\",\"dry_run\":true}");
	rounds = json_object_get(reply, "open_rounds");
	assert_int_equal(json_array_size(rounds), 1);
	round = json_array_get(rounds, 0);
	assert_int_equal(json_integer_value(json_object_get(round, "id")), 20);
	assert_string_equal(json_string_value(json_object_get(round, "kind")),
			    "open");
	assert_int_equal(json_integer_value(json_object_get(round, "matches")),
			 2);
	json_decref(reply);
	store_close(store);
}

static void filters_find_what_they_say(void **state)
{
	struct store *store = played(state);

#define DRY(filter)                                     \
	"{\"command\":\"match void\",\"reason\":\"x\"," \
	"\"dry_run\":true," filter "}"
	does(store, DRY("\"bot\":\"crazy\""), 4, 3);
	does(store, DRY("\"bot\":\"crazy\",\"opponent\":\"digger\""), 2, 2);
	does(store, DRY("\"bot\":\"painter\",\"version\":\"1\""), 2, 3);
	does(store, DRY("\"ladder\":\"lambda-mining\""), 8, 3);
	does(store, DRY("\"map\":\"small.map\",\"until_us\":1"), 0, 0);
	does(store, DRY("\"ended\":\"late\",\"since_us\":1"),
	     (int)number(store, "SELECT count(DISTINCT match_id) FROM seat "
				"WHERE reason = 'late'"),
	     0);
	command_refuses(store, DRY("\"bot\":\"crasy\""), "no bot of that name");
	command_refuses(store, DRY("\"ladder\":\"x\""), "no ladder");
	command_refuses(store, DRY("\"bot\":\"crazy\",\"version\":\"9\""),
			"no version");
	command_refuses(store, DRY("\"opponent\":\"crazy\""), "needs a bot");
	command_refuses(store, DRY("\"bot\":\"crazy\",\"ids\":[1]"),
			"not both");
	command_refuses(store, "{\"command\":\"match void\",\"reason\":\"x\"}",
			"ids, or a filter");
	command_refuses(store, "{\"command\":\"match void\",\"ids\":[1]}",
			"reason");
	store_close(store);
}

static void only_the_hosts_own_come_back(void **state)
{
	struct store *store = played(state);
	struct match_record *record = fixture_record(30, 1);
	struct store_error error = { "" };

	record->is_void = true;
	strcpy(record->void_reason, "stall");
	assert_int_equal(store_save(store, record, &error), 0);
	match_record_free(record);
	command_refuses(store,
			"{\"command\":\"match unvoid\",\"ids\":[30],"
			"\"reason\":\"x\"}",
			"not made void by the host");
	command_refuses(store,
			"{\"command\":\"match unvoid\",\"ids\":[1],"
			"\"reason\":\"x\"}",
			"not made void by the host");
	command_refuses(store,
			"{\"command\":\"match void\",\"ids\":[30],"
			"\"reason\":\"x\"}",
			"void already");
	/* One that cannot be: none is. */
	command_refuses(store,
			"{\"command\":\"match void\",\"ids\":[1,99],"
			"\"reason\":\"x\"}",
			"no match 99");
	assert_int_equal(number(store, "SELECT count(*) FROM match WHERE "
				       "is_host_void = 1"),
			 0);
	does(store,
	     "{\"command\":\"match void\",\"ids\":[1,1],"
	     "\"reason\":\"x\"}",
	     1, 3);
	does(store,
	     "{\"command\":\"match unvoid\",\"since_us\":1,"
	     "\"reason\":\"x\"}",
	     1, 3);
	store_close(store);
}

#define STORE_TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(a_run_drops_out_of_its_round),
		STORE_TEST(a_set_drops_out_whole_and_leaves_its_number),
		STORE_TEST(unvoid_gives_the_same_bits_back),
		STORE_TEST(a_void_set_stays_void),
		STORE_TEST(the_last_play_is_the_last_that_counts),
		STORE_TEST(what_lies_before_need_not_be_computed_again),
		STORE_TEST(a_dry_run_tells_the_same_and_changes_nothing),
		STORE_TEST(a_round_voided_while_open_is_rated_when_it_counts),
		STORE_TEST(a_match_voided_while_open_closes_its_round),
		STORE_TEST(a_round_that_is_open_is_named),
		STORE_TEST(filters_find_what_they_say),
		STORE_TEST(only_the_hosts_own_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
