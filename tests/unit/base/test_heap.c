/* SPDX-License-Identifier: MIT */
#include "server/base/heap.h"

#include "tests/unit/unit.h"

enum { NODES = 200, STEPS = 20000 };

struct item {
	int64_t key; /* what the heap must think; -1: not in */
	struct heap_node node;
};

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static int64_t least_of(const struct item *items)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < NODES; i++) {
		if (items[i].key >= 0 && items[i].key < least)
			least = items[i].key;
	}
	return least;
}

static void always_knows_the_least_key(void **state)
{
	static struct item items[NODES];
	struct heap heap = HEAP_INIT;
	uint32_t seed = 1;

	(void)state;
	for (size_t i = 0; i < NODES; i++)
		items[i].key = -1;
	for (int step = 0; step < STEPS; step++) {
		struct item *item = &items[next_random(&seed) % NODES];

		if (next_random(&seed) % 3 == 0) {
			heap_remove(&heap, &item->node);
			item->key = -1;
		} else {
			item->key = next_random(&seed) % 500;
			heap_set(&heap, &item->node, item->key);
			assert_int_equal(heap_key(&heap, &item->node),
					 item->key);
		}
		assert_int_equal(heap_has(&item->node), item->key >= 0);
		assert_int_equal(heap_first_key(&heap), least_of(items));
	}
	heap_release(&heap);
	for (size_t i = 0; i < NODES; i++)
		assert_false(heap_has(&items[i].node));
}

static void hands_out_in_order(void **state)
{
	static struct item items[NODES];
	struct heap heap = HEAP_INIT;
	uint32_t seed = 7;
	int64_t last = INT64_MIN;
	struct heap_node *node;
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i < NODES; i++) {
		items[i].key = next_random(&seed) % 50 - 25;
		heap_set(&heap, &items[i].node, items[i].key);
	}
	while ((node = heap_first(&heap)) != NULL) {
		struct item *item = HEAP_OF(node, struct item, node);

		assert_true(item->key >= last);
		last = item->key;
		heap_remove(&heap, node);
		count++;
	}
	assert_int_equal(count, NODES);
	heap_release(&heap);
}

static void removing_what_is_not_in_does_nothing(void **state)
{
	struct heap heap = HEAP_INIT;
	struct heap_node node = { 0 };

	(void)state;
	heap_remove(&heap, &node);
	assert_null(heap_first(&heap));
	assert_true(heap_first_key(&heap) == INT64_MAX);
	heap_release(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(always_knows_the_least_key),
		cmocka_unit_test(hands_out_in_order),
		cmocka_unit_test(removing_what_is_not_in_does_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
