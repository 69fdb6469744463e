/* SPDX-License-Identifier: MIT */
/*
 * tournament_elimination.c - single and double elimination.
 *
 * All pairings of the bracket are there from the start, in the order of their
 * rounds, so that each comes after those that its entrants come from:
 *
 *	round      1    2    3    4    5    6    7      (8 entrants)
 *	winners    W1   W2   W3
 *	losers          L1   L2   L3   L4
 *	final                               F    reset
 *
 * The losers' odd rounds are among themselves (L1 takes the losers of W1), in
 * the even ones the losers of W2, W3, ... come in, every other time in reverse
 * order so that those who have met meet late. Where entrants are no power of
 * two the best have byes: a seat stays empty, and so does that of its loser.
 */
#include <stdlib.h>
#include <string.h>

#include "server/ladder/tournament_internal.h"

enum { NOWHERE = -1 };

/* Where winner and loser of a pairing go: pairing and place, or NOWHERE. */
struct tournament_way {
	int64_t winner_to, loser_to;
	unsigned winner_place, loser_place;
	unsigned filled; /* bit P: the entrant of place P is known */
};

/* Brackets as they are laid: the pairings of each round. */
struct bracket {
	struct tournament *tournament;
	unsigned levels;      /* 2^levels seats in the first round */
	uint32_t winners[16]; /* first pairing of each winners' round, from 1 */
	uint32_t losers[32];  /* likewise */
};

static unsigned levels_for(unsigned entrants)
{
	unsigned levels = 1;

	while (1u << levels < entrants)
		levels++;
	return levels;
}

/* The seed at PLACE of 2^LEVELS: 1 v 8, 4 v 5, 2 v 7, 3 v 6 (here from 0). */
static uint32_t seed_at(unsigned levels, uint32_t place)
{
	uint32_t seed = 0;

	/* Each halving sets the mirror of the better half beside it. */
	for (unsigned k = 1; k <= levels; k++)
		if ((place >> (levels - k) & 1) != 0)
			seed = (1u << k) - 1 - seed;
	return seed;
}

static uint32_t add_round(struct bracket *bracket, uint32_t round,
			  enum tournament_bracket side, uint32_t count)
{
	uint32_t first = (uint32_t)bracket->tournament->npairings;

	for (uint32_t i = 0; i < count; i++)
		(void)tournament_pair_later(bracket->tournament, round, side);
	return first;
}

static void lead(struct tournament *tournament, bool is_winner, uint32_t from,
		 uint32_t to, unsigned place)
{
	struct tournament_way *way = &tournament->ways[from];

	if (is_winner) {
		way->winner_to = to;
		way->winner_place = place;
	} else {
		way->loser_to = to;
		way->loser_place = place;
	}
}

static void make_ways(struct tournament *tournament)
{
	tournament->ways =
		xcalloc(tournament->npairings, sizeof(*tournament->ways));
	for (size_t i = 0; i < tournament->npairings; i++)
		tournament->ways[i].winner_to = tournament->ways[i].loser_to =
			NOWHERE;
}

static void lead_winners(struct bracket *bracket)
{
	for (unsigned w = 1; w < bracket->levels; w++)
		for (uint32_t i = 0; i < 1u << (bracket->levels - w); i++)
			lead(bracket->tournament, true, bracket->winners[w] + i,
			     bracket->winners[w + 1] + i / 2, i % 2);
}

static void lay_single(struct bracket *bracket)
{
	struct tournament *tournament = bracket->tournament;
	unsigned levels = bracket->levels;
	bool has_third = tournament->rules.has_third && levels > 1;
	uint32_t third = 0;

	for (unsigned w = 1; w < levels; w++)
		bracket->winners[w] = add_round(bracket, w, TOURNAMENT_MAIN,
						1u << (levels - w));
	if (has_third)
		third = add_round(bracket, levels, TOURNAMENT_THIRD, 1);
	bracket->winners[levels] =
		add_round(bracket, levels, TOURNAMENT_FINAL, 1);
	make_ways(tournament);
	lead_winners(bracket);
	for (uint32_t i = 0; has_third && i < 2; i++)
		lead(tournament, false, bracket->winners[levels - 1] + i, third,
		     i);
}

