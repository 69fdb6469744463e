/* SPDX-License-Identifier: MIT */
#include "server/store/register.h"

#include <errno.h>
#include <string.h>

#include "proto/name.h"
#include "server/base/clock.h"
#include "server/store/new_bot.h"

void store_set_rules(struct store *store, const struct store_rules *rules)
{
	(void)pthread_mutex_lock(&store->rules_lock);
	store->rules = *rules;
	(void)pthread_mutex_unlock(&store->rules_lock);
}

void store_get_rules(struct store *store, struct store_rules *ret)
{
	(void)pthread_mutex_lock(&store->rules_lock);
	*ret = store->rules;
	(void)pthread_mutex_unlock(&store->rules_lock);
}

static bool is_given(const char *text)
{
	return text != NULL && *text != '\0';
}

/* The name in small letters; false when it is none that may be chosen. */
static bool fold_name(const char *name, char ret[LIMIT_NAME_BYTES + 1])
{
	size_t len = strlen(name);

	if (len > NAME_BOT_MAX)
		return false;
	for (size_t i = 0; i <= len; i++)
		ret[i] = name[i] >= 'A' && name[i] <= 'Z'
				 ? (char)(name[i] - 'A' + 'a')
				 : name[i];
	return name_is_bot(ret, len);
}

static int check_name(const char *name, char ret[LIMIT_NAME_BYTES + 1],
		      struct store_error *error)
{
	if (!is_given(name) || !fold_name(name, ret)) {
		store_error_set(error, "%s", name_bot_rule());
		return -EINVAL;
	}
	if (!name_may_be_chosen(ret)) {
		store_error_set(error, "%s is reserved", ret);
		return -EINVAL;
	}
	return 0;
}

/* A literal has one address wherever it is used: one statement. */
static const char sql_bot_by_key[] = "SELECT name FROM bot WHERE name_key = ?1";
static const char sql_owner_by_key[] =
	"SELECT name FROM owner WHERE name_key = ?1";

/* SQL gives the name that has KEY already: *RET_ERR is -EEXIST then. */
static int check_free(struct db *db, const char *sql, const char *name,
		      const char *key, struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db, sql, error);
	query_bind_text(&query, 1, key);
	err = query_step(&query);
	if (err > 0) {
		const char *other = query_text(&query, 0);

		if (strcmp(other, name) == 0)
			store_error_set(error, "%s is taken", name);
		else
			store_error_set(error,
					"%s looks too much like %s, which is "
					"taken",
					name, other);
		err = -EEXIST;
	}
	query_close(&query);
	return err;
}

/* Who answers for the new bot, and by what. */
struct admission {
	int64_t owner_id;  /* 0: somebody new, called as the bot */
	int64_t invite_id; /* 0: none was used */
};

static int find_invite(struct db *db, const char *code, struct admission *ret,
		       struct store_error *error)
{
	uint8_t hash[ROW_HASH_BYTES];
	struct query query;
	int err;

	secret_hash(code, hash);
	query_open(&query, db,
		   "SELECT i.id, coalesce(i.owner_id, 0), "
		   "coalesce(o.is_disabled OR o.is_erased OR "
		   "o.ban_reason <> '', 0) FROM invite i "
		   "LEFT JOIN owner o ON o.id = i.owner_id WHERE i.hash = ?1 "
		   "AND i.used_us IS NULL AND "
		   "(i.expires_us IS NULL OR i.expires_us > ?2)",
		   error);
	query_bind_blob(&query, 1, hash, sizeof(hash));
	query_bind_i64(&query, 2, clock_wall_us());
	err = query_step(&query);
	if (err > 0) {
		ret->invite_id = query_i64(&query, 0);
		ret->owner_id = query_i64(&query, 1);
	}
	if (err == 0 || (err > 0 && query_i64(&query, 2) != 0)) {
		store_error_set(error, "this invite is unknown, used up, "
				       "revoked or out of date");
		err = -EACCES;
	}
	query_close(&query);
	return err < 0 ? err : 0;
}

static int find_token(struct db *db, const char *token, struct admission *ret,
		      struct store_error *error)
{
	uint8_t hash[ROW_HASH_BYTES];
	struct query query;
	int err;

	secret_hash(token, hash);
	query_open(&query, db,
		   "SELECT o.id FROM token t JOIN bot b ON b.id = t.bot_id "
		   "JOIN owner o ON o.id = b.owner_id "
		   "WHERE t.hash = ?1 AND t.revoked_us IS NULL "
		   "AND " MAY_PLAY,
		   error);
	query_bind_blob(&query, 1, hash, sizeof(hash));
	err = query_step(&query);
	if (err > 0)
		ret->owner_id = query_i64(&query, 0);
	query_close(&query);
	if (err == 0) {
		store_error_set(error, "no bot of yours has this token");
		err = -EACCES;
	}
	return err < 0 ? err : 0;
}

