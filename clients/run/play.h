/* SPDX-License-Identifier: MIT */
/*
 * play.h - a series of matches for a person: what the three games' commands
 * have in common. Faults and ends are told, standard error is kept or shown,
 * results come out in order whatever ends first.
 *
 * A game's command fills in a struct play and a callback or two, and calls
 * play_series().
 */
#ifndef HILL_CLIENTS_RUN_PLAY_H
#define HILL_CLIENTS_RUN_PLAY_H

#include <jansson.h>
#include <stdio.h>

#include "clients/run/options.h"
#include "clients/run/referee.h"
#include "clients/run/words.h"

/* A match of the series, from its making to its printing. */
struct play_match {
	unsigned number; /* from 1 */
	/* In the names of its files; `make` may say it is another one. */
	unsigned file_number;
	char *label; /* "run 3 (seed 17)"; owned */
	char *seed;  /* owned */
	struct words argv[GAME_SEATS_MAX];
	char *names[GAME_SEATS_MAX];     /* of the seats, for people; owned */
	char *folders[GAME_SEATS_MAX];   /* private ones; owned; NULL */
	char *log_paths[GAME_SEATS_MAX]; /* owned; NULL */
	struct keeper_status status[GAME_SEATS_MAX];
	bool has_status[GAME_SEATS_MAX];
	struct buf text;   /* its part of the result */
	struct buf log;    /* its part of --log */
	const char *ended; /* why, where a game can say; static; NULL */
	json_t *json;      /* what it is in --json; owned; NULL */
	int64_t turns; /* requests put so far, unless the game says better */
	unsigned told[GAME_SEATS_MAX]; /* faults of a seat, but late ones */
	int64_t logged; /* a game's own: what of it is in the log */
	bool is_done;
	bool is_played; /* to its end */
};

struct play {
	const struct run_options *options; /* borrowed */
	const struct game *game;
	const struct game_map *map; /* of all matches, or the game sets it */
	unsigned total;             /* matches */
	unsigned files_total; /* with those of earlier sessions; 0: TOTAL */
	void *context;        /* the game's own */
	/*
	 * Fill in JOB (all but players' files and limits) and MATCH (label,
	 * seed, names, argv without standard error) of number MATCH->number.
	 * False: it cannot be; told.
	 */
	bool (*make)(struct play *play, struct play_match *match,
		     struct referee_job *job);
	/* A request was put; STATE is what it is about. NULL. */
	void (*moved)(struct play *play, struct play_match *match,
		      const struct game_state *state);
	/*
	 * It was played to its end, or (is_stopped_told; RECORD is NULL then)
	 * stopped: fill in match->text.
	 */
	void (*over)(struct play *play, struct play_match *match,
		     const struct match_record *record,
		     const struct game_state *state);
	bool is_stopped_told;
	bool is_fault_untold; /* of programs: the sums show them */
	/* The rest is play_series' own. */
	struct play_match **matches; /* by number - 1 */
	unsigned started, printed;
	FILE *log;       /* NULL for none */
	bool has_failed; /* a program did not start, or died */
	bool is_broken;  /* a match could not be made */
};

/*
 * Play PLAY->total (from 1) matches. play_release follows. The exit status:
 * EXIT_PLAYED, EXIT_DIED, EXIT_BAD or 128 + the signal that stopped it.
 */
int play_series(struct play *play) WARN_UNUSED;
/*
 * program_catch_signals(): what is returned becomes the number of the signal
 * that came.
 */
const volatile sig_atomic_t *play_catch_signals(void);
/* A private folder for SEAT of MATCH, removed with its program. False: told. */
bool play_folder(struct play_match *match, unsigned seat) WARN_UNUSED;
/*
 * Add what the original put on SEAT's command line to ARGV; FILE where it had
 * the map's name.
 */
void play_add_args(struct words *argv, const struct referee_job *job,
		   unsigned seat, const char *file);
/* The picture of STATE as characters, and blank lines, into the log. */
void play_log_grid(const struct play *play, struct play_match *match,
		   const struct game_state *state);
/*
 * Print RESULT with the matches played as its member NAME: the document of
 * --json. Gives RESULT up.
 */
void play_print_json(const struct play *play, const char *name, json_t *result);
/*
 * Warn when a ladder of GAME would refuse MAP, the file PATH, with SETUP. The
 * originals played it.
 */
void play_warn(const struct game *game, const struct game_map *map,
	       const struct game_setup *setup, const char *path);
/* Free what play_series left in PLAY. */
void play_release(struct play *play);

#endif
