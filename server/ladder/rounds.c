/* SPDX-License-Identifier: MIT */
#include "server/ladder/rounds.h"

#include <math.h>

struct rounds_rules rounds_default_rules(uint32_t runs, int64_t age_us)
{
	return (struct rounds_rules){
		.runs = runs,
		.age_us = age_us,
		.max_open = 16,
		.spread = 25.0 / 3.0,
		.house_wait_us = 20 * INT64_C(1000000),
		.house_settle_sigma = 5.0,
	};
}

int64_t rounds_ends_us(const struct rounds_rules *rules,
		       const struct rounds_open *round)
{
	return round->opened_us + rules->age_us;
}

bool rounds_is_over(const struct rounds_rules *rules,
		    const struct rounds_open *round, int64_t now_us)
{
	return round->runs_stored >= round->runs_wanted ||
	       now_us >= rounds_ends_us(rules, round);
}

static uint32_t runs_taken(const struct rounds_open *round)
{
	return round->runs_stored + round->runs_in_play;
}

/* From when on BOT may have a run of ROUND; INT64_MAX for never. */
static int64_t opens_us(const struct rounds_rules *rules,
			const struct rounds_open *round,
			const struct rounds_bot *bot, int64_t now_us)
{
	if (round->has_owner || rounds_is_over(rules, round, now_us) ||
	    runs_taken(round) >= round->runs_wanted)
		return INT64_MAX;
	if (!bot->is_house)
		return round->opened_us;
	if (bot->sigma > rules->house_settle_sigma && !round->has_author)
		return round->opened_us;
	return round->has_author ? round->opened_us + rules->house_wait_us
				 : INT64_MAX;
}

static double distance(const struct rounds_rules *rules,
		       const struct rounds_open *round,
		       const struct rounds_bot *bot)
{
	return runs_taken(round) == 0
		       ? 0
		       : fabs(bot->mu - round->mu_mean) / rules->spread;
}

static double cost(const struct rounds_rules *rules,
		   const struct rounds_open *round,
		   const struct rounds_bot *bot)
{
	double missing = round->runs_wanted - runs_taken(round);

	return missing / round->runs_wanted + distance(rules, round, bot);
}

/* The oldest round that may be rated as it is, or COUNT. */
static size_t to_replace(const struct rounds_open *rounds, size_t count)
{
	size_t oldest = count;

	for (size_t i = 0; i < count; i++) {
		if (rounds[i].runs_stored < 2 || rounds[i].runs_in_play > 0)
			continue;
		if (oldest == count ||
		    rounds[i].opened_us < rounds[oldest].opened_us)
			oldest = i;
	}
	return oldest;
}

/* When time alone changes what BOT may have. */
static int64_t next_change_us(const struct rounds_rules *rules,
			      const struct rounds_open *rounds, size_t count,
			      const struct rounds_bot *bot, int64_t now_us)
{
	int64_t until_us = INT64_MAX;

	for (size_t i = 0; i < count; i++) {
		int64_t at_us = opens_us(rules, &rounds[i], bot, now_us);
		int64_t old_us = rounds_ends_us(rules, &rounds[i]);

		if (at_us > now_us && at_us < until_us)
			until_us = at_us;
		if (!bot->is_house && old_us > now_us && old_us < until_us)
			until_us = old_us;
	}
	return until_us;
}

enum rounds_verdict rounds_choose(const struct rounds_rules *rules,
				  const struct rounds_open *rounds,
				  size_t count, const struct rounds_bot *bot,
				  int64_t now_us,
				  struct rounds_choice *ret_choice)
{
	bool may_open =
		!bot->is_house || bot->sigma > rules->house_settle_sigma;
	bool has_room = count < rules->max_open;
	struct rounds_choice choice = { count, INT64_MAX };
	bool is_far = true;

	for (size_t i = 0; i < count; i++) {
		if (opens_us(rules, &rounds[i], bot, now_us) > now_us)
			continue;
		if (distance(rules, &rounds[i], bot) <= ROUNDS_FAR)
			is_far = false;
		if (choice.index == count ||
		    cost(rules, &rounds[i], bot) <
			    cost(rules, &rounds[choice.index], bot))
			choice.index = i;
	}
	*ret_choice = choice;
	if (choice.index < count && !(is_far && has_room && may_open))
		return ROUNDS_JOIN;
	if (may_open && has_room)
		return ROUNDS_OPEN;
	if (may_open) {
		ret_choice->index = to_replace(rounds, count);
		if (ret_choice->index < count)
			return ROUNDS_REPLACE;
	}
	ret_choice->until_us =
		next_change_us(rules, rounds, count, bot, now_us);
	return ROUNDS_WAIT;
}
