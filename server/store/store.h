/* SPDX-License-Identifier: MIT */
/*
 * store.h - the only door to the database file. It speaks of bots, ladders
 * and matches, never of SQL.
 *
 * Two ways to open it. STORE_WRITE takes the file's lock (PATH.lock beside
 * it), so one hilld or one hillctl writes at a time; STORE_READ takes none
 * and may be used beside a writer.
 *
 * Writing matches: store_writer_start() starts the one thread that writes.
 * store_put() hands it a record and returns at once; the thread commits all
 * that waits as one group, synchronously, and posts an event for each:
 *
 *	store_put(store, record);               the loop goes on
 *	...                                     store_fd() becomes readable
 *	while (store_next_event(store, &event))
 *
 * STORE_SAVED means that the match is on disk and survives a power cut. A
 * full or failing disk loses nothing: the records wait in the queue, the
 * writer tries again with growing pauses, and says STORE_TROUBLED once and
 * STORE_RECOVERED once; between them the caller starts no match.
 *
 * Errors are 0 or -errno; with a store_error it is filled in with a text for
 * people that names file and cause. Every call may block on the disk unless
 * it says otherwise. Any thread unless it says otherwise: readers share a
 * connection of their own, writers another, each with a lock of its own.
 */
#ifndef HILL_STORE_STORE_H
#define HILL_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"
#include "server/base/metrics.h"
#include "server/store/rows.h"

struct game;         /* server/games: an engine */
struct game_preset;  /* likewise: a kind of map that it can make */
struct match_record; /* server/match: what a match leaves behind */
struct store;

struct store_error {
	char text[512]; /* no newline */
};

enum store_mode {
	STORE_READ,  /* the file must exist; never changes it, takes no lock */
	STORE_WRITE, /* the file must exist; migrates it, locks it */
	STORE_CREATE /* STORE_WRITE that makes a missing or empty file */
};

/*
 * Open the database at PATH; ":memory:" is one that nobody else sees, for
 * tests. A refusal leaves the file as it was: a newer schema, no database,
 * another program's database, a directory, a folder or a disk that cannot be
 * written, a lock held by somebody else. On success *RET is the caller's:
 * store_close(). -EWOULDBLOCK locked, -EPROTO newer schema
 * (to a reader also an older one), -EILSEQ no hill
 * database, -EISDIR, -ENOENT, -EROFS, -EACCES, -ENOSPC, -EIO, -ENOMEM, ...
 */
int store_open(struct store **ret, const char *path, enum store_mode mode,
	       struct store_error *error) WARN_UNUSED;
/*
 * Stop the writer (store_writer_stop) and close. NULL is fine. Nobody else
 * may be inside a call.
 */
void store_close(struct store *store);
/* The file's real path; borrowed. */
const char *store_path(const struct store *store);

/* ---- the writer ---- */

enum store_event_kind {
	STORE_SAVED,     /* match `id` is on disk: tell its bots */
	STORE_CLOSED,    /* round `id`, as store_close_round() asked */
	STORE_REFUSED,   /* match `id` cannot be stored, ever: `text` */
	STORE_IDS,       /* the block of ids that was asked for: `ids` */
	STORE_TROUBLED,  /* the disk fails: `text`; results wait */
	STORE_RECOVERED, /* ... it no longer does */
	STORE_NEVENTS
};

struct store_event {
	enum store_event_kind kind;
	int64_t id; /* SAVED, CLOSED, REFUSED */
	/*
	 * SAVED, CLOSED: what the round that this has closed came to, or NULL.
	 * The taker's: free().
	 */
	struct row_closing *closing;
	struct row_ids ids; /* IDS */
	char text[256];     /* REFUSED, TROUBLED */
};

/*
 * Start the writer of a store opened for writing. 0, -EAGAIN no thread,
 * -EMFILE no descriptor.
 */
