/* SPDX-License-Identifier: MIT */
/* api_read.c - handlers that read one thing or one page from the database. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/web/web_internal.h"

static unsigned limit_of(const struct web_call *call)
{
	return (unsigned)call_number(call, "limit", WEB_PAGE);
}

static void reply_list(struct web_call *call, int err, const char *name,
		       json_t *list, const struct store_error *error)
{
	if (err < 0)
		reply_store_problem(call, err, error->text);
	else
		reply_json(call, 200, json_pack("{s:o}", name, list));
}

static void reply_one(struct web_call *call, int err, json_t *value,
		      const struct store_error *error)
{
	if (err < 0)
		reply_store_problem(call, err, error->text);
	else
		reply_json(call, 200, value);
}

/* ---- ladders ---- */

void api_ladders(struct web_call *call)
{
	struct store_error error;
	json_t *list = NULL;
	int err = store_web_ladders(call->web->store, &list, &error);

	reply_list(call, err, "ladders", list, &error);
}

void api_ladder(struct web_call *call)
{
	struct store_error error;
	json_t *list = NULL, *ladder;
	size_t i;
	int err = store_web_ladders(call->web->store, &list, &error);

	if (err < 0) {
		reply_store_problem(call, err, error.text);
		return;
	}
	json_array_foreach(list, i, ladder) {
		const char *name =
			json_string_value(json_object_get(ladder, "name"));

		if (name != NULL && strcmp(name, call->args[0]) == 0) {
			reply_json(call, 200, json_incref(ladder));
			json_decref(list);
			return;
		}
	}
	json_decref(list);
	reply_problem(call, 404, "not-found", "there is no ladder %s",
		      call->args[0]);
}

/* ---- bots ---- */

void api_bots(struct web_call *call)
{
	unsigned limit = limit_of(call);
	struct store_error error;
	json_t *list = NULL, *next = NULL;
	int err = store_web_bots(call->web->store, call_text(call, "after"),
				 limit, &list, &error);

	if (err < 0) {
		reply_store_problem(call, err, error.text);
		return;
	}
	if (json_array_size(list) == limit)
		next = json_object_get(json_array_get(list, limit - 1), "name");
	reply_json(call, 200,
		   json_pack("{s:o, s:O?}", "bots", list, "next", next));
}

void api_bot(struct web_call *call)
{
	struct store_error error;
	json_t *bot = NULL;
	int err = store_web_bot(call->web->store, call->args[0], &bot, &error);

	if (err == 0)
		(void)json_object_set_new(
			bot, "standings",
			boards_of_bot(call->web, call->args[0]));
	reply_one(call, err, bot, &error);
}

void api_versions(struct web_call *call)
{
	struct store_error error;
	json_t *list = NULL;
	int err = store_web_versions(call->web->store, call->args[0], &list,
				     &error);

	reply_list(call, err, "versions", list, &error);
}

void api_history(struct web_call *call)
{
	struct store_error error;
	json_t *list = NULL;
	int64_t next = 0;
	int err = store_web_history(
		call->web->store, call->args[0], call_text(call, "ladder"),
		call_text(call, "version"), call_number(call, "before", 0),
		limit_of(call), &list, &next, &error);

	if (err < 0)
		reply_store_problem(call, err, error.text);
	else
		reply_page(call, "changes", list, next);
}

/* ---- matches ---- */

void api_filter(const struct web_call *call, struct web_filter *ret)
{
	*ret = (struct web_filter){
		.bot = call_text(call, "bot"),
		.version = call_text(call, "version"),
		.opponent = call_text(call, "opponent"),
		.map = call_text(call, "map"),
		.reason = call_text(call, "reason"),
		.ladder = call_text(call, "ladder"),
		.game = call_text(call, "game"),
		.status = call_text(call, "status"),
		.since_us = call_number(call, "since", 0),
		.until_us = call_number(call, "until", 0),
		.before = call_number(call, "before", 0),
		.limit = limit_of(call),
	};
}

void api_matches(struct web_call *call)
{
	struct web_filter filter;
	struct store_error error;
	json_t *list = NULL;
	int64_t next = 0;
	int err;

	api_filter(call, &filter);
	if (filter.version != NULL && filter.bot == NULL) {
		reply_problem(call, 400, "bad-parameter",
			      "version: of which bot?");
		return;
	}
	err = store_web_matches(call->web->store, &filter, &list, &next,
				&error);
	if (err < 0)
		reply_store_problem(call, err, error.text);
	else
		reply_page(call, "matches", list, next);
}

void api_match(struct web_call *call)
{
	struct store_error error;
	json_t *match = NULL;
	int err = store_web_match(call->web->store, call->numbers[0], &match,
				  &error);

	reply_one(call, err, match, &error);
}

/* ---- maps ---- */

void api_maps(struct web_call *call)
{
	struct store_error error;
	json_t *list = NULL;
	int64_t next = 0;
	int err = store_web_maps(call->web->store, call_text(call, "game"),
				 call_number(call, "after", 0), limit_of(call),
				 &list, &next, &error);

	if (err < 0)
		reply_store_problem(call, err, error.text);
	else
		reply_page(call, "maps", list, next);
}

/* ---- tournaments ---- */

void api_tournaments(struct web_call *call)
{
	struct store_error error;
	json_t *list = NULL;
	int64_t next = 0;
	int err = store_web_tournaments(call->web->store,
					call_number(call, "before", 0),
					limit_of(call), &list, &next, &error);

	if (err < 0)
		reply_store_problem(call, err, error.text);
	else
		reply_page(call, "tournaments", list, next);
}

void api_tournament(struct web_call *call)
{
	struct store_error error;
	json_t *tournament = NULL;
	int err = store_web_tournament(call->web->store, call->args[0],
				       &tournament, &error);

	reply_one(call, err, tournament, &error);
}

void api_tournament_matches(struct web_call *call)
{
	struct store_error error;
	json_t *list = NULL;
	int64_t next = 0;
	int err = store_web_tournament_matches(
		call->web->store, call->args[0], call_number(call, "after", 0),
		limit_of(call), &list, &next, &error);

	if (err < 0)
		reply_tournament_problem(call, err, error.text);
	else
		reply_page(call, "matches", list, next);
}

void api_announcements(struct web_call *call)
{
	struct store_error error;
	json_t *list = NULL;
	int err = store_web_announcements(call->web->store, &list, &error);

	reply_list(call, err, "announcements", list, &error);
}
