/* SPDX-License-Identifier: MIT */
/*
 * game.h - the contract that every contest's engine keeps.
 *
 * An engine is a deterministic state machine: map + setup (parameters, seed)
 * + the sequence of (seat, input) determine every line it emits and the
 * result, on every machine. It does no I/O, reads no clock, allocates only its
 * own state, trusts no reply and ranks by integers. One engine is one `const
 * struct game` in one file (plus what that file needs) and one line in
 * meson.build, which makes games_all[]. README.md says how to write one.
 *
 * How a match runs:
 *
 *	game->map_new(&map, &source, &error)         once a map, shared
 *	game->create(&state, map, &setup, &error)    once a match
 *	game->begin(state, &out)                     first lines, first requests
 *	game->feed(state, seat, kind, text, len, &out)   for each reply, in order
 *	   ... until out.is_over
 *	game->result(state, scores)
 *
 * Every call that gets a `struct game_out` appends to it; the caller clears it
 * (game_out_clear) before each call. begin, feed and work may return
 * GAME_BUSY: the input is noted, and the caller must call work() again, on any
 * one thread, until it returns GAME_DONE; until then nobody else touches
 * STATE. game_settle() does just that where there is nothing else to do.
 *
 * Seats count from 0 here (from 1 on the wire). Single-threaded per state; a
 * `struct game_map` is immutable once made and may be shared among threads.
 */
#ifndef HILL_GAMES_GAME_H
#define HILL_GAMES_GAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"
#include "server/base/buffer.h"
#include "server/base/limits.h"

enum {
	GAME_SEATS_MAX = LIMIT_SEATS,
	GAME_PARAMS_MAX = 8,
	GAME_COLUMNS_MAX = 6,
	GAME_SEED_DIGITS_MAX = 1000,
};

struct game_map;   /* an engine's own; immutable */
struct game_state; /* an engine's own; one match */

/* How the original ended its programs; the wire's stop= word. */
enum game_stop {
	GAME_STOP_TERM, /* SIGTERM at once */
	GAME_STOP_EOF,  /* close stdin */
	GAME_STOP_EXIT, /* the game's last line has told it */
	GAME_NSTOPS
};

/*
 * What one reply is. Of several lines each but the last keeps its LF (never a
 * CR before it), and nothing is taken out: the count and the end line too are
 * in what feed() gets. All of it together has at most line_max bytes; what is
 * longer, or has too many lines, is fed as the empty line once it has ended.
 */
enum game_form {
	GAME_FORM_LINE,  /* one line */
	GAME_FORM_FIXED, /* reply_lines lines */
	/*
	 * a line that is a decimal number up to reply_lines, then so many
	 * more; a first line that is no number stands alone
	 */
	GAME_FORM_COUNTED,
	/* at most reply_lines lines, and then one that is reply_end */
	GAME_FORM_ENDED,
	GAME_NFORMS
};

/* What a seat's turn came to. */
enum game_input {
	GAME_REPLY, /* one, without its last LF and without a CR before it */
	GAME_LATE, /* the request's time ran out: no reply will be fed for it */
	GAME_GONE, /* the program has ended; may come whether asked or not; nothing more follows from this seat */
	GAME_NINPUTS
};

/* Why a seat's game ended; the word is the wire's reason= and the store's. */
enum game_reason {
	GAME_FINISHED, /* finished: the game ran to its end */
	GAME_TIMED_OUT, /* late: a reply came too late and the rules end it there */
	GAME_LEFT,      /* gone: the program ended or the link was lost */
	GAME_SUSPENDED, /* suspended: too many late replies */
	GAME_INVALID,   /* invalid: a reply that stops the original */
	GAME_NREASONS
};

enum game_status {
	GAME_DONE, /* the input is dealt with */
	GAME_BUSY  /* call work() */
};

struct game_error {
	char text[200]; /* what is wrong and where, for a person; no newline */
};

struct game_param {
	const char *name; /* as in `turns=500`; lower case, '-' between words */
	int64_t min, max, fallback;
	const char *doc;
};

/* A map as it lies in the pool. All borrowed for the call. */
struct game_source {
	const char *name; /* the file name that bots are told */
	const char *data;
	size_t len;
	const char *options; /* the map's row options; "" for none */
};

/* All that determines a match beside its map. */
struct game_setup {
	/*
	 * decimal integer, optional sign, at most GAME_SEED_DIGITS_MAX digits
	 */
	const char *seed;
	const char *bot_seed; /* what @args hands to the program, likewise */
	unsigned seats;
	int64_t params[GAME_PARAMS_MAX]; /* in the order of game->params */
	/* put on every request; an engine only passes it on */
	uint32_t limit_ms;
	uint32_t grace_ms; /* likewise */
};

