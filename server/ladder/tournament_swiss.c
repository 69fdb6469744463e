/* SPDX-License-Identifier: MIT */
/*
 * tournament_swiss.c - round by round against those who stand equal.
 *
 * Entrants stand by half points, then by seed. Within those who are level the
 * upper half meets the lower one, first against first; who is left over goes
 * down to the next. The one who stands highest takes the opponent it should
 * rather have, among those it has not met - if the others can still be paired
 * up without a rematch, which Edmonds' matching tells. So a round has no
 * rematch whenever a round without one exists; where none does, as few
 * meetings as possible are allowed again. With an odd number the lowest of
 * those with the fewest byes that leaves such a round has the bye.
 *
 * Tables of more than two are filled from the top with those who have met the
 * table's entrants least, and then mended by exchanges between tables.
 */
#include <stdlib.h>
#include <string.h>

#include "server/ladder/tournament_internal.h"

enum { MENDING_PASSES = 8 };

/* A round in the making; entrants are by standing from here on. */
struct pairer {
	struct tournament *tournament;
	uint32_t round;
	unsigned n;        /* entrants that are still in */
	uint32_t *order;   /* by standing: the entrant */
	int64_t *points;   /* likewise: half points */
	uint32_t *byes;    /* likewise: how many */
	uint32_t *met;     /* [a * n + b]: how often */
	uint64_t *places;  /* likewise: the sum of seats it has had */
	bool *may_meet;    /* [a * n + b], for the matching */
	bool *is_in;       /* not paired yet */
	uint32_t *mates;   /* of the matching */
	uint32_t *attempt; /* likewise, while it is tried */
	uint32_t *left;    /* who is not paired yet, by standing */
	unsigned nleft;
};

static void pairer_release(struct pairer *pairer)
{
	free(pairer->order);
	free(pairer->points);
	free(pairer->byes);
	free(pairer->met);
	free(pairer->places);
	free(pairer->may_meet);
	free(pairer->is_in);
	free(pairer->mates);
	free(pairer->attempt);
	free(pairer->left);
}

static int by_standing(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	if (a[0] != b[0])
		return a[0] > b[0] ? -1 : 1;
	return a[1] < b[1] ? -1 : a[1] > b[1];
}

/* Points and byes by entrant; whoever is in, by standing. */
static void rank_entrants(struct pairer *pairer)
{
	const struct tournament *tournament = pairer->tournament;
	uint32_t all = tournament->nentrants;
	int64_t(*keys)[2] = xcalloc(all, sizeof(*keys));
	uint32_t *byes = xcalloc(all, sizeof(*byes));
	int64_t *points = xcalloc(all, sizeof(*points));

	for (size_t i = 0; i < tournament->npairings; i++) {
		const struct tournament_pairing *p = &tournament->pairings[i];

		for (unsigned k = 0; k < p->nentrants; k++) {
			points[p->entrants[k]] += p->half_points[k];
			byes[p->entrants[k]] += p->is_bye;
		}
	}
	for (uint32_t e = 0; e < all; e++) {
		uint32_t out = tournament->out_rounds[e];

		if (out != 0 && out <= pairer->round)
			continue;
		keys[pairer->n][0] = points[e];
		keys[pairer->n++][1] = e;
	}
	qsort(keys, pairer->n, sizeof(*keys), by_standing);
	for (unsigned i = 0; i < pairer->n; i++) {
		pairer->order[i] = (uint32_t)keys[i][1];
		pairer->points[i] = keys[i][0];
		pairer->byes[i] = byes[keys[i][1]];
	}
	free(keys);
	free(byes);
	free(points);
}

static void note_meetings(struct pairer *pairer)
{
	const struct tournament *tournament = pairer->tournament;
	uint32_t *place =
		xcalloc(tournament->nentrants, sizeof(*place)); /* + 1 */

	for (unsigned i = 0; i < pairer->n; i++)
		place[pairer->order[i]] = i + 1;
	for (size_t i = 0; i < tournament->npairings; i++) {
		const struct tournament_pairing *p = &tournament->pairings[i];

		for (unsigned a = 0; a < p->nentrants; a++) {
			uint32_t at_a = place[p->entrants[a]];

			if (at_a == 0)
				continue;
			pairer->places[at_a - 1] += a;
			for (unsigned b = 0; b < p->nentrants; b++) {
				uint32_t at_b = place[p->entrants[b]];

				if (a != b && at_b != 0)
					pairer->met[(at_a - 1) * pairer->n +
						    at_b - 1]++;
			}
		}
	}
	free(place);
}

static void pairer_init(struct pairer *pairer, struct tournament *tournament,
			uint32_t round)
{
	size_t n = tournament->nentrants;

	*pairer = (struct pairer){
		.tournament = tournament,
		.round = round,
		.order = xcalloc(n, sizeof(uint32_t)),
		.points = xcalloc(n, sizeof(int64_t)),
		.byes = xcalloc(n, sizeof(uint32_t)),
		.met = xcalloc(n * n, sizeof(uint32_t)),
		.places = xcalloc(n, sizeof(uint64_t)),
		.may_meet = xcalloc(n * n, sizeof(bool)),
		.is_in = xcalloc(n, sizeof(bool)),
		.mates = xcalloc(n, sizeof(uint32_t)),
		.attempt = xcalloc(n, sizeof(uint32_t)),
		.left = xcalloc(n, sizeof(uint32_t)),
	};
	rank_entrants(pairer);
	note_meetings(pairer);
	for (unsigned i = 0; i < pairer->n; i++) {
		pairer->is_in[i] = true;
		pairer->left[pairer->nleft++] = i;
	}
}

