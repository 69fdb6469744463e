/* SPDX-License-Identifier: MIT */
#include "clients/bridge/errand.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int errand_open(struct errand *errand)
{
	return visit_open(&errand->visit, errand->bridge->host,
			  errand->bridge->port);
}

int errand_fail(const char *what, const char *why)
{
	(void)fprintf(stderr, "hill-bridge: %s: %s\n", what, why);
	return EXIT_REFUSED;
}

int errand_fail_visit(const struct errand *errand, const char *word)
{
	(void)fprintf(stderr, "hill-bridge: cannot %s at %s: %s\n", word,
		      errand->bridge->host, errand->visit.why);
	return EXIT_REFUSED;
}

bool errand_write(int fd, struct slice token)
{
	off_t size = (off_t)token.len + 1;

	errno = ENOSPC; /* of a write that stops short */
	return pwrite(fd, token.text, token.len, 0) == (ssize_t)token.len &&
	       pwrite(fd, "\n", 1, size - 1) == 1 && ftruncate(fd, size) == 0 &&
	       fsync(fd) == 0;
}

static const int ends[] = { SIGHUP, SIGINT, SIGTERM };
static const char *guarded;

static void on_end(int number)
{
	(void)unlink(guarded);
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

void errand_guard(const char *path)
{
	guarded = path;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (signal(ends[i], on_end) == SIG_IGN)
			(void)signal(ends[i], SIG_IGN);
	}
}

void errand_hold(void)
{
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		(void)signal(ends[i], SIG_IGN);
}

int errand_tell(const struct errand *errand, struct slice token)
{
	(void)errand_fail(errand->path, strerror(errno));
	(void)printf("the new token is %.*s\n", (int)token.len, token.text);
	return EXIT_REFUSED;
}

static int misuse(const char *what, const char *usage)
{
	(void)fprintf(stderr, "hill-bridge: %s\n%s", what, usage);
	return EXIT_USAGE;
}

/* The options and where the other words begin; negative: go on. */
static int parse_options(struct errand *errand, int argc, char **argv,
			 const char *usage)
{
	static const struct option options[] = {
		{ "name", required_argument, NULL, 'n' },
		{ "token-file", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'n') {
			errand->name = optarg;
		} else if (option == 't') {
			errand->path = optarg;
		} else if (option == 'h') {
			(void)fputs(usage, stdout);
			return EXIT_PLAYED;
		} else {
			return misuse("unknown option, or one without its "
				      "value",
				      usage);
		}
	}
	return -1;
}

/* What is on a command line, everybody on the machine may read. */
static const char *read_invite(struct errand *errand)
{
	if (fgets(errand->typed, sizeof(errand->typed), stdin) == NULL)
		errand->typed[0] = '\0';
	errand->typed[strcspn(errand->typed, " \t\r\n")] = '\0';
	return errand->typed;
}

int errand_parse(struct errand *errand, struct bridge *bridge, int argc,
		 char **argv, int most, const char *usage)
{
	int status;

	errand->bridge = bridge;
	errand->name = NULL;
	errand->visit.fd = -1;
	status = parse_options(errand, argc, argv, usage);
	if (status >= 0)
		return status;
	argv += optind;
	argc -= optind;
	if (argc < 1 || argc > most)
		return misuse("which server?", usage);
	if (!bridge_split_server(bridge, argv[0]))
		return misuse("the server is HOST[:PORT]", usage);
	errand->invite = argv[1];
	if (argc > 1 && strcmp(argv[1], "-") == 0)
		errand->invite = read_invite(errand);
	if (errand->name == NULL)
		errand->name = getenv("USER");
	if (errand->name == NULL || errand->name[0] == '\0')
		return misuse("whose? say --name NAME", usage);
	/* Capitals are the server's to make small. */
	if (strlen(errand->name) < NAME_BOT_MIN ||
	    strlen(errand->name) > NAME_BOT_MAX ||
	    strpbrk(errand->name, " /\n\r\t") != NULL)
		return misuse("--name wants 3 to 24 of a-z 0-9 - _", usage);
	if (errand->path == NULL) {
		(void)snprintf(errand->own_path, sizeof(errand->own_path),
			       "%s.token", errand->name);
		errand->path = errand->own_path;
	}
	return -1;
}