int store_writer_start(struct store *store) WARN_UNUSED;
/* Readable when events wait; stays the store's. -1 without a writer. */
int store_fd(const struct store *store);
/*
 * Hand over RECORD, which the store frees (match_record_free). 0, or -ENOBUFS
 * when the queue is full (LIMIT_STORE_RECORDS, LIMIT_STORE_BYTES): RECORD
 * stays the caller's. Never blocks on the disk.
 */
int store_put(struct store *store, struct match_record *record) WARN_UNUSED;
/*
 * Close round ROUND_ID, whatever it lacks, after all that was put before; then
 * STORE_CLOSED. LEFT: the versions that left a set, "12,15" (copied). IS_VOID:
 * it counts for nothing. Never blocks on the disk.
 */
void store_close_round(struct store *store, int64_t round_id, const char *left,
		       bool is_void);
/* Ask for a block of ids; STORE_IDS brings it. Never blocks on the disk. */
void store_ask_ids(struct store *store);
/*
 * Take the oldest event. False when none waits. Never blocks. One thread at
 * a time: the one that polls store_fd().
 */
bool store_next_event(struct store *store, struct store_event *ret);
/* Records not yet on disk, and their bytes. Never blocks. */
size_t store_queue_depth(const struct store *store, size_t *ret_bytes);
/* How the writer fares. */
struct store_figures {
	uint64_t waiting, waiting_bytes; /* as store_queue_depth */
	uint64_t records;                /* written since the start */
	struct metrics_times commits;    /* time of each commit */
};
/* Never blocks. */
void store_figures(const struct store *store, struct store_figures *ret);
/*
 * Write what waits, then end the thread; events of it can still be taken. On
 * a failing disk it gives up after PATIENCE_MS. Returns the number of matches
 * that are lost by that.
 */
size_t store_writer_stop(struct store *store, int patience_ms);

/*
 * Reserve a block of 1,000 match ids durably; for start-up, before there is a
 * loop. 0, -EROFS (opened for reading), -ENOSPC, -EIO, -EBUSY.
 */
int store_reserve_ids(struct store *store, struct row_ids *ret,
		      struct store_error *error) WARN_UNUSED;
/*
 * Store RECORD now, on this thread (hillctl, tests). RECORD is borrowed. 0,
 * -EINVAL it cannot be stored (an id that is taken, an unknown bot), -ENOSPC,
 * -EIO, -EBUSY.
 */
int store_save(struct store *store, const struct match_record *record,
	       struct store_error *error) WARN_UNUSED;

/*
 * Make the map of PRESET (of GAME), SEATS and SEED and put it into the pool,
 * hidden, as a generated one; its row is *RET. The same map is there at most
 * once: its row then stays as it is. Some tens of milliseconds: call it on a
 * worker thread. 0, -EINVAL (no room for SEATS), -EEXIST or -EINVAL (another
 * map has its name), -EROFS, -ENOMEM, -ENOSPC, -EIO, -EBUSY.
 */
int store_generate_map(struct store *store, const struct game *game,
		       const struct game_preset *preset, unsigned seats,
		       uint64_t seed, struct row_map *ret,
		       struct store_error *error) WARN_UNUSED;
/*
 * Remove the maps that an earlier server had generated and nothing was stored
 * on: its stock, and what an offer or a match that came to nothing was to be
 * played on. Those of tournaments stay. *RET_COUNT of them. For start-up,
 * before there is a loop: nobody has them in mind. 0, -EROFS, -ENOSPC, -EIO,
 * -EBUSY.
 */
int store_drop_stock(struct store *store, unsigned *ret_count,
		     struct store_error *error) WARN_UNUSED;
/*
 * Close the rounds that an earlier server left open: runs of open ones are
 * rated, sets void. For start-up. 0, -EROFS, -ENOSPC, -EIO, -EBUSY.
 */
int store_close_rounds(struct store *store,
		       struct store_error *error) WARN_UNUSED;
/*
 * Cancel the tournaments that no rule lets be played, as with one entrant: a
 * line for the log of each goes to TOLD. For start-up. Errors as above.
 */
int store_cancel_unplayable(struct store *store, struct buf *told,
			    struct store_error *error) WARN_UNUSED;
