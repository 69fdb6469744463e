/* SPDX-License-Identifier: MIT */
/*
 * start.c - which match begins next, and what keeps it from beginning.
 *
 * A ladder is looked at when it was touched: somebody queued, or what held it
 * back has changed. Then it starts as many matches as it can, and what stops
 * it is its `hold`. One that is held by more than too few seats is in `held`
 * until start_touch_held().
 */
#include "server/lobby/start.h"
#include "server/lobby/appointment.h"
#include "server/lobby/lobby_internal.h"
#include "server/lobby/rated.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum {
	RETRY_US = 5 * 1000 * 1000,
	RESERVE_RETRY_US = 1000 * 1000,
	WAKE_US = 20 * 1000, /* not sooner than that */
	/* A match may lose so much of the loop's time: its turn's tenth. */
	LAG_SHARE = 10,
	BANK_SPEND_MS = 500,
};

static void unlist(struct lobby *lobby, struct ladder *ladder)
{
	if (ladder->is_touched)
		TAILQ_REMOVE(&lobby->touched, ladder, touch);
	else if (ladder->is_held)
		TAILQ_REMOVE(&lobby->held, ladder, touch);
	ladder->is_touched = false;
	ladder->is_held = false;
}

void start_untouch(struct lobby *lobby, struct ladder *ladder)
{
	unlist(lobby, ladder);
}

void start_touch(struct lobby *lobby, struct ladder *ladder)
{
	if (ladder->is_touched)
		return;
	unlist(lobby, ladder);
	ladder->is_touched = true;
	TAILQ_INSERT_TAIL(&lobby->touched, ladder, touch);
}

void start_touch_held(struct lobby *lobby)
{
	struct ladder *ladder;

	while ((ladder = TAILQ_FIRST(&lobby->held)) != NULL)
		start_touch(lobby, ladder);
}

void start_touch_waiting(struct lobby *lobby)
{
	for (size_t i = 0; i < lobby->nladders; i++) {
		if (lobby->ladders[i]->nqueued > 0)
			start_touch(lobby, lobby->ladders[i]);
	}
}

static uint64_t ids_left(const struct lobby *lobby)
{
	return (uint64_t)(lobby->id_end - lobby->id_next) +
	       (uint64_t)(lobby->id_more_end - lobby->id_more_next);
}

void start_reserve(struct lobby *lobby, int64_t now_us)
{
	if (lobby->is_reserving || now_us < lobby->reserve_us ||
	    ids_left(lobby) >= LIMIT_ID_BLOCK / 2)
		return;
	lobby->is_reserving = true;
	action_add(lobby, LOBBY_RESERVE_IDS, NULL)->count = LIMIT_ID_BLOCK;
}

/* Look at held ladders again at AT_US, if not before. */
static void set_retry(struct lobby *lobby, int64_t at_us)
{
	if (at_us < lobby->retry_us)
		lobby->retry_us = at_us;
}

void start_wake(struct lobby *lobby, struct ladder *ladder, int64_t now_us,
		int64_t at_us)
{
	/* What waits for something else as well must not keep us running. */
	if (at_us < now_us + WAKE_US)
		at_us = now_us + WAKE_US;
	if (at_us < ladder->wake_us)
		ladder->wake_us = at_us;
	set_retry(lobby, at_us);
}

void start_touch_woken(struct lobby *lobby, int64_t now_us)
{
	for (size_t i = 0; i < lobby->nladders; i++) {
		struct ladder *ladder = lobby->ladders[i];

		if (ladder->wake_us <= now_us) {
			ladder->wake_us = INT64_MAX;
			start_touch(lobby, ladder);
		}
		set_retry(lobby, ladder->wake_us);
	}
}

static int64_t take_id(struct lobby *lobby)
{
	if (lobby->id_next == lobby->id_end) {
		lobby->id_next = lobby->id_more_next;
		lobby->id_end = lobby->id_more_end;
		lobby->id_more_next = lobby->id_more_end = 0;
	}
	assert(lobby->id_next < lobby->id_end);
	return lobby->id_next++;
}

