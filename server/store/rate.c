/* SPDX-License-Identifier: MIT */
#include "server/store/rate_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/clock.h"
#include "server/match/record.h"
#include "server/store/read.h"
#include "server/store/store_internal.h"

_Static_assert((int)ROW_ROUND_PLACES == (int)RATING_PLACES,
	       "a round is one ranking");

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

int rate_find_round(struct db *db, int64_t id, struct rate_round *ret,
		    enum row_round_state *ret_state, struct store_error *error)
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

static struct rate_place *place_of(struct rate_round *round, int64_t version_id)
{
	struct rate_place *place;

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
static void add_seat(struct rate_round *round, int64_t version_id,
		     int64_t points, int64_t rank)
{
	size_t before = round->count;
	struct rate_place *place = place_of(round, version_id);

	if (place == NULL)
		return;
	if (round->is_set)
		place->key += rank;
	else if (round->count > before)
		place->key = -points; /* a second run does not count */
}

static int read_places(struct db *db, struct rate_round *round,
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
static void add_forfeits(struct rate_round *round)
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

static void set_ranks(struct rate_round *round)
{
	for (size_t i = 0; i < round->count; i++) {
		round->places[i].rank = 1;
		for (size_t k = 0; k < round->count; k++)
			round->places[i].rank +=
				round->places[k].key < round->places[i].key;
	}
}

int rate_read_ranking(struct db *db, struct rate_round *round,
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

static int read_rating(struct db *db, int64_t ladder_id,
		       struct rate_place *place, struct store_error *error)
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

static int write_change(struct db *db, const struct rate_place *place,
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
			const struct rate_place *place,
			const struct rating *after, int64_t sequence,
			int64_t rated_us, struct store_error *error)
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

int rate_apply_ranking(struct db *db, struct rate_round *round,
		       int64_t sequence, int64_t rated_us,
		       struct store_error *error)
{
	struct rating ratings[RATING_PLACES];
	unsigned ranks[RATING_PLACES];
	int err = 0;

	for (size_t i = 0; i < round->count && err == 0; i++) {
		struct rate_place *place = &round->places[i];

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

static int write_event(struct db *db, const struct rate_round *round,
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

int rate_write_state(struct db *db, int64_t round_id,
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
	struct rate_round round;
	int err = rate_find_round(db, round_id, &round, &state, error);

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
	err = rate_read_ranking(db, &round, &state, error);
	if (is_void)
		state = ROW_ROUND_VOID;
	if (err == 0)
		err = rate_write_state(db, round_id, state, left, now_us,
				       error);
	if (err == 0)
		err = save_show_map(db, round.map_id, now_us, error);
	if (err == 0 && state == ROW_ROUND_RATED) {
		err = write_event(db, &round, now_us, &sequence, error);
		if (err == 0)
			err = rate_apply_ranking(db, &round, sequence, now_us,
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
	struct rate_round round;
	bool is_set = rate_find_round(db, id, &round, &state, error) > 0 &&
		      round.is_set;

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
	struct rate_round round;
	struct query query;
	int err = rate_find_round(db, round_id, &round, &state, error);

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
