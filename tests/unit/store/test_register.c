/* SPDX-License-Identifier: MIT */
/* How authors join: bots, tokens, versions. */
#include "server/store/register.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "server/base/clock.h"
#include "server/store/admin.h"
#include "server/store/new_bot.h"
#include "tests/unit/store/fixture.h"
#include "tests/unit/unit.h"

#define DAY_US (INT64_C(86400) * 1000000)

static void set_mode(struct store *store, enum store_registration mode)
{
	struct store_rules rules;

	store_get_rules(store, &rules);
	rules.registration = mode;
	rules.bots_per_owner = 2;
	rules.versions_per_bot = 8;
	store_set_rules(store, &rules);
}

static int try_to(struct store *store, const char *name, const char *invite,
		  const char *token, struct store_joined *ret)
{
	struct store_joiner joiner = { name, invite, token };
	struct store_error error = { "" };
	int err = store_register(store, &joiner, ret, &error);

	assert_true(err == 0 || error.text[0] != '\0');
	return err;
}

static void sql(struct store *store, const char *text)
{
	struct store_error error;

	if (db_exec(&store->write, text, "test", &error) != 0)
		fail_msg("%s", error.text);
}

static void add_invite(struct store *store, const char *code, int64_t owner_id,
		       int64_t expires_us)
{
	struct query query;
	uint8_t hash[ROW_HASH_BYTES];

	secret_hash(code, hash);
	query_open(&query, &store->write,
		   "INSERT INTO invite (owner_id, hash, created_us, "
		   "expires_us) VALUES (nullif(?1, 0), ?2, 1, nullif(?3, 0))",
		   NULL);
	query_bind_i64(&query, 1, owner_id);
	query_bind_blob(&query, 2, hash, sizeof(hash));
	query_bind_i64(&query, 3, expires_us);
	assert_int_equal(query_run(&query), 0);
}

/* How many tokens of the catalogue open BOT_ID, and whether TEXT is one. */
static size_t count_tokens(struct store *store, int64_t bot_id,
			   const char *text, bool *ret_has)
{
	struct row_catalogue rows;
	uint8_t hash[ROW_HASH_BYTES];
	size_t count = 0;

	secret_hash(text, hash);
	*ret_has = false;
	assert_int_equal(store_catalogue(store, &rows, NULL), 0);
	for (size_t i = 0; i < rows.ntokens; i++) {
		if (rows.tokens[i].bot_id != bot_id)
			continue;
		count++;
		*ret_has |=
			memcmp(rows.tokens[i].hash, hash, sizeof(hash)) == 0;
	}
	row_catalogue_release(&rows);
	return count;
}

static void open_to_all_makes_an_owner_a_bot_and_a_token(void **state)
{
	struct store *store = fixture_store(*state);
	struct store_joined joined;
	bool has;

	set_mode(store, STORE_REGISTRATION_OPEN);
	assert_int_equal(try_to(store, "New_One", NULL, NULL, &joined), 0);
	assert_string_equal(joined.name, "new_one");
	assert_int_equal(strncmp(joined.token, "hill_", 5), 0);
	assert_int_equal(strlen(joined.token), 48);
	assert_int_equal(count_tokens(store, joined.bot_id, joined.token, &has),
			 1);
	assert_true(has);
	store_close(store);
}

static void closed_lets_nobody_in(void **state)
{
	struct store *store = fixture_store(*state);
	struct store_joined joined, first;

	set_mode(store, STORE_REGISTRATION_OPEN);
	assert_int_equal(try_to(store, "first", "", "", &first), 0);
	add_invite(store, "code", 0, 0);
	set_mode(store, STORE_REGISTRATION_CLOSED);
	assert_int_equal(try_to(store, "abc", NULL, NULL, &joined), -EPERM);
	assert_int_equal(try_to(store, "abc", "code", NULL, &joined), -EPERM);
	assert_int_equal(try_to(store, "abc", NULL, first.token, &joined),
			 -EPERM);
	store_close(store);
}

static void an_invite_is_good_once_and_in_time(void **state)
{
	struct store *store = fixture_store(*state);
	struct store_joined joined;

	set_mode(store, STORE_REGISTRATION_INVITE);
	add_invite(store, "good", 0, 0);
	add_invite(store, "old", 0, 1000);
	assert_int_equal(try_to(store, "abc", NULL, NULL, &joined), -EPERM);
	assert_int_equal(try_to(store, "abc", "bad", NULL, &joined), -EACCES);
	assert_int_equal(try_to(store, "abc", "old", NULL, &joined), -EACCES);
	/* A refused name leaves the invite as it was. */
	assert_int_equal(try_to(store, "crazy", "good", NULL, &joined),
			 -EEXIST);
	assert_int_equal(try_to(store, "abc", "good", NULL, &joined), 0);
	assert_int_equal(try_to(store, "def", "good", NULL, &joined), -EACCES);
	store_close(store);
}

