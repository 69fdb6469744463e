/* SPDX-License-Identifier: MIT */
/* league.c - hill-run league: the matches of a plan, and what they come to. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clients/run/file.h"
#include "clients/run/folder.h"
#include "clients/run/league_internal.h"
#include "clients/run/league_report.h"
#include "clients/run/league_state.h"
#include "clients/run/play.h"
#include "clients/run/tell.h"

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
	/* A later session must not write over what this one keeps. */
	match->file_number = of.number + 1;
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

static bool keep(struct league *league, const struct league_match *of,
		 const struct league_row *row)
{
	struct buf line = BUF_INIT(LEAGUE_TEXT_BYTES_MAX);
	bool is_kept;

	league_state_add_line(
		league_state_json(of, league->plan.seats, row,
				  league->map_names[of->map],
				  (const char *const *)league->bots),
		&line);
	is_kept = league_append(league, &line);
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
	struct buf text = BUF_INIT(LEAGUE_TEXT_BYTES_MAX);

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
			     .files_total = league->total,
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
		status = options_check(&own, RUN_LEAGUE);
	if (status < 0)
		status = league_take_bots(league) && league_take_plan(league) &&
					 league_open_state(league)
				 ? play(league)
				 : EXIT_BAD;
	release(league);
	return status;
}
