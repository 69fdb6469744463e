/* SPDX-License-Identifier: MIT */
/*
 * framer.h - bytes to lines, and game lines to bytes.
 * Pure, libc only; server and clients. One framer a direction of a link; one
 * thread at a time.
 *
 *	while ((kind = framer_next(&framer, &input, &frame)) != FRAME_MORE)
 *		... frame.text, frame.len: valid until the next call ...
 *
 * A line ends in LF; one CR before it is dropped. What a line is does not
 * depend on how its bytes were cut into packets. A line that lies whole in the
 * input is handed out where it lies; only what is left of a read is copied, so
 * a peer between lines costs sizeof(struct framer) and nothing more.
 */
#ifndef HILL_PROTO_FRAMER_H
#define HILL_PROTO_FRAMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"

struct buf;

enum frame_kind {
	FRAME_MORE,    /* no whole line is left; all input is consumed */
	FRAME_CONTROL, /* begins with '@', which is part of `text`; valid UTF-8 */
	FRAME_GARBLED, /* a control line with a NUL or invalid UTF-8 in it */
	FRAME_GAME,    /* any other line; of "@@x" the text is "@x" */
	FRAME_RAW,     /* one of the lines that framer_expect_raw() announced */
	FRAME_LONG,    /* a line over its limit has ended; its bytes are gone */
	FRAME_FLOOD,   /* over the flood limit without an LF; sticky: close */
	FRAME_NO_MEMORY, /* sticky: close */
	FRAME_NKINDS
};

struct frame {
	enum frame_kind kind;
	const char
		*text; /* borrowed till the next framer call; no NUL ends it */
	size_t len;    /* of `text`; of FRAME_LONG the bytes that came */
	bool is_control; /* of FRAME_LONG: it began as a control line */
	bool is_raw;     /* of FRAME_LONG: it was one of the raw lines */
};

/* Unread bytes; framer_next() moves it on. Borrowed by nobody afterwards. */
struct frame_input {
	const char *data;
	size_t len;
};

enum framer_mode {
	FRAMER_PEER,  /* the wire: control lines, game lines, escapes */
	FRAMER_PLAIN, /* a program's output: every line is FRAME_GAME as it is */
	FRAMER_NMODES
};

struct framer {
	char *kept;             /* owned: unread bytes, or NULL */
	uint32_t kept_at;       /* first unread byte in `kept` */
	uint32_t kept_scanned;  /* no LF lies between kept_at and here */
	uint32_t kept_len;      /* end of the bytes in `kept` */
	uint32_t kept_cap;      /* allocated */
	uint32_t dropped;       /* bytes dropped of a line that is too long */
	uint32_t raw_lines;     /* raw lines still to come */
	uint32_t raw_limit;     /* of each of them, bytes */
	uint32_t game_limit;    /* bytes of a game line, escape not counted */
	uint32_t control_limit; /* bytes of a control line, '@' counted */
	uint32_t flood_limit;   /* bytes without LF that end the link */
	uint8_t mode;           /* enum framer_mode */
	uint8_t failed;         /* enum frame_kind that sticks; 0 none */
	bool is_dropping;       /* within a line that is too long */
	bool drops_control;     /* ... which began as a control line */
	bool drops_cr;          /* ... whose last byte was a CR, not counted */
};

/*
 * An empty FRAMER for lines of at most GAME_LIMIT and CONTROL_LIMIT bytes (LF
 * and the CR before it not counted) and FLOOD_LIMIT bytes without an LF.
 * Allocates nothing. Limits are 1..2^30.
 */
void framer_init(struct framer *framer, enum framer_mode mode,
		 size_t game_limit, size_t control_limit, size_t flood_limit);
/* Free what is kept; NULL is fine. */
void framer_release(struct framer *framer);
/*
 * Other limits from the next byte on, at any time. A line that was already
 * given up as too long stays so.
 */
void framer_set_limits(struct framer *framer, size_t game_limit,
		       size_t control_limit, size_t flood_limit);
/*
 * The next LINES lines come as FRAME_RAW, whatever they begin with and with
 * their CR; each may have LIMIT bytes. To be called right after the line that
 * announced them.
 */
void framer_expect_raw(struct framer *framer, uint32_t lines, size_t limit);
/*
 * The next line, first of what was kept, then of INPUT, which is moved on
 * behind it. Fills RET and returns its kind. FRAME_MORE: INPUT is empty now,
 * and an unfinished line in it was kept.
 */
enum frame_kind framer_next(struct framer *framer, struct frame_input *input,
			    struct frame *ret);
/*
 * Keep the rest of INPUT for later, when no more lines can be taken now: the
 * caller's buffer is free again. framer_next() with an empty input goes on.
 * INPUT is empty afterwards. Invalidates the last frame. -ENOMEM: FRAMER has
 * failed.
 */
int framer_keep(struct framer *framer, struct frame_input *input) WARN_UNUSED;
/* Whether framer_next() with an empty input would find a whole line. */
bool framer_has_line(const struct framer *framer);

/* Append the game line TEXT (no LF in it) as it travels: escaped, with LF. */
void frame_add_game(struct buf *out, const char *text, size_t len);
/*
 * Append whole game lines, each with its LF, as they travel. Any bytes after
 * the last LF are appended too, as the start of a line.
 */
void frame_add_game_lines(struct buf *out, const char *lines, size_t len);

#endif
