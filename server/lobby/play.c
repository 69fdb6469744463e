/* SPDX-License-Identifier: MIT */
/*
 * play.c - matches in play: what peers and time do to them, what they say.
 *
 * A play's place in the heap of deadlines may be too early, never too late: a
 * turn moves its match's deadline on without a touch of the heap, and when
 * the old one is due the play is put where it belongs by then.
 */
#include "server/lobby/appointment.h"
#include "server/lobby/lobby_internal.h"
#include "server/lobby/rated.h"
#include "server/lobby/start.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	RTT_EVERY_US = 1000 * 1000,
	HOW_BYTES = 24,
};

static void set_due(struct lobby *lobby, struct lobby_play *play, bool is_due)
{
	if (play->is_due == is_due)
		return;
	play->is_due = is_due;
	if (is_due)
		TAILQ_INSERT_TAIL(&lobby->due, play, due);
	else
		TAILQ_REMOVE(&lobby->due, play, due);
}

static void schedule(struct lobby *lobby, struct lobby_play *play)
{
	int64_t deadline_us = match_deadline(play->match);

	if (play->is_due || deadline_us == INT64_MAX)
		return;
	if (!heap_has(&play->deadline) ||
	    heap_key(&lobby->deadlines, &play->deadline) > deadline_us)
		heap_set(&lobby->deadlines, &play->deadline, deadline_us);
}

/*
 * The match is over for SEAT: its peer is free. PLAYED is the ladder at whose
 * end it waits again; NULL: at its old place.
 */
static void leave_seat(struct lobby *lobby, struct play_seat *seat,
		       struct ladder *played, int64_t now_us)
{
	struct lobby_peer *peer = seat->peer;

	if (peer == NULL)
		return;
	seat->peer = NULL;
	peer->play = NULL;
	peer->lent_us =
		unrated_is_lending(seat->play->deal.purpose) ? now_us : 0;
	session_leave_match(&peer->session);
	waiting_resume(lobby, peer, played, now_us);
	peer_left_match(lobby, peer, now_us);
}

static void send_block(struct lobby *lobby, struct lobby_peer *peer,
		       struct lobby_map *map)
{
	struct lobby_action *action;

	if (peer->is_closing || peer->is_dead)
		return;
	action = action_add(lobby, LOBBY_SEND_BLOCK, peer);
	action->block = lobby_map_ref(map);
	action->bytes = buf_text(&map->block);
	action->len = map->block.len;
}

/*
 * SEAT's game was over before, and its peer does something else; but what
 * becomes of a match is told to all who played it.
 */
static void tell_former(struct lobby *lobby, struct play_seat *seat,
			const struct buf *lines)
{
	size_t mark = lobby->scratch.len;

	if (seat->told == NULL)
		return;
	buf_add(&lobby->scratch, lines->data, lines->len);
	peer_say(lobby, seat->told, mark);
}

/* All that goes to SEAT now, its map's block in the right place. */
static void send_seat(struct lobby *lobby, struct lobby_play *play,
		      unsigned index)
{
	struct match_out *out = lobby->out;
	struct lobby_peer *peer = play->seats[index].peer;
	const struct buf *lines = &out->lines[index];
	bool starts_clock = (out->clock & 1u << index) != 0;
	size_t at = out->block_at[index], mark = lobby->scratch.len;

	if (peer == NULL) {
		tell_former(lobby, &play->seats[index], lines);
		return;
	}
	if (at == MATCH_NO_BLOCK) {
		buf_add(&lobby->scratch, lines->data, lines->len);
		action_send(lobby, peer, mark, starts_clock);
		return;
	}
	/* Where nothing follows the block, it is itself the request. */
	assert(at < lines->len || at > 0 || !starts_clock);
	buf_add(&lobby->scratch, lines->data, at);
	action_send(lobby, peer, mark, starts_clock && at == lines->len);
	send_block(lobby, peer, play->map);
	mark = lobby->scratch.len;
	buf_add(&lobby->scratch, lines->data + at, lines->len - at);
	action_send(lobby, peer, mark, starts_clock);
	if (!peer->is_closing && !peer->is_dead)
		action_add(lobby, LOBBY_WATCH_FILES, peer);
}

static void sample_rtt(struct lobby *lobby, struct lobby_peer *peer,
		       int64_t now_us)
{
	if (peer->is_closing || peer->is_dead)
		return;
	peer->rtt_us = now_us;
	action_add(lobby, LOBBY_SAMPLE_RTT, peer);
}

