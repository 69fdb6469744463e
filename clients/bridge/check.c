/* SPDX-License-Identifier: MIT */
/*
 * check.c - hill-bridge --check: measures the link, and says ladder by ladder
 * what it does to matches.
 *
 * It does not log in: it asks for the ladders, then pings, one ping at a
 * time, and comes back on a new connection before the server's time for a
 * login is up.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/bridge/bridge.h"
#include "clients/bridge/outlook.h"
#include "clients/bridge/visit.h"
#include "proto/name.h"
#include "server/base/clock.h"

enum {
	SAMPLES_MAX = 20000,
	LADDERS_MAX = 64,
	PING_EVERY_US = 50 * 1000,
	LINK_US = 7 * 1000 * 1000, /* of one connection: login is due at 10 s */
	REQUESTS_GUESS = 500,      /* of a match whose ladder does not say */
};

struct ladder_seen {
	char name[NAME_TEXT_MAX + 1];
	struct outlook_terms terms;
	int64_t waiting, playing;
};

struct check {
	const struct bridge *bridge; /* borrowed */
	struct visit visit;
	struct ladder_seen ladders[LADDERS_MAX];
	size_t nladders;
	uint32_t rtt_us[SAMPLES_MAX];
	size_t nsamples;
};

static int64_t number(const struct control *control, const char *name,
		      int64_t missing)
{
	int64_t value;

	/* Bounded so that no sum of them overflows. */
	if (control_key_i64(control, name, 0, INT32_MAX, &value) == 0)
		return value;
	return missing;
}

static void take_ladder(struct check *check, const struct control *control)
{
	struct ladder_seen *ladder = &check->ladders[check->nladders];
	int64_t requests = number(control, "turns", REQUESTS_GUESS);

	if (check->nladders == LADDERS_MAX || control->nargs == 0 ||
	    !name_is_ladder(control->args[0].text, control->args[0].len) ||
	    slice_copy(control->args[0], ladder->name, sizeof(ladder->name)) <
		    0)
		return;
	requests = number(control, "maxturns", requests);
	if (number(control, "whole-input", 0) == 1)
		requests = 1;
	if (requests > OUTLOOK_REQUESTS_MAX)
		requests = OUTLOOK_REQUESTS_MAX;
	ladder->terms = (struct outlook_terms){
		.turn_ms = number(control, "turn-ms", 0),
		.init_ms = number(control, "init-ms", 0),
		.bank_ms = number(control, "bank-ms", 0),
		.bank_step_ms = number(control, "bank-step-ms", 0),
		.lag_cap_ms = number(control, "lag-cap-ms", 0),
		.grace_ms = number(control, "grace-ms", 0),
		.requests = (unsigned)requests,
	};
	ladder->waiting = number(control, "waiting", 0);
	ladder->playing = number(control, "playing", 0);
	check->nladders++;
}

static int ask_ladders(struct check *check)
{
	int64_t by_us = clock_now_us() + VISIT_ANSWER_US, count = 0;
	struct control control;

	if (visit_say(&check->visit, "@ladders\n") < 0 ||
	    visit_await(&check->visit, WORD_LADDERS, false, by_us, &control) <
		    0)
		return -1;
	if (control_arg_i64(&control, 0, 0, INT64_MAX, &count) < 0)
		return visit_fail(&check->visit, "the server tells no ladders");
	while (count-- > 0) {
		if (visit_await(&check->visit, WORD_LADDER, false, by_us,
				&control) < 0)
			return -1;
		take_ladder(check, &control);
	}
	return 0;
}

/* One round trip after the other, until UNTIL_US. */
static int ping(struct check *check, int64_t until_us)
{
	struct control control;

	while (clock_now_us() < until_us && check->nsamples < SAMPLES_MAX) {
		int64_t begun_us = clock_now_us(), took_us;
		int error = visit_say(&check->visit, "@ping\n");

		if (error == 0)
			error = visit_await(&check->visit, WORD_PONG, false,
					    begun_us + VISIT_ANSWER_US,
					    &control);
		/* An answer that never came took at least so long. */
		took_us = clock_now_us() - begun_us;
		check->rtt_us[check->nsamples++] = (uint32_t)took_us;
		if (error != 0)
			return error;
		(void)visit_wait(-1, 0, begun_us + PING_EVERY_US);
	}
	return 0;
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

static double ms(double us)
{
	return us / 1000.0;
}

static void tell_ladder(const struct check *check,
			const struct ladder_seen *ladder, int64_t think_us)
{
	const struct outlook_terms *terms = &ladder->terms;
	const double matches = OUTLOOK_MATCHES;
	struct outlook outlook;

	outlook_of(terms, check->rtt_us, check->nsamples, think_us, &outlook);
	(void)printf("%s: %.2f of %u replies late a match; ", ladder->name,
		     (double)outlook.late / matches, terms->requests);
	if (terms->grace_ms > 0)
		(void)printf("no bank, but SIGINT at %.0f ms and %.0f ms of "
			     "grace",
			     (double)terms->turn_ms, (double)terms->grace_ms);
	else if (terms->bank_ms == 0)
		(void)printf("no bank");
	else
		(void)printf("the bank of %.0f ms pays for %.2f, %.1f ms in "
			     "all, and is never below %.0f ms",
			     (double)terms->bank_ms,
			     (double)outlook.banked / matches,
			     ms((double)outlook.spent_us / matches),
			     ms((double)outlook.least_us));
	(void)printf("; %u waiting, %u playing\n", (unsigned)ladder->waiting,
		     (unsigned)ladder->playing);
}

static void tell(struct check *check, int64_t think_us)
{
	static uint32_t sorted[SAMPLES_MAX];
	size_t n = check->nsamples;

	memcpy(sorted, check->rtt_us, n * sizeof(sorted[0]));
	qsort(sorted, n, sizeof(sorted[0]), compare_u32);
	(void)printf("%zu round trips: least %.1f ms, median %.1f, 99 of 100 "
		     "within %.1f, longest %.1f\n",
		     n, ms(sorted[0]), ms(sorted[n / 2]),
		     ms(sorted[n * 99 / 100]), ms(sorted[n - 1]));
	(void)printf("for a bot that thinks %.0f ms for each reply:\n",
		     ms((double)think_us));
	for (size_t i = 0; i < check->nladders; i++)
		tell_ladder(check, &check->ladders[i], think_us);
}

int bridge_check(const struct bridge *bridge)
{
	static struct check check; /* too large for the stack */
	int64_t until_us = clock_now_us() + (int64_t)bridge->check_s * 1000000;
	int error = 0;

	check.bridge = bridge;
	check.visit.fd = -1;
	while (error == 0 && clock_now_us() < until_us) {
		int64_t link_us = clock_now_us() + LINK_US;

		error = visit_open(&check.visit, bridge->host, bridge->port);
		if (error == 0 && check.nladders == 0)
			error = ask_ladders(&check);
		if (error == 0)
			error = ping(&check,
				     link_us < until_us ? link_us : until_us);
		visit_close(&check.visit);
	}
	if (error != 0)
		report(NULL, "cannot check %s:%s: %s", bridge->host,
		       bridge->port, check.visit.why);
	if (check.nsamples > 0)
		tell(&check, (int64_t)bridge->think_ms * 1000);
	return error == 0 ? EXIT_PLAYED : EXIT_REFUSED;
}
