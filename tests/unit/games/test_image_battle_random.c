/* SPDX-License-Identifier: MIT */
/*
 * random battles, whose every line is foretold by a plain model of the rules;
 * and their replays
 */
#include "tests/unit/games/battle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/games/python27/random.h"

enum { BATTLES = 150, CALLS_MAX = 4000, ENTRIES_MAX = 40 };

struct entry {
	long x, y;
	bool is_pair;
};

/* The rules once more, on colours instead of cells, without haste. */
struct model {
	uint32_t pixels[SIDE][SIDE];
	uint32_t colours[GAME_SEATS_MAX];
	struct py27_random random;
	uint32_t order[GAME_SEATS_MAX];
	unsigned seats, position, batch;
	int64_t turn, maxturns, accepted;
	bool is_out[GAME_SEATS_MAX];     /* suspended or gone */
	bool has_placed[GAME_SEATS_MAX]; /* this turn */
	bool is_late[GAME_SEATS_MAX];    /* this turn */
	unsigned faults[GAME_SEATS_MAX];
	bool is_over;
	struct buf expected[GAME_SEATS_MAX]; /* of the current call */
};

struct call {
	unsigned seat;
	enum game_input kind;
	char text[1000];
};

static uint32_t noise_state;

static unsigned noise(unsigned below)
{
	noise_state = noise_state * 1664525u + 1013904223u;
	return (noise_state >> 12) % below;
}

static void model_tell(struct model *model, unsigned seat, const char *text)
{
	if (!model->is_out[seat])
		buf_add_text(&model->expected[seat], text);
}

static void model_drop(struct model *model, unsigned seat)
{
	model_tell(model, seat, "exit\n");
	model->is_out[seat] = true;
}

static void model_turn(struct model *model)
{
	model->turn++;
	model->position = 0;
	py27_random_shuffle(&model->random, model->order, model->seats);
	memset(model->has_placed, 0, sizeof(model->has_placed));
	memset(model->is_late, 0, sizeof(model->is_late));
}

/* Whether SEAT's turn came to nothing that keeps the battle alive. */
static bool model_is_null(const struct model *model, unsigned seat)
{
	if (model->has_placed[seat])
		return false;
	return model->is_out[seat] || !model->is_late[seat];
}

/* Go on to whom the judge would ask next. */
static void model_ask(struct model *model)
{
	unsigned nplaying = 0;

	for (unsigned i = 0; i < model->seats; i++)
		nplaying += !model->is_out[i];
	while (nplaying > 0) {
		unsigned nnull = 0;

		for (; model->position < model->seats; model->position++) {
			unsigned seat = model->order[model->position];

			if (!model->is_out[seat]) {
				model_tell(model, seat, "pick pixels\n");
				return;
			}
		}
		for (unsigned i = 0; i < model->seats; i++)
			nnull += model_is_null(model, i);
		if (nnull == model->seats || model->turn == model->maxturns)
			break;
		model_turn(model);
	}
	for (unsigned i = 0; i < model->seats; i++)
		model_tell(model, i, "exit\n");
	model->is_over = true;
}

static bool model_place(struct model *model, unsigned seat,
			const struct entry *entry)
{
	static const int steps[4][2] = {
		{ -1, 0 }, { 1, 0 }, { 0, -1 }, { 0, 1 }
	};

	if (!entry->is_pair || entry->x < 0 || entry->x >= SIDE ||
	    entry->y < 0 || entry->y >= SIDE ||
	    model->pixels[entry->y][entry->x] != 0xffffff)
		return false;
	for (int i = 0; i < 4; i++) {
		long x = entry->x + steps[i][0];
		long y = entry->y + steps[i][1];

		if (x >= 0 && x < SIDE && y >= 0 && y < SIDE &&
		    model->pixels[y][x] == model->colours[seat]) {
			model->pixels[entry->y][entry->x] =
				model->colours[seat];
			return true;
		}
	}
	return false;
}

static void model_answer(struct model *model, unsigned seat,
			 const struct entry *entries, unsigned count)
{
	uint32_t rgb = model->colours[seat];
	struct buf line = BUF_INIT(10000);
	unsigned taken = 0;

	buf_add_format(&line, "colour (%u,%u,%u) chose", rgb >> 16,
		       rgb >> 8 & 255, rgb & 255);
	for (unsigned i = 0; i < count && i < model->batch; i++) {
		if (!model_place(model, seat, &entries[i]))
			continue;
		taken++;
		buf_add_format(&line, " %ld,%ld", entries[i].x, entries[i].y);
	}
	buf_add_char(&line, '\n');
	for (unsigned i = 0; i < model->seats && taken > 0; i++)
		model_tell(model, i, line.data);
	model->accepted += taken;
	model->has_placed[seat] = taken > 0;
	buf_release(&line);
}

