/* SPDX-License-Identifier: MIT */
/*
 * odd_system.c - preloaded, it makes a bridge's system odd in ways that a test
 * wants and cannot wait for:
 *
 * - the monotonic clock is ahead by the seconds that the file $ODD_CLOCK holds
 *   now;
 * - the host "odd.test" is what the file $ODD_HOSTS says now: addresses in
 *   numbers, in this order; before them `sleep MS` takes so long; `fail` is no
 *   such host. Each time it is asked for, "asked" is appended to the file
 *   $ODD_HOSTS.asked.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FILE_BYTES = 1024 };

/* What the file that VARIABLE names holds, "" for none, into RET. */
static void read_file(const char *variable, char ret[FILE_BYTES])
{
	const char *path = getenv(variable);
	int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? 0 : read(fd, ret, FILE_BYTES - 1);

	ret[len < 0 ? 0 : len] = '\0';
	if (fd >= 0)
		(void)close(fd);
}

int clock_gettime(clockid_t id, struct timespec *ret)
{
	long err = syscall(SYS_clock_gettime, id, ret);
	char text[FILE_BYTES];

	if (err != 0 || id != CLOCK_MONOTONIC)
		return (int)err;
	read_file("ODD_CLOCK", text);
	ret->tv_sec += strtol(text, NULL, 10);
	return 0;
}

static void note_question(void)
{
	char path[FILE_BYTES];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s.asked", getenv("ODD_HOSTS"));
	file = fopen(path, "ae");
	if (file == NULL)
		return;
	(void)fputs("asked\n", file);
	(void)fclose(file);
}

int getaddrinfo(const char *host, const char *port,
		const struct addrinfo *hints, struct addrinfo **ret)
{
	int (*real)(const char *, const char *, const struct addrinfo *,
		    struct addrinfo **) =
		(int (*)(const char *, const char *, const struct addrinfo *,
			 struct addrinfo **))dlsym(RTLD_NEXT, "getaddrinfo");
	struct addrinfo **end = ret;
	char text[FILE_BYTES];
	char *rest = NULL;
	char *word;

	if (host == NULL || strcmp(host, "odd.test") != 0)
		return real(host, port, hints, ret);
	read_file("ODD_HOSTS", text);
	note_question();
	*ret = NULL;
	for (word = strtok_r(text, " \n", &rest); word != NULL;
	     word = strtok_r(NULL, " \n", &rest)) {
		if (strcmp(word, "fail") == 0)
			return EAI_NONAME;
		if (strcmp(word, "sleep") == 0) {
			word = strtok_r(NULL, " \n", &rest);
			(void)usleep((unsigned)strtoul(word, NULL, 10) * 1000);
			continue;
		}
		if (real(word, port, hints, end) != 0)
			return EAI_FAIL;
		/* One for each of the kinds of socket. */
		while (*end != NULL)
			end = &(*end)->ai_next;
	}
	return *ret == NULL ? EAI_NONAME : 0;
}
