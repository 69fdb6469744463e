/* SPDX-License-Identifier: MIT */
/* start.h - how the next match of a ladder comes about, is played and stored; for the lobby's files. */
#ifndef HILL_LOBBY_START_H
#define HILL_LOBBY_START_H

#include "server/lobby/lobby_internal.h"

/* start.c */
/*
 * Whether PEER gets none of LADDER's own matches: it is kept for one that is
 * settled, or has half-closed its link.
 */
bool start_is_kept(const struct lobby *lobby, const struct ladder *ladder,
		   const struct lobby_peer *peer);
/*
 * The next instance of LADDER for WALKER (as instance_next) that can be played:
 * DEAL's is set, but not taken, its map is *RET_MAP. Or what is in the way.
 */
enum hold start_find(struct lobby *lobby, struct ladder *ladder,
		     struct bot *walker, struct deal *deal,
		     struct lobby_map **ret_map, size_t *ret_cost,
		     int64_t now_us);
/* Likewise for the instance that DEAL has; HOLD_BROKEN: never, says ERROR. */
enum hold start_admit(struct lobby *lobby, struct ladder *ladder,
		      const struct deal *deal, struct lobby_map **ret_map,
		      size_t *ret_cost, struct game_error *error,
		      int64_t now_us);
/* PEERS by seat, turned by one for each instance: nobody is always first. */
void start_seat(const struct deal *deal, struct lobby_peer *const *peers,
		struct lobby_peer **seated);
/*
 * Offer DEAL to PEERS, by seat. A round that has no id yet gets the match's,
 * in the play alone.
 */
struct lobby_play *start_begin(struct lobby *lobby, struct ladder *ladder,
			       struct lobby_peer *const *peers,
			       const struct deal *deal, struct lobby_map *map,
			       size_t cost, int64_t now_us);
void start_touch(struct lobby *lobby, struct ladder *ladder);
/* Something changed that held ladders back. */
void start_touch_held(struct lobby *lobby);
/* Something changed that holds every ladder back. */
void start_touch_waiting(struct lobby *lobby);
/* LADDER is about to be freed. */
void start_untouch(struct lobby *lobby, struct ladder *ladder);
/* Tell PEER, who waits for LADDER, why no match starts, if that is so. */
void start_explain(struct lobby *lobby, struct lobby_peer *peer,
		   struct ladder *ladder);
void start_pump(struct lobby *lobby, int64_t now_us);
/* Look at LADDER at AT_US or soon after, if nothing touches it before. */
void start_wake(struct lobby *lobby, struct ladder *ladder, int64_t now_us,
		int64_t at_us);
/* Touch the ladders whose time has come. */
void start_touch_woken(struct lobby *lobby, int64_t now_us);
/* Ask for ids when few are left. */
void start_reserve(struct lobby *lobby, int64_t now_us);

/* instance.c */
/* 64 bits that nobody can guess, nor tell from earlier ones. */
uint64_t instance_draw(struct lobby *lobby);
/*
 * The instance that LADDER gives BOT (of a solo game; else NULL) next, or
 * -ENOENT when none of its maps can be had, -EAGAIN while one is being made.
 * Takes nothing yet.
 */
int instance_next(struct lobby *lobby, struct ladder *ladder, struct bot *bot,
		  struct instance *ret, int64_t now_us) WARN_UNUSED;
/* It is being played now: the next one is another, seeds are drawn. */
void instance_take(struct lobby *lobby, struct ladder *ladder, struct bot *bot,
		   struct instance *instance);
/* Another bot's seed for a match on it; that of the match stays. */
void instance_draw_bot_seed(struct lobby *lobby, const struct ladder *ladder,
			    struct instance *instance);
/* Its offer was cancelled: it comes again. */
void instance_give_back(struct ladder *ladder, struct bot *bot,
			const struct instance *instance);

/* fresh.c */
/* Whether LADDER draws its maps, instead of playing those of its row. */
bool fresh_is_drawn(const struct ladder *ladder);
/*
 * The map that LADDER, which draws them, plays next. 0; -EAGAIN while it is
 * being made: held ladders are touched then; -ENOENT when that failed lately.
 */
int fresh_next(struct lobby *lobby, struct ladder *ladder, int64_t *ret_map_id,
	       int64_t now_us) WARN_UNUSED;
/* That map is being played on: the next is another, and is being made. */
void fresh_take(struct lobby *lobby, struct ladder *ladder);
/* A map that was taken has been shown to nobody: it is the next again. */
void fresh_give_back(struct ladder *ladder, int64_t map_id);
/* LADDER has other presets now. */
void fresh_forget(struct ladder *ladder);

/* maps.c */
void map_cache_init(struct map_cache *cache);
void map_cache_release(struct map_cache *cache);
/*
 * The map when it is ready (borrowed; lobby_map_ref keeps it), else NULL and
 * it is being loaded or has failed: *RET_STATE.
 */
struct lobby_map *map_want(struct lobby *lobby, int64_t map_id,
			   enum map_state *ret_state, int64_t now_us);
bool map_has_failed(struct lobby *lobby, int64_t map_id, int64_t now_us);
struct lobby_map *lobby_map_ref(struct lobby_map *map);
/* MAP, whose reference is taken over, is MAP_ID's: ready at once. */
void map_add(struct lobby *lobby, int64_t map_id, struct lobby_map *map);
/* MAP_ID is ready, but its ladder cannot be played on it: as if failed. */
void map_refuse(struct lobby *lobby, int64_t map_id, const char *text,
		int64_t now_us);
/* MAP_ID's row has changed or gone. */
void map_forget(struct lobby *lobby, int64_t map_id);
/* What failed before may be tried again. */
void map_retry_failed(struct lobby *lobby);

/* play.c */
void play_request(struct lobby *lobby, struct lobby_peer *peer,
		  const struct session_request *request, int64_t now_us);
/* Carry out what lobby->out says of PLAY; may free it. */
void play_apply(struct lobby *lobby, struct lobby_play *play, int64_t now_us);
/* PEER's last line is taken: its program is gone. */
void play_eof(struct lobby *lobby, struct lobby_peer *peer, int64_t now_us);
void play_link_lost(struct lobby *lobby, struct lobby_peer *peer,
		    int64_t now_us);
/* Whether the match of PEER takes more lines of it now. */
bool play_wants(const struct lobby_peer *peer);
/* Lines that one reply in the match of PEER may have. */
unsigned play_reply_lines(const struct lobby_peer *peer);
void play_expire(struct lobby *lobby, int64_t now_us);
/* Stop all plays that are in STATE: the server goes down. */
void play_abandon(struct lobby *lobby, enum play_state state, int64_t now_us);
/* The match of PLAY is freed, with all that it holds; PLAY stays. */
void play_end(struct lobby *lobby, struct lobby_play *play);
void play_free(struct lobby *lobby, struct lobby_play *play);
/* What came of PLAY, told to whoever settled its deal. Once. */
void play_over(struct lobby *lobby, struct lobby_play *play, enum deal_end end,
	       uint32_t at_fault, int64_t now_us);

/* results.c */
/* PLAY is over (or void): its record goes to the store. */
void results_store(struct lobby *lobby, struct lobby_play *play);
/* PEER hears no more results. */
void results_forget(struct lobby_peer *peer);

#endif
