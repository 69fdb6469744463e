/* SPDX-License-Identifier: MIT */
/* posix.c - system.h with POSIX.1-2008 alone. */
#include "clients/program/system.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/base/clock.h"

const char system_version[] = " portable";
const char system_help[] =
	"\n"
	"This is the portable build. A process that the program started, that left\n"
	"its process group and whose parent has ended may be left behind.\n";

enum {
	FIRST_FREE_FD = 3,
	CLOSE_BELOW = 65536, /* higher descriptors are nobody's habit */
	CLOSE_AT_ONCE = 64,
	SLICE_MS = 100,
	LOOK_FIRST_MS = 100,
	LOOK_MOST_MS = 30 * 1000,
	FREEZE_ROUNDS = 8,
	START_SLACK_S = 2, /* ps tells whole seconds */
};

/* ---- any process ---- */

static int set_flags(int fd, bool is_blocking)
{
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ||
	    (!is_blocking && fcntl(fd, F_SETFL, O_NONBLOCK) < 0))
		return -errno;
	return 0;
}

int system_pipe(int fds[2])
{
	int rc;

	if (pipe(fds) < 0) {
		rc = -errno;
	} else {
		rc = set_flags(fds[0], true);
		if (rc == 0)
			rc = set_flags(fds[1], true);
		if (rc == 0)
			return 0;
		(void)close(fds[0]);
		(void)close(fds[1]);
	}
	fds[0] = -1;
	fds[1] = -1;
	return rc;
}

int system_stream_socket(int family)
{
	int fd = socket(family, SOCK_STREAM, 0);
	int rc;

	if (fd < 0)
		return -errno;
	rc = set_flags(fd, false);
	if (rc == 0)
		return fd;
	(void)close(fd);
	return rc;
}

