/* SPDX-License-Identifier: MIT */
/*
 * rerun.h - play stored matches again: for looking at them, and to prove that
 * they still come out as they are stored.
 *
 *	store_record(store, id, &record, &error);
 *	rerun_init(&rerun, &record, &game_error);
 *	rerun_play(&rerun, &callbacks, &result, &game_error);
 *	rerun_release(&rerun);
 *	row_record_release(&record);
 *
 * Nothing but seed, map and transcript of the record goes into it. Any
 * thread; a rerun is used by one at a time.
 */
#ifndef HILL_STORE_RERUN_H
#define HILL_STORE_RERUN_H

#include <stdbool.h>
#include <stdint.h>

#include "server/match/replay.h"
#include "server/store/store.h"

struct rerun {
	const struct row_record *record; /* borrowed */
	const struct game *game;         /* static */
	struct game_map *map;            /* owned */
	struct game_setup setup;         /* its texts are the record's */
};

/*
 * Make RECORD, which must outlive it, ready to be played again. 0;
 * -ENOTSUP when this program has no such engine, or another version of it;
 * -EINVAL when map or parameters are no good, -ENOMEM. ERROR says why. On
 * failure there is nothing to release.
 */
int rerun_init(struct rerun *rerun, const struct row_record *record,
	       struct game_error *error) WARN_UNUSED;
void rerun_release(struct rerun *rerun);
/* As replay_run. */
int rerun_play(const struct rerun *rerun,
	       const struct replay_callbacks *callbacks,
	       struct replay_result *ret, struct game_error *error) WARN_UNUSED;

enum rerun_verdict {
	RERUN_SAME,       /* lines, scores, all as stored */
	RERUN_DIFFERS,    /* it comes out otherwise */
	RERUN_DAMAGED,    /* the transcript or the notes cannot be read */
	RERUN_UNPLAYABLE, /* no engine of that version, a map that is no map */
	RERUN_NVERDICTS
};

/* A place in a match: what was fed to the engine then. */
struct rerun_place {
	uint64_t input; /* from 1; 0: before the first */
	unsigned seat;
	uint32_t request; /* of that seat, from 1 */
};

struct rerun_report {
	enum rerun_verdict verdict;
	char text[400]; /* what is wrong, for people; "" when nothing is */
	/* Where the lines part: after FROM they agree, by TO they do not. */
	bool has_place;
	struct rerun_place from, to;
};

/* The word of a verdict: "same", "differs", "damaged", "unplayable". */
const char *rerun_verdict_word(enum rerun_verdict verdict);
/* Play RECORD again and compare. */
void rerun_verify(const struct row_record *record, struct rerun_report *ret);
/* Likewise match ID of STORE. 0; -ENOENT, -EIO, -ENOMEM: as store_record. */
int rerun_verify_stored(struct store *store, int64_t id,
			struct rerun_report *ret,
			struct store_error *error) WARN_UNUSED;

#endif
