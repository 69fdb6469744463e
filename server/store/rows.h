/* SPDX-License-Identifier: MIT */
/*
 * rows.h - what the store knows, as plain data: owners' bots, ladders, maps,
 * matches. No function here touches the database; lobby, web and hillctl read
 * these structs without knowing that there is one.
 *
 * Ids are the database's, from 1; 0 is none. Text is NUL-terminated UTF-8.
 * Wall times are microseconds since 1970 UTC.
 */
#ifndef HILL_STORE_ROWS_H
#define HILL_STORE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/limits.h"
#include "server/ladder/tournament.h"

enum {
	ROW_HASH_BYTES = 32,        /* SHA-256 */
	ROW_PARAMS_BYTES = 512,     /* "turns=500", the NUL included */
	ROW_OPTIONS_BYTES = 512,    /* a map's row options, likewise */
	ROW_GENERATORS_BYTES = 400, /* a ladder's presets, likewise */
	ROW_REASON_BYTES = 256,     /* why a match is void, likewise */
	ROW_SEED_BYTES = 24,        /* a 63-bit seed in decimal, likewise */
	ROW_LABEL_BYTES = 33,       /* a version's, likewise */
	ROW_ROUND_PLACES = 64,      /* bots that one round may rank */
	ROW_ROAD_AGAIN_MAX = 16     /* instances that wait to be played again */
};

struct row_bot {
	int64_t id;
	int64_t owner_id;
	int64_t version_id;     /* of the version that plays now */
	uint32_t version;       /* its number, from 1 */
	int64_t predecessor_id; /* the version before it, or 0 */
	uint32_t max_connections;
	bool is_house;    /* its owner is the host */
	bool is_hidden;   /* from the public */
	bool is_disabled; /* or banned: the bot or its owner */
	/* Why it is banned, as its author is told; NULL: nothing. Owned. */
	char *ban_reason;
	char name[LIMIT_NAME_BYTES + 1];
};

/*
 * A version of a bot that may play: the active one, a candidate, or the one
 * that a tournament has pinned.
 */
struct row_version {
	int64_t id;
	int64_t bot_id;
	uint32_t number; /* from 1 */
	bool is_candidate;
	bool is_retired;   /* but a tournament wants it */
	int64_t active_us; /* wall time of its first activation; 0: never */
	/*
	 * Monotonic: its matches are rated from then on; INT64_MIN always,
	 * INT64_MAX never (a candidate, a retired one).
	 */
	int64_t rated_from_us;
	char label[ROW_LABEL_BYTES]; /* what its author calls it */
};

/* A token that opens a bot's door; its text is nowhere in the database. */
struct row_token {
	int64_t id;
	int64_t bot_id;
	uint8_t hash[ROW_HASH_BYTES]; /* SHA-256 of the whole token's text */
};

/* Which bot seed a program is handed. */
enum row_bot_seed {
	ROW_BOT_SEED_OWN,   /* drawn by itself, 31 bits */
	ROW_BOT_SEED_MATCH, /* the match's: original rules */
	ROW_BOT_NSEEDS
};

struct row_ladder {
	int64_t id;
	char name[LIMIT_NAME_BYTES + 1];
	char game[LIMIT_NAME_BYTES + 1];
	unsigned seats;
	char params[ROW_PARAMS_BYTES]; /* canonical: game_params_format() */
	uint32_t turn_ms;
	uint32_t init_ms;
	uint32_t grace_ms;
	uint32_t bank_ms;
	uint32_t bank_step_ms;
	uint32_t lag_cap_ms;
	uint32_t ready_ms;
	uint32_t file_ms;
	bool is_seed_random;
	int64_t seed_first; /* when not random: first..last, in order */
	int64_t seed_last;
	int64_t seed_next; /* the one after the last match on disk */
	enum row_bot_seed bot_seed;
	bool is_rated;
	uint32_t round_runs;    /* an open round closes after so many ... */
	int64_t round_us;       /* ... or so long */
	uint32_t house_wait_ms; /* before a house bot takes a seat */
	int64_t deadline_us;    /* younger versions play unrated; 0: all are */
	bool is_disabled;
	size_t nmaps;
	int64_t *map_ids; /* owned by the catalogue; enabled maps, in order */
	/* "open,rooms": fresh maps of these presets, and no map_ids; or "" */
	char generators[ROW_GENERATORS_BYTES];
};

