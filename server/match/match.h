/* SPDX-License-Identifier: MIT */
/*
 * match.h - one match from the offer to its record: seats, turn clock, bank,
 * lag, owed replies, faults.
 *
 * Pure: no I/O, no clock; `now_us` is monotonic microseconds. What has happened
 * stays so: an earlier one than the match has seen counts as the latest. Only
 * match_due and match_expire take it as it is, for what is due: between them
 * last reads are made, which have later times. One thread at a time. Seats count from 0 here, from 1 on the wire.
 *
 * How a server with many matches uses it (one OUT serves all of them):
 *
 *	struct match_out *out = match_out_new();	once a thread
 *	match_new(&match, &config, now, out);		the @match lines
 *	match_ready(match, seat, false, now, out);	... the last one starts it
 *	match_line(match, seat, text, len, now, out);	a reply
 *	timer at match_deadline(match):
 *		for the seats of match_due(match, now): one last read, and
 *		match_line with what it gave; then
 *		match_expire(match, now, out);
 *
 * and after *every* call that takes OUT the caller does what OUT says:
 *
 *	for each seat: send out->lines[seat] (with the map's prepared block put
 *	in at out->block_at[seat]); for the seats of out->clock call
 *	match_clock_started(match, seat, clock_now_us()) right before send();
 *	out->is_busy: run match_work(match) on a worker, and when it is back
 *		match_resume(match, now, out);
 *	out->is_over: record = match_take_record(match); match_free(match);
 *		once the store has it: match_result_lines(record, seat, &buf);
 *	out->is_cancelled: the seats of out->stays wait on; match_free(match).
 *
 * How a program with one match and local processes uses it (hill-run): the
 * same calls with config.is_local: OUT then holds bare game lines, as the
 * original's pipes carried them, and what would be control lines are in
 * out->told, one a line, for people. It calls match_ready for every seat at
 * once, match_clock_started right before write(), match_gone at end of file
 * or exit, and poll()s until match_deadline().
 *
 *	  match_new -> OFFERED --all ready--> RUNNING <--> BUSY
 *	                  |                     |  |        |
 *	   silent, lost,  v       the game ends v  v        v  stall, abandoned
 *	   left       CANCELLED               OVER  VOID, ABANDONED
 *
 * A reply is in time until match_expire has given its verdict: that is what
 * the last read is for. The n-th reply answers the n-th request; a late one
 * is thrown away when it comes.
 */
#ifndef HILL_MATCH_MATCH_H
#define HILL_MATCH_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"
#include "server/base/buffer.h"
#include "server/games/game.h"

struct match;
struct match_record; /* record.h */
struct match_scratch;

enum match_state {
	MATCH_OFFERED,   /* seats are asked to say @ready */
	MATCH_RUNNING,   /* it counts */
	MATCH_BUSY,      /* likewise; the engine wants match_work() */
	MATCH_OVER,      /* played to its end; there is a record */
	MATCH_CANCELLED, /* never began */
	MATCH_VOID,      /* our fault; there is a record that says why */
	MATCH_ABANDONED, /* stopped; no record */
	MATCH_NSTATES
};

enum match_fault {
	MATCH_FAULT_LATE,    /* no reply in time */
	MATCH_FAULT_INVALID, /* it held something that the rules ignore */
	MATCH_FAULT_LONG,    /* over line-max: fed as the empty line */
	MATCH_FAULT_FULL,    /* its share of the transcript is used up: out */
	MATCH_NFAULTS
};

