/* SPDX-License-Identifier: MIT */
/*
 * token_file.h - the file that a token goes into: of mode 0600, and made
 * before the token is, so that a token which is told once finds its place.
 */
#ifndef HILL_CLIENTS_CTL_TOKEN_FILE_H
#define HILL_CLIENTS_CTL_TOKEN_FILE_H

#include <stdbool.h>

#include "server/base/alloc.h"

enum { TOKEN_FILE_BYTES = 256 }; /* of one token, and more */

struct token_file {
	const char *path; /* borrowed; NULL: there is none */
	char *made; /* owned; PATH, or the file beside it that becomes it */
	int fd;     /* owned; -1: none */
	bool is_written;
};

/*
 * Make a new file for the token at PATH, which nobody else has open, and see
 * that the disk has ROOM bytes for it. When it
 * MAY_REPLACE one that is there, the new one is made beside it, and the old
 * one stays as it is until token_file_write(). 0; -EEXIST PATH is there, be
 * it a link; with MAY_REPLACE -EISDIR, -ELOOP, -EINVAL, it is no regular
 * file; -errno. FILE is to be released only after 0. Until then SIGHUP, SIGINT
 * and SIGTERM only say so in token_file_is_interrupted(): what is told once
 * would be lost with this process.
 */
int token_file_make(struct token_file *file, const char *path, bool may_replace,
		    size_t room) WARN_UNUSED;
/* Whether a signal has come since a file was made that is not released yet. */
bool token_file_is_interrupted(void);
/*
 * Write TOKEN and an LF to the disk, and put the file in its place. 0 or
 * -errno.
 */
int token_file_write(struct token_file *file, const char *token) WARN_UNUSED;
/* Close it; without a token in it it is taken away. One all zero is fine. */
void token_file_release(struct token_file *file);

#endif
