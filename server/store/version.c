/* SPDX-License-Identifier: MIT */
/*
 * version.c - what a bot's name stands for: one version of it is active, some
 * are candidates, all others are retired.
 */
#include <errno.h>
#include <string.h>

#include "server/base/clock.h"
#include "server/store/read.h"
#include "server/store/register.h"
#include "server/store/version.h"

enum { DAY_S = 24 * 60 * 60, VERSIONS_AT_MOST = 1000 };

static int find_label(struct db *db, int64_t bot_id, const char *label,
		      int64_t *ret_id, struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT id, state FROM bot_version "
		   "WHERE bot_id = ?1 AND label = ?2",
		   error);
	query_bind_i64(&query, 1, bot_id);
	query_bind_text(&query, 2, label);
	err = query_step(&query);
	if (err > 0) {
		*ret_id = query_i64(&query, 0);
		if (strcmp(query_text(&query, 1), "retired") == 0) {
			store_error_set(error,
					"version %s is retired: give the "
					"version another name, or ask the host "
					"to activate it",
					label);
			err = -ESTALE;
		}
	}
	query_close(&query);
	return err;
}

/* The number of the next version of BOT_ID; -EDQUOT when it has MOST. */
static int next_number(struct db *db, int64_t bot_id, uint32_t most,
		       int64_t *ret, struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT count(*), coalesce(max(number), 0) + 1 "
		   "FROM bot_version WHERE bot_id = ?1",
		   error);
	query_bind_i64(&query, 1, bot_id);
	err = query_step(&query);
	if (err > 0) {
		*ret = query_i64(&query, 1);
		if (query_i64(&query, 0) >= (int64_t)most) {
			store_error_set(error,
					"this bot has %lld versions, and may "
					"have %u",
					(long long)query_i64(&query, 0), most);
			err = -EDQUOT;
		}
	}
	query_close(&query);
	return err < 0 ? err : 0;
}

static int retire_active(struct db *db, int64_t bot_id,
			 struct store_error *error)
{
	struct query query;

	query_open(&query, db,
		   "UPDATE bot_version SET state = 'retired' "
		   "WHERE bot_id = ?1 AND state = 'active'",
		   error);
	query_bind_i64(&query, 1, bot_id);
	return query_run(&query);
}

int version_note_active(struct db *db, int64_t bot_id, int64_t version_id,
			int64_t at_us, struct store_error *error)
{
	struct query query;

	query_open(&query, db,
		   "INSERT INTO bot_activation (bot_id, version_id, at_us) "
		   "VALUES (?1, ?2, ?3)",
		   error);
	query_bind_i64(&query, 1, bot_id);
	query_bind_i64(&query, 2, version_id);
	query_bind_i64(&query, 3, at_us);
	return query_run(&query);
}

static int insert(struct db *db, int64_t bot_id, int64_t number,
		  const char *label, bool is_candidate, int64_t *ret_id,
		  struct store_error *error)
{
	int64_t now_us = clock_wall_us();
	struct query query;
	int err;

	query_open(&query, db,
		   "INSERT INTO bot_version (bot_id, number, label, state, "
		   "created_us, active_us) VALUES (?1, ?2, ?3, ?4, ?5, "
		   "CASE ?4 WHEN 'active' THEN ?5 END)",
		   error);
	query_bind_i64(&query, 1, bot_id);
	query_bind_i64(&query, 2, number);
	query_bind_text(&query, 3, label);
	query_bind_text(&query, 4, is_candidate ? "candidate" : "active");
	query_bind_i64(&query, 5, now_us);
	err = query_run(&query);
	if (err != 0)
		return err;
	*ret_id = sqlite3_last_insert_rowid(db->handle);
	return is_candidate ? 0
			    : version_note_active(db, bot_id, *ret_id, now_us,
						  error);
}

int version_activate(struct db *db, int64_t bot_id, int64_t version_id,
		     struct store_error *error)
{
	int64_t now_us = clock_wall_us();
	struct query query;
	int err = retire_active(db, bot_id, error);

