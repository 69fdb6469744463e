/* SPDX-License-Identifier: MIT */
/*
 * rabbit_table.h - the table that rabbit-runner's controller prints, line by
 * line as the runs go. hill-run prints it and golden-check compares it.
 *
 *	rabbit_table_start(&out, argc, argv);
 *	for each run: rabbit_table_run(&out, 1, "322", 23, GAME_FINISHED);
 *	rabbit_table_end(&out, 23);
 */
#ifndef HILL_CLIENTS_RUN_RABBIT_TABLE_H
#define HILL_CLIENTS_RUN_RABBIT_TABLE_H

#include <stdint.h>

#include "server/base/buffer.h"
#include "server/games/game.h"

/* `Running: ` and the words of the command line, and the heads of columns. */
void rabbit_table_start(struct buf *out, int argc, const char *const *argv);
/*
 * The row of run NUMBER (from 1), whose SEED is decimal text as Python prints
 * it. Of a run that ended for a late reply, `Move timeout` goes before it.
 */
void rabbit_table_run(struct buf *out, unsigned number, const char *seed,
		      int64_t score, enum game_reason reason);
/* The sum of all runs' scores. */
void rabbit_table_end(struct buf *out, int64_t total);

#endif
