/* SPDX-License-Identifier: MIT */
/* http_conn.c - one connection: requests are read, replies written. */
#include "server/web/http_internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <event2/buffer.h>

#include "server/base/clock.h"
#include "server/web/forwarded.h"

enum {
	LINGER_US = 5000000, /* for a client that we have answered */
	SEND_S_MAX = 3600,   /* one reply, however slow its reader */
	READ_HIGH = 65536,   /* bytes read ahead of a connection */
	WRITE_LOW = 65536,   /* room is told below it */
	HEADERS_BYTES = 4096,
	BIG_BYTES = 65536, /* less is always sent */
};

static const struct http_refusal too_much = {
	503, "too much waits for slow clients already: try again later"
};

const char *http_phrase(unsigned status)
{
	static const struct {
		unsigned status;
		const char *phrase;
	} phrases[] = {
		{ 200, "OK" },
		{ 201, "Created" },
		{ 202, "Accepted" },
		{ 304, "Not Modified" },
		{ 400, "Bad Request" },
		{ 401, "Unauthorized" },
		{ 403, "Forbidden" },
		{ 404, "Not Found" },
		{ 405, "Method Not Allowed" },
		{ 406, "Not Acceptable" },
		{ 408, "Request Timeout" },
		{ 409, "Conflict" },
		{ 411, "Length Required" },
		{ 413, "Content Too Large" },
		{ 414, "URI Too Long" },
		{ 415, "Unsupported Media Type" },
		{ 417, "Expectation Failed" },
		{ 422, "Unprocessable Content" },
		{ 429, "Too Many Requests" },
		{ 431, "Request Header Fields Too Large" },
		{ 500, "Internal Server Error" },
		{ 503, "Service Unavailable" },
		{ 505, "HTTP Version Not Supported" },
	};

	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++)
		if (phrases[i].status == status)
			return phrases[i].phrase;
	return "Unknown";
}

/* ---- connections ---- */

/* Heads and bodies may hold tokens: nothing of them stays in memory. */
static void request_free(struct http_request *request)
{
	if (request == NULL)
		return;
	if (request->body != NULL)
		explicit_bzero(request->body, request->body_len);
	free(request->body);
	explicit_bzero(request, sizeof(*request));
	free(request);
}

/* Throw away the first LEN bytes of INPUT, likewise. */
static void drop_input(struct evbuffer *input, size_t len)
{
	enum { PARTS_MAX = 16 };
	struct evbuffer_iovec parts[PARTS_MAX];

	while (len > 0) {
		int count = evbuffer_peek(input, (ev_ssize_t)len, NULL, parts,
					  PARTS_MAX);
		size_t wiped = 0;

		for (int i = 0; i < count && i < PARTS_MAX; i++) {
			size_t left = len - wiped;
			size_t part = parts[i].iov_len < left ? parts[i].iov_len
							      : left;

			explicit_bzero(parts[i].iov_base, part);
			wiped += part;
		}
		if (wiped == 0 || evbuffer_drain(input, wiped) < 0)
			return;
		len -= wiped;
	}
}

static void drop_all_input(struct http_conn *conn)
{
	struct evbuffer *input = bufferevent_get_input(conn->bev);

	drop_input(input, evbuffer_get_length(input));
}

static void set_state(struct http_conn *conn, enum http_state state,
		      int64_t patience_us)
{
	conn->state = state;
	conn->until_us = clock_now_us() + patience_us;
}

/* Called with each change: the books are right at any time. */
static void on_output(struct evbuffer *output,
		      const struct evbuffer_cb_info *info, void *arg)
{
	struct http_conn *conn = arg;

	(void)info;
	http_conn_count(conn, evbuffer_get_length(output));
}

void http_conn_kill(struct http_conn *conn)
{
	struct http_server *server = conn->server;
	struct http_request *request = conn->request;
	bool is_asked = conn->state == HTTP_BUSY;

	if (conn->state == HTTP_DEAD)
		return;
	conn->state = HTTP_DEAD;
	conn->request = NULL;
	(void)evbuffer_remove_cb(bufferevent_get_output(conn->bev), on_output,
				 conn);
	http_conn_count(conn, 0);
	http_conn_hold(conn, 0);
	http_conn_set_client(conn, NULL);
	drop_all_input(conn);
	TAILQ_REMOVE(&server->conns, conn, link);
	TAILQ_INSERT_TAIL(&server->dead, conn, link);
	(void)bufferevent_disable(conn->bev, EV_READ | EV_WRITE);
	if (request != NULL && is_asked) {
		request->conn = NULL;
		if (request->on_gone != NULL)
			request->on_gone(request, request->arg);
	} else {
		request_free(request);
	}
}

