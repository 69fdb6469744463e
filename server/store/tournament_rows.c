/* SPDX-License-Identifier: MIT */
/* tournament_rows.c - tournaments as the tables have them. */
#include "server/store/tournament_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "server/base/clock.h"
#include "server/match/record.h"
#include "server/store/read.h"
#include "server/store/tournament_maps.h"

static const char *const state_words[] = {
	[ROW_TOURNAMENT_PLANNED] = "planned",
	[ROW_TOURNAMENT_RUNNING] = "running",
	[ROW_TOURNAMENT_FINISHED] = "finished",
	[ROW_TOURNAMENT_CANCELLED] = "cancelled",
};

const char *tournament_state_word(enum row_tournament_state state)
{
	return state_words[state];
}

static enum row_tournament_state find_state(const char *word)
{
	for (int i = 0; i < ROW_TOURNAMENT_NSTATES; i++)
		if (strcmp(state_words[i], word) == 0)
			return (enum row_tournament_state)i;
	return ROW_TOURNAMENT_CANCELLED; /* the table's check allows no other */
}

static unsigned number_of(const json_t *options, const char *key)
{
	return (unsigned)json_integer_value(json_object_get(options, key));
}

static int take_options(const char *text, struct row_tournament *ret)
{
	json_t *options = json_loads(text, 0, NULL);
	const json_t *maps = json_object_get(options, "maps");
	const json_t *first = json_object_get(options, "seed_first");

	if (options == NULL)
		return -EIO;
	ret->rules.seats = number_of(options, "seats");
	ret->rules.group = number_of(options, "group");
	ret->rules.sets = number_of(options, "sets");
	ret->rules.rounds = number_of(options, "rounds");
	ret->rules.is_rotated =
		json_is_true(json_object_get(options, "rotate"));
	ret->rules.has_third = json_is_true(json_object_get(options, "third"));
	ret->is_seed_random = first == NULL;
	ret->seed_first = json_integer_value(first);
	ret->seed_last =
		json_integer_value(json_object_get(options, "seed_last"));
	ret->nmaps = json_array_size(maps);
	ret->map_ids = xcalloc(ret->nmaps + 1, sizeof(*ret->map_ids));
	for (size_t i = 0; i < ret->nmaps; i++)
		ret->map_ids[i] = json_integer_value(json_array_get(maps, i));
	json_decref(options);
	return 0;
}

static char *options_text(const struct row_tournament *row)
{
	const struct tournament_rules *rules = &row->rules;
	json_t *maps = json_array();
	json_t *options;
	char *text;

	for (size_t i = 0; i < row->nmaps; i++)
		(void)json_array_append_new(maps,
					    json_integer(row->map_ids[i]));
	options = json_pack("{s:i, s:i, s:i, s:i, s:b, s:b, s:o}", "seats",
			    (int)rules->seats, "group", (int)rules->group,
			    "sets", (int)rules->sets, "rounds",
			    (int)rules->rounds, "rotate", rules->is_rotated,
			    "third", rules->has_third, "maps", maps);
	if (!row->is_seed_random) {
		(void)json_object_set_new(options, "seed_first",
					  json_integer(row->seed_first));
		(void)json_object_set_new(options, "seed_last",
					  json_integer(row->seed_last));
	}
	text = json_dumps(options, JSON_COMPACT);
	json_decref(options);
	if (text == NULL)
		abort();
	return text;
}

