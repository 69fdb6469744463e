/* SPDX-License-Identifier: MIT */
/* admin_commands.c - owners, bots, tokens, ladders and maps. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/ctl/ctl.h"
#include "clients/ctl/table.h"
#include "proto/name.h"
#include "server/store/base64.h"

enum { READ_BYTES = 65536 };

/* Append the names in TEXT, commas between, to LIST. */
static void add_names(json_t *list, const char *text)
{
	while (*text != '\0') {
		size_t len = strcspn(text, ",");

		(void)json_array_append_new(list, json_stringn(text, len));
		text += len + (text[len] == ',');
	}
}

/* 0, or -EINVAL when the value is no text that JSON takes. */
static int add_field(json_t *request, const struct ctl_given *given)
{
	const struct ctl_option *option = given->option;
	json_t *value = NULL;
	int64_t number;

	switch (option->kind) {
	case CTL_TEXT:
		value = json_string(given->value);
		break;
	case CTL_INT:
		if (ctl_parse_number(given->value, &number))
			value = json_integer(number);
		break;
	case CTL_LIST:
		value = json_incref(json_object_get(request, option->field));
		if (value == NULL)
			value = json_array();
		add_names(value, given->value);
		break;
	case CTL_YES_NO:
		value = json_boolean(strcmp(given->value, "yes") == 0);
		break;
	case CTL_TRUE:
		value = json_true();
		break;
	case CTL_FALSE:
		value = json_false();
		break;
	}
	return json_object_set_new(request, option->field, value) == 0
		       ? 0
		       : -EINVAL;
}

/* The request that CALL asks for; NULL after ctl_usage(). */
static json_t *make_request(const struct ctl_call *call)
{
	const struct ctl_command *command = call->command;
	json_t *request = json_pack("{s:s}", "command", command->name);
	const char *word = NULL;
	int64_t number;
	int rc = 0;

	if (call->nargs > 0 && command->arg_field != NULL) {
		word = call->args[0];
		if (strcmp(command->arg_field, "id") != 0)
			rc = json_object_set_new(request, command->arg_field,
						 json_string(word));
		else if (ctl_parse_number(word, &number))
			rc = json_object_set_new(request, command->arg_field,
						 json_integer(number));
		else
			rc = -1;
	}
	for (unsigned i = 0; i < call->ngiven && rc == 0; i++) {
		word = call->given[i].value;
		if (call->given[i].option->field != NULL)
			rc = add_field(request, &call->given[i]);
	}
	if (rc == 0)
		return request;
	json_decref(request);
	(void)ctl_usage(call, "'%s' is no good: it must be %s", word,
			strcmp(command->name, "token revoke") == 0
				? "a token's number"
				: "UTF-8");
	return NULL;
}

/* What the reply refuses, told; CTL_OK when it does not. */
static int check_reply(const struct ctl *ctl, const json_t *reply)
{
	const char *error = json_string_value(json_object_get(reply, "error"));

	if (json_is_true(json_object_get(reply, "ok")))
		return CTL_OK;
	return ctl_fail(ctl, "%s", error == NULL ? "refused" : error);
}

static void add_cell(struct table *table, const struct ctl_column *column,
		     const json_t *value)
{
	char text[40];

	switch (column->as) {
	case CTL_AS_TEXT:
		if (json_is_string(value)) {
			table_add(table, json_string_value(value));
		} else {
			struct buf names = BUF_INIT(65536);

			for (size_t i = 0; i < json_array_size(value); i++)
				buf_add_format(&names, "%s%s",
					       i == 0 ? "" : ",",
					       json_string_value(json_array_get(
						       value, i)));
			table_add(table, buf_text(&names));
			buf_release(&names);
		}
		break;
	case CTL_AS_NUMBER:
		(void)snprintf(text, sizeof(text), "%lld",
			       (long long)json_integer_value(value));
		table_add(table, text);
		break;
	case CTL_AS_FLAG:
		table_add(table, json_is_true(value) ? "yes" : "");
		break;
	case CTL_AS_TIME:
		table_add_time(table, json_integer_value(value));
		break;
	}
}

