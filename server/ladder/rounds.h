/* SPDX-License-Identifier: MIT */
/*
 * rounds.h - solo ladders: which open round a bot is given next.
 *
 * A round is one instance (map, parameters, seed) that each owner is given
 * once. A round that ends soon is worth more than a new one, and runs of near
 * equals tell more about their ratings; so of the open rounds that have room
 * and have not had this owner, the bot gets the one with the least
 *
 *	runs still missing / runs wanted + |mu - mean mu of the round| / spread
 *
 * unless each of them is more than ROUNDS_FAR spreads away and another round
 * may be opened. At most max_open rounds are open on a ladder; when all
 * of them have had this owner, the oldest with enough runs and none in play is
 * closed early to make room; when there is none, the bot waits.
 *
 * A round ends when it has its runs, or at age_us; the lobby ends it sooner
 * when nobody who is there may still have a run of it.
 *
 * Pure; O(rounds). One thread.
 */
#ifndef HILL_LADDER_ROUNDS_H
#define HILL_LADDER_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"

#define ROUNDS_FAR 2.0

struct rounds_rules {
	uint32_t runs;         /* `round-runs`: wanted of a new round, 2.. */
	int64_t age_us;        /* `round-hours`: then it closes */
	uint32_t max_open;     /* on one ladder, 1.. */
	double spread;         /* of ratings: 25/3 for the usual scale */
	int64_t house_wait_us; /* before a house bot fills a round */
	double house_settle_sigma; /* see rounds_bot */
};

/* RUNS runs or AGE_US; 16 rounds, 25/3, 20 s, 5.0. */
struct rounds_rules rounds_default_rules(uint32_t runs, int64_t age_us);

struct rounds_open {
	uint64_t id;
	int64_t opened_us;
	uint32_t runs_wanted;
	uint32_t runs_stored;
	uint32_t runs_in_play; /* offered or running */
	double mu_mean;        /* of the bots of both kinds of runs */
	/* This bot's owner was given it (for a house bot: this bot was). */
	bool has_owner;
	bool has_author; /* a run of a bot that is not of the house */
};

struct rounds_bot {
	double mu, sigma;
	/*
	 * A house bot joins only rounds of authors that are older than
	 * house_wait_us, and rounds of the house while it is less certain than
	 * house_settle_sigma; only then does it open one.
	 */
	bool is_house;
};

enum rounds_verdict {
	ROUNDS_JOIN,    /* the round at ret_choice->index */
	ROUNDS_OPEN,    /* a new one */
	ROUNDS_REPLACE, /* close the one at index, then open a new one */
	ROUNDS_WAIT,    /* until until_us, or until a round closes */
};

struct rounds_choice {
	size_t index;     /* of JOIN and REPLACE */
	int64_t until_us; /* of WAIT; INT64_MAX: time alone helps not */
};

/* Choose for BOT among the COUNT open ROUNDS of one ladder (borrowed). */
enum rounds_verdict rounds_choose(const struct rounds_rules *rules,
				  const struct rounds_open *rounds,
				  size_t count, const struct rounds_bot *bot,
				  int64_t now_us,
				  struct rounds_choice *ret_choice);

/* ROUND takes no more runs, and closes as soon as none of it is in play. */
bool rounds_is_over(const struct rounds_rules *rules,
		    const struct rounds_open *round, int64_t now_us);
/* When that comes by time alone, unless something happens before. */
int64_t rounds_ends_us(const struct rounds_rules *rules,
		       const struct rounds_open *round);

#endif
