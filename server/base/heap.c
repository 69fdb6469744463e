/* SPDX-License-Identifier: MIT */
#include "server/base/heap.h"

#include <assert.h>
#include <stdlib.h>

/* Four children a slot: half the levels of a binary heap, same cache lines. */
enum { CHILDREN = 4, FIRST_SLOTS = 16 };

static void put(struct heap *heap, size_t at, struct heap_slot slot)
{
	heap->slots[at] = slot;
	slot.node->place = at + 1;
}

static void sift_up(struct heap *heap, size_t at, struct heap_slot slot)
{
	while (at > 0) {
		size_t parent = (at - 1) / CHILDREN;

		if (heap->slots[parent].key <= slot.key)
			break;
		put(heap, at, heap->slots[parent]);
		at = parent;
	}
	put(heap, at, slot);
}

static void sift_down(struct heap *heap, size_t at, struct heap_slot slot)
{
	for (;;) {
		size_t child = at * CHILDREN + 1;
		size_t end = child + CHILDREN;
		size_t least = child;

		if (child >= heap->count)
			break;
		if (end > heap->count)
			end = heap->count;
		for (child++; child < end; child++) {
			if (heap->slots[child].key < heap->slots[least].key)
				least = child;
		}
		if (slot.key <= heap->slots[least].key)
			break;
		put(heap, at, heap->slots[least]);
		at = least;
	}
	put(heap, at, slot);
}

/* SLOT goes where AT is now, and from there where its key belongs. */
static void settle(struct heap *heap, size_t at, struct heap_slot slot)
{
	if (at > 0 && heap->slots[(at - 1) / CHILDREN].key > slot.key)
		sift_up(heap, at, slot);
	else
		sift_down(heap, at, slot);
}

void heap_release(struct heap *heap)
{
	for (size_t i = 0; i < heap->count; i++)
		heap->slots[i].node->place = 0;
	free(heap->slots);
	*heap = (struct heap)HEAP_INIT;
}

void heap_set(struct heap *heap, struct heap_node *node, int64_t key)
{
	struct heap_slot slot = { key, node };

	if (node->place != 0) {
		assert(heap->slots[node->place - 1].node == node);
		settle(heap, node->place - 1, slot);
		return;
	}
	if (heap->count == heap->cap) {
		size_t cap = heap->cap == 0 ? FIRST_SLOTS : heap->cap * 2;

		heap->slots =
			xreallocarray(heap->slots, cap, sizeof(*heap->slots));
		heap->cap = cap;
	}
	heap->count++;
	sift_up(heap, heap->count - 1, slot);
}

void heap_remove(struct heap *heap, struct heap_node *node)
{
	struct heap_slot moved;
	size_t at = node->place - 1;

	if (node->place == 0)
		return;
	assert(heap->slots[at].node == node);
	node->place = 0;
	heap->count--;
	moved = heap->slots[heap->count];
	if (moved.node != node)
		settle(heap, at, moved);
}
