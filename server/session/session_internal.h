/* SPDX-License-Identifier: MIT */
/*
 * session_internal.h - what the files of session/ share. For them alone.
 */
#ifndef HILL_SESSION_SESSION_INTERNAL_H
#define HILL_SESSION_SESSION_INTERNAL_H

#include "server/session/session.h"

/* The only writer of `state`; asserts that the table has the move. */
void session_set_state(struct session *session, enum session_state state);
/* Close without a word; REASON is a static word for the log. */
void session_close_for(struct session *session, const char *reason);
/*
 * Refuse a line with an @error (TEXT NULL: the table's words); too many in a
 * row end the connection.
 */
void session_refuse_line(struct session *session, enum error_code code,
			 const char *text, struct buf *out);
/* Bounds of lines after login, for game lines of LINE_MAX bytes. */
void session_set_limits(struct session *session, size_t line_max);
/* A control line that is valid UTF-8; RET has been cleared. */
void session_take_control(struct session *session, const struct frame *frame,
			  struct buf *out, struct session_request *ret);

#endif
