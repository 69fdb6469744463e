/* SPDX-License-Identifier: MIT */
/*
 * rabbit_runner.c - rabbit-runner, byte for byte the original's Python 2.7
 * controller: the engine's side of the contract. rabbit_turn.c and
 * rabbit_crusher.c have the rules.
 *
 * Where the original stops with an exception or a time-out, the run ends with
 * the score that it had there: after a reply that is no UTF-8 nothing of that
 * reply counts; a number past a double's range stops it between two moves, so
 * the exits before it in the line count.
 */
#include "server/games/rabbit_runner.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/games/rabbit_generate.h"
#include "server/games/rabbit_state.h"

enum {
	TURNS_MAX = 100000,
	TURN_MS = 500,
	INIT_MS = 2000,
	/*
	 * A ladder's map. So many starts and crushers are looked at in about a
	 * millisecond a turn.
	 */
	ADMIT_ROBOTS = 4096,
	/*
	 * Off the map's rectangle each move shifts two sorted lists, which are
	 * as long as there are robots out there.
	 */
	ADMIT_ASTRAY = 1024,
	/* of a number on a line: from a map's side, or far off an open one */
	FAR_DIGITS = 8,
};

enum { PARAM_TURNS, NPARAMS };

static const struct game_param params[] = {
	[PARAM_TURNS] = { "turns", 1, TURNS_MAX, 500, "turns of a run" },
};

_Static_assert(sizeof(params) / sizeof(params[0]) == NPARAMS,
	       "every parameter has a row");

static void end_run(struct game_state *state, enum game_reason reason,
		    struct game_out *out)
{
	state->is_over = true;
	state->reason = reason;
	game_out_end(out, 0, reason);
	out->is_over = true;
}

static bool is_out_of_memory(const struct game_state *state)
{
	return state->rabbits.is_failed || state->crushers.is_failed ||
	       state->prey.is_failed || state->blockers.is_failed;
}

static void next_turn(struct game_state *state, struct game_out *out)
{
	if (state->turns_left == 0) {
		end_run(state, GAME_FINISHED, out);
		return;
	}
	rabbit_start_turn(state, out);
	if (is_out_of_memory(state)) {
		rabbit_note_invalid(out, "no memory for so many rabbits", "",
				    0);
		buf_clear(&out->lines[0]);
		out->asked = 0;
		end_run(state, GAME_INVALID, out);
	}
}

static enum game_status begin(struct game_state *state, struct game_out *out)
{
	next_turn(state, out);
	return GAME_DONE;
}

static enum game_status feed(struct game_state *state, unsigned seat,
			     enum game_input kind, const char *text, size_t len,
			     struct game_out *out)
{
	(void)seat;
	if (state->is_over)
		return GAME_DONE;
	if (kind == GAME_LATE) {
		end_run(state, GAME_TIMED_OUT, out);
	} else if (kind == GAME_GONE) {
		end_run(state, GAME_LEFT, out);
	} else if (!rabbit_take_reply(state, text, len, out)) {
		end_run(state, GAME_INVALID, out);
	} else {
		state->turns_left--;
		next_turn(state, out);
	}
	return GAME_DONE;
}

static int map_import(const struct game_source *source, struct buf *ret,
		      struct game_error *error)
{
	struct game_map *map;
	int rc = rabbit_map_new(&map, source, error);

	if (rc < 0)
		return -EINVAL;
	rabbit_map_free(map);
	buf_add(ret, source->data, source->len);
	if (ret->is_failed) {
		game_error_set(error, "the map is too large");
		return -EINVAL;
	}
	return 0;
}

static unsigned map_seats(const struct game_map *map)
{
	(void)map;
	return 1;
}

static size_t line_max(const struct game_map *map)
{
	(void)map;
	return LIMIT_GAME_LINE_BYTES;
}

static void args(const struct game_map *map, const struct game_setup *setup,
		 unsigned seat, const char *file_name, struct buf *out)
{
	char seed[GAME_SEED_DIGITS_MAX + 2];

	(void)map;
	(void)seat;
	buf_add_text(out, file_name);
	buf_add_char(out, ' ');
	if (game_seed_check(setup->bot_seed) == 0)
		buf_add(out, seed, game_seed_canonical(setup->bot_seed, seed));
}

