/* SPDX-License-Identifier: MIT */
/* Every rule of the mine on a map as small as it gets, in every mode. */
#include "server/games/lambda_internal.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/games/lambda_modes.h"
#include "tests/unit/unit.h"

struct rule {
	const char *name, *map, *route, *rows;
	enum lambda_status status;
	int64_t score;
};

/* An empty text in `rows`: the rows are those of the map. */
#define SAME ""
#define GOES_ON LAMBDA_ONGOING

/* clang-format off */
static const struct rule robot_rules[] = {
	{ "walks into empty", "R L\\", "R", " RL\\", GOES_ON, -1 },
	{ "digs earth", "R.L\\", "R", " RL\\", GOES_ON, -1 },
	{ "takes a lambda", "R\\L\\", "R", " RL\\", GOES_ON, 49 },
	{ "takes a razor", "R!L\\", "R", " RL\\", GOES_ON, -1 },
	{ "stops at a wall", "R#L\\", "R", SAME, GOES_ON, -1 },
	{ "stops at a closed lift", "RL\\", "R", SAME, GOES_ON, -1 },
	{ "stops at a beard", "RWL\\", "R", SAME, GOES_ON, -1 },
	{ "stops at a target", "R1L\\", "R", SAME, GOES_ON, -1 },
	{ "stays inside", "RL\\", "LUD", SAME, GOES_ON, -3 },
	{ "waits", "RL\\", "W", SAME, GOES_ON, -1 },
	{ "skips what is no command", "R  L\\", "r l\tR\xff" "1\n", " R L\\",
	  GOES_ON, -1 },
	{ "walks up and down", "L\\\n. \nR#", "UUD", "L\\\n  \nR#",
	  GOES_ON, -3 },
	{ "pushes right", "R* L\\", "R", " R*L\\", GOES_ON, -1 },
	{ "pushes left", " *RL\\", "L", "*R L\\", GOES_ON, -1 },
	{ "pushes a higher order rock", "R@ L", "R", " R@L", GOES_ON, -1 },
	{ "pushes no two rocks", "R** L\\", "R", SAME, GOES_ON, -1 },
	{ "pushes not into earth", "R*.L\\", "R", SAME, GOES_ON, -1 },
	{ "pushes not into a razor", "R*!L\\", "R", SAME, GOES_ON, -1 },
	{ "pushes not into a lambda", "R*\\L", "R", SAME, GOES_ON, -1 },
	{ "pushes not into the lift", "R*L\\", "R", SAME, GOES_ON, -1 },
	{ "pushes not into a beard", "R*WL\\", "R", SAME, GOES_ON, -1 },
	{ "pushes not into an open lift", "R*L", "WR", "R*O", GOES_ON, -2 },
	{ "pushes not into a trampoline",
	  "R*AL\\1\n\nTrampoline A targets 1", "R", SAME, GOES_ON, -1 },
	{ "pushes not outside", "*RL\\", "L", SAME, GOES_ON, -1 },
	{ "pushes not up", " #\n*#\nR#\nL\\", "U", SAME, GOES_ON, -1 },
	{ "pushes not down", "R#\n*#\n.#\nL\\", "D", SAME, GOES_ON, -1 },
};

static const struct rule trampoline_rules[] = {
	{ "jumps", "RA 1L\\\n\nTrampoline A targets 1", "R", "   RL\\",
	  GOES_ON, -1 },
	{ "takes all trampolines of the target away",
	  "RAB1CL2\\\n\nTrampoline A targets 1\nTrampoline B targets 1\n"
	  "Trampoline C targets 2", "R", "   RCL2\\", GOES_ON, -1 },
	{ "frees the rock above it in the same step",
	  " *  L\nRA.1\\\n\nTrampoline A targets 1", "R", "    L\n *.R\\",
	  GOES_ON, -1 },
	{ "counts the target's row for the water",
	  "1L\\\n##.\nRA.\n\nTrampoline A targets 1\nWater 1\nWaterproof 1",
	  "WRW", "RL\\\n##.\n  .", GOES_ON, -3 },
};

