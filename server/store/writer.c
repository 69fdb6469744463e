/* SPDX-License-Identifier: MIT */
/*
 * writer.c - the one thread that writes matches.
 *
 * A record stays in the queue until the commit that holds it has returned;
 * only then it is taken off and its event posted. So a commit that fails
 * changes nothing here: the same records are tried again. Only the writer
 * takes from the front and only store_put adds to the end, so the writer may
 * walk the records that it counted without the lock.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/base/clock.h"
#include "server/base/mailbox.h"
#include "server/base/thread.h"
#include "server/match/record.h"
#include "server/store/rate.h"
#include "server/store/store_internal.h"

enum {
	GROUP_MAX = 1000, /* records of one commit: nobody waits long */
	PAUSE_FIRST_US = 100 * 1000,
	PAUSE_MAX_US = 3 * 1000 * 1000
};

struct entry {
	struct mail mail;            /* in the events, once `event` holds one */
	struct entry *next;          /* in the queue */
	struct match_record *record; /* owned; NULL: close a round */
	int64_t round_id;            /* to close ... */
	char *left;                  /* owned; who left it */
	bool is_void;
	size_t bytes;
	struct store_event event;
};

struct writer {
	pthread_t thread;
	bool is_running;       /* the owner's: there is a thread to join */
	bool is_troubled;      /* the thread's own */
	struct mailbox events; /* to whoever polls store_fd() */
	struct mail *taken;    /* theirs: events out of the box, not yet told */

	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t changed;
	struct entry *first; /* owned */
	struct entry **end;
	size_t count;
	size_t bytes;
	unsigned wanted_blocks; /* id blocks asked for, not yet given */
	bool is_stopping;
	int64_t give_up_us; /* when stopping: no more tries after this */

	size_t group_max;
	struct store_figures figures;
	int64_t pause_us; /* before the next try; 0: all is well */
};

static void post(struct writer *writer, const struct store_event *event)
{
	struct entry *entry = xcalloc(1, sizeof(*entry));

	entry->event = *event;
	mailbox_post(&writer->events, &entry->mail);
}

/* What ENTRY asks for, and what its round came to. */
static int carry_out(struct db *db, struct entry *entry,
		     struct store_error *error)
{
	const struct match_record *record = entry->record;
	int64_t round_id = entry->round_id;
	int err;

	if (record != NULL) {
		entry->event.id = record->id;
		entry->event.kind = STORE_SAVED;
		round_id = record->round.id;
		err = save_record(db, record, error);
	} else {
		entry->event.id = round_id;
		entry->event.kind = STORE_CLOSED;
		err = rate_close(db, round_id, entry->left, entry->is_void,
				 error);
	}
	if (err == 0 && round_id != 0)
		err = rate_read(db, round_id, &entry->event.closing, error);
	return err;
}

static int save_one(struct db *db, struct entry *entry,
		    struct store_error *error)
{
	struct query query;
	int err;

	/* Of a try that failed. */
	free(entry->event.closing);
	entry->event.closing = NULL;

	query_open(&query, db, "SAVEPOINT record", error);
	err = query_run(&query);
	if (err != 0)
		return err;
	err = carry_out(db, entry, error);
	if (err != 0 && db_is_trouble(err))
		return err;
	if (err != 0) {
		entry->event.kind = STORE_REFUSED;
		(void)snprintf(entry->event.text, sizeof(entry->event.text),
			       "%.*s", (int)sizeof(entry->event.text) - 1,
			       error->text);
		query_open(&query, db, "ROLLBACK TO record", error);
		err = query_run(&query);
		if (err != 0)
			return err;
	}
	query_open(&query, db, "RELEASE record", error);
	return query_run(&query);
}

/* COUNT records from FIRST and perhaps ids, in one commit or not at all. */
static int write_group(struct store *store, struct entry *first, size_t count,
		       struct row_ids *ids, struct store_error *error)
{
	struct db *db = &store->write;
	struct entry *entry = first;
	int err;

