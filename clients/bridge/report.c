/* SPDX-License-Identifier: MIT */
/* report.c - what hill-bridge tells the person who started it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/bridge/bridge.h"
#include "clients/program/explain.h"

enum { WORDS_BYTES = 1200 }; /* a free text of the server's has 1,000 */

void report(const struct slot *slot, const char *format, ...)
{
	va_list args;

	(void)fputs("hill-bridge: ", stderr);
	if (slot != NULL && slot->bridge->nslots > 1)
		(void)fprintf(stderr, "slot %u: ", slot->number);
	va_start(args, format);
	(void)vfprintf(stderr, format, args);
	va_end(args);
	(void)fputc('\n', stderr);
}

void report_words(const struct slot *slot, const char *what,
		  const struct slice *text)
{
	struct buf line = BUF_INIT(2048);

	text_add_escaped(&line, text->text, text->len, WORDS_BYTES);
	report(slot, "%s: %s", what, buf_text(&line));
	buf_release(&line);
}

/* Made only when the program wrote to standard error. */
static bool has_log(const struct played *played)
{
	return played->log_path[0] != '\0' &&
	       access(played->log_path, F_OK) == 0;
}

void report_end(const struct slot *slot, const char *what)
{
	bool is_logged = slot->current != NULL && has_log(slot->current);
	struct buf text = BUF_INIT(16384);
	char *line;
	char *next;

	report(slot, "%s%s%s", what, is_logged ? "; log " : "",
	       is_logged ? slot->current->log_path : "");
	explain_errors(&slot->program, &text);
	if (text.len > 0)
		report(slot, "its standard error ended in:");
	for (line = text.data; line != NULL; line = next) {
		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		if (*line != '\0' || next != NULL)
			report(slot, "  %s", line);
	}
	buf_release(&text);
}

/* "finished, 496 invalid, 2 late" */
static void print_reason(const struct played *played)
{
	static const char *const kinds[FAULT_NKINDS] = {
		[FAULT_LATE] = "late",   [FAULT_INVALID] = "invalid",
		[FAULT_LONG] = "long",   [FAULT_FULL] = "full",
		[FAULT_OTHER] = "other",
	};

	(void)fputs(played->reason[0] != '\0' ? played->reason : "ended",
		    stdout);
	for (unsigned i = 0; i < FAULT_NKINDS; i++) {
		if (played->faults[i] > 0)
			(void)printf(", %u %s", played->faults[i], kinds[i]);
	}
}

void report_match(const struct slot *slot, const struct played *played)
{
	if (slot->bridge->is_quiet)
		return;
	(void)printf("match %lld %s: ", (long long)played->id, played->ladder);
	/* Who is alone has no rank. */
	if (!played->is_embargo && played->seats > 1)
		(void)printf("rank %u of %u, ", played->rank, played->seats);
	if (played->is_embargo)
		(void)fputs("result under embargo, ", stdout);
	else
		(void)printf("score %s, ", played->score);
	print_reason(played);
	if (played->rated != NULL)
		(void)printf(", %s", played->rated);
	(void)printf("%s%s; ", played->others[0] != '\0' ? ", against " : "",
		     played->others);
	if (played->replies > 0)
		(void)printf("slowest reply %.1f ms",
			     (double)played->worst_us / 1000.0);
	else
		(void)fputs("no reply", stdout);
	if (has_log(played))
		(void)printf("; log %s", played->log_path);
	if (played->early > 0)
		(void)printf("; %lld repl%s before %s asked for: does it "
			     "print more than one line a turn?",
			     (long long)played->early,
			     played->early == 1 ? "y came" : "ies came",
			     played->early == 1 ? "it was" : "they were");
	(void)putchar('\n');
	(void)fflush(stdout);
}

void report_log_path(struct bridge *bridge, struct played *played)
{
	int len;

	played->log_path[0] = '\0';
	if (bridge->log_dir == NULL)
		return;
	if (mkdir(bridge->log_dir, 0700) < 0 && errno != EEXIST) {
		report(NULL, "no logs: cannot make %s: %s", bridge->log_dir,
		       strerror(errno));
		bridge->log_dir = NULL;
		return;
	}
	len = snprintf(played->log_path, sizeof(played->log_path),
		       "%s/%s-%s-%lld.log", bridge->log_dir, played->ladder,
		       bridge->bot, (long long)played->id);
	if (len < 0 || (size_t)len >= sizeof(played->log_path))
		played->log_path[0] = '\0';
}

/* A log of an earlier match, and how old it is. */
struct old_log {
	time_t written;
	long long match;
};

static int by_age(const void *left, const void *right)
{
	const struct old_log *a = left;
	const struct old_log *b = right;

	if (a->written != b->written)
		return a->written < b->written ? -1 : 1;
	return (a->match > b->match) - (a->match < b->match);
}

/* The match whose log is called NAME, PREFIX and a number; -1: none. */
static long long log_match(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);
	size_t digits;

	if (strncmp(name, prefix, len) != 0)
		return -1;
	digits = strspn(name + len, "0123456789");
	if (digits < 1 || digits > 18 ||
	    strcmp(name + len + digits, ".log") != 0)
		return -1;
	return strtoll(name + len, NULL, 10);
}

/*
 * Also what earlier runs left. The last by time: another server's matches have
 * other numbers.
 */
void report_forget_logs(const struct bridge *bridge,
			const struct played *played)
{
	DIR *folder = has_log(played) ? opendir(bridge->log_dir) : NULL;
	const struct dirent *entry;
	struct old_log *logs = NULL;
	size_t count = 0, room = 0;
	char prefix[128];
	struct stat info;

	if (folder == NULL)
		return;
	(void)snprintf(prefix, sizeof(prefix), "%s-%s-", played->ladder,
		       bridge->bot);
	while ((entry = readdir(folder)) != NULL) {
		long long match = log_match(entry->d_name, prefix);

		if (match < 0 ||
		    fstatat(dirfd(folder), entry->d_name, &info, 0) < 0)
			continue;
		if (count == room) {
			room = room * 2 + 256;
			logs = xreallocarray(logs, room, sizeof(*logs));
		}
		logs[count++] = (struct old_log){ .written = info.st_mtime,
						  .match = match };
	}
	if (count > BRIDGE_LOGS_KEPT)
		qsort(logs, count, sizeof(*logs), by_age);
	for (size_t i = 0; i + BRIDGE_LOGS_KEPT < count; i++) {
		char name[160];

		(void)snprintf(name, sizeof(name), "%s%lld.log", prefix,
			       logs[i].match);
		(void)unlinkat(dirfd(folder), name, 0);
	}
	free(logs);
	(void)closedir(folder);
}
