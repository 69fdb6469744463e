/* SPDX-License-Identifier: MIT */
/*
 * stream.c - answers that may be long: transcripts, notes, exports. They are
 * made piece by piece as the client takes them, so a slow one costs a piece
 * of memory, and what is stored of the match, packed; it holds no transaction
 * open.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/match/notes.h"
#include "server/match/transcript.h"
#include "server/web/web_internal.h"

enum {
	PIECE_BYTES = 65536, /* made at once, at least */
	PIECE_MAX = 33 * 1024 * 1024,
	BOARD_LINES = 200,  /* of standings, in a piece */
	EXPORT_LINES = 100, /* matches read at once */
};

/* One long answer. MAKE appends a piece to OUT: 1 more, 0 the end, -errno. */
struct stream {
	struct web_call *call;
	int (*make)(struct stream *stream, struct buf *out);
	struct row_record record; /* transcripts and notes */
	struct transcript_reader *transcript;
	struct notes_reader *notes;
	struct web_filter filter; /* exports of matches */
	struct board *board;      /* held: exports of standings */
	size_t line;              /* the next one of it */
	struct event *again;      /* owned; the next turn, or NULL */
};

static void stream_free(struct stream *stream)
{
	if (stream->again != NULL)
		event_free(stream->again);
	if (stream->transcript != NULL)
		transcript_close(stream->transcript);
	if (stream->notes != NULL)
		notes_close(stream->notes);
	row_record_release(&stream->record);
	board_unref(stream->board);
	call_free(stream->call);
	free(stream);
}

static void on_gone(struct http_request *request, void *arg)
{
	http_end(request);
	stream_free(arg);
}

static void stream_end(struct stream *stream, int rc)
{
	struct http_request *request = stream->call->request;

	request->on_gone = NULL;
	if (rc == 0)
		http_end(request);
	else
		http_abort(request);
	stream_free(stream);
}

/* Called when the client has taken all. */
static void on_room(struct http_request *request, void *arg)
{
	static const struct timeval at_once = { 0 };
	struct stream *stream = arg;
	struct buf out = BUF_INIT(PIECE_MAX);
	int rc = stream->make(stream, &out);

	if (out.len > 0)
		(void)http_send(request, out.data, out.len);
	else if (rc > 0 && event_add(stream->again, &at_once) < 0)
		rc = -ENOMEM; /* a search that found nothing yet goes on */
	if (out.is_failed)
		rc = -ENOMEM;
	buf_release(&out);
	if (rc <= 0)
		stream_end(stream, rc);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
	struct stream *stream = arg;

	(void)fd;
	(void)what;
	on_room(stream->call->request, stream);
}

static void stream_begin(struct stream *stream, const char *type,
			 const char *first)
{
	struct web_call *call = stream->call;
	struct http_request *request = call->request;

	if (request->head.method == HTTP_HEAD_ONLY) {
		stream->call = NULL;
		reply_only_head(call, type);
		stream_free(stream);
		return;
	}
	stream->again = event_new(call->web->base, -1, 0, on_again, stream);
	if (request->conn == NULL || stream->again == NULL) {
		stream->call = NULL;
		reply_problem(call, 503, "out-of-memory",
			      "there is no memory for this reply");
		stream_free(stream);
		return;
	}
	request->arg = stream;
	request->on_room = on_room;
	request->on_gone = on_gone;
	reply_begin(call, type);
	if (first != NULL)
		(void)http_send(request, first, strlen(first));
}

static void add_line(struct buf *out, json_t *value_take)
{
	char *text =
		value_take == NULL
			? NULL
			: json_dumps(value_take,
				     JSON_COMPACT | JSON_REAL_PRECISION(15));

	json_decref(value_take);
	if (text != NULL) {
		buf_add_text(out, text);
		buf_add_char(out, '\n');
	}
	free(text);
}

/* ---- transcripts and notes ---- */

