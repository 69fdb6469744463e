/* SPDX-License-Identifier: MIT */
/*
 * fuzz_match.c - anything that may happen to a match, in any order.
 *
 * The first byte says how the match is made, each further one is an event.
 * stage_take() checks the match's invariants after each; whatever ends with a
 * result must replay to it.
 */
#include <assert.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/match/toy.h"

static void work(struct stage *stage)
{
	/* What waited meanwhile may make it busy again. */
	while (match_state(stage->match) == MATCH_BUSY) {
		match_work(stage->match);
		match_resume(stage->match, stage->now_us, stage->out);
		stage_take(stage);
	}
}

static void say(struct stage *stage, unsigned seat, unsigned value)
{
	static const char *const words[] = { "x",    "bad",  "at",  "",
					     "busy", "some", "out", "end" };

	if (match_wants(stage->match, seat))
		stage_say(stage, seat, words[value & 7]);
}

/* Bits 0..1 the seat, 2..4 the kind, 5..7 what kind of it. */
static void happen(struct stage *stage, unsigned code)
{
	unsigned seat = (code & 3) % stage->setup.seats, value = code >> 5;
	struct match *match = stage->match;
	struct match_out *out = stage->out;

	switch (code >> 2 & 7) {
	case 0:
		match_ready(match, seat, (value & 1) != 0, stage->now_us, out);
		break;
	case 1:
	case 2:
		say(stage, seat, value);
		return;
	case 3:
		stage_pass(stage, 1 + 30000 * (int64_t)value);
		return;
	case 4:
		if (value < 6)
			match_skip(match, seat, stage->now_us, out);
		else if (match_wants(match, seat))
			match_line_long(match, seat, stage->now_us, out);
		else
			return;
		break;
	case 5:
		if (value == 0)
			match_gone(match, seat, "exit=1", stage->now_us, out);
		else if (value == 1)
			match_resign(match, seat, stage->now_us, out);
		else if (value == 2)
			match_link_lost(match, seat, stage->now_us, out);
		else
			match_credit_stall(match, 5000 * (int64_t)value,
					   stage->now_us, out);
		break;
	case 6:
		match_rtt(match, seat, 1000 * (int64_t)value);
		match_files_acked(match, seat, stage->now_us);
		stage->keeps_clocks = value == 7;
		match_clock_started(match, seat, stage->now_us);
		return;
	case 7:
		if (value == 0)
			match_abandon(match, "drain", stage->now_us, out);
		else if (value == 1)
			match_void(match, "fuzz", "text", stage->now_us, out);
		else
			work(stage);
		if (value > 1)
			return;
		break;
	default:
		return;
	}
	stage_take(stage);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stage stage;
	struct match_record *record;
	unsigned how = size > 0 ? data[0] : 0;

	stage_init(&stage, 1 + (how & 3));
	stage.setup.params[TOY_TURNS] = 1000;
	stage.setup.params[TOY_ALL_AT_ONCE] = how >> 2 & 1;
	stage.config.limits.bank_ms = (how >> 3 & 1) * 120;
	stage.config.limits.grace_ms = (how >> 4 & 1) * 50;
	stage.config.limits.file_ms = (how >> 5 & 1) * 400;
	stage.config.limits.init_ms = (how >> 5 & 1) * 100;
	stage.config.limits.lag_cap_ms = 4;
	stage.config.limits.stall_void_ms = 300;
	stage.config.is_local = (how >> 6 & 1) != 0;
	if ((how >> 7 & 1) != 0)
		stage_begin(&stage);
	else
		stage_offer(&stage);
	for (size_t at = 1; at < size; at++)
		happen(&stage, data[at]);
	work(&stage);
	record = match_take_record(stage.match, stage.out);
	assert((record != NULL) == (stage.is_over || stage.is_void));
	if (record != NULL)
		stage_check_replay(&stage, record);
	match_record_free(record);
	stage_release(&stage);
	return 0;
}
