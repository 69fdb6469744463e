/* SPDX-License-Identifier: MIT */
/* report.c - what hill-bridge tells the person who started it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/bridge/bridge.h"

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

	text_add_escaped(&line, text->text, text->len, 400);
	report(slot, "%s: %s", what, buf_text(&line));
	buf_release(&line);
}

void report_match(const struct slot *slot, const struct played *played)
{
	if (slot->bridge->is_quiet)
		return;
	(void)printf("match %lld %s: rank %u of %u, score %s, %s%s%s; "
		     "slowest reply %.1f ms",
		     (long long)played->id, played->ladder, played->rank,
		     played->seats, played->score,
		     played->reason[0] != '\0' ? played->reason : "ended",
		     played->others[0] != '\0' ? ", against " : "",
		     played->others, (double)played->worst_us / 1000.0);
	/* Made only when the program wrote to standard error. */
	if (played->log_path[0] != '\0' && access(played->log_path, F_OK) == 0)
		(void)printf("; log %s", played->log_path);
	(void)putchar('\n');
	(void)fflush(stdout);
}

void report_log_path(struct bridge *bridge, struct played *played)
{
	char **oldest = &bridge->logs[bridge->next_log];
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
	if (len < 0 || (size_t)len >= sizeof(played->log_path)) {
		played->log_path[0] = '\0';
		return;
	}
	if (*oldest != NULL) {
		(void)unlink(*oldest);
		free(*oldest);
	}
	*oldest = xstrdup(played->log_path);
	bridge->next_log = (bridge->next_log + 1) % BRIDGE_LOGS_KEPT;
}

void report_release(struct bridge *bridge)
{
	for (size_t i = 0; i < BRIDGE_LOGS_KEPT; i++) {
		free(bridge->logs[i]);
		bridge->logs[i] = NULL;
	}
}
