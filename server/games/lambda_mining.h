/* SPDX-License-Identifier: MIT */
/* lambda_mining.h - the mine of the ICFP programming contest 2012. */
#ifndef HILL_GAMES_LAMBDA_MINING_H
#define HILL_GAMES_LAMBDA_MINING_H

#include "server/games/game.h"

/*
 * One seat, one request: the reply is the route. Lines are never emitted, the
 * map is the program's whole input. Columns: lambdas, steps, outcome (enum
 * lambda_status). Parameter route-limit=1 cuts a route after width x height
 * steps.
 */
extern const struct game game_lambda_mining;

#endif
