/* SPDX-License-Identifier: MIT */
/* What a match leaves behind: transcript and notes; and its replay. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "server/match/match_internal.h"
#include "server/match/transcript.h"
#include "tests/unit/match/toy.h"

enum { MS = 1000 };

static void any_match_replays_to_the_same_digest_and_scores(void **unused)
{
	(void)unused;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct stage stage;
		struct match_record *record = stage_play_random(
			&stage, 1 + seed % GAME_SEATS_MAX, seed, 3000);

		stage_check_replay(&stage, record);
		match_record_free(record);
		stage_release(&stage);
	}
}

static void a_record_is_handed_out_once(void **unused)
{
	struct stage stage;
	struct match_record *record;

	(void)unused;
	stage_init(&stage, 2);
	stage_begin(&stage);
	assert_null(match_take_record(stage.match, stage.out));
	stage_say(&stage, 0, "end");
	record = match_take_record(stage.match, stage.out);
	assert_non_null(record);
	assert_null(match_take_record(stage.match, stage.out));
	assert_string_equal(record->seats[1].bot, "bob");
	assert_string_equal(record->ladder, "toys");
	assert_string_equal(record->setup.seed, "7");
	assert_int_equal(record->id, 4711);
	assert_int_equal(record->inputs, 1);
	assert_int_equal(record->seats[0].requests, 1);
	assert_int_equal(record->seats[1].score.reason, GAME_FINISHED);
	match_record_free(record);
	stage_release(&stage);
}

static void a_match_without_inputs_has_a_record_too(void **unused)
{
	struct stage stage;
	struct match_record *record;
	struct transcript_reader *reader;
	struct transcript_entry entry;

	(void)unused;
	stage_init(&stage, 1);
	stage_begin(&stage);
	match_void(stage.match, "x", "y", stage.now_us, stage.out);
	stage_take(&stage);
	record = match_take_record(stage.match, stage.out);
	stage_check_replay(&stage, record);
	reader = transcript_open(record->transcript, record->transcript_len, 1);
	assert_int_equal(transcript_next(reader, &entry), 0);
	assert_int_equal(transcript_next(reader, &entry), 0);
	transcript_close(reader);
	match_record_free(record);
	stage_release(&stage);
}

static void the_result_is_told_as_the_protocol_says(void **unused)
{
	struct stage stage;
	struct match_record *record;
	struct buf lines = BUF_INIT(4096);

	(void)unused;
	stage_init(&stage, 2);
	stage.config.limits.bank_ms = 100;
	stage_begin(&stage);
	stage.now_us += 131 * MS;
	stage_say(&stage, 0, "abcd");
	stage_say(&stage, 1, "end");
	record = match_take_record(stage.match, stage.out);
	match_result_lines(record, 0, &lines);
	assert_string_equal(buf_text(&lines),
			    "@place 4711 seat=1 bot=ann score=1.25 rank=1\n"
			    "@place 4711 seat=2 bot=bob score=1 rank=2\n"
			    "@result 4711 score=1.25 late=0 early=0 "
			    "banked=1 max-ms=131\n");
	buf_clear(&lines);
	record->meeting.is_embargo = true;
	match_result_lines(record, 0, &lines);
	assert_string_equal(buf_text(&lines),
			    "@result 4711 embargo=1 reason=finished\n");
	record->meeting.is_embargo = false;
	buf_clear(&lines);
	match_record_params(record, &lines);
	assert_string_equal(buf_text(&lines), "turns=10 all=0 late=5");
	buf_clear(&lines);
	record->is_void = true;
	match_result_lines(record, 0, &lines);
	assert_string_equal(buf_text(&lines), "");
	buf_release(&lines);
	match_record_free(record);
	stage_release(&stage);
}

static void the_transcript_says_what_was_fed_in_order(void **unused)
{
	static const struct {
		unsigned seat;
		enum game_input kind;
		const char *text;
	} want[] = {
		{ 0, GAME_REPLY, "one" }, { 1, GAME_REPLY, "early" },
		{ 0, GAME_LATE, "" },     { 1, GAME_REPLY, "" },
		{ 1, GAME_GONE, "" },     { 0, GAME_REPLY, "end" },
	};
	struct stage stage;
	struct match_record *record;
	struct transcript_reader *reader;
	struct transcript_entry entry;

	(void)unused;
	stage_init(&stage, 2);
	stage_begin(&stage);
	stage_say(&stage, 1, "early");
	stage_say(&stage, 0, "one");
	stage_pass(&stage, 100 * MS);
	stage_say(&stage, 1, "");
	match_link_lost(stage.match, 1, stage.now_us, stage.out);
	stage_take(&stage);
	stage_say(&stage, 0, "owed");
	stage_say(&stage, 0, "end");
	record = match_take_record(stage.match, stage.out);
	assert_string_equal(record->seats[1].how, "link");
	reader = transcript_open(record->transcript, record->transcript_len, 2);
	for (size_t i = 0; i < COUNT_OF(want); i++) {
		assert_int_equal(transcript_next(reader, &entry), 1);
		assert_int_equal(entry.number, i + 1);
		assert_int_equal(entry.seat, want[i].seat);
		assert_int_equal(entry.kind, want[i].kind);
		assert_string_equal(entry.text, want[i].text);
		assert_int_equal(entry.len, strlen(want[i].text));
	}
	assert_int_equal(transcript_next(reader, &entry), 0);
	transcript_close(reader);
	stage_check_replay(&stage, record);
	match_record_free(record);
	stage_release(&stage);
}

static void the_notes_say_what_people_want_to_know(void **unused)
{
	static const struct note want[] = {
		{ .kind = NOTE_REPLY, .turn = 1, .time_us = 12300 },
		{ .kind = NOTE_REPLY,
		  .turn = 2,
		  .flags = NOTE_BANKED,
		  .time_us = 110100,
		  .bank_us = 10100 },
		{ .kind = NOTE_LATE,
		  .turn = 3,
		  .flags = NOTE_BANKED | NOTE_STALL,
		  .time_us = 195900,
		  .bank_us = 95900,
		  .stall_us = 50000 },
		{ .kind = NOTE_THROWN, .turn = 3, .time_us = 205900 },
		{ .kind = NOTE_REPLY, .turn = 4, .flags = NOTE_LONG },
		{ .kind = NOTE_REPLY, .turn = 5 },
		{ .kind = NOTE_INVALID,
		  .turn = 5,
		  .text = "bad is bad",
		  .len = 10 },
		{ .kind = NOTE_GONE, .turn = 6, .text = "signal=9", .len = 8 },
	};
	struct stage stage;
	struct match_record *record;
	struct notes_reader *reader;
	struct note note;

	(void)unused;
	stage_init(&stage, 1);
	stage.config.limits.bank_ms = 100;
	stage_begin(&stage);
	stage.now_us += 12345;
	stage_say(&stage, 0, "x");
	stage.now_us += 110100;
	stage_say(&stage, 0, "x");
	stage.now_us += 50 * MS;
	match_credit_stall(stage.match, 50 * MS, stage.now_us, stage.out);
	stage_take(&stage);
	stage_pass(&stage, match_deadline(stage.match) - stage.now_us);
	stage.now_us += 10 * MS;
	stage_say(&stage, 0, "owed");
	match_line_long(stage.match, 0, stage.now_us, stage.out);
	stage_take(&stage);
	assert_true(stage_got(&stage, 0, "@fault late 1/5 turn=3 "));
	assert_true(stage_got(&stage, 0, "@fault long 1/- turn=4 "));
	stage_say(&stage, 0, "bad");
	assert_true(stage_got(&stage, 0, "@fault invalid 1/- turn=5 "));
	match_gone(stage.match, 0, "signal=9", stage.now_us, stage.out);
	stage_take(&stage);
	record = match_take_record(stage.match, stage.out);
	reader = notes_open(record->notes, record->notes_len, 1);
	for (size_t i = 0; i < COUNT_OF(want); i++) {
		assert_int_equal(notes_next(reader, &note), 1);
		assert_int_equal(note.kind, want[i].kind);
		assert_int_equal(note.turn, want[i].turn);
		assert_int_equal(note.flags, want[i].flags);
		assert_int_equal(note.time_us, want[i].time_us);
		assert_int_equal(note.bank_us, want[i].bank_us);
		assert_int_equal(note.stall_us, want[i].stall_us);
		assert_string_equal(note.text,
				    want[i].text == NULL ? "" : want[i].text);
	}
	assert_int_equal(notes_next(reader, &note), 0);
	notes_close(reader);
	match_record_free(record);
	stage_release(&stage);
}

/* A seat's own, whatever the others do and however much of it is owed. */
static void each_note_has_the_number_of_its_request(void **unused)
{
	static const struct {
		unsigned seat;
		enum note_kind kind;
		uint32_t turn;
	} want[] = {
		{ 1, NOTE_REPLY, 1 },  { 1, NOTE_INVALID, 1 },
		{ 0, NOTE_LATE, 1 },   { 1, NOTE_REPLY, 2 },
		{ 0, NOTE_LATE, 2 },   { 1, NOTE_REPLY, 3 },
		{ 0, NOTE_THROWN, 1 }, { 0, NOTE_SKIPPED, 2 },
		{ 0, NOTE_REPLY, 3 },  { 0, NOTE_REPLY, 4 },
		{ 0, NOTE_GONE, 5 },   { 1, NOTE_GONE, 4 },
	};
	struct stage stage;
	struct match_record *record;
	struct notes_reader *reader;
	struct note note;

	(void)unused;
	stage_init(&stage, 2);
	stage.setup.params[TOY_ALL_AT_ONCE] = 1;
	stage_begin(&stage);
	stage_say(&stage, 1, "bad");
	stage_pass(&stage, 100 * MS);
	stage_say(&stage, 1, "x");
	stage_pass(&stage, 200 * MS);
	stage_say(&stage, 1, "x");
	stage_say(&stage, 0, "owed");
	match_skip(stage.match, 0, stage.now_us, stage.out);
	stage_take(&stage);
	stage_say(&stage, 0, "x");
	stage_say(&stage, 0, "x");
	/* It has answered, and leaves before it is asked again. */
	match_gone(stage.match, 0, "exit=0", stage.now_us, stage.out);
	stage_take(&stage);
	/* It leaves in the middle of a request. */
	match_gone(stage.match, 1, "exit=0", stage.now_us, stage.out);
	stage_take(&stage);
	record = match_take_record(stage.match, stage.out);
	reader = notes_open(record->notes, record->notes_len, 2);
	for (size_t i = 0; i < COUNT_OF(want); i++) {
		assert_int_equal(notes_next(reader, &note), 1);
		assert_int_equal(note.seat, want[i].seat);
		assert_int_equal(note.kind, want[i].kind);
		assert_int_equal(note.turn, want[i].turn);
	}
	assert_int_equal(notes_next(reader, &note), 0);
	notes_close(reader);
	match_record_free(record);
	stage_release(&stage);
}

