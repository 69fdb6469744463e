/* SPDX-License-Identifier: MIT */
/*
 * join.c - hill-bridge join: registers a bot by an invite, keeps its token in
 * a file, and prints what to run next.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clients/bridge/errand.h"
#include "server/base/clock.h"

enum { LINE_BYTES = 512, LADDERS_TOLD = 8, KIT_BYTES = 80 };

/* A whole line to the server, or -1. */
static int say_register(struct errand *errand)
{
	char line[LINE_BYTES];

	(void)snprintf(line, sizeof(line), "@register %s%s%s\n", errand->name,
		       errand->invite == NULL ? "" : " invite=",
		       errand->invite == NULL ? "" : errand->invite);
	errand_hold();
	return visit_say(&errand->visit, line);
}

/* BEFORE and, as one word of a shell, TEXT. */
static void print_word(const char *before, const char *text)
{
	bool is_plain = strpbrk(text, " \t\n\"'`$&|;<>()*?[]{}#~!\\") == NULL;

	(void)fputs(before, stdout);
	if (is_plain) {
		(void)fputs(text, stdout);
		return;
	}
	(void)putchar('\'');
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			(void)fputs("'\\'", stdout);
		(void)putchar(*text);
	}
	(void)putchar('\'');
}

/*
 * The starter kit of GAME into RET: installed, or in the sources, or its bare
 * name and false. A contest named "x-y" is played by x_start.py, and so on.
 */
static bool find_kit(const struct slice *game, struct buf *ret)
{
	static const char *const folders[] = { HILL_BOTS_DIR,
					       HILL_SOURCE_BOTS_DIR };
	const char *dash = memchr(game->text, '-', game->len);
	char name[KIT_BYTES];

	(void)snprintf(
		name, sizeof(name), "%.*s_start.py",
		(int)(dash == NULL ? game->len : (size_t)(dash - game->text)),
		game->text);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		buf_clear(ret);
		buf_add_format(ret, "%s/%s", folders[i], name);
		if (access(buf_text(ret), R_OK) == 0)
			return true;
	}
	buf_clear(ret);
	buf_add_text(ret, name);
	return false;
}

/* How BOT plays LADDER with the program KIT. */
static void print_line(const struct errand *errand, const char *bot,
		       const struct slice *ladder, const char *kit)
{
	bool is_v6 = strchr(errand->bridge->host, ':') != NULL;

	print_word("  ", errand->bridge->self);
	(void)printf(" --server %s%s%s:%s --bot %s", is_v6 ? "[" : "",
		     errand->bridge->host, is_v6 ? "]" : "",
		     errand->bridge->port, bot);
	print_word(" --token-file ", errand->path);
	(void)printf(" --play %.*s", (int)ladder->len, ladder->text);
	print_word(" -- python3 ", kit);
	(void)putchar('\n');
}

/* The default ladders, each with its starter kit; nothing when none is told. */
static void print_ladders(struct errand *errand, const char *bot)
{
	int64_t by_us = clock_now_us() + VISIT_ANSWER_US, count = 0;
	struct buf kit = BUF_INIT(4096);
	struct control control;
	unsigned told = 0;
	bool is_told_where = false;

	if (visit_say(&errand->visit, "@ladders\n") < 0 ||
	    visit_await(&errand->visit, WORD_LADDERS, true, by_us, &control) <
		    0 ||
	    control_arg_i64(&control, 0, 0, INT64_MAX, &count) < 0)
		return;
	while (count-- > 0 && visit_await(&errand->visit, WORD_LADDER, true,
					  by_us, &control) == 0) {
		const struct slice *game = control_key(&control, "game");

		if (game == NULL || control.nargs == 0 ||
		    told == LADDERS_TOLD ||
		    !name_is_ladder(game->text, game->len) ||
		    !name_is_ladder(control.args[0].text, control.args[0].len))
			continue;
		if (told++ == 0)
			(void)puts("play with a starter kit, or your own "
				   "program in its place:");
		if (!find_kit(game, &kit) && !is_told_where) {
			(void)puts("  (the *_start.py are in clients/bots of "
				   "hill's sources: fetch the one you want)");
			is_told_where = true;
		}
		print_line(errand, bot, &control.args[0], buf_text(&kit));
	}
	buf_release(&kit);
}

/* The bot is there: its token goes to FD. An exit status. */
static int take_answer(struct errand *errand, int fd, struct control *control)
{
	const struct slice *token = control_key(control, "token");
	char bot[NAME_BOT_MAX + 1];

	if (control->nargs == 0 || token == NULL ||
	    !name_is_token(token->text, token->len) ||
	    slice_copy(control->args[0], bot, sizeof(bot)) < 0 ||
	    !name_is_bot(bot, strlen(bot)))
		return errand_fail(errand->bridge->host,
				   "the answer makes no sense");
	if (!errand_write(fd, *token))
		return errand_tell(errand, *token);
	(void)printf("%s is registered; its token is in %s\n", bot,
		     errand->path);
	print_ladders(errand, bot);
	return EXIT_PLAYED;
}

/*
 * The file is made before the bot: a token is told once. Only a file that
 * holds nothing is taken away again.
 */
static int carry_out(struct errand *errand)
{
	struct control control;
	int status = EXIT_REFUSED;
	int fd;

	fd = open(errand->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return errand_fail(errand->path,
				   errno == EEXIST
					   ? "is there already: use another "
					     "--name or --token-file"
					   : strerror(errno));
	errand_guard(errand->path);
	if (errand_open(errand) < 0 || say_register(errand) < 0 ||
	    visit_await(&errand->visit, WORD_REGISTERED, true,
			clock_now_us() + VISIT_ANSWER_US, &control) < 0)
		(void)errand_fail_visit(errand, "join");
	else
		status = take_answer(errand, fd, &control);
	visit_close(&errand->visit);
	(void)close(fd);
	if (status != EXIT_PLAYED)
		(void)unlink(errand->path);
	return status;
}

int bridge_join(struct bridge *bridge, int argc, char **argv)
{
	static const char usage[] =
		"usage: hill-bridge join HOST[:PORT] [INVITE] [--name NAME] "
		"[--token-file FILE]\n"
		"Registers a bot and prints what to run; an INVITE of - is "
		"read from standard input. --help alone says more.\n";
	static struct errand errand; /* too large for the stack */
	int status = errand_parse(&errand, bridge, argc, argv, 2, usage);

	if (status >= 0)
		return status;
	if (errand.invite != NULL &&
	    !name_is_token(errand.invite, strlen(errand.invite))) {
		(void)errand_fail("join", "that can be no invite: it is a word "
					  "like join_...");
		return EXIT_USAGE;
	}
	return carry_out(&errand);
}
