/* SPDX-License-Identifier: MIT */
/* appointment.h - matches that are settled beforehand, and who settles them; for the lobby's files. */
#ifndef HILL_LOBBY_APPOINTMENT_H
#define HILL_LOBBY_APPOINTMENT_H

#include "server/lobby/lobby_internal.h"

/* appointment.c */
/*
 * LADDER plays DEAL as soon as all BOTS (deal->seats of them, borrowed) are
 * free at once. Fill in the rest of what is returned, then call
 * appointment_add. NULL: LIMIT_APPOINTMENTS wait already.
 */
struct appointment *appointment_new(struct lobby *lobby, struct ladder *ladder,
				    const struct deal *deal,
				    struct bot *const *bots) WARN_UNUSED;
/* One that was not added. */
void appointment_free(struct appointment *appointment);
/* It waits from now on; lobby_settle, at the entry's end, may begin it. */
void appointment_add(struct lobby *lobby, struct appointment *appointment,
		     int64_t now_us);
/* Seats whose bots do not wait on the ladder in the numbers that it takes. */
uint32_t appointment_absent(const struct appointment *appointment);
/*
 * The appointment of LADDER whose bots are all free, with their peers by seat,
 * or NULL. Drops those that wait no longer for somebody.
 */
struct appointment *appointment_next(struct lobby *lobby, struct ladder *ladder,
				     struct lobby_peer *peers[LIMIT_SEATS],
				     int64_t now_us);
/*
 * Whether PEER waits for an appointment on LADDER, and for nothing else there:
 * all of that are there.
 */
bool appointment_keeps(const struct ladder *ladder,
		       const struct lobby_peer *peer);
/* Whether one of LADDER has a seat for PEER's connection alone. */
bool appointment_has(const struct ladder *ladder,
		     const struct lobby_peer *peer);
/* It has begun: freed. Its deal's OVER comes with the play's end. */
void appointment_done(struct lobby *lobby, struct appointment *appointment);
/* It cannot begin (REASON, for the log): OVER is told, and it is freed. */
void appointment_drop(struct lobby *lobby, struct appointment *appointment,
		      uint32_t at_fault, const char *reason, int64_t now_us);
/* The first deadline of those that wait for somebody, or INT64_MAX. */
int64_t appointment_deadline(const struct ladder *ladder);
/* Free all, at the lobby's end; nobody is told. */
void appointment_release(struct lobby *lobby);

/* unrated.c */
/* What REQUEST wishes of LADDER; the caller's (free), or the refusal. */
enum error_code unrated_wish(struct lobby *lobby, struct ladder *ladder,
			     const struct session_wish *request,
			     struct wish **ret) WARN_UNUSED;
/*
 * An instance of LADDER's game that nobody has an interest in: no hidden map,
 * no seed of a contest, nothing that is being played for a rating. MAP_ID 0
 * and SEED "": drawn. Where LADDER draws its maps a map that is drawn is to
 * be fresh: is_fresh, without a map until unrated_take_map(). The refusal, or
 * ERROR_NONE.
 */
enum error_code unrated_instance(struct lobby *lobby,
				 const struct ladder *ladder, int64_t map_id,
				 const char *seed,
				 struct instance *ret) WARN_UNUSED;
/*
 * Give INSTANCE of unrated_instance(), for DEAL's seats and time, a map of
 * LADDER's stock when it is to be fresh. HOLD_NONE, or why there is none.
 */
enum hold unrated_take_map(struct lobby *lobby, struct ladder *ladder,
			   const struct deal *deal, struct instance *instance,
			   int64_t now_us) WARN_UNUSED;
/*
 * DEAL on the ladder LADDER_ID, of whose instance nobody has seen anything
 * before, came to END: a fresh map that still nobody saw goes back into stock.
 */
void unrated_give_back(struct lobby *lobby, const struct deal *deal,
		       int64_t ladder_id, enum deal_end end, uint32_t at_fault);
/*
 * Make appointments on LADDER for what is wished there and can be played.
 * HOLD_NONE, or why a map that one of them waits for cannot be had yet.
 */
enum hold unrated_look(struct lobby *lobby, struct ladder *ladder,
		       int64_t now_us) WARN_UNUSED;
/*
 * Whether ENTRY of LADDER is free for a match of another's. One that has been
 * lent is not, for REST_US from then on; LADDER is looked at again after that.
 */
bool unrated_may_lend(struct lobby *lobby, struct ladder *ladder,
		      const struct waiting *entry, int64_t rest_us,
		      int64_t now_us);
/* How long ENTRY, once lent, is left to who waits for LADDER's matches. */
int64_t unrated_rest(const struct ladder *ladder, const struct waiting *entry);
/* Whether others than who asked for it are lent to a match of that PURPOSE. */
bool unrated_is_lending(enum match_purpose purpose);

/* lend.c */
/* PLAY begins, or has ended: those that take more time than usual are known. */
void lend_begin(struct lobby *lobby, struct lobby_play *play, int64_t now_us);
void lend_end(struct lobby_play *play);
/*
 * The house's connections that an author on LADDER has waited for long enough
 * (`house-wait`) resign slow unrated matches, the last begun first, as far as
 * the others that the house has there are too few.
 */
void lend_call_back(struct lobby *lobby, struct ladder *ladder, int64_t now_us);

/* candidate.c */
/*
 * Begin duels on LADDER of candidates whose predecessors are free. Returns as
 * unrated_look().
 */
enum hold candidates_look(struct lobby *lobby, struct ladder *ladder,
			  int64_t now_us) WARN_UNUSED;
/* Whether PEER is a candidate that plays duels on LADDER and nothing else. */
bool candidate_keeps(const struct ladder *ladder,
		     const struct lobby_peer *peer);
void candidates_release(struct lobby *lobby);

/* tournament.c */
/* Those of ROWS that run are played; others no more. */
void tournaments_replace(struct lobby *lobby, const struct row_catalogue *rows,
			 int64_t now_us);
/* Make appointments on LADDER for what can be played: somebody came. */
void tournaments_look(struct lobby *lobby, struct ladder *ladder,
		      int64_t now_us);
/*
 * Whether PEER's bot has a match of a tournament under way, the way to the
 * disk included, and plays nothing else on LADDER until it knows the next.
 */
bool tournaments_keep(const struct lobby *lobby, const struct ladder *ladder,
		      const struct lobby_peer *peer);
/* APPOINTMENT, if it is of a tournament, misses those SEATS: they are told. */
void tournaments_tell_missed(struct lobby *lobby,
			     const struct appointment *appointment,
			     uint32_t seats);
/* Whether one of GAME that runs has SEED among its own. */
bool tournaments_have_seed(struct lobby *lobby, const struct game *game,
			   int64_t seed);
void tournaments_release(struct lobby *lobby);

#endif
