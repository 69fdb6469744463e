/* SPDX-License-Identifier: MIT */
/* The real engines under the match that judges them. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/games/picture.h"
#include "server/match/match_internal.h"
#include "tests/unit/match/toy.h"

enum { MS = 1000, SIDE = 20 };

static const char rabbit_map[] = "###############\n"
				 "#s    c      e#\n"
				 "# #### #### # #\n"
				 "#s          c #\n"
				 "###############\n";
static const char mine_map[] = "######\n"
			       "#. *R#\n"
			       "#  \\.#\n"
			       "#\\ * #\n"
			       "L  .\\#\n"
			       "######\n";

/* A white picture with a pixel each for two seats. */
static void paint(struct buf *out)
{
	uint8_t rgb[SIDE * SIDE * 3];
	struct picture picture = { .width = SIDE, .height = SIDE, .rgb = rgb };
	int rc;

	memset(rgb, 255, sizeof(rgb));
	memcpy(rgb + 3 * (2 * SIDE + 2), "\xff\0\0", 3);
	memcpy(rgb + 3 * (17 * SIDE + 17), "\0\0\xff", 3);
	rc = picture_encode_png(&picture, out);
	assert_int_equal(rc, 0);
}

struct table {
	struct stage stage;
	const struct game *game;
	struct game_map *map;
};

static void table_init(struct table *table, const char *name, unsigned seats)
{
	struct game_source source = { .name = "a.map", .options = "" };
	struct buf bytes = BUF_INIT(1u << 20), imported = BUF_INIT(1u << 20);
	struct game_error error = { .text = "" };

	memset(table, 0, sizeof(*table));
	table->game = game_find(name);
	assert_non_null(table->game);
	if (strcmp(name, "image-battle") == 0)
		paint(&bytes);
	else
		buf_add_text(&bytes, strcmp(name, "rabbit-runner") == 0
					     ? rabbit_map
					     : mine_map);
	source.data = buf_text(&bytes);
	source.len = bytes.len;
	if (game_import(table->game, &source, &imported, &error) != 0)
		fail_msg("%s", error.text);
	source.data = buf_text(&imported);
	source.len = imported.len;
	if (table->game->map_new(&table->map, &source, &error) != 0)
		fail_msg("%s", error.text);
	buf_release(&bytes);
	buf_release(&imported);
	stage_init(&table->stage, seats);
	table->stage.config.game = table->game;
	table->stage.config.map = table->map;
	assert_int_equal(game_params_parse(table->game, "",
					   table->stage.setup.params, &error),
			 0);
}

static void table_release(struct table *table)
{
	stage_release(&table->stage);
	table->game->map_free(table->map);
}

/* After as many inputs as CONTEXT counts. */
static bool is_out_of_time(void *context)
{
	unsigned *left = context;

	return --*left == 0;
}

static void check_replay(struct table *table, struct match_record *record)
{
	struct replay_result result;
	struct game_error error = { .text = "" };
	struct replay_source source = { .game = table->game,
					.map = table->map };

	assert_non_null(record);
	match_record_repack(record);
	source.setup = &record->setup;
	source.transcript = record->transcript;
	source.transcript_len = record->transcript_len;
	assert_int_equal(replay_run(&source, NULL, &result, &error), 0);
	assert_true(result.is_over);
	assert_int_equal(result.digest, record->digest);
	assert_int_equal(result.inputs, record->inputs);
	for (unsigned seat = 0; seat < record->nseats; seat++) {
		assert_int_equal(result.scores[seat].points,
				 record->seats[seat].score.points);
		assert_int_equal(result.scores[seat].rank,
				 record->seats[seat].score.rank);
	}
	/* Likewise, until somebody has no more time for it. */
	if (record->inputs > 1) {
		unsigned left = 2;
		struct replay_callbacks calls = { .is_cut = is_out_of_time,
						  .context = &left };

		assert_int_equal(replay_run(&source, &calls, &result, &error),
				 -ECANCELED);
		assert_string_equal(error.text, "given up behind input 1");
	}
	match_record_free(record);
}

static uint32_t draw(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(*seed >> 33);
}

static void reply(char *text, size_t size, const char *game, uint64_t *seed)
{
	unsigned x = draw(seed) % SIDE, y = draw(seed) % SIDE;

	if (strcmp(game, "rabbit-runner") == 0)
		(void)snprintf(text, size, "move %u,%u to %u,%u", x % 14, y % 4,
			       x % 14 + 1, y % 4);
	else if (strcmp(game, "image-battle") == 0)
		(void)snprintf(text, size, "%u,%u %u,%u abc 1,2,3 -1,0 7", x, y,
			       y, x);
	else
		(void)snprintf(text, size, "DLLRUWA");
}

