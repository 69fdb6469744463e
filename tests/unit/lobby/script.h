/* SPDX-License-Identifier: MIT */
/*
 * script.h - a whole server on fake time, driven by a few lines of text.
 *
 *	a + 10.0.0.1            peer a connects from there
 *	a > @login crazy right  a says a line
 *	a < @welcome crazy      the next line that a hears (fnmatch)
 *	a <~ @queued *          as <, after any number of other lines
 *	a <.                    a has heard nothing more
 *	a |                     a half-closes its link
 *	a -                     a's link is lost
 *	a ! quit                a was closed, for this reason
 *	a = paused              a is not read (reading: it is)
 *	* t 500                 500 ms pass
 *	* log PATTERN           some log line since the last look fits
 *
 * What the loop, the store and the workers would do is done at once, unless
 * the world's flags say otherwise.
 */
#ifndef HILL_TESTS_UNIT_LOBBY_SCRIPT_H
#define HILL_TESTS_UNIT_LOBBY_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/buffer.h"
#include "server/lobby/lobby.h"
#include "server/store/rows.h"

enum {
	SCRIPT_PEERS = 26,
	SCRIPT_RECORDS = 512,
	SCRIPT_BOTS = 5,
	SCRIPT_VERSIONS = 32,
	SCRIPT_MAPS = 3,
	SCRIPT_LADDERS = 5,
	SCRIPT_MADE = 1000 /* the id of the first map made */
};

/* The catalogue's rows, in this order. */
enum { BOT_CRAZY, BOT_LAZY, BOT_SLOW, BOT_FAST, BOT_GONE };
enum { MAP_CORRIDOR, MAP_ARENA, MAP_MINE };
enum { LADDER_RABBIT, LADDER_BATTLE, LADDER_SPAR, LADDER_MINE, LADDER_OFF };

struct world_peer {
	struct lobby_peer *peer; /* NULL: not connected */
	struct buf inbox;        /* what it heard and was not looked at */
	const char *closed;      /* why the lobby closed it; else NULL */
	struct buf last_read;    /* bytes that a last read will find */
	bool is_paused;
	unsigned sent; /* SEND actions */
};

struct world {
	struct lobby_config config;
	struct lobby *lobby;
	int64_t now_us;
	struct world_peer peers[SCRIPT_PEERS];
	struct buf log;

	struct row_bot bots[SCRIPT_BOTS];
	struct row_version versions[SCRIPT_VERSIONS];
	struct row_token tokens[SCRIPT_BOTS];
	struct row_ladder ladders[SCRIPT_LADDERS];
	struct row_map maps[SCRIPT_MAPS];
	int64_t map_ids[SCRIPT_MAPS];
	struct buf map_data[SCRIPT_MAPS];
	struct row_rating ratings[SCRIPT_BOTS]; /* not in the rows */
	struct row_catalogue rows;

	bool holds_store; /* records wait for world_store */
	bool holds_maps;  /* loads, and maps made, wait for world_load */
	bool holds_ids;   /* no ids come */
	bool holds_work;  /* busy matches wait for world_work */
	bool holds_asks;  /* asks wait for world_answer */
	bool holds_acks;  /* files are not acknowledged */
	struct match_record *records[SCRIPT_RECORDS];
	size_t nrecords; /* waiting */
	int64_t loads[SCRIPT_RECORDS];
	size_t nloads;
	struct lobby_action makes[SCRIPT_RECORDS];
	size_t nmakes;
	struct lobby_play *work[SCRIPT_RECORDS];
	size_t nwork;
	const struct lobby_ask *asks[SCRIPT_PEERS];
	size_t nasks;
	int64_t next_id;
	uint32_t rtt_us;  /* told when asked for; 0: not */
	bool fails_makes; /* no map can be made */
	struct buf made;  /* a line for each map made: its preset */
	unsigned nmade;
	unsigned stored, reserved, loaded, watched, reads;
	bool is_drained;
};

/*
 * A lobby with bots crazy (3 connections), lazy, slow, fast (2) and gone
 * (disabled), whose tokens are "right"; the ladders rabbit-runner (2 turns on
 * corridor.txt, seeds 3..7), battle (2 seats, rated), spar (likewise, not
 * rated), mine and off (disabled).
 */
void world_init(struct world *world);
void world_release(struct world *world);
/* Carry out what the lobby wants, then check its invariants. */
void world_apply(struct world *world);
/* Play TEXT; a line that fails is printed and fails the test. */
void world_play(struct world *world, const char *text);
/* Put all that waits on disk, load it, compute it. */
void world_store(struct world *world);
void world_load(struct world *world);
void world_work(struct world *world);
/*
 * Answer the asks: a new version (label "old" is retired), a bot ("taken" is
 * not free) with the token "hill_new", a new token "hill_next".
 */
void world_answer(struct world *world);
/* Tell the lobby the (changed) catalogue. */
void world_catalogue(struct world *world);
/* For cmocka: *STATE is a new world, and is freed. */
int world_setup(void **state);
int world_teardown(void **state);
/* One test in a world of its own. */
#define WORLD_TEST(name) \
	cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
/* NAME logs in as BOT, and has read what it was told. */
void world_login(struct world *world, char name, const char *bot);
struct world_peer *world_peer(struct world *world, char name);

#endif
