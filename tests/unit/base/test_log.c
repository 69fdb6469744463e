/* SPDX-License-Identifier: MIT */
#include "server/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

struct file {
	char folder[64], path[96], old_path[96];
	char text[8192];
};

static int set_up(void **state)
{
	struct file *file = calloc(1, sizeof(*file));

	assert_non_null(file);
	(void)snprintf(file->folder, sizeof(file->folder),
		       "/tmp/hill-log-XXXXXX");
	assert_non_null(mkdtemp(file->folder));
	(void)snprintf(file->path, sizeof(file->path), "%s/log", file->folder);
	(void)snprintf(file->old_path, sizeof(file->old_path), "%s/log.1",
		       file->folder);
	*state = file;
	return 0;
}

static int tear_down(void **state)
{
	struct file *file = *state;

	log_close();
	log_set_level(LOG_LEVEL_INFO);
	(void)unlink(file->path);
	(void)unlink(file->old_path);
	(void)rmdir(file->folder);
	free(file);
	return 0;
}

static const char *content(struct file *file, const char *path)
{
	FILE *stream = fopen(path, "re");
	size_t len;

	assert_non_null(stream);
	len = fread(file->text, 1, sizeof(file->text) - 1, stream);
	file->text[len] = '\0';
	(void)fclose(stream);
	return file->text;
}

static void writes_one_escaped_line(void **state)
{
	struct file *file = *state;
	const char *text;

	assert_int_equal(log_open(file->path), 0);
	log_info("conn=%d said=%s", 7, "a\nb\x1b[0m");
	log_debug("not=%d", 1);
	text = content(file, file->path);
	assert_non_null(strstr(text, "Z info conn=7 said=a\\x0ab\\x1b[0m\n"));
	assert_ptr_equal(strchr(text, '\n') + 1, text + strlen(text));
	assert_null(strstr(text, "not="));
	log_set_level(LOG_LEVEL_DEBUG);
	log_debug("now=%d", 1);
	assert_non_null(strstr(content(file, file->path), "Z debug now=1\n"));
}

static void cuts_a_line_that_is_too_long(void **state)
{
	struct file *file = *state;
	char *huge = malloc(10001);
	const char *text;

	assert_non_null(huge);
	memset(huge, 'x', 10000);
	huge[10000] = '\0';
	assert_int_equal(log_open(file->path), 0);
	log_warn("%s", huge);
	log_warn("next=1");
	text = content(file, file->path);
	assert_true(strlen(text) < 2200);
	assert_non_null(strstr(text, "x\n20"));
	assert_non_null(strstr(text, "next=1\n"));
	free(huge);
}

static void reopens_after_rotation(void **state)
{
	struct file *file = *state;

	assert_int_equal(log_open(file->path), 0);
	log_info("line=1");
	assert_int_equal(rename(file->path, file->old_path), 0);
	log_info("line=2");
	assert_int_equal(log_reopen(), 0);
	log_info("line=3");
	assert_non_null(strstr(content(file, file->old_path), "line=2\n"));
	assert_null(strstr(content(file, file->old_path), "line=3\n"));
	assert_non_null(strstr(content(file, file->path), "line=3\n"));
	assert_int_equal(log_open("/nowhere/at/all"), -ENOENT);
	log_info("line=4");
	assert_non_null(strstr(content(file, file->path), "line=4\n"));
}

enum { FLOOD_LINES = 2000 }; /* more than a pipe holds */

/* Read what FD holds now; the lines of the flood in it. */
static unsigned drain(int fd, bool *ret_has_notice, unsigned long *ret_dropped)
{
	char *text = calloc(1, 1 << 20);
	unsigned lines = 0;
	size_t len = 0;
	ssize_t got;

	assert_non_null(text);
	while ((got = read(fd, text + len, (1 << 20) - 1 - len)) > 0)
		len += (size_t)got;
	for (const char *at = text; (at = strstr(at, "event=flood")) != NULL;
	     at++)
		lines++;
	*ret_has_notice = strstr(text, "log_dropped=") != NULL;
	if (*ret_has_notice)
		*ret_dropped =
			strtoul(strstr(text, "log_dropped=") + 12, NULL, 10);
	free(text);
	return lines;
}

