/* SPDX-License-Identifier: MIT */
#include "clients/ctl/token_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char beside[] = ".new-XXXXXX";
static const int ends[] = { SIGHUP, SIGINT, SIGTERM };

static struct sigaction before[sizeof(ends) / sizeof(ends[0])];
static volatile sig_atomic_t is_interrupted;

static void note_signal(int number)
{
	(void)number;
	is_interrupted = 1;
}

static void hold_signals(void)
{
	struct sigaction action = { .sa_handler = note_signal,
				    .sa_flags = SA_RESTART };

	(void)sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		(void)sigaction(ends[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			(void)sigaction(ends[i], &action, NULL);
	}
}

bool token_file_is_interrupted(void)
{
	return is_interrupted != 0;
}

/* 0 or -errno; where a file system does not know, it may have the room. */
static int take_room(int fd, size_t room)
{
	int rc = posix_fallocate(fd, 0, (off_t)room);

	return rc == EOPNOTSUPP || rc == EINVAL ? 0 : -rc;
}

int token_file_make(struct token_file *file, const char *path, bool may_replace,
		    size_t room)
{
	size_t len = strlen(path);
	char *made = xcalloc(1, len + sizeof(beside));
	struct stat st;
	int fd, err;

	memcpy(made, path, len);
	if (may_replace)
		memcpy(made + len, beside, sizeof(beside));
	/* In a link's place a file would be where nobody looks for it. */
	if (may_replace && lstat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		free(made);
		return S_ISDIR(st.st_mode)   ? -EISDIR
		       : S_ISLNK(st.st_mode) ? -ELOOP
					     : -EINVAL;
	}
	if (may_replace) /* its mode is 0600 */
		fd = mkostemp(made, O_CLOEXEC);
	else
		fd = open(made,
			  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			  0600);
	if (fd < 0) {
		err = -errno;
		free(made);
		return err;
	}
	err = take_room(fd, room);
	if (err != 0) {
		(void)close(fd);
		(void)unlink(made);
		free(made);
		return err;
	}
	*file = (struct token_file){ .path = path, .made = made, .fd = fd };
	hold_signals();
	return 0;
}

int token_file_write(struct token_file *file, const char *token)
{
	size_t len = strlen(token);

	errno = 0;
	if (write(file->fd, token, len) != (ssize_t)len ||
	    write(file->fd, "\n", 1) != 1)
		return errno == 0 ? -ENOSPC : -errno;
	if (ftruncate(file->fd, (off_t)len + 1) != 0 || fsync(file->fd) != 0)
		return -errno;
	if (strcmp(file->made, file->path) != 0 &&
	    rename(file->made, file->path) != 0)
		return -errno;
	file->is_written = true;
	return 0;
}

void token_file_release(struct token_file *file)
{
	if (file->path == NULL)
		return;
	(void)close(file->fd);
	if (!file->is_written)
		(void)unlink(file->made);
	free(file->made);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		(void)sigaction(ends[i], &before[i], NULL);
	*file = (struct token_file){ .fd = -1 };
}
