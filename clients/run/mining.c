/* SPDX-License-Identifier: MIT */
/* mining.c - hill-run lambda-mining: one program down several mines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/run/file.h"
#include "clients/run/play.h"
#include "clients/run/tell.h"
#include "server/games/lambda_mining.h"

enum { COLUMN_LAMBDAS, COLUMN_STEPS };

struct mine {
	const char *path;
	struct buf file; /* what the program reads */
	struct game_map *map;
};

struct mines {
	struct mine *mines; /* owned */
	unsigned count;
	char **program;
	int64_t total;
	int64_t params[GAME_PARAMS_MAX];
};

static bool make(struct play *play, struct play_match *match,
		 struct referee_job *job)
{
	const struct mines *mines = play->context;
	const struct mine *mine = &mines->mines[match->number - 1];

	match->seed = xstrdup("0");
	match->label = xstrdup(file_base_name(mine->path));
	match->names[0] = xstrdup(mines->program[0]);
	for (char **word = mines->program; *word != NULL; word++)
		words_add(&match->argv[0], *word);
	job->map = mine->map;
	job->map_name = mine->path;
	job->input = buf_text(&mine->file);
	job->input_len = mine->file.len;
	job->setup.seed = match->seed;
	job->setup.bot_seed = match->seed;
	job->setup.seats = 1;
	memcpy(job->setup.params, mines->params, sizeof(mines->params));
	return true;
}

/* How it went: the mine's own word, or why nothing counts. */
static void add_status(const struct game *game, const struct game_score *score,
		       const struct game_state *state, struct buf *out)
{
	struct buf dump = BUF_INIT(LIMIT_MAP_BYTES + 4096);
	char word[16] = "";

	if (score->reason == GAME_FINISHED) {
		game->dump(state, &dump);
		(void)sscanf(buf_text(&dump), "status %15s", word);
	}
	buf_add_format(out, " %-9s",
		       word[0] != '\0' ? word
				       : game_reason_word(score->reason));
	buf_release(&dump);
}

static void over(struct play *play, struct play_match *match,
		 const struct match_record *record,
		 const struct game_state *state)
{
	struct mines *mines = play->context;
	const struct game_score *score = &record->seats[0].score;

	mines->total += score->points;
	buf_add_format(&match->text, "%-24s %10lld", match->label,
		       (long long)score->points);
	add_status(play->game, score, state, &match->text);
	buf_add_format(&match->text, " %8.0f %10.0f\n",
		       score->columns[COLUMN_LAMBDAS],
		       score->columns[COLUMN_STEPS]);
	play_log_grid(play, match, state);
}

static void print_start(const struct play *play)
{
	struct buf text = BUF_INIT(200);

	if (play->options->is_json)
		return;
	buf_add_format(&text, "%-24s %10s %-9s %8s %10s\n", "Map", "Score",
		       "Status", "Lambdas", "Steps");
	tell_result(buf_text(&text), text.len);
	buf_release(&text);
}

static void print_end(const struct play *play, const struct mines *mines)
{
	struct buf text = BUF_INIT(200);

	if (play->options->is_json) {
		play_print_json(play, "maps",
				json_pack("{ss, sI}", "game", play->game->name,
					  "total", (json_int_t)mines->total));
		return;
	}
	buf_add_format(&text, "Total Score: %lld\n", (long long)mines->total);
	tell_result(buf_text(&text), text.len);
	buf_release(&text);
}

/* MAP... -- PROG...; false: told. */
static bool parse_mines(struct mines *mines, const struct game *game,
			const struct run_options *options, int argc,
			char **argv)
{
	struct game_error error;
	int count = 0;

	while (count < argc && strcmp(argv[count], "--") != 0)
		count++;
	if (count == 0 || count + 1 >= argc) {
		tell("lambda-mining wants MAP... -- PROG...");
		return false;
	}
	if (game_params_parse(game,
			      options->is_route_limited ? "route-limit=1" : "",
			      mines->params, &error) < 0) {
		tell("%s", error.text);
		return false;
	}
	mines->program = argv + count + 1;
	mines->mines = xcalloc((size_t)count, sizeof(*mines->mines));
	for (int i = 0; i < count; i++) {
		struct mine *mine = &mines->mines[mines->count++];

		mine->path = argv[i];
		buf_init(&mine->file, LIMIT_MAP_BYTES);
		if (!file_read_map(game, mine->path, "", &mine->file,
				   &mine->map))
			return false;
	}
	return true;
}

int run_mining(const struct run_options *options, int argc, char **argv)
{
	struct mines mines = { 0 };
	struct play play = { .options = options,
			     .game = &game_lambda_mining,
			     .context = &mines,
			     .make = make,
			     .over = over };
	int status = EXIT_BAD;

	if (parse_mines(&mines, play.game, options, argc, argv)) {
		play.total = mines.count;
		print_start(&play);
		status = play_series(&play);
		print_end(&play, &mines);
	}
	play_release(&play);
	for (unsigned i = 0; i < mines.count; i++) {
		play.game->map_free(mines.mines[i].map);
		buf_release(&mines.mines[i].file);
	}
	free(mines.mines);
	return status;
}
