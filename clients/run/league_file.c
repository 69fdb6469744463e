/* SPDX-License-Identifier: MIT */
/* league_file.c - the state file: whose it is, what it has, one more line. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "clients/run/file.h"
#include "clients/run/league_internal.h"
#include "clients/run/league_state.h"
#include "clients/run/tell.h"
#include "server/match/digest.h"

enum { STATE_BYTES_MAX = 1024 * 1024 * 1024, KEY_BYTES = 32 };

bool league_append(const struct league *league, const struct buf *line)
{
	off_t end = lseek(league->state_fd, 0, SEEK_END);
	ssize_t count = write(league->state_fd, line->data, line->len);

	if (count == (ssize_t)line->len)
		return true;
	tell("cannot write %s: %s", league->state_path,
	     strerror(count < 0 ? errno : ENOSPC));
	if (count > 0 && ftruncate(league->state_fd, end) != 0)
		tell("%s ends in half a line: %s", league->state_path,
		     strerror(errno));
	return false;
}

static void set_text(json_t *head, const char *format, unsigned number,
		     const char *text)
{
	char key[KEY_BYTES];
	json_t *value = json_string(text);

	(void)snprintf(key, sizeof(key), "%s %u", format, number);
	/* What is no UTF-8 is told apart all the same. */
	(void)json_object_set_new(head, key,
				  value != NULL ? value : json_string("?"));
}

/* All that decides the results. */
static void make_head(struct league *league)
{
	struct match_limits limits =
		options_limits(league->options, league->game);
	struct buf text = BUF_INIT(LEAGUE_TEXT_BYTES_MAX);

	game_params_format(league->game, league->params, &text);
	league->head = json_pack(
		"{ss, ss, si, ss, si, sI, sI, sI, sI, si, si}", "format",
		"hill league 1", "game", league->game->name, "engine_version",
		(int)league->game->version, "params", buf_text(&text), "seats",
		(int)league->plan.seats, "first_seed",
		(json_int_t)league->plan.first_seed, "last_seed",
		(json_int_t)league->plan.last_seed, "turn_ms",
		(json_int_t)limits.turn_ms, "init_ms",
		(json_int_t)limits.init_ms, "bots", (int)league->plan.nbots,
		"maps", (int)league->plan.nmaps);
	for (unsigned i = 0; i < league->plan.nbots; i++)
		set_text(league->head, "bot", i + 1,
			 league->options->bot_texts[i]);
	for (unsigned i = 0; i < league->plan.nmaps; i++) {
		const struct arena *arena = &league->maps[i];
		struct digest digest;

		digest_init(&digest);
		digest_lines(&digest, 0, buf_text(&arena->file),
			     arena->file.len);
		buf_clear(&text);
		buf_add_format(&text, "%s %016" PRIx64, league->map_names[i],
			       digest.value);
		set_text(league->head, "map", i + 1, buf_text(&text));
	}
	if (league->game->is_shared)
		(void)json_object_set_new(
			league->head, "colours",
			json_string(league->options->colours_text != NULL
					    ? league->options->colours_text
					    : "the arenas'"));
	buf_release(&text);
}

static void place_state(struct league *league)
{
	struct buf text = BUF_INIT(LEAGUE_TEXT_BYTES_MAX);
	struct digest digest;

	if (league->options->state_path != NULL) {
		league->state_path = xstrdup(league->options->state_path);
		return;
	}
	league_state_add_head(league->head, &text);
	digest_init(&digest);
	digest_lines(&digest, 0, buf_text(&text), text.len);
	buf_clear(&text);
	buf_add_format(&text, "league-%s-%08" PRIx64 ".jsonl",
		       league->game->name, digest.value >> 32);
	league->state_path = buf_detach(&text);
}

static bool read_state(struct league *league)
{
	struct buf text = BUF_INIT(STATE_BYTES_MAX);
	struct game_error error = { .text = "" };
	size_t good = 0;
	bool is_good = file_read(league->state_path, &text);

	if (is_good &&
	    league_state_read(buf_text(&text), text.len, league->head,
			      &league->plan, league->rows, &good, &error) < 0) {
		tell("%s: %s", league->state_path, error.text);
		is_good = false;
	}
	if (is_good && good < text.len) {
		tell("%s: its last line is torn and thrown away",
		     league->state_path);
		is_good = ftruncate(league->state_fd, (off_t)good) == 0;
	}
	buf_clear(&text);
	if (is_good && good == 0) {
		league_state_add_head(league->head, &text);
		is_good = league_append(league, &text);
	}
	buf_release(&text);
	return is_good;
}

bool league_open_state(struct league *league)
{
	league->rows = xcalloc(league->total, sizeof(*league->rows));
	league->todo = xcalloc(league->total, sizeof(*league->todo));
	make_head(league);
	place_state(league);
	league->state_fd = open(league->state_path,
				O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (league->state_fd < 0) {
		tell("cannot open %s: %s", league->state_path, strerror(errno));
		return false;
	}
	if (flock(league->state_fd, LOCK_EX | LOCK_NB) < 0) {
		tell("%s: another league writes it now", league->state_path);
		return false;
	}
	if (!read_state(league))
		return false;
	for (unsigned i = 0; i < league->total; i++) {
		if (!league->rows[i].is_played)
			league->todo[league->ntodo++] = i;
	}
	if (league->ntodo < league->total)
		tell("%s has %u of %u matches", league->state_path,
		     league->total - league->ntodo, league->total);
	return true;
}
