/* SPDX-License-Identifier: MIT */
/*
 * net_internal.h - what the parts of net/ share: the loop's state and the
 * connection.
 *
 *	listener.c  accepts; rests when descriptors are out
 *	conn.c      a connection: reads, sends, closes
 *	actions.c   carries out what the lobby decided
 *	jobs.c      what goes to the workers and comes back: maps, matches
 *	commands.c  likewise what the host says
 *	planned.c   likewise what the host has planned for a time
 *	asks.c      likewise what peers want of the store
 *	web_asks.c  likewise what the web side wants of it
 *	control.c   the control socket
 *	loop.c      turns, deadlines, signals, the store's events
 *
 * A callback moves bytes into the lobby and calls net_act(), which carries out
 * all actions; nothing re-enters. A connection is never freed in a callback:
 * conn_kill() marks it, net_reap() frees it after the loop's turn.
 */
#ifndef HILL_NET_NET_INTERNAL_H
#define HILL_NET_NET_INTERNAL_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <event2/event.h>
#include <event2/event_struct.h>

#include "server/base/heap.h"
#include "server/base/log.h"
#include "server/base/mailbox.h"
#include "server/base/pool.h"
#include "server/lobby/lobby.h"
#include "server/net/figures.h"
#include "server/net/net.h"
#include "server/net/output.h"
#include "server/store/rows.h"

enum {
	NET_READ_BYTES = 65536, /* the one read buffer */
	/* So much of one connection a turn, then others: what a line costs to
	 * judge grows with its length, and nobody shall wait for another's. */
	NET_TURN_BYTES = 16384,
	NET_LAST_READS = 64, /* buffers full, before a verdict */
	NET_SPARE_FDS = 32,  /* kept for files, the store, hillctl */
	NET_LISTENERS_MAX = 32,
};

struct control;
struct store_error; /* server/store/store.h */

/*
 * Whose thread a job is for. Apart, so that a match that computes keeps no
 * author from registering, and a host's long command no map from being read.
 */
enum net_pool {
	NET_COMPUTING, /* `workers` threads: BUSY matches, maps to be made */
	NET_READING,   /* one: maps to be read, the status */
	NET_WRITING,   /* one, as the store lets one write at a time; what it
			  read of the catalogue comes back in order */
	NET_NPOOLS
};

/* What a worker does for the loop; the first member of each job. */
struct net_job {
	struct pool_job job; /* first */
	struct net *net;     /* borrowed; the worker uses only its store */
	enum net_pool pool;
	void (*finish)(struct net_job *job); /* on the loop; frees it */
};

/*
 *	           LOBBY_CLOSE              all sent             eof or time
 *	CONN_OPEN -------------> CONN_FLUSH ---------> CONN_LINGER -------> DEAD
 *	    \___________________________ reset, stalled _________________/
 */
enum conn_state {
	CONN_OPEN,
	CONN_FLUSH,  /* the rest goes out, nothing is heard any more */
	CONN_LINGER, /* our FIN is out; what comes is thrown away, so that
			no reset overtakes our last lines */
	CONN_DEAD,   /* waits for net_reap() */
	CONN_NSTATES
};

struct conn {
	struct event ev;         /* embedded; EV_READ | EV_PERSIST */
	struct event *write_ev;  /* owned; NULL until output first waited */
	struct net *net;         /* borrowed */
	struct lobby_peer *peer; /* the lobby's; NULL once it was told */
	struct output output;    /* embedded */
	struct heap_node watch;  /* in net->watches: its files' ack */
	struct heap_node timer;  /* in net->timers: stall or close */
	LIST_ENTRY(conn) link;   /* in net->conns, or net->dead */
	const char *reason;      /* static; why it ends */
	uint64_t id;             /* its name in log lines */
	int64_t watch_delay_us;  /* until the next look at the acks */
	int fd;                  /* owned */
	uint16_t port;           /* the peer's */
	uint8_t address[ADDRESS_BYTES];
	enum conn_state state;
	bool is_paused;    /* the lobby wants no more for now */
	bool is_listening; /* `ev` is added */
	bool has_eof;      /* the peer has sent its FIN */
	bool is_mute;      /* sending failed; reading will tell the end */
	bool is_refused;   /* was to be closed as soon as it came */
};

