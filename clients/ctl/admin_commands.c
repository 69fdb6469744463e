/* SPDX-License-Identifier: MIT */
#include "clients/ctl/admin_commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clients/ctl/ctl.h"
#include "clients/ctl/table.h"
#include "clients/ctl/token_file.h"
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

json_t *make_request(const struct ctl_call *call)
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
	if (call->nargs > 1 && command->arg2_field != NULL && rc == 0) {
		word = call->args[1];
		rc = json_object_set_new(request, command->arg2_field,
					 json_string(word));
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
			command->arg_field != NULL &&
					strcmp(command->arg_field, "id") == 0
				? "a number"
				: "UTF-8");
	return NULL;
}

int check_reply(const struct ctl *ctl, const char *what, const json_t *reply)
{
	const char *error = json_string_value(json_object_get(reply, "error"));

	if (json_is_true(json_object_get(reply, "ok")))
		return CTL_OK;
	return ctl_fail(ctl, "%s%s%s", what == NULL ? "" : what,
			what == NULL ? "" : ": ",
			error == NULL ? "refused" : error);
}

static void add_cell(struct table *table, const struct ctl_column *column,
		     const json_t *value)
{
	char text[40] = "";

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
		if (json_is_real(value))
			(void)snprintf(text, sizeof(text), "%.6g",
				       json_real_value(value));
		else if (!json_is_null(value))
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

json_t *ask_file(const struct ctl *ctl, json_t *request_take)
{
	struct channel channel;
	json_t *reply = NULL;

	if (request_take == NULL)
		return NULL;
	if (channel_open_read(&channel, ctl) == 0) {
		reply = channel_send(&channel, ctl, request_take);
		channel_close(&channel);
	}
	json_decref(request_take);
	if (reply != NULL && check_reply(ctl, NULL, reply) != CTL_OK) {
		json_decref(reply);
		reply = NULL;
	}
	return reply;
}

int run_list(const struct ctl *ctl, const struct ctl_call *call)
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
	status = check_reply(ctl, NULL, reply);
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
	static const char *const done[][2] = {
		{ "add", "added" },
		{ "change", "changed" },
		{ "disable", "disabled" },
		{ "enable", "enabled" },
		{ "rename", "renamed" },
		{ "hide", "hidden" },
		{ "show", "shown" },
		{ "ban", "banned" },
		{ "unban", "banned no more" },
		{ "erase", "erased" },
		{ "house", "the host's own" },
		{ "revoke", "revoked" },
		{ "rotate", "rotated" },
		{ "start", "started" },
		{ "cancel", "cancelled" },
		{ "reveal", "revealed" },
		{ "withdraw", "changed" },
		{ "drop", "dropped" },
	};
	const char *verb = strchr(call->command->name, ' ') + 1;
	struct buf name = BUF_INIT(65536);

	for (size_t i = 0; i < sizeof(done) / sizeof(done[0]); i++)
		if (strcmp(done[i][0], verb) == 0)
			verb = done[i][1];
	if (ctl_value(call, "undo") != NULL)
		verb = "enabled";
	if (ctl_value(call, "off") != NULL)
		verb = "the host's own no more";
	text_escape(call->args[0], strlen(call->args[0]), &name);
	(void)printf("%.*s %s: %s\n", (int)strcspn(call->command->name, " "),
		     call->command->name, buf_text(&name), verb);
	buf_release(&name);
}

/* Only `add` makes a file that is not there: a typo elsewhere is told. */
static bool may_create(const struct ctl_command *command)
{
	const char *verb = strchr(command->name, ' ');

	return verb != NULL && strcmp(verb, " add") == 0 &&
	       strcmp(command->name, "token add") != 0;
}

json_t *carry_out(const struct ctl *ctl, const struct ctl_call *call,
		  const char *what, json_t *request_take)
{
	struct channel channel;
	json_t *reply = NULL;

	if (channel_open(&channel, ctl, may_create(call->command)) == 0) {
		reply = channel_send(&channel, ctl, request_take);
		channel_close(&channel);
	}
	json_decref(request_take);
	if (reply != NULL && check_reply(ctl, what, reply) != CTL_OK) {
		json_decref(reply);
		reply = NULL;
	}
	return reply;
}

/* "bot crazy: version b is active, a is retired" */
static void print_active(const struct ctl_call *call, const json_t *reply)
{
	const char *active =
		json_string_value(json_object_get(reply, "active"));
	const char *retired =
		json_string_value(json_object_get(reply, "retired"));

	(void)printf("bot %s: version %s is active", call->args[0], active);
	if (retired != NULL)
		(void)printf(", %s is retired", retired);
	(void)printf("\n");
}