static const struct rule razor_rules[] = {
	{ "shaves all around", "WWW\nWRW\nWWW\nL\\#\n\nRazors 1\nGrowth 0",
	  "S", "   \n R \n   \nL\\#", GOES_ON, -1 },
	{ "shaves no further", "RWWL\\\n\nRazors 1", "S", "R WL\\",
	  GOES_ON, -1 },
	{ "shaves not without a razor", "RWL\\", "S", SAME, GOES_ON, -1 },
	{ "uses the razor found", "R!WL\\", "RS", " R L\\", GOES_ON, -2 },
	{ "uses a razor up for nothing", "R. WL\\\n\nRazors 1", "SRRS",
	  "  RWL\\", GOES_ON, -4 },
	{ "frees a rock in the same step", "R*.\n.WL\n. \\\n\nRazors 1", "S",
	  "R .\n.*L\n. \\", GOES_ON, -1 },
};

static const struct rule rock_rules[] = {
	{ "falls", " *.\n  R\n#L\\", "W", "  .\n *R\n#L\\", GOES_ON, -1 },
	{ "falls a cell a step", "*L\n \\\n .\n R", "WW", " L\n \\\n*.\n R",
	  GOES_ON, -2 },
	{ "rests on the edge", "R#\n*L\n", "W", "R#\n*O", GOES_ON, -1 },
	{ "rests on earth", "*R\n.L\n\\ ", "W", SAME, GOES_ON, -1 },
	{ "slides right off a rock", "*  \n* R\n#L\\", "W",
	  "   \n**R\n#L\\", GOES_ON, -1 },
	{ "prefers the right", " * \n * \n#L\\\nR..", "W",
	  "   \n **\n#L\\\nR..", GOES_ON, -1 },
	{ "slides left where right is shut", " *.\n * \n#L\\\nR..", "W",
	  "  .\n** \n#L\\\nR..", GOES_ON, -1 },
	{ "slides left where the lower right is shut",
	  " * \n *.\n#L\\\nR..", "W", "   \n**.\n#L\\\nR..", GOES_ON, -1 },
	{ "slides right off a lambda", "*  \n\\ R\n#L#", "W",
	  "   \n\\*R\n#L#", GOES_ON, -1 },
	{ "slides never left off a lambda", " *.\n \\ \n#L#\nR..", "W", SAME,
	  GOES_ON, -1 },
	{ "looks at the old map only", "*#\n*#\n #\n.#\nRL\n\\#", "W",
	  "*#\n #\n*#\n.#\nRL\n\\#", GOES_ON, -1 },
	{ "follows into the cell the robot left", "*#\nR.\n.#\nL\\", "R",
	  " #\n*R\n.#\nL\\", GOES_ON, -1 },
	{ "is freed by the robot's digging", "*#\n.R\n##\nL\\", "LR",
	  " #\n*R\n##\nL\\", GOES_ON, -2 },
	{ "slides off a stone pushed under it", "##*##\n##  #\nR*  #\nL\\#.#",
	  "WR", "## ##\n##  #\n R**#\nL\\#.#", GOES_ON, -2 },
};

static const struct rule horock_rules[] = {
	{ "breaks on what is not empty", "@ \n  \n.R\nL#", "W",
	  "  \n\\ \n.R\nL#", GOES_ON, -1 },
	{ "stays whole over empty", "@ \n  \n  \n.R\nL#", "W",
	  "  \n@ \n  \n.R\nL#", GOES_ON, -1 },
	{ "breaks at the end of a long fall", "@ \n  \n  \n.R\nL#", "WW",
	  "  \n  \n\\ \n.R\nL#", GOES_ON, -2 },
	{ "breaks above a rock that falls away", "@#\n #\n*#\n #\n.R\nL#",
	  "W", " #\n\\#\n #\n*#\n.R\nL#", GOES_ON, -1 },
	{ "stays whole above what only arrives", "@##\n *#\n *#\n##R\nL##",
	  "W", " ##\n@ #\n**#\n##R\nL##", GOES_ON, -1 },
	{ "never breaks at rest", "@R\n.L", "WW", SAME, GOES_ON, -2 },
	{ "breaks on the edge", "@L\n R", "W", " L\n\\R", GOES_ON, -1 },
	{ "kills the robot as a lambda", "@ \n  \nR \nL#", "W",
	  "  \n\\ \nR \nL#", LAMBDA_LOSE, -1 },
	{ "lets stones slide off", "* .\n@ .\n..R\nL##", "W",
	  "  .\n@*.\n..R\nL##", GOES_ON, -1 },
	{ "slides like a rock", "@  \n*  \n#.R\nL##", "W",
	  "   \n*\\ \n#.R\nL##", GOES_ON, -1 },
	{ "gives a lambda to collect", "@#\n #\n.R\n.L", "WLUR",
	  " #\nR#\n  \n.O", GOES_ON, 46 },
};

