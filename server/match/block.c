/* SPDX-License-Identifier: MIT */
/*
 * block.c - replies of several lines, gathered before anybody else sees them.
 *
 * From here on a reply is one thing, however many lines it has: it waits, is
 * owed, is late and is thrown away as a whole, and came when its last line
 * came. So a half that is there at the verdict is the beginning of what is
 * owed then.
 */
#include <stdlib.h>
#include <string.h>

#include "server/match/match_internal.h"

enum { COUNT_DIGITS_MAX = 9 };

static struct block *new_block(const struct match *match)
{
	struct block *block = xcalloc(1, sizeof(*block));

	buf_init(&block->text, match->line_max);
	/* Of a counted one the first line says it better. */
	block->left = match_reply_lines(match);
	return block;
}

static void set_long(struct block *block)
{
	block->is_long = true;
	buf_release(&block->text);
}

static void add_line(struct block *block, const struct ahead_item *line)
{
	if (block->is_long)
		return;
	if (block->has_begun)
		buf_add_char(&block->text, '\n');
	buf_add(&block->text, line->text, line->len);
	if (line->kind == AHEAD_LONG || block->text.is_failed)
		set_long(block);
}

/* Lines behind a first one that should be their number. */
static uint64_t count_of(const struct ahead_item *line)
{
	uint64_t count = 0;

	if (line->len > COUNT_DIGITS_MAX)
		return 0;
	for (size_t i = 0; i < line->len; i++) {
		if (line->text[i] < '0' || line->text[i] > '9')
			return 0;
		count = count * 10 + (uint64_t)(line->text[i] - '0');
	}
	return count;
}

static bool is_end(const struct game *game, const struct ahead_item *line)
{
	return game->form == GAME_FORM_ENDED && line->kind == AHEAD_LINE &&
	       line->len == strlen(game->reply_end) &&
	       memcmp(line->text, game->reply_end, line->len) == 0;
}

struct block *block_take(const struct match *match, struct match_seat *seat,
			 struct ahead_item *line)
{
	const struct game *game = match->game;
	struct block *block = seat->block;

	if (block == NULL)
		block = new_block(match);
	seat->block = block;
	add_line(block, line);
	block->left--;
	if (game->form == GAME_FORM_COUNTED && !block->has_begun) {
		block->left = count_of(line);
		if (block->left > game->reply_lines)
			set_long(block);
	}
	block->has_begun = true;
	if (game->form == GAME_FORM_ENDED && !is_end(game, line)) {
		/* One is kept for the end, however late it comes. */
		if (block->left == 0) {
			set_long(block);
			block->left = 1;
		}
		return NULL;
	}
	if (game->form != GAME_FORM_ENDED && block->left > 0)
		return NULL;
	seat->block = NULL;
	line->kind = block->is_long ? AHEAD_LONG : AHEAD_LINE;
	line->text = buf_text(&block->text);
	line->len = block->text.len;
	return block;
}

void block_free(struct block *block)
{
	if (block == NULL)
		return;
	buf_release(&block->text);
	free(block);
}

void block_drop(struct match_seat *seat)
{
	block_free(seat->block);
	seat->block = NULL;
}
