/* SPDX-License-Identifier: MIT */
/*
 * invite_commands.c - invites, one by one or by a class's roster. A code is
 * told once: to the terminal, or into a new file that only its owner reads.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clients/ctl/admin_commands.h"
#include "clients/ctl/ctl.h"
#include "clients/ctl/token_file.h"
#include "proto/control.h"

enum {
	ROSTER_BYTES = 4 * 1024 * 1024,
	ROSTER_COLUMNS = 32,
	CELL_BYTES = 2001,
	INVITE_BYTES = 128 /* and the comma and line end of its row */
};

int run_invite(const struct ctl *ctl, const struct ctl_call *call)
{
	json_t *request = make_request(call), *reply;
	const char *code;

	if (request == NULL)
		return CTL_USAGE;
	reply = carry_out(ctl, call, NULL, request);
	if (reply == NULL)
		return CTL_FAILED;
	code = json_string_value(json_object_get(reply, "invite"));
	if (ctl->is_json)
		ctl_print_json(reply);
	else
		(void)printf("invite %lld, shown only now: %s\n",
			     (long long)json_integer_value(
				     json_object_get(reply, "invite_id")),
			     code == NULL ? "" : code);
	json_decref(reply);
	return CTL_OK;
}

/* ---- rosters ---- */

/* Which column is which; -1: there is none. */
struct roster {
	const char *path; /* borrowed */
	struct buf text;
	size_t at;     /* of what comes next */
	unsigned line; /* from 1 */
	int owner, external_id, note;
	unsigned ncolumns, ncells;
	char cells[ROSTER_COLUMNS][CELL_BYTES];
};

static int read_roster(struct roster *roster)
{
	int fd = open(roster->path, O_RDONLY | O_CLOEXEC);
	ssize_t got = 1;
	int err = 0;

	if (fd < 0)
		return -errno;
	while (err == 0 && got > 0) {
		char *room = buf_reserve(&roster->text, 65536);

		if (room == NULL) {
			err = -EFBIG;
			break;
		}
		got = read(fd, room, 65536);
		if (got < 0)
			err = -errno;
		else
			roster->text.len += (size_t)got;
	}
	(void)close(fd);
	return err;
}

/* Whether a quoted cell is followed by the next one, or by the line's end. */
static bool ends_cell(struct roster *roster)
{
	const char *text = roster->text.data;
	size_t end = roster->text.len;

	if (roster->at < end && text[roster->at] == '\r')
		roster->at++;
	return roster->at == end || text[roster->at] == ',' ||
	       text[roster->at] == '\n';
}

/*
 * One cell from AT on, quotes undone (RFC 4180); false when it does not fit,
 * goes on behind its quotes, or never comes to them.
 */
static bool take_cell(struct roster *roster, char cell[CELL_BYTES])
{
	const char *text = roster->text.data;
	size_t end = roster->text.len, len = 0;
	bool is_quoted = roster->at < end && text[roster->at] == '"';

	if (is_quoted)
		roster->at++;
	while (roster->at < end) {
		char c = text[roster->at];

		if (is_quoted && c == '"') {
			if (roster->at + 1 == end ||
			    text[roster->at + 1] != '"') {
				roster->at++;
				cell[len] = '\0';
				return ends_cell(roster);
			}
			roster->at++;
		} else if (!is_quoted && (c == '\n' || c == ',')) {
			break;
		}
		roster->at++;
		roster->line += c == '\n';
		if (c == '\r' && !is_quoted)
			continue;
		if (len + 1 == CELL_BYTES)
			return false;
		cell[len++] = c;
	}
	cell[len] = '\0';
	return !is_quoted;
}

/* The next line that holds something; 1, 0 the end, -EINVAL. */
static int next_row(struct roster *roster)
{
	for (;;) {
		roster->ncells = 0;
		if (roster->at >= roster->text.len)
			return 0;
		roster->line++;
		for (;;) {
			if (roster->ncells == roster->ncolumns ||
			    !take_cell(roster, roster->cells[roster->ncells]))
				return -EINVAL;
			roster->ncells++;
			if (roster->at >= roster->text.len ||
			    roster->text.data[roster->at++] == '\n')
				break;
		}
		if (roster->ncells > 1 || roster->cells[0][0] != '\0')
			return 1;
	}
}

