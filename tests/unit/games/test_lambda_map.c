/* SPDX-License-Identifier: MIT */
#include "server/games/lambda_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

/* The map as lambda_rows() shows it; the test frees it. */
static char *rows_of(const struct lambda_map *map)
{
	struct buf rows = BUF_INIT(100000);
	struct lambda_sim sim;

	assert_int_equal(lambda_sim_init(&sim, map), 0);
	lambda_rows(&sim, &rows);
	lambda_sim_release(&sim);
	return buf_detach(&rows);
}

static void parse(struct lambda_map *map, const char *text)
{
	struct game_error error = { "" };

	if (lambda_map_init(map, text, strlen(text), &error) < 0)
		fail_msg("%s", error.text);
}

static void reads_grids_of_every_shape(void **state)
{
	static const struct {
		const char *text, *rows;
		unsigned width, height;
	} cases[] = {
		{ "R L\n", "R L\n", 3, 1 },
		{ "R L", "R L\n", 3, 1 },
		{ "R L\r\n\r\nWater 1\r\n", "R L\n", 3, 1 },
		{ "L\n  R\n#\n", "L  \n  R\n#  \n", 3, 3 },
		{ "R\n  \nL\n", "R \n  \nL \n", 2, 3 },
		{ "R\n \r\nL\n", "R\n \nL\n", 1, 3 },
		{ "R*\\L.#!@W\n\n\n\nR\n", "R*\\L.#!@W\n", 9, 1 },
		{ "RA1L\n\nTrampoline A targets 1\n", "RA1L\n", 4, 1 },
		{ "  R\n L \n", "  R\n L \n", 3, 2 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct lambda_map map;
		char *rows;

		parse(&map, cases[i].text);
		rows = rows_of(&map);
		assert_string_equal(rows, cases[i].rows);
		assert_int_equal(map.width, cases[i].width);
		assert_int_equal(map.height, cases[i].height);
		free(rows);
		lambda_map_release(&map);
	}
}

static void reads_numbers_in_any_order_and_spacing(void **state)
{
	static const struct {
		const char *text;
		int64_t water, flooding, waterproof, growth, razors;
	} cases[] = {
		{ "RL", 0, 0, 10, 25, 0 },
		{ "RL\n\n", 0, 0, 10, 25, 0 },
		{ "RL\n\nWater 1\nFlooding 2\nWaterproof 3\nGrowth 4\nRazors 5",
		  1, 2, 3, 4, 5 },
		{ "RL\n\nRazors 5\nGrowth 4\nWaterproof 3\nFlooding 2\nWater 1",
		  1, 2, 3, 4, 5 },
		{ "RL\n\nWater    7  \n  Flooding\t8\t\r\n", 7, 8, 10, 25, 0 },
		{ "RL\n\nAuthor x y\nWaterproof 0\n\nHighscore 9\nGrowth 0\n",
		  0, 0, 0, 0, 0 },
		{ "RL\n\nWater 007\nWater 1000000000\n", 1000000000, 0, 10, 25,
		  0 },
		{ "RL\n\nWaterfall 3\nwater 4\n", 0, 0, 10, 25, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct lambda_map map;

		parse(&map, cases[i].text);
		assert_int_equal(map.water, cases[i].water);
		assert_int_equal(map.flooding, cases[i].flooding);
		assert_int_equal(map.waterproof, cases[i].waterproof);
		assert_int_equal(map.growth, cases[i].growth);
		assert_int_equal(map.razors, cases[i].razors);
		lambda_map_release(&map);
	}
}

static void counts_lambdas_and_finds_the_robot(void **state)
{
	struct lambda_map map;

	(void)state;
	parse(&map, "\\@\\\n#R@\nL");
	assert_int_equal(map.total, 4);
	assert_int_equal(map.robot_row, 2);
	assert_int_equal(map.cells[map.robot], 'R');
	assert_int_equal(map.cells[map.lift], 'L');
	assert_false(map.has_beards);
	lambda_map_release(&map);
	parse(&map, "RWL");
	assert_true(map.has_beards);
	lambda_map_release(&map);
}

static void links_trampolines(void **state)
{
	struct lambda_map map;

	(void)state;
	parse(&map, "A2\nRL\nI9\n\nTrampoline I targets 9 \n"
		    "Trampoline   A  targets  2\nTrampoline B targets 7\n");
	assert_int_equal(map.trampolines[0].at, 3 * map.stride + 1);
	assert_int_equal(map.trampolines[0].target, 3 * map.stride + 2);
	assert_int_equal(map.trampolines[0].target_row, 3);
	assert_int_equal(map.trampolines[8].at, map.stride + 1);
	assert_int_equal(map.trampolines[8].target_row, 1);
	assert_int_equal(map.trampolines[1].at, 0);
	lambda_map_release(&map);
}

static void says_where_a_map_is_wrong(void **state)
{
	static const struct {
		const char *text, *where;
	} cases[] = {
		{ "", "line 1: there is no map" },
		{ "\nRL\n", "line 1: there is no map" },
		{ "\r\nRL\n", "line 1: there is no map" },
		{ "##\nL \n", "lines 1 to 2: the map has no robot" },
		{ "##\nR \n", "lines 1 to 2: the map has no lift" },
		{ "R L\n  R\n", "line 2 column 3: a second 'R', the first is "
				"at line 1 column 1" },
		{ "RL\n L\n", "line 2 column 2: a second 'L'" },
		{ "RL\n O\n", "line 2 column 2: 'O'" },
		{ "RL\tx\n", "line 1 column 3: byte 9 is" },
		{ "RL0\n", "line 1 column 3: '0'" },
		{ "RLJ\n", "line 1 column 3: 'J'" },
		{ "RLw\n", "line 1 column 3: 'w'" },
		{ "RL\xff\n", "line 1 column 3: byte 255 is" },
		{ "RL\rx\n", "line 1 column 3: byte 13 is" },
		{ "RLA\n", "line 1 column 3: trampoline 'A' has no target" },
		{ "RLA\n\nTrampoline A targets 1\n",
		  "line 1 column 3: trampoline 'A' has no target" },
		{ "RL1A1\n", "line 1 column 5: a second '1'" },
		{ "RLAA\n", "line 1 column 4: a second 'A'" },
		{ "RL\n\nWater\n", "line 3 column 6: Water wants one number" },
		{ "RL\n\nWater x\n", "line 3 column 7: Water wants" },
		{ "RL\n\n\nGrowth -1\n", "line 4 column 8: Growth wants" },
		{ "RL\n\nRazors 1000000001\n", "line 3 column 8: Razors" },
		{ "RL\n\nRazors 99999999999999999999999\n",
		  "line 3 column 8: Razors" },
		{ "RL\n\nFlooding 1 2\n", "line 3 column 10: Flooding" },
		{ "RL\n\nWaterproof 1.5\n", "line 3 column 12: Waterproof" },
		{ "RL\n\nTrampoline A 1\n", "line 3 column 1: not of the" },
		{ "RL\n\nTrampoline J targets 1\n", "line 3 column 1: not" },
		{ "RL\n\nTrampoline A targets 0\n", "line 3 column 1: not" },
		{ "RL\n\nTrampoline A targets 1 2\n", "line 3 column 1: not" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct game_error error = { "" };
		struct lambda_map map;

		assert_int_equal(lambda_map_init(&map, cases[i].text,
						 strlen(cases[i].text), &error),
				 -EINVAL);
		if (strncmp(error.text, cases[i].where,
			    strlen(cases[i].where)) != 0)
			fail_msg("case %zu: %s", i, error.text);
	}
}

/* One long row and many short ones would make a grid of their product. */
static void refuses_a_ragged_map_that_would_be_huge(void **state)
{
	enum { WIDE = 100000, TALL = 1000 };
	struct game_error error = { "" };
	struct lambda_map map;
	char *text = malloc(WIDE + TALL * 2 + 1), *to = text;

	(void)state;
	memset(to, '#', WIDE);
	to[0] = 'R';
	to[1] = 'L';
	to[WIDE] = '\n';
	to += WIDE + 1;
	for (unsigned i = 0; i < TALL; i++, to += 2)
		memcpy(to, ".\n", 2);
	assert_int_equal(
		lambda_map_init(&map, text, (size_t)(to - text), &error),
		-EINVAL);
	assert_non_null(strstr(error.text, "line 1001: too large"));
	/* A third of the rows fits. */
	assert_int_equal(
		lambda_map_init(&map, text, WIDE + 1 + TALL / 3 * 2, &error),
		0);
	assert_int_equal(map.width, WIDE);
	lambda_map_release(&map);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_grids_of_every_shape),
		cmocka_unit_test(reads_numbers_in_any_order_and_spacing),
		cmocka_unit_test(counts_lambdas_and_finds_the_robot),
		cmocka_unit_test(links_trampolines),
		cmocka_unit_test(says_where_a_map_is_wrong),
		cmocka_unit_test(refuses_a_ragged_map_that_would_be_huge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
