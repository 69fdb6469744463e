/* SPDX-License-Identifier: MIT */
/*
 * Plays the netcat sessions of PROTOCOL.md: what is typed is typed, what is
 * answered must come. A session and a match, with the least of a lobby
 * between them; no socket, no time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/block.h"
#include "server/base/buffer.h"
#include "server/match/match.h"
#include "server/match/record.h"
#include "server/session/session.h"
#include "tests/unit/unit.h"

#define ANYTHING "\xe2\x80\xa6" /* the dots that skip */

enum {
	MATCH_ID = 4711,
	NOW_US = 1000000,
	LINE_MAX_BYTES = 4096,
};

struct table {
	struct session session;
	const struct game *game;
	struct game_map *map;
	struct buf file;  /* the map as it lies in the pool */
	struct buf block; /* and as it is sent */
	int64_t params[GAME_PARAMS_MAX];
	struct match *match;
	struct match_out *out;
	struct buf told; /* not yet looked at */
};

static void read_file(const char *path, struct buf *ret)
{
	FILE *file = fopen(path, "rb");
	int c;

	if (file == NULL)
		fail_msg("cannot open %s", path);
	while ((c = getc(file)) != EOF)
		buf_add_char(ret, (char)c);
	assert_int_equal(fclose(file), 0);
}

static void carry_out(struct table *table)
{
	struct match_out *out = table->out;
	const struct buf *lines = &out->lines[0];
	size_t at = out->block_at[0];

	if (out->has_started)
		session_start(&table->session);
	if (at == MATCH_NO_BLOCK) {
		buf_add(&table->told, lines->data, lines->len);
	} else {
		buf_add(&table->told, lines->data, at);
		buf_add(&table->told, table->block.data, table->block.len);
		buf_add(&table->told, lines->data + at, lines->len - at);
	}
	if (out->clock != 0)
		match_clock_started(table->match, 0, NOW_US);
	if (out->ended != 0)
		session_leave_match(&table->session);
	if (out->is_over) {
		struct match_record *record =
			match_take_record(table->match, out);

		match_result_lines(record, 0, &table->told);
		match_record_free(record);
		match_free(table->match);
		table->match = NULL;
	}
}

static void offer(struct table *table)
{
	struct game_setup setup = {
		.seed = "1",
		.bot_seed = "322",
		.seats = 1,
	};
	struct match_config config = {
		.id = MATCH_ID,
		.game = table->game,
		.map = table->map,
		.map_name = "netcat.map",
		.ladder = table->game->name,
		.is_rated = true,
		.setup = &setup,
		.limits = { .turn_ms = 60000, .ready_ms = 60000 },
		.seats = { { .bot = "crazy" } },
	};

	memcpy(setup.params, table->params, sizeof(setup.params));
	assert_int_equal(match_new(&table->match, &config, NOW_US, table->out),
			 0);
	session_offer(&table->session, MATCH_ID, match_line_max(table->match));
	carry_out(table);
}

static void answer(struct table *table, const struct session_request *request)
{
	char name[80];

	switch (request->kind) {
	case SESSION_ASK_LOGIN:
		assert_true(slice_is(request->name, "crazy"));
		session_login_ok(&table->session, "crazy", NULL, &table->told);
		break;
	case SESSION_ASK_PLAY:
		assert_int_equal(slice_copy(request->name, name, sizeof(name)),
				 0);
		session_queued(&table->session, name, 1, 1, NULL, &table->told);
		offer(table);
		break;
	case SESSION_ASK_LEAVE:
		session_left(&table->session, NULL, 0, &table->told);
		break;
	case SESSION_ASK_READY:
		match_ready(table->match, 0, request->is_quiet, NOW_US,
			    table->out);
		carry_out(table);
		break;
	case SESSION_ASK_GAME:
		match_line(table->match, 0, request->line.text,
			   request->line.len, NOW_US, table->out);
		carry_out(table);
		break;
	case SESSION_ASK_RESIGN:
		match_resign(table->match, 0, NOW_US, table->out);
		carry_out(table);
		break;
	case SESSION_ASK_NOTHING:
	case SESSION_ASK_CLOSE:
		break;
	case SESSION_ASK_GUEST:
	case SESSION_ASK_LADDERS:
	case SESSION_ASK_REGISTER:
	case SESSION_ASK_ROTATE:
	case SESSION_ASK_SKIP:
	case SESSION_ASK_GONE:
	case SESSION_NKINDS:
		fail_msg("nobody types that in a netcat session");
	}
}

static void type(struct table *table, const char *line, size_t len)
{
	struct buf bytes = BUF_INIT(LINE_MAX_BYTES);
	struct frame_input input;
	struct frame frame;

	buf_add(&bytes, line, len);
	buf_add_char(&bytes, '\n');
	input = (struct frame_input){ bytes.data, bytes.len };
	while (framer_next(&table->session.framer, &input, &frame) !=
	       FRAME_MORE) {
		struct session_request request;

		session_line(&table->session, &frame, &table->told, &request);
		answer(table, &request);
	}
	buf_release(&bytes);
}

