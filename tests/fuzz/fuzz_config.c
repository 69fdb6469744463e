/* SPDX-License-Identifier: MIT */
/*
 * fuzz_config.c - what may stand in hilld.json and behind hilld's flags. An
 * input that begins with `-` is lines of `key value`, else it is the file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "server/config.h"
#include "tests/fuzz/fuzz.h"

static void check(bool is_so)
{
	if (!is_so)
		abort();
}

/* All pointers are there, and what was taken differs as it says. */
static void look(const struct config *config)
{
	struct buf changes = BUF_INIT(65536);
	struct config fresh;
	char *path = config_control_path(config);

	config_init(&fresh);
	config_fixed_changes(config, &fresh, &changes);
	check(!changes.is_failed && path != NULL && path[0] != '\0');
	check(config->listens.count <= CONFIG_LISTENS_MAX);
	for (size_t i = 0; i < config->listens.count; i++)
		check(strlen(config->listens.list[i].host) +
			      strlen(config->listens.list[i].port) >
		      0);
	buf_release(&changes);
	config_release(&fresh);
	free(path);
}

static void set_flags(struct config *config, char *text)
{
	char *line, *rest;

	for (line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		struct config_error error = { "" };
		char *value = strchr(line, ' ');

		if (value == NULL)
			continue;
		*value++ = '\0';
		if (config_set(config, "--flag", line, value, &error) != 0)
			check(error.text[0] != '\0' &&
			      strchr(error.text, '\n') == NULL);
		look(config);
	}
}

static void load(struct config *config, const char *text, size_t len)
{
	struct config_error error = { "" };
	int fd = memfd_create("config", MFD_CLOEXEC);
	char path[64];
	int rc;

	check(fd >= 0 && write(fd, text, len) == (ssize_t)len);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = config_load(config, path, &error);
	check(rc == 0 || (rc < 0 && error.text[0] != '\0' &&
			  strchr(error.text, '\n') == NULL));
	look(config);
	(void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config config;

	config_init(&config);
	if (size > 0 && data[0] == '-') {
		char *text = malloc(size);

		check(text != NULL);
		memcpy(text, data + 1, size - 1);
		text[size - 1] = '\0';
		set_flags(&config, text);
		free(text);
	} else {
		load(&config, (const char *)data, size);
	}
	config_release(&config);
	return 0;
}
