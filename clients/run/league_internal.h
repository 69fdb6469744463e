/* SPDX-License-Identifier: MIT */
/*
 * league_internal.h - hill-run league, for league.c (matches, the whole),
 * league_setup.c (the command line) and league_file.c (the state file).
 */
#ifndef HILL_CLIENTS_RUN_LEAGUE_INTERNAL_H
#define HILL_CLIENTS_RUN_LEAGUE_INTERNAL_H

#include <jansson.h>

#include "clients/run/league.h"
#include "clients/run/options.h"
#include "clients/run/words.h"

enum { LEAGUE_TEXT_BYTES_MAX = 16 * 1024 * 1024 };

struct arena {
	const char *path; /* as given; borrowed */
	struct buf file;  /* as bots get it */
	struct game_map *map;
	bool is_coloured; /* the seats' colours are ours, not its own */
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

/* The bots, and whom to compare with. False: told. */
bool league_take_bots(struct league *league);
/* Behind the bots: parameters, seeds, maps, and the plan. False: told. */
bool league_take_plan(struct league *league);
/*
 * Behind the plan: make the head, open the state file, read what it has into
 * the rows, and list what is left to play. False: told.
 */
bool league_open_state(struct league *league);
/* LINE into the state file: all of it or nothing. False: told. */
bool league_append(const struct league *league, const struct buf *line);

#endif