/* Whether LINE is as PATTERN says, in which the dots are anything. */
static bool is_like(const char *line, const char *pattern)
{
	const char *dots = strstr(pattern, ANYTHING);

	if (dots == NULL)
		return strcmp(line, pattern) == 0;
	if (strncmp(line, pattern, (size_t)(dots - pattern)) != 0)
		return false;
	line += dots - pattern;
	pattern = dots + strlen(ANYTHING);
	for (; *line != '\0'; line++) {
		if (is_like(line, pattern))
			return true;
	}
	return is_like(line, pattern);
}

/* The next line of the server is PATTERN; before it any, if MAY_SKIP. */
static void expect(struct table *table, const char *pattern, bool may_skip)
{
	for (;;) {
		char line[LINE_MAX_BYTES];
		const char *end = table->told.len == 0
					  ? NULL
					  : memchr(table->told.data, '\n',
						   table->told.len);
		size_t len;

		if (end == NULL)
			fail_msg("%s: nothing is said, not: %s",
				 table->game->name, pattern);
		len = (size_t)(end - table->told.data);
		assert_true(len < sizeof(line));
		memcpy(line, table->told.data, len);
		line[len] = '\0';
		buf_drop_front(&table->told, len + 1);
		if (is_like(line, pattern))
			return;
		if (!may_skip)
			fail_msg("%s: \"%s\" is said, not: %s",
				 table->game->name, line, pattern);
	}
}

static void open_table(struct table *table, const char *name, const char *rest)
{
	struct game_error error;
	struct game_source source = { .name = "netcat.map", .options = "" };
	struct buf raw = BUF_INIT(LIMIT_MAP_BYTES);
	char path[1024];

	memset(table, 0, sizeof(*table));
	table->game = game_find(name);
	assert_non_null(table->game);
	buf_init(&table->told, LIMIT_OUTPUT_BYTES);
	buf_init(&table->file, LIMIT_MAP_BYTES);
	buf_init(&table->block, LIMIT_MAP_BYTES);
	(void)snprintf(path, sizeof(path), "%s/tests/data/netcat/%s.map",
		       TEST_SOURCE, name);
	read_file(path, &raw);
	source.data = raw.data;
	source.len = raw.len;
	assert_int_equal(table->game->map_import(&source, &table->file, &error),
			 0);
	source.data = table->file.data;
	source.len = table->file.len;
	assert_int_equal(table->game->map_new(&table->map, &source, &error), 0);
	if (table->game->is_whole_input)
		assert_int_equal(
			block_add_input(&table->block, source.data, source.len),
			0);
	else
		assert_int_equal(block_add_file(&table->block, source.name,
						source.data, source.len),
				 0);
	assert_int_equal(
		game_params_parse(table->game, rest, table->params, &error), 0);
	table->out = match_out_new();
	session_init(&table->session, INT64_MAX);
	session_greet(&table->session, "hill.example.org", &table->told);
	buf_release(&raw);
}

static void close_table(struct table *table)
{
	assert_null(table->match);
	session_release(&table->session);
	match_out_free(table->out);
	table->game->map_free(table->map);
	buf_release(&table->told);
	buf_release(&table->file);
	buf_release(&table->block);
}

/* From behind the fence's head to the fence's end. Returns what follows. */
static const char *play(struct table *table, const char *at)
{
	bool may_skip = false;

	while (strncmp(at, "```", 3) != 0) {
		const char *end = strchr(at, '\n');
		char line[LINE_MAX_BYTES];

		assert_non_null(end);
		(void)snprintf(line, sizeof(line), "%.*s", (int)(end - at), at);
		at = end + 1;
		if (strcmp(line, ANYTHING) == 0) {
			may_skip = true;
			continue;
		}
		if (line[0] == '>') {
			if (may_skip)
				buf_clear(&table->told);
			if (table->told.len > 0)
				fail_msg("%s: still to be heard: %s",
					 table->game->name,
					 buf_text(&table->told));
			type(table, line + 1 + (line[1] == ' '),
			     strlen(line + 1 + (line[1] == ' ')));
		} else {
			assert_int_equal(strncmp(line, "< ", 2), 0);
			expect(table, line + 2, may_skip);
		}
		may_skip = false;
	}
	if (may_skip)
		buf_clear(&table->told);
	assert_string_equal(buf_text(&table->told), "");
	return at;
}

static void every_session_runs_as_printed(void **state)
{
	static const char fence[] = "\n```netcat ";
	struct buf text = BUF_INIT(1 << 20);
	const char *at;
	unsigned count = 0;

	(void)state;
	read_file(TEST_SOURCE "/proto/PROTOCOL.md", &text);
	at = buf_text(&text);
	while ((at = strstr(at, fence)) != NULL) {
		struct table table;
		char name[80];
		char rest[200];
		const char *end;

		at += strlen(fence);
		end = strchr(at, '\n');
		assert_non_null(end);
		rest[0] = '\0';
		assert_true(sscanf(at, "%79s%*1[ ]%199[^\n]", name, rest) >= 1);
		open_table(&table, name, rest);
		at = play(&table, end + 1);
		close_table(&table);
		count++;
	}
	buf_release(&text);
	assert_int_equal(count, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_session_runs_as_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
