/* SPDX-License-Identifier: MIT */
#include "tests/unit/store/commands.h"

#include <stdlib.h>
#include <string.h>

#include "server/store/admin.h"
#include "tests/unit/unit.h"

json_t *command_ask(struct store *store, const char *text, bool *ret_changed)
{
	char *line = store_admin_text(store, text, strlen(text), ret_changed);
	json_t *reply = json_loads(line, 0, NULL);

	assert_non_null(reply);
	assert_null(strchr(line, '\n'));
	free(line);
	return reply;
}

json_t *command_accepted(struct store *store, const char *text)
{
	json_t *reply = command_ask(store, text, NULL);

	if (!json_is_true(json_object_get(reply, "ok")))
		fail_msg("%s: %s", text,
			 json_string_value(json_object_get(reply, "error")));
	return reply;
}

void command_accepts(struct store *store, const char *text)
{
	json_decref(command_accepted(store, text));
}

void command_refuses(struct store *store, const char *text, const char *says)
{
	json_t *reply = command_ask(store, text, NULL);
	const char *error = json_string_value(json_object_get(reply, "error"));

	if (error == NULL)
		fail_msg("accepted: %s", text);
	else if (strstr(error, says) == NULL)
		fail_msg("%s: %s", text, error);
	json_decref(reply);
}
