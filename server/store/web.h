/* SPDX-License-Identifier: MIT */
/*
 * web.h - what the public may read, as JSON for the HTTP API. Only what
 * visible.h lets through ever leaves here; who asks need not think of it.
 *
 * Every function takes one short transaction or one statement, so that a
 * reader never holds the log back. Results are the caller's (json_decref).
 * Errors are those of store.h; -ENOENT also means "not for you". Times are
 * RFC 3339 with milliseconds; seeds are text, since they have 63 bits.
 */
#ifndef HILL_STORE_WEB_H
#define HILL_STORE_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "server/base/alloc.h"
#include "server/store/store.h"

/* "2026-11-29T23:19:13.123Z", or null for 0. */
json_t *store_web_time(int64_t us);
/*
 * VALUE, or null where JSON has no number for it; nor any that is read back as
 * infinite when it is written with 15 digits, as all of this is.
 */
json_t *store_web_real(double value);

/* Which matches; NULL and 0 do not matter. Newest first. */
struct web_filter {
	const char *bot;
	const char *version;  /* of `bot`: its label */
	const char *opponent; /* another seat of the match */
	const char *map;
	const char *reason; /* of a seat; with `bot`, of its seat */
	const char *ladder;
	const char *game;
	const char *status; /* "stored", "void" */
	int64_t since_us;   /* ended then or later */
	int64_t until_us;   /* ended before */
	int64_t before;     /* ids below it: the next page */
	unsigned limit;
};

/*
 * Every list ends so: *RET_NEXT is what to pass as `before` or `after` for the
 * next page, 0 when there is none. A page of matches may be shorter than its
 * limit, even empty, and still have a next one: a search looks at a bounded
 * number of matches.
 */
int store_web_matches(struct store *store, const struct web_filter *filter,
		      json_t **ret, int64_t *ret_next,
		      struct store_error *error) WARN_UNUSED;
int store_web_match(struct store *store, int64_t id, json_t **ret,
		    struct store_error *error) WARN_UNUSED;
/*
 * Likewise if it is one of LADDER (NULL: any), else -ENOENT, which costs little.
 */
int store_web_match_of(struct store *store, int64_t id, const char *ladder,
		       json_t **ret, struct store_error *error) WARN_UNUSED;
/* When match ID ended: microseconds of the wall clock. 0, -ENOENT, -errno. */
int store_web_match_ended(struct store *store, int64_t id, int64_t *ret_us,
			  struct store_error *error) WARN_UNUSED;
/*
 * The whole of match ID for a replay: -EACCES while it is not all for the
 * public. *RET is the caller's: row_record_release().
 */
int store_web_record(struct store *store, int64_t id, struct row_record *ret,
		     struct store_error *error) WARN_UNUSED;

int store_web_bots(struct store *store, const char *after, unsigned limit,
		   json_t **ret, struct store_error *error) WARN_UNUSED;
int store_web_bot(struct store *store, const char *name, json_t **ret,
		  struct store_error *error) WARN_UNUSED;
/*
 * The id of the bot NAME, if TOKEN opens its door: 0, else -EACCES. Under no
 * name is told that there is no such bot.
 */
int store_web_token(struct store *store, const char *name, const char *token,
		    int64_t *ret, struct store_error *error) WARN_UNUSED;
int store_web_versions(struct store *store, const char *bot, json_t **ret,
		       struct store_error *error) WARN_UNUSED;
/*
 * LADDER and VERSION may be NULL; newest first, below sequence BEFORE. The
 * next page begins below *RET_NEXT, 0: there is none. A page may have fewer
 * than LIMIT (but for two versions in one round, which stay together), even
 * none, and yet not be the last: no more than some thousand are looked at.
 */
int store_web_history(struct store *store, const char *bot, const char *ladder,
		      const char *version, int64_t before, unsigned limit,
		      json_t **ret, int64_t *ret_next,
		      struct store_error *error) WARN_UNUSED;
/*
 * Of its last rated rounds (at most `*RET_ROUNDS` of them were looked at): by
 * opponent, how often it came out before, level and behind.
 */
int store_web_rivals(struct store *store, const char *bot, const char *ladder,
		     json_t **ret, int64_t *ret_rounds,
		     struct store_error *error) WARN_UNUSED;

int store_web_ladders(struct store *store, json_t **ret,
		      struct store_error *error) WARN_UNUSED;
/* One line of a table of standings, before it is put in order. */
struct web_standing {
	int64_t bot_id;
	int64_t version_id;
	char bot[LIMIT_NAME_BYTES + 1];
	char version[LIMIT_NAME_BYTES + 1];
	char owner[LIMIT_NAME_BYTES + 1];
	bool is_house;
	bool is_active; /* the bot's version that plays now */
	double mu, sigma;
	double mean;     /* unrated ladders: the mean score */
	int64_t rounds;  /* rated ones; 0 on unrated ladders */
	int64_t matches; /* of the ladder, void and guests' ones aside */
	int64_t last_us;
};
struct web_table {
	int64_t ladder_id;
	char ladder[LIMIT_NAME_BYTES + 1];
	char game[LIMIT_NAME_BYTES + 1];
	bool is_rated;
	int64_t sequence;          /* of the last rating in it, 0 for none */
	struct web_standing *rows; /* owned: store_web_table_release */
	size_t nrows;
};
/* All versions with a standing on LADDER, in no order. */
int store_web_table(struct store *store, const char *ladder,
		    struct web_table *ret,
		    struct store_error *error) WARN_UNUSED;
void store_web_table_release(struct web_table *table);
/*
 * A number that changes whenever anybody else has committed to the file:
 * cheap, for caches.
 */
int store_web_stamp(struct store *store, int64_t *ret,
		    struct store_error *error) WARN_UNUSED;

/* GAME may be NULL. By id, above AFTER. */
int store_web_maps(struct store *store, const char *game, int64_t after,
		   unsigned limit, json_t **ret, int64_t *ret_next,
		   struct store_error *error) WARN_UNUSED;
/* The bytes of a public map; the caller frees *RET. */
int store_web_map(struct store *store, const char *game, const char *name,
		  char **ret, size_t *ret_len,
		  struct store_error *error) WARN_UNUSED;

int store_web_tournaments(struct store *store, int64_t before, unsigned limit,
			  json_t **ret, int64_t *ret_next,
			  struct store_error *error) WARN_UNUSED;
int store_web_tournament(struct store *store, const char *name, json_t **ret,
			 struct store_error *error) WARN_UNUSED;
/* -EACCES under embargo. In order of pairing and number, from AFTER on. */
int store_web_tournament_matches(struct store *store, const char *name,
				 int64_t after, unsigned limit, json_t **ret,
				 int64_t *ret_next,
				 struct store_error *error) WARN_UNUSED;
/*
 * Who is ahead: the tournament, whether it is finished, standings and, where
 * pairs meet, the cross-table. -EACCES under embargo. The reading is short;
 * what is made of it takes a while with many entrants: for a worker.
 */
int store_web_tournament_table(struct store *store, const char *name,
			       json_t **ret,
			       struct store_error *error) WARN_UNUSED;
int store_web_announcements(struct store *store, json_t **ret,
			    struct store_error *error) WARN_UNUSED;

/* 1 when every statement of the readers' connection is at rest; for tests. */
bool store_is_idle(struct store *store);

#endif
