/* SPDX-License-Identifier: MIT */
/*
 * replay.c - runs a fuzz target on every file of the folders it is given, each
 * as it is and cut short at many places. Exit 0 when nothing aborted.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/buffer.h"
#include "tests/fuzz/fuzz.h"

enum {
	FILE_BYTES_MAX = 1 << 24,
	CUTS = 64,
};

static bool read_file(const char *path, struct buf *ret)
{
	FILE *file = fopen(path, "rbe");
	char block[4096];
	size_t count;

	if (file == NULL)
		return false;
	while ((count = fread(block, 1, sizeof(block), file)) > 0)
		buf_add(ret, block, count);
	(void)fclose(file);
	return !ret->is_failed;
}

static void run_file(const struct buf *bytes)
{
	const uint8_t *data = (const uint8_t *)buf_text(bytes);
	size_t step = bytes->len / CUTS + 1;

	(void)LLVMFuzzerTestOneInput(data, bytes->len);
	for (size_t len = 0; len < bytes->len; len += step)
		(void)LLVMFuzzerTestOneInput(data, len);
}

static long run_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	long count = 0;

	if (dir == NULL) {
		perror(folder);
		return -1;
	}
	while ((entry = readdir(dir)) != NULL) {
		struct buf bytes = BUF_INIT(FILE_BYTES_MAX);
		char path[4096];

		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", folder,
			       entry->d_name);
		if (read_file(path, &bytes)) {
			run_file(&bytes);
			count++;
		}
		buf_release(&bytes);
	}
	(void)closedir(dir);
	return count;
}

int main(int argc, char **argv)
{
	long total = 0;

	for (int i = 1; i < argc; i++) {
		long count = run_folder(argv[i]);

		if (count < 0)
			return 1;
		total += count;
	}
	(void)printf("%ld files\n", total);
	return total == 0;
}
