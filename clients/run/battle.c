/* SPDX-License-Identifier: MIT */
/* battle.c - hill-run image-battle: a battle as the judge held it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "clients/program/system.h"
#include "clients/run/cfg.h"
#include "clients/run/file.h"
#include "clients/run/folder.h"
#include "clients/run/play.h"
#include "clients/run/tell.h"
#include "server/games/image_battle.h"
#include "server/games/image_battle_text.h"
#include "server/games/picture.h"

enum { WORD_ARENA, WORD_BATCH, WORD_SEED, WORD_BOTS };
enum { CFG_BYTES_MAX = 1024 * 1024, NAME_BYTES = 8192, TURNS_MAX = 20000 };

struct battle {
	struct cfg cfg;     /* also when it came from the command line */
	char *home;         /* the folder that its paths are seen from; owned */
	char *image_path;   /* owned */
	char *picture_path; /* owned; NULL for none */
	char seed[GAME_SEED_DIGITS_MAX + 2];
	struct buf colours; /* the map's option */
	struct buf file;    /* the arena as bots get it */
	struct game_map *map;
	int64_t params[GAME_PARAMS_MAX];
	bool is_unwritten; /* the picture could not be written */
};

/* What a bot's private folder needs. False: told. */
static bool fill_folder(const struct battle *battle, struct play_match *match,
			unsigned seat)
{
	const struct cfg_bot *bot = &battle->cfg.bots[seat];

	if (!play_folder(match, seat))
		return false;
	for (size_t i = 0; i < bot->files.count; i++) {
		if (!folder_copy(match->folders[seat], battle->home,
				 bot->files.words[i]))
			return false;
	}
	return folder_write(match->folders[seat],
			    file_base_name(battle->image_path),
			    battle->file.data, battle->file.len);
}

static void make_argv(const struct play *play, struct play_match *match,
		      const struct referee_job *job, unsigned seat)
{
	const struct battle *battle = play->context;
	const struct words *command = &battle->cfg.bots[seat].command;
	struct words *argv = &match->argv[seat];
	const char *arena = battle->image_path;

	for (size_t i = 0; i < command->count; i++)
		words_add(argv, command->words[i]);
	if (!play->options->is_here) {
		arena = file_base_name(arena);
		if (play->options->cfg_path == NULL)
			folder_make_absolute(argv);
	}
	play_add_args(argv, job, seat, arena);
}

static bool make(struct play *play, struct play_match *match,
		 struct referee_job *job)
{
	const struct battle *battle = play->context;

	match->seed = xstrdup(battle->seed);
	match->label = xstrdup("battle");
	job->map_name = file_base_name(battle->image_path);
	job->setup.seed = match->seed;
	job->setup.bot_seed = match->seed;
	job->setup.seats = battle->cfg.nbots;
	memcpy(job->setup.params, battle->params, sizeof(battle->params));
	for (unsigned i = 0; i < battle->cfg.nbots; i++) {
		match->names[i] = xstrdup(battle->cfg.bots[i].name);
		make_argv(play, match, job, i);
		if (play->options->is_here)
			continue;
		job->players[i].is_chdir = true;
		if (!fill_folder(battle, match, i))
			return false;
	}
	return true;
}

static void moved(struct play *play, struct play_match *match,
		  const struct game_state *state)
{
	struct image_battle_view view;

	image_battle_look(state, &view);
	match->turns = view.turn;
	if (match->logged == 0) {
		/* The picture before the first turn. */
		match->logged = IMAGE_BATTLE_PROGRESS_TURNS;
		play_log_grid(play, match, state);
	}
	if (view.completed < match->logged)
		return;
	image_battle_text_progress(match->logged, view.accepted, &match->text);
	match->logged += IMAGE_BATTLE_PROGRESS_TURNS;
	play_log_grid(play, match, state);
}

