/* SPDX-License-Identifier: MIT */
/* rabbit_table.c - the lines of the controller's printed table. */
#include "clients/run/rabbit_table.h"

void rabbit_table_start(struct buf *out, int argc, const char *const *argv)
{
	buf_add_text(out, "Running:");
	for (int i = 0; i < argc; i++) {
		buf_add_char(out, ' ');
		buf_add_text(out, argv[i]);
	}
	buf_add_format(out, "\n%10s %20s %10s\n", "Run", "Seed", "Score");
}

void rabbit_table_run(struct buf *out, unsigned number, const char *seed,
		      int64_t score, enum game_reason reason)
{
	if (reason == GAME_TIMED_OUT)
		buf_add_text(out, "Move timeout\n");
	buf_add_format(out, "%10u %20s %10lld\n", number, seed,
		       (long long)score);
}

void rabbit_table_end(struct buf *out, int64_t total)
{
	buf_add_format(out, "Total Score: %lld\n", (long long)total);
}
