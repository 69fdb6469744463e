/* SPDX-License-Identifier: MIT */
/* rabbit.c - hill-run rabbit-runner: runs as the controller made them. */
#include <stdlib.h>
#include <string.h>

#include "clients/program/system.h"
#include "clients/run/file.h"
#include "clients/run/play.h"
#include "clients/run/rabbit_table.h"
#include "clients/run/tell.h"
#include "server/games/rabbit_runner.h"

enum { WORD_MAP, WORD_TURNS, WORD_SEED, WORD_RUNS, WORD_PROGRAM };

/* Where the runs' seeds come from. */
struct seeds {
	bool is_chain; /* each from the run before */
	bool is_range; /* first..last in turn, again and again */
	int64_t first, last;
	char text[GAME_SEED_DIGITS_MAX + 2]; /* one seed for all; or the next */
};

struct runs {
	const char *map_path;
	char **program;
	int64_t turns;
	int64_t total; /* score */
	struct seeds seeds;
};

/* The chain's first seed: from --seed, or by chance. */
static bool start_chain(struct seeds *seeds, const char *initial)
{
	char drawn[24];
	unsigned first;
	uint64_t bits;
	int rc;

	seeds->is_chain = true;
	if (initial == NULL) {
		rc = system_random(&bits, sizeof(bits));
		if (rc < 0) {
			tell("no random numbers: %s", strerror(-rc));
			return false;
		}
		(void)snprintf(drawn, sizeof(drawn), "%llu",
			       (unsigned long long)bits);
		initial = drawn;
	}
	if (rabbit_runner_first_seed(initial, &first) < 0) {
		tell("--seed: '%.40s' is no whole number", initial);
		return false;
	}
	(void)snprintf(seeds->text, sizeof(seeds->text), "%u", first);
	return true;
}

/* SEED: a number, 0 for a chain, A..B for a range. False: told. */
static bool parse_seeds(struct seeds *seeds, const char *text,
			const char *initial)
{
	const char *dots = strstr(text, "..");
	char first[32];

	if (dots != NULL && (size_t)(dots - text) < sizeof(first)) {
		(void)snprintf(first, sizeof(first), "%.*s", (int)(dots - text),
			       text);
		seeds->is_range = true;
		if (options_number(first, INT64_MIN, INT64_MAX,
				   &seeds->first) &&
		    options_number(dots + 2, seeds->first, INT64_MAX,
				   &seeds->last))
			return true;
	} else if (game_seed_check(text) == 0) {
		(void)game_seed_canonical(text, seeds->text);
		if (strcmp(seeds->text, "0") == 0)
			return start_chain(seeds, initial);
		return true;
	}
	tell("SEED: '%.40s' is no whole number, nor A..B", text);
	return false;
}

static void next_seed(const struct seeds *seeds, unsigned number, char *ret,
		      size_t size)
{
	uint64_t count = (uint64_t)seeds->last - (uint64_t)seeds->first + 1;
	uint64_t step = number - 1;
	uint64_t seed;

	if (!seeds->is_range) {
		(void)snprintf(ret, size, "%s", seeds->text);
		return;
	}
	if (count != 0)
		step %= count;
	/* Through unsigned, as the range may be wider than int64_t. */
	seed = (uint64_t)seeds->first + step;
	(void)snprintf(ret, size, "%lld", (long long)seed);
}

static bool make(struct play *play, struct play_match *match,
		 struct referee_job *job)
{
	const struct runs *runs = play->context;
	char seed[GAME_SEED_DIGITS_MAX + 2];
	struct buf label = BUF_INIT(100);

	next_seed(&runs->seeds, match->number, seed, sizeof(seed));
	match->seed = xstrdup(seed);
	buf_add_format(&label, "run %u (seed %.40s)", match->number, seed);
	match->label = buf_detach(&label);
	if (play->log != NULL)
		buf_add_format(&match->log, "Run %u, seed %s\n\n",
			       match->number, seed);
	match->names[0] = xstrdup(runs->program[0]);
	for (char **word = runs->program; *word != NULL; word++)
		words_add(&match->argv[0], *word);
	job->map_name = runs->map_path;
	job->setup.seed = match->seed;
	job->setup.bot_seed = match->seed;
	job->setup.seats = 1;
	job->setup.params[0] = runs->turns;
	play_add_args(&match->argv[0], job, 0, runs->map_path);
	return true;
}

static void log_turn(struct play *play, struct play_match *match,
		     const struct game_state *state)
{
	play_log_grid(play, match, state);
}