static int read_head(struct db *db, int64_t id, struct row_tournament *ret,
		     struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT t.id, t.ladder_id, t.name, l.name, t.format, "
		   "t.options, t.seed, t.state, t.starts_us, t.deadline_us, "
		   "t.grace_s, t.is_embargo, t.created_us, t.started_us, "
		   "t.ended_us, t.revealed_us FROM tournament t "
		   "JOIN ladder l ON l.id = t.ladder_id WHERE t.id = ?1",
		   error);
	query_bind_i64(&query, 1, id);
	err = query_step(&query);
	if (err > 0) {
		ret->id = query_i64(&query, 0);
		ret->ladder_id = query_i64(&query, 1);
		query_copy(&query, 2, ret->name, sizeof(ret->name));
		query_copy(&query, 3, ret->ladder, sizeof(ret->ladder));
		ret->rules.seed = (uint64_t)query_i64(&query, 6);
		ret->state = find_state(query_text(&query, 7));
		ret->starts_us = query_i64(&query, 8);
		ret->deadline_us = query_i64(&query, 9);
		ret->grace_s = (uint32_t)query_i64(&query, 10);
		ret->is_embargo = query_i64(&query, 11) != 0;
		ret->created_us = query_i64(&query, 12);
		ret->started_us = query_i64(&query, 13);
		ret->ended_us = query_i64(&query, 14);
		ret->revealed_us = query_i64(&query, 15);
		err = tournament_format_find(query_text(&query, 4),
					     &ret->rules.format);
		if (err == 0)
			err = take_options(query_text(&query, 5), ret);
		if (err != 0)
			store_error_set(error, "%s: tournament %s is damaged",
					db->path, ret->name);
		err = err == 0 ? 1 : -EIO;
	}
	query_close(&query);
	return err == 0 ? -ENOENT : err < 0 ? err : 0;
}

static int read_entrants(struct db *db, int64_t id, struct row_tournament *ret,
			 struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT e.bot_id, v.id, v.number, e.withdrawn_round, "
		   "b.name, v.label FROM tournament_entrant e "
		   "JOIN bot b ON b.id = e.bot_id LEFT JOIN bot_version v "
		   "ON v.id = e.bot_version_id WHERE e.tournament_id = ?1 "
		   "ORDER BY e.number",
		   error);
	query_bind_i64(&query, 1, id);
	while ((err = query_step(&query)) > 0) {
		struct row_entrant *entrant;

		ret->entrants = read_grow(ret->entrants, ret->nentrants,
					  sizeof(*entrant));
		entrant = &ret->entrants[ret->nentrants++];
		memset(entrant, 0, sizeof(*entrant));
		entrant->bot_id = query_i64(&query, 0);
		entrant->version_id = query_i64(&query, 1);
		entrant->version = (uint32_t)query_i64(&query, 2);
		entrant->out_round = (uint32_t)query_i64(&query, 3);
		query_copy(&query, 4, entrant->bot, sizeof(entrant->bot));
		query_copy(&query, 5, entrant->label, sizeof(entrant->label));
	}
	query_close(&query);
	return err;
}

/* "3,7": numbers from 1, as many as there are. */
static unsigned take_numbers(const char *text, uint32_t ret[LIMIT_SEATS])
{
	unsigned count = 0;

	while (count < LIMIT_SEATS && *text != '\0') {
		char *end;
		unsigned long number = strtoul(text, &end, 10);

		if (end == text || number == 0)
			break;
		ret[count++] = (uint32_t)(number - 1);
		text = end + (*end == ',');
	}
	return count;
}

static void take_match(struct query *query, unsigned turns,
		       struct row_tournament_match *match)
{
	int64_t number = query_i64(query, 1) - 1;

	memset(match, 0, sizeof(*match));
	match->result.pairing = (uint32_t)(query_i64(query, 0) - 1);
	match->result.set = (uint32_t)(number / turns);
	match->result.turn = (uint32_t)(number % turns);
	match->result.absent = (unsigned)query_i64(query, 3);
	match->match_id = query_i64(query, 4);
	match->nseats = take_numbers(query_text(query, 2), match->entrants);
}

static int read_matches(struct db *db, int64_t id, struct row_tournament *ret,
			struct store_error *error)
{
	unsigned turns = tournament_turns(&ret->rules);
	struct row_tournament_match *match = NULL;
	struct query query;
	int err;

