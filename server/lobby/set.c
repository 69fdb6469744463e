/* SPDX-License-Identifier: MIT */
/*
 * set.c - rated play where a match has several seats: sets.
 *
 * A set is one instance played as often as it has seats, the seats rotated by
 * one each time; server/ladder/pairing.h says who sits down together. Its
 * first match is a pick of the matchmaker, the others are appointments; the
 * connections that sit at it play nothing else before its end. The store rates
 * it with its last match.
 *
 * Somebody leaves it by @leave before its last match, by no @ready, or when the
 * link is lost and none of the bot's connections waits here RETURN_US later
 * (after the end of the match that it was lost in), or with the LOST_MAXth offer:
 * then the rest is not played, counts as lost by who left, and the store is told
 * so once all that was played is on disk. Where the first match does not come about there is no set. A set
 * with a match that came to nothing through our fault is void, and so is one
 * that a shutdown cuts off, at the next start.
 */
#include "server/lobby/appointment.h"
#include "server/lobby/lobby_internal.h"
#include "server/lobby/rated.h"
#include "server/lobby/start.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "server/ladder/pairing.h"

enum {
	RETURN_US = 15 * 1000 * 1000,
	LOST_MAX = 3, /* offers lost with a link, of one set */
};

struct set {
	TAILQ_ENTRY(set) link;         /* lobby->sets */
	struct ladder *ladder;         /* one reference */
	struct deal deal;              /* of each match, but the seats' seed */
	struct bot *bots[LIMIT_SEATS]; /* in the first match's order; refs */
	int64_t version_ids[LIMIT_SEATS];
	int64_t begun_us;
	unsigned nbegun;    /* matches offered */
	unsigned nunstored; /* over, and not yet on disk or lost */
	unsigned nlost;     /* offers, with a link */
	bool is_playing;    /* offered or in play */
	bool is_waiting;    /* for its next match's appointment */
	bool is_void;
	uint32_t left; /* bit I: bots[I] has left */
};

static struct set *set_by_id(struct lobby *lobby, int64_t id)
{
	struct set *set;

	TAILQ_FOREACH(set, &lobby->sets, link) {
		if (set->deal.round.id == id)
			return set;
	}
	return NULL;
}

static void free_set(struct lobby *lobby, struct set *set)
{
	struct ladder *ladder = set->ladder;

	TAILQ_REMOVE(&lobby->sets, set, link);
	for (unsigned i = 0; i < set->deal.seats; i++)
		bot_unref(set->bots[i]);
	free(set);
	ladder->refs--;
	ladder_settle(lobby, ladder);
}

void set_release(struct lobby *lobby)
{
	struct set *set;

	while ((set = TAILQ_FIRST(&lobby->sets)) != NULL) {
		TAILQ_REMOVE(&lobby->sets, set, link);
		for (unsigned i = 0; i < set->deal.seats; i++)
			bot_unref(set->bots[i]);
		set->ladder->refs--;
		free(set);
	}
}

bool set_has(const struct lobby *lobby, int64_t map_id, const char *seed)
{
	const struct set *set;

	TAILQ_FOREACH(set, &lobby->sets, link) {
		if (set->deal.instance.map_id == map_id &&
		    strcmp(set->deal.instance.seed, seed) == 0)
			return true;
	}
	return false;
}

/* Nobody is kept for SET any more. */
static void free_peers(struct lobby *lobby, struct set *set)
{
	for (unsigned i = 0; i < set->deal.seats; i++) {
		struct lobby_peer *peer;

		TAILQ_FOREACH(peer, &set->bots[i]->peers, group) {
			if (peer->set_id != set->deal.round.id)
				continue;
			peer->set_id = 0;
			for (struct waiting *entry = peer->waiting;
			     entry != NULL; entry = entry->next)
				start_touch(lobby, entry->ladder);
		}
	}
}

/* Bot I's seat in match NUMBER, from 1. */
static unsigned seat_of(const struct set *set, unsigned i, unsigned number)
{
	return (i + number - 1) % set->deal.seats;
}

/* The bots on the seats AT_FAULT of the match begun last, or to come. */
static uint32_t bots_of(const struct set *set, uint32_t at_fault,
			unsigned number)
{
	uint32_t bots = 0;

	for (unsigned i = 0; i < set->deal.seats; i++) {
		if ((at_fault & 1u << seat_of(set, i, number)) != 0)
			bots |= 1u << i;
	}
	return bots;
}

/* ---- its end ---- */

