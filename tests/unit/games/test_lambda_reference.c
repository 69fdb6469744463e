/* SPDX-License-Identifier: MIT */
/*
 * The mine against a plain reference that visits every cell in the order of
 * the rules and writes a second map, on random mines and routes, in every
 * mode: whatever the mine leaves out must not have mattered. A robot that was
 * destroyed is brought back to life, so that the stones fall on.
 */
#include "server/games/lambda_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/games/lambda_modes.h"
#include "tests/unit/unit.h"

enum { NSMALL = 1500, SMALL_STEPS = 60, NWIDE = 4, WIDE_STEPS = 120 };

/* ---- random mines ---- */

static uint64_t random_state;

static unsigned draw(unsigned below)
{
	random_state =
		random_state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((random_state >> 33) % below);
}

/* CELLS without line ends: a random place that no special cell has yet. */
static void put_special(char *cells, unsigned count, char special)
{
	unsigned at;

	do {
		at = draw(count);
	} while (strchr("RLAB12", cells[at]) != NULL);
	cells[at] = special;
}

/* A mine with a taste of its own for each kind of cell. */
static void draw_map(struct buf *out, unsigned width, unsigned height)
{
	static const char kinds[] = " .#*@\\W!";
	unsigned weights[sizeof(kinds) - 1], sum = 0;
	char *cells = xmalloc((size_t)width * height);

	for (size_t i = 0; i < COUNT_OF(weights); i++) {
		weights[i] = draw(i == 0 ? 60 : 12) + (i == 0);
		sum += weights[i];
	}
	for (unsigned at = 0; at < width * height; at++) {
		unsigned pick = draw(sum), kind = 0;

		while (pick >= weights[kind])
			pick -= weights[kind++];
		cells[at] = kinds[kind];
	}
	for (const char *special = "RLAB12"; *special != '\0'; special++)
		put_special(cells, width * height, *special);
	for (unsigned y = 0; y < height; y++) {
		buf_add(out, cells + (size_t)y * width, width);
		buf_add_char(out, '\n');
	}
	free(cells);
	buf_add_format(out, "\nGrowth %u\nWater %u\nFlooding %u\nRazors %u\n",
		       draw(6), draw(3), draw(30), draw(4));
	buf_add_format(out, "Waterproof %u\nTrampoline A targets 1\n",
		       draw(30));
	buf_add_format(out, "Trampoline B targets %u\n", 1 + draw(2));
}

/* ---- the reference ---- */

struct reference {
	const struct lambda_map *map; /* for its numbers and its targets */
	int width, height;
	char *old, *new; /* owned; rows from the bottom */
	int x, y;        /* of the robot, from 1 */
	unsigned collected;
	int64_t steps, razors, water, under_water;
	enum lambda_status status;
};

static char *cell_at(const struct reference *ref, char *cells, int x, int y)
{
	static char wall;

	wall = '#';
	if (x < 1 || y < 1 || x > ref->width || y > ref->height)
		return &wall;
	return &cells[(size_t)(y - 1) * (size_t)ref->width + (size_t)x - 1];
}

static char old_at(const struct reference *ref, int x, int y)
{
	return *cell_at(ref, ref->old, x, y);
}

static void set_old(struct reference *ref, int x, int y, char cell)
{
	*cell_at(ref, ref->old, x, y) = cell;
}

static bool is_rock(char cell)
{
	return cell == '*' || cell == '@';
}

static void reference_init(struct reference *ref, const struct lambda_map *map)
{
	size_t count = (size_t)map->width * map->height;

	*ref = (struct reference){
		.map = map,
		.width = (int)map->width,
		.height = (int)map->height,
		.old = xmalloc(count),
		.new = xmalloc(count),
		.x = (int)(map->robot % map->stride),
		.y = (int)(map->robot / map->stride),
		.razors = map->razors,
		.water = map->water,
	};
	for (int y = 1; y <= ref->height; y++) {
		for (int x = 1; x <= ref->width; x++)
			set_old(ref, x, y,
				(char)map->cells[(unsigned)y * map->stride +
						 (unsigned)x]);
	}
}

static void reference_release(struct reference *ref)
{
	free(ref->old);
	free(ref->new);
}

static void robot_to(struct reference *ref, int x, int y)
{
	set_old(ref, ref->x, ref->y, ' ');
	set_old(ref, x, y, 'R');
	ref->x = x;
	ref->y = y;
}

