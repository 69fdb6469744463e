/* SPDX-License-Identifier: MIT */
/*
 * record_json.h - stored matches as JSON: what `hillctl export` writes, the
 * HTTP API serves and `hill-run --match` reads. Any thread.
 */
#ifndef HILL_STORE_RECORD_JSON_H
#define HILL_STORE_RECORD_JSON_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "server/base/alloc.h"
#include "server/store/rows.h"

/* What of a record is damaged, so that only its beginning could be told. */
enum { RECORD_TRANSCRIPT = 1u << 0, RECORD_NOTES = 1u << 1 };

/* How it is written, a newline behind it: the same bytes everywhere. */
#define RECORD_JSON_FLAGS JSON_INDENT(2)

/* All of RECORD, as `hillctl export --help` has it; the caller's. */
json_t *record_json(const struct row_record *record,
		    unsigned *ret_damage) WARN_UNUSED;

/* The caller's. Seeds and the digest are texts: no reader rounds them. */
json_t *record_match_json(const struct row_match *match) WARN_UNUSED;
/* A number, or null where JSON has none for it. */
json_t *record_real(double value) WARN_UNUSED;
/* 64 bits in hexadecimal. */
json_t *record_hex(uint64_t value) WARN_UNUSED;
/*
 * Add to OBJECT the LEN bytes of TEXT as NAME; where they are no text that
 * every JSON reader takes, as NAME_base64.
 */
void record_add_bytes(json_t *object, const char *name, const char *text,
		      size_t len);

#endif
