/* SPDX-License-Identifier: MIT */
/* login.c - who may come in, and who must go for it. */
#include "server/lobby/lobby_internal.h"

#include <inttypes.h>

#include <openssl/crypto.h>
#include <openssl/sha.h>

enum {
	REFUSAL_BYTES = 4096, /* more than any reason of the store's */
};

/*
 * Whether TOKEN opens BOT's door (NULL: none). All hashes are compared, each
 * in constant time, so that the time taken says nothing but how many there
 * are.
 */
static bool is_token_right(const struct bot *bot, struct slice token)
{
	uint8_t hash[ROW_HASH_BYTES];
	unsigned matches = 0;

	SHA256((const unsigned char *)token.text, token.len, hash);
	if (bot == NULL)
		return false;
	for (uint32_t i = 0; i < bot->ntokens; i++)
		matches +=
			CRYPTO_memcmp(hash, bot->tokens[i], sizeof(hash)) == 0;
	return matches > 0;
}

/* The connection of BOT that has been there longest without a match. */
static struct lobby_peer *oldest_free(const struct bot *bot)
{
	struct lobby_peer *peer;

	TAILQ_FOREACH(peer, &bot->peers, group) {
		if (peer->play == NULL)
			return peer;
	}
	return NULL;
}

static void refuse_wrong(struct lobby *lobby, struct lobby_peer *peer,
			 int64_t now_us)
{
	address_fail(peer->address, now_us);
	action_log(lobby, LOG_LEVEL_INFO, "conn=%" PRIu64 " event=login-failed",
		   peer->link_id);
	/* The same words for an unknown bot and for a wrong token. */
	peer_refuse(lobby, peer, ERROR_LOGIN_FAILED, 0, NULL, now_us);
}

void login_refuse_disabled(struct lobby *lobby, struct lobby_peer *peer,
			   const struct bot *bot, int64_t now_us)
{
	struct buf text = BUF_INIT(REFUSAL_BYTES);

	buf_add_text(&text, error_kinds[ERROR_BOT_DISABLED].doc);
	if (bot->ban_reason != NULL)
		buf_add_format(&text, ": %s", bot->ban_reason);
	/* What a line cannot hold is replaced, and cut, where it is made. */
	peer_refuse(lobby, peer, ERROR_BOT_DISABLED, 0,
		    text.is_failed ? NULL : buf_text(&text), now_us);
	buf_release(&text);
}

void peer_join(struct lobby *lobby, struct lobby_peer *peer, struct bot *bot,
	       const struct row_version *version)
{
	TAILQ_REMOVE(&lobby->prelogin, peer, group);
	peer->address->prelogin--;
	peer->bot = bot_ref(bot);
	peer->version_id = version != NULL ? version->id : bot->version_id;
	peer->rated_from_us =
		version != NULL ? version->rated_from_us : INT64_MIN;
	peer->active_us = version != NULL ? version->active_us : 0;
	bot->npeers++;
	lobby->nlogged_in++;
	TAILQ_INSERT_TAIL(&bot->peers, peer, group);
}

static void let_in(struct lobby *lobby, struct lobby_peer *peer,
		   struct bot *bot, const struct row_version *version)
{
	size_t mark = lobby->scratch.len;

	peer_join(lobby, peer, bot, version);
	session_login_ok(&peer->session, bot->name,
			 version != NULL ? version->label : NULL,
			 &lobby->scratch);
	action_send(lobby, peer, mark, false);
}

/* Whether BOT has room for one more connection, be it others' place. */
static bool make_room(struct lobby *lobby, const struct lobby_peer *peer,
		      const struct bot *bot, int64_t now_us)
{
	struct lobby_peer *oldest;

	/* More than one when the host has lowered the bound meanwhile. */
	while (bot->npeers >= bot->max_connections) {
		oldest = oldest_free(bot);
		if (oldest == NULL)
			return false;
		action_log(lobby, LOG_LEVEL_INFO,
			   "conn=%" PRIu64 " bot=%s event=evicted by=%" PRIu64,
			   oldest->link_id, bot->name, peer->link_id);
		peer_refuse(lobby, oldest, ERROR_EVICTED, 0, NULL, now_us);
	}
	return true;
}

void login_enter(struct lobby *lobby, struct lobby_peer *peer, struct bot *bot,
		 const struct row_version *version, const char *client,
		 int64_t now_us)
{
	if (!make_room(lobby, peer, bot, now_us)) {
		peer_refuse(lobby, peer, ERROR_BOT_BUSY,
			    lobby->config.retry_after_s, NULL, now_us);
		return;
	}
	let_in(lobby, peer, bot, version);
	notice_tell(lobby, peer, now_us);
	action_log(lobby, LOG_LEVEL_INFO,
		   "conn=%" PRIu64 " bot=%s event=login version=%s client=%s",
		   peer->link_id, bot->name,
		   version != NULL ? version->label : "-", client);
}

void login_try(struct lobby *lobby, struct lobby_peer *peer,
	       const struct session_request *request, int64_t now_us)
{
	const struct lobby_config *config = &lobby->config;
	struct bot *bot = bot_find(lobby, request->name);
	const struct row_version *version;
	char client[LOG_QUOTE_BYTES];
	uint32_t wait_s;

	wait_s = address_wait_s(peer->address, config->failures_per_address,
				config->failure_forget_ms * INT64_C(1000),
				now_us);
	if (wait_s > 0) {
		peer_refuse(lobby, peer, ERROR_ADDRESS_LIMIT, wait_s,
			    "too many wrong logins from this address", now_us);
		return;
	}
	if (!is_token_right(bot, request->token)) {
		refuse_wrong(lobby, peer, now_us);
		return;
	}
	if (bot->is_disabled) {
		login_refuse_disabled(lobby, peer, bot, now_us);
		return;
	}
	if (request->version.len == 0) {
		version = bot_version_by_id(bot, bot->version_id);
	} else {
		version = bot_version_by_label(bot, request->version);
		if (version == NULL) {
			ask_version(lobby, peer, bot, request, now_us);
			return;
		}
	}
	login_enter(lobby, peer, bot, version,
		    log_quote(client, sizeof(client), request->client.text,
			      request->client.len),
		    now_us);
}
