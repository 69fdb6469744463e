/* SPDX-License-Identifier: MIT */
/* read_ratings.c - ratings, tables and rankings. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/store/rate.h"
#include "server/store/read.h"
#include "server/store/version.h"

/* A retired version whose link was there so long ago plays no more. */
enum { RECENT_EVENTS = 2000 };

/*
 * Of versions that may play, of each bot's version before the active one, and
 * of those that were rated lately: an old link plays its version on when that
 * is retired. All others' ratings are for tables only.
 */
static int read_ratings(struct db *db, struct row_catalogue *catalogue,
			struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT r.ladder_id, r.bot_version_id, r.mu, r.sigma, "
		   "r.rounds FROM bot_version v "
		   "CROSS JOIN rating r ON r.bot_version_id = v.id "
		   "WHERE " VERSION_PLAYS " OR v.id IN (SELECT (SELECT "
		   "max(p.id) FROM bot_version p WHERE p.bot_id = a.bot_id "
		   "AND p.number < a.number AND p.state = 'retired') "
		   "FROM bot_version a WHERE a.state = 'active') "
		   "OR v.id IN (SELECT c.bot_version_id FROM rating_change c "
		   "WHERE c.sequence > ?1)",
		   error);
	query_bind_i64(&query, 1, catalogue->rated - RECENT_EVENTS);
	while ((err = query_step(&query)) > 0) {
		struct row_rating *rating;

		catalogue->ratings =
			read_grow(catalogue->ratings, catalogue->nratings,
				  sizeof(*rating));
		rating = &catalogue->ratings[catalogue->nratings++];
		rating->ladder_id = query_i64(&query, 0);
		rating->version_id = query_i64(&query, 1);
		rating->mu = query_double(&query, 2);
		rating->sigma = query_double(&query, 3);
		rating->rounds = (uint32_t)query_i64(&query, 4);
	}
	query_close(&query);
	return err;
}

int store_ratings(struct store *store, struct row_catalogue *catalogue,
		  struct store_error *error)
{
	struct db *db = store->read;
	int err;

	(void)pthread_mutex_lock(&db->lock);
	/* One transaction: all that event has changed, and nothing later. */
	err = db_exec(db, "BEGIN", "read", error);
	if (err == 0) {
		err = db_number(db,
				"SELECT coalesce(max(sequence), 0) "
				"FROM rating_event",
				&catalogue->rated, error);
		if (err == 0)
			err = read_ratings(db, catalogue, error);
		db_rollback(db);
	}
	(void)pthread_mutex_unlock(&db->lock);
	return err;
}

static void take_rated(struct query *query, struct row_rated *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->version_id = query_i64(query, 0);
	ret->bot_id = query_i64(query, 1);
	query_copy(query, 2, ret->bot, sizeof(ret->bot));
	query_copy(query, 3, ret->owner, sizeof(ret->owner));
	ret->version = (uint32_t)query_i64(query, 4);
	query_copy(query, 5, ret->label, sizeof(ret->label));
	ret->is_active = query_i64(query, 6) != 0;
	ret->is_house = query_i64(query, 7) != 0;
	ret->mu = query_double(query, 8);
	ret->sigma = query_double(query, 9);
	ret->rounds = (uint32_t)query_i64(query, 10);
	ret->last_us = query_i64(query, 11);
}

int store_rated(struct store *store, int64_t ladder_id, struct row_rated **ret,
		size_t *ret_count, struct store_error *error)
{
	struct row_rated *rated = NULL;
	struct db *db = store->read;
	struct query query;
	size_t count = 0;
	int err;

	(void)pthread_mutex_lock(&db->lock);
	query_open(&query, db,
		   "SELECT v.id, b.id, b.name, o.name, v.number, v.label, "
		   "v.state = 'active', o.is_house, r.mu, r.sigma, r.rounds, "
		   "r.changed_us FROM rating r "
		   "JOIN bot_version v ON v.id = r.bot_version_id "
		   "JOIN bot b ON b.id = v.bot_id "
		   "JOIN owner o ON o.id = b.owner_id "
		   "WHERE r.ladder_id = ?1 AND b.is_hidden = 0 "
		   "ORDER BY v.id",
		   error);
	query_bind_i64(&query, 1, ladder_id);
	while ((err = query_step(&query)) > 0) {
		rated = read_grow(rated, count, sizeof(*rated));
		take_rated(&query, &rated[count++]);
	}
	query_close(&query);
	(void)pthread_mutex_unlock(&db->lock);
	if (err < 0) {
		free(rated);
		return err;
	}
	*ret = rated;
	*ret_count = count;
	return 0;
}

int store_rankings(struct store *store, int64_t ladder_id,
		   struct row_place **ret, size_t *ret_count,
		   struct store_error *error)
{
	struct row_place *places = NULL;
	struct db *db = store->read;
	struct query query;
	size_t count = 0;
	int err;

	(void)pthread_mutex_lock(&db->lock);
	query_open(&query, db,
		   "SELECT c.sequence, c.bot_version_id, c.rank "
		   "FROM rating_event e "
		   "JOIN rating_change c ON c.sequence = e.sequence "
		   "WHERE e.ladder_id = ?1 "
		   "ORDER BY c.sequence, c.bot_version_id",
		   error);
	query_bind_i64(&query, 1, ladder_id);
	while ((err = query_step(&query)) > 0) {
		places = read_grow(places, count, sizeof(*places));
		places[count].sequence = query_i64(&query, 0);
		places[count].version_id = query_i64(&query, 1);
		places[count++].rank = (uint32_t)query_i64(&query, 2);
	}
	query_close(&query);
	(void)pthread_mutex_unlock(&db->lock);
	if (err < 0) {
		free(places);
		return err;
	}
	*ret = places;
	*ret_count = count;
	return 0;
}

/* In a transaction of the writer's connection. */
static int write_whole(struct store *store, int64_t ladder_id,
		       uint64_t *ret_differs, struct store_error *error)
{
	struct db *db = &store->write;
	int err = db_begin(db, error);

	if (err != 0)
		return err;
	if (ret_differs == NULL)
		err = rate_close_all(db, error);
	else
		err = rate_recompute(db, ladder_id, 1, ret_differs, error);
	if (err == 0)
		return db_commit(db, error);
	db_rollback(db);
	return err;
}

static int locked(struct store *store, int64_t ladder_id, uint64_t *ret_differs,
		  struct store_error *error)
{
	int err;

	if (store->mode == STORE_READ) {
		store_error_set(error, "%s: opened for reading only",
				store->path);
		return -EROFS;
	}
	(void)pthread_mutex_lock(&store->write.lock);
	err = write_whole(store, ladder_id, ret_differs, error);
	(void)pthread_mutex_unlock(&store->write.lock);
	return err;
}

int store_close_rounds(struct store *store, struct store_error *error)
{
	return locked(store, 0, NULL, error);
}

int store_recompute(struct store *store, int64_t ladder_id,
		    uint64_t *ret_differs, struct store_error *error)
{
	return locked(store, ladder_id, ret_differs, error);
}
