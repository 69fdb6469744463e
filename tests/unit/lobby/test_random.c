/* SPDX-License-Identifier: MIT */
/*
 * test_random.c - anything in any order. After each event the lobby's
 * invariants hold (world_apply), and whoever stays to the end has heard of
 * each match that it was offered how it came out, once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/match/record.h"
#include "tests/unit/lobby/script.h"
#include "tests/unit/unit.h"

enum {
	SEEDS = 150,
	STEPS = 2000,
	PLAYERS = 8,
	OPEN_MAX = 256,
};

/* What one peer was offered and has not heard the end of. */
struct player {
	int64_t open[OPEN_MAX];
	unsigned nopen;
	int64_t newest;
};

struct chaos {
	struct world world;
	struct player players[PLAYERS];
	uint64_t random;
	uint64_t last_link;
};

static unsigned draw(struct chaos *chaos, unsigned below)
{
	chaos->random = chaos->random * 6364136223846793005u + 1;
	return (unsigned)(chaos->random >> 33) % below;
}

static void note_end(struct player *player, int64_t id)
{
	for (unsigned i = 0; i < player->nopen; i++) {
		if (player->open[i] == id) {
			player->open[i] = player->open[--player->nopen];
			return;
		}
	}
	print_error("an end of match %lld that was not open\n", (long long)id);
	fail();
}

static void note_line(struct player *player, const char *line)
{
	long long id;

	if (sscanf(line, "@match %lld", &id) == 1) {
		assert_true(id > player->newest);
		assert_true(player->nopen < OPEN_MAX);
		player->newest = id;
		player->open[player->nopen++] = id;
	} else if (sscanf(line, "@cancel %lld", &id) == 1 ||
		   sscanf(line, "@void %lld", &id) == 1 ||
		   sscanf(line, "@result %lld", &id) == 1) {
		note_end(player, id);
	}
}

/* Read what all peers have heard, and forget those that were closed. */
static void listen(struct chaos *chaos)
{
	for (unsigned i = 0; i < PLAYERS; i++) {
		struct world_peer *peer = &chaos->world.peers[i];
		char *line = peer->inbox.data, *lf;

		while (peer->inbox.len > 0 &&
		       (lf = strchr(line, '\n')) != NULL) {
			*lf = '\0';
			note_line(&chaos->players[i], line);
			line = lf + 1;
		}
		buf_clear(&peer->inbox);
	}
}

static void say(struct chaos *chaos, unsigned i, const char *text)
{
	lobby_peer_bytes(chaos->world.lobby, chaos->world.peers[i].peer, text,
			 strlen(text), chaos->world.now_us);
}

static void connect_player(struct chaos *chaos, unsigned i)
{
	static const char *const bots[] = { "crazy", "lazy", "slow", "fast" };
	struct world_peer *peer = &chaos->world.peers[i];
	const uint8_t address[ADDRESS_BYTES] = { 1, (uint8_t)i };
	char text[100];

	memset(&chaos->players[i], 0, sizeof(chaos->players[i]));
	peer->closed = NULL;
	peer->is_paused = false;
	buf_clear(&peer->last_read);
	peer->peer = lobby_peer_open(chaos->world.lobby, address, peer,
				     ++chaos->last_link, chaos->world.now_us);
	world_apply(&chaos->world);
	(void)snprintf(text, sizeof(text), "@login %s %s%s\n", bots[i / 2],
		       draw(chaos, 20) == 0 ? "wrong" : "right",
		       i % 4 != 1 ? "" : " version=next candidate=1");
	if (draw(chaos, 6) == 0)
		(void)snprintf(text, sizeof(text), "@guest ada\n");
	if (peer->closed == NULL)
		say(chaos, i, text);
}

static void lose_player(struct chaos *chaos, unsigned i)
{
	struct world_peer *peer = &chaos->world.peers[i];

	listen(chaos);
	lobby_peer_closed(chaos->world.lobby, peer->peer, chaos->world.now_us);
	peer->peer = NULL;
}

