/* SPDX-License-Identifier: MIT */
/* tournament_view.h - hilld's answers on tournaments, for people. */
#ifndef HILL_CLIENTS_CTL_TOURNAMENT_VIEW_H
#define HILL_CLIENTS_CTL_TOURNAMENT_VIEW_H

#include <jansson.h>

/* Entrants, matches, bytes and the expected end of a plan. */
void tournament_print_plan(const json_t *reply);
/* The entrants that REPLY says are out, having no version. */
void tournament_print_without_version(const json_t *reply);
/* The matches of a plan that may be played at once, or are next. */
void tournament_print_matches(const json_t *matches);
void tournament_print_show(const json_t *reply);
void tournament_print_table(const json_t *reply);
/* The table as CSV (RFC 4180). */
void tournament_print_csv(const json_t *reply);

#endif
