/* SPDX-License-Identifier: MIT */
/* tournament.c - pairings, their sets and matches, and the results so far. */
#include "server/ladder/tournament.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/ladder/tournament_internal.h"

static const struct tournament_format_ops *const all_ops[] = {
	[TOURNAMENT_CONTEST] = &tournament_contest_ops,
	[TOURNAMENT_ROUND_ROBIN] = &tournament_round_robin_ops,
	[TOURNAMENT_SWISS] = &tournament_swiss_ops,
	[TOURNAMENT_SINGLE] = &tournament_elimination_ops,
	[TOURNAMENT_DOUBLE] = &tournament_elimination_ops,
};

/* Steele, Lea and Flood's finalizer (OOPSLA 2014), over both numbers. */
uint64_t tournament_mix(uint64_t seed, uint64_t number)
{
	uint64_t z = seed + (number + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

int64_t tournament_instance_seed(uint64_t seed, uint32_t instance)
{
	/* Not the numbers that pairings are drawn with. */
	return (int64_t)(tournament_mix(~seed, instance) >> 1);
}

/* Sets that a pairing can come to. */
static uint32_t max_sets(const struct tournament_rules *rules)
{
	return rules->sets + (tournament_is_elimination(rules->format)
				      ? TOURNAMENT_EXTRA_SETS
				      : 0);
}

static void grow(struct tournament *tournament, size_t room)
{
	tournament->room = room;
	tournament->pairings = xreallocarray(tournament->pairings, room,
					     sizeof(*tournament->pairings));
	tournament->sets = xreallocarray(tournament->sets, room,
					 sizeof(*tournament->sets));
}

void tournament_reserve(struct tournament *tournament, size_t pairings)
{
	if (tournament->room - tournament->npairings < pairings)
		grow(tournament, tournament->npairings + pairings);
}

static uint32_t add_pairing(struct tournament *tournament, uint32_t round,
			    enum tournament_bracket bracket)
{
	size_t i = tournament->npairings;

	if (i == tournament->room)
		grow(tournament, i == 0 ? 64 : 2 * i);
	tournament->npairings++;
	tournament->pairings[i] = (struct tournament_pairing){
		.number = (uint32_t)i, .round = round, .bracket = bracket
	};
	tournament->sets[i] = (struct tournament_sets){
		.first_instance = (round - 1) * max_sets(&tournament->rules)
	};
	return (uint32_t)i;
}

uint32_t tournament_pair(struct tournament *tournament, uint32_t round,
			 const uint32_t *entrants, unsigned count)
{
	uint32_t number = add_pairing(tournament, round, TOURNAMENT_MAIN);
	struct tournament_pairing *pairing = &tournament->pairings[number];

	pairing->is_ready = true;
	tournament->npairings_known++;
	pairing->nentrants = count;
	memcpy(pairing->entrants, entrants, count * sizeof(*entrants));
	return number;
}

uint32_t tournament_pair_later(struct tournament *tournament, uint32_t round,
			       enum tournament_bracket bracket)
{
	return add_pairing(tournament, round, bracket);
}

uint32_t tournament_bye(struct tournament *tournament, uint32_t round,
			uint32_t entrant)
{
	uint32_t number = tournament_pair(tournament, round, &entrant, 1);
	struct tournament_pairing *pairing = &tournament->pairings[number];

	pairing->is_bye = true;
	pairing->is_done = true;
	pairing->half_points[0] = 2 * (tournament->rules.group - 1);
	tournament->pairings_done++;
	return number;
}

struct tournament *tournament_new(const struct tournament_rules *rules,
				  unsigned entrants, const uint32_t *out_rounds)
{
	struct tournament *tournament = xcalloc(1, sizeof(*tournament));

	/* Else it could be of any size. */
	assert(tournament_refusal(rules, entrants) == NULL);
	tournament->rules = *rules;
	tournament->ops = all_ops[rules->format];
	tournament->nentrants = entrants;
	tournament->out_rounds = xcalloc(entrants, sizeof(uint32_t));
	if (out_rounds != NULL)
		memcpy(tournament->out_rounds, out_rounds,
		       entrants * sizeof(uint32_t));
	tournament->ops->start(tournament);
	return tournament;
}

void tournament_free(struct tournament *tournament)
{
	if (tournament == NULL)
		return;
	for (size_t i = 0; i < tournament->npairings; i++)
		free(tournament->sets[i].turns);
	free(tournament->sets);
	free(tournament->pairings);
	free(tournament->ways);
	tournament_swiss_free(tournament->swiss);
	free(tournament->out_rounds);
	free(tournament);
}

/* How many of a pairing's sets may be begun. */
static uint32_t open_sets(const struct tournament *tournament, uint32_t number)
{
	const struct tournament_pairing *pairing =
		&tournament->pairings[number];

	if (!pairing->is_ready)
		return 0;
	if (!tournament_is_best_of(tournament->rules.format))
		return tournament->rules.sets;
	return pairing->sets_done + tournament->sets[number].taken_back +
	       (pairing->is_done || pairing->is_undecided ? 0 : 1);
}

unsigned tournament_seat_of(const struct tournament *tournament, unsigned a,
			    uint32_t set, uint32_t turn)
{
	unsigned group = tournament->rules.group;

	return (a + group - (set + turn) % group) % group;
}

static void fill_match(const struct tournament *tournament, uint32_t number,
		       uint32_t set, uint32_t turn,
		       struct tournament_match *ret)
{
	const struct tournament_pairing *pairing =
		&tournament->pairings[number];

	*ret = (struct tournament_match){
		.pairing = number,
		.set = set,
		.turn = turn,
		.round = pairing->round,
		.bracket = pairing->bracket,
		.instance = tournament->sets[number].first_instance + set,
		.nseats = tournament->rules.seats,
	};
	if (tournament->rules.seats == 1)
		ret->entrants[0] = pairing->entrants[turn];
	else
		for (unsigned a = 0; a < pairing->nentrants; a++)
			ret->entrants[tournament_seat_of(tournament, a, set,
							 turn)] =
				pairing->entrants[a];
	for (unsigned s = 0; s < ret->nseats; s++)
		if (tournament->out_rounds[ret->entrants[s]] != 0)
			ret->absent |= 1u << s;
}

int tournament_match_at(const struct tournament *tournament, uint32_t pairing,
			uint32_t set, uint32_t turn,
			struct tournament_match *ret)
{
	if (pairing >= tournament->npairings ||
	    tournament->pairings[pairing].is_bye ||
	    set >= open_sets(tournament, pairing) ||
	    turn >= tournament_turns(&tournament->rules))
		return -ENOENT;
	fill_match(tournament, pairing, set, turn, ret);
	return 0;
}

/* Ranks from 1, none behind a gap that nobody's tie explains. */
static bool are_ranks(const uint8_t *ranks, unsigned nseats)
{
	for (unsigned s = 0; s < nseats; s++) {
		unsigned better = 0;

		for (unsigned k = 0; k < nseats; k++)
			better += ranks[k] < ranks[s];
		if (ranks[s] != better + 1)
			return false;
	}
	return true;
}

static struct tournament_turn *turns_of(struct tournament *tournament,
					uint32_t pairing, uint32_t set)
{
	unsigned turns = tournament_turns(&tournament->rules);
	struct tournament_sets *sets = &tournament->sets[pairing];

	if (sets->turns == NULL)
		sets->turns =
			xcalloc((size_t)max_sets(&tournament->rules) * turns,
				sizeof(*sets->turns));
	return &sets->turns[(size_t)set * turns];
}

static void keep_result(struct tournament_turn *turn,
			const struct tournament_result *result, unsigned nseats)
{
	turn->is_done = true;
	turn->absent = (uint8_t)result->absent;
	memcpy(turn->ranks, result->ranks, nseats * sizeof(turn->ranks[0]));
	memcpy(turn->points, result->points, nseats * sizeof(turn->points[0]));
	memcpy(turn->scores, result->scores, nseats * sizeof(turn->scores[0]));
	memcpy(turn->faults, result->faults, nseats * sizeof(turn->faults[0]));
}

void tournament_decide(struct tournament *tournament, uint32_t number)
{
	struct tournament_pairing *pairing = &tournament->pairings[number];

	for (unsigned a = 0; a < pairing->nentrants; a++) {
		pairing->half_points[a] = 0;
		for (unsigned b = 0; b < pairing->nentrants; b++)
			if (a != b)
				pairing->half_points[a] += tournament_versus(
					tournament, number, a, b);
	}
	pairing->is_done = true;
	tournament->pairings_done++;
	while (tournament->first_open < tournament->npairings &&
	       tournament->pairings[tournament->first_open].is_done)
		tournament->first_open++;
	tournament->ops->advance(tournament, number);
}

int tournament_add(struct tournament *tournament,
		   const struct tournament_result *result)
{
	unsigned nturns = tournament_turns(&tournament->rules);
	unsigned nseats = tournament->rules.seats;
	struct tournament_match match;
	struct tournament_turn *turns;
	int err;

	err = tournament_match_at(tournament, result->pairing, result->set,
				  result->turn, &match);
	if (err != 0)
		return err;
	if (result->absent >= 1u << nseats ||
	    (result->absent == 0 && nseats > 1 &&
	     !are_ranks(result->ranks, nseats)))
		return -EINVAL;
	turns = turns_of(tournament, result->pairing, result->set);
	if (turns[result->turn].is_done)
		return -EEXIST;
	keep_result(&turns[result->turn], result, nseats);
	tournament->matches_done++;
	for (unsigned i = 0; i < nturns; i++)
		if (!turns[i].is_done)
			return 0;
	tournament->pairings[result->pairing].sets_done++;
	if (tournament_is_decided(tournament, result->pairing))
		tournament_decide(tournament, result->pairing);
	return 0;
}

int tournament_add_stored(struct tournament *tournament,
			  const struct tournament_result *result,
			  const uint32_t *entrants)
{
	struct tournament_match match;
	int err;

	err = tournament_match_at(tournament, result->pairing, result->set,
				  result->turn, &match);
	if (err != 0)
		return err;
	if (memcmp(match.entrants, entrants,
		   match.nseats * sizeof(*entrants)) != 0)
		return -ESTALE;
	return tournament_add(tournament, result);
}

/* Take the result at TURN away; whether its set was done before. */
static bool clear_turn(struct tournament *tournament, uint32_t number,
		       uint32_t set, uint32_t turn)
{
	unsigned nturns = tournament_turns(&tournament->rules);
	struct tournament_turn *turns = turns_of(tournament, number, set);
	bool was_set_done = true;

	for (unsigned i = 0; i < nturns; i++)
		was_set_done = was_set_done && turns[i].is_done;
	turns[turn] = (struct tournament_turn){ 0 };
	tournament->matches_done--;
	if (was_set_done)
		tournament->pairings[number].sets_done--;
	return was_set_done;
}

static bool has_result(struct tournament *tournament, uint32_t number,
		       uint32_t set, uint32_t turn)
{
	struct tournament_match match;

	return tournament_match_at(tournament, number, set, turn, &match) ==
		       0 &&
	       turns_of(tournament, number, set)[turn].is_done;
}

/* Whether something was made of what SET of a pairing came to. */
static bool is_built_on(struct tournament *tournament, uint32_t number,
			uint32_t set)
{
	const struct tournament_pairing *pairing =
		&tournament->pairings[number];
	unsigned nturns = tournament_turns(&tournament->rules);

	if (!tournament_is_best_of(tournament->rules.format))
		return false;
	if (pairing->is_done && (tournament->rules.format != TOURNAMENT_SWISS ||
				 pairing->round < tournament->rounds_made))
		return true;
	/* The next set is begun when it is known that one is needed. */
	for (unsigned i = 0; i < nturns; i++)
		if (has_result(tournament, number, set + 1, i))
			return true;
	return false;
}

int tournament_forget(struct tournament *tournament, uint32_t number,
		      uint32_t set, uint32_t turn)
{
	struct tournament_pairing *pairing;

	if (!has_result(tournament, number, set, turn))
		return -ENOENT;
	if (is_built_on(tournament, number, set))
		return -ESTALE;
	pairing = &tournament->pairings[number];
	if (!clear_turn(tournament, number, set, turn) || !pairing->is_done)
		return 0;
	pairing->is_done = false;
	memset(pairing->half_points, 0, sizeof(pairing->half_points));
	tournament->pairings_done--;
	if (number < tournament->first_open)
		tournament->first_open = number;
	return 0;
}

int tournament_set_out(struct tournament *tournament, uint32_t entrant,
		       uint32_t round)
{
	if (tournament->out_rounds[entrant] == round)
		return 0;
	if (tournament->rules.format == TOURNAMENT_SWISS &&
	    (tournament->out_rounds[entrant] != 0 ||
	     tournament->rounds_made >= round))
		return -ESTALE;
	tournament->out_rounds[entrant] = round;
	return 0;
}

int tournament_take_back(struct tournament *tournament, uint32_t number,
			 uint32_t set, uint32_t turn)
{
	struct tournament_pairing *pairing;

	if (!has_result(tournament, number, set, turn))
		return -ENOENT;
	if (!clear_turn(tournament, number, set, turn))
		return 0;
	pairing = &tournament->pairings[number];
	tournament->sets[number].taken_back++;
	if (!pairing->is_done || tournament_is_decided(tournament, number))
		return 0;
	/* Its half points stay: they say who went on. */
	pairing->is_done = false;
	pairing->is_undecided = true;
	return 0;
}

size_t tournament_next(const struct tournament *tournament,
		       struct tournament_match *ret, size_t max)
{
	unsigned nturns = tournament_turns(&tournament->rules);
	uint32_t nsets = max_sets(&tournament->rules);
	size_t count = 0;

	/* The first cycle of a round robin before the second. */
	for (uint32_t set = 0; set < nsets; set++)
		for (uint32_t i = (uint32_t)tournament->first_open;
		     i < tournament->npairings; i++) {
			const struct tournament_turn *turns =
				tournament->sets[i].turns;

			if (tournament->pairings[i].is_done ||
			    tournament->pairings[i].is_undecided ||
			    set >= open_sets(tournament, i))
				continue;
			for (unsigned k = 0; k < nturns; k++) {
				if (turns != NULL &&
				    turns[(size_t)set * nturns + k].is_done)
					continue;
				if (count == max)
					return count;
				fill_match(tournament, i, set, k,
					   &ret[count++]);
			}
		}
	return count;
}

bool tournament_is_finished(const struct tournament *tournament)
{
	return tournament->is_over &&
	       tournament->pairings_done == tournament->npairings;
}

size_t tournament_undecided(const struct tournament *tournament)
{
	size_t count = 0;

	for (size_t i = 0; i < tournament->npairings; i++)
		count += tournament->pairings[i].is_undecided;
	return count;
}

uint32_t tournament_round(const struct tournament *tournament)
{
	size_t i = tournament->first_open;

	while (i < tournament->npairings &&
	       (tournament->pairings[i].is_done ||
		tournament->pairings[i].is_undecided))
		i++;
	if (i == tournament->npairings)
		i--;
	return tournament->npairings == 0 ? 1 : tournament->pairings[i].round;
}

const struct tournament_pairing *tournament_pairings(
	const struct tournament *tournament, size_t *ret_count)
{
	*ret_count = tournament->npairings;
	return tournament->pairings;
}

size_t tournament_known(const struct tournament *tournament)
{
	return tournament->npairings_known;
}

uint32_t tournament_matches_done(const struct tournament *tournament)
{
	return tournament->matches_done;
}
