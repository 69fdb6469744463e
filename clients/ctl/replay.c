/* SPDX-License-Identifier: MIT */
/* replay.c - what the programs of a match saw and said, played again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clients/ctl/match_view.h"
#include "clients/ctl/table.h"
#include "server/match/notes.h"
#include "server/store/record_json.h"
#include "server/store/rerun.h"

enum { ALL_SEATS = -1, TIME_BYTES = 32 };

struct viewer {
	int seat;       /* the only one that is shown, or ALL_SEATS */
	bool saw, said; /* byte for byte, and nothing else */
	json_t *lines;  /* borrowed; NULL: print */
	struct notes_reader *notes; /* NULL: no more of them */
	const char *notes_error;    /* what ended them too early */
	struct note ahead;          /* already read */
	bool has_ahead;
};

static bool is_shown(const struct viewer *viewer, unsigned seat)
{
	return viewer->seat == ALL_SEATS || viewer->seat == (int)seat;
}

static void print_line(const char *time, unsigned seat, char direction,
		       const char *text, size_t len)
{
	struct buf shown = BUF_INIT(SIZE_MAX / 2);

	text_escape(text, len, &shown);
	(void)printf("%9s %u %c%s%s\n", time, seat + 1, direction,
		     shown.len == 0 ? "" : " ", buf_text(&shown));
	buf_release(&shown);
}

/* A line to a program. */
static void on_line(void *context, unsigned seat, const char *text, size_t len)
{
	struct viewer *viewer = context;
	json_t *json;

	if (!is_shown(viewer, seat) || viewer->said)
		return;
	if (viewer->saw) {
		(void)fwrite(text, 1, len, stdout);
		(void)fputc('\n', stdout);
	} else if (viewer->lines == NULL) {
		print_line("", seat, '<', text, len);
	} else {
		json = json_pack("{s:i, s:s}", "seat", (int)seat + 1, "dir",
				 "saw");
		record_add_bytes(json, "text", text, len);
		(void)json_array_append_new(viewer->lines, json);
	}
}

/* What the server remarked, for people. */
static void show_remark(struct viewer *viewer, const struct note *note)
{
	struct buf text = BUF_INIT(65536);
	json_t *json;

	if (!is_shown(viewer, note->seat) || viewer->saw || viewer->said)
		return;
	if (note->kind == NOTE_THROWN)
		buf_add_format(&text,
			       "a late reply, thrown away; it took "
			       "%.1f ms",
			       (double)note->time_us / 1000);
	else if (note->kind == NOTE_SKIPPED)
		buf_add_text(&text, "a late reply will not come: @skip");
	else
		buf_add_text(&text, "invalid: ");
	if (note->kind == NOTE_INVALID)
		buf_add(&text, note->text, note->len);
	if (viewer->lines == NULL) {
		print_line("", note->seat, '!', buf_text(&text), text.len);
	} else {
		json = json_pack("{s:i, s:s}", "seat", (int)note->seat + 1,
				 "dir", "note");
		record_add_bytes(json, "text", buf_text(&text), text.len);
		(void)json_array_append_new(viewer->lines, json);
	}
	buf_release(&text);
}

static void end_notes(struct viewer *viewer, const char *error)
{
	notes_close(viewer->notes);
	viewer->notes = NULL;
	if (viewer->notes_error == NULL)
		viewer->notes_error = error;
}

/* The next note, whatever it is. False when there is none. */
static bool take_note(struct viewer *viewer, struct note *ret)
{
	int rc;

	if (viewer->has_ahead) {
		*ret = viewer->ahead;
		viewer->has_ahead = false;
		return true;
	}
	if (viewer->notes == NULL)
		return false;
	rc = notes_next(viewer->notes, ret);
	if (rc <= 0)
		end_notes(viewer, rc < 0 ? "they are damaged" : NULL);
	return rc > 0;
}

/* What the engine ignored of the reply that was just shown. */
static void show_invalid(struct viewer *viewer)
{
	if (!take_note(viewer, &viewer->ahead))
		return;
	if (viewer->ahead.kind == NOTE_INVALID)
		show_remark(viewer, &viewer->ahead);
	else
		viewer->has_ahead = true;
}

/*
 * The note of the input ENTRY (ENTRY NULL: the end); remarks that come before
 * it are shown. False when there is none.
 */
static bool next_note(struct viewer *viewer,
		      const struct transcript_entry *entry, struct note *ret)
{
	static const enum note_kind kinds[GAME_NINPUTS] = {
		[GAME_REPLY] = NOTE_REPLY,
		[GAME_LATE] = NOTE_LATE,
		[GAME_GONE] = NOTE_GONE,
	};

	while (take_note(viewer, ret)) {
		switch (ret->kind) {
		case NOTE_THROWN:
		case NOTE_SKIPPED:
		case NOTE_INVALID:
			show_remark(viewer, ret);
			continue;
		case NOTE_REPLY:
		case NOTE_LATE:
		case NOTE_GONE:
			if (entry != NULL && ret->seat == entry->seat &&
			    ret->kind == kinds[entry->kind])
				return true;
			end_notes(viewer, "they belong to another match");
			return false;
		case NOTE_CUT:
		case NOTE_NKINDS:
			end_notes(viewer, "their bound was reached here");
			return false;
		}
	}
	return false;
}

