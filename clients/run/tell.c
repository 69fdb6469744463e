/* SPDX-License-Identifier: MIT */
#include "clients/run/tell.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PROGRESS_COLUMNS = 78 };

static bool has_progress;  /* may be shown */
static bool is_line_shown; /* one stands there now */

static void wipe(void)
{
	if (is_line_shown)
		(void)fputs("\r\033[K", stderr);
	is_line_shown = false;
}

void tell(const char *format, ...)
{
	va_list args;

	wipe();
	(void)fputs("hill-run: ", stderr);
	va_start(args, format);
	(void)vfprintf(stderr, format, args);
	va_end(args);
	(void)fputc('\n', stderr);
}

void tell_result(const char *bytes, size_t len)
{
	wipe();
	(void)fwrite(bytes, 1, len, stdout);
	(void)fflush(stdout);
}

void tell_set_progress(bool is_wanted)
{
	has_progress = is_wanted && isatty(STDERR_FILENO) == 1;
}

void tell_progress(const char *text)
{
	if (!has_progress)
		return;
	wipe();
	if (text[0] == '\0')
		return;
	(void)fprintf(stderr, "%.*s", PROGRESS_COLUMNS, text);
	(void)fflush(stderr);
	is_line_shown = true;
}
