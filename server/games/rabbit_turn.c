/* SPDX-License-Identifier: MIT */
/*
 * rabbit_turn.c - one turn of rabbit-runner: rabbits appear, crushers decide,
 * crushers move, three lines to the bot; its reply, rabbits move.
 */
#include "server/games/rabbit_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/games/rabbit_moves.h"

enum {
	/* `-12,-34 movesto -12,-34; ` with the longest numbers fits */
	ENTRY_BYTES = 80,
	TOLD_BYTES = 60, /* of a reply, in what is told of it */
	WORD_BYTES = 8,  /* a blank and the action, without a NUL */
};

static void add_rabbit(struct game_state *state, struct py27_cell cell)
{
	py27_table_add(&state->rabbits, cell, 0);
	rabbit_sight_add(&state->prey, cell);
	if (rabbit_map_holds(state->map, cell)) {
		state->row_rabbits[cell.y]++;
		state->column_rabbits[cell.x]++;
	}
}

static void remove_rabbit(struct game_state *state, struct py27_cell cell)
{
	(void)py27_table_remove(&state->rabbits, cell);
	rabbit_sight_remove(&state->prey, cell);
	if (rabbit_map_holds(state->map, cell)) {
		state->row_rabbits[cell.y]--;
		state->column_rabbits[cell.x]--;
	}
}

static inline bool has_rabbit(const struct game_state *state,
			      struct py27_cell cell)
{
	return rabbit_sight_has(&state->prey, cell);
}

/* Whether a crusher is on CELL, which is no wall, or in sight of it. */
static bool sees_crusher(const struct game_state *state, struct py27_cell cell)
{
	if (rabbit_sight_has(&state->blockers, cell))
		return true;
	for (unsigned d = 0; d < RABBIT_NDIRECTIONS; d++) {
		uint32_t distance =
			rabbit_sight_next(&state->blockers, cell, d, 0);

		if (distance != 0 &&
		    !rabbit_map_is_wall(state->map,
					rabbit_step(cell, d, distance)))
			return true;
	}
	return false;
}

static void spawn_rabbits(struct game_state *state)
{
	for (uint32_t i = 0; i < state->map->nstarts; i++) {
		struct py27_cell cell = state->map->starts[i];

		if (!has_rabbit(state, cell) && !sees_crusher(state, cell))
			add_rabbit(state, cell);
	}
}

/* All decide before one moves. */
static void decide(struct game_state *state)
{
	struct py27_table *crushers = &state->crushers;
	struct rabbit_mover *mover = state->movers;

	for (int32_t i = py27_table_next(crushers, 0); i >= 0;
	     i = py27_table_next(crushers, i + 1)) {
		struct py27_cell cell = py27_table_cell(crushers, i);
		unsigned direction =
			rabbit_decide(state, cell, crushers->values[i]);

		crushers->values[i] = (uint8_t)direction;
		*mover++ = (struct rabbit_mover){ cell, direction };
	}
}

/* Where the next ENTRY_BYTES of OUT go; NULL when it is full. */
static inline char *entry_room(struct buf *out)
{
	if (!out->is_failed && out->cap - out->len > ENTRY_BYTES &&
	    out->len + ENTRY_BYTES <= out->limit)
		return out->data + out->len;
	return buf_reserve(out, ENTRY_BYTES);
}

static char *put_long_number(char *at, int32_t value)
{
	char digits[12];
	size_t count = sizeof(digits);
	uint32_t left = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;

	do {
		digits[--count] = (char)('0' + left % 10);
		left /= 10;
	} while (left != 0);
	if (value < 0)
		digits[--count] = '-';
	memcpy(at, digits + count, sizeof(digits) - count);
	return at + sizeof(digits) - count;
}

/* `7,` */
static inline char *put_number(char *at, const struct game_map *map,
			       int32_t value)
{
	if ((uint32_t)value < map->nlabels) {
		const struct rabbit_label *label = &map->labels[value];

		memcpy(at, label->text, RABBIT_LABEL_BYTES);
		return at + label->text[RABBIT_LABEL_BYTES - 1];
	}
	at = put_long_number(at, value);
	*at++ = ',';
	return at;
}

