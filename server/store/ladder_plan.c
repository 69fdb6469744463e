/* SPDX-License-Identifier: MIT */
/*
 * ladder_plan.c - a ladder's row as a command wants it.
 *
 * Adding and changing are one thing: a row (of defaults, or of what is there)
 * takes the fields that the command gives, and is checked as a whole against
 * its maps.
 */
#include "server/store/ladder_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/name.h"
#include "server/games/game.h"
#include "server/games/generate.h"
#include "server/store/read.h"

enum {
	BANK_MS = 2000,
	BANK_STEP_MS = 2,
	/*
	 * Who shares a world hears the others' moves too: about three packets
	 * a turn on a link, each lost once in a hundred costs some 105 ms of
	 * bank. 2 ms a turn would not keep up with that.
	 */
	BANK_STEP_SHARED_MS = 4,
	LAG_CAP_MS = 250,
	READY_MS = 10000,
	FILE_MS = 10000,
	ROUND_RUNS = 8,
	ROUND_S = 3600,
	HOUSE_WAIT_MS = 10000,
};

static void plan_free(void *data)
{
	struct ladder_plan *plan = data;

	row_catalogue_release(&plan->all);
	free(plan->ladder.map_ids);
	free(plan);
}

static const struct row_ladder *ladder_named(const struct ladder_plan *plan,
					     const char *name)
{
	for (size_t i = 0; i < plan->all.nladders; i++)
		if (strcmp(plan->all.ladders[i].name, name) == 0)
			return &plan->all.ladders[i];
	return NULL;
}

static const struct row_map *map_by_id(const struct ladder_plan *plan,
				       int64_t id)
{
	for (size_t i = 0; i < plan->all.nmaps; i++)
		if (plan->all.maps[i].id == id)
			return &plan->all.maps[i];
	return NULL;
}

/* What the game's original allowed: no lag, no bank, the match's own seed. */
static void set_original(struct ladder_plan *plan)
{
	struct row_ladder *ladder = &plan->ladder;

	ladder->turn_ms = plan->game->turn_ms;
	ladder->init_ms = plan->game->init_ms;
	ladder->grace_ms = plan->game->grace_ms;
	ladder->bank_ms = 0;
	ladder->bank_step_ms = 0;
	ladder->lag_cap_ms = 0;
	ladder->bot_seed = ROW_BOT_SEED_MATCH;
}

static void set_defaults(struct ladder_plan *plan)
{
	struct row_ladder *ladder = &plan->ladder;

	ladder->seats = plan->game->seats_min;
	ladder->turn_ms = plan->game->turn_ms;
	ladder->init_ms = plan->game->init_ms;
	ladder->grace_ms = plan->game->grace_ms;
	ladder->bank_ms = BANK_MS;
	ladder->bank_step_ms =
		plan->game->is_shared ? BANK_STEP_SHARED_MS : BANK_STEP_MS;
	ladder->lag_cap_ms = LAG_CAP_MS;
	ladder->ready_ms = READY_MS;
	ladder->file_ms = FILE_MS;
	ladder->round_runs = ROUND_RUNS;
	ladder->round_us = ROUND_S * INT64_C(1000000);
	ladder->house_wait_ms = HOUSE_WAIT_MS;
	ladder->is_seed_random = true;
	ladder->bot_seed = ROW_BOT_SEED_OWN;
	ladder->is_rated = true;
}

static int take_seeds(struct admin *admin, struct row_ladder *ladder)
{
	int err;

	if (!admin_has(admin, "seeds"))
		return 0;
	err = admin_seeds(admin, &ladder->is_seed_random, &ladder->seed_first,
			  &ladder->seed_last);
	if (err == 0 && !ladder->is_seed_random)
		ladder->seed_next = ladder->seed_first;
	return err;
}

