/* SPDX-License-Identifier: MIT */
/*
 * web_internal.h - what the parts of web/ share. All of it belongs to web's
 * thread, but for jobs, while a worker has them.
 *
 *	web.c       the thread, its mail, jobs, birth and death
 *	http.c      connections; http_head.c their requests; reply.c answers
 *	route.c     the table; api_*.c its handlers, by what they are about
 *	board.c     standings, put in order once and served from memory
 *	stream.c    long answers, made as the client takes them
 *	events.c    server-sent events
 */
#ifndef HILL_WEB_WEB_INTERNAL_H
#define HILL_WEB_WEB_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>

#include <event2/event.h>

#include "server/base/mailbox.h"
#include "server/base/pool.h"
#include "server/store/web.h"
#include "server/web/http.h"
#include "server/web/reply.h"
#include "server/web/route.h"
#include "server/web/web.h"

enum {
	WEB_JOBS_MAX = 64,         /* of clients, that wait for the worker */
	WEB_JOBS_SHARE = 8,        /* an address has so many of them, at most */
	WEB_COMMANDS_MAX = 64,     /* that wait for the loop's answer */
	WEB_SUBSCRIBERS_MAX = 256, /* clients of events */
	WEB_SAVED_MAX = 4096,      /* matches that an event can go on from */
	WEB_BODY_BYTES = 65536,
	WEB_OUTPUT_BYTES = 64 * 1024 * 1024,
	WEB_OUTPUT_SHARE = 8, /* an address has so much of it, at most */
	WEB_PAGE_MAX = 200,   /* lines of one page */
	WEB_PAGE = 50,        /* unless the client says more or less */
};

struct board;
struct subscriber;
struct grid_cache;
struct table_cache;

/*
 * Work for the worker; FINISH runs on web's thread and frees it. What nobody
 * waits for any more, as its client has gone or the program ends, is not done:
 * it finishes with -ECANCELED.
 */
struct web_job {
	struct pool_job job; /* first */
	struct web *web;     /* borrowed; workers use `worker`, `is_ending` */
	/* ---- web.c's own ---- */
	LIST_ENTRY(web_job) link;
	struct http_request *request; /* borrowed; NULL: nobody's, or all's */
	uint8_t host[ADDRESS_BYTES];  /* whom it counts for ... */
	bool is_counted;              /* ... if it does */
	atomic_bool is_unwanted;      /* the client has gone */
	/* ---- the job's ---- */
	int rc; /* of WORK: 0 or -errno with `error` */
	struct store_error error;
	void (*work)(struct web_job *job);
	void (*finish)(struct web_job *job);
};

/* A command that the writing side has not answered yet. */
struct web_command {
	LIST_ENTRY(web_command) link;
	uint64_t id;
	struct web_call *call; /* owned */
	void (*finish)(struct web_call *call, json_t *reply);
};

struct web {
	struct event_base *base; /* owned */
	struct http_server *http;
	struct store *store;  /* owned; of web's thread */
	struct store *worker; /* owned; of the worker */
	struct pool *pool;
	struct mailbox inbox; /* from other threads: feeds, answers, the end */
	struct mailbox done;  /* jobs that the worker has finished */
	struct event *inbox_ev, *done_ev, *second_ev; /* owned */
	struct web_settings settings;
	char *database; /* owned */
	pthread_t thread;
	bool is_running;
	bool is_stopping;
	atomic_bool is_ending;     /* any thread reads it */
	LIST_HEAD(, web_job) jobs; /* borrowed; submitted and not finished */
	unsigned njobs;            /* of clients */
	int64_t started_us;        /* wall clock */

	struct web_feed feed; /* the last one; `saved` is used up */
	int64_t fed_us;       /* when it came, monotonic */
	int64_t stamp;        /* of the database, as last looked at */
	LIST_HEAD(, board) boards;
	bool has_boards_job;    /* the worker makes new ones */
	int64_t boards_us;      /* when they were last made, monotonic */
	int64_t boards_rest_us; /* not before that are they made again */

