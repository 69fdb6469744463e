/* SPDX-License-Identifier: MIT */
/*
 * admin_commands.h - how the host's commands are carried out: the rows of
 * admin_table.c say which. Each returns an exit status.
 */
#ifndef HILL_CLIENTS_CTL_ADMIN_COMMANDS_H
#define HILL_CLIENTS_CTL_ADMIN_COMMANDS_H

#include "clients/ctl/ctl.h"

/* The request that CALL asks for; NULL after ctl_usage(). */
json_t *make_request(const struct ctl_call *call) WARN_UNUSED;
/* What the reply refuses, told (of WHAT, unless NULL); CTL_OK if nothing. */
int check_reply(const struct ctl *ctl, const char *what, const json_t *reply);
/* The reply to REQUEST, which it takes; NULL after it was told why. */
json_t *carry_out(const struct ctl *ctl, const struct ctl_call *call,
		  const char *what, json_t *request_take) WARN_UNUSED;
/*
 * Likewise to what changes nothing: from the file, also while hilld has it.
 * NULL for a NULL request.
 */
json_t *ask_file(const struct ctl *ctl, json_t *request_take) WARN_UNUSED;
/* Print an array of the reply; from the file, also while hilld has it. */
int run_list(const struct ctl *ctl, const struct ctl_call *call);
/* The fields of the request are the arguments and options. */
int run_change(const struct ctl *ctl, const struct ctl_call *call);
/* Likewise; of X enable it is the request that takes X disable back. */
int run_enable(const struct ctl *ctl, const struct ctl_call *call);
/* Likewise; --hidden and --public are short for two values. */
int run_map_change(const struct ctl *ctl, const struct ctl_call *call);
/* Likewise where the reply holds a token. */
int run_token(const struct ctl *ctl, const struct ctl_call *call);
/* Each argument is a file. */
int run_map_add(const struct ctl *ctl, const struct ctl_call *call);

/* `bot show`: takes a `bot hide` back. */
int run_bot_show(const struct ctl *ctl, const struct ctl_call *call);
int run_invite(const struct ctl *ctl, const struct ctl_call *call);
int run_import(const struct ctl *ctl, const struct ctl_call *call);

#endif
