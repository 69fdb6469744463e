/* SPDX-License-Identifier: MIT */
#include "tests/unit/match/toy.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/match/match_internal.h"

struct game_map {
	int unused;
};

struct game_state {
	struct game_setup setup;
	int64_t turn;     /* that is being asked for, from 1 */
	unsigned next;    /* the seat in turn */
	uint32_t waiting; /* seats that are asked */
	uint32_t out;     /* seats whose game is over */
	int64_t points[GAME_SEATS_MAX];
	unsigned late[GAME_SEATS_MAX];
	enum game_reason reason[GAME_SEATS_MAX];
	bool is_over;
	bool is_busy; /* the input is noted; work() goes on */
	unsigned works;
};

static const struct game_map the_map;

const struct game_map *toy_map(void)
{
	return &the_map;
}

static const struct game_param params[] = {
	[TOY_TURNS] = { "turns", 1, 1000000000, 10, "how many" },
	[TOY_ALL_AT_ONCE] = { "all", 0, 1, 0, "all seats are asked at once" },
	[TOY_LATE] = { "late", 1, 1000, 5, "late replies that suspend" },
};

static void seat_out(struct game_state *state, struct game_out *out,
		     unsigned seat, enum game_reason reason)
{
	if ((state->out >> seat & 1) != 0)
		return;
	state->out |= 1u << seat;
	state->waiting &= ~(1u << seat);
	state->reason[seat] = reason;
	game_out_end(out, seat, reason);
}

static void game_over(struct game_state *state, struct game_out *out)
{
	for (unsigned seat = 0; seat < state->setup.seats; seat++)
		seat_out(state, out, seat, GAME_FINISHED);
	state->is_over = true;
	out->is_over = true;
}

static void ask(struct game_state *state, struct game_out *out, unsigned seat)
{
	buf_add_format(&out->lines[seat], "ask %lld\n", (long long)state->turn);
	game_out_ask(out, seat, &state->setup);
	state->waiting |= 1u << seat;
}

/* Nobody is asked: the next request, or the end. */
static void go_on(struct game_state *state, struct game_out *out)
{
	unsigned seats = state->setup.seats;

	if (state->waiting != 0 || state->is_over)
		return;
	state->turn++;
	if (state->turn > state->setup.params[TOY_TURNS] ||
	    state->out == (1u << seats) - 1) {
		game_over(state, out);
		return;
	}
	for (unsigned n = 0; n < seats; n++) {
		unsigned seat = (state->next + n) % seats;

		if ((state->out >> seat & 1) != 0)
			continue;
		ask(state, out, seat);
		if (state->setup.params[TOY_ALL_AT_ONCE] == 0) {
			state->next = seat + 1;
			return;
		}
	}
}

static int toy_create(struct game_state **ret, const struct game_map *map,
		      const struct game_setup *setup, struct game_error *error)
{
	(void)map;
	if (strcmp(setup->seed, "13") == 0) {
		game_error_set(error, "13 is no seed");
		return -EINVAL;
	}
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->setup = *setup;
	return 0;
}

static enum game_status toy_begin(struct game_state *state,
				  struct game_out *out)
{
	for (unsigned seat = 0; seat < state->setup.seats; seat++)
		buf_add_format(&out->lines[seat], "seed %s\n",
			       state->setup.seed);
	go_on(state, out);
	return GAME_DONE;
}

static void say(struct game_state *state, struct game_out *out, unsigned from,
		const char *text, size_t len)
{
	for (unsigned seat = 0; seat < state->setup.seats; seat++) {
		if (seat == from || (state->out >> seat & 1) != 0)
			continue;
		buf_add_format(&out->lines[seat], "%u said ", from);
		buf_add(&out->lines[seat], text, len);
		buf_add_char(&out->lines[seat], '\n');
	}
}

static bool is_word(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && memcmp(text, word, len) == 0;
}

static void fill(struct buf *lines, unsigned mib)
{
	for (unsigned i = 0; i < mib * 1024; i++)
		buf_add_format(lines, "%01023d\n", 0);
}

