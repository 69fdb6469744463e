/* SPDX-License-Identifier: MIT */
#include "server/match/transcript.h"

#include <errno.h>
#include <stdlib.h>

#include "server/match/match_internal.h"
#include "server/match/packer.h"

enum { TRANSCRIPT_VERSION = 1, KIND_BITS = 2, HEAD_BYTES_MAX = 1 + 5 };

struct transcript_reader {
	struct unpacker unpacker;
	unsigned seats;
	uint64_t number;
	struct buf text; /* the entry's, with a NUL */
	int failed;      /* sticky negative errno; 0 none */
	bool has_begun;
};

void transcript_write(struct packer *packer, struct match_scratch *scratch,
		      unsigned seat, enum game_input kind, const char *text,
		      size_t len)
{
	char head = (char)(kind | seat << KIND_BITS);

	if (packer->total == 0) {
		char version = TRANSCRIPT_VERSION;

		packer_add(packer, &version, 1);
	}
	packer_make_room(packer, HEAD_BYTES_MAX + len, scratch);
	packer_add(packer, &head, 1);
	if (kind == GAME_REPLY) {
		packer_add_varint(packer, len);
		packer_add(packer, text, len);
	}
}

struct transcript_reader *transcript_open(const uint8_t *blob, size_t len,
					  unsigned seats)
{
	struct transcript_reader *reader = xcalloc(1, sizeof(*reader));

	unpacker_init(&reader->unpacker, blob, len, TRANSCRIPT_RAW_BYTES);
	buf_init(&reader->text, TRANSCRIPT_RAW_BYTES);
	reader->seats = seats;
	return reader;
}

void transcript_close(struct transcript_reader *reader)
{
	if (reader == NULL)
		return;
	unpacker_release(&reader->unpacker);
	buf_release(&reader->text);
	free(reader);
}

/* The text of a GAME_REPLY. 1 or negative errno. */
static int read_text(struct transcript_reader *reader,
		     struct transcript_entry *entry)
{
	const char *bytes;
	size_t len;
	int rc = unpacker_take_text(&reader->unpacker, TRANSCRIPT_RAW_BYTES,
				    &bytes, &len);

	if (rc < 0)
		return rc;
	buf_clear(&reader->text);
	if (len > 0)
		buf_add(&reader->text, bytes, len);
	if (reader->text.is_failed)
		return -ENOMEM;
	entry->text = buf_text(&reader->text);
	entry->len = len;
	return 1;
}

static int read_entry(struct transcript_reader *reader,
		      struct transcript_entry *entry)
{
	const char *byte;
	unsigned head;
	int rc;

	if (!reader->has_begun) {
		rc = unpacker_take(&reader->unpacker, 1, &byte);
		if (rc <= 0)
			return rc; /* a match without any input */
		if (*byte != TRANSCRIPT_VERSION)
			return -ENOTSUP;
		reader->has_begun = true;
	}
	rc = unpacker_take(&reader->unpacker, 1, &byte);
	if (rc <= 0)
		return rc;
	head = (unsigned char)*byte;
	*entry = (struct transcript_entry){
		.number = reader->number + 1,
		.seat = head >> KIND_BITS,
		.kind = (enum game_input)(head & ((1u << KIND_BITS) - 1)),
		.text = "",
	};
	if (entry->kind >= GAME_NINPUTS || entry->seat >= reader->seats)
		return -EILSEQ;
	if (entry->kind == GAME_REPLY) {
		rc = read_text(reader, entry);
		if (rc < 0)
			return rc;
	}
	reader->number++;
	return 1;
}

int transcript_next(struct transcript_reader *reader,
		    struct transcript_entry *ret)
{
	struct transcript_entry entry;
	int rc;

	if (reader->failed != 0)
		return reader->failed;
	rc = read_entry(reader, &entry);
	if (rc < 0)
		reader->failed = rc;
	if (rc > 0)
		*ret = entry;
	return rc;
}
