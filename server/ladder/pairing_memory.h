/* SPDX-License-Identifier: MIT */
/*
 * pairing_memory.h - who met whom lately on one ladder; the matchmaker's own.
 *
 * Of each bot the opponents of its last `window` sets are kept; of all bots
 * those PAIRING_BOTS that played last. Pure, one thread.
 */
#ifndef HILL_LADDER_PAIRING_MEMORY_H
#define HILL_LADDER_PAIRING_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"

struct pairing_memory;

enum { ACQUAINTED_SLOTS = 512 }; /* more than twice what one bot can know */

/* How one bot stands to others it met, to be looked up for thousands. */
struct acquaintance {
	uint64_t other_id; /* 0: a free slot */
	double weight;     /* sum of powers[age] over the meetings */
	unsigned meetings;
};

struct acquaintances {
	struct acquaintance slots[ACQUAINTED_SLOTS];
};

/* Remember WINDOW sets of SEATS seats. The caller frees it. */
struct pairing_memory *memory_new(unsigned window, unsigned seats) WARN_UNUSED;
void memory_free(struct pairing_memory *memory);
/* The bots BOT_IDS, COUNT up to the memory's seats, play a set. A bot that is
 * named twice met not itself. */
void memory_note(struct pairing_memory *memory, const uint64_t *bot_ids,
		 size_t count);
/* In how many of BOT_ID's last WINDOW sets OTHER_ID was there. */
unsigned memory_meetings(const struct pairing_memory *memory, uint64_t bot_id,
			 uint64_t other_id, unsigned window);
/* Whom BOT_ID met in the sets remembered. POWERS says how much a meeting
 * weighs, by age in sets of its own (0: its last one). */
void memory_acquaintances(const struct pairing_memory *memory, uint64_t bot_id,
			  const double *powers,
			  struct acquaintances *ret_known);
/* What is known about OTHER_ID; all 0 when they did not meet. */
const struct acquaintance *acquaintances_find(const struct acquaintances *known,
					      uint64_t other_id);

#endif
