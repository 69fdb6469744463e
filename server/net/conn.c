/* SPDX-License-Identifier: MIT */
/*
 * conn.c - a bot's connection.
 *
 * A turn costs one recv() and one send(): one read buffer serves all, what is
 * sent goes out at once, and only what the socket does not take is queued and
 * waits for a write event.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "server/base/clock.h"
#include "server/net/link.h"
#include "server/net/net_internal.h"

enum {
	CLOSE_US = 2000000, /* for the last lines of a closed link */
	REFUSED_LOG_US = 1000000,
	WATCH_FIRST_US = 500,  /* between looks at the acks: at first ... */
	WATCH_LAST_US = 50000, /* ... and at last */
	V4_OFFSET = 12,        /* of the IPv4 address in a mapped one */
};

static const uint8_t v4_prefix[V4_OFFSET] = { [10] = 0xff, [11] = 0xff };

void conn_address_set(const struct sockaddr *sockaddr,
		      uint8_t ret_address[ADDRESS_BYTES], uint16_t *ret_port)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	memset(ret_address, 0, ADDRESS_BYTES);
	*ret_port = 0;
	if (sockaddr->sa_family == AF_INET) {
		memcpy(&v4, sockaddr, sizeof(v4));
		memcpy(ret_address, v4_prefix, V4_OFFSET);
		memcpy(ret_address + V4_OFFSET, &v4.sin_addr,
		       sizeof(v4.sin_addr));
		*ret_port = ntohs(v4.sin_port);
	} else if (sockaddr->sa_family == AF_INET6) {
		memcpy(&v6, sockaddr, sizeof(v6));
		memcpy(ret_address, &v6.sin6_addr, sizeof(v6.sin6_addr));
		*ret_port = ntohs(v6.sin6_port);
	}
}

const char *conn_address_text(const uint8_t address[ADDRESS_BYTES],
			      uint16_t port, char ret[NET_ADDRESS_TEXT])
{
	char host[INET6_ADDRSTRLEN] = "?";

	if (memcmp(address, v4_prefix, V4_OFFSET) == 0) {
		(void)inet_ntop(AF_INET, address + V4_OFFSET, host,
				sizeof(host));
		(void)snprintf(ret, NET_ADDRESS_TEXT, "%s:%u", host, port);
	} else {
		(void)inet_ntop(AF_INET6, address, host, sizeof(host));
		(void)snprintf(ret, NET_ADDRESS_TEXT, "[%s]:%u", host, port);
	}
	return ret;
}

/* ---- the end ---- */

static void listen_for_bytes(struct conn *conn, bool wanted)
{
	if (conn->is_listening == wanted)
		return;
	conn->is_listening = wanted;
	if (!wanted)
		(void)event_del(&conn->ev);
	else if (event_add(&conn->ev, NULL) < 0)
		conn_kill(conn, "no-memory");
}

void conn_kill(struct conn *conn, const char *reason)
{
	struct net *net = conn->net;
	int64_t now_us;

	if (conn->state == CONN_DEAD)
		return;
	if (conn->reason == NULL)
		conn->reason = reason;
	conn->state = CONN_DEAD;
	listen_for_bytes(conn, false);
	if (conn->write_ev != NULL)
		(void)event_del(conn->write_ev);
	heap_remove(&net->timers, &conn->timer);
	heap_remove(&net->watches, &conn->watch);
	LIST_REMOVE(conn, link);
	LIST_INSERT_HEAD(&net->dead, conn, link);
	if (conn->peer == NULL)
		return;
	now_us = clock_now_us();
	lobby_peer_closed(net->lobby, conn->peer, now_us);
	conn->peer = NULL;
	net_act(net);
}

/* One line for each; of those that never came in, who may be many, a few. */
static void log_closed(struct conn *conn)
{
	char text[NET_ADDRESS_TEXT], more[32] = "";
	unsigned suppressed;

	if (conn->is_refused) {
		if (!log_rate_pass(&conn->net->refused_log, clock_now_us(),
				   REFUSED_LOG_US, &suppressed))
			return;
		(void)snprintf(more, sizeof(more), " suppressed=%u",
			       suppressed);
	}
	log_info("conn=%llu peer=%s event=closed reason=%s%s",
		 (unsigned long long)conn->id,
		 conn_address_text(conn->address, conn->port, text),
		 conn->reason, more);
}

void net_reap(struct net *net)
{
	struct conn *conn;

	if (LIST_EMPTY(&net->dead))
		return;
	while ((conn = LIST_FIRST(&net->dead)) != NULL) {
		log_closed(conn);
		LIST_REMOVE(conn, link);
		if (conn->write_ev != NULL)
			event_free(conn->write_ev);
		output_clear(&conn->output);
		(void)close(conn->fd);
		free(conn);
		net->nconns--;
	}
	listeners_wake(net);
}

