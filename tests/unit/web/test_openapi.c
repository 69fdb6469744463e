/* SPDX-License-Identifier: MIT */
/* The table of routes and openapi.json say the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "server/web/web_internal.h"
#include "tests/unit/unit.h"

static json_t *document(void)
{
	json_error_t error;
	json_t *root = json_loadb(web_openapi, web_openapi_len,
				  JSON_REJECT_DUPLICATES, &error);

	if (root == NULL)
		fail_msg("openapi.json: %s", error.text);
	return root;
}

static json_t *operation(json_t *root, const struct route *route)
{
	json_t *path =
		json_object_get(json_object_get(root, "paths"), route->path);
	json_t *found = json_object_get(
		path, route->method == HTTP_POST ? "post" : "get");

	if (found == NULL)
		fail_msg("%s is in no document", route->path);
	return found;
}

static json_t *find_param(json_t *op, const char *name, const char *where)
{
	json_t *param;
	size_t i;

	json_array_foreach(json_object_get(op, "parameters"), i, param) {
		if (strcmp(json_string_value(json_object_get(param, "name")),
			   name) == 0 &&
		    strcmp(json_string_value(json_object_get(param, "in")),
			   where) == 0)
			return json_object_get(param, "schema");
	}
	fail_msg("parameter %s is in no document", name);
	return NULL;
}

static const char *text_of(json_t *schema, const char *field)
{
	const char *text = json_string_value(json_object_get(schema, field));

	return text == NULL ? "" : text;
}

static void check_param(json_t *op, const struct route_param *param,
			const char *name, const char *where)
{
	json_t *schema = find_param(op, name, where), *word;
	char words[128] = "";
	size_t i;

	switch (param->kind) {
	case ROUTE_NAME:
		assert_string_equal(text_of(schema, "type"), "string");
		assert_int_equal(json_integer_value(
					 json_object_get(schema, "maxLength")),
				 LIMIT_NAME_BYTES);
		break;
	case ROUTE_NUMBER:
		assert_string_equal(text_of(schema, "type"), "integer");
		assert_true(json_integer_value(json_object_get(
				    schema, "minimum")) == param->min);
		assert_true(json_integer_value(json_object_get(
				    schema, "maximum")) == param->max);
		break;
	case ROUTE_TIME:
		assert_string_equal(text_of(schema, "format"), "date-time");
		break;
	case ROUTE_WORD:
		json_array_foreach(json_object_get(schema, "enum"), i, word) {
			if (i > 0)
				(void)strcat(words, "|");
			(void)strcat(words, json_string_value(word));
		}
		assert_string_equal(words, param->words);
		break;
	case ROUTE_NKINDS:
		fail();
	}
}

/* How many parameters ROUTE has; each is checked. */
static size_t check_params(json_t *op, const struct route *route)
{
	const char *brace = route->path;
	size_t count = 0;
	char name[LIMIT_NAME_BYTES];

	for (; (brace = strchr(brace, '{')) != NULL; count++) {
		size_t len = strcspn(++brace, "}");

		(void)snprintf(name, sizeof(name), "%.*s", (int)len, brace);
		check_param(op, route_path_param(brace, len), name, "path");
	}
	for (size_t i = 0; route->params[i].name != NULL; i++, count++)
		check_param(op, &route->params[i], route->params[i].name,
			    "query");
	return count;
}

static void every_route_is_documented(void **state)
{
	json_t *root = document();

	(void)state;
	for (size_t i = 0; i < web_nroutes; i++) {
		json_t *op = operation(root, &web_routes[i]);

		assert_int_equal(
			check_params(op, &web_routes[i]),
			json_array_size(json_object_get(op, "parameters")));
	}
	json_decref(root);
}

static void nothing_else_is_documented(void **state)
{
	json_t *root = document(), *path, *op;
	const char *name, *method;
	size_t count = 0;

	(void)state;
	json_object_foreach(json_object_get(root, "paths"), name, path)
		json_object_foreach(path, method, op)
			count++;
	assert_int_equal(count, web_nroutes);
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_route_is_documented),
		cmocka_unit_test(nothing_else_is_documented),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
