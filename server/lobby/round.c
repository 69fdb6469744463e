/* SPDX-License-Identifier: MIT */
/*
 * round.c - rated play where a match has one seat: rounds that stay open.
 *
 * A round is one instance that each owner is given once, whenever a bot of
 * theirs is there; server/ladder/rounds.h says which one a bot gets. Whoever
 * was offered it has seen it, so a run that ends void or is abandoned is not
 * given again; only an offer that was not taken never happened.
 *
 * A round closes, once nothing of it is in play,
 *
 * 1. with its last run: the store does that by itself;
 * 2. when its time is over (`round-hours`), or its ladder is played no more;
 * 3. when a bot needs its room (rounds.h);
 * 4. early: it has two runs or more, the last was stored QUIET_US ago, and
 *    nobody who is on the ladder now, waiting or in play, may still have a run
 *    of it: not who has to pause, or plays unrated there. So an author alone at night is rated as soon as the house bots have
 *    played his rounds, and two authors as soon as both have.
 *
 * What is open is known here alone: after a restart every bot begins with
 * other rounds, and the store has closed the old ones.
 */
#include "server/lobby/lobby_internal.h"
#include "server/lobby/rated.h"
#include "server/lobby/start.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "server/ladder/rounds.h"

enum {
	QUIET_US = 5 * 1000 * 1000,
	LOOK_US = 1000 * 1000, /* at all who are there, at most so often */
	CHOICES_MAX = 64,      /* rounds that a bot may choose from */
};

struct open_round {
	TAILQ_ENTRY(open_round) link; /* ladder->rounds, oldest first */
	struct deal deal;             /* of each run, but its bot's seed */
	int64_t last_us;              /* when a run was last stored */
	int64_t look_us;              /* not before, for rule 4 */
	uint32_t runs_stored, runs_in_play;
	double mu_sum; /* over both */
	bool has_author;
	bool is_ending; /* its map has gone: no more runs */
	int64_t *given; /* owned; sorted: who was given it */
	size_t ngiven;
};

/* Who counts as one: an owner; a house's bots are each their own. */
static int64_t giving_id(const struct bot *bot)
{
	return bot->is_house ? -bot->id : bot->owner_id;
}

