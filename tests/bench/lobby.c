/* SPDX-License-Identifier: MIT */
/*
 * lobby.c - what one look at a ladder costs the loop, with many who wait.
 *
 *	bench-lobby [PEERS [LIMIT]]
 *
 * In each case PEERS (1,000) bots wait on one ladder and nothing can begin;
 * then another one leaves and comes back, and each time the ladder is looked
 * at once more: the least time of its @play, the lobby's whole answer
 * included. Beside it what @play costs on a ladder where nobody waits. More
 * than LIMIT milliseconds fail.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/sha.h>

#include "server/base/alloc.h"
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/games/game.h"
#include "server/games/picture.h"
#include "server/ladder/tournament.h"
#include "server/lobby/lobby.h"
#include "server/match/record.h"
#include "server/store/rows.h"

enum {
	LADDER_BATTLE = 1, /* two seats, rated */
	LADDER_MINE,       /* one seat, rated */
	LADDER_EMPTY,      /* as battle */
	LADDERS = 3,
	MAP_ARENA = 1,
	MAP_MINE,
	TIMES = 31,
	SIDE = 20,
};

enum who {
	OWN,      /* each bot has its owner */
	RELATED,  /* all have one */
	SETTLED,  /* the house's own, known well */
	ENTRANTS, /* as OWN; all are in a contest on the solo ladder */
	FORMED,   /* as ENTRANTS, but in a Swiss tournament on the shared one */
	OTHERS,   /* as FORMED, but the entrants are others, and away */
};

struct bench {
	size_t n;
	struct lobby *lobby;
	struct lobby_config config;
	struct lobby_peer **peers; /* n + 1 */
	struct row_catalogue rows;
	int64_t map_ids[LADDERS];
	struct buf arena;
	int64_t next_id;
	char last[4096]; /* what peer 0 was told last */
};

static const char mine[] = "#####\n#R\\L#\n#####\n";

/* ---- the world ---- */

static void load_map(struct bench *bench, int64_t id)
{
	bool is_arena = id == MAP_ARENA;
	struct game_error error;
	struct lobby_map *map;
	int err = is_arena ? lobby_map_new(&map, game_find("image-battle"),
					   "arena.png", "", bench->arena.data,
					   bench->arena.len, &error)
			   : lobby_map_new(&map, game_find("lambda-mining"),
					   "mine.map", "", mine,
					   sizeof(mine) - 1, &error);

	if (err != 0) {
		(void)fprintf(stderr, "%s\n", error.text);
		exit(1);
	}
	lobby_map_loaded(bench->lobby, id, map, 0);
}

static void apply(struct bench *bench, int64_t now_us)
{
	struct lobby_action action;

	while (lobby_next_action(bench->lobby, &action)) {
		if (action.kind == LOBBY_LOAD_MAP) {
			load_map(bench, action.map_id);
		} else if (action.kind == LOBBY_RESERVE_IDS) {
			lobby_ids(bench->lobby, bench->next_id, action.count,
				  now_us);
			bench->next_id += action.count;
		} else if (action.kind == LOBBY_SEND_BLOCK) {
			lobby_map_unref(action.block);
		} else if (action.kind == LOBBY_WATCH_FILES) {
			lobby_files_acked(bench->lobby, action.peer, now_us);
		} else if (action.kind == LOBBY_STORE) {
			int64_t id = action.record->id;

			match_record_free(action.record);
			lobby_stored(bench->lobby, id, now_us);
		} else if (action.kind == LOBBY_CLOSE_ROUND) {
			lobby_round_closed(bench->lobby, action.round_id, NULL,
					   now_us);
		} else if (action.kind == LOBBY_SEND &&
			   action.peer == bench->peers[0]) {
			if (action.starts_clock)
				lobby_clock_started(bench->lobby, action.peer,
						    now_us);
			(void)snprintf(bench->last, sizeof(bench->last), "%.*s",
				       (int)action.len, action.bytes);
		}
	}
}

