/* SPDX-License-Identifier: MIT */
/*
 * name.h - which names are names, for server and clients alike. Any thread.
 */
#ifndef HILL_PROTO_NAME_H
#define HILL_PROTO_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum {
	NAME_BOT_MIN = 3,
	NAME_BOT_MAX = 24,
	NAME_TEXT_MAX = 64, /* files and ladders */
	NAME_TOKEN_MAX = 128,
	NAME_VERSION_MAX = 32,
};

/* A bot: 3..24 of a-z 0-9 - _. */
bool name_is_bot(const char *name, size_t len);
/*
 * What PROTOCOL.md and every refusal say of a bot's name: static text.
 */
const char *name_bot_rule(void);
/*
 * What all guests play as: no bot can have this name. A guest is shown as
 * `guest:NAME`.
 */
#define NAME_GUESTS "guest:"
enum {
	NAME_SHOWN_MAX = sizeof(NAME_GUESTS) - 1 + NAME_BOT_MAX, /* of a seat */
};
/* The NAME of the guest who is shown as TEXT; NULL: it is a bot's name. */
const char *name_of_guest(const char *text);
/* A ladder, a game: 1..64 of a-z 0-9 - _ and '.', beginning with a-z 0-9. */
bool name_is_ladder(const char *name, size_t len);
/* A file: 1..64 of A-Z a-z 0-9 . _ -, not beginning with '.' or '-'. */
bool name_is_file(const char *name, size_t len);
/* A token: 1..128 printable ASCII characters without blanks. */
bool name_is_token(const char *name, size_t len);

/* A version's label: 1..32 of A-Z a-z 0-9 . _ + -. */
bool name_is_version(const char *name, size_t len);
/*
 * Whether an author may choose NAME, a bot's: it begins with a letter or a
 * digit, and is no word of the host's, nor begins like the host's own bots,
 * guests and erased owners ("house-").
 */
bool name_may_be_chosen(const char *name);

#endif
