/* SPDX-License-Identifier: MIT */
#include "proto/framer.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/control.h"
#include "server/base/buffer.h"

enum {
	LIMIT_MAX = 1 << 30,
	KEPT_MIN = 64, /* bytes of the first allocation */
};

void framer_init(struct framer *framer, enum framer_mode mode,
		 size_t game_limit, size_t control_limit, size_t flood_limit)
{
	memset(framer, 0, sizeof(*framer));
	framer->mode = (uint8_t)mode;
	framer_set_limits(framer, game_limit, control_limit, flood_limit);
}

static void forget_kept(struct framer *framer)
{
	free(framer->kept);
	framer->kept = NULL;
	framer->kept_at = 0;
	framer->kept_scanned = 0;
	framer->kept_len = 0;
	framer->kept_cap = 0;
}

void framer_release(struct framer *framer)
{
	if (framer == NULL)
		return;
	forget_kept(framer);
}

void framer_set_limits(struct framer *framer, size_t game_limit,
		       size_t control_limit, size_t flood_limit)
{
	assert(game_limit > 0 && game_limit <= LIMIT_MAX);
	assert(control_limit > 0 && control_limit <= LIMIT_MAX);
	assert(flood_limit > 0 && flood_limit <= LIMIT_MAX);
	framer->game_limit = (uint32_t)game_limit;
	framer->control_limit = (uint32_t)control_limit;
	framer->flood_limit = (uint32_t)flood_limit;
}

void framer_expect_raw(struct framer *framer, uint32_t lines, size_t limit)
{
	assert(limit <= LIMIT_MAX);
	framer->raw_lines = lines;
	framer->raw_limit = (uint32_t)limit;
}

static enum frame_kind frame_set(struct frame *ret, enum frame_kind kind,
				 const char *text, size_t len)
{
	ret->kind = kind;
	ret->text = text;
	ret->len = len;
	ret->is_control = false;
	ret->is_raw = false;
	return kind;
}

static enum frame_kind fail(struct framer *framer, enum frame_kind kind,
			    struct frame *ret)
{
	forget_kept(framer);
	framer->failed = (uint8_t)kind;
	return frame_set(ret, kind, "", 0);
}

/* Whether a line that begins with these bytes is a control line. */
static bool is_control(const struct framer *framer, const char *line,
		       size_t len)
{
	return framer->mode == FRAMER_PEER && framer->raw_lines == 0 &&
	       len > 0 && line[0] == '@' && (len == 1 || line[1] != '@');
}

static bool is_escaped(const struct framer *framer, const char *line,
		       size_t len)
{
	return framer->mode == FRAMER_PEER && len > 1 && line[0] == '@' &&
	       line[1] == '@';
}

/* The bytes that count against a limit: a CR at the end may go away. */
static size_t content_len(const struct framer *framer, const char *line,
			  size_t len)
{
	if (framer->raw_lines == 0 && len > 0 && line[len - 1] == '\r')
		return len - 1;
	return len;
}

static bool is_flood(const struct framer *framer, size_t content)
{
	if (framer->raw_lines > 0 && framer->raw_limit > framer->flood_limit)
		return content > framer->raw_limit;
	return content > framer->flood_limit;
}

/* Whether a line that begins with the CONTENT bytes at LINE is over limit. */
static bool is_long(const struct framer *framer, const char *line,
		    size_t content)
{
	if (framer->raw_lines > 0)
		return content > framer->raw_limit;
	if (is_control(framer, line, content))
		return content > framer->control_limit;
	return content - is_escaped(framer, line, content) > framer->game_limit;
}

static enum frame_kind long_line(struct framer *framer, struct frame *ret,
				 size_t len, bool was_control)
{
	frame_set(ret, FRAME_LONG, "", len);
	ret->is_control = was_control;
	if (framer->raw_lines > 0) {
		framer->raw_lines--;
		ret->is_raw = true;
	}
	return FRAME_LONG;
}

/* A whole line of LEN bytes without its LF. */
static enum frame_kind take_line(struct framer *framer, const char *line,
				 size_t len, struct frame *ret)
{
	size_t content = content_len(framer, line, len);

	if (is_flood(framer, content))
		return fail(framer, FRAME_FLOOD, ret);
	if (is_long(framer, line, content))
		return long_line(framer, ret, content,
				 is_control(framer, line, content));
	if (framer->raw_lines > 0) {
		framer->raw_lines--;
		return frame_set(ret, FRAME_RAW, line, content);
	}
	if (is_control(framer, line, content)) {
		return frame_set(ret,
				 text_is_utf8(line, content) ? FRAME_CONTROL
							     : FRAME_GARBLED,
				 line, content);
	}
	if (is_escaped(framer, line, content))
		return frame_set(ret, FRAME_GAME, line + 1, content - 1);
	return frame_set(ret, FRAME_GAME, line, content);
}

