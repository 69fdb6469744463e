/* SPDX-License-Identifier: MIT */
/*
 * admin_commands.h - how the host's commands are carried out: the rows of
 * admin_table.c say which. Each returns an exit status.
 */
#ifndef HILL_CLIENTS_CTL_ADMIN_COMMANDS_H
#define HILL_CLIENTS_CTL_ADMIN_COMMANDS_H

#include "clients/ctl/ctl.h"

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

#endif
