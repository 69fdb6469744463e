/* SPDX-License-Identifier: MIT */
/*
 * figures.h - what the loop counts for whoever looks on, and hands over once a
 * second as prepared text: see net_on_second. Loop thread only.
 */
#ifndef HILL_NET_FIGURES_H
#define HILL_NET_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include "proto/words.h"
#include "server/base/metrics.h"
#include "server/games/game.h"
#include "server/match/match.h"
#include "server/match/record.h"

enum { FIGURES_SAVED_MAX = 10000 };

struct net;

struct net_figures {
	struct metrics_times lag;   /* of the loop, turn by turn */
	struct metrics_times turns; /* replies' time on the turn clock */
	uint64_t connections;       /* since the start */
	uint64_t nturns;
	uint64_t refusals[ERROR_NCODES]; /* @error lines sent, by code */
	uint64_t faults[MATCH_NFAULTS];
	uint64_t reasons[GAME_NREASONS]; /* how seats' games ended */
	int64_t *saved; /* owned; matches on disk in this second */
	size_t nsaved, saved_cap;
};

void figures_release(struct net_figures *figures);
/* Lines that go to a peer: count the refusals among them. */
void figures_lines(struct net_figures *figures, const char *bytes, size_t len);
/* A match is over. */
void figures_record(struct net_figures *figures,
		    const struct match_record *record);
/* Match ID is on disk. */
void figures_saved(struct net_figures *figures, int64_t id);
/* All figures of NET as Prometheus text. */
void figures_text(struct net *net, struct buf *out);
/* The matches in play as JSON, at most some hundred of them. */
void figures_live(struct net *net, struct buf *out);

#endif