static int read_head(const struct ctl *ctl, struct roster *roster)
{
	static const char mark[] = "\xef\xbb\xbf";

	roster->owner = roster->external_id = roster->note = -1;
	roster->ncolumns = ROSTER_COLUMNS;
	/* Spreadsheets put a byte order mark before UTF-8. */
	if (roster->text.len >= sizeof(mark) - 1 &&
	    memcmp(roster->text.data, mark, sizeof(mark) - 1) == 0)
		roster->at = sizeof(mark) - 1;
	if (next_row(roster) <= 0)
		roster->ncells = 0;
	for (unsigned i = 0; i < roster->ncells; i++) {
		const char *name = roster->cells[i];
		int *column =
			strcmp(name, "owner") == 0 || strcmp(name, "name") == 0
				? &roster->owner
			: strcmp(name, "external_id") == 0
				? &roster->external_id
			: strcmp(name, "note") == 0 ? &roster->note
						    : NULL;

		if (column != NULL && *column >= 0)
			return ctl_fail(ctl,
					"%s: line %u: column '%s' stands there "
					"twice",
					roster->path, roster->line, name);
		if (column != NULL)
			*column = (int)i;
		else
			return ctl_fail(ctl,
					"%s: line %u: there is no column '%s': "
					"it is owner, external_id or note",
					roster->path, roster->line, name);
	}
	roster->ncolumns = roster->ncells;
	if (roster->owner >= 0)
		return CTL_OK;
	return ctl_fail(ctl,
			"%s: its first line must name the columns: owner, and "
			"perhaps external_id and note",
			roster->path);
}

static const char *cell(const struct roster *roster, int column)
{
	return column < 0 || column >= (int)roster->ncells
		       ? ""
		       : roster->cells[column];
}

/* It is text: what is none would be lost on its way. */
static int check_text(const struct ctl *ctl, const struct roster *roster)
{
	const char *text = roster->text.data;
	size_t left = roster->text.len;
	unsigned line = 1;

	for (; left > 0; line++) {
		const char *lf = memchr(text, '\n', left);
		size_t len = lf != NULL ? (size_t)(lf - text) + 1 : left;

		if (memchr(text, '\0', len) != NULL || !text_is_utf8(text, len))
			return ctl_fail(ctl, "%s: line %u is no UTF-8 text",
					roster->path, line);
		text += len;
		left -= len;
	}
	return CTL_OK;
}

static int fail_row(const struct ctl *ctl, const struct roster *roster)
{
	return ctl_fail(ctl,
			"%s: line %u has more cells than the first one has "
			"columns, or one that is too long, goes on behind its "
			"quotes or has none at its end",
			roster->path, roster->line);
}

/*
 * Look through all rows before one is done. An owner listed twice would be told
 * of one invite of two.
 */
static int check_rows(const struct ctl *ctl, struct roster *roster,
		      size_t *ret_nrows)
{
	size_t at = roster->at;
	unsigned line = roster->line;
	json_t *seen = json_object();
	int status = CTL_OK, more = 0;

	while (status == CTL_OK && (more = next_row(roster)) > 0) {
		const char *owner = cell(roster, roster->owner);
		const json_t *before = json_object_get(seen, owner);

		if (before != NULL)
			status = ctl_fail(
				ctl,
				"%s: line %u: owner '%s' stands in line "
				"%" JSON_INTEGER_FORMAT " already",
				roster->path, roster->line, owner,
				json_integer_value(before));
		(void)json_object_set_new(seen, owner,
					  json_integer(roster->line));
		(*ret_nrows)++;
	}
	if (more < 0)
		status = fail_row(ctl, roster);
	json_decref(seen);
	roster->at = at;
	roster->line = line;
	return status;
}

