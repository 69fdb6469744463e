/* SPDX-License-Identifier: MIT */
/*
 * test_rabbit_random.c - random games by seed on walled maps, each turn
 * checked against the rules written down plainly; and replayed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/games/python27/random.h"
#include "server/games/rabbit_runner.h"
#include "tests/unit/unit.h"

enum { SIDE_MAX = 32, CELLS = SIDE_MAX * SIDE_MAX, TURNS = 60 };

static const struct game *const game = &game_rabbit_runner;
static const int steps[4][2] = { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } };

/* The board as the lines tell it; one byte a cell. */
struct model {
	int width, height;
	char map[CELLS];
	bool rabbits[CELLS];
	bool crushers[CELLS];
	int64_t score;
	struct py27_random random;
};

static int cell_at(int x, int y)
{
	assert_true(x >= 0 && x < SIDE_MAX && y >= 0 && y < SIDE_MAX);
	return y * SIDE_MAX + x;
}

/* A walled map of random size and density; its text is the caller's. */
static char *make_map(struct model *model)
{
	char *text = malloc(CELLS + SIDE_MAX + 1);
	char *at = text;
	uint32_t density = py27_random_index(&model->random, 40);

	assert_non_null(text);
	model->width = (int)py27_random_int(&model->random, 5, SIDE_MAX);
	model->height = (int)py27_random_int(&model->random, 5, SIDE_MAX);
	for (int y = 0; y < model->height; y++) {
		for (int x = 0; x < model->width; x++) {
			uint32_t draw = py27_random_index(&model->random, 100);
			char c = '.';

			if (x == 0 || y == 0 || x == model->width - 1 ||
			    y == model->height - 1 || draw < density)
				c = '#';
			else if (draw < density + 5)
				c = 'c';
			else if (draw < density + 15)
				c = 's';
			else if (draw < density + 18)
				c = 'e';
			model->map[cell_at(x, y)] = c;
			model->crushers[cell_at(x, y)] = c == 'c';
			*at++ = c;
		}
		*at++ = '\n';
	}
	*at = '\0';
	return text;
}

/* The distance to the first crusher or rabbit in sight that way; 0: none. */
static int look(const struct model *model, const bool *wanted, int x, int y,
		int direction)
{
	for (int i = 1;; i++) {
		int at = cell_at(x + steps[direction][0] * i,
				 y + steps[direction][1] * i);

		if (wanted[at])
			return i;
		if (model->map[at] == '#' || model->crushers[at])
			return 0;
	}
}

static void spawn(struct model *model)
{
	for (int y = 0; y < model->height; y++) {
		for (int x = 0; x < model->width; x++) {
			int at = cell_at(x, y);
			bool is_seen = model->crushers[at];

			for (int d = 0; d < 4 && model->map[at] == 's'; d++)
				is_seen =
					is_seen || look(model, model->crushers,
							x, y, d) > 0;
			if (model->map[at] == 's' && !is_seen)
				model->rabbits[at] = true;
		}
	}
}

/* The crusher on X,Y went in DIRECTION: towards a nearest rabbit, if any. */
static void check_hunt(const struct model *before, int x, int y, int direction)
{
	int nearest = 0;
	int taken = look(before, before->rabbits, x, y, direction);

	for (int d = 0; d < 4; d++) {
		int distance = look(before, before->rabbits, x, y, d);

		if (distance > 0 && (nearest == 0 || distance < nearest))
			nearest = distance;
	}
	assert_int_equal(taken, nearest);
}

/* The crusher line, from behind its word; moves the model's crushers. */
static void check_crushers(struct model *model, char *line)
{
	struct model before = *model;
	char *save;

	for (char *part = strtok_r(line, ";", &save); part != NULL;
	     part = strtok_r(NULL, ";", &save)) {
		int x, y, to_x, to_y;
		char word[16];
		int direction = 0;

		if (strcmp(part, " ") == 0)
			continue;
		assert_int_equal(sscanf(part, " %d,%d %15s %d,%d", &x, &y, word,
					&to_x, &to_y),
				 5);
		while (direction < 4 && (x + steps[direction][0] != to_x ||
					 y + steps[direction][1] != to_y))
			direction++;
		assert_true(direction < 4);
		assert_true(model->crushers[cell_at(x, y)]);
		assert_false(model->crushers[cell_at(to_x, to_y)]);
		assert_true(model->map[cell_at(to_x, to_y)] != '#');
		check_hunt(&before, x, y, direction);
		assert_string_equal(word, model->rabbits[cell_at(to_x, to_y)]
						  ? "crushes"
						  : "movesto");
		model->crushers[cell_at(x, y)] = false;
		model->crushers[cell_at(to_x, to_y)] = true;
		model->rabbits[cell_at(to_x, to_y)] = false;
	}
}

/* The rabbits line names each rabbit of the model once. */
static void check_rabbits(const struct model *model, char *line)
{
	bool told[CELLS] = { false };
	char *save;

	for (char *word = strtok_r(line, " ", &save); word != NULL;
	     word = strtok_r(NULL, " ", &save)) {
		int x, y;

		assert_int_equal(sscanf(word, "%d,%d", &x, &y), 2);
		assert_false(told[cell_at(x, y)]);
		told[cell_at(x, y)] = true;
	}
	assert_memory_equal(told, model->rabbits, sizeof(told));
}

