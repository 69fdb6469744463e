/* SPDX-License-Identifier: MIT */
/*
 * image_battle.c - the battle for an arena's white pixels.
 *
 * Turn by turn the list of seats is shuffled where it stands; each seat in
 * turn is told `pick pixels`, answers, and what it placed is told to all
 * before the next is asked. The battle is over when a turn passes in which
 * nobody placed a pixel, or after maxturns.
 *
 * Where the original judge would have thrown an exception, or taken a late
 * answer for a pass:
 *
 *	entry off the picture, no pair  not taken, the rest stands
 *	late answer                     a fault and no pass
 *	fifth late answer               suspended: `exit`, passes from then on
 *	program gone                    suspended at once
 *	all seats suspended or gone     the battle is over there and then
 */
#include "server/games/image_battle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/games/image_battle_generate.h"
#include "server/games/image_battle_internal.h"
#include "server/games/python27/random.h"

enum { PARAM_BATCH, PARAM_MAXTURNS, NPARAMS };
enum { COLUMN_PIXELS, COLUMN_ADDED, COLUMN_FORMULA, NCOLUMNS };

enum {
	FAULTS_MAX = 5,
	PREFIX_BYTES = 40, /* "colour (255,255,255) chose" */
};

struct game_state {
	const struct game_map *map; /* borrowed */
	struct game_setup setup;    /* without the seeds' texts */
	struct py27_random random;
	enum image_battle_end end;
	unsigned batch;
	int64_t maxturns;
	int64_t turn;      /* from 1; 0 before begin */
	int64_t completed; /* turns done, but for one that was all passes */
	int64_t accepted;
	uint32_t order[GAME_SEATS_MAX]; /* seats; kept from turn to turn */
	unsigned position;              /* in order: who is asked */
	uint32_t active;                /* bit a seat: it still plays */
	uint32_t placed; /* bit a seat: it placed a pixel this turn */
	uint32_t late;   /* bit a seat: it was late this turn */
	uint8_t faults[GAME_SEATS_MAX];
	enum game_reason reason[GAME_SEATS_MAX]; /* of those not active */
	int64_t added[GAME_SEATS_MAX];
	int64_t counts[ARENA_NCELLS]; /* pixels by cell */
	size_t prefix_len[GAME_SEATS_MAX];
	char prefix[GAME_SEATS_MAX][PREFIX_BYTES];
	char *line;     /* a broadcast in the making; in this block */
	uint8_t *cells; /* the picture; in this block */
};

static const struct game_param params[] = {
	[PARAM_BATCH] = { "batch", 1, ARENA_BATCH_MAX, 10,
			  "pixels that an answer may place" },
	[PARAM_MAXTURNS] = { "maxturns", 1, 1000000, 20000,
			     "turns after which the battle ends" },
};

static const char *const columns[] = {
	[COLUMN_PIXELS] = "pixels",
	[COLUMN_ADDED] = "added",
	[COLUMN_FORMULA] = "formula",
};

static size_t line_bytes(unsigned batch)
{
	/* prefix, entries, LF */
	return PREFIX_BYTES + (size_t)batch * ANSWER_ENTRY_BYTES + 1;
}

static size_t cost(const struct game_map *map, const struct game_setup *setup)
{
	return sizeof(struct game_state) + map->ncells +
	       line_bytes((unsigned)setup->params[PARAM_BATCH]);
}

static void add_args(const struct game_map *map, const struct game_setup *setup,
		     unsigned seat, const char *file_name, struct buf *out)
{
	const uint8_t *rgb = map->colours[seat];

	buf_add_format(out, "%s (%u,%u,%u) %lld", file_name, rgb[0], rgb[1],
		       rgb[2], (long long)setup->params[PARAM_BATCH]);
}

static int admit(const struct game_map *map, const struct game_setup *setup,
		 struct game_error *error)
{
	return arena_admit(map, setup->seats, error);
}

