/* SPDX-License-Identifier: MIT */
/*
 * lend.c - opponents for who plays unrated.
 *
 * They are, in this order: others who wait unrated and wish nothing in
 * particular, bots that said `any`, the house's. One that has just been lent
 * is left to who waits for rated matches, as long as those may take to get
 * it.
 *
 * A match with more time for a turn than the ladder's, by hand, may last for
 * an hour, and guests may have all that the house has: so such a match is
 * slow, does not begin while an author waits for a match that counts, and the
 * house's bot resigns it when an author has waited for one as long as for any
 * house bot, and no other can come.
 */
#include "server/lobby/appointment.h"
#include "server/lobby/rated.h"
#include "server/lobby/start.h"
#include "server/lobby/unrated_internal.h"

#include <inttypes.h>

enum {
	REST_MS = 1000,        /* more than a house bot waits for its seat */
	LOOK_US = 1000 * 1000, /* at who is needed elsewhere, so often */
};

/* How much somebody would play with who asks; 0: not at all. */
enum willing { WILLING_NOT, WILLING_HOUSE, WILLING_ANY, WILLING_WISH };

static bool has_any_wish(const struct wish *wish)
{
	return wish->map_id != 0 || wish->seed[0] != '\0' ||
	       wish->against_id != 0 || wish->turn_ms != 0 || wish->left != 0;
}

static bool is_patient(const struct ladder *ladder, const struct wish *wish)
{
	return wish->turn_ms == 0 || wish->turn_ms == ladder->row.turn_ms;
}

/*
 * How much ENTRY, of another, is one that WISH may be played with, whether it
 * is free or not.
 */
static enum willing willingness(const struct ladder *ladder,
				const struct wish *wish,
				const struct waiting *entry)
{
	const struct bot *bot = entry->peer->bot;

	if (wish->against_id != 0 && wish->against_id != bot->id)
		return WILLING_NOT;
	if (entry->wish != NULL)
		return wish->against_id == 0 && is_patient(ladder, wish) &&
				       !has_any_wish(entry->wish)
			       ? WILLING_WISH
			       : WILLING_NOT;
	if (entry->is_any && (bot->is_house || is_patient(ladder, wish)))
		return WILLING_ANY;
	return bot->is_house ? WILLING_HOUSE : WILLING_NOT;
}

/* Whether another than the house waits on LADDER for matches of its own. */
static bool is_wanted(const struct ladder *ladder,
		      const struct lobby_peer *peer)
{
	const struct waiting *entry;

	TAILQ_FOREACH(entry, &ladder->queue, queue) {
		if (entry->wish == NULL && entry->peer != peer &&
		    entry->peer->bot != peer->bot &&
		    !entry->peer->bot->is_house)
			return true;
	}
	return false;
}

bool unrated_may_lend(struct lobby *lobby, struct ladder *ladder,
		      const struct waiting *entry, int64_t rest_us,
		      int64_t now_us)
{
	const struct lobby_peer *peer = entry->peer;
	int64_t again_us = peer->lent_us + rest_us;

	if (!entry->is_queued || peer->is_closing || peer->is_eof ||
	    peer->ask != NULL || peer->set_id != 0 || entry->is_appointed)
		return false;
	if (entry->wish != NULL)
		return true;
	if (appointment_keeps(ladder, peer) ||
	    tournaments_keep(lobby, ladder, peer))
		return false;
	if (peer->lent_us == 0 || now_us >= again_us)
		return true;
	start_wake(lobby, ladder, now_us, again_us);
	return false;
}

int64_t unrated_rest(const struct ladder *ladder, const struct waiting *entry)
{
	if (entry->wish != NULL || !is_wanted(ladder, entry->peer))
		return 0;
	return ((int64_t)ladder->row.house_wait_ms + REST_MS) * 1000;
}

static enum lender kind_of(const struct waiting *entry)
{
	if (entry->wish != NULL)
		return has_any_wish(entry->wish) ? LENDER_NONE : LENDER_WISH;
	if (entry->peer->bot->is_house)
		return entry->is_any ? LENDER_HOUSE_ANY : LENDER_HOUSE;
	return entry->is_any ? LENDER_ANY : LENDER_NONE;
}

void lend_list(struct look *look)
{
	struct waiting *entry;

	if (look->has_lenders)
		return;
	look->has_lenders = true;
	TAILQ_FOREACH(entry, &look->ladder->queue, queue) {
		enum lender kind = kind_of(entry);

		if (kind != LENDER_NONE &&
		    !unrated_may_lend(look->lobby, look->ladder, entry,
				      unrated_rest(look->ladder, entry),
				      look->now_us))
			kind = LENDER_NONE;
		entry->lender = (uint8_t)kind;
		look->counts[kind]++;
	}
}