static bool write_picture(const struct battle *battle, const struct game *game,
			  const struct game_state *state)
{
	struct game_grid grid;
	struct picture picture;
	struct buf png = BUF_INIT(LIMIT_MAP_BYTES);
	bool is_written = false;

	if (game->grid(state, &grid) < 0)
		return false;
	if (picture_from_grid(&picture, &grid) == 0) {
		is_written =
			picture_encode_png(&picture, &png) == 0 &&
			file_write(battle->picture_path, png.data, png.len);
		picture_release(&picture);
	}
	game_grid_release(&grid);
	buf_release(&png);
	return is_written;
}

static const char *why_ended(const struct image_battle_view *view)
{
	switch (view->end) {
	case IMAGE_BATTLE_RUNNING:
		break;
	case IMAGE_BATTLE_NULL:
		return "nobody had anything valid";
	case IMAGE_BATTLE_MAXTURNS:
		return "maxturns";
	case IMAGE_BATTLE_LEFT:
		return "every bot is suspended or gone";
	case IMAGE_BATTLE_NENDS:
		break;
	}
	return NULL;
}

static void over(struct play *play, struct play_match *match,
		 const struct match_record *record,
		 const struct game_state *state)
{
	struct battle *battle = play->context;
	struct game_score scores[GAME_SEATS_MAX];
	struct image_battle_view view;

	(void)record;
	moved(play, match, state);
	image_battle_look(state, &view);
	match->ended = why_ended(&view);
	if (match->ended != NULL && !play->options->is_json)
		tell("ended at turn %lld: %s", (long long)view.turn,
		     match->ended);
	play->game->result(state, scores);
	for (unsigned i = 0; i < view.seats; i++) {
		unsigned seat = view.order[i];

		image_battle_text_score(match->names[seat], view.colours[seat],
					scores[seat].score, &match->text);
	}
	play_log_grid(play, match, state);
	if (battle->picture_path != NULL)
		battle->is_unwritten =
			!write_picture(battle, play->game, state);
}

/* ---- what to play ---- */

/*
 * What the judge would have called the bot: the first file behind the program
 * that COMMAND names, else the program if it is one here, else its last word.
 */
static const char *bot_name(const struct words *command)
{
	struct stat info;

	for (size_t i = 1; i < command->count; i++) {
		if (stat(command->words[i], &info) == 0 &&
		    S_ISREG(info.st_mode))
			return file_base_name(command->words[i]);
	}
	if (strchr(command->words[0], '/') != NULL)
		return file_base_name(command->words[0]);
	return file_base_name(command->words[command->count - 1]);
}

/* Note the new bot's colour; false, told, when an earlier one has it. */
static bool take_colour(struct cfg *cfg, const char *text)
{
	uint8_t *own = cfg->colours[cfg->nbots];
	unsigned rgb[3];

	/* What is no colour is told with the arena. */
	if (sscanf(text, "%3u,%3u,%3u", &rgb[0], &rgb[1], &rgb[2]) != 3)
		return true;
	for (unsigned i = 0; i < 3; i++)
		own[i] = (uint8_t)rgb[i];
	for (unsigned i = 0; i < cfg->nbots; i++) {
		if (memcmp(cfg->colours[i], own, 3) != 0)
			continue;
		tell("bots %u and %u have one colour, %u,%u,%u (--cfg allows "
		     "it)",
		     i + 1, cfg->nbots + 1, rgb[0], rgb[1], rgb[2]);
		return false;
	}
	return true;
}

