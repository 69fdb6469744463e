/* SPDX-License-Identifier: MIT */
/*
 * Inputs that must be refused: tests/data/invalid/<case>/input is what a
 * logged-in peer in a match says, `error` the first word of each answer's
 * refusal, in order, one a line. Every case is cut at every place.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/buffer.h"
#include "server/session/session.h"
#include "tests/unit/unit.h"

enum {
	SPLITS_MAX = 600, /* places tried in a long input */
};

static void read_whole(const char *folder, const char *name, struct buf *ret)
{
	char path[1024];
	FILE *file;
	int c;

	(void)snprintf(path, sizeof(path), "%s/%s/%s", TEST_INVALID, folder,
		       name);
	file = fopen(path, "rb");
	if (file == NULL)
		fail_msg("cannot open %s", path);
	while ((c = getc(file)) != EOF)
		buf_add_char(ret, (char)c);
	assert_int_equal(fclose(file), 0);
}

static void feed(struct session *session, const char *data, size_t len,
		 struct buf *out)
{
	struct frame_input input = { data, len };
	struct frame frame;

	while (session->state != SESSION_CLOSED &&
	       framer_next(&session->framer, &input, &frame) != FRAME_MORE) {
		struct session_request request;

		session_line(session, &frame, out, &request);
		if (request.kind == SESSION_ASK_LOGIN)
			session_login_ok(session, "crazy", NULL, out);
	}
}

/* The codes of all `@error` lines of OUT, one a line. */
static void list_errors(const struct buf *out, struct buf *ret)
{
	const char *at = buf_text(out);

	while ((at = strstr(at, "@error ")) != NULL) {
		at += strlen("@error ");
		buf_add(ret, at, strcspn(at, " \n"));
		buf_add_char(ret, '\n');
	}
}

static void run_case(const char *folder)
{
	struct buf input = BUF_INIT(1 << 22);
	struct buf expected = BUF_INIT(10000);

	read_whole(folder, "input", &input);
	read_whole(folder, "error", &expected);
	for (size_t at = 0; at <= input.len && at < SPLITS_MAX; at++) {
		struct session session;
		struct buf out = BUF_INIT(1 << 20);
		struct buf found = BUF_INIT(10000);

		session_init(&session, 1);
		feed(&session, "@login crazy t0ken\n", 19, &out);
		session_offer(&session, 4711, 100);
		feed(&session, "@ready 4711\n", 12, &out);
		session_start(&session);
		buf_clear(&out);
		feed(&session, input.data, at, &out);
		feed(&session, input.data + at, input.len - at, &out);
		list_errors(&out, &found);
		if (strcmp(buf_text(&found), buf_text(&expected)) != 0)
			fail_msg("%s cut at %zu: %snot %s", folder, at,
				 buf_text(&found), buf_text(&expected));
		session_release(&session);
		buf_release(&out);
		buf_release(&found);
	}
	buf_release(&input);
	buf_release(&expected);
}

static void invalid_inputs_are_refused_by_name(void **state)
{
	DIR *folder = opendir(TEST_INVALID);
	struct dirent *entry;
	unsigned count = 0;

	(void)state;
	assert_non_null(folder);
	while ((entry = readdir(folder)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		run_case(entry->d_name);
		count++;
	}
	assert_int_equal(closedir(folder), 0);
	assert_true(count >= 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(invalid_inputs_are_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
