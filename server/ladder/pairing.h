/* SPDX-License-Identifier: MIT */
/*
 * pairing.h - the matchmaker: who of those that wait plays the next set.
 *
 * The lobby keeps one `struct pairing` for each rated ladder of a shared game,
 * hands in everybody who waits there now, and is told either who sits down or
 * until when a better table is worth waiting for. The rules, in their order:
 *
 * 1. Paused bots sit nowhere. One owner's bots never sit at one table; house
 *    bots (the host's own) may sit with one another.
 * 2. Nobody waits for ever. Of N bots on the ladder, one that was passed over
 *    by N sets is overdue; the one passed over most takes the first seat of
 *    the next set, whatever it costs. A seated bot starts again at 0, so at
 *    most N - 1 others can be ahead of it: it is passed over by fewer than
 *    2 N sets, as long as anybody may sit with it.
 * 3. A bot without any round takes the next free seat once one set has passed
 *    it over: its first set is the second one after it came (where several
 *    come at once, each set takes as many as it has seats left).
 * 4. Otherwise the first seat goes to who waits longest and is known least.
 *    The other seats go where a set tells most: the expected gain of
 *    information about the ratings (Weng and Lin's model, JMLR 12, 2011: the
 *    more uncertain the bots and the more open the outcome, the more),
 *    weighted with how open the order of the two still is, less for every
 *    recent meeting, a little more for who waits longer.
 * 5. Two bots that were at one table in pair_cap of the last pair_window sets
 *    of either do not meet while anybody else may take the seat, a house bot
 *    as well; while bots are in play that may come back, such a table is held
 *    back as rule 7 says.
 * 6. A house bot takes a seat only when no author's bot may, and the first at
 *    the table has waited house_wait_us. House bots alone play only while one
 *    of them is less certain than house_settle_sigma.
 * 7. A table that tells little (who has just met, sits there again) is held
 *    back while bots are in play that may come back: at most patience_us, at
 *    most half of what a set takes on this ladder; not when one is overdue.
 *
 * For its first new_version_rounds rounds a new version counts as being as
 * strong as its predecessor, so it begins near it.
 *
 * Pure: no clock, no I/O; chance from the seed alone, so the same calls give
 * the same tables. One thread. A call costs O(seats x candidates).
 */
#ifndef HILL_LADDER_PAIRING_H
#define HILL_LADDER_PAIRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"
#include "server/base/limits.h"

struct pairing_rules {
	unsigned seats;            /* 2..LIMIT_SEATS */
	int64_t patience_us;       /* rule 7 */
	int64_t house_wait_us;     /* rule 6 */
	double house_settle_sigma; /* rule 6; INFINITY: never alone */
	unsigned pair_cap;         /* rule 5; 0: no cap */
	unsigned pair_window;      /* rule 5: 1..PAIRING_WINDOW sets */
	unsigned new_version_rounds;
};

/* For SEATS seats: 10 s, 20 s, 5.0, 3 x seats of 16 sets (none from 6 seats
 * on), 3 rounds. */
struct pairing_rules pairing_default_rules(unsigned seats);

/* One connection that waits. A bot may wait with several. */
struct pairing_candidate {
	uint64_t bot_id; /* not 0 */
	int64_t owner_id;
	double mu, sigma; /* of the version that waits */
	uint32_t rounds;  /* rated ones of this version on this ladder */
	bool is_house;
	bool is_new_version; /* predecessor_mu is one */
	double predecessor_mu;
	int64_t waiting_since_us;
	uint64_t waiting_since_set; /* pairing_sets() when it came to wait */
	int64_t paused_until_us;    /* 0 for not at all (pairing_penalty.h) */
};

enum pairing_verdict {
	PAIRING_SEATED, /* take these and begin */
	PAIRING_WAIT,   /* ask again when something changes, or at until_us */
};

struct pairing_table {
	size_t seats[LIMIT_SEATS]; /* rules.seats places in the candidates */
	int64_t until_us; /* of WAIT; INT64_MAX: time alone helps not */
};

struct pairing_memory;
struct pairing_place;

/* A ladder's matchmaker; its members are its own. */
struct pairing {
	struct pairing_rules rules;
	uint64_t random;
	uint64_t nsets;
	int64_t set_us;                /* what a set takes; 0: not known yet */
	struct pairing_memory *memory; /* owned */
	struct pairing_place *scratch; /* owned: as many as the largest call */
	size_t scratch_cap;
};

/* RULES are copied. Release with pairing_release(), which accepts all 0. */
void pairing_init(struct pairing *pairing, const struct pairing_rules *rules,
		  uint64_t seed);
void pairing_release(struct pairing *pairing);

/*
 * Seat the next set. CANDIDATES (COUNT of them, borrowed for the call) wait
 * now; NBUSY more bots of this ladder are in play and may come back. On
 * PAIRING_SEATED ret_table->seats is filled, and nothing is noted yet: the
 * caller says pairing_note_begun() when the set begins, or does not. Seats are
 * in no meaningful order.
 */
enum pairing_verdict pairing_next(struct pairing *pairing,
				  const struct pairing_candidate *candidates,
				  size_t count, size_t nbusy, int64_t now_us,
				  struct pairing_table *ret_table);

/* Sets begun so far: what a candidate keeps as waiting_since_set. */
uint64_t pairing_sets(const struct pairing *pairing);
/* The COUNT bots BOT_IDS have sat down for a set. */
void pairing_note_begun(struct pairing *pairing, const uint64_t *bot_ids,
			size_t count);
/* A set has ended that took DURATION_US. */
void pairing_note_ended(struct pairing *pairing, int64_t duration_us);

/*
 * In how many of BOT's last WINDOW sets OTHER was at its table. Remembered are
 * rules.pair_window sets of each of PAIRING_BOTS bots, of which the one that
 * has not played for longest makes room.
 */
unsigned pairing_meetings(const struct pairing *pairing, uint64_t bot_id,
			  uint64_t other_id, unsigned window);

enum {
	PAIRING_BOTS = 8192, /* bots remembered on a ladder */
	PAIRING_WINDOW = 32, /* the most a pair_window may be */
};

#endif