/* Losers' round L has that many pairings. */
static uint32_t losers_count(unsigned levels, unsigned l)
{
	return 1u << (levels - 2 - (l - 1) / 2);
}

static void lead_losers(struct bracket *bracket, uint32_t final)
{
	struct tournament *tournament = bracket->tournament;
	unsigned levels = bracket->levels, last = 2 * (levels - 1);

	for (unsigned l = 1; l < last; l++)
		for (uint32_t i = 0; i < losers_count(levels, l); i++)
			lead(tournament, true, bracket->losers[l] + i,
			     bracket->losers[l + 1] + (l % 2 == 1 ? i : i / 2),
			     l % 2 == 1 ? 0 : i % 2);
	for (uint32_t i = 0; last > 0 && i < 1u << (levels - 1); i++)
		lead(tournament, false, bracket->winners[1] + i,
		     bracket->losers[1] + i / 2, i % 2);
	for (unsigned w = 2; w <= levels; w++) {
		uint32_t count = 1u << (levels - w);

		for (uint32_t i = 0; i < count; i++)
			lead(tournament, false, bracket->winners[w] + i,
			     bracket->losers[2 * (w - 1)] +
				     (w % 2 == 0 ? count - 1 - i : i),
			     1);
	}
	lead(tournament, true, bracket->winners[levels], final, 0);
	if (last > 0)
		lead(tournament, true, bracket->losers[last], final, 1);
	else
		lead(tournament, false, bracket->winners[1], final, 1);
}

static void lay_double(struct bracket *bracket)
{
	unsigned levels = bracket->levels, last = 2 * (levels - 1);
	uint32_t final;

	for (unsigned round = 1; round <= last + 1; round++) {
		if (round <= levels)
			bracket->winners[round] =
				add_round(bracket, round, TOURNAMENT_WINNERS,
					  1u << (levels - round));
		if (round >= 2)
			bracket->losers[round - 1] =
				add_round(bracket, round, TOURNAMENT_LOSERS,
					  losers_count(levels, round - 1));
	}
	final = add_round(bracket, last + 2, TOURNAMENT_FINAL, 1);
	(void)add_round(bracket, last + 3, TOURNAMENT_RESET, 1);
	make_ways(bracket->tournament);
	lead_winners(bracket);
	lead_losers(bracket, final);
}

static void fill(struct tournament *tournament, int64_t to, unsigned place,
		 uint32_t entrant);

static void go_on(struct tournament *tournament, uint32_t number,
		  uint32_t winner, uint32_t loser)
{
	const struct tournament_way *way = &tournament->ways[number];

	fill(tournament, way->winner_to, way->winner_place, winner);
	fill(tournament, way->loser_to, way->loser_place, loser);
}

/* ENTRANT (or NOBODY) comes to a pairing, which may be a bye by that. */
static void fill(struct tournament *tournament, int64_t to, unsigned place,
		 uint32_t entrant)
{
	struct tournament_pairing *pairing;
	bool has_first, has_second;

	if (to == NOWHERE)
		return;
	pairing = &tournament->pairings[to];
	pairing->entrants[place] = entrant;
	tournament->ways[to].filled |= 1u << place;
	if (tournament->ways[to].filled != 3)
		return;
	has_first = pairing->entrants[0] != TOURNAMENT_NOBODY;
	has_second = pairing->entrants[1] != TOURNAMENT_NOBODY;
	pairing->is_ready = has_first && has_second;
	pairing->nentrants = has_first + has_second;
	tournament->npairings_known++;
	if (pairing->is_ready)
		return;
	if (has_second)
		pairing->entrants[0] = pairing->entrants[1];
	pairing->is_bye = pairing->is_done = true;
	tournament->pairings_done++;
	go_on(tournament, pairing->number, pairing->entrants[0],
	      TOURNAMENT_NOBODY);
}