void http_conn_push(struct http_conn *conn)
{
	struct evbuffer *output = bufferevent_get_output(conn->bev);

	/* The bufferevent keeps its front to itself between its own turns. */
	(void)evbuffer_unfreeze(output, 1);
	(void)evbuffer_write(output, bufferevent_getfd(conn->bev));
	(void)evbuffer_freeze(output, 1);
}

/* Half a close: the client may read on, what it still sends is dropped. */
static void conn_linger(struct http_conn *conn)
{
	(void)shutdown(bufferevent_getfd(conn->bev), SHUT_WR);
	set_state(conn, HTTP_LINGERING, LINGER_US);
	drop_all_input(conn);
	if (conn->has_eof)
		http_conn_kill(conn);
}

static void add_status(struct http_server *server, unsigned status)
{
	server->counts.statuses[status / 100 % 6]++;
}

static void conn_read_request(struct http_conn *conn);

/* The reply has been handed to the socket whole, or not yet. */
static void conn_sent(struct http_conn *conn)
{
	struct http_server *server = conn->server;

	if (conn->queued > 0)
		return;
	if (conn->is_last) {
		conn_linger(conn);
		return;
	}
	if (conn->is_proxy)
		http_conn_set_client(conn, conn->address);
	set_state(conn, HTTP_READING,
		  (int64_t)server->settings.request_ms * 1000);
	conn_read_request(conn);
}

/* ---- replies ---- */

static void put_head(struct http_conn *conn, const struct http_request *request,
		     const struct http_response *response, bool is_stream)
{
	struct evbuffer *output = bufferevent_get_output(conn->bev);

	add_status(conn->server, response->status);
	(void)evbuffer_add_printf(output, "HTTP/1.1 %u %s\r\n",
				  response->status,
				  http_phrase(response->status));
	if (response->type != NULL)
		(void)evbuffer_add_printf(output, "Content-Type: %s\r\n",
					  response->type);
	if (response->headers != NULL)
		(void)evbuffer_add(output, response->headers,
				   strlen(response->headers));
	if (is_stream && request->is_chunked)
		(void)evbuffer_add_printf(output,
					  "Transfer-Encoding: chunked\r\n");
	else if (!is_stream && response->status != 304)
		(void)evbuffer_add_printf(output, "Content-Length: %zu\r\n",
					  response->len);
	if (conn->is_last)
		(void)evbuffer_add_printf(output, "Connection: close\r\n");
	else if (request != NULL && request->head.minor == 0)
		(void)evbuffer_add_printf(output, "Connection: keep-alive\r\n");
	(void)evbuffer_add(output, "\r\n", 2);
}

/* The request is answered: what waits goes out, then the next one may come. */
static void conn_flush(struct http_conn *conn)
{
	conn->request = NULL;
	http_conn_hold(conn, 0);
	set_state(conn, HTTP_SENDING, (int64_t)SEND_S_MAX * 1000000);
	if (conn->queued == 0)
		conn_sent(conn);
}

static void wipe_sent(const void *bytes, size_t len, void *arg)
{
	(void)bytes;
	explicit_bzero(arg, len);
	free(arg);
}

/* What a POST is answered may be a token: wiped when it is sent. */
static void put_body(struct http_conn *conn, const struct http_request *request,
		     const struct http_response *response)
{
	struct evbuffer *output = bufferevent_get_output(conn->bev);
	void *copy;

	if (request->head.method == HTTP_HEAD_ONLY || response->status == 304)
		return;
	if (request->head.method != HTTP_POST || response->len == 0) {
		(void)evbuffer_add(output, response->body, response->len);
		return;
	}
	copy = xmalloc(response->len);
	memcpy(copy, response->body, response->len);
	if (evbuffer_add_reference(output, copy, response->len, wipe_sent,
				   copy) < 0)
		wipe_sent(copy, response->len, copy);
}

void http_reply(struct http_request *request,
		const struct http_response *response)
{
	struct http_conn *conn = request->conn;

	assert(!request->is_streaming);
	if (conn == NULL) {
		request_free(request);
		return;
	}
	if (response->len > BIG_BYTES &&
	    !http_conn_has_room(conn, response->len)) {
		http_conn_refuse(conn, &too_much);
		return;
	}
	put_head(conn, request, response, false);
	put_body(conn, request, response);
	conn_flush(conn);
	request_free(request);
}

bool http_hold(struct http_request *request, size_t bytes)
{
	struct http_conn *conn = request->conn;

	if (conn == NULL)
		return true;
	http_conn_hold(conn, 0);
	if (!http_conn_has_room(conn, bytes))
		return false;
	http_conn_hold(conn, bytes);
	return true;
}

void http_begin(struct http_request *request,
		const struct http_response *response)
{
	struct http_conn *conn = request->conn;

	request->is_streaming = true;
	request->is_chunked = request->head.minor == 1;
	if (conn == NULL)
		return;
	if (!request->is_chunked)
		conn->is_last = true;
	/* Its own bound is that the client takes something now and then. */
	conn->until_us = INT64_MAX;
	put_head(conn, request, response, true);
	if (response->len > 0)
		(void)http_send(request, response->body, response->len);
}

