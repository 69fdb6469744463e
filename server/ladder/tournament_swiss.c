/* SPDX-License-Identifier: MIT */
/*
 * tournament_swiss.c - round by round against those who stand equal.
 *
 * Entrants stand by half points, then by seed; tournament_swiss_pairs.c and
 * tournament_swiss_tables.c say who meets whom. A round is made when the last
 * result of the one before comes, on whatever thread that is: what it needs of
 * all rounds before is kept, so that only the last one's pairings are looked
 * at.
 */
#include "server/ladder/tournament_swiss.h"

#include <stdlib.h>
#include <string.h>

static struct tournament_swiss *swiss_new(unsigned entrants)
{
	struct tournament_swiss *swiss = xcalloc(1, sizeof(*swiss));
	size_t n = entrants;

	swiss->points = xcalloc(n, sizeof(*swiss->points));
	swiss->byes = xcalloc(n, sizeof(*swiss->byes));
	swiss->places = xcalloc(n, sizeof(*swiss->places));
	swiss->met = xcalloc(n * n, sizeof(*swiss->met));
	return swiss;
}

void tournament_swiss_free(struct tournament_swiss *swiss)
{
	if (swiss == NULL)
		return;
	free(swiss->points);
	free(swiss->byes);
	free(swiss->places);
	free(swiss->met);
	free(swiss);
}

/* Count the pairings that are not in it yet; they are all done. */
static void count_pairings(struct tournament *tournament)
{
	struct tournament_swiss *swiss = tournament->swiss;
	size_t n = tournament->nentrants;

	for (; swiss->npairings < tournament->npairings; swiss->npairings++) {
		const struct tournament_pairing *p =
			&tournament->pairings[swiss->npairings];

		for (unsigned a = 0; a < p->nentrants; a++) {
			swiss->points[p->entrants[a]] += p->half_points[a];
			swiss->byes[p->entrants[a]] += p->is_bye;
			swiss->places[p->entrants[a]] += a;
			for (unsigned b = 0; b < p->nentrants; b++)
				if (a != b)
					swiss->met[p->entrants[a] * n +
						   p->entrants[b]]++;
		}
	}
}

static int by_standing(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	if (a[0] != b[0])
		return a[0] > b[0] ? -1 : 1;
	return a[1] < b[1] ? -1 : a[1] > b[1];
}

/* Whoever is in, by standing. */
static void rank_entrants(struct swiss_round *round)
{
	const struct tournament *tournament = round->tournament;
	int64_t(*keys)[2] = xcalloc(tournament->nentrants, sizeof(*keys));

	for (uint32_t e = 0; e < tournament->nentrants; e++) {
		uint32_t out = tournament->out_rounds[e];

		if (out != 0 && out <= round->number)
			continue;
		keys[round->n][0] = tournament->swiss->points[e];
		keys[round->n++][1] = e;
	}
	qsort(keys, round->n, sizeof(*keys), by_standing);
	for (unsigned i = round->n; i-- > 0;) {
		bool is_last =
			i + 1 == round->n || keys[i][0] != keys[i + 1][0];

		round->order[i] = (uint32_t)keys[i][1];
		round->ends[i] = is_last ? i + 1 : round->ends[i + 1];
		bits_add(round->left, i);
	}
	round->nleft = round->n;
	free(keys);
}

static void round_init(struct swiss_round *round, struct tournament *tournament,
		       uint32_t number)
{
	size_t n = tournament->nentrants;

	*round = (struct swiss_round){
		.tournament = tournament,
		.number = number,
		.order = xcalloc(n, sizeof(*round->order)),
		.ends = xcalloc(n, sizeof(*round->ends)),
		.left = xcalloc(bits_words((unsigned)n), sizeof(uint64_t)),
	};
	count_pairings(tournament);
	rank_entrants(round);
}

static void round_release(struct swiss_round *round)
{
	free(round->order);
	free(round->ends);
	free(round->left);
}

void swiss_leave(struct swiss_round *round, uint32_t who)
{
	bits_remove(round->left, who);
	round->nleft--;
}

