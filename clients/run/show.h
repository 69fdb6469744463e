/* SPDX-License-Identifier: MIT */
/* show.h - pictures of a match that was played: --frames, --animation. */
#ifndef HILL_CLIENTS_RUN_SHOW_H
#define HILL_CLIENTS_RUN_SHOW_H

#include "clients/run/play.h"

/*
 * Draw MATCH as the options of PLAY want it, from RECORD. True also when they
 * want nothing. False: told.
 */
bool show_match(const struct play *play, const struct play_match *match,
		const struct referee_job *job,
		const struct match_record *record) WARN_UNUSED;

#endif