static int create(struct game_state **ret, const struct game_map *map,
		  const struct game_setup *setup, struct game_error *error)
{
	struct game_state *state;
	int rc;

	if (setup->seats < 1 || setup->seats > map->ncolours) {
		game_error_set(error, "%u seats, but the arena has %u colours",
			       setup->seats, map->ncolours);
		return -EINVAL;
	}
	state = malloc(cost(map, setup));
	if (state == NULL) {
		game_error_set(error, "out of memory");
		return -ENOMEM;
	}
	memset(state, 0, sizeof(*state));
	state->map = map;
	state->setup = *setup;
	state->setup.seed = NULL;
	state->setup.bot_seed = NULL;
	state->batch = (unsigned)setup->params[PARAM_BATCH];
	state->maxturns = setup->params[PARAM_MAXTURNS];
	state->cells = (uint8_t *)(state + 1);
	state->line = (char *)(state->cells + map->ncells);
	memcpy(state->cells, map->cells, map->ncells);
	memcpy(state->counts, map->counts, sizeof(state->counts));
	for (unsigned i = 0; i < setup->seats; i++) {
		const uint8_t *rgb = map->colours[i];
		int len = snprintf(state->prefix[i], PREFIX_BYTES,
				   "colour (%u,%u,%u) chose", rgb[0], rgb[1],
				   rgb[2]);

		state->prefix_len[i] = (size_t)len;
		state->order[i] = i;
		state->active |= 1u << i;
	}
	rc = py27_random_init(&state->random, setup->seed);
	if (rc < 0) {
		game_error_set(error, rc == -EINVAL ? "the seed is no integer"
						    : "out of memory");
		free(state);
		return rc;
	}
	*ret = state;
	return 0;
}

static void end_seat(struct game_state *state, unsigned seat,
		     enum game_reason reason, struct game_out *out)
{
	state->active &= ~(1u << seat);
	state->reason[seat] = reason;
	buf_add(&out->lines[seat], "exit\n", 5);
	game_out_end(out, seat, reason);
}

static void end_battle(struct game_state *state, enum image_battle_end end,
		       struct game_out *out)
{
	state->end = end;
	for (unsigned i = 0; i < state->setup.seats; i++) {
		if (state->active & 1u << i)
			end_seat(state, i, GAME_FINISHED, out);
	}
	out->is_over = true;
}

static void start_turn(struct game_state *state)
{
	state->turn++;
	state->placed = 0;
	state->late = 0;
	state->position = 0;
	py27_random_shuffle(&state->random, state->order, state->setup.seats);
}

/* The turn's last seat is done. False when that ended the battle. */
static bool end_turn(struct game_state *state, struct game_out *out)
{
	/* a late answer is no pass; a suspended seat has nothing to play */
	if (state->placed == 0 && (state->late & state->active) == 0) {
		end_battle(state, IMAGE_BATTLE_NULL, out);
		return false;
	}
	state->completed++;
	if (state->turn == state->maxturns) {
		end_battle(state, IMAGE_BATTLE_MAXTURNS, out);
		return false;
	}
	return true;
}

/* Ask the next seat that plays, from the current position on. */
static void ask_next(struct game_state *state, struct game_out *out)
{
	unsigned seat;

	if (state->active == 0) {
		end_battle(state, IMAGE_BATTLE_LEFT, out);
		return;
	}
	for (;;) {
		if (state->position == state->setup.seats) {
			if (!end_turn(state, out))
				return;
			start_turn(state);
		}
		seat = state->order[state->position];
		if (state->active & 1u << seat)
			break;
		state->position++;
	}
	buf_add(&out->lines[seat], "pick pixels\n", 12);
	game_out_ask(out, seat, &state->setup);
}

static enum game_status begin(struct game_state *state, struct game_out *out)
{
	start_turn(state);
	ask_next(state, out);
	return GAME_DONE;
}

static void broadcast(struct game_state *state, size_t len,
		      struct game_out *out)
{
	for (unsigned i = 0; i < state->setup.seats; i++) {
		if (state->active & 1u << i)
			buf_add(&out->lines[i], state->line, len);
	}
}