static void check_turn(struct model *model, const char *lines, int turns_left)
{
	char *text = strdup(lines);
	char *crusher = strchr(text, '\n');
	char *rabbits;
	int left;

	assert_non_null(crusher);
	rabbits = strchr(crusher + 1, '\n');
	assert_non_null(rabbits);
	assert_int_equal(rabbits[strlen(rabbits) - 1], '\n');
	rabbits[strlen(rabbits) - 1] = '\0';
	*rabbits++ = '\0';
	assert_int_equal(sscanf(text, "turnsleft %d", &left), 1);
	assert_int_equal(left, turns_left);
	assert_memory_equal(crusher + 1, "crusher ", 8);
	assert_memory_equal(rabbits, "rabbits", 7);
	spawn(model);
	check_crushers(model, crusher + 8);
	check_rabbits(model, rabbits + 7);
	free(text);
}

/*
 * Append moves in random order, right and wrong ones, and make them in the
 * model.
 */
static void make_reply(struct model *model, struct buf *reply)
{
	bool arrived[CELLS] = { false };
	uint32_t tries = py27_random_index(&model->random, 400);

	buf_add_text(reply, "move");
	for (uint32_t i = 0; i < tries; i++) {
		int x = 1 + (int)py27_random_index(&model->random,
						   (uint32_t)model->width - 2);
		int y = 1 + (int)py27_random_index(&model->random,
						   (uint32_t)model->height - 2);
		uint32_t d = py27_random_index(&model->random, 4);
		int to_x = x + steps[d][0];
		int to_y = y + steps[d][1];
		int at = cell_at(x, y);
		int to = cell_at(to_x, to_y);

		buf_add_format(reply, " %d,%d to %d,%d;", x, y, to_x, to_y);
		if (!model->rabbits[at] || model->map[to] == '#')
			continue;
		model->rabbits[at] = false;
		if (model->crushers[to])
			continue;
		if (model->map[to] == 'e')
			model->score++;
		else
			arrived[to] = !arrived[to];
	}
	for (int i = 0; i < CELLS; i++)
		model->rabbits[i] = model->rabbits[i] != arrived[i];
}

static void create(struct game_state **ret, const struct game_map *map)
{
	struct game_setup setup = { .seed = "12345678901234567890",
				    .bot_seed = "1",
				    .seats = 1,
				    .params = { TURNS } };
	struct game_error error;

	assert_int_equal(game->create(ret, map, &setup, &error), 0);
	assert_true(game->cost(map, &setup) > 2500);
}

/* Feed the same replies to a fresh state: same lines, same dump. */
static void check_replay(const struct game_map *map, const struct buf *replies,
			 const struct buf *sent, const struct game_state *ended)
{
	struct buf again = BUF_INIT(1 << 24);
	struct buf expected = BUF_INIT(1 << 20);
	struct buf dump = BUF_INIT(1 << 20);
	const char *at = buf_text(replies);
	struct game_state *state;
	struct game_out out;

	create(&state, map);
	game_out_init(&out, 1 << 20);
	(void)game->begin(state, &out);
	while (!out.is_over) {
		size_t len = strcspn(at, "\n");

		buf_add(&again, buf_text(&out.lines[0]), out.lines[0].len);
		game_out_clear(&out);
		(void)game->feed(state, 0, GAME_REPLY, at, len, &out);
		at += len + 1;
	}
	assert_string_equal(buf_text(&again), buf_text(sent));
	game->dump(ended, &expected);
	game->dump(state, &dump);
	assert_string_equal(buf_text(&dump), buf_text(&expected));
	game_out_release(&out);
	game->free(state);
	buf_release(&again);
	buf_release(&expected);
	buf_release(&dump);
}

static int64_t play(const char *seed)
{
	struct model *model = calloc(1, sizeof(*model));
	struct buf replies = BUF_INIT(1 << 24);
	struct buf sent = BUF_INIT(1 << 24);
	struct game_source source = { .name = "x.map", .options = "" };
	struct game_error error;
	struct game_map *map;
	struct game_state *state;
	struct game_out out;
	struct game_score score;
	char *text;

	assert_non_null(model);
	assert_int_equal(py27_random_init(&model->random, seed), 0);
	text = make_map(model);
	source.data = text;
	source.len = strlen(text);
	assert_int_equal(game->map_new(&map, &source, &error), 0);
	create(&state, map);
	game_out_init(&out, 1 << 20);
	(void)game->begin(state, &out);
	for (int left = TURNS; left > 0; left--) {
		size_t from = replies.len;

		assert_false(out.is_over);
		check_turn(model, buf_text(&out.lines[0]), left);
		buf_add(&sent, buf_text(&out.lines[0]), out.lines[0].len);
		make_reply(model, &replies);
		game_out_clear(&out);
		(void)game->feed(state, 0, GAME_REPLY, replies.data + from,
				 replies.len - from, &out);
		buf_add_char(&replies, '\n');
		game->result(state, &score);
		assert_int_equal(score.points, model->score);
	}
	assert_true(out.is_over);
	check_replay(map, &replies, &sent, state);
	game_out_release(&out);
	game->free(state);
	game->map_free(map);
	buf_release(&replies);
	buf_release(&sent);
	free(text);
	free(model);
	return score.points;
}

static void keeps_the_rules_in_random_games(void **state)
{
	int64_t saved = 0;

	(void)state;
	for (int i = 0; i < 40; i++) {
		char seed[16];

		(void)snprintf(seed, sizeof(seed), "%d", i);
		saved += play(seed);
	}
	/* the games were worth playing */
	assert_true(saved > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_the_rules_in_random_games),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