static void print_list(const struct ctl_command *command, const json_t *reply)
{
	const json_t *list = json_object_get(reply, command->list);
	struct table table;

	table_init(&table);
	for (const struct ctl_column *c = command->columns; c->title != NULL;
	     c++)
		table_column(&table, c->title, c->as == CTL_AS_NUMBER);
	for (size_t i = 0; i < json_array_size(list); i++)
		for (const struct ctl_column *c = command->columns;
		     c->title != NULL; c++)
			add_cell(&table, c,
				 json_object_get(json_array_get(list, i),
						 c->member));
	table_print(&table, stdout);
	table_release(&table);
}

static int run_list(const struct ctl *ctl, const struct ctl_call *call)
{
	struct channel channel;
	json_t *request = make_request(call), *reply;
	int status;

	if (request == NULL)
		return CTL_USAGE;
	if (channel_open_read(&channel, ctl) != 0) {
		json_decref(request);
		return CTL_FAILED;
	}
	reply = channel_send(&channel, ctl, request);
	json_decref(request);
	channel_close(&channel);
	if (reply == NULL)
		return CTL_FAILED;
	status = check_reply(ctl, reply);
	if (status == CTL_OK && ctl->is_json)
		ctl_print_json(reply);
	else if (status == CTL_OK)
		print_list(call->command, reply);
	json_decref(reply);
	return status;
}

/* "bot crazy: added" */
static void print_done(const struct ctl_call *call)
{
	static const char *const done[][2] = { { "add", "added" },
					       { "change", "changed" },
					       { "disable", "disabled" },
					       { "revoke", "revoked" },
					       { "rotate", "rotated" } };
	const char *verb = strchr(call->command->name, ' ') + 1;
	struct buf name = BUF_INIT(65536);

	for (size_t i = 0; i < sizeof(done) / sizeof(done[0]); i++)
		if (strcmp(done[i][0], verb) == 0)
			verb = done[i][1];
	if (ctl_value(call, "undo") != NULL)
		verb = "enabled";
	text_escape(call->args[0], strlen(call->args[0]), &name);
	(void)printf("%.*s %s: %s\n", (int)strcspn(call->command->name, " "),
		     call->command->name, buf_text(&name), verb);
	buf_release(&name);
}

/* Only `add` makes a file that is not there: a typo elsewhere is told. */
static bool may_create(const struct ctl_command *command)
{
	const char *verb = strchr(command->name, ' ');

	return strcmp(verb, " add") == 0 && strncmp(command->name, "token", 5);
}

/* The reply to REQUEST, which it takes; NULL after it was told why. */
static json_t *carry_out(const struct ctl *ctl, const struct ctl_call *call,
			 json_t *request_take)
{
	struct channel channel;
	json_t *reply = NULL;

	if (channel_open(&channel, ctl, may_create(call->command)) == 0) {
		reply = channel_send(&channel, ctl, request_take);
		channel_close(&channel);
	}
	json_decref(request_take);
	if (reply != NULL && check_reply(ctl, reply) != CTL_OK) {
		json_decref(reply);
		reply = NULL;
	}
	return reply;
}

static int run_change(const struct ctl *ctl, const struct ctl_call *call)
{
	json_t *request = make_request(call), *reply;

	if (request == NULL)
		return CTL_USAGE;
	reply = carry_out(ctl, call, request);
	if (reply == NULL)
		return CTL_FAILED;
	if (ctl->is_json)
		ctl_print_json(reply);
	else
		print_done(call);
	json_decref(reply);
	return CTL_OK;
}

/* ---- tokens ---- */

/* Write TOKEN and an LF to FD. 0 or -errno. */
static int write_token(int fd, const char *token)
{
	size_t len = strlen(token);

	if (write(fd, token, len) != (ssize_t)len || write(fd, "\n", 1) != 1)
		return errno == 0 ? -ENOSPC : -errno;
	return fsync(fd) != 0 ? -errno : 0;
}

