/* SPDX-License-Identifier: MIT */
/*
 * referee.h - plays matches between local programs, several at once, in one
 * poll() loop. The judging is server/match's; here are the programs: started
 * for each match, fed, listened to, ended.
 *
 *	struct referee_hooks hooks = { .next = ..., .over = ..., ... };
 *	rc = referee_run(&hooks, 2, &stop);
 *
 * The hooks hand out the matches and take what comes of them. All are called
 * from referee_run, on its thread.
 */
#ifndef HILL_CLIENTS_RUN_REFEREE_H
#define HILL_CLIENTS_RUN_REFEREE_H

#include <signal.h>

#include "clients/program/program.h"
#include "server/games/game.h"
#include "server/match/match.h"
#include "server/match/record.h"

enum { REFEREE_PARALLEL_MAX = 64 };

struct referee_player {
	const char *name;      /* for the record */
	char *const *argv;     /* with the original's arguments; NULL ends it */
	const char *folder;    /* made by the caller, removed by us; NULL */
	bool is_chdir;         /* the program works in FOLDER */
	const char *log_path;  /* where its standard error goes; NULL */
	bool is_stderr_shared; /* to ours instead */
};

/* A match to play. All is borrowed until its hook `over` returns. */
struct referee_job {
	const struct game *game;
	const struct game_map *map;
	const char *map_name;
	const char *input; /* a game's whole input; NULL */
	size_t input_len;
	struct game_setup setup;
	struct match_limits limits;
	struct referee_player players[GAME_SEATS_MAX]; /* setup.seats */
	void *context;                                 /* the caller's */
};

struct referee_hooks {
	void *context;
	/* Fill in the next match; false: there is none (for good). */
	bool (*next)(void *context, struct referee_job *ret);
	/* STATE has moved, and a request was put. */
	void (*moved)(void *context, const struct referee_job *job,
		      const struct game_state *state);
	/* What a server would tell SEAT in a control line; without the LF. */
	void (*told)(void *context, const struct referee_job *job,
		     unsigned seat, const char *line);
	/* What may be wrong with SEAT's program, for people. */
	void (*noticed)(void *context, const struct referee_job *job,
			unsigned seat, const char *text);
	/*
	 * SEAT's program has ended; STATUS says how. NULL: it closed its output
	 * and lives on, or was made to end. IS_EARLY: it should have played on.
	 */
	void (*ended)(void *context, const struct referee_job *job,
		      unsigned seat, const struct keeper_status *status,
		      bool is_early);
	/*
	 * It is over and no process of it is left. RECORD and STATE are
	 * borrowed for the call; RECORD NULL: it was stopped before its end.
	 * The time that the call takes is given back to the other matches.
	 */
	void (*over)(void *context, const struct referee_job *job,
		     const struct match_record *record,
		     const struct game_state *state);
	/* Called now and then, for a line of progress. NULL. */
	void (*idle)(void *context);
};

/*
 * Play all that HOOKS hand out, PARALLEL (1..REFEREE_PARALLEL_MAX) matches at
 * once, until there is no more or *STOP is not 0: then what runs is given up,
 * each with its `over`. No program is left afterwards. *STOP is set by signal
 * handlers for SIGINT and SIGTERM, which the caller keeps blocked: they come
 * in only while poll() waits. SIGPIPE is to be ignored. 0, or the negative
 * errno of poll().
 */
int referee_run(const struct referee_hooks *hooks, unsigned parallel,
		const volatile sig_atomic_t *stop) WARN_UNUSED;

#endif