void lend_unlist(struct look *look, struct waiting *entry)
{
	if (!look->has_lenders)
		return;
	look->counts[entry->lender]--;
	entry->lender = LENDER_NONE;
	look->counts[LENDER_NONE]++;
}

bool lend_is_enough(const struct look *look, const struct waiting *entry)
{
	const unsigned *counts = look->counts;
	unsigned count = counts[LENDER_HOUSE] + counts[LENDER_HOUSE_ANY];

	if (is_patient(look->ladder, entry->wish)) {
		count += counts[LENDER_ANY] + counts[LENDER_WISH];
		count -= entry->lender == LENDER_WISH; /* not itself */
	}
	return count + 1 >= look->ladder->row.seats;
}

static bool is_among(struct lobby_peer *const *seated, unsigned count,
		     const struct lobby_peer *peer)
{
	for (unsigned i = 0; i < count; i++) {
		if (seated[i] == peer)
			return true;
	}
	return false;
}

/* The free connection of the bot that WISH names that came first, or NULL. */
static struct lobby_peer *find_named(const struct look *look,
				     const struct wish *wish,
				     struct lobby_peer *const *seated,
				     unsigned count)
{
	const struct bot *bot = bot_by_id(look->lobby, wish->against_id);
	const struct waiting *found = NULL;
	struct lobby_peer *peer;

	if (bot == NULL)
		return NULL;
	TAILQ_FOREACH(peer, &bot->peers, group) {
		const struct waiting *entry = waiting_find(peer, look->ladder);

		if (entry == NULL || !entry->is_queued ||
		    entry->lender == LENDER_NONE ||
		    is_among(seated, count, peer) ||
		    willingness(look->ladder, wish, entry) == WILLING_NOT)
			continue;
		if (found == NULL || entry->ticket < found->ticket)
			found = entry;
	}
	return found == NULL ? NULL : found->peer;
}

/* What the most willing of those who are free may be. */
static enum willing most_willing(const struct look *look)
{
	if (look->counts[LENDER_WISH] > 0)
		return WILLING_WISH;
	return look->counts[LENDER_ANY] + look->counts[LENDER_HOUSE_ANY] > 0
		       ? WILLING_ANY
		       : WILLING_HOUSE;
}

struct lobby_peer *lend_find(const struct look *look, const struct wish *wish,
			     struct lobby_peer *const *seated, unsigned count)
{
	struct lobby_peer *found = NULL;
	struct waiting *entry;
	enum willing most = most_willing(look), best = WILLING_NOT;

	if (wish->against_id != 0)
		return find_named(look, wish, seated, count);
	TAILQ_FOREACH(entry, &look->ladder->queue, queue) {
		enum willing how =
			entry->lender == LENDER_NONE
				? WILLING_NOT
				: willingness(look->ladder, wish, entry);

		if (how <= best || is_among(seated, count, entry->peer))
			continue;
		best = how;
		found = entry->peer;
		if (best == most)
			break;
	}
	return found;
}

bool lend_is_there(struct lobby *lobby, struct ladder *ladder,
		   const struct wish *wish)
{
	const struct bot *bot = bot_by_id(lobby, wish->against_id);
	struct lobby_peer *peer;

	if (bot == NULL)
		return false;
	TAILQ_FOREACH(peer, &bot->peers, group) {
		const struct waiting *entry = waiting_find(peer, ladder);

		if (entry != NULL &&
		    willingness(ladder, wish, entry) != WILLING_NOT)
			return true;
	}
	return false;
}

/* ---- slow matches, and who is needed elsewhere ---- */

/* Whether TURN_MS (0: the ladder's) is more time than LADDER gives. */
static bool is_slow(const struct ladder *ladder, uint32_t turn_ms)
{
	return ladder->row.turn_ms > 0 && turn_ms > ladder->row.turn_ms;
}

/* Whether what PEER plays on LADDER may count there, now. */
static bool may_count(const struct ladder *ladder,
		      const struct lobby_peer *peer, int64_t now_us)
{
	return !peer->is_closing && !peer->is_eof &&
	       pause_left(peer->bot, ladder, now_us) == 0 &&
	       (!ladder_is_rated(ladder) ||
		peer_unrated(peer, ladder, now_us) == NULL);
}

/*
 * Since when an author waits in the queue of LADDER for a match of its own;
 * INT64_MAX: nobody does.
 */
static int64_t author_since_us(const struct lobby *lobby,
			       const struct ladder *ladder, int64_t now_us)
{
	const struct waiting *entry;
	int64_t since_us = INT64_MAX;

	TAILQ_FOREACH(entry, &ladder->queue, queue) {
		const struct lobby_peer *peer = entry->peer;

		if (entry->wish == NULL && !peer->bot->is_house &&
		    peer->set_id == 0 && entry->since_us < since_us &&
		    may_count(ladder, peer, now_us) &&
		    !start_is_kept(lobby, ladder, peer))
			since_us = entry->since_us;
	}
	return since_us;
}

