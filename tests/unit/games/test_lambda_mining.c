/* SPDX-License-Identifier: MIT */
#include "server/games/lambda_mining.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/games/lambda_internal.h"
#include "tests/unit/unit.h"

static const struct game *const game = &game_lambda_mining;

struct match {
	struct game_map *map;
	struct game_state *state;
	struct game_out out;
	enum game_status status; /* of the last feed */
	unsigned nworks;         /* calls of work() it took */
};

static void begin(struct match *match, const char *text, const char *params)
{
	struct game_source source = { .name = "m.map",
				      .data = text,
				      .len = strlen(text),
				      .options = "" };
	struct game_setup setup = { .seed = "0",
				    .bot_seed = "0",
				    .seats = 1,
				    .limit_ms = 150000,
				    .grace_ms = 10000 };
	struct game_error error = { "" };

	memset(match, 0, sizeof(*match));
	if (game_params_parse(game, params, setup.params, &error) < 0 ||
	    game->map_new(&match->map, &source, &error) < 0 ||
	    game->admit(match->map, &setup, &error) < 0 ||
	    game->create(&match->state, match->map, &setup, &error) < 0)
		fail_msg("%s", error.text);
	game_out_init(&match->out, 1000);
	assert_int_equal(game->begin(match->state, &match->out), GAME_DONE);
}

static void feed(struct match *match, enum game_input kind, const char *text,
		 size_t len)
{
	enum game_status status;

	game_out_clear(&match->out);
	status = game->feed(match->state, 0, kind, text, len, &match->out);
	match->status = status;
	match->nworks = 0;
	while (status == GAME_BUSY) {
		assert_false(match->out.is_over);
		status = game->work(match->state, &match->out);
		match->nworks++;
	}
}

static void end(struct match *match)
{
	game->free(match->state);
	game->map_free(match->map);
	game_out_release(&match->out);
}

static struct game_score score_of(const struct match *match)
{
	struct game_score score;

	game->result(match->state, &score);
	return score;
}

static void asks_once_and_ends_with_the_route(void **state)
{
	struct match match;

	(void)state;
	begin(&match, "R\\L", "");
	assert_int_equal(match.out.asked, 1);
	assert_int_equal(match.out.limit_ms[0], 150000);
	assert_int_equal(match.out.grace_ms[0], 10000);
	assert_int_equal(match.out.lines[0].len, 0);
	assert_false(match.out.is_over);
	feed(&match, GAME_REPLY, "RR", 2);
	assert_int_equal(match.out.asked, 0);
	assert_int_equal(match.out.lines[0].len, 0);
	assert_int_equal(match.out.invalid, 0);
	assert_int_equal(match.out.ended, 1);
	assert_int_equal(match.out.reason[0], GAME_FINISHED);
	assert_true(match.out.is_over);
	end(&match);
}

