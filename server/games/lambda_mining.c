/* SPDX-License-Identifier: MIT */
/*
 * lambda_mining.c - the contest's engine: one seat, one request, one route.
 *
 * The whole map is the program's input and its whole output the route. A short
 * route is carried out inside feed(); of a long one a copy is kept and done in
 * slices by work(). How much fits into a slice is counted, not timed, and does
 * not show in the result.
 */
#include "server/games/lambda_mining.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/games/lambda_generate.h"
#include "server/games/lambda_internal.h"

enum {
	PARAM_ROUTE_LIMIT,
	LINE_MIN_BYTES = 65536,  /* line_max: at least so many, else ... */
	LINE_EXTRA_BYTES = 1024, /* ... the cells and so many */
	/* Units of lambda_sim.spent (10 ns) that one call does at most. */
	SLICE_FEED = 10000,
	SLICE_WORK = 100000,
	BIG_CELLS = 64 * 1024, /* of these not even the first step is in feed */
};

struct game_map {
	struct lambda_map mine;
};

struct game_state {
	struct lambda_sim sim;
	struct game_setup setup;
	int64_t steps_max; /* route-limit */
	char *route;       /* owned; what is left of it from `at` on */
	size_t at, len;
	uint64_t nignored; /* bytes that were no command */
	bool is_over;
	bool is_void; /* late or gone: no points */
	enum game_reason reason;
	game_moved_fn moved; /* NULL: nobody looks on */
	void *moved_context; /* borrowed, as MOVED */
};

static const struct game_param params[] = {
	{ "route-limit", 0, 1, 0,
	  "1: a route ends after width x height steps" },
};

static const char *const columns[] = { "lambdas", "steps", "outcome" };

/* ---- maps ---- */

static int mine_map_new(struct game_map **ret, const struct game_source *source,
			struct game_error *error)
{
	struct game_map *map = xcalloc(1, sizeof(*map));
	int rc = lambda_map_init(&map->mine, source->data, source->len, error);

	if (rc < 0) {
		free(map);
		return rc;
	}
	*ret = map;
	return 0;
}

static void mine_map_free(struct game_map *map)
{
	if (map == NULL)
		return;
	lambda_map_release(&map->mine);
	free(map);
}

static int mine_map_import(const struct game_source *source, struct buf *ret,
			   struct game_error *error)
{
	struct lambda_map mine;
	int rc = lambda_map_init(&mine, source->data, source->len, error);

	if (rc == -ENOMEM)
		return -EINVAL;
	if (rc < 0)
		return rc;
	lambda_map_release(&mine);
	buf_add(ret, source->data, source->len);
	if (ret->is_failed) {
		game_error_set(error, "the map has %zu bytes: too many",
			       source->len);
		return -EINVAL;
	}
	return 0;
}

static unsigned mine_map_seats(const struct game_map *map)
{
	(void)map;
	return 1;
}

static size_t mine_line_max(const struct game_map *map)
{
	size_t bytes =
		(size_t)map->mine.width * map->mine.height + LINE_EXTRA_BYTES;

	return bytes > LINE_MIN_BYTES ? bytes : LINE_MIN_BYTES;
}

static void mine_args(const struct game_map *map,
		      const struct game_setup *setup, unsigned seat,
		      const char *file_name, struct buf *out)
{
	(void)map;
	(void)setup;
	(void)seat;
	(void)file_name;
	(void)out;
}

static int mine_admit(const struct game_map *map,
		      const struct game_setup *setup, struct game_error *error)
{
	(void)map;
	if (setup->seats != 1) {
		game_error_set(error, "a mine has one robot: seats must be 1");
		return -EINVAL;
	}
	return 0;
}

/* ---- one match ---- */

static size_t mine_cost(const struct game_map *map,
			const struct game_setup *setup)
{
	(void)setup;
	return sizeof(struct game_state) + lambda_sim_bytes(&map->mine) +
	       mine_line_max(map);
}

static int mine_create(struct game_state **ret, const struct game_map *map,
		       const struct game_setup *setup, struct game_error *error)
{
	struct game_state *state;
	int rc = mine_admit(map, setup, error);

	if (rc < 0)
		return rc;
	state = xcalloc(1, sizeof(*state));
	rc = lambda_sim_init(&state->sim, &map->mine);
	if (rc < 0) {
		game_error_set(error, "no memory for a mine of %u cells",
			       map->mine.size);
		free(state);
		return rc;
	}
	state->setup = *setup;
	state->steps_max = INT64_MAX;
	if (setup->params[PARAM_ROUTE_LIMIT] != 0)
		state->steps_max = (int64_t)map->mine.width * map->mine.height;
	*ret = state;
	return 0;
}

static void mine_free(struct game_state *state)
{
	if (state == NULL)
		return;
	free(state->route);
	lambda_sim_release(&state->sim);
	free(state);
}

static enum game_status mine_begin(struct game_state *state,
				   struct game_out *out)
{
	game_out_ask(out, 0, &state->setup);
	return GAME_DONE;
}

static enum game_status finish(struct game_state *state,
			       enum game_reason reason, struct game_out *out)
{
	free(state->route);
	state->route = NULL;
	state->is_over = true;
	state->reason = reason;
	if (state->nignored > 0) {
		out->invalid |= 1u;
		(void)snprintf(out->detail[0], sizeof(out->detail[0]),
			       "%llu bytes that are no command were skipped",
			       (unsigned long long)state->nignored);
	}
	game_out_end(out, 0, reason);
	out->is_over = true;
	return GAME_DONE;
}

/*
 * Carry out ROUTE until the run is over or UNITS of work are spent. Returns
 * the bytes dealt with: LEN also when the run ended before.
 */
