/* SPDX-License-Identifier: MIT */
#include "clients/program/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/control.h"

enum {
	FIRST_BYTES = 40,     /* of what was dropped, that are shown */
	ESCAPED_BYTES = 2000, /* of a line of standard error */
	PATH_BYTES = 8192,
};

void explain_silence(const struct program *program, struct buf *out)
{
	size_t len = program->line.len;

	if (!program->has_written)
		buf_add_text(out, "nothing was printed yet: does it flush its "
				  "output?");
	else if (len > 0 && program->is_whole)
		buf_add_format(out,
			       "%zu byte%s came, but not the end of its "
			       "output: does it exit?",
			       len, len == 1 ? "" : "s");
	else if (len > 0)
		buf_add_format(out, "%zu byte%s came without a line end", len,
			       len == 1 ? "" : "s");
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

void explain_dropped(const char *text, size_t len, struct buf *out)
{
	const char *first = NULL;
	size_t shown = 0;
	size_t dropped = 0;
	size_t kept = 0;

	for (size_t i = 0; i < len; i++) {
		if (program_is_command(text[i])) {
			kept++;
		} else if (!is_blank(text[i])) {
			if (first == NULL)
				first = text + i;
			dropped++;
		}
	}
	if (dropped == 0 && (kept > 0 || len == 0))
		return;
	if (kept == 0)
		buf_add_format(out, "no command in %zu byte%s", len,
			       len == 1 ? "" : "s");
	else
		buf_add_format(out, "dropped %zu byte%s no command", dropped,
			       dropped == 1 ? " that is" : "s that are");
	if (first == NULL)
		return;
	while (first + shown < text + len &&
	       !program_is_command(first[shown]) && !is_blank(first[shown]))
		shown++;
	buf_add_text(out, " (first: \"");
	text_add_escaped(out, first, shown, FIRST_BYTES);
	buf_add_text(out, "\")");
}

void explain_errors(const struct program *program, struct buf *out)
{
	const char *text = program->tail;
	size_t len = program->tail_len;
	size_t from;
	unsigned lines = 1;

	while (len > 0 && is_blank(text[len - 1]))
		len--;
	for (from = len; from > 0; from--) {
		if (text[from - 1] == '\n' && ++lines > EXPLAIN_LINES)
			break;
	}
	while (from < len) {
		const char *lf = memchr(text + from, '\n', len - from);
		size_t end = lf != NULL ? (size_t)(lf - text) : len;

		text_add_escaped(out, text + from, end - from, ESCAPED_BYTES);
		buf_add_char(out, '\n');
		from = end + 1;
	}
}

static int check_file(const char *path)
{
	struct stat info;

	if (stat(path, &info) < 0 || access(path, X_OK) < 0)
		return -errno;
	return S_ISREG(info.st_mode) ? 0 : -EACCES;
}

int explain_find(const char *name)
{
	const char *folder = getenv("PATH");
	int error = -ENOENT;

	if (strchr(name, '/') != NULL)
		return check_file(name);
	if (name[0] == '\0')
		return -ENOENT;
	if (folder == NULL)
		folder = "/bin:/usr/bin";
	for (;;) {
		size_t len = strcspn(folder, ":");
		struct buf path = BUF_INIT(PATH_BYTES);
		int rc;

		/* An empty one is the current folder. */
		buf_add_format(&path, "%.*s%s%s", (int)len, folder,
			       len > 0 ? "/" : "", name);
		rc = check_file(buf_text(&path));
		buf_release(&path);
		if (rc == 0)
			return 0;
		if (rc == -EACCES)
			error = rc;
		if (folder[len] == '\0')
			return error;
		folder += len + 1;
	}
}
