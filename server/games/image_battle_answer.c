/* SPDX-License-Identifier: MIT */
/* image_battle_answer.c - one answer, entry by entry. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "server/games/image_battle_internal.h"

enum {
	NUMBER_LARGE =
		100000,   /* off every picture; more digits change nothing */
	SHOWN_BYTES = 12, /* of an entry that is told */
};

static const char *const verdict_words[] = {
	[ANSWER_TAKEN] = "taken",
	[ANSWER_NOT_A_PAIR] = "not a pair",
	[ANSWER_OFF_PICTURE] = "off the picture",
	[ANSWER_NOT_WHITE] = "not white",
	[ANSWER_NOT_BESIDE] = "no own neighbour",
};

_Static_assert(sizeof(verdict_words) / sizeof(verdict_words[0]) ==
		       ANSWER_NVERDICTS,
	       "a word for every verdict");

struct number {
	unsigned value;
	bool is_negative;
	bool is_plain; /* printed, it looks as it was written */
};

/* The six that Python's split() knows in the C locale. */
static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Read [+-]?[0-9]+ at P; where it ends, or NULL when there is none. */
static inline const char *read_number(const char *p, const char *end,
				      struct number *ret)
{
	const char *digits;
	unsigned value = 0;
	bool has_sign = p < end && (*p == '+' || *p == '-');

	ret->is_negative = has_sign && *p == '-';
	digits = p += has_sign;
	while (p < end && (unsigned)(*p - '0') <= 9) {
		if (value < NUMBER_LARGE)
			value = value * 10 + (unsigned)(*p - '0');
		p++;
	}
	if (p == digits)
		return NULL;
	ret->value = value;
	ret->is_plain = !has_sign && (p == digits + 1 || *digits != '0');
	return p;
}

/* Read an entry that is nothing but a pair; where it ends, or NULL. */
static inline const char *read_pair(const char *p, const char *end,
				    struct number *ret_x, struct number *ret_y)
{
	p = read_number(p, end, ret_x);
	if (p == NULL || p == end || *p != ',')
		return NULL;
	p = read_number(p + 1, end, ret_y);
	if (p == NULL || (p < end && !is_space(*p)))
		return NULL;
	return p;
}

static const char *skip_entry(const char *p, const char *end)
{
	while (p < end && !is_space(*p))
		p++;
	return p;
}

static const char *skip_space(const char *p, const char *end)
{
	while (p < end && is_space(*p))
		p++;
	return p;
}

static bool is_off(const struct number *number, unsigned side)
{
	return number->value >= side ||
	       (number->is_negative && number->value != 0);
}

static bool has_neighbour(const uint8_t *cell, size_t stride, uint8_t own)
{
	return cell[-1] == own || cell[1] == own || *(cell - stride) == own ||
	       cell[stride] == own;
}

/* Paint one pixel, if the rules let. */
static inline enum answer_verdict place(const struct answer_board *board,
					const struct number *x,
					const struct number *y)
{
	const struct game_map *map = board->map;
	uint8_t *cell;

	if (is_off(x, map->width) || is_off(y, map->height))
		return ANSWER_OFF_PICTURE;
	cell = board->cells + arena_index(map, x->value, y->value);
	if (*cell != ARENA_WHITE)
		return ANSWER_NOT_WHITE;
	if (!has_neighbour(cell, map->stride, board->own))
		return ANSWER_NOT_BESIDE;
	*cell = board->own;
	return ANSWER_TAKEN;
}

/* Three digits at most, by the sides' bound. */
static inline char *print_number(char *out, const struct number *number)
{
	unsigned value = number->value;

	if (value >= 100)
		*out++ = (char)('0' + value / 100);
	if (value >= 10)
		*out++ = (char)('0' + value / 10 % 10);
	*out++ = (char)('0' + value % 10);
	return out;
}

/* Print " X,Y", which the entry up to END perhaps looks like already. */
static inline char *print_pair(char *out, const struct number *x,
			       const struct number *y, const char *entry,
			       const char *end)
{
	*out++ = ' ';
	if (x->is_plain && y->is_plain) {
		while (entry < end)
			*out++ = *entry++;
		return out;
	}
	out = print_number(out, x);
	*out++ = ',';
	return print_number(out, y);
}

static size_t count_entries(const char *p, const char *end)
{
	size_t count = 0;

	while ((p = skip_space(p, end)) < end) {
		p = skip_entry(p, end);
		count++;
	}
	return count;
}

void answer_apply(struct answer *ret, const struct answer_board *board,
		  const char *text, size_t len, char *list)
{
	const char *p = text;
	const char *end = text + len;
	char *out = list;

	*ret = (struct answer){ 0 };
	while ((p = skip_space(p, end)) < end &&
	       ret->looked_at < board->batch) {
		enum answer_verdict verdict = ANSWER_NOT_A_PAIR;
		const char *entry = p;
		struct number x, y;

		ret->looked_at++;
		p = read_pair(entry, end, &x, &y);
		if (p != NULL)
			verdict = place(board, &x, &y);
		else
			p = skip_entry(entry, end);
		if (verdict == ANSWER_TAKEN) {
			ret->taken++;
			out = print_pair(out, &x, &y, entry, p);
		} else if (ret->first == NULL) {
			ret->first = entry;
			ret->first_len = (size_t)(p - entry);
			ret->why = verdict;
		}
	}
	ret->list_len = (size_t)(out - list);
	ret->beyond = count_entries(p, end);
}

/* The start of an entry, in printable characters. */
static void show_entry(const struct answer *answer, char *ret, size_t size)
{
	size_t shown = answer->first_len;
	size_t used = 0;

	if (shown > SHOWN_BYTES)
		shown = SHOWN_BYTES;
	for (size_t i = 0; i < shown && used + 5 < size; i++) {
		unsigned char c = (unsigned char)answer->first[i];
		bool is_shown = c > 32 && c < 127 && c != '\\';

		used += (size_t)snprintf(ret + used, size - used,
					 is_shown ? "%c" : "\\x%02x", c);
	}
	(void)snprintf(ret + used, size - used, "%s",
		       shown < answer->first_len ? "..." : "");
}

void answer_describe(const struct answer *answer, char *ret, size_t size)
{
	unsigned refused = answer->looked_at - answer->taken;
	char entry[24];
	int used = 0;

	*ret = '\0';
	if (refused > 0) {
		show_entry(answer, entry, sizeof(entry));
		used = snprintf(ret, size,
				"%u of %u pixels not taken, first %s: %s",
				refused, answer->looked_at, entry,
				verdict_words[answer->why]);
	}
	if (answer->beyond > 0 && (size_t)used < size)
		(void)snprintf(ret + used, size - (size_t)used,
			       "%s%zu beyond the batch of %u",
			       used > 0 ? "; " : "", answer->beyond,
			       answer->looked_at);
}
