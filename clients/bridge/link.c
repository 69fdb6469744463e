/* SPDX-License-Identifier: MIT */
/* link.c - a slot's connection: connect, send, receive, lose, try again. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clients/bridge/bridge.h"
#include "clients/program/system.h"
#include "server/base/clock.h"

enum {
	RECEIVE_BYTES = 65536,
	HANDSHAKE_US = 10 * 1000 * 1000,
	RETRY_FIRST_US = 500 * 1000,
	RETRY_MOST_US = 25 * 1000 * 1000, /* half a minute with its spread */
	KEEPALIVE_IDLE_S = 30,
	KEEPALIVE_EVERY_S = 10,
	DEAD_AFTER_MS = 60 * 1000,
};

void slot_init(struct slot *slot, struct bridge *bridge, unsigned number)
{
	*slot = (struct slot){ .bridge = bridge,
			       .number = number,
			       .state = SLOT_DOWN,
			       .fd = -1,
			       .deadline_us = INT64_MAX,
			       .kill_at_us = INT64_MAX,
			       .play_again_us = INT64_MAX,
			       .set_by_us = INT64_MAX,
			       .line_max = LIMIT_GAME_LINE_BYTES };
	buf_init(&slot->out, BRIDGE_OUT_BYTES);
	buf_init(&slot->to_program, SIZE_MAX / 8);
	program_init(&slot->program);
}

static void close_link(struct slot *slot)
{
	if (slot->fd >= 0)
		(void)close(slot->fd);
	slot->fd = -1;
	buf_clear(&slot->out);
	framer_release(&slot->framer);
	slot->raw_left = 0;
	slot->is_skipping = false;
	slot->has_left = false;
	slot->play_again_us = INT64_MAX;
}

void slot_release(struct slot *slot)
{
	slot_drop_match(slot, NULL);
	close_link(slot);
	program_release(&slot->program);
	buf_release(&slot->out);
	buf_release(&slot->to_program);
}

void slot_finish(struct slot *slot)
{
	slot_drop_match(slot, NULL);
	close_link(slot);
	slot->set_left = 0;
	slot->state = SLOT_FINISHED;
	slot->deadline_us = INT64_MAX;
}

/* The pause doubles with each failure; the slots must not come in step. */
static int64_t retry_pause_us(const struct slot *slot)
{
	int64_t pause = RETRY_FIRST_US;

	for (unsigned i = 1; i < slot->attempts && pause < RETRY_MOST_US; i++)
		pause *= 2;
	if (pause > RETRY_MOST_US)
		pause = RETRY_MOST_US;
	pause += pause / 4 * (slot->number % 4) / 4;
	return pause > slot->retry_after_us ? pause : slot->retry_after_us;
}

void slot_lose_link(struct slot *slot, const char *why, int64_t now_us)
{
	struct bridge *bridge = slot->bridge;
	struct buf text = BUF_INIT(2048);
	int64_t pause;

	if (slot->state == SLOT_FINISHED)
		return;
	if (slot->state <= SLOT_CONNECTING)
		buf_add_format(&text, "cannot reach %s:%s: ", bridge->host,
			       bridge->port);
	buf_add_text(&text, why);
	slot_drop_match(slot, slot->is_server_ending
				      ? "the server is going down"
				      : "link lost");
	slot->is_server_ending = false;
	bridge->told_waiting = 0;
	close_link(slot);
	slot->deadline_us = INT64_MAX;
	if (slot->set_left > 0)
		slot->set_by_us = now_us + SET_NEXT_US;
	if (bridge->is_finishing) {
		slot->set_left = 0;
		report(slot, "%s", buf_text(&text));
		buf_release(&text);
		slot->state = SLOT_FINISHED;
		return;
	}
	slot->attempts++;
	pause = retry_pause_us(slot);
	slot->retry_after_us = 0;
	slot->state = SLOT_DOWN;
	slot->retry_at_us = now_us + pause;
	report(slot, "%s; trying again in %.1f s", buf_text(&text),
	       (double)pause / 1000000.0);
	buf_release(&text);
}

void slot_set_options(int fd)
{
	const int on = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	system_watch_peer(fd, KEEPALIVE_IDLE_S, KEEPALIVE_EVERY_S,
			  DEAD_AFTER_MS);
}

