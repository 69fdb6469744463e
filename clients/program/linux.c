/* SPDX-License-Identifier: MIT */
#include "clients/program/system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

const char system_version[] = "";
const char system_help[] = "";

enum { FIRST_FREE_FD = 3 };

int system_pipe(int fds[2])
{
	if (pipe2(fds, O_CLOEXEC) == 0)
		return 0;
	fds[0] = -1;
	fds[1] = -1;
	return -errno;
}

int system_stream_socket(int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd < 0 ? -errno : fd;
}

void system_watch_peer(int fd, int idle_s, int every_s, int dead_ms)
{
	const int on = 1;

	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s,
			 sizeof(idle_s));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every_s,
			 sizeof(every_s));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead_ms,
			 sizeof(dead_ms));
}

int system_poll(struct pollfd *fds, size_t count, const struct timespec *wait,
		const sigset_t *mask)
{
	return ppoll(fds, count, wait, mask);
}

bool system_is_unknown_host(int error)
{
	return error == EAI_NONAME || error == EAI_NODATA;
}

int system_random(void *bytes, size_t len)
{
	ssize_t count;

	do {
		count = getrandom(bytes, len, 0);
	} while (count < 0 && errno == EINTR);
	if (count < 0)
		return -errno;
	return (size_t)count == len ? 0 : -EIO;
}

static bool is_kept(int fd, const int *kept, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (fd == kept[i])
			return true;
	}
	return fd < FIRST_FREE_FD;
}

void system_close_others(const int *kept, size_t count)
{
	DIR *open_fds = opendir("/proc/self/fd");
	const struct dirent *entry;
	int found[256];
	size_t nfound;

	if (open_fds == NULL) {
		long last = sysconf(_SC_OPEN_MAX);

		for (int fd = FIRST_FREE_FD; fd < last; fd++) {
			if (!is_kept(fd, kept, count))
				(void)close(fd);
		}
		return;
	}
	do {
		nfound = 0;
		rewinddir(open_fds);
		while (nfound < sizeof(found) / sizeof(found[0]) &&
		       (entry = readdir(open_fds)) != NULL) {
			int fd = (int)strtol(entry->d_name, NULL, 10);

			if (fd != dirfd(open_fds) && !is_kept(fd, kept, count))
				found[nfound++] = fd;
		}
		for (size_t i = 0; i < nfound; i++)
			(void)close(found[i]);
	} while (nfound > 0);
	(void)closedir(open_fds);
}

void system_name_process(const char *name)
{
	(void)prctl(PR_SET_NAME, name);
}

void system_adopt_orphans(void)
{
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void system_follow_parent(void)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
}

int system_open_child_fd(void)
{
	sigset_t child;
	int fd;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	(void)sigprocmask(SIG_SETMASK, &child, NULL);
	fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

void system_clear_child_fd(int fd)
{
	struct signalfd_siginfo info;

	(void)!read(fd, &info, sizeof(info));
}

int system_note_descendants(pid_t leader, bool is_ending)
{
	/* Orphans are handed to us. */
	(void)leader;
	(void)is_ending;
	return -1;
}

void system_kill_descendants(pid_t leader)
{
	char path[64];
	FILE *list;
	long pid;

	if (leader > 0)
		(void)kill(-leader, SIGKILL);
	(void)snprintf(path, sizeof(path), "/proc/self/task/%ld/children",
		       (long)getpid());
	list = fopen(path, "re");
	if (list == NULL)
		return;
	while (fscanf(list, "%ld", &pid) == 1)
		(void)kill((pid_t)pid, SIGKILL);
	(void)fclose(list);
}
