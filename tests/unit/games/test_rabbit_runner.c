/* SPDX-License-Identifier: MIT */
#include "server/games/rabbit_runner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/buffer.h"
#include "tests/unit/unit.h"

enum { OUT_BYTES = 1 << 20 };

static const struct game *const game = &game_rabbit_runner;

struct fixture {
	struct game_map *map;
	struct game_state *state;
	struct game_out out;
};

static struct game_map *read_map(const char *text)
{
	struct game_source source = { .name = "x.map",
				      .data = text,
				      .len = strlen(text),
				      .options = "" };
	struct game_error error;
	struct game_map *map;

	assert_int_equal(game->map_new(&map, &source, &error), 0);
	return map;
}

static void start(struct fixture *f, const char *text, int64_t turns,
		  const char *seed)
{
	struct game_setup setup = { .seed = seed,
				    .bot_seed = seed,
				    .seats = 1,
				    .params = { turns },
				    .limit_ms = 500,
				    .grace_ms = 0 };
	struct game_error error;

	f->map = read_map(text);
	assert_int_equal(game->create(&f->state, f->map, &setup, &error), 0);
	game_out_init(&f->out, OUT_BYTES);
	assert_int_equal(game->begin(f->state, &f->out), GAME_DONE);
}

static void finish(struct fixture *f)
{
	game_out_release(&f->out);
	game->free(f->state);
	game->map_free(f->map);
}

static void feed(struct fixture *f, enum game_input kind, const char *text)
{
	game_out_clear(&f->out);
	assert_int_equal(
		game->feed(f->state, 0, kind, text, strlen(text), &f->out),
		GAME_DONE);
}

static const char *lines(const struct fixture *f)
{
	return buf_text(&f->out.lines[0]);
}

static int64_t score(const struct fixture *f)
{
	struct game_score result;

	game->result(f->state, &result);
	assert_int_equal(result.rank, 1);
	assert_true(result.score == (double)result.points);
	return result.points;
}

/* What dump() has after NAME and a blank, in the caller's hands. */
static char *dumped(const struct fixture *f, const char *name)
{
	struct buf text = BUF_INIT(OUT_BYTES);
	char *line;
	char *value;

	buf_add_char(&text, '\n');
	game->dump(f->state, &text);
	line = strstr(buf_text(&text), name);
	while (line != NULL && line[-1] != '\n')
		line = strstr(line + 1, name);
	assert_non_null(line);
	line += strlen(name);
	line += *line == ' ';
	value = strndup(line, strcspn(line, "\n"));
	assert_non_null(value);
	buf_release(&text);
	return value;
}

static void assert_dumped(const struct fixture *f, const char *name,
			  const char *expected)
{
	char *value = dumped(f, name);

	assert_string_equal(value, expected);
	free(value);
}

