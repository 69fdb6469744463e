/* SPDX-License-Identifier: MIT */
/* lambda_step.c - one command: the robot, then the update, water, the end. */
#include "server/games/lambda_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	LIST_CELLS = 8,  /* a list has room for one cell in so many ... */
	LIST_MIN = 64,   /* ... and these */
	DENSE_CELLS = 12 /* dense when one stone in so many cells is visited */
};

/* ---- life ---- */

static size_t list_cap(const struct lambda_map *map)
{
	return map->size / LIST_CELLS + LIST_MIN;
}

size_t lambda_sim_bytes(const struct lambda_map *map)
{
	return 2 * ((size_t)map->size + LAMBDA_SLACK) +
	       list_cap(map) *
		       (2 * sizeof(uint32_t) + sizeof(struct lambda_move));
}

int lambda_sim_init(struct lambda_sim *sim, const struct lambda_map *map)
{
	size_t grid = (size_t)map->size + LAMBDA_SLACK;
	size_t cap = list_cap(map), tail = map->size - map->stride;
	struct lambda_move *moves = malloc(lambda_sim_bytes(map));
	uint32_t *places;

	if (moves == NULL)
		return -ENOMEM;
	places = (uint32_t *)(moves + cap);
	*sim = (struct lambda_sim){
		.map = map,
		.block = moves,
		.moves = moves,
		.stones = { .at = places, .cap = cap },
		.beards = { .at = places + cap, .cap = cap },
		.cells = (unsigned char *)(places + 2 * cap),
		.dense_at = map->size / DENSE_CELLS,
		.is_dense = true,
		.has_growth = map->has_beards && map->growth > 0,
		.robot = map->robot,
		.robot_row = map->robot_row,
		.razors = map->razors,
		.water = map->water,
		.flood_in = map->flooding,
		.grow_in = map->growth,
	};
	sim->next = sim->cells + grid;
	memcpy(sim->cells, map->cells, grid);
	/* A dense pass writes between the borders only. */
	memset(sim->next, '#', map->stride + 1);
	memset(sim->next + tail, '#', grid - tail);
	return 0;
}

void lambda_sim_release(struct lambda_sim *sim)
{
	if (sim == NULL)
		return;
	free(sim->block);
	sim->block = NULL;
}

/* ---- the robot ---- */

static void move_to(struct lambda_sim *sim, uint32_t to, unsigned row)
{
	uint32_t from = sim->robot;

	sim->cells[from] = ' ';
	sim->cells[to] = 'R';
	sim->robot = to;
	sim->robot_row = row;
	lambda_emptied(sim, from);
}

/* Every trampoline that leads where TAKEN does vanishes with it. */
static void jump(struct lambda_sim *sim, const struct lambda_trampoline *taken)
{
	const struct lambda_map *map = sim->map;

	move_to(sim, taken->target, taken->target_row);
	for (unsigned i = 0; i < LAMBDA_NTRAMPOLINES; i++) {
		uint32_t at = map->trampolines[i].at;

		if (at == 0 || map->trampolines[i].target != taken->target)
			continue;
		sim->cells[at] = ' ';
		lambda_emptied(sim, at);
	}
}

/* Whether the stone at AT could be pushed on to BEHIND, and was. */
static bool push(struct lambda_sim *sim, uint32_t at, uint32_t behind)
{
	if (sim->cells[behind] != ' ')
		return false;
	sim->cells[behind] = sim->cells[at];
	lambda_filled(sim, behind);
	return true;
}

/* One step towards TO, in row ROW; BEHIND lies beyond it, 0: up or down. */
static void walk(struct lambda_sim *sim, uint32_t to, unsigned row,
		 uint32_t behind)
{
	unsigned char cell = sim->cells[to];

	switch (cell) {
	case ' ':
	case '.':
		break;
	case '\\':
		sim->collected++;
		break;
	case '!':
		sim->razors++;
		break;
	case 'O':
		sim->cells[sim->robot] = ' ';
		sim->status = LAMBDA_WIN;
		return;
	case '*':
	case '@':
		if (behind == 0 || !push(sim, to, behind))
			return;
		break;
	default:
		if (cell >= 'A' && cell < 'A' + LAMBDA_NTRAMPOLINES)
			jump(sim, &sim->map->trampolines[cell - 'A']);
		return;
	}
	move_to(sim, to, row);
}

