/* SPDX-License-Identifier: MIT */
/*
 * tournament_plan.c - from the fields of a command to a tournament's row: what
 * is left out is filled in, all of it is checked as a whole.
 */
#include "server/store/tournament_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "proto/name.h"
#include "server/base/clock.h"
#include "server/store/read.h"
#include "server/store/tournament_maps.h"

enum { GRACE_S = 60, FORECAST_MATCHES = 100, NAMES_BYTES = 128 * 1024 };

/* Of a ladder that draws its maps those that were made, or will be. */
static int take_maps(struct admin *admin, bool is_drawn,
		     struct row_tournament *ret)
{
	const struct tournament_maps *made = admin->data;

	if (!is_drawn && admin_has(admin, "maps"))
		return admin_refuse(admin, "maps", NULL,
				    "the ladder has maps of its own");
	if (!is_drawn && ret->nmaps == 0)
		return admin_refuse(admin, "ladder", ret->ladder,
				    "has no maps");
	if (!is_drawn)
		return 0;
	ret->nmaps = made != NULL ? made->count
				  : (size_t)admin_int(admin, "maps",
						      TOURNAMENT_MAPS_DEFAULT);
	for (size_t i = 0; made != NULL && i < ret->nmaps; i++)
		ret->map_ids[i] = made->ids[i];
	return 0;
}

static int take_ladder(struct admin *admin, struct row_tournament *ret,
		       bool *ret_is_shared)
{
	struct query query;
	bool is_drawn = false;
	int err;

	err = admin_find(admin, "SELECT id FROM ladder WHERE name = ?1",
			 "ladder", "ladder", &ret->ladder_id);
	if (err != 0)
		return err;
	(void)snprintf(ret->ladder, sizeof(ret->ladder), "%s",
		       admin_text(admin, "ladder", ""));
	query_open(&query, admin->db,
		   "SELECT seats, (SELECT count(*) FROM ladder_map "
		   "WHERE ladder_id = ladder.id), generators <> '' "
		   "FROM ladder WHERE id = ?1",
		   &admin->error);
	query_bind_i64(&query, 1, ret->ladder_id);
	err = query_step(&query);
	if (err > 0) {
		ret->rules.seats = (unsigned)query_i64(&query, 0);
		ret->map_ids = xcalloc((size_t)query_i64(&query, 1) +
					       TOURNAMENT_MAPS_MAX,
				       sizeof(*ret->map_ids));
		is_drawn = query_i64(&query, 2) != 0;
	}
	query_close(&query);
	if (err <= 0)
		return err < 0 ? err : -ENOENT;
	*ret_is_shared = ret->rules.seats > 1;
	query_open(&query, admin->db,
		   "SELECT map_id FROM ladder_map WHERE ladder_id = ?1 "
		   "ORDER BY position",
		   &admin->error);
	query_bind_i64(&query, 1, ret->ladder_id);
	while ((err = query_step(&query)) > 0)
		ret->map_ids[ret->nmaps++] = query_i64(&query, 0);
	query_close(&query);
	return err != 0 ? err : take_maps(admin, is_drawn, ret);
}

static int take_seeds(struct admin *admin, struct row_tournament *ret)
{
	const struct tournament_maps *made = admin->data;
	uint64_t drawn;
	int err = admin_seeds(admin, &ret->is_seed_random, &ret->seed_first,
			      &ret->seed_last);

	if (err != 0)
		return err;
	if (made != NULL) {
		ret->rules.seed = made->seed;
		return 0;
	}
	if (admin_has(admin, "draw_seed")) {
		ret->rules.seed = (uint64_t)admin_int(admin, "draw_seed", 0);
		return 0;
	}
	if (getrandom(&drawn, sizeof(drawn), 0) != (ssize_t)sizeof(drawn))
		return admin_refuse(admin, NULL, NULL,
				    "the system gives no random bytes");
	ret->rules.seed = drawn >> 1;
	return 0;
}

/* Rounds where they were left out: each map with each seed, or log2 and 1. */
static unsigned default_rounds(const struct row_tournament *row)
{
	unsigned rounds = 1;

	if (row->rules.format == TOURNAMENT_SWISS) {
		while (1u << rounds < row->nentrants)
			rounds++;
		return rounds;
	}
	if (row->rules.format != TOURNAMENT_CONTEST)
		return 0;
	if (!row->is_seed_random &&
	    row->seed_last - row->seed_first < TOURNAMENT_ROUNDS_MAX)
		rounds = (unsigned)(row->seed_last - row->seed_first + 1);
	return rounds * (unsigned)(row->nmaps == 0 ? 1 : row->nmaps);
}