/* The token goes where it was asked for, and nowhere else. */
static int deliver(const struct ctl *ctl, const struct ctl_call *call,
		   json_t *reply, const char *path, int fd)
{
	const char *token = json_string_value(json_object_get(reply, "token"));
	int rc;

	if (token == NULL)
		return ctl_fail(ctl, "the answer holds no token");
	if (path != NULL) {
		rc = write_token(fd, token);
		if (rc != 0)
			return ctl_fail(ctl,
					"%s: %s; the token is lost, `hillctl "
					"token rotate` makes another",
					path, strerror(-rc));
		(void)json_object_del(reply, "token");
		(void)json_object_set_new(reply, "token_file",
					  json_string(path));
	}
	if (ctl->is_json) {
		ctl_print_json(reply);
		return CTL_OK;
	}
	print_done(call);
	if (path != NULL)
		(void)printf("token in %s\n", path);
	else
		(void)printf("token, shown only now: %s\n", token);
	return CTL_OK;
}

/*
 * A bot or a token is made only when the file for the token is there: it is
 * told once. The file is new, so nobody else has it open.
 */
static int run_token(const struct ctl *ctl, const struct ctl_call *call)
{
	const char *path = ctl_value(call, "token-file");
	json_t *request = make_request(call), *reply;
	int fd = -1, status = CTL_FAILED;

	if (request == NULL)
		return CTL_USAGE;
	if (strcmp(call->command->name, "bot add") == 0 &&
	    ctl_value(call, "owner") == NULL) {
		if (!name_is_ladder(call->args[0], strlen(call->args[0]))) {
			json_decref(request);
			return ctl_usage(call,
					 "bot add: '%s' cannot be an "
					 "owner's name: give --owner",
					 call->args[0]);
		}
		(void)json_object_set_new(request, "owner",
					  json_string(call->args[0]));
	}
	if (path != NULL) {
		fd = open(path,
			  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			  0600);
		if (fd < 0) {
			json_decref(request);
			return ctl_fail(ctl, "--token-file: cannot make %s: %s",
					path, strerror(errno));
		}
	}
	reply = carry_out(ctl, call, request);
	if (reply != NULL)
		status = deliver(ctl, call, reply, path, fd);
	json_decref(reply);
	if (fd >= 0)
		(void)close(fd);
	if (status != CTL_OK && path != NULL)
		(void)unlink(path);
	return status;
}

/* ---- maps ---- */

/* The bytes of the file PATH. 0, -errno, -EFBIG beyond what a map may have. */
static int read_file(const char *path, struct buf *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;
	int err = 0;

	if (fd < 0)
		return -errno;
	do {
		char *at = buf_reserve(ret, READ_BYTES);

		if (at == NULL) {
			err = -EFBIG;
			break;
		}
		got = read(fd, at, READ_BYTES);
		if (got < 0)
			err = -errno;
		else
			ret->len += (size_t)got;
	} while (err == 0 && got > 0);
	(void)close(fd);
	if (err == 0 && ret->len > LIMIT_MAP_BYTES)
		err = -EFBIG;
	return err;
}

/* The request that adds the file PATH; NULL after it was told why. */
static json_t *map_request(const struct ctl *ctl, const struct ctl_call *call,
			   const char *path)
{
	struct buf data = BUF_INIT((size_t)LIMIT_MAP_BYTES + READ_BYTES);
	struct buf text = BUF_INIT(LIMIT_ADMIN_BYTES);
	const char *colours = ctl_value(call, "colours");
	const char *slash = strrchr(path, '/');
	const char *name = ctl_value(call, "name");
	json_t *request = NULL;
	int rc;

	if (name == NULL)
		name = slash == NULL ? path : slash + 1;
	rc = read_file(path, &data);
	if (rc != 0) {
		(void)ctl_fail(ctl, "%s: %s", path, strerror(-rc));
		goto out;
	}
	base64_encode((const uint8_t *)buf_text(&data), data.len, &text);
	request = json_pack("{s:s, s:s, s:s, s:s#}", "command", "map add",
			    "name", name, "game", ctl_value(call, "game"),
			    "data", buf_text(&text), (int)text.len);
	if (request == NULL) {
		(void)ctl_fail(ctl, "%s: its name must be UTF-8", path);
		goto out;
	}
	if (ctl_value(call, "hidden") != NULL)
		(void)json_object_set_new(request, "visibility",
					  json_string("hidden"));
	if (colours != NULL)
		(void)json_object_set_new(request, "options",
					  json_sprintf("colours=%s", colours));
out:
	buf_release(&data);
	buf_release(&text);
	return request;
}

