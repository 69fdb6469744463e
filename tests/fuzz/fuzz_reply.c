/* SPDX-License-Identifier: MIT */
/*
 * fuzz_reply.c - what bots may answer: a table (table.h), then inputs, one a
 * line:
 *
 *	0>move 1,1 to 1,2     a reply of seat 0
 *	1!                    seat 1 is late
 *	0-                    seat 0 is gone
 *
 * A reply of a seat that owes none goes to the next one that does. Each input
 * is played twice, and once more from its transcript; all must say the same.
 */
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "server/match/digest.h"
#include "server/match/replay.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/table.h"

enum { TRANSCRIPT_VERSION = 1, OUTPUT_BYTES_MAX = 64 * 1024 * 1024 };

struct run {
	const struct table *table;
	struct game_state *state;
	struct game_out out;
	struct digest digest;
	struct buf transcript; /* raw */
	struct buf dump;
	uint32_t owed, ended, gone; /* bit a seat */
	bool is_over;
	uint64_t inputs;
	struct game_score scores[GAME_SEATS_MAX];
};

static void absorb(struct run *run, enum game_status status)
{
	const struct game *game = run->table->game;
	unsigned seats = run->table->setup.seats;
	uint32_t all = (1u << seats) - 1;

	/* A busy engine is asked slice by slice, and may be looked at. */
	while (status == GAME_BUSY) {
		game->result(run->state, run->scores);
		status = game->work(run->state, &run->out);
	}
	table_check((run->out.asked & ~all) == 0);
	table_check((run->out.ended & ~all) == 0);
	table_check((run->out.ended & run->ended) == 0);
	table_check((run->out.asked & run->ended) == 0);
	table_check((run->out.asked & run->owed) == 0);
	run->ended |= run->out.ended;
	run->owed = (run->owed | run->out.asked) & ~run->ended;
	run->is_over = run->out.is_over;
	/* Somebody must be able to bring the match on. */
	table_check(run->is_over ? run->ended == all : run->owed != 0);
	for (unsigned seat = 0; seat < seats; seat++) {
		const struct buf *lines = &run->out.lines[seat];

		table_check(!lines->is_failed);
		table_check(lines->len == 0 ||
			    lines->data[lines->len - 1] == '\n');
		if (lines->len > 0)
			digest_lines(&run->digest, seat, lines->data,
				     lines->len);
	}
	game->result(run->state, run->scores);
	for (unsigned seat = 0; seat < seats; seat++)
		table_check(run->scores[seat].rank >= 1 &&
			    run->scores[seat].rank <= seats);
}

static void note(struct run *run, unsigned seat, enum game_input kind,
		 const char *text, size_t len)
{
	buf_add_char(&run->transcript, (char)(kind | seat << 2));
	if (kind != GAME_REPLY)
		return;
	for (uint64_t rest = len;; rest >>= 7) {
		buf_add_char(&run->transcript,
			     (char)((rest & 127) | (rest > 127 ? 128 : 0)));
		if (rest <= 127)
			break;
	}
	buf_add(&run->transcript, text, len);
}

static void feed(struct run *run, unsigned seat, enum game_input kind,
		 const char *text, size_t len)
{
	/* Of its own size, so that a read past it is found. */
	char *copy = malloc(len > 0 ? len : 1);

	table_check(copy != NULL);
	memcpy(copy, text, len);
	for (size_t i = 0; i < len && run->table->game->form != GAME_FORM_LINE;
	     i++)
		copy[i] = copy[i] == '\v' ? '\n' : copy[i];
	text = copy;
	note(run, seat, kind, text, len);
	run->owed &= ~(1u << seat);
	game_out_clear(&run->out);
	absorb(run, run->table->game->feed(run->state, seat, kind, copy, len,
					   &run->out));
	digest_input(&run->digest);
	run->inputs++;
	free(copy);
}

