/* SPDX-License-Identifier: MIT */
/*
 * http_client.c - what one address has of the server: connections, and bytes
 * that wait for it. A connection counts for its peer's address; while a
 * request that came through a trusted proxy is answered, for the one behind it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/web/http_internal.h"

static size_t bucket_of(const char *address)
{
	uint32_t hash = 0x811c9dc5u; /* FNV-1a */

	for (; *address != '\0'; address++)
		hash = (hash ^ (unsigned char)*address) * 0x01000193u;
	return hash % HTTP_BUCKETS;
}

struct http_client *http_client_find(struct http_server *server,
				     const char *address)
{
	struct http_client *client;

	LIST_FOREACH(client, &server->clients[bucket_of(address)], link)
	if (strcmp(client->address, address) == 0)
		return client;
	return NULL;
}

static struct http_client *client_get(struct http_server *server,
				      const char *address)
{
	struct http_client *client = http_client_find(server, address);

	if (client != NULL)
		return client;
	client = xcalloc(1, sizeof(*client));
	(void)snprintf(client->address, sizeof(client->address), "%s", address);
	LIST_INSERT_HEAD(&server->clients[bucket_of(address)], client, link);
	return client;
}

void http_conn_set_client(struct http_conn *conn, const char *address)
{
	struct http_client *old = conn->client;
	struct http_client *now =
		address == NULL ? NULL : client_get(conn->server, address);

	conn->client = now;
	if (now != NULL) {
		now->nconns++;
		now->queued += conn->queued + conn->held;
	}
	if (old == NULL)
		return;
	old->queued -= conn->queued + conn->held;
	if (--old->nconns == 0) {
		LIST_REMOVE(old, link);
		free(old);
	}
}

void http_conn_count(struct http_conn *conn, size_t queued)
{
	conn->server->queued += queued - conn->queued;
	conn->client->queued += queued - conn->queued;
	conn->queued = queued;
}

void http_conn_hold(struct http_conn *conn, size_t bytes)
{
	conn->server->queued += bytes - conn->held;
	conn->client->queued += bytes - conn->held;
	conn->held = bytes;
}

bool http_conn_has_room(const struct http_conn *conn, size_t len)
{
	const struct http_server *server = conn->server;
	const struct http_settings *settings = &server->settings;
	size_t mine = conn->client->queued;

	/* Who has nothing waiting is given one reply, whatever its size. */
	return (mine == 0 || mine + len <= settings->output_per_address) &&
	       (server->queued == 0 ||
		server->queued + len <= settings->output_bytes);
}
