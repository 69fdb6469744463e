/* SPDX-License-Identifier: MIT */
/* world.c - what the lobby of script.h meets: rows, store, workers, links. */
#include "tests/unit/lobby/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/sha.h>

#include "server/games/game.h"
#include "server/games/generate.h"
#include "server/games/picture.h"
#include "server/match/record.h"
#include "tests/unit/unit.h"

static const char corridor[] = "##############################\n"
			       "#s   c              s       e#\n"
			       "##############################\n";
static const char mine[] = "#####\n#R\\L#\n#####\n";

static void make_arena(struct buf *ret)
{
	uint8_t rgb[20 * 20 * 3];
	struct picture picture = { 20, 20, rgb };

	memset(rgb, 0xff, sizeof(rgb));
	memcpy(rgb + 3 * 42, "\xff\0\0", 3);
	memcpy(rgb + 3 * 357, "\0\0\xff", 3);
	assert_int_equal(picture_encode_png(&picture, ret), 0);
}

static void make_maps(struct world *world)
{
	static const char *const names[] = { "corridor.txt", "arena.png",
					     "mine.map" };
	static const char *const games[] = { "rabbit-runner", "image-battle",
					     "lambda-mining" };

	for (unsigned i = 0; i < SCRIPT_MAPS; i++) {
		struct row_map *map = &world->maps[i];

		map->id = i + 1;
		world->map_ids[i] = map->id;
		(void)snprintf(map->name, sizeof(map->name), "%s", names[i]);
		(void)snprintf(map->game, sizeof(map->game), "%s", games[i]);
		buf_init(&world->map_data[i], 1000000);
	}
	buf_add_text(&world->map_data[MAP_CORRIDOR], corridor);
	make_arena(&world->map_data[MAP_ARENA]);
	buf_add_text(&world->map_data[MAP_MINE], mine);
}

static void make_bots(struct world *world)
{
	static const char *const names[] = { "crazy", "lazy", "slow", "fast",
					     "gone" };

	for (unsigned i = 0; i < SCRIPT_BOTS; i++) {
		struct row_bot *bot = &world->bots[i];

		bot->id = bot->owner_id = bot->version_id = i + 1;
		bot->version = 1;
		bot->max_connections = i == BOT_CRAZY ? 3 : 2;
		bot->is_disabled = i == BOT_GONE;
		world->versions[i] = (struct row_version){
			.id = i + 1,
			.bot_id = i + 1,
			.number = 1,
			.rated_from_us = INT64_MIN,
			.label = "1",
		};
		(void)snprintf(bot->name, sizeof(bot->name), "%s", names[i]);
		world->tokens[i].id = world->tokens[i].bot_id = i + 1;
		SHA256((const unsigned char *)"right", 5,
		       world->tokens[i].hash);
	}
}

static void make_ladders(struct world *world)
{
	static const struct {
		const char *name, *game, *params;
		unsigned map;
	} rows[] = {
		{ "rabbit-runner", "rabbit-runner", "turns=2", MAP_CORRIDOR },
		{ "battle", "image-battle", "", MAP_ARENA },
		{ "spar", "image-battle", "", MAP_ARENA },
		{ "mine", "lambda-mining", "", MAP_MINE },
		{ "off", "rabbit-runner", "", MAP_CORRIDOR },
	};

	for (unsigned i = 0; i < SCRIPT_LADDERS; i++) {
		struct row_ladder *row = &world->ladders[i];

		row->id = i + 1;
		(void)snprintf(row->name, sizeof(row->name), "%s",
			       rows[i].name);
		(void)snprintf(row->game, sizeof(row->game), "%s",
			       rows[i].game);
		(void)snprintf(row->params, sizeof(row->params), "%s",
			       rows[i].params);
		row->seats = rows[i].map == MAP_ARENA ? 2 : 1;
		row->turn_ms = 500;
		row->init_ms = 2000;
		row->bank_step_ms = 2;
		row->ready_ms = 10000;
		row->file_ms = 10000;
		row->is_rated = i != LADDER_SPAR;
		row->is_disabled = i == LADDER_OFF;
		row->round_runs = 3;
		row->round_us = INT64_C(3600) * 1000000;
		row->house_wait_ms = 10000;
		row->seed_first = 3;
		row->seed_last = 7;
		row->is_seed_random = rows[i].map != MAP_CORRIDOR;
		row->bot_seed = ROW_BOT_SEED_MATCH;
		row->nmaps = 1;
		row->map_ids = &world->map_ids[rows[i].map];
	}
}

