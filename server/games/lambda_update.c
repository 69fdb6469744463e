/* SPDX-License-Identifier: MIT */
/*
 * lambda_update.c - the map update, at the price of what moves.
 *
 * A stone at rest stays so until a cell near it becomes empty; what lies below
 * it cannot become a stone or a lambda without having been empty. A beard
 * without room stays so until a cell beside it becomes empty. Whoever changes
 * a cell says so (lambda_emptied, lambda_filled), and the neighbours concerned
 * are visited in the next update, and so is a stone that has just moved.
 *
 * All moves are planned on the old map and then written. Order matters only
 * where two writers meet, and there the answer is fixed (see lambda_dense.c):
 * a stone that slides right never replaces another arriving stone; a beard
 * wins only from the upper right. Beards grow before the stones are written,
 * as FRESH, so that a stone can tell an old beard from a new one.
 */
#include "server/games/lambda_internal.h"

#include <string.h>

enum {
	FRESH = 'w', /* a beard of this update; only inside it */
	NSTAY = 16,  /* dense updates that pay for one search of the mine */
	QUIET = 4,   /* sparse again below a QUIETth of dense_at moves */
	NAROUND = 8,
	DENSE_CELLS = 32, /* cells that a dense pass does in a unit of work */
	SEARCH_CELLS = 8,
};

static void push_stone(struct lambda_sim *sim, uint32_t at)
{
	struct lambda_list *list = &sim->stones;

	if (list->count < list->cap)
		list->at[list->count++] = at;
	else
		sim->is_crowded = true;
}

/* Drop what is named twice and what is no beard any more. */
static void compact_beards(struct lambda_sim *sim)
{
	struct lambda_list *list = &sim->beards;
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		uint32_t at = list->at[i];

		if (sim->cells[at] == 'W') {
			sim->cells[at] = FRESH;
			list->at[kept++] = at;
		}
	}
	list->count = kept;
	for (size_t i = 0; i < kept; i++)
		sim->cells[list->at[i]] = 'W';
	sim->spent += kept;
}

static void push_beard(struct lambda_sim *sim, uint32_t at)
{
	struct lambda_list *list = &sim->beards;

	if (list->count < list->cap)
		list->at[list->count++] = at;
	else
		sim->is_crowded = true;
}

static void around(uint32_t at, uint32_t stride, uint32_t ret[NAROUND])
{
	ret[0] = at - stride - 1;
	ret[1] = at - stride;
	ret[2] = at - stride + 1;
	ret[3] = at - 1;
	ret[4] = at + 1;
	ret[5] = at + stride - 1;
	ret[6] = at + stride;
	ret[7] = at + stride + 1;
}

void lambda_emptied(struct lambda_sim *sim, uint32_t at)
{
	const unsigned char *cells = sim->cells;
	uint32_t up = at + sim->map->stride;

	if (sim->is_dense)
		return;
	if (lambda_is_stone(cells[at - 1]))
		push_stone(sim, at - 1);
	if (lambda_is_stone(cells[at + 1]))
		push_stone(sim, at + 1);
	for (uint32_t above = up - 1; above <= up + 1; above++) {
		if (lambda_is_stone(cells[above]))
			push_stone(sim, above);
	}
	if (sim->has_growth) {
		uint32_t beside[NAROUND];

		around(at, sim->map->stride, beside);
		for (unsigned i = 0; i < NAROUND; i++) {
			if (cells[beside[i]] == 'W')
				push_beard(sim, beside[i]);
		}
	}
}

void lambda_filled(struct lambda_sim *sim, uint32_t at)
{
	if (!sim->is_dense && lambda_is_stone(sim->cells[at]))
		push_stone(sim, at);
}

/* Where the stone at AT goes; 0 when it stays. */
static uint32_t destination(const unsigned char *cells, uint32_t at,
			    uint32_t stride)
{
	uint32_t down = at - stride;
	bool is_on_stone = lambda_is_stone(cells[down]);

	if (cells[down] == ' ')
		return down;
	if (!is_on_stone && cells[down] != '\\')
		return 0;
	if (cells[at + 1] == ' ' && cells[down + 1] == ' ')
		return down + 1;
	if (is_on_stone && cells[at - 1] == ' ' && cells[down - 1] == ' ')
		return down - 1;
	return 0;
}

/* ---- dense ---- */

static bool has_room(const struct lambda_sim *sim, uint32_t at)
{
	uint32_t beside[NAROUND];

	around(at, sim->map->stride, beside);
	for (unsigned i = 0; i < NAROUND; i++) {
		if (sim->cells[beside[i]] == ' ')
			return true;
	}
	return false;
}