static void say(struct bench *bench, size_t peer, const char *line,
		int64_t now_us)
{
	lobby_peer_bytes(bench->lobby, bench->peers[peer], line, strlen(line),
			 now_us);
	apply(bench, now_us);
}

static void add_ladder(struct bench *bench, int64_t id, const char *name,
		       int64_t map)
{
	struct row_ladder *row = &bench->rows.ladders[id - 1];

	bench->map_ids[id - 1] = map;
	*row = (struct row_ladder){
		.id = id,
		.seats = map == MAP_ARENA ? 2 : 1,
		.turn_ms = 500,
		.init_ms = 2000,
		.ready_ms = 10000,
		.file_ms = 10000,
		.is_seed_random = true,
		.is_rated = true,
		.round_runs = 8,
		.round_us = INT64_C(3600000000),
		.house_wait_ms = 10000,
		.nmaps = 1,
		.map_ids = &bench->map_ids[id - 1],
	};
	(void)snprintf(row->name, sizeof(row->name), "%s", name);
	(void)snprintf(row->game, sizeof(row->game), "%s",
		       map == MAP_ARENA ? "image-battle" : "lambda-mining");
}

static void add_bot(struct bench *bench, size_t i, enum who who)
{
	struct row_catalogue *rows = &bench->rows;
	struct row_bot *bot = &rows->bots[i];

	bot->id = bot->owner_id = bot->version_id = (int64_t)i + 1;
	if (who == RELATED)
		bot->owner_id = 1;
	bot->version = 1;
	bot->max_connections = 2;
	bot->is_house = who == SETTLED && i > 0;
	(void)snprintf(bot->name, sizeof(bot->name), "bot-%zu", i);
	rows->versions[i] = (struct row_version){
		.id = bot->id,
		.bot_id = bot->id,
		.number = 1,
		.rated_from_us = INT64_MIN,
		.label = "1",
	};
	rows->tokens[i].id = rows->tokens[i].bot_id = bot->id;
	SHA256((const unsigned char *)"right", 5, rows->tokens[i].hash);
	rows->ratings[i] = (struct row_rating){
		.ladder_id = LADDER_MINE,
		.version_id = bot->id,
		.mu = 20 + (double)(i % 100) / 10,
		.sigma = 2,
		.rounds = 50,
	};
}

static void add_maps(struct bench *bench)
{
	struct row_map *maps = bench->rows.maps;
	uint8_t rgb[SIDE * SIDE * 3];
	struct picture picture = { SIDE, SIDE, rgb };

	memset(rgb, 0xff, sizeof(rgb));
	memcpy(rgb + 3 * (2 * SIDE + 2), "\xff\0\0", 3);
	memcpy(rgb + 3 * (17 * SIDE + 17), "\0\0\xff", 3);
	buf_init(&bench->arena, 1 << 20);
	if (picture_encode_png(&picture, &bench->arena) != 0)
		abort();
	for (int64_t id = MAP_ARENA; id <= MAP_MINE; id++) {
		struct row_map *map = &maps[id - 1];

		map->id = id;
		(void)snprintf(map->name, sizeof(map->name), "%s",
			       id == MAP_ARENA ? "arena.png" : "mine.map");
		(void)snprintf(map->game, sizeof(map->game), "%s",
			       id == MAP_ARENA ? "image-battle"
					       : "lambda-mining");
	}
}