static int take_params(struct admin *admin, struct ladder_plan *plan)
{
	struct buf canonical = BUF_INIT(ROW_PARAMS_BYTES - 1);
	int64_t params[GAME_PARAMS_MAX] = { 0 };
	const char *text = admin_text(admin, "params", plan->ladder.params);
	struct game_error error = { "" };
	int err = 0;

	if (game_params_parse(plan->game, text, params, &error) != 0)
		return admin_refuse(admin, "params", text, "%s", error.text);
	game_params_format(plan->game, params, &canonical);
	if (canonical.is_failed)
		err = admin_refuse(admin, "params", text, "too long");
	else
		(void)snprintf(plan->ladder.params, sizeof(plan->ladder.params),
			       "%s", buf_text(&canonical));
	buf_release(&canonical);
	return err;
}

static int take_limits(struct admin *admin, struct row_ladder *ladder)
{
	const struct {
		const char *field;
		uint32_t *value;
		bool is_original;
	} limits[] = {
		{ "turn_ms", &ladder->turn_ms, true },
		{ "init_ms", &ladder->init_ms, true },
		{ "grace_ms", &ladder->grace_ms, true },
		{ "bank_ms", &ladder->bank_ms, true },
		{ "bank_step_ms", &ladder->bank_step_ms, true },
		{ "lag_cap_ms", &ladder->lag_cap_ms, true },
		{ "ready_ms", &ladder->ready_ms, false },
		{ "file_ms", &ladder->file_ms, false },
		{ "round_runs", &ladder->round_runs, false },
		{ "house_wait_ms", &ladder->house_wait_ms, false },
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		if (!admin_has(admin, limits[i].field))
			continue;
		if (limits[i].is_original &&
		    admin_bool(admin, "original", false))
			return admin_refuse(admin, limits[i].field, NULL,
					    "original rules say it already");
		*limits[i].value =
			(uint32_t)admin_int(admin, limits[i].field, 0);
	}
	if (admin_has(admin, "round_seconds"))
		ladder->round_us =
			admin_int(admin, "round_seconds", 0) * INT64_C(1000000);
	return 0;
}

static int take_bot_seed(struct admin *admin, struct row_ladder *ladder)
{
	const char *text = admin_text(admin, "bot_seed", NULL);

	if (text == NULL)
		return 0;
	if (admin_bool(admin, "original", false))
		return admin_refuse(admin, "bot_seed", NULL,
				    "original rules say it already");
	if (strcmp(text, "own") == 0)
		ladder->bot_seed = ROW_BOT_SEED_OWN;
	else if (strcmp(text, "match") == 0)
		ladder->bot_seed = ROW_BOT_SEED_MATCH;
	else
		return admin_refuse(admin, "bot_seed", text,
				    "must be own or match");
	return 0;
}

static int take_map(struct admin *admin, struct ladder_plan *plan,
		    const char *name)
{
	struct row_ladder *ladder = &plan->ladder;

	for (size_t i = 0; i < plan->all.nmaps; i++) {
		const struct row_map *map = &plan->all.maps[i];

		if (strcmp(map->name, name) != 0 ||
		    strcmp(map->game, plan->game->name) != 0)
			continue;
		if (map->is_disabled)
			return admin_refuse(admin, "maps", name,
					    "the map is disabled");
		for (size_t k = 0; k < ladder->nmaps; k++)
			if (ladder->map_ids[k] == map->id)
				return admin_refuse(admin, "maps", name,
						    "is there twice");
		ladder->map_ids = read_grow(ladder->map_ids, ladder->nmaps,
					    sizeof(*ladder->map_ids));
		ladder->map_ids[ladder->nmaps++] = map->id;
		return 0;
	}
	return admin_refuse(admin, "maps", name, "%s has no map of that name",
			    plan->game->name);
}

static int take_maps(struct admin *admin, struct ladder_plan *plan)
{
	const json_t *names = json_object_get(admin->request, "maps");
	int err = 0;

	if (names == NULL)
		return 0;
	free(plan->ladder.map_ids);
	plan->ladder.map_ids = NULL;
	plan->ladder.nmaps = 0;
	for (size_t i = 0; i < json_array_size(names) && err == 0; i++)
		err = take_map(admin, plan,
			       json_string_value(json_array_get(names, i)));
	return err;
}

