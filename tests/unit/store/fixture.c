/* SPDX-License-Identifier: MIT */
#include "tests/unit/store/fixture.h"

#include <ftw.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/base/clock.h"
#include "server/games/lambda_mining.h"
#include "server/store/store_internal.h"
#include "tests/unit/unit.h"

int fixture_setup(void **state)
{
	struct fixture *fixture = xcalloc(1, sizeof(*fixture));
	const char *tmp = getenv("TMPDIR");

	(void)snprintf(fixture->folder, sizeof(fixture->folder),
		       "%s/hill-store-XXXXXX",
		       tmp != NULL && strlen(tmp) < 32 ? tmp : "/tmp");
	if (mkdtemp(fixture->folder) == NULL)
		return -1;
	(void)snprintf(fixture->path, sizeof(fixture->path), "%s/hill.db",
		       fixture->folder);
	*state = fixture;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

int fixture_teardown(void **state)
{
	struct fixture *fixture = *state;

	(void)nftw(fixture->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(fixture);
	return 0;
}

void fixture_fill(struct store *store)
{
	struct store_error error = { "" };
	int err;

	err = db_exec(
		&store->write,
		"INSERT INTO owner (id, name, name_key, created_us) "
		"VALUES (1, 'alice', 'alice', 0), (2, 'bob', 'bob', 0);"
		"INSERT INTO bot (id, owner_id, name, name_key, "
		"max_connections, created_us) VALUES "
		"(1, 1, 'crazy', 'crazy', 4, 0), "
		"(2, 2, 'digger', 'digger', 4, 0), "
		"(3, 2, 'painter', 'painter', 4, 0);"
		"INSERT INTO bot_version (id, bot_id, number, label, state, "
		"created_us, active_us) VALUES "
		"(1, 1, 1, '1', 'active', 0, 0), "
		"(2, 2, 1, '1', 'active', 0, 0), "
		"(3, 3, 1, '1', 'active', 0, 0);"
		"INSERT INTO bot_activation (bot_id, version_id, at_us) "
		"SELECT bot_id, id, active_us FROM bot_version;"
		"INSERT INTO token (bot_id, hash, created_us) "
		"VALUES (1, zeroblob(32), 0);"
		"INSERT INTO map (id, game_id, name, created_us, hash, "
		"size_bytes, data) SELECT 1, id, 'small.map', 0, "
		"zeroblob(32), 7, CAST('#R\\L#\n#' AS BLOB) FROM game "
		"WHERE name = 'lambda-mining';"
		"INSERT INTO ladder (id, name, name_key, game_id, seats, "
		"params, turn_ms, init_ms, grace_ms, bank_ms, bank_step_ms, "
		"lag_cap_ms, ready_ms, file_ms, seed_first, seed_last, "
		"seed_next, bot_seed, is_rated, created_us) SELECT 1, "
		"'lambda-mining', 'lambda-mining', id, 1, '', 150000, 0, "
		"10000, 2000, 2, 250, 10000, 10000, NULL, NULL, NULL, 'own', "
		"1, 0 FROM game WHERE name = 'lambda-mining';"
		"INSERT INTO ladder (id, name, name_key, game_id, seats, "
		"params, turn_ms, init_ms, grace_ms, bank_ms, bank_step_ms, "
		"lag_cap_ms, ready_ms, file_ms, seed_first, seed_last, "
		"seed_next, bot_seed, is_rated, created_us) SELECT 2, "
		"'in-order', 'in-order', id, 1, '', 150000, 0, "
		"10000, 0, 0, 0, 10000, 10000, 10, 14, 10, 'match', "
		"1, 0 FROM game WHERE name = 'lambda-mining';"
		"INSERT INTO ladder_map (ladder_id, position, map_id) "
		"VALUES (1, 0, 1), (2, 0, 1)",
		"fill", &error);
	if (err != 0)
		fail_msg("%s", error.text);
}

struct store *fixture_store(const struct fixture *fixture)
{
	struct store_error error = { "" };
	struct store *store;

	if (store_open(&store, fixture->path, STORE_CREATE, &error) != 0)
		fail_msg("%s", error.text);
	fixture_fill(store);
	return store;
}

struct store *fixture_reopen(const struct fixture *fixture)
{
	struct store_error error = { "" };
	struct store *store;

	if (store_open(&store, fixture->path, STORE_WRITE, &error) != 0)
		fail_msg("%s", error.text);
	return store;
}

static uint8_t *bytes_of(int64_t id, size_t len)
{
	uint8_t *bytes = xmalloc(len + 1);
	uint64_t x = (uint64_t)id * 0x9e3779b97f4a7c15u + 1;

	for (size_t i = 0; i < len; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		bytes[i] = (uint8_t)x;
	}
	return bytes;
}

static char *seed_text(int64_t seed)
{
	char text[ROW_SEED_BYTES];

	(void)snprintf(text, sizeof(text), "%lld", (long long)seed);
	return xstrdup(text);
}

static struct match_record *make(int64_t id, unsigned nseats, size_t len)
{
	struct match_record *record = xcalloc(1, sizeof(*record));

	record->id = id;
	record->ladder_id = FIXTURE_RANDOM;
	record->map_id = FIXTURE_MAP;
	record->ladder = xstrdup("lambda-mining");
	record->map_name = xstrdup("small.map");
	record->game = &game_lambda_mining;
	record->is_rated = true;
	record->setup.seed = seed_text(INT64_MAX - id);
	record->setup.bot_seed = seed_text(id % 100);
	record->setup.seats = nseats;
	record->limits.turn_ms = 150000;
	record->limits.bank_ms = 2000;
	record->started_us = clock_now_us() - 5000000;
	record->ended_us = clock_now_us();
	record->nseats = nseats;
	for (unsigned i = 0; i < nseats; i++) {
		struct match_record_seat *seat = &record->seats[i];

		seat->bot_id = seat->version_id = 1 + (id + i) % FIXTURE_BOTS;
		seat->bot = xstrdup("bot");
		seat->score.points = id * 10 - i;
		seat->score.score = (double)id / 8 - i;
		seat->score.rank = i + 1;
		seat->score.columns[0] = 0.1 * (double)id;
		seat->score.reason = id % 2 == 0 ? GAME_FINISHED : GAME_LEFT;
		seat->requests = 500;
		seat->faults[MATCH_FAULT_LATE] = (uint32_t)(id % 5);
		seat->faults[MATCH_FAULT_INVALID] = 1;
		seat->banked = (uint32_t)(id % 3);
		seat->max_us = id * 7;
		(void)snprintf(seat->how, sizeof(seat->how), "exit=%lld",
			       (long long)id % 10);
	}
	record->transcript = bytes_of(id, len);
	record->transcript_len = len;
	record->notes = bytes_of(id + 1, len / 4);
	record->notes_len = len / 4;
	record->inputs = 500;
	record->digest = (uint64_t)id * 0xfedcba9876543211u;
	record->nsamples = 33;
	record->samples = xcalloc(33, sizeof(*record->samples));
	record->samples[32] = record->digest;
	return record;
}

struct match_record *fixture_record(int64_t id, unsigned nseats)
{
	return make(id, nseats, 3200);
}

struct match_record *fixture_large_record(int64_t id, size_t len)
{
	return make(id, 1, len);
}

void fixture_check(struct store *store, int64_t id, unsigned nseats)
{
	struct match_record *record = fixture_record(id, nseats);
	struct store_error error = { "" };
	struct row_record row;

	if (store_record(store, id, &row, &error) != 0)
		fail_msg("%s", error.text);
	assert_int_equal(row.match.id, id);
	assert_true(row.match.digest == record->digest);
	assert_string_equal(row.match.seed, record->setup.seed);
	assert_int_equal(row.match.nseats, nseats);
	for (unsigned i = 0; i < nseats; i++) {
		assert_int_equal(row.match.seats[i].bot_id,
				 record->seats[i].bot_id);
		assert_int_equal(row.match.seats[i].points,
				 record->seats[i].score.points);
	}
	assert_int_equal(row.transcript_len, record->transcript_len);
	assert_memory_equal(row.transcript, record->transcript,
			    record->transcript_len);
	assert_int_equal(row.notes_len, record->notes_len);
	assert_memory_equal(row.notes, record->notes, record->notes_len);
	assert_int_equal(row.nsamples, record->nsamples);
	assert_memory_equal(row.samples, record->samples,
			    record->nsamples * sizeof(uint64_t));
	row_record_release(&row);
	match_record_free(record);
}

void fixture_await(struct store *store, enum store_event_kind kind,
		   unsigned count, struct store_event *ret_last)
{
	int64_t until_us = clock_now_us() + 20 * 1000000;
	struct pollfd fd = { .fd = store_fd(store), .events = POLLIN };
	struct store_event event;

	while (count > 0) {
		if (clock_now_us() > until_us)
			fail_msg("%u events of kind %d did not come", count,
				 (int)kind);
		if (!store_next_event(store, &event)) {
			(void)poll(&fd, 1, 1000);
			continue;
		}
		if (event.kind != kind || ret_last == NULL || count > 1)
			free(event.closing);
		if (event.kind != kind)
			continue;
		count--;
		if (ret_last != NULL)
			*ret_last = event;
	}
}
