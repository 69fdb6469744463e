/* SPDX-License-Identifier: MIT */
/*
 * heap.h - which of many deadlines comes first.
 *
 * An intrusive min-heap: each object that has a deadline holds a `struct
 * heap_node`, all zero while it is in no heap. Setting, moving and removing
 * cost O(log n); the first is at hand. One thread at a time.
 */
#ifndef HILL_BASE_HEAP_H
#define HILL_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"

struct heap_node {
	size_t place; /* the heap's: 0 for in none, else its slot + 1 */
};

#define HEAP_OF(node_, type, member) \
	((type *)(void *)((char *)(node_)-offsetof(type, member)))

/* The key beside the pointer: comparing touches no object. */
struct heap_slot {
	int64_t key;
	struct heap_node *node; /* borrowed */
};

struct heap {
	struct heap_slot *slots; /* owned */
	size_t count;
	size_t cap;
};

#define HEAP_INIT          \
	{                  \
		NULL, 0, 0 \
	}

/* Free the heap's own memory; the nodes that are in it become free too. */
void heap_release(struct heap *heap);
/* Put NODE in with KEY, or give it that key when it is in already. */
void heap_set(struct heap *heap, struct heap_node *node, int64_t key);
/* Take NODE out; nothing happens when it is in no heap. */
void heap_remove(struct heap *heap, struct heap_node *node);

static inline bool heap_has(const struct heap_node *node)
{
	return node->place != 0;
}

/* The node with the least key, or NULL. It stays in the heap. */
static inline struct heap_node *heap_first(const struct heap *heap)
{
	return heap->count == 0 ? NULL : heap->slots[0].node;
}

/* The least key, or INT64_MAX in an empty heap. */
static inline int64_t heap_first_key(const struct heap *heap)
{
	return heap->count == 0 ? INT64_MAX : heap->slots[0].key;
}

/* The key of NODE, which is in HEAP. */
static inline int64_t heap_key(const struct heap *heap,
			       const struct heap_node *node)
{
	return heap->slots[node->place - 1].key;
}

#endif
