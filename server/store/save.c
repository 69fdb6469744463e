/* SPDX-License-Identifier: MIT */
/*
 * save.c - what a match leaves behind becomes rows. Every statement here is
 * on the writer's path: 2,000 matches a second.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/name.h"
#include "server/base/clock.h"
#include "server/games/game.h"
#include "server/match/record.h"
#include "server/store/rate.h"
#include "server/store/store_internal.h"
#include "server/store/tally.h"
#include "server/store/tournament_rows.h"

_Static_assert(MATCH_NFAULTS == 4, "a seat's row has a column for each fault");

int save_games(struct db *db, struct store_error *error)
{
	int err = 0;

	for (size_t i = 0; games_all[i] != NULL && err == 0; i++) {
		struct query query;

		query_open(&query, db,
			   "INSERT INTO game (name, engine_version) "
			   "VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE "
			   "SET engine_version = excluded.engine_version "
			   "WHERE engine_version < excluded.engine_version",
			   error);
		query_bind_text(&query, 1, games_all[i]->name);
		query_bind_i64(&query, 2, games_all[i]->version);
		err = query_run(&query);
	}
	return err;
}

int save_id_block(struct db *db, struct row_ids *ret, struct store_error *error)
{
	struct query query;
	int64_t first = 0;
	int err;

	query_open(&query, db,
		   "SELECT max(coalesce((SELECT first + count FROM id_block "
		   "ORDER BY first DESC LIMIT 1), 1), "
		   "coalesce((SELECT max(id) + 1 FROM match), 1))",
		   error);
	err = query_step(&query);
	if (err > 0)
		first = query_i64(&query, 0);
	query_close(&query);
	if (err < 0)
		return err;
	query_open(&query, db,
		   "INSERT INTO id_block (first, count, reserved_us) "
		   "VALUES (?1, ?2, ?3)",
		   error);
	query_bind_i64(&query, 1, first);
	query_bind_i64(&query, 2, LIMIT_ID_BLOCK);
	query_bind_i64(&query, 3, clock_wall_us());
	err = query_run(&query);
	if (err != 0)
		return err;
	ret->first = first;
	ret->count = LIMIT_ID_BLOCK;
	return 0;
}

/* A seed of the record as the database's integer. */
static int seed_number(const struct match_record *record, const char *text,
		       int64_t *ret, struct store_error *error)
{
	char *end;

	if (text == NULL)
		text = "0";
	errno = 0;
	*ret = strtoll(text, &end, 10);
	if (errno == 0 && end != text && *end == '\0')
		return 0;
	store_error_set(error, "match %lld: seed %.40s is no 64-bit integer",
			(long long)record->id, text);
	return -EINVAL;
}

/* Whether the very same match is on disk: its commit's answer was lost. */
static int is_saved(struct db *db, const struct match_record *record, bool *ret,
		    struct store_error *error)
{
	struct query query;
	int err;

	*ret = false;
	query_open(&query, db,
		   "SELECT digest, ladder_id, inputs, "
		   "(SELECT count(*) FROM seat WHERE match_id = ?1) "
		   "FROM match WHERE id = ?1",
		   error);
	query_bind_i64(&query, 1, record->id);
	err = query_step(&query);
	if (err > 0) {
		*ret = (uint64_t)query_i64(&query, 0) == record->digest &&
		       query_i64(&query, 1) == record->ladder_id &&
		       (uint64_t)query_i64(&query, 2) == record->inputs &&
		       query_i64(&query, 3) == record->nseats;
		if (!*ret) {
			store_error_set(error,
					"match %lld: another match has this id",
					(long long)record->id);
			err = -EINVAL;
		}
	}
	query_close(&query);
	return err < 0 ? err : 0;
}

/* The ladder plays the seeds of its range in order: remember where it is. */
static int advance_seed(struct db *db, int64_t ladder_id, int64_t seed,
			struct store_error *error)
{
	struct query query;
	int64_t first = 0, last = -1, next = 0, ahead, count;
	int err;

	query_open(&query, db,
		   "SELECT seed_first, seed_last, seed_next FROM ladder "
		   "WHERE id = ?1 AND seed_first IS NOT NULL",
		   error);
	query_bind_i64(&query, 1, ladder_id);
	err = query_step(&query);
	if (err > 0) {
		first = query_i64(&query, 0);
		last = query_i64(&query, 1);
		next = query_i64(&query, 2);
	}
	query_close(&query);
	if (err <= 0 || seed < first || seed > last)
		return err < 0 ? err : 0;
	/*
	 * Matches end in another order than they begin: a seed a little ahead
	 * moves the mark, one a little behind (a long way ahead, as the range
	 * is a ring) does not.
	 */
	ahead = seed >= next ? seed - next : (last - next) + (seed - first) + 1;
	count = last - first; /* one less than there are, as 2^63 may be */
	if (ahead > count / 2)
		return 0;
	query_open(&query, db, "UPDATE ladder SET seed_next = ?2 WHERE id = ?1",
		   error);
	query_bind_i64(&query, 1, ladder_id);
	query_bind_i64(&query, 2, seed == last ? first : seed + 1);
	return query_run(&query);
}