static const struct rule lift_rules[] = {
	{ "opens in the step of the last lambda", "R\\L", "R", " RO",
	  GOES_ON, 49 },
	{ "opens in the first update without lambdas", "R L", "W", "R O",
	  GOES_ON, -1 },
	{ "waits for the higher order rocks", "R\\L@", "R", " RL@",
	  GOES_ON, 49 },
	{ "wins", "R\\L", "RR", "  O", LAMBDA_WIN, 73 },
	{ "wins without another update", "..*\n.. \n.. \nRL ", "WR",
	  ".. \n..*\n.. \n O ", LAMBDA_WIN, -2 },
	{ "ignores what follows", "R\\L", "RRLLA", "  O", LAMBDA_WIN, 73 },
	{ "stays shut for a lambda lost",
	  "@ *\n* *\n#.#\nR L", "WW", "   \n***\n#.#\nR L", GOES_ON, -2 },
};

static const struct rule conflict_rules[] = {
	{ "right stone wins: broken", "* @\n* *\n#.#\nR L", "W",
	  "   \n*\\*\n#.#\nR L", GOES_ON, -1 },
	{ "right stone wins: whole", "@ *\n* *\n#.#\nR L", "W",
	  "   \n***\n#.#\nR L", GOES_ON, -1 },
	{ "right stone wins: above empty", "* @\n* *\n# #\nR L", "W",
	  "   \n*@*\n# #\nR L", GOES_ON, -1 },
	{ "beard at the upper right beats the stone",
	  "*W.\n ..\n##R\nL\\#\n\nGrowth 1", "W", " W.\nW..\n##R\nL\\#",
	  GOES_ON, -1 },
	{ "beard at the upper left loses",
	  "W*.\n. .\n##R\nL\\#\n\nGrowth 1", "W", "W .\n.*.\n##R\nL\\#",
	  GOES_ON, -1 },
	{ "beard at the left loses",
	  "#*#\nW .\n##R\nL\\#\n\nGrowth 1", "W", "# #\nW*.\n##R\nL\\#",
	  GOES_ON, -1 },
	{ "beard at the right loses",
	  "#*#\n. W\n##R\nL\\#\n\nGrowth 1", "W", "# #\n.*W\n##R\nL\\#",
	  GOES_ON, -1 },
	{ "beard below loses",
	  "#*#\n# #\n#W#\n##R\nL\\#\n\nGrowth 1", "W",
	  "# #\n#*#\n#W#\n##R\nL\\#", GOES_ON, -1 },
	{ "beard at the upper right beats two stones",
	  "* *W\n* *.\n#.##\nR L\\\n\nGrowth 1", "W",
	  "   W\n***.\n#.##\nR L\\", GOES_ON, -1 },
	{ "beard eats the stone that would have killed",
	  "*W\n .\nRL\n\nGrowth 1", "W", " W\nW.\nRO", GOES_ON, -1 },
};

