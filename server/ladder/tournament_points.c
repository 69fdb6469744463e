/* SPDX-License-Identifier: MIT */
/* tournament_points.c - what sets and pairings are worth, and the table. */
#include <stdlib.h>

#include "server/ladder/tournament_internal.h"

/* 2, 1 or 0: A did better, equally, worse. */
static uint32_t half_points(int64_t a, int64_t b)
{
	return a > b ? 2 : a == b;
}

static uint32_t solo_versus(const struct tournament_turn *turns, unsigned a,
			    unsigned b)
{
	if (turns[a].absent != 0)
		return 0;
	if (turns[b].absent != 0)
		return 2;
	return half_points(turns[a].points[0], turns[b].points[0]);
}

uint32_t tournament_set_versus(const struct tournament *tournament,
			       uint32_t pairing, uint32_t set, unsigned a,
			       unsigned b)
{
	unsigned nturns = tournament_turns(&tournament->rules);
	unsigned seats = tournament->rules.seats;
	const struct tournament_turn *turns =
		&tournament->sets[pairing].turns[(size_t)set * nturns];
	bool has_a_come = false, has_b_come = false;
	int64_t sum_a = 0, sum_b = 0; /* of ranks */

	if (seats == 1)
		return solo_versus(turns, a, b);
	for (unsigned k = 0; k < nturns; k++) {
		unsigned seat_a = tournament_seat_of(tournament, a, set, k);
		unsigned seat_b = tournament_seat_of(tournament, b, set, k);
		unsigned absent = turns[k].absent;

		has_a_come |= (absent >> seat_a & 1) == 0;
		has_b_come |= (absent >> seat_b & 1) == 0;
		if (absent == 0) {
			sum_a += turns[k].ranks[seat_a];
			sum_b += turns[k].ranks[seat_b];
		} else {
			sum_a += (absent >> seat_a & 1) != 0 ? seats : 1;
			sum_b += (absent >> seat_b & 1) != 0 ? seats : 1;
		}
	}
	if (!has_a_come)
		return 0;
	return has_b_come ? half_points(sum_b, sum_a) : 2;
}

static bool is_set_done(const struct tournament *tournament, uint32_t pairing,
			uint32_t set)
{
	unsigned nturns = tournament_turns(&tournament->rules);
	const struct tournament_turn *turns = tournament->sets[pairing].turns;

	for (unsigned k = 0; k < nturns; k++)
		if (!turns[(size_t)set * nturns + k].is_done)
			return false;
	return true;
}

/* Over all sets that are decided. */
static uint32_t sum_versus(const struct tournament *tournament,
			   uint32_t pairing, unsigned a, unsigned b)
{
	uint32_t done = tournament->pairings[pairing].sets_done, sum = 0;

	/* Of a round robin's the later ones may be done first. */
	for (uint32_t set = 0; done > 0; set++)
		if (is_set_done(tournament, pairing, set)) {
			sum += tournament_set_versus(tournament, pairing, set,
						     a, b);
			done--;
		}
	return sum;
}

uint32_t tournament_versus(const struct tournament *tournament,
			   uint32_t pairing, unsigned a, unsigned b)
{
	uint32_t sum_a = sum_versus(tournament, pairing, a, b), sum_b;
	enum tournament_format format = tournament->rules.format;
	const uint32_t *entrants = tournament->pairings[pairing].entrants;

	if (!tournament_is_best_of(format))
		return sum_a;
	sum_b = sum_versus(tournament, pairing, b, a);
	if (sum_a != sum_b)
		return half_points(sum_a, sum_b);
	/* Somebody has to go on: who is seeded higher. */
	if (format != TOURNAMENT_SWISS)
		return entrants[a] < entrants[b] ? 2 : 0;
	return sum_a > 0; /* nobody came: nothing */
}

bool tournament_is_decided(const struct tournament *tournament,
			   uint32_t pairing)
{
	const struct tournament_rules *rules = &tournament->rules;
	uint32_t done = tournament->pairings[pairing].sets_done, a, b;

	if (!tournament_is_best_of(rules->format) || rules->group != 2)
		return done == rules->sets;
	a = sum_versus(tournament, pairing, 0, 1);
	b = sum_versus(tournament, pairing, 1, 0);
	if (done < rules->sets)
		return (a > b ? a - b : b - a) > 2 * (rules->sets - done);
	return rules->format == TOURNAMENT_SWISS || a != b || a == 0 ||
	       done == rules->sets + TOURNAMENT_EXTRA_SETS;
}

void tournament_cross(const struct tournament *tournament,
		      uint32_t *ret_half_points, uint32_t *ret_meetings)
{
	size_t n = tournament->nentrants;
	bool is_best = tournament_is_best_of(tournament->rules.format);

	for (size_t i = 0; i < n * n; i++)
		ret_half_points[i] = ret_meetings[i] = 0;
	for (uint32_t i = 0; i < tournament->npairings; i++) {
		const struct tournament_pairing *pairing =
			&tournament->pairings[i];

		if (pairing->is_bye || pairing->sets_done == 0 ||
		    (is_best && !pairing->is_done))
			continue;
		for (unsigned a = 0; a < pairing->nentrants; a++)
			for (unsigned b = 0; b < pairing->nentrants; b++) {
				size_t at = pairing->entrants[a] * n +
					    pairing->entrants[b];

				if (a == b)
					continue;
				ret_half_points[at] +=
					tournament_versus(tournament, i, a, b);
				ret_meetings[at] +=
					is_best ? 1 : pairing->sets_done;
			}
	}
}