	for (size_t i = 0; i < count; i++) {
		if (entry->record != NULL)
			match_record_repack(entry->record);
		if (i + 1 < count)
			entry = entry->next;
	}
	(void)pthread_mutex_lock(&db->lock);
	err = db_begin(db, error);
	if (err != 0)
		goto out;
	for (size_t i = 0; i < count && err == 0; i++) {
		err = save_one(db, first, error);
		if (i + 1 < count)
			first = first->next;
	}
	if (err == 0 && ids != NULL)
		err = save_id_block(db, ids, error);
	if (err == 0) {
		err = db_commit(db, error);
	} else {
		(void)db_fail(db, sqlite3_extended_errcode(db->handle), "write",
			      error);
		db_rollback(db);
	}
out:
	(void)pthread_mutex_unlock(&db->lock);
	return err;
}

/* The commit has returned: take COUNT entries off and tell. */
static void finish_group(struct writer *writer, size_t count)
{
	struct entry *entry;

	for (size_t i = 0; i < count; i++) {
		(void)pthread_mutex_lock(&writer->lock);
		entry = writer->first;
		writer->first = entry->next;
		if (writer->first == NULL)
			writer->end = &writer->first;
		writer->count--;
		writer->bytes -= entry->bytes;
		(void)pthread_mutex_unlock(&writer->lock);
		match_record_free(entry->record);
		entry->record = NULL;
		free(entry->left);
		entry->left = NULL;
		mailbox_post(&writer->events, &entry->mail);
	}
}

static void note_trouble(struct writer *writer, const struct store_error *error)
{
	struct store_event event = { .kind = STORE_TROUBLED };

	writer->pause_us =
		writer->pause_us == 0 ? PAUSE_FIRST_US : writer->pause_us * 2;
	if (writer->pause_us > PAUSE_MAX_US)
		writer->pause_us = PAUSE_MAX_US;
	/* Where the disk is nearly full one record may fit where many don't. */
	writer->group_max = 1;
	if (writer->is_troubled)
		return;
	writer->is_troubled = true;
	(void)snprintf(event.text, sizeof(event.text), "%.*s",
		       (int)sizeof(event.text) - 1, error->text);
	post(writer, &event);
}

static void note_success(struct writer *writer)
{
	writer->pause_us = 0;
	writer->group_max *= 2;
	if (writer->group_max > GROUP_MAX)
		writer->group_max = GROUP_MAX;
	if (!writer->is_troubled)
		return;
	writer->is_troubled = false;
	post(writer, &(struct store_event){ .kind = STORE_RECOVERED });
}

/* Sleep UNTIL_US at the longest; the lock is held. */
static void sleep_until(struct writer *writer, int64_t until_us)
{
	struct timespec until = { .tv_sec = until_us / 1000000,
				  .tv_nsec = until_us % 1000000 * 1000 };

	(void)pthread_cond_timedwait(&writer->changed, &writer->lock, &until);
}

/*
 * Wait for work that may be tried now. False: it is over, whatever is left.
 * The lock is held.
 */
static bool wait_for_work(struct writer *writer)
{
	int64_t retry_us = clock_now_us() + writer->pause_us;
	int64_t now_us, until_us;

	for (;;) {
		if (writer->count == 0 && writer->is_stopping)
			return false;
		now_us = clock_now_us();
		if (writer->is_stopping && writer->pause_us > 0 &&
		    now_us >= writer->give_up_us)
			return false;
		until_us = retry_us;
		if (writer->is_stopping && until_us > writer->give_up_us)
			until_us = writer->give_up_us;
		if (writer->count == 0 && writer->wanted_blocks == 0)
			(void)pthread_cond_wait(&writer->changed,
						&writer->lock);
		else if (now_us < until_us)
			sleep_until(writer, until_us);
		else
			return true;
	}
}

