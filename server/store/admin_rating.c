/* SPDX-License-Identifier: MIT */
/* admin_rating.c - whether the stored ratings follow from the results. */
#include "server/store/admin_internal.h"
#include "server/store/rate.h"

/* Recompute LADDER_ID, count what differs, and take it back. */
static int check_ladder(struct admin *admin, int64_t ladder_id,
			uint64_t *differs)
{
	uint64_t count = 0;
	int err = db_exec(admin->db, "SAVEPOINT rating_check", "check",
			  &admin->error);

	if (err == 0)
		err = rate_recompute(admin->db, ladder_id, 1, &count,
				     &admin->error);
	if (err == 0)
		err = db_exec(admin->db,
			      "ROLLBACK TO rating_check; RELEASE rating_check",
			      "check", &admin->error);
	*differs += count;
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
	{ "rating check", no_fields, true, NULL, rating_check },
	{ .name = NULL },
};
