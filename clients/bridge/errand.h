/* SPDX-License-Identifier: MIT */
/*
 * errand.h - what join and rotate have in common: one thing is asked of the
 * server, and a token goes into a file.
 */
#ifndef HILL_CLIENTS_BRIDGE_ERRAND_H
#define HILL_CLIENTS_BRIDGE_ERRAND_H

#include "clients/bridge/bridge.h"
#include "clients/bridge/visit.h"
#include "proto/name.h"

struct errand {
	struct bridge *bridge; /* for host and port */
	const char *invite;    /* NULL: none was given */
	const char *name;      /* of the bot, perhaps with capitals */
	const char *path;      /* of the token's file */
	char own_path[NAME_BOT_MAX + sizeof(".token")];
	char typed[NAME_TOKEN_MAX + 2]; /* an invite that was read */
	struct visit visit;
};

/*
 * The errand of ARGV, which begins with its word, and at most MOST words that
 * are no options: the server, the invite. USAGE is what its --help says.
 * Negative: go on; else the exit status.
 */
int errand_parse(struct errand *errand, struct bridge *bridge, int argc,
		 char **argv, int most, const char *usage);
/* Connect to the server. 0 or -1. */
int errand_open(struct errand *errand) WARN_UNUSED;
/* "hill-bridge: WHAT: WHY" on stderr; EXIT_REFUSED. */
int errand_fail(const char *what, const char *why);
/* The same for WORD, join or rotate, and what ended its visit. */
int errand_fail_visit(const struct errand *errand, const char *word);
/* TOKEN and an LF become all that FD holds, on the disk; false: errno. */
bool errand_write(int fd, struct slice token);
/*
 * A signal that ends this process takes the file PATH with it, which was made
 * for the answer: the next try would stumble over it. PATH lives until
 * errand_hold(), or the end.
 */
void errand_guard(const char *path);
/*
 * From here on, until the token is kept, it would be lost with this process:
 * signals to end it have no effect any more.
 */
void errand_hold(void);
/* TOKEN cannot be kept, as errno says: tell it all the same. EXIT_REFUSED. */
int errand_tell(const struct errand *errand, struct slice token);

#endif
