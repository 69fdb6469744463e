/* SPDX-License-Identifier: MIT */
/*
 * fuzz_replay.c - what a damaged or forged database may hold: transcripts,
 * notes and samples.
 *
 * A table (table.h), then how the rest is read: `t` or `n` its bytes are what
 * is inside a zlib stream, of a transcript or of notes; `T` or `N` they are
 * the stream; `B` a count of zeros follows, deflated; `s` samples.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "server/match/digest.h"
#include "server/match/notes.h"
#include "server/match/replay.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/table.h"

enum {
	ENTRIES_MAX = 1 << 16, /* of a stream that its reader would go on in */
	INPUTS_MAX = 1 << 13,  /* that are played */
	BOMB_BYTES = 16 * 1024 * 1024,
};

static void read_notes(const uint8_t *blob, size_t len, unsigned seats)
{
	struct notes_reader *reader = notes_open(blob, len, seats);
	struct note note;
	int rc = 1;

	for (unsigned i = 0; i < ENTRIES_MAX && rc > 0; i++) {
		rc = notes_next(reader, &note);
		if (rc <= 0)
			break;
		table_check(note.kind < NOTE_NKINDS && note.seat < seats);
		table_check((note.flags & ~(uint32_t)NOTE_FLAGS_ALL) == 0);
		table_check(note.text[note.len] == '\0');
	}
	if (rc < 0) /* sticky */
		table_check(notes_next(reader, &note) == rc);
	notes_close(reader);
}

/* How many entries could be read. */
static unsigned read_transcript(const uint8_t *blob, size_t len, unsigned seats)
{
	struct transcript_reader *reader = transcript_open(blob, len, seats);
	struct transcript_entry entry;
	unsigned count = 0;
	int rc = 1;

	while (count < ENTRIES_MAX) {
		rc = transcript_next(reader, &entry);
		if (rc <= 0)
			break;
		count++;
		table_check(entry.number == count && entry.seat < seats);
		table_check(entry.kind < GAME_NINPUTS);
		table_check(entry.text[entry.len] == '\0');
	}
	if (rc < 0)
		table_check(transcript_next(reader, &entry) == rc);
	transcript_close(reader);
	return count;
}

static void replay(const struct table *table, const uint8_t *blob, size_t len)
{
	struct replay_source source = { table->game, table->map, &table->setup,
					blob, len };
	struct replay_result first, second;
	struct game_error error = { "" };
	int rc;

	rc = replay_run(&source, NULL, &first, &error);
	if (rc != 0) {
		table_check(rc == -EINVAL || rc == -EILSEQ || rc == -ENOTSUP ||
			    rc == -ENOMEM);
		table_check(error.text[0] != '\0');
		return;
	}
	table_check(replay_run(&source, NULL, &second, &error) == 0);
	table_check(first.digest == second.digest);
	table_check(first.nsamples <= DIGEST_SAMPLES_MAX + 1);
}

/* Both as what it says it is and as the other thing. */
static void read_both(const struct table *table, const uint8_t *blob,
		      size_t len)
{
	unsigned seats = table->setup.seats;

	if (seats == 0 || seats > GAME_SEATS_MAX)
		return;
	read_notes(blob, len, seats);
	if (read_transcript(blob, len, seats) <= INPUTS_MAX)
		replay(table, blob, len);
}

static void deflate_and_read(const struct table *table, const void *raw,
			     size_t len)
{
	uLongf packed_len = compressBound(len);
	uint8_t *packed = malloc(packed_len);

	table_check(packed != NULL);
	table_check(compress2(packed, &packed_len, raw, len, 1) == Z_OK);
	read_both(table, packed, packed_len);
	free(packed);
}

/* A few bytes that would become many. */
static void bomb(const struct table *table, const char *head, size_t len)
{
	char *raw = calloc(1, BOMB_BYTES);

	table_check(raw != NULL);
	memcpy(raw, head, len > BOMB_BYTES ? BOMB_BYTES : len);
	deflate_and_read(table, raw, BOMB_BYTES);
	free(raw);
}

static void part(const char *bytes, size_t len)
{
	uint64_t values[2 * (DIGEST_SAMPLES_MAX + 1)] = { 0 };
	size_t count = len / sizeof(uint64_t), half;
	uint64_t from, to;

	if (count > sizeof(values) / sizeof(values[0]))
		count = sizeof(values) / sizeof(values[0]);
	memcpy(values, bytes, count * sizeof(uint64_t));
	half = count / 2;
	digest_part(values, half, values + half, count - half, &from, &to);
	table_check(from <= to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct table table;
	const char *bytes;
	size_t len;

	if (!table_read(&table, data, size))
		return 0;
	if (table.len > 0) {
		bytes = table.rest + 1;
		len = table.len - 1;
		switch (table.rest[0]) {
		case 't':
		case 'n':
			deflate_and_read(&table, bytes, len);
			break;
		case 'T':
		case 'N':
			read_both(&table, (const uint8_t *)bytes, len);
			break;
		case 'B':
			bomb(&table, bytes, len);
			break;
		case 's':
			part(bytes, len);
			break;
		default:
			break;
		}
	}
	table_release(&table);
	return 0;
}
