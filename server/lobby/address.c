/* SPDX-License-Identifier: MIT */
#include "server/lobby/address.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/limits.h"

void address_table_init(struct address_table *table, uint64_t hash_key)
{
	for (size_t i = 0; i < ADDRESS_BUCKETS; i++)
		LIST_INIT(&table->buckets[i]);
	TAILQ_INIT(&table->unused);
	table->nunused = 0;
	table->count = 0;
	table->key = hash_key;
}

void address_table_release(struct address_table *table)
{
	for (size_t i = 0; i < ADDRESS_BUCKETS; i++) {
		struct address *address;

		while ((address = LIST_FIRST(&table->buckets[i])) != NULL) {
			assert(address->peers == 0);
			LIST_REMOVE(address, chain);
			free(address);
		}
	}
	TAILQ_INIT(&table->unused);
	table->nunused = 0;
	table->count = 0;
}

static size_t bucket_of(const struct address_table *table, const uint8_t *key)
{
	uint64_t hash = table->key, word;

	for (size_t i = 0; i < ADDRESS_BYTES; i += sizeof(word)) {
		memcpy(&word, key + i, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	return (hash >> 32) % ADDRESS_BUCKETS;
}

static void forget_address(struct address_table *table, struct address *address)
{
	LIST_REMOVE(address, chain);
	table->count--;
	free(address);
}

struct address *address_take(struct address_table *table,
			     const uint8_t bytes[ADDRESS_BYTES])
{
	struct address *address;
	struct address_bucket *bucket;
	uint8_t key[ADDRESS_BYTES];

	address_host(bytes, key);
	bucket = &table->buckets[bucket_of(table, key)];
	LIST_FOREACH(address, bucket, chain)
	{
		if (memcmp(address->key, key, sizeof(key)) == 0)
			break;
	}
	if (address == NULL) {
		address = xcalloc(1, sizeof(*address));
		memcpy(address->key, key, sizeof(key));
		LIST_INSERT_HEAD(bucket, address, chain);
		table->count++;
	} else if (address->peers == 0) {
		TAILQ_REMOVE(&table->unused, address, link);
		table->nunused--;
	}
	address->peers++;
	address->prelogin++;
	return address;
}

void address_drop(struct address_table *table, struct address *address)
{
	struct address *oldest;

	assert(address->peers > 0 && address->prelogin < address->peers);
	address->peers--;
	if (address->peers > 0)
		return;
	if (address->failures.count == 0 && address->registrations.count == 0 &&
	    address->kept_seeds.count == 0) {
		forget_address(table, address);
		return;
	}
	TAILQ_INSERT_TAIL(&table->unused, address, link);
	table->nunused++;
	if (table->nunused <= LIMIT_ADDRESSES_KEPT)
		return;
	oldest = TAILQ_FIRST(&table->unused);
	TAILQ_REMOVE(&table->unused, oldest, link);
	table->nunused--;
	forget_address(table, oldest);
}

void address_fail(struct address *address, int64_t now_us)
{
	bucket_add(&address->failures, now_us);
}

uint32_t address_wait_s(struct address *address, uint32_t limit,
			int64_t forget_us, int64_t now_us)
{
	return bucket_wait_s(&address->failures, limit, forget_us, now_us);
}

void address_register(struct address *address, int64_t now_us)
{
	bucket_add(&address->registrations, now_us);
}

uint32_t address_register_wait_s(struct address *address, uint32_t limit,
				 int64_t now_us)
{
	return bucket_wait_s(&address->registrations, limit,
			     BUCKET_HOUR_US / limit, now_us);
}
