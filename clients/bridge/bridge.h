/* SPDX-License-Identifier: MIT */
/*
 * bridge.h - what the parts of hill-bridge share: the options, the slots.
 *
 * One process, one poll loop. A slot is one connection to hilld and at most
 * one match with its program:
 *
 *	down -> connecting -> greeting -> login -> waiting
 *	waiting --@match--> offered --@ready--> ready --@start--> playing
 *	playing --@end--> ending --program dead--> waiting
 *	any --link lost--> down (again after a pause) or finished
 *
 * link.c moves bytes, words.c and match.c know the words, watch.c the program,
 * report.c tells people; check.c measures a link, outlook.c reckons with it.
 */
#ifndef HILL_BRIDGE_BRIDGE_H
#define HILL_BRIDGE_BRIDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clients/program/program.h"
#include "proto/block.h"
#include "proto/framer.h"
#include "server/base/buffer.h"
#include "server/base/limits.h"

enum {
	BRIDGE_SLOTS_MAX = 64,
	BRIDGE_LADDERS_MAX = 8,
	BRIDGE_ARGS_MAX = 64,   /* words that @args may add */
	BRIDGE_PENDING_MAX = 4, /* matches of a slot whose @result is to come */
	BRIDGE_LOGS_KEPT = 200, /* log files of a bot and a ladder */
	BRIDGE_OUT_BYTES = 8 * 1024 * 1024,
	/* Lines about late replies of one match, and as many about the rest. */
	BRIDGE_FAULTS_TOLD = 5,
	/* Programs in a row that ended at once before the bridge gives up. */
	BRIDGE_DEATHS_MAX = 3,
	RETRY_AFTER_MOST_S = 3600, /* of the server's wishes */
	SET_MATCHES_MOST = 64,
	/* How long the next match of a set is waited for. */
	SET_NEXT_US = 20 * 1000 * 1000,
};

/* Faults as the result line counts them. */
enum fault_kind {
	FAULT_LATE,
	FAULT_INVALID,
	FAULT_LONG,
	FAULT_FULL,
	FAULT_OTHER, /* a word of a later server */
	FAULT_NKINDS
};

enum slot_state {
	SLOT_DOWN,       /* no connection; tries again at retry_at_us */
	SLOT_CONNECTING, /* TCP's handshake is under way */
	SLOT_GREETING,   /* @hill is to come */
	SLOT_LOGIN,      /* @login is said, @welcome is to come */
	SLOT_WAITING,    /* logged in; queued, unless it has left */
	SLOT_OFFERED, /* @match came; @ready waits for the last program's end */
	SLOT_READY,   /* @ready said; files and @start are to come */
	SLOT_PLAYING, /* the program plays */
	SLOT_ENDING,  /* @end came; the program is being ended */
	SLOT_FINISHED, /* takes no more part */
	SLOT_NSTATES
};

/* A match from @match to its @result. */
struct played {
	int64_t id;    /* 0: free */
	int64_t round; /* 0: none */
	char ladder[65];
	unsigned seat, seats; /* from 1 */
	bool is_over;         /* its @end came; only the result is open */
	bool is_early;        /* ... and others may play on for long */
	int64_t ended_us;     /* when that was */
	bool is_embargo;      /* how it ended is not told yet */
	char reason[32];      /* of @end */
	char others[256];     /* "name score, ..." from @place */
	char score[32];
	unsigned rank;
	const char *rated; /* or "unrated"; NULL: nobody said */
	int64_t worst_us;  /* slowest reply, by the bridge's own clock */
	unsigned replies;  /* that went to the server */
	unsigned faults[FAULT_NKINDS];
	unsigned told[2]; /* lines about faults: late ones, the rest */
	int64_t early;    /* replies ahead of their request, as @result says */
	char log_path[512];
};

