/* SPDX-License-Identifier: MIT */
/* api_server.c - the server itself: health, what it can do, figures, live. */
#include <stdlib.h>
#include <string.h>

#include "server/base/clock.h"
#include "server/web/web_internal.h"

enum {
	METRICS_BYTES = 1024 * 1024,
	REASON_BYTES = 1024,
	FED_US = 10 * 1000000, /* older: the bots' loop does not feed us */
};

void api_health(struct web_call *call)
{
	struct web *web = call->web;
	struct store_error error;
	int64_t stamp;
	bool can_read = store_web_stamp(web->store, &stamp, &error) == 0;
	bool is_fed = web->fed_us != 0 && clock_now_us() - web->fed_us < FED_US;
	bool is_young = clock_wall_us() - web->started_us < FED_US;
	struct buf reason = BUF_INIT(REASON_BYTES);
	bool is_well;

	if (!can_read)
		buf_add_text(&reason, "the database cannot be read");
	else if (!is_fed && !is_young)
		buf_add_text(&reason, "the bots' loop does not answer");
	else if (web->feed.store_trouble != NULL)
		buf_add_format(&reason, "results cannot be stored: %s",
			       web->feed.store_trouble);
	is_well = reason.len == 0;
	reply_json(call, is_well ? 200 : 503,
		   json_pack("{s:s, s:s?, s:s, s:b, s:b, s:b, s:o}", "status",
			     is_well ? "ok" : "failing", "reason",
			     is_well ? NULL : buf_text(&reason), "version",
			     web->settings.version, "database", can_read,
			     "store", web->feed.store_trouble == NULL, "loop",
			     is_fed, "started",
			     store_web_time(web->started_us)));
	buf_release(&reason);
}

void api_openapi(struct web_call *call)
{
	reply_bytes(call, 200, REPLY_JSON, web_openapi, web_openapi_len);
}

void api_live(struct web_call *call)
{
	const char *live = call->web->feed.live;

	if (live == NULL)
		live = "{\"count\":0,\"matches\":[]}";
	reply_bytes(call, 200, REPLY_JSON, live, strlen(live));
}

static void add_number(struct buf *out, const char *name, const char *type,
		       const char *help, uint64_t value)
{
	buf_add_format(out, "# HELP %s %s\n# TYPE %s %s\n%s ", name, help, name,
		       type, name);
	buf_add_u64(out, value);
	buf_add_char(out, '\n');
}

static void add_own(struct web *web, struct buf *out)
{
	struct http_counts counts;

	http_server_counts(web->http, &counts);
	add_number(out, "hill_http_connections", "gauge",
		   "HTTP connections that are open", counts.open);
	add_number(out, "hill_http_accepted_total", "counter",
		   "HTTP connections since the start", counts.accepted);
	add_number(out, "hill_http_refused_total", "counter",
		   "HTTP connections beyond the bound of their address",
		   counts.refused);
	add_number(out, "hill_http_timeouts_total", "counter",
		   "HTTP clients that were too slow", counts.timeouts);
	add_number(out, "hill_http_requests_total", "counter",
		   "HTTP requests that were understood", counts.requests);
	buf_add_text(out, "# HELP hill_http_replies_total replies by the first "
			  "digit of their status\n"
			  "# TYPE hill_http_replies_total counter\n");
	for (unsigned i = 2; i <= 5; i++)
		buf_add_format(out,
			       "hill_http_replies_total{status=\"%uxx\"} "
			       "%llu\n",
			       i, (unsigned long long)counts.statuses[i]);
	add_number(out, "hill_http_subscribers", "gauge",
		   "clients that listen to events", web->nsubscribers);
	add_number(out, "hill_http_subscribers_dropped_total", "counter",
		   "of them, cut off for being slow", web->dropped_subscribers);
	add_number(out, "hill_http_jobs", "gauge",
		   "requests that wait for the worker", web->njobs);
}

void api_metrics(struct web_call *call)
{
	struct web *web = call->web;
	struct buf out = BUF_INIT(METRICS_BYTES);

	if (web->feed.metrics != NULL)
		buf_add_text(&out, web->feed.metrics);
	add_own(web, &out);
	reply_bytes(call, 200, "text/plain; version=0.0.4; charset=utf-8",
		    buf_text(&out), out.len);
	buf_release(&out);
}
