/* SPDX-License-Identifier: MIT */
/*
 * guests.c - the row that all guests play as. It has no token, no table and no
 * page shows it, and nobody else can have its name.
 */
#include "proto/name.h"
#include "server/store/new_bot.h"
#include "server/store/read.h"
#include "server/store/register.h"

static int find(struct db *db, const char *sql, int64_t *ret_id,
		struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db, sql, error);
	query_bind_text(&query, 1, NAME_GUESTS);
	err = query_step(&query);
	if (err > 0)
		*ret_id = query_i64(&query, 0);
	query_close(&query);
	return err;
}

static int hide(struct db *db, int64_t bot_id, struct store_error *error)
{
	struct query query;

	query_open(&query, db, "UPDATE bot SET is_hidden = 1 WHERE id = ?1",
		   error);
	query_bind_i64(&query, 1, bot_id);
	return query_run(&query);
}

static int make(struct db *db, struct store_error *error)
{
	int64_t owner_id = 0, bot_id = 0;
	int err =
		find(db, "SELECT id FROM bot WHERE name = ?1", &bot_id, error);

	if (err != 0)
		return err < 0 ? err : 0;
	err = find(db, "SELECT id FROM owner WHERE name = ?1", &owner_id,
		   error);
	if (err == 0)
		err = new_owner(db, NAME_GUESTS, NAME_GUESTS, &owner_id, error);
	if (err >= 0)
		err = new_bot(db, owner_id, NAME_GUESTS, NAME_GUESTS,
			      NEW_BOT_CONNECTIONS, &bot_id, error);
	return err < 0 ? err : hide(db, bot_id, error);
}

int store_guests(struct store *store, struct store_error *error)
{
	int err = write_begin(store, error);

	if (err != 0)
		return err;
	return write_end(store, make(&store->write, error), error);
}
