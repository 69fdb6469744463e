/* SPDX-License-Identifier: MIT */
#include "server/store/admin.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <openssl/sha.h>

#include "schema/schema.h"
#include "server/base/json_depth.h"
#include "server/store/admin_internal.h"

enum { QUOTE_BYTES = 48 };

static const struct admin_field no_fields[] = { { NULL } };

static int run_status(struct admin *admin)
{
	struct row_counts counts;
	int err;

	/* Takes the lock of the reader's connection, and needs no other. */
	err = store_counts(admin->store, &counts, &admin->error);
	if (err != 0)
		return err;
	admin_set(admin, "status",
		  json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
			    "s:I}",
			    "database", admin->store->path, "schema",
			    (json_int_t)schema_version, "owners",
			    (json_int_t)counts.owners, "bots",
			    (json_int_t)counts.bots, "tokens",
			    (json_int_t)counts.tokens, "ladders",
			    (json_int_t)counts.ladders, "maps",
			    (json_int_t)counts.maps, "matches",
			    (json_int_t)counts.matches, "void",
			    (json_int_t)counts.voids, "last_match",
			    (json_int_t)counts.last_match_id));
	return 0;
}

static const struct admin_command status_commands[] = {
	{ .name = "status", .fields = no_fields, .prepare = run_status },
	{ .name = NULL },
};

static const struct admin_command *const tables[] = {
	admin_owner_commands,    admin_bot_commands,
	admin_map_commands,      admin_ladder_commands,
	status_commands,         admin_tournament_commands,
	admin_announce_commands, admin_moderate_commands,
	admin_rating_commands,   admin_join_commands,
	admin_host_commands,     admin_candidate_commands,
};

const char *admin_text(const struct admin *admin, const char *field,
		       const char *fallback)
{
	const json_t *value = json_object_get(admin->request, field);

	return value == NULL ? fallback : json_string_value(value);
}

int64_t admin_int(const struct admin *admin, const char *field,
		  int64_t fallback)
{
	const json_t *value = json_object_get(admin->request, field);

	return value == NULL ? fallback : json_integer_value(value);
}

bool admin_bool(const struct admin *admin, const char *field, bool fallback)
{
	const json_t *value = json_object_get(admin->request, field);

	return value == NULL ? fallback : json_is_true(value);
}

bool admin_has(const struct admin *admin, const char *field)
{
	return json_object_get(admin->request, field) != NULL;
}

/* Digits of a seed at *TEXT, which moves behind them. */
static bool read_seed(const char **text, int64_t *ret)
{
	const char *c = *text;
	int64_t value = 0;

	if (*c < '0' || *c > '9')
		return false;
	for (; *c >= '0' && *c <= '9'; c++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *c - '0', &value))
			return false;
	*text = c;
	*ret = value;
	return true;
}

int admin_seeds(struct admin *admin, bool *ret_is_random, int64_t *ret_first,
		int64_t *ret_last)
{
	const char *text = admin_text(admin, "seeds", "random");
	const char *rest = text;
	int64_t first, last;

	*ret_is_random = strcmp(text, "random") == 0;
	if (*ret_is_random)
		return 0;
	if (!read_seed(&rest, &first) || strncmp(rest, "..", 2) != 0)
		goto err;
	rest += 2;
	if (!read_seed(&rest, &last) || *rest != '\0' || last < first)
		goto err;
	*ret_first = first;
	*ret_last = last;
	return 0;
err:
	return admin_refuse(admin, "seeds", text,
			    "must be random, or A..B of 0 to "
			    "9223372036854775807 with A <= B");
}

int admin_time(struct admin *admin, const char *field, int64_t *ret)
{
	static const char *const formats[] = { "%Y-%m-%d", "%Y-%m-%dT%H:%M",
					       "%Y-%m-%dT%H:%M:%S" };
	const char *text = admin_text(admin, field, "none");

	*ret = 0;
	if (strcmp(text, "none") == 0)
		return 0;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct tm tm = { 0 };
		const char *end = strptime(text, formats[i], &tm);

		if (end == NULL || (*end != '\0' && strcmp(end, "Z") != 0))
			continue;
		*ret = (int64_t)timegm(&tm) * 1000000;
		return 0;
	}
	return admin_refuse(admin, field, text,
			    "is no time like 2026-01-31T12:30 (UTC) or none");
}

