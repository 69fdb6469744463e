/* SPDX-License-Identifier: MIT */
/*
 * simulate.h - a ladder with bots of known strength, played in virtual time.
 *
 * Each bot has a strength; in a match it performs as that strength and normal
 * noise of deviation beta say (Thurstone), and the places follow. A set is as
 * many matches as seats, ranked by the sum of the places, rated by rating.h.
 * A match takes as long as the bots at the table think. Who has played waits
 * again at once; whoever is not always there comes and goes.
 *
 * The same seed gives the same run.
 */
#ifndef HILL_TESTS_SIMULATE_SIMULATE_H
#define HILL_TESTS_SIMULATE_SIMULATE_H

#include "server/ladder/pairing.h"
#include "server/ladder/rating.h"

enum { SIM_BOTS = 64 };

#define SIM_SECOND INT64_C(1000000)

enum sim_policy {
	SIM_PAIRING,    /* server/ladder/pairing.h */
	SIM_RANDOM,     /* anybody who waits */
	SIM_FIRST_COME, /* who waits longest */
	SIM_NPOLICIES,
};

enum sim_state {
	SIM_ABSENT,
	SIM_WAITING,
	SIM_PLAYING,
};

struct sim_bot {
	double strength;
	int64_t think_us; /* its part of a match */
	int64_t stay_us;  /* mean time on the ladder; 0: always there */
	int64_t away_us;  /* mean time away */
	int64_t arrives_us;
	int64_t owner_id;
	bool is_house;
	bool throws; /* performs far below anybody */
	bool is_new_version;
	double predecessor_mu;

	enum sim_state state;
	int64_t leaves_us;
	int64_t since_us; /* waiting */
	uint64_t since_set;
	uint64_t ticket;
	struct rating rating;
	uint32_t sets;
	uint64_t first_set;    /* the ladder's, in which it first sat; from 1 */
	uint64_t longest_sets; /* passed over while it waited */
	int64_t longest_us;
};

struct sim_set {
	size_t bots[LIMIT_SEATS];
	int64_t begun_us, ends_us; /* ends_us 0: none */
};

struct sim {
	enum sim_policy policy;
	unsigned seats;
	unsigned max_running; /* sets at a time; 0: as many as can be */
	size_t nbots;
	struct sim_bot bots[SIM_BOTS];
	unsigned met[SIM_BOTS][SIM_BOTS]; /* sets */
	uint64_t random;
	int64_t now_us, wake_us;
	uint64_t next_ticket, nsets; /* begun */
	struct sim_set running[SIM_BOTS / 2];
	unsigned nrunning;
	struct pairing pairing;
};

/* NBOTS bots of strengths drawn like new ratings, each its owner's only one,
 * 1 s a match, always there. Change them before the first sim_run(). */
void sim_init(struct sim *sim, enum sim_policy policy, unsigned seats,
	      size_t nbots, uint64_t seed);
void sim_release(struct sim *sim);
/* Add one more bot like those of sim_init(), there from now on; its place. */
size_t sim_add(struct sim *sim);
/* Bots of unlike speed that come and go. */
void sim_make_lively(struct sim *sim);
/* Until the next set has ended and is rated; that set, or NULL when nothing
 * will ever happen any more. */
const struct sim_set *sim_run(struct sim *sim);

/* Between 0 and 1. */
double sim_random(uint64_t *random);
double sim_normal(uint64_t *random);
/* Spearman's correlation of the bots' means with their strengths. */
double sim_correlation(const struct sim *sim);
/* The rank of BOT among all by strength or by mean; 0 is the best. */
size_t sim_true_rank(const struct sim *sim, size_t bot);
size_t sim_rank(const struct sim *sim, size_t bot);

#endif