static void take_answer(struct game_state *state, unsigned seat,
			const char *text, size_t len, struct game_out *out)
{
	size_t prefix_len = state->prefix_len[seat];
	char *list = state->line + prefix_len;
	uint8_t own = state->map->cell_of[seat];
	const struct answer_board board = { state->map, state->cells, own,
					    state->batch };
	struct answer answer;

	answer_apply(&answer, &board, text, len, list);
	if (answer.taken < answer.looked_at || answer.beyond > 0) {
		out->invalid |= 1u << seat;
		answer_describe(&answer, out->detail[seat],
				sizeof(out->detail[seat]));
	}
	if (answer.taken == 0)
		return;
	state->placed |= 1u << seat;
	state->added[seat] += answer.taken;
	state->accepted += answer.taken;
	state->counts[ARENA_WHITE] -= answer.taken;
	state->counts[own] += answer.taken;
	memcpy(state->line, state->prefix[seat], prefix_len);
	list[answer.list_len] = '\n';
	broadcast(state, prefix_len + answer.list_len + 1, out);
}

static void count_fault(struct game_state *state, unsigned seat,
			struct game_out *out)
{
	state->late |= 1u << seat;
	state->faults[seat]++;
	if (state->faults[seat] == FAULTS_MAX)
		end_seat(state, seat, GAME_SUSPENDED, out);
}

static enum game_status feed(struct game_state *state, unsigned seat,
			     enum game_input kind, const char *text, size_t len,
			     struct game_out *out)
{
	bool is_asked;

	if (state->turn == 0 || seat >= state->setup.seats ||
	    (state->active & 1u << seat) == 0)
		return GAME_DONE;
	is_asked = state->order[state->position] == seat;
	if (kind == GAME_GONE)
		end_seat(state, seat, GAME_LEFT, out);
	if (!is_asked)
		return GAME_DONE;
	if (kind == GAME_REPLY)
		take_answer(state, seat, text, len, out);
	else if (kind == GAME_LATE)
		count_fault(state, seat, out);
	state->position++;
	ask_next(state, out);
	return GAME_DONE;
}

/* The contest text's formula: added pixels against their mean. */
static double formula(const struct game_state *state, unsigned seat)
{
	double mean;

	if (state->accepted == 0)
		return 0;
	mean = 1.0 * (double)state->accepted / state->setup.seats;
	return (double)(100 * state->added[seat]) / mean;
}

static void result(const struct game_state *state, struct game_score *ret)
{
	const struct game_map *map = state->map;
	unsigned seats = state->setup.seats;
	double mean = 1.0 * map->width * map->height / seats;

	for (unsigned i = 0; i < seats; i++) {
		int64_t pixels = state->counts[map->cell_of[i]];

		ret[i] = (struct game_score){ 0 };
		ret[i].points = pixels;
		ret[i].score = (double)(100 * pixels) / mean;
		ret[i].columns[COLUMN_PIXELS] = (double)pixels;
		ret[i].columns[COLUMN_ADDED] = (double)state->added[i];
		ret[i].columns[COLUMN_FORMULA] = formula(state, i);
		ret[i].reason = state->reason[i];
	}
	game_rank(ret, seats);
}

static uint32_t pack(char letter, const uint8_t rgb[3])
{
	return (uint32_t)(unsigned char)letter << 24 | (uint32_t)rgb[0] << 16 |
	       (uint32_t)rgb[1] << 8 | rgb[2];
}

/* What a cell looks like; not of ARENA_OTHER, whose colour is the map's. */
static void fill_looks(const struct game_state *state,
		       uint32_t looks[ARENA_NCELLS])
{
	static const uint8_t white[3] = { 255, 255, 255 };
	static const uint8_t black[3] = { 0, 0, 0 };
	const struct game_map *map = state->map;

	memset(looks, 0, sizeof(*looks) * ARENA_NCELLS);
	for (unsigned i = map->ncolours; i-- > 0;) {
		char letter = i < state->setup.seats ? (char)('1' + i) : '?';

		/* downwards: of seats with one colour the first is shown */
		looks[map->cell_of[i]] = pack(letter, map->colours[i]);
	}
	looks[ARENA_WHITE] = pack('.', white);
	looks[ARENA_BLACK] = pack('#', black);
}