static void speak(struct chaos *chaos, unsigned i)
{
	static const char *const lines[] = {
		"@play rabbit-runner\n",
		"@play battle\n",
		"@play spar\n",
		"@play mine\n",
		"@play battle unrated\n",
		"@play battle unrated turn-ms=5000\n",
		"@play spar unrated against=lazy turn-ms=90\n",
		"@play mine unrated matches=2\n",
		"@play rabbit-runner unrated seed=9\n",
		"@play battle any\n",
		"@play spar any\n",
		"@leave\n",
		"@leave spar\n",
		"move\nmove\n",
		"1,1 2,2 3,3\n",
		"\n",
		"@ping 1\n",
		"@nonsense\n",
		"RA\n",
		"@play off\n",
		"half a line without",
		"\n\n\n\n",
		"@skip 1\n",
	};
	static const char *const said[] = { "ready",  "ready", "ready quiet",
					    "resign", "skip",  "gone" };
	const struct player *player = &chaos->players[i];
	const char *word = said[draw(chaos, COUNT_OF(said))];
	char text[100];

	if (draw(chaos, 3) > 0 && player->newest > 0) {
		(void)snprintf(text, sizeof(text), "@%.*s %lld%s\n",
			       (int)strcspn(word, " "), word,
			       (long long)player->newest,
			       word + strcspn(word, " "));
		say(chaos, i, text);
	} else if (draw(chaos, 6) == 0) {
		for (unsigned n = draw(chaos, 30); n > 0; n--)
			say(chaos, i, "move\n");
	} else {
		say(chaos, i, lines[draw(chaos, COUNT_OF(lines))]);
	}
}

static void touch_peer(struct chaos *chaos)
{
	unsigned i = draw(chaos, PLAYERS);
	struct world_peer *peer = &chaos->world.peers[i];

	if (peer->peer == NULL)
		connect_player(chaos, i);
	else if (peer->closed != NULL || draw(chaos, 40) == 0)
		lose_player(chaos, i);
	else if (draw(chaos, 80) == 0)
		lobby_peer_eof(chaos->world.lobby, peer->peer,
			       chaos->world.now_us);
	else if (draw(chaos, 200) == 0)
		lobby_peer_overflow(chaos->world.lobby, peer->peer,
				    chaos->world.now_us);
	else
		speak(chaos, i);
}

static void change_catalogue(struct chaos *chaos)
{
	struct world *world = &chaos->world;

	switch (draw(chaos, 4)) {
	case 0:
		world->ladders[draw(chaos, 4)].is_disabled ^= true;
		break;
	case 1:
		world->bots[draw(chaos, 4)].is_disabled ^= true;
		break;
	case 2:
		world->maps[draw(chaos, SCRIPT_MAPS)].hash[0]++;
		break;
	default:
		world->rows.nladders = SCRIPT_LADDERS - draw(chaos, 3);
		break;
	}
	world_catalogue(world);
	/* Most of the time all is there. */
	world->rows.nladders = SCRIPT_LADDERS;
	for (unsigned i = 0; i < 4; i++) {
		world->ladders[i].is_disabled = false;
		world->bots[i].is_disabled = false;
	}
}

static void touch_world(struct chaos *chaos)
{
	struct world *world = &chaos->world;
	char text[40];

	switch (draw(chaos, 12)) {
	case 0:
		world->holds_store ^= true;
		break;
	case 1:
		world_store(world);
		break;
	case 2:
		lobby_store_trouble(world->lobby,
				    draw(chaos, 3) == 0 ? "full" : NULL,
				    world->now_us);
		break;
	case 3:
		lobby_stalled(world->lobby, 1 + draw(chaos, 4000000),
			      world->now_us);
		break;
	case 4:
		lobby_loop_lag(world->lobby, draw(chaos, 80000), world->now_us);
		break;
	case 5:
		if (draw(chaos, 3) == 0)
			change_catalogue(chaos);
		break;
	case 6:
		world->holds_maps ^= true;
		world_load(world);
		break;
	case 7:
		world->holds_ids ^= true;
		break;
	case 8:
		world->holds_acks ^= true;
		break;
	default:
		(void)snprintf(text, sizeof(text), "* t %u\n",
			       draw(chaos, 2500));
		world_play(world, text);
		break;
	}
}

