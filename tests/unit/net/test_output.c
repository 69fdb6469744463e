/* SPDX-License-Identifier: MIT */
#include "server/net/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/games/game.h"
#include "server/lobby/lobby.h"
#include "server/net/link.h"
#include "tests/unit/unit.h"

static const char map_text[] = "#####\n#s e#\n#####\n";

static void pair(int fds[2])
{
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
}

static struct lobby_map *new_map(void)
{
	struct lobby_map *map;
	struct game_error error;

	assert_int_equal(lobby_map_new(&map, game_find("rabbit-runner"),
				       "t.map", "", map_text,
				       sizeof(map_text) - 1, &error),
			 0);
	return map;
}

/* The byte that stands at AT of the stream in these tests. */
static char byte_at(size_t at)
{
	return (char)(at * 31 % 251);
}

static void sends_in_order_as_the_socket_drains(void **state)
{
	enum { OWN = 300000, BLOCK = 1000000, TOTAL = 2 * OWN + BLOCK };
	char *bytes = malloc(TOTAL);
	char in[10007];
	struct output output = { 0 };
	size_t received = 0;
	int fds[2];

	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < TOTAL; i++)
		bytes[i] = byte_at(i);
	pair(fds);
	for (size_t at = 0; at < OWN; at += 1000)
		output_add(&output, bytes + at, 1000);
	output_add_block(&output, new_map(), bytes + OWN, BLOCK);
	output_add(&output, bytes + OWN + BLOCK, OWN);
	assert_int_equal(output.own_bytes, 2 * OWN);
	while (received < TOTAL) {
		ssize_t count;
		int rc = 0;

		if (!output_is_empty(&output))
			rc = output_send(&output, fds[0]);
		assert_true(rc == 0 || rc == -EAGAIN);
		count = link_read(fds[1], in, sizeof(in));
		if (count == -EAGAIN)
			continue;
		assert_true(count > 0);
		assert_memory_equal(in, bytes + received, (size_t)count);
		received += (size_t)count;
	}
	assert_true(output_is_empty(&output));
	assert_int_equal(output.own_bytes, 0);
	(void)close(fds[0]);
	(void)close(fds[1]);
	free(bytes);
}

static void tells_a_closed_peer(void **state)
{
	struct output output = { 0 };
	int fds[2];

	(void)state;
	pair(fds);
	(void)close(fds[1]);
	output_add(&output, "lost\n", 5);
	output_add_block(&output, new_map(), map_text, 3);
	assert_int_equal(output_send(&output, fds[0]), -EPIPE);
	assert_false(output_is_empty(&output));
	output_clear(&output);
	assert_true(output_is_empty(&output));
	assert_int_equal(output.own_bytes, 0);
	(void)close(fds[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sends_in_order_as_the_socket_drains),
		cmocka_unit_test(tells_a_closed_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