void lobby_ids(struct lobby *lobby, int64_t from, uint32_t count,
	       int64_t now_us)
{
	lobby->is_reserving = false;
	if (count == 0) {
		lobby->reserve_us = now_us + RESERVE_RETRY_US;
		set_retry(lobby, lobby->reserve_us);
		return;
	}
	if (lobby->id_next == lobby->id_end) {
		lobby->id_next = from;
		lobby->id_end = from + count;
	} else {
		/* A second block is only asked for while there is none. */
		lobby->id_more_next = from;
		lobby->id_more_end = from + count;
	}
	start_touch_held(lobby);
	lobby_settle(lobby, now_us);
}

/* Whether the loop is too late for a match of TURN_MS (0: no limit). */
static bool is_lagging(const struct lobby *lobby, uint32_t turn_ms)
{
	uint32_t shortest = turn_ms == 0 ? UINT32_MAX : turn_ms;

	if (lobby->lag_us == 0)
		return false;
	for (size_t i = 0; i < lobby->nladders; i++) {
		const struct ladder *ladder = lobby->ladders[i];

		if (ladder->nplaying > 0 && ladder->row.turn_ms > 0 &&
		    ladder->row.turn_ms < shortest)
			shortest = ladder->row.turn_ms;
	}
	return lobby->lag_us > shortest * INT64_C(1000) / LAG_SHARE;
}

static enum hold check_lobby(const struct lobby *lobby,
			     const struct ladder *ladder)
{
	const struct lobby_config *config = &lobby->config;

	if (lobby->is_draining)
		return HOLD_DRAIN;
	if (lobby->has_trouble || lobby->nstoring >= config->results_max)
		return HOLD_STORE;
	if (is_lagging(lobby, ladder->row.turn_ms))
		return HOLD_LAG;
	if (lobby->nplays >= config->matches_max)
		return HOLD_ROOM;
	return ids_left(lobby) == 0 ? HOLD_IDS : HOLD_NONE;
}

static bool has_bot(struct lobby_peer *const *peers, unsigned count,
		    const struct bot *bot)
{
	for (unsigned i = 0; i < count; i++) {
		if (peers[i]->bot == bot)
			return true;
	}
	return false;
}

bool ladder_is_rated(const struct ladder *ladder)
{
	return ladder->row.is_rated && ladder->row.is_seed_random;
}

bool start_is_kept(const struct lobby *lobby, const struct ladder *ladder,
		   const struct lobby_peer *peer)
{
	/*
	 * Lines of one at its end may still be taken, but they come to an end;
	 * those of one that waits for an answer are not.
	 */
	return peer->is_eof || peer->ask != NULL ||
	       appointment_keeps(ladder, peer) ||
	       tournaments_keep(lobby, ladder, peer);
}

/*
 * Who plays next: the first in the queue, each bot once. A ladder that is not
 * rated lets a bot meet itself where not enough others wait.
 */
static bool pick_seats(const struct lobby *lobby, const struct ladder *ladder,
		       struct lobby_peer *peers[LIMIT_SEATS], int64_t now_us)
{
	struct lobby_peer *twins[LIMIT_SEATS];
	unsigned count = 0, ntwins = 0;
	const struct waiting *entry;

	if (ladder->nqueued < ladder->row.seats)
		return false;
	TAILQ_FOREACH(entry, &ladder->queue, queue) {
		if (start_is_kept(lobby, ladder, entry->peer) ||
		    (ladder_is_rated(ladder) &&
		     peer_unrated(entry->peer, ladder, now_us) == NULL))
			continue;
		if (!has_bot(peers, count, entry->peer->bot))
			peers[count++] = entry->peer;
		else if (ntwins < LIMIT_SEATS)
			twins[ntwins++] = entry->peer;
		if (count == ladder->row.seats)
			return true;
	}
	if (ladder->row.is_rated || count + ntwins < ladder->row.seats)
		return false;
	for (unsigned i = 0; count < ladder->row.seats; i++)
		peers[count++] = twins[i];
	return true;
}

static uint32_t turn_ms_of(const struct ladder *ladder, const struct deal *deal)
{
	return deal->turn_ms != 0 ? deal->turn_ms : ladder->row.turn_ms;
}

static void fill_setup(const struct ladder *ladder, const struct deal *deal,
		       struct game_setup *setup)
{
	const struct instance *instance = &deal->instance;

