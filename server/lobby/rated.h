/* SPDX-License-Identifier: MIT */
/* rated.h - what counts: ratings, rounds, sets, and who has to pause; for the lobby's files. */
#ifndef HILL_LOBBY_RATED_H
#define HILL_LOBBY_RATED_H

#include "server/lobby/lobby_internal.h"

/* ratings.c */
/* What is known of a version; that of a beginner, if nothing is. */
struct row_rating ratings_get(const struct ratings *ratings, int64_t ladder_id,
			      int64_t version_id);
/* All of them anew, if ROWS have any; what came after ROWS stays. */
void ratings_take(struct ratings *ratings, const struct row_catalogue *rows);
void ratings_release(struct ratings *ratings);

/* round.c and set.c: rated play. */
/* Who plays next, and what. */
struct pick {
	struct lobby_peer *peers[LIMIT_SEATS]; /* in no order of seats */
	bool is_rated;
	struct open_round *round;    /* of a solo game; NULL: a new one */
	struct open_round *replaced; /* to be closed for the new one's sake */
};

/* Whether LADDER's matches make ratings. */
bool ladder_is_rated(const struct ladder *ladder);
/* The next run on LADDER, of a solo game. False: none can be. */
bool round_pick(struct lobby *lobby, struct ladder *ladder, struct pick *ret,
		int64_t now_us);
/* Begin it, or say what is in the way. */
enum hold round_start(struct lobby *lobby, struct ladder *ladder,
		      struct pick *pick, int64_t now_us);
/* Close the rounds of LADDER that are over. */
void round_sweep(struct lobby *lobby, struct ladder *ladder, int64_t now_us);
/* Whether an open round of LADDER is on that map with SEED. */
bool round_has(const struct ladder *ladder, int64_t map_id, const char *seed);
/*
 * From when on BOT, of the house, may have a run of one of LADDER's rounds,
 * for the sake of who has played it; INT64_MAX: of none.
 */
int64_t round_house_us(const struct ladder *ladder, const struct bot *bot,
		       int64_t now_us);
/* LADDER is freed, or the lobby: nothing is closed. */
void round_release(struct ladder *ladder);
void round_check(const struct ladder *ladder);
/* Likewise of a shared game: the first match of a set. */
bool set_pick(struct lobby *lobby, struct ladder *ladder, struct pick *ret,
	      int64_t now_us);
enum hold set_start(struct lobby *lobby, struct ladder *ladder,
		    struct pick *pick, int64_t now_us);
/* These three do nothing where PLAY is of no set. PLAY is another match: */
void set_begin_next(struct lobby *lobby, const struct lobby_play *play);
/* All were ready. */
void set_match_begun(struct lobby *lobby, const struct lobby_play *play);
/* It is over, its record with the store. */
void set_match_ended(struct lobby *lobby, struct lobby_play *play,
		     int64_t now_us);
/* PEER said that it leaves LADDER (NULL: all): the set it sits at there. */
void set_leave(struct lobby *lobby, struct lobby_peer *peer,
	       struct ladder *ladder, int64_t now_us);
/* Whether a set that is not over is on that map with SEED. */
bool set_has(const struct lobby *lobby, int64_t map_id, const char *seed);
void set_release(struct lobby *lobby);
void set_check(const struct lobby *lobby);

/* pause.c */
/* BOT did not take an offer of LADDER, or left a set; or played to the end. */
void pause_note_withdrawal(struct lobby *lobby, struct bot *bot,
			   struct ladder *ladder, int64_t now_us);
void pause_note_forfeit(struct lobby *lobby, struct bot *bot,
			struct ladder *ladder, int64_t now_us);
void pause_note_completed(struct bot *bot, struct ladder *ladder,
			  int64_t now_us);
/* For how many seconds BOT has to pause on LADDER; 0: not. */
uint32_t pause_left(struct bot *bot, const struct ladder *ladder,
		    int64_t now_us);
/* Whether it has to; then LADDER is looked at when that is over. */
bool pause_holds(struct lobby *lobby, struct ladder *ladder, struct bot *bot,
		 int64_t now_us);

#endif
