/* SPDX-License-Identifier: MIT */
/*
 * echo_ref.c - what a turn costs at least: an epoll server that answers each
 * line with five lines (73 bytes) in one send. The benchmarks state hilld's
 * figures as multiples of this one's, measured in the same run.
 *
 *	echo-ref            prints its port, serves until SIGTERM
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 1024, READ_BYTES = 65536, TURNS_MAX = 64 };

static const char turn[] = "turnsleft 4711\n"
			   "crusher 9,1 movesto 8,1\n"
			   "rabbits 1,1 63,1\n"
			   "score 12 0\n"
			   "ready\n";

_Static_assert(sizeof(turn) - 1 == 73, "the turn that the figures speak of");

static void stop(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static int listen_somewhere(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t len = sizeof(address);
	const int one = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) < 0 ||
	    bind(fd, (struct sockaddr *)&address, len) < 0 ||
	    listen(fd, SOMAXCONN) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &len) < 0)
		stop("listen");
	(void)printf("%u\n", ntohs(address.sin_port));
	(void)fflush(stdout);
	return fd;
}

static void watch(int epoll_fd, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		stop("epoll_ctl");
}

static void answer(int fd)
{
	static char in[READ_BYTES];
	static char out[TURNS_MAX * sizeof(turn)];
	ssize_t count = read(fd, in, sizeof(in));
	size_t len = 0;
	char *at = in;

	if (count <= 0) {
		if (count == 0 || errno != EAGAIN)
			(void)close(fd);
		return;
	}
	while ((at = memchr(at, '\n', (size_t)(in + count - at))) != NULL &&
	       len + sizeof(turn) < sizeof(out)) {
		memcpy(out + len, turn, sizeof(turn) - 1);
		len += sizeof(turn) - 1;
		at++;
	}
	if (len > 0 && write(fd, out, len) != (ssize_t)len)
		(void)close(fd);
}

int main(void)
{
	static struct epoll_event events[EVENTS];
	struct rlimit limit;
	int epoll_fd = epoll_create1(0);
	int listen_fd;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (epoll_fd < 0)
		stop("epoll_create1");
	listen_fd = listen_somewhere();
	watch(epoll_fd, listen_fd);
	for (;;) {
		int count = epoll_wait(epoll_fd, events, EVENTS, -1);

		for (int i = 0; i < count; i++) {
			int fd = events[i].data.fd;

			if (fd != listen_fd) {
				answer(fd);
				continue;
			}
			fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK);
			if (fd >= 0)
				watch(epoll_fd, fd);
		}
	}
}
