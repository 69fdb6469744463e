/* SPDX-License-Identifier: MIT */
/*
 * lobby.h - who is there, who waits, who plays: the whole server but its
 * sockets, threads, clock and disk.
 *
 * Pure: every entry point gets an event and the time, changes the lobby and
 * queues actions; the caller takes them out and carries them out:
 *
 *	lobby_peer_bytes(lobby, peer, bytes, len, now);
 *	while (lobby_next_action(lobby, &action))
 *		conn_apply(&action);
 *
 * Actions are a queue: any entry point may be called while others wait in it
 * (a LOBBY_READ leads to lobby_peer_bytes), so nothing re-enters. What an
 * action points to stays valid until the next call of any function here but
 * lobby_clock_started, which comes between a SEND and its send().
 * A peer belongs to the lobby; the caller holds it from lobby_peer_open until
 * it calls lobby_peer_closed, exactly once, whoever ended the link.
 *
 * Loop thread only, but for lobby_map_new and lobby_play_work, which a worker
 * may call. Times are monotonic microseconds. Seats count from 0.
 */
#ifndef HILL_LOBBY_LOBBY_H
#define HILL_LOBBY_LOBBY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/name.h"
#include "proto/words.h"
#include "server/base/address.h"
#include "server/base/alloc.h"
#include "server/base/limits.h"
#include "server/base/log.h"

struct game;
struct game_error;
struct game_preset;
struct lobby;
struct lobby_map;     /* one parsed map with its prepared block */
struct lobby_peer;    /* one connection */
struct lobby_play;    /* one match in play */
struct match_record;  /* server/match/record.h */
struct row_catalogue; /* server/store/rows.h */
struct row_closing;   /* likewise */
struct row_match;     /* likewise */

enum { LOBBY_KEY_BYTES = 32 };

struct lobby_config {
	const char *host; /* for `@hill 1 HOST`; copied */
	/*
	 * From the system's generator: match seeds are drawn by it and must
	 * not be guessed. Fixed bytes make a test's seeds repeatable.
	 */
	uint8_t random_key[LOBBY_KEY_BYTES];
	uint32_t login_ms;  /* a peer logs in within this time */
	uint32_t peers_max; /* connections in all */
	uint32_t peers_per_address;
	uint32_t prelogin_per_address; /* that have not logged in yet */
	uint32_t failures_per_address; /* wrong logins at once ... */
	uint32_t failure_forget_ms;    /* ... one is forgotten after this */
	uint32_t retry_after_s; /* told when everything of a kind is in use */
	bool is_registration_closed;     /* nobody may register a bot */
	uint32_t registrations_per_hour; /* tried from one address; 1.. */
	bool has_guests;                 /* @guest is allowed */
	uint32_t guests_max;             /* of them, at once */
	uint32_t guests_per_address;     /* likewise, from one address */
	uint32_t matches_max;            /* in play at once */
	uint32_t results_max;   /* results that may wait for the store */
	uint32_t stall_void_ms; /* a match that the loop costs more is void */
	uint64_t match_budget_bytes; /* engines' states in all */
	uint64_t map_budget_bytes;   /* maps kept for the next match */
};

