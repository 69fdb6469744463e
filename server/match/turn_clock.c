/* SPDX-License-Identifier: MIT */
/*
 * turn_clock.c - when a request's time begins, and when it has run out.
 *
 *	verdict = clock + turn-ms (+ init-ms for the first) + lag
 *		  + min(bank-spend-ms, bank)	or, with grace,
 *		  + grace-ms + 2 s
 *
 * `clock` is the first send(). For the first request it is the moment when
 * the files are acknowledged, at most file-ms later; for one that was put
 * while a late reply was owed the moment when that came, at most one turn
 * later. So both start at their latest and move forward at most once.
 */
#include "server/match/match_internal.h"

static int64_t min_i64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t max_i64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

int64_t turn_clock_limit_us(const struct match_seat *seat,
			    const struct match *match)
{
	int64_t limit_ms = seat->limit_ms;

	if (seat->requests == 1)
		limit_ms += match->limits.init_ms;
	return limit_ms * US_PER_MS;
}

int64_t turn_clock_lag_us(const struct match_seat *seat,
			  const struct match *match)
{
	if (seat->lag_us < 0)
		return 0;
	return min_i64(seat->lag_us, match->limits.lag_cap_ms * US_PER_MS);
}

int64_t turn_clock_spend_us(const struct match_seat *seat,
			    const struct match *match)
{
	if (seat->grace_ms > 0)
		return 0;
	return min_i64(match->limits.bank_spend_ms * US_PER_MS, seat->bank_us);
}

void turn_clock_asked(struct match_seat *seat, const struct match *match)
{
	seat->requests++;
	seat->is_asked = true;
	seat->is_interrupted = false;
	seat->clock = TURN_CLOCK_UNSENT;
	seat->verdict_us = TIME_NEVER;
	seat->interrupt_us = TIME_NEVER;
	seat->stall_us = 0;
	if (match->limits.bank_ms > 0)
		seat->bank_us += match->limits.bank_step_ms * US_PER_MS;
}

void turn_clock_off(struct match_seat *seat)
{
	seat->is_asked = false;
	seat->clock = TURN_CLOCK_OFF;
	seat->verdict_us = TIME_NEVER;
	seat->interrupt_us = TIME_NEVER;
}

/* What the time of the open request is counted from. */
static int64_t clock_start(const struct match_seat *seat,
			   const struct match *match)
{
	int64_t latest;

	if (seat->requests == 1) {
		if (!seat->needs_files)
			return seat->sent_us;
		latest = seat->sent_us + match->limits.file_ms * US_PER_MS;
		return max_i64(seat->sent_us, min_i64(seat->acked_us, latest));
	}
	latest = seat->sent_us + seat->limit_ms * US_PER_MS;
	if (seat->owed > 0)
		return latest;
	return max_i64(seat->sent_us, min_i64(seat->settled_us, latest));
}

void turn_clock_set(struct match_seat *seat, const struct match *match)
{
	int64_t limit_us, rest_us;

	if (seat->clock != TURN_CLOCK_RUNS)
		return;
	seat->clock_us = clock_start(seat, match);
	if (seat->limit_ms == 0)
		return;
	limit_us = turn_clock_limit_us(seat, match);
	rest_us = turn_clock_spend_us(seat, match);
	if (seat->grace_ms > 0) {
		rest_us =
			((int64_t)seat->grace_ms + GRACE_MARGIN_MS) * US_PER_MS;
		if (!seat->is_interrupted)
			seat->interrupt_us = seat->clock_us + limit_us;
	}
	seat->verdict_us =
		seat->clock_us + limit_us + seat->paid_lag_us + rest_us;
}

void turn_clock_start(struct match_seat *seat, const struct match *match,
		      int64_t now_us)
{
	seat->clock = TURN_CLOCK_RUNS;
	seat->sent_us = now_us;
	seat->paid_lag_us = turn_clock_lag_us(seat, match);
	turn_clock_set(seat, match);
}

int64_t turn_clock_elapsed_us(const struct match_seat *seat, int64_t now_us)
{
	if (seat->clock != TURN_CLOCK_RUNS)
		return 0;
	return max_i64(0, now_us - seat->clock_us);
}

int64_t turn_clock_pay(struct match_seat *seat, const struct match *match,
		       int64_t elapsed_us)
{
	int64_t over_us = elapsed_us - turn_clock_limit_us(seat, match) -
			  seat->paid_lag_us;
	int64_t paid_us;

	if (over_us <= 0 || seat->limit_ms == 0)
		return 0;
	paid_us = min_i64(over_us, turn_clock_spend_us(seat, match));
	seat->bank_us -= paid_us;
	return paid_us;
}

bool turn_clock_credit(struct match_seat *seat, int64_t lost_us, int64_t now_us)
{
	if (seat->clock != TURN_CLOCK_RUNS)
		return false;
	/* No more than has passed since the request. */
	lost_us = min_i64(lost_us, now_us - seat->sent_us);
	if (lost_us <= 0)
		return false;
	seat->sent_us += lost_us;
	seat->clock_us += lost_us;
	seat->stall_us += lost_us;
	if (seat->verdict_us != TIME_NEVER)
		seat->verdict_us += lost_us;
	if (seat->interrupt_us != TIME_NEVER)
		seat->interrupt_us += lost_us;
	return true;
}