/* Bytes as text: what is no UTF-8 is told in hexadecimal beside it. */
static json_t *text_json(const char *text, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	json_t *value = memchr(text, '\0', len) == NULL
				? json_stringn(text, len)
				: NULL;
	char *hex;

	if (value != NULL)
		return value;
	hex = xmalloc(2 * len + 1);
	for (size_t i = 0; i < len; i++) {
		hex[2 * i] = digits[(unsigned char)text[i] >> 4];
		hex[2 * i + 1] = digits[(unsigned char)text[i] & 15];
	}
	hex[2 * len] = '\0';
	value = json_pack("{s:s}", "hex", hex);
	free(hex);
	return value;
}

static int make_transcript(struct stream *stream, struct buf *out)
{
	static const char *const kinds[] = { [GAME_REPLY] = "reply",
					     [GAME_LATE] = "late",
					     [GAME_GONE] = "gone" };
	struct transcript_entry entry;
	int rc = 1;

	while (out->len < PIECE_BYTES &&
	       (rc = transcript_next(stream->transcript, &entry)) > 0)
		add_line(out,
			 json_pack("{s:I, s:I, s:s, s:o}", "input",
				   (json_int_t)entry.number, "seat",
				   (json_int_t)entry.seat + 1, "kind",
				   kinds[entry.kind], "text",
				   entry.kind == GAME_REPLY
					   ? text_json(entry.text, entry.len)
					   : json_null()));
	return rc;
}

static int make_notes(struct stream *stream, struct buf *out)
{
	static const char *const kinds[NOTE_NKINDS] = {
		"reply", "late", "gone", "thrown", "skipped", "invalid", "cut"
	};
	static const char *const flags[] = { "early", "banked",      "long",
					     "stall", "interrupted", "full" };
	struct note note;
	int rc = 1;

	while (out->len < PIECE_BYTES &&
	       (rc = notes_next(stream->notes, &note)) > 0) {
		json_t *list = json_array();

		for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
			if ((note.flags >> i & 1) != 0)
				(void)json_array_append_new(
					list, json_string(flags[i]));
		add_line(out,
			 json_pack("{s:s, s:I, s:o, s:f, s:f, s:f, s:o, s:o}",
				   "kind", kinds[note.kind], "seat",
				   (json_int_t)note.seat + 1, "turn",
				   note.turn > 0 ? json_integer(note.turn)
						 : json_null(),
				   "ms", (double)note.time_us / 1000, "bank_ms",
				   (double)note.bank_us / 1000, "stall_ms",
				   (double)note.stall_us / 1000, "flags", list,
				   "text", text_json(note.text, note.len)));
	}
	return rc;
}

struct record_job {
	struct web_job base; /* first */
	struct stream *stream;
	int64_t id;
};

static void read_record(struct web_job *web_job)
{
	struct record_job *job = (struct record_job *)(void *)web_job;

	job->base.rc = store_web_record(job->base.web->worker, job->id,
					&job->stream->record, &job->base.error);
}

/*
 * Of the record only what is told from now on stays, as the client may take
 * its time. Its bytes.
 */
static size_t keep_needed(struct stream *stream)
{
	struct row_record *record = &stream->record;
	bool is_transcript = stream->make == make_transcript;

	free(record->map_data);
	free(record->samples);
	free(is_transcript ? record->notes : record->transcript);
	record->map_data = NULL;
	record->samples = NULL;
	if (is_transcript)
		record->notes = NULL;
	else
		record->transcript = NULL;
	return is_transcript ? record->transcript_len : record->notes_len;
}

static void finish_record(struct web_job *web_job)
{
	struct record_job *job = (struct record_job *)(void *)web_job;
	struct stream *stream = job->stream;
	struct web_call *call = stream->call;
	const struct row_record *record = &stream->record;

	if (job->base.rc < 0) {
		stream->call = NULL;
		reply_store_problem(call, job->base.rc, job->base.error.text);
		stream_free(stream);
	} else if (!http_hold(call->request, keep_needed(stream))) {
		stream->call = NULL;
		reply_problem(call, 503, "busy",
			      "too much waits for your address already");
		stream_free(stream);
	} else {
		if (stream->make == make_transcript)
			stream->transcript = transcript_open(
				record->transcript, record->transcript_len,
				record->match.nseats);
		else
			stream->notes =
				notes_open(record->notes, record->notes_len,
					   record->match.nseats);
		stream_begin(stream, REPLY_LINES, NULL);
	}
	free(job);
}

