/* SPDX-License-Identifier: MIT */
#include "clients/run/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "clients/run/tell.h"

enum { READ_BYTES = 65536 };

bool file_read(const char *path, struct buf *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t count = 0;
	int error = 0;

	while (fd >= 0) {
		char *to = buf_reserve(ret, READ_BYTES);

		if (to == NULL) {
			/* The last part may be less than there is room for. */
			error = EFBIG;
			break;
		}
		count = read(fd, to, READ_BYTES);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			break;
		ret->len += (size_t)count;
	}
	if (fd < 0 || count < 0)
		error = errno;
	if (fd >= 0)
		(void)close(fd);
	if (error != 0)
		tell("cannot read %s: %s", path, strerror(error));
	return error == 0;
}

bool file_write(const char *path, const char *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int error = fd < 0 ? errno : 0;

	while (error == 0 && len > 0) {
		ssize_t count = write(fd, bytes, len);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0) {
			error = errno;
			break;
		}
		bytes += count;
		len -= (size_t)count;
	}
	if (fd >= 0 && close(fd) < 0 && error == 0)
		error = errno;
	if (error != 0)
		tell("cannot write %s: %s", path, strerror(error));
	return error == 0;
}

bool file_read_map(const struct game *game, const char *path,
		   const char *options, struct buf *file, struct game_map **ret)
{
	struct buf raw = BUF_INIT(LIMIT_MAP_BYTES + READ_BYTES);
	struct game_error error = { .text = "" };
	struct game_source source = { .name = file_base_name(path),
				      .options = options };
	bool is_read = file_read(path, &raw);
	int rc = 0;

	if (is_read) {
		source.data = buf_text(&raw);
		source.len = raw.len;
		rc = game_import(game, &source, file, &error);
		source.data = buf_text(file);
		source.len = file->len;
		if (rc == 0)
			rc = game->map_new(ret, &source, &error);
		if (rc < 0)
			tell("%s: %s", path,
			     error.text[0] != '\0' ? error.text
						   : strerror(-rc));
	}
	buf_release(&raw);
	return is_read && rc == 0;
}

const char *file_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}