enum lobby_action_kind {
	/*
	 * Queue BYTES (LEN) for PEER and send at once what the socket takes.
	 * With `starts_clock` they carry a request: read the clock and call
	 * lobby_clock_started right before the first send() that covers them,
	 * or at once when they must wait behind older output.
	 */
	LOBBY_SEND,
	/*
	 * Queue the block BYTES (LEN) in its place among the output; it is
	 * shared: BLOCK's reference is the caller's, who gives it back with
	 * lobby_map_unref when all was sent or the link is gone. Does not
	 * count against the output's bound.
	 */
	LOBBY_SEND_BLOCK,
	/*
	 * Send what is queued as far as a bounded time allows, then close;
	 * REASON is a word for the log. Stop reading now. Then
	 * lobby_peer_closed.
	 */
	LOBBY_CLOSE,
	LOBBY_PAUSE,  /* stop reading PEER */
	LOBBY_RESUME, /* read PEER again */
	/*
	 * A verdict on PEER is due: do one last non-blocking read and hand
	 * over what it gives. Only lobby_last_reads asks for it.
	 */
	LOBBY_READ,
	/*
	 * Call lobby_files_acked as soon as all output queued up to here has
	 * been acknowledged by the peer's host (SIOCOUTQ reads 0).
	 */
	LOBBY_WATCH_FILES,
	LOBBY_SAMPLE_RTT, /* call lobby_rtt with tcpi_min_rtt, if any */
	/*
	 * RECORD is the caller's now: store it, then lobby_stored (also when
	 * trouble delayed it: it is never handed out twice), or
	 * lobby_store_refused when it cannot be.
	 */
	LOBBY_STORE,
	/*
	 * Read map MAP_ID (its bytes by lobby_map_new on a worker), then
	 * lobby_map_loaded or lobby_map_failed.
	 */
	LOBBY_LOAD_MAP,
	/*
	 * Make the map of PRESET (of GAME), COUNT seats and SEED on a worker,
	 * and put it into the pool, hidden; then lobby_map_made or
	 * lobby_map_unmade with LADDER_ID.
	 */
	LOBBY_MAKE_MAP,
	/* Call lobby_play_work(PLAY) on a worker, then lobby_play_worked. */
	LOBBY_RUN_MATCH,
	/*
	 * Reserve match ids for good, a block of COUNT or as many as the store
	 * takes at once, then lobby_ids.
	 */
	LOBBY_RESERVE_IDS,
	/*
	 * Have the store carry out ASK (on a worker, which may read it till
	 * then), read the catalogue again if it changed, then lobby_answered.
	 */
	LOBBY_ASK,
	/*
	 * Close round ROUND_ID after all records handed out so far:
	 * store_close_round with BYTES (a string: the versions that left it)
	 * and IS_VOID, then lobby_round_closed.
	 */
	LOBBY_CLOSE_ROUND,
	LOBBY_LOG, /* a line BYTES (no LF) of LEVEL for the log */
	/* After lobby_drain: nothing is left to wait for; the loop may end. */
	LOBBY_DRAINED,
	LOBBY_NACTIONS
};

struct lobby_action {
	enum lobby_action_kind kind;
	enum log_level level;
	bool starts_clock;
	struct lobby_peer *peer;
	void *conn; /* what lobby_peer_open was given */
	const char *bytes;
	size_t len;
	const char *reason; /* static */
	struct lobby_map *block;
	struct match_record *record;
	struct lobby_play *play;
	const struct lobby_ask *ask; /* the lobby's, until lobby_answered */
	int64_t map_id;
	int64_t round_id;
	bool is_void;
	uint32_t count;
	const struct game *game; /* the next four: LOBBY_MAKE_MAP */
	const struct game_preset *preset;
	uint64_t seed;
	int64_t ladder_id;
};

/* What a peer wants of the store; see server/store/register.h. */
enum lobby_ask_kind {
	LOBBY_ASK_VERSION,  /* store_version(bot_id, label, is_candidate) */
	LOBBY_ASK_REGISTER, /* store_register(name, invite, token) */
	LOBBY_ASK_ROTATE,   /* store_rotate(bot_id) */
	LOBBY_NASKS
};

struct lobby_ask {
	uint64_t id;
	enum lobby_ask_kind kind;
	int64_t bot_id;
	bool is_candidate;
	char label[NAME_VERSION_MAX + 1];
	char name[NAME_BOT_MAX + 1];
	char invite[NAME_TOKEN_MAX + 1]; /* "": none */
	char token[NAME_TOKEN_MAX + 1];  /* "": none */
};

/* The answer to it. Texts are borrowed for the call. */
struct lobby_answer {
	enum error_code code; /* ERROR_NONE: done */
	const char *text;     /* why not; NULL: the table's words */
	int64_t version_id;
	const char *name, *token;
};

/* The whole state at a glance, for `hillctl status`. */
struct lobby_status {
	size_t peers, logged_in, waiting; /* connections */
	size_t bots, ladders;             /* of the catalogue, enabled */
	size_t matches;                   /* in play, offers included */
	size_t results_waiting;           /* for the store */
	size_t maps, map_bytes;           /* in the cache */
	uint64_t match_bytes;             /* admitted for engines */
	uint64_t record_bytes;            /* of matches that are not on disk */
	uint64_t started, finished, cancelled, voided; /* matches since start */
	bool is_draining, has_store_trouble, is_lagging;
};

/* A lobby with an empty catalogue. Copies CONFIG. lobby_free. */
struct lobby *lobby_new(const struct lobby_config *config) WARN_UNUSED;
/*
 * Free everything, also peers, matches and the records and maps in actions
 * not yet taken. Nothing may be in a worker's hands. NULL is fine.
 */
void lobby_free(struct lobby *lobby);
/*
 * Replace the bounds by those of CONFIG (SIGHUP); `host` and `random_key`
 * stay as they are. What is in play keeps what it has; what raised bounds let
 * start does so now.
 */