struct slot {
	struct bridge *bridge; /* borrowed */
	unsigned number;       /* from 1 */
	enum slot_state state;
	int fd; /* -1 without a connection */
	struct framer framer;
	struct buf out;
	int64_t retry_at_us; /* in SLOT_DOWN */
	/* of the handshake and the login; INT64_MAX none */
	int64_t deadline_us;
	unsigned attempts;      /* connections that failed in a row */
	bool is_server_ending;  /* it said that it goes down */
	int64_t retry_after_us; /* what the server asked for; 0 nothing */
	bool has_left;          /* @leave was said */
	size_t nended;          /* ladders that the server has ended */
	uint32_t queued;        /* bit I: it waits on ladders[I], or did */
	int64_t play_again_us;  /* a ladder pauses us; INT64_MAX none does */
	int64_t set_round;      /* of the set that it was in last; 0 none */
	unsigned set_left;      /* matches of it that follow the current one */
	int64_t set_by_us;      /* the next one comes by then, or none */
	bool is_skipping;       /* raw lines that nobody wants */
	uint32_t raw_left;      /* of those */
	/* the match */
	struct played played[BRIDGE_PENDING_MAX];
	struct played *current; /* into `played`; NULL between matches */
	int64_t grace_ms;       /* of @match; -1: none */
	size_t line_max;
	bool is_whole_input;
	struct block block; /* being received */
	bool has_block;
	char *folder; /* private, with the files; NULL when there is none */
	char *args;   /* what @args said; NULL */
	struct buf to_program; /* game lines of one read, for one write */
	struct program program;
	int64_t kill_at_us; /* SIGKILL to what is left; INT64_MAX none */
	int64_t asked_us;   /* when it was last given lines; 0 never */
	int64_t reply_us;   /* what its last reply took */
	int64_t started_us; /* when the program was */
	bool is_gone_told;
	bool is_reply_sent; /* of a whole input */
};

struct addrinfo;

struct bridge {
	const char *self; /* how this program was called */
	const char *host;
	const char *port;
	const char *bot;
	const char *version; /* its label; NULL: the active one */
	bool is_candidate;
	char token[160];
	const char *ladders[BRIDGE_LADDERS_MAX];
	size_t nladders;
	char *const *program; /* argv, NULL at its end */
	size_t nprogram;
	const char *log_dir; /* NULL: no logs */
	bool is_chdir;
	bool is_quiet;
	unsigned long matches_wanted; /* 0: no end */
	unsigned long matches_done;   /* results told */
	unsigned nslots;
	struct slot slots[BRIDGE_SLOTS_MAX];
	struct addrinfo *addresses; /* owned; the host's, as last told */
	bool has_connected;         /* once at least */
	uint32_t unrated; /* bit I: told that ladders[I] does not count */
	/* Bit I: told that it waits on ladders[I], since a link was lost. */
	uint32_t told_waiting;
	/* Programs in a row, of all slots, that ended before they played. */
	unsigned deaths;
	bool is_finishing; /* no new matches */
	int64_t finish_us; /* since then; 0: not yet */
	bool is_stopping;  /* end everything now */
	int exit_status;
	bool is_check; /* measure the link, play nothing */
	unsigned long check_s, think_ms;
};

enum {
	EXIT_PLAYED = 0, /* asked to stop, or all matches played */
	/*
	 * the server will not have us (bad token, evicted), is not there by
	 * its name, or the program does not play
	 */
	EXIT_REFUSED = 1,
	EXIT_USAGE = 2,
};

/* ---- main.c ---- */
/* Take no more matches, and end when those that run have their results. */
void bridge_finish(struct bridge *bridge);
/* Whether SLOT has an offer, a match, or one whose result is to come. */
bool slot_has_match(const struct slot *slot);
/* The token in the file PATH, into BRIDGE; false when that is told to fail. */
bool bridge_read_token(struct bridge *bridge, const char *path);

/* ---- check.c ---- */
/*
 * Measure the link for bridge->check_s seconds and say on stdout what it does
 * to each ladder's matches. The exit status.
 */
int bridge_check(const struct bridge *bridge);

/*
 * "HOST" or "[HOST]", either with ":PORT" or at hilld's own port; the parts lie
 * in TEXT, which is changed. False when it is none of these.
 */
