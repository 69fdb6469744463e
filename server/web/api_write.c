/* SPDX-License-Identifier: MIT */
/*
 * api_write.c - what changes the database: registration, new tokens. It is
 * asked of the side that writes; nothing here opens the file for writing.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server/web/web_internal.h"

enum { TOKEN_MAX = 256 };

/* The token of "Authorization: Bearer TOKEN", or NULL. */
static const char *bearer(const struct web_call *call)
{
	const char *value =
		http_head_get(&call->request->head, "authorization");
	size_t len;

	if (value == NULL || strncasecmp(value, "bearer ", 7) != 0)
		return NULL;
	value += 7 + strspn(value + 7, " ");
	len = strlen(value);
	return len == 0 || len > TOKEN_MAX ? NULL : value;
}

/*
 * The other side's reply: {"status": 201, "body": {...}}, or {"status": 409,
 * "code": "name-taken", "detail": "...", "retry_after": 180 (seconds, or none)}.
 */
static void finish(struct web_call *call, json_t *reply)
{
	json_int_t status = 503;
	json_int_t retry_after_s = 0;
	const char *code = NULL, *detail = NULL;
	json_t *body = NULL;

	if (reply == NULL ||
	    json_unpack(reply, "{s:I, s?o, s?s, s?s, s?I}", "status", &status,
			"body", &body, "code", &code, "detail", &detail,
			"retry_after", &retry_after_s) != 0) {
		reply_problem(call, 503, "shutdown",
			      "the server is about to end");
		return;
	}
	call->retry_after_s = (unsigned)retry_after_s;
	if (body != NULL)
		reply_json(call, (unsigned)status, json_incref(body));
	else
		reply_problem(call, (unsigned)status,
			      code == NULL ? "refused" : code, "%s",
			      detail == NULL ? "" : detail);
}

/* Only NAMES, all texts, are in BODY; false: refused. */
static bool check_fields(struct web_call *call, json_t *body,
			 const char *const *names)
{
	const char *field;
	json_t *value;

	json_object_foreach(body, field, value) {
		bool is_known = false;

		for (size_t i = 0; names[i] != NULL; i++)
			is_known |= strcmp(names[i], field) == 0;
		if (is_known && json_is_string(value))
			continue;
		reply_problem(call, 400, "bad-field", "%.64s: %s", field,
			      is_known ? "a text was expected"
				       : "there is no such field");
		return false;
	}
	return true;
}

void api_register(struct web_call *call)
{
	static const char *const fields[] = { "name", "invite", NULL };
	json_t *body = web_body(call), *name;
	const char *token;

	if (body == NULL)
		return;
	if (!check_fields(call, body, fields)) {
		json_decref(body);
		return;
	}
	name = json_object_get(body, "name");
	if (name == NULL) {
		json_decref(body);
		reply_problem(call, 400, "bad-field", "name: is missing");
		return;
	}
	token = bearer(call);
	(void)json_object_set_new(body, "do", json_string("register"));
	(void)json_object_set_new(body, "address",
				  json_string(call->request->address));
	if (token != NULL)
		(void)json_object_set_new(body, "token", json_string(token));
	web_ask(call, body, finish);
}

void api_rotate(struct web_call *call)
{
	const char *token = bearer(call);

	if (token == NULL) {
		reply_problem(call, 401, "no-token",
			      "Authorization: Bearer TOKEN is missing");
		return;
	}
	web_ask(call,
		json_pack("{s:s, s:s, s:s, s:s}", "do", "rotate", "bot",
			  call->args[0], "token", token, "address",
			  call->request->address),
		finish);
}
