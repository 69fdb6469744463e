/* SPDX-License-Identifier: MIT */
/*
 * Disks that are full or fail, and processes that are killed. A thin VFS over
 * SQLite's own one counts what reaches the disk and lets some of it fail.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "server/base/clock.h"
#include "server/store/admin.h"
#include "server/store/store_internal.h"
#include "tests/unit/store/fixture.h"
#include "tests/unit/unit.h"

struct faulty_file {
	sqlite3_file file;
	sqlite3_file *real; /* behind this struct */
};

static sqlite3_vfs *real_vfs;
static atomic_long operations; /* writes, syncs, truncations so far */
static atomic_long fail_from;  /* the first that fails; 0: none */
static atomic_long fail_count; /* that many fail */
static atomic_int fail_code;
static atomic_long kill_at; /* the operation before which we die; 0: none */

/* SQLITE_OK, or what the operation that is about to be done fails with. */
static int fault(void)
{
	long number = atomic_fetch_add(&operations, 1) + 1;
	long from = atomic_load(&fail_from);

	if (number == atomic_load(&kill_at))
		(void)kill(getpid(), SIGKILL);
	if (from == 0 || number < from ||
	    number - from >= atomic_load(&fail_count))
		return SQLITE_OK;
	return atomic_load(&fail_code);
}

static void set_fault(long from, long count, int code)
{
	atomic_store(&operations, 0);
	atomic_store(&fail_code, code);
	atomic_store(&fail_count, count);
	atomic_store(&fail_from, from);
}

static sqlite3_file *real_of(sqlite3_file *file)
{
	return ((struct faulty_file *)file)->real;
}

static int f_close(sqlite3_file *file)
{
	return real_of(file)->pMethods->xClose(real_of(file));
}

static int f_read(sqlite3_file *file, void *data, int len, sqlite3_int64 at)
{
	return real_of(file)->pMethods->xRead(real_of(file), data, len, at);
}

static int f_write(sqlite3_file *file, const void *data, int len,
		   sqlite3_int64 at)
{
	int rc = fault();

	/* A failing write may have written a part. */
	if (rc != SQLITE_OK) {
		(void)real_of(file)->pMethods->xWrite(real_of(file), data,
						      len / 2, at);
		return rc;
	}
	return real_of(file)->pMethods->xWrite(real_of(file), data, len, at);
}

static int f_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	int rc = fault();

	if (rc != SQLITE_OK)
		return rc;
	return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

/*
 * Nobody cuts the power here: what a killed process has written stays with the
 * kernel, and thousands of waits for a disk would prove nothing more.
 */
static int f_sync(sqlite3_file *file, int flags)
{
	(void)file;
	(void)flags;
	return fault();
}

static int f_size(sqlite3_file *file, sqlite3_int64 *ret)
{
	return real_of(file)->pMethods->xFileSize(real_of(file), ret);
}