static void add_tournament(struct bench *bench, enum who who)
{
	struct row_tournament *row = xcalloc(1, sizeof(*row));

	row->id = 1;
	row->ladder_id = who >= FORMED ? LADDER_BATTLE : LADDER_MINE;
	(void)snprintf(row->name, sizeof(row->name), "cup");
	row->state = ROW_TOURNAMENT_RUNNING;
	row->rules = (struct tournament_rules){
		.format = who >= FORMED ? TOURNAMENT_SWISS : TOURNAMENT_CONTEST,
		.seats = who >= FORMED ? 2 : 1,
		.group = who >= FORMED ? 2 : 1,
		.sets = 1,
		.rounds = 10,
		.seed = 1,
	};
	row->is_seed_random = true;
	row->map_ids = &bench->map_ids[row->ladder_id - 1];
	row->nmaps = 1;
	row->grace_s = 600;
	row->started_us = 1;
	row->nentrants = bench->n;
	row->entrants = xcalloc(bench->n, sizeof(*row->entrants));
	for (size_t i = 0; i < bench->n; i++) {
		row->entrants[i].bot_id = row->entrants[i].version_id =
			(int64_t)(i + 2 + (who == OTHERS ? bench->n : 0));
		row->entrants[i].version = 1;
		(void)snprintf(row->entrants[i].bot,
			       sizeof(row->entrants[i].bot), "bot-%lld",
			       (long long)row->entrants[i].bot_id - 1);
	}
	bench->rows.tournaments = row;
	bench->rows.ntournaments = 1;
}

static void bench_init(struct bench *bench, size_t n, enum who who)
{
	struct row_catalogue *rows = &bench->rows;
	size_t nbots = (who == OTHERS ? 2 : 1) * n + 1;

	*bench = (struct bench){ .n = n, .next_id = 1 };
	bench->config = (struct lobby_config){
		.host = "bench",
		.random_key = { 1 },
		.login_ms = 1000000,
		.peers_max = 1000000,
		.peers_per_address = 1000000,
		.prelogin_per_address = 1000000,
		.failures_per_address = 10,
		.failure_forget_ms = 1000,
		.registrations_per_hour = 1,
		.results_max = 1000,
		.matches_max = 0,
		.stall_void_ms = 100000,
		.match_budget_bytes = UINT64_C(1) << 32,
		.map_budget_bytes = 1 << 30,
	};
	rows->nbots = rows->nversions = rows->ntokens = nbots;
	rows->nratings = who == SETTLED ? nbots : 0;
	rows->bots = xcalloc(nbots, sizeof(*rows->bots));
	rows->versions = xcalloc(nbots, sizeof(*rows->versions));
	rows->tokens = xcalloc(nbots, sizeof(*rows->tokens));
	rows->ratings = xcalloc(nbots, sizeof(*rows->ratings));
	rows->ladders = xcalloc(LADDERS, sizeof(*rows->ladders));
	rows->maps = xcalloc(MAP_MINE, sizeof(*rows->maps));
	rows->nladders = LADDERS;
	rows->nmaps = MAP_MINE;
	add_maps(bench);
	add_ladder(bench, LADDER_BATTLE, "battle", MAP_ARENA);
	add_ladder(bench, LADDER_MINE, "mine", MAP_MINE);
	add_ladder(bench, LADDER_EMPTY, "empty", MAP_ARENA);
	for (size_t i = 0; i < nbots; i++)
		add_bot(bench, i, who);
	if (who >= ENTRANTS)
		add_tournament(bench, who);
	bench->lobby = lobby_new(&bench->config);
	lobby_catalogue_replace(bench->lobby, rows, 0);
	apply(bench, 0);
	bench->peers = xcalloc(n + 1, sizeof(struct lobby_peer *));
	for (size_t i = 0; i <= n; i++) {
		uint8_t address[ADDRESS_BYTES] = { 0 };
		char line[100];

		bench->peers[i] =
			lobby_peer_open(bench->lobby, address, NULL, i + 1, 0);
		(void)snprintf(line, sizeof(line), "@login bot-%zu right\n", i);
		say(bench, i, line, 0);
	}
}

static void bench_release(struct bench *bench)
{
	struct row_catalogue *rows = &bench->rows;

	lobby_free(bench->lobby);
	if (rows->tournaments != NULL)
		free(rows->tournaments->entrants);
	free(rows->tournaments);
	free(rows->bots);
	free(rows->versions);
	free(rows->tokens);
	free(rows->ratings);
	free(rows->ladders);
	free(rows->maps);
	free(bench->peers);
	buf_release(&bench->arena);
}

/* ---- the cases ---- */

