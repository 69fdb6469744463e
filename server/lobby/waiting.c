/* SPDX-License-Identifier: MIT */
/*
 * waiting.c - queues: who asked for which ladder, in what order.
 *
 * A ticket is a place in all queues at once: lower ones came earlier. A peer
 * in a match keeps its entries and tickets, but stands in no queue.
 */
#include "server/lobby/appointment.h"
#include "server/lobby/lobby_internal.h"
#include "server/lobby/rated.h"
#include "server/lobby/start.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	TOLD_BYTES = 400, /* the names of ladders */
	MORE_BYTES = 48   /* of them: that there are more */
};

struct waiting *waiting_find(const struct lobby_peer *peer,
			     const struct ladder *ladder)
{
	struct waiting *entry = peer->waiting;

	while (entry != NULL && entry->ladder != ladder)
		entry = entry->next;
	return entry;
}

unsigned waiting_count(const struct lobby_peer *peer)
{
	unsigned count = 0;

	for (const struct waiting *entry = peer->waiting; entry != NULL;
	     entry = entry->next)
		count++;
	return count;
}

/* Behind those with lower tickets; nearly always the end or the front. */
static void enqueue(struct lobby *lobby, struct waiting *entry)
{
	struct waiting_queue *queue = &entry->ladder->queue;
	struct waiting *last = TAILQ_LAST(queue, waiting_queue), *other;

	assert(!entry->is_queued);
	if (last == NULL || last->ticket < entry->ticket) {
		TAILQ_INSERT_TAIL(queue, entry, queue);
	} else {
		TAILQ_FOREACH(other, queue, queue) {
			if (other->ticket > entry->ticket)
				break;
		}
		assert(other != NULL);
		TAILQ_INSERT_BEFORE(other, entry, queue);
	}
	entry->is_queued = true;
	entry->ladder->nqueued++;
	start_touch(lobby, entry->ladder);
}

static void dequeue(struct waiting *entry)
{
	if (!entry->is_queued)
		return;
	TAILQ_REMOVE(&entry->ladder->queue, entry, queue);
	entry->is_queued = false;
	entry->ladder->nqueued--;
}

/* Take the entry at *PLACE out of its peer's list and queue, and free it. */
static void remove_entry(struct lobby *lobby, struct waiting **place)
{
	struct waiting *entry = *place;
	struct ladder *ladder = entry->ladder;

	dequeue(entry);
	*place = entry->next;
	ladder->nwishes -= entry->wish != NULL;
	free(entry->wish);
	free(entry);
	ladder->nwaiting--;
	/* An appointment may have lost a bot, a round its last one. */
	if (!TAILQ_EMPTY(&ladder->appointments) || ladder->nrounds > 0)
		start_touch(lobby, ladder);
	ladder_settle(lobby, ladder);
}

void waiting_drop(struct lobby *lobby, struct lobby_peer *peer,
		  struct ladder *ladder)
{
	struct waiting **place = &peer->waiting;

	while (*place != NULL && (*place)->ladder != ladder)
		place = &(*place)->next;
	if (*place != NULL)
		remove_entry(lobby, place);
}

void waiting_drop_all(struct lobby *lobby, struct lobby_peer *peer)
{
	while (peer->waiting != NULL)
		remove_entry(lobby, &peer->waiting);
}

/* The refusal of a @play that cannot be, or ERROR_NONE. */
static enum error_code check_play(struct lobby_peer *peer,
				  struct ladder *ladder, enum session_how how)
{
	if (ladder == NULL)
		return ERROR_UNKNOWN_LADDER;
	if (!ladder->is_listed || peer->bot->is_disabled)
		return ERROR_LADDER_DISABLED;
	if (waiting_find(peer, ladder) != NULL)
		return ERROR_ALREADY_QUEUED;
	if (waiting_count(peer) >= LIMIT_LADDERS_PER_PEER)
		return ERROR_TOO_MANY_LADDERS;
	if (guest_is(peer) && how != SESSION_PLAY_UNRATED)
		return ERROR_GUEST_UNRATED;
	return ERROR_NONE;
}

