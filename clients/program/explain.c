/* SPDX-License-Identifier: MIT */
#include "clients/program/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/control.h"

enum {
	ESCAPED_BYTES = 2000, /* of a line of standard error */
	PATH_BYTES = 8192,
};

void explain_silence(const struct program *program, struct buf *out)
{
	size_t len =
		program->is_whole ? program->whole.bytes : program->line.len;

	if (!program->has_written)
		buf_add_text(out, "nothing was printed yet: is it still "
				  "starting, or does it not flush its output?");
	else if (len > 0 && program->is_whole)
		buf_add_format(out,
			       "%zu byte%s came, but not the end of its "
			       "output: does it exit?",
			       len, len == 1 ? "" : "s");
	else if (len > 0)
		buf_add_format(out, "%zu byte%s came without a line end", len,
			       len == 1 ? "" : "s");
}

void explain_dropped(const struct program_whole *whole, struct buf *out)
{
	if (whole->dropped == 0 && whole->kept > 0)
		return;
	if (whole->bytes == 0)
		buf_add_text(out, "nothing was printed");
	else if (whole->kept == 0)
		buf_add_format(out, "no command in %zu byte%s", whole->bytes,
			       whole->bytes == 1 ? "" : "s");
	else
		buf_add_format(out, "dropped %zu byte%s no command",
			       whole->dropped,
			       whole->dropped == 1 ? " that is" : "s that are");
	if (whole->nfirst == 0)
		return;
	buf_add_text(out, " (first: \"");
	text_add_escaped(out, whole->first, whole->nfirst, PROGRAM_FIRST_BYTES);
	buf_add_text(out, "\")");
}

void explain_errors(const struct program *program, struct buf *out)
{
	const char *text = program->tail;
	size_t len = program->tail_len;
	size_t from;
	unsigned lines = 1;

	while (len > 0 && program_is_blank(text[len - 1]))
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