static void ask_closing(struct lobby *lobby, const struct set *set)
{
	size_t mark = lobby->scratch.len;
	bool is_first = true;

	for (unsigned i = 0; i < set->deal.seats; i++) {
		if ((set->left & 1u << i) == 0)
			continue;
		buf_add_format(&lobby->scratch, "%s%" PRId64,
			       is_first ? "" : ",", set->version_ids[i]);
		is_first = false;
	}
	action_close_round(lobby, set->deal.round.id, mark, set->is_void);
}

/* What SET's bots owe or have earned. */
static void settle_accounts(struct lobby *lobby, const struct set *set,
			    int64_t now_us)
{
	for (unsigned i = 0; i < set->deal.seats; i++) {
		if ((set->left & 1u << i) != 0)
			pause_note_forfeit(lobby, set->bots[i], set->ladder,
					   now_us);
		else if (!set->is_void)
			pause_note_completed(set->bots[i], set->ladder, now_us);
	}
}

static bool is_complete(const struct set *set)
{
	return set->nbegun == set->deal.seats && !set->is_playing;
}

/*
 * SET has no more to play: its connections are free. Once all is on disk the
 * store closes it, if its last match has not.
 */
static void end_set(struct lobby *lobby, struct set *set, int64_t now_us)
{
	assert(!set->is_playing && !set->is_waiting);
	free_peers(lobby, set);
	if (set->nunstored > 0)
		return;
	if (lobby->is_draining && !is_complete(set)) {
		/* It is cut off; the next start makes it void. */
		free_set(lobby, set);
		return;
	}
	settle_accounts(lobby, set, now_us);
	if (set->is_void || !is_complete(set))
		ask_closing(lobby, set);
	else if (set->ladder->has_pairing)
		pairing_note_ended(&set->ladder->pairing,
				   now_us - set->begun_us);
	action_log(lobby, LOG_LEVEL_INFO,
		   "ladder=%s round=%" PRId64 " event=set-ends matches=%u%s%s",
		   set->ladder->row.name, set->deal.round.id, set->nbegun,
		   set->left != 0 ? " left=1" : "",
		   set->is_void ? " void=1" : "");
	free_set(lobby, set);
}

/* ---- its matches ---- */

static deal_over_fn match_over;

static void make_appointment(struct lobby *lobby, struct set *set,
			     int64_t now_us)
{
	struct bot *bots[LIMIT_SEATS];
	struct appointment *next;
	struct deal deal = set->deal;
	unsigned number = set->nbegun + 1;

	deal.round.number = number;
	instance_draw_bot_seed(lobby, set->ladder, &deal.instance);
	for (unsigned i = 0; i < deal.seats; i++)
		bots[seat_of(set, i, number)] = set->bots[i];
	next = appointment_new(lobby, set->ladder, &deal, bots);
	if (next == NULL) {
		set->is_void = true;
		end_set(lobby, set, now_us);
		return;
	}
	for (unsigned i = 0; i < deal.seats; i++) {
		next->version_ids[seat_of(set, i, number)] =
			set->version_ids[i];
		next->patience_us[i] = RETURN_US;
	}
	set->is_waiting = true;
	appointment_add(lobby, next, now_us);
}

/* The match that was in play is over, or was not even begun. */
static void go_on(struct lobby *lobby, struct set *set, int64_t now_us)
{
	if (set->is_void || set->left != 0 || set->nbegun == set->deal.seats ||
	    lobby->is_draining)
		end_set(lobby, set, now_us);
	else
		make_appointment(lobby, set, now_us);
}

void set_match_ended(struct lobby *lobby, struct lobby_play *play,
		     int64_t now_us)
{
	struct set *set;

	if (play->deal.round.kind != MATCH_ROUND_SET)
		return;
	set = set_by_id(lobby, play->deal.round.id);
	assert(set != NULL && set->is_playing);
	set->is_playing = false;
	set->nunstored++;
	set->is_void |= play->is_void;
	go_on(lobby, set, now_us);
}

void set_match_begun(struct lobby *lobby, const struct lobby_play *play)
{
	const struct set *set;
	uint64_t ids[LIMIT_SEATS];

	if (play->deal.round.kind != MATCH_ROUND_SET ||
	    play->deal.round.number != 1)
		return;
	set = set_by_id(lobby, play->deal.round.id);
	if (set == NULL || !set->ladder->has_pairing ||
	    set->ladder->pairing.rules.seats != set->deal.seats)
		return;
	for (unsigned i = 0; i < set->deal.seats; i++)
		ids[i] = (uint64_t)set->bots[i]->id;
	pairing_note_begun(&set->ladder->pairing, ids, set->deal.seats);
}

