/* SPDX-License-Identifier: MIT */
/*
 * rematch.c - a stored match is played once more, because the host says so:
 * same map, parameters and seeds, the same bots on the same seats.
 *
 * It waits with its ladder until a connection of each of its bots stands in
 * the queue at once. Until then these bots play no other match on the ladder,
 * so it comes about as soon as what they play now is over. When one of them
 * leaves the ladder it is dropped.
 */
#include "server/lobby/lobby_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAMES_BYTES = 150 };

static void free_rematch(struct lobby *lobby, struct rematch *rematch)
{
	struct ladder *ladder = rematch->ladder;

	TAILQ_REMOVE(&ladder->rematches, rematch, link);
	lobby->nrematches--;
	for (unsigned i = 0; i < rematch->deal.seats; i++)
		bot_unref(rematch->bots[i]);
	free(rematch);
	ladder->refs--;
	/* Bots that it kept are free; a ladder that is gone may go now. */
	if (ladder->nqueued > 0 && ladder->is_listed)
		start_touch(lobby, ladder);
	ladder_settle(lobby, ladder);
}

void rematch_drop(struct lobby *lobby, struct rematch *rematch,
		  const char *reason)
{
	action_log(lobby, LOG_LEVEL_WARN,
		   "ladder=%s event=rematch-dropped of=%" PRId64
		   " reason=\"%s\"",
		   rematch->ladder->row.name, rematch->deal.of, reason);
	free_rematch(lobby, rematch);
}

void rematch_done(struct lobby *lobby, struct rematch *rematch)
{
	free_rematch(lobby, rematch);
}

void rematch_release(struct lobby *lobby)
{
	for (size_t i = 0; i < lobby->nladders; i++) {
		struct ladder *ladder = lobby->ladders[i];
		struct rematch *rematch;

		while ((rematch = TAILQ_FIRST(&ladder->rematches)) != NULL) {
			TAILQ_REMOVE(&ladder->rematches, rematch, link);
			for (unsigned k = 0; k < rematch->deal.seats; k++)
				bot_unref(rematch->bots[k]);
			free(rematch);
			ladder->refs--;
		}
	}
}

/* How many seats of REMATCH are BOT's. */
static unsigned seats_of(const struct rematch *rematch, const struct bot *bot)
{
	unsigned count = 0;

	for (unsigned i = 0; i < rematch->deal.seats; i++)
		count += rematch->bots[i] == bot;
	return count;
}

bool rematch_keeps(const struct ladder *ladder, const struct bot *bot)
{
	const struct rematch *rematch;

	TAILQ_FOREACH(rematch, &ladder->rematches, link) {
		if (seats_of(rematch, bot) > 0)
			return true;
	}
	return false;
}

/* BOT's connections that wait for LADDER, those that play just now too. */
static unsigned waiting_peers(struct bot *bot, struct ladder *ladder)
{
	struct lobby_peer *peer;
	unsigned count = 0;

	TAILQ_FOREACH(peer, &bot->peers, group) {
		count += !peer->is_closing && !peer->is_eof &&
			 waiting_find(peer, ladder) != NULL;
	}
	return count;
}

/*
 * The bots that do not wait in the numbers that it takes, commas between,
 * each once; "" when all do.
 */
static void find_absent(const struct rematch *rematch, struct buf *names)
{
	for (unsigned i = 0; i < rematch->deal.seats; i++) {
		struct bot *bot = rematch->bots[i];
		bool is_known = false;

		for (unsigned k = 0; k < i; k++)
			is_known |= rematch->bots[k] == bot;
		if (!is_known && waiting_peers(bot, rematch->ladder) <
					 seats_of(rematch, bot))
			buf_add_format(names, "%s%s",
				       names->len == 0 ? "" : ", ", bot->name);
	}
}

/* A queued connection for each seat, in PEERS. False: not all are free. */
static bool pick(const struct rematch *rematch,
		 struct lobby_peer *peers[LIMIT_SEATS])
{
	unsigned nseats = rematch->deal.seats, found = 0;
	const struct waiting *entry;

	memset(peers, 0, nseats * sizeof(*peers));
	TAILQ_FOREACH(entry, &rematch->ladder->queue, queue) {
		for (unsigned i = 0; i < nseats; i++) {
			if (peers[i] != NULL ||
			    rematch->bots[i] != entry->peer->bot)
				continue;
			peers[i] = entry->peer;
			found++;
			break;
		}
	}
	return found == nseats;
}

struct rematch *rematch_next(struct lobby *lobby, struct ladder *ladder,
			     struct lobby_peer *peers[LIMIT_SEATS])
{
	struct rematch *rematch, *next;