/* One turn each; the outcomes are the original's, order included. */
static void moves_rabbits_as_the_original(void **state)
{
	static const char map[] = "#######\n"
				  "#ss.se#\n"
				  "#..s..#\n"
				  "#######\n";
	static const struct {
		const char *reply;
		int64_t score;
		const char *rabbits;
	} cases[] = {
		{ "move", 0, "3,2 1,1 2,1 4,1" },
		{ "move 4,1 to 5,1", 1, "3,2 1,1 2,1" },
		{ "move 1,1 to 2,1", 0, "3,2 4,1" },
		{ "move 1,1 to 2,1; 2,1 to 1,1", 0, "3,2 1,1 2,1 4,1" },
		{ "move 1,1 to 1,2; 2,1 to 2,2; 3,2 to 2,2", 0, "1,2 4,1" },
		{ "move 2,1 to 3,1; 4,1 to 3,1; 3,2 to 3,1", 0, "1,1 3,1" },
		{ "move 1,1 to 2,1; 2,1 to 3,1", 0, "3,2 2,1 3,1 4,1" },
		{ "move 2,1 to 3,1; 1,1 to 2,1", 0, "3,2 2,1 3,1 4,1" },
		{ "move 2,1 to 3,1; 4,1 to 3,1", 0, "3,2 1,1" },
		{ "move 1,1 to 1,2; 1,1 to 2,1", 0, "3,2 1,2 2,1 4,1" },
		{ "move 1,1 to 1,2; 1,2 to 2,2", 0, "3,2 1,2 2,1 4,1" },
		{ "move 1,1 to 0,1", 0, "3,2 1,1 2,1 4,1" },
		{ "move 1,1 to 2,2", 0, "3,2 1,1 2,1 4,1" },
		{ "move 1,1 to 3,1", 0, "3,2 1,1 2,1 4,1" },
		{ "move 1,1 to 1,1", 0, "3,2 1,1 2,1 4,1" },
		{ "move -1,1 to 1,2", 0, "3,2 1,2 2,1 4,1" },
		{ "move 5,2 to 5,1", 0, "3,2 1,1 2,1 4,1" },
		{ "move 4,1 to 5,1; 4,1 to 5,1", 1, "3,2 1,1 2,1" },
		{ "move 01,1 to 001,02", 0, "3,2 1,2 2,1 4,1" },
		{ "1,1 to 1,2 3,2 to 4,2", 0, "2,1 1,2 4,2 4,1" },
		{ "move 1,1 to 18446744073709551617,1", 0, "3,2 1,1 2,1 4,1" },
		{ "move 3,2 to 4,2; 4,1 to 4,2; 2,1 to 2,2", 0, "2,2 1,1" },
		{ "move 2,1 to 3,1; 4,1 to 3,1; 3,2 to 3,1; 1,1 to 2,1", 0,
		  "2,1 3,1" },
		{ "move 1,1 to 1,2; 2,1 to 1,1; 3,2 to 3,1; 4,1 to 4,2", 0,
		  "1,1 3,1 1,2 4,2" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct fixture f;

		start(&f, map, 1, "1");
		assert_string_equal(lines(&f), "turnsleft 1\ncrusher \n"
					       "rabbits 3,2 1,1 2,1 4,1\n");
		assert_int_equal(f.out.asked, 1);
		assert_int_equal(f.out.limit_ms[0], 500);
		feed(&f, GAME_REPLY, cases[i].reply);
		assert_true(f.out.is_over);
		assert_int_equal(f.out.ended, 1);
		assert_int_equal(f.out.reason[0], GAME_FINISHED);
		assert_int_equal(f.out.asked, 0);
		assert_string_equal(lines(&f), "");
		assert_int_equal(score(&f), cases[i].score);
		assert_dumped(&f, "rabbits", cases[i].rabbits);
		finish(&f);
	}
}

static void tells_what_it_ignores(void **state)
{
	static const struct {
		const char *reply, *detail;
	} cases[] = {
		{ "move 1,1 to 1,2", NULL },
		{ "move", NULL },
		{ "", NULL },
		{ " move \t", NULL },
		{ "move along", "no move in \"move along\"" },
		{ "hello i am garbage", "no move in \"hello i am garbage\"" },
		{ "a\tb\x1b", "no move in \"a b \"" },
		{ "caf\xc3\xa9 \xf0\x9f\x90\xb0 ready",
		  "no move in \"caf\xc3\xa9 \xf0\x9f\x90\xb0 ready\"" },
		{ "del\x7f and csi\xc2\x9b.", "no move in \"del  and csi .\"" },
		/* half a pair, and what is right beside such halves */
		{ "a\xed\xa0\x80z \xed\x9f\xbf \xee\x80\x80",
		  "no move in \"a?z \xed\x9f\xbf \xee\x80\x80\"" },
		{ "move 1,1 to (1,2)", "no move in \"move 1,1 to (1,2)\"" },
		/* 59 bytes and one of two, which is not cut in the middle */
		{ "01234567890123456789012345678901234567890123456789012345678"
		  "\xc3\xa9!",
		  "no move in \"012345678901234567890123456789012345678901234567"
		  "89012345678...\"" },
		{ "move 2,2 to 2,1", "no rabbit there: 2,2 to 2,1" },
		{ "move 1,1\tto\v0,1", "into a wall: 1,1 to 0,1" },
		{ "1,1 to 1,2; 2,1 to 3,2; 9,9 to 9,8",
		  "no single step: 2,1 to 3,2" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct fixture f;

		start(&f, "#######\n#ss.se#\n#..s..#\n#######\n", 9, "1");
		feed(&f, GAME_REPLY, cases[i].reply);
		assert_int_equal(f.out.invalid, cases[i].detail != NULL);
		if (cases[i].detail != NULL)
			assert_string_equal(f.out.detail[0], cases[i].detail);
		assert_false(f.out.is_over);
		finish(&f);
	}
}

/* No wall: the rabbit leaves the map and comes back to the exit. */
static void walks_off_the_map_and_back(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, "s.e", 9, "1");
	feed(&f, GAME_REPLY, "0,0 to 0,1");
	feed(&f, GAME_REPLY, "0,1 to 1,1; 0,0 to 0,1");
	feed(&f, GAME_REPLY, "1,1 to 2,1");
	feed(&f, GAME_REPLY, "2,1 to 3,1");
	feed(&f, GAME_REPLY, "3,1 to 3,0");
	feed(&f, GAME_REPLY, "3,0 to 2,0");
	assert_int_equal(score(&f), 1);
	assert_string_equal(lines(&f),
			    "turnsleft 3\ncrusher \nrabbits 0,0 0,1\n");
	finish(&f);
}

static void ends_where_the_original_stops(void **state)
{
	static const char big[] =
		"9999999999999999999999999999999999999999999999999999999999999";
	static const struct {
		enum game_input kind;
		const char *reply;
		enum game_reason reason;
		int64_t score;
		const char *detail;
	} cases[] = {
		{ GAME_LATE, "", GAME_TIMED_OUT, 0, NULL },
		{ GAME_GONE, "", GAME_LEFT, 0, NULL },
		{ GAME_REPLY, "4,1 to 5,1 \xff", GAME_INVALID, 0,
		  "no UTF-8 from byte 12 on" },
		{ GAME_REPLY, "4,1 to 5,1; @,1 to 1,2", GAME_INVALID, 1,
		  "a number past 1.8e308: 999" },
		{ GAME_REPLY, "9,9 to 9,8; @,1 to 1,2; 4,1 to 5,1",
		  GAME_INVALID, 0, "a number past 1.8e308: 999" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct buf reply = BUF_INIT(OUT_BYTES);
		struct game_score result;
		struct fixture f;

		/* '@' stands for 366 digits */
		for (const char *c = cases[i].reply; *c != '\0'; c++) {
			if (*c != '@')
				buf_add_char(&reply, *c);
			else
				for (int k = 0; k < 6; k++)
					buf_add_text(&reply, big);
		}
		start(&f, "#######\n#ss.se#\n#..s..#\n#######\n", 9, "1");
		feed(&f, cases[i].kind, buf_text(&reply));
		assert_true(f.out.is_over);
		assert_int_equal(f.out.ended, 1);
		assert_int_equal(f.out.reason[0], cases[i].reason);
		assert_int_equal(f.out.asked, 0);
		assert_int_equal(f.out.invalid, cases[i].detail != NULL);
		if (cases[i].detail != NULL)
			assert_memory_equal(f.out.detail[0], cases[i].detail,
					    strlen(cases[i].detail));
		game->result(f.state, &result);
		assert_int_equal(result.reason, cases[i].reason);
		assert_int_equal(result.points, cases[i].score);
		finish(&f);
		buf_release(&reply);
	}
}

static void bears_input_after_the_end(void **state)
{
	static const enum game_input kinds[] = { GAME_REPLY, GAME_LATE,
						 GAME_GONE };
	struct buf before = BUF_INIT(OUT_BYTES);
	struct buf after = BUF_INIT(OUT_BYTES);
	struct fixture f;

	(void)state;
	start(&f, "#######\n#ss.se#\n#.cs..#\n#######\n", 1, "5");
	feed(&f, GAME_REPLY, "move");
	assert_true(f.out.is_over);
	game->dump(f.state, &before);
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		feed(&f, kinds[i], "4,1 to 5,1");
		assert_int_equal(f.out.lines[0].len, 0);
		assert_int_equal(f.out.asked | f.out.ended | f.out.invalid, 0);
		assert_false(f.out.is_over);
	}
	game->dump(f.state, &after);
	assert_string_equal(buf_text(&before), buf_text(&after));
	buf_release(&before);
	buf_release(&after);
	finish(&f);
}

static void refuses_a_wrong_setup(void **state)
{
	static const struct {
		const char *seed, *bot_seed;
		unsigned seats;
		int64_t turns;
	} cases[] = {
		{ "1", "1", 0, 500 }, { "1", "1", 2, 500 },
		{ "1", "1", 1, 0 },   { "1", "1", 1, 100001 },
		{ "", "1", 1, 500 },  { "1", "x", 1, 500 },
		{ "1 ", "1", 1, 1 },
	};
	struct game_map *map = read_map("#s.e#");

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct game_setup setup = { .seed = cases[i].seed,
					    .bot_seed = cases[i].bot_seed,
					    .seats = cases[i].seats,
					    .params = { cases[i].turns } };
		struct game_error error = { "" };
		struct game_state *made = NULL;

		assert_int_equal(game->create(&made, map, &setup, &error),
				 -EINVAL);
		assert_null(made);
		assert_true(error.text[0] != '\0');
	}
	game->map_free(map);
}

