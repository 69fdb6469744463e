/* SPDX-License-Identifier: MIT */
#include "server/web/reply.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "server/base/log.h"
#include "server/web/web_internal.h"

enum {
	GZIP_LEAST = 400, /* bytes; below it is not worth it */
	GZIP_LEVEL = 3,
	HEADERS_BYTES = 1024,
	DETAIL_BYTES = 640,
	RETRY_BYTES = 40,
	GZIP_WINDOW = 15 + 16, /* zlib's way to say gzip */
};

enum { RETRY_AFTER_S = 5 };

/* FNV-1a, 64 bits: tells replies apart, no more. */
static uint64_t digest(const char *bytes, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
	return hash;
}

/* Weak comparison (RFC 9110, 8.8.3.2), which is what a GET asks for. */
static bool is_known(const char *list, const char *tag)
{
	const char *quoted = tag + 2; /* after W/ */

	if (list == NULL)
		return false;
	return strcmp(list, "*") == 0 || strstr(list, quoted) != NULL;
}

static bool takes_gzip(const struct http_request *request)
{
	const char *accept = http_head_get(&request->head, "accept-encoding");

	/* "gzip; q=0.5": RFC 9110, 12.4.2 and 12.5.3. */
	while (accept != NULL) {
		size_t len;

		accept += strspn(accept, " \t,");
		len = strcspn(accept, " \t,;");
		if (len == 4 && strncasecmp(accept, "gzip", len) == 0) {
			accept += len + strspn(accept + len, " \t");
			if (*accept != ';')
				return true;
			accept++;
			accept += strspn(accept, " \t");
			return strncasecmp(accept, "q=", 2) != 0 ||
			       strtod(accept + 2, NULL) > 0;
		}
		accept = strchr(accept, ',');
	}
	return false;
}

/* BYTES as gzip in a buffer of malloc's; NULL when it does not get smaller. */
static char *compress_bytes(const char *bytes, size_t len, size_t *ret_len)
{
	z_stream stream = { 0 };
	char *packed = malloc(len);
	int rc = Z_BUF_ERROR;

	if (packed == NULL)
		return NULL;
	if (deflateInit2(&stream, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 8,
			 Z_DEFAULT_STRATEGY) == Z_OK) {
		stream.next_in = (Bytef *)(uintptr_t)bytes;
		stream.avail_in = (uInt)len;
		stream.next_out = (Bytef *)packed;
		stream.avail_out = (uInt)len;
		rc = deflate(&stream, Z_FINISH);
		*ret_len = stream.total_out;
		(void)deflateEnd(&stream);
	}
	if (rc != Z_STREAM_END) {
		free(packed);
		return NULL;
	}
	return packed;
}

static void make_tag(const char *bytes, size_t len, char ret[REPLY_TAG_BYTES])
{
	(void)snprintf(ret, REPLY_TAG_BYTES, "W/\"%016" PRIx64 "\"",
		       digest(bytes, len));
}

static void put_retry(unsigned seconds, char ret[RETRY_BYTES])
{
	(void)snprintf(ret, RETRY_BYTES, "Retry-After: %u\r\n",
		       seconds > 0 ? seconds : (unsigned)RETRY_AFTER_S);
}

/* Answer with READY as it is: what it has of a compressed form is sent. */
static void send_ready(struct web_call *call, unsigned status, const char *type,
		       const struct reply_ready *ready)
{
	struct http_request *request = call->request;
	const char *known = http_head_get(&request->head, "if-none-match");
	char headers[HEADERS_BYTES];
	char retry[RETRY_BYTES] = "";
	struct http_response response = { status, type, headers, ready->bytes,
					  ready->len };
	bool is_packed = ready->packed != NULL;

	if (status == 200 && request->head.method != HTTP_POST &&
	    is_known(known, ready->tag)) {
		response.status = 304;
		response.len = 0;
		is_packed = false;
	} else if (is_packed) {
		response.body = ready->packed;
		response.len = ready->packed_len;
	}
	if (status == 503 || status == 429)
		put_retry(call->retry_after_s, retry);
	(void)snprintf(headers, sizeof(headers), "%s%s%s%s%s%s", REPLY_HEADERS,
		       status == 200 ? "ETag: " : "",
		       status == 200 ? ready->tag : "",
		       status == 200 ? "\r\n" : "",
		       is_packed ? "Content-Encoding: gzip\r\n" : "",
		       status == 401 ? "WWW-Authenticate: Bearer\r\n" : retry);
	http_reply(request, &response);
	call_free(call);
}

void reply_bytes(struct web_call *call, unsigned status, const char *type,
		 const char *bytes, size_t len)
{
	struct http_request *request = call->request;
	const char *known = http_head_get(&request->head, "if-none-match");
	struct reply_ready ready = { .bytes = (char *)(uintptr_t)bytes,
				     .len = len };

	make_tag(bytes, len, ready.tag);
	if (len >= GZIP_LEAST && takes_gzip(request) &&
	    !(status == 200 && is_known(known, ready.tag)))
		ready.packed = compress_bytes(bytes, len, &ready.packed_len);
	send_ready(call, status, type, &ready);
	free(ready.packed);
}