static void flood(void)
{
	for (unsigned i = 0; i < FLOOD_LINES; i++)
		log_info("event=flood number=%u of=a-pipe-that-is-stuck", i);
}

/* What READER, the end of the pipe that is the log now, gets to see. */
static void expect_counted(int reader)
{
	unsigned long told = 0;
	bool has_notice;
	unsigned seen;

	(void)alarm(60); /* a write that blocks */
	flood();
	(void)alarm(0);
	seen = drain(reader, &has_notice, &told);
	assert_true(seen > 0 && seen < FLOOD_LINES);
	assert_false(has_notice);
	log_info("event=after");
	assert_int_equal(drain(reader, &has_notice, &told), 0);
	assert_true(has_notice);
	assert_int_equal(told, FLOOD_LINES - seen);
	log_info("event=after");
	(void)drain(reader, &has_notice, &told);
	assert_false(has_notice);
}

static void a_stuck_pipe_holds_nobody_up(void **state)
{
	struct file *file = *state;
	int reader;

	assert_int_equal(mkfifo(file->path, 0600), 0);
	assert_int_equal(log_open(file->path), -ENXIO);
	reader = open(file->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(reader >= 0);
	assert_int_equal(log_open(file->path), 0);
	expect_counted(reader);
	log_close();
	(void)close(reader);
}

static void a_stuck_stderr_holds_nobody_up_and_stays_as_it_is(void **state)
{
	int kept = dup(STDERR_FILENO), ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
	expect_counted(ends[0]);
	assert_int_equal(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0);
	assert_true(dup2(kept, STDERR_FILENO) >= 0);
	(void)close(kept);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

static void quotes_what_a_peer_chose(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *expected;
	} cases[] = {
		{ "crazy", 5, "crazy" },
		{ "", 0, "\"\"" },
		{ "a b", 3, "\"a b\"" },
		{ "x=1", 3, "\"x=1\"" },
		{ "q\"\\", 3, "\"q\\\"\\\\\"" },
		{ "\0\n\xff", 3, "\"\\x00\\x0a\\xff\"" },
		{ "0123456789012345678901234567890", 31,
		  "0123456789012345678901234567890" },
		{ "01234567890123456789012345678901", 32,
		  "\"01234567890123456789012345...\"" },
		{ "\1\1\1\1\1\1\1\1\1\1\1", 11,
		  "\"\\x01\\x01\\x01\\x01\\x01\\x01...\"" },
	};
	char text[32];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		assert_string_equal(log_quote(text, sizeof(text),
					      cases[i].bytes, cases[i].len),
				    cases[i].expected);
}

static void lets_one_line_a_period_pass(void **state)
{
	struct log_rate rate = { 0 };
	unsigned suppressed = 99;

	(void)state;
	assert_true(log_rate_pass(&rate, 5000, 1000, &suppressed));
	assert_int_equal(suppressed, 0);
	assert_false(log_rate_pass(&rate, 5001, 1000, &suppressed));
	assert_false(log_rate_pass(&rate, 5999, 1000, &suppressed));
	assert_true(log_rate_pass(&rate, 6000, 1000, &suppressed));
	assert_int_equal(suppressed, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(writes_one_escaped_line, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(cuts_a_line_that_is_too_long,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(reopens_after_rotation, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_stuck_pipe_holds_nobody_up,
						set_up, tear_down),
		cmocka_unit_test(
			a_stuck_stderr_holds_nobody_up_and_stays_as_it_is),
		cmocka_unit_test(quotes_what_a_peer_chose),
		cmocka_unit_test(lets_one_line_a_period_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
