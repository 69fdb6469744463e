/* SPDX-License-Identifier: MIT */
/*
 * net.h - the loop that owns every bot's socket, the timers and the signals,
 * and carries out what the lobby decides.
 *
 *	net_new(&net, &settings, store, &error);
 *	net_listen(net, "127.0.0.1", "0", &error);
 *	net_control(net, "hill.db.sock", &error);
 *	net_run(net);          until drained by SIGTERM, or net_stop()
 *	net_free(net);
 *
 * One thread, but for net_stop. While net_run runs, SIGTERM and SIGINT drain
 * (a second one ends at once) and SIGHUP calls the hang-up function.
 */
#ifndef HILL_NET_NET_H
#define HILL_NET_NET_H

#include <stdint.h>

#include "server/base/alloc.h"
#include "server/lobby/lobby.h"

struct net;
struct store;

struct net_error {
	char text[512]; /* no newline */
};

struct net_settings {
	struct lobby_config lobby; /* peers_max is lowered to the descriptors */
	uint32_t drain_ms;        /* from SIGTERM until matches are abandoned */
	uint32_t output_stall_ms; /* a peer takes nothing for so long: out */
	uint32_t dead_peer_ms;    /* a host that answers nothing, likewise */
	unsigned workers;         /* threads of the pool; at least 1 */
};

/*
 * Make the loop and the lobby, with the catalogue that STORE holds. STORE is
 * borrowed, its writer runs, and nobody else takes its events. Copies
 * SETTINGS. 0 with *RET (net_free) or -errno with ERROR.
 */
int net_new(struct net **ret, const struct net_settings *settings,
	    struct store *store, struct net_error *error) WARN_UNUSED;
/*
 * Close everything. Nothing is told to peers any more. NULL is fine. The
 * store's writer may still hold records. Returns how many results are dropped
 * because it had no room for them: nobody was told of these.
 */
size_t net_free(struct net *net);

/*
 * Accept bots at HOST ("" for every address) and PORT ("0": the kernel
 * chooses). May be called several times, before net_run. 0 or -errno with
 * ERROR.
 */
int net_listen(struct net *net, const char *host, const char *port,
	       struct net_error *error) WARN_UNUSED;
/*
 * The address and port of the I-th socket that net_listen made, as
 * "127.0.0.1:4455", in a buffer of NET_ADDRESS_TEXT bytes; the port alone is
 * returned. 0 when there is no such socket.
 */
enum { NET_ADDRESS_TEXT = 64 };
unsigned net_address(const struct net *net, unsigned i,
		     char ret[NET_ADDRESS_TEXT]);
/*
 * Serve hillctl on a socket at PATH that only our own user may use. A socket
 * that is left there is replaced. 0 or -errno with ERROR. Before net_run.
 */
int net_control(struct net *net, const char *path,
		struct net_error *error) WARN_UNUSED;

/* What happened in the last second, as prepared batches; all malloc'ed. */
struct net_second {
	char *live;          /* JSON: the matches in play */
	char *metrics;       /* Prometheus text */
	char *store_trouble; /* why results wait for the disk, or NULL */
	int64_t *saved;      /* matches that came to the disk */
	size_t nsaved;
};
/*
 * FN is called about once a second on the loop's thread and takes over what
 * SECOND holds. Before net_run.
 */
void net_on_second(struct net *net,
		   void (*fn)(void *arg, struct net_second *second_take),
		   void *arg);
/*
 * Have TEXT (JSON, see web_asks.c; taken over) written; ANSWER of net_on_web_answer is
 * called with ID and the reply (its own to free) on the loop's thread. A
 * question that comes when all ends is not answered. Any thread.
 */
void net_web_ask(struct net *net, uint64_t id, char *text_take, size_t len);
void net_on_web_answer(struct net *net,
		       void (*answer)(void *arg, uint64_t id, char *reply_take),
		       void *arg);

/* FN is called on the loop's thread at SIGHUP. */
void net_on_hangup(struct net *net, void (*fn)(void *arg), void *arg);
/*
 * Take over what SETTINGS says, `workers` excepted; `dead_peer_ms` is for
 * connections to come. Loop thread.
 */
void net_configure(struct net *net, const struct net_settings *settings);

/*
 * Run until all is over: 0 when drained or stopped, -errno when the loop
 * itself fails.
 */
int net_run(struct net *net) WARN_UNUSED;
/* Make net_run return soon. Any thread. */
void net_stop(struct net *net);

/*
 * Raise the limit on open descriptors to the hard one; the number that may be
 * open now. Before net_new.
 */
unsigned net_raise_descriptors(void);

#endif
