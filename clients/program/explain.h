/* SPDX-License-Identifier: MIT */
/*
 * explain.h - what may be wrong with a program, in words for its author. What
 * the bridge and hill-run say alike.
 */
#ifndef HILL_PROGRAM_EXPLAIN_H
#define HILL_PROGRAM_EXPLAIN_H

#include "clients/program/program.h"
#include "server/base/buffer.h"

enum { EXPLAIN_LINES = 5 }; /* of standard error that are shown */

/*
 * Why PROGRAM, whose reply is late, may have said nothing, as far as its pipe
 * shows: it has printed nothing in all its life, or a line without its end.
 * Appended to OUT; nothing when there is nothing to say.
 */
void explain_silence(const struct program *program, struct buf *out);
/*
 * What of the whole output WHOLE is no command, blanks and line ends aside.
 * Appended to OUT; nothing when all of it is.
 */
void explain_dropped(const struct program_whole *whole, struct buf *out);
/*
 * The last lines of PROGRAM's standard error, EXPLAIN_LINES and
 * PROGRAM_TAIL_BYTES at most, escaped, each with an LF. Appended to OUT.
 */
void explain_errors(const struct program *program, struct buf *out);
/*
 * Whether execvp() will find NAME and may run it: 0, or the negative errno
 * that it would fail with.
 */
int explain_find(const char *name) WARN_UNUSED;

#endif
