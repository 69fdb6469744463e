/* SPDX-License-Identifier: MIT */
/*
 * asks.c - what a peer wants of the store: a bot, a token, a version. The
 * peer is not heard until the answer is here, so that its lines keep their
 * order; its link may be gone by then.
 */
#include "server/lobby/lobby_internal.h"
#include "server/lobby/start.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "proto/control.h"

static void copy_slice(struct slice from, char *ret, size_t size)
{
	assert(from.len < size);
	memcpy(ret, from.text, from.len);
	ret[from.len] = '\0';
}

/* It may hold a token, an invite. */
static void free_ask(struct lobby *lobby, struct ask *ask)
{
	TAILQ_REMOVE(&lobby->asks, ask, link);
	lobby->nasks--;
	explicit_bzero(ask, sizeof(*ask));
	free(ask);
}

void asks_release(struct lobby *lobby)
{
	struct ask *ask;

	while ((ask = TAILQ_FIRST(&lobby->asks)) != NULL)
		free_ask(lobby, ask);
}

void ask_forget(struct lobby_peer *peer)
{
	if (peer->ask != NULL)
		peer->ask->peer = NULL;
	peer->ask = NULL;
}

/* A new ask of PEER; NULL when too many wait, and it was told so. */
static struct ask *ask_new(struct lobby *lobby, struct lobby_peer *peer,
			   enum lobby_ask_kind kind, int64_t now_us)
{
	struct ask *ask;

	if (lobby->nasks >= LIMIT_ASKS || lobby->has_trouble) {
		peer_refuse(lobby, peer, ERROR_TRY_LATER,
			    lobby->config.retry_after_s, NULL, now_us);
		return NULL;
	}
	ask = xcalloc(1, sizeof(*ask));
	ask->body.id = ++lobby->last_ask;
	ask->body.kind = kind;
	ask->peer = peer;
	peer->ask = ask;
	TAILQ_INSERT_TAIL(&lobby->asks, ask, link);
	lobby->nasks++;
	return ask;
}

static void send_ask(struct lobby *lobby, struct ask *ask)
{
	/* Of no peer: those of a dead one are dropped, and it has to be answered. */
	action_add(lobby, LOBBY_ASK, NULL)->ask = &ask->body;
}

void ask_version(struct lobby *lobby, struct lobby_peer *peer, struct bot *bot,
		 const struct session_request *request, int64_t now_us)
{
	uint32_t limit = lobby->config.registrations_per_hour;
	uint32_t wait_s;
	struct ask *ask;

	/*
	 * As costly as a new token, but by bot: many who share an address bring
	 * a new version on the same day.
	 */
	wait_s = bucket_wait_s(&bot->new_versions, limit,
			       BUCKET_HOUR_US / limit, now_us);
	if (wait_s > 0) {
		peer_refuse(lobby, peer, ERROR_TRY_LATER, wait_s,
			    "too many new versions of this bot", now_us);
		return;
	}
	ask = ask_new(lobby, peer, LOBBY_ASK_VERSION, now_us);
	if (ask == NULL)
		return;
	bucket_add(&bot->new_versions, now_us);
	ask->body.bot_id = bot->id;
	copy_slice(request->version, ask->body.label, sizeof(ask->body.label));
	ask->body.is_candidate = request->is_candidate;
	(void)log_quote(ask->client, sizeof(ask->client), request->client.text,
			request->client.len);
	send_ask(lobby, ask);
}

void ask_register(struct lobby *lobby, struct lobby_peer *peer,
		  const struct session_request *request, int64_t now_us)
{
	const struct lobby_config *config = &lobby->config;
	uint32_t wait_s;
	struct ask *ask;

	if (config->is_registration_closed) {
		peer_refuse(lobby, peer, ERROR_REGISTRATION_CLOSED, 0, NULL,
			    now_us);
		return;
	}
	wait_s = address_register_wait_s(
		peer->address, config->registrations_per_hour, now_us);
	if (wait_s > 0) {
		peer_refuse(lobby, peer, ERROR_ADDRESS_LIMIT, wait_s,
			    "too many registrations from this address", now_us);
		return;
	}
	ask = ask_new(lobby, peer, LOBBY_ASK_REGISTER, now_us);
	if (ask == NULL)
		return;
	address_register(peer->address, now_us);
	copy_slice(request->name, ask->body.name, sizeof(ask->body.name));
	copy_slice(request->invite, ask->body.invite, sizeof(ask->body.invite));
	copy_slice(request->token, ask->body.token, sizeof(ask->body.token));
	send_ask(lobby, ask);
}