size_t http_send(struct http_request *request, const char *bytes, size_t len)
{
	struct http_conn *conn = request->conn;
	struct evbuffer *output;

	if (conn == NULL || len == 0)
		return conn == NULL ? 0 : conn->queued;
	output = bufferevent_get_output(conn->bev);
	if (request->head.method != HTTP_HEAD_ONLY) {
		if (request->is_chunked)
			(void)evbuffer_add_printf(output, "%zx\r\n", len);
		(void)evbuffer_add(output, bytes, len);
		if (request->is_chunked)
			(void)evbuffer_add(output, "\r\n", 2);
	}
	return conn->queued;
}

void http_end(struct http_request *request)
{
	struct http_conn *conn = request->conn;

	if (conn != NULL) {
		if (request->is_chunked &&
		    request->head.method != HTTP_HEAD_ONLY)
			(void)evbuffer_add(bufferevent_get_output(conn->bev),
					   "0\r\n\r\n", 5);
		conn_flush(conn);
	}
	request_free(request);
}

void http_abort(struct http_request *request)
{
	struct http_conn *conn = request->conn;

	if (conn != NULL) {
		conn->is_last = true;
		conn_flush(conn);
	}
	request_free(request);
}

void http_conn_refuse(struct http_conn *conn,
		      const struct http_refusal *refusal)
{
	struct http_server *server = conn->server;
	struct http_response response = { .status = refusal->status };
	struct buf headers = BUF_INIT(HEADERS_BYTES);
	struct buf body = BUF_INIT(HEADERS_BYTES);
	bool has_body = conn->request == NULL ||
			conn->request->head.method != HTTP_HEAD_ONLY;

	if (server->refuse != NULL) {
		server->refuse(refusal, &headers, &body, server->arg);
		response.headers = buf_text(&headers);
		response.type = "application/problem+json";
		response.body = buf_text(&body);
		response.len = body.len;
	}
	conn->is_last = true;
	put_head(conn, conn->request, &response, false);
	if (has_body)
		(void)evbuffer_add(bufferevent_get_output(conn->bev),
				   response.body, response.len);
	buf_release(&headers);
	buf_release(&body);
	request_free(conn->request);
	conn_flush(conn);
}

/* ---- requests ---- */

/*
 * Behind a proxy each client has its own share of everything. False: it has
 * more than that.
 */
static bool count_for_client(struct http_conn *conn)
{
	const struct http_server *server = conn->server;
	struct http_request *request = conn->request;
	char address[ADDRESS_TEXT_BYTES];

	(void)snprintf(request->address, sizeof(request->address), "%s",
		       conn->address);
	if (!conn->is_proxy || !forwarded_client(&server->settings.proxies,
						 &request->head, address))
		return true;
	(void)snprintf(request->address, sizeof(request->address), "%s",
		       address);
	http_conn_set_client(conn, address);
	return conn->client->nconns <= server->settings.per_address;
}

static void conn_hand_over(struct http_conn *conn)
{
	struct http_server *server = conn->server;
	struct http_request *request = conn->request;

	bool has_place = count_for_client(conn);

	server->counts.requests++;
	memcpy(request->host, conn->client->host, sizeof(request->host));
	request->conn = conn;
	conn->is_last = request->head.is_last;
	conn->state = HTTP_BUSY;
	conn->until_us = INT64_MAX;
	if (!has_place) {
		server->counts.refused++;
		http_conn_refuse(conn, &http_crowd);
	} else if (!http_conn_has_room(conn, 1)) {
		http_conn_refuse(conn, &too_much);
	} else {
		server->handler(request, server->arg);
	}
}

/* Empty lines before a request are harmless (RFC 9112, 2.2). */
static void skip_empty_lines(struct http_conn *conn, struct evbuffer *input)
{
	char c;

	while (conn->seen == 0 && evbuffer_copyout(input, &c, 1) == 1 &&
	       (c == '\r' || c == '\n'))
		(void)evbuffer_drain(input, 1);
}

