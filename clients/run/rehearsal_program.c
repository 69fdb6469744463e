/* SPDX-License-Identifier: MIT */
/* rehearsal_program.c - hill-run --match: the live seat's program. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "clients/program/program.h"
#include "clients/program/system.h"
#include "clients/run/file.h"
#include "clients/run/folder.h"
#include "clients/run/play.h"
#include "clients/run/rehearsal.h"
#include "clients/run/rehearsal_report.h"
#include "clients/run/tell.h"
#include "server/base/clock.h"

enum {
	FILE_BYTES_MAX = 512 * 1024 * 1024,
	LINES_AHEAD_MAX = 64,
	END_GRACE_US = 2 * 1000 * 1000,
	US_PER_MS = 1000,
	US_PER_SECOND = 1000 * 1000,
};

struct live {
	const struct run_options *options; /* borrowed */
	const volatile sig_atomic_t *stop;
	struct stored stored;
	struct rehearsal rehearsal;
	struct play_match match; /* its folder, its words */
	struct program program;
	struct match_limits limits;
	struct buf lines;    /* that came: size_t length, bytes; each */
	unsigned nlines;     /* in it */
	unsigned owed;       /* late replies that may still come */
	int64_t asked_us;    /* of the request that waits; 0: none does */
	int64_t turn;        /* of that request */
	bool is_interrupted; /* this request was */
	bool is_gone;        /* no more replies come */
	char *log_path;      /* borrowed; NULL */
	struct keeper_status status;
};

/* ---- the program's lines ---- */

static void on_line(void *context, const char *line, size_t len)
{
	struct live *live = context;

	if (!live->stored.game->is_whole_input && len > 0 &&
	    line[len - 1] == '\r')
		len--;
	buf_add(&live->lines, &len, sizeof(len));
	buf_add(&live->lines, line, len);
	if (++live->nlines >= LINES_AHEAD_MAX)
		live->program.is_paused = true;
}

static void give_lines(struct live *live)
{
	struct rehearsal *rehearsal = &live->rehearsal;

	if (rehearsal->lines.len > 0)
		program_write(&live->program, rehearsal->lines.data,
			      rehearsal->lines.len);
	buf_clear(&rehearsal->lines);
	if (!rehearsal->is_waiting)
		live->asked_us = 0;
	else if (live->asked_us == 0 ||
		 live->turn != rehearsal->turns[rehearsal->seat]) {
		live->asked_us = clock_now_us();
		live->is_interrupted = false;
	}
	live->turn = rehearsal->turns[rehearsal->seat];
}

static void take(struct live *live, enum game_input kind, const char *text,
		 size_t len)
{
	rehearsal_take(&live->rehearsal, kind, text, len);
	give_lines(live);
}

static void take_reply(struct live *live, const char *line, size_t len)
{
	size_t most = live->stored.game->line_max(live->stored.map);

	if (len > most)
		take(live, GAME_REPLY, "", 0);
	else if (!live->stored.game->is_whole_input ||
		 program_has_whole_reply(&live->program, len))
		take(live, GAME_REPLY, line, len);
	else
		live->is_gone = true;
}

/* Hand in what came, as far as it is wanted. */
static void take_lines(struct live *live)
{
	while (live->nlines > 0 &&
	       (live->owed > 0 || live->rehearsal.is_waiting)) {
		struct buf line = BUF_INIT(SIZE_MAX / 8);
		size_t len;

		memcpy(&len, live->lines.data, sizeof(len));
		buf_add(&line, live->lines.data + sizeof(len), len);
		buf_drop_front(&live->lines, sizeof(len) + len);
		live->nlines--;
		if (live->owed > 0)
			live->owed--;
		else
			take_reply(live, buf_text(&line), line.len);
		buf_release(&line);
	}
	live->program.is_paused = live->nlines >= LINES_AHEAD_MAX;
}

/* ---- time ---- */

/* When the request that waits is late; INT64_MAX: never. */
static int64_t late_us(const struct live *live)
{
	int64_t ms = live->limits.turn_ms;

	if (live->asked_us == 0 || live->limits.turn_ms == 0)
		return INT64_MAX;
	if (live->turn == 1)
		ms += live->limits.init_ms;
	if (live->is_interrupted)
		ms += live->limits.grace_ms;
	return live->asked_us + ms * US_PER_MS;
}

static void heed_time(struct live *live)
{
	if (clock_now_us() < late_us(live))
		return;
	if (live->limits.grace_ms > 0 && !live->is_interrupted) {
		live->is_interrupted = true;
		program_signal(&live->program, KEEPER_INTERRUPT);
		return;
	}
	tell("turn %lld: late", (long long)live->turn);
	live->owed++;
	take(live, GAME_LATE, "", 0);
}