/* What one call of an engine brought about. Owned by the caller. */
struct game_out {
	struct buf lines[GAME_SEATS_MAX]; /* whole lines, each with its LF */
	uint32_t asked; /* bit a seat: one request was put to it */
	uint32_t limit_ms[GAME_SEATS_MAX]; /* of that request */
	uint32_t grace_ms[GAME_SEATS_MAX];
	/*
	 * bit a seat: its reply held something that the rules ignore; detail
	 * says what
	 */
	uint32_t invalid;
	char detail[GAME_SEATS_MAX][96]; /* escaped, no newline */
	uint32_t ended; /* bit a seat: its game is over; the program may go */
	enum game_reason reason[GAME_SEATS_MAX]; /* of those that ended */
	bool is_over; /* the match is; every seat has ended by now */
};

struct game_score {
	int64_t points; /* ranks: more is better */
	/*
	 * from 1; equal points share a rank and the next ones are skipped (1 1
	 * 3)
	 */
	unsigned rank;
	double score; /* the figure that the original printed */
	double columns[GAME_COLUMNS_MAX]; /* in the order of game->columns */
	enum game_reason reason;
};

/*
 * A picture of the state, for viewers, logs and exports: row by row from the
 * top.
 */
struct game_grid {
	unsigned width, height;
	/*
	 * owned; 0xSSRRGGBB: SS the cell's character in the original's text
	 * log, RGB its colour
	 */
	uint32_t *cells;
};

/* One kind of map that an engine can draw; generate.h is for callers. */
struct game_preset {
	const char *name; /* [a-z0-9-], as in --generate rooms */
	/* goes up when any map of it changes; from 1 */
	unsigned version;
	unsigned seats_min, seats_max;
	const char *doc; /* one line for people: size and what is on it */
};

/* Called with the CONTEXT that it was given with. */
typedef void (*game_moved_fn)(void *context, const struct game_state *state);

struct game {
	const char *name;  /* rabbit-runner */
	const char *title; /* for people */
	/* goes up when behaviour changes; stored with each match */
	unsigned version;
	unsigned seats_min, seats_max;
	enum game_stop stop;
	/* The bot reads the whole map from stdin to its end and answers with
	 * all of its stdout, made one line; sent as @input, no @file. */
	bool is_whole_input;
	/*
	 * all seats in one world; else bots are compared on the same instance
	 */
	bool is_shared;
	/* What one reply is; a line when nothing is said. */
	enum game_form form;
	/* FIXED, COUNTED, ENDED: 1..LIMIT_REPLY_LINES */
	unsigned reply_lines;
	const char *reply_end; /* ENDED: no LF in it */
	const struct game_param *params;
	unsigned nparams;
	const char *const *columns; /* score columns beside `score` */
	unsigned ncolumns;
	/* The original's limits. */
	uint32_t turn_ms, init_ms, grace_ms;
	/* Late replies that end a seat's game, for people; 0: any number. */
	unsigned late_max;

	/*
	 * The bytes under which SOURCE enters the pool (image-battle: plain
	 * 8-bit RGB), appended to RET. 0, or -EINVAL with ERROR set. NULL: as
	 * they are, if map_new takes them. Callers use game_import().
	 */
	int (*map_import)(const struct game_source *source, struct buf *ret,
			  struct game_error *error);
	/*
	 * Parse SOURCE (bytes made by map_import). 0, -EINVAL, -ENOMEM; ERROR
	 * says what and where. *RET is the caller's: map_free.
	 */
	int (*map_new)(struct game_map **ret, const struct game_source *source,
		       struct game_error *error);
	void (*map_free)(struct game_map *map); /* NULL is fine */
	/* The most seats that MAP has room for; at least seats_min. */
	unsigned (*map_seats)(const struct game_map *map);
	/* Bytes that a reply may have, without its last LF. */
	size_t (*line_max)(const struct game_map *map);
	/*
	 * What the original put on SEAT's command line, words separated by
	 * single blanks, appended to OUT; nothing for none. FILE_NAME is the
	 * map's. NULL: none for any seat.
	 */
	void (*args)(const struct game_map *map, const struct game_setup *setup,
		     unsigned seat, const char *file_name, struct buf *out);
	/* Kinds of maps that generate() draws. */
	const struct game_preset *presets;
	unsigned npresets;
	const char *map_suffix; /* of their file names, ".map" */
	/*
	 * Append the map of presets[PRESET] for SEATS (in its bounds) and SEED
	 * to RET, its row options to RET_OPTIONS: bytes that map_new takes.
	 * Integers only: the same bytes on every machine, for ever. It draws
	 * again, from the same stream, what its own check refuses. 0, -ENOMEM.
	 * NULL: no maps are generated. Callers use generate_map().
	 */
	int (*generate)(unsigned preset, unsigned seats, uint64_t seed,
			struct buf *ret, struct buf *ret_options);
	/*
	 * Whether a ladder may use MAP with SETUP: stricter than create, which
	 * allows all that the original did. 0, or -EINVAL with ERROR set.
	 * NULL: whatever create takes. Callers use game_admit().
	 */
	int (*admit)(const struct game_map *map, const struct game_setup *setup,
		     struct game_error *error);
	/* Bytes that a state of this size takes, before it is made. */
	size_t (*cost)(const struct game_map *map,
		       const struct game_setup *setup);
	/*
	 * MAP stays the caller's and must outlive the state. 0, -EINVAL (setup
	 * does not fit: ERROR), -ENOMEM.
	 */
	int (*create)(struct game_state **ret, const struct game_map *map,
		      const struct game_setup *setup, struct game_error *error);
	enum game_status (*begin)(struct game_state *state,
				  struct game_out *out);
	/*
	 * Feed one input of SEAT; GAME_REPLY and GAME_LATE only when it owes
	 * one. TEXT is borrowed for the call; ("", 0) unless GAME_REPLY.
	 */
	enum game_status (*feed)(struct game_state *state, unsigned seat,
				 enum game_input kind, const char *text,
				 size_t len, struct game_out *out);
	enum game_status (*work)(struct game_state *state,
				 struct game_out *out); /* NULL: never busy */
	/*
	 * The scores of setup->seats seats; may be called at any time, also
	 * before the end.
	 */
	void (*result)(const struct game_state *state, struct game_score *ret);
	/*
	 * Have MOVED called after each move of what is fed from now on, for
	 * those who look on; it must not feed. NULL where no input holds more
	 * moves than one.
	 */
	void (*watch)(struct game_state *state, game_moved_fn moved,
		      void *context);
	/*
	 * 0, -ENOMEM. The caller calls game_grid_release. NULL: there is no
	 * picture. Callers use game_grid().
	 */
	int (*grid)(const struct game_state *state, struct game_grid *ret);
	/*
	 * The whole state as text, appended to OUT; what golden-check compares.
	 */
	void (*dump)(const struct game_state *state, struct buf *out);
	void (*free)(struct game_state *state); /* NULL is fine */
};

