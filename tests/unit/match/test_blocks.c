/* SPDX-License-Identifier: MIT */
/* Replies of several lines: fixed, counted, ended by a line. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "server/match/match_internal.h"
#include "tests/unit/match/toy.h"

enum { MS = 1000, LINES_MAX = 3, SAID_MAX = 4 };

/* A stage on which a reply has the form FORM, three lines at most. */
static void begin(struct stage *stage, struct game *game, enum game_form form,
		  unsigned seats)
{
	*game = toy_game;
	game->form = form;
	game->reply_lines = LINES_MAX;
	game->reply_end = form == GAME_FORM_ENDED ? "." : NULL;
	stage_init(stage, seats);
	stage->config.game = game;
	stage_begin(stage);
}

static struct match_seat *seat_of(struct stage *stage, unsigned seat)
{
	return &stage->match->seats[seat];
}

static uint32_t faults_of(struct stage *stage, enum match_fault fault)
{
	return match_seat_faults(stage->match, 0, fault);
}

/* The text of input NUMBER, from 1, that the record holds. */
static void assert_input(struct stage *stage, unsigned number,
			 enum game_input kind, const char *text)
{
	struct match_record *record;
	struct transcript_reader *reader;
	struct transcript_entry entry = { .number = 0 };

	if (!stage->is_over && !stage->is_void) {
		match_void(stage->match, "test", "over", stage->now_us,
			   stage->out);
		stage_take(stage);
	}
	record = match_take_record(stage->match, stage->out);
	assert_non_null(record);
	stage_check_replay(stage, record);
	reader = transcript_open(record->transcript, record->transcript_len,
				 record->nseats);
	for (unsigned i = 0; i < number; i++)
		assert_int_equal(transcript_next(reader, &entry), 1);
	assert_int_equal(entry.kind, kind);
	assert_string_equal(entry.text, text);
	transcript_close(reader);
	match_record_free(record);
}

static void lines_become_a_reply(void **unused)
{
	static const struct {
		enum game_form form;
		const char *said[SAID_MAX];
		const char *fed; /* NULL: it is not whole */
	} rows[] = {
		{ GAME_FORM_FIXED, { "a", "b", "c" }, "a\nb\nc" },
		{ GAME_FORM_FIXED, { "", "", "" }, "\n\n" },
		{ GAME_FORM_FIXED, { "a", "b" }, NULL },
		{ GAME_FORM_COUNTED, { "0" }, "0" },
		{ GAME_FORM_COUNTED, { "2", "a", "b" }, "2\na\nb" },
		{ GAME_FORM_COUNTED, { "03", "1", "", "3" }, "03\n1\n\n3" },
		{ GAME_FORM_COUNTED, { "2", "a" }, NULL },
		/* no number: the game may say what it thinks of it */
		{ GAME_FORM_COUNTED, { "" }, "" },
		{ GAME_FORM_COUNTED, { "2 " }, "2 " },
		{ GAME_FORM_COUNTED, { "-1" }, "-1" },
		{ GAME_FORM_COUNTED, { "1000000000" }, "1000000000" },
		{ GAME_FORM_ENDED, { "." }, "." },
		{ GAME_FORM_ENDED, { "a", "b", "c", "." }, "a\nb\nc\n." },
		{ GAME_FORM_ENDED, { "..", "", ". ", "." }, "..\n\n. \n." },
		{ GAME_FORM_ENDED, { "a", "b", "c" }, NULL },
	};

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct stage stage;
		struct game game;

		begin(&stage, &game, rows[i].form, 1);
		for (unsigned n = 0; n < SAID_MAX && rows[i].said[n]; n++) {
			if (seat_of(&stage, 0)->requests != 1)
				fail_msg("row %zu: whole at line %u", i, n);
			stage_say(&stage, 0, rows[i].said[n]);
		}
		assert_int_equal(seat_of(&stage, 0)->requests,
				 rows[i].fed == NULL ? 1 : 2);
		assert_int_equal(faults_of(&stage, MATCH_FAULT_LONG), 0);
		if (rows[i].fed != NULL)
			assert_input(&stage, 1, GAME_REPLY, rows[i].fed);
		stage_release(&stage);
	}
}

static void its_last_line_stops_the_clock(void **unused)
{
	struct stage stage;
	struct game game;

	(void)unused;
	begin(&stage, &game, GAME_FORM_FIXED, 1);
	stage_say(&stage, 0, "a");
	stage_pass(&stage, 30 * MS);
	stage_say(&stage, 0, "b");
	stage_pass(&stage, 40 * MS);
	stage_say(&stage, 0, "c");
	assert_int_equal(seat_of(&stage, 0)->max_us, 70 * MS);
	assert_int_equal(seat_of(&stage, 0)->early, 0);
	stage_release(&stage);
}

