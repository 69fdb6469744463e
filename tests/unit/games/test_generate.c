/* SPDX-License-Identifier: MIT */
/*
 * test_generate.c - generated maps: pinned to the byte, and each playable by
 * its game's own check and fit for a ladder.
 *
 * tests/data/generated.txt pins them. A preset whose maps are to change gets a
 * new version; then HILL_NEW_DIGESTS=FILE test-games-generate writes the table
 * anew.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/sha.h>

#include "server/games/chance.h"
#include "server/games/generate.h"
#include "server/games/image_battle_generate.h"
#include "server/games/lambda_generate.h"
#include "server/games/lambda_internal.h"
#include "server/games/rabbit_generate.h"
#include "tests/unit/unit.h"

enum { PINNED = 20, TRIED = 40, TRIED_ARENAS = 8, TABLE_BYTES = 1 << 20 };

static void make(const struct game *game, const struct game_preset *preset,
		 unsigned seats, uint64_t seed, struct generated *ret)
{
	struct game_error error = { "" };

	if (generate_map(game, preset, seats, seed, ret, &error) < 0)
		fail_msg("%s %s: %s", game->name, preset->name, error.text);
}

static const struct game_preset *preset_of(const struct game *game,
					   const char *name)
{
	struct game_error error = { "" };
	const struct game_preset *preset =
		generate_find(game, name, strlen(name), &error);

	if (preset == NULL)
		fail_msg("%s", error.text);
	return preset;
}

/* ---- pinned ---- */

/* Seeds small and huge, seats few and many. */
static void add_line(struct buf *table, const struct game *game,
		     const struct game_preset *preset, unsigned number)
{
	static const unsigned seats[] = { 2, 2, 3, 4, 8 };
	uint64_t seed = number < 10 ? number : ~(uint64_t)0 / number;
	unsigned count = game->seats_max > 1 ? seats[number % 5] : 1;
	unsigned char digest[SHA256_DIGEST_LENGTH];
	char origin[GENERATE_ORIGIN_BYTES];
	struct generated map;

	make(game, preset, count, seed, &map);
	SHA256((const unsigned char *)map.data.data, map.data.len, digest);
	generate_origin(game, preset, count, seed, origin);
	buf_add_format(table, "%s %s ", game->name, origin);
	for (unsigned i = 0; i < sizeof(digest); i++)
		buf_add_format(table, "%02x", digest[i]);
	buf_add_char(table, '\n');
	generate_release(&map);
}

static void read_file(const char *path, struct buf *ret)
{
	FILE *file = fopen(path, "r");
	char *at = buf_reserve(ret, TABLE_BYTES);

	assert_non_null(file);
	ret->len = fread(at, 1, TABLE_BYTES - 1, file);
	at[ret->len] = '\0';
	fclose(file);
}

static void every_map_is_as_it_was_pinned(void **state)
{
	const char *path = getenv("HILL_NEW_DIGESTS");
	struct buf table = BUF_INIT(TABLE_BYTES);
	struct buf pinned = BUF_INIT(TABLE_BYTES);

	(void)state;
	for (const struct game *const *game = games_all; *game != NULL; game++)
		for (unsigned i = 0; i < (*game)->npresets; i++)
			for (unsigned k = 0; k < PINNED; k++)
				add_line(&table, *game, &(*game)->presets[i],
					 k);
	if (path != NULL) {
		FILE *file = fopen(path, "w");

		assert_non_null(file);
		fputs(buf_text(&table), file);
		fclose(file);
	}
	read_file(HILL_TEST_DATA "/generated.txt", &pinned);
	assert_string_equal(buf_text(&table), buf_text(&pinned));
	buf_release(&table);
	buf_release(&pinned);
}

