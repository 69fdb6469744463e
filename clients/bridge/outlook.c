/* SPDX-License-Identifier: MIT */
#include "clients/bridge/outlook.h"

#include <assert.h>
#include <string.h>

enum {
	US_PER_MS = 1000,
	GRACE_MARGIN_MS = 2000,
};

static int64_t min_i64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* One reply that is OVER_US past its time; the bank pays if it can. */
static void pay(struct outlook *ret, int64_t *bank_us, int64_t over_us)
{
	int64_t most_us =
		min_i64((int64_t)OUTLOOK_SPEND_MS * US_PER_MS, *bank_us);
	int64_t paid_us = min_i64(over_us, most_us);

	if (over_us > most_us)
		ret->late++;
	else
		ret->banked++;
	*bank_us -= paid_us;
	ret->spent_us += (uint64_t)paid_us;
	ret->least_us = min_i64(ret->least_us, *bank_us);
}

/* One match, over the round trips from number AT on. */
static void play(const struct outlook_terms *terms, const uint32_t *rtt_us,
		 size_t n, size_t at, int64_t lag_us, int64_t think_us,
		 struct outlook *ret)
{
	int64_t bank_us = terms->bank_ms * US_PER_MS;

	for (unsigned i = 0; i < terms->requests; i++) {
		int64_t limit_us = terms->turn_ms * US_PER_MS + lag_us;

		if (i == 0)
			limit_us += terms->init_ms * US_PER_MS;
		if (terms->grace_ms > 0)
			limit_us +=
				(terms->grace_ms + GRACE_MARGIN_MS) * US_PER_MS;
		if (terms->bank_ms > 0)
			bank_us += terms->bank_step_ms * US_PER_MS;
		if (rtt_us[at] + think_us > limit_us) {
			int64_t none_us = 0;

			pay(ret, terms->grace_ms > 0 ? &none_us : &bank_us,
			    rtt_us[at] + think_us - limit_us);
		}
		at = at + 1 == n ? 0 : at + 1;
	}
}

void outlook_of(const struct outlook_terms *terms, const uint32_t *rtt_us,
		size_t n, int64_t think_us, struct outlook *ret)
{
	int64_t lag_us = rtt_us[0];

	assert(n > 0 && terms->requests <= OUTLOOK_REQUESTS_MAX);
	memset(ret, 0, sizeof(*ret));
	ret->least_us = terms->bank_ms * US_PER_MS;
	for (size_t i = 1; i < n; i++)
		lag_us = min_i64(lag_us, rtt_us[i]);
	lag_us = min_i64(lag_us, terms->lag_cap_ms * US_PER_MS);
	for (size_t i = 0; i < OUTLOOK_MATCHES; i++)
		play(terms, rtt_us, n, i * n / OUTLOOK_MATCHES, lag_us,
		     think_us, ret);
}
