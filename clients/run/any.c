/* SPDX-License-Identifier: MIT */
/* any.c - hill-run GAME: a match of any game that has no table of its own. */
#include <stdlib.h>
#include <string.h>

#include "clients/run/file.h"
#include "clients/run/play.h"
#include "clients/run/tell.h"

enum { WORD_MAP, WORD_SEED, WORD_PARAMS, PARAMS_BYTES_MAX = 4096 };

struct any {
	const char *map_path;
	struct buf file; /* the map's bytes */
	const char *seed;
	int64_t params[GAME_PARAMS_MAX];
	char **programs[GAME_SEATS_MAX]; /* each up to a "--" or the end */
	unsigned seats;
};

static bool ends_program(const char *word)
{
	return word == NULL || strcmp(word, "--") == 0;
}

static bool make(struct play *play, struct play_match *match,
		 struct referee_job *job)
{
	const struct any *any = play->context;

	match->label = xstrdup(play->game->name);
	match->seed = xstrdup(any->seed);
	job->map_name = any->map_path;
	if (play->game->is_whole_input) {
		job->input = buf_text(&any->file);
		job->input_len = any->file.len;
	}
	job->setup.seed = match->seed;
	job->setup.bot_seed = match->seed;
	job->setup.seats = any->seats;
	memcpy(job->setup.params, any->params, sizeof(any->params));
	for (unsigned seat = 0; seat < any->seats; seat++) {
		char **word = any->programs[seat];

		match->names[seat] = xstrdup(*word);
		for (; !ends_program(*word); word++)
			words_add(&match->argv[seat], *word);
		play_add_args(&match->argv[seat], job, seat, any->map_path);
	}
	return true;
}

static void moved(struct play *play, struct play_match *match,
		  const struct game_state *state)
{
	play_log_grid(play, match, state);
}

static void over(struct play *play, struct play_match *match,
		 const struct match_record *record,
		 const struct game_state *state)
{
	const struct game *game = play->game;

	play_log_grid(play, match, state);
	buf_add_format(&match->text, "%4s %4s %12s  %-9s", "Seat", "Rank",
		       "Score", "End");
	for (unsigned i = 0; i < game->ncolumns; i++)
		buf_add_format(&match->text, " %10s", game->columns[i]);
	buf_add_text(&match->text, "  Program\n");
	for (unsigned seat = 0; seat < record->nseats; seat++) {
		const struct game_score *score = &record->seats[seat].score;

		buf_add_format(&match->text, "%4u %4u %12.12g  %-9s", seat + 1,
			       score->rank, score->score,
			       game_reason_word(score->reason));
		for (unsigned i = 0; i < game->ncolumns; i++)
			buf_add_format(&match->text, " %10.12g",
				       score->columns[i]);
		buf_add_format(&match->text, "  %s\n", match->names[seat]);
	}
}

/* NAME=VALUE...; moves *WORD behind them. False: told. */
static bool parse_params(struct any *any, const struct game *game, char ***word)
{
	struct buf text = BUF_INIT(PARAMS_BYTES_MAX);
	struct game_error error = { "there are too many" };
	bool is_good;

	for (; !ends_program(**word); ++*word)
		buf_add_format(&text, " %s", **word);
	is_good =
		!text.is_failed && game_params_parse(game, buf_text(&text),
						     any->params, &error) == 0;
	buf_release(&text);
	if (!is_good)
		tell("%s", error.text);
	return is_good;
}

/* MAP SEED [NAME=VALUE...] -- PROG... [-- PROG...]...; false: told. */
static bool parse(struct any *any, const struct game *game, int argc,
		  char **argv)
{
	char **word = argv + WORD_PARAMS;

	if (argc < WORD_PARAMS) {
		tell("%s wants MAP SEED [NAME=VALUE...] -- PROG... for each "
		     "seat",
		     game->name);
		return false;
	}
	any->map_path = argv[WORD_MAP];
	any->seed = argv[WORD_SEED];
	if (game_seed_check(any->seed) < 0) {
		tell("SEED: '%.40s' is no whole number", any->seed);
		return false;
	}
	if (!parse_params(any, game, &word))
		return false;
	while (*word != NULL) {
		word++;
		if (ends_program(*word)) {
			tell("a program is missing behind a --");
			return false;
		}
		if (any->seats == game->seats_max)
			break;
		any->programs[any->seats++] = word;
		while (!ends_program(*word))
			word++;
	}
	if (*word == NULL && any->seats >= game->seats_min)
		return true;
	tell("%s is for %u to %u programs, each behind a --", game->name,
	     game->seats_min, game->seats_max);
	return false;
}

int run_any(const struct game *game, const struct run_options *options,
	    int argc, char **argv)
{
	struct any *any = xcalloc(1, sizeof(*any));
	struct play play = { .options = options,
			     .game = game,
			     .total = 1,
			     .context = any,
			     .make = make,
			     .moved = moved,
			     .over = over };
	struct game_map *map = NULL;
	int status = EXIT_BAD;

	buf_init(&any->file, LIMIT_MAP_BYTES);
	if (parse(any, game, argc, argv) &&
	    file_read_map(game, any->map_path, "", &any->file, &map)) {
		play.map = map;
		status = play_series(&play);
		if (options->is_json)
			play_print_json(&play, "matches",
					json_pack("{ss, ss}", "game",
						  game->name, "map",
						  any->map_path));
	}
	play_release(&play);
	game->map_free(map);
	buf_release(&any->file);
	free(any);
	return status;
}