/* Take COUNT bytes of a line that is too long; no LF among them. */
static void drop(struct framer *framer, const char *bytes, size_t count)
{
	size_t total;

	if (count == 0)
		return;
	total = framer->dropped + framer->drops_cr + count;
	framer->drops_cr = false;
	if (framer->raw_lines == 0 && bytes[count - 1] == '\r') {
		framer->drops_cr = true;
		total--;
	}
	/* Beyond the flood limit the count matters no more. */
	framer->dropped =
		total > UINT32_MAX - 1 ? UINT32_MAX - 1 : (uint32_t)total;
}

/* Go on dropping a line; `used` gets the bytes that belonged to it. */
static enum frame_kind drop_span(struct framer *framer, const char *data,
				 size_t len, size_t *used, struct frame *ret)
{
	const char *end = memchr(data, '\n', len);
	size_t count = end == NULL ? len : (size_t)(end - data);

	drop(framer, data, count);
	*used = count + (end != NULL);
	if (is_flood(framer, framer->dropped))
		return fail(framer, FRAME_FLOOD, ret);
	if (end == NULL)
		return frame_set(ret, FRAME_MORE, "", 0);
	framer->is_dropping = false;
	return long_line(framer, ret, framer->dropped, framer->drops_control);
}

static int make_room(struct framer *framer, size_t more)
{
	size_t pending = framer->kept_len - framer->kept_at;
	size_t cap = framer->kept_cap;
	char *grown;

	if (framer->kept != NULL && framer->kept_at > 0) {
		memmove(framer->kept, framer->kept + framer->kept_at, pending);
		framer->kept_scanned -= framer->kept_at;
		framer->kept_len = (uint32_t)pending;
		framer->kept_at = 0;
	}
	if (pending + more <= cap)
		return 0;
	if (pending + more > (size_t)LIMIT_MAX * 2)
		return -ENOMEM;
	cap = cap == 0 ? KEPT_MIN : cap + cap / 2;
	if (cap < pending + more)
		cap = pending + more;
	grown = realloc(framer->kept, cap);
	if (grown == NULL)
		return -ENOMEM;
	framer->kept = grown;
	framer->kept_cap = (uint32_t)cap;
	return 0;
}

static int keep(struct framer *framer, struct frame_input *input, size_t count)
{
	if (count == 0)
		return 0;
	if (make_room(framer, count) != 0)
		return -ENOMEM;
	assert(framer->kept != NULL);
	memcpy(framer->kept + framer->kept_len, input->data, count);
	framer->kept_len += (uint32_t)count;
	input->data += count;
	input->len -= count;
	return 0;
}

/* Give up the unfinished line whose first PENDING bytes are at LINE. */
static void start_dropping(struct framer *framer, const char *line,
			   size_t pending)
{
	framer->is_dropping = true;
	framer->drops_control = is_control(framer, line, pending);
	framer->drops_cr = false;
	framer->dropped = 0;
	drop(framer, line, pending);
}

/* No LF in what is kept: judge it together with the start of the input. */
static enum frame_kind judge_pending(struct framer *framer, struct frame *ret)
{
	const char *line = framer->kept + framer->kept_at;
	size_t pending = framer->kept_len - framer->kept_at;
	size_t content = content_len(framer, line, pending);

	if (is_flood(framer, content))
		return fail(framer, FRAME_FLOOD, ret);
	if (is_long(framer, line, content)) {
		start_dropping(framer, line, pending);
		forget_kept(framer);
	}
	return frame_set(ret, FRAME_MORE, "", 0);
}

/* The end of the first line in `kept`, or NULL. */
static const char *find_kept_end(struct framer *framer)
{
	const char *end;

	if (framer->kept == NULL)
		return NULL;
	end = memchr(framer->kept + framer->kept_scanned, '\n',
		     framer->kept_len - framer->kept_scanned);
	framer->kept_scanned =
		end == NULL ? framer->kept_len : (uint32_t)(end - framer->kept);
	return end;
}

static enum frame_kind take_kept(struct framer *framer, const char *end,
				 struct frame *ret)
{
	const char *line = framer->kept + framer->kept_at;

	framer->kept_at = (uint32_t)(end - framer->kept) + 1;
	framer->kept_scanned = framer->kept_at;
	return take_line(framer, line, (size_t)(end - line), ret);
}

/* A line that began in `kept` goes on in the input. */
static enum frame_kind join(struct framer *framer, struct frame_input *input,
			    struct frame *ret)
{
	const char *end = memchr(input->data, '\n', input->len);
	size_t count =
		end == NULL ? input->len : (size_t)(end - input->data) + 1;
	size_t pending = framer->kept_len - framer->kept_at;

