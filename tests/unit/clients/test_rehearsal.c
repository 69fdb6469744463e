/* SPDX-License-Identifier: MIT */
#include "clients/run/rehearsal_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/games/rabbit_runner.h"
#include "server/store/base64.h"
#include "tests/unit/games/battle.h"

enum { TURNS = 6, BYTES_MAX = 1 << 20, BATTLE_TURNS = 5 };

/* ---- exported matches ---- */

static json_t *make_document(const struct game *game, const char *params,
			     unsigned seats)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < seats; i++)
		(void)json_array_append_new(
			list, json_pack("{ss, sf, si}", "bot",
					i == 0 ? "first" : "second", "score",
					2.5, "points", 5));
	return json_pack(
		"{ss, s{si, ss, ss, ss, ss, si, s{si, si, si}, so}, so}",
		"format", "hill match 1", "match", "id", 4711, "game",
		game->name, "params", params, "seed", "1", "bot_seed", "2",
		"engine_version", (int)game->version, "limits", "turn_ms", 500,
		"init_ms", 2000, "grace_ms", 0, "seats", list, "transcript",
		json_array());
}

static void add_input(json_t *document, unsigned seat, const char *kind,
		      const char *text)
{
	json_t *list = json_object_get(document, "transcript");
	json_t *input =
		json_pack("{si, ss}", "seat", (int)seat + 1, "kind", kind);

	if (text != NULL)
		(void)json_object_set_new(input, "text", json_string(text));
	(void)json_array_append_new(list, input);
}

/* A run of TURNS turns in which every reply is `move`. */
static json_t *make_run(void)
{
	json_t *document = make_document(&game_rabbit_runner, "turns=6", 1);

	(void)json_object_set_new(document, "map",
				  json_pack("{ss, ss, ss}", "name", "s.map",
					    "options", "", "data",
					    "#####\n#s e#\n#####\n"));
	for (unsigned i = 0; i < TURNS; i++)
		add_input(document, 0, "reply", "move");
	return document;
}

static int read_document(struct stored *stored, json_t *document,
			 struct game_error *error)
{
	char *text = json_dumps(document, 0);
	int rc = stored_read(stored, text, strlen(text), error);

	free(text);
	json_decref(document);
	return rc;
}

static void load_stored(struct stored *stored, json_t *document)
{
	struct game_error error = { "" };

	if (read_document(stored, document, &error) != 0)
		fail_msg("%s", error.text);
}

static void begin(struct rehearsal *rehearsal, const struct stored *stored,
		  unsigned seat, int64_t from_turn)
{
	struct game_error error = { "" };

	assert_int_equal(
		rehearsal_new(rehearsal, stored, seat, from_turn, &error), 0);
}

static void reply(struct rehearsal *rehearsal, const char *text)
{
	assert_true(rehearsal->is_waiting);
	rehearsal_take(rehearsal, GAME_REPLY, text, strlen(text));
}

/* ---- a seat alone ---- */

static void finds_nothing_when_replies_are_as_they_were(void **state)
{
	struct stored stored;
	struct rehearsal rehearsal;

	(void)state;
	load_stored(&stored, make_run());
	begin(&rehearsal, &stored, 0, 1);
	assert_non_null(strstr(buf_text(&rehearsal.lines), "turnsleft 6\n"));
	for (unsigned i = 0; i < TURNS; i++)
		reply(&rehearsal, "move");
	assert_true(rehearsal.is_over);
	assert_false(rehearsal.is_waiting);
	assert_int_equal(rehearsal.compared, TURNS);
	assert_int_equal(rehearsal.differing, 0);
	assert_int_equal(rehearsal.first_turn, 0);
	rehearsal_release(&rehearsal);
	stored_release(&stored);
}

