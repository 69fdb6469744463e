/* SPDX-License-Identifier: MIT */
#include "server/games/python27/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

enum { VECTORS = 24, LINE_BYTES = 16384 };

/* The containers that the vectors speak of. */
struct containers {
	struct py27_table plain, a, b, d;
};

static void containers_init(struct containers *all)
{
	py27_table_init(&all->plain);
	py27_table_init(&all->a);
	py27_table_init(&all->b);
	py27_table_init(&all->d);
}

static void containers_release(struct containers *all)
{
	py27_table_release(&all->plain);
	py27_table_release(&all->a);
	py27_table_release(&all->b);
	py27_table_release(&all->d);
}

static struct py27_cell cell_of(const char *word)
{
	char *comma;
	struct py27_cell cell;

	cell.x = (int32_t)strtol(word, &comma, 10);
	assert_int_equal(*comma, ',');
	cell.y = (int32_t)strtol(comma + 1, NULL, 10);
	return cell;
}

/* Compare TABLE's order with the cells that are left of a line. */
static void check_order(const struct py27_table *table, char **save)
{
	uint32_t count = 0;

	assert_false(table->is_failed);
	for (int32_t i = py27_table_next(table, 0); i >= 0;
	     i = py27_table_next(table, i + 1)) {
		char *word = strtok_r(NULL, " \n", save);
		struct py27_cell expected;
		struct py27_cell got = py27_table_cell(table, i);

		assert_non_null(word);
		expected = cell_of(word);
		assert_int_equal(got.x, expected.x);
		assert_int_equal(got.y, expected.y);
		assert_int_equal(py27_table_find(table, got), i);
		count++;
	}
	assert_null(strtok_r(NULL, " \n", save));
	assert_int_equal(count, table->used);
}

static void change(struct py27_table *table, const char *word, char **save)
{
	struct py27_cell cell = cell_of(strtok_r(NULL, " \n", save));

	if (strcmp(word, "add") == 0)
		py27_table_add(table, cell, 0);
	else if (strcmp(word, "del") == 0)
		(void)py27_table_remove(table, cell);
	else
		fail_msg("unknown change '%s'", word);
}

static void check_derived(const struct containers *all, const char *word,
			  char **save)
{
	struct py27_table made;

	py27_table_init(&made);
	if (strcmp(word, "A&B") == 0)
		py27_table_and(&made, &all->a, &all->b);
	else if (strcmp(word, "B&A") == 0)
		py27_table_and(&made, &all->b, &all->a);
	else if (strcmp(word, "set(D)") == 0)
		py27_table_from_dict(&made, &all->d);
	else if (strcmp(word, "set(A)") == 0)
		py27_table_update(&made, &all->a);
	else if (strcmp(word, "set(B)") == 0)
		py27_table_update(&made, &all->b);
	else if (strcmp(word, "E.update(D)") == 0)
		py27_table_update(&made, &all->d);
	else
		fail_msg("unknown vector '%s'", word);
	assert_string_equal(strtok_r(NULL, " \n", save), "order");
	check_order(&made, save);
	py27_table_release(&made);
}

static void check_line(struct containers *all, char *line)
{
	char *save;
	char *word = strtok_r(line, " \n", &save);
	struct py27_table *table = NULL;

	if (word == NULL || word[0] == '#')
		return;
	if (strcmp(word, "order") == 0) {
		check_order(&all->plain, &save);
		return;
	}
	if (strcmp(word, "add") == 0 || strcmp(word, "del") == 0) {
		change(&all->plain, word, &save);
		return;
	}
	if (strcmp(word, "A") == 0)
		table = &all->a;
	else if (strcmp(word, "B") == 0)
		table = &all->b;
	else if (strcmp(word, "D") == 0)
		table = &all->d;
	if (table == NULL) {
		check_derived(all, word, &save);
		return;
	}
	word = strtok_r(NULL, " \n", &save);
	if (strcmp(word, "order") == 0)
		check_order(table, &save);
	else
		change(table, word, &save);
}

static void keeps_the_order_that_python_keeps(void **state)
{
	FILE *stream = fopen(HILL_TEST_DATA "/python27/sets.txt", "re");
	char *line = malloc(LINE_BYTES);
	struct containers all;
	unsigned ncases = 0;

	(void)state;
	assert_non_null(stream);
	assert_non_null(line);
	containers_init(&all);
	while (fgets(line, LINE_BYTES, stream) != NULL) {
		assert_non_null(strchr(line, '\n'));
		if (strncmp(line, "case ", 5) == 0) {
			containers_release(&all);
			containers_init(&all);
			ncases++;
		} else {
			check_line(&all, line);
		}
	}
	assert_int_equal(ncases, VECTORS);
	containers_release(&all);
	(void)fclose(stream);
	free(line);
}

static void grows_at_the_documented_sizes(void **state)
{
	static const struct {
		uint32_t used, size;
	} steps[] = { { 5, 8 },      { 6, 32 },     { 21, 32 },
		      { 22, 128 },   { 85, 128 },   { 86, 512 },
		      { 341, 512 },  { 342, 2048 }, { 1365, 2048 },
		      { 1366, 8192 } };
	struct py27_table table;
	size_t step = 0;

	(void)state;
	py27_table_init(&table);
	for (int32_t i = 0; step < COUNT_OF(steps); i++) {
		py27_table_add(&table, (struct py27_cell){ i, -i }, 0);
		if (table.used == steps[step].used)
			assert_int_equal(table.size, steps[step++].size);
	}
	py27_table_clear(&table);
	assert_int_equal(table.size, 8);
	assert_int_equal(table.used, 0);
	py27_table_release(&table);
}

static void keeps_values_through_resizes(void **state)
{
	struct py27_table table;
	struct py27_table copy;

	(void)state;
	py27_table_init(&table);
	py27_table_init(&copy);
	for (int32_t i = 0; i < 200; i++)
		py27_table_add(&table, (struct py27_cell){ i, 7 },
			       (uint8_t)(i % 4));
	py27_table_add(&table, (struct py27_cell){ 9, 7 }, 77);
	py27_table_update(&copy, &table);
	for (int32_t i = 0; i < 200; i++) {
		struct py27_cell cell = { i, 7 };
		int32_t slot = py27_table_find(&copy, cell);

		assert_true(slot >= 0);
		assert_int_equal(copy.values[slot], i == 9 ? 77 : i % 4);
	}
	assert_int_equal(copy.used, 200);
	py27_table_release(&table);
	py27_table_release(&copy);
}

/* A table of 8 slots whose every slot was once in use must not hang. */
static void purges_deleted_keys(void **state)
{
	struct py27_table table;

	(void)state;
	py27_table_init(&table);
	for (int32_t i = 0; i < 10000; i++) {
		struct py27_cell cell = { i % 97, i / 97 };

		py27_table_add(&table, cell, 0);
		assert_int_equal(table.used, 1);
		assert_true(table.fill * 3 < table.size * 2);
		assert_true(py27_table_remove(&table, cell));
		assert_false(py27_table_remove(&table, cell));
		assert_int_equal(py27_table_next(&table, 0), -1);
	}
	py27_table_release(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_the_order_that_python_keeps),
		cmocka_unit_test(grows_at_the_documented_sizes),
		cmocka_unit_test(keeps_values_through_resizes),
		cmocka_unit_test(purges_deleted_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