static int take_rules(struct admin *admin, bool is_shared,
		      struct row_tournament *ret)
{
	struct tournament_rules *rules = &ret->rules;
	const char *word = admin_text(admin, "format", "");
	bool is_contest;

	if (tournament_format_find(word, &rules->format) != 0)
		return admin_refuse(admin, "format", word,
				    "must be contest, round-robin, swiss, "
				    "single-elimination or double-elimination");
	is_contest = rules->format == TOURNAMENT_CONTEST;
	rules->group = (unsigned)admin_int(admin, "group",
					   is_contest  ? 1
					   : is_shared ? rules->seats
						       : 2);
	rules->sets = (unsigned)admin_int(admin, "sets", 1);
	rules->is_rotated = admin_bool(admin, "rotate", false);
	rules->has_third = admin_bool(admin, "third", false);
	return take_seeds(admin, ret);
}

static void add_entrant(struct row_tournament *ret, int64_t bot_id,
			const char *name)
{
	struct row_entrant *entrant;

	ret->entrants =
		read_grow(ret->entrants, ret->nentrants, sizeof(*entrant));
	entrant = &ret->entrants[ret->nentrants++];
	memset(entrant, 0, sizeof(*entrant));
	entrant->bot_id = bot_id;
	(void)snprintf(entrant->bot, sizeof(entrant->bot), "%s", name);
}

static int take_named(struct admin *admin, const json_t *names,
		      struct row_tournament *ret)
{
	for (size_t i = 0; i < json_array_size(names); i++) {
		const char *name = json_string_value(json_array_get(names, i));
		struct query query;
		int64_t id = 0;
		int err;

		query_open(
			&query, admin->db,
			"SELECT b.id FROM bot b JOIN owner o "
			"ON o.id = b.owner_id WHERE b.name = ?1 AND " MAY_PLAY,
			&admin->error);
		query_bind_text(&query, 1, name);
		err = query_step(&query);
		if (err > 0)
			id = query_i64(&query, 0);
		query_close(&query);
		if (err < 0)
			return err;
		if (err == 0)
			return admin_refuse(admin, "entrants", name,
					    "there is no such bot that may "
					    "play");
		for (size_t k = 0; k < ret->nentrants; k++)
			if (ret->entrants[k].bot_id == id)
				return admin_refuse(admin, "entrants", name,
						    "stands there twice");
		add_entrant(ret, id, name);
	}
	return 0;
}

/*
 * All that have played for the ladder but the house's own, by name. What the
 * tally does not count does not count here: unrated play, other tournaments.
 */
static int take_all(struct admin *admin, struct row_tournament *ret)
{
	struct query query;
	int err;

	query_open(&query, admin->db,
		   "SELECT b.id, b.name FROM bot b "
		   "JOIN owner o ON o.id = b.owner_id "
		   "WHERE " MAY_PLAY " AND o.is_house = 0 "
		   "AND EXISTS (SELECT 1 FROM bot_version v JOIN tally y "
		   "ON y.ladder_id = ?1 AND y.bot_version_id = v.id "
		   "WHERE v.bot_id = b.id AND y.matches > 0) ORDER BY b.name",
		   &admin->error);
	query_bind_i64(&query, 1, ret->ladder_id);
	while ((err = query_step(&query)) > 0)
		add_entrant(ret, query_i64(&query, 0), query_text(&query, 1));
	query_close(&query);
	return err;
}

/* The conservative rating (mu - 3 sigma) of the active version. */
static int read_strength(struct admin *admin, int64_t ladder_id, int64_t bot_id,
			 double *ret)
{
	struct query query;
	int err;

	query_open(&query, admin->db,
		   "SELECT r.mu - 3 * r.sigma FROM rating r "
		   "JOIN bot_version v ON v.id = r.bot_version_id "
		   "WHERE r.ladder_id = ?1 AND v.bot_id = ?2 "
		   "AND v.state = 'active'",
		   &admin->error);
	query_bind_i64(&query, 1, ladder_id);
	query_bind_i64(&query, 2, bot_id);
	err = query_step(&query);
	*ret = err > 0 ? query_double(&query, 0) : -1e9;
	query_close(&query);
	return err < 0 ? err : 0;
}

/* Insertion keeps those who are level in the order given. */
static void sort_by(struct row_entrant *entrants, double *keys, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct row_entrant entrant = entrants[i];
		double key = keys[i];
		size_t at = i;

		for (; at > 0 && keys[at - 1] < key; at--) {
			entrants[at] = entrants[at - 1];
			keys[at] = keys[at - 1];
		}
		entrants[at] = entrant;
		keys[at] = key;
	}
}

