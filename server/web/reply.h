/* SPDX-License-Identifier: MIT */
/*
 * reply.h - answers: JSON, text, problems (RFC 9457), with ETag, conditional
 * and compressed where the client says that it can. Each frees its call.
 */
#ifndef HILL_WEB_REPLY_H
#define HILL_WEB_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "server/web/route.h"

#define REPLY_JSON "application/json"
#define REPLY_TEXT "text/plain; charset=utf-8"
#define REPLY_LINES "application/x-ndjson"
/* What every reply says beside its type: nothing here is a page. */
#define REPLY_HEADERS                                     \
	"Cache-Control: no-cache\r\n"                     \
	"Access-Control-Allow-Origin: *\r\n"              \
	"X-Content-Type-Options: nosniff\r\n"             \
	"Content-Security-Policy: default-src 'none'\r\n" \
	"Vary: Accept-Encoding\r\n"

/* VALUE is taken over; NULL (out of memory) is a 500. */
void reply_json(struct web_call *call, unsigned status, json_t *value_take);
/* BYTES are borrowed for the call. */
void reply_bytes(struct web_call *call, unsigned status, const char *type,
		 const char *bytes, size_t len);

enum { REPLY_TAG_BYTES = 24 };

/* A reply made beforehand, with its tag and its compressed form. */
struct reply_ready {
	char *bytes; /* owned, as the next one: reply_ready_release() */
	size_t len;
	char *packed; /* gzip; NULL where that is no shorter */
	size_t packed_len;
	char tag[REPLY_TAG_BYTES];
};

/*
 * Any thread. BYTES (malloc's) are taken over. TO_PACK: its compressed form
 * may be asked for, too.
 */
void reply_ready_make(struct reply_ready *ready, char *bytes_take, size_t len,
		      bool to_pack);
/* Whether CALL's client takes a compressed reply. */
bool reply_may_pack(const struct web_call *call);
/* All zero is fine. */
void reply_ready_release(struct reply_ready *ready);
/*
 * Answer CALL with READY, which stays its owner's: 200, or 304; 500 where there
 * was no memory to make it.
 */
void reply_prepared(struct web_call *call, const char *type,
		    const struct reply_ready *ready);

/* One word CODE for programs, a sentence for people. */
void reply_problem(struct web_call *call, unsigned status, const char *code,
		   const char *format, ...) PRINTF_LIKE(4, 5);
/* What -errno of a store_web_* call comes to; TEXT is the store's. */
void reply_store_problem(struct web_call *call, int err, const char *text);
/* Likewise of a tournament, whose results may be under embargo (-EACCES). */
void reply_tournament_problem(struct web_call *call, int err, const char *text);
/* {NAME: LIST, "next": NEXT or null}; LIST is taken over. */
void reply_page(struct web_call *call, const char *name, json_t *list_take,
		int64_t next);
/* Begin a stream of TYPE; the call lives on. */
void reply_begin(struct web_call *call, const char *type);
/*
 * The answer to a HEAD for what reply_begin() would begin: without a length,
 * which is known only when all is made (RFC 9110, 9.3.2).
 */
void reply_only_head(struct web_call *call, const char *type);
/* For http_server_on_refusal. */
void reply_refusal(const struct http_refusal *refusal, struct buf *ret_headers,
		   struct buf *ret_body, void *arg);

#endif
