/* SPDX-License-Identifier: MIT */
/*
 * tournament_internal.h - a tournament that runs, for tournament*.c.
 */
#ifndef HILL_LOBBY_TOURNAMENT_INTERNAL_H
#define HILL_LOBBY_TOURNAMENT_INTERNAL_H

#include "server/lobby/lobby_internal.h"

/* How an entrant fares as a client. */
struct attendance {
	unsigned busy;    /* matches that it has under way */
	unsigned strikes; /* offers in a row it was not ready for */
	bool is_away;     /* was waited for in vain */
};

/* Which entrant a bot is. */
struct entry {
	int64_t bot_id;
	uint32_t entrant;
};

struct lobby_tournament {
	struct row_tournament row; /* owned, with all results so far: sorted */
	size_t room;               /* for row.matches */
	struct tournament *state;  /* owned; what follows from ROW */
	struct entry *entries;     /* owned; of all entrants, by bot */
	struct attendance *attendance;   /* owned; by entrant */
	struct match_meeting *under_way; /* owned; appointed or in play; by
					    pairing and number */
	size_t nunder_way;
	int64_t *seeds; /* owned; sorted: drawn ones that somebody was given */
	size_t nseeds;
	unsigned nvoids;
	bool is_stuck; /* until the catalogue changes */
	bool is_ended;
};

/* tournament_seeds.c */
/* INSTANCE of T is given to somebody: others may still have to play it. */
void tournament_seeds_note(struct lobby_tournament *t, uint32_t instance);
/* Likewise all that was given before this server began, to what is new. */
void tournament_seeds_note_all(struct lobby_tournament *t);
/* The instance NUMBER of ROW, which is played on LADDER. */
void tournament_fill_instance(const struct row_tournament *row,
			      const struct ladder *ladder, uint32_t number,
			      struct instance *ret);

/* tournament_state.c */
/* What ROW says from now on, and what is newer here. */
void tournament_state_take(struct lobby_tournament *t,
			   const struct row_tournament *row);
/* The entrant that BOT_ID is, or row.nentrants. */
size_t tournament_state_entrant(const struct lobby_tournament *t,
				int64_t bot_id);
/* Where the match NUMBER of PAIRING stands among those under way, or would. */
size_t tournament_state_place(const struct lobby_tournament *t,
			      uint32_t pairing, uint32_t number);
/*
 * A result that is on disk, or on its way there. 0, or as
 * tournament_add_stored(): when the host has made one before it void it does
 * not count; it may again once that has been played.
 */
int tournament_state_add(struct lobby_tournament *t,
			 const struct row_tournament_match *match) WARN_UNUSED;
/* How many of T's matches are no part of its state: they do not fit. */
size_t tournament_state_left_out(const struct lobby_tournament *t);
/* Whether the host has made that match of T void. */
bool tournament_state_is_void(const struct lobby_tournament *t,
			      int64_t match_id);
void tournament_state_free(struct lobby_tournament *t);

#endif