/* Whether the game lets the ladder use map ID as it stands. */
static int admit_map(struct admin *admin, struct ladder_plan *plan, int64_t id)
{
	const struct game *game = plan->game;
	const struct row_map *row = map_by_id(plan, id);
	struct game_setup setup = { .seed = "0",
				    .bot_seed = "0",
				    .seats = plan->ladder.seats,
				    .limit_ms = plan->ladder.turn_ms,
				    .grace_ms = plan->ladder.grace_ms };
	struct game_source source = { .name = row->name,
				      .options = row->options };
	struct game_error error = { "" };
	struct game_map *map = NULL;
	char *data;
	int err;

	err = store_map_bytes(admin->store, id, &data, &source.len,
			      &admin->error);
	if (err != 0)
		return err;
	source.data = data;
	err = game->map_new(&map, &source, &error);
	if (err == 0)
		err = game_params_parse(game, plan->ladder.params, setup.params,
					&error);
	if (err == 0)
		err = game_admit(game, map, &setup, &error);
	if (err != 0)
		err = admin_refuse(admin, "maps", row->name, "%s", error.text);
	game->map_free(map);
	free(data);
	return err;
}

/* A ladder's maps come from one of two places. */
static int check_source(struct admin *admin, const struct ladder_plan *plan)
{
	const struct row_ladder *ladder = &plan->ladder;

	if (admin_has(admin, "maps") && admin_has(admin, "generate"))
		return admin_refuse(admin, "generate", NULL,
				    "goes with no maps: a ladder plays its "
				    "maps or draws them");
	if (ladder->generators[0] == '\0' && !admin_has(admin, "maps") &&
	    ladder->id == 0)
		return admin_refuse(admin, "maps", NULL,
				    "must be given, or presets to generate "
				    "maps of");
	if (ladder->generators[0] != '\0' && !ladder->is_seed_random)
		return admin_refuse(admin, "seeds", NULL,
				    "must be random where maps are generated");
	return 0;
}

/* Presets in place of maps, or the other way round. */
static int take_generators(struct admin *admin, struct ladder_plan *plan)
{
	const char *text = admin_text(admin, "generate", NULL);
	struct row_ladder *ladder = &plan->ladder;

	if (text != NULL) {
		(void)snprintf(ladder->generators, sizeof(ladder->generators),
			       "%s", text);
		ladder->nmaps = 0;
	} else if (admin_has(admin, "maps")) {
		ladder->generators[0] = '\0';
	}
	return check_source(admin, plan);
}

/* A map of PRESET is one that the ladder may use. */
static int admit_preset(struct admin *admin, const struct ladder_plan *plan,
			const struct game_preset *preset)
{
	const struct game *game = plan->game;
	struct game_setup setup = { .seed = "0",
				    .bot_seed = "0",
				    .seats = plan->ladder.seats,
				    .limit_ms = plan->ladder.turn_ms,
				    .grace_ms = plan->ladder.grace_ms };
	struct game_source source = { .name = preset->name };
	struct game_error error = { "" };
	struct game_map *map = NULL;
	struct generated made;
	int err;

	err = generate_map(game, preset, setup.seats, 0, &made, &error);
	if (err == 0) {
		source.data = made.data.data;
		source.len = made.data.len;
		source.options = buf_text(&made.options);
		err = game->map_new(&map, &source, &error);
		if (err == 0)
			err = game_params_parse(game, plan->ladder.params,
						setup.params, &error);
		if (err == 0)
			err = game_admit(game, map, &setup, &error);
		game->map_free(map);
		generate_release(&made);
	}
	if (err != 0)
		return admin_refuse(admin, "generate", preset->name, "%s",
				    error.text);
	return 0;
}