static int f_lock(sqlite3_file *file, int level)
{
	return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int f_unlock(sqlite3_file *file, int level)
{
	return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int f_check(sqlite3_file *file, int *ret)
{
	return real_of(file)->pMethods->xCheckReservedLock(real_of(file), ret);
}

static int f_control(sqlite3_file *file, int op, void *arg)
{
	return real_of(file)->pMethods->xFileControl(real_of(file), op, arg);
}

static int f_sector(sqlite3_file *file)
{
	return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int f_device(sqlite3_file *file)
{
	return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int f_shm_map(sqlite3_file *file, int page, int size, int extend,
		     void volatile **ret)
{
	return real_of(file)->pMethods->xShmMap(real_of(file), page, size,
						extend, ret);
}

static int f_shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
	return real_of(file)->pMethods->xShmLock(real_of(file), offset, count,
						 flags);
}

static void f_shm_barrier(sqlite3_file *file)
{
	real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int f_shm_unmap(sqlite3_file *file, int remove)
{
	return real_of(file)->pMethods->xShmUnmap(real_of(file), remove);
}

static const sqlite3_io_methods methods = {
	.iVersion = 2,
	.xClose = f_close,
	.xRead = f_read,
	.xWrite = f_write,
	.xTruncate = f_truncate,
	.xSync = f_sync,
	.xFileSize = f_size,
	.xLock = f_lock,
	.xUnlock = f_unlock,
	.xCheckReservedLock = f_check,
	.xFileControl = f_control,
	.xSectorSize = f_sector,
	.xDeviceCharacteristics = f_device,
	.xShmMap = f_shm_map,
	.xShmLock = f_shm_lock,
	.xShmBarrier = f_shm_barrier,
	.xShmUnmap = f_shm_unmap,
};

static int v_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file,
		  int flags, int *ret_flags)
{
	struct faulty_file *faulty = (struct faulty_file *)file;
	int rc;

	(void)vfs;
	faulty->real = (sqlite3_file *)(void *)(faulty + 1);
	faulty->file.pMethods = NULL;
	rc = real_vfs->xOpen(real_vfs, name, faulty->real, flags, ret_flags);
	if (faulty->real->pMethods != NULL)
		faulty->file.pMethods = &methods;
	return rc;
}

static int use_faulty_vfs(void **state)
{
	static sqlite3_vfs vfs;

	(void)state;
	real_vfs = sqlite3_vfs_find(NULL);
	vfs = *real_vfs;
	vfs.zName = "faulty";
	vfs.szOsFile += (int)sizeof(struct faulty_file);
	vfs.xOpen = v_open;
	return sqlite3_vfs_register(&vfs, 1) == SQLITE_OK ? 0 : -1;
}

static void check_whole(struct store *store)
{
	struct store_error error = { "" };
	int64_t odd;

	assert_int_equal(
		db_number(&store->write,
			  "SELECT count(*) FROM match m WHERE "
			  "(SELECT count(*) FROM seat WHERE match_id = m.id) "
			  "<> (SELECT seats FROM instance WHERE id = "
			  "m.instance_id) OR NOT EXISTS (SELECT 1 FROM "
			  "transcript WHERE match_id = m.id)",
			  &odd, &error),
		0);
	assert_int_equal(odd, 0);
	assert_int_equal(db_number(&store->write,
				   "SELECT count(*) FROM pragma_integrity_check"
				   " WHERE integrity_check <> 'ok'",
				   &odd, &error),
			 0);
	assert_int_equal(odd, 0);
}

/* A closed store's file, to be laid down again; for free(). */
static char *read_store(const struct fixture *fixture, size_t *ret_len)
{
	FILE *file = fopen(fixture->path, "rb");
	char *data;
	long len;

	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	len = ftell(file);
	assert_true(len > 0);
	rewind(file);
	data = xmalloc((size_t)len);
	assert_int_equal(fread(data, 1, (size_t)len, file), len);
	assert_int_equal(fclose(file), 0);
	*ret_len = (size_t)len;
	return data;
}

static struct store *lay_down(const struct fixture *fixture, const char *data,
			      size_t len)
{
	FILE *file = fopen(fixture->path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
	return fixture_reopen(fixture);
}

/* Whatever write, sync or truncation fails: an error, and nothing half. */
static void any_single_failure_leaves_nothing_half(void **state)
{
	struct fixture *fixture = *state;
	struct store_error error;
	struct match_record *record = fixture_record(7, 3);
	struct store *store;
	struct row_match match;
	size_t len;
	char *made;
	bool has_failed;
	long n;
	int err, there;

	store_close(fixture_store(fixture));
	made = read_store(fixture, &len);
	for (int code = 0; code < 2; code++) {
		for (n = 1; n < 500; n++) {
			set_fault(0, 0, 0);
			store = lay_down(fixture, made, len);
			set_fault(n, 1,
				  code == 0 ? SQLITE_FULL : SQLITE_IOERR_FSYNC);
			strcpy(error.text, "");
			err = store_save(store, record, &error);
			if (err != 0) {
				assert_true(err == -ENOSPC || err == -EIO);
				assert_non_null(
					strstr(error.text, fixture->path));
			}
			has_failed = atomic_load(&operations) >= n;
			set_fault(0, 0, 0);
			if (!has_failed) {
				store_close(store);
				break;
			}
			there = store_match(store, 7, &match, &error);
			assert_int_equal(there, err == 0 ? 0 : -ENOENT);
			assert_int_equal(store_save(store, record, &error), 0);
			check_whole(store);
			store_close(store);
		}
		assert_in_range(n, 4, 499);
	}
	free(made);
	match_record_free(record);
}

/* The same for the making of the file: refused, and the next try works. */
static void any_single_failure_at_the_start_can_be_repeated(void **state)
{
	struct fixture *fixture = *state;
	struct store_error error = { "" };
	struct store *store;
	unsigned failures = 0;

	for (long n = 1; n < 500; n++) {
		set_fault(n, 1, SQLITE_FULL);
		if (store_open(&store, fixture->path, STORE_CREATE, &error) ==
		    0) {
			store_close(store);
			if (atomic_load(&operations) < n)
				break;
		} else {
			failures++;
			assert_non_null(strstr(error.text, fixture->path));
			assert_int_not_equal(access(fixture->path, F_OK), 0);
		}
		set_fault(0, 0, 0);
		if (store_open(&store, fixture->path, STORE_CREATE, &error) !=
		    0)
			fail_msg("after failure %ld: %s", n, error.text);
		check_whole(store);
		store_close(store);
		(void)unlink(fixture->path);
	}
	assert_true(failures > 5);
	set_fault(0, 0, 0);
}

/* BC70: results wait while the disk is full; nothing is restarted. */
static void results_wait_for_a_full_disk(void **state)
{
	struct fixture *fixture = *state;
	struct store *store = fixture_store(fixture);
	struct store_event event;
	struct row_ids ids;
	struct store_error error;
	size_t bytes;
	unsigned saved = 0;

	assert_int_equal(store_writer_start(store), 0);
	assert_int_equal(store_put(store, fixture_record(1, 2)), 0);
	fixture_await(store, STORE_SAVED, 1, &event);

	set_fault(1, 1000000, SQLITE_FULL);
	for (int64_t id = 2; id <= 50; id++)
		assert_int_equal(store_put(store, fixture_record(id, 2)), 0);
	store_ask_ids(store);
	fixture_await(store, STORE_TROUBLED, 1, &event);
	assert_non_null(strstr(event.text, "full"));
	assert_non_null(strstr(event.text, fixture->path));
	assert_int_equal(store_queue_depth(store, &bytes), 49);
	assert_true(bytes > 49 * 4000);
	/* Others are told as well, and read on. */
	assert_int_equal(store_reserve_ids(store, &ids, &error), -ENOSPC);
	fixture_check(store, 1, 2);

	set_fault(0, 0, 0);
	fixture_await(store, STORE_RECOVERED, 1, &event);
	assert_int_equal(store_writer_stop(store, 0), 0);
	while (store_next_event(store, &event))
		saved += event.kind == STORE_SAVED;
	assert_int_equal(saved, 49);
	for (int64_t id = 1; id <= 50; id++)
		fixture_check(store, id, 2);
	check_whole(store);
	store_close(store);
}

/* Failures that come and go, of every kind: each record is saved once. */
static void a_flaky_disk_loses_and_doubles_nothing(void **state)
{
	static const int codes[] = { SQLITE_FULL, SQLITE_IOERR_WRITE,
				     SQLITE_IOERR_FSYNC };
	struct store *store = fixture_store(*state);
	struct store_event event;
	unsigned saved = 0;

	assert_int_equal(store_writer_start(store), 0);
	for (int64_t id = 1; id <= 60; id++) {
		if (id % 4 == 0)
			set_fault(1 + id % 7, 1 + id % 3,
				  codes[(size_t)id % COUNT_OF(codes)]);
		assert_int_equal(store_put(store, fixture_record(id, 2)), 0);
		(void)usleep(2000);
	}
	set_fault(0, 0, 0);
	assert_int_equal(store_writer_stop(store, 10000), 0);
	while (store_next_event(store, &event)) {
		assert_int_not_equal(event.kind, STORE_REFUSED);
		saved += event.kind == STORE_SAVED;
	}
	assert_int_equal(saved, 60);
	for (int64_t id = 1; id <= 60; id++)
		fixture_check(store, id, 2);
	check_whole(store);
	store_close(store);
}

static void a_dead_disk_does_not_stop_the_end(void **state)
{
	struct fixture *fixture = *state;
	struct store *store = fixture_store(fixture);
	int64_t start_us;

	assert_int_equal(store_writer_start(store), 0);
	set_fault(1, 1000000, SQLITE_IOERR_WRITE);
	for (int64_t id = 1; id <= 10; id++)
		assert_int_equal(store_put(store, fixture_record(id, 2)), 0);
	/* A round that is to be closed is no result. */
	store_close_round(store, 1, "", false);
	start_us = clock_now_us();
	assert_int_equal(store_writer_stop(store, 300), 10);
	assert_in_range(clock_now_us() - start_us, 200000, 5000000);
	store_close(store);
	set_fault(0, 0, 0);
	store = fixture_reopen(fixture);
	check_whole(store);
	store_close(store);
}

static void the_queue_has_an_end(void **state)
{
	enum { LARGE = 1024 * 1024 };
	struct store *store = fixture_store(*state);
	struct match_record *record;
	size_t bytes;
	int64_t id;
	int err = 0;

	assert_int_equal(store_writer_start(store), 0);
	set_fault(1, 1000000, SQLITE_FULL);
	for (id = 1; id < 100; id++) {
		record = fixture_large_record(id, LARGE);
		err = store_put(store, record);
		if (err != 0)
			break;
	}
	assert_int_equal(err, -ENOBUFS);
	assert_in_range(id, 50, 64);
	(void)store_queue_depth(store, &bytes);
	assert_true(bytes <= LIMIT_STORE_BYTES);
	set_fault(0, 0, 0);
	assert_int_equal(store_writer_stop(store, 20000), 0);
	match_record_free(record);
	store_close(store);
}

static void a_command_on_a_full_disk_changes_nothing(void **state)
{
	static const char add[] = "{\"command\":\"bot add\",\"name\":\"late\","
				  "\"owner\":\"carol\"}";
	struct fixture *fixture = *state;
	struct store *store = fixture_store(fixture);
	struct row_counts counts;
	struct store_error error;
	bool changed = true;
	char *reply;

	set_fault(1, 1000000, SQLITE_FULL);
	reply = store_admin_text(store, add, strlen(add), &changed);
	assert_non_null(strstr(reply, "\"ok\":false"));
	assert_non_null(strstr(reply, "full"));
	assert_null(strstr(reply, "hill_"));
	assert_false(changed);
	free(reply);
	set_fault(0, 0, 0);
	assert_int_equal(store_counts(store, &counts, &error), 0);
	assert_int_equal(counts.owners, 2);
	assert_int_equal(counts.bots, FIXTURE_BOTS);
	reply = store_admin_text(store, add, strlen(add), &changed);
	assert_non_null(strstr(reply, "hill_"));
	assert_true(changed);
	free(reply);
	store_close(store);
}

static void tell_saved(struct store *store, int pipe_fd)
{
	struct store_event event;

	while (store_next_event(store, &event))
		if (event.kind != STORE_SAVED ||
		    write(pipe_fd, &event.id, sizeof(event.id)) !=
			    sizeof(event.id))
			_exit(1);
}

/* What is told goes up the pipe; then the child dies in mid-write. */
static void write_until_killed(const struct fixture *fixture, int pipe_fd)
{
	struct store *store = fixture_reopen(fixture);
	struct store_error error;
	struct row_ids ids;
	int64_t id;

	if (store_reserve_ids(store, &ids, &error) != 0 ||
	    write(pipe_fd, &ids.first, sizeof(ids.first)) !=
		    sizeof(ids.first) ||
	    store_writer_start(store) != 0)
		_exit(1);
	for (id = ids.first; id < ids.first + ids.count; id++) {
		struct match_record *record = fixture_record(id, 2);

		while (store_put(store, record) != 0)
			(void)usleep(1000);
		if (id % 3 == 0)
			(void)usleep(200);
		tell_saved(store, pipe_fd);
	}
	/* The first may be saved when the last was put long ago. */
	for (;;) {
		tell_saved(store, pipe_fd);
		(void)usleep(1000);
	}
}

static void what_was_told_survives_a_kill(void **state)
{
	enum { ROUNDS = 20, WAIT_MS = 60000 };
	struct fixture *fixture = *state;
	int64_t firsts[ROUNDS], told[2000], id;
	size_t ntold = 0;
	int fds[2], status;
	struct store *store;
	pid_t pid;

	store_close(fixture_store(fixture));
	for (int round = 0; round < ROUNDS; round++) {
		struct pollfd told_one = { .events = POLLIN };
		size_t before = ntold;

		assert_int_equal(pipe(fds), 0);
		told_one.fd = fds[0];
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			(void)close(fds[0]);
			write_until_killed(fixture, fds[1]);
		}
		(void)close(fds[1]);
		assert_int_equal(read(fds[0], &firsts[round], sizeof(id)),
				 sizeof(id));
		/* However busy the machine is, half of them have told one. */
		if (round % 2 != 0)
			assert_int_equal(poll(&told_one, 1, WAIT_MS), 1);
		(void)usleep(5000 + (useconds_t)(round * 7919 % 60) * 1000);
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		while (read(fds[0], &id, sizeof(id)) == sizeof(id))
			if (ntold < COUNT_OF(told))
				told[ntold++] = id;
		(void)close(fds[0]);
		for (int i = 0; i < round; i++)
			assert_true(firsts[i] + 1000 <= firsts[round]);
		store = fixture_reopen(fixture);
		for (size_t i = before; i < ntold; i++)
			fixture_check(store, told[i], 2);
		check_whole(store);
		store_close(store);
	}
	print_message("%zu results told before %d kills\n", ntold, ROUNDS);
	assert_true(ntold > 0);
	store = fixture_reopen(fixture);
	for (size_t i = 0; i < ntold; i++)
		fixture_check(store, told[i], 2);
	store_close(store);
}

/* Two runs make a round, over and over. */
static void rate_until_killed(const struct fixture *fixture, long at)
{
	struct store *store = fixture_reopen(fixture);
	struct store_error error;
	struct row_ids ids;

	if (store_reserve_ids(store, &ids, &error) != 0 ||
	    store_close_rounds(store, &error) != 0)
		_exit(1);
	set_fault(0, 0, 0);
	atomic_store(&kill_at, at);
	for (int64_t id = ids.first; id < ids.first + ids.count; id++) {
		struct match_record *record = fixture_record(id, 1);

		record->round = (struct match_round){
			.kind = MATCH_ROUND_OPEN,
			.id = id - (id - ids.first) % 2,
			.wanted = 2,
		};
		if (store_save(store, record, &error) != 0)
			_exit(1);
		match_record_free(record);
	}
	_exit(0);
}

static int64_t ask(struct store *store, const char *sql)
{
	struct store_error error = { "" };
	int64_t ret = -1;

	if (db_number(&store->write, sql, &ret, &error) != 0)
		fail_msg("%s", error.text);
	return ret;
}

static void bc54_result_and_rating_are_both_there_or_neither(void **state)
{
	enum { KILLS = 50 };
	struct fixture *fixture = *state;
	struct store_error error;
	struct store *store;
	uint64_t differs;
	int64_t rated;
	int status;
	pid_t pid;

	store_close(fixture_store(fixture));
	for (long i = 0; i < KILLS; i++) {
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0)
			rate_until_killed(fixture, 40 + i);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		store = fixture_reopen(fixture);
		assert_int_equal(ask(store,
				     "SELECT count(*) FROM round r WHERE "
				     "(state = 'rated') IS NOT ((SELECT "
				     "count(*) FROM match m WHERE m.round_id = "
				     "r.id) = 2) AND state <> 'unrated'"),
				 0);
		assert_int_equal(
			ask(store, "SELECT count(*) FROM round r WHERE "
				   "state = 'rated' AND (SELECT count(*) FROM "
				   "rating_event e JOIN rating_change c ON "
				   "c.sequence = e.sequence WHERE "
				   "e.round_id = r.id) <> 2"),
			0);
		assert_int_equal(ask(store, "SELECT coalesce(max(sequence), 0) "
					    "= count(*) FROM rating_event"),
				 1);
		assert_int_equal(store_recompute(store, FIXTURE_RANDOM,
						 &differs, &error),
				 0);
		assert_int_equal(differs, 0);
		check_whole(store);
		store_close(store);
	}
	store = fixture_reopen(fixture);
	rated = ask(store, "SELECT count(*) FROM rating_event");
	print_message("%d rounds rated before %d kills\n", (int)rated, KILLS);
	assert_true(rated > 0);
	store_close(store);
}

#define CASE(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(any_single_failure_leaves_nothing_half),
		CASE(any_single_failure_at_the_start_can_be_repeated),
		CASE(results_wait_for_a_full_disk),
		CASE(a_flaky_disk_loses_and_doubles_nothing),
		CASE(a_dead_disk_does_not_stop_the_end),
		CASE(the_queue_has_an_end),
		CASE(a_command_on_a_full_disk_changes_nothing),
		CASE(what_was_told_survives_a_kill),
		CASE(bc54_result_and_rating_are_both_there_or_neither),
	};

	return cmocka_run_group_tests(tests, use_faulty_vfs, NULL);
}
