/* SPDX-License-Identifier: MIT */
#include "server/store/rate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/clock.h"
#include "server/ladder/rating.h"
#include "server/match/record.h"
#include "server/store/read.h"
#include "server/store/store_internal.h"

_Static_assert((int)ROW_ROUND_PLACES == (int)RATING_PLACES,
	       "a round is one ranking");

/* One that took part in a round, on the way to its rank. */
struct place {
	int64_t version_id;
	int64_t key; /* the lower is the better */
	bool has_left;
	unsigned rank;
	struct row_rating rating; /* before, then after */
};

struct round {
	int64_t id;
	int64_t ladder_id;
	int64_t map_id;
	bool is_set;
	int64_t wanted;
	char *left; /* owned: "12,15" */
	int64_t nmatches;
	bool has_void;
	size_t count;
	struct place places[RATING_PLACES];
};

static const char *state_word(enum row_round_state state)
{
	static const char *const words[ROW_ROUND_NSTATES] = {
		[ROW_ROUND_OPEN] = "open",
		[ROW_ROUND_RATED] = "rated",
		[ROW_ROUND_UNRATED] = "unrated",
		[ROW_ROUND_VOID] = "void",
	};

	return words[state];
}

static enum row_round_state state_from(const char *word)
{
	for (unsigned i = 0; i < ROW_ROUND_NSTATES; i++) {
		if (strcmp(word, state_word((enum row_round_state)i)) == 0)
			return (enum row_round_state)i;
	}
	return ROW_ROUND_VOID;
}

int rate_open(struct db *db, const struct match_record *record,
	      int64_t instance_id, struct store_error *error)
{
	const struct match_round *round = &record->round;
	/* The record's times are monotonic. */
	int64_t wall_us = clock_wall_us() - clock_now_us();
	struct query query;

	if (round->kind == MATCH_NO_ROUND)
		return 0;
	query_open(&query, db,
		   "INSERT INTO round (id, ladder_id, instance_id, kind, "
		   "state, matches_wanted, opened_us) "
		   "VALUES (?1, ?2, ?3, ?4, 'open', ?5, ?6) "
		   "ON CONFLICT (id) DO NOTHING",
		   error);
	query_bind_i64(&query, 1, round->id);
	query_bind_i64(&query, 2, record->ladder_id);
	query_bind_i64(&query, 3, instance_id);
	query_bind_text(&query, 4,
			round->kind == MATCH_ROUND_SET ? "set" : "open");
	query_bind_i64(&query, 5, round->wanted);
	query_bind_i64(&query, 6, round->opened_us + wall_us);
	return query_run(&query);
}

/* ---- reading a round ---- */

/* 1 with *RET (round_release), 0: there is none, -errno. */
static int find_round(struct db *db, int64_t id, struct round *ret,
		      enum row_round_state *ret_state,
		      struct store_error *error)
{
	struct query query;
	int err;

	memset(ret, 0, sizeof(*ret));
	query_open(&query, db,
		   "SELECT r.ladder_id, r.kind, r.state, r.matches_wanted, "
		   "r.left, i.map_id FROM round r "
		   "JOIN instance i ON i.id = r.instance_id WHERE r.id = ?1",
		   error);
	query_bind_i64(&query, 1, id);
	err = query_step(&query);
	if (err > 0) {
		ret->id = id;
		ret->ladder_id = query_i64(&query, 0);
		ret->is_set = strcmp(query_text(&query, 1), "set") == 0;
		*ret_state = state_from(query_text(&query, 2));
		ret->wanted = query_i64(&query, 3);
		ret->left = xstrdup(query_text(&query, 4));
		ret->map_id = query_i64(&query, 5);
	}
	query_close(&query);
	return err;
}

static struct place *place_of(struct round *round, int64_t version_id)
{
	struct place *place;

	for (size_t i = 0; i < round->count; i++) {
		if (round->places[i].version_id == version_id)
			return &round->places[i];
	}
	if (round->count == RATING_PLACES)
		return NULL;
	place = &round->places[round->count++];
	memset(place, 0, sizeof(*place));
	place->version_id = version_id;
	return place;
}

/* One seat of a match of ROUND. */
static void add_seat(struct round *round, int64_t version_id, int64_t points,
		     int64_t rank)
{
	size_t before = round->count;
	struct place *place = place_of(round, version_id);

	if (place == NULL)
		return;
	if (round->is_set)
		place->key += rank;
	else if (round->count > before)
		place->key = -points; /* a second run does not count */
}