static void model_feed(struct model *model, const struct call *call,
		       const struct entry *entries, unsigned count)
{
	unsigned seat = model->order[model->position];

	for (unsigned i = 0; i < model->seats; i++)
		buf_clear(&model->expected[i]);
	if (call->kind == GAME_GONE) {
		model_drop(model, call->seat);
		if (call->seat != seat)
			return;
	} else if (call->kind == GAME_LATE) {
		model->is_late[seat] = true;
		if (++model->faults[seat] == 5)
			model_drop(model, seat);
	} else {
		model_answer(model, seat, entries, count);
	}
	model->position++;
	model_ask(model);
}

static void model_start(struct model *model, const struct battle *battle)
{
	struct game_grid grid;

	*model = (struct model){ 0 };
	assert_int_equal(GAME->grid(battle->state, &grid), 0);
	for (unsigned i = 0; i < SIDE * SIDE; i++)
		model->pixels[i / SIDE][i % SIDE] = grid.cells[i] & 0xffffff;
	game_grid_release(&grid);
	model->seats = battle->setup.seats;
	model->batch = (unsigned)battle->setup.params[0];
	model->maxturns = battle->setup.params[1];
	assert_int_equal(py27_random_init(&model->random, battle->setup.seed),
			 0);
	for (unsigned i = 0; i < model->seats; i++) {
		const uint8_t *rgb = battle->view.colours[i];

		model->order[i] = i;
		model->colours[i] =
			(uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2];
		buf_init(&model->expected[i], OUT_BYTES);
	}
	model_turn(model);
	model_ask(model);
}

static void model_finish(struct model *model)
{
	for (unsigned i = 0; i < model->seats; i++)
		buf_release(&model->expected[i]);
}

/* A pixel beside one of SEAT's own, if chance finds one. */
static void aim(const struct model *model, unsigned seat, struct entry *entry)
{
	for (int tries = 0; tries < 300; tries++) {
		entry->x = noise(SIDE);
		entry->y = noise(SIDE);
		if (model->pixels[entry->y][entry->x] == model->colours[seat])
			break;
	}
	if (noise(2) == 0)
		entry->x += noise(2) == 0 ? -1 : 1;
	else
		entry->y += noise(2) == 0 ? -1 : 1;
}

static void write_number(struct buf *out, long value)
{
	static const char *const signs[] = { "", "", "", "+", "0", "+00" };

	if (value >= 0)
		buf_add_text(out, signs[noise(COUNT_OF(signs))]);
	buf_add_i64(out, value);
}

/* An answer of SEAT's, good and bad, and what it means. */
static unsigned make_answer(const struct model *model, unsigned seat,
			    struct entry *entries, struct call *call)
{
	static const char *const junk[] = { "x",   "1", "1,2,3", ",",
					    "1;1", "-", "+,+",   "3,4x" };
	static const char *const gaps[] = { " ", "  ", "\t", "\v", "\f\r" };
	struct buf out = BUF_INIT(sizeof(call->text) - 1);
	unsigned count = noise(4) == 0 ? 0 : noise(ENTRIES_MAX);

	for (unsigned i = 0; i < count; i++) {
		unsigned kind = noise(20);

		buf_add_text(&out, gaps[noise(COUNT_OF(gaps))]);
		entries[i].is_pair = kind != 0;
		if (kind == 0) {
			buf_add_text(&out, junk[noise(COUNT_OF(junk))]);
			continue;
		}
		if (kind < 3) {
			entries[i].x = (long)noise(60) - 20;
			entries[i].y = (long)noise(60) - 20;
		} else {
			aim(model, seat, &entries[i]);
		}
		write_number(&out, entries[i].x);
		buf_add_char(&out, ',');
		write_number(&out, entries[i].y);
	}
	assert_false(out.is_failed);
	(void)snprintf(call->text, sizeof(call->text), "%s", buf_text(&out));
	buf_release(&out);
	return count;
}

static unsigned make_call(const struct model *model, struct entry *entries,
			  struct call *call)
{
	unsigned chance = noise(400);
	unsigned count = 0;

	call->seat = model->order[model->position];
	call->text[0] = '\0';
	call->kind = GAME_REPLY;
	if (chance == 0) {
		call->kind = GAME_GONE;
		call->seat = noise(model->seats);
		if (model->is_out[call->seat])
			call->seat = model->order[model->position];
	} else if (chance < 12) {
		call->kind = GAME_LATE;
	} else {
		count = make_answer(model, call->seat, entries, call);
	}
	return count;
}

static void assert_as_foretold(const struct model *model,
			       const struct battle *battle)
{
	for (unsigned i = 0; i < model->seats; i++)
		assert_string_equal(lines(battle, i),
				    buf_text(&model->expected[i]));
	assert_int_equal(battle->out.is_over, model->is_over);
	assert_int_equal(battle->view.turn, model->turn);
	assert_int_equal(battle->view.accepted, model->accepted);
	for (unsigned i = 0; i < model->seats; i++)
		assert_int_equal(battle->view.order[i], model->order[i]);
}

