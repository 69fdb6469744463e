/* SPDX-License-Identifier: MIT */
/*
 * tournament_matching.c - whether all can be paired at once: Edmonds' "Paths,
 * trees, and flowers" (1965), by breadth-first search from each node that has
 * no mate; odd cycles are contracted to their base.
 *
 * A search that finds nobody for its root has seen what can be had instead:
 * the nodes that it reached by an even number of steps are those that could
 * stay alone in the root's place, each without another losing its mate.
 */
#include <stdlib.h>
#include <string.h>

#include "server/ladder/tournament_internal.h"

void tournament_graph_init(struct tournament_graph *graph, unsigned count)
{
	unsigned words = bits_words(count);

	*graph = (struct tournament_graph){
		.count = count,
		.words = words,
		.rows = xcalloc((size_t)count * words + 1, sizeof(uint64_t)),
		.in = xcalloc(words + 1, sizeof(uint64_t)),
		.alone = xcalloc(words + 1, sizeof(uint64_t)),
		.even = xcalloc(words + 1, sizeof(uint64_t)),
		.odd = xcalloc(words + 1, sizeof(uint64_t)),
		.mates = xcalloc(count + 1, sizeof(uint32_t)),
		.parents = xcalloc(count + 1, sizeof(uint32_t)),
		.bases = xcalloc(count + 1, sizeof(uint32_t)),
		.queue = xcalloc(count + 1, sizeof(uint32_t)),
		.marks = xcalloc(count + 1, sizeof(uint32_t)),
		.trail = xcalloc(2 * (size_t)count + 1, sizeof(uint32_t)),
	};
}

void tournament_graph_release(struct tournament_graph *graph)
{
	free(graph->rows);
	free(graph->in);
	free(graph->alone);
	free(graph->even);
	free(graph->odd);
	free(graph->mates);
	free(graph->parents);
	free(graph->bases);
	free(graph->queue);
	free(graph->marks);
	free(graph->trail);
}

void tournament_graph_add(struct tournament_graph *graph, uint32_t node)
{
	bits_add(graph->in, node);
	bits_add(graph->alone, node);
	graph->mates[node] = graph->count;
	graph->nin++;
}

void tournament_graph_allow(struct tournament_graph *graph, uint32_t a,
			    uint32_t b)
{
	bits_add(&graph->rows[(size_t)a * graph->words], b);
	bits_add(&graph->rows[(size_t)b * graph->words], a);
}

bool tournament_graph_may(const struct tournament_graph *graph, uint32_t a,
			  uint32_t b)
{
	return bits_has(&graph->rows[(size_t)a * graph->words], b);
}

uint32_t tournament_graph_drop(struct tournament_graph *graph, uint32_t node)
{
	uint32_t mate = graph->mates[node];

	if (mate != graph->count) {
		graph->mates[mate] = graph->count;
		bits_add(graph->alone, mate);
	}
	bits_remove(graph->in, node);
	bits_remove(graph->alone, node);
	graph->nin--;
	return mate;
}

static void join(struct tournament_graph *graph, uint32_t a, uint32_t b)
{
	graph->mates[a] = b;
	graph->mates[b] = a;
	bits_remove(graph->alone, a);
	bits_remove(graph->alone, b);
}

/* Of the odd cycles that NODE is in, all in one: the node next to the root. */
static uint32_t base_of(struct tournament_graph *graph, uint32_t node)
{
	uint32_t *bases = graph->bases;

	while (bases[node] != node) {
		bases[node] = bases[bases[node]];
		node = bases[node];
	}
	return node;
}

/* The base that the paths of A and B to the root meet in first. */
static uint32_t common_base(struct tournament_graph *graph, uint32_t a,
			    uint32_t b)
{
	graph->mark++;
	for (;;) {
		a = base_of(graph, a);
		graph->marks[a] = graph->mark;
		if (graph->mates[a] == graph->count)
			break;
		a = graph->parents[graph->mates[a]];
	}
	for (;;) {
		b = base_of(graph, b);
		if (graph->marks[b] == graph->mark)
			return b;
		b = graph->parents[graph->mates[b]];
	}
}

/*
 * Put the cycle's half from NODE to BASE on the trail, from LEN on, and lead
 * back from it to CHILD. Returns where the trail ends.
 */
static size_t follow(struct tournament_graph *graph, uint32_t node,
		     uint32_t base, uint32_t child, size_t len)
{
	while (base_of(graph, node) != base) {
		uint32_t mate = graph->mates[node];

		graph->trail[len++] = node;
		graph->trail[len++] = mate;
		graph->parents[node] = child;
		child = mate;
		node = graph->parents[mate];
	}
	return len;
}

static size_t reach(struct tournament_graph *graph, uint32_t node, size_t end)
{
	bits_add(graph->even, node);
	graph->queue[end] = node;
	return end + 1;
}