/* The first match was not taken: nothing of the set has happened. */
static void call_off(struct lobby *lobby, struct set *set, uint32_t bots,
		     int64_t now_us)
{
	for (unsigned i = 0; i < set->deal.seats; i++) {
		if ((bots & 1u << i) != 0)
			pause_note_withdrawal(lobby, set->bots[i], set->ladder,
					      now_us);
	}
	free_peers(lobby, set);
	free_set(lobby, set);
}

/* SET waits for its next match, which will not be: it ends. */
static void call_next_off(struct lobby *lobby, struct set *set, int64_t now_us)
{
	struct appointment *next;

	TAILQ_FOREACH(next, &set->ladder->appointments, link) {
		if (next->deal.round.id == set->deal.round.id)
			break;
	}
	assert(next != NULL);
	appointment_drop(lobby, next, 0, "its set is over", now_us);
}

static void match_over(struct lobby *lobby, const struct deal *deal,
		       enum deal_end end, const struct lobby_play *play,
		       uint32_t at_fault, int64_t now_us)
{
	struct set *set = set_by_id(lobby, deal->round.id);
	uint32_t bots;

	if (set == NULL)
		return;
	bots = bots_of(set, at_fault, deal->round.number);
	switch (end) {
	case DEAL_DROPPED:
		set->is_waiting = false;
		set->left |= bots;
		set->is_void |= set->left == 0 || !set->ladder->is_listed;
		end_set(lobby, set, now_us);
		break;
	case DEAL_CANCELLED:
		set->is_playing = false;
		if (deal->round.number == 1) {
			call_off(lobby, set, bots, now_us);
			break;
		}
		set->nbegun--;
		/* Who comes back is offered it again, as after any match. */
		if (play->is_lost && ++set->nlost < LOST_MAX &&
		    !lobby->is_draining) {
			make_appointment(lobby, set, now_us);
			break;
		}
		set->is_void |= bots == 0;
		set->left |= bots;
		end_set(lobby, set, now_us);
		break;
	case DEAL_VOID:
		if (play->state == PLAY_STORING)
			set->nunstored--;
		else
			set->is_playing = false; /* abandoned */
		set->is_void = true;
		if (set->is_waiting)
			call_next_off(lobby, set, now_us);
		else if (!set->is_playing)
			end_set(lobby, set, now_us);
		break;
	case DEAL_STORED:
		set->nunstored--;
		if (!set->is_playing && !set->is_waiting)
			end_set(lobby, set, now_us);
		break;
	case DEAL_NENDS:
		break;
	}
}

void set_leave(struct lobby *lobby, struct lobby_peer *peer,
	       struct ladder *ladder, int64_t now_us)
{
	struct set *set = set_by_id(lobby, peer->set_id);

	if (set == NULL || (ladder != NULL && set->ladder != ladder))
		return;
	if (set->nbegun == set->deal.seats)
		return; /* nothing is left to be lost */
	for (unsigned i = 0; i < set->deal.seats; i++) {
		if (set->bots[i] == peer->bot)
			set->left |= 1u << i;
	}
	if (!set->is_waiting)
		return; /* after the match that it plays */
	call_next_off(lobby, set, now_us);
}

/* ---- who plays next ---- */

static void fit_pairing(struct lobby *lobby, struct ladder *ladder)
{
	struct pairing_rules rules = pairing_default_rules(ladder->row.seats);

	rules.house_wait_us = ladder->row.house_wait_ms * INT64_C(1000);
	if (ladder->has_pairing && ladder->pairing.rules.seats == rules.seats &&
	    ladder->pairing.rules.house_wait_us == rules.house_wait_us)
		return;
	if (ladder->has_pairing)
		pairing_release(&ladder->pairing);
	pairing_init(&ladder->pairing, &rules, instance_draw(lobby));
	ladder->has_pairing = true;
}

static void fill_candidate(const struct lobby *lobby, struct ladder *ladder,
			   const struct waiting *entry, int64_t now_us,
			   struct pairing_candidate *ret)
{
	const struct lobby_peer *peer = entry->peer;
	struct bot *bot = peer->bot;
	struct row_rating rating =
		ratings_get(&lobby->ratings, ladder->row.id, peer->version_id);

	*ret = (struct pairing_candidate){
		.bot_id = (uint64_t)bot->id,
		.owner_id = bot->owner_id,
		.mu = rating.mu,
		.sigma = rating.sigma,
		.rounds = rating.rounds,
		.is_house = bot->is_house,
		.waiting_since_us = entry->since_us,
		.waiting_since_set = entry->since_set,
	};
	if (pause_left(bot, ladder, now_us) > 0)
		ret->paused_until_us = bot_standing(bot, ladder->row.id)
					       ->penalty.paused_until_us;
	if (bot->predecessor_id == 0 || peer->version_id != bot->version_id)
		return;
	rating = ratings_get(&lobby->ratings, ladder->row.id,
			     bot->predecessor_id);
	ret->is_new_version = rating.rounds > 0;
	ret->predecessor_mu = rating.mu;
}