/* All are ready: from here on it counts. */
static void start_playing(struct lobby *lobby, struct lobby_play *play,
			  int64_t now_us)
{
	play->state = PLAY_RUNNING;
	lobby->nstarted++;
	set_match_begun(lobby, play);
	for (unsigned i = 0; i < play->nseats; i++) {
		struct play_seat *seat = &play->seats[i];

		if (seat->peer == NULL)
			continue;
		session_start(&seat->peer->session);
		seat->told = seat->peer;
		LIST_INSERT_HEAD(&seat->peer->told, seat, tell);
		sample_rtt(lobby, seat->peer, now_us);
	}
}

void play_over(struct lobby *lobby, struct lobby_play *play, enum deal_end end,
	       uint32_t at_fault, int64_t now_us)
{
	deal_over_fn *over = play->deal.over;

	play->deal.over = NULL;
	if (over != NULL)
		over(lobby, &play->deal, end, play, at_fault, now_us);
}

/* The offer came to nothing: who was ready waits on, at the front. */
static void cancel_play(struct lobby *lobby, struct lobby_play *play,
			int64_t now_us)
{
	uint32_t stays = lobby->out->stays;
	uint32_t at_fault = ((1u << play->nseats) - 1) & ~stays;
	struct ladder *ladder = play->ladder;

	/* It is not the bots that could not. */
	if (lobby->out->is_failed)
		at_fault = 0;
	play->is_lost = lobby->out->is_lost;
	lobby->ncancelled++;
	if (play->deal.is_of_road)
		instance_give_back(ladder,
				   ladder->game->is_shared ? NULL
							   : play->seats[0].bot,
				   &play->deal.instance);
	for (unsigned i = 0; i < play->nseats; i++) {
		struct lobby_peer *peer = play->seats[i].peer;

		/* Its @cancel says so: queued=0. */
		if (peer != NULL && (stays & 1u << i) == 0) {
			waiting_drop(lobby, peer, ladder);
			session_set_ladders(&peer->session,
					    waiting_count(peer));
		}
		leave_seat(lobby, &play->seats[i], NULL, now_us);
	}
	action_log(lobby, LOG_LEVEL_INFO,
		   "match=%" PRId64 " ladder=%s event=cancelled", play->id,
		   ladder->row.name);
	play_over(lobby, play, DEAL_CANCELLED, at_fault, now_us);
	play_free(lobby, play);
}

static void abandon_play(struct lobby *lobby, struct lobby_play *play,
			 int64_t now_us)
{
	for (unsigned i = 0; i < play->nseats; i++) {
		struct play_seat *seat = &play->seats[i];
		struct lobby_peer *former = seat->told;

		if (former != NULL)
			LIST_REMOVE(seat, tell);
		seat->told = NULL;
		if (seat->peer != NULL)
			leave_seat(lobby, seat, NULL, now_us);
		else if (former != NULL)
			peer_was_told(lobby, former, now_us);
	}
	action_log(lobby, LOG_LEVEL_INFO,
		   "match=%" PRId64 " ladder=%s event=abandoned", play->id,
		   play->ladder->row.name);
	play_over(lobby, play, DEAL_VOID, 0, now_us);
	play_free(lobby, play);
}

static void end_play(struct lobby *lobby, struct lobby_play *play,
		     int64_t now_us)
{
	/* A void match is played again: its seats come first. */
	struct ladder *behind = lobby->out->is_void ? NULL : play->ladder;

	for (unsigned i = 0; i < play->nseats; i++)
		leave_seat(lobby, &play->seats[i], behind, now_us);
	results_store(lobby, play);
	set_match_ended(lobby, play, now_us);
}

/* Peers that were not read for this match's sake, if it takes lines again. */
static void wake_seats(struct lobby *lobby, struct lobby_play *play)
{
	for (unsigned i = 0; i < play->nseats; i++) {
		struct lobby_peer *peer = play->seats[i].peer;

		if (peer != NULL && peer->is_paused && !peer->is_running &&
		    !peer->is_end_told && match_wants(play->match, i))
			peer_wake(lobby, peer);
	}
}

/*
 * What was played is kept until it is on disk, and a bot decides how much that
 * is: 32 MiB a match, were it not for the others.
 */
static void count_record(struct lobby *lobby, struct lobby_play *play)
{
	size_t bytes = match_record_bytes(play->match);

	lobby->record_bytes += bytes;
	lobby->record_bytes -= play->record_bytes;
	play->record_bytes = bytes;
}

/* Replies that a seat may have, in bytes: few where a few have taken a lot. */
static size_t replies_share(const struct lobby *lobby)
{
	return lobby->record_bytes > lobby->config.match_budget_bytes / 4
		       ? LIMIT_SEAT_REPLIES_BYTES
		       : LIMIT_TRANSCRIPT_BYTES;
}