static void chance_yields_the_published_numbers(void **state)
{
	/* SplitMix64 from 0, then the generator's own definition by hand */
	static const uint64_t filled[4] = {
		0xe220a8397b1dcdaf,
		0x6e789e6aa1b965f4,
		0x06c45d188009454f,
		0xf88bb8a8724c81ec,
	};
	struct chance chance;

	(void)state;
	chance_init(&chance, 0);
	assert_memory_equal(chance.state, filled, sizeof(filled));
	assert_true(chance_next(&chance) == 0x99ec5f36cb75f2b4);
	for (unsigned i = 0; i < 1000; i++) {
		assert_true(chance_below(&chance, 7) < 7);
		assert_in_range(chance_between(&chance, 3, 5), 3, 5);
	}
	assert_int_equal(chance_below(&chance, 1), 0);
}

/* ---- playable ---- */

/* MAP of GAME as it lies in the pool; the caller frees it. */
static struct game_map *parse(const struct game *game,
			      const struct generated *map)
{
	const struct game_source source = { "map", map->data.data,
					    map->data.len,
					    buf_text(&map->options) };
	struct game_error error = { "" };
	struct game_map *ret;

	if (game->map_new(&ret, &source, &error) < 0)
		fail_msg("%s: %s", game->name, error.text);
	return ret;
}

/* A ladder takes the map as it is. */
static void assert_admitted(const struct game *game, const struct game_map *map,
			    unsigned seats)
{
	struct game_setup setup = {
		.seed = "1",
		.bot_seed = "2",
		.seats = seats,
		.limit_ms = 100,
	};
	struct game_error error = { "" };
	struct game_state *state = NULL;

	assert_int_equal(game_params_parse(game, "", setup.params, &error), 0);
	if (game_admit(game, map, &setup, &error) < 0 ||
	    game->create(&state, map, &setup, &error) < 0)
		fail_msg("%s: %s", game->name, error.text);
	game->free(state);
}

static void rabbits_can_get_home_on_every_map(void **state)
{
	const struct game *game = game_find("rabbit-runner");

	(void)state;
	for (unsigned i = 0; i < game->npresets; i++) {
		for (uint64_t seed = 1000; seed < 1000 + TRIED; seed++) {
			struct game_error error = { "" };
			struct generated made;
			struct game_map *map;

			make(game, &game->presets[i], 1, seed, &made);
			map = parse(game, &made);
			if (rabbit_check(map, &error) < 0)
				fail_msg("%s %llu: %s", game->presets[i].name,
					 (unsigned long long)seed, error.text);
			assert_admitted(game, map, 1);
			game->map_free(map);
			generate_release(&made);
		}
	}
}

static void no_seat_of_an_arena_is_cut_short(void **state)
{
	const struct game *game = game_find("image-battle");

	(void)state;
	for (unsigned i = 0; i < game->npresets; i++) {
		for (unsigned k = 0; k < TRIED_ARENAS; k++) {
			unsigned seats = 1 + k % GAME_SEATS_MAX;
			struct game_error error = { "" };
			struct generated made;
			struct game_map *map;

			make(game, &game->presets[i], seats, 1000 + k, &made);
			map = parse(game, &made);
			if (arena_check(map, seats, &error) < 0)
				fail_msg("%s %u: %s", game->presets[i].name,
					 1000 + k, error.text);
			assert_admitted(game, map, seats);
			game->map_free(map);
			generate_release(&made);
		}
	}
}

/* The seats stand in the same order whether the options are known or not. */
static void an_arena_tells_its_seats_without_its_options(void **state)
{
	const struct game *game = game_find("image-battle");

	(void)state;
	for (unsigned i = 0; i < game->npresets; i++) {
		struct generated made;
		struct game_map *with;
		struct game_map *without;

		make(game, &game->presets[i], 5, 77, &made);
		with = parse(game, &made);
		buf_clear(&made.options);
		without = parse(game, &made);
		assert_int_equal(game->map_seats(with), 5);
		assert_int_equal(game->map_seats(without), 5);
		for (unsigned seat = 0; seat < 5; seat++) {
			struct game_setup setup = { .seats = 5 };
			struct buf a = BUF_INIT(1000);
			struct buf b = BUF_INIT(1000);

			game->args(with, &setup, seat, "a.png", &a);
			game->args(without, &setup, seat, "a.png", &b);
			assert_string_equal(buf_text(&a), buf_text(&b));
			buf_release(&a);
			buf_release(&b);
		}
		game->map_free(with);
		game->map_free(without);
		generate_release(&made);
	}
}