static void over(struct play *play, struct play_match *match,
		 const struct match_record *record,
		 const struct game_state *state)
{
	struct runs *runs = play->context;
	const struct game_score *score = &record->seats[0].score;

	runs->total += score->points;
	play_log_grid(play, match, state);
	rabbit_table_run(&match->text, match->number, match->seed,
			 score->points, score->reason);
	if (runs->seeds.is_chain)
		(void)snprintf(runs->seeds.text, sizeof(runs->seeds.text), "%u",
			       rabbit_runner_next_seed(state));
}

/* `Running: ...` names the words that matter, so that it can be repeated. */
static void print_start(const struct play *play, int argc, char **argv)
{
	const char **words = xcalloc((size_t)argc + 2, sizeof(*words));
	struct buf text = BUF_INIT(SIZE_MAX / 8);

	words[0] = "hill-run";
	words[1] = play->game->name;
	for (int i = 0; i < argc; i++)
		words[i + 2] = argv[i];
	rabbit_table_start(&text, argc + 2, words);
	if (!play->options->is_json)
		tell_result(buf_text(&text), text.len);
	buf_release(&text);
	free(words);
}

static void print_end(const struct play *play, const struct runs *runs)
{
	struct buf text = BUF_INIT(1000);

	if (play->options->is_json) {
		play_print_json(play, "runs",
				json_pack("{ss, ss, sI, sI}", "game",
					  play->game->name, "map",
					  runs->map_path, "turns",
					  (json_int_t)runs->turns, "total",
					  (json_int_t)runs->total));
		return;
	}
	rabbit_table_end(&text, runs->total);
	tell_result(buf_text(&text), text.len);
	buf_release(&text);
}

static bool parse_runs(struct runs *runs, struct play *play, int argc,
		       char **argv)
{
	int64_t count;

	if (argc <= WORD_PROGRAM) {
		tell("rabbit-runner wants MAP TURNS SEED RUNS PROG...");
		return false;
	}
	runs->map_path = argv[WORD_MAP];
	runs->program = argv + WORD_PROGRAM;
	if (!options_number(argv[WORD_TURNS], play->game->params[0].min,
			    play->game->params[0].max, &runs->turns)) {
		tell("TURNS: '%.40s' is no number from %lld to %lld",
		     argv[WORD_TURNS], (long long)play->game->params[0].min,
		     (long long)play->game->params[0].max);
		return false;
	}
	if (!options_number(argv[WORD_RUNS], 1, RUN_RUNS_MAX, &count)) {
		tell("RUNS: '%.40s' is no number from 1 to %d", argv[WORD_RUNS],
		     RUN_RUNS_MAX);
		return false;
	}
	play->total = (unsigned)count;
	return parse_seeds(&runs->seeds, argv[WORD_SEED], play->options->seed);
}

/* Whether the file that was read can be meant as a map. False: told. */
static bool check_map(const struct play *play, const struct runs *runs,
		      const struct buf *file)
{
	const struct game_setup setup = { .seats = 1,
					  .params = { runs->turns } };

	if (file->len >= 4 && memcmp(file->data, "\x89PNG", 4) == 0) {
		tell("%s: a picture (PNG) is no map of rabbit-runner",
		     runs->map_path);
		return false;
	}
	if (rabbit_runner_map_is_bare(play->map)) {
		tell("%s: the map has neither a start (s) nor an exit (e)",
		     runs->map_path);
		return false;
	}
	play_warn(play->game, play->map, &setup, runs->map_path);
	return true;
}

int run_rabbit(const struct run_options *options, int argc, char **argv)
{
	struct runs *runs = xcalloc(1, sizeof(*runs));
	struct run_options own = *options;
	struct play play = { .options = &own,
			     .game = &game_rabbit_runner,
			     .context = runs,
			     .make = make,
			     .moved = log_turn,
			     .over = over };
	struct buf file = BUF_INIT(LIMIT_MAP_BYTES);
	struct game_map *map = NULL;
	int status = EXIT_BAD;
	bool is_map = false;

	if (parse_runs(runs, &play, argc, argv) &&
	    file_read_map(play.game, runs->map_path, "", &file, &map)) {
		play.map = map;
		is_map = check_map(&play, runs, &file);
	}
	if (is_map) {
		/* A chain's next seed is known when its run is over. */
		if (runs->seeds.is_chain)
			own.parallel = 1;
		print_start(&play, argc, argv);
		status = play_series(&play);
		print_end(&play, runs);
	}
	play_release(&play);
	play.game->map_free(map);
	buf_release(&file);
	free(runs);
	return status;
}
