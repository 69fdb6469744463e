/* SPDX-License-Identifier: MIT */
/* peer.c - a connection from its first byte to its last. */
#include "server/lobby/lobby_internal.h"
#include "server/lobby/start.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

struct lobby_peer *lobby_peer_open(struct lobby *lobby,
				   const uint8_t address[ADDRESS_BYTES],
				   void *conn, uint64_t link_id, int64_t now_us)
{
	const struct lobby_config *config = &lobby->config;
	struct lobby_peer *peer = xcalloc(1, sizeof(*peer));
	struct address *host = address_take(&lobby->addresses, address);
	size_t mark = lobby->scratch.len;

	peer->conn = conn;
	peer->link_id = link_id;
	peer->address = host;
	session_init(&peer->session, now_us + config->login_ms * INT64_C(1000));
	LIST_INIT(&peer->told);
	LIST_INSERT_HEAD(&lobby->peers, peer, all);
	lobby->npeers++;
	TAILQ_INSERT_TAIL(&lobby->prelogin, peer, group);
	session_greet(&peer->session, config->host, &lobby->scratch);
	action_send(lobby, peer, mark, false);
	if (lobby->is_draining)
		peer_refuse(lobby, peer, ERROR_SHUTDOWN, config->retry_after_s,
			    NULL, now_us);
	else if (lobby->npeers > config->peers_max)
		peer_refuse(lobby, peer, ERROR_SERVER_FULL,
			    config->retry_after_s, NULL, now_us);
	else if (host->peers > config->peers_per_address ||
		 host->prelogin > config->prelogin_per_address)
		peer_refuse(lobby, peer, ERROR_ADDRESS_LIMIT,
			    config->retry_after_s, NULL, now_us);
	return peer;
}

/* The peer no longer counts as its bot's, or as one that may still log in. */
static void leave_group(struct lobby *lobby, struct lobby_peer *peer)
{
	ask_forget(peer);
	if (peer->bot == NULL) {
		TAILQ_REMOVE(&lobby->prelogin, peer, group);
		peer->address->prelogin--;
		return;
	}
	guest_leave(lobby, peer);
	TAILQ_REMOVE(&peer->bot->peers, peer, group);
	peer->bot->npeers--;
	lobby->nlogged_in--;
	bot_unref(peer->bot);
	peer->bot = NULL;
}

static void stop_running(struct lobby *lobby, struct lobby_peer *peer)
{
	if (!peer->is_running)
		return;
	peer->is_running = false;
	TAILQ_REMOVE(&lobby->runs, peer, run);
	lobby->nruns--;
}

void peer_close(struct lobby *lobby, struct lobby_peer *peer, int64_t now_us)
{
	struct lobby_action *action;

	assert(session_is_closed(&peer->session));
	if (peer->is_closing || peer->is_dead)
		return;
	action = action_add(lobby, LOBBY_CLOSE, peer);
	action->reason = peer->session.close_reason;
	peer->is_closing = true;
	stop_running(lobby, peer);
	waiting_drop_all(lobby, peer);
	results_forget(peer);
	if (peer->play != NULL)
		play_link_lost(lobby, peer, now_us);
	leave_group(lobby, peer);
}

static void free_held(struct lobby_peer *peer)
{
	if (peer->held == NULL)
		return;
	buf_release(peer->held);
	free(peer->held);
	peer->held = NULL;
}

/* Send what is held, before what lies in scratch from MARK on. */
static void send_held(struct lobby *lobby, struct lobby_peer *peer, size_t mark)
{
	struct buf *scratch = &lobby->scratch;
	size_t len = peer->held != NULL ? peer->held->len : 0;

	if (len > 0 && buf_reserve(scratch, len) != NULL) {
		memmove(scratch->data + mark + len, scratch->data + mark,
			scratch->len - mark);
		memcpy(scratch->data + mark, peer->held->data, len);
		scratch->len += len;
	}
	free_held(peer);
	action_send(lobby, peer, mark, false);
}