/* Every engine, in the order shown to people; NULL ends it. Made by list.py. */
extern const struct game *const games_all[];
/* The engine of that name, or NULL. */
const struct game *game_find(const char *name);
/* The wire's words: "term", "finished", ... */
const char *game_stop_word(enum game_stop stop);
const char *game_reason_word(enum game_reason reason);
/* The opposite: -EINVAL when there is no such word. */
int game_reason_find(const char *word, enum game_reason *ret) WARN_UNUSED;

/*
 * Fill PARAMS from TEXT, `name=value` pairs separated by blanks, and the
 * fallbacks for what it does not name. 0, or -EINVAL: ERROR names the pair.
 */
int game_params_parse(const struct game *game, const char *text,
		      int64_t params[GAME_PARAMS_MAX],
		      struct game_error *error) WARN_UNUSED;
/* All parameters in canonical form: `turns=500`. Appended to OUT. */
void game_params_format(const struct game *game,
			const int64_t params[GAME_PARAMS_MAX], struct buf *out);
/* 0 when TEXT is an integer as `struct game_setup` takes it, else -EINVAL. */
int game_seed_check(const char *text) WARN_UNUSED;
/*
 * SEED, for which game_seed_check() is 0, as Python prints the number: "+007"
 * is 7. RET has room for strlen(SEED) + 1 bytes. Returns the length.
 */
size_t game_seed_canonical(const char *seed, char *ret);
/* The score as people read it: "23", "89.365". Appended to OUT. */
void game_score_format(double score, struct buf *out);
/* Fill in the ranks of COUNT scores from their points. */
void game_rank(struct game_score *scores, unsigned count);

/* An empty OUT; its buffers hold at most LIMIT bytes each. */
void game_out_init(struct game_out *out, size_t limit);
void game_out_clear(struct game_out *out);
void game_out_release(struct game_out *out);
/* Put one request to SEAT, with the limits of SETUP. For engines. */
void game_out_ask(struct game_out *out, unsigned seat,
		  const struct game_setup *setup);
/* SEAT's game is over. For engines. */
void game_out_end(struct game_out *out, unsigned seat, enum game_reason reason);
/* game->map_import, or what stands for it. */
int game_import(const struct game *game, const struct game_source *source,
		struct buf *ret, struct game_error *error) WARN_UNUSED;
/* game->admit, or what stands for it. */
int game_admit(const struct game *game, const struct game_map *map,
	       const struct game_setup *setup,
	       struct game_error *error) WARN_UNUSED;
/* game->grid; -ENOTSUP when the game has no picture. */
int game_grid(const struct game *game, const struct game_state *state,
	      struct game_grid *ret) WARN_UNUSED;
void game_grid_release(struct game_grid *grid);
/* Call work() until STATUS is GAME_DONE. For callers with time. */
void game_settle(const struct game *game, struct game_state *state,
		 enum game_status status, struct game_out *out);
void game_error_set(struct game_error *error, const char *format, ...)
	PRINTF_LIKE(2, 3);

#endif