bool set_pick(struct lobby *lobby, struct ladder *ladder, struct pick *ret,
	      int64_t now_us)
{
	struct pairing_candidate *candidates;
	const struct waiting **entries, *entry;
	enum pairing_verdict verdict;
	struct pairing_table table;
	size_t count = 0;

	if (ladder->nqueued < ladder->row.seats)
		return false;
	fit_pairing(lobby, ladder);
	candidates = xcalloc(ladder->nqueued, sizeof(*candidates));
	entries = xcalloc(ladder->nqueued, sizeof(const struct waiting *));
	TAILQ_FOREACH(entry, &ladder->queue, queue) {
		if (start_is_kept(lobby, ladder, entry->peer) ||
		    peer_unrated(entry->peer, ladder, now_us) != NULL)
			continue;
		entries[count] = entry;
		fill_candidate(lobby, ladder, entry, now_us,
			       &candidates[count++]);
	}
	verdict = pairing_next(&ladder->pairing, candidates, count,
			       ladder->nwaiting - ladder->nwishes - count,
			       now_us, &table);
	for (unsigned i = 0; verdict == PAIRING_SEATED && i < ladder->row.seats;
	     i++)
		ret->peers[i] = entries[table.seats[i]]->peer;
	if (verdict == PAIRING_WAIT)
		start_wake(lobby, ladder, now_us, table.until_us);
	free(entries);
	free(candidates);
	return verdict == PAIRING_SEATED;
}

static struct set *new_set(struct lobby *lobby, struct ladder *ladder,
			   const struct lobby_play *play, int64_t now_us)
{
	struct set *set = xcalloc(1, sizeof(*set));

	set->ladder = ladder;
	ladder->refs++;
	set->deal = play->deal;
	set->begun_us = now_us;
	set->nbegun = 1;
	set->is_playing = true;
	for (unsigned i = 0; i < play->nseats; i++) {
		set->bots[i] = bot_ref(play->seats[i].bot);
		set->version_ids[i] = play->seats[i].version_id;
		play->seats[i].peer->set_id = play->id;
	}
	TAILQ_INSERT_TAIL(&lobby->sets, set, link);
	return set;
}

enum hold set_start(struct lobby *lobby, struct ladder *ladder,
		    struct pick *pick, int64_t now_us)
{
	struct deal deal = { .seats = ladder->row.seats,
			     .is_rated = true,
			     .is_of_road = true,
			     .over = match_over };
	struct lobby_peer *seated[LIMIT_SEATS];
	struct lobby_play *play;
	struct lobby_map *map;
	enum hold hold;
	size_t cost;

	memcpy(deal.params, ladder->params, sizeof(deal.params));
	hold = start_find(lobby, ladder, NULL, &deal, &map, &cost, now_us);
	if (hold != HOLD_NONE)
		return hold;
	instance_take(lobby, ladder, NULL, &deal.instance);
	start_seat(&deal, pick->peers, seated);
	deal.round = (struct match_round){
		.kind = MATCH_ROUND_SET,
		.number = 1,
		.wanted = deal.seats,
		.opened_us = now_us,
	};
	play = start_begin(lobby, ladder, seated, &deal, map, cost, now_us);
	/* Only the first offer can be as if it had never been. */
	new_set(lobby, ladder, play, now_us)->deal.is_of_road = false;
	return HOLD_NONE;
}

void set_begin_next(struct lobby *lobby, const struct lobby_play *play)
{
	struct set *set;

	if (play->deal.round.kind != MATCH_ROUND_SET ||
	    play->deal.round.number < 2)
		return;
	set = set_by_id(lobby, play->deal.round.id);
	assert(set != NULL && set->is_waiting);
	set->is_waiting = false;
	set->is_playing = true;
	set->nbegun++;
	for (unsigned i = 0; i < play->nseats; i++)
		play->seats[i].peer->set_id = set->deal.round.id;
}

void set_check(const struct lobby *lobby)
{
	const struct set *set;

	TAILQ_FOREACH(set, &lobby->sets, link) {
		assert(set->ladder->refs > 0);
		assert(set->nbegun >= 1 && set->nbegun <= set->deal.seats);
		assert(!(set->is_playing && set->is_waiting));
		assert(set->is_playing || set->is_waiting ||
		       set->nunstored > 0);
		assert(!set->is_waiting || (set->left == 0 && !set->is_void));
	}
}