enum row_visibility {
	ROW_MAP_PUBLIC, /* may be shown to anybody */
	ROW_MAP_HIDDEN, /* only the bots that play it see it */
	ROW_MAP_NVISIBILITIES
};

/* A map without its bytes: those come from store_map_bytes(). */
struct row_map {
	int64_t id;
	char name[LIMIT_NAME_BYTES + 1]; /* the file name that bots are told */
	char game[LIMIT_NAME_BYTES + 1];
	char options[ROW_OPTIONS_BYTES]; /* "" for none */
	uint8_t hash[ROW_HASH_BYTES];    /* SHA-256 of the bytes */
	size_t size_bytes;
	enum row_visibility visibility;
	int64_t public_us; /* a hidden one is shown from then on; 0: no time */
	bool is_disabled;
};

/*
 * How far a bot has come on a ladder of a solo game whose seeds come in order.
 * Instance N is map N % nmaps with the N / nmaps-th seed, round and round.
 */
struct row_road {
	int64_t bot_id;
	int64_t ladder_id;
	uint64_t next;                      /* the first one not begun */
	uint64_t again[ROW_ROAD_AGAIN_MAX]; /* before it, not played */
	unsigned nagain;
};

/* Who plays a tournament. Its place in the array is its number in the draw. */
struct row_entrant {
	int64_t bot_id;
	int64_t version_id; /* 0: not pinned yet, or it had none by then */
	uint32_t version;   /* its number */
	char label[ROW_LABEL_BYTES]; /* what its author calls the version */
	uint32_t out_round;          /* as tournament_new() takes it */
	char bot[LIMIT_NAME_BYTES + 1];
};

/* A match of a tournament that was played, or lost by who was away. */
struct row_tournament_match {
	int64_t match_id; /* 0: a forfeit */
	struct tournament_result result;
	unsigned nseats;
	uint32_t entrants[LIMIT_SEATS]; /* by seat, from 0 */
	/* It counts no more, and is not played again: its tournament is over. */
	bool is_void;
};

enum row_tournament_state {
	ROW_TOURNAMENT_PLANNED,
	ROW_TOURNAMENT_RUNNING,
	ROW_TOURNAMENT_FINISHED,
	ROW_TOURNAMENT_CANCELLED,
	ROW_TOURNAMENT_NSTATES
};

/* What tournament.h needs to say what is to be played, and the rest. */
struct row_tournament {
	int64_t id;
	int64_t ladder_id;
	char name[LIMIT_NAME_BYTES + 1];
	char ladder[LIMIT_NAME_BYTES + 1];
	enum row_tournament_state state;
	struct tournament_rules rules;
	bool is_seed_random;
	int64_t seed_first; /* when not random: of the instances, in order */
	int64_t seed_last;
	int64_t *map_ids; /* owned; instance N is on map N % nmaps */
	size_t nmaps;     /* 0: maps are generated */
	uint32_t grace_s; /* for who is not there */
	bool is_embargo;
	/* Wall times in microseconds; 0: not said, or not yet. */
	int64_t starts_us;
	int64_t deadline_us;
	int64_t created_us;
	int64_t started_us;
	int64_t ended_us;
	int64_t revealed_us;
	struct row_entrant *entrants; /* owned */
	size_t nentrants;
	struct row_tournament_match *matches; /* owned; by pairing, set, turn */
	size_t nmatches;
	int64_t *voids; /* owned, ascending; matches that count no more */
	size_t nvoids;
};

/* How good a version is on a ladder. */
struct row_rating {
	int64_t ladder_id;
	int64_t version_id;
	double mu, sigma;
	uint32_t rounds; /* rated ones */
};

