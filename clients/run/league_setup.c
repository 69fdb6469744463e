/* SPDX-License-Identifier: MIT */
/* league_setup.c - a league's bots, maps and seeds from the command line. */
#include <stdlib.h>
#include <string.h>

#include "clients/run/file.h"
#include "clients/run/league_internal.h"
#include "clients/run/play.h"
#include "clients/run/tell.h"

/*
 * In a match's order, for arenas that do not say by one pixel each whose they
 * are; the contest's own have blots of the first four.
 */
static const char default_colours[] =
	"255,0,0;0,255,0;0,0,255;255,255,0;255,0,255;0,255,255;255,128,0;"
	"128,0,255";

static const char name_characters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";

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

bool league_take_bots(struct league *league)
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

/* What a match is made with, but for its seed. */
static struct game_setup any_setup(const struct league *league)
{
	struct game_setup setup = { .seed = "1",
				    .bot_seed = "1",
				    .seats = league->plan.seats };

	memcpy(setup.params, league->params, sizeof(league->params));
	return setup;
}

/* Give ARENA the colours that its picture has, where it has enough. */
static void take_own_colours(const struct league *league, struct arena *arena)
{
	const struct game *game = league->game;
	const struct game_setup setup = any_setup(league);
	const struct game_source source = { .name = file_base_name(arena->path),
					    .data = buf_text(&arena->file),
					    .len = arena->file.len,
					    .options = "" };
	struct game_error error;
	struct game_map *own = NULL;

	if (game->map_new(&own, &source, &error) == 0 &&
	    game_admit(game, own, &setup, &error) == 0) {
		game->map_free(arena->map);
		arena->map = own;
		return;
	}
	game->map_free(own);
	arena->is_coloured = true;
}

static bool read_arena(const struct league *league, struct arena *arena)
{
	const char *colours = league->options->colours_text;
	bool is_battle = strcmp(league->game->name, "image-battle") == 0;
	struct buf options = BUF_INIT(1000);
	bool is_read;

	if (is_battle)
		buf_add_format(&options, "colours=%s",
			       colours != NULL ? colours : default_colours);
	is_read = has_utf8_name(arena->path) &&
		  file_read_map(league->game, arena->path, buf_text(&options),
				&arena->file, &arena->map);
	if (is_read && is_battle && colours == NULL)
		take_own_colours(league, arena);
	buf_release(&options);
	return is_read;
}

static bool read_maps(struct league *league)
{
	bool is_read = true;

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
		is_read = read_arena(league, arena);
	}
	return is_read;
}

/*
 * Before any program runs: would the engine take it? What only a ladder would
 * not is played, as hill-run does; but no bot can play with a colour that we
 * gave it and that owns nothing.
 */
static bool try_map(const struct league *league, const struct arena *arena)
{
	const struct game *game = league->game;
	const struct game_setup setup = any_setup(league);
	struct game_error error = { .text = "" };
	struct game_state *state = NULL;
	int rc = game->create(&state, arena->map, &setup, &error);

	game->free(state);
	if (rc < 0) {
		tell("%s: %s", arena->path, error.text);
		return false;
	}
	if (!arena->is_coloured) {
		play_warn(game, arena->map, &setup, arena->path);
		return true;
	}
	if (game_admit(game, arena->map, &setup, &error) == 0)
		return true;
	tell("%s: too few colours own one pixel each, and of the default ones "
	     "%s: give %u that it has with --colours",
	     arena->path, error.text, setup.seats);
	return false;
}

static bool try_maps(const struct league *league)
{
	for (unsigned i = 0; i < league->plan.nmaps; i++) {
		if (!try_map(league, &league->maps[i]))
			return false;
	}
	return true;
}

bool league_take_plan(struct league *league)
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
