/* SPDX-License-Identifier: MIT */
/*
 * cfg.h - the configuration file of image-battle's original judge. Pure.
 *
 *	BATTLE = 'Green Blob vs Red Blob'
 *	MAXTURNS = 20000
 *	PIXELBATCH = 10
 *	INITTIME = 2.0
 *	TIMELIMIT = 0.1
 *	FAULTLIMIT = 5
 *	imagename = 'arena1.png'
 *	colourspec = (0,255,0), (255,0,0)
 *	botspec = [
 *	    ('blob.py', 'python'),                  a file, its interpreter
 *	    (['Swallower.class'], ['java', 'Swallower']),  files, a command
 *	    ]
 */
#ifndef HILL_CLIENTS_RUN_CFG_H
#define HILL_CLIENTS_RUN_CFG_H

#include <stddef.h>
#include <stdint.h>

#include "clients/run/words.h"
#include "server/games/game.h"

struct cfg_bot {
	char *name;           /* as the judge printed it; owned */
	struct words files;   /* that its folder gets a copy of */
	struct words command; /* without the original's arguments */
};

struct cfg {
	char *battle; /* owned */
	char *image;  /* owned; as written */
	int64_t turns_max, batch, fault_limit;
	int64_t init_ms, turn_ms;
	unsigned nbots;
	uint8_t colours[GAME_SEATS_MAX][3];
	struct cfg_bot bots[GAME_SEATS_MAX];
};

/*
 * Read LEN bytes at TEXT. 0 with *RET (cfg_release), or -EINVAL with ERROR,
 * which names the line. What the judge does not know is ignored; only
 * imagename, colourspec and botspec must be there.
 */
int cfg_read(struct cfg *ret, const char *text, size_t len,
	     struct game_error *error) WARN_UNUSED;
void cfg_release(struct cfg *cfg);

#endif