	/* Void ones are played again, but where all is over. */
	query_open(&query, db,
		   "SELECT t.pairing, t.number, t.entrants, t.absent, "
		   "t.match_id, s.number, s.points, s.rank, s.score, "
		   "s.late + s.invalid + s.overlong + s.overfull, "
		   "coalesce(m.status = 'void', 0) "
		   "FROM tournament_match t "
		   "LEFT JOIN match m ON m.id = t.match_id "
		   "LEFT JOIN seat s ON s.match_id = m.id "
		   "WHERE t.tournament_id = ?1 AND "
		   "(t.match_id IS NULL OR m.status = 'stored' OR ?2) "
		   "ORDER BY t.pairing, t.number, s.number",
		   error);
	query_bind_i64(&query, 1, id);
	query_bind_i64(&query, 2,
		       ret->state == ROW_TOURNAMENT_FINISHED ||
			       ret->state == ROW_TOURNAMENT_CANCELLED);
	while ((err = query_step(&query)) > 0) {
		unsigned seat = (unsigned)query_i64(&query, 5);

		if (seat <= 1) {
			ret->matches = read_grow(ret->matches, ret->nmatches,
						 sizeof(*match));
			match = &ret->matches[ret->nmatches++];
			take_match(&query, turns, match);
			match->is_void = query_i64(&query, 10) != 0;
		}
		if (match == NULL || seat < 1 || seat > LIMIT_SEATS)
			continue;
		match->result.points[seat - 1] = query_i64(&query, 6);
		match->result.ranks[seat - 1] = (uint8_t)query_i64(&query, 7);
		match->result.scores[seat - 1] = query_double(&query, 8);
		match->result.faults[seat - 1] = (uint32_t)query_i64(&query, 9);
	}
	query_close(&query);
	return err;
}

/* For who knows of them as played: they are played again. */
static int read_voids(struct db *db, int64_t id, struct row_tournament *ret,
		      struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT t.match_id FROM tournament_match t "
		   "JOIN match m ON m.id = t.match_id "
		   "WHERE t.tournament_id = ?1 AND m.status = 'void' "
		   "ORDER BY t.match_id",
		   error);
	query_bind_i64(&query, 1, id);
	while ((err = query_step(&query)) > 0) {
		ret->voids =
			read_grow(ret->voids, ret->nvoids, sizeof(*ret->voids));
		ret->voids[ret->nvoids++] = query_i64(&query, 0);
	}
	query_close(&query);
	return err;
}

int tournament_read(struct db *db, int64_t id, struct row_tournament *ret,
		    struct store_error *error)
{
	int err;

	memset(ret, 0, sizeof(*ret));
	err = read_head(db, id, ret, error);
	if (err == 0)
		err = read_entrants(db, id, ret, error);
	if (err == 0)
		err = read_matches(db, id, ret, error);
	if (err == 0)
		err = read_voids(db, id, ret, error);
	return err;
}

const char *tournament_row_refusal(const struct row_tournament *row)
{
	return tournament_refusal(&row->rules, (unsigned)row->nentrants);
}

/* The others stay where they were played, whoever would meet without them. */
static void take_back_voids(const struct row_tournament *row,
			    struct tournament *tournament)
{
	for (size_t i = 0; i < row->nmatches; i++) {
		const struct tournament_result *result =
			&row->matches[i].result;

		/* One that was left out has nothing to take back. */
		if (row->matches[i].is_void)
			(void)tournament_take_back(tournament, result->pairing,
						   result->set, result->turn);
	}
}

struct tournament *tournament_build(const struct row_tournament *row,
				    size_t *ret_left_out)
{
	uint32_t *out_rounds;
	struct tournament *tournament;
	size_t left_out = 0;

	if (tournament_row_refusal(row) != NULL)
		return NULL;
	out_rounds = xcalloc(row->nentrants + 1, sizeof(uint32_t));
	for (size_t i = 0; i < row->nentrants; i++)
		out_rounds[i] = row->entrants[i].out_round;
	tournament = tournament_new(&row->rules, (unsigned)row->nentrants,
				    out_rounds);
	free(out_rounds);
	for (size_t i = 0; i < row->nmatches; i++)
		left_out += tournament_add_stored(
				    tournament, &row->matches[i].result,
				    row->matches[i].entrants) != 0;
	take_back_voids(row, tournament);
	if (ret_left_out != NULL)
		*ret_left_out = left_out;
	return tournament;
}

static void bind_time(struct query *query, int index, int64_t wall_us)
{
	if (wall_us != 0)
		query_bind_i64(query, index, wall_us);
}

