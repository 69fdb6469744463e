/* SPDX-License-Identifier: MIT */
/* commands.h - the host's commands, as hillctl sends them, and their replies. */
#ifndef HILL_TESTS_UNIT_STORE_COMMANDS_H
#define HILL_TESTS_UNIT_STORE_COMMANDS_H

#include <stdbool.h>

#include <jansson.h>

#include "server/store/store.h"

/*
 * The reply of STORE to the command TEXT, one line of JSON; json_decref.
 * *RET_CHANGED, where it is no NULL: whether the catalogue has changed.
 */
json_t *command_ask(struct store *store, const char *text, bool *ret_changed);
/* The same of a command that must be done. */
json_t *command_accepted(struct store *store, const char *text);
void command_accepts(struct store *store, const char *text);
/* TEXT must be refused, with SAYS in the reason. */
void command_refuses(struct store *store, const char *text, const char *says);

#endif
