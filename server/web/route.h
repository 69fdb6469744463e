/* SPDX-License-Identifier: MIT */
/*
 * route.h - the table of all that can be asked, and the way from a request to
 * the function that answers it. A test holds the table against openapi.json.
 *
 * Parameters are checked before a handler runs: it may take them as they are.
 * An unknown parameter, and any value that does not fit, is refused.
 */
#ifndef HILL_WEB_ROUTE_H
#define HILL_WEB_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/web/http.h"

struct web_call;

enum route_kind {
	ROUTE_NAME,   /* text of 1..64 bytes */
	ROUTE_NUMBER, /* integer from min to max */
	ROUTE_TIME,   /* RFC 3339, UTC: 2026-11-29T23:19:13Z */
	ROUTE_WORD,   /* one of `words` */
	ROUTE_NKINDS
};

struct route_param {
	const char *name;
	enum route_kind kind;
	int64_t min, max;
	const char *words; /* "stored|void" */
};

enum { ROUTE_PARAMS_MAX = 16, ROUTE_ARGS_MAX = 3 };

struct route {
	enum http_method method; /* HTTP_GET also answers HEAD */
	const char *path; /* "/api/v1/bots/{bot}"; in braces: a parameter */
	void (*run)(struct web_call *call);
	const struct route_param *params; /* of the query; ended by NULL */
};

extern const struct route web_routes[];
extern const size_t web_nroutes;

/* The parameter that a path's {NAME} is. Never NULL for a name of ours. */
const struct route_param *route_path_param(const char *name, size_t len);

/* A request on its way through its handler, which owns it. */
struct web_call {
	struct web *web;              /* borrowed */
	struct http_request *request; /* owned until it is answered */
	const struct route *route;
	/* one for each {} of the path; ints for numbers */
	const char *args[ROUTE_ARGS_MAX];
	int64_t numbers[ROUTE_ARGS_MAX];
	int64_t values[ROUTE_PARAMS_MAX]; /* numbers and times of the query */
	/* told in a 429 or 503; 0: the usual one */
	unsigned retry_after_s;
	/* a stream's or a job's own */
	void *state;
};

/* Find the route of REQUEST and run it, or refuse. REQUEST is taken over. */
void route_dispatch(struct web *web, struct http_request *request);
/* The query's parameter NAME as text, or NULL. */
const char *call_text(const struct web_call *call, const char *name);
/* Its number, or its time in microseconds; FALLBACK when it is not there. */
int64_t call_number(const struct web_call *call, const char *name,
		    int64_t fallback);
/* Free CALL, after its request was answered. */
void call_free(struct web_call *call);

#endif
