/* SPDX-License-Identifier: MIT */
/*
 * golden_image_battle.c - battles of the original judge, replayed.
 *
 * Each arena*.png of a case is a run: import the picture, feed the recorded
 * answers as the engine asks for them, and compare every file that the judge
 * left behind.
 */
#include "tests/golden/golden.h"

#include <dirent.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/games/game.h"
#include "server/games/image_battle.h"
#include "server/games/image_battle_text.h"
#include "server/games/picture.h"

enum { OUT_BYTES = 1 << 20 };

/* A case as recorded. */
struct recorded {
	const char *dir;
	char seed[GAME_SEED_DIGITS_MAX + 2];
	struct game_setup setup;
	char names[GAME_SEATS_MAX][64];
	struct buf options; /* colours=... */
	struct buf replies[GAME_SEATS_MAX];
};

/* A run of it in the making. */
struct run {
	struct golden_report *report;
	const struct recorded *recorded;
	char name[GOLDEN_PATH_BYTES]; /* for failures */
	struct game_map *map;
	struct game_state *state;
	struct game_out out;
	struct image_battle_view view;
	size_t read[GAME_SEATS_MAX]; /* bytes of the replies that were fed */
	struct buf received[GAME_SEATS_MAX];
	struct buf order;
	struct buf printed;
};

/* "player I NAME R G B" */
static bool read_player(struct recorded *recorded, const char *line)
{
	static const char word[] = "player ";
	char *end;
	unsigned long index;
	size_t len;

	if (strncmp(line, word, strlen(word)) != 0)
		return false;
	index = strtoul(line + strlen(word), &end, 10);
	if (index >= GAME_SEATS_MAX || *end != ' ')
		return false;
	line = end + 1;
	len = strcspn(line, " ");
	if (len >= sizeof(recorded->names[index]))
		return false;
	memcpy(recorded->names[index], line, len);
	line += len;
	for (int i = 0; i < 3; i++) {
		buf_add_format(&recorded->options, "%s%lu",
			       i > 0        ? ","
			       : index == 0 ? "colours="
					    : ";",
			       strtoul(line, &end, 10));
		if (end == line)
			return false;
		line = end;
	}
	return *line == '\0';
}

static bool read_config(struct recorded *recorded, char *text)
{
	char *rest = NULL;
	char *line = strtok_r(text, "\n", &rest);
	int64_t *params = recorded->setup.params;
	bool is_good = true;

	recorded->setup.seed = recorded->seed;
	recorded->setup.bot_seed = recorded->seed;
	for (; line != NULL && is_good; line = strtok_r(NULL, "\n", &rest)) {
		if (strncmp(line, "seed ", 5) == 0)
			(void)snprintf(recorded->seed, sizeof(recorded->seed),
				       "%s", line + 5);
		else if (strncmp(line, "batch ", 6) == 0)
			params[0] = strtoll(line + 6, NULL, 10);
		else if (strncmp(line, "maxturns ", 9) == 0)
			params[1] = strtoll(line + 9, NULL, 10);
		else if (strncmp(line, "players ", 8) == 0)
			recorded->setup.seats =
				(unsigned)strtoul(line + 8, NULL, 10);
		else
			is_good = read_player(recorded, line);
	}
	return is_good && recorded->setup.seats >= 1 &&
	       recorded->setup.seats <= GAME_SEATS_MAX;
}

static void recorded_release(struct recorded *recorded)
{
	buf_release(&recorded->options);
	for (unsigned i = 0; i < GAME_SEATS_MAX; i++)
		buf_release(&recorded->replies[i]);
}

static bool recorded_read(struct golden_report *report,
			  struct recorded *recorded, const char *dir)
{
	struct buf config = BUF_INIT(GOLDEN_FILE_BYTES);
	bool is_good;

	*recorded = (struct recorded){ .dir = dir };
	buf_init(&recorded->options, GOLDEN_FILE_BYTES);
	for (unsigned i = 0; i < GAME_SEATS_MAX; i++)
		buf_init(&recorded->replies[i], GOLDEN_FILE_BYTES);
	is_good = golden_need(report, dir, "config.txt", &config);
	if (is_good) {
		buf_add_char(&config, '\n');
		is_good = read_config(recorded, config.data);
		if (!is_good)
			golden_fail(report, dir, "config.txt: not understood");
	}
	for (unsigned i = 0; is_good && i < recorded->setup.seats; i++) {
		char file[32];

		(void)snprintf(file, sizeof(file), "replies_%u.txt", i);
		is_good = golden_need(report, dir, file, &recorded->replies[i]);
	}
	buf_release(&config);
	return is_good;
}