static void assert_same_picture(const struct model *model,
				const struct battle *battle)
{
	struct game_score scores[GAME_SEATS_MAX];
	int64_t points[GAME_SEATS_MAX] = { 0 };
	struct game_grid grid;
	int64_t added = 0;

	GAME->result(battle->state, scores);
	assert_int_equal(GAME->grid(battle->state, &grid), 0);
	for (unsigned i = 0; i < SIDE * SIDE; i++) {
		uint32_t rgb = model->pixels[i / SIDE][i % SIDE];

		assert_int_equal(grid.cells[i] & 0xffffff, rgb);
		for (unsigned k = 0; k < model->seats; k++)
			points[k] += rgb == model->colours[k];
	}
	for (unsigned k = 0; k < model->seats; k++) {
		assert_int_equal(scores[k].points, points[k]);
		assert_true(scores[k].columns[0] == (double)points[k]);
		added += (int64_t)scores[k].columns[1];
	}
	assert_int_equal(added, model->accepted);
	game_grid_release(&grid);
}

/* The same calls once more: the same lines, the same state. */
static void replay(const struct battle *battle, const struct call *calls,
		   unsigned ncalls, const struct buf *sent)
{
	struct buf again = BUF_INIT(1 << 28);
	struct buf before = BUF_INIT(OUT_BYTES);
	struct buf after = BUF_INIT(OUT_BYTES);
	struct battle second = { .setup = battle->setup, .map = battle->map };
	struct game_error error;

	assert_int_equal(
		GAME->create(&second.state, second.map, &second.setup, &error),
		0);
	game_out_init(&second.out, OUT_BYTES);
	(void)GAME->begin(second.state, &second.out);
	for (unsigned i = 0; i < ncalls; i++) {
		feed(&second, calls[i].seat, calls[i].kind, calls[i].text,
		     strlen(calls[i].text));
		for (unsigned k = 0; k < second.setup.seats; k++)
			buf_add_text(&again, lines(&second, k));
	}
	assert_int_equal(again.len, sent->len);
	assert_memory_equal(buf_text(&again), buf_text(sent), sent->len);
	GAME->dump(battle->state, &before);
	GAME->dump(second.state, &after);
	assert_string_equal(buf_text(&before), buf_text(&after));
	GAME->free(second.state);
	game_out_release(&second.out);
	buf_release(&again);
	buf_release(&before);
	buf_release(&after);
}

/* Walls, strangers' colours and one pixel a seat; now and then a twin. */
static void make_arena(struct dot dots[], size_t ndots, unsigned seats,
		       char *options, size_t size)
{
	size_t used = (size_t)snprintf(options, size, "colours=");

	for (size_t i = 0; i < ndots; i++)
		dots[i] = (struct dot){ noise(SIDE), noise(SIDE),
					noise(4) == 0 ? 0x445566 : 0 };
	for (unsigned i = 0; i < seats; i++) {
		uint32_t rgb = 0x100000 * (i + 1) + i;

		if (noise(12) == 0)
			rgb = noise(3) == 0 ? 0xffffff : 0x100000;
		dots[ndots - 1 - i].rgb = rgb;
		used += (size_t)snprintf(options + used, size - used,
					 "%s%u,%u,%u", i == 0 ? "" : ";",
					 rgb >> 16, rgb >> 8 & 255, rgb & 255);
	}
}

static void play_one(unsigned number, struct call *calls)
{
	struct dot dots[60];
	char options[200], seed[24];
	struct battle battle = { 0 };
	struct model *model = xcalloc(1, sizeof(*model));
	struct buf sent = BUF_INIT(1 << 28);
	unsigned seats = number % 8 + 1;
	unsigned ncalls = 0;

	noise_state = number;
	make_arena(dots, COUNT_OF(dots), seats, options, sizeof(options));
	(void)snprintf(seed, sizeof(seed), "%u", number);
	battle.setup.seed = seed;
	battle.setup.params[0] = 1 + noise(30);
	battle.setup.params[1] = 1 + noise(300);
	start(&battle, dots, COUNT_OF(dots), options, seats);
	model_start(model, &battle);
	assert_as_foretold(model, &battle);
	while (!model->is_over) {
		struct entry entries[ENTRIES_MAX];
		struct call *call = &calls[ncalls++];
		unsigned count = make_call(model, entries, call);

		assert_true(ncalls < CALLS_MAX);
		feed(&battle, call->seat, call->kind, call->text,
		     strlen(call->text));
		model_feed(model, call, entries, count);
		assert_as_foretold(model, &battle);
		for (unsigned i = 0; i < seats; i++)
			buf_add_text(&sent, lines(&battle, i));
	}
	assert_same_picture(model, &battle);
	replay(&battle, calls, ncalls, &sent);
	buf_release(&sent);
	model_finish(model);
	free(model);
	finish(&battle);
}

static void random_battles_go_as_the_rules_foretell(void **state)
{
	struct call *calls = malloc(CALLS_MAX * sizeof(*calls));

	(void)state;
	for (unsigned number = 1; number <= BATTLES; number++)
		play_one(number, calls);
	free(calls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_battles_go_as_the_rules_foretell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