static void names_the_first_turn_that_differs_and_goes_on(void **state)
{
	struct buf text = BUF_INIT(BYTES_MAX);
	struct stored stored;
	struct rehearsal rehearsal;
	json_t *json;

	(void)state;
	load_stored(&stored, make_run());
	begin(&rehearsal, &stored, 0, 1);
	for (unsigned i = 1; i <= TURNS; i++)
		reply(&rehearsal,
		      i == 3 || i == 5 ? "move 1,1 to 2,1" : "move");
	assert_true(rehearsal.is_over);
	assert_int_equal(rehearsal.first_turn, 3);
	assert_int_equal(rehearsal.own_from, 3);
	assert_int_equal(rehearsal.differing, 2);
	assert_string_equal(rehearsal.was.text, "move");
	assert_string_equal(rehearsal.is.text, "move 1,1 to 2,1");
	rehearsal_report_text(&rehearsal, &text);
	assert_non_null(strstr(buf_text(&text),
			       "Turn 3 is the first whose reply differs, from "
			       "byte 5:\n  stored: move (4 bytes)\n"
			       "  live:   move 1,1 to 2,1 (15 bytes)\n"));
	assert_non_null(strstr(buf_text(&text),
			       "first                   "
			       "          2.5            0\n"));
	json = rehearsal_report_json(&rehearsal);
	assert_int_equal(json_integer_value(json_object_get(
				 json_object_get(json, "first"), "turn")),
			 3);
	assert_true(json_is_false(json_object_get(json, "same")));
	json_decref(json);
	buf_release(&text);
	rehearsal_release(&rehearsal);
	stored_release(&stored);
}

/* Play with "move 1,1 to 2,1" in turn 2, and all from FROM on used. */
static double score_from(const struct stored *stored, int64_t from,
			 int64_t *ret_own_from)
{
	struct game_score score;
	struct rehearsal rehearsal;

	begin(&rehearsal, stored, 0, from);
	for (unsigned i = 1; i <= TURNS; i++)
		reply(&rehearsal, i == 2 ? "move 1,1 to 2,1" : "move");
	assert_int_equal(rehearsal.first_turn, 2);
	assert_int_equal(rehearsal.differing, 1);
	rehearsal_scores(&rehearsal, &score);
	*ret_own_from = rehearsal.own_from;
	rehearsal_release(&rehearsal);
	return score.score;
}

static void only_compares_before_the_turn_it_begins_at(void **state)
{
	struct stored stored;
	int64_t own_from;

	(void)state;
	load_stored(&stored, make_run());
	/* A passing rabbit stays; one that is moved once gets nearer. */
	(void)score_from(&stored, 2, &own_from);
	assert_int_equal(own_from, 2);
	(void)score_from(&stored, 3, &own_from);
	assert_int_equal(own_from, 0);
	stored_release(&stored);
}

static void a_missing_late_or_ended_reply_differs(void **state)
{
	static const enum game_input kinds[] = { GAME_LATE, GAME_GONE };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		struct stored stored;
		struct rehearsal rehearsal;

		load_stored(&stored, make_run());
		begin(&rehearsal, &stored, 0, 1);
		reply(&rehearsal, "move");
		rehearsal_take(&rehearsal, kinds[i], "", 0);
		assert_int_equal(rehearsal.first_turn, 2);
		assert_int_equal(rehearsal.is.kind, kinds[i]);
		assert_int_equal(rehearsal.was.kind, GAME_REPLY);
		/* Both end this game. */
		assert_true(rehearsal.is_over);
		rehearsal_take(&rehearsal, GAME_REPLY, "move", 4);
		assert_int_equal(rehearsal.compared, 2);
		rehearsal_release(&rehearsal);
		stored_release(&stored);
	}
}

static void a_dead_program_is_fed_from_the_transcript_till_its_turn(
	void **state)
{
	struct stored stored;
	struct rehearsal rehearsal;

	(void)state;
	load_stored(&stored, make_run());
	begin(&rehearsal, &stored, 0, 4);
	reply(&rehearsal, "move");
	for (unsigned i = 2; i <= 4; i++) {
		assert_false(rehearsal.is_over);
		rehearsal_take(&rehearsal, GAME_GONE, "", 0);
	}
	assert_true(rehearsal.is_over);
	assert_int_equal(rehearsal.first_turn, 2);
	assert_int_equal(rehearsal.own_from, 4);
	rehearsal_release(&rehearsal);
	stored_release(&stored);
}

static void goes_on_where_the_stored_match_had_ended(void **state)
{
	json_t *document = make_run();
	struct stored stored;
	struct rehearsal rehearsal;

	(void)state;
	(void)json_array_clear(json_object_get(document, "transcript"));
	add_input(document, 0, "reply", "move");
	add_input(document, 0, "late", NULL);
	load_stored(&stored, document);
	begin(&rehearsal, &stored, 0, 1);
	for (unsigned i = 0; i < TURNS; i++)
		reply(&rehearsal, "move");
	assert_true(rehearsal.is_over);
	assert_int_equal(rehearsal.first_turn, 2);
	assert_int_equal(rehearsal.was.kind, GAME_LATE);
	assert_int_equal(rehearsal.differing, TURNS - 1);
	rehearsal_release(&rehearsal);
	stored_release(&stored);
}

