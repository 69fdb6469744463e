/* SPDX-License-Identifier: MIT */
/* test_outlook.c - late replies and the bank, from measured round trips. */
#include "clients/bridge/outlook.h"

#include "tests/unit/unit.h"

static const struct outlook_terms fair = {
	.turn_ms = 500,
	.init_ms = 2000,
	.bank_ms = 2000,
	.bank_step_ms = 2,
	.lag_cap_ms = 250,
	.requests = 100,
};

static struct outlook look(const struct outlook_terms *terms,
			   const uint32_t *rtt_us, size_t n, int64_t think_us)
{
	struct outlook outlook;

	outlook_of(terms, rtt_us, n, think_us, &outlook);
	return outlook;
}

static void a_steady_link_costs_nothing(void **state)
{
	const uint32_t rtt_us[] = { 80000 };
	struct outlook found;

	(void)state;
	/* All of the distance is lag: the bot has its whole turn. */
	found = look(&fair, rtt_us, 1, 500000);
	assert_int_equal(found.late, 0);
	assert_int_equal(found.banked, 0);
	assert_int_equal(found.spent_us, 0);
	assert_int_equal(found.least_us, 2000000);
}

static void what_is_over_comes_out_of_the_bank(void **state)
{
	/* Every tenth round trip is 30 ms longer than the least. */
	uint32_t rtt_us[10] = { 50000, 20000, 20000, 20000, 20000,
				20000, 20000, 20000, 20000, 20000 };
	struct outlook found;

	(void)state;
	/* 490 ms of thought and 50 ms of link: 20 ms over 500 + 20. */
	found = look(&fair, rtt_us, 10, 490000);
	assert_int_equal(found.late, 0);
	/* Where a match begins with the long one, init-ms covers it. */
	assert_int_equal(found.banked,
			 OUTLOOK_MATCHES * 10 - OUTLOOK_MATCHES / 10);
	assert_int_equal(found.spent_us, found.banked * 20000);
	/* The first that pays: after one more step than it is requests in. */
	assert_int_equal(found.least_us, 2000000 + 2 * 2000 - 20000);
}

static void more_than_the_bank_pays_is_late(void **state)
{
	const uint32_t rtt_us[] = { 10000, 10000, 10000, 1000000 };
	struct outlook_terms terms = fair;
	struct outlook found;

	(void)state;
	terms.requests = 4;
	/* 490 ms over: paid; 501 ms over: late, and takes 500. */
	found = look(&terms, rtt_us, 4, 0);
	assert_int_equal(found.late, 0);
	assert_int_equal(found.spent_us, found.banked * 490000);
	found = look(&terms, rtt_us, 4, 11000);
	assert_int_equal(found.banked, 0);
	/* Not where it is the first: that has init-ms more. */
	assert_int_equal(found.late, OUTLOOK_MATCHES * 3 / 4);
	assert_int_equal(found.spent_us, found.late * 500000);
}

static void an_empty_bank_pays_no_more(void **state)
{
	const uint32_t rtt_us[] = { 1, 400001 };
	struct outlook_terms terms = fair;
	struct outlook found;

	(void)state;
	terms.bank_step_ms = 0;
	/* 300 ms over each second time: the bank of 2 s pays 6 and a part. */
	found = look(&terms, rtt_us, 2, 400000);
	assert_int_equal(found.banked, OUTLOOK_MATCHES * 6);
	assert_int_equal(found.late, OUTLOOK_MATCHES * 50 -
					     OUTLOOK_MATCHES / 2 -
					     found.banked);
	assert_int_equal(found.spent_us, OUTLOOK_MATCHES * 2000000);
	assert_int_equal(found.least_us, 0);
}

static void original_rules_forgive_nothing(void **state)
{
	const uint32_t rtt_us[] = { 20000 };
	const struct outlook_terms terms = {
		.turn_ms = 500, .init_ms = 0, .bank_step_ms = 2, .requests = 10
	};
	struct outlook found;

	(void)state;
	found = look(&terms, rtt_us, 1, 480000);
	assert_int_equal(found.late, 0);
	found = look(&terms, rtt_us, 1, 480001);
	assert_int_equal(found.late, OUTLOOK_MATCHES * 10);
	assert_int_equal(found.spent_us, 0);
}

static void lag_is_forgiven_up_to_its_cap(void **state)
{
	const uint32_t rtt_us[] = { 300000 };
	struct outlook_terms terms = fair;
	struct outlook found;

	(void)state;
	terms.requests = 2;
	found = look(&terms, rtt_us, 1, 500000);
	assert_int_equal(found.banked, OUTLOOK_MATCHES);
	assert_int_equal(found.spent_us, OUTLOOK_MATCHES * 50000);
}

static void grace_has_no_bank(void **state)
{
	const uint32_t rtt_us[] = { 1000000 };
	struct outlook_terms terms = fair;
	struct outlook found;

	(void)state;
	terms.init_ms = 0;
	terms.grace_ms = 10000;
	terms.requests = 1;
	found = look(&terms, rtt_us, 1, 11750000);
	assert_int_equal(found.late, 0);
	found = look(&terms, rtt_us, 1, 11750001);
	assert_int_equal(found.late, OUTLOOK_MATCHES);
	assert_int_equal(found.spent_us, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_steady_link_costs_nothing),
		cmocka_unit_test(what_is_over_comes_out_of_the_bank),
		cmocka_unit_test(more_than_the_bank_pays_is_late),
		cmocka_unit_test(an_empty_bank_pays_no_more),
		cmocka_unit_test(original_rules_forgive_nothing),
		cmocka_unit_test(lag_is_forgiven_up_to_its_cap),
		cmocka_unit_test(grace_has_no_bank),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