void lobby_configure(struct lobby *lobby, const struct lobby_config *config,
		     int64_t now_us);

/*
 * The next action, oldest first; false when there is none. Actions of peers
 * that have closed meanwhile are left out.
 */
bool lobby_next_action(struct lobby *lobby,
		       struct lobby_action *ret) WARN_UNUSED;

/*
 * A peer has connected from ADDRESS (ADDRESS_BYTES). CONN is handed
 * back in its actions; LINK_ID names the connection in log lines. Greets it.
 * Where a bound on connections is met it is told so and a CLOSE is queued;
 * the result is a peer all the same. Never NULL.
 */
struct lobby_peer *lobby_peer_open(struct lobby *lobby,
				   const uint8_t address[ADDRESS_BYTES],
				   void *conn, uint64_t link_id,
				   int64_t now_us) WARN_UNUSED;
/*
 * LEN bytes (1..65536, any cut) came from PEER. All are taken over: what must
 * wait is kept and reading paused. Borrows BYTES for the call.
 */
void lobby_peer_bytes(struct lobby *lobby, struct lobby_peer *peer,
		      const char *bytes, size_t len, int64_t now_us);
/*
 * PEER half-closed its link (read() gave 0): stop reading it. Its lines still
 * count, then its program is gone; once its match is over and its results are
 * told (at once, where there is none) a CLOSE follows.
 */
void lobby_peer_eof(struct lobby *lobby, struct lobby_peer *peer,
		    int64_t now_us);
/*
 * The link is gone, or the caller has closed it. PEER is freed once the
 * action queue is empty; do not use it any more.
 */
void lobby_peer_closed(struct lobby *lobby, struct lobby_peer *peer,
		       int64_t now_us);
/*
 * A peer that does not read passed LIMIT_OUTPUT_BYTES: a CLOSE follows.
 */
void lobby_peer_overflow(struct lobby *lobby, struct lobby_peer *peer,
			 int64_t now_us);

/* See LOBBY_SEND, LOBBY_WATCH_FILES, LOBBY_SAMPLE_RTT. */
void lobby_clock_started(struct lobby *lobby, struct lobby_peer *peer,
			 int64_t now_us);
void lobby_files_acked(struct lobby *lobby, struct lobby_peer *peer,
		       int64_t now_us);
void lobby_rtt(struct lobby *lobby, struct lobby_peer *peer, uint32_t rtt_us);

/*
 * The moment (at the earliest) at which lobby_last_reads and lobby_expire
 * want to be called; INT64_MAX when none is set. May lie in the past: then
 * at once, after other input was looked at.
 */
int64_t lobby_deadline(const struct lobby *lobby);
/*
 * Queue a LOBBY_READ for each peer on whose reply a verdict is due at NOW.
 * Carry them out, then call lobby_expire with the same NOW.
 */
void lobby_last_reads(struct lobby *lobby, int64_t now_us);
/* Do what is due at NOW: verdicts, offers and logins that ran out, ... */
void lobby_expire(struct lobby *lobby, int64_t now_us);
/* The loop itself lost LOST_US (a late wake-up): nobody's clock pays it. */
void lobby_stalled(struct lobby *lobby, int64_t lost_us, int64_t now_us);
/*
 * The loop's worst lag over the last second, told about once a second. While
 * it is above a tenth of the shortest turn limit in play no match starts.
 */
void lobby_loop_lag(struct lobby *lobby, int64_t lag_us, int64_t now_us);

/*
 * Parse DATA (the bytes of map NAME with its row's OPTIONS) for GAME and
 * prepare the block that seats get. Any thread. 0 with *RET (one reference,
 * the caller's), -EINVAL or -ENOMEM with ERROR set. Borrows everything.
 */
int lobby_map_new(struct lobby_map **ret, const struct game *game,
		  const char *name, const char *options, const char *data,
		  size_t len, struct game_error *error) WARN_UNUSED;
/* Give one reference back; the last frees. Loop thread. NULL is fine. */
void lobby_map_unref(struct lobby_map *map);
/* Map MAP_ID is here: takes over the reference of MAP. */
void lobby_map_loaded(struct lobby *lobby, int64_t map_id,
		      struct lobby_map *map, int64_t now_us);
/* Map MAP_ID cannot be had; TEXT says why. Its ladders go on without it. */
void lobby_map_failed(struct lobby *lobby, int64_t map_id, const char *text,
		      int64_t now_us);

/*
 * The map that ladder LADDER_ID asked for is map MAP_ID of the pool, and here:
 * takes over the reference of MAP.
 */