static void reply(struct game_state *state, struct game_out *out, unsigned seat,
		  const char *text, size_t len)
{
	state->points[seat] += (int64_t)len + 1;
	say(state, out, seat, text, len);
	if (is_word(text, len, "bad")) {
		out->invalid |= 1u << seat;
		strcpy(out->detail[seat], "bad is bad");
	} else if (is_word(text, len, "at")) {
		buf_add_text(&out->lines[seat], "@at\n");
	} else if (is_word(text, len, "out")) {
		seat_out(state, out, seat, GAME_INVALID);
	} else if (is_word(text, len, "end")) {
		game_over(state, out);
	} else if (is_word(text, len, "flood")) {
		fill(&out->lines[seat], 2);
	} else if (is_word(text, len, "drown")) {
		fill(&out->lines[seat], 65);
	}
}

static enum game_status toy_feed(struct game_state *state, unsigned seat,
				 enum game_input kind, const char *text,
				 size_t len, struct game_out *out)
{
	uint32_t bit = 1u << seat;

	assert(!state->is_over && !state->is_busy && (state->out & bit) == 0);
	assert(kind == GAME_GONE || (state->waiting & bit) != 0);
	state->waiting &= ~bit;
	switch (kind) {
	case GAME_REPLY:
		reply(state, out, seat, text, len);
		break;
	case GAME_LATE:
		if (++state->late[seat] >= state->setup.params[TOY_LATE])
			seat_out(state, out, seat, GAME_SUSPENDED);
		break;
	case GAME_GONE:
		seat_out(state, out, seat, GAME_LEFT);
		break;
	case GAME_NINPUTS:
		break;
	}
	if (is_word(text, len, "busy")) {
		state->is_busy = true;
		return GAME_BUSY;
	}
	go_on(state, out);
	return GAME_DONE;
}

/* Needs three calls, and says a line in each. */
static enum game_status toy_work(struct game_state *state, struct game_out *out)
{
	assert(state->is_busy);
	buf_add_format(&out->lines[0], "work %u\n", state->works);
	if (++state->works % 3 != 0)
		return GAME_BUSY;
	state->is_busy = false;
	go_on(state, out);
	return GAME_DONE;
}

static void toy_result(const struct game_state *state, struct game_score *ret)
{
	for (unsigned seat = 0; seat < state->setup.seats; seat++) {
		ret[seat] = (struct game_score){
			.points = state->points[seat],
			.score = (double)state->points[seat] / 4,
			.reason = state->reason[seat],
		};
	}
	game_rank(ret, state->setup.seats);
}

static size_t toy_line_max(const struct game_map *map)
{
	(void)map;
	return 64;
}

static void toy_args(const struct game_map *map, const struct game_setup *setup,
		     unsigned seat, const char *file_name, struct buf *out)
{
	(void)map;
	buf_add_format(out, "%s %s %u", file_name, setup->bot_seed, seat);
}

static void no_args(const struct game_map *map, const struct game_setup *setup,
		    unsigned seat, const char *file_name, struct buf *out)
{
	(void)map;
	(void)setup;
	(void)seat;
	(void)file_name;
	(void)out;
}

static void toy_free(struct game_state *state)
{
	free(state);
}

const struct game toy_game = {
	.name = "toy",
	.title = "Toy",
	.version = 1,
	.seats_min = 1,
	.seats_max = GAME_SEATS_MAX,
	.stop = GAME_STOP_TERM,
	.params = params,
	.nparams = TOY_NPARAMS,
	.late_max = 5,
	.line_max = toy_line_max,
	.args = toy_args,
	.create = toy_create,
	.begin = toy_begin,
	.feed = toy_feed,
	.work = toy_work,
	.result = toy_result,
	.free = toy_free,
};

const struct game toy_whole_game = {
	.name = "toy-whole",
	.title = "Toy",
	.version = 1,
	.seats_min = 1,
	.seats_max = 1,
	.stop = GAME_STOP_EXIT,
	.is_whole_input = true,
	.params = params,
	.nparams = TOY_NPARAMS,
	.late_max = 1,
	.line_max = toy_line_max,
	.args = no_args,
	.create = toy_create,
	.begin = toy_begin,
	.feed = toy_feed,
	.work = toy_work,
	.result = toy_result,
	.free = toy_free,
};