	memset(setup, 0, sizeof(*setup));
	setup->seed = instance->seed[0] == '\0' ? "0" : instance->seed;
	setup->bot_seed =
		instance->bot_seed[0] == '\0' ? "0" : instance->bot_seed;
	setup->seats = deal->seats;
	memcpy(setup->params, deal->params, sizeof(setup->params));
	setup->limit_ms = turn_ms_of(ladder, deal);
	setup->grace_ms = ladder->row.grace_ms;
}

static void fill_config(const struct lobby *lobby, const struct ladder *ladder,
			const struct lobby_play *play,
			const struct game_setup *setup,
			struct match_config *config)
{
	const struct row_ladder *row = &ladder->row;

	memset(config, 0, sizeof(*config));
	config->id = play->id;
	config->game = ladder->game;
	config->map = play->map->map;
	config->map_name = play->map->name;
	config->ladder = row->name;
	config->ladder_id = row->id;
	config->map_id = play->deal.instance.map_id;
	config->is_rated = play->deal.is_rated;
	config->purpose = play->deal.purpose;
	config->round = play->deal.round;
	config->meeting = play->deal.meeting;
	config->setup = setup;
	config->limits = (struct match_limits){
		.turn_ms = turn_ms_of(ladder, &play->deal),
		.init_ms = row->init_ms,
		.bank_ms = row->bank_ms,
		.bank_step_ms = row->bank_step_ms,
		.bank_spend_ms = BANK_SPEND_MS,
		.lag_cap_ms = row->lag_cap_ms,
		.ready_ms = row->ready_ms,
		.file_ms = row->file_ms,
		.grace_ms = row->grace_ms,
		.stall_void_ms = lobby->config.stall_void_ms,
	};
	for (unsigned i = 0; i < play->nseats; i++) {
		const struct bot *bot = play->seats[i].bot;

		config->seats[i].bot = guest_shown(play->seats[i].peer);
		config->seats[i].bot_id = bot->id;
		config->seats[i].version_id = play->seats[i].version_id;
	}
}

struct lobby_play *start_begin(struct lobby *lobby, struct ladder *ladder,
			       struct lobby_peer *const *peers,
			       const struct deal *deal, struct lobby_map *map,
			       size_t cost, int64_t now_us)
{
	unsigned nseats = deal->seats;
	struct match_config config;
	struct game_setup setup;
	struct lobby_play *play;
	int err;

	play = xcalloc(1, sizeof(*play) + nseats * sizeof(play->seats[0]));
	play->id = take_id(lobby);
	play->deal = *deal;
	if (deal->round.kind != MATCH_NO_ROUND && deal->round.id == 0)
		play->deal.round.id = play->id;
	play->ladder_id = ladder->row.id;
	play->ladder = ladder;
	ladder->refs++;
	ladder->nplaying++;
	play->map = lobby_map_ref(map);
	play->cost = cost;
	lobby->match_bytes += cost;
	play->nseats = nseats;
	for (unsigned i = 0; i < nseats; i++) {
		play->seats[i].play = play;
		play->seats[i].peer = peers[i];
		play->seats[i].bot = bot_ref(peers[i]->bot);
		play->seats[i].version_id = peers[i]->version_id;
		peers[i]->play = play;
		peers[i]->seat = (uint8_t)i;
		waiting_suspend(peers[i]);
	}
	fill_setup(ladder, deal, &setup);
	fill_config(lobby, ladder, play, &setup, &config);
	err = match_new(&play->match, &config, now_us, lobby->out);
	assert(err == 0); /* set_ladder has looked at the seats */
	(void)err;
	TAILQ_INSERT_TAIL(&lobby->plays, play, link);
	lobby->nplays++;
	lend_begin(lobby, play, now_us);
	for (unsigned i = 0; i < nseats; i++)
		session_offer(&peers[i]->session, play->id, map->line_max);
	play_apply(lobby, play, now_us);
	return play;
}

/*
 * Whether DEAL can be played on MAP at all, and *RET_COST what that takes; if
 * not, ERROR says why.
 */
static bool admit_map(const struct lobby *lobby, const struct ladder *ladder,
		      const struct deal *deal, const struct lobby_map *map,
		      size_t *ret_cost, struct game_error *error)
{
	struct game_setup setup;

	fill_setup(ladder, deal, &setup);
	game_error_set(error, "it has too few places for the seats");
	if (map->seats_max < deal->seats ||
	    game_admit(ladder->game, map->map, &setup, error) != 0)
		return false;
	*ret_cost = ladder->game->cost(map->map, &setup);
	game_error_set(error, "it takes more memory than allowed");
	return *ret_cost <= lobby->config.match_budget_bytes;
}

