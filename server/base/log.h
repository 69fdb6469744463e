/* SPDX-License-Identifier: MIT */
/*
 * log.h - what happened, one line each: key=value pairs, ids first.
 *
 *	2026-03-01T12:00:00.123Z info conn=17 peer=1.2.3.4:5 event=closed
 *
 * One log a process, on stderr until log_open() names a file. A line is one
 * write() in append mode, so lines of several threads, or of a second process,
 * never mix. Whatever a message holds, its line stays one line of printable
 * bytes: others are written \xNN; a value that a peer chose goes through
 * log_quote(), which also keeps it one value. Any thread.
 *
 * Nobody waits for a log: a line that a full pipe (stderr of a service whose
 * reader is stuck) does not take is dropped, and counted in front of the next
 * one that it takes: "event=log_resumed log_dropped=N". A file is waited for,
 * by all threads that log: have it on a disk that does not stall, or log to
 * stderr.
 */
#ifndef HILL_BASE_LOG_H
#define HILL_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"

enum log_level {
	LOG_LEVEL_ERROR, /* the operator must act */
	LOG_LEVEL_WARN,
	LOG_LEVEL_INFO,  /* one line a match and a connection's end */
	LOG_LEVEL_DEBUG, /* steps and state moves */
	LOG_NLEVELS
};

enum { LOG_QUOTE_BYTES = 256 }; /* what log_quote needs for most values */

/*
 * Write to the file PATH (made, 0640, appended to) from now on; NULL for
 * stderr. 0 or -errno; then the log stays where it was.
 */
int log_open(const char *path) WARN_UNUSED;
/*
 * Open the same path again, after it was rotated away. 0 or -errno; then lines
 * go on into the old file.
 */
int log_reopen(void) WARN_UNUSED;
/* Back to stderr, the file closed. */
void log_close(void);
/* Lines above LEVEL are dropped; LOG_LEVEL_INFO at the start. */
void log_set_level(enum log_level level);
/* Whether a line of LEVEL would be written: to spare the making of it. */
bool log_has_level(enum log_level level);
/* "error", "warn", "info", "debug"; false when WORD is none of them. */
bool log_level_find(const char *word, enum log_level *ret);

/* One line, without its newline. */
void log_line(enum log_level level, const char *format, ...) PRINTF_LIKE(2, 3);
#define log_error(...) log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...) log_line(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...) log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)                                          \
	do {                                                    \
		if (log_has_level(LOG_LEVEL_DEBUG))             \
			log_line(LOG_LEVEL_DEBUG, __VA_ARGS__); \
	} while (0)

/*
 * BYTES as one value of a log line, written to DST (SIZE bytes, at least 8,
 * NUL included) and returned: bare when it holds only letters, digits and
 * plain marks, else in double quotes with \" \\ and \xNN; cut with "..." when
 * it is too long.
 */
const char *log_quote(char *dst, size_t size, const char *bytes, size_t len);

/* Of lines that may come in floods, so many a period. Zero at the start. */
struct log_rate {
	int64_t next_us;     /* when the next one may go out */
	unsigned suppressed; /* since the last that went out */
};
/*
 * Whether a line may go out at NOW_US, the next then PERIOD_US later at the
 * earliest; *RET_SUPPRESSED is how many were held back since the last one.
 */
bool log_rate_pass(struct log_rate *rate, int64_t now_us, int64_t period_us,
		   unsigned *ret_suppressed);

#endif