static void scores_by_how_it_ended(void **state)
{
	static const struct {
		const char *route;
		int64_t points, lambdas, steps, outcome;
	} cases[] = {
		{ "", 0, 0, 0, 0 },      { "A", 0, 0, 0, 1 },
		{ "R", 49, 1, 1, 0 },    { "RA", 49, 1, 1, 1 },
		{ "RR", 73, 1, 2, 3 },   { "RRLLL", 73, 1, 2, 3 },
		{ "LLWW", -4, 0, 4, 2 }, { "RWWW", 21, 1, 4, 2 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct game_score score;
		struct match match;

		begin(&match, "R\\L\n\nWater 1\nWaterproof 3\n", "");
		feed(&match, GAME_REPLY, cases[i].route,
		     strlen(cases[i].route));
		score = score_of(&match);
		assert_int_equal(score.points, cases[i].points);
		assert_int_equal((int64_t)score.score, cases[i].points);
		assert_int_equal((int64_t)score.columns[0], cases[i].lambdas);
		assert_int_equal((int64_t)score.columns[1], cases[i].steps);
		assert_int_equal((int64_t)score.columns[2], cases[i].outcome);
		assert_int_equal(score.reason, GAME_FINISHED);
		assert_int_equal(score.rank, 1);
		end(&match);
	}
}

static void late_and_gone_have_no_points(void **state)
{
	static const struct {
		enum game_input kind;
		enum game_reason reason;
	} cases[] = {
		{ GAME_LATE, GAME_TIMED_OUT },
		{ GAME_GONE, GAME_LEFT },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct game_score score;
		struct match match;

		begin(&match, "R\\L", "");
		feed(&match, cases[i].kind, "", 0);
		assert_true(match.out.is_over);
		assert_int_equal(match.out.ended, 1);
		assert_int_equal(match.out.reason[0], cases[i].reason);
		score = score_of(&match);
		assert_int_equal(score.points, 0);
		assert_int_equal(score.reason, cases[i].reason);
		/* Whatever comes now changes nothing. */
		feed(&match, GAME_GONE, "", 0);
		assert_false(match.out.is_over);
		assert_int_equal(score_of(&match).reason, cases[i].reason);
		end(&match);
	}
}

static void tells_what_it_skipped(void **state)
{
	struct match match;

	(void)state;
	begin(&match, "R\\  L", "");
	feed(&match, GAME_REPLY, "r R\0R", 5);
	assert_int_equal(match.out.invalid, 1);
	assert_string_equal(match.out.detail[0],
			    "3 bytes that are no command were skipped");
	assert_int_equal(score_of(&match).points, 48);
	end(&match);
	/* Not what lies behind the end. */
	begin(&match, "R\\  L", "");
	feed(&match, GAME_REPLY, "RAxyz", 5);
	assert_int_equal(match.out.invalid, 0);
	end(&match);
}

static void cuts_the_route_only_when_told(void **state)
{
	static const struct {
		const char *params;
		int64_t steps, outcome;
	} cases[] = {
		{ "", 7, 1 },
		{ "route-limit=0", 7, 1 },
		{ "route-limit=1", 6, 0 },
	};
	int64_t params[GAME_PARAMS_MAX];
	struct game_error error;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct game_score score;
		struct match match;

		begin(&match, "R\\L\n###", cases[i].params);
		feed(&match, GAME_REPLY, "W?WWWWWWA", 9);
		score = score_of(&match);
		assert_int_equal((int64_t)score.columns[1], cases[i].steps);
		assert_int_equal((int64_t)score.columns[2], cases[i].outcome);
		end(&match);
	}
	assert_int_equal(
		game_params_parse(game, "route-limit=2", params, &error),
		-EINVAL);
}

/* A hall in which the robot is safe beside rocks with a long way to go. */
static char *hall(unsigned width, unsigned height)
{
	struct buf text = BUF_INIT(16 * 1024 * 1024);

	for (unsigned y = 0; y < height; y++) {
		buf_add_text(&text, y == 0 ? "#RL#" : "#  #");
		for (unsigned x = 4; x < width; x++)
			buf_add_char(&text, y < height / 2 && x * x % 7 > y % 5
						    ? "*@"[x % 2]
						    : ' ');
		buf_add_char(&text, '\n');
	}
	return buf_detach(&text);
}

/* What dump() says of TEXT after ROUTE, by single steps; the caller's. */
static char *dump_of_steps(const char *text, const char *route)
{
	struct buf out = BUF_INIT(16 * 1024 * 1024);
	struct game_error error = { "" };
	struct lambda_map map;
	struct lambda_sim sim;

	if (lambda_map_init(&map, text, strlen(text), &error) < 0)
		fail_msg("%s", error.text);
	assert_int_equal(lambda_sim_init(&sim, &map), 0);
	while (*route != '\0')
		lambda_step(&sim, *route++);
	buf_add_format(&out,
		       "status %s\nscore %lld\nlambdas %u\nsteps %lld\n"
		       "water %lld\nrazors %lld\nunder-water %lld\n",
		       lambda_status_word(sim.status),
		       (long long)lambda_score(&sim), sim.collected,
		       (long long)sim.steps, (long long)sim.water,
		       (long long)sim.razors, (long long)sim.under_water);
	lambda_rows(&sim, &out);
	lambda_sim_release(&sim);
	lambda_map_release(&map);
	return buf_detach(&out);
}

