/* SPDX-License-Identifier: MIT */
#include "server/games/rabbit_sight.h"

#include <stdlib.h>
#include <string.h>

#include "server/games/python27/random.h"
#include "tests/unit/unit.h"

/* A set beside a plain array that covers the rectangle and far around it. */
enum { MARGIN = 1100, SIDE = 2600 };

struct fixture {
	struct game_map *map;
	uint64_t *words;
	struct rabbit_sight sight;
	bool *plain;
	struct py27_random random;
};

static bool *plain_at(struct fixture *f, struct py27_cell cell)
{
	return &f->plain[(size_t)(cell.y + MARGIN) * SIDE +
			 (size_t)(cell.x + MARGIN)];
}

static void start(struct fixture *f, const char *text, const char *seed)
{
	struct game_source source = { .name = "x.map",
				      .data = text,
				      .len = strlen(text),
				      .options = "" };
	struct game_error error;

	assert_int_equal(rabbit_map_new(&f->map, &source, &error), 0);
	f->words = calloc(rabbit_sight_words(f->map) + 1, sizeof(*f->words));
	f->plain = calloc((size_t)SIDE * SIDE, sizeof(*f->plain));
	assert_non_null(f->words);
	assert_non_null(f->plain);
	rabbit_sight_init(&f->sight, f->map, f->words);
	rabbit_sight_add_walls(&f->sight, f->map);
	for (int32_t y = 0; y < (int32_t)f->map->height; y++) {
		for (int32_t x = 0; x < (int32_t)f->map->width; x++) {
			struct py27_cell cell = { x, y };

			*plain_at(f, cell) = rabbit_map_is_wall(f->map, cell);
		}
	}
	assert_int_equal(py27_random_init(&f->random, seed), 0);
}

static void finish(struct fixture *f)
{
	rabbit_sight_release(&f->sight);
	rabbit_map_free(f->map);
	free(f->words);
	free(f->plain);
}

static struct py27_cell any_cell(struct fixture *f, int32_t around)
{
	int64_t x = py27_random_int(&f->random, -around,
				    (int64_t)f->map->width + around);
	int64_t y = py27_random_int(&f->random, -around,
				    (int64_t)f->map->height + around);

	return (struct py27_cell){ (int32_t)x, (int32_t)y };
}

static uint32_t plain_next(struct fixture *f, struct py27_cell from,
			   unsigned direction, uint32_t beyond)
{
	for (uint32_t i = beyond + 1; i <= RABBIT_SIGHT; i++) {
		if (*plain_at(f, rabbit_step(from, direction, i)))
			return i;
	}
	return 0;
}

static void check_from(struct fixture *f, struct py27_cell from)
{
	unsigned around = 0;

	assert_int_equal(rabbit_sight_has(&f->sight, from), *plain_at(f, from));
	for (unsigned d = 0; d < RABBIT_NDIRECTIONS; d++) {
		uint32_t beyond = 0;

		around |= (unsigned)*plain_at(f, rabbit_step(from, d, 1)) << d;
		do {
			uint32_t next =
				rabbit_sight_next(&f->sight, from, d, beyond);

			assert_int_equal(next, plain_next(f, from, d, beyond));
			beyond = next;
		} while (beyond != 0);
	}
	assert_int_equal(rabbit_sight_around(&f->sight, from), around);
}

static void change_and_check(struct fixture *f, int32_t around, int steps)
{
	for (int i = 0; i < steps; i++) {
		struct py27_cell cell = any_cell(f, around);

		if (py27_random_index(&f->random, 3) > 0) {
			rabbit_sight_add(&f->sight, cell);
			*plain_at(f, cell) = true;
		} else {
			rabbit_sight_remove(&f->sight, cell);
			*plain_at(f, cell) = false;
		}
		if (i % 8 == 0)
			check_from(f, any_cell(f, around));
	}
}

