/* SPDX-License-Identifier: MIT */
/*
 * record.h - what a match leaves behind, for the store.
 * Plain data; owned by whoever holds it. Any thread.
 */
#ifndef HILL_MATCH_RECORD_H
#define HILL_MATCH_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/buffer.h"
#include "server/base/metrics.h"
#include "server/games/game.h"
#include "server/match/match.h"

enum { MATCH_HOW_BYTES = 24, MATCH_VOID_BYTES = 200 };

struct match_record_seat {
	int64_t bot_id, version_id; /* as in the config */
	char *bot;                  /* owned */
	struct game_score score;
	uint32_t requests; /* that were put to it */
	uint32_t faults[MATCH_NFAULTS];
	uint32_t early;                     /* replies ahead of their request */
	uint32_t banked;                    /* replies that spent of the bank */
	int64_t max_us;                     /* slowest reply in time; 0: none */
	int64_t total_us;                   /* of all replies in time */
	uint32_t times[METRICS_BOUNDS + 1]; /* how many of them took so long */
	int64_t lag_us; /* least seen, capped; 0 when never sampled */
	char how[MATCH_HOW_BYTES]; /* "exit=3", "resigned", "link" or "" */
};

struct match_record {
	int64_t id, ladder_id, map_id; /* as in the config */
	char *ladder;                  /* owned, as are the texts below */
	char *map_name;
	const struct game *game; /* static; ->version is the engine's */
	bool is_rated;
	enum match_purpose purpose;
	struct match_round round;
	struct match_meeting meeting;
	bool is_void;
	char void_reason
		[MATCH_VOID_BYTES]; /* "stall: ..."; "" when it counts */
	struct game_setup setup;    /* seed and bot_seed owned by the record */
	struct match_limits limits;
	/* Monotonic, as handed to match_new: when it began to count, ended. */
	int64_t started_us, ended_us;
	int64_t stall_us; /* lost by the loop and credited */
	unsigned nseats;
	struct match_record_seat seats[GAME_SEATS_MAX];
	/*
	 * zlib streams; transcript.h and notes.h read them. Owned.
	 */
	uint8_t *transcript;
	size_t transcript_len;
	uint8_t *notes;
	size_t notes_len;
	bool is_repacked;
	uint64_t inputs; /* that the engine was fed: transcript's records */
	uint64_t digest; /* of all output lines */
	/*
	 * Of the running digest: samples[0] is the interval K in inputs,
	 * samples[n] the digest after n * K inputs. Owned; may be NULL.
	 */
	uint64_t *samples;
	size_t nsamples;
};

/*
 * A record of id 0 that holds nothing but MEETING, which no match was played
 * for. match_record_free.
 */
struct match_record *match_record_decision(const struct match_meeting *meeting)
	WARN_UNUSED;
void match_record_free(struct match_record *record); /* NULL is fine */
/*
 * Make transcript and notes as small as they get, about 20 us a KiB; the same
 * content. For a thread that has time: the store's. More calls do nothing.
 */
void match_record_repack(struct match_record *record);
/*
 * What SEAT is told once RECORD is on disk, appended to OUT: a @place line for
 * every seat and its own @result; for a void match nothing (@void was told).
 * Under embargo no @place, and a @result that says nothing but the reason.
 */
void match_result_lines(const struct match_record *record, unsigned seat,
			struct buf *out);
/* The parameters in canonical form, "turns=500". Appended to OUT. */
void match_record_params(const struct match_record *record, struct buf *out);

#endif
