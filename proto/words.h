/* SPDX-License-Identifier: MIT */
/*
 * words.h - every control word and every code of @error, each declared once.
 * The tables check and dispatch what a client says, make the text of @help,
 * and are printed in PROTOCOL.md (a test compares). Constant; any thread.
 */
#ifndef HILL_PROTO_WORDS_H
#define HILL_PROTO_WORDS_H

#include <stdbool.h>
#include <stddef.h>

enum {
	WORDS_PROTOCOL = 1, /* the version in @hill and proto= */
	WORD_ARGS_MAX = 3,
};

/* Where a connection is, as far as a client can tell. */
enum phase {
	PHASE_NEW,     /* connected, not logged in */
	PHASE_IDLE,    /* logged in, waiting for nothing */
	PHASE_QUEUED,  /* waits on one ladder or more */
	PHASE_OFFERED, /* was sent @match */
	PHASE_READY,   /* said @ready; from here on game lines count */
	PHASE_PLAYING, /* from @start to @end */
	PHASE_N
};

enum {
	PHASES_ALL = (1u << PHASE_N) - 1,
	PHASES_LOGGED_IN = PHASES_ALL & ~(1u << PHASE_NEW),
};

/* Who says a word. */
enum {
	WORD_FROM_CLIENT = 1u << 0,
	WORD_FROM_SERVER = 1u << 1,
};

enum word_id {
	/* from the client */
	WORD_LOGIN,
	WORD_GUEST,
	WORD_REGISTER,
	WORD_ROTATE,
	WORD_HELP,
	WORD_LADDERS,
	WORD_PING,
	WORD_PONG,
	WORD_QUIT,
	WORD_PLAY,
	WORD_LEAVE,
	WORD_READY,
	WORD_SKIP,
	WORD_GONE,
	WORD_RESIGN,
	/* from the server; help, ladders, ping and pong too */
	WORD_HILL,
	WORD_WELCOME,
	WORD_REGISTERED,
	WORD_TOKEN,
	WORD_ERROR,
	WORD_QUEUED,
	WORD_LEFT,
	WORD_MATCH,
	WORD_CANCEL,
	WORD_VOID,
	WORD_FILE,
	WORD_ARGS,
	WORD_START,
	WORD_INPUT,
	WORD_BANKED,
	WORD_FAULT,
	WORD_INTERRUPT,
	WORD_END,
	WORD_PLACE,
	WORD_RESULT,
	WORD_LADDER,
	WORD_NOTICE,
	WORD_NWORDS
};

struct word_part {
	const char *name; /* NULL ends a list */
	const char *doc;
	bool is_optional; /* keys: all that a client need not send */
};

struct word {
	const char *name; /* without the '@' */
	unsigned from;    /* WORD_FROM_ bits */
	unsigned phases;  /* bit a phase: when a client may say it */
	struct word_part args[WORD_ARGS_MAX + 1];
	const struct word_part *keys; /* none in a program without texts */
	bool has_text;                /* `: free text` follows */
	bool has_block;               /* lines=N raw lines follow */
	bool is_verbatim; /* what follows is no args and keys: words as they are */
	const char *doc;
};

/* By enum word_id. */
extern const struct word words[WORD_NWORDS];
/* The word of LEN bytes NAME, or NULL. */
const struct word *word_find(const char *name, size_t len);
/* The id of a member of `words`. */
enum word_id word_id(const struct word *word);
/* "new", "idle", ... */
const char *phase_name(enum phase phase);

/* Every cause of an @error. */
enum error_code {
	ERROR_NONE, /* no error; never sent */
	/* a line that cannot be taken */
	ERROR_UNKNOWN_WORD,
	ERROR_BAD_ARGUMENTS,
	ERROR_BAD_TEXT,
	ERROR_LINE_TOO_LONG,
	ERROR_FLOOD,
	ERROR_TOO_MANY_ERRORS,
	ERROR_NOT_NOW,
	ERROR_NOT_LOGGED_IN,
	ERROR_STRAY_LINE,
	/* login and connection */
	ERROR_LOGIN_TIMEOUT,
	ERROR_LOGIN_FAILED,
	ERROR_PROTOCOL_VERSION,
	ERROR_GUESTS_OFF,
	ERROR_VERSION_RETIRED,
	ERROR_TOO_MANY_VERSIONS,
	ERROR_BOT_DISABLED,
	ERROR_BOT_BUSY,
	ERROR_EVICTED,
	ERROR_SERVER_FULL,
	ERROR_ADDRESS_LIMIT,
	ERROR_TRY_LATER,
	ERROR_SLOW_READER,
	ERROR_SHUTDOWN,
	ERROR_INTERNAL,
	/* registration */
	ERROR_REGISTRATION_CLOSED,
	ERROR_INVITE_REFUSED,
	ERROR_NAME_REFUSED,
	ERROR_NAME_TAKEN,
	ERROR_TOO_MANY_BOTS,
	/* ladders and matches */
	ERROR_UNKNOWN_LADDER,
	ERROR_LADDER_DISABLED,
	ERROR_ALREADY_QUEUED,
	ERROR_TOO_MANY_LADDERS,
	ERROR_PAUSED,
	ERROR_GUEST_UNRATED,
	ERROR_UNKNOWN_MAP,
	ERROR_CONTEST_SEED,
	ERROR_OPEN_INSTANCE,
	ERROR_UNKNOWN_OPPONENT,
	ERROR_TURN_REFUSED,
	ERROR_UNKNOWN_MATCH,
	ERROR_NO_NEW_MATCHES,
	ERROR_NCODES
};

struct error_kind {
	const char *name;
	bool closes; /* the server ends the connection after it */
	const char *doc;
};

/* By enum error_code. */
extern const struct error_kind error_kinds[ERROR_NCODES];

#endif