/* Where ID is, or would be, among those who were given ROUND. */
static size_t given_place(const struct open_round *round, int64_t id)
{
	size_t low = 0, high = round->ngiven;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (round->given[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool was_given(const struct open_round *round, const struct bot *bot)
{
	int64_t id = giving_id(bot);
	size_t at = given_place(round, id);

	return at < round->ngiven && round->given[at] == id;
}

static void give(struct open_round *round, const struct bot *bot)
{
	int64_t id = giving_id(bot);
	size_t at = given_place(round, id);

	round->given = xreallocarray(round->given, round->ngiven + 1,
				     sizeof(*round->given));
	memmove(round->given + at + 1, round->given + at,
		(round->ngiven - at) * sizeof(*round->given));
	round->given[at] = id;
	round->ngiven++;
	round->has_author |= !bot->is_house;
}

static void take_back(struct open_round *round, int64_t id)
{
	size_t at = given_place(round, id);

	assert(at < round->ngiven && round->given[at] == id);
	round->ngiven--;
	memmove(round->given + at, round->given + at + 1,
		(round->ngiven - at) * sizeof(*round->given));
	round->has_author = false;
	for (size_t i = 0; i < round->ngiven; i++)
		round->has_author |= round->given[i] > 0;
}

static void free_round(struct ladder *ladder, struct open_round *round)
{
	TAILQ_REMOVE(&ladder->rounds, round, link);
	ladder->nrounds--;
	free(round->given);
	free(round);
}

void round_release(struct ladder *ladder)
{
	struct open_round *round;

	while ((round = TAILQ_FIRST(&ladder->rounds)) != NULL)
		free_round(ladder, round);
}

bool round_has(const struct ladder *ladder, int64_t map_id, const char *seed)
{
	const struct open_round *round;

	TAILQ_FOREACH(round, &ladder->rounds, link) {
		if (round->deal.instance.map_id == map_id &&
		    strcmp(round->deal.instance.seed, seed) == 0)
			return true;
	}
	return false;
}

/* The store closes ROUND; nothing more is played in it. */
static void close_round(struct lobby *lobby, struct ladder *ladder,
			struct open_round *round, const char *why)
{
	assert(round->runs_in_play == 0);
	action_log(lobby, LOG_LEVEL_INFO,
		   "ladder=%s round=%" PRId64 " event=round-ends runs=%u "
		   "reason=%s",
		   ladder->row.name, round->deal.round.id, round->runs_stored,
		   why);
	action_close_round(lobby, round->deal.round.id, lobby->scratch.len,
			   false);
	free_round(ladder, round);
}

static struct rounds_rules rules_of(const struct ladder *ladder)
{
	struct rounds_rules rules = rounds_default_rules(ladder->row.round_runs,
							 ladder->row.round_us);

	rules.house_wait_us = ladder->row.house_wait_ms * INT64_C(1000);
	return rules;
}

static struct rounds_open view_of(const struct open_round *round,
				  const struct bot *bot)
{
	uint32_t runs = round->runs_stored + round->runs_in_play;

	return (struct rounds_open){
		.id = (uint64_t)round->deal.round.id,
		.opened_us = round->deal.round.opened_us,
		.runs_wanted = round->deal.round.wanted,
		.runs_stored = round->runs_stored,
		.runs_in_play = round->runs_in_play,
		.mu_mean = runs == 0 ? 0 : round->mu_sum / runs,
		.has_owner = bot != NULL && was_given(round, bot),
		.has_author = round->has_author,
	};
}

int64_t round_house_us(const struct ladder *ladder, const struct bot *bot,
		       int64_t now_us)
{
	struct rounds_rules rules = rules_of(ladder);
	const struct open_round *round;
	int64_t first_us = INT64_MAX;

	TAILQ_FOREACH(round, &ladder->rounds, link) {
		struct rounds_open view = view_of(round, bot);
		int64_t at_us = view.opened_us + rules.house_wait_us;

		if (view.has_author && !view.has_owner && !round->is_ending &&
		    view.runs_stored + view.runs_in_play < view.runs_wanted &&
		    !rounds_is_over(&rules, &view, now_us) && at_us < first_us)
			first_us = at_us;
	}
	return first_us;
}

/* ---- the end of a round ---- */

/* Whether PEER, which is on the ladder, may have a run of ROUND soon. */
static bool may_still_play(const struct lobby *lobby,
			   const struct ladder *ladder,
			   const struct open_round *round,
			   const struct lobby_peer *peer, int64_t now_us)
{
	struct row_rating rating;

	if (was_given(round, peer->bot) ||
	    peer_unrated(peer, ladder, now_us) != NULL ||
	    pause_left(peer->bot, ladder, now_us) != 0)
		return false;
	if (!peer->bot->is_house || round->has_author)
		return true;
	rating = ratings_get(&lobby->ratings, ladder->row.id, peer->version_id);
	return rating.sigma > rules_of(ladder).house_settle_sigma;
}

/* Rule 4. */
static bool is_done_early(struct lobby *lobby, struct ladder *ladder,
			  struct open_round *round, int64_t now_us)
{
	struct lobby_peer *peer;
	int64_t quiet_us = round->last_us + QUIET_US;

	if (round->runs_stored < 2)
		return false;
	if (round->look_us > quiet_us)
		quiet_us = round->look_us;
	if (now_us < quiet_us) {
		start_wake(lobby, ladder, now_us, quiet_us);
		return false;
	}
	round->look_us = now_us + LOOK_US;
	LIST_FOREACH(peer, &lobby->peers, all)
	{
		const struct waiting *entry = waiting_find(peer, ladder);

		if (peer->bot != NULL && entry != NULL && entry->wish == NULL &&
		    may_still_play(lobby, ladder, round, peer, now_us))
			return false;
	}
	return true;
}

void round_sweep(struct lobby *lobby, struct ladder *ladder, int64_t now_us)
{
	struct rounds_rules rules = rules_of(ladder);
	struct open_round *round, *next;

	for (round = TAILQ_FIRST(&ladder->rounds); round != NULL;
	     round = next) {
		struct rounds_open view = view_of(round, NULL);

		next = TAILQ_NEXT(round, link);
		if (round->runs_in_play > 0)
			continue;
		if (!ladder->is_listed || !ladder_is_rated(ladder) ||
		    ladder->row.seats > 1 || round->is_ending)
			close_round(lobby, ladder, round, "ladder");
		else if (rounds_is_over(&rules, &view, now_us))
			close_round(lobby, ladder, round, "time");
		else if (is_done_early(lobby, ladder, round, now_us))
			close_round(lobby, ladder, round, "quiet");
		else
			start_wake(lobby, ladder, now_us,
				   view.opened_us + rules.age_us);
	}
}

/* ---- its runs ---- */

static struct open_round *round_by_id(struct ladder *ladder, int64_t id)
{
	struct open_round *round;

	TAILQ_FOREACH(round, &ladder->rounds, link) {
		if (round->deal.round.id == id)
			return round;
	}
	return NULL;
}

/* A run that was offered is none. */
static void undo_run(struct ladder *ladder, struct open_round *round,
		     const struct lobby_play *play)
{
	take_back(round, play->given_id);
	if (round->runs_stored + round->runs_in_play > 0 || round->ngiven > 0)
		return;
	instance_give_back(ladder, NULL, &round->deal.instance);
	free_round(ladder, round);
}

static void run_over(struct lobby *lobby, const struct deal *deal,
		     enum deal_end end, const struct lobby_play *play,
		     uint32_t at_fault, int64_t now_us)
{
	struct ladder *ladder = ladder_by_id(lobby, play->ladder_id);
	struct open_round *round;

	if (ladder == NULL)
		return; /* gone, and its rounds with it */
	round = round_by_id(ladder, deal->round.id);
	if (round == NULL)
		return;
	round->runs_in_play--;
	if (end == DEAL_STORED) {
		round->runs_stored++;
		round->last_us = now_us;
		pause_note_completed(play->seats[0].bot, ladder, now_us);
	} else {
		round->mu_sum -= play->mu;
	}
	start_touch(lobby, ladder);
	if (end == DEAL_CANCELLED) {
		if (at_fault != 0)
			pause_note_withdrawal(lobby, play->seats[0].bot, ladder,
					      now_us);
		undo_run(ladder, round, play);
	} else if (round->runs_stored >= round->deal.round.wanted) {
		free_round(ladder, round); /* the store has closed it */
	}
}

/* ---- who plays next ---- */

/* The rounds that have room, as BOT sees them. */
static size_t list_rounds(struct ladder *ladder,
			  const struct rounds_rules *rules,
			  const struct bot *bot, int64_t now_us,
			  struct open_round **rounds, struct rounds_open *views)
{
	struct open_round *round;
	size_t count = 0;

	TAILQ_FOREACH(round, &ladder->rounds, link) {
		struct rounds_open view = view_of(round, bot);

		if (count == CHOICES_MAX || round->is_ending ||
		    rounds_is_over(rules, &view, now_us) ||
		    view.runs_stored + view.runs_in_play >= view.runs_wanted)
			continue;
		rounds[count] = round;
		views[count++] = view;
	}
	return count;
}

/* What PEER may play; false: nothing now. */
static bool choose(struct lobby *lobby, struct ladder *ladder,
		   struct lobby_peer *peer, struct pick *ret, int64_t now_us)
{
	struct row_rating rating =
		ratings_get(&lobby->ratings, ladder->row.id, peer->version_id);
	struct rounds_rules rules = rules_of(ladder);
	struct rounds_bot bot = { rating.mu, rating.sigma,
				  peer->bot->is_house };
	struct open_round *rounds[CHOICES_MAX];
	struct rounds_open views[CHOICES_MAX];
	struct rounds_choice choice;
	size_t count =
		list_rounds(ladder, &rules, peer->bot, now_us, rounds, views);

	ret->peers[0] = peer;
	ret->round = NULL;
	ret->replaced = NULL;
	switch (rounds_choose(&rules, views, count, &bot, now_us, &choice)) {
	case ROUNDS_JOIN:
		ret->round = rounds[choice.index];
		return true;
	case ROUNDS_OPEN:
		return true;
	case ROUNDS_REPLACE:
		ret->replaced = rounds[choice.index];
		return true;
	case ROUNDS_WAIT:
		break;
	}
	start_wake(lobby, ladder, now_us, choice.until_us);
	return false;
}

bool round_pick(struct lobby *lobby, struct ladder *ladder, struct pick *ret,
		int64_t now_us)
{
	struct waiting *entry;

	TAILQ_FOREACH(entry, &ladder->queue, queue) {
		if (start_is_kept(lobby, ladder, entry->peer) ||
		    peer_unrated(entry->peer, ladder, now_us) != NULL ||
		    pause_holds(lobby, ladder, entry->peer->bot, now_us))
			continue;
		if (choose(lobby, ladder, entry->peer, ret, now_us))
			return true;
		waiting_idle(lobby, entry);
	}
	return false;
}

static struct open_round *open_round(struct ladder *ladder,
				     const struct deal *deal, int64_t now_us)
{
	struct open_round *round = xcalloc(1, sizeof(*round));

	round->deal = *deal;
	round->deal.round = (struct match_round){
		.kind = MATCH_ROUND_OPEN,
		.wanted = ladder->row.round_runs,
		.opened_us = now_us,
	};
	round->last_us = now_us;
	TAILQ_INSERT_TAIL(&ladder->rounds, round, link);
	ladder->nrounds++;
	return round;
}

/* The map of PICK's round, which has one or gets one. As start_one. */
static enum hold find_map(struct lobby *lobby, struct ladder *ladder,
			  struct pick *pick, struct lobby_map **ret_map,
			  size_t *ret_cost, int64_t now_us)
{
	struct deal deal = { .seats = 1, .is_rated = true, .over = run_over };
	struct game_error error;
	enum hold hold;

	if (pick->round != NULL)
		return start_admit(lobby, ladder, &pick->round->deal, ret_map,
				   ret_cost, &error, now_us);
	memcpy(deal.params, ladder->params, sizeof(deal.params));
	hold = start_find(lobby, ladder, NULL, &deal, ret_map, ret_cost,
			  now_us);
	if (hold != HOLD_NONE)
		return hold;
	if (pick->replaced != NULL)
		close_round(lobby, ladder, pick->replaced, "room");
	instance_take(lobby, ladder, NULL, &deal.instance);
	pick->round = open_round(ladder, &deal, now_us);
	return HOLD_NONE;
}

enum hold round_start(struct lobby *lobby, struct ladder *ladder,
		      struct pick *pick, int64_t now_us)
{
	struct lobby_peer *peer = pick->peers[0];
	bool is_new = pick->round == NULL;
	struct open_round *round;
	struct lobby_play *play;
	struct lobby_map *map;
	enum hold hold;
	struct deal deal;
	size_t cost;
	double mu;

	hold = find_map(lobby, ladder, pick, &map, &cost, now_us);
	if (hold == HOLD_BROKEN && !is_new) {
		/* It ends with the runs that it has. */
		pick->round->is_ending = true;
		round_sweep(lobby, ladder, now_us);
		return HOLD_NONE;
	}
	if (hold != HOLD_NONE)
		return hold;
	round = pick->round;
	mu = ratings_get(&lobby->ratings, ladder->row.id, peer->version_id).mu;
	give(round, peer->bot);
	round->runs_in_play++;
	round->mu_sum += mu;
	deal = round->deal;
	if (!is_new)
		instance_draw_bot_seed(lobby, ladder, &deal.instance);
	play = start_begin(lobby, ladder, pick->peers, &deal, map, cost,
			   now_us);
	play->mu = mu;
	play->given_id = giving_id(peer->bot);
	round->deal.round.id = play->deal.round.id;
	return HOLD_NONE;
}

void round_check(const struct ladder *ladder)
{
	const struct open_round *round;
	unsigned count = 0;

	TAILQ_FOREACH(round, &ladder->rounds, link) {
		assert(round->deal.round.kind == MATCH_ROUND_OPEN);
		assert(round->deal.round.id > 0);
		assert(round->runs_stored + round->runs_in_play <=
		       round->ngiven);
		assert(round->runs_in_play > 0 ||
		       round->runs_stored < round->deal.round.wanted);
		assert(round->ngiven > 0);
		for (size_t i = 1; i < round->ngiven; i++)
			assert(round->given[i - 1] < round->given[i]);
		count++;
	}
	assert(count == ladder->nrounds);
}
