/* SPDX-License-Identifier: MIT */
/*
 * system.h - all that the clients want of the system beyond POSIX.1-2008.
 *
 * Two files have it: linux.c, and posix.c for other systems (on Linux too with
 * meson's -Dportable=true, for its tests). posix.c makes do with POSIX, and
 * these are the differences:
 *
 * - A keeper finds a process that left the program's process group in ps's
 *   table, by its line of parents. It looks there before it ends anything, and
 *   now and then (after 0.1, 0.3, 0.7, ... s, then every half minute). One
 *   that left the group and lost its parent before the first look at it is
 *   not found; without a ps, none that left the group is.
 * - A keeper has its player's name in the process table: who ends both by that
 *   name, with SIGKILL, leaves the program behind.
 * - How soon a dead link shows is the system's choice (often two hours).
 * - Another thread's fork could inherit a descriptor; the clients have none.
 */
#ifndef HILL_PROGRAM_SYSTEM_H
#define HILL_PROGRAM_SYSTEM_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "server/base/alloc.h"

/* Behind the version: " portable" for posix.c, "" for Linux. */
extern const char system_version[];
/* A paragraph for --help about what this system cannot do; "" for Linux. */
extern const char system_help[];

/* ---- any process ---- */

/* A pipe that closes at exec. 0 or a negative errno: FDS are -1 then. */
int system_pipe(int fds[2]) WARN_UNUSED;
/*
 * A stream socket of FAMILY (AF_...) that closes at exec and does not block; or
 * a negative errno.
 */
int system_stream_socket(int family) WARN_UNUSED;
/*
 * Have TCP notice a dead peer of FD: probes after IDLE_S seconds of silence,
 * every EVERY_S; given up when sent data is not acknowledged for DEAD_MS. What
 * cannot be set stays as it is.
 */
void system_watch_peer(int fd, int idle_s, int every_s, int dead_ms);
/*
 * poll() with the signal mask MASK while it waits, and only then: a signal that
 * is blocked otherwise is never missed before the wait. WAIT NULL: for ever.
 * As poll(): how many, or -1 and errno. May return 0 before its time.
 */
int system_poll(struct pollfd *fds, size_t count, const struct timespec *wait,
		const sigset_t *mask) WARN_UNUSED;
/* Whether getaddrinfo's ERROR says that there is no such host. */
bool system_is_unknown_host(int error);
/* LEN (256 at most) bytes of chance. 0 or a negative errno. */
int system_random(void *bytes, size_t len) WARN_UNUSED;

/* ---- a keeper's process, which has one program and no thread ---- */

/* Close all but the three standard descriptors and the COUNT of KEPT. */
void system_close_others(const int *kept, size_t count);
/* Be called NAME, of 15 bytes at most, in the process table. */
void system_name_process(const char *name);
/* Be handed the orphans among one's descendants. */
void system_adopt_orphans(void);
/* Between fork and exec: be killed when the parent dies. */
void system_follow_parent(void);
/*
 * A descriptor that becomes readable when a child has ended; or a negative
 * errno. The signal mask holds at most SIGCHLD afterwards, which is in use.
 */
int system_open_child_fd(void) WARN_UNUSED;
/* Make it unreadable until another child ends. */
void system_clear_child_fd(int fd);
/*
 * Note which processes descend from the program LEADER, for
 * system_kill_descendants, where that has to be done while all live. To be
 * called with IS_ENDING before a signal that may end it, and by and by.
 * Milliseconds until the next call, -1: none is needed.
 */
int system_note_descendants(pid_t leader, bool is_ending);
/*
 * SIGKILL to all that descends from the program LEADER, which is not reaped
 * yet or 0. To be called again while there is a child.
 */
void system_kill_descendants(pid_t leader);

#endif