void play_apply(struct lobby *lobby, struct lobby_play *play, int64_t now_us)
{
	struct match_out *out = lobby->out;

	count_record(lobby, play);
	if (out->has_started)
		start_playing(lobby, play, now_us);
	for (uint32_t left = out->touched; left != 0; left &= left - 1)
		send_seat(lobby, play, (unsigned)__builtin_ctz(left));
	if (out->is_cancelled) {
		cancel_play(lobby, play, now_us);
		return;
	}
	if (out->is_abandoned) {
		abandon_play(lobby, play, now_us);
		return;
	}
	if (out->is_over) {
		end_play(lobby, play, now_us);
		return;
	}
	for (uint32_t left = out->ended; left != 0; left &= left - 1)
		leave_seat(lobby, &play->seats[__builtin_ctz(left)],
			   play->ladder, now_us);
	if (out->is_busy) {
		play->is_busy = true;
		action_add(lobby, LOBBY_RUN_MATCH, NULL)->play = play;
	}
	wake_seats(lobby, play);
	schedule(lobby, play);
}

static const char *gone_text(const struct session_request *request,
			     char text[HOW_BYTES])
{
	switch (request->gone) {
	case SESSION_GONE_EXIT:
		(void)snprintf(text, HOW_BYTES, "exit=%" PRId64,
			       request->gone_value);
		return text;
	case SESSION_GONE_SIGNAL:
		(void)snprintf(text, HOW_BYTES, "signal=%" PRId64,
			       request->gone_value);
		return text;
	case SESSION_GONE_STDOUT:
		return "stdout=closed";
	case SESSION_GONE_UNKNOWN:
	case SESSION_NGONE:
		break;
	}
	return "unknown";
}

void play_request(struct lobby *lobby, struct lobby_peer *peer,
		  const struct session_request *request, int64_t now_us)
{
	struct lobby_play *play = peer->play;
	struct match_out *out = lobby->out;
	unsigned seat = peer->seat;
	char how[HOW_BYTES];

	assert(play != NULL && play->id == request->match_id);
	switch (request->kind) {
	case SESSION_ASK_GAME:
		if (now_us - peer->rtt_us >= RTT_EVERY_US)
			sample_rtt(lobby, peer, now_us);
		match_set_share(play->match, replies_share(lobby));
		if (request->is_long)
			match_line_long(play->match, seat, now_us, out);
		else
			match_line(play->match, seat, request->line.text,
				   request->line.len, now_us, out);
		break;
	case SESSION_ASK_READY:
		peer->is_quiet = request->is_quiet;
		match_ready(play->match, seat, request->is_quiet, now_us, out);
		break;
	case SESSION_ASK_SKIP:
		match_skip(play->match, seat, now_us, out);
		break;
	case SESSION_ASK_GONE:
		match_gone(play->match, seat, gone_text(request, how), now_us,
			   out);
		break;
	case SESSION_ASK_RESIGN:
		match_resign(play->match, seat, now_us, out);
		break;
	case SESSION_ASK_NOTHING:
	case SESSION_ASK_LOGIN:
	case SESSION_ASK_GUEST:
	case SESSION_ASK_LADDERS:
	case SESSION_ASK_REGISTER:
	case SESSION_ASK_ROTATE:
	case SESSION_ASK_PLAY:
	case SESSION_ASK_LEAVE:
	case SESSION_ASK_CLOSE:
	case SESSION_NKINDS:
		assert(0);
	}
	play_apply(lobby, play, now_us);
}

void play_eof(struct lobby *lobby, struct lobby_peer *peer, int64_t now_us)
{
	struct lobby_play *play = peer->play;

	match_gone(play->match, peer->seat, "eof", now_us, lobby->out);
	play_apply(lobby, play, now_us);
}

void play_link_lost(struct lobby *lobby, struct lobby_peer *peer,
		    int64_t now_us)
{
	struct lobby_play *play = peer->play;

	play->seats[peer->seat].peer = NULL;
	peer->play = NULL;
	match_link_lost(play->match, peer->seat, now_us, lobby->out);
	play_apply(lobby, play, now_us);
}

bool play_wants(const struct lobby_peer *peer)
{
	return match_wants(peer->play->match, peer->seat);
}

unsigned play_reply_lines(const struct lobby_peer *peer)
{
	return match_reply_lines(peer->play->match);
}

/* Must not touch the actions' bytes: they are about to be sent. */
void lobby_clock_started(struct lobby *lobby, struct lobby_peer *peer,
			 int64_t now_us)
{
	struct lobby_play *play = peer->play;

	if (play == NULL || play->state != PLAY_RUNNING)
		return;
	match_clock_started(play->match, peer->seat, now_us);
	schedule(lobby, play);
}