static int insert_entrants(struct db *db, const struct row_tournament *row,
			   int64_t id, struct store_error *error)
{
	struct query query;
	int err = 0;

	for (size_t i = 0; i < row->nentrants && err == 0; i++) {
		query_open(&query, db,
			   "INSERT INTO tournament_entrant (tournament_id, "
			   "number, bot_id) VALUES (?1, ?2, ?3)",
			   error);
		query_bind_i64(&query, 1, id);
		query_bind_i64(&query, 2, (int64_t)i + 1);
		query_bind_i64(&query, 3, row->entrants[i].bot_id);
		err = query_run(&query);
	}
	return err;
}

int tournament_insert(struct db *db, const struct row_tournament *row,
		      int64_t *ret_id, struct store_error *error)
{
	char *options = options_text(row);
	char key[STORE_NAME_KEY_BYTES];
	struct query query;
	int err;

	store_name_key(row->name, key);
	query_open(&query, db,
		   "INSERT INTO tournament (name, name_key, ladder_id, format, "
		   "options, seed, state, starts_us, deadline_us, grace_s, "
		   "is_embargo, created_us) VALUES (?1, ?2, ?3, ?4, ?5, ?6, "
		   "'planned', ?7, ?8, ?9, ?10, ?11)",
		   error);
	query_bind_text(&query, 1, row->name);
	query_bind_text(&query, 2, key);
	query_bind_i64(&query, 3, row->ladder_id);
	query_bind_text(&query, 4, tournament_format_word(row->rules.format));
	query_bind_text(&query, 5, options);
	query_bind_i64(&query, 6, (int64_t)row->rules.seed);
	bind_time(&query, 7, row->starts_us);
	bind_time(&query, 8, row->deadline_us);
	query_bind_i64(&query, 9, row->grace_s);
	query_bind_i64(&query, 10, row->is_embargo);
	query_bind_i64(&query, 11, row->created_us);
	err = query_run(&query);
	free(options);
	if (err != 0)
		return err;
	*ret_id = sqlite3_last_insert_rowid(db->handle);
	return insert_entrants(db, row, *ret_id, error);
}

int tournament_pin(struct db *db, int64_t id, int64_t at_us,
		   struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "UPDATE tournament_entrant SET bot_version_id = "
		   "(SELECT a.version_id FROM bot_activation a "
		   "WHERE a.bot_id = tournament_entrant.bot_id "
		   "AND a.at_us <= ?2 "
		   "ORDER BY a.at_us DESC, a.id DESC LIMIT 1) "
		   "WHERE tournament_id = ?1 AND bot_version_id IS NULL",
		   error);
	query_bind_i64(&query, 1, id);
	query_bind_i64(&query, 2, at_us);
	err = query_run(&query);
	if (err != 0)
		return err;
	query_open(&query, db,
		   "UPDATE tournament_entrant SET withdrawn_round = 1, "
		   "withdrawn_us = ?2 WHERE tournament_id = ?1 "
		   "AND bot_version_id IS NULL AND withdrawn_round = 0",
		   error);
	query_bind_i64(&query, 1, id);
	query_bind_i64(&query, 2, at_us);
	return query_run(&query);
}

int tournament_set_state(struct db *db, int64_t id,
			 enum row_tournament_state state, int64_t now_us,
			 struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "UPDATE tournament SET state = ?2, "
		   "started_us = CASE WHEN ?2 = 'running' THEN ?3 "
		   "ELSE started_us END, "
		   "ended_us = CASE WHEN ?2 IN ('finished', 'cancelled') "
		   "THEN ?3 ELSE NULL END WHERE id = ?1",
		   error);
	query_bind_i64(&query, 1, id);
	query_bind_text(&query, 2, state_words[state]);
	query_bind_i64(&query, 3, now_us);
	err = query_run(&query);
	if (err == 0 && (state == ROW_TOURNAMENT_FINISHED ||
			 state == ROW_TOURNAMENT_CANCELLED))
		err = tournament_maps_show(db, id, now_us, error);
	return err;
}

/*
 * The lobby has seen the end of the tournament ID. The host may have cancelled
 * it meanwhile, or made a match of it void, which is to be played again then.
 */
static int save_end(struct db *db, int64_t id, struct store_error *error)
{
	struct tournament *tournament = NULL;
	struct row_tournament row;
	int err = tournament_read(db, id, &row, error);

	if (err == 0 && row.state == ROW_TOURNAMENT_RUNNING)
		tournament = tournament_build(&row, NULL);
	if (tournament != NULL && tournament_is_finished(tournament))
		err = tournament_set_state(db, id, ROW_TOURNAMENT_FINISHED,
					   clock_wall_us(), error);
	tournament_free(tournament);
	row_tournament_release(&row);
	return err == -ENOENT ? 0 : err;
}