/* The ladder row's limits. On the wire they are milliseconds as well. */
struct match_limits {
	uint32_t turn_ms;       /* 0: no limit, for debuggers */
	uint32_t init_ms;       /* more for the first reply */
	uint32_t bank_ms;       /* at the start; 0: no bank at all */
	uint32_t bank_step_ms;  /* more with each request */
	uint32_t bank_spend_ms; /* most of the bank that one turn may take */
	uint32_t lag_cap_ms;    /* most that distance is paid for */
	uint32_t ready_ms;      /* @ready within this; 0: no limit */
	uint32_t file_ms;  /* the first clock waits so long for the files */
	uint32_t grace_ms; /* between @interrupt and the verdict; 0: none */
	/*
	 * Lost by the loop in all; more is void. Stalls of up to a tenth of
	 * turn_ms do not count: a long match under load gathers many.
	 */
	uint32_t stall_void_ms;
};

/* Why a match is played. Only one of a round is ever rated. */
enum match_purpose {
	MATCH_FOR_LADDER, /* its bots wait there, and it was their turn */
	MATCH_FOR_REMATCH,
	MATCH_FOR_UNRATED,
	MATCH_FOR_CANDIDATE,
	MATCH_FOR_TOURNAMENT,
	MATCH_NPURPOSES
};

enum match_round_kind {
	MATCH_NO_ROUND,
	MATCH_ROUND_OPEN, /* one instance, each owner's run on its own */
	MATCH_ROUND_SET,  /* one instance, the seats rotated */
	MATCH_NROUNDS
};

/* The rated round that a match belongs to. */
struct match_round {
	enum match_round_kind kind;
	int64_t id;        /* that of the first match offered in it */
	unsigned number;   /* of a set's match, from 1 */
	unsigned wanted;   /* matches until it closes */
	int64_t opened_us; /* monotonic */
};

/*
 * Which match of a tournament it is, as server/ladder/tournament.h counts.
 * In a record without a game it stands for itself: a match that is lost by
 * who is ABSENT (bit a seat), or the end of the tournament.
 */
struct match_meeting {
	int64_t tournament; /* its id; 0: of none */
	uint32_t pairing;   /* from 0 */
	uint32_t number;    /* set and turn in it, from 0 */
	unsigned nseats;
	uint32_t entrants[GAME_SEATS_MAX]; /* by seat, from 0 */
	unsigned absent;
	bool is_end;
	bool is_embargo; /* nobody is told how it ended, until it is revealed */
};

/* "ladder", "rematch", ...: as the database has it. */
const char *match_purpose_word(enum match_purpose purpose);

struct match_seat_config {
	const char *bot;            /* its name; copied */
	int64_t bot_id, version_id; /* for the record */
};

/* All that a match is told at its birth. */
struct match_config {
	int64_t id;
	const struct game *game;    /* static */
	const struct game_map *map; /* borrowed until match_free */
	const char *map_name; /* the file name that bots are told; copied */
	const char *ladder;   /* its name; copied */
	int64_t ladder_id, map_id; /* for the record */
	bool is_rated;
	enum match_purpose purpose;
	struct match_round round;     /* all zero: of none */
	struct match_meeting meeting; /* likewise */
	bool is_local; /* hill-run: bare game lines, no control lines */
	/*
	 * Copied with its texts. limit_ms and grace_ms are taken from LIMITS.
	 */
	const struct game_setup *setup;
	struct match_limits limits;
	struct match_seat_config seats[GAME_SEATS_MAX]; /* setup->seats */
};

/*
 * What one call brought about. Owned by the caller, shared by all matches of
 * one thread; each call that takes it clears it first.
 */
struct match_out {
	/*
	 * All that goes to the seat now, control and game lines in order; one
	 * send. Nothing for a seat whose link is lost.
	 */
	struct buf lines[GAME_SEATS_MAX];
	/*
	 * Where in these bytes the map's block goes (@file, or @input where
	 * game->is_whole_input): 0..len. MATCH_NO_BLOCK: nowhere.
	 */
	size_t block_at[GAME_SEATS_MAX];
	struct buf told;  /* is_local: the control lines, each behind "N: " */
	uint32_t touched; /* bit a seat: it has lines or a block */
	uint32_t clock;   /* bit a seat: these bytes hold a request */
	uint32_t ended;   /* bit a seat: its @end is among them */
	uint32_t stays;   /* is_cancelled: seats that stay queued */
	bool has_started; /* the match began to count with this call */
	bool is_busy;     /* call match_work, then match_resume */
	bool is_over;     /* OVER or VOID: match_take_record */
	bool is_void;     /* it is VOID */
	bool is_cancelled;
	bool is_failed; /* is_cancelled: by us, whatever STAYS says */
	bool is_lost;   /* is_cancelled: by a link that was lost */
	bool is_abandoned;
	/* Private. */
	struct game_out game;
	struct match_scratch *scratch; /* owned */
};

