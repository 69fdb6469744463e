/* SPDX-License-Identifier: MIT */
/*
 * session.h - one peer: login, who may say what and when.
 * Pure: (state, line, now) -> bytes to send and at most one request. Knows no
 * other peer, no token, no bot; the lobby decides and answers. Loop thread.
 *
 *	while (framer_next(&session->framer, &input, &frame) != FRAME_MORE) {
 *		session_line(session, &frame, now_us, &out, &request);
 *		... carry out `request`; answer with the calls below ...
 *	}
 *
 *	                 login_ok         queued
 *	   NEW <-> LOGIN --------> IDLE ---------> QUEUED
 *	    |        |              ^ ^  <---left---  |
 *	    |        |       cancel | |               | offer (from IDLE too)
 *	    |        |        or end| +--end/cancel-- v
 *	    |        |  (QUEUED if  +----- READY <- OFFERED
 *	    |        |  ladders wait)       |  @ready
 *	    v        v              ^       v start
 *	   CLOSED <- every state    +--- PLAYING
 *
 * session_set_state() is the only writer of `state`; session_may_move() is the
 * table of moves.
 */
#ifndef HILL_SESSION_SESSION_H
#define HILL_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/control.h"
#include "proto/framer.h"
#include "proto/words.h"

enum session_state {
	SESSION_NEW = PHASE_NEW,
	SESSION_IDLE = PHASE_IDLE,
	SESSION_QUEUED = PHASE_QUEUED,
	SESSION_OFFERED = PHASE_OFFERED,
	SESSION_READY = PHASE_READY,
	SESSION_PLAYING = PHASE_PLAYING,
	SESSION_LOGIN,  /* asked the lobby; it answers before the next line */
	SESSION_CLOSED, /* send what is in `out`, then close */
	SESSION_NSTATES
};

/* What the lobby has to do about a line. */
enum session_kind {
	SESSION_ASK_NOTHING,
	SESSION_ASK_LOGIN,    /* answer: session_login_ok, session_refuse */
	SESSION_ASK_GUEST,    /* answer: session_login_ok, session_refuse */
	SESSION_ASK_REGISTER, /* answer: session_registered, session_refuse */
	SESSION_ASK_ROTATE,   /* answer: @token, session_refuse */
	SESSION_ASK_LADDERS,  /* answer: the list of them */
	SESSION_ASK_PLAY,     /* answer: session_queued, session_refuse */
	SESSION_ASK_LEAVE,    /* answer: session_left, session_refuse */
	SESSION_ASK_READY,    /* of the current match; the state has moved */
	SESSION_ASK_SKIP,     /* the oldest reply owed will not come */
	SESSION_ASK_GONE,     /* the bot's program has ended */
	SESSION_ASK_RESIGN,   /* also while only offered */
	SESSION_ASK_GAME,     /* a game line of the current match */
	SESSION_ASK_CLOSE,    /* the session is CLOSED; close_reason says why */
	SESSION_NKINDS
};

enum session_gone {
	SESSION_GONE_EXIT,   /* value: exit status */
	SESSION_GONE_SIGNAL, /* value: signal number */
	SESSION_GONE_STDOUT, /* it closed its stdout */
	SESSION_GONE_UNKNOWN,
	SESSION_NGONE
};

/* What kind of matches PLAY wants. */
enum session_how {
	SESSION_PLAY_LADDER,  /* the ladder's own */
	SESSION_PLAY_ANY,     /* these, and unrated ones that others ask for */
	SESSION_PLAY_UNRATED, /* as `wish` says */
	SESSION_NHOWS
};

/* What an unrated match is to be; "" and 0: left to the server. */
struct session_wish {
	struct slice map;
	struct slice seed; /* digits, 0..2^63 - 1, no leading zero */
	struct slice against;
	uint32_t turn_ms;
	uint32_t matches;
};

/* All slices are borrowed from the line. */
struct session_request {
	enum session_kind kind;
	int64_t match_id;     /* READY, SKIP, GONE, RESIGN, GAME */
	struct slice name;    /* LOGIN, GUEST: a valid name; PLAY, LEAVE: the
			         ladder, a valid name; LEAVE: "" for all */
	struct slice token;   /* LOGIN, REGISTER ("": none); never logged */
	struct slice client;  /* LOGIN: client=, "" */
	struct slice version; /* LOGIN: version=, a valid label, or "" */
	struct slice invite;  /* REGISTER: invite=, ""; never logged */
	bool is_candidate;    /* LOGIN */
	bool is_quiet;        /* READY */
	bool is_pong;         /* NOTHING: what is said times the link */
	enum session_how how; /* PLAY */
	struct session_wish wish;
	struct slice line;      /* GAME: the reply; "" when is_long */
	bool is_long;           /* GAME: the line was over line-max */
	size_t long_bytes;      /* and had so many bytes */
	enum session_gone gone; /* GONE */
	int64_t gone_value;
};

