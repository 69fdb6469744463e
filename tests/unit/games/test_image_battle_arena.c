/* SPDX-License-Identifier: MIT */
/* arenas, their options, and the seats' colours */
#include "tests/unit/games/battle.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void allows_seats_of_one_colour_white_or_black(void **state)
{
	struct battle battle = { 0 };
	struct game_error error;
	static const struct dot dots[] = { { 1, 1, 0xff0000 }, { 5, 5, 0 } };

	(void)state;
	battle.setup.params[0] = 10;
	battle.setup.params[1] = 1;
	start(&battle, dots, COUNT_OF(dots),
	      "colours=255,0,0;255,0,0;255,255,255;0,0,0;9,9,9", 5);
	for (int i = 0; i < 5; i++) {
		static const char *const moves[] = { "1,2", "1,3", "9,9 9,9",
						     "5,6", "9,9" };

		(void)answer(&battle, moves[asked(&battle)]);
	}
	assert_true(battle.out.is_over);
	/* one colour is one territory; white paints white and takes again */
	assert_dump_holds(&battle, "seat 2 colour 255,255,255 pixels ");
	assert_dump_holds(&battle, " added 2 faults 0 finished\nseat 3 colour "
				   "0,0,0 pixels 2 added 1 faults 0 ");
	assert_dump_holds(&battle, "seat 4 colour 9,9,9 pixels 0 added 0 ");
	assert_int_equal(GAME->admit(battle.map, &battle.setup, &error),
			 -EINVAL);
	finish(&battle);
}

struct admit_case {
	const char *options;
	unsigned seats;
	const char *error; /* NULL: admitted */
};

static void admits_only_fair_colours(void **state)
{
	/* clang-format off */
	static const struct admit_case cases[] = {
		{ "", 1, NULL },
		{ "", 2, NULL },
		{ "", 3, "3 seats, but the arena has 2 colours" },
		{ "colours=0,255,0;255,0,0", 2, NULL },
		{ "colours=255,0,0;255,0,0", 1, NULL },
		{ "colours=255,0,0;255,0,0", 2, "colour 255,0,0 of seat 2 is another seat's too" },
		{ "colours=255,0,0;255,255,255", 2, "colour 255,255,255 of seat 2 is no player's" },
		{ "colours=0,0,0;255,0,0", 2, "colour 0,0,0 of seat 1 is no player's" },
		{ "colours=255,0,0;1,2,3", 2, "colour 1,2,3 of seat 2 owns no pixel" },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct game_setup setup = { .seed = "1",
					    .seats = cases[i].seats };
		struct game_map *map;
		struct game_error error = { "" };
		int rc;

		assert_int_equal(load(&map, pair, COUNT_OF(pair),
				      cases[i].options, &error),
				 0);
		rc = GAME->admit(map, &setup, &error);
		assert_int_equal(rc, cases[i].error == NULL ? 0 : -EINVAL);
		if (cases[i].error != NULL)
			assert_string_equal(error.text, cases[i].error);
		GAME->map_free(map);
	}
}

static void finds_the_colours_that_own_one_pixel(void **state)
{
	static const struct dot dots[] = {
		{ 3, 0, 0x0000ff }, { 1, 1, 0x00ff00 }, { 2, 1, 0x808080 },
		{ 2, 5, 0x808080 }, { 4, 5, 0x000000 }, { 0, 19, 0xff0000 },
	};
	struct battle battle = { 0 };

	(void)state;
	start(&battle, dots, COUNT_OF(dots), "", 3);
	assert_int_equal(GAME->map_seats(battle.map), 3);
	assert_memory_equal(battle.view.colours[0], "\x00\x00\xff", 3);
	assert_memory_equal(battle.view.colours[1], "\x00\xff\x00", 3);
	assert_memory_equal(battle.view.colours[2], "\xff\x00\x00", 3);
	finish(&battle);
}

static void seats_eight_and_not_a_ninth(void **state)
{
	struct dot dots[10];
	struct battle battle = { 0 };
	struct game_setup setup;
	struct game_state *none;
	struct game_error error;
	unsigned seen = 0;

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(dots); i++)
		dots[i] = (struct dot){ 2 * i, 3, 0x100000 + i };
	start(&battle, dots, COUNT_OF(dots), "", 8);
	assert_int_equal(GAME->map_seats(battle.map), 8);
	for (unsigned i = 0; i < 8; i++) {
		char move[24];

		seen |= 1u << asked(&battle);
		(void)snprintf(move, sizeof(move), "%u,4", 2 * asked(&battle));
		(void)answer(&battle, move);
	}
	assert_int_equal(seen, 255);
	assert_dump_holds(&battle, "accepted 8\n");
	setup = battle.setup;
	setup.seats = 9;
	assert_int_equal(GAME->create(&none, battle.map, &setup, &error),
			 -EINVAL);
	setup.seats = 0;
	assert_int_equal(GAME->create(&none, battle.map, &setup, &error),
			 -EINVAL);
	finish(&battle);
}

