/* SPDX-License-Identifier: MIT */
/* generate.c - presets by name, and the names of what they make. */
#include "server/games/generate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { OPTIONS_BYTES = 1024 };

static void list_presets(const struct game *game, const char *name, size_t len,
			 struct game_error *error)
{
	struct buf text = BUF_INIT(sizeof(error->text));

	if (len > GENERATE_PRESET_BYTES)
		len = GENERATE_PRESET_BYTES;
	buf_add_format(&text, "%s has no preset '%.*s', only", game->name,
		       (int)len, name);
	for (unsigned i = 0; i < game->npresets; i++)
		buf_add_format(&text, " %s", game->presets[i].name);
	game_error_set(error, "%s", buf_text(&text));
	buf_release(&text);
}

const struct game_preset *generate_find(const struct game *game,
					const char *name, size_t len,
					struct game_error *error)
{
	if (game->npresets == 0) {
		game_error_set(error, "%s generates no maps", game->name);
		return NULL;
	}
	for (unsigned i = 0; i < game->npresets; i++) {
		const struct game_preset *preset = &game->presets[i];

		if (strlen(preset->name) == len &&
		    memcmp(preset->name, name, len) == 0)
			return preset;
	}
	list_presets(game, name, len, error);
	return NULL;
}

static int check_seats(const struct game_preset *preset, unsigned seats,
		       struct game_error *error)
{
	if (seats >= preset->seats_min && seats <= preset->seats_max)
		return 0;
	if (preset->seats_min == preset->seats_max)
		game_error_set(error, "preset %s makes maps for %u, not %u",
			       preset->name, preset->seats_min, seats);
	else
		game_error_set(error,
			       "preset %s makes maps for %u to %u seats, "
			       "not %u",
			       preset->name, preset->seats_min,
			       preset->seats_max, seats);
	return -EINVAL;
}

int generate_check_list(const struct game *game, const char *list,
			unsigned seats, unsigned *ret_count,
			struct game_error *error)
{
	unsigned count = 0;
	const char *at = list;

	for (;;) {
		size_t len = strcspn(at, ",");
		const struct game_preset *preset =
			generate_find(game, at, len, error);

		if (preset == NULL || check_seats(preset, seats, error) < 0)
			return -EINVAL;
		if (count++ == GENERATE_PRESETS_MAX) {
			game_error_set(error, "more than %d presets",
				       GENERATE_PRESETS_MAX);
			return -EINVAL;
		}
		if (at[len] == '\0')
			break;
		at += len + 1;
	}
	if (ret_count != NULL)
		*ret_count = count;
	return 0;
}

const struct game_preset *generate_of_list(const struct game *game,
					   const char *list, unsigned index)
{
	struct game_error error;

	while (index-- > 0)
		list += strcspn(list, ",") + 1;
	return generate_find(game, list, strcspn(list, ","), &error);
}

int generate_map(const struct game *game, const struct game_preset *preset,
		 unsigned seats, uint64_t seed, struct generated *ret,
		 struct game_error *error)
{
	struct generated made = {
		.data = BUF_INIT(LIMIT_MAP_BYTES),
		.options = BUF_INIT(OPTIONS_BYTES),
	};
	int rc = check_seats(preset, seats, error);

	if (rc < 0)
		return rc;
	rc = game->generate((unsigned)(preset - game->presets), seats, seed,
			    &made.data, &made.options);
	if (rc == 0 && (made.data.is_failed || made.options.is_failed))
		rc = -ENOMEM;
	if (rc < 0) {
		game_error_set(error, "no memory for the map");
		generate_release(&made);
		return rc;
	}
	*ret = made;
	return 0;
}

void generate_release(struct generated *map)
{
	if (map == NULL)
		return;
	buf_release(&map->data);
	buf_release(&map->options);
}

/* "-4" for four seats of a game that knows other numbers, else nothing. */
static const char *seats_text(const struct game *game, unsigned seats,
			      char mark, char text[8])
{
	text[0] = '\0';
	if (game->seats_max > 1)
		snprintf(text, 8, "%c%u", mark, seats % 1000);
	return text;
}

void generate_map_name(const struct game *game,
		       const struct game_preset *preset, unsigned seats,
		       uint64_t seed, char ret[GENERATE_NAME_BYTES])
{
	char version[16] = "";
	char text[8];

	if (preset->version > 1)
		snprintf(version, sizeof(version), "-v%u", preset->version);
	snprintf(ret, GENERATE_NAME_BYTES, "%s%s%s-%016" PRIx64 "%s",
		 preset->name, version, seats_text(game, seats, '-', text),
		 seed, game->map_suffix);
}

void generate_origin(const struct game *game, const struct game_preset *preset,
		     unsigned seats, uint64_t seed,
		     char ret[GENERATE_ORIGIN_BYTES])
{
	char text[8];

	snprintf(ret, GENERATE_ORIGIN_BYTES, "%s/%u/%016" PRIx64 "%s",
		 preset->name, preset->version, seed,
		 seats_text(game, seats, '/', text));
}