void lobby_files_acked(struct lobby *lobby, struct lobby_peer *peer,
		       int64_t now_us)
{
	struct lobby_play *play = peer->play;

	if (play == NULL || play->state != PLAY_RUNNING)
		return;
	match_files_acked(play->match, peer->seat, now_us);
	schedule(lobby, play);
}

void lobby_rtt(struct lobby *lobby, struct lobby_peer *peer, uint32_t rtt_us)
{
	struct lobby_play *play = peer->play;

	(void)lobby;
	if (play != NULL && play->state == PLAY_RUNNING)
		match_rtt(play->match, peer->seat, rtt_us);
}

/* Move the plays whose verdicts are due from the heap to `due`. */
static void collect_due(struct lobby *lobby, int64_t now_us)
{
	while (heap_first_key(&lobby->deadlines) <= now_us) {
		struct lobby_play *play = HEAP_OF(heap_first(&lobby->deadlines),
						  struct lobby_play, deadline);

		heap_remove(&lobby->deadlines, &play->deadline);
		if (match_deadline(play->match) <= now_us)
			set_due(lobby, play, true);
		else
			schedule(lobby, play);
	}
}

void lobby_last_reads(struct lobby *lobby, int64_t now_us)
{
	struct lobby_play *play;

	collect_due(lobby, now_us);
	TAILQ_FOREACH(play, &lobby->due, due) {
		uint32_t seats = match_due(play->match, now_us);

		for (; seats != 0; seats &= seats - 1) {
			unsigned i = (unsigned)__builtin_ctz(seats);
			struct lobby_peer *peer = play->seats[i].peer;

			/* One that is paused has lines here that come first. */
			if (peer != NULL && !peer->is_paused && !peer->is_eof)
				action_add(lobby, LOBBY_READ, peer);
		}
	}
}

void play_expire(struct lobby *lobby, int64_t now_us)
{
	struct lobby_play *play;

	collect_due(lobby, now_us);
	while ((play = TAILQ_FIRST(&lobby->due)) != NULL) {
		set_due(lobby, play, false);
		if (match_deadline(play->match) > now_us) {
			schedule(lobby, play);
			continue;
		}
		match_expire(play->match, now_us, lobby->out);
		play_apply(lobby, play, now_us);
	}
}

void lobby_stalled(struct lobby *lobby, int64_t lost_us, int64_t now_us)
{
	struct lobby_play *play, *next;

	for (play = TAILQ_FIRST(&lobby->plays); play != NULL; play = next) {
		next = TAILQ_NEXT(play, link);
		if (play->state != PLAY_RUNNING)
			continue;
		match_credit_stall(play->match, lost_us, now_us, lobby->out);
		play_apply(lobby, play, now_us);
	}
	lobby_settle(lobby, now_us);
}

void lobby_play_work(struct lobby_play *play)
{
	match_work(play->match);
}

void lobby_play_worked(struct lobby *lobby, struct lobby_play *play,
		       int64_t now_us)
{
	assert(play->is_busy);
	play->is_busy = false;
	match_resume(play->match, now_us, lobby->out);
	play_apply(lobby, play, now_us);
	lobby_settle(lobby, now_us);
}

void play_abandon(struct lobby *lobby, enum play_state state, int64_t now_us)
{
	struct lobby_play *play, *next;

	for (play = TAILQ_FIRST(&lobby->plays); play != NULL; play = next) {
		next = TAILQ_NEXT(play, link);
		if (play->state != state)
			continue;
		match_abandon(play->match, "shutdown", now_us, lobby->out);
		play_apply(lobby, play, now_us);
	}
}

void play_end(struct lobby *lobby, struct lobby_play *play)
{
	set_due(lobby, play, false);
	lend_end(play);
	heap_remove(&lobby->deadlines, &play->deadline);
	TAILQ_REMOVE(&lobby->plays, play, link);
	lobby->nplays--;
	lobby->match_bytes -= play->cost;
	match_free(play->match);
	play->match = NULL;
	lobby_map_unref(play->map);
	play->map = NULL;
	play->ladder->refs--;
	play->ladder->nplaying--;
	ladder_settle(lobby, play->ladder);
	play->ladder = NULL;
	start_touch_held(lobby);
}

void play_free(struct lobby *lobby, struct lobby_play *play)
{
	lobby->record_bytes -= play->record_bytes;
	if (play->match != NULL)
		play_end(lobby, play);
	for (unsigned i = 0; i < play->nseats; i++) {
		struct play_seat *seat = &play->seats[i];

		if (seat->told != NULL)
			LIST_REMOVE(seat, tell);
		bot_unref(seat->bot);
		free(seat->result);
	}
	free(play);
}