static void *run(void *ctx)
{
	struct store *store = ctx;
	struct writer *writer = store->writer;
	struct store_event event;
	struct store_error error;
	struct entry *first;
	size_t count;
	bool wants_ids;
	int64_t begun_us;
	int err;

	(void)pthread_mutex_lock(&writer->lock);
	while (wait_for_work(writer)) {
		first = writer->first;
		count = writer->count;
		if (count > writer->group_max)
			count = writer->group_max;
		wants_ids = writer->wanted_blocks > 0;
		(void)pthread_mutex_unlock(&writer->lock);

		begun_us = clock_now_us();
		event = (struct store_event){ .kind = STORE_IDS };
		err = write_group(store, first, count,
				  wants_ids ? &event.ids : NULL, &error);
		if (err == 0) {
			note_success(writer);
			finish_group(writer, count);
			if (wants_ids)
				post(writer, &event);
		} else {
			note_trouble(writer, &error);
		}

		(void)pthread_mutex_lock(&writer->lock);
		metrics_count(&writer->figures.commits,
			      clock_now_us() - begun_us);
		if (err == 0)
			writer->figures.records += count;
		if (err == 0 && wants_ids)
			writer->wanted_blocks--;
	}
	(void)pthread_mutex_unlock(&writer->lock);
	return NULL;
}

int store_writer_start(struct store *store)
{
	struct writer *writer;
	pthread_condattr_t attr;
	int err;

	assert(store->mode != STORE_READ && store->writer == NULL);
	writer = xcalloc(1, sizeof(*writer));
	err = mailbox_init(&writer->events, true);
	if (err != 0) {
		free(writer);
		return err;
	}
	(void)pthread_mutex_init(&writer->lock, NULL);
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&writer->changed, &attr);
	(void)pthread_condattr_destroy(&attr);
	writer->end = &writer->first;
	writer->group_max = GROUP_MAX;
	store->writer = writer;
	/* It hears no signals: a file-size limit must not kill us. */
	err = thread_start(&writer->thread, run, store);
	writer->is_running = err == 0;
	if (err != 0)
		writer_free(store);
	return err;
}

int store_fd(const struct store *store)
{
	return store->writer == NULL ? -1 : mailbox_fd(&store->writer->events);
}

/* ENTRY is the last of the queue; the lock is held. */
static void append(struct writer *writer, struct entry *entry, size_t bytes)
{
	entry->bytes = bytes;
	*writer->end = entry;
	writer->end = &entry->next;
	writer->count++;
	writer->bytes += bytes;
	(void)pthread_cond_signal(&writer->changed);
}

void store_close_round(struct store *store, int64_t round_id, const char *left,
		       bool is_void)
{
	struct writer *writer = store->writer;
	struct entry *entry = xcalloc(1, sizeof(*entry));

	entry->round_id = round_id;
	entry->left = xstrdup(left);
	entry->is_void = is_void;
	(void)pthread_mutex_lock(&writer->lock);
	append(writer, entry, sizeof(*entry));
	(void)pthread_mutex_unlock(&writer->lock);
}

int store_put(struct store *store, struct match_record *record)
{
	struct writer *writer = store->writer;
	size_t bytes = sizeof(struct entry) + sizeof(*record) +
		       record->transcript_len + record->notes_len +
		       record->nsamples * 8;
	struct entry *entry;

	(void)pthread_mutex_lock(&writer->lock);
	/* One that is larger than all room there is passes when it is alone. */
	if (writer->is_stopping || writer->count >= LIMIT_STORE_RECORDS ||
	    (writer->count > 0 && writer->bytes + bytes > LIMIT_STORE_BYTES)) {
		(void)pthread_mutex_unlock(&writer->lock);
		return -ENOBUFS;
	}
	entry = xcalloc(1, sizeof(*entry));
	entry->record = record;
	append(writer, entry, bytes);
	(void)pthread_mutex_unlock(&writer->lock);
	return 0;
}

void store_ask_ids(struct store *store)
{
	struct writer *writer = store->writer;

	(void)pthread_mutex_lock(&writer->lock);
	writer->wanted_blocks++;
	(void)pthread_cond_signal(&writer->changed);
	(void)pthread_mutex_unlock(&writer->lock);
}