static const struct rule beard_rules[] = {
	{ "grows when its time comes", "   \n W \n   \n##R\nL\\#\n\nGrowth 2",
	  "W", SAME, GOES_ON, -1 },
	{ "grows all around", "   \n W \n   \n##R\nL\\#\n\nGrowth 2", "WW",
	  "WWW\nWWW\nWWW\n##R\nL\\#", GOES_ON, -2 },
	{ "grows by one cell a time", "W    RL\\\n\nGrowth 1", "WW",
	  "WWW  RL\\", GOES_ON, -2 },
	{ "grows into nothing but empty", "W.!R\n#*#L\nW\\@ \n\nGrowth 1",
	  "W", SAME, GOES_ON, -1 },
	{ "grows not at all", "W RL\\\n\nGrowth 0",
	  "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWW", SAME, GOES_ON, -30 },
	{ "grows every 25 steps by default", "W RL\\",
	  "WWWWWWWWWWWWWWWWWWWWWWWW", SAME, GOES_ON, -24 },
	{ "grows in step 25", "W RL\\", "WWWWWWWWWWWWWWWWWWWWWWWWW", "WWRL\\",
	  GOES_ON, -25 },
	{ "grows into the cell that the robot left", "WR L\\\n\nGrowth 1",
	  "R", "WWRL\\", GOES_ON, -1 },
	{ "grows not into the cell that a stone left",
	  "*W.\n. .\n##R\nL\\#\n\nGrowth 1", "W", "*W.\n.W.\n##R\nL\\#",
	  GOES_ON, -1 },
	{ "grows again where it was shaved",
	  "RWWL\\\n\nGrowth 2\nRazors 1", "SW", "RWWL\\", GOES_ON, -2 },
};

static const struct rule water_rules[] = {
	{ "survives as long as it is proof",
	  "..\nR \nL\\\n\nWater 2\nWaterproof 1", "W", SAME, GOES_ON, -1 },
	{ "drowns after that", "..\nR \nL\\\n\nWater 2\nWaterproof 1", "WW",
	  SAME, LAMBDA_LOSE, -2 },
	{ "is dry above the level", "..\nR \nL\\\n\nWater 1\nWaterproof 0",
	  "WWW", SAME, GOES_ON, -3 },
	{ "survives ten by default", "RL\\\n\nWater 1", "WWWWWWWWWW", SAME,
	  GOES_ON, -10 },
	{ "drowns in the eleventh", "RL\\\n\nWater 1", "WWWWWWWWWWW", SAME,
	  LAMBDA_LOSE, -11 },
	{ "rises after the check",
	  "RL\\\n\nFlooding 1\nWaterproof 0", "W", SAME, GOES_ON, -1 },
	{ "is under water in the next step",
	  "RL\\\n\nFlooding 1\nWaterproof 0", "WW", SAME, LAMBDA_LOSE, -2 },
	{ "rises every so many steps",
	  "RL\\\n\nFlooding 3\nWaterproof 0", "WWWW", SAME, LAMBDA_LOSE, -4 },
	{ "breathes when it comes up",
	  " #\nR#\nL\\\n\nWater 2\nWaterproof 1", "WUDU", "R#\n #\nL\\",
	  GOES_ON, -4 },
	{ "counts anew after that",
	  " #\nR#\nL\\\n\nWater 2\nWaterproof 1", "WUDW", " #\nR#\nL\\",
	  LAMBDA_LOSE, -4 },
	{ "may rise above the map", "RL\\\n\nWater 99", "WWW", SAME,
	  GOES_ON, -3 },
};

static const struct rule end_rules[] = {
	{ "empty route", "R\\L", "", SAME, GOES_ON, 0 },
	{ "abort alone", "R\\L", "A", SAME, LAMBDA_ABORT, 0 },
	{ "abort takes no step", "R\\L", "RA", " RO", LAMBDA_ABORT, 49 },
	{ "abort ends it", "R\\L", "RARR", " RO", LAMBDA_ABORT, 49 },
	{ "abort comes before the update", " *.\n  R\n#L\\", "A", SAME,
	  LAMBDA_ABORT, 0 },
	{ "end of input scores as abort", "R\\L", "RW", " RO", GOES_ON, 48 },
	{ "is crushed", "*L\n \\\nR.", "W", " L\n*\\\nR.", LAMBDA_LOSE, -1 },
	{ "bears what lies above it", "*L\nR\\\n##", "WW", SAME, GOES_ON, -2 },
	{ "is crushed going down", "*L\nR\\\n #", "D", " L\n*\\\nR#",
	  LAMBDA_LOSE, -1 },
	{ "is crushed by what slides", "* L\n*.\\\n#R#\n   ", "UD",
	  "  L\n**\\\n#R#\n   ", LAMBDA_LOSE, -2 },
	{ "keeps a quarter", "*#L\n #\\\n #.\n.\\R", "LL",
	  " #L\n #\\\n*#.\nR  ", LAMBDA_LOSE, 23 },
	{ "ignores what follows a loss", "*L\n \\\nR.", "WRRA",
	  " L\n*\\\nR.", LAMBDA_LOSE, -1 },
};
/* clang-format on */

