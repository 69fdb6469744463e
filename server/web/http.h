/* SPDX-License-Identifier: MIT */
/*
 * http.h - HTTP/1.1 on libevent's bufferevents: connections, their bounds,
 * requests in, replies out.
 *
 * Why not evhttp. Tried with libevent 2.1.12 and evhttp_set_timeout(2),
 * evhttp_set_max_headers_size(), evhttp_set_max_body_size():
 *
 *  - Time. Each byte starts the time-out again: a head of one byte a second
 *    was still being read after 20 s, a body after 12 s.
 *  - Refusals. A method not allowed is answered 501, too long a head 400 and
 *    too long a body 413, in its own HTML each time; 2.1 has no hook for it
 *    (evhttp_set_errorcb comes with 2.2), and we owe RFC 9457 documents.
 *  - Bounds on connections. Accepting can rest (evhttp_bind_listener,
 *    evconnlistener_disable) and evhttp_set_bevcb counts births, but nothing
 *    tells of the end of a connection that has asked nothing.
 *  - Strictness. /bot/x%00 is handed to the function for /bot/x; two
 *    different Content-Lengths are taken, as are folded headers, a
 *    Transfer-Encoding of gzip and HTTP/1.1 without a Host.
 *
 * Each request goes to the handler, which owns it until it has answered it:
 * by http_reply(), now or later, or by http_begin() ... http_end(). Whether
 * the client is still there does not matter: where it is gone the answer goes
 * nowhere. So nobody ever holds a request without a connection in error.
 *
 *	               head, body            answered          all sent
 *	HTTP_READING -------------> HTTP_BUSY -------> HTTP_SENDING --------> ...
 *	     ^                                              | keep-alive
 *	     `----------------------------------------------'
 *	... close: HTTP_LINGERING (our FIN is out, what comes is thrown away, so
 *	that no reset overtakes the reply) -> freed
 *
 * One thread, that of the event base.
 */
#ifndef HILL_WEB_HTTP_H
#define HILL_WEB_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/address.h"
#include "server/base/alloc.h"
#include "server/base/buffer.h"
#include "server/web/http_head.h"

struct event_base;
struct http_conn;
struct http_server;

struct http_settings {
	unsigned connections_max;  /* beyond: accepting rests */
	unsigned per_address;      /* beyond: 503 and the end */
	uint32_t request_ms;       /* for a whole request, idle time included */
	uint32_t stall_ms;         /* a client takes nothing for so long: out */
	size_t body_bytes;         /* of a request */
	size_t output_bytes;       /* queued for all clients together */
	size_t output_per_address; /* of these */
	/* behind whom a request's address is that of X-Forwarded-For */
	struct address_list proxies;
};

struct http_error {
	char text[256]; /* no newline */
};

struct http_request {
	struct http_head head;
	char *body; /* owned; body_len bytes and a NUL */
	size_t body_len;
	char address[64]; /* the client's, without port: forwarded.h */
	uint8_t host[ADDRESS_BYTES]; /* whom it counts for: address_host() */
	/*
	 * Set by who streams; each may be NULL. Room is there again, or the
	 * client has gone: then http_end() follows, called by FN or later.
	 */
	void (*on_room)(struct http_request *request, void *arg);
	void (*on_gone)(struct http_request *request, void *arg);
	void *arg;
	/* ---- http.c's own ---- */
	struct http_conn *conn; /* NULL: the client is gone */
	bool is_chunked;
	bool is_streaming;
	bool is_answered;
};

/* What goes back. All borrowed for the call. */
struct http_response {
	unsigned status;
	const char *type;    /* Content-Type, or NULL */
	const char *headers; /* more, whole lines with CRLF; or NULL */
	const char *body;
	size_t len;
};

struct http_counts {
	unsigned open;     /* connections now */
	uint64_t accepted; /* since the start, as below */
	uint64_t refused;  /* for being too many of one address */
	uint64_t timeouts; /* too slow to ask, or to take what they asked for */
	uint64_t requests;
	uint64_t statuses[6]; /* by the first digit of the reply's status */
};

typedef void (*http_handler_fn)(struct http_request *request, void *arg);

/*
 * Requests go to HANDLER. *RET is the caller's: http_server_free. 0, -ENOMEM.
 */
int http_server_new(struct http_server **ret, struct event_base *base,
		    const struct http_settings *settings,
		    http_handler_fn handler, void *arg) WARN_UNUSED;
/*
 * Close all. Requests that are not answered yet must be, before or after;
 * NULL is fine.
 */
void http_server_free(struct http_server *server);
/*
 * Accept at HOST ("" for every address) and PORT ("0": the kernel chooses).
 * 0 or -errno with ERROR.
 */
int http_server_listen(struct http_server *server, const char *host,
		       const char *port, struct http_error *error) WARN_UNUSED;
/*
 * Of the I-th listener: "127.0.0.1:8080" in RET (64 bytes), and its port; 0
 * when there is none.
 */
unsigned http_server_address(const struct http_server *server, unsigned i,
			     char ret[64]);
void http_server_counts(const struct http_server *server,
			struct http_counts *ret);

/* Answer REQUEST, which is freed. */
void http_reply(struct http_request *request,
		const struct http_response *response);
/*
 * BYTES are kept in memory till REQUEST is answered, to make the answer from:
 * they count as if they waited for the client. False: it has no room for them
 * in its share, and they are not counted.
 */
bool http_hold(struct http_request *request, size_t bytes) WARN_UNUSED;
/*
 * Begin an answer of unknown length: the body of RESPONSE is its first part.
 */
void http_begin(struct http_request *request,
		const struct http_response *response);
/* The next part. Returns the bytes that wait for the client. */
size_t http_send(struct http_request *request, const char *bytes, size_t len);
/* The end of it; REQUEST is freed. */
void http_end(struct http_request *request);
/* Likewise, cut off: a client can tell that a part is missing. */
void http_abort(struct http_request *request);
/* The phrase of a status: "Not Found". */
const char *http_phrase(unsigned status);

/*
 * Made by who knows how refusals look: the reply to a request that cannot be
 * understood or served, with headers as in a response. Called with the
 * server's ARG.
 */
typedef void (*http_refuse_fn)(const struct http_refusal *refusal,
			       struct buf *ret_headers, struct buf *ret_body,
			       void *arg);
void http_server_on_refusal(struct http_server *server, http_refuse_fn fn);

#endif