static void shave(struct lambda_sim *sim)
{
	uint32_t stride = sim->map->stride;

	if (sim->razors == 0)
		return;
	sim->razors--;
	for (uint32_t row = sim->robot - stride; row <= sim->robot + stride;
	     row += stride) {
		for (uint32_t at = row - 1; at <= row + 1; at++) {
			if (sim->cells[at] != 'W')
				continue;
			sim->cells[at] = ' ';
			lambda_emptied(sim, at);
		}
	}
}

/* False: not a command that takes a step. */
static bool act(struct lambda_sim *sim, char command)
{
	uint32_t robot = sim->robot, stride = sim->map->stride;
	unsigned row = sim->robot_row;

	switch (command) {
	case 'L':
		walk(sim, robot - 1, row, robot - 2);
		return true;
	case 'R':
		walk(sim, robot + 1, row, robot + 2);
		return true;
	case 'U':
		walk(sim, robot + stride, row + 1, 0);
		return true;
	case 'D':
		walk(sim, robot - stride, row - 1, 0);
		return true;
	case 'S':
		shave(sim);
		return true;
	case 'W':
		return true;
	case 'A':
		sim->status = LAMBDA_ABORT;
		return false;
	default:
		return false;
	}
}

/* ---- the step ---- */

static void update_water(struct lambda_sim *sim)
{
	if (sim->robot_row <= sim->water) {
		if (++sim->under_water > sim->map->waterproof)
			sim->status = LAMBDA_LOSE;
	} else {
		sim->under_water = 0;
	}
	if (sim->map->flooding > 0 && --sim->flood_in == 0) {
		sim->water++;
		sim->flood_in = sim->map->flooding;
	}
}

void lambda_step(struct lambda_sim *sim, char command)
{
	bool grows = false, was_empty;
	uint32_t above;
	unsigned char cell;

	if (sim->status != LAMBDA_ONGOING || !act(sim, command))
		return;
	sim->steps++;
	if (sim->status == LAMBDA_WIN)
		return;
	above = sim->robot + sim->map->stride;
	was_empty = sim->cells[above] == ' ';
	if (sim->has_growth && --sim->grow_in == 0) {
		grows = true;
		sim->grow_in = sim->map->growth;
	}
	lambda_update(sim, grows);
	update_water(sim);
	cell = sim->cells[above];
	if (was_empty && (lambda_is_stone(cell) || cell == '\\'))
		sim->status = LAMBDA_LOSE;
}

bool lambda_is_command(char byte)
{
	return byte != '\0' && strchr("LRUDWSA", byte) != NULL;
}

/* ---- what came of it ---- */

int64_t lambda_score(const struct lambda_sim *sim)
{
	static const int64_t worth[LAMBDA_NSTATUSES] = {
		[LAMBDA_ONGOING] = 50,
		[LAMBDA_ABORT] = 50,
		[LAMBDA_LOSE] = 25,
		[LAMBDA_WIN] = 75,
	};

	return worth[sim->status] * sim->collected - sim->steps;
}

const char *lambda_status_word(enum lambda_status status)
{
	static const char *const words[LAMBDA_NSTATUSES] = {
		[LAMBDA_ONGOING] = "ongoing",
		[LAMBDA_ABORT] = "abort",
		[LAMBDA_LOSE] = "lose",
		[LAMBDA_WIN] = "win",
	};

	return words[status];
}

void lambda_rows(const struct lambda_sim *sim, struct buf *out)
{
	const struct lambda_map *map = sim->map;

	for (unsigned row = map->height; row > 0; row--) {
		buf_add(out, sim->cells + (size_t)row * map->stride + 1,
			map->width);
		buf_add_char(out, '\n');
	}
}
