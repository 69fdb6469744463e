/* SPDX-License-Identifier: MIT */
/*
 * candidate.c - is the new version better? A candidate plays its predecessor,
 * the bot's active version, unrated and on equal instances.
 *
 * Once connections of both wait on a ladder they begin a duel there: one
 * instance that nobody else has. In a solo game the candidate plays it, then
 * the predecessor; in a shared one they play as many matches as there are
 * seats, which rotate. A duel is one difference of points a match; the mean of
 * all since the start, and its 95 % interval, is told to the candidate's
 * connections. The store has all of them for good: `hillctl bot candidate`.
 *
 * While its predecessor is there, a candidate plays nothing else on the
 * ladder. The predecessor has its own matches in between.
 */
#include "server/lobby/appointment.h"
#include "server/lobby/lobby_internal.h"
#include "server/lobby/start.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/control.h"
#include "server/ladder/paired.h"

enum {
	RETURN_US = 60 * 1000 * 1000, /* who left may come back for so long */
	REST_US = 1000 * 1000,        /* for the predecessor's own matches */
	RETRY_US = 60 * 1000 * 1000,  /* after a map that cannot be had */
	TAG_DUEL = 0,
	NSIDES = 2,
	CANDIDATE = 0,
	PREDECESSOR = 1,
};

struct duel {
	TAILQ_ENTRY(duel) link; /* lobby->duels */
	int64_t id;             /* never used again */
	struct ladder *ladder;  /* one reference */
	struct bot *bot;        /* likewise */
	int64_t version_ids[NSIDES];
	struct deal deal; /* of each match */
	unsigned number;  /* matches stored */
	unsigned wanted;
	int64_t points[NSIDES];
};

static void free_duel(struct lobby *lobby, struct duel *duel)
{
	TAILQ_REMOVE(&lobby->duels, duel, link);
	duel->ladder->refs--;
	bot_unref(duel->bot);
	free(duel);
}

void candidates_release(struct lobby *lobby)
{
	struct duel *duel;

	while ((duel = TAILQ_FIRST(&lobby->duels)) != NULL)
		free_duel(lobby, duel);
}

static struct duel *duel_by_id(struct lobby *lobby, int64_t id)
{
	struct duel *duel;

	TAILQ_FOREACH(duel, &lobby->duels, link) {
		if (duel->id == id)
			return duel;
	}
	return NULL;
}

static bool is_under_way(const struct lobby *lobby, const struct ladder *ladder,
			 int64_t version_id)
{
	const struct duel *duel;

	TAILQ_FOREACH(duel, &lobby->duels, link) {
		if (duel->ladder == ladder &&
		    duel->version_ids[CANDIDATE] == version_id)
			return true;
	}
	return false;
}

/* ---- what came of it ---- */

static const char *label_of(const struct bot *bot, int64_t version_id)
{
	const struct row_version *version = bot_version_by_id(bot, version_id);

	return version == NULL ? "?" : version->label;
}

/* That of DUEL's two versions, so far; the one not used longest gives way. */
static struct comparison *comparison_of(const struct duel *duel)
{
	struct comparison *all =
		bot_standing(duel->bot, duel->ladder->row.id)->comparisons;
	struct comparison found = {
		.candidate_id = duel->version_ids[CANDIDATE],
		.predecessor_id = duel->version_ids[PREDECESSOR],
	};
	unsigned at = 0;

	while (at < COMPARISONS_MAX &&
	       (all[at].candidate_id != found.candidate_id ||
		all[at].predecessor_id != found.predecessor_id))
		at++;
	if (at == COMPARISONS_MAX)
		at--;
	else
		found = all[at];
	memmove(all + 1, all, at * sizeof(*all));
	all[0] = found;
	return all;
}

/* How the two stand after DUEL, which is over. */
static struct paired add_difference(const struct duel *duel)
{
	struct comparison *all = comparison_of(duel);
	double difference =
		(double)(duel->points[CANDIDATE] - duel->points[PREDECESSOR]) /
		duel->deal.seats;
	double before;

	/* Welford's way: nothing is lost when many are added. */
	all->count++;
	before = difference - all->mean;
	all->mean += before / (double)all->count;
	all->squares += before * (difference - all->mean);
	return paired_of_squares(all->count, all->mean, all->squares);
}