/* The most rabbits that are ever there: each start gives one a turn. */
static uint64_t rabbits_max(const struct game_map *map,
			    const struct game_setup *setup)
{
	uint64_t born = map->nstarts * (uint64_t)setup->params[PARAM_TURNS];

	return map->has_gap || born < map->nopen ? born : map->nopen;
}

/* The most rabbits and crushers that ever get off MAP. */
static uint64_t astray_max(const struct game_map *map,
			   const struct game_setup *setup)
{
	if (map->has_gap)
		return rabbits_max(map, setup) + map->ncrushers;
	return map->has_door ? map->ncrushers : 0;
}

static unsigned digits(uint32_t value)
{
	unsigned count = 1;

	for (; value >= 10; value /= 10)
		count++;
	return count;
}

/* The most bytes that a turn's three lines have. */
static uint64_t turn_bytes(const struct game_map *map,
			   const struct game_setup *setup)
{
	uint64_t cell = digits(map->width) + 1 + digits(map->height);

	if (map->has_gap || map->has_door)
		cell = 2 * FAR_DIGITS + 1;
	return strlen("turnsleft 100000\ncrusher \nrabbits\n") +
	       map->ncrushers * (strlen(" movesto ; ") + 2 * cell) +
	       rabbits_max(map, setup) * (1 + cell);
}

/* What may get off MAP is not too much. 0, or -EINVAL. */
static int admit_edge(const struct game_map *map,
		      const struct game_setup *setup, struct game_error *error)
{
	uint64_t astray = astray_max(map, setup);
	struct py27_cell at = map->has_gap ? map->gap : map->door;

	if (astray <= ADMIT_ASTRAY)
		return 0;
	game_error_set(error,
		       "the outer wall has %s at %d,%d, where %llu rabbits and "
		       "crushers may get off the map; of a ladder's at most %d "
		       "may",
		       map->has_gap ? "a gap" : "an exit", at.x, at.y,
		       (unsigned long long)astray, ADMIT_ASTRAY);
	return -EINVAL;
}

static int admit(const struct game_map *map, const struct game_setup *setup,
		 struct game_error *error)
{
	if (map->nstarts == 0 || map->nexits == 0) {
		game_error_set(error, "the map has no %s",
			       map->nstarts == 0 ? "start (s)" : "exit (e)");
		return -EINVAL;
	}
	if (map->nstarts > ADMIT_ROBOTS || map->ncrushers > ADMIT_ROBOTS) {
		game_error_set(error,
			       "the map has %u starts and %u crushers; a "
			       "ladder's has at most %d of each",
			       map->nstarts, map->ncrushers, ADMIT_ROBOTS);
		return -EINVAL;
	}
	if (turn_bytes(map, setup) > LIMIT_OUTPUT_BYTES) {
		game_error_set(error,
			       "%u starts in %lld turns may leave %llu rabbits "
			       "on the map; their line and the crushers' have "
			       "%llu bytes, a ladder's at most %d",
			       map->nstarts,
			       (long long)setup->params[PARAM_TURNS],
			       (unsigned long long)rabbits_max(map, setup),
			       (unsigned long long)turn_bytes(map, setup),
			       (int)LIMIT_OUTPUT_BYTES);
		return -EINVAL;
	}
	return admit_edge(map, setup, error);
}

/* The words of a state's block: bitmaps, counts, movers. */
static size_t block_words(const struct game_map *map)
{
	size_t bytes = ((size_t)map->width + map->height) * sizeof(uint32_t) +
		       map->ncrushers * sizeof(struct rabbit_mover);

	return rabbit_sight_words(map) * 2 + bytes / sizeof(uint64_t) + 1;
}

/* Bytes of a table that COUNT keys fill, one by one. */
static size_t table_bytes(uint64_t count)
{
	return count < 6 ? 0 : (size_t)count * 6 * (sizeof(uint64_t) + 1);
}

/* Bytes of a sight's two lists, which double, of COUNT that are far off. */
static size_t far_bytes(uint64_t count)
{
	return (size_t)count * 2 * 2 * sizeof(uint64_t);
}

