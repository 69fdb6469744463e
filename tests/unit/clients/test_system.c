/* SPDX-License-Identifier: MIT */
/*
 * test_system.c - what system.h promises of any system; built once with each
 * of its two implementations.
 */
#include "clients/program/system.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/base/clock.h"
#include "tests/unit/unit.h"

enum { PATIENCE_MS = 20000 };

static bool closes_at_exec(int fd)
{
	return (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0;
}

static void a_pipe_and_a_socket_are_not_inherited(void **state)
{
	int fds[2], fd;
	char c;

	(void)state;
	assert_int_equal(system_pipe(fds), 0);
	assert_true(closes_at_exec(fds[0]) && closes_at_exec(fds[1]));
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(read(fds[0], &c, 1), 1);
	(void)close(fds[0]);
	(void)close(fds[1]);
	fd = system_stream_socket(AF_INET);
	assert_true(fd >= 0 && closes_at_exec(fd));
	assert_true((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
	(void)close(fd);
	assert_true(system_stream_socket(-1) < 0);
}

static void a_watched_peer_is_probed(void **state)
{
	int fd = system_stream_socket(AF_INET), on = 0;
	socklen_t len = sizeof(on);

	(void)state;
	system_watch_peer(fd, 10, 5, 20000);
	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, &len),
			 0);
	assert_int_not_equal(on, 0);
	(void)close(fd);
	system_watch_peer(-1, 10, 5, 20000); /* what cannot be set stays */
}

static volatile sig_atomic_t nsignals;

static void count_signal(int number)
{
	(void)number;
	nsignals++;
}

static void a_signal_that_was_blocked_ends_the_wait(void **state)
{
	struct sigaction action = { .sa_handler = count_signal }, before;
	struct timespec wait = { .tv_sec = 20 }, none = { 0 };
	struct pollfd poll_fd = { .events = POLLIN };
	sigset_t block, old, open;
	int fds[2];

	(void)state;
	assert_int_equal(system_pipe(fds), 0);
	poll_fd.fd = fds[0];
	(void)sigemptyset(&open);
	(void)sigemptyset(&block);
	(void)sigaddset(&block, SIGUSR1);
	(void)sigaction(SIGUSR1, &action, &before);
	(void)sigprocmask(SIG_BLOCK, &block, &old);
	nsignals = 0;
	(void)raise(SIGUSR1);
	assert_int_equal(nsignals, 0);
	assert_int_equal(system_poll(&poll_fd, 1, &wait, &open), -1);
	assert_int_equal(errno, EINTR);
	assert_int_equal(nsignals, 1);
	/* Blocked again, and nothing to be read: no time, no signal. */
	(void)raise(SIGUSR1);
	assert_int_equal(system_poll(&poll_fd, 1, &none, &block), 0);
	assert_int_equal(nsignals, 1);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(system_poll(&poll_fd, 1, &wait, &block), 1);
	assert_true((poll_fd.revents & POLLIN) != 0);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	(void)sigaction(SIGUSR1, &before, NULL);
	(void)close(fds[0]);
	(void)close(fds[1]);
}

static void only_a_name_that_nobody_has_is_unknown(void **state)
{
	(void)state;
	assert_true(system_is_unknown_host(EAI_NONAME));
	assert_false(system_is_unknown_host(EAI_AGAIN));
	assert_false(system_is_unknown_host(EAI_MEMORY));
}

static void chance_differs(void **state)
{
	unsigned char a[256] = { 0 }, b[256] = { 0 };
	unsigned zeros = 0;

	(void)state;
	assert_int_equal(system_random(a, sizeof(a)), 0);
	assert_int_equal(system_random(b, sizeof(b)), 0);
	assert_memory_not_equal(a, b, sizeof(a));
	for (size_t i = 0; i < sizeof(a); i++)
		zeros += a[i] == 0;
	assert_true(zeros < 32);
}

/* What RUN finds in a process of its own: 0, or the line that failed. */
static void in_a_process(int (*run)(void))
{
	pid_t pid = fork();
	int status = 0;

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(run());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) != 0)
		fail_msg("check %d", WEXITSTATUS(status));
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static int close_others(void)
{
	int fds[8], kept[2];

	for (unsigned i = 0; i < 8; i++)
		fds[i] = dup(STDERR_FILENO);
	kept[0] = fds[5];
	kept[1] = fds[2];
	system_close_others(kept, 2);
	for (int i = 0; i < 8; i++)
		if (is_open(fds[i]) != (i == 2 || i == 5))
			return 1 + i;
	return is_open(0) && is_open(1) && is_open(2) ? 0 : 20;
}

static void all_others_are_closed(void **state)
{
	(void)state;
	in_a_process(close_others);
}

static bool is_readable(int fd, int wait_ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, wait_ms) == 1;
}

static int watch_children(void)
{
	int fd = system_open_child_fd();

	if (fd < 0 || is_readable(fd, 0))
		return 1;
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(7);
		for (int k = 0; !is_readable(fd, 100); k++)
			if (k * 100 > PATIENCE_MS)
				return 2;
		system_clear_child_fd(fd);
		if (waitpid(pid, NULL, 0) != pid || is_readable(fd, 0))
			return 3;
	}
	return 0;
}

static void a_childs_end_is_seen_on_its_descriptor(void **state)
{
	(void)state;
	in_a_process(watch_children);
}

/* A leader with a group of its own, and a child that would never end. */
static pid_t start_family(int *ret_fd)
{
	int fds[2];
	pid_t pid;

	if (system_pipe(fds) != 0)
		_exit(99);
	pid = fork();
	if (pid == 0) {
		(void)setpgid(0, 0);
		if (fork() == 0 && write(fds[1], "x", 1) != 1)
			_exit(99);
		for (;;)
			(void)pause();
	}
	(void)close(fds[1]);
	*ret_fd = fds[0];
	return pid;
}

static int kill_family(void)
{
	int64_t end_us;
	int fd, waited;
	pid_t leader;
	char c;

	system_adopt_orphans();
	leader = start_family(&fd);
	if (leader < 0 || read(fd, &c, 1) != 1)
		return 1;
	(void)system_note_descendants(leader, true);
	end_us = clock_now_us() + (int64_t)PATIENCE_MS * 1000;
	do {
		system_kill_descendants(leader);
		(void)poll(NULL, 0, 10);
		waited = waitpid(-1, NULL, WNOHANG);
		if (waited == leader)
			leader = 0;
	} while ((waited >= 0 || errno != ECHILD) && clock_now_us() < end_us);
	/* All who could hold its other end are gone. */
	return is_readable(fd, 1000) && read(fd, &c, 1) == 0 ? 0 : 2;
}

static void a_program_ends_with_all_that_descends_from_it(void **state)
{
	(void)state;
	in_a_process(kill_family);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pipe_and_a_socket_are_not_inherited),
		cmocka_unit_test(a_watched_peer_is_probed),
		cmocka_unit_test(a_signal_that_was_blocked_ends_the_wait),
		cmocka_unit_test(only_a_name_that_nobody_has_is_unknown),
		cmocka_unit_test(chance_differs),
		cmocka_unit_test(all_others_are_closed),
		cmocka_unit_test(a_childs_end_is_seen_on_its_descriptor),
		cmocka_unit_test(a_program_ends_with_all_that_descends_from_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