void stage_init(struct stage *stage, unsigned seats)
{
	static const char *const bots[GAME_SEATS_MAX] = {
		"ann", "bob", "cid", "dan", "eve", "fay", "gus", "hal",
	};

	*stage = (struct stage){
		.out = match_out_new(),
		.now_us = 1000000,
		.setup = { .seed = "7",
			   .bot_seed = "322",
			   .seats = seats,
			   .params = { [TOY_TURNS] = 10, [TOY_LATE] = 5 } },
		.config = { .id = 4711,
			    .game = &toy_game,
			    .map = toy_map(),
			    .map_name = "toy.map",
			    .ladder = "toys",
			    .is_rated = true,
			    .limits = { .turn_ms = 100,
					.bank_step_ms = 2,
					.bank_spend_ms = 500,
					.ready_ms = 10000 } },
	};
	stage->config.setup = &stage->setup;
	for (unsigned seat = 0; seat < seats; seat++) {
		stage->config.seats[seat].bot = bots[seat];
		buf_init(&stage->sent[seat], 64u << 20);
	}
	buf_init(&stage->told, 1u << 20);
}

void stage_take(struct stage *stage)
{
	struct match_out *out = stage->out;

	match_check(stage->match);
	for (unsigned seat = 0; seat < stage->setup.seats; seat++) {
		const struct buf *lines = &out->lines[seat];
		size_t at = out->block_at[seat];

		if ((out->touched >> seat & 1) == 0)
			continue;
		if (at != MATCH_NO_BLOCK) {
			buf_add(&stage->sent[seat], lines->data, at);
			buf_add_text(&stage->sent[seat], "[block]\n");
			buf_add(&stage->sent[seat], lines->data + at,
				lines->len - at);
		} else {
			buf_add(&stage->sent[seat], lines->data, lines->len);
		}
		if ((out->clock >> seat & 1) != 0 && !stage->keeps_clocks)
			match_clock_started(stage->match, seat, stage->now_us);
	}
	buf_add(&stage->told, buf_text(&out->told), out->told.len);
	stage->ended |= out->ended;
	stage->stays = out->stays;
	stage->is_over |= out->is_over;
	stage->is_void |= out->is_void;
	stage->is_cancelled |= out->is_cancelled;
	stage->is_abandoned |= out->is_abandoned;
	stage->is_busy =
		out->is_busy || match_state(stage->match) == MATCH_BUSY;
	match_check(stage->match);
}

void stage_offer(struct stage *stage)
{
	int rc = match_new(&stage->match, &stage->config, stage->now_us,
			   stage->out);

	assert(rc == 0);
	stage_take(stage);
}

void stage_begin(struct stage *stage)
{
	stage_offer(stage);
	for (unsigned seat = 0; seat < stage->setup.seats; seat++) {
		match_ready(stage->match, seat, false, stage->now_us,
			    stage->out);
		stage_take(stage);
	}
}

void stage_release(struct stage *stage)
{
	match_free(stage->match);
	match_out_free(stage->out);
	for (unsigned seat = 0; seat < GAME_SEATS_MAX; seat++)
		buf_release(&stage->sent[seat]);
	buf_release(&stage->told);
}

void stage_say(struct stage *stage, unsigned seat, const char *text)
{
	match_line(stage->match, seat, text, strlen(text), stage->now_us,
		   stage->out);
	stage_take(stage);
}

void stage_pass(struct stage *stage, int64_t us)
{
	int64_t end_us = stage->now_us + us;

	for (;;) {
		int64_t next_us = match_deadline(stage->match);

		if (next_us > end_us)
			break;
		if (next_us > stage->now_us)
			stage->now_us = next_us;
		match_expire(stage->match, stage->now_us, stage->out);
		stage_take(stage);
	}
	stage->now_us = end_us;
}

