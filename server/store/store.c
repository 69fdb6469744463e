/* SPDX-License-Identifier: MIT */
#include "server/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/schema.h"
#include "server/store/store_internal.h"

enum { SMALLEST_DATABASE = 512 /* bytes: one page of the smallest size */ };

static const struct store_rules rules_default = {
	.registration = STORE_REGISTRATION_INVITE,
	.bots_max = 10000,
	.bots_per_owner = 5,
	.versions_per_day = 3,
	.versions_per_bot = 1000,
};

void store_error_set(struct store_error *error, const char *format, ...)
{
	va_list args;

	if (error == NULL)
		return;
	va_start(args, format);
	(void)vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
}

void store_name_key(const char *name, char ret[STORE_NAME_KEY_BYTES])
{
	size_t i;

	for (i = 0; name[i] != '\0' && i + 1 < STORE_NAME_KEY_BYTES; i++) {
		char c = name[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		else if (c == '_' || c == '.' || c == ' ')
			c = '-';
		ret[i] = c;
	}
	ret[i] = '\0';
}

/*
 * A database whose descriptor is 0, 1 or 2 would be written over by the next
 * printf of whoever believes in stdout.
 */
static int hold_standard_fds(void)
{
	int fd;

	do {
		/* NOLINTNEXTLINE(android-cloexec-open): 0, 1, 2 are for all */
		fd = open("/dev/null", O_RDWR);
		if (fd < 0)
			return -errno;
	} while (fd <= STDERR_FILENO);
	(void)close(fd);
	return 0;
}

/* Both texts in one; the caller frees it. */
static char *join(const char *first, const char *second)
{
	size_t size = strlen(first) + strlen(second) + 1;
	char *text = xmalloc(size);

	(void)snprintf(text, size, "%s%s", first, second);
	return text;
}

/* The folder that PATH is in, with its slash. False when it is too long. */
static bool folder_of(const char *path, char ret[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	int size;

	size = snprintf(ret, PATH_MAX, "%.*s",
			slash == NULL ? 1 : (int)(slash - path) + 1,
			slash == NULL ? "." : path);
	return size >= 0 && size < PATH_MAX;
}

/* Why there is nothing at PATH, not even a place to make it. */
static bool lacks_folder(const char *path, struct store_error *error)
{
	char folder[PATH_MAX];
	struct stat st;
	size_t len;

	if (!folder_of(path, folder) || stat(folder, &st) == 0 ||
	    errno != ENOENT)
		return false;
	for (len = strlen(folder); len > 1 && folder[len - 1] == '/'; len--)
		folder[len - 1] = '\0';
	store_error_set(error, "%s: the folder %s does not exist", path,
			folder);
	return true;
}

/* What PATH is, before anything is opened: refuse what can be told by that. */
static int look_at(const char *path, enum store_mode mode, bool *ret_exists,
		   struct store_error *error)
{
	struct stat st;
	int err;

	*ret_exists = false;
	if (stat(path, &st) != 0) {
		err = -errno;
		if (err == -ENOENT && lacks_folder(path, error))
			return err;
		if (err == -ENOENT && mode == STORE_CREATE)
			return 0;
		store_error_set(error, "%s: %s", path,
				err == -ENOENT ? "there is no such file"
					       : strerror(-err));
		return err;
	}
	*ret_exists = true;
	if (S_ISDIR(st.st_mode)) {
		store_error_set(error, "%s: this is a directory", path);
		return -EISDIR;
	}
	if (!S_ISREG(st.st_mode)) {
		store_error_set(error, "%s: this is no regular file", path);
		return -EINVAL;
	}
	if (st.st_size == 0 && mode != STORE_CREATE) {
		store_error_set(error, "%s: this file is empty", path);
		return -EILSEQ;
	}
	/* SQLite takes a crumb for an empty file and would write over it. */
	if (st.st_size > 0 && st.st_size < SMALLEST_DATABASE) {
		store_error_set(error, "%s: this is no SQLite database", path);
		return -EILSEQ;
	}
	return 0;
}

/* The real path, so that two names of one file mean one lock. */
static int resolve(struct store *store, const char *path, bool exists,
		   struct store_error *error)
{
	char folder[PATH_MAX], real[PATH_MAX + 1];
	const char *slash = strrchr(path, '/');
	const char *last = slash == NULL ? path : slash + 1;
	size_t len;
	int err;

	if (exists) {
		if (realpath(path, real) == NULL)
			goto err;
		store->path = xstrdup(real);
		return 0;
	}
	if (!folder_of(path, folder) || *last == '\0') {
		errno = *last == '\0' ? EISDIR : ENAMETOOLONG;
		goto err;
	}
	if (realpath(folder, real) == NULL)
		goto err;
	len = strlen(real);
	if (real[len - 1] != '/')
		real[len++] = '/';
	real[len] = '\0';
	store->path = join(real, last);
	return 0;
err:
	err = -errno;
	store_error_set(error, "%s: %s", path, strerror(-err));
	return err;
}

/*
 * The lock is a file of its own: closing any descriptor of the database
 * itself would drop the locks that SQLite holds on it.
 */
static int take_lock(struct store *store, struct store_error *error)
{
	char *name = join(store->path, ".lock");
	char holder[64] = "";
	ssize_t len;
	int err = 0;

	store->lock_fd =
		open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (store->lock_fd < 0) {
		err = -errno;
		store_error_set(error, "%s: cannot open the lock file: %s",
				name, strerror(-err));
		goto out;
	}
	if (flock(store->lock_fd, LOCK_EX | LOCK_NB) != 0) {
		err = errno == EWOULDBLOCK ? -EWOULDBLOCK : -errno;
		len = pread(store->lock_fd, holder, sizeof(holder) - 1, 0);
		if (len > 0)
			holder[strcspn(holder, "\n")] = '\0';
		if (err == -EWOULDBLOCK)
			store_error_set(error,
					"%s: in use by another hill program"
					"%s%s",
					store->path,
					len > 0 ? ", process " : "", holder);
		else
			store_error_set(error, "%s: cannot lock: %s", name,
					strerror(-err));
		(void)close(store->lock_fd);
		store->lock_fd = -1;
		goto out;
	}
	/* Who holds it; only for the message above, so that it may fail. */
	len = snprintf(holder, sizeof(holder), "%ld (%.32s)\n", (long)getpid(),
		       program_invocation_short_name);
	if (ftruncate(store->lock_fd, 0) == 0)
		(void)!pwrite(store->lock_fd, holder, (size_t)len, 0);
out:
	free(name);
	return err;
}

/* Nobody but the owner reads owners' addresses and tokens' hashes. */
static int make_file(struct store *store, struct store_error *error)
{
	int fd = open(store->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		      0600);
	int err;

	if (fd < 0) {
		err = -errno;
		store_error_set(error, "%s: cannot create: %s", store->path,
				strerror(-err));
		return err;
	}
	(void)close(fd);
	return 0;
}

static int use_wal(struct store *store, struct store_error *error)
{
	struct db *db = &store->write;
	sqlite3_stmt *stmt = NULL;
	const unsigned char *mode;
	int rc, err = 0;

	if (store->is_memory)
		return 0;
	rc = sqlite3_prepare_v2(db->handle, "PRAGMA journal_mode=WAL", -1,
				&stmt, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	if (rc != SQLITE_ROW) {
		err = db_fail(db, rc, "switch to a write-ahead log", error);
	} else {
		mode = sqlite3_column_text(stmt, 0);
		if (mode == NULL || strcmp((const char *)mode, "wal") != 0) {
			store_error_set(error,
					"%s: no write-ahead log here: %s",
					db->path,
					mode == NULL ? "" : (const char *)mode);
			err = -ENOTSUP;
		}
	}
	(void)sqlite3_finalize(stmt);
	return err;
}

/* 64 MiB of log are given back after a burst; a checkpoint every 8 MiB. */
#define WRITE_PRAGMAS                     \
	"PRAGMA synchronous=FULL;"        \
	"PRAGMA cell_size_check=ON;"      \
	"PRAGMA wal_autocheckpoint=2000;" \
	"PRAGMA journal_size_limit=67108864;"
#define READ_PRAGMAS            \
	"PRAGMA query_only=ON;" \
	"PRAGMA cell_size_check=ON;"

static int open_write(struct store *store, struct store_error *error)
{
	struct db *db = &store->write;
	unsigned version;
	int err;

	err = db_open(db, store->path, store->is_memory ? DB_MEMORY : 0, error);
	if (err != 0)
		return err;
	/* A file that we refuse is left with its log as it was. */
	(void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1,
				NULL);
	err = migrate_check(db, &version, error);
	if (err != 0)
		return err;
	if (version == 0 && store->mode == STORE_WRITE) {
		store_error_set(error, "%s: holds no hill database",
				store->path);
		return -EILSEQ;
	}
	err = db_exec(db, WRITE_PRAGMAS, "set up", error);
	if (err == 0)
		err = migrate_run(db, version, error);
	if (err == 0)
		err = use_wal(store, error);
	if (err == 0)
		err = db_begin(db, error);
	if (err != 0)
		return err;
	err = save_games(db, error);
	if (err != 0)
		db_rollback(db);
	else
		err = db_commit(db, error);
	if (err == 0)
		(void)sqlite3_db_config(
			db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	return err;
}

static int try_read(struct store *store, unsigned flags,
		    struct store_error *error)
{
	struct db *db = &store->own_read;
	unsigned version;
	int err;

	err = db_open(db, store->path, flags, error);
	if (err == 0)
		err = migrate_check(db, &version, error);
	if (err == 0 && version == 0) {
		store_error_set(error, "%s: holds no hill database",
				store->path);
		err = -EILSEQ;
	} else if (err == 0 && version < schema_version) {
		/* Only a writer may bring it up to date. */
		store_error_set(error,
				"%s: schema %u is older than this program's "
				"(%u): start hilld on it once",
				store->path, version, schema_version);
		err = -EPROTO;
	}
	if (err == 0)
		err = db_exec(db, READ_PRAGMAS, "set up", error);
	if (err != 0)
		db_close(db);
	return err;
}

/* Whether a log lies beside the file that a reader must not pass over. */
static bool has_log(const struct store *store)
{
	char *name = join(store->path, "-wal");
	struct stat st;
	bool has;

	has = stat(name, &st) == 0 && st.st_size > 0;
	free(name);
	return has;
}

/*
 * A writable connection that is told to change nothing tidies up its log when
 * it goes; where the file cannot be written a read-only one must do, and on a
 * medium without any writing one that trusts the file to stand still.
 */
static int open_read(struct store *store, struct store_error *error)
{
	int err;

	if (access(store->path, W_OK) == 0) {
		err = try_read(store, 0, error);
		if (err == 0 || err == -EPROTO || err == -EILSEQ)
			return err;
	}
	err = try_read(store, DB_READONLY, error);
	if (err != 0 && err != -EPROTO && err != -EILSEQ && err != -EBUSY &&
	    !has_log(store))
		err = try_read(store, DB_READONLY | DB_IMMUTABLE, error);
	return err;
}

static int open_file(struct store *store, const char *path,
		     struct store_error *error)
{
	bool exists;
	int err;

	err = look_at(path, store->mode, &exists, error);
	if (err == 0)
		err = resolve(store, path, exists, error);
	if (err == 0 && store->mode != STORE_READ)
		err = take_lock(store, error);
	if (err != 0)
		return err;
	if (!exists) {
		err = make_file(store, error);
		if (err != 0)
			return err;
	}
	if (store->mode != STORE_READ) {
		err = open_write(store, error);
		if (err != 0) {
			db_close(&store->write);
			/* Nobody can have opened it: we hold the lock. */
			if (!exists)
				(void)unlink(store->path);
			return err;
		}
	}
	store->read = &store->own_read;
	return open_read(store, error);
}

static int open_memory(struct store *store, struct store_error *error)
{
	static unsigned count;
	char name[64];

	(void)snprintf(name, sizeof(name), "/hill-%u",
		       __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED));
	store->path = xstrdup(name);
	store->is_memory = true;
	store->read = &store->write;
	return open_write(store, error);
}

int store_open(struct store **ret, const char *path, enum store_mode mode,
	       struct store_error *error)
{
	struct store *store;
	int err;

	err = hold_standard_fds();
	if (err != 0) {
		store_error_set(error, "%s: cannot open /dev/null: %s", path,
				strerror(-err));
		return err;
	}
	store = xcalloc(1, sizeof(*store));
	store->mode = mode;
	store->lock_fd = -1;
	(void)pthread_mutex_init(&store->admin_lock, NULL);
	(void)pthread_mutex_init(&store->rules_lock, NULL);
	store->rules = rules_default;
	if (strcmp(path, ":memory:") == 0)
		err = open_memory(store, error);
	else
		err = open_file(store, path, error);
	if (err != 0) {
		store_close(store);
		return err;
	}
	*ret = store;
	return 0;
}

void store_close(struct store *store)
{
	if (store == NULL)
		return;
	writer_free(store);
	db_close(&store->own_read);
	db_close(&store->write);
	if (store->lock_fd >= 0)
		(void)close(store->lock_fd);
	(void)pthread_mutex_destroy(&store->admin_lock);
	(void)pthread_mutex_destroy(&store->rules_lock);
	free(store->path);
	free(store);
}

const char *store_path(const struct store *store)
{
	return store->path;
}