/* A value as a message may show it. */
static void quote(const char *value, char ret[QUOTE_BYTES])
{
	size_t i;

	for (i = 0; value[i] != '\0' && i + 4 < QUOTE_BYTES; i++)
		ret[i] = value[i] >= ' ' && value[i] <= '~' ? value[i] : '?';
	(void)snprintf(ret + i, QUOTE_BYTES - i, "%s",
		       value[i] == '\0' ? "" : "...");
}

int admin_refuse(struct admin *admin, const char *field, const char *value,
		 const char *format, ...)
{
	char quoted[QUOTE_BYTES] = "", text[256];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (value != NULL)
		quote(value, quoted);
	admin->field = field;
	store_error_set(&admin->error, "%s%s%s%s%s%s",
			field == NULL ? "" : field, field == NULL ? "" : ": ",
			value == NULL ? "" : "'", quoted,
			value == NULL ? "" : "': ", text);
	return -EINVAL;
}

int admin_find(struct admin *admin, const char *sql, const char *field,
	       const char *what, int64_t *ret)
{
	const char *name = admin_text(admin, field, "");
	struct query query;
	int err;

	query_open(&query, admin->db, sql, &admin->error);
	query_bind_text(&query, 1, name);
	err = query_step(&query);
	if (err > 0)
		*ret = query_i64(&query, 0);
	query_close(&query);
	if (err == 0)
		return admin_refuse(admin, field, name,
				    "there is no %s of that name", what);
	return err < 0 ? err : 0;
}

int admin_find_given(struct admin *admin, const char *sql, const char *field,
		     const char *what)
{
	int64_t id;

	return admin_has(admin, field)
		       ? admin_find(admin, sql, field, what, &id)
		       : 0;
}

int admin_check_free(struct admin *admin, const char *sql, const char *field,
		     char ret_key[STORE_NAME_KEY_BYTES])
{
	const char *name = admin_text(admin, field, "");
	struct query query;
	int err;

	store_name_key(name, ret_key);
	query_open(&query, admin->db, sql, &admin->error);
	query_bind_text(&query, 1, ret_key);
	err = query_step(&query);
	if (err > 0) {
		if (strcmp(query_text(&query, 0), name) == 0)
			err = admin_refuse(admin, field, name,
					   "the name is taken");
		else
			err = admin_refuse(admin, field, name,
					   "looks too much like %s, which is "
					   "taken",
					   query_text(&query, 0));
	}
	query_close(&query);
	return err;
}

void admin_set(struct admin *admin, const char *name, json_t *value)
{
	/* Without memory the reply lacks it, and says so by that. */
	(void)json_object_set_new(admin->reply, name, value);
}

void admin_list_begin(struct admin *admin, const char *name)
{
	admin_set(admin, name, json_array());
}

void admin_list_add(struct admin *admin, const char *name, json_t *value)
{
	(void)json_array_append_new(json_object_get(admin->reply, name), value);
}

void admin_hash(const void *data, size_t len, uint8_t ret[ROW_HASH_BYTES])
{
	(void)SHA256(data, len, ret);
}

json_t *admin_hash_json(const uint8_t hash[ROW_HASH_BYTES])
{
	char text[ROW_HASH_BYTES * 2 + 1];

	for (size_t i = 0; i < ROW_HASH_BYTES; i++)
		(void)sprintf(text + 2 * i, "%02x", hash[i]);
	return json_string(text);
}

/* A text without a NUL in it: what C sees is what was sent. */
static bool is_whole_text(const json_t *value)
{
	return json_is_string(value) &&
	       strlen(json_string_value(value)) == json_string_length(value);
}

static int check_list(struct admin *admin, const struct admin_field *field,
		      const json_t *value)
{
	size_t count = json_array_size(value);

	if (!json_is_array(value))
		return admin_refuse(admin, field->name, NULL,
				    "must be a list of names");
	if (count < (size_t)field->min || count > (size_t)field->max)
		return admin_refuse(admin, field->name, NULL,
				    "must have %lld to %lld names",
				    (long long)field->min,
				    (long long)field->max);
	for (size_t i = 0; i < count; i++) {
		const json_t *name = json_array_get(value, i);

		if (!is_whole_text(name) ||
		    json_string_length(name) > LIMIT_NAME_BYTES)
			return admin_refuse(admin, field->name, NULL,
					    "entry %zu is no name", i + 1);
	}
	return 0;
}