/* "late, stall 3.0 ms credited": what is to be said of an input. */
static void describe(const struct transcript_entry *entry,
		     const struct note *note, struct buf *out)
{
	static const struct {
		uint32_t flag;
		const char *word;
	} words[] = { { NOTE_EARLY, "early" },
		      { NOTE_LONG, "over line-max" },
		      { NOTE_INTERRUPTED, "after the interrupt" },
		      { NOTE_FULL, "its share of the transcript is full" } };

	if (entry->kind == GAME_LATE)
		buf_add_text(out, "late");
	if (entry->kind == GAME_GONE)
		buf_add_text(out, "gone");
	if (note == NULL)
		return;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if ((note->flags & words[i].flag) != 0)
			buf_add_format(out, "%s%s", out->len == 0 ? "" : ", ",
				       words[i].word);
	if ((note->flags & NOTE_BANKED) != 0)
		buf_add_format(out, "%s%.1f ms of the bank",
			       out->len == 0 ? "" : ", ",
			       (double)note->bank_us / 1000);
	if ((note->flags & NOTE_STALL) != 0)
		buf_add_format(out, "%s%.1f ms of the server's own credited",
			       out->len == 0 ? "" : ", ",
			       (double)note->stall_us / 1000);
	if (note->len > 0) {
		buf_add_text(out, out->len == 0 ? "" : ", ");
		buf_add(out, note->text, note->len);
	}
}

static void add_input(struct viewer *viewer,
		      const struct transcript_entry *entry, uint32_t turn,
		      const struct note *note, const struct buf *text)
{
	static const char *const kinds[GAME_NINPUTS] = { "reply", "late",
							 "gone" };
	json_t *json =
		json_pack("{s:i, s:s, s:s, s:I}", "seat", (int)entry->seat + 1,
			  "dir", "said", "kind", kinds[entry->kind], "request",
			  (json_int_t)turn);

	if (entry->kind == GAME_REPLY)
		record_add_bytes(json, "text", entry->text, entry->len);
	if (text->len > 0)
		record_add_bytes(json, "note", buf_text(text), text->len);
	if (note != NULL && note->kind != NOTE_GONE)
		(void)json_object_set_new(
			json, "ms", json_real((double)note->time_us / 1000));
	(void)json_array_append_new(viewer->lines, json);
}

/* A program's reply, or that there was none. */
static void show_input(struct viewer *viewer,
		       const struct transcript_entry *entry, uint32_t turn,
		       const struct note *note)
{
	struct buf text = BUF_INIT(65536);
	char time[TIME_BYTES] = "";

	if (!is_shown(viewer, entry->seat) || viewer->saw)
		return;
	if (viewer->said) {
		if (entry->kind != GAME_REPLY)
			return;
		(void)fwrite(entry->text, 1, entry->len, stdout);
		(void)fputc('\n', stdout);
		return;
	}
	describe(entry, note, &text);
	if (viewer->lines != NULL) {
		add_input(viewer, entry, turn, note, &text);
	} else {
		if (note != NULL && note->kind != NOTE_GONE)
			(void)snprintf(time, sizeof(time), "%.1f",
				       (double)note->time_us / 1000);
		if (entry->kind == GAME_REPLY)
			print_line(time, entry->seat, '>', entry->text,
				   entry->len);
		if (text.len > 0)
			print_line(entry->kind == GAME_REPLY ? "" : time,
				   entry->seat, '!', buf_text(&text), text.len);
	}
	buf_release(&text);
}

static void on_input(void *context, const struct transcript_entry *entry,
		     uint32_t turn)
{
	struct viewer *viewer = context;
	struct note note;

	if (next_note(viewer, entry, &note)) {
		show_input(viewer, entry, turn, &note);
		show_invalid(viewer);
	} else {
		show_input(viewer, entry, turn, NULL);
	}
}

static void print_head(const struct row_match *match, FILE *file)
{
	(void)fprintf(file, "match %lld, %s on %s, seed %s%s%s\n",
		      (long long)match->id, match->game, match->map,
		      match->seed, match->params[0] == '\0' ? "" : ", ",
		      match->params);
	for (unsigned i = 0; i < match->nseats; i++)
		(void)fprintf(file, "seat %u %s\n", i + 1, match->seats[i].bot);
}

static void print_scores(const struct row_match *match,
			 const struct replay_result *result)
{
	struct buf text = BUF_INIT(64);

	for (unsigned i = 0; i < match->nseats; i++) {
		const struct game_score *score = &result->scores[i];

		buf_clear(&text);
		game_score_format(score->score, &text);
		(void)printf("seat %u %s: score %s, rank %u, %s\n", i + 1,
			     match->seats[i].bot, buf_text(&text), score->rank,
			     game_reason_word(score->reason));
	}
	buf_release(&text);
}

