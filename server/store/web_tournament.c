/* SPDX-License-Identifier: MIT */
/*
 * web_tournament.c - tournaments for the public. Under embargo: that there is
 * one, who takes part, and nothing of how it stands.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/store/tournament_table.h"
#include "server/store/web_internal.h"

enum { TOURNAMENT_NUMBERS = 100000 }; /* cursor: pairing x this + number */

static json_t *tournament_at(struct query *query)
{
	return json_pack(
		"{s:I, s:o, s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:I}",
		"id", (json_int_t)query_i64(query, 0), "name",
		web_bytes(query_text(query, 1)), "ladder", query_text(query, 2),
		"format", query_text(query, 3), "state", query_text(query, 4),
		"embargo", query_i64(query, 5) == 0, "starts",
		web_time_at(query, 6), "deadline", web_time_at(query, 7),
		"started", web_time_at(query, 8), "ended",
		web_time_at(query, 9), "revealed", web_time_at(query, 10),
		"entrants", (json_int_t)query_i64(query, 11));
}

#define TOURNAMENT_COLUMNS                                                    \
	"SELECT t.id, t.name, l.name, t.format, t.state, " VISIBLE_TOURNAMENT \
	", t.starts_us, t.deadline_us, t.started_us, t.ended_us, "            \
	"t.revealed_us, (SELECT count(*) FROM tournament_entrant e WHERE "    \
	"e.tournament_id = t.id) FROM tournament t "                          \
	"JOIN ladder l ON l.id = t.ladder_id "

int store_web_tournaments(struct store *store, int64_t before, unsigned limit,
			  json_t **ret, int64_t *ret_next,
			  struct store_error *error)
{
	struct query query;
	int64_t last = 0;
	int err = web_begin(store, error);

	if (err != 0)
		return err;
	*ret = json_array();
	query_open(&query, store->read,
		   TOURNAMENT_COLUMNS
		   "WHERE t.id < ?1 ORDER BY t.id DESC LIMIT ?2",
		   error);
	query_bind_i64(&query, 1, before > 0 ? before : INT64_MAX);
	query_bind_i64(&query, 2, limit);
	while ((err = query_step(&query)) > 0) {
		last = query_i64(&query, 0);
		(void)json_array_append_new(*ret, tournament_at(&query));
	}
	query_close(&query);
	*ret_next = json_array_size(*ret) < limit ? 0 : last;
	return web_end(store, err, ret);
}

static int read_entrants(struct db *db, int64_t id, json_t *ret,
			 struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT e.number, b.name, v.label, o.name, e.withdrawn_us, "
		   "NOT " VISIBLE_BOT " FROM tournament_entrant e "
		   "JOIN bot b ON b.id = e.bot_id "
		   "JOIN owner o ON o.id = b.owner_id "
		   "LEFT JOIN bot_version v ON v.id = e.bot_version_id "
		   "WHERE e.tournament_id = ?1 ORDER BY e.number",
		   error);
	query_bind_i64(&query, 1, id);
	while ((err = query_step(&query)) > 0) {
		bool is_hidden = query_i64(&query, 5) != 0;

		(void)json_array_append_new(
			ret, json_pack("{s:I, s:o, s:o, s:o, s:o}", "number",
				       (json_int_t)query_i64(&query, 0), "bot",
				       is_hidden ? json_null()
						 : web_text_at(&query, 1),
				       "version",
				       is_hidden ? json_null()
						 : web_text_at(&query, 2),
				       "owner",
				       is_hidden ? json_null()
						 : web_text_at(&query, 3),
				       "withdrawn", web_time_at(&query, 4)));
	}
	query_close(&query);
	return err;
}

/* The tournament NAME as JSON. */
static int read_tournament(struct db *db, const char *name, json_t **ret,
			   struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db, TOURNAMENT_COLUMNS "WHERE t.name = ?1", error);
	query_bind_text(&query, 1, name);
	err = query_step(&query);
	if (err > 0)
		*ret = tournament_at(&query);
	query_close(&query);
	if (err == 0) {
		store_error_set(error, "there is no tournament %s", name);
		return -ENOENT;
	}
	return err < 0 ? err : 0;
}

/* Likewise, but -EACCES while its results may not be told. */
static int read_open(struct db *db, const char *name, json_t **ret,
		     struct store_error *error)
{
	int err = read_tournament(db, name, ret, error);

	if (err == 0 && json_is_true(json_object_get(*ret, "embargo"))) {
		store_error_set(error, "the results of %s are not told yet",
				name);
		err = -EACCES;
	}
	return err;
}

static int64_t id_of(const json_t *tournament)
{
	return json_integer_value(json_object_get(tournament, "id"));
}

int store_web_tournament(struct store *store, const char *name, json_t **ret,
			 struct store_error *error)
{
	json_t *entrants;
	int err = web_begin(store, error);

	if (err != 0)
		return err;
	*ret = NULL;
	err = read_tournament(store->read, name, ret, error);
	if (err == 0) {
		entrants = json_array();
		err = read_entrants(store->read, id_of(*ret), entrants, error);
		(void)json_object_set_new(*ret, "entrants", entrants);
	}
	return web_end(store, err, ret);
}