/* Fill both lists from the mine; stay dense when they cannot hold it. */
static void search(struct lambda_sim *sim)
{
	uint32_t stride = sim->map->stride;
	uint32_t end = sim->map->size - stride;

	sim->is_crowded = false;
	for (uint32_t at = stride; at < end && !sim->is_crowded; at++) {
		unsigned char cell = sim->cells[at];

		if (lambda_is_stone(cell)) {
			if (destination(sim->cells, at, stride) != 0)
				push_stone(sim, at);
		} else if (cell == 'W' && sim->has_growth &&
			   has_room(sim, at)) {
			push_beard(sim, at);
		}
	}
	sim->is_dense = sim->is_crowded;
	sim->nstay = NSTAY;
	sim->spent += sim->map->size / SEARCH_CELLS;
}

static void become_dense(struct lambda_sim *sim)
{
	sim->is_dense = true;
	sim->nstay = NSTAY;
}

static void dense_update(struct lambda_sim *sim, bool grows)
{
	unsigned char *old = sim->cells;
	size_t moved = lambda_dense_pass(sim, grows);

	sim->cells = sim->next;
	sim->next = old;
	sim->spent += 1 + sim->map->size / DENSE_CELLS;
	sim->stones.count = 0;
	sim->beards.count = 0;
	if (sim->nstay > 0)
		sim->nstay--;
	else if (moved <= sim->dense_at / QUIET)
		search(sim);
}

/* ---- sparse ---- */

static size_t plan_moves(struct lambda_sim *sim)
{
	const unsigned char *cells = sim->cells;
	uint32_t stride = sim->map->stride;
	size_t count = 0;

	for (size_t i = 0; i < sim->stones.count; i++) {
		uint32_t at = sim->stones.at[i];
		struct lambda_move *move = &sim->moves[count];

		if (!lambda_is_stone(cells[at]))
			continue;
		move->from = at;
		move->to = destination(cells, at, stride);
		if (move->to == 0)
			continue;
		move->cell = cells[at];
		if (move->cell == '@' && cells[move->to - stride] != ' ')
			move->cell = '\\';
		count++;
	}
	return count;
}

/* Write the beards of this update; the list then names only those. */
static void grow(struct lambda_sim *sim)
{
	struct lambda_list *list = &sim->beards;
	size_t nold = list->count;

	for (size_t i = 0; i < nold; i++) {
		uint32_t beside[NAROUND];

		if (sim->cells[list->at[i]] != 'W')
			continue;
		around(list->at[i], sim->map->stride, beside);
		for (unsigned j = 0; j < NAROUND; j++) {
			if (sim->cells[beside[j]] != ' ')
				continue;
			sim->cells[beside[j]] = FRESH;
			push_beard(sim, beside[j]);
		}
	}
	list->count -= nold;
	memmove(list->at, list->at + nold, list->count * sizeof(list->at[0]));
	sim->spent += nold * 4;
}

/* The fresh beards that no stone replaced become beards. */
static void ripen(struct lambda_sim *sim)
{
	for (size_t i = 0; i < sim->beards.count; i++) {
		uint32_t at = sim->beards.at[i];

		if (sim->cells[at] == FRESH)
			sim->cells[at] = 'W';
	}
}

static void make_moves(struct lambda_sim *sim, size_t count)
{
	unsigned char *cells = sim->cells;
	uint32_t stride = sim->map->stride;

	for (size_t i = 0; i < count; i++) {
		const struct lambda_move *move = &sim->moves[i];
		uint32_t to = move->to;

		/* Nothing arrives where a stone was: it has gone already. */
		if (cells[move->from] == ' ')
			continue;
		cells[move->from] = ' ';
		lambda_emptied(sim, move->from);
		if (cells[to] == FRESH) {
			if (cells[to + stride + 1] == 'W')
				continue;
		} else if (cells[to] != ' ' && to == move->from - stride + 1) {
			continue;
		}
		cells[to] = move->cell;
		lambda_filled(sim, to);
	}
}

static void sparse_update(struct lambda_sim *sim, bool grows)
{
	size_t count = plan_moves(sim);

	sim->spent += 2 + sim->stones.count;
	sim->stones.count = 0;
	if (grows)
		grow(sim);
	make_moves(sim, count);
	if (grows)
		ripen(sim);
}

/* Whether the lists have become too long, or would in this update. */
static bool wants_dense(struct lambda_sim *sim, bool grows)
{
	const struct lambda_list *beards = &sim->beards;
	size_t limit = grows ? beards->cap / (NAROUND + 1) : beards->cap / 2;

	if (sim->is_crowded || sim->stones.count > sim->dense_at)
		return true;
	if (beards->count > limit)
		compact_beards(sim);
	return beards->count > limit;
}

void lambda_update(struct lambda_sim *sim, bool grows)
{
	if (!sim->is_dense && wants_dense(sim, grows))
		become_dense(sim);
	if (sim->is_dense)
		dense_update(sim, grows);
	else
		sparse_update(sim, grows);
	if (!sim->is_lift_open && sim->collected == sim->map->total) {
		sim->is_lift_open = true;
		sim->cells[sim->map->lift] = 'O';
	}
}