/* One line of the input. */
static void take(struct run *run, const char *line, size_t len)
{
	unsigned seats = run->table->setup.seats;
	unsigned seat;
	size_t line_max = run->table->game->line_max(run->table->map);

	if (len < 2)
		return;
	seat = (unsigned char)line[0] % seats;
	if (line[1] == '-') {
		if ((run->ended >> seat & 1) == 0)
			feed(run, seat, GAME_GONE, "", 0);
		return;
	}
	/* Of a reply of several lines each LF is a vertical tab here. */
	while ((run->owed >> seat & 1) == 0)
		seat = (seat + 1) % seats;
	if (line[1] == '!')
		feed(run, seat, GAME_LATE, "", 0);
	else
		feed(run, seat, GAME_REPLY, line + 2,
		     len - 2 > line_max ? 0 : len - 2);
}

/* What comes after the end changes nothing. */
static void feed_after_end(struct run *run)
{
	const struct game *game = run->table->game;
	struct buf dump = BUF_INIT(OUTPUT_BYTES_MAX);

	for (unsigned seat = 0; seat < run->table->setup.seats; seat++) {
		for (int kind = 0; kind < GAME_NINPUTS; kind++) {
			game_out_clear(&run->out);
			game_settle(game, run->state,
				    game->feed(run->state, seat,
					       (enum game_input)kind, "0,0", 3,
					       &run->out),
				    &run->out);
			table_check(run->out.asked == 0);
			table_check(run->out.ended == 0);
			table_check(run->out.lines[seat].len == 0);
		}
	}
	game->dump(run->state, &dump);
	table_check(dump.len == run->dump.len &&
		    memcmp(buf_text(&dump), buf_text(&run->dump), dump.len) ==
			    0);
	buf_release(&dump);
}

/* False when the engine refuses the set-up. */
static bool play(struct run *run, const struct table *table)
{
	const char *text = table->rest, *line;
	size_t left = table->len, len;
	struct game_error error;
	struct game_grid grid;

	memset(run, 0, sizeof(*run));
	run->table = table;
	if (table->game->create(&run->state, table->map, &table->setup,
				&error) != 0)
		return false;
	game_out_init(&run->out, OUTPUT_BYTES_MAX);
	buf_init(&run->transcript, OUTPUT_BYTES_MAX);
	buf_init(&run->dump, OUTPUT_BYTES_MAX);
	buf_add_char(&run->transcript, TRANSCRIPT_VERSION);
	digest_init(&run->digest);
	absorb(run, table->game->begin(run->state, &run->out));
	while (!run->is_over && table_line(&text, &left, &line, &len))
		take(run, line, len);
	if (game_grid(table->game, run->state, &grid) == 0)
		game_grid_release(&grid);
	table->game->dump(run->state, &run->dump);
	if (run->is_over)
		feed_after_end(run);
	return true;
}

static void release(struct run *run)
{
	run->table->game->free(run->state);
	game_out_release(&run->out);
	buf_release(&run->transcript);
	buf_release(&run->dump);
}

static void check_replay(const struct run *run)
{
	const struct table *table = run->table;
	uLongf packed_len = compressBound(run->transcript.len);
	uint8_t *packed = malloc(packed_len);
	struct replay_result result;
	struct replay_source source;
	struct game_error error;

	table_check(packed != NULL);
	table_check(compress2(packed, &packed_len,
			      (const Bytef *)buf_text(&run->transcript),
			      run->transcript.len, 1) == Z_OK);
	source = (struct replay_source){ table->game, table->map, &table->setup,
					 packed, packed_len };
	table_check(replay_run(&source, NULL, &result, &error) == 0);
	table_check(result.digest == run->digest.value);
	table_check(result.inputs == run->inputs);
	table_check(result.is_over == run->is_over);
	for (unsigned seat = 0; seat < table->setup.seats; seat++)
		table_check(result.scores[seat].points ==
				    run->scores[seat].points &&
			    result.scores[seat].rank == run->scores[seat].rank);
	free(packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run first, second;
	struct table table;

	if (!table_read(&table, data, size))
		return 0;
	if (table.setup.seats >= table.game->seats_min &&
	    table.setup.seats <= table.game->seats_max &&
	    play(&first, &table)) {
		table_check(play(&second, &table));
		table_check(first.digest.value == second.digest.value);
		table_check(first.dump.len == second.dump.len &&
			    memcmp(buf_text(&first.dump),
				   buf_text(&second.dump),
				   first.dump.len) == 0);
		check_replay(&first);
		release(&first);
		release(&second);
	}
	table_release(&table);
	return 0;
}
