/* SPDX-License-Identifier: MIT */
/* league.c - hill-run league: the matches of a plan, and its state file. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "clients/run/file.h"
#include "clients/run/folder.h"
#include "clients/run/league_report.h"
#include "clients/run/league_state.h"
#include "clients/run/play.h"
#include "clients/run/tell.h"
#include "server/match/digest.h"

enum {
	TEXT_BYTES_MAX = 16 * 1024 * 1024,
	STATE_BYTES_MAX = 1024 * 1024 * 1024,
	KEY_BYTES = 32,
};

/* In a match's order; far apart for the eye, none is white or black. */
static const char default_colours[] =
	"255,0,0;0,255,0;0,0,255;255,255,0;255,0,255;0,255,255;255,128,0;"
	"128,0,255";

static const char name_characters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";

struct arena {
	const char *path; /* as given; borrowed */
	struct buf file;  /* as bots get it */
	struct game_map *map;
};

struct league {
	const struct run_options *options; /* borrowed */
	const struct game *game;
	struct league_plan plan;
	struct words paths; /* of the maps */
	struct arena maps[LEAGUE_MAPS_MAX];
	const char *map_names[LEAGUE_MAPS_MAX];
	char *bots[LEAGUE_BOTS_MAX]; /* names; owned */
	struct words commands[LEAGUE_BOTS_MAX];
	int reference; /* -1: the best */
	int64_t params[GAME_PARAMS_MAX];
	json_t *head; /* owned */
	char *state_path;
	int state_fd;
	struct league_row *rows; /* owned; by match number */
	unsigned total;
	unsigned *todo; /* owned; numbers of matches to play */
	unsigned ntodo;
	bool is_broken; /* no further match is started; told */
};

/* ---- a match ---- */

static bool make_seat(const struct league *league, struct play_match *match,
		      const struct referee_job *job, unsigned seat,
		      const struct arena *arena, unsigned bot)
{
	const struct words *command = &league->commands[bot];
	struct words *argv = &match->argv[seat];

	match->names[seat] = xstrdup(league->bots[bot]);
	for (size_t i = 0; i < command->count; i++)
		words_add(argv, command->words[i]);
	if (!league->game->is_shared) {
		play_add_args(argv, job, seat, arena->path);
		return true;
	}
	/* Many programs at once, that may leave files behind. */
	folder_make_absolute(argv);
	play_add_args(argv, job, seat, file_base_name(arena->path));
	return play_folder(match, seat) &&
	       folder_write(match->folders[seat], file_base_name(arena->path),
			    arena->file.data, arena->file.len);
}

static bool make(struct play *play, struct play_match *match,
		 struct referee_job *job)
{
	struct league *league = play->context;
	struct league_match of =
		league_match(&league->plan, league->todo[match->number - 1]);
	const struct arena *arena = &league->maps[of.map];
	struct buf text = BUF_INIT(400);

	if (league->is_broken)
		return false;
	buf_add_i64(&text, of.seed);
	match->seed = xstrdup(buf_text(&text));
	buf_clear(&text);
	buf_add_format(&text, "match %u (%.100s, seed %s)", of.number + 1,
		       league->map_names[of.map], match->seed);
	match->label = buf_detach(&text);
	job->map = arena->map;
	job->map_name = league->map_names[of.map];
	if (league->game->is_whole_input) {
		job->input = buf_text(&arena->file);
		job->input_len = arena->file.len;
	}
	job->setup.seed = match->seed;
	job->setup.bot_seed = match->seed;
	job->setup.seats = league->plan.seats;
	memcpy(job->setup.params, league->params, sizeof(league->params));
	for (unsigned i = 0; i < league->plan.seats; i++) {
		job->players[i].is_chdir = league->game->is_shared;
		if (!make_seat(league, match, job, i, arena, of.bots[i]))
			return false;
	}
	return true;
}

