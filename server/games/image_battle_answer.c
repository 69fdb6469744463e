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

static const char *const refusal_words[] = {
	[ANSWER_NOT_A_PAIR] = "not a pair",
	[ANSWER_OFF_PICTURE] = "off the picture",
	[ANSWER_NOT_WHITE] = "not white",
	[ANSWER_NOT_BESIDE] = "no own neighbour",
};

_Static_assert(sizeof(refusal_words) / sizeof(refusal_words[0]) ==
		       ANSWER_NREFUSALS,
	       "a word for every refusal");

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
	ret->value = value;
	ret->is_plain = !has_sign && (p == digits + 1 || *digits != '0');
	return p == digits ? NULL : p;
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

/* Three digits at most. */
static char *print_number(char *out, unsigned value)
{
	if (value >= 100)
		*out++ = (char)('0' + value / 100);
	if (value >= 10)
		*out++ = (char)('0' + value / 10 % 10);
	*out++ = (char)('0' + value % 10);
	return out;
}

static void refuse(struct answer *answer, const char *entry, const char *end,
		   enum answer_refusal why)
{
	if (answer->first != NULL)
		return;
	answer->first = entry;
	answer->first_len = (size_t)(end - entry);
	answer->why = why;
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

void answer_apply(struct answer *ret, const struct game_map *map,
		  uint8_t *cells, uint8_t own, unsigned batch, const char *text,
		  size_t len, char *list)
{
	const char *p = text;
	const char *end = text + len;
	char *out = list;

	*ret = (struct answer){ 0 };
	while ((p = skip_space(p, end)) < end && ret->looked_at < batch) {
		struct number x, y;
		const char *entry = p;
		uint8_t *cell;

		ret->looked_at++;
		p = read_pair(entry, end, &x, &y);
		if (p == NULL) {
			p = skip_entry(entry, end);
			refuse(ret, entry, p, ANSWER_NOT_A_PAIR);
			continue;
		}
		if (is_off(&x, map->width) || is_off(&y, map->height)) {
			refuse(ret, entry, p, ANSWER_OFF_PICTURE);
			continue;
		}
		cell = cells + arena_index(map, x.value, y.value);
		if (*cell != ARENA_WHITE) {
			refuse(ret, entry, p, ANSWER_NOT_WHITE);
			continue;
		}
		if (!has_neighbour(cell, map->stride, own)) {
			refuse(ret, entry, p, ANSWER_NOT_BESIDE);
			continue;
		}
		*cell = own;
		ret->taken++;
		*out++ = ' ';
		if (x.is_plain && y.is_plain) {
			/* at most 7 bytes, by the sides' bound */
			for (const char *c = entry; c < p; c++)
				*out++ = *c;
			continue;
		}
		out = print_number(out, x.value);
		*out++ = ',';
		out = print_number(out, y.value);
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
				refusal_words[answer->why]);
	}
	if (answer->beyond > 0 && (size_t)used < size)
		(void)snprintf(ret + used, size - (size_t)used,
			       "%s%zu beyond the batch of %u",
			       used > 0 ? "; " : "", answer->beyond,
			       answer->looked_at);
}