/* "255,0,0=python3 blob.py". False: told. */
static bool parse_bot(struct battle *battle, const char *text)
{
	struct cfg_bot *bot = &battle->cfg.bots[battle->cfg.nbots];
	const char *sign = strchr(text, '=');
	size_t len = sign != NULL ? (size_t)(sign - text) : 0;

	if (len == 0 || strspn(text, "0123456789,") != len) {
		tell("'%.60s' is no COLOUR=COMMAND, as in 255,0,0=./bot", text);
		return false;
	}
	if (battle->cfg.nbots == GAME_SEATS_MAX) {
		tell("more than %d bots", GAME_SEATS_MAX);
		return false;
	}
	if (words_split(&bot->command, sign + 1) < 0) {
		tell("'%.60s': a quote is not closed", text);
		return false;
	}
	if (bot->command.count == 0) {
		tell("'%.60s': the command is missing", text);
		return false;
	}
	if (!take_colour(&battle->cfg, text))
		return false;
	bot->name = xstrdup(bot_name(&bot->command));
	buf_add_text(&battle->colours,
		     battle->cfg.nbots == 0 ? "colours=" : ";");
	buf_add(&battle->colours, text, len);
	battle->cfg.nbots++;
	return true;
}

static bool take_seed(struct battle *battle, const char *text)
{
	uint64_t bits;
	int rc;

	if (text != NULL && strcmp(text, "random") != 0) {
		if (game_seed_check(text) < 0) {
			tell("SEED: '%.40s' is no whole number, nor random",
			     text);
			return false;
		}
		(void)snprintf(battle->seed, sizeof(battle->seed), "%s", text);
		return true;
	}
	rc = system_random(&bits, sizeof(bits));
	if (rc < 0) {
		tell("no random numbers: %s", strerror(-rc));
		return false;
	}
	(void)snprintf(battle->seed, sizeof(battle->seed), "%llu",
		       (unsigned long long)bits >> 1);
	tell("seed %s", battle->seed);
	return true;
}

static bool parse_words(struct battle *battle, int argc, char **argv)
{
	if (argc <= WORD_BOTS) {
		tell("image-battle wants ARENA BATCH SEED COLOUR=COMMAND..., "
		     "or --cfg CFG.PY");
		return false;
	}
	battle->cfg.battle = xstrdup("battle");
	battle->cfg.image = xstrdup(argv[WORD_ARENA]);
	battle->home = xstrdup(".");
	battle->image_path = xstrdup(argv[WORD_ARENA]);
	if (!options_number(argv[WORD_BATCH], 1, INT64_MAX,
			    &battle->cfg.batch)) {
		tell("BATCH: '%.40s' is no number from 1 on", argv[WORD_BATCH]);
		return false;
	}
	battle->cfg.turns_max = TURNS_MAX;
	battle->cfg.turn_ms = -1;
	battle->cfg.init_ms = -1;
	for (int i = WORD_BOTS; i < argc; i++) {
		if (!parse_bot(battle, argv[i]))
			return false;
	}
	return take_seed(battle, argv[WORD_SEED]);
}

/* A file without interpreter is run from the folder where it lies. */
static void find_programs(struct cfg *cfg)
{
	for (unsigned i = 0; i < cfg->nbots; i++) {
		char **first = &cfg->bots[i].command.words[0];
		char *own;

		if (strchr(*first, '/') != NULL ||
		    strcmp(*first,
			   file_base_name(cfg->bots[i].files.words[0])) != 0)
			continue;
		own = folder_path(".", *first);
		free(*first);
		*first = own;
	}
}

static bool read_cfg(struct battle *battle, const struct run_options *options)
{
	struct buf text = BUF_INIT(CFG_BYTES_MAX);
	struct game_error error = { .text = "" };
	bool is_read = file_read(options->cfg_path, &text);

	if (is_read &&
	    cfg_read(&battle->cfg, buf_text(&text), text.len, &error) < 0) {
		tell("%s: %s", options->cfg_path, error.text);
		is_read = false;
	}
	buf_release(&text);
	if (!is_read)
		return false;
	if (battle->cfg.fault_limit != game_image_battle.late_max)
		tell("FAULTLIMIT is %lld, but %u late answers suspend",
		     (long long)battle->cfg.fault_limit,
		     game_image_battle.late_max);
	find_programs(&battle->cfg);
	battle->home = folder_of(options->cfg_path);
	battle->image_path = folder_path(battle->home, battle->cfg.image);
	for (unsigned i = 0; i < battle->cfg.nbots; i++) {
		const uint8_t *rgb = battle->cfg.colours[i];

		buf_add_format(&battle->colours, "%s%u,%u,%u",
			       i == 0 ? "colours=" : ";", rgb[0], rgb[1],
			       rgb[2]);
	}
	return take_seed(battle, options->seed);
}

