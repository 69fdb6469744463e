/* SPDX-License-Identifier: MIT */
/* league_report.h - a league's sums, put for people and in JSON. Pure. */
#ifndef HILL_CLIENTS_RUN_LEAGUE_REPORT_H
#define HILL_CLIENTS_RUN_LEAGUE_REPORT_H

#include <jansson.h>

#include "clients/run/league.h"

/* All borrowed. */
struct league_report {
	const struct league_plan *plan;
	const struct league_sums *sums;
	const char *const *bots; /* names */
	const char *const *maps; /* likewise */
};

/* The tables, appended to OUT. */
void league_report_text(const struct league_report *report, struct buf *out);
/* The same as the members of an object; the caller's. */
json_t *league_report_json(const struct league_report *report) WARN_UNUSED;

#endif
