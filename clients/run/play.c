/* SPDX-License-Identifier: MIT */
/* play.c - a series of matches: their making, their order, their end. */
#include "clients/run/play.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/run/hear.h"
#include "clients/run/show.h"
#include "clients/run/tell.h"

enum {
	TEXT_BYTES_MAX = 1024 * 1024,
	PATH_BYTES = 8192,
};

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
	stop_signal = number;
}

const volatile sig_atomic_t *play_catch_signals(void)
{
	program_catch_signals(on_signal);
	return &stop_signal;
}

bool play_folder(struct play_match *match, unsigned seat)
{
	const char *base = getenv("TMPDIR");
	struct buf path = BUF_INIT(PATH_BYTES);
	char *folder;

	if (match->folders[seat] != NULL)
		return true;
	buf_add_format(&path, "%s/hill-run-XXXXXX",
		       base != NULL && base[0] == '/' ? base : "/tmp");
	folder = buf_detach(&path);
	if (mkdtemp(folder) == NULL) {
		tell("cannot make %s: %s", folder, strerror(errno));
		free(folder);
		return false;
	}
	match->folders[seat] = folder;
	return true;
}

/* Where the standard error of SEAT goes. */
static bool place_errors(const struct play *play, struct play_match *match,
			 unsigned seat, struct referee_player *player)
{
	const struct run_options *options = play->options;
	struct buf path = BUF_INIT(PATH_BYTES);

	player->is_stderr_shared = options->is_stderr_shared;
	if (options->is_stderr_shared)
		return true;
	if (options->stderr_dir != NULL)
		buf_add_format(&path, "%s/%04u-%u.log", options->stderr_dir,
			       match->file_number, seat + 1);
	else if (play_folder(match, seat))
		buf_add_format(&path, "%s/err.log", match->folders[seat]);
	else
		return false;
	match->log_paths[seat] = buf_detach(&path);
	player->log_path = match->log_paths[seat];
	return true;
}

static void remove_folders(const struct play_match *match)
{
	for (unsigned i = 0; i < GAME_SEATS_MAX; i++) {
		if (match->folders[i] != NULL)
			(void)keeper_remove_folder(match->folders[i]);
	}
}

static bool make_match(struct play *play, struct play_match *match,
		       struct referee_job *job)
{
	if (!play->make(play, match, job))
		return false;
	for (unsigned i = 0; i < job->setup.seats; i++) {
		struct referee_player *player = &job->players[i];

		if (!place_errors(play, match, i, player))
			return false;
		player->name = match->names[i];
		player->argv = match->argv[i].words;
		player->folder = match->folders[i];
	}
	return true;
}

static bool next(void *context, struct referee_job *job)
{
	struct play *play = context;
	struct play_match *match;

	if (play->started == play->total || play->is_broken)
		return false;
	match = xcalloc(1, sizeof(*match));
	play->matches[play->started++] = match;
	match->number = play->started;
	match->file_number = match->number;
	buf_init(&match->text, TEXT_BYTES_MAX);
	buf_init(&match->log, SIZE_MAX / 8);
	job->game = play->game;
	job->map = play->map;
	job->limits = options_limits(play->options, play->game);
	job->context = match;
	if (make_match(play, match, job))
		return true;
	remove_folders(match);
	match->is_done = true;
	play->is_broken = true;
	return false;
}

void play_add_args(struct words *argv, const struct referee_job *job,
		   unsigned seat, const char *file)
{
	static const char mark[] = "@"; /* a name may hold blanks */
	struct buf args = BUF_INIT(PATH_BYTES);
	char *word;
	char *next;

	if (job->game->args != NULL)
		job->game->args(job->map, &job->setup, seat, mark, &args);
	for (word = args.data; word != NULL; word = next) {
		next = strchr(word, ' ');
		if (next != NULL)
			*next++ = '\0';
		words_add(argv, strcmp(word, mark) == 0 ? file : word);
	}
	buf_release(&args);
}

void play_log_grid(const struct play *play, struct play_match *match,
		   const struct game_state *state)
{
	struct game_grid grid;

	if (play->log == NULL || game_grid(play->game, state, &grid) < 0)
		return;
	film_add_grid(&grid, &match->log);
	game_grid_release(&grid);
}

/* Print what is next in order: of the first that still plays its log. */
static void print_in_order(struct play *play)
{
	while (play->printed < play->started) {
		struct play_match *match = play->matches[play->printed];

		if (play->log != NULL && match->log.len > 0) {
			(void)fwrite(match->log.data, 1, match->log.len,
				     play->log);
			buf_clear(&match->log);
		}
		if (match->text.len > 0 && !play->options->is_json)
			tell_result(match->text.data, match->text.len);
		buf_clear(&match->text);
		if (!match->is_done)
			return;
		buf_release(&match->log);
		play->printed++;
	}
}

static void moved(void *context, const struct referee_job *job,
		  const struct game_state *state)
{
	struct play *play = context;
	struct play_match *match = job->context;

	match->turns++;
	if (play->moved != NULL)
		play->moved(play, match, state);
	print_in_order(play);
}

