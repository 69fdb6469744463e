/* SPDX-License-Identifier: MIT */
/* export.c - all that is known about a match, as one JSON document. */
#include <errno.h>

#include "clients/ctl/match_view.h"
#include "clients/picture/film.h"
#include "server/match/notes.h"
#include "server/match/transcript.h"

const char export_details[] =
	"With --frames, --animation or --grids the match is drawn, into these files.\n"
	"A small map is enlarged, so that its longer side has 300 pixels or more. Of a\n"
	"long match each second, third, ... state becomes a picture, so that there are\n"
	"not more than 500: --every and --max-frames say otherwise. The pictures of a\n"
	"folder bear the number of the state, turns or moves from 0. The animation is\n"
	"a PNG file that browsers play; others show its first picture.\n"
	"\n"
	"Without them one JSON object on standard output:\n"
	"  format      \"hill match 1\"\n"
	"  match       id, ladder, game, map, params, seed, bot_seed (texts, 63 and\n"
	"              31 bits), engine_version, status (stored, void), void_reason,\n"
	"              rated, started_us and ended_us (since 1970 UTC), stall_us,\n"
	"              inputs, digest (hexadecimal), limits, seats: an array of {seat,\n"
	"              bot, score, points, rank, reason, columns, requests, faults,\n"
	"              late, invalid, ..., max_us, total_us, lag_us, how}\n"
	"  map         {name, options, data}: the bytes as the engine reads them\n"
	"  transcript  in order, what was fed to the engine: {seat, kind (reply, late,\n"
	"              gone), text}\n"
	"  notes       in order: {seat, kind (reply, late, gone, thrown, skipped,\n"
	"              invalid, cut), ms, bank_ms, stall_ms, flags, text}; those of\n"
	"              replies, late and gone ones stand in the transcript's order\n"
	"  samples     {step, digests}: the running digest after each `step` inputs,\n"
	"              hexadecimal\n"
	"Bytes that are no UTF-8 text stand in base64, under the name with _base64\n"
	"behind it. A number that is not finite is null.\n";

/* 0, or what the reader says of damage. */
static int add_transcript(json_t *document, const struct row_record *record)
{
	static const char *const kinds[GAME_NINPUTS] = { "reply", "late",
							 "gone" };
	struct transcript_reader *reader =
		transcript_open(record->transcript, record->transcript_len,
				record->match.nseats);
	struct transcript_entry entry;
	json_t *list = json_array();
	int rc;

	while ((rc = transcript_next(reader, &entry)) > 0) {
		json_t *json =
			json_pack("{s:i, s:s}", "seat", (int)entry.seat + 1,
				  "kind", kinds[entry.kind]);

		if (entry.kind == GAME_REPLY)
			match_add_bytes(json, "text", entry.text, entry.len);
		(void)json_array_append_new(list, json);
	}
	transcript_close(reader);
	(void)json_object_set_new(document, "transcript", list);
	return rc;
}

static json_t *flags_json(uint32_t flags)
{
	static const struct {
		uint32_t flag;
		const char *word;
	} words[] = {
		{ NOTE_EARLY, "early" }, { NOTE_BANKED, "banked" },
		{ NOTE_LONG, "long" },   { NOTE_STALL, "stall" },
		{ NOTE_FULL, "full" },   { NOTE_INTERRUPTED, "interrupted" },
	};
	json_t *list = json_array();

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if ((flags & words[i].flag) != 0)
			(void)json_array_append_new(list,
						    json_string(words[i].word));
	return list;
}

static json_t *note_json(const struct note *note)
{
	static const char *const kinds[NOTE_NKINDS] = {
		"reply", "late", "gone", "thrown", "skipped", "invalid", "cut"
	};
	json_t *json = json_pack("{s:i, s:s, s:f, s:o}", "seat",
				 (int)note->seat + 1, "kind", kinds[note->kind],
				 "ms", (double)note->time_us / 1000, "flags",
				 flags_json(note->flags));

	if ((note->flags & NOTE_BANKED) != 0)
		(void)json_object_set_new(
			json, "bank_ms",
			json_real((double)note->bank_us / 1000));
	if ((note->flags & NOTE_STALL) != 0)
		(void)json_object_set_new(
			json, "stall_ms",
			json_real((double)note->stall_us / 1000));
	if (note->len > 0)
		match_add_bytes(json, "text", note->text, note->len);
	return json;
}

static int add_notes(json_t *document, const struct row_record *record)
{
	struct notes_reader *reader;
	json_t *list = json_array();
	struct note note;
	int rc = 0;

	if (record->notes_len > 0) {
		reader = notes_open(record->notes, record->notes_len,
				    record->match.nseats);
		while ((rc = notes_next(reader, &note)) > 0)
			(void)json_array_append_new(list, note_json(&note));
		notes_close(reader);
	}
	(void)json_object_set_new(document, "notes", list);
	return rc;
}

static json_t *map_of(const struct row_record *record)
{
	json_t *json = json_pack("{s:s, s:s}", "name", record->match.map,
				 "options", record->map_options);

	match_add_bytes(json, "data",
			record->map_data == NULL ? "" : record->map_data,
			record->map_len);
	return json;
}

/* Damage is no reason to keep back the rest: it is told, and status 1. */
static int export(const struct ctl *ctl, const struct row_record *record)
{
	json_t *document =
		json_pack("{s:s, s:o, s:o}", "format", "hill match 1", "match",
			  match_json(&record->match), "map", map_of(record));
	json_t *samples = json_array();
	struct ctl quiet = *ctl;
	int status = CTL_OK;

	quiet.is_json = false; /* the document is the export */
	if (add_transcript(document, record) != 0)
		status = ctl_fail(&quiet,
				  "match %lld: the transcript is "
				  "damaged; only its beginning is "
				  "exported",
				  (long long)record->match.id);
	if (add_notes(document, record) != 0)
		status = ctl_fail(&quiet,
				  "match %lld: the notes are damaged; "
				  "only their beginning is exported",
				  (long long)record->match.id);
	for (size_t i = 1; i < record->nsamples; i++)
		(void)json_array_append_new(samples,
					    match_hex(record->samples[i]));
	(void)json_object_set_new(
		document, "samples",
		json_pack("{s:I, s:o}", "step",
			  record->nsamples == 0
				  ? (json_int_t)0
				  : (json_int_t)record->samples[0],
			  "digests", samples));
	ctl_print_json(document);
	json_decref(document);
	return status;
}

int run_export(const struct ctl *ctl, const struct ctl_call *call)
{
	struct store_error error = { "" };
	struct film_options film;
	struct row_record record;
	struct channel channel;
	int64_t id = 0;
	int status;

	status = pictures_options(call, &film);
	if (status == CTL_OK)
		status = match_parse(call, &id);
	if (status != CTL_OK)
		return status;
	if (channel_open_read(&channel, ctl) != 0)
		return CTL_FAILED;
	if (store_record(channel.store, id, &record, &error) != 0) {
		status = ctl_fail(ctl, "%s", error.text);
	} else {
		status = film_is_wanted(&film)
				 ? pictures_make(ctl, &record, &film)
				 : export(ctl, &record);
		row_record_release(&record);
	}
	channel_close(&channel);
	return status;
}