/* Each file is one request: those before a bad one stay. */
static int run_map_add(const struct ctl *ctl, const struct ctl_call *call)
{
	json_t *maps = json_array(), *document;
	int status = CTL_OK;

	if (ctl_value(call, "name") != NULL && call->nargs > 1) {
		json_decref(maps);
		return ctl_usage(call, "--name is for one file, not %u",
				 call->nargs);
	}
	for (unsigned i = 0; i < call->nargs && status == CTL_OK; i++) {
		json_t *request = map_request(ctl, call, call->args[i]);
		json_t *reply = NULL;

		if (request != NULL)
			reply = carry_out(ctl, call, request);
		if (reply == NULL) {
			if (!ctl->is_json)
				(void)fprintf(stderr,
					      "hillctl: that was file %u of "
					      "%u\n",
					      i + 1, call->nargs);
			status = CTL_FAILED;
			break;
		}
		(void)json_array_append(maps, json_object_get(reply, "map"));
		if (!ctl->is_json)
			(void)printf("map %s: added\n",
				     json_string_value(json_object_get(
					     json_object_get(reply, "map"),
					     "name")));
		json_decref(reply);
	}
	document = json_pack("{s:b, s:o}", "ok", 1, "maps", maps);
	if (ctl->is_json && status == CTL_OK)
		ctl_print_json(document);
	json_decref(document);
	return status;
}

/* ---- the table ---- */

#define FIELD(name, value, kind, field, help)         \
	{                                             \
		name, value, kind, false, field, help \
	}

/* clang-format off */
static const struct ctl_option undo_options[] = {
	FIELD("undo", NULL, CTL_FALSE, "disabled", "take it back"),
	{ .name = NULL },
};

static const struct ctl_option owner_add_options[] = {
	FIELD("external-id", "ID", CTL_TEXT, "external_id", "who it is elsewhere; never public"),
	FIELD("note", "TEXT", CTL_TEXT, "note", "for the host; never public"),
	{ .name = NULL },
};

static const struct ctl_option owner_change_options[] = {
	FIELD("new-name", "NAME", CTL_TEXT, "new_name", "its name from now on"),
	FIELD("external-id", "ID", CTL_TEXT, "external_id", "who it is elsewhere; never public"),
	FIELD("note", "TEXT", CTL_TEXT, "note", "for the host; never public"),
	{ .name = NULL },
};

static const struct ctl_option bot_add_options[] = {
	FIELD("owner", "OWNER", CTL_TEXT, "owner", "who answers for it; made when new (default: the bot's name)"),
	FIELD("max-connections", "N", CTL_INT, "max_connections", "at once (default 8)"),
	FIELD("token-file", "FILE", CTL_TEXT, NULL, "write the token to this new file instead of printing it"),
	{ .name = NULL },
};

static const struct ctl_option bot_list_options[] = {
	FIELD("owner", "OWNER", CTL_TEXT, "owner", "only this one's"),
	{ .name = NULL },
};

static const struct ctl_option bot_change_options[] = {
	FIELD("owner", "OWNER", CTL_TEXT, "owner", "who answers for it from now on; made when new"),
	FIELD("max-connections", "N", CTL_INT, "max_connections", "at once"),
	{ .name = NULL },
};

static const struct ctl_option token_options[] = {
	FIELD("token-file", "FILE", CTL_TEXT, NULL, "write the token to this new file instead of printing it"),
	{ .name = NULL },
};

static const struct ctl_option token_list_options[] = {
	FIELD("bot", "BOT", CTL_TEXT, "bot", "only this one's"),
	{ .name = NULL },
};