static void leave(struct pairer *pairer, uint32_t who)
{
	unsigned kept = 0;

	pairer->is_in[who] = false;
	for (unsigned i = 0; i < pairer->nleft; i++)
		if (pairer->left[i] != who)
			pairer->left[kept++] = pairer->left[i];
	pairer->nleft = kept;
}

/* Add a pairing of those; who has sat first the least sits first now. */
static void seat(struct pairer *pairer, const uint32_t *who, unsigned count)
{
	uint32_t entrants[LIMIT_SEATS] = { 0 }, places[LIMIT_SEATS] = { 0 };
	uint64_t seed = pairer->tournament->rules.seed;

	for (unsigned i = 0; i < count; i++) {
		unsigned at = i;

		/* A greater sum of seats goes in front. */
		while (at > 0 &&
		       (pairer->places[places[at - 1]] <
				pairer->places[who[i]] ||
			(pairer->places[places[at - 1]] ==
				 pairer->places[who[i]] &&
			 tournament_mix(seed + pairer->round,
					pairer->order[places[at - 1]]) >
				 tournament_mix(seed + pairer->round,
						pairer->order[who[i]])))) {
			places[at] = places[at - 1];
			at--;
		}
		places[at] = who[i];
	}
	for (unsigned i = 0; i < count; i++)
		entrants[i] = pairer->order[places[i]];
	(void)tournament_pair(pairer->tournament, pairer->round, entrants,
			      count);
	for (unsigned i = 0; i < count; i++)
		leave(pairer, who[i]);
}

/* Whether those who are in can be paired, meetings up to MOST allowed. */
static bool is_possible(struct pairer *pairer, uint32_t most)
{
	size_t n = pairer->n;

	for (size_t i = 0; i < n * n; i++)
		pairer->may_meet[i] = pairer->met[i] <= most;
	for (size_t i = 0; i < n; i++) {
		pairer->may_meet[i * n + i] = false;
		pairer->mates[i] = pairer->n;
	}
	return tournament_match_perfect(pairer->may_meet, pairer->n,
					pairer->is_in, pairer->mates);
}

/* Choose the bye where the number is odd, and how often one may meet again. */
static void begin_pairs(struct pairer *pairer)
{
	uint32_t most_byes = 0;

	for (unsigned i = 0; i < pairer->n; i++)
		if (pairer->byes[i] > most_byes)
			most_byes = pairer->byes[i];
	for (uint32_t most = 0;; most++) {
		if (pairer->n % 2 == 0 && is_possible(pairer, most))
			return;
		for (uint32_t byes = 0; pairer->n % 2 == 1 && byes <= most_byes;
		     byes++)
			for (unsigned i = pairer->n; i-- > 0;) {
				if (pairer->byes[i] != byes)
					continue;
				pairer->is_in[i] = false;
				if (is_possible(pairer, most)) {
					leave(pairer, i);
					(void)tournament_bye(pairer->tournament,
							     pairer->round,
							     pairer->order[i]);
					return;
				}
				pairer->is_in[i] = true;
			}
	}
}

/* Pair A with B if the others can still be paired then. */
static bool try_pair(struct pairer *pairer, uint32_t a, uint32_t b)
{
	size_t bytes = pairer->n * sizeof(*pairer->attempt);
	uint32_t none = pairer->n;

	if (!pairer->may_meet[(size_t)a * pairer->n + b])
		return false;
	memcpy(pairer->attempt, pairer->mates, bytes);
	if (pairer->mates[a] != b) {
		pairer->attempt[pairer->mates[a]] = none;
		pairer->attempt[pairer->mates[b]] = none;
	}
	pairer->attempt[a] = pairer->attempt[b] = none;
	pairer->is_in[a] = pairer->is_in[b] = false;
	if (tournament_match_perfect(pairer->may_meet, pairer->n, pairer->is_in,
				     pairer->attempt)) {
		memcpy(pairer->mates, pairer->attempt, bytes);
		return true;
	}
	pairer->is_in[a] = pairer->is_in[b] = true;
	return false;
}

/*
 * The wished-for opponent of who stands first among those left (its place
 * there), and where the group of that one ends.
 */
static unsigned wish(const struct pairer *pairer, unsigned *ret_end)
{
	int64_t points = pairer->points[pairer->left[0]];
	unsigned end = 1, ideal;

	while (end < pairer->nleft &&
	       pairer->points[pairer->left[end]] == points)
		end++;
	ideal = end / 2;
	if (end == 1) { /* left over: the best of the next group */
		ideal = 1;
		points = pairer->points[pairer->left[1]];
		while (end < pairer->nleft &&
		       pairer->points[pairer->left[end]] == points)
			end++;
	}
	*ret_end = end;
	return ideal;
}