enum hold start_admit(struct lobby *lobby, struct ladder *ladder,
		      const struct deal *deal, struct lobby_map **ret_map,
		      size_t *ret_cost, struct game_error *error,
		      int64_t now_us)
{
	enum map_state state;

	game_error_set(error, "its map cannot be had");
	*ret_map = map_want(lobby, deal->instance.map_id, &state, now_us);
	if (*ret_map == NULL && state == MAP_LOADING)
		return HOLD_MAP;
	if (*ret_map == NULL ||
	    !admit_map(lobby, ladder, deal, *ret_map, ret_cost, error))
		return HOLD_BROKEN;
	return lobby->match_bytes + lobby->record_bytes + *ret_cost >
			       lobby->config.match_budget_bytes
		       ? HOLD_ROOM
		       : HOLD_NONE;
}

enum hold start_find(struct lobby *lobby, struct ladder *ladder,
		     struct bot *walker, struct deal *deal,
		     struct lobby_map **ret_map, size_t *ret_cost,
		     int64_t now_us)
{
	struct game_error error;
	enum hold hold;
	int err;

	for (;;) {
		err = instance_next(lobby, ladder, walker, &deal->instance,
				    now_us);
		if (err != 0)
			return err == -EAGAIN ? HOLD_MAP : HOLD_BROKEN;
		hold = start_admit(lobby, ladder, deal, ret_map, ret_cost,
				   &error, now_us);
		if (hold != HOLD_BROKEN)
			return hold;
		/* It is as good as not there. */
		if (*ret_map != NULL)
			map_refuse(lobby, deal->instance.map_id, error.text,
				   now_us);
	}
}

/* The bots of APPOINTMENT are free: PEERS. As start_one. */
static enum hold start_appointment(struct lobby *lobby,
				   struct appointment *appointment,
				   struct lobby_peer *const *peers,
				   int64_t now_us)
{
	struct ladder *ladder = appointment->ladder;
	struct game_error error;
	struct lobby_map *map;
	enum hold hold;
	size_t cost;

	hold = start_admit(lobby, ladder, &appointment->deal, &map, &cost,
			   &error, now_us);
	if (hold == HOLD_BROKEN) {
		appointment_drop(lobby, appointment, 0, error.text, now_us);
		return HOLD_NONE;
	}
	if (hold != HOLD_NONE)
		return hold;
	set_begin_next(lobby,
		       start_begin(lobby, ladder, peers, &appointment->deal,
				   map, cost, now_us));
	appointment_done(lobby, appointment);
	return HOLD_NONE;
}

void start_seat(const struct deal *deal, struct lobby_peer *const *peers,
		struct lobby_peer **seated)
{
	for (unsigned i = 0; i < deal->seats; i++)
		seated[(i + deal->instance.number) % deal->seats] = peers[i];
}

/* The first of the queue, PEERS, play the next instance. As start_one. */
static enum hold start_first(struct lobby *lobby, struct ladder *ladder,
			     struct lobby_peer *const *peers, int64_t now_us)
{
	struct deal deal = { .seats = ladder->row.seats, .is_of_road = true };
	struct bot *walker = ladder->game->is_shared ? NULL : peers[0]->bot;
	struct lobby_peer *seated[LIMIT_SEATS];
	struct lobby_map *map;
	enum hold hold;
	size_t cost;

	memcpy(deal.params, ladder->params, sizeof(deal.params));
	hold = start_find(lobby, ladder, walker, &deal, &map, &cost, now_us);
	if (hold != HOLD_NONE)
		return hold;
	instance_take(lobby, ladder, walker, &deal.instance);
	start_seat(&deal, peers, seated);
	(void)start_begin(lobby, ladder, seated, &deal, map, cost, now_us);
	return HOLD_NONE;
}

static bool pick_next(struct lobby *lobby, struct ladder *ladder,
		      struct pick *ret, int64_t now_us)
{
	ret->is_rated = ladder_is_rated(ladder);
	if (ret->is_rated &&
	    (ladder->row.seats > 1 ? set_pick(lobby, ladder, ret, now_us)
				   : round_pick(lobby, ladder, ret, now_us)))
		return true;
	/* Versions that are not rated here, one with another. */
	if (!pick_seats(lobby, ladder, ret->peers, now_us))
		return false;
	ret->is_rated = false;
	return true;
}

