/* SPDX-License-Identifier: MIT */
/* film.c - which states of a match become pictures, and their drawing. */
#include "clients/picture/film.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "clients/picture/apng.h"
#include "server/games/picture.h"

enum { PATH_BYTES = 8192, LAST_MS = 2000, SECOND_MS = 1000 };

/* A part of a grid, in cells. */
struct area {
	unsigned x, y, width, height;
};

struct film {
	const struct film_options *options; /* borrowed, as is the next */
	struct game_error *error;
	struct film_report report;
	unsigned grids_every;
	uint64_t at;           /* the state that comes next, from 0 */
	struct game_grid last; /* owned; the last picture's */
	struct apng *apng;     /* owned; NULL: none */
	FILE *grids;           /* owned; NULL: none */
	int rc;                /* the first failure; the rest is passed over */
};

bool film_is_wanted(const struct film_options *options)
{
	return options->frames != NULL || options->animation != NULL ||
	       options->grids != NULL;
}

bool film_is_animation_name(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot == NULL || strchr(dot, '/') != NULL ||
	       strcasecmp(dot, ".png") == 0 || strcasecmp(dot, ".apng") == 0;
}

static bool wants_pictures(const struct film_options *options)
{
	return options->frames != NULL || options->animation != NULL;
}

static int fail_file(struct film *film, const char *path, int rc)
{
	game_error_set(film->error, "cannot write %.100s: %s", path,
		       strerror(-rc));
	return rc;
}

void film_add_grid(const struct game_grid *grid, struct buf *out)
{
	const uint32_t *row = grid->cells;

	for (unsigned y = 0; y < grid->height; y++, row += grid->width) {
		unsigned width = grid->width;

		while (width > 0 && row[width - 1] >> 24 == 0)
			width--;
		for (unsigned x = 0; x < width; x++) {
			char c = (char)(row[x] >> 24);

			buf_add_char(out, c == '\0' ? ' ' : c);
		}
		buf_add_char(out, '\n');
	}
	buf_add_text(out, "\n\n");
}

static int write_grid(struct film *film, const struct game_grid *grid)
{
	struct buf text = BUF_INIT(SIZE_MAX / 8);
	int rc = 0;

	film_add_grid(grid, &text);
	if (text.is_failed ||
	    fwrite(text.data, 1, text.len, film->grids) != text.len)
		rc = fail_file(film, film->options->grids, -errno);
	buf_release(&text);
	return rc;
}

/* ---- drawing ---- */

/* AREA of GRID with SCALE x SCALE pixels a cell. 0, -ENOMEM. */
static int draw(const struct game_grid *grid, const struct area *area,
		unsigned scale, struct picture *ret)
{
	size_t row_bytes = (size_t)area->width * scale * 3;
	size_t rows = (size_t)area->height * scale;
	uint8_t *rgb = reallocarray(NULL, rows, row_bytes);
	uint8_t *to = rgb;

	if (rgb == NULL)
		return -ENOMEM;
	for (unsigned y = 0; y < area->height; y++) {
		const uint32_t *cells = grid->cells +
					(size_t)(area->y + y) * grid->width +
					area->x;

		for (size_t x = 0; x < (size_t)area->width * scale; x++) {
			uint32_t cell = cells[x / scale];

			to[3 * x] = (uint8_t)(cell >> 16);
			to[3 * x + 1] = (uint8_t)(cell >> 8);
			to[3 * x + 2] = (uint8_t)cell;
		}
		for (unsigned i = 1; i < scale; i++)
			memcpy(to + i * row_bytes, to, row_bytes);
		to += scale * row_bytes;
	}
	*ret = (struct picture){ area->width * scale, area->height * scale,
				 rgb };
	return 0;
}

/* AREA of GRID as a PNG file in OUT. 0, -ENOMEM. */
static int encode(struct film *film, const struct game_grid *grid,
		  const struct area *area, struct buf *out)
{
	struct picture picture;
	int rc = draw(grid, area, film->report.scale, &picture);

	if (rc == 0) {
		rc = picture_encode_png(&picture, out);
		picture_release(&picture);
	}
	if (rc < 0)
		game_error_set(film->error, "no memory for a picture");
	return rc;
}

/* The least area that holds all cells which differ; one cell when none do. */
static struct area changed(const struct game_grid *a, const struct game_grid *b)
{
	unsigned left = a->width, right = 0, top = a->height, bottom = 0;

