/* SPDX-License-Identifier: MIT */
/*
 * golden_rabbit_runner.c - a case of rabbit-runner: one run, or a chain of
 * them in run1/, run2/, ...; what the controller sent, the score, the final
 * state of each, and the table that it printed at the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/run/rabbit_table.h"
#include "server/games/game.h"
#include "server/games/rabbit_runner.h"
#include "tests/golden/golden.h"

enum { WORD_BYTES = 64 };

/* params.txt, and what the chain has come to. */
struct rabbit_case {
	const char *dir;
	const struct game_map *map;
	char turns[WORD_BYTES];
	char seed[WORD_BYTES]; /* the controller's argument */
	char runs[WORD_BYTES];
	char initial_seed[WORD_BYTES]; /* of a chain */
	char run_seed[WORD_BYTES];     /* of the run in play */
	int64_t total;
	struct buf table;
};

/* The text after `NAME ` on a line of its own; "" when there is none. */
static void find_word(const char *text, const char *name, char *ret)
{
	size_t len = strlen(name);

	ret[0] = '\0';
	while (text != NULL && *text != '\0') {
		if (strncmp(text, name, len) == 0 && text[len] == ' ') {
			(void)snprintf(ret, WORD_BYTES, "%.*s",
				       (int)strcspn(text + len + 1, "\n"),
				       text + len + 1);
			return;
		}
		text = strchr(text, '\n');
		if (text != NULL)
			text++;
	}
}

/* Feed the replies; past their end the controller reads empty lines. */
static void play(struct game_state *state, const struct buf *replies,
		 struct buf *sent)
{
	const char *at = buf_text(replies);
	const char *end = at + replies->len;
	struct game_out out;

	game_out_init(&out, GOLDEN_FILE_BYTES);
	(void)game_rabbit_runner.begin(state, &out);
	while (!out.is_over) {
		const char *lf = memchr(at, '\n', (size_t)(end - at));
		const char *next = lf == NULL ? end : lf + 1;
		size_t len = (size_t)((lf == NULL ? end : lf) - at);

		buf_add(sent, buf_text(&out.lines[0]), out.lines[0].len);
		game_out_clear(&out);
		(void)game_rabbit_runner.feed(state, 0, GAME_REPLY, at, len,
					      &out);
		at = next;
	}
	buf_add(sent, buf_text(&out.lines[0]), out.lines[0].len);
	game_out_release(&out);
}

/* Compare one run that is over with what DIR holds. */
static bool is_as_recorded(struct rabbit_case *game,
			   const struct game_state *state, const char *dir,
			   const struct buf *sent, unsigned number,
			   struct golden_report *report)
{
	struct buf text = BUF_INIT(GOLDEN_FILE_BYTES);
	struct game_score score;
	bool is_same;

	game_rabbit_runner.result(state, &score);
	game->total += score.points;
	rabbit_table_run(&game->table, number, game->run_seed, score.points,
			 score.reason);
	game_score_format(score.score, &text);
	buf_add_char(&text, '\n');
	is_same = golden_same_file(report, dir, "sent.txt", buf_text(sent),
				   sent->len) &&
		  golden_same_file(report, dir, "score.txt", buf_text(&text),
				   text.len);
	buf_clear(&text);
	game_rabbit_runner.dump(state, &text);
	is_same = is_same && golden_same_file(report, dir, "final.txt",
					      buf_text(&text), text.len);
	buf_release(&text);
	return is_same;
}

/* Play the run in folder DIR; true when all of it is as recorded. */
static bool check_run(struct rabbit_case *game, const char *dir,
		      unsigned number, struct golden_report *report)
{
	struct buf replies = BUF_INIT(GOLDEN_FILE_BYTES);
	struct buf sent = BUF_INIT(GOLDEN_FILE_BYTES);
	struct game_setup setup = { .seed = game->run_seed,
				    .bot_seed = game->run_seed,
				    .seats = 1 };
	struct game_error error = { "" };
	struct game_state *state = NULL;
	bool is_same = false;

	setup.params[0] = strtoll(game->turns, NULL, 10);
	if (golden_need(report, dir, "replies.txt", &replies)) {
		if (game_rabbit_runner.create(&state, game->map, &setup,
					      &error) == 0) {
			play(state, &replies, &sent);
			is_same = is_as_recorded(game, state, dir, &sent,
						 number, report);
			/* with seed 0 the generator runs on */
			if (game->initial_seed[0] != '\0')
				(void)snprintf(game->run_seed, WORD_BYTES, "%u",
					       rabbit_runner_next_seed(state));
		} else {
			golden_fail(report, dir, "create: %s", error.text);
		}
	}
	game_rabbit_runner.free(state);
	buf_release(&replies);
	buf_release(&sent);
	return is_same;
}

/* All runs, then the table. */
static void check_runs(struct rabbit_case *game, struct golden_report *report)
{
	const char *const argv[] = { "controller.py", "map.txt",  game->turns,
				     game->seed,      game->runs, "./bot" };
	unsigned nruns = (unsigned)strtoul(game->runs, NULL, 10);
	char dir[GOLDEN_PATH_BYTES];
	unsigned first;

	(void)snprintf(game->run_seed, WORD_BYTES, "%s", game->seed);
	if (game->initial_seed[0] != '\0') {
		if (rabbit_runner_first_seed(game->initial_seed, &first) < 0) {
			golden_fail(report, game->dir, "bad initial_seed");
			return;
		}
		(void)snprintf(game->run_seed, WORD_BYTES, "%u", first);
	}
	rabbit_table_start(&game->table, 6, argv);
	for (unsigned i = 1; i <= nruns; i++) {
		(void)snprintf(dir, sizeof(dir), "%s", game->dir);
		if (nruns > 1)
			(void)snprintf(dir, sizeof(dir), "%s/run%u", game->dir,
				       i);
		if (!check_run(game, dir, i, report))
			return;
	}
	rabbit_table_end(&game->table, game->total);
	if (golden_same_file(report, game->dir, "stdout.txt",
			     buf_text(&game->table), game->table.len))
		golden_pass(report);
}

void golden_rabbit_runner(const char *dir, struct golden_report *report)
{
	struct rabbit_case game = { .dir = dir,
				    .table = BUF_INIT(GOLDEN_FILE_BYTES) };
	struct buf params = BUF_INIT(GOLDEN_FILE_BYTES);
	struct buf data = BUF_INIT(GOLDEN_FILE_BYTES);
	struct game_source source = { .name = "map.txt", .options = "" };
	struct game_map *map = NULL;
	struct game_error error = { "" };

	if (golden_need(report, dir, "params.txt", &params) &&
	    golden_need(report, dir, "map.txt", &data)) {
		find_word(buf_text(&params), "turns", game.turns);
		find_word(buf_text(&params), "seed", game.seed);
		find_word(buf_text(&params), "runs", game.runs);
		find_word(buf_text(&params), "initial_seed", game.initial_seed);
		source.data = buf_text(&data);
		source.len = data.len;
		if (game_rabbit_runner.map_new(&map, &source, &error) == 0) {
			game.map = map;
			check_runs(&game, report);
		} else {
			golden_fail(report, dir, "map.txt: %s", error.text);
		}
	}
	game_rabbit_runner.map_free(map);
	buf_release(&game.table);
	buf_release(&params);
	buf_release(&data);
}
