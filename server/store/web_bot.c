/* SPDX-License-Identifier: MIT */
/* web_bot.c - bots, their versions, how their ratings moved, whom they met. */
#include <errno.h>

#include "server/store/descent.h"
#include "server/store/new_bot.h"
#include "server/store/web_internal.h"

enum {
	RIVALS_ROUNDS = 5000, /* of its last ones are looked at */
	HISTORY_ROUNDS = 2000 /* for a page that finds none that fit */
};

static json_t *bot_at(struct query *query)
{
	return json_pack(
		"{s:o, s:o, s:b, s:b, s:o, s:o, s:o}", "name",
		web_bytes(query_text(query, 0)), "owner", web_text_at(query, 1),
		"house", query_i64(query, 2) != 0, "disabled",
		query_i64(query, 3) != 0, "created", web_time_at(query, 4),
		"version", web_text_at(query, 5), "version_number",
		query_is_null(query, 6) ? json_null()
					: json_integer(query_i64(query, 6)));
}

#define BOT_COLUMNS                                                     \
	"SELECT b.name, o.name, o.is_house, NOT " MAY_PLAY              \
	", b.created_us, v.label, v.number FROM bot b "                 \
	"JOIN owner o ON o.id = b.owner_id LEFT JOIN bot_version v ON " \
	"v.bot_id = b.id AND v.state = 'active' "

int store_web_bots(struct store *store, const char *after, unsigned limit,
		   json_t **ret, struct store_error *error)
{
	struct query query;
	int err = web_begin(store, error);

	if (err != 0)
		return err;
	*ret = json_array();
	query_open(&query, store->read,
		   BOT_COLUMNS "WHERE b.name > ?1 AND " VISIBLE_BOT
			       " ORDER BY b.name LIMIT ?2",
		   error);
	query_bind_text(&query, 1, after == NULL ? "" : after);
	query_bind_i64(&query, 2, limit);
	while ((err = query_step(&query)) > 0)
		(void)json_array_append_new(*ret, bot_at(&query));
	query_close(&query);
	return web_end(store, err, ret);
}

static int read_versions(struct db *db, int64_t bot_id, json_t *ret,
			 struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT label, number, state, created_us, active_us "
		   "FROM bot_version WHERE bot_id = ?1 ORDER BY number DESC "
		   "LIMIT 1000",
		   error);
	query_bind_i64(&query, 1, bot_id);
	while ((err = query_step(&query)) > 0)
		(void)json_array_append_new(
			ret, json_pack("{s:o, s:I, s:s, s:o, s:o}", "version",
				       web_text_at(&query, 0), "number",
				       (json_int_t)query_i64(&query, 1),
				       "state", query_text(&query, 2),
				       "created", web_time_at(&query, 3),
				       "active", web_time_at(&query, 4)));
	query_close(&query);
	return err;
}

int store_web_versions(struct store *store, const char *bot, json_t **ret,
		       struct store_error *error)
{
	int64_t bot_id;
	int err = web_begin(store, error);

	if (err != 0)
		return err;
	*ret = json_array();
	err = web_bot_id(store->read, bot, &bot_id, error);
	if (err == 0)
		err = read_versions(store->read, bot_id, *ret, error);
	return web_end(store, err, ret);
}

int store_web_bot(struct store *store, const char *name, json_t **ret,
		  struct store_error *error)
{
	struct query query;
	int err = web_begin(store, error);

	if (err != 0)
		return err;
	query_open(&query, store->read,
		   BOT_COLUMNS "WHERE b.name = ?1 AND " VISIBLE_BOT, error);
	query_bind_text(&query, 1, name);
	err = query_step(&query);
	if (err > 0)
		*ret = bot_at(&query);
	query_close(&query);
	if (err == 0) {
		store_error_set(error, "there is no bot %s", name);
		err = -ENOENT;
	}
	return web_end(store, err, NULL);
}

/* ---- ratings ---- */

static json_t *change_at(struct query *query)
{
	return json_pack(
		"{s:I, s:s, s:o, s:I, s:o, s:I, s:f, s:f, s:f, s:f}",
		"sequence", (json_int_t)query_i64(query, 0), "ladder",
		query_text(query, 1), "version", web_text_at(query, 2), "round",
		(json_int_t)query_i64(query, 3), "rated", web_time_at(query, 4),
		"rank", (json_int_t)query_i64(query, 5), "mu_before",
		query_double(query, 6), "sigma_before", query_double(query, 7),
		"mu_after", query_double(query, 8), "sigma_after",
		query_double(query, 9));
}

