/* SPDX-License-Identifier: MIT */
/*
 * rabbit_moves.c - the original's regular expression, in one pass.
 *
 * A number's run of digits is followed by a byte that is no digit, and what
 * the pattern wants there is no digit either; so it is enough to try it at the
 * start of each run, and after a mismatch to go on behind what was tried.
 */
#include "server/games/rabbit_moves.h"

#include <stdbool.h>
#include <string.h>

/*
 * 2^1024 - 2^970: from here on a whole number rounds to more than the largest
 * double, and the original's conversion fails.
 */
static const char overflow_from[] =
	"17976931348623158079372897140530341507993413271003782693617377898044"
	"49682927647509466490179775872070963302864166928879109465555478519404"
	"02630657488671505820681908902000708383676273854845817711531764475730"
	"27006985557136695962284291481986083493647529271907416844436551070434"
	"2711559699508093042880177904174497792";

enum { OVERFLOW_DIGITS = sizeof(overflow_from) - 1 };

_Static_assert(OVERFLOW_DIGITS == 309, "a double's largest decimal exponent");

/*
 * What follows a lead byte: how many more bytes, and the bounds of the first
 * of them (the others are 80..BF). Python 2.7 lets the halves of surrogate
 * pairs pass (ED A0..BF), unlike later ones.
 */
static unsigned tail_of(unsigned char lead, unsigned char *ret_min,
			unsigned char *ret_max)
{
	*ret_min = 0x80;
	*ret_max = 0xbf;
	if (lead >= 0xc2 && lead <= 0xdf)
		return 1;
	if (lead >= 0xe0 && lead <= 0xef) {
		if (lead == 0xe0)
			*ret_min = 0xa0;
		return 2;
	}
	if (lead >= 0xf0 && lead <= 0xf4) {
		if (lead == 0xf0)
			*ret_min = 0x90;
		if (lead == 0xf4)
			*ret_max = 0x8f;
		return 3;
	}
	return 0;
}

size_t rabbit_moves_utf8(const char *text, size_t len)
{
	const unsigned char *bytes = (const unsigned char *)text;
	size_t i = 0;

	while (i < len) {
		unsigned char min;
		unsigned char max;
		unsigned tail;
		uint64_t word;

		if (len - i >= sizeof(word)) {
			memcpy(&word, bytes + i, sizeof(word));
			if ((word & 0x8080808080808080u) == 0) {
				i += sizeof(word);
				continue;
			}
		}
		if (bytes[i] < 0x80) {
			i++;
			continue;
		}
		tail = tail_of(bytes[i], &min, &max);
		if (tail == 0 || len - i <= tail || bytes[i + 1] < min ||
		    bytes[i + 1] > max)
			return i;
		for (unsigned k = 2; k <= tail; k++) {
			if ((bytes[i + k] & 0xc0) != 0x80)
				return i;
		}
		i += tail + 1;
	}
	return len;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= 9 && c <= 13);
}

static const char *skip_digits(const char *at, const char *end)
{
	while (at < end && is_digit(*at))
		at++;
	return at;
}

/* Behind `digits,digits` at AT, or NULL; *RET_COMMA is where the comma is. */
static const char *skip_cell(const char *at, const char *end,
			     const char **ret_comma)
{
	const char *comma = skip_digits(at, end);
	const char *behind;

	*ret_comma = comma;
	if (comma == at || comma == end || *comma != ',')
		return NULL;
	behind = skip_digits(comma + 1, end);
	return behind == comma + 1 ? NULL : behind;
}

/* Behind one blank or more, or NULL. */
static const char *skip_blanks(const char *at, const char *end)
{
	const char *start = at;

	while (at < end && is_blank(*at))
		at++;
	return at == start ? NULL : at;
}

/* Behind blanks, `to`, blanks, or NULL. */
static const char *skip_to(const char *at, const char *end)
{
	at = skip_blanks(at, end);
	if (at == NULL || end - at < 2 || at[0] != 't' || at[1] != 'o')
		return NULL;
	return skip_blanks(at + 2, end);
}

/* The number from AT to END; false when it is past a double's range. */
static bool number(const char *at, const char *end, int32_t *ret)
{
	int32_t value = 0;

	while (at < end && *at == '0')
		at++;
	if (end - at > OVERFLOW_DIGITS ||
	    (end - at == OVERFLOW_DIGITS &&
	     memcmp(at, overflow_from, OVERFLOW_DIGITS) >= 0))
		return false;
	/* a double is exact up to 2^53, and no rabbit gets near 2^30 */
	if (end - at > 9)
		value = RABBIT_FAR;
	else
		while (at < end)
			value = value * 10 + (*at++ - '0');
	*ret = value;
	return true;
}

enum rabbit_scan rabbit_moves_next(const char **at, const char *end,
				   struct rabbit_move *ret)
{
	const char *start = *at;

	for (;;) {
		const char *comma;
		const char *left;
		const char *right;
		const char *right_comma;
		const char *behind;

		while (start < end && !is_digit(*start))
			start++;
		if (start == end)
			break;
		left = skip_cell(start, end, &comma);
		if (left == NULL) {
			start = comma;
			continue;
		}
		right = skip_to(left, end);
		behind = right == NULL ? NULL
				       : skip_cell(right, end, &right_comma);
		if (behind == NULL) {
			/* its second number may be a first one: `7,1,2 to` */
			start = comma + 1;
			if (left < end && *left != ',')
				start = left;
			continue;
		}
		*at = behind;
		ret->text = start;
		ret->len = (size_t)(behind - start);
		ret->from = (struct py27_cell){ 0, 0 };
		ret->to = (struct py27_cell){ 0, 0 };
		if (number(start, comma, &ret->from.x) &&
		    number(comma + 1, left, &ret->from.y) &&
		    number(right, right_comma, &ret->to.x) &&
		    number(right_comma + 1, behind, &ret->to.y))
			return RABBIT_MOVE;
		return RABBIT_OVERFLOW;
	}
	*at = end;
	return RABBIT_END;
}