static int admit(struct db *db, const struct store_rules *rules,
		 const struct store_joiner *joiner, struct admission *ret,
		 struct store_error *error)
{
	if (rules->registration == STORE_REGISTRATION_CLOSED) {
		store_error_set(error, "the host adds bots; nobody can join by "
				       "himself");
		return -EPERM;
	}
	if (is_given(joiner->invite))
		return find_invite(db, joiner->invite, ret, error);
	if (is_given(joiner->token))
		return find_token(db, joiner->token, ret, error);
	if (rules->registration == STORE_REGISTRATION_OPEN)
		return 0;
	store_error_set(error, "an invite is needed here, or the token of a "
			       "bot of yours");
	return -EPERM;
}

static int check_bots(struct db *db, int64_t owner_id, uint32_t most,
		      struct store_error *error)
{
	struct query query;
	int err;

	query_open(&query, db, "SELECT count(*) FROM bot WHERE owner_id = ?1",
		   error);
	query_bind_i64(&query, 1, owner_id);
	err = query_step(&query);
	if (err > 0 && query_i64(&query, 0) >= (int64_t)most) {
		store_error_set(error,
				"its owner has %lld bots, and may have %u",
				(long long)query_i64(&query, 0), most);
		err = -EDQUOT;
	}
	query_close(&query);
	return err < 0 ? err : 0;
}

/* The guests' bot is nobody's. */
static int check_room(struct db *db, uint32_t most, struct store_error *error)
{
	struct query query;
	int err;

	if (most == 0)
		return 0;
	query_open(&query, db,
		   "SELECT count(*) FROM bot WHERE name <> '" NAME_GUESTS "'",
		   error);
	err = query_step(&query);
	if (err > 0 && query_i64(&query, 0) >= (int64_t)most) {
		store_error_set(
			error,
			"there are %lld bots here, and no more can join "
			"without an invite of the host's",
			(long long)query_i64(&query, 0));
		err = -EDQUOT;
	}
	query_close(&query);
	return err < 0 ? err : 0;
}

static int use_invite(struct db *db, int64_t invite_id, int64_t owner_id,
		      int64_t bot_id, struct store_error *error)
{
	struct query query;

	query_open(&query, db,
		   "UPDATE invite SET used_us = ?2, bot_id = ?3, owner_id = ?4 "
		   "WHERE id = ?1",
		   error);
	query_bind_i64(&query, 1, invite_id);
	query_bind_i64(&query, 2, clock_wall_us());
	query_bind_i64(&query, 3, bot_id);
	query_bind_i64(&query, 4, owner_id);
	return query_run(&query);
}

/* Inside the transaction. */
static int add_bot(struct db *db, const struct store_rules *rules,
		   const struct store_joiner *joiner, struct store_joined *ret,
		   struct store_error *error)
{
	struct admission admission = { 0 };
	char key[STORE_NAME_KEY_BYTES];
	int err;

	err = admit(db, rules, joiner, &admission, error);
	if (err == 0 && admission.invite_id == 0)
		err = check_room(db, rules->bots_max, error);
	if (err != 0)
		return err;
	store_name_key(ret->name, key);
	err = check_free(db, sql_bot_by_key, ret->name, key, error);
	if (err == 0 && admission.owner_id == 0) {
		err = check_free(db, sql_owner_by_key, ret->name, key, error);
		if (err == 0)
			err = new_owner(db, ret->name, key, &admission.owner_id,
					error);
	} else if (err == 0) {
		err = check_bots(db, admission.owner_id, rules->bots_per_owner,
				 error);
	}
	if (err == 0)
		err = new_bot(db, admission.owner_id, ret->name, key,
			      NEW_BOT_CONNECTIONS, &ret->bot_id, error);
	if (err == 0 && admission.invite_id != 0)
		err = use_invite(db, admission.invite_id, admission.owner_id,
				 ret->bot_id, error);
	if (err == 0)
		err = new_token(db, ret->bot_id, ret->token, NULL, error);
	return err;
}

int store_register(struct store *store, const struct store_joiner *joiner,
		   struct store_joined *ret, struct store_error *error)
{
	struct store_joined joined = { 0 };
	struct store_rules rules;
	int err;

	err = check_name(joiner->name, joined.name, error);
	if (err != 0)
		return err;
	store_get_rules(store, &rules);
	err = write_begin(store, error);
	if (err != 0)
		return err;
	err = add_bot(&store->write, &rules, joiner, &joined, error);
	err = write_end(store, err, error);
	if (err == 0)
		*ret = joined;
	explicit_bzero(&joined, sizeof(joined));
	return err;
}

int store_rotate(struct store *store, int64_t bot_id,
		 char ret_token[STORE_TOKEN_BYTES], struct store_error *error)
{
	char token[STORE_TOKEN_BYTES] = "";
	int err = write_begin(store, error);

	if (err != 0)
		return err;
	err = revoke_tokens(&store->write, bot_id, error);
	if (err == 0)
		err = new_token(&store->write, bot_id, token, NULL, error);
	err = write_end(store, err, error);
	if (err == 0)
		memcpy(ret_token, token, sizeof(token));
	explicit_bzero(token, sizeof(token));
	return err;
}
