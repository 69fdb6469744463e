/* SPDX-License-Identifier: MIT */
/*
 * appointment.c - matches to come between certain bots: a rematch, the next
 * match of a set, of a tournament, one that an author asked for.
 *
 * An appointment waits with its ladder until a connection of each of its bots
 * stands in the queue at once; who plays is waited for, who is not there as
 * long as the appointment's patience with it lasts, from when it is missed.
 * While all are there they play no other match on the ladder, so it comes about
 * as soon as what they play now is over. A connection that sits at a set
 * (peer->set_id) plays nothing but that.
 */
#include "server/lobby/appointment.h"
#include "server/lobby/lobby_internal.h"
#include "server/lobby/start.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

struct appointment *appointment_new(struct lobby *lobby, struct ladder *ladder,
				    const struct deal *deal,
				    struct bot *const *bots)
{
	struct appointment *appointment;

	assert(deal->seats >= 1 && deal->seats <= LIMIT_SEATS);
	if (lobby->nappointments >= LIMIT_APPOINTMENTS)
		return NULL;
	appointment = xcalloc(1, sizeof(*appointment));
	appointment->ladder = ladder;
	ladder->refs++;
	appointment->deal = *deal;
	for (unsigned i = 0; i < deal->seats; i++) {
		appointment->bots[i] = bot_ref(bots[i]);
		bots[i]->nappointments++;
	}
	return appointment;
}

void appointment_free(struct appointment *appointment)
{
	for (unsigned i = 0; i < appointment->deal.seats; i++) {
		appointment->bots[i]->nappointments--;
		bot_unref(appointment->bots[i]);
	}
	appointment->ladder->refs--;
	free(appointment);
}

static bool is_set(const struct appointment *appointment)
{
	return appointment->deal.round.kind == MATCH_ROUND_SET;
}

/*
 * Whether ENTRY's peer may take SEAT once it is free; AFTER_SETS: or once the
 * set is over that it sits at.
 */
static bool may_sit(const struct appointment *appointment, unsigned seat,
		    const struct waiting *entry, bool after_sets)
{
	const struct lobby_peer *peer = entry->peer;

	/* Who wishes for unrated matches plays those, and no others. */
	if (appointment->link_ids[seat] != 0 || entry->wish != NULL)
		return appointment->link_ids[seat] == peer->link_id;
	return peer->bot == appointment->bots[seat] &&
	       (after_sets || peer->set_id == 0 ||
		peer->set_id == appointment->deal.round.id) &&
	       (appointment->version_ids[seat] == 0 ||
		appointment->version_ids[seat] == peer->version_id);
}

/*
 * Give each seat a connection of its bot. ALSO_BUSY: one that plays will do,
 * be it a set; ALSO_DEAF: one whose next line is not taken yet. Returns the
 * seats that get none.
 */
static uint32_t seat_peers(const struct appointment *appointment,
			   bool also_busy, bool also_deaf,
			   struct lobby_peer *peers[LIMIT_SEATS])
{
	unsigned nseats = appointment->deal.seats;
	uint32_t missing = 0;

	for (unsigned i = 0; i < nseats; i++) {
		struct lobby_peer *peer, *found = NULL;

		TAILQ_FOREACH(peer, &appointment->bots[i]->peers, group) {
			struct waiting *entry;
			bool is_taken = false;

			entry = waiting_find(peer, appointment->ladder);
			for (unsigned k = 0; k < i; k++)
				is_taken |= peers[k] == peer;
			if (entry == NULL || is_taken || peer->is_closing ||
			    peer->is_eof ||
			    !may_sit(appointment, i, entry, also_busy) ||
			    (!also_busy && !entry->is_queued) ||
			    (!also_deaf && peer->ask != NULL))
				continue;
			/* Who sits at the set goes on; else who came first. */
			if (found == NULL || peer->set_id > found->set_id)
				found = peer;
		}
		peers[i] = found;
		if (found == NULL)
			missing |= 1u << i;
	}
	return missing;
}

uint32_t appointment_absent(const struct appointment *appointment)
{
	struct lobby_peer *peers[LIMIT_SEATS];

	/* At a set nobody has anything else to do. */
	return seat_peers(appointment, !is_set(appointment), true, peers);
}

/* Note with those whom APPOINTMENT has a seat for, and nobody else. */
static void mark_seats(const struct appointment *appointment, bool is_appointed)
{
	for (unsigned i = 0; i < appointment->deal.seats; i++) {
		struct lobby_peer *peer;

		if (appointment->link_ids[i] == 0)
			continue;
		TAILQ_FOREACH(peer, &appointment->bots[i]->peers, group) {
			struct waiting *entry =
				waiting_find(peer, appointment->ladder);

			if (peer->link_id == appointment->link_ids[i] &&
			    entry != NULL)
				entry->is_appointed = is_appointed;
		}
	}
}

/* Look who is there; the time of who was, and is missed now, begins. */
static void look_for(struct lobby *lobby, struct appointment *appointment,
		     int64_t now_us)
{
	uint32_t before = appointment->absent, missed;

	appointment->absent = appointment_absent(appointment);
	missed = appointment->absent & ~before;
	for (uint32_t left = missed; left != 0; left &= left - 1) {
		unsigned seat = (unsigned)__builtin_ctz(left);

		appointment->until_us[seat] =
			now_us + appointment->patience_us[seat];
	}
	if (missed != 0)
		tournaments_tell_missed(lobby, appointment, missed);
}

/*
 * Until when APPOINTMENT waits for who is not there; INT64_MAX: all are. Who is
 * missed later has its time as well, and lengthens nobody's once it is back.
 */