static int draw(struct admin *admin, struct row_tournament *ret)
{
	const char *how = admin_text(admin, "draw", "listed");
	double *keys = xcalloc(ret->nentrants + 1, sizeof(*keys));
	int err = 0;

	for (size_t i = 0; i < ret->nentrants && err == 0; i++) {
		if (strcmp(how, "random") == 0)
			/* Any 53 bits that the draw's seed mixes. */
			keys[i] = (double)(tournament_instance_seed(
						   ret->rules.seed ^ UINT32_MAX,
						   (uint32_t)i) >>
					   10);
		else if (strcmp(how, "rating") == 0)
			err = read_strength(admin, ret->ladder_id,
					    ret->entrants[i].bot_id, &keys[i]);
		else if (strcmp(how, "listed") != 0)
			err = admin_refuse(admin, "draw", how,
					   "must be listed, random or rating");
	}
	if (err == 0)
		sort_by(ret->entrants, keys, ret->nentrants);
	free(keys);
	return err;
}

static int take_times(struct admin *admin, struct row_tournament *ret)
{
	int err;

	ret->created_us = clock_wall_us();
	ret->grace_s = (uint32_t)admin_int(admin, "grace_s", GRACE_S);
	ret->is_embargo = admin_bool(admin, "embargo", false);
	err = admin_time(admin, "starts", &ret->starts_us);
	if (err == 0)
		err = admin_time(admin, "deadline", &ret->deadline_us);
	if (err == 0 && ret->starts_us != 0 && ret->starts_us < ret->created_us)
		err = admin_refuse(admin, "starts",
				   admin_text(admin, "starts", ""),
				   "is over: left out it starts with "
				   "tournament start");
	if (err == 0 && ret->starts_us != 0 &&
	    ret->deadline_us > ret->starts_us)
		err = admin_refuse(admin, "deadline", NULL,
				   "must not be after the start");
	return err;
}

void tournament_plan_time_text(int64_t wall_us, char ret[TOURNAMENT_TIME_BYTES])
{
	time_t seconds = (time_t)(wall_us / 1000000);
	struct tm tm = { 0 };

	(void)gmtime_r(&seconds, &tm);
	(void)strftime(ret, TOURNAMENT_TIME_BYTES, "%Y-%m-%dT%H:%M:%S", &tm);
}

static int had_version(struct admin *admin, int64_t bot_id, int64_t at_us,
		       bool *ret)
{
	struct query query;
	int err;

	query_open(&query, admin->db,
		   "SELECT 1 FROM bot_activation WHERE bot_id = ?1 "
		   "AND at_us <= ?2 LIMIT 1",
		   &admin->error);
	query_bind_i64(&query, 1, bot_id);
	query_bind_i64(&query, 2, at_us);
	err = query_step(&query);
	*ret = err > 0;
	query_close(&query);
	return err < 0 ? err : 0;
}

int tournament_plan_check_versions(struct admin *admin,
				   const struct row_tournament *row,
				   int64_t at_us)
{
	unsigned least = row->rules.group < 2 ? 2 : row->rules.group, count = 0;
	struct buf names = BUF_INIT(NAMES_BYTES);
	json_t *without = json_array();
	char text[TOURNAMENT_TIME_BYTES];
	int err = 0;

	for (size_t i = 0; i < row->nentrants && err == 0; i++) {
		const char *bot = row->entrants[i].bot;
		bool has_one;

		if (row->entrants[i].out_round != 0)
			continue;
		err = had_version(admin, row->entrants[i].bot_id, at_us,
				  &has_one);
		count += has_one;
		if (has_one)
			continue;
		(void)json_array_append_new(without, json_string(bot));
		buf_add_format(&names, "%s%s", names.len == 0 ? "" : ", ", bot);
	}
	tournament_plan_time_text(at_us, text);
	if (err == 0 && count < least && json_array_size(without) > 0)
		err = admin_refuse(admin, "entrants", NULL,
				   "%u with a version at %s UTC, but it takes "
				   "%u; without one: %s",
				   count, text, least, buf_text(&names));
	admin_set(admin, "without_version", without);
	buf_release(&names);
	return err;
}

