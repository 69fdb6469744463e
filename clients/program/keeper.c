/* SPDX-License-Identifier: MIT */
#include "clients/program/keeper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	SWEEP_PAUSE_MS = 5,
	FOLDER_DEPTH_MAX = 64, /* a program may nest folders without end */
	FIRST_FREE_FD = 3,
};

/* The keeper's side; lives in the forked process only. */
struct ward {
	pid_t program; /* also its process group; 0 once reaped */
	int command_fd;
	int status_fd;
	int child_fd; /* signalfd for SIGCHLD */
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

/* In the program's process, after fork: become it, or report errno to FD. */
static void become_program(const struct keeper_plan *plan, int error_fd)
{
	sigset_t none;
	int error;

	(void)setpgid(0, 0);
	/* Goes with the keeper even if somebody kills that one. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	/* What we ignore, exec would hand on. */
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGTERM, SIG_DFL);
	(void)signal(SIGHUP, SIG_DFL);
	(void)signal(SIGXFSZ, SIG_DFL);
	/* A Python bot's plain print() would otherwise stay in its buffer. */
	(void)setenv("PYTHONUNBUFFERED", "1", 1);
	if ((plan->chdir == NULL || chdir(plan->chdir) == 0) &&
	    dup2(plan->stdin_fd, STDIN_FILENO) >= 0 &&
	    dup2(plan->stdout_fd, STDOUT_FILENO) >= 0 &&
	    dup2(plan->stderr_fd, STDERR_FILENO) >= 0)
		(void)execvp(plan->argv[0], plan->argv);
	error = errno;
	(void)!write(error_fd, &error, sizeof(error));
	_exit(127);
}

static void report(const struct ward *ward, enum keeper_end end, int value)
{
	struct keeper_status status = { .end = (int)end, .value = value };

	/* Fits a pipe's buffer whole; when the bridge is gone nobody asks. */
	(void)!write(ward->status_fd, &status, sizeof(status));
}

/* Reap who has ended; true while there is a child left. */
static bool reap_children(struct ward *ward)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != ward->program)
			continue;
		ward->program = 0;
		if (WIFSIGNALED(status))
			report(ward, KEEPER_SIGNALLED, WTERMSIG(status));
		else
			report(ward, KEEPER_EXITED, WEXITSTATUS(status));
	}
	return pid == 0;
}

/* SIGKILL to every child of this process: orphans are handed to us. */
static void kill_children(void)
{
	char path[64];
	FILE *list;
	long pid;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%ld/children",
		       (long)getpid());
	list = fopen(path, "re");
	if (list == NULL)
		return;
	while (fscanf(list, "%ld", &pid) == 1)
		(void)kill((pid_t)pid, SIGKILL);
	(void)fclose(list);
}

static void end_all(struct ward *ward)
{
	for (;;) {
		/* Once the leader is reaped its number may be another's. */
		if (ward->program != 0)
			(void)kill(-ward->program, SIGKILL);
		kill_children();
		if (!reap_children(ward))
			return;
		(void)poll(NULL, 0, SWEEP_PAUSE_MS);
	}
}

/* Carry out what the bridge says; false when all shall end. */
static bool obey(const struct ward *ward)
{
	char command;
	ssize_t count;

	do {
		count = read(ward->command_fd, &command, 1);
	} while (count < 0 && errno == EINTR);
	if (count <= 0 || command == KEEPER_KILL)
		return false;
	if (ward->program != 0)
		(void)kill(-ward->program,
			   command == KEEPER_TERM ? SIGTERM : SIGINT);
	return true;
}

static void keep(struct ward *ward)
{
	struct pollfd wait_for[] = {
		{ .fd = ward->command_fd, .events = POLLIN },
		{ .fd = ward->child_fd, .events = POLLIN },
	};
	struct signalfd_siginfo info;

	for (;;) {
		(void)reap_children(ward);
		if (poll(wait_for, 2, -1) < 0 && errno != EINTR)
			return;
		if (wait_for[1].revents != 0)
			(void)!read(ward->child_fd, &info, sizeof(info));
		if (wait_for[0].revents != 0 && !obey(ward))
			return;
	}
}

/*
 * Close what the bridge had open beside FIRST and SECOND and the program's
 * three: above all the sockets, which must close when the bridge dies.
 */
static void close_others(const int *keep_fds, size_t count)
{
	long last = sysconf(_SC_OPEN_MAX);
	DIR *open_fds = opendir("/proc/self/fd");
	const struct dirent *entry;
	int found[256];
	size_t nfound = 0;

	if (open_fds == NULL) {
		for (int fd = FIRST_FREE_FD; fd < last; fd++) {
			bool is_kept = false;

			for (size_t i = 0; i < count; i++)
				is_kept |= fd == keep_fds[i];
			if (!is_kept)
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
			bool is_kept =
				fd < FIRST_FREE_FD || fd == dirfd(open_fds);

			for (size_t i = 0; i < count; i++)
				is_kept |= fd == keep_fds[i];
			if (!is_kept)
				found[nfound++] = fd;
		}
		for (size_t i = 0; i < nfound; i++)
			(void)close(found[i]);
	} while (nfound > 0);
	(void)closedir(open_fds);
}

