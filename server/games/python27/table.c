/* SPDX-License-Identifier: MIT */
/*
 * table.c - open addressing as CPython 2.7 does it (Objects/dictobject.c and
 * setobject.c describe the behaviour; nothing of them is in here).
 *
 * A slot is one word: x in its upper half, y in its lower. Two words that are
 * no cell stand for an empty slot and for the marker of a deleted key.
 */
#include "server/games/python27/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_EMPTY ((uint64_t)0x80000000u << 32)
#define SLOT_DELETED ((uint64_t)0x80000001u << 32)

enum {
	PERTURB_SHIFT = 5,
	GROW_SLOWLY_FROM = 50000, /* keys; beyond, grow by 2 and not by 4 */
};

static inline uint64_t pack(struct py27_cell cell)
{
	return (uint64_t)(uint32_t)cell.x << 32 | (uint32_t)cell.y;
}

static inline bool is_live(uint64_t key)
{
	return key != SLOT_EMPTY && key != SLOT_DELETED;
}

/* hash(float) of an integral value, and hash(complex) made of two. */
static inline uint64_t hash_of(uint64_t key)
{
	int64_t x = (int32_t)(uint32_t)(key >> 32);
	int64_t y = (int32_t)(uint32_t)key;
	int64_t hash;

	x -= x == -1;
	y -= y == -1;
	hash = x + 1000003 * y;
	return (uint64_t)(hash - (hash == -1));
}

void py27_table_init(struct py27_table *table)
{
	table->keys = table->small.keys;
	table->live = &table->small.live;
	table->values = table->small.values;
	table->size = PY27_TABLE_SMALL;
	table->used = 0;
	table->fill = 0;
	table->is_failed = false;
	for (size_t i = 0; i < PY27_TABLE_SMALL; i++)
		table->small.keys[i] = SLOT_EMPTY;
	table->small.live = 0;
}

void py27_table_release(struct py27_table *table)
{
	if (table != NULL && table->keys != table->small.keys) {
		free(table->keys);
		table->keys = NULL;
	}
}

void py27_table_clear(struct py27_table *table)
{
	/* a fresh table that nobody wrote to is fresh still */
	if (table->fill == 0 && table->keys == table->small.keys) {
		table->is_failed = false;
		return;
	}
	py27_table_release(table);
	py27_table_init(table);
}

/*
 * Walk KEY's probe sequence. Returns the slot that holds it, or -1 and in
 * *RET_FREE the slot that an insertion takes: the first deleted one met, else
 * the empty one at the end.
 */
static inline int32_t probe(const struct py27_table *table, uint64_t key,
			    uint32_t *ret_free)
{
	uint64_t hash = hash_of(key);
	uint64_t mask = table->size - 1;
	uint64_t at = hash & mask;
	uint32_t slot = (uint32_t)at;
	int64_t deleted = -1;

	for (uint64_t perturb = hash;; perturb >>= PERTURB_SHIFT) {
		uint64_t there = table->keys[slot];

		if (there == key)
			return (int32_t)slot;
		if (there == SLOT_EMPTY) {
			*ret_free = deleted < 0 ? slot : (uint32_t)deleted;
			return -1;
		}
		if (there == SLOT_DELETED && deleted < 0)
			deleted = slot;
		at = at * 5 + perturb + 1;
		slot = (uint32_t)(at & mask);
	}
}

int32_t py27_table_find(const struct py27_table *table, struct py27_cell cell)
{
	uint32_t slot = 0;

	return probe(table, pack(cell), &slot);
}

static inline void put(struct py27_table *table, uint32_t slot, uint64_t key,
		       uint8_t value)
{
	table->used++;
	if (table->keys[slot] == SLOT_EMPTY)
		table->fill++;
	table->keys[slot] = key;
	table->values[slot] = value;
	table->live[slot / 64] |= (uint64_t)1 << (slot % 64);
}

/* Insert KEY, which is absent, without a look at the size. */
static void insert_clean(struct py27_table *table, uint64_t key, uint8_t value)
{
	uint32_t slot = 0;
	int32_t found = probe(table, key, &slot);

	assert(found < 0);
	(void)found;
	put(table, slot, key, value);
}

/* Give TABLE an empty block of SIZE slots, more than 8. */
static bool take_block(struct py27_table *table, uint32_t size)
{
	uint32_t nwords = (size + 63) / 64;
	uint64_t *block =
		malloc(((size_t)size + nwords) * sizeof(*block) + size);

	if (block == NULL)
		return false;
	for (uint32_t i = 0; i < size; i++)
		block[i] = SLOT_EMPTY;
	memset(block + size, 0, nwords * sizeof(*block));
	table->keys = block;
	table->live = block + size;
	table->values = (uint8_t *)(block + size + nwords);
	table->size = size;
	table->used = 0;
	table->fill = 0;
	return true;
}

/*
 * Take the smallest size above REQUEST and put all keys in anew, in the order
 * of the old slots; the deleted markers go.
 */