/* The row's owner and his invite; the reply, or NULL after it was told. */
static json_t *invite_row(const struct ctl *ctl, const struct ctl_call *call,
			  const struct roster *roster)
{
	json_t *request = json_pack("{s:s, s:s}", "command", "invite new",
				    "owner", cell(roster, roster->owner));
	const char *days = ctl_value(call, "days");
	char what[64];

	if (cell(roster, roster->external_id)[0] != '\0')
		(void)json_object_set_new(
			request, "external_id",
			json_string(cell(roster, roster->external_id)));
	if (cell(roster, roster->note)[0] != '\0')
		(void)json_object_set_new(
			request, "note",
			json_string(cell(roster, roster->note)));
	if (days != NULL)
		(void)json_object_set_new(
			request, "days",
			json_integer(ctl_number(call, "days", 0)));
	(void)snprintf(what, sizeof(what), "line %u", roster->line);
	return carry_out(ctl, call, what, request);
}

static int import_rows(const struct ctl *ctl, const struct ctl_call *call,
		       struct roster *roster, struct buf *ret, unsigned *count)
{
	while (next_row(roster) > 0) {
		json_t *reply;
		const char *code;

		if (token_file_is_interrupted())
			return ctl_fail(ctl,
					"%s: interrupted before line %u: "
					"the invites of those above are "
					"written",
					roster->path, roster->line);
		reply = invite_row(ctl, call, roster);
		if (reply == NULL)
			return CTL_FAILED;
		code = json_string_value(json_object_get(reply, "invite"));
		buf_add_format(ret, "\n%s,%s", cell(roster, roster->owner),
			       code == NULL ? "" : code);
		json_decref(reply);
		(*count)++;
	}
	return CTL_OK;
}

/*
 * The invites' file is made first: codes are told once. What was done before
 * a bad line stays, and is written.
 */
int run_import(const struct ctl *ctl, const struct ctl_call *call)
{
	struct roster *roster = xcalloc(1, sizeof(*roster));
	struct buf list = BUF_INIT(ROSTER_BYTES);
	struct token_file file = { .path = NULL };
	const char *out = ctl_value(call, "output");
	unsigned count = 0;
	size_t nrows = 0;
	int rc, status;

	roster->path = call->args[0];
	buf_init(&roster->text, ROSTER_BYTES);
	buf_add_text(&list, "owner,invite");
	rc = read_roster(roster);
	if (rc != 0) {
		status = ctl_fail(ctl, "%s: %s", roster->path, strerror(-rc));
		goto out;
	}
	status = check_text(ctl, roster);
	if (status == CTL_OK)
		status = read_head(ctl, roster);
	if (status == CTL_OK)
		status = check_rows(ctl, roster, &nrows);
	if (status != CTL_OK)
		goto out;
	rc = token_file_make(&file, out, false,
			     sizeof("owner,invite") +
				     nrows * (CELL_BYTES + INVITE_BYTES));
	if (rc != 0) {
		status = ctl_fail(ctl, "--output: cannot make %s: %s", out,
				  strerror(-rc));
		goto out;
	}
	status = import_rows(ctl, call, roster, &list, &count);
	if (count > 0) {
		rc = token_file_write(&file, buf_text(&list));
		if (rc != 0)
			status = ctl_fail(ctl,
					  "%s: %s; the invites are lost, "
					  "revoke them",
					  out, strerror(-rc));
	}
	if (status == CTL_OK && ctl->is_json) {
		json_t *document =
			json_pack("{s:b, s:I, s:s}", "ok", 1, "owners",
				  (json_int_t)count, "invites_file", out);

		ctl_print_json(document);
		json_decref(document);
	} else if (status == CTL_OK) {
		(void)printf("%u owners, their invites in %s\n", count, out);
	}
out:
	token_file_release(&file);
	if (list.data != NULL)
		explicit_bzero(list.data, list.len);
	buf_release(&list);
	buf_release(&roster->text);
	free(roster);
	return status;
}
