/* SPDX-License-Identifier: MIT */
#include "tests/simulate/simulate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double sim_random(uint64_t *random)
{
	uint64_t bits = *random += UINT64_C(0x9e3779b97f4a7c15);

	bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
	bits ^= bits >> 31;
	return (double)((bits >> 11) + 1) * 0x1p-53;
}

/* Box and Muller's, one of the two. */
double sim_normal(uint64_t *random)
{
	double radius = sqrt(-2 * log(sim_random(random)));

	return radius * cos(6.283185307179586 * sim_random(random));
}

static int64_t exponential(uint64_t *random, int64_t mean_us)
{
	return (int64_t)(-log(sim_random(random)) * (double)mean_us) + 1;
}

size_t sim_add(struct sim *sim)
{
	size_t place = sim->nbots++;
	const struct rating_model *model = &rating_model_default;

	assert(place < SIM_BOTS);
	sim->bots[place] = (struct sim_bot){
		.strength = model->mu + model->sigma * sim_normal(&sim->random),
		.think_us = SIM_SECOND,
		.arrives_us = sim->now_us,
		.owner_id = (int64_t)place + 1,
		.rating = rating_new(model),
	};
	return place;
}

void sim_init(struct sim *sim, enum sim_policy policy, unsigned seats,
	      size_t nbots, uint64_t seed)
{
	struct pairing_rules rules = pairing_default_rules(seats);

	memset(sim, 0, sizeof(*sim));
	sim->policy = policy;
	sim->seats = seats;
	sim->random = seed * 1000003;
	while (sim->nbots < nbots)
		(void)sim_add(sim);
	pairing_init(&sim->pairing, &rules, seed);
}

void sim_release(struct sim *sim)
{
	pairing_release(&sim->pairing);
}

void sim_make_lively(struct sim *sim)
{
	for (size_t i = 0; i < sim->nbots; i++) {
		struct sim_bot *bot = &sim->bots[i];

		/* From a third to three times as fast as most. */
		bot->think_us = (int64_t)(exp(0.7 * sim_normal(&sim->random)) *
					  (double)SIM_SECOND);
		if (i % 3 != 0)
			continue;
		bot->stay_us = 300 * SIM_SECOND;
		bot->away_us = 100 * SIM_SECOND;
		bot->arrives_us = exponential(&sim->random, 100 * SIM_SECOND);
	}
}

static void wait_again(struct sim *sim, struct sim_bot *bot)
{
	if (bot->stay_us != 0 && bot->leaves_us <= sim->now_us) {
		bot->state = SIM_ABSENT;
		bot->arrives_us =
			sim->now_us + exponential(&sim->random, bot->away_us);
		return;
	}
	bot->state = SIM_WAITING;
	bot->since_us = sim->now_us;
	bot->since_set = sim->nsets;
	bot->ticket = sim->next_ticket++;
}

/* Who comes, and who has waited enough. */
static void come_and_go(struct sim *sim)
{
	for (size_t i = 0; i < sim->nbots; i++) {
		struct sim_bot *bot = &sim->bots[i];

		if (bot->state == SIM_ABSENT &&
		    bot->arrives_us <= sim->now_us) {
			bot->leaves_us =
				bot->stay_us == 0
					? INT64_MAX
					: sim->now_us +
						  exponential(&sim->random,
							      bot->stay_us);
			wait_again(sim, bot);
		} else if (bot->state == SIM_WAITING &&
			   bot->leaves_us <= sim->now_us) {
			wait_again(sim, bot);
		}
	}
}

static bool is_owner_seated(const struct sim *sim, const size_t *table,
			    unsigned seated, size_t bot)
{
	for (unsigned i = 0; i < seated; i++) {
		if (sim->bots[table[i]].owner_id == sim->bots[bot].owner_id)
			return true;
	}
	return false;
}

/* The table of the policies that look at no rating. */
static bool choose_blindly(struct sim *sim, size_t *table)
{
	double keys[SIM_BOTS];

	for (size_t i = 0; i < sim->nbots; i++)
		keys[i] = sim->policy == SIM_RANDOM
				  ? sim_random(&sim->random)
				  : (double)sim->bots[i].ticket;
	for (unsigned seated = 0; seated < sim->seats; seated++) {
		size_t best = SIM_BOTS;

		for (size_t i = 0; i < sim->nbots; i++) {
			if (sim->bots[i].state == SIM_WAITING &&
			    !is_owner_seated(sim, table, seated, i) &&
			    (best == SIM_BOTS || keys[i] < keys[best]))
				best = i;
		}
		if (best == SIM_BOTS)
			return false;
		table[seated] = best;
	}
	return true;
}

static bool choose_well(struct sim *sim, size_t *table)
{
	struct pairing_candidate waiting[SIM_BOTS];
	size_t places[SIM_BOTS], count = 0, nbusy = 0;
	struct pairing_table chosen;

	for (size_t i = 0; i < sim->nbots; i++) {
		const struct sim_bot *bot = &sim->bots[i];

		nbusy += bot->state == SIM_PLAYING;
		if (bot->state != SIM_WAITING)
			continue;
		places[count] = i;
		waiting[count++] = (struct pairing_candidate){
			.bot_id = i + 1,
			.owner_id = bot->owner_id,
			.mu = bot->rating.mu,
			.sigma = bot->rating.sigma,
			.rounds = bot->sets,
			.is_house = bot->is_house,
			.is_new_version = bot->is_new_version,
			.predecessor_mu = bot->predecessor_mu,
			.waiting_since_us = bot->since_us,
			.waiting_since_set = bot->since_set,
		};
	}
	if (pairing_next(&sim->pairing, waiting, count, nbusy, sim->now_us,
			 &chosen) == PAIRING_WAIT) {
		sim->wake_us = chosen.until_us;
		return false;
	}
	for (unsigned i = 0; i < sim->seats; i++)
		table[i] = places[chosen.seats[i]];
	return true;
}

