/* SPDX-License-Identifier: MIT */
/*
 * tournament_swiss_pairs.c - who meets whom in a round, two by two.
 *
 * Among those who are level the upper half meets the lower one, first against
 * first; who is left over goes down to the next. The one who stands highest
 * takes the opponent it should rather have, among those it has not met - if
 * the others can still be paired up without a rematch. So a round has no
 * rematch whenever a round without one exists; where none does, as few
 * meetings as possible are allowed again. With an odd number the lowest of
 * those with the fewest byes that leaves such a round has the bye.
 *
 * Whether the others can be paired up is known without a look as long as they
 * are many: if none of K entrants has met half of them they can (Dirac 1952:
 * there is a cycle through all), and nobody has met more than there were
 * rounds. The last ones are a graph with a matching of all (Edmonds). The one
 * who stands highest leaves it, and leaves its mate alone; whom it may take are
 * those who could be alone instead.
 */
#include "server/ladder/tournament_swiss.h"

#include <stdlib.h>
#include <string.h>

struct pairs {
	struct swiss_round *round;
	bool has_graph;
	struct tournament_graph graph; /* of those who are left, all paired */
	/* Of the one who looks for an opponent: */
	uint32_t first;
	uint32_t widow;   /* its mate, alone; in the graph */
	bool is_searched; /* graph.even says who can be taken */
};

/* ---- the graph, and a bye ---- */

/* Those who are left are all there are, and are numbered anew. */
static void close_ranks(struct swiss_round *round)
{
	unsigned from = 0, to = 0;

	for (; (from = bits_next(round->left, from, round->n)) < round->n;
	     from++) {
		round->order[to] = round->order[from];
		round->ends[to] =
			to + bits_count(round->left, from, round->ends[from]);
		to++;
	}
	round->n = to;
	memset(round->left, 0, bits_words(to) * sizeof(uint64_t));
	for (unsigned i = 0; i < to; i++)
		bits_add(round->left, i);
}

/* All who are there, in a graph; who has met more than MOST times may not. */
static void fill_graph(struct pairs *pairs, unsigned most)
{
	const struct swiss_round *round = pairs->round;

	tournament_graph_init(&pairs->graph, round->n);
	for (unsigned a = 0; a < round->n; a++) {
		tournament_graph_add(&pairs->graph, a);
		for (unsigned b = 0; b < a; b++)
			if (swiss_met(round, a, b) <= most)
				tournament_graph_allow(&pairs->graph, a, b);
	}
}

/* One of those who are left, an odd number, has a bye; the rest are paired. */
static void leave_one(struct pairs *pairs)
{
	struct tournament_graph *graph = &pairs->graph;
	uint32_t alone = bits_next(graph->alone, 0, graph->count);
	uint32_t who, mate;

	if (tournament_match_one(graph, alone))
		abort(); /* there is nobody else to be alone with */
	who = swiss_choose_bye(pairs->round, graph->even);
	mate = tournament_graph_drop(graph, who);
	if (mate != graph->count && !tournament_match_one(graph, alone))
		abort();
	swiss_bye(pairs->round, who);
}

/* All who are left are paired in a graph: with as few rematches as can be. */
static void begin_graph(struct pairs *pairs)
{
	unsigned is_odd = pairs->round->nleft % 2;

	close_ranks(pairs->round);
	for (unsigned most = 0;; most++) {
		fill_graph(pairs, most);
		if (tournament_match_all(&pairs->graph, is_odd))
			break;
		tournament_graph_release(&pairs->graph);
	}
	pairs->has_graph = true;
	if (is_odd != 0)
		leave_one(pairs);
}

/* ---- an opponent ---- */

static void begin_first(struct pairs *pairs)
{
	pairs->first = bits_next(pairs->round->left, 0, pairs->round->n);
	pairs->is_searched = false;
	if (pairs->has_graph)
		pairs->widow =
			tournament_graph_drop(&pairs->graph, pairs->first);
}

/* Take WHO as the first one's opponent if the others can be paired then. */
static bool take(struct pairs *pairs, uint32_t who)
{
	struct tournament_graph *graph = &pairs->graph;

	if (!pairs->has_graph)
		return swiss_met(pairs->round, pairs->first, who) == 0;
	if (!tournament_graph_may(graph, pairs->first, who))
		return false;
	if (who == pairs->widow) {
		(void)tournament_graph_drop(graph, who);
		return true;
	}
	if (tournament_match_near(graph, pairs->widow, who))
		return true;
	if (!pairs->is_searched && tournament_match_one(graph, pairs->widow))
		abort(); /* all others have mates */
	pairs->is_searched = true;
	if (!bits_has(graph->even, who))
		return false;
	(void)tournament_graph_drop(graph, who);
	if (!tournament_match_one(graph, pairs->widow))
		abort(); /* it leads to the mate that WHO has left */
	return true;
}

/*
 * The wished-for opponent of the first one, and where the group ends that it
 * is of.
 */
static uint32_t wish(const struct pairs *pairs, unsigned *ret_end)
{
	const struct swiss_round *round = pairs->round;
	uint32_t first = pairs->first;
	unsigned count;

	*ret_end = round->ends[first];
	count = bits_count(round->left, first, *ret_end);
	if (count > 1)
		return bits_nth(round->left, count / 2, first, *ret_end);
	/* Left over: the best of the next group. */
	first = bits_next(round->left, *ret_end, round->n);
	*ret_end = round->ends[first];
	return first;
}

/* From the wished-for one outwards in its group, then further down. */
static uint32_t find_opponent(struct pairs *pairs)
{
	const uint64_t *left = pairs->round->left;
	unsigned n = pairs->round->n, end;
	uint32_t ideal = wish(pairs, &end), down, up;

	if (take(pairs, ideal))
		return ideal;
	up = down = ideal;
	while (up < end || down > pairs->first) {
		if (up < end)
			up = bits_next(left, up + 1, end);
		if (up < end && take(pairs, up))
			return up;
		if (down > pairs->first) {
			uint32_t at = bits_last(left, pairs->first + 1, down);

			down = at == down ? pairs->first : at;
		}
		if (down > pairs->first && take(pairs, down))
			return down;
	}
	for (up = end; (up = bits_next(left, up, n)) < n; up++)
		if (take(pairs, up))
			return up;
	abort(); /* the matching at hand has one for it */
}

void swiss_pair_off(struct swiss_round *round)
{
	struct pairs pairs = { .round = round };
	/* That many can be paired up, whoever has met whom. */
	unsigned enough = 2 * round->number;

	if (round->nleft - round->nleft % 2 < enough)
		begin_graph(&pairs);
	else if (round->nleft % 2 != 0)
		swiss_bye(round, swiss_choose_bye(round, round->left));
	while (round->nleft > 0) {
		uint32_t pair[2];

		if (!pairs.has_graph && round->nleft - 2 < enough)
			begin_graph(&pairs);
		begin_first(&pairs);
		pair[0] = pairs.first;
		pair[1] = find_opponent(&pairs);
		swiss_leave(round, pair[0]);
		swiss_leave(round, pair[1]);
		swiss_seat(round, pair, 2);
	}
	if (pairs.has_graph)
		tournament_graph_release(&pairs.graph);
}