/* Whether no more replies will come. */
static void heed_end(struct live *live)
{
	struct program *program = &live->program;

	if (live->is_gone)
		return;
	if (program->has_status)
		live->status = program->status;
	if (program->phase == PROGRAM_DRAINED ||
	    program->phase == PROGRAM_NONE) {
		live->is_gone = true;
		return;
	}
	live->is_gone = program_has_given_up(program, clock_now_us());
}

/* ---- the loop ---- */

/* Wait until something comes, or UNTIL_US; false when poll fails. */
static bool wait(struct live *live, int64_t until_us)
{
	struct pollfd fds[PROGRAM_FDS];
	size_t count = program_poll(&live->program, fds);
	int64_t left = until_us - clock_now_us();
	struct timespec time;
	sigset_t during_wait;

	if (left < 0)
		left = 0;
	if (left > US_PER_SECOND)
		left = US_PER_SECOND;
	time.tv_sec = left / US_PER_SECOND;
	time.tv_nsec = left % US_PER_SECOND * 1000;
	(void)sigprocmask(SIG_BLOCK, NULL, &during_wait);
	sigdelset(&during_wait, SIGINT);
	sigdelset(&during_wait, SIGTERM);
	if (system_poll(fds, count, &time, &during_wait) < 0) {
		if (errno == EINTR)
			return true;
		tell("cannot wait for the program: %s", strerror(errno));
		return false;
	}
	program_handle(&live->program, fds, count);
	return true;
}

static bool play_on(struct live *live)
{
	const struct rehearsal *rehearsal = &live->rehearsal;

	give_lines(live);
	while (!rehearsal->is_over && *live->stop == 0) {
		int64_t until_us = late_us(live);

		if (!rehearsal->is_waiting && !live->is_gone)
			return true; /* over for it */
		if (live->is_gone && live->nlines == 0) {
			take(live, GAME_GONE, "", 0);
			continue;
		}
		if (program_closed_deadline(&live->program) < until_us)
			until_us = program_closed_deadline(&live->program);
		if (!wait(live, until_us))
			return false;
		take_lines(live);
		heed_end(live);
		heed_time(live);
	}
	return *live->stop == 0;
}

/* End it as the original did. */
static void end_program(struct live *live)
{
	int64_t until_us = clock_now_us() + END_GRACE_US;

	live->program.is_paused = false;
	if (live->stored.game->stop == GAME_STOP_TERM)
		program_signal(&live->program, KEEPER_TERM);
	if (live->stored.game->stop == GAME_STOP_EOF)
		program_end_input(&live->program);
	while (program_is_alive(&live->program) && *live->stop == 0 &&
	       clock_now_us() < until_us) {
		if (live->program.phase == PROGRAM_DRAINED)
			program_signal(&live->program, KEEPER_KILL);
		if (!wait(live, until_us))
			break;
		buf_clear(&live->lines);
		live->nlines = 0;
		live->program.is_paused = false;
	}
	program_release(&live->program);
	keeper_wait_all(KEEPER_PATIENCE_MS);
}

static bool start_program(struct live *live)
{
	const struct stored *stored = &live->stored;
	struct program_plan plan = {
		.argv = live->match.argv[0].words,
		.folder = live->match.folders[0],
		.log_path = live->log_path,
		.is_stderr_shared = live->log_path == NULL,
		.line_max = stored->game->line_max(stored->map),
		.is_whole = stored->game->is_whole_input,
		.on_line = on_line,
		.context = live,
	};
	int rc = program_start(&live->program, &plan);

	if (rc < 0) {
		tell("cannot run %s: %s", plan.argv[0], strerror(-rc));
		(void)keeper_remove_folder(plan.folder);
		return false;
	}
	if (stored->game->is_whole_input) {
		program_write(&live->program, buf_text(&stored->file),
			      stored->file.len);
		program_end_input(&live->program);
	}
	return true;
}

/* ---- the whole ---- */