static void start(struct tournament *tournament)
{
	struct bracket bracket = { .tournament = tournament,
				   .levels =
					   levels_for(tournament->nentrants) };

	if (tournament->rules.format == TOURNAMENT_SINGLE)
		lay_single(&bracket);
	else
		lay_double(&bracket);
	for (uint32_t i = 0; i < 1u << bracket.levels; i++) {
		uint32_t seed = seed_at(bracket.levels, i);

		fill(tournament, bracket.winners[1] + i / 2, i % 2,
		     seed < tournament->nentrants ? seed : TOURNAMENT_NOBODY);
	}
	tournament->is_over = true;
}

/* After the final of a double elimination. */
static void finish(struct tournament *tournament, uint32_t number,
		   bool has_second_won)
{
	uint32_t reset = number + 1;

	for (unsigned place = 0; has_second_won && place < 2; place++)
		fill(tournament, reset, place,
		     tournament->pairings[number].entrants[place]);
	if (has_second_won)
		return;
	tournament->pairings[reset].is_bye = true;
	tournament->pairings[reset].is_done = true;
	tournament->pairings_done++;
}

static void advance(struct tournament *tournament, uint32_t number)
{
	const struct tournament_pairing *pairing =
		&tournament->pairings[number];
	bool has_second_won = pairing->half_points[1] > pairing->half_points[0];

	go_on(tournament, number, pairing->entrants[has_second_won],
	      pairing->entrants[!has_second_won]);
	if (pairing->bracket == TOURNAMENT_FINAL &&
	    tournament->rules.format == TOURNAMENT_DOUBLE)
		finish(tournament, number, has_second_won);
}

/* The last pairing, and the one before it when that was the last one played. */
static bool is_last(const struct tournament *tournament, size_t number)
{
	return number + 1 == tournament->npairings ||
	       (number + 2 == tournament->npairings &&
		tournament->pairings[number].bracket == TOURNAMENT_FINAL &&
		tournament->pairings[number + 1].is_bye);
}

/*
 * Who came further is ahead: the round of the defeat that put one out counts.
 * The third place pairing parts those who lost before the final. In one that
 * stays undecided nobody was better, but who went on came further.
 */
static void rank(const struct tournament *tournament,
		 struct tournament_standing *table, const uint32_t *half,
		 const uint32_t *meetings)
{
	bool is_double = tournament->rules.format == TOURNAMENT_DOUBLE;
	uint32_t n = tournament->nentrants;
	unsigned *losses = xcalloc(n, sizeof(*losses));
	int64_t *points = xcalloc(n, sizeof(*points));

	(void)half;
	(void)meetings;
	for (uint32_t e = 0; e < n; e++) {
		points[e] = table[e].half_points;
		table[e].half_points = INT32_MAX;
	}
	for (size_t i = 0; i < tournament->npairings; i++) {
		const struct tournament_pairing *p = &tournament->pairings[i];
		unsigned loser = p->half_points[1] < p->half_points[0];

		if (p->is_bye || !(p->is_done || p->is_undecided))
			continue;
		if (p->bracket == TOURNAMENT_THIRD)
			table[p->entrants[!loser]].half_points += p->is_done;
		else if (p->is_undecided && is_last(tournament, i))
			table[p->entrants[0]].half_points =
				table[p->entrants[1]].half_points =
					2 * p->round;
		else if (++losses[p->entrants[loser]] == 1u + is_double)
			table[p->entrants[loser]].half_points = 2 * p->round;
	}
	tournament_rank(table, n);
	for (uint32_t i = 0; i < n; i++)
		table[i].half_points = points[table[i].entrant];
	free(losses);
	free(points);
}

const struct tournament_format_ops tournament_elimination_ops = { start,
								  advance,
								  rank };