/* A round under embargo has no rating; were there one, it is not told. */
#define VISIBLE_ROUND                                                    \
	"NOT EXISTS (SELECT 1 FROM match m JOIN tournament_match x ON "  \
	"x.match_id = m.id JOIN tournament t ON t.id = x.tournament_id " \
	"WHERE m.round_id = e.round_id AND NOT " VISIBLE_TOURNAMENT ")"

static const char versions_of_bot[] =
	"SELECT id FROM bot_version WHERE bot_id = ?1 ORDER BY id";
static const char just_that[] = "SELECT ?1";
static const char next_change[] =
	"SELECT max(sequence) FROM rating_change WHERE bot_version_id = ?1 AND "
	"sequence < ?2";

/* What SEQUENCE did to a version, if the ladder (0: any) fits. */
static int add_change(struct db *db, int64_t version_id, int64_t sequence,
		      int64_t ladder_id, json_t *ret, struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT c.sequence, l.name, v.label, e.round_id, "
		   "e.rated_us, c.rank, c.mu_before, c.sigma_before, "
		   "c.mu_after, c.sigma_after FROM rating_change c "
		   "JOIN bot_version v ON v.id = c.bot_version_id "
		   "JOIN rating_event e ON e.sequence = c.sequence "
		   "JOIN ladder l ON l.id = e.ladder_id "
		   "WHERE c.bot_version_id = ?1 AND c.sequence = ?2 "
		   "AND (?3 = 0 OR e.ladder_id = ?3) AND " VISIBLE_ROUND,
		   error);
	query_bind_i64(&query, 1, version_id);
	query_bind_i64(&query, 2, sequence);
	query_bind_i64(&query, 3, ladder_id);
	err = query_step(&query);
	if (err > 0)
		(void)json_array_append_new(ret, change_at(&query));
	query_close(&query);
	return err < 0 ? err : 0;
}

/* The version that is LABEL of the bot; 0 in *RET when there is none. */
static int find_version(struct db *db, int64_t bot_id, const char *label,
			int64_t *ret, struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT id FROM bot_version WHERE bot_id = ?1 "
		   "AND label = ?2",
		   error);
	query_bind_i64(&query, 1, bot_id);
	query_bind_text(&query, 2, label);
	err = query_step(&query);
	*ret = err > 0 ? query_i64(&query, 0) : 0;
	query_close(&query);
	return err < 0 ? err : 0;
}

/* Down DESCENT until LIMIT fit or enough were looked at. */
static int read_history(struct descent *descent, int64_t ladder_id,
			unsigned limit, json_t *ret, int64_t *ret_next)
{
	int64_t version_id, sequence, last = 0;
	unsigned looked = 0;
	int err;

	while ((err = descent_step(descent, &version_id, &sequence)) > 0) {
		/* Two versions may be in one round: not on two pages. */
		if (sequence != last &&
		    (looked >= HISTORY_ROUNDS || json_array_size(ret) >= limit))
			break;
		looked++;
		last = sequence;
		err = add_change(descent->db, version_id, sequence, ladder_id,
				 ret, descent->error);
		if (err != 0)
			return err;
	}
	*ret_next = err > 0 ? last : 0;
	return err < 0 ? err : 0;
}

int store_web_history(struct store *store, const char *bot, const char *ladder,
		      const char *version, int64_t before, unsigned limit,
		      json_t **ret, int64_t *ret_next,
		      struct store_error *error)
{
	struct descent descent = { 0 };
	const char *lists = version == NULL ? versions_of_bot : just_that;
	int64_t bot_id = 0, ladder_id = 0, key;
	int err = web_begin(store, error);

	if (err != 0)
		return err;
	*ret = json_array();
	*ret_next = 0;
	err = web_bot_id(store->read, bot, &bot_id, error);
	if (err == 0 && ladder != NULL)
		err = web_ladder_id(store->read, ladder, &ladder_id, error);
	key = bot_id;
	if (err == 0 && version != NULL)
		err = find_version(store->read, bot_id, version, &key, error);
	if (err == 0)
		err = descent_begin(&descent, store->read, lists, key,
				    next_change,
				    before > 0 ? before : INT64_MAX, error);
	if (err == 0)
		err = read_history(&descent, ladder_id, limit, *ret, ret_next);
	descent_release(&descent);
	return web_end(store, err, ret);
}

/* The bot's RIVALS_ROUNDS-th last round, or its first. */
static int find_floor(struct db *db, int64_t bot_id, int64_t *ret,
		      struct store_error *error)
{
	struct descent descent;
	int64_t version_id;
	int err;

