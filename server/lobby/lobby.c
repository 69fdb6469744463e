/* SPDX-License-Identifier: MIT */
/* lobby.c - birth and end, time, the drain, and the state at a glance. */
#include "server/lobby/appointment.h"
#include "server/lobby/lobby_internal.h"
#include "server/lobby/rated.h"
#include "server/lobby/start.h"

#include <assert.h>
#include <stdlib.h>

struct lobby *lobby_new(const struct lobby_config *config)
{
	struct lobby *lobby = xcalloc(1, sizeof(*lobby));
	uint64_t hash_key;

	lobby->config = *config;
	lobby->host = xstrdup(config->host);
	lobby->config.host = lobby->host;
	buf_init(&lobby->scratch, SIZE_MAX / 2);
	lobby->out = match_out_new();
	TAILQ_INIT(&lobby->dead);
	LIST_INIT(&lobby->peers);
	TAILQ_INIT(&lobby->prelogin);
	TAILQ_INIT(&lobby->runs);
	TAILQ_INIT(&lobby->asks);
	TAILQ_INIT(&lobby->duels);
	memcpy(&hash_key, config->random_key, sizeof(hash_key));
	address_table_init(&lobby->addresses, hash_key);
	/* Never NULL: bsearch and qsort want an array, even of none. */
	lobby->bots = xcalloc(1, sizeof(struct bot *));
	lobby->bots_by_id = xcalloc(1, sizeof(struct bot *));
	lobby->ladders = xcalloc(1, sizeof(struct ladder *));
	lobby->marks = xcalloc(1, sizeof(*lobby->marks));
	map_cache_init(&lobby->maps);
	TAILQ_INIT(&lobby->touched);
	TAILQ_INIT(&lobby->held);
	TAILQ_INIT(&lobby->plays);
	TAILQ_INIT(&lobby->due);
	LIST_INIT(&lobby->slow);
	TAILQ_INIT(&lobby->storing);
	TAILQ_INIT(&lobby->sets);
	lobby->retry_us = INT64_MAX;
	return lobby;
}

void lobby_free(struct lobby *lobby)
{
	struct lobby_play *play;
	struct lobby_peer *peer;

	if (lobby == NULL)
		return;
	LIST_FOREACH(peer, &lobby->peers, all)
	peer->play = NULL;
	while ((play = TAILQ_FIRST(&lobby->plays)) != NULL) {
		/* A busy match cannot be freed, and nobody works on it. */
		while (play->is_busy) {
			match_work(play->match);
			match_resume(play->match, INT64_MAX / 2, lobby->out);
			play->is_busy = lobby->out->is_busy;
		}
		play_free(lobby, play);
	}
	while ((play = TAILQ_FIRST(&lobby->storing)) != NULL) {
		TAILQ_REMOVE(&lobby->storing, play, link);
		play_free(lobby, play);
	}
	while ((peer = LIST_FIRST(&lobby->peers)) != NULL)
		peer_free(lobby, peer);
	asks_release(lobby);
	actions_release(lobby);
	appointment_release(lobby);
	candidates_release(lobby);
	tournaments_release(lobby);
	set_release(lobby);
	catalogue_release(lobby);
	map_cache_release(&lobby->maps);
	ratings_release(&lobby->ratings);
	address_table_release(&lobby->addresses);
	heap_release(&lobby->deadlines);
	match_out_free(lobby->out);
	free(lobby->host);
	free(lobby);
}

void lobby_configure(struct lobby *lobby, const struct lobby_config *config,
		     int64_t now_us)
{
	struct lobby_config old = lobby->config;
	struct lobby_peer *peer;

	lobby->config = *config;
	lobby->config.host = old.host;
	memcpy(lobby->config.random_key, old.random_key,
	       sizeof(old.random_key));
	/* They stand by the time that they have: whoever comes later, later. */
	TAILQ_FOREACH(peer, &lobby->prelogin, group)
		session_hurry(&peer->session,
			      now_us + config->login_ms * INT64_C(1000));
	start_touch_held(lobby);
	lobby_settle(lobby, now_us);
}