void world_init(struct world *world)
{
	memset(world, 0, sizeof(*world));
	world->now_us = 1000000;
	world->next_id = 1;
	world->config = (struct lobby_config){
		.host = "test",
		.random_key = { 1, 2, 3 },
		.login_ms = 10000,
		.peers_max = 20,
		.peers_per_address = 10,
		.prelogin_per_address = 6,
		.failures_per_address = 3,
		.failure_forget_ms = 10000,
		.registrations_per_hour = 4,
		.retry_after_s = 30,
		.matches_max = 10,
		.results_max = 4,
		.stall_void_ms = 2000,
		.match_budget_bytes = 100000000,
		.map_budget_bytes = 1000000,
	};
	for (unsigned i = 0; i < SCRIPT_PEERS; i++) {
		buf_init(&world->peers[i].inbox, 1u << 26);
		buf_init(&world->peers[i].last_read, 1u << 20);
	}
	buf_init(&world->log, 1u << 26);
	buf_init(&world->made, 1u << 20);
	make_maps(world);
	make_bots(world);
	make_ladders(world);
	world->rows = (struct row_catalogue){
		.bots = world->bots,
		.nbots = SCRIPT_BOTS,
		.versions = world->versions,
		.nversions = SCRIPT_BOTS,
		.tokens = world->tokens,
		.ntokens = SCRIPT_BOTS,
		.ladders = world->ladders,
		.nladders = SCRIPT_LADDERS,
		.maps = world->maps,
		.nmaps = SCRIPT_MAPS,
	};
	world->lobby = lobby_new(&world->config);
	world_catalogue(world);
}

void world_release(struct world *world)
{
	while (world->nwork > 0)
		world_work(world);
	lobby_free(world->lobby);
	for (size_t i = 0; i < world->nrecords; i++)
		match_record_free(world->records[i]);
	for (unsigned i = 0; i < SCRIPT_PEERS; i++) {
		buf_release(&world->peers[i].inbox);
		buf_release(&world->peers[i].last_read);
	}
	for (unsigned i = 0; i < SCRIPT_MAPS; i++)
		buf_release(&world->map_data[i]);
	buf_release(&world->log);
	buf_release(&world->made);
}

struct world_peer *world_peer(struct world *world, char name)
{
	assert_true(name >= 'a' && name <= 'z');
	return &world->peers[name - 'a'];
}

static void load_map(struct world *world, int64_t map_id)
{
	struct row_map *row = &world->maps[map_id - 1];
	struct buf *data = &world->map_data[map_id - 1];
	struct game_error error;
	struct lobby_map *map;

	world->loaded++;
	if (lobby_map_new(&map, game_find(row->game), row->name, row->options,
			  buf_text(data), data->len, &error) == 0)
		lobby_map_loaded(world->lobby, map_id, map, world->now_us);
	else
		lobby_map_failed(world->lobby, map_id, error.text,
				 world->now_us);
}

/* Generated maps have ids from SCRIPT_MADE on, and come from the engine. */
static void make_map(struct world *world, const struct lobby_action *action)
{
	struct generated made;
	struct game_error error;
	struct lobby_map *map;

	if (world->fails_makes) {
		lobby_map_unmade(world->lobby, action->ladder_id, "no luck",
				 world->now_us);
		return;
	}
	assert_int_equal(generate_map(action->game, action->preset,
				      action->count, action->seed, &made,
				      &error),
			 0);
	assert_int_equal(lobby_map_new(&map, action->game, "made.map",
				       buf_text(&made.options), made.data.data,
				       made.data.len, &error),
			 0);
	generate_release(&made);
	buf_add_format(&world->made, "%s\n", action->preset->name);
	lobby_map_made(world->lobby, action->ladder_id,
		       SCRIPT_MADE + world->nmade++, map, world->now_us);
}