/* All of it or, when the disk is full, nothing: what is torn goes. */
static bool append(const struct league *league, const struct buf *line)
{
	off_t end = lseek(league->state_fd, 0, SEEK_END);
	ssize_t count = write(league->state_fd, line->data, line->len);

	if (count == (ssize_t)line->len)
		return true;
	tell("cannot write %s: %s", league->state_path,
	     strerror(count < 0 ? errno : ENOSPC));
	if (count > 0)
		(void)ftruncate(league->state_fd, end);
	return false;
}

static bool keep(struct league *league, const struct league_match *of,
		 const struct league_row *row)
{
	struct buf line = BUF_INIT(TEXT_BYTES_MAX);
	bool is_kept;

	league_state_add_line(
		league_state_json(of, league->plan.seats, row,
				  league->map_names[of->map],
				  (const char *const *)league->bots),
		&line);
	is_kept = append(league, &line);
	buf_release(&line);
	return is_kept;
}

static void over(struct play *play, struct play_match *match,
		 const struct match_record *record,
		 const struct game_state *state)
{
	struct league *league = play->context;
	struct league_match of =
		league_match(&league->plan, league->todo[match->number - 1]);
	struct league_row row = { .is_played = true };

	(void)state;
	for (unsigned i = 0; i < record->nseats; i++) {
		const struct match_record_seat *from = &record->seats[i];
		struct league_seat *seat = &row.seats[i];

		/* A command that cannot be run says nothing about a bot. */
		if (match->has_status[i] &&
		    match->status[i].end == KEEPER_NOT_STARTED)
			league->is_broken = true;
		seat->score = from->score.score;
		seat->points = from->score.points;
		seat->rank = from->score.rank;
		seat->reason = from->score.reason;
		memcpy(seat->faults, from->faults, sizeof(seat->faults));
		seat->max_us = from->max_us;
	}
	if (!league->is_broken && !keep(league, &of, &row))
		league->is_broken = true;
	if (!league->is_broken)
		league->rows[of.number] = row;
}

/* ---- what to play ---- */

static bool add_bot(struct league *league, const char *text)
{
	const char *sign = strchr(text, '=');
	unsigned number = league->plan.nbots;

	if (sign == NULL || sign == text ||
	    strspn(text, name_characters) != (size_t)(sign - text)) {
		tell("--bot: '%.60s' is no NAME=COMMAND; a name has letters, "
		     "digits, '.', '_', '+' and '-'",
		     text);
		return false;
	}
	if (number == LEAGUE_BOTS_MAX) {
		tell("more than %d bots", LEAGUE_BOTS_MAX);
		return false;
	}
	league->bots[number] = strndup(text, (size_t)(sign - text));
	league->plan.nbots++;
	for (unsigned i = 0; i < number; i++) {
		if (strcmp(league->bots[i], league->bots[number]) == 0) {
			tell("--bot: two are called %s", league->bots[i]);
			return false;
		}
	}
	if (words_split(&league->commands[number], sign + 1) < 0 ||
	    league->commands[number].count == 0) {
		tell("--bot %s: the command is missing, or a quote is not "
		     "closed",
		     league->bots[number]);
		return false;
	}
	return true;
}

static bool take_bots(struct league *league)
{
	const struct run_options *options = league->options;

	for (unsigned i = 0; i < options->nbot_texts; i++) {
		if (!add_bot(league, options->bot_texts[i]))
			return false;
	}
	if (league->plan.nbots == 0) {
		tell("league wants bots: --bot NAME=COMMAND, several times");
		return false;
	}
	if (options->against == NULL)
		return true;
	for (unsigned i = 0; i < league->plan.nbots; i++) {
		if (strcmp(league->bots[i], options->against) == 0) {
			league->reference = (int)i;
			return true;
		}
	}
	league->reference = -1;
	if (strcmp(options->against, "best") != 0)
		tell("--against: no bot is called %.60s", options->against);
	return strcmp(options->against, "best") == 0;
}