/* A line of a ladder's table, and whose it is. */
struct row_rated {
	int64_t version_id;
	int64_t bot_id;
	char bot[LIMIT_NAME_BYTES + 1];
	char owner[LIMIT_NAME_BYTES + 1];
	uint32_t version;
	char label[40]; /* what its author calls the version */
	bool is_active; /* the bot's version now */
	bool is_house;
	double mu, sigma;
	uint32_t rounds;
	int64_t last_us; /* its last rated round, since 1970 */
};

/* One place of one rated round. */
struct row_place {
	int64_t sequence; /* of the round */
	int64_t version_id;
	uint32_t rank;
};

enum row_round_state {
	ROW_ROUND_OPEN,
	ROW_ROUND_RATED,
	ROW_ROUND_UNRATED, /* fewer than two took part */
	ROW_ROUND_VOID,
	ROW_ROUND_NSTATES
};

/* What one round did to one rating. */
struct row_change {
	int64_t version_id;
	uint32_t rank; /* in the round, from 1; ties share */
	uint32_t rounds;
	double mu_before, sigma_before;
	double mu, sigma; /* after it, as `rounds` is */
};

/* A round that has closed. Freed as one block. */
struct row_closing {
	int64_t round_id;
	int64_t ladder_id;
	int64_t sequence; /* of its ratings; 0: none */
	enum row_round_state state;
	size_t nchanges; /* up to ROW_ROUND_PLACES; RATED alone has any */
	struct row_change changes[];
};

/* What the host has to say to everybody. */
struct row_announcement {
	int64_t id;       /* a later one's is greater; none is used again */
	int64_t at_us;    /* wall time */
	int64_t until_us; /* likewise; 0: until the host drops it */
	int64_t ends_us;  /* monotonic; INT64_MAX: likewise */
	char text[LIMIT_NOTICE_BYTES + 1]; /* one line */
};

/* All that the lobby has to know, read at one moment. */
struct row_catalogue {
	struct row_bot *bots; /* by id, disabled ones included */
	size_t nbots;
	struct row_version *versions; /* by bot; retired ones are left out */
	size_t nversions;
	struct row_token *tokens; /* by id; revoked ones are left out */
	size_t ntokens;
	struct row_ladder *ladders; /* by id, disabled ones included */
	size_t nladders;
	struct row_map *maps; /* by id, disabled ones included */
	size_t nmaps;
	struct row_road *roads; /* none, unless store_roads read them */
	size_t nroads;
	struct row_rating *ratings; /* none, unless store_ratings read them */
	size_t nratings;
	int64_t rated; /* the last event that they include; 0: none read */
	struct row_tournament *tournaments; /* planned and running ones */
	size_t ntournaments;
	struct row_announcement *announcements; /* that hold, by id */
	size_t nannouncements;
	uint64_t serial; /* of two readings the greater one is the newer */
};

/* Match ids first .. first + count - 1, never given before nor again. */
struct row_ids {
	int64_t first;
	uint32_t count;
};

enum row_status {
	ROW_MATCH_STORED, /* it counts */
	ROW_MATCH_VOID,   /* the server's fault: counts for nothing */
	ROW_MATCH_NSTATUSES
};

/* One seat of a stored match. */
struct row_seat {
	int64_t bot_id;
	char bot[LIMIT_NAME_BYTES + 1];
	uint32_t version; /* of the bot */
	double score;
	int64_t points;
	unsigned rank;     /* from 1; 0: none */
	char reason[24];   /* finished, late, gone, ... */
	uint32_t requests; /* that were put to it */
	uint32_t faults;   /* of any kind: the next four together */
	uint32_t late;     /* requests whose time ran out */
	uint32_t invalid;  /* replies that the rules ignore */
	uint32_t overlong; /* replies beyond line-max */
	uint32_t overfull; /* it filled its share of the transcript */
	uint32_t early;    /* replies ahead of their request */
	uint32_t banked;   /* replies that spent of the bank */
	int64_t max_us;    /* slowest reply in time */
	int64_t total_us;  /* of all replies in time */
	int64_t lag_us;    /* least seen, capped */
	char how[24];      /* "exit=0", "signal=9", "link", ... or "" */
	unsigned ncolumns;
	double columns[6]; /* in the order of game->columns */
};