/* The route that the check found wins when the engine itself is told it. */
static void assert_wins(const struct lambda_map *map, const struct buf *route)
{
	struct lambda_sim sim;

	assert_int_equal(lambda_sim_init(&sim, map), 0);
	for (size_t i = 0; i < route->len; i++)
		lambda_step(&sim, route->data[i]);
	assert_int_equal(sim.status, LAMBDA_WIN);
	assert_int_equal(sim.collected, map->total);
	assert_true(map->total > 0);
	lambda_sim_release(&sim);
}

static void every_mine_has_a_route_that_wins_it(void **state)
{
	const struct game *game = game_find("lambda-mining");

	(void)state;
	for (unsigned i = 0; i < game->npresets; i++) {
		for (uint64_t seed = 1000; seed < 1000 + TRIED; seed++) {
			struct buf route = BUF_INIT(1 << 20);
			struct game_error error = { "" };
			struct generated made;
			struct lambda_map map;

			make(game, &game->presets[i], 1, seed, &made);
			assert_int_equal(lambda_map_init(&map, made.data.data,
							 made.data.len, &error),
					 0);
			if (lambda_check(&map, &route, &error) < 0)
				fail_msg("%s %llu: %s", game->presets[i].name,
					 (unsigned long long)seed, error.text);
			assert_wins(&map, &route);
			lambda_map_release(&map);
			buf_release(&route);
			generate_release(&made);
		}
	}
}

static void a_mine_has_what_its_preset_promises(void **state)
{
	static const struct {
		const char *preset, *promised[4];
	} cases[] = {
		{ "small", { "*" } },
		{ "medium", { "*" } },
		{ "large", { "*" } },
		{ "flood", { "*", "Flooding " } },
		{ "trampoline", { "*", "Trampoline A targets 1" } },
		{ "beard", { "*", "W", "Growth ", "!" } },
		{ "horock", { "*", "@" } },
		{ "all", { "@", "W", "Flooding ", "Trampoline " } },
	};
	const struct game *game = game_find("lambda-mining");

	(void)state;
	assert_int_equal(game->npresets, COUNT_OF(cases));
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct game_preset *preset =
			preset_of(game, cases[i].preset);
		unsigned kept = 0;

		for (uint64_t seed = 0; seed < 50; seed++) {
			struct generated made;
			bool is_kept = true;

			make(game, preset, 1, seed, &made);
			for (unsigned k = 0;
			     k < 4 && cases[i].promised[k] != NULL; k++)
				is_kept = is_kept &&
					  strstr(made.data.data,
						 cases[i].promised[k]) != NULL;
			kept += is_kept;
			generate_release(&made);
		}
		/* a rare one has lost its extension to be winnable */
		if (kept < 49)
			fail_msg("%s: %u of 50", cases[i].preset, kept);
	}
}

/* ---- checks that can fail ---- */

static void the_checks_refuse_what_cannot_be_played(void **state)
{
	static const struct {
		const char *map, *why;
	} cases[] = {
		{ "##########\n#s#    ce#\n##########\n", "cut off" },
		{ "##########\n#s c####e#\n#        #\n##########\n", "sees" },
		{ "##########\n#se      #\n#####    #\n#c       #\n"
		  "##########\n",
		  "less than" },
		{ "##########\n#s       \n## #######\n#c      e#\n"
		  "##########\n",
		  "gap" },
		{ "#####\n#s e#\n#####\n", "missing" },
	};
	const struct game *game = game_find("rabbit-runner");

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct game_source source = { "map", cases[i].map,
						    strlen(cases[i].map), "" };
		struct game_error error = { "" };
		struct game_map *map;

		assert_int_equal(game->map_new(&map, &source, &error), 0);
		assert_int_equal(rabbit_check(map, &error), -EINVAL);
		if (strstr(error.text, cases[i].why) == NULL)
			fail_msg("case %zu: %s", i, error.text);
		game->map_free(map);
	}
}

