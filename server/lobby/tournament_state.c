/* SPDX-License-Identifier: MIT */
/* tournament_state.c - what is known of a tournament, and what follows. */
#include "server/lobby/tournament_internal.h"

#include <errno.h>
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
	free(t->seeds);
	free(t);
}

static int by_number(const struct row_tournament_match *left,
		     const struct row_tournament_match *right)
{
	const struct tournament_result *a = &left->result;
	const struct tournament_result *b = &right->result;

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

/*
 * MATCH is, or soon will be, on disk: as there, one that is for other entrants
 * takes the place of what was there. Returns whether it did.
 */
static bool keep(struct lobby_tournament *t,
		 const struct row_tournament_match *match)
{
	struct row_tournament *row = &t->row;
	size_t at = place_of(row, match);
	struct row_tournament_match *old;

	if (at < row->nmatches && by_number(&row->matches[at], match) == 0) {
		old = &row->matches[at];
		if (old->nseats == match->nseats &&
		    memcmp(old->entrants, match->entrants,
			   match->nseats * sizeof(match->entrants[0])) == 0)
			return false;
		*old = *match;
		return true;
	}
	if (row->nmatches == t->room) {
		t->room = t->room == 0 ? 64 : 2 * t->room;
		row->matches = xreallocarray(row->matches, t->room,
					     sizeof(*row->matches));
	}
	memmove(row->matches + at + 1, row->matches + at,
		(row->nmatches - at) * sizeof(*row->matches));
	row->matches[at] = *match;
	row->nmatches++;
	return false;
}

static bool is_void(const struct row_tournament *row, int64_t match_id)
{
	size_t low = 0, high = row->nvoids;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (row->voids[middle] < match_id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < row->nvoids && row->voids[low] == match_id;
}

/* Add T's matches from FROM on, before TO, that are not in but fit by now. */
static void add_fitting(struct lobby_tournament *t, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		(void)!tournament_add_stored(t->state,
					     &t->row.matches[i].result,
					     t->row.matches[i].entrants);
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
	add_fitting(t, 0, t->row.nmatches);
}

size_t tournament_state_left_out(const struct lobby_tournament *t)
{
	return t->row.nmatches - tournament_matches_done(t->state);
}

/*
 * MATCH has been added, and others wait: those of its pairing, where a set may
 * be known to be needed now, and all when there are pairings that were not.
 */
static void follow_up(struct lobby_tournament *t,
		      const struct row_tournament_match *match, size_t known)
{
	struct row_tournament_match first = { .result.pairing =
						      match->result.pairing };
	struct row_tournament_match next = {
		.result.pairing = match->result.pairing + 1
	};

	if (tournament_state_left_out(t) > 0 &&
	    tournament_known(t->state) == known)
		add_fitting(t, place_of(&t->row, &first),
			    place_of(&t->row, &next));
	if (tournament_state_left_out(t) > 0 &&
	    tournament_known(t->state) != known)
		add_fitting(t, 0, t->row.nmatches);
}

int tournament_state_add(struct lobby_tournament *t,
			 const struct row_tournament_match *match)
{
	size_t known = tournament_known(t->state);
	int err = tournament_add_stored(t->state, &match->result,
					match->entrants);

	if (keep(t, match) && err != 0)
		rebuild(t); /* what it takes the place of was counted */
	else if (err == 0)
		follow_up(t, match, known);
	return err;
}

bool tournament_state_is_void(const struct lobby_tournament *t,
			      int64_t match_id)
{
	return is_void(&t->row, match_id);
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

/* ---- what the catalogue says ---- */

/*
 * Those whom ROW has out are so in T's state. False when that is to be built
 * anew; a running tournament gets no others.
 */
static bool take_out(struct lobby_tournament *t,
		     const struct row_tournament *row)
{
	if (t->state == NULL || t->row.nentrants != row->nentrants)
		return false;
	for (size_t i = 0; i < row->nentrants; i++)
		if (tournament_set_out(t->state, (uint32_t)i,
				       row->entrants[i].out_round) != 0)
			return false;
	return true;
}

/* Whether both have the same consequences. */
static bool is_equal(const struct row_tournament_match *a,
		     const struct row_tournament_match *b)
{
	const struct tournament_result *x = &a->result, *y = &b->result;

	if (a->nseats != b->nseats || x->absent != y->absent)
		return false;
	for (unsigned s = 0; s < a->nseats; s++)
		if (a->entrants[s] != b->entrants[s] ||
		    x->ranks[s] != y->ranks[s] ||
		    x->points[s] != y->points[s] ||
		    x->scores[s] != y->scores[s] ||
		    x->faults[s] != y->faults[s])
			return false;
	return true;
}

/* How the matches of a row that was read differ from what was here. */
struct difference {
	size_t more;      /* that are new */
	size_t less;      /* that are void by now */
	bool has_changed; /* some count for something else */
};

/*
 * ROW's matches, and those of OLD that were on their way to the disk when ROW
 * was read, by number into TO when that is not NULL: room for both. Returns
 * how many they are.
 */
static size_t merge(const struct row_tournament *old,
		    const struct row_tournament *row,
		    struct row_tournament_match *to, struct difference *ret)
{
	size_t i = 0, k = 0, count = 0;

	*ret = (struct difference){ 0 };
	while (i < old->nmatches || k < row->nmatches) {
		const struct row_tournament_match *match;
		int order = i == old->nmatches   ? 1
			    : k == row->nmatches ? -1
						 : by_number(&old->matches[i],
							     &row->matches[k]);

		if (order < 0) {
			match = &old->matches[i++];
			if (is_void(row, match->match_id)) {
				ret->less++;
				continue;
			}
		} else {
			match = &row->matches[k++];
			if (order > 0)
				ret->more++;
			else if (!is_equal(&old->matches[i++], match))
				ret->has_changed = true;
		}
		if (to != NULL)
			to[count] = *match;
		count++;
	}
	return count;
}

/* All of ROW but its matches, which stay as they were. */
static void take_head(struct lobby_tournament *t,
		      const struct row_tournament *row)
{
	struct row_tournament fresh = *row;

	fresh.map_ids = xcalloc(row->nmaps + 1, sizeof(*fresh.map_ids));
	memcpy(fresh.map_ids, row->map_ids,
	       row->nmaps * sizeof(*fresh.map_ids));
	fresh.entrants = xcalloc(row->nentrants + 1, sizeof(*fresh.entrants));
	memcpy(fresh.entrants, row->entrants,
	       row->nentrants * sizeof(*fresh.entrants));
	fresh.voids = xcalloc(row->nvoids + 1, sizeof(*fresh.voids));
	if (row->nvoids > 0)
		memcpy(fresh.voids, row->voids,
		       row->nvoids * sizeof(*fresh.voids));
	fresh.matches = t->row.matches;
	fresh.nmatches = t->row.nmatches;
	free(t->row.map_ids);
	free(t->row.entrants);
	free(t->row.voids);
	t->row = fresh;
}

/* Add the matches of ROW that are not among T's; false: one does not fit. */
static bool add_new(struct lobby_tournament *t,
		    const struct row_tournament *row)
{
	size_t i = 0;

	for (size_t k = 0; k < row->nmatches; k++) {
		const struct row_tournament_match *match = &row->matches[k];

		while (i < t->row.nmatches &&
		       by_number(&t->row.matches[i], match) < 0)
			i++;
		if (i < t->row.nmatches &&
		    by_number(&t->row.matches[i], match) == 0)
			continue;
		if (tournament_add_stored(t->state, &match->result,
					  match->entrants) != 0)
			return false;
	}
	return true;
}

/* Take those of T's matches away that ROW has void; false: not so simply. */
static bool forget_voids(struct lobby_tournament *t,
			 const struct row_tournament *row)
{
	/* The last ones first: nothing has come of them. */
	for (size_t i = t->row.nmatches; i-- > 0;) {
		const struct row_tournament_match *match = &t->row.matches[i];

		if (is_void(row, match->match_id) &&
		    tournament_forget(t->state, match->result.pairing,
				      match->result.set,
				      match->result.turn) != 0)
			return false;
	}
	return true;
}

/*
 * ROW is as a rule what is known already, or a little more, or a little less:
 * then the state is left as it is, or that is added and taken away. In order of
 * numbers results fit wherever they would in a state that is built from all of
 * them. Else it is built anew.
 */
void tournament_state_take(struct lobby_tournament *t,
			   const struct row_tournament *row)
{
	bool is_same = take_out(t, row);
	struct row_tournament_match *matches;
	struct difference difference;
	size_t count = merge(&t->row, row, NULL, &difference);

	if (difference.more > 0 || difference.less > 0 ||
	    difference.has_changed) {
		matches = xcalloc(count + 1, sizeof(*matches));
		(void)merge(&t->row, row, matches, &difference);
		is_same = is_same && !difference.has_changed &&
			  tournament_state_left_out(t) == 0 &&
			  forget_voids(t, row) && add_new(t, row);
		free(t->row.matches);
		t->row.matches = matches;
		t->row.nmatches = count;
		t->room = count + 1;
	}
	take_head(t, row);
	list_entries(t);
	if (!is_same)
		rebuild(t);
}