/* As run_change, by REQUEST, which it takes. */
static int change(const struct ctl *ctl, const struct ctl_call *call,
		  json_t *request_take)
{
	json_t *reply = carry_out(ctl, call, NULL, request_take);

	if (reply == NULL)
		return CTL_FAILED;
	if (ctl->is_json)
		ctl_print_json(reply);
	else if (json_is_string(json_object_get(reply, "active")))
		print_active(call, reply);
	else
		print_done(call);
	json_decref(reply);
	return CTL_OK;
}

int run_change(const struct ctl *ctl, const struct ctl_call *call)
{
	json_t *request = make_request(call);

	return request == NULL ? CTL_USAGE : change(ctl, call, request);
}

int run_bot_show(const struct ctl *ctl, const struct ctl_call *call)
{
	json_t *request = make_request(call);

	if (request == NULL)
		return CTL_USAGE;
	(void)json_object_set_new(request, "command", json_string("bot hide"));
	(void)json_object_set_new(request, "hidden", json_false());
	return change(ctl, call, request);
}

int run_enable(const struct ctl *ctl, const struct ctl_call *call)
{
	const char *name = call->command->name;
	json_t *request = make_request(call);

	if (request == NULL)
		return CTL_USAGE;
	(void)json_object_set_new(
		request, "command",
		json_sprintf("%.*s disable", (int)strcspn(name, " "), name));
	(void)json_object_set_new(request, "disabled", json_false());
	return change(ctl, call, request);
}

/* ---- tokens ---- */

/* The token goes where it was asked for, and nowhere else. */
static int deliver(const struct ctl *ctl, const struct ctl_call *call,
		   json_t *reply, struct token_file *file)
{
	const char *token = json_string_value(json_object_get(reply, "token"));
	const char *path = file->path;
	int rc;

	if (token == NULL)
		return ctl_fail(ctl, "the answer holds no token");
	if (path != NULL) {
		rc = token_file_write(file, token);
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
 * told once.
 */
int run_token(const struct ctl *ctl, const struct ctl_call *call)
{
	const char *path = ctl_value(call, "token-file");
	json_t *request = make_request(call), *reply;
	struct token_file file = { .path = NULL };
	int rc = 0, status = CTL_FAILED;

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
	if (path != NULL)
		rc = token_file_make(
			&file, path,
			strcmp(call->command->name, "token rotate") == 0,
			TOKEN_FILE_BYTES);
	if (rc != 0) {
		json_decref(request);
		return ctl_fail(ctl, "--token-file: cannot make %s: %s", path,
				strerror(-rc));
	}
	reply = carry_out(ctl, call, NULL, request);
	if (reply != NULL)
		status = deliver(ctl, call, reply, &file);
	json_decref(reply);
	token_file_release(&file);
	return status;
}

/* ---- maps ---- */

int run_map_change(const struct ctl *ctl, const struct ctl_call *call)
{
	bool is_hidden = ctl_value(call, "hidden") != NULL;
	bool is_public = ctl_value(call, "public") != NULL;
	bool is_timed = ctl_value(call, "hidden-until") != NULL;
	json_t *request;

	if (is_hidden + is_public + is_timed +
		    (ctl_value(call, "visibility") != NULL) >
	    1)
		return ctl_usage(call,
				 "map change: one of --visibility, --hidden, "
				 "--hidden-until and --public will do");
	request = make_request(call);
	if (request == NULL)
		return CTL_USAGE;
	if (is_hidden || is_public)
		(void)json_object_set_new(
			request, "visibility",
			json_string(is_hidden ? "hidden" : "public"));
	return change(ctl, call, request);
}

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

/* "map small.map: added" */
static void print_map(const json_t *map)
{
	const json_t *added = json_object_get(map, "added");

	(void)printf("map %s: %s%s\n",
		     json_string_value(json_object_get(map, "name")),
		     json_is_false(added) ? "the same map is there already"
					  : "added",
		     json_is_true(json_object_get(map, "disabled"))
			     ? ", disabled"
			     : "");
}

/* Each file is one request: those before a bad one stay. */
int run_map_add(const struct ctl *ctl, const struct ctl_call *call)
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
			reply = carry_out(ctl, call, call->args[i], request);
		if (reply == NULL) {
			status = CTL_FAILED;
			break;
		}
		(void)json_array_append(maps, json_object_get(reply, "map"));
		if (!ctl->is_json)
			print_map(json_object_get(reply, "map"));
		json_decref(reply);
	}
	document = json_pack("{s:b, s:o}", "ok", 1, "maps", maps);
	if (ctl->is_json && status == CTL_OK)
		ctl_print_json(document);
	json_decref(document);
	return status;
}