/* As the store does; false when the label is refused. */
static bool make_version(struct world *world, const struct lobby_ask *ask,
			 int64_t *ret_id)
{
	struct row_version *made = &world->versions[world->rows.nversions];

	if (strcmp(ask->label, "old") == 0)
		return false;
	assert_true(world->rows.nversions < SCRIPT_VERSIONS);
	*ret_id = 100 + (int64_t)world->rows.nversions++;
	*made = (struct row_version){
		.id = *ret_id,
		.bot_id = ask->bot_id,
		.is_candidate = ask->is_candidate,
		.rated_from_us = ask->is_candidate ? INT64_MAX : INT64_MIN,
	};
	memcpy(made->label, ask->label, sizeof(made->label));
	for (unsigned i = 0; i < SCRIPT_BOTS && !ask->is_candidate; i++) {
		struct row_bot *bot = &world->bots[i];

		if (bot->id != ask->bot_id)
			continue;
		/* The old one is retired: nobody's. */
		for (size_t k = 0; k < world->rows.nversions; k++) {
			if (world->versions[k].id == bot->version_id)
				world->versions[k].bot_id = 999;
		}
		bot->version_id = *ret_id;
	}
	world_catalogue(world);
	return true;
}

static void answer(struct world *world, const struct lobby_ask *ask)
{
	struct lobby_answer reply = { .name = ask->name, .token = "hill_new" };

	switch (ask->kind) {
	case LOBBY_ASK_VERSION:
		if (!make_version(world, ask, &reply.version_id))
			reply.code = ERROR_VERSION_RETIRED;
		break;
	case LOBBY_ASK_REGISTER:
		if (strcmp(ask->name, "taken") == 0) {
			reply.code = ERROR_NAME_TAKEN;
			reply.text = "taken is taken";
		}
		break;
	case LOBBY_ASK_ROTATE:
		reply.token = "hill_next";
		break;
	case LOBBY_NASKS:
		fail();
	}
	lobby_answered(world->lobby, ask->id, &reply, world->now_us);
}

void world_answer(struct world *world)
{
	size_t count = world->nasks;

	world->nasks = 0;
	for (size_t i = 0; i < count; i++)
		answer(world, world->asks[i]);
	world_apply(world);
}

static void store_one(struct world *world, struct match_record *record)
{
	int64_t id = record->id;

	world->stored++;
	match_record_free(record);
	lobby_stored(world->lobby, id, world->now_us);
}

static void apply_peer(struct world *world, const struct lobby_action *action)
{
	struct world_peer *peer = action->conn;

	assert_ptr_equal(peer->peer, action->peer);
	switch (action->kind) {
	case LOBBY_SEND:
		assert_null(peer->closed);
		assert_true(action->len > 0);
		buf_add(&peer->inbox, action->bytes, action->len);
		peer->sent++;
		if (action->starts_clock)
			lobby_clock_started(world->lobby, peer->peer,
					    world->now_us);
		break;
	case LOBBY_SEND_BLOCK:
		assert_null(peer->closed);
		buf_add(&peer->inbox, action->bytes, action->len);
		lobby_map_unref(action->block);
		break;
	case LOBBY_CLOSE:
		assert_null(peer->closed);
		assert_non_null(action->reason);
		peer->closed = action->reason;
		break;
	case LOBBY_PAUSE:
		assert_false(peer->is_paused);
		peer->is_paused = true;
		break;
	case LOBBY_RESUME:
		assert_true(peer->is_paused);
		peer->is_paused = false;
		break;
	case LOBBY_READ:
		world->reads++;
		if (peer->last_read.len > 0)
			lobby_peer_bytes(world->lobby, peer->peer,
					 peer->last_read.data,
					 peer->last_read.len, world->now_us);
		buf_clear(&peer->last_read);
		break;
	case LOBBY_WATCH_FILES:
		world->watched++;
		if (!world->holds_acks)
			lobby_files_acked(world->lobby, peer->peer,
					  world->now_us);
		break;
	case LOBBY_SAMPLE_RTT:
		if (world->rtt_us > 0)
			lobby_rtt(world->lobby, peer->peer, world->rtt_us);
		break;
	case LOBBY_STORE:
	case LOBBY_LOAD_MAP:
	case LOBBY_MAKE_MAP:
	case LOBBY_RUN_MATCH:
	case LOBBY_RESERVE_IDS:
	case LOBBY_ASK:
	case LOBBY_CLOSE_ROUND:
	case LOBBY_LOG:
	case LOBBY_DRAINED:
	case LOBBY_NACTIONS:
		fail();
	}
}

