/* SPDX-License-Identifier: MIT */
/* file.h - whole files. What cannot be done is told, with the file's name. */
#ifndef HILL_CLIENTS_RUN_FILE_H
#define HILL_CLIENTS_RUN_FILE_H

#include <stdbool.h>

#include "server/base/buffer.h"
#include "server/games/game.h"

/* The bytes of PATH, at most RET's limit, appended to RET. False: told. */
bool file_read(const char *path, struct buf *ret) WARN_UNUSED;
/* Write LEN bytes to PATH, which is made or emptied first. False: told. */
bool file_write(const char *path, const char *bytes, size_t len) WARN_UNUSED;
/*
 * Read PATH as a map of GAME with the row options OPTIONS: FILE gets the bytes
 * as a server would send them, *RET the map (map_free). False: told.
 */
bool file_read_map(const struct game *game, const char *path,
		   const char *options, struct buf *file,
		   struct game_map **ret) WARN_UNUSED;
/* The part of PATH behind its last slash. Borrowed. */
const char *file_base_name(const char *path);

#endif
