/* SPDX-License-Identifier: MIT */
/*
 * board.c - standings, put in order once and served from memory.
 *
 * When the database has changed, at most once in BOARDS_US and in less than a
 * BOARDS_SHARE-th of its time, the worker reads every ladder's ratings, puts
 * them in order and writes each line as JSON into one text; a page is then a
 * slice of it. The pages that come one after the other from the first one on,
 * of the usual size, it makes ready whole, with tag and compressed form: to
 * answer them costs web's thread a copy. All pages that show a rating take it
 * from here, so that no two show different ones at the same moment.
 *
 * A board does not change once it is made; a stream may hold it while a newer
 * one takes its place.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/ladder/standings.h"
#include "server/web/web_internal.h"

enum {
	BOARDS_US = 1000000,
	BOARDS_IDLE_US = 60 * 1000000, /* marks of inactivity grow by time */
	BOARD_BYTES = 256 * 1024 * 1024,
	BOARDS_SHARE = 20,
	BOARD_PAGE = 100,      /* lines, unless the client says otherwise */
	BOARD_READY_MAX = 256, /* pages made ready, of each kind */
	EVENT_LINES = 20,
};

struct board_line {
	int64_t bot_id;
	char bot[LIMIT_NAME_BYTES + 1];
	size_t start; /* in the text; the next one's start is behind a comma */
	size_t len;
	bool is_active;
};

/* A page made ready. */
struct board_page {
	size_t after;
	struct reply_ready reply; /* owned */
};

enum board_kind { BOARD_ALL, BOARD_ACTIVE, BOARD_NKINDS };

struct board {
	LIST_ENTRY(board) link;
	unsigned refs; /* web's thread: the list's, and streams' */
	char ladder[LIMIT_NAME_BYTES + 1];
	char game[LIMIT_NAME_BYTES + 1];
	bool is_rated;
	int64_t sequence;
	char made[40];            /* time, as text */
	struct board_line *lines; /* owned; in order of the table */
	size_t nlines;
	struct buf text;
	struct board_page *pages[BOARD_NKINDS]; /* owned, by `after` */
	size_t npages[BOARD_NKINDS];
};

struct boards_job {
	struct web_job base; /* first */
	LIST_HEAD(, board) boards;
	int64_t took_us;
};

void board_unref(struct board *board)
{
	if (board == NULL || --board->refs > 0)
		return;
	for (unsigned kind = 0; kind < BOARD_NKINDS; kind++) {
		for (size_t i = 0; i < board->npages[kind]; i++)
			reply_ready_release(&board->pages[kind][i].reply);
		free(board->pages[kind]);
	}
	free(board->lines);
	buf_release(&board->text);
	free(board);
}

void boards_free(struct web *web)
{
	struct board *board;

	while ((board = LIST_FIRST(&web->boards)) != NULL) {
		LIST_REMOVE(board, link);
		board_unref(board);
	}
}

/* ---- the worker's part ---- */

struct placed {
	const struct web_standing *row;
	size_t rank;
	int64_t figure; /* in tenths */
	unsigned flags;
	double low, high;
};

static int by_mean(const void *a, const void *b)
{
	const struct placed *one = a, *two = b;

	if (one->row->mean != two->row->mean)
		return one->row->mean > two->row->mean ? -1 : 1;
	return one->row->version_id < two->row->version_id ? -1 : 1;
}

static void place_contest(const struct web_table *table, struct placed *ret)
{
	for (size_t i = 0; i < table->nrows; i++)
		ret[i].row = &table->rows[i];
	qsort(ret, table->nrows, sizeof(*ret), by_mean);
	for (size_t i = 0; i < table->nrows; i++)
		ret[i].rank = i > 0 && ret[i].row->mean == ret[i - 1].row->mean
				      ? ret[i - 1].rank
				      : i + 1;
}

static void place_rated(const struct web_table *table, int64_t now_us,
			struct placed *ret)
{
	struct standings_entry *entries =
		xcalloc(table->nrows + 1, sizeof(*entries));
	struct standings_row *rows = xcalloc(table->nrows + 1, sizeof(*rows));

