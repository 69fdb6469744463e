/* SPDX-License-Identifier: MIT */
/*
 * generate.h - fresh maps from a preset and a seed, for whoever wants one.
 *
 * A map is named by (game, preset, version of the preset, seats, seed) and its
 * bytes follow from that alone, on every machine, for ever: a generator whose
 * maps change gets a new version. Pure; any thread; no state is kept. A call
 * may take some tens of milliseconds: the loop of hilld leaves it to a worker.
 */
#ifndef HILL_GAMES_GENERATE_H
#define HILL_GAMES_GENERATE_H

#include <stddef.h>
#include <stdint.h>

#include "server/games/game.h"

enum {
	GENERATE_PRESETS_MAX = 16,  /* a game */
	GENERATE_PRESET_BYTES = 24, /* of a name, with the NUL */
	GENERATE_NAME_BYTES = 64,   /* generate_map_name's, with the NUL */
	GENERATE_ORIGIN_BYTES = 64, /* generate_origin's, with the NUL */
};

/* A generated map; generate_release. All zero is released. */
struct generated {
	struct buf data;    /* as map_new takes them, in need of no import */
	struct buf options; /* of the map's row; may be empty */
};

/*
 * The preset of GAME that the LEN bytes at NAME name, or NULL with ERROR set:
 * it lists those that there are, or says that GAME has none.
 */
const struct game_preset *generate_find(const struct game *game,
					const char *name, size_t len,
					struct game_error *error);
/*
 * Every preset in LIST, names with commas between, exists in GAME and has room
 * for SEATS. 0 and *RET_COUNT is their number (at least 1), or -EINVAL with
 * ERROR set. RET_COUNT may be NULL.
 */
int generate_check_list(const struct game *game, const char *list,
			unsigned seats, unsigned *ret_count,
			struct game_error *error) WARN_UNUSED;
/* Number INDEX, from 0, of a LIST that was checked. */
const struct game_preset *generate_of_list(const struct game *game,
					   const char *list, unsigned index);
/*
 * The map of PRESET (of GAME), SEATS and SEED. 0; -EINVAL with ERROR set when
 * the preset has no room for SEATS; -ENOMEM. On success *RET is the caller's.
 */
int generate_map(const struct game *game, const struct game_preset *preset,
		 unsigned seats, uint64_t seed, struct generated *ret,
		 struct game_error *error) WARN_UNUSED;
void generate_release(struct generated *map);
/*
 * The file name that bots are told: "rooms-000000000000002a.map"; of a game
 * for several seats "rooms-4-000000000000002a.png"; from the second version
 * of a preset on "rooms-v2-...".
 */
void generate_map_name(const struct game *game,
		       const struct game_preset *preset, unsigned seats,
		       uint64_t seed, char ret[GENERATE_NAME_BYTES]);
/*
 * What a map's row keeps of where it is from: "rooms/1/000000000000002a", for
 * several seats with "/4" behind it. Seeds are 16 hexadecimal digits.
 */
void generate_origin(const struct game *game, const struct game_preset *preset,
		     unsigned seats, uint64_t seed,
		     char ret[GENERATE_ORIGIN_BYTES]);

#endif
