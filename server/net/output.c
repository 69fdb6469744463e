/* SPDX-License-Identifier: MIT */
#include "server/net/output.h"

#include <stdlib.h>
#include <string.h>

#include "server/lobby/lobby.h"
#include "server/net/link.h"

enum {
	PIECE_BYTES = 1024,       /* room of a small piece at least */
	PARTS_MAX = 16,           /* pieces a sendmsg() */
	SEND_BYTES_MAX = 1 << 18, /* of a block in one call: others wait */
};

struct output_piece {
	struct output_piece *next;
	struct lobby_map *block; /* NULL: own bytes, in `room` */
	const char *bytes;
	size_t len;  /* in all */
	size_t sent; /* of them */
	size_t cap;  /* of `room` */
	char room[];
};

static struct output_piece *append(struct output *output, size_t cap)
{
	struct output_piece *piece = xmalloc(sizeof(*piece) + cap);

	*piece = (struct output_piece){ .cap = cap };
	if (output->last == NULL)
		output->first = piece;
	else
		output->last->next = piece;
	output->last = piece;
	return piece;
}

static void drop_first(struct output *output)
{
	struct output_piece *piece = output->first;

	output->first = piece->next;
	if (output->first == NULL)
		output->last = NULL;
	lobby_map_unref(piece->block);
	free(piece);
}

void output_clear(struct output *output)
{
	while (output->first != NULL)
		drop_first(output);
	output->own_bytes = 0;
}

void output_add(struct output *output, const char *bytes, size_t len)
{
	struct output_piece *piece = output->last;

	if (len == 0)
		return;
	if (piece == NULL || piece->block != NULL ||
	    piece->cap - piece->len < len) {
		piece = append(output, len > PIECE_BYTES ? len : PIECE_BYTES);
		piece->bytes = piece->room;
	}
	memcpy(piece->room + piece->len, bytes, len);
	piece->len += len;
	output->own_bytes += len;
}

void output_add_block(struct output *output, struct lobby_map *block_take,
		      const char *bytes, size_t len)
{
	struct output_piece *piece = append(output, 0);

	piece->block = block_take;
	piece->bytes = bytes;
	piece->len = len;
}

static int collect(const struct output *output, struct iovec *parts)
{
	size_t total = 0;
	int count = 0;

	for (const struct output_piece *piece = output->first;
	     piece != NULL && count < PARTS_MAX && total < SEND_BYTES_MAX;
	     piece = piece->next) {
		size_t len = piece->len - piece->sent;

		if (len > SEND_BYTES_MAX - total)
			len = SEND_BYTES_MAX - total;
		parts[count].iov_base =
			(void *)(uintptr_t)(piece->bytes + piece->sent);
		parts[count].iov_len = len;
		total += len;
		count++;
	}
	return count;
}

int output_send(struct output *output, int fd)
{
	struct iovec parts[PARTS_MAX];
	ssize_t count;

	count = link_sendv(fd, parts, collect(output, parts));
	if (count < 0)
		return (int)count;
	for (size_t left = (size_t)count; output->first != NULL;) {
		struct output_piece *piece = output->first;
		size_t len = piece->len - piece->sent;

		if (len > left)
			len = left;
		piece->sent += len;
		left -= len;
		if (piece->block == NULL)
			output->own_bytes -= len;
		if (piece->sent < piece->len)
			break;
		drop_first(output);
	}
	return 0;
}