void swiss_bye(struct swiss_round *round, uint32_t who)
{
	swiss_leave(round, who);
	(void)tournament_bye(round->tournament, round->number,
			     round->order[who]);
}

uint32_t swiss_choose_bye(const struct swiss_round *round, const uint64_t *may)
{
	uint32_t best = round->n;

	for (unsigned i = round->n; i-- > 0;)
		if (bits_has(may, i) &&
		    (best == round->n ||
		     swiss_byes(round, i) < swiss_byes(round, best)))
			best = i;
	return best;
}

/* Whether A sits before B, who came first; a greater sum of seats does. */
static bool sits_before(const struct swiss_round *round, uint32_t a, uint32_t b)
{
	const uint64_t *places = round->tournament->swiss->places;
	uint64_t seed = round->tournament->rules.seed + round->number;
	uint32_t left = round->order[a], right = round->order[b];

	if (places[left] != places[right])
		return places[left] > places[right];
	return tournament_mix(seed, left) < tournament_mix(seed, right);
}

void swiss_seat(struct swiss_round *round, const uint32_t *who, unsigned count)
{
	uint32_t entrants[LIMIT_SEATS] = { 0 }, places[LIMIT_SEATS] = { 0 };

	for (unsigned i = 0; i < count; i++) {
		unsigned at = i;

		while (at > 0 && sits_before(round, who[i], places[at - 1])) {
			places[at] = places[at - 1];
			at--;
		}
		places[at] = who[i];
	}
	for (unsigned i = 0; i < count; i++)
		entrants[i] = round->order[places[i]];
	(void)tournament_pair(round->tournament, round->number, entrants,
			      count);
}

/* The next round; fewer than a pairing's entrants left end it. */
static void make_round(struct tournament *tournament)
{
	unsigned group = tournament->rules.group;
	struct swiss_round round;

	if (tournament->swiss == NULL)
		tournament->swiss = swiss_new(tournament->nentrants);
	round_init(&round, tournament, ++tournament->rounds_made);
	if (round.n < group)
		tournament->is_over = true;
	else if (group == 2)
		swiss_pair_off(&round);
	else
		swiss_fill_tables(&round);
	round_release(&round);
	if (tournament->rounds_made == tournament->rules.rounds)
		tournament->is_over = true;
}

static void advance(struct tournament *tournament, uint32_t pairing)
{
	(void)pairing;
	if (!tournament->is_over &&
	    tournament->pairings_done == tournament->npairings)
		make_round(tournament);
}

/*
 * Buchholz: the points of all one has met. A bye, and a round after one has
 * left, counts as an opponent with one's own points, who was not beaten.
 */
static void add_opponents(const struct tournament *tournament,
			  struct tournament_standing *row,
			  const struct tournament_standing *table,
			  const uint32_t *half, const uint32_t *meetings)
{
	size_t n = tournament->nentrants;
	int64_t least = INT64_MAX, sum = 0;
	uint64_t met = 0, rounds = tournament->rounds_made;

	for (size_t b = 0; b < n; b++) {
		uint32_t count = meetings[row->entrant * n + b];

		if (count == 0)
			continue;
		met += count;
		sum += count * table[b].half_points;
		row->tie_breaks[2] +=
			half[row->entrant * n + b] * table[b].half_points;
		if (table[b].half_points < least)
			least = table[b].half_points;
	}
	if (rounds * (tournament->rules.group - 1) > met) {
		sum += (int64_t)(rounds * (tournament->rules.group - 1) - met) *
		       row->half_points;
		if (row->half_points < least)
			least = row->half_points;
	}
	row->tie_breaks[0] = sum;
	row->tie_breaks[1] = sum - (least == INT64_MAX ? 0 : least);
	row->tie_breaks[3] = row->wins;
}

static void rank(const struct tournament *tournament,
		 struct tournament_standing *table, const uint32_t *half,
		 const uint32_t *meetings)
{
	for (uint32_t e = 0; e < tournament->nentrants; e++)
		add_opponents(tournament, &table[e], table, half, meetings);
	tournament_rank(table, tournament->nentrants);
}

const struct tournament_format_ops tournament_swiss_ops = { make_round, advance,
							    rank };
