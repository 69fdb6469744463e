/* SPDX-License-Identifier: MIT */
#include "server/store/record_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "server/base/buffer.h"
#include "server/games/game.h"
#include "server/match/notes.h"
#include "server/match/transcript.h"
#include "server/store/base64.h"

json_t *record_real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *record_hex(uint64_t value)
{
	return json_sprintf("%016" PRIx64, value);
}

void record_add_bytes(json_t *object, const char *name, const char *text,
		      size_t len)
{
	json_t *value = NULL;
	struct buf encoded, key;

	/* jansson refuses what is no UTF-8; NULs end texts in many readers. */
	if (memchr(text, '\0', len) == NULL)
		value = json_stringn(text, len);
	if (value != NULL) {
		(void)json_object_set_new(object, name, value);
		return;
	}
	buf_init(&encoded, len / 3 * 4 + 8);
	buf_init(&key, 64);
	base64_encode((const uint8_t *)text, len, &encoded);
	buf_add_format(&key, "%s_base64", name);
	(void)json_object_set_new(object, buf_text(&key),
				  json_string(buf_text(&encoded)));
	buf_release(&encoded);
	buf_release(&key);
}

static json_t *columns_json(const struct row_match *match,
			    const struct row_seat *seat)
{
	const struct game *game = game_find(match->game);
	json_t *columns = json_object();

	for (unsigned i = 0; i < seat->ncolumns; i++) {
		char number[32];
		const char *name = number;

		(void)snprintf(number, sizeof(number), "column %u", i + 1);
		if (game != NULL && i < game->ncolumns)
			name = game->columns[i];
		(void)json_object_set_new(columns, name,
					  record_real(seat->columns[i]));
	}
	return columns;
}

static json_t *seat_json(const struct row_match *match, unsigned number)
{
	const struct row_seat *seat = &match->seats[number];
	json_t *json = json_pack(
		"{s:i, s:s, s:I, s:I, s:o, s:I, s:i, s:s, s:o, s:s}", "seat",
		(int)number + 1, "bot", seat->bot, "bot_id",
		(json_int_t)seat->bot_id, "version", (json_int_t)seat->version,
		"score", record_real(seat->score), "points",
		(json_int_t)seat->points, "rank", (int)seat->rank, "reason",
		seat->reason, "columns", columns_json(match, seat), "how",
		seat->how);

	if (json == NULL)
		return json_object();
	(void)json_object_update_new(
		json,
		json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
			  "s:I}",
			  "requests", (json_int_t)seat->requests, "faults",
			  (json_int_t)seat->faults, "late",
			  (json_int_t)seat->late, "invalid",
			  (json_int_t)seat->invalid, "overlong",
			  (json_int_t)seat->overlong, "overfull",
			  (json_int_t)seat->overfull, "early",
			  (json_int_t)seat->early, "banked",
			  (json_int_t)seat->banked, "max_us",
			  (json_int_t)seat->max_us, "total_us",
			  (json_int_t)seat->total_us, "lag_us",
			  (json_int_t)seat->lag_us));
	return json;
}

json_t *record_match_json(const struct row_match *match)
{
	json_t *seats = json_array(), *json;

	for (unsigned i = 0; i < match->nseats; i++)
		(void)json_array_append_new(seats, seat_json(match, i));
	json = json_pack(
		"{s:I, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:b, s:b, "
		"s:o}",
		"id", (json_int_t)match->id, "ladder", match->ladder, "game",
		match->game, "map", match->map, "params", match->params, "seed",
		match->seed, "bot_seed", match->bot_seed, "engine_version",
		(int)match->engine_version, "status",
		match->status == ROW_MATCH_VOID ? "void" : "stored",
		"void_reason", match->void_reason, "rated", match->is_rated,
		"embargo", match->is_embargo, "seats", seats);
	if (json == NULL)
		return json_object();
	(void)json_object_update_new(
		json,
		json_pack("{s:I, s:I, s:I, s:I, s:o, s:{s:I, s:I, s:I, s:I, "
			  "s:I, s:I, s:I}}",
			  "started_us", (json_int_t)match->started_us,
			  "ended_us", (json_int_t)match->ended_us, "stall_us",
			  (json_int_t)match->stall_us, "inputs",
			  (json_int_t)match->inputs, "digest",
			  record_hex(match->digest), "limits", "turn_ms",
			  (json_int_t)match->turn_ms, "init_ms",
			  (json_int_t)match->init_ms, "grace_ms",
			  (json_int_t)match->grace_ms, "bank_ms",
			  (json_int_t)match->bank_ms, "bank_step_ms",
			  (json_int_t)match->bank_step_ms, "bank_spend_ms",
			  (json_int_t)match->bank_spend_ms, "lag_cap_ms",
			  (json_int_t)match->lag_cap_ms));
	return json;
}

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
			record_add_bytes(json, "text", entry.text, entry.len);
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

	if (note->turn > 0)
		(void)json_object_set_new(json, "turn",
					  json_integer(note->turn));
	if ((note->flags & NOTE_BANKED) != 0)
		(void)json_object_set_new(
			json, "bank_ms",
			json_real((double)note->bank_us / 1000));
	if ((note->flags & NOTE_STALL) != 0)
		(void)json_object_set_new(
			json, "stall_ms",
			json_real((double)note->stall_us / 1000));
	if (note->len > 0)
		record_add_bytes(json, "text", note->text, note->len);
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

	record_add_bytes(json, "data",
			 record->map_data == NULL ? "" : record->map_data,
			 record->map_len);
	return json;
}

json_t *record_json(const struct row_record *record, unsigned *ret_damage)
{
	json_t *document = json_pack(
		"{s:s, s:o, s:o}", "format", "hill match 1", "match",
		record_match_json(&record->match), "map", map_of(record));
	json_t *samples = json_array();

	*ret_damage = 0;
	if (add_transcript(document, record) != 0)
		*ret_damage |= RECORD_TRANSCRIPT;
	if (add_notes(document, record) != 0)
		*ret_damage |= RECORD_NOTES;
	for (size_t i = 1; i < record->nsamples; i++)
		(void)json_array_append_new(samples,
					    record_hex(record->samples[i]));
	(void)json_object_set_new(
		document, "samples",
		json_pack("{s:I, s:o}", "step",
			  record->nsamples == 0
				  ? (json_int_t)0
				  : (json_int_t)record->samples[0],
			  "digests", samples));
	return document;
}