void lobby_map_made(struct lobby *lobby, int64_t ladder_id, int64_t map_id,
		    struct lobby_map *map, int64_t now_us);
/* It cannot be made; TEXT says why. It is asked for again after a while. */
void lobby_map_unmade(struct lobby *lobby, int64_t ladder_id, const char *text,
		      int64_t now_us);

/* The long computation of PLAY. A worker's; nobody else touches PLAY. */
void lobby_play_work(struct lobby_play *play);
/* It has come back from the worker. */
void lobby_play_worked(struct lobby *lobby, struct lobby_play *play,
		       int64_t now_us);

/* The match MATCH_ID is on disk: its seats are told. */
void lobby_stored(struct lobby *lobby, int64_t match_id, int64_t now_us);
/*
 * The store will never take the match MATCH_ID: our fault, so its seats hear
 * @void in place of the result.
 */
void lobby_store_refused(struct lobby *lobby, int64_t match_id, int64_t now_us);
/*
 * Round ROUND_ID is closed on disk, by its last match (told before that is) or
 * by a LOBBY_CLOSE_ROUND: CLOSING (borrowed) says what it changed; NULL: no
 * match of it was ever stored.
 */
void lobby_round_closed(struct lobby *lobby, int64_t round_id,
			const struct row_closing *closing, int64_t now_us);
/*
 * The store has carried out the ask ASK_ID, or refused it; what it changed is
 * in the catalogue already.
 */
void lobby_answered(struct lobby *lobby, uint64_t ask_id,
		    const struct lobby_answer *answer, int64_t now_us);
/*
 * The store cannot write because of REASON (borrowed, for the log), or can
 * again (NULL). While it cannot, no match starts and who waits is told.
 */
void lobby_store_trouble(struct lobby *lobby, const char *reason,
			 int64_t now_us);
/* COUNT match ids from FROM are reserved on disk. 0: try again later. */
void lobby_ids(struct lobby *lobby, int64_t from, uint32_t count,
	       int64_t now_us);
/*
 * The catalogue is now ROWS (borrowed for the call). Peers stay; what is in
 * play is played to its end by the rules it began with. Who waits for a
 * ladder that vanished leaves its queue; peers of a bot that vanished are
 * closed, at the end of their match if they play. ROWS with roads (at the
 * server's start) say where bots go on.
 */
void lobby_catalogue_replace(struct lobby *lobby,
			     const struct row_catalogue *rows, int64_t now_us);

/*
 * Play MATCH (borrowed) once more, unrated: same map, parameters, seeds, bots
 * and seats, by the limits that its ladder has now. It starts as soon as all
 * its bots are free, before other matches of theirs on that ladder. 0;
 * -ENOENT when a bot does not wait on the ladder, -EINVAL when it cannot be:
 * ERROR says which and why. What happens later is in the log alone.
 */
int lobby_rematch(struct lobby *lobby, const struct row_match *match,
		  int64_t now_us, struct game_error *error) WARN_UNUSED;

/*
 * Start no more matches. What runs may finish until DEADLINE_US; the rest is
 * abandoned then. LOBBY_DRAINED follows when all is told, stored and answered,
 * and each peer has its CLOSE.
 */
void lobby_drain(struct lobby *lobby, int64_t deadline_us, int64_t now_us);

/*
 * Somebody at ADDRESS (ADDRESS_BYTES) wants to register by another way
 * than a connection of a bot. 0: it is counted with those of connections;
 * else the seconds until there is room for it.
 */
uint32_t lobby_register_wait_s(struct lobby *lobby,
			       const uint8_t address[ADDRESS_BYTES],
			       int64_t now_us) WARN_UNUSED;
/* How things stand now; *RET is filled in whole. */
void lobby_status(const struct lobby *lobby, struct lobby_status *ret);

/* A match in play. */
struct lobby_live {
	int64_t id;
	const char *ladder; /* texts are borrowed until the next entry */
	const char *game;
	bool is_running; /* false: its seats have not all said @ready */
	uint32_t turn;   /* requests put to the first seat so far */
	unsigned nseats;
	const char *bots[LIMIT_SEATS]; /* NULL: the host hides it */
};
/*
 * The newest MAX matches in play, newest first; returns how many they are.
 * Those of tournaments are left out; *RET_TOTAL counts all others.
 */
size_t lobby_live(const struct lobby *lobby, struct lobby_live *ret, size_t max,
		  size_t *ret_total);
/*
 * Assert every invariant of the lobby and all that it holds. For tests; slow.
 */
void lobby_check(const struct lobby *lobby);

#endif
