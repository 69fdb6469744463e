/* SPDX-License-Identifier: MIT */
#include "server/web/route.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/web/web_internal.h"

#define MICROSECONDS_MAX (INT64_C(253402300799) * 1000000) /* year 9999 */

/* clang-format off */
#define LIMIT   { "limit", ROUTE_NUMBER, 1, WEB_PAGE_MAX, NULL }
#define BEFORE  { "before", ROUTE_NUMBER, 1, INT64_MAX, NULL }
#define AFTER   { "after", ROUTE_NUMBER, 0, INT64_MAX, NULL }
#define LADDER  { "ladder", ROUTE_NAME, 0, 0, NULL }
#define GAME    { "game", ROUTE_NAME, 0, 0, NULL }
#define VERSION { "version", ROUTE_NAME, 0, 0, NULL }
#define END     { NULL, ROUTE_NKINDS, 0, 0, NULL }
#define FILTER                                             \
	{ "bot", ROUTE_NAME, 0, 0, NULL },                 \
	VERSION,                                           \
	{ "opponent", ROUTE_NAME, 0, 0, NULL },            \
	{ "map", ROUTE_NAME, 0, 0, NULL },                 \
	{ "reason", ROUTE_NAME, 0, 0, NULL },              \
	LADDER,                                            \
	GAME,                                              \
	{ "status", ROUTE_WORD, 0, 0, "stored|void" },     \
	{ "since", ROUTE_TIME, 0, MICROSECONDS_MAX, NULL }, \
	{ "until", ROUTE_TIME, 0, MICROSECONDS_MAX, NULL }

static const struct route_param none[] = { END };
static const struct route_param page[] = { BEFORE, LIMIT, END };
static const struct route_param onward[] = { AFTER, LIMIT, END };
static const struct route_param by_name[] = {
	{ "after", ROUTE_NAME, 0, 0, NULL }, LIMIT, END };
static const struct route_param standings[] = {
	AFTER, { "limit", ROUTE_NUMBER, 1, 1000, NULL },
	{ "versions", ROUTE_WORD, 0, 0, "all|active" }, END };
static const struct route_param history[] = {
	LADDER, VERSION, BEFORE, LIMIT, END };
static const struct route_param ladder[] = { LADDER, END };
static const struct route_param filter[] = { FILTER, BEFORE, LIMIT, END };
static const struct route_param whole[] = { FILTER, BEFORE, END };
static const struct route_param maps[] = { GAME, AFTER, LIMIT, END };
static const struct route_param grids[] = {
	{ "turn", ROUTE_NUMBER, 0, 1000000, NULL },
	{ "count", ROUTE_NUMBER, 1, 64, NULL }, END };

const struct route web_routes[] = {
	{ HTTP_GET, "/metrics", api_metrics, none },
	{ HTTP_GET, "/api/v1/health", api_health, none },
	{ HTTP_GET, "/api/v1/openapi.json", api_openapi, none },
	{ HTTP_GET, "/api/v1/announcements", api_announcements, none },
	{ HTTP_GET, "/api/v1/live", api_live, none },
	{ HTTP_GET, "/api/v1/ladders", api_ladders, none },
	{ HTTP_GET, "/api/v1/ladders/{ladder}", api_ladder, none },
	{ HTTP_GET, "/api/v1/ladders/{ladder}/standings", board_standings, standings },
	{ HTTP_GET, "/api/v1/bots", api_bots, by_name },
	{ HTTP_POST, "/api/v1/bots", api_register, none },
	{ HTTP_GET, "/api/v1/bots/{bot}", api_bot, none },
	{ HTTP_GET, "/api/v1/bots/{bot}/versions", api_versions, none },
	{ HTTP_GET, "/api/v1/bots/{bot}/history", api_history, history },
	{ HTTP_GET, "/api/v1/bots/{bot}/head-to-head", api_rivals, ladder },
	{ HTTP_POST, "/api/v1/bots/{bot}/token", api_rotate, none },
	{ HTTP_GET, "/api/v1/matches", api_matches, filter },
	{ HTTP_GET, "/api/v1/matches/{match}", api_match, none },
	{ HTTP_GET, "/api/v1/matches/{match}/transcript", api_transcript, none },
	{ HTTP_GET, "/api/v1/matches/{match}/notes", api_notes, none },
	{ HTTP_GET, "/api/v1/matches/{match}/record", api_record, none },
	{ HTTP_GET, "/api/v1/matches/{match}/grids", api_grids, grids },
	{ HTTP_GET, "/api/v1/maps", api_maps, maps },
	{ HTTP_GET, "/api/v1/maps/{game}/{map}", api_map, none },
	{ HTTP_GET, "/api/v1/tournaments", api_tournaments, page },
	{ HTTP_GET, "/api/v1/tournaments/{tournament}", api_tournament, none },
	{ HTTP_GET, "/api/v1/tournaments/{tournament}/matches", api_tournament_matches, onward },
	{ HTTP_GET, "/api/v1/tournaments/{tournament}/table", api_tournament_table, none },
	{ HTTP_GET, "/api/v1/export/matches.jsonl", api_export_lines, whole },
	{ HTTP_GET, "/api/v1/export/matches.csv", api_export_csv, whole },
	{ HTTP_GET, "/api/v1/export/standings/{ladder}/all.jsonl", api_board_lines, none },
	{ HTTP_GET, "/api/v1/export/standings/{ladder}/all.csv", api_board_csv, none },
	{ HTTP_GET, "/api/v1/events/matches", events_matches, ladder },
	{ HTTP_GET, "/api/v1/events/standings", events_standings, ladder },
};
/* clang-format on */

