/* SPDX-License-Identifier: MIT */
/*
 * web.h - the HTTP API: a thread of its own with a loop of its own, its own
 * read-only connections to the database, and nothing shared with the bots'
 * loop but messages.
 *
 *	web_new(&web, &settings, &error);
 *	web_listen(web, "127.0.0.1", "8080", &error);
 *	web_start(web, &error);
 *	web_feed(web, ...);       once a second, from the bots' loop
 *	web_answer(web, ...);     what became of a command that it asked for
 *	web_free(web);            stops the thread
 *
 * What it writes it has written by others: settings.command hands a command
 * (JSON, as store/admin.h has them) to whoever owns the writing connection.
 */
#ifndef HILL_WEB_WEB_H
#define HILL_WEB_WEB_H

#include <stddef.h>
#include <stdint.h>

#include "server/base/address.h"
#include "server/base/alloc.h"

struct web;

struct web_error {
	char text[512]; /* no newline */
};

struct web_settings {
	const char *database; /* path; copied */
	const char *version;  /* of the program; static */
	unsigned connections_max;
	unsigned connections_per_address;
	struct address_list proxies; /* whose X-Forwarded-For is believed */
	uint32_t request_ms;         /* for one whole request */
	uint32_t stall_ms; /* a client takes nothing for so long: out */
	/*
	 * Have COMMAND (LEN bytes, taken over: free) carried out, then call
	 * web_answer with ID. Called on web's thread; NULL: nothing can be
	 * written by HTTP.
	 */
	void (*command)(void *arg, uint64_t id, char *command_take, size_t len);
	void *arg;
};

/* *RET is the caller's: web_free. 0 or -errno with ERROR. */
int web_new(struct web **ret, const struct web_settings *settings,
	    struct web_error *error) WARN_UNUSED;
/* Before web_start; HOST "" is every address, PORT "0" any. */
int web_listen(struct web *web, const char *host, const char *port,
	       struct web_error *error) WARN_UNUSED;
/* The I-th address as text (64 bytes), and its port; 0: there is none. */
unsigned web_address(const struct web *web, unsigned i, char ret[64]);
int web_start(struct web *web, struct web_error *error) WARN_UNUSED;
/* End the thread and free all. NULL is fine. */
void web_free(struct web *web);

/* What happened in the last second; all taken over (free). Any thread. */
struct web_feed {
	char *live;          /* JSON: the matches in play */
	char *metrics;       /* Prometheus text of the bots' loop */
	char *store_trouble; /* why results wait for the disk, or NULL */
	int64_t *saved;      /* matches that came to the disk */
	size_t nsaved;
};
void web_feed(struct web *web, struct web_feed *feed_take);
/* The answer to command ID, taken over (free). Any thread. */
void web_answer(struct web *web, uint64_t id, char *reply_take);

#endif