/* For who cannot say @ladders: a program behind a bridge. */
static void tell_ladders(const struct lobby *lobby, char text[TOLD_BYTES])
{
	const char *between = "no ladder of this name: there is ";
	size_t len = 0, left = 0;

	(void)snprintf(text, TOLD_BYTES, "no ladder of this name, or any");
	for (size_t i = 0; i < lobby->nladders; i++) {
		const struct ladder *ladder = lobby->ladders[i];
		size_t more = strlen(between) + strlen(ladder->row.name);

		if (!ladder->is_listed)
			continue;
		if (len + more + MORE_BYTES > TOLD_BYTES) {
			left++;
			continue;
		}
		(void)snprintf(text + len, TOLD_BYTES - len, "%s%s", between,
			       ladder->row.name);
		len += more;
		between = ", ";
	}
	if (left > 0)
		(void)snprintf(text + len, TOLD_BYTES - len,
			       " and %zu more: @ladders lists them", left);
}

static void note_since(struct waiting *entry, int64_t now_us)
{
	const struct ladder *ladder = entry->ladder;

	entry->since_us = now_us;
	entry->since_set =
		ladder->has_pairing ? pairing_sets(&ladder->pairing) : 0;
	entry->is_told_idle = false;
}

/* Whether anybody is on ENTRY's ladder whom its bot could be ranked against. */
static bool has_rivals(const struct lobby *lobby, const struct waiting *entry)
{
	const struct bot *bot = entry->peer->bot;
	struct lobby_peer *other;

	LIST_FOREACH(other, &lobby->peers, all)
	{
		if (other->bot != NULL && other->bot != bot &&
		    (other->bot->is_house ||
		     other->bot->owner_id != bot->owner_id) &&
		    waiting_find(other, entry->ladder) != NULL)
			return true;
	}
	return false;
}

void waiting_idle(struct lobby *lobby, struct waiting *entry)
{
	struct lobby_peer *peer = entry->peer;
	size_t mark = lobby->scratch.len;

	if (entry->is_told_idle || peer->bot->is_house)
		return;
	entry->is_told_idle = true;
	session_refuse(&peer->session, ERROR_NO_NEW_MATCHES, 0,
		       has_rivals(lobby, entry)
			       ? "you have played all open rounds; others "
				 "have to"
			       : "you have played all open rounds and are "
				 "alone here: a round is rated once a second "
				 "owner or a house bot has played it; wait, "
				 "or play unrated",
		       &lobby->scratch);
	peer_say(lobby, peer, mark);
}

/*
 * unrated_wish(), where a refusal must not tell, try by try, which seeds a
 * contest plays. *RET_WAIT_S: what to wait at ERROR_TRY_LATER. All guests are
 * one bot, so there it is the address that counts.
 */
static enum error_code wish_for(struct lobby *lobby, struct lobby_peer *peer,
				struct ladder *ladder,
				const struct session_wish *request,
				struct wish **ret, uint32_t *ret_wait_s,
				int64_t now_us)
{
	struct bucket *kept = guest_is(peer) ? &peer->address->kept_seeds
					     : &peer->bot->kept_seeds;
	enum error_code refusal;

	if (request->seed.len > 0)
		*ret_wait_s = bucket_wait_s(kept, LIMIT_KEPT_SEEDS,
					    BUCKET_HOUR_US / LIMIT_KEPT_SEEDS,
					    now_us);
	if (*ret_wait_s > 0)
		return ERROR_TRY_LATER;
	refusal = unrated_wish(lobby, ladder, request, ret);
	if (request->seed.len > 0 &&
	    (refusal == ERROR_CONTEST_SEED || refusal == ERROR_OPEN_INSTANCE))
		bucket_add(kept, now_us);
	return refusal;
}