static size_t carry_out(struct game_state *state, const char *route, size_t len,
			uint64_t units)
{
	struct lambda_sim *sim = &state->sim;
	uint64_t enough = sim->spent + units;
	size_t at = 0;

	while (at < len && sim->spent < enough) {
		char command = route[at++];

		if (sim->status != LAMBDA_ONGOING ||
		    sim->steps >= state->steps_max)
			return len;
		if (lambda_is_command(command)) {
			lambda_step(sim, command);
			if (state->moved != NULL)
				state->moved(state->moved_context, state);
		} else {
			state->nignored++;
			sim->spent++;
		}
	}
	return at;
}

static enum game_status mine_feed(struct game_state *state, unsigned seat,
				  enum game_input kind, const char *text,
				  size_t len, struct game_out *out)
{
	size_t done;

	(void)seat;
	if (state->is_over || state->route != NULL)
		return GAME_DONE;
	if (kind != GAME_REPLY) {
		state->is_void = true;
		return finish(state,
			      kind == GAME_LATE ? GAME_TIMED_OUT : GAME_LEFT,
			      out);
	}
	done = carry_out(state, text, len,
			 state->sim.map->size > BIG_CELLS ? 0 : SLICE_FEED);
	if (done < len) {
		state->len = len - done;
		state->route = malloc(state->len);
		if (state->route != NULL) {
			memcpy(state->route, text + done, state->len);
			return GAME_BUSY;
		}
		/* No room to put it off: do it now. */
		(void)carry_out(state, text + done, len - done, UINT64_MAX / 2);
	}
	return finish(state, GAME_FINISHED, out);
}

static enum game_status mine_work(struct game_state *state,
				  struct game_out *out)
{
	if (state->route == NULL)
		return GAME_DONE;
	state->at += carry_out(state, state->route + state->at,
			       state->len - state->at, SLICE_WORK);
	if (state->at < state->len)
		return GAME_BUSY;
	return finish(state, GAME_FINISHED, out);
}

static void mine_result(const struct game_state *state, struct game_score *ret)
{
	const struct lambda_sim *sim = &state->sim;

	memset(ret, 0, sizeof(*ret));
	ret->rank = 1;
	ret->reason = state->reason;
	if (state->is_void)
		return;
	ret->points = lambda_score(sim);
	ret->score = (double)ret->points;
	ret->columns[0] = (double)sim->collected;
	ret->columns[1] = (double)sim->steps;
	ret->columns[2] = (double)sim->status;
}

/* ---- what people see ---- */

static uint32_t colour(unsigned char cell)
{
	switch (cell) {
	case ' ':
		return 0x101418;
	case '.':
		return 0x6b4a2b;
	case '#':
		return 0x5a6068;
	case '*':
		return 0xa8a29a;
	case '@':
		return 0xd07fe0;
	case '\\':
		return 0x3fa7ff;
	case 'R':
		return 0xff4040;
	case 'L':
		return 0x2f7d4f;
	case 'O':
		return 0x4dff88;
	case 'W':
		return 0x7fae3a;
	case '!':
		return 0xf2f2f2;
	default:
		return cell <= '9' ? 0xffb347 : 0xffe14d;
	}
}

static void mine_watch(struct game_state *state, game_moved_fn moved,
		       void *context)
{
	state->moved = moved;
	state->moved_context = context;
}

static int mine_grid(const struct game_state *state, struct game_grid *ret)
{
	const struct lambda_map *map = state->sim.map;
	uint32_t *cells = reallocarray(NULL, (size_t)map->width * map->height,
				       sizeof(*cells));
	uint32_t *to = cells;

	if (cells == NULL)
		return -ENOMEM;
	for (unsigned row = map->height; row > 0; row--) {
		const unsigned char *from =
			state->sim.cells + (size_t)row * map->stride + 1;

		for (unsigned x = 0; x < map->width; x++)
			*to++ = (uint32_t)from[x] << 24 | colour(from[x]);
	}
	*ret = (struct game_grid){ map->width, map->height, cells };
	return 0;
}

static void mine_dump(const struct game_state *state, struct buf *out)
{
	const struct lambda_sim *sim = &state->sim;

	buf_add_format(out,
		       "status %s\nscore %lld\nlambdas %u\nsteps %lld\n"
		       "water %lld\nrazors %lld\nunder-water %lld\n",
		       lambda_status_word(sim->status),
		       (long long)lambda_score(sim), sim->collected,
		       (long long)sim->steps, (long long)sim->water,
		       (long long)sim->razors, (long long)sim->under_water);
	lambda_rows(sim, out);
}

const struct game game_lambda_mining = {
	.name = "lambda-mining",
	.title = "Lambda Mining (ICFP 2012)",
	.version = 1,
	.seats_min = 1,
	.seats_max = 1,
	.stop = GAME_STOP_EOF,
	.is_whole_input = true,
	.params = params,
	.nparams = sizeof(params) / sizeof(params[0]),
	.columns = columns,
	.ncolumns = sizeof(columns) / sizeof(columns[0]),
	.turn_ms = 150000,
	.init_ms = 0,
	.grace_ms = 10000,
	.late_max = 1,
	.map_import = mine_map_import,
	.map_new = mine_map_new,
	.map_free = mine_map_free,
	.map_seats = mine_map_seats,
	.line_max = mine_line_max,
	.args = mine_args,
	.presets = lambda_presets,
	.npresets = LAMBDA_NPRESETS,
	.map_suffix = ".map",
	.generate = lambda_generate,
	.admit = mine_admit,
	.cost = mine_cost,
	.create = mine_create,
	.begin = mine_begin,
	.feed = mine_feed,
	.work = mine_work,
	.result = mine_result,
	.watch = mine_watch,
	.grid = mine_grid,
	.dump = mine_dump,
	.free = mine_free,
};
