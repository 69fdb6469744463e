/* SPDX-License-Identifier: MIT */
/*
 * fuzz_map.c - what a host may give as a map: bytes -> import -> map -> state.
 *
 * The input's first line is the beginning of a game's name, a blank and the
 * map's options; what follows is the file.
 */
#include <stdlib.h>
#include <string.h>

#include "server/games/game.h"
#include "tests/fuzz/fuzz.h"

enum {
	IMPORT_BYTES_MAX = 16 * 1024 * 1024,
	/* What ragged rows ask for grows with their square. */
	COST_MAX = 64 * 1024 * 1024,
};

static void check(bool is_so)
{
	if (!is_so)
		abort();
}

/* The first one whose name begins with the word. */
static const struct game *game_of(const char *word, size_t len)
{
	for (size_t i = 0; games_all[i] != NULL; i++)
		if (strncmp(games_all[i]->name, word, len) == 0)
			return games_all[i];
	return NULL;
}

/* A match on MAP up to its first requests. */
static void begin_match(const struct game *game, const struct game_map *map)
{
	struct game_setup setup = { .seed = "7", .bot_seed = "7", .seats = 1 };
	struct game_score scores[GAME_SEATS_MAX];
	struct game_error error = { "" };
	struct game_state *state;
	struct buf dump = BUF_INIT(SIZE_MAX / 2);
	struct game_grid grid;
	struct game_out out;

	setup.seats = game->map_seats(map);
	check(setup.seats >= game->seats_min && setup.seats <= game->seats_max);
	check(game->line_max(map) > 0);
	check(game_params_parse(game, "", setup.params, &error) == 0);
	if (game_admit(game, map, &setup, &error) != 0)
		check(error.text[0] != '\0');
	if (game->cost(map, &setup) > COST_MAX ||
	    game->create(&state, map, &setup, &error) != 0)
		return;
	game_out_init(&out, SIZE_MAX / 2);
	game_settle(game, state, game->begin(state, &out), &out);
	check(out.is_over || out.asked != 0);
	if (game->args != NULL)
		game->args(map, &setup, 0, "a.map", &dump);
	game->result(state, scores);
	game->dump(state, &dump);
	if (game_grid(game, state, &grid) == 0)
		game_grid_release(&grid);
	game->free(state);
	game_out_release(&out);
	buf_release(&dump);
}

/* Whether the bytes of SOURCE made a map. */
static bool use_map(const struct game *game, const struct game_source *source)
{
	struct game_error error = { "" };
	struct game_map *map;

	if (game->map_new(&map, source, &error) != 0) {
		check(error.text[0] != '\0');
		return false;
	}
	begin_match(game, map);
	game->map_free(map);
	return true;
}

/* What import makes must make itself again. */
static void check_again(const struct game *game, struct game_source source,
			const struct buf *imported)
{
	struct buf again = BUF_INIT(IMPORT_BYTES_MAX);
	struct game_error error = { "" };

	source.data = buf_text(imported);
	source.len = imported->len;
	check(game_import(game, &source, &again, &error) == 0);
	check(again.len == imported->len &&
	      memcmp(buf_text(&again), buf_text(imported), again.len) == 0);
	(void)use_map(game, &source);
	buf_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *end = size == 0 ? NULL : memchr(text, '\n', size);
	struct buf options = BUF_INIT(4096), imported;
	struct game_source source = { .name = "a.map" };
	struct game_error error = { "" };
	const char *blank;
	const struct game *game;

	if (end == NULL)
		return 0;
	blank = memchr(text, ' ', (size_t)(end - text));
	if (blank == NULL || blank == text)
		return 0;
	game = game_of(text, (size_t)(blank - text));
	if (game == NULL)
		return 0;
	buf_init(&imported, IMPORT_BYTES_MAX);
	buf_add(&options, blank + 1, (size_t)(end - blank) - 1);
	source.options = buf_text(&options);
	source.data = end + 1;
	source.len = size - (size_t)(end + 1 - text);
	/* A damaged database hands out bytes that no import has seen. */
	(void)use_map(game, &source);
	if (game_import(game, &source, &imported, &error) == 0)
		check_again(game, source, &imported);
	else
		check(error.text[0] != '\0');
	buf_release(&imported);
	buf_release(&options);
	return 0;
}
