/* SPDX-License-Identifier: MIT */
/*
 * admin_rating.c - whether the stored ratings follow from the results.
 *
 * All rounds of a ladder are rated once more, in memory: with many of them it
 * takes minutes, and results wait for whoever writes. Each event's changes are
 * compared as it comes, and at the end the ratings themselves.
 */
#include <stdlib.h>
#include <string.h>

#include "server/ladder/rating.h"
#include "server/store/admin_internal.h"
#include "server/store/rate.h"
#include "server/store/read.h"

/* One version's rating as its rounds make it. */
struct entry {
	int64_t version_id;
	struct rating rating;
	int64_t rounds; /* 0: none has rated it */
	bool is_stored;
	bool differs; /* one of its changes, or the rating */
};

/* One ladder under check. */
struct check {
	struct db *db;
	struct store_error *error;
	int64_t ladder_id;
	struct entry *entries; /* owned; by version */
	size_t count;
};

/* The entry of VERSION_ID, new if need be; good until the next call. */
static struct entry *entry_of(struct check *check, int64_t version_id)
{
	size_t low = 0, high = check->count;
	struct entry *entry;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (check->entries[middle].version_id < version_id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < check->count && check->entries[low].version_id == version_id)
		return &check->entries[low];
	check->entries =
		read_grow(check->entries, check->count, sizeof(*entry));
	entry = &check->entries[low];
	memmove(entry + 1, entry, (check->count - low) * sizeof(*entry));
	check->count++;
	*entry = (struct entry){
		.version_id = version_id,
		.rating = rating_new(&rating_model_default),
	};
	return entry;
}

/* An event's places with the ratings before and after it. */
struct ranking {
	int64_t sequence;
	size_t count;
	struct row_place places[RATING_PLACES];
	bool is_found[RATING_PLACES]; /* its change is stored */
	struct rating before[RATING_PLACES], after[RATING_PLACES];
};

static bool is_same(const struct rating *rating, double mu, double sigma)
{
	return rating->mu == mu && rating->sigma == sigma;
}

/* One change that is stored of RANKING. */
static void compare_change(struct check *check, struct ranking *ranking,
			   struct query *query)
{
	int64_t version_id = query_i64(query, 0);
	size_t i = 0;

	while (i < ranking->count &&
	       ranking->places[i].version_id != version_id)
		i++;
	if (i < ranking->count)
		ranking->is_found[i] = true;
	if (i == ranking->count ||
	    ranking->places[i].rank != query_i64(query, 1) ||
	    !is_same(&ranking->before[i], query_double(query, 2),
		     query_double(query, 3)) ||
	    !is_same(&ranking->after[i], query_double(query, 4),
		     query_double(query, 5)))
		entry_of(check, version_id)->differs = true;
}

static int compare_changes(struct check *check, struct ranking *ranking)
{
	struct query query;
	int err;

	query_open(&query, check->db,
		   "SELECT bot_version_id, rank, mu_before, sigma_before, "
		   "mu_after, sigma_after FROM rating_change "
		   "WHERE sequence = ?1",
		   check->error);
	query_bind_i64(&query, 1, ranking->sequence);
	while ((err = query_step(&query)) > 0)
		compare_change(check, ranking, &query);
	query_close(&query);
	for (size_t i = 0; i < ranking->count; i++)
		if (!ranking->is_found[i])
			entry_of(check, ranking->places[i].version_id)
				->differs = true;
	return err;
}

static int check_event(struct check *check, int64_t sequence)
{
	struct ranking ranking = { .sequence = sequence };
	unsigned ranks[RATING_PLACES];
	int err = rate_ranking(check->db, sequence, ranking.places,
			       &ranking.count, check->error);

	if (err != 0)
		return err;
	for (size_t i = 0; i < ranking.count; i++) {
		ranks[i] = ranking.places[i].rank;
		ranking.before[i] =
			entry_of(check, ranking.places[i].version_id)->rating;
		ranking.after[i] = ranking.before[i];
	}
	if (ranking.count > 0)
		err = rating_update(&rating_model_default, ranking.after, ranks,
				    ranking.count);
	if (err != 0) {
		store_error_set(check->error, "event %lld cannot be rated",
				(long long)sequence);
		return err;
	}
	for (size_t i = 0; i < ranking.count; i++) {
		struct entry *entry =
			entry_of(check, ranking.places[i].version_id);

		entry->rating = ranking.after[i];
		entry->rounds++;
	}
	return compare_changes(check, &ranking);
}

/* Count in *DIFFERS what is not, or only, stored. */
static int compare_ratings(struct check *check, uint64_t *differs)
{
	struct query query;
	int err;

	query_open(&query, check->db,
		   "SELECT bot_version_id, mu, sigma, rounds FROM rating "
		   "WHERE ladder_id = ?1",
		   check->error);
	query_bind_i64(&query, 1, check->ladder_id);
	while ((err = query_step(&query)) > 0) {
		struct entry *entry = entry_of(check, query_i64(&query, 0));

		if (entry->rounds == 0 ||
		    entry->rounds != query_i64(&query, 3) ||
		    !is_same(&entry->rating, query_double(&query, 1),
			     query_double(&query, 2)))
			entry->differs = true;
		entry->is_stored = true;
	}
	query_close(&query);
	for (size_t i = 0; i < check->count; i++)
		*differs += check->entries[i].differs ||
			    !check->entries[i].is_stored;
	return err;
}

/* Rate LADDER_ID's rounds again; *DIFFERS grows by what differs. */
static int check_ladder(struct admin *admin, int64_t ladder_id,
			uint64_t *differs)
{
	struct check check = { .db = admin->db,
			       .error = &admin->error,
			       .ladder_id = ladder_id };
	int64_t *events = NULL;
	size_t count = 0;
	int err = read_ids(admin->db,
			   "SELECT sequence FROM rating_event "
			   "WHERE ladder_id = ?1 AND sequence >= ?2 "
			   "ORDER BY sequence",
			   ladder_id, 1, &events, &count, &admin->error);

	for (size_t i = 0; i < count && err == 0; i++)
		err = check_event(&check, events[i]);
	if (err == 0)
		err = compare_ratings(&check, differs);
	free(events);
	free(check.entries);
	return err;
}

static int rating_check(struct admin *admin)
{
	int64_t ladder_id = 0, ratings = 0;
	uint64_t differs = 0;
	struct query query;
	int err;

	do {
		query_open(&query, admin->db,
			   "SELECT min(id) FROM ladder WHERE id > ?1",
			   &admin->error);
		query_bind_i64(&query, 1, ladder_id);
		err = query_step(&query);
		ladder_id = err > 0 ? query_i64(&query, 0) : 0;
		query_close(&query);
		if (err > 0)
			err = 0;
		if (err == 0 && ladder_id != 0)
			err = check_ladder(admin, ladder_id, &differs);
	} while (err == 0 && ladder_id != 0);
	if (err == 0)
		err = db_number(admin->db, "SELECT count(*) FROM rating",
				&ratings, &admin->error);
	if (err != 0)
		return err;
	if (differs > 0)
		return admin_refuse(admin, NULL, NULL,
				    "%llu of %lld ratings are not what their "
				    "rounds make them",
				    (unsigned long long)differs,
				    (long long)ratings);
	(void)json_object_set_new(admin->reply, "ratings",
				  json_integer(ratings));
	return 0;
}

static const struct admin_field no_fields[] = { { .name = NULL } };

const struct admin_command admin_rating_commands[] = {
	{ "rating check", no_fields, false, NULL, rating_check },
	{ .name = NULL },
};