void waiting_play(struct lobby *lobby, struct lobby_peer *peer,
		  const struct session_request *request, int64_t now_us)
{
	struct ladder *ladder = ladder_find(lobby, request->name);
	enum error_code refusal = check_play(peer, ladder, request->how);
	struct waiting *entry, **place = &peer->waiting;
	struct wish *wish = NULL;
	uint32_t wait_s = 0;
	char told[TOLD_BYTES];
	const char *text = NULL;
	size_t mark;

	if (refusal == ERROR_NONE && request->how == SESSION_PLAY_UNRATED) {
		refusal = wish_for(lobby, peer, ladder, &request->wish, &wish,
				   &wait_s, now_us);
	} else if (refusal == ERROR_NONE) {
		wait_s = pause_left(peer->bot, ladder, now_us);
		if (wait_s > 0)
			refusal = ERROR_PAUSED;
	}
	if (refusal != ERROR_NONE) {
		if (refusal == ERROR_TRY_LATER)
			text = "too many seeds that are not to be had";
		if (refusal == ERROR_UNKNOWN_LADDER) {
			tell_ladders(lobby, told);
			text = told;
		}
		peer_refuse(lobby, peer, refusal, wait_s, text, now_us);
		return;
	}
	entry = xcalloc(1, sizeof(*entry));
	entry->peer = peer;
	entry->ladder = ladder;
	entry->ticket = lobby->next_ticket++;
	note_since(entry, now_us);
	entry->is_any = request->how == SESSION_PLAY_ANY;
	entry->is_appointed = appointment_has(ladder, peer);
	entry->wish = wish;
	ladder->nwishes += wish != NULL;
	while (*place != NULL)
		place = &(*place)->next;
	*place = entry;
	ladder->nwaiting++;
	if (peer->play == NULL)
		enqueue(lobby, entry);
	mark = lobby->scratch.len;
	/* Who plays stands in no queue, but is to count itself. */
	session_queued(&peer->session, ladder->row.name,
		       ladder->nqueued + !entry->is_queued, waiting_count(peer),
		       wish != NULL ? "asked"
				    : peer_unrated(peer, ladder, now_us),
		       &lobby->scratch);
	peer_say(lobby, peer, mark);
	start_explain(lobby, peer, ladder);
}

void waiting_end(struct lobby *lobby, struct lobby_peer *peer, int64_t now_us)
{
	size_t mark = lobby->scratch.len;

	waiting_drop_all(lobby, peer);
	set_leave(lobby, peer, NULL, now_us);
	session_left(&peer->session, NULL, 0, &lobby->scratch);
	peer_say(lobby, peer, mark);
}

void waiting_leave(struct lobby *lobby, struct lobby_peer *peer,
		   const struct session_request *request, int64_t now_us)
{
	char name[LIMIT_NAME_BYTES + 1];
	struct ladder *ladder = NULL;
	size_t mark = lobby->scratch.len;

	if (request->name.len == 0) {
		waiting_end(lobby, peer, now_us);
		return;
	}
	/* The session has checked that the name is one. */
	if (slice_copy(request->name, name, sizeof(name)) != 0)
		return;
	ladder = ladder_find(lobby, request->name);
	if (ladder != NULL) {
		waiting_drop(lobby, peer, ladder);
		set_leave(lobby, peer, ladder, now_us);
	}
	session_left(&peer->session, name, waiting_count(peer),
		     &lobby->scratch);
	peer_say(lobby, peer, mark);
}

void waiting_suspend(struct lobby_peer *peer)
{
	for (struct waiting *entry = peer->waiting; entry != NULL;
	     entry = entry->next)
		dequeue(entry);
}

/* The entry for LADDER becomes the last of PEER's, which is looked at last. */
static void move_last(struct lobby_peer *peer, const struct ladder *ladder)
{
	struct waiting **place = &peer->waiting;
	struct waiting *entry;

	while (*place != NULL && (*place)->ladder != ladder)
		place = &(*place)->next;
	entry = *place;
	if (entry == NULL)
		return;
	*place = entry->next;
	while (*place != NULL)
		place = &(*place)->next;
	*place = entry;
	entry->next = NULL;
}

void waiting_resume(struct lobby *lobby, struct lobby_peer *peer,
		    struct ladder *played, int64_t now_us)
{
	/* Who waits on several ladders where nobody else does takes turns. */
	move_last(peer, played);
	for (struct waiting *entry = peer->waiting; entry != NULL;
	     entry = entry->next) {
		if (entry->ladder == played) {
			entry->ticket = lobby->next_ticket++;
			note_since(entry, now_us);
		}
		enqueue(lobby, entry);
	}
}
