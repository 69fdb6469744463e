/* SPDX-License-Identifier: MIT */
/*
 * loadgen.c - N bots in one process that answer at once (closed loop), and
 * what that costs the server.
 *
 *	loadgen --port P --pid PID --conns N --seconds S [--warm S]
 *	        [--bots FILE --ladder NAME] [--idle]
 *
 * FILE holds a line `NAME TOKEN` a bot; the connections take them in turn.
 * Without it the server is the echo. --idle: log in and do nothing. Prints one
 * line: turns, wall and CPU microseconds of the server in the measured time,
 * and its resident KiB at the end.
 */
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/base/clock.h"

enum {
	EVENTS = 1024,
	READ_BYTES = 65536,
	LINE_BYTES = 160, /* of a control line; what is longer is cut */
	LINES_A_TURN = 5,
	BOTS_MAX = 64,
	BATCH = 128, /* connections opened before the loop looks again */
	START_US = 60000000,
	AGAIN_US = 5000000, /* without one more that plays */
};

static const char reply[] = "move 12,34\n";

_Static_assert(sizeof(reply) - 1 == 11, "the reply that the figures speak of");

struct link {
	int fd;
	unsigned raw;   /* raw lines of a block to skip */
	unsigned lines; /* of the present turn */
	bool is_in;     /* idle: welcomed; else: playing */
	size_t len;     /* of `line` */
	char line[LINE_BYTES];
};

struct bot {
	char name[80], token[160];
};

static struct {
	unsigned port, conns;
	int pid;
	double seconds, warm;
	const char *bots_path, *ladder;
	bool is_idle;
} options = { .conns = 1, .seconds = 3, .warm = 1 };

static struct bot bots[BOTS_MAX];
static unsigned nbots;
static struct link *links;
static unsigned nin; /* links that are where they should be */
static uint64_t turns;
static int epoll_fd;

static void stop(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static void say(struct link *link, const char *text, size_t len)
{
	if (send(link->fd, text, len, MSG_NOSIGNAL) != (ssize_t)len)
		stop("send");
}

static void enter(struct link *link)
{
	if (!link->is_in)
		nin++;
	link->is_in = true;
}

static void on_control(struct link *link)
{
	char text[LINE_BYTES];
	const char *lines;
	unsigned long long id;
	int len;

	lines = strstr(link->line, " lines=");
	if (strncmp(link->line, "@file ", 6) == 0 ||
	    strncmp(link->line, "@input ", 7) == 0) {
		if (lines != NULL)
			link->raw = (unsigned)strtoul(lines + 7, NULL, 10);
	} else if (strncmp(link->line, "@welcome ", 9) == 0) {
		if (options.is_idle) {
			enter(link);
			return;
		}
		len = snprintf(text, sizeof(text), "@play %s\n",
			       options.ladder);
		say(link, text, (size_t)len);
	} else if (sscanf(link->line, "@match %llu ", &id) == 1) {
		len = snprintf(text, sizeof(text), "@ready %llu\n", id);
		say(link, text, (size_t)len);
	} else if (strncmp(link->line, "@start ", 7) == 0) {
		link->lines = 0;
	} else if (strncmp(link->line, "@error no-new-matches ", 22) == 0) {
		return; /* the server lags for the moment; it goes on */
	} else if (strncmp(link->line, "@error ", 7) == 0 ||
		   strncmp(link->line, "@void ", 6) == 0) {
		(void)fprintf(stderr, "loadgen: %s\n", link->line);
		exit(EXIT_FAILURE);
	}
}

static void on_line(struct link *link)
{
	if (link->raw > 0) {
		link->raw--;
	} else if (link->line[0] == '@') {
		link->line[link->len] = '\0';
		on_control(link);
	} else if (++link->lines == LINES_A_TURN) {
		link->lines = 0;
		turns++;
		enter(link);
		say(link, reply, sizeof(reply) - 1);
	}
	link->len = 0;
}

static void on_bytes(struct link *link, const char *bytes, size_t len)
{
	while (len > 0) {
		const char *end = memchr(bytes, '\n', len);
		size_t count = end == NULL ? len : (size_t)(end - bytes);
		size_t room = LINE_BYTES - 1 - link->len;

		if (count < room)
			room = count;
		memcpy(link->line + link->len, bytes, room);
		link->len += room;
		if (end == NULL)
			return;
		on_line(link);
		bytes = end + 1;
		len -= count + 1;
	}
}

static void open_link(struct link *link, unsigned number)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port =
					       htons((uint16_t)options.port) };
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = link };
	const struct bot *bot = &bots[nbots == 0 ? 0 : number % nbots];
	const int one = 1;
	char text[300];
	int len;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	link->fd = socket(AF_INET, SOCK_STREAM, 0);
	if (link->fd < 0 ||
	    setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) <
		    0 ||
	    connect(link->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		stop("connect");
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, link->fd, &event) < 0)
		stop("epoll_ctl");
	if (nbots == 0) {
		say(link, reply, sizeof(reply) - 1);
		return;
	}
	len = snprintf(text, sizeof(text), "@login %s %s proto=1\n", bot->name,
		       bot->token);
	say(link, text, (size_t)len);
}

