/* SPDX-License-Identifier: MIT */
/*
 * null_game.c - a game without rules, for the benchmarks only: each seat is
 * asked on its own, any line is an answer, five lines (73 bytes) follow. What
 * a turn costs here is what hilld costs. Linked into hilld-bench, never into
 * hilld.
 */
#include <errno.h>
#include <stdlib.h>

#include "server/games/game.h"

enum { LINE_MAX_BYTES = 1000 };

static const char turn[] = "turnsleft 4711\n"
			   "crusher 9,1 movesto 8,1\n"
			   "rabbits 1,1 63,1\n"
			   "score 12 0\n"
			   "ready\n";

struct game_map {
	size_t len;
};

struct game_state {
	const struct game_setup setup; /* its texts are not kept */
	int64_t left[GAME_SEATS_MAX];  /* turns */
	int64_t score[GAME_SEATS_MAX];
	enum game_reason reason[GAME_SEATS_MAX];
	uint32_t playing; /* bit a seat */
};

static const struct game_param params[] = {
	{ "turns", 1, 1000000000, 1000, "turns a seat" },
};

static int map_import(const struct game_source *source, struct buf *ret,
		      struct game_error *error)
{
	(void)error;
	buf_add(ret, source->data, source->len);
	return 0;
}

static int map_new(struct game_map **ret, const struct game_source *source,
		   struct game_error *error)
{
	struct game_map *map = xmalloc(sizeof(*map));

	(void)error;
	map->len = source->len;
	*ret = map;
	return 0;
}

static void map_free(struct game_map *map)
{
	free(map);
}

static unsigned map_seats(const struct game_map *map)
{
	(void)map;
	return GAME_SEATS_MAX;
}

static size_t line_max(const struct game_map *map)
{
	(void)map;
	return LINE_MAX_BYTES;
}

static void args(const struct game_map *map, const struct game_setup *setup,
		 unsigned seat, const char *file_name, struct buf *out)
{
	(void)map;
	(void)setup;
	(void)seat;
	buf_add_text(out, file_name);
}

static int admit(const struct game_map *map, const struct game_setup *setup,
		 struct game_error *error)
{
	(void)map;
	(void)setup;
	(void)error;
	return 0;
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
	struct game_state *state = xcalloc(1, sizeof(*state));

	(void)map;
	(void)error;
	memcpy((void *)(uintptr_t)&state->setup, setup, sizeof(*setup));
	for (unsigned seat = 0; seat < setup->seats; seat++) {
		state->left[seat] = setup->params[0];
		state->playing |= 1u << seat;
	}
	*ret = state;
	return 0;
}

static void ask(struct game_state *state, unsigned seat, struct game_out *out)
{
	buf_add(&out->lines[seat], turn, sizeof(turn) - 1);
	game_out_ask(out, seat, &state->setup);
}

static enum game_status begin(struct game_state *state, struct game_out *out)
{
	for (unsigned seat = 0; seat < state->setup.seats; seat++)
		ask(state, seat, out);
	return GAME_DONE;
}

static enum game_status feed(struct game_state *state, unsigned seat,
			     enum game_input kind, const char *text, size_t len,
			     struct game_out *out)
{
	enum game_reason reason = GAME_FINISHED;

	(void)text;
	(void)len;
	if ((state->playing & 1u << seat) == 0)
		return GAME_DONE;
	if (kind == GAME_GONE)
		reason = GAME_LEFT;
	else if (kind == GAME_REPLY)
		state->score[seat]++;
	state->left[seat]--;
	if (kind != GAME_GONE && state->left[seat] > 0) {
		ask(state, seat, out);
		return GAME_DONE;
	}
	state->playing &= ~(1u << seat);
	state->reason[seat] = reason;
	game_out_end(out, seat, reason);
	out->is_over = state->playing == 0;
	return GAME_DONE;
}

static void result(const struct game_state *state, struct game_score *ret)
{
	for (unsigned seat = 0; seat < state->setup.seats; seat++) {
		ret[seat] = (struct game_score){
			.points = state->score[seat],
			.score = (double)state->score[seat],
			.reason = state->reason[seat],
		};
	}
	game_rank(ret, state->setup.seats);
}

static int grid(const struct game_state *state, struct game_grid *ret)
{
	(void)state;
	*ret = (struct game_grid){ .cells = xcalloc(1, sizeof(uint32_t)),
				   .width = 1,
				   .height = 1 };
	return 0;
}

static void dump(const struct game_state *state, struct buf *out)
{
	for (unsigned seat = 0; seat < state->setup.seats; seat++)
		buf_add_format(out, "%lld\n", (long long)state->left[seat]);
}

static void free_state(struct game_state *state)
{
	free(state);
}

extern const struct game game_null;
const struct game game_null = {
	.name = "null",
	.title = "Null game",
	.version = 1,
	.seats_min = 1,
	.seats_max = GAME_SEATS_MAX,
	.stop = GAME_STOP_EOF,
	.is_shared = true,
	.params = params,
	.nparams = 1,
	.turn_ms = 5000,
	.init_ms = 10000,
	.map_import = map_import,
	.map_new = map_new,
	.map_free = map_free,
	.map_seats = map_seats,
	.line_max = line_max,
	.args = args,
	.admit = admit,
	.cost = cost,
	.create = create,
	.begin = begin,
	.feed = feed,
	.result = result,
	.grid = grid,
	.dump = dump,
	.free = free_state,
};