static int64_t deadline_of(const struct appointment *appointment)
{
	int64_t deadline_us = INT64_MIN;

	for (uint32_t left = appointment->absent; left != 0; left &= left - 1) {
		unsigned seat = (unsigned)__builtin_ctz(left);

		if (appointment->until_us[seat] > deadline_us)
			deadline_us = appointment->until_us[seat];
	}
	return appointment->absent != 0 ? deadline_us : INT64_MAX;
}

void appointment_add(struct lobby *lobby, struct appointment *appointment,
		     int64_t now_us)
{
	struct ladder *ladder = appointment->ladder;

	look_for(lobby, appointment, now_us);
	TAILQ_INSERT_TAIL(&ladder->appointments, appointment, link);
	mark_seats(appointment, true);
	lobby->nappointments++;
	start_touch(lobby, ladder);
}

static void unlink_appointment(struct lobby *lobby,
			       struct appointment *appointment)
{
	struct ladder *ladder = appointment->ladder;

	TAILQ_REMOVE(&ladder->appointments, appointment, link);
	mark_seats(appointment, false);
	lobby->nappointments--;
	/* Bots that it kept are free. */
	if (ladder->nqueued > 0 && ladder->is_listed)
		start_touch(lobby, ladder);
}

void appointment_done(struct lobby *lobby, struct appointment *appointment)
{
	struct ladder *ladder = appointment->ladder;

	unlink_appointment(lobby, appointment);
	appointment_free(appointment);
	ladder_settle(lobby, ladder);
}

void appointment_drop(struct lobby *lobby, struct appointment *appointment,
		      uint32_t at_fault, const char *reason, int64_t now_us)
{
	struct ladder *ladder = appointment->ladder;
	struct deal *deal = &appointment->deal;

	unlink_appointment(lobby, appointment);
	action_log(lobby, LOG_LEVEL_WARN,
		   "ladder=%s event=%s-dropped of=%" PRId64 " reason=\"%s\"",
		   ladder->row.name, match_purpose_word(deal->purpose),
		   deal->tags[0], reason);
	if (deal->over != NULL)
		deal->over(lobby, deal, DEAL_DROPPED, NULL, at_fault, now_us);
	appointment_free(appointment);
	ladder_settle(lobby, ladder);
}

void appointment_release(struct lobby *lobby)
{
	for (size_t i = 0; i < lobby->nladders; i++) {
		struct appointment_list *list =
			&lobby->ladders[i]->appointments;
		struct appointment *appointment;

		while ((appointment = TAILQ_FIRST(list)) != NULL) {
			TAILQ_REMOVE(list, appointment, link);
			appointment_free(appointment);
		}
	}
}

bool appointment_keeps(const struct ladder *ladder,
		       const struct lobby_peer *peer)
{
	const struct appointment *appointment;
	const struct waiting *entry = waiting_find(peer, ladder);

	if (peer->set_id != 0)
		return true;
	if (entry == NULL)
		return false;
	if (entry->wish != NULL || candidate_keeps(ladder, peer))
		return true;
	/* Many wait and many are appointed: few of them are the same. */
	if (peer->bot->nappointments == 0)
		return false;
	TAILQ_FOREACH(appointment, &ladder->appointments, link) {
		if (appointment->absent != 0 || is_set(appointment))
			continue;
		for (unsigned i = 0; i < appointment->deal.seats; i++) {
			if (may_sit(appointment, i, entry, false))
				return true;
		}
	}
	return false;
}

bool appointment_has(const struct ladder *ladder, const struct lobby_peer *peer)
{
	const struct appointment *appointment;

	if (peer->bot->nappointments == 0)
		return false;
	TAILQ_FOREACH(appointment, &ladder->appointments, link) {
		for (unsigned i = 0; i < appointment->deal.seats; i++) {
			if (appointment->link_ids[i] == peer->link_id)
				return true;
		}
	}
	return false;
}

int64_t appointment_deadline(const struct ladder *ladder)
{
	const struct appointment *appointment;
	int64_t deadline_us = INT64_MAX;

	TAILQ_FOREACH(appointment, &ladder->appointments, link) {
		if (deadline_of(appointment) < deadline_us)
			deadline_us = deadline_of(appointment);
	}
	return deadline_us;
}

/* Why it can never begin, or NULL. */
static const char *find_hopeless(const struct appointment *appointment)
{
	if (!appointment->ladder->is_listed)
		return "its ladder is played no more";
	for (unsigned i = 0; i < appointment->deal.seats; i++) {
		if (!appointment->bots[i]->is_listed)
			return "a bot of it is gone";
	}
	return NULL;
}

struct appointment *appointment_next(struct lobby *lobby, struct ladder *ladder,
				     struct lobby_peer *peers[LIMIT_SEATS],
				     int64_t now_us)
{
	struct appointment *appointment, *next;

	for (appointment = TAILQ_FIRST(&ladder->appointments);
	     appointment != NULL; appointment = next) {
		const char *hopeless = find_hopeless(appointment);

		next = TAILQ_NEXT(appointment, link);
		look_for(lobby, appointment, now_us);
		if (hopeless != NULL) {
			appointment_drop(lobby, appointment,
					 appointment->absent, hopeless, now_us);
			continue;
		}
		if (appointment->absent == 0 &&
		    seat_peers(appointment, false, false, peers) == 0)
			return appointment;
		if (deadline_of(appointment) <= now_us)
			appointment_drop(lobby, appointment,
					 appointment->absent,
					 "a bot of it is not there", now_us);
	}
	return NULL;
}