static bool parse_head(struct http_conn *conn, struct evbuffer *input)
{
	size_t len = evbuffer_get_length(input);
	size_t most = len > HTTP_HEAD_BYTES ? HTTP_HEAD_BYTES : len;
	char *bytes = conn->server->head;
	struct http_refusal refusal = { 431, "the head is too long" };
	size_t head_len;
	int rc = -EINVAL;

	if (most == 0)
		return false;
	(void)evbuffer_copyout(input, bytes, most);
	head_len = http_head_find(bytes, most, &conn->seen);
	if (head_len == 0 && most < HTTP_HEAD_BYTES) {
		explicit_bzero(bytes, most);
		return false;
	}
	conn->seen = 0;
	conn->request = xcalloc(1, sizeof(*conn->request));
	conn->request->head.minor = 1;
	if (head_len > 0)
		rc = http_head_parse(bytes, head_len, &conn->request->head,
				     &refusal);
	explicit_bzero(bytes, most);
	if (rc == 0 &&
	    conn->request->head.body_len > conn->server->settings.body_bytes) {
		refusal = (struct http_refusal){ 413, "the body is too long" };
		rc = -EINVAL;
	}
	if (rc < 0) {
		http_conn_refuse(conn, &refusal);
		return false;
	}
	drop_input(input, head_len);
	conn->request->body_len = (size_t)conn->request->head.body_len;
	if (conn->request->head.wants_continue && conn->request->body_len > 0 &&
	    conn->request->head.minor == 1)
		(void)evbuffer_add_printf(bufferevent_get_output(conn->bev),
					  "HTTP/1.1 100 Continue\r\n\r\n");
	return true;
}

static void conn_read_request(struct http_conn *conn)
{
	struct evbuffer *input = bufferevent_get_input(conn->bev);
	struct http_request *request;

	if (conn->state != HTTP_READING)
		return;
	if (conn->request == NULL)
		skip_empty_lines(conn, input);
	if (conn->request == NULL && !parse_head(conn, input)) {
		if (conn->state == HTTP_READING && conn->has_eof)
			http_conn_kill(conn);
		return;
	}
	request = conn->request;
	if (evbuffer_get_length(input) < request->body_len) {
		if (conn->has_eof)
			http_conn_kill(conn);
		return;
	}
	request->body = xmalloc(request->body_len + 1);
	(void)evbuffer_copyout(input, request->body, request->body_len);
	drop_input(input, request->body_len);
	request->body[request->body_len] = '\0';
	conn_hand_over(conn);
}

/* ---- callbacks ---- */

static void on_read(struct bufferevent *bev, void *arg)
{
	struct http_conn *conn = arg;

	(void)bev;
	if (conn->state == HTTP_LINGERING ||
	    (conn->state == HTTP_SENDING && conn->is_last))
		drop_all_input(conn);
	else
		conn_read_request(conn);
	http_reap(conn->server);
}

static void on_write(struct bufferevent *bev, void *arg)
{
	struct http_conn *conn = arg;
	struct http_server *server = conn->server;
	struct http_request *request = conn->request;

	(void)bev;
	if (conn->state == HTTP_SENDING) {
		conn_sent(conn);
	} else if (conn->state == HTTP_BUSY && request != NULL &&
		   request->is_streaming) {
		if (request->on_room != NULL)
			request->on_room(request, request->arg);
	}
	http_reap(server);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	struct http_conn *conn = arg;
	struct http_server *server = conn->server;
	/* Who only waits for events is gone then; others are still sent to. */
	bool is_listening = conn->request != NULL &&
			    conn->request->is_streaming &&
			    conn->request->on_room == NULL;

	if (conn->state == HTTP_DEAD)
		return;
	if ((what & BEV_EVENT_TIMEOUT) != 0) {
		/* Only writing has a time-out of libevent's. */
		server->counts.timeouts++;
		http_conn_kill(conn);
	} else if ((what & BEV_EVENT_EOF) != 0 && !is_listening &&
		   conn->state != HTTP_LINGERING) {
		/* Half closed: who has asked may still hear the answer. */
		conn->has_eof = true;
		conn_read_request(conn);
		if (conn->state == HTTP_BUSY || conn->state == HTTP_SENDING)
			(void)bufferevent_enable(bev, EV_WRITE);
	} else {
		http_conn_kill(conn);
	}
	http_reap(server);
}

void http_conn_start(struct http_conn *conn)
{
	struct http_server *server = conn->server;
	struct timeval stall = { .tv_sec = server->settings.stall_ms / 1000,
				 .tv_usec = server->settings.stall_ms % 1000 *
					    1000 };

	http_conn_set_client(conn, conn->address);
	(void)evbuffer_add_cb(bufferevent_get_output(conn->bev), on_output,
			      conn);
	bufferevent_setcb(conn->bev, on_read, on_write, on_event, conn);
	bufferevent_setwatermark(conn->bev, EV_READ, 0,
				 server->settings.body_bytes + READ_HIGH);
	bufferevent_setwatermark(conn->bev, EV_WRITE, 0, 0);
	(void)bufferevent_set_timeouts(conn->bev, NULL, &stall);
	set_state(conn, HTTP_READING,
		  (int64_t)server->settings.request_ms * 1000);
	(void)bufferevent_enable(conn->bev, EV_READ | EV_WRITE);
	TAILQ_INSERT_TAIL(&server->conns, conn, link);
}