static int read_places(struct db *db, struct round *round,
		       struct store_error *error)
{
	struct query query;
	int64_t last = 0;
	int err;

	query_open(&query, db,
		   "SELECT m.id, m.status = 'void' OR m.is_host_void, "
		   "s.bot_version_id, s.points, s.rank FROM match m "
		   "JOIN seat s ON s.match_id = m.id WHERE m.round_id = ?1 "
		   "ORDER BY m.id, s.number",
		   error);
	query_bind_i64(&query, 1, round->id);
	while ((err = query_step(&query)) > 0) {
		if (query_i64(&query, 1) != 0) {
			round->has_void = true;
			continue;
		}
		round->nmatches += query_i64(&query, 0) != last;
		last = query_i64(&query, 0);
		add_seat(round, query_i64(&query, 2), query_i64(&query, 3),
			 query_i64(&query, 4));
	}
	query_close(&query);
	return err;
}

/* Matches of a set that were not played: who left is last in each. */
static void add_forfeits(struct round *round)
{
	int64_t missing = round->wanted - round->nmatches, nstay = 0;
	const char *text = round->left;

	while (*text != '\0') {
		char *end;
		int64_t id = strtoll(text, &end, 10);

		for (size_t i = 0; i < round->count; i++)
			round->places[i].has_left |=
				round->places[i].version_id == id;
		text = *end == ',' ? end + 1 : end;
		if (end == text && *end != '\0')
			break; /* not ours */
	}
	for (size_t i = 0; i < round->count; i++)
		nstay += !round->places[i].has_left;
	for (size_t i = 0; i < round->count && missing > 0; i++)
		round->places[i].key +=
			missing * (round->places[i].has_left ? nstay + 1 : 1);
}

static void set_ranks(struct round *round)
{
	for (size_t i = 0; i < round->count; i++) {
		round->places[i].rank = 1;
		for (size_t k = 0; k < round->count; k++)
			round->places[i].rank +=
				round->places[k].key < round->places[i].key;
	}
}

/* The ranking of ROUND, and what state it closes in. */
static int read_ranking(struct db *db, struct round *round,
			enum row_round_state *ret, struct store_error *error)
{
	int err = read_places(db, round, error);

	if (err != 0)
		return err;
	if (round->is_set && round->has_void)
		*ret = ROW_ROUND_VOID;
	else if (round->count < 2)
		*ret = ROW_ROUND_UNRATED;
	else
		*ret = ROW_ROUND_RATED;
	if (round->is_set)
		add_forfeits(round);
	set_ranks(round);
	return 0;
}

/* ---- rating it ---- */

static int read_rating(struct db *db, int64_t ladder_id, struct place *place,
		       struct store_error *error)
{
	struct rating fresh = rating_new(&rating_model_default);
	struct row_rating *rating = &place->rating;
	struct query query;
	int err;

	*rating = (struct row_rating){ .mu = fresh.mu, .sigma = fresh.sigma };
	query_open(&query, db,
		   "SELECT mu, sigma, rounds FROM rating "
		   "WHERE ladder_id = ?1 AND bot_version_id = ?2",
		   error);
	query_bind_i64(&query, 1, ladder_id);
	query_bind_i64(&query, 2, place->version_id);
	err = query_step(&query);
	if (err > 0) {
		rating->mu = query_double(&query, 0);
		rating->sigma = query_double(&query, 1);
		rating->rounds = (uint32_t)query_i64(&query, 2);
	}
	query_close(&query);
	return err < 0 ? err : 0;
}

static int write_change(struct db *db, const struct place *place,
			const struct rating *after, int64_t sequence,
			struct store_error *error)
{
	struct query query;

	query_open(&query, db,
		   "INSERT INTO rating_change (sequence, bot_version_id, "
		   "rank, mu_before, sigma_before, mu_after, sigma_after) "
		   "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
		   error);
	query_bind_i64(&query, 1, sequence);
	query_bind_i64(&query, 2, place->version_id);
	query_bind_i64(&query, 3, place->rank);
	query_bind_double(&query, 4, place->rating.mu);
	query_bind_double(&query, 5, place->rating.sigma);
	query_bind_double(&query, 6, after->mu);
	query_bind_double(&query, 7, after->sigma);
	return query_run(&query);
}

