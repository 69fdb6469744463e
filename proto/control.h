/* SPDX-License-Identifier: MIT */
/*
 * control.h - control lines: `@word arg... key=value... : free text`.
 * Parsed into slices of the line, written with escaping that cannot fail.
 * Pure, libc only; server and clients. Any thread.
 *
 * What the writers put down parses back to the same words: characters that
 * would break a line are replaced, never passed through.
 */
#ifndef HILL_PROTO_CONTROL_H
#define HILL_PROTO_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/words.h"
#include "server/base/alloc.h"
#include "server/base/buffer.h"

enum {
	CONTROL_ARGS_MAX = 16,
	CONTROL_KEYS_MAX = 32,
};

/* Borrowed bytes; no NUL ends them. */
struct slice {
	const char *text;
	size_t len;
};

struct control {
	const struct word *word; /* NULL: not in the table */
	struct slice name;       /* without the '@' */
	struct slice rest;       /* all that follows the word and one blank */
	unsigned nargs;
	unsigned nkeys;
	bool has_text;
	struct slice text; /* after the `:` and one blank; "" for none */
	struct slice args[CONTROL_ARGS_MAX];
	struct {
		struct slice name;
		struct slice value;
	} keys[CONTROL_KEYS_MAX];
};

enum control_verdict {
	CONTROL_OK,       /* the word may still be unknown */
	CONTROL_NO_WORD,  /* no name behind the '@' */
	CONTROL_TOO_MANY, /* more arguments or keys than fit */
	CONTROL_TWICE,    /* one key given twice */
	CONTROL_NVERDICTS
};

/*
 * Take apart LINE, which begins with '@', LF and CR removed. RET borrows it;
 * on a verdict other than CONTROL_OK, RET holds what came before the trouble
 * and is good for messages only. Blanks are spaces and tabs, any number. The
 * words of a verbatim word (@args) are only in `rest`.
 */
enum control_verdict control_parse(struct control *ret, const char *line,
				   size_t len);
/* The same verdict in words, for @error: "a key is given twice". */
const char *control_verdict_text(enum control_verdict verdict);

/*
 * Whether the arguments are as many as the table says for control->word, which
 * must be known. NULL, or what is wrong: static text.
 */
const char *control_check(const struct control *control);

/* The value of key NAME, or NULL when it is not there. */
const struct slice *control_key(const struct control *control,
				const char *name);
/*
 * An integer from a slice: decimal digits, a minus when it is negative, no zero
 * in front, nothing else. -EINVAL no such number, -ERANGE outside MIN..MAX.
 */
int slice_i64(struct slice slice, int64_t min, int64_t max,
	      int64_t *ret) WARN_UNUSED;
/* Argument number INDEX likewise; -ENOENT when there is none. */
int control_arg_i64(const struct control *control, unsigned index, int64_t min,
		    int64_t max, int64_t *ret) WARN_UNUSED;
/* The value of key NAME likewise; -ENOENT when it is not there. */
int control_key_i64(const struct control *control, const char *name,
		    int64_t min, int64_t max, int64_t *ret) WARN_UNUSED;
bool slice_is(struct slice slice, const char *text);
/*
 * Copy SLICE with a NUL to TO of SIZE bytes. -ENAMETOOLONG when it does not
 * fit, -EINVAL when it holds a NUL; TO is "" then.
 */
int slice_copy(struct slice slice, char *to, size_t size) WARN_UNUSED;
/* Whether the bytes are UTF-8: no surrogate, nothing overlong, no NUL. */
bool text_is_utf8(const char *text, size_t len);

/*
 * Writing a line: control_add_word, then arguments, keys, text in this order,
 * then control_add_end. All append to OUT, whose failure sticks.
 */
void control_add_word(struct buf *out, enum word_id id);
/*
 * An argument: one word. Blanks, control characters and invalid UTF-8 become
 * '_'; so does what would make it a key or the colon; "" becomes "-".
 */
void control_add_arg(struct buf *out, const char *text);
void control_add_arg_slice(struct buf *out, struct slice text);
void control_add_arg_i64(struct buf *out, int64_t value);
/* NAME is [a-z][a-z0-9-]*; the value is cleaned like an argument, may be "". */
void control_add_key(struct buf *out, const char *name, const char *value);
void control_add_key_i64(struct buf *out, const char *name, int64_t value);
/*
 * ` : TEXT`. Control characters and invalid UTF-8 become '?'; cut to 1,000
 * bytes at a character's border. Nothing is written for "".
 */
void control_add_text(struct buf *out, const char *text);
void control_add_end(struct buf *out);
/* A whole line `@error CODE retry-after=S : TEXT`; no key when S is 0. */
void control_add_error(struct buf *out, enum error_code code,
		       int64_t retry_after_s, const char *text);
/*
 * Append LEN bytes of anything as one printable line: control characters and
 * invalid UTF-8 as \xNN, backslash doubled, cut to at most LIMIT bytes with
 * "..." behind. For logs and details about what a peer said.
 */
void text_add_escaped(struct buf *out, const char *text, size_t len,
		      size_t limit);

#endif
