/* SPDX-License-Identifier: MIT */
/*
 * address.h - what one host may do to all: connections and wrong logins.
 *
 * Who counts as one host: address_host(). It is remembered as long as it has
 * connections, and afterwards where it had wrong logins, registrations or
 * guests who tried seeds: at most LIMIT_ADDRESSES_KEPT of those, the oldest go
 * first. What is old is forgotten only when the host tries again.
 * Loop thread only.
 */
#ifndef HILL_LOBBY_ADDRESS_H
#define HILL_LOBBY_ADDRESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "server/base/address.h"
#include "server/base/alloc.h"
#include "server/lobby/bucket.h"

enum { ADDRESS_BUCKETS = 4096 };

struct address {
	uint8_t key[ADDRESS_BYTES];  /* address_host() */
	uint32_t peers;              /* connections */
	uint32_t prelogin;           /* of these, not logged in yet */
	uint32_t guests;             /* of these, guests */
	struct bucket failures;      /* wrong logins */
	struct bucket registrations; /* tried */
	struct bucket kept_seeds;    /* asked for by guests, not to be had */
	LIST_ENTRY(address) chain;
	TAILQ_ENTRY(address) link; /* in `unused` while peers == 0 */
};

TAILQ_HEAD(address_queue, address);

struct address_table {
	LIST_HEAD(address_bucket, address) buckets[ADDRESS_BUCKETS];
	struct address_queue unused; /* oldest first */
	size_t nunused;
	size_t count;
	uint64_t key; /* of the hash: a peer must not choose its bucket */
};

void address_table_init(struct address_table *table, uint64_t hash_key);
/* Frees all addresses; no peer may hold one. */
void address_table_release(struct address_table *table);
/*
 * A connection from BYTES: counts it, also as one before login. The result
 * belongs to the table and stays until address_drop.
 */
struct address *address_take(struct address_table *table,
			     const uint8_t bytes[ADDRESS_BYTES]) WARN_UNUSED;
/* That connection is gone; whoever had not logged in took that back first. */
void address_drop(struct address_table *table, struct address *address);
/* One more wrong login. */
void address_fail(struct address *address, int64_t now_us);
/*
 * Seconds (rounded up) until ADDRESS may log in again: 0 while it has fewer
 * than LIMIT wrong logins, of which one is forgotten every FORGET_US.
 */
uint32_t address_wait_s(struct address *address, uint32_t limit,
			int64_t forget_us, int64_t now_us) WARN_UNUSED;

/* One more registration was tried. */
void address_register(struct address *address, int64_t now_us);
/* Seconds until ADDRESS may register: LIMIT at once, and LIMIT an hour. */
uint32_t address_register_wait_s(struct address *address, uint32_t limit,
				 int64_t now_us) WARN_UNUSED;

#endif