static void hands_the_seed_over_as_python_prints_it(void **state)
{
	static const struct {
		const char *seed, *args;
	} cases[] = {
		{ "322", "test.map 322" },
		{ "+007", "test.map 7" },
		{ "-12", "test.map -12" },
		{ "-000", "test.map 0" },
		{ "0", "test.map 0" },
		{ "18446744073709551619", "test.map 18446744073709551619" },
	};
	struct game_map *map = read_map("#s.e#");

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct game_setup setup = { .seed = "1",
					    .bot_seed = cases[i].seed,
					    .seats = 1 };
		struct buf out = BUF_INIT(1000);

		game->args(map, &setup, 0, "test.map", &out);
		assert_string_equal(buf_text(&out), cases[i].args);
		buf_release(&out);
	}
	game->map_free(map);
}

static void admits_maps_that_make_sense(void **state)
{
	static const struct {
		const char *map;
		int rc;
	} cases[] = {
		{ "#s.e#", 0 },
		{ "#s.c#", -EINVAL },
		{ "#c.e#", -EINVAL },
		{ "", -EINVAL },
	};
	struct game_setup setup = {
		.seed = "1", .bot_seed = "1", .seats = 1, .params = { 500 }
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct game_map *map = read_map(cases[i].map);
		struct game_error error;

		assert_int_equal(game->admit(map, &setup, &error), cases[i].rc);
		game->map_free(map);
	}
}

