/* SPDX-License-Identifier: MIT */
/* options.h - hill-run's command line, but for each game's own words. */
#ifndef HILL_CLIENTS_RUN_OPTIONS_H
#define HILL_CLIENTS_RUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "clients/picture/film.h"
#include "server/base/alloc.h"
#include "server/match/match.h"

enum run_exit {
	EXIT_PLAYED = 0,
	EXIT_DIED = 1, /* a program could not be started, or ended too early */
	EXIT_BAD = 2,  /* usage, or an input that cannot be used */
};

enum { RUN_RUNS_MAX = 1000000, RUN_WORDS_MAX = 64 };

/* What hill-run is asked to do, a bit each. */
enum run_use {
	RUN_RABBIT = 1u << 0,
	RUN_BATTLE = 1u << 1,
	RUN_MINING = 1u << 2,
	RUN_ANY = 1u << 3, /* a game without a command of its own */
	RUN_LEAGUE = 1u << 4,
	RUN_MATCH = 1u << 5,
	RUN_GENERATE = 1u << 6,
	RUN_GAMES = RUN_RABBIT | RUN_BATTLE | RUN_MINING | RUN_ANY,
};

/* All borrowed from argv. */
struct run_options {
	int64_t turn_ms; /* -1: the game's own; 0: no limit */
	int64_t init_ms; /* -1: the game's own */
	unsigned parallel;
	const char *log_path;   /* NULL: none */
	const char *stderr_dir; /* NULL: none */
	bool is_stderr_shared;  /* programs write to ours */
	bool is_json;
	bool is_quiet;            /* no progress */
	const char *seed;         /* NULL: none given */
	const char *cfg_path;     /* NULL: none */
	const char *picture_path; /* NULL: the default */
	int64_t turns_max;        /* image-battle; -1: the default */
	struct film_options film; /* pictures of each match */
	bool is_here;             /* image-battle: no private folders */
	bool is_route_limited;    /* lambda-mining */
	/* A league. */
	const char *seeds_text;   /* NULL: none given */
	const char *params_text;  /* NULL: the game's own */
	const char *colours_text; /* NULL: the default */
	const char *state_path;   /* NULL: derived */
	const char *against;      /* NULL: the first bot */
	unsigned seats;           /* of a shared game; 0: the default */
	const char *map_texts[RUN_WORDS_MAX]; /* --maps, each a,b,c */
	unsigned nmap_texts;
	const char *bot_texts[RUN_WORDS_MAX]; /* NAME=CMD */
	unsigned nbot_texts;
	/* A match played again. */
	const char *match_path; /* NULL: none */
	unsigned match_seat;    /* from 1; 0: not said */
	int64_t from_turn;      /* from 1 */
	/* A map made. */
	const char *preset;      /* NULL: none; "" or "list": which there are */
	const char *output_path; /* NULL: standard output */
	uint64_t given;          /* which there were; for options_check() */
};

/*
 * Read the options before the first word that is none; *RET_USED is how many
 * words of ARGV that were (argv[0] counts). Negative: go on; else the exit
 * status, all being said.
 */
int options_parse(struct run_options *options, int argc, char **argv,
		  int *ret_used) WARN_UNUSED;
/*
 * An option that does nothing in USE was meant for something: negative when all
 * that were given do, else the exit status, the first that does not being told.
 */
int options_check(const struct run_options *options,
		  enum run_use use) WARN_UNUSED;
/* The limits of a match of GAME under OPTIONS: the original's, or as told. */
struct match_limits options_limits(const struct run_options *options,
				   const struct game *game);
/* TEXT as a whole number from LEAST to MOST; false when it is none. */
bool options_number(const char *text, int64_t least, int64_t most,
		    int64_t *ret) WARN_UNUSED;

/*
 * The games' commands; ARGV holds the words behind the options and the game's
 * name, NULL ends it. The exit status.
 */
int run_rabbit(const struct run_options *options, int argc,
	       char **argv) WARN_UNUSED;
int run_battle(const struct run_options *options, int argc,
	       char **argv) WARN_UNUSED;
int run_mining(const struct run_options *options, int argc,
	       char **argv) WARN_UNUSED;
/* Likewise for a game that has no command of its own. */
int run_any(const struct game *game, const struct run_options *options,
	    int argc, char **argv) WARN_UNUSED;
/* hill-run league GAME ...; the words behind `league`. */
int run_league(const struct run_options *options, int argc,
	       char **argv) WARN_UNUSED;
/* hill-run --match; the words are PROG and its own. */
int run_rehearsal(const struct run_options *options, int argc,
		  char **argv) WARN_UNUSED;
/*
 * hill-run GAME --generate PRESET; the words are the seed and options behind
 * it, which go to OPTIONS.
 */
int run_generate(const struct game *game, struct run_options *options, int argc,
		 char **argv) WARN_UNUSED;
/* Wrong usage: say WHAT, as printf, and return EXIT_BAD. */
int usage_error(const char *format, ...) PRINTF_LIKE(1, 2) WARN_UNUSED;

#endif