static void tell(struct lobby *lobby, const struct duel *duel)
{
	struct paired paired = add_difference(duel);
	char interval[80] = "no interval yet", text[LIMIT_NOTICE_BYTES + 1];
	struct lobby_peer *peer, *next;

	if (paired.count > 1)
		(void)snprintf(interval, sizeof(interval),
			       "95 %% interval %+.4g to %+.4g",
			       paired.mean - paired.half,
			       paired.mean + paired.half);
	(void)snprintf(text, sizeof(text),
		       "%s: version %s against %s: %+.4g points a match, %s, "
		       "%zu instance%s",
		       duel->ladder->row.name,
		       label_of(duel->bot, duel->version_ids[CANDIDATE]),
		       label_of(duel->bot, duel->version_ids[PREDECESSOR]),
		       paired.mean, interval, paired.count,
		       paired.count == 1 ? "" : "s");
	action_log(lobby, LOG_LEVEL_INFO,
		   "ladder=%s bot=%s event=candidate instances=%zu mean=%.6g",
		   duel->ladder->row.name, duel->bot->name, paired.count,
		   paired.mean);
	for (peer = TAILQ_FIRST(&duel->bot->peers); peer != NULL; peer = next) {
		size_t mark = lobby->scratch.len;

		next = TAILQ_NEXT(peer, group);
		if (peer->version_id != duel->version_ids[CANDIDATE])
			continue;
		control_add_word(&lobby->scratch, WORD_NOTICE);
		control_add_text(&lobby->scratch, text);
		control_add_end(&lobby->scratch);
		peer_say(lobby, peer, mark);
	}
}

/* ---- its matches ---- */

/* Who sits on SEAT of the next match of DUEL. */
static unsigned side_of(const struct duel *duel, unsigned seat)
{
	if (duel->deal.seats == 1)
		return duel->number == 0 ? CANDIDATE : PREDECESSOR;
	return (seat + duel->number) % NSIDES;
}

static void make_appointment(struct lobby *lobby, struct duel *duel,
			     int64_t now_us)
{
	struct bot *bots[NSIDES] = { duel->bot, duel->bot };
	struct appointment *next;

	next = appointment_new(lobby, duel->ladder, &duel->deal, bots);
	if (next == NULL) {
		free_duel(lobby, duel); /* too many wait; another time */
		return;
	}
	for (unsigned i = 0; i < duel->deal.seats; i++) {
		next->version_ids[i] = duel->version_ids[side_of(duel, i)];
		next->patience_us[i] = RETURN_US;
	}
	appointment_add(lobby, next, now_us);
}

static void over(struct lobby *lobby, const struct deal *deal,
		 enum deal_end end, const struct lobby_play *play,
		 uint32_t at_fault, int64_t now_us)
{
	struct duel *duel = duel_by_id(lobby, deal->tags[TAG_DUEL]);
	struct ladder *ladder;

	if (duel == NULL)
		return;
	ladder = duel->ladder;
	if (duel->number == 0)
		unrated_give_back(lobby, deal, ladder->row.id, end, at_fault);
	/* Nobody's fault: it is the map, and at once it would be again. */
	if (end == DEAL_DROPPED && at_fault == 0)
		ladder->duels_us = now_us + RETRY_US;
	start_touch(lobby, ladder);
	start_wake(lobby, ladder, now_us, now_us); /* if in a pump */
	if (end != DEAL_STORED) {
		/* Half of it says nothing. */
		free_duel(lobby, duel);
		return;
	}
	for (unsigned i = 0; i < deal->seats; i++)
		duel->points[side_of(duel, i)] += play->seats[i].points;
	if (++duel->number < duel->wanted) {
		make_appointment(lobby, duel, now_us);
		return;
	}
	tell(lobby, duel);
	free_duel(lobby, duel);
}

/* ---- when it begins ---- */

static const struct row_version *candidate_of(const struct lobby_peer *peer)
{
	const struct row_version *version;

	if (peer->rated_from_us != INT64_MAX || guest_is(peer))
		return NULL;
	version = bot_version_by_id(peer->bot, peer->version_id);
	return version != NULL && version->is_candidate ? version : NULL;
}

/* Whether LADDER's matches can be one version against another, or alone. */
static bool has_duels(const struct ladder *ladder)
{
	return ladder->row.seats == 1 || ladder->game->seats_min <= NSIDES;
}