static int admit(const char *text, int64_t turns, struct game_error *error)
{
	struct game_setup setup = {
		.seed = "1", .bot_seed = "1", .seats = 1, .params = { turns }
	};
	struct game_map *map = read_map(text);
	int rc = game->admit(map, &setup, error);

	game->map_free(map);
	return rc;
}

/* What got off the map is slow to move: a ladder's lets few robots out. */
static void admits_no_crowd_that_may_leave_the_map(void **state)
{
	static const struct {
		const char *map;
		const char *gap; /* NULL: it is closed */
	} cases[] = {
		{ "#####\n#s e#\n#####\n", NULL },
		{ "  #####\n; no row\n #s e#\n\n#####", NULL },
		/* an exit in the wall lets no rabbit out */
		{ "#####\n#s  e\n#####\n", NULL },
		/* rows of several lengths, and no floor beside their ends */
		{ "####\n#s ####\n# e   #\n#######\n##\n", NULL },
		{ "#s e#\n#####\n", "1,0" },
		{ "#####\n#s e#\n# ###\n", "1,2" },
		{ "#####\ns  e#\n#####\n", "0,1" },
		{ "#####\n#e s\n#####\n", "3,1" },
		{ "###\n#s  e#\n######\n", "3,1" },
		{ "######\n#se  #\n###\n", "3,1" },
	};
	enum { ROWS = 12, COLUMNS = 302 };
	char crowd[ROWS * (COLUMNS + 1) + 1] = "";
	struct game_error error;
	char says[80];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		/* so few do no harm */
		assert_int_equal(admit(cases[i].map, 500, &error), 0);
		if (cases[i].gap == NULL) {
			assert_int_equal(admit(cases[i].map, 100000, &error),
					 0);
			continue;
		}
		assert_int_equal(admit(cases[i].map, 2000, &error), -EINVAL);
		(void)snprintf(says, sizeof(says),
			       "the outer wall has a gap at %s, where 2000 "
			       "rabbits",
			       cases[i].gap);
		assert_memory_equal(error.text, says, strlen(says));
	}
	/* crushers go through an exit, and a wall keeps them */
	for (unsigned y = 0; y < ROWS; y++) {
		char *row = crowd + y * (COLUMNS + 1);

		memset(row, y == 0 || y == ROWS - 1 ? '#' : 'c', COLUMNS);
		row[0] = '#';
		row[COLUMNS - 1] = '#';
		row[COLUMNS] = '\n';
	}
	memcpy(crowd + COLUMNS + 1, "#se", 3);
	assert_int_equal(admit(crowd, 500, &error), 0);
	crowd[COLUMNS + 1] = 'e';
	assert_int_equal(admit(crowd, 500, &error), -EINVAL);
	assert_non_null(strstr(error.text, "an exit at 0,1, where 2998 "));
}