bool bridge_split_server(struct bridge *bridge, char *text);

/* ---- join.c ---- */
/* `hill-bridge join ...`, ARGV from "join" on. An exit status. */
int bridge_join(struct bridge *bridge, int argc, char **argv);

/* ---- rotate.c ---- */
/* `hill-bridge rotate ...`, ARGV from "rotate" on. An exit status. */
int bridge_rotate(struct bridge *bridge, int argc, char **argv);

/* ---- link.c ---- */
/* What every connection to a server wants: no delay, a watch on the peer. */
void slot_set_options(int fd);
void slot_init(struct slot *slot, struct bridge *bridge, unsigned number);
void slot_release(struct slot *slot);
/* Connect, now. */
void slot_connect(struct slot *slot, int64_t now_us);
/* Drop the connection; WHY is told. Tries again later unless finished. */
void slot_lose_link(struct slot *slot, const char *why, int64_t now_us);
/* Send what is queued, as far as the socket takes it. */
void slot_flush(struct slot *slot, int64_t now_us);
/* Read and handle what the server sent. */
void slot_receive(struct slot *slot, int64_t now_us);
/* The handshake is over, well or badly. */
void slot_connected(struct slot *slot, int64_t now_us);
/* Takes no more part; the connection is closed. */
void slot_finish(struct slot *slot);

/* ---- words.c ---- */
/* One line from the server. */
void slot_take_frame(struct slot *slot, const struct frame *frame,
		     int64_t now_us);
/*
 * Leave the queues; what runs is played to its end. In the middle of a set that
 * would lose its rest: then nothing is said, and the caller asks again.
 */
void slot_leave(struct slot *slot);
/* Whether another match is wanted beside those that are open. */
bool bridge_may_take_more(const struct bridge *bridge);
/* Say @play on those ladders that did not take us. */
void slot_play_again(struct slot *slot);
/* Leave or rejoin the queues as the number of matches wanted asks for. */
void bridge_settle_queues(struct bridge *bridge);

/* ---- match.c ---- */
/* A word about a match; others are ignored. */
void slot_take_match_word(struct slot *slot, const struct control *control,
			  int64_t now_us);
/* Promise to play the match that was offered. */
void slot_say_ready(struct slot *slot);
/* One raw line of a block. */
void slot_take_raw(struct slot *slot, const struct frame *frame);
/* Skip the raw lines, if any, that CONTROL, the last word, announced. */
void slot_skip_block(struct slot *slot, const struct control *control);
/* Say @gone with one key; the program's output counts no more. */
void slot_tell_gone(struct slot *slot, const char *key, const char *value);
/* The link is gone: end the program, forget the match. WHY is told; NULL. */
void slot_drop_match(struct slot *slot, const char *why);

/* ---- watch.c ---- */
/* One line of the program's output. Context is the slot. */
void slot_take_output(void *context, const char *line, size_t len);
/* What does not come by a line: ends, time-outs, budgets. After each poll. */
void slot_advance(struct slot *slot, int64_t now_us);
/* When slot_advance wants to be called next at the latest. */
int64_t slot_deadline(const struct slot *slot);

/* ---- report.c ---- */
/* A message for people on stderr: `hill-bridge: slot 2: TEXT`. */
void report(const struct slot *slot, const char *format, ...) PRINTF_LIKE(2, 3);
/*
 * WHAT and then TEXT of the server, cut short and escaped: they must not speak
 * to the terminal.
 */
void report_words(const struct slot *slot, const char *what,
		  const struct slice *text);
/* WHAT, beside the log's path, and the end of standard error. */
void report_end(const struct slot *slot, const char *what);
/* The line about a match whose result is here, on stdout. */
void report_match(const struct slot *slot, const struct played *played);
/* A path for the next match's log in PLAYED, "" without logs. */
void report_log_path(struct bridge *bridge, struct played *played);
/* PLAYED is over: remove the oldest logs of its ladder. */
void report_forget_logs(const struct bridge *bridge,
			const struct played *played);

#endif