/* `7,12` */
static inline char *put_cell(char *at, const struct game_map *map,
			     struct py27_cell cell)
{
	return put_number(put_number(at, map, cell.x), map, cell.y) - 1;
}

static void put_action(const struct game_map *map, struct py27_cell from,
		       struct py27_cell to, bool is_crushing, bool is_first,
		       struct buf *out)
{
	static const char words[2][WORD_BYTES] = { " movesto", " crushes" };
	char *start = entry_room(out);
	char *at = start;

	if (at == NULL)
		return;
	if (!is_first) {
		*at++ = ';';
		*at++ = ' ';
	}
	at = put_cell(at, map, from);
	memcpy(at, words[is_crushing], WORD_BYTES);
	at += WORD_BYTES;
	*at++ = ' ';
	at = put_cell(at, map, to);
	out->len += (size_t)(at - start);
}

/* Take the crusher on FROM to TO for sight; false when TO is blocked. */
static inline bool take_cell(struct rabbit_sight *blockers,
			     struct py27_cell from, struct py27_cell to)
{
	if (rabbit_sight_has(blockers, to))
		return false;
	rabbit_sight_remove(blockers, from);
	rabbit_sight_add(blockers, to);
	return true;
}

static void move_crushers(struct game_state *state, struct buf *out)
{
	uint32_t count = state->crushers.used;
	bool is_first = true;

	for (uint32_t i = 0; i < count; i++) {
		struct rabbit_mover mover = state->movers[i];
		struct py27_cell to =
			rabbit_step(mover.cell, mover.direction, 1);
		bool is_crushing;

		if (!take_cell(&state->blockers, mover.cell, to))
			continue;
		is_crushing = has_rabbit(state, to);
		py27_table_move(&state->crushers, mover.cell, to,
				(uint8_t)mover.direction);
		if (is_crushing)
			remove_rabbit(state, to);
		put_action(state->map, mover.cell, to, is_crushing, is_first,
			   out);
		is_first = false;
	}
}

void rabbit_put_rabbits(const struct game_state *state, struct buf *out)
{
	const struct py27_table *rabbits = &state->rabbits;

	for (int32_t i = py27_table_next(rabbits, 0); i >= 0;
	     i = py27_table_next(rabbits, i + 1)) {
		char *start = entry_room(out);
		char *at = start;

		if (at == NULL)
			return;
		*at++ = ' ';
		at = put_cell(at, state->map, py27_table_cell(rabbits, i));
		out->len += (size_t)(at - start);
	}
}

void rabbit_start_turn(struct game_state *state, struct game_out *out)
{
	struct buf *lines = &out->lines[0];

	spawn_rabbits(state);
	decide(state);
	buf_add(lines, "turnsleft ", 10);
	buf_add_i64(lines, state->turns_left);
	buf_add(lines, "\ncrusher ", 9);
	move_crushers(state, lines);
	buf_add(lines, "\nrabbits", 8);
	rabbit_put_rabbits(state, lines);
	buf_add(lines, "\n", 1);
	game_out_ask(out, 0, &state->setup);
}

/*
 * UTF-8 as a line for people may have it, and JSON: control characters become
 * blanks, halves of surrogate pairs, which the original lets pass, question
 * marks.
 */
static void make_printable(char *text)
{
	unsigned char *at = (unsigned char *)text;
	unsigned char *to = at;

	while (*at != '\0') {
		if (*at < ' ' || *at == 0x7f) {
			*to++ = ' ';
			at++;
		} else if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0) {
			*to++ = ' ';
			at += 2;
		} else if (at[0] == 0xed && at[1] >= 0xa0 && at[2] != '\0') {
			*to++ = '?';
			at += 3;
		} else {
			*to++ = *at++;
		}
	}
	*to = '\0';
}

void rabbit_note_invalid(struct game_out *out, const char *why,
			 const char *text, size_t len)
{
	char *detail = out->detail[0];

	if ((out->invalid & 1) != 0)
		return;
	out->invalid |= 1;
	(void)snprintf(detail, sizeof(out->detail[0]), "%s%.*s", why,
		       len > 60 ? 60 : (int)len, text);
	make_printable(detail);
}