struct session {
	struct framer framer;     /* embedded; the caller feeds it */
	int64_t login_by_us;      /* deadline of the login */
	int64_t match_id;         /* current match, 0 for none */
	int64_t newest_match_id;  /* the newest that this peer was told */
	const char *close_reason; /* static word; NULL while open */
	uint32_t stray_lines;     /* game lines thrown away, so far */
	uint32_t line_max;        /* of the match that is offered */
	uint16_t ladders;         /* that the peer waits on */
	uint8_t state;            /* enum session_state */
	uint8_t bad_lines;        /* in a row */
	bool was_told_stray;
	bool names_version;  /* LOGIN said version= */
	bool is_registering; /* in LOGIN: goes back to NEW */
	bool wants_ping;     /* LOGIN's ping=1, for when hilld sends @ping */
};

/* A new connection, to log in by LOGIN_BY_US. session_release frees. */
void session_init(struct session *session, int64_t login_by_us);
void session_release(struct session *session);
/* Append the server's first line: `@hill 1 HOST`. */
void session_greet(struct session *session, const char *host, struct buf *out);
/*
 * One frame of session->framer, of any kind but FRAME_MORE. Appends answers to
 * OUT and sets RET. Must not be called in SESSION_LOGIN, but for
 * FRAME_NO_MEMORY; once CLOSED it says nothing more. RET borrows FRAME.
 */
void session_line(struct session *session, const struct frame *frame,
		  struct buf *out, struct session_request *ret);
/*
 * The peer sends no more (FIN), after the last line was taken: it counts as
 * the end of the link. The caller still sends what is queued. RET: CLOSE.
 */
void session_end_of_input(struct session *session, struct session_request *ret);
/* The login must come by LOGIN_BY_US, if it was not to come sooner. */
void session_hurry(struct session *session, int64_t login_by_us);
/* When session_expire() must be called, or INT64_MAX. */
int64_t session_deadline(const struct session *session);
/* At NOW_US; RET is CLOSE when the login came too late, else NOTHING. */
void session_expire(struct session *session, int64_t now_us, struct buf *out,
		    struct session_request *ret);

/* The lobby's answers and news. Each appends its control line to OUT. */
/*
 * `@welcome NAME`, with version=VERSION (may be NULL) where the login named
 * one; longer lines from now on. LOGIN -> IDLE.
 */
void session_login_ok(struct session *session, const char *bot,
		      const char *version, struct buf *out);
/* `@registered NAME token=TOKEN`: LOGIN -> NEW. */
void session_registered(struct session *session, const char *name,
			const char *token, struct buf *out);
/*
 * `@error CODE retry-after=S : TEXT` (no key when 0). Closes when the code's
 * table says so or the state is LOGIN; but a peer that wanted to register is
 * NEW again. TEXT NULL: the table's words.
 */
void session_refuse(struct session *session, enum error_code code,
		    int64_t retry_after_s, const char *text, struct buf *out);
/*
 * `@queued LADDER waiting=N unrated=UNRATED` (NULL: no key); the peer waits on
 * LADDERS ladders now.
 */
void session_queued(struct session *session, const char *ladder,
		    unsigned waiting, unsigned ladders, const char *unrated,
		    struct buf *out);
/* `@left LADDER` (NULL: no name, all left); LADDERS remain. */
void session_left(struct session *session, const char *ladder, unsigned ladders,
		  struct buf *out);
/* The peer waits on LADDERS ladders now, without a word. */
void session_set_ladders(struct session *session, unsigned ladders);
/*
 * A match is offered; the match itself writes @match. LINE_MAX is the game's;
 * it holds from @ready on, till the next @ready. From IDLE or QUEUED.
 */
void session_offer(struct session *session, int64_t match_id, size_t line_max);
/* All are ready: READY -> PLAYING. The match writes @start. */
void session_start(struct session *session);
/*
 * The seat's game is over, or the match is cancelled or void: OFFERED, READY
 * or PLAYING -> QUEUED or IDLE. The match writes the line that says so.
 */
void session_leave_match(struct session *session);
/*
 * Close for the lobby's or net's own reason: `@error CODE : TEXT`. Any state;
 * does nothing when closed. OUT NULL: say nothing.
 */
void session_close(struct session *session, enum error_code code,
		   const char *text, struct buf *out);

bool session_is_closed(const struct session *session);
bool session_is_logged_in(const struct session *session);
/* Whether the table allows FROM -> TO. */
bool session_may_move(enum session_state from, enum session_state to);
/* Asserts the invariants. Called after each step. */
void session_check(const struct session *session);

#endif