/* Returns the queue's new end. */
static size_t contract(struct tournament_graph *graph, uint32_t a, uint32_t b,
		       size_t end)
{
	uint32_t base = common_base(graph, a, b);
	size_t len = follow(graph, a, base, b, 0);

	len = follow(graph, b, base, a, len);
	for (size_t i = 0; i < len; i++) {
		uint32_t node = graph->trail[i];

		graph->bases[base_of(graph, node)] = base;
		if (bits_has(graph->odd, node)) {
			bits_remove(graph->odd, node);
			end = reach(graph, node, end);
		}
	}
	return end;
}

static void turn_path(struct tournament_graph *graph, uint32_t node)
{
	while (node != graph->count) {
		uint32_t parent = graph->parents[node];
		uint32_t next = graph->mates[parent];

		join(graph, node, parent);
		node = next;
	}
}

/* A node without a mate, but ROOT, that A may have; graph->count: none. */
static uint32_t free_one(const struct tournament_graph *graph, uint32_t a,
			 uint32_t root)
{
	const uint64_t *row = &graph->rows[(size_t)a * graph->words];

	for (unsigned w = 0; w < graph->words; w++) {
		uint64_t part = row[w] & graph->alone[w];

		if (w == root / 64)
			part &= ~(UINT64_C(1) << root % 64);
		if (part != 0)
			return w * 64 + (unsigned)__builtin_ctzll(part);
	}
	return graph->count;
}

/* Look at all that A may have. Returns the queue's new end. */
static size_t expand(struct tournament_graph *graph, uint32_t a, size_t end)
{
	const uint64_t *row = &graph->rows[(size_t)a * graph->words];

	for (unsigned w = 0; w < graph->words; w++) {
		uint64_t part = row[w] & graph->in[w] & ~graph->odd[w];

		for (; part != 0; part &= part - 1) {
			uint32_t b = w * 64 + (uint32_t)__builtin_ctzll(part);

			if (bits_has(graph->odd, b) ||
			    base_of(graph, a) == base_of(graph, b))
				continue;
			if (bits_has(graph->even, b)) {
				end = contract(graph, a, b, end);
				continue;
			}
			graph->parents[b] = a;
			bits_add(graph->odd, b);
			end = reach(graph, graph->mates[b], end);
		}
	}
	return end;
}

/* The node without a mate that a path from ROOT leads to; count: none. */
static uint32_t search(struct tournament_graph *graph, uint32_t root)
{
	size_t begin = 0, end;

	for (uint32_t i = 0; i < graph->count; i++) {
		graph->parents[i] = graph->count;
		graph->bases[i] = i;
	}
	memset(graph->even, 0, graph->words * sizeof(uint64_t));
	memset(graph->odd, 0, graph->words * sizeof(uint64_t));
	end = reach(graph, root, 0);
	/* All that are in the queue have been reached: nothing is new then. */
	while (begin < end && end < graph->nin) {
		uint32_t a = graph->queue[begin++];
		uint32_t last = free_one(graph, a, root);

		/* Most have one at hand: then no cycle need be looked at. */
		if (last != graph->count) {
			graph->parents[last] = a;
			return last;
		}
		end = expand(graph, a, end);
	}
	return graph->count;
}

bool tournament_match_one(struct tournament_graph *graph, uint32_t root)
{
	uint32_t last = search(graph, root);

	if (last == graph->count)
		return false;
	turn_path(graph, last);
	return true;
}

bool tournament_match_near(struct tournament_graph *graph, uint32_t root,
			   uint32_t who)
{
	const uint64_t *from = &graph->rows[(size_t)root * graph->words];
	uint32_t mate = graph->mates[who];

	if (bits_has(from, mate)) {
		(void)tournament_graph_drop(graph, who);
		join(graph, root, mate);
		return true;
	}
	for (unsigned w = 0; w < graph->words; w++) {
		uint64_t part = from[w] & graph->in[w] & ~graph->alone[w];

		for (; part != 0; part &= part - 1) {
			uint32_t x = w * 64 + (uint32_t)__builtin_ctzll(part);
			uint32_t y = graph->mates[x];

			if (x == who || !tournament_graph_may(graph, y, mate))
				continue;
			(void)tournament_graph_drop(graph, who);
			join(graph, root, x);
			join(graph, y, mate);
			return true;
		}
	}
	return false;
}

bool tournament_match_all(struct tournament_graph *graph, unsigned most_alone)
{
	unsigned alone = 0;
	uint32_t i;

	for (i = 0;
	     (i = bits_next(graph->alone, i, graph->count)) < graph->count;
	     i++) {
		uint32_t other = free_one(graph, i, i);

		if (other != graph->count)
			join(graph, i, other);
	}
	for (i = 0;
	     alone <= most_alone &&
	     (i = bits_next(graph->alone, i, graph->count)) < graph->count;
	     i++)
		alone += !tournament_match_one(graph, i);
	return alone <= most_alone;
}