	for (size_t i = 0; i < table->nrows; i++)
		entries[i] = (struct standings_entry){
			.rating = { table->rows[i].mu, table->rows[i].sigma },
			.rounds = (uint32_t)table->rows[i].rounds,
			.last_us = table->rows[i].last_us,
			.id = table->rows[i].version_id,
		};
	standings_order(entries, table->nrows, now_us, rows);
	for (size_t i = 0; i < table->nrows; i++)
		ret[i] = (struct placed){
			.row = &table->rows[rows[i].entry],
			.rank = rows[i].rank,
			.figure = rows[i].figure,
			.flags = rows[i].flags,
			.low = rows[i].low,
			.high = rows[i].high,
		};
	free(entries);
	free(rows);
}

/* 123 tenths as 12.3. */
static json_t *tenths(int64_t value)
{
	return json_real((double)value / 10);
}

static json_t *line_json(const struct web_table *table,
			 const struct placed *placed)
{
	const struct web_standing *row = placed->row;
	json_t *line = json_pack(
		"{s:I, s:s, s:s, s:s, s:b, s:b, s:I, s:o}", "rank",
		(json_int_t)placed->rank, "bot", row->bot, "version",
		row->version, "owner", row->owner, "house", row->is_house,
		"active", row->is_active, "matches", (json_int_t)row->matches,
		"last", store_web_time(row->last_us));

	if (line == NULL)
		return NULL;
	if (!table->is_rated) {
		(void)json_object_set_new(line, "mean_score",
					  store_web_real(row->mean));
		return line;
	}
	(void)json_object_set_new(line, "rounds", json_integer(row->rounds));
	(void)json_object_set_new(line, "rating", tenths(placed->figure));
	(void)json_object_set_new(line, "mu", json_real(row->mu));
	(void)json_object_set_new(line, "sigma", json_real(row->sigma));
	(void)json_object_set_new(
		line, "interval",
		json_pack("[f, f]", placed->low, placed->high));
	(void)json_object_set_new(
		line, "provisional",
		json_boolean(placed->flags & STANDINGS_PROVISIONAL));
	(void)json_object_set_new(
		line, "inactive",
		json_boolean(placed->flags & STANDINGS_INACTIVE));
	return line;
}

static void write_lines(struct board *board, const struct web_table *table,
			const struct placed *placed)
{
	board->lines = xcalloc(table->nrows + 1, sizeof(*board->lines));
	board->nlines = table->nrows;
	for (size_t i = 0; i < table->nrows; i++) {
		struct board_line *line = &board->lines[i];
		json_t *value = line_json(table, &placed[i]);
		char *text =
			value == NULL
				? NULL
				: json_dumps(value,
					     JSON_COMPACT |
						     JSON_REAL_PRECISION(15));

		json_decref(value);
		if (i > 0)
			buf_add_char(&board->text, ',');
		line->bot_id = placed[i].row->bot_id;
		line->is_active = placed[i].row->is_active;
		memcpy(line->bot, placed[i].row->bot, sizeof(line->bot));
		line->start = board->text.len;
		buf_add_text(&board->text, text == NULL ? "{}" : text);
		line->len = board->text.len - line->start;
		free(text);
	}
}

/* Lines from AFTER on, LIMIT of them, of every version. */
static size_t add_slice(const struct board *board, size_t after, size_t limit,
			struct buf *out)
{
	size_t end =
		after + limit < board->nlines ? after + limit : board->nlines;
	const struct board_line *last;

	if (after >= end)
		return 0;
	last = &board->lines[end - 1];
	buf_add(out, board->text.data + board->lines[after].start,
		last->start + last->len - board->lines[after].start);
	return end < board->nlines ? end : 0;
}

/* Likewise, of those versions alone that play now. */
static size_t add_active(const struct board *board, size_t after, size_t limit,
			 struct buf *out)
{
	size_t count = 0;

	for (size_t i = after; i < board->nlines; i++) {
		const struct board_line *line = &board->lines[i];

		if (!line->is_active)
			continue;
		if (count == limit)
			return i;
		if (count++ > 0)
			buf_add_char(out, ',');
		buf_add(out, board->text.data + line->start, line->len);
	}
	return 0;
}

/* The page of KIND from AFTER on; returns where the next one begins, or 0. */
static size_t add_page(const struct board *board, enum board_kind kind,
		       size_t after, size_t limit, struct buf *out)
{
	size_t next;

	buf_add_format(out,
		       "{\"ladder\":\"%s\",\"game\":\"%s\",\"rated\":%s,"
		       "\"sequence\":%lld,\"count\":%zu,\"standings\":[",
		       board->ladder, board->game,
		       board->is_rated ? "true" : "false",
		       (long long)board->sequence, board->nlines);
	next = kind == BOARD_ACTIVE ? add_active(board, after, limit, out)
				    : add_slice(board, after, limit, out);
	if (next == 0)
		buf_add_text(out, "],\"next\":null}");
	else
		buf_add_format(out, "],\"next\":%zu}", next);
	return next;
}