#define MATCH_NO_BLOCK SIZE_MAX

/*
 * An OUT for one thread; about 100 KiB once used. match_out_free. What one call
 * tells a seat has LIMIT_OUTPUT_BYTES at most, or the match is void.
 */
struct match_out *match_out_new(void) WARN_UNUSED;
/*
 * Likewise for matches that are IS_LOCAL: LIMIT_LOCAL_OUTPUT_BYTES. No peer is
 * at the other end, and the originals knew no bound.
 */
struct match_out *match_out_new_local(void) WARN_UNUSED;
void match_out_free(struct match_out *out); /* NULL is fine */

/*
 * Offer a match: OUT holds the @match lines. The ready clock runs from NOW_US.
 * 0 with *RET (match_free), or -EINVAL when setup->seats does not fit. The
 * engine is made only when all are ready.
 */
int match_new(struct match **ret, const struct match_config *config,
	      int64_t now_us, struct match_out *out) WARN_UNUSED;
/* Not while BUSY. NULL is fine. */
void match_free(struct match *match);

/*
 * SEAT promises to play. IS_QUIET: hold control lines back until its @end.
 * With the last one the match starts (out->has_started). A second @ready, or
 * one that comes too late, is ignored.
 */
void match_ready(struct match *match, unsigned seat, bool is_quiet,
		 int64_t now_us, struct match_out *out);
/*
 * SEAT said a game line TEXT of LEN bytes, without its LF and CR and with the
 * first @ of @@ dropped; borrowed for the call. NOW_US is when its LF was
 * received. Thrown away before the seat's @ready and after its end. Call it
 * only while match_wants() is true. Where a reply has several lines
 * (game->form) it came when its last line came; a half of one is nothing until
 * then, and at the verdict the beginning of the reply that is owed.
 */
void match_line(struct match *match, unsigned seat, const char *text,
		size_t len, int64_t now_us, struct match_out *out);
/* A line of more than line-max; its bytes are gone. Otherwise as match_line:
 * a reply that it is part of is too long. */
void match_line_long(struct match *match, unsigned seat, int64_t now_us,
		     struct match_out *out);
/* Whether SEAT may say more lines now: false when 16 replies, or one line-max
 * of bytes, are ahead. Then stop reading it; every call may change that. */
bool match_wants(const struct match *match, unsigned seat);
/*
 * @skip: the oldest owed reply of SEAT will not come, or not the rest of it.
 * Else ignored.
 */
void match_skip(struct match *match, unsigned seat, int64_t now_us,
		struct match_out *out);
/*
 * SEAT's program has ended, HOW ("exit=3", "signal=9", "stdout=closed", "eof";
 * at most 23 bytes are kept). In order behind the lines before it; what comes
 * after it is ignored. Lines still go out to the seat. For @gone, and for a
 * link whose reading side has ended. Cancels an offer.
 */
void match_gone(struct match *match, unsigned seat, const char *how,
		int64_t now_us, struct match_out *out);
/* @resign: at once, whatever waits. Cancels an offer. */
void match_resign(struct match *match, unsigned seat, int64_t now_us,
		  struct match_out *out);
/*
 * SEAT's link is no more: as match_gone, and nothing is put out for it any
 * more. May come at any time, more than once.
 */
void match_link_lost(struct match *match, unsigned seat, int64_t now_us,
		     struct match_out *out);

