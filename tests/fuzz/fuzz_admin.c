/* SPDX-License-Identifier: MIT */
/*
 * fuzz_admin.c - the host's commands, one JSON text a line, on a database in
 * memory. Every reply must be an object that says whether it went well, and
 * the catalogue must stay readable.
 */
#include <stdlib.h>
#include <string.h>

#include "server/store/admin.h"
#include "server/store/base64.h"
#include "server/store/store.h"
#include "tests/fuzz/fuzz.h"

enum { COMMANDS_MAX = 50, DECODED_BYTES_MAX = 1 << 20 };

static void check(bool is_so)
{
	if (!is_so)
		abort();
}

static void command(struct store *store, const char *text, size_t len)
{
	bool has_changed = false;
	char *reply = store_admin_text(store, text, len, &has_changed);
	json_t *json;
	const json_t *ok;

	check(reply != NULL && strchr(reply, '\n') == NULL);
	json = json_loads(reply, JSON_REJECT_DUPLICATES, NULL);
	check(json_is_object(json));
	ok = json_object_get(json, "ok");
	check(json_is_boolean(ok));
	if (!json_is_true(ok)) {
		check(!has_changed);
		check(json_is_string(json_object_get(json, "error")));
	}
	json_decref(json);
	free(reply);
}

static void decode(const char *text, size_t len)
{
	struct buf bytes = BUF_INIT(DECODED_BYTES_MAX);
	struct buf again = BUF_INIT(2 * DECODED_BYTES_MAX);

	if (base64_decode(text, len, &bytes) == 0) {
		check(bytes.len <= len / 4 * 3);
		base64_encode_url((const uint8_t *)buf_text(&bytes), bytes.len,
				  &again);
		check(again.len == (bytes.len * 4 + 2) / 3);
	}
	buf_release(&bytes);
	buf_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct row_catalogue catalogue;
	struct store_error error;
	struct store *store;
	unsigned count = 0;

	check(store_open(&store, ":memory:", STORE_CREATE, &error) == 0);
	while (size > 0 && count++ < COMMANDS_MAX) {
		const char *end = memchr(text, '\n', size);
		size_t len = end == NULL ? size : (size_t)(end - text);
		/* Of its own size, so that a read past it is found. */
		char *copy = malloc(len > 0 ? len : 1);

		check(copy != NULL);
		memcpy(copy, text, len);
		decode(copy, len);
		command(store, copy, len);
		free(copy);
		text += len + (end != NULL);
		size -= len + (end != NULL);
	}
	check(store_catalogue(store, &catalogue, &error) == 0);
	row_catalogue_release(&catalogue);
	store_close(store);
	return 0;
}