/* An entry of the active version of PEER's bot, or NULL. */
static struct waiting *predecessor_of(const struct lobby_peer *peer,
				      const struct ladder *ladder)
{
	struct lobby_peer *other;
	struct waiting *found = NULL;

	TAILQ_FOREACH(other, &peer->bot->peers, group) {
		struct waiting *entry = waiting_find(other, ladder);

		if (entry == NULL || entry->wish != NULL ||
		    other->version_id != peer->bot->version_id)
			continue;
		if (found == NULL || entry->is_queued)
			found = entry;
	}
	return found;
}

bool candidate_keeps(const struct ladder *ladder, const struct lobby_peer *peer)
{
	return candidate_of(peer) != NULL && has_duels(ladder) &&
	       predecessor_of(peer, ladder) != NULL;
}

/* As look_at. */
static enum hold begin(struct lobby *lobby, struct ladder *ladder,
		       struct lobby_peer *peer, const struct instance *instance,
		       int64_t now_us)
{
	struct duel *duel;
	struct deal deal = {
		.instance = *instance,
		.seats = ladder->row.seats == 1 ? 1 : NSIDES,
		.purpose = MATCH_FOR_CANDIDATE,
		.over = over,
	};
	enum hold hold;

	memcpy(deal.params, ladder->params, sizeof(deal.params));
	hold = unrated_take_map(lobby, ladder, &deal, &deal.instance, now_us);
	if (hold != HOLD_NONE)
		return hold;
	duel = xcalloc(1, sizeof(*duel));
	duel->id = ++lobby->last_duel;
	duel->ladder = ladder;
	ladder->refs++;
	duel->bot = bot_ref(peer->bot);
	duel->version_ids[CANDIDATE] = peer->version_id;
	duel->version_ids[PREDECESSOR] = peer->bot->version_id;
	duel->wanted = NSIDES;
	duel->deal = deal;
	duel->deal.tags[TAG_DUEL] = duel->id;
	TAILQ_INSERT_TAIL(&lobby->duels, duel, link);
	make_appointment(lobby, duel, now_us);
	return HOLD_NONE;
}

/* ENTRY is a candidate's, and free. As candidates_look(). */
static enum hold look_at(struct lobby *lobby, struct waiting *entry,
			 int64_t now_us)
{
	struct ladder *ladder = entry->ladder;
	struct lobby_peer *peer = entry->peer;
	struct waiting *other = predecessor_of(peer, ladder);
	size_t mark = lobby->scratch.len;
	struct instance instance;
	enum error_code refusal;
	int64_t rest_us;

	if (other == NULL)
		return HOLD_NONE;
	rest_us = unrated_rest(ladder, other);
	if (ladder->row.seats == 1 || rest_us < REST_US)
		rest_us = REST_US;
	if (!unrated_may_lend(lobby, ladder, other, rest_us, now_us))
		return HOLD_NONE;
	refusal = unrated_instance(lobby, ladder, 0, "", &instance);
	if (refusal == ERROR_NONE)
		return begin(lobby, ladder, peer, &instance, now_us);
	if (entry->is_told_idle)
		return HOLD_NONE;
	entry->is_told_idle = true;
	session_refuse(&peer->session, refusal, 0, NULL, &lobby->scratch);
	peer_say(lobby, peer, mark);
	return HOLD_NONE;
}

enum hold candidates_look(struct lobby *lobby, struct ladder *ladder,
			  int64_t now_us)
{
	struct waiting *entry, *next;
	enum hold hold = HOLD_NONE;

	if (now_us < ladder->duels_us) {
		start_wake(lobby, ladder, now_us, ladder->duels_us);
		return HOLD_NONE;
	}
	if (!ladder->is_listed || lobby->is_draining || !has_duels(ladder))
		return HOLD_NONE;
	for (entry = TAILQ_FIRST(&ladder->queue); entry != NULL; entry = next) {
		next = TAILQ_NEXT(entry, queue);
		if (entry->wish == NULL && !entry->peer->is_eof &&
		    !entry->peer->is_closing &&
		    candidate_of(entry->peer) != NULL &&
		    !is_under_way(lobby, ladder, entry->peer->version_id)) {
			enum hold found = look_at(lobby, entry, now_us);

			hold = found != HOLD_NONE ? found : hold;
		}
	}
	return hold;
}