static void print_document(const struct row_match *match,
			   const struct replay_result *result, json_t *lines)
{
	json_t *scores = json_array(), *document;

	for (unsigned i = 0; i < match->nseats; i++)
		(void)json_array_append_new(
			scores,
			json_pack("{s:i, s:o, s:i, s:s}", "seat", (int)i + 1,
				  "score", record_real(result->scores[i].score),
				  "rank", (int)result->scores[i].rank, "reason",
				  game_reason_word(result->scores[i].reason)));
	document = json_pack("{s:b, s:o, s:O, s:o}", "ok", 1, "match",
			     record_match_json(match), "lines", lines, "scores",
			     scores);
	ctl_print_json(document);
	json_decref(document);
}

/* Play RECORD again and show it. An exit status. */
static int show(const struct ctl *ctl, const struct row_record *record,
		struct viewer *viewer)
{
	struct replay_callbacks calls = { .input = on_input,
					  .line = on_line,
					  .context = viewer };
	bool is_raw = viewer->saw || viewer->said;
	struct game_error error = { .text = "" };
	struct replay_result result;
	struct rerun rerun;
	struct note note;
	int rc;

	rc = rerun_init(&rerun, record, &error);
	if (rc == 0) {
		if (!ctl->is_json && !is_raw)
			print_head(&record->match, stdout);
		rc = rerun_play(&rerun, &calls, &result, &error);
	}
	rerun_release(&rerun);
	if (rc != 0) {
		(void)fflush(stdout); /* the reason stands behind the lines */
		return ctl_fail(ctl, "match %lld: %s",
				(long long)record->match.id,
				rc == -ENOMEM ? "no memory" : error.text);
	}
	(void)next_note(viewer, NULL, &note);
	if (ctl->is_json && !is_raw)
		print_document(&record->match, &result, viewer->lines);
	else if (!is_raw)
		print_scores(&record->match, &result);
	(void)fflush(stdout);
	if (viewer->notes_error != NULL)
		(void)fprintf(stderr,
			      "hillctl: times and remarks are not "
			      "complete: %s\n",
			      viewer->notes_error);
	return CTL_OK;
}

static int check_options(const struct ctl *ctl, const struct ctl_call *call,
			 struct viewer *ret)
{
	int64_t seat = ctl_number(call, "seat", 0);

	ret->saw = ctl_value(call, "saw") != NULL;
	ret->said = ctl_value(call, "said") != NULL;
	ret->seat = (int)seat - 1; /* 0: ALL_SEATS */
	if (ctl_value(call, "seat") != NULL && (seat < 1 || seat > LIMIT_SEATS))
		return ctl_usage(call, "--seat: %lld is not 1 to %d",
				 (long long)seat, (int)LIMIT_SEATS);
	if (ret->saw && ret->said)
		return ctl_usage(call, "either --saw or --said");
	if ((ret->saw || ret->said) && ret->seat == ALL_SEATS)
		return ctl_usage(call, "--%s needs --seat N",
				 ret->saw ? "saw" : "said");
	if ((ret->saw || ret->said) && ctl->is_json)
		return ctl_usage(call, "--%s is no JSON",
				 ret->saw ? "saw" : "said");
	if (ctl_value(call, "ladder") != NULL &&
	    ctl_value(call, "seed") == NULL)
		return ctl_usage(call, "--ladder needs --seed SEED");
	return CTL_OK;
}

int run_replay(const struct ctl *ctl, const struct ctl_call *call)
{
	struct viewer viewer = { .seat = ALL_SEATS };
	struct store_error error = { "" };
	struct channel channel;
	struct row_record record = { 0 };
	int64_t id = 0;
	int status = check_options(ctl, call, &viewer);

	if (status == CTL_OK)
		status = match_parse(call, &id);
	if (status != CTL_OK)
		return status;
	if (channel_open_read(&channel, ctl) != 0)
		return CTL_FAILED;
	status = match_find(ctl, call, channel.store, &id);
	if (status == CTL_OK &&
	    store_record(channel.store, id, &record, &error) != 0)
		status = ctl_fail(ctl, "%s", error.text);
	channel_close(&channel);
	if (status != CTL_OK)
		return status;
	if (viewer.seat >= (int)record.match.nseats) {
		status = ctl_fail(ctl, "match %lld has %u seats, not %d",
				  (long long)id, record.match.nseats,
				  viewer.seat + 1);
	} else {
		if (ctl->is_json)
			viewer.lines = json_array();
		if (record.notes_len > 0)
			viewer.notes =
				notes_open(record.notes, record.notes_len,
					   record.match.nseats);
		status = show(ctl, &record, &viewer);
		notes_close(viewer.notes);
		json_decref(viewer.lines);
	}
	row_record_release(&record);
	return status;
}
