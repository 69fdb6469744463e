/* SPDX-License-Identifier: MIT */
/*
 * guest.c - who comes in without a bot. All guests are connections of one bot
 * that has no token and whose name nobody can have; what tells them apart is
 * the name they give, which their seats are stored with.
 */
#include "server/lobby/lobby_internal.h"

#include <inttypes.h>
#include <stdio.h>

#include "proto/name.h"

const char *guest_shown(const struct lobby_peer *peer)
{
	return peer->guest[0] != '\0' ? peer->guest : peer->bot->name;
}

bool guest_is(const struct lobby_peer *peer)
{
	return peer->guest[0] != '\0';
}

void guest_leave(struct lobby *lobby, struct lobby_peer *peer)
{
	if (!guest_is(peer))
		return;
	peer->address->guests--;
	lobby->nguests--;
	peer->guest[0] = '\0';
}

void guest_enter(struct lobby *lobby, struct lobby_peer *peer,
		 const struct session_request *request, int64_t now_us)
{
	static const struct slice name = { NAME_GUESTS,
					   sizeof(NAME_GUESTS) - 1 };
	const struct lobby_config *config = &lobby->config;
	struct bot *bot = bot_find(lobby, name);
	char client[LOG_QUOTE_BYTES];
	size_t mark = lobby->scratch.len;

	if (!config->has_guests || bot == NULL || bot->is_disabled) {
		peer_refuse(lobby, peer, ERROR_GUESTS_OFF, 0, NULL, now_us);
		return;
	}
	if (peer->address->guests >= config->guests_per_address) {
		peer_refuse(lobby, peer, ERROR_ADDRESS_LIMIT,
			    config->retry_after_s,
			    "too many guests from this address", now_us);
		return;
	}
	if (lobby->nguests >= config->guests_max) {
		peer_refuse(lobby, peer, ERROR_SERVER_FULL,
			    config->retry_after_s,
			    "the server has no room for another guest", now_us);
		return;
	}
	(void)snprintf(peer->guest, sizeof(peer->guest), "%s%.*s", NAME_GUESTS,
		       (int)request->name.len, request->name.text);
	peer->address->guests++;
	lobby->nguests++;
	peer_join(lobby, peer, bot, NULL);
	session_login_ok(&peer->session, peer->guest, NULL, &lobby->scratch);
	action_send(lobby, peer, mark, false);
	notice_tell(lobby, peer, now_us);
	action_log(lobby, LOG_LEVEL_INFO,
		   "conn=%" PRIu64 " bot=%s event=login client=%s",
		   peer->link_id, peer->guest,
		   log_quote(client, sizeof(client), request->client.text,
			     request->client.len));
}
