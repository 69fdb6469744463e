/* SPDX-License-Identifier: MIT */
/* seats, turns, faults, the end; scores and printed lines */
#include "tests/unit/games/battle.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "server/games/image_battle_text.h"

static void tells_all_what_was_placed_before_it_asks_on(void **state)
{
	struct battle battle = { 0 };
	char first[80], second[120];
	unsigned a, b;

	(void)state;
	start(&battle, pair, COUNT_OF(pair), "", 2);
	a = asked(&battle);
	b = 1 - a;
	assert_string_equal(lines(&battle, a), "pick pixels\n");
	assert_string_equal(lines(&battle, b), "");
	(void)answer(&battle, a == 0 ? "1,2 2,2" : "18,17 17,17");
	(void)snprintf(first, sizeof(first), "colour (%s) chose %s\n",
		       a == 0 ? "255,0,0" : "0,255,0",
		       a == 0 ? "1,2 2,2" : "18,17 17,17");
	(void)snprintf(second, sizeof(second), "%spick pixels\n", first);
	assert_string_equal(lines(&battle, a), first);
	assert_string_equal(lines(&battle, b), second);
	assert_int_equal(asked(&battle), b);
	assert_int_equal(battle.view.turn, 1);
	(void)answer(&battle, "");
	assert_int_equal(battle.view.turn, 2);
	assert_int_equal(battle.view.completed, 1);
	finish(&battle);
}

static void a_turn_of_passes_ends_the_battle(void **state)
{
	struct battle battle = { 0 };

	(void)state;
	start(&battle, pair, COUNT_OF(pair), "", 2);
	(void)answer(&battle, "");
	assert_false(battle.out.is_over);
	(void)answer(&battle, "19,19"); /* in time, nothing valid */
	assert_true(battle.out.is_over);
	assert_int_equal(battle.out.ended, 3);
	assert_int_equal(battle.out.asked, 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_string_equal(lines(&battle, i), "exit\n");
		assert_int_equal(battle.out.reason[i], GAME_FINISHED);
	}
	assert_int_equal(battle.view.end, IMAGE_BATTLE_NULL);
	assert_int_equal(battle.view.turn, 1);
	assert_int_equal(battle.view.completed, 0);
	finish(&battle);
}

static void maxturns_ends_the_battle(void **state)
{
	struct battle battle = { 0 };

	(void)state;
	battle.setup.params[0] = 1;
	battle.setup.params[1] = 3;
	start(&battle, pair, COUNT_OF(pair), "", 1);
	(void)answer(&battle, "1,2 1,3");
	(void)answer(&battle, "1,3");
	assert_false(battle.out.is_over);
	(void)answer(&battle, "1,4");
	assert_true(battle.out.is_over);
	assert_string_equal(lines(&battle, 0),
			    "colour (255,0,0) chose 1,4\nexit\n");
	assert_int_equal(battle.view.end, IMAGE_BATTLE_MAXTURNS);
	assert_int_equal(battle.view.turn, 3);
	assert_int_equal(battle.view.completed, 3);
	finish(&battle);
}

static void a_late_answer_is_a_fault_and_no_pass(void **state)
{
	struct battle battle = { 0 };

	(void)state;
	start(&battle, pair, COUNT_OF(pair), "", 2);
	/* all late */
	(void)be_late(&battle);
	(void)be_late(&battle);
	assert_false(battle.out.is_over);
	assert_int_equal(battle.view.turn, 2);
	/* one late, one passes */
	(void)be_late(&battle);
	(void)answer(&battle, "");
	assert_false(battle.out.is_over);
	assert_int_equal(battle.view.turn, 3);
	assert_int_equal(battle.view.faults[0] + battle.view.faults[1], 3);
	/* none late */
	(void)answer(&battle, "");
	(void)answer(&battle, "");
	assert_true(battle.out.is_over);
	assert_int_equal(battle.view.end, IMAGE_BATTLE_NULL);
	finish(&battle);
}

static void the_fifth_late_answer_suspends(void **state)
{
	struct battle battle = { 0 };
	struct game_score scores[2];
	char move[24];

	(void)state;
	start(&battle, pair, COUNT_OF(pair), "", 2);
	for (int y = 2; battle.view.faults[1] < 5;) {
		if (asked(&battle) == 1) {
			(void)be_late(&battle);
			continue;
		}
		(void)snprintf(move, sizeof(move), "1,%d", y++);
		(void)answer(&battle, move);
	}
	assert_false(battle.out.is_over);
	assert_int_equal(battle.out.ended, 2);
	assert_int_equal(battle.out.reason[1], GAME_SUSPENDED);
	assert_string_equal(lines(&battle, 1), "exit\n");
	assert_int_equal(asked(&battle), 0);
	/* it hears no more, and is not asked */
	for (int x = 2; x < 6; x++) {
		(void)snprintf(move, sizeof(move), "%d,1", x);
		assert_int_equal(answer(&battle, move), 0);
		assert_string_equal(lines(&battle, 1), "");
	}
	/* nor does anything from it count */
	feed(&battle, 1, GAME_GONE, "", 0);
	assert_int_equal(battle.out.ended | battle.out.asked, 0);
	game_out_clear(&battle.out);
	battle.out.asked = 1;
	assert_int_equal(answer(&battle, ""), 0);
	assert_true(battle.out.is_over);
	assert_int_equal(battle.out.ended, 1);
	assert_int_equal(battle.view.end, IMAGE_BATTLE_NULL);
	GAME->result(battle.state, scores);
	assert_int_equal(scores[0].reason, GAME_FINISHED);
	assert_int_equal(scores[1].reason, GAME_SUSPENDED);
	assert_int_equal(scores[1].points, 1);
	finish(&battle);
}