static void a_token_of_a_bot_stands_for_its_owner(void **state)
{
	struct store *store = fixture_store(*state);
	struct store_joined first, second, third;

	set_mode(store, STORE_REGISTRATION_OPEN);
	assert_int_equal(try_to(store, "first", NULL, NULL, &first), 0);
	set_mode(store, STORE_REGISTRATION_INVITE);
	assert_int_equal(try_to(store, "second", NULL, "hill_x", &second),
			 -EACCES);
	assert_int_equal(try_to(store, "second", NULL, first.token, &second),
			 0);
	/* bots_per_owner is 2 here. */
	assert_int_equal(try_to(store, "third", NULL, second.token, &third),
			 -EDQUOT);
	sql(store, "UPDATE owner SET ban_reason = 'x' WHERE name = 'first'");
	assert_int_equal(try_to(store, "third", NULL, first.token, &third),
			 -EACCES);
	store_close(store);
}

static void a_token_that_opens_no_door_makes_no_bot(void **state)
{
	struct store *store = fixture_store(*state);
	struct store_joined first, second;

	set_mode(store, STORE_REGISTRATION_OPEN);
	assert_int_equal(try_to(store, "first", NULL, NULL, &first), 0);
	set_mode(store, STORE_REGISTRATION_INVITE);
	sql(store, "UPDATE bot SET is_disabled = 1 WHERE name = 'first'");
	assert_int_equal(try_to(store, "second", NULL, first.token, &second),
			 -EACCES);
	sql(store, "UPDATE bot SET is_disabled = 0, ban_reason = 'x' "
		   "WHERE name = 'first'");
	assert_int_equal(try_to(store, "second", NULL, first.token, &second),
			 -EACCES);
	sql(store, "UPDATE bot SET ban_reason = '' WHERE name = 'first'");
	assert_int_equal(try_to(store, "second", NULL, first.token, &second),
			 0);
	store_close(store);
}

static void an_owner_s_invite_ends_with_his_bots_bound(void **state)
{
	struct store *store = fixture_store(*state);
	struct store_joined joined;

	set_mode(store, STORE_REGISTRATION_INVITE);
	sql(store, "INSERT INTO owner (id, name, name_key, created_us) "
		   "VALUES (77, 'ann', 'ann', 1)");
	add_invite(store, "one", 77, 0);
	add_invite(store, "two", 77, 0);
	add_invite(store, "three", 77, 0);
	assert_int_equal(try_to(store, "ann-1", "one", NULL, &joined), 0);
	assert_int_equal(try_to(store, "ann-2", "two", NULL, &joined), 0);
	assert_int_equal(try_to(store, "ann-3", "three", NULL, &joined),
			 -EDQUOT);
	store_close(store);
}

static void when_the_house_is_full_only_invites_make_bots(void **state)
{
	struct store *store = fixture_store(*state);
	struct store_joined first, joined;
	struct store_rules rules;

	set_mode(store, STORE_REGISTRATION_OPEN);
	store_get_rules(store, &rules);
	rules.bots_max = FIXTURE_BOTS + 1;
	store_set_rules(store, &rules);
	/* Whom guests play as is none. */
	assert_int_equal(store_guests(store, NULL), 0);
	assert_int_equal(try_to(store, "first", NULL, NULL, &first), 0);
	assert_int_equal(try_to(store, "second", NULL, NULL, &joined), -EDQUOT);
	assert_int_equal(try_to(store, "second", NULL, first.token, &joined),
			 -EDQUOT);
	add_invite(store, "code", 0, 0);
	assert_int_equal(try_to(store, "second", "code", NULL, &joined), 0);
	assert_int_equal(try_to(store, "third", NULL, NULL, &joined), -EDQUOT);
	rules.bots_max = 0;
	store_set_rules(store, &rules);
	assert_int_equal(try_to(store, "third", NULL, NULL, &joined), 0);
	store_close(store);
}

/* BC89: letters that look alike, and words of the host's. */
static void names_that_pass_for_others_are_refused(void **state)
{
	static const struct {
		const char *name;
		int err;
	} cases[] = {
		{ "ab", -EINVAL },
		{ "a-name-of-25-letters-long", -EINVAL },
		{ "cr\xd0\xb0zy", -EINVAL },      /* Cyrillic a */
		{ "crazy\xe2\x80\x8b", -EINVAL }, /* zero width space */
		{ "cra zy", -EINVAL },
		{ "cra.zy", -EINVAL },
		{ "", -EINVAL },
		{ "-dash", -EINVAL },
		{ "hill", -EINVAL },
		{ "ROOT", -EINVAL },
		{ "guest", -EINVAL },
		{ "house-rabbit", -EINVAL },
		{ "Admin_1", -EINVAL },
		{ "crazy", -EEXIST },
		{ "CRAZY", -EEXIST },
		{ "two_words", 0 },
		{ "two-words", -EEXIST },
		{ "Iimes", 0 }, /* is "iimes" from now on */
		{ "limes", 0 },
		{ "hill-climber", 0 },
	};
	struct store *store = fixture_store(*state);
	struct store_joined joined;

	set_mode(store, STORE_REGISTRATION_OPEN);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int err = try_to(store, cases[i].name, NULL, NULL, &joined);

		if (err != cases[i].err)
			fail_msg("%s: %d", cases[i].name, err);
	}
	store_close(store);
}

