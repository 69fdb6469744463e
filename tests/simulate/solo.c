/* SPDX-License-Identifier: MIT */
#include "tests/simulate/solo.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "server/ladder/rounds.h"

enum { SOLO_OPEN = 16 }; /* rounds at a time */

struct solo_round {
	struct rounds_open row;
	size_t bots[SOLO_BOTS]; /* in the order of their offers */
	double points[SOLO_BOTS];
	uint32_t nbots;
};

struct solo {
	enum sim_policy policy;
	struct rounds_rules rules;
	struct sim sim; /* bots, chance and time */
	struct solo_round rounds[SOLO_OPEN];
	size_t nrounds;
	uint64_t next_id;
	uint64_t round_of[SOLO_BOTS]; /* in play; 0: none */
	int64_t ends_us[SOLO_BOTS];
	struct solo_figures *figures;
};

static bool has_bot(const struct solo_round *round, size_t bot)
{
	for (uint32_t i = 0; i < round->nbots; i++) {
		if (round->bots[i] == bot)
			return true;
	}
	return false;
}

static void close_round(struct solo *solo, size_t place)
{
	struct solo_round *round = &solo->rounds[place];
	struct rating ratings[SOLO_BOTS];
	unsigned ranks[SOLO_BOTS] = { 0 };
	int64_t age_us = solo->sim.now_us - round->row.opened_us;

	for (uint32_t i = 0; i < round->nbots; i++) {
		ratings[i] = solo->sim.bots[round->bots[i]].rating;
		for (uint32_t k = 0; k < round->nbots; k++)
			ranks[i] += round->points[k] > round->points[i];
	}
	if (rating_update(&rating_model_default, ratings, ranks,
			  round->nbots) != 0)
		abort(); /* it is a round of two or more */
	for (uint32_t i = 0; i < round->nbots; i++)
		solo->sim.bots[round->bots[i]].rating = ratings[i];
	if (age_us > solo->figures->oldest_us)
		solo->figures->oldest_us = age_us;
	solo->nrounds--;
	memmove(round, round + 1,
		(solo->nrounds - place) * sizeof(struct solo_round));
}

static size_t open_round(struct solo *solo)
{
	assert(solo->nrounds < SOLO_OPEN);
	solo->rounds[solo->nrounds] = (struct solo_round){
		.row = { .id = solo->next_id++,
			 .opened_us = solo->sim.now_us,
			 .runs_wanted = solo->rules.runs },
	};
	if (solo->nrounds + 1 > solo->figures->most_open)
		solo->figures->most_open = solo->nrounds + 1;
	return solo->nrounds++;
}

/* A new round, for which an old one may have to make room. */
static size_t make_room(struct solo *solo)
{
	if (solo->nrounds < SOLO_OPEN)
		return open_round(solo);
	for (size_t i = 0; i < solo->nrounds; i++) {
		const struct rounds_open *row = &solo->rounds[i].row;

		if (row->runs_stored < 2 || row->runs_in_play > 0)
			continue;
		close_round(solo, i);
		return open_round(solo);
	}
	return SOLO_OPEN;
}

static size_t choose_blindly(struct solo *solo, size_t bot)
{
	size_t fit[SOLO_OPEN], nfit = 0;

	for (size_t i = 0; i < solo->nrounds; i++) {
		if (!has_bot(&solo->rounds[i], bot) &&
		    solo->rounds[i].nbots < solo->rules.runs)
			fit[nfit++] = i;
	}
	if (nfit == 0)
		return make_room(solo);
	if (solo->policy == SIM_FIRST_COME)
		return fit[0];
	return fit[(size_t)(sim_random(&solo->sim.random) * 0.999999 *
			    (double)nfit)];
}

/* The place of BOT's next round, or SOLO_OPEN: it waits. */
static size_t choose(struct solo *solo, size_t bot)
{
	struct rounds_open rows[SOLO_OPEN];
	struct rounds_choice choice;
	struct rounds_bot who = { .mu = solo->sim.bots[bot].rating.mu,
				  .sigma = solo->sim.bots[bot].rating.sigma };

	if (solo->policy != SIM_PAIRING)
		return choose_blindly(solo, bot);
	for (size_t i = 0; i < solo->nrounds; i++) {
		struct solo_round *round = &solo->rounds[i];

		rows[i] = round->row;
		rows[i].has_owner = has_bot(round, bot);
		rows[i].has_author = true;
		rows[i].mu_mean = 0;
		for (uint32_t k = 0; k < round->nbots; k++)
			rows[i].mu_mean +=
				solo->sim.bots[round->bots[k]].rating.mu /
				round->nbots;
	}
	switch (rounds_choose(&solo->rules, rows, solo->nrounds, &who,
			      solo->sim.now_us, &choice)) {
	case ROUNDS_JOIN:
		return choice.index;
	case ROUNDS_REPLACE:
		close_round(solo, choice.index);
		return open_round(solo);
	case ROUNDS_OPEN:
		return open_round(solo);
	case ROUNDS_WAIT:
		break;
	}
	return SOLO_OPEN;
}

static void begin(struct solo *solo, size_t bot)
{
	size_t place = choose(solo, bot);
	struct solo_round *round;

	if (place == SOLO_OPEN)
		return;
	round = &solo->rounds[place];
	round->bots[round->nbots++] = bot;
	round->row.runs_in_play++;
	solo->round_of[bot] = round->row.id;
	solo->ends_us[bot] = solo->sim.now_us + solo->sim.bots[bot].think_us;
}

static void end(struct solo *solo, size_t bot)
{
	size_t place = 0;
	struct solo_round *round;

	while (solo->rounds[place].row.id != solo->round_of[bot])
		place++;
	round = &solo->rounds[place];
	for (uint32_t i = 0; i < round->nbots; i++) {
		if (round->bots[i] == bot)
			round->points[i] =
				solo->sim.bots[bot].strength +
				rating_model_default.beta *
					sim_normal(&solo->sim.random);
	}
	round->row.runs_in_play--;
	round->row.runs_stored++;
	solo->round_of[bot] = 0;
	if (round->row.runs_stored == round->row.runs_wanted)
		close_round(solo, place);
}

void solo_play(enum sim_policy policy, uint32_t runs, uint64_t seed,
	       double share, double *curve, struct solo_figures *figures)
{
	static struct solo solo;

	memset(&solo, 0, sizeof(solo));
	solo.policy = policy;
	solo.rules = rounds_default_rules(runs, 3600 * SIM_SECOND);
	solo.rules.max_open = SOLO_OPEN;
	solo.next_id = 1;
	solo.figures = figures;
	sim_init(&solo.sim, SIM_RANDOM, 2, SOLO_BOTS, seed);
	sim_make_lively(&solo.sim);
	for (int run = 0; run < SOLO_RUNS; run++) {
		size_t next = SOLO_BOTS;

		for (size_t i = 0; i < SOLO_BOTS; i++) {
			if (solo.round_of[i] == 0)
				begin(&solo, i);
		}
		for (size_t i = 0; i < SOLO_BOTS; i++) {
			if (solo.round_of[i] != 0 &&
			    (next == SOLO_BOTS ||
			     solo.ends_us[i] < solo.ends_us[next]))
				next = i;
		}
		assert(next < SOLO_BOTS);
		solo.sim.now_us = solo.ends_us[next];
		end(&solo, next);
		curve[run] += sim_correlation(&solo.sim) * share;
	}
	sim_release(&solo.sim);
}