void lobby_settle(struct lobby *lobby, int64_t now_us)
{
	start_pump(lobby, now_us);
	if (!lobby->is_draining || lobby->is_drained || lobby->nplays > 0 ||
	    lobby->nasks > 0)
		return;
	/* A store in trouble cannot hold the end up for ever. */
	if (lobby->nstoring > 0 && !(lobby->is_abandoned && lobby->has_trouble))
		return;
	lobby->is_drained = true;
	action_add(lobby, LOBBY_DRAINED, NULL);
}

void lobby_drain(struct lobby *lobby, int64_t deadline_us, int64_t now_us)
{
	struct lobby_peer *peer, *next;

	if (lobby->is_draining)
		return;
	lobby->is_draining = true;
	lobby->drain_us = deadline_us;
	play_abandon(lobby, PLAY_OFFERED, now_us);
	for (peer = LIST_FIRST(&lobby->peers); peer != NULL; peer = next) {
		next = LIST_NEXT(peer, all);
		peer_send_home(lobby, peer, now_us);
	}
	lobby_settle(lobby, now_us);
}

int64_t lobby_deadline(const struct lobby *lobby)
{
	const struct lobby_peer *first = peer_first_login(lobby);
	int64_t deadline_us = heap_first_key(&lobby->deadlines);

	if (!TAILQ_EMPTY(&lobby->runs) || !TAILQ_EMPTY(&lobby->due))
		return INT64_MIN;
	if (first != NULL && session_deadline(&first->session) < deadline_us)
		deadline_us = session_deadline(&first->session);
	if (lobby->retry_us < deadline_us)
		deadline_us = lobby->retry_us;
	if (lobby->is_draining && !lobby->is_abandoned &&
	    lobby->drain_us < deadline_us)
		deadline_us = lobby->drain_us;
	return deadline_us;
}

void lobby_expire(struct lobby *lobby, int64_t now_us)
{
	peer_run_all(lobby, now_us);
	play_expire(lobby, now_us);
	peer_expire_logins(lobby, now_us);
	if (lobby->retry_us <= now_us) {
		lobby->retry_us = INT64_MAX;
		start_reserve(lobby, now_us);
		start_touch_held(lobby);
		start_touch_woken(lobby, now_us);
	}
	if (lobby->is_draining && !lobby->is_abandoned &&
	    lobby->drain_us <= now_us) {
		lobby->is_abandoned = true;
		play_abandon(lobby, PLAY_RUNNING, now_us);
	}
	lobby_settle(lobby, now_us);
}

void lobby_status(const struct lobby *lobby, struct lobby_status *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->peers = lobby->npeers;
	ret->logged_in = lobby->nlogged_in;
	for (size_t i = 0; i < lobby->nbots; i++)
		ret->bots += !lobby->bots[i]->is_disabled;
	for (size_t i = 0; i < lobby->nladders; i++) {
		ret->ladders += lobby->ladders[i]->is_listed;
		ret->waiting += lobby->ladders[i]->nqueued;
		ret->is_lagging |= lobby->ladders[i]->hold == HOLD_LAG;
	}
	ret->matches = lobby->nplays;
	ret->results_waiting = lobby->nstoring;
	ret->maps = lobby->maps.count;
	ret->map_bytes = lobby->maps.bytes;
	ret->match_bytes = lobby->match_bytes;
	ret->record_bytes = lobby->record_bytes;
	ret->started = lobby->nstarted;
	ret->finished = lobby->nfinished;
	ret->cancelled = lobby->ncancelled;
	ret->voided = lobby->nvoided;
	ret->is_draining = lobby->is_draining;
	ret->has_store_trouble = lobby->has_trouble;
}