int tournament_plan(struct admin *admin, struct row_tournament *ret)
{
	const char *name = admin_text(admin, "name", ""), *why;
	const json_t *names = json_object_get(admin->request, "entrants");
	char key[STORE_NAME_KEY_BYTES];
	bool is_shared = false;
	unsigned least;
	int err;

	memset(ret, 0, sizeof(*ret));
	if (!name_is_ladder(name, strlen(name)))
		return admin_refuse(
			admin, "name", name,
			"must be 1 to 64 of a-z 0-9 - _ . and begin "
			"with a letter or digit");
	(void)snprintf(ret->name, sizeof(ret->name), "%s", name);
	err = admin_check_free(
		admin, "SELECT name FROM tournament WHERE name_key = ?1",
		"name", key);
	if (err == 0)
		err = take_ladder(admin, ret, &is_shared);
	if (err == 0)
		err = take_rules(admin, is_shared, ret);
	if (err == 0)
		err = names == NULL ? take_all(admin, ret)
				    : take_named(admin, names, ret);
	if (err == 0 && ret->nentrants > TOURNAMENT_ENTRANTS_MAX)
		err = admin_refuse(admin, "entrants", NULL,
				   "there are %zu, and %d are the most",
				   ret->nentrants,
				   (int)TOURNAMENT_ENTRANTS_MAX);
	if (err == 0)
		err = draw(admin, ret);
	if (err == 0)
		err = take_times(admin, ret);
	if (err != 0)
		return err;
	ret->rules.rounds =
		(unsigned)admin_int(admin, "rounds", default_rounds(ret));
	least = ret->rules.group < 2 ? 2 : ret->rules.group;
	if (ret->nentrants < least)
		return admin_refuse(admin, "entrants", NULL,
				    "there are too few entrants: %zu, and it "
				    "takes %u%s",
				    ret->nentrants, least,
				    names == NULL ? " (without a list they are "
						    "those who have played for "
						    "the ladder)"
						  : "");
	why = tournament_plan_refusal(&ret->rules, (unsigned)ret->nentrants);
	return why == NULL ? 0 : admin_refuse(admin, NULL, NULL, "%s", why);
}

/* The longest chain of matches that cannot be played beside each other. */
static uint64_t count_in_row(const struct row_tournament *row, uint64_t matches)
{
	const struct tournament_rules *rules = &row->rules;
	uint64_t load =
		(matches * rules->seats + row->nentrants - 1) / row->nentrants;
	uint64_t turns = rules->seats == 1 ? 1 : tournament_turns(rules);
	const struct tournament_pairing *pairings;
	struct tournament *tournament;
	uint64_t chain;
	size_t count;

	if (rules->format == TOURNAMENT_CONTEST ||
	    rules->format == TOURNAMENT_ROUND_ROBIN)
		return load;
	tournament = tournament_new(rules, (unsigned)row->nentrants, NULL);
	pairings = tournament_pairings(tournament, &count);
	chain = rules->format == TOURNAMENT_SWISS ? rules->rounds
						  : pairings[count - 1].round;
	tournament_free(tournament);
	chain *= rules->sets * turns;
	return chain > load ? chain : load;
}

int tournament_forecast(struct admin *admin, const struct row_tournament *row,
			struct tournament_forecast *ret)
{
	int64_t bytes = 0, from = row->starts_us;
	struct query query;
	int err;

	memset(ret, 0, sizeof(*ret));
	tournament_count(&row->rules, (unsigned)row->nentrants,
			 &ret->matches_min, &ret->matches_max);
	query_open(&query, admin->db,
		   "SELECT count(*), avg(us), avg(bytes) FROM ("
		   "SELECT m.ended_us - m.started_us AS us, "
		   "length(t.samples) + length(t.transcript) + "
		   "length(t.notes) + 400 AS bytes FROM match m "
		   "JOIN transcript t ON t.match_id = m.id "
		   "WHERE m.ladder_id = ?1 AND m.status = 'stored' "
		   "ORDER BY m.id DESC LIMIT ?2)",
		   &admin->error);
	query_bind_i64(&query, 1, row->ladder_id);
	query_bind_i64(&query, 2, FORECAST_MATCHES);
	err = query_step(&query);
	if (err > 0) {
		ret->is_known = query_i64(&query, 0) > 0;
		ret->mean_us = (int64_t)query_double(&query, 1);
		bytes = (int64_t)query_double(&query, 2);
	}
	query_close(&query);
	if (err < 0)
		return err;
	if (from < row->created_us)
		from = row->created_us;
	ret->most_in_row = count_in_row(row, ret->matches_max);
	ret->bytes = bytes * (int64_t)ret->matches_max;
	ret->ends_us = from + ret->mean_us * (int64_t)ret->most_in_row;
	return 0;
}