/* A square of SIDE with a wall around, a start on every STEP-th place. */
static char *square(unsigned side, unsigned step)
{
	char *text = malloc((size_t)side * (side + 1) + 1);
	char *to = text;

	for (unsigned y = 0; y < side; y++) {
		for (unsigned x = 0; x < side; x++) {
			bool is_wall = x == 0 || y == 0 || x == side - 1 ||
				       y == side - 1;

			*to++ = is_wall                      ? '#'
				: x == 1 && y == 1           ? 'e'
				: (y * side + x) % step == 0 ? 's'
							     : '.';
		}
		*to++ = '\n';
	}
	*to = '\0';
	return text;
}

/* A bot that brings no rabbit home must not be able to void its match. */
static void admits_no_map_whose_rabbits_outgrow_a_line(void **state)
{
	char *text = square(500, 100);
	struct game_error error;

	(void)state;
	assert_int_equal(admit(text, 40, &error), 0);
	assert_int_equal(admit(text, 1000, &error), -EINVAL);
	assert_non_null(strstr(error.text,
			       "starts in 1000 turns may leave 248004 rabbits "
			       "on the map"));
	free(text);
	/* however long it takes: they are no more than there are cells */
	text = square(300, 100);
	assert_int_equal(admit(text, 100000, &error), 0);
	free(text);
}

/* Play until the floor is full of rabbits, and see what that takes. */
static void costs_what_a_crowd_of_rabbits_takes(void **state)
{
	char *text = square(40, 15);
	struct game_setup setup = {
		.seed = "1", .bot_seed = "1", .seats = 1, .params = { 500 }
	};
	struct game_map *map = read_map(text);
	size_t crowd = game->cost(map, &setup);

	(void)state;
	setup.params[0] = 1;
	/* all 1,444 cells against the first turn's 95, 54 bytes each */
	assert_true(crowd - game->cost(map, &setup) > 1300 * 6 * 9);
	setup.params[0] = 100000;
	assert_int_equal(game->cost(map, &setup), crowd);
	game->map_free(map);
	free(text);
	/* out there they are in two sorted lists as well */
	map = read_map("#s.e#");
	setup.params[0] = 1000;
	assert_true(game->cost(map, &setup) > 1000 * (6 * 9 + 4 * 8));
	game->map_free(map);
}

/* One long row and many short ones: small file, enormous rectangle. */
static void refuses_a_rectangle_that_is_too_large(void **state)
{
	enum { SIDE = 20000 };
	char *text = malloc(SIDE * 3 + 1);
	struct game_source source = { .name = "x.map", .options = "" };
	struct game_error error = { "" };
	struct game_map *map = NULL;
	struct buf imported = BUF_INIT(OUT_BYTES);

	(void)state;
	assert_non_null(text);
	memset(text, '#', SIDE);
	for (size_t i = 0; i < SIDE; i++) {
		text[SIDE + i * 2] = '\n';
		text[SIDE + i * 2 + 1] = '#';
	}
	source.data = text;
	source.len = SIDE * 3;
	assert_int_equal(game->map_new(&map, &source, &error), -EINVAL);
	assert_non_null(strstr(error.text, "20000 x 20001"));
	assert_int_equal(game->map_import(&source, &imported, &error), -EINVAL);
	assert_int_equal(imported.len, 0);
	source.len = SIDE;
	assert_int_equal(game->map_import(&source, &imported, &error), 0);
	assert_int_equal(imported.len, SIDE);
	assert_memory_equal(imported.data, text, SIDE);
	buf_release(&imported);
	free(text);
}