void peer_say(struct lobby *lobby, struct lobby_peer *peer, size_t mark)
{
	struct buf *scratch = &lobby->scratch;
	size_t held = peer->held != NULL ? peer->held->len : 0;

	if (!peer->is_quiet || peer->is_overfull ||
	    session_is_closed(&peer->session) || scratch->is_failed) {
		action_send(lobby, peer, mark, false);
		return;
	}
	/* Rather in between than never, and in its order. */
	if (held + (scratch->len - mark) > LIMIT_HELD_BYTES) {
		peer->is_overfull = true;
		send_held(lobby, peer, mark);
		return;
	}
	if (peer->held == NULL) {
		peer->held = xcalloc(1, sizeof(*peer->held));
		buf_init(peer->held, LIMIT_HELD_BYTES);
	}
	if (scratch->len > mark)
		buf_add(peer->held, scratch->data + mark, scratch->len - mark);
	scratch->len = mark;
}

/*
 * In a drain, or when its bot is gone, a peer goes when it has all. Who could
 * still be offered a match would never have all.
 */
void peer_send_home(struct lobby *lobby, struct lobby_peer *peer,
		    int64_t now_us)
{
	bool is_disabled = peer->bot != NULL && peer->bot->is_disabled;

	if (is_disabled && peer->waiting != NULL)
		waiting_end(lobby, peer, now_us);
	if (peer->play != NULL || !LIST_EMPTY(&peer->told) || peer->ask != NULL)
		return;
	if (is_disabled)
		login_refuse_disabled(lobby, peer, peer->bot, now_us);
	else if (lobby->is_draining)
		peer_refuse(lobby, peer, ERROR_SHUTDOWN,
			    lobby->config.retry_after_s, NULL, now_us);
}

void peer_left_match(struct lobby *lobby, struct lobby_peer *peer,
		     int64_t now_us)
{
	peer->is_quiet = false;
	peer->is_overfull = false;
	peer->is_end_told = false;
	if (peer->held != NULL)
		send_held(lobby, peer, lobby->scratch.len);
	if (peer->is_paused || peer->is_eof)
		peer_wake(lobby, peer);
	peer_send_home(lobby, peer, now_us);
}

void peer_was_told(struct lobby *lobby, struct lobby_peer *peer, int64_t now_us)
{
	if (peer->is_eof)
		peer_wake(lobby, peer);
	peer_send_home(lobby, peer, now_us);
}

void peer_refuse(struct lobby *lobby, struct lobby_peer *peer,
		 enum error_code code, int64_t retry_after_s, const char *text,
		 int64_t now_us)
{
	size_t mark = lobby->scratch.len;

	if (peer->is_closing || peer->is_dead)
		return;
	session_refuse(&peer->session, code, retry_after_s, text,
		       &lobby->scratch);
	peer_say(lobby, peer, mark);
	if (session_is_closed(&peer->session))
		peer_close(lobby, peer, now_us);
}

void peer_wake(struct lobby *lobby, struct lobby_peer *peer)
{
	if (peer->is_running || peer->is_closing || peer->is_dead)
		return;
	peer->is_running = true;
	TAILQ_INSERT_TAIL(&lobby->runs, peer, run);
	lobby->nruns++;
}

static void pause_reading(struct lobby *lobby, struct lobby_peer *peer)
{
	if (peer->is_paused)
		return;
	peer->is_paused = true;
	if (!peer->is_eof)
		action_add(lobby, LOBBY_PAUSE, peer);
}

static void resume_reading(struct lobby *lobby, struct lobby_peer *peer)
{
	if (!peer->is_paused)
		return;
	peer->is_paused = false;
	if (!peer->is_eof)
		action_add(lobby, LOBBY_RESUME, peer);
}

void peer_listen(struct lobby *lobby, struct lobby_peer *peer)
{
	if (framer_has_line(&peer->session.framer) || peer->is_eof)
		peer_wake(lobby, peer);
	else if (!peer->is_closing && !peer->is_dead)
		resume_reading(lobby, peer);
}

