/* SPDX-License-Identifier: MIT */
#include "server/store/base64.h"

#include <errno.h>

#include "tests/unit/unit.h"

/* RFC 4648, section 10, and the ends of the alphabet. */
static const struct {
	const char *bytes, *text, *url;
} pairs[] = {
	{ "", "", "" },
	{ "f", "Zg==", "Zg" },
	{ "fo", "Zm8=", "Zm8" },
	{ "foo", "Zm9v", "Zm9v" },
	{ "foob", "Zm9vYg==", "Zm9vYg" },
	{ "fooba", "Zm9vYmE=", "Zm9vYmE" },
	{ "foobar", "Zm9vYmFy", "Zm9vYmFy" },
	{ "\xfb\xff\xfe", "+//+", "-__-" },
};

static void decodes_and_encodes_the_vectors(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(pairs); i++) {
		struct buf bytes = BUF_INIT(100), text = BUF_INIT(100);

		assert_int_equal(base64_decode(pairs[i].text,
					       strlen(pairs[i].text), &bytes),
				 0);
		assert_int_equal(bytes.len, strlen(pairs[i].bytes));
		assert_string_equal(buf_text(&bytes), pairs[i].bytes);
		base64_encode_url((const uint8_t *)pairs[i].bytes,
				  strlen(pairs[i].bytes), &text);
		assert_string_equal(buf_text(&text), pairs[i].url);
		buf_release(&bytes);
		buf_release(&text);
	}
}

static void refuses_what_is_no_base64(void **state)
{
	static const char *const bad[] = {
		"Z",    "Zg",    "Zg=",      "====", "Z===",      "Zh==",
		"Zm9=", "Zm9\n", "Zg==Zg==", "-__-", "Zm9v Zm9v", "=Zm9",
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct buf bytes = BUF_INIT(100);

		if (base64_decode(bad[i], strlen(bad[i]), &bytes) != -EILSEQ)
			fail_msg("taken: %s", bad[i]);
		buf_release(&bytes);
	}
}

static void stops_at_the_buffers_limit(void **state)
{
	struct buf bytes = BUF_INIT(4);

	(void)state;
	assert_int_equal(base64_decode("Zm9vYmFy", 8, &bytes), -ENOMEM);
	buf_release(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decodes_and_encodes_the_vectors),
		cmocka_unit_test(refuses_what_is_no_base64),
		cmocka_unit_test(stops_at_the_buffers_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
