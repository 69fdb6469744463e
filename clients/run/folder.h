/* SPDX-License-Identifier: MIT */
/*
 * folder.h - a bot's private folder: what is put in, and how its command finds
 * what stayed outside.
 */
#ifndef HILL_CLIENTS_RUN_FOLDER_H
#define HILL_CLIENTS_RUN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "clients/run/words.h"

/* Put LEN bytes as the file NAME into FOLDER. False: told. */
bool folder_write(const char *folder, const char *name, const char *bytes,
		  size_t len) WARN_UNUSED;
/*
 * Copy the file PATH, seen from the folder HOME, into FOLDER, its rights as
 * well. With X.class go X*.class beside it, its inner classes. False: told.
 */
bool folder_copy(const char *folder, const char *home,
		 const char *path) WARN_UNUSED;
/*
 * Make absolute what in COMMAND names something here, as it will be run
 * elsewhere; of the program itself only when it holds a slash.
 */
void folder_make_absolute(struct words *command);
/* PATH as seen from the folder HOME. Owned by the caller. */
char *folder_path(const char *home, const char *path) WARN_UNUSED;
/* The folder in which the file PATH lies. Owned by the caller. */
char *folder_of(const char *path) WARN_UNUSED;

#endif