static void resize(struct py27_table *table, uint64_t request)
{
	uint64_t small_keys[PY27_TABLE_SMALL];
	uint8_t small_values[PY27_TABLE_SMALL];
	uint64_t small_live = table->small.live;
	const uint64_t *live = table->live;
	uint64_t *keys = table->keys;
	uint8_t *values = table->values;
	uint64_t *block = keys == table->small.keys ? NULL : keys;
	uint32_t old_size = table->size;
	uint64_t size = PY27_TABLE_SMALL;

	while (size <= request)
		size *= 2;
	if (block == NULL) {
		if (size == PY27_TABLE_SMALL && table->fill == table->used)
			return;
		memcpy(small_keys, keys, sizeof(small_keys));
		memcpy(small_values, values, sizeof(small_values));
		keys = small_keys;
		values = small_values;
		live = &small_live;
	}
	if (size == PY27_TABLE_SMALL) {
		py27_table_init(table);
	} else if (size > INT32_MAX || !take_block(table, (uint32_t)size)) {
		table->is_failed = true;
		return;
	}
	for (uint32_t i = 0; i < old_size; i += 64) {
		for (uint64_t left = live[i / 64]; left != 0;
		     left &= left - 1) {
			uint32_t slot = i + (uint32_t)__builtin_ctzll(left);

			insert_clean(table, keys[slot], values[slot]);
		}
	}
	free(block);
}

/* What follows every insertion but those of make_room()'s callers. */
static inline void grow_if_full(struct py27_table *table)
{
	if ((uint64_t)table->fill * 3 >= (uint64_t)table->size * 2)
		resize(table, (uint64_t)table->used *
				      (table->used > GROW_SLOWLY_FROM ? 2 : 4));
}

static inline void add(struct py27_table *table, uint64_t key, uint8_t value)
{
	uint32_t slot = 0;
	int32_t found;

	if (table->is_failed)
		return;
	found = probe(table, key, &slot);
	if (found >= 0) {
		table->values[found] = value;
		return;
	}
	put(table, slot, key, value);
	grow_if_full(table);
}

void py27_table_add(struct py27_table *table, struct py27_cell cell,
		    uint8_t value)
{
	add(table, pack(cell), value);
}

static inline bool take_out(struct py27_table *table, uint64_t key)
{
	uint32_t unused = 0;
	int32_t slot;

	if (table->is_failed)
		return false;
	slot = probe(table, key, &unused);
	if (slot < 0)
		return false;
	table->keys[slot] = SLOT_DELETED;
	table->live[slot / 64] &= ~((uint64_t)1 << (slot % 64));
	table->used--;
	return true;
}

bool py27_table_remove(struct py27_table *table, struct py27_cell cell)
{
	return take_out(table, pack(cell));
}

void py27_table_move(struct py27_table *table, struct py27_cell from,
		     struct py27_cell to, uint8_t value)
{
	uint64_t hash = hash_of(pack(to));
	uint64_t mask = table->size - 1;
	uint64_t at = hash & mask;

	if (!take_out(table, pack(from)))
		return;
	/* TO is known to be absent: the first slot without a key is its own */
	while (is_live(table->keys[at & mask])) {
		at = at * 5 + hash + 1;
		hash >>= PERTURB_SHIFT;
	}
	put(table, (uint32_t)(at & mask), pack(to), value);
	grow_if_full(table);
}

/* Room for COUNT more keys at once. */
static void make_room(struct py27_table *table, uint32_t count)
{
	if (((uint64_t)table->fill + count) * 3 >= (uint64_t)table->size * 2)
		resize(table, ((uint64_t)table->used + count) * 2);
}

void py27_table_update(struct py27_table *table,
		       const struct py27_table *source)
{
	assert(table->used == 0);
	if (source->used == 0)
		return;
	make_room(table, source->used);
	if (table->is_failed)
		return;
	for (int32_t i = py27_table_next(source, 0); i >= 0;
	     i = py27_table_next(source, i + 1))
		insert_clean(table, source->keys[i], source->values[i]);
}

void py27_table_from_dict(struct py27_table *table,
			  const struct py27_table *source)
{
	assert(table->used == 0);
	make_room(table, source->used);
	for (int32_t i = py27_table_next(source, 0); i >= 0;
	     i = py27_table_next(source, i + 1))
		py27_table_add(table, py27_table_cell(source, i), 0);
}

void py27_table_and(struct py27_table *table, const struct py27_table *left,
		    const struct py27_table *right)
{
	const struct py27_table *walked = right;
	const struct py27_table *tested = left;

	assert(table->used == 0);
	if (right->used > left->used) {
		walked = left;
		tested = right;
	}
	for (int32_t i = py27_table_next(walked, 0); i >= 0;
	     i = py27_table_next(walked, i + 1)) {
		struct py27_cell cell = py27_table_cell(walked, i);

		if (py27_table_find(tested, cell) >= 0)
			py27_table_add(table, cell, 0);
	}
}
