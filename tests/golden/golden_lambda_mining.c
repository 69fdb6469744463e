/* SPDX-License-Identifier: MIT */
/*
 * golden_lambda_mining.c - recorded runs of a mine.
 *
 * A case: map.txt, route.txt, expected.json (status, score, lambdas, steps),
 * final.txt (the mine after the last step), perhaps trace.txt: for each step
 * `= k command status score lambdas water under-water razors` and the mine.
 * The route goes through the engine as a reply does, and where there is a
 * trace, command by command through the mine as well.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "server/games/game.h"
#include "server/games/lambda_internal.h"
#include "server/games/lambda_mining.h"
#include "tests/golden/golden.h"

static const struct game *const game = &game_lambda_mining;

struct run {
	const char *dir;
	struct golden_report *report;
	struct buf map, route, expected;
};

/* ---- through the engine ---- */

/* Start of line COUNT (from 0) of TEXT; its end when there are fewer. */
static const char *skip_lines(const char *text, unsigned count)
{
	while (count-- > 0) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return text;
}

/* Whether a dump and the scores are what expected.json says. */
static bool same_figures(const struct run *run, const char *dump,
			 const struct game_score *score)
{
	const char *status;
	json_int_t points, lambdas, steps;
	char expected[160], got[200];
	json_error_t error;
	json_t *json = json_loadb(buf_text(&run->expected), run->expected.len,
				  0, &error);

	if (json == NULL ||
	    json_unpack_ex(json, &error, 0, "{s:s, s:I, s:I, s:I}", "status",
			   &status, "score", &points, "lambdas", &lambdas,
			   "steps", &steps) < 0) {
		golden_fail(run->report, run->dir, "expected.json: %s",
			    error.text);
		json_decref(json);
		return false;
	}
	(void)snprintf(expected, sizeof(expected),
		       "status %s\nscore %lld\nlambdas %lld\nsteps %lld\n"
		       "points %lld\n",
		       status, (long long)points, (long long)lambdas,
		       (long long)steps, (long long)points);
	(void)snprintf(got, sizeof(got), "%.*spoints %lld\n",
		       (int)(skip_lines(dump, 4) - dump), dump,
		       (long long)score->points);
	json_decref(json);
	return golden_same_text(run->report, run->dir, "expected.json",
				expected, strlen(expected), got, strlen(got));
}

static bool play(const struct run *run, struct game_state *state)
{
	struct buf dump = BUF_INIT(GOLDEN_FILE_BYTES);
	struct game_score score;
	struct game_out out;
	const char *rows;
	bool is_same;

	game_out_init(&out, LIMIT_OUTPUT_BYTES);
	game_settle(game, state, game->begin(state, &out), &out);
	game_out_clear(&out);
	game_settle(game, state,
		    game->feed(state, 0, GAME_REPLY, buf_text(&run->route),
			       run->route.len, &out),
		    &out);
	game->dump(state, &dump);
	game->result(state, &score);
	rows = skip_lines(buf_text(&dump), 7);
	is_same = same_figures(run, buf_text(&dump), &score) &&
		  golden_same_file(run->report, run->dir, "final.txt", rows,
				   strlen(rows));
	if (is_same && !out.is_over) {
		golden_fail(run->report, run->dir, "the match goes on");
		is_same = false;
	}
	game_out_release(&out);
	buf_release(&dump);
	return is_same;
}

static bool play_engine(const struct run *run)
{
	struct game_source source = { .name = "map.txt",
				      .data = buf_text(&run->map),
				      .len = run->map.len,
				      .options = "" };
	struct game_setup setup = { .seed = "0", .bot_seed = "0", .seats = 1 };
	struct game_error error;
	struct game_map *map = NULL;
	struct game_state *state = NULL;
	bool is_same = false;

	if (game->map_new(&map, &source, &error) < 0 ||
	    game->create(&state, map, &setup, &error) < 0)
		golden_fail(run->report, run->dir, "map.txt: %s", error.text);
	else
		is_same = play(run, state);
	game->free(state);
	game->map_free(map);
	return is_same;
}

/* ---- step by step ---- */

static void add_block(const struct lambda_sim *sim, unsigned step, char command,
		      struct buf *out)
{
	buf_add_format(out, "= %u %c %s %lld %u %lld %lld %lld\n", step,
		       command, lambda_status_word(sim->status),
		       (long long)lambda_score(sim), sim->collected,
		       (long long)sim->water, (long long)sim->under_water,
		       (long long)sim->razors);
	lambda_rows(sim, out);
}

static bool play_trace(const struct run *run)
{
	struct buf trace = BUF_INIT(GOLDEN_FILE_BYTES);
	const char *route = buf_text(&run->route);
	struct game_error error;
	struct lambda_map map;
	struct lambda_sim sim;
	unsigned step = 0;
	bool is_same = false;

	if (lambda_map_init(&map, buf_text(&run->map), run->map.len, &error) <
	    0) {
		golden_fail(run->report, run->dir, "map.txt: %s", error.text);
		return false;
	}
	if (lambda_sim_init(&sim, &map) < 0) {
		golden_fail(run->report, run->dir, "no memory");
		goto out;
	}
	add_block(&sim, step, '-', &trace);
	for (; *route != '\0' && sim.status == LAMBDA_ONGOING; route++) {
		if (!lambda_is_command(*route))
			continue;
		lambda_step(&sim, *route);
		add_block(&sim, ++step, *route, &trace);
	}
	is_same = golden_same_file(run->report, run->dir, "trace.txt",
				   buf_text(&trace), trace.len);
	lambda_sim_release(&sim);
out:
	lambda_map_release(&map);
	buf_release(&trace);
	return is_same;
}

void golden_lambda_mining(const char *dir, struct golden_report *report)
{
	struct run run = {
		.dir = dir,
		.report = report,
		.map = BUF_INIT(GOLDEN_FILE_BYTES),
		.route = BUF_INIT(GOLDEN_FILE_BYTES),
		.expected = BUF_INIT(GOLDEN_FILE_BYTES),
	};

	if (golden_need(report, dir, "map.txt", &run.map) &&
	    golden_need(report, dir, "route.txt", &run.route) &&
	    golden_need(report, dir, "expected.json", &run.expected) &&
	    play_engine(&run) &&
	    (!golden_has_file(dir, "trace.txt") || play_trace(&run)))
		golden_pass(report);
	buf_release(&run.map);
	buf_release(&run.route);
	buf_release(&run.expected);
}
