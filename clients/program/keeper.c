/* SPDX-License-Identifier: MIT */
#include "clients/program/keeper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clients/program/system.h"

enum {
	SWEEP_PAUSE_MS = 5,
	WAIT_STEP_MS = 5,
	FOLDER_DEPTH_MAX = 64, /* a program may nest folders without end */
	SIGNALS_MAX = 64,      /* POSIX has no name for the greatest number */
};

/* The keeper's side; lives in the forked process only. */
struct ward {
	pid_t program;  /* also its process group; 0 once reaped */
	bool has_ended; /* the program, and that was reported */
	int command_fd;
	int status_fd;
	int child_fd; /* readable when a child has ended */
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
	system_follow_parent();
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	/*
	 * What is ignored, exec would hand on: what we ignore, and what our
	 * parent did (a shell's `&` ignores SIGINT and SIGQUIT).
	 */
	for (int number = 1; number <= SIGNALS_MAX; number++)
		(void)signal(number, SIG_DFL);
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

/*
 * Reap who has ended but the program: its number stays that of its process
 * group until all are ended. Its end is reported, once.
 */
static void watch_children(struct ward *ward)
{
	siginfo_t info = { .si_pid = 0 };

	while (!ward->has_ended &&
	       waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid != 0) {
		if (info.si_pid != ward->program) {
			(void)waitpid(info.si_pid, NULL, 0);
		} else {
			ward->has_ended = true;
			report(ward,
			       info.si_code == CLD_EXITED ? KEEPER_EXITED
							  : KEEPER_SIGNALLED,
			       info.si_status);
		}
		info.si_pid = 0;
	}
}

/* Reap who has ended; true while there is a child left. */
static bool reap_children(struct ward *ward)
{
	pid_t pid;

	watch_children(ward);
	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
		if (pid == ward->program)
			ward->program = 0;
	}
	return pid == 0;
}

static void end_all(struct ward *ward)
{
	for (;;) {
		/* Told before the next sweep, which may take its time. */
		watch_children(ward);
		system_kill_descendants(ward->program);
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
	(void)system_note_descendants(ward->program, true);
	(void)kill(-ward->program, command == KEEPER_TERM ? SIGTERM : SIGINT);
	return true;
}

static void keep(struct ward *ward)
{
	struct pollfd wait_for[] = {
		{ .fd = ward->command_fd, .events = POLLIN },
		{ .fd = ward->child_fd, .events = POLLIN },
	};

	for (;;) {
		int wait_ms;

		watch_children(ward);
		wait_ms = system_note_descendants(ward->program, false);
		if (poll(wait_for, 2, wait_ms) < 0) {
			if (errno != EINTR)
				return;
			continue;
		}
		if (wait_for[1].revents != 0)
			system_clear_child_fd(ward->child_fd);
		if (wait_for[0].revents != 0 && !obey(ward))
			return;
	}
}

/* Fork the program; its errno from exec is told as KEEPER_NOT_STARTED. */
static bool start_program(struct ward *ward, const struct keeper_plan *plan)
{
	int error_pipe[2];
	int error = 0;
	pid_t pid = -1;
	int rc = system_pipe(error_pipe);

	if (rc == 0) {
		pid = fork();
		rc = pid < 0 ? -errno : 0;
	}
	if (rc < 0) {
		report(ward, KEEPER_NOT_STARTED, -rc);
		return false;
	}
	if (pid == 0)
		become_program(plan, error_pipe[1]);
	(void)setpgid(pid, pid); /* whoever comes first */
	ward->program = pid;
	report(ward, KEEPER_STARTED, (int)pid);
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

	/* Out of the terminal's foreground group: Ctrl-C is the bridge's. */
	(void)setpgid(0, 0);
	system_name_process("hill-keeper");
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	system_close_others(kept, sizeof(kept) / sizeof(kept[0]));
	system_adopt_orphans();
	ward->child_fd = system_open_child_fd();
	if (start_program(ward, plan)) {
		keep(ward);
		end_all(ward);
	}
	report(ward, KEEPER_DONE, 0);
	if (plan->folder != NULL)
		(void)keeper_remove_folder(plan->folder);
	_exit(0);
}

int keeper_start(struct keeper *keeper, const struct keeper_plan *plan)
{
	int command[2] = { -1, -1 };
	int status[2] = { -1, -1 };
	pid_t pid;
	int rc = system_pipe(command);

	if (rc == 0)
		rc = system_pipe(status);
	if (rc < 0)
		goto fail;
	pid = fork();
	if (pid < 0) {
		rc = -errno;
		goto fail;
	}
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
	close_fd(&command[0]);
	close_fd(&command[1]);
	close_fd(&status[0]);
	close_fd(&status[1]);
	return rc;
}

int keeper_hear(struct keeper *keeper, struct keeper_status *ret)
{
	ssize_t count = read(keeper->status_fd, ret, sizeof(*ret));

	if (count < 0)
		return 0;
	if (count != (ssize_t)sizeof(*ret)) {
		/* It went before its wards: somebody has killed it. */
		if (keeper->group > 0)
			(void)kill(-keeper->group, SIGKILL);
		keeper->group = 0;
		return -1;
	}
	if (ret->end < KEEPER_NENDS)
		return 1;
	keeper->group = ret->end == KEEPER_STARTED ? (pid_t)ret->value : 0;
	return 0;
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

void keeper_wait_all(int ms)
{
	for (int waited = 0; waited < ms; waited += WAIT_STEP_MS) {
		pid_t pid;

		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0)
			return;
		(void)poll(NULL, 0, WAIT_STEP_MS);
	}
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
