/* SPDX-License-Identifier: MIT */
/*
 * lambda_witness.c - a miner of few ideas, who proves that a mine can be won.
 *
 * Before each step it looks over the mine as it lies, breadth first, and takes
 * the first step towards the nearest thing it wants; the engine then moves the
 * mine. When it dies it starts again, walks to where it was and takes another
 * step there. What it wants, the next only when none of the former is in
 * reach:
 *
 *	lambdas, razors; the lift once it is open
 *	a cell under a higher order rock, which then falls and breaks
 *	a place beside a beard, to shave it
 *	all this again, pushing stones
 *	out from under a stone
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/games/lambda_generate.h"
#include "server/games/lambda_internal.h"

enum {
	DEATHS_MAX = 40,
	STEPS_A_CELL = 3, /* steps at most, for each cell of the mine */
	NCOMMANDS = 5,
	COMMAND_NONE = NCOMMANDS,
	SEEN_NOT = 0xff,
};

static const char commands[NCOMMANDS] = { 'L', 'R', 'U', 'D', 'S' };

enum { LEFT, RIGHT, UP, DOWN, SHAVE };

struct miner {
	const struct lambda_map *map;
	struct lambda_sim sim;
	struct buf route;
	uint8_t *first;  /* owned, a cell each: the command that leads there */
	uint32_t *queue; /* owned, likewise */
	uint8_t *barred; /* owned, a step each: bit a command that killed */
	size_t steps_max;
	unsigned deaths;
};

/* The nearest things in reach, each with the command to begin with. */
struct wish {
	unsigned prize, dig, beard; /* COMMAND_NONE: not in reach */
};

static int miner_init(struct miner *miner, const struct lambda_map *map)
{
	*miner = (struct miner){
		.map = map,
		.steps_max = (size_t)map->size * STEPS_A_CELL,
	};
	buf_init(&miner->route, miner->steps_max + 1);
	miner->first = malloc(map->size);
	miner->queue = calloc(map->size, sizeof(*miner->queue));
	miner->barred = calloc(miner->steps_max + 1, 1);
	if (miner->first == NULL || miner->queue == NULL ||
	    miner->barred == NULL)
		return -ENOMEM;
	return lambda_sim_init(&miner->sim, map);
}

static void miner_release(struct miner *miner)
{
	lambda_sim_release(&miner->sim);
	buf_release(&miner->route);
	free(miner->first);
	free(miner->queue);
	free(miner->barred);
}

static uint32_t beside(const struct miner *miner, uint32_t at, unsigned command)
{
	switch (command) {
	case LEFT:
		return at - 1;
	case RIGHT:
		return at + 1;
	case UP:
		return at + miner->map->stride;
	default:
		return at - miner->map->stride;
	}
}

/*
 * Where COMMAND leads from AT as the mine lies; false: nowhere, or to death
 * under the stone above.
 */
static bool may_go(const struct miner *miner, uint32_t at, unsigned command,
		   bool pushes, uint32_t *ret)
{
	const unsigned char *cells = miner->sim.cells;
	uint32_t to = beside(miner, at, command);
	unsigned char cell = cells[to];

	if (command == DOWN && lambda_is_stone(cells[beside(miner, at, UP)]))
		return false;
	*ret = to;
	if (cell == ' ' || cell == '.' || cell == '\\' || cell == '!' ||
	    cell == 'O')
		return true;
	if (lambda_is_stone(cell))
		return pushes && command <= RIGHT &&
		       cells[beside(miner, to, command)] == ' ';
	if (cell < 'A' || cell >= 'A' + LAMBDA_NTRAMPOLINES)
		return false;
	*ret = miner->map->trampolines[cell - 'A'].target;
	return true;
}

static bool has_beard_around(const struct miner *miner, uint32_t at)
{
	uint32_t stride = miner->map->stride;

	for (uint32_t row = at - stride; row <= at + stride; row += stride)
		if (memchr(miner->sim.cells + row - 1, 'W', 3) != NULL)
			return true;
	return false;
}

/* What AT is worth, reached by beginning with FIRST. */
static void consider(const struct miner *miner, uint32_t at, unsigned first,
		     struct wish *wish)
{
	const struct lambda_sim *sim = &miner->sim;
	unsigned char cell = sim->cells[at];