static void a_half_at_the_verdict_is_owed_as_a_whole(void **unused)
{
	struct stage stage;
	struct game game;

	(void)unused;
	begin(&stage, &game, GAME_FORM_FIXED, 1);
	stage_say(&stage, 0, "a");
	stage_say(&stage, 0, "b");
	stage_pass(&stage, 100 * MS);
	assert_int_equal(faults_of(&stage, MATCH_FAULT_LATE), 1);
	assert_int_equal(seat_of(&stage, 0)->owed, 1);
	assert_true(stage_got(&stage, 0, "ask 2\n"));
	/* The rest of it, and then the next one. */
	stage_pass(&stage, 10 * MS);
	stage_say(&stage, 0, "c");
	assert_int_equal(seat_of(&stage, 0)->owed, 0);
	assert_int_equal(seat_of(&stage, 0)->settled_us, stage.now_us);
	assert_int_equal(seat_of(&stage, 0)->requests, 2);
	stage_pass(&stage, 20 * MS);
	stage_say(&stage, 0, "d");
	stage_say(&stage, 0, "e");
	stage_say(&stage, 0, "f");
	assert_int_equal(seat_of(&stage, 0)->max_us, 20 * MS);
	assert_input(&stage, 2, GAME_REPLY, "d\ne\nf");
	stage_release(&stage);
}

static void skip_drops_the_half_that_came(void **unused)
{
	struct stage stage;
	struct game game;

	(void)unused;
	begin(&stage, &game, GAME_FORM_FIXED, 1);
	stage_say(&stage, 0, "a");
	/* Nothing is owed: it is no pass, and changes nothing. */
	match_skip(stage.match, 0, stage.now_us, stage.out);
	stage_take(&stage);
	assert_non_null(seat_of(&stage, 0)->block);
	stage_pass(&stage, 100 * MS);
	match_skip(stage.match, 0, stage.now_us, stage.out);
	stage_take(&stage);
	assert_int_equal(seat_of(&stage, 0)->owed, 0);
	stage_say(&stage, 0, "d");
	stage_say(&stage, 0, "e");
	stage_say(&stage, 0, "f");
	assert_input(&stage, 2, GAME_REPLY, "d\ne\nf");
	stage_release(&stage);
}

static void skip_while_busy_drops_only_what_is_owed(void **unused)
{
	struct stage stage;
	struct game game;

	(void)unused;
	begin(&stage, &game, GAME_FORM_COUNTED, 2);
	/* Seat 1 is late; then seat 2 makes the engine work. */
	stage_say(&stage, 0, "2");
	stage_pass(&stage, 100 * MS);
	stage_say(&stage, 1, "busy");
	assert_true(stage.is_busy);
	match_skip(stage.match, 0, stage.now_us, stage.out);
	assert_null(seat_of(&stage, 0)->block);
	match_line(stage.match, 0, "1", 1, stage.now_us, stage.out);
	/* Nothing more is owed: this one is ignored. */
	match_skip(stage.match, 0, stage.now_us, stage.out);
	assert_non_null(seat_of(&stage, 0)->block);
	match_work(stage.match);
	match_resume(stage.match, stage.now_us, stage.out);
	stage_take(&stage);
	stage_say(&stage, 0, "end");
	assert_input(&stage, 3, GAME_REPLY, "1\nend");
	stage_release(&stage);
}

/* What is said, too long in one way or the other; then a good one. */
static void what_is_too_long_counts_as_empty(void **unused)
{
	static const struct {
		enum game_form form;
		const char *said[8];
		const char *good[SAID_MAX];
		const char *fed;
	} rows[] = {
		{ GAME_FORM_FIXED,
		  { "123456789 123456789 123456789 123456789 ",
		    "123456789 123456789 ...", "" },
		  { "a", "b", "c" },
		  "a\nb\nc" },
		/* NULL in the middle: a line that the framer cut off */
		{ GAME_FORM_FIXED,
		  { "a", NULL, "c" },
		  { "a", "b", "c" },
		  "a\nb\nc" },
		{ GAME_FORM_COUNTED,
		  { "4", "a", "b", "c", "d" },
		  { "1", "a" },
		  "1\na" },
		{ GAME_FORM_ENDED,
		  { "a", "b", "c", "d", "e", "f", "." },
		  { "a", "." },
		  "a\n." },
		{ GAME_FORM_ENDED, { "a", NULL, "." }, { "." }, "." },
	};

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct stage stage;
		struct game game;
		unsigned count = 8;

		begin(&stage, &game, rows[i].form, 1);
		while (rows[i].said[count - 1] == NULL)
			count--;
		for (unsigned n = 0; n < count; n++) {
			assert_int_equal(seat_of(&stage, 0)->requests, 1);
			if (rows[i].said[n] != NULL) {
				stage_say(&stage, 0, rows[i].said[n]);
				continue;
			}
			match_line_long(stage.match, 0, stage.now_us,
					stage.out);
			stage_take(&stage);
		}
		assert_int_equal(seat_of(&stage, 0)->requests, 2);
		assert_int_equal(faults_of(&stage, MATCH_FAULT_LONG), 1);
		assert_true(stage_got(&stage, 0, "@fault long 1/- turn=1 : "));
		for (unsigned n = 0; n < SAID_MAX && rows[i].good[n]; n++)
			stage_say(&stage, 0, rows[i].good[n]);
		assert_int_equal(faults_of(&stage, MATCH_FAULT_LONG), 1);
		assert_input(&stage, 2, GAME_REPLY, rows[i].fed);
		stage_release(&stage);
	}
}