/* ---- two seats ---- */

/* The answers of the battle below, by seat and its own turn. */
static const char *const answers[2][BATTLE_TURNS] = {
	{ "1,2", "1,3", "1,4", "1,5", "" },
	{ "18,17", "18,16", "18,15", "18,14", "" },
};

/* Play it; SEAT's lines are put into GOT. */
static json_t *make_battle(unsigned seat, struct buf *got)
{
	json_t *document = make_document(GAME, "batch=10 maxturns=20000", 2);
	struct buf png = BUF_INIT(BYTES_MAX);
	struct buf data = BUF_INIT(BYTES_MAX);
	struct battle battle = { 0 };
	unsigned turns[2] = { 0 };

	draw(&png, SIDE, SIDE, pair, COUNT_OF(pair));
	base64_encode((const uint8_t *)png.data, png.len, &data);
	(void)json_object_set_new(document, "map",
				  json_pack("{ss, ss, ss}", "name", "a.png",
					    "options", "", "data_base64",
					    buf_text(&data)));
	buf_release(&png);
	buf_release(&data);
	start(&battle, pair, COUNT_OF(pair), "", 2);
	buf_add_text(got, lines(&battle, seat));
	while (!battle.out.is_over) {
		unsigned who = asked(&battle);
		const char *text = answers[who][turns[who]++];

		add_input(document, who, "reply", text);
		(void)answer(&battle, text);
		buf_add_text(got, lines(&battle, seat));
	}
	finish(&battle);
	return document;
}

static void feeds_the_other_seat_in_the_transcripts_order(void **state)
{
	(void)state;
	for (unsigned seat = 0; seat < 2; seat++) {
		struct buf got = BUF_INIT(BYTES_MAX);
		struct stored stored;
		struct rehearsal rehearsal;

		load_stored(&stored, make_battle(seat, &got));
		begin(&rehearsal, &stored, seat, 1);
		for (unsigned i = 0; i < BATTLE_TURNS; i++)
			reply(&rehearsal, answers[seat][i]);
		assert_true(rehearsal.is_over);
		assert_int_equal(rehearsal.differing, 0);
		assert_string_equal(buf_text(&rehearsal.lines), buf_text(&got));
		buf_release(&got);
		rehearsal_release(&rehearsal);
		stored_release(&stored);
	}
}

static void a_seat_without_replies_left_is_gone(void **state)
{
	struct buf got = BUF_INIT(BYTES_MAX);
	struct buf text = BUF_INIT(BYTES_MAX);
	struct stored stored;
	struct rehearsal rehearsal;

	(void)state;
	load_stored(&stored, make_battle(0, &got));
	begin(&rehearsal, &stored, 0, 1);
	/* It plays on where it had passed, into the other's next pixel. */
	for (unsigned i = 0; rehearsal.is_waiting && i < 8; i++) {
		char pixel[16];

		(void)snprintf(pixel, sizeof(pixel), "1,%u", i + 2);
		reply(&rehearsal, pixel);
	}
	assert_int_equal(rehearsal.first_turn, BATTLE_TURNS);
	assert_int_equal(rehearsal.ran_out[1], BATTLE_TURNS + 1);
	assert_int_equal(rehearsal.invalid[1], 0);
	rehearsal_report_text(&rehearsal, &text);
	assert_non_null(strstr(buf_text(&text),
			       "Seat 2 (second): no stored reply is left at "
			       "its turn 6; it is gone.\n"));
	buf_release(&got);
	buf_release(&text);
	rehearsal_release(&rehearsal);
	stored_release(&stored);
}

/* COUNT pixels of a way from the first seat's corner to 18,14, from FROM. */
static void add_way(struct buf *out, unsigned from, unsigned count)
{
	for (unsigned i = from; i < from + count; i++) {
		unsigned x = i < 13 ? 1 : i - 11;
		unsigned y = i < 13 ? i + 2 : 14;

		buf_add_format(out, "%s%u,%u", i > from ? " " : "", x, y);
	}
}

