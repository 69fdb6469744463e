/* SPDX-License-Identifier: MIT */
/* check.c - what must always be true of a lobby; for tests. */
#include "server/lobby/appointment.h"
#include "server/lobby/lobby_internal.h"
#include "server/lobby/rated.h"

#include <assert.h>

static void check_peer(const struct lobby *lobby, const struct lobby_peer *peer)
{
	const struct waiting *entry;
	const struct play_seat *seat;
	unsigned count = 0;

	assert(!peer->is_dead);
	assert(peer->is_closing == session_is_closed(&peer->session));
	assert(peer->address->peers > 0);
	session_check(&peer->session);
	if (peer->is_closing) {
		assert(peer->ask == NULL);
		assert(peer->bot == NULL && peer->play == NULL);
		assert(peer->waiting == NULL && LIST_EMPTY(&peer->told));
		assert(!peer->is_running);
		return;
	}
	if (peer->ask != NULL)
		assert(peer->ask->peer == peer);
	assert(peer->session.state != SESSION_LOGIN || peer->ask != NULL);
	assert((peer->bot != NULL) == session_is_logged_in(&peer->session));
	for (entry = peer->waiting; entry != NULL; entry = entry->next) {
		assert(entry->peer == peer);
		assert(entry->ladder->is_listed);
		assert(entry->is_queued == (peer->play == NULL));
		assert(entry->ticket < lobby->next_ticket);
		assert(entry->is_appointed ==
		       appointment_has(entry->ladder, peer));
		count++;
	}
	assert(count <= LIMIT_LADDERS_PER_PEER);
	assert(count == peer->session.ladders);
	LIST_FOREACH(seat, &peer->told, tell)
	assert(seat->told == peer);
	if (peer->play == NULL) {
		assert(peer->session.match_id == 0);
		assert(!peer->is_quiet && peer->held == NULL);
		return;
	}
	assert(peer->session.match_id == peer->play->id);
	assert(peer->play->seats[peer->seat].peer == peer);
}

static void check_bot(const struct bot *bot)
{
	const struct lobby_peer *peer;
	unsigned count = 0;

	TAILQ_FOREACH(peer, &bot->peers, group) {
		assert(peer->bot == bot);
		count++;
	}
	assert(count == bot->npeers);
	assert(bot->refs >= bot->npeers + (bot->is_listed ? 1u : 0u));
}

static void check_ladder(const struct ladder *ladder)
{
	const struct waiting *entry, *before = NULL;
	unsigned count = 0;

	TAILQ_FOREACH(entry, &ladder->queue, queue) {
		assert(entry->is_queued && entry->ladder == ladder);
		assert(before == NULL || before->ticket < entry->ticket);
		before = entry;
		count++;
	}
	assert(count == ladder->nqueued);
	assert(count <= ladder->nwaiting);
	assert(!ladder->is_touched); /* the pump has seen all */
	assert(ladder->is_held ==
	       (ladder->hold != HOLD_NONE && ladder->hold != HOLD_SEATS));
}

static size_t count_appointments(const struct ladder *ladder)
{
	const struct appointment *appointment;
	size_t count = 0;

	TAILQ_FOREACH(appointment, &ladder->appointments, link) {
		assert(appointment->ladder == ladder);
		for (unsigned i = 0; i < appointment->deal.seats; i++) {
			assert(appointment->bots[i]->refs > 0);
			assert(appointment->bots[i]->nappointments > 0);
		}
		for (unsigned i = 0; i < appointment->deal.seats; i++)
			assert((appointment->absent & 1u << i) == 0 ||
			       appointment->until_us[i] > 0);
		count++;
	}
	assert(ladder->refs >= count);
	return count;
}

static void check_play(const struct lobby *lobby, const struct lobby_play *play)
{
	assert(play->match != NULL && play->state != PLAY_STORING);
	assert(play->map != NULL && play->map->refs > 0);
	assert(play->ladder->refs > 0);
	assert(play->ladder->nplaying > 0);
	for (unsigned i = 0; i < play->nseats; i++) {
		const struct play_seat *seat = &play->seats[i];

		assert(seat->bot->refs > 0);
		if (seat->peer != NULL) {
			assert(seat->peer->play == play);
			assert(seat->peer->seat == i);
		}
		if (play->state == PLAY_OFFERED)
			assert(seat->told == NULL);
	}
	if (play->is_busy)
		return;
	match_check(play->match);
	/* The heap may be early, never late. */
	if (match_deadline(play->match) != INT64_MAX && !play->is_due)
		assert(heap_has(&play->deadline) &&
		       heap_key(&lobby->deadlines, &play->deadline) <=
			       match_deadline(play->match));
}

static void check_plays(const struct lobby *lobby)
{
	const struct lobby_play *play;
	uint64_t bytes = 0, record_bytes = 0;
	size_t count = 0;

	TAILQ_FOREACH(play, &lobby->plays, link) {
		check_play(lobby, play);
		bytes += play->cost;
		record_bytes += play->record_bytes;
		count++;
	}
	assert(count == lobby->nplays);
	assert(bytes == lobby->match_bytes);
	count = 0;
	TAILQ_FOREACH(play, &lobby->storing, link) {
		assert(play->state == PLAY_STORING && play->match == NULL);
		record_bytes += play->record_bytes;
		count++;
	}
	assert(record_bytes == lobby->record_bytes);
	assert(count == lobby->nstoring);
	LIST_FOREACH(play, &lobby->slow, slow)
	assert(play->is_slow && play->match != NULL);
}

static void check_maps(const struct map_cache *cache)
{
	const struct cached_map *cached;
	size_t count = 0;

	TAILQ_FOREACH(cached, &cache->ages, age) {
		assert(cached->state == MAP_READY && cached->map->refs > 0);
		count++;
	}
	assert(count == cache->count);
}

void lobby_check(const struct lobby *lobby)
{
	const struct lobby_peer *peer;
	size_t npeers = 0, nlogged_in = 0, nruns = 0, nappointments = 0;

	LIST_FOREACH(peer, &lobby->peers, all)
	{
		check_peer(lobby, peer);
		npeers++;
		nlogged_in += peer->bot != NULL;
	}
	assert(npeers == lobby->npeers && nlogged_in == lobby->nlogged_in);
	TAILQ_FOREACH(peer, &lobby->runs, run) {
		assert(peer->is_running);
		nruns++;
	}
	assert(nruns == lobby->nruns);
	for (size_t i = 0; i < lobby->nbots; i++)
		check_bot(lobby->bots[i]);
	for (size_t i = 0; i < lobby->nladders; i++) {
		check_ladder(lobby->ladders[i]);
		round_check(lobby->ladders[i]);
		nappointments += count_appointments(lobby->ladders[i]);
	}
	assert(nappointments == lobby->nappointments);
	check_plays(lobby);
	set_check(lobby);
	check_maps(&lobby->maps);
}
