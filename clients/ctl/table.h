/* SPDX-License-Identifier: MIT */
/*
 * table.h - tables and texts for people on a terminal: columns aligned by what
 * is seen, not by bytes; nothing that is printed can steer the terminal.
 */
#ifndef HILL_CLIENTS_CTL_TABLE_H
#define HILL_CLIENTS_CTL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "server/base/buffer.h"

enum { TABLE_COLUMNS_MAX = 24 };

struct table {
	unsigned ncolumns;
	const char *titles[TABLE_COLUMNS_MAX]; /* borrowed */
	bool is_right[TABLE_COLUMNS_MAX];      /* numbers stand at the right */
	char **cells;                          /* owned, row by row */
	size_t ncells;
	size_t room;
};

/* Once, before the first table: what a character is, is the locale's. */
void table_setup(void);
void table_init(struct table *table);
void table_release(struct table *table);
/* Before the first cell. */
void table_column(struct table *table, const char *title, bool is_right);
/* The next cell; TEXT is escaped and copied. */
void table_add(struct table *table, const char *text);
void table_add_i64(struct table *table, int64_t value);
/* "2026-11-29 20:43:11", UTC; "" for 0. */
void table_add_time(struct table *table, int64_t wall_us);
void table_print(const struct table *table, FILE *file);

/*
 * Append TEXT with everything escaped (\n, \x1b, \u{202e}) that is not seen as
 * one character: controls, bytes that are no UTF-8, invisible characters, and
 * the backslash itself.
 */
void text_escape(const char *text, size_t len, struct buf *out);
/* The columns that escaped TEXT takes. */
size_t text_width(const char *text);
/* "2026-11-29 20:43:11". Appended to OUT. */
void text_time(int64_t wall_us, struct buf *out);

#endif