static void play(const struct rule *rule, enum lambda_mode mode)
{
	struct buf expected = BUF_INIT(1000), rows = BUF_INIT(1000);
	struct game_error error = { "" };
	struct lambda_map map;
	struct lambda_sim sim;

	if (lambda_map_init(&map, rule->map, strlen(rule->map), &error) < 0)
		fail_msg("%s: %s", rule->name, error.text);
	assert_int_equal(lambda_sim_init(&sim, &map), 0);
	lambda_force(&sim, mode);
	if (rule->rows[0] == '\0')
		lambda_rows(&sim, &expected);
	else
		buf_add_format(&expected, "%s\n", rule->rows);
	for (const char *command = rule->route; *command != '\0'; command++)
		lambda_step(&sim, *command);
	lambda_rows(&sim, &rows);
	if (strcmp(buf_text(&rows), buf_text(&expected)) != 0 ||
	    sim.status != rule->status || lambda_score(&sim) != rule->score)
		fail_msg("%s (mode %d): %s %lld\n%sinstead of %s %lld\n%s",
			 rule->name, (int)mode, lambda_status_word(sim.status),
			 (long long)lambda_score(&sim), buf_text(&rows),
			 lambda_status_word(rule->status),
			 (long long)rule->score, buf_text(&expected));
	lambda_sim_release(&sim);
	lambda_map_release(&map);
	buf_release(&expected);
	buf_release(&rows);
}

static void play_all(const struct rule *rules, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (unsigned mode = 0; mode < NMODES; mode++)
			play(&rules[i], (enum lambda_mode)mode);
	}
}

static void robot_does_what_it_can(void **state)
{
	(void)state;
	play_all(robot_rules, COUNT_OF(robot_rules));
}

static void trampolines_carry_and_vanish(void **state)
{
	(void)state;
	play_all(trampoline_rules, COUNT_OF(trampoline_rules));
}

static void razors_shave(void **state)
{
	(void)state;
	play_all(razor_rules, COUNT_OF(razor_rules));
}

static void rocks_fall_and_slide(void **state)
{
	(void)state;
	play_all(rock_rules, COUNT_OF(rock_rules));
}

static void higher_order_rocks_break(void **state)
{
	(void)state;
	play_all(horock_rules, COUNT_OF(horock_rules));
}

static void lift_opens_and_wins(void **state)
{
	(void)state;
	play_all(lift_rules, COUNT_OF(lift_rules));
}

static void later_write_wins(void **state)
{
	(void)state;
	play_all(conflict_rules, COUNT_OF(conflict_rules));
}

static void beards_grow(void **state)
{
	(void)state;
	play_all(beard_rules, COUNT_OF(beard_rules));
}

static void water_rises_and_drowns(void **state)
{
	(void)state;
	play_all(water_rules, COUNT_OF(water_rules));
}

static void a_run_ends_and_scores(void **state)
{
	(void)state;
	play_all(end_rules, COUNT_OF(end_rules));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(robot_does_what_it_can),
		cmocka_unit_test(trampolines_carry_and_vanish),
		cmocka_unit_test(razors_shave),
		cmocka_unit_test(rocks_fall_and_slide),
		cmocka_unit_test(higher_order_rocks_break),
		cmocka_unit_test(lift_opens_and_wins),
		cmocka_unit_test(later_write_wins),
		cmocka_unit_test(beards_grow),
		cmocka_unit_test(water_rises_and_drowns),
		cmocka_unit_test(a_run_ends_and_scores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
