/* SPDX-License-Identifier: MIT */
#include "server/store/descent.h"

#include <stdlib.h>
#include <string.h>

#include "server/store/read.h"

struct descent_head {
	int64_t key;
	int64_t id; /* 0: its list is at its end */
};

static int look(const struct descent *descent, struct descent_head *head,
		int64_t before)
{
	struct query query;
	int err;

	query_open(&query, descent->db, descent->sql, descent->error);
	query_bind_i64(&query, 1, head->key);
	query_bind_i64(&query, 2, before);
	err = query_step(&query);
	head->id = err > 0 ? query_i64(&query, 0) : 0;
	query_close(&query);
	return err < 0 ? err : 0;
}

int descent_begin(struct descent *descent, struct db *db, const char *lists,
		  int64_t key, const char *sql, int64_t before,
		  struct store_error *error)
{
	int64_t *keys;
	int err;

	*descent = (struct descent){ .db = db, .sql = sql, .error = error };
	err = read_ids(db, lists, key, 0, &keys, &descent->count, error);
	descent->top = xcalloc(descent->count + 1, sizeof(*descent->top));
	for (size_t i = 0; i < descent->count && err == 0; i++) {
		descent->top[i].key = keys[i];
		err = look(descent, &descent->top[i], before);
	}
	free(keys);
	return err;
}

int descent_step(struct descent *descent, int64_t *ret_key, int64_t *ret_id)
{
	struct descent_head *newest = NULL;
	int err;

	for (size_t i = 0; i < descent->count; i++)
		if (descent->top[i].id > (newest == NULL ? 0 : newest->id))
			newest = &descent->top[i];
	if (newest == NULL)
		return 0;
	*ret_key = newest->key;
	*ret_id = newest->id;
	err = look(descent, newest, newest->id);
	return err != 0 ? err : 1;
}

void descent_release(struct descent *descent)
{
	free(descent->top);
	memset(descent, 0, sizeof(*descent));
}
