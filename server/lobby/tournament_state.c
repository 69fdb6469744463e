/* SPDX-License-Identifier: MIT */
/* tournament_state.c - what is known of a tournament, and what follows. */
#include "server/lobby/tournament_internal.h"

#include <stdlib.h>
#include <string.h>

static void release_row(struct row_tournament *row)
{
	free(row->map_ids);
	free(row->entrants);
	free(row->matches);
	free(row->voids);
}

void tournament_state_free(struct lobby_tournament *t)
{
	tournament_free(t->state);
	release_row(&t->row);
	free(t->attendance);
	free(t->under_way);
	free(t);
}

static bool is_same(const struct row_tournament_match *a,
		    const struct row_tournament_match *b)
{
	return a->result.pairing == b->result.pairing &&
	       a->result.set == b->result.set &&
	       a->result.turn == b->result.turn;
}

/*
 * MATCH is, or soon will be, on disk: as there, one that is for other entrants
 * takes the place of what was there.
 */
static void keep(struct lobby_tournament *t,
		 const struct row_tournament_match *match)
{
	for (size_t i = 0; i < t->row.nmatches; i++) {
		struct row_tournament_match *old = &t->row.matches[i];

		if (!is_same(old, match))
			continue;
		if (old->nseats != match->nseats ||
		    memcmp(old->entrants, match->entrants,
			   match->nseats * sizeof(match->entrants[0])) != 0)
			*old = *match;
		return;
	}
	t->row.matches = xreallocarray(t->row.matches, t->row.nmatches + 1,
				       sizeof(*t->row.matches));
	t->row.matches[t->row.nmatches++] = *match;
}

static int by_number(const void *left, const void *right)
{
	const struct tournament_result *a =
		&((const struct row_tournament_match *)left)->result;
	const struct tournament_result *b =
		&((const struct row_tournament_match *)right)->result;

	if (a->pairing != b->pairing)
		return a->pairing < b->pairing ? -1 : 1;
	if (a->set != b->set)
		return a->set < b->set ? -1 : 1;
	return a->turn < b->turn ? -1 : a->turn > b->turn;
}

static bool is_void(const struct row_tournament *row, int64_t match_id)
{
	for (size_t i = 0; i < row->nvoids; i++)
		if (row->voids[i] == match_id)
			return true;
	return false;
}

/* T's state from its row: entrants may have left, results been taken back. */
static void rebuild(struct lobby_tournament *t)
{
	uint32_t *out_rounds =
		xcalloc(t->row.nentrants + 1, sizeof(*out_rounds));

	for (size_t i = 0; i < t->row.nentrants; i++)
		out_rounds[i] = t->row.entrants[i].out_round;
	tournament_free(t->state);
	t->state = tournament_new(&t->row.rules, (unsigned)t->row.nentrants,
				  out_rounds);
	free(out_rounds);
	t->nleft_out = 0;
	if (t->row.nmatches > 0)
		qsort(t->row.matches, t->row.nmatches, sizeof(*t->row.matches),
		      by_number);
	for (size_t i = 0; i < t->row.nmatches; i++)
		t->nleft_out += tournament_add_stored(
					t->state, &t->row.matches[i].result,
					t->row.matches[i].entrants) != 0;
}

int tournament_state_add(struct lobby_tournament *t,
			 const struct row_tournament_match *match)
{
	int err = tournament_add_stored(t->state, &match->result,
					match->entrants);

	keep(t, match);
	if (err != 0)
		t->nleft_out++;
	else if (t->nleft_out > 0)
		rebuild(t);
	return err;
}

bool tournament_state_is_void(const struct lobby_tournament *t,
			      int64_t match_id)
{
	return is_void(&t->row, match_id);
}

static bool holds(const struct row_tournament *row,
		  const struct row_tournament_match *match)
{
	for (size_t i = 0; i < row->nmatches; i++)
		if (is_same(&row->matches[i], match))
			return true;
	return false;
}

/*
 * A copy of ROW with all that it owns, and those matches of MORE, the row
 * before it, that were on their way to the disk when ROW was read.
 */
static void copy_row(struct row_tournament *to,
		     const struct row_tournament *row,
		     const struct row_tournament *more)
{
	size_t nmore = more->nmatches;

	*to = *row;
	to->map_ids = xcalloc(row->nmaps + 1, sizeof(*to->map_ids));
	memcpy(to->map_ids, row->map_ids, row->nmaps * sizeof(*to->map_ids));
	to->entrants = xcalloc(row->nentrants + 1, sizeof(*to->entrants));
	memcpy(to->entrants, row->entrants,
	       row->nentrants * sizeof(*to->entrants));
	to->voids = xcalloc(row->nvoids + 1, sizeof(*to->voids));
	if (row->nvoids > 0)
		memcpy(to->voids, row->voids, row->nvoids * sizeof(*to->voids));
	to->matches = xcalloc(row->nmatches + nmore + 1, sizeof(*to->matches));
	if (row->nmatches > 0)
		memcpy(to->matches, row->matches,
		       row->nmatches * sizeof(*to->matches));
	for (size_t i = 0; i < nmore; i++)
		if (!holds(row, &more->matches[i]) &&
		    !is_void(row, more->matches[i].match_id))
			to->matches[to->nmatches++] = more->matches[i];
}

void tournament_state_take(struct lobby_tournament *t,
			   const struct row_tournament *row)
{
	struct row_tournament fresh;

	copy_row(&fresh, row, &t->row);
	release_row(&t->row);
	t->row = fresh;
	rebuild(t);
}
