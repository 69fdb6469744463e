/* SPDX-License-Identifier: MIT */
#include "server/ladder/pairing_memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "server/ladder/pairing.h"

enum { MEMORY_BUCKETS = 64 }; /* to begin with */

struct meeting {
	uint64_t other_id;
	uint64_t set; /* number among the bot's own sets */
};

struct memory_bot {
	uint64_t bot_id;
	uint64_t nsets;
	struct memory_bot *link; /* of the same bucket */
	TAILQ_ENTRY(memory_bot) order;
	size_t first, count; /* of the ring */
	struct meeting ring[];
};

TAILQ_HEAD(memory_order, memory_bot);

struct pairing_memory {
	unsigned window;
	size_t ring_cap;
	struct memory_bot **buckets; /* owned */
	size_t nbuckets;             /* a power of two */
	size_t count;
	struct memory_order order; /* who played last is last */
};

static uint64_t mix(uint64_t key)
{
	key = (key ^ (key >> 31)) * UINT64_C(0x9e3779b97f4a7c15);
	return key ^ (key >> 29);
}

struct pairing_memory *memory_new(unsigned window, unsigned seats)
{
	struct pairing_memory *memory = xcalloc(1, sizeof(*memory));

	assert(window >= 1 && window <= PAIRING_WINDOW);
	memory->window = window;
	memory->ring_cap = (size_t)window * (seats - 1);
	memory->nbuckets = MEMORY_BUCKETS;
	memory->buckets =
		xcalloc(memory->nbuckets, sizeof(struct memory_bot *));
	TAILQ_INIT(&memory->order);
	return memory;
}

void memory_free(struct pairing_memory *memory)
{
	struct memory_bot *bot;

	if (memory == NULL)
		return;
	while ((bot = TAILQ_FIRST(&memory->order)) != NULL) {
		TAILQ_REMOVE(&memory->order, bot, order);
		free(bot);
	}
	free(memory->buckets);
	free(memory);
}

static struct memory_bot **place_of(const struct pairing_memory *memory,
				    uint64_t bot_id)
{
	struct memory_bot **place =
		&memory->buckets[mix(bot_id) & (memory->nbuckets - 1)];

	while (*place != NULL && (*place)->bot_id != bot_id)
		place = &(*place)->link;
	return place;
}

static void grow(struct pairing_memory *memory)
{
	struct memory_bot *bot;

	free(memory->buckets);
	memory->nbuckets *= 2;
	memory->buckets =
		xcalloc(memory->nbuckets, sizeof(struct memory_bot *));
	TAILQ_FOREACH(bot, &memory->order, order) {
		bot->link = NULL;
		*place_of(memory, bot->bot_id) = bot;
	}
}

/* The record of who has not played for longest, for somebody else. */
static struct memory_bot *take_oldest(struct pairing_memory *memory)
{
	struct memory_bot *bot = TAILQ_FIRST(&memory->order);

	*place_of(memory, bot->bot_id) = bot->link;
	TAILQ_REMOVE(&memory->order, bot, order);
	memory->count--;
	*bot = (struct memory_bot){ 0 };
	return bot;
}

static struct memory_bot *add(struct pairing_memory *memory, uint64_t bot_id)
{
	struct memory_bot *bot;

	if (memory->count == PAIRING_BOTS) {
		bot = take_oldest(memory);
	} else {
		if (memory->count == memory->nbuckets)
			grow(memory);
		bot = xcalloc(1, sizeof(*bot) + memory->ring_cap *
							sizeof(bot->ring[0]));
	}
	bot->bot_id = bot_id;
	*place_of(memory, bot_id) = bot;
	memory->count++;
	return bot;
}

/* The record of BOT_ID, new where need be, as the last in the order. */
static struct memory_bot *touch(struct pairing_memory *memory, uint64_t bot_id)
{
	struct memory_bot *bot = *place_of(memory, bot_id);

	if (bot != NULL)
		TAILQ_REMOVE(&memory->order, bot, order);
	else
		bot = add(memory, bot_id);
	TAILQ_INSERT_TAIL(&memory->order, bot, order);
	return bot;
}

static void meet(const struct pairing_memory *memory, struct memory_bot *bot,
		 uint64_t other_id)
{
	size_t place = (bot->first + bot->count) % memory->ring_cap;

	bot->ring[place] = (struct meeting){ other_id, bot->nsets };
	if (bot->count < memory->ring_cap)
		bot->count++;
	else
		bot->first = (bot->first + 1) % memory->ring_cap;
}

void memory_note(struct pairing_memory *memory, const uint64_t *bot_ids,
		 size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct memory_bot *bot = touch(memory, bot_ids[i]);

		bot->nsets++;
		for (size_t k = 0; k < count; k++) {
			if (bot_ids[k] != bot_ids[i])
				meet(memory, bot, bot_ids[k]);
		}
	}
}

unsigned memory_meetings(const struct pairing_memory *memory, uint64_t bot_id,
			 uint64_t other_id, unsigned window)
{
	const struct memory_bot *bot = *place_of(memory, bot_id);
	unsigned meetings = 0;

	if (bot == NULL)
		return 0;
	for (size_t i = 0; i < bot->count; i++) {
		if (bot->ring[i].other_id == other_id &&
		    bot->nsets - bot->ring[i].set < window)
			meetings++;
	}
	return meetings;
}

static size_t slot_of(const struct acquaintances *known, uint64_t other_id)
{
	size_t slot = mix(other_id) % ACQUAINTED_SLOTS;

	while (known->slots[slot].other_id != 0 &&
	       known->slots[slot].other_id != other_id)
		slot = (slot + 1) % ACQUAINTED_SLOTS;
	return slot;
}

void memory_acquaintances(const struct pairing_memory *memory, uint64_t bot_id,
			  const double *powers, struct acquaintances *ret_known)
{
	const struct memory_bot *bot = *place_of(memory, bot_id);

	memset(ret_known, 0, sizeof(*ret_known));
	if (bot == NULL)
		return;
	for (size_t i = 0; i < bot->count; i++) {
		const struct meeting *meeting = &bot->ring[i];
		uint64_t age = bot->nsets - meeting->set;
		struct acquaintance *other =
			&ret_known
				 ->slots[slot_of(ret_known, meeting->other_id)];

		if (age >= memory->window)
			continue;
		other->other_id = meeting->other_id;
		other->weight += powers[age];
		other->meetings++;
	}
}

const struct acquaintance *acquaintances_find(const struct acquaintances *known,
					      uint64_t other_id)
{
	return &known->slots[slot_of(known, other_id)];
}