struct row_match {
	int64_t id;
	int64_t ladder_id;
	int64_t map_id;
	char ladder[LIMIT_NAME_BYTES + 1];
	char game[LIMIT_NAME_BYTES + 1];
	char map[LIMIT_NAME_BYTES + 1];
	char params[ROW_PARAMS_BYTES];
	char seed[ROW_SEED_BYTES];
	char bot_seed[ROW_SEED_BYTES];
	unsigned engine_version;
	uint32_t turn_ms; /* the limits it was played under */
	uint32_t init_ms;
	uint32_t grace_ms;
	uint32_t bank_ms;
	uint32_t bank_step_ms;
	uint32_t bank_spend_ms;
	uint32_t lag_cap_ms;
	bool is_rated;
	bool is_embargo;   /* of a tournament, and no match of one shown */
	bool is_contested; /* a tournament that runs, or is not revealed, has
			      its instance; only store_match() says so */
	enum row_status status;
	bool is_host_void; /* void by the host: its ranks are as played */
	char void_reason[ROW_REASON_BYTES]; /* "" when stored */
	int64_t started_us;
	int64_t ended_us;
	int64_t stall_us; /* lost by the server and credited */
	uint64_t inputs;  /* that the engine was fed */
	uint64_t digest;  /* of all output lines */
	unsigned nseats;
	struct row_seat seats[LIMIT_SEATS];
};

/* What store_matches() looks for; NULL and 0 do not matter. */
struct row_filter {
	const char *bot;
	const char *opponent; /* of another seat than `bot`, be it its own */
	const char *ladder;
	const char *game;
	const char *map;
	const char *seed;   /* decimal */
	const char *reason; /* of any seat */
	bool is_void;       /* only those that count for nothing */
	int64_t since_us;   /* ended then or later, since 1970 */
	int64_t until_us;   /* ended before */
	int64_t before_id;  /* only older matches: the next page */
	uint32_t limit;     /* at most that many, newest first; 0: 50 */
};

struct row_match_list {
	struct row_match *matches; /* owned: row_match_list_release() */
	size_t nmatches;
};

/* A match with all that its replay needs. */
struct row_record {
	struct row_match match;
	char map_options[ROW_OPTIONS_BYTES];
	char *map_data; /* these four owned: row_record_release() */
	size_t map_len;
	uint8_t *transcript; /* as server/match deflated it */
	size_t transcript_len;
	uint8_t *notes; /* likewise */
	size_t notes_len;
	uint64_t *samples; /* of the running digest */
	size_t nsamples;
};

/* How a bot fared in a game: one line of the summary. */
struct row_standing {
	char bot[LIMIT_NAME_BYTES + 1];
	char game[LIMIT_NAME_BYTES + 1];
	int64_t matches;
	int64_t embargoed; /* of these, of tournaments not revealed yet */
	double mean_score;
	double best_score;
	bool is_shared; /* it met others: wins mean something */
	int64_t wins;   /* first places in matches of several seats */
};

struct row_summary {
	struct row_standing *standings; /* owned: row_summary_release() */
	size_t nstandings;
};

/* Figures for `hillctl status`. */
struct row_counts {
	int64_t owners, bots, tokens, ladders, maps, matches, voids;
	int64_t last_match_id; /* 0 before the first */
};

/* Free what a filled-in struct owns; all zero or NULL is fine. */
void row_catalogue_release(struct row_catalogue *catalogue);
void row_tournament_release(struct row_tournament *tournament);
void row_match_list_release(struct row_match_list *list);
void row_record_release(struct row_record *record);
void row_summary_release(struct row_summary *summary);

#endif