/* The opponent for who stands first among those left. */
static uint32_t find_opponent(struct pairer *pairer)
{
	uint32_t first = pairer->left[0];
	unsigned end, ideal = wish(pairer, &end);

	/* In its group from the ideal one outwards, then further down. */
	for (unsigned off = 0; off < end; off++) {
		if (ideal + off < end &&
		    try_pair(pairer, first, pairer->left[ideal + off]))
			return pairer->left[ideal + off];
		if (off > 0 && off < ideal &&
		    try_pair(pairer, first, pairer->left[ideal - off]))
			return pairer->left[ideal - off];
	}
	for (unsigned i = end; i < pairer->nleft; i++)
		if (try_pair(pairer, first, pairer->left[i]))
			return pairer->left[i];
	abort(); /* the matching at hand has one for it */
}

static void pair_off(struct pairer *pairer)
{
	begin_pairs(pairer);
	while (pairer->nleft > 0) {
		uint32_t pair[2] = { pairer->left[0], find_opponent(pairer) };

		seat(pairer, pair, 2);
	}
}

static uint64_t met_at(const struct pairer *pairer, uint32_t who,
		       const uint32_t *table, unsigned count)
{
	uint64_t sum = 0;

	for (unsigned k = 0; k < count; k++)
		if (table[k] != who) {
			uint64_t met =
				pairer->met[(size_t)who * pairer->n + table[k]];

			sum += met * met;
		}
	return sum;
}

/* Exchange A and B, of two tables, if that makes fewer meet again. */
static bool exchange(const struct pairer *pairer, uint32_t *table_a, unsigned a,
		     uint32_t *table_b, unsigned b, unsigned group)
{
	uint32_t who_a = table_a[a], who_b = table_b[b];
	uint64_t before = met_at(pairer, who_a, table_a, group) +
			  met_at(pairer, who_b, table_b, group);

	table_a[a] = who_b;
	table_b[b] = who_a;
	if (met_at(pairer, who_b, table_a, group) +
		    met_at(pairer, who_a, table_b, group) <
	    before)
		return true;
	table_a[a] = who_a;
	table_b[b] = who_b;
	return false;
}

static void mend(const struct pairer *pairer, uint32_t *tables, unsigned count,
		 unsigned group)
{
	bool has_changed = true;

	for (unsigned pass = 0; pass < MENDING_PASSES && has_changed; pass++) {
		has_changed = false;
		for (unsigned i = 0; i < count * group; i++) {
			uint32_t *table = &tables[i / group * group];

			if (met_at(pairer, tables[i], table, group) == 0)
				continue;
			/* The nearest tables first: they stand about equal. */
			for (unsigned k = 0; k < count * group; k++) {
				unsigned j = (i + k) % (count * group);
				uint32_t *other = &tables[j / group * group];

				if (other != table)
					has_changed |= exchange(
						pairer, table, i % group, other,
						j % group, group);
			}
		}
	}
}

/* The lowest of those with the fewest byes. */
static uint32_t choose_bye(const struct pairer *pairer)
{
	uint32_t best = pairer->left[pairer->nleft - 1];

	for (unsigned i = pairer->nleft; i-- > 0;)
		if (pairer->byes[pairer->left[i]] < pairer->byes[best])
			best = pairer->left[i];
	return best;
}

static void fill_table(struct pairer *pairer, uint32_t *table, unsigned group)
{
	table[0] = pairer->left[0];
	leave(pairer, table[0]);
	for (unsigned k = 1; k < group; k++) {
		uint32_t best = pairer->left[0];

		for (unsigned i = 1; i < pairer->nleft; i++)
			if (met_at(pairer, pairer->left[i], table, k) <
			    met_at(pairer, best, table, k))
				best = pairer->left[i];
		table[k] = best;
		leave(pairer, best);
	}
}

static void pair_groups(struct pairer *pairer, unsigned group)
{
	unsigned count = pairer->n / group;
	uint32_t *tables = xcalloc((size_t)count * group, sizeof(*tables));

	while (pairer->nleft % group != 0) {
		uint32_t who = choose_bye(pairer);

		(void)tournament_bye(pairer->tournament, pairer->round,
				     pairer->order[who]);
		leave(pairer, who);
	}
	for (unsigned i = 0; i < count; i++)
		fill_table(pairer, &tables[i * group], group);
	mend(pairer, tables, count, group);
	for (unsigned i = 0; i < count; i++)
		seat(pairer, &tables[i * group], group);
	free(tables);
}

/* The next round; fewer than a pairing's entrants left end it. */
static void make_round(struct tournament *tournament)
{
	unsigned group = tournament->rules.group;
	struct pairer pairer;

	pairer_init(&pairer, tournament, ++tournament->rounds_made);
	if (pairer.n < group)
		tournament->is_over = true;
	else if (group == 2)
		pair_off(&pairer);
	else
		pair_groups(&pairer, group);
	pairer_release(&pairer);
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
