/* SPDX-License-Identifier: MIT */
/* script.c - the lines of script.h, read and carried out. */
#include "tests/unit/lobby/script.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

/* One turn of the loop: what is due, as net does it. */
static void turn(struct world *world)
{
	lobby_last_reads(world->lobby, world->now_us);
	world_apply(world);
	lobby_expire(world->lobby, world->now_us);
	world_apply(world);
}

static void let_time_pass(struct world *world, int64_t us)
{
	int64_t until_us = world->now_us + us;

	for (;;) {
		int64_t next_us = lobby_deadline(world->lobby);

		if (next_us > until_us)
			break;
		if (next_us > world->now_us)
			world->now_us = next_us;
		turn(world);
	}
	world->now_us = until_us;
}

static void connect_peer(struct world *world, struct world_peer *peer,
			 uint64_t id, const char *address)
{
	uint8_t bytes[ADDRESS_BYTES] = { [10] = 0xff, [11] = 0xff };
	unsigned parts[4] = { 127, 0, 0, 1 };

	assert_null(peer->peer);
	if (address[0] != '\0')
		assert_int_equal(sscanf(address, "%u.%u.%u.%u", &parts[0],
					&parts[1], &parts[2], &parts[3]),
				 4);
	for (unsigned i = 0; i < 4; i++)
		bytes[12 + i] = (uint8_t)parts[i];
	buf_clear(&peer->inbox);
	peer->closed = NULL;
	peer->is_paused = false;
	peer->peer =
		lobby_peer_open(world->lobby, bytes, peer, id, world->now_us);
}

/* The first line of the inbox, taken out; NULL when there is none. */
static char *take_line(struct world_peer *peer)
{
	char *lf = memchr(buf_text(&peer->inbox), '\n', peer->inbox.len);
	size_t len;
	char *line;

	if (lf == NULL) {
		assert_int_equal(peer->inbox.len, 0);
		return NULL;
	}
	len = (size_t)(lf - peer->inbox.data);
	line = strndup(peer->inbox.data, len);
	buf_drop_front(&peer->inbox, len + 1);
	return line;
}

static bool hears(struct world_peer *peer, const char *pattern, bool skips)
{
	bool is_found = false;
	char *line = NULL;

	do {
		free(line);
		line = take_line(peer);
		if (line == NULL) {
			print_error("heard nothing more\n");
			return false;
		}
		is_found = fnmatch(pattern, line, 0) == 0;
	} while (!is_found && skips);
	if (!is_found)
		print_error("heard: %s\n", line);
	free(line);
	return is_found;
}

static bool is_logged(struct world *world, const char *pattern)
{
	char *at = world->log.data, *lf;
	bool is_found = false;

	while (at != NULL && (lf = strchr(at, '\n')) != NULL) {
		*lf = '\0';
		is_found |= fnmatch(pattern, at, 0) == 0;
		*lf = '\n';
		at = lf + 1;
	}
	if (!is_found)
		print_error("log:\n%s", buf_text(&world->log));
	buf_clear(&world->log);
	return is_found;
}

static void say(struct world *world, struct world_peer *peer, const char *text)
{
	struct buf line = BUF_INIT(1u << 20);

	buf_add_text(&line, text);
	buf_add_char(&line, '\n');
	if (peer->is_paused)
		print_error("(is paused)\n");
	lobby_peer_bytes(world->lobby, peer->peer, line.data, line.len,
			 world->now_us);
	buf_release(&line);
}

static bool play_peer(struct world *world, char name, const char *op,
		      const char *rest)
{
	struct world_peer *peer = world_peer(world, name);

	if (strcmp(op, "+") == 0)
		connect_peer(world, peer, (uint64_t)name, rest);
	else if (strcmp(op, ">") == 0)
		say(world, peer, rest);
	else if (strcmp(op, "<") == 0)
		return hears(peer, rest, false);
	else if (strcmp(op, "<~") == 0)
		return hears(peer, rest, true);
	else if (strcmp(op, "|") == 0)
		lobby_peer_eof(world->lobby, peer->peer, world->now_us);
	else if (strcmp(op, "=") == 0)
		return peer->is_paused == (strcmp(rest, "paused") == 0);
	else if (strcmp(op, "<.") == 0 && peer->inbox.len > 0)
		return hears(peer, "", false);
	if (strcmp(op, "!") == 0) {
		if (peer->closed == NULL || strcmp(peer->closed, rest) != 0) {
			print_error("closed: %s\n",
				    peer->closed ? peer->closed : "not");
			return false;
		}
	}
	if (strcmp(op, "-") == 0 || strcmp(op, "!") == 0) {
		lobby_peer_closed(world->lobby, peer->peer, world->now_us);
		peer->peer = NULL;
	}
	return true;
}

static bool play_line(struct world *world, const char *line)
{
	char op[8] = "", name = line[0];
	int at = 0;

	if (sscanf(line + 1, " %7s%n", op, &at) != 1)
		return false;
	line += 1 + at;
	if (*line == ' ')
		line++;
	if (name != '*')
		return play_peer(world, name, op, line);
	if (strcmp(op, "log") == 0)
		return is_logged(world, line);
	assert_string_equal(op, "t");
	let_time_pass(world, atoll(line) * 1000);
	return true;
}

void world_play(struct world *world, const char *text)
{
	char *copy = strdup(text), *save = NULL;
	unsigned number = 0;

	for (char *line = strtok_r(copy, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save)) {
		number++;
		while (*line == ' ' || *line == '\t')
			line++;
		if (*line == '\0')
			continue;
		if (!play_line(world, line)) {
			print_error("line %u: %s\n", number, line);
			free(copy);
			fail();
			return;
		}
		world_apply(world);
	}
	free(copy);
}

void world_login(struct world *world, char name, const char *bot)
{
	char text[200];

	(void)snprintf(text, sizeof(text),
		       "%c +\n%c < @hill 1 test\n%c > @login %s right\n"
		       "%c < @welcome %s\n",
		       name, name, name, bot, name, bot);
	world_play(world, text);
}