static int write_rating(struct db *db, int64_t ladder_id,
			const struct place *place, const struct rating *after,
			int64_t sequence, int64_t rated_us,
			struct store_error *error)
{
	struct query query;

	query_open(&query, db,
		   "INSERT INTO rating (ladder_id, bot_version_id, mu, sigma, "
		   "rounds, sequence, changed_us) "
		   "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) "
		   "ON CONFLICT (ladder_id, bot_version_id) DO UPDATE SET "
		   "mu = excluded.mu, sigma = excluded.sigma, "
		   "rounds = excluded.rounds, sequence = excluded.sequence, "
		   "changed_us = excluded.changed_us",
		   error);
	query_bind_i64(&query, 1, ladder_id);
	query_bind_i64(&query, 2, place->version_id);
	query_bind_double(&query, 3, after->mu);
	query_bind_double(&query, 4, after->sigma);
	query_bind_i64(&query, 5, (int64_t)place->rating.rounds + 1);
	query_bind_i64(&query, 6, sequence);
	query_bind_i64(&query, 7, rated_us);
	return query_run(&query);
}

/* The event SEQUENCE, whose row is there: the ranking of ROUND. */
static int apply_ranking(struct db *db, struct round *round, int64_t sequence,
			 int64_t rated_us, struct store_error *error)
{
	struct rating ratings[RATING_PLACES];
	unsigned ranks[RATING_PLACES];
	int err = 0;

	for (size_t i = 0; i < round->count && err == 0; i++) {
		struct place *place = &round->places[i];

		err = read_rating(db, round->ladder_id, place, error);
		ratings[i].mu = place->rating.mu;
		ratings[i].sigma = place->rating.sigma;
		ranks[i] = place->rank;
	}
	if (err != 0)
		return err;
	err = rating_update(&rating_model_default, ratings, ranks,
			    round->count);
	if (err != 0) {
		store_error_set(error, "round %lld cannot be rated",
				(long long)round->id);
		return err;
	}
	for (size_t i = 0; i < round->count && err == 0; i++) {
		err = write_change(db, &round->places[i], &ratings[i], sequence,
				   error);
		if (err == 0)
			err = write_rating(db, round->ladder_id,
					   &round->places[i], &ratings[i],
					   sequence, rated_us, error);
	}
	return err;
}

static int write_event(struct db *db, const struct round *round,
		       int64_t rated_us, int64_t *ret_sequence,
		       struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "INSERT INTO rating_event (sequence, ladder_id, round_id, "
		   "rated_us) SELECT coalesce(max(sequence), 0) + 1, ?1, ?2, "
		   "?3 FROM rating_event",
		   error);
	query_bind_i64(&query, 1, round->ladder_id);
	query_bind_i64(&query, 2, round->id);
	query_bind_i64(&query, 3, rated_us);
	err = query_run(&query);
	*ret_sequence = sqlite3_last_insert_rowid(db->handle);
	return err;
}

static int write_state(struct db *db, int64_t round_id,
		       enum row_round_state state, const char *left,
		       int64_t closed_us, struct store_error *error)
{
	struct query query;

	query_open(&query, db,
		   "UPDATE round SET state = ?2, left = ?3, closed_us = ?4 "
		   "WHERE id = ?1",
		   error);
	query_bind_i64(&query, 1, round_id);
	query_bind_text(&query, 2, state_word(state));
	query_bind_text(&query, 3, left);
	query_bind_i64(&query, 4, closed_us);
	return query_run(&query);
}

int rate_close(struct db *db, int64_t round_id, const char *left, bool is_void,
	       struct store_error *error)
{
	int64_t now_us = clock_wall_us(), sequence;
	enum row_round_state state;
	struct round round;
	int err = find_round(db, round_id, &round, &state, error);

	if (err <= 0)
		return err;
	err = 0;
	if (state != ROW_ROUND_OPEN)
		goto out;
	/*
	 * Nobody has lost a void set by leaving it, now or when the host
	 * counts one of its matches again.
	 */
	if (is_void)
		left = "";
	free(round.left);
	round.left = xstrdup(left);
	err = read_ranking(db, &round, &state, error);
	if (is_void)
		state = ROW_ROUND_VOID;
	if (err == 0)
		err = write_state(db, round_id, state, left, now_us, error);
	if (err == 0)
		err = save_show_map(db, round.map_id, now_us, error);
	if (err == 0 && state == ROW_ROUND_RATED) {
		err = write_event(db, &round, now_us, &sequence, error);
		if (err == 0)
			err = apply_ranking(db, &round, sequence, now_us,
					    error);
	}
out:
	free(round.left);
	return err;
}