uint32_t lobby_register_wait_s(struct lobby *lobby,
			       const uint8_t address[ADDRESS_BYTES],
			       int64_t now_us)
{
	struct address *host = address_take(&lobby->addresses, address);
	uint32_t wait_s = address_register_wait_s(
		host, lobby->config.registrations_per_hour, now_us);

	if (wait_s == 0)
		address_register(host, now_us);
	host->prelogin--;
	address_drop(&lobby->addresses, host);
	return wait_s;
}

void ask_rotate(struct lobby *lobby, struct lobby_peer *peer, int64_t now_us)
{
	uint32_t wait_s;
	struct ask *ask;

	if (guest_is(peer)) {
		peer_refuse(lobby, peer, ERROR_GUEST_UNRATED, 0, NULL, now_us);
		return;
	}
	/* Each costs a commit and a reading of the catalogue. */
	wait_s = address_register_wait_s(
		peer->address, lobby->config.registrations_per_hour, now_us);
	if (wait_s > 0) {
		peer_refuse(lobby, peer, ERROR_TRY_LATER, wait_s,
			    "too many new tokens from this address", now_us);
		return;
	}
	ask = ask_new(lobby, peer, LOBBY_ASK_ROTATE, now_us);
	if (ask == NULL)
		return;
	address_register(peer->address, now_us);
	ask->body.bot_id = peer->bot->id;
	send_ask(lobby, ask);
}

static void answer_version(struct lobby *lobby, struct lobby_peer *peer,
			   const struct ask *ask,
			   const struct lobby_answer *answer, int64_t now_us)
{
	struct bot *bot = bot_by_id(lobby, ask->body.bot_id);
	const struct row_version *version = NULL;

	if (bot != NULL && !bot->is_disabled)
		version = bot_version_by_id(bot, answer->version_id);
	if (version == NULL)
		/* It went, or retired, while we asked. */
		peer_refuse(lobby, peer, ERROR_TRY_LATER,
			    lobby->config.retry_after_s, NULL, now_us);
	else
		login_enter(lobby, peer, bot, version, ask->client, now_us);
}

static void answer_token(struct lobby *lobby, struct lobby_peer *peer,
			 const struct ask *ask,
			 const struct lobby_answer *answer)
{
	size_t mark = lobby->scratch.len;

	if (ask->body.kind == LOBBY_ASK_REGISTER) {
		session_registered(&peer->session, answer->name, answer->token,
				   &lobby->scratch);
		action_send(lobby, peer, mark, false);
		action_log(lobby, LOG_LEVEL_INFO,
			   "conn=%" PRIu64 " bot=%s event=registered",
			   peer->link_id, answer->name);
		return;
	}
	control_add_word(&lobby->scratch, WORD_TOKEN);
	control_add_arg(&lobby->scratch, answer->token);
	control_add_end(&lobby->scratch);
	peer_say(lobby, peer, mark);
	action_log(lobby, LOG_LEVEL_INFO,
		   "conn=%" PRIu64 " bot=%s event=token-rotated", peer->link_id,
		   peer->bot->name);
}

void lobby_answered(struct lobby *lobby, uint64_t ask_id,
		    const struct lobby_answer *answer, int64_t now_us)
{
	struct lobby_peer *peer;
	struct ask *ask;

	TAILQ_FOREACH(ask, &lobby->asks, link) {
		if (ask->body.id == ask_id)
			break;
	}
	assert(ask != NULL);
	peer = ask->peer;
	if (peer != NULL) {
		peer->ask = NULL;
		/* It may be offered matches again. */
		for (struct waiting *entry = peer->waiting; entry != NULL;
		     entry = entry->next)
			start_touch(lobby, entry->ladder);
		if (answer->code != ERROR_NONE)
			peer_refuse(lobby, peer, answer->code,
				    answer->code == ERROR_TRY_LATER
					    ? lobby->config.retry_after_s
					    : 0,
				    answer->text, now_us);
		else if (ask->body.kind == LOBBY_ASK_VERSION)
			answer_version(lobby, peer, ask, answer, now_us);
		else
			answer_token(lobby, peer, ask, answer);
		peer_listen(lobby, peer);
		peer_send_home(lobby, peer, now_us);
	}
	free_ask(lobby, ask);
	lobby_settle(lobby, now_us);
}
