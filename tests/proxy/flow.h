/* SPDX-License-Identifier: MIT */
/*
 * flow.h - one direction of a proxied link: when which bytes go on.
 *
 * Pure: no I/O, no clock. What flow_take is given is cut into chunks, and each
 * chunk gets the time at which it goes on; no chunk overtakes another. Which
 * chunks are lost, and their jitter, depend on the seed, the link's number, the
 * direction and the chunk's number alone.
 */
#ifndef HILL_PROXY_FLOW_H
#define HILL_PROXY_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum flow_direction { FLOW_UP, FLOW_DOWN, FLOW_NDIRECTIONS };
enum flow_end { FLOW_CUT, FLOW_RESET, FLOW_SILENCE, FLOW_NENDS };

#define FLOW_NEVER INT64_MAX
/* As split: at another point in each piece that comes. */
#define FLOW_SPLIT_WALK SIZE_MAX

/* What a line does to the bytes of one direction. */
struct flow_faults {
	int64_t delay_us;
	int64_t jitter_us; /* delay_us plus or minus so much */
	int64_t round_us;  /* delays of both directions */
	int64_t rto_us;    /* a lost chunk waits so long, plus round_us */
	int64_t gap_us;    /* between two chunks, at least */
	int64_t rate;      /* bytes a second; 0: no limit */
	uint32_t loss_ppm; /* chunks lost, of a million */
	size_t segment;    /* bytes of a chunk; 0: as they come */
	size_t split;      /* cut in two behind so many; 0: not */
	size_t buffer;     /* bytes held before reading stops */
	int64_t after[FLOW_NENDS]; /* bytes that pass before that; or NEVER */
};

struct flow_chunk {
	struct flow_chunk *next; /* owned by the flow */
	int64_t due_us;
	size_t at, len; /* sent, of all */
	char data[];
};

struct flow {
	const struct flow_faults *faults; /* borrowed */
	struct flow_chunk *first, **last; /* owned */
	uint64_t random;
	int64_t last_due_us, free_us;
	uint64_t pieces, chunks, lost;
	size_t held; /* bytes in the chunks */
	int64_t passed;
	bool is_silent, has_eof, is_done;
};

/* FAULTS is borrowed until flow_release. */
void flow_init(struct flow *flow, const struct flow_faults *faults,
	       uint64_t seed, uint64_t link, enum flow_direction direction);
void flow_release(struct flow *flow);
/* Bytes came; copied. */
void flow_take(struct flow *flow, const char *data, size_t len, int64_t now_us);
/* Whether more may come now. */
bool flow_wants(const struct flow *flow);
/* When the next bytes go on; FLOW_NEVER: none wait, or none may pass. */
int64_t flow_due_us(const struct flow *flow);
/*
 * Bytes that go on at NOW_US, in one send; NULL when none do. They stop short
 * of where the link is to be ended. Borrowed until flow_sent.
 */
const char *flow_next(const struct flow *flow, int64_t now_us, size_t *ret_len);
/* So many of flow_next's were sent. */
void flow_sent(struct flow *flow, size_t len);
/* What is to happen to the link now that so much has passed; or NENDS. */
enum flow_end flow_ends(const struct flow *flow);

#endif
