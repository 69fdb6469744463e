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
	free(t->entries);
	free(t->attendance);
	free(t->under_way);
	free(t);
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

/* Where MATCH stands in ROW, or would. */
static size_t place_of(const struct row_tournament *row,
		       const struct row_tournament_match *match)
{
	size_t low = 0, high = row->nmatches;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_number(&row->matches[middle], match) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool holds(const struct row_tournament *row,
		  const struct row_tournament_match *match)
{
	size_t at = place_of(row, match);

	return at < row->nmatches && by_number(&row->matches[at], match) == 0;
}

/*
 * MATCH is, or soon will be, on disk: as there, one that is for other entrants
 * takes the place of what was there.
 */
static void keep(struct lobby_tournament *t,
		 const struct row_tournament_match *match)
{
	struct row_tournament *row = &t->row;
	size_t at = place_of(row, match);
	struct row_tournament_match *old;

	if (holds(row, match)) {
		old = &row->matches[at];
		if (old->nseats != match->nseats ||
		    memcmp(old->entrants, match->entrants,
			   match->nseats * sizeof(match->entrants[0])) != 0)
			*old = *match;
		return;
	}
	row->matches = xreallocarray(row->matches, row->nmatches + 1,
				     sizeof(*row->matches));
	memmove(row->matches + at + 1, row->matches + at,
		(row->nmatches - at) * sizeof(*row->matches));
	row->matches[at] = *match;
	row->nmatches++;
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
	if (to->nmatches > row->nmatches)
		qsort(to->matches, to->nmatches, sizeof(*to->matches),
		      by_number);
}

static int by_bot(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	return (a->bot_id > b->bot_id) - (a->bot_id < b->bot_id);
}

static void list_entries(struct lobby_tournament *t)
{
	free(t->entries);
	t->entries = xcalloc(t->row.nentrants + 1, sizeof(*t->entries));
	for (size_t i = 0; i < t->row.nentrants; i++)
		t->entries[i] = (struct entry){ t->row.entrants[i].bot_id,
						(uint32_t)i };
	qsort(t->entries, t->row.nentrants, sizeof(*t->entries), by_bot);
}

size_t tournament_state_entrant(const struct lobby_tournament *t,
				int64_t bot_id)
{
	const struct entry key = { .bot_id = bot_id };
	const struct entry *found = bsearch(&key, t->entries, t->row.nentrants,
					    sizeof(key), by_bot);

	return found == NULL ? t->row.nentrants : found->entrant;
}

size_t tournament_state_place(const struct lobby_tournament *t,
			      uint32_t pairing, uint32_t number)
{
	size_t low = 0, high = t->nunder_way;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct match_meeting *meeting = &t->under_way[middle];

		if (meeting->pairing < pairing ||
		    (meeting->pairing == pairing && meeting->number < number))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void tournament_state_take(struct lobby_tournament *t,
			   const struct row_tournament *row)
{
	struct row_tournament fresh;

	copy_row(&fresh, row, &t->row);
	release_row(&t->row);
	t->row = fresh;
	list_entries(t);
	rebuild(t);
}
