/* SPDX-License-Identifier: MIT */
#include "server/match/notes.h"

#include <errno.h>
#include <stdlib.h>

#include "server/match/match_internal.h"
#include "server/match/packer.h"

/*
 * A record: a byte `seat | kind << 3 | has_flags << 6`, for the kinds that
 * have one a varint time in 0.1 ms, with has_flags a varint of flags and then
 * what they announce, for the kinds with a text a varint length and the text.
 */
enum {
	NOTES_VERSION = 1,
	KIND_SHIFT = 3,
	SEAT_MASK = 7,
	HAS_FLAGS = 1 << 6,
	TENTH_US = 100,
	TEXT_BYTES_MAX = 128,
	RECORD_BYTES_MAX = 2 + 4 * VARINT_BYTES_MAX + TEXT_BYTES_MAX,
};

_Static_assert(GAME_SEATS_MAX <= SEAT_MASK + 1, "a seat has three bits");
_Static_assert(NOTE_NKINDS <= 8, "a kind has three bits");

struct notes_reader {
	struct unpacker unpacker;
	unsigned seats;
	char text[TEXT_BYTES_MAX + 1];
	int failed; /* sticky negative errno; 0 none */
	bool has_begun;
	struct {
		uint32_t settled; /* requests: answered, or run out */
		uint32_t owed;    /* the last of them, whose reply may come */
	} turns[GAME_SEATS_MAX];
};

static bool has_text(enum note_kind kind)
{
	return kind == NOTE_GONE || kind == NOTE_INVALID;
}

static bool has_time(enum note_kind kind)
{
	return kind == NOTE_REPLY || kind == NOTE_LATE || kind == NOTE_THROWN;
}

/* Rounded to tenths of a millisecond. */
static uint64_t tenths(int64_t time_us)
{
	return time_us <= 0 ? 0 : (uint64_t)(time_us + TENTH_US / 2) / TENTH_US;
}

static void write_record(struct packer *packer, const struct note *note)
{
	size_t len = note->len > TEXT_BYTES_MAX ? TEXT_BYTES_MAX : note->len;
	char head = (char)(note->seat | (unsigned)note->kind << KIND_SHIFT |
			   (note->flags != 0 ? HAS_FLAGS : 0));

	packer_add(packer, &head, 1);
	if (has_time(note->kind))
		packer_add_varint(packer, tenths(note->time_us));
	if (note->flags != 0) {
		packer_add_varint(packer, note->flags);
		if ((note->flags & NOTE_BANKED) != 0)
			packer_add_varint(packer, tenths(note->bank_us));
		if ((note->flags & NOTE_STALL) != 0)
			packer_add_varint(packer, tenths(note->stall_us));
	}
	if (has_text(note->kind)) {
		packer_add_varint(packer, len);
		packer_add(packer, note->text, len);
	}
}

void notes_write(struct packer *packer, struct match_scratch *scratch,
		 const struct note *note)
{
	static const struct note cut = { .kind = NOTE_CUT };

	if (packer->total > NOTES_BYTES_MAX)
		return;
	if (packer->total == 0) {
		char version = NOTES_VERSION;

		packer_add(packer, &version, 1);
	}
	packer_make_room(packer, 16 + note->len, scratch);
	write_record(packer, note);
	if (packer->total > NOTES_BYTES_MAX)
		write_record(packer, &cut);
}

struct notes_reader *notes_open(const uint8_t *blob, size_t len, unsigned seats)
{
	struct notes_reader *reader = xcalloc(1, sizeof(*reader));

	unpacker_init(&reader->unpacker, blob, len,
		      NOTES_BYTES_MAX + 2 * RECORD_BYTES_MAX);
	reader->seats = seats;
	return reader;
}

void notes_close(struct notes_reader *reader)
{
	if (reader == NULL)
		return;
	unpacker_release(&reader->unpacker);
	free(reader);
}