static void plays_on_a_map_without_rows(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, "\n ;x\n", 2, "3");
	assert_string_equal(lines(&f), "turnsleft 2\ncrusher \nrabbits\n");
	feed(&f, GAME_REPLY, "move 0,0 to 0,1");
	assert_string_equal(lines(&f), "turnsleft 1\ncrusher \nrabbits\n");
	feed(&f, GAME_REPLY, "");
	assert_true(f.out.is_over);
	finish(&f);
}

static void paints_the_text_log(void **state)
{
	static const struct {
		unsigned x, y;
		uint32_t cell;
	} cells[] = {
		{ 0, 0, (uint32_t)'#' << 24 | 0xbebebe },
		{ 1, 1, (uint32_t)'o' << 24 | 0x0000ff },
		{ 2, 1, (uint32_t)'.' << 24 | 0xffffff },
		{ 1, 2, (uint32_t)'e' << 24 | 0xbeffbe },
		{ 2, 2, (uint32_t)'#' << 24 | 0xbebebe },
		/* the short row has ended */
		{ 3, 2, 0xffffff },
		{ 3, 4, (uint32_t)'X' << 24 | 0xff0000 },
	};
	struct game_grid grid;
	struct fixture f;

	(void)state;
	/* the crusher cannot move: both cells beside it are walls */
	start(&f, "#####\n#s..#\n#e#\n#####\n###c#\n#####", 1, "1");
	assert_int_equal(game->grid(f.state, &grid), 0);
	assert_int_equal(grid.width, 5);
	assert_int_equal(grid.height, 6);
	for (size_t i = 0; i < COUNT_OF(cells); i++)
		assert_int_equal(grid.cells[cells[i].y * 5 + cells[i].x],
				 cells[i].cell);
	game_grid_release(&grid);
	assert_null(grid.cells);
	/* once the rabbit has gone its start shows again */
	feed(&f, GAME_REPLY, "1,1 to 2,1");
	assert_int_equal(game->grid(f.state, &grid), 0);
	assert_int_equal(grid.cells[5 + 1], (uint32_t)'s' << 24 | 0xbebeff);
	assert_int_equal(grid.cells[5 + 2], (uint32_t)'o' << 24 | 0x0000ff);
	game_grid_release(&grid);
	finish(&f);
}

static void chains_seeds_as_the_controller(void **state)
{
	struct fixture f;
	unsigned first;

	(void)state;
	/* random.seed(965); random.randint(1, 1000) */
	assert_int_equal(rabbit_runner_first_seed("965", &first), 0);
	assert_int_equal(first, 230);
	assert_int_equal(rabbit_runner_first_seed("x", &first), -EINVAL);
	/* without crushers nothing is drawn: randint right after the seed */
	start(&f, "#s.e#", 1, "965");
	assert_int_equal(rabbit_runner_next_seed(f.state), 230);
	assert_int_equal(rabbit_runner_next_seed(f.state), 230);
	assert_dumped(&f, "nextseed", "230");
	assert_dumped(&f, "draws", "0");
	finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves_rabbits_as_the_original),
		cmocka_unit_test(tells_what_it_ignores),
		cmocka_unit_test(walks_off_the_map_and_back),
		cmocka_unit_test(ends_where_the_original_stops),
		cmocka_unit_test(bears_input_after_the_end),
		cmocka_unit_test(refuses_a_wrong_setup),
		cmocka_unit_test(hands_the_seed_over_as_python_prints_it),
		cmocka_unit_test(admits_maps_that_make_sense),
		cmocka_unit_test(admits_no_crowd_that_may_leave_the_map),
		cmocka_unit_test(admits_no_map_whose_rabbits_outgrow_a_line),
		cmocka_unit_test(costs_what_a_crowd_of_rabbits_takes),
		cmocka_unit_test(refuses_a_rectangle_that_is_too_large),
		cmocka_unit_test(plays_on_a_map_without_rows),
		cmocka_unit_test(paints_the_text_log),
		cmocka_unit_test(chains_seeds_as_the_controller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