static void a_suspended_seat_has_nothing_to_play(void **state)
{
	struct battle battle = { 0 };

	(void)state;
	start(&battle, pair, COUNT_OF(pair), "", 2);
	for (int turn = 1; turn < 5; turn++) {
		for (int i = 0; i < 2; i++) {
			if (asked(&battle) == 0)
				(void)be_late(&battle);
			else
				(void)answer(&battle, "");
		}
		assert_false(battle.out.is_over);
	}
	/* the turn of the suspension: all that still plays has passed */
	for (int i = 0; i < 2; i++) {
		if (asked(&battle) == 0)
			(void)be_late(&battle);
		else
			(void)answer(&battle, "");
	}
	assert_true(battle.out.is_over);
	assert_int_equal(battle.view.turn, 5);
	assert_int_equal(battle.view.end, IMAGE_BATTLE_NULL);
	finish(&battle);
}

static void all_late_for_ever_ends_by_suspension(void **state)
{
	(void)state;
	for (unsigned seats = 1; seats <= 2; seats++) {
		struct battle battle = { 0 };

		start(&battle, pair, COUNT_OF(pair), "", seats);
		for (unsigned i = 1; i < 5 * seats; i++) {
			(void)be_late(&battle);
			assert_false(battle.out.is_over);
		}
		(void)be_late(&battle);
		assert_true(battle.out.is_over);
		assert_int_equal(battle.out.asked, 0);
		assert_int_equal(battle.view.end, IMAGE_BATTLE_LEFT);
		assert_int_equal(battle.view.turn, 5);
		finish(&battle);
	}
}

static void a_gone_seat_is_suspended_at_once(void **state)
{
	static const struct dot three[] = { { 1, 1, 0xff0000 },
					    { 18, 18, 0x00ff00 },
					    { 9, 9, 0x0000ff } };
	struct battle battle = { 0 };
	struct game_score scores[3];
	unsigned first, second, third;

	(void)state;
	start(&battle, three, COUNT_OF(three), "", 3);
	first = battle.view.order[0];
	second = battle.view.order[1];
	third = battle.view.order[2];
	/* not asked */
	feed(&battle, third, GAME_GONE, "", 0);
	assert_int_equal(battle.out.ended, 1u << third);
	assert_int_equal(battle.out.reason[third], GAME_LEFT);
	assert_string_equal(lines(&battle, third), "exit\n");
	assert_int_equal(battle.out.asked, 0);
	assert_false(battle.out.is_over);
	/* asked: the next one is */
	feed(&battle, first, GAME_GONE, "", 0);
	assert_int_equal(battle.out.ended, 1u << first);
	assert_int_equal(asked(&battle), second);
	/* the last one */
	feed(&battle, second, GAME_GONE, "", 0);
	assert_int_equal(battle.out.ended, 1u << second);
	assert_int_equal(battle.out.asked, 0);
	assert_true(battle.out.is_over);
	assert_int_equal(battle.view.end, IMAGE_BATTLE_LEFT);
	GAME->result(battle.state, scores);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(scores[i].reason, GAME_LEFT);
	/* and what comes then is nothing */
	feed(&battle, second, GAME_REPLY, "1,2", 3);
	assert_dump_holds(&battle, "accepted 0\n");
	finish(&battle);
}

static void pixels_of_a_seat_that_left_keep_the_turn_alive(void **state)
{
	struct battle battle = { 0 };
	unsigned a;

	(void)state;
	start(&battle, pair, COUNT_OF(pair), "", 2);
	a = asked(&battle);
	(void)answer(&battle, a == 0 ? "1,2" : "18,17");
	feed(&battle, a, GAME_GONE, "", 0);
	game_out_clear(&battle.out);
	battle.out.asked = 1u << (1 - a);
	(void)answer(&battle, "");
	assert_false(battle.out.is_over);
	assert_int_equal(battle.view.turn, 2);
	(void)answer(&battle, "");
	assert_true(battle.out.is_over);
	finish(&battle);
}