	*ret = 0;
	err = descent_begin(&descent, db, versions_of_bot, bot_id, next_change,
			    INT64_MAX, error);
	for (unsigned i = 0; i < RIVALS_ROUNDS && err == 0; i++) {
		err = descent_step(&descent, &version_id, ret);
		if (err == 0)
			break;
		err = err < 0 ? err : 0;
	}
	descent_release(&descent);
	return err;
}

static int read_rivals(struct db *db, const int64_t ids[2], json_t *ret,
		       int64_t *ret_rounds, struct store_error *error)
{
	struct query query;
	int64_t floor;
	int err = find_floor(db, ids[0], &floor, error);

	if (err != 0)
		return err;
	/* The bot's last rounds, and all that were in them. */
	query_open(&query, db,
		   "WITH mine AS (SELECT c.sequence, c.rank FROM bot_version v "
		   "CROSS JOIN rating_change c ON c.bot_version_id = v.id "
		   "AND c.sequence >= ?3 "
		   "CROSS JOIN rating_event e ON e.sequence = c.sequence "
		   "WHERE v.bot_id = ?1 AND (?2 = 0 OR e.ladder_id = ?2) "
		   "AND " VISIBLE_ROUND ") "
		   "SELECT b.name, o.is_house, count(*), "
		   "sum(mine.rank < c.rank), sum(mine.rank = c.rank), "
		   "sum(mine.rank > c.rank), (SELECT count(*) FROM mine) "
		   "FROM mine JOIN rating_change c ON c.sequence = "
		   "mine.sequence JOIN bot_version v ON v.id = "
		   "c.bot_version_id JOIN bot b ON b.id = v.bot_id "
		   "JOIN owner o ON o.id = b.owner_id "
		   "WHERE b.id <> ?1 AND " VISIBLE_BOT
		   " GROUP BY b.id ORDER BY count(*) DESC, b.name LIMIT 1000",
		   error);
	query_bind_i64(&query, 1, ids[0]);
	query_bind_i64(&query, 2, ids[1]);
	query_bind_i64(&query, 3, floor);
	*ret_rounds = 0;
	while ((err = query_step(&query)) > 0) {
		*ret_rounds = query_i64(&query, 6);
		(void)json_array_append_new(
			ret,
			json_pack("{s:o, s:b, s:I, s:I, s:I, s:I}", "opponent",
				  web_bytes(query_text(&query, 0)), "house",
				  query_i64(&query, 1) != 0, "rounds",
				  (json_int_t)query_i64(&query, 2), "ahead",
				  (json_int_t)query_i64(&query, 3), "level",
				  (json_int_t)query_i64(&query, 4), "behind",
				  (json_int_t)query_i64(&query, 5)));
	}
	query_close(&query);
	return err;
}

int store_web_rivals(struct store *store, const char *bot, const char *ladder,
		     json_t **ret, int64_t *ret_rounds,
		     struct store_error *error)
{
	int64_t ids[2] = { 0, 0 };
	int err = web_begin(store, error);

	if (err != 0)
		return err;
	*ret = json_array();
	err = web_bot_id(store->read, bot, &ids[0], error);
	if (err == 0 && ladder != NULL)
		err = web_ladder_id(store->read, ladder, &ids[1], error);
	if (err == 0)
		err = read_rivals(store->read, ids, *ret, ret_rounds, error);
	return web_end(store, err, ret);
}

int store_web_token(struct store *store, const char *name, const char *token,
		    int64_t *ret, struct store_error *error)
{
	uint8_t hash[ROW_HASH_BYTES];
	struct query query;
	int err;

	secret_hash(token, hash);
	err = web_begin(store, error);
	if (err != 0)
		return err;
	query_open(&query, store->read,
		   "SELECT b.id FROM token k JOIN bot b ON b.id = k.bot_id "
		   "JOIN owner o ON o.id = b.owner_id WHERE k.hash = ?1 AND "
		   "k.revoked_us IS NULL AND b.name = ?2 AND " MAY_PLAY,
		   error);
	query_bind_blob(&query, 1, hash, sizeof(hash));
	query_bind_text(&query, 2, name);
	err = query_step(&query);
	if (err > 0)
		*ret = query_i64(&query, 0);
	query_close(&query);
	if (err == 0) {
		store_error_set(error, "this is no token of %s", name);
		err = -EACCES;
	}
	return web_end(store, err, NULL);
}