static int check_ids(struct admin *admin, const struct admin_field *field,
		     const json_t *value)
{
	size_t count = json_array_size(value);

	if (!json_is_array(value) || count < (size_t)field->min ||
	    count > (size_t)field->max)
		return admin_refuse(admin, field->name, NULL,
				    "must be a list of %lld to %lld numbers",
				    (long long)field->min,
				    (long long)field->max);
	for (size_t i = 0; i < count; i++) {
		const json_t *id = json_array_get(value, i);

		if (!json_is_integer(id) || json_integer_value(id) < 1)
			return admin_refuse(admin, field->name, NULL,
					    "entry %zu is no number from 1",
					    i + 1);
	}
	return 0;
}

static int check_value(struct admin *admin, const struct admin_field *field,
		       const json_t *value)
{
	char shown[24];
	int64_t number;

	switch (field->type) {
	case ADMIN_TEXT:
		if (!is_whole_text(value))
			return admin_refuse(admin, field->name, NULL,
					    "must be a text without NULs");
		number = (int64_t)json_string_length(value);
		if (number < field->min || number > field->max)
			return admin_refuse(
				admin, field->name, json_string_value(value),
				"must have %lld to %lld bytes",
				(long long)field->min, (long long)field->max);
		return 0;
	case ADMIN_INT:
		if (!json_is_integer(value))
			return admin_refuse(admin, field->name, NULL,
					    "must be a whole number");
		number = json_integer_value(value);
		(void)snprintf(shown, sizeof(shown), "%lld", (long long)number);
		if (number < field->min || number > field->max)
			return admin_refuse(admin, field->name, shown,
					    "must be %lld to %lld",
					    (long long)field->min,
					    (long long)field->max);
		return 0;
	case ADMIN_BOOL:
		if (!json_is_boolean(value))
			return admin_refuse(admin, field->name, NULL,
					    "must be true or false");
		return 0;
	case ADMIN_LIST:
		return check_list(admin, field, value);
	case ADMIN_IDS:
		return check_ids(admin, field, value);
	case ADMIN_NTYPES:
		break;
	}
	return -EINVAL;
}

static int check_fields(struct admin *admin,
			const struct admin_command *command)
{
	const struct admin_field *field;
	const json_t *value;
	const char *name;
	int err;

	for (void *iter = json_object_iter(admin->request); iter != NULL;
	     iter = json_object_iter_next(admin->request, iter)) {
		name = json_object_iter_key(iter);
		if (strcmp(name, "command") == 0)
			continue;
		for (field = command->fields; field->name != NULL; field++)
			if (strcmp(field->name, name) == 0)
				break;
		if (field->name == NULL)
			return admin_refuse(admin, NULL, name,
					    "%s has no such field",
					    command->name);
	}
	for (field = command->fields; field->name != NULL; field++) {
		value = json_object_get(admin->request, field->name);
		if (value == NULL && field->is_required)
			return admin_refuse(admin, field->name, NULL,
					    "must be given");
		err = value == NULL ? 0 : check_value(admin, field, value);
		if (err != 0)
			return err;
	}
	return 0;
}

static const struct admin_command *find_command(struct admin *admin)
{
	const json_t *value = json_object_get(admin->request, "command");
	const struct admin_command *command;

	if (!json_is_object(admin->request)) {
		(void)admin_refuse(admin, NULL, NULL,
				   "a command must be a JSON object");
		return NULL;
	}
	if (!is_whole_text(value)) {
		(void)admin_refuse(admin, "command", NULL, "must be given");
		return NULL;
	}
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (command = tables[i]; command->name != NULL; command++)
			if (strcmp(command->name, json_string_value(value)) ==
			    0)
				return command;
	(void)admin_refuse(admin, "command", json_string_value(value),
			   "there is no such command");
	return NULL;
}