bool reply_may_pack(const struct web_call *call)
{
	return takes_gzip(call->request);
}

void reply_ready_make(struct reply_ready *ready, char *bytes_take, size_t len,
		      bool to_pack)
{
	memset(ready, 0, sizeof(*ready));
	ready->bytes = bytes_take;
	ready->len = len;
	make_tag(bytes_take, len, ready->tag);
	if (to_pack && len >= GZIP_LEAST)
		ready->packed =
			compress_bytes(bytes_take, len, &ready->packed_len);
}

void reply_ready_release(struct reply_ready *ready)
{
	free(ready->bytes);
	free(ready->packed);
	memset(ready, 0, sizeof(*ready));
}

void reply_prepared(struct web_call *call, const char *type,
		    const struct reply_ready *ready)
{
	struct reply_ready mine = *ready;

	if (mine.bytes == NULL) {
		reply_problem(call, 500, "out-of-memory",
			      "there is no memory for this reply");
		return;
	}
	if (!takes_gzip(call->request))
		mine.packed = NULL;
	send_ready(call, 200, type, &mine);
}

void reply_json(struct web_call *call, unsigned status, json_t *value_take)
{
	char *text =
		value_take == NULL
			? NULL
			: json_dumps(value_take,
				     JSON_COMPACT | JSON_REAL_PRECISION(15));

	json_decref(value_take);
	if (text == NULL) {
		reply_problem(call, 500, "out-of-memory",
			      "there is no memory for this reply");
		return;
	}
	reply_bytes(call, status, REPLY_JSON, text, strlen(text));
	/* What was made is a token. */
	if (status == 201)
		explicit_bzero(text, strlen(text));
	free(text);
}

static char *problem_text(unsigned status, const char *code, const char *detail)
{
	json_t *problem;
	char *text;

	problem = json_pack("{s:s+, s:s, s:I, s:s, s:s}", "type",
			    "urn:hill:problem:", code, "title",
			    http_phrase(status), "status", (json_int_t)status,
			    "code", code, "detail", detail);
	text = problem == NULL ? NULL : json_dumps(problem, JSON_COMPACT);
	json_decref(problem);
	return text == NULL ? xstrdup("{}") : text;
}

void reply_problem(struct web_call *call, unsigned status, const char *code,
		   const char *format, ...)
{
	char detail[DETAIL_BYTES];
	va_list args;
	char *text;

	va_start(args, format);
	(void)vsnprintf(detail, sizeof(detail), format, args);
	va_end(args);
	/* What a client sent may be no UTF-8, and cut anywhere. */
	for (char *c = detail; *c != '\0'; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	text = problem_text(status, code, detail);
	reply_bytes(call, status, "application/problem+json", text,
		    strlen(text));
	free(text);
}

void reply_store_problem(struct web_call *call, int err, const char *text)
{
	if (err == -ENOENT) {
		reply_problem(call, 404, "not-found", "%s", text);
	} else if (err == -EACCES) {
		reply_problem(call, 403, "not-yet", "%s", text);
	} else if (err == -ECANCELED) {
		reply_problem(call, 503, "shutdown",
			      "the server is about to end");
	} else {
		/* Names of files are the host's business. */
		log_error("event=web_read_failed path=%s reason=\"%s\"",
			  call->route->path, text);
		reply_problem(call, 503, "store",
			      "the database cannot be read just now");
	}
}

void reply_tournament_problem(struct web_call *call, int err, const char *text)
{
	if (err == -EACCES)
		reply_problem(call, 403, "under-embargo", "%s", text);
	else
		reply_store_problem(call, err, text);
}

void reply_page(struct web_call *call, const char *name, json_t *list_take,
		int64_t next)
{
	reply_json(call, 200,
		   json_pack("{s:o, s:o}", name, list_take, "next",
			     next == 0 ? json_null() : json_integer(next)));
}

void reply_begin(struct web_call *call, const char *type)
{
	struct http_response response = { 200, type, REPLY_HEADERS, NULL, 0 };

	http_begin(call->request, &response);
}

void reply_only_head(struct web_call *call, const char *type)
{
	struct http_request *request = call->request;

	reply_begin(call, type);
	http_end(request);
	call_free(call);
}

void reply_refusal(const struct http_refusal *refusal, struct buf *ret_headers,
		   struct buf *ret_body, void *arg)
{
	char *text =
		problem_text(refusal->status,
			     refusal->status == 503 ? "busy" : "bad-request",
			     refusal->detail);
	char retry[RETRY_BYTES];

	(void)arg;
	buf_add_text(ret_headers, REPLY_HEADERS);
	if (refusal->status == 503) {
		put_retry(0, retry);
		buf_add_text(ret_headers, retry);
	}
	buf_add_text(ret_body, text);
	free(text);
}
