/* SPDX-License-Identifier: MIT */
/*
 * ctl.h - hillctl: what its files share.
 *
 * A command is one row of a table: its words, arguments, options, help and the
 * function that carries it out. Parsing and every help text come from there.
 * Single-threaded but for verify.c, which says so.
 */
#ifndef HILL_CLIENTS_CTL_CTL_H
#define HILL_CLIENTS_CTL_CTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "server/base/alloc.h"
#include "server/base/buffer.h"
#include "server/store/store.h"

#define CTL_DATABASE "hill.db" /* unless --database names another */

enum { CTL_NAME_BYTES = 64 }; /* of a command, with its NUL */

enum ctl_exit {
	CTL_OK = 0,
	CTL_FAILED = 1, /* refused, or it did not work */
	CTL_USAGE = 2   /* the command line makes no sense */
};

/* The options that every command has. All text is argv's or static. */
struct ctl {
	const char *database;
	const char *socket; /* NULL: the database's path with .sock behind */
	bool is_json;
};

enum ctl_option_kind {
	CTL_TEXT,
	CTL_INT,    /* a whole number of 64 bits */
	CTL_LIST,   /* names with commas between; may be given again */
	CTL_YES_NO, /* a JSON boolean */
	CTL_TRUE,   /* no value; the field becomes true */
	CTL_FALSE,  /* no value; the field becomes false */
};

struct ctl_option {
	const char *name;  /* without dashes; NULL ends a table */
	const char *value; /* what stands for it in the help; NULL: none */
	enum ctl_option_kind kind;
	bool is_required;
	const char *field; /* of the request; NULL: the command uses it */
	const char *help;
};

/* A column of a list: the member of each object, and how it is shown. */
struct ctl_column {
	const char *title; /* NULL ends a table */
	const char *member;
	enum { CTL_AS_TEXT, CTL_AS_NUMBER, CTL_AS_FLAG, CTL_AS_TIME } as;
};

struct ctl_call;

struct ctl_command {
	const char *name; /* "bot add"; NULL ends a table */
	const char *args; /* "NAME", for the help; "" for none */
	unsigned min_args, max_args;
	const char *arg_field; /* of the request: the argument */
	const struct ctl_option *options;
	const char *help;    /* one line */
	const char *details; /* more, or NULL */
	const char *list;    /* of the reply: the array to print; or NULL */
	const struct ctl_column *columns; /* of that array */
	/* An exit status. */
	int (*run)(const struct ctl *ctl, const struct ctl_call *call);
	const char *arg2_field; /* of the request: the second argument; NULL */
};

struct ctl_given {
	const struct ctl_option *option;
	const char *value; /* "" when it has none */
};

/* A command line that was understood. */
struct ctl_call {
	const struct ctl_command *command;
	const char **args; /* owned, as is the next; the texts are argv's */
	unsigned nargs;
	struct ctl_given *given;
	unsigned ngiven;
	bool is_json; /* what ctl_usage() says is a document as well */
};

extern const struct ctl_command ctl_admin_commands[];
extern const struct ctl_command ctl_match_commands[];
extern const struct ctl_command ctl_tournament_commands[];
extern const struct ctl_command ctl_moderate_commands[];
extern const struct ctl_command ctl_rating_commands[];
extern const struct ctl_option ctl_no_options[];

/* ---- command.c ---- */

/*
 * Understand ARGV. 0 when CALL is to be run; -1 when the program is done, with
 * *RET_STATUS. The caller releases CALL in both cases.
 */
int ctl_parse(int argc, char **argv, struct ctl *ctl, struct ctl_call *call,
	      int *ret_status) WARN_UNUSED;
void ctl_call_release(struct ctl_call *call);
/* The value of option NAME, or NULL when it was not given. */
const char *ctl_value(const struct ctl_call *call, const char *name);
/*
 * Likewise a whole number, FALLBACK when not given; ctl_parse has checked
 * that it is one.
 */
int64_t ctl_number(const struct ctl_call *call, const char *name,
		   int64_t fallback);
/* A whole number of 64 bits, sign allowed, and nothing else. */
bool ctl_parse_number(const char *text, int64_t *ret);
/*
 * Say on stderr what is wrong; with --json also as a document on stdout.
 * Returns CTL_FAILED.
 */
int ctl_fail(const struct ctl *ctl, const char *format, ...) PRINTF_LIKE(2, 3);
/* Likewise of the command line, be it that it is not read yet; CTL_USAGE. */
int ctl_usage(const struct ctl_call *call, const char *format, ...)
	PRINTF_LIKE(2, 3);

/* ---- help.c ---- */

void ctl_help_all(FILE *file);
/* The commands that begin with WORD, each with its options. */
void ctl_help_command(const struct ctl_command *command, FILE *file);
void ctl_help_group(const char *word, FILE *file);
/* The row of TEXT ("bot add"), or NULL. */
const struct ctl_command *ctl_find(const char *text);
bool ctl_is_group(const char *word);
/*
 * The command or the group of commands that TEXT was meant to be: it begins
 * with TEXT, or at most two letters differ. False when there is none.
 */
bool ctl_nearest_command(const char *text, char ret[CTL_NAME_BYTES]);
/*
 * Likewise the option of COMMAND, or of all commands, that the LEN bytes at
 * NAME were meant to be; or NULL.
 */
const char *ctl_nearest_option(const struct ctl_command *command,
			       const char *name, size_t len);
extern const struct ctl_option ctl_global_options[];

/* The tables of commands; NULL ends them. */
extern const struct ctl_command *const ctl_tables[];

/* ---- completion.c ---- */

/* Print a shell's completion of all of hill's programs. An exit status. */
int run_completion(const struct ctl *ctl, const struct ctl_call *call);

/* ---- request.c ---- */

/* A way to the store: through hilld, or straight into the file. */
struct channel {
	struct store *store; /* owned; NULL: through FD */
	int fd;              /* owned; -1: none */
};

/*
 * Open the way: the file under its lock, or hilld's control socket when hilld
 * holds that lock. MAY_CREATE makes a file that is not there, and says so to
 * people. 0, or -1 after ctl_fail().
 */
int channel_open(struct channel *channel, const struct ctl *ctl,
		 bool may_create) WARN_UNUSED;
/*
 * Straight to hilld, when it is there. 0, -ENOENT when nobody listens, other
 * -errno; says nothing.
 */
int channel_open_socket(struct channel *channel,
			const struct ctl *ctl) WARN_UNUSED;
/* The file alone and only to be read. 0, or -1 after ctl_fail(). */
int channel_open_read(struct channel *channel,
		      const struct ctl *ctl) WARN_UNUSED;
/*
 * Send REQUEST (borrowed). The reply is the caller's, be it a refusal; NULL
 * after ctl_fail().
 */
json_t *channel_send(struct channel *channel, const struct ctl *ctl,
		     json_t *request) WARN_UNUSED;
void channel_close(struct channel *channel);
/* The control socket's path; the caller's. */
char *ctl_socket_path(const struct ctl *ctl) WARN_UNUSED;

/* Print JSON as the one document on stdout. */
void ctl_print_json(const json_t *json);

#endif