static void jump(struct reference *ref, char letter)
{
	const struct lambda_map *map = ref->map;
	uint32_t target = map->trampolines[letter - 'A'].target;

	for (int i = 0; i < LAMBDA_NTRAMPOLINES; i++) {
		uint32_t at = map->trampolines[i].at;

		if (at != 0 && map->trampolines[i].target == target)
			set_old(ref, (int)(at % map->stride),
				(int)(at / map->stride), ' ');
	}
	robot_to(ref, (int)(target % map->stride), (int)(target / map->stride));
}

static void walk(struct reference *ref, int dx, int dy)
{
	int x = ref->x + dx, y = ref->y + dy;
	char cell = old_at(ref, x, y);

	if (cell >= 'A' && cell <= 'I') {
		jump(ref, cell);
	} else if (cell == 'O') {
		set_old(ref, ref->x, ref->y, ' ');
		ref->status = LAMBDA_WIN;
	} else if (is_rock(cell)) {
		if (dy != 0 || old_at(ref, x + dx, y) != ' ')
			return;
		set_old(ref, x + dx, y, cell);
		robot_to(ref, x, y);
	} else if (strchr(" .\\!", cell) != NULL) {
		ref->collected += cell == '\\';
		ref->razors += cell == '!';
		robot_to(ref, x, y);
	}
}

static void shave(struct reference *ref)
{
	if (ref->razors == 0)
		return;
	ref->razors--;
	for (int y = ref->y - 1; y <= ref->y + 1; y++) {
		for (int x = ref->x - 1; x <= ref->x + 1; x++) {
			if (old_at(ref, x, y) == 'W')
				set_old(ref, x, y, ' ');
		}
	}
}

static void write_rock(struct reference *ref, int x, int y, int to_x)
{
	char cell = old_at(ref, x, y);

	if (cell == '@' && old_at(ref, to_x, y - 2) != ' ')
		cell = '\\';
	*cell_at(ref, ref->new, x, y) = ' ';
	*cell_at(ref, ref->new, to_x, y - 1) = cell;
}

static void update_rock(struct reference *ref, int x, int y)
{
	char below = old_at(ref, x, y - 1);
	bool right = old_at(ref, x + 1, y) == ' ' &&
		     old_at(ref, x + 1, y - 1) == ' ';
	bool left = old_at(ref, x - 1, y) == ' ' &&
		    old_at(ref, x - 1, y - 1) == ' ';

	if (below == ' ')
		write_rock(ref, x, y, x);
	else if (is_rock(below) && right)
		write_rock(ref, x, y, x + 1);
	else if (is_rock(below) && left)
		write_rock(ref, x, y, x - 1);
	else if (below == '\\' && right)
		write_rock(ref, x, y, x + 1);
}

static void update_beard(struct reference *ref, int x, int y)
{
	for (int to_y = y - 1; to_y <= y + 1; to_y++) {
		for (int to_x = x - 1; to_x <= x + 1; to_x++) {
			if (old_at(ref, to_x, to_y) == ' ')
				*cell_at(ref, ref->new, to_x, to_y) = 'W';
		}
	}
}

static void update_map(struct reference *ref)
{
	int64_t growth = ref->map->growth;
	char *swap = ref->old;

	memcpy(ref->new, ref->old, (size_t)ref->width * (size_t)ref->height);
	for (int y = 1; y <= ref->height; y++) {
		for (int x = 1; x <= ref->width; x++) {
			char cell = old_at(ref, x, y);

			if (is_rock(cell))
				update_rock(ref, x, y);
			else if (cell == 'L' &&
				 ref->collected == ref->map->total)
				*cell_at(ref, ref->new, x, y) = 'O';
			else if (cell == 'W' && growth > 0 &&
				 ref->steps % growth == 0)
				update_beard(ref, x, y);
		}
	}
	ref->old = ref->new;
	ref->new = swap;
}