struct listener {
	struct event ev; /* embedded */
	struct net *net; /* borrowed */
	int fd;          /* owned */
	bool is_resting; /* no descriptor is left */
};

struct net {
	struct event_base *base;        /* owned */
	struct lobby *lobby;            /* owned */
	struct store *store;            /* borrowed */
	struct pool *pools[NET_NPOOLS]; /* owned */
	struct mailbox done;            /* jobs that workers have finished */
	struct row_catalogue rows;      /* what the lobby was given last */
	struct net_settings settings;
	struct control *control; /* owned, or NULL */

	struct listener *listeners[NET_LISTENERS_MAX]; /* owned */
	unsigned nlisteners;
	unsigned peers_max; /* descriptors allow so many connections */
	LIST_HEAD(, conn) conns;
	LIST_HEAD(, conn) dead;
	unsigned nconns; /* in both lists */
	uint64_t last_id;
	struct heap timers;  /* of conn.timer */
	struct heap watches; /* of conn.watch */
	char read_buffer[NET_READ_BYTES];

	struct event *timer_ev, *done_ev, *store_ev, *stop_ev;
	struct event *signal_ev[3];
	int timer_fd;     /* owned */
	int stop_fd;      /* owned; eventfd, written by net_stop */
	int64_t armed_us; /* when timer_fd fires; 0: not set */
	/*
	 * When this turn's first event came, or up to when it has been
	 * credited; 0: none came.
	 */
	int64_t turn_us;
	int64_t credited_us; /* of this turn */
	int64_t tick_us;     /* the next once-a-second round */
	int64_t lag_us;      /* the worst of this second */
	bool is_acting;      /* inside net_act() */
	bool is_draining;
	bool is_drained;             /* the lobby is; what it led to goes on */
	bool is_done;                /* all ends now */
	struct log_rate full_log;    /* "out of descriptors" */
	struct log_rate refused_log; /* ends of those that were refused */
	unsigned nplanned;           /* of planned.c, being carried out */
	bool has_plan_failed;        /* of these */
	int64_t plan_us;             /* none is begun before ... */
	int64_t plan_wait_us;        /* ... as long as it was waited last */
	struct match_record **held;  /* owned; the store's queue was full */
	size_t nheld, held_cap;
	char *store_trouble; /* owned; why it cannot write, or NULL: it can */
	unsigned nwriting;   /* jobs of NET_WRITING that are not finished */
	void (*hangup)(void *arg);
	void *hangup_arg;
	struct net_figures figures;
	void (*second)(void *arg, struct net_second *second_take);
	void *second_arg;
	struct mailbox asks; /* questions from the web side: web_asks.c */
	struct event *asks_ev;
	void (*answer)(void *arg, uint64_t id, char *reply_take);
	void *answer_arg;
};

/* ---- loop.c ---- */
/*
 * Every callback calls it first: when this turn began, for lag and stalls, and
 * what the callbacks before have taken. May end matches and kill connections.
 */
void net_turn_began(struct net *net);
/* Read all from the store again into the lobby. 0 or -errno, logged. */
int net_reload(struct net *net);
/*
 * Read the catalogue for net_set_catalogue: what a reading that was begun
 * earlier holds, a later one must hold too, as the earlier one is dropped. So
 * the ratings are always read; roads, which cost a look at all matches, when
 * a ladder's seeds or maps may have changed. *RET is the caller's. 0, -errno.
 * Any thread.
 */
int net_read_rows(struct store *store, bool wants_roads,
		  struct row_catalogue *ret,
		  struct store_error *error) WARN_UNUSED;
/* ROWS, taken over, is the catalogue from now on, unless a newer one is. */
void net_set_catalogue(struct net *net, struct row_catalogue *rows_take);
/* Begin to drain, or end at once when it was begun before. */
void net_drain(struct net *net, const char *why);
int PRINTF_LIKE(3, 4)
	net_fail(struct net_error *error, int rc, const char *format, ...);