	LIST_HEAD(, subscriber) subscribers;
	unsigned nsubscribers;
	int64_t saved[WEB_SAVED_MAX]; /* matches as they were stored: a ring */
	uint64_t nsaved;              /* the next one's place in it, modulo */
	uint64_t ntold;               /* the next one's that is told */
	struct event *events_ev;      /* owned; goes on with that */
	int64_t heartbeat_us;
	uint64_t dropped_subscribers;
	LIST_HEAD(, web_command) commands;
	unsigned ncommands;
	uint64_t last_command;
	struct grid_cache *grids;   /* owned */
	struct table_cache *tables; /* owned */
};

/* ---- web.c ---- */
/*
 * Have JOB (base first) done by the worker for CALL, which JOB's FINISH
 * answers. False: too many wait, of all or of CALL's address; CALL has been
 * refused then, and JOB is still the caller's.
 */
bool web_submit(struct web_call *call, struct web_job *job) WARN_UNUSED;
/* CALL waits no more for JOB alone: it is done even if its client goes. */
void web_job_share(struct web_job *job);
/* Have JOB done for the server itself: outside all bounds. */
void web_submit_own(struct web *web, struct web_job *job);
/* Whether nobody waits for JOB any more; the worker asks it in long work. */
bool web_job_is_cut(const struct web_job *job);
/*
 * Have COMMAND (taken over) carried out by the writing side; then FINISH is
 * called with CALL, which it answers, and the reply (borrowed). Refuses CALL
 * itself where it cannot be.
 */
void web_ask(struct web_call *call, json_t *command_take,
	     void (*finish)(struct web_call *call, json_t *reply));
/* The body of CALL as an object, or NULL, refused. json_decref. */
json_t *web_body(struct web_call *call) WARN_UNUSED;

/* ---- board.c ---- */
/* The first tables, read at once; before the loop. */
void boards_first(struct web *web);
/* Make the tables anew where the database has changed. */
void boards_refresh(struct web *web);
void boards_free(struct web *web);
/*
 * The table of LADDER as it is now, held until board_unref(); NULL: CALL has
 * been refused.
 */
struct board *board_of_call(struct web_call *call, const char *ladder);
void board_unref(struct board *board);
/* The I-th line as JSON, LEN bytes and no NUL; NULL behind the last. */
const char *board_line(const struct board *board, size_t i, size_t *ret_len);
void board_standings(struct web_call *call);
/* The lines of bot NAME in all tables, as an array. */
json_t *boards_of_bot(struct web *web, const char *name);

/* ---- events.c ---- */
void events_matches(struct web_call *call);
void events_standings(struct web_call *call);
/* The COUNT matches IDS are on disk, in this order. */
void events_saved(struct web *web, const int64_t *ids, size_t count);
/* The next turn of the loop has come: tell more of them. */
void events_go_on(struct web *web);
/* A table is new: JSON text of an event. */
void events_tell_board(struct web *web, const char *ladder, const char *text);
/* Once a second: heartbeats. */
void events_tick(struct web *web);
void events_free(struct web *web);

/* ---- handlers, by file ---- */
void api_health(struct web_call *call);
void api_openapi(struct web_call *call);
void api_metrics(struct web_call *call);
void api_live(struct web_call *call);
void api_announcements(struct web_call *call);
void api_ladders(struct web_call *call);
void api_ladder(struct web_call *call);
void api_bots(struct web_call *call);
void api_bot(struct web_call *call);
void api_versions(struct web_call *call);
void api_history(struct web_call *call);
void api_rivals(struct web_call *call);
void api_matches(struct web_call *call);
void api_match(struct web_call *call);
void api_transcript(struct web_call *call);
void api_notes(struct web_call *call);
void api_record(struct web_call *call);
void api_grids(struct web_call *call);
void grids_free(struct web *web);
void api_maps(struct web_call *call);
void api_map(struct web_call *call);
void api_tournaments(struct web_call *call);
void api_tournament(struct web_call *call);
void api_tournament_matches(struct web_call *call);
void api_tournament_table(struct web_call *call);
void tables_free(struct web *web);
void api_board_lines(struct web_call *call);
void api_board_csv(struct web_call *call);
void api_export_lines(struct web_call *call);
void api_export_csv(struct web_call *call);
void api_register(struct web_call *call);
void api_rotate(struct web_call *call);

/* What CALL's query says of matches. */
void api_filter(const struct web_call *call, struct web_filter *ret);

/* server/web/openapi.json, in the program. */
extern const char web_openapi[];
extern const size_t web_openapi_len;

#endif