	if (err != 0)
		return err;
	/* Going back to one that was there is nothing new. */
	query_open(&query, db,
		   "UPDATE bot_version SET state = 'active', "
		   "active_us = coalesce(active_us, ?2) WHERE id = ?1",
		   error);
	query_bind_i64(&query, 1, version_id);
	query_bind_i64(&query, 2, now_us);
	err = query_run(&query);
	return err != 0 ? err
			: version_note_active(db, bot_id, version_id, now_us,
					      error);
}

static int find_or_make(struct db *db, int64_t bot_id, const char *label,
			bool is_candidate, uint32_t most, int64_t *ret_id,
			bool *ret_is_new, struct store_error *error)
{
	int64_t number = 0; /* a count always has a row */
	int err = find_label(db, bot_id, label, ret_id, error);

	*ret_is_new = err == 0;
	if (err != 0)
		return err < 0 ? err : 0;
	err = next_number(db, bot_id, most, &number, error);
	if (err == 0 && !is_candidate)
		err = retire_active(db, bot_id, error);
	if (err == 0)
		err = insert(db, bot_id, number, label, is_candidate, ret_id,
			     error);
	return err;
}

int store_version(struct store *store, int64_t bot_id, const char *label,
		  bool is_candidate, int64_t *ret_version_id, bool *ret_is_new,
		  struct store_error *error)
{
	struct store_rules rules;
	bool is_new = false;
	int64_t id = 0;
	int err;

	store_get_rules(store, &rules);
	err = write_begin(store, error);
	if (err != 0)
		return err;
	err = find_or_make(&store->write, bot_id, label, is_candidate,
			   rules.versions_per_bot, &id, &is_new, error);
	err = write_end(store, err, error);
	if (err == 0) {
		*ret_version_id = id;
		*ret_is_new = is_new;
	}
	return err;
}

/*
 * Column 5 is when the LIMIT-th newest of the versions that became active
 * before this one did so: for a day from then on this one is not rated. A
 * bot's first version was not made by its author, and does not count.
 */
static const char sql_versions[] =
	"SELECT v.id, v.bot_id, v.number, v.label, v.active_us, "
	"CASE WHEN v.number > 1 THEN (SELECT w.active_us FROM bot_version w "
	"WHERE w.bot_id = v.bot_id AND w.number > 1 AND w.id <> v.id AND "
	"w.active_us <= v.active_us ORDER BY w.active_us DESC "
	"LIMIT 1 OFFSET ?1) END, v.state "
	"FROM bot_version v WHERE " VERSION_PLAYS
	" ORDER BY v.bot_id, v.number";

static void take_version(struct query *query, struct row_version *ret)
{
	/* Wall times become the loop's. */
	int64_t shift_us = clock_now_us() - clock_wall_us();
	int64_t day_us = DAY_S * INT64_C(1000000);

	memset(ret, 0, sizeof(*ret));
	ret->id = query_i64(query, 0);
	ret->bot_id = query_i64(query, 1);
	ret->number = (uint32_t)query_i64(query, 2);
	query_copy(query, 3, ret->label, sizeof(ret->label));
	ret->active_us = query_i64(query, 4);
	ret->is_candidate = strcmp(query_text(query, 6), "candidate") == 0;
	ret->is_retired = strcmp(query_text(query, 6), "retired") == 0;
	if (ret->is_candidate || ret->is_retired)
		ret->rated_from_us = INT64_MAX;
	else if (query_is_null(query, 5) ||
		 query_i64(query, 5) + day_us <= ret->active_us)
		ret->rated_from_us = INT64_MIN;
	else
		ret->rated_from_us = query_i64(query, 5) + day_us + shift_us;
}

int read_versions(struct db *db, uint32_t versions_per_day,
		  struct row_catalogue *ret, struct store_error *error)
{
	struct query query;
	int err;

	if (versions_per_day == 0 || versions_per_day > VERSIONS_AT_MOST)
		versions_per_day = VERSIONS_AT_MOST;
	query_open(&query, db, sql_versions, error);
	query_bind_i64(&query, 1, (int64_t)versions_per_day - 1);
	while ((err = query_step(&query)) > 0) {
		ret->versions = read_grow(ret->versions, ret->nversions,
					  sizeof(*ret->versions));
		take_version(&query, &ret->versions[ret->nversions++]);
	}
	query_close(&query);
	return err;
}
