/* SPDX-License-Identifier: MIT */
/* The running digest of all that was said, and its samples. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "server/match/match_internal.h"
#include "tests/unit/match/toy.h"

static void the_digest_is_the_same_on_every_machine(void **unused)
{
	struct digest digest;

	(void)unused;
	digest_init(&digest);
	digest_lines(&digest, 0, "turnsleft 500\nrabbits 1,1\n", 26);
	digest_lines(&digest, 3, "x", 1);
	digest_input(&digest);
	/* pinned: stored matches must verify for ever */
	assert_int_equal(digest.value, UINT64_C(0x81668d75008de178));
	assert_int_equal(digest.samples[0], digest.value);
}

static void the_digest_tells_seats_lengths_and_order_apart(void **unused)
{
	static const struct {
		unsigned seat;
		const char *first, *second;
	} rows[] = {
		{ 0, "ab", "c" },      { 0, "a", "bc" },
		{ 1, "ab", "c" },      { 0, "abc", "" },
		{ 0, "c", "ab" },      { 0, "ab", "d" },
		{ 0, "ab\0", "c" },    { 0, "12345678", "1" },
		{ 0, "12345678", "" },
	};
	uint64_t values[COUNT_OF(rows)];

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct digest digest;
		size_t len = i == 6 ? 3 : strlen(rows[i].first);

		digest_init(&digest);
		digest_lines(&digest, rows[i].seat, rows[i].first, len);
		digest_lines(&digest, rows[i].seat, rows[i].second,
			     strlen(rows[i].second));
		values[i] = digest.value;
		for (size_t k = 0; k < i; k++)
			assert_true(values[k] != values[i]);
	}
}

static void samples_thin_out_and_say_where_runs_part(void **unused)
{
	for (uint64_t inputs = 1; inputs < 5000; inputs += 1 + inputs / 7) {
		uint64_t here[DIGEST_SAMPLES_MAX + 1];
		uint64_t there[DIGEST_SAMPLES_MAX + 1];
		uint64_t from, to;
		size_t nhere, nthere;
		uint64_t part = 1 + inputs * 2 / 3;
		struct digest a, b;

		digest_init(&a);
		digest_init(&b);
		for (uint64_t i = 1; i <= inputs; i++) {
			char text[16];
			int len = snprintf(text, sizeof(text), "%llu",
					   (unsigned long long)i);

			digest_lines(&a, 0, text, (size_t)len);
			if (i == part)
				text[0] = 'x';
			digest_lines(&b, 0, text, (size_t)len);
			digest_input(&a);
			digest_input(&b);
		}
		nhere = digest_export(&a, here);
		nthere = digest_export(&b, there);
		assert_true(nhere - 1 == inputs / here[0]);
		assert_true(inputs < DIGEST_SAMPLES_MAX ||
			    nhere - 1 >= DIGEST_SAMPLES_MAX / 2);
		digest_part(here, nhere, there, nthere, &from, &to);
		assert_true(from < part);
		assert_true(to == UINT64_MAX ||
			    (to >= part && to - from == here[0]));
		digest_part(here, nhere, here, nhere, &from, &to);
		assert_true(to == UINT64_MAX);
	}
	(void)unused;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_digest_is_the_same_on_every_machine),
		cmocka_unit_test(
			the_digest_tells_seats_lengths_and_order_apart),
		cmocka_unit_test(samples_thin_out_and_say_where_runs_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