/* ---- listener.c ---- */
void listener_free(struct listener *listener);
/* A descriptor may be free again: accept. */
void listeners_wake(struct net *net);

/* ---- conn.c ---- */
/* Take over FD, a connected socket from ADDRESS. */
void conn_open(struct net *net, int fd, const struct sockaddr *address);
/* Send LEN bytes, or queue what does not fit. */
void conn_send(struct conn *conn, const char *bytes, size_t len);
/* Likewise the block; its reference is taken over. */
void conn_send_block(struct conn *conn, struct lobby_map *block_take,
		     const char *bytes, size_t len);
/* One read of at most MOST (1..NET_READ_BYTES) bytes, handed to the lobby. */
void conn_read(struct conn *conn, size_t most);
/* All that has come, up to a bound: the last look before a verdict. */
void conn_read_all(struct conn *conn);
void conn_pause(struct conn *conn);
void conn_resume(struct conn *conn);
/* Flush, then close; REASON is static. */
void conn_close(struct conn *conn, const char *reason);
/* The end, now; freed by net_reap(). REASON is static. */
void conn_kill(struct conn *conn, const char *reason);
/* Tell the lobby when the peer's host has acknowledged all. */
void conn_watch_files(struct conn *conn, int64_t now_us);
void conn_sample_rtt(struct conn *conn);
/* Stalls, flushes and watches that are due. */
void conns_expire(struct net *net, int64_t now_us);
void net_reap(struct net *net);
/* The peer as "1.2.3.4:5" or "[::1]:5"; returns RET. */
const char *conn_address_text(const uint8_t address[ADDRESS_BYTES],
			      uint16_t port, char ret[NET_ADDRESS_TEXT]);
/* SOCKADDR as 16 bytes and a port. */
void conn_address_set(const struct sockaddr *sockaddr,
		      uint8_t ret_address[ADDRESS_BYTES], uint16_t *ret_port);

/* ---- actions.c ---- */
/* Carry out every action that the lobby has queued. */
void net_act(struct net *net);
/* Hand the store what its full queue refused before. */
void net_put_held(struct net *net);

/* ---- web_asks.c ---- */
void net_take_web_asks(struct net *net);
/* The end: nobody waits for an answer any more. */
void net_drop_web_asks(struct net *net);

/* ---- jobs.c ---- */
/* RUN the job on a worker of POOL, then FINISH it on the loop. */
void net_submit(struct net *net, enum net_pool pool, struct net_job *job,
		void (*run)(struct pool_job *job),
		void (*finish)(struct net_job *job));
void net_load_map(struct net *net, int64_t map_id);
/* What LOBBY_MAKE_MAP asks for. */
void net_make_map(struct net *net, const struct lobby_action *action);
void net_run_match(struct net *net, struct lobby_play *play);
/* Finish the jobs that have come back. */
void net_finish_jobs(struct net *net);
/*
 * The end of all workers. What none of them has begun to write is not written
 * and its asker told so; what finishing leads to is not carried out any more.
 * Called again it does nothing.
 */
void net_end_jobs(struct net *net);

/* ---- commands.c ---- */
/*
 * Have COMMAND (one JSON text, taken over) of user UID carried out by the store
 * on a worker; then control_reply(ID, ...) is called on the loop.
 */
void net_admin(struct net *net, uint64_t id, uid_t uid, char *command_take,
	       size_t len);

/* ---- planned.c ---- */
/*
 * Begin what the host has planned for a time that has come: maps to be shown,
 * tournaments to start. What fails is told in the log, and tried again soon.
 */
void net_do_planned(struct net *net);

/* ---- asks.c ---- */
/* Have the store carry out ASK; then lobby_answered. */
void net_ask(struct net *net, const struct lobby_ask *ask);

/* ---- control.c ---- */
void control_free(struct control *control);
/* Once a second: listen again, if it had to stop. */
void control_wake(struct control *control);
/* The loop ends: send what replies wait, the answer to its end for one. */
void control_flush(struct control *control);
/* The client ID gets REPLY, if it is still there. */
void control_reply(struct control *control, uint64_t id, const char *reply,
		   size_t len);

#endif