static int find_instance(struct db *db, const struct match_record *record,
			 int64_t seed, int64_t *ret, struct store_error *error)
{
	struct buf params = BUF_INIT(ROW_PARAMS_BYTES - 1);
	struct query query;
	int err;

	match_record_params(record, &params);
	query_open(&query, db,
		   "SELECT id FROM instance WHERE seed = ?1 AND map_id = ?2 "
		   "AND params = ?3 AND seats = ?4",
		   error);
	query_bind_i64(&query, 1, seed);
	query_bind_i64(&query, 2, record->map_id);
	query_bind_text(&query, 3, buf_text(&params));
	query_bind_i64(&query, 4, record->nseats);
	err = query_step(&query);
	if (err > 0)
		*ret = query_i64(&query, 0);
	query_close(&query);
	if (err == 0) {
		query_open(&query, db,
			   "INSERT INTO instance (seed, map_id, params, seats) "
			   "VALUES (?1, ?2, ?3, ?4)",
			   error);
		query_bind_i64(&query, 1, seed);
		query_bind_i64(&query, 2, record->map_id);
		query_bind_text(&query, 3, buf_text(&params));
		query_bind_i64(&query, 4, record->nseats);
		err = query_run(&query);
		*ret = sqlite3_last_insert_rowid(db->handle);
	}
	buf_release(&params);
	return err < 0 ? err : 0;
}

static int insert_match(struct db *db, const struct match_record *record,
			int64_t instance_id, int64_t bot_seed,
			struct store_error *error)
{
	const struct match_limits *limits = &record->limits;
	/* The record's times are monotonic; people want a wall clock's. */
	int64_t wall_us = clock_wall_us() - clock_now_us();
	struct query query;

	query_open(
		&query, db,
		"INSERT INTO match (id, ladder_id, instance_id, status, "
		"void_reason, engine_version, bot_seed, is_rated, turn_ms, "
		"init_ms, grace_ms, bank_ms, bank_step_ms, bank_spend_ms, "
		"lag_cap_ms, started_us, ended_us, stall_us, inputs, digest, "
		"purpose, round_id) "
		"VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, "
		"?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)",
		error);
	query_bind_i64(&query, 1, record->id);
	query_bind_i64(&query, 2, record->ladder_id);
	query_bind_i64(&query, 3, instance_id);
	query_bind_text(&query, 4, record->is_void ? "void" : "stored");
	query_bind_text(&query, 5, record->is_void ? record->void_reason : "");
	query_bind_i64(&query, 6, record->game->version);
	query_bind_i64(&query, 7, bot_seed);
	query_bind_i64(&query, 8, record->is_rated);
	query_bind_i64(&query, 9, limits->turn_ms);
	query_bind_i64(&query, 10, limits->init_ms);
	query_bind_i64(&query, 11, limits->grace_ms);
	query_bind_i64(&query, 12, limits->bank_ms);
	query_bind_i64(&query, 13, limits->bank_step_ms);
	query_bind_i64(&query, 14, limits->bank_spend_ms);
	query_bind_i64(&query, 15, limits->lag_cap_ms);
	query_bind_i64(&query, 16, record->started_us + wall_us);
	query_bind_i64(&query, 17, record->ended_us + wall_us);
	query_bind_i64(&query, 18, record->stall_us);
	query_bind_i64(&query, 19, (int64_t)record->inputs);
	query_bind_i64(&query, 20, (int64_t)record->digest);
	query_bind_text(&query, 21, match_purpose_word(record->purpose));
	if (record->round.kind != MATCH_NO_ROUND)
		query_bind_i64(&query, 22, record->round.id);
	return query_run(&query);
}

/* JSON that gives every double back exactly; it knows no infinities. */
static void format_columns(const struct game *game,
			   const struct game_score *score, char *ret,
			   size_t size)
{
	size_t len = (size_t)snprintf(ret, size, "[");

	for (unsigned i = 0; i < game->ncolumns && i < GAME_COLUMNS_MAX; i++) {
		double value = score->columns[i];

		if (!isfinite(value))
			value = 0;
		len += (size_t)snprintf(ret + len, size - len, "%s%.17g",
					i == 0 ? "" : ",", value);
	}
	(void)snprintf(ret + len, size - len, "]");
}

