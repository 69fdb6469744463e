/* SPDX-License-Identifier: MIT */
/*
 * fuzz_record.c - what may lie in a database: transcripts and notes.
 *
 * The input is read as a stored blob, and, its first byte aside, as the raw
 * bytes inside of one; both by every reader and by a replay.
 */
#include <assert.h>
#include <stdlib.h>

#include "server/match/match_internal.h"
#include "server/match/transcript.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/match/toy.h"

static void read_blob(const uint8_t *blob, size_t len)
{
	struct transcript_reader *transcript = transcript_open(blob, len, 2);
	struct notes_reader *notes = notes_open(blob, len, 2);
	struct transcript_entry entry;
	struct note note;
	int rc;

	while ((rc = transcript_next(transcript, &entry)) == 1) {
		assert(entry.seat < 2 && entry.kind < GAME_NINPUTS);
		assert(entry.text[entry.len] == '\0');
	}
	assert(transcript_next(transcript, &entry) == rc);
	while ((rc = notes_next(notes, &note)) == 1) {
		assert(note.seat < 2 && note.kind < NOTE_NKINDS);
		assert(note.time_us >= 0 && note.text[note.len] == '\0');
	}
	assert(notes_next(notes, &note) == rc);
	transcript_close(transcript);
	notes_close(notes);
}

static void replay_blob(const uint8_t *blob, size_t len)
{
	struct game_setup setup = {
		.seed = "7",
		.bot_seed = "1",
		.seats = 2,
		.params = { [TOY_TURNS] = 1000, [TOY_LATE] = 5 }
	};
	const struct replay_source source = { &toy_game, toy_map(), &setup,
					      blob, len };
	struct replay_result result;
	struct game_error error;

	if (replay_run(&source, NULL, &result, &error) == 0)
		assert(result.inputs > 0 || !result.is_over);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct match_scratch scratch;
	struct packer packer;
	uint8_t *blob;
	size_t len;

	read_blob(data, size);
	replay_blob(data, size);
	packer_init(&packer, 1u << 24, 64);
	for (size_t at = 1; at < size; at++) {
		packer_make_room(&packer, 1, &scratch);
		packer_add(&packer, data + at, 1);
	}
	if (packer_finish(&packer, &scratch, &blob, &len) == 0) {
		read_blob(blob, len);
		replay_blob(blob, len);
		free(blob);
	}
	return 0;
}
