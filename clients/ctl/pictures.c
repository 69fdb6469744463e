/* SPDX-License-Identifier: MIT */
/* pictures.c - a stored match as pictures, an animation, or text. */
#include "clients/ctl/match_view.h"
#include "clients/picture/film.h"
#include "server/store/rerun.h"

/* The number of option NAME, 0 when not given. CTL_OK, or CTL_USAGE. */
static int take_number(const struct ctl_call *call, const char *name,
		       int64_t least, int64_t most, unsigned *ret)
{
	int64_t value = ctl_number(call, name, 0);

	*ret = (unsigned)value;
	if (ctl_value(call, name) == NULL || (value >= least && value <= most))
		return CTL_OK;
	return ctl_usage(call, "--%s: %lld is not %lld to %lld", name,
			 (long long)value, (long long)least, (long long)most);
}

int pictures_options(const struct ctl_call *call, struct film_options *ret)
{
	static const char *const only_with[] = { "every", "max-frames", "scale",
						 "fps" };
	int status;

	*ret = (struct film_options){
		.frames = ctl_value(call, "frames"),
		.animation = ctl_value(call, "animation"),
		.grids = ctl_value(call, "grids"),
	};
	for (size_t i = 0; i < sizeof(only_with) / sizeof(only_with[0]); i++)
		if (!film_is_wanted(ret) &&
		    ctl_value(call, only_with[i]) != NULL)
			return ctl_usage(call,
					 "--%s goes with --frames, --animation "
					 "or --grids",
					 only_with[i]);
	if (ret->animation != NULL && !film_is_animation_name(ret->animation))
		return ctl_usage(call,
				 "--animation %s: it becomes a PNG file: "
				 "name it .png",
				 ret->animation);
	status = take_number(call, "every", 1, FILM_EVERY_MAX, &ret->every);
	if (status == CTL_OK)
		status = take_number(call, "max-frames", 2, FILM_FRAMES_MAX,
				     &ret->max_frames);
	if (status == CTL_OK)
		status = take_number(call, "scale", 1, FILM_SCALE_MAX,
				     &ret->scale);
	if (status == CTL_OK)
		status = take_number(call, "fps", 1, FILM_FPS_MAX, &ret->fps);
	return status;
}

static void print_report(const struct ctl *ctl,
			 const struct film_options *options,
			 const struct film_report *report, int64_t id)
{
	struct buf text = BUF_INIT(1024);
	json_t *json;

	if (ctl->is_json) {
		json = json_pack(
			"{s:b, s:I, s:I, s:I, s:i, s:i, s:i, s:i}", "ok", 1,
			"match", (json_int_t)id, "states",
			(json_int_t)report->states, "pictures",
			(json_int_t)report->frames, "every", (int)report->every,
			"width", (int)report->width, "height",
			(int)report->height, "scale", (int)report->scale);
		ctl_print_json(json);
		json_decref(json);
		return;
	}
	film_describe(report, &text);
	(void)printf("match %lld: %s\n", (long long)id, buf_text(&text));
	buf_release(&text);
	if (options->frames != NULL)
		(void)printf("pictures in %s\n", options->frames);
	if (options->animation != NULL)
		(void)printf("animation in %s\n", options->animation);
	if (options->grids != NULL)
		(void)printf("grids in %s\n", options->grids);
}

int pictures_make(const struct ctl *ctl, const struct row_record *record,
		  const struct film_options *wanted)
{
	struct film_options options = *wanted;
	struct game_error error = { .text = "" };
	struct buf heading = BUF_INIT(8192);
	struct film_report report;
	struct rerun rerun;
	int rc = rerun_init(&rerun, record, &error);
	int status = CTL_OK;

	buf_add_format(&heading, "Run 1, seed %s", record->match.seed);
	options.heading = buf_text(&heading);
	if (rc == 0) {
		struct replay_source source = {
			.game = rerun.game,
			.map = rerun.map,
			.setup = &rerun.setup,
			.transcript = record->transcript,
			.transcript_len = record->transcript_len,
		};

		rc = film_make(&source, &options, &report, &error);
		rerun_release(&rerun);
	}
	if (rc == 0)
		print_report(ctl, &options, &report, record->match.id);
	else
		status = ctl_fail(
			ctl, "match %lld: %s", (long long)record->match.id,
			error.text[0] == '\0' ? "no memory" : error.text);
	buf_release(&heading);
	return status;
}