static void counts_and_scores_as_the_judge_and_the_text(void **state)
{
	struct battle battle = { 0 };
	struct game_score scores[2];

	(void)state;
	start(&battle, pair, COUNT_OF(pair), "", 2);
	GAME->result(battle.state, scores);
	assert_int_equal(scores[0].points, 1);
	assert_true(scores[0].columns[2] == 0); /* nobody added */
	assert_int_equal(scores[0].rank, 1);
	assert_int_equal(scores[1].rank, 1);
	for (int i = 0; i < 2; i++)
		(void)answer(&battle,
			     asked(&battle) == 0 ? "1,2 1,3 1,4" : "18,17");
	GAME->result(battle.state, scores);
	assert_int_equal(scores[0].points, 4);
	assert_int_equal(scores[1].points, 2);
	assert_int_equal(scores[0].rank, 1);
	assert_int_equal(scores[1].rank, 2);
	/* 100 * 4 / (400 / 2) */
	assert_true(scores[0].score == 2.0);
	assert_true(scores[1].score == 1.0);
	assert_true(scores[0].columns[0] == 4);
	assert_true(scores[0].columns[1] == 3);
	/* 100 * 3 / (4 / 2) */
	assert_true(scores[0].columns[2] == 150.0);
	assert_true(scores[1].columns[2] == 50.0);
	assert_string_equal(GAME->columns[2], "formula");
	finish(&battle);
}

static void prints_what_the_judge_printed(void **state)
{
	static const uint8_t green[3] = { 0, 255, 0 };
	struct buf out = BUF_INIT(1000);

	(void)state;
	image_battle_text_progress(100, 1987, &out);
	image_battle_text_score("blob.py", green, 100 * 17873 / 20000.0, &out);
	image_battle_text_score("b", green, 90, &out);
	image_battle_text_score("b", green, 100 * 35715 / (80000 / 2.0), &out);
	image_battle_text_score("b", green, 100 / 1e6, &out);
	image_battle_text_score("b", green, 100 / 3.0, &out);
	assert_string_equal(
		buf_text(&out),
		"Turn 100 done 1987 pixels\n"
		"Bot blob.py with colour (0, 255, 0) scored 89.365\n"
		"Bot b with colour (0, 255, 0) scored 90.0\n"
		"Bot b with colour (0, 255, 0) scored 89.2875\n"
		"Bot b with colour (0, 255, 0) scored 0.0001\n"
		"Bot b with colour (0, 255, 0) scored 33.3333333333\n");
	buf_release(&out);
}

static void puts_file_colour_and_batch_on_the_command_line(void **state)
{
	struct battle battle = { 0 };
	struct buf out = BUF_INIT(1000);

	(void)state;
	battle.setup.params[0] = 30;
	battle.setup.params[1] = 5;
	start(&battle, pair, COUNT_OF(pair), "", 2);
	GAME->args(battle.map, &battle.setup, 1, "arena.png", &out);
	assert_string_equal(buf_text(&out), "arena.png (0,255,0) 30");
	buf_release(&out);
	finish(&battle);
}

static void shows_the_picture_as_characters_and_colours(void **state)
{
	static const struct dot dots[] = {
		{ 0, 0, 0xff0000 }, { 1, 0, 0x00ff00 }, { 2, 0, 0x000000 },
		{ 3, 0, 0x123456 }, { 4, 0, 0x123456 }, { 5, 0, 0x0000ff },
	};
	static const uint32_t expected[] = { 0x31ff0000, 0x3200ff00, 0x23000000,
					     0x3f123456, 0x3f123456, 0x3f0000ff,
					     0x2effffff };
	struct battle battle = { 0 };
	struct game_grid grid;

	(void)state;
	start(&battle, dots, COUNT_OF(dots), "", 2); /* blue plays not */
	assert_int_equal(GAME->grid(battle.state, &grid), 0);
	assert_int_equal(grid.width, SIDE);
	assert_int_equal(grid.height, SIDE);
	assert_memory_equal(grid.cells, expected, sizeof(expected));
	game_grid_release(&grid);
	finish(&battle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_all_what_was_placed_before_it_asks_on),
		cmocka_unit_test(a_turn_of_passes_ends_the_battle),
		cmocka_unit_test(maxturns_ends_the_battle),
		cmocka_unit_test(a_late_answer_is_a_fault_and_no_pass),
		cmocka_unit_test(the_fifth_late_answer_suspends),
		cmocka_unit_test(a_suspended_seat_has_nothing_to_play),
		cmocka_unit_test(all_late_for_ever_ends_by_suspension),
		cmocka_unit_test(a_gone_seat_is_suspended_at_once),
		cmocka_unit_test(
			pixels_of_a_seat_that_left_keep_the_turn_alive),
		cmocka_unit_test(counts_and_scores_as_the_judge_and_the_text),
		cmocka_unit_test(prints_what_the_judge_printed),
		cmocka_unit_test(
			puts_file_colour_and_batch_on_the_command_line),
		cmocka_unit_test(shows_the_picture_as_characters_and_colours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