/* Begin TCP's handshake with one of the host's addresses. -1 and errno. */
static int begin_connect(const struct addrinfo *address)
{
	int fd = system_stream_socket(address->ai_family);

	if (fd < 0) {
		errno = -fd;
		return -1;
	}
	slot_set_options(fd);
	if (connect(fd, address->ai_addr, address->ai_addrlen) < 0 &&
	    errno != EINPROGRESS) {
		int error = errno;

		(void)close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

/* Whether the server's name or port is wrong, rather than out of reach. */
static bool is_mistaken(const struct slot *slot, int error)
{
	return !slot->bridge->has_connected && slot->attempts == 0 &&
	       (system_is_unknown_host(error) || error == EAI_SERVICE);
}

static bool is_playing_beside(const struct slot *slot)
{
	const struct bridge *bridge = slot->bridge;

	for (unsigned i = 0; i < bridge->nslots; i++) {
		enum slot_state state = bridge->slots[i].state;

		if (&bridge->slots[i] != slot && state >= SLOT_OFFERED &&
		    state <= SLOT_ENDING)
			return true;
	}
	return false;
}

/*
 * Ask for the host's addresses. A resolver out of reach takes seconds to say
 * so, and while a match of another slot runs these would be its turn's: those
 * that were told last do then.
 */
static int find_addresses(const struct slot *slot)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct bridge *bridge = slot->bridge;
	struct addrinfo *found = NULL;
	int rc;

	if (bridge->addresses != NULL && is_playing_beside(slot))
		return 0;
	rc = getaddrinfo(bridge->host, bridge->port, &hints, &found);
	if (rc != 0)
		return rc;
	if (bridge->addresses != NULL)
		freeaddrinfo(bridge->addresses);
	bridge->addresses = found;
	return 0;
}

void slot_connect(struct slot *slot, int64_t now_us)
{
	int rc = find_addresses(slot);
	const struct addrinfo *chosen = slot->bridge->addresses;
	unsigned count = 0;

	if (rc != 0 && is_mistaken(slot, rc)) {
		report(slot, "cannot reach %s:%s: %s", slot->bridge->host,
		       slot->bridge->port, gai_strerror(rc));
		slot->bridge->exit_status = EXIT_REFUSED;
		slot->bridge->is_stopping = true;
		slot_finish(slot);
		return;
	}
	if (rc != 0) {
		slot_lose_link(slot, gai_strerror(rc), now_us);
		return;
	}
	/* Another address of the host each time. */
	for (const struct addrinfo *i = chosen; i != NULL; i = i->ai_next)
		count++;
	for (unsigned i = slot->attempts % count; i > 0; i--)
		chosen = chosen->ai_next;
	slot->fd = begin_connect(chosen);
	if (slot->fd < 0) {
		slot_lose_link(slot, strerror(errno), now_us);
		return;
	}
	framer_init(&slot->framer, FRAMER_PEER, LIMIT_MAP_BYTES,
		    LIMIT_MAP_BYTES, LIMIT_MAP_BYTES * 2u);
	slot->state = SLOT_CONNECTING;
	slot->deadline_us = now_us + HANDSHAKE_US;
}

void slot_connected(struct slot *slot, int64_t now_us)
{
	int error = 0;
	socklen_t size = sizeof(error);

	if (getsockopt(slot->fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		error = errno;
	if (error != 0) {
		slot_lose_link(slot, strerror(error), now_us);
		return;
	}
	slot->bridge->has_connected = true;
	slot->state = SLOT_GREETING;
	slot->deadline_us = now_us + HANDSHAKE_US;
}

void slot_flush(struct slot *slot, int64_t now_us)
{
	size_t done = 0;

	if (slot->fd < 0 || slot->state == SLOT_CONNECTING)
		return;
	if (slot->out.is_failed) {
		slot_lose_link(slot, "the server takes no data", now_us);
		return;
	}
	while (done < slot->out.len) {
		ssize_t count = send(slot->fd, slot->out.data + done,
				     slot->out.len - done, MSG_NOSIGNAL);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0 && errno == EAGAIN)
			break;
		if (count < 0) {
			slot_lose_link(slot, "link lost", now_us);
			return;
		}
		done += (size_t)count;
	}
	buf_drop_front(&slot->out, done);
}

/* Hand every whole line on, until the program has enough to read. */
static void take_frames(struct slot *slot, struct frame_input *input,
			int64_t now_us)
{
	struct frame frame;

	while (slot->fd >= 0 && !program_is_full(&slot->program)) {
		enum frame_kind kind =
			framer_next(&slot->framer, input, &frame);

		if (kind == FRAME_MORE)
			break;
		if (kind == FRAME_FLOOD || kind == FRAME_NO_MEMORY) {
			slot_lose_link(slot, "the server sends no lines",
				       now_us);
			return;
		}
		slot_take_frame(slot, &frame, now_us);
	}
	if (slot->fd >= 0 && framer_keep(&slot->framer, input) < 0)
		slot_lose_link(slot, "out of memory", now_us);
}

void slot_receive(struct slot *slot, int64_t now_us)
{
	static char bytes[RECEIVE_BYTES]; /* one loop, one thread */
	struct frame_input input = { .data = bytes, .len = 0 };
	ssize_t count;

	if (framer_has_line(&slot->framer)) {
		/* Left over from when the program had enough. */
		take_frames(slot, &input, now_us);
	} else {
		count = recv(slot->fd, bytes, sizeof(bytes), 0);
		if (count < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (count <= 0) {
			slot_lose_link(slot, "link lost", now_us);
			return;
		}
		input.len = (size_t)count;
		take_frames(slot, &input, now_us);
	}
	/* All game lines of one read go to the program in one write. */
	if (slot->to_program.len > 0) {
		program_write(&slot->program, slot->to_program.data,
			      slot->to_program.len);
		buf_clear(&slot->to_program);
		slot->asked_us = clock_now_us();
	}
}
