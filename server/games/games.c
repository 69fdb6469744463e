/* SPDX-License-Identifier: MIT */
/* games.c - what engines and their callers share. */
#include "server/games/game.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const stop_words[] = {
	[GAME_STOP_TERM] = "term",
	[GAME_STOP_EOF] = "eof",
	[GAME_STOP_EXIT] = "exit",
};

static const char *const reason_words[] = {
	[GAME_FINISHED] = "finished", [GAME_TIMED_OUT] = "late",
	[GAME_LEFT] = "gone",         [GAME_SUSPENDED] = "suspended",
	[GAME_INVALID] = "invalid",
};

_Static_assert(sizeof(stop_words) / sizeof(stop_words[0]) == GAME_NSTOPS,
	       "a word for every way to stop");
_Static_assert(sizeof(reason_words) / sizeof(reason_words[0]) == GAME_NREASONS,
	       "a word for every reason");

const struct game *game_find(const char *name)
{
	for (size_t i = 0; games_all[i] != NULL; i++) {
		if (strcmp(games_all[i]->name, name) == 0)
			return games_all[i];
	}
	return NULL;
}

const char *game_stop_word(enum game_stop stop)
{
	return stop_words[stop];
}

const char *game_reason_word(enum game_reason reason)
{
	return reason_words[reason];
}

int game_reason_find(const char *word, enum game_reason *ret)
{
	for (unsigned i = 0; i < GAME_NREASONS; i++) {
		if (strcmp(reason_words[i], word) == 0) {
			*ret = (enum game_reason)i;
			return 0;
		}
	}
	return -EINVAL;
}

/* The parameter that the LEN bytes at NAME name, or -1. */
static int param_index(const struct game *game, const char *name, size_t len)
{
	for (unsigned i = 0; i < game->nparams; i++) {
		if (strlen(game->params[i].name) == len &&
		    memcmp(game->params[i].name, name, len) == 0)
			return (int)i;
	}
	return -1;
}

static int parse_pair(const struct game *game, const char *pair, size_t len,
		      int64_t *params, struct game_error *error)
{
	const char *equals = memchr(pair, '=', len);
	const struct game_param *param;
	char digits[24];
	size_t value_len;
	char *end;
	long long value;
	int index;

	if (equals == NULL) {
		game_error_set(error, "'%.*s' is not of the form name=value",
			       (int)(len > 64 ? 64 : len), pair);
		return -EINVAL;
	}
	index = param_index(game, pair, (size_t)(equals - pair));
	if (index < 0) {
		game_error_set(error, "%s has no parameter '%.*s'", game->name,
			       (int)(equals - pair > 64 ? 64 : equals - pair),
			       pair);
		return -EINVAL;
	}
	param = &game->params[index];
	value_len = len - (size_t)(equals - pair) - 1;
	if (value_len == 0 || value_len >= sizeof(digits) ||
	    isspace((unsigned char)equals[1]))
		goto bad;
	memcpy(digits, equals + 1, value_len);
	digits[value_len] = '\0';
	errno = 0;
	value = strtoll(digits, &end, 10);
	if (errno != 0 || end != digits + value_len || value < param->min ||
	    value > param->max)
		goto bad;
	params[index] = value;
	return 0;
bad:
	game_error_set(error, "%s must be a whole number from %lld to %lld",
		       param->name, (long long)param->min,
		       (long long)param->max);
	return -EINVAL;
}

int game_params_parse(const struct game *game, const char *text,
		      int64_t params[GAME_PARAMS_MAX], struct game_error *error)
{
	int64_t parsed[GAME_PARAMS_MAX] = { 0 };

	for (unsigned i = 0; i < game->nparams; i++)
		parsed[i] = game->params[i].fallback;
	for (;;) {
		size_t len;
		int rc;

		text += strspn(text, " ");
		len = strcspn(text, " ");
		if (len == 0)
			break;
		rc = parse_pair(game, text, len, parsed, error);
		if (rc < 0)
			return rc;
		text += len;
	}
	memcpy(params, parsed, sizeof(parsed));
	return 0;
}