static void reference_step(struct reference *ref, char command)
{
	int64_t flooding = ref->map->flooding;
	bool was_empty;
	char above;

	if (command == 'S')
		shave(ref);
	else if (command != 'W')
		walk(ref, (command == 'R') - (command == 'L'),
		     (command == 'U') - (command == 'D'));
	ref->steps++;
	if (ref->status == LAMBDA_WIN)
		return;
	was_empty = old_at(ref, ref->x, ref->y + 1) == ' ';
	update_map(ref);
	ref->under_water = ref->y <= ref->water ? ref->under_water + 1 : 0;
	if (ref->under_water > ref->map->waterproof)
		ref->status = LAMBDA_LOSE;
	if (flooding > 0 && ref->steps % flooding == 0)
		ref->water++;
	above = old_at(ref, ref->x, ref->y + 1);
	if (was_empty && (is_rock(above) || above == '\\'))
		ref->status = LAMBDA_LOSE;
}

/* ---- side by side ---- */

static void compare(const struct lambda_sim *sim, struct reference *ref,
		    const char *label)
{
	const struct lambda_map *map = sim->map;

	if (sim->status != ref->status || sim->collected != ref->collected ||
	    sim->razors != ref->razors || sim->water != ref->water ||
	    sim->under_water != ref->under_water || sim->steps != ref->steps)
		fail_msg("%s: step %lld: the figures differ", label,
			 (long long)ref->steps);
	for (int y = 1; y <= ref->height; y++) {
		const unsigned char *row =
			sim->cells + (unsigned)y * map->stride + 1;

		if (memcmp(row, cell_at(ref, ref->old, 1, y), map->width) != 0)
			fail_msg("%s: step %lld: row %d differs:\n%.*s\n"
				 "instead of\n%.*s",
				 label, (long long)ref->steps, y, ref->width,
				 (const char *)row, ref->width,
				 cell_at(ref, ref->old, 1, y));
	}
}

/* Returns how often a mine went from one way of updating to the other. */
static unsigned play(struct lambda_sim sims[NMODES], struct reference *ref,
		     unsigned nsteps, unsigned seed)
{
	unsigned nchanges = 0;

	for (unsigned i = 0; i < nsteps && ref->status != LAMBDA_WIN; i++) {
		char command = "LLRRUUDDWS"[draw(10)];

		reference_step(ref, command);
		for (unsigned mode = 0; mode < NMODES; mode++) {
			bool was_dense = sims[mode].is_dense;
			char label[64];

			(void)snprintf(label, sizeof(label), "seed %u mode %u",
				       seed, mode);
			lambda_step(&sims[mode], command);
			compare(&sims[mode], ref, label);
			nchanges += was_dense != sims[mode].is_dense;
			if (sims[mode].status == LAMBDA_LOSE)
				sims[mode].status = LAMBDA_ONGOING;
		}
		if (ref->status == LAMBDA_LOSE)
			ref->status = LAMBDA_ONGOING;
	}
	return nchanges;
}

static unsigned play_random(unsigned seed, unsigned width, unsigned height,
			    unsigned nsteps)
{
	struct buf text = BUF_INIT(1024 * 1024);
	struct lambda_sim sims[NMODES];
	struct game_error error = { "" };
	struct lambda_map map;
	struct reference ref;
	unsigned nchanges;

	draw_map(&text, width, height);
	if (lambda_map_init(&map, buf_text(&text), text.len, &error) < 0)
		fail_msg("seed %u: %s", seed, error.text);
	reference_init(&ref, &map);
	for (unsigned mode = 0; mode < NMODES; mode++) {
		assert_int_equal(lambda_sim_init(&sims[mode], &map), 0);
		lambda_force(&sims[mode], (enum lambda_mode)mode);
	}
	nchanges = play(sims, &ref, nsteps, seed);
	for (unsigned mode = 0; mode < NMODES; mode++)
		lambda_sim_release(&sims[mode]);
	reference_release(&ref);
	lambda_map_release(&map);
	buf_release(&text);
	return nchanges;
}

static void small_mines_are_as_the_reference(void **state)
{
	unsigned nchanges = 0;

	(void)state;
	for (unsigned seed = 1; seed <= NSMALL; seed++) {
		random_state = seed;
		nchanges += play_random(seed, 3 + draw(30), 3 + draw(20),
					SMALL_STEPS);
	}
	/* The tight mode at least must have gone to and fro. */
	assert_true(nchanges > 2 * NSMALL);
}

static void wide_mines_are_as_the_reference(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= NWIDE; seed++) {
		random_state = 1000 + seed;
		(void)play_random(seed, 100 + draw(150), 100 + draw(100),
				  WIDE_STEPS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_mines_are_as_the_reference),
		cmocka_unit_test(wide_mines_are_as_the_reference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