	for (unsigned y = 0; y < a->height; y++) {
		const uint32_t *row_a = a->cells + (size_t)y * a->width;
		const uint32_t *row_b = b->cells + (size_t)y * a->width;

		for (unsigned x = 0; x < a->width; x++) {
			if (((row_a[x] ^ row_b[x]) & 0xffffff) == 0)
				continue;
			left = x < left ? x : left;
			right = x > right ? x : right;
			top = y < top ? y : top;
			bottom = y;
		}
	}
	if (top == a->height)
		return (struct area){ 0, 0, 1, 1 };
	return (struct area){ left, top, right - left + 1, bottom - top + 1 };
}

static int write_frame(struct film *film, const struct buf *png)
{
	struct buf path = BUF_INIT(PATH_BYTES);
	FILE *file;
	int rc = 0;

	buf_add_format(&path, "%s/%06llu.png", film->options->frames,
		       (unsigned long long)film->at);
	file = fopen(buf_text(&path), "we");
	if (file == NULL || fwrite(png->data, 1, png->len, file) != png->len)
		rc = -errno;
	if (file != NULL && fclose(file) != 0 && rc == 0)
		rc = -errno;
	if (rc < 0)
		rc = fail_file(film, buf_text(&path), rc);
	buf_release(&path);
	return rc;
}

/* PNG is the whole picture; but for the first only the change is added. */
static int animate(struct film *film, const struct game_grid *grid,
		   const struct buf *png)
{
	unsigned fps = film->options->fps == 0 ? FILM_FPS : film->options->fps;
	struct apng_place place = { .delay_ms = (uint16_t)(SECOND_MS / fps) };
	struct buf part = BUF_INIT(SIZE_MAX / 8);
	int rc = 0;

	if (film->at + 1 == film->report.states)
		place.delay_ms = LAST_MS;
	if (film->last.cells != NULL) {
		struct area area = changed(&film->last, grid);

		place.x = area.x * film->report.scale;
		place.y = area.y * film->report.scale;
		rc = encode(film, grid, &area, &part);
		png = &part;
	}
	if (rc == 0) {
		rc = apng_add(film->apng, (const uint8_t *)png->data, png->len,
			      &place);
		if (rc < 0)
			rc = fail_file(film, film->options->animation, rc);
	}
	buf_release(&part);
	return rc;
}

/* Pixels a cell, so that GRID is seen. 0, or -EINVAL. */
static int set_size(struct film *film, const struct game_grid *grid)
{
	struct film_report *report = &film->report;
	unsigned side = grid->width > grid->height ? grid->width : grid->height;
	unsigned scale = film->options->scale;

	if (scale == 0)
		scale = (FILM_SIDE + side - 1) / side;
	if (scale > 1 && (uint64_t)grid->width * scale * grid->height * scale >
				 FILM_PIXELS_MAX) {
		game_error_set(film->error,
			       "%u x %u cells of %u x %u pixels make too "
			       "large a picture",
			       grid->width, grid->height, scale, scale);
		return -EINVAL;
	}
	report->scale = scale;
	report->width = grid->width * scale;
	report->height = grid->height * scale;
	return 0;
}

/* One picture of GRID. 0, or a failure that was told. */
static int picture_of(struct film *film, const struct game_grid *grid)
{
	const struct area whole = { 0, 0, grid->width, grid->height };
	struct buf png = BUF_INIT(SIZE_MAX / 8);
	bool is_first = film->last.cells == NULL;
	int rc = 0;

	if (is_first)
		rc = set_size(film, grid);
	if (rc == 0 && (film->options->frames != NULL || is_first))
		rc = encode(film, grid, &whole, &png);
	if (rc == 0 && film->options->frames != NULL)
		rc = write_frame(film, &png);
	if (rc == 0 && film->apng != NULL)
		rc = animate(film, grid, &png);
	film->report.frames += rc == 0;
	buf_release(&png);
	return rc;
}

/* ---- which states ---- */

static bool is_chosen(const struct film *film, unsigned every)
{
	return film->at % every == 0 || film->at + 1 == film->report.states;
}

static void count_state(void *context, const struct game *game,
			const struct game_state *state)
{
	struct film *film = context;

	(void)game;
	(void)state;
	film->report.states++;
}

static int show(struct film *film, const struct game *game,
		const struct game_state *state, bool has_picture, bool has_text)
{
	struct game_grid grid = { 0 };
	int rc = game_grid(game, state, &grid);

	if (rc == -ENOTSUP) {
		game_error_set(film->error, "%s has no picture", game->name);
	} else if (rc < 0) {
		game_error_set(film->error, "no memory for a grid");
	} else if (grid.width == 0 || grid.height == 0 ||
		   (film->last.cells != NULL &&
		    (grid.width != film->last.width ||
		     grid.height != film->last.height))) {
		game_error_set(film->error, "%u x %u cells are no picture",
			       grid.width, grid.height);
		rc = -EINVAL;
	}
	if (rc == 0 && has_text)
		rc = write_grid(film, &grid);
	if (rc == 0 && has_picture) {
		rc = picture_of(film, &grid);
		game_grid_release(&film->last);
		film->last = grid;
	} else {
		game_grid_release(&grid);
	}
	return rc;
}

