/* SPDX-License-Identifier: MIT */
/* actions.c - the queue of what the caller has to do, and its bytes. */
#include "server/lobby/lobby_internal.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/match/record.h"

enum {
	ACTIONS_MIN = 64,
	LOG_LINE_BYTES = 512,
	/* What a burst made the buffers grow to is given back above this. */
	SCRATCH_KEPT_BYTES = 256 * 1024,
	ACTIONS_KEPT = 4096,
};

struct lobby_action *action_add(struct lobby *lobby,
				enum lobby_action_kind kind,
				struct lobby_peer *peer)
{
	struct queued_action *queued;

	if (lobby->naction == lobby->action_cap) {
		lobby->action_cap = lobby->action_cap == 0
					    ? ACTIONS_MIN
					    : lobby->action_cap * 2;
		lobby->actions =
			xreallocarray(lobby->actions, lobby->action_cap,
				      sizeof(*lobby->actions));
	}
	queued = &lobby->actions[lobby->naction++];
	memset(queued, 0, sizeof(*queued));
	queued->action.kind = kind;
	queued->action.peer = peer;
	return &queued->action;
}

/* ACTION, the newest, carries what scratch holds since MARK. */
static void set_scratch(struct lobby *lobby, size_t mark)
{
	struct queued_action *queued = &lobby->actions[lobby->naction - 1];

	queued->is_scratch = true;
	queued->offset = mark;
	queued->action.len = lobby->scratch.len - mark;
}

/* Whether the newest action is a SEND to PEER that ends where MARK is. */
static struct queued_action *send_before(struct lobby *lobby,
					 const struct lobby_peer *peer,
					 size_t mark)
{
	struct queued_action *last;

	if (lobby->naction == lobby->action_head)
		return NULL;
	last = &lobby->actions[lobby->naction - 1];
	if (last->action.kind != LOBBY_SEND || last->action.peer != peer ||
	    last->offset + last->action.len != mark)
		return NULL;
	return last;
}

void action_send(struct lobby *lobby, struct lobby_peer *peer, size_t mark,
		 bool starts_clock)
{
	struct queued_action *last;

	/* Without memory for a few lines nothing here can go on. */
	if (lobby->scratch.is_failed) {
		fputs("lobby: out of memory\n", stderr);
		abort();
	}
	if (lobby->scratch.len == mark)
		return;
	if (peer->is_dead || peer->is_closing) {
		lobby->scratch.len = mark;
		return;
	}
	last = send_before(lobby, peer, mark);
	if (last != NULL) {
		last->action.len += lobby->scratch.len - mark;
		last->action.starts_clock |= starts_clock;
		return;
	}
	action_add(lobby, LOBBY_SEND, peer)->starts_clock = starts_clock;
	set_scratch(lobby, mark);
}

void action_log(struct lobby *lobby, enum log_level level, const char *format,
		...)
{
	char line[LOG_LINE_BYTES];
	size_t mark = lobby->scratch.len;
	va_list args;

	va_start(args, format);
	(void)vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	buf_add_text(&lobby->scratch, line);
	/* A line more or less: the buffer's failure shows at the next SEND. */
	action_add(lobby, LOBBY_LOG, NULL)->level = level;
	set_scratch(lobby, mark);
}

void action_close_round(struct lobby *lobby, int64_t round_id, size_t mark,
			bool is_void)
{
	struct lobby_action *action;

	buf_add(&lobby->scratch, "", 1); /* it is a string */
	action = action_add(lobby, LOBBY_CLOSE_ROUND, NULL);
	action->round_id = round_id;
	action->is_void = is_void;
	set_scratch(lobby, mark);
}

/* Free what was queued and taken, and the peers that it spoke of. */
static void start_over(struct lobby *lobby)
{
	struct lobby_peer *peer;

	lobby->action_head = 0;
	lobby->naction = 0;
	if (lobby->scratch.cap > SCRATCH_KEPT_BYTES)
		buf_release(&lobby->scratch);
	else
		buf_clear(&lobby->scratch);
	if (lobby->action_cap > ACTIONS_KEPT) {
		free(lobby->actions);
		lobby->actions = NULL;
		lobby->action_cap = 0;
	}
	while ((peer = TAILQ_FIRST(&lobby->dead)) != NULL) {
		TAILQ_REMOVE(&lobby->dead, peer, group);
		free(peer);
	}
}

bool lobby_next_action(struct lobby *lobby, struct lobby_action *ret)
{
	while (lobby->action_head < lobby->naction) {
		struct queued_action *queued =
			&lobby->actions[lobby->action_head++];
		struct lobby_peer *peer = queued->action.peer;

		if (peer != NULL && peer->is_dead) {
			lobby_map_unref(queued->action.block);
			continue;
		}
		*ret = queued->action;
		if (queued->is_scratch)
			ret->bytes = buf_text(&lobby->scratch) + queued->offset;
		if (peer != NULL)
			ret->conn = peer->conn;
		return true;
	}
	start_over(lobby);
	return false;
}

void actions_release(struct lobby *lobby)
{
	for (size_t i = lobby->action_head; i < lobby->naction; i++) {
		lobby_map_unref(lobby->actions[i].action.block);
		match_record_free(lobby->actions[i].action.record);
	}
	start_over(lobby);
	free(lobby->actions);
	lobby->actions = NULL;
	buf_release(&lobby->scratch);
}