/*
 * The first send() of SEAT's request is tried NOW. Once for each bit of
 * out->clock; changes match_deadline(). Until it is called no time runs.
 */
void match_clock_started(struct match *match, unsigned seat, int64_t now_us);
/*
 * SEAT's host has acknowledged all that was sent with the map: init-ms counts
 * from here. Needed only where a block was put out. More calls do nothing.
 */
void match_files_acked(struct match *match, unsigned seat, int64_t now_us);
/* A sample of tcpi_min_rtt on a link of SEAT. The least one counts, from the
 * next request on. */
void match_rtt(struct match *match, unsigned seat, int64_t rtt_us);

/* When match_expire wants to be called; INT64_MAX: not by time. */
int64_t match_deadline(const struct match *match);
/* The seats (a bit each) on whom match_expire(NOW) would give a verdict. */
uint32_t match_due(const struct match *match, int64_t now_us);
/* Give the verdicts that are due at NOW_US: late, @interrupt, not ready. */
void match_expire(struct match *match, int64_t now_us, struct match_out *out);
/*
 * The loop itself lost LOST_US just before NOW_US: running clocks are set
 * back by it. More than stall_void_ms of grave ones makes the match VOID.
 */
void match_credit_stall(struct match *match, int64_t lost_us, int64_t now_us,
			struct match_out *out);

/* Compute on. Any one thread, after is_busy; nobody else touches MATCH. */
void match_work(struct match *match);
/* match_work has returned: what came meanwhile is dealt with now. */
void match_resume(struct match *match, int64_t now_us, struct match_out *out);

/*
 * Stop it: the server goes down. An offer is cancelled (WORD its reason= word,
 * all seats stay); a running match gets `@end ... reason=abandoned` and a
 * @void. While BUSY it takes effect at match_resume.
 */
void match_abandon(struct match *match, const char *word, int64_t now_us,
		   struct match_out *out);
/*
 * Our fault: WORD and TEXT say which. Stored, counts for nothing. Otherwise
 * as match_abandon; an offer is cancelled. For a cause that only the caller
 * sees; hilld has none yet, the match finds stalls and full memory by itself.
 */
void match_void(struct match *match, const char *word, const char *text,
		int64_t now_us, struct match_out *out);

/*
 * What the match leaves behind; only in OVER and VOID, once, else NULL. The
 * caller's: match_record_free (record.h).
 */
struct match_record *match_take_record(struct match *match,
				       struct match_out *out) WARN_UNUSED;

/* Looking at it. */
enum match_state match_state(const struct match *match);
const char *match_state_name(enum match_state state);
/* Requests put to SEAT so far. Not while a worker has it. */
uint32_t match_turn(const struct match *match, unsigned seat);
const char *match_fault_word(enum match_fault fault);
int64_t match_id(const struct match *match);
/* Whether SEAT is still in it: its @end was not yet put out. */
bool match_seat_plays(const struct match *match, unsigned seat);
uint32_t match_seat_faults(const struct match *match, unsigned seat,
			   enum match_fault fault);
/* Bytes that a reply may have; what @match line-max told. */
size_t match_line_max(const struct match *match);
/* Lines that a reply may have, its count or end included; 1 in most games. */
unsigned match_reply_lines(const struct match *match);
/* Bytes on the heap, without the engine's state. */
size_t match_bytes(const struct match *match);
/* Those of them that hold what was played so far, and only grow. */
size_t match_record_bytes(const struct match *match);
/*
 * From here on a seat whose replies pass BYTES is out, as `full`. It is at
 * most the seat's part of LIMIT_TRANSCRIPT_BYTES, which it is at first, and at
 * least one reply. Also while a worker has the match.
 */
void match_set_share(struct match *match, size_t bytes);
/* The engine's state for grid and dump; NULL before it runs and while BUSY. */
const struct game_state *match_game_state(const struct match *match);
/* Assert every invariant. For tests. */
void match_check(const struct match *match);

#endif