	/*
	 * One byte more than any line may have is enough to see that it is
	 * too long, and no more than that is ever copied.
	 */
	if (pending + count > (size_t)framer->flood_limit + 2 &&
	    framer->raw_lines == 0 && count > 2) {
		size_t room = pending > framer->flood_limit
				      ? 1
				      : framer->flood_limit + 2 - pending;

		if (count > room)
			count = room;
	}
	if (keep(framer, input, count) != 0)
		return fail(framer, FRAME_NO_MEMORY, ret);
	end = find_kept_end(framer);
	if (end != NULL)
		return take_kept(framer, end, ret);
	return judge_pending(framer, ret);
}

/* Nothing is kept: look at the input where it lies. */
static enum frame_kind look(struct framer *framer, struct frame_input *input,
			    struct frame *ret)
{
	const char *line = input->data;
	const char *end = memchr(line, '\n', input->len);
	size_t len = end == NULL ? input->len : (size_t)(end - line);
	size_t content = content_len(framer, line, len);

	if (end != NULL) {
		input->data += len + 1;
		input->len -= len + 1;
		return take_line(framer, line, len, ret);
	}
	if (is_flood(framer, content))
		return fail(framer, FRAME_FLOOD, ret);
	if (is_long(framer, line, content)) {
		start_dropping(framer, line, len);
		input->data += len;
		input->len = 0;
	} else if (keep(framer, input, len) != 0) {
		return fail(framer, FRAME_NO_MEMORY, ret);
	} else {
		framer->kept_scanned = framer->kept_len;
	}
	return frame_set(ret, FRAME_MORE, "", 0);
}

static enum frame_kind go_on_dropping(struct framer *framer,
				      struct frame_input *input,
				      struct frame *ret)
{
	size_t used;
	enum frame_kind kind;

	if (framer->kept != NULL) {
		kind = drop_span(framer, framer->kept + framer->kept_at,
				 framer->kept_len - framer->kept_at, &used,
				 ret);
		if (framer->failed == 0) {
			framer->kept_at += (uint32_t)used;
			framer->kept_scanned = framer->kept_at;
		}
		if (kind != FRAME_MORE)
			return kind;
		forget_kept(framer);
	}
	if (input->len == 0)
		return frame_set(ret, FRAME_MORE, "", 0);
	kind = drop_span(framer, input->data, input->len, &used, ret);
	input->data += used;
	input->len -= used;
	return kind;
}

enum frame_kind framer_next(struct framer *framer, struct frame_input *input,
			    struct frame *ret)
{
	const char *end;

	if (framer->failed != 0)
		return fail(framer, (enum frame_kind)framer->failed, ret);
	for (;;) {
		enum frame_kind kind;

		if (framer->kept != NULL && framer->kept_at == framer->kept_len)
			forget_kept(framer);
		if (framer->is_dropping)
			return go_on_dropping(framer, input, ret);
		end = find_kept_end(framer);
		if (end != NULL)
			return take_kept(framer, end, ret);
		if (framer->kept != NULL && input->len == 0)
			return judge_pending(framer, ret);
		if (input->len == 0)
			return frame_set(ret, FRAME_MORE, "", 0);
		kind = framer->kept == NULL ? look(framer, input, ret)
					    : join(framer, input, ret);
		if (kind != FRAME_MORE || input->len == 0)
			return kind;
	}
}

int framer_keep(struct framer *framer, struct frame_input *input)
{
	if (framer->failed != 0) {
		input->len = 0;
		return 0;
	}
	if (keep(framer, input, input->len) != 0) {
		framer->failed = FRAME_NO_MEMORY;
		forget_kept(framer);
		input->len = 0;
		return -ENOMEM;
	}
	return 0;
}

bool framer_has_line(const struct framer *framer)
{
	return framer->failed != 0 ||
	       (framer->kept != NULL &&
		memchr(framer->kept + framer->kept_scanned, '\n',
		       framer->kept_len - framer->kept_scanned) != NULL);
}

void frame_add_game(struct buf *out, const char *text, size_t len)
{
	if (len > 0 && text[0] == '@')
		buf_add_char(out, '@');
	buf_add(out, text, len);
	buf_add_char(out, '\n');
}

void frame_add_game_lines(struct buf *out, const char *lines, size_t len)
{
	const char *end;

	if (len > 0 && lines[0] == '@')
		buf_add_char(out, '@');
	while ((end = memmem(lines, len, "\n@", 2)) != NULL) {
		size_t count = (size_t)(end - lines) + 1;

		buf_add(out, lines, count);
		buf_add_char(out, '@');
		lines += count;
		len -= count;
	}
	buf_add(out, lines, len);
}