static void over(void *context, const struct referee_job *job,
		 const struct match_record *record,
		 const struct game_state *state)
{
	struct play *play = context;
	struct play_match *match = job->context;

	match->is_done = true;
	match->is_played = record != NULL && !record->is_void;
	if (match->is_played) {
		hear_over(match, record);
		play->over(play, match, record, state);
		play->is_broken |= !show_match(play, match, job, record);
		if (play->options->is_json)
			match->json = hear_json(match, record);
	} else if (record != NULL) {
		/* Our fault: what it came to says nothing about a program. */
		tell("%s: the match is void: %s", match->label,
		     record->void_reason);
		play->is_broken = true;
	} else if (play->is_stopped_told && state != NULL) {
		play->over(play, match, NULL, state);
	} else if (stop_signal == 0) {
		tell("%s: the match cannot be made", match->label);
		play->is_broken = true;
	}
	print_in_order(play);
}

static void idle(void *context)
{
	struct play *play = context;
	struct buf line = BUF_INIT(TEXT_BYTES_MAX);
	unsigned done = 0;

	for (unsigned i = 0; i < play->started; i++)
		done += play->matches[i]->is_done;
	buf_add_format(&line, "%u of %u done", done, play->total);
	for (unsigned i = 0; i < play->started; i++) {
		const struct play_match *match = play->matches[i];

		if (!match->is_done)
			buf_add_format(&line, "; %s: turn %lld", match->label,
				       (long long)match->turns);
	}
	tell_progress(buf_text(&line));
	buf_release(&line);
}

static void told(void *context, const struct referee_job *job, unsigned seat,
		 const char *line)
{
	const struct play *play = context;

	if (!play->is_fault_untold)
		hear_word(job->context, seat, job->setup.seats, line);
}

static void noticed(void *context, const struct referee_job *job, unsigned seat,
		    const char *text)
{
	(void)context;
	hear_hint(job->context, seat, job->setup.seats, text);
}

static void ended(void *context, const struct referee_job *job, unsigned seat,
		  const struct keeper_status *status, bool is_early)
{
	struct play *play = context;
	struct play_match *match = job->context;

	if (status != NULL) {
		match->has_status[seat] = true;
		match->status[seat] = *status;
	}
	if (stop_signal == 0 && hear_end(match, seat, job->setup.seats,
					 is_early, job->game->is_whole_input))
		play->has_failed = true;
}

static bool open_log(struct play *play)
{
	const struct run_options *options = play->options;

	if (options->stderr_dir != NULL &&
	    mkdir(options->stderr_dir, 0777) < 0 && errno != EEXIST) {
		tell("cannot make %s: %s", options->stderr_dir,
		     strerror(errno));
		return false;
	}
	if (options->log_path == NULL)
		return true;
	play->log = fopen(options->log_path, "we");
	if (play->log == NULL)
		tell("cannot write %s: %s", options->log_path, strerror(errno));
	return play->log != NULL;
}

static bool close_log(struct play *play)
{
	bool is_whole;

	if (play->log == NULL)
		return true;
	is_whole = ferror(play->log) == 0;
	is_whole &= fclose(play->log) == 0;
	play->log = NULL;
	if (!is_whole)
		tell("cannot write all of %s", play->options->log_path);
	return is_whole;
}

int play_series(struct play *play)
{
	const struct referee_hooks hooks = {
		.context = play,
		.next = next,
		.moved = moved,
		.told = told,
		.noticed = noticed,
		.ended = ended,
		.over = over,
		.idle = idle,
	};
	unsigned parallel = play->options->parallel;
	int rc;

	if (parallel > play->total)
		parallel = play->total;
	play->matches = xcalloc(play->total, sizeof(struct play_match *));
	if (!open_log(play))
		return EXIT_BAD;
	tell_set_progress(!play->options->is_quiet);
	(void)play_catch_signals();
	rc = referee_run(&hooks, parallel, &stop_signal);
	tell_progress("");
	if (rc < 0)
		tell("cannot wait for programs: %s", strerror(-rc));
	if (!close_log(play) || rc < 0 || play->is_broken)
		return EXIT_BAD;
	if (stop_signal != 0)
		return 128 + stop_signal;
	return play->has_failed ? EXIT_DIED : EXIT_PLAYED;
}

static void free_match(struct play_match *match)
{
	if (match == NULL)
		return;
	for (unsigned i = 0; i < GAME_SEATS_MAX; i++) {
		words_release(&match->argv[i]);
		free(match->names[i]);
		free(match->folders[i]);
		free(match->log_paths[i]);
	}
	buf_release(&match->text);
	buf_release(&match->log);
	json_decref(match->json);
	free(match->label);
	free(match->seed);
	free(match);
}

void play_warn(const struct game *game, const struct game_map *map,
	       const struct game_setup *setup, const char *path)
{
	struct game_error error = { .text = "" };

	if (game_admit(game, map, setup, &error) < 0)
		tell("%s: a ladder would refuse this: %s", path, error.text);
}

void play_release(struct play *play)
{
	for (unsigned i = 0; play->matches != NULL && i < play->total; i++)
		free_match(play->matches[i]);
	free(play->matches);
	play->matches = NULL;
}

void play_print_json(const struct play *play, const char *name, json_t *result)
{
	json_t *list = json_array();
	char *text;

	for (unsigned i = 0; i < play->started; i++) {
		if (play->matches[i]->json != NULL)
			(void)json_array_append(list, play->matches[i]->json);
	}
	(void)json_object_set_new(result, name, list);
	text = json_dumps(result, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
	json_decref(result);
	if (text == NULL)
		return;
	tell_result(text, strlen(text));
	tell_result("\n", 1);
	free(text);
}