static void counts_stored_replies_that_no_longer_fit(void **state)
{
	struct buf got = BUF_INIT(BYTES_MAX);
	struct stored stored;
	struct rehearsal rehearsal;

	(void)state;
	load_stored(&stored, make_battle(1, &got));
	begin(&rehearsal, &stored, 0, 1);
	/* In its third turn it takes what the other takes in its fourth. */
	for (unsigned i = 0; i < 3; i++) {
		struct buf way = BUF_INIT(BYTES_MAX);

		add_way(&way, 10 * i, 10);
		reply(&rehearsal, buf_text(&way));
		buf_release(&way);
	}
	while (rehearsal.is_waiting)
		reply(&rehearsal, "");
	assert_int_equal(rehearsal.first_turn, 1);
	assert_int_equal(rehearsal.own_from, 1);
	assert_int_equal(rehearsal.invalid[0], 0);
	assert_int_equal(rehearsal.invalid[1], 1);
	assert_true(rehearsal.is_over);
	buf_release(&got);
	rehearsal_release(&rehearsal);
	stored_release(&stored);
}

/* ---- what is refused ---- */

static void says_what_is_wrong_with_a_file(void **state)
{
	static const struct {
		const char *part, *key, *value, *says;
	} cases[] = {
		{ NULL, "format", "\"x\"", "not what `hillctl export` writes" },
		{ "match", "game", "\"chess\"", "there is no game 'chess'" },
		{ "match", "engine_version", "99", "judged by version 99" },
		{ "match", "params", "\"turns=x\"", "turns" },
		{ "match", "seed", "\"x\"", "seeds or limits" },
		{ "match", "limits", "{}", "seeds or limits" },
		{ "match", "seats", "[]", "seats are missing" },
		{ "match", "seats", "[{}]", "seat 1 is not whole" },
		{ "map", "data", "1", "the map is missing" },
		{ "map", "name", "\"../x\"", "the map is missing" },
		{ NULL, "map", "1", "the map is missing" },
		{ NULL, "transcript", "1", "the transcript is missing" },
		{ NULL, "transcript", "[{\"seat\":2,\"kind\":\"late\"}]",
		  "number 1 of the transcript" },
		{ NULL, "transcript", "[{\"seat\":1,\"kind\":\"reply\"}]",
		  "number 1 of the transcript" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct game_error error = { "" };
		json_t *document = make_run();
		json_t *part =
			cases[i].part == NULL
				? document
				: json_object_get(document, cases[i].part);
		struct stored stored;

		(void)json_object_set_new(
			part, cases[i].key,
			json_loads(cases[i].value, JSON_DECODE_ANY, NULL));
		assert_int_equal(read_document(&stored, document, &error),
				 -EINVAL);
		if (strstr(error.text, cases[i].says) == NULL)
			fail_msg("'%s' is not in '%s'", cases[i].says,
				 error.text);
		stored_release(&stored);
	}
}

static void says_where_a_file_is_no_json(void **state)
{
	struct game_error error = { "" };
	struct stored stored;

	(void)state;
	assert_int_equal(stored_read(&stored, "{\n", 2, &error), -EINVAL);
	assert_non_null(strstr(error.text, "line 2: "));
	stored_release(&stored);
}

static void refuses_a_seat_that_is_not_there(void **state)
{
	struct game_error error = { "" };
	struct stored stored;
	struct rehearsal rehearsal;

	(void)state;
	load_stored(&stored, make_run());
	assert_int_equal(rehearsal_new(&rehearsal, &stored, 1, 1, &error),
			 -EINVAL);
	assert_string_equal(error.text, "it has only 1 seats");
	rehearsal_release(&rehearsal);
	stored_release(&stored);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_nothing_when_replies_are_as_they_were),
		cmocka_unit_test(names_the_first_turn_that_differs_and_goes_on),
		cmocka_unit_test(only_compares_before_the_turn_it_begins_at),
		cmocka_unit_test(a_missing_late_or_ended_reply_differs),
		cmocka_unit_test(
			a_dead_program_is_fed_from_the_transcript_till_its_turn),
		cmocka_unit_test(goes_on_where_the_stored_match_had_ended),
		cmocka_unit_test(feeds_the_other_seat_in_the_transcripts_order),
		cmocka_unit_test(a_seat_without_replies_left_is_gone),
		cmocka_unit_test(counts_stored_replies_that_no_longer_fit),
		cmocka_unit_test(says_what_is_wrong_with_a_file),
		cmocka_unit_test(says_where_a_file_is_no_json),
		cmocka_unit_test(refuses_a_seat_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
