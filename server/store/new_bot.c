/* SPDX-License-Identifier: MIT */
#include "server/store/new_bot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include <openssl/sha.h>

#include "server/base/clock.h"
#include "server/store/base64.h"
#include "server/store/version.h"

enum { SECRET_RANDOM_BYTES = 32 };

void secret_hash(const char *text, uint8_t ret[ROW_HASH_BYTES])
{
	(void)SHA256((const unsigned char *)text, strlen(text), ret);
}

int new_secret(const char *prefix, char ret[STORE_TOKEN_BYTES],
	       uint8_t ret_hash[ROW_HASH_BYTES], struct store_error *error)
{
	struct buf text = BUF_INIT(STORE_TOKEN_BYTES - 1);
	uint8_t random[SECRET_RANDOM_BYTES];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
		store_error_set(error, "the system gives no random bytes");
		return -EIO;
	}
	buf_add_text(&text, prefix);
	base64_encode_url(random, sizeof(random), &text);
	(void)snprintf(ret, STORE_TOKEN_BYTES, "%s", buf_text(&text));
	secret_hash(ret, ret_hash);
	explicit_bzero(random, sizeof(random));
	if (text.data != NULL)
		explicit_bzero(text.data, text.len);
	buf_release(&text);
	return 0;
}

int new_token(struct db *db, int64_t bot_id, char ret[STORE_TOKEN_BYTES],
	      int64_t *ret_id, struct store_error *error)
{
	uint8_t hash[ROW_HASH_BYTES];
	struct query query;
	int err = new_secret("hill_", ret, hash, error);

	if (err != 0)
		return err;
	query_open(&query, db,
		   "INSERT INTO token (bot_id, hash, created_us) "
		   "VALUES (?1, ?2, ?3)",
		   error);
	query_bind_i64(&query, 1, bot_id);
	query_bind_blob(&query, 2, hash, sizeof(hash));
	query_bind_i64(&query, 3, clock_wall_us());
	err = query_run(&query);
	if (err == 0 && ret_id != NULL)
		*ret_id = sqlite3_last_insert_rowid(db->handle);
	return err;
}

int revoke_tokens(struct db *db, int64_t bot_id, struct store_error *error)
{
	struct query query;

	query_open(&query, db,
		   "UPDATE token SET revoked_us = ?2 "
		   "WHERE bot_id = ?1 AND revoked_us IS NULL",
		   error);
	query_bind_i64(&query, 1, bot_id);
	query_bind_i64(&query, 2, clock_wall_us());
	return query_run(&query);
}

int new_bot(struct db *db, int64_t owner_id, const char *name, const char *key,
	    int64_t max_connections, int64_t *ret_id, struct store_error *error)
{
	int64_t version_id, now_us = clock_wall_us();
	struct query query;
	int err;

	query_open(&query, db,
		   "INSERT INTO bot (owner_id, name, name_key, "
		   "max_connections, created_us) VALUES (?1, ?2, ?3, ?4, ?5)",
		   error);
	query_bind_i64(&query, 1, owner_id);
	query_bind_text(&query, 2, name);
	query_bind_text(&query, 3, key);
	query_bind_i64(&query, 4, max_connections);
	query_bind_i64(&query, 5, now_us);
	err = query_run(&query);
	if (err != 0)
		return err;
	*ret_id = sqlite3_last_insert_rowid(db->handle);
	query_open(&query, db,
		   "INSERT INTO bot_version (bot_id, number, label, state, "
		   "created_us, active_us) VALUES (?1, 1, '1', 'active', ?2, "
		   "?2)",
		   error);
	query_bind_i64(&query, 1, *ret_id);
	query_bind_i64(&query, 2, now_us);
	err = query_run(&query);
	if (err != 0)
		return err;
	version_id = sqlite3_last_insert_rowid(db->handle);
	return version_note_active(db, *ret_id, version_id, now_us, error);
}

int new_owner(struct db *db, const char *name, const char *key, int64_t *ret_id,
	      struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db,
		   "INSERT INTO owner (name, name_key, created_us) "
		   "VALUES (?1, ?2, ?3)",
		   error);
	query_bind_text(&query, 1, name);
	query_bind_text(&query, 2, key);
	query_bind_i64(&query, 3, clock_wall_us());
	err = query_run(&query);
	if (err == 0)
		*ret_id = sqlite3_last_insert_rowid(db->handle);
	return err;
}