static bool take_seeds(struct league_plan *plan, const char *text)
{
	const char *dots = strstr(text, "..");
	char first[32];

	if (dots == NULL &&
	    options_number(text, INT64_MIN, INT64_MAX, &plan->first_seed)) {
		plan->last_seed = plan->first_seed;
		return true;
	}
	if (dots != NULL && (size_t)(dots - text) < sizeof(first)) {
		(void)snprintf(first, sizeof(first), "%.*s", (int)(dots - text),
			       text);
		if (options_number(first, INT64_MIN, INT64_MAX,
				   &plan->first_seed) &&
		    options_number(dots + 2, plan->first_seed, INT64_MAX,
				   &plan->last_seed))
			return true;
	}
	tell("--seeds: '%.40s' is no A..B", text);
	return false;
}

/* "a,b,c" */
static void add_paths(struct words *paths, const char *text)
{
	while (*text != '\0') {
		size_t len = strcspn(text, ",");

		if (len > 0)
			words_add_take(paths, strndup(text, len));
		text += len + (text[len] == ',');
	}
}

/* As JSON wants it. */
static bool has_utf8_name(const char *path)
{
	json_t *name = json_string(path);

	if (name == NULL)
		tell("%s: the name is no UTF-8 text", path);
	json_decref(name);
	return name != NULL;
}

static bool read_maps(struct league *league)
{
	struct buf options = BUF_INIT(1000);
	bool is_read = true;

	if (league->game->is_shared &&
	    strcmp(league->game->name, "image-battle") == 0)
		buf_add_format(&options, "colours=%s",
			       league->options->colours_text != NULL
				       ? league->options->colours_text
				       : default_colours);
	if (league->paths.count == 0 || league->paths.count > LEAGUE_MAPS_MAX) {
		tell("league wants 1 to %d maps", LEAGUE_MAPS_MAX);
		is_read = false;
	}
	for (size_t i = 0; is_read && i < league->paths.count; i++) {
		struct arena *arena = &league->maps[league->plan.nmaps];

		arena->path = league->paths.words[i];
		league->map_names[i] = file_base_name(arena->path);
		buf_init(&arena->file, LIMIT_MAP_BYTES);
		league->plan.nmaps++;
		is_read = has_utf8_name(arena->path) &&
			  file_read_map(league->game, arena->path,
					buf_text(&options), &arena->file,
					&arena->map);
	}
	buf_release(&options);
	return is_read;
}

/* Before any program runs: would the engine take it? */
static bool try_maps(const struct league *league)
{
	const struct game *game = league->game;
	struct game_setup setup = { .seed = "1",
				    .bot_seed = "1",
				    .seats = league->plan.seats };
	struct game_error error = { .text = "" };

	memcpy(setup.params, league->params, sizeof(league->params));
	for (unsigned i = 0; i < league->plan.nmaps; i++) {
		struct game_state *state = NULL;
		int rc = game->create(&state, league->maps[i].map, &setup,
				      &error);

		game->free(state);
		if (rc < 0) {
			tell("%s: %s", league->maps[i].path, error.text);
			return false;
		}
	}
	return true;
}

static bool take_plan(struct league *league)
{
	const struct run_options *options = league->options;
	struct game_error error = { .text = "" };
	unsigned seats = options->seats;

	if (seats == 0)
		seats = league->game->is_shared ? 2 : 1;
	if (seats < league->game->seats_min ||
	    seats > league->game->seats_max) {
		tell("--seats: %s has %u to %u", league->game->name,
		     league->game->seats_min, league->game->seats_max);
		return false;
	}
	if (seats > league->plan.nbots) {
		tell("a match has %u seats, but there are only %u bots", seats,
		     league->plan.nbots);
		return false;
	}
	league->plan.seats = seats;
	if (game_params_parse(
		    league->game,
		    options->params_text != NULL ? options->params_text : "",
		    league->params, &error) < 0) {
		tell("--params: %s", error.text);
		return false;
	}
	if (!take_seeds(&league->plan, options->seeds_text != NULL
					       ? options->seeds_text
					       : "1..1"))
		return false;
	for (unsigned i = 0; i < options->nmap_texts; i++)
		add_paths(&league->paths, options->map_texts[i]);
	if (!read_maps(league) || !try_maps(league))
		return false;
	league->total = league_matches(&league->plan);
	if (league->total == 0)
		tell("more than %d matches", LEAGUE_MATCHES_MAX);
	return league->total > 0;
}