/*
 * Rate all rounds of LADDER_ID once more in their sequence, void matches left
 * out, in one transaction. *RET_DIFFERS: ratings that are not, bit by bit,
 * what was stored. 0, -EROFS, -ENOSPC, -EIO, -EBUSY.
 */
int store_recompute(struct store *store, int64_t ladder_id,
		    uint64_t *ret_differs,
		    struct store_error *error) WARN_UNUSED;

/* ---- reading ---- */

/*
 * All that the lobby has to know, generated maps left out: store_map_row(). *RET is the caller's:
 * row_catalogue_release(). 0, -EIO, -ENOMEM.
 */
int store_catalogue(struct store *store, struct row_catalogue *ret,
		    struct store_error *error) WARN_UNUSED;
/*
 * Add to CATALOGUE how far each bot has come on ladders that it walks by
 * itself, from all matches stored there: for a server's start. 0, -EIO.
 */
int store_roads(struct store *store, struct row_catalogue *catalogue,
		struct store_error *error) WARN_UNUSED;
/*
 * What the host announces now, the oldest first. The caller frees *RET, NULL
 * for none. 0, -EIO.
 */
int store_announcements(struct store *store, struct row_announcement **ret,
			size_t *ret_count,
			struct store_error *error) WARN_UNUSED;
/* Map MAP_ID without its bytes, a generated one too. 0, -ENOENT, -EIO. */
int store_map_row(struct store *store, int64_t map_id, struct row_map *ret,
		  struct store_error *error) WARN_UNUSED;
/*
 * Add the ratings of versions that play, or may soon, to CATALOGUE, empty of
 * them. 0, -EIO.
 */
int store_ratings(struct store *store, struct row_catalogue *catalogue,
		  struct store_error *error) WARN_UNUSED;
/*
 * Who is rated on LADDER_ID, by version id, hidden bots left out. The caller
 * frees *RET. 0, -EIO.
 */
int store_rated(struct store *store, int64_t ladder_id, struct row_rated **ret,
		size_t *ret_count, struct store_error *error) WARN_UNUSED;
/*
 * All places of all rated rounds of LADDER_ID, by sequence. The caller frees
 * *RET. 0, -EIO.
 */
int store_rankings(struct store *store, int64_t ladder_id,
		   struct row_place **ret, size_t *ret_count,
		   struct store_error *error) WARN_UNUSED;
/*
 * The bytes of map MAP_ID, as map_import made them, NUL-terminated beyond
 * *RET_LEN; the caller frees *RET. 0, -ENOENT, -EIO, -ENOMEM. Up to
 * LIMIT_MAP_BYTES: call it on a worker thread.
 */
int store_map_bytes(struct store *store, int64_t map_id, char **ret,
		    size_t *ret_len, struct store_error *error) WARN_UNUSED;
/*
 * The matches that FILTER lets through, newest first. *RET is the caller's:
 * row_match_list_release(). 0, -EINVAL (a seed that is no number), -EIO.
 */
int store_matches(struct store *store, const struct row_filter *filter,
		  struct row_match_list *ret,
		  struct store_error *error) WARN_UNUSED;
/* One match. 0, -ENOENT, -EIO. */
int store_match(struct store *store, int64_t id, struct row_match *ret,
		struct store_error *error) WARN_UNUSED;
/*
 * One match with map, transcript and notes. *RET is the caller's:
 * row_record_release(). 0, -ENOENT, -EIO, -ENOMEM.
 */
int store_record(struct store *store, int64_t id, struct row_record *ret,
		 struct store_error *error) WARN_UNUSED;
/*
 * By bot and game: matches, scores, wins. *RET is the caller's:
 * row_summary_release(). 0, -EIO.
 */
int store_summary(struct store *store, struct row_summary *ret,
		  struct store_error *error) WARN_UNUSED;
/* How much there is of everything. 0, -EIO. */
int store_counts(struct store *store, struct row_counts *ret,
		 struct store_error *error) WARN_UNUSED;

#endif