static int run_locked(struct admin *admin, const struct admin_command *command)
{
	struct db *db = admin->db;
	int err;

	(void)pthread_mutex_lock(&db->lock);
	if (command->writes)
		err = db_begin(db, &admin->error);
	else
		err = db_exec(db, "BEGIN", "read", &admin->error);
	if (err == 0) {
		err = command->run(admin);
		if (err == 0 && command->writes)
			err = admin_audit(admin, command->name);
		if (err == 0 && command->writes)
			err = db_commit(db, &admin->error);
		else
			db_rollback(db);
	}
	(void)pthread_mutex_unlock(&db->lock);
	return err;
}

static int carry_out(struct admin *admin, const struct admin_command *command)
{
	struct store *store = admin->store;
	int err;

	err = check_fields(admin, command);
	if (err != 0)
		return err;
	if (command->writes && store->mode == STORE_READ)
		return admin_refuse(admin, NULL, NULL,
				    "%s is opened for reading only",
				    store->path);
	admin->db = command->writes ? &store->write : store->read;
	/* One writes at a time: what prepare has read still holds in run. */
	if (command->writes)
		(void)pthread_mutex_lock(&store->admin_lock);
	if (command->prepare != NULL)
		err = command->prepare(admin);
	if (err == 0 && command->run != NULL)
		err = run_locked(admin, command);
	if (command->writes)
		(void)pthread_mutex_unlock(&store->admin_lock);
	if (admin->release != NULL)
		admin->release(admin->data);
	json_decref(admin->told);
	return err;
}

static json_t *refusal(const struct admin *admin)
{
	json_t *reply =
		json_pack("{s:b, s:s}", "ok", 0, "error", admin->error.text);

	if (reply == NULL)
		reply = json_pack("{s:b, s:s}", "ok", 0, "error",
				  "the reason cannot be shown");
	if (reply == NULL)
		abort();
	if (admin->field != NULL)
		(void)json_object_set_new(reply, "field",
					  json_string(admin->field));
	return reply;
}

static json_t *run_for(struct store *store, uid_t uid, json_t *request,
		       bool *ret_changed)
{
	struct admin admin = { .store = store, .uid = uid, .request = request };
	const struct admin_command *command;
	json_t *reply;
	int err = -EINVAL;

	admin.reply = json_pack("{s:b}", "ok", 1);
	if (admin.reply == NULL)
		abort();
	command = find_command(&admin);
	if (command != NULL)
		err = carry_out(&admin, command);
	if (ret_changed != NULL)
		*ret_changed = err == 0 && command->writes;
	if (err == 0)
		return admin.reply;
	json_decref(admin.reply);
	reply = refusal(&admin);
	return reply;
}

json_t *store_admin(struct store *store, json_t *request, bool *ret_changed)
{
	return run_for(store, geteuid(), request, ret_changed);
}

char *store_admin_text(struct store *store, const char *text, size_t len,
		       bool *ret_changed)
{
	return store_admin_by(store, geteuid(), text, len, ret_changed);
}

char *store_admin_by(struct store *store, uid_t uid, const char *text,
		     size_t len, bool *ret_changed)
{
	struct admin admin = { .store = store };
	json_t *request = NULL, *reply;
	json_error_t where;
	char *line;

	if (ret_changed != NULL)
		*ret_changed = false;
	if (len > LIMIT_ADMIN_BYTES) {
		(void)admin_refuse(&admin, NULL, NULL,
				   "a command has at most %d bytes",
				   (int)LIMIT_ADMIN_BYTES);
	} else if (json_is_too_deep(text, len)) {
		(void)admin_refuse(&admin, NULL, NULL,
				   "JSON is nested more than %d deep",
				   (int)LIMIT_JSON_DEPTH);
	} else {
		request = json_loadb(text, len, JSON_REJECT_DUPLICATES, &where);
		if (request == NULL)
			(void)admin_refuse(&admin, NULL, where.text,
					   "byte %d: this is no JSON",
					   where.position);
	}
	reply = request == NULL ? refusal(&admin)
				: run_for(store, uid, request, ret_changed);
	json_decref(request);
	line = json_dumps(reply, JSON_COMPACT);
	json_decref(reply);
	if (line == NULL)
		abort();
	return line;
}
