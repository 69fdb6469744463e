/* SPDX-License-Identifier: MIT */
#include "clients/run/league_state.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/unit.h"

enum { MATCHES = 4, BYTES_MAX = 100000 };

static const struct league_plan plan = { .nbots = 2,
					 .nmaps = 1,
					 .seats = 2,
					 .first_seed = 1,
					 .last_seed = 2 };
static const char *const bots[] = { "a", "b" };

static json_t *make_head(const char *params)
{
	return json_pack("{ss, ss, ss}", "format", "hill league 1", "params",
			 params, "bot 1", "a=./a");
}

static struct league_row make_row(unsigned number)
{
	struct league_row row = { .is_played = true };

	/* A sum that has no short decimal form. */
	row.seats[0].score = 0.1 + 0.2 + number;
	row.seats[0].points = -7;
	row.seats[0].rank = 1;
	row.seats[1].rank = 2;
	row.seats[1].reason = GAME_LEFT;
	row.seats[1].faults[MATCH_FAULT_INVALID] = number;
	row.seats[1].max_us = 123456;
	return row;
}

/* A whole file of matches 3, 1 and 0, in this order. */
static void fill(struct buf *file)
{
	static const unsigned order[] = { 3, 1, 0 };
	json_t *head = make_head("batch=10");

	buf_init(file, BYTES_MAX);
	league_state_add_head(head, file);
	json_decref(head);
	for (size_t i = 0; i < COUNT_OF(order); i++) {
		struct league_match match = league_match(&plan, order[i]);
		struct league_row row = make_row(order[i]);

		league_state_add_line(
			league_state_json(&match, 2, &row, "m.png", bots),
			file);
	}
}

static int read_file(const char *text, size_t len, struct league_row *rows,
		     size_t *ret_len, struct game_error *error)
{
	json_t *head = make_head("batch=10");
	int rc;

	memset(rows, 0, MATCHES * sizeof(*rows));
	rc = league_state_read(text, len, head, &plan, rows, ret_len, error);
	json_decref(head);
	return rc;
}

static void check_row(const struct league_row *row, unsigned number)
{
	struct league_row expected = make_row(number);

	assert_true(row->is_played);
	assert_true(row->seats[0].score == expected.seats[0].score);
	assert_int_equal(row->seats[0].points, -7);
	assert_int_equal(row->seats[0].reason, GAME_FINISHED);
	assert_int_equal(row->seats[1].rank, 2);
	assert_int_equal(row->seats[1].reason, GAME_LEFT);
	assert_int_equal(row->seats[1].faults[MATCH_FAULT_INVALID], number);
	assert_int_equal(row->seats[1].max_us, 123456);
}

static void reads_to_the_bit_what_it_wrote(void **state)
{
	struct league_row rows[MATCHES];
	struct game_error error = { "" };
	struct buf file;
	size_t good = 0;

	(void)state;
	fill(&file);
	assert_int_equal(read_file(file.data, file.len, rows, &good, &error),
			 0);
	assert_int_equal(good, file.len);
	check_row(&rows[0], 0);
	check_row(&rows[1], 1);
	assert_false(rows[2].is_played);
	check_row(&rows[3], 3);
	buf_release(&file);
}

static void keeps_whole_lines_of_a_file_torn_anywhere(void **state)
{
	struct league_row rows[MATCHES];
	struct game_error error = { "" };
	struct buf file;

	(void)state;
	fill(&file);
	for (size_t len = 0; len <= file.len; len++) {
		size_t whole = len;
		unsigned lines = 0;
		size_t good = SIZE_MAX;

		while (whole > 0 && file.data[whole - 1] != '\n')
			whole--;
		for (size_t i = 0; i < whole; i++)
			lines += file.data[i] == '\n';
		assert_int_equal(read_file(file.data, len, rows, &good, &error),
				 0);
		assert_int_equal(good, whole);
		assert_int_equal(rows[3].is_played, lines > 1);
		assert_int_equal(rows[1].is_played, lines > 2);
		assert_int_equal(rows[0].is_played, lines > 3);
	}
	buf_release(&file);
}

static void names_what_differs_in_another_leagues_file(void **state)
{
	struct league_row rows[MATCHES] = { 0 };
	struct game_error error = { "" };
	json_t *head = make_head("batch=20");
	struct buf file;
	size_t good = 77;

	(void)state;
	fill(&file);
	assert_int_equal(league_state_read(file.data, file.len, head, &plan,
					   rows, &good, &error),
			 -EINVAL);
	assert_string_equal(error.text,
			    "it is of another league: params is \"batch=10\" "
			    "there, \"batch=20\" here");
	assert_int_equal(good, 77);
	json_decref(head);
	buf_release(&file);
}

static void refuses_what_is_no_leagues_file(void **state)
{
	static const char *const texts[] = {
		"hello",
		"hello\n",
		"\n",
		"[1]\n",
		"{\"match\":1}\n",
		"{\"format\": \"hill league 2\"}\n",
		"{\"format\": 3}\n",
	};
	struct league_row rows[MATCHES];
	struct game_error error = { "" };
	size_t good = 0;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		assert_int_equal(read_file(texts[i], strlen(texts[i]), rows,
					   &good, &error),
				 -EINVAL);
		assert_non_null(strstr(error.text, "no league's file"));
	}
}

static void refuses_a_damaged_line_in_the_middle(void **state)
{
	static const char *const changes[][2] = {
		{ "{\"match\":1,", "{\"match\":4," },
		{ "{\"match\":1,", "{\"match\":-" },
		{ "\"points\":-7", "\"pointz\":-7" },
		{ "\"gone\"", "\"gonf\"" },
		{ "\"rank\":2", "\"rank\":9" },
		{ "\"score\":", "\"score\"." },
	};
	struct league_row rows[MATCHES];
	struct game_error error = { "" };
	size_t good = 0;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(changes); i++) {
		struct buf file;
		char *third;
		char *place;

		fill(&file);
		third = strstr(strchr(file.data, '\n') + 1, "\n") + 1;
		place = strstr(third, changes[i][0]);
		assert_non_null(place);
		memcpy(place, changes[i][1], strlen(changes[i][1]));
		assert_int_equal(
			read_file(file.data, file.len, rows, &good, &error),
			-EINVAL);
		assert_string_equal(error.text, "line 3 is damaged");
		buf_release(&file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_to_the_bit_what_it_wrote),
		cmocka_unit_test(keeps_whole_lines_of_a_file_torn_anywhere),
		cmocka_unit_test(names_what_differs_in_another_leagues_file),
		cmocka_unit_test(refuses_what_is_no_leagues_file),
		cmocka_unit_test(refuses_a_damaged_line_in_the_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