static void apply_one(struct world *world, const struct lobby_action *action)
{
	switch (action->kind) {
	case LOBBY_STORE:
		if (!world->holds_store) {
			store_one(world, action->record);
			break;
		}
		assert_true(world->nrecords < SCRIPT_RECORDS);
		world->records[world->nrecords++] = action->record;
		break;
	case LOBBY_LOAD_MAP:
		assert_true(world->nloads < SCRIPT_RECORDS);
		if (world->holds_maps)
			world->loads[world->nloads++] = action->map_id;
		else
			load_map(world, action->map_id);
		break;
	case LOBBY_MAKE_MAP:
		assert_true(world->nmakes < SCRIPT_RECORDS);
		if (world->holds_maps)
			world->makes[world->nmakes++] = *action;
		else
			make_map(world, action);
		break;
	case LOBBY_RUN_MATCH:
		assert_true(world->nwork < SCRIPT_RECORDS);
		world->work[world->nwork++] = action->play;
		break;
	case LOBBY_RESERVE_IDS:
		world->reserved++;
		if (world->holds_ids) {
			lobby_ids(world->lobby, 0, 0, world->now_us);
			break;
		}
		lobby_ids(world->lobby, world->next_id, action->count,
			  world->now_us);
		world->next_id += action->count;
		break;
	case LOBBY_ASK:
		if (world->holds_asks)
			world->asks[world->nasks++] = action->ask;
		else
			answer(world, action->ask);
		break;
	case LOBBY_CLOSE_ROUND:
		assert_int_equal(strlen(action->bytes) + 1, action->len);
		buf_add_format(&world->log, "close round=%d left=%s void=%d\n",
			       (int)action->round_id, action->bytes,
			       action->is_void);
		lobby_round_closed(world->lobby, action->round_id, NULL,
				   world->now_us);
		break;
	case LOBBY_LOG:
		assert_null(memchr(action->bytes, '\n', action->len));
		buf_add(&world->log, action->bytes, action->len);
		buf_add_char(&world->log, '\n');
		break;
	case LOBBY_DRAINED:
		assert_false(world->is_drained);
		world->is_drained = true;
		break;
	case LOBBY_SEND:
	case LOBBY_SEND_BLOCK:
	case LOBBY_CLOSE:
	case LOBBY_PAUSE:
	case LOBBY_RESUME:
	case LOBBY_READ:
	case LOBBY_WATCH_FILES:
	case LOBBY_SAMPLE_RTT:
	case LOBBY_NACTIONS:
		apply_peer(world, action);
		break;
	}
}

void world_apply(struct world *world)
{
	struct lobby_action action;

	do {
		while (lobby_next_action(world->lobby, &action))
			apply_one(world, &action);
		if (!world->holds_work && world->nwork > 0)
			world_work(world);
	} while (world->nwork > 0 && !world->holds_work);
	lobby_check(world->lobby);
}

void world_store(struct world *world)
{
	for (size_t i = 0; i < world->nrecords; i++)
		store_one(world, world->records[i]);
	world->nrecords = 0;
	world_apply(world);
}

void world_load(struct world *world)
{
	size_t count = world->nloads;
	size_t nmakes = world->nmakes;

	world->nloads = 0;
	world->nmakes = 0;
	for (size_t i = 0; i < nmakes; i++)
		make_map(world, &world->makes[i]);
	for (size_t i = 0; i < count; i++)
		load_map(world, world->loads[i]);
	world_apply(world);
}

void world_work(struct world *world)
{
	struct lobby_action action;

	while (world->nwork > 0) {
		struct lobby_play *play = world->work[--world->nwork];

		lobby_play_work(play);
		lobby_play_worked(world->lobby, play, world->now_us);
		while (lobby_next_action(world->lobby, &action))
			apply_one(world, &action);
	}
}

void world_catalogue(struct world *world)
{
	lobby_catalogue_replace(world->lobby, &world->rows, world->now_us);
	world_apply(world);
}

int world_setup(void **state)
{
	struct world *world = malloc(sizeof(*world));

	assert_non_null(world);
	world_init(world);
	*state = world;
	return 0;
}

int world_teardown(void **state)
{
	world_release(*state);
	free(*state);
	return 0;
}
