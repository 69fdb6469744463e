/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "clients/run/league.h"

/* ---- the plan ---- */

/* N over K; more than LEAGUE_MATCHES_MAX may come out as any such number. */
static uint64_t choose(unsigned n, unsigned k)
{
	uint64_t ways = 1;

	/* n is at most 32 and k at most 8: ten million at most. */
	for (unsigned i = 1; i <= k; i++)
		ways = ways * (n - k + i) / i;
	return k > n ? 0 : ways;
}

static uint64_t matches_an_instance(const struct league_plan *plan)
{
	return choose(plan->nbots, plan->seats) * plan->seats;
}

static uint64_t seeds_of(const struct league_plan *plan)
{
	uint64_t wide = (uint64_t)plan->last_seed - (uint64_t)plan->first_seed;

	return wide >= LEAGUE_MATCHES_MAX ? LEAGUE_MATCHES_MAX + 1 : wide + 1;
}

unsigned league_matches(const struct league_plan *plan)
{
	uint64_t instances = seeds_of(plan) * plan->nmaps;
	uint64_t each = matches_an_instance(plan);

	if (instances * each > LEAGUE_MATCHES_MAX)
		return 0;
	return (unsigned)(instances * each);
}

unsigned league_instances(const struct league_plan *plan)
{
	return (unsigned)(seeds_of(plan) * plan->nmaps);
}

/* The group NUMBER of PLAN's bots, in the order of a dictionary. */
static void find_group(const struct league_plan *plan, uint64_t number,
		       unsigned *ret)
{
	unsigned bot = 0;

	for (unsigned i = 0; i < plan->seats; bot++) {
		uint64_t with =
			choose(plan->nbots - bot - 1, plan->seats - i - 1);

		if (number < with)
			ret[i++] = bot;
		else
			number -= with;
	}
}

struct league_match league_match(const struct league_plan *plan,
				 unsigned number)
{
	uint64_t each = matches_an_instance(plan);
	uint64_t within = number % each;
	unsigned group[GAME_SEATS_MAX];
	struct league_match ret = { .number = number,
				    .instance = (unsigned)(number / each) };

	ret.map = (unsigned)(ret.instance / seeds_of(plan));
	ret.seed = (int64_t)((uint64_t)plan->first_seed +
			     ret.instance % seeds_of(plan));
	find_group(plan, within / plan->seats, group);
	for (unsigned i = 0; i < plan->seats; i++)
		ret.bots[i] = group[(i + within) % plan->seats];
	return ret;
}

/* ---- the sums ---- */

/* A bot on an instance. */
struct cell {
	unsigned matches;
	double score; /* sum, then mean; NAN unless all were played */
	int64_t points;
};

struct summing {
	const struct league_plan *plan;
	struct league_sums *sums;
	unsigned ninstances;
	struct cell *cells; /* owned; [instance * nbots + bot] */
	double *values;     /* owned; one an instance */
};

static struct cell *cell_of(const struct summing *work, unsigned instance,
			    unsigned bot)
{
	return &work->cells[(size_t)instance * work->plan->nbots + bot];
}

static void count_versus(struct league_versus *versus, bool is_better,
			 bool is_worse)
{
	versus->wins += is_better;
	versus->losses += is_worse;
	versus->draws += !is_better && !is_worse;
}

static void add_seat(struct summing *work, const struct league_match *match,
		     unsigned seat, const struct league_row *row)
{
	const struct league_seat *of = &row->seats[seat];
	struct league_bot *bot = &work->sums->bots[match->bots[seat]];
	struct cell *cell = cell_of(work, match->instance, match->bots[seat]);

	bot->matches++;
	bot->mean += of->score;
	bot->gone += of->reason == GAME_LEFT;
	for (unsigned i = 0; i < MATCH_NFAULTS; i++)
		bot->faults[i] += of->faults[i];
	if (of->max_us > bot->max_us)
		bot->max_us = of->max_us;
	cell->matches++;
	cell->score += of->score;
	cell->points += of->points;
	for (unsigned other = 0; other < work->plan->seats; other++) {
		if (other == seat)
			continue;
		count_versus(&work->sums->versus[match->bots[seat]]
						[match->bots[other]],
			     of->rank<row->seats[other].rank, of->rank> row
				     ->seats[other]
				     .rank);
	}
}