/* hillctl shows them side by side. */
static void notes_and_transcript_go_together(void **unused)
{
	struct stage stage;
	struct match_record *record = stage_play_random(&stage, 3, 5, 5000);
	struct transcript_reader *reader =
		transcript_open(record->transcript, record->transcript_len, 3);
	struct notes_reader *notes =
		notes_open(record->notes, record->notes_len, 3);
	struct transcript_entry entry;
	struct note note;
	uint64_t count = 0;

	(void)unused;
	while (notes_next(notes, &note) == 1) {
		if (note.kind > NOTE_GONE)
			continue;
		assert_int_equal(transcript_next(reader, &entry), 1);
		assert_int_equal(entry.seat, note.seat);
		assert_int_equal((int)entry.kind, (int)note.kind);
		count++;
	}
	assert_int_equal(transcript_next(reader, &entry), 0);
	assert_int_equal(count, record->inputs);
	transcript_close(reader);
	notes_close(notes);
	match_record_free(record);
	stage_release(&stage);
}

static void a_blob_is_one_plain_zlib_stream(void **unused)
{
	struct stage stage;
	struct match_record *record = stage_play_random(&stage, 2, 4, 20000);
	uLongf len = 1 << 20;
	Bytef *raw = malloc(len);

	(void)unused;
	assert_int_equal(uncompress(raw, &len, record->transcript,
				    record->transcript_len),
			 Z_OK);
	assert_true(len > 20000);
	assert_true(record->transcript_len < len / 2);
	free(raw);
	match_record_free(record);
	stage_release(&stage);
}

