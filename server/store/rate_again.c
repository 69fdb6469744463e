/* SPDX-License-Identifier: MIT */
/* rate_again.c - events of rating once more, from the matches that are stored. */
#include <stdlib.h>

#include "server/store/rate_internal.h"
#include "server/store/read.h"
#include "server/store/store_internal.h"

/* An event of rating as what is stored now makes it. */
struct rated {
	struct rate_round round;  /* rated_release */
	enum row_round_state old; /* of the round, as it is stored */
	enum row_round_state state;
	int64_t rated_us;
};

static void rated_release(struct rated *rated)
{
	free(rated->round.left);
}

/* 1 with *RET (rated_release), 0: there is none, -errno. */
static int read_event(struct db *db, int64_t sequence, struct rated *ret,
		      struct store_error *error)
{
	int64_t round_id = 0;
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT round_id, rated_us FROM rating_event "
		   "WHERE sequence = ?1",
		   error);
	query_bind_i64(&query, 1, sequence);
	err = query_step(&query);
	if (err > 0) {
		round_id = query_i64(&query, 0);
		ret->rated_us = query_i64(&query, 1);
	}
	query_close(&query);
	if (err > 0)
		err = rate_find_round(db, round_id, &ret->round, &ret->old,
				      error);
	if (err <= 0)
		return err;
	err = rate_read_ranking(db, &ret->round, &ret->state, error);
	if (err != 0) {
		rated_release(ret);
		return err;
	}
	/* It has a number, so it was rated once. */
	if (ret->state != ROW_ROUND_RATED)
		ret->state = ROW_ROUND_VOID;
	return 1;
}

static int rate_again(struct db *db, int64_t sequence,
		      struct store_error *error)
{
	struct rated rated;
	int err = read_event(db, sequence, &rated, error);

	if (err <= 0)
		return err;
	err = 0;
	if (rated.state != rated.old)
		err = rate_write_state(db, rated.round.id, rated.state,
				       rated.round.left, rated.rated_us, error);
	if (err == 0 && rated.state == ROW_ROUND_RATED)
		err = rate_apply_ranking(db, &rated.round, sequence,
					 rated.rated_us, error);
	rated_release(&rated);
	return err;
}

int rate_ranking(struct db *db, int64_t sequence,
		 struct row_place ret[ROW_ROUND_PLACES], size_t *ret_count,
		 struct store_error *error)
{
	struct rated rated;
	size_t count = 0;
	int err = read_event(db, sequence, &rated, error);

	if (err < 0)
		return err;
	if (err > 0 && rated.state == ROW_ROUND_RATED)
		count = rated.round.count;
	for (size_t i = 0; i < count; i++)
		ret[i] = (struct row_place){
			.sequence = sequence,
			.version_id = rated.round.places[i].version_id,
			.rank = rated.round.places[i].rank,
		};
	if (err > 0)
		rated_release(&rated);
	*ret_count = count;
	return 0;
}

/* Run SQL for the ladder, ?1, and the sequence FROM, ?2 (0: it has none). */
static int run_for(struct db *db, const char *sql, int64_t ladder_id,
		   int64_t from, struct store_error *error)
{
	struct query query;

	query_open(&query, db, sql, error);
	query_bind_i64(&query, 1, ladder_id);
	if (from > 0)
		query_bind_i64(&query, 2, from);
	return query_run(&query);
}

static int count_differences(struct db *db, int64_t ladder_id, uint64_t *ret,
			     struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT (SELECT count(*) FROM old_rating o LEFT JOIN "
		   "rating r ON r.ladder_id = ?1 AND "
		   "r.bot_version_id = o.id WHERE r.mu IS NOT o.mu OR "
		   "r.sigma IS NOT o.sigma OR r.rounds IS NOT o.rounds) + "
		   "(SELECT count(*) FROM rating WHERE ladder_id = ?1 AND "
		   "bot_version_id NOT IN (SELECT id FROM old_rating))",
		   error);
	query_bind_i64(&query, 1, ladder_id);
	err = query_step(&query);
	if (err > 0)
		*ret = (uint64_t)query_i64(&query, 0);
	query_close(&query);
	return err < 0 ? err : 0;
}

/*
 * The ladder's ratings as they were before event FROM: of each version that was
 * rated since then what its first such change says; the others are so still.
 */
static int go_back(struct db *db, int64_t ladder_id, int64_t from,
		   struct store_error *error)
{
	static const char *const steps[] = {
		"DELETE FROM rating WHERE ladder_id = ?1 AND ?2 <= 1",
		"UPDATE rating SET mu = n.mu, sigma = n.sigma, "
		"rounds = max(rating.rounds - n.times, 0), "
		"sequence = coalesce(n.last, 0), "
		"changed_us = coalesce((SELECT rated_us FROM rating_event "
		"WHERE sequence = n.last), 0) FROM (SELECT c.bot_version_id "
		"AS id, min(c.sequence) AS first, c.mu_before AS mu, "
		"c.sigma_before AS sigma, count(*) AS times, (SELECT "
		"o.sequence FROM rating_change o JOIN rating_event f ON "
		"f.sequence = o.sequence WHERE o.bot_version_id = "
		"c.bot_version_id AND o.sequence < ?2 AND f.ladder_id = ?1 "
		"ORDER BY o.sequence DESC LIMIT 1) AS last "
		"FROM rating_event e CROSS JOIN rating_change c "
		"ON c.sequence = e.sequence WHERE e.ladder_id = ?1 "
		"AND e.sequence >= ?2 GROUP BY c.bot_version_id) n "
		"WHERE rating.ladder_id = ?1 AND rating.bot_version_id = n.id",
		"DELETE FROM rating WHERE ladder_id = ?1 AND "
		"sequence = 0 AND ?2 > 1",
		"DELETE FROM rating_change WHERE sequence IN "
		"(SELECT sequence FROM rating_event "
		"WHERE ladder_id = ?1 AND sequence >= ?2)",
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && err == 0;
	     i++)
		err = run_for(db, steps[i], ladder_id, from, error);
	return err;
}

int rate_recompute(struct db *db, int64_t ladder_id, int64_t from,
		   uint64_t *ret_differs, struct store_error *error)
{
	int64_t *events = NULL;
	size_t count = 0;
	int err;

	*ret_differs = 0;
	err = db_exec(db,
		      "CREATE TEMP TABLE IF NOT EXISTS old_rating (id INTEGER "
		      "PRIMARY KEY, mu REAL, sigma REAL, rounds INTEGER); "
		      "DELETE FROM old_rating",
		      "recompute", error);
	if (err == 0)
		err = run_for(db,
			      "INSERT INTO old_rating SELECT bot_version_id, "
			      "mu, sigma, rounds FROM rating "
			      "WHERE ladder_id = ?1",
			      ladder_id, 0, error);
	if (err == 0)
		err = go_back(db, ladder_id, from, error);
	if (err == 0)
		err = read_ids(db,
			       "SELECT sequence FROM rating_event "
			       "WHERE ladder_id = ?1 AND sequence >= ?2 "
			       "ORDER BY sequence",
			       ladder_id, from, &events, &count, error);
	for (size_t i = 0; i < count && err == 0; i++)
		err = rate_again(db, events[i], error);
	free(events);
	if (err == 0)
		err = count_differences(db, ladder_id, ret_differs, error);
	return err;
}