/* Import and parse the arena FILE as a pool of maps does. */
static bool load_map(struct run *run, const char *file)
{
	const struct recorded *recorded = run->recorded;
	struct buf raw = BUF_INIT(GOLDEN_FILE_BYTES);
	struct buf plain = BUF_INIT(GOLDEN_FILE_BYTES);
	struct game_source source = { .name = file };
	struct game_error error;
	int rc = -1;

	if (!golden_need(run->report, recorded->dir, file, &raw))
		goto out;
	source.options = buf_text(&recorded->options);
	source.data = buf_text(&raw);
	source.len = raw.len;
	rc = game_image_battle.map_import(&source, &plain, &error);
	if (rc == 0) {
		source.data = buf_text(&plain);
		source.len = plain.len;
		rc = game_image_battle.map_new(&run->map, &source, &error);
	}
	if (rc < 0)
		golden_fail(run->report, run->name, "%s", error.text);
out:
	buf_release(&raw);
	buf_release(&plain);
	return rc == 0;
}

/* What a call brought about. */
static void note_output(struct run *run)
{
	int64_t turn = run->view.turn;
	int64_t completed = run->view.completed;

	for (unsigned i = 0; i < run->recorded->setup.seats; i++)
		buf_add(&run->received[i], run->out.lines[i].data,
			run->out.lines[i].len);
	image_battle_look(run->state, &run->view);
	if (run->view.completed != completed &&
	    run->view.completed % IMAGE_BATTLE_PROGRESS_TURNS == 0)
		image_battle_text_progress(run->view.completed,
					   run->view.accepted, &run->printed);
	if (run->view.turn == turn)
		return;
	for (unsigned i = 0; i < run->view.seats; i++)
		buf_add_format(&run->order, "%s%u", i == 0 ? "" : " ",
			       run->view.order[i]);
	buf_add_char(&run->order, '\n');
}

/* Feed the seat that was asked its next recorded answer. */
static bool feed_next(struct run *run)
{
	unsigned seat = (unsigned)__builtin_ctz(run->out.asked);
	const struct buf *replies = &run->recorded->replies[seat];
	const char *line = buf_text(replies) + run->read[seat];
	const char *lf = memchr(line, '\n', replies->len - run->read[seat]);
	size_t len;

	if (lf == NULL) {
		golden_fail(run->report, run->name,
			    "asks seat %u once more than recorded", seat);
		return false;
	}
	len = (size_t)(lf - line);
	run->read[seat] += len + 1;
	if (len > 0 && line[len - 1] == '\r')
		len--;
	game_out_clear(&run->out);
	(void)game_image_battle.feed(run->state, seat, GAME_REPLY, line, len,
				     &run->out);
	return true;
}

static bool play(struct run *run)
{
	struct game_error error;
	int rc = game_image_battle.create(&run->state, run->map,
					  &run->recorded->setup, &error);

	if (rc < 0) {
		golden_fail(run->report, run->name, "%s", error.text);
		return false;
	}
	(void)game_image_battle.begin(run->state, &run->out);
	note_output(run);
	while (!run->out.is_over) {
		if (!feed_next(run))
			return false;
		note_output(run);
	}
	for (unsigned i = 0; i < run->view.seats; i++) {
		if (run->read[i] == run->recorded->replies[i].len)
			continue;
		golden_fail(run->report, run->name,
			    "is over before seat %u has answered all", i);
		return false;
	}
	return true;
}

