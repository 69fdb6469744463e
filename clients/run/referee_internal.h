/* SPDX-License-Identifier: MIT */
/*
 * referee_internal.h - a match at its table, for referee.c (tables, loop) and
 * referee_seat.c (match and programs, each heard and carried out).
 */
#ifndef HILL_CLIENTS_RUN_REFEREE_INTERNAL_H
#define HILL_CLIENTS_RUN_REFEREE_INTERNAL_H

#include "clients/run/referee.h"

enum { END_GRACE_US = 2 * 1000 * 1000 }; /* from a seat's end to SIGKILL */

struct table;

struct seat {
	struct table *table;
	struct program program;
	struct buf backlog; /* lines ahead: size_t length, bytes; each */
	int64_t kill_at_us; /* INT64_MAX: not */
	int64_t asked_us;   /* when its last request was put */
	unsigned
		early; /* replies read before that, which the match cannot see */
	bool has_ended; /* the match wants nothing more of it */
	bool is_gone_told;
	bool is_end_told;     /* hooks->ended */
	bool is_silence_told; /* hooks->noticed why a reply may be late */
	bool has_status;
	struct keeper_status status;
};

enum table_state { TABLE_FREE, TABLE_PLAYING, TABLE_ENDING };

struct table {
	struct referee *referee;
	enum table_state state;
	struct referee_job job;
	struct match *match;         /* owned */
	struct match_record *record; /* owned; NULL before the end */
	unsigned nseats;
	struct seat seats[GAME_SEATS_MAX];
};

struct referee {
	const struct referee_hooks *hooks;
	struct match_out *out;
	struct table *tables; /* owned */
	unsigned ntables;
	bool is_empty; /* there is no next match */
	int64_t last_id;
	int64_t idle_at_us;
	struct pollfd fds[REFEREE_PARALLEL_MAX * GAME_SEATS_MAX * PROGRAM_FDS];
	size_t first[REFEREE_PARALLEL_MAX][GAME_SEATS_MAX];
	size_t count[REFEREE_PARALLEL_MAX][GAME_SEATS_MAX];
	size_t nfds;
};

/* Do what the match of TABLE has put into the referee's OUT. */
void referee_apply(struct table *table);
/*
 * The loop was held up from BEGUN_US until now by what was done for OWN: the
 * programs of the other tables do not pay for it.
 */
void referee_credit(const struct table *own, int64_t begun_us);
/* A program_line_fn; CONTEXT is the program's struct seat. */
void referee_take_line(void *context, const char *line, size_t len);
/* Move the bytes of SEAT's program, of which FDS were polled; see to its end. */
void referee_serve_seat(struct seat *seat, const struct pollfd *fds,
			size_t count);
/* Tell hooks->ended of SEAT, once. */
void referee_tell_end(struct seat *seat, bool is_early);

#endif