/* Read the match, and where its program will be. False: told. */
static bool prepare(struct live *live)
{
	const struct run_options *options = live->options;
	struct stored *stored = &live->stored;
	struct buf text = BUF_INIT(FILE_BYTES_MAX);
	struct game_error error = { .text = "" };
	bool is_read = file_read(options->match_path, &text);

	if (is_read &&
	    stored_read(stored, buf_text(&text), text.len, &error) < 0) {
		tell("%s: %s", options->match_path, error.text);
		is_read = false;
	}
	buf_release(&text);
	if (!is_read)
		return false;
	if (stored->game->form != GAME_FORM_LINE) {
		tell("%s: --match takes only games with replies of one line",
		     stored->game->name);
		return false;
	}
	live->limits = options_limits(options, stored->game);
	if (options->turn_ms < 0)
		live->limits.turn_ms = stored->turn_ms;
	if (options->init_ms < 0)
		live->limits.init_ms = stored->init_ms;
	if (options->turn_ms != 0)
		live->limits.grace_ms = stored->grace_ms;
	if (rehearsal_new(&live->rehearsal, stored, options->match_seat - 1,
			  options->from_turn, &error) < 0) {
		tell("%s: %s", options->match_path, error.text);
		return false;
	}
	return true;
}

/* Where its standard error goes: a file, or where ours goes. */
static bool place_errors(struct live *live)
{
	const char *folder = live->options->stderr_dir;

	if (folder == NULL)
		return true;
	if (mkdir(folder, 0777) < 0 && errno != EEXIST) {
		tell("cannot make %s: %s", folder, strerror(errno));
		return false;
	}
	live->log_path = folder_path(folder, "match.log");
	return true;
}

static bool make_words(struct live *live, int argc, char **argv)
{
	const struct stored *stored = &live->stored;
	struct referee_job job = { .game = stored->game,
				   .map = stored->map,
				   .setup = stored->setup };
	char *path;

	if (!place_errors(live) || !play_folder(&live->match, 0))
		return false;
	path = folder_path(live->match.folders[0], stored->map_name);
	for (int i = 0; i < argc; i++)
		words_add(&live->match.argv[0], argv[i]);
	play_add_args(&live->match.argv[0], &job, live->options->match_seat - 1,
		      path);
	free(path);
	if (stored->game->is_whole_input ||
	    folder_write(live->match.folders[0], stored->map_name,
			 buf_text(&stored->file), stored->file.len))
		return true;
	(void)keeper_remove_folder(live->match.folders[0]);
	return false;
}

static void tell_end(const struct live *live)
{
	if (live->rehearsal.is.kind != GAME_GONE ||
	    !live->rehearsal.is.is_there)
		return;
	if (live->status.end == KEEPER_NOT_STARTED)
		tell("cannot run %s: %s", live->match.argv[0].words[0],
		     strerror(live->status.value));
	else if (live->status.end == KEEPER_SIGNALLED)
		tell("the program was ended by signal %d", live->status.value);
	else
		tell("the program ended with exit status %d, or closed its "
		     "output",
		     live->status.value);
}

static void print(const struct live *live)
{
	struct buf text = BUF_INIT(FILE_BYTES_MAX);
	json_t *json;
	char *dump;

	if (!live->options->is_json) {
		rehearsal_report_text(&live->rehearsal, &text);
		tell_result(buf_text(&text), text.len);
		buf_release(&text);
		return;
	}
	json = rehearsal_report_json(&live->rehearsal);
	dump = json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
	json_decref(json);
	if (dump != NULL) {
		tell_result(dump, strlen(dump));
		tell_result("\n", 1);
	}
	free(dump);
}

static int run(struct live *live)
{
	bool is_played;

	if (!start_program(live))
		return EXIT_BAD;
	is_played = play_on(live);
	end_program(live);
	if (*live->stop != 0)
		return 128 + *live->stop;
	if (!is_played)
		return EXIT_BAD;
	tell_end(live);
	if (live->status.end == KEEPER_NOT_STARTED && live->is_gone)
		return EXIT_BAD;
	print(live);
	return live->rehearsal.differing == 0 ? EXIT_PLAYED : EXIT_DIED;
}

static void release(struct live *live)
{
	rehearsal_release(&live->rehearsal);
	stored_release(&live->stored);
	words_release(&live->match.argv[0]);
	free(live->match.folders[0]);
	free(live->log_path);
	buf_release(&live->lines);
	free(live);
}

int run_rehearsal(const struct run_options *options, int argc, char **argv)
{
	struct live *live;
	int status = EXIT_BAD;

	if (options->match_seat == 0 || argc < 1)
		return usage_error("--match FILE wants --seat S, and -- PROG");
	live = xcalloc(1, sizeof(*live));
	live->options = options;
	live->stop = play_catch_signals();
	buf_init(&live->lines, SIZE_MAX / 8);
	program_init(&live->program);
	if (prepare(live) && make_words(live, argc, argv))
		status = run(live);
	release(live);
	return status;
}