/* Those of one kind, as a client goes through them. */
static void make_pages(struct board *board, enum board_kind kind)
{
	size_t after = 0, count = 0;
	struct board_page *pages = xcalloc(BOARD_READY_MAX, sizeof(*pages));

	do {
		struct buf text = BUF_INIT(BOARD_BYTES);
		struct board_page *page = &pages[count];
		char *bytes;

		page->after = after;
		after = add_page(board, kind, after, BOARD_PAGE, &text);
		bytes = text.is_failed ? NULL : malloc(text.len);
		if (bytes != NULL) {
			memcpy(bytes, text.data, text.len);
			reply_ready_make(&page->reply, bytes, text.len, true);
			count++;
		}
		buf_release(&text);
		if (bytes == NULL)
			break;
	} while (after != 0 && count < BOARD_READY_MAX);
	board->pages[kind] = pages;
	board->npages[kind] = count;
}

static struct board *board_new(const struct web_table *table, int64_t now_us)
{
	struct board *board = xcalloc(1, sizeof(*board));
	struct placed *placed = xcalloc(table->nrows + 1, sizeof(*placed));
	bool has_old = false;

	board->refs = 1;
	buf_init(&board->text, BOARD_BYTES);
	memcpy(board->ladder, table->ladder, sizeof(board->ladder));
	memcpy(board->game, table->game, sizeof(board->game));
	board->is_rated = table->is_rated;
	board->sequence = table->sequence;
	if (table->is_rated)
		place_rated(table, now_us, placed);
	else
		place_contest(table, placed);
	write_lines(board, table, placed);
	free(placed);
	make_pages(board, BOARD_ALL);
	for (size_t i = 0; i < board->nlines; i++)
		has_old |= !board->lines[i].is_active;
	if (has_old) /* else they are the same */
		make_pages(board, BOARD_ACTIVE);
	return board;
}

static void make_boards(struct web_job *web_job)
{
	struct boards_job *job = (struct boards_job *)(void *)web_job;
	struct store *store = job->base.web->worker;
	json_t *ladders = NULL, *ladder;
	int64_t begun_us = clock_now_us();
	size_t i;

	job->base.rc = store_web_ladders(store, &ladders, &job->base.error);
	if (job->base.rc < 0)
		return;
	json_array_foreach(ladders, i, ladder) {
		struct web_table table;
		struct board *board;

		job->base.rc = store_web_table(
			store,
			json_string_value(json_object_get(ladder, "name")),
			&table, &job->base.error);
		if (job->base.rc < 0)
			break;
		board = board_new(&table, clock_wall_us());
		LIST_INSERT_HEAD(&job->boards, board, link);
		store_web_table_release(&table);
	}
	json_decref(ladders);
	job->took_us = clock_now_us() - begun_us;
}

/* ---- web's thread ---- */

static struct board *find_board(struct web *web, const char *ladder)
{
	struct board *board;

	LIST_FOREACH(board, &web->boards, link)
	if (strcmp(board->ladder, ladder) == 0)
		return board;
	return NULL;
}

static void tell_change(struct web *web, const struct board *board)
{
	struct buf text = BUF_INIT(65536);
	size_t count =
		board->nlines < EVENT_LINES ? board->nlines : EVENT_LINES;
	size_t end = count == 0 ? 0
				: board->lines[count - 1].start +
					  board->lines[count - 1].len;

	buf_add_format(&text, "{\"ladder\":\"%s\",\"sequence\":%lld,\"top\":[",
		       board->ladder, (long long)board->sequence);
	buf_add(&text, board->text.data, end);
	buf_add_text(&text, "]}");
	if (!text.is_failed)
		events_tell_board(web, board->ladder, buf_text(&text));
	buf_release(&text);
}