/* ---- the state file ---- */

static void set_text(json_t *head, const char *format, unsigned number,
		     const char *text)
{
	char key[KEY_BYTES];
	json_t *value = json_string(text);

	(void)snprintf(key, sizeof(key), "%s %u", format, number);
	/* What is no UTF-8 is told apart all the same. */
	(void)json_object_set_new(head, key,
				  value != NULL ? value : json_string("?"));
}

/* All that decides the results. */
static void make_head(struct league *league)
{
	struct match_limits limits =
		options_limits(league->options, league->game);
	struct buf text = BUF_INIT(TEXT_BYTES_MAX);

	game_params_format(league->game, league->params, &text);
	league->head = json_pack(
		"{ss, ss, si, ss, si, sI, sI, sI, sI, si, si}", "format",
		"hill league 1", "game", league->game->name, "engine_version",
		(int)league->game->version, "params", buf_text(&text), "seats",
		(int)league->plan.seats, "first_seed",
		(json_int_t)league->plan.first_seed, "last_seed",
		(json_int_t)league->plan.last_seed, "turn_ms",
		(json_int_t)limits.turn_ms, "init_ms",
		(json_int_t)limits.init_ms, "bots", (int)league->plan.nbots,
		"maps", (int)league->plan.nmaps);
	for (unsigned i = 0; i < league->plan.nbots; i++)
		set_text(league->head, "bot", i + 1,
			 league->options->bot_texts[i]);
	for (unsigned i = 0; i < league->plan.nmaps; i++) {
		const struct arena *arena = &league->maps[i];
		struct digest digest;

		digest_init(&digest);
		digest_lines(&digest, 0, buf_text(&arena->file),
			     arena->file.len);
		buf_clear(&text);
		buf_add_format(&text, "%s %016" PRIx64, league->map_names[i],
			       digest.value);
		set_text(league->head, "map", i + 1, buf_text(&text));
	}
	if (league->game->is_shared)
		(void)json_object_set_new(
			league->head, "colours",
			json_string(league->options->colours_text != NULL
					    ? league->options->colours_text
					    : "default"));
	buf_release(&text);
}

static void place_state(struct league *league)
{
	struct buf text = BUF_INIT(TEXT_BYTES_MAX);
	struct digest digest;

	if (league->options->state_path != NULL) {
		league->state_path = xstrdup(league->options->state_path);
		return;
	}
	league_state_add_head(league->head, &text);
	digest_init(&digest);
	digest_lines(&digest, 0, buf_text(&text), text.len);
	buf_clear(&text);
	buf_add_format(&text, "league-%s-%08" PRIx64 ".jsonl",
		       league->game->name, digest.value >> 32);
	league->state_path = buf_detach(&text);
}

static bool read_state(struct league *league)
{
	struct buf text = BUF_INIT(STATE_BYTES_MAX);
	struct game_error error = { .text = "" };
	size_t good = 0;
	bool is_good = file_read(league->state_path, &text);

	if (is_good &&
	    league_state_read(buf_text(&text), text.len, league->head,
			      &league->plan, league->rows, &good, &error) < 0) {
		tell("%s: %s", league->state_path, error.text);
		is_good = false;
	}
	if (is_good && good < text.len) {
		tell("%s: its last line is torn and thrown away",
		     league->state_path);
		is_good = ftruncate(league->state_fd, (off_t)good) == 0;
	}
	buf_clear(&text);
	if (is_good && good == 0) {
		league_state_add_head(league->head, &text);
		is_good = append(league, &text);
	}
	buf_release(&text);
	return is_good;
}