static void the_miner_says_when_it_does_not_win(void **state)
{
	static const char *const lost[] = {
		"#####\n#R#\\#\n###L#\n",       /* walled in */
		"#######\n#R*#\\.#\n####.L#\n", /* behind a rock that is stuck */
		"####\n#R.L\n#\\.#\n####\n\nWater 9\nWaterproof 0\n",
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(lost); i++) {
		struct game_error error = { "" };
		struct lambda_map map;

		assert_int_equal(
			lambda_map_init(&map, lost[i], strlen(lost[i]), &error),
			0);
		assert_int_equal(lambda_check(&map, NULL, &error), -EINVAL);
		assert_non_null(strstr(error.text, "lambdas"));
		lambda_map_release(&map);
	}
}

/* ---- presets and names ---- */

static void names_say_preset_seats_and_seed(void **state)
{
	const struct game *rabbits = game_find("rabbit-runner");
	const struct game *arenas = game_find("image-battle");
	struct game_preset second = *preset_of(rabbits, "maze");
	char text[GENERATE_NAME_BYTES];

	(void)state;
	generate_map_name(rabbits, preset_of(rabbits, "rooms"), 1, 42, text);
	assert_string_equal(text, "rooms-000000000000002a.map");
	generate_map_name(arenas, preset_of(arenas, "rooms"), 4, UINT64_MAX,
			  text);
	assert_string_equal(text, "rooms-4-ffffffffffffffff.png");
	second.version = 2;
	generate_map_name(rabbits, &second, 1, 1, text);
	assert_string_equal(text, "maze-v2-0000000000000001.map");
	generate_origin(rabbits, &second, 1, 1, text);
	assert_string_equal(text, "maze/2/0000000000000001");
	generate_origin(arenas, preset_of(arenas, "rooms"), 4, 2, text);
	assert_string_equal(text, "rooms/1/0000000000000002/4");
}

static void lists_of_presets_are_checked(void **state)
{
	const struct game *game = game_find("lambda-mining");
	struct game_error error = { "" };
	unsigned count = 0;

	(void)state;
	assert_int_equal(
		generate_check_list(game, "small,flood,all", 1, &count, &error),
		0);
	assert_int_equal(count, 3);
	assert_string_equal(generate_of_list(game, "small,flood,all", 1)->name,
			    "flood");
	assert_string_equal(generate_of_list(game, "small,flood,all", 2)->name,
			    "all");
	assert_int_equal(generate_check_list(game, "small,", 1, NULL, &error),
			 -EINVAL);
	assert_int_equal(generate_check_list(game, "", 1, NULL, &error),
			 -EINVAL);
	assert_int_equal(generate_check_list(game, "smal", 1, NULL, &error),
			 -EINVAL);
	assert_string_equal(error.text,
			    "lambda-mining has no preset 'smal', only small "
			    "medium large flood trampoline beard horock all");
	assert_int_equal(generate_check_list(game, "small", 2, NULL, &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "not 2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_map_is_as_it_was_pinned),
		cmocka_unit_test(chance_yields_the_published_numbers),
		cmocka_unit_test(rabbits_can_get_home_on_every_map),
		cmocka_unit_test(no_seat_of_an_arena_is_cut_short),
		cmocka_unit_test(an_arena_tells_its_seats_without_its_options),
		cmocka_unit_test(every_mine_has_a_route_that_wins_it),
		cmocka_unit_test(a_mine_has_what_its_preset_promises),
		cmocka_unit_test(the_checks_refuse_what_cannot_be_played),
		cmocka_unit_test(the_miner_says_when_it_does_not_win),
		cmocka_unit_test(names_say_preset_seats_and_seed),
		cmocka_unit_test(lists_of_presets_are_checked),
	};

	return cmocka_run_group_tests_name("generate", tests, NULL, NULL);
}