int rate_saved(struct db *db, const struct match_record *record,
	       struct store_error *error)
{
	const struct match_round *round = &record->round;
	struct query query;
	int64_t count = 0;
	int err;

	if (round->kind == MATCH_NO_ROUND)
		return 0;
	if (record->is_void)
		return round->kind == MATCH_ROUND_SET
			       ? rate_close(db, round->id, "", true, error)
			       : 0;
	/* As the lobby counts them, which the host's voids do not reach. */
	query_open(&query, db,
		   "SELECT count(*) FROM match WHERE round_id = ?1 AND "
		   "(status = 'stored' OR is_host_void)",
		   error);
	query_bind_i64(&query, 1, round->id);
	err = query_step(&query);
	if (err > 0)
		count = query_i64(&query, 0);
	query_close(&query);
	if (err < 0 || count < round->wanted)
		return err < 0 ? err : 0;
	return rate_close(db, round->id, "", false, error);
}

static bool is_set_id(struct db *db, int64_t id, struct store_error *error)
{
	enum row_round_state state;
	struct round round;
	bool is_set =
		find_round(db, id, &round, &state, error) > 0 && round.is_set;

	free(round.left);
	return is_set;
}

int rate_close_all(struct db *db, struct store_error *error)
{
	int64_t *ids;
	size_t count;
	int err = read_ids(db,
			   "SELECT id FROM round WHERE state = 'open' "
			   "ORDER BY id",
			   0, 0, &ids, &count, error);

	for (size_t i = 0; i < count && err == 0; i++)
		err = rate_close(db, ids[i], "", is_set_id(db, ids[i], error),
				 error);
	free(ids);
	return err;
}

/* ---- reading what was done ---- */

static void take_change(struct query *query, struct row_change *ret)
{
	ret->version_id = query_i64(query, 0);
	ret->rank = (uint32_t)query_i64(query, 1);
	ret->mu_before = query_double(query, 2);
	ret->sigma_before = query_double(query, 3);
	ret->mu = query_double(query, 4);
	ret->sigma = query_double(query, 5);
	ret->rounds = (uint32_t)query_i64(query, 6);
}

int rate_read(struct db *db, int64_t round_id, struct row_closing **ret,
	      struct store_error *error)
{
	enum row_round_state state;
	struct row_closing *closing;
	struct round round;
	struct query query;
	int err = find_round(db, round_id, &round, &state, error);

	*ret = NULL;
	free(round.left);
	if (err <= 0 || state == ROW_ROUND_OPEN)
		return err < 0 ? err : 0;
	closing =
		xcalloc(1, sizeof(*closing) +
				   RATING_PLACES * sizeof(closing->changes[0]));
	closing->round_id = round_id;
	closing->ladder_id = round.ladder_id;
	closing->state = state;
	query_open(&query, db,
		   "SELECT c.bot_version_id, c.rank, c.mu_before, "
		   "c.sigma_before, c.mu_after, c.sigma_after, r.rounds, "
		   "c.sequence FROM rating_event e "
		   "JOIN rating_change c ON c.sequence = e.sequence "
		   "JOIN rating r ON r.ladder_id = e.ladder_id AND "
		   "r.bot_version_id = c.bot_version_id WHERE e.round_id = ?1",
		   error);
	query_bind_i64(&query, 1, round_id);
	while ((err = query_step(&query)) > 0 &&
	       closing->nchanges < RATING_PLACES) {
		closing->sequence = query_i64(&query, 7);
		take_change(&query, &closing->changes[closing->nchanges++]);
	}
	query_close(&query);
	if (err < 0) {
		free(closing);
		return err;
	}
	*ret = closing;
	return 0;
}

/* ---- once more ---- */

/* An event of rating as what is stored now makes it. */
struct rated {
	struct round round;       /* rated_release */
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
		err = find_round(db, round_id, &ret->round, &ret->old, error);
	if (err <= 0)
		return err;
	err = read_ranking(db, &ret->round, &ret->state, error);
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
		err = write_state(db, rated.round.id, rated.state,
				  rated.round.left, rated.rated_us, error);
	if (err == 0 && rated.state == ROW_ROUND_RATED)
		err = apply_ranking(db, &rated.round, sequence, rated.rated_us,
				    error);
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