/* Whether a reply means to do nothing: empty, or the bare word `move`. */
static bool is_pass(const char *text, size_t len)
{
	static const char word[] = "move";
	static const char blanks[] = " \t\n\v\f\r";

	while (len > 0 && memchr(blanks, text[len - 1], 6) != NULL)
		len--;
	while (len > 0 && memchr(blanks, *text, 6) != NULL) {
		text++;
		len--;
	}
	return len == 0 || (len == 4 && memcmp(text, word, 4) == 0);
}

/* A reply without any move that does not look meant: say what it holds. */
static void note_no_move(struct game_out *out, const char *text, size_t len)
{
	char why[TOLD_BYTES + 32];
	size_t told = len;

	if (is_pass(text, len))
		return;
	if (len > TOLD_BYTES) {
		/* UTF-8 is not cut inside a character. */
		told = TOLD_BYTES;
		while (told > 0 && (text[told] & 0xc0) == 0x80)
			told--;
	}
	(void)snprintf(why, sizeof(why), "no move in \"%.*s%s\"", (int)told,
		       text, told < len ? "..." : "");
	rabbit_note_invalid(out, why, "", 0);
}

static bool is_single_step(struct py27_cell from, struct py27_cell to)
{
	return abs(to.x - from.x) + abs(to.y - from.y) == 1;
}

/* One move of a reply; those that live are in ARRIVALS. */
static void make_move(struct game_state *state, const struct rabbit_move *move,
		      struct py27_table *arrivals, struct game_out *out)
{
	const char *why = NULL;

	if (!has_rabbit(state, move->from))
		why = "no rabbit there: ";
	else if (rabbit_map_is_wall(state->map, move->to))
		why = "into a wall: ";
	else if (!is_single_step(move->from, move->to))
		why = "no single step: ";
	if (why != NULL) {
		rabbit_note_invalid(out, why, move->text, move->len);
		return;
	}
	remove_rabbit(state, move->from);
	if (rabbit_sight_has(&state->blockers, move->to))
		return;
	if (rabbit_map_is_exit(state->map, move->to))
		state->score++;
	else if (!py27_table_remove(arrivals, move->to))
		py27_table_add(arrivals, move->to, 0);
}

/* Rabbits that moved meet those that did not: both go. */
static void settle_arrivals(struct game_state *state,
			    const struct py27_table *arrivals)
{
	for (int32_t i = py27_table_next(arrivals, 0); i >= 0;
	     i = py27_table_next(arrivals, i + 1)) {
		struct py27_cell cell = py27_table_cell(arrivals, i);

		if (has_rabbit(state, cell))
			remove_rabbit(state, cell);
		else
			add_rabbit(state, cell);
	}
	if (arrivals->is_failed)
		state->rabbits.is_failed = true;
}

bool rabbit_take_reply(struct game_state *state, const char *text, size_t len,
		       struct game_out *out)
{
	const char *at = text;
	const char *end = text + len;
	struct rabbit_move move;
	enum rabbit_scan found;
	struct py27_table arrivals;
	size_t good = rabbit_moves_utf8(text, len);

	if (good < len) {
		char why[64];

		(void)snprintf(why, sizeof(why), "no UTF-8 from byte %zu on",
			       good + 1);
		rabbit_note_invalid(out, why, "", 0);
		return false;
	}
	found = rabbit_moves_next(&at, end, &move);
	if (found == RABBIT_END) {
		note_no_move(out, text, len);
		return true;
	}
	py27_table_init(&arrivals);
	for (; found == RABBIT_MOVE; found = rabbit_moves_next(&at, end, &move))
		make_move(state, &move, &arrivals, out);
	if (found == RABBIT_END) {
		settle_arrivals(state, &arrivals);
	} else {
		out->invalid = 0;
		rabbit_note_invalid(out, "a number past 1.8e308: ", move.text,
				    move.len);
	}
	py27_table_release(&arrivals);
	return found == RABBIT_END;
}
