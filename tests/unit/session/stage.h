/* SPDX-License-Identifier: MIT */
/* stage.h - one session that a test talks to, and what it answers. */
#ifndef HILL_TESTS_UNIT_SESSION_STAGE_H
#define HILL_TESTS_UNIT_SESSION_STAGE_H

#include <stddef.h>

#include "server/base/buffer.h"
#include "server/session/session.h"

enum {
	LOGIN_BY = 10000000,
	OLD_MATCH = 4710,
	MATCH = 4711,
	TURN_LINE_MAX = 100,
};

extern struct session session;
extern struct buf out;                 /* what the last say() brought */
extern struct session_request request; /* likewise */

/* Feed TEXT; `request` is the last line's. Stops when a line asks for login. */
void say_bytes(const char *text, size_t len);
/* The same, after all that was said before is forgotten. */
void say(const char *text);
/* A new session, logged in. */
void log_in(void);
/* A session in STATE; where it has a match, that is MATCH. */
void be_in(enum session_state state);
/* Free all, at the end of a test program. */
int release(void **state);

#endif