/* What the matches themselves say: totals, scores, faults, absences. */
static void add_matches(const struct tournament *tournament, uint32_t pairing,
			struct tournament_standing *table)
{
	unsigned nturns = tournament_turns(&tournament->rules);
	uint32_t nsets = tournament->rules.sets + TOURNAMENT_EXTRA_SETS;
	const struct tournament_turn *turns = tournament->sets[pairing].turns;
	struct tournament_match match;

	for (uint32_t set = 0; turns != NULL && set < nsets; set++)
		for (unsigned k = 0; k < nturns; k++) {
			const struct tournament_turn *turn =
				&turns[(size_t)set * nturns + k];

			if (tournament_match_at(tournament, pairing, set, k,
						&match) != 0)
				return;
			for (unsigned s = 0; turn->is_done && s < match.nseats;
			     s++) {
				struct tournament_standing *row =
					&table[match.entrants[s]];

				row->forfeits += turn->absent >> s & 1;
				if (turn->absent != 0)
					continue;
				row->total += turn->points[s];
				row->score += turn->scores[s];
				row->faults += turn->faults[s];
			}
		}
}

static void add_versus(const struct tournament *tournament, uint32_t pairing,
		       struct tournament_standing *table)
{
	const struct tournament_pairing *p = &tournament->pairings[pairing];
	bool is_best = tournament_is_best_of(tournament->rules.format);

	if (p->is_bye || (is_best && !p->is_done))
		return;
	for (unsigned a = 0; a < p->nentrants; a++)
		for (unsigned b = 0; b < p->nentrants; b++) {
			struct tournament_standing *row =
				&table[p->entrants[a]];
			uint32_t left = p->sets_done;

			if (a == b)
				continue;
			for (uint32_t set = 0; !is_best && left > 0; set++) {
				uint32_t half;

				if (!is_set_done(tournament, pairing, set))
					continue;
				half = tournament_set_versus(
					tournament, pairing, set, a, b);
				row->wins += half == 2;
				row->draws += half == 1;
				row->losses += half == 0;
				left--;
			}
			if (is_best) {
				uint32_t half = tournament_versus(
					tournament, pairing, a, b);

				row->wins += half == 2;
				row->draws += half == 1;
				row->losses += half == 0;
			}
		}
}

void tournament_standings(const struct tournament *tournament,
			  struct tournament_standing *ret)
{
	size_t n = tournament->nentrants;
	uint32_t *half = xcalloc(n * n, sizeof(*half));
	uint32_t *meetings = xcalloc(n * n, sizeof(*meetings));

	for (size_t i = 0; i < n; i++)
		ret[i] = (struct tournament_standing){ .entrant = (uint32_t)i };
	for (uint32_t i = 0; i < tournament->npairings; i++) {
		const struct tournament_pairing *pairing =
			&tournament->pairings[i];

		if (pairing->is_bye && pairing->nentrants == 1) {
			ret[pairing->entrants[0]].byes++;
			ret[pairing->entrants[0]].half_points +=
				pairing->half_points[0];
		}
		if (pairing->is_bye || !pairing->is_ready)
			continue;
		add_matches(tournament, i, ret);
		if (tournament->rules.group > 1)
			add_versus(tournament, i, ret);
	}
	for (size_t i = 0; i < n; i++)
		ret[i].half_points += 2 * (int64_t)ret[i].wins + ret[i].draws;
	if (tournament->rules.group > 1)
		tournament_cross(tournament, half, meetings);
	tournament->ops->rank(tournament, ret, half, meetings);
	free(half);
	free(meetings);
}

/* As qsort: who is ahead comes first. */
static int by_keys(const void *left, const void *right)
{
	const struct tournament_standing *a = left, *b = right;

	if (a->half_points != b->half_points)
		return a->half_points > b->half_points ? -1 : 1;
	for (unsigned i = 0; i < TOURNAMENT_TIE_BREAKS; i++)
		if (a->tie_breaks[i] != b->tie_breaks[i])
			return a->tie_breaks[i] > b->tie_breaks[i] ? -1 : 1;
	return 0;
}

static int by_keys_then_entrant(const void *left, const void *right)
{
	const struct tournament_standing *a = left, *b = right;
	int order = by_keys(left, right);

	if (order != 0)
		return order;
	return a->entrant < b->entrant ? -1 : a->entrant > b->entrant;
}

void tournament_rank(struct tournament_standing *table, size_t count)
{
	qsort(table, count, sizeof(*table), by_keys_then_entrant);
	for (size_t i = 0; i < count; i++)
		if (i > 0 && by_keys(&table[i - 1], &table[i]) == 0)
			table[i].rank = table[i - 1].rank;
		else
			table[i].rank = (uint32_t)(i + 1);
}

const char *tournament_tie_break_name(enum tournament_format format,
				      unsigned which)
{
	static const char
		*const names[TOURNAMENT_NFORMATS][TOURNAMENT_TIE_BREAKS] = {
			[TOURNAMENT_ROUND_ROBIN] = { "head-to-head",
						     "Sonneborn-Berger",
						     "wins" },
			[TOURNAMENT_SWISS] = { "Buchholz", "Buchholz cut 1",
					       "Sonneborn-Berger", "wins" },
		};

	return which < TOURNAMENT_TIE_BREAKS ? names[format][which] : NULL;
}

unsigned tournament_tie_break_unit(enum tournament_format format,
				   unsigned which)
{
	static const uint8_t
		units[TOURNAMENT_NFORMATS][TOURNAMENT_TIE_BREAKS] = {
			[TOURNAMENT_ROUND_ROBIN] = { 2, 4, 1 },
			[TOURNAMENT_SWISS] = { 2, 2, 4, 1 },
		};

	return which < TOURNAMENT_TIE_BREAKS && units[format][which] != 0
		       ? units[format][which]
		       : 1;
}
