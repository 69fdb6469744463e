/* SPDX-License-Identifier: MIT */
/*
 * tell.h - what hill-run says: results to standard output, all else, with a
 * line of progress where that is a terminal, to standard error.
 */
#ifndef HILL_CLIENTS_RUN_TELL_H
#define HILL_CLIENTS_RUN_TELL_H

#include <stdbool.h>
#include <stddef.h>

#include "server/base/alloc.h"

/* A line for the person at the keyboard, as "hill-run: ..." . */
void tell(const char *format, ...) PRINTF_LIKE(1, 2);
/* LEN bytes of result, at once. */
void tell_result(const char *bytes, size_t len);
/* Whether progress is shown at all: never but on a terminal. */
void tell_set_progress(bool is_wanted);
/* Show TEXT in place of the progress shown before; "" takes it away. */
void tell_progress(const char *text);

#endif
