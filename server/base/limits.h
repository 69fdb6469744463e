/* SPDX-License-Identifier: MIT */
/*
 * limits.h - every bound on what somebody else can make grow, in one place.
 * PROTOCOL.md and the config's documentation state the same figures.
 */
#ifndef HILL_BASE_LIMITS_H
#define HILL_BASE_LIMITS_H

enum {
	LIMIT_SEATS = 8,                 /* seats of one match */
	LIMIT_NAME_BYTES = 64,           /* file and map names */
	LIMIT_LOGIN_LINE_BYTES = 512,    /* a line before login */
	LIMIT_CONTROL_LINE_BYTES = 4096, /* a control line after login */
	LIMIT_GAME_LINE_BYTES =
		65536,              /* a game line, unless the game says more */
	LIMIT_LINES_AHEAD = 16,     /* replies that wait for their request */
	LIMIT_REPLY_LINES = 1024,   /* lines of one reply, where it has more */
	LIMIT_OVERLONG_FACTOR = 16, /* x line-max without an LF ends the link */
	LIMIT_APPOINTMENTS = 1024,  /* matches that wait for certain bots */
	LIMIT_ASKS = 256, /* of peers, that wait for the store's answer */
	LIMIT_MAP_BYTES = 32 * 1024 * 1024,
	LIMIT_LOGIN_MS = 10000,    /* from connect to a correct login */
	LIMIT_BAD_LINES_LOGIN = 5, /* lines in a row that cannot be taken */
	LIMIT_BAD_LINES = 32,      /* likewise, after login */
	LIMIT_SKIPPED_LINES = 1024 * 1024,   /* lines= of an unknown word */
	LIMIT_MINE_CELLS = 32 * 1024 * 1024, /* rows x longest row */
	LIMIT_OUTPUT_BYTES =
		1024 * 1024, /* queued for a peer that does not read */
	/* likewise of a program here, which the map alone decides */
	LIMIT_LOCAL_OUTPUT_BYTES = 64 * 1024 * 1024,
	LIMIT_UNRATED_TURN_MS = 600000, /* what turn-ms= may ask for */
	LIMIT_KEPT_SEEDS = 20, /* an hour: seeds that are refused to a bot */
	LIMIT_LADDERS_PER_PEER = 8, /* that one connection waits on */
	LIMIT_LINES_PER_STEP = 64,  /* of one peer before others have a turn */
	LIMIT_ANSWERS_PER_STEP = 8192, /* likewise: bytes that they led to */
	LIMIT_HELD_FAULT_BYTES = 4096, /* @banked, @fault of a quiet match */
	LIMIT_HELD_BYTES = 65536, /* what else its seat's peer is to be told */
	LIMIT_ADDRESSES_KEPT = 65536, /* with wrong logins, without a peer */
	LIMIT_ID_BLOCK = 1000,        /* match ids reserved at once */
	LIMIT_TRANSCRIPT_BYTES = 32 * 1024 * 1024,
	/* of one seat's replies, where those of all matches take too much */
	LIMIT_SEAT_REPLIES_BYTES = 1024 * 1024,
	LIMIT_STORE_RECORDS = 10000, /* matches that wait for the disk */
	LIMIT_STORE_BYTES = 64 * 1024 * 1024, /* and their bytes */
	LIMIT_ADMIN_BYTES = 48 * 1024 * 1024, /* one command: a map in base64 */
	LIMIT_LADDER_MAPS = 1000,
	LIMIT_ROUND_RUNS = 64,              /* of a solo game's round */
	LIMIT_ROUND_S = 366 * 24 * 60 * 60, /* that it stays open */
	LIMIT_NOTICE_BYTES = 400,           /* an announcement's text */
	LIMIT_NOTICES = 16,    /* announcements that hold at once */
	LIMIT_JSON_DEPTH = 16, /* commands of the host, bodies of requests */
};

#endif