static void sees_what_a_plain_walk_sees(void **state)
{
	static const char *const maps[] = {
		"#",
		"##########\n#        #\n#    #   #\n#        #\n##########\n",
		"#  #\n\n; no row\n#\n   #       #   #\n# #",
		" ",
		"",
		"################################################################"
		"#\n#                                                              "
		"  #\n#################################################################",
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(maps); i++) {
		struct fixture f;

		start(&f, maps[i], "7");
		change_and_check(&f, 0, 200);
		change_and_check(&f, 5, 400);
		finish(&f);
	}
}

/* One row of 1104 cells and nothing else: the limit shows on both sides. */
static void sees_999_cells_and_no_further(void **state)
{
	char row[1105];
	struct fixture f;
	struct py27_cell west = { 0, 0 };
	struct py27_cell near = { 999, 0 };
	struct py27_cell far = { 1000, 0 };

	(void)state;
	memset(row, '.', sizeof(row) - 1);
	row[sizeof(row) - 1] = '\0';
	start(&f, row, "1");
	rabbit_sight_add(&f.sight, far);
	assert_int_equal(rabbit_sight_next(&f.sight, west, RABBIT_RIGHT, 0), 0);
	rabbit_sight_add(&f.sight, near);
	assert_int_equal(rabbit_sight_next(&f.sight, west, RABBIT_RIGHT, 0),
			 999);
	assert_int_equal(rabbit_sight_next(&f.sight, west, RABBIT_RIGHT, 998),
			 999);
	rabbit_sight_add(&f.sight, west);
	assert_int_equal(rabbit_sight_next(&f.sight, near, RABBIT_LEFT, 0),
			 999);
	rabbit_sight_remove(&f.sight, near);
	assert_int_equal(rabbit_sight_next(&f.sight, far, RABBIT_LEFT, 0), 0);
	/* beyond the rectangle, and from there into it */
	near = (struct py27_cell){ -1, 0 };
	far = (struct py27_cell){ -999, 0 };
	rabbit_sight_remove(&f.sight, west);
	rabbit_sight_add(&f.sight, near);
	assert_int_equal(rabbit_sight_next(&f.sight, west, RABBIT_LEFT, 0), 1);
	rabbit_sight_remove(&f.sight, near);
	rabbit_sight_add(&f.sight, west);
	assert_int_equal(rabbit_sight_next(&f.sight, far, RABBIT_RIGHT, 0),
			 999);
	far.x--;
	assert_int_equal(rabbit_sight_next(&f.sight, far, RABBIT_RIGHT, 0), 0);
	finish(&f);
}

static void keeps_far_cells_of_both_signs(void **state)
{
	struct fixture f;
	struct py27_cell cells[] = { { -100000, -100000 },
				     { 100000, -100000 },
				     { -100000, 100000 },
				     { 33000000, 0 } };

	(void)state;
	start(&f, "#e#", "1");
	for (size_t i = 0; i < COUNT_OF(cells); i++) {
		rabbit_sight_add(&f.sight, cells[i]);
		rabbit_sight_add(&f.sight, cells[i]);
	}
	assert_int_equal(f.sight.nfar, COUNT_OF(cells));
	for (size_t i = 0; i < COUNT_OF(cells); i++) {
		struct py27_cell beside = cells[i];

		assert_true(rabbit_sight_has(&f.sight, cells[i]));
		beside.x -= 3;
		assert_int_equal(
			rabbit_sight_next(&f.sight, beside, RABBIT_RIGHT, 0),
			3);
		rabbit_sight_remove(&f.sight, cells[i]);
		rabbit_sight_remove(&f.sight, cells[i]);
		assert_false(rabbit_sight_has(&f.sight, cells[i]));
	}
	assert_int_equal(f.sight.nfar, 0);
	finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sees_what_a_plain_walk_sees),
		cmocka_unit_test(sees_999_cells_and_no_further),
		cmocka_unit_test(keeps_far_cells_of_both_signs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