void system_watch_peer(int fd, int idle_s, int every_s, int dead_ms)
{
	const int on = 1;

	(void)idle_s;
	(void)every_s;
	(void)dead_ms;
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

/*
 * A signal may come between the change of the mask and poll: waiting by slices
 * it is heeded a slice later.
 */
static int poll_by_slices(struct pollfd *fds, size_t count,
			  const struct timespec *wait, const sigset_t *mask)
{
	int slice_ms = SLICE_MS;
	sigset_t before;
	int error;
	int rc;

	if (wait != NULL && wait->tv_sec == 0 &&
	    wait->tv_nsec < SLICE_MS * 1000000L)
		slice_ms = (int)((wait->tv_nsec + 999999) / 1000000);
	(void)sigprocmask(SIG_SETMASK, mask, &before);
	rc = poll(fds, (nfds_t)count, slice_ms);
	error = errno;
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return rc;
}

/* pselect() does the waiting, as no poll() of POSIX changes the mask. */
int system_poll(struct pollfd *fds, size_t count, const struct timespec *wait,
		const sigset_t *mask)
{
	fd_set to_read;
	fd_set to_write;
	int last = -1;

	FD_ZERO(&to_read);
	FD_ZERO(&to_write);
	for (size_t i = 0; i < count; i++) {
		if (fds[i].fd >= FD_SETSIZE)
			return poll_by_slices(fds, count, wait, mask);
		if (fds[i].fd < 0)
			continue;
		if ((fds[i].events & POLLIN) != 0)
			FD_SET(fds[i].fd, &to_read);
		if ((fds[i].events & POLLOUT) != 0)
			FD_SET(fds[i].fd, &to_write);
		if (fds[i].fd > last)
			last = fds[i].fd;
	}
	if (pselect(last + 1, &to_read, &to_write, NULL, wait, mask) < 0)
		return -1;
	return poll(fds, (nfds_t)count, 0);
}

bool system_is_unknown_host(int error)
{
	return error == EAI_NONAME;
}

int system_random(void *bytes, size_t len)
{
	/* Not of POSIX, but where there is chance at all, it is there. */
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	ssize_t count;

	if (fd < 0)
		return -errno;
	count = read(fd, bytes, len);
	(void)close(fd);
	return count >= 0 && (size_t)count == len ? 0 : -EIO;
}

/* ---- a keeper's process ---- */

void system_close_others(const int *kept, size_t count)
{
	struct pollfd fds[CLOSE_AT_ONCE];
	long last = sysconf(_SC_OPEN_MAX);

	if (last < 0 || last > CLOSE_BELOW)
		last = CLOSE_BELOW;
	for (int first = FIRST_FREE_FD; first < last; first += CLOSE_AT_ONCE) {
		/* Asking poll for many at once is the quickest way. */
		for (int i = 0; i < CLOSE_AT_ONCE; i++)
			fds[i] = (struct pollfd){ .fd = first + i };
		(void)poll(fds, CLOSE_AT_ONCE, 0);
		for (int i = 0; i < CLOSE_AT_ONCE; i++) {
			bool is_kept = (fds[i].revents & POLLNVAL) != 0;

			for (size_t k = 0; k < count; k++)
				is_kept |= fds[i].fd == kept[k];
			if (!is_kept)
				(void)close(fds[i].fd);
		}
	}
}

void system_name_process(const char *name)
{
	(void)name;
}

void system_adopt_orphans(void)
{
}

void system_follow_parent(void)
{
}

static int child_pipe[2] = { -1, -1 };

static void on_child(int number)
{
	int error = errno;

	(void)number;
	(void)!write(child_pipe[1], "", 1);
	errno = error;
}

int system_open_child_fd(void)
{
	struct sigaction action = { .sa_handler = on_child,
				    .sa_flags = SA_NOCLDSTOP | SA_RESTART };
	sigset_t none;
	int rc = system_pipe(child_pipe);

	if (rc == 0)
		rc = set_flags(child_pipe[0], false);
	if (rc == 0)
		rc = set_flags(child_pipe[1], false);
	if (rc < 0)
		return rc;
	sigemptyset(&action.sa_mask);
	(void)sigaction(SIGCHLD, &action, NULL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	return child_pipe[0];
}

void system_clear_child_fd(int fd)
{
	char bytes[64];

	while (read(fd, bytes, sizeof(bytes)) > 0)
		;
}

/* ---- descendants, from ps's table ---- */

struct process {
	pid_t pid;
	pid_t parent;
	pid_t group;
	int64_t start_s; /* by the monotonic clock, give or take */
	bool is_ours;
	bool is_stopped; /* by us */
};

struct census {
	struct process *all;
	size_t count;
	size_t room;
};

/* ps's elapsed time, [[days-]hours:]minutes:seconds; seconds. */
static int64_t elapsed_s(const char *text)
{
	int64_t days = 0;
	int64_t sum = 0;
	char *end;
	long part = strtol(text, &end, 10);

	if (*end == '-') {
		days = part;
		part = strtol(end + 1, &end, 10);
	}
	sum = part;
	while (*end == ':') {
		part = strtol(end + 1, &end, 10);
		sum = sum * 60 + part;
	}
	return days * 24 * 60 * 60 + sum;
}

/* All processes into CENSUS, as far as there is a ps. */
static void take_census(struct census *census)
{
	FILE *table = popen("exec ps -A -o pid= -o ppid= -o pgid= -o etime= "
			    "2>/dev/null",
			    "r");
	int64_t now_s = clock_now_us() / 1000000;
	long pid;
	long parent;
	long group;
	char elapsed[32];

	census->count = 0;
	if (table == NULL)
		return;
	while (fscanf(table, "%ld %ld %ld %31s", &pid, &parent, &group,
		      elapsed) == 4) {
		if (census->count == census->room) {
			census->room = census->room * 2 + 64;
			census->all = xreallocarray(census->all, census->room,
						    sizeof(*census->all));
		}
		census->all[census->count++] = (struct process){
			.pid = (pid_t)pid,
			.parent = (pid_t)parent,
			.group = (pid_t)group,
			.start_s = now_s - elapsed_s(elapsed),
		};
	}
	(void)pclose(table);
}

/* The one of KNOWN that PROCESS is, not another with its number; or NULL. */
static const struct process *find_known(const struct census *known,
					const struct process *process)
{
	for (size_t i = 0; i < known->count; i++) {
		const struct process *other = &known->all[i];

		if (other->pid == process->pid &&
		    llabs(other->start_s - process->start_s) <= START_SLACK_S)
			return other;
	}
	return NULL;
}

static bool has_our_parent(const struct census *census,
			   const struct process *process)
{
	for (size_t i = 0; i < census->count; i++) {
		if (census->all[i].is_ours &&
		    census->all[i].pid == process->parent)
			return true;
	}
	return false;
}

/* Mark who descends from LEADER, is of its group, or was KNOWN to do so. */
static void mark_ours(struct census *census, const struct census *known,
		      pid_t leader)
{
	bool has_changed = true;

	for (size_t i = 0; i < census->count; i++) {
		struct process *process = &census->all[i];
		const struct process *before = find_known(known, process);

		process->is_ours = process->pid == leader ||
				   process->group == leader || before != NULL;
		process->is_stopped = before != NULL && before->is_stopped;
	}
	while (has_changed) {
		has_changed = false;
		for (size_t i = 0; i < census->count; i++) {
			struct process *process = &census->all[i];

			if (process->is_ours ||
			    !has_our_parent(census, process))
				continue;
			process->is_ours = true;
			has_changed = true;
		}
	}
}

/* What of the program's family the last look showed. */
static struct census known;

/* Bring `known` up to date; false when there is no ps. */
static bool look(pid_t leader)
{
	struct census census = { .all = NULL };
	size_t nours = 0;

	take_census(&census);
	if (census.count == 0) {
		/* What is not confirmed may be another's number by now. */
		known.count = 0;
		free(census.all);
		return false;
	}
	mark_ours(&census, &known, leader);
	for (size_t i = 0; i < census.count; i++) {
		if (census.all[i].is_ours)
			census.all[nours++] = census.all[i];
	}
	census.count = nours;
	free(known.all);
	known = census;
	return true;
}

int system_note_descendants(pid_t leader, bool is_ending)
{
	static int64_t look_at_us;
	static int pause_ms = LOOK_FIRST_MS;
	int64_t now_us = clock_now_us();

	if (look_at_us == 0)
		look_at_us = now_us + (int64_t)pause_ms * 1000;
	if (is_ending) {
		(void)look(leader);
	} else if (now_us >= look_at_us) {
		(void)look(leader);
		pause_ms = pause_ms * 2 < LOOK_MOST_MS ? pause_ms * 2
						       : LOOK_MOST_MS;
		now_us = clock_now_us();
		look_at_us = now_us + (int64_t)pause_ms * 1000;
	}
	return (int)((look_at_us - now_us + 999) / 1000);
}

void system_kill_descendants(pid_t leader)
{
	bool is_still = false;

	if (leader <= 0)
		return;
	/* Stopped first: who is killed leaves orphans that nobody finds. */
	for (int round = 0; !is_still && round < FREEZE_ROUNDS; round++) {
		is_still = true;
		if (!look(leader))
			break;
		for (size_t i = 0; i < known.count; i++) {
			struct process *process = &known.all[i];

			if (process->is_stopped)
				continue;
			(void)kill(process->pid, SIGSTOP);
			process->is_stopped = true;
			is_still = false;
		}
	}
	(void)kill(-leader, SIGKILL);
	for (size_t i = 0; i < known.count; i++)
		(void)kill(known.all[i].pid, SIGKILL);
}
