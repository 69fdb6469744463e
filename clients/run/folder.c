/* SPDX-License-Identifier: MIT */
#include "clients/run/folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/run/file.h"
#include "clients/run/tell.h"

enum {
	PATH_BYTES = 8192,
	FILE_BYTES_MAX = 256 * 1024 * 1024, /* a bot's program */
};

static const char java_end[] = ".class";

char *folder_path(const char *home, const char *path)
{
	struct buf text = BUF_INIT(PATH_BYTES);

	if (path[0] != '/')
		buf_add_format(&text, "%s/", home);
	buf_add_text(&text, path);
	return buf_detach(&text);
}

char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return xstrdup(".");
	if (slash == path)
		return xstrdup("/");
	return strndup(path, (size_t)(slash - path));
}

bool folder_write(const char *folder, const char *name, const char *bytes,
		  size_t len)
{
	char *path = folder_path(folder, name);
	bool is_written = file_write(path, bytes, len);

	free(path);
	return is_written;
}

static bool copy_file(const char *folder, const char *from)
{
	struct buf bytes = BUF_INIT(FILE_BYTES_MAX);
	char *to = folder_path(folder, file_base_name(from));
	struct stat info;
	bool is_copied = file_read(from, &bytes) &&
			 file_write(to, buf_text(&bytes), bytes.len);

	if (is_copied && stat(from, &info) == 0)
		(void)chmod(to, info.st_mode & 0777);
	free(to);
	buf_release(&bytes);
	return is_copied;
}

static bool is_inner_class(const char *name, const char *root, size_t len)
{
	size_t name_len = strlen(name);

	return strncmp(name, root, len) == 0 && name_len > strlen(java_end) &&
	       strcmp(name + name_len - strlen(java_end), java_end) == 0;
}

/* X.class is at PATH: copy all X*.class that lie there. */
static bool copy_classes(const char *folder, const char *path)
{
	char *home = folder_of(path);
	const char *root = file_base_name(path);
	size_t root_len = strlen(root) - strlen(java_end);
	DIR *listing = opendir(home);
	const struct dirent *entry;
	bool is_copied = true;

	while (listing != NULL && is_copied &&
	       (entry = readdir(listing)) != NULL) {
		char *from;

		if (!is_inner_class(entry->d_name, root, root_len))
			continue;
		from = folder_path(home, entry->d_name);
		is_copied = copy_file(folder, from);
		free(from);
	}
	if (listing != NULL)
		(void)closedir(listing);
	free(home);
	return is_copied;
}

bool folder_copy(const char *folder, const char *home, const char *path)
{
	char *from = folder_path(home, path);
	const char *name = file_base_name(from);
	bool is_class = strlen(name) > strlen(java_end) &&
			is_inner_class(name, name, 1);
	bool is_copied = copy_file(folder, from) &&
			 (!is_class || copy_classes(folder, from));

	free(from);
	return is_copied;
}

void folder_make_absolute(struct words *command)
{
	for (size_t i = 0; i < command->count; i++) {
		char *word = command->words[i];
		char *path;

		if (word[0] == '/' || (i == 0 && strchr(word, '/') == NULL) ||
		    access(word, F_OK) < 0)
			continue;
		path = realpath(word, NULL);
		if (path == NULL)
			continue;
		free(word);
		command->words[i] = path;
	}
}