static void show_state(void *context, const struct game *game,
		       const struct game_state *state)
{
	struct film *film = context;
	bool has_picture = wants_pictures(film->options) &&
			   is_chosen(film, film->report.every);
	bool has_text =
		film->grids != NULL && is_chosen(film, film->grids_every);

	if (film->rc == 0 && (has_picture || has_text))
		film->rc = show(film, game, state, has_picture, has_text);
	film->at++;
}

/* Each how many states; *RET_COUNT is how many that are. */
static unsigned choose(uint64_t states, const struct film_options *options,
		       uint32_t *ret_count)
{
	uint64_t most = options->max_frames;
	uint64_t every = options->every, last = states - 1;

	/* One is spent on the last state, which comes in any case. */
	if (most == 0)
		most = every != 0 ? FILM_FRAMES_MAX : FILM_FRAMES;
	if (most < 2)
		most = 2;
	if (every < (last + most - 2) / (most - 1))
		every = (last + most - 2) / (most - 1);
	if (every == 0)
		every = 1;
	*ret_count = (uint32_t)(last / every + 1 + (last % every != 0));
	return (unsigned)every;
}

/* Open what is to be written. 0, or a failure that was told. */
static int open_files(struct film *film, uint32_t count)
{
	const struct film_options *options = film->options;
	int rc;

	if (options->frames != NULL && mkdir(options->frames, 0777) != 0 &&
	    errno != EEXIST) {
		rc = -errno;
		game_error_set(film->error, "cannot make %.100s: %s",
			       options->frames, strerror(errno));
		return rc;
	}
	if (options->animation != NULL) {
		rc = apng_open(&film->apng, options->animation, count);
		if (rc < 0)
			return fail_file(film, options->animation, rc);
	}
	if (options->grids == NULL)
		return 0;
	film->grids = fopen(options->grids, "we");
	if (film->grids == NULL)
		return fail_file(film, options->grids, -errno);
	if (options->heading != NULL)
		(void)fprintf(film->grids, "%s\n\n", options->heading);
	return 0;
}

/* 0, or a failure that was told; RC when that is one already. */
static int close_files(struct film *film, int rc)
{
	int err = apng_close(film->apng);

	if (err < 0 && rc == 0)
		rc = fail_file(film, film->options->animation, err);
	if (film->grids != NULL) {
		err = ferror(film->grids) != 0 ? -EIO : 0;
		if (fclose(film->grids) != 0 && err == 0)
			err = -errno;
		if (err < 0 && rc == 0)
			rc = fail_file(film, film->options->grids, err);
	}
	game_grid_release(&film->last);
	return rc;
}

int film_make(const struct replay_source *source,
	      const struct film_options *options, struct film_report *ret,
	      struct game_error *error)
{
	struct film film = { .options = options, .error = error };
	struct replay_callbacks calls = { .seen = count_state,
					  .context = &film };
	struct replay_result result;
	uint32_t count;
	int rc = replay_run(source, &calls, &result, error);

	if (rc < 0)
		return rc;
	if (film.report.states == 0) {
		game_error_set(error, "there is nothing to be seen");
		return -EINVAL;
	}
	film.report.every = choose(film.report.states, options, &count);
	film.grids_every = options->every == 0 ? 1 : options->every;
	rc = open_files(&film, count);
	if (rc == 0) {
		calls.seen = show_state;
		rc = replay_run(source, &calls, &result, error);
		if (rc == 0)
			rc = film.rc;
	}
	rc = close_files(&film, rc);
	if (rc == 0)
		*ret = film.report;
	return rc;
}

void film_describe(const struct film_report *report, struct buf *out)
{
	if (report->frames == 0) {
		buf_add_format(out, "%llu states",
			       (unsigned long long)report->states);
		return;
	}
	buf_add_format(out, "%llu pictures of %llu states",
		       (unsigned long long)report->frames,
		       (unsigned long long)report->states);
	if (report->every > 1)
		buf_add_format(out, " (each %u and the last)", report->every);
	buf_add_format(out, ", %u x %u pixels, %u a cell", report->width,
		       report->height, report->scale);
}
