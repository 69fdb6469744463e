/* SPDX-License-Identifier: MIT */
/*
 * keeper.h - a small process that owns one match's program and everything the
 * program starts, and outlives its player (hill-bridge, hill-run) by as long
 * as it takes to end them.
 *
 *	bridge --fork--> keeper --fork, exec--> program --> whatever it starts
 *	   |  commands (pipe) --> |
 *	   | <-- status (pipe)    |
 *
 * The keeper finds and kills all descendants, also those that left the process
 * group: on Linux it is their reaper (system.h has the other systems). It does
 * so when told, or when its command pipe closes: that happens by itself when
 * the bridge dies, even by SIGKILL. When nobody is left it removes the match's
 * private folder and exits, which closes the status pipe. It has a name of its
 * own in the process table, so that who ends the bridge by its name lets the
 * keeper do its work. When the keeper itself is ended by SIGKILL, the bridge
 * ends the program's process group; who has left that may live on.
 */
#ifndef HILL_PROGRAM_KEEPER_H
#define HILL_PROGRAM_KEEPER_H

#include <stdbool.h>
#include <sys/types.h>

#include "server/base/alloc.h"

/* Far more than a keeper takes to end all it has. */
enum { KEEPER_PATIENCE_MS = 3000 };

enum keeper_command {
	KEEPER_TERM = 'T',      /* SIGTERM to the program's process group */
	KEEPER_INTERRUPT = 'I', /* SIGINT likewise */
	KEEPER_KILL = 'K',      /* end all of them, and yourself */
};

/* How the program ended, as the keeper writes it into the status pipe. */
enum keeper_end {
	KEEPER_EXITED,      /* value: the exit status */
	KEEPER_SIGNALLED,   /* value: the signal */
	KEEPER_NOT_STARTED, /* value: the errno of exec */
	KEEPER_NENDS,
	/* What comes before and after that, for the bridge's side alone. */
	KEEPER_STARTED = KEEPER_NENDS, /* value: the program's process group */
	KEEPER_DONE,                   /* nobody is left */
};

struct keeper_status {
	int end; /* enum keeper_end */
	int value;
};

struct keeper {
	pid_t pid;      /* the keeper's own; 0 when there is none */
	pid_t group;    /* the program's, while it may have members; else 0 */
	int command_fd; /* ours to write; -1 when closed */
	int status_fd;  /* ours to poll for keeper_hear(), non-blocking */
};

/* What to run. All borrowed for the call. */
struct keeper_plan {
	char *const *argv; /* NULL at its end; looked up in PATH */
	/* the program's; the caller closes its copies afterwards */
	int stdin_fd, stdout_fd, stderr_fd;
	/* removed with all it holds at the end; NULL for none */
	const char *folder;
	/* the program's working folder; NULL for the bridge's own */
	const char *chdir;
};

/*
 * Fork a keeper that starts PLAN's program in a process group of its own, with
 * no open file but its three. 0, or a negative errno (nothing was started; the
 * folder is still the caller's). Whether exec worked is told in the status.
 */
int keeper_start(struct keeper *keeper,
		 const struct keeper_plan *plan) WARN_UNUSED;
/*
 * What it says: 1 and *RET when the program has ended, 0 when it is nothing for
 * the caller, -1 when it has gone and all its wards are dead.
 */
int keeper_hear(struct keeper *keeper, struct keeper_status *ret) WARN_UNUSED;
/* Tell it. Does nothing when the keeper is gone. */
void keeper_tell(struct keeper *keeper, enum keeper_command command);
/*
 * Close both pipes, which ends everything, and reap the keeper if it has
 * already exited; keeper_reap() gets the others.
 */
void keeper_release(struct keeper *keeper);
/* Reap keepers that have exited. Call it now and then. */
void keeper_reap(void);
/* Wait until no keeper of ours is left, but no longer than for MS. */
void keeper_wait_all(int ms);
/*
 * Remove FOLDER and all below it; follows no link. 0 or the last negative
 * errno.
 */
int keeper_remove_folder(const char *folder);

#endif