int tournament_save(struct db *db, const struct match_record *record,
		    struct store_error *error)
{
	const struct match_meeting *meeting = &record->meeting;
	struct buf entrants = BUF_INIT(LIMIT_SEATS * 12);
	struct query query;
	int err;

	if (meeting->is_end)
		return save_end(db, meeting->tournament, error);
	for (unsigned s = 0; s < meeting->nseats; s++)
		buf_add_format(&entrants, "%s%u", s == 0 ? "" : ",",
			       meeting->entrants[s] + 1);
	/*
	 * One is there when the host has made its match void, or one before
	 * it, so that others meet now. One that counts again meanwhile stays.
	 */
	query_open(&query, db,
		   "INSERT INTO tournament_match (tournament_id, pairing, "
		   "number, match_id, entrants, absent, decided_us) "
		   "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) "
		   "ON CONFLICT (tournament_id, pairing, number) DO UPDATE "
		   "SET match_id = excluded.match_id, "
		   "entrants = excluded.entrants, absent = excluded.absent, "
		   "decided_us = excluded.decided_us "
		   "WHERE tournament_match.entrants <> excluded.entrants "
		   "OR EXISTS (SELECT 1 FROM match m WHERE m.status = 'void' "
		   "AND m.id = tournament_match.match_id)",
		   error);
	query_bind_i64(&query, 1, meeting->tournament);
	query_bind_i64(&query, 2, (int64_t)meeting->pairing + 1);
	query_bind_i64(&query, 3, (int64_t)meeting->number + 1);
	if (record->game != NULL)
		query_bind_i64(&query, 4, record->id);
	query_bind_text(&query, 5, buf_text(&entrants));
	query_bind_i64(&query, 6, meeting->absent);
	query_bind_i64(&query, 7, clock_wall_us());
	err = query_run(&query);
	buf_release(&entrants);
	return err;
}

int tournament_read_open(struct db *db, struct row_catalogue *ret,
			 struct store_error *error)
{
	int64_t *ids = NULL;
	struct query query;
	size_t count = 0;
	int err;

	query_open(&query, db,
		   "SELECT id FROM tournament WHERE state IN ('planned', "
		   "'running') ORDER BY id",
		   error);
	while ((err = query_step(&query)) > 0) {
		ids = read_grow(ids, count, sizeof(*ids));
		ids[count++] = query_i64(&query, 0);
	}
	query_close(&query);
	if (count > 0)
		ret->tournaments = xcalloc(count, sizeof(*ret->tournaments));
	for (size_t i = 0; i < count && err == 0; i++)
		err = tournament_read(db, ids[i],
				      &ret->tournaments[ret->ntournaments++],
				      error);
	free(ids);
	return err;
}

/* ---- what cannot be played ---- */

/* Cancel those of ROWS that cannot be played; one line of TOLD for each. */
static int cancel_refused(struct db *db, const struct row_catalogue *rows,
			  struct buf *told, struct store_error *error)
{
	int err = 0;

	for (size_t i = 0; i < rows->ntournaments && err == 0; i++) {
		const struct row_tournament *row = &rows->tournaments[i];
		const char *why = tournament_row_refusal(row);

		if (why == NULL)
			continue;
		err = tournament_set_state(db, row->id,
					   ROW_TOURNAMENT_CANCELLED,
					   clock_wall_us(), error);
		buf_add_format(told, "tournament=%s reason=\"%s\"\n", row->name,
			       why);
	}
	return err;
}

int store_cancel_unplayable(struct store *store, struct buf *told,
			    struct store_error *error)
{
	struct row_catalogue rows = { 0 };
	int err = write_begin(store, error);

	if (err != 0)
		return err;
	err = tournament_read_open(&store->write, &rows, error);
	if (err == 0)
		err = cancel_refused(&store->write, &rows, told, error);
	err = write_end(store, err, error);
	row_catalogue_release(&rows);
	return err;
}
