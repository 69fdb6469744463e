/* SPDX-License-Identifier: MIT */
/*
 * grazing.c - the tests' own game, about as small as a game can be.
 *
 * The map is a digit, the number of fields. Each turn all are told `fat F`, a
 * drawn field, and name those that they graze, one a line, and then `done`.
 * Who is alone on a field gets a point, on the fat one three.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/games/game.h"

enum { FIELDS_MAX = 9, LATE_MAX = 3, REPLY_BYTES_MAX = 32 };

struct game_map {
	unsigned fields;
};

struct game_state {
	struct game_setup setup;    /* its texts are not ours to keep */
	unsigned turn, fields, fat; /* the fat one's number, from 0 */
	uint64_t random;
	uint32_t playing, waiting; /* bit a seat; the latter owe a reply */
	uint32_t claims[GAME_SEATS_MAX]; /* bit a field */
	unsigned late[GAME_SEATS_MAX];
	struct game_score scores[GAME_SEATS_MAX];
};

static const struct game_param params[] = {
	{ "turns", 1, 1000, 10, "turns of a match" },
};

static int map_new(struct game_map **ret, const struct game_source *source,
		   struct game_error *error)
{
	if (source->len != 2 || source->data[0] < '2' ||
	    source->data[0] > '9' || source->data[1] != '\n') {
		game_error_set(error, "wants a line of one digit from 2 to 9");
		return -EINVAL;
	}
	*ret = xmalloc(sizeof(**ret));
	(*ret)->fields = (unsigned)(source->data[0] - '0');
	return 0;
}

static void map_free(struct game_map *map)
{
	free(map);
}

static unsigned map_seats(const struct game_map *map)
{
	return map->fields < 4 ? map->fields : 4;
}

static size_t line_max(const struct game_map *map)
{
	(void)map;
	return REPLY_BYTES_MAX;
}

static size_t cost(const struct game_map *map, const struct game_setup *setup)
{
	(void)map;
	(void)setup;
	return sizeof(struct game_state);
}

static int create(struct game_state **ret, const struct game_map *map,
		  const struct game_setup *setup, struct game_error *error)
{
	(void)error;
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->setup = *setup;
	(*ret)->fields = map->fields;
	(*ret)->playing = (1u << setup->seats) - 1;
	for (const char *c = setup->seed; *c != '\0'; c++)
		(*ret)->random = (*ret)->random * 31 + (unsigned char)*c;
	return 0;
}

static void end_seat(struct game_state *state, unsigned seat,
		     enum game_reason reason, struct game_out *out)
{
	state->playing &= ~(1u << seat);
	state->scores[seat].reason = reason;
	game_out_end(out, seat, reason);
}

/* Ask all who play, or end it; also the match's begin. */
static enum game_status next_turn(struct game_state *state,
				  struct game_out *out)
{
	state->random = state->random * 6364136223846793005u + 1;
	state->fat = (unsigned)(state->random >> 33) % state->fields;
	state->turn++;
	for (unsigned seat = 0; seat < state->setup.seats; seat++) {
		state->claims[seat] = 0;
		if ((state->playing >> seat & 1) == 0)
			continue;
		if (state->turn > state->setup.params[0]) {
			end_seat(state, seat, GAME_FINISHED, out);
			continue;
		}
		buf_add_format(&out->lines[seat], "fat %u\n", state->fat + 1);
		game_out_ask(out, seat, &state->setup);
	}
	state->waiting = state->playing;
	out->is_over = state->playing == 0;
	return GAME_DONE;
}

static void graze(struct game_state *state)
{
	for (unsigned field = 0; field < state->fields; field++) {
		struct game_score *score;
		uint32_t seats = 0;

		for (unsigned seat = 0; seat < state->setup.seats; seat++)
			seats |= (state->claims[seat] >> field & 1) << seat;
		if (seats == 0 || (seats & (seats - 1)) != 0)
			continue;
		score = &state->scores[__builtin_ctz(seats)];
		score->points += field == state->fat ? 3 : 1;
		score->score = (double)score->points;
	}
}

static void claim(struct game_state *state, unsigned seat, const char *text,
		  size_t len, struct game_out *out)
{
	const char *end;

	/* What has no LF behind it is `done`. */
	while (len > 0 && (end = memchr(text, '\n', len)) != NULL) {
		unsigned field = (unsigned)(unsigned char)*text - '1';

		if (end - text == 1 && field < state->fields) {
			state->claims[seat] |= 1u << field;
		} else {
			out->invalid |= 1u << seat;
			strcpy(out->detail[seat], "a line is no field");
		}
		len -= (size_t)(end + 1 - text);
		text = end + 1;
	}
}

static enum game_status feed(struct game_state *state, unsigned seat,
			     enum game_input kind, const char *text, size_t len,
			     struct game_out *out)
{
	if ((state->playing >> seat & 1) == 0)
		return GAME_DONE;
	state->waiting &= ~(1u << seat);
	if (kind == GAME_GONE)
		end_seat(state, seat, GAME_LEFT, out);
	else if (kind == GAME_REPLY)
		claim(state, seat, text, len, out);
	else if (++state->late[seat] == LATE_MAX)
		end_seat(state, seat, GAME_SUSPENDED, out);
	if (state->waiting != 0)
		return GAME_DONE;
	graze(state);
	return next_turn(state, out);
}

static void result(const struct game_state *state, struct game_score *ret)
{
	memcpy(ret, state->scores, state->setup.seats * sizeof(*ret));
	game_rank(ret, state->setup.seats);
}

static void dump(const struct game_state *state, struct buf *out)
{
	buf_add_format(out, "turn %u:", state->turn);
	for (unsigned seat = 0; seat < state->setup.seats; seat++)
		buf_add_format(out, " %.0f", state->scores[seat].score);
	buf_add_char(out, '\n');
}

static void free_state(struct game_state *state)
{
	free(state);
}
/* clang-format off */
extern const struct game game_grazing;
const struct game game_grazing = {
	.name = "grazing", .title = "Grazing", .version = 1, .seats_min = 2,
	.seats_max = 4, .is_shared = true, .stop = GAME_STOP_EOF,
	.form = GAME_FORM_ENDED, .reply_lines = FIELDS_MAX, .reply_end = "done",
	.params = params, .nparams = 1, .turn_ms = 1000, .init_ms = 2000,
	.late_max = LATE_MAX, .map_new = map_new, .map_free = map_free,
	.map_seats = map_seats, .line_max = line_max, .cost = cost,
	.create = create, .begin = next_turn, .feed = feed, .result = result,
	.dump = dump, .free = free_state,
};
