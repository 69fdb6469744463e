/* SPDX-License-Identifier: MIT */
/*
 * admin_candidate.c - how a bot's candidates fared against their predecessors:
 * the mean difference of points a match over all instances that both have
 * played to the end, with its 95 % interval.
 *
 * What was played on one instance is one duel: as many runs of each version as
 * there are seats. The candidate is the one on the first seat of its first
 * match, by which the lobby begins each (server/lobby/candidate.c).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/ladder/paired.h"
#include "server/store/admin_internal.h"
#include "server/store/read.h"

enum { NSIDES = 2, COMPARISONS_MAX = 1000 };

/* One line of the answer, while it is added up. */
struct comparison {
	int64_t ladder_id;
	int64_t version_ids[NSIDES]; /* candidate, predecessor */
	char ladder[LIMIT_NAME_BYTES + 1];
	char labels[NSIDES][ROW_LABEL_BYTES];
	size_t count;
	double mean, squares;
};

struct duel {
	int64_t ladder_id, instance_id;
	int64_t version_ids[NSIDES];
	char ladder[LIMIT_NAME_BYTES + 1];
	char labels[NSIDES][ROW_LABEL_BYTES];
	int64_t points[NSIDES];
	unsigned runs[NSIDES];
	unsigned seats;
};

struct comparisons {
	struct comparison *list; /* owned */
	size_t count;
};

static const char sql_runs[] =
	"SELECT m.ladder_id, l.name, m.instance_id, i.seats, v.id, v.label, "
	"s.points FROM match m JOIN instance i ON i.id = m.instance_id "
	"JOIN ladder l ON l.id = m.ladder_id "
	"JOIN seat s ON s.match_id = m.id "
	"JOIN bot_version v ON v.id = s.bot_version_id "
	"WHERE m.purpose = 'candidate' AND m.status = 'stored' AND m.id IN "
	"(SELECT match_id FROM seat WHERE bot_version_id IN "
	"(SELECT id FROM bot_version WHERE bot_id = ?1)) "
	"ORDER BY l.name, m.instance_id, m.id, s.number";

static struct comparison *comparison_of(struct comparisons *all,
					const struct duel *duel)
{
	struct comparison *new;

	for (size_t i = 0; i < all->count; i++) {
		if (all->list[i].ladder_id == duel->ladder_id &&
		    memcmp(all->list[i].version_ids, duel->version_ids,
			   sizeof(duel->version_ids)) == 0)
			return &all->list[i];
	}
	if (all->count == COMPARISONS_MAX)
		return NULL;
	all->list = read_grow(all->list, all->count, sizeof(*all->list));
	new = &all->list[all->count++];
	*new = (struct comparison){ .ladder_id = duel->ladder_id };
	memcpy(new->version_ids, duel->version_ids, sizeof(new->version_ids));
	memcpy(new->ladder, duel->ladder, sizeof(new->ladder));
	memcpy(new->labels, duel->labels, sizeof(new->labels));
	return new;
}

/* DUEL has no more runs: it counts, if it was played to its end. */
static void end_duel(struct comparisons *all, const struct duel *duel)
{
	struct comparison *comparison;
	double difference, before;

	if (duel->seats == 0 || duel->runs[0] != duel->seats ||
	    duel->runs[1] != duel->seats)
		return;
	comparison = comparison_of(all, duel);
	if (comparison == NULL)
		return;
	difference = (double)(duel->points[0] - duel->points[1]) / duel->seats;
	comparison->count++;
	before = difference - comparison->mean;
	comparison->mean += before / (double)comparison->count;
	comparison->squares += before * (difference - comparison->mean);
}

/* The row of QUERY is one more run of DUEL, or the first of the next. */
static void take_run(struct query *query, struct comparisons *all,
		     struct duel *duel)
{
	int64_t version_id = query_i64(query, 4);
	unsigned side;

	if (query_i64(query, 0) != duel->ladder_id ||
	    query_i64(query, 2) != duel->instance_id) {
		end_duel(all, duel);
		*duel = (struct duel){
			.ladder_id = query_i64(query, 0),
			.instance_id = query_i64(query, 2),
			.seats = (unsigned)query_i64(query, 3),
		};
		query_copy(query, 1, duel->ladder, sizeof(duel->ladder));
	}
	side = duel->runs[0] == 0 || duel->version_ids[0] == version_id ? 0 : 1;
	if (duel->runs[side]++ == 0) {
		duel->version_ids[side] = version_id;
		query_copy(query, 5, duel->labels[side],
			   sizeof(duel->labels[side]));
	}
	duel->points[side] += query_i64(query, 6);
}

static void add_answer(struct admin *admin, const struct comparison *from)
{
	struct paired paired =
		paired_of_squares(from->count, from->mean, from->squares);
	bool has_interval = from->count > 1;

	admin_list_add(
		admin, "comparisons",
		json_pack("{s:s, s:s, s:s, s:I, s:f, s:o, s:o}", "ladder",
			  from->ladder, "candidate", from->labels[0],
			  "predecessor", from->labels[1], "instances",
			  (json_int_t)from->count, "difference", paired.mean,
			  "low",
			  has_interval ? json_real(paired.mean - paired.half)
				       : json_null(),
			  "high",
			  has_interval ? json_real(paired.mean + paired.half)
				       : json_null()));
}

static int bot_candidate(struct admin *admin)
{
	struct comparisons all = { 0 };
	struct duel duel = { 0 };
	struct query query;
	int64_t bot_id;
	int err;

	err = admin_find(admin, "SELECT id FROM bot WHERE name = ?1", "name",
			 "bot", &bot_id);
	if (err != 0)
		return err;
	admin_list_begin(admin, "comparisons");
	query_open(&query, admin->db, sql_runs, &admin->error);
	query_bind_i64(&query, 1, bot_id);
	while ((err = query_step(&query)) > 0)
		take_run(&query, &all, &duel);
	query_close(&query);
	end_duel(&all, &duel);
	for (size_t i = 0; i < all.count && err == 0; i++)
		add_answer(admin, &all.list[i]);
	free(all.list);
	return err;
}

static const struct admin_field candidate_fields[] = {
	{ "name", ADMIN_TEXT, true, 1, LIMIT_NAME_BYTES },
	{ NULL },
};

const struct admin_command admin_candidate_commands[] = {
	{ "bot candidate", candidate_fields, false, NULL, bot_candidate },
	{ .name = NULL },
};