static void repacking_shrinks_and_changes_nothing(void **unused)
{
	struct stage stage;
	struct match_record *record = stage_play_random(&stage, 2, 6, 20000);
	size_t transcript_len = record->transcript_len;
	size_t notes_len = record->notes_len;

	(void)unused;
	match_record_repack(record);
	assert_true(record->transcript_len < transcript_len);
	assert_true(record->notes_len < notes_len);
	stage_check_replay(&stage, record);
	transcript_len = record->transcript_len;
	match_record_repack(record);
	assert_int_equal(record->transcript_len, transcript_len);
	match_record_free(record);
	stage_release(&stage);
	/* nor a match without any input */
	stage_init(&stage, 1);
	stage_begin(&stage);
	match_void(stage.match, "x", "y", stage.now_us, stage.out);
	record = match_take_record(stage.match, stage.out);
	match_record_repack(record);
	stage_check_replay(&stage, record);
	match_record_free(record);
	stage_release(&stage);
}

static void a_seat_that_fills_its_share_is_out_and_told(void **unused)
{
	struct stage stage;
	struct match_record *record;

	(void)unused;
	stage_init(&stage, 2);
	stage_begin(&stage);
	/* as if it had said all that before */
	stage.match->seats[0].transcript_bytes =
		LIMIT_TRANSCRIPT_BYTES / 2 - 10;
	stage_say(&stage, 0, "abcd");
	stage_say(&stage, 1, "x");
	assert_true(match_seat_plays(stage.match, 0));
	stage_say(&stage, 0, "");
	assert_true(stage_got(&stage, 0,
			      "@fault full 1/1 turn=2 : 16777216 bytes of "
			      "replies; a seat of this match may have "
			      "16777216\n@end 4711 stop=term reason=gone\n"));
	assert_true(match_seat_plays(stage.match, 1));
	stage_say(&stage, 1, "end");
	record = match_take_record(stage.match, stage.out);
	assert_string_equal(record->seats[0].how, "full");
	assert_int_equal(record->seats[0].faults[MATCH_FAULT_FULL], 1);
	stage_check_replay(&stage, record);
	match_record_free(record);
	stage_release(&stage);
}