const size_t web_nroutes = sizeof(web_routes) / sizeof(web_routes[0]);

const struct route_param *route_path_param(const char *name, size_t len)
{
	static const struct route_param match = { "match", ROUTE_NUMBER, 1,
						  INT64_MAX, NULL };
	static const struct route_param text = { "", ROUTE_NAME, 0, 0, NULL };

	if (len == 5 && strncmp(name, "match", 5) == 0)
		return &match;
	return &text;
}

/* ---- values ---- */

static bool parse_number(const char *text, int64_t min, int64_t max,
			 int64_t *ret)
{
	size_t len = strlen(text);
	long long value;

	if (len == 0 || len > 19 || strspn(text, "0123456789") != len)
		return false;
	errno = 0;
	value = strtoll(text, NULL, 10);
	if (errno != 0 || value < min || value > max)
		return false;
	*ret = value;
	return true;
}

/* "2026-11-29T23:19:13Z", a fraction of at most 6 digits, or the day alone. */
static bool parse_time(const char *text, int64_t *ret)
{
	struct tm tm = { 0 };
	const char *rest = strptime(text, "%Y-%m-%d", &tm);
	int64_t micros = 0, unit = 100000;

	if (rest != NULL && *rest == 'T') {
		rest = strptime(rest, "T%H:%M:%S", &tm);
		if (rest != NULL && *rest == '.') {
			for (rest++; *rest >= '0' && *rest <= '9'; rest++) {
				micros += (*rest - '0') * unit;
				unit /= 10;
			}
		}
		if (rest == NULL || *rest++ != 'Z')
			return false;
	}
	if (rest == NULL || *rest != '\0' || tm.tm_year < 70 ||
	    tm.tm_year > 8099)
		return false;
	*ret = (int64_t)timegm(&tm) * 1000000 + micros;
	return true;
}

static bool is_word(const char *words, const char *text)
{
	size_t len = strlen(text);

	while (words != NULL) {
		const char *bar = strchr(words, '|');
		size_t word_len =
			bar == NULL ? strlen(words) : (size_t)(bar - words);

		if (word_len == len && strncmp(words, text, len) == 0)
			return true;
		words = bar == NULL ? NULL : bar + 1;
	}
	return false;
}

static bool parse_value(const struct route_param *param, const char *text,
			int64_t *ret)
{
	size_t len = strlen(text);

	switch (param->kind) {
	case ROUTE_NAME:
		return len > 0 && len <= LIMIT_NAME_BYTES;
	case ROUTE_NUMBER:
		return parse_number(text, param->min, param->max, ret);
	case ROUTE_TIME:
		return parse_time(text, ret);
	case ROUTE_WORD:
		return is_word(param->words, text);
	case ROUTE_NKINDS:
		break;
	}
	return false;
}

static const char *kind_text(const struct route_param *param)
{
	switch (param->kind) {
	case ROUTE_NAME:
		return "a text of 1 to 64 bytes";
	case ROUTE_NUMBER:
		return "an integer in its bounds";
	case ROUTE_TIME:
		return "a time like 2026-11-29T23:19:13Z";
	case ROUTE_WORD:
	case ROUTE_NKINDS:
		break;
	}
	return param->words == NULL ? "good" : param->words;
}