/* One frame of PEER: the session's answer, then what it asks of us. */
static void take_frame(struct lobby *lobby, struct lobby_peer *peer,
		       const struct frame *frame, int64_t now_us)
{
	struct session_request request;
	size_t mark = lobby->scratch.len;

	session_line(&peer->session, frame, &lobby->scratch, &request);
	/* Who asks how long the link takes wants no answer after the match. */
	if (request.is_pong)
		action_send(lobby, peer, mark, false);
	else
		peer_say(lobby, peer, mark);
	switch (request.kind) {
	case SESSION_ASK_NOTHING:
		break;
	case SESSION_ASK_LOGIN:
		login_try(lobby, peer, &request, now_us);
		break;
	case SESSION_ASK_GUEST:
		guest_enter(lobby, peer, &request, now_us);
		break;
	case SESSION_ASK_LADDERS:
		ladders_tell(lobby, peer);
		break;
	case SESSION_ASK_REGISTER:
		ask_register(lobby, peer, &request, now_us);
		break;
	case SESSION_ASK_ROTATE:
		ask_rotate(lobby, peer, now_us);
		break;
	case SESSION_ASK_PLAY:
		waiting_play(lobby, peer, &request, now_us);
		break;
	case SESSION_ASK_LEAVE:
		waiting_leave(lobby, peer, &request, now_us);
		break;
	case SESSION_ASK_READY:
	case SESSION_ASK_SKIP:
	case SESSION_ASK_GONE:
	case SESSION_ASK_RESIGN:
	case SESSION_ASK_GAME:
		play_request(lobby, peer, &request, now_us);
		break;
	case SESSION_ASK_CLOSE:
		peer_close(lobby, peer, now_us);
		break;
	case SESSION_NKINDS:
		assert(0);
	}
	session_check(&peer->session);
}

/* INPUT must wait, so nothing more is read; PEER pays where memory is out. */
static void keep_rest(struct lobby *lobby, struct lobby_peer *peer,
		      struct frame_input *input, int64_t now_us)
{
	struct framer *framer = &peer->session.framer;
	struct frame frame;

	if (framer_keep(framer, input) == 0)
		pause_reading(lobby, peer);
	else if (framer_next(framer, input, &frame) != FRAME_MORE)
		take_frame(lobby, peer, &frame, now_us);
}

/* All lines of a peer that has ended its side are taken. */
static void end_of_lines(struct lobby *lobby, struct lobby_peer *peer,
			 int64_t now_us)
{
	struct session_request request;

	/* It can say @ready to nothing any more. */
	waiting_drop_all(lobby, peer);
	session_set_ladders(&peer->session, 0);
	if (peer->play != NULL) {
		peer->is_end_told = true;
		play_eof(lobby, peer, now_us);
		return;
	}
	if (!LIST_EMPTY(&peer->told))
		return;
	session_end_of_input(&peer->session, &request);
	peer_close(lobby, peer, now_us);
}

/* Whether the next line of PEER may be taken. */
static bool may_hear(const struct lobby_peer *peer)
{
	return peer->ask == NULL && (peer->play == NULL || play_wants(peer));
}

/*
 * Take lines from what was kept and from INPUT, a bounded number; keep the
 * rest and stop reading as long as there is a rest. A line of ten bytes may
 * ask for an answer of thousands (@ladders), so answers are bounded, too.
 */
static void take_lines(struct lobby *lobby, struct lobby_peer *peer,
		       struct frame_input *input, int64_t now_us)
{
	struct framer *framer = &peer->session.framer;
	unsigned most = LIMIT_LINES_PER_STEP;
	size_t begun = lobby->scratch.len;

	/* A reply that is here to its end must not be late for its length. */
	if (peer->play != NULL)
		most += play_reply_lines(peer) - 1;
	for (unsigned i = 0; i < most; i++) {
		struct frame frame;

		if (!may_hear(peer)) {
			/* play_apply or the answer wakes it. */
			keep_rest(lobby, peer, input, now_us);
			return;
		}
		if (framer_next(framer, input, &frame) == FRAME_MORE) {
			if (peer->is_eof)
				end_of_lines(lobby, peer, now_us);
			else
				resume_reading(lobby, peer);
			return;
		}
		take_frame(lobby, peer, &frame, now_us);
		if (peer->is_closing)
			return;
		if (lobby->scratch.len > begun + LIMIT_ANSWERS_PER_STEP)
			break;
	}
	if (framer_has_line(framer) || input->len > 0 || peer->is_eof) {
		peer_wake(lobby, peer);
		keep_rest(lobby, peer, input, now_us);
	} else {
		resume_reading(lobby, peer);
	}
}

