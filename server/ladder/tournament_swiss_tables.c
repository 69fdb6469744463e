/* SPDX-License-Identifier: MIT */
/*
 * tournament_swiss_tables.c - who meets whom in a round, more than two at a
 * table: filled from the top with those who have met the table's entrants
 * least, and then mended by exchanges between tables.
 */
#include "server/ladder/tournament_swiss.h"

#include <stdlib.h>
#include <string.h>

enum { MENDING_PASSES = 8 };

struct tables {
	struct swiss_round *round;
	unsigned group;
	unsigned nseats;      /* of all tables */
	uint32_t *who;        /* owned; by seat, table by table */
	uint64_t *unease;     /* owned; by seat: of who sits there */
	unsigned noted;       /* a table */
	uint64_t *with_table; /* owned; by standing: with all who sit there */
};

/* Two who have met often should rather not meet again. */
static uint64_t unease_of(const struct swiss_round *round, uint32_t a,
			  uint32_t b)
{
	uint64_t met = swiss_met(round, a, b);

	return met * met;
}

/* Of WHO with the COUNT of TABLE, itself left out. */
static uint64_t unease_at(const struct swiss_round *round, uint32_t who,
			  const uint32_t *table, unsigned count)
{
	uint64_t sum = 0;

	for (unsigned k = 0; k < count; k++)
		sum += unease_of(round, who, table[k]);
	return sum;
}

static void fill_table(struct swiss_round *round, uint32_t *table,
		       unsigned group)
{
	unsigned n = round->n;

	for (unsigned k = 0; k < group; k++) {
		uint64_t least = UINT64_MAX;

		for (unsigned i = 0;
		     least > 0 && (i = bits_next(round->left, i, n)) < n; i++) {
			uint64_t unease = unease_at(round, i, table, k);

			if (unease < least) {
				least = unease;
				table[k] = i;
			}
		}
		swiss_leave(round, table[k]);
	}
}

static void note_unease(struct tables *tables, unsigned table)
{
	uint32_t *who = &tables->who[table * tables->group];

	for (unsigned k = 0; k < tables->group; k++)
		tables->unease[table * tables->group + k] =
			unease_at(tables->round, who[k], who, tables->group);
}

/* What everybody would feel at TABLE, as it is now. */
static void note_table(struct tables *tables, unsigned table)
{
	const struct swiss_round *round = tables->round;

	tables->noted = table;
	for (unsigned i = 0; i < round->n; i++)
		tables->with_table[i] =
			unease_at(round, i, &tables->who[table * tables->group],
				  tables->group);
}

/*
 * Exchange who sits at A and who sits at B, of two tables, if that makes fewer
 * meet again. WITH_B is the unease of A's with all at B's table.
 */
static bool exchange(struct tables *tables, unsigned a, unsigned b,
		     uint64_t with_b)
{
	uint32_t who_a = tables->who[a], who_b = tables->who[b];
	uint64_t between = unease_of(tables->round, who_a, who_b);

	if (tables->with_table[who_b] - between + with_b - between >=
	    tables->unease[a] + tables->unease[b])
		return false;
	tables->who[a] = who_b;
	tables->who[b] = who_a;
	note_unease(tables, a / tables->group);
	note_unease(tables, b / tables->group);
	note_table(tables, a / tables->group);
	return true;
}

/* Look for somebody to exchange with who sits at A, and whoever comes there. */
static bool mend_seat(struct tables *tables, unsigned a)
{
	unsigned group = tables->group, ntables = tables->nseats / group;
	bool has_changed = false;

	if (tables->noted != a / group)
		note_table(tables, a / group);
	/* The nearest tables first: they stand about equal. */
	for (unsigned k = 1; k < ntables; k++) {
		unsigned table = (a / group + k) % ntables;
		uint32_t *others = &tables->who[table * group];
		uint64_t with =
			unease_at(tables->round, tables->who[a], others, group);

		for (unsigned i = 0; i < group; i++) {
			if (!exchange(tables, a, table * group + i, with))
				continue;
			has_changed = true;
			with = unease_at(tables->round, tables->who[a], others,
					 group);
		}
	}
	return has_changed;
}

static void mend(struct tables *tables)
{
	bool has_changed = true;

	for (unsigned t = 0; t < tables->nseats / tables->group; t++)
		note_unease(tables, t);
	for (unsigned pass = 0; pass < MENDING_PASSES && has_changed; pass++) {
		has_changed = false;
		for (unsigned a = 0; a < tables->nseats; a++)
			if (tables->unease[a] > 0)
				has_changed |= mend_seat(tables, a);
	}
}

void swiss_fill_tables(struct swiss_round *round)
{
	unsigned group = round->tournament->rules.group;
	unsigned count = round->n / group;
	struct tables tables = {
		.round = round,
		.group = group,
		.nseats = count * group,
		.noted = count, /* none yet */
		.who = xcalloc((size_t)count * group, sizeof(uint32_t)),
		.unease = xcalloc((size_t)count * group, sizeof(uint64_t)),
		.with_table = xcalloc(round->n, sizeof(uint64_t)),
	};

	while (round->nleft % group != 0)
		swiss_bye(round, swiss_choose_bye(round, round->left));
	for (unsigned i = 0; i < count; i++)
		fill_table(round, &tables.who[i * group], group);
	mend(&tables);
	for (unsigned i = 0; i < count; i++)
		swiss_seat(round, &tables.who[i * group], group);
	free(tables.who);
	free(tables.unease);
	free(tables.with_table);
}
