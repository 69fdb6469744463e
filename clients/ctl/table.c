/* SPDX-License-Identifier: MIT */
#include "clients/ctl/table.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#include "server/base/alloc.h"

enum { CELL_BYTES_MAX = 1024 * 1024, GAP = 2, BYTE_FIRST_PRINTED = 0x20 };

void table_setup(void)
{
	/* Only what characters are; numbers stay as programs read them. */
	if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
		(void)setlocale(LC_CTYPE, "");
}

void table_init(struct table *table)
{
	memset(table, 0, sizeof(*table));
}

void table_release(struct table *table)
{
	for (size_t i = 0; i < table->ncells; i++)
		free(table->cells[i]);
	free(table->cells);
	table_init(table);
}

void table_column(struct table *table, const char *title, bool is_right)
{
	if (table->ncolumns == TABLE_COLUMNS_MAX)
		return;
	table->titles[table->ncolumns] = title;
	table->is_right[table->ncolumns++] = is_right;
}

void table_add(struct table *table, const char *text)
{
	struct buf cell = BUF_INIT(CELL_BYTES_MAX);

	if (table->ncells == table->room) {
		table->room = table->room == 0 ? 64 : 2 * table->room;
		table->cells = xreallocarray(table->cells, table->room,
					     sizeof(*table->cells));
	}
	text_escape(text, strlen(text), &cell);
	table->cells[table->ncells++] = buf_detach(&cell);
}

void table_add_i64(struct table *table, int64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%lld", (long long)value);
	table_add(table, text);
}

void table_add_time(struct table *table, int64_t wall_us)
{
	struct buf text = BUF_INIT(64);

	if (wall_us != 0)
		text_time(wall_us, &text);
	table_add(table, buf_text(&text));
	buf_release(&text);
}

static void print_row(const struct table *table, const char *const *cells,
		      const size_t *widths, FILE *file)
{
	for (unsigned i = 0; i < table->ncolumns; i++) {
		size_t pad = widths[i] - text_width(cells[i]);
		bool is_last = i + 1 == table->ncolumns;

		if (table->is_right[i])
			(void)fprintf(file, "%*s%s", (int)pad, "", cells[i]);
		else
			(void)fprintf(file, "%s%*s", cells[i],
				      is_last ? 0 : (int)pad, "");
		(void)fprintf(file, "%*s", is_last ? 0 : GAP, "");
	}
	(void)fputc('\n', file);
}

void table_print(const struct table *table, FILE *file)
{
	size_t widths[TABLE_COLUMNS_MAX];

	if (table->ncolumns == 0)
		return;
	for (unsigned i = 0; i < table->ncolumns; i++)
		widths[i] = text_width(table->titles[i]);
	for (size_t i = 0; i < table->ncells; i++) {
		size_t width = text_width(table->cells[i]);

		if (width > widths[i % table->ncolumns])
			widths[i % table->ncolumns] = width;
	}
	print_row(table, table->titles, widths, file);
	for (size_t i = 0; i + table->ncolumns <= table->ncells;
	     i += table->ncolumns)
		print_row(table, (const char *const *)table->cells + i, widths,
			  file);
}

/* Whether it is seen, stays in its line and turns no text around. */
static bool is_plain(wchar_t c)
{
	return c != L'\\' && wcwidth(c) > 0;
}

void text_escape(const char *text, size_t len, struct buf *out)
{
	mbstate_t state = { 0 };
	size_t at = 0;

	while (at < len) {
		unsigned char byte = (unsigned char)text[at];
		wchar_t c = 0;
		size_t count;

		if (byte >= BYTE_FIRST_PRINTED && byte < 0x7f && byte != '\\') {
			buf_add_char(out, text[at++]);
			continue;
		}
		count = byte == 0 ? 1
				  : mbrtowc(&c, text + at, len - at, &state);
		if (count > len) { /* no character, or half of one */
			memset(&state, 0, sizeof(state));
			count = 1;
			buf_add_format(out, "\\x%02x", byte);
		} else if (byte == '\\') {
			buf_add_text(out, "\\\\");
		} else if (byte < 0x80) {
			if (byte == '\n' || byte == '\t' || byte == '\r')
				buf_add_format(out, "\\%c",
					       byte == '\n'   ? 'n'
					       : byte == '\t' ? 't'
							      : 'r');
			else
				buf_add_format(out, "\\x%02x", byte);
		} else if (is_plain(c)) {
			buf_add(out, text + at, count);
		} else {
			buf_add_format(out, "\\u{%x}", (unsigned)c);
		}
		at += count;
	}
}

size_t text_width(const char *text)
{
	mbstate_t state = { 0 };
	size_t width = 0, left = strlen(text);

	while (left > 0) {
		wchar_t c;
		size_t count = mbrtowc(&c, text, left, &state);
		int columns;

		if (count > left || count == 0)
			return width + left;
		columns = wcwidth(c);
		width += columns > 0 ? (size_t)columns : 0;
		text += count;
		left -= count;
	}
	return width;
}

void text_time(int64_t wall_us, struct buf *out)
{
	time_t seconds = (time_t)(wall_us / 1000000);
	struct tm parts;
	char text[32];

	if (gmtime_r(&seconds, &parts) == NULL ||
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts) == 0)
		return;
	buf_add_text(out, text);
}
