/* SPDX-License-Identifier: MIT */
/*
 * rotate.c - hill-bridge rotate: has the server make a new token of a bot, and
 * puts it in the old one's file.
 *
 * The new one is told once, and the old one is worth nothing then. So a file
 * beside the token's is made first, and filled with the old token: when it can
 * be, there is room for the new one, which takes that one's place in it; then
 * it is moved onto the token's file. What goes wrong in spite of that is told
 * with the token.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clients/bridge/errand.h"
#include "server/base/clock.h"

enum { LINE_BYTES = 512, PATH_BYTES = 8192 };

/*
 * Log in, and have a new token made: *RET_TOKEN lives until the next word. 0
 * or -1; then *RET_IS_LOST says whether the old one may be worth nothing.
 */
static int ask(struct errand *errand, struct slice *ret_token,
	       bool *ret_is_lost)
{
	int64_t by_us;
	char line[LINE_BYTES], name[NAME_BOT_MAX + 1] = "";
	struct visit *visit = &errand->visit;
	struct control control;

	for (size_t i = 0; errand->name[i] != '\0'; i++)
		name[i] = (char)tolower((unsigned char)errand->name[i]);
	(void)snprintf(line, sizeof(line),
		       "@login %s %s proto=1 client=hill-bridge/" HILL_VERSION
		       "\n",
		       name, errand->bridge->token);
	if (errand_open(errand) < 0 || visit_say(visit, line) < 0 ||
	    visit_await(visit, WORD_WELCOME, true,
			clock_now_us() + VISIT_ANSWER_US, &control) < 0)
		return -1;
	errand_hold();
	*ret_is_lost = true;
	by_us = clock_now_us() + VISIT_ANSWER_US;
	if (visit_say(visit, "@rotate\n") < 0 ||
	    visit_await(visit, WORD_TOKEN, true, by_us, &control) < 0) {
		*ret_is_lost = strcmp(visit->why, VISIT_REFUSED) != 0;
		return -1;
	}
	if (control.nargs == 0 ||
	    !name_is_token(control.args[0].text, control.args[0].len))
		return visit_fail(visit, "the answer makes no sense");
	*ret_token = control.args[0];
	return 0;
}

/* The file PATH, absolute, is its folder's for good. */
static void keep_name(char *path)
{
	int fd;

	strrchr(path, '/')[1] = '\0';
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)fsync(fd);
	(void)close(fd);
}

/* FD is the file NEXT, to be moved onto PATH. An exit status. */
static int replace(struct errand *errand, int fd, const char *next, char *path)
{
	struct slice token;
	bool is_lost = false;

	if (ask(errand, &token, &is_lost) < 0) {
		(void)errand_fail_visit(errand, "rotate");
		if (is_lost)
			(void)errand_fail(errand->path,
					  "if it opens nothing any more, ask "
					  "the host for a new token");
		return EXIT_REFUSED;
	}
	if (!errand_write(fd, token) || rename(next, path) < 0)
		return errand_tell(errand, token);
	keep_name(path);
	(void)printf("%s holds a new token, and the old ones open nothing any "
		     "more: start bridges that run anew\n",
		     errand->path);
	return EXIT_PLAYED;
}

static int carry_out(struct errand *errand, char *path)
{
	const char *old = errand->bridge->token;
	struct buf next = BUF_INIT(PATH_BYTES);
	int status = EXIT_REFUSED, fd;

	buf_add_format(&next, "%s.new", path);
	fd = open(buf_text(&next), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		  0600);
	if (fd < 0) {
		(void)errand_fail(buf_text(&next),
				  errno == EEXIST
					  ? "left by a rotate that was killed: "
					    "the token that opens is the one "
					    "to keep"
					  : strerror(errno));
	} else {
		errand_guard(buf_text(&next));
		if (errand_write(fd, (struct slice){ old, strlen(old) }))
			status = replace(errand, fd, buf_text(&next), path);
		else
			(void)errand_fail(buf_text(&next), strerror(errno));
		visit_close(&errand->visit);
		(void)close(fd);
		if (status != EXIT_PLAYED)
			(void)unlink(buf_text(&next));
	}
	buf_release(&next);
	return status;
}

int bridge_rotate(struct bridge *bridge, int argc, char **argv)
{
	static const char usage[] =
		"usage: hill-bridge rotate HOST[:PORT] [--name NAME] "
		"[--token-file FILE]\n"
		"Puts a new token in the file's place; --help alone says "
		"more.\n";
	static struct errand errand; /* too large for the stack */
	int status = errand_parse(&errand, bridge, argc, argv, 1, usage);
	char *path;

	if (status >= 0)
		return status;
	if (!bridge_read_token(bridge, errand.path))
		return EXIT_USAGE;
	path = realpath(errand.path, NULL);
	if (path == NULL)
		return errand_fail(errand.path, strerror(errno));
	status = carry_out(&errand, path);
	free(path);
	return status;
}