/* In milliseconds; what else the machine does is not in the least of many. */
static double time_of(struct bench *bench, const char *line)
{
	int64_t least_us = INT64_MAX;

	for (unsigned i = 0; i < TIMES; i++) {
		int64_t begin_us, us;

		say(bench, 0, "@leave\n", 0);
		begin_us = clock_now_us();
		say(bench, 0, line, 0);
		us = clock_now_us() - begin_us;
		if (us < least_us)
			least_us = us;
	}
	return (double)least_us / 1000;
}

struct scene {
	const char *name;
	enum who who;
	unsigned rounds;   /* that peer 0 plays by itself before */
	const char *first; /* what it says then */
	const char *each;  /* what all others say */
	const char *again; /* what peer 0 says each time */
};

static const struct scene scenes[] = {
	{ "shared, rated, no room for a match", OWN, 0, "@leave\n",
	  "@play battle\n", "@play battle\n" },
	{ "shared, rated, all of one owner", RELATED, 0, "@leave\n",
	  "@play battle\n", "@play battle\n" },
	{ "solo, rated, no room for a match", OWN, 0, "@leave\n",
	  "@play mine\n", "@play mine\n" },
	{ "solo, rated, the house waits for authors", SETTLED, 16,
	  "@play mine\n", "@play mine\n", "@play mine\n" },
	{ "unrated, all with a turn-ms of their own", OWN, 0, "@leave\n",
	  "@play battle unrated turn-ms=1000\n",
	  "@play battle unrated turn-ms=1000\n" },
	{ "unrated, all against one", OWN, 0, "@play battle any\n",
	  "@play battle unrated against=bot-0 matches=9\n",
	  "@play battle any\n" },
	{ "unrated, all against whoever comes", OWN, 0, "@leave\n",
	  "@play battle unrated\n", "@play battle unrated\n" },
	{ "solo, in a contest", ENTRANTS, 0, "@leave\n", "@play mine\n",
	  "@play mine\n" },
	{ "shared, in a Swiss tournament", FORMED, 0, "@leave\n",
	  "@play battle\n", "@play battle\n" },
	{ "shared, beside a tournament of who is away", OTHERS, 0, "@leave\n",
	  "@play battle\n", "@play battle\n" },
};

/* Peer 0 plays the match that it was offered, if any; there is room for one. */
static void play_alone(struct bench *bench)
{
	const char *at;
	char line[100];
	long long id;

	bench->config.matches_max = 1;
	lobby_configure(bench->lobby, &bench->config, 0);
	apply(bench, 0);
	at = strstr(bench->last, "@match ");
	if (at == NULL || sscanf(at, "@match %lld", &id) != 1)
		return;
	(void)snprintf(line, sizeof(line), "@ready %lld\nRA\n", id);
	say(bench, 0, line, 0);
}

/* Milliseconds. */
static double measure(size_t n, const struct scene *scene)
{
	struct lobby_status status;
	struct bench bench;
	double empty, full;

	bench_init(&bench, n, scene->who);
	say(&bench, 0, scene->first, 0);
	for (unsigned i = 0; i < scene->rounds; i++)
		play_alone(&bench);
	for (size_t i = 1; i <= n; i++)
		say(&bench, i, scene->each, 0);
	empty = time_of(&bench, "@play empty\n");
	full = time_of(&bench, scene->again);
	lobby_status(bench.lobby, &status);
	if (status.waiting != n + 1) {
		(void)fprintf(stderr, "%s: %zu wait: %s\n", scene->name,
			      status.waiting, bench.last);
		exit(1);
	}
	(void)printf("%-44s %8.3f ms (%.3f)\n", scene->name, full, empty);
	(void)fflush(stdout);
	bench_release(&bench);
	return full;
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	double limit = argc > 2 ? strtod(argv[2], NULL) : 1e9, most = 0;

	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		double ms = measure(n, &scenes[i]);

		if (ms > most)
			most = ms;
	}
	return most <= limit ? 0 : 1;
}