/* Closing, and all is sent: say so, and hear out what still comes. */
static void linger(struct conn *conn)
{
	if (conn->has_eof || conn->is_mute) {
		conn_kill(conn, conn->reason);
		return;
	}
	conn->state = CONN_LINGER;
	(void)shutdown(conn->fd, SHUT_WR);
	listen_for_bytes(conn, true);
}

void conn_close(struct conn *conn, const char *reason)
{
	if (conn->state != CONN_OPEN)
		return;
	conn->state = CONN_FLUSH;
	conn->reason = reason;
	listen_for_bytes(conn, false);
	heap_remove(&conn->net->watches, &conn->watch);
	heap_set(&conn->net->timers, &conn->timer, clock_now_us() + CLOSE_US);
	if (output_is_empty(&conn->output) || conn->is_mute)
		linger(conn);
}

/* ---- sending ---- */

/*
 * The link cannot take anything any more. What the peer sent before is still
 * to be read, and reading tells the end; where nobody reads, it is now.
 */
static void go_mute(struct conn *conn)
{
	conn->is_mute = true;
	output_clear(&conn->output);
	if (conn->write_ev != NULL)
		(void)event_del(conn->write_ev);
	if (!conn->is_listening || conn->state != CONN_OPEN)
		conn_kill(conn, "reset");
	else
		heap_remove(&conn->net->timers, &conn->timer);
}

static void note_progress(struct conn *conn)
{
	struct net *net = conn->net;

	if (conn->state != CONN_OPEN)
		return;
	if (output_is_empty(&conn->output))
		heap_remove(&net->timers, &conn->timer);
	else
		heap_set(&net->timers, &conn->timer,
			 clock_now_us() +
				 (int64_t)net->settings.output_stall_ms * 1000);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct conn *conn = arg;
	int rc;

	(void)what;
	net_turn_began(conn->net);
	if (conn->state == CONN_DEAD)
		return;
	rc = output_send(&conn->output, fd);
	if (rc < 0 && rc != -EAGAIN) {
		go_mute(conn);
		return;
	}
	if (rc == 0)
		note_progress(conn);
	if (!output_is_empty(&conn->output))
		return;
	(void)event_del(conn->write_ev);
	if (conn->state == CONN_FLUSH)
		linger(conn);
}

/* Something waits that did not before: have a write event. */
static void wait_to_write(struct conn *conn)
{
	if (conn->write_ev == NULL)
		conn->write_ev =
			event_new(conn->net->base, conn->fd,
				  EV_WRITE | EV_PERSIST, on_writable, conn);
	if (conn->write_ev == NULL || event_add(conn->write_ev, NULL) < 0) {
		conn_kill(conn, "no-memory");
		return;
	}
	note_progress(conn);
}

/* Send at once what fits; *RET_SENT is how much. False when that is the end. */
static bool send_now(struct conn *conn, const char *bytes, size_t len,
		     size_t *ret_sent)
{
	ssize_t count = link_send(conn->fd, bytes, len);

	if (count < 0 && count != -EAGAIN) {
		go_mute(conn);
		return false;
	}
	*ret_sent = count < 0 ? 0 : (size_t)count;
	return true;
}

void conn_send(struct conn *conn, const char *bytes, size_t len)
{
	bool was_empty = output_is_empty(&conn->output);
	size_t sent = 0;

	if (conn->state == CONN_DEAD || conn->is_mute || len == 0)
		return;
	if (was_empty && !send_now(conn, bytes, len, &sent))
		return;
	if (sent == len)
		return;
	output_add(&conn->output, bytes + sent, len - sent);
	if (was_empty)
		wait_to_write(conn);
	if (conn->state == CONN_OPEN &&
	    conn->output.own_bytes > LIMIT_OUTPUT_BYTES && conn->peer != NULL) {
		/* The lobby asks for the end; nothing more is kept for it. */
		output_clear(&conn->output);
		conn->is_mute = true;
		lobby_peer_overflow(conn->net->lobby, conn->peer,
				    clock_now_us());
		net_act(conn->net);
	}
}

void conn_send_block(struct conn *conn, struct lobby_map *block_take,
		     const char *bytes, size_t len)
{
	bool was_empty = output_is_empty(&conn->output);
	size_t sent = 0;

	if (conn->state == CONN_DEAD || conn->is_mute || len == 0 ||
	    (was_empty && !send_now(conn, bytes, len, &sent)) || sent == len) {
		lobby_map_unref(block_take);
		return;
	}
	output_add_block(&conn->output, block_take, bytes + sent, len - sent);
	if (was_empty)
		wait_to_write(conn);
}

