/* SPDX-License-Identifier: MIT */
/*
 * table.h - the hash table under the sets and dicts of 64-bit CPython 2.7, for
 * keys that are cells (complex numbers with integral parts).
 *
 * A controller that iterates over a set shows the order of its slots, which
 * depends on every insertion and deletion before. This model keeps the same
 * slots: same hash, probe sequence, deleted markers and resizes. Sets and
 * dicts behave alike; a set just does not use the values.
 *
 *	for (int32_t i = py27_table_next(&t, 0); i >= 0;
 *	     i = py27_table_next(&t, i + 1))
 *		show(py27_table_cell(&t, i));
 *
 * A change invalidates slot numbers unless it says otherwise. Failure sticks:
 * when memory is out, `is_failed` is set and the table no longer changes, so a
 * caller checks once after many changes. Tables hold a pointer into themselves
 * while small: never copy the struct. Single-threaded.
 */
#ifndef HILL_GAMES_PYTHON27_TABLE_H
#define HILL_GAMES_PYTHON27_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct py27_cell {
	int32_t x, y; /* more than INT32_MIN + 1 */
};

enum { PY27_TABLE_SMALL = 8 };

struct py27_table {
	uint64_t *keys;  /* small.keys, or owned: all three in one block */
	uint64_t *live;  /* bit a slot: it holds a key */
	uint8_t *values; /* a slot's value */
	uint32_t size;   /* slots, a power of two, at least 8 */
	uint32_t used;   /* live keys */
	uint32_t fill;   /* live keys and deleted markers */
	bool is_failed;
	struct {
		uint64_t keys[PY27_TABLE_SMALL];
		uint64_t live;
		uint8_t values[PY27_TABLE_SMALL];
	} small;
};

/* An empty table of 8 slots. */
void py27_table_init(struct py27_table *table);
/* Free what it owns; NULL is fine. */
void py27_table_release(struct py27_table *table);
/* x.clear(): empty, 8 slots, failure forgotten. */
void py27_table_clear(struct py27_table *table);
/* The slot that holds CELL, or -1. */
int32_t py27_table_find(const struct py27_table *table, struct py27_cell cell);
/*
 * s.add(CELL), d[CELL] = VALUE. If CELL is there only its value changes, and
 * no slot moves.
 */
void py27_table_add(struct py27_table *table, struct py27_cell cell,
		    uint8_t value);
/*
 * s.discard(CELL), d.pop(CELL, None): true when it was there. The other keys
 * keep their slots.
 */
bool py27_table_remove(struct py27_table *table, struct py27_cell cell);
/* d[TO] = d.pop(FROM) with a new VALUE; FROM is there, TO is not. */
void py27_table_move(struct py27_table *table, struct py27_cell from,
		     struct py27_cell to, uint8_t value);
/*
 * d.update(SOURCE) or s = set(SOURCE) of one's own kind: TABLE makes room
 * once, then takes SOURCE's keys and values in the order of its slots. Only
 * for a TABLE that shares no key with SOURCE: an empty one.
 */
void py27_table_update(struct py27_table *table,
		       const struct py27_table *source);
/* s = set(SOURCE) of a dict's keys; TABLE must be empty. */
void py27_table_from_dict(struct py27_table *table,
			  const struct py27_table *source);
/* LEFT & RIGHT of two sets into TABLE, which must be empty. */
void py27_table_and(struct py27_table *table, const struct py27_table *left,
		    const struct py27_table *right);

/* The first live slot at or after SLOT, or -1; the order of iteration. */
static inline int32_t py27_table_next(const struct py27_table *table,
				      int32_t slot)
{
	uint32_t at = (uint32_t)slot;
	uint64_t word;

	if (at >= table->size)
		return -1;
	word = table->live[at / 64] >> (at % 64);
	if (word != 0)
		return slot + __builtin_ctzll(word);
	for (at = at / 64 + 1; at < (table->size + 63) / 64; at++) {
		if (table->live[at] != 0)
			return (int32_t)(at * 64) +
			       __builtin_ctzll(table->live[at]);
	}
	return -1;
}

/* The key in a live slot. */
static inline struct py27_cell py27_table_cell(const struct py27_table *table,
					       int32_t slot)
{
	uint64_t key = table->keys[slot];

	return (struct py27_cell){ (int32_t)(uint32_t)(key >> 32),
				   (int32_t)(uint32_t)key };
}

#endif
