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
#include <sys/queue.h>

#include "server/base/alloc.h"

struct meeting {
	uint64_t other_id;
	uint64_t set; /* number among the bot's own sets */
};

struct memory_bot {
	uint64_t bot_id;
	uint64_t nsets;
	uint64_t filter;         /* a bit for each opponent kept, and others */
	struct memory_bot *link; /* of the same bucket */
	TAILQ_ENTRY(memory_bot) order;
	size_t first, count; /* of the ring */
	struct meeting ring[];
};

struct pairing_memory;

/* Remember WINDOW sets of SEATS seats. The caller frees it. */
struct pairing_memory *memory_new(unsigned window, unsigned seats) WARN_UNUSED;
void memory_free(struct pairing_memory *memory);
/* The bots BOT_IDS, COUNT up to the memory's seats, play a set. A bot that is
 * named twice met not itself. */
void memory_note(struct pairing_memory *memory, const uint64_t *bot_ids,
		 size_t count);
/* What is known of BOT_ID, or NULL. Valid until the next memory_note(). */
const struct memory_bot *memory_find(const struct pairing_memory *memory,
				     uint64_t bot_id);
/* In how many of BOT's last WINDOW sets OTHER_ID was there. BOT may be NULL. */
unsigned memory_meetings(const struct pairing_memory *memory,
			 const struct memory_bot *bot, uint64_t other_id,
			 unsigned window);
/* The sum of POWERS[age] over BOT's meetings with OTHER_ID, the age of the
 * last set being 0; POWERS has `window` figures. BOT may be NULL. */
double memory_weight(const struct pairing_memory *memory,
		     const struct memory_bot *bot, uint64_t other_id,
		     const double *powers);

#endif