static bool open_state(struct league *league)
{
	league->rows = xcalloc(league->total, sizeof(*league->rows));
	league->todo = xcalloc(league->total, sizeof(*league->todo));
	make_head(league);
	place_state(league);
	league->state_fd = open(league->state_path,
				O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (league->state_fd < 0) {
		tell("cannot open %s: %s", league->state_path, strerror(errno));
		return false;
	}
	if (flock(league->state_fd, LOCK_EX | LOCK_NB) < 0) {
		tell("%s: another league writes it now", league->state_path);
		return false;
	}
	if (!read_state(league))
		return false;
	for (unsigned i = 0; i < league->total; i++) {
		if (!league->rows[i].is_played)
			league->todo[league->ntodo++] = i;
	}
	if (league->ntodo < league->total)
		tell("%s has %u of %u matches", league->state_path,
		     league->total - league->ntodo, league->total);
	return true;
}

/* ---- the whole ---- */

static void print_json(const struct league *league,
		       const struct league_report *report)
{
	json_t *document = league_report_json(report);
	json_t *list = json_array();
	char *text;

	for (unsigned i = 0; i < league->total; i++) {
		struct league_match of = league_match(&league->plan, i);

		if (league->rows[i].is_played)
			(void)json_array_append_new(
				list,
				league_state_json(&of, league->plan.seats,
						  &league->rows[i],
						  league->map_names[of.map],
						  report->bots));
	}
	(void)json_object_set(document, "league", league->head);
	(void)json_object_set_new(document, "rows", list);
	text = json_dumps(document, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
	json_decref(document);
	if (text == NULL)
		return;
	tell_result(text, strlen(text));
	tell_result("\n", 1);
	free(text);
}

static void print(const struct league *league)
{
	struct league_sums *sums = xcalloc(1, sizeof(*sums));
	struct league_report report = {
		.plan = &league->plan,
		.sums = sums,
		.bots = (const char *const *)league->bots,
		.maps = league->map_names,
	};
	struct buf text = BUF_INIT(TEXT_BYTES_MAX);

	league_sum(&league->plan, league->rows, league->reference, sums);
	if (league->options->is_json) {
		print_json(league, &report);
	} else {
		league_report_text(&report, &text);
		tell_result(buf_text(&text), text.len);
	}
	buf_release(&text);
	free(sums);
}

static int play(struct league *league)
{
	struct play play = { .options = league->options,
			     .game = league->game,
			     .total = league->ntodo,
			     .context = league,
			     .make = make,
			     .over = over,
			     .is_fault_untold = true };
	int status = EXIT_PLAYED;

	if (league->ntodo > 0) {
		status = play_series(&play);
		play_release(&play);
	}
	print(league);
	if (status > 128)
		tell("stopped; the same command goes on from %s",
		     league->state_path);
	return league->is_broken ? EXIT_BAD : status;
}

static void release(struct league *league)
{
	for (unsigned i = 0; i < LEAGUE_BOTS_MAX; i++) {
		free(league->bots[i]);
		words_release(&league->commands[i]);
	}
	for (unsigned i = 0; i < league->plan.nmaps; i++) {
		league->game->map_free(league->maps[i].map);
		buf_release(&league->maps[i].file);
	}
	words_release(&league->paths);
	json_decref(league->head);
	if (league->state_fd >= 0)
		(void)close(league->state_fd);
	free(league->state_path);
	free(league->rows);
	free(league->todo);
	free(league);
}

/* Options and maps in any order behind the game's name. Negative: go on. */
static int take_words(struct league *league, struct run_options *own, int argc,
		      char **argv)
{
	int used;
	int status;

	for (;;) {
		status = options_parse(own, argc, argv, &used);
		if (status >= 0 || used >= argc)
			return status;
		argc -= used;
		argv += used;
		words_add(&league->paths, argv[0]);
	}
}

int run_league(const struct run_options *options, int argc, char **argv)
{
	struct run_options own = *options;
	struct league *league;
	int status;

	if (argc < 1 || game_find(argv[0]) == NULL)
		return usage_error("league wants a game, then its options");
	league = xcalloc(1, sizeof(*league));
	league->options = &own;
	league->game = game_find(argv[0]);
	league->state_fd = -1;
	status = take_words(league, &own, argc, argv);
	if (status < 0)
		status = take_bots(league) && take_plan(league) &&
					 open_state(league)
				 ? play(league)
				 : EXIT_BAD;
	release(league);
	return status;
}
