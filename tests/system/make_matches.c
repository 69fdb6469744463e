/* SPDX-License-Identifier: MIT */
/*
 * make_matches.c - fill a database with matches, for the tests of what reads
 * it: the real engines under the real judge, on fake time, with programs that
 * say random things, late, too early or not at all.
 *
 *	make-matches DATABASE LADDER COUNT SEED BOT...
 *
 * A match's seed is SEED, SEED + 1, ...; every seventh one is void. Prints
 * each match's id.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/clock.h"
#include "server/match/match.h"
#include "server/match/record.h"
#include "server/store/store.h"

enum {
	MS = 1000,
	SIDE = 20,
	STEPS_MAX = 100000,
	VOID_STEP = 12,
	VOID_EACH = 7,
	VOID_AT = 3,
	BANK_SPEND_MS = 500
};

struct table {
	struct store *store;
	struct row_catalogue rows;
	const struct row_ladder *ladder;
	const struct row_map *map_row;
	const struct game *game;
	struct game_map *map;
	struct match_out *out;
	const struct row_bot *bots[GAME_SEATS_MAX];
};

static uint64_t chance;

static unsigned draw(unsigned below)
{
	chance = chance * UINT64_C(6364136223846793005) +
		 UINT64_C(1442695040888963407);
	return (unsigned)(chance >> 33) % below;
}

static void die(const char *what)
{
	(void)fprintf(stderr, "make-matches: %s\n", what);
	exit(1);
}

static void find_rows(struct table *table, const char *ladder, char **bots)
{
	struct store_error error = { "" };
	struct game_error game_error = { "" };
	struct game_source source;
	size_t len;
	char *data;

	if (store_catalogue(table->store, &table->rows, &error) != 0)
		die(error.text);
	for (size_t i = 0; i < table->rows.nladders; i++)
		if (strcmp(table->rows.ladders[i].name, ladder) == 0)
			table->ladder = &table->rows.ladders[i];
	if (table->ladder == NULL)
		die("no such ladder");
	for (unsigned seat = 0; seat < table->ladder->seats; seat++) {
		if (bots[seat] == NULL)
			die("too few bots");
		for (size_t i = 0; i < table->rows.nbots; i++)
			if (strcmp(table->rows.bots[i].name, bots[seat]) == 0)
				table->bots[seat] = &table->rows.bots[i];
		if (table->bots[seat] == NULL)
			die("no such bot");
	}
	for (size_t i = 0; i < table->rows.nmaps; i++)
		if (table->rows.maps[i].id == table->ladder->map_ids[0])
			table->map_row = &table->rows.maps[i];
	table->game = game_find(table->ladder->game);
	if (store_map_bytes(table->store, table->map_row->id, &data, &len,
			    &error) != 0)
		die(error.text);
	source = (struct game_source){ .name = table->map_row->name,
				       .data = data,
				       .len = len,
				       .options = table->map_row->options };
	if (table->game->map_new(&table->map, &source, &game_error) != 0)
		die(game_error.text);
	free(data);
}

static void say(const struct game *game, char *text, size_t size)
{
	unsigned x = draw(SIDE), y = draw(SIDE);
	int len;

	if (draw(40) == 0) {
		(void)snprintf(text, size, "\x1b[2J\\ \xff\xc3 %u", x);
	} else if (strcmp(game->name, "rabbit-runner") == 0) {
		(void)snprintf(text, size, "move %u,%u to %u,%u", x % 14, y % 4,
			       x % 14 + 1, y % 4);
	} else if (strcmp(game->name, "image-battle") == 0) {
		(void)snprintf(text, size, "%u,%u %u,%u \xc3\xa9 -1,0", x, y, y,
			       x);
	} else {
		len = snprintf(text, size, "DLLRUW");
		text[(unsigned)len - draw(5)] = '\0';
	}
}

/* Do what the last call asks for. True when the match is over. */
static bool settle(struct table *table, struct match *match, int64_t now_us)
{
	struct match_out *out = table->out;

	for (;;) {
		for (unsigned seat = 0; seat < table->ladder->seats; seat++)
			if ((out->clock >> seat & 1) != 0)
				match_clock_started(match, seat, now_us);
		if (out->is_over || !out->is_busy)
			return out->is_over;
		match_work(match);
		match_resume(match, now_us, out);
	}
}