static void begin(struct sim *sim, const size_t *table)
{
	struct sim_set *set = &sim->running[sim->nrunning++];
	uint64_t ids[LIMIT_SEATS];
	int64_t think_us = 0;

	for (unsigned i = 0; i < sim->seats; i++) {
		struct sim_bot *bot = &sim->bots[table[i]];
		uint64_t passed = sim->nsets - bot->since_set;
		int64_t waited_us = sim->now_us - bot->since_us;

		if (passed > bot->longest_sets)
			bot->longest_sets = passed;
		if (waited_us > bot->longest_us)
			bot->longest_us = waited_us;
		if (bot->first_set == 0)
			bot->first_set = sim->nsets + 1;
		bot->state = SIM_PLAYING;
		ids[i] = table[i] + 1;
		set->bots[i] = table[i];
		think_us += bot->think_us;
		for (unsigned k = 0; k < sim->seats; k++)
			sim->met[table[i]][table[k]] += k != i;
	}
	think_us = (int64_t)((double)think_us * sim->seats *
			     (0.8 + 0.4 * sim_random(&sim->random)));
	set->begun_us = sim->now_us;
	set->ends_us = sim->now_us + think_us;
	sim->nsets++;
	pairing_note_begun(&sim->pairing, ids, sim->seats);
}

static void begin_what_can(struct sim *sim)
{
	size_t table[LIMIT_SEATS];

	sim->wake_us = INT64_MAX;
	while (sim->max_running == 0 || sim->nrunning < sim->max_running) {
		bool is_chosen = sim->policy == SIM_PAIRING
					 ? choose_well(sim, table)
					 : choose_blindly(sim, table);

		if (!is_chosen)
			return;
		begin(sim, table);
	}
}

/* Add the places of one match to SUMS. */
static void play_match(struct sim *sim, const struct sim_set *set,
		       unsigned *sums)
{
	double shown[LIMIT_SEATS];

	for (unsigned i = 0; i < sim->seats; i++) {
		const struct sim_bot *bot = &sim->bots[set->bots[i]];

		shown[i] = bot->throws
				   ? -1000
				   : bot->strength +
					     rating_model_default.beta *
						     sim_normal(&sim->random);
	}
	for (unsigned i = 0; i < sim->seats; i++) {
		for (unsigned k = 0; k < sim->seats; k++)
			sums[i] += shown[k] > shown[i];
	}
}

static void rate(struct sim *sim, const struct sim_set *set)
{
	struct rating ratings[LIMIT_SEATS];
	unsigned sums[LIMIT_SEATS] = { 0 };

	for (unsigned i = 0; i < sim->seats; i++) {
		ratings[i] = sim->bots[set->bots[i]].rating;
		play_match(sim, set, sums);
	}
	if (rating_update(&rating_model_default, ratings, sums, sim->seats) !=
	    0)
		abort(); /* ratings of our own are valid */
	for (unsigned i = 0; i < sim->seats; i++) {
		struct sim_bot *bot = &sim->bots[set->bots[i]];

		bot->rating = ratings[i];
		bot->sets++;
		wait_again(sim, bot);
	}
}

/* When something happens next. */
static int64_t next_event_us(const struct sim *sim)
{
	int64_t next_us = sim->wake_us;

	for (size_t i = 0; i < sim->nbots; i++) {
		const struct sim_bot *bot = &sim->bots[i];
		int64_t at_us = bot->state == SIM_ABSENT    ? bot->arrives_us
				: bot->state == SIM_WAITING ? bot->leaves_us
							    : INT64_MAX;

		if (at_us > sim->now_us && at_us < next_us)
			next_us = at_us;
	}
	for (unsigned i = 0; i < sim->nrunning; i++) {
		if (sim->running[i].ends_us < next_us)
			next_us = sim->running[i].ends_us;
	}
	return next_us;
}

const struct sim_set *sim_run(struct sim *sim)
{
	static struct sim_set ended;

	for (;;) {
		int64_t next_us;

		come_and_go(sim);
		begin_what_can(sim);
		next_us = next_event_us(sim);
		if (next_us == INT64_MAX)
			return NULL;
		sim->now_us = next_us;
		for (unsigned i = 0; i < sim->nrunning; i++) {
			if (sim->running[i].ends_us > sim->now_us)
				continue;
			ended = sim->running[i];
			sim->running[i] = sim->running[--sim->nrunning];
			pairing_note_ended(&sim->pairing,
					   ended.ends_us - ended.begun_us);
			rate(sim, &ended);
			return &ended;
		}
	}
}

size_t sim_true_rank(const struct sim *sim, size_t bot)
{
	size_t rank = 0;

	for (size_t i = 0; i < sim->nbots; i++)
		rank += sim->bots[i].strength > sim->bots[bot].strength;
	return rank;
}

size_t sim_rank(const struct sim *sim, size_t bot)
{
	size_t rank = 0;

	for (size_t i = 0; i < sim->nbots; i++) {
		double mu = sim->bots[i].rating.mu;

		rank += mu > sim->bots[bot].rating.mu ||
			(!(mu < sim->bots[bot].rating.mu) && i < bot);
	}
	return rank;
}

double sim_correlation(const struct sim *sim)
{
	double n = (double)sim->nbots, sum = 0;

	for (size_t i = 0; i < sim->nbots; i++) {
		double apart = (double)sim_rank(sim, i) -
			       (double)sim_true_rank(sim, i);

		sum += apart * apart;
	}
	return 1 - 6 * sum / (n * (n * n - 1));
}