static void slices_give_the_same_as_single_steps(void **state)
{
	static const struct {
		unsigned width, height;
		size_t len;
		bool is_busy;
	} cases[] = {
		{ 12, 12, 1000, false },
		{ 40, 300, 30000, true },
		{ 1500, 1200, 40, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct buf dump = BUF_INIT(16 * 1024 * 1024);
		char *text = hall(cases[i].width, cases[i].height);
		char *route = xcalloc(cases[i].len + 1, 1), *expected;
		struct match match;

		for (size_t j = 0; j < cases[i].len; j++)
			route[j] = "DRULWSxDDUU"[j * j % 11];
		expected = dump_of_steps(text, route);
		begin(&match, text, "");
		feed(&match, GAME_REPLY, route, cases[i].len);
		assert_int_equal(match.status == GAME_BUSY, cases[i].is_busy);
		if (cases[i].is_busy)
			assert_in_range(match.nworks, 2, cases[i].len);
		assert_true(match.out.is_over);
		assert_int_equal(score_of(&match).columns[2], 0);
		game->dump(match.state, &dump);
		if (strcmp(buf_text(&dump), expected) != 0)
			fail_msg("case %zu differs", i);
		end(&match);
		free(text);
		free(route);
		free(expected);
		buf_release(&dump);
	}
}

static void a_match_may_be_dropped_while_busy(void **state)
{
	char *text = hall(300, 300);
	struct match match;

	(void)state;
	begin(&match, text, "");
	assert_int_equal(
		game->feed(match.state, 0, GAME_REPLY, "WWWW", 4, &match.out),
		GAME_BUSY);
	end(&match);
	free(text);
}

static void shows_the_mine(void **state)
{
	struct buf dump = BUF_INIT(1000);
	struct game_grid grid;
	struct match match;

	(void)state;
	begin(&match, "R\\ \n#L\n\nWater 2\nRazors 3\n", "");
	feed(&match, GAME_REPLY, "RW", 2);
	game->dump(match.state, &dump);
	assert_string_equal(buf_text(&dump),
			    "status ongoing\nscore 48\nlambdas 1\nsteps 2\n"
			    "water 2\nrazors 3\nunder-water 2\n R \n#O \n");
	assert_int_equal(game->grid(match.state, &grid), 0);
	assert_int_equal(grid.width, 3);
	assert_int_equal(grid.height, 2);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(grid.cells[i] >> 24, " R #O "[i]);
	assert_int_not_equal(grid.cells[1] & 0xffffff,
			     grid.cells[3] & 0xffffff);
	game_grid_release(&grid);
	buf_release(&dump);
	end(&match);
}

static void admits_lines_as_long_as_the_map(void **state)
{
	char *text = hall(300, 300);
	struct match match;

	(void)state;
	begin(&match, "RL", "");
	assert_int_equal(game->line_max(match.map), 65536);
	assert_int_equal(game->map_seats(match.map), 1);
	end(&match);
	begin(&match, text, "");
	assert_int_equal(game->line_max(match.map), 300 * 300 + 1024);
	end(&match);
	free(text);
}

static void enters_maps_as_they_are_or_says_why_not(void **state)
{
	static const char good[] = "R L\r\n\r\nWater 1\r\nAuthor me";
	struct game_source source = { "m.map", good, sizeof(good) - 1, "" };
	struct buf bytes = BUF_INIT(1000), small = BUF_INIT(10);
	struct game_error error = { "" };

	(void)state;
	assert_int_equal(game->map_import(&source, &bytes, &error), 0);
	assert_string_equal(buf_text(&bytes), good);
	assert_int_equal(game->map_import(&source, &small, &error), -EINVAL);
	source.data = "R  \n";
	source.len = 4;
	assert_int_equal(game->map_import(&source, &bytes, &error), -EINVAL);
	assert_non_null(strstr(error.text, "no lift"));
	buf_release(&bytes);
	buf_release(&small);
}

static void seats_one_robot(void **state)
{
	struct game_setup setup = { .seed = "0", .bot_seed = "0", .seats = 2 };
	struct game_state *made = NULL;
	struct game_error error = { "" };
	struct match match;

	(void)state;
	begin(&match, "RL", "");
	assert_int_equal(game->admit(match.map, &setup, &error), -EINVAL);
	assert_int_equal(game->create(&made, match.map, &setup, &error),
			 -EINVAL);
	assert_null(made);
	end(&match);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asks_once_and_ends_with_the_route),
		cmocka_unit_test(scores_by_how_it_ended),
		cmocka_unit_test(late_and_gone_have_no_points),
		cmocka_unit_test(tells_what_it_skipped),
		cmocka_unit_test(cuts_the_route_only_when_told),
		cmocka_unit_test(slices_give_the_same_as_single_steps),
		cmocka_unit_test(a_match_may_be_dropped_while_busy),
		cmocka_unit_test(shows_the_mine),
		cmocka_unit_test(admits_lines_as_long_as_the_map),
		cmocka_unit_test(enters_maps_as_they_are_or_says_why_not),
		cmocka_unit_test(seats_one_robot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