	if (first != COMMAND_NONE) {
		if (cell == '\\' || cell == 'O' ||
		    (cell == '!' && miner->map->has_beards))
			wish->prize = first;
		if (wish->dig == COMMAND_NONE && cell != '\\' &&
		    sim->cells[beside(miner, at, UP)] == '@')
			wish->dig = first;
	}
	if (wish->beard == COMMAND_NONE && sim->razors > 0 &&
	    has_beard_around(miner, at))
		wish->beard = first == COMMAND_NONE ? SHAVE : first;
}

/* Look over the mine from the robot until a prize is found. */
static void look(struct miner *miner, bool pushes, struct wish *wish)
{
	const struct lambda_sim *sim = &miner->sim;
	uint8_t barred = miner->barred[miner->route.len];
	size_t head = 0;
	size_t tail = 0;

	*wish = (struct wish){ COMMAND_NONE, COMMAND_NONE, COMMAND_NONE };
	memset(miner->first, SEEN_NOT, miner->map->size);
	miner->first[sim->robot] = COMMAND_NONE;
	miner->queue[tail++] = sim->robot;
	while (head < tail && wish->prize == COMMAND_NONE) {
		uint32_t at = miner->queue[head++];
		unsigned first = miner->first[at];

		consider(miner, at, first, wish);
		for (unsigned command = LEFT; command <= DOWN; command++) {
			uint32_t to;

			if ((first == COMMAND_NONE &&
			     (barred >> command & 1) != 0) ||
			    !may_go(miner, at, command, pushes, &to) ||
			    miner->first[to] != SEEN_NOT)
				continue;
			miner->first[to] =
				(uint8_t)(first == COMMAND_NONE ? command
								: first);
			miner->queue[tail++] = to;
		}
	}
	if ((barred >> SHAVE & 1) != 0 && wish->beard == SHAVE)
		wish->beard = COMMAND_NONE;
}

/* Out from under a stone, so that it falls. */
static unsigned step_aside(const struct miner *miner)
{
	uint32_t robot = miner->sim.robot;
	uint8_t barred = miner->barred[miner->route.len];
	uint32_t to;

	if (!lambda_is_stone(miner->sim.cells[beside(miner, robot, UP)]))
		return COMMAND_NONE;
	for (unsigned command = LEFT; command <= RIGHT; command++)
		if ((barred >> command & 1) == 0 &&
		    may_go(miner, robot, command, false, &to))
			return command;
	return COMMAND_NONE;
}

static unsigned choose(struct miner *miner)
{
	for (unsigned pushes = 0; pushes < 2; pushes++) {
		struct wish wish;

		look(miner, pushes != 0, &wish);
		if (wish.prize != COMMAND_NONE)
			return wish.prize;
		if (wish.dig != COMMAND_NONE)
			return wish.dig;
		if (wish.beard != COMMAND_NONE)
			return wish.beard;
	}
	return step_aside(miner);
}

/* Stand again where the last step was taken, which is barred from now on. */
static int come_back(struct miner *miner, unsigned command)
{
	size_t len = miner->route.len - 1;
	int rc;

	miner->route.len = len;
	miner->barred[len] |= (uint8_t)(1u << command);
	memset(miner->barred + len + 1, 0, miner->steps_max - len);
	lambda_sim_release(&miner->sim);
	rc = lambda_sim_init(&miner->sim, miner->map);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < len; i++)
		lambda_step(&miner->sim, miner->route.data[i]);
	return 0;
}

static int mine_all(struct miner *miner)
{
	while (miner->sim.status == LAMBDA_ONGOING &&
	       miner->route.len < miner->steps_max) {
		unsigned command = choose(miner);

		if (command == COMMAND_NONE)
			return 0;
		buf_add_char(&miner->route, commands[command]);
		if (miner->route.is_failed)
			return -ENOMEM;
		lambda_step(&miner->sim, commands[command]);
		if (miner->sim.status == LAMBDA_LOSE &&
		    miner->deaths++ < DEATHS_MAX) {
			int rc = come_back(miner, command);

			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

int lambda_check(const struct lambda_map *map, struct buf *ret_route,
		 struct game_error *error)
{
	struct miner miner;
	int rc = miner_init(&miner, map);

	if (rc == 0)
		rc = mine_all(&miner);
	if (rc < 0) {
		game_error_set(error, "no memory to mine");
	} else if (miner.sim.status != LAMBDA_WIN) {
		game_error_set(
			error, "%s after %zu steps with %u of %u lambdas",
			lambda_status_word(miner.sim.status), miner.route.len,
			miner.sim.collected, map->total);
		rc = -EINVAL;
	} else if (ret_route != NULL) {
		buf_add(ret_route, miner.route.data, miner.route.len);
	}
	miner_release(&miner);
	return rc;
}
