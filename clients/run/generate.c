/* SPDX-License-Identifier: MIT */
/* generate.c - hill-run GAME --generate: a fresh map into a file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clients/run/file.h"
#include "clients/run/options.h"
#include "clients/run/tell.h"
#include "server/games/generate.h"

enum { LISTED_BYTES = 16 * 1024 };

static int list_presets(const struct game *game)
{
	struct buf text = BUF_INIT(LISTED_BYTES);

	for (unsigned i = 0; i < game->npresets; i++) {
		const struct game_preset *preset = &game->presets[i];

		buf_add_format(&text, "%-12s v%u  %s\n", preset->name,
			       preset->version, preset->doc);
	}
	if (text.len > 0)
		tell_result(text.data, text.len);
	else
		tell("%s generates no maps", game->name);
	buf_release(&text);
	return game->npresets > 0 ? EXIT_PLAYED : EXIT_BAD;
}

/* A whole number of 64 bits, decimal or hexadecimal after 0x. */
static bool read_seed(const char *text, uint64_t *ret)
{
	int base = strncmp(text, "0x", 2) == 0 ? 16 : 10;
	const char *digits = base == 16 ? text + 2 : text;
	const char *allowed =
		base == 16 ? "0123456789abcdefABCDEF" : "0123456789";
	char *end;

	if (*digits == '\0' || digits[strspn(digits, allowed)] != '\0')
		return false;
	errno = 0;
	*ret = strtoull(digits, &end, base);
	return errno == 0;
}

/* The seats that are asked for: what --seats says, or the fewest that play. */
static unsigned seats_for(const struct game *game,
			  const struct run_options *options)
{
	if (options->seats > 0)
		return options->seats;
	return game->is_shared && game->seats_max > 1 ? 2 : game->seats_min;
}

static int put_map(const struct run_options *options,
		   const struct generated *map)
{
	bool is_binary = memchr(map->data.data, '\0', map->data.len) != NULL;

	if (options->output_path != NULL)
		return file_write(options->output_path, map->data.data,
				  map->data.len)
			       ? EXIT_PLAYED
			       : EXIT_BAD;
	if (is_binary && isatty(STDOUT_FILENO) == 1) {
		tell("the map is a picture and no text: -o FILE, or send it "
		     "elsewhere");
		return EXIT_BAD;
	}
	tell_result(map->data.data, map->data.len);
	return EXIT_PLAYED;
}

static int make_map(const struct game *game, const struct run_options *options,
		    uint64_t seed)
{
	const char *name = options->preset;
	struct game_error error = { "" };
	struct generated map;
	const struct game_preset *preset =
		generate_find(game, name, strlen(name), &error);
	int rc = -EINVAL;

	if (preset != NULL)
		rc = generate_map(game, preset, seats_for(game, options), seed,
				  &map, &error);
	if (rc < 0) {
		tell("--generate: %s", error.text);
		return EXIT_BAD;
	}
	rc = put_map(options, &map);
	if (rc == EXIT_PLAYED && options->output_path != NULL &&
	    map.options.len > 0)
		tell("%s: %s", options->output_path, buf_text(&map.options));
	generate_release(&map);
	return rc;
}

int run_generate(const struct game *game, struct run_options *options, int argc,
		 char **argv)
{
	uint64_t seed;
	int used;
	int status = options_check(options, RUN_GENERATE);

	if (status >= 0)
		return status;
	if (options->preset[0] == '\0' || strcmp(options->preset, "list") == 0)
		return list_presets(game);
	if (argc < 1)
		return usage_error("--generate %.60s wants a SEED behind it",
				   options->preset);
	if (!read_seed(argv[0], &seed))
		return usage_error("--generate wants a SEED from 0 to "
				   "18446744073709551615, or 0x and up to 16 "
				   "digits, not '%.60s'",
				   argv[0]);
	/* options behind the seed; the seed stands where a program's name does */
	status = options_parse(options, argc, argv, &used);
	if (status < 0)
		status = options_check(options, RUN_GENERATE);
	if (status >= 0)
		return status;
	if (used < argc)
		return usage_error("'%.60s' behind the SEED of --generate",
				   argv[used]);
	return make_map(game, options, seed);
}