/* Sums become means; what is not whole is unknown. */
static void finish_means(struct summing *work)
{
	const struct league_plan *plan = work->plan;
	uint64_t whole = choose(plan->nbots - 1, plan->seats - 1) * plan->seats;

	for (unsigned b = 0; b < plan->nbots; b++) {
		struct league_bot *bot = &work->sums->bots[b];

		bot->mean = bot->matches > 0 ? bot->mean / bot->matches
					     : (double)NAN;
	}
	for (size_t i = 0; i < (size_t)work->ninstances * plan->nbots; i++) {
		struct cell *cell = &work->cells[i];

		cell->score = cell->matches == whole
				      ? cell->score / (double)whole
				      : (double)NAN;
	}
}

static void compare_solo(struct summing *work, unsigned instance, unsigned a)
{
	const struct cell *own = cell_of(work, instance, a);

	for (unsigned b = 0; b < work->plan->nbots; b++) {
		const struct cell *other = cell_of(work, instance, b);

		if (a != b && own->matches > 0 && other->matches > 0)
			count_versus(&work->sums->versus[a][b],
				     own->points > other->points,
				     own->points < other->points);
	}
}

/* What BOT's standing on INSTANCE is judged by. */
static double margin(const struct league_extreme *of)
{
	return isnan(of->others) ? of->score : of->score - of->others;
}

static void take_extremes(struct summing *work, unsigned instance, unsigned b)
{
	struct league_bot *bot = &work->sums->bots[b];
	struct league_extreme here = {
		.is_known = true,
		.instance = instance,
		.score = cell_of(work, instance, b)->score,
		.others = 0,
	};

	for (unsigned i = 0; i < work->plan->nbots; i++) {
		if (i != b)
			here.others += cell_of(work, instance, i)->score;
	}
	if (isnan(here.score) || isnan(here.others))
		return;
	here.others = work->plan->nbots > 1
			      ? here.others / (work->plan->nbots - 1)
			      : (double)NAN;
	if (!bot->worst.is_known || margin(&here) < margin(&bot->worst))
		bot->worst = here;
	if (!bot->best.is_known || margin(&here) > margin(&bot->best))
		bot->best = here;
}

static unsigned best_mean(const struct league_sums *sums, unsigned nbots)
{
	unsigned best = 0;

	for (unsigned b = 1; b < nbots; b++) {
		if (isnan(sums->bots[best].mean) ||
		    sums->bots[b].mean > sums->bots[best].mean)
			best = b;
	}
	return best;
}

static void pair(struct summing *work, unsigned b)
{
	size_t count = 0;

	for (unsigned i = 0; i < work->ninstances; i++) {
		double difference =
			cell_of(work, i, b)->score -
			cell_of(work, i, work->sums->reference)->score;

		if (!isnan(difference))
			work->values[count++] = difference;
	}
	work->sums->bots[b].difference = paired_from(work->values, count);
}

void league_sum(const struct league_plan *plan, const struct league_row *rows,
		int reference, struct league_sums *ret)
{
	struct summing work = { .plan = plan,
				.sums = ret,
				.ninstances = league_instances(plan) };
	unsigned total = league_matches(plan);

	*ret = (struct league_sums){ 0 };
	work.cells = xcalloc((size_t)work.ninstances * plan->nbots,
			     sizeof(*work.cells));
	work.values = xcalloc(work.ninstances, sizeof(*work.values));
	for (unsigned number = 0; number < total; number++) {
		struct league_match match = league_match(plan, number);

		if (!rows[number].is_played)
			continue;
		ret->played++;
		for (unsigned seat = 0; seat < plan->seats; seat++)
			add_seat(&work, &match, seat, &rows[number]);
	}
	finish_means(&work);
	ret->reference = reference >= 0 ? (unsigned)reference
					: best_mean(ret, plan->nbots);
	for (unsigned b = 0; b < plan->nbots; b++) {
		for (unsigned i = 0; i < work.ninstances; i++) {
			if (plan->seats == 1)
				compare_solo(&work, i, b);
			take_extremes(&work, i, b);
		}
		pair(&work, b);
	}
	free(work.cells);
	free(work.values);
}