static bool take_params(struct battle *battle)
{
	struct buf text = BUF_INIT(200);
	struct game_error error = { .text = "" };
	int rc;

	buf_add_format(&text, "batch=%lld maxturns=%lld",
		       (long long)battle->cfg.batch,
		       (long long)battle->cfg.turns_max);
	rc = game_params_parse(&game_image_battle, buf_text(&text),
			       battle->params, &error);
	buf_release(&text);
	if (rc < 0)
		tell("%s", error.text);
	return rc == 0;
}

/* Where the picture goes: as told, or BATTLE.png. */
static void place_picture(struct battle *battle, const char *told)
{
	struct buf path = BUF_INIT(NAME_BYTES);

	if (told != NULL && strcmp(told, "none") == 0)
		return;
	if (told != NULL)
		buf_add_text(&path, told);
	else
		buf_add_format(&path, "%s.png", battle->cfg.battle);
	battle->picture_path = buf_detach(&path);
}

/* All before the first program is started; OWN gets what the cfg says. */
static bool prepare(struct battle *battle, struct run_options *own, int argc,
		    char **argv)
{
	bool is_cfg = own->cfg_path != NULL;

	if (is_cfg && (argc > 0 || own->is_here)) {
		tell("--cfg goes with no words, nor with --here");
		return false;
	}
	if (!(is_cfg ? read_cfg(battle, own) : parse_words(battle, argc, argv)))
		return false;
	if (own->turns_max >= 0)
		battle->cfg.turns_max = own->turns_max;
	if (own->turn_ms < 0)
		own->turn_ms = battle->cfg.turn_ms;
	if (own->init_ms < 0)
		own->init_ms = battle->cfg.init_ms;
	place_picture(battle, own->picture_path);
	return take_params(battle) &&
	       file_read_map(&game_image_battle, battle->image_path,
			     buf_text(&battle->colours), &battle->file,
			     &battle->map);
}

static void release(struct battle *battle)
{
	cfg_release(&battle->cfg);
	free(battle->home);
	free(battle->image_path);
	free(battle->picture_path);
	buf_release(&battle->colours);
	buf_release(&battle->file);
	game_image_battle.map_free(battle->map);
	free(battle);
}

int run_battle(const struct run_options *options, int argc, char **argv)
{
	struct battle *battle = xcalloc(1, sizeof(*battle));
	struct run_options own = *options;
	struct play play = { .options = &own,
			     .game = &game_image_battle,
			     .total = 1,
			     .context = battle,
			     .make = make,
			     .moved = moved,
			     .over = over,
			     .is_stopped_told = true };
	int status = EXIT_BAD;

	buf_init(&battle->colours, NAME_BYTES);
	buf_init(&battle->file, LIMIT_MAP_BYTES);
	if (prepare(battle, &own, argc, argv)) {
		const struct game_setup setup = { .seats = battle->cfg.nbots };

		play.map = battle->map;
		play_warn(play.game, play.map, &setup, battle->image_path);
		status = play_series(&play);
		if (own.is_json)
			play_print_json(&play, "battles",
					json_pack("{ss, ss, ss, ss?}", "game",
						  play.game->name, "arena",
						  battle->image_path, "colours",
						  buf_text(&battle->colours) +
							  strlen("colours="),
						  "picture",
						  battle->picture_path));
		if (battle->is_unwritten)
			status = EXIT_BAD;
	}
	play_release(&play);
	release(battle);
	return status;
}
