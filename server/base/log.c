/* SPDX-License-Identifier: MIT */
#include "server/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/base/clock.h"

enum {
	LINE_BYTES = 2048,  /* a longer line is cut */
	NOTICE_BYTES = 128, /* how many were dropped */
	PIPE_BYTES = 4096,  /* a pipe that has room takes as much */
	ESCAPED_BYTES = 4,  /* \xNN */
	FILE_MODE = 0640,
};

static const char *const level_words[] = {
	[LOG_LEVEL_ERROR] = "error",
	[LOG_LEVEL_WARN] = "warn",
	[LOG_LEVEL_INFO] = "info",
	[LOG_LEVEL_DEBUG] = "debug",
};

_Static_assert((int)NOTICE_BYTES + (int)LINE_BYTES < (int)PIPE_BYTES,
	       "both lines at once");
_Static_assert(sizeof(level_words) / sizeof(level_words[0]) == LOG_NLEVELS,
	       "a word for every level");

/* Guards the next three: a line is never written to a closed descriptor. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *path; /* owned; NULL: stderr */
static int fd = STDERR_FILENO;
static unsigned long dropped; /* since the last line that was written */
static atomic_int max_level = LOG_LEVEL_INFO;

static int open_file(const char *name)
{
	/* Not blocking: a FIFO that nobody reads. */
	int opened = open(
		name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK,
		FILE_MODE);

	return opened < 0 ? -errno : opened;
}

static void set_file(char *name_take, int opened)
{
	(void)pthread_mutex_lock(&lock);
	if (fd != STDERR_FILENO)
		(void)close(fd);
	if (path != name_take)
		free(path);
	path = name_take;
	fd = opened;
	(void)pthread_mutex_unlock(&lock);
}

int log_open(const char *name)
{
	int opened;

	if (name == NULL) {
		log_close();
		return 0;
	}
	opened = open_file(name);
	if (opened < 0)
		return opened;
	set_file(xstrdup(name), opened);
	return 0;
}

int log_reopen(void)
{
	int opened;

	if (path == NULL)
		return 0;
	opened = open_file(path);
	if (opened < 0)
		return opened;
	set_file(path, opened);
	return 0;
}

void log_close(void)
{
	set_file(NULL, STDERR_FILENO);
}

void log_set_level(enum log_level level)
{
	atomic_store_explicit(&max_level, (int)level, memory_order_relaxed);
}

bool log_has_level(enum log_level level)
{
	return (int)level <=
	       atomic_load_explicit(&max_level, memory_order_relaxed);
}

bool log_level_find(const char *word, enum log_level *ret)
{
	for (unsigned i = 0; i < LOG_NLEVELS; i++) {
		if (strcmp(level_words[i], word) == 0) {
			*ret = (enum log_level)i;
			return true;
		}
	}
	return false;
}

static bool is_printable(unsigned char c)
{
	return c >= ' ' && c < 0x7f;
}

/* Append C, escaped unless it is printable, while there is room. */
static size_t put_char(char *dst, size_t at, size_t size, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";

	if (is_printable(c)) {
		if (at < size)
			dst[at++] = (char)c;
		return at;
	}
	if (size - at < ESCAPED_BYTES)
		return size;
	dst[at++] = '\\';
	dst[at++] = 'x';
	dst[at++] = hex[c >> 4];
	dst[at++] = hex[c & 15];
	return at;
}

static size_t stamp(char *dst, size_t size, enum log_level level)
{
	int64_t wall_us = clock_wall_us();
	time_t seconds = (time_t)(wall_us / 1000000);
	struct tm tm;
	size_t len;

	(void)gmtime_r(&seconds, &tm);
	len = strftime(dst, size, "%Y-%m-%dT%H:%M:%S", &tm);
	len += (size_t)snprintf(dst + len, size - len, ".%03dZ %s ",
				(int)(wall_us / 1000 % 1000),
				level_words[level]);
	return len;
}

/*
 * Write LINE, or drop it. stderr may be shared with other programs, so it is
 * asked whether it has room, and not made one that never blocks. Locked.
 */
static void put_line(const char *line, size_t len)
{
	struct pollfd room = { .fd = fd, .events = POLLOUT };
	char both[NOTICE_BYTES + LINE_BYTES + 1];
	size_t before = 0;

	if (dropped > 0) {
		before = stamp(both, NOTICE_BYTES, LOG_LEVEL_WARN);
		before += (size_t)snprintf(
			both + before, NOTICE_BYTES - before,
			"event=log_resumed log_dropped=%lu\n", dropped);
	}
	memcpy(both + before, line, len);
	if (poll(&room, 1, 0) == 1 && (room.revents & POLLOUT) != 0 &&
	    write(fd, both, before + len) > 0)
		dropped = 0;
	else
		dropped++; /* a log that is gone has nobody left to be told */
}

void log_line(enum log_level level, const char *format, ...)
{
	char text[LINE_BYTES];
	char line[LINE_BYTES + 1]; /* and the newline */
	va_list args;
	size_t len;

	if (!log_has_level(level))
		return;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	len = stamp(line, LINE_BYTES, level);
	for (const char *c = text; *c != '\0' && len < LINE_BYTES; c++)
		len = put_char(line, len, LINE_BYTES, (unsigned char)*c);
	line[len++] = '\n';
	(void)pthread_mutex_lock(&lock);
	put_line(line, len);
	(void)pthread_mutex_unlock(&lock);
}

static bool is_bare(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("._-:/+@%,[]", c) != NULL);
}

const char *log_quote(char *dst, size_t size, const char *bytes, size_t len)
{
	static const char cut[] = "...\"";
	size_t end = size - sizeof(cut); /* room for the cut mark and a NUL */
	size_t bare = 0;
	size_t at = 0;

	while (bare < len && is_bare((unsigned char)bytes[bare]))
		bare++;
	if (bare == len && len > 0 && len < size) {
		memcpy(dst, bytes, len);
		dst[len] = '\0';
		return dst;
	}
	dst[at++] = '"';
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];
		size_t need = 1;

		if (!is_printable(c))
			need = ESCAPED_BYTES;
		else if (c == '"' || c == '\\')
			need = 2;
		if (at + need > end) {
			memcpy(dst + at, cut, sizeof(cut));
			return dst;
		}
		if (need == 2)
			dst[at++] = '\\';
		at = put_char(dst, at, size, c);
	}
	dst[at++] = '"';
	dst[at] = '\0';
	return dst;
}

bool log_rate_pass(struct log_rate *rate, int64_t now_us, int64_t period_us,
		   unsigned *ret_suppressed)
{
	if (now_us < rate->next_us) {
		rate->suppressed++;
		return false;
	}
	*ret_suppressed = rate->suppressed;
	rate->suppressed = 0;
	rate->next_us = now_us + period_us;
	return true;
}
