/* SPDX-License-Identifier: MIT */
/*
 * tournament_matching.c - whether all can be paired at once: Edmonds' "Paths,
 * trees, and flowers" (1965), by breadth-first search from each node that has
 * no mate; odd cycles are contracted to their base.
 */
#include <stdlib.h>
#include <string.h>

#include "server/ladder/tournament_internal.h"

struct graph {
	const bool *pairs;
	const bool *is_in;
	unsigned count;
	uint32_t *mates;
	uint32_t *parents; /* of nodes at odd distance from the root */
	uint32_t *bases;
	uint32_t *queue;
	bool *is_reached; /* at even distance */
	bool *is_marked;  /* scratch: of an odd cycle, or a path */
};

/* The base that the paths of A and B to the root meet in first. */
static uint32_t common_base(struct graph *graph, uint32_t a, uint32_t b)
{
	memset(graph->is_marked, 0, graph->count * sizeof(bool));
	for (;;) {
		a = graph->bases[a];
		graph->is_marked[a] = true;
		if (graph->mates[a] == graph->count)
			break;
		a = graph->parents[graph->mates[a]];
	}
	for (;;) {
		b = graph->bases[b];
		if (graph->is_marked[b])
			return b;
		b = graph->parents[graph->mates[b]];
	}
}

/* Mark the cycle's half from NODE to BASE, and lead back from it to CHILD. */
static void mark_path(struct graph *graph, uint32_t node, uint32_t base,
		      uint32_t child)
{
	while (graph->bases[node] != base) {
		uint32_t mate = graph->mates[node];

		graph->is_marked[graph->bases[node]] = true;
		graph->is_marked[graph->bases[mate]] = true;
		graph->parents[node] = child;
		child = mate;
		node = graph->parents[mate];
	}
}

/* Returns the queue's new end. */
static size_t contract(struct graph *graph, uint32_t a, uint32_t b, size_t end)
{
	uint32_t base = common_base(graph, a, b);

	memset(graph->is_marked, 0, graph->count * sizeof(bool));
	mark_path(graph, a, base, b);
	mark_path(graph, b, base, a);
	for (uint32_t i = 0; i < graph->count; i++) {
		if (!graph->is_marked[graph->bases[i]])
			continue;
		graph->bases[i] = base;
		if (!graph->is_reached[i]) {
			graph->is_reached[i] = true;
			graph->queue[end++] = i;
		}
	}
	return end;
}

static void turn_path(struct graph *graph, uint32_t node)
{
	while (node != graph->count) {
		uint32_t parent = graph->parents[node];
		uint32_t next = graph->mates[parent];

		graph->mates[node] = parent;
		graph->mates[parent] = node;
		node = next;
	}
}

/* A node without a mate that A may be paired with; graph->count: none. */
static uint32_t free_one(const struct graph *graph, uint32_t a, uint32_t root)
{
	const bool *pairs = &graph->pairs[(size_t)a * graph->count];
	uint32_t b = 0;

	while (b < graph->count &&
	       (!pairs[b] || !graph->is_in[b] || b == root ||
		graph->mates[b] != graph->count))
		b++;
	return b;
}

/* Give ROOT a mate, and everybody who has one keeps having one. */
static bool augment(struct graph *graph, uint32_t root)
{
	uint32_t none = graph->count;
	size_t begin = 0, end = 0;

	for (uint32_t i = 0; i < graph->count; i++) {
		graph->parents[i] = none;
		graph->bases[i] = i;
		graph->is_reached[i] = false;
	}
	graph->is_reached[root] = true;
	graph->queue[end++] = root;
	while (begin < end) {
		uint32_t a = graph->queue[begin++];
		uint32_t last = free_one(graph, a, root);

		/* Most have one at hand: then no cycle need be looked at. */
		if (last != none) {
			graph->parents[last] = a;
			turn_path(graph, last);
			return true;
		}
		for (uint32_t b = 0; b < graph->count; b++) {
			uint32_t mate = graph->mates[b];

			if (!graph->is_in[b] ||
			    !graph->pairs[(size_t)a * graph->count + b] ||
			    graph->bases[a] == graph->bases[b] ||
			    graph->mates[a] == b)
				continue;
			if (b == root ||
			    (mate != none && graph->parents[mate] != none)) {
				end = contract(graph, a, b, end);
			} else if (graph->parents[b] == none) {
				graph->parents[b] = a;
				graph->is_reached[mate] = true;
				graph->queue[end++] = mate;
			}
		}
	}
	return false;
}

bool tournament_match_perfect(const bool *pairs, unsigned count,
			      const bool *is_in, uint32_t *mates)
{
	struct graph graph = {
		.pairs = pairs,
		.is_in = is_in,
		.count = count,
		.mates = mates,
		.parents = xcalloc(count, sizeof(uint32_t)),
		.bases = xcalloc(count, sizeof(uint32_t)),
		.queue = xcalloc(count, sizeof(uint32_t)),
		.is_reached = xcalloc(count, sizeof(bool)),
		.is_marked = xcalloc(count, sizeof(bool)),
	};
	bool is_perfect = true;

	for (uint32_t i = 0; i < count && is_perfect; i++)
		if (is_in[i] && mates[i] == count)
			is_perfect = augment(&graph, i);
	free(graph.parents);
	free(graph.bases);
	free(graph.queue);
	free(graph.is_reached);
	free(graph.is_marked);
	return is_perfect;
}