/* A time that the record must have: 0 or negative errno. */
static int read_time(struct notes_reader *reader, int64_t *ret_us)
{
	uint64_t value;
	int rc = unpacker_take_varint(&reader->unpacker, INT64_MAX / TENTH_US,
				      &value);

	if (rc <= 0)
		return rc == 0 ? -EILSEQ : rc;
	*ret_us = (int64_t)value * TENTH_US;
	return 0;
}

static int read_flags(struct notes_reader *reader, struct note *note)
{
	uint64_t flags;
	int rc =
		unpacker_take_varint(&reader->unpacker, NOTE_FLAGS_ALL, &flags);

	if (rc <= 0)
		return rc == 0 ? -EILSEQ : rc;
	note->flags = (uint32_t)flags;
	rc = 0;
	if ((flags & NOTE_BANKED) != 0)
		rc = read_time(reader, &note->bank_us);
	if (rc == 0 && (flags & NOTE_STALL) != 0)
		rc = read_time(reader, &note->stall_us);
	return rc;
}

static int read_text(struct notes_reader *reader, struct note *note)
{
	const char *bytes;
	size_t len;
	int rc = unpacker_take_text(&reader->unpacker, TEXT_BYTES_MAX, &bytes,
				    &len);

	if (rc < 0)
		return rc;
	if (len > 0)
		memcpy(reader->text, bytes, len);
	reader->text[len] = '\0';
	note->text = reader->text;
	note->len = len;
	return 0;
}

static int read_record(struct notes_reader *reader, struct note *note)
{
	const char *byte;
	unsigned head;
	int rc;

	if (!reader->has_begun) {
		rc = unpacker_take(&reader->unpacker, 1, &byte);
		if (rc <= 0)
			return rc;
		if (*byte != NOTES_VERSION)
			return -ENOTSUP;
		reader->has_begun = true;
	}
	rc = unpacker_take(&reader->unpacker, 1, &byte);
	if (rc <= 0)
		return rc;
	head = (unsigned char)*byte;
	*note = (struct note){
		.kind = (enum note_kind)(head >> KIND_SHIFT & 7),
		.seat = head & SEAT_MASK,
		.text = "",
	};
	if (note->kind >= NOTE_NKINDS || note->seat >= reader->seats ||
	    head > (HAS_FLAGS | (HAS_FLAGS - 1)))
		return -EILSEQ;
	rc = 0;
	if (has_time(note->kind))
		rc = read_time(reader, &note->time_us);
	if (rc == 0 && (head & HAS_FLAGS) != 0)
		rc = read_flags(reader, note);
	if (rc == 0 && has_text(note->kind))
		rc = read_text(reader, note);
	return rc < 0 ? rc : 1;
}

/*
 * Which request NOTE, the next one, is of. Until all that is owed has come, no
 * reply answers a request: what is owed is always of the last ones. -EILSEQ
 * when what came was not owed.
 */
static int count_turn(struct notes_reader *reader, struct note *note)
{
	uint32_t *settled = &reader->turns[note->seat].settled;
	uint32_t *owed = &reader->turns[note->seat].owed;

	switch (note->kind) {
	case NOTE_LATE:
		(*owed)++;
		note->turn = ++*settled;
		return 0;
	case NOTE_REPLY:
		note->turn = ++*settled;
		return 0;
	case NOTE_GONE:
		note->turn = *settled + 1;
		return 0;
	case NOTE_INVALID:
		note->turn = *settled;
		return 0;
	case NOTE_THROWN:
	case NOTE_SKIPPED:
		if (*owed == 0)
			return -EILSEQ;
		note->turn = *settled - --*owed;
		return 0;
	case NOTE_CUT:
	case NOTE_NKINDS:
		break;
	}
	return 0;
}

int notes_next(struct notes_reader *reader, struct note *ret)
{
	struct note note;
	int rc;

	if (reader->failed != 0)
		return reader->failed;
	rc = read_record(reader, &note);
	if (rc > 0 && count_turn(reader, &note) < 0)
		rc = -EILSEQ;
	if (rc < 0)
		reader->failed = rc;
	if (rc > 0)
		*ret = note;
	return rc;
}
