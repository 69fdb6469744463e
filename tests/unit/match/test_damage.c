/* SPDX-License-Identifier: MIT */
/* Records that are damaged, or never were one: noticed, and harmless. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "server/match/match_internal.h"
#include "server/match/transcript.h"
#include "tests/unit/match/toy.h"

static void read_anything(const uint8_t *blob, size_t len)
{
	struct transcript_reader *reader = transcript_open(blob, len, 2);
	struct notes_reader *notes = notes_open(blob, len, 2);
	struct transcript_entry entry;
	struct note note;
	int rc;

	while ((rc = transcript_next(reader, &entry)) == 1)
		assert_true(entry.seat < 2 && entry.kind < GAME_NINPUTS &&
			    entry.text[entry.len] == '\0');
	/* it stays as it is */
	assert_int_equal(transcript_next(reader, &entry), rc);
	while ((rc = notes_next(notes, &note)) == 1)
		assert_true(note.seat < 2 && note.kind < NOTE_NKINDS);
	assert_int_equal(notes_next(notes, &note), rc);
	transcript_close(reader);
	notes_close(notes);
}

static void damage_is_noticed_whatever_it_is(void **unused)
{
	struct stage stage;
	struct match_record *record = stage_play_random(&stage, 2, 8, 800);
	size_t len = record->transcript_len;
	uint8_t *bytes = malloc(len + 1);
	struct replay_result result;
	struct game_error error;

	(void)unused;
	for (size_t at = 0; at < len; at++) {
		int rc;

		memcpy(bytes, record->transcript, len);
		bytes[at] ^= 0x10;
		read_anything(bytes, len);
		rc = toy_replay(&record->setup, bytes, len, NULL, &result,
				&error);
		/* padding between pieces means nothing: the same inputs */
		if (rc == 0)
			assert_int_equal(result.digest, record->digest);
		else
			assert_true(rc == -EILSEQ || rc == -ENOTSUP);
		/* cut short, and one byte too long */
		rc = toy_replay(&record->setup, record->transcript, at, NULL,
				&result, &error);
		assert_int_equal(rc, -EILSEQ);
	}
	memcpy(bytes, record->transcript, len);
	bytes[len] = 0;
	assert_int_equal(toy_replay(&record->setup, bytes, len + 1, NULL,
				    &result, &error),
			 -EILSEQ);
	free(bytes);
	match_record_free(record);
	stage_release(&stage);
}

/* Pack LEN raw bytes as a stream. */
static uint8_t *pack(const char *raw, size_t len, size_t *ret_len)
{
	struct match_scratch scratch = { 0 };
	struct packer packer;
	uint8_t *blob;

	packer_init(&packer, 256u << 20, 4096);
	while (len > 0) {
		size_t count = len < 4096 ? len : 4096;

		packer_make_room(&packer, count, &scratch);
		packer_add(&packer, raw, count);
		raw += count;
		len -= count;
	}
	assert_int_equal(packer_finish(&packer, &scratch, &blob, ret_len), 0);
	scratch_release(&scratch);
	return blob;
}

static void records_that_make_no_sense_are_refused(void **unused)
{
	static const struct {
		const char *raw;
		size_t len;
		int verdict;
	} rows[] = {
		{ "\x02", 1, -ENOTSUP },
		{ "\x01\x03", 2, -EILSEQ }, /* no such kind */
		{ "\x01\x08", 2, -EILSEQ }, /* no such seat */
		{ "\x01\x00", 2, -EILSEQ }, /* no length */
		{ "\x01\x00\x05"
		  "abc",
		  6, -EILSEQ }, /* no text */
		{ "\x01\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 12,
		  -EILSEQ },                                /* no such length */
		{ "\x01\x00\xff\xff\xff\x7f", 6, -EILSEQ }, /* over the bound */
		{ "\x01", 1, 0 },
	};

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		size_t len;
		uint8_t *blob = pack(rows[i].raw, rows[i].len, &len);
		struct transcript_reader *reader =
			transcript_open(blob, len, 2);
		struct transcript_entry entry;

		assert_int_equal(transcript_next(reader, &entry),
				 rows[i].verdict);
		transcript_close(reader);
		free(blob);
	}
}

static void inputs_that_nobody_asked_for_are_refused(void **unused)
{
	static const struct {
		const char *raw;
		size_t len;
	} rows[] = {
		{ "\x01\x04\x00", 3 },        /* not its turn */
		{ "\x01\x05", 2 },            /* late likewise */
		{ "\x01\x00\x03out\x02", 7 }, /* gone after out */
		{ "\x01\x00\x03"
		  "end\x04\x00",
		  8 }, /* after the end */
	};
	struct game_setup setup = {
		.seed = "7", .bot_seed = "1", .seats = 2, .params = { 10, 0, 5 }
	};

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		size_t len;
		uint8_t *blob = pack(rows[i].raw, rows[i].len, &len);
		struct replay_result result;
		struct game_error error = { .text = "" };

		assert_int_equal(
			toy_replay(&setup, blob, len, NULL, &result, &error),
			-EILSEQ);
		assert_non_null(strstr(error.text, "damaged behind input "));
		free(blob);
	}
	setup.seats = 9;
	{
		struct replay_result result;
		struct game_error error;

		assert_int_equal(
			toy_replay(&setup, NULL, 0, NULL, &result, &error),
			-EINVAL);
	}
}

static void a_zlib_bomb_costs_nothing(void **unused)
{
	size_t raw_len = 200u << 20;
	char *raw = calloc(1, raw_len);
	struct transcript_reader *reader;
	struct transcript_entry entry;
	struct mallinfo2 before, after;
	uint8_t *blob;
	size_t len;

	(void)unused;
	/* one reply of 2^31 bytes, as it says; then one of what is there */
	memcpy(raw, "\x01\x00\xff\xff\xff\xff\x07", 7);
	blob = pack(raw, raw_len, &len);
	before = mallinfo2();
	reader = transcript_open(blob, len, 2);
	assert_int_equal(transcript_next(reader, &entry), -EILSEQ);
	after = mallinfo2();
	assert_true(after.uordblks < before.uordblks + (1u << 20));
	transcript_close(reader);
	free(blob);
	/* endless small records stop at the bound */
	memset(raw, 2, raw_len);
	raw[0] = 1;
	blob = pack(raw, raw_len, &len);
	reader = transcript_open(blob, len, 2);
	while (transcript_next(reader, &entry) == 1)
		;
	assert_int_equal(transcript_next(reader, &entry), -EILSEQ);
	assert_true(entry.number <= TRANSCRIPT_RAW_BYTES);
	transcript_close(reader);
	free(blob);
	free(raw);
}

static void random_bytes_harm_no_reader(void **unused)
{
	uint64_t seed = 99;
	char raw[300];

	(void)unused;
	for (unsigned i = 0; i < 3000; i++) {
		size_t raw_len = 1 + stage_draw(&seed) % sizeof(raw);
		uint8_t *blob;
		size_t len;

		for (size_t k = 0; k < raw_len; k++)
			raw[k] = (char)(stage_draw(&seed) >>
					(stage_draw(&seed) % 24));
		raw[0] = 1;
		read_anything((const uint8_t *)raw, raw_len);
		blob = pack(raw, raw_len, &len);
		read_anything(blob, len);
		free(blob);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damage_is_noticed_whatever_it_is),
		cmocka_unit_test(records_that_make_no_sense_are_refused),
		cmocka_unit_test(inputs_that_nobody_asked_for_are_refused),
		cmocka_unit_test(a_zlib_bomb_costs_nothing),
		cmocka_unit_test(random_bytes_harm_no_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