/* Everything that waits is done, the server goes down. */
static void finish(struct chaos *chaos)
{
	struct world *world = &chaos->world;

	world->holds_store = world->holds_maps = world->holds_ids = false;
	world_store(world);
	world_load(world);
	lobby_drain(world->lobby, world->now_us + 3000000, world->now_us);
	world_apply(world);
	world_play(world, "* t 20000\n");
	listen(chaos);
	assert_true(world->is_drained);
	for (unsigned i = 0; i < PLAYERS; i++) {
		struct world_peer *peer = &world->peers[i];

		if (peer->peer == NULL)
			continue;
		assert_non_null(peer->closed);
		if (strcmp(peer->closed, "shutdown") == 0)
			assert_int_equal(chaos->players[i].nopen, 0);
	}
}

/* Another time other bots are the host's, or of one owner. */
static void invite_house(struct world *world, uint64_t seed)
{
	world->bots[BOT_SLOW].is_house = seed % 2 == 1;
	world->bots[BOT_FAST].is_house = seed % 3 == 1;
	if (seed % 5 == 1)
		world->bots[BOT_LAZY].owner_id =
			world->bots[BOT_CRAZY].owner_id;
	world->ladders[LADDER_MINE].round_runs = (uint32_t)(2 + seed % 3);
	world->ladders[LADDER_MINE].house_wait_ms = (uint32_t)(seed % 4 * 1000);
	world->ladders[LADDER_BATTLE].house_wait_ms =
		(uint32_t)(seed % 4 * 1000);
	world_catalogue(world);
}

static void let_guests_in(struct world *world)
{
	struct row_bot *bot = &world->bots[BOT_GONE];

	(void)snprintf(bot->name, sizeof(bot->name), "guest:");
	bot->is_disabled = false;
	world->config.has_guests = true;
	world->config.guests_max = world->config.guests_per_address = 4;
	lobby_configure(world->lobby, &world->config, world->now_us);
}

static void run(uint64_t seed, bool finishes, struct lobby_status *sum)
{
	struct lobby_status status;
	struct chaos *chaos = calloc(1, sizeof(*chaos));

	chaos->random = seed * 0x9e3779b97f4a7c15u;
	world_init(&chaos->world);
	let_guests_in(&chaos->world);
	invite_house(&chaos->world, seed);
	chaos->world.rtt_us = draw(chaos, 2) * 20000;
	for (unsigned step = 0; step < STEPS; step++) {
		if (draw(chaos, 7) > 0)
			touch_peer(chaos);
		else
			touch_world(chaos);
		world_apply(&chaos->world);
		listen(chaos);
	}
	if (finishes)
		finish(chaos);
	lobby_status(chaos->world.lobby, &status);
	sum->started += status.started;
	sum->finished += status.finished;
	sum->cancelled += status.cancelled;
	sum->voided += status.voided;
	world_release(&chaos->world);
	free(chaos);
}

static void every_offer_has_one_end_whatever_happens(void **state)
{
	struct lobby_status sum = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		run(seed, true, &sum);
	print_message("started %llu finished %llu cancelled %llu voided %llu\n",
		      (unsigned long long)sum.started,
		      (unsigned long long)sum.finished,
		      (unsigned long long)sum.cancelled,
		      (unsigned long long)sum.voided);
	/* It did get about. */
	assert_true(sum.started > 10 * SEEDS && sum.finished > 5 * SEEDS);
	assert_true(sum.cancelled > 5 * SEEDS && sum.voided > SEEDS / 10);
}

static void it_can_be_freed_at_any_moment(void **state)
{
	struct lobby_status sum = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS / 3; seed++)
		run(1000 + seed, false, &sum);
	assert_true(sum.started > SEEDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_offer_has_one_end_whatever_happens),
		cmocka_unit_test(it_can_be_freed_at_any_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