static int insert_seat(struct db *db, const struct match_record *record,
		       unsigned number, struct store_error *error)
{
	const struct match_record_seat *seat = &record->seats[number];
	const char *guest = name_of_guest(seat->bot);
	char columns[GAME_COLUMNS_MAX * 32 + 4];
	struct query query;

	format_columns(record->game, &seat->score, columns, sizeof(columns));
	query_open(&query, db,
		   "INSERT INTO seat (match_id, number, bot_version_id, "
		   "points, rank, score, columns, reason, requests, late, "
		   "invalid, overlong, overfull, early, banked, max_us, "
		   "total_us, lag_us, how, guest) VALUES (?1, ?2, ?3, ?4, ?5, "
		   "?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, "
		   "?18, ?19, ?20)",
		   error);
	query_bind_i64(&query, 1, record->id);
	query_bind_i64(&query, 2, number + 1);
	query_bind_i64(&query, 3, seat->version_id);
	query_bind_i64(&query, 4, seat->score.points);
	query_bind_i64(&query, 5, record->is_void ? 0 : seat->score.rank);
	query_bind_double(&query, 6, seat->score.score);
	query_bind_text(&query, 7, columns);
	query_bind_text(&query, 8, game_reason_word(seat->score.reason));
	query_bind_i64(&query, 9, seat->requests);
	query_bind_i64(&query, 10, seat->faults[MATCH_FAULT_LATE]);
	query_bind_i64(&query, 11, seat->faults[MATCH_FAULT_INVALID]);
	query_bind_i64(&query, 12, seat->faults[MATCH_FAULT_LONG]);
	query_bind_i64(&query, 13, seat->faults[MATCH_FAULT_FULL]);
	query_bind_i64(&query, 14, seat->early);
	query_bind_i64(&query, 15, seat->banked);
	query_bind_i64(&query, 16, seat->max_us);
	query_bind_i64(&query, 17, seat->total_us);
	query_bind_i64(&query, 18, seat->lag_us);
	query_bind_text(&query, 19, seat->how);
	query_bind_text(&query, 20, guest == NULL ? "" : guest);
	return query_run(&query);
}

static int insert_blobs(struct db *db, const struct match_record *record,
			struct store_error *error)
{
	uint8_t *samples = xmalloc(record->nsamples * 8 + 1);
	struct query query;
	int err;

	for (size_t i = 0; i < record->nsamples; i++)
		for (unsigned k = 0; k < 8; k++)
			samples[i * 8 + k] =
				(uint8_t)(record->samples[i] >> (8 * k));
	query_open(&query, db,
		   "INSERT INTO transcript (match_id, samples, transcript, "
		   "notes) VALUES (?1, ?2, ?3, ?4)",
		   error);
	query_bind_i64(&query, 1, record->id);
	query_bind_blob(&query, 2, samples, record->nsamples * 8);
	query_bind_blob(&query, 3, record->transcript, record->transcript_len);
	query_bind_blob(&query, 4, record->notes, record->notes_len);
	err = query_run(&query);
	free(samples);
	return err;
}

/* Whether nobody is to play for anything on its map, if that was drawn. */
static bool shows_map(const struct match_record *record)
{
	return record->round.kind == MATCH_NO_ROUND &&
	       (record->purpose == MATCH_FOR_LADDER ||
		record->purpose == MATCH_FOR_UNRATED ||
		record->purpose == MATCH_FOR_CANDIDATE);
}

int save_record(struct db *db, const struct match_record *record,
		struct store_error *error)
{
	int64_t seed, bot_seed, instance_id;
	bool is_there;
	int err;

	if (record->game == NULL)
		return tournament_save(db, record, error);
	err = is_saved(db, record, &is_there, error);
	if (err != 0 || is_there)
		return err;
	err = seed_number(record, record->setup.seed, &seed, error);
	if (err == 0)
		err = seed_number(record, record->setup.bot_seed, &bot_seed,
				  error);
	if (err == 0)
		err = find_instance(db, record, seed, &instance_id, error);
	if (err == 0)
		err = rate_open(db, record, instance_id, error);
	if (err == 0)
		err = insert_match(db, record, instance_id, bot_seed, error);
	for (unsigned i = 0; i < record->nseats && err == 0; i++)
		err = insert_seat(db, record, i, error);
	if (err == 0)
		err = insert_blobs(db, record, error);
	if (err == 0 && !record->is_void && record->purpose == MATCH_FOR_LADDER)
		err = tally_saved(db, record->id, error);
	if (err == 0 && !record->is_void &&
	    (record->purpose == MATCH_FOR_LADDER ||
	     record->purpose == MATCH_FOR_REMATCH))
		err = advance_seed(db, record->ladder_id, seed, error);
	if (err == 0 && !record->is_void && record->meeting.tournament != 0)
		err = tournament_save(db, record, error);
	if (err == 0 && shows_map(record))
		err = save_show_map(db, record->map_id, clock_wall_us(), error);
	if (err == 0)
		err = rate_saved(db, record, error);
	return err;
}
