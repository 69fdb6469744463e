/* SPDX-License-Identifier: MIT */
/*
 * replay.h - play a stored match again, from its seed, map and transcript.
 *
 *	struct replay_callbacks calls = { .line = print_line, .context = x };
 *	struct replay_source source = { game, map, &setup, transcript, len };
 *	rc = replay_run(&source, &calls, &result, &error);
 *
 * Any thread.
 */
#ifndef HILL_MATCH_REPLAY_H
#define HILL_MATCH_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"
#include "server/games/game.h"
#include "server/match/digest.h"
#include "server/match/transcript.h"

/* Each may be NULL. What they are given is borrowed for the call. */
struct replay_callbacks {
	/* An input is about to be fed; TURN is the seat's request, from 1. */
	void (*input)(void *context, const struct transcript_entry *entry,
		      uint32_t turn);
	/* A line to SEAT, without its LF, in the order that a match sends. */
	void (*line)(void *context, unsigned seat, const char *text,
		     size_t len);
	/*
	 * After the begin and after each input, when its lines are told: for
	 * grids and dumps. OUT says who was asked and who ended.
	 */
	void (*step)(void *context, const struct game *game,
		     const struct game_state *state,
		     const struct game_out *out);
	/*
	 * The state is as a player or a spectator gets to see it: requests
	 * were put, the match is over, or a move was made of an input that
	 * holds many. For pictures.
	 */
	void (*seen)(void *context, const struct game *game,
		     const struct game_state *state);
	/* Asked before each input: true gives the replay up (-ECANCELED). */
	bool (*is_cut)(void *context);
	void *context;
};

struct replay_result {
	struct game_score scores[GAME_SEATS_MAX]; /* setup->seats of them */
	bool is_over;    /* false: the transcript ends before the game */
	uint64_t inputs; /* that were fed */
	uint32_t turns[GAME_SEATS_MAX]; /* requests put to each seat */
	uint64_t digest;
	uint64_t samples[DIGEST_SAMPLES_MAX + 1]; /* as in a record */
	size_t nsamples;
};

/* What is played again. All borrowed for the call. */
struct replay_source {
	const struct game *game;
	const struct game_map *map;
	const struct game_setup *setup; /* its limits do not matter */
	const uint8_t *transcript;      /* as stored */
	size_t transcript_len;
	/*
	 * What one input may tell a seat, as in the match: 0 for
	 * LIMIT_OUTPUT_BYTES.
	 */
	size_t output_bytes;
};

/*
 * Play it again. 0 with *RET; -EINVAL when the engine refuses the setup,
 * -ENOMEM; -EILSEQ when the transcript is damaged or does not fit the game (an
 * input that nobody asked for, or after the end), -ENOTSUP when it is of a
 * newer version, -ECANCELED where `is_cut` says so. ERROR says what and where.
 * CALLBACKS may be NULL.
 */
int replay_run(const struct replay_source *source,
	       const struct replay_callbacks *callbacks,
	       struct replay_result *ret, struct game_error *error) WARN_UNUSED;

#endif
