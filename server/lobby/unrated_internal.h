/* SPDX-License-Identifier: MIT */
/* unrated_internal.h - wishes and their opponents, for unrated.c and lend.c. */
#ifndef HILL_LOBBY_UNRATED_INTERNAL_H
#define HILL_LOBBY_UNRATED_INTERNAL_H

#include "server/lobby/lobby_internal.h"

/*
 * Who may be lent as an opponent, by what it would play. During one look each
 * entry of the queue has its kind, and they are counted: where many wish and
 * few are there, nobody goes through the queue to find that out.
 */
enum lender {
	LENDER_NONE,
	LENDER_HOUSE,
	LENDER_HOUSE_ANY,
	LENDER_ANY,  /* at the ladder's own pace, as the next */
	LENDER_WISH, /* wishes for a match itself, whatever it is */
	LENDER_NKINDS
};

struct look {
	struct lobby *lobby;
	struct ladder *ladder;
	int64_t now_us;
	bool has_lenders; /* they are listed: when the first wish needs them */
	unsigned counts[LENDER_NKINDS];
};

/* lend.c */
/* Find out who may be lent, unless that is known already. */
void lend_list(struct look *look);
/* ENTRY has something to play now, or goes. */
void lend_unlist(struct look *look, struct waiting *entry);
/* Whether there are opponents enough for ENTRY, which names none. */
bool lend_is_enough(const struct look *look, const struct waiting *entry);
/*
 * The best one for WISH, after lend_list(), that is not among the COUNT
 * seated; or NULL.
 */
struct lobby_peer *lend_find(const struct look *look, const struct wish *wish,
			     struct lobby_peer *const *seated, unsigned count);
/* Whether ENTRY has to wait until no author does, and is looked at again. */
bool lend_has_to_wait(struct look *look, const struct waiting *entry);
/* Whether the opponent that WISH names waits on LADDER and would play. */
bool lend_is_there(struct lobby *lobby, struct ladder *ladder,
		   const struct wish *wish);

#endif