static void stream_record(struct web_call *call,
			  int (*make)(struct stream *stream, struct buf *out))
{
	struct record_job *job = xcalloc(1, sizeof(*job));

	job->stream = xcalloc(1, sizeof(*job->stream));
	job->stream->call = call;
	job->stream->make = make;
	job->id = call->numbers[0];
	job->base.work = read_record;
	job->base.finish = finish_record;
	if (web_submit(call, &job->base))
		return;
	free(job->stream);
	free(job);
}

void api_transcript(struct web_call *call)
{
	stream_record(call, make_transcript);
}

void api_notes(struct web_call *call)
{
	stream_record(call, make_notes);
}

/* ---- exports ---- */

static int read_matches(struct stream *stream, json_t **ret)
{
	struct store_error error;
	int64_t next;
	int err;

	stream->filter.limit = EXPORT_LINES;
	err = store_web_matches(stream->call->web->store, &stream->filter, ret,
				&next, &error);
	if (err < 0)
		return err;
	stream->filter.before = next;
	return next == 0 ? 0 : 1;
}

static int make_lines(struct stream *stream, struct buf *out)
{
	json_t *list, *match;
	size_t i;
	int rc = read_matches(stream, &list);

	if (rc < 0)
		return rc;
	json_array_foreach(list, i, match)
		add_line(out, json_incref(match));
	json_decref(list);
	return rc;
}

/* RFC 4180; and no cell begins as a spreadsheet's formula does. */
static void add_cell(struct buf *out, const json_t *value)
{
	const char *text = json_string_value(value);

	if (json_is_integer(value)) {
		buf_add_i64(out, json_integer_value(value));
	} else if (json_is_real(value)) {
		buf_add_format(out, "%.15g", json_real_value(value));
	} else if (json_is_boolean(value)) {
		buf_add_char(out, json_is_true(value) ? '1' : '0');
	} else if (text != NULL) {
		if (strpbrk(text, "\",\r\n") == NULL &&
		    strchr("=+-@", text[0]) == NULL) {
			buf_add_text(out, text);
			return;
		}
		buf_add_char(out, '"');
		if (*text != '\0' && strchr("=+-@", text[0]) != NULL)
			buf_add_char(out, '\'');
		for (; *text != '\0'; text++) {
			if (*text == '"')
				buf_add_char(out, '"');
			buf_add_char(out, *text);
		}
		buf_add_char(out, '"');
	}
}

static const char *const match_cells[] = { "id",      "ladder",  "game",
					   "map",     "seed",    "status",
					   "rated",   "purpose", "round",
					   "started", "ended" };
static const char *const seat_cells[] = { "seat",   "bot",    "version",
					  "house",  "rank",   "score",
					  "points", "reason", "requests" };
static const char *const fault_cells[] = { "late", "invalid", "long", "full" };

#define CSV_HEAD                                                            \
	"id,ladder,game,map,seed,status,rated,purpose,round,started,ended," \
	"seat,bot,version,house,rank,score,points,reason,requests,late,"    \
	"invalid,long,full\r\n"

