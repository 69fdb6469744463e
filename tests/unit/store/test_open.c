/* SPDX-License-Identifier: MIT */
/* What the store makes of the file that it is given. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "schema/schema.h"
#include "server/store/store_internal.h"
#include "tests/unit/store/fixture.h"
#include "tests/unit/unit.h"

static void put(const char *path, const char *bytes, size_t len)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

static char *get(const char *path, size_t *ret_len)
{
	FILE *file = fopen(path, "rb");
	char *bytes = xmalloc(1 << 20);

	assert_non_null(file);
	*ret_len = fread(bytes, 1, 1 << 20, file);
	(void)fclose(file);
	return bytes;
}

/* Run SQL on the file as any program could. */
static void tamper(const char *path, const char *sql)
{
	sqlite3 *handle;

	assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
	assert_int_equal(sqlite3_exec(handle, sql, NULL, NULL, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_close(handle), SQLITE_OK);
}

/* Opening in MODE fails with ERR, says TEXT and the path; the file stays. */
static void refuses(const char *path, enum store_mode mode, int err,
		    const char *text)
{
	struct store_error error = { "" };
	struct store *store;
	size_t before_len = 0, after_len;
	char *before = NULL, *after;
	struct stat st;

	if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
		before = get(path, &before_len);
	assert_int_equal(store_open(&store, path, mode, &error), err);
	if (strstr(error.text, text) == NULL ||
	    strstr(error.text, path) == NULL)
		fail_msg("%s", error.text);
	if (before != NULL) {
		after = get(path, &after_len);
		assert_int_equal(after_len, before_len);
		assert_memory_equal(after, before, before_len);
		free(after);
	}
	free(before);
}

static void makes_a_new_file_that_only_its_owner_reads(void **state)
{
	struct fixture *fixture = *state;
	struct store_error error = { "" };
	struct row_counts counts;
	struct store *store;
	struct stat st;
	int64_t value;

	if (store_open(&store, fixture->path, STORE_CREATE, &error) != 0)
		fail_msg("%s", error.text);
	assert_int_equal(store_counts(store, &counts, &error), 0);
	assert_int_equal(counts.matches, 0);
	assert_int_equal(counts.bots, 0);
	assert_int_equal(stat(fixture->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(
		db_number(&store->write, "PRAGMA synchronous", &value, &error),
		0);
	assert_int_equal(value, 2); /* FULL */
	assert_int_equal(
		db_number(&store->write, "PRAGMA foreign_keys", &value, &error),
		0);
	assert_int_equal(value, 1);
	store_close(store);
	store = fixture_reopen(fixture);
	store_close(store);
}

static void an_empty_file_is_a_new_one(void **state)
{
	struct fixture *fixture = *state;
	struct store_error error = { "" };
	struct store *store;

	put(fixture->path, "", 0);
	refuses(fixture->path, STORE_READ, -EILSEQ, "empty");
	refuses(fixture->path, STORE_WRITE, -EILSEQ, "empty");
	assert_int_equal(
		store_open(&store, fixture->path, STORE_CREATE, &error), 0);
	store_close(store);
}

static void refuses_a_file_that_is_not_there(void **state)
{
	struct fixture *fixture = *state;
	char path[128], told[160];

	refuses(fixture->path, STORE_READ, -ENOENT, "no such file");
	refuses(fixture->path, STORE_WRITE, -ENOENT, "no such file");
	(void)snprintf(path, sizeof(path), "%s/nowhere/hill.db",
		       fixture->folder);
	(void)snprintf(told, sizeof(told), "the folder %s/nowhere does not",
		       fixture->folder);
	refuses(path, STORE_CREATE, -ENOENT, told);
	refuses(path, STORE_READ, -ENOENT, told);
}

static void refuses_a_directory_and_a_device(void **state)
{
	struct fixture *fixture = *state;

	refuses(fixture->folder, STORE_CREATE, -EISDIR, "directory");
	refuses(fixture->folder, STORE_READ, -EISDIR, "directory");
	refuses("/dev/null", STORE_CREATE, -EINVAL, "regular");
}

static void refuses_what_is_no_database(void **state)
{
	struct fixture *fixture = *state;
	char text[5000];

	for (size_t len = 1; len <= sizeof(text); len *= 17) {
		memset(text, 'x', len);
		put(fixture->path, text, len);
		refuses(fixture->path, STORE_CREATE, -EILSEQ, "no SQLite");
		refuses(fixture->path, STORE_READ, -EILSEQ, "no SQLite");
	}
	memset(text, 0, sizeof(text));
	put(fixture->path, text, sizeof(text));
	refuses(fixture->path, STORE_CREATE, -EILSEQ, "no SQLite");
}

static void refuses_another_programs_database(void **state)
{
	struct fixture *fixture = *state;

	tamper(fixture->path, "CREATE TABLE t (a); INSERT INTO t VALUES (1)");
	refuses(fixture->path, STORE_CREATE, -EILSEQ, "none of hill's");
	refuses(fixture->path, STORE_READ, -EILSEQ, "none of hill's");
	tamper(fixture->path, "PRAGMA user_version=1");
	refuses(fixture->path, STORE_CREATE, -EILSEQ, "none of hill's");
}

static void refuses_a_newer_schema(void **state)
{
	struct fixture *fixture = *state;

	store_close(fixture_store(fixture));
	tamper(fixture->path, "PRAGMA user_version=4711");
	refuses(fixture->path, STORE_CREATE, -EPROTO, "4711");
	refuses(fixture->path, STORE_WRITE, -EPROTO, "newer");
	refuses(fixture->path, STORE_READ, -EPROTO, "newer");
}

/* A file of the first schema, with one bot of two versions. */
static void make_first_schema(const char *path)
{
	tamper(path, schema_migrations[0].sql);
	tamper(path, "INSERT INTO owner (id, name, name_key, created_us) "
		     "VALUES (1, 'alice', 'alice', 5);"
		     "INSERT INTO bot (id, owner_id, name, name_key, "
		     "max_connections, created_us) "
		     "VALUES (1, 1, 'crazy', 'crazy', 4, 5);"
		     "INSERT INTO bot_version (id, bot_id, number, created_us) "
		     "VALUES (1, 1, 1, 5), (2, 1, 2, 7);"
		     "PRAGMA application_id=1751739500;"
		     "PRAGMA user_version=1");
}

static void brings_the_first_schema_up_to_date(void **state)
{
	struct fixture *fixture = *state;
	struct store_error error = { "" };
	struct row_catalogue catalogue;
	struct store *store;

	make_first_schema(fixture->path);
	refuses(fixture->path, STORE_READ, -EPROTO, "start hilld on it once");
	assert_int_equal(store_open(&store, fixture->path, STORE_WRITE, &error),
			 0);
	assert_int_equal(store_catalogue(store, &catalogue, &error), 0);
	assert_int_equal(catalogue.nbots, 1);
	assert_int_equal(catalogue.bots[0].version, 2);
	assert_int_equal(catalogue.bots[0].version_id, 2);
	row_catalogue_release(&catalogue);
	store_close(store);
}

/* Cut at any place it is refused or found damaged; nothing crashes. */
static void survives_a_truncated_file(void **state)
{
	struct fixture *fixture = *state;
	struct store_error error;
	struct row_catalogue catalogue;
	struct store *store;
	size_t len;
	char *bytes;

	store_close(fixture_store(fixture));
	bytes = get(fixture->path, &len);
	assert_true(len > 20000);
	for (size_t cut = 50; cut < len; cut += 1999) {
		put(fixture->path, bytes, cut);
		strcpy(error.text, "");
		if (store_open(&store, fixture->path, STORE_WRITE, &error) ==
		    0) {
			if (store_catalogue(store, &catalogue, &error) == 0)
				row_catalogue_release(&catalogue);
			store_close(store);
		} else if (strstr(error.text, fixture->path) == NULL) {
			fail_msg("cut at %zu: %s", cut, error.text);
		}
	}
	free(bytes);
}

static void refuses_a_folder_that_cannot_be_written(void **state)
{
	(void)state;
	refuses("/proc/hill.db", STORE_CREATE, -ENOENT, "lock file");
}

static void one_writes_others_read(void **state)
{
	struct fixture *fixture = *state;
	struct store_error error = { "" };
	struct store *store = fixture_store(fixture);
	struct store *reader, *other;
	struct row_catalogue catalogue;
	char name[128];

	assert_int_equal(store_open(&other, fixture->path, STORE_WRITE, &error),
			 -EWOULDBLOCK);
	assert_non_null(strstr(error.text, "in use by another"));
	(void)snprintf(name, sizeof(name), "process %ld (%s)", (long)getpid(),
		       program_invocation_short_name);
	assert_non_null(strstr(error.text, name));
	/* By another name it is the same file. */
	(void)snprintf(name, sizeof(name), "%s/link", fixture->folder);
	assert_int_equal(symlink(fixture->path, name), 0);
	assert_int_equal(store_open(&other, name, STORE_CREATE, &error),
			 -EWOULDBLOCK);
	assert_int_equal(store_open(&reader, fixture->path, STORE_READ, &error),
			 0);
	assert_int_equal(store_catalogue(reader, &catalogue, &error), 0);
	assert_int_equal(catalogue.nbots, FIXTURE_BOTS);
	row_catalogue_release(&catalogue);
	store_close(reader);
	store_close(store);
	store_close(fixture_reopen(fixture));
}

static void says_when_another_program_locks_the_file(void **state)
{
	struct fixture *fixture = *state;
	sqlite3 *handle;

	store_close(fixture_store(fixture));
	assert_int_equal(sqlite3_open(fixture->path, &handle), SQLITE_OK);
	assert_int_equal(sqlite3_exec(handle,
				      "PRAGMA locking_mode=EXCLUSIVE;"
				      "BEGIN EXCLUSIVE; UPDATE bot SET "
				      "max_connections = 5",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	refuses(fixture->path, STORE_WRITE, -EBUSY, "locked by another");
	assert_int_equal(sqlite3_close(handle), SQLITE_OK);
}

/* In a child: the limit cannot be raised again. */
static void a_full_disk_leaves_no_file(void **state)
{
	struct fixture *fixture = *state;
	struct rlimit limit = { 20000, 20000 };
	struct store_error error = { "" };
	struct store *store;
	int status, err;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		(void)signal(SIGXFSZ, SIG_IGN);
		(void)setrlimit(RLIMIT_FSIZE, &limit);
		err = store_open(&store, fixture->path, STORE_CREATE, &error);
		if (err == 0 || strstr(error.text, fixture->path) == NULL)
			_exit(1);
		_exit(access(fixture->path, F_OK) == 0 ? 2 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	store_close(fixture_store(fixture));
}

/* A printf to stdout must never end up in the database. */
static void stays_off_the_standard_descriptors(void **state)
{
	struct fixture *fixture = *state;
	struct store_error error;
	struct store *store;
	struct stat st, fd_st;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		(void)close(0);
		(void)close(1);
		(void)close(2);
		if (store_open(&store, fixture->path, STORE_CREATE, &error) !=
		    0)
			_exit(1);
		if (stat(fixture->path, &st) != 0)
			_exit(2);
		for (int fd = 0; fd <= 2; fd++)
			if (fstat(fd, &fd_st) != 0 || !S_ISCHR(fd_st.st_mode))
				_exit(3);
		store_close(store);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Beside a file that nobody writes, no log is needed to read it. */
static void reads_what_cannot_be_written(void **state)
{
	struct fixture *fixture = *state;
	struct store_error error = { "" };
	struct row_catalogue catalogue;
	struct store *store;
	char name[128];

	store_close(fixture_store(fixture));
	assert_int_equal(store_open(&store, fixture->path, STORE_READ, &error),
			 0);
	assert_int_equal(store_catalogue(store, &catalogue, &error), 0);
	assert_int_equal(catalogue.nladders, 2);
	row_catalogue_release(&catalogue);
	store_close(store);
	(void)snprintf(name, sizeof(name), "%s-wal", fixture->path);
	assert_int_not_equal(access(name, F_OK), 0);
}

#define CASE(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(makes_a_new_file_that_only_its_owner_reads),
		CASE(an_empty_file_is_a_new_one),
		CASE(refuses_a_file_that_is_not_there),
		CASE(refuses_a_directory_and_a_device),
		CASE(refuses_what_is_no_database),
		CASE(refuses_another_programs_database),
		CASE(refuses_a_newer_schema),
		CASE(brings_the_first_schema_up_to_date),
		CASE(survives_a_truncated_file),
		CASE(refuses_a_folder_that_cannot_be_written),
		CASE(one_writes_others_read),
		CASE(says_when_another_program_locks_the_file),
		CASE(a_full_disk_leaves_no_file),
		CASE(stays_off_the_standard_descriptors),
		CASE(reads_what_cannot_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
