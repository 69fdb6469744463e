/* SPDX-License-Identifier: MIT */
/*
 * notice.c - what the host announces, told once to each connection. Ids only
 * grow, so the last one that a peer heard says what it has not.
 */
#include "server/lobby/lobby_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/control.h"

void notice_tell(struct lobby *lobby, struct lobby_peer *peer, int64_t now_us)
{
	size_t mark = lobby->scratch.len;

	for (size_t i = 0; i < lobby->nnotices; i++) {
		const struct row_announcement *notice = &lobby->notices[i];

		if (notice->id <= peer->notice_id || notice->ends_us <= now_us)
			continue;
		peer->notice_id = notice->id;
		control_add_word(&lobby->scratch, WORD_NOTICE);
		control_add_text(&lobby->scratch, notice->text);
		control_add_end(&lobby->scratch);
	}
	peer_say(lobby, peer, mark);
}

void notice_bot(struct lobby *lobby, struct bot *bot, const char *format, ...)
{
	char text[LIMIT_NOTICE_BYTES + 1];
	struct lobby_peer *peer, *next;
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (peer = TAILQ_FIRST(&bot->peers); peer != NULL; peer = next) {
		size_t mark = lobby->scratch.len;

		next = TAILQ_NEXT(peer, group);
		if (peer->is_closing || peer->is_dead)
			continue;
		control_add_word(&lobby->scratch, WORD_NOTICE);
		control_add_text(&lobby->scratch, text);
		control_add_end(&lobby->scratch);
		peer_say(lobby, peer, mark);
	}
}

void notice_take(struct lobby *lobby, const struct row_catalogue *rows,
		 int64_t now_us)
{
	struct lobby_peer *peer;
	size_t count = rows->nannouncements;

	free(lobby->notices);
	lobby->notices = NULL;
	lobby->nnotices = count;
	if (count == 0)
		return;
	lobby->notices = xcalloc(count, sizeof(*lobby->notices));
	memcpy(lobby->notices, rows->announcements,
	       count * sizeof(*lobby->notices));
	LIST_FOREACH(peer, &lobby->peers, all)
	{
		if (peer->bot != NULL && !peer->is_closing && !peer->is_dead)
			notice_tell(lobby, peer, now_us);
	}
}
