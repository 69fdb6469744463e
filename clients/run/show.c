/* SPDX-License-Identifier: MIT */
#include "clients/run/show.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "clients/run/tell.h"

enum { PATH_BYTES = 8192 };

/* Of several matches each has its folder below FRAMES. False: told. */
static bool place_frames(const struct play_match *match, const char *frames,
			 struct buf *path)
{
	if (mkdir(frames, 0777) != 0 && errno != EEXIST) {
		tell("cannot make %s: %s", frames, strerror(errno));
		return false;
	}
	buf_add_format(path, "%s/%04u", frames, match->file_number);
	return true;
}

/* Likewise its file: the number stands before the ending. */
static void place_animation(const struct play_match *match,
			    const char *animation, struct buf *path)
{
	const char *dot = strrchr(animation, '.');

	if (dot == NULL || strchr(dot, '/') != NULL)
		dot = animation + strlen(animation);
	buf_add(path, animation, (size_t)(dot - animation));
	buf_add_format(path, "-%04u%s", match->file_number, dot);
}

static void tell_report(const struct play *play, const struct play_match *match,
			const struct film_report *report)
{
	struct buf text = BUF_INIT(1024);

	film_describe(report, &text);
	if (!play->options->is_quiet)
		tell("%s: %s", match->label, buf_text(&text));
	buf_release(&text);
}

bool show_match(const struct play *play, const struct play_match *match,
		const struct referee_job *job,
		const struct match_record *record)
{
	struct film_options options = play->options->film;
	const struct replay_source source = {
		.game = job->game,
		.map = job->map,
		.setup = &job->setup,
		.transcript = record->transcript,
		.transcript_len = record->transcript_len,
		.output_bytes = LIMIT_LOCAL_OUTPUT_BYTES,
	};
	struct buf frames = BUF_INIT(PATH_BYTES);
	struct buf animation = BUF_INIT(PATH_BYTES);
	struct game_error error = { .text = "" };
	struct film_report report;
	bool is_of_several = play->total > 1 || play->files_total > 1;
	bool is_shown = true;

	if (!film_is_wanted(&options))
		return true;
	if (is_of_several && options.frames != NULL) {
		is_shown = place_frames(match, options.frames, &frames);
		options.frames = buf_text(&frames);
	}
	if (is_of_several && options.animation != NULL) {
		place_animation(match, options.animation, &animation);
		options.animation = buf_text(&animation);
	}
	if (is_shown && film_make(&source, &options, &report, &error) < 0) {
		tell("%s: %s", match->label,
		     error.text[0] == '\0' ? "no memory" : error.text);
		is_shown = false;
	} else if (is_shown) {
		tell_report(play, match, &report);
	}
	buf_release(&frames);
	buf_release(&animation);
	return is_shown;
}