static void every_engine_replays_what_the_match_recorded(void **unused)
{
	(void)unused;
	for (size_t i = 0; games_all[i] != NULL; i++) {
		const char *name = games_all[i]->name;

		for (uint64_t seed = 1; seed <= 6; seed++) {
			unsigned seats = games_all[i]->seats_max == 1 ? 1 : 2;
			uint64_t random = seed;
			struct table table;
			struct stage *stage = &table.stage;

			table_init(&table, name, seats);
			stage->setup.limit_ms = 100;
			stage_begin(stage);
			for (unsigned n = 0; n < 20000 && !stage->is_over;
			     n++) {
				unsigned seat = n % seats;
				char text[64];

				if (seed > 3 && draw(&random) % 97 == 0) {
					stage_pass(stage, 130 * MS);
					continue;
				}
				if (!match_wants(stage->match, seat))
					continue;
				reply(text, sizeof(text), name, &random);
				stage_say(stage, seat, text);
				if (stage->is_busy) {
					match_work(stage->match);
					match_resume(stage->match,
						     stage->now_us, stage->out);
					stage_take(stage);
				}
			}
			for (unsigned seat = 0; seat < seats; seat++) {
				match_resign(stage->match, seat, stage->now_us,
					     stage->out);
				stage_take(stage);
			}
			assert_true(stage->is_over);
			check_replay(&table, match_take_record(stage->match,
							       stage->out));
			table_release(&table);
		}
	}
}

/* BC22 */
static void a_late_reply_ends_the_rabbits_run(void **unused)
{
	struct table table;
	struct stage *stage = &table.stage;

	(void)unused;
	table_init(&table, "rabbit-runner", 1);
	stage_begin(stage);
	stage_say(stage, 0, "move");
	stage_pass(stage, 100 * MS);
	assert_true(stage->is_over);
	assert_true(stage_got(stage, 0,
			      "@fault late 1/1 turn=2 : 100.0 ms of 100 (+0 "
			      "lag, no bank)\n@end 4711 stop=term "
			      "reason=late\n"));
	check_replay(&table, match_take_record(stage->match, stage->out));
	table_release(&table);
}

/* BC30 */
static void a_battle_goes_on_when_all_were_late(void **unused)
{
	struct table table;
	struct stage *stage = &table.stage;

	(void)unused;
	table_init(&table, "image-battle", 2);
	stage_begin(stage);
	for (unsigned turn = 1; turn <= 4; turn++) {
		stage_pass(stage, 300 * MS);
		assert_false(stage->is_over);
	}
	/* ... and ends when all are suspended */
	stage_pass(stage, 5000 * MS);
	assert_true(stage->is_over);
	assert_true(stage_got(stage, 0, "@fault late 5/5 "));
	assert_true(stage_got(stage, 0,
			      "exit\n@end 4711 stop=exit reason=suspended\n"));
	assert_true(stage_got(stage, 1,
			      "exit\n@end 4711 stop=exit reason=suspended\n"));
	check_replay(&table, match_take_record(stage->match, stage->out));
	table_release(&table);
}

static void a_mine_gets_its_interrupt_and_its_grace(void **unused)
{
	struct table table;
	struct stage *stage = &table.stage;

	(void)unused;
	table_init(&table, "lambda-mining", 1);
	stage->config.limits.turn_ms = 150000;
	stage->config.limits.grace_ms = 10000;
	stage_begin(stage);
	stage_pass(stage, 150000 * (int64_t)MS);
	assert_true(stage_got(stage, 0, "@start 4711\n[block]\n"));
	assert_true(stage_got(stage, 0, "@interrupt 4711\n"));
	stage_pass(stage, 11999 * (int64_t)MS);
	assert_false(stage->is_over);
	stage_say(stage, 0, "DA");
	assert_true(stage->is_over);
	assert_true(
		stage_got(stage, 0, "@end 4711 stop=eof reason=finished\n"));
	check_replay(&table, match_take_record(stage->match, stage->out));
	table_release(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_engine_replays_what_the_match_recorded),
		cmocka_unit_test(a_late_reply_ends_the_rabbits_run),
		cmocka_unit_test(a_battle_goes_on_when_all_were_late),
		cmocka_unit_test(a_mine_gets_its_interrupt_and_its_grace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