static void a_share_can_shrink_to_one_reply_in_play(void **unused)
{
	struct stage stage;
	struct match_record *record;

	(void)unused;
	stage_init(&stage, 2);
	stage_begin(&stage);
	match_set_share(stage.match, 0);
	stage_say(&stage, 0, "abcd");
	stage_say(&stage, 1, "x");
	assert_true(match_seat_plays(stage.match, 0));
	stage.match->seats[0].transcript_bytes = match_line_max(stage.match);
	stage.match->seats[1].transcript_bytes = match_line_max(stage.match);
	stage_say(&stage, 0, "abcd");
	assert_false(match_seat_plays(stage.match, 0));
	assert_non_null(strstr(buf_text(&stage.out->lines[0]),
			       " while all matches have so many\n"));
	/* No more than it was at first. */
	match_set_share(stage.match, SIZE_MAX);
	stage_say(&stage, 1, "x");
	assert_true(match_seat_plays(stage.match, 1));
	stage.match->seats[1].transcript_bytes = LIMIT_TRANSCRIPT_BYTES / 2;
	stage_say(&stage, 1, "x");
	record = match_take_record(stage.match, stage.out);
	assert_string_equal(record->seats[0].how, "full");
	assert_string_equal(record->seats[1].how, "full");
	stage_check_replay(&stage, record);
	match_record_free(record);
	stage_release(&stage);
}

static void long_lines_leave_no_memory_behind(void **unused)
{
	struct match_scratch scratch = { 0 };
	struct packer packer;
	char *text = malloc(1 << 20);
	uint8_t *blob;
	size_t len;
	struct transcript_reader *reader;
	struct transcript_entry entry;

	(void)unused;
	memset(text, 'x', 1 << 20);
	packer_init(&packer, TRANSCRIPT_RAW_BYTES, TRANSCRIPT_PIECE_BYTES);
	for (unsigned i = 0; i < 20; i++)
		transcript_write(&packer, &scratch, 1, GAME_REPLY, text,
				 i % 2 == 0 ? 1 << 20 : i);
	assert_true(packer.raw.cap < 16 * 1024);
	assert_int_equal(packer_finish(&packer, &scratch, &blob, &len), 0);
	reader = transcript_open(blob, len, 2);
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(transcript_next(reader, &entry), 1);
		assert_int_equal(entry.len, i % 2 == 0 ? 1 << 20 : i);
		assert_memory_equal(entry.text, text, entry.len);
	}
	assert_int_equal(transcript_next(reader, &entry), 0);
	transcript_close(reader);
	scratch_release(&scratch);
	free(blob);
	free(text);
}

/*
 * Deflating a long reply takes the loop from all other matches: it is stored as
 * it came, and made small when the match is over.
 */
