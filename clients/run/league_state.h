/* SPDX-License-Identifier: MIT */
/*
 * league_state.h - a league's results as lines of a file. Pure.
 *
 * The first line is the head, a JSON object of all that decides a match's
 * result; each further one is the row of a match that was played to its end:
 *
 *	{"match": 17, "map": "open100.png", "seed": 3, "seats": [{"bot":
 *	"blob", "score": 30.5, "points": 305, "rank": 1, ...}, ...]}
 *
 * Rows stand in the order in which matches ended.
 */
#ifndef HILL_CLIENTS_RUN_LEAGUE_STATE_H
#define HILL_CLIENTS_RUN_LEAGUE_STATE_H

#include <jansson.h>

#include "clients/run/league.h"

/*
 * Read the LEN bytes at TEXT as the file of the league with HEAD into ROWS.
 * *RET_LEN is how many bytes of it are whole lines, and 0 when there is not
 * even a head: what is behind them was torn by an end in mid-write. 0, or
 * -EINVAL with ERROR: it is no such file, or belongs to another league (it
 * names what differs), or a line is damaged.
 */
int league_state_read(const char *text, size_t len, json_t *head,
		      const struct league_plan *plan, struct league_row *rows,
		      size_t *ret_len, struct game_error *error) WARN_UNUSED;
/* The first line, with its LF, appended to OUT. */
void league_state_add_head(json_t *head, struct buf *out);
/*
 * ROW of MATCH as an object; its map is MAP, its bots' names are BOTS by their
 * number. The caller's.
 */
json_t *league_state_json(const struct league_match *match, unsigned seats,
			  const struct league_row *row, const char *map,
			  const char *const *bots) WARN_UNUSED;
/* The line of JSON, with its LF, appended to OUT; JSON is given up. */
void league_state_add_line(json_t *json, struct buf *out);

#endif
