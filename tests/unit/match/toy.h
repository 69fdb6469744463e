/* SPDX-License-Identifier: MIT */
/*
 * toy.h - a game for tests of what lies around games, and a stage on fake
 * time to play it on.
 *
 * Seats are asked with "ask N", in turn or all at once. What a reply says is
 * told to all others as "S said TEXT" and, by its first word, done:
 *	bad	the reply is invalid
 *	at	the seat is sent the line "@at"
 *	busy	the engine wants to work
 *	out	the seat's game is over
 *	end	the match is over
 *	flood	the seat is sent 2 MiB
 *	drown	the seat is sent 65 MiB
 * A seat that is late `late` times is suspended; one that is gone is out.
 */
#ifndef HILL_TESTS_MATCH_TOY_H
#define HILL_TESTS_MATCH_TOY_H

#include "server/match/match.h"
#include "server/match/notes.h"
#include "server/match/record.h"
#include "server/match/replay.h"

enum { TOY_TURNS, TOY_ALL_AT_ONCE, TOY_LATE, TOY_NPARAMS };

extern const struct game toy_game;       /* files, control lines, term */
extern const struct game toy_whole_game; /* reads @input; stop=eof */
const struct game_map *toy_map(void);

struct stage {
	struct match *match;
	struct match_out *out;
	int64_t now_us;
	struct match_config config;
	struct game_setup setup;
	/* All that each seat was sent, blocks as "[block]\n". */
	struct buf sent[GAME_SEATS_MAX];
	struct buf told; /* of a local match */
	/* Over all calls: the out-> flags. */
	uint32_t ended;
	bool is_over, is_void, is_cancelled, is_abandoned, is_busy;
	uint32_t stays;
	bool keeps_clocks; /* do not start the clocks of requests */
};

/* A stage for SEATS seats with 100 ms turns, no init, bank or lag. */
void stage_init(struct stage *stage, unsigned seats);
/* Offer the match at now_us. */
void stage_offer(struct stage *stage);
/* Offer it, and everybody is ready. */
void stage_begin(struct stage *stage);
void stage_release(struct stage *stage);
/* Take what a call put out; starts the clocks. After every call. */
void stage_take(struct stage *stage);
void stage_say(struct stage *stage, unsigned seat, const char *text);
/* Let time pass, with verdicts as they fall due. */
void stage_pass(struct stage *stage, int64_t us);
/* Whether SEAT was sent TEXT; everything up to there is forgotten. */
bool stage_got(struct stage *stage, unsigned seat, const char *text);
/* Play the record again: digest, samples and scores must be the same. */
void stage_check_replay(const struct stage *stage,
			const struct match_record *record);
/* The next of a row of numbers that is the same everywhere. */
uint32_t stage_draw(uint64_t *seed);
/*
 * From stage_init on, a match of SEATS seats with all that can happen to it,
 * up to STEPS events drawn from SEED. Its record is the caller's.
 */
struct match_record *stage_play_random(struct stage *stage, unsigned seats,
				       uint64_t seed, unsigned steps);
/* Replay BYTES as a toy's transcript. */
int toy_replay(const struct game_setup *setup, const uint8_t *bytes, size_t len,
	       const struct replay_callbacks *calls, struct replay_result *ret,
	       struct game_error *error);

#endif
