/* SPDX-License-Identifier: MIT */
/*
 * dev.h - `hilld --dev`: a server for one author at one desk. A database that
 * goes with the process, the default ladders, guests with tokens at hand, and
 * house bots to play against.
 */
#ifndef HILL_DEV_H
#define HILL_DEV_H

#include <stddef.h>
#include <sys/types.h>

#include "server/base/alloc.h"
#include "server/base/buffer.h"

enum { DEV_HOUSE_MAX = 8, DEV_GUESTS = 4 };

struct dev {
	struct buf folder; /* private, removed by dev_stop; "" before */
	pid_t house[DEV_HOUSE_MAX];
	size_t nhouse;
};

struct dev_error {
	char text[1024]; /* no newline */
};

/* Nothing yet. */
void dev_init(struct dev *dev);
/*
 * Make the folder and in it the database with maps, ladders, guests and house
 * bots. 0, or a negative errno with ERROR set. dev_stop in both cases.
 */
int dev_prepare(struct dev *dev, struct dev_error *error) WARN_UNUSED;
/* The database's path, appended to RET. */
void dev_database(const struct dev *dev, struct buf *ret);
/*
 * hilld listens on 127.0.0.1:PORT: start the house bots, as far as they are
 * found, and tell on stdout how to play.
 */
void dev_start(struct dev *dev, unsigned port);
/* End the house bots and remove the folder. */
void dev_stop(struct dev *dev);

#endif