static void line_max_bytes_of_reply_are_taken(void **unused)
{
	struct stage stage;
	struct game game;
	char line[63];

	(void)unused;
	begin(&stage, &game, GAME_FORM_FIXED, 1);
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	stage_say(&stage, 0, line); /* 62, and two LF: 64 */
	stage_say(&stage, 0, "");
	stage_say(&stage, 0, "");
	assert_int_equal(faults_of(&stage, MATCH_FAULT_LONG), 0);
	stage_say(&stage, 0, line);
	stage_say(&stage, 0, "x");
	stage_say(&stage, 0, "");
	assert_int_equal(faults_of(&stage, MATCH_FAULT_LONG), 1);
	stage_release(&stage);
}

static void a_half_of_who_leaves_is_no_reply(void **unused)
{
	(void)unused;
	for (unsigned way = 0; way < 3; way++) {
		struct stage stage;
		struct game game;

		begin(&stage, &game, GAME_FORM_ENDED, 1);
		stage_say(&stage, 0, "a");
		if (way == 0)
			match_gone(stage.match, 0, "exit=0", stage.now_us,
				   stage.out);
		else if (way == 1)
			match_resign(stage.match, 0, stage.now_us, stage.out);
		else
			match_link_lost(stage.match, 0, stage.now_us,
					stage.out);
		stage_take(&stage);
		assert_true(stage.is_over);
		assert_input(&stage, 1, GAME_GONE, "");
		stage_release(&stage);
	}
}

static void whole_ones_before_it_count(void **unused)
{
	struct stage stage;
	struct game game;

	(void)unused;
	begin(&stage, &game, GAME_FORM_COUNTED, 2);
	/* Seat 2 is not asked yet: one reply ahead, a half, gone. */
	stage_say(&stage, 1, "1");
	stage_say(&stage, 1, "a");
	assert_int_equal(seat_of(&stage, 1)->ahead.lines, 1);
	stage_say(&stage, 1, "1");
	match_gone(stage.match, 1, "exit=0", stage.now_us, stage.out);
	stage_take(&stage);
	assert_null(seat_of(&stage, 1)->block);
	stage_say(&stage, 0, "0");
	assert_int_equal(seat_of(&stage, 1)->early, 1);
	assert_input(&stage, 2, GAME_REPLY, "1\na");
	stage_release(&stage);
}

/* Sixteen replies are ahead, however many lines they have. */
static void replies_wait_as_wholes(void **unused)
{
	struct stage stage;
	struct game game;

	(void)unused;
	begin(&stage, &game, GAME_FORM_FIXED, 2);
	for (unsigned i = 0; i < LIMIT_LINES_AHEAD * LINES_MAX; i++) {
		assert_true(match_wants(stage.match, 1));
		stage_say(&stage, 1, "");
	}
	assert_false(match_wants(stage.match, 1));
	assert_int_equal(seat_of(&stage, 1)->ahead.lines, LIMIT_LINES_AHEAD);
	stage_release(&stage);
}

static void memory_is_counted(void **unused)
{
	struct stage stage;
	struct game game;
	size_t before;

	(void)unused;
	begin(&stage, &game, GAME_FORM_FIXED, 1);
	before = match_bytes(stage.match);
	stage_say(&stage, 0, "a");
	assert_true(match_bytes(stage.match) > before);
	stage_say(&stage, 0, "b");
	stage_say(&stage, 0, "c");
	assert_null(seat_of(&stage, 0)->block);
	stage_release(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_become_a_reply),
		cmocka_unit_test(its_last_line_stops_the_clock),
		cmocka_unit_test(a_half_at_the_verdict_is_owed_as_a_whole),
		cmocka_unit_test(skip_drops_the_half_that_came),
		cmocka_unit_test(skip_while_busy_drops_only_what_is_owed),
		cmocka_unit_test(what_is_too_long_counts_as_empty),
		cmocka_unit_test(line_max_bytes_of_reply_are_taken),
		cmocka_unit_test(a_half_of_who_leaves_is_no_reply),
		cmocka_unit_test(whole_ones_before_it_count),
		cmocka_unit_test(replies_wait_as_wholes),
		cmocka_unit_test(memory_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