static size_t cost(const struct game_map *map, const struct game_setup *setup)
{
	return sizeof(struct game_state) + block_words(map) * sizeof(uint64_t) +
	       table_bytes(map->ncrushers) +
	       table_bytes(rabbits_max(map, setup)) +
	       far_bytes(astray_max(map, setup)) + strlen(setup->seed) +
	       strlen(setup->bot_seed) + 2;
}

static int check_setup(const struct game_setup *setup, struct game_error *error)
{
	int64_t turns = setup->params[PARAM_TURNS];

	if (setup->seats != 1) {
		game_error_set(error, "rabbit-runner has one seat, not %u",
			       setup->seats);
		return -EINVAL;
	}
	if (turns < 1 || turns > TURNS_MAX) {
		game_error_set(error, "turns must be from 1 to %d", TURNS_MAX);
		return -EINVAL;
	}
	if (game_seed_check(setup->seed) < 0 ||
	    game_seed_check(setup->bot_seed) < 0) {
		game_error_set(error,
			       "a seed is a whole number of at most %d digits",
			       (int)GAME_SEED_DIGITS_MAX);
		return -EINVAL;
	}
	return 0;
}

/* The block, shared out; the order keeps every part aligned. */
static int take_block(struct game_state *state)
{
	const struct game_map *map = state->map;
	size_t words = rabbit_sight_words(map);
	uint64_t *block = calloc(block_words(map), sizeof(*block));

	if (block == NULL)
		return -ENOMEM;
	state->block = block;
	rabbit_sight_init(&state->prey, map, block);
	rabbit_sight_init(&state->blockers, map, block + words);
	rabbit_sight_add_walls(&state->blockers, map);
	state->movers = (struct rabbit_mover *)(block + words * 2);
	state->row_rabbits = (uint32_t *)(state->movers + map->ncrushers);
	state->column_rabbits = state->row_rabbits + map->height;
	return 0;
}

static int take_seeds(struct game_state *state, const struct game_setup *setup)
{
	size_t len = strlen(setup->seed) + 1;
	char *text = malloc(len + strlen(setup->bot_seed) + 1);

	if (text == NULL)
		return -ENOMEM;
	state->seed_text = text;
	(void)game_seed_canonical(setup->seed, text);
	(void)game_seed_canonical(setup->bot_seed, text + len);
	state->setup.seed = text;
	state->setup.bot_seed = text + len;
	return py27_random_init(&state->random, text);
}

/* Every crusher draws a direction; the dict is a copy of the one that grew. */
static int place_crushers(struct game_state *state)
{
	const struct game_map *map = state->map;
	struct py27_table drawn;
	int rc = 0;

	py27_table_init(&drawn);
	for (uint32_t i = 0; i < map->ncrushers; i++) {
		struct py27_cell cell = map->crushers[i];
		uint32_t direction =
			py27_random_index(&state->random, RABBIT_NDIRECTIONS);

		state->draws++;
		py27_table_add(&drawn, cell, (uint8_t)direction);
		rabbit_sight_add(&state->blockers, cell);
	}
	if (!drawn.is_failed)
		py27_table_update(&state->crushers, &drawn);
	if (drawn.is_failed || state->crushers.is_failed)
		rc = -ENOMEM;
	py27_table_release(&drawn);
	return rc;
}

static void free_state(struct game_state *state)
{
	if (state == NULL)
		return;
	py27_table_release(&state->crushers);
	py27_table_release(&state->rabbits);
	rabbit_sight_release(&state->prey);
	rabbit_sight_release(&state->blockers);
	free(state->seed_text);
	free(state->block);
	free(state);
}

static int create(struct game_state **ret, const struct game_map *map,
		  const struct game_setup *setup, struct game_error *error)
{
	struct game_state *state;
	int rc = check_setup(setup, error);

	if (rc < 0)
		return rc;
	state = calloc(1, sizeof(*state));
	if (state == NULL)
		return -ENOMEM;
	state->map = map;
	state->setup = *setup;
	state->turns_left = setup->params[PARAM_TURNS];
	state->reason = GAME_FINISHED;
	py27_table_init(&state->crushers);
	py27_table_init(&state->rabbits);
	rc = take_block(state);
	if (rc == 0)
		rc = take_seeds(state, setup);
	if (rc == 0)
		rc = place_crushers(state);
	if (rc < 0) {
		free_state(state);
		return rc;
	}
	*ret = state;
	return 0;
}

