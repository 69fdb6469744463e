/* SPDX-License-Identifier: MIT */
/* words.h - a program's command line, written as one text. Pure. */
#ifndef HILL_CLIENTS_RUN_WORDS_H
#define HILL_CLIENTS_RUN_WORDS_H

#include <stddef.h>

#include "server/base/alloc.h"

/* A growing argv. Zero at the start; words_release. */
struct words {
	char **words; /* owned, NULL behind the last; NULL while empty */
	size_t count;
};

void words_add(struct words *words, const char *word); /* copies it */
/* As words_add, of what is ours to give away. */
void words_add_take(struct words *words, char *word);
/*
 * Add the words of TEXT: split at blanks; '...' and "..." hold blanks, a
 * backslash takes the next character as it is (in "..." only \" and \\). No
 * variable, no pattern, no operator: it is no shell. 0, or -EINVAL when a
 * quote is not closed; then WORDS holds what came before.
 */
int words_split(struct words *words, const char *text) WARN_UNUSED;
void words_release(struct words *words);

#endif