bool stage_got(struct stage *stage, unsigned seat, const char *text)
{
	struct buf *sent = &stage->sent[seat];
	const char *at = strstr(buf_text(sent), text);

	if (at == NULL)
		return false;
	buf_drop_front(sent, (size_t)(at - sent->data) + strlen(text));
	return true;
}

void stage_check_replay(const struct stage *stage,
			const struct match_record *record)
{
	struct replay_result result;
	struct game_error error = { .text = "" };
	const struct replay_source source = {
		.game = stage->config.game,
		.map = toy_map(),
		.setup = &record->setup,
		.transcript = record->transcript,
		.transcript_len = record->transcript_len,
	};
	int rc = replay_run(&source, NULL, &result, &error);

	assert(rc == 0);
	assert(result.inputs == record->inputs);
	assert(result.digest == record->digest);
	assert(result.nsamples == record->nsamples);
	assert(memcmp(result.samples, record->samples,
		      result.nsamples * sizeof(result.samples[0])) == 0);
	for (unsigned seat = 0; seat < record->nseats; seat++) {
		assert(result.scores[seat].points ==
		       record->seats[seat].score.points);
		/* What was asked when a busy match was void is told to nobody. */
		assert(record->is_void ||
		       result.turns[seat] == record->seats[seat].requests);
	}
}

/* The same numbers everywhere; good enough for tests. */
uint32_t stage_draw(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(*seed >> 33);
}

/* Play a match of SEATS seats with all that can happen to it. */
struct match_record *stage_play_random(struct stage *stage, unsigned seats,
				       uint64_t seed, unsigned steps)
{
	stage_init(stage, seats);
	stage->setup.params[TOY_TURNS] = 100000;
	stage->setup.params[TOY_LATE] = 1000;
	stage->setup.params[TOY_ALL_AT_ONCE] = (int64_t)(seed & 1);
	stage->config.limits.bank_ms = 300;
	stage_begin(stage);
	for (unsigned i = 0; i < steps && !stage->is_over; i++) {
		static const char *const words[] = { "bad", "at", "",
						     "some words", "busy" };
		unsigned seat = stage_draw(&seed) % seats;

		if (stage_draw(&seed) % 16 == 0) {
			stage_pass(stage, stage_draw(&seed) % 150000);
		} else if (stage_draw(&seed) % 32 == 0) {
			match_skip(stage->match, seat, stage->now_us,
				   stage->out);
			stage_take(stage);
		} else if (stage_draw(&seed) % 2000 == 0 && i > steps / 2) {
			match_gone(stage->match, seat, "exit=1", stage->now_us,
				   stage->out);
			stage_take(stage);
		} else if (match_wants(stage->match, seat)) {
			stage_say(stage, seat,
				  words[stage_draw(&seed) %
					(sizeof(words) / sizeof(words[0]))]);
		} else {
			stage->now_us += 1000;
		}
		if (stage->is_busy && stage_draw(&seed) % 2 == 0) {
			match_work(stage->match);
			match_resume(stage->match, stage->now_us, stage->out);
			stage_take(stage);
		}
	}
	if (match_state(stage->match) == MATCH_BUSY) {
		match_work(stage->match);
		match_resume(stage->match, stage->now_us, stage->out);
		stage_take(stage);
	}
	for (unsigned seat = 0; seat < seats && !stage->is_over; seat++) {
		match_resign(stage->match, seat, stage->now_us, stage->out);
		stage_take(stage);
		if (stage->is_busy) {
			match_work(stage->match);
			match_resume(stage->match, stage->now_us, stage->out);
			stage_take(stage);
		}
	}
	assert(stage->is_over);
	return match_take_record(stage->match, stage->out);
}

/* Replay BYTES as a toy's transcript. */
int toy_replay(const struct game_setup *setup, const uint8_t *bytes, size_t len,
	       const struct replay_callbacks *calls, struct replay_result *ret,
	       struct game_error *error)
{
	const struct replay_source source = { &toy_game, toy_map(), setup,
					      bytes, len };

	return replay_run(&source, calls, ret, error);
}