#define LADDER_OPTIONS \
	FIELD("seats", "N", CTL_INT, "seats", "of a match (default: the least that the game takes)"), \
	FIELD("params", "TEXT", CTL_TEXT, "params", "the game's parameters: \"turns=500\""), \
	FIELD("turn-ms", "MS", CTL_INT, "turn_ms", "for a reply (default: the original's)"), \
	FIELD("init-ms", "MS", CTL_INT, "init_ms", "more for the first one"), \
	FIELD("grace-ms", "MS", CTL_INT, "grace_ms", "between the interrupt and the verdict"), \
	FIELD("bank-ms", "MS", CTL_INT, "bank_ms", "for jitter, at the start"), \
	FIELD("bank-step-ms", "MS", CTL_INT, "bank_step_ms", "more with each request"), \
	FIELD("lag-cap-ms", "MS", CTL_INT, "lag_cap_ms", "most that distance is paid for"), \
	FIELD("ready-ms", "MS", CTL_INT, "ready_ms", "to accept a match"), \
	FIELD("file-ms", "MS", CTL_INT, "file_ms", "most that the map's way is waited for"), \
	FIELD("seeds", "SEEDS", CTL_TEXT, "seeds", "random, or A..B in order"), \
	FIELD("bot-seed", "WHICH", CTL_TEXT, "bot_seed", "own, or match: the bot is handed the match's seed"), \
	FIELD("rated", "yes|no", CTL_YES_NO, "rated", "whether it counts (default yes)"), \
	FIELD("original", NULL, CTL_TRUE, "original", "the original's rules: no lag, no bank, one seed for both"), \
	{ .name = NULL }

static const struct ctl_option ladder_add_options[] = {
	{ "game", "GAME", CTL_TEXT, true, "game", "rabbit-runner, image-battle, lambda-mining" },
	{ "map", "MAP[,MAP...]", CTL_LIST, true, "maps", "what it is played on, in turn" },
	LADDER_OPTIONS,
};

static const struct ctl_option ladder_change_options[] = {
	FIELD("map", "MAP[,MAP...]", CTL_LIST, "maps", "what it is played on, in turn"),
	LADDER_OPTIONS,
};

static const struct ctl_option map_add_options[] = {
	{ "game", "GAME", CTL_TEXT, true, NULL, "rabbit-runner, image-battle, lambda-mining" },
	FIELD("name", "NAME", CTL_TEXT, NULL, "the file name that bots are told (default: the file's)"),
	FIELD("colours", "R,G,B;...", CTL_TEXT, NULL, "the seats of an image-battle (default: found in the picture)"),
	FIELD("hidden", NULL, CTL_TRUE, NULL, "only the bots that play on it see it"),
	{ .name = NULL },
};

static const struct ctl_option map_list_options[] = {
	FIELD("game", "GAME", CTL_TEXT, "game", "only this one's"),
	{ .name = NULL },
};

static const struct ctl_option map_change_options[] = {
	FIELD("game", "GAME", CTL_TEXT, "game", "where two games have a map of that name"),
	FIELD("visibility", "WHICH", CTL_TEXT, "visibility", "public or hidden"),
	{ .name = NULL },
};

static const struct ctl_option map_disable_options[] = {
	FIELD("game", "GAME", CTL_TEXT, "game", "where two games have a map of that name"),
	FIELD("undo", NULL, CTL_FALSE, "disabled", "take it back"),
	{ .name = NULL },
};

static const struct ctl_column owner_columns[] = {
	{ "id", "id", CTL_AS_NUMBER }, { "owner", "name", CTL_AS_TEXT },
	{ "bots", "bots", CTL_AS_NUMBER }, { "disabled", "disabled", CTL_AS_FLAG },
	{ "external id", "external_id", CTL_AS_TEXT }, { "since (UTC)", "created_us", CTL_AS_TIME },
	{ "note", "note", CTL_AS_TEXT }, { .title = NULL },
};

static const struct ctl_column bot_columns[] = {
	{ "id", "id", CTL_AS_NUMBER }, { "bot", "name", CTL_AS_TEXT },
	{ "owner", "owner", CTL_AS_TEXT }, { "version", "version", CTL_AS_NUMBER },
	{ "tokens", "tokens", CTL_AS_NUMBER }, { "connections", "max_connections", CTL_AS_NUMBER },
	{ "disabled", "disabled", CTL_AS_FLAG }, { "owner disabled", "owner_disabled", CTL_AS_FLAG },
	{ "since (UTC)", "created_us", CTL_AS_TIME }, { .title = NULL },
};

static const struct ctl_column token_columns[] = {
	{ "id", "id", CTL_AS_NUMBER }, { "bot", "bot", CTL_AS_TEXT },
	{ "since (UTC)", "created_us", CTL_AS_TIME }, { "revoked (UTC)", "revoked_us", CTL_AS_TIME },
	{ .title = NULL },
};

