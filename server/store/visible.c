/* SPDX-License-Identifier: MIT */
#include "server/store/visible.h"

#include <errno.h>

#include "server/base/clock.h"

void visible_bind(struct query *query)
{
	if (query->stmt != NULL &&
	    sqlite3_bind_parameter_count(query->stmt) >= VISIBLE_NOW)
		query_bind_i64(query, VISIBLE_NOW, clock_wall_us());
}

int visible_match(struct db *db, int64_t id, bool *ret_whole,
		  struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "SELECT " VISIBLE_WHOLE
		   " FROM match m JOIN instance i ON i.id = m.instance_id "
		   "JOIN map p ON p.id = i.map_id WHERE m.id = ?1 "
		   "AND " VISIBLE_MATCH,
		   error);
	query_bind_i64(&query, 1, id);
	visible_bind(&query);
	err = query_step(&query);
	if (err > 0)
		*ret_whole = query_i64(&query, 0) != 0;
	query_close(&query);
	if (err == 0) {
		store_error_set(error, "there is no match %lld", (long long)id);
		return -ENOENT;
	}
	return err < 0 ? err : 0;
}