/* "3,7" as [3, 7]. */
static json_t *numbers(const char *text)
{
	json_t *list = json_array();
	char *end;

	while (*text != '\0') {
		long number = strtol(text, &end, 10);

		if (end == text)
			break;
		(void)json_array_append_new(list, json_integer(number));
		text = *end == ',' ? end + 1 : end;
	}
	return list;
}

static int read_matches(struct db *db, int64_t id, int64_t after,
			unsigned limit, json_t *ret, int64_t *ret_last,
			struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT x.pairing, x.number, x.match_id, x.entrants, "
		   "x.absent, x.decided_us FROM tournament_match x "
		   "WHERE x.tournament_id = ?1 AND (x.pairing, x.number) > "
		   "(?2, ?3) ORDER BY x.pairing, x.number LIMIT ?4",
		   error);
	query_bind_i64(&query, 1, id);
	query_bind_i64(&query, 2, after / TOURNAMENT_NUMBERS);
	query_bind_i64(&query, 3, after % TOURNAMENT_NUMBERS);
	query_bind_i64(&query, 4, limit);
	while ((err = query_step(&query)) > 0) {
		*ret_last = query_i64(&query, 0) * TOURNAMENT_NUMBERS +
			    query_i64(&query, 1);
		(void)json_array_append_new(
			ret,
			json_pack("{s:I, s:I, s:o, s:o, s:I, s:o}", "pairing",
				  (json_int_t)query_i64(&query, 0), "number",
				  (json_int_t)query_i64(&query, 1), "match",
				  query_is_null(&query, 2)
					  ? json_null()
					  : json_integer(query_i64(&query, 2)),
				  "entrants", numbers(query_text(&query, 3)),
				  "absent", (json_int_t)query_i64(&query, 4),
				  "decided", web_time_at(&query, 5)));
	}
	query_close(&query);
	return err;
}

int store_web_tournament_matches(struct store *store, const char *name,
				 int64_t after, unsigned limit, json_t **ret,
				 int64_t *ret_next, struct store_error *error)
{
	json_t *tournament = NULL;
	int64_t last = 0;
	int err = web_begin(store, error);

	if (err != 0)
		return err;
	*ret = json_array();
	err = read_open(store->read, name, &tournament, error);
	if (err == 0)
		err = read_matches(store->read, id_of(tournament), after, limit,
				   *ret, &last, error);
	json_decref(tournament);
	*ret_next = json_array_size(*ret) < limit ? 0 : last;
	return web_end(store, err, ret);
}

/* By entrant: whether its bot has no name for the public. The caller's. */
static int read_hidden(struct db *db, const struct row_tournament *row,
		       bool **ret, struct store_error *error)
{
	bool *hidden = xcalloc(row->nentrants + 1, sizeof(*hidden));
	struct query query;
	size_t i = 0;
	int err;

	query_open(&query, db,
		   "SELECT NOT " VISIBLE_BOT " FROM tournament_entrant e "
		   "JOIN bot b ON b.id = e.bot_id "
		   "WHERE e.tournament_id = ?1 ORDER BY e.number",
		   error);
	query_bind_i64(&query, 1, row->id);
	while ((err = query_step(&query)) > 0 && i < row->nentrants)
		hidden[i++] = query_i64(&query, 0) != 0;
	query_close(&query);
	*ret = hidden;
	return err < 0 ? err : 0;
}

/* Versions by their label, as everywhere here, and hidden bots without name. */
static void make_public(const struct row_tournament *row, const bool *hidden,
			json_t *standings)
{
	json_t *standing;
	size_t i;

	json_array_foreach(standings, i, standing) {
		size_t at = (size_t)json_integer_value(
				    json_object_get(standing, "number")) -
			    1;
		const char *label = row->entrants[at].label;

		if (hidden[at])
			(void)json_object_set_new(standing, "bot", json_null());
		(void)json_object_set_new(standing, "version",
					  hidden[at] || label[0] == '\0'
						  ? json_null()
						  : web_bytes(label));
	}
}

int store_web_tournament_table(struct store *store, const char *name,
			       json_t **ret, struct store_error *error)
{
	struct row_tournament row = { 0 };
	bool *hidden = NULL;
	json_t *head = NULL, *table;
	int err = web_begin(store, error);

	if (err != 0)
		return err;
	err = read_open(store->read, name, &head, error);
	if (err == 0)
		err = tournament_read(store->read, id_of(head), &row, error);
	if (err == 0)
		err = read_hidden(store->read, &row, &hidden, error);
	err = web_end(store, err, &head);
	if (err == 0) {
		table = tournament_table_json(&row, true);
		if (table == NULL) {
			store_error_set(error, "tournament %s: %s", name,
					tournament_row_refusal(&row));
			json_decref(head);
			err = -EIO;
		} else {
			make_public(&row, hidden,
				    json_object_get(table, "standings"));
			(void)json_object_set_new(table, "tournament", head);
			*ret = table;
		}
	}
	free(hidden);
	row_tournament_release(&row);
	return err;
}