static void finish_boards(struct web_job *web_job)
{
	struct boards_job *job = (struct boards_job *)(void *)web_job;
	struct web *web = job->base.web;
	struct board *board, *old;

	web->has_boards_job = false;
	web->boards_us = clock_now_us();
	web->boards_rest_us = BOARDS_SHARE * job->took_us;
	if (web->boards_rest_us < BOARDS_US)
		web->boards_rest_us = BOARDS_US;
	if (job->base.rc < 0 && job->base.rc != -ECANCELED) {
		log_error("event=standings_unread reason=\"%s\"",
			  job->base.error.text);
		web->stamp = -1; /* try again */
	}
	while ((board = LIST_FIRST(&job->boards)) != NULL) {
		bool is_new;

		LIST_REMOVE(board, link);
		old = find_board(web, board->ladder);
		is_new = old == NULL || strcmp(buf_text(&old->text),
					       buf_text(&board->text)) != 0;
		if (old != NULL) {
			LIST_REMOVE(old, link);
			board_unref(old);
		}
		LIST_INSERT_HEAD(&web->boards, board, link);
		if (is_new)
			tell_change(web, board);
	}
	free(job);
}

void boards_first(struct web *web)
{
	struct boards_job *job = xcalloc(1, sizeof(*job));
	struct store_error error;

	LIST_INIT(&job->boards);
	job->base.web = web;
	if (store_web_stamp(web->store, &web->stamp, &error) < 0)
		web->stamp = -1;
	make_boards(&job->base);
	finish_boards(&job->base);
}

void boards_refresh(struct web *web)
{
	int64_t now_us = clock_now_us(), stamp = 0;
	struct store_error error;
	struct boards_job *job;

	if (web->has_boards_job ||
	    now_us - web->boards_us < web->boards_rest_us ||
	    store_web_stamp(web->store, &stamp, &error) < 0)
		return;
	if (stamp == web->stamp && now_us - web->boards_us < BOARDS_IDLE_US)
		return;
	job = xcalloc(1, sizeof(*job));
	LIST_INIT(&job->boards);
	job->base.work = make_boards;
	job->base.finish = finish_boards;
	web_submit_own(web, &job->base);
	web->stamp = stamp;
	web->has_boards_job = true;
}

/* ---- answers ---- */

static const struct board_page *find_page(const struct board *board,
					  enum board_kind kind, size_t after)
{
	const struct board_page *pages = board->pages[kind];
	size_t low = 0, high = board->npages[kind];

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pages[middle].after == after)
			return &pages[middle];
		if (pages[middle].after < after)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

struct board *board_of_call(struct web_call *call, const char *ladder)
{
	struct board *board = find_board(call->web, ladder);

	if (board == NULL)
		reply_problem(call, 404, "not-found", "there is no ladder %s",
			      ladder);
	else
		board->refs++;
	return board;
}

const char *board_line(const struct board *board, size_t i, size_t *ret_len)
{
	if (i >= board->nlines)
		return NULL;
	*ret_len = board->lines[i].len;
	return board->text.data + board->lines[i].start;
}

void board_standings(struct web_call *call)
{
	const char *versions = call_text(call, "versions");
	size_t after = (size_t)call_number(call, "after", 0);
	size_t limit = (size_t)call_number(call, "limit", BOARD_PAGE);
	struct board *board = board_of_call(call, call->args[0]);
	const struct board_page *page = NULL;
	enum board_kind kind = BOARD_ALL;
	struct buf body = BUF_INIT(WEB_OUTPUT_BYTES);

	if (board == NULL)
		return;
	if (versions != NULL && strcmp(versions, "active") == 0 &&
	    board->npages[BOARD_ACTIVE] > 0)
		kind = BOARD_ACTIVE;
	if (limit == BOARD_PAGE)
		page = find_page(board, kind, after);
	if (page != NULL) {
		reply_prepared(call, REPLY_JSON, &page->reply);
		board_unref(board);
		return;
	}
	(void)add_page(board, kind, after, limit, &body);
	if (body.is_failed)
		reply_problem(call, 503, "out-of-memory",
			      "there is no memory for this reply");
	else
		reply_bytes(call, 200, REPLY_JSON, body.data, body.len);
	buf_release(&body);
	board_unref(board);
}

json_t *boards_of_bot(struct web *web, const char *name)
{
	json_t *list = json_array();
	const struct board *board;

	LIST_FOREACH(board, &web->boards, link)
	{
		for (size_t i = 0; i < board->nlines; i++) {
			const struct board_line *line = &board->lines[i];
			json_t *value;

			if (strcmp(line->bot, name) != 0)
				continue;
			value = json_loadb(board->text.data + line->start,
					   line->len, 0, NULL);
			if (value == NULL)
				continue;
			(void)json_object_set_new(value, "ladder",
						  json_string(board->ladder));
			(void)json_array_append_new(list, value);
		}
	}
	return list;
}
