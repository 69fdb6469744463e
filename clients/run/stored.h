/* SPDX-License-Identifier: MIT */
/*
 * stored.h - a match as `hillctl export` writes it, read for playing it again.
 * Pure.
 */
#ifndef HILL_CLIENTS_RUN_STORED_H
#define HILL_CLIENTS_RUN_STORED_H

#include <jansson.h>

#include "server/games/game.h"

struct stored_input {
	unsigned seat;
	enum game_input kind;
	char *text; /* owned, NUL-terminated; NULL unless a reply */
	size_t len;
};

/* stored_release. */
struct stored {
	json_t *document; /* owned; the texts below are parts of it */
	int64_t id;
	const struct game *game;
	const char *map_name;
	struct buf file; /* the map as bots got it */
	struct game_map *map;
	struct game_setup setup;
	uint32_t turn_ms, init_ms, grace_ms;
	const char *bots[GAME_SEATS_MAX];
	double scores[GAME_SEATS_MAX]; /* NAN when it was not finite */
	int64_t points[GAME_SEATS_MAX];
	struct stored_input *inputs; /* owned */
	size_t ninputs;
};

/*
 * Read LEN bytes at TEXT. 0 with *RET, or -EINVAL: ERROR says what is missing
 * or wrong (also a match of another engine version, which this one may judge
 * in another way). *RET is to be released in both cases.
 */
int stored_read(struct stored *ret, const char *text, size_t len,
		struct game_error *error) WARN_UNUSED;
void stored_release(struct stored *stored);

#endif