/* The shortest text that reads as VALUE again, as Python's repr() gives it. */
static void add_repr(struct buf *out, double value)
{
	char text[40];

	for (int digits = 1; digits <= 17; digits++) {
		(void)snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	if (strchr(text, 'e') != NULL && value >= 1)
		(void)snprintf(text, sizeof(text), "%.0f", value);
	buf_add_text(out, text);
	if (strpbrk(text, ".en") == NULL)
		buf_add_text(out, ".0");
}

/* scores.txt, and the score lines of stdout.txt. */
static void print_scores(struct run *run, struct buf *scores)
{
	struct game_score results[GAME_SEATS_MAX];

	game_image_battle.result(run->state, results);
	for (unsigned i = 0; i < run->view.seats; i++) {
		unsigned seat = run->view.order[i];
		const uint8_t *rgb = run->view.colours[seat];

		buf_add_format(scores, "%u (%u,%u,%u) %lld ", seat, rgb[0],
			       rgb[1], rgb[2], (long long)results[seat].points);
		add_repr(scores, results[seat].score);
		buf_add_char(scores, '\n');
		image_battle_text_score(run->recorded->names[seat], rgb,
					results[seat].score, &run->printed);
	}
}

/* final.txt */
static bool print_final(struct run *run, const struct picture *picture,
			struct buf *final)
{
	size_t bytes = (size_t)picture->width * picture->height * 3;
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned digest_len;

	if (EVP_Digest(picture->rgb, bytes, digest, &digest_len, EVP_sha256(),
		       NULL) != 1) {
		golden_fail(run->report, run->name, "SHA-256 fails");
		return false;
	}
	buf_add_format(final, "turns %lld\nend %s\naccepted %lld\nsha256 ",
		       (long long)run->view.turn,
		       run->view.end == IMAGE_BATTLE_NULL ? "null" : "maxturns",
		       (long long)run->view.accepted);
	for (unsigned i = 0; i < digest_len; i++)
		buf_add_format(final, "%02x", digest[i]);
	buf_add_char(final, '\n');
	return true;
}

/* Whether the saved picture shows the same pixels. */
static bool same_picture(struct run *run, const struct picture *picture)
{
	struct buf file = BUF_INIT(GOLDEN_FILE_BYTES);
	struct picture saved = { 0 };
	struct game_error error;
	bool is_same = false;

	if (!golden_need(run->report, run->recorded->dir, "final.png", &file))
		goto out;
	if (picture_decode_png(&saved, buf_text(&file), file.len, 1000,
			       &error) < 0) {
		golden_fail(run->report, run->name, "final.png: %s",
			    error.text);
		goto out;
	}
	is_same = saved.width == picture->width &&
		  saved.height == picture->height &&
		  memcmp(saved.rgb, picture->rgb,
			 (size_t)saved.width * saved.height * 3) == 0;
	if (!is_same)
		golden_fail(run->report, run->name, "final.png differs");
out:
	picture_release(&saved);
	buf_release(&file);
	return is_same;
}

static bool same_file(struct run *run, const char *file, const struct buf *got)
{
	struct buf expected = BUF_INIT(GOLDEN_FILE_BYTES);
	bool is_same;

	is_same =
		golden_need(run->report, run->recorded->dir, file, &expected) &&
		golden_same_text(run->report, run->name, file,
				 buf_text(&expected), expected.len,
				 buf_text(got), got->len);
	buf_release(&expected);
	return is_same;
}

static bool same_received(struct run *run)
{
	for (unsigned i = 0; i < run->view.seats; i++) {
		char file[32];

		(void)snprintf(file, sizeof(file), "received_%u.txt", i);
		if (!same_file(run, file, &run->received[i]))
			return false;
	}
	return true;
}

static bool compare(struct run *run)
{
	struct buf scores = BUF_INIT(GOLDEN_FILE_BYTES);
	struct buf final = BUF_INIT(GOLDEN_FILE_BYTES);
	struct picture picture = { 0 };
	struct game_grid grid = { 0 };
	bool is_same = false;

	print_scores(run, &scores);
	if (game_image_battle.grid(run->state, &grid) < 0 ||
	    picture_from_grid(&picture, &grid) < 0) {
		golden_fail(run->report, run->name, "out of memory");
		goto out;
	}
	is_same = print_final(run, &picture, &final) &&
		  same_file(run, "order.txt", &run->order) &&
		  same_received(run) && same_file(run, "final.txt", &final) &&
		  same_picture(run, &picture) &&
		  same_file(run, "scores.txt", &scores) &&
		  same_file(run, "stdout.txt", &run->printed);
out:
	buf_release(&scores);
	buf_release(&final);
	game_grid_release(&grid);
	picture_release(&picture);
	return is_same;
}

static void run_arena(struct golden_report *report,
		      const struct recorded *recorded, const char *file)
{
	struct run *run = xcalloc(1, sizeof(*run));

	run->report = report;
	run->recorded = recorded;
	(void)snprintf(run->name, sizeof(run->name), "%s %s", recorded->dir,
		       file);
	game_out_init(&run->out, OUT_BYTES);
	buf_init(&run->order, GOLDEN_FILE_BYTES);
	buf_init(&run->printed, GOLDEN_FILE_BYTES);
	for (unsigned i = 0; i < GAME_SEATS_MAX; i++)
		buf_init(&run->received[i], GOLDEN_FILE_BYTES);
	if (load_map(run, file) && play(run) && compare(run))
		golden_pass(report);
	game_image_battle.free(run->state);
	game_image_battle.map_free(run->map);
	game_out_release(&run->out);
	buf_release(&run->order);
	buf_release(&run->printed);
	for (unsigned i = 0; i < GAME_SEATS_MAX; i++)
		buf_release(&run->received[i]);
	free(run);
}

static int is_arena(const struct dirent *entry)
{
	const char *name = entry->d_name;
	size_t len = strlen(name);

	return len > 4 && strncmp(name, "arena", 5) == 0 &&
	       strcmp(name + len - 4, ".png") == 0;
}

void golden_image_battle(const char *dir, struct golden_report *report)
{
	struct recorded *recorded = xcalloc(1, sizeof(*recorded));
	struct dirent **entries;
	int count;

	if (!recorded_read(report, recorded, dir))
		goto out;
	count = scandir(dir, &entries, is_arena, alphasort);
	if (count <= 0) {
		golden_fail(report, dir, "no arena*.png");
		goto out;
	}
	for (int i = 0; i < count; i++) {
		run_arena(report, recorded, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
out:
	recorded_release(recorded);
	free(recorded);
}
