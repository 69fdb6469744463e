/* SPDX-License-Identifier: MIT */
/*
 * http_head.h - the head of an HTTP/1 request, from bytes to a struct.
 *
 * Strict where two readers might see two things (RFC 9112, RFC 3986): no
 * folded lines, no blank before a colon, one Content-Length, no
 * Transfer-Encoding, no NUL or other control byte anywhere, no %00. What it
 * refuses it refuses with a status and a text for a person.
 *
 * Pure: no I/O, no clock. Any thread.
 */
#ifndef HILL_WEB_HTTP_HEAD_H
#define HILL_WEB_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"

enum {
	HTTP_HEAD_BYTES = 8192, /* request line and headers together */
	HTTP_HEADERS_MAX = 64,
	HTTP_TARGET_BYTES = 2048,
	HTTP_SEGMENTS_MAX = 12, /* of a path */
	HTTP_PARAMS_MAX = 24,   /* of a query */
};

enum http_method {
	HTTP_GET,
	HTTP_HEAD_ONLY, /* HEAD: the reply without its body */
	HTTP_POST,
	HTTP_OTHER, /* a good word that no route knows */
	HTTP_NMETHODS
};

struct http_pair {
	const char *name; /* headers: in lower case */
	const char *value;
};

struct http_head {
	enum http_method method;
	unsigned minor;     /* of HTTP/1.x */
	const char *target; /* as it came, for the log */
	/* the path's parts between slashes, decoded; "/" has none */
	const char *segments[HTTP_SEGMENTS_MAX];
	unsigned nsegments;
	struct http_pair params[HTTP_PARAMS_MAX]; /* decoded */
	unsigned nparams;
	struct http_pair headers[HTTP_HEADERS_MAX];
	unsigned nheaders;
	uint64_t body_len; /* Content-Length; 0 without one */
	bool has_length;
	bool is_last; /* the connection ends with the reply */
	bool wants_continue;
	char text[2 * HTTP_HEAD_BYTES]; /* what the pointers above point to */
};

struct http_refusal {
	unsigned status;
	const char *detail; /* static */
};

/*
 * The length of the head at the start of the LEN BYTES, its empty line
 * included, or 0 when it has not ended yet. *SEEN (at first 0) is how far it
 * was looked at before.
 */
size_t http_head_find(const char *bytes, size_t len, size_t *seen);
/*
 * Parse the head of LEN BYTES that http_head_find found into *RET, which keeps
 * a copy. 0, or -EINVAL with *RET_REFUSAL; then only `method` and `minor`
 * of *RET are good.
 */
int http_head_parse(const char *bytes, size_t len, struct http_head *ret,
		    struct http_refusal *ret_refusal) WARN_UNUSED;
/* The value of the header NAME (lower case), or NULL. */
const char *http_head_get(const struct http_head *head, const char *name);
/* The value of the query's parameter NAME, or NULL. */
const char *http_head_param(const struct http_head *head, const char *name);
/* Whether the list of words in a header holds WORD, letters' case aside. */
bool http_list_has(const char *list, const char *word);

#endif