static void a_new_token_revokes_all_old_ones(void **state)
{
	struct store *store = fixture_store(*state);
	struct store_joined joined;
	char token[STORE_TOKEN_BYTES];
	bool has;

	set_mode(store, STORE_REGISTRATION_OPEN);
	assert_int_equal(try_to(store, "first", NULL, NULL, &joined), 0);
	assert_int_equal(store_rotate(store, joined.bot_id, token, NULL), 0);
	assert_string_not_equal(token, joined.token);
	assert_int_equal(count_tokens(store, joined.bot_id, joined.token, &has),
			 1);
	assert_false(has);
	(void)count_tokens(store, joined.bot_id, token, &has);
	assert_true(has);
	store_close(store);
}

static int64_t make_version(struct store *store, const char *label,
			    bool is_candidate, bool is_new)
{
	struct store_error error = { "" };
	int64_t id = 0;
	bool made = false;

	if (store_version(store, 1, label, is_candidate, &id, &made, &error) !=
	    0)
		fail_msg("%s: %s", label, error.text);
	assert_int_equal(made, is_new);
	return id;
}

/* The version ID as the catalogue has it; all zero when it does not. */
static struct row_version listed(struct store *store, int64_t id)
{
	struct row_version found = { 0 };
	struct row_catalogue rows;

	assert_int_equal(store_catalogue(store, &rows, NULL), 0);
	for (size_t i = 0; i < rows.nversions; i++) {
		if (rows.versions[i].id == id)
			found = rows.versions[i];
	}
	row_catalogue_release(&rows);
	return found;
}

static void a_new_label_makes_the_active_version(void **state)
{
	struct store *store = fixture_store(*state);
	struct store_error error;
	int64_t id = make_version(store, "v2", false, true), again;
	bool is_new;

	assert_int_equal(make_version(store, "v2", false, false), id);
	assert_string_equal(listed(store, id).label, "v2");
	assert_int_equal(listed(store, id).number, 2);
	assert_true(listed(store, id).rated_from_us == INT64_MIN);
	assert_int_equal(listed(store, 1).id, 0);
	/* The first one is retired: its label plays nothing. */
	assert_int_equal(
		store_version(store, 1, "1", false, &again, &is_new, &error),
		-ESTALE);
	assert_non_null(strstr(error.text, "retired"));
	store_close(store);
}

static void a_candidate_leaves_the_active_one_alone(void **state)
{
	struct store *store = fixture_store(*state);
	int64_t id = make_version(store, "next", true, true);

	assert_true(listed(store, id).is_candidate);
	assert_true(listed(store, id).rated_from_us == INT64_MAX);
	assert_int_equal(listed(store, 1).id, 1);
	assert_int_equal(make_version(store, "next", false, false), id);
	assert_true(listed(store, id).is_candidate);
	store_close(store);
}

static void the_fourth_version_of_a_day_is_rated_tomorrow(void **state)
{
	struct store *store = fixture_store(*state);
	int64_t id[4], wait_us;

	for (unsigned i = 0; i < 4; i++) {
		char label[8];

		(void)snprintf(label, sizeof(label), "v%u", i);
		id[i] = make_version(store, label, false, true);
		if (i < 3)
			assert_true(listed(store, id[i]).rated_from_us ==
				    INT64_MIN);
	}
	wait_us = listed(store, id[3]).rated_from_us - clock_now_us();
	assert_true(wait_us > DAY_US - 60000000 && wait_us <= DAY_US);
	/* A day and a bit later. */
	sql(store, "UPDATE bot_version SET active_us = active_us - 86460000000 "
		   "WHERE label = 'v0'");
	assert_true(listed(store, id[3]).rated_from_us < clock_now_us());
	store_close(store);
}

static void versions_are_bounded(void **state)
{
	struct store *store = fixture_store(*state);
	struct store_error error;
	int64_t id;
	bool is_new;

	set_mode(store, STORE_REGISTRATION_OPEN); /* 8 versions */
	for (unsigned i = 2; i <= 8; i++) {
		char label[8];

		(void)snprintf(label, sizeof(label), "v%u", i);
		(void)make_version(store, label, i % 2 == 0, true);
	}
	assert_int_equal(
		store_version(store, 1, "v9", false, &id, &is_new, &error),
		-EDQUOT);
	store_close(store);
}

#define CASE(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(open_to_all_makes_an_owner_a_bot_and_a_token),
		CASE(closed_lets_nobody_in),
		CASE(an_invite_is_good_once_and_in_time),
		CASE(a_token_of_a_bot_stands_for_its_owner),
		CASE(a_token_that_opens_no_door_makes_no_bot),
		CASE(an_owner_s_invite_ends_with_his_bots_bound),
		CASE(when_the_house_is_full_only_invites_make_bots),
		CASE(names_that_pass_for_others_are_refused),
		CASE(a_new_token_revokes_all_old_ones),
		CASE(a_new_label_makes_the_active_version),
		CASE(a_candidate_leaves_the_active_one_alone),
		CASE(the_fourth_version_of_a_day_is_rated_tomorrow),
		CASE(versions_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