bool store_next_event(struct store *store, struct store_event *ret)
{
	struct writer *writer = store->writer;
	struct entry *entry;

	if (writer->taken == NULL)
		writer->taken = mailbox_take(&writer->events);
	if (writer->taken == NULL)
		return false;
	entry = MAIL_OF(writer->taken, struct entry, mail);
	writer->taken = writer->taken->next;
	*ret = entry->event;
	free(entry);
	return true;
}

size_t store_queue_depth(const struct store *store, size_t *ret_bytes)
{
	struct writer *writer = store->writer;
	size_t count;

	if (writer == NULL) {
		*ret_bytes = 0;
		return 0;
	}
	(void)pthread_mutex_lock(&writer->lock);
	count = writer->count;
	*ret_bytes = writer->bytes;
	(void)pthread_mutex_unlock(&writer->lock);
	return count;
}

void store_figures(const struct store *store, struct store_figures *ret)
{
	struct writer *writer = store->writer;

	memset(ret, 0, sizeof(*ret));
	if (writer == NULL)
		return;
	(void)pthread_mutex_lock(&writer->lock);
	*ret = writer->figures;
	ret->waiting = writer->count;
	ret->waiting_bytes = writer->bytes;
	(void)pthread_mutex_unlock(&writer->lock);
}

size_t store_writer_stop(struct store *store, int patience_ms)
{
	struct writer *writer = store->writer;
	const struct entry *entry;
	size_t nlost = 0;

	if (writer == NULL)
		return 0;
	if (writer->is_running) {
		(void)pthread_mutex_lock(&writer->lock);
		writer->is_stopping = true;
		writer->give_up_us =
			clock_now_us() + (int64_t)patience_ms * 1000;
		(void)pthread_cond_signal(&writer->changed);
		(void)pthread_mutex_unlock(&writer->lock);
		(void)pthread_join(writer->thread, NULL);
		writer->is_running = false;
	}
	for (entry = writer->first; entry != NULL; entry = entry->next)
		nlost += entry->record != NULL;
	return nlost;
}

void writer_free(struct store *store)
{
	struct writer *writer = store->writer;
	struct store_event event;
	struct entry *entry;

	if (writer == NULL)
		return;
	(void)store_writer_stop(store, 0);
	while (store_next_event(store, &event))
		free(event.closing);
	while ((entry = writer->first) != NULL) {
		writer->first = entry->next;
		match_record_free(entry->record);
		free(entry->event.closing);
		free(entry->left);
		free(entry);
	}
	mailbox_release(&writer->events);
	(void)pthread_cond_destroy(&writer->changed);
	(void)pthread_mutex_destroy(&writer->lock);
	free(writer);
	store->writer = NULL;
}

int write_begin(struct store *store, struct store_error *error)
{
	int err;

	if (store->mode == STORE_READ) {
		store_error_set(error, "%s: opened for reading only",
				store->path);
		return -EROFS;
	}
	(void)pthread_mutex_lock(&store->write.lock);
	err = db_begin(&store->write, error);
	if (err != 0)
		(void)pthread_mutex_unlock(&store->write.lock);
	return err;
}

int write_end(struct store *store, int err, struct store_error *error)
{
	if (err == 0)
		err = db_commit(&store->write, error);
	else
		db_rollback(&store->write);
	(void)pthread_mutex_unlock(&store->write.lock);
	return err;
}

int store_reserve_ids(struct store *store, struct row_ids *ret,
		      struct store_error *error)
{
	int err = write_begin(store, error);

	if (err != 0)
		return err;
	err = save_id_block(&store->write, ret, error);
	return write_end(store, err, error);
}

int store_save(struct store *store, const struct match_record *record,
	       struct store_error *error)
{
	int err = write_begin(store, error);

	if (err != 0)
		return err;
	err = save_record(&store->write, record, error);
	return write_end(store, err, error);
}