static void refuses_options_that_make_no_sense(void **state)
{
	static const char *const options[] = {
		"colours=",
		"colours=1,2",
		"colours=1,2,3,4",
		"colours=1,2,256",
		"colours=1,2,3;",
		"colours=1,2,3;;4,5,6",
		"colours=1,2,0003",
		"colours=-1,2,3",
		"colours=1, 2,3",
		"colours=1,2,3 colours=4,5,6",
		"colors=1,2,3",
		"colours=1,1,1;1,1,1;1,1,1;1,1,1;1,1,1;1,1,1;1,1,1;1,1,1;1,1,1",
	};
	struct game_map *map;
	struct game_error error;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(options); i++) {
		if (load(&map, pair, COUNT_OF(pair), options[i], &error) !=
		    -EINVAL)
			fail_msg("took '%s'", options[i]);
		assert_string_not_equal(error.text, "");
	}
	/* no dots: no colour to be found */
	assert_int_equal(load(&map, NULL, 0, "", &error), -EINVAL);
	assert_non_null(strstr(error.text, "colours="));
}

static void bounds_the_sides_of_an_arena(void **state)
{
	static const unsigned sides[][3] = {
		{ 20, 20, 1 }, { 1000, 20, 1 }, { 20, 1000, 1 }, { 19, 20, 0 },
		{ 20, 19, 0 }, { 1001, 20, 0 }, { 20, 1001, 0 }, { 1, 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(sides); i++) {
		struct game_source source = { .name = "a", .options = "" };
		struct buf png;
		struct buf plain = BUF_INIT(1 << 24);
		struct game_error error = { "" };
		struct game_map *map;
		const struct dot dot = { 0, 0, 0xff0000 };
		int rc;

		draw(&png, sides[i][0], sides[i][1], &dot, 1);
		source.data = png.data;
		source.len = png.len;
		rc = GAME->map_import(&source, &plain, &error);
		assert_int_equal(rc, sides[i][2] ? 0 : -EINVAL);
		if (rc < 0) {
			assert_non_null(strstr(error.text, "a side has at"));
			assert_int_equal(plain.len, 0);
		} else {
			/* already plain: its bytes stay */
			assert_int_equal(plain.len, png.len);
			assert_memory_equal(plain.data, png.data, png.len);
			assert_int_equal(GAME->map_new(&map, &source, &error),
					 0);
			GAME->map_free(map);
		}
		buf_release(&png);
		buf_release(&plain);
	}
}

static void a_line_holds_the_largest_batch(void **state)
{
	const struct dot dot = { 0, 0, 0xff0000 };
	struct game_source source = { .name = "a", .options = "" };
	struct game_error error;
	struct game_map *map;
	struct buf png;

	(void)state;
	draw(&png, 1000, 1000, &dot, 1);
	source.data = png.data;
	source.len = png.len;
	assert_int_equal(GAME->map_new(&map, &source, &error), 0);
	assert_true(GAME->line_max(map) >= 10000 * strlen("999,999 "));
	GAME->map_free(map);
	buf_release(&png);
	assert_int_equal(load(&map, &dot, 1, "", &error), 0);
	assert_int_equal(GAME->line_max(map), LIMIT_GAME_LINE_BYTES);
	GAME->map_free(map);
}

static void knows_its_parameters(void **state)
{
	int64_t params[GAME_PARAMS_MAX];
	struct game_error error;

	(void)state;
	assert_int_equal(game_params_parse(GAME, "", params, &error), 0);
	assert_int_equal(params[0], 10);
	assert_int_equal(params[1], 20000);
	assert_int_equal(game_params_parse(GAME, "batch=10000 maxturns=1",
					   params, &error),
			 0);
	assert_int_equal(game_params_parse(GAME, "batch=0", params, &error),
			 -EINVAL);
	assert_int_equal(game_params_parse(GAME, "batch=10001", params, &error),
			 -EINVAL);
	assert_int_equal(GAME->late_max, 5);
	assert_int_equal(GAME->turn_ms, 100);
	assert_int_equal(GAME->init_ms, 2000);
	assert_int_equal(GAME->stop, GAME_STOP_EXIT);
	assert_ptr_equal(game_find("image-battle"), GAME);
}

static void full_output_changes_nothing_in_the_game(void **state)
{
	struct battle battle = { 0 };

	(void)state;
	start(&battle, pair, COUNT_OF(pair), "", 2);
	for (unsigned i = 0; i < 2; i++)
		battle.out.lines[i].limit = 3;
	for (unsigned i = 0; i < 2; i++)
		(void)answer(&battle,
			     asked(&battle) == 0 ? "1,2" : "18,17 17,17");
	assert_dump_holds(&battle, "accepted 3\n");
	assert_true(battle.out.lines[0].is_failed);
	finish(&battle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allows_seats_of_one_colour_white_or_black),
		cmocka_unit_test(admits_only_fair_colours),
		cmocka_unit_test(finds_the_colours_that_own_one_pixel),
		cmocka_unit_test(seats_eight_and_not_a_ninth),
		cmocka_unit_test(refuses_options_that_make_no_sense),
		cmocka_unit_test(bounds_the_sides_of_an_arena),
		cmocka_unit_test(a_line_holds_the_largest_batch),
		cmocka_unit_test(knows_its_parameters),
		cmocka_unit_test(full_output_changes_nothing_in_the_game),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