/* Fork the program; its errno from exec is told as KEEPER_NOT_STARTED. */
static bool start_program(struct ward *ward, const struct keeper_plan *plan)
{
	int error_pipe[2];
	int error = 0;
	pid_t pid = -1;

	if (pipe2(error_pipe, O_CLOEXEC) == 0)
		pid = fork();
	if (pid < 0) {
		report(ward, KEEPER_NOT_STARTED, errno);
		return false;
	}
	if (pid == 0)
		become_program(plan, error_pipe[1]);
	(void)setpgid(pid, pid); /* whoever comes first */
	ward->program = pid;
	(void)close(error_pipe[1]);
	(void)close(plan->stdin_fd);
	(void)close(plan->stdout_fd);
	(void)close(plan->stderr_fd);
	/* Ends at once when exec closes the other side. */
	if (read(error_pipe[0], &error, sizeof(error)) == sizeof(error)) {
		(void)waitpid(pid, NULL, 0);
		report(ward, KEEPER_NOT_STARTED, error);
		return false;
	}
	(void)close(error_pipe[0]);
	return true;
}

static void keeper_main(struct ward *ward, const struct keeper_plan *plan)
{
	const int kept[] = { ward->command_fd, ward->status_fd, plan->stdin_fd,
			     plan->stdout_fd, plan->stderr_fd };
	sigset_t child;

	/* Out of the terminal's foreground group: Ctrl-C is the bridge's. */
	(void)setpgid(0, 0);
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	close_others(kept, sizeof(kept) / sizeof(kept[0]));
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	(void)sigprocmask(SIG_SETMASK, &child, NULL);
	ward->child_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (start_program(ward, plan)) {
		keep(ward);
		end_all(ward);
	}
	if (plan->folder != NULL)
		(void)keeper_remove_folder(plan->folder);
	_exit(0);
}

int keeper_start(struct keeper *keeper, const struct keeper_plan *plan)
{
	int command[2] = { -1, -1 };
	int status[2] = { -1, -1 };
	pid_t pid;
	int error;

	if (pipe2(command, O_CLOEXEC) < 0 || pipe2(status, O_CLOEXEC) < 0)
		goto fail;
	pid = fork();
	if (pid < 0)
		goto fail;
	if (pid == 0) {
		struct ward ward = { .command_fd = command[0],
				     .status_fd = status[1] };

		keeper_main(&ward, plan);
	}
	(void)close(command[0]);
	(void)close(status[1]);
	(void)fcntl(status[0], F_SETFL, O_NONBLOCK);
	*keeper = (struct keeper){ .pid = pid,
				   .command_fd = command[1],
				   .status_fd = status[0] };
	return 0;
fail:
	error = errno;
	close_fd(&command[0]);
	close_fd(&command[1]);
	close_fd(&status[0]);
	close_fd(&status[1]);
	return -error;
}

void keeper_tell(struct keeper *keeper, enum keeper_command command)
{
	char byte = (char)command;

	if (keeper->command_fd >= 0)
		(void)!write(keeper->command_fd, &byte, 1);
}

void keeper_release(struct keeper *keeper)
{
	if (keeper->pid == 0)
		return;
	close_fd(&keeper->command_fd);
	close_fd(&keeper->status_fd);
	(void)waitpid(keeper->pid, NULL, WNOHANG);
	keeper->pid = 0;
}

void keeper_reap(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

/* Empties the folder open at FD, which it closes. */
static int empty_folder(int fd, int depth)
{
	DIR *folder = fdopendir(fd);
	const struct dirent *entry;
	int rc = 0;

	if (folder == NULL) {
		(void)close(fd);
		return -errno;
	}
	while ((entry = readdir(folder)) != NULL) {
		int below;

		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(fd, entry->d_name, 0) == 0)
			continue;
		if (errno != EISDIR && errno != EPERM) {
			rc = -errno;
			continue;
		}
		below = openat(fd, entry->d_name,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below < 0 || depth >= FOLDER_DEPTH_MAX) {
			rc = below < 0 ? -errno : -ELOOP;
			if (below >= 0)
				(void)close(below);
			continue;
		}
		rc = empty_folder(below, depth + 1);
		if (unlinkat(fd, entry->d_name, AT_REMOVEDIR) < 0)
			rc = -errno;
	}
	(void)closedir(folder);
	return rc;
}

int keeper_remove_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return -errno;
	rc = empty_folder(fd, 0);
	if (rmdir(folder) < 0)
		rc = -errno;
	return rc;
}