static void long_replies_are_stored_first_and_deflated_later(void **unused)
{
	static const size_t lens[] = { 16000,  70000,      16384, 3,
				       65535,  65536,      65531, 2 * 65535 - 5,
				       131070, 1024 * 1024 };
	struct match_scratch scratch = { 0 };
	struct match_record record = { 0 };
	struct packer packer;
	struct transcript_reader *reader;
	struct transcript_entry entry;
	char *text = malloc(1 << 20);
	size_t before = 0, total = 0;

	(void)unused;
	for (size_t i = 0; i < 1 << 20; i++)
		text[i] = "LRUD"[i % 61 % 4];
	packer_init(&packer, TRANSCRIPT_RAW_BYTES, TRANSCRIPT_PIECE_BYTES);
	for (size_t i = 0; i < COUNT_OF(lens); i++) {
		transcript_write(&packer, &scratch, 0, GAME_REPLY, text,
				 lens[i]);
		total += lens[i];
	}
	assert_int_equal(packer_finish(&packer, &scratch, &record.transcript,
				       &record.transcript_len),
			 0);
	/* All but the two that are small enough. */
	assert_true(record.transcript_len > total - 16000 - 3);
	assert_true(record.transcript_len < total);
	for (unsigned pass = 0; pass < 2; pass++) {
		before = record.transcript_len;
		reader = transcript_open(record.transcript,
					 record.transcript_len, 1);
		for (size_t i = 0; i < COUNT_OF(lens); i++) {
			assert_int_equal(transcript_next(reader, &entry), 1);
			assert_int_equal(entry.len, lens[i]);
			assert_memory_equal(entry.text, text, entry.len);
		}
		assert_int_equal(transcript_next(reader, &entry), 0);
		transcript_close(reader);
		match_record_repack(&record);
	}
	assert_true(before < total / 10);
	scratch_release(&scratch);
	free(record.transcript);
	free(text);
}

static void count_line(void *context, unsigned seat, const char *text,
		       size_t len)
{
	struct buf *all = context;

	buf_add_format(all, "%u %.*s\n", seat, (int)len, text);
}

static void count_input(void *context, const struct transcript_entry *entry,
			uint32_t turn)
{
	struct buf *all = context;

	buf_add_format(all, "> %u %u %s\n", entry->seat, turn, entry->text);
}

static void a_replay_tells_the_lines_as_they_were_sent(void **unused)
{
	struct stage stage;
	struct match_record *record;
	struct buf all = BUF_INIT(4096);
	const struct replay_callbacks calls = { .line = count_line,
						.input = count_input,
						.context = &all };
	struct replay_result result;
	struct game_error error;

	(void)unused;
	stage_init(&stage, 2);
	stage_begin(&stage);
	stage_say(&stage, 0, "at");
	stage_say(&stage, 1, "end");
	record = match_take_record(stage.match, stage.out);
	assert_int_equal(toy_replay(&record->setup, record->transcript,
				    record->transcript_len, &calls, &result,
				    &error),
			 0);
	assert_true(result.is_over);
	assert_string_equal(buf_text(&all),
			    "0 seed 7\n0 ask 1\n1 seed 7\n> 0 1 at\n0 @at\n"
			    "1 0 said at\n1 ask 2\n> 1 1 end\n0 1 said end\n");
	buf_release(&all);
	match_record_free(record);
	stage_release(&stage);
}

/* P6: a running match, beside its engine and its moves. */
static void a_running_match_is_small(void **unused)
{
	struct stage stage;
	size_t moves;

	(void)unused;
	stage_init(&stage, 2);
	stage.setup.params[TOY_TURNS] = 100000;
	stage_begin(&stage);
	for (unsigned i = 0; i < 5000; i++)
		stage_say(&stage, i % 2, "move 1,1 to 1,2");
	moves = stage.match->transcript.packed.cap +
		stage.match->notes.packed.cap;
	assert_true(match_bytes(stage.match) - moves <= 4096 + 1024);
	assert_true(sizeof(struct match) + 2 * sizeof(struct match_seat) <=
		    2048);
	stage_release(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			any_match_replays_to_the_same_digest_and_scores),
		cmocka_unit_test(a_record_is_handed_out_once),
		cmocka_unit_test(a_match_without_inputs_has_a_record_too),
		cmocka_unit_test(the_result_is_told_as_the_protocol_says),
		cmocka_unit_test(the_transcript_says_what_was_fed_in_order),
		cmocka_unit_test(the_notes_say_what_people_want_to_know),
		cmocka_unit_test(each_note_has_the_number_of_its_request),
		cmocka_unit_test(notes_and_transcript_go_together),
		cmocka_unit_test(a_blob_is_one_plain_zlib_stream),
		cmocka_unit_test(repacking_shrinks_and_changes_nothing),
		cmocka_unit_test(a_seat_that_fills_its_share_is_out_and_told),
		cmocka_unit_test(a_share_can_shrink_to_one_reply_in_play),
		cmocka_unit_test(long_lines_leave_no_memory_behind),
		cmocka_unit_test(
			long_replies_are_stored_first_and_deflated_later),
		cmocka_unit_test(a_replay_tells_the_lines_as_they_were_sent),
		cmocka_unit_test(a_running_match_is_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
