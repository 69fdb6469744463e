/* SPDX-License-Identifier: MIT */
/*
 * http_client.c - what one host has of the server: connections, and bytes
 * that wait for it. A connection counts for its peer's address; while a
 * request that came through a trusted proxy is answered, for the one behind it.
 * Which addresses are one host, address_host() says, as on the bots' port.
 */
#include <stdlib.h>
#include <string.h>

#include "server/web/http_internal.h"

static size_t bucket_of(const uint8_t host[ADDRESS_BYTES])
{
	uint32_t hash = 0x811c9dc5u; /* FNV-1a */

	for (size_t i = 0; i < ADDRESS_BYTES; i++)
		hash = (hash ^ host[i]) * 0x01000193u;
	return hash % HTTP_BUCKETS;
}

/* All that is no address counts as one. */
static void host_of(const char *address, uint8_t ret[ADDRESS_BYTES])
{
	uint8_t bytes[ADDRESS_BYTES];

	if (!address_parse(address, strlen(address), bytes))
		memset(bytes, 0, sizeof(bytes));
	address_host(bytes, ret);
}

static struct http_client *find_host(struct http_server *server,
				     const uint8_t host[ADDRESS_BYTES])
{
	struct http_client *client;

	LIST_FOREACH(client, &server->clients[bucket_of(host)], link)
	if (memcmp(client->host, host, ADDRESS_BYTES) == 0)
		return client;
	return NULL;
}

struct http_client *http_client_find(struct http_server *server,
				     const char *address)
{
	uint8_t host[ADDRESS_BYTES];

	host_of(address, host);
	return find_host(server, host);
}

static struct http_client *client_get(struct http_server *server,
				      const char *address)
{
	struct http_client *client;
	uint8_t host[ADDRESS_BYTES];

	host_of(address, host);
	client = find_host(server, host);
	if (client != NULL)
		return client;
	client = xcalloc(1, sizeof(*client));
	memcpy(client->host, host, sizeof(host));
	LIST_INSERT_HEAD(&server->clients[bucket_of(host)], client, link);
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
