/* SPDX-License-Identifier: MIT */
#include "tests/proxy/flow.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/alloc.h"

enum {
	CHUNK_BYTES = 1448, /* of a segment on an Ethernet */
	MILLION = 1000000,
	REPEATS_MAX = 3
};

/* splitmix64 */
static uint64_t draw(struct flow *flow)
{
	uint64_t z = flow->random += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

void flow_init(struct flow *flow, const struct flow_faults *faults,
	       uint64_t seed, uint64_t link, enum flow_direction direction)
{
	*flow = (struct flow){ .faults = faults, .last_due_us = -1 };
	flow->last = &flow->first;
	flow->random = seed;
	flow->random = draw(flow) + link * FLOW_NDIRECTIONS + direction;
	flow->random = draw(flow);
}

void flow_release(struct flow *flow)
{
	struct flow_chunk *chunk;

	while ((chunk = flow->first) != NULL) {
		flow->first = chunk->next;
		free(chunk);
	}
	flow->last = &flow->first;
	flow->held = 0;
}

/* The time at which the next chunk of LEN bytes goes on. Two draws a chunk,
 * whatever the faults are. */
static int64_t due_of_next(struct flow *flow, size_t len, int64_t now_us)
{
	const struct flow_faults *faults = flow->faults;
	uint64_t jitter = draw(flow), chance = draw(flow);
	int64_t due_us = now_us + faults->delay_us;
	int64_t wait_us = faults->rto_us + faults->round_us;

	if (faults->jitter_us > 0)
		due_us += (int64_t)(jitter %
				    (uint64_t)(2 * faults->jitter_us + 1)) -
			  faults->jitter_us;
	/* Lost once more: again with the same chance, after twice the wait. */
	for (int i = 0; i < REPEATS_MAX && chance % MILLION < faults->loss_ppm;
	     i++) {
		flow->lost += i == 0;
		due_us += wait_us;
		wait_us *= 2;
		chance /= MILLION;
	}
	if (due_us < now_us)
		due_us = now_us;
	if (flow->last_due_us >= 0 &&
	    due_us < flow->last_due_us + faults->gap_us)
		due_us = flow->last_due_us + faults->gap_us;
	if (faults->rate > 0) {
		if (due_us < flow->free_us)
			due_us = flow->free_us;
		due_us += (int64_t)len * MILLION / faults->rate;
		flow->free_us = due_us;
	}
	flow->last_due_us = due_us;
	return due_us;
}

static void add_chunk(struct flow *flow, const char *data, size_t len,
		      int64_t now_us)
{
	struct flow_chunk *chunk = xmalloc(sizeof(*chunk) + len);

	*chunk = (struct flow_chunk){ .len = len };
	memcpy(chunk->data, data, len);
	chunk->due_us = due_of_next(flow, len, now_us);
	*flow->last = chunk;
	flow->last = &chunk->next;
	flow->held += len;
	flow->chunks++;
}

void flow_take(struct flow *flow, const char *data, size_t len, int64_t now_us)
{
	const struct flow_faults *faults = flow->faults;
	size_t most = faults->segment > 0 ? faults->segment : CHUNK_BYTES;
	size_t split = faults->split;

	if (split == FLOW_SPLIT_WALK)
		split = len > 1 ? 1 + (size_t)(flow->pieces % (len - 1)) : 0;
	flow->pieces++;
	if (split > 0 && split < len) {
		add_chunk(flow, data, split, now_us);
		data += split;
		len -= split;
	}
	while (len > 0) {
		size_t part = len < most ? len : most;

		add_chunk(flow, data, part, now_us);
		data += part;
		len -= part;
	}
}

bool flow_wants(const struct flow *flow)
{
	return !flow->has_eof && !flow->is_silent &&
	       flow->held < flow->faults->buffer;
}

int64_t flow_due_us(const struct flow *flow)
{
	if (flow->is_silent || flow->first == NULL)
		return FLOW_NEVER;
	return flow->first->due_us;
}

const char *flow_next(const struct flow *flow, int64_t now_us, size_t *ret_len)
{
	const struct flow_chunk *chunk = flow->first;
	size_t len;

	if (flow_due_us(flow) > now_us)
		return NULL;
	len = chunk->len - chunk->at;
	for (int i = 0; i < FLOW_NENDS; i++) {
		int64_t left = flow->faults->after[i] - flow->passed;

		if (left > 0 && (int64_t)len > left)
			len = (size_t)left;
	}
	*ret_len = len;
	return chunk->data + chunk->at;
}

void flow_sent(struct flow *flow, size_t len)
{
	struct flow_chunk *chunk = flow->first;

	flow->passed += (int64_t)len;
	flow->held -= len;
	chunk->at += len;
	if (chunk->at < chunk->len)
		return;
	flow->first = chunk->next;
	if (flow->first == NULL)
		flow->last = &flow->first;
	free(chunk);
}

enum flow_end flow_ends(const struct flow *flow)
{
	enum flow_end end = 0;

	while (end < FLOW_NENDS && flow->faults->after[end] != flow->passed)
		end++;
	return end;
}
