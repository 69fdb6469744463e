/* SPDX-License-Identifier: MIT */
/* test_announce.c - what the host says to everybody, and for how long. */
#include <stdlib.h>
#include <string.h>

#include "server/base/clock.h"
#include "server/store/admin.h"
#include "server/store/store_internal.h"
#include "tests/unit/store/fixture.h"
#include "tests/unit/unit.h"

static bool says(struct store *store, const char *text)
{
	char *line = store_admin_text(store, text, strlen(text), NULL);
	bool is_ok = strncmp(line, "{\"ok\":true", 10) == 0;

	free(line);
	return is_ok;
}

static size_t texts(struct store *store, struct row_announcement *ret,
		    size_t max)
{
	struct row_announcement *list;
	struct store_error error;
	size_t count;

	assert_int_equal(store_announcements(store, &list, &count, &error), 0);
	assert_true(count <= max);
	for (size_t i = 0; i < count; i++)
		ret[i] = list[i];
	free(list);
	return count;
}

static void one_is_there_until_it_is_dropped(void **state)
{
	struct store *store = fixture_store(*state);
	struct row_announcement list[LIMIT_NOTICES];
	struct row_catalogue rows;
	struct store_error error;

	assert_int_equal(texts(store, list, LIMIT_NOTICES), 0);
	assert_true(says(store, "{\"command\":\"announce add\","
				"\"text\":\"down at noon\"}"));
	assert_true(says(store, "{\"command\":\"announce add\","
				"\"text\":\"a caf\\u00e9\",\"for_s\":3600}"));
	assert_int_equal(texts(store, list, LIMIT_NOTICES), 2);
	assert_string_equal(list[0].text, "down at noon");
	assert_int_equal(list[0].until_us, 0);
	assert_true(list[0].ends_us == INT64_MAX);
	assert_string_equal(list[1].text, "a caf\xc3\xa9");
	assert_true(list[1].until_us - list[1].at_us ==
		    INT64_C(3600) * 1000000);
	assert_true(list[1].ends_us > clock_now_us());
	assert_true(list[1].ends_us <=
		    clock_now_us() + INT64_C(3600) * 1000000);
	assert_int_equal(store_catalogue(store, &rows, &error), 0);
	assert_int_equal(rows.nannouncements, 2);
	row_catalogue_release(&rows);
	assert_true(says(store, "{\"command\":\"announce drop\",\"id\":2}"));
	assert_false(says(store, "{\"command\":\"announce drop\",\"id\":2}"));
	/* The next one is none that somebody has heard. */
	assert_true(says(store, "{\"command\":\"announce add\","
				"\"text\":\"again\"}"));
	assert_int_equal(texts(store, list, LIMIT_NOTICES), 2);
	assert_int_equal(list[1].id, 3);
	store_close(store);
}

static void its_time_is_over_by_itself(void **state)
{
	struct store *store = fixture_store(*state);
	struct row_announcement list[LIMIT_NOTICES];
	struct store_error error;

	assert_true(says(store, "{\"command\":\"announce add\","
				"\"text\":\"soon\",\"for_s\":60}"));
	assert_int_equal(db_exec(&store->write,
				 "UPDATE announcement SET until_us = at_us",
				 "test", &error),
			 0);
	assert_int_equal(texts(store, list, LIMIT_NOTICES), 0);
	assert_false(says(store, "{\"command\":\"announce drop\",\"id\":1}"));
	store_close(store);
}

static void it_is_one_line_and_they_are_few(void **state)
{
	struct store *store = fixture_store(*state);

	assert_false(says(store, "{\"command\":\"announce add\","
				 "\"text\":\"two\\nlines\"}"));
	assert_false(says(store, "{\"command\":\"announce add\","
				 "\"text\":\"\\u001b[2J\"}"));
	assert_false(
		says(store, "{\"command\":\"announce add\",\"text\":\"\"}"));
	assert_false(says(store, "{\"command\":\"announce add\","
				 "\"text\":\"x\",\"for_s\":0}"));
	for (unsigned i = 0; i < LIMIT_NOTICES; i++)
		assert_true(says(store, "{\"command\":\"announce add\","
					"\"text\":\"x\"}"));
	assert_false(says(store, "{\"command\":\"announce add\","
				 "\"text\":\"x\"}"));
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			one_is_there_until_it_is_dropped, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(its_time_is_over_by_itself,
						fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(it_is_one_line_and_they_are_few,
						fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
