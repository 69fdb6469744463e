/* SPDX-License-Identifier: MIT */
/*
 * join.c - hill-bridge join: registers a bot by an invite, keeps its token in
 * a file, and prints what to run next.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clients/bridge/bridge.h"
#include "clients/bridge/visit.h"
#include "proto/name.h"
#include "server/base/clock.h"

enum { LINE_BYTES = 512, LADDERS_TOLD = 8 };

#define DEFAULT_PORT "4455"

struct join {
	struct bridge *bridge; /* for host and port */
	const char *invite;    /* NULL: the server is open */
	const char *name;
	const char *path; /* of the token's file */
	char own_path[NAME_BOT_MAX + sizeof(".token")];
	struct visit visit;
};

static int fail(const char *what, const char *why)
{
	(void)fprintf(stderr, "hill-bridge: %s: %s\n", what, why);
	return EXIT_REFUSED;
}

/* A whole line to the server, or -1. */
static int say_register(struct join *join)
{
	char line[LINE_BYTES];

	(void)snprintf(line, sizeof(line), "@register %s%s%s\n", join->name,
		       join->invite == NULL ? "" : " invite=",
		       join->invite == NULL ? "" : join->invite);
	return visit_say(&join->visit, line);
}

static bool write_all(int fd, struct slice token)
{
	return write(fd, token.text, token.len) == (ssize_t)token.len &&
	       write(fd, "\n", 1) == 1 && fsync(fd) == 0;
}

/* Where the starter kits lie: installed, or in the sources. */
static const char *kits(void)
{
	return access(HILL_BOTS_DIR, X_OK) == 0 ? HILL_BOTS_DIR
						: HILL_SOURCE_BOTS_DIR;
}

/* A contest named "x-y" is played by x_start.py, and so on. */
static void print_line(const struct join *join, const char *bot,
		       const struct slice *ladder, const struct slice *game)
{
	const char *dash = memchr(game->text, '-', game->len);
	int len = dash == NULL ? (int)game->len : (int)(dash - game->text);

	(void)printf("  %s --server %s%s%s:%s --bot %s "
		     "--token-file %s --play %.*s -- %s/%.*s_start.py\n",
		     join->bridge->self,
		     strchr(join->bridge->host, ':') == NULL ? "" : "[",
		     join->bridge->host,
		     strchr(join->bridge->host, ':') == NULL ? "" : "]",
		     join->bridge->port, bot, join->path, (int)ladder->len,
		     ladder->text, kits(), len, game->text);
}

/* The default ladders, each with its starter kit; nothing when none is told. */
static void print_ladders(struct join *join, const char *bot)
{
	int64_t by_us = clock_now_us() + VISIT_ANSWER_US, count = 0;
	struct control control;
	unsigned told = 0;

	if (visit_say(&join->visit, "@ladders\n") < 0 ||
	    visit_await(&join->visit, WORD_LADDERS, true, by_us, &control) <
		    0 ||
	    control_arg_i64(&control, 0, 0, INT64_MAX, &count) < 0)
		return;
	while (count-- > 0 && visit_await(&join->visit, WORD_LADDER, true,
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
		print_line(join, bot, &control.args[0], game);
	}
}

/* The bot is there: its token goes to FD. An exit status. */
static int take_answer(struct join *join, int fd, struct control *control)
{
	const struct slice *token = control_key(control, "token");
	char bot[NAME_BOT_MAX + 1];

	if (control->nargs == 0 || token == NULL ||
	    !name_is_token(token->text, token->len) ||
	    slice_copy(control->args[0], bot, sizeof(bot)) < 0 ||
	    !name_is_bot(bot, strlen(bot)))
		return fail(join->bridge->host, "the answer makes no sense");
	if (!write_all(fd, *token))
		return fail(join->path, strerror(errno));
	(void)printf("%s is registered; its token is in %s\n", bot, join->path);
	print_ladders(join, bot);
	return EXIT_PLAYED;
}

/*
 * The file is made before the bot: a token is told once. Only a file that
 * holds nothing is taken away again.
 */
static int carry_out(struct join *join)
{
	int64_t by_us = clock_now_us() + VISIT_ANSWER_US;
	struct control control;
	int status = EXIT_REFUSED;
	int fd =
		open(join->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return fail(join->path, strerror(errno));
	join->visit.fd = -1;
	if (visit_open(&join->visit, join->bridge->host, join->bridge->port) <
		    0 ||
	    say_register(join) < 0 ||
	    visit_await(&join->visit, WORD_REGISTERED, true, by_us, &control) <
		    0)
		(void)fail(join->bridge->host, join->visit.why);
	else
		status = take_answer(join, fd, &control);
	visit_close(&join->visit);
	(void)close(fd);
	if (status != EXIT_PLAYED)
		(void)unlink(join->path);
	return status;
}

#define JOIN_USAGE                                                    \
	"usage: hill-bridge join HOST[:PORT] [INVITE] [--name NAME] " \
	"[--token-file FILE]\n"

static int misuse(const char *what)
{
	(void)fprintf(stderr, "hill-bridge: join: %s\n" JOIN_USAGE, what);
	return EXIT_USAGE;
}

static int tell_usage(void)
{
	(void)fputs(JOIN_USAGE "Registers a bot and prints what to run; "
			       "--help alone says more.\n",
		    stdout);
	return EXIT_PLAYED;
}

int bridge_join(struct bridge *bridge, int argc, char **argv)
{
	static const struct option options[] = {
		{ "name", required_argument, NULL, 'n' },
		{ "token-file", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	static struct join join; /* too large for the stack */
	int option;

	join.bridge = bridge;
	join.name = getenv("USER");
	opterr = 0;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'n')
			join.name = optarg;
		else if (option == 't')
			join.path = optarg;
		else if (option == 'h')
			return tell_usage();
		else
			return misuse("unknown option, or one without its "
				      "value");
	}
	argv += optind;
	argc -= optind;
	if (argc < 1 || argc > 2)
		return misuse("wants the server and the invite");
	if (!bridge_split_server(bridge, argv[0])) {
		bridge->host = argv[0];
		bridge->port = DEFAULT_PORT;
	}
	join.invite = argv[1];
	if (join.invite != NULL &&
	    !name_is_token(join.invite, strlen(join.invite)))
		return misuse("that can be no invite");
	/* Capitals are the server's to make small. */
	if (join.name == NULL || strlen(join.name) < NAME_BOT_MIN ||
	    strlen(join.name) > NAME_BOT_MAX ||
	    strpbrk(join.name, " /\n\r\t") != NULL)
		return misuse("--name wants 3 to 24 of a-z 0-9 - _");
	if (join.path == NULL) {
		(void)snprintf(join.own_path, sizeof(join.own_path), "%s.token",
			       join.name);
		join.path = join.own_path;
	}
	return carry_out(&join);
}