void lobby_peer_bytes(struct lobby *lobby, struct lobby_peer *peer,
		      const char *bytes, size_t len, int64_t now_us)
{
	struct frame_input input = { bytes, len };

	if (peer->is_closing || peer->is_dead)
		return;
	if (peer->is_running || !may_hear(peer)) {
		/* A last read of one that is paused: behind what it has. */
		keep_rest(lobby, peer, &input, now_us);
		lobby_settle(lobby, now_us);
		return;
	}
	take_lines(lobby, peer, &input, now_us);
	lobby_settle(lobby, now_us);
}

void lobby_peer_eof(struct lobby *lobby, struct lobby_peer *peer,
		    int64_t now_us)
{
	struct frame_input input = { "", 0 };

	if (peer->is_closing || peer->is_dead || peer->is_eof)
		return;
	peer->is_eof = true;
	if (!peer->is_running)
		take_lines(lobby, peer, &input, now_us);
	lobby_settle(lobby, now_us);
}

void peer_run_all(struct lobby *lobby, int64_t now_us)
{
	struct lobby_peer *peer;

	/* Those that wake while this runs are for the next loop turn. */
	for (size_t left = lobby->nruns; left > 0; left--) {
		struct frame_input input = { "", 0 };

		peer = TAILQ_FIRST(&lobby->runs);
		if (peer == NULL)
			return;
		stop_running(lobby, peer);
		take_lines(lobby, peer, &input, now_us);
	}
}

struct lobby_peer *peer_first_login(const struct lobby *lobby)
{
	struct lobby_peer *peer;

	TAILQ_FOREACH(peer, &lobby->prelogin, group) {
		if (peer->ask == NULL)
			return peer;
	}
	return NULL;
}

const char *peer_unrated(const struct lobby_peer *peer,
			 const struct ladder *ladder, int64_t now_us)
{
	const struct row_version *version =
		bot_version_by_id(peer->bot, peer->version_id);

	if (!ladder->row.is_rated)
		return NULL;
	if (version != NULL && version->is_candidate)
		return "candidate";
	if (version == NULL ? peer->rated_from_us == INT64_MAX
			    : version->is_retired)
		return "retired";
	if (ladder->row.deadline_us != 0 &&
	    peer->active_us > ladder->row.deadline_us)
		return "deadline";
	return peer->rated_from_us > now_us ? "versions" : NULL;
}

void peer_expire_logins(struct lobby *lobby, int64_t now_us)
{
	struct lobby_peer *peer;

	while ((peer = peer_first_login(lobby)) != NULL &&
	       session_deadline(&peer->session) <= now_us) {
		struct session_request request;
		size_t mark = lobby->scratch.len;

		session_expire(&peer->session, now_us, &lobby->scratch,
			       &request);
		action_send(lobby, peer, mark, false);
		peer_close(lobby, peer, now_us);
	}
}

void lobby_peer_overflow(struct lobby *lobby, struct lobby_peer *peer,
			 int64_t now_us)
{
	if (peer->is_closing || peer->is_dead)
		return;
	/* Words would only join what it does not read. */
	session_close(&peer->session, ERROR_SLOW_READER, NULL, NULL);
	peer_close(lobby, peer, now_us);
	lobby_settle(lobby, now_us);
}

/* Out of every list but that of the dead. */
static void detach(struct lobby *lobby, struct lobby_peer *peer)
{
	address_drop(&lobby->addresses, peer->address);
	peer->address = NULL;
	LIST_REMOVE(peer, all);
	lobby->npeers--;
	session_release(&peer->session);
	free_held(peer);
}

void lobby_peer_closed(struct lobby *lobby, struct lobby_peer *peer,
		       int64_t now_us)
{
	assert(!peer->is_dead);
	peer->is_dead = true;
	if (!peer->is_closing) {
		stop_running(lobby, peer);
		waiting_drop_all(lobby, peer);
		results_forget(peer);
		if (peer->play != NULL)
			play_link_lost(lobby, peer, now_us);
		leave_group(lobby, peer);
	}
	detach(lobby, peer);
	TAILQ_INSERT_TAIL(&lobby->dead, peer, group);
	lobby_settle(lobby, now_us);
}

void peer_free(struct lobby *lobby, struct lobby_peer *peer)
{
	stop_running(lobby, peer);
	if (!peer->is_closing) {
		waiting_drop_all(lobby, peer);
		results_forget(peer);
		leave_group(lobby, peer);
	}
	detach(lobby, peer);
	free(peer);
}
