/* SPDX-License-Identifier: MIT */
/*
 * visit.h - a connection to hilld of one question after the other, for what is
 * no match: --check and `join`. It blocks.
 */
#ifndef HILL_CLIENTS_BRIDGE_VISIT_H
#define HILL_CLIENTS_BRIDGE_VISIT_H

#include <stdint.h>

#include "proto/control.h"
#include "proto/framer.h"
#include "proto/words.h"
#include "server/base/alloc.h"

enum {
	VISIT_LINE_BYTES = 4096,
	VISIT_ANSWER_US = 9 * 1000 * 1000, /* that an answer is waited for */
};

#define VISIT_REFUSED "refused" /* in `why`: by an @error that was told */

struct visit {
	int fd; /* -1: none */
	struct framer framer;
	struct frame_input input;
	char bytes[VISIT_LINE_BYTES];
	char why[96]; /* what went wrong */
};

/* Connect to one of the host's addresses, and hear its greeting. 0 or -1. */
int visit_open(struct visit *visit, const char *host,
	       const char *port) WARN_UNUSED;
/* Say goodbye. Of one that is not open: nothing. */
void visit_close(struct visit *visit);
/* LINE ends in LF. 0 or -1. */
int visit_say(struct visit *visit, const char *line) WARN_UNUSED;
/*
 * Until word ID comes, at the latest BY_US; it lives until the next call. 0 or
 * -1. An @error that comes first is told; with ENDS it is the answer (-1).
 */
int visit_await(struct visit *visit, enum word_id id, bool ends, int64_t by_us,
		struct control *ret) WARN_UNUSED;
/* Wait till BY_US, or until FD (-1: none) has EVENTS; whether it has. */
bool visit_wait(int fd, short events, int64_t by_us);
/* Note WHY it failed; -1. */
int visit_fail(struct visit *visit, const char *why);

#endif