void game_params_format(const struct game *game,
			const int64_t params[GAME_PARAMS_MAX], struct buf *out)
{
	for (unsigned i = 0; i < game->nparams; i++)
		buf_add_format(out, "%s%s=%lld", i == 0 ? "" : " ",
			       game->params[i].name, (long long)params[i]);
}

int game_seed_check(const char *text)
{
	size_t digits;

	if (*text == '-' || *text == '+')
		text++;
	digits = strspn(text, "0123456789");
	if (digits == 0 || digits > GAME_SEED_DIGITS_MAX ||
	    text[digits] != '\0')
		return -EINVAL;
	return 0;
}

size_t game_seed_canonical(const char *seed, char *ret)
{
	bool is_negative = *seed == '-';
	size_t len = 0;

	seed += *seed == '-' || *seed == '+';
	while (seed[0] == '0' && seed[1] != '\0')
		seed++;
	if (is_negative && *seed != '0')
		ret[len++] = '-';
	(void)memcpy(ret + len, seed, strlen(seed) + 1);
	return len + strlen(seed);
}

void game_score_format(double score, struct buf *out)
{
	buf_add_format(out, "%.12g", score);
}

void game_rank(struct game_score *scores, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		scores[i].rank = 1;
		for (unsigned j = 0; j < count; j++) {
			if (scores[j].points > scores[i].points)
				scores[i].rank++;
		}
	}
}

void game_out_init(struct game_out *out, size_t limit)
{
	memset(out, 0, sizeof(*out));
	for (unsigned i = 0; i < GAME_SEATS_MAX; i++)
		buf_init(&out->lines[i], limit);
}

void game_out_clear(struct game_out *out)
{
	for (unsigned i = 0; i < GAME_SEATS_MAX; i++)
		buf_clear(&out->lines[i]);
	out->asked = 0;
	out->invalid = 0;
	out->ended = 0;
	out->is_over = false;
}

void game_out_release(struct game_out *out)
{
	for (unsigned i = 0; i < GAME_SEATS_MAX; i++)
		buf_release(&out->lines[i]);
}

void game_out_ask(struct game_out *out, unsigned seat,
		  const struct game_setup *setup)
{
	out->asked |= 1u << seat;
	out->limit_ms[seat] = setup->limit_ms;
	out->grace_ms[seat] = setup->grace_ms;
}

void game_out_end(struct game_out *out, unsigned seat, enum game_reason reason)
{
	out->ended |= 1u << seat;
	out->reason[seat] = reason;
}

int game_import(const struct game *game, const struct game_source *source,
		struct buf *ret, struct game_error *error)
{
	struct game_map *map;
	int rc;

	if (game->map_import != NULL)
		return game->map_import(source, ret, error);
	rc = game->map_new(&map, source, error);
	if (rc < 0)
		return rc;
	game->map_free(map);
	buf_add(ret, source->data, source->len);
	if (!ret->is_failed)
		return 0;
	game_error_set(error, "the map is too large");
	return -EINVAL;
}

int game_admit(const struct game *game, const struct game_map *map,
	       const struct game_setup *setup, struct game_error *error)
{
	return game->admit == NULL ? 0 : game->admit(map, setup, error);
}

int game_grid(const struct game *game, const struct game_state *state,
	      struct game_grid *ret)
{
	return game->grid == NULL ? -ENOTSUP : game->grid(state, ret);
}

void game_grid_release(struct game_grid *grid)
{
	free(grid->cells);
	grid->cells = NULL;
	grid->width = 0;
	grid->height = 0;
}

void game_settle(const struct game *game, struct game_state *state,
		 enum game_status status, struct game_out *out)
{
	while (status == GAME_BUSY)
		status = game->work(state, out);
}

void game_error_set(struct game_error *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
}
