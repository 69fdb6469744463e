/* SPDX-License-Identifier: MIT */
/*
 * program.h - one match's program as its player sees it: three pipes and how
 * it ended. Never blocks; the caller polls.
 *
 * A program that does not read makes `input` grow, up to its limit
 * (program_is_full says to stop feeding it); one that writes without end is
 * not read while the caller says so (program_pause). Standard error always
 * drains: into the log up to its cap, then into nothing.
 */
#ifndef HILL_PROGRAM_PROGRAM_H
#define HILL_PROGRAM_PROGRAM_H

#include <poll.h>
#include <stdint.h>

#include "clients/program/keeper.h"
#include "server/base/buffer.h"

enum {
	PROGRAM_FDS = 4, /* what program_poll fills in at most */
	PROGRAM_INPUT_BYTES = 1024 * 1024, /* beside a whole input */
	PROGRAM_LOG_BYTES = 1024 * 1024,
	PROGRAM_TAIL_BYTES = 400, /* of standard error that are remembered */
	PROGRAM_FIRST_BYTES = 40, /* of what a whole reply drops, to be shown */
};

enum program_phase {
	PROGRAM_NONE, /* no program */
	PROGRAM_RUNNING,
	PROGRAM_ENDED,   /* it has ended; its last output may still be unread */
	PROGRAM_DRAINED, /* and now all of it was handed out */
	PROGRAM_NPHASES
};

/*
 * Takes one line of output, without its LF. LEN can be line_max + 1: then the
 * line was longer, and the rest is lost.
 */
typedef void (*program_line_fn)(void *context, const char *line, size_t len);

/* What a whole output held, as far as it came. */
struct program_whole {
	size_t bytes;
	size_t kept;    /* commands */
	size_t dropped; /* neither these nor blanks */
	size_t nfirst;
	bool is_first_over;
	char first[PROGRAM_FIRST_BYTES + 1]; /* the first that were dropped */
};

struct program {
	enum program_phase phase;
	struct keeper keeper;
	int in_fd, out_fd, err_fd; /* -1 when closed */
	int log_fd;                /* owned; -1 before the first byte */
	size_t logged;             /* bytes in the log */
	const char *log_path;      /* borrowed; NULL for no log */
	struct buf input;          /* not yet taken by the program */
	struct buf line;           /* the line that has no LF yet */
	size_t line_max;
	bool is_input_ending; /* close in_fd when `input` is empty */
	bool is_discarding;   /* in the rest of an over-long line */
	bool is_paused;
	bool is_output_ended; /* the last line was handed out */
	int64_t closed_us;    /* its output was seen closed; 0: not */
	bool is_whole;        /* one reply: the commands of all output */
	struct program_whole whole;
	int64_t read_us;  /* when its standard output was last read */
	bool has_written; /* to its standard output, a byte at least */
	size_t tail_len;
	char tail[PROGRAM_TAIL_BYTES]; /* the last of standard error */
	bool has_status;
	struct keeper_status status;
	program_line_fn on_line;
	void *context;
};

struct program_plan {
	char *const *argv;
	const char *folder; /* private folder, the keeper removes it; NULL */
	bool is_chdir;      /* the program works in FOLDER */
	/* where standard error goes; must outlive the program; NULL */
	const char *log_path;
	bool is_stderr_shared; /* our own instead of the log */
	size_t line_max;       /* bytes */
	bool is_whole;
	program_line_fn on_line;
	void *context;
};

/*
 * Standard descriptors that are closed become /dev/null: a program's pipe must
 * not take their numbers. Once, before anything is opened.
 */
void program_keep_standard(void);
/*
 * Have HANDLER told of SIGINT and SIGTERM, which are blocked but while
 * system_poll() waits with them let in, so that none is missed before it.
 * SIGPIPE is ignored. Once, before any program.
 */
void program_catch_signals(void (*handler)(int number));
/* All zero but the descriptors; program_start may follow. */
void program_init(struct program *program);
/*
 * Start it. 0 or a negative errno: then nothing runs and FOLDER is still there.
 */
int program_start(struct program *program,
		  const struct program_plan *plan) WARN_UNUSED;
/* End everything and forget it; the keeper does the killing by itself. */
void program_release(struct program *program);
/* Queue bytes for its standard input. Dropped once that is closed. */
void program_write(struct program *program, const char *bytes, size_t len);
/* Close its standard input behind what is queued. */
void program_end_input(struct program *program);
/*
 * No more output is taken: hand out the unterminated last line, if any (of a
 * whole reply: all of it), and close. For a program that closed its output and
 * lives on; one that ended has had it by PROGRAM_DRAINED.
 */
void program_end_output(struct program *program);
/*
 * Whether PROGRAM, which runs, closed its output a while ago and so plays no
 * more: one that closes it usually ends at once, and its exit status says more
 * than that. What was left of its output is handed out then. An empty whole
 * reply is worth something only with exit status 0, so that is waited for. To
 * be called after each program_handle(), and at program_closed_deadline().
 */
bool program_has_given_up(struct program *program, int64_t now_us) WARN_UNUSED;
/* When that may become true by time alone; INT64_MAX: not. */
int64_t program_closed_deadline(const struct program *program);
/* Whether C is a command of a whole output (PROTOCOL.md, Files and arguments). */
bool program_is_command(char c) WARN_UNUSED;
/* Whether C is a blank or a line end. */
bool program_is_blank(char c) WARN_UNUSED;
/* Count LEN bytes more of a whole output. */
void program_count_whole(struct program_whole *whole, const char *bytes,
			 size_t len);
/*
 * Whether LEN commands of a whole output are a reply. They are none after an
 * end by SIGKILL, nor no command at all after a failing exit.
 */
bool program_has_whole_reply(const struct program *program,
			     size_t len) WARN_UNUSED;
void program_signal(struct program *program, enum keeper_command command);
static inline bool program_is_full(const struct program *program)
{
	return program->input.len >= PROGRAM_INPUT_BYTES / 2;
}
/* Whether any process of it may still live. */
static inline bool program_is_alive(const struct program *program)
{
	return program->phase != PROGRAM_NONE;
}
/* Fill FDS (room for PROGRAM_FDS) with what to wait for; returns how many. */
size_t program_poll(const struct program *program, struct pollfd *fds);
/*
 * Handle COUNT polled FDS: moves bytes, hands out lines. All processes dead and
 * status read: phase PROGRAM_NONE.
 */
void program_handle(struct program *program, const struct pollfd *fds,
		    size_t count);

#endif