/* ---- the way ---- */

/* Whether the path of REQUEST is PATTERN; its arguments go to CALL. */
static bool fits(const char *pattern, const struct http_head *head,
		 struct web_call *call)
{
	unsigned nargs = 0, i;

	for (i = 0; *pattern == '/'; i++) {
		size_t len = strcspn(++pattern, "/");

		if (i == head->nsegments)
			return false;
		if (*pattern == '{') {
			call->args[nargs] = head->segments[i];
			if (!parse_value(route_path_param(pattern + 1, len - 2),
					 head->segments[i],
					 &call->numbers[nargs]))
				return false;
			nargs++;
		} else if (strlen(head->segments[i]) != len ||
			   strncmp(pattern, head->segments[i], len) != 0) {
			return false;
		}
		pattern += len;
	}
	return i == head->nsegments;
}

static const struct route_param *find_param(const struct route *route,
					    const char *name, unsigned *ret)
{
	for (unsigned i = 0; route->params[i].name != NULL; i++) {
		if (strcmp(route->params[i].name, name) == 0) {
			*ret = i;
			return &route->params[i];
		}
	}
	return NULL;
}

/* Check the query; false: refused. */
static bool check_query(struct web_call *call)
{
	const struct http_head *head = &call->request->head;

	for (unsigned i = 0; i < head->nparams; i++) {
		const struct http_pair *pair = &head->params[i];
		unsigned at;
		const struct route_param *param =
			find_param(call->route, pair->name, &at);

		if (param == NULL) {
			reply_problem(call, 400, "unknown-parameter",
				      "there is no parameter %.64s here",
				      pair->name);
			return false;
		}
		if (!parse_value(param, pair->value, &call->values[at])) {
			reply_problem(call, 400, "bad-parameter",
				      "%s: %.64s is not %s", param->name,
				      pair->value, kind_text(param));
			return false;
		}
	}
	return true;
}

static void refuse_method(struct web_call *call, bool gets, bool posts)
{
	struct http_response response = { .status = 405 };
	char headers[512];
	static const char body[] =
		"{\"type\":\"urn:hill:problem:method\",\"title\":\"Method Not "
		"Allowed\",\"status\":405,\"code\":\"method\",\"detail\":"
		"\"this address does not take that method\"}";

	(void)snprintf(headers, sizeof(headers), "%sAllow: %s%s%s\r\n",
		       REPLY_HEADERS, gets ? "GET, HEAD" : "",
		       gets && posts ? ", " : "", posts ? "POST" : "");
	response.headers = headers;
	response.type = "application/problem+json";
	response.body = body;
	response.len = sizeof(body) - 1;
	http_reply(call->request, &response);
	call_free(call);
}

void route_dispatch(struct web *web, struct http_request *request)
{
	struct web_call *call = xcalloc(1, sizeof(*call));
	bool gets = false, posts = false;

	call->web = web;
	call->request = request;
	for (size_t i = 0; i < web_nroutes; i++) {
		const struct route *route = &web_routes[i];
		enum http_method method = request->head.method;

		if (!fits(route->path, &request->head, call))
			continue;
		gets |= route->method == HTTP_GET;
		posts |= route->method == HTTP_POST;
		if (route->method != method &&
		    !(route->method == HTTP_GET && method == HTTP_HEAD_ONLY))
			continue;
		call->route = route;
		if (check_query(call))
			route->run(call);
		return;
	}
	if (gets || posts)
		refuse_method(call, gets, posts);
	else if (request->head.method == HTTP_OTHER)
		refuse_method(call, true, false);
	else
		reply_problem(call, 404, "not-found",
			      "there is nothing at this address; "
			      "/api/v1/openapi.json tells what there is");
}

const char *call_text(const struct web_call *call, const char *name)
{
	return http_head_param(&call->request->head, name);
}

int64_t call_number(const struct web_call *call, const char *name,
		    int64_t fallback)
{
	unsigned at;

	if (call_text(call, name) == NULL ||
	    find_param(call->route, name, &at) == NULL)
		return fallback;
	return call->values[at];
}

void call_free(struct web_call *call)
{
	free(call);
}