/* ---- reading ---- */

static void at_eof(struct conn *conn)
{
	conn->has_eof = true;
	listen_for_bytes(conn, false);
	if (conn->state == CONN_LINGER || conn->is_mute) {
		conn_kill(conn, "eof");
		return;
	}
	lobby_peer_eof(conn->net->lobby, conn->peer, clock_now_us());
	net_act(conn->net);
}

void conn_read(struct conn *conn, size_t most)
{
	struct net *net = conn->net;
	ssize_t count;

	if (!conn->is_listening)
		return;
	count = link_read(conn->fd, net->read_buffer, most);
	if (count == -EAGAIN)
		return;
	if (count < 0) {
		conn_kill(conn, count == -ETIMEDOUT ? "unreachable" : "reset");
	} else if (count == 0) {
		at_eof(conn);
	} else if (conn->state == CONN_OPEN) {
		lobby_peer_bytes(net->lobby, conn->peer, net->read_buffer,
				 (size_t)count, clock_now_us());
		net_act(net);
	}
}

/*
 * A long reply may fill the buffer several times over, and still be in time.
 * More than the largest line-max of a game that answers in lines is a flood.
 */
void conn_read_all(struct conn *conn)
{
	int waiting = 0;

	for (int reads = 0; reads < NET_LAST_READS && conn->is_listening;
	     reads++) {
		conn_read(conn, NET_READ_BYTES);
		if (conn->state != CONN_OPEN ||
		    ioctl(conn->fd, FIONREAD, &waiting) < 0 || waiting == 0)
			return;
	}
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct conn *conn = arg;

	(void)fd;
	(void)what;
	net_turn_began(conn->net);
	if (conn->state == CONN_DEAD)
		return;
	conn_read(conn, NET_TURN_BYTES);
}

void conn_pause(struct conn *conn)
{
	conn->is_paused = true;
	if (conn->state == CONN_OPEN)
		listen_for_bytes(conn, false);
}

void conn_resume(struct conn *conn)
{
	conn->is_paused = false;
	if (conn->state == CONN_OPEN && !conn->has_eof)
		listen_for_bytes(conn, true);
}

void conn_open(struct net *net, int fd, const struct sockaddr *address)
{
	struct conn *conn = xcalloc(1, sizeof(*conn));

	conn->net = net;
	conn->fd = fd;
	conn->id = ++net->last_id;
	conn_address_set(address, conn->address, &conn->port);
	LIST_INSERT_HEAD(&net->conns, conn, link);
	net->nconns++;
	net->figures.connections++;
	if (event_assign(&conn->ev, net->base, fd, EV_READ | EV_PERSIST,
			 on_readable, conn) < 0) {
		conn_kill(conn, "no-memory");
		return;
	}
	listen_for_bytes(conn, true);
	if (conn->state == CONN_DEAD)
		return;
	conn->peer = lobby_peer_open(net->lobby, conn->address, conn, conn->id,
				     clock_now_us());
	net_act(net);
	conn->is_refused = conn->state != CONN_OPEN;
}

/* ---- what the kernel knows ---- */

static void look_at_acks(struct conn *conn, int64_t now_us)
{
	struct net *net = conn->net;

	if (output_is_empty(&conn->output) && link_unacked(conn->fd) == 0) {
		heap_remove(&net->watches, &conn->watch);
		lobby_files_acked(net->lobby, conn->peer, now_us);
		net_act(net);
		return;
	}
	heap_set(&net->watches, &conn->watch, now_us + conn->watch_delay_us);
	conn->watch_delay_us *= 2;
	if (conn->watch_delay_us > WATCH_LAST_US)
		conn->watch_delay_us = WATCH_LAST_US;
}

void conn_watch_files(struct conn *conn, int64_t now_us)
{
	if (conn->state != CONN_OPEN || conn->is_mute)
		return;
	conn->watch_delay_us = WATCH_FIRST_US;
	look_at_acks(conn, now_us);
}

void conn_sample_rtt(struct conn *conn)
{
	uint32_t rtt_us = link_min_rtt_us(conn->fd);

	if (rtt_us > 0 && conn->peer != NULL)
		lobby_rtt(conn->net->lobby, conn->peer, rtt_us);
}

void conns_expire(struct net *net, int64_t now_us)
{
	struct conn *conn;

	while (heap_first_key(&net->watches) <= now_us) {
		conn = HEAP_OF(heap_first(&net->watches), struct conn, watch);
		look_at_acks(conn, now_us);
	}
	while (heap_first_key(&net->timers) <= now_us) {
		conn = HEAP_OF(heap_first(&net->timers), struct conn, timer);
		conn_kill(conn,
			  conn->state == CONN_OPEN ? "stalled" : conn->reason);
	}
}
