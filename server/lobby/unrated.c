/* SPDX-License-Identifier: MIT */
/*
 * unrated.c - matches that count for nothing, as an author wants them.
 *
 * Who said `@play LADDER unrated` stands in the ladder's queue with a wish,
 * and nothing but its own appointments takes it out of there. Whenever the
 * ladder is looked at, each wish whose peer is free and whose opponents are
 * becomes such an appointment, between certain connections. It begins in the
 * same call, or as soon as its map is there. lend.c says who the opponents
 * are.
 */
#include "server/lobby/appointment.h"
#include "server/lobby/rated.h"
#include "server/lobby/start.h"
#include "server/lobby/unrated_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	ABSENT_US = 60 * 1000 * 1000, /* an opponent may be away so long */
	DRAWS_MAX = 64,               /* of a seed that no contest has */
	TAG_LINK = 0,                 /* of the deal's tags: who asked for it */
	TAG_BOT,
	TAG_LADDER,
};

bool unrated_is_lending(enum match_purpose purpose)
{
	return purpose == MATCH_FOR_UNRATED || purpose == MATCH_FOR_CANDIDATE;
}

/* ---- what is played on ---- */

static bool is_seed_of(int64_t first, int64_t last, int64_t seed)
{
	return seed >= first && seed <= last;
}

/* Whether a ladder or a tournament of GAME has SEED as one of its own. */
static bool is_contest_seed(struct lobby *lobby, const struct game *game,
			    int64_t seed)
{
	for (size_t i = 0; i < lobby->nladders; i++) {
		const struct ladder *ladder = lobby->ladders[i];

		if (ladder->is_known && ladder->game == game &&
		    !ladder->row.is_seed_random &&
		    is_seed_of(ladder->row.seed_first, ladder->row.seed_last,
			       seed))
			return true;
	}
	return tournaments_have_seed(lobby, game, seed);
}

/* Whether what counts is played on that map with SEED, or is to be. */
static bool is_open(const struct lobby *lobby, int64_t map_id, const char *seed)
{
	const struct lobby_play *play;

	TAILQ_FOREACH(play, &lobby->plays, link) {
		const struct deal *deal = &play->deal;

		if ((deal->is_rated || deal->meeting.tournament != 0) &&
		    deal->instance.map_id == map_id &&
		    strcmp(deal->instance.seed, seed) == 0)
			return true;
	}
	for (size_t i = 0; i < lobby->nladders; i++) {
		if (round_has(lobby->ladders[i], map_id, seed))
			return true;
	}
	return set_has(lobby, map_id, seed);
}

