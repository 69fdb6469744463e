/* SPDX-License-Identifier: MIT */
/* match_view.h - a stored match as JSON; the commands that look at matches. */
#ifndef HILL_CLIENTS_CTL_MATCH_VIEW_H
#define HILL_CLIENTS_CTL_MATCH_VIEW_H

#include "clients/ctl/ctl.h"

/*
 * The match that CALL names: its argument, or 0 for the newest with --seed
 * and --ladder. CTL_OK with *RET, or CTL_USAGE after it was told why.
 */
int match_parse(const struct ctl_call *call, int64_t *ret);
/* Find the match when *ID is 0. CTL_OK, or CTL_FAILED likewise. */
int match_find(const struct ctl *ctl, const struct ctl_call *call,
	       struct store *store, int64_t *id);

/*
 * The time of option NAME, in microseconds since 1970 UTC; *RET stays when it
 * is not given. CTL_OK, or CTL_USAGE after it was told why.
 */
int match_time(const struct ctl_call *call, const char *name, int64_t *ret);
struct table;
/* The next cell: SCORE as its game's original prints it. */
void match_add_score(struct table *table, double score);

int run_match_list(const struct ctl *ctl, const struct ctl_call *call);
int run_match_show(const struct ctl *ctl, const struct ctl_call *call);
int run_summary(const struct ctl *ctl, const struct ctl_call *call);
int run_status(const struct ctl *ctl, const struct ctl_call *call);
int run_rematch(const struct ctl *ctl, const struct ctl_call *call);
int run_drain(const struct ctl *ctl, const struct ctl_call *call);
int run_replay(const struct ctl *ctl, const struct ctl_call *call);
int run_verify(const struct ctl *ctl, const struct ctl_call *call);
int run_export(const struct ctl *ctl, const struct ctl_call *call);
extern const char export_details[];

struct film_options;

/* What `export` is asked to draw. CTL_OK, or CTL_USAGE after it was told. */
int pictures_options(const struct ctl_call *call, struct film_options *ret);
/* Draw RECORD as OPTIONS say. An exit status. */
int pictures_make(const struct ctl *ctl, const struct row_record *record,
		  const struct film_options *options);

#endif