static void look(int timeout_ms)
{
	static struct epoll_event events[EVENTS];
	static char bytes[READ_BYTES];
	int count = epoll_wait(epoll_fd, events, EVENTS, timeout_ms);

	for (int i = 0; i < count; i++) {
		struct link *link = events[i].data.ptr;
		ssize_t len =
			recv(link->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

		if (len == 0) {
			(void)fprintf(stderr, "loadgen: closed: %s\n",
				      link->line);
			exit(EXIT_FAILURE);
		}
		if (len < 0 && errno != EAGAIN)
			stop("recv");
		if (len > 0)
			on_bytes(link, bytes, (size_t)len);
	}
}

static void look_until(int64_t end_us)
{
	while (clock_now_us() < end_us)
		look(10);
}

/* CPU of all the server's threads. */
static int64_t server_cpu_us(void)
{
	char path[64], text[1024];
	unsigned long user = 0, system = 0;
	const char *at;
	FILE *file;
	size_t len;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", options.pid);
	file = fopen(path, "re");
	if (file == NULL)
		stop(path);
	len = fread(text, 1, sizeof(text) - 1, file);
	text[len] = '\0';
	(void)fclose(file);
	at = strrchr(text, ')');
	if (at == NULL ||
	    sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
		   &user, &system) != 2)
		stop("stat");
	return (int64_t)(user + system) * 1000000 / sysconf(_SC_CLK_TCK);
}

static long server_rss_kib(void)
{
	char path[64];
	long pages = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/statm", options.pid);
	file = fopen(path, "re");
	if (file == NULL || fscanf(file, "%*d %ld", &pages) != 1)
		stop(path);
	(void)fclose(file);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void read_bots(void)
{
	FILE *file = fopen(options.bots_path, "re");

	if (file == NULL)
		stop(options.bots_path);
	while (nbots < BOTS_MAX && fscanf(file, "%79s %159s", bots[nbots].name,
					  bots[nbots].token) == 2)
		nbots++;
	(void)fclose(file);
}

static void parse(int argc, char **argv)
{
	static const struct option names[] = {
		{ "port", required_argument, NULL, 'p' },
		{ "pid", required_argument, NULL, 'i' },
		{ "conns", required_argument, NULL, 'c' },
		{ "seconds", required_argument, NULL, 's' },
		{ "warm", required_argument, NULL, 'w' },
		{ "bots", required_argument, NULL, 'b' },
		{ "ladder", required_argument, NULL, 'l' },
		{ "idle", no_argument, NULL, 'n' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
		switch (c) {
		case 'p':
			options.port = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'i':
			options.pid = (int)strtol(optarg, NULL, 10);
			break;
		case 'c':
			options.conns = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 's':
			options.seconds = strtod(optarg, NULL);
			break;
		case 'w':
			options.warm = strtod(optarg, NULL);
			break;
		case 'b':
			options.bots_path = optarg;
			break;
		case 'l':
			options.ladder = optarg;
			break;
		case 'n':
			options.is_idle = true;
			break;
		default:
			exit(2);
		}
	}
}

/*
 * A bot never sits beside itself, and no match here ends: who is left over may
 * be two links of one bot, which come as others instead.
 */
static void open_again(void)
{
	unsigned nleft = 0;

	for (unsigned i = 0; i < options.conns; i++) {
		struct link *link = &links[i];

		if (link->is_in)
			continue;
		(void)close(link->fd);
		*link = (struct link){ .fd = -1 };
		open_link(link, i + nleft++);
	}
}

static void open_all(void)
{
	int64_t end_us = clock_now_us() + START_US, again_us = 0;
	unsigned nbefore = 0;

	for (unsigned i = 0; i < options.conns; i++) {
		open_link(&links[i], i);
		if (i % BATCH == BATCH - 1)
			look(0);
	}
	while (nin < options.conns && nbots > 0) {
		look(100);
		if (nin != nbefore || again_us == 0) {
			nbefore = nin;
			again_us = clock_now_us() + AGAIN_US;
		} else if (clock_now_us() > again_us) {
			open_again();
			again_us = clock_now_us() + AGAIN_US;
		}
		if (clock_now_us() > end_us) {
			(void)fprintf(stderr, "loadgen: only %u of %u are in\n",
				      nin, options.conns);
			exit(EXIT_FAILURE);
		}
	}
}

int main(int argc, char **argv)
{
	struct rlimit limit;
	int64_t begin_us, begin_cpu_us, wall_us, cpu_us;
	uint64_t begin_turns;

	parse(argc, argv);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (options.bots_path != NULL)
		read_bots();
	links = calloc(options.conns, sizeof(*links));
	epoll_fd = epoll_create1(0);
	if (links == NULL || epoll_fd < 0)
		stop("start");
	open_all();
	look_until(clock_now_us() + (int64_t)(options.warm * 1e6));
	begin_turns = turns;
	begin_us = clock_now_us();
	begin_cpu_us = server_cpu_us();
	look_until(begin_us + (int64_t)(options.seconds * 1e6));
	cpu_us = server_cpu_us() - begin_cpu_us;
	wall_us = clock_now_us() - begin_us;
	(void)printf("turns=%llu wall_us=%lld cpu_us=%lld rss_kib=%ld\n",
		     (unsigned long long)(turns - begin_turns),
		     (long long)wall_us, (long long)cpu_us, server_rss_kib());
	return 0;
}