static const struct map_mark *mark_by_id(const struct lobby *lobby, int64_t id)
{
	size_t low = 0, high = lobby->nmarks;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (lobby->marks[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < lobby->nmarks && lobby->marks[low].id == id
		       ? &lobby->marks[low]
		       : NULL;
}

static bool is_shown(const struct map_mark *mark, const struct game *game)
{
	return mark != NULL && mark->is_public && mark->game == game;
}

/* The map of GAME called NAME, if everybody may see it; or 0. */
static int64_t find_map(const struct lobby *lobby, const struct game *game,
			struct slice name)
{
	for (size_t i = 0; i < lobby->nmarks; i++) {
		if (is_shown(&lobby->marks[i], game) &&
		    slice_is(name, lobby->marks[i].name))
			return lobby->marks[i].id;
	}
	return 0;
}

/* Number NTH of the maps of LADDER that all may see; counts them without. */
static size_t own_maps(const struct lobby *lobby, const struct ladder *ladder,
		       size_t nth, int64_t *ret_id)
{
	size_t count = 0;

	for (size_t i = 0; i < ladder->row.nmaps; i++) {
		int64_t id = ladder->row.map_ids[i];

		if (is_shown(mark_by_id(lobby, id), ladder->game) &&
		    count++ == nth)
			*ret_id = id;
	}
	return count;
}

/* Likewise of all maps of its game. */
static size_t all_maps(const struct lobby *lobby, const struct ladder *ladder,
		       size_t nth, int64_t *ret_id)
{
	size_t count = 0;

	for (size_t i = 0; i < lobby->nmarks; i++) {
		if (is_shown(&lobby->marks[i], ladder->game) && count++ == nth)
			*ret_id = lobby->marks[i].id;
	}
	return count;
}

/* Any map that can be played: the ladder's own, or else another; or 0. */
static int64_t draw_map(struct lobby *lobby, const struct ladder *ladder)
{
	int64_t id = 0;
	size_t count = own_maps(lobby, ladder, SIZE_MAX, &id);

	if (count > 0) {
		(void)own_maps(lobby, ladder, instance_draw(lobby) % count,
			       &id);
		return id;
	}
	count = all_maps(lobby, ladder, SIZE_MAX, &id);
	if (count > 0)
		(void)all_maps(lobby, ladder, instance_draw(lobby) % count,
			       &id);
	return id;
}

static bool draw_seed(struct lobby *lobby, const struct ladder *ladder,
		      char seed[ROW_SEED_BYTES])
{
	for (unsigned i = 0; i < DRAWS_MAX; i++) {
		int64_t drawn = (int64_t)(instance_draw(lobby) >> 1);

		if (is_contest_seed(lobby, ladder->game, drawn))
			continue;
		(void)snprintf(seed, ROW_SEED_BYTES, "%" PRId64, drawn);
		return true;
	}
	return false;
}

enum error_code unrated_instance(struct lobby *lobby,
				 const struct ladder *ladder, int64_t map_id,
				 const char *seed, struct instance *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->is_fresh = map_id == 0 && fresh_is_drawn(ladder);
	if (map_id == 0 && !ret->is_fresh)
		ret->map_id = draw_map(lobby, ladder);
	else if (is_shown(mark_by_id(lobby, map_id), ladder->game))
		ret->map_id = map_id;
	if (ret->map_id == 0 && !ret->is_fresh)
		return ERROR_UNKNOWN_MAP;
	if (seed[0] == '\0') {
		if (!draw_seed(lobby, ladder, ret->seed))
			return ERROR_CONTEST_SEED;
	} else {
		(void)snprintf(ret->seed, sizeof(ret->seed), "%s", seed);
		if (is_contest_seed(lobby, ladder->game,
				    strtoll(seed, NULL, 10)))
			return ERROR_CONTEST_SEED;
	}
	if (is_open(lobby, ret->map_id, ret->seed))
		return ERROR_OPEN_INSTANCE;
	if (ladder->row.bot_seed == ROW_BOT_SEED_MATCH)
		memcpy(ret->bot_seed, ret->seed, sizeof(ret->bot_seed));
	else
		(void)snprintf(ret->bot_seed, sizeof(ret->bot_seed), "%" PRIu64,
			       instance_draw(lobby) >> 33);
	return ERROR_NONE;
}

enum hold unrated_take_map(struct lobby *lobby, struct ladder *ladder,
			   const struct deal *deal, struct instance *instance,
			   int64_t now_us)
{
	struct deal found = *deal;
	struct lobby_map *map;
	enum hold hold;
	size_t cost;

	if (!instance->is_fresh)
		return HOLD_NONE;
	hold = start_find(lobby, ladder, NULL, &found, &map, &cost, now_us);
	if (hold != HOLD_NONE)
		return hold;
	instance->map_id = found.instance.map_id;
	instance->road = ladder->nroads;
	fresh_take(lobby, ladder);
	return HOLD_NONE;
}

void unrated_give_back(struct lobby *lobby, const struct deal *deal,
		       int64_t ladder_id, enum deal_end end, uint32_t at_fault)
{
	struct ladder *ladder = ladder_by_id(lobby, ladder_id);

	/* Dropped with nobody at fault: it may be the map that was. */
	if (!deal->instance.is_fresh || ladder == NULL ||
	    !fresh_is_drawn(ladder) || deal->instance.road != ladder->nroads ||
	    (end != DEAL_CANCELLED && (end != DEAL_DROPPED || at_fault == 0)))
		return;
	fresh_give_back(ladder, deal->instance.map_id);
}

/* ---- the wish ---- */

/* Seats of an unrated match on LADDER. */
static unsigned seats_of(const struct ladder *ladder)
{
	return ladder->row.seats;
}

/* WISH as REQUEST says; the refusal, or ERROR_NONE. */
static enum error_code fill_wish(struct lobby *lobby, struct ladder *ladder,
				 const struct session_wish *request,
				 struct wish *wish)
{
	struct instance instance;
	const struct bot *bot;
	enum error_code refusal;

	if (request->map.len > 0) {
		wish->map_id = find_map(lobby, ladder->game, request->map);
		if (wish->map_id == 0)
			return ERROR_UNKNOWN_MAP;
	}
	if (slice_copy(request->seed, wish->seed, sizeof(wish->seed)) != 0)
		return ERROR_BAD_ARGUMENTS;
	wish->turn_ms = request->turn_ms;
	wish->left = request->matches;
	refusal = unrated_instance(lobby, ladder, wish->map_id, wish->seed,
				   &instance);
	if (refusal != ERROR_NONE)
		return refusal;
	if (request->against.len == 0)
		return ERROR_NONE;
	bot = bot_find(lobby, request->against);
	if (bot == NULL || seats_of(ladder) == 1)
		return ERROR_UNKNOWN_OPPONENT;
	wish->against_id = bot->id;
	if (lend_is_there(lobby, ladder, wish))
		return ERROR_NONE;
	/* It may be the time alone that it does not take. */
	wish->turn_ms = 0;
	return lend_is_there(lobby, ladder, wish) ? ERROR_TURN_REFUSED
						  : ERROR_UNKNOWN_OPPONENT;
}

enum error_code unrated_wish(struct lobby *lobby, struct ladder *ladder,
			     const struct session_wish *request,
			     struct wish **ret)
{
	struct wish *wish = xcalloc(1, sizeof(*wish));
	enum error_code refusal = fill_wish(lobby, ladder, request, wish);

	if (refusal != ERROR_NONE) {
		free(wish);
		return refusal;
	}
	*ret = wish;
	return ERROR_NONE;
}

/* ENTRY's wishes are at an end; CODE (ERROR_NONE: none left) says why. */
static void end_wish(struct lobby *lobby, struct waiting *entry,
		     enum error_code code)
{
	struct lobby_peer *peer = entry->peer;
	struct ladder *ladder = entry->ladder;
	size_t mark = lobby->scratch.len;

	ladder->refs++;
	waiting_drop(lobby, peer, ladder);
	if (code != ERROR_NONE)
		session_refuse(&peer->session, code, 0, NULL, &lobby->scratch);
	session_left(&peer->session, ladder->row.name, waiting_count(peer),
		     &lobby->scratch);
	peer_say(lobby, peer, mark);
	ladder->refs--;
}

/* The entry that asked for DEAL, if it is still there. */
static struct waiting *asker(struct lobby *lobby, const struct deal *deal)
{
	const struct bot *bot = bot_by_id(lobby, deal->tags[TAG_BOT]);
	struct ladder *ladder = ladder_by_id(lobby, deal->tags[TAG_LADDER]);
	struct lobby_peer *peer;
	struct waiting *entry = NULL;

	if (bot == NULL || ladder == NULL)
		return NULL;
	TAILQ_FOREACH(peer, &bot->peers, group) {
		if (peer->link_id == (uint64_t)deal->tags[TAG_LINK])
			entry = waiting_find(peer, ladder);
	}
	return entry != NULL && entry->wish != NULL ? entry : NULL;
}

static void over(struct lobby *lobby, const struct deal *deal,
		 enum deal_end end, const struct lobby_play *play,
		 uint32_t at_fault, int64_t now_us)
{
	struct waiting *entry = asker(lobby, deal);

	(void)play;
	unrated_give_back(lobby, deal, deal->tags[TAG_LADDER], end, at_fault);
	if (entry == NULL)
		return;
	entry->wish->is_settled = false;
	start_touch(lobby, entry->ladder);
	start_wake(lobby, entry->ladder, now_us, now_us); /* if in a pump */
	if (end == DEAL_DROPPED && at_fault == 0)
		end_wish(lobby, entry, ERROR_UNKNOWN_MAP);
	else if (end == DEAL_STORED && entry->wish->left > 0 &&
		 --entry->wish->left == 0)
		end_wish(lobby, entry, ERROR_NONE);
}

/* All bots that ENTRY's wish needs are free: PEERS, by seat. As look_at. */
static enum hold settle(struct look *look, struct waiting *entry,
			struct lobby_peer *const *peers)
{
	struct lobby *lobby = look->lobby;
	struct ladder *ladder = look->ladder;
	struct wish *wish = entry->wish;
	struct bot *bots[LIMIT_SEATS];
	struct appointment *appointment;
	struct deal deal = { .seats = seats_of(ladder),
			     .purpose = MATCH_FOR_UNRATED,
			     .turn_ms = wish->turn_ms,
			     .over = over };
	enum error_code refusal = unrated_instance(lobby, ladder, wish->map_id,
						   wish->seed, &deal.instance);
	enum hold hold;

	if (refusal != ERROR_NONE) {
		lend_unlist(look, entry);
		end_wish(lobby, entry, refusal);
		return HOLD_NONE;
	}
	memcpy(deal.params, ladder->params, sizeof(deal.params));
	hold = unrated_take_map(lobby, ladder, &deal, &deal.instance,
				look->now_us);
	if (hold != HOLD_NONE)
		return hold;
	deal.tags[TAG_LINK] = (int64_t)entry->peer->link_id;
	deal.tags[TAG_BOT] = entry->peer->bot->id;
	deal.tags[TAG_LADDER] = ladder->row.id;
	for (unsigned i = 0; i < deal.seats; i++)
		bots[i] = peers[i]->bot;
	appointment = appointment_new(lobby, ladder, &deal, bots);
	if (appointment == NULL) {
		/* Too many wait: it is looked at again. */
		unrated_give_back(lobby, &deal, ladder->row.id, DEAL_CANCELLED,
				  0);
		return HOLD_NONE;
	}
	for (unsigned i = 0; i < deal.seats; i++) {
		appointment->link_ids[i] = peers[i]->link_id;
		lend_unlist(look, waiting_find(peers[i], ladder));
	}
	wish->is_settled = true;
	appointment_add(lobby, appointment, look->now_us);
	return HOLD_NONE;
}

/*
 * ENTRY has a wish and is free: fulfil it if that can be. What is in the way
 * when it is only a map that is to be drawn.
 */
static enum hold look_at(struct look *look, struct waiting *entry)
{
	struct lobby *lobby = look->lobby;
	struct ladder *ladder = look->ladder;
	struct lobby_peer *peers[LIMIT_SEATS] = { entry->peer };
	struct wish *wish = entry->wish;
	unsigned count = 1;

	if (wish->against_id != 0 && !lend_is_there(lobby, ladder, wish)) {
		if (wish->absent_us == 0)
			wish->absent_us = look->now_us;
		if (look->now_us >= wish->absent_us + ABSENT_US)
			end_wish(lobby, entry, ERROR_UNKNOWN_OPPONENT);
		else
			start_wake(lobby, ladder, look->now_us,
				   wish->absent_us + ABSENT_US);
		return HOLD_NONE;
	}
	wish->absent_us = 0;
	if (seats_of(ladder) > 1 && lend_has_to_wait(look, entry))
		return HOLD_NONE;
	if (seats_of(ladder) > 1)
		lend_list(look);
	if (seats_of(ladder) > 1 && wish->against_id == 0 &&
	    !lend_is_enough(look, entry))
		return HOLD_NONE;
	while (count < seats_of(ladder)) {
		peers[count] = lend_find(look, wish, peers, count);
		if (peers[count] == NULL)
			return HOLD_NONE;
		count++;
	}
	return settle(look, entry, peers);
}

enum hold unrated_look(struct lobby *lobby, struct ladder *ladder,
		       int64_t now_us)
{
	struct look look = { .lobby = lobby,
			     .ladder = ladder,
			     .now_us = now_us };
	struct waiting *entry, *next;
	enum hold hold = HOLD_NONE;

	if (ladder->nwishes == 0 || !ladder->is_listed || lobby->is_draining)
		return HOLD_NONE;
	for (entry = TAILQ_FIRST(&ladder->queue); entry != NULL; entry = next) {
		next = TAILQ_NEXT(entry, queue);
		if (entry->wish != NULL && !entry->wish->is_settled &&
		    unrated_may_lend(lobby, ladder, entry, 0, now_us)) {
			enum hold found = look_at(&look, entry);

			hold = found != HOLD_NONE ? found : hold;
		}
	}
	return hold;
}
