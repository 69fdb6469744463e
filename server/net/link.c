/* SPDX-License-Identifier: MIT */
#include "server/net/link.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum { PROBES = 3, MS_PER_S = 1000 };

ssize_t link_read(int fd, void *bytes, size_t size)
{
	ssize_t count;

	do {
		count = recv(fd, bytes, size, 0);
	} while (count < 0 && errno == EINTR);
	return count < 0 ? -errno : count;
}

ssize_t link_send(int fd, const void *bytes, size_t len)
{
	ssize_t count;

	do {
		count = send(fd, bytes, len, MSG_NOSIGNAL);
	} while (count < 0 && errno == EINTR);
	return count < 0 ? -errno : count;
}

ssize_t link_sendv(int fd, const struct iovec *parts, int count)
{
	/* sendmsg() does not write to the parts; its type cannot say so. */
	struct msghdr message = { .msg_iov = (struct iovec *)(uintptr_t)parts,
				  .msg_iovlen = (size_t)count };
	ssize_t sent;

	do {
		sent = sendmsg(fd, &message, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : sent;
}

size_t link_unacked(int fd)
{
	int bytes = 0;

	if (ioctl(fd, SIOCOUTQ, &bytes) < 0 || bytes < 0)
		return 0;
	return (size_t)bytes;
}

uint32_t link_min_rtt_us(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0 ||
	    len < offsetof(struct tcp_info, tcpi_min_rtt) +
			    sizeof(info.tcpi_min_rtt) ||
	    info.tcpi_min_rtt == UINT32_MAX)
		return 0;
	return info.tcpi_min_rtt;
}

/* A socket that is no TCP one (a test's pair) does without. */
static void set(int fd, int level, int name, int value)
{
	(void)setsockopt(fd, level, name, &value, sizeof(value));
}

void link_set_options(int fd, uint32_t dead_ms)
{
	int step_s = (int)(dead_ms / MS_PER_S / (PROBES + 1));

	if (step_s < 1)
		step_s = 1;
	set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set(fd, IPPROTO_TCP, TCP_KEEPIDLE, step_s);
	set(fd, IPPROTO_TCP, TCP_KEEPINTVL, step_s);
	set(fd, IPPROTO_TCP, TCP_KEEPCNT, PROBES);
	set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)dead_ms);
}