/* Start the next match of LADDER, or say what is in the way. */
static enum hold start_one(struct lobby *lobby, struct ladder *ladder,
			   int64_t now_us)
{
	struct lobby_peer *peers[LIMIT_SEATS];
	struct appointment *appointment;
	struct pick pick;
	enum hold hold;

	appointment = appointment_next(lobby, ladder, peers, now_us);
	if (!ladder->is_listed ||
	    (appointment == NULL && !pick_next(lobby, ladder, &pick, now_us)))
		return HOLD_SEATS;
	start_reserve(lobby, now_us);
	hold = check_lobby(lobby, ladder);
	if (hold != HOLD_NONE)
		return hold;
	if (appointment != NULL)
		return start_appointment(lobby, appointment, peers, now_us);
	if (!pick.is_rated)
		return start_first(lobby, ladder, pick.peers, now_us);
	if (ladder->row.seats > 1)
		return set_start(lobby, ladder, &pick, now_us);
	return round_start(lobby, ladder, &pick, now_us);
}

/* What is said of it; of a drain each peer hears when it is closed. */
static const char *const hold_texts[HOLD_NKINDS] = {
	[HOLD_STORE] = "results cannot be stored just now",
	[HOLD_LAG] = "the server is too busy to keep time",
	[HOLD_BROKEN] = "no map of this ladder can be played",
};

void start_explain(struct lobby *lobby, struct lobby_peer *peer,
		   struct ladder *ladder)
{
	size_t mark = lobby->scratch.len;

	if (hold_texts[ladder->hold] == NULL)
		return;
	session_refuse(&peer->session, ERROR_NO_NEW_MATCHES,
		       lobby->config.retry_after_s, hold_texts[ladder->hold],
		       &lobby->scratch);
	peer_say(lobby, peer, mark);
}

static void set_hold(struct lobby *lobby, struct ladder *ladder, enum hold hold,
		     int64_t now_us)
{
	const struct waiting *entry;
	bool is_new = hold != ladder->hold;

	ladder->hold = hold;
	if (hold != HOLD_NONE && hold != HOLD_SEATS) {
		ladder->is_held = true;
		TAILQ_INSERT_TAIL(&lobby->held, ladder, touch);
	}
	if (hold == HOLD_BROKEN)
		set_retry(lobby, now_us + RETRY_US);
	if (!is_new || hold_texts[hold] == NULL)
		return;
	action_log(lobby, LOG_LEVEL_WARN, "ladder=%s event=held reason=\"%s\"",
		   ladder->row.name, hold_texts[hold]);
	TAILQ_FOREACH(entry, &ladder->queue, queue)
		start_explain(lobby, entry->peer, ladder);
}

void start_pump(struct lobby *lobby, int64_t now_us)
{
	struct ladder *ladder;

	while ((ladder = TAILQ_FIRST(&lobby->touched)) != NULL) {
		enum hold hold, unrated, duels;

		unlist(lobby, ladder);
		ladder->refs++; /* its last appointment may go */
		tournaments_look(lobby, ladder, now_us);
		unrated = unrated_look(lobby, ladder, now_us);
		duels = candidates_look(lobby, ladder, now_us);
		round_sweep(lobby, ladder, now_us);
		lend_call_back(lobby, ladder, now_us);
		do {
			hold = start_one(lobby, ladder, now_us);
		} while (hold == HOLD_NONE);
		if (hold == HOLD_SEATS && unrated != HOLD_NONE)
			hold = unrated;
		else if (hold == HOLD_SEATS && duels != HOLD_NONE)
			hold = duels;
		ladder->refs--;
		start_wake(lobby, ladder, now_us, appointment_deadline(ladder));
		unlist(lobby, ladder); /* all that touched it was looked at */
		set_hold(lobby, ladder, hold, now_us);
		ladder_settle(lobby, ladder);
	}
}

void lobby_loop_lag(struct lobby *lobby, int64_t lag_us, int64_t now_us)
{
	lobby->lag_us = lag_us;
	start_touch_held(lobby);
	lobby_settle(lobby, now_us);
}