static void result(const struct game_state *state, struct game_score *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->points = state->score;
	ret->rank = 1;
	ret->score = (double)state->score;
	ret->reason = state->reason;
}

/* The original's text log has a map's row as it is; 0 is behind its end. */
static uint32_t grid_cell(const struct game_state *state, struct py27_cell cell)
{
	const struct game_map *map = state->map;
	struct rabbit_row row = map->rows[cell.y];
	unsigned char c = 0;

	if ((uint32_t)cell.x < row.len)
		c = (unsigned char)map->text[row.start + (uint32_t)cell.x];
	if (rabbit_map_is_wall(map, cell))
		return (uint32_t)c << 24 | 0xbebebe;
	if (rabbit_sight_has(&state->blockers, cell))
		return (uint32_t)'X' << 24 | 0xff0000;
	if (rabbit_sight_has(&state->prey, cell))
		return (uint32_t)'o' << 24 | 0x0000ff;
	if (c == 's')
		return (uint32_t)c << 24 | 0xbebeff;
	if (c == 'e')
		return (uint32_t)c << 24 | 0xbeffbe;
	return (uint32_t)c << 24 | 0xffffff;
}

static int grid(const struct game_state *state, struct game_grid *ret)
{
	const struct game_map *map = state->map;
	size_t count = (size_t)map->width * map->height;
	uint32_t *cells = malloc((count + 1) * sizeof(*cells));

	if (cells == NULL)
		return -ENOMEM;
	ret->width = map->width;
	ret->height = map->height;
	ret->cells = cells;
	for (uint32_t y = 0; y < map->height; y++) {
		for (uint32_t x = 0; x < map->width; x++)
			*cells++ = grid_cell(
				state,
				(struct py27_cell){ (int32_t)x, (int32_t)y });
	}
	return 0;
}

static void dump(const struct game_state *state, struct buf *out)
{
	static const char *const vectors[RABBIT_NDIRECTIONS] = {
		[RABBIT_RIGHT] = "1,0",
		[RABBIT_LEFT] = "-1,0",
		[RABBIT_DOWN] = "0,1",
		[RABBIT_UP] = "0,-1",
	};
	const struct py27_table *crushers = &state->crushers;

	buf_add_format(out, "seed %s\nscore %lld\ndraws %llu\nnextseed %u\n",
		       state->setup.seed, (long long)state->score,
		       (unsigned long long)state->draws,
		       rabbit_runner_next_seed(state));
	buf_add_text(out, "rabbits");
	rabbit_put_rabbits(state, out);
	buf_add_text(out, "\ncrushers");
	for (int32_t i = py27_table_next(crushers, 0); i >= 0;
	     i = py27_table_next(crushers, i + 1)) {
		struct py27_cell cell = py27_table_cell(crushers, i);

		buf_add_format(out, " %d,%d,%s", cell.x, cell.y,
			       vectors[crushers->values[i]]);
	}
	buf_add_char(out, '\n');
}

bool rabbit_runner_map_is_bare(const struct game_map *map)
{
	return map->nstarts == 0 && map->nexits == 0;
}

unsigned rabbit_runner_next_seed(const struct game_state *state)
{
	struct py27_random random = state->random;

	return (unsigned)py27_random_int(&random, 1, 1000);
}

int rabbit_runner_first_seed(const char *initial, unsigned *ret)
{
	struct py27_random random;
	int rc = py27_random_init(&random, initial);

	if (rc < 0)
		return rc;
	*ret = (unsigned)py27_random_int(&random, 1, 1000);
	return 0;
}

const struct game game_rabbit_runner = {
	.name = "rabbit-runner",
	.title = "Rabbit Runner",
	.version = 1,
	.seats_min = 1,
	.seats_max = 1,
	.stop = GAME_STOP_TERM,
	.params = params,
	.nparams = NPARAMS,
	.turn_ms = TURN_MS,
	.init_ms = INIT_MS,
	.late_max = 1,
	.map_import = map_import,
	.map_new = rabbit_map_new,
	.map_free = rabbit_map_free,
	.map_seats = map_seats,
	.line_max = line_max,
	.args = args,
	.presets = rabbit_presets,
	.npresets = RABBIT_NPRESETS,
	.map_suffix = ".map",
	.generate = rabbit_generate,
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