static int admit_presets(struct admin *admin, const struct ladder_plan *plan)
{
	const char *list = plan->ladder.generators;
	struct game_error error = { "" };
	unsigned count;
	int err;

	if (list[0] == '\0')
		return 0;
	err = generate_check_list(plan->game, list, plan->ladder.seats, &count,
				  &error);
	if (err != 0)
		return admin_refuse(admin, "generate", list, "%s", error.text);
	for (unsigned i = 0; i < count && err == 0; i++)
		err = admit_preset(admin, plan,
				   generate_of_list(plan->game, list, i));
	return err;
}

static int check_seats(struct admin *admin, const struct ladder_plan *plan)
{
	const struct game *game = plan->game;

	if (plan->ladder.seats >= game->seats_min &&
	    plan->ladder.seats <= game->seats_max)
		return 0;
	return admin_refuse(admin, "seats", NULL, "%s has %u to %u, not %u",
			    game->name, game->seats_min, game->seats_max,
			    plan->ladder.seats);
}

/* Fields of the command onto the row, then all of it together. */
static int complete(struct admin *admin, struct ladder_plan *plan)
{
	struct row_ladder *ladder = &plan->ladder;
	int err;

	if (admin_bool(admin, "original", false))
		set_original(plan);
	ladder->seats = (unsigned)admin_int(admin, "seats", ladder->seats);
	ladder->is_rated = admin_bool(admin, "rated", ladder->is_rated);
	err = check_seats(admin, plan);
	if (err == 0)
		err = take_limits(admin, ladder);
	if (err == 0)
		err = take_bot_seed(admin, ladder);
	if (err == 0)
		err = take_seeds(admin, ladder);
	if (err == 0)
		err = take_params(admin, plan);
	if (err == 0)
		err = take_maps(admin, plan);
	if (err == 0)
		err = take_generators(admin, plan);
	if (err == 0)
		err = admit_presets(admin, plan);
	for (size_t i = 0; i < ladder->nmaps && err == 0; i++)
		err = admit_map(admin, plan, ladder->map_ids[i]);
	return err;
}

static struct ladder_plan *plan_new(struct admin *admin, int *ret_err)
{
	struct ladder_plan *plan = xcalloc(1, sizeof(*plan));

	admin->data = plan;
	admin->release = plan_free;
	*ret_err = store_catalogue(admin->store, &plan->all, &admin->error);
	return plan;
}

int ladder_plan_add(struct admin *admin)
{
	const char *name = admin_text(admin, "name", "");
	const char *game = admin_text(admin, "game", "");
	struct ladder_plan *plan;
	int err;

	if (!name_is_ladder(name, strlen(name)))
		return admin_refuse(admin, "name", name,
				    "a ladder's name has 1 to 64 of a-z 0-9 - "
				    "_ and '.', and begins with a-z 0-9");
	plan = plan_new(admin, &err);
	if (err != 0)
		return err;
	plan->game = game_find(game);
	if (plan->game == NULL)
		return admin_refuse(admin, "game", game,
				    "there is no such game");
	set_defaults(plan);
	return complete(admin, plan);
}

int ladder_plan_change(struct admin *admin)
{
	const char *name = admin_text(admin, "name", "");
	const struct row_ladder *row;
	struct ladder_plan *plan;
	int err;

	plan = plan_new(admin, &err);
	if (err != 0)
		return err;
	row = ladder_named(plan, name);
	if (row == NULL)
		return admin_refuse(admin, "name", name,
				    "there is no ladder of that name");
	plan->game = game_find(row->game);
	if (plan->game == NULL)
		return admin_refuse(admin, "name", name,
				    "this program does not know its game, %s",
				    row->game);
	plan->ladder = *row;
	plan->ladder.map_ids =
		xreallocarray(NULL, row->nmaps + 1, sizeof(int64_t));
	if (row->nmaps > 0)
		memcpy(plan->ladder.map_ids, row->map_ids,
		       row->nmaps * sizeof(int64_t));
	return complete(admin, plan);
}
