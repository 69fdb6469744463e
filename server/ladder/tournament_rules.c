/* SPDX-License-Identifier: MIT */
/* tournament_rules.c - which rules make a tournament, and what they mean. */
#include <errno.h>
#include <string.h>

#include "server/ladder/tournament_internal.h"

static const char *const format_words[] = {
	[TOURNAMENT_CONTEST] = "contest",
	[TOURNAMENT_ROUND_ROBIN] = "round-robin",
	[TOURNAMENT_SWISS] = "swiss",
	[TOURNAMENT_SINGLE] = "single-elimination",
	[TOURNAMENT_DOUBLE] = "double-elimination",
};

const char *tournament_format_word(enum tournament_format format)
{
	return format_words[format];
}

int tournament_format_find(const char *word, enum tournament_format *ret)
{
	for (int i = 0; i < TOURNAMENT_NFORMATS; i++)
		if (strcmp(format_words[i], word) == 0) {
			*ret = (enum tournament_format)i;
			return 0;
		}
	return -EINVAL;
}

bool tournament_is_elimination(enum tournament_format format)
{
	return format == TOURNAMENT_SINGLE || format == TOURNAMENT_DOUBLE;
}

bool tournament_is_best_of(enum tournament_format format)
{
	return format == TOURNAMENT_SWISS || tournament_is_elimination(format);
}

unsigned tournament_turns(const struct tournament_rules *rules)
{
	if (rules->seats == 1 || rules->is_rotated)
		return rules->group;
	return 1;
}

static const char *refuse_shape(const struct tournament_rules *rules,
				unsigned entrants)
{
	if (rules->seats < 1 || rules->seats > LIMIT_SEATS)
		return "a match has 1 to 8 seats";
	if (rules->sets < 1 || rules->sets > TOURNAMENT_SETS_MAX)
		return "a pairing has 1 to 99 sets";
	if (rules->format == TOURNAMENT_CONTEST) {
		if (rules->seats != 1)
			return "a contest is for games of one seat";
		if (rules->group != 1 || rules->sets != 1)
			return "a contest has neither groups nor sets";
	} else if (rules->group < 2 || rules->group > LIMIT_SEATS) {
		return "a pairing has 2 to 8 entrants";
	}
	if (rules->seats > 1 && rules->group != rules->seats)
		return "a pairing has as many entrants as the game has seats";
	if (tournament_is_elimination(rules->format) && rules->group != 2)
		return "an elimination is for pairings of 2";
	if (entrants < rules->group || entrants < 2)
		return "there are too few entrants";
	if (entrants > TOURNAMENT_ENTRANTS_MAX)
		return "there are more than 1024 entrants";
	if (rules->has_third && rules->format != TOURNAMENT_SINGLE)
		return "only a single elimination has a third place pairing";
	if (rules->is_rotated && rules->seats == 1)
		return "a game of one seat has nothing to rotate";
	return NULL;
}

const char *tournament_refusal(const struct tournament_rules *rules,
			       unsigned entrants)
{
	const char *why = refuse_shape(rules, entrants);

	if (why != NULL)
		return why;
	switch (rules->format) {
	case TOURNAMENT_CONTEST:
		if (rules->rounds < 1 || rules->rounds > TOURNAMENT_ROUNDS_MAX)
			return "a contest has 1 to 10000 instances";
		break;
	case TOURNAMENT_SWISS:
		if (rules->rounds < 1)
			return "a Swiss tournament has at least 1 round";
		if (rules->group == 2 &&
		    rules->rounds > entrants - (entrants % 2 == 0))
			return "in so many rounds somebody meets somebody "
			       "twice";
		if (rules->rounds > TOURNAMENT_ENTRANTS_MAX)
			return "there are more than 1024 rounds";
		break;
	case TOURNAMENT_ROUND_ROBIN:
	case TOURNAMENT_SINGLE:
	case TOURNAMENT_DOUBLE:
		if (rules->rounds != 0)
			return "rounds are for a contest or Swiss";
		break;
	case TOURNAMENT_NFORMATS:
		return "there is no such format";
	}
	if (tournament_count_roughly(rules, entrants) > TOURNAMENT_MATCHES_MAX)
		return "there would be more than 100000 matches";
	return NULL;
}

const char *tournament_plan_refusal(const struct tournament_rules *rules,
				    unsigned entrants)
{
	const char *why = tournament_refusal(rules, entrants);
	uint64_t least, most;

	if (why != NULL)
		return why;
	if (rules->format == TOURNAMENT_SWISS &&
	    entrants * rules->rounds > TOURNAMENT_SWISS_MAX)
		return "entrants times rounds of a Swiss tournament are more "
		       "than 40960";
	tournament_count(rules, entrants, &least, &most);
	if (most > TOURNAMENT_MATCHES_MAX)
		return "there would be more than 100000 matches";
	return NULL;
}