static const struct ctl_column ladder_columns[] = {
	{ "id", "id", CTL_AS_NUMBER }, { "ladder", "name", CTL_AS_TEXT },
	{ "game", "game", CTL_AS_TEXT }, { "seats", "seats", CTL_AS_NUMBER },
	{ "params", "params", CTL_AS_TEXT }, { "maps", "maps", CTL_AS_TEXT },
	{ "seeds", "seeds", CTL_AS_TEXT }, { "bot seed", "bot_seed", CTL_AS_TEXT },
	{ "turn ms", "turn_ms", CTL_AS_NUMBER }, { "init ms", "init_ms", CTL_AS_NUMBER },
	{ "bank ms", "bank_ms", CTL_AS_NUMBER }, { "lag cap ms", "lag_cap_ms", CTL_AS_NUMBER },
	{ "rated", "rated", CTL_AS_FLAG }, { "disabled", "disabled", CTL_AS_FLAG },
	{ .title = NULL },
};

static const struct ctl_column map_columns[] = {
	{ "id", "id", CTL_AS_NUMBER }, { "map", "name", CTL_AS_TEXT },
	{ "game", "game", CTL_AS_TEXT }, { "bytes", "bytes", CTL_AS_NUMBER },
	{ "visibility", "visibility", CTL_AS_TEXT }, { "disabled", "disabled", CTL_AS_FLAG },
	{ "options", "options", CTL_AS_TEXT }, { "since (UTC)", "created_us", CTL_AS_TIME },
	{ .title = NULL },
};

static const char token_details[] =
	"A token is told once: keep it in a file that only you may read. With\n"
	"--token-file it is written to a new file of mode 0600 and not printed.\n";

#define NAMED(name, options, help, run) \
	{ name, "NAME", 1, 1, "name", options, help, NULL, NULL, NULL, run }
#define LIST(name, options, help, list, columns) \
	{ name, "", 0, 0, NULL, options, help, NULL, list, columns, run_list }
#define TOKEN(name, arg, field, options, help) \
	{ name, arg, 1, 1, field, options, help, token_details, NULL, NULL, run_token }

const struct ctl_command ctl_admin_commands[] = {
	NAMED("owner add", owner_add_options, "somebody who answers for bots", run_change),
	LIST("owner list", ctl_no_options, "who there is", "owners", owner_columns),
	NAMED("owner change", owner_change_options, "what is known of an owner", run_change),
	NAMED("owner disable", undo_options, "none of its bots may log in", run_change),
	TOKEN("bot add", "NAME", "name", bot_add_options, "a bot and its first token"),
	LIST("bot list", bot_list_options, "which bots there are", "bots", bot_columns),
	NAMED("bot change", bot_change_options, "a bot's owner or connections", run_change),
	NAMED("bot disable", undo_options, "it may not log in", run_change),
	TOKEN("token add", "BOT", "bot", token_options, "one more token for a bot"),
	LIST("token list", token_list_options, "which tokens there are", "tokens", token_columns),
	{ "token revoke", "ID", 1, 1, "id", ctl_no_options, "it opens nothing any more", NULL, NULL, NULL, run_change },
	TOKEN("token rotate", "BOT", "bot", token_options, "revoke a bot's tokens and make a new one"),
	NAMED("ladder add", ladder_add_options, "what may be played, on what, by which limits", run_change),
	LIST("ladder list", ctl_no_options, "which ladders there are", "ladders", ladder_columns),
	NAMED("ladder change", ladder_change_options, "what it is played on and by", run_change),
	NAMED("ladder disable", undo_options, "no new matches on it", run_change),
	{ "map add", "FILE...", 1, 1000, NULL, map_add_options, "maps for ladders; their bytes never change", NULL, NULL, NULL, run_map_add },
	LIST("map list", map_list_options, "which maps there are", "maps", map_columns),
	NAMED("map change", map_change_options, "who may see it", run_change),
	NAMED("map disable", map_disable_options, "no new matches on it", run_change),
	{ .name = NULL },
};
/* clang-format on */