static void add_cells(struct buf *out, const json_t *object,
		      const char *const *names, size_t count, bool is_first)
{
	for (size_t i = 0; i < count; i++) {
		if (i > 0 || !is_first)
			buf_add_char(out, ',');
		add_cell(out, json_object_get(object, names[i]));
	}
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A line for each seat. */
static int make_csv(struct stream *stream, struct buf *out)
{
	json_t *list, *match, *seat;
	size_t i, k;
	int rc = read_matches(stream, &list);

	if (rc < 0)
		return rc;
	json_array_foreach(list, i, match) {
		json_array_foreach(json_object_get(match, "seats"), k, seat) {
			add_cells(out, match, match_cells, COUNT(match_cells),
				  true);
			add_cells(out, seat, seat_cells, COUNT(seat_cells),
				  false);
			add_cells(out, json_object_get(seat, "faults"),
				  fault_cells, COUNT(fault_cells), false);
			buf_add_text(out, "\r\n");
		}
	}
	json_decref(list);
	return rc;
}

static void stream_export(struct web_call *call, const char *type,
			  const char *head,
			  int (*make)(struct stream *stream, struct buf *out))
{
	struct web_filter probe;
	struct store_error error;
	struct stream *stream;
	json_t *list;
	int64_t next;
	int err;

	/* Once it has begun, an answer can say no more that it is refused. */
	api_filter(call, &probe);
	probe.limit = 1;
	err = store_web_matches(call->web->store, &probe, &list, &next, &error);
	if (err < 0) {
		reply_store_problem(call, err, error.text);
		return;
	}
	json_decref(list);
	stream = xcalloc(1, sizeof(*stream));
	stream->call = call;
	stream->make = make;
	api_filter(call, &stream->filter);
	stream_begin(stream, type, head);
}

void api_export_lines(struct web_call *call)
{
	stream_export(call, REPLY_LINES, NULL, make_lines);
}

void api_export_csv(struct web_call *call)
{
	stream_export(call, "text/csv; charset=utf-8; header=present", CSV_HEAD,
		      make_csv);
}

/* ---- standings ---- */

static int make_board_lines(struct stream *stream, struct buf *out)
{
	const char *line;
	size_t len;

	for (unsigned i = 0; i < BOARD_LINES; i++) {
		line = board_line(stream->board, stream->line, &len);
		if (line == NULL)
			return 0;
		stream->line++;
		buf_add(out, line, len);
		buf_add_char(out, '\n');
	}
	return 1;
}

#define BOARD_HEAD                                                       \
	"rank,bot,version,owner,house,active,rounds,matches,mean_score," \
	"rating,mu,sigma,low,high,provisional,inactive,last\r\n"

static void add_board_row(struct buf *out, const json_t *row)
{
	static const char *const head[] = { "rank",   "bot",     "version",
					    "owner",  "house",   "active",
					    "rounds", "matches", "mean_score",
					    "rating", "mu",      "sigma" };
	static const char *const tail[] = { "provisional", "inactive", "last" };
	const json_t *interval = json_object_get(row, "interval");

	add_cells(out, row, head, COUNT(head), true);
	for (size_t i = 0; i < 2; i++) {
		buf_add_char(out, ',');
		add_cell(out, json_array_get(interval, i));
	}
	add_cells(out, row, tail, COUNT(tail), false);
	buf_add_text(out, "\r\n");
}

static int make_board_csv(struct stream *stream, struct buf *out)
{
	const char *line;
	size_t len;

	for (unsigned i = 0; i < BOARD_LINES; i++) {
		json_t *row;

		line = board_line(stream->board, stream->line, &len);
		if (line == NULL)
			return 0;
		stream->line++;
		row = json_loadb(line, len, 0, NULL);
		if (row == NULL)
			return -ENOMEM;
		add_board_row(out, row);
		json_decref(row);
	}
	return 1;
}

static void stream_board(struct web_call *call, const char *type,
			 const char *head,
			 int (*make)(struct stream *stream, struct buf *out))
{
	struct board *board = board_of_call(call, call->args[0]);
	struct stream *stream;

	if (board == NULL)
		return;
	stream = xcalloc(1, sizeof(*stream));
	stream->call = call;
	stream->make = make;
	stream->board = board;
	stream_begin(stream, type, head);
}

void api_board_lines(struct web_call *call)
{
	stream_board(call, REPLY_LINES, NULL, make_board_lines);
}

void api_board_csv(struct web_call *call)
{
	stream_board(call, "text/csv; charset=utf-8; header=present",
		     BOARD_HEAD, make_board_csv);
}