static struct match *offer(struct table *table, int64_t id, const char *seed,
			   int64_t now_us)
{
	const struct row_ladder *ladder = table->ladder;
	struct game_error error = { "" };
	struct game_setup setup = { .seed = seed,
				    .bot_seed = "7",
				    .seats = ladder->seats };
	struct match_config config = {
		.id = id,
		.game = table->game,
		.map = table->map,
		.map_name = table->map_row->name,
		.ladder = ladder->name,
		.ladder_id = ladder->id,
		.map_id = table->map_row->id,
		.is_rated = ladder->is_rated,
		.setup = &setup,
		.limits = { .turn_ms = ladder->turn_ms,
			    .init_ms = ladder->init_ms,
			    .bank_ms = ladder->bank_ms,
			    .bank_step_ms = ladder->bank_step_ms,
			    .bank_spend_ms = BANK_SPEND_MS,
			    .lag_cap_ms = ladder->lag_cap_ms,
			    .grace_ms = ladder->grace_ms },
	};
	struct match *match = NULL;

	for (unsigned seat = 0; seat < ladder->seats; seat++) {
		const struct row_bot *bot = table->bots[seat];

		config.seats[seat].bot = bot->name;
		config.seats[seat].bot_id = bot->id;
		config.seats[seat].version_id = bot->version_id;
	}
	if (game_params_parse(table->game, ladder->params, setup.params,
			      &error) != 0 ||
	    match_new(&match, &config, now_us, table->out) != 0)
		die("the ladder's match is refused");
	return match;
}

/* One thing that a program, or the time, may do. */
static bool step(struct table *table, struct match *match, int64_t *now_us)
{
	unsigned seat = draw(table->ladder->seats), what = draw(200);
	char text[64];

	if (what == 0) {
		match_gone(match, seat, "exit=3", *now_us, table->out);
	} else if (what <= 4 && match_deadline(match) != INT64_MAX) {
		*now_us = match_deadline(match);
		match_expire(match, *now_us, table->out);
	} else if (what == 5) {
		match_skip(match, seat, *now_us, table->out);
	} else if (match_wants(match, seat)) {
		*now_us += draw(20) * MS + draw(1000);
		if (match_deadline(match) <= *now_us)
			*now_us = match_deadline(match) - 1;
		say(table->game, text, sizeof(text));
		match_line(match, seat, text, strlen(text), *now_us,
			   table->out);
	} else {
		return false;
	}
	return settle(table, match, *now_us);
}

static void play(struct table *table, int64_t id, const char *seed)
{
	struct store_error error = { "" };
	int64_t now_us = clock_now_us();
	struct match *match = offer(table, id, seed, now_us);
	struct match_record *record;
	bool is_void = atoll(seed) % VOID_EACH == VOID_AT, is_over = false;

	for (unsigned seat = 0; seat < table->ladder->seats; seat++) {
		match_ready(match, seat, false, now_us, table->out);
		is_over = settle(table, match, now_us);
	}
	for (unsigned n = 0; n < STEPS_MAX && !is_over; n++) {
		is_over = step(table, match, &now_us);
		if (is_void && !is_over && n == VOID_STEP) {
			match_void(match, "stall", "the host slept", now_us,
				   table->out);
			is_over = settle(table, match, now_us);
		}
	}
	if (!is_over)
		die("the match does not end");
	record = match_take_record(match, table->out);
	if (store_save(table->store, record, &error) != 0)
		die(error.text);
	match_record_free(record);
	match_free(match);
	(void)printf("%lld\n", (long long)id);
}

int main(int argc, char **argv)
{
	struct store_error error = { "" };
	struct table table = { .store = NULL };
	struct row_ids ids;
	char seed[ROW_SEED_BYTES];

	if (argc < 6)
		die("usage: make-matches DATABASE LADDER COUNT SEED BOT...");
	if (store_open(&table.store, argv[1], STORE_WRITE, &error) != 0 ||
	    store_reserve_ids(table.store, &ids, &error) != 0)
		die(error.text);
	find_rows(&table, argv[2], argv + 5);
	table.out = match_out_new();
	for (int i = 0; i < atoi(argv[3]); i++) {
		(void)snprintf(seed, sizeof(seed), "%lld", atoll(argv[4]) + i);
		chance = (uint64_t)atoll(argv[4]) + (uint64_t)i;
		play(&table, ids.first + i, seed);
	}
	match_out_free(table.out);
	table.game->map_free(table.map);
	row_catalogue_release(&table.rows);
	store_close(table.store);
	return 0;
}
