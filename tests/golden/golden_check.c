/* SPDX-License-Identifier: MIT */
/*
 * golden_check.c - `golden-check GAME DIR...`: run every recorded case of GAME
 * that lies anywhere below each DIR. Prints one line a failure and the count.
 * Exit 0: at least one run and all passed; 1: not so; 2: wrong usage.
 */
#include "tests/golden/golden.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct golden_game {
	const char *name;
	/* a folder that holds this file is a case; nothing below it is one */
	const char *marker;
	void (*run)(const char *dir, struct golden_report *report);
	/* a file of many cases, and who plays those of DIR; NULL: none */
	const char *pack;
	void (*run_pack)(const char *dir, struct golden_report *report);
};

static const struct golden_game games[] = {
	{ "rabbit-runner", "params.txt", golden_rabbit_runner },
	{ "image-battle", "config.txt", golden_image_battle },
	{ "lambda-mining", "route.txt", golden_lambda_mining, "cases.txt",
	  golden_lambda_mining_pack },
	{ NULL, NULL, NULL },
};

void golden_pass(struct golden_report *report)
{
	report->npassed++;
}

void golden_fail(struct golden_report *report, const char *name,
		 const char *format, ...)
{
	va_list args;

	report->nfailed++;
	printf("%s: ", name);
	va_start(args, format);
	(void)vprintf(format, args);
	va_end(args);
	putchar('\n');
}

bool golden_has_file(const char *dir, const char *file)
{
	char path[GOLDEN_PATH_BYTES];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, file);
	return stat(path, &st) == 0;
}

int golden_read(const char *dir, const char *file, struct buf *ret)
{
	char path[GOLDEN_PATH_BYTES];
	char block[65536];
	size_t count;
	FILE *stream;
	int rc = 0;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, file);
	stream = fopen(path, "re");
	if (stream == NULL)
		return -errno;
	while ((count = fread(block, 1, sizeof(block), stream)) > 0)
		buf_add(ret, block, count);
	if (ferror(stream))
		rc = -EIO;
	else if (ret->is_failed)
		rc = -EFBIG;
	(void)fclose(stream);
	return rc;
}

bool golden_need(struct golden_report *report, const char *dir,
		 const char *file, struct buf *ret)
{
	int rc = golden_read(dir, file, ret);

	if (rc < 0)
		golden_fail(report, dir, "%s: %s", file, strerror(-rc));
	return rc == 0;
}

/* Some of the line around AT, printable and short. */
static void quote(struct buf *out, const char *text, size_t len, size_t at)
{
	size_t from = at;
	size_t to = at;

	while (from > 0 && text[from - 1] != '\n' && at - from < 24)
		from--;
	while (to < len && text[to] != '\n' && to - at < 48)
		to++;
	if (from == to && at >= len) {
		buf_add_text(out, "the end");
		return;
	}
	buf_add_char(out, '\'');
	for (size_t i = from; i < to; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < ' ' || c > '~' || c == '\\')
			buf_add_format(out, "\\x%02x", c);
		else
			buf_add_char(out, (char)c);
	}
	buf_add_char(out, '\'');
}

bool golden_same_text(struct golden_report *report, const char *name,
		      const char *file, const char *expected,
		      size_t expected_len, const char *got, size_t got_len)
{
	struct buf want = BUF_INIT(4096);
	struct buf have = BUF_INIT(4096);
	size_t line = 1;
	size_t start = 0;
	size_t at = 0;

	while (at < expected_len && at < got_len && expected[at] == got[at]) {
		if (expected[at] == '\n') {
			line++;
			start = at + 1;
		}
		at++;
	}
	if (at == expected_len && at == got_len)
		return true;
	quote(&want, expected, expected_len, at);
	quote(&have, got, got_len, at);
	golden_fail(report, name, "%s line %zu byte %zu: expected %s, got %s",
		    file, line, at - start + 1, buf_text(&want),
		    buf_text(&have));
	buf_release(&want);
	buf_release(&have);
	return false;
}

bool golden_same_file(struct golden_report *report, const char *dir,
		      const char *file, const char *got, size_t got_len)
{
	struct buf expected = BUF_INIT(GOLDEN_FILE_BYTES);
	bool is_same;

	is_same = golden_need(report, dir, file, &expected) &&
		  golden_same_text(report, dir, file, buf_text(&expected),
				   expected.len, got, got_len);
	buf_release(&expected);
	return is_same;
}

/* Run the cases at and below DIR, in the order of their names. */
static void walk(const struct golden_game *game, const char *dir,
		 struct golden_report *report)
{
	struct dirent **entries;
	int count;

	if (golden_has_file(dir, game->marker)) {
		game->run(dir, report);
		return;
	}
	if (game->pack != NULL && golden_has_file(dir, game->pack))
		game->run_pack(dir, report);
	count = scandir(dir, &entries, NULL, alphasort);
	if (count < 0) {
		golden_fail(report, dir, "%s", strerror(errno));
		return;
	}
	for (int i = 0; i < count; i++) {
		char path[GOLDEN_PATH_BYTES];
		struct stat st;

		(void)snprintf(path, sizeof(path), "%s/%s", dir,
			       entries[i]->d_name);
		if (entries[i]->d_name[0] != '.' && stat(path, &st) == 0 &&
		    S_ISDIR(st.st_mode))
			walk(game, path, report);
		free(entries[i]);
	}
	free(entries);
}

int main(int argc, char **argv)
{
	struct golden_report report = { 0 };
	const struct golden_game *game = games;

	if (argc < 3) {
		fprintf(stderr, "usage: golden-check GAME DIR...\n");
		return 2;
	}
	while (game->name != NULL && strcmp(game->name, argv[1]) != 0)
		game++;
	if (game->name == NULL) {
		fprintf(stderr,
			"golden-check: no game '%s'; there are:", argv[1]);
		for (game = games; game->name != NULL; game++)
			fprintf(stderr, " %s", game->name);
		fprintf(stderr, "\n");
		return 2;
	}
	for (int i = 2; i < argc; i++)
		walk(game, argv[i], &report);
	printf("%u passed, %u failed\n", report.npassed, report.nfailed);
	return report.nfailed == 0 && report.npassed > 0 ? 0 : 1;
}
