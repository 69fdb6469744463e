/* SPDX-License-Identifier: MIT */
/* hear.h - what matches and programs let hear, put for people and in JSON. */
#ifndef HILL_CLIENTS_RUN_HEAR_H
#define HILL_CLIENTS_RUN_HEAR_H

#include "clients/run/play.h"

/* LINE is what a server would have told SEAT of SEATS: faults are told on. */
void hear_word(struct play_match *match, unsigned seat, unsigned seats,
	       const char *line);
/* TEXT is what may be wrong with the program of SEAT. */
void hear_hint(const struct play_match *match, unsigned seat, unsigned seats,
	       const char *text);
/* What only shows when the match is over, of all its seats. */
void hear_over(const struct play_match *match,
	       const struct match_record *record);
/*
 * The program of SEAT has ended, match->status says how: tell it with the end
 * of its standard error when it should not have. IS_ONE_REPLY: it was to
 * answer once and end. True when it did not start, or died.
 */
bool hear_end(const struct play_match *match, unsigned seat, unsigned seats,
	      bool is_early, bool is_one_reply);
/* MATCH, of which RECORD tells, as an object. The caller's. */
json_t *hear_json(const struct play_match *match,
		  const struct match_record *record) WARN_UNUSED;

#endif