	for (rematch = TAILQ_FIRST(&ladder->rematches); rematch != NULL;
	     rematch = next) {
		struct buf absent = BUF_INIT(NAMES_BYTES);
		bool is_hopeless;

		next = TAILQ_NEXT(rematch, link);
		find_absent(rematch, &absent);
		is_hopeless = absent.len > 0 || absent.is_failed;
		buf_release(&absent);
		if (is_hopeless)
			rematch_drop(lobby, rematch, "a bot of it has left");
		else if (pick(rematch, peers))
			return rematch;
	}
	return NULL;
}

/* ---- the request ---- */

static struct ladder *ladder_by_id(struct lobby *lobby, int64_t id)
{
	for (size_t i = 0; i < lobby->nladders; i++) {
		if (lobby->ladders[i]->row.id == id)
			return lobby->ladders[i];
	}
	return NULL;
}

static struct bot *bot_by_id(struct lobby *lobby, int64_t id)
{
	for (size_t i = 0; i < lobby->nbots; i++) {
		if (lobby->bots[i]->id == id)
			return lobby->bots[i];
	}
	return NULL;
}

/* Whether there may be a rematch on LADDER at all; ERROR says why not. */
static int check_ladder(const struct lobby *lobby, const struct ladder *ladder,
			const struct row_match *match, struct game_error *error)
{
	if (lobby->is_draining)
		game_error_set(error, "the server shuts down");
	else if (lobby->nrematches >= LIMIT_REMATCHES)
		game_error_set(error, "%d rematches wait already",
			       (int)LIMIT_REMATCHES);
	else if (ladder == NULL || !ladder->is_listed ||
		 strcmp(ladder->row.game, match->game) != 0)
		game_error_set(error, "nothing is played on %s any more",
			       match->ladder);
	else if (!ladder->row.is_rated && !ladder->game->is_shared &&
		 !ladder->row.is_seed_random)
		/* Unrated ones of its own are how far a bot has come there. */
		game_error_set(error,
			       "%s is unrated and its bots walk its seeds in "
			       "order: a match more would be a step",
			       match->ladder);
	else if (match->nseats < ladder->game->seats_min ||
		 match->nseats > ladder->game->seats_max)
		game_error_set(error, "%s is not for %u seats", match->game,
			       match->nseats);
	else
		return 0;
	return -EINVAL;
}

/* REMATCH as MATCH was, but for its references. 0, or -EINVAL with ERROR. */
static int fill(struct lobby *lobby, struct rematch *rematch,
		const struct row_match *match, struct game_error *error)
{
	struct deal *deal = &rematch->deal;

	deal->of = match->id;
	deal->seats = match->nseats;
	deal->instance.map_id = match->map_id;
	(void)snprintf(deal->instance.seed, sizeof(deal->instance.seed), "%s",
		       match->seed);
	(void)snprintf(deal->instance.bot_seed, sizeof(deal->instance.bot_seed),
		       "%s", match->bot_seed);
	for (unsigned i = 0; i < match->nseats; i++) {
		rematch->bots[i] = bot_by_id(lobby, match->seats[i].bot_id);
		if (rematch->bots[i] == NULL) {
			game_error_set(error, "there is no bot %s any more",
				       match->seats[i].bot);
			return -EINVAL;
		}
	}
	return game_params_parse(rematch->ladder->game, match->params,
				 deal->params, error);
}

static int check_bots(const struct rematch *rematch, struct game_error *error)
{
	struct buf absent = BUF_INIT(NAMES_BYTES);
	bool is_missing;

	find_absent(rematch, &absent);
	is_missing = absent.len > 0 || absent.is_failed;
	if (is_missing)
		game_error_set(error, "not waiting on %s: %s",
			       rematch->ladder->row.name,
			       absent.len > 0 ? buf_text(&absent)
					      : "most of its bots");
	buf_release(&absent);
	return is_missing ? -ENOENT : 0;
}

int lobby_rematch(struct lobby *lobby, const struct row_match *match,
		  int64_t now_us, struct game_error *error)
{
	struct ladder *ladder = ladder_by_id(lobby, match->ladder_id);
	struct rematch *rematch;
	int rc = check_ladder(lobby, ladder, match, error);

	if (rc < 0)
		return rc;
	rematch = xcalloc(1, sizeof(*rematch));
	rematch->ladder = ladder;
	rc = fill(lobby, rematch, match, error);
	if (rc == 0)
		rc = check_bots(rematch, error);
	if (rc < 0) {
		free(rematch);
		return rc;
	}
	for (unsigned i = 0; i < rematch->deal.seats; i++)
		(void)bot_ref(rematch->bots[i]);
	ladder->refs++;
	TAILQ_INSERT_TAIL(&ladder->rematches, rematch, link);
	lobby->nrematches++;
	action_log(lobby, LOG_LEVEL_INFO, "ladder=%s event=rematch of=%" PRId64,
		   ladder->row.name, match->id);
	start_touch(lobby, ladder);
	lobby_settle(lobby, now_us);
	return 0;
}