static int grid(const struct game_state *state, struct game_grid *ret)
{
	const struct game_map *map = state->map;
	const uint8_t *rgb = map->picture.rgb;
	uint32_t looks[ARENA_NCELLS];
	uint32_t *out = reallocarray(NULL, (size_t)map->width * map->height,
				     sizeof(*out));

	if (out == NULL)
		return -ENOMEM;
	*ret = (struct game_grid){ map->width, map->height, out };
	fill_looks(state, looks);
	for (unsigned y = 0; y < map->height; y++) {
		const uint8_t *row = state->cells + arena_index(map, 0, y);

		for (unsigned x = 0; x < map->width; x++, rgb += 3)
			*out++ = row[x] == ARENA_OTHER ? pack('?', rgb)
						       : looks[row[x]];
	}
	return 0;
}

/* FNV-1a, 64 bits, of the cells, row by row. */
static uint64_t picture_digest(const struct game_state *state)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < state->map->ncells; i++)
		hash = (hash ^ state->cells[i]) * 0x100000001b3u;
	return hash;
}

static void dump(const struct game_state *state, struct buf *out)
{
	static const char *const ends[] = {
		[IMAGE_BATTLE_RUNNING] = "running",
		[IMAGE_BATTLE_NULL] = "null",
		[IMAGE_BATTLE_MAXTURNS] = "maxturns",
		[IMAGE_BATTLE_LEFT] = "left",
	};

	buf_add_format(out, "turns %lld\nend %s\naccepted %lld\norder",
		       (long long)state->turn, ends[state->end],
		       (long long)state->accepted);
	for (unsigned i = 0; i < state->setup.seats; i++)
		buf_add_format(out, " %u", state->order[i]);
	buf_add_char(out, '\n');
	for (unsigned i = 0; i < state->setup.seats; i++) {
		const struct game_map *map = state->map;
		const uint8_t *rgb = map->colours[i];
		bool is_active = state->active & 1u << i;

		buf_add_format(out,
			       "seat %u colour %u,%u,%u pixels %lld added %lld "
			       "faults %u %s\n",
			       i, rgb[0], rgb[1], rgb[2],
			       (long long)state->counts[map->cell_of[i]],
			       (long long)state->added[i], state->faults[i],
			       is_active ? "plays"
					 : game_reason_word(state->reason[i]));
	}
	buf_add_format(out, "picture %016llx\n",
		       (unsigned long long)picture_digest(state));
}

void image_battle_look(const struct game_state *state,
		       struct image_battle_view *ret)
{
	*ret = (struct image_battle_view){
		.end = state->end,
		.turn = state->turn,
		.completed = state->completed,
		.accepted = state->accepted,
		.seats = state->setup.seats,
	};
	for (unsigned i = 0; i < GAME_SEATS_MAX; i++)
		ret->order[i] = (uint8_t)state->order[i];
	memcpy(ret->faults, state->faults, sizeof(ret->faults));
	memcpy(ret->colours, state->map->colours, sizeof(ret->colours));
}

static void free_state(struct game_state *state)
{
	free(state);
}

const struct game game_image_battle = {
	.name = "image-battle",
	.title = "Image Battle",
	.version = 1,
	.seats_min = 1,
	.seats_max = GAME_SEATS_MAX,
	.stop = GAME_STOP_EXIT,
	.is_shared = true,
	.params = params,
	.nparams = NPARAMS,
	.columns = columns,
	.ncolumns = NCOLUMNS,
	.turn_ms = 100,
	.init_ms = 2000,
	.late_max = FAULTS_MAX,
	.map_import = arena_import,
	.map_new = arena_new,
	.map_free = arena_free,
	.map_seats = arena_seats,
	.line_max = arena_line_max,
	.args = add_args,
	.presets = arena_presets,
	.npresets = ARENA_NPRESETS,
	.map_suffix = ".png",
	.generate = arena_generate,
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