bool lend_has_to_wait(struct look *look, const struct waiting *entry)
{
	if (!is_slow(look->ladder, entry->wish->turn_ms) ||
	    author_since_us(look->lobby, look->ladder, look->now_us) ==
		    INT64_MAX)
		return false;
	start_wake(look->lobby, look->ladder, look->now_us,
		   look->now_us + LOOK_US);
	return true;
}

void lend_begin(struct lobby *lobby, struct lobby_play *play, int64_t now_us)
{
	play->is_slow = play->deal.purpose == MATCH_FOR_UNRATED &&
			is_slow(play->ladder, play->deal.turn_ms);
	if (!play->is_slow)
		return;
	LIST_INSERT_HEAD(&lobby->slow, play, slow);
	/* Wherever it is missing from now on. */
	for (unsigned i = 0; i < play->nseats; i++) {
		const struct lobby_peer *peer = play->seats[i].peer;

		for (struct waiting *entry = peer->waiting;
		     entry != NULL && peer->bot->is_house; entry = entry->next)
			start_wake(lobby, entry->ladder, now_us, now_us);
	}
}

void lend_end(struct lobby_play *play)
{
	if (play->is_slow)
		LIST_REMOVE(play, slow);
	play->is_slow = false;
}

/*
 * From when on LADDER needs PEER, which is there; INT64_MAX: it does not, or
 * PEER is none of the house's that could help.
 */
static int64_t needed_us(const struct lobby *lobby, const struct ladder *ladder,
			 const struct lobby_peer *peer, int64_t now_us)
{
	int64_t since_us;

	if (peer->bot == NULL || !peer->bot->is_house ||
	    waiting_find(peer, ladder) == NULL ||
	    !may_count(ladder, peer, now_us))
		return INT64_MAX;
	if (ladder->row.seats == 1)
		return ladder_is_rated(ladder)
			       ? round_house_us(ladder, peer->bot, now_us)
			       : INT64_MAX;
	since_us = author_since_us(lobby, ladder, now_us);
	return since_us == INT64_MAX
		       ? INT64_MAX
		       : since_us + ladder->row.house_wait_ms * INT64_C(1000);
}

/* How many of those that LADDER needs by now sit in no slow match. */
static unsigned count_others(const struct lobby *lobby,
			     const struct ladder *ladder, int64_t now_us)
{
	const struct lobby_peer *peer;
	unsigned count = 0;

	LIST_FOREACH(peer, &lobby->peers, all)
	{
		if ((peer->play == NULL || !peer->play->is_slow) &&
		    needed_us(lobby, ladder, peer, now_us) <= now_us)
			count++;
	}
	return count;
}

/* The seat in a slow match that is to be resigned for LADDER first, or NULL. */
static const struct play_seat *find_slow(struct lobby *lobby,
					 struct ladder *ladder, int64_t now_us)
{
	const struct play_seat *found = NULL;
	struct lobby_play *play;

	LIST_FOREACH(play, &lobby->slow, slow)
	{
		for (unsigned i = 0; i < play->nseats; i++) {
			const struct play_seat *seat = &play->seats[i];
			int64_t at_us = seat->peer == NULL
						? INT64_MAX
						: needed_us(lobby, ladder,
							    seat->peer, now_us);

			if (at_us == INT64_MAX)
				continue;
			start_wake(lobby, ladder, now_us,
				   at_us > now_us ? at_us : now_us + LOOK_US);
			if (at_us <= now_us && play->state == PLAY_RUNNING &&
			    !play->is_busy &&
			    (found == NULL || play->id > found->play->id))
				found = seat;
		}
	}
	return found;
}

void lend_call_back(struct lobby *lobby, struct ladder *ladder, int64_t now_us)
{
	unsigned wanted = ladder->row.seats > 1 ? ladder->row.seats - 1 : 1;
	const struct play_seat *seat;

	while ((seat = find_slow(lobby, ladder, now_us)) != NULL &&
	       count_others(lobby, ladder, now_us) < wanted) {
		struct lobby_peer *peer = seat->peer;
		struct lobby_play *play = seat->play;

		action_log(lobby, LOG_LEVEL_INFO,
			   "match=%" PRId64 " bot=%s event=called_back "
			   "ladder=%s",
			   play->id, peer->bot->name, ladder->row.name);
		match_resign(play->match, peer->seat, now_us, lobby->out);
		play_apply(lobby, play, now_us);
		/* An engine that takes its time; it is looked at again. */
		if (peer->play == play)
			break;
	}
}
