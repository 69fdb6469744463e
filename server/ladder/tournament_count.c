/* SPDX-License-Identifier: MIT */
/* tournament_count.c - how many matches there will be. */
#include <stdlib.h>

#include "server/ladder/tournament_internal.h"

/* So many pairings of a round robin, as they are laid out. */
static uint64_t round_robin_pairings(const struct tournament_rules *rules,
				     unsigned entrants)
{
	uint32_t *tables;
	size_t count;

	if (rules->group == 2)
		return (uint64_t)entrants * (entrants - 1) / 2;
	count = tournament_groups(entrants, rules->group, 1, rules->seed,
				  &tables);
	free(tables);
	return count;
}

/* Everybody sits at so many tables that it can have met all others. */
static uint64_t least_tables(unsigned entrants, unsigned group)
{
	uint64_t each = (entrants - 1 + group - 2) / (group - 1);

	return (entrants * each + group - 1) / group;
}

/* PAIRINGS are those of a round robin. */
static void count(const struct tournament_rules *rules, unsigned entrants,
		  uint64_t pairings, uint64_t *ret_min, uint64_t *ret_max)
{
	uint64_t turns = tournament_turns(rules), least = 0, most = 0;
	uint64_t fewest_sets = rules->sets / 2 + 1, most_sets = rules->sets;

	switch (rules->format) {
	case TOURNAMENT_CONTEST:
		least = most = (uint64_t)entrants * rules->rounds;
		fewest_sets = most_sets;
		break;
	case TOURNAMENT_ROUND_ROBIN:
		least = most = pairings;
		fewest_sets = most_sets;
		break;
	case TOURNAMENT_SWISS:
		least = most =
			(uint64_t)rules->rounds * (entrants / rules->group);
		if (rules->group != 2)
			fewest_sets = most_sets;
		break;
	case TOURNAMENT_SINGLE:
		least = most =
			entrants - 1 + (rules->has_third && entrants > 3);
		most_sets += TOURNAMENT_EXTRA_SETS;
		break;
	case TOURNAMENT_DOUBLE:
		least = 2 * (uint64_t)entrants - 2;
		most = least + 1;
		most_sets += TOURNAMENT_EXTRA_SETS;
		break;
	case TOURNAMENT_NFORMATS:
		break;
	}
	*ret_min = least * fewest_sets * turns;
	*ret_max = most * most_sets * turns;
}

void tournament_count(const struct tournament_rules *rules, unsigned entrants,
		      uint64_t *ret_min, uint64_t *ret_max)
{
	uint64_t pairings = rules->format == TOURNAMENT_ROUND_ROBIN
				    ? round_robin_pairings(rules, entrants)
				    : 0;

	count(rules, entrants, pairings, ret_min, ret_max);
}

uint64_t tournament_count_roughly(const struct tournament_rules *rules,
				  unsigned entrants)
{
	uint64_t pairings = rules->format == TOURNAMENT_ROUND_ROBIN
				    ? least_tables(entrants, rules->group)
				    : 0;
	uint64_t least, most;

	count(rules, entrants, pairings, &least, &most);
	return most;
}
